"""Measure ingest: speed beside a floor, a second run over unchanged files, and peak memory.

    python -m bench.ingest DIR [--repeat N] [--grow-to-mb MB] [--json]

The floor of the same run does the least that any log reader must do: it parses every line of the
same files with orjson and inserts as many rows as factbook's tables got (each with 100 characters
of text, without indexes or full text) into a SQLite file with the same journal and sync settings,
in as many transactions. Neither's modules nor the search for files are timed (`start_up_seconds`
says what they took of ours). Each measurement is a process of its own, so that memory is its own
too; the two take turns and the median counts. With --grow-to-mb the files are copied with fresh
record ids until they reach that size, and the peak memory of one ingest of all of them is measured:
that of the writing process, and the largest of the reading ones beside it (they share most of it).
"""

from __future__ import annotations

import argparse
import compileall
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import factbook
from bench._common import data_dir, emit, print_table
from factbook.store.derived.counts import row_counts

_TEXT = "x" * 100
_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|toolu_\w{10,}")


def log_files(folder: Path) -> list[Path]:
    """Return the files that factbook reads below a folder."""
    from factbook.sources.session_log import discover

    return [file.path for file in discover([folder]).files]


def product(folder: Path, db: Path) -> dict[str, Any]:
    """Ingest a folder into a new file without embedding; then once more; return the figures."""
    began = time.perf_counter()
    from factbook.apply.apply import apply
    from factbook.memory import Memory
    from factbook.pipelines import observed, steps, workers
    from factbook.sources.session_log import discover

    del apply, observed, steps, workers  # loaded before the clock starts, as the floor's modules
    found = discover([folder])
    start_up = time.perf_counter() - began
    began = time.perf_counter()
    with Memory(db, key_file=db.with_name("key")) as memory:
        report = memory.ingest(discovery=found)
        seconds = time.perf_counter() - began
        counts = row_counts(memory.store)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        reader_peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        began = time.perf_counter()
        memory.ingest([folder])
        again = time.perf_counter() - began
        problems = memory.check()
    lines = report.lines
    return {
        "seconds": seconds,
        "start_up_seconds": start_up,
        "again_seconds": again,
        "mb": report.read_bytes / 1e6,
        "peak_mb": peak,
        "reader_peak_mb": reader_peak,
        "counts": counts,
        "lines": {
            "lines": lines.lines,
            "records": lines.records,
            "kept": sum(lines.kept.values()),
            "ignored": sum(lines.ignored.values()),
            "unknown": sum(lines.unknown.values()),
            "rejected": sum(lines.rejected.values()),
            "waiting": lines.waiting,
            "unaccounted": lines.records
            + lines.ignored.get("blank", 0)
            + lines.waiting
            - lines.total(),
        },
        "failed_files": sum(1 for file in report.files if file.state == "failed"),
        "problems": len(problems),
    }


