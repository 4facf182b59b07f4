"""What keeps a memory in order: the embedding queue, the nightly work, and what it all came to.

It composes the parts of `upkeep` and holds no rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from factbook.context import part
from factbook.errors import NotFound
from factbook.extract.rule_noise import measure_noise
from factbook.maintenance.consolidate import Consolidation, only_run
from factbook.maintenance.embedding import EmbeddingQueue, outdated
from factbook.maintenance.meter import cost
from factbook.maintenance.verdicts import model_resolver
from factbook.model.facts import EVERYONE, ME, Everyone, Receipt, Trigger
from factbook.model.ops import KeepTold, RetryTasks
from factbook.redaction.told import TAKEN_BACK
from factbook.store.derived.counts import count_waiting, has_others, rule_counts
from factbook.store.derived.readers import read_by_others
from factbook.store.derived.tasks import open_tasks
from factbook.store.kinds import READER, REJECTION, RUN, TOLD, Reader
from factbook.store.leases import retry_aside, set_aside
from factbook.store.rows import Filters

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.extract.base import Rule
    from factbook.maintenance.consolidate import Resolver, RunReport
    from factbook.maintenance.embedding import EmbedReport
    from factbook.maintenance.meter import CostLine
    from factbook.model.facts import Millis, ModelTask, Run
    from factbook.pipelines.reread import RereadReport
    from factbook.store.port import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleUse:
    """A rule, and how often it has fired."""

    rule: Rule
    fired: int  # evidence rows
    noise: RuleNoise | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleNoise:
    """What of a rule's facts looks like noise, by signs that need no reading."""

    facts: int
    objects: int  # distinct objects
    top_object: str  # the most frequent object
    top_share: float  # its share of the facts, 0 to 1
    rejected: int  # candidates of the rule that the gate refused
    score: float  # 0 to 1, the larger the noisier
    why: str


class ReaderUse(NamedTuple):
    """One version of a part that reads texts, as it was used."""

    part: str  # "redactor", "rules", or what a language reader reads
    version: str
    sources: int  # that it has read something of
    first_at: Millis
    last_at: Millis


def readers_used(store: Store) -> list[ReaderUse]:
    """Return with what sources were read, by part and version; the newest use first."""
    kept = [source.id for source in store.sources()]
    uses: dict[tuple[str, str], list[Reader]] = {}
    for reader in store.find(READER, {"source_id": kept}):
        uses.setdefault((reader.part, reader.version), []).append(reader)
    reader_uses = [
        ReaderUse(
            *named,
            sources=len(rows),
            first_at=min(row.first_at for row in rows),
            last_at=max(row.last_at for row in rows),
        )
        for named, rows in uses.items()
    ]
    return sorted(reader_uses, key=lambda reader_use: (reader_use.part, -reader_use.last_at))


