"""What factbook put before a model, or was asked by one, does not come back as memory."""

from __future__ import annotations

import html
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_logs import BLOCK, COMMAND, INJECTED_WORDS, PROMPT, REPLY, SEARCH, hooked, log_of
from factbook.memory import Memory
from factbook.model.facts import Episode, EpisodeKind
from factbook.model.ours import MEMORY_TAG, TOOL_RESULTS, WORKING_COMMANDS
from factbook.sources.session_log.echo import is_ours, own_command, subtract
from factbook.surface.cli import group as every_command
from factbook.testing import FrozenClock
from mcp_client import Server
from session_logs import (
    CLAUDE,
    CODEX,
    GEMINI,
    NOW,
    SESSION,
    account,
    batches,
    claude,
    codex,
    episodes,
    kept,
    one_of,
    tool_result,
    tool_use,
    write,
)

HOSTS = [CLAUDE, CODEX, GEMINI]
QUESTIONS = [SEARCH, "am I allergic to hazelnuts?", "who bakes quince cake?", PROMPT]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "k") as memory:
        yield memory


def answers(memory: Memory) -> list[str]:
    """Return every text that the memory answers any of the questions with."""
    texts: list[str] = []
    for question in QUESTIONS:
        texts += [hit.text for hit in memory.recall(question, limit=20).hits]
        texts += [hit.text for hit in memory.search_memory(question, limit=20)]
        texts.append(memory.context(question).text.rpartition("<message")[0])
    texts += [str(row["statement"]) for row in memory.sql("SELECT statement FROM facts")]
    return texts + [str(row) for row in memory.sql("SELECT * FROM rejection_row")]


# --- every host, as it writes its logs ------------------------------------------------------------


@pytest.mark.parametrize("server", ["factbook", "notes"])
@pytest.mark.parametrize("host", HOSTS)
def test_a_session_with_injected_memory_gives_one_prompt_and_no_echo(
    memory: Memory, tmp_path: Path, host: str, server: str
) -> None:
    log = log_of(host, tmp_path / "logs", server)
    first = memory.ingest([log])
    again = memory.ingest([log])
    assert again.receipt.stored == 0
    assert first.lines.unknown == {}
    memory.embed()
    rows = list(memory.sql("SELECT kind, text, injected FROM episode_row"))
    told = [(row["kind"], row["text"]) for row in rows if not row["injected"]]
    assert [text for kind, text in told if kind == "prompt"] == [PROMPT]
    assert [text for kind, text in told if kind == "reply"] == [REPLY]
    for text in (*answers(memory), *(text for _, text in told)):
        assert not any(word in text for word in INJECTED_WORDS), text
    turn = memory.recall("who sat at the dinner table?").hits[0].turn
    assert turn is not None
    assert turn.asked == PROMPT
    assert memory.check() == []


@pytest.mark.parametrize("host", HOSTS)
def test_no_echo_comes_of_a_log_that_is_read_while_it_grows(tmp_path: Path, host: str) -> None:
    whole = log_of(host, tmp_path / "whole", "notes")
    lines = whole.read_bytes().splitlines(keepends=True)
    wanted = {one.uid: one for one in episodes(whole, host)}
    for cut in range(1, len(lines)):
        log = tmp_path / str(cut) / whole.name
        log.parent.mkdir()
        log.write_bytes(b"".join(lines[:cut]))
        found = batches(log, host)
        cursor = kept(found[-1].cursor)
        log.write_bytes(b"".join(lines))
        found += batches(log, host, cursor=cursor)
        both = {one.uid: one for batch in found for one in batch.episodes}
        assert {uid: _essence(one) for uid, one in both.items()} == {
            uid: _essence(one) for uid, one in wanted.items()
        }


def _essence(one: Episode) -> tuple[object, ...]:
    return (one.kind, one.text, one.injected, one.position, one.fields, one.embed)


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_taken_out_is_counted(tmp_path: Path, host: str) -> None:
    lines = account(batches(log_of(host, tmp_path), host))
    assert lines.repaired == {"injected": {CLAUDE: 2, CODEX: 1, GEMINI: 7}[host]}


