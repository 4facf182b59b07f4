"""Measure the facts that are found in conversations without a model.

    python -m bench.clusters [--personas FILE] [--rows N] [--predictions OUT] [--cache FILE]

Reads conversations with the persona lines of both speakers (columns `user 1 personas`, `user 2
personas` and a third with the turns, "User 1: ..."). Each speaker of each conversation is an owner,
each turn an episode, each conversation a session. The product is what `find_clusters` finds and
what `find_statements` finds in the rest. A persona line is covered when a fact of its conversation
is near to it (cosine 0.7) or has all its content words. `coverage` is the share of persona lines
that are covered, `precision` the share of facts that cover at least one: many facts are true and
lasting and on no persona list, so it is a lower bound, the same for all.

Baselines, each with as many facts per speaker as the product has: `kmeans`, the sentences nearest
to the centres of k-means over all sentences of the speaker; `first_person`, that many of the
sentences that begin with I, my, we or our, drawn by chance.

`together` clusters the statements of all speakers at once, as one owner, for the time it takes.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import resource
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bench._common import BenchError, data_dir, emit, print_table, run
from factbook.embed import bundled
from factbook.extract import sentences
from factbook.extract.clusters import Piece, find_clusters, find_statements, pieces_of
from factbook.gate.judge import JudgedClaim, Relation, judge
from factbook.language.words import STOPWORDS
from factbook.language.words import words as query_words
from factbook.model.facts import EpisodeKind, Role, StoredEpisode, Trust

COVER_COSINE: Final = 0.7
PERSONA_FILE: Final = "persona_chat/Synthetic-Persona-Chat_valid.csv"
_TURN: Final = re.compile(r"User ([12]): ?(.*)")
_FIRST: Final = re.compile(r"(?:I|my|we|our)\b", re.IGNORECASE)

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One row of the file."""

    row: int
    lines: tuple[str, ...]  # persona lines of both, each once
    turns: tuple[tuple[int, str], ...]  # speaker (1 or 2) and what is said


def read(path: Path, *, limit: int | None = None) -> list[Conversation]:
    """Read the conversations of a file; raises BenchError where it is none of this format."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise BenchError(f"{path} cannot be read ({error}); give --personas FILE") from error
    needed = ("user 1 personas", "user 2 personas")
    if not rows or any(name not in rows[0] for name in needed) or len(rows[0]) < 3:
        raise BenchError(f"{path} has no columns {needed} and a conversation; give another file")
    talk = next(name for name in reversed(list(rows[0])) if name not in needed)
    found = []
    for number, row in enumerate(rows[:limit]):
        lines = [line.strip() for name in needed for line in (row[name] or "").splitlines()]
        turns: list[tuple[int, str]] = []
        for line in (row[talk] or "").splitlines():
            match = _TURN.match(line)
            if match:
                turns.append((int(match[1]), match[2]))
            elif turns and line.strip():
                turns[-1] = (turns[-1][0], f"{turns[-1][1]}\n{line}")
        unique = tuple(dict.fromkeys(line for line in lines if line))
        found.append(Conversation(row=number, lines=unique, turns=tuple(turns)))
    return found


class Embeddings:
    """Vectors of texts, each embedded once; kept in a file between runs where one is named."""

    def __init__(self, cache: Path | None) -> None:
        """Read the cache, if there is one."""
        self._cache = cache
        self._rows: dict[str, Vectors] = {}
        if cache is not None and cache.is_file():
            with np.load(cache) as data:
                texts = zlib.decompress(data["texts"].tobytes()).decode("utf-8").split("\0")
                if str(data["model"]) == bundled().id:
                    self._rows = dict(zip(texts, data["vectors"], strict=True))

    def add(self, texts: Sequence[str]) -> None:
        """Embed those texts that have no vector yet, and write the cache."""
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if not new:
            return
        # Half precision, as the store keeps them.
        self._rows |= zip(new, bundled().embed(new).astype(np.float16), strict=True)
        if self._cache is not None:
            packed = zlib.compress("\0".join(self._rows).encode("utf-8", "replace"))
            np.savez(
                self._cache,
                texts=np.frombuffer(packed, dtype=np.uint8),
                vectors=np.array(list(self._rows.values())),
                model=bundled().id,
            )

    def of(self, texts: Sequence[str]) -> Vectors:
        """Return a row for each text."""
        self.add(texts)
        rows = np.array([self._rows[text] for text in texts], dtype=np.float32)
        return rows.reshape(len(texts), bundled().dim)


def episodes(talk: Conversation, speaker: int) -> list[StoredEpisode]:
    """Return the turns of one speaker as the episodes of an owner."""
    return [
        StoredEpisode(
            id=position,
            uid=f"{talk.row}:{position}",
            source_id=talk.row,
            source=f"row {talk.row}",
            kind=EpisodeKind.TURN,
            role=Role.USER,
            trust=Trust.DIRECT,
            text=text,
            position=position,
            offset=0,
            occurred_at=None,
            owner=f"{talk.row}:{speaker}",
            subject="",
            group="",
            session=str(talk.row),
            project="",
            branch="",
            agent="",
            tool="",
            call_id="",
            host="bench",
            is_error=False,
            cut=0,
            injected=False,
        )
        for position, (who, text) in enumerate(talk.turns)
        if who == speaker
    ]


def same(older: str, newer: str, cosine: float) -> bool:
    """Judge as the night does."""
    judged = judge(JudgedClaim(text=older), JudgedClaim(text=newer), similarity=cosine)
    return judged.relation is Relation.SAME


def facts_of(pieces: Sequence[Piece], embeddings: Embeddings) -> list[str]:
    """Return the product's facts of one owner: what recurs, then what is said clearly once."""
    if not pieces:
        return []
    vectors = embeddings.of([piece.text for piece in pieces])
    numbered = [replace(piece, row=row) for row, piece in enumerate(pieces)]
    result = find_clusters(numbered, vectors, same=same)
    single = find_statements([numbered[index] for index in result.left])
    return list(dict.fromkeys(found.statement for found in [*result.proposed, *single]))


