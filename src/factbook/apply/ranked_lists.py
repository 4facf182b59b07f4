"""Say what a ranked list looks like after a step: arithmetic alone, no store.

A list is `{rank: value}`. Ranks are 1 to policy.MAX_RANK and may have gaps; a value stands once,
where two values are the same when they differ in case and blanks only.

| step | what happens |
|---|---|
| `rank` | what stood at that rank leaves the list, no other rank changes; a value that stood elsewhere moves and leaves a gap behind |
| `rank`, inserted | what stood there moves one down, and so on to the first gap; a value that stood elsewhere is taken out first, as by `remove` |
| `append` | a new value takes the rank after the last one; one that stands there already stays |
| `move` | the same as inserting a value that the list holds |
| `remove` | the value leaves, and those right behind it move up to close the gap; behind the next gap all stay, since somebody gave them their numbers |
| `clear` | all leave |
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from factbook import policy
from factbook.model.keys import fold_value
from factbook.model.ops import KeyStep
from factbook.model.text import shorten

Ranks: TypeAlias = Mapping[int, str]


class RankProblem(Exception):  # an outcome of a step, turned into a refusal by who takes it
    """Carries why a step cannot be done."""


def rank_of(ranks: Ranks, value: str) -> int | None:
    """Return the rank of a value, or None."""
    folded = fold_value(value)
    return next((rank for rank, held in sorted(ranks.items()) if fold_value(held) == folded), None)


def stepped(ranks: Ranks, step: KeyStep) -> dict[int, str]:
    """Return a list after a step, in the order of its ranks.

    Raises RankProblem where the step cannot be done. What a list held before is the store's to
    remember.
    """
    after = dict(ranks)
    if step.action == "clear":
        return {}
    if step.action == "remove":
        _close(after, _found(after, step))
    elif step.action == "move":
        rank = _found(after, step, to=True)
        _place(after, step.rank or 0, after[rank], insert=True)
    elif step.action == "rank":
        _place(after, step.rank or 0, step.value, insert=step.insert)
    elif rank_of(after, step.value) is None:
        last = max(after, default=0) + 1
        if last > policy.MAX_RANK:
            ends = f"ranks end at {policy.MAX_RANK}"
            raise RankProblem(f"there is no room for {shorten(step.value, 60)!r}; {ends}")
        _place(after, last, step.value, insert=False)
    return dict(sorted(after.items()))


def _found(ranks: dict[int, str], step: KeyStep, *, to: bool = False) -> int:
    """Return the rank of what a step names, by its value or by where it stands."""
    rank = step.from_rank if to else step.rank
    if bool(step.value) == (rank is not None):
        raise RankProblem(f"say what to {step.action} either by its value or by its rank")
    held = rank_of(ranks, step.value) if step.value else rank
    if held is None:
        raise RankProblem(f"{shorten(step.value, 60)!r} is not in the list")
    if held not in ranks:
        raise RankProblem(f"nothing stands at rank {held}")
    return held


def _place(ranks: dict[int, str], rank: int, value: str, *, insert: bool) -> None:
    if not 1 <= rank <= policy.MAX_RANK:
        raise RankProblem(f"there is no rank {rank}; ranks are 1 to {policy.MAX_RANK}")
    if not value.strip():
        raise RankProblem("the value is empty")
    held = rank_of(ranks, value)
    if held == rank:
        return  # it stands there, as it was spelled first
    if held is not None and insert:
        value = ranks[held]
        _close(ranks, held)
    elif held is not None:
        del ranks[held]
    gap = rank
    while insert and gap in ranks:
        gap += 1
    if gap > policy.MAX_RANK:
        ends = f"ranks end at {policy.MAX_RANK}"
        raise RankProblem(f"there is no room behind rank {rank}; {ends}")
    for lower in range(gap, rank, -1):
        ranks[lower] = ranks[lower - 1]
    ranks[rank] = value


def _close(ranks: dict[int, str], rank: int) -> None:
    """Take out what stands at a rank, and let those right behind it move up."""
    while rank + 1 in ranks:
        ranks[rank] = ranks[rank + 1]
        rank += 1
    del ranks[rank]
