"""Write everything out: JSON lines that hold it all, or the facts as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from factbook.model.facts import ME, Everyone, iso
from factbook.surface.output import dump
from factbook.surface.text import safe

if TYPE_CHECKING:
    from factbook.memory import Memory

__all__ = ["FACT_COLUMNS", "as_csv", "as_json_lines", "as_records"]

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
    for fact in memory.sources.facts(filters=Filters(owner=owner)):
        writer.writerow(
            (
                f"f{fact.id}",
                safe(fact.subject),
                fact.predicate,
                safe(redact(fact.object)),
                safe(redact(fact.statement)),
                fact.kind,
                fact.status,
                f"{fact.confidence:g}",
                fact.trust,
                fact.evidence_count,
                iso(fact.occurred_at) or "",
                fact.host,
                safe(fact.project),
                safe(fact.session),
            )
        )
        yield flushed()
