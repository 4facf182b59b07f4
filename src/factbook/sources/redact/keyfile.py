"""Keep the key of the labels in a file of its own, outside every database."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path
from typing import Final

from factbook.errors import KeyFileError
from factbook.sources.redact.redactor import MIN_KEY_BYTES

__all__ = ["load_key"]

KEY_BYTES: Final = 32


def load_key(path: str | os.PathLike[str]) -> bytes:
    """Load the key file, or make one with a random key that only its owner can read.

    The file appears complete or not at all, and of several processes that make it at once one wins
    and all use its key.
    """
    file = Path(path)
    try:
        if not file.exists():
            _make(file)
        if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & 0o077:
            file.chmod(0o600)  # it was copied or restored with the modes of other files
        key = file.read_bytes()
    except OSError as error:
        raise KeyFileError(path=file, reason=error.strerror or str(error)) from error
    if len(key) < MIN_KEY_BYTES:
        raise KeyFileError(path=file, reason=f"it holds {len(key)} bytes, not {KEY_BYTES}")
    return key


def _make(file: Path) -> None:
    """Write a new key beside its place and link it there, unless another process was first."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(secrets.token_bytes(KEY_BYTES))
            out.flush()
            os.fsync(out.fileno())
        try:
            os.link(draft, file)  # unlike a rename, it fails when the file is there
        except FileExistsError:
            return
        except OSError:
            # A file system without hard links. Renaming could replace a key that another process
            # has made in between, so the loser of that race is told by what it reads back.
            if not file.exists():
                draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
