"""A graph that an agent keeps: entities, what was observed of them, and relations between them.

    entity, observation, relation -> an episode of the agent's -> asserted, as derived -> Receipt
    what is deleted -> retracted: out of recall, its row and history stay

Each is a fact of the kind `graph`: an entity with its type as object, an observation about the
entity, a relation with its two ends. A graph is what its facts are that hold, in the order in which
they came. It is a model's word: it brings nothing back that its owner called wrong or corrected,
and takes nothing out that its owner stands for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from factbook import policy
from factbook.apply.graph import ENTITY, OBSERVATION, entities_of, new_in_graph
from factbook.context import part
from factbook.errors import UsageError
from factbook.model.facts import ME, Candidate, FactKind, Trigger, Trust
from factbook.model.ops import Op, RetractFact, RetractNode
from factbook.model.ours import MEMORY_TAG
from factbook.pipelines.claims import Witness, asserted
from factbook.redaction.prose import is_shaped
from factbook.redaction.values import is_wordy
from factbook.sources.conversation.turn import clean, own_text, worth_a_vector
from factbook.sources.told import by_model_ops
from factbook.store.derived.facts import current_by_claim, holds
from factbook.store.rows import Life, LifeWhere, claim_digest

if TYPE_CHECKING:
    from factbook.context import Context

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


def _relation_of(said: Life | _Said) -> GraphRelation:
    return GraphRelation(said.subject, said.object, said.predicate.removeprefix(RELATION))


@part
class Graph:
    """The graphs of a memory, one of each owner; `Memory.graph`."""

    def __init__(self, context: Context) -> None:
        """Compose over what the memory works with."""
        self._context = context
        self._store = context.store
        self._shown: dict[str, tuple[object, KnowledgeGraph]] = {}  # owner -> as of which commit
        self._clean: dict[str, set[str]] = {}  # owner -> texts of that without a secret

    def read(self, *, owner: str = ME) -> KnowledgeGraph:
        """Return all of a graph, its texts redacted once more."""
        at = self._store.head(owner)
        known = self._shown.get(owner)
        if known is None or known[0] != at:
            graph = self._safe_graph(_Held.of(self._lives(owner)).graph, owner)
            known = self._shown[owner] = (at, graph)
        return known[1]

    def _safe_graph(self, graph: KnowledgeGraph, owner: str) -> KnowledgeGraph:
        """Return a graph with its texts redacted, of which most were seen the last time.

        What a text is redacted to depends on nothing but the text.
        """
        known, clean = self._clean.get(owner, set()), set[str]()
        screened = self._context.resources.screened

        def safe(text: str) -> str:
            if text in clean:
                return text
            redacted = text if text in known else screened(text)
            if redacted == text:
                clean.add(text)
            return redacted

        shown = KnowledgeGraph(
            [
                GraphEntity(safe(name), safe(type), list(map(safe, observations)))
                for name, type, observations in graph.entities
            ],
            [GraphRelation(*map(safe, relation)) for relation in graph.relations],
        )
        self._clean[owner] = clean
        return shown

    def search(self, query: str, *, owner: str = ME) -> KnowledgeGraph:
        """Return the entities whose name, type or one observation holds a text, in any case."""
        graph, sought = self.read(owner=owner), query.lower()
        found = [
            entity
            for entity in graph.entities
            if any(sought in text.lower() for text in (*entity[:2], *entity.observations))
        ]
        return graph.around(found)

    def open(self, names: Collection[str], *, owner: str = ME) -> KnowledgeGraph:
        """Return the entities of these names."""
        graph, asked = self.read(owner=owner), set(map(self._kept, names))
        return graph.around([entity for entity in graph.entities if entity.name in asked])

    def create_entities(
        self, entities: Sequence[GraphEntity], *, owner: str = ME
    ) -> list[GraphEntity]:
        """Keep entities whose names are not known yet; return them as they are kept."""
        new: dict[str, list[_Said]] = {}
        for entity in entities:
            name = self._named(entity)
            if name not in new:
                about = _entity(name, self._kept(entity.type))
                new[name] = self._safe([about, *self._observations(name, entity.observations)])
        made = self._keep([piece for said in new.values() for piece in said], owner)
        new = {name: said for name, said in new.items() if said[0] in made}
        kept = self._held_of([piece for _, *observed in new.values() for piece in observed], owner)
        return [
            GraphEntity(name, about.object, [said.object for said in observed if said in kept])
            for name, (about, *observed) in new.items()
        ]

    def create_relations(
        self, relations: Sequence[GraphRelation], *, owner: str = ME
    ) -> list[GraphRelation]:
        """Keep relations that are not known yet; return them as they are kept."""
        said = self._safe(_relation(*map(self._kept, told)) for told in dict.fromkeys(relations))
        made = self._keep(said, owner)
        return [_relation_of(told) for told in dict.fromkeys(said) if told in made]

    def add_observations(
        self, observations: Sequence[GraphObserved], *, owner: str = ME
    ) -> list[GraphObserved]:
        """Keep what was observed of entities; return for each what is new, in the same order.

        Raises UsageError for a name that is no entity's; nothing is kept then.
        """
        names = [self._kept(name) for name, _ in observations]
        there = entities_of(self._store, owner, names)
        for name in names:  # also one of which nothing is said
            if name not in there:
                raise UsageError(detail=f"Entity with name {name} not found")
        told = [
            (name, self._safe(self._observations(name, contents)))
            for name, (_, contents) in zip(names, observations, strict=True)
        ]
        left = self._keep([piece for _, said in told for piece in said], owner)
        added = []
        for name, said in told:
            new = [piece for piece in said if piece in left]
            left.difference_update(new)  # said twice in one call, it is new once
            added.append(GraphObserved(name, [piece.object for piece in new]))
        return added

    def join(
        self, entities: Sequence[GraphEntity], *, owner: str = ME
    ) -> tuple[list[GraphEntity], list[GraphObserved]]:
        """Keep entities, and of those that are known what is new.

        Returns (the new ones, what is new of the others).
        """
        created = self.create_entities(entities, owner=owner)
        there = entities_of(self._store, owner, list(map(self._named, entities)))
        more = [
            GraphObserved(entity.name, entity.observations)
            for entity in entities
            if self._named(entity) in there
        ]
        return created, self.add_observations(more, owner=owner)

    def delete_entities(self, names: Collection[str], *, owner: str = ME) -> list[int]:
        """Take entities out, with what was observed of them and every relation that names them.

        What its owner stands for stays; returns those facts.
        """
        gone = set(map(self._kept, names))
        named = [
            life
            for life in self._lives(owner)
            if life.subject in gone or (life.predicate.startswith(RELATION) and life.object in gone)
        ]
        there = dict.fromkeys(life.subject for life in named if life.subject in gone)
        nodes = [RetractNode(owner=owner, name=name, rule=_RULE) for name in there]
        return self._retract(named, nodes)

    def delete_observations(
        self, observations: Sequence[GraphObserved], *, owner: str = ME
    ) -> list[int]:
        """Take observations of entities out; what is not there is passed over."""
        gone = [
            said
            for name, contents in observations
            for said in self._observations(self._kept(name), contents)
        ]
        return self._delete(owner, gone)

    def delete_relations(self, relations: Sequence[GraphRelation], *, owner: str = ME) -> list[int]:
        """Take relations out; what is not there is passed over."""
        return self._delete(owner, [_relation(*map(self._kept, gone)) for gone in relations])

    def _delete(self, owner: str, said: Sequence[_Said]) -> list[int]:
        claims = [piece.claim(owner) for piece in said]
        return self._retract(current_by_claim(self._store, claims).values())

    def _retract(self, lives: Iterable[Life], nodes: Sequence[RetractNode] = ()) -> list[int]:
        """Take facts out, and all that is said of nodes by then; return what of the facts stays."""
        ids = [life.id for life in lives if holds(life)]
        gone = [RetractFact(fact_id=number, rule=_RULE) for number in ids]
        self._context.write([*nodes, *gone], Trigger.USER_MESSAGE)
        return [life.id for life in self._store.lives(LifeWhere(ids=ids, current=True))]

    def _lives(self, owner: str) -> list[Life]:
        return self._store.lives(LifeWhere(owner=owner, kinds=[FactKind.GRAPH], current=True))

    def _keep(self, told: Sequence[_Said], owner: str) -> set[_Said]:
        """Assert what is new; return what of it this call was the first to say."""
        said, now = {piece.claim(owner): piece for piece in told}, self._context.clock()
        ops: list[Op] = []
        for claim, piece in said.items():
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
        ops = new_in_graph(self._store, ops, offered=ops)
        receipt = self._context.write(ops, Trigger.USER_MESSAGE, now=now)
        return {said[bytes.fromhex(claim)] for claim in receipt.graph}

    def _held_of(self, told: Sequence[_Said], owner: str) -> set[_Said]:
        """Return what of this is in the graph."""
        said = {piece.claim(owner): piece for piece in told}
        there = current_by_claim(self._store, list(said))
        return {said[claim] for claim, life in there.items() if holds(life)}

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

    def _named(self, entity: GraphEntity) -> str:
        """Return the name of an entity as it is kept; of the type "password" it may be one.

        Most are called by what the password is of, so that only what was drawn is taken for one.
        """
        name = self._kept(entity.name)
        if not is_shaped(name) or is_wordy(name):
            return name
        return self._context.resources.redactor.redact_field(entity.type, name)

    def _observations(self, name: str, contents: Iterable[str]) -> Iterator[_Said]:
        kept = dict.fromkeys(self._observed(name, content) for content in contents)
        return (_observation(name, content) for content in kept)

    def _observed(self, name: str, content: str) -> str:
        """Return an observation as it is kept; "value: ..." is the value of what is called so."""
        content = self._kept(content)
        led = _VALUE.match(content)
        if led is None:
            return content
        value = self._context.resources.redactor.redact_field(name, content[led.end() :])
        return content[: led.end()] + value

    def _safe(self, told: Iterable[_Said]) -> list[_Said]:
        """Return facts without secrets that are none until their parts stand side by side."""
        screened = self._context.resources.screened
        both = [(said, screened(said.statement)) for said in told]
        return [
            said if safe == said.statement else replace(said, object=safe, statement=safe)
            for said, safe in both
        ]


_VALUE: Final = re.compile(r"(?i)\s*(?:\w+ ){0,2}value\s*(?:[:=]|\bis\b)\s*(?=\S)")


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