def floor(folder: Path, db: Path, rows: int, transactions: int) -> dict[str, Any]:
    """Parse every line and insert as many rows, as safely; return the seconds."""
    import apsw
    import orjson

    files = log_files(folder)
    began = time.perf_counter()
    for path in files:
        if path.suffix == ".json":
            orjson.loads(path.read_bytes())
            continue
        with path.open("rb") as file:
            for line in file:
                try:
                    orjson.loads(line)
                except orjson.JSONDecodeError:
                    continue  # a floor does no more than try
    connection = apsw.Connection(str(db))
    for sql in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "CREATE TABLE r (t TEXT)"):
        connection.execute(sql).fetchall()
    step = max(1, -(-rows // transactions))
    for first in range(0, rows, step):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO r VALUES (?)", [(_TEXT,)] * min(step, rows - first))
        connection.execute("COMMIT")
    connection.close()
    return {"seconds": time.perf_counter() - began}


def grow(folder: Path, target: Path, megabytes: int) -> None:
    """Copy the logs of a folder with fresh record ids until they reach a size."""
    files = [path for path in log_files(folder) if path.suffix == ".jsonl"]
    written, round_ = 0, 0
    while written < megabytes * 1_000_000:
        mark = f"{round_:08x}".encode()
        for n, path in enumerate(files):
            data = _UUID.sub(lambda found, m=mark: m + found[0][8:], path.read_bytes())
            place = target / f"r{round_}" / f"{n}-{path.name}"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            written += len(data)
            if written >= megabytes * 1_000_000:
                return
        round_ += 1


def _child(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.ingest", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure(folder: Path, *, repeat: int, grow_to_mb: int) -> dict[str, Any]:
    """Run product and floor in turns and return the figures of both."""
    # An installed package has its bytecode; a checkout may not, and would compile in each process.
    compileall.compile_dir(Path(factbook.__file__).parent, quiet=2)
    ours: list[dict[str, Any]] = []
    floors: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for n in range(repeat):
            ours.append(_child(str(folder), "--child-product", f"{scratch}/p{n}.db"))
            counts = ours[-1]["counts"]
            rows = sum(
                counts[name]
                for name in ("sources", "episodes", "facts", "evidence", "events", "rejections")
            )
            rows += counts["episodes"] + counts["facts"]  # their full-text rows
            transactions = max(1, round(ours[-1]["mb"] / 4))
            floors.append(
                _child(
                    str(folder),
                    "--child-floor",
                    f"{scratch}/f{n}.db",
                    "--rows",
                    str(rows),
                    "--transactions",
                    str(transactions),
                )
            )
        seconds = statistics.median(one["seconds"] for one in ours)
        floor_seconds = statistics.median(one["seconds"] for one in floors)
        figures: dict[str, Any] = {
            "mb": round(ours[0]["mb"], 2),
            "seconds": round(seconds, 3),
            "start_up_seconds": round(
                statistics.median(one["start_up_seconds"] for one in ours), 3
            ),
            "mb_per_s": round(ours[0]["mb"] / seconds, 2),
            "ratio_to_floor": round(
                statistics.median(
                    one["seconds"] / low["seconds"] for one, low in zip(ours, floors, strict=True)
                ),
                2,
            ),
            "again_ratio": round(
                statistics.median(one["again_seconds"] / one["seconds"] for one in ours), 4
            ),
            "peak_mb": round(max(one["peak_mb"] for one in ours), 1),
            "reader_peak_mb": round(max(one["reader_peak_mb"] for one in ours), 1),
            "lines": ours[0]["lines"],
            "rows": ours[0]["counts"],
            "failed_files": ours[0]["failed_files"],
            "problems": ours[0]["problems"],
            "baseline_floor": {
                "seconds": round(floor_seconds, 3),
                "mb_per_s": round(ours[0]["mb"] / floor_seconds, 2),
            },
        }
        if grow_to_mb:
            grow(folder, Path(scratch) / "grown", grow_to_mb)
            big = _child(f"{scratch}/grown", "--child-product", f"{scratch}/big.db")
            figures["grown"] = {
                "mb": round(big["mb"], 1),
                "mb_per_s": round(big["mb"] / big["seconds"], 2),
                "peak_mb": round(big["peak_mb"], 1),
                "reader_peak_mb": round(big["reader_peak_mb"], 1),
                "again_ratio": round(big["again_seconds"] / big["seconds"], 4),
            }
    return figures


def main() -> None:
    """Run the part from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.ingest", description=__doc__)
    found = data_dir()
    parser.add_argument("dir", nargs="?", type=Path, default=found and found / "sessions")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--grow-to-mb", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child-product", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--child-floor", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--transactions", type=int, default=1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.dir is None or not given.dir.is_dir():
        parser.error("name a folder with session logs")
    if given.child_product:
        print(json.dumps(product(given.dir, given.child_product)))
        return
    if given.child_floor:
        print(json.dumps(floor(given.dir, given.child_floor, given.rows, given.transactions)))
        return
    figures = measure(given.dir, repeat=given.repeat, grow_to_mb=given.grow_to_mb)
    if not given.json:
        print_table(
            "ingest",
            [
                {
                    "": "factbook",
                    "MB/s": figures["mb_per_s"],
                    "x floor": figures["ratio_to_floor"],
                    "again": figures["again_ratio"],
                    "peak MB": figures["peak_mb"],
                },
                {"": "floor", "MB/s": figures["baseline_floor"]["mb_per_s"], "x floor": 1.0},
            ],
        )
    emit(figures, part="ingest", as_json=given.json)


if __name__ == "__main__":
    main()
