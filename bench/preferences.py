"""Measure passive recall of preferences: a question to the wish that its answer must respect.

    python -m bench.preferences [DIR] [--predictions OUT] [--json]

DIR holds files of PrefEval, each a list of `preference` and `question` of one topic. All
preferences of all files become facts of one owner, as the owner said them; each question is one
turn of a conversation, and what passive recall would bring is ranked. `vectors` is the baseline:
the cosine of question and preference with the same embedder. `product without associations` shows
what the engine does with a question like any other.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench._common import BenchError, data_dir, emit, print_table, run
from factbook.apply.apply import apply
from factbook.embed import bundled
from factbook.extract.rules import RuleSet
from factbook.memory import Memory
from factbook.model.facts import (
    Candidate,
    Episode,
    EpisodeKind,
    FactKind,
    Role,
    Source,
    Trigger,
    Trust,
)
from factbook.model.ops import AssertFact, Op, RecordEpisode, RecordSource
from factbook.recall.query_expansion import Associations
from factbook.recall.search import Engine
from factbook.store.rows import Filters

RANKED: Final = 20
NOW: Final = 1_795_000_000_000
CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One preference and the question that needs it."""

    topic: str
    index: int
    preference: str
    question: str


def load(folder: Path) -> list[Item]:
    """Read every topic of a folder; raises BenchError for one that cannot be used."""
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not files:
        raise BenchError(f"{folder} holds no .json files; give the folder with PrefEval's topics")
    items = []
    for path in files:
        try:
            rows = json.loads(path.read_text(encoding="utf-8"))
            items += [
                Item(
                    topic=path.stem,
                    index=index,
                    preference=row["preference"],
                    question=row["question"],
                )
                for index, row in enumerate(rows)
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise BenchError(
                f"{path} is no list of objects with preference and question ({error!r});"
                " give a file of PrefEval"
            ) from error
    return items


def fill(memory: Memory, items: Sequence[Item]) -> dict[str, list[Item]]:
    """Store each preference as a statement of the owner; return the items by hit id."""
    source = Source(key="bench:prefeval", kind="conversation", host="bench", session="s", uri="s")
    ops: list[Op] = [RecordSource(source=source)]
    for n, item in enumerate(items):
        episode = Episode(
            uid=f"bench:{n}",
            source=source.key,
            kind=EpisodeKind.TURN,
            role=Role.USER,
            trust=Trust.DIRECT,
            text=item.preference,
            position=n + 1,
            offset=0,
            occurred_at=NOW,
        )
        candidate = Candidate(
            subject=episode.owner,
            predicate="states",
            object=item.preference,
            statement=item.preference,
            confidence=CONFIDENCE,
            rule="said",
            method="The owner said it",
            start=0,
            end=len(item.preference),
            kind=FactKind.STATEMENT,
            embed=True,
        )
        ops += [
            RecordEpisode(episode=episode),
            AssertFact(
                candidate=candidate,
                episode=episode.uid,
                owner=episode.owner,
                confidence=CONFIDENCE,
                trust=Trust.DIRECT,
                quote=item.preference,
            ),
        ]
    apply(memory.store, ops, trigger=Trigger.USER_MESSAGE, actor="bench", now=NOW)
    memory.embed()
    by_text: dict[str, list[Item]] = {}
    for item in items:
        by_text.setdefault(item.preference, []).append(item)
    facts = memory.store.facts(Filters(predicates=["states"]), limit=None)
    return {f"f{fact.id}": by_text[fact.object] for fact in facts}


def product(
    memory: Memory, items: Sequence[Item], by_id: dict[str, list[Item]], *, associations: bool
) -> list[list[Item]]:
    """Return what passive recall ranks for each question, before one is taken of each cluster."""
    known = Associations.of(memory.resources.embedder)
    engine = Engine(
        store=memory.store,
        embedder=lambda: memory.resources.embedder,
        rules=RuleSet.default(),
        clock=lambda: NOW,
        redact=lambda text: text,
        associations=(lambda: known) if associations else None,
    )
    ranked = []
    for item in items:
        answer = engine.recall(
            item.question, limit=RANKED, filters=Filters(), passive=True, search_type="facts"
        )
        # The same words said twice are one fact: either of them is the right answer.
        ranked.append([one for hit in answer.hits for one in by_id[hit.id]][:RANKED])
    return ranked


def vectors(items: Sequence[Item]) -> list[list[Item]]:
    """Return the preferences nearest to each question by cosine."""
    embedder = bundled()
    cosines = (
        embedder.embed([item.question for item in items])
        @ embedder.embed([item.preference for item in items]).T
    )
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :RANKED]
    return [[items[one] for one in row] for row in order.tolist()]


def score(items: Sequence[Item], ranked: Sequence[Sequence[Item]]) -> dict[str, float]:
    """Return R@1, R@5 and MRR within the ranked ones, in percent."""
    places = [
        row.index(item) + 1 if item in row else None
        for item, row in zip(items, ranked, strict=True)
    ]

    def share(k: int) -> float:
        return 100.0 * sum(place is not None and place <= k for place in places) / len(places)

    mrr = 100.0 * sum(1 / place for place in places if place) / len(places)
    return {"R@1": round(share(1), 2), "R@5": round(share(5), 2), "MRR": round(mrr, 2)}


def main() -> int:
    """Run the part from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.preferences", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", metavar="DIR")
    parser.add_argument("--predictions", type=Path, help="write one JSON line per question here")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    folder = given.folder
    if folder is None:
        data = data_dir()
        if data is None:
            raise BenchError("there is no data folder; give DIR, the folder of PrefEval's topics")
        folder = data / "prefeval"
    items = load(folder)
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        with Memory(place / "bench.db", key_file=place / "key", clock=lambda: NOW) as memory:
            by_id = fill(memory, items)
            ranked = product(memory, items, by_id, associations=True)
            if given.predictions:
                lines = (
                    json.dumps(
                        {
                            "topic": item.topic,
                            "index": item.index,
                            "ranked": [[one.topic, one.index] for one in row],
                        }
                    )
                    for item, row in zip(items, ranked, strict=True)
                )
                given.predictions.write_text("".join(f"{line}\n" for line in lines), "utf-8")
            plain = product(memory, items, by_id, associations=False)
    figures: dict[str, Any] = {
        "questions": len(items),
        "topics": len({item.topic for item in items}),
        "product": score(items, ranked),
        "product_without_associations": score(items, plain),
        "vectors": score(items, vectors(items)),
    }
    if not given.json:
        print_table(
            f"preferences: {len(items)} questions, percent",
            [{"": name, **one} for name, one in figures.items() if isinstance(one, dict)],
        )
    emit(figures, part="preferences", as_json=given.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(run(main))
