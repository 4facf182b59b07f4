"""How sure a fact was, from its first evidence until now, and what moved it.

A fact stores its confidence as of a moment, and each event of its history says what that was before
and after; between two events the value follows from the first of them alone. So the whole course
can be drawn from the history, and nothing else has to be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from factbook.model.confidence import value_at
from factbook.model.facts import Event, Fact, Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceStep:
    """One event of a fact, and how sure the fact was before and after it."""

    at: Millis  # when it was written down
    as_of: Millis  # the moment that it is about: when the evidence happened
    op: str  # store, support, doubt, contradict, supersede, absorb, merge, pin, rate, ...
    why: str  # the rule or the reason that was written down
    says: str  # the same in words, where a rule said some
    before: float | None  # at that moment, fading included; None at the beginning
    after: float
    others: tuple[int, ...]  # facts that took part
    added: tuple[int, ...]  # episodes that became evidence
    removed: tuple[int, ...]  # episodes that are evidence no more
    actor: str
    trigger: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The confidence of a fact over time."""

    steps: Sequence[ConfidenceStep]
    standings: Sequence[tuple[Millis, Fact]]  # the fact as it stood from when on, the oldest first
    end: Millis  # now, or when the fact retired
    value: float  # at the end
    retired: bool

    def points(self, number: int) -> list[float]:
        """Return the value at so many moments, evenly from the first to the end."""
        if not self.standings or number < 1:
            return []
        first = self.standings[0][0]
        gap = max(0, self.end - first) / max(1, number - 1)
        return [self.value_on(first + round(gap * n)) for n in range(number)]

    def value_on(self, moment: Millis) -> float:
        """Return how sure the fact was at a moment; before the first, as sure as it began."""
        held = [fact for since, fact in self.standings if since <= moment]
        return value_at(held[-1] if held else self.standings[0][1], moment)


def course(fact: Fact, history: Sequence[Event], *, now: Millis) -> Course:
    """Return the course of a fact, as the store holds it, from its history, oldest first."""
    standing = _first(fact, history)
    steps: list[ConfidenceStep] = []
    standings = [(min(standing.confidence_at, now), standing)]
    for event in history:
        if event.op == "embed":
            continue  # its vector has nothing to do with how sure it is
        before, after = _around(standing, event.detail)
        touched = after.confidence_at != before.confidence_at or event.op in ("store", "support")
        as_of = min(after.confidence_at, event.at) if touched else event.at
        was = None if event.op == "store" else value_at(before, as_of)
        steps.append(_step(event, as_of=as_of, before=was, after=value_at(after, as_of)))
        if after != standing:
            standings.append((max(as_of, standings[-1][0]), after))
        standing = after
    end = now if fact.retired_at is None else fact.retired_at
    return Course(
        steps=steps,
        standings=standings,
        end=max(end, standings[0][0]),
        value=value_at(standing, end),
        retired=fact.retired_at is not None,
    )


def moved(
    fact: Fact, events: Sequence[Event], *, history: Callable[[], Sequence[Event]]
) -> tuple[float, float]:
    """Return (before, after) of events of a fact that belong together, oldest first.

    Both are values at the moment that the last of them is about, so that what faded in between does
    not hide what they changed. `history` gives every event of the fact; it is asked only where the
    events do not tell what held after them, for they name only what they changed.
    """
    told = _mapping(events[-1].detail.get("after"))
    standing = fact
    if not {"confidence", "confidence_at"} <= told.keys():
        whole = history()
        standing = _first(fact, whole)
        for event in whole:
            _, standing = _around(standing, event.detail)
            if event.id == events[-1].id:
                break
    standing = earlier = _with(standing, told)
    for event in reversed(events):
        earlier = _with(earlier, _mapping(event.detail.get("before")))
    moment = min(standing.confidence_at, events[-1].at)
    return value_at(earlier, moment), value_at(standing, moment)


def _first(fact: Fact, history: Sequence[Event]) -> Fact:
    """Return what a fact began with: what no event changed is as it is now."""
    began: dict[str, Any] = {}
    for event in history:
        if event.op == "store" and "confidence" in event.detail:
            began.setdefault("confidence", event.detail["confidence"])
        changed = event.detail.get("confidence")
        if event.op == "update" and isinstance(changed, list):
            began.setdefault("confidence", changed[0])
        for name, value in _mapping(event.detail.get("before")).items():
            began.setdefault(name, value)
    return _with(fact, began)


def _around(standing: Fact, detail: Mapping[str, object]) -> tuple[Fact, Fact]:
    before = _with(standing, _mapping(detail.get("before")))
    after = _with(before, _mapping(detail.get("after")))
    changed = detail.get("confidence")  # how a fact that does not fade tells of its growth
    if isinstance(changed, list):
        after = replace(after, confidence=float(changed[1]))
    return before, after


def _with(standing: Fact, parts: Mapping[str, Any]) -> Fact:
    names = ("confidence", "confidence_at", "pinned", "valid_to", "retired_at")
    return replace(standing, **{name: parts[name] for name in names if name in parts})


def _step(event: Event, *, as_of: Millis, before: float | None, after: float) -> ConfidenceStep:
    detail = event.detail
    return ConfidenceStep(
        at=event.at,
        as_of=as_of,
        op=event.op,
        why=str(detail.get("why") or detail.get("verdict") or ""),
        says=str(detail.get("says") or ""),
        before=before,
        after=after,
        others=tuple(others_of(event)),
        added=tuple(numbers(detail.get("added"))),
        removed=tuple(numbers(detail.get("removed"))),
        actor=event.actor,
        trigger=event.trigger,
    )


def others_of(event: Event) -> list[int]:
    """Return the other facts that an event names."""
    detail, after = event.detail, _mapping(event.detail.get("after"))
    named = [detail.get("other"), detail.get("loser")]
    return numbers([*named, after.get("merged_into_id"), after.get("superseded_by")])


def numbers(value: object) -> list[int]:
    """Return the whole numbers of a list as an event has it; none where it is none."""
    return [item for item in value if isinstance(item, int)] if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
