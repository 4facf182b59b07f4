"""Read the bytes of files, whoever has them open here, to look for what was erased."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from factbook.store.sqlite.guard import held
from factbook.store.windows import BLOCK, WIDTH

_BINARY: Final = getattr(os, "O_BINARY", 0)  # of Windows, which changes line ends without it


def blocks_of(path: Path, *, overlap: int = WIDTH - 1) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks that overlap by so many; none where there is no file."""
    open_here = held(path)  # to open it again and close that would drop the locks of a ledger
    try:
        descriptor = os.open(path, os.O_RDONLY | _BINARY) if open_here is None else open_here
    except FileNotFoundError:
        return
    try:
        tail, at = b"", 0
        while data := (
            os.read(descriptor, BLOCK) if open_here is None else os.pread(open_here, BLOCK, at)
        ):
            yield tail + data
            tail = (tail + data)[-overlap:] if overlap else b""
            at += len(data)
    finally:
        if open_here is None:
            os.close(descriptor)
