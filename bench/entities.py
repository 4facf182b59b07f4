"""Judge which descriptions are of one thing, beside the same name and cosine alone.

    python -m bench.entities [PATH ...] [--predictions OUT] [--json]

PATH is a file of pairs, a folder with `test.txt` or else `valid.txt`, or a folder of such folders;
by default the data folder's. A line of a file is two descriptions and a label, parted by tabs; a
description is `COL name VAL value COL name VAL value ...`, its first attribute is its name. The
label is 1 where both are of one thing; without labels nothing is scored. A prediction line is
`{"left", "right", "same": bool, "merge": bool}` in the order of the file, `same` being the better
guess and `merge` what would be merged without asking; all are written before anything is scored.

An attribute that numbers the things themselves (`class`, `id`) is left out for everybody: it is the
answer. What rare terms and attributes tell is estimated from the file's own pairs, without labels.

- precision, recall, f1 of `same`; of `merge`, precision and recall, and how many are to be asked
- exact_name: the canonical names are equal
- cosine_name, cosine_record: the shipped embedder's cosine of the names, and of the whole texts, at
  the threshold with the best F1 on the very file, found with its labels: the best it can do at all
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench._common import BenchError, data_dir, emit, print_table, run
from bench.judged import write_lines
from factbook.embed import bundled
from factbook.gate.same_entity import Description, Same, SameEntityVerdict, TermRarity, compare_all
from factbook.model.keys import entity_name

PART = "entities"
FILES: Final = ("test.txt", "valid.txt")
FIELDS: Final = 3  # of a line with its label
ANSWERS: Final = frozenset({"class", "id", "cluster", "cluster_id", "label"})
_COLUMN: Final = re.compile(r"(?:^|(?<=\s))COL\s+(\S+)\s+VAL(?=\s|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One line of a file, with its label, which only the scoring reads."""

    left: str  # as it stands in the file
    right: str
    first: Description
    second: Description
    same: bool | None  # None without a label


def read_description(text: str) -> Description:
    """Read `COL name VAL value ...`; raises ValueError where it is none."""
    found = list(_COLUMN.finditer(text))
    if not found or text[: found[0].start()].strip():
        raise ValueError("a description begins with COL and has a VAL for each")
    values: dict[str, str] = {}
    for one, after in zip(found, [*found[1:], None], strict=True):
        value = text[one.end() : after.start() if after else len(text)].strip()
        if one[1].casefold() not in ANSWERS:
            values[one[1]] = f"{values[one[1]]} {value}" if one[1] in values else value
    if not any(values.values()):
        return Description(name="", attributes={})
    names = list(values)
    # The first attribute names the thing; where it is empty the first that is not does.
    named = names[0] if values[names[0]] else next(name for name in names if values[name])
    return Description(
        name=values[named],
        attributes={name: value for name, value in values.items() if name != named},
    )


