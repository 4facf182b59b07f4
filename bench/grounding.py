"""Judge edited summaries against their documents, and how fast the gate is.

    python -m bench.grounding [--summedits FILE...] [--predictions OUT] [--json]

FILE is a JSON list of objects with id, doc and summary, and the labels label, original_summary and
edit_types, as SummEdits writes them; by default all files of the data folder's `summedits`. The
summary is the claim, its document the source. A prediction line is `{"id", "accepted": bool}`; all
of them are written before anything is scored. Without labels nothing is scored.

- balanced_accuracy: mean of the share of consistent summaries (label 1) that is accepted and the
  share of inconsistent ones that is refused, in percent; overall it is the mean over the files,
  as the data's authors take it
- by edit type: the inconsistent summaries with that edit, against all consistent ones
- new_value_refused: percent refused of the inconsistent summaries with a number, date or name that
  neither the original summary nor the document holds
- candidates_per_s: short claims against a short passage, without vectors, by processor time

Beside it stand the figures published for all ten domains: SummaC 57.1, QAFactEval 65.5, GPT-4 82.1,
people 90.9.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench._common import BenchError, data_dir, emit, print_table, run
from bench.judged import write_lines
from factbook.gate.grounding import Passage, ground, ground_summary, read_passage

PART = "grounding"
PUBLISHED: Final = {"SummaC": 57.1, "QAFactEval": 65.5, "GPT-4": 82.1, "people": 90.9}
NEEDED: Final = ("id", "doc", "summary")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One summary with its document; the labels are read by the scoring only."""

    id: str
    domain: str  # the file's name
    document: str
    summary: str
    label: int  # 1 consistent, 0 not, -1 where the file does not say
    original: str
    edits: tuple[str, ...]


def read_items(path: Path) -> list[Item]:
    """Read a file of summaries; raises `BenchError` where it is none."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BenchError(f"cannot read {path}: {error}; name a file of summaries") from error
    if not isinstance(rows, list) or not rows:
        raise BenchError(f"{path} holds no list of summaries; name a file with a JSON list")
    items = []
    for number, row in enumerate(rows, start=1):
        missing = [name for name in NEEDED if not isinstance(row, dict) or name not in row]
        if missing:
            raise BenchError(f"{path} entry {number} has no {missing[0]}; it must have {NEEDED}")
        items.append(
            Item(
                id=str(row["id"]),
                domain=path.stem.removeprefix("summedits_"),
                document=str(row["doc"]),
                summary=str(row["summary"]),
                label=int(row.get("label", -1)),
                original=str(row.get("original_summary", "")),
                edits=tuple(row.get("edit_types") or ()),
            )
        )
    return items


# ------------------------------------------------------------------ scoring

_CAPITALISED: Final = re.compile(r"(?<![\w'’])[A-Z][\w'’-]*")
_DIGITS: Final = re.compile(r"\d[\d,.]*\d|\d")
_VALUE_WORDS: Final = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    r"|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|first|second|third|fourth"
    r"|january|february|march|april|june|july|august|september|october|november|december|monday"
    r"|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b",
    re.IGNORECASE,
)


def values_of(text: str) -> set[str]:
    """Return the numbers, dates and names of a text, by its looks alone.

    A word at the beginning of a sentence is no name for its capital. This reads nothing with the
    product's own eyes, so that both cannot share a blind spot.
    """
    found = {match[0].rstrip(".,") for match in _DIGITS.finditer(text)}
    found |= {match[0].lower() for match in _VALUE_WORDS.finditer(text)}
    for match in _CAPITALISED.finditer(text):
        before = text[: match.start()].rstrip()
        if before and before[-1] not in ".!?:\"“”'‘":
            found.add(re.sub(r"['’]s?$", "", match[0]).lower())
    return found - {"i"}


def has_new_value(item: Item) -> bool:
    """Say whether a summary holds a value that neither its original nor the document does."""
    new = values_of(item.summary) - values_of(item.original)
    held = item.document.lower() + " " + item.original.lower()
    return any(not re.search(rf"(?<!\w){re.escape(value.lower())}(?!\w)", held) for value in new)


def balanced(items: Sequence[Item], accepted: Mapping[str, bool]) -> dict[str, float]:
    """Return the balanced accuracy and its two halves, in percent."""
    good = [accepted[item.id] for item in items if item.label == 1]
    bad = [not accepted[item.id] for item in items if item.label == 0]
    kept = 100 * sum(good) / len(good) if good else 0.0
    refused = 100 * sum(bad) / len(bad) if bad else 0.0
    return {
        "balanced_accuracy": round((kept + refused) / 2, 1),
        "consistent_accepted": round(kept, 1),
        "inconsistent_refused": round(refused, 1),
    }


def score(items: Sequence[Item], lines: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Score prediction lines against the labels of their summaries."""
    accepted = {str(line["id"]): line["accepted"] is True for line in lines}
    domains = list(dict.fromkeys(item.domain for item in items))
    by_domain = {
        name: balanced([item for item in items if item.domain == name], accepted)
        for name in domains
    }
    edits = sorted({edit for item in items for edit in item.edits})
    by_edit = {}
    for edit in edits:
        chosen = [item for item in items if item.label == 1 or edit in item.edits]
        by_edit[edit] = balanced(chosen, accepted)
    new = [not accepted[item.id] for item in items if item.label == 0 and has_new_value(item)]
    mean = sum(one["balanced_accuracy"] for one in by_domain.values()) / len(by_domain)
    return {
        "balanced_accuracy": round(mean, 1),
        "pooled": balanced(items, accepted),
        "by_domain": by_domain,
        "by_edit_type": by_edit,
        "new_values": len(new),
        "new_value_refused": round(100 * sum(new) / len(new), 1) if new else None,
    }


