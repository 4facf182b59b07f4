"""Judge contradictions and merges on pairs of sentences, beside cosine alone.

    python -m bench.sick [--sick FILE] [--predictions OUT] [--json]

FILE is tab-separated with a header: pair_ID, sentence_A, sentence_B, and the labels
relatedness_score and entailment_judgment (or entailment_label), as SICK writes them; by default it
is the data folder's. A prediction line is `{"pair_ID", "merge": bool, "contradiction": bool}`; all
of them are written before anything is scored. Without labels nothing is scored.

- contradiction precision and recall: a pair counts as called when the judge says contradiction or
  supersession, and as right when its label is CONTRADICTION
- paraphrases_merged: percent of the true paraphrases (ENTAILMENT, relatedness at least 4.5) that
  the judge calls the same; contradictions_merged and neutral_merged: percent of those pairs

The baseline is cosine alone: merge at or above the threshold where the two rates of merging errors
(paraphrases missed, other pairs merged) are smallest on the very file; contradiction where the
cosine is above the threshold with the best F1 and below the one for merging. Beside it stands the
cosine of 0.85 at which seed 001 looks for both.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench._common import BenchError, data_dir, emit, print_table, run
from bench.judged import Judged, best_threshold, judge_pairs, share, write_lines

PART = "sick"
SEED_COSINE: Final = 0.85  # seed 001: a candidate for merging, and for a contradiction
PARAPHRASE: Final = 4.5  # relatedness from which an entailment is a paraphrase
COLUMNS: Final = ("pair_ID", "sentence_A", "sentence_B")
LABELS: Final = ("entailment_judgment", "entailment_label")  # the two names it goes by


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One pair of the file with its labels, which only the scoring reads."""

    id: str
    first: str
    second: str
    relatedness: float  # 1 to 5; 0 where the file has none
    label: str  # ENTAILMENT, CONTRADICTION, NEUTRAL; "" where the file has none

    @property
    def paraphrase(self) -> bool:
        """Say whether people found that both say the same."""
        return self.label == "ENTAILMENT" and self.relatedness >= PARAPHRASE


def read_pairs(path: Path) -> list[Pair]:
    """Read a file of pairs; raises `BenchError` where it is none."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, UnicodeDecodeError) as error:
        raise BenchError(f"cannot read {path}: {error}; name a file of pairs") from error
    if not rows:
        raise BenchError(f"{path} holds no pairs; name a file with a header and a pair a line")
    missing = [name for name in COLUMNS if name not in rows[0]]
    if missing:
        raise BenchError(f"{path} has no column {missing[0]}; its header must name {COLUMNS}")
    label = next((name for name in LABELS if name in rows[0]), None)
    pairs = []
    for number, row in enumerate(rows, start=2):
        written = row.get("relatedness_score") or "0"
        try:
            relatedness = float(written)
        except ValueError as error:
            raise BenchError(
                f"{path} line {number}: {written!r} is no relatedness; correct it"
            ) from error
        if row["sentence_A"] is None or row["sentence_B"] is None:
            raise BenchError(f"{path} line {number} has too few columns; correct it")
        pairs.append(
            Pair(
                id=row["pair_ID"],
                first=row["sentence_A"],
                second=row["sentence_B"],
                relatedness=relatedness,
                label=(row[label] or "").strip().upper() if label else "",
            )
        )
    return pairs


def prediction(pair: Pair, *, merge: bool, contradiction: bool) -> dict[str, object]:
    """Return the line that is written for a pair."""
    return {"pair_ID": pair.id, "merge": merge, "contradiction": contradiction}


def score(pairs: Sequence[Pair], lines: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Score prediction lines against the labels of their pairs."""
    called = [line["contradiction"] is True for line in lines]
    merged = [line["merge"] is True for line in lines]
    gold = [pair.label == "CONTRADICTION" for pair in pairs]
    right = sum(c and g for c, g in zip(called, gold, strict=True))
    precision = round(100 * right / sum(called), 2) if any(called) else 0.0
    recall = round(100 * right / sum(gold), 2) if any(gold) else 0.0
    both = precision + recall

    def merged_of(chosen: Sequence[bool]) -> float:
        return share([m for m, c in zip(merged, chosen, strict=True) if c])

    return {
        "contradictions_called": sum(called),
        "precision": precision,
        "recall": recall,
        "f1": round(2 * precision * recall / both, 2) if both else 0.0,
        "paraphrases_merged": merged_of([pair.paraphrase for pair in pairs]),
        "contradictions_merged": merged_of(gold),
        "neutral_merged": merged_of([pair.label == "NEUTRAL" for pair in pairs]),
    }


