"""Simulate a year of chat with nightly consolidation, and judge what the memory holds at its end.

    python -m bench.year [--days N] [--turns N] [--seed N] [--json]

A generator (`bench.year_life`) knows what is true on which day and which turn states what. Each
day's turns are recorded, and each night consolidation runs. Judged by the generator's ids alone:

- junk_share: among active statements, those that state what another active one states, nothing
  that was ever true (noise), or what is no longer true.
- file_ratio: the size of the file over its live bytes (pages in use).
- passive_true: of what is true on the last day, the share that passive recall brings for a turn
  that needs it.
- queues: what waits at the end (rows to embed, rows aside, ambiguous pairs, loose episodes).

The baseline keeps every turn and never forgets: vectors over all the owner's turns, the newest of
the ten nearest ones that state something about the slot.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from bench._common import emit, print_table
from bench.cached import Cached
from bench.year_life import SLOTS, START, Life, Said
from factbook.store.derived.counts import row_counts
from factbook.store.derived.ledger import evidence_of

DAY_MS = 24 * 3600 * 1000
PASSIVE_FACTS = 5  # seed 001: top 3-5 facts and top 3-5 episodes
PASSIVE_EPISODES = 5


def simulate(path: Path, *, days: int, turns: int, seed: int) -> dict[str, Any]:
    """Live through the days and return the figures."""
    from factbook.memory import Memory

    life = Life(seed=seed, start=START, days=days, turns=turns)
    now = int(START.timestamp() * 1000)
    embedder = Cached()
    states: dict[int, tuple[str, ...]] = {}  # by the time of the turn
    said: list[Said] = []
    nights: list[float] = []
    with Memory(
        path, clock=lambda: now, embedder=embedder, key_file=path.with_name("key")
    ) as memory:
        for day in range(days):
            turns_today = list(life.day(day))
            said += turns_today
            states.update((one.at, one.states) for one in turns_today)
            now = turns_today[-1].at + 1000
            _record(memory, turns_today)
            now = int(START.timestamp() * 1000) + (day + 1) * DAY_MS
            began = time.perf_counter()
            memory.consolidate()
            nights.append(time.perf_counter() - began)
        figures = _judge(memory, life, states)
        figures["night_seconds"] = {
            "p50": round(statistics.median(nights), 3),
            "last": round(statistics.median(nights[-10:]), 3),
        }
        figures["baseline_vectors"] = {"passive_true": _baseline(life, said, embedder)}
        problems = memory.check()
    figures["problems"] = len(problems)
    figures["turns"] = len(said)
    figures["days"] = days
    return figures


def _record(memory: Any, turns: Sequence[Said]) -> None:
    from factbook.model.facts import Role
    from factbook.recall.plan import Turn

    for session, group in groupby(turns, key=lambda one: one.session):
        memory.conversation(session=session).add_turns(
            [Turn(role=Role(one.role), text=one.text, at=one.at, id=one.uid) for one in group]
        )


def _judge(memory: Any, life: Life, states: Mapping[int | None, tuple[str, ...]]) -> dict[str, Any]:
    from factbook.model.facts import FactKind, Stance

    truths = life.truths()
    facts = memory.query_facts(kind=FactKind.STATEMENT)
    evidence = evidence_of(memory.store, [one.id for one in facts])
    episodes = memory.store.episodes_by_id(
        sorted({one.episode_id for rows in evidence.values() for one in rows})
    )
    seen: set[str] = set()
    junk = {"duplicate": 0, "unreferenced": 0, "untrue": 0}
    examples: dict[str, list[str]] = {name: [] for name in junk}
    for fact in sorted(facts, key=lambda one: -one.confidence):
        first = episodes[fact.episode_id]
        ids = set(states.get(first.occurred_at, ()))
        for row in evidence[fact.id]:
            if row.stance is Stance.SUPPORTS and fact.statement in episodes[row.episode_id].text:
                ids |= set(states.get(episodes[row.episode_id].occurred_at, ()))
        kind = (
            "unreferenced"
            if not ids
            else "untrue"
            if not ids & truths
            else "duplicate"
            if ids & truths <= seen
            else ""
        )
        seen |= ids
        if kind:
            junk[kind] += 1
            examples[kind].append(fact.statement)
    found, missed = _passive(memory, life, states)
    counts = row_counts(memory.store)
    size = memory.path.stat().st_size
    return {
        "facts": len(facts),
        "junk_share": round(100 * sum(junk.values()) / max(1, len(facts)), 2),
        "junk": junk,
        "junk_examples": {name: texts[:8] for name, texts in examples.items()},
        "passive_true": round(100 * found / len(SLOTS), 2),
        "passive_missed": missed,
        "facts_true": round(100 * len(seen & truths) / len(truths), 2),
        "file_ratio": round(size / memory.store.files.live_bytes(), 3),
        "file_mb": round(size / 1e6, 1),
        "queues": {
            "to_embed": counts["episodes_waiting"] + counts["facts_waiting"],
            "aside": len(memory.maintenance.set_aside()),
            "ambiguous": len(memory.review.questions()),
        },
    }


def _passive(
    memory: Any, life: Life, states: Mapping[int | None, tuple[str, ...]]
) -> tuple[int, list[str]]:
    """Ask with a turn that needs each truth; count those whose value passive recall brings."""
    found = 0
    missed: list[str] = []
    for slot in SLOTS:
        wanted = f"{slot.name}={life.values[slot.name]}"
        hits = memory.conversation().prefetch(slot.asks)
        ids: set[str] = set()
        for hit in hits:
            if hit.id.startswith("e"):
                episode = memory.sources.episode(int(hit.id[1:]))
                ids |= set(states.get(episode.occurred_at, ()))
                continue
            rows = evidence_of(memory.store, [int(hit.id[1:])])[int(hit.id[1:])]
            behind = memory.store.episodes_by_id([one.episode_id for one in rows])
            for episode in behind.values():
                if hit.text in episode.text:
                    ids |= set(states.get(episode.occurred_at, ()))
        if wanted in ids:
            found += 1
        else:
            missed.append(f"{slot.asks} -> {[hit.text for hit in hits][:4]}")
    return found, missed


def _baseline(life: Life, said: Sequence[Said], embedder: Cached) -> float:
    told = [one for one in said if one.role == "user"]
    texts = sorted({one.text for one in told})
    rows = embedder.embed(texts)
    last = {one.text: one for one in told}  # the newest turn with that text
    found = 0
    for slot in SLOTS:
        order = np.argsort(-(rows @ embedder.embed([slot.asks])[0]))
        near = [last[texts[n]] for n in order[: PASSIVE_FACTS + PASSIVE_EPISODES].tolist()]
        about = [
            one for one in near if any(state.startswith(f"{slot.name}=") for state in one.states)
        ]
        newest = max(about, key=lambda one: one.at, default=None)
        found += newest is not None and f"{slot.name}={life.values[slot.name]}" in newest.states
    return round(100 * found / len(SLOTS), 2)


def main() -> None:
    """Run the part from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.year", description=__doc__)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        figures = simulate(
            Path(scratch) / "year.db", days=given.days, turns=given.turns, seed=given.seed
        )
    if not given.json:
        print_table(
            f"{figures['days']} days, {figures['turns']:,} turns",
            [
                {
                    "": "factbook",
                    "junk %": figures["junk_share"],
                    "passive true %": figures["passive_true"],
                    "file / live": figures["file_ratio"],
                    "facts": figures["facts"],
                    "night s": figures["night_seconds"]["p50"],
                },
                {"": "vectors", "passive true %": figures["baseline_vectors"]["passive_true"]},
            ],
        )
    emit(figures, part="year", as_json=given.json)


if __name__ == "__main__":
    main()
