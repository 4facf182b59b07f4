"""Pairs of facts that wait for a verdict: as a judge is asked about them, and what follows.

What is decided are Ops; `apply` looks at the rows once more.

Who takes a verdict back (`undo` of its run) has decided the pair: a merge is parted and kept apart,
what a contradiction took is given back, and no pair of that run waits again. A judge that answers
alike to like questions would do the very same on the next night.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import combinations
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from factbook import policy
from factbook.gate.borne_out import OTHER, UNTIED, against_end, against_merge
from factbook.gate.judge import Relation
from factbook.language.reader.relate import RELATER
from factbook.maintenance.join import components
from factbook.model.confidence import value_at
from factbook.model.facts import ME, Fact, FactKind, Millis, Trust
from factbook.model.ops import (
    ContradictFacts,
    FailTask,
    FinishTask,
    JudgePair,
    MergeFacts,
    Op,
    PinFact,
    SettlePair,
    SupersedeFact,
)
from factbook.store.derived.facts import lives_by_id, told_at, vouched
from factbook.store.derived.ledger import evidence_of
from factbook.store.derived.tasks import open_tasks
from factbook.store.kinds import PAIR, Pair
from factbook.store.port import Store
from factbook.store.rows import Life

Ids: TypeAlias = tuple[int, int]
"""The facts of a pair, the lower id first."""

TASK: Final = "judge"  # the kind of the inputs of a model that pairs are
MERGE_RULE: Final = "merge"  # queued what says the same and is not sure enough to be merged
_LOW_BITS: Final = 31  # a pair's number holds both ids in the 63 bits of the store's integers


@dataclass(frozen=True, slots=True, kw_only=True)
class PairQuestion:
    """A pair that rules cannot decide, as a judge is asked about it."""

    low_id: int
    high_id: int
    texts: tuple[str, str]  # redacted
    confidences: tuple[float, float]
    why: str
    rule: str = ""  # that queued it; MERGE_RULE for what says the same
    relation: str = Relation.AMBIGUOUS.value  # or contradiction: both have lost half already
    owner: str = ME
    dates: tuple[Millis | None, Millis | None] = (None, None)  # when each was last said
    attempts: int = 0  # how often a model was asked in vain
    error: str = ""  # why, the last time
    aside: bool = False  # it was asked too often: only a person is asked now
    until: Millis = 0  # no model is asked before
    seen: tuple[str, str] = ("", "")  # digests of the facts as they were
    sources: tuple[str, str] = ("", "")  # where each was first said
    heard: int = 0  # which of them was only overheard, against what was told; 0 for neither

    @property
    def ids(self) -> Ids:
        """What names the pair."""
        return self.low_id, self.high_id


class Missed(NamedTuple):
    """A pair that a model was asked about and has no verdict for."""

    ids: Ids
    reason: str
    tried: bool = True  # False: the failure is the endpoint's, and says nothing of the pair
    wait_ms: Millis = 0  # that the endpoint asks for


@dataclass(slots=True, kw_only=True)
class CallReport:
    """What came of one call for verdicts."""

    about: str  # contradictions or merges
    waiting: int  # pairs that the call is for
    asked: int = 0  # of these, put before the model; the others did not fit its window
    verdicts: dict[str, int] = field(default_factory=dict)  # verdict -> pairs
    left_out: int = 0  # pairs that the answer says nothing of
    refused: dict[str, int] = field(default_factory=dict)  # reason -> parts of the answer, or
    # pairs that are too large to be asked about
    skipped: dict[str, int] = field(default_factory=dict)  # reason -> verdicts without effect
    failure: str = ""  # the model.ModelFailure that ended the call
    error: str = ""  # that failure in a sentence

    def told(self) -> str:
        """Say it in one line."""
        if self.error:
            return f"{self.about}: {self.asked} of {self.waiting} pairs asked; {self.error}"
        parts = [f"{self.asked} of {self.waiting} pairs asked"]
        if self.asked < self.waiting:
            parts[0] += " (the others do not fit the model's window and wait)"
        parts += [f"{count} {name}" for name, count in sorted(self.verdicts.items())]
        if self.left_out:
            parts.append(f"{self.left_out} left out of the answer")
        for word, counts in (("refused", self.refused), ("skipped", self.skipped)):
            parts += [f"{n} {word} ({reason})" for reason, n in sorted(counts.items())]
        return f"{self.about}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRulings:
    """What a judge says of all questions, with an account of its calls."""

    verdicts: Mapping[Ids, str]  # each one of policy.VERDICTS
    calls: Sequence[CallReport] = ()
    missed: Sequence[Missed] = ()  # asked in vain: if tried, counted, and set aside in the end
    about: Mapping[Ids, CallReport] = field(default_factory=dict)  # the call of each verdict
    version: str = ""  # of the prompt


Resolver = Callable[[Sequence[PairQuestion]], Mapping[Ids, str] | JudgeRulings]
"""Answers all questions at once: (low id, high id) -> one of policy.VERDICTS; what it leaves out
waits on. It raises a FactbookError when it cannot answer; nothing is decided then."""


class Unsettled(NamedTuple):
    """Why a verdict has no effect."""

    reason: str  # not_waiting, no_verdict, changed, told_apart, another_kind, other_value or asked
    says: str


def task_of(ids: Ids) -> int:
    """Return the number under which the store counts how often a pair was asked in vain."""
    return ids[0] << _LOW_BITS | ids[1]


def pair_of(task: int) -> Ids:
    """Return the pair of such a number."""
    return task >> _LOW_BITS, task & (1 << _LOW_BITS) - 1


def judged_pairs(store: Store) -> list[Pair]:
    """Return every pair that was judged, oldest first."""
    return _by_age(store.find(PAIR))


def waiting_pairs(store: Store) -> list[Pair]:
    """Return the pairs that wait for a verdict, oldest first.

    Ambiguous ones wait, and clear contradictions too, whose facts have lost half already: the seed
    flags them for a verdict. A pair of which one has retired waits for nothing.
    """
    pairs = store.find(PAIR, {"relation": ("ambiguous", "contradiction"), "verdict": ""})
    lives = lives_by_id(store, sorted({number for pair in pairs for number in pair[:2]}))
    return _by_age(pair for pair in pairs if all(lives[number].current for number in pair[:2]))


def _by_age(pairs: Iterable[Pair]) -> list[Pair]:
    return sorted(pairs, key=lambda pair: (pair.judged_at, pair.low_id, pair.high_id))


def waiting_questions(
    store: Store, *, now: Millis, redact: Callable[[str], str]
) -> list[PairQuestion]:
    """Return every pair that waits for a verdict and whose facts are both current, oldest first."""
    pairs = waiting_pairs(store)
    facts = store.facts_by_id(sorted({id_ for pair in pairs for id_ in pair[:2]}))
    tasks = {pair_of(task.target): task for task in open_tasks(store, TASK)}
    sources = {
        fact: rows[0].source for fact, rows in evidence_of(store, list(facts)).items() if rows
    }
    owners = {facts[pair.low_id].owner for pair in pairs if pair.rule == policy.OVERHEARD}
    told = {life.id for owner in owners for life in vouched(store, owner)}
    questions = []
    for pair in pairs:
        low, high = facts[pair.low_id], facts[pair.high_id]
        if low.retired_at is not None or high.retired_at is not None:
            continue
        task = tasks.get((pair.low_id, pair.high_id))
        questions.append(
            PairQuestion(
                low_id=pair.low_id,
                high_id=pair.high_id,
                texts=(redact(low.statement), redact(high.statement)),
                confidences=(value_at(low, now), value_at(high, now)),
                why=pair.detail,
                rule=pair.rule,
                relation=pair.relation,
                owner=low.owner,
                dates=(low.occurred_at, high.occurred_at),
                attempts=task.attempts if task else 0,
                error=task.error if task else "",
                aside=task is not None and task.state == "aside",
                until=task.until if task else 0,
                seen=(_seen(low), _seen(high)),
                sources=(sources.get(low.id, ""), sources.get(high.id, "")),
                heard=_heard(low, high, told) if pair.rule == policy.OVERHEARD else 0,
            )
        )
    return questions


def _heard(low: Fact, high: Fact, told: AbstractSet[int]) -> int:
    """Return which of two facts was overheard, of which one was told or is its owner's own word."""
    both = [fact for fact in (low, high) if fact.id not in told]
    both = [fact for fact in both if fact.trust is not Trust.DIRECT] or both
    return both[0].id if len(both) == 1 else 0


