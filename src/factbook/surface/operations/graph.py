"""The operations of a graph: the nine tools of @modelcontextprotocol/server-memory.

Names, arguments and answers are those of that server, so that an agent that kept its graph there
finds it here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from factbook.surface.operations.base import TOOL, Arg, Effect, Outcome, Run, operation

if TYPE_CHECKING:
    from factbook.pipelines.graph import GraphObserved, KnowledgeGraph


def _text(about: str = "") -> dict[str, object]:
    return {"type": "string", **({"description": about} if about else {})}


def _texts(about: str = "") -> dict[str, object]:
    return {"type": "array", "items": _text(), **({"description": about} if about else {})}


def _object(**fields: Mapping[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": fields, "required": list(fields)}


def _closed(schema: Mapping[str, object]) -> dict[str, object]:
    return {**schema, "additionalProperties": False}


def _answer(**lists: Mapping[str, object]) -> dict[str, object]:
    parts = {name: {"type": "array", "items": _closed(item)} for name, item in lists.items()}
    return _closed(_object(**parts))


_ENTITY: Final = _object(
    name=_text("The name of the entity"),
    entityType=_text("The type of the entity"),
    observations=_texts("An array of observation contents associated with the entity"),
)
_RELATION: Final = _object(
    **{
        "from": _text("The name of the entity where the relation starts"),
        "to": _text("The name of the entity where the relation ends"),
        "relationType": _text("The type of the relation"),
    }
)
_OBSERVED: Final = _object(
    entityName=_text("The name of the entity to add the observations to"),
    contents=_texts("An array of observation contents to add"),
)
_DELETED: Final = _object(
    entityName=_text("The name of the entity containing the observations"),
    observations=_texts("An array of observations to delete"),
)
_ADDED: Final = _object(entityName=_text(), addedObservations=_texts())
_GRAPH: Final = _answer(entities=_ENTITY, relations=_RELATION)
_DONE: Final = _closed(_object(success={"type": "boolean"}, message=_text()))

Records = Sequence[dict]  # type: ignore[type-arg]
_PROFILE: Final[dict[str, Any]] = {"profile": "graph", "lenient": True}


@operation(
    TOOL, Effect.CREATES, title="Create Entities", output=_answer(entities=_ENTITY), **_PROFILE
)
def create_entities(run: Run, entities: Annotated[Records, Arg(schema=_ENTITY)]) -> Outcome:
    """Create multiple new entities in the knowledge graph"""
    from factbook.pipelines.graph_file import entity_of, record_of

    given = [entity_of(entity) for entity in entities]
    created = run.memory.graph.create_entities(given, owner=run.owner)
    return Outcome(record={"entities": list(map(record_of, created))})


@operation(
    TOOL, Effect.CREATES, title="Create Relations", output=_answer(relations=_RELATION), **_PROFILE
)
def create_relations(run: Run, relations: Annotated[Records, Arg(schema=_RELATION)]) -> Outcome:
    """Create multiple new relations between entities in the knowledge graph. Relations should be in active voice"""  # noqa: E501
    from factbook.pipelines.graph_file import record_of, relation_of

    given = [relation_of(relation) for relation in relations]
    created = run.memory.graph.create_relations(given, owner=run.owner)
    return Outcome(record={"relations": list(map(record_of, created))})


@operation(
    TOOL, Effect.WRITES, title="Add Observations", output=_answer(results=_ADDED), **_PROFILE
)
def add_observations(run: Run, observations: Annotated[Records, Arg(schema=_OBSERVED)]) -> Outcome:
    """Add new observations to existing entities in the knowledge graph"""
    given = _observed(observations, "contents")
    added = run.memory.graph.add_observations(given, owner=run.owner)
    return Outcome(
        record={"results": [{"entityName": name, "addedObservations": new} for name, new in added]}
    )


@operation(TOOL, Effect.ERASES, title="Delete Entities", output=_DONE, **_PROFILE)
def delete_entities(
    run: Run,
    entityNames: Annotated[  # noqa: N803 - as the argument is called
        Sequence[str], Arg("An array of entity names to delete")
    ],
) -> Outcome:
    """Delete multiple entities and their associated relations from the knowledge graph"""
    return _done("Entities", run.memory.graph.delete_entities(entityNames, owner=run.owner))


@operation(TOOL, Effect.ERASES, title="Delete Observations", output=_DONE, **_PROFILE)
def delete_observations(run: Run, deletions: Annotated[Records, Arg(schema=_DELETED)]) -> Outcome:
    """Delete specific observations from entities in the knowledge graph"""
    given = _observed(deletions, "observations")
    return _done("Observations", run.memory.graph.delete_observations(given, owner=run.owner))


@operation(TOOL, Effect.ERASES, title="Delete Relations", output=_DONE, **_PROFILE)
def delete_relations(
    run: Run,
    relations: Annotated[Records, Arg("An array of relations to delete", schema=_RELATION)],
) -> Outcome:
    """Delete multiple relations from the knowledge graph"""
    from factbook.pipelines.graph_file import relation_of

    given = [relation_of(relation) for relation in relations]
    return _done("Relations", run.memory.graph.delete_relations(given, owner=run.owner))


def _done(what: str, left: Sequence[int]) -> Outcome:
    said = f"{what} deleted successfully"
    if left:
        stay = ", ".join(f"f{number}" for number in left)
        said = f"The user stands for {stay}, so that stays; the rest is deleted."
    return Outcome(record={"success": not left, "message": said})


def _observed(records: Sequence[Mapping[str, object]], name: str) -> list[GraphObserved]:
    from factbook.pipelines.graph import GraphObserved
    from factbook.pipelines.graph_file import strings_of, text_of

    return [
        GraphObserved(text_of(record, "entityName"), strings_of(record, name)) for record in records
    ]


@operation(TOOL, title="Read Graph", output=_GRAPH, **_PROFILE)
def read_graph(run: Run) -> Outcome:
    """Read the entire knowledge graph"""
    return _shown(run.memory.graph.read(owner=run.owner))


@operation(TOOL, title="Search Nodes", output=_GRAPH, **_PROFILE)
def search_nodes(
    run: Run,
    query: Annotated[
        str, Arg("The search query to match against entity names, types, and observation content")
    ],
) -> Outcome:
    """Search for nodes in the knowledge graph based on a query"""
    return _shown(run.memory.graph.search(query, owner=run.owner))


@operation(TOOL, title="Open Nodes", output=_GRAPH, **_PROFILE)
def open_nodes(
    run: Run, names: Annotated[Sequence[str], Arg("An array of entity names to retrieve")]
) -> Outcome:
    """Open specific nodes in the knowledge graph by their names"""
    return _shown(run.memory.graph.open(names, owner=run.owner))


def _shown(graph: KnowledgeGraph) -> Outcome:
    from factbook.pipelines.graph_file import record_of

    return Outcome(
        record={
            "entities": list(map(record_of, graph.entities)),
            "relations": list(map(record_of, graph.relations)),
        }
    )
