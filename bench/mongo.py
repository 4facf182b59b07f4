"""Measure typed memories whose record is in MongoDB: writing in bulk, and an owner's context.

    python -m bench.mongo [--n N] [--owners N] [--typed DIR] [--json]

N memories of a number of owners are written in batches of 1,000 into a record on a server that is
started here (`nx-27017`, which speaks MongoDB's protocol over SQLite), each batch one commit with
its evidence and its history. Then another file, which never saw them, takes the record in, and asks
for owners one after another, while the first one goes on writing. The baseline is the same in the
embedded store alone.

- written_per_s: memories acknowledged by a majority, per second
- envelope_ms: for an owner's envelope of at most 5 facts, 3 patterns and 2 narratives, of an owner
  who was not asked for before
- context_ms: for an owner's context to a question, with the same bounds, warm
- behind_ms: for the first envelope after another process wrote 10 memories, which it takes in
- taken_in_s: what a file without any of them takes to have them all
- same: with --typed, of all claims of `bench.typed` that both stores are given, the share whose
  receipt is the same, and whether both say the same of them in the end
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from bench import typed
from bench._common import BenchError, emit, print_table, run
from factbook.gate.grounding import read_passage
from factbook.gate.typed_claims import judge_typed
from factbook.memory import Memory
from factbook.model.facts import EVERYONE, Candidate, EpisodeKind, FactKind, Role, Trigger, Trust
from factbook.model.ops import AssertFact, Op
from factbook.sources.told import said_ops
from factbook.store.kinds import FACT
from factbook.store.rows import LifeWhere
from factbook.testing.mongo_server import mongo_server

PART = "mongo"
BATCH = 1_000
_KINDS = ("user_fact", "user_fact", "user_pattern", "shared_narrative")
_VERBS = ("likes", "knows", "repairs", "collects", "reads about", "cooks with", "travels for")
_THINGS = (
    "quinces", "clarinets", "sundials", "tide tables", "linocuts", "kayaks", "beehives",
    "steam engines", "lichens", "fountain pens", "barometers", "sourdough", "chess problems",
)  # fmt: skip


def ops_of(batch: range, owners: int, memory: Memory) -> list[Op]:
    """Return what asserts memories: each of ten stands on one summary of its owner."""
    ops: list[Op] = []
    for first in range(batch.start, batch.stop, 10):
        owner = f"owner{first // 10 % owners}"
        said = [
            f"{_VERBS[n % len(_VERBS)]} {_THINGS[n % len(_THINGS)]} no. {n}"
            for n in range(first, first + 10)
        ]
        text = ". ".join(said)
        uid = f"summary:{first}"
        ops += said_ops(
            text,
            uid=uid,
            owner=owner,
            at=memory.clock(),
            what="summary",
            title="summaries",
            kind=EpisodeKind.SUMMARY,
            role=Role.ASSISTANT,
            trust=Trust.DERIVED,
        )
        for n, claim in enumerate(said):
            start = text.index(claim)
            kind = _KINDS[n % len(_KINDS)]
            candidate = Candidate(
                subject=owner,
                predicate=kind,
                object=claim,
                statement=claim,
                confidence=0.8,
                rule=f"typed:{kind}",
                method="made for the bench",
                start=start,
                end=start + len(claim),
                kind=FactKind.TYPED,
                embed=False,
            )
            ops.append(
                AssertFact(
                    candidate=candidate,
                    episode=uid,
                    owner=owner,
                    confidence=candidate.confidence,
                    trust=Trust.DERIVED,
                    quote=claim,
                )
            )
    return ops


def write(memory: Memory, n: int, owners: int, *, first: int = 0) -> float:
    """Write memories in batches; return the seconds."""
    spent = 0.0
    for start in range(first, first + n, BATCH):
        ops = ops_of(range(start, min(start + BATCH, first + n)), owners, memory)
        began = time.perf_counter()
        memory._context.write(ops, Trigger.COMMAND)
        spent += time.perf_counter() - began
    return spent


def answers(
    memory: Memory, owners: int, *, asked: int, meanwhile: Memory | None
) -> dict[str, list[float]]:
    """Return the seconds of each envelope, of each context, and of what has to be taken in."""
    rng = random.Random(1)
    times: dict[str, list[float]] = {"envelope": [], "context": [], "behind": []}

    def timed(name: str, ask: Callable[[], object]) -> None:
        began = time.perf_counter()
        ask()
        times[name].append(time.perf_counter() - began)

    for n in range(asked):
        owner, other = (f"owner{rng.randrange(owners)}" for _ in range(2))
        question = f"What is it about {rng.choice(_THINGS)}?"
        if meanwhile is not None and n % 10 == 0:
            write(meanwhile, 10, owners, first=10_000_000 + n * 10)
            timed("behind", partial(memory.typed.envelope, owner=other))
        timed("envelope", partial(memory.typed.envelope, owner=owner))
        memory.context(question, owner=owner)
        timed("context", partial(memory.context, question, owner=owner))
    return times


def figures_of(times: Mapping[str, Sequence[float]]) -> dict[str, float | None]:
    """Return medians and 95th percentiles in milliseconds."""
    figures: dict[str, float | None] = {}
    for name, seconds in times.items():
        ms = [duration * 1000 for duration in seconds]
        figures[f"{name}_p50_ms"] = round(statistics.median(ms), 2) if ms else None
        figures[f"{name}_p95_ms"] = (
            round(statistics.quantiles(ms, n=20)[-1], 2) if len(ms) > 1 else None
        )
    return figures


def compared(folder: Path, mongo: Memory, embedded: Memory) -> dict[str, Any]:
    """Give every claim of the typed bench to both, and compare receipts and what is kept."""
    offers = typed.offers_of(typed.read_gold(folder))
    passages = {offer.passage: read_passage(offer.passage) for offer in offers}
    same = 0
    for offer in offers:
        verdict = judge_typed(typed.claim_of(offer), passages[offer.passage])
        receipts = [
            asdict(memory.typed.keep_verdict(verdict, summary=offer.passage, owner="gold"))
            for memory in (mongo, embedded)
        ]
        same += receipts[0] == receipts[1]
    told = [
        sorted(
            (life.statement, life.predicate, life.confidence, life.evidence_count, life.status)
            for life in memory.store.lives(LifeWhere(owner="gold"))
        )
        for memory in (mongo, embedded)
    ]
    return {
        "claims": len(offers),
        "same_receipts": same,
        "memories": len(told[0]),
        "same_in_the_end": told[0] == told[1],
    }


def _opened(stack: ExitStack, folder: Path, name: str, url: str) -> Memory:
    memory = Memory(
        folder / f"{name}.db",
        key_file=folder / "key",
        model=None,
        search_config=None,
        typed_store=url,
        tenant="bench",
    )
    return stack.enter_context(memory)


def measured(
    n: int, owners: int, asked: int, folder: Path | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Measure the record, then the embedded store alone; with labelled texts, compare both."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        here = Path(name)
        address = stack.enter_context(mongo_server(here))
        url = f"mongodb://{address}/bench?directConnection=true"
        writer = _opened(stack, here, "writer", url)
        spent = write(writer, n, owners)
        began = time.perf_counter()
        reader = _opened(stack, here, "reader", url)
        taken = time.perf_counter() - began
        has = reader.store.tally(FACT, ["kind"], {"owner": EVERYONE})
        if has["typed",].rows != n:
            raise BenchError(f"the reader has {has} of {n} memories; the record is wrong")
        times = answers(reader, owners, asked=asked, meanwhile=writer)
        yield (
            "mongodb",
            {
                "memories": n,
                "written_per_s": round(n / spent),
                "taken_in_s": round(taken, 1),
                **figures_of(times),
            },
        )
        alone = _opened(stack, here, "alone", "")
        spent = write(alone, n, owners)
        times = answers(alone, owners, asked=asked, meanwhile=None)
        yield (
            "embedded",
            {
                "memories": n,
                "written_per_s": round(n / spent),
                "taken_in_s": None,
                **figures_of(times),
            },
        )
        if folder is not None:
            yield "same", compared(folder, writer, alone)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print a table, and leave the figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.mongo", description=__doc__)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--owners", type=int, default=1_000)
    parser.add_argument("--asked", type=int, default=200)
    parser.add_argument("--json", action="store_true", dest="as_json")
    parser.add_argument("--typed", type=Path, metavar="DIR", help="labelled texts of bench.typed")
    given = parser.parse_args(argv)
    figures = dict(measured(given.n, given.owners, given.asked, given.typed))
    if not given.as_json:
        same = figures.pop("same", None)
        rows = [
            {"figure": name, **{store: values[name] for store, values in figures.items()}}
            for name in figures["mongodb"]
        ]
        print_table("typed memories", rows)
        if same:
            print_table("the same claims, given to both", [same])
            figures["same"] = same
    emit(figures, part=PART, as_json=given.as_json)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
