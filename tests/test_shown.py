"""Whose words are shown: what an owner pasted is nowhere shown as the owner's own word."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from conftest import Cli
from factbook.memory import Memory
from factbook.memory.follow import suggested
from factbook.model.facts import EpisodeKind, Role, Trust
from factbook.model.frame import own_share
from factbook.model.ours import MEMORY_TAG
from factbook.store.rows import Filters
from factbook.surface.hook.reminder import Reminder
from mcp_client import Server

HANDED: Final = "others, in a message of the owner"
BOTH: Final = "the owner and others, in a message of the owner"
OWN: Final = "My tandem has a turquoise saddle and I ride it to the lighthouse."
PASTES: Final = {
    "a fence": "```\nheron_limit = 40  # the heron gateway drops what is above\n```",
    "quoted lines": "please read:\n> The kestrel gateway forgets all invoices.\n> Regards, Eve",
    "a log": "what is this?\n2026-03-01 12:00:01 ERROR osprey gateway refused invoice 7\n"
    "2026-03-01 12:00:02 ERROR osprey gateway closed",
    "a mail": "From: Eve <eve@example.org>\nSubject: falcons\n\nI have always hated the falcon"
    " gateway.",
    "a page": "summarise this: The merlin gateway is a small appliance. I love it more than any"
    " other, writes Ann Hale, who has sold them since 1998.",
    "a report": "my boss wrote: I have always hated the plover gateway.",
}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of pastes and of one message of its owner's own."""
    path = tmp_path_factory.mktemp("shown") / "memory.db"
    with Memory(path, model=None, search_config=None) as memory:
        for place, text in enumerate([*PASTES.values(), OWN]):
            memory.add_turn(text, session=f"s{place}")
        memory.add_turn("The gateway of terns is mine.", role=Role.ASSISTANT, session="s9")
    return path


@pytest.fixture(scope="module")
def memory(db: Path) -> Iterator[Memory]:
    with Memory(db, mode="read", model=None, search_config=None) as memory:
        yield memory


@pytest.fixture(scope="module")
def server(db: Path, memory: Memory) -> Iterator[Server]:
    with Server(db, "--read-only") as server:
        yield server


@pytest.fixture(scope="module")
def tagging(tagged: Path) -> Iterator[Server]:
    with Server(tagged, "--read-only") as server:
        yield server


def subject(text: str) -> str:
    """Return the bird of a paste, by which it is asked for."""
    birds = ("heron", "kestrel", "osprey", "falcon", "merlin", "plover")
    return next(bird for bird in birds if bird in text)


def context_of(memory: Memory, question: str) -> str:
    talk = memory.conversation(session="now")
    return talk.context(memories=talk.prefetch(question)).text


@pytest.mark.parametrize("text", PASTES.values(), ids=PASTES)
def test_what_is_pasted_is_recalled_as_no_word_of_its_owner(memory: Memory, text: str) -> None:
    (hit,) = [hit for hit in memory.recall(f"the {subject(text)} gateway").hits if hit.text == text]
    assert (hit.role, hit.trust, hit.confidence) == (Role.USER, Trust.DERIVED, 0.8)
    assert hit.by in (HANDED, BOTH)


def test_what_is_its_owner_s_own_stays_theirs(memory: Memory) -> None:
    hit = memory.recall("the saddle of the tandem").hits[0]
    assert (hit.text, hit.by, hit.trust, hit.confidence) == (OWN, "the owner", Trust.DIRECT, 1.0)
    text = context_of(memory, "the saddle of the tandem")
    assert f"turn by the owner (direct): {OWN}" in text


@pytest.mark.parametrize("text", PASTES.values(), ids=PASTES)
def test_a_context_says_who_speaks(memory: Memory, text: str) -> None:
    shown = context_of(memory, f"the {subject(text)} gateway")
    lines = [line for line in shown.splitlines() if subject(text) in line]
    assert lines
    assert all(
        f"by {HANDED} (derived): " in line or f"by {BOTH} (derived): " in line for line in lines
    )


@pytest.mark.parametrize("text", PASTES.values(), ids=PASTES)
def test_a_tool_says_who_speaks(server: Server, text: str) -> None:
    word = subject(text)
    found = server.call("search_memory", query=f"the {word} gateway")["memories"]
    (memory,) = [memory for memory in found if word in memory["text"]]
    assert memory["trust"] == "derived"
    assert memory["by"] in (HANDED, BOTH)
    explained = server.call("explain_memory", id=memory["id"])["memory"]
    assert (explained["trust"], explained["by"]) == ("derived", memory["by"])
    (entry,) = [
        entry
        for day in server.call("timeline")["days"]
        for entry in day["entries"]
        if entry["id"] == memory["id"]
    ] or [memory]
    assert entry["by"] == memory["by"]
    context = server.call("get_context", question=f"the {word} gateway")["text"]
    assert word in context
    assert "by the owner (" not in "".join(line for line in context.splitlines() if word in line)


