"""What is counted over the verbs of a store is the same of every store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from factbook.model.facts import EpisodeKind, FactKind, Status
from factbook.store.derived.counts import (
    count_waiting,
    fact_states,
    has_others,
    predicate_counts,
    row_counts,
    row_owners,
    rule_counts,
)
from factbook.store.derived.ledger import said_before
from factbook.store.kinds import PROPOSAL, REJECTION, Refusal
from factbook.store.port import Store
from factbook.store.sqlite import SQLiteStore
from factbook.testing import sample_episode
from factbook.testing.contract.base import NOW, evidence, fill, life, writing
from factbook.testing.contract.examples import proposal
from factbook.testing.memory_store import open_memory

DAY = 86_400_000


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    is_file = request.param == "sqlite"
    store: Store = (
        SQLiteStore(tmp_path / "m.db") if is_file else open_memory(f"memory://{tmp_path}")
    )
    fill(store)
    yield store
    store.close()


def test_facts_stand_by_what_their_confidence_is_then(store: Store) -> None:
    told = {"kind": FactKind.STATEMENT, "confidence_at": NOW, "predicate": "said", "object": "x"}
    with writing(store) as writer:
        writer.add_facts(
            [
                life(4, episode_id=1, **told),
                life(5, episode_id=1, confidence=0.5, **told),
                life(6, episode_id=1, status=Status.PROPOSED, **told),
                life(7, episode_id=1, status=Status.SUPERSEDED, retired_at=NOW, **told),
            ]
        )
    assert fact_states(store, now=NOW) == {
        "active": 4,
        "proposed": 1,
        "superseded": 1,
        "tool_only": 1,
    }
    assert fact_states(store, now=NOW + 1000 * DAY) == {
        "active": 3,  # what was observed does not fade
        "deprecated": 2,
        "proposed": 1,
        "superseded": 1,
    }
    assert predicate_counts(store) == [("said", 1.0, 3, 1), ("used_tool", 1.0, 3, 3)]


def test_rules_are_counted_by_their_evidence(store: Store) -> None:
    with writing(store) as writer:
        writer.add_evidence([evidence(1, 2, rule="other")])
    assert rule_counts(store) == {"other": 1, "used_tool": 3}
    assert count_waiting(store) == 3
    with writing(store) as writer:
        writer.set_vectors("episode", [2], b"\0\0", model="m", dim=1)
    assert count_waiting(store) == 2
    assert row_counts(store) == {
        "sources": 3,
        "episodes": 3,
        "facts": 3,
        "evidence": 4,
        "events": 0,
        "rejections": 0,
        "episodes_waiting": 2,
        "facts_waiting": 0,
        "episode_vectors": 1,
        "fact_vectors": 0,
    }


def test_whose_a_row_is_and_whether_there_are_others(store: Store) -> None:
    assert not has_others(store, "me")
    assert has_others(store, "ann")
    with writing(store) as writer:
        writer.add_episodes([(2, sample_episode(4, text="tool 4", owner="ann"))])
        writer.add(PROPOSAL, [proposal(1, b"a", payload={"owner": "ann"})])
        writer.add(PROPOSAL, [proposal(2, b"b", payload={})])
        refusals = [
            Refusal(n, bytes([n]), NOW, 2, None, 0, 0, "", "", "", owner=owner)
            for n, owner in ((1, "bob"), (2, ""))
        ]
        writer.add(REJECTION, refusals)
    assert has_others(store, "me")
    for target, row_id, owners in (
        ("episode", 4, {"ann"}),
        ("episode", 9, set()),
        ("fact", 3, {"me"}),
        ("source", 1, {"me"}),
        ("source", 2, {"ann"}),
        ("proposal", 1, {"ann"}),
        ("proposal", 2, {"me"}),
        ("rejection", 1, {"bob"}),
        ("rejection", 2, {"ann"}),
        ("entity", 7, set()),
        ("search_task", 7, set()),
    ):
        assert row_owners(store, target, row_id) == owners, target


def test_what_was_said_before_is_of_the_same_conversation(store: Store) -> None:
    sessions = ("s", "", "s", "t", "", "s")
    with writing(store) as writer:
        ids = writer.add_episodes(
            [
                (2, sample_episode(n, text=f"said {n}", kind=EpisodeKind.TURN, session=session))
                for n, session in enumerate(sessions, 10)
            ]
        )
    episodes = store.episodes_by_id(ids)

    def before(n: int, limit: int = 9) -> list[str]:
        return [one.text for one in said_before(store, episodes[ids[n]], limit=limit)]

    assert before(5) == ["said 12", "said 10"]
    assert before(5, limit=1) == ["said 12"]
    assert before(4, limit=1) == ["said 11"]
    assert before(1) == before(3) == []