def _seen(fact: Fact | Life) -> str:
    """Return a digest of what a verdict rests on: another one means another question."""
    parts = (
        fact.statement,
        fact.owner,
        fact.evidence_count,
        fact.confidence,
        fact.confidence_at,
        fact.occurred_at,
        fact.retired_at,
    )
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def task_ops(
    store: Store,
    ruling: JudgeRulings,
    settlement: Mapping[Ids, Unsettled],
    *,
    redact: Callable[[str], str],
) -> list[Op]:
    """Return what remembers which pairs were asked in vain, and forgets those that wait no more."""
    waiting = {
        (pair.low_id, pair.high_id)
        for pair in waiting_pairs(store)
        if pair.rule not in policy.FOR_A_PERSON
    }
    ops: list[Op] = [
        FinishTask(kind=TASK, target=task.target, version=task.version)
        for task in open_tasks(store, TASK)
        if pair_of(task.target) not in waiting
    ]
    missed = {miss.ids: miss for miss in ruling.missed}
    for ids, why in settlement.items():
        if why.reason in _MODELS_FAULT:
            missed.setdefault(ids, Missed(ids, why.says))
    ops += [
        FailTask(
            kind=TASK,
            target=task_of(miss.ids),
            version=ruling.version,
            error=redact(miss.reason),
            tried=miss.tried,
            wait_ms=miss.wait_ms,
        )
        for miss in missed.values()
        if miss.ids in waiting
    ]
    return ops


