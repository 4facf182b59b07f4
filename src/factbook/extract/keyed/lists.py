"""Say what a ranked list looks like after a step: arithmetic alone, no store.

A list is `{rank: value}`. Ranks are 1 to policy.MAX_RANK and may have gaps; a value stands once,
where two values are the same when they differ in case and blanks only.

| step | what happens |
|---|---|
| `PutAtRank` (replace) | what stood at that rank leaves the list, no other rank changes; a value that stood elsewhere moves and leaves a gap behind |
| `PutAtRank` (insert) | what stood there moves one down, and so on to the first gap; a value that stood elsewhere is taken out first, as by `Remove` |
| `Append` | each new value takes the rank after the last one; values that stand there already stay |
| `Move` | the same as inserting a value that the list holds |
| `Remove` | the value leaves, and those right behind it move up to close the gap; behind the next gap all stay, since somebody gave them their numbers |
| `Clear` | all leave |

A step that cannot be done changes nothing and says why. What a list held before is the store's to
remember.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from factbook import policy
from factbook.model.keys import fold_value

__all__ = [
    "Append",
    "Arithmetic",
    "Clear",
    "Move",
    "PutAtRank",
    "RankChange",
    "Ranks",
    "Remove",
    "Step",
    "StepResult",
    "apply_steps",
    "changed_ranks",
    "rank_of",
]

Ranks: TypeAlias = Mapping[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PutAtRank:
    """Put a value at a rank."""

    rank: int
    value: str
    mode: Literal["replace", "insert"] = "replace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """Put values at the end."""

    values: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Give a value of the list another rank; it is named itself or by its rank."""

    to: int
    value: str | None = None
    from_rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """Take a value out; it is named itself or by its rank."""

    value: str | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clear:
    """Take all out."""


Step: TypeAlias = PutAtRank | Append | Move | Remove | Clear


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What one step did."""

    changed: bool = False
    left: Sequence[str] = ()  # values that are in the list no more
    problem: str = ""  # why nothing was done; empty where the step was done or had nothing to do


@dataclass(frozen=True, slots=True, kw_only=True)
class RankChange:
    """One rank whose value is another one than before."""

    rank: int
    old: str | None  # None: a gap
    new: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arithmetic:
    """A list after some steps."""

    ranks: Mapping[int, str]  # in the order of the ranks
    results: Sequence[StepResult]  # one for each step
    changes: Sequence[RankChange]  # against the list before, in the order of the ranks

    @property
    def problems(self) -> dict[int, str]:
        """Return why steps were not done, by their place."""
        return {
            place: result.problem for place, result in enumerate(self.results) if result.problem
        }


class _Refused(Exception):  # never leaves this module
    """Carries why a step cannot be done."""


def apply_steps(ranks: Ranks, steps: Iterable[Step]) -> Arithmetic:
    """Return a list after steps, one after the other; a step with a problem is passed over."""
    before = dict(sorted(ranks.items()))
    now = dict(before)
    results: list[StepResult] = []
    for step in steps:
        try:
            after = _stepped(dict(now), step)
        except _Refused as refused:
            results.append(StepResult(problem=str(refused)))
            continue
        kept = {fold_value(value) for value in after.values()}
        left = tuple(value for _, value in sorted(now.items()) if fold_value(value) not in kept)
        results.append(StepResult(changed=after != now, left=left))
        now = after
    now = dict(sorted(now.items()))
    return Arithmetic(ranks=now, results=results, changes=changed_ranks(before, now))


def changed_ranks(before: Ranks, after: Ranks) -> list[RankChange]:
    """Return the ranks whose value differs between two lists, in their order."""
    return [
        RankChange(rank=rank, old=before.get(rank), new=after.get(rank))
        for rank in sorted({*before, *after})
        if before.get(rank) != after.get(rank)
    ]


def rank_of(ranks: Ranks, value: str) -> int | None:
    """Return the rank of a value, or None."""
    folded = fold_value(value)
    return next((rank for rank, held in sorted(ranks.items()) if fold_value(held) == folded), None)


def _stepped(ranks: dict[int, str], step: Step) -> dict[int, str]:
    match step:
        case Clear():
            return {}
        case Append(values=values):
            return _appended(ranks, values)
        case PutAtRank(rank=rank, value=value, mode=mode):
            _check(rank, value)
            return _placed(ranks, rank, value, insert=mode == "insert")
        case Move(to=to):
            rank = _found(ranks, step.value, step.from_rank, "move")
            _check(to, ranks[rank])
            return _placed(ranks, to, ranks[rank], insert=True)
        case Remove():
            rank = _found(ranks, step.value, step.rank, "remove")
            _close(ranks, rank)
            return ranks


def _check(rank: int, value: str) -> None:
    if not 1 <= rank <= policy.MAX_RANK:
        raise _Refused(f"there is no rank {rank}; ranks are 1 to {policy.MAX_RANK}")
    if not value.strip():
        raise _Refused("the value is empty")


def _found(ranks: dict[int, str], value: str | None, rank: int | None, verb: str) -> int:
    if (value is None) == (rank is None):
        raise _Refused(f"say what to {verb} either by its value or by its rank")
    if value is not None:
        value_rank = rank_of(ranks, value)
        if value_rank is None:
            raise _Refused(f"{_shown(value)} is not in the list")
        return value_rank
    if rank not in ranks:
        raise _Refused(f"nothing stands at rank {rank}")
    return rank


def _placed(ranks: dict[int, str], rank: int, value: str, *, insert: bool) -> dict[int, str]:
    held = rank_of(ranks, value)
    if held == rank:
        return ranks  # it stands there, as it was spelled first
    if not insert:
        if held is not None:
            del ranks[held]
        ranks[rank] = value
        return ranks
    if held is not None:
        value = ranks[held]
        _close(ranks, held)
    gap = rank
    while gap in ranks:
        gap += 1
    if gap > policy.MAX_RANK:
        raise _Refused(f"there is no room behind rank {rank}; ranks end at {policy.MAX_RANK}")
    for lower in range(gap, rank, -1):
        ranks[lower] = ranks[lower - 1]
    ranks[rank] = value
    return ranks


def _close(ranks: dict[int, str], rank: int) -> None:
    """Take out what stands at a rank, and let those right behind it move up."""
    while rank + 1 in ranks:
        ranks[rank] = ranks[rank + 1]
        rank += 1
    del ranks[rank]


def _appended(ranks: dict[int, str], values: Sequence[str]) -> dict[int, str]:
    held = {fold_value(value) for value in ranks.values()}
    last = max(ranks, default=0)
    for value in values:
        _check(1, value)
        if fold_value(value) in held:
            continue
        last += 1
        if last > policy.MAX_RANK:
            raise _Refused(f"there is no room for {_shown(value)}; ranks end at {policy.MAX_RANK}")
        ranks[last] = value
        held.add(fold_value(value))
    return ranks


def _shown(value: str) -> str:
    return repr(value if len(value) <= 60 else value[:59] + "…")
