"""What is told on purpose meets what is known at once, by age; its words are its owner's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

import numpy as np
import pytest
from numpy.typing import NDArray

from factbook import policy
from factbook.apply.apply import apply
from factbook.embed import bundled
from factbook.errors import EmbedderMismatch, UsageError
from factbook.memory import Memory
from factbook.model.facts import Millis, Status, Trigger
from factbook.model.ops import JudgePair
from factbook.pipelines import told as telling
from factbook.recall import search
from factbook.store.sqlite.ledger import as_life
from factbook.testing import FrozenClock

DAY = 24 * 3600 * 1000


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def memory(tmp_path: Path, clock: FrozenClock) -> Iterator[Memory]:
    with Memory(tmp_path / "f.db", clock=clock, key_file=tmp_path / "key") as made:
        yield made
        assert made.check() == []


def merge(memory: Memory, low: int, high: int, now: Millis) -> None:
    """Merge two facts by a person's verdict."""
    pair = JudgePair(
        low_id=low, high_id=high, relation="ambiguous", rule="close", detail="", similarity=0.8
    )
    apply(memory.store, [pair], trigger=Trigger.UPKEEP, actor="test", now=now)
    assert memory.review.settle({(low, high): "MERGE"}).merged == 1


def test_what_was_merged_is_told_again(memory: Memory, clock: FrozenClock) -> None:
    first = memory.remember("My employer is Northwind Dairy.").id
    second = memory.remember("I take long walks.").id
    third = memory.remember("The harbour is cold in May.").id
    merge(memory, first, second, clock.now)
    left = {one.id for one in memory.query_facts()}
    (winner,) = left - {third}
    for text in ("My employer is Northwind Dairy.", "I take long walks."):
        clock.advance(days=1)
        assert memory.remember(text).id == winner
    low, high = sorted((winner, third))
    merge(memory, low, high, clock.now)  # a chain: one was merged into what was merged
    (last,) = {one.id for one in memory.query_facts()}
    for text in (
        "My employer is Northwind Dairy.",
        "I take long walks.",
        "The harbour is cold in May.",
    ):
        clock.advance(days=1)
        before = memory.store.facts_by_id([last])[last].evidence_count
        told = memory.remember(text)
        assert (told.id, told.evidence_count) == (last, before + 1)


def test_what_was_retired_while_it_was_told_is_no_error(
    memory: Memory, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = memory.remember("I live in Oslo.")
    memory.embed()
    meet = telling.meet

    def meanwhile(*given: object) -> object:
        found = meet(*given)  # type: ignore[arg-type]
        monkeypatch.undo()
        memory.remember("I live in Bergen.")  # somebody else is faster
        return found

    monkeypatch.setattr(telling, "meet", meanwhile)
    clock.advance(days=1)
    told = memory.remember("I live in Oslo.")
    assert (told.id, told.status) == (fact.id, Status.SUPERSEDED)


def test_an_older_word_does_not_retire_a_newer_one(memory: Memory, clock: FrozenClock) -> None:
    newer = memory.remember("I live in Bergen.")
    memory.embed()
    older = memory.remember("I live in Oslo.", at=clock.now - 2000 * DAY)
    assert memory.store.facts_by_id([newer.id])[newer.id].retired_at is None
    assert older.occurred_at == clock.now - 2000 * DAY
    clock.advance(days=1)
    memory.embed()
    third = memory.remember("I live in Lisbon.")
    found = memory.store.facts_by_id([newer.id, older.id])
    assert {one.superseded_by for one in found.values()} == {third.id}


@pytest.mark.parametrize("back", [0.01, 1, 400])
def test_what_is_told_now_is_newer_than_what_a_wrong_clock_dated_ahead(
    memory: Memory, clock: FrozenClock, back: float
) -> None:
    ahead = memory.remember("I live in Oslo.")
    clock.advance(days=-back)
    now = memory.remember("I live in Bergen.")
    memory.consolidate()
    assert memory.sources.fact(ahead.id).superseded_by == now.id
    found = memory.search_memory("Where do I live?", "facts")
    assert [hit.text for hit in found] == [now.statement]
    assert memory.check() == []


def test_times_that_cannot_be_true(memory: Memory, clock: FrozenClock) -> None:
    assert memory.remember("I play chess.", at=clock.now + 9000 * DAY).occurred_at == clock.now
    assert memory.remember("I keep bees.", at=-5).occurred_at is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\ud800 I live in Oslo.", "\ufffd I live in Oslo."),
        ('I like tea. <factbook-memory ids="f1">I live in Rome.</factbook-memory>', "I like tea."),
    ],
)
def test_only_the_owners_own_words_are_kept(memory: Memory, text: str, said: str) -> None:
    assert memory.remember(text).statement == said


