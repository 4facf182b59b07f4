"""What the parts of the contract share: the store under test, and which verbs a test is of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from factbook.model.facts import (
    EVERYONE,
    Everyone,
    FactKind,
    Millis,
    SourceState,
    Stance,
    Status,
    Trust,
)
from factbook.store.port import Store, Writer
from factbook.store.rows import EvidenceRow, Life, claim_digest
from factbook.testing import sample_episode, sample_source

_F = TypeVar("_F", bound=Callable[..., object])
NOW: Millis = 1_763_700_000_000
SOURCES = ("file:/logs/a.jsonl", "b", "c")


def of(*verbs: str) -> Callable[[_F], _F]:
    """Say which verbs a test is of: it fails where one of them does not do what it promises."""

    def marked(test: _F) -> _F:
        test.verbs = verbs  # type: ignore[attr-defined]
        return test

    return marked


def verbs_of(tests: type) -> dict[str, list[str]]:
    """Return the tests of each verb that a test of the class is marked with."""
    by_verb: dict[str, list[str]] = {}
    for name in dir(tests):
        for verb in getattr(getattr(tests, name), "verbs", ()):
            by_verb.setdefault(verb, []).append(name)
    return by_verb


def writing(
    store: Store, *, touches: Collection[str] | Everyone = EVERYONE
) -> AbstractContextManager[Writer]:
    """Open a write of nobody in particular."""
    return store.writing(now=NOW, touches=touches)


def life(n: int, **other: Any) -> Life:
    """Return the row of the n-th fact, which its n-th episode says; other fields can be given."""
    row = Life(
        id=0,
        owner="me",
        subject=f"action_{n}",
        predicate="used_tool",
        object=f"tool {n}",
        statement=f"used tool {n}",
        kind=FactKind.OBSERVATION,
        status=Status.ACTIVE,
        confidence=1.0,
        confidence_at=NOW + n,
        trust=Trust.OBSERVED,
        evidence_count=1,
        occurred_at=1_763_000_000_000 + n * 1000,
        retired_at=None,
        valid_to=None,
        merged_into_id=None,
        superseded_by=None,
        pinned=False,
        embeddable=False,
        episode_id=n,
        claim=b"",
    )._replace(**other)
    claim = claim_digest(row.owner, row.subject, row.predicate, row.object)
    return row._replace(claim=row.claim or claim)


def evidence(fact_id: int, episode_id: int, **other: Any) -> EvidenceRow:
    """Return that an episode says a fact; other fields can be given."""
    quote = f"tool {episode_id}"
    row = EvidenceRow(
        fact_id, episode_id, "used_tool", "by hand", Stance.SUPPORTS, quote, 0, len(quote)
    )
    return row._replace(**other)


def fill(store: Store) -> None:
    """Write three sources, and episodes and facts of the ids 1, 2 and 3.

    The episodes say "tool 1" to "tool 3" in the first source, the facts the same.
    """
    with writing(store) as writer:
        writer.put_sources([SourceState(source=sample_source(key)) for key in SOURCES])
        writer.add_episodes([(1, sample_episode(n, text=f"tool {n}")) for n in (1, 2, 3)])
        writer.add_facts([life(n) for n in (1, 2, 3)])
        writer.add_evidence([evidence(n, n) for n in (1, 2, 3)])


class Contract(ABC):
    """A store to test, and what its tests begin with."""

    @abstractmethod
    def open(self, path: Path, *, tenant: str = "one") -> Store:
        """Open, or make, a tenant's store at a place that is the test's own.

        The same place and name are the same tenant, also after the store was closed.
        """

    @pytest.fixture
    def empty(self, tmp_path: Path) -> Iterator[Store]:
        store = self.open(tmp_path)
        yield store
        store.close()

    @pytest.fixture
    def store(self, empty: Store) -> Store:
        fill(empty)
        return empty

    @pytest.fixture
    def ledger(self, empty: Store) -> Iterator[Store]:
        """Give a store that holds nothing, and audit it at the end."""
        yield empty
        assert empty.check() == []
