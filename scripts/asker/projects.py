"""Hold the records that questions are asked of as vectors, in turns, with what answers them."""

from __future__ import annotations

import hashlib
import json
import lzma
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.embed.halves import unpacked

if TYPE_CHECKING:
    from factbook.memory import Memory

DATA: Final = Path(__file__).resolve().parents[2] / "data"
ASKED: Final = DATA / "answers" / "asked.jsonl.xz"
CHATS: Final = DATA / "language" / "ordinary" / "chats.train.jsonl.xz"
DEVELOPMENT: Final = ("tune", "held", "dim")  # files of data/answers

CHATS_NAME: Final = "chats"  # of the project that is no log
# the rows that the questions on chats were written on: another number or seed gives others
CHAT_ROWS: Final = 2_400
CHAT_SEED: Final = 5
CUTS: Final = (1, 5, 10, 24)

Floats = NDArray[np.float32]
Row = dict[str, Any]
Embed = Callable[[Sequence[str]], Floats]  # texts to (texts, 384), each of length 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, with what answers it by number in its project."""

    text: str
    words: str  # "log" or "other": whose words it uses
    part: str  # the file that it stands in
    records: list[int]  # not all that answer need have a vector
    turns: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Records among which somebody looks for an answer; every one lies in a turn."""

    name: str
    vectors: Floats  # (records, 384)
    turn_of: NDArray[np.int64]  # (records,)
    prompts: NDArray[np.int64]  # (turns,): the record that begins it, -1 where it has no vector
    questions: list[Question] = field(default_factory=list)
    lost: int = 0  # questions whose answer lies in no turn


def read_asked(path: Path = ASKED) -> dict[str, list[Row]]:
    """Return our questions, by the project that they are asked of: a repository, or the chats."""
    found: defaultdict[str, list[Row]] = defaultdict(list)
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            found["/".join(row["log"].split("/")[:2])].append(row)
    return dict(found)


def read_development(path: Path = DATA / "answers") -> list[Row]:
    """Return the questions that the asker is measured on and not trained on."""
    rows = []
    for part in DEVELOPMENT:
        lines = (path / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()
        rows += [{**json.loads(line), "part": part} for line in lines]
    return rows


# --- projects -------------------------------------------------------------------------------------


def of_memory(memory: Memory, name: str, asked: Sequence[Row]) -> Project:
    """Return the records of a memory, with the questions whose answers our rows name."""
    return _of_memory(memory, name, asked, lambda row, uids, texts: _named(row["records"], uids))


def of_development(memory: Memory, asked: Sequence[Row]) -> Project:
    """Return the records of a memory, with questions that any record answers that has the pattern.

    The record that is named answers too, whatever stands in it.
    """

    def right(row: Row, uids: dict[str, int], texts: dict[int, str]) -> list[int]:
        pattern = re.compile(row["pattern"], re.IGNORECASE | re.DOTALL)
        found = [number for number, text in texts.items() if pattern.search(text)]
        return list(dict.fromkeys(_named([row["record"]], uids) + found))

    return _of_memory(memory, "development", asked, right)


def of_chats(embed: Embed, asked: Sequence[Row]) -> Project:
    """Return what people said in our chats as one project, each message a turn of its own."""
    texts = chats()
    numbers = np.arange(len(texts))
    at = {uid_of(text): number for number, text in enumerate(texts)}
    questions = []
    for row in asked:
        right = _named(row["records"], at)
        questions.append(_question(row, right, right))
    known = [q for q in questions if q.turns]
    return Project(
        name=CHATS_NAME,
        vectors=embed(texts),
        turn_of=numbers,
        prompts=numbers,
        questions=known,
        lost=len(questions) - len(known),
    )


def chats() -> list[str]:
    """Return the messages that the questions on chats were written on."""
    with lzma.open(CHATS, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if any(c["keep"] for c in row["clauses"])]
    random.Random(CHAT_SEED).shuffle(rows)
    return [row["text"] for row in rows[:CHAT_ROWS]]


def uid_of(text: str) -> str:
    """Return what a message of the chats is named by."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _named(records: Iterable[str], at: dict[str, int]) -> list[int]:
    return [at[uid] for uid in records if uid in at]


def _question(row: Row, records: list[int], turns: list[int]) -> Question:
    return Question(
        text=row["question"],
        words=row["words"],
        part=row.get("part", ""),
        records=records,
        turns=turns,
    )


