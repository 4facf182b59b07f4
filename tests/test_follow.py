"""Whoever follows the log of commits sees all that came and went, also from another process."""

from __future__ import annotations

import multiprocessing
import random
import struct
from pathlib import Path

import pytest

from factbook.apply.apply import apply
from factbook.memory import Memory
from factbook.model.facts import At, Trigger
from factbook.model.ops import Op, RecordEpisode, RecordSource, StoreVectors, SupersedeFact
from factbook.store.port import Reads, Store
from factbook.store.rows import Filters
from factbook.store.sqlite import SQLiteStore
from factbook.testing import FrozenClock, sample_episode, sample_fact, sample_source

NOW = 1_790_000_000_000
WHAT = ("episode", "fact", "vector:episode", "vector:fact")
ROUNDS = 15


def write_on(path: Path, seed: int, rounds: int) -> None:
    """Write rows, give some their vectors, late and in no order, and take some away."""
    draw = random.Random(seed)
    store = SQLiteStore(path)
    for n in range(rounds):
        ops: list[Op] = [RecordSource(source=sample_source())]
        for m in range(draw.randrange(4)):
            number = seed * 10_000 + n * 10 + m
            episode = sample_episode(number, text=f"I made note {number}", subject="me")
            ops += [RecordEpisode(episode=episode)]
            ops += [sample_fact(episode, "noted", f"note {number}", embed=True)]
        apply(store, ops, trigger=Trigger.USER_MESSAGE, actor="test", now=NOW)
        for target in ("episode", "fact"):
            waiting = [one for one, _ in store.waiting(target, limit=500)]
            ids = draw.sample(waiting, len(waiting) // 2)
            row = struct.pack("<8e", 1, *[0] * 7)
            op = StoreVectors(target=target, model="m", ids=ids, vectors=row * len(ids), dim=8)
            apply(store, [op], trigger=Trigger.UPKEEP, actor="test", now=NOW)
            kept = store.vectors(target, store.ids(target, Filters()))[0]
            if target == "fact" and len(kept) > 1 and draw.random() < 0.5:
                old, new = draw.sample(kept, 2)
                gone = SupersedeFact(old_id=old, new_id=new, rule="test", detail="later")
                apply(store, [gone], trigger=Trigger.UPKEEP, actor="test", now=NOW)
    store.close()


class Follower:
    """Follows one kind of rows, in pages of a few."""

    def __init__(self, what: str, page: int | None) -> None:
        self.what, self.page = what, page
        self.at = At()
        self.held: set[int] = set()

    def follow(self, reads: Reads) -> None:
        more = True
        while more:
            changes = reads.changed(self.what, self.at, limit=self.page)
            assert changes.last >= self.at
            assert changes.last > self.at or not (changes.came or changes.gone)
            self.held -= set(changes.gone)
            self.held |= set(changes.came)
            self.at, more = changes.last, changes.more


def there(store: Store, what: str) -> set[int]:
    target = what.rpartition(":")[2]
    if what == "fact":  # a row stays, whatever becomes of the fact
        return set(store.facts_by_id(range(1, 1_000)))
    ids = store.ids(target, Filters())
    return set(store.vectors(target, ids)[0] if ":" in what else ids)


@pytest.mark.parametrize("page", [1, 7, None])
def test_a_reader_follows_the_commits_of_other_processes(tmp_path: Path, page: int | None) -> None:
    path = tmp_path / "m.db"
    store = SQLiteStore(path)
    followers = [Follower(what, page) for what in WHAT]
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_on, args=(path, seed, ROUNDS)) for seed in (1, 2)]
    for one in writers:
        one.start()
    heads = [store.head()]
    while any(one.is_alive() for one in writers):
        with store.snapshot() as reads:
            for one in followers:
                one.follow(reads)
                assert one.at.commit <= reads.head().commit
                assert one.held == there(store, one.what)
            heads.append(reads.head())
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    for one in followers:
        one.follow(store)
        assert one.held == there(store, one.what)
        fresh = Follower(one.what, None)
        fresh.follow(store)
        assert fresh.held == one.held
    assert heads == sorted(heads)
    assert all(head.memory <= head.commit for head in heads)
    assert store.check() == []
    store.close()


def test_a_page_may_end_inside_a_commit(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "m.db")
    ops: list[Op] = [RecordSource(source=sample_source())]
    ops += [RecordEpisode(episode=sample_episode(n)) for n in range(1, 6)]
    apply(store, ops, trigger=Trigger.USER_MESSAGE, actor="test", now=NOW)
    first = store.changed("episode", At(), limit=2)
    assert (first.came, first.last, first.more) == ([1, 2], At(1, 2), True)
    second = store.changed("episode", first.last, limit=3)
    assert (second.came, second.last, second.more) == ([3, 4, 5], At(1, 5), False)
    assert store.changed("episode", At(1)).came == []  # behind all of the commit
    assert store.changed("episode", At(1, 0)).came == [1, 2, 3, 4, 5]
    store.close()


def test_the_head_of_one_owner_stays_where_another_writes(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", key_file=tmp_path / "k", clock=FrozenClock(NOW)) as memory:
        store = memory.store
        memory.add_turn("I ski.", owner="ada")
        ada, ben = store.head("ada").memory, store.head("ben").memory
        memory.add_turn("I sing.", owner="ben")
        assert store.head("ada").memory == ada
        assert store.head("ben").memory > ben
        assert store.head() == store.head("ben")
        before = store.head()
        memory.embed()
        assert store.head().commit > before.commit
        assert store.head().memory == before.memory
        memory.remember("I row in the harbour.", owner="ben")
        fact = memory.query_facts(owner="ben")[0]
        memory.review.feedback(
            fact.id, right=False, owner="ben"
        )  # an Op that names no owner is of anybody
        assert store.head("ada").memory == store.head().memory
