"""An agent in a terminal, as a person sits before it: keys go in, and the screen is read."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Self

from clients.agents import FOLDER

COLUMNS: Final = 120
ROWS: Final = 50
KEYS: Final = {"enter": "\r", "escape": "\x1b", "down": "\x1b[B", "up": "\x1b[A", "tab": "\t"}


class Terminal:
    """A program in a terminal of its own, which ends with the block."""

    def __init__(self, command: Sequence[str], work: Path, env: Mapping[str, str]) -> None:
        """Start it in a folder with an environment; `TERM` is added."""
        sys.path.append(str(FOLDER / "terminal"))
        pyte: Any = import_module("pyte")  # fetched with the agents

        self._screen: Any = pyte.HistoryScreen(COLUMNS, ROWS, history=2_000)
        self._screen.write_process_input = self._answer
        # no colours are read, and those of some programs it does not know
        self._screen.select_graphic_rendition = lambda *_, **__: None
        self._stream: Any = pyte.ByteStream(self._screen)
        self._changing = threading.Lock()
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._child = subprocess.Popen(
            command,
            cwd=work,
            env={**env, "TERM": "xterm-256color"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self.said = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        self._reader.join(5.0)
        os.close(self._ours)

    @property
    def text(self) -> str:
        """What is on the screen, line by line."""
        with self._changing:
            return "\n".join(line.rstrip() for line in self._screen.display)

    def wait(self, *words: str, seconds: float = 30.0, gone: bool = False) -> str:
        """Wait until one of the words is on the screen, or none is; return which, "" for none.

        Raises TimeoutError with what is on the screen instead.
        """
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            flat = " ".join(self.text.split())
            seen = next((word for word in words if word in flat), "")
            if bool(seen) != gone:
                return seen
            time.sleep(0.1)
        raise TimeoutError(f"{words} after {seconds} s:\n{self.text}")

    def press(self, *keys: str) -> None:
        """Press keys, named or typed; each by itself, for what comes at once is taken as pasted."""
        for key in keys:
            self._answer(KEYS.get(key, key))
            time.sleep(0.3)

    def ended(self, seconds: float = 30.0) -> int:
        """Wait for its end and return its exit status; raises subprocess.TimeoutExpired."""
        return self._child.wait(seconds)

    def _answer(self, keys: str) -> None:
        with suppress(OSError):
            os.write(self._ours, keys.encode())

    def _read(self) -> None:
        with suppress(OSError):  # of a terminal that nobody has any more
            while data := os.read(self._ours, 1 << 16):
                self.said += data
                with self._changing:
                    self._stream.feed(data)
