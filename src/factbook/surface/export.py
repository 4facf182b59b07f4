"""Write out: JSON lines that hold everything, the facts as CSV, a graph as its own lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from factbook.errors import UsageError
from factbook.model.facts import ME, Everyone
from factbook.redaction.records import identity_of
from factbook.surface.output import dump
from factbook.surface.records import fields
from factbook.surface.text import safe

if TYPE_CHECKING:
    from factbook.memory import Memory

FACT_COLUMNS: Final = (
    "id:f subject predicate object statement kind status confidence trust evidence_count"
    " occurred_at host project session"
)
_FREE: Final = frozenset(  # any text
    {"subject", "predicate", "object", "statement", "project", "session"}
)


def as_json_lines(memory: Memory, *, owner: str | Everyone = ME) -> Iterator[str]:
    """Iterate over every record as one line of JSON, its texts redacted as they are taken out."""
    for record in memory.export(owner=owner):
        yield dump(record) + "\n"


def as_graph(memory: Memory, *, owner: str | Everyone = ME) -> Iterator[str]:
    """Iterate over the graph of an owner as lines of JSON; see `pipelines.graph_file`.

    Raises UsageError for everyone: names are an owner's own.
    """
    from factbook.pipelines.graph_file import file_records

    if isinstance(owner, Everyone):
        raise UsageError(detail="a graph is one owner's; name the owner")
    for record in file_records(memory.graph.read(owner=owner)):
        yield json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


def as_csv(
    memory: Memory, redact: Callable[[str], str], *, owner: str | Everyone = ME
) -> Iterator[str]:
    """Iterate over the current facts as lines of CSV, the names of the columns first.

    Control characters are written as escapes, and an apostrophe stands before what begins like a
    formula: a table is opened by programs that obey them. JSON lines hold the exact text.
    """
    from factbook import Filters

    def line(cells: Iterable[object]) -> str:
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerow(cells)
        return buffer.getvalue()

    yield line(name.partition(":")[0] for name in FACT_COLUMNS.split())
    for fact in memory.sources.facts(filters=Filters(owner=owner)):
        cells = fields(fact, FACT_COLUMNS) | {"confidence": f"{fact.confidence:g}"}
        yield line(
            _text(identity_of(str(cell), redact)) if name in _FREE else cell
            for name, cell in cells.items()
        )


def _text(cell: str) -> str:
    """Return a text that a spreadsheet shows, and neither computes nor sends anywhere."""
    return f"'{safe(cell)}" if cell.lstrip().startswith(("=", "+", "-", "@")) else safe(cell)