# ------------------------------------------------------------------ the product


def predict(items: Sequence[Item]) -> list[dict[str, object]]:
    """Return the product's prediction line for each item, each judged by itself."""
    passages: dict[str, Passage] = {}
    lines: list[dict[str, object]] = []
    for item in items:
        passage = passages.get(item.document)
        if passage is None:
            passages.clear()
            passage = passages[item.document] = read_passage(item.document)
        found = ground_summary(item.summary, passage)
        lines.append({"id": item.id, "accepted": found.grounded})
    return lines


SHORT_PASSAGE: Final = (
    "User: \"I moved to Lisbon in March and I work as a nurse at a children's hospital. "
    "My sister lives in Porto. I love hiking, and I don't drink coffee.\"\n"
    'Assistant: "Nice! You could try the trails near Sintra."'
)
SHORT_CLAIMS: Final = (
    "Lives in Lisbon", "Works as a nurse", "Loves hiking", "Drinks coffee", "Loves Sintra",
    "Moved to Lisbon in April", "Has a sister in Porto", "Works at a children's hospital",
)  # fmt: skip


def throughput(rounds: int = 200) -> float:
    """Return candidates per second of processor time: the best of three runs without vectors.

    The passage is read anew for each round of eight claims.
    """
    best = 0.0
    for _ in range(3):
        began = time.process_time()
        for _ in range(rounds):
            passage = read_passage(SHORT_PASSAGE)
            for claim in SHORT_CLAIMS:
                ground(claim, passage, speaker="owner")
        best = max(best, rounds * len(SHORT_CLAIMS) / (time.process_time() - began))
    return best


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.grounding", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--summedits", type=Path, nargs="+", metavar="FILE", help="summaries to judge"
    )
    parser.add_argument("--predictions", type=Path, metavar="OUT", help="write predictions here")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(argv)
    paths: list[Path] = args.summedits or []
    if not paths:
        data = data_dir()
        if data is None:
            raise BenchError("there is no data folder; name files of summaries with --summedits")
        paths = sorted((data / "summedits").glob("*.json"))
    items = [item for path in paths for item in read_items(path)]
    began = time.process_time()
    lines = predict(items)
    seconds = time.process_time() - began
    if args.predictions:
        write_lines(args.predictions, lines)
    figures: dict[str, object] = {
        "files": [path.name for path in paths],
        "summaries": len(items),
        "cpu_seconds": round(seconds, 1),
        "candidates_per_s": round(throughput()),
    }
    if any(item.label in (0, 1) for item in items):
        product = score(items, lines)
        figures |= {"product": product, "published_all_ten_domains": PUBLISHED}
        if not args.json:
            _show(product, len(items))
    if not args.json:
        print_table("The gate without vectors", [{"candidates_per_s": figures["candidates_per_s"]}])
    emit(figures, part=PART, as_json=args.json)
    return 0


def _show(product: Mapping[str, object], count: int) -> None:
    rows: list[dict[str, object]] = []
    for group in ("by_domain", "by_edit_type"):
        of = product[group]
        if isinstance(of, dict):
            rows += [
                {
                    "": name,
                    "balanced": figures["balanced_accuracy"],
                    "accepted": figures["consistent_accepted"],
                    "refused": figures["inconsistent_refused"],
                }
                for name, figures in of.items()
            ]
    print_table(
        f"{count} summaries: balanced accuracy, consistent ones accepted, others refused (percent)",
        rows,
    )
    named: list[dict[str, object]] = [
        {"": name, "balanced_accuracy": value} for name, value in PUBLISHED.items()
    ]
    named.append({"": "factbook", "balanced_accuracy": product["balanced_accuracy"]})
    print_table("Mean over domains (published: all ten; factbook: those above)", named)
    print_table(
        "Inconsistent summaries with a new number, date or name",
        [{"summaries": product["new_values"], "refused": product["new_value_refused"]}],
    )


if __name__ == "__main__":
    sys.exit(run(main))
