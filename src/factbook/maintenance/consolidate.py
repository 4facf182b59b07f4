"""The nightly work in the seed's order, one run at a time, resumable, undoable, and told in full.

extract what recurs, and what a model reads in turns, if there is one -> queue and embed ->
confidence (support, doubt) -> contradictions and merges by rules -> one batched judgement of what
is ambiguous, if there is a judge -> what faded -> embed what changed. Every step goes through
`apply` under the run's number. What was read may be stale by then: `apply` decides on the rows as
they are, so concurrent writes are never overwritten. Marks move with the work, so a killed run
loses at most one batch, and the next run goes on from there.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from factbook import policy
from factbook.embed.halves import unpacked
from factbook.errors import FactbookError, NotFound, StoreError, UsageError
from factbook.gate.judge import JudgedClaim, Judgement, Relation, judge, read
from factbook.gate.related import DOUBTED, MAY_BE_OVER, REWORDED, doubt, hardly_doubted
from factbook.language.reader.relate import RELATER, Relater
from factbook.maintenance.changes_report import run_of
from factbook.maintenance.circles import Circles, each, ids_of
from factbook.maintenance.embedding import EmbeddingQueue
from factbook.maintenance.holding import hold_ops
from factbook.maintenance.join import components, cross_pairs, near_pairs, near_pairs_of
from factbook.maintenance.join_rows import Floats, Pairs
from factbook.maintenance.learning import learning_ops
from factbook.maintenance.support import support_ops
from factbook.maintenance.verdict_queue import (
    MERGE_RULE,
    CallReport,
    JudgeRulings,
    PairQuestion,
    Resolver,
    category,
    changed_mind,
    merge_of,
    settle,
    settle_pairs,
    task_ops,
    waiting_questions,
)
from factbook.model.confidence import is_deprecated, value_at
from factbook.model.facts import (
    EVERYONE,
    MERGED_KINDS,
    At,
    Event,
    Everyone,
    FactKind,
    Millis,
    Receipt,
    Trigger,
    Trust,
)
from factbook.model.ops import (
    ContradictFacts,
    FinishRun,
    JudgePair,
    MarkProgress,
    MergeFacts,
    Op,
    RevertFact,
    StartRun,
    SupersedeFact,
)
from factbook.pipelines.directives import read_directives
from factbook.pipelines.stated import claim_of, extract_ops, twin_ops
from factbook.pipelines.turns import Near, TurnsReport, extract_turns
from factbook.pipelines.world_facts import joined_ops
from factbook.store.derived.facts import lives_by_id
from factbook.store.kinds import EVENT, PAIR, RUN
from factbook.store.leases import drop_lease, due, held_now, holder_name, set_aside, take_lease
from factbook.store.port import marked
from factbook.store.rows import Life, LifeWhere

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.store.port import Store

__all__ = [
    "PHASES",
    "AlreadyRunning",
    "Consolidation",
    "PairQuestion",
    "Resolver",
    "RunReport",
    "settle_pairs",
    "waiting_questions",
]

PHASES = (
    "embed",
    "extract",
    "turns",
    "support",
    "judge",
    "merge",
    "resolve",
    "fade",
    "embed again",
)
_SAID = (FactKind.STATEMENT, FactKind.TYPED, FactKind.DIRECTIVE)
_NEAR = "Both are about much the same; only a model may tell."
_RUNS = 20  # the newest, among which the last that ended is
_LEASE = "consolidation"
_LOOK_AGAIN_S = 0.05


class AlreadyRunning(FactbookError):
    """A consolidation is running already; wait for it, or try again in {seconds:.0f} seconds if it was killed on another machine."""  # noqa: E501

    exit_code = 4


@dataclass(slots=True, kw_only=True)
class RunReport:
    """What one consolidation did."""

    run_id: int
    as_of: Millis
    state: str = "running"
    receipt: Receipt = field(default_factory=Receipt)
    seconds: dict[str, float] = field(default_factory=dict)  # by phase
    faded: list[int] = field(default_factory=list)  # facts that fell under 0.3 since the last run
    waiting: int = 0  # ambiguous pairs without a verdict
    aside: int = 0  # rows that cannot be embedded
    judge_aside: int = 0  # of these, pairs that a model was asked about too often in vain
    calls: list[CallReport] = field(default_factory=list)  # of the batched judgement
    turns: TurnsReport | None = None  # what a model read in turns; None without a model
    error: str = ""  # why the batched judgement, or a part of it, gave no answer
    events: Sequence[Event] = ()  # every change, oldest first


@contextmanager
def only_run(store: Store, clock: Callable[[], Millis]) -> Iterator[Callable[[], object]]:
    """Hold what only one process may do at a time, and give what keeps it held.

    Raises AlreadyRunning while another process does it.
    """
    holder = holder_name()

    def take() -> int:
        token = take_lease(store, _LEASE, holder=holder, now=clock())
        if token is None:
            raise AlreadyRunning(seconds=policy.LEASE_MS / 1000)
        return token

    token = take()
    try:
        yield take
    finally:
        drop_lease(store, _LEASE, token=token)


class Consolidation:
    """The nightly work over one store."""

    def __init__(
        self,
        context: Context,
        *,
        near: Near,
        resolver: Resolver | None = None,
        on_phase: Callable[[str], None] | None = None,
    ) -> None:
        """Compose the work; `on_phase` hears the name of each phase as it begins.

        `near` finds the facts of an owner that a text may speak of, with their cosines.
        """
        self._context = context
        self._near = near
        self._store = context.store
        self._queue = EmbeddingQueue(context)
        self._clock = context.clock
        self._redact = context.redact
        self._resolver = resolver
        self._on_phase = on_phase
        self._reading = lru_cache(maxsize=200_000)(read)
        self._alike: set[tuple[int, int]] = set()  # pairs of this run that say the same
        self._mark: At | None = None  # of the facts that this run has judged
        self._renew: Callable[[], object] = lambda: None  # the lease

    def run(self) -> RunReport:
        """Do all phases, once each.

        Raises AlreadyRunning while another process does it.
        """
        now = self._clock()
        with only_run(self._store, self._clock) as renew:
            self._renew = renew
            self._close_interrupted(now)
            runs = self._store.find(RUN, newest_first=True, limit=_RUNS)
            report = RunReport(run_id=runs[0].id + 1 if runs else 1, as_of=now)
            since = next((run.started_at for run in runs if run.state == "done"), None)
            self._write(report, [StartRun(run_id=report.run_id)])
            phases: dict[str, Callable[[RunReport], None]] = {
                "embed": self._embed,
                "extract": self._extract,
                "turns": self._turns,
                "support": self._support,
                "judge": self._judge,
                "merge": self._merge,
                "resolve": self._resolve,
                "fade": lambda run_report: self._fade(run_report, since),
                "embed again": self._embed,
            }
            try:
                for name in PHASES:
                    if self._on_phase:
                        self._on_phase(name)
                    began = time.perf_counter()
                    phases[name](report)
                    report.seconds[name] = round(time.perf_counter() - began, 3)
                    renew()
                    if name != PHASES[-1]:
                        self._write(report, [self._finish(report, "running", name)])
            except BaseException:
                # Stopped or failed: what is written is whole, and the next run goes on.
                report.state = "failed"
                with suppress(StoreError):  # the error that ended the run says more
                    self._end(report)
                raise
            report.state = "done"
            left = waiting_questions(self._store, now=report.as_of, redact=self._redact)
            report.waiting = len(left)
            report.judge_aside = sum(pair_question.aside for pair_question in left)
            report.aside = len(set_aside(self._store))
            self._end(report)
            report.events = self._store.find(EVENT, {"run_id": report.run_id})
        return report

    def _end(self, report: RunReport) -> None:
        phase = list(report.seconds)[-1] if report.seconds else ""
        self._context.write(
            [self._finish(report, report.state, phase)],
            Trigger.UPKEEP,
            now=max(self._clock(), report.as_of),
            run_id=report.run_id,
        )

    def undo(self, run_id: int, *, owner: str | Everyone) -> RunReport:
        """Take back what a run changed of an owner's facts, the newest change first.

        A fact that changed since keeps what it has; the receipt counts it as unchanged. A run is
        undone once nothing that it changed of others is left.
        """
        now = self._clock()
        with only_run(self._store, self._clock):
            run = run_of(self._store, run_id)
            if run is None:
                raise NotFound(what="run", name=run_id, hint="`factbook runs` lists the runs.")
            if run.state == "undone":
                raise UsageError(
                    detail=f"run {run_id} was undone already; `factbook runs` lists the runs"
                )
            events = self._store.find(EVENT, {"run_id": run_id, "target_kind": "fact"})
            undoable = [event for event in events if "after" in event.detail or event.op == "store"]
            facts = [event.target_id for event in undoable]
            whose = {life.id: life.owner for life in lives_by_id(self._store, facts).values()}
            theirs = [
                event
                for event, fact in zip(undoable, facts, strict=True)
                if owner in (whose[fact], EVERYONE)
            ]
            ops: list[Op] = [RevertFact(event_id=their.id) for their in reversed(theirs)]
            state = "undone" if len(theirs) == len(undoable) else run.state
            report = RunReport(run_id=run_id, as_of=now, state=state)
            if state == "undone":
                ops.append(
                    FinishRun(run_id=run_id, state=state, phase=run.phase, report=run.report)
                )
            report.receipt = self._context.write(ops, Trigger.COMMAND, now=now)
        return report

    def _close_interrupted(self, now: Millis) -> None:
        """Say of runs that were killed that they did not end; what they wrote is whole."""
        for run in self._store.find(RUN, newest_first=True, limit=_RUNS):
            if run.state == "running":
                op = FinishRun(run_id=run.id, state="failed", phase=run.phase, report=run.report)
                self._context.write([op], Trigger.UPKEEP, now=now)

    def _finish(self, report: RunReport, state: str, phase: str) -> FinishRun:
        counts = {
            name: value
            for name in report.receipt.__slots__
            if (value := getattr(report.receipt, name))
        }
        return FinishRun(
            run_id=report.run_id,
            state=state,
            phase=phase,
            report={
                "seconds": report.seconds,
                "receipt": counts,
                "faded": report.faded,
                "turns": report.turns and report.turns.counts(),
                "error": report.error,
                "calls": [asdict(call) for call in report.calls],
            },
        )

    def _write(self, report: RunReport, ops: Sequence[Op]) -> None:
        """Apply ops in batches under the run's number and count what they changed."""
        for first in range(0, len(ops), policy.UPKEEP_BATCH):
            report.receipt.add(self._applied(report, ops[first : first + policy.UPKEEP_BATCH]))

    def _applied(self, report: RunReport, ops: Sequence[Op]) -> Receipt:
        """Apply ops in one transaction under the run's number, and hold the lease longer."""
        receipt = self._context.write(ops, Trigger.UPKEEP, now=report.as_of, run_id=report.run_id)
        self._renew()
        return receipt

    def _embed(self, report: RunReport) -> None:
        report.receipt.add(self._drained())

    def _drained(self) -> Receipt:
        """Embed what waits, and let others end who embed at this moment, for a short while."""
        receipt = self._queue.drain(progress=lambda _: self._renew()).receipt
        patience = time.monotonic() + policy.EMBED_PATIENCE_S
        while held_now(self._store, now=self._clock()) and time.monotonic() < patience:
            time.sleep(_LOOK_AGAIN_S)
        return receipt

    def _extract(self, report: RunReport) -> None:
        # First: what is a rule is not stated besides.
        read_directives(self._context, write=lambda ops: self._write(report, ops))
        self._write(report, twin_ops(self._store))
        while True:
            ops = extract_ops(
                self._context,
                same=lambda a, b, cosine: self._relation(a, b, cosine) is Relation.SAME,
                now=report.as_of,
            )
            if not ops:
                break
            # In one transaction: the mark must not move ahead of what it stands for.
            report.receipt.add(self._applied(report, ops))
        self._write(report, joined_ops(self._store))
        self._write(report, learning_ops(self._store))
        report.receipt.add(self._drained())  # the new facts take part in what follows
        # Before a model is asked: whether it answers moves nothing that no model decides.
        for ops in hold_ops(self._context):
            self._write(report, ops)

    def _turns(self, report: RunReport) -> None:
        """Let the model read turns, if there is one; what it does not answer for waits on."""
        if self._context.model is None:
            return
        report.turns = extract_turns(
            self._context,
            near=self._near,
            write=partial(self._applied, report),
            calls=policy.TURN_CALLS_NIGHT,
        )
        report.receipt.add(report.turns.receipt)
        report.receipt.add(self._drained())

    def _support(self, report: RunReport) -> None:
        self._write(report, support_ops(self._store, reading=self._reading))

    def _judge(self, report: RunReport) -> None:
        """Look at every pair of near facts of which one is new: contradictions now, merges next."""
        lives, vectors, new, mark = self._facts()
        self._alike = set()
        if not new:
            return
        known = {pair[:2] for pair in self._store.find(PAIR)}
        ops: list[Op] = []
        doubts: list[tuple[float, str, Op]] = []  # the network's: how likely, whose
        circles = Circles(lives, vectors)
        near = circles.nearest(new)
        words = self._candidates(lives, vectors, new)
        pairs = {(left, right): cosine for left, right, cosine in words}
        asks = self._resolver is not None and self._context.model is not None
        for_model = policy.NEAR_PAIRS if asks else 0
        for (left, right), cosine in (near | pairs).items():
            first, second = lives[left], lives[right]
            if first.owner != second.owner or ids_of(first, second) in known:
                continue
            older, newer = _by_age(first, second)
            net = RELATER if (left, right) in near else None
            judgement = self._judgement(
                older, newer, cosine, net, partial(circles.closest, left, right, self._alike)
            )
            at_once = _at_once(older, newer)
            if judgement.relation is Relation.SAME:
                if not (at_once and judgement.rule == REWORDED):
                    self._alike.add(ids_of(first, second))
                continue
            if at_once:
                continue
            told = _pair_ops(self._store, older, newer, judgement, cosine)
            if not told and net is not None and for_model and _near(older, newer, cosine):
                for_model -= 1
                told = [_waiting(older, newer, policy.NEAR_PAIR, _NEAR, cosine)]
            weakly = (
                not told and not asks and net is not None and self._hardly(older, newer, cosine)
            )
            if weakly:
                told = [_waiting(older, newer, DOUBTED.rule, DOUBTED.detail, cosine)]
            if weakly or (judgement.rule == MAY_BE_OVER and not asks):
                much = doubt(older.statement, newer.statement, cosine, RELATER)
                doubts += [(much, newer.owner, op) for op in told]
            else:
                ops += told
        ops += _likeliest(doubts, Counter(lives[n].owner for n in new))
        self._write(report, ops)
        self._mark = mark

    def _hardly(self, older: Life, newer: Life, cosine: float) -> bool:
        """Tell whether it may be asked if one ended the other, where there is room for it."""
        if older.kind not in _SAID or newer.kind not in _SAID:
            return False
        first, second = ((life.statement, self._reading(life.statement)) for life in (older, newer))
        return hardly_doubted(first, second, cosine, RELATER)

    def _candidates(
        self, lives: Sequence[Life], vectors: Floats, new: Sequence[int]
    ) -> Iterator[tuple[int, int, float]]:
        """Yield the pairs that rules should look at, each once.

        What says that something has ended ("moved to", "no longer") may share few words with what
        it ends, so it is compared with more.
        """
        pairs = _pairs(vectors, new)
        seen = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
        yield from each(pairs)
        ending = [n for n in new if self._reading(lives[n].statement).cues]
        if not ending:
            return
        far = cross_pairs(vectors[ending], vectors, threshold=policy.ENDING_SIMILARITY)
        for left, right, cosine in each(far):
            low, high = sorted((ending[left], right))
            if low != high and (low, high) not in seen:
                seen.add((low, high))
                yield low, high, cosine

    def _merge(self, report: RunReport) -> None:
        """Merge what says the same: the components of the pairs that the rules found alike."""
        ids = sorted({id_ for pair in self._alike for id_ in pair})
        lives = {id_: life for id_, life in lives_by_id(self._store, ids).items() if life.current}
        numbers = {id_: n for n, id_ in enumerate(lives)}
        pairs = [
            (numbers[first], numbers[second])
            for first, second in self._alike
            if first in numbers and second in numbers
        ]
        ops: list[Op] = []
        if pairs:
            rows = list(lives.values())
            have = unpacked(*self._store.vectors("fact", ids))
            vectors = dict(zip(have.ids, have.rows, strict=True))
            known = {pair[:2] for pair in self._store.find(PAIR)}
            left, right = np.asarray(pairs, np.int64).T
            for group in components(len(rows), left, right):
                members = [rows[n] for n in group if rows[n].id in vectors]
                stacked = np.stack([vectors[member.id] for member in members])
                ops += self._merge_ops(members, stacked, known, report.as_of)
        before = report.receipt.merged
        self._write(report, ops)
        asked = sum(len(op.loser_ids) for op in ops if isinstance(op, MergeFacts))
        if self._mark is not None and report.receipt.merged - before == asked:
            # Only now: a run that is killed before, or finds that somebody changed a fact
            # meanwhile, looks at the same facts again.
            self._write(report, [MarkProgress(name="judge", at=self._mark)])

    def _merge_ops(
        self, group: Sequence[Life], vectors: Floats, known: set[tuple[int, int]], now: Millis
    ) -> list[Op]:
        """Return the merges of one connected component; every member must hold against its winner.

        A chain A-B-C whose ends do not say the same falls apart here: who does not hold against
        the winner is looked at again without it.
        """
        ops: list[Op] = []
        values = [value_at(life, now) for life in group]
        # Its owner's own words stay in their wording, however sure the others are.
        left = sorted(
            range(len(group)),
            key=lambda n: (
                group[n].trust is not Trust.DIRECT,
                -values[n],
                -group[n].evidence_count,
                -(group[n].occurred_at or 0),  # of what does not fade the newer wording stands
                group[n].id,
            ),
        )
        while len(left) > 1:
            best, rest = left[0], left[1:]
            losers: list[int] = []
            cosines = vectors[rest] @ vectors[best]
            for n, cosine in zip(rest, cosines.tolist(), strict=True):
                said = self._may_merge(group[best], group[n], cosine, known)
                if said is None:
                    continue
                if any(ids_of(group[n], group[other]) in known for other in losers):
                    continue  # they were told apart: a third fact must not join them
                sure = values[best] > policy.MERGE_MIN_CONFIDENCE
                alike = abs(values[best] - values[n]) <= policy.MERGE_WITHIN
                if sure and alike:
                    losers.append(n)
                elif said.rule != REWORDED or cosine >= policy.REWORDED_ASKED:
                    why = "both are uncertain" if not sure else "their confidences differ by much"
                    says = f"they say the same, but {why}"
                    ops.append(_waiting(group[best], group[n], MERGE_RULE, says, cosine))
                    known.add(ids_of(group[best], group[n]))
            if losers:
                ops.append(merge_of([group[best], *(group[n] for n in losers)], "same"))
            left = [n for n in rest if n not in losers]
        return ops

    def _may_merge(
        self, winner: Life, loser: Life, cosine: float, known: set[tuple[int, int]]
    ) -> Judgement | None:
        if category(winner) != category(loser) or ids_of(winner, loser) in known:
            return None
        found = ids_of(winner, loser) in self._alike
        judgement = self._judgement(*_by_age(winner, loser), cosine, RELATER, lambda: found)
        return judgement if judgement.relation is Relation.SAME else None

    def _resolve(self, report: RunReport) -> None:
        """Ask the judge, if there is one, about all waiting pairs at once."""
        if self._resolver is None:
            return
        questions = [
            question
            for question in waiting_questions(self._store, now=report.as_of, redact=self._redact)
            if not question.aside
            and due(question.until, now=report.as_of)
            and question.rule not in policy.FOR_A_PERSON
        ]
        if not questions:
            return
        self._renew()
        try:
            answer = self._resolver(questions)
        except FactbookError as error:
            report.error = self._redact(str(error))  # the pairs wait on; nothing is decided
            return
        finally:
            self._renew()  # a judge may take its time
        ruling = answer if isinstance(answer, JudgeRulings) else JudgeRulings(verdicts=answer)
        unsettled = settle(
            self._store,
            ruling.verdicts,
            now=report.as_of,
            write=lambda ops: self._write(report, ops),
            questions=questions,
        )
        for ids, why in unsettled.items():
            if call := ruling.about.get(ids):
                call.skipped[why.reason] = call.skipped.get(why.reason, 0) + 1
        for call in ruling.calls:
            call.error = self._redact(call.error)  # it may quote an answer
        report.calls = list(ruling.calls)
        self._write(report, task_ops(self._store, ruling, unsettled, redact=self._redact))
        errors = [call.told() for call in ruling.calls if call.error]
        errors += [why.says for why in unsettled.values() if why.reason not in ("changed", "asked")]
        report.error = "; ".join(dict.fromkeys(errors))

    def _fade(self, report: RunReport, since: Millis | None) -> None:
        """Find what fell under the threshold since the last run; nothing need be written."""
        for life in self._store.lives(LifeWhere(kinds=MERGED_KINDS, current=True)):
            if not is_deprecated(value_at(life, report.as_of)):
                continue
            if since is None or not is_deprecated(value_at(life, max(since, life.confidence_at))):
                report.faded.append(life.id)

    def _facts(self) -> tuple[list[Life], Floats, list[int], At]:
        """Return (current facts with a vector, the vectors, row numbers of new ones, the mark)."""
        with self._store.snapshot():  # or a swap of models could come between the vectors
            after = marked(self._store, "judge")
            fresh = self._store.changed("vector:fact", after)
            if not fresh.came:
                return [], np.empty((0, 0), np.float32), [], after
            merged = LifeWhere(kinds=MERGED_KINDS, current=True)
            lives = {life.id: life for life in self._store.lives(merged)}
            vectors = unpacked(*self._store.vectors("fact", list(lives)))
        new = set(fresh.came)
        rows = [n for n, id_ in enumerate(vectors.ids) if id_ in new]
        return [lives[id_] for id_ in vectors.ids], vectors.rows, rows, fresh.last

    def _judgement(
        self,
        older: Life,
        newer: Life,
        cosine: float,
        net: Relater | None,
        closest: Callable[[], bool],
    ) -> Judgement:
        return judge(
            claim_of(older),
            claim_of(newer),
            similarity=cosine,
            older_reading=self._reading(older.statement),
            newer_reading=self._reading(newer.statement),
            net=net,
            closest=closest,
        )

    def _relation(self, older: str, newer: str, cosine: float) -> Relation:
        return judge(
            JudgedClaim(text=older),
            JudgedClaim(text=newer),
            similarity=cosine,
            older_reading=self._reading(older),
            newer_reading=self._reading(newer),
        ).relation


