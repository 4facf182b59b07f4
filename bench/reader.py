"""Measure what reading costs: processor time of a sentence, a turn and a pair, memory, the package.

    python -m bench.reader [--rows FOLDER] [--repeat N] [--json]

Read are the turns of people in `data/language/ordinary` (the part `tune`), each in the process's
own time on one processor, nothing cached. The baseline is the shipped embedder: the same turns,
embedded in the same run. A turn is read and embedded, as each is that comes in. Memory is what a
process that reads them holds more than one that only embeds them, and the start is what it takes
from the interpreter's first line to the first reading.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from bench._common import BenchError, emit, print_table, run
from bench.ordinary import FOLDER, rows_of
from factbook.embed import bundled
from factbook.language.reader.network import DATA, shared
from factbook.language.reader.read import read

_ALONE: Final = """
import json, re, sys, time
from pathlib import Path
began = time.perf_counter()
texts, reads = json.loads(sys.stdin.read())
start = 0.0
if reads:
    from factbook.language.reader.read import read
    read(texts[0])
    start = time.perf_counter() - began
from factbook.embed import bundled
for text in texts:
    bundled().embed([text])
    if reads:
        read(text)
status = Path("/proc/self/status").read_text()
print(json.dumps([int(re.search(r"VmRSS:\\s+(\\d+)", status)[1]) / 1024, start * 1000]))
"""


def spent(work: Callable[[str], object], texts: Sequence[str], repeat: int) -> float:
    """Return the processor time of one text in milliseconds, the best of the repeats."""
    best = float("inf")
    for _ in range(repeat):
        began = time.process_time()
        for text in texts:
            work(text)
        best = min(best, time.process_time() - began)
    return best / len(texts) * 1000


def alone(texts: Sequence[str], *, reads: bool) -> list[float]:
    """Embed, and perhaps read, in a process of its own: its memory in MB, its start in ms."""
    done = subprocess.run(
        [sys.executable, "-c", _ALONE],
        input=json.dumps([list(texts), reads]),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BenchError(f"the reader could not be measured: {done.stderr[-300:]}")
    numbers: list[float] = json.loads(done.stdout)
    return numbers


def main() -> int:
    """Read, print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.reader", description=__doc__)
    parser.add_argument("--rows", type=Path, default=FOLDER, help="the folder of the rows")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    turns = [row["text"] for row in rows_of(given.rows, "chats", "tune")]
    pairs = [(row["old"], row["new"]) for row in rows_of(given.rows, "pairs", "tune")]
    nets, embed = shared(), bundled()
    sentences = [turn[a:b] for turn in turns for a, b in read(turn).sentences]
    embed.embed(turns[:1])
    nets.pair(*pairs[0])
    words = sum(len(read(turn).tokens) for turn in turns) / len(turns)
    first = dict(pairs)
    reading = read.__wrapped__  # nothing is taken from the cache
    vector = spent(lambda text: embed.embed([text]), turns, given.repeat)
    turn = spent(reading, turns, given.repeat)
    without, _ = alone(turns, reads=False)
    held, start = alone(turns, reads=True)
    figures = {
        "sentence_ms": spent(reading, sentences, given.repeat),
        "turn_ms": turn,
        "turn_words": words,
        "turn_embedded_ms": vector,
        "turn_both_ms": turn + vector,
        "pair_ms": spent(lambda old: nets.pair(old, first[old]), list(first), given.repeat),
        "memory_mb": held - without,
        "start_ms": start,
        "package_mb": sum(file.stat().st_size for file in DATA.iterdir()) / 1e6,
    }
    if not given.json:
        print_table(
            "what reading costs",
            [
                {"of": "a sentence, ms", "cost": figures["sentence_ms"], "at most": 6.0},
                {"of": f"a turn of {words:.0f} words, ms", "cost": turn, "at most": None},
                {"of": "its vector (the baseline), ms", "cost": vector, "at most": None},
                {"of": "both, ms", "cost": turn + vector, "at most": 20.0},
                {"of": "two statements, ms", "cost": figures["pair_ms"], "at most": None},
                {"of": "memory, MB", "cost": figures["memory_mb"], "at most": 120.0},
                {"of": "from nothing to the first, ms", "cost": start, "at most": None},
                {"of": "in the package, MB", "cost": figures["package_mb"], "at most": 26.0},
            ],
        )
    emit(figures, part="reader", as_json=given.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(run(main))
