"""What goes on behind the hooks: the transcript is read, the next turn prepared, uses recorded."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import Cli
from factbook.errors import NotFound
from factbook.memory import Memory
from factbook.memory.follow import follow
from factbook.model.facts import EpisodeKind, Role, Trust
from factbook.sources.spool import TRANSCRIPTS, Spool, folder_of
from factbook.store.kinds import INJECTION
from factbook.store.rows import Filters
from factbook.surface.hook import events
from factbook.surface.hook.events import Hook
from session_logs import claude, lines_of

WAIT_S = 60.0


class Session:
    """A session of a client, with its transcript and its hooks."""

    def __init__(self, folder: Path, name: str, owner: str = "me") -> None:
        self.owner = owner
        self.db = folder / "memory.db"
        self.name = name
        self.log = folder / f"{name}.jsonl"
        self.spool = Spool(folder_of(self.db))
        self.turns = 0

    def hook(self, name: str, **more: object) -> str:
        event = {
            "session_id": self.name,
            "transcript_path": str(self.log),
            "cwd": "/home/ann/shop",
            "hook_event_name": name,
            **more,
        }
        hook = Hook(str(self.db), owner=self.owner, until=time.monotonic() + WAIT_S)
        return hook.answer(event, host="claude-code")

    def turn(self, prompt: str, answer: str) -> str:
        """Run one turn and return what was put before the model; nothing reads on yet."""
        said = self.hook("UserPromptSubmit", prompt=prompt)
        self.write(prompt, answer)
        self.hook("Stop")
        return said

    def write(self, prompt: str, answer: str = "") -> None:
        self.turns += 1
        at = time.strftime("%Y-%m-%dT%H:%M:%S.999Z", time.gmtime())
        common = {"sessionId": self.name, "timestamp": at}
        records = [claude("user", prompt, f"{self.name}-u{self.turns}", **common)]
        if answer:
            block = [{"type": "text", "text": answer}]
            records.append(claude("assistant", block, f"{self.name}-a{self.turns}", **common))
        with self.log.open("ab") as log:
            log.write(lines_of(*records))

    def prepared(self) -> dict[str, object]:
        return self.spool.prepared(self.name, self.owner)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would be started behind; nothing is."""
    calls: list[str] = []
    monkeypatch.setattr(events, "start_behind", calls.append)
    return calls


@pytest.mark.usefixtures("started")
def test_what_was_said_in_one_session_is_there_in_the_next(tmp_path: Path) -> None:
    first = Session(tmp_path, "s1")
    assert first.turn("For the record, I am allergic to hazelnuts.", "Noted.") == ""
    follow(str(first.db), settles_s=0)
    second = Session(tmp_path, "s2")
    assert "hazelnuts" in second.turn("a cake for someone allergic to hazelnuts", "Almonds.")
    follow(str(first.db), settles_s=0)
    with Memory(first.db, mode="read", model=None) as memory:
        said = memory.store.ids("episode", Filters(episode_kinds=[EpisodeKind.PROMPT]))
        assert len(said) == 2  # what was put before the model is no prompt of anybody
        assert memory.check() == []


@pytest.mark.usefixtures("started")
def test_the_turns_before_suggest_what_shares_no_word(tmp_path: Path) -> None:
    session = Session(tmp_path, "s1")
    with Memory(session.db, model=None, search_config=None) as memory:
        memory.remember("The billing service runs on PostgreSQL 16.")
        memory.remember("My bicycle is painted turquoise.")
    session.turn("which database does the billing service use in production?", "Let me look.")
    session.spool.keep_session("s1", session.spool.session("s1") | {"shown": []})
    follow(str(session.db), settles_s=0)
    assert session.prepared()["turn"] == 2
    said = session.hook("UserPromptSubmit", prompt="good, then write the migration script")
    assert "PostgreSQL 16" in said
    assert "turquoise" not in said
    assert "PostgreSQL" not in session.hook("UserPromptSubmit", prompt="and the tests for it")


