"""What another version of the language reader has read is read again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.session_logs import NOW, claude

from conftest import Cli
from factbook.errors import NotFound
from factbook.language.reader.network import shared
from factbook.language.reader.read import read
from factbook.language.reader.reading import Clause, Reading, Span
from factbook.maintenance.consolidate import AlreadyRunning, only_run
from factbook.memory import Memory
from factbook.model.confidence import grown, shrunk
from factbook.model.facts import EVERYONE, Fact, SQLValue
from factbook.store.derived.readers import read_by_others
from factbook.store.kinds import ALL, READER
from factbook.testing import FrozenClock

CELLO, VOLVO = "I play the cello on Sundays.", "I drive an old Volvo."
OSLO, PAINT = "I live in Oslo.", "The meeting room smells of paint."
TESTS, LOGS = "Always run the tests with uv.", "The logs look odd today."


class Tagged:
    """The real reader under another name: it misses what is `missed`, and takes in what is `taken`.

    Of both it is told by words; a message with one of `rules` it takes for a rule, up to its stop,
    and one with the text of `deaf` it does not hear at all.
    """

    def __init__(
        self,
        version: str,
        *,
        missed: str = "",
        taken: str = "",
        rules: str = "",
        deaf: str = "",
    ) -> None:
        self.version = version
        self._deaf = deaf
        self._missed, self._taken, self._rules = missed.split(), taken.split(), rules.split()

    def read(self, text: str, answers: str = "", /) -> Reading:
        """Read a text as this version does."""
        reading = read(text if not self._deaf or self._deaf not in text else "", answers)
        rules = [
            Span(0, text.index("."), "rule", 0.95, "project")
            for word in self._rules
            if word in text
        ]
        return replace(
            reading,
            clauses=[self._clause(clause, text) for clause in reading.clauses],
            marks=[*self._left(reading.marks, text), *rules],
        )

    def _clause(self, clause: Clause, text: str) -> Clause:
        said = text[clause.begin : clause.end]
        if any(word in said for word in self._missed):
            return replace(clause, act="chat", keep=0.0)
        if any(word in said for word in self._taken):
            return replace(clause, act="tell", of="me", keep=1.0, flags=frozenset())
        return clause

    def _left(self, marks: Sequence[Span], text: str) -> list[Span]:
        said = [(mark, text[mark.begin : mark.end]) for mark in marks]
        return [mark for mark, words in said if not any(word in words for word in self._missed)]


class Desk:
    """A memory that is read by one version of the reader after another."""

    def __init__(self, folder: Path) -> None:
        self.clock = FrozenClock(NOW)
        self.folder, self.db = folder, folder / "m.db"
        self._sessions = 0

    def opened(self, reader: Tagged | None = None) -> Memory:
        """Open it with a reader; without one, with the one that ships."""
        return Memory(
            self.db, clock=self.clock, key_file=self.folder / "key", model=None, reader=reader
        )

    def said(self, memory: Memory, *prompts: str) -> Path:
        """Let a session be read, and a night go by."""
        self._sessions += 1
        session = f"3f0c4b1e-0000-4000-8000-{self._sessions:012}"
        lines = [
            claude("user", text, f"u{self._sessions}-{n}", cwd="/home/ann/shop", sessionId=session)
            for n, text in enumerate(prompts)
        ]
        path = self.folder / f"{session}.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
        memory.ingest([path], workers=0)
        memory.read_directives()
        memory.consolidate()
        self.clock.advance(days=1)
        return path


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def memory(desk: Desk) -> Iterator[Memory]:
    with desk.opened() as memory:
        yield memory


OLD = Tagged("reader-old", missed="cello", taken="paint", rules="odd")


def facts(memory: Memory) -> dict[str, Fact]:
    """Return what is held of what was said, by its words."""
    held = [fact for fact in memory.query_facts(owner=EVERYONE) if fact.kind != "observation"]
    return {fact.statement.rstrip("."): fact for fact in held}


def rows(memory: Memory) -> list[dict[str, SQLValue]]:
    """Return the facts and their evidence with nothing that depends on when they were read."""
    return memory.sql(
        "SELECT f.statement, f.status, f.evidence_count, round(f.confidence, 6), v.start_char,"
        " v.end_char, e.uid FROM fact_row f JOIN evidence_row v ON v.fact_id = f.id"
        " JOIN episode_row e ON e.id = v.episode_id ORDER BY 1, 2, 7, 5"
    )


def test_a_better_reader_finds_what_was_missed_and_lets_go_of_what_is_none(desk: Desk) -> None:
    with desk.opened(OLD) as memory:
        path = desk.said(memory, OSLO, CELLO, PAINT, TESTS, LOGS)
        assert {"I live in Oslo", PAINT[:-1], TESTS[:-1], LOGS[:-1]} <= facts(memory).keys()
        assert CELLO[:-1] not in facts(memory)
        oslo = facts(memory)[OSLO[:-1]]
        assert memory.maintenance.read_by_others() == 0
        assert memory.stats().read_by_others == 0
    with desk.opened() as memory:
        assert memory.stats().read_by_others == 1
        assert memory.maintenance.read_by_others(source=str(path)) == 1
        before = rows(memory)
        tried = memory.maintenance.reread(dry_run=True)
        assert rows(memory) == before
        assert memory.maintenance.read_by_others() == 1
        done = memory.maintenance.reread()
        assert (tried.receipt, tried.kept) == (done.receipt, done.kept)
        assert (done.version, done.sources, done.episodes) == (shared().version, 1, 5)
        assert (done.receipt.stored, done.receipt.withdrawn, done.receipt.retracted) == (1, 2, 2)
        assert {OSLO[:-1], CELLO[:-1], TESTS[:-1]} <= facts(memory).keys()
        assert not {PAINT[:-1], LOGS[:-1]} & facts(memory).keys()
        assert facts(memory)[OSLO[:-1]] == oslo  # what both read is not touched
        after = rows(memory)
        again = memory.maintenance.reread()
        assert (again.sources, rows(memory)) == (0, after)
        assert memory.check() == []


def test_read_once_more_all_the_same_it_says_the_same(desk: Desk) -> None:
    with desk.opened(OLD) as memory:
        desk.said(memory, OSLO, CELLO, PAINT, TESTS, LOGS)
    with desk.opened() as memory:
        memory.maintenance.reread()
        after = rows(memory)
        with memory.store.writing(now=desk.clock()) as writer:  # as if it had been cut off
            read_rows = writer.find(READER, ALL)
            writer.put(READER, [row._replace(version="reader-old") for row in read_rows])
        assert memory.maintenance.reread().sources == 1
        assert rows(memory) == after
    with desk.opened(OLD) as memory:  # and the first one can take its place again
        memory.maintenance.reread()
        assert {PAINT[:-1], LOGS[:-1]} <= facts(memory).keys()
        assert CELLO[:-1] not in facts(memory)
        assert memory.check() == []


def test_only_one_source_is_read_again_where_one_is_named(desk: Desk) -> None:
    with desk.opened(OLD) as memory:
        first, second = desk.said(memory, CELLO), desk.said(memory, PAINT)
    with desk.opened() as memory:
        assert memory.maintenance.reread(source=str(first)).sources == 1
        assert {CELLO[:-1], PAINT[:-1]} <= facts(memory).keys()
        number = memory.store.sources()[1].id
        assert memory.maintenance.reread(source=f"s{number}", dry_run=True).sources == 1
        assert memory.maintenance.reread(source=str(second)).receipt.retracted == 1
        assert memory.maintenance.read_by_others() == 0
        with pytest.raises(NotFound, match="sessions"):
            memory.maintenance.reread(source="nowhere.jsonl")


# --- what stays -----------------------------------------------------------------------------------


def test_what_was_told_by_hand_or_pinned_or_called_right_stays(desk: Desk) -> None:
    odd = Tagged("reader-old", taken="paint kettle printer")
    with desk.opened(odd) as memory:
        desk.said(memory, PAINT, "The kettle is broken.", "The printer is out of ink.")
        held = facts(memory)
        memory.review.pin(held[PAINT[:-1]].id)
        memory.review.feedback(held["The kettle is broken"].id, right=True)
        memory.remember("The printer is out of ink.")
        held = facts(memory)
    with desk.opened() as memory:
        done = memory.maintenance.reread()
        assert (done.receipt.retracted, done.kept) == (0, 2)
        after = facts(memory)
        assert after.keys() == held.keys()
        assert [one.confidence for one in after.values()] == [
            one.confidence for one in held.values()
        ]
        assert memory.check() == []


def test_what_other_messages_say_stays_and_is_less_sure_by_one(desk: Desk) -> None:
    asked = "SELECT id, evidence_count AS said, confidence FROM fact_row WHERE kind = 'statement'"
    with desk.opened() as memory:
        desk.said(memory, OSLO)
        [once] = memory.sql(asked)
        desk.said(memory, f"Hello again. {OSLO}")
        [twice] = memory.sql(asked)
        assert twice["said"] == 2
        assert twice["confidence"] == pytest.approx(grown(0.7))
    with desk.opened(Tagged("reader-new", deaf="again")) as memory:
        done = memory.maintenance.reread()
        assert (done.receipt.withdrawn, done.receipt.retracted, done.kept) == (1, 0, 1)
        [left] = memory.sql(asked)
        assert left == {**once, "confidence": pytest.approx(once["confidence"])}
        assert memory.check() == []
    with desk.opened() as memory:  # the episode that was its first evidence may go, too
        memory.maintenance.reread()
        memory.resources.reader = Tagged("reader-newer")
        assert memory.sql(asked) == [{**twice, "confidence": pytest.approx(twice["confidence"])}]
        assert memory.check() == []


def test_a_growth_taken_back_is_what_was_before() -> None:
    for confidence in (0.0, 0.3, 0.7, 0.95):
        assert shrunk(grown(confidence)) == pytest.approx(confidence)
    assert shrunk(0.01) == 0.0


def test_what_was_called_wrong_or_corrected_does_not_come_back(desk: Desk) -> None:
    """Neither by the same message nor by an earlier one that was missed."""
    with desk.opened(Tagged("reader-old", deaf="music")) as memory:
        desk.said(
            memory, f"Thanks for the music! {CELLO}", "More music, please. I drive an old Volvo."
        )
        desk.said(memory, CELLO, VOLVO)
        held = facts(memory)
        memory.review.feedback(held[VOLVO[:-1]].id, right=False)
        memory.review.correct(held[CELLO[:-1]].id, "I play the viola on Sundays.")
        before = facts(memory).keys()
    for reader in (Tagged("reader-new", missed="Volvo cello"), None):
        with desk.opened(reader) as memory:
            memory.maintenance.reread()
            assert {said for said, fact in facts(memory).items() if fact.confidence > 0} == {
                "I play the viola on Sundays"
            }
            assert facts(memory).keys() == before
            assert memory.check() == []


def test_what_was_erased_does_not_come_back(desk: Desk) -> None:
    with desk.opened(Tagged("reader-old", taken="paint")) as memory:
        desk.said(memory, f"{CELLO} {VOLVO}", OSLO)
        memory.erasure.erase_fact(facts(memory)[VOLVO[:-1]].id, owner="me")
    with desk.opened() as memory:
        memory.maintenance.reread()
        assert VOLVO[:-1] not in facts(memory)
        assert memory.check() == []


def test_what_a_misread_rule_took_the_place_of_comes_back(desk: Desk) -> None:
    jest = "use jest for unit tests"
    old = Tagged("reader-old", rules="jest")
    with desk.opened(old) as memory:
        desk.said(memory, f"{jest}.")
        desk.said(memory, "let's use vitest instead of jest.")
        (held,) = memory.sources.directives()
        assert "vitest" in held.statement
    with desk.opened(Tagged("reader-new", rules="unit", deaf="vitest")) as memory:
        done = memory.maintenance.reread()
        assert (done.receipt.retracted, done.receipt.reverted) == (1, 1)
        assert [fact.statement.rstrip(".") for fact in memory.sources.directives()] == [jest]
        assert memory.check() == []


@pytest.mark.parametrize(
    ("deaf", "left"),
    [("cello on", ["On Sundays I play the cello"]), ("On Sun", [CELLO[:-1]]), ("cello", [])],
)
def test_of_merged_facts_what_is_read_yet_stays(desk: Desk, deaf: str, left: list[str]) -> None:
    with desk.opened() as memory:
        desk.said(memory, CELLO)
        desk.said(memory, "On Sundays I play the cello.")
        [fact] = facts(memory).values()
        assert fact.evidence_count == 2
        merged = memory.sql("SELECT id FROM fact_row WHERE status = 'merged_into'")
    with desk.opened(Tagged("reader-new", deaf=deaf)) as memory:
        memory.maintenance.reread()
        assert list(facts(memory)) == (left if merged else left and [fact.statement[:-1]])
        assert memory.check() == []


# --- what is noted --------------------------------------------------------------------------------


def test_what_was_read_before_there_were_notes_counts_as_read_by_another(memory: Memory) -> None:
    desk = Desk(Path(memory.path).parent)
    desk.said(memory, OSLO)
    assert memory.maintenance.read_by_others() == 0
    with memory.store.writing(now=1) as writer:
        writer.drop(READER, {"part": ["statements", "directives"]})
    assert list(read_by_others(memory.store, shared().version).values()) == [
        ["directives", "statements"]
    ]
    desk.folder = desk.folder / "later"
    desk.folder.mkdir()
    before = rows(memory)
    assert memory.maintenance.reread().sources == 1
    assert rows(memory) == before
    assert memory.maintenance.read_by_others() == 0


def test_what_nobody_has_read_yet_waits_for_its_turn(desk: Desk) -> None:
    with desk.opened(OLD) as memory:
        desk.said(memory, OSLO)
    with desk.opened() as memory:
        path = desk.folder / "new.jsonl"
        path.write_text(json.dumps(claude("user", VOLVO, "late", cwd="/home/ann/shop")) + "\n")
        memory.ingest([path], workers=0)
        assert memory.maintenance.reread().sources == 1
        assert VOLVO[:-1] not in facts(memory)
        memory.consolidate()
        assert VOLVO[:-1] in facts(memory)
        assert memory.maintenance.read_by_others() == 0


def test_it_is_not_done_beside_the_night(desk: Desk) -> None:
    with desk.opened(OLD) as memory:
        desk.said(memory, OSLO)
    with desk.opened() as memory, only_run(memory.store, desk.clock):
        with pytest.raises(AlreadyRunning):
            memory.maintenance.reread()
        assert memory.maintenance.reread(dry_run=True).sources == 1


# --- killed ---------------------------------------------------------------------------------------

KILLED = """
import os, sys
from factbook.context import Context
from factbook.memory import Memory
from factbook.testing import FrozenClock

