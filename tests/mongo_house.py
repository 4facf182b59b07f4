"""Files that share one tenant's record in MongoDB, and what is said in them."""

from __future__ import annotations

import contextlib
import uuid
from pathlib import Path
from typing import Any

from factbook.gate.grounding import read_passage
from factbook.gate.typed_claims import judge_typed
from factbook.memory import Memory
from factbook.model.facts import EVERYONE, FactKind, Status
from factbook.model.memory_types import MemoryType, TypedClaim
from factbook.store.rows import LifeWhere, RejectionFilters
from factbook.testing import FrozenClock
from mongo_servers import documents_of

SUMMARY = """\
User: "I absolutely love fettuccini. I live in Kiel with two dogs."

User asked: "Can you break this down step by step?"
Later: "Could you walk me through the algorithm step by step?"
Requested detailed explanation with examples.
"""
AGAIN = 'User: "As I said before, I absolutely love fettuccini."'
LOVES = ("Loves fettuccini", MemoryType.USER_FACT, 0.95)
LIVES = ("Lives in Kiel", MemoryType.USER_FACT, 0.95)
STEPS = ("Prefers step-by-step explanations", MemoryType.USER_PATTERN, 0.9)
MAYBE = ("Asks for things step by step", MemoryType.USER_PATTERN, 0.77)
WRONG = ("Works as a radiologist", MemoryType.USER_FACT, 0.95)


class House:
    """Files that share one tenant's record."""

    def __init__(self, server: str, folder: Path) -> None:
        self.address = server
        self.database = f"test_{uuid.uuid4().hex[:12]}"
        self.folder = folder
        self.clock = FrozenClock()
        self._open = contextlib.ExitStack()

    def url(self, address: str = "") -> str:
        return (
            f"mongodb://{address or self.address}/{self.database}?directConnection=true"
            "&socketTimeoutMS=1500&serverSelectionTimeoutMS=1500"
        )

    def file(self, name: str, *, tenant: str = "house", address: str = "") -> Memory:
        memory = Memory(
            self.folder / f"{name}.db",
            clock=self.clock,
            key_file=self.folder / "key",
            model=None,
            typed_store=self.url(address),
            tenant=tenant,
        )
        return self._open.enter_context(memory)

    def close(self) -> None:
        self._open.close()

    def documents(self) -> dict[str, list[dict[str, Any]]]:
        return documents_of(self.address, self.database)


def keep(
    memory: Memory, said: tuple[str, MemoryType, float], *, owner: str = "me", text: str = SUMMARY
) -> None:
    claim = TypedClaim(text=said[0], type=said[1], confidence=said[2], reasoning="it was said")
    verdict = judge_typed(claim, read_passage(text))
    memory.typed.keep_verdict(verdict, summary=text, owner=owner)


def told(memory: Memory, owner: Any = EVERYONE) -> list[tuple[Any, ...]]:
    """Return everything that a memory says of its typed memories, without its own numbers."""
    lives = memory.store.lives(LifeWhere(kinds=[FactKind.TYPED], owner=owner))
    facts = []
    for life in lives:
        if life.status is Status.ERASED:
            continue
        explained = memory.explain(life.id, owner=EVERYONE)
        status = Status.ACTIVE if life.status is Status.PENDING_EMBED else life.status
        evidence = sorted(
            (one.rule, one.quote, one.stance, one.source) for one in explained.evidence
        )
        history = [(one.at, one.op, one.actor, one.trigger) for one in explained.history]
        facts.append(
            (
                *(life.owner, life.predicate, life.statement, status, life.confidence),
                *(life.confidence_at, life.evidence_count, life.learned_at, life.pinned),
                *(life.retired_at is None, evidence, history),
            )
        )
    refused = [
        (one.at, one.excerpt, one.reason, one.owner, one.type, one.confidence)
        for one in memory.sources.rejections(filters=RejectionFilters(owner=owner))
        if one.type
    ]
    proposed = [
        (one.title, one.state, one.payload.get("owner"), one.payload.get("confidence"))
        for state in ("open", "accepted", "refused", "edited")
        for one in memory.review.proposals(state=state, owner=owner)
    ]
    return [sorted(facts, key=str), sorted(refused, key=str), sorted(proposed, key=str)]  # type: ignore[list-item]
