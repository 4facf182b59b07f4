"""Judge merging where one detail changed: a number, a name, a place, a date, a thing, a negation.

    python -m bench.changed [--half dev|held-out|all] [--predictions OUT] [--json] [--seed N]

The pairs come from `changed_templates`: everyday statements in several wordings. A changed pair
differs in one slot, or is negated, and half of them are also reworded; an unchanged pair only is
reworded. A prediction line is `{"pair": [older, newer], "kind": kind, "merge": bool}`, where the
kind of a rewording is "unchanged"; all of them are written before anything is scored.

- false_merge_rate: percent of the changed pairs that would be merged
- paraphrase_recall: percent of the rewordings that would be merged
- contradiction_found: percent of the changed pairs called a contradiction or a supersession

The baseline is cosine alone, at the threshold where the mean of the two error rates is smallest on
the very pairs it is judged on: the best that any one threshold can do, and at seed 001's 0.85.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from bench._common import BenchError, emit, print_table, run
from bench.changed_templates import FILLERS, KIND_OF_POOL, TEMPLATES, Template
from bench.judged import Judged, best_threshold, judge_pairs, share, write_lines

PART = "changed"
DEFAULT_SEED: Final = 11
DEFAULT_PAIRS: Final = 2_400
UNCHANGED: Final = "unchanged"
SEED_COSINE: Final = 0.85  # seed 001: candidates for merging
_SLOT: Final = re.compile(r"\{(\w+?)(\d?)\}")

Half = Literal["dev", "held-out", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two statements, and what differs between them."""

    older: str
    newer: str
    kind: str  # number, name, place, date, thing, negation, or UNCHANGED
    how: str  # how the newer one is worded: plain, order, synonym, contraction, voice, tense
    domain: str


def templates(half: Half = "all") -> tuple[Template, ...]:
    """Return the templates for tuning (even positions), those held out (odd), or all."""
    if half == "all":
        return TEMPLATES
    return TEMPLATES[0 if half == "dev" else 1 :: 2]


def generate(*, seed: int = DEFAULT_SEED, n: int = DEFAULT_PAIRS, half: Half = "all") -> list[Pair]:
    """Make about `n` different pairs, the same ones for the same seed, spread over the templates.

    Each round gives every template one pair of each kind that it allows and as many rewordings.
    """
    chance = random.Random(seed)
    found: dict[tuple[str, str], Pair] = {}
    fruitless = 0
    while len(found) < n and fruitless < 20:
        before = len(found)
        for template in templates(half):
            for pair in _round(template, chance):
                if pair.older != pair.newer:
                    found.setdefault((pair.older, pair.newer), pair)
        fruitless = fruitless + 1 if len(found) == before else 0
    pairs = list(found.values())
    chance.shuffle(pairs)
    return pairs[:n]


def _round(template: Template, chance: random.Random) -> Iterable[Pair]:
    """Yield one pair of each kind that the template allows, and as many rewordings."""
    slots = _slots(template)
    kinds = sorted({KIND_OF_POOL[pool] for pool, _ in slots})
    for kind in [*kinds, "negation"]:
        values = _fill(slots, chance)
        older = _say(template.wordings[0][1], values)
        how = "plain"
        if kind == "negation":
            newer = _say(chance.choice(template.negations), values)
        else:
            slot = chance.choice([one for one in slots if KIND_OF_POOL[one[0]] == kind])
            changed = dict(values)
            changed[slot] = chance.choice(
                [value for value in FILLERS[slot[0]] if value not in values.values()]
            )
            how, text = template.wordings[0]
            if chance.random() < 0.5:
                how, text = chance.choice(_with(template, slot))
            newer = _say(text, changed)
        if chance.random() < 0.5:
            older, newer = newer, older
        yield Pair(older=older, newer=newer, kind=kind, how=how, domain=template.domain)
        values = _fill(slots, chance)
        (_, first), (how, second) = template.wordings[0], chance.choice(template.wordings[1:])
        older, newer = _say(first, values), _say(second, values)
        if chance.random() < 0.5:
            older, newer = newer, older
        yield Pair(older=older, newer=newer, kind=UNCHANGED, how=how, domain=template.domain)


def _slots(template: Template) -> list[tuple[str, str]]:
    """Return the slots of a template as (pool, suffix), in the order of its first wording."""
    found = _SLOT.findall(template.wordings[0][1])
    return list(dict.fromkeys((pool, suffix) for pool, suffix in found))


def _with(template: Template, slot: tuple[str, str]) -> list[tuple[str, str]]:
    name = "{" + "".join(slot) + "}"
    return [(how, text) for how, text in template.wordings if name in text]


def _fill(slots: Sequence[tuple[str, str]], chance: random.Random) -> dict[tuple[str, str], str]:
    """Draw a value for each slot, never the same value twice."""
    values: dict[tuple[str, str], str] = {}
    for slot in slots:
        free = [value for value in FILLERS[slot[0]] if value not in values.values()]
        values[slot] = chance.choice(free)
    return values


