"""Write everything out: JSON lines that hold it all, or the facts as CSV.

A file appears whole or not at all, and only its owner may read it.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from factbook.errors import FactbookError, UsageError
from factbook.model.facts import ME, Everyone
from factbook.recall.time_expressions import iso
from factbook.store.partial_files import becoming
from factbook.surface.output import dump
from factbook.surface.text import home_path, safe

if TYPE_CHECKING:
    from factbook.memory import Memory

__all__ = ["FACT_COLUMNS", "as_csv", "as_json_lines", "as_records", "kept_files", "write_whole"]

FACT_COLUMNS = (
    "id",
    "subject",
    "predicate",
    "object",
    "statement",
    "kind",
    "status",
    "confidence",
    "trust",
    "evidence_count",
    "occurred_at",
    "host",
    "project",
    "session",
)

RedactValue = Callable[[object], object]

# What holds words of a log; the rest of a record are ids, kinds, places and times.
_TEXTS: Final = frozenset(
    {"text", "object", "statement", "quote", "title", "detail", "excerpt", "attributes"}
)


def as_records(
    memory: Memory, redact_value: RedactValue, *, owner: str | Everyone = ME
) -> Iterator[dict[str, object]]:
    """Iterate over every record, its texts redacted once more on the way."""
    for record in memory.export(owner=owner):
        for name in _TEXTS & record.keys():
            record[name] = redact_value(record[name])
        yield record


def as_json_lines(
    memory: Memory, redact_value: RedactValue, *, owner: str | Everyone = ME
) -> Iterator[str]:
    """Iterate over every record as one line of JSON, its texts redacted once more on the way."""
    for record in as_records(memory, redact_value, owner=owner):
        yield dump(record) + "\n"


def as_csv(
    memory: Memory, redact: Callable[[str], str], *, owner: str | Everyone = ME
) -> Iterator[str]:
    """Iterate over the current facts as lines of CSV, the names of the columns first.

    Control characters are written as escapes: a table is opened by programs that obey them. JSON
    lines hold the exact text.
    """
    from factbook import Filters

    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")

    def flushed() -> str:
        line = buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
        return line

    writer.writerow(FACT_COLUMNS)
    yield flushed()
    for one in memory.store.facts(Filters(owner=owner), limit=None):
        writer.writerow(
            (
                f"f{one.id}",
                safe(one.subject),
                one.predicate,
                safe(redact(one.object)),
                safe(redact(one.statement)),
                one.kind,
                one.status,
                f"{one.confidence:g}",
                one.trust,
                one.evidence_count,
                iso(one.occurred_at) or "",
                one.host,
                safe(one.project),
                safe(one.session),
            )
        )
        yield flushed()


def kept_files(db: Path | str, key: Path) -> dict[Path, str]:
    """Return the files that no export may replace, each with what it is."""
    if isinstance(db, str):  # a URL: the database is no file of ours
        return {key: "the redaction key"}
    real = os.path.realpath(db)  # SQLite puts its other files beside the file that a link means
    beside = {Path(real + end): "a part of the database" for end in ("-wal", "-shm", "-journal")}
    return {db: "the database itself", **beside, key: "the redaction key"}


def write_whole(
    path: Path, lines: Iterator[str], *, replace: bool, never: Mapping[Path, str]
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
            detail=f"{home_path(path)} could not be written ({error.strerror}); nothing was left"
            " behind, make room or name another file and run it again"
        ) from error
    return done, written
