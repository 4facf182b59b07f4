"""A graph as JSON: the records of tools, and the file of @modelcontextprotocol/server-memory.

Each line of such a file is an entity or a relation, which says so under `type`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from factbook.errors import UsageError
from factbook.model.facts import ME
from factbook.model.restored import LeftOut
from factbook.pipelines.graph import Graph, GraphEntity, GraphRelation, KnowledgeGraph
from factbook.pipelines.imported import ImportReport, Line, keep_aside, read_lines, shown_kind

if TYPE_CHECKING:
    from factbook.context import Context

_BATCH: Final = 500  # lines that are written at once


def entity_of(record: Mapping[str, object]) -> GraphEntity:
    """Return the entity that a JSON object is; raises UsageError where it is none."""
    observations = strings_of(record, "observations")
    return GraphEntity(text_of(record, "name"), text_of(record, "entityType"), observations)


def relation_of(record: Mapping[str, object]) -> GraphRelation:
    """Return the relation that a JSON object is; raises UsageError where it is none."""
    return GraphRelation(*(text_of(record, name) for name in ("from", "to", "relationType")))


def text_of(record: Mapping[str, object], name: str) -> str:
    """Return a text of a JSON object; raises UsageError where it has none of that name."""
    value = record.get(name)
    if not isinstance(value, str):
        raise UsageError(detail=f"{name} is a text, and is needed")
    return value


def strings_of(record: Mapping[str, object], name: str) -> list[str]:
    """Return a list of texts of a JSON object; raises UsageError where it has none."""
    value = record.get(name)
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise UsageError(detail=f"{name} is a list of texts, and is needed")
    return value


def record_of(part: GraphEntity | GraphRelation) -> dict[str, Any]:
    """Return an entity or a relation as a JSON object."""
    if isinstance(part, GraphEntity):
        return {"name": part.name, "entityType": part.type, "observations": list(part.observations)}
    return {"from": part.start, "to": part.end, "relationType": part.type}


def file_records(graph: KnowledgeGraph) -> Iterator[dict[str, Any]]:
    """Iterate over the lines of a file that holds a graph."""
    for entity in graph.entities:
        yield {"type": "entity", **record_of(entity)}
    for relation in graph.relations:
        yield {"type": "relation", **record_of(relation)}


def import_graph(
    context: Context,
    path: Path,
    *,
    owner: str = ME,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Join a file of a graph with the graph that an owner has; the same file again adds nothing.

    Lines that cannot be read are counted and kept in the log of what was refused.
    """
    if not dry_run:
        return _import(context, path, owner, progress)
    with context.store.rehearsal() as copy:
        report = _import(replace(context, store=copy), path, owner, progress)
    report.dry_run = True
    return report


def _import(
    context: Context, path: Path, owner: str, progress: Callable[[int], None] | None
) -> ImportReport:
    report, graph = ImportReport(owner=owner), Graph(context)
    entities: list[GraphEntity] = []
    relations: list[GraphRelation] = []
    bad: list[Line] = []

    def flush() -> None:
        created, added = graph.join(entities, owner=owner)
        observed = [*(entity.observations for entity in created), *(new for _, new in added)]
        related = graph.create_relations(relations, owner=owner)
        for kind, given, new in (
            ("entity", len(entities), len(created)),
            ("observation", 0, sum(map(len, observed))),
            ("relation", len(relations), len(related)),
        ):
            _count(report.added, kind, new)
            _count(report.known, kind, max(0, given - new))
        entities.clear()
        relations.clear()

    for line in read_lines(path):
        report.records += 1
        kind, reason, detail = line.record.get("type"), line.reason, line.detail
        try:
            if kind == "entity":
                entities.append(entity_of(line.record))
            elif kind == "relation":
                relations.append(relation_of(line.record))
            elif not reason:
                shown = shown_kind(context, kind)
                reason, detail = "bad_record", f"there are no records of the type {shown}"
        except UsageError as error:
            reason, detail = "bad_record", str(error)
        if reason:
            report.unread += 1
            if len(bad) < _BATCH:
                bad.append(replace(line, reason=reason, detail=detail))
        if len(entities) + len(relations) >= _BATCH:
            flush()
        if progress is not None:
            progress(line.size)
    flush()
    report.left = [LeftOut(line.number, "", f"{line.reason}: {line.detail}") for line in bad]
    if bad:
        keep_aside(context, "graph", str(path), bad, owner=owner)
    return report


def _count(counts: dict[str, int], kind: str, number: int) -> None:
    if number:
        counts[kind] = counts.get(kind, 0) + number