# --- Gemini's own wrapping ------------------------------------------------------------------------


def typed(tmp_path: Path, *parts: str) -> list[str]:
    """Return the prompts that come of one user message of Gemini CLI."""
    content = [{"text": part} for part in parts]
    message = {"id": "1", "type": "user", "content": content}
    found = episodes(write(tmp_path / "session.jsonl", {"sessionId": SESSION}, message), GEMINI)
    return [one.text for one in found]


def test_a_prompt_of_the_server_is_no_word_of_its_user(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", model=None, search_config=None) as memory:
        memory.remember("I am allergic to hazelnuts.")
    with Server(tmp_path / "m.db") as server:
        server.call("remember", text="The user is not allergic to hazelnuts.")
        for name, left in (("recall", ["Am I allergic to nuts?"]), ("review", [])):
            answer = server.ask("prompts/get", name=name, arguments={"question": "".join(left)})
            text = answer["messages"][0]["content"]["text"]
            assert "allergic to hazelnuts" in text
            prompt = claude("user", text)
            assert [each.text for each in episodes(write(tmp_path / "log.jsonl", prompt))] == left
            # Gemini CLI sends the text as JSON has it, and keeps what was typed beside it, till it
            # writes its history anew.
            message = {"id": "1", "type": "user", "content": [{"text": json.dumps(text)}]}
            for more in ({"displayContent": [{"text": f"/{name} what?"}]}, {}):
                log = write(tmp_path / "session.jsonl", {"sessionId": SESSION}, message | more)
                assert all(each.injected for each in episodes(log, GEMINI))
        assert typed(tmp_path, '"<factbook-memory> is whose?') == ['"<factbook-memory> is whose?']
        nothing = server.ask("prompts/get", name="recall", arguments={"question": "Who is Ada?"})
        text = nothing["messages"][0]["content"]["text"]
        assert (text.startswith(f"<{MEMORY_TAG}"), subtract(text).text.strip()) == (
            True,
            "Who is Ada?",
        )


@pytest.mark.parametrize(
    ("parts", "prompts"),
    [
        ([hooked("we moved to Ghent")], []),
        ([f"{hooked(BLOCK)}\n\nHello"], ["Hello"]),
        (["Hello", hooked(BLOCK)], ["Hello"]),
        (["What does <hook_context> mean? I ask.", hooked("no")], None),
        (["Is </hook_context> closing it?", hooked("no")], ["Is </hook_context> closing it?"]),
        ([f"{hooked('no')}\n\n<hook_context> was typed"], ["<hook_context> was typed"]),
        (["Mine <hook_context>a <b> c</hook_context>."], None),
        ([hooked(hooked("no"))], []),
        (["one" + hooked("no") + "two"], ["one two"]),
        (["<session_context>\nThis is the Gemini CLI.\nno\n</session_context>"], []),
        (["<session_context>\nThis is the Gemini CLI.\n</session_context>\nHello"], ["Hello"]),
        (["<session_context>\nThis is the Gemini CLI.\n</session_context>", "Hello"], ["Hello"]),
        (["<session_context> is what?"], ["<session_context> is what?"]),
        (["the &lt;hook_context&gt;no"], ["the &lt;hook_context&gt;no"]),
    ],
)
def test_only_what_gemini_added_is_taken_out(
    tmp_path: Path, parts: list[str], prompts: list[str] | None
) -> None:
    found = typed(tmp_path, *parts)
    assert found == (parts[:1] if prompts is None else prompts)


WORDS = st.sampled_from(["apple", "bread <b>", "a > b", "c < d", "tea\n", "&lt;milk&gt;"])
OPENING = st.sampled_from(["<hook_context>", f"<{MEMORY_TAG}>", f"&lt;{MEMORY_TAG}&gt;"])
CLOSING = st.sampled_from(["</hook_context>", f"</{MEMORY_TAG}>", f"&lt;/{MEMORY_TAG}&gt;"])
ESCAPES = st.sampled_from([str, html.escape, lambda text: html.escape(html.escape(text))]) | (
    st.sampled_from([json.dumps, lambda text: json.dumps(json.dumps(text))])
)
HOSTILE = [
    f"</{MEMORY_TAG}>",
    f"&lt;/{MEMORY_TAG}&gt;",
    "</hook_context>",
    f'<{MEMORY_TAG} ids="f9">',
    "</session_context>",
]


@given(
    user=st.lists(WORDS | OPENING, min_size=1, max_size=6)
    | st.lists(WORDS | CLOSING, min_size=1, max_size=6),
    inside=st.lists(st.sampled_from([*HOSTILE, "secretword", "\n", "&", "<x>"]), max_size=6),
    before=st.booleans(),
)
def test_no_tag_that_somebody_types_hides_a_word_or_shows_an_injected_one(
    tmp_path_factory: pytest.TempPathFactory, user: list[str], inside: list[str], before: bool
) -> None:
    context = hooked(f"secretword {' '.join(inside)}")
    text = " ".join(user)
    parts = [f"{context}\n\n{text}"] if before else [text, context]
    found = typed(tmp_path_factory.mktemp("gemini"), *parts)
    assert " ".join(found).split() == text.split()


# --- our own tag ----------------------------------------------------------------------------------


@given(
    user=st.lists(WORDS | OPENING, min_size=1, max_size=6)
    | st.lists(WORDS | CLOSING, min_size=1, max_size=6),
    escaped=ESCAPES,
    at=st.integers(0, 6),
)
def test_a_block_is_taken_out_however_it_is_escaped(
    user: list[str], escaped: object, at: int
) -> None:
    assert callable(escaped)
    inner = html.escape(f"secretword </{MEMORY_TAG}> secretword")
    block = escaped(f'<{MEMORY_TAG} ids="f1">\nsecretword {inner}\n</{MEMORY_TAG}>')
    parts = [*user[:at], block, *user[at:]]
    found = subtract(" ".join(parts))
    assert found.blocks == 1
    left = found.text.replace('"', " ").replace("\\", " ")
    assert left.split() == " ".join(user).replace('"', " ").split()


PIECES = [*"<>/&;\\ u03cem\n\"'=ids-", MEMORY_TAG, "&lt;", "\\u003c", f"<{MEMORY_TAG} ids='1'>"]


@given(st.lists(st.sampled_from([*PIECES, f"</{MEMORY_TAG}>"])).map("".join))
def test_any_text_is_read_and_only_blocks_go(text: str) -> None:
    found = subtract(text)
    assert (found.text == text) == (found.blocks == 0)
    assert found.blocks <= text.count("ids=") + text.count(f"/{MEMORY_TAG}")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f'I said: <{MEMORY_TAG} ids="f1">no', "I said: "),
        (f'I said: <{MEMORY_TAG} ids="f1">no\n\nand mine', "I said: \n\nand mine"),
        (f"{BLOCK[:90]}\n\nmine {BLOCK} mine", "\n\nmine \n mine"),
        (f"{BLOCK[:90]}{BLOCK} mine", "\n mine"),
        (f"What is <{MEMORY_TAG}>? I moved.", f"What is <{MEMORY_TAG}>? I moved."),
        (f"What is </{MEMORY_TAG}>? I moved.", f"What is </{MEMORY_TAG}>? I moved."),
        (f"<{MEMORY_TAG}s>mine</{MEMORY_TAG}s>", f"<{MEMORY_TAG}s>mine</{MEMORY_TAG}s>"),
        ("You told me that I am allergic to hazelnuts.",) * 2,
        (f'<{MEMORY_TAG} ids="a">1<{MEMORY_TAG} ids="b">2</{MEMORY_TAG}>3</{MEMORY_TAG}>4', "4"),
    ],
)
def test_tags_without_a_partner(text: str, left: str) -> None:
    assert subtract(text).text == left