def read_pairs(path: Path) -> list[Pair]:
    """Read a file of pairs; raises `BenchError` where it is none."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BenchError(f"cannot read {path}: {error}; name a file of pairs") from error
    pairs = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        parts = line.rstrip("\r").split("\t")
        label = parts[2].strip() if len(parts) == FIELDS else ""
        if len(parts) not in (FIELDS - 1, FIELDS) or label not in ("", "0", "1"):
            raise BenchError(
                f"{path} line {number}: not two descriptions and 0 or 1, parted by tabs; correct it"
            )
        try:
            first, second = read_description(parts[0]), read_description(parts[1])
        except ValueError as error:
            raise BenchError(f"{path} line {number}: {error}; correct it") from error
        same = label == "1" if label else None
        pairs.append(Pair(left=parts[0], right=parts[1], first=first, second=second, same=same))
    if not pairs:
        raise BenchError(f"{path} holds no pairs; name a file with a pair a line")
    return pairs


def files_of(path: Path) -> list[Path]:
    """Return the files that a path stands for; raises `BenchError` where there is none."""
    if path.is_file():
        return [path]
    for folders in ([path], sorted(path.glob("*/"))):
        found = [_first_file(folder) for folder in folders]
        if any(found):
            return [one for one in found if one is not None]
    raise BenchError(f"{path} has no {' or '.join(FILES)}; name a file or folder of pairs")


def _first_file(folder: Path) -> Path | None:
    return next((one for name in FILES if (one := folder / name).is_file()), None)


def judge_pairs(pairs: Sequence[Pair]) -> list[Same]:
    """Return what the product says of the pairs of one file."""
    both = [(pair.first, pair.second) for pair in pairs]
    distinct = {repr(one): one for pair in both for one in pair}
    background = TermRarity.of(list(distinct.values()), both)
    return compare_all(both, background=background)


def prediction(pair: Pair, said: Same) -> dict[str, object]:
    """Return the line that is written for a pair."""
    return {
        "left": pair.left,
        "right": pair.right,
        "same": said.likely,
        "merge": said.verdict is SameEntityVerdict.MERGE,
    }


# --- scoring --------------------------------------------------------------------------------------


def score(said: Sequence[bool], gold: Sequence[bool]) -> dict[str, float]:
    """Return precision, recall and F1 in percent."""
    right = sum(s and g for s, g in zip(said, gold, strict=True))
    called, wanted = sum(said), sum(gold)
    return {
        "precision": round(100 * right / called, 2) if called else 0.0,
        "recall": round(100 * right / wanted, 2) if wanted else 0.0,
        "f1": round(200 * right / (called + wanted), 2) if called + wanted else 0.0,
    }


def best_f1(values: Sequence[float], gold: Sequence[bool]) -> float:
    """Return the threshold, at or above which is called, with the best F1 on these very pairs."""
    wanted = sum(gold)
    best, highest, right = float("inf"), 0.0, 0
    ordered = sorted(zip(values, gold, strict=True), reverse=True)
    for index, (value, good) in enumerate(ordered, start=1):
        right += good
        if index < len(ordered) and ordered[index][0] == value:
            continue
        f1 = 2 * right / (index + wanted)
        if f1 > highest:
            best, highest = value, f1
    return best


def _whole(one: Description) -> str:
    return " ".join(value for value in (one.name, *one.attributes.values()) if value)


def cosines(texts: Sequence[tuple[str, str]]) -> list[float]:
    """Return the cosine of both texts of each pair, embedding each text once."""
    distinct = list(dict.fromkeys(text for pair in texts for text in pair))
    vectors = dict(zip(distinct, bundled().embed(distinct), strict=True))
    return [float(vectors[one] @ vectors[other]) for one, other in texts]


def measure(pairs: Sequence[Pair], lines: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Score prediction lines and the baselines against the labels of their pairs."""
    gold = [pair.same is True for pair in pairs]
    same = [line["same"] is True for line in lines]
    merged = [line["merge"] is True for line in lines]
    merging = score(merged, gold)
    figures: dict[str, object] = {
        "pairs": len(pairs),
        "same": sum(gold),
        "product": score(same, gold),
        "merged_unasked": {
            "pairs": sum(merged),
            "precision": merging["precision"],
            "recall": merging["recall"],
            "asked": sum(s and not m for s, m in zip(same, merged, strict=True)),
        },
        "exact_name": score(
            [
                bool(name := entity_name(pair.first.name)) and name == entity_name(pair.second.name)
                for pair in pairs
            ],
            gold,
        ),
    }
    for name, texts in (
        ("cosine_name", [(pair.first.name, pair.second.name) for pair in pairs]),
        ("cosine_record", [(_whole(pair.first), _whole(pair.second)) for pair in pairs]),
    ):
        near = cosines(texts)
        threshold = best_f1(near, gold)
        figures[name] = {
            "threshold": round(threshold, 4),
            **score([one >= threshold for one in near], gold),
        }
    return figures


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.entities", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="pairs to judge")
    parser.add_argument("--predictions", type=Path, metavar="OUT", help="write predictions here")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(argv)
    paths: list[Path] = args.paths
    if not paths:
        data = data_dir()
        if data is None:
            raise BenchError("there is no data folder; name a file or folder of pairs")
        paths = [data / "entities"]

    sets = {path: read_pairs(path) for given in paths for path in files_of(given)}
    began = time.process_time()
    said = {path: judge_pairs(pairs) for path, pairs in sets.items()}
    seconds = time.process_time() - began
    lines = {
        path: [prediction(pair, one) for pair, one in zip(pairs, said[path], strict=True)]
        for path, pairs in sets.items()
    }
    if args.predictions:
        write_lines(args.predictions, [line for path in sets for line in lines[path]])

    scored: dict[str, dict[str, object]] = {
        f"{path.parent.name}/{path.name}": measure(pairs, lines[path])
        if any(pair.same is not None for pair in pairs)
        else {"pairs": len(pairs)}
        for path, pairs in sets.items()
    }
    if not args.json:
        for name, figures in scored.items():
            print_table(f"{figures['pairs']} pairs of {name} (percent)", _rows(figures))
    emit({"cpu_seconds_judging": round(seconds, 1), "sets": scored}, part=PART, as_json=args.json)
    return 0


def _rows(figures: Mapping[str, object]) -> list[dict[str, object]]:
    rows = []
    for who in ("exact_name", "cosine_name", "cosine_record", "product", "merged_unasked"):
        found = figures.get(who)
        if isinstance(found, dict):
            rows.append({"": who, **{name: found.get(name) for name in ("precision", "recall")}})
            rows[-1]["f1"] = found.get("f1")
            rows[-1]["threshold"] = found.get("threshold")
    return rows


if __name__ == "__main__":
    sys.exit(run(main))