def _pair_ops(
    store: Store, older: Life, newer: Life, judgement: Judgement, cosine: float
) -> list[Op]:
    """Return what follows from a judgement other than SAME."""
    low, high = ids_of(older, newer)
    changed = judgement.relation is Relation.SUPERSEDES
    if judgement.relation is Relation.CONTRADICTION:
        # Halving both would also kill the newer word: what the owner says on a later day about
        # the same thing, or tells afterwards, takes the place of what the owner said before.
        if not changed_mind(store, older, newer):
            return [
                ContradictFacts(
                    low_id=low,
                    high_id=high,
                    rule=judgement.rule,
                    detail=judgement.detail,
                    similarity=cosine,
                )
            ]
        changed = True
    if changed and _outranked(older, newer):
        judgement = replace(judgement, relation=Relation.AMBIGUOUS)
    elif changed:
        return [
            SupersedeFact(
                old_id=older.id,
                new_id=newer.id,
                rule=judgement.rule,
                detail=judgement.detail,
                similarity=cosine,
            )
        ]
    if judgement.relation is Relation.AMBIGUOUS:
        return [_waiting(older, newer, judgement.rule, judgement.detail, cosine)]
    return []


def _likeliest(doubts: Iterable[tuple[float, str, Op]], new: Mapping[str, int]) -> list[Op]:
    """Return the likeliest of what owners would be asked, as many for each as one looks through.

    `doubts` have how much speaks for each, and owners; `new` how many new facts each owner has.
    """
    room = {
        owner: policy.DOUBTS_A_RUN + count // policy.FACTS_A_DOUBT for owner, count in new.items()
    }
    weak = dict.fromkeys(new, policy.WEAK_DOUBTS_A_RUN)
    kept = []
    for much, owner, op in sorted(doubts, key=lambda doubt: -doubt[0]):
        if much < policy.RELATED["ask"]:
            room[owner] = min(room[owner], weak[owner])
            weak[owner] -= 1
        if room[owner] > 0:
            room[owner] -= 1
            kept.append(op)
    return kept


