"""Keep the key of the labels in a file of its own, outside every database."""

from __future__ import annotations

import os
import secrets
import stat
import time
from pathlib import Path
from typing import Final

from factbook.errors import KeyFileError

KEY_BYTES: Final = 32
_PATIENCE: Final = 2.0  # seconds that another process may take to fill the file it has just made
_PAUSE: Final = 0.02


def load_key(path: str | os.PathLike[str]) -> bytes:
    """Load the key file, or make one with a random key that only its owner can read.

    Of several processes that make it at once one wins, and all use its key. A file of another size
    than `KEY_BYTES` is refused: it was cut, edited, or is another file, and labels made with it
    would not join those made before.
    """
    file = Path(path)
    try:
        if not file.exists():
            _make(file)
        if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & 0o077:
            file.chmod(0o600)  # it was copied or restored with the modes of other files
        key = _read(file)
    except OSError as error:
        raise KeyFileError(path=file, reason=error.strerror or str(error)) from error
    if len(key) != KEY_BYTES:
        raise KeyFileError(path=file, reason=f"it holds {len(key)} bytes, not {KEY_BYTES}")
    return key


def _read(file: Path) -> bytes:
    """Read the key; an empty file is being filled at this moment."""
    give_up = time.monotonic() + _PATIENCE
    while not (key := file.read_bytes()) and time.monotonic() < give_up:
        time.sleep(_PAUSE)
    return key


def _make(file: Path) -> None:
    """Write a new key beside its place and link it there, unless another process was first."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    _write_new(draft)
    try:
        os.link(draft, file)  # complete or not at all; unlike a rename it never replaces a file
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        _make_in_place(file)
    finally:
        draft.unlink()


def _make_in_place(file: Path) -> None:
    """Write a new key at its place, unless another process was first; readers wait for it."""
    try:
        _write_new(file)
    except FileExistsError:
        return


def _write_new(file: Path) -> None:
    """Write a random key to a file that must not exist yet."""
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(secrets.token_bytes(KEY_BYTES))
        out.flush()
        os.fsync(out.fileno())
