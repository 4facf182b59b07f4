"""Put typed memories that people wrote, and made-up variants of them, through the gate.

    python -m bench.typed [DIR] [--predictions OUT] [--json]

DIR holds `dataset.jsonl` ({"id", "text"}) and `labels.jsonl` ({"id", "memories": [{"type",
"content"}]}), or a folder `memory_extraction` with both; by default the data folder's, in English.
A scripted extractor is perfect: it answers with the memories of the labels, as a model would in
JSON, with confidence 0.95, and the gate holds each against its text. Opinions and commitments are
left out, since seed 002 refuses both; the mapping of the other types is printed.

Variants that nobody wrote are offered the same way, one a time:

- changed_value: one number, day, month or name of the memory is another one, which the text does
  not hold; where it has none of these, one thing is (its last word that others can take)
- added_detail: something that the text does not say is appended, or put before a noun
- other_speaker: the memory is unchanged, and its text was said by the assistant, or by another
  person, in a chat with the owner

A prediction line is `{"id", "variant", "accepted": bool}`, with `id` the text's and the number of
its memory, and `variant` "gold" or the kind and what was changed; all lines are written before
anything is scored. The baseline `words_alone` accepts what has all its content words in the text.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench._common import BenchError, data_dir, emit, print_table, run
from bench.judged import share, write_lines
from bench.speakers import content_words
from factbook.extract.typed_replies import TypedAnswer, claims_of
from factbook.gate.grounding import read_passage
from factbook.gate.typed_claims import TypedVerdict, judge_typed
from factbook.language.reader.relate import RELATER
from factbook.model.memory_types import MemoryType, TypedClaim

PART = "typed"
OFFERED: Final = 0.95
MAPPING: Final[Mapping[str, MemoryType | None]] = {
    "preference": MemoryType.USER_FACT,  # seed 002: "preferences, experiences, facts"
    "fact": MemoryType.USER_FACT,
    "decision": MemoryType.USER_FACT,  # that it was decided is a fact
    "opinion": None,  # seed 002 refuses an opinion that is put as a fact
    "commitment": None,  # seed 002 refuses what binds in future
}
GOLD: Final = "gold"
SPEED_TEXTS: Final = 8  # that make one summary of some 500 words for the throughput
SPEED_RUNS: Final = 3

_ADDED: Final = (
    "after the audit in Lisbon",
    "because the insurer complained",
    "with help from a retired plumber",
    "despite objections from the landlord",
    "on the advice of a cardiologist",
    "at the request of the mayor's office",
    "thanks to a grant from Helsinki",
    "to please the wedding guests",
)
_ADJECTIVES: Final = ("Swedish", "leather-bound", "underwater", "award-winning", "second-hand")
_NAMES: Final = ("Torvald", "Quillon", "Marisela", "Zephyrine", "Hartwell")  # where a file has one
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
_NAME: Final = re.compile(r"\b[A-Z][a-z]+\b")
_THING: Final = re.compile(
    r"(?<=\bthe )[a-z]{5,}(?<!ing)(?<!ed)(?<!est)(?<!ly)\b"
)  # "the pipeline"
_LOWER: Final = re.compile(r"\b[a-z]{5,}(?<!ing)(?<!ed)(?<!ly)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """One memory that people found in a text."""

    id: str  # the text's, and the number of the memory
    text: str  # the text
    kind: str  # as the labels name it
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A memory, or a variant of one, with the text that it is held against."""

    gold: Gold
    variant: str  # GOLD, or the kind and what was changed
    content: str
    passage: str


def read_gold(folder: Path) -> list[Gold]:
    """Read the memories of a folder; raises `BenchError` where it has none."""
    inner = folder / "memory_extraction"
    if inner.is_dir():
        folder = inner
    texts = {row["id"]: row["text"] for row in _rows(folder / "dataset.jsonl", "text")}
    found = []
    for row in _rows(folder / "labels.jsonl", "memories"):
        if row["id"] not in texts:
            raise BenchError(f"{folder}/labels.jsonl names {row['id']}, which has no text; add it")
        for number, memory in enumerate(row["memories"]):
            if memory.get("type") not in MAPPING:
                raise BenchError(
                    f"{folder}/labels.jsonl {row['id']}: the type {memory.get('type')!r} is none "
                    f"of {', '.join(MAPPING)}; correct it"
                )
            found.append(
                Gold(
                    id=f"{row['id']}.{number}",
                    text=texts[row["id"]],
                    kind=memory["type"],
                    content=memory["content"],
                )
            )
    if not found:
        raise BenchError(f"{folder} holds no memory; name a folder with labelled texts")
    return found