@pytest.mark.usefixtures("started")
def test_what_came_too_late_is_for_no_later_turn(tmp_path: Path) -> None:
    session = Session(tmp_path, "s1")
    with Memory(session.db, model=None, search_config=None) as memory:
        fact = memory.remember("The billing service runs on PostgreSQL 16.")
    late = {"turn": 2, "items": [f"f{fact.id}"], "done": 1}
    session.spool.keep_session("s1", {"turn": 2})
    session.spool.keep_prepared("s1", late)
    assert session.hook("UserPromptSubmit", prompt="write the migration script") == ""
    session.spool.keep_session("s1", {"turn": 1})
    with Memory(session.db, model=None, search_config=None) as memory:
        memory.forget(fact.id)
    assert session.hook("UserPromptSubmit", prompt="write the migration script") == ""


@pytest.mark.usefixtures("started")
def test_what_was_given_is_recorded_once_with_what_was_used(tmp_path: Path) -> None:
    session = Session(tmp_path, "s1")
    with Memory(session.db, model=None, search_config=None) as memory:
        fact = memory.remember("The billing service runs on PostgreSQL 16.")
        memory.remember("The billing service is deployed on Tuesdays.")
    session.turn("what does the billing service run on?", f"It runs on PostgreSQL 16 [f{fact.id}].")
    for _ in range(2):
        follow(str(session.db), settles_s=0)
    with Memory(session.db, mode="read", model=None) as memory:
        (row,) = memory.store.find(INJECTION, {"owner": "me"})
        assert (row.session, row.mode, row.used) == ("s1", "passive", [f"f{fact.id}"])
        assert set(row.items) >= {f"f{fact.id}"}
    session.hook("Stop")
    follow(str(session.db), settles_s=0)
    with Memory(session.db, mode="read", model=None) as memory:
        assert len(memory.store.find(INJECTION, {"owner": "me"})) == 1


def test_the_end_of_a_turn_asks_for_it_and_gemini_s_compression_does_not(
    tmp_path: Path, started: list[str]
) -> None:
    session = Session(tmp_path, "s1")
    for name in sorted(events.ENDS):
        assert session.hook(name) == ""
    assert started == [str(session.db)] * len(events.ENDS)
    assert "PreCompress" not in events.ENDS


def test_one_works_and_one_waits_and_the_rest_leave(tmp_path: Path, started: list[str]) -> None:
    session = Session(tmp_path, "s1")
    session.turn("I keep my notes in a green folder.", "Good.")
    folder = Path(session.spool.folder)
    with (folder / "waits.lock").open("w") as waits:
        fcntl.flock(waits, fcntl.LOCK_EX)
        session.hook("Stop", last_assistant_message="Well.")
        assert len(started) == 1  # the one that waits will see it
        follow(str(session.db), settles_s=0)
        assert session.prepared() == {}
    with (folder / "works.lock").open("w") as works:
        fcntl.flock(works, fcntl.LOCK_EX)
        command = [sys.executable, "-m", "factbook.memory.follow", str(session.db)]
        waiting = subprocess.Popen(command)
        time.sleep(2.0)
        assert waiting.poll() is None
        assert session.prepared() == {}
        fcntl.flock(works, fcntl.LOCK_UN)
        assert waiting.wait(WAIT_S) == 0
    assert session.prepared()["done"] == 2


def test_what_a_client_keeps_for_itself_is_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[dict[str, str]] = []
    monkeypatch.setattr(os, "posix_spawn", lambda path, argv, env, **_: handed.append(dict(env)))
    monkeypatch.setenv("CLAUDE_CODE_MESSAGING_TOKEN", "not-for-others")
    monkeypatch.setenv("GEMINI_API_KEY", "not-for-others")
    monkeypatch.setenv("FACTBOOK_KEY_FILE", "/x/key")
    events.start_behind("/x/m.db")
    assert "not-for-others" not in handed[0].values()
    assert handed[0]["FACTBOOK_KEY_FILE"] == "/x/key"


