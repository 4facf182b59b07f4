"""Write what is exported to a file that appears whole or not at all, for its owner alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from factbook.errors import FactbookError, UsageError
from factbook.store.partial_files import becoming, left_behind

__all__ = ["becoming", "kept_files", "left_behind", "write_whole"]


def kept_files(db: Path | str, key: Path) -> dict[Path, str]:
    """Return the files that no export may replace, each with what it is."""
    if isinstance(db, str):  # a URL: the database is no file of ours
        return {key: "the redaction key"}
    real = os.path.realpath(db)  # SQLite puts its other files beside the file that a link means
    beside = {Path(real + end): "a part of the database" for end in ("-wal", "-shm", "-journal")}
    return {db: "the database itself", **beside, key: "the redaction key"}


def write_whole(
    path: Path, lines: Iterable[str], *, replace: bool, never: Mapping[Path, str]
) -> tuple[int, int]:
    """Write lines to a file that appears only when all are written; return (lines, bytes).

    The file has mode 0600. One that exists is kept unless `replace` is set, and those of `never`
    always. Raises UsageError and FactbookError; the old file is untouched then.
    """
    for kept, what in never.items():
        # By name too: a part of the database may be made only while this runs.
        same = os.path.realpath(path) == os.path.realpath(kept)
        if same or (path.exists() and kept.exists() and path.samefile(kept)):
            raise UsageError(detail=f"{path} is {what}; name another file")
    if path.exists():
        if path.is_dir():
            raise UsageError(detail=f"{path} is a folder; name a file in it")
        if not replace:
            raise UsageError(detail=f"{path} exists already; name another file, or add --force")
    done = written = 0
    try:
        with becoming(path) as (_, file):
            for line in lines:
                data = line.encode("utf-8", "backslashreplace")
                file.write(data)
                done += 1
                written += len(data)
    except OSError as error:
        raise FactbookError(
            detail=f"{path} could not be written ({error.strerror}); nothing was left"
            " behind, make room or name another file and run it again"
        ) from error
    return done, written
