"""Offer each persona line as a fact about each speaker of its conversation.

    python -m bench.speakers [--personas FILE] [--rows N] [--predictions OUT] [--json]

Reads conversations with the persona lines of both speakers (columns `user 1 personas`, `user 2
personas` and a third with the turns, "User 1: ..."); by default the data folder's. The line is the
claim (a USER_FACT with confidence 0.95), the conversation is the passage, and the asked speaker is
its owner: only their words may support it. A prediction line is `{"row", "line_owner",
"asked_owner", "line", "accepted": bool}`; all of them are written before anything is scored.

- refused: percent of the lines that were offered for the other speaker and refused. A line that
  stands in both speakers' lists is nobody's alone and is left out
- own_kept: percent accepted for the right speaker, among lines whose content words (without stop
  words, by their stems) all occur in that speaker's turns

`words_alone` is the baseline: accept a line when its content words occur in the asked speaker's
turns. `anybody` accepts what the gate grounds in anyone's words.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from bench._common import BenchError, data_dir, emit, print_table, run
from bench.judged import share, write_lines
from factbook.gate.grounding import Passage, read_passage
from factbook.gate.lexicon import stem
from factbook.gate.typed_claims import TypedVerdict, judge_typed
from factbook.language.words import STOPWORDS
from factbook.model.memory_types import MemoryType, TypedClaim

PART = "speakers"
PERSONA_FILE: Final = "persona_chat/Synthetic-Persona-Chat_valid.csv"
COLUMNS: Final = ("user 1 personas", "user 2 personas")
OFFERED: Final = 0.95  # the confidence that a line is offered with
_TURN: Final = re.compile(r"User ([12]): ?(.*)")
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One row of the file."""

    row: int
    personas: tuple[tuple[str, ...], tuple[str, ...]]  # of User 1 and of User 2
    text: str  # the turns
    words: tuple[frozenset[str], frozenset[str]]  # content words of each speaker's turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A line offered as a fact about a speaker, and what came of it."""

    row: int
    owner: int  # whose line it is, 1 or 2
    asked: int  # about whom it was offered
    line: str
    shared: bool  # both have this line
    worded: bool  # its content words all occur in the asked speaker's turns
    verdict: TypedVerdict
    anybody: bool  # grounded where anyone's words count


def read_conversations(path: Path, *, rows: int | None = None) -> list[Conversation]:
    """Read a file of conversations; raises `BenchError` where it is none."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            names = reader.fieldnames or []
            missing = [name for name in COLUMNS if name not in names]
            if missing or len(names) < 3:
                raise BenchError(
                    f"{path} has no column {(missing or ['with the turns'])[0]}; name a file with "
                    "the columns user 1 personas, user 2 personas and the conversation"
                )
            turns = next(name for name in names if name not in COLUMNS)
            found = [
                _conversation(number, row, turns)
                for number, row in enumerate(reader)
                if rows is None or number < rows
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BenchError(f"cannot read {path}: {error}; name a file of conversations") from error
    if not found:
        raise BenchError(f"{path} holds no conversation; name a file with a header and some rows")
    return found


def _conversation(number: int, row: Mapping[str, str | None], turns: str) -> Conversation:
    text = (row[turns] or "").strip()
    said: list[set[str]] = [set(), set()]
    for line in text.splitlines():
        match = _TURN.match(line.strip())
        if match:
            said[int(match[1]) - 1] |= content_words(match[2])
    personas = tuple(
        tuple(line.strip() for line in (row[name] or "").splitlines() if line.strip())
        for name in COLUMNS
    )
    return Conversation(
        row=number,
        personas=(personas[0], personas[1]),
        text=text,
        words=(frozenset(said[0]), frozenset(said[1])),
    )


@lru_cache(maxsize=50_000)
def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that are no stop words."""
    words = (word.replace("’", "'") for word in _WORD.findall(text.lower()))
    return frozenset(stem(word) for word in words if word.split("'")[0] not in STOPWORDS)