_MODELS_FAULT: Final = frozenset({"no_verdict", "told_apart", "another_kind", "other_value"})


def settle_pairs(
    store: Store, verdicts: Mapping[Ids, str], *, now: Millis, write: Callable[[Sequence[Op]], None]
) -> list[str]:
    """Do what follows from verdicts on waiting pairs, and return what is wrong with others."""
    unsettled = settle(store, verdicts, now=now, write=write)
    return list(dict.fromkeys(why.says for why in unsettled.values() if why.reason != "changed"))


def settle(
    store: Store,
    verdicts: Mapping[Ids, str],
    *,
    now: Millis,
    write: Callable[[Sequence[Op]], None],
    questions: Iterable[PairQuestion] = (),
) -> dict[Ids, Unsettled]:
    """Do what follows from verdicts on waiting pairs, and say why others have no effect.

    A verdict on a question is void where one of its facts is another than the question showed, and
    where it would make one of two values, names or quantities, or retire something for what is said
    of another. Where nothing but the verdict ties both together, or it would retire what its owner
    stands for, the owner is asked instead, once.
    Pairs that are to be merged are merged by component, into the surest of them, unless two of the
    component were told apart; a pair is settled only when its facts are one, so a merge that a
    concurrent write prevented waits on.
    """
    waiting = {(pair.low_id, pair.high_id): pair for pair in waiting_pairs(store)}
    asked = [question for question in questions if question.ids in verdicts]
    unsettled = _changed(store, asked)
    ops: list[Op] = []
    stands_for = cache(lambda owner: {life.id for life in vouched(store, owner)})
    for question in asked:
        pair = waiting.get(question.ids)
        if pair is not None and question.ids not in unsettled:
            own = partial(stands_for, question.owner)
            why = _held_back(store, pair, verdicts[question.ids], own)
            if why is not None:
                unsettled[question.ids] = why
                ops += [_for_a_person(pair, why.says)] if why.reason == "asked" else []
    merging: list[Ids] = []
    for ids, verdict in verdicts.items():
        pair = waiting.get(ids)
        if ids in unsettled:
            continue
        if pair is None:
            unsettled[ids] = Unsettled(
                "not_waiting", f"the facts {ids[0]} and {ids[1]} do not wait for a verdict"
            )
        elif verdict not in policy.VERDICTS:
            says = f"{verdict!r} is no verdict; use one of {', '.join(policy.VERDICTS)}"
            unsettled[ids] = Unsettled("no_verdict", says)
        elif verdict == "MERGE":
            merging.append(ids)
        else:
            ops += _kept_ops(store, pair, verdict)
    ops += _merge_ops(store, merging, verdicts, unsettled, now=now)
    merging = [ids for ids in merging if ids not in unsettled]
    write(ops)
    after = lives_by_id(store, sorted({id_ for ids in merging for id_ in ids}))
    one_now = [ids for ids in merging if not all(after[id_].current for id_ in ids)]
    write([SettlePair(low_id=low, high_id=high, verdict="MERGE") for low, high in one_now])
    for ids in set(merging).difference(one_now):
        unsettled[ids] = _changed_meanwhile(ids)
    return unsettled