def test_options_of_the_hook_are_for_the_process_behind_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed: list[tuple[list[str], dict[str, str]]] = []
    spawn = lambda path, argv, env, **_: handed.append((argv, dict(env)))  # noqa: E731
    monkeypatch.setattr(os, "posix_spawn", spawn)
    monkeypatch.setenv("FACTBOOK_KEY_FILE", "another")
    db, key, log = (str(tmp_path / name) for name in ("a b.db", "a key", "log.jsonl"))
    event = {"hook_event_name": "Stop", "session_id": "s1", "transcript_path": log}
    monkeypatch.setattr(events, "_input", lambda: json.dumps(event).encode())
    monkeypatch.setattr(sys, "argv", ["factbook-hook", "--db", db, f"--key-file={key}"])
    events.run(SimpleNamespace(left=WAIT_S))  # type: ignore[arg-type]
    ((argv, env),) = handed
    assert db in argv
    assert env["FACTBOOK_KEY_FILE"] == key


def test_a_hook_starts_it_and_does_not_wait(tmp_path: Path) -> None:
    session = Session(tmp_path, "s1")
    session.write("I keep my notes in a green folder.", "Good.")
    event = {
        "session_id": "s1",
        "transcript_path": str(session.log),
        "cwd": "/home/ann/shop",
        "hook_event_name": "Stop",
    }
    code = "from factbook.surface.hook import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--db", str(session.db)],
        input=json.dumps(event).encode(),
        capture_output=True,  # ends only when nobody holds the pipes any more
        timeout=WAIT_S,
        check=True,
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    assert session.prepared() == {}
    ends = time.monotonic() + WAIT_S
    while session.prepared() == {} and time.monotonic() < ends:
        time.sleep(0.1)
    assert session.prepared()["done"] == 1
    assert "green folder" in Session(tmp_path, "s2").hook(
        "UserPromptSubmit", prompt="in which folder do I keep notes, the green one?"
    )


@pytest.mark.usefixtures("started")
def test_a_quote_is_found_in_a_prompt_that_was_only_just_said(tmp_path: Path) -> None:
    session = Session(tmp_path, "s1")
    said = "i always use pnpm instead of npm for node stuff"
    session.hook("UserPromptSubmit", prompt=said)
    session.write(said)
    with Memory(session.db, model=None, search_config=None) as memory:
        noted = memory.review.note("The user always uses pnpm.", quote="always use pnpm")
        assert noted.trust is Trust.DIRECT
        assert noted.fact is not None
        (shown,) = memory.explain(noted.fact.id).evidence
        assert shown.quote in said
        made_up = memory.review.note("The user never uses yarn.", quote="i never ever use yarn")
        assert made_up.trust is Trust.DERIVED
        assert memory.check() == []


@pytest.mark.usefixtures("started")
def test_a_transcript_that_is_gone_or_a_locked_store_keeps_nobody(tmp_path: Path) -> None:
    session = Session(tmp_path, "s1")
    session.turn("I keep my notes in a green folder.", "Good.")
    session.log.unlink()
    follow(str(session.db), settles_s=0)
    assert session.prepared()["items"] == []
    with Memory(session.db, model=None, search_config=None) as memory:
        noted = memory.review.note("The folder is green.", quote="notes in a green folder")
        assert noted.trust is Trust.DERIVED