def kmeans(texts: Sequence[str], count: int, embeddings: Embeddings, *, seed: int) -> list[str]:
    """Return the texts nearest to the centres of k-means."""
    from sklearn.cluster import KMeans

    unique = list(dict.fromkeys(texts))
    if count >= len(unique):
        return unique
    vectors = embeddings.of(unique).astype(np.float64)
    model = KMeans(n_clusters=count, n_init=4, random_state=seed).fit(vectors)
    nearest = (model.cluster_centers_ @ vectors.T).argmax(axis=1)
    return [unique[at] for at in dict.fromkeys(nearest.tolist())]


def covers(fact: str, lines: Sequence[str], embeddings: Embeddings) -> list[str]:
    """Return the persona lines that a fact covers."""
    cosines = embeddings.of(lines) @ embeddings.of([fact])[0]
    said = set(query_words(fact))
    found = []
    for line, cosine in zip(lines, cosines.tolist(), strict=True):
        needed = {word for word in query_words(line) if word not in STOPWORDS}
        if cosine >= COVER_COSINE or (needed and needed <= said):
            found.append(line)
    return found


def score(
    talks: Sequence[Conversation], facts: dict[int, list[str]], embeddings: Embeddings
) -> dict[str, float]:
    """Return coverage and precision in percent, and how many facts there are."""
    lines = covered = good = total = 0
    for talk in talks:
        hits = [covers(fact, talk.lines, embeddings) for fact in facts[talk.row]]
        lines += len(talk.lines)
        covered += len({line for hit in hits for line in hit})
        good += sum(bool(hit) for hit in hits)
        total += len(hits)
    return {
        "coverage": round(100 * covered / max(1, lines), 2),
        "precision": round(100 * good / max(1, total), 2),
        "facts": total,
    }


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def together(pieces: Sequence[Piece], embeddings: Embeddings) -> dict[str, Any]:
    """Cluster the pieces of all speakers at once."""
    vectors = embeddings.of([piece.text for piece in pieces])
    numbered = [
        replace(piece, row=row, uid=f"{piece.session}:{piece.uid}")
        for row, piece in enumerate(pieces)
    ]
    began = _cpu()
    result = find_clusters(numbered, vectors, same=same)
    return {
        "pieces": len(pieces),
        "cpu_seconds": round(_cpu() - began, 2),
        "clusters": len(result.proposed),
        "members": sum(len(found.members) for found in result.proposed),
        "left": len(result.left),
    }