def _held_back(
    store: Store, pair: Pair, verdict: str, stands_for: Callable[[], AbstractSet[int]]
) -> Unsettled | None:
    """Return why a judge's verdict on a pair that waits is not followed; None where it is.

    `stands_for` gives the facts that their owner told, pinned or called right.
    """
    ids = pair.low_id, pair.high_id
    names = f"the facts {ids[0]} and {ids[1]}"
    older, newer = both = _as_said(store, ids)
    texts = older.statement, newer.statement
    if verdict == "MERGE":
        why = against_merge(*texts, pair.similarity, RELATER)
        if why and why != UNTIED:
            says = f"{names} cannot be merged: they differ ({why})"
            return Unsettled("other_value", says)
        if why and pair.rule != MERGE_RULE:
            return Unsettled("asked", f"a model says that both say the same; {_UNTIED}")
    if verdict != "CONTRADICTION" or pair.relation == Relation.CONTRADICTION:
        return None
    why = against_end(*texts, pair.similarity, RELATER)
    if why == OTHER:
        return Unsettled("other_value", f"{names} are about two persons or things")
    untied = why == UNTIED and pair.rule in policy.UNSUSPECTED
    retires = _retires(store, both)
    if retires and older.id in stands_for():
        return Unsettled("asked", f"{_NOT_BOTH}; its owner stands for the earlier one")
    if untied or (retires and why not in ("", UNTIED)):
        return Unsettled("asked", f"{_NOT_BOTH}; {_UNTIED}")
    return None


_NOT_BOTH: Final = "a model says that both cannot hold"
_UNTIED: Final = "their words do not show it"


def _for_a_person(pair: Pair, says: str) -> JudgePair:
    return JudgePair(
        low_id=pair.low_id,
        high_id=pair.high_id,
        relation=Relation.AMBIGUOUS.value,
        rule=policy.MODEL_SAYS,
        detail=says,
        similarity=pair.similarity,
    )


def _changed(store: Store, asked: Sequence[PairQuestion]) -> dict[Ids, Unsettled]:
    facts = lives_by_id(store, sorted({fact for question in asked for fact in question.ids}))
    return {
        question.ids: _changed_meanwhile(question.ids)
        for question in asked
        if tuple(_seen(facts[fact]) for fact in question.ids) != question.seen
    }


def _changed_meanwhile(ids: Ids) -> Unsettled:
    return Unsettled("changed", f"the facts {ids[0]} and {ids[1]} changed meanwhile")


def _kept_ops(store: Store, pair: Pair, verdict: str) -> list[Op]:
    """Return what follows where both stay, or one is not so.

    Of two directives that cannot both hold the later one does, and so does what its owner says on
    a later day, or tells after it was said in passing.
    """
    settled = SettlePair(low_id=pair.low_id, high_id=pair.high_id, verdict=verdict)
    if verdict != "CONTRADICTION" or pair.relation == Relation.CONTRADICTION:
        return [settled]
    older, newer = both = _as_said(store, (pair.low_id, pair.high_id))
    if _retires(store, both):
        over = SupersedeFact(old_id=older.id, new_id=newer.id, rule="verdict", detail=pair.detail)
        return [settled, over]
    return [
        ContradictFacts(
            low_id=pair.low_id,
            high_id=pair.high_id,
            rule="verdict",
            detail=pair.detail,
            similarity=pair.similarity,
        )
    ]


def _retires(store: Store, both: Sequence[Life]) -> bool:
    """Tell whether the later of two facts that cannot both hold takes the earlier one's place."""
    rules = all(life.kind is FactKind.DIRECTIVE for life in both)
    return rules or changed_mind(store, *both)


def newer_ops(store: Store, question: PairQuestion) -> list[Op]:
    """Return what follows where a person says that of two facts the one said last holds."""
    older, newer = _as_said(store, question.ids)
    low, high = question.ids
    return [
        SettlePair(low_id=low, high_id=high, verdict="CONTRADICTION"),
        # A pin holds against everything but its owner, whose word this is.
        *([PinFact(fact_id=older.id, pinned=False)] if older.pinned else []),
        SupersedeFact(old_id=older.id, new_id=newer.id, rule="verdict", detail=question.why),
    ]


