"""Start `factbook mcp` as a client does, and time what it waits for.

    python -m bench.mcp [--n N] [--starts N] [--calls N] [--json]

A memory of N made-up turns is written first. Each start is a new process.

- list_ms: from the start of the process to the list of tools, which Codex waits a second for;
  python_ms, the baseline, the same for a Python that imports json and answers one line
- first_ms: the first search, which opens the memory; search_ms: the later ones, one at a time
- calls_s: searches a second, eight at once
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bench._common import BenchError, emit, print_table, run
from factbook import Memory, Turn
from factbook.model.facts import Role

SERVE: Final = (sys.executable, "-m", "factbook", "mcp")
PLAIN: Final = (
    sys.executable,
    "-c",
    "import json, sys\nfor line in sys.stdin: print(json.dumps(json.loads(line)), flush=True)",
)
AT_ONCE: Final = 8


class _Server:
    def __init__(self, command: Sequence[str], db: Path) -> None:
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "FACTBOOK_DB": str(db)},
        )

    def send(self, number: int, method: str, **params: Any) -> None:
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline() or "{}")
        if "error" in answer or answer.get("result", {}).get("isError"):
            raise BenchError(f"the server answers {answer}")
        return answer

    def ms(self) -> float:
        return (time.perf_counter() - self.began) * 1000

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)


def _listed(command: Sequence[str], db: Path) -> tuple[_Server, float]:
    server = _Server(command, db)
    server.send(1, "initialize", protocolVersion="2025-11-25", capabilities={})
    server.read()
    server.send(2, "tools/list")
    server.read()
    return server, server.ms()


def _search(server: _Server, number: int) -> None:
    arguments = {"query": f"which port does box {number} have"}
    server.send(number, "tools/call", name="search_memory", arguments=arguments)


def measure(db: Path, *, starts: int, calls: int) -> dict[str, object]:
    """Return the figures of servers on one memory."""
    plain: list[float] = []
    listed: list[float] = []
    first: list[float] = []
    later: list[float] = []
    rate = 0.0
    for _ in range(starts):
        for command, times in ((PLAIN, plain), (SERVE, listed)):
            server, ms = _listed(command, db)
            times.append(ms)
            if command is SERVE:
                began = time.perf_counter()
                _search(server, 3)
                server.read()
                first.append((time.perf_counter() - began) * 1000)
            if command is SERVE and len(listed) == starts:
                for number in range(4, 4 + calls):
                    began = time.perf_counter()
                    _search(server, number)
                    server.read()
                    later.append((time.perf_counter() - began) * 1000)
                began = time.perf_counter()
                for number in range(calls):
                    _search(server, 1000 + number)
                    if number >= AT_ONCE:
                        server.read()
                for _ in range(min(calls, AT_ONCE)):
                    server.read()
                rate = calls / (time.perf_counter() - began)
            server.close()
    ordered = sorted(listed)
    return {
        "list_ms": round(statistics.median(listed), 1),
        "list_worst_ms": round(ordered[-1], 1),
        "python_ms": round(statistics.median(plain), 1),
        "ratio": round(statistics.median(listed) / statistics.median(plain), 2),
        "first_ms": round(statistics.median(first), 1),
        "search_ms": round(statistics.median(later), 1),
        "calls_s": round(rate, 1),
    }


def main() -> int:
    """Write a memory, serve it, print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.mcp", description=__doc__)
    parser.add_argument("--n", type=int, default=2_000, help="turns in the memory")
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "m.db"
        with Memory(db, model=None, search_config=None) as memory:
            turns = [
                Turn(role=Role.USER, text=f"Box {number} in rack {number % 40} has port {number}.")
                for number in range(given.n)
            ]
            memory.conversation(session="bench").add_turns(turns)
            memory.embed()
        figures = measure(db, starts=given.starts, calls=given.calls)
    figures["n"] = given.n
    if not given.json:
        print_table("mcp", [figures])
    emit(figures, part="mcp", as_json=given.json)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
