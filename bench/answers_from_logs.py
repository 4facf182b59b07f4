"""Ask what the owner of session logs would ask weeks later, and look whether the answer is shown.

    python -m bench.answers_from_logs [FOLDER] [--questions FILE] [--db FILE] [--show]
        [--plain] [--predictions OUT] [--json]

A line of FILE is `{"id", "question", "pattern", ...}`: an answer is found where the text that a
person is shown of a hit matches the pattern (case is not told apart, "." takes line ends). The
questions of `data/answers` were written by people who saw the logs alone, before what they judge;
half of them (`held.jsonl`) are kept aside. Beside the product stand, of the same records and in the
same run, BM25 (FTS5, stemmed) and what ripgrep would do: the records that hold most of the words of
the question. Each of their hits shows as many characters around the words as ours shows at most.

`--db` names a database that already holds the logs of FOLDER, or where to keep it. `--plain` embeds
questions as the texts that they are, and not by the network of questions.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import apsw
import numpy as np
from numpy.typing import NDArray

from bench._common import ROOT, BenchError, data_dir, emit, print_table, run
from factbook import policy
from factbook.embed import Embedder, bundled
from factbook.language.words import STOPWORDS, stem, words
from factbook.memory import Memory
from factbook.surface import views
from factbook.surface.output import Page

QUESTIONS: Final = ROOT / "data" / "answers" / "held.jsonl"
CUTS: Final = (1, 5, 10)
WIDTH: Final = 100  # of the page that a person looks at
SHOWN: Final = policy.TURN_SHOWN + policy.ENDED_CHARS  # as ours at most
TOKENS: Final = 1_500

Row = dict[str, Any]
Texts = Sequence[str]  # what is shown of each hit, best first


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a log, as the baselines search it."""

    text: str


def read_questions(path: Path) -> list[Row]:
    """Read the questions and their patterns."""
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
        for row in rows:
            row["found"] = re.compile(row["pattern"], re.IGNORECASE | re.DOTALL)
    except (OSError, ValueError, KeyError, re.error) as error:
        raise BenchError(f"{path} cannot be read as questions: {error}") from error
    return rows


def is_shown(row: Row, shown: str) -> bool:
    """Say whether a text holds the answer; a page breaks its lines anywhere."""
    return row["found"].search(shown) is not None or (
        row["found"].search(" ".join(shown.split())) is not None
    )


# --- the product ----------------------------------------------------------------------------------


def shown_by_recall(memory: Memory, question: str, *, records: bool = False) -> Texts:
    """Return what a person sees of each hit."""
    answer = memory.recall(question, limit=max(CUTS))
    ids = [hit.evidence[0].episode_id for hit in answer.hits if hit.evidence]
    episodes = memory.sources.episodes(ids)
    del records
    texts = []
    for hit in answer.hits:
        page = Page(width=WIDTH)
        views.ask.answer(
            page, replace(answer, hits=[hit], waiting=0), episodes=episodes, redact=lambda t: t
        )
        texts.append(_unframed(page.written))
    return texts


def _unframed(written: str) -> str:
    """Return a page's text without the bars and margins that stand at its lines."""
    return "\n".join(re.sub(r"^\s*(?:\| )?", "", line) for line in written.splitlines())


def shown_by_context(memory: Memory, question: str) -> tuple[str, int]:
    """Return the text that a model would be given, and its tokens."""
    context = memory.context(question)
    return context.text, context.tokens


# --- the baselines --------------------------------------------------------------------------------


def records_of(memory: Memory) -> list[Record]:
    """Return every record that was read, as its text."""
    rows = memory.sql("SELECT text FROM episode_row WHERE injected = 0 ORDER BY id")
    return [Record(str(row["text"])) for row in rows]


def bm25(records: Sequence[Record]) -> Callable[[str], Texts]:
    """Rank records by FTS5's BM25 with stems."""
    base = apsw.Connection(":memory:")
    base.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize = 'porter unicode61')")
    base.executemany("INSERT INTO t(rowid, text) VALUES (?, ?)", enumerate(r.text for r in records))

    def ask(question: str) -> Texts:
        terms = [term for term in words(question) if term not in STOPWORDS]
        if not terms:
            return []
        match = " OR ".join('"' + term.replace('"', "") + '"' for term in terms)
        rows = base.execute(
            "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (match, max(CUTS))
        )
        return [around(records[int(n)].text, terms) for (n,) in rows]

    return ask


def ripgrep(records: Sequence[Record]) -> Callable[[str], Texts]:
    """Rank records by how many of the question's words they hold, the newest first."""
    lowered = [record.text.casefold() for record in records]

    def ask(question: str) -> Texts:
        terms = list(dict.fromkeys(t for t in words(question) if t not in STOPWORDS))
        held = np.array([sum(term in text for term in terms) for text in lowered])
        order = np.lexsort((-np.arange(len(held)), -held))[: max(CUTS)]
        return [around(records[int(n)].text, terms) for n in order if held[n]]

    return ask