@pytest.mark.usefixtures("started")
def test_a_session_that_fails_keeps_no_other_from_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = Session(tmp_path, "good"), Session(tmp_path, "bad")
    good.turn("I keep my notes in a green folder.", "Good.")
    bad.turn("I keep my keys in a red bowl.", "Good.")  # the newest, and so the first
    ingest = Memory.ingest

    def failing(memory: Memory, paths: list[Path], **more: int) -> object:
        if bad.log in paths:
            raise OSError("the disk is gone")
        return ingest(memory, paths, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Memory, "ingest", failing)
    follow(str(good.db), settles_s=0)
    assert bad.prepared()["failed"] == "OSError"
    assert "failed" not in good.prepared()
    with Memory(good.db, model=None, search_config=None, mode="read") as memory:
        assert memory.recall("green folder").hits


@pytest.mark.usefixtures("started")
def test_a_memory_that_cannot_be_opened_is_told_to_the_doctor(tmp_path: Path) -> None:
    session = Session(tmp_path, "s1")
    session.turn("I keep my notes in a green folder.", "Good.")
    session.db.write_bytes(b"no database at all, " * 500)
    follow(str(session.db), settles_s=0)
    assert session.prepared()["failed"]
    session.db.unlink()
    follow(str(session.db), settles_s=0)
    assert "failed" not in session.prepared()  # it waited


@pytest.mark.usefixtures("started")
def test_what_a_hook_of_somebody_reads_is_theirs(tmp_path: Path) -> None:
    mine, theirs = Session(tmp_path, "s1"), Session(tmp_path, "s2", owner="bob")
    mine.turn("I keep my notes in a green folder.", "Good.")
    theirs.turn("I keep my keys in a red bowl.", "Good.")
    follow(str(mine.db), settles_s=0)  # whoever started it works for all
    assert mine.prepared()["done"] == theirs.prepared()["done"] == 1
    theirs.write("my bicycle is painted turquoise, remember that")
    with Memory(mine.db, model=None, search_config=None) as memory:
        noted = memory.review.note(
            "The user's bicycle is painted turquoise.",
            quote="my bicycle is painted turquoise",
            owner="bob",
        )
        assert noted.trust is Trust.DIRECT
        for owner, words in (("me", ["green"]), ("bob", ["red", "turquoise"])):
            said = memory.store.ids("episode", Filters(owner=owner, roles=[Role.USER]))
            texts = " ".join(memory.store.texts("episode", said).values())
            assert [word for word in ("green", "red", "turquoise") if word in texts] == words
        assert memory.check() == []
    asked = "in which bowl do I keep my keys, the red one?"
    assert "red bowl" in Session(tmp_path, "s3", owner="bob").hook("UserPromptSubmit", prompt=asked)
    assert Session(tmp_path, "s3").hook("UserPromptSubmit", prompt=asked) == ""


@pytest.mark.usefixtures("started")
def test_one_log_may_be_read_for_two_owners(tmp_path: Path) -> None:
    session = Session(tmp_path, "s1")
    session.write("I keep my notes in a green folder.", "Good.")
    with Memory(session.db, model=None, search_config=None) as memory:
        for owner in ("me", "bob"):
            memory.ingest([session.log], owner=owner)
            assert len(memory.store.ids("episode", Filters(owner=owner))) == 2
            assert memory.ingest([session.log], owner=owner).receipt.episodes == 0
        assert memory.check() == []


@pytest.mark.usefixtures("started")
def test_a_session_that_is_resumed_in_another_file_is_read_in_both(tmp_path: Path) -> None:
    session = Session(tmp_path, "s1")
    session.hook("SessionStart", source="startup")
    session.write("I keep my notes in a green folder.", "Good.")  # and the client is killed
    session.log = tmp_path / "resumed.jsonl"
    session.write("I keep my keys in a red bowl.", "Good.")
    session.hook("SessionStart", source="resume")
    with Memory(session.db, model=None, search_config=None) as memory:
        noted = memory.review.note(
            "The keys are in a red bowl.", quote="keep my keys in a red bowl"
        )
        assert noted.trust is Trust.DIRECT
    session.hook("Stop")
    follow(str(session.db), settles_s=0)
    with Memory(session.db, mode="read", model=None) as memory:
        said = memory.store.ids("episode", Filters(episode_kinds=[EpisodeKind.PROMPT]))
        assert len(said) == 2
    for number in range(8):
        session.log = tmp_path / f"resumed{number}.jsonl"
        session.hook("SessionStart", source="resume")
    kept = session.spool.session("s1")["transcripts"]
    assert kept[0] == str(session.log)
    assert len(kept) == TRANSCRIPTS


