"""Bad input at the command line: one clear sentence, an exit code, and nothing lost.

Every case runs the command as a process on real files. Afterwards the database passes its own
audit and still holds what it held before.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from conftest import SESSION, Cli, Done, call, record, sample_lines
from factbook.memory import Memory

FUTURE = "2099-01-01T00:00:00.000Z"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that holds the sample session, made by the command line."""
    folder = tmp_path_factory.mktemp("template")
    (folder / "home").mkdir()
    log = folder / f"{SESSION}.jsonl"
    log.write_text("\n".join(sample_lines()), encoding="utf-8")
    Cli(home=folder / "home")("ingest", log, "--no-embed", "--db", folder / "memory.db")
    assert facts_of(folder / "memory.db")
    return folder / "memory.db"


@pytest.fixture
def db(template: Path, tmp_path: Path) -> Iterator[Path]:
    """A database of one's own; at the end it must still hold what it held before."""
    path = tmp_path / "memory.db"
    shutil.copy(template, path)
    kept = facts_of(path)
    yield path
    assert facts_of(path) >= kept


@pytest.fixture
def its_log(cli: Cli, db: Path, sample_log: Path) -> Path:
    """A log that the database has read."""
    cli("ingest", sample_log, "--no-embed", "--db", db)
    return sample_log


def facts_of(path: Path) -> set[tuple[str, str, str]]:
    """Return the facts of a database that passes its audit."""
    with Memory(path, mode="write") as memory:
        assert memory.check() == []
        return {(one.subject, one.predicate, one.object) for one in memory.query_facts()}


def one_sentence(done: Done, *parts: str) -> None:
    """Hold an error to its form: one line, with what and where in it."""
    lines = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, done.err
    assert all(part in lines[0] for part in parts), lines[0]


def without_root_rights() -> None:
    """Let file modes bind root too, in a child that is about to run another program."""
    if os.geteuid() == 0:
        library = ctypes.CDLL(None)
        for right in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            library.prctl(24, right, 0, 0, 0)  # PR_CAPBSET_DROP


needs_modes = pytest.mark.skipif(
    os.name != "posix" or (os.geteuid() == 0 and sys.platform != "linux"),
    reason="file modes do not bind this user",
)


# --- what is given to read ------------------------------------------------------------------------


def test_missing_path(cli: Cli, tmp_path: Path) -> None:
    done = cli("ingest", tmp_path / "nowhere", code=3)
    one_sentence(done, "nowhere", "does not exist", "give a log file or a folder")
    assert not (cli.home / "data").exists()  # a mistyped path leaves no database behind


def test_missing_path_as_json(cli: Cli, tmp_path: Path) -> None:
    done = cli("ingest", tmp_path / "nowhere", "--json", code=3)
    assert done.json()["error"]["kind"] == "PathMissing"
    assert done.json()["error"]["message"] in done.err


@needs_modes
def test_unreadable_file(cli: Cli, sample_log: Path) -> None:
    sample_log.chmod(0)
    done = cli("ingest", sample_log, code=3, before=without_root_rights)
    one_sentence(done, str(sample_log), "cannot be read", "permissions")


@needs_modes
def test_an_unreadable_file_among_others_is_named_and_the_others_are_read(
    cli: Cli, sample_log: Path
) -> None:
    other = sample_log.with_name("5a3e1c00-0000-4000-8000-000000000002.jsonl")
    other.write_text(call("b1", "Bash", command="ls /b") + "\n")
    other.chmod(0)
    done = cli("ingest", sample_log.parent, "--no-embed", code=3, before=without_root_rights)
    assert f"warning: {other} cannot be read (Permission denied)" in done.err
    assert "cannot be read" in done.out
    assert "connects_to_host" in done.out


