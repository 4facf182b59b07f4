"""The work behind a memory: plan, search, read, embed, tell and clean, step by step or in loops.

In their order the loops make the searches that wait, read what is unread, embed, tell, and when
nothing of that is left look something up by themselves; once a day, they clean.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.context import part
from factbook.embed.minilm import BundledEmbedder
from factbook.errors import FactbookError, UsageError
from factbook.interests.deliver import Notifier
from factbook.interests.enrich import enrich
from factbook.interests.learning import plan_learning
from factbook.interests.lookup import Lookup
from factbook.interests.scheduler import IDLE_MS, Loop, LoopResult, Worker, moved
from factbook.maintenance.cleaner import clean
from factbook.maintenance.embedding import EmbeddingQueue
from factbook.model.entities import SearchState, SearchTask
from factbook.model.facts import EVERYONE, ME, Everyone, Receipt, Trigger
from factbook.model.interest_ops import RetrySearches, RunSchedule
from factbook.net.settings import config_path
from factbook.pipelines.notify_config import load_notify_config
from factbook.pipelines.world import WorldReading
from factbook.store.derived.counts import count_waiting
from factbook.store.derived.notices import last_action
from factbook.store.derived.searches import schedules_of, search_tasks
from factbook.store.port import marked

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.interests.deliver import Delivery
    from factbook.interests.enrich import Enriched
    from factbook.interests.interests import Interests
    from factbook.interests.lookup import LookupReport
    from factbook.interests.scheduler import LoopStep
    from factbook.maintenance.cleaner import CleanReport
    from factbook.pipelines.world import ExtractionReport

NAMES: Final = ("searches", "extraction", "embedding", "notices", "enrichment", "cleaner")
_SECOND: Final = 1_000
SMALL_BATCH: Final = 16  # ours: texts embedded between two looks at whether somebody acts


@dataclass(slots=True, kw_only=True)
class WorkReport:
    """What one round of the background work did."""

    planned: int = 0  # searches thought of
    lookups: LookupReport | None = None
    extraction: ExtractionReport | None = None
    embedded: int = 0
    enriched: Enriched | None = None


@part
class Background:
    """What a memory does when nobody acts; `Memory.background`."""

    def __init__(self, context: Context, interests: Interests) -> None:
        self._context = context
        self._store = context.store
        self._interests = interests

    def plan_learning(self) -> Receipt:
        """Think of the searches for what is to be learned and has none yet."""
        return plan_learning(self._context)

    def run_schedules(self) -> Receipt:
        """Queue the searches of schedules whose time has come."""
        due = schedules_of(self._store, EVERYONE, at=self._context.clock())
        if not due:
            return Receipt()
        return self._context.write(
            [RunSchedule(schedule_id=schedule.id) for schedule in due], Trigger.USER_MESSAGE
        )

    def run_searches(self, *, limit: int | None = None) -> LookupReport:
        """Make the searches that wait, oldest first, `limit` at most.

        One that fails waits for a later pass, and the others are made.
        """
        return Lookup(self._context).run_due(limit=limit)

    def retry_searches(self) -> int:
        """Let what failed too often be tried again: searches, and reading them and messages."""
        return self._context.write([RetrySearches()], Trigger.COMMAND).updated

    def run_extraction(self, *, limit: int | None = None) -> ExtractionReport:
        """Read unread searches and messages for entities, facts and engagements.

        With `limit` so many pieces at most: a message is one, a search one for each of its results
        and some for what they come to together.
        """
        reading = WorldReading(self._context, interests=self._interests.interest_scores)
        return reading.run(limit=limit)

    def run_enrichment(self, *, daily: int = policy.ENRICH_DAILY) -> Enriched:
        """Queue one search about what its owner cares about and little is known of."""
        return enrich(self._context, interests=self._interests.interest_scores, daily=daily)

    def clean(self) -> CleanReport:
        """Merge entities that are the same thing and drop those that came to nothing, now."""
        return clean(self._context, interest=self._interests.interest_scores)

    def notifier(
        self, show: Callable[[Delivery], object] | None = None, *, owner: str | Everyone = ME
    ) -> Notifier:
        """Return what delivers an owner's notices by `show`; without it they wait."""
        return Notifier(self._context, show=show, owner=owner)

    def work(self, *, enrich: bool = False) -> WorkReport:
        """Do one round of what waits, in this thread: plan, search, read, embed.

        With `enrich`, also queue a search of our own when nothing else waits, make it and read it.
        What `factbook worker` does over time, at once; for scripts and tests.
        """
        load_notify_config(os.environ, config_path(os.environ))  # before anything is stored
        report = WorkReport()
        report.planned = self.plan_learning().searches + self.run_schedules().searches
        if self._context.resources.has_search:
            report.lookups = self.run_searches()
        report.extraction = self.run_extraction()
        report.embedded = self._embed()
        if enrich and self._context.resources.has_search and not search_tasks(self._store):
            report.enriched = self.run_enrichment()
            if report.enriched.query:
                self.run_searches()
                self.run_extraction()
                report.embedded += self._embed()
        return report

    def loops(self, *, off: Collection[str] = ()) -> list[Loop]:
        """Return the work behind in its order, each loop on unless it stands in `off`.

        Notices wait for a chat, which tells its owner in the place of their loop.

        Raises UsageError for a name in `off` that is no loop.
        """
        unknown = sorted(set(off) - set(NAMES))
        if unknown:
            raise UsageError(
                detail=f"there is no loop {unknown[0]!r}; the loops are {', '.join(NAMES)}"
            )
        context = self._context
        queue = EmbeddingQueue(context)

        def searches() -> LoopResult:
            planned = self.plan_learning().searches + self.run_schedules().searches
            if not context.resources.has_search:
                return LoopResult(did=planned)
            done = self.run_searches(limit=1)  # those that fail are passed over
            if done.failed and not done.made:
                raise _failed(done.failed)
            return LoopResult(did=planned + done.made, note=_said(done.failed))

        def extraction() -> LoopResult:
            done = self.run_extraction(limit=1)
            if done.failed and not done.pieces:
                raise _failed(done.failed)
            return LoopResult(did=done.pieces, note=_said(done.failed) or done.note)

        def embedding() -> LoopResult:
            return LoopResult(did=queue.drain(limit=SMALL_BATCH).receipt.embedded)

        def notices() -> LoopResult:
            return LoopResult(did=self.notifier(owner=EVERYONE).pass_once().failed)

        def enrichment() -> LoopResult:
            if not context.resources.has_search:
                return LoopResult(note="no search provider is configured")
            done = self.run_enrichment()
            return LoopResult(did=int(bool(done.query)), note=done.why or done.query)

        def cleaner() -> LoopResult:
            last = marked(context.store, "cleaned_at").commit
            if last and context.clock() - last < policy.CLEANER_EVERY_MS:
                return LoopResult()
            done = self.clean()
            return LoopResult(did=done.merged + done.retired, note=done.note)

        loops = [
            Loop(name="searches", every_ms=_SECOND, run=searches),
            Loop(name="extraction", every_ms=_SECOND, run=extraction),
            Loop(name="embedding", every_ms=_SECOND, run=embedding),
            Loop(name="notices", every_ms=5 * _SECOND, run=notices),
            Loop(name="enrichment", every_ms=60 * _SECOND, run=enrichment, last_resort=True),
            Loop(name="cleaner", every_ms=3_600 * _SECOND, run=cleaner),
        ]
        return [replace(loop, enabled=loop.name not in off) for loop in loops]

    def worker(
        self,
        *,
        off: Collection[str] = (),
        idle_ms: int | None = None,
        on_step: Callable[[LoopStep], object] | None = None,
    ) -> Worker:
        """Return a worker that does the work behind when nobody acts; start it or let it serve.

        What an owner does in any process cancels the step that runs, at once.
        """
        load_notify_config(os.environ, config_path(os.environ))  # a wrong one is told at once
        return Worker(
            self.loops(off=off),
            clock=self._context.clock,
            idle_ms=IDLE_MS if idle_ms is None else idle_ms,
            foreground=moved(lambda: self._store.head().commit, partial(last_action, self._store)),
            on_step=on_step,
            prepare=lambda: prepare(self._context),
        )

    def waiting_searches(
        self, states: Collection[SearchState], *, owner: str | Everyone = ME
    ) -> list[SearchTask]:
        """Return the searches of an owner that were asked for and stand so, oldest first."""
        return search_tasks(self._store, owner, states=states)

    def _embed(self) -> int:
        return EmbeddingQueue(self._context).drain().receipt.embedded


def prepare(context: Context) -> None:
    """Import and load what the steps need: up to a second, which is then part of no step."""
    if context.resources.has_model or context.resources.has_search:
        with suppress(ImportError):  # whoever needs it names the extra that brings it
            import_module("httpx2")
    if count_waiting(context.store) and isinstance(context.embedder, BundledEmbedder):
        context.embedder.embed([""])  # loads the model


def _said(failed: Sequence[tuple[str, str]]) -> str:
    """Return what failed beside what was done; it waits, and its reason is kept."""
    return "; ".join(f"{what}: {why}" for what, why in failed)


def _failed(failed: Sequence[tuple[str, str]]) -> FactbookError:
    """Return what ends a step that could do nothing: its loop waits, longer each time."""
    what, why = failed[0]
    return FactbookError(detail=f"{what}: {why}")
