"""Find what is known of the things that a question is about, and weigh it by relevance.

Figures and thresholds come from `scripts/calibrate_knowledge.py`, which prints them; docs/chat.md
shows them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from factbook.embed.halves import Vectors, unpacked
from factbook.errors import UsageError
from factbook.model.confidence import as_of, is_deprecated
from factbook.model.entities import InQuestion, KnownFact
from factbook.model.facts import EpisodeKind, Fact, FactKind, Role
from factbook.model.fading import recency, relevance_score
from factbook.model.keys import entity_name
from factbook.recall.query import content_terms, words
from factbook.store.derived.entities import entities_of, fact_places, world_facts
from factbook.store.rows import Filters

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.model.entities import Entity
    from factbook.store.port import Store

ANSWERS: Final = 0.44
"""Cosine from which a fact says what is asked, both without the name: calibrated for the bundled
embedder by `scripts/calibrate_knowledge.py`."""
NEAR: Final = 0.45
"""Cosine from which a message without names is about an entity, by its name or one of its facts."""
NEAR_ENTITIES: Final = 3  # ours: entities that a message without names may be about
WEIGHED: Final = 100  # ours: facts of one entity that are weighed, the newest
READ: Final = 12  # ours: the most relevant of them are compared with what is asked
SEARCHED: Final = 5_000  # ours: facts of an owner whose vectors a message without names is held to
OWN_TEXTS: Final = 50  # ours: texts of an owner that are looked through for who a name is


def joined(*parts: Vectors) -> Vectors:
    """Return the rows of all parts as one, for `related`; an id may come in several of them."""
    kept = [part for part in parts if len(part.ids)]
    if not kept:
        return Vectors(ids=[], rows=np.zeros((0, 0), dtype=np.float32))
    if len({vectors.rows.shape[1] for vectors in kept}) > 1:
        raise UsageError(
            detail="vectors of different dimensions cannot be joined; embed all with the same model"
            " (`factbook reembed`)"
        )
    ids = [row_id for vectors in kept for row_id in vectors.ids]
    return Vectors(ids=ids, rows=np.concatenate([vectors.rows for vectors in kept]))


def things_near(context: Context, message: str, *, owner: str) -> list[InQuestion]:
    """Return the entities that a message without names is about, nearest first."""
    store = context.store
    held = store.embedder()
    entities = {entity.id: entity for entity in entities_of(store, owner)}
    if held is None or not entities or not message.strip():
        return []
    model = context.embedder
    if model.id != held[0]:
        return []  # vectors of two models do not compare; `reembed` is what the doctor names
    by_name = {entity.name: entity.id for entity in entities.values()}
    facts = {
        fact.id: by_name[fact.subject]
        for fact in store.facts(
            Filters(owner=owner, kinds=(FactKind.WORLD,)), limit=SEARCHED, newest_first=True
        )
        if fact.subject in by_name
    }
    of_names = unpacked(*store.vectors("entity", list(entities)))
    of_facts = unpacked(*store.vectors("fact", sorted(facts)))
    rows = joined(of_names, replace(of_facts, ids=[facts[id_] for id_ in of_facts.ids]))
    if not len(rows.ids):
        return []
    cosines = rows.rows @ model.embed([message])[0]
    best: dict[int, float] = {}
    for entity_id, cosine in zip(rows.ids, cosines.tolist(), strict=True):
        best[entity_id] = max(best.get(entity_id, -1.0), cosine)
    near = sorted((id_ for id_ in best if best[id_] >= NEAR), key=lambda id_: (-best[id_], id_))
    return [InQuestion(entity=entities[id_], cosine=best[id_]) for id_ in near[:NEAR_ENTITIES]]


def facts_about(context: Context, entity: Entity) -> list[Fact]:
    """Return the newest facts about a thing that count, with the confidence that they have now."""
    now = context.clock()
    every = world_facts(context.store, entity.owner, entity.name, limit=WEIGHED)
    facts = [as_of(fact, now) for fact in every]
    return [fact for fact in facts if not is_deprecated(fact.confidence)]


def weighed(context: Context, question: str, facts: Sequence[Fact]) -> list[KnownFact]:
    """Return facts by how much they bear on a question, most first. Raises EmbedderError."""
    if not facts:
        return []
    now = context.clock()
    vectors = context.embedder.embed([question, *(fact.statement for fact in facts)])
    known_facts = [
        KnownFact(
            fact=fact,
            relevance=relevance_score(
                max(0.0, min(1.0, float(cosine))), fact.confidence, recency(fact.occurred_at, now)
            ),
        )
        for fact, cosine in zip(facts, vectors[1:] @ vectors[0], strict=True)
    ]
    return sorted(known_facts, key=lambda known_fact: (-known_fact.relevance, -known_fact.fact.id))


def answering(context: Context, asked: str, texts: Sequence[str]) -> list[bool]:
    """Return which of some texts say what is asked; both are without the name of their thing."""
    if not texts:
        return []
    vectors = context.embedder.embed([asked, *texts])
    return [cosine >= ANSWERS for cosine in (vectors[1:] @ vectors[0]).tolist()]


_SAID: Final = (EpisodeKind.TURN, EpisodeKind.PROMPT, EpisodeKind.NOTE, EpisodeKind.COMMAND)
_ON_PURPOSE: Final = re.compile(r"/(?:learn|search|schedule|like)\b")


def said_about(
    store: Store, text: str, owner: str, *, kinds: Sequence[EpisodeKind] = _SAID
) -> list[str]:
    """Return the texts of an owner that share a word with a text."""
    terms = content_terms(text)
    if not terms:
        return []
    hits = store.search("episode", terms, Filters(owner=owner, episode_kinds=kinds), OWN_TEXTS)
    episodes = store.episodes_by_id([id_ for id_, _ in hits]).values()
    return [episode.text for episode in episodes if episode.role is Role.USER]


def on_pages(store: Store, owner: str, name: str) -> bool:
    """Tell whether a page said anything of a name."""
    facts = world_facts(store, owner, entity_name(name), limit=WEIGHED)
    return any(place for place, _ in fact_places(store, [fact.id for fact in facts]).values())


def is_public(store: Store, owner: str, name: str) -> bool:
    """Tell whether a name has a reason to be taken for public: a page, or a command about it."""
    if on_pages(store, owner, name):
        return True
    parts = set(words(name))
    return any(
        _ON_PURPOSE.match(text) and parts <= set(words(text))
        for text in said_about(store, name, owner, kinds=(EpisodeKind.COMMAND,))
    )