def _at_once(older: Life, newer: Life) -> bool:
    """Tell whether both were said in one message: a part says nothing against it, nor it anew."""
    said = older.kind in _SAID and newer.kind in _SAID
    return said and older.episode_id == newer.episode_id


def _near(older: Life, newer: Life, cosine: float) -> bool:
    """Tell whether a model is asked about two facts that no rule and no network has joined."""
    said = older.kind in _SAID and newer.kind in _SAID
    return said and cosine >= policy.NEAR_PAIR_SIMILARITY


def _waiting(left: Life, right: Life, rule: str, detail: str, cosine: float) -> JudgePair:
    """Return what lets a pair wait for a verdict."""
    low, high = ids_of(left, right)
    return JudgePair(
        low_id=low, high_id=high, relation="ambiguous", rule=rule, detail=detail, similarity=cosine
    )


def _pairs(vectors: Floats, new: Sequence[int]) -> Pairs:
    """Return the pairs of near facts of which at least one is new."""
    threshold = _threshold(vectors, new)
    if len(new) * 2 > len(vectors):
        return near_pairs(vectors, threshold=threshold)
    return near_pairs_of(np.asarray(new, np.int64), vectors, threshold=threshold)


def _threshold(vectors: Floats, new: Sequence[int]) -> float:
    """Return from which cosine on pairs are looked at, so that a run has an end.

    It is `policy.JUDGED_SIMILARITY`, unless a sample tells that more than `policy.JUDGED_PAIRS`
    pairs lie above it; then as much higher as leaves about that many.
    """
    rows = np.asarray(new, np.int64)
    sample = rows[:: max(1, len(rows) // policy.JUDGED_SAMPLE)][: policy.JUDGED_SAMPLE]
    cosines = (vectors[sample] @ vectors.T).ravel()
    above = cosines[cosines >= policy.JUDGED_SIMILARITY]
    allowed = int(policy.JUDGED_PAIRS * len(sample) / len(rows)) + len(sample)  # and themselves
    if len(above) <= allowed:
        return policy.JUDGED_SIMILARITY
    return float(np.partition(above, len(above) - allowed)[len(above) - allowed])


def _by_age(left: Life, right: Life) -> tuple[Life, Life]:
    """Return (older, newer) by when they were last said; equal times by id."""
    first, second = sorted((left, right), key=lambda life: (life.occurred_at or 0, life.id))
    return first, second


def _outranked(older: Life, newer: Life) -> bool:
    """Tell whether the newer one was only overheard: what was told does not go for that."""
    order = policy.TRUST_ORDER
    return order.index(newer.trust.value) > order.index(older.trust.value)
