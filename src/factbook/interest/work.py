"""The loops of the work behind, over one memory (seed 003): what each step is, and its bounds.

In their order: make the searches that wait, read what is unread, embed, tell, and when nothing of
that is left look something up by itself; once a day, clean. Each is separate, each can be off.

Knows: the steps of `Background`. Does not know: what they do, or when nobody acts (`loops.Worker`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.embed.minilm import BundledEmbedder
from factbook.errors import FactbookError
from factbook.interest.loops import Budget, Loop, LoopResult
from factbook.model import EVERYONE
from factbook.upkeep.embedding import EmbeddingQueue

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.interest.background import Background
    from factbook.interest.deliver import Channel

__all__ = ["NAMES", "loops_of", "prepare"]

NAMES: Final = ("searches", "extraction", "embedding", "notices", "enrichment", "cleaner")
_SECOND: Final = 1_000
_HOUR: Final = 3_600 * _SECOND
SMALL_BATCH: Final = 16  # ours: texts embedded between two looks at whether somebody acts
STEPS_PER_MINUTE: Final = 600  # ours: of one loop; a bound against a loop that never ends


def loops_of(
    steps: Background, context: Context, channels: Sequence[Channel], *, off: Collection[str]
) -> list[Loop]:
    """Return the loops over a memory, in their order; those in `off` are there and do not run."""
    queue = EmbeddingQueue(context)

    def searches() -> LoopResult:
        planned = steps.plan_learning().searches + steps.run_schedules().searches
        if not context.resources.has_search:
            return LoopResult(did=planned)
        done = steps.run_searches(limit=1)  # those that fail are passed over
        if done.failed and not done.made:
            raise _failed(done.failed)
        return LoopResult(did=planned + done.made, more=bool(done.made), note=_said(done.failed))

    def extraction() -> LoopResult:
        done = steps.run_extraction(limit=1)
        if done.failed and not done.pieces:
            raise _failed(done.failed)
        note = _said(done.failed) or done.note
        return LoopResult(did=done.pieces, more=bool(done.pieces), note=note)

    def embedding() -> LoopResult:
        done = queue.drain(limit=SMALL_BATCH)
        return LoopResult(did=done.receipt.embedded, more=done.claimed == SMALL_BATCH)

    def notices() -> LoopResult:
        done = steps.notifier(channels, owner=EVERYONE).pass_once()
        return LoopResult(did=len(done.sent) + done.failed, note="; ".join(done.problems))

    def enrichment() -> LoopResult:
        if not context.resources.has_search:
            return LoopResult(note="no search provider is configured")
        done = steps.run_enrichment()
        return LoopResult(did=int(bool(done.query)), note=done.why or done.query)

    def cleaner() -> LoopResult:
        last = context.store.mark("cleaned_at")
        if last and context.clock() - last < policy.CLEANER_EVERY_MS:
            return LoopResult()
        done = steps.clean()
        return LoopResult(did=done.merged + done.retired, note=done.note)

    bound = Budget(steps=STEPS_PER_MINUTE, per_ms=60 * _SECOND)
    daily = Budget(steps=policy.ENRICH_DAILY, per_ms=24 * _HOUR)
    loops = [
        Loop(name="searches", every_ms=_SECOND, run=searches, budget=bound),
        Loop(name="extraction", every_ms=_SECOND, run=extraction, budget=bound),
        Loop(name="embedding", every_ms=_SECOND, run=embedding, budget=bound),
        Loop(name="notices", every_ms=5 * _SECOND, run=notices, budget=bound),
        Loop(
            name="enrichment",
            every_ms=60 * _SECOND,
            run=enrichment,
            last_resort=True,
            budget=daily,
        ),
        Loop(name="cleaner", every_ms=_HOUR, run=cleaner),
    ]
    return [replace(one, enabled=one.name not in off) for one in loops]


_STEPS: Final = (
    "factbook.interest.enrich",
    "factbook.interest.learning",
    "factbook.interest.lookup",
    "factbook.pipelines.world",
    "factbook.upkeep.cleaner",
    "factbook.upkeep.embedding",
)


def prepare(context: Context) -> None:
    """Import and load what the steps need; up to a second, which is then part of no step."""
    for name in _STEPS:
        import_module(name)
    if context.resources.has_model or context.resources.has_search:
        with suppress(ImportError):  # whoever needs it names the extra that brings it
            import_module("httpx2")
    if context.store.counts_waiting() and isinstance(context.embedder, BundledEmbedder):
        context.embedder.embed([""])  # loads the model


def _said(failed: Sequence[tuple[str, str]]) -> str:
    """Return what failed beside what was done; it waits, and its reason is kept."""
    return "; ".join(f"{what}: {why}" for what, why in failed)


def _failed(failed: Sequence[tuple[str, str]]) -> FactbookError:
    """Return what ends a step that could do nothing: its loop waits, longer each time.

    Nothing is looked up by itself meanwhile, since the provider or the model is down.
    """
    what, why = failed[0]
    return FactbookError(detail=f"{what}: {why}")
