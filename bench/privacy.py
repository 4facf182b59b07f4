"""Measure which private questions are sent to a search provider, and which of the world are not.

    python -m bench.privacy [--half built|kept] [--file FILE|FOLDER] [--show]

Each question of `privacy.jsonl` is said to a memory of its own, behind what was said before it,
and goes the way of a chat, up to a provider that records what it is asked. The rules and the limits
were made on the half `built`; the half `kept` is of other people. `--file` measures other rows of
the same form: `{"q": ..., "private": true|false, "before": ...}`, also a folder of such files.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from bench._common import emit
from factbook import policy
from factbook.errors import NotAllowed, SearchError, SearchFailure
from factbook.extract.private_matters import Asking
from factbook.memory import Memory
from factbook.model.entities import SearchAnswer
from factbook.model.facts import Role
from factbook.sources.conversation.turn import turn_uid

QUESTIONS: Final = Path(__file__).with_suffix(".jsonl")
_Z: Final = 1.96  # of a 95 % interval


@dataclass
class Recorder:
    """A provider that finds nothing and keeps what it was asked."""

    id: str = "recorder"
    asked: list[str] = field(default_factory=list)

    def search(self, query: str, *, limit: int = policy.SEARCH_RESULTS) -> SearchAnswer:
        """Keep a query."""
        del limit
        self.asked.append(query)
        return SearchAnswer(provider=self.id, results=[], duration_ms=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one question."""

    question: str
    private: bool
    sent: bool  # it would be, if it is taken for a question
    asked: bool  # it was taken for a question that wants a search
    why: str


def questions(path: Path = QUESTIONS, half: str = "") -> list[dict[str, Any]]:
    """Return the labelled questions, of one half where one is named."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
    return [row for row in rows if not half or row.get("half") == half]


def run(rows: Iterable[dict[str, Any]], folder: Path) -> list[Result]:
    """Say every question to a memory of its own and return what became of it."""
    provider = Recorder()
    found = []
    with Memory(folder / "bench.db", key_file=folder / "key", search=provider) as memory:
        for number, row in enumerate(rows):
            owner = f"o{number}"
            before = [row["before"]] if row.get("before") else []
            for said in before:
                memory.add_turn(said, session=owner, owner=owner)
            own = str(uuid.UUID(int=number))
            memory.add_turn(row["q"], session=owner, owner=owner, uid=own)
            uid = turn_uid(owner, "", own_id=own, role=Role.USER, text="", occurred_at=None)
            known = memory.interests.knowledge(row["q"], owner=owner, recent=before[::-1])
            asked = len(provider.asked)
            try:
                memory.interests.search_for(known.query or row["q"], episode=uid, owner=owner)
            except SearchError as error:
                if error.kind is not SearchFailure.WITHHELD:
                    raise
            except NotAllowed:
                pass  # none of it reads as its owner's own words
            sent = len(provider.asked) > asked
            found.append(
                Result(
                    question=row["q"],
                    private=row["private"],
                    sent=sent,
                    asked=known.asking is Asking.WORLD,
                    why=known.verdict.why,
                )
            )
    return found


def interval(hits: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    if not of:
        return 0.0, 1.0
    share = hits / of
    middle = (share + _Z**2 / (2 * of)) / (1 + _Z**2 / of)
    half = _Z * math.sqrt(share * (1 - share) / of + _Z**2 / (4 * of**2)) / (1 + _Z**2 / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def figures(found: Sequence[Result]) -> dict[str, Any]:
    """Return how many private questions are sent, and how many of the world are not."""
    private = [one for one in found if one.private]
    world = [one for one in found if not one.private]
    sent = sum(one.sent for one in private)
    withheld = sum(not one.sent for one in world)
    return {
        "private": len(private),
        "private_sent": sent,
        "private_sent_95": interval(sent, len(private)),
        "world": len(world),
        "world_withheld": withheld,
        "world_withheld_95": interval(withheld, len(world)),
        "world_taken_for_no_question": sum(one.sent and not one.asked for one in world),
    }


def main() -> int:
    """Print the figures of each half."""
    parser = argparse.ArgumentParser(prog="python -m bench.privacy", description=__doc__)
    parser.add_argument("--half", choices=("built", "kept"), default="")
    parser.add_argument("--file", type=Path, default=QUESTIONS)
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    given = parser.parse_args()
    console = Console(highlight=False, soft_wrap=True)
    parts: list[tuple[str, Path, str]]
    if given.file == QUESTIONS:
        parts = [(half, QUESTIONS, half) for half in ("built", "kept") if given.half in ("", half)]
    else:
        paths = sorted(given.file.glob("*.jsonl")) if given.file.is_dir() else [given.file]
        parts = [(path.stem, path, given.half) for path in paths]
    report = {}
    for part, path, half in parts:
        with tempfile.TemporaryDirectory() as folder:
            found = run(questions(path, half), Path(folder))
        report[part] = shown = figures(found)
        console.print(f"{part}:")
        for name, of in (("private_sent", "private"), ("world_withheld", "world")):
            low, high = shown[f"{name}_95"]
            console.print(
                f"  {name.replace('_', ' ')}: {shown[name]} of {shown[of]}"
                f" ({low:.0%} to {high:.0%})"
            )
        console.print(f"  taken for no question: {shown['world_taken_for_no_question']}")
        for one in found if given.show else ():
            if one.private is one.sent:
                kind = "P" if one.private else "W"
                console.print(f"  {kind} {one.question} [{one.why}]", markup=False)
    if given.file == QUESTIONS:
        emit(report, part="privacy", as_json=False)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
