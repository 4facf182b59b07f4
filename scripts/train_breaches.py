"""Train what tells claims that are no memory of their type, and write it beside the reader.

    python scripts/train_breaches.py

A layer over what the reader's network knows of a sentence, by logistic regression
(`factbook.language.reader.breaches`). It learns from `types.train` of `data/language/ordinary`,
from the rows of `type_rules` (which only guard what is known, then) and, of little weight each,
from what is no breach: true claims of `claims.train`, and clauses of `chats.train` that a friend
would keep. It belongs to one network: with every new one it is trained anew. What it finds
`python -m bench.ordinary --sets types` measures.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from factbook.language.reader.breaches import ANSWERS, seen_as
from factbook.language.reader.layer import Seen
from reader import layers, rows
from reader.layers import Learned

LANGUAGE: Final = Path(__file__).resolve().parents[1] / "data" / "language"
ORDINARY: Final = LANGUAGE / "ordinary"
RIDGE: Final = 0.1  # .3 and 1 found fewer, each hand's claims told by the others'
MOST_STEPS: Final = 300
SOUND: Final = 0.05  # what a claim weighs that was written for another set; .3 found fewer breaches
MOST_SOUND: Final = 2_500  # of each of these sets
UNSURE: Final = {"hedge", "if", "wish", "irony", "quoted"}  # flags of what may break one
TYPICAL: Final = 3.0  # what a claim weighs that is worded as most are, beside the look-alikes
TYPICAL_BY: Final = {"y9", "seed"}  # who wrote such

Claim = tuple[str, str, str]  # its text, its type, the rule that it breaks or ""


def of_types(*, typical: bool) -> Iterator[Claim]:
    """Yield the claims that were written for this: as they mostly are, or to look like others."""
    for row in rows.lines(ORDINARY / "types.train.jsonl.xz"):
        if (row["a"] in TYPICAL_BY) == typical:
            yield row["text"], row["type"], row["rule"]
    for line in (LANGUAGE / "type_rules.jsonl").read_text("utf-8").splitlines() if typical else ():
        row = json.loads(line)
        if "passage" not in row:
            yield row["text"], row["type"], "".join(row["expected"])


def sound() -> Iterator[Claim]:
    """Yield facts of owners that break no rule."""
    true = [
        one["c"]
        for row in rows.lines(ORDINARY / "claims.train.jsonl.xz")
        for one in row["claims"]
        if one["ok"]
    ]
    kept = [
        clause["q"]
        for row in rows.lines(ORDINARY / "chats.train.jsonl.xz")
        for clause in row["clauses"]
        if clause["keep"] and clause["act"] == "tell" and UNSURE.isdisjoint(clause["flags"])
    ]
    for texts in (true, kept):
        random.Random(1).shuffle(texts)
        for text in texts[:MOST_SOUND]:
            yield text, "USER_FACT", ""


def told(claims: Iterable[Claim]) -> Learned:
    """Read claims sentence by sentence."""
    found: list[Seen] = []
    right: list[int] = []
    for text, kind, rule in claims:
        for seen, _ in seen_as(kind, text):
            found.append(seen)
            right.append(1 + ANSWERS.index(rule) if rule else 0)
    return Learned(found, right)


def main() -> None:
    """Train it and write it."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    parts = [
        (TYPICAL, told(of_types(typical=True))),
        (1.0, told(of_types(typical=False))),
        (SOUND, told(sound())),
    ]
    for whose, (_, some) in zip(("typical", "alike", "others"), parts, strict=True):
        print(f"{whose}: {len(some.right)} sentences, {sum(map(bool, some.right))} break a rule")
    layers.write({"breaches": layers.learned(parts, ridge=RIDGE, steps=MOST_STEPS)})


if __name__ == "__main__":
    main()