def test_folder_without_logs(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.json").write_text('{"my": "notes"}')
    one_sentence(cli("ingest", tmp_path / "empty", code=3), "No agent session logs", "empty")


def test_no_agent_has_been_here(cli: Cli) -> None:
    one_sentence(cli("ingest", code=3), "No agent session logs", ".claude/projects")


@pytest.mark.parametrize(
    "data",
    [os.urandom(4096), b"\x7fELF" + bytes(2000), b"\x00" * 500, b"%PDF-1.7\n\xff\xfe\xfd" * 9],
    ids=["random", "elf", "nul", "pdf"],
)
def test_binary_file(cli: Cli, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "what.jsonl"
    path.write_bytes(data)
    one_sentence(cli("ingest", path, code=3), "what.jsonl")


def test_empty_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    one_sentence(cli("ingest", tmp_path / "a.jsonl", code=3), "a.jsonl")


def test_a_pipe_does_not_hang(cli: Cli, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    one_sentence(cli("ingest", tmp_path / "a.jsonl", code=3), "a.jsonl")


def test_unsupported_host(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "copilot.jsonl"
    path.write_text(
        json.dumps({"type": "session.start", "data": {"copilotVersion": "1.0.64"}}) + "\n"
    )
    one_sentence(cli("ingest", path, code=3), "Copilot", "not supported yet")


# --- what stands in it ----------------------------------------------------------------------------

Lines = list[str | bytes]


def ingest_lines(cli: Cli, db: Path, folder: Path, lines: Lines) -> dict[str, object]:
    """Ingest a log of these lines beside what is there and return the receipt."""
    path = folder / "5a3e1c00-0000-4000-8000-00000000000f.jsonl"
    data = [
        one if isinstance(one, bytes) else one.encode("utf-8", "surrogatepass") for one in lines
    ]
    path.write_bytes(b"\n".join(data) + b"\n")
    found = cli("ingest", path, "--no-embed", "--json", "--db", db).json()
    counted = found["lines"]
    parts = [sum(counted[name].values()) for name in ("kept", "ignored", "unknown", "rejected")]
    assert sum(parts) + counted["waiting"] == counted["records"]
    return found  # type: ignore[no-any-return]


BEFORE = call("b1", "Bash", command="ssh root@before.example ls")
AFTER = call("b2", "Bash", command="ssh root@after.example ls")


@pytest.mark.parametrize(
    ("bad", "outcome"),
    [
        pytest.param(b'{"type": "user", "mess\xff\xfe', {"not_json": 1}, id="invalid-utf8"),
        pytest.param(b"\x00\x00\x00\x00", {}, id="nul-bytes"),
        pytest.param("[" * 100_000 + "]" * 100_000, {}, id="100000-deep"),
        pytest.param('{"a":' * 100_000 + "1" + "}" * 100_000, {}, id="100000-deep-objects"),
        pytest.param('{"type": "user"', {"not_json": 1}, id="cut-short"),
        pytest.param("[1, 2]", {"not_an_object": 1}, id="no-object"),
        pytest.param("hello", {"not_json": 1}, id="text"),
        pytest.param('{"type": "user", "uuid": 7, "message": 3}', {}, id="wrong-types"),
    ],
)
def test_a_bad_line_is_refused_and_the_rest_is_read(
    cli: Cli, db: Path, tmp_path: Path, bad: str | bytes, outcome: dict[str, int]
) -> None:
    found = ingest_lines(cli, db, tmp_path, [BEFORE, bad, AFTER])
    rejected = found["lines"]["rejected"]  # type: ignore[index]
    assert outcome.items() <= rejected.items()
    held = {one[2] for one in facts_of(db)}
    assert {"before.example", "after.example"} <= held


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(
            '{"type": "user", "uuid": "n1", "sessionId": "s", "n": NaN, "i": -Infinity,'
            ' "message": {"role": "user", "content": "not a number"}}',
            id="nan",
        ),
        pytest.param(
            '{"type": "user", "type": "user", "uuid": "d1", "uuid": "d2", "sessionId": "s",'
            ' "message": {"role": "user", "content": "one", "content": "two"}}',
            id="duplicate-keys",
        ),
        pytest.param(
            '{"type": "user", "uuid": "h1", "sessionId": "s", "huge": ' + "9" * 5000 + ","
            ' "message": {"role": "user", "content": "a big number"}}',
            id="huge-integer",
        ),
        pytest.param(
            record("user", "s1", "a lone surrogate").replace("lone", "\\ud800 lone"),
            id="lone-surrogate-escape",
        ),
        pytest.param(record("user", "s2", "raw").replace("raw", "raw \ud800"), id="lone-surrogate"),
        pytest.param(record("user", "z1", "a nul \x00 in it"), id="nul-in-text"),
        pytest.param(
            record("user", "v1", "what").encode().replace(b"what", b"what \xff\xfe"),
            id="invalid-utf8-in-text",
        ),
        pytest.param(record("user", "f1", "from the future", at=FUTURE), id="future"),
        pytest.param(record("user", "p1", "no time", at="yesterday-ish"), id="no-time"),
        pytest.param(record("user", "p2", "before time", at="0000-00-00T99:00:00Z"), id="bad-time"),
    ],
)
def test_an_odd_line_does_no_harm(cli: Cli, db: Path, tmp_path: Path, odd: str | bytes) -> None:
    ingest_lines(cli, db, tmp_path, [BEFORE, odd, AFTER])
    held = {one[2] for one in facts_of(db)}
    assert {"before.example", "after.example"} <= held
    for command in (("facts", "--limit", "0"), ("timeline",), ("sessions",), ("export",)):
        cli(*command, "--db", db)
        cli(*command, "--json", "--db", db).json()
    newest = cli("timeline", "--json", "--db", db).json()["entries"][-1]
    assert (newest["occurred_at"] or "") < "2027"  # a date that cannot be is no date


def test_a_line_of_50_megabytes(cli: Cli, db: Path, tmp_path: Path) -> None:
    big = record("user", "big1", "x " * 25_000_000)
    found = ingest_lines(cli, db, tmp_path, [BEFORE, big, AFTER])
    assert found["read_bytes"] > 50_000_000  # type: ignore[operator]
    assert {"before.example", "after.example"} <= {one[2] for one in facts_of(db)}
    assert db.stat().st_size < 5_000_000  # the log itself stays the source


def test_a_line_that_is_too_long_is_refused_in_bounded_memory(
    cli: Cli, db: Path, tmp_path: Path
) -> None:
    path = tmp_path / "5a3e1c00-0000-4000-8000-00000000000e.jsonl"
    with path.open("wb") as file:
        file.write(BEFORE.encode() + b"\n")
        file.seek(300 * 1024 * 1024, os.SEEK_CUR)  # a hole: one line of 300 MB of NUL
        file.write(b"\n" + AFTER.encode() + b"\n")

    def limit_memory() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (600_000_000, 600_000_000))

    found = cli("ingest", path, "--no-embed", "--json", "--db", db, before=limit_memory).json()
    assert found["lines"]["rejected"] == {"too_long": 1}
    assert {"before.example", "after.example"} <= {one[2] for one in facts_of(db)}


# --- files that change ----------------------------------------------------------------------------


def test_a_truncated_file_is_read_anew_and_nothing_is_lost(
    cli: Cli, db: Path, its_log: Path
) -> None:
    its_log.write_text("\n".join(sample_lines()[:3]) + "\n")
    found = cli("ingest", its_log, "--no-embed", "--json", "--db", db).json()
    assert [one["state"] for one in found["files"]] == ["replaced"]
    assert found["receipt"]["stored"] == 0


def test_a_replaced_file_is_read_anew(cli: Cli, db: Path, its_log: Path) -> None:
    other = its_log.with_suffix(".new")
    other.write_text(AFTER + "\n")
    other.replace(its_log)
    found = cli("ingest", its_log, "--no-embed", "--json", "--db", db).json()
    assert [one["state"] for one in found["files"]] == ["replaced"]
    assert "after.example" in {one[2] for one in facts_of(db)}


def test_a_half_written_line_waits_for_the_next_run(cli: Cli, db: Path, its_log: Path) -> None:
    half = len(AFTER) // 2
    with its_log.open("a") as file:
        file.write(AFTER[:half])
    found = cli("ingest", its_log, "--no-embed", "--json", "--db", db).json()
    assert found["lines"]["waiting"] == 1
    assert found["lines"]["rejected"] == {}
    with its_log.open("a") as file:
        file.write(AFTER[half:] + "\n")
    found = cli("ingest", its_log, "--no-embed", "--json", "--db", db).json()
    assert found["lines"]["rejected"] == {}
    assert "after.example" in {one[2] for one in facts_of(db)}


# --- the database ---------------------------------------------------------------------------------


def more_log(tmp_path: Path, *, records: int = 1) -> Path:
    """Write a log that the database does not know yet."""
    path = tmp_path / "5a3e1c00-0000-4000-8000-00000000000d.jsonl"
    path.write_text(
        "".join(call(f"m{n}", "Bash", command=f"ls /srv/{n:0200d}") + "\n" for n in range(records))
    )
    return path


READING = (
    "recall x",
    "facts",
    "explain 1",
    "sessions",
    "timeline",
    "stats",
    "export",
    "rejections",
)


@pytest.mark.parametrize("command", [*READING, "embed", "predicates --noise"])
def test_there_is_no_database(cli: Cli, tmp_path: Path, command: str) -> None:
    db = tmp_path / "none.db"
    done = cli(*command.split(), "--db", db, "--json", code=4)
    one_sentence(done, "none.db", f"factbook --db {db} ingest")
    assert done.json()["error"]["kind"] == "StoreMissing"
    assert not db.exists()


@needs_modes
def test_read_only_database(cli: Cli, db: Path, tmp_path: Path) -> None:
    db.chmod(0o444)
    before = db.read_bytes()
    done = cli(
        "ingest", more_log(tmp_path), "--no-embed", "--db", db, code=4, before=without_root_rights
    )
    one_sentence(done, "memory.db", "cannot be written")
    cli("facts", "--db", db, before=without_root_rights)
    assert db.read_bytes() == before
    db.chmod(0o600)


@needs_modes
def test_a_database_in_a_folder_that_cannot_be_written_is_readable(
    cli: Cli, db: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "shelf"
    folder.mkdir()
    shutil.copy(db, folder / "m.db")
    (folder / "m.db").chmod(0o444)
    folder.chmod(0o555)
    try:
        found = cli("facts", "--json", "--db", folder / "m.db", before=without_root_rights).json()
        assert found["facts"]
        log = more_log(tmp_path)
        one_sentence(
            cli("ingest", log, "--db", folder / "m.db", code=4, before=without_root_rights),
            "cannot be written",
        )
        one_sentence(
            cli("ingest", log, "--db", folder / "new.db", code=4, before=without_root_rights),
            "new.db",
            "cannot be written",
        )
    finally:
        folder.chmod(0o755)


def test_no_room_for_the_database(cli: Cli, db: Path, tmp_path: Path) -> None:
    """A limit on file sizes stands for a full disk: writes fail in the middle."""

    def little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    done = cli(
        "ingest",
        more_log(tmp_path, records=3000),
        "--no-embed",
        "--db",
        db,
        code=4,
        before=little_room,
    )
    one_sentence(done, "memory.db", "disk")
    # With room again, the same command finishes the work.
    cli("ingest", more_log(tmp_path, records=3000), "--no-embed", "--db", db)
    commands = {one[2] for one in facts_of(db) if one[1] == "executed_command"}
    assert len(commands) >= 3000


def _can_mount() -> bool:
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    tried = subprocess.run(
        [unshare, "-rm", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"],
        capture_output=True,
        check=False,
    )
    return tried.returncode == 0


@pytest.mark.skipif(not _can_mount(), reason="no file system of one's own can be mounted")
def test_full_disk(cli: Cli, sample_log: Path, tmp_path: Path) -> None:
    """On a real full file system: one sentence, and what was there stays."""
    disk = tmp_path / "disk"
    disk.mkdir()
    log = more_log(tmp_path, records=3000)
    script = f"""
        mount -t tmpfs -o size=900k tmpfs {disk} || exit 99
        run() {{ {sys.executable} -m factbook "$@" --db {disk}/m.db; }}
        run ingest {sample_log} --no-embed --json > {tmp_path}/first.json || exit 98
        run ingest {log} --no-embed > {tmp_path}/out 2> {tmp_path}/err
        echo $? > {tmp_path}/code
        run doctor --json > {tmp_path}/doctor.json
        run facts --limit 0 --json > {tmp_path}/facts.json
    """
    subprocess.run(
        ["unshare", "-rm", "sh", "-c", script], env=cli.environment(), check=True, timeout=120
    )
    errors = (tmp_path / "err").read_text()
    assert (tmp_path / "code").read_text() == "4\n", errors
    one_sentence(Done(code=4, out="", err=errors), "is full", "free some space")
    findings = json.loads((tmp_path / "doctor.json").read_text())["findings"]
    assert [one for one in findings if one["name"] == "integrity" and one["level"] == "fail"] == []
    facts = json.loads((tmp_path / "facts.json").read_text())["facts"]
    first = json.loads((tmp_path / "first.json").read_text())
    assert len(facts) >= first["receipt"]["stored"]


@pytest.mark.parametrize(
    ("schema", "said"),
    [(999, ("schema 999", "upgrade")), (6, ("older state", "schema 6", "ingest --db NEW.db"))],
)
def test_database_of_another_schema(
    cli: Cli, db: Path, tmp_path: Path, schema: int, said: tuple[str, ...]
) -> None:
    other = tmp_path / "other.db"
    shutil.copy(db, other)
    connection = apsw.Connection(str(other))
    connection.execute(f"PRAGMA user_version = {schema}")
    connection.close()
    before = other.read_bytes()
    for command in (("facts",), ("ingest", str(more_log(tmp_path)))):
        one_sentence(cli(*command, "--db", other, code=4), *said)
    findings = cli("doctor", "--json", "--db", other, code=1).json()["findings"]
    (found,) = [one["detail"] for one in findings if one["name"] == "database"]
    assert all(word in found for word in said)
    assert other.read_bytes() == before


def test_locked_database(cli: Cli, db: Path, tmp_path: Path) -> None:
    patience = {"FACTBOOK_BUSY_TIMEOUT_MS": "200"}
    holder = apsw.Connection(str(db))
    holder.execute("BEGIN IMMEDIATE")
    try:
        done = cli("ingest", more_log(tmp_path), "--no-embed", "--db", db, code=4, env=patience)
        one_sentence(done, "memory.db", "locked", "0.2 seconds", "run it again")
        cli("facts", "--db", db, env=patience)  # readers do not wait for a writer
    finally:
        holder.execute("ROLLBACK")
        holder.close()
    cli("ingest", more_log(tmp_path), "--no-embed", "--db", db, env=patience)


def test_a_lock_that_is_given_back_in_time_is_waited_for(
    cli: Cli, db: Path, tmp_path: Path
) -> None:
    holder = apsw.Connection(str(db))
    holder.execute("BEGIN IMMEDIATE")

    def give_back() -> None:
        holder.execute("ROLLBACK")

    timer = threading.Timer(1.5, give_back)
    timer.start()
    cli("ingest", more_log(tmp_path), "--no-embed", "--db", db)
    timer.join()
    holder.close()


def damage(path: Path, start: int, length: int) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\xa5" * length)


@pytest.mark.parametrize(
    "command", ["facts --limit 0", "stats", "recall backup", "export", "sessions"]
)
def test_corrupt_database(cli: Cli, db: Path, tmp_path: Path, command: str) -> None:
    broken = tmp_path / "broken.db"
    shutil.copy(db, broken)
    damage(broken, 4096, broken.stat().st_size - 4096)
    before = broken.read_bytes()
    one_sentence(cli(*command.split(), "--db", broken, code=4), "broken.db", "damaged")
    assert broken.read_bytes() == before
    done = cli("doctor", "--json", "--db", broken, code=1).json()
    assert any(one["level"] == "fail" for one in done["findings"])


def test_ingest_into_a_corrupt_database_leaves_it_alone(cli: Cli, db: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    shutil.copy(db, broken)
    damage(broken, 4096, broken.stat().st_size - 4096)
    one_sentence(cli("ingest", more_log(tmp_path), "--no-embed", "--db", broken, code=4), "damaged")


def _text(path: Path) -> None:
    path.write_text("dear diary")


def _other_program(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE songs (name); INSERT INTO songs VALUES ('x')")
    connection.close()


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("make", [_text, _other_program, _folder])
def test_not_our_database(
    cli: Cli, tmp_path: Path, sample_log: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "theirs"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    for command in (("facts",), ("ingest", str(sample_log), "--no-embed"), ("embed",)):
        done = cli(*command, "--db", path, code=4)
        one_sentence(done, "theirs", "not a factbook database", "left untouched")
    if path.is_file():
        assert path.read_bytes() == before
    cli("doctor", "--db", path, code=1)


@pytest.mark.parametrize(("name", "said"), [("/", "it is a folder"), ("x" * 300, "too long")])
def test_a_database_where_there_can_be_none(cli: Cli, name: str, said: str) -> None:
    for command in (("facts",), ("remember", "I like tea"), ("doctor",)):
        done = cli(*command, "--db", name, code=1 if command == ("doctor",) else 4)
        assert said in done.err + done.out


@needs_modes
def test_a_database_in_a_folder_of_somebody_else(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o000)
    try:
        for command in (("facts",), ("remember", "I like tea")):
            done = cli(*command, "--db", folder / "m.db", code=4, before=without_root_rights)
            one_sentence(done, "m.db", "Permission denied")
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize("patience", ["9" * 30, "²", "-1", "soon"])
def test_a_patience_that_is_none_or_has_no_end(cli: Cli, db: Path, patience: str) -> None:
    cli("facts", "--db", db, env={"FACTBOOK_BUSY_TIMEOUT_MS": patience})


# --- what is asked --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("facts --min-confidence 1.5", "from 0 to 1"),
        ("facts --min-confidence nan", "from 0 to 1"),
        ("facts --min-confidence -0.1", "from 0 to 1"),
        ("facts --min-confidence much", "not a number"),
        ("facts --limit -1", "too small"),
        ("facts --limit 99999999999999999999", "too large"),
        ("facts --limit ten", "not a whole number"),
        ("facts --since whenever", "not a moment"),
        ("facts --since 2026-13-45", "not a moment"),
        ("facts --since 2026-11-02 --until 2026-11-01", "not before"),
        ("recall x --kind nonsense", "no kind"),
        ("recall x --limit 0", "too small"),
        ("recall", "QUESTION"),
        ("explain twelve", "f12"),
        ("feedback e3 right", "episode"),
        ("explain ²", "f12"),
        ("embed --limit 0", "too small"),
        ("timeline --until never", "not a moment"),
        ("nonsense", "nonsense"),
        ("facts --nonsense", "--nonsense"),
        ("export --format xml", "xml"),
    ],
)
def test_a_command_that_makes_no_sense(cli: Cli, template: Path, command: str, part: str) -> None:
    done = cli("--json", "--db", template, *command.split(), code=2)
    one_sentence(done, part)
    assert done.json()["error"]["kind"] == "UsageError"
    assert part in done.json()["error"]["message"]


def test_an_empty_question(cli: Cli, template: Path) -> None:
    one_sentence(cli("recall", "  ", "--db", template, code=2), "empty")


@pytest.mark.parametrize(
    "question",
    ['"', "' OR 1=1 --", "a AND", "NEAR(", "*", "^x", "col:x", "-", "a" * 20_000, "日本語?", "🙂"],
)
def test_any_text_is_a_legal_question(cli: Cli, template: Path, question: str) -> None:
    cli("recall", "--db", template, "--", question)


def test_no_such_fact(cli: Cli, db: Path) -> None:
    for name in ("f999999", "99999999999999999999999"):
        one_sentence(
            cli("explain", name, "--db", db, code=8), "no fact", f"factbook --db {db} facts"
        )
    assert cli("explain", "f999999", "--json", "--db", db, code=8).json()["error"]["kind"] == (
        "NotFound"
    )


def test_a_bad_rule_file(cli: Cli, db: Path, tmp_path: Path, sample_log: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rule]\nname = 3\n")
    for command in (
        ("ingest", str(sample_log)),
        ("predicates",),
        ("recall", "x"),
        ("explain", "1"),
    ):
        done = cli(*command, "--rules", rules, "--db", db, code=5)
        one_sentence(done, "rules.toml", "line 1")
    one_sentence(cli("predicates", "--rules", tmp_path / "none.toml", code=5), "none.toml")


def test_the_usual_rule_file_is_used_and_checked(cli: Cli) -> None:
    folder = cli.home / "config" / "factbook"
    folder.mkdir(parents=True)
    (folder / "rules.toml").write_text("nonsense =\n")
    one_sentence(cli("predicates", code=5), "rules.toml", "line 1")


def test_a_broken_key_file(cli: Cli, sample_log: Path, tmp_path: Path) -> None:
    key = tmp_path / "short.key"
    key.write_text("ab")
    done = cli("ingest", sample_log, code=6, env={"FACTBOOK_KEY_FILE": str(key)})
    one_sentence(done, "short.key", "restore it from a backup")
    assert key.read_text() == "ab"


def test_the_key_is_private(cli: Cli, sample_log: Path) -> None:
    cli("ingest", sample_log, "--no-embed")
    assert stat.S_IMODE((cli.home / "redaction.key").stat().st_mode) == 0o600
