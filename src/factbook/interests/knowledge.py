"""Follow a question through memory: what it asks, what is known of that, whether it may leave.

A message is about the things that it names (`extract.things`), or else those whose name or facts
its vector is near to (`recall.known`). `gate.enough` says whether their facts answer it, and
`gate.outgoing` whether it may be searched for. Nothing is searched for here, and no language model
takes part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from factbook.extract.asked import holds, search_query
from factbook.extract.mentions import hear
from factbook.extract.opinions import HEARD_CHARS, NO_MORE_OF_IT
from factbook.extract.private_matters import Asking, asking
from factbook.extract.things import is_broad, question_about, surfaces_of, without_names
from factbook.gate.enough import bearing, is_enough
from factbook.gate.outgoing import OutgoingVerdict, may_leave
from factbook.interests.privacy import has_withheld, read_matter, things_about
from factbook.model.entities import InQuestion, KnownFact
from factbook.recall.known import READ, answering, facts_about, things_near, weighed
from factbook.store.derived.entities import entity_named, fact_places, known_names

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.model.facts import Fact
    from factbook.store.port import Store

__all__ = ["Asking", "Knowledge", "asking", "knowledge", "not_to_be_told"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What is known of what a message asks about."""

    asking: Asking
    verdict: OutgoingVerdict  # whether it may be searched for
    entities: Sequence[InQuestion]  # in the order in which they are named, or nearest first
    unknown: Sequence[str]  # what it names and nobody brought in yet, canonical
    facts: Sequence[KnownFact]  # most relevant first
    enough: bool  # to answer from memory
    why: str  # in words, for people
    query: str  # what to search for where it is not enough

    @property
    def bearing(self) -> list[KnownFact]:
        """Return the facts that count: those over the seed's relevance."""
        return bearing(self.facts)


def knowledge(
    context: Context,
    message: str,
    *,
    owner: str,
    recent: Sequence[str] = (),
    pasted: Sequence[tuple[int, int]] = (),
) -> Knowledge:
    """Return what an owner's memory knows of what a message asks about.

    `recent` are the texts said before in the conversation, newest first: "it" may refer to what
    they are about. `pasted` are parts of it that ask for nothing in its owner's name. Raises
    EmbedderError.
    """
    store, redact = context.store, context.redact
    message = message[:HEARD_CHARS]  # longer ones hold pasted text
    with store.snapshot():
        known = known_names(store, owner)
        things = things_about(message, known, recent)
        matter = read_matter(
            store, message, owner=owner, recent=recent, names=things.every, pasted=pasted
        )
        named = [entity_named(store, owner, name) for name in things.known]
        entities = [InQuestion(entity=entity) for entity in named if entity is not None]
        about = [one.entity.name for one in entities] or things.unknown or things.meant
        query = search_query(message, about)
        withheld = has_withheld(
            store, query, message, owner=owner, recent=recent, names=things.every
        )
        if not things.every:
            entities = things_near(context, message, owner=owner)
        said = [facts_about(context, entity.entity) for entity in entities]
        places = fact_places(store, [fact.id for facts in said for fact in facts])
    verdict = may_leave(replace(matter, withheld=withheld))
    written = [surfaces_of(known, entity.entity.name) for entity in entities]
    facts = [
        replace(
            known_fact,
            fact=replace(
                known_fact.fact,
                object=redact(known_fact.fact.object),
                statement=redact(known_fact.fact.statement),
            ),
            place=redact(places.get(known_fact.fact.id, ("", None))[0]),
        )
        for known_fact in _weighed(context, message, entities, said, written)
    ]
    names = [redact(entity.entity.name) for entity in entities]
    unknown = [redact(thing) for thing in things.unknown]
    broad = is_broad(message, written, things.unknown)
    enough, why = is_enough(names, unknown, facts, broad=broad)
    return Knowledge(
        asking=asking(message, of_owner=verdict.of_owner, names=bool(things.every)),
        verdict=replace(verdict, why=redact(verdict.why)),
        entities=[
            replace(in_question, entity=in_question.entity._replace(name=name))
            for in_question, name in zip(entities, names, strict=True)
        ],
        unknown=unknown,
        facts=facts,
        enough=enough,
        why=why,
        query=redact(query),
    )


def _weighed(
    context: Context,
    message: str,
    entities: Sequence[InQuestion],
    said: Sequence[Sequence[Fact]],
    written: Sequence[Sequence[str]],
) -> list[KnownFact]:
    """Return the facts of things by how much they bear on a message, most first."""
    every: list[KnownFact] = []
    for in_question, facts, surfaces in zip(entities, said, written, strict=True):
        question = question_about(
            message, in_question.entity.name, surfaces, is_named=in_question.cosine is None
        )
        known = weighed(context, question.whole, facts)
        texts = [without_names(row.fact.object, surfaces) for row in known[:READ]]
        answers = [
            near and (question.amount is None or holds(text, question.amount))
            for near, text in zip(answering(context, question.asked, texts), texts, strict=True)
        ]
        every += [
            replace(row, answers=says) for row, says in zip(known[:READ], answers, strict=True)
        ]
        every += known[READ:]
    return sorted(every, key=lambda row: (-row.relevance, -row.fact.id))


def not_to_be_told(store: Store, message: str, *, owner: str) -> list[str]:
    """Return the known things of which a message asks to hear no more."""
    heard = hear(message, known=known_names(store, owner))
    return [mention.name for mention in heard if mention.is_known and mention.why == NO_MORE_OF_IT]
