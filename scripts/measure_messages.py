"""Hold what is heard in messages that people published against what two readers labelled of them.

    PYTHONPATH=. python scripts/measure_messages.py --corpora FOLDER [--part held] [--show]

Reviews, answers, mails, posts and comments of open corpora (`reader.messages`; cloned into FOLDER
where they are missing), as if each writer had typed it to their memory: what they like and dislike,
and what is kept of their lives. What only one of the readers marked counts neither way.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from bench.ordinary import Place, Tally, covers, first_places, opinions_in, statements_in

from reader import messages
from reader.corpora import Corpora


def main() -> None:
    """Print recall and precision of each corpus and of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--part", choices=("train", "held"), default="held")
    parser.add_argument("--show", action="store_true", help="and what is missed or heard wrongly")
    options = parser.parse_args()
    tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
    for text, row in messages.labelled(Corpora(options.corpora), options.part):
        unsure = row.get("unsure", {"opinions": (), "keep": ()})
        kept = statements_in({"text": text, "before": ""})
        judged: list[tuple[str, str, list[Place], list[Place], Sequence[Place]]] = [
            ("kept", "", kept, [(a, b) for a, b in row["keep"]], unsure["keep"])
        ]
        for sign in ("like", "dislike"):
            wanted = [(a, b) for a, b, meant in row["opinions"] if meant == sign]
            heard = first_places(text, opinions_in(text, sign))
            judged.append(("opinions", sign, heard, wanted, unsure["opinions"]))
        for name, sign, heard, wanted, doubted in judged:
            given = [
                g
                for g in heard
                if any(covers(g, w) for w in wanted) or not any(covers(g, u) for u in doubted)
            ]
            for corpus in (row["corpus"], "all"):
                wrong = tallies[name, corpus].add(given, wanted)
            for how, (begin, end) in wrong if options.show else ():
                print(f"{how} {sign or name}: {text[begin:end]!r}\n    in {text!r}")
    for (name, corpus), tally in sorted(tallies.items()):
        figures = tally.figures()
        print(
            f"{name:9} {corpus:40} recall {figures['recall']:5.1f} precision "
            f"{figures['precision']:5.1f} ({tally.wanted} wanted, {tally.given} given)"
        )


if __name__ == "__main__":
    main()
