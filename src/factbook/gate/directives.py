"""Judge a rule or a decision against one that holds: said again, changed, over, or another matter.

What the later one says it puts something in the place of, or ends, decides (`given_up`); then what
the words of both tell (`judge`). A later rule changes an earlier one at once where a statement
would only contradict it, for the owner decides. What is not sure is for the owner to say.

Knows: two texts, what the later one gives up, their cosine. Does not know: where a rule holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from factbook import policy
from factbook.gate.given_up import GivenUp, given_up
from factbook.gate.judge import JudgedClaim, Judgement, Relation, judge
from factbook.gate.reading import TextReading, read
from factbook.language.reader.reading import Reading

__all__ = ["ends", "stand"]

_CHANGES: Final = frozenset({"number", "negation"})
"""Rules of `judge` by which the later of two rules is the earlier one changed."""
_SAME: Final = Judgement(
    relation=Relation.SAME, rule="same_directive", detail="Both say the same in other words."
)


def ends(earlier: Reading, given: GivenUp, later: str) -> Judgement | None:
    """Say what becomes of a rule when a later text gives something up; None where nothing does."""
    held = read(earlier.text)
    says = held.keys | set(held.values)
    for own in given_up(earlier):
        says -= own.keys
    if not given.keys <= says or (held.denies and not given.named):
        return None
    left = says - given.keys - read(later).keys
    over = " ".join(sorted(given.keys))
    if len(left) > policy.DIRECTIVE_LEFT * len(given.keys):
        return Judgement(
            relation=Relation.AMBIGUOUS,
            rule="may_be_over",
            detail=f"The later one gives up what the earlier one names: {over}.",
        )
    return Judgement(
        relation=Relation.SUPERSEDES,
        rule="over" if given.named else "given_up",
        detail=f"The later one says that this is over: {over}.",
    )


def stand(
    earlier: Reading, later: str, *, given: Sequence[GivenUp], similarity: float
) -> Judgement:
    """Say how a later rule stands to an earlier one; `given` is what its text gives up."""
    for each in given:
        judged = ends(earlier, each, later)
        if judged is not None:
            return judged
    held, said = read(earlier.text), read(later)
    judged = judge(
        JudgedClaim(text=earlier.text),
        JudgedClaim(text=later),
        similarity=similarity,
        older_reading=held,
        newer_reading=said,
    )
    if judged.relation is Relation.CONTRADICTION:
        changed = judged.rule in _CHANGES
        relation = Relation.SUPERSEDES if changed else Relation.AMBIGUOUS
        return Judgement(relation=relation, rule=judged.rule, detail=judged.detail)
    near = similarity >= policy.MERGE_SIMILARITY and not given and not given_up(earlier)
    if judged.relation is Relation.DIFFERENT and near and _words(held) == _words(said):
        return _SAME
    return judged


def _words(rule: TextReading) -> tuple[object, ...]:
    """Return what two rules that say the same share, in whatever order."""
    return rule.keys, rule.values, rule.denies