def around(text: str, terms: Sequence[str], size: int = SHOWN) -> str:
    """Return the part of a text of at most `size` characters that holds most of some words."""
    if len(text) <= size:
        return text
    wanted = {stem(term) for term in terms}
    best = max(
        range(0, len(text) - size // 2, size // 2),
        key=lambda at: len(wanted & {stem(w) for w in words(text[at : at + size])}),
    )
    return text[best : best + size]


# --- figures --------------------------------------------------------------------------------------


def first_place(row: Row, texts: Texts) -> int | None:
    """Return at which place the answer is first shown, from 1."""
    return next((n for n, text in enumerate(texts, 1) if is_shown(row, text)), None)


def at_cuts(places: Iterable[int | None]) -> dict[str, float]:
    """Return in how many of a hundred questions the answer is among the first."""
    found = list(places)
    return {
        f"@{cut}": 100 * sum(place is not None and place <= cut for place in found) / len(found)
        for cut in CUTS
    }


def figures_of(rows: Sequence[Row], memory: Memory) -> Iterator[tuple[Row, Row]]:
    """Yield each question with what each way of asking found."""
    records = records_of(memory)
    others = {"BM25": bm25(records), "ripgrep": ripgrep(records)}
    for row in rows:
        began = time.perf_counter()
        texts = shown_by_recall(memory, row["question"])
        took = time.perf_counter() - began
        given, tokens = shown_by_context(memory, row["question"])
        yield (
            row,
            {
                "recall": first_place(row, texts),
                "shown": texts,
                "ms": 1000 * took,
                "context": is_shown(row, given),
                "context_tokens": tokens,
                **{name: first_place(row, ask(row["question"])) for name, ask in others.items()},
            },
        )


class Plain:
    """The embedder without its network of questions."""

    def __init__(self) -> None:
        """Take the name of the one that ships, whose vectors these are."""
        self.id, self.dim = bundled().id, bundled().dim

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit row for each text."""
        return bundled().embed(texts)


def opened(folder: Path, path: Path, embedder: Embedder | None = None) -> Memory:
    """Return a memory that holds the logs of a folder."""
    memory = Memory(path, embedder=embedder, key_file=path.with_suffix(".key"))
    memory.ingest([folder])
    memory.embed()
    return memory


def main() -> int:
    """Ask, print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.answers_from_logs", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, nargs="?", help="session logs")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--db", type=Path)
    parser.add_argument("--plain", action="store_true", help="embed questions as texts")
    parser.add_argument("--show", action="store_true", help="print what was not found first")
    parser.add_argument("--predictions", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    data = data_dir()
    folder = given.folder or (data and data / "sessions")
    if folder is None or not folder.is_dir():
        raise BenchError("no folder of session logs; name one")
    rows = read_questions(given.questions)
    with tempfile.TemporaryDirectory() as scratch:
        plain = Plain() if given.plain else None
        memory = opened(folder, given.db or Path(scratch) / "logs.db", plain)
        with memory:
            asked = list(figures_of(rows, memory))
    if given.predictions:
        lines = ({"id": row["id"], "shown": found["shown"]} for row, found in asked)
        given.predictions.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    if given.show:
        for row, found in asked:
            if found["recall"] != 1:
                print(f"\n### {row['id']} {found['recall']} {row['question']}\n  = {row['answer']}")
                for text in found["shown"][:3]:
                    print("   -", " ".join(text.split())[:300])
    table: list[Row] = []
    groups = {"all": asked} | {
        kind: [pair for pair in asked if pair[0].get("words") == kind] for kind in ("log", "other")
    }
    figures: Row = {"questions": len(rows)}
    for group, pairs in groups.items():
        if not pairs:
            continue
        figures[group] = {
            name: at_cuts(found[name] for _, found in pairs)
            for name in ("recall", "BM25", "ripgrep")
        }
        figures[group]["context"] = 100 * sum(f["context"] for _, f in pairs) / len(pairs)
        table += [
            {"words": group, "by": name, **figures[group][name]}
            for name in ("recall", "BM25", "ripgrep")
        ]
        table.append({"words": group, "by": "context", "@1": figures[group]["context"]})
    figures["context_tokens"] = float(np.mean([found["context_tokens"] for _, found in asked]))
    figures["chars"] = float(np.mean([len(t) for _, f in asked for t in f["shown"]] or [0]))
    figures["p50_ms"] = float(np.median([found["ms"] for _, found in asked]))
    if not given.json:
        print_table(f"{len(rows)} questions on session logs, percent answered", table)
        for name in ("context_tokens", "chars", "p50_ms"):
            print(f"{name} {figures[name]:.1f}")
    emit(figures, part="answers_from_logs", as_json=given.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(run(main))
