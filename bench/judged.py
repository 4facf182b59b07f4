"""Run the product's judge over pairs of texts, for the benches that score it.

Knows: the bundled embedder, `factbook.gate.judge`, prediction lines. Does not know: any gold label.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from factbook.embed import bundled
from factbook.gate.judge import JudgedClaim, Relation, judge, read
from factbook.language.reader.relate import RELATER

CONTRADICTING = (Relation.CONTRADICTION, Relation.SUPERSEDES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the product says of one pair."""

    similarity: float  # cosine of the shipped embedder
    relation: Relation
    rule: str

    @property
    def merge(self) -> bool:
        """Say whether the two would be merged."""
        return self.relation is Relation.SAME

    @property
    def contradiction(self) -> bool:
        """Say whether the two would be held to exclude each other."""
        return self.relation in CONTRADICTING


def judge_pairs(pairs: Sequence[tuple[str, str]]) -> list[Judged]:
    """Embed the texts, each once, and judge every pair in its order."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    vectors = dict(zip(texts, bundled().embed(texts), strict=True))
    readings = {text: read(text) for text in texts}
    found = []
    for older, newer in pairs:
        similarity = float(vectors[older] @ vectors[newer])
        judgement = judge(
            JudgedClaim(text=older),
            JudgedClaim(text=newer),
            similarity=similarity,
            older_reading=readings[older],
            newer_reading=readings[newer],
            net=RELATER,
        )
        found.append(
            Judged(similarity=similarity, relation=judgement.relation, rule=judgement.rule)
        )
    return found


def write_lines(path: Path, lines: Iterable[Mapping[str, object]]) -> None:
    """Write prediction lines, one JSON object each."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def share(outcomes: Sequence[bool]) -> float:
    """Return the percentage of true ones; 0 of none."""
    return round(100 * sum(outcomes) / len(outcomes), 2) if outcomes else 0.0


def best_threshold(scores: Sequence[float], wanted: Sequence[bool]) -> float:
    """Return the threshold where wrong positives and missed positives, in percent, are fewest.

    It is found on the very items it will be judged on: the best that a threshold can do at all.
    """
    positives = sum(wanted) or 1
    negatives = (len(wanted) - sum(wanted)) or 1
    best, fewest = 1.0, 0.5  # merging nothing misses every positive
    kept = wrong = 0
    ordered = sorted(zip(scores, wanted, strict=True), reverse=True)
    for index, (score, right) in enumerate(ordered):
        kept += right
        wrong += not right
        if index + 1 < len(ordered) and ordered[index + 1][0] == score:
            continue
        rate = (wrong / negatives + 1 - kept / positives) / 2
        if rate < fewest:
            best, fewest = score, rate
    return best
