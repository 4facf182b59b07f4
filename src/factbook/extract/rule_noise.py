"""Tell by signs that need no reading which rules make noise.

Of seed 000's own keyword facts about 67 % were: one object for most of them, objects too short to
mean anything, candidates that are mostly refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from factbook.extract.base import Rule

_FEW = 5  # below this many facts a share says nothing
_SHORT = 2  # objects of so few characters rarely name anything


def measure_noise(
    rule: Rule, objects: Sequence[tuple[str, int]], rejected: int
) -> tuple[float, str]:
    """Return a score from 0 to 1 and the reason for it, from (object, facts) pairs.

    Rules that copy a field of the record exactly (confidence 1.0) repeat by nature: of them only
    refused candidates count.
    """
    total = sum(count for _, count in objects)
    if total + rejected < _FEW:
        return 0.0, "too few to tell"
    signs = [(rejected / (total + rejected), f"{rejected} candidates refused")]
    category = "{object}" not in rule.statement  # the sentence tells such facts apart
    if rule.confidence < 1.0 and total >= _FEW and not category:
        top, count = max(objects, key=lambda pair: pair[1])
        if count > 1:
            signs.append((count / total, f"{count} of {total} facts say {top[:40]!r}"))
        short = sum(count for name, count in objects if len(name) <= _SHORT)
        signs.append((short / total, f"{short} objects of {_SHORT} characters or fewer"))
    score, why = max(signs)
    return round(score, 3), why if score > 0 else "no sign of noise"
