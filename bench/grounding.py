"""Measure how fast claims are held against a passage.

    python -m bench.grounding [--json]

- candidates_per_s: short claims against a short passage, without vectors, by processor time
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Final

from bench._common import emit, print_table, run
from factbook.gate.grounding import ground, read_passage

PART = "grounding"
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
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(argv)
    figures = {"candidates_per_s": round(throughput())}
    if not args.json:
        print_table("The gate without vectors", [figures])
    emit(figures, part=PART, as_json=args.json)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