def _as_said(store: Store, ids: Ids) -> list[Life]:
    """Return two facts, the one that was said last at the end."""
    lives = lives_by_id(store, ids).values()
    return sorted(lives, key=lambda life: (life.occurred_at or 0, life.id))


def _merge_ops(
    store: Store,
    merging: Sequence[Ids],
    verdicts: Mapping[Ids, str],
    unsettled: dict[Ids, Unsettled],
    *,
    now: Millis,
) -> list[Op]:
    """Return the merges of the components of these pairs; who cannot be merged is unsettled."""
    rows = list(lives_by_id(store, sorted({id_ for ids in merging for id_ in ids})).values())
    number = {life.id: n for n, life in enumerate(rows)}
    edges = [(number[low], number[high]) for low, high in merging]
    left, right = np.asarray(edges, np.int64).reshape(-1, 2).T
    groups = [[rows[n] for n in group] for group in components(len(rows), left, right)]
    apart = set(unsettled)
    if any(len(group) > 2 for group in groups):
        apart |= _apart(store, verdicts)
    ops: list[Op] = []
    for group in groups:
        members = sorted(
            group,
            key=lambda life: (
                life.trust is not Trust.DIRECT,
                -value_at(life, now),
                -life.evidence_count,
                -(life.occurred_at or 0),  # of what is as sure the newer wording stands
                life.id,
            ),
        )
        why = _cannot_merge(members, apart)
        if why is not None:
            inside = {member.id for member in members}
            unsettled.update({ids: why for ids in merging if inside.issuperset(ids)})
            continue
        ops.append(merge_of(members, "verdict"))
    return ops


def merge_of(members: Sequence[Life], rule: str) -> MergeFacts:
    """Return the merge of facts, as they were read, into the first of them."""
    return MergeFacts(
        winner_id=members[0].id,
        loser_ids=[member.id for member in members[1:]],
        evidence_counts=[member.evidence_count for member in members],
        rule=rule,
    )


def _cannot_merge(members: Sequence[Life], apart: set[Ids]) -> Unsettled | None:
    ids = sorted(member.id for member in members)
    names = ", ".join(map(str, ids))
    if len({category(member) for member in members}) > 1:
        return Unsettled(
            "another_kind", f"the facts {names} are of different kinds and cannot be merged"
        )
    for low, high in combinations(ids if len(ids) > 2 else (), 2):
        if (low, high) in apart:
            says = f"the facts {names} cannot all be merged: {low} and {high} were told apart"
            return Unsettled("told_apart", says)
    return None


def _apart(store: Store, verdicts: Mapping[Ids, str]) -> set[Ids]:
    """Return the pairs that are not to become one fact, by verdicts of now or before, or rules."""
    apart = {ids for ids, verdict in verdicts.items() if verdict != "MERGE"}
    for pair in judged_pairs(store):
        ids = (pair.low_id, pair.high_id)
        by_rule = (
            pair.relation in (Relation.CONTRADICTION, Relation.SUPERSEDES) and not pair.verdict
        )
        by_verdict = pair.verdict in ("KEEP_BOTH", "CONTRADICTION")
        if (by_rule or by_verdict) and verdicts.get(ids) != "MERGE":
            apart.add(ids)
    return apart


def category(life: Life) -> tuple[str, ...]:
    """Return what two facts must share to be one (origins 001.5: "same category")."""
    predicate = "" if life.kind is FactKind.DIRECTIVE else life.predicate  # a rule or a decision
    return life.owner, life.kind, predicate, life.subject


def changed_mind(store: Store, older: Life, newer: Life) -> bool:
    """Tell whether the owner said the newer one, in person, on a later day than the older.

    What they told factbook on purpose takes the place of what they had said in passing at once.
    """
    if older.occurred_at is None or newer.occurred_at is None:
        return False
    if newer.trust is not Trust.DIRECT or older.trust is not Trust.DIRECT:
        return False
    if newer.occurred_at - older.occurred_at >= policy.CHANGED_MIND_MS:
        return True
    told = told_at(store, [older.id, newer.id])
    return older.id not in told and told.get(newer.id, 0) > older.occurred_at
