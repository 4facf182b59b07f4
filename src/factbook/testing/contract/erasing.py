"""What a store promises where an erasure changes what else is never changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from factbook.errors import UsageError
from factbook.model.facts import EVERYONE, Episode, EpisodeKind, ErasureAct, Role
from factbook.store.kinds import EPISODE, ERASED, ERASURE, EVENT, ErasedRow, Tally
from factbook.store.port import Store, Writer
from factbook.store.rows import Filters, LifeWhere
from factbook.testing import sample_episode
from factbook.testing.contract.base import NOW, SOURCES, Contract, of, writing
from factbook.testing.contract.examples import EXAMPLES
from factbook.testing.contract.search import embedded


def begun(writer: Writer) -> None:
    writer.add(ERASURE, [ErasureAct(0, NOW, "test", "episode", {}, clean=False, allowed_at=None)])


def rewritten(store: Store, id: int, **other: Any) -> Episode:
    [kept] = store.whole_episodes([id])
    after = replace(kept.episode, **other)
    with writing(store) as writer:
        writer.rewrite_episodes({id: after})
    return after


class ErasingContract(Contract):
    @of("rewrite_episodes")
    def test_a_rewritten_episode_says_what_it_says_then(self, store: Store) -> None:
        assert embedded(store, 1, 2) == [1, 2]
        after = rewritten(
            store,
            1,
            attributes={"page": "9"},
            text="naïve ██?",
            uid="other",
            owner="ann",
            subject="s",
            group="g",
            session="x",
            project="/p",
            branch="b",
            agent="a",
            tool="t",
            call_id="c",
            occurred_at=None,
            position=7,
            offset=70,
            is_error=True,
            cut=3,
            speaker="bob",
            pasted=((0, 2),),
        )
        assert [kept.episode for kept in store.whole_episodes([1])] == [after]
        assert store.heads([1])[1].attributes == {"page": "9", "pasted": "0-2"}
        hits = store.search("episode", ["tool"], Filters(owner=EVERYONE), 9)
        assert sorted(id_ for id_, _ in hits) == [2, 3]
        hits = store.search("episode", ["naive"], Filters(owner="ann"), 9)
        assert [id_ for id_, _ in hits] == [1]
        assert store.vectors("episode", [1, 2])[0] == [2]
        assert store.waiting("episode", limit=9) == [(1, "naïve ██?"), (3, "tool 3")]

    @of("rewrite_episodes")
    def test_a_rewritten_episode_that_needs_no_vector_waits_for_none(self, store: Store) -> None:
        with writing(store) as writer:
            writer.add_episodes([(1, sample_episode(4, embed=False))])
        rewritten(store, 4, text="x")
        rewritten(store, 1, text="", injected=True)
        embedded(store, 2)
        rewritten(store, 2, text="", embed=False)
        assert store.waiting("episode", limit=9) == [(3, "tool 3")]
        assert store.ids("episode", Filters()) == [2, 3, 4]

    @of("rewrite_episodes")
    def test_a_source_counts_and_dates_what_is_not_erased(self, store: Store) -> None:
        for erased, count in (((), 3), ((2, 3), 1)):
            with writing(store) as writer:
                begun(writer)
                writer.add(ERASED, [ErasedRow("episode", id_, 1) for id_ in erased])
            at = rewritten(store, 1, text="tool 1").occurred_at
            [source] = store.sources(ids=[1])
            assert (source.episode_count, source.first_at) == (count, at)
        assert source.last_at == at

    @of("sources", "put_sources")
    def test_an_erased_source_is_none_any_more(self, store: Store) -> None:
        [state] = store.sources(ids=[1])
        blank = replace(state, source=replace(state.source, key="erased:1", uri="", title=""))
        with writing(store) as writer:
            assert writer.put_sources([blank]) == [1]
            [stored] = writer.sources(keys=["erased:1"])
            assert stored.source == blank.source
            begun(writer)
            writer.add(ERASED, [ErasedRow("source", 1, 1)])
            assert writer.sources(ids=[1]) == []
        assert [source.source.key for source in store.sources()] == [*SOURCES[1:]]

    @of("put_facts")
    def test_a_fact_that_says_something_else_is_found_by_that(self, store: Store) -> None:
        [before] = store.lives(LifeWhere(ids=[1]))
        after = before._replace(statement="nothing", object="", subject="", claim=b"x")
        with writing(store) as writer:
            writer.put_facts([(before, after)])
        assert store.lives(LifeWhere(ids=[1])) == [after]
        assert [id_ for id_, _ in store.search("fact", ["nothing"], Filters(), 9)] == [1]
        assert sorted(id_ for id_, _ in store.search("fact", ["tool"], Filters(), 9)) == [2, 3]

    @of("tally")
    def test_episodes_are_counted_by_their_fields(self, store: Store) -> None:
        times = [head.occurred_at for head in store.heads([1, 2, 3]).values()]
        other = sample_episode(4, owner="ann", role=Role.USER, kind=EpisodeKind.TURN, injected=True)
        with writing(store) as writer:
            writer.add_episodes([(2, other)])
        everybody = {"owner": EVERYONE}
        assert store.tally(EPISODE, ["source_id", "owner"], everybody, most="occurred_at") == {
            (1, "me"): Tally(3, max(time for time in times if time)),
            (2, "ann"): Tally(1, other.occurred_at),
        }
        for where, ids in (
            ({"source_id": [1, 9], "owner": EVERYONE}, [(1,), (2,), (3,)]),
            ({"owner": "ann", "kind": EpisodeKind.TURN, "role": Role.USER}, [(4,)]),
            ({"owner": "me", "role": Role.USER}, []),
        ):
            assert sorted(store.tally(EPISODE, ["id"], where)) == ids
        with pytest.raises(UsageError):
            store.tally(EPISODE, ["id"])

    @of("rewrite_history")
    def test_only_an_erasure_makes_the_history_shorter(self, store: Store) -> None:
        event, other, _ = EXAMPLES[EVENT]
        with writing(store) as writer:
            writer.add(EVENT, [event, other])
            begun(writer)
        for details, erasure_id in (
            ({2: {}}, 2),
            ({2: {**other.detail, "more": 1}}, 1),
            ({1: {"n": 1}}, 1),
            ({9: {}}, 1),
        ):
            with writing(store) as writer, pytest.raises(UsageError):
                writer.rewrite_history(details, erasure_id)
        with writing(store) as writer:
            writer.rewrite_history({2: {"loser": 3}}, 1)
        assert store.find(EVENT) == [event, other._replace(detail={"loser": 3})]
