"""By which version of the language reader what people say was read, over the verbs of a store."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from factbook.model.facts import DIRECTED_IN, EVERYONE, At, Role, Trust
from factbook.store.kinds import EPISODE, READER
from factbook.store.port import Reads, marked
from factbook.store.rows import Filters

DIRECTIVES: Final = "directives"
STATEMENTS: Final = "statements"
PARTS: Final[Mapping[str, tuple[str, str]]] = {
    DIRECTIVES: ("directives", "episode"),
    STATEMENTS: ("extract", "vector:episode"),
}
"""What the reader reads: part -> (the mark of how far it has come, the log that the mark follows).
"""


def read_by_others(reads: Reads, version: str) -> dict[int, list[str]]:
    """Return the sources that another version of the reader has read, with the parts of each.

    One that was read without a note of it was read before there were notes.
    """
    there = {state.id for state in reads.sources()}
    others: dict[int, list[str]] = {}
    for part in PARTS:
        rows = reads.find(READER, {"part": part})
        read = {row.source_id for row in rows if row.version != version}
        read |= _unnoted(reads, part, there - {row.source_id for row in rows})
        for source_id in sorted(read & there):
            others.setdefault(source_id, []).append(part)
    return dict(sorted(others.items()))


def _unnoted(reads: Reads, part: str, sources: Collection[int]) -> set[int]:
    """Return those of the sources that were read all the same."""
    mark, log = PARTS[part]
    at = marked(reads, mark)
    if at == At() or not sources:
        return set()
    of_them = {"owner": EVERYONE, "role": Role.USER, "source_id": sources}
    said = {id_ for (id_,) in reads.tally(EPISODE, ("id",), of_them)}
    if said:
        said &= came(reads, log, At()) - came(reads, log, at)
    return {head.source_id for head in reads.heads(spoken(reads, part, sorted(said))).values()}


def came(reads: Reads, log: str, after: At) -> set[int]:
    """Return the rows that came since."""
    return set(reads.changed(log, after).came)


def spoken(reads: Reads, part: str, ids: Sequence[int]) -> Sequence[int]:
    """Return those of the episodes that are read for a part: what owners say in person."""
    kinds = DIRECTED_IN if part == DIRECTIVES else ()
    said = Filters(
        owner=EVERYONE, ids=ids, roles=[Role.USER], trusts=[Trust.DIRECT], episode_kinds=kinds
    )
    return list(reads.ids("episode", said))