def cosine_lines(
    pairs: Sequence[Pair], cosines: Sequence[float], *, merge_at: float, contradiction_at: float
) -> list[dict[str, object]]:
    """Return what cosine alone would say: merge the closest, contradict the next ones."""
    return [
        prediction(
            pair, merge=cosine >= merge_at, contradiction=contradiction_at <= cosine < merge_at
        )
        for pair, cosine in zip(pairs, cosines, strict=True)
    ]


def best_contradiction(
    pairs: Sequence[Pair], cosines: Sequence[float], *, merge_at: float
) -> float:
    """Return the lower threshold with the best F1 for contradictions below `merge_at`."""
    below = sorted(
        (
            (cosine, pair.label == "CONTRADICTION")
            for pair, cosine in zip(pairs, cosines, strict=True)
            if cosine < merge_at
        ),
        reverse=True,
    )
    total = sum(pair.label == "CONTRADICTION" for pair in pairs)
    best, highest, right = merge_at, 0.0, 0
    for index, (cosine, gold) in enumerate(below, start=1):
        right += gold
        f1 = 2 * right / (index + total) if total else 0.0
        if f1 > highest:
            best, highest = cosine, f1
    return best


def by_rule(pairs: Sequence[Pair], judged: Sequence[Judged]) -> list[dict[str, object]]:
    """Return how the labels spread over the rules that decided."""
    counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for pair, one in zip(pairs, judged, strict=True):
        counts[one.relation.value, one.rule][pair.label] += 1
    return [
        {
            "relation": relation,
            "rule": rule,
            "entailment": found["ENTAILMENT"],
            "neutral": found["NEUTRAL"],
            "contradiction": found["CONTRADICTION"],
        }
        for (relation, rule), found in sorted(counts.items())
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.sick", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--sick", type=Path, metavar="FILE", help="pairs to judge")
    parser.add_argument("--predictions", type=Path, metavar="OUT", help="write predictions here")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(argv)
    path: Path | None = args.sick
    if path is None:
        data = data_dir()
        if data is None:
            raise BenchError("there is no data folder; name a file of pairs with --sick")
        path = data / "sick" / "SICK_train.txt"

    pairs = read_pairs(path)
    began = time.process_time()
    judged = judge_pairs([(pair.first, pair.second) for pair in pairs])
    seconds = time.process_time() - began
    lines = [
        prediction(pair, merge=one.merge, contradiction=one.contradiction)
        for pair, one in zip(pairs, judged, strict=True)
    ]
    if args.predictions:
        write_lines(args.predictions, lines)

    if not any(pair.label for pair in pairs):
        emit({"file": path.name, "pairs": len(pairs)}, part=PART, as_json=args.json)
        return 0
    cosines = [one.similarity for one in judged]
    merge_at = best_threshold(cosines, [pair.paraphrase for pair in pairs])
    contradiction_at = best_contradiction(pairs, cosines, merge_at=merge_at)
    best = cosine_lines(pairs, cosines, merge_at=merge_at, contradiction_at=contradiction_at)
    seed = cosine_lines(pairs, cosines, merge_at=SEED_COSINE, contradiction_at=SEED_COSINE)
    figures: dict[str, object] = {
        "file": path.name,
        "pairs": len(pairs),
        "cpu_seconds_with_embedding": round(seconds, 1),
        "product": score(pairs, lines),
        "cosine_best": {
            "merge_at": round(merge_at, 3),
            "contradiction_at": round(contradiction_at, 3),
            **score(pairs, best),
        },
        "cosine_085": {"merge_at": SEED_COSINE, **score(pairs, seed)},
    }
    if not args.json:
        names = (
            "precision",
            "recall",
            "f1",
            "paraphrases_merged",
            "contradictions_merged",
            "neutral_merged",
        )
        print_table(
            f"{len(pairs)} pairs of {path.name} (percent)",
            [
                {"": who, **{name: of[name] for name in names}}
                for who in ("cosine_best", "cosine_085", "product")
                if isinstance(of := figures[who], dict)
            ],
        )
        print_table("By rule (pairs of each label)", by_rule(pairs, judged))
    emit(figures, part=PART, as_json=args.json)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