@pytest.mark.parametrize(
    "text",
    [
        f"<{MEMORY_TAG} " * 30_000,
        f'<{MEMORY_TAG} ids="">' * 30_000,
        f"</{MEMORY_TAG}>" * 30_000,
        MEMORY_TAG + "\\" * 500_000,
        MEMORY_TAG + "&amp;" * 100_000,
    ],
)
def test_tags_are_found_in_linear_time(text: str) -> None:
    began = time.process_time()
    subtract(text)
    assert time.process_time() - began < 10


# --- calls ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "namespace", "ours"),
    [
        ("mcp__factbook__search_memory", "", True),
        ("mcp__plugin_factbook_factbook__remember", "", True),
        ("mcp_factbook_timeline", "", True),
        ("search_memory", "mcp__factbook", True),
        ("mcp__work-factbook__explain_memory", "", True),
        ("mcp__factbook-graph__read_graph", "", True),
        ("mcp__factbook-docs__fetch_page", "", False),
        ("mcp__memory__remember", "", False),
        ("mcp__memory__read_graph", "", False),
        ("search_memory", "mcp__mem0", False),
        ("search_memory", "", False),
        ("Read", "", False),
    ],
)
def test_our_tools_are_known_where_the_server_is_ours(
    tool: str, namespace: str, ours: bool
) -> None:
    assert is_ours(tool, namespace) is ours


