"""Tool calls and outputs as text: spans, bounds, and what is kept of a long output."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook import policy
from factbook.redaction import NO_REDACTION
from factbook.sources.session_log.outputs import CONTENT, REPORT, condense, exit_code, shape_of
from factbook.sources.session_log.text import abridge, block, clip, millis, without
from factbook.sources.session_log.toolcall import Rendered, render_call
from rows import every


def values(call: Rendered) -> list[tuple[str, str]]:
    """Return the named values of a call, as its spans give them."""
    return [(one.name, call.text[one.start : one.end]) for one in call.fields]


# --- calls ----------------------------------------------------------------------------------------


@every(
    ("tool", "given_", "expected"),
    [
        (
            "Bash",
            {"command": "ls", "description": "List"},
            [("command", "ls"), ("description", "List")],
        ),
        ("exec_command", {"cmd": "ls"}, [("command", "ls")]),
        ("shell", {"command": ["bash", "-lc", "ls | wc"]}, [("command", "ls | wc")]),
        ("shell", {"command": ["echo", "a b", 7]}, [("command", "echo 'a b' 7")]),
        ("run_shell_command", {"command": "ls"}, [("command", "ls")]),
        ("Read", {"file_path": "/a", "limit": 5}, [("path", "/a"), ("limit", "5")]),
        ("batch", {"filePath": "/a"}, [("path", "/a")]),
        ("NotebookEdit", {"notebook_path": "/a"}, [("path", "/a")]),
        ("upload", {"paths": ["/a", "/b"]}, [("path", "/a"), ("path", "/b")]),
        (
            "Task",
            {"prompt": "look", "subagent_type": "x"},
            [("prompt", "look"), ("agent_type", "x")],
        ),
        ("Skill", {"skill": "pdf", "args": "x"}, [("skill", "pdf"), ("args", "x")]),
        ("Skill", {"command": "pdf"}, [("skill", "pdf")]),
        (
            "str_replace_editor",
            {"command": "view", "path": "/a"},
            [("operation", "view"), ("path", "/a")],
        ),
        (
            "WebFetch",
            {"url": "https://a.b", "prompt": "p"},
            [("url", "https://a.b"), ("prompt", "p")],
        ),
        ("TodoWrite", {"todos": [{"content": "x"}]}, [("todos", '[{"content":"x"}]')]),
        ("T", {"a": None, "b": False, "c": "", "d": [], "e": 0, "f": {}}, [("e", "0")]),
        ("T", {"command": {"nested": 1}}, [("command", '{"nested":1}')]),
        ("T", "free text", [("input", "free text")]),
        ("T", None, []),
        ("T", 7, [("input", "7")]),
    ],
)
def test_inputs_have_names_of_ours_and_spans_of_the_values(
    tool: str, given_: object, expected: list[tuple[str, str]]
) -> None:
    call = render_call(tool, given_, NO_REDACTION)
    assert values(call) == expected
    assert call.text.split("\n")[0] == tool


def test_bulky_inputs_are_cut_and_commands_are_not() -> None:
    edit = render_call(
        "Edit", {"file_path": "/a", "old_string": "x" * 5_000, "new_string": "y"}, NO_REDACTION
    )
    assert dict(values(edit))["old_string"] == "x" * policy.FIELD_CHARS
    assert dict(values(edit))["new_string"] == "y"
    assert edit.cut == 5_000 - policy.FIELD_CHARS
    assert "[... 4,400 characters cut ...]" in edit.text
    command = "cat > a <<'EOF'\n" + "line\n" * 4_000 + "EOF"
    call = render_call("Bash", {"command": command}, NO_REDACTION)
    assert values(call) == [("command", command)]
    assert call.cut == 0


def test_many_inputs_are_bounded_in_all() -> None:
    call = render_call("T", {f"key{i}": "v" * 500 for i in range(1_000)}, NO_REDACTION)
    assert len(call.text) < 6_000
    assert call.cut > 490_000
    assert "further input of" in call.text


@pytest.mark.parametrize(
    ("tool", "given_", "embed"),
    [
        ("Bash", {"command": "ls"}, True),
        ("WebSearch", {"query": "x"}, True),
        ("Read", {"file_path": "/a"}, False),
        ("TaskCreate", {"description": "x"}, False),
        ("ToolSearch", {"query": "x"}, False),
    ],
)
def test_only_calls_that_say_what_they_do_are_worth_a_vector(
    tool: str, given_: dict[str, object], embed: bool
) -> None:
    assert render_call(tool, given_, NO_REDACTION).embed is embed


@given(
    st.dictionaries(
        st.sampled_from(["command", "path", "query", "old_string", "x", "patch"]) | st.text(),
        st.recursive(st.text() | st.integers() | st.none(), lambda s: st.lists(s, max_size=3)),
        max_size=6,
    )
)
def test_every_span_is_the_value_it_names(given_: dict[str, object]) -> None:
    call = render_call("T", given_, NO_REDACTION)
    for name, value in values(call):
        given_value = given_.get(name)
        if isinstance(given_value, str) and name != "path":
            assert given_value.replace("\x00", "\ufffd").startswith(value)


# --- outputs --------------------------------------------------------------------------------------


def test_a_short_output_is_kept_whole() -> None:
    text = "\n".join(f"line {i}" for i in range(25))
    assert condense(text) == (text, 0)


def test_a_long_output_keeps_its_ends_and_what_reports_something() -> None:
    lines = [f"compiling module {i}" for i in range(1_000)]
    lines[400] = "ERROR: undefined symbol frobnicate"
    lines[700] = "3 tests passed"
    text, cut = condense("\n".join(lines))
    kept = text.split("\n")
    assert kept[:12] == lines[:12]
    assert kept[-8:] == lines[-8:]
    assert kept[12:-8] == [
        "[... 388 lines cut ...]",
        "ERROR: undefined symbol frobnicate",
        "[... 299 lines cut ...]",
        "3 tests passed",
        "[... 291 lines cut ...]",
    ]
    assert (
        cut
        == len("\n".join(lines))
        - sum(len(lines[i]) + 1 for i in [*range(12), 400, 700, *range(992, 1000)])
        + 1
    )


def test_what_failed_comes_before_what_was_found() -> None:
    lines = [f"found item {i}" for i in range(300)] + ["fatal: disk full"] + ["ok"] * 200
    text, _ = condense("\n".join(["start"] * 50 + lines + ["end"] * 50))
    assert "fatal: disk full" in text


def test_long_lines_are_cut() -> None:
    text, cut = condense("x" * 100_000)
    assert text == "x" * policy.RESULT_LINE_CHARS + "…"
    assert cut == 100_000 - policy.RESULT_LINE_CHARS


def test_of_a_file_that_was_read_only_the_first_lines_are_kept() -> None:
    text = "\n".join(f"{i}→code with error handling" for i in range(300))
    kept, cut = condense(text, CONTENT)
    assert kept.count("\n") == 6
    assert kept.endswith("[... 294 lines cut ...]")
    assert cut > 8_000
    assert shape_of("Read", is_error=False) is CONTENT
    assert shape_of("Read", is_error=True) is REPORT


@given(
    st.lists(st.text(max_size=400) | st.sampled_from(["error: x", "y", "z" * 900]), max_size=120),
    st.sampled_from([REPORT, CONTENT]),
)
def test_no_output_is_longer_than_its_bound(lines: list[str], shape: object) -> None:
    text = "\n".join(lines)
    kept, cut = condense(text, shape)  # type: ignore[arg-type]
    assert len(kept) <= policy.RESULT_CHARS + 1_000
    assert 0 <= cut <= len(text)
    assert max(map(len, kept.split("\n"))) <= policy.RESULT_LINE_CHARS + 1
    if cut == 0:
        assert kept == text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Exit code 1\nx", "1"),
        ("Exit code: 127", "127"),
        ("Error: Exit code 2\n", "2"),
        ("The exit code 1", ""),
        ("Exit code 1 of 3", ""),
    ],
)
def test_an_exit_code_counts_only_where_it_begins_the_output(text: str, code: str) -> None:
    assert exit_code(text) == code


# --- texts ----------------------------------------------------------------------------------------


def test_no_cut_goes_through_a_redaction_label() -> None:
    label = "[REDACTED:password:0123456789ab]"
    text = "x" * 90 + label + "y" * 90
    for limit in range(80, 140):
        kept, cut = clip(text, limit)
        assert kept.count("[REDACTED:") == kept.count("ab]")
        assert len(kept) + cut == len(text)
        both, _ = abridge("a" * 300 + label + "b" * 300 + label + "c" * 300, limit * 4)
        assert both.count("[REDACTED:") == both.count("ab]")


@every(
    ("value", "expected"),
    [
        ("1970-01-01T00:00:01Z", 1_000),
        ("2026-11-17T14:03:00.123456Z", 1_794_924_180_123),
        ("2026-11-17T15:03:00+01:00", 1_794_924_180_000),
        ("2026-11-17T14:03:00", 1_794_924_180_000),
        (1_794_924_180, 1_794_924_180_000),
        (1_794_924_180_000, 1_794_924_180_000),
        (1.5, 1_500),
        ("1969-12-31T23:59:59Z", None),
        ("soon", None),
        ("", None),
        (-1, None),
        (float("nan"), None),
        (float("inf"), None),
        (True, None),
        (None, None),
        ({}, None),
    ],
)
def test_dates_of_every_form_are_read(value: object, expected: int | None) -> None:
    assert millis(value) == expected


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("a<t>b</t>c<t x='1'>d</t>e", "ace"),
        ("a<t>b", "a<t>b"),
        ("a<tt>b</tt>", "a<tt>b</tt>"),
        ("<t\n>b</t>", ""),
        ("<t" * 3, "<t" * 3),
    ],
)
def test_blocks_are_taken_out(text: str, rest: str) -> None:
    assert without(text, "t") == rest


def test_open_blocks_are_found_in_linear_time() -> None:
    text = "<t>" * 300_000
    assert without(text, "t") == text
    assert block(text, "t") == text[3:]
    assert without("<t " * 300_000, "t") == "<t " * 300_000


@pytest.mark.parametrize("above", [0, 60], ids=["it began above", "in the middle"])
def test_of_a_failed_test_of_go_the_line_is_kept_that_says_why(above: int) -> None:
    passed = [f"ok  \tshop/part{n}\t0.1s" for n in range(above)]
    notes = [f"    cart_test.go:{n}: Phase {n}" for n in range(30)]
    lines = [*passed, "--- FAIL: TestCart (0.35s)", *notes, "    cart_test.go:99: 2 is not 3"]
    text, _ = condense("\n".join([*lines, *["ok  \tshop/more\t0.1s"] * 60]))
    assert "    cart_test.go:99: 2 is not 3" in text.split("\n")


def test_an_assertion_is_kept_with_what_it_compared() -> None:
    failed = [
        "--- FAIL: TestCart (0.1s)",
        *["    cart_test.go:3: note"] * 20,
        "        \tError Trace:\t/s/cart_test.go:32",
        "        \tError:      \tNot equal: ",
        '        \t            \texpected: "ended"',
        '        \t            \tactual  : "active"',
    ]
    text, _ = condense("\n".join(["ok  \tshop\t0.1s"] * 40 + failed + ["FAIL"] * 40))
    assert text.count("ended") == text.count("active") == 1
