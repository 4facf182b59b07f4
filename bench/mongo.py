"""Measure typed memories whose record is in MongoDB: writing in bulk, and an owner's context.

    python -m bench.mongo [--n N] [--owners N] [--typed DIR] [--json]

N memories of a number of owners are written in batches of 1,000 into a record on a server that is
started here (`nx-27017`, which speaks MongoDB's protocol over SQLite), each batch one commit with
its evidence and its history. Then another file, which never saw them, takes the record in, and asks
for contexts of owners one after another, while a third one goes on writing to others. The baseline
is the same in the embedded store alone.

- written_per_s: memories acknowledged by a majority, per second
- context_ms: for an owner's context of at most 5 facts, 3 patterns and 2 narratives, warm
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
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
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


def contexts(memory: Memory, owners: int, *, asked: int, meanwhile: Memory | None) -> list[float]:
    """Return the seconds that an owner's context takes, each asked for the second time."""
    rng = random.Random(1)
    times = []
    for n in range(asked):
        owner = f"owner{rng.randrange(owners)}"
        question = f"What is it about {rng.choice(_THINGS)}?"
        memory.context(question, owner=owner)
        if meanwhile is not None and n % 10 == 0:
            write(meanwhile, 10, owners, first=10_000_000 + n * 10)
            memory.context(question, owner=f"owner{rng.randrange(owners)}")  # takes it in
        began = time.perf_counter()
        memory.context(question, owner=owner)
        times.append(time.perf_counter() - began)
    return times


def figures_of(times: Sequence[float]) -> dict[str, float]:
    """Return the median and the 95th percentile in milliseconds."""
    return {
        "context_p50_ms": round(statistics.median(times) * 1000, 2),
        "context_p95_ms": round(statistics.quantiles(times, n=20)[-1] * 1000, 2),
    }


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
        times = contexts(reader, owners, asked=asked, meanwhile=writer)
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
        times = contexts(alone, owners, asked=asked, meanwhile=None)
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
        same = figures.get("same")
        rows = [{"store": name, **values} for name, values in figures.items() if name != "same"]
        print_table("typed memories", rows)
        if same:
            print_table("the same claims, given to both", [same])
    emit(figures, part=PART, as_json=given.as_json)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
