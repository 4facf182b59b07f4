"""What a consolidation changed, fact by fact and grouped by kind, from the history that it wrote.

Writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from factbook.maintenance.confidence_history import moved, numbers, others_of
from factbook.maintenance.verdict_queue import waiting_pairs
from factbook.model.confidence import as_of
from factbook.model.facts import EVERYONE, ME, Event, Everyone, Fact, Run, Status
from factbook.store.kinds import EVENT, PROPOSAL, RUN, Pair
from factbook.store.port import Store, events_of, first


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A fact that became surer, or less so."""

    fact_id: int
    before: float  # at the moment that the change is about
    after: float
    episodes: int  # how many moved it
    why: tuple[str, ...]  # the rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Opposed:
    """Two facts that contradict each other."""

    fact_ids: tuple[int, ...]  # those that lost confidence: a pinned one does not
    before: tuple[float, ...]
    after: tuple[float, ...]
    other_ids: tuple[int, ...]  # what stayed as it was
    rule: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """A fact that a newer one took the place of."""

    old_id: int
    new_id: int
    rule: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """Facts that became part of another one."""

    winner_id: int
    loser_ids: tuple[int, ...]
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Every change of one run."""

    run: Run
    new: Sequence[int]
    supported: Sequence[Moved]
    doubted: Sequence[Moved]
    contradicted: Sequence[Opposed]
    superseded: Sequence[Replaced]
    merged: Sequence[Merged]
    faded: Sequence[int]
    queued: Sequence[Pair]  # that wait for a verdict
    settled: Sequence[tuple[int, int, str]]  # (low id, high id, verdict)
    proposed: Sequence[tuple[int, str]]  # (proposal id, title)
    other: Sequence[tuple[str, int]]  # (what, fact id) of any other change
    facts: Mapping[int, Fact]  # every fact named here, as it was at the time of the run

    @property
    def changes(self) -> int:
        """Count what happened."""
        names = {field.name for field in fields(self)} - {"run", "facts"}
        return sum(len(getattr(self, name)) for name in names)


def run_of(store: Store, run_id: int) -> Run | None:
    """Return a consolidation."""
    return first(store, RUN, {"id": run_id})


_GROUPED = ("store", "support", "doubt", "contradict", "supersede", "absorb", "merge", "settle")


def account(store: Store, run: Run, *, owner: str | Everyone = ME) -> Account:
    """Return what a run changed of an owner's; pairs that it queued are those that still wait."""
    events = store.find(EVENT, {"run_id": run.id})
    of_facts = [event for event in events if event.target_kind == "fact"]
    queued = [
        pair
        for pair in waiting_pairs(store)
        if pair.judged_at == run.started_at and pair.relation == "ambiguous"
    ]
    faded = numbers(run.report.get("faded"))
    named = {event.target_id for event in of_facts}
    named.update(number for event in of_facts for number in others_of(event))
    named.update(faded)
    named.update(number for pair in queued for number in pair[:2])
    facts = {
        number: fact
        for number, fact in store.facts_by_id(sorted(named)).items()
        if owner in (fact.owner, EVERYONE)
    }
    of_facts = [event for event in of_facts if event.target_id in facts]
    faded = [number for number in faded if number in facts]
    queued = [pair for pair in queued if pair.low_id in facts and pair.high_id in facts]
    mine = {
        proposal.id
        for proposal in store.find(PROPOSAL)
        if owner in (proposal.payload.get("owner", ME), EVERYONE)
    }
    stored = {event.target_id: event for event in of_facts if event.op == "store"}
    # what only waits for a yes is listed with what is proposed
    new = [n for n, event in stored.items() if event.detail.get("status") != Status.PROPOSED]
    by_op: dict[str, list[Event]] = {}
    for event in of_facts:
        by_op.setdefault(event.op, []).append(event)
    return Account(
        run=run,
        new=new,
        supported=_moved(by_op.get("support", ()), facts, store),
        doubted=_moved(by_op.get("doubt", ()), facts, store),
        contradicted=_opposed(by_op.get("contradict", ()), facts, store),
        superseded=[
            Replaced(
                old_id=event.target_id,
                new_id=number,
                rule=_text(event, "why"),
                why=_text(event, "says"),
            )
            for event in by_op.get("supersede", ())
            for number in others_of(event)
        ],
        merged=_merged(by_op.get("merge", ())),
        faded=faded,
        queued=queued,
        settled=[
            (event.target_id, number, _text(event, "verdict"))
            for event in by_op.get("settle", ())
            for number in others_of(event)
        ],
        proposed=[
            (event.target_id, _text(event, "title"))
            for event in events
            if event.op == "propose" and event.target_kind == "proposal"
            if event.target_id in mine
        ],
        other=[
            (event.op, event.target_id)
            for event in of_facts
            if event.op not in _GROUPED
            # of a new fact, that is how it came
            if event.op not in ("hold", "last", "bound") or event.target_id not in stored
        ],
        facts={number: as_of(fact, run.started_at) for number, fact in facts.items()},
    )


def _values(fact: Fact, events: Sequence[Event], store: Store) -> tuple[float, float]:
    return moved(fact, events, history=lambda: events_of(store, "fact", fact.id))


def _moved(events: Iterable[Event], facts: Mapping[int, Fact], store: Store) -> list[Moved]:
    """Return one change for each fact, however many episodes moved it."""
    by_fact: dict[int, list[Event]] = {}
    for event in events:
        by_fact.setdefault(event.target_id, []).append(event)
    moveds = []
    for fact_id, mine in by_fact.items():
        before, after = _values(facts[fact_id], mine, store)
        moveds.append(
            Moved(
                fact_id=fact_id,
                before=before,
                after=after,
                episodes=sum(len(numbers(event.detail.get("added"))) for event in mine),
                why=tuple(dict.fromkeys(_text(event, "why") for event in mine)),
            )
        )
    return moveds


def _opposed(events: Iterable[Event], facts: Mapping[int, Fact], store: Store) -> list[Opposed]:
    """Return one contradiction for each pair; each of its facts wrote an event of its own."""
    by_pair: dict[tuple[int, ...], list[Event]] = {}
    for event in events:
        pair = tuple(sorted((event.target_id, *others_of(event))))
        by_pair.setdefault(pair, []).append(event)
    opposed = []
    for pair, mine in by_pair.items():
        values = [_values(facts[event.target_id], [event], store) for event in mine]
        ids = tuple(event.target_id for event in mine)
        opposed.append(
            Opposed(
                fact_ids=ids,
                before=tuple(before for before, _ in values),
                after=tuple(after for _, after in values),
                other_ids=tuple(number for number in pair if number not in ids),
                rule=_text(mine[0], "why"),
                why=_text(mine[0], "says"),
            )
        )
    return opposed


def _merged(events: Iterable[Event]) -> list[Merged]:
    by_winner: dict[int, list[Event]] = {}
    for event in events:
        for winner in others_of(event):
            by_winner.setdefault(winner, []).append(event)
    return [
        Merged(
            winner_id=winner,
            loser_ids=tuple(event.target_id for event in mine),
            rule=_text(mine[0], "why"),
        )
        for winner, mine in by_winner.items()
    ]


def _text(event: Event, name: str) -> str:
    return str(event.detail.get(name) or "")
