"""The nightly work: what recurs, what grows, what contradicts, what merges, and taking it back."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import forked
from conftest import Cli
from factbook import policy
from factbook.errors import FactbookError, NotFound, UsageError
from factbook.maintenance.consolidate import AlreadyRunning, PairQuestion, RunReport
from factbook.maintenance.verdict_queue import CallReport, JudgeRulings, Missed
from factbook.memory import Memory
from factbook.model.facts import Fact, FactKind, Stance, Status
from factbook.store.derived.ledger import evidence_of
from factbook.store.leases import take_lease
from factbook.store.rows import Filters
from factbook.testing import FrozenClock

DAY = 24 * 3600 * 1000


class Diary:
    """A memory whose owner says things on days."""

    def __init__(self, folder: Path) -> None:
        self.clock = FrozenClock()
        self.memory = Memory(folder / "f.db", clock=self.clock, key_file=folder / "key")
        self.sessions = 0

    def says(self, *texts: str) -> None:
        """Say something in a conversation of its own."""
        self.sessions += 1
        for text in texts:
            self.clock.now += 60_000
            self.memory.add_turn(text, session=f"s{self.sessions}")

    def night(self, *, days: float = 1.0) -> RunReport:
        """Let days go by, and consolidate."""
        self.clock.advance(days=days)
        return self.memory.consolidate()

    def facts(self) -> dict[str, Fact]:
        """Return the current statements by their text."""
        return {one.statement: one for one in self.memory.query_facts(kind=FactKind.STATEMENT)}

    def everything(self) -> list[Fact]:
        """Return every statement row in whatever state, as it is stored."""
        ids = range(1, 1 + max((one.id for one in self._current()), default=0) + 50)
        return list(self.memory.store.facts_by_id(list(ids)).values())

    def _current(self) -> list[Fact]:
        return list(self.memory.store.facts(Filters(), limit=None))


@pytest.fixture
def diary(tmp_path: Path) -> Iterator[Diary]:
    found = Diary(tmp_path)
    yield found
    assert found.memory.check() == []
    found.memory.close()


def changes(report: RunReport) -> dict[str, int]:
    counts = report.receipt
    return {
        name: value
        for name in counts.__slots__
        if name != "embedded" and name != "rejections" and (value := getattr(counts, name))
    }


# --- from what was said to facts ------------------------------------------------------------------


def test_a_clear_statement_becomes_a_fact_with_its_words_as_evidence(diary: Diary) -> None:
    diary.says("Hi! I live in Oslo. Can you fix the parser?", "Thanks, that helps!")
    diary.night()
    fact = diary.facts()["I live in Oslo."]
    evidence = diary.memory.explain(fact.id).evidence
    assert [one.quote for one in evidence] == ["I live in Oslo."]
    assert len(diary.facts()) == 1


def test_what_is_said_again_is_evidence_and_not_another_fact(diary: Diary) -> None:
    diary.says("I live in Oslo.")
    diary.night()
    before = diary.facts()["I live in Oslo."]
    diary.says("As you know, I live in Oslo.")
    report = diary.night()
    after = diary.facts()["I live in Oslo."]
    assert list(diary.facts()) == ["I live in Oslo."]
    assert after.evidence_count == 2
    assert after.confidence > before.confidence
    assert report.receipt.supported == 1


def test_a_second_run_at_the_same_time_changes_nothing(diary: Diary) -> None:
    diary.says("I live in Oslo.", "My dog is called Rex.", "I like green tea.")
    diary.night()
    diary.says("I hate green tea.", "The name of my dog is Rex.")
    diary.night()
    before = diary.everything()
    again = diary.memory.consolidate()
    assert changes(again) == {}
    assert diary.everything() == before


def test_thirty_nights_are_one_night_thirty_days_later(tmp_path: Path) -> None:
    """Seed 001, decided: a nightly run must not compound the fading."""
    (tmp_path / "often").mkdir()
    (tmp_path / "once").mkdir()
    often, once = Diary(tmp_path / "often"), Diary(tmp_path / "once")
    for one in (often, once):
        one.says("I live in Oslo.", "My dog is called Rex.")
        one.night()
    for _ in range(30):
        often.night()
    once.night(days=30)
    assert often.facts() == once.facts()
    assert often.facts()["I live in Oslo."].confidence == pytest.approx(
        policy.STATED * 2.718281828 ** (-0.31), rel=0.01
    )
    for one in (often, once):
        one.memory.close()


def test_a_clock_that_jumps_harms_nothing(diary: Diary) -> None:
    diary.says("I won the village chess cup.")
    diary.night()
    before = diary.facts()["I won the village chess cup."]
    diary.night(days=-400)
    assert diary.facts()["I won the village chess cup."].confidence >= before.confidence
    diary.night(days=4000)
    assert diary.facts() == {}  # faded; nothing was written
    diary.night(days=-3600)
    assert diary.facts()["I won the village chess cup."].confidence == before.confidence


# --- confidence -----------------------------------------------------------------------------------


def test_assistants_do_not_support_what_they_were_shown(diary: Diary) -> None:
    diary.says("My dog is called Rex.")
    diary.night()
    fact = diary.facts()["My dog is called Rex."]
    diary.memory.search_memory("What is my dog called?", session="chat")
    diary.clock.now += 60_000
    diary.memory.add_turn("Your dog is called Rex.", role="assistant", session="chat")
    diary.night()
    assert diary.facts()["My dog is called Rex."].evidence_count == fact.evidence_count


def test_copies_of_a_text_count_once(diary: Diary) -> None:
    text = (
        "My dog is called Rex and he sleeps on the blue couch in the kitchen whenever it rains"
        " outside."
    )
    diary.says(text)
    diary.night()
    diary.says(text)
    diary.says(text)
    diary.night()
    counts = [one.evidence_count for one in diary.facts().values()]
    assert counts == [1]  # a paste of the same text is no witness


# --- contradiction --------------------------------------------------------------------------------


def test_within_one_conversation_both_lose_half(diary: Diary) -> None:
    """Seed 001: a clear contradiction takes half of both and is told."""
    diary.says("I like green tea.", "I hate green tea.")
    report = diary.night()
    like, hate = diary.facts().get("I like green tea."), diary.facts().get("I hate green tea.")
    assert like is not None
    assert hate is not None
    assert like.confidence == pytest.approx(policy.STATED / 2, rel=0.02)
    assert hate.confidence == pytest.approx(policy.STATED / 2, rel=0.02)
    assert report.receipt.contradicted == 2


def test_what_the_owner_says_on_a_later_day_takes_its_place(diary: Diary) -> None:
    diary.says("I live in Oslo.")
    diary.night()
    diary.says("I live in Bergen.")
    report = diary.night(days=30)
    assert list(diary.facts()) == ["I live in Bergen."]
    assert report.receipt.superseded == 1
    old = next(one for one in diary.everything() if one.statement == "I live in Oslo.")
    assert old.status is Status.SUPERSEDED
    assert old.superseded_by == diary.facts()["I live in Bergen."].id


def test_an_end_that_is_said_retires_what_it_ends(diary: Diary) -> None:
    diary.says("I work for Northwind Dairy.")
    diary.night()
    diary.says("I no longer work for Northwind Dairy.")
    diary.night(days=3)
    assert "I work for Northwind Dairy." not in diary.facts()


@pytest.mark.parametrize(
    "said", ["I am allergic to hazelnuts", "I live in Oslo. I am allergic to hazelnuts."]
)
def test_what_was_corrected_does_not_come_back_overnight(diary: Diary, said: str) -> None:
    fact = diary.memory.remember(said)
    diary.memory.correct(fact.id, "I am allergic to peanuts")
    diary.night()
    diary.night(days=3)
    assert list(diary.facts()) == ["I am allergic to peanuts"]
    diary.says("I am allergic to hazelnuts.")  # said anew, it is news
    diary.night()
    assert "I am allergic to hazelnuts." in diary.facts()
    assert diary.memory.check() == []


def test_a_correction_supersedes_at_once(diary: Diary) -> None:
    fact = diary.memory.remember("My dog is called Rex.")
    new = diary.memory.correct(fact.id, "My dog is called Max.")
    assert [one.statement for one in diary.memory.query_facts()] == ["My dog is called Max."]
    assert new.confidence == policy.TOLD
    assert diary.memory.store.facts_by_id([fact.id])[fact.id].superseded_by == new.id
    with pytest.raises(UsageError, match="superseded already"):
        diary.memory.correct(fact.id, "My dog is called Bello.")


def test_remembering_the_same_twice_is_one_fact(diary: Diary) -> None:
    first = diary.memory.remember("My dog is called Rex.")
    diary.clock.advance(days=1)
    again = diary.memory.remember("my dog  is called Rex.")
    assert again.id == first.id
    assert again.evidence_count == 2
    with pytest.raises(UsageError, match="empty"):
        diary.memory.remember("   ")


def test_a_secret_is_not_remembered(diary: Diary) -> None:
    fact = diary.memory.remember("My router password: hunter2-ZebraQuilt99")
    assert "ZebraQuilt" not in fact.statement
    assert b"ZebraQuilt" not in diary.memory.path.read_bytes()


# --- the batched judgement ------------------------------------------------------------------------


def ambiguous(diary: Diary, rule: str = "close") -> None:
    """Leave one pair for a judge; by the rule "merge" both say the same, and neither is sure."""
    one = diary.memory.remember("My employer is Northwind Dairy.")
    diary.clock.advance(days=60)
    other = diary.memory.remember("I take long walks.")
    from factbook.apply.apply import apply
    from factbook.model.facts import Trigger
    from factbook.model.ops import JudgePair

    apply(
        diary.memory.store,
        [
            JudgePair(
                low_id=one.id,
                high_id=other.id,
                relation="ambiguous",
                rule=rule,
                detail="no rule can tell",
                similarity=0.8,
            )
        ],
        trigger=Trigger.UPKEEP,
        actor="test",
        now=diary.clock.now,
    )


def test_without_a_judge_the_queue_stays(diary: Diary) -> None:
    ambiguous(diary)
    report = diary.night()
    assert report.waiting == 1
    (question,) = diary.memory.review.questions()
    assert question.texts == ("My employer is Northwind Dairy.", "I take long walks.")
    assert question.why == "no rule can tell"


@pytest.mark.parametrize("verdict", ["MERGE", "KEEP_BOTH"])
def test_one_call_settles_all_pairs(diary: Diary, verdict: str) -> None:
    ambiguous(diary, rule="merge")
    calls: list[Sequence[PairQuestion]] = []

    def judge(questions: Sequence[PairQuestion]) -> Mapping[tuple[int, int], str]:
        calls.append(questions)
        return {(one.low_id, one.high_id): verdict for one in questions}

    diary.clock.advance(days=1)
    report = diary.memory.consolidate(resolver=judge)
    assert len(calls) == 1
    assert report.waiting == 0
    statuses = {one.status for one in diary.everything()}
    assert (Status.MERGED_INTO in statuses) == (verdict == "MERGE")
    assert report.receipt.superseded == 0
    assert diary.memory.consolidate(resolver=judge).waiting == 0
    assert len(calls) == 1  # each pair once


def test_what_was_told_is_not_retired_at_the_word_of_a_judge(diary: Diary) -> None:
    """Its owner is asked, once, and nobody else; their answer is followed."""
    ambiguous(diary)
    diary.clock.advance(days=1)
    report = diary.memory.consolidate(resolver=lambda asked: {asked[0].ids: "CONTRADICTION"})
    assert (report.receipt.superseded, report.waiting, report.error) == (0, 1, "")
    (question,) = diary.memory.review.questions()
    assert question.rule == policy.MODEL_SAYS
    assert "stands for the earlier one" in question.why
    diary.clock.advance(days=1)
    again = diary.memory.consolidate(resolver=lambda _: pytest.fail("no judge is asked again"))
    assert again.waiting == 1
    diary.memory.review.settle({question.ids: "NEWER"})
    assert [one.statement for one in diary.memory.query_facts()] == ["I take long walks."]


def test_a_judge_that_fails_decides_nothing_and_is_heard(diary: Diary) -> None:
    ambiguous(diary)

    def judge(questions: Sequence[PairQuestion]) -> Mapping[tuple[int, int], str]:
        raise FactbookError(detail="the model did not answer in time")

    diary.clock.advance(days=1)
    report = diary.memory.consolidate(resolver=judge)
    assert report.state == "done"
    assert report.error == "the model did not answer in time"
    assert report.waiting == 1


def test_a_judge_may_give_an_account_of_its_calls(diary: Diary) -> None:
    ambiguous(diary)

    def judge(questions: Sequence[PairQuestion]) -> JudgeRulings:
        (one,) = questions
        call = CallReport(about="contradictions", waiting=1, asked=1, left_out=1)
        missed = [Missed(one.ids, "it says nothing of my password: hunter2-ZebraQuilt99")]
        return JudgeRulings(verdicts={}, calls=[call], missed=missed, version="v1")

    diary.clock.advance(days=1)
    report = diary.memory.consolidate(resolver=judge)
    assert [one.told() for one in report.calls] == [
        "contradictions: 1 of 1 pairs asked, 1 left out of the answer"
    ]
    assert report.waiting == 1
    (question,) = diary.memory.review.questions()
    assert question.attempts == 1
    assert "ZebraQuilt" not in question.error  # what a model says is redacted like all else
    told = diary.memory.maintenance.runs()[0].report["calls"]
    assert isinstance(told, list)
    assert [one["left_out"] for one in told] == [1]


def test_a_verdict_that_is_none_is_said_and_the_pair_waits(diary: Diary) -> None:
    ambiguous(diary)
    diary.clock.advance(days=1)
    report = diary.memory.consolidate(
        resolver=lambda questions: {questions[0].ids: "PERHAPS", (7, 8): "MERGE"}
    )
    assert "'PERHAPS' is no verdict" in report.error
    assert "the facts 7 and 8 do not wait for a verdict" in report.error
    assert report.waiting == 1


# --- dry run, undo, one at a time -----------------------------------------------------------------


def test_a_dry_run_reports_the_same_and_changes_nothing(diary: Diary) -> None:
    diary.says("I live in Oslo.", "I like green tea.")
    diary.night()
    diary.says("I live in Bergen.", "I hate green tea.")
    diary.clock.advance(days=2)
    before = diary.memory.store.head().commit, diary.everything()
    rehearsed = diary.memory.consolidate(dry_run=True)
    assert (diary.memory.store.head().commit, diary.everything()) == before
    done = diary.memory.consolidate()
    assert changes(rehearsed) == changes(done)
    assert [(one.op, one.target, one.detail) for one in rehearsed.events] == [
        (one.op, one.target, one.detail) for one in done.events
    ]


def test_an_undone_night_leaves_what_was_there_before(diary: Diary) -> None:
    diary.says("I live in Oslo.", "I like green tea.")
    diary.night()
    before = diary.facts()
    diary.says("I live in Bergen.", "I hate green tea.")
    report = diary.night(days=0.9)
    assert diary.facts() != before
    diary.memory.maintenance.undo(report.run_id)
    assert set(diary.facts()) == set(before)
    with pytest.raises(UsageError, match="undone already"):
        diary.memory.maintenance.undo(report.run_id)
    with pytest.raises(NotFound, match="no run 99"):
        diary.memory.maintenance.undo(99)


def test_one_run_at_a_time(diary: Diary) -> None:
    store, now = diary.memory.store, diary.clock.now
    token = take_lease(store, "consolidation", holder="elsewhere:1:x", now=now)
    assert token is not None
    with pytest.raises(AlreadyRunning):
        diary.memory.consolidate()
    diary.clock.now += policy.LEASE_MS
    assert diary.memory.consolidate().state == "done"


def test_a_fact_that_is_written_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    diary = Diary(tmp_path)
    diary.says("I live in Oslo.", "I like green tea.")
    diary.night()
    diary.says("I live in Bergen.")
    diary.clock.advance(days=3)
    tea = diary.facts()["I like green tea."]
    with Memory(diary.memory.path, clock=diary.clock, key_file=tmp_path / "key") as other:

        def interfere(phase: str) -> None:
            if phase == "support":
                other.review.feedback(tea.id, right=True)
                other.add_turn("I play the cello.", session="elsewhere")

        diary.memory.consolidate(on_phase=interfere)
    assert diary.facts()["I like green tea."].confidence == policy.FEEDBACK_RIGHT
    assert diary.memory.maintenance.waiting() == 0 or diary.memory.maintenance.waiting() == 1
    diary.night()
    assert "I play the cello." in diary.facts()
    assert diary.memory.check() == []
    diary.memory.close()


# --- killed ---------------------------------------------------------------------------------------

_NIGHT = """
import sys
from factbook.memory import Memory
from factbook.testing import FrozenClock
with Memory(sys.argv[1], clock=FrozenClock(int(sys.argv[2])), key_file=sys.argv[3]) as memory:
    memory.consolidate()
