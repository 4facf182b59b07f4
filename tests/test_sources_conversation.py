"""Turns and chats: who says what, what identifies it, and what comes of every odd record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chats import (
    SESSION,
    batches,
    chatgpt,
    claude_ai,
    node,
    read,
    said,
    texts,
    turn,
    uuid,
    write_json,
    write_lines,
    write_zip,
)
from conftest import examples
from factbook import policy
from factbook.extract.base import word_set
from factbook.model.facts import Episode, EpisodeKind, Millis, Role, Trust
from factbook.model.ops import Op, RecordEpisode, RecordSource
from factbook.redaction import NO_REDACTION, Redactor
from factbook.sources.conversation import turn_ops
from factbook.sources.conversation.turn import worth_a_vector
from factbook.sources.imports import CHAT, CHATGPT, CLAUDE_AI, host_of
from factbook.sources.imports.base import moment
from rows import every
from session_logs import NOW, account, kept, rejected

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
REDACTOR = Redactor(key=bytes(range(32)))
DAY: Millis = 24 * 3600 * 1000


def told(text: str, **more: object) -> list[Op]:
    given: dict[str, object] = {
        "role": Role.USER,
        "session": "s",
        "occurred_at": NOW,
        "now": NOW,
        "redactor": REDACTOR,
        **more,
    }
    return turn_ops(text, **given)  # type: ignore[arg-type]


def episode_of(ops: list[Op]) -> Episode:
    (one,) = [op.episode for op in ops if isinstance(op, RecordEpisode)]
    return one


# --- one turn -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "kind", "trust"),
    [
        (Role.USER, EpisodeKind.TURN, Trust.DIRECT),
        (Role.ASSISTANT, EpisodeKind.TURN, Trust.DERIVED),
        (Role.TOOL, EpisodeKind.TOOL_RESULT, Trust.EXTERNAL),
        (Role.SYSTEM, EpisodeKind.TURN, Trust.DERIVED),
    ],
)
def test_the_role_of_a_turn_decides_how_far_it_is_believed(
    role: Role, kind: EpisodeKind, trust: Trust
) -> None:
    source, recorded = told("I moved to Ghent", role=role, title="A  talk", owner="ann")
    assert isinstance(source, RecordSource)
    assert isinstance(recorded, RecordEpisode)
    one = recorded.episode
    assert (one.kind, one.role, one.trust, one.owner) == (kind, role, trust, "ann")
    assert (one.source, one.session, one.occurred_at) == (source.source.key, "s", NOW)
    assert (source.source.kind, source.source.title) == ("conversation", "A talk")


@pytest.mark.parametrize("text", ["", " \n\t ", "\x00\n"])
def test_seed_001_an_empty_turn_is_no_episode(text: str) -> None:
    if "\x00" in text:
        assert episode_of(told(text)).text == "\ufffd"  # something was there
    else:
        assert told(text) == []


@every(
    ("text", "embed"),
    [
        ("ok", False),  # one word
        ("👍", False),
        ("👍👍🏽 🎉", False),
        ("?!", False),
        ("[image]", False),
        ("[file: plan of the garden.pdf]", False),
        ("[REDACTED:password:0123456789ab]", False),
        ("don't", False),
        ("well done", True),
        ("我住在根特", True),  # five characters without a space
        ("好", False),
        ("ฉันย้ายไปเกนต์", True),
        ("Я переехал", True),
        ("انتقلت إلى غنت", True),
        ("गेंट चला गया", True),
    ],
)
def test_seed_001_one_word_and_emoji_have_no_vector_and_any_script_may(
    text: str, embed: bool
) -> None:
    one = episode_of(told(text))
    assert (one.text, one.embed) == (text, embed)


def test_a_name_alone_is_not_worth_a_vector() -> None:
    assert not worth_a_vector("Ana Lima: yes", speaker="Ana Lima")
    assert worth_a_vector("Ana Lima: yes, I do", speaker="Ana Lima")


def test_seed_001_a_turn_of_100_000_tokens_is_cut_and_says_so() -> None:
    words = " ".join(f"word{number}" for number in range(100_000))
    one = episode_of(told(f"The beginning. {words} my token is {TOKEN}"))
    assert len(one.text) < policy.PROMPT_CHARS + 100
    assert one.cut > 500_000
    assert f"{one.cut:,} characters cut" in one.text
    assert one.text.startswith("The beginning. word0 ")
    assert "[REDACTED:" in one.text[-80:]
    assert TOKEN not in one.text


def test_seed_001_a_turn_of_1970_keeps_its_date_and_one_of_2200_has_none() -> None:
    first = episode_of(told("hello there", occurred_at=0))
    assert (first.occurred_at, dict(first.attributes)) == (0, {})
    late = episode_of(told("hello there", occurred_at=7_258_118_400_000))
    assert (late.occurred_at, dict(late.attributes)) == (None, {"clock": "ahead"})
    early = episode_of(told("hello there", occurred_at=-1))
    assert (early.occurred_at, dict(early.attributes)) == (None, {"clock": "before 1970"})
    within = NOW + policy.CLOCK_SKEW_MS
    assert episode_of(told("hello there", occurred_at=within)).occurred_at == within
    assert episode_of(told("hello there", occurred_at=None)).occurred_at is None


def test_seed_001_the_same_turn_twice_is_one_episode() -> None:
    def uid(text: str, **more: object) -> str:
        return episode_of(told(text, **more)).uid

    assert uid("hello there") == uid("hello there")
    assert uid("hello there", uid="7") == uid("hello again", uid="7")
    assert uid("hello there", uid=uuid(1)) == uid("hello there", uid=uuid(1), session="t")
    different = [
        uid("hello there"),
        uid("hello again"),
        uid("hello there", role=Role.ASSISTANT),
        uid("hello there", session="t"),
        uid("hello there", owner="ann"),
        uid("hello there", occurred_at=NOW - 1),
        uid("hello there", uid="7"),
        uid("hello there", uid="7", session="t"),
        uid("hello there", uid=uuid(1)),
        uid("hello there", uid=uuid(1), owner="ann"),
    ]
    assert len(set(different)) == len(different)
    assert uid("cafe\u0301 is open") == uid("caf\u00e9 is open")  # they look the same
    # Neither an owner nor a session can be written so that it passes for another pair.
    assert uid("x y", owner="a/b", session="c") != uid("x y", owner="a", session="b/c")
    assert episode_of(told("x y", owner="a/b", session="c")).source != (
        episode_of(told("x y", owner="a", session="b/c")).source
    )


def test_what_was_injected_is_taken_out_of_a_turn() -> None:
    block = '<factbook-memory ids="f12">\nAnn lives in Porto.\n</factbook-memory>'
    one = episode_of(told(f"{block}\nWhere is a shop?\n{block}"))
    assert (one.text, one.injected, one.embed) == ("Where is a shop?", False, True)
    nothing_else = episode_of(told(f" {block} "))
    assert (nothing_else.injected, nothing_else.embed) == (True, False)
    never_closed = episode_of(told('Where?\n<factbook-memory ids="f1">Ann lives'))
    assert never_closed.text == "Where?"


def test_a_turn_begins_with_its_speaker() -> None:
    one = episode_of(told("I moved", name=" Ana \n Lima "))
    assert (one.text, one.speaker) == ("Ana Lima: I moved", "Ana Lima")
    assert episode_of(told("Ana Lima: I moved", name="Ana Lima")).text == "Ana Lima: I moved"
    result = episode_of(told("12 degrees", name="weather", role=Role.TOOL))
    assert (result.text, result.speaker, result.tool) == ("12 degrees", "", "weather")
    assert not result.embed


def test_what_factbook_answers_is_injected() -> None:
    ours = told("Ann lives in Porto", name="mcp__factbook__search_memory", role=Role.TOOL)
    assert episode_of(ours).injected


def test_no_secret_of_a_turn_is_left_anywhere() -> None:
    ops = told(
        f"use {TOKEN} please", name=f"bot {TOKEN}", session=f"run {TOKEN}", title=f"about {TOKEN}"
    )
    assert TOKEN not in repr(ops)
    assert TOKEN not in repr(told("hello there", uid=TOKEN))


@settings(max_examples=examples(50), deadline=None)
@given(
    text=st.text(max_size=300),
    name=st.text(max_size=20),
    session=st.text(max_size=20),
    uid=st.none() | st.text(max_size=20),
    at=st.none() | st.integers(-(10**15), 10**15),
    role=st.sampled_from(Role),
)
def test_any_turn_gives_an_episode_that_any_store_can_keep(
    text: str, name: str, session: str, uid: str | None, at: int | None, role: Role
) -> None:
    ops = told(text, name=name, session=session, uid=uid, occurred_at=at, role=role)
    assert len(ops) in (0, 2)
    for value in (repr(ops),):
        value.encode()
    for op in ops:
        if isinstance(op, RecordEpisode):
            one = op.episode
            assert one.text.strip()
            "".join([one.text, one.speaker, one.tool, one.session, one.source]).encode()
            assert one.occurred_at is None or 0 <= one.occurred_at <= NOW + policy.CLOCK_SKEW_MS


# --- chats of one message per line ----------------------------------------------------------------


def test_a_log_of_messages(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "a.jsonl",
        turn("user", "I moved to Ghent", session_id=SESSION, timestamp="2026-11-02T18:20:00Z"),
        turn("assistant", [{"type": "text", "text": "Noted."}], session_id=SESSION, ts=1793643605),
        turn("system", "You are kind.", session_id=SESSION),
        {"speaker": "Ana", "text": "I have two cats"},
        turn("user", "mine too", name="Ben", user="ann"),
    )
    found, lines = read(path)
    assert [(one.text, one.role, one.speaker, one.owner) for one in found] == [
        ("I moved to Ghent", Role.USER, "", "me"),
        ("Noted.", Role.ASSISTANT, "", "me"),
        ("Ana: I have two cats", Role.USER, "Ana", "me"),
        ("Ben: mine too", Role.USER, "Ben", "ann"),
    ]
    assert [one.occurred_at for one in found] == [1793643600000, 1793643605000, None, None]
    assert [one.session for one in found] == [SESSION, SESSION, "a", "a"]
    assert [one.position for one in found] == [1, 2, 4, 5]
    assert lines.kept == {"user turn": 3, "assistant turn": 1}
    assert lines.ignored == {"system": 1}


def test_a_session_is_a_source_of_its_own_and_a_short_id_belongs_to_its_file(
    tmp_path: Path,
) -> None:
    rows = [turn("user", "one two", session_id=SESSION), turn("user", "one two", session_id="1")]
    first = batches(write_lines(tmp_path / "a.jsonl", *rows))[0]
    second = batches(write_lines(tmp_path / "b.jsonl", *rows))[0]
    assert [one.session for one in first.others] == [SESSION, "1"]
    assert first.others[0].key == second.others[0].key == f"conversation:me/{SESSION}"
    assert first.others[1].key != second.others[1].key
    assert first.episodes[1].uid != second.episodes[1].uid
    assert {one.source for one in first.episodes} == {one.key for one in first.others}


def test_a_turn_of_a_file_is_the_turn_that_was_told(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "a.jsonl", turn("user", "one two", session_id=SESSION, timestamp=NOW)
    )
    batch = batches(path)[0]
    assert batch.episodes[0].uid == episode_of(told("one two", session=SESSION)).uid
    assert batch.episodes[0].source == episode_of(told("one two", session=SESSION)).source


@every(
    ("value", "at"),
    [
        ("2026-11-02T18:20:00Z", 1793643600000),
        ("2026-11-02T19:20:00+01:00", 1793643600000),
        ("2026-11-02 18:20:00", 1793643600000),
        (1793643600, 1793643600000),
        (1793643600.25, 1793643600250),
        (1793643600000, 1793643600000),
        (1793643600000000, 1793643600000),
        (1793643600000000000, 1793643600000),
        ("1793643600", 1793643600000),
        ("1793643600.5", 1793643600500),
        (0, 0),
        (-5, None),
        (True, None),
        (float("nan"), None),
        (float("inf"), None),
        (10**30, None),
        ("yesterday", None),
        ({}, None),
    ],
)
def test_times_are_read_in_every_form(value: object, at: int | None) -> None:
    assert moment(value) == at


def test_tool_calls_and_results(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "web_search"}}
    call["function"] = {"name": "web_search", "arguments": '{"query": "shops in Ghent"}'}
    path = write_lines(
        tmp_path / "a.jsonl",
        turn("assistant", None, tool_calls=[call]),
        turn("tool", "Plantenhuis", tool_call_id="c1"),
        turn(
            "assistant",
            [
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "c2", "name": "mcp__factbook__search", "input": {}},
            ],
        ),
        turn("user", [{"type": "tool_result", "tool_use_id": "c2", "content": "Ann lives here"}]),
    )
    found, lines = read(path)
    assert [(one.kind, one.tool, one.trust, one.injected) for one in found] == [
        (EpisodeKind.TOOL_CALL, "web_search", Trust.OBSERVED, False),
        (EpisodeKind.TOOL_RESULT, "web_search", Trust.EXTERNAL, False),
        (EpisodeKind.TURN, "", Trust.DERIVED, False),
        (EpisodeKind.TOOL_CALL, "mcp__factbook__search", Trust.OBSERVED, True),
        (EpisodeKind.TOOL_RESULT, "mcp__factbook__search", Trust.EXTERNAL, True),
    ]
    assert found[0].value("query") == "shops in Ghent"
    assert len({one.uid for one in found}) == 5
    assert lines.kept == {"tool call": 1, "tool result": 1, "assistant turn": 1, "injected": 1}


def test_every_odd_record_is_accounted_for(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "a.jsonl",
        turn("user", "fine so far"),
        turn("user", ""),
        turn("user", None),
        {"role": "user"},
        {"content": "by nobody"},
        turn("moderator", "not known"),
        turn("user", 5),
        {"event": "login", "type": "audit"},
        b"[1, 2]\n",
        b'{"role": "user", "content": "torn\n',
        b"\n",
        turn("user", "<factbook-memory ids='f1'>x</factbook-memory>"),
        turn("user", [{"type": "image_url", "image_url": {"url": "data:..."}}]),
        b'{"role": "user", "content": "lone \\ud800 surrogate"}\n',
        b'{"role": "user", "con',
    )
    found, lines = read(path)
    assert [one.text for one in found][::3] == ["fine so far", "lone \ufffd surrogate"]
    assert [one.text for one in found][2] == "[image]"
    assert lines.kept == {"user turn": 3, "injected": 1}
    assert lines.ignored == {"user: empty": 3, "blank": 1}
    assert lines.unknown == {"role moderator": 1, "audit": 1}
    assert lines.rejected == {"bad_record": 2, "not_an_object": 1, "not_json": 1}
    assert lines.repaired == {"lone surrogate": 1}
    assert lines.waiting == 1
    details = {one.detail for one in rejected(batches(path))}
    assert {"a message without a role", "a message without a content"} <= details


def test_a_log_that_grew_is_read_on_and_equal_turns_without_a_time_are_two(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", turn("user", "ok"), turn("user", "ok"))
    first = batches(path)
    assert len({one.uid for one in first[0].episodes}) == 2
    with path.open("ab") as file:
        file.write(b'{"role": "user", "content": "half')
    (half,) = batches(path, cursor=kept(first[-1].cursor))
    assert (half.episodes, half.lines.waiting) == ([], 1)
    with path.open("ab") as file:
        file.write(b' and half"}\n')
    (rest,) = batches(path, cursor=kept(half.cursor))
    assert [one.text for one in rest.episodes] == ["half and half"]
    assert batches(path, cursor=kept(rest.cursor)) == []
    whole, _ = read(path)
    assert [*first[0].episodes, *rest.episodes] == whole


# --- whole conversations --------------------------------------------------------------------------


def test_openai_and_sharegpt_conversations(tmp_path: Path) -> None:
    openai = {
        "messages": [
            turn("system", "be kind"),
            turn("user", "What is a leek?"),
            turn("assistant", "A vegetable."),
        ]
    }
    sharegpt = {
        "id": "bread-1",
        "conversations": [
            {"from": "human", "value": "My bread is sour."},
            {"from": "gpt", "value": "Shorten the rise."},
        ],
    }
    wanted = ["What is a leek?", "A vegetable.", "My bread is sour.", "Shorten the rise."]
    lined = write_lines(tmp_path / "a.jsonl", openai, sharegpt)
    listed = write_json(tmp_path / "b.json", [openai, sharegpt])
    bare = write_json(tmp_path / "c.json", [openai["messages"], sharegpt["conversations"]])
    for path in (lined, listed, bare):
        found, lines = read(path)
        assert [one.text for one in found] == wanted, path
        assert lines.kept == {"conversation": 2, "user turn": 2, "assistant turn": 2}
        assert lines.ignored == {"system": 1}
        assert len({one.session for one in found}) == 2
    assert [one.position for one in read(lined)[0]] == [1, 1, 2, 2]
    assert [one.position for one in read(listed)[0]] == [2, 3, 4, 5]
    assert read(listed)[0][2].session == "bread-1"


def test_conversations_without_an_id_stay_apart_and_the_same_when_others_join(
    tmp_path: Path,
) -> None:
    def talk(*texts: str) -> dict[str, object]:
        return {"messages": [turn("user", text) for text in texts]}

    path = write_json(tmp_path / "a.json", [talk("hello", "one"), talk("hello", "two", "two")])
    before, _ = read(path)
    assert len({one.uid for one in before}) == 5
    write_json(path, [talk("first"), talk("hello", "one"), talk("hello", "two", "two", "new")])
    after, _ = read(path)
    assert {one.uid for one in before} < {one.uid for one in after}
    assert len(after) == 7


def test_speakers_are_the_labels_of_a_dialog(tmp_path: Path) -> None:
    texts = ["Ana: I paint.", "Ben: I see.", "Ana: And you?", "Ben: No.", "Note: they laugh"]
    path = write_json(tmp_path / "a.json", {"messages": [turn("user", text) for text in texts]})
    assert [one.speaker for one in read(path)[0]] == ["Ana", "Ben", "Ana", "Ben", ""]


def test_an_undated_message_has_the_date_of_its_conversation(tmp_path: Path) -> None:
    path = write_json(
        tmp_path / "a.json",
        {
            "created_at": "2026-11-01T08:00:00Z",
            "messages": [
                turn("user", "one two"),
                turn("user", "three", timestamp="2026-11-01T09:00:00Z"),
                turn("user", "four"),
            ],
        },
    )
    found, _ = read(path)
    assert [one.occurred_at for one in found] == [1793520000000, 1793523600000, 1793523600000]
    assert [one.attributes.get("dated") for one in found] == ["conversation", None, "conversation"]


# --- ChatGPT --------------------------------------------------------------------------------------


def talk() -> dict[str, object]:
    """Return a conversation with an edited prompt, hidden messages, a tool and thoughts."""
    return chatgpt(
        node(0, None),
        node(1, 0, "system", "", metadata={"is_visually_hidden_from_conversation": True}),
        node(2, 1, "user", "first wording", at=1_795_000_001.5),
        node(3, 2, "assistant", "first answer", at=1_795_000_002.5),
        node(4, 1, "user", "second wording", at=1_795_000_003.5),
        node(5, 4, "assistant", {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}),
        node(
            6,
            5,
            "assistant",
            {"content_type": "code", "text": 'search("leeks")'},
            recipient="browser",
            at=1_795_000_004.5,
        ),
        node(
            7,
            6,
            "tool",
            {"content_type": "tether_quote", "title": "Leeks", "text": "Leeks are vegetables."},
            name="browser",
        ),
        node(8, 7, "tool", {"content_type": "execution_output", "text": "42"}, name="python"),
        node(9, 8, "assistant", "second answer", at=1_795_000_005.5),
        node(
            10,
            9,
            "user",
            {
                "content_type": "multimodal_text",
                "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "x"}, "look"],
            },
            metadata={"attachments": [{"name": "plan.pdf", "mime_type": "application/pdf"}]},
            at=1_795_000_006.5,
        ),
        node(11, 0, "user", {"content_type": "user_editable_context", "user_profile": "x"}),
        current=10,
    )


def test_the_current_branch_of_chatgpt_is_read_in_order(tmp_path: Path) -> None:
    path = write_json(tmp_path / "conversations.json", [talk()])
    (batch,) = batches(path, host=CHATGPT)
    found, lines = read(path, host=CHATGPT)
    assert [(one.text, one.kind, one.trust) for one in found] == [
        ("second wording", EpisodeKind.TURN, Trust.DIRECT),
        ('browser\ninput: search("leeks")', EpisodeKind.TOOL_CALL, Trust.OBSERVED),
        ("Leeks are vegetables.", EpisodeKind.TOOL_RESULT, Trust.EXTERNAL),
        ("42", EpisodeKind.TOOL_RESULT, Trust.EXTERNAL),
        ("second answer", EpisodeKind.TURN, Trust.DERIVED),
        ("[image]\nlook\n[file: plan.pdf]", EpisodeKind.TURN, Trust.DIRECT),
    ]
    assert found[0].occurred_at == 1_795_000_003_500
    assert found[2].attributes["dated"] == "conversation"
    assert lines.ignored == {"hidden": 1, "thoughts": 1, "other_branch": 3}
    assert lines.records == 12  # the conversation and its eleven messages
    (source,) = batch.others
    assert (source.title, source.session, source.host) == ("A talk", uuid(1, 2), CHATGPT)
    assert source.key == f"chatgpt:me/{uuid(1, 2)}"
    assert batch.source.kind == "import"


def test_without_a_current_node_the_newest_leaf_counts(tmp_path: Path) -> None:
    whole = talk()
    path = write_json(tmp_path / "a.json", [whole])
    expected = texts(path, host=CHATGPT)
    for current in (None, "gone", 5):
        whole["current_node"] = current
        assert texts(write_json(path, [whole]), host=CHATGPT) == expected


def test_a_circle_and_broken_nodes_are_survived(tmp_path: Path) -> None:
    one, two = node(1, 2, "user", "one is here"), node(2, 1, "user", "two is here")
    broken = chatgpt(one, two, current=2)
    broken["mapping"]["x"] = 5  # type: ignore[index]
    broken["mapping"]["y"] = {"message": {"author": None, "content": None}}  # type: ignore[index]
    found, lines = read(write_json(tmp_path / "a.json", [broken]), host=CHATGPT)
    assert sorted(one.text for one in found) == ["one is here", "two is here"]
    assert lines.rejected == {"bad_record": 2}


# --- Claude.ai ------------------------------------------------------------------------------------


def test_an_export_of_claude_ai(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "name": "artifacts", "input": {"command": "create", "title": "x"}},
        {"type": "tool_result", "name": "artifacts", "content": [{"type": "text", "text": "OK"}]},
    ]
    path = write_json(
        tmp_path / "conversations.json",
        [
            claude_ai(
                said(
                    1,
                    "human",
                    "What does it say?",
                    attachments=[{"file_name": "a.txt", "extracted_content": "Rule 7 holds."}],
                    files=[{"file_name": "a.txt"}, {"file_name": "b.png"}],
                ),
                said(2, "assistant", "This block is not supported", content=blocks),
                said(3, "human", ""),
                5,
                {"uuid": uuid(9, 4), "text": "by nobody"},
            ),
            claude_ai(number=2),
        ],
    )
    found, lines = read(path, host=CLAUDE_AI)
    assert [(one.text, one.kind, one.trust) for one in found] == [
        ("What does it say?\n[file: a.txt]\n[file: b.png]", EpisodeKind.TURN, Trust.DIRECT),
        ("Rule 7 holds.", EpisodeKind.TOOL_RESULT, Trust.EXTERNAL),
        ("Let me look.", EpisodeKind.TURN, Trust.DERIVED),
        ("artifacts\ncommand: create\ntitle: x", EpisodeKind.TOOL_CALL, Trust.OBSERVED),
        ("OK", EpisodeKind.TOOL_RESULT, Trust.EXTERNAL),
    ]
    assert found[1].attributes == {"file": "a.txt"}
    assert found[3].value("command") is None  # a verb of the tool, not a command line
    assert {one.session for one in found} == {uuid(1, 3)}
    assert lines.kept == {"conversation": 1, "user turn": 1, "assistant turn": 1}
    assert lines.ignored == {"user: empty": 1, "empty conversation": 1}
    assert lines.rejected == {"bad_record": 2}


def test_other_branches_of_claude_ai_are_left_out(tmp_path: Path) -> None:
    root = "00000000-0000-4000-8000-000000000000"

    def at(number: int, parent: int | None) -> dict[str, object]:
        above = root if parent is None else uuid(parent, 4)
        return said(number, "human", f"message {number}", parent_message_uuid=above)

    messages = [at(1, None), at(2, 1), at(3, 2), at(4, 1), at(5, 4), at(6, 99)]
    path = write_json(tmp_path / "a.json", [claude_ai(*messages[:5])])
    assert texts(path, host=CLAUDE_AI) == ["message 1", "message 4", "message 5"]
    assert read(path, host=CLAUDE_AI)[1].ignored == {"other_branch": 2}
    export = claude_ai(*messages, current_leaf_message_uuid=uuid(3, 4))
    assert texts(write_json(path, [export]), host=CLAUDE_AI) == [
        "message 1",
        "message 2",
        "message 3",
        "message 6",  # what it answers is not in the export
    ]


# --- secrets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["lines", "messages", "chatgpt", "claude", "zip", "broken"])
def test_no_secret_of_any_format_is_left(tmp_path: Path, form: str) -> None:
    text = f"my key is {TOKEN}, keep it"
    path = tmp_path / "a.json"
    if form == "lines":
        path = tmp_path / "a.jsonl"
        write_lines(
            path,
            turn("user", text, name=TOKEN, session_id=f"s {TOKEN}", id=TOKEN),
            turn("tool", text, tool_call_id=TOKEN, user=TOKEN),
            turn(TOKEN, text),
            {"role": "user", "note": text},
        )
    elif form == "messages":
        write_json(
            path, {"title": text, "id": TOKEN, "messages": [turn("user", text), {"x": text}]}
        )
    elif form == "claude":
        attached = [{"file_name": f"{TOKEN}.txt", "extracted_content": text}]
        call = [{"type": "tool_use", "name": TOKEN, "input": {"q": text}}]
        write_json(
            path,
            [
                claude_ai(
                    said(1, "human", text, attachments=attached),
                    said(2, "assistant", "", content=call),
                    name=text,
                )
            ],
        )
    else:
        nodes = [node(1, None, "user", text), node(2, 1, "tool", text, name=TOKEN)]
        export = json.dumps([chatgpt(*nodes, current=2, title=text)]).encode()
        if form == "zip":
            path = write_zip(tmp_path / "a.zip", {"conversations.json": export})
        else:
            path.write_bytes(export if form == "chatgpt" else export[: export.rfind(b"keep it")])
    found = batches(path, redactor=REDACTOR)
    assert TOKEN not in repr(found)
    assert TOKEN in repr(batches(path, redactor=NO_REDACTION))
    if form != "broken":
        assert any(one.episodes for one in found)


# --- anything -------------------------------------------------------------------------------------

_KEYS = st.sampled_from(
    sorted(
        word_set(
            "role content text from value speaker messages conversations mapping message "
            "parent children current_node author parts content_type chat_messages sender uuid "
            "id name title attachments extracted_content type tool_calls function arguments "
            "timestamp created_at session_id user metadata parent_message_uuid input "
            "tool_use_id recipient create_time "
        )
    )
)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats()
    | st.sampled_from(["user", "assistant", "tool", "text", "tool_use", "tool_result", "a", ""])
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=40,
)
_MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "x"]) | _VALUES, "content": _VALUES}
)
_TREES = st.fixed_dictionaries(
    {
        "mapping": st.dictionaries(
            st.sampled_from("abcd"),
            st.fixed_dictionaries(
                {
                    "message": st.none()
                    | st.fixed_dictionaries(
                        {
                            "author": st.fixed_dictionaries({"role": st.just("user")}) | _VALUES,
                            "content": st.fixed_dictionaries({"parts": _VALUES}) | _VALUES,
                        }
                    ),
                    "parent": st.none() | st.sampled_from("abcd"),
                }
            )
            | _VALUES,
            max_size=4,
        ),
        "current_node": st.sampled_from("abcdx") | _VALUES,
    }
)
_EXPORTS = st.fixed_dictionaries(
    {
        "uuid": _VALUES,
        "chat_messages": st.lists(
            _VALUES
            | st.fixed_dictionaries(
                {
                    "sender": st.sampled_from(["human", "assistant"]) | _VALUES,
                    "content": _VALUES,
                    "uuid": st.sampled_from("abc") | _VALUES,
                    "parent_message_uuid": st.sampled_from("abc") | _VALUES,
                }
            ),
            max_size=5,
        ),
    }
)
_RECORDS = (
    _VALUES
    | _MESSAGES
    | _TREES
    | _EXPORTS
    | st.fixed_dictionaries({"messages": st.lists(_MESSAGES)})
)


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(records=st.lists(_RECORDS, max_size=5), document=st.booleans())
def test_any_json_is_read_and_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, records: list[object], document: bool
) -> None:
    folder = tmp_path_factory.mktemp("any")
    if document:
        path = write_json(folder / "a.json", records)
    else:
        path = write_lines(folder / "a.jsonl", *records)
    found = batches(path, redactor=REDACTOR)
    account(found)  # every record has one outcome
    lines = account(found)
    if not document:
        assert lines.lines == len(records)
    for batch in found:
        keys = {batch.source.key, *(one.key for one in batch.others)}
        for one in batch.episodes:
            assert one.source in keys
            one.text.encode()
            assert one.text
            for part in one.fields:
                assert 0 <= part.start <= part.end <= len(one.text)
    again = batches(path, redactor=REDACTOR)
    assert [one.uid for batch in again for one in batch.episodes] == [
        one.uid for batch in found for one in batch.episodes
    ]
    for record in records:
        assert host_of(record) in ("", CHAT, CHATGPT, CLAUDE_AI)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=st.binary(max_size=300),
    begun=st.sampled_from([b"", b'[{"role":"user",', b'{"messages":[']),
)
def test_any_bytes_are_read_and_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, begun: bytes
) -> None:
    folder = tmp_path_factory.mktemp("bytes")
    for name in ("a.json", "a.jsonl"):
        path = folder / name
        path.write_bytes(begun + data)
        account(batches(path, redactor=REDACTOR))