def offers_of(conversation: Conversation) -> list[Offer]:
    """Offer every persona line of a conversation about both of its speakers."""
    passages = {
        asked: read_passage(conversation.text, owner_names=(f"User {asked}",)) for asked in (1, 2)
    }
    found = []
    for owner in (1, 2):
        for line in conversation.personas[owner - 1]:
            claim = TypedClaim(
                text=line, type=MemoryType.USER_FACT, confidence=OFFERED, reasoning=""
            )
            for asked in (1, 2):
                verdict = judge_typed(claim, passages[asked])
                words = content_words(line)
                found.append(
                    Offer(
                        row=conversation.row,
                        owner=owner,
                        asked=asked,
                        line=line,
                        shared=line in conversation.personas[2 - owner],
                        worded=bool(words) and words <= conversation.words[asked - 1],
                        verdict=verdict,
                        anybody=verdict.stored or _by_other(claim, passages[3 - asked]),
                    )
                )
    return found


def _by_other(claim: TypedClaim, passage: Passage) -> bool:
    """Say whether a claim is accepted as one about the other speaker."""
    return judge_typed(claim, passage).stored


def prediction(offer: Offer) -> dict[str, object]:
    """Return the line that is written for an offer."""
    return {
        "row": offer.row,
        "line_owner": offer.owner,
        "asked_owner": offer.asked,
        "line": offer.line,
        "accepted": offer.verdict.stored,
    }


def score(offers: Sequence[Offer], accepted: Sequence[bool]) -> dict[str, object]:
    """Score what was accepted of the offers."""
    pairs = list(zip(offers, accepted, strict=True))
    wrong = [not yes for offer, yes in pairs if offer.owner != offer.asked and not offer.shared]
    own = [yes for offer, yes in pairs if offer.owner == offer.asked]
    worded = [yes for offer, yes in pairs if offer.owner == offer.asked and offer.worded]
    return {
        "wrong_offers": len(wrong),
        "refused": share(wrong),
        "own_with_words": len(worded),
        "own_kept": share(worded),
        "own_kept_of_all": share(own),
    }


def by_reason(offers: Sequence[Offer]) -> list[dict[str, object]]:
    """Return how the offers spread over the reasons of the gate."""
    own: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for offer in offers:
        verdict = offer.verdict
        reason = verdict.reason.value if verdict.reason else verdict.action.value
        if verdict.rule is not None:
            reason += f": {verdict.rule.name}"
        elif verdict.detail.startswith("said by"):
            reason += ": said by the other"
        if offer.owner != offer.asked:
            wrong[reason] += 1
        elif offer.worded:
            own[reason] += 1
    return [
        {"reason": reason, "own with words": own[reason], "other speaker's": wrong[reason]}
        for reason in sorted(set(own) | set(wrong))
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.speakers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--personas", type=Path, metavar="FILE", help="conversations to read")
    parser.add_argument("--rows", type=int, metavar="N", help="read the first N conversations")
    parser.add_argument("--predictions", type=Path, metavar="OUT", help="write predictions here")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(argv)
    path: Path | None = args.personas
    if path is None:
        data = data_dir()
        if data is None:
            raise BenchError("there is no data folder; name a file with --personas")
        path = data / PERSONA_FILE

    conversations = read_conversations(path, rows=args.rows)
    began = time.process_time()
    offers = [offer for one in conversations for offer in offers_of(one)]
    seconds = time.process_time() - began
    if args.predictions:
        write_lines(args.predictions, [prediction(offer) for offer in offers])

    figures: dict[str, object] = {
        "file": path.name,
        "conversations": len(conversations),
        "offers": len(offers),
        "cpu_seconds": round(seconds, 1),
        "product": score(offers, [offer.verdict.stored for offer in offers]),
        "words_alone": score(offers, [offer.worded for offer in offers]),
        "anybody": score(offers, [offer.anybody for offer in offers]),
    }
    if not args.json:
        names = ("refused", "own_kept", "own_kept_of_all", "wrong_offers", "own_with_words")
        print_table(
            f"{len(offers)} offers of {path.name} (percent)",
            [
                {"": who, **{name: of[name] for name in names}}
                for who in ("words_alone", "anybody", "product")
                if isinstance(of := figures[who], dict)
            ],
        )
        print_table("By reason", by_reason(offers))
    emit(figures, part=PART, as_json=args.json)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