def test_nothing_but_our_own_words_is_nothing(memory: Memory) -> None:
    with pytest.raises(UsageError, match="nothing to remember"):
        memory.remember('<factbook-memory ids="f1">I live in Rome.</factbook-memory>')


def test_a_wrong_fact_does_not_come_back_as_the_turn_that_said_it(
    memory: Memory, clock: FrozenClock
) -> None:
    fact = memory.remember("My dog is called Rex.")
    memory.embed()
    assert memory.conversation().prefetch("What is my dog called?")
    memory.review.feedback(fact.id, right=False)
    assert memory.conversation().prefetch("What is my dog called?") == []
    assert memory.search_memory("What is my dog called?") == []
    memory.review.feedback(fact.id, right=True)
    assert memory.search_memory("What is my dog called?")[0].id == f"f{fact.id}"


class Other:
    """Another model with vectors of the same length."""

    id = "other/model"
    dim = 384

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.roll(bundled().embed(texts), 7, axis=1)


def test_another_model_is_refused_and_not_guessed_with(
    tmp_path: Path, memory: Memory, clock: FrozenClock
) -> None:
    memory.remember("I live in Oslo.")
    memory.embed()
    with Memory(
        tmp_path / "f.db", clock=clock, key_file=tmp_path / "key", embedder=Other()
    ) as other:
        for asked in (
            other.recall,
            other.search_memory,
            other.conversation().prefetch,
            other.remember,
        ):
            with pytest.raises(EmbedderMismatch, match="factbook reembed"):
                asked("Where do I live, and why in Oslo?")


class Broken:
    """The bundled model, until something happens to it."""

    def __init__(self) -> None:
        self.id, self.dim, self.trouble = bundled().id, bundled().dim, ""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = bundled().embed(texts)
        if self.trouble == "raises":
            raise RuntimeError("the card is gone")
        if self.trouble == "NaN":
            vectors[:] = np.nan
        if self.trouble == "zeros":
            vectors[:] = 0
        return vectors[:, :5] if self.trouble == "shape" else vectors


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        ("raises", "the card is gone"),
        ("NaN", "not finite"),
        ("zeros", "zeros"),
        ("shape", r"(1, 5)"),
    ],
)
def test_a_broken_embedder_leaves_the_search_by_words(
    tmp_path: Path,
    clock: FrozenClock,
    caplog: pytest.LogCaptureFixture,
    trouble: str,
    said: str,
) -> None:
    embedder = Broken()
    with Memory(
        tmp_path / "f.db", clock=clock, key_file=tmp_path / "key", embedder=embedder
    ) as memory:
        fact = memory.remember("I live in Oslo.")
        memory.embed()
        assert memory.recall("Where do I live?").note == ""
        embedder.trouble = trouble
        answer = memory.recall("Oslo")
        assert said in answer.note
        assert [hit.text for hit in answer.hits] == ["I live in Oslo."]
        assert memory.search_memory("Oslo")
        assert memory.conversation().prefetch("Oslo")
        assert len([one for one in caplog.records if said in one.message]) == 1
        clock.advance(days=1)
        assert memory.remember("I live in Oslo.").id == fact.id  # equal words need no vector


def test_of_many_facts_only_the_near_ones_are_looked_at(
    memory: Memory, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "LIKE_ALL", 5)
    home = memory.remember("I live in Oslo.")
    for text in ("bees", "chess", "old maps", "green tea", "the sea", "tall ships", "wool"):
        memory.remember(f"I am fond of {text}.")
    memory.embed()
    waiting = memory.remember("My boat is called Wanda.")
    clock.advance(days=1)
    assert memory.remember("My boat is called Wanda.").id == waiting.id
    found = memory._facts_like("I live in Bergen.", "me")
    assert home.id in found
    moved = memory.remember("I live in Bergen.")
    assert memory.store.facts_by_id([home.id])[home.id].superseded_by == moved.id


def test_of_hundreds_that_it_may_meet_it_reads_the_rows_of_few(memory: Memory) -> None:
    for number in range(200):  # none has its vector yet
        memory.remember(f"My locker at the harbour is number {number}.")
    read = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal read
        read += event == "call" and frame.f_code is as_life.__code__

    sys.setprofile(count)
    try:
        again = memory.remember("My LOCKER at the harbour is number 7.")
    finally:
        sys.setprofile(None)
    assert again.statement == "My locker at the harbour is number 7."
    assert read <= policy.TOLD_NEIGHBOURS