left, write = int(sys.argv[3]), Context.write

def counted(self, *args, **more):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), 9)
    return write(self, *args, **more)

Context.write = counted
clock = FrozenClock(int(sys.argv[4]))
with Memory(sys.argv[1], clock=clock, key_file=sys.argv[2], model=None) as memory:
    memory.maintenance.reread()
"""


def killed_after(desk: Desk, writes: int) -> bool:
    """Read again in a process that is killed after so many writes; tell whether it was."""
    args = [str(desk.db), str(desk.folder / "key"), str(writes), str(desk.clock())]
    done = subprocess.run([sys.executable, "-c", KILLED, *args], check=False, timeout=120)
    assert done.returncode in (0, -signal.SIGKILL)
    return done.returncode != 0


def test_killed_at_any_write_it_goes_on_to_the_same_end(tmp_path: Path) -> None:
    ends = []
    for name in ("whole", "killed"):
        desk = Desk(tmp_path / name)
        desk.folder.mkdir()
        with desk.opened(OLD) as memory:
            desk.said(memory, OSLO, CELLO, LOGS)
            desk.said(memory, PAINT, TESTS)
        times = 0
        if name == "killed":
            while killed_after(desk, times % 4):
                times += 1
                with desk.opened() as memory:
                    assert memory.check() == []
                assert times < 40
            assert times > 2
        with desk.opened() as memory:
            memory.maintenance.reread()
            assert memory.check() == []
            ends.append(rows(memory))
    assert ends[0] == ends[1]


# --- at the command line --------------------------------------------------------------------------


def test_the_command_counts_what_changed_and_the_doctor_says_when(cli: Cli, desk: Desk) -> None:
    with desk.opened(OLD) as memory:
        desk.said(memory, OSLO, CELLO, PAINT)
    db = ("--db", desk.db)
    assert "1 source read by another version" in cli(*db, "stats").out
    assert " reread`" in cli(*db, "doctor").out
    tried = cli(*db, "reread", "--dry-run", "--json").json()
    done = cli(*db, "reread", "--json").json()
    assert {**tried, "dry_run": False} == done
    assert (done["facts_added"], done["evidence_withdrawn"], done["facts_retired"]) == (1, 1, 1)
    assert (done["sources"], done["episodes"], done["version"]) == (1, 3, shared().version)
    assert "Nothing was read by another version" in cli(*db, "reread").out
    assert " reread`" not in cli(*db, "doctor").out
