"""Parts for tests, shipped to users: a clock that stands still, and samples of what is written.

The contract of every store is `factbook.testing.contract.StoreContract`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from factbook.context import Context, Resources
from factbook.model.facts import (
    Candidate,
    Episode,
    EpisodeKind,
    FactKind,
    Millis,
    Role,
    Source,
    Trust,
)
from factbook.model.ops import AssertFact
from factbook.store.port import Store

DAY: Millis = 24 * 3600 * 1000


class FrozenClock:
    """A clock that moves only when it is told to."""

    def __init__(self, now: Millis = 1_763_700_000_000) -> None:
        self.now = now

    def __call__(self) -> Millis:
        """Return the time."""
        return self.now

    def advance(self, *, days: float = 0.0) -> None:
        """Move the clock; backwards too."""
        self.now += int(days * DAY)


def sample_source(key: str = "file:/logs/a.jsonl") -> Source:
    """Return a source to write with."""
    return Source(
        key=key, kind="session_log", host="claude-code", session="s1", uri="/logs/a.jsonl"
    )


def sample_episode(
    n: int, *, text: str = "Bash\ncommand: ssh root@nas ls", **given: object
) -> Episode:
    """Return the n-th episode of a source; other fields can be given."""
    values: dict[str, object] = {
        "uid": f"call:{n}",
        "source": "file:/logs/a.jsonl",
        "kind": EpisodeKind.TOOL_CALL,
        "role": Role.ASSISTANT,
        "trust": Trust.OBSERVED,
        "text": text,
        "position": n,
        "offset": 100 * n,
        "occurred_at": 1_763_000_000_000 + n * 1000,
        "subject": f"action_{n}",
        "project": "/home/ann/shop",
        **given,
    }
    return Episode(**values)  # type: ignore[arg-type]


def sample_fact(
    episode: Episode, predicate: str, obj: str, *, confidence: float = 1.0, embed: bool = False
) -> AssertFact:
    """Return a claim whose object stands in the episode's text."""
    start = episode.text.index(obj)
    return AssertFact(
        candidate=Candidate(
            subject=episode.subject,
            predicate=predicate,
            object=obj,
            statement=f"{predicate.replace('_', ' ')} {obj}",
            confidence=confidence,
            rule=predicate,
            method="by hand",
            start=start,
            end=start + len(obj),
            kind=FactKind.OBSERVATION,
            embed=embed,
        ),
        episode=episode.uid,
        owner=episode.owner,
        confidence=confidence,
        trust=episode.trust,
        quote=obj,
    )


def context_of(
    store: Store, *, clock: Callable[[], Millis], actor: str = "test", **resources: Any
) -> Context:
    """Return what the parts of a memory are given, over a store alone; nothing is redacted.

    `resources` are those of `Resources`.
    """
    given = Resources(redact=False, **resources)
    return Context(store=store, clock=clock, actor=actor, resources=given)