"""


def kill_nights(tmp_path: Path, *, times: int) -> None:
    """Kill consolidations at random moments; the facts at the end are those of a calm night."""
    said = [
        *(f"I live in house number {n} of the long street." for n in range(6)),
        *(f"My friend {name} plays chess." for name in ("Ann", "Bob", "Cid", "Dee", "Eve")),
        "I like green tea.",
        "I hate green tea.",
        "My dog is called Rex.",
        "The name of my dog is Rex.",
        "I work for Northwind Dairy.",
        "My employer is Northwind Dairy.",
    ]
    calm = tmp_path / "calm"
    calm.mkdir()
    wild = tmp_path / "wild"
    wild.mkdir()
    diaries = [Diary(calm), Diary(wild)]
    for diary in diaries:
        diary.says(*said)
        diary.clock.advance(days=1)
    began = time.monotonic()
    diaries[0].memory.consolidate()
    duration = time.monotonic() - began
    path, key = diaries[1].memory.path, wild / "key"
    now = diaries[1].clock.now
    for n in range(times):
        process = forked.start(
            [str(path), str(now), str(key)], env=Cli(home=wild).environment(), script=_NIGHT
        )
        process.ends_within(1.2 * duration * ((n + 1) * 0.618 % 1))
        assert diaries[1].memory.check() == []
    for diary in diaries:  # what a killed night had claimed is free at once
        diary.memory.consolidate()
    assert diaries[1].memory.maintenance.waiting() == 0
    assert _told(diaries[1]) == _told(diaries[0])
    for diary in diaries:
        assert diary.memory.check() == []
        diary.memory.close()


def _told(diary: Diary) -> list[tuple[object, ...]]:
    """Return the facts without what depends on the order of two runs."""
    found = []
    for one in diary.everything():
        stances = [row.stance for row in evidence_of(diary.memory.store, [one.id])[one.id]]
        found.append(
            (
                one.statement,
                one.status,
                round(one.confidence, 9),
                one.evidence_count,
                stances.count(Stance.CONTRADICTS),
            )
        )
    return sorted(found, key=str)


def test_killed_nights_leave_a_clean_file_and_no_double_effect(tmp_path: Path) -> None:
    kill_nights(tmp_path, times=6)


@pytest.mark.slow
def test_two_hundred_killed_nights(tmp_path: Path) -> None:
    kill_nights(tmp_path, times=200)


def test_a_killed_night_is_told_as_failed(tmp_path: Path) -> None:
    diary = Diary(tmp_path)
    diary.says("I live in Oslo.")
    script = textwrap.dedent(_NIGHT).replace(
        "memory.consolidate()", "memory.consolidate(on_phase=lambda one: one == 'judge' and exit())"
    )
    killed = forked.start(
        [str(diary.memory.path), str(diary.clock.now), str(tmp_path / "key")],
        env=Cli(home=tmp_path).environment(),
        script=script.replace("exit()", "__import__('os')._exit(9)"),
    )
    assert killed.wait(60) == 9
    assert diary.memory.maintenance.runs()[0].state == "running"
    diary.memory.consolidate()
    assert [one.state for one in diary.memory.maintenance.runs()] == ["done", "failed"]
    diary.memory.close()


def test_a_killed_rehearsal_leaves_no_copy_of_the_memory(diary: Diary, tmp_path: Path) -> None:
    """A real process, killed in the middle of a real night; every file of the disk is looked at."""
    diary.says("My locker code is 77-zebra-19.", "I like green tea.")
    scratch = tmp_path / "temporary"
    scratch.mkdir()
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from factbook.memory import Memory\n"
        "def begun(phase):\n"
        "    print(phase, flush=True)\n"
        "    time.sleep(60 if phase == 'judge' else 0)\n"
        "with Memory(Path(sys.argv[1]), mode='read', model=None) as memory:\n"
        "    memory.consolidate(dry_run=True, on_phase=begun)\n"
    )
    path = diary.memory.path
    rehearsing = subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        env={**os.environ, "TMPDIR": str(scratch), "HOME": str(scratch)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert rehearsing.stdout is not None
    assert any(line == "judge\n" for line in rehearsing.stdout)
    rehearsing.kill()
    rehearsing.communicate()
    beside = {path.with_name(f"{path.name}{end}") for end in ("", "-wal", "-shm")}
    holding = {
        one for one in tmp_path.rglob("*") if one.is_file() and b"77-zebra-19" in one.read_bytes()
    }
    assert holding
    assert holding <= beside
    assert diary.memory.check() == []
