"""Read a client's configuration file, show what would change in it, and write it whole.

What was there is copied beside it first. A link is followed, the mode is kept, and a file that
changed since it was read is not written.
"""

from __future__ import annotations

import difflib
import glob
import os
import re
import stat
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from factbook.errors import FactbookError, PathUnreadable

_BACKUP: Final = ".factbook-backup-"
_STAMP: Final = "%Y%m%dT%H%M%S.%fZ"
_HEAD_LINES: Final = 2  # of a diff: the names of the files
_TEXT: Final = re.compile(  # in JSON and in TOML
    r"""(?P<said>"(?:[^"\\\n]|\\.)*"|'[^'\n]*')(?P<names>[ \t]*[:=])?"""
)
# Of a line what says no value: marks, the name of a value, the head of a table.
_NAMED: Final = re.compile(
    r"""[\s{}\[\],]*(?:(?:"[^"\n]*"|[\w.-]+)[ \t]*[:=][\s{\[]*|(?<=\[)[\w."'-]+\]+\s*)?"""
    r"[\s{}\[\],]*"
)
_PASSWORD: Final = re.compile(r"""(://[^\s:/@"']*:)[^\s"']*@""")
_LOCK_S: Final = 10  # an older lock was left by a program that was killed
_PRIVATE: Final = 0o600  # of a file that was not there: others have no business in it
_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def read(path: Path) -> str | None:
    """Return what a file says, None where there is none.

    Raises PathUnreadable for one that cannot be read, and for one that is no UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise PathUnreadable(
            path=path, reason=getattr(error, "strerror", "it is no UTF-8")
        ) from error


def copies(path: Path) -> dict[Path, str]:
    real = Path(os.path.realpath(path))
    said = {}
    for copy in sorted(real.parent.glob(f"{glob.escape(real.name)}{_BACKUP}*"), reverse=True):
        with suppress(PathUnreadable):
            said[copy] = read(copy) or ""
    return said


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a file says, and what it is to say; None where there is, or is to be, no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """The change as a unified diff, "" where there is none.

        Tokens of other servers stand in these files: of what stays, names are shown and no value.
        Nor is a password in a URL.
        """
        old_name, new_name = (os.devnull if said is None else str(self.path) for said in self._both)
        old, new = ((said or "").splitlines(keepends=True) for said in self._both)
        stays = set.intersection(*(set(_values(said or "")) for said in self._both))
        lines = _without_values(difflib.unified_diff(old, new, old_name, new_name), stays)
        said = "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in lines
        )
        return without_passwords(said)

    @property
    def _both(self) -> tuple[str | None, str | None]:
        return self.before, self.after

    def back_up(self) -> Path | None:
        """Copy the file beside itself, and return the copy; None where there is no file."""
        if self.before is None:
            return None
        real = Path(os.path.realpath(self.path))
        copy = real.with_name(real.name + _BACKUP + datetime.now(UTC).strftime(_STAMP))
        with _told(self.path):
            _replace(copy, self.before, like=real)
        return copy

    def write(self, *, copied: bool = True) -> Path | None:
        """Write the file, whole or not at all, and return the copy of what was there.

        None where nothing was there, nothing is left, or none is wanted.

        Raises FactbookError, and has written nothing, where the file is read-only or locked, or
        changed since it was read, or where its folder takes none.
        """
        real = Path(os.path.realpath(self.path))
        with _told(self.path):
            if self.before is not None and not real.stat().st_mode & _WRITABLE:
                raise FactbookError(detail=f"{self.path} is read-only; nothing was written")
            if _locked(real):
                raise FactbookError(
                    detail=f"another program writes {self.path} just now; nothing was written, run"
                    " it again"
                )
            real.parent.mkdir(parents=True, exist_ok=True)
        # what goes whole is ours
        copy = None if self.after is None or not copied else self.back_up()
        if read(self.path) != self.before:
            raise FactbookError(
                detail=f"{self.path} was changed by another program meanwhile; nothing was written,"
                " run it again"
            )
        with _told(self.path):
            if self.after is None:
                real.unlink()
            else:
                _replace(real, self.after, like=real)
        return copy


def without_passwords(text: str) -> str:
    """Return a text with three dots for the password in a URL."""
    return _PASSWORD.sub(r"\1...@", text)


def _without_values(diff: Iterable[str], stays: Collection[str]) -> Iterator[str]:
    """Yield the lines of a diff; instead of values in `stays`, and of others' lines, three dots."""
    for number, line in enumerate(diff):
        if number < _HEAD_LINES or line.startswith("@@"):
            yield line
        elif line.startswith(" "):
            match = _NAMED.match(line)
            named = match[0] if match else ""
            yield line if named == line else f"{named}...\n"
        else:
            yield _TEXT.sub(lambda text: '"..."' if text[0] in stays else text[0], line)


def _values(text: str) -> Iterator[str]:
    return (match["said"] for match in _TEXT.finditer(text) if match["names"] is None)


def _locked(path: Path) -> bool:
    """Tell whether a client holds the lock that Node programs lay beside a file they write."""
    try:
        return time.time() - path.with_name(f"{path.name}.lock").stat().st_mtime < _LOCK_S
    except OSError:
        return False


def _replace(path: Path, text: str, *, like: Path) -> None:
    """Put a file in its place by renaming, with the mode and the owner of another."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        mode = _PRIVATE
        with suppress(FileNotFoundError):
            old = like.stat()
            mode = stat.S_IMODE(old.st_mode)
            with suppress(OSError, AttributeError):  # only root may, and Windows has no such thing
                os.chown(name, old.st_uid, old.st_gid)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say of a failure of the system which file it was about."""
    try:
        yield
    except OSError as error:
        raise FactbookError(
            detail=f"{path} cannot be written ({error.strerror}); nothing was changed in it"
        ) from error