# --- what is erased -------------------------------------------------------------------------------


def beside(session: Session) -> dict[str, bytes]:
    """Return what stands beside the database, by its path, without the log itself."""
    files = [path for path in session.db.parent.rglob("m*") if path.is_file()]
    hooks = [path for path in Path(session.spool.folder).rglob("*") if path.is_file()]
    return {str(path): path.read_bytes() for path in {*files, *hooks}}


@pytest.mark.usefixtures("started")
def test_an_erased_owner_is_gone_from_what_the_hooks_keep(cli: Cli) -> None:
    ann, me = Session(cli.home, "s1", "ann"), Session(cli.home, "s2")
    for session in (ann, me):
        session.turn("I keep my notes in a green folder.", "Good.")
    follow(str(ann.db), settles_s=0)
    folder = Path(ann.spool.folder)
    (folder / "s9.session.7.tmp").write_text('{"owner":"ann","na')  # a hook was killed
    name = next(path.name for path in folder.glob("s1-*.session"))
    cli("erase", "--owner", "ann", "--dry-run", "--db", ann.db)
    assert (folder / name).exists()
    cli("erase", "--owner", "ann", "--yes", "--db", ann.db, code=3)  # `me` said the same
    for path, content in beside(ann).items():
        assert b'ann"' not in content, path
        assert str(ann.log).encode() not in content, path
        assert not Path(path).name.startswith("s1"), path
    assert me.spool.session("s2")["transcripts"] == [str(me.log)]
    assert me.prepared()["done"] == 1
    with Memory(ann.db, model=None) as memory:
        assert memory.check() == []


@pytest.mark.usefixtures("started")
def test_who_is_known_to_the_hooks_alone_is_erased_too(cli: Cli) -> None:
    ann = Session(cli.home, "s1", "ann")
    with Memory(ann.db, model=None) as memory:
        memory.remember("I like tea")
    ann.hook("SessionStart", source="startup")
    would = cli("erase", "--owner", "ann", "--dry-run", "--db", ann.db).out
    assert "1 session of a hook would go" in would
    assert "1 session of a hook" in cli("erase", "--owner", "ann", "--yes", "--db", ann.db).out
    assert not [path for path in Path(ann.spool.folder).iterdir() if path.suffix != ".lock"]
    cli("erase", "--owner", "ann", "--yes", "--db", ann.db, code=8)


@pytest.mark.usefixtures("started")
def test_an_erased_log_is_gone_from_what_the_hooks_keep(cli: Cli) -> None:
    session = Session(cli.home, "s1")
    session.turn("I keep my notes in a green folder.", "Good.")
    follow(str(session.db), settles_s=0)
    cli("erase", "--source", session.log, "--yes", "--db", session.db)
    for path, content in beside(session).items():
        assert str(session.log).encode() not in content, path
    with Memory(session.db, model=None) as memory:
        assert memory.check() == []


@pytest.mark.usefixtures("started")
def test_what_is_prepared_for_a_session_that_was_erased_is_not_kept(tmp_path: Path) -> None:
    session = Session(tmp_path, "s1", "ann")
    session.turn("I keep my notes in a green folder.", "Good.")
    with Memory(session.db, model=None) as memory:
        state = session.spool.session("s1", "ann")
        with pytest.raises(NotFound):
            memory.erasure.erase_owner("nobody")
        memory.erasure.erase_owner("ann")
    assert session.spool.keep_prepared("s1", {"done": state["asked"]}, "ann")
    assert session.prepared() == {}