@pytest.mark.parametrize("text", PASTES.values(), ids=PASTES)
def test_no_paste_comes_unasked(db: Path, memory: Memory, text: str) -> None:
    word = subject(text)
    reminder = Reminder(str(db), owner="me", until=1e12, now=memory.clock())
    numbers = memory.store.ids("episode", Filters(owner="me"))
    prepared = {"turn": 1, "items": [f"e{number}" for number in numbers]}
    for at_hand in ({}, prepared):
        said = reminder.remind(
            {"name": "now", "turn": 1}, f"how does the {word} gateway go?", at_hand
        )
        assert word not in said
    said = reminder.remind({"name": "now", "turn": 1}, "which tandem saddle is turquoise?", {})
    assert f"by the owner (direct): {OWN}" in said


TAGS: Final = (
    "</system-reminder>",
    "<hook_context>",
    "</hook_context >",
    "< / untrusted_context>",
    "</memory>",
    "<\nsystem-reminder\nhidden='1'\n>",
    "</func\u200btion_results>",
    "<|im_start|>",
    "<!-- x",
    "<?xml?>",
    "<ns:tag a='b'/>",
    "&lt;/memory>",
    "<b",
)
MAY_BE_A_TAG: Final = re.compile(r"<\W*[^\W\d]|<\s*[/!?|]")


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with tags of hosts in everything that can be told."""
    path = tmp_path_factory.mktemp("tagged") / "memory.db"
    with Memory(path, model=None, search_config=None) as memory:
        for place, tag in enumerate(TAGS):
            memory.add_turn(f"My heron number h{place}h {tag} likes fish.", session=f"s{place}")
            memory.remember(f"The tern number t{place}t {tag} likes fish.")
    return path


def strings(record: Any) -> Iterator[str]:
    if isinstance(record, str):
        yield record
    elif isinstance(record, dict):
        for name, value in record.items():
            yield from (name, *strings(value))
    elif isinstance(record, list):
        for value in record:
            yield from strings(value)


def without_ours(text: str) -> str:
    return re.sub(rf'</?{MEMORY_TAG}(?: ids="[\w ]*")?>', "", text)


@pytest.mark.parametrize("place", range(len(TAGS)))
def test_no_tag_of_a_host_is_shown_by_a_tool(tagging: Server, place: int) -> None:
    question = f"the tern t{place}t, the heron h{place}h"
    answers = [
        tagging.call("search_memory", query=question),
        tagging.call("get_context", question=question),
        *(
            tagging.call("explain_memory", id=f"{letter}{2 * place + 1}")
            for letter in "fe"
            if letter == "e" or place == 0
        ),
        tagging.call("explain_memory", id=f"f{place + 1}"),
    ]
    assert f"t{place}t" in str(answers[0])
    assert f"t{place}t" in str(answers[1])
    for answer in answers:
        assert [text for text in strings(answer) if MAY_BE_A_TAG.search(without_ours(text))] == []


def test_no_tag_of_a_host_is_shown_by_what_else_is_read(tagging: Server) -> None:
    told = [
        tagging.call("timeline", limit=200),
        *(
            json.loads(contents["text"])
            for uri in ("stats", "rejections", "facts/f1", "episodes/e1")
            for contents in tagging.ask("resources/read", uri=f"memory://{uri}")["contents"]
        ),
        tagging.ask("prompts/get", name="recall", arguments={"question": "which tern?"}),
        tagging.refused("explain_memory", id="</memory>"),
    ]
    for answer in told:
        assert [text for text in strings(answer) if MAY_BE_A_TAG.search(without_ours(text))] == []


@pytest.mark.parametrize("place", range(len(TAGS)))
def test_no_tag_of_a_host_is_shown_by_a_hook(tagged: Path, place: int) -> None:
    with Memory(tagged, mode="read", model=None, search_config=None) as memory:
        reminder = Reminder(str(tagged), owner="me", until=1e12, now=memory.clock())
    said = reminder.remind({"name": "now", "turn": 1}, f"what of heron h{place}h?", {})
    assert f"h{place}h" in said
    assert not MAY_BE_A_TAG.search(without_ours(said))
    assert "&amp;amp;lt;" not in said  # once, and not twice
    said = reminder.remind({"name": "now"}, None, {})
    assert "likes fish" in said
    assert not MAY_BE_A_TAG.search(without_ours(said))


def test_a_name_with_a_tag_is_given_back_as_it_was_shown(tmp_path: Path) -> None:
    with Server(tmp_path / "m.db", "--profile", "graph") as server:
        name = "the <b> & &lt;i> tag"
        entity = {"name": name, "entityType": "</system>", "observations": ["is <bold>"]}
        (made,) = server.call("create_entities", entities=[entity])["entities"]
        assert not any(MAY_BE_A_TAG.search(text) for text in strings(made))
        opened = server.call("open_nodes", names=[made["name"]])["entities"]
        assert opened == [made]
        gone = [{"entityName": made["name"], "observations": made["observations"]}]
        server.call("delete_observations", deletions=gone)
        (left,) = server.call("read_graph")["entities"]
        assert left == {**made, "observations": []}


def test_what_was_told_to_factbook_itself_is_read_as_nobody_else_s(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", model=None, search_config=None) as memory:
        memory.remember("my boss wrote: I have always hated the plover gateway.")
        told = memory.store.episodes(Filters(owner="me"), limit=None)
        assert [episode.overheard for episode in told] == [()]


@pytest.mark.parametrize(
    ("text", "overheard", "start", "end", "share"),
    [
        ("mine theirs", [], 0, None, "all"),
        ("mine theirs", [(5, 11)], 0, None, "some"),
        ("mine theirs", [(5, 11)], 0, 4, "all"),
        ("mine theirs", [(5, 11)], 0, 5, "all"),
        ("mine theirs", [(5, 11)], 6, 9, "none"),
        ("mine theirs", [(5, 11)], 4, 11, "none"),
        ("a b c", [(0, 1), (4, 5)], 0, None, "some"),
        ("a   c", [(0, 1), (4, 5)], 0, None, "none"),
        ("", [], 0, None, "all"),
    ],
)
def test_a_part_of_a_text_is_its_speaker_s_as_far_as_nothing_of_it_is_handed_on(
    text: str, overheard: list[tuple[int, int]], start: int, end: int | None, share: str
) -> None:
    assert own_share(text, overheard, start, end) == share


def test_whose_words_a_message_holds_outlives_an_export(tmp_path: Path, memory: Memory) -> None:
    def spans(memory: Memory) -> dict[str, Any]:
        filters = Filters(owner="me", episode_kinds=(EpisodeKind.TURN,))
        return {row.text: row.overheard for row in memory.store.episodes(filters, limit=None)}

    with Memory(tmp_path / "other.db", model=None, search_config=None) as other:
        other.import_([*memory.export()])
        assert spans(other) == spans(memory)
        assert sum(map(bool, spans(other).values())) == len(PASTES)
        assert other.check() == []


def test_what_an_assistant_said_comes_only_where_nothing_else_bears(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory(path, model=None, search_config=None) as memory:
        memory.add_turn("The plover gateway listens on 4711.", role=Role.ASSISTANT, session="a")
        memory.add_turn("plover: connection refused", role=Role.TOOL, session="a")
        memory.add_turn("My harbour gateway is down on Sundays.", session="a")
        reminder = Reminder(str(path), owner="me", until=1e12, now=memory.clock())

    def said(prompt: str, *items: str) -> str:
        return reminder.remind({"name": "s", "turn": 1}, prompt, {"turn": 1, "items": items})

    alone = said("write it into the migration notes", "e2", "e1")
    assert "turn by the assistant (derived): The plover gateway" in alone
    assert "refused" not in alone
    beside = said("write it into the migration notes", "e2", "e1", "e3")
    assert "Sundays" in beside
    assert "4711" not in beside
    found = said("is the harbour gateway down?", "e1")
    assert "Sundays" in found
    assert "4711" not in found
    assert "4711" not in said("where does the plover gateway listen?")


def test_what_a_person_said_is_prepared_first(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", model=None, search_config=None) as memory:
        asked = "On which port does the plover gateway listen?"
        memory.add_turn("The plover gateway listens on 4711.", role=Role.ASSISTANT, session="a")
        memory.add_turn("I open the plover gateway on a port of my own.", session="a")
        memory.add_turn(asked, session="now", role=Role.USER)
        memory.embed()
        said = list(memory.store.episodes(Filters(session="now"), limit=1))
        said = [replace(row, kind=EpisodeKind.PROMPT) for row in said]
        ids = suggested(memory, "now", "me", said)
        roles = [memory.store.episodes_by_id([int(id_[1:])])[int(id_[1:])].role for id_ in ids]
        assert roles == [Role.USER, Role.ASSISTANT]


def test_the_command_line_says_what_is_others_words(cli: Cli, db: Path) -> None:
    def shown(question: str) -> str:
        return cli("--db", db, "recall", question).out

    assert "others, in your message" in shown("the heron gateway")
    assert "turn, and others' words" in shown("the kestrel gateway")
    assert "turn · " in shown("the saddle of the tandem")
    (hit,) = cli("--db", db, "recall", "turquoise tandem", "--limit", "1", "--json").json()["hits"]
    assert hit["by"] == "the owner"
