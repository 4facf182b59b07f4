"""Files that hold content before they are whole, and how one that a kill left is known.

Whoever writes one holds a lock on it, which ends with the process however it ends: a number of a
process could be another one's by now, or belong to another machine.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

try:
    import fcntl
except ImportError:  # Windows, which deletes no file that is open
    fcntl = None  # type: ignore[assignment]

_SUFFIX: Final = ".factbook-part"
_BINARY: Final = getattr(os, "O_BINARY", 0)  # of Windows, which changes line ends without it


@contextmanager
def becoming(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Yield (a new file, the same opened to write), which is called `path` when it is whole.

    It has mode 0600. Where the block fails nothing is left, and what a kill left of an earlier one
    goes. Raises OSError.
    """
    for left in _left_in(path.parent, f".{path.name}."):
        left.unlink(missing_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}{_SUFFIX}")
    descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR | _BINARY, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with os.fdopen(descriptor, "r+b") as file:
            yield part, file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:
                file.close()
            part.replace(path)
    except BaseException:
        with suppress(OSError):  # what went wrong before is what has to be told
            part.unlink(missing_ok=True)
        raise


def left_behind(*folders: Path) -> list[Path]:
    """Return files in these folders that a killed process left."""
    return sorted({path for folder in folders for path in _left_in(folder, "")})


def _left_in(folder: Path, begin: str) -> list[Path]:
    try:
        there = list(folder.iterdir())
    except OSError:
        return []
    parts = [path for path in there if path.name.startswith(begin) and path.name.endswith(_SUFFIX)]
    return [part for part in parts if not _is_held(part)]


def _is_held(part: Path) -> bool:
    if fcntl is None:
        return False
    try:
        with part.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True  # somebody writes it, or it is somebody else's, or it has just become whole
    return False
