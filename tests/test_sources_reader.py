"""Reading a log: damaged lines, growth, replacement, and the account of every line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import examples
from factbook import policy
from factbook.errors import PathMissing, PathUnreadable, UnsupportedHost
from factbook.model.facts import Cursor, Episode, LineCount, RejectedLine
from factbook.redaction import NO_REDACTION, Redactor
from factbook.sources.session_log import LogFile, discover, read
from session_logs import (
    CLAUDE,
    CODEX,
    EXAMPLES,
    GEMINI,
    NOW,
    SESSION,
    account,
    batches,
    claude,
    codex,
    episodes,
    kept,
    lines_of,
    rejected,
    tool_result,
    tool_use,
    write,
)

# --- damaged lines --------------------------------------------------------------------------------


def test_two_records_glued_on_one_line_are_both_read(tmp_path: Path) -> None:
    glued = lines_of(claude("user", "first", "u1")).rstrip() + lines_of(
        {"type": "summary", "summary": "A title", "leafUuid": "x"}
    )
    log = write(tmp_path / "a.jsonl", glued, claude("user", "second", "u2"))
    found = batches(log)
    assert [one.text for one in found[0].episodes] == ["first", "A title", "second"]
    lines = account(found)
    assert (lines.lines, lines.records) == (2, 3)
    assert lines.repaired == {"glued records": 2}
    assert [one.position for one in found[0].episodes] == [1, 1, 2]


def test_a_whole_record_behind_a_torn_one_is_read_and_the_torn_one_reported(tmp_path: Path) -> None:
    torn = lines_of(claude("user", "x" * 300, "u1"))[:200]
    log = write(tmp_path / "a.jsonl", torn + lines_of(claude("user", "whole", "u2")))
    found = batches(log)
    assert [one.text for one in found[0].episodes] == ["whole"]
    (line,) = rejected(found)
    assert (line.reason, line.position, line.offset) == ("not_json", 1, 0)
    assert line.excerpt.startswith('{"parentUuid"')


@pytest.mark.parametrize(
    ("data", "text", "how"),
    [
        (b"na\xefve", "naïve", "read as Windows-1252"),
        (b"a \xe2\x82 b", "a \ufffd b", "invalid UTF-8"),  # a sign that was cut
        (b"\xc4\xce\xca!", "\ufffd\ufffd\ufffd!", "invalid UTF-8"),  # of another part of the world
    ],
)
def test_bytes_that_are_no_utf8_are_guessed_or_replaced_and_counted(
    tmp_path: Path, data: bytes, text: str, how: str
) -> None:
    line = lines_of(claude("user", "??", "u1")).replace(b"??", data)
    found = batches(write(tmp_path / "a.jsonl", line))
    assert [one.text for one in found[0].episodes] == [text]
    assert account(found).repaired == {how: 1}


def test_lone_surrogates_are_replaced_and_counted(tmp_path: Path) -> None:
    line = lines_of(claude("user", "half ? emoji", "u1")).replace(b"?", b"\\ud83d")
    found = batches(write(tmp_path / "a.jsonl", line))
    assert [one.text for one in found[0].episodes] == ["half \ufffd emoji"]
    assert account(found).repaired == {"lone surrogate": 1}


@pytest.mark.parametrize(
    "value",
    [b"NaN", b"-Infinity", b"123456789" * 900, b"-99999999999999999999", b"1e999"],
    ids=["nan", "infinity", "8100 digits", "beyond 64 bits", "float overflow"],
)
def test_numbers_that_json_does_not_know_spoil_nothing(tmp_path: Path, value: bytes) -> None:
    block = tool_use("Bash", {"command": "ls", "timeout": "?"})
    line = lines_of(claude("assistant", [block])).replace(b'"?"', value)
    (call,) = episodes(write(tmp_path / "a.jsonl", line))
    assert call.value("command") == "ls"


def test_of_equal_keys_the_last_counts(tmp_path: Path) -> None:
    line = lines_of(claude("user", "right", "u1")).replace(
        b'"content":', b'"content": "wrong", "content":'
    )
    assert [one.text for one in episodes(write(tmp_path / "a.jsonl", line))] == ["right"]


def test_nul_bytes_in_and_around_records_are_survived(tmp_path: Path) -> None:
    inside = lines_of(claude("user", "a?b", "u1")).replace(b"a?b", b"a\\u0000b")
    around = b"\x00" * 64 + lines_of(claude("user", "after a crash", "u2"))
    found = batches(write(tmp_path / "a.jsonl", inside, around, b"\x00" * 9 + b"\n"))
    assert [one.text for one in found[0].episodes] == ["a\ufffdb", "after a crash"]
    assert [(one.reason, one.position) for one in rejected(found)] == [("not_json", 3)]


def test_json_that_is_nested_100000_deep_is_refused_with_its_reason(tmp_path: Path) -> None:
    deep = b'{"type":"user","message":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    found = batches(write(tmp_path / "a.jsonl", deep, claude("user", "next", "u2")))
    assert [one.text for one in found[0].episodes] == ["next"]
    (line,) = rejected(found)
    assert line.reason == "too_deep"
    assert line.position == 1


@pytest.mark.parametrize("depth", [200, 400, 900])
def test_input_that_is_nested_deep_is_kept_or_refused_but_never_fatal(
    tmp_path: Path, depth: int
) -> None:
    record = lines_of(claude("assistant", [tool_use("T", {"x": "?"})])).replace(
        b'"?"', b"[" * depth + b"1" + b"]" * depth
    )
    redactor = Redactor(key=b"k" * 32)
    found = batches(write(tmp_path / "a.jsonl", record), redactor=redactor)
    assert account(found).records == 1


def test_a_byte_order_mark_windows_line_ends_and_blank_lines_are_no_trouble(tmp_path: Path) -> None:
    first = b"\xef\xbb\xbf" + lines_of(claude("user", "one", "u1")).rstrip() + b"\r\n"
    log = write(tmp_path / "a.jsonl", first, b"\r\n", b"   \n", claude("user", "two", "u2"))
    found = batches(log)
    assert [(one.text, one.position) for one in found[0].episodes] == [("one", 1), ("two", 4)]
    assert account(found).ignored == {"blank": 2}


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        (b'"text"\n', "a JSON string"),
        (b"42\n", "a JSON number"),
        (b"[1]\n", "a JSON array"),
        (b"null\n", "a JSON null"),
        (b"true\n", "a JSON boolean"),
    ],
)
def test_json_that_is_no_record_is_refused(tmp_path: Path, line: bytes, detail: str) -> None:
    found = batches(write(tmp_path / "a.jsonl", line))
    assert [(one.reason, one.detail) for one in rejected(found)] == [("not_an_object", detail)]


def test_the_excerpt_of_a_refused_line_is_redacted(tmp_path: Path) -> None:
    log = write(tmp_path / "a.jsonl", b'{"oops": "export API_TOKEN=hunter2hunter2hunter2 \n')
    (line,) = rejected(batches(log, redactor=Redactor(key=b"k" * 32)))
    assert "hunter2" not in line.excerpt
    assert line.excerpt.startswith('{"oops": "export')
    assert len(line.excerpt) <= policy.EXCERPT_CHARS


def test_nothing_is_kept_of_a_line_that_begins_no_record(tmp_path: Path) -> None:
    log = write(tmp_path / "a.jsonl", b"MIIJKQIBAAKCAgEACrvciCLPr75RmA4ENCYkSCBwJISmUGrV\n")
    (line,) = rejected(batches(log))
    assert (line.reason, line.position, line.excerpt) == ("not_json", 1, "")


def test_a_line_over_the_limit_is_refused_and_the_next_one_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "MAX_LINE_BYTES", 3_000_000)
    log = write(
        tmp_path / "a.jsonl",
        claude("user", "a" * 2_900_000, "u1"),
        claude("user", "b" * 5_000_000, "u2"),
        claude("user", "next", "u3"),
    )
    found = batches(log)
    texts = [one for batch in found for one in batch.episodes]
    assert [(one.uid, one.position) for one in texts] == [("u1", 1), ("u3", 3)]
    (line,) = rejected(found)
    assert (line.reason, line.position) == ("too_long", 2)
    assert found[-1].cursor.offset == log.stat().st_size


def test_a_very_long_line_is_read(tmp_path: Path) -> None:
    output = "a line of output\n" * 700_000  # 12 MB
    log = write(
        tmp_path / "a.jsonl",
        claude("assistant", [tool_use("Bash", {"command": "make"})], "a1"),
        claude("user", [tool_result(output)], "u1"),
    )
    result = episodes(log)[1]
    assert len(result.text) <= policy.RESULT_CHARS
    assert result.cut > 11_000_000
    assert "699,980 lines cut" in result.text


# --- the end of a file ----------------------------------------------------------------------------


def test_a_half_written_last_line_waits_for_the_next_run(tmp_path: Path) -> None:
    whole = lines_of(claude("user", "one", "u1"))
    later = lines_of(claude("user", "two", "u2"))
    log = tmp_path / "a.jsonl"
    log.write_bytes(whole + later[:40])
    (first,) = batches(log)
    assert [one.text for one in first.episodes] == ["one"]
    assert first.lines.waiting == 1
    assert first.cursor.offset == len(whole)
    assert batches(log, cursor=kept(first.cursor)) == []
    log.write_bytes(whole + later)
    (second,) = batches(log, cursor=kept(first.cursor))
    assert [(one.text, one.position) for one in second.episodes] == [("two", 2)]
    assert not second.restart


def test_a_last_line_without_its_newline_is_read_when_it_is_whole(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(lines_of(claude("user", "one", "u1")).rstrip())
    (first,) = batches(log)
    assert [one.text for one in first.episodes] == ["one"]
    with log.open("ab") as file:
        file.write(b"\n" + lines_of(claude("user", "two", "u2")))
    (second,) = batches(log, cursor=kept(first.cursor))
    assert [(one.text, one.position) for one in second.episodes] == [("two", 2)]
    assert second.lines.lines == 1


def test_numbers_and_torn_texts_at_the_end_wait(tmp_path: Path) -> None:
    for tail in (b"4", b'"text"', b"[1]", b"\x00\x00", b"  "):
        log = write(tmp_path / "a.jsonl", claude("user", "one", "u1"), tail)
        (batch,) = batches(log)
        assert batch.lines.waiting == 1


# --- growth, truncation, replacement --------------------------------------------------------------


def test_an_unchanged_file_gives_nothing(tmp_path: Path) -> None:
    log = write(tmp_path / "a.jsonl", claude("user", "one", "u1"))
    (batch,) = batches(log)
    assert batches(log, cursor=kept(batch.cursor)) == []


def test_a_file_that_grew_is_read_on(tmp_path: Path) -> None:
    log = write(
        tmp_path / "a.jsonl", claude("assistant", [tool_use("Bash", {"command": "ls"})], "a1")
    )
    (first,) = batches(log)
    size = log.stat().st_size
    with log.open("ab") as file:
        file.write(lines_of(claude("user", [tool_result("x.txt")], "u1")))
    (second,) = batches(log, cursor=kept(first.cursor))
    assert not second.restart
    assert second.read_bytes == log.stat().st_size - size
    (result,) = second.episodes
    assert (result.tool, result.subject, result.position) == ("Bash", "action_a1", 2)


@pytest.mark.parametrize("change", ["truncated", "replaced", "same size", "middle", "emptied"])
def test_a_file_that_is_another_one_is_read_anew(tmp_path: Path, change: str) -> None:
    many = [claude("user", f"number {i:04d}", f"u{i}") for i in range(100)]
    log = write(tmp_path / "a.jsonl", *many)
    (first,) = batches(log)
    if change == "truncated":
        write(log, *many[:40])
    elif change == "replaced":
        write(log, *[claude("user", f"other {i}", f"v{i}") for i in range(300)])
    elif change == "same size":
        write(log, *[claude("user", f"NUMBER {i:04d}", f"u{i}") for i in range(100)])
        os.utime(log, ns=(first.cursor.mtime_ns, first.cursor.mtime_ns))
    elif change == "middle":
        many[50] = claude("user", "number CHAN", "u50")
        write(log, *many)
        os.utime(log, ns=(first.cursor.mtime_ns + 1, first.cursor.mtime_ns + 1))
    else:
        log.write_bytes(b"")
    again = batches(log, cursor=kept(first.cursor))
    assert [batch.restart for batch in again] == [True]
    assert [one.text for one in again[0].episodes] == [one.text for one in episodes(log)]
    assert batches(log, cursor=kept(again[0].cursor)) == []


def test_only_the_first_batch_of_a_replaced_file_says_so(tmp_path: Path) -> None:
    log = write(tmp_path / "a.jsonl", claude("user", "one", "u1"))
    (first,) = batches(log)
    write(log, *[claude("user", f"other {i}", f"v{i}") for i in range(5)])
    again = batches(log, cursor=kept(first.cursor), batch_bytes=1)
    assert [batch.restart for batch in again] == [True, False, False, False, False]


def test_a_missing_file_a_folder_and_an_unknown_host_are_named(tmp_path: Path) -> None:
    with pytest.raises(PathMissing, match=r"gone\.jsonl does not exist"):
        batches(tmp_path / "gone.jsonl")
    with pytest.raises(PathUnreadable, match="cannot be read"):
        batches(tmp_path)
    log = write(tmp_path / "a.jsonl", claude("user", "one"))
    with pytest.raises(UnsupportedHost, match="OpenCode"):
        batches(log, "OpenCode")


# --- documents ------------------------------------------------------------------------------------


def test_records_that_were_pretty_printed_are_read_with_their_lines(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    one, two = claude("user", "one", "u1"), claude("user", "two", "u2")
    log.write_text(json.dumps(one, indent=2) + "\n" + json.dumps(two, indent=2) + "\n")
    found = batches(log)
    lines = json.dumps(one, indent=2).count("\n") + 1
    assert [(e.text, e.position) for e in found[0].episodes] == [("one", 1), ("two", lines + 1)]
    assert log.read_bytes()[found[0].episodes[1].offset :].startswith(b'{\n  "parentUuid"')
    account(found)


def test_the_web_export_of_claude_code_is_read(tmp_path: Path) -> None:
    log = tmp_path / "export.json"
    log.write_text(json.dumps({"loglines": [claude("user", "one", "u1"), 7]}, indent=1))
    found = batches(log)
    assert [(one.text, one.position, one.offset) for one in found[0].episodes] == [("one", 1, 0)]
    assert [(one.reason, one.position) for one in rejected(found)] == [("not_an_object", 2)]
    assert discover([log]).files[0].host == CLAUDE


def test_a_document_that_changed_is_read_anew(tmp_path: Path) -> None:
    log = tmp_path / "session-1.json"
    messages = [{"id": "m1", "type": "user", "content": "one"}]
    log.write_text(json.dumps({"sessionId": "s", "projectHash": "h", "messages": messages}))
    (first,) = batches(log, GEMINI)
    assert batches(log, GEMINI, cursor=kept(first.cursor)) == []
    messages.append({"id": "m2", "type": "user", "content": "two"})
    log.write_text(json.dumps({"sessionId": "s", "projectHash": "h", "messages": messages}))
    (second,) = batches(log, GEMINI, cursor=kept(first.cursor))
    assert second.restart
    assert [one.uid for one in second.episodes] == ["s:m1", "s:m2"]


def test_a_document_that_is_no_json_is_refused_once(tmp_path: Path) -> None:
    log = tmp_path / "session-1.json"
    log.write_text('{\n "sessionId": "s",\n "messages": [\n')
    found = batches(log, GEMINI)
    assert [one.reason for one in rejected(found)] == ["not_json"]
    account(found)


# --- the account of every line --------------------------------------------------------------------


def parts_of(
    path: Path, host: str, ends: list[int]
) -> tuple[list[Episode], list[RejectedLine], LineCount]:
    """Read a log that is written up to one end after another, each time from the cursor on."""
    data = path.read_bytes()
    cursor: Cursor | None = None
    found: list[Episode] = []
    refused: list[RejectedLine] = []
    lines = LineCount()
    for step, end in enumerate([*sorted(ends), len(data)]):
        path.write_bytes(data[:end])
        os.utime(path, ns=(step, step))
        for batch in batches(path, host, cursor=cursor):
            if batch.restart:
                found, refused, lines = [], [], LineCount()
            account([batch])
            found += batch.episodes
            refused += batch.rejected
            lines.waiting = 0
            lines.add(batch.lines)
            cursor = kept(batch.cursor)
    return found, refused, lines


POOL = [
    b"  " + lines_of(claude("user", "indented", "i1")),
    *[lines_of(claude("user", text, f"u{i}")) for i, text in enumerate(["one", "Grüße 中", ""])],
    lines_of(claude("assistant", [tool_use("Bash", {"command": "ls -la"}, "t1")], "a1")),
    lines_of(claude("assistant", [{"type": "text", "text": "Found it"}], "a2", gitBranch="main")),
    lines_of(claude("user", [tool_result("Exit code 1\nfailed", "t1", is_error=True)], "r1")),
    lines_of(claude("user", "<bash-input>df -h</bash-input>", "b1", gitBranch="fix")),
    lines_of(claude("user", "<bash-stdout>95% full</bash-stdout>", "b2", cwd="/srv")),
    lines_of(claude("user", "Warmup", "w1", isSidechain=True)),
    lines_of(claude("assistant", "ready", "w2", isSidechain=True)),
    lines_of({"type": "queue-operation", "operation": "enqueue", "content": "then commit"}),
    lines_of({"type": "queue-operation", "operation": "remove"}),
    lines_of({"type": "summary", "summary": "A title", "leafUuid": "u1"}),
    lines_of({"type": "something-new", "value": 1}),
    lines_of(claude("user", "glued", "g1")).rstrip() + lines_of(claude("user", "two", "g2")),
    b'{"type":"user","torn":"' + lines_of(claude("user", "after", "g3")),
    b"\n",
    b"  \r\n",
    b"42\n",
    b"not json\n",
    b"\x00\x00\n",
    b"\xff\xfe\n",
]


def test_a_mark_of_utf16_alone_is_a_line_of_no_text(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(b"\xff\xfe\n")
    undisturbed = account(batches(log))
    assert undisturbed.total() == 1
    assert parts_of(log, CLAUDE, [1])[2].total() == 1


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_reading_on_from_any_cut_gives_what_an_undisturbed_read_gives(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = data.draw(st.lists(st.sampled_from(POOL), min_size=1, max_size=12))
    whole = b"\xef\xbb\xbf" * data.draw(st.booleans()) + b"".join(lines)
    ends = data.draw(st.lists(st.integers(0, len(whole)), max_size=4))
    folder = tmp_path_factory.mktemp("cut")
    log = folder / "a.jsonl"
    log.write_bytes(whole)
    undisturbed = batches(log)
    found, refused, lines_read = parts_of(log, CLAUDE, ends)
    assert found == [one for batch in undisturbed for one in batch.episodes]
    assert refused == rejected(undisturbed)
    assert lines_read.lines == account(undisturbed).lines
    assert lines_read.total() == account(undisturbed).total()


@pytest.mark.parametrize("log", discover([EXAMPLES]).files, ids=lambda log: log.path.name[:20])
def test_an_example_read_on_from_every_line_gives_what_an_undisturbed_read_gives(
    tmp_path: Path, log: LogFile
) -> None:
    undisturbed = list(read(log, cursor=None, redactor=NO_REDACTION, now=NOW))
    whole = [one for batch in undisturbed for one in batch.episodes]
    single = list(read(log, cursor=None, redactor=NO_REDACTION, now=NOW, batch_bytes=1))
    assert [one for batch in single for one in batch.episodes] == whole
    before: list[Episode] = []
    for batch in single:
        before += batch.episodes
        rest = read(log, cursor=kept(batch.cursor), redactor=NO_REDACTION, now=NOW)
        assert before + [one for more in rest for one in more.episodes] == whole
    assert single[-1].source == undisturbed[-1].source


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(content=st.binary(max_size=400), host=st.sampled_from([CLAUDE, CODEX, GEMINI]))
def test_any_bytes_are_read_without_a_crash_and_every_line_is_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, host: str
) -> None:
    log = tmp_path_factory.mktemp("bytes") / "a.jsonl"
    log.write_bytes(content)
    found = batches(log, host)
    lines = account(found)
    physical = content.count(b"\n") + (content != b"" and not content.endswith(b"\n"))
    assert lines.lines + lines.waiting == physical
    assert lines.waiting or not found or found[-1].cursor.offset == len(content)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)

CLAUDE_TYPES = [
    "user", "assistant", "system", "attachment", "queue-operation", "summary", "ai-title",
    "custom-title", "agent-name", "pr-link", "progress", "result", "started", "mode", "new",
]  # fmt: skip
CLAUDE_KEYS = [
    "message", "uuid", "sessionId", "timestamp", "cwd", "gitBranch", "isSidechain", "agentId",
    "isMeta", "isCompactSummary", "planContent", "toolUseResult", "sourceToolAssistantUUID",
    "subtype", "content", "attachment", "operation", "summary", "leafUuid", "aiTitle", "prUrl",
    "prNumber", "result", "key", "customTitle",
]  # fmt: skip
BLOCK = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image", "new"])
        | JSON
    },
    optional=dict.fromkeys(("text", "id", "name", "input", "tool_use_id", "content"), JSON)
    | {"is_error": st.booleans()},
)
CONTENT = st.text(max_size=30) | st.lists(BLOCK | JSON, max_size=4) | JSON
CLAUDE_RECORD = st.fixed_dictionaries(
    {"type": st.sampled_from(CLAUDE_TYPES)},
    optional=dict.fromkeys(CLAUDE_KEYS, JSON)
    | {"message": st.fixed_dictionaries({}, optional={"content": CONTENT, "id": JSON}) | JSON},
)
CODEX_PAYLOADS = [
    "message", "function_call", "function_call_output", "custom_tool_call", "local_shell_call",
    "custom_tool_call_output", "web_search_call", "tool_search_call", "user_message",
    "exec_command_end", "task_started", "thread_name_updated", "reasoning", "task_complete",
]  # fmt: skip
CODEX_KEYS = [
    "id", "cwd", "git", "turn_id", "message", "images", "name", "arguments", "call_id", "output",
    "input", "action", "source", "command", "exit_code", "content", "thread_name", "namespace",
]  # fmt: skip
CODEX_RECORD = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "new"]
        ),
        "payload": st.fixed_dictionaries(
            {"type": st.sampled_from(CODEX_PAYLOADS) | JSON},
            optional=dict.fromkeys(CODEX_KEYS, JSON)
            | {"role": st.sampled_from(["user", "assistant"]), "source": st.just("user_shell")},
        )
        | JSON,
    },
    optional={"timestamp": JSON},
)
GEMINI_RECORD = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "gemini", "info", "new"]) | JSON},
    optional=dict.fromkeys(("id", "content", "timestamp", "$set", "sessionId", "summary"), JSON)
    | {
        "toolCalls": st.lists(
            st.fixed_dictionaries(
                {}, optional=dict.fromkeys(("id", "name", "args", "result", "status"), JSON)
            )
            | JSON,
            max_size=3,
        )
    },
)


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    case=st.one_of(
        st.tuples(st.just(CLAUDE), st.lists(CLAUDE_RECORD, max_size=5)),
        st.tuples(st.just(CODEX), st.lists(CODEX_RECORD, max_size=5)),
        st.tuples(st.just(GEMINI), st.lists(GEMINI_RECORD, max_size=5)),
    )
)
def test_records_of_any_content_are_read_without_a_crash(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[str, list[object]]
) -> None:
    host, records = case
    log = write(tmp_path_factory.mktemp("records") / "a.jsonl", *records)
    found = batches(log, host, redactor=Redactor(key=b"k" * 32), batch_bytes=1)
    account(found)
    for batch in found:
        kept(batch.cursor)  # the state is JSON
        for one in batch.episodes:
            one.text.encode("utf-8")
            assert one.uid
            assert "\x00" not in one.text
            for part in one.fields:
                assert 0 <= part.start <= part.end <= len(one.text)


def test_the_state_holds_no_secret(tmp_path: Path) -> None:
    log = write(
        tmp_path / "a.jsonl",
        {
            "type": "queue-operation",
            "operation": "enqueue",
            "sessionId": SESSION,
            "content": "run sshpass -p 'correct-horse-battery' ssh root@tower",
        },
    )
    (batch,) = batches(log, redactor=Redactor(key=b"k" * 32))
    assert "correct-horse" not in json.dumps(batch.cursor.state)
    assert "sshpass" in json.dumps(batch.cursor.state)
    held = write(
        tmp_path / "b.jsonl",
        codex("event_msg", type="task_started", turn_id="t"),
        codex(
            "response_item",
            type="message",
            role="user",
            content=[{"type": "input_text", "text": "export API_TOKEN=hunter2hunter2hunter2"}],
        ),
    )
    (batch,) = batches(held, CODEX, redactor=Redactor(key=b"k" * 32))
    assert "hunter2" not in json.dumps(batch.cursor.state)