def called(tmp_path: Path, name: str, given: object, answer: str, **more: object) -> list[Episode]:
    """Return the call and the result that come of one tool call in Claude Code."""
    records = [
        claude("assistant", [tool_use(name, given)], "a1"),
        claude("user", [tool_result(answer, **more)], "u1"),
    ]
    return episodes(write(tmp_path / f"{SESSION}.jsonl", *records))


def test_a_foreign_memory_is_no_echo(tmp_path: Path) -> None:
    for tool, answer in [
        ("mcp__mem0__search_memory", '{"results": [{"memory": "Ann lives in Porto"}]}'),
        ("mcp__notes__remember", "Saved."),
        ("mcp__notes__timeline", "no JSON {at all"),
        ("mcp__kg__read_graph", '{"entities": [], "relations": []}'),
    ]:
        call, result = called(tmp_path, tool, {"query": "Porto"}, answer)
        assert (call.kind, call.injected, call.value("query")) == (
            EpisodeKind.TOOL_CALL,
            False,
            "Porto",
        )
        assert (result.kind, result.injected) == (EpisodeKind.TOOL_RESULT, False)


@pytest.mark.parametrize("tool", TOOL_RESULTS)
def test_our_server_is_known_by_its_answers_whatever_it_is_called(
    tmp_path: Path, tool: str
) -> None:
    answer = json.dumps(dict.fromkeys([*TOOL_RESULTS[tool], "more"]))
    assert all(one.injected for one in called(tmp_path, f"mcp__m__{tool}", {"text": "x"}, answer))
    records = [
        claude("assistant", [tool_use(f"mcp__m__{tool}", {"text": "x"}, "t1")], "a1"),
        claude("user", [tool_result(answer, "t1")], "u1"),
        claude("assistant", [tool_use("mcp__m__forget_memory", {"id": "f9"}, "t2")], "a2"),
        claude("user", [tool_result("There is no fact f9.", "t2", is_error=True)], "u2"),
    ]
    found = episodes(write(tmp_path / f"{SESSION}.jsonl", *records))
    assert [one.injected for one in found] == [True] * 4


def test_a_call_of_ours_that_reached_nobody_is_an_echo(tmp_path: Path) -> None:
    found = called(tmp_path, "search_memory", {"query": "x"}, "No such tool", is_error=True)
    assert all(one.injected for one in found)


