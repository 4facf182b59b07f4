"""Codex calls tools by scripts: each call is read as if it had been made by itself."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook.memory import Memory
from factbook.model.facts import EpisodeKind
from factbook.redaction import Redactor
from factbook.sources.session_log.printed import Result, of_shell, prints_of, results_in
from factbook.sources.session_log.scripts import mentioned, read_script
from factbook.testing import FrozenClock
from session_logs import CODEX, batches, codex, episodes, lines_of, of_kind, one_of, write

ID = "019f3a10-5c1e-7d42-9b30-6f2c81d4e7a5"
META = codex("session_meta", id=ID, cwd="/home/ann/shop", source="cli", git={})
DONE = "Script completed\nWall time 0.4 seconds\nOutput:\n"
FAILED = "Script failed\nWall time 0.1 seconds\nOutput:\n"
RUNS = "Script running with cell ID {}\nWall time 10.0 seconds\nOutput:\n"
PRINTS = " text(r.output);"
PATCH = "*** Begin Patch\n*** Update File: src/cart.py\n@@\n-a\n+b\n*** End Patch"


def item(kind: str, **payload: object) -> dict[str, object]:
    return codex("response_item", type=kind, **payload)


def script(text: str, call_id: str = "call_1") -> dict[str, object]:
    """Return a call that runs a script."""
    return item("custom_tool_call", name="exec", input=text, call_id=call_id, status="completed")


def printed(*parts: str, call_id: str = "call_1", header: str = DONE) -> dict[str, object]:
    """Return what a script printed."""
    texts = [{"type": "input_text", "text": text} for text in (header, *parts)]
    return item("custom_tool_call_output", call_id=call_id, output=texts)


def goes_on(cell: str, call_id: str = "call_1") -> dict[str, object]:
    """Return what is told of a script that goes on."""
    return item("custom_tool_call_output", call_id=call_id, output=RUNS.format(cell))


def waited(cell: str, *parts: str, call_id: str, header: str = DONE) -> list[dict[str, object]]:
    """Return a call that waits for a script, and what the script printed since."""
    arguments = json.dumps({"cell_id": cell, "yield_time_ms": 30000})
    texts = [{"type": "input_text", "text": text} for text in (header, *parts)]
    return [
        item("function_call", name="wait", arguments=arguments, call_id=call_id),
        item("function_call_output", call_id=call_id, output=texts),
    ]


def runs(command: str, prints: str = PRINTS) -> str:
    """Return a script that runs one command."""
    return f"const r = await tools.exec_command({{cmd:{json.dumps(command)}}});{prints}"


def together(*commands: str, prints: str) -> str:
    """Return a script that runs several commands at once."""
    calls = ",\n".join(f"tools.exec_command({{cmd:{json.dumps(one)}}})" for one in commands)
    return f"const results = await Promise.all([\n{calls}\n]);\n{prints}"


WHOLE = " text(JSON.stringify(r));"
SESSION = " text(r.output); if(r.session_id) text(`SESSION=${r.session_id}`)"
EACH = "for (const r of results) text(r.output);"
NUMBERED = "results.forEach((r,i)=>text(`---${i+1}---\\n${r.output}\\nexit=${r.exit_code}`))"
ENDED = " text(JSON.stringify({exit_code:r.exit_code,output:r.output}));"


def as_json(output: str, code: int | None = 0, session: int | None = None) -> str:
    """Return the result of a command as JSON.stringify writes it."""
    told: dict[str, object] = {"chunk_id": "a1b2c3", "wall_time_seconds": 0.5}
    told |= {"exit_code": code} if session is None else {"session_id": session}
    return json.dumps({**told, "output": output}, separators=(",", ":"))


# --- the reader of scripts ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('const r = await tools.exec_command({cmd:"ls"}); text(r.output)',
         [("exec_command", {"cmd": "ls"})]),
        ("tools.exec_command({'cmd': 'it\\'s', \"workdir\":`/a\nb`, n: -1.5e3, b: true, x: null,})",
         [("exec_command",
           {"cmd": "it's", "workdir": "/a\nb", "n": -1500.0, "b": True, "x": None})]),
        ('const patch = "a\\n" + \'b\';\ntext(await tools.apply_patch(patch));',
         [("apply_patch", "a\nb")]),
        ('// tools.no({})\n/* tools.no({}) */ const cmd = "x"\nawait tools.exec_command({cmd})',
         [("exec_command", {"cmd": "x"})]),
        ('await tools . mcp__files__read({path: ["a", ["b"]]}); text("tools.no({})")',
         [("mcp__files__read", {"path": ["a", ["b"]]})]),
        ("const m = /it's \\/ [/'] /.test('a'); await tools.list()",
         [("list", {})]),
        ('tools.x("\\u0041\\x42\\u{1F600}\\ud83d\\ude00\\q\\\nc")',
         [("x", "AB\U0001f600\U0001f600qc")]),
        ("text((await tools.a({})).output); const q = await tools.b({}); if (1) { text('x') }",
         [("a", {}), ("b", {})]),
    ],
)  # fmt: skip
def test_a_literal_call_is_read(text: str, calls: list[tuple[str, object]]) -> None:
    read = read_script(text)
    assert read is not None
    assert [(call.tool, call.given) for call in read.calls] == calls


@pytest.mark.parametrize(
    "text",
    [
        "text(ALL_TOOLS.length)",
        "tools.x({cmd: command})",
        "tools.x({cmd: `ls ${folder}`})",
        "let c = 'ls'; tools.x({cmd: c})",
        "const c = 'ls'.trim(); tools.x({cmd: c})",
        "const c = ok ? 'a' : 'b'; tools.x({cmd: c})",
        "tools.x({...given})",
        "for (const c of ['a']) { await tools.x({}) }",
        "while (true) await tools.x({})",
        "if (done) await tools.x({})",
        "const r = done ? {a: 1} : await tools.x({})",
        "done && await tools.x({})",
        "['a'].map(c => tools.x({}))",
        "const go = async () => { await tools.x({}) }",
        "const r = await tools.x({}); if (r.bad) { exit() } await tools.y({})",
        "tools.x({}).catch(e => 0)",
        "Promise.allSettled([tools.x({})])",
        "const r = await tools.x({}); Promise.all([r]).catch(e => 0)",
        "const p = tools.x({}); p.then(r => r, e => 0)",
        "const o = { go() { tools.x({}) } }",
        "const t = tools; t.x({})",
        "mine.tools.x({})",
        "tools['x']({})",
        "const r = await tools.x({}); text(`${(await tools.y({})).output}`)",
        "const c = 'a'; { const c = 'b' } await tools.x({cmd: c})",
        "const n = 4 / 2; await tools.x({})",
        "await tools.x({});" * 51,
        "tools.x({cmd: 'a'",
        "tools.x({cmd: 'a})",
        "tools.x({cmd: `a)",
        "tools.x({cmd: 'a' b})",
        "tools.x(1n)",
    ],
)
def test_what_is_computed_or_uncertain_is_not_read(text: str) -> None:
    assert read_script(text) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(JSON, st.booleans())
def test_what_stringify_writes_is_read_back(value: object, ascii_only: bool) -> None:
    text = f"await tools.x({json.dumps(value, ensure_ascii=ascii_only)});"
    read = read_script(text)
    assert read is not None
    assert json.dumps(read.calls[0].given) == json.dumps(value)


SOUP = st.lists(
    st.sampled_from(
        ["tools", ".", "x", "(", ")", "{", "}", "[", "]", "'", '"', "`", "${", "\\", "/", "//",
         "/*", "await ", "const ", "r", "=", "text", "Promise.all", "for ", "of ", ",", ":", ";",
         "+", "-", "1", "\n", "'a'", "JSON.stringify", "r.output", "=>", "\\u{110000}", "\ud800"]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@given(st.text() | SOUP, st.lists(st.text() | SOUP, max_size=3))
def test_no_text_makes_the_reader_raise(text: str, parts: list[str]) -> None:
    mentioned(text)
    read = read_script(text)
    if read is not None:
        results_in(prints_of(read), [True] * len(read.calls), parts)


@given(st.lists(st.text() | SOUP, min_size=1, max_size=3), st.text() | SOUP, st.booleans())
def test_no_script_loses_a_record(texts: list[str], part: str, plain: bool) -> None:
    read = runs("ls", f" text({texts[0]!r}); text(`{part}`)")
    records = [script(text, f"c{n}") for n, text in enumerate([read, *texts])]
    outputs = [
        item("custom_tool_call_output", call_id=f"c{n}", output=part)
        if plain else printed(part, part, call_id=f"c{n}")
        for n in range(len(records))
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "r.jsonl"
        log.write_bytes(lines_of(META, *records, *outputs))
        found = episodes(log, CODEX)
    calls = of_kind(found, EpisodeKind.TOOL_CALL)
    assert {one.call_id.partition("#")[0] for one in calls} == {
        f"c{n}" for n in range(len(records))
    }


@pytest.mark.parametrize(
    "text",
    [
        "tools.x('" + "a\\n" * 300_000 + "')",
        "a/[" * 300_000,
        "/*" * 500_000,
        "`${{" * 300_000,
        "tools.x(" + "[" * 1_000_000,
        "const a = 'b';" * 80_000,
        "const r = await tools.x({});" + "text(`${r.a}${r.b}${r.output}`);" * 2_000,
        together("x", prints="for (const r of results) text(`" + "-" * 1_000_000 + "${r.output}`)"),
        together("x", prints="const a = ''" + "+''" * 9_000 + "; text(results)"),
    ],
)
def test_a_long_script_is_read_in_time(text: str) -> None:
    began = time.perf_counter()
    read = read_script(text)
    if read is not None:
        results_in(prints_of(read), [True], ["x" * 1_000_000])
    assert time.perf_counter() - began < 5


# --- what a script printed ------------------------------------------------------------------------


SHELL = of_shell  # what is known of a result of the shell
DEEP = "[" * 300 + "]" * 300


@pytest.mark.parametrize(
    ("text", "parts", "results"),
    [
        (runs("x"), ["a"], [SHELL("a")]),
        (runs("x"), [as_json("a")], [SHELL(as_json("a"))]),  # the command itself wrote it
        (runs("x", WHOLE), [as_json("a", 3)], [SHELL("a", "3")]),
        (runs("x", WHOLE), [as_json("a", 3), "b"], [SHELL(as_json("a", 3) + "\nb")]),
        (runs("x", " text(r)"), [as_json("a", session=7)], [SHELL("a", "", "7")]),
        (runs("x", SESSION), ["a", "SESSION=7"], [SHELL("a", "", "7")]),
        (runs("x", SESSION), ["a"], [SHELL("a")]),
        (runs("x", ENDED), ['{"exit_code":1,"output":"b"}'], [SHELL("b", "1")]),
        ("text(await tools.exec_command({cmd:'x'}))", [as_json("a", 3)], [SHELL("a", "3")]),
        ("text((await tools.exec_command({cmd:'x'})).output)", [as_json("a")],
         [SHELL(as_json("a"))]),
        (runs("x", " for (const c of r.parts) text(c)"), ["a", "b"], [SHELL("a\nb")]),
        (runs("x", WHOLE), ["Warning: truncated output (original token count: 9)\n"
                            "Total output lines: 1\n\n" + as_json("a\n" * 9, 4)[:-6]],
         [SHELL("a\n" * 7 + "a", "4")]),
        (runs("x", WHOLE), ["torn"], [SHELL("torn")]),
        (together("x", "y", prints=EACH), ["a", "b"], [SHELL("a"), SHELL("b")]),
        (together("x", "y", prints="results.forEach(r => { text(r.output); })"), ["a", "b"],
         [SHELL("a"), SHELL("b")]),
        (together("x", "y", prints=EACH), ["a"], None),
        (together("x", "y", prints=NUMBERED), ["---1---\n\nexit=0", "---2---\nb\nexit=undefined"],
         [SHELL("", "0"), SHELL("b")]),
        (together("x", "y", prints=NUMBERED), ["---1---\nexit=0\nexit=undefined",
                                               "---2---\nexit=0\nexit=3"],
         [SHELL("exit=0"), SHELL("exit=0", "3")]),
        (together("x", "y", prints="text(JSON.stringify(results))"),
         [f"[{as_json('a')},{as_json('b', 1)}]"], [SHELL("a", "0"), SHELL("b", "1")]),
        (together("x", "y", prints="text(JSON.stringify(results))"), [f"[{as_json('a')}]"], None),
        (together("x", "y", prints="text(JSON.stringify(results))"), [f"[{DEEP},1]"], None),
        (together("x", "y", prints="for (const r of results) { text('-'); text(r.output) }"),
         ["-", "a", "-", "b"], None),
        (together("x", "y", prints="for (const r of results) if (r.output) text(r.output)"),
         ["a", "b"], None),
        ("const a = await tools.exec_command({cmd:'x'}); const b = await "
         "tools.exec_command({cmd:'y'}); text(b.output); text(a.output)",
         ["of y", "of x"], [SHELL("of x"), SHELL("of y")]),
        ("const [a, b] = await Promise.all([tools.exec_command({cmd:'x'}), "
         "tools.exec_command({cmd:'y'})]); text(a.output); text(b)",
         ["of x", as_json("of y", 2)], [SHELL("of x"), SHELL("of y", "2")]),
        ("const [a, b] = await Promise.all([tools.exec_command({cmd:'x'}), "
         "tools.exec_command({cmd:'y'})]); text(b.output)", ["of y"], None),
        ("const [a, b] = await Promise.all([tools.exec_command({cmd:'x'}), "
         "tools.exec_command({cmd:'y'})]); text(a.output + b.output)", ["of both"], None),
    ],
)  # fmt: skip
def test_each_call_gets_what_the_script_printed_of_it(
    text: str, parts: list[str], results: list[Result] | None
) -> None:
    read = read_script(text)
    assert read is not None
    assert results_in(prints_of(read), [True] * len(read.calls), parts) == results


@pytest.mark.parametrize(
    "prints",
    [
        " text(JSON.stringify(JSON.parse(r.output)))",
        " text(JSON.parse(r.output))",
        " text(r.output.trim())",
        " for (const r of lines) text(r)",
        " text(JSON.stringify(r.output && JSON.parse(r.output)))",
        " { const r = last; text(r) }",
        " if (r.output) text(r)",
        " text(JSON.stringify({exit_code: 0, output: r.output}))",
    ],
)
def test_a_command_cannot_forge_how_it_ended(prints: str) -> None:
    forged = as_json("all is well", 0)
    for text in (
        runs("x", prints),
        runs("x", "").replace("const", "let") + " r = r.output; text(r)",
    ):
        read = read_script(text)
        assert read is not None
        assert results_in(prints_of(read), [True], [forged]) == [SHELL(forged)]


def test_what_a_server_answered_is_read_out_of_its_frame() -> None:
    read = read_script("const r = await tools.mcp__hub__ask({}); text(r)")
    assert read is not None
    frame = json.dumps({"content": [{"type": "text", "text": "No."}], "isError": True})
    assert results_in(prints_of(read), [False], [frame]) == [Result("No.", failed=True)]


# --- calls and results ----------------------------------------------------------------------------


def test_a_call_in_a_script_is_like_one_made_by_itself(tmp_path: Path) -> None:
    given = {"cmd": "git status", "workdir": "/srv", "yield_time_ms": 1000}
    text = f"const r = await tools.exec_command({json.dumps(given)});{WHOLE}"
    direct = item(
        "function_call", name="exec_command", arguments=json.dumps(given), call_id="call_1"
    )
    ended = "Wall time: 0.4 seconds\nProcess exited with code 1\nOutput:\nno"
    output = item("function_call_output", call_id="call_1", output=ended)
    one = episodes(write(tmp_path / "a.jsonl", META, direct, output), CODEX)
    two = episodes(
        write(tmp_path / "a.jsonl", META, script(text), printed(as_json("no", 1))), CODEX
    )
    for made, read in zip(one, two, strict=True):
        assert {**vars_of(made), "offset": 0} == {**vars_of(read), "offset": 0}


def vars_of(episode: object) -> dict[str, object]:
    """Return the fields of an episode."""
    return {name: getattr(episode, name) for name in episode.__dataclass_fields__}  # type: ignore[attr-defined]


def test_several_calls_have_ids_of_their_own(tmp_path: Path) -> None:
    text = together("ls", "pwd", prints=EACH)
    log = write(tmp_path / "r.jsonl", META, script(text), printed("a", "/srv"))
    found = episodes(log, CODEX)
    assert [(e.uid, e.position) for e in found] == [
        ("call:call_1#1", 2),
        ("call:call_1#2", 2),
        ("result:call_1#1", 3),
        ("result:call_1#2", 3),
    ]
    assert [e.text for e in found[2:]] == ["a", "/srv"]
    own = codex("session_meta", id="fork-1", forked_from_id=ID, cwd="/home/ann/shop", git={})
    fork = write(tmp_path / "f.jsonl", own, META, script(text), printed("a", "/srv"))
    assert [e.uid for e in episodes(fork, CODEX)] == [e.uid for e in found]


def test_a_script_that_cannot_be_read_stays_as_it_is(tmp_path: Path) -> None:
    text = "for (const c of ['ls']) text((await tools.exec_command({cmd: c})).output)"
    log = write(tmp_path / "r.jsonl", META, script(text), printed("a.txt"))
    call, result = episodes(log, CODEX)
    assert (call.tool, call.value("input"), call.value("command")) == ("exec", text, None)
    assert (result.tool, result.text, result.attributes) == ("exec", "a.txt", {})


def test_reading_goes_on_wherever_it_stopped(tmp_path: Path) -> None:
    records = [
        META,
        script(together("make", "pwd", prints=NUMBERED)),
        goes_on("4"),
        *waited("4", call_id="call_2", header=RUNS.format("4")),
        script(runs("ls", SESSION), "call_3"),
        *waited("4", "---1---\na\nexit=2", "---2---\n/srv\nexit=0", call_id="call_4"),
        printed("b", "SESSION=5", call_id="call_3"),
    ]
    whole = episodes(write(tmp_path / "r.jsonl", *records), CODEX)
    assert [one.attributes.get("exit_code") for one in whole if one.kind == "tool_result"] == [
        None, None, None, "2", "0", None,
    ]  # fmt: skip
    log, cursor = tmp_path / "r.jsonl", None
    log.write_bytes(b"")
    pieces = []
    for record in records:
        with log.open("ab") as grown:
            grown.write(lines_of(record))
        for batch in batches(log, CODEX, cursor=cursor):
            pieces += batch.episodes
            cursor = batch.cursor
    assert pieces == whole


def test_a_secret_in_a_script_is_redacted(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    prints = f" text(`TOKEN={secret} ${{r.output}}`)"
    log = write(
        tmp_path / "r.jsonl",
        META,
        script(runs(f"curl -H 'Authorization: Bearer {secret}' https://api.shop.io", prints)),
        script(f"for (;;) tools.exec_command({{cmd: a + '{secret}'}})", "call_2"),
    )
    (batch,) = batches(log, CODEX, redactor=Redactor(key=b"k" * 32))
    assert secret not in json.dumps(batch.cursor.state)
    assert len(batch.episodes) == 2
    assert all(secret not in one.text for one in batch.episodes)


# --- facts ----------------------------------------------------------------------------------------


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    clock = FrozenClock(1_795_000_000_000)
    with Memory(tmp_path / "m.db", clock=clock, key_file=tmp_path / "key") as opened:
        yield opened
        assert opened.check() == []


def told(memory: Memory, tmp_path: Path, *records: dict[str, object]) -> dict[str, list[str]]:
    """Read a log, and return the statements by predicate."""
    memory.ingest([write(tmp_path / "r.jsonl", META, *records)])
    found: dict[str, list[str]] = {}
    for fact in memory.query_facts():
        found.setdefault(fact.predicate, []).append(fact.statement)
    return {predicate: sorted(statements) for predicate, statements in found.items()}


def test_where_the_exit_code_is_told_all_is_as_for_a_call(memory: Memory, tmp_path: Path) -> None:
    found = told(
        memory, tmp_path,
        script(runs("cargo test", WHOLE), "c1"),
        printed(as_json("error[E0308]: mismatched types\n", 101), call_id="c1"),
        script(f"const p = {json.dumps(PATCH)};\ntext(await tools.apply_patch(p));", "c2"),
        printed("{}", call_id="c2"),
        script(runs("cargo test", WHOLE), "c3"),
        printed(as_json("test result: ok. 3 passed; 0 failed; 0 ignored"), call_id="c3"),
    )  # fmt: skip
    assert found["ran"] == [
        "ran `cargo test`: 3 passed; 0 failed",
        "ran `cargo test`: exit code 101: error[E0308]: mismatched types",
    ]
    assert found["failed_with"] == ["`cargo test` failed: error[E0308]: mismatched types"]
    assert found["exited_with"] == ["`cargo test` exited with code 101"]
    assert found["modified_file"] == ["changed file src/cart.py"]
    assert found["fixed_by"] == [
        "fixed: error[E0308]: mismatched types \u2014 by editing src/cart.py; `cargo test` passes"
    ]


@pytest.mark.parametrize(
    ("command", "output", "ran", "more"),
    [
        ("make", "cc a.c", "outcome unknown", {}),
        ("make", "error: no rule\n", "error: no rule; outcome unknown", {}),
        ("cat log", "error: no rule\n", "outcome unknown", {}),
        ("make diff", "+ error (\n+#[derive(Debug, thiserror::Error)]", "outcome unknown", {}),
        ("pytest -q", "2 passed in 0.1s", "2 passed",
         {"verified": ["`pytest -q` passed: 2 passed"]}),
        ("pytest -q", "1 failed, 2 passed in 0.1s", "1 failed, 2 passed",
         {"verified": ["`pytest -q` failed: 1 failed, 2 passed"]}),
        ("pytest -q", "collecting ...", "outcome unknown", {}),
        ("pytest -q && ruff check", "2 passed in 0.1s\nerror: unused import", "2 passed", {}),
        ("ruff format --check a && pytest -q", "2 passed in 0.1s", "2 passed",
         {"verified": ["`pytest -q` passed: 2 passed"]}),
        ("git commit -m 'Fix it'", "[main 1a2b3c4] Fix it\n 1 file changed", "outcome unknown",
         {"committed": ["committed 1a2b3c4: Fix it"]}),
        ("git commit -qm 'Fix it'", "", "outcome unknown", {}),
        ("npm install left-pad", "added 1 package", "outcome unknown",
         {"installed_package": ["installed package left-pad with npm"]}),
        ("npm install left-pad", "npm error code E404", "npm error code E404; outcome unknown", {}),
        ("ssh tower uptime", "up 3 days", "outcome unknown",
         {"connects_to_host": ["connected to host tower by ssh"]}),
        ("ssh tower uptime", "ssh: connect to host tower port 22: Connection refused",
         "outcome unknown", {}),
        ("tar xf a.tar", "", "outcome unknown", {}),
        ("curl -s https://api.shop.io/x", "{}", "outcome unknown", {}),
    ],
)  # fmt: skip
def test_where_it_is_not_told_nothing_is_claimed_but_what_is_shown(
    memory: Memory, tmp_path: Path, command: str, output: str, ran: str,
    more: dict[str, list[str]],
) -> None:  # fmt: skip
    found = told(memory, tmp_path, script(runs(command)), printed(output))
    assert found["ran"] == [f"ran `{command}`: {ran}"]
    claimed = {"verified", "committed", "installed_package", "connects_to_host", "failed_with",
               "exited_with", "fixed_by", "modified_file"}  # fmt: skip
    assert {name: said for name, said in found.items() if name in claimed} == more


def test_a_fix_stands_on_what_the_runner_said(memory: Memory, tmp_path: Path) -> None:
    found = told(
        memory, tmp_path,
        script(runs("pytest -q"), "c1"),
        printed("E   KeyError: 'cart'\n1 failed in 0.1s", call_id="c1"),
        script(runs("make cart"), "c2"), printed("made", call_id="c2"),
        script(runs("make basket"), "c3"), printed("error: no basket", call_id="c3"),
        script(runs("pytest -q"), "c4"), printed("1 passed in 0.1s", call_id="c4"),
    )  # fmt: skip
    assert found["fixed_by"] == [
        "fixed: E KeyError: 'cart' \u2014 by running `make cart`; `pytest -q` passes"
    ]


def test_what_goes_on_ends_at_the_call_that_waits_for_it(memory: Memory, tmp_path: Path) -> None:
    waits = 'const r = await tools.write_stdin({session_id:5,chars:""}); text(JSON.stringify(r))'
    found = told(
        memory, tmp_path,
        script(runs("go test ./...", WHOLE), "c1"), goes_on("5", "c1"),
        script(runs("make all", WHOLE), "c2"), printed(as_json("cc", session=5), call_id="c2"),
        *waited("5", call_id="c3", header=RUNS.format("5")),
        *waited("5", as_json("panic: no cart", 1), call_id="c4"),
        script(waits, "c5"), goes_on("6", "c5"),
        *waited("6", as_json("built", 0), call_id="c6"),
        script(runs("npm run dev"), "c7"), goes_on("7", "c7"),
    )  # fmt: skip
    assert found["ran"] == [
        "ran `go test ./...`: exit code 1: panic: no cart",
        "ran `make all`: ok",
        "ran `npm run dev`: it went on in the background",
    ]
    assert found["verified"] == ["`go test ./...` failed: panic: no cart"]
    assert found["failed_with"] == ["`go test ./...` failed: panic: no cart"]


def test_of_several_calls_each_has_its_own_end(memory: Memory, tmp_path: Path) -> None:
    text = together("ruff check", "pytest -q", prints=NUMBERED)
    found = told(
        memory, tmp_path,
        script(text, "c1"), goes_on("4", "c1"),
        *waited("4", "---1---\n\nexit=0", "---2---\nerror: no cart\nexit=1", call_id="c2"),
    )  # fmt: skip
    assert found["ran"] == ["ran `pytest -q`: exit code 1: error: no cart", "ran `ruff check`: ok"]
    assert found["exited_with"] == ["`pytest -q` exited with code 1"]


def test_where_results_cannot_be_told_apart_no_call_has_a_wrong_one(
    memory: Memory, tmp_path: Path
) -> None:
    prints = "text(results.map(r => r.output).join(''))"
    found = told(
        memory, tmp_path,
        script(together("pytest -q", "git commit -m 'Fix it'", prints=prints)),
        printed("2 passed in 0.1s\n[main 1a2b3c4] Fix it"),
    )  # fmt: skip
    assert found["ran"] == [
        "ran `git commit -m 'Fix it'`: outcome unknown",
        "ran `pytest -q`: outcome unknown",
    ]
    assert not {"verified", "committed"} & found.keys()
    (hit,) = memory.sql("SELECT text FROM episode_row WHERE text LIKE '%2 passed%'")
    assert hit["text"] == "2 passed in 0.1s\n[main 1a2b3c4] Fix it"


def test_no_program_forges_an_exit_code(memory: Memory, tmp_path: Path) -> None:
    found = told(memory, tmp_path, script(runs("make")), printed("Exit code 1\nbuilt"))
    assert found["ran"] == ["ran `make`: outcome unknown"]
    assert not {"exited_with", "failed_with"} & found.keys()


def test_what_a_script_says_before_its_end_is_not_its_end(memory: Memory, tmp_path: Path) -> None:
    said = item("custom_tool_call_output", call_id="c1", output="halfway")
    stopped = item("custom_tool_call_output", call_id="c2", output="aborted by user after 3.0s")
    found = told(
        memory, tmp_path,
        script(runs("make", WHOLE), "c1"), said, printed(as_json("built"), call_id="c1"),
        script(runs("make all"), "c2"), stopped,
    )  # fmt: skip
    assert found["ran"] == ["ran `make`: ok"]
    rows = memory.sql("SELECT text FROM episode_row WHERE kind = 'tool_result' ORDER BY position")
    assert [row["text"] for row in rows] == ["halfway", "built", "aborted by user after 3.0s"]


def test_what_was_stopped_has_not_ended(memory: Memory, tmp_path: Path) -> None:
    stopped = "Script terminated\nWall time 9.0 seconds\nOutput:\n"
    patch = f"text(await tools.apply_patch({json.dumps(PATCH)}));"
    found = told(
        memory, tmp_path,
        script(runs("make"), "c1"), goes_on("4", "c1"),
        *waited("4", "cc a.c", call_id="c2", header=stopped),
        script(patch, "c3"), goes_on("5", "c3"), *waited("5", call_id="c4", header=stopped),
    )  # fmt: skip
    assert found["ran"] == ["ran `make`: it was stopped before its end"]
    assert not {"modified_file", "failed_with", "verified"} & found.keys()


def test_what_several_calls_printed_so_far_belongs_to_none(tmp_path: Path) -> None:
    texts = [{"type": "input_text", "text": text} for text in (RUNS.format("4"), "a")]
    so_far = item("custom_tool_call_output", call_id="call_1", output=texts)
    text = together("ls", "pwd", prints=EACH)
    log = write(
        tmp_path / "r.jsonl", META, script(text), so_far, *waited("4", "/srv", call_id="call_2")
    )
    found = of_kind(episodes(log, CODEX), EpisodeKind.TOOL_RESULT)
    holds = {one.text: (one.uid, one.tool) for one in found if one.text in {"a", "/srv"}}
    assert holds == {"a": ("result:call_1", "exec"), "/srv": ("result:call_2", "wait")}


def test_a_script_without_an_id_is_kept(tmp_path: Path) -> None:
    log = write(
        tmp_path / "r.jsonl", META, script("await tools.x({})", ""), printed("a", call_id=""),
        script("await tools.y({})", ""), printed("b", call_id=""),
    )  # fmt: skip
    found = episodes(log, CODEX)
    assert len({one.uid for one in found}) == len(found) == 4


def test_a_script_that_failed_failed_by_its_tool(memory: Memory, tmp_path: Path) -> None:
    patch = f"text(await tools.apply_patch({json.dumps(PATCH)}));"
    error = "Script error:\napply_patch verification failed: Failed to find expected lines"
    found = told(
        memory, tmp_path,
        script(patch, "c1"), printed(error, call_id="c1", header=FAILED),
        script(runs("make"), "c2"),
        printed("Script error:\nSyntaxError: Unexpected token ')'", call_id="c2", header=FAILED),
        script(runs("make all"), "c3"),
        printed("Script error:\nTypeError: x is undefined", call_id="c3", header=FAILED),
        script(runs("make json", " JSON.parse(r.output)"), "c5"),
        printed("Script error:\nSyntaxError: 'a' is not JSON", call_id="c5", header=FAILED),
        script(runs("cat log"), "c6"), printed("Script error:\nnone", call_id="c6"),
        script(together("make a", "make b", prints=EACH), "c4"),
        printed("Script error:\nexec_command failed: no shell", call_id="c4", header=FAILED),
    )  # fmt: skip
    assert found["failed_with"] == [
        "apply_patch of src/cart.py failed: apply_patch verification failed: Failed to find "
        "expected lines",
        "exec failed: exec_command failed: no shell",
    ]
    assert "modified_file" not in found
    assert found["ran"] == [
        "ran `cat log`: outcome unknown",
        "ran `make all`: outcome unknown",
        "ran `make json`: outcome unknown",
    ]
    rows = memory.sql("SELECT text FROM episode_row WHERE text LIKE '%none'")
    assert [row["text"] for row in rows] == ["Script error:\nnone"]


def test_what_factbook_is_asked_in_a_script_is_an_echo(memory: Memory, tmp_path: Path) -> None:
    asks = "const r = await tools.mcp__factbook__recall({query:'shops'}); text(r)"
    loops = "for (const q of ['a']) text(await tools.mcp__factbook__recall({query:q}))"
    shell = "const c = 'factbook recall ' + q; text((await tools.exec_command({cmd:c})).output)"
    answer = "The shop in Ghent failed with error: no stock"
    found = told(
        memory, tmp_path,
        script(asks, "c1"), printed(answer, call_id="c1"),
        script(runs("factbook recall shops"), "c2"), goes_on("3", "c2"),
        *waited("3", answer, call_id="c3"),
        script(loops, "c4"), printed(answer, call_id="c4"),
        script(shell, "c5"), goes_on("5", "c5"), *waited("5", answer, call_id="c6"),
        script(together("factbook recall x", "ls", prints="text(results.join(''))"), "c7"),
        printed(answer, call_id="c7"),
        script("const r = await tools.mcp__notes__remember({}); text(r)", "c8"),
        goes_on("8", "c8"),
        *waited("8", "<factbook-memory ids=\"1\">x</factbook-memory>", call_id="c9"),
        script(runs("factbook recall y"), "d1"), goes_on("9", "d1"),
        *waited("9", answer, call_id="d2", header=RUNS.format("9")),
        *waited("9", call_id="d3"),
        script("const [a, b] = await Promise.all([tools.mcp__notes__remember({}), "
               "tools.exec_command({cmd:'pwd'})]); text(a + b.output)", "d4"),
        printed(f'<factbook-memory ids="1">x</factbook-memory>\n{answer}', call_id="d4"),
    )  # fmt: skip
    rows = memory.sql(
        "SELECT injected, call_id, kind, text FROM episode_row WHERE kind LIKE 'tool%'"
    )
    seen = {(r["call_id"], r["kind"]) for r in rows if not r["injected"]}
    calls = {"c3", "c6", "c9", "c7#2", "d2", "d3", "d4#2"}
    assert seen == {(id_, "tool_call") for id_ in calls} | {
        ("c7#2", "tool_result"),
        ("d4#2", "tool_result"),
    }
    assert not any(answer in r["text"] for r in rows if not r["injected"])
    assert found["ran"] == ["ran `ls`: outcome unknown", "ran `pwd`: outcome unknown"]


def test_a_log_of_scripts_reads_the_same_twice(memory: Memory, tmp_path: Path) -> None:
    records = (script(runs("make", WHOLE)), printed(as_json("built")))
    first = told(memory, tmp_path, *records)
    again = tmp_path / "again.jsonl"
    memory.ingest([write(again, META, *records)])
    assert len(memory.query_facts()) == sum(map(len, first.values()))


def test_the_call_is_found_by_its_command(memory: Memory, tmp_path: Path) -> None:
    told(memory, tmp_path, script(runs("make", WHOLE)), printed(as_json("built")))
    call = one_of(episodes(tmp_path / "r.jsonl", CODEX), EpisodeKind.TOOL_CALL)
    assert (call.tool, call.value("command"), call.subject) == (
        "exec_command", "make", "action_call_1",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("output", "failed", "passed"),
    [
        ("collecting ...", 0, 0),
        ("error: no tests here", 0, 0),
        ("2 passed in 0.1s", 0, 1),
        ("1 failed in 0.1s", 1, 0),
    ],
)
def test_a_run_counts_as_passed_only_where_that_is_known(
    memory: Memory, tmp_path: Path, output: str, failed: int, passed: int
) -> None:
    told(memory, tmp_path, script(runs("pytest -q")), printed(output))
    count = memory.sources.count
    assert count("how often did the tests fail").total == failed
    assert count("how often did the tests pass").total == passed