def measure(
    talks: Sequence[Conversation],
    *,
    cache: Path | None = None,
    seed: int = 1,
    predictions: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Find the facts of all conversations, write them, and then score them and the baselines."""
    embeddings = Embeddings(cache)
    owners = [(talk, speaker) for talk in talks for speaker in (1, 2)]
    pieces = {
        (talk.row, speaker): [
            piece for episode in episodes(talk, speaker) for piece in pieces_of(episode)
        ]
        for talk, speaker in owners
    }
    raw = {
        (talk.row, speaker): [
            sentence.text
            for who, text in talk.turns
            if who == speaker
            for sentence in sentences.split(text)
        ]
        for talk, speaker in owners
    }
    embeddings.add(
        [piece.text for some in pieces.values() for piece in some]
        + [text for some in raw.values() for text in some]
        + [line for talk in talks for line in talk.lines]
    )
    began = _cpu()
    product = {owner: facts_of(some, embeddings) for owner, some in pieces.items()}
    cpu_seconds = _cpu() - began
    embeddings.add([fact for facts in product.values() for fact in facts])
    if predictions is not None:
        for talk, speaker in owners:
            for fact in product[talk.row, speaker]:
                line = {
                    "row": talk.row,
                    "fact": fact,
                    "covers": covers(fact, talk.lines, embeddings),
                }
                predictions(json.dumps(line, ensure_ascii=False) + "\n")
    chance = random.Random(seed)
    medoids: dict[tuple[int, int], list[str]] = {}
    first: dict[tuple[int, int], list[str]] = {}
    for owner, facts in product.items():
        medoids[owner] = kmeans(raw[owner], len(facts), embeddings, seed=seed) if facts else []
        mine = [text for text in dict.fromkeys(raw[owner]) if _FIRST.match(text)]
        first[owner] = chance.sample(mine, min(len(facts), len(mine)))
    figures: dict[str, Any] = {"rows": len(talks)}
    for name, facts_by in (("product", product), ("kmeans", medoids), ("first_person", first)):
        by_row = {talk.row: facts_by[talk.row, 1] + facts_by[talk.row, 2] for talk in talks}
        figures[name] = score(talks, by_row, embeddings)
    everything = score(
        talks, {talk.row: raw[talk.row, 1] + raw[talk.row, 2] for talk in talks}, embeddings
    )
    figures["every_sentence"] = everything  # what could be reached at most
    figures["product"]["cpu_seconds"] = round(cpu_seconds, 2)
    figures["together"] = together([one for some in pieces.values() for one in some], embeddings)
    return figures


def main() -> int:
    """Run the part from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.clusters", description=__doc__)
    parser.add_argument("--personas", type=Path, help="conversations with persona lines (CSV)")
    parser.add_argument("--rows", type=int, help="read only the first N conversations")
    parser.add_argument("--predictions", type=Path, help="write one JSON line for each fact")
    parser.add_argument("--cache", type=Path, help="keep vectors in this .npz file between runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    path = given.personas
    if path is None:
        data = data_dir()
        if data is None:
            raise BenchError("there is no data folder; give --personas FILE")
        path = data / PERSONA_FILE
    if given.rows is not None and given.rows < 1:
        raise BenchError(f"--rows is {given.rows}; give 1 or more")
    talks = read(path, limit=given.rows)
    if given.predictions is None:
        figures = measure(talks, cache=given.cache, seed=given.seed)
    else:
        with given.predictions.open("w", encoding="utf-8") as file:
            figures = measure(talks, cache=given.cache, seed=given.seed, predictions=file.write)
    if not given.json:
        names = ("product", "kmeans", "first_person", "every_sentence")
        print_table(
            f"persona lines covered, {len(talks)} conversations (percent)",
            [
                {
                    "": name,
                    "coverage": figures[name]["coverage"],
                    "precision": figures[name]["precision"],
                    "facts": figures[name]["facts"],
                }
                for name in names
            ],
        )
        print_table("all speakers clustered as one", [figures["together"]])
    emit(figures, part="clusters", as_json=given.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(run(main))