def test_resources_and_skills_of_ours_are_echoes(tmp_path: Path) -> None:
    reading = {"server": "factbook", "uri": "memory://facts/f12"}
    for name, given_, ours in [
        ("ReadMcpResourceTool", reading, True),
        ("ReadMcpResourceTool", {**reading, "server": "files"}, False),
        ("Skill", {"skill": "factbook:recall", "args": "pasta"}, True),
        ("Skill", {"skill": "deploy"}, False),
    ]:
        assert [one.injected for one in called(tmp_path, name, given_, "text")] == [ours, ours]


# --- commands -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        COMMAND,
        "factbook recall 'a; b' 2>&1 | head",
        "factbook --db m.db search pasta",
        "cd /tmp && uvx --from . factbook context 'pasta'",
        "uv run python -m factbook explain 7",
        "PAGER=cat sudo ~/.local/bin/factbook facts --json | jq .",
        "echo 'I love pasta' | factbook remember -",
        "factbook remember - <<'EOF'\nI love; pasta\nEOF",
        "X=$(factbook recall pasta); echo $X",
        'bash -c "cd x && factbook recall pasta"',
        "for q in pasta rice; do factbook recall $q; done",
        "(timeout 5 factbook ask pasta)",
    ],
)
def test_a_command_that_asks_factbook_is_an_echo(tmp_path: Path, command: str) -> None:
    found = own_command(command)
    assert found.asks
    assert found.runs
    assert [one.injected for one in called(tmp_path, "Bash", {"command": command}, "x")] == [
        True
    ] * 2


@pytest.mark.parametrize(
    "command",
    [
        "cat factbook/README.md",
        "grep -r factbook .",
        "cd factbook; ls",
        "uv run mypy src/factbook",
        "python -m pytest tests/factbook",
        'git commit -m "done; factbook recall works"',
        "git commit -m 'run `factbook recall x`'",
        'echo "unclosed factbook recall',
    ],
)
def test_a_command_about_factbook_is_none_of_it(tmp_path: Path, command: str) -> None:
    assert own_command(command) == (False, False, command)
    found = called(tmp_path, "Bash", {"command": command}, "x")
    assert [one.injected for one in found] == [False, False]
    assert found[0].value("command") == command


@pytest.mark.parametrize(
    ("command", "rest"),
    [
        ("make deploy && factbook recall pasta | head; ls", "make deploy && factbook [...]; ls"),
        ("factbook remember - <<EOF\npasta; x\nEOF\nmake x", "factbook [...]\nmake x"),
        ("if factbook recall pasta; then make; fi", "factbook [...]; then make; fi"),
        ("echo pasta > a.txt; factbook recall <<< 'pasta'", "echo pasta > a.txt; factbook [...]"),
        (
            "factbook ingest ~/logs && factbook recall pasta",
            "factbook ingest ~/logs && factbook [...]",
        ),
    ],
)
def test_work_beside_a_question_is_kept_without_the_question(
    tmp_path: Path, command: str, rest: str
) -> None:
    given_ = {"command": command, "description": "Ask about pasta"}
    call, result = called(tmp_path, "Bash", given_, "x")
    assert (call.injected, call.value("command"), call.value("description")) == (False, rest, None)
    assert result.injected


def test_work_of_factbook_is_kept(tmp_path: Path) -> None:
    call, result = called(tmp_path, "Bash", {"command": "factbook ingest ~/logs"}, "read 3 files")
    assert (call.injected, call.value("command")) == (False, "factbook ingest ~/logs")
    assert result.injected


def test_every_command_either_works_or_is_an_echo() -> None:
    asking = """
        ask chat context correct count dislike entities explain facts feedback forget interests
        learn like lookup memory mute notices pin react recall rejections remember review rules runs
        schedule search sessions sql tell timeline undislike unlike unmerge unmute unpin why
    """
    commands = every_command().commands.keys()
    assert commands >= WORKING_COMMANDS
    assert commands - WORKING_COMMANDS == set(asking.split())


