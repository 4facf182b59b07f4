"""What a store promises of its vectors, and of what is held for ranking."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import pytest

from factbook.errors import EmbedderMismatch, UsageError
from factbook.model.facts import EVERYONE, At, EpisodeKind, Role
from factbook.store.kinds import EMBED_TASK, EmbedTask
from factbook.store.port import Store
from factbook.store.rows import Filters
from factbook.testing import sample_episode
from factbook.testing.contract.base import NOW, Contract, of, writing

DIM = 8
MODEL = "m1"
# Of unit length; their cosines to the first are 1, 0.6 and 0.
ROWS: Mapping[int, Sequence[float]] = {1: (1.0, 0.0), 2: (0.6, 0.8), 3: (0.0, 1.0)}


def packed(*ids: int) -> bytes:
    zeros = (0.0,) * (DIM - 2)
    return b"".join(struct.pack(f"<{DIM}e", *ROWS[id_], *zeros) for id_ in ids)


def embedded(store: Store, *ids: int, target: str = "episode", model: str = MODEL) -> list[int]:
    with writing(store) as writer:
        return writer.set_vectors(target, ids, packed(*ids), model=model, dim=DIM)


class SearchContract(Contract):
    @of("search")
    def test_what_holds_more_of_the_terms_comes_first(self, store: Store) -> None:
        for target in ("episode", "fact"):
            hits = store.search(target, ["tool", "3"], Filters(), 9)
            assert [id_ for id_, _ in hits] == [3, 1, 2]
            assert hits[0][1] > hits[1][1] == hits[2][1] > 0
            assert store.search(target, ["3", "tool"], Filters(), 1) == hits[:1]
        assert [id_ for id_, _ in store.search("episode", ["TOOLS", "töol"], Filters(), 2)] == [
            1,
            2,
        ]

    @of("waiting", "set_vectors", "vectors", "embedder")
    def test_a_row_waits_until_it_has_its_vector(self, store: Store) -> None:
        assert store.embedder() is None
        assert store.waiting("episode", limit=2) == [(1, "tool 1"), (2, "tool 2")]
        assert store.waiting("episode", limit=9, after=2) == [(3, "tool 3")]
        assert embedded(store, 2, 1) == [2, 1]
        assert embedded(store, 1, 3) == [3]  # it was given one before
        assert store.waiting("episode", limit=9) == []
        assert store.embedder() == (MODEL, DIM)
        assert store.vectors("episode", [3, 1, 9]) == ([1, 3], packed(1, 3))
        with pytest.raises(EmbedderMismatch):
            embedded(store, 1, model="other")

    @of("head")
    def test_every_write_has_the_next_number(self, store: Store) -> None:
        before = store.head()
        embedded(store, 1)
        with writing(store, touches=()):
            pass
        assert store.head().commit == before.commit + 2
        assert store.head().memory == before.commit + 1
        with writing(store, touches={"ann"}):
            pass
        assert store.head("ann").memory == store.head().memory == store.head().commit
        assert store.head("ben").memory == before.commit + 1

    @of("changed")
    def test_what_came_and_went_is_told_in_pages(self, store: Store) -> None:
        assert store.changed("episode", At(), limit=2).came == [1, 2]
        behind = store.changed("episode", store.changed("episode", At(), limit=2).last)
        assert (behind.came, behind.gone, behind.more) == ([3], [], False)
        embedded(store, 3)
        embedded(store, 1, 2)
        first = store.changed("vector:episode", At(), limit=2)
        assert (first.came, first.more) == ([3, 1], True)  # a page may end inside a commit
        with writing(store) as writer:
            writer.drop_vectors("episode", [3, 2])
        then = store.changed("vector:episode", first.last, limit=2)
        assert (then.came, then.gone, then.more) == ([], [2, 3], False)
        assert then.last.commit == store.head().commit
        assert store.changed("vector:episode", then.last) == then._replace(gone=[])
        assert store.changed("vector:fact", At()).came == []

    @of("waiting")
    def test_what_failed_or_is_claimed_waits_behind_the_rest(self, store: Store) -> None:
        def waiting(now: int, *besides: int) -> list[int]:
            rows = store.waiting("episode", limit=9, due=now, besides=besides)
            return [id_ for id_, _ in rows]

        task = EmbedTask("episode", 1, token=7, until=0, attempts=0, error="", aside=False)
        with store.locked() as writer:
            writer.put(EMBED_TASK, [task, task._replace(row_id=2, token=0, until=NOW + 5)])
            writer.put(EMBED_TASK, [task._replace(target="fact", row_id=3)])
        assert waiting(NOW) == [1, 3]
        assert waiting(NOW, 6, 7) == [3]
        assert waiting(NOW + 5, 7) == [2, 3]
        with store.locked() as writer:
            writer.put(EMBED_TASK, [task._replace(aside=True)])
        assert waiting(NOW + 5) == [2, 3]
        assert [id_ for id_, _ in store.waiting("episode", limit=9)] == [1, 2, 3]

    @of("nearest")
    def test_the_nearest_are_exact_and_pass_the_filters(self, store: Store) -> None:
        import numpy as np

        with writing(store) as writer:
            writer.add_episodes([(1, sample_episode(4, text="tool 4", owner="ann"))])
        assert embedded(store, 1, 2, 3) == [1, 2, 3]
        asked = np.zeros((2, DIM), np.float32)
        asked[0, 0] = asked[1, 1] = 1.0
        for filters, k, first, second in (
            (Filters(), 9, [1, 2, 3], [3, 2, 1]),
            (Filters(), 1, [1], [3]),
            (Filters(owner=EVERYONE), 2, [1, 2], [3, 2]),
            (Filters(owner="ann"), 9, [], []),
            (Filters(ids=[3, 2]), 9, [2, 3], [3, 2]),
            (Filters(until=1_763_000_000_000 + 3000), 9, [1, 2], [2, 1]),
        ):
            for_first, for_second = store.nearest("episode", asked, filters, k)
            assert (for_first.ids.tolist(), for_second.ids.tolist()) == (first, second)
            for hits, n in ((for_first, 0), (for_second, 1)):
                cosines = [ROWS[row][n] for row in hits.ids.tolist()]
                assert hits.cosines.tolist() == pytest.approx(cosines, abs=2e-3)

    @of("drop_vectors")
    def test_a_vector_that_is_dropped_is_not_found(self, store: Store) -> None:
        import numpy as np

        with writing(store) as writer:
            writer.drop_vectors("episode", [1])
        assert len(store.waiting("episode", limit=9)) == 3  # it goes on waiting
        embedded(store, 1, 2, 3)
        with writing(store) as writer:
            writer.drop_vectors("episode", [1, 9])
        assert store.vectors("episode", [1, 2]) == ([2], packed(2))
        assert store.waiting("episode", limit=9) == []
        [hits] = store.nearest("episode", np.eye(1, DIM, dtype=np.float32), Filters(), 9)
        assert hits.ids.tolist() == [2, 3]

    @of("replace_vectors", "embedder", "waiting", "set_vectors", "vectors")
    def test_another_model_takes_over_at_once(self, store: Store) -> None:
        def give_next(*ids: int) -> list[int]:
            with writing(store) as writer:
                given = packed(*ids)
                return writer.set_vectors("episode", ids, given, model="m2", dim=DIM, next=True)

        embedded(store, 1, 2)
        assert [id_ for id_, _ in store.waiting("episode", limit=9, next=True)] == [1, 2]
        assert give_next(1) == [1]
        assert store.embedder(next=True) == ("m2", DIM)
        assert store.embedder() == (MODEL, DIM)
        with writing(store) as writer, pytest.raises(UsageError):
            writer.replace_vectors(model="m2", dim=DIM)
        assert give_next(2) == [2]
        with writing(store) as writer:
            assert writer.replace_vectors(model="m2", dim=DIM) == 2
        assert (store.embedder(), store.embedder(next=True)) == (("m2", DIM), None)
        assert store.vectors("episode", [1, 2, 3]) == ([1, 2], packed(1, 2))

    @of("outlines")
    def test_outlines_reach_into_the_source(self, store: Store) -> None:
        asks = sample_episode(4, text="ann: why?", owner="me", speaker="ann", occurred_at=None)
        with writing(store) as writer:
            writer.add_episodes([(1, asks), (2, sample_episode(5, text="tool 5", owner="ann"))])
        outlines = store.outlines([4, 1, 9])
        assert (outlines.ids.tolist(), outlines.sources.tolist()) == ([1, 4], [1, 1])
        assert (outlines.chars.tolist(), outlines.asks.tolist()) == ([6, 9], [False, True])
        assert list(outlines.speakers) == ["", "ann"]
        assert outlines.times[0] == 1_763_000_001_000.0
        assert outlines.times[1] != outlines.times[1]  # unknown
        assert store.outlines([1], reach=1).ids.tolist() == [1, 2]
        assert store.outlines([3], reach=2).ids.tolist() == [1, 2, 3, 4]
        assert store.outlines([3, 5], owner="ann").ids.tolist() == [5]
        assert (store.outlines([4]).positions - store.outlines([1]).positions).tolist() == [3]

    @of("turns")
    def test_a_turn_goes_from_its_prompt_to_the_next_of_its_source(self, store: Store) -> None:
        prompt = {"kind": EpisodeKind.PROMPT, "role": Role.USER}
        with writing(store) as writer:
            writer.add_episodes(
                [
                    (2, sample_episode(4, text="why?", **prompt)),
                    (2, sample_episode(5, text="look")),
                    (1, sample_episode(6, text="of another source")),
                    (2, sample_episode(7, text="ours", injected=True, **prompt)),
                    (2, sample_episode(8, text="so", **prompt)),
                    (2, sample_episode(9, text="done")),
                    (2, sample_episode(10, text="somebody else's", owner="ann")),
                ]
            )
        turns = store.turns([9, 4, 7, 6, 1, 10, 99])
        assert {id: [n for n, _ in records] for id, records in turns.items()} == {
            4: [4, 5],
            9: [8, 9],
        }
        assert [kind for _, kind in turns[9]] == [EpisodeKind.PROMPT, EpisodeKind.TOOL_CALL]
        assert store.turns([]) == {}

    @of("speakers")
    def test_who_speaks_is_known_of_every_owner(self, store: Store) -> None:
        rows = [
            (1, sample_episode(4, text="bob: yes", speaker="bob")),
            (1, sample_episode(5, text="eve: no", speaker="eve", owner="ann")),
            (1, sample_episode(6, text="bob: no", speaker="bob")),
        ]
        with writing(store) as writer:
            writer.add_episodes(rows)
        assert list(store.speakers("me")) == ["bob"]
        assert list(store.speakers("ann")) == ["eve"]
        assert sorted(store.speakers(EVERYONE)) == ["bob", "eve"]
        assert list(store.speakers("zoe")) == []