@part
class Maintenance:
    """What looks after what is there; `Memory.maintenance`."""

    def __init__(
        self, context: Context, *, near: Callable[[str, str], Mapping[int, float]]
    ) -> None:
        """Compose over what the memory works with.

        `near` finds the facts of an owner that a text may speak of, with their cosines.
        """
        self._context = context
        self._near = near
        self._store = context.store

    def embed(
        self, *, limit: int | None = None, progress: Callable[[int], None] | None = None
    ) -> EmbedReport:
        """Give waiting rows their vectors, facts first; safe to stop, and for several at once.

        A row that fails is tried again later and put aside after a few attempts; none blocks the
        others. Raises EmbedderMismatch where the file holds vectors of another model.
        """
        return EmbeddingQueue(self._context).drain(limit=limit, progress=progress)

    def reembed(self, *, progress: Callable[[int], None] | None = None) -> int:
        """Make all vectors anew with this memory's embedder, and swap them at the end."""
        return EmbeddingQueue(self._context).reembed(progress=progress)

    def set_aside(self) -> list[tuple[str, int, str]]:
        """Return (target, id, reason) of rows that cannot be embedded."""
        return set_aside(self._store)

    def retry_aside(self) -> int:
        """Let rows that were put aside be tried again; return how many."""
        return retry_aside(self._store)

    def waiting(self) -> int:
        """Return how many rows wait for a vector."""
        return count_waiting(self._store)

    def outdated(self) -> int:
        """Return how many vectors `embed` makes anew: they are of what rows were embedded by."""
        return outdated(self._store)

    def told_secrets(self) -> dict[str, int]:
        """Return how many secrets are remembered that were told once, by kind.

        Of the kind "" is what was taken back.
        """
        return dict(sorted(Counter(row.kind for row in self._store.find(TOLD)).items()))

    def take_back_secret(self, word: str) -> str:
        """Remember a word as a secret no more, nor ever again; return the kind that it had.

        Where something announces it as one it is still replaced. Raises NotFound for a word that
        is not remembered.
        """
        named = self._context.resources.redactor.named(word)
        known = self._store.find(TOLD, {"digest": named[0]}) if named else []
        if named is None or not known or known[0].kind == TAKEN_BACK:
            raise NotFound(
                what="secret",
                name="remembered by that word",
                hint="give it as it was told, without the marks around it, and with the key file"
                " of that time (FACTBOOK_KEY_FILE); what a format or a name tells is not"
                " remembered (docs/redaction.md).",
            )
        self._context.write([KeepTold(secrets=[(*named, TAKEN_BACK)])], Trigger.COMMAND)
        return known[0].kind

    def consolidate(
        self,
        *,
        dry_run: bool = False,
        resolver: Resolver | None = None,
        on_phase: Callable[[str], None] | None = None,
        on_done: Callable[[Store, RunReport], None] | None = None,
    ) -> RunReport:
        """Do the nightly work; with `dry_run` on a copy in memory, with the same report.

        What rules cannot decide is asked of `resolver`, else of the configured language model, if
        there is one, and that reads the turns that it has not answered for; a dry run asks it too.

        `on_done` is given the store that was worked on, where the facts of the report stand as they
        are after it; that of a dry run is gone afterwards.

        Raises AlreadyRunning while another process does it.
        """
        if resolver is None and self._context.resources.has_model:
            resolver = model_resolver(self._context.llm)
        with self._store.rehearsal() if dry_run else nullcontext(self._store) as store:
            report = self._consolidation(store, resolver, on_phase).run()
            if on_done:
                on_done(store, report)
            return report

    def undo(self, run_id: int, *, owner: str | Everyone = ME) -> RunReport:
        """Take back what a consolidation changed of an owner's; what changed since stays so."""
        return self._consolidation(self._store, None, None).undo(run_id, owner=owner)

    def read_by_others(self, *, source: str = "") -> int:
        """Return how many sources another version of the language reader has read.

        `source` is one by its name, its path or its id (s12); raises NotFound without it.
        """
        others = read_by_others(self._store, self._context.resources.reader_version)
        if not source:
            return len(others)
        from factbook.pipelines.reread import sources_named

        return len(others.keys() & sources_named(self._store, source))

    def reread(
        self,
        *,
        source: str = "",
        dry_run: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> RereadReport:
        """Read again what another version of the language reader has read; see docs/reader.md.

        With `dry_run` on a copy in memory, with the same report. `source` as of `read_by_others`;
        `progress` is called with 1 for each source. What is interrupted goes on there next time.

        Raises AlreadyRunning while another process does it, or the nightly work.
        """
        from factbook.pipelines.reread import reread, sources_named

        only = sources_named(self._store, source) if source else None
        advance = progress or (lambda _: None)
        if dry_run:
            with self._store.rehearsal() as store:
                return reread(replace(self._context, store=store), only=only, progress=advance)
        with only_run(self._store, self._context.clock) as renew:
            return reread(self._context, only=only, renew=renew, progress=advance)

    def runs(self, *, limit: int = 20) -> list[Run]:
        """Return the newest consolidations, newest first."""
        return self._store.find(RUN, newest_first=True, limit=limit)

    def _consolidation(
        self, store: Store, resolver: Resolver | None, on_phase: Callable[[str], None] | None
    ) -> Consolidation:
        context = replace(self._context, store=store)
        return Consolidation(context, near=self._near, resolver=resolver, on_phase=on_phase)

    def rule_uses(self, *, noise: bool = False) -> list[RuleUse]:
        """Return every rule with how often it fired; with `noise`, what of it looks like noise."""
        fired = rule_counts(self._store)
        return [
            RuleUse(
                rule=rule,
                fired=fired.get(rule.name, 0),
                noise=self._noise(rule) if noise and fired.get(rule.name) else None,
            )
            for rule in self._context.resources.rules.rules
        ]

    def _noise(self, rule: Rule) -> RuleNoise:
        fired = self._store.facts(
            Filters(owner=EVERYONE, rules=[rule.name], proposed=True), limit=None
        )
        objects = Counter(fact.object for fact in fired)
        facts = sorted(objects.items(), key=lambda item: (-item[1], item[0]))
        refused = self._store.tally(REJECTION, ("rule",), {"owner": EVERYONE, "rule": rule.name})
        rejected = sum(tally.rows for tally in refused.values())
        total = sum(count for _, count in facts)
        score, why = measure_noise(rule, facts, rejected)
        top, top_count = max(facts, key=lambda item: item[1], default=("", 0))
        return RuleNoise(
            facts=total,
            objects=len(facts),
            top_object=top,
            top_share=top_count / total if total else 0.0,
            rejected=rejected,
            score=score,
            why=why,
        )

    def has_others(self, owner: str) -> bool:
        """Tell whether anything is kept of anybody but this owner."""
        return has_others(self._context.store, owner)

    def model_tasks(self) -> list[ModelTask]:
        """Return inputs whose calls failed: what waits for another try, and what is set aside."""
        return open_tasks(self._store)

    def retry_tasks(self, kind: str) -> Receipt:
        """Let inputs that were set aside be tried again: typed, tell, commands or judge."""
        return self._context.write([RetryTasks(kind=kind)], Trigger.COMMAND)

    def cost(self, *, since: str = "") -> list[CostLine]:
        """Return what calls of models came to from a day ("2026-11-21", UTC) on."""
        return cost(self._store, since=since)
