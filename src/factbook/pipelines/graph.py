"""A graph that an agent keeps: entities, what was observed of them, and relations between them.

    entity, observation, relation -> an episode of the agent's -> asserted, as derived -> Receipt
    what is deleted -> retracted: out of recall, its row and history stay

Each is a fact of the kind `graph`: an entity with its type as object, an observation about the
entity, a relation with its two ends. A graph is what its facts are that hold, in the order in which
they came. It is a model's word: it brings nothing back that its owner called wrong or corrected,
and takes nothing out that its owner stands for.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from factbook import policy
from factbook.context import part
from factbook.errors import UsageError
from factbook.model.facts import ME, Candidate, FactKind, Status, Trigger, Trust
from factbook.model.ops import Op, RetractFact
from factbook.model.ours import MEMORY_TAG
from factbook.pipelines.claims import Witness, asserted
from factbook.sources.conversation.turn import clean, own_text, worth_a_vector
from factbook.sources.told import by_model_ops
from factbook.store.derived.facts import current_by_claim, holds
from factbook.store.rows import Life, LifeWhere, claim_digest

if TYPE_CHECKING:
    from factbook.context import Context

__all__ = ["Graph", "GraphEntity", "GraphObserved", "GraphRelation", "KnowledgeGraph"]

ENTITY: Final = "entity"
OBSERVATION: Final = "observation"
RELATION: Final = "relation:"  # and its type
_RULE: Final = "graph"
_METHOD: Final = "An agent wrote it into the graph that it keeps"


class GraphEntity(NamedTuple):
    """A thing with a name of its own; case matters."""

    name: str
    type: str
    observations: Sequence[str] = ()


class GraphObserved(NamedTuple):
    """What was observed of an entity that is known."""

    name: str
    contents: Sequence[str]


class GraphRelation(NamedTuple):
    """What one thing is to another; neither need be an entity."""

    start: str
    end: str
    type: str


class KnowledgeGraph(NamedTuple):
    """Entities and relations, each in the order in which they came."""

    entities: Sequence[GraphEntity]
    relations: Sequence[GraphRelation]

    def around(self, entities: Sequence[GraphEntity]) -> KnowledgeGraph:
        """Return these entities with every relation that one of them is an end of."""
        names = {entity.name for entity in entities}
        near = [end for end in self.relations if end.start in names or end.end in names]
        return KnowledgeGraph(entities, near)


@dataclass(frozen=True, slots=True)
class _Said:
    """One fact of a graph as it is kept."""

    subject: str
    predicate: str
    object: str
    statement: str

    def claim(self, owner: str) -> bytes:
        return claim_digest(owner, self.subject, self.predicate, self.object)


@dataclass(slots=True)
class _Held:
    """The facts of a graph by what they say; ids of facts."""

    types: dict[str, str] = field(default_factory=dict)  # name -> type
    observed: dict[str, dict[str, int]] = field(default_factory=dict)
    relations: dict[GraphRelation, int] = field(default_factory=dict)

    @classmethod
    def of(cls, lives: Iterable[Life]) -> _Held:
        held = cls()
        for life in lives:
            if not holds(life):
                continue
            if life.predicate == ENTITY:  # of two that were made at once the first one counts
                held.types.setdefault(life.subject, life.object)
            elif life.predicate == OBSERVATION:
                held.observed.setdefault(life.subject, {})[life.object] = life.id
            else:
                held.relations[_relation_of(life)] = life.id
        return held

    @property
    def graph(self) -> KnowledgeGraph:
        entities = [
            GraphEntity(name, type, list(self.observed.get(name, ())))
            for name, type in self.types.items()
        ]
        return KnowledgeGraph(entities, list(self.relations))


def _relation_of(life: Life) -> GraphRelation:
    return GraphRelation(life.subject, life.object, life.predicate.removeprefix(RELATION))


@part
class Graph:
    """The graphs of a memory, one of each owner; `Memory.graph`."""

    def __init__(self, context: Context) -> None:
        """Compose over what the memory works with."""
        self._context = context
        self._store = context.store
        self._changing = threading.Lock()  # two calls must not both find a name free
        self._shown: dict[str, tuple[object, KnowledgeGraph]] = {}  # owner -> as of which commit

    # --- asking ---------------------------------------------------------------------------------

    def read(self, *, owner: str = ME) -> KnowledgeGraph:
        """Return all of a graph, its texts redacted once more."""
        at = self._store.head(owner)
        known = self._shown.get(owner)
        if known is None or known[0] != at:
            graph = _Held.of(self._lives(owner)).graph
            known = self._shown[owner] = (at, self._context.resources.screened(graph))
        return known[1]

    def search(self, query: str, *, owner: str = ME) -> KnowledgeGraph:
        """Return the entities whose name, type or one observation holds a text, in any case."""
        graph, sought = self.read(owner=owner), query.lower()
        return graph.around(
            [
                entity
                for entity in graph.entities
                if any(sought in text.lower() for text in (*entity[:2], *entity.observations))
            ]
        )

    def open(self, names: Collection[str], *, owner: str = ME) -> KnowledgeGraph:
        """Return the entities of these names."""
        graph, asked = self.read(owner=owner), set(map(self._kept, names))
        return graph.around([entity for entity in graph.entities if entity.name in asked])

    # --- telling --------------------------------------------------------------------------------

    def create_entities(
        self, entities: Sequence[GraphEntity], *, owner: str = ME
    ) -> list[GraphEntity]:
        """Keep entities whose names are not known yet; return them as they are kept."""
        with self._changing:
            held = self._held(owner, [entity.name for entity in entities])
            new: dict[str, list[_Said]] = {}
            for entity in entities:
                name = self._kept(entity.name)
                if name not in held.types and name not in new:
                    about = _entity(name, self._kept(entity.type))
                    new[name] = self._safe([about, *self._observations(name, entity.observations)])
            # Without its entity nothing is kept of what was observed of it.
            settled = self._settled([about for about, *_ in new.values()], owner)
            new = {name: said for name, said in new.items() if said[0] not in settled}
            kept = self._keep(itertools.chain(*new.values()), owner)
            return [
                GraphEntity(name, about.object, [said.object for said in observed if said in kept])
                for name, (about, *observed) in new.items()
                if about in kept
            ]

    def create_relations(
        self, relations: Sequence[GraphRelation], *, owner: str = ME
    ) -> list[GraphRelation]:
        """Keep relations that are not known yet; return them as they are kept."""
        with self._changing:
            said = self._safe(
                _relation(*map(self._kept, relation)) for relation in dict.fromkeys(relations)
            )
            known = current_by_claim(self._store, [relation.claim(owner) for relation in said])
            new = [piece for piece in dict.fromkeys(said) if piece.claim(owner) not in known]
            kept = self._keep(new, owner)
            return [
                GraphRelation(told.subject, told.object, told.predicate.removeprefix(RELATION))
                for told in new
                if told in kept
            ]

    def add_observations(
        self, observations: Sequence[GraphObserved], *, owner: str = ME
    ) -> list[GraphObserved]:
        """Keep what was observed of entities; return for each what is new, in the same order.

        Raises UsageError for a name that is no entity's; nothing is kept then.
        """
        with self._changing:
            held = self._held(owner, [name for name, _ in observations])
            new: list[tuple[str, list[_Said]]] = []
            told = {name: set(known) for name, known in held.observed.items()}
            for name, contents in observations:
                name = self._kept(name)
                if name not in held.types:
                    raise UsageError(detail=f"Entity with name {name} not found")
                known = told.setdefault(name, set())
                said = self._safe(self._observations(name, contents))
                new.append((name, [piece for piece in said if piece.object not in known]))
                known.update(piece.object for piece in said)
            kept = self._keep(itertools.chain(*(said for _, said in new)), owner)
            return [
                GraphObserved(name, [piece.object for piece in said if piece in kept])
                for name, said in new
            ]

    def join(
        self, entities: Sequence[GraphEntity], *, owner: str = ME
    ) -> tuple[list[GraphEntity], list[GraphObserved]]:
        """Keep entities, and of those that are known what is new.

        Returns (the new ones, what is new of the others).
        """
        created = self.create_entities(entities, owner=owner)
        there = self._held(owner, [entity.name for entity in entities]).types
        more = [
            GraphObserved(entity.name, entity.observations)
            for entity in entities
            if self._kept(entity.name) in there
        ]
        return created, self.add_observations(more, owner=owner)

    # --- taking out -----------------------------------------------------------------------------

    def delete_entities(self, names: Collection[str], *, owner: str = ME) -> list[int]:
        """Take entities out, with what was observed of them and every relation that names them.

        What its owner stands for stays; returns those facts.
        """
        with self._changing:
            gone = set(map(self._kept, names))
            return self._retract(
                life
                for life in self._lives(owner)
                if life.subject in gone
                or (life.predicate.startswith(RELATION) and life.object in gone)
            )

    def delete_observations(
        self, observations: Sequence[GraphObserved], *, owner: str = ME
    ) -> list[int]:
        """Take observations of entities out; what is not there is passed over."""
        return self._delete(
            owner,
            [
                _observation(self._kept(name), self._kept(content))
                for name, contents in observations
                for content in contents
            ],
        )

    def delete_relations(self, relations: Sequence[GraphRelation], *, owner: str = ME) -> list[int]:
        """Take relations out; what is not there is passed over."""
        return self._delete(owner, [_relation(*map(self._kept, gone)) for gone in relations])

    def _delete(self, owner: str, said: Sequence[_Said]) -> list[int]:
        with self._changing:
            claims = [piece.claim(owner) for piece in said]
            return self._retract(current_by_claim(self._store, claims).values())

    def _retract(self, lives: Iterable[Life]) -> list[int]:
        ids = [life.id for life in lives if holds(life)]
        gone = [RetractFact(fact_id=number, rule=_RULE) for number in ids]
        self._context.write(gone, Trigger.USER_MESSAGE)
        return [life.id for life in self._store.lives(LifeWhere(ids=ids, current=True))]

    # --- facts ----------------------------------------------------------------------------------

    def _lives(self, owner: str, names: Collection[str] | None = None) -> list[Life]:
        return self._store.lives(
            LifeWhere(owner=owner, kinds=[FactKind.GRAPH], subjects=names, current=True)
        )

    def _held(self, owner: str, names: Iterable[str]) -> _Held:
        lives = self._lives(owner, set(map(self._kept, names)))
        return _Held.of(life for life in lives if not life.predicate.startswith(RELATION))

    def _keep(self, told: Iterable[_Said], owner: str) -> set[_Said]:
        """Assert what is not known yet; return what of it holds now."""
        store, now = self._store, self._context.clock()
        said = {piece.claim(owner): piece for piece in told}
        known = current_by_claim(store, list(said))
        settled = self._settled(said.values(), owner)
        ops: list[Op] = []
        for claim, piece in said.items():
            if claim in known or piece in settled:
                continue
            uid = f"graph:{claim.hex()}"  # once: what was erased is kept out by it
            ops += by_model_ops(
                piece.statement,
                uid=uid,
                owner=owner,
                at=now,
                what="graph",
                title="kept as a graph by an agent",
            )
            shown = Witness(uid, owner, Trust.DERIVED, piece.statement)
            ops.append(asserted(_candidate(piece), shown))
        self._context.write(ops, Trigger.USER_MESSAGE, now=now)
        there = current_by_claim(store, list(said))
        return {said[claim] for claim, life in there.items() if holds(life)}

    def _settled(self, told: Iterable[_Said], owner: str) -> set[_Said]:
        """Return what its owner called wrong, or put something else in the place of."""
        said = {piece.claim(owner): piece for piece in told}
        # Apart: what is current and what is retired are indexed apart.
        retired = self._store.lives(LifeWhere(claims=list(said), current=False))
        corrected = [life.claim for life in retired if life.status is Status.SUPERSEDED]
        there = current_by_claim(self._store, list(said))
        wrong = [claim for claim, life in there.items() if not life.confidence]
        return {said[claim] for claim in (*corrected, *wrong)}

    # --- texts ----------------------------------------------------------------------------------

    def _kept(self, text: str) -> str:
        """Return a text as it is kept: without secrets, and without what we put before a model."""
        text = clean(text)
        if MEMORY_TAG in text:
            text = own_text(text)
        if len(text) > policy.PROMPT_CHARS:
            raise UsageError(
                detail=f"a text has {len(text)} characters; it may have {policy.PROMPT_CHARS}"
            )
        return self._context.resources.screened(text)

    def _observations(self, name: str, contents: Iterable[str]) -> Iterator[_Said]:
        return (_observation(name, content) for content in dict.fromkeys(map(self._kept, contents)))

    def _safe(self, told: Iterable[_Said]) -> list[_Said]:
        """Return facts without secrets that are none until their parts stand side by side."""
        screened = self._context.resources.screened
        both = [(said, screened(said.statement)) for said in told]
        return [
            said if safe == said.statement else replace(said, object=safe, statement=safe)
            for said, safe in both
        ]


def _line(text: str) -> str:
    return " ".join(text.split())


def _entity(name: str, type: str) -> _Said:
    return _Said(name, ENTITY, type, _line(f"{name} ({type})"))


def _observation(name: str, content: str) -> _Said:
    return _Said(name, OBSERVATION, content, _line(f"{name}: {content}"))


def _relation(start: str, end: str, type: str) -> _Said:
    says = _line(f"{start} {type.replace('_', ' ')} {end}")
    return _Said(start, f"{RELATION}{type}", end, says or RELATION)


def _candidate(said: _Said) -> Candidate:
    return Candidate(
        subject=said.subject,
        predicate=said.predicate,
        object=said.object,
        statement=said.statement,
        confidence=policy.TOLD,
        rule=_RULE,
        method=_METHOD,
        start=0,
        end=len(said.statement),
        kind=FactKind.GRAPH,
        embed=worth_a_vector(said.statement),
    )