def _say(text: str, values: Mapping[tuple[str, str], str]) -> str:
    said = _SLOT.sub(lambda match: values[match[1], match[2]], text)
    return said[:1].upper() + said[1:] if said[:1].isalpha() and " " in said else said


# ------------------------------------------------------------------ scoring


def prediction(pair: Pair, judged: Judged) -> dict[str, object]:
    """Return the line that is written for a pair."""
    return {"pair": [pair.older, pair.newer], "kind": pair.kind, "merge": judged.merge}


def score(lines: Sequence[Mapping[str, object]]) -> dict[str, float]:
    """Score prediction lines: nothing but what they hold."""
    changed = [line["merge"] is True for line in lines if line["kind"] != UNCHANGED]
    same = [line["merge"] is True for line in lines if line["kind"] == UNCHANGED]
    return {"false_merge_rate": share(changed), "paraphrase_recall": share(same)}


def by_kind(pairs: Sequence[Pair], judged: Sequence[Judged]) -> list[dict[str, object]]:
    """Return a row for each kind of pair: how many, merged, and contradicted, in percent."""
    groups: defaultdict[str, list[Judged]] = defaultdict(list)
    for pair, one in zip(pairs, judged, strict=True):
        groups[pair.kind if pair.kind != UNCHANGED else f"unchanged: {pair.how}"].append(one)
    return [
        {
            "kind": kind,
            "pairs": len(ones),
            "merged": share([one.merge for one in ones]),
            "contradiction": share([one.contradiction for one in ones]),
        }
        for kind, ones in sorted(groups.items())
    ]


def errors(pairs: Sequence[Pair], judged: Sequence[Judged]) -> list[dict[str, object]]:
    """Return the pairs that were merged and should not be, and the rewordings that were not."""
    rows: list[dict[str, object]] = []
    for pair, one in zip(pairs, judged, strict=True):
        if one.merge != (pair.kind == UNCHANGED):
            rows.append(
                {
                    "kind": pair.kind,
                    "how": pair.how,
                    "rule": one.rule,
                    "older": pair.older,
                    "newer": pair.newer,
                }
            )
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.changed", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--half", choices=("dev", "held-out", "all"), default="all")
    parser.add_argument("--predictions", type=Path, metavar="OUT", help="write predictions here")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of the drawing")
    parser.add_argument("--n", type=int, default=DEFAULT_PAIRS, help="pairs to make at most")
    parser.add_argument("--show-errors", action="store_true", help="list what was judged wrongly")
    args = parser.parse_args(argv)
    if args.n < 1:
        raise BenchError("--n must be positive")

    pairs = generate(seed=args.seed, n=args.n, half=args.half)
    judged = judge_pairs([(pair.older, pair.newer) for pair in pairs])
    lines = [prediction(pair, one) for pair, one in zip(pairs, judged, strict=True)]
    if args.predictions:
        write_lines(args.predictions, lines)

    cosines = [one.similarity for one in judged]
    wanted = [pair.kind == UNCHANGED for pair in pairs]
    best = best_threshold(cosines, wanted)
    product: dict[str, object] = {**score(lines)}
    product["contradiction_found"] = share(
        [
            one.contradiction
            for pair, one in zip(pairs, judged, strict=True)
            if pair.kind != UNCHANGED
        ]
    )
    figures: dict[str, object] = {
        "seed": args.seed,
        "half": args.half,
        "pairs": len(pairs),
        "by_kind": dict(Counter(pair.kind for pair in pairs)),
        "product": product,
        "cosine_best": {"threshold": best, **score(_cosine_lines(pairs, cosines, best))},
        "cosine_085": {
            "threshold": SEED_COSINE,
            **score(_cosine_lines(pairs, cosines, SEED_COSINE)),
        },
    }
    if not args.json:
        names = ("threshold", "false_merge_rate", "paraphrase_recall")
        print_table(
            f"Merging of {len(pairs)} pairs (percent)",
            [
                {"": who, **{name: of.get(name) for name in names}}
                for who in ("cosine_best", "cosine_085", "product")
                if isinstance(of := figures[who], dict)
            ],
        )
        print_table("By kind (percent)", by_kind(pairs, judged))
        if args.show_errors:
            print_table("Judged wrongly", errors(pairs, judged))
    emit(figures, part=PART, as_json=args.json)
    return 0


def _cosine_lines(
    pairs: Sequence[Pair], cosines: Sequence[float], threshold: float
) -> list[dict[str, object]]:
    return [
        {"pair": [pair.older, pair.newer], "kind": pair.kind, "merge": cosine >= threshold}
        for pair, cosine in zip(pairs, cosines, strict=True)
    ]


if __name__ == "__main__":
    sys.exit(run(main))