def _of_memory(
    memory: Memory,
    name: str,
    asked: Sequence[Row],
    right: Callable[[Row, dict[str, int], dict[int, str]], list[int]],
) -> Project:
    """`right` gives the ids of the records that answer a question, by uids and by texts."""
    rows = memory.sql(
        "SELECT id, uid, text FROM episode_row WHERE injected = 0 ORDER BY id", limit=None
    )
    ids = [int(str(row["id"])) for row in rows]
    uids = {str(row["uid"]): number for row, number in zip(rows, ids, strict=True)}
    texts = {number: str(row["text"]) for row, number in zip(rows, ids, strict=True)}
    with memory.store.snapshot() as moment:
        vectors = unpacked(*moment.vectors("episode", ids))
        turns = moment.turns(ids)
    begun = {number: turns[number][0][0] for number in ids if number in turns}
    # what lies in no turn cannot be found by turns
    kept = [n for n, number in enumerate(vectors.ids) if number in begun]
    at = {vectors.ids[n]: place for place, n in enumerate(kept)}
    turn_at = {first: n for n, first in enumerate(sorted({begun[number] for number in at}))}
    questions = []
    for row in asked:
        found = right(row, uids, texts)
        turns_found = {begun[number] for number in found if number in begun}
        questions.append(
            _question(
                row,
                [at[number] for number in found if number in at],
                sorted(turn_at[first] for first in turns_found if first in turn_at),
            )
        )
    known = [q for q in questions if q.turns]
    return Project(
        name=name,
        vectors=vectors.rows[kept],
        turn_of=np.array([turn_at[begun[number]] for number in at], np.int64),
        prompts=np.array([at.get(first, -1) for first in turn_at], np.int64),
        questions=known,
        lost=len(questions) - len(known),
    )


# --- figures --------------------------------------------------------------------------------------


def turn_scores(project: Project, near: Floats) -> Floats:
    """Return how near each turn is, shape (questions, turns), of cosines (questions, records).

    As recall weighs it: the mean of the nearest records, the nearest alone, and the prompt, each
    as a share of the best turn's.
    """
    shape = (len(near), len(project.prompts))
    mean, best = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    for turn, rows in enumerate(_records_of_turns(project)):
        nearest = np.sort(near[:, rows], axis=1)[:, -policy.TURN_NEAREST :]
        mean[:, turn], best[:, turn] = nearest.mean(axis=1), nearest[:, -1]
    prompt = np.where(project.prompts >= 0, near[:, project.prompts], np.float32(0))
    weights = (policy.TURN_NEAR, policy.TURN_NEAR_ONE, policy.TURN_NEAR_PROMPT)
    scores = np.zeros(shape, np.float32)
    for weight, values in zip(weights, (mean, best, prompt), strict=True):
        shares = values.clip(min=0)
        scores += weight * shares / shares.max(axis=1, keepdims=True).clip(min=1e-9)
    return scores


def _records_of_turns(project: Project) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers of each turn's records."""
    order = np.argsort(project.turn_of, kind="stable")
    bounds = np.searchsorted(project.turn_of[order], np.arange(1, len(project.prompts)))
    yield from np.split(order, bounds)


def measure(project: Project, embed: Embed) -> dict[str, dict[str, float]]:
    """Return in how many of a hundred questions a right turn is among the first, by vectors alone.

    By part and by whose words they use, and by the words alone: "tune other", "all log".
    """
    groups: defaultdict[str, list[int | None]] = defaultdict(list)
    near = embed([q.text for q in project.questions]) @ project.vectors.T
    order = np.argsort(-turn_scores(project, near), axis=1, kind="stable")[:, : max(CUTS)]
    for question, found in zip(project.questions, order.tolist(), strict=True):
        right = set(question.turns)
        place = next((n for n, turn in enumerate(found, 1) if turn in right), None)
        for part in dict.fromkeys((question.part, "all")):
            groups[f"{part} {question.words}"].append(place)
    return {
        name: {
            "questions": len(places),
            **{
                f"@{cut}": round(100 * sum(p is not None and p <= cut for p in places) / n, 1)
                for cut in CUTS
            },
        }
        for name, places in sorted(groups.items())
        if (n := len(places))
    }