def test_what_a_person_asks_on_the_command_line_is_an_echo_too(tmp_path: Path) -> None:
    log = write(
        tmp_path / f"{SESSION}.jsonl",
        claude("user", "<bash-input>factbook recall quince</bash-input>", "u1"),
        claude(
            "user", "<bash-stdout>Ilse bakes quince</bash-stdout><bash-stderr></bash-stderr>", "u2"
        ),
        claude("user", "<bash-input>ls</bash-input>", "u3"),
        claude("user", "<bash-stdout>a.txt</bash-stdout><bash-stderr></bash-stderr>", "u4"),
    )
    assert [one.injected for one in episodes(log)] == [True, True, False, False]
    typed_commands = [
        ("/mcp__factbook__recall", True),
        ("/mcp__plugin_factbook_factbook__review", True),
        ("/factbook:recall", True),
        ("/factbook-docs:recall", False),
        ("/mcp__notes__recall", False),
        ("/recall", False),
    ]
    for command, is_echo in typed_commands:
        named = f"<command-message>x</command-message>\n<command-name>{command}</command-name>"
        prompt = claude("user", f"{named}\n<command-args>quince cake</command-args>")
        (heard,) = episodes(write(tmp_path / "typed.jsonl", prompt))
        assert (heard.text, heard.injected) == (f"{command} quince cake", is_echo)
    ran = codex(
        "event_msg",
        type="exec_command_end",
        source="user_shell",
        call_id="c1",
        command=["bash", "-lc", "factbook recall quince"],
        aggregated_output="Ilse bakes quince",
        exit_code=0,
    )
    found = episodes(write(tmp_path / "rollout.jsonl", ran), CODEX)
    assert [one.injected for one in found] == [True, True]


# --- what is somebody's own -----------------------------------------------------------------------


def test_a_memory_that_a_person_quotes_is_the_persons_word(memory: Memory, tmp_path: Path) -> None:
    said = "You told me that I am allergic to hazelnuts, and that is right."
    memory.ingest([write(tmp_path / f"{SESSION}.jsonl", claude("user", said))])
    memory.embed()
    turn = memory.recall("hazelnuts").hits[0].turn
    assert turn is not None
    assert turn.asked == said


def test_a_codex_prompt_in_tags_of_its_own_is_kept_where_the_host_says_who_wrote_it(
    tmp_path: Path,
) -> None:
    def message(text: str, *kinds: str) -> dict[str, object]:
        content = [{"type": "input_text", "text": text}] * len(kinds)
        said = {"content_item_kinds": list(kinds)}
        return codex(
            "response_item",
            type="message",
            role="user",
            content=content,
            internal_chat_message_metadata_passthrough=said,
        )

    log = write(
        tmp_path / "rollout.jsonl",
        codex("event_msg", type="task_started", turn_id="t1"),
        message("<environment_context>x</environment_context>", "environments.environment_context"),
        message("<task>fix it</task>", "user.text"),
        codex("event_msg", type="task_complete", turn_id="t1"),
    )
    assert one_of(episodes(log, CODEX), EpisodeKind.PROMPT).text == "<task>fix it</task>"


def test_an_echo_in_a_chat_is_told_apart_too(memory: Memory) -> None:
    memory.add_turn(f"{BLOCK}\nIs dinner ready?", session="s1")
    row = next(iter(memory.sql("SELECT text, injected FROM episode_row")))
    assert (row["text"], row["injected"]) == ("Is dinner ready?", 0)


def test_a_long_prompt_that_waits_for_its_answer_is_kept_whole(tmp_path: Path) -> None:
    said = " ".join(f"word{number}" for number in range(1_500))
    begun = [codex("event_msg", type="task_started", turn_id="t1")]
    content = [{"type": "input_text", "text": said}]
    begun.append(codex("response_item", type="message", role="user", content=content))
    log = write(tmp_path / "rollout.jsonl", *begun)
    cursor = kept(batches(log, CODEX)[-1].cursor)
    write(log, *begun, codex("event_msg", type="task_complete", turn_id="t1"))
    prompt = one_of(episodes(log, CODEX, cursor=cursor), EpisodeKind.PROMPT)
    assert prompt.text == said