def _rows(path: Path, field: str) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BenchError(f"cannot read {path}: {error}; name a folder that has it") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BenchError(f"{path} line {number} is no JSON: {error}; correct it") from error
        if not isinstance(row, dict) or "id" not in row or field not in row:
            raise BenchError(f"{path} line {number} has no id or no {field}; correct it")
        yield row


# ------------------------------------------------------------------ variants


def offers_of(gold: Sequence[Gold]) -> list[Offer]:
    """Return every memory with its variants, in the order of the file."""
    names = sorted({name for one in gold for name in _inner_names(one.content)} | set(_NAMES))
    things = sorted({match for one in gold for match in _THING.findall(one.text)})
    found = []
    for index, one in enumerate(gold):
        if MAPPING[one.kind] is None:
            continue
        found.append(Offer(gold=one, variant=GOLD, content=one.content, passage=one.text))
        changed = dict(_changed(one, index, names))
        if not changed:
            changed = dict(_other_thing(one, index, things))
        for what, content in {**changed, **dict(_added(one, index))}.items():
            found.append(Offer(gold=one, variant=what, content=content, passage=one.text))
        for what, passage in _said_by_others(one.text):
            found.append(Offer(gold=one, variant=what, content=one.content, passage=passage))
    return found


def _changed(gold: Gold, index: int, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Change one value of a memory to another that its text does not hold."""
    content, text = gold.content, gold.text
    number = _NUMBER.search(content)
    if number:
        value = float(number[0])
        step = 3 + index % 7
        while f"{value + step:g}" in text:
            step += 1
        yield "changed_value: number", _put(content, number, f"{value + step:g}")
    for kind, listed in (("month", _MONTHS), ("day", _DAYS)):
        match = re.search(rf"\b(?:{'|'.join(listed)})", content)
        if match:
            others = [other for other in listed if other not in text]
            yield f"changed_value: {kind}", _put(content, match, others[index % len(others)])
    own = _inner_names(content)
    if own:
        name = own[index % len(own)]
        others = [other for other in names if other not in text and other not in content]
        new = others[index % len(others)]
        yield "changed_value: name", re.sub(rf"\b{name}\b", new, content)


def _other_thing(gold: Gold, index: int, things: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Put another thing in the place of the last one of a memory that has no value and no name."""
    there = content_words(gold.text) | content_words(gold.content)
    others = [thing for thing in things if content_words(thing).isdisjoint(there)]
    found = [
        match
        for match in _LOWER.finditer(gold.content)
        if content_words(match[0]) & content_words(gold.text)
    ]
    if found and others:
        yield "changed_value: thing", _put(gold.content, found[-1], others[index % len(others)])


def _added(gold: Gold, index: int) -> Iterator[tuple[str, str]]:
    """Append a detail that the text does not hold, and put one before a noun."""
    bare = gold.content.rstrip(".")
    yield "added_detail: appended", f"{bare} {_ADDED[index % len(_ADDED)]}."
    match = re.search(r"(?<=\b(?:the|The) )(?=[a-z])|(?<=\bof )(?=[a-z]{4})", gold.content)
    if match:
        adjective = _ADJECTIVES[index % len(_ADJECTIVES)]
        yield (
            "added_detail: before a noun",
            f"{gold.content[: match.start()]}{adjective} {gold.content[match.start() :]}",
        )


def _said_by_others(text: str) -> Iterator[tuple[str, str]]:
    flat = " ".join(text.split())
    yield (
        "other_speaker: assistant",
        f"User: Where do things stand?\nAssistant: {flat}\nUser: Thanks, noted.",
    )
    yield (
        "other_speaker: person",
        f"User: Morning! What's new with you?\nOdile: {flat}\nUser: Good to hear.\n"
        "Odile: See you later.",
    )


def _inner_names(content: str) -> list[str]:
    """Return the words with a capital that do not open a sentence, days and months aside."""
    return [
        match[0]
        for match in _NAME.finditer(content)
        if match.start() > 0
        and content[match.start() - 2 : match.start() - 1] not in {".", ";", ":", ""}
        and match[0] not in _MONTHS
        and match[0].rstrip("s") not in _DAYS
    ]


def _put(content: str, match: re.Match[str], new: str) -> str:
    return content[: match.start()] + new + content[match.end() :]


# ------------------------------------------------------------------ the gate


def claim_of(offer: Offer) -> TypedClaim:
    """Return the claim that the scripted extractor makes of an offer, through its JSON."""
    kind = MAPPING[offer.gold.kind]
    if kind is None:
        raise ValueError(f"a memory of the type {offer.gold.kind} is never offered")
    answer = TypedAnswer.model_validate_json(
        json.dumps(
            {
                "extractions": [
                    {
                        "text": offer.content,
                        "type": kind.value,
                        "confidence": OFFERED,
                        "reasoning": "It says so.",
                    }
                ]
            }
        )
    )
    claims, refused = claims_of(answer)
    if refused:
        raise BenchError(f"{offer.gold.id} is no claim: {refused[0].detail}; correct the label")
    return claims[0]


def prediction(offer: Offer, verdict: TypedVerdict) -> dict[str, object]:
    """Return the line that is written for an offer."""
    return {"id": offer.gold.id, "variant": offer.variant, "accepted": verdict.stored}


def score(lines: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Score prediction lines: gold is to be accepted, every variant refused."""
    gold = [line["accepted"] is True for line in lines if line["variant"] == GOLD]
    variants = [line["accepted"] is not True for line in lines if line["variant"] != GOLD]
    return {
        "gold": len(gold),
        "gold_passed": share(gold),
        "variants": len(variants),
        "variants_refused": share(variants),
    }


def throughput(offers: Sequence[Offer], claims: Sequence[TypedClaim]) -> dict[str, float]:
    """Return candidates per second of CPU time, without similarity.

    `one_text` holds every claim against its own text; `summary` against a summary that is made of
    that text and its neighbours. Each passage is read once for all its claims, as the product does.
    """
    texts = list(dict.fromkeys(offer.passage for offer in offers if offer.variant == GOLD))
    position = {text: index for index, text in enumerate(texts)}
    found: dict[str, float] = {}
    for name, size in (("one_text", 1), ("summary", SPEED_TEXTS)):
        best = 0.0
        for _ in range(SPEED_RUNS):
            began = time.process_time()
            groups = [texts[at : at + size] for at in range(0, len(texts), size)]
            passages = [read_passage("\n\n".join(group)) for group in groups]
            for offer, claim in zip(offers, claims, strict=True):
                judge_typed(claim, passages[position[offer.gold.text] // size])
            best = max(best, len(claims) / (time.process_time() - began))
        found[name] = round(best)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.typed", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, nargs="?", metavar="DIR", help="labelled texts")
    parser.add_argument("--predictions", type=Path, metavar="OUT", help="write predictions here")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(argv)
    folder: Path | None = args.folder
    if folder is None:
        data = data_dir()
        if data is None:
            raise BenchError("there is no data folder; name a folder with labelled texts")
        folder = data / "memory_gold"

    gold = read_gold(folder)
    offers = offers_of(gold)
    claims = [claim_of(offer) for offer in offers]
    passages = {offer.passage: read_passage(offer.passage) for offer in offers}
    verdicts = [
        judge_typed(claim, passages[offer.passage], net=RELATER)
        for offer, claim in zip(offers, claims, strict=True)
    ]
    lines = [prediction(offer, verdict) for offer, verdict in zip(offers, verdicts, strict=True)]
    if args.predictions:
        write_lines(args.predictions, lines)

    baseline = [
        {**line, "accepted": content_words(offer.content) <= content_words(offer.passage)}
        for offer, line in zip(offers, lines, strict=True)
    ]
    mapping = [
        {
            "type": kind,
            "offered as": offered.value if offered else "left out",
            "memories": sum(one.kind == kind for one in gold),
        }
        for kind, offered in MAPPING.items()
    ]
    kinds = list(dict.fromkeys(offer.variant for offer in offers))
    figures: dict[str, object] = {
        "folder": folder.name,
        "mapping": {str(row["type"]): row["offered as"] for row in mapping},
        "product": score(lines),
        "words_alone": score(baseline),
        "accepted_by_variant": {
            kind: share([line["accepted"] is True for line in lines if line["variant"] == kind])
            for kind in sorted(kinds)
        },
        "candidates_per_s": throughput(offers, claims),
    }
    if not args.json:
        print_table(f"The types of {folder.name}", mapping)
        print_table(
            f"{len(offers)} offers (percent)",
            [
                {"": who, **of}
                for who in ("words_alone", "product")
                if isinstance(of := figures[who], dict)
            ],
        )
        print_table(
            "By variant",
            [
                {
                    "variant": kind,
                    "offers": sum(line["variant"] == kind for line in lines),
                    "accepted": sum(
                        line["accepted"] is True for line in lines if line["variant"] == kind
                    ),
                }
                for kind in sorted(kinds)
            ],
        )
        print_table(
            "Gate throughput, candidates per second of CPU time, without similarity",
            [throughput_row(figures["candidates_per_s"])],
        )
    emit(figures, part=PART, as_json=args.json)
    return 0


def throughput_row(figures: object) -> dict[str, object]:
    """Return the row that is printed of the throughput."""
    return dict(figures) if isinstance(figures, dict) else {}


if __name__ == "__main__":
    sys.exit(run(main))
