"""Run every part of the bench that this version has, print tables, and leave JSON and plots.

    python -m bench [--data DIR] [--quick]

Parts that need the data folder are skipped, and named, where it is absent.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console

from bench._common import OUT, ROOT

SIZES = (1_000, 10_000, 100_000, 1_000_000)


def parts(data: Path | None, *, quick: bool) -> list[tuple[str, list[str]]]:
    """Return (name, arguments) of the parts to run, in order."""
    found: list[tuple[str, list[str]]] = [("language", []), ("ordinary", [])]
    found += [("reader", []), ("embed", []), ("grounding", [])]
    if data is None:
        Console().print("no data folder: ingest and retrieval quality are skipped")
    else:
        found += [
            ("ingest", [str(data / "sessions"), *(() if quick else ("--grow-to-mb", "1000"))]),
            ("retrieval", []),
            ("sick", ["--sick", str(next((data / "sick").glob("*"), data / "sick"))]),
            ("clusters", []),
            ("preferences", [str(data / "prefeval")]),
            ("speakers", []),
            ("typed", [str(data / "memory_gold")]),
            ("answers_from_logs", [str(data / "sessions")]),
        ]
    found.append(("secrets", ["--benign", str(data / "sessions")] if data else []))
    found += [("changed", []), ("passive", []), ("join", []), ("consolidate", []), ("year", [])]
    found += [("interests", []), ("poison", []), ("privacy", []), ("voices", []), ("cancel", [])]
    found += [("mcp", []), ("hook", [])]
    found.append(("mongo", ["--n", "10000" if quick else "100000"]))
    found.append(("answers", ["--n", "20000" if quick else "200000"]))
    if not quick:
        found.append(("consolidate", ["--n", "100000", "--episodes", "10000"]))
    found += [("recall", ["--n", str(size)]) for size in (SIZES[:2] if quick else SIZES)]
    return found


def main() -> int:
    """Run the parts one after the other; a part that fails is named and the others go on."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    given = parser.parse_args()
    data = given.data if given.data and given.data.is_dir() else None
    if data is not None:
        os.environ["FACTBOOK_DATA"] = str(data.resolve())
    failed = []
    for name, arguments in parts(data, quick=given.quick):
        began = time.perf_counter()
        code = subprocess.run(
            [sys.executable, "-m", f"bench.{name}", *arguments], cwd=ROOT, check=False
        ).returncode
        Console().print(f"[dim]bench.{name}: {time.perf_counter() - began:.0f} s[/dim]\n")
        if code:
            failed.append(f"{name} (exit {code})")
    plot()
    if failed:
        Console().print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def plot() -> None:
    """Draw the curves that matter from the figures in bench/out: latency by number of rows."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    rows = []
    for size in SIZES:
        path = OUT / f"recall-{size}.json"
        if path.is_file():
            rows.append((size, json.loads(path.read_text(encoding="utf-8"))))
    if not rows:
        return
    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    for key, label in (
        ("recall", "factbook recall, whole"),
        ("vectors", "factbook vectors"),
        ("numpy_exact", "numpy, exact (baseline)"),
    ):
        points = [(size, one[key]["p50_ms"]) for size, one in rows if key in one]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", label=label)
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="median milliseconds, warm")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(OUT / "recall.png", dpi=140)
    Console().print(f"plot: {OUT / 'recall.png'}")


if __name__ == "__main__":
    raise SystemExit(main())
