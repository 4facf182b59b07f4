"""Judge a rule or a decision against one that holds: said again, changed, over, or another matter.

What the later one gives up decides (`given_up`), then what the words of both tell (`judge`). It
changes the earlier one at once where a statement would only contradict it, for the owner decides.
What is not sure, or said by the reader's network alone, is for the owner to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from factbook import policy
from factbook.gate.given_up import GivenUp, How, given_up, things
from factbook.gate.judge import JudgedClaim, Judgement, Relation, judge
from factbook.gate.reading import TextReading, read
from factbook.gate.related import MAY_BE_OVER
from factbook.language.reader.reading import Reading
from factbook.language.reader.relate import Relater

_CHANGES: Final = frozenset({"number", "negation"})
"""Rules of `judge` by which the later of two rules is the earlier one changed."""
_PLACES: Final = frozenset({"project", "repo", "repositori", "folder"})  # where rules hold


def ends(earlier: Reading, given: GivenUp, later: str) -> Judgement | None:
    """Say what becomes of a rule when a later text gives something up; None where nothing does."""
    if given.how is How.PARTED:
        return None
    held = read(earlier.text)
    if given.how is How.ALLOWED:
        return _allows(earlier, held, given, later)
    says = held.keys | set(held.values)
    own = _own(earlier)
    says -= own
    if not given.keys <= says or (given.keys & (held.denied - own) and not given.named):
        return None
    left = says - given.keys - read(later).keys - held.cue_keys - _PLACES
    over = " ".join(sorted(given.keys))
    if given.how is How.RETHOUGHT or len(left) > policy.DIRECTIVE_LEFT * len(given.keys):
        detail = f"The later one gives up what the earlier one names: {over}."
        return Judgement(Relation.AMBIGUOUS, MAY_BE_OVER, detail)
    rule = "over" if given.named else "given_up"
    return Judgement(Relation.SUPERSEDES, rule, f"The later one says that this is over: {over}.")


def _own(rule: Reading) -> frozenset[str]:
    """Return what a rule gives up itself: npm, of "use pnpm, not npm"."""
    return frozenset().union(*(own.keys for own in given_up(rule)))


def _allows(earlier: Reading, held: TextReading, given: GivenUp, later: str) -> Judgement | None:
    """Say what becomes of a rule when a later text allows something that it forbids or replaces."""
    about, free = things(earlier) - _PLACES, given.things - _PLACES
    said = read(later)
    if held.denied:
        about &= held.denied
        named = not (about or held.denied).isdisjoint(given.keys)
        if not named or not free <= held.keys | set(held.values):
            return None
        covered = about <= given.keys and not held.denied.isdisjoint(given.keys)
        sure = covered and held.keys <= held.denied | given.keys | _PLACES
    else:
        covered = sure = _another(held, said, free)
    if not (given.lasts and (covered or held.denied)) and not (covered and "now" in said.keys):
        return None
    relation = Relation.SUPERSEDES if sure and given.lasts else Relation.AMBIGUOUS
    return Judgement(relation, "allowed", "The later one allows what the earlier one forbids.")


def _another(held: TextReading, said: TextReading, free: frozenset[str]) -> bool:
    """Tell whether one thing stands in the place of another: "in English", "in German"."""
    ours, theirs = (
        {(role, key) for key, role in zip(text.order, text.roles, strict=True)}
        for text in (held, said)
    )
    new = {(role, key) for role, key in theirs - ours if key in free}
    old = {role for role, key in ours - theirs if role and key not in _PLACES}
    shared = held.keys & said.keys
    return bool(shared) and len(free) == 1 and {role for role, _ in new} == old


def stand(
    earlier: Reading, later: Reading, *, given: Sequence[GivenUp], similarity: float, net: Relater
) -> Judgement:
    """Say how a later rule stands to an earlier one; `given` is what its text gives up.

    Raises ReaderError where the network cannot be loaded.
    """
    for each in given:
        judged = ends(earlier, each, later.text)
        if judged is not None:
            return judged
    held, said = read(earlier.text), read(later.text)
    judged = judge(
        JudgedClaim(text=earlier.text),
        JudgedClaim(text=later.text),
        similarity=similarity,
        older_reading=held,
        newer_reading=said,
    )
    if judged.relation is Relation.CONTRADICTION:
        changed = judged.rule in _CHANGES
        relation = Relation.SUPERSEDES if changed else Relation.AMBIGUOUS
        return Judgement(relation, judged.rule, judged.detail)
    if judged.relation is not Relation.DIFFERENT:
        return judged
    given_before = _own(earlier)
    near = similarity >= policy.MERGE_SIMILARITY and not given and not given_before
    first, second = ((t.keys, t.denied, t.values, t.denies) for t in (held, said))
    if near and first == second:
        return Judgement(Relation.SAME, "same_directive", "Both say the same in other words.")
    if given_before and given_before <= said.keys - said.denied - _own(later):
        return Judgement(
            Relation.AMBIGUOUS, "taken_up", "The later one has again what the earlier one gives up."
        )
    if similarity < policy.DIRECTIVE_NEAR:
        return judged
    if held.values and said.values and _topic(earlier, held) == _topic(later, said):
        return Judgement(Relation.SUPERSEDES, "number", "The later one has another number.")
    if net.relate(earlier.text, later.text).change >= policy.DIRECTIVE_DOUBT:
        return Judgement(Relation.AMBIGUOUS, MAY_BE_OVER, "The newer one may end the older.")
    return judged


def _topic(rule: Reading, text: TextReading) -> frozenset[str]:
    return things(rule) - set(text.values) - _PLACES
