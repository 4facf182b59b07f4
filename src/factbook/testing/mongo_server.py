"""A server that speaks MongoDB's protocol, started for a test or a measurement."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["mongo_server"]


def _free_port() -> int:
    """Return a port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def mongo_server(folder: Path) -> Iterator[str]:
    """Run nx-27017, which speaks MongoDB's protocol over SQLite; give its address."""
    port = _free_port()
    program = Path(sys.executable).with_name("nx-27017")
    arguments = [
        "--data-dir",
        str(folder / "databases"),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    files = ["--log-file", str(folder / "mongo.log"), "--pid-file", str(folder / "mongo.pid")]
    server = subprocess.Popen(
        [program, *arguments, *files], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(10)
