"""What a text says of known things, as Ops: kept, repeated or refused; and what of it is told.

claim -> its vector -> gate.known: new or said before? -> asserted | supported (`Facts.keep`)
what a search stored -> gate.notices: worth telling? -> Announce               (`announcements`)
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.embed.halves import unpacked
from factbook.extract.world import WorldClaim, statement_of
from factbook.gate.known import EntityClaim, nearest
from factbook.gate.notices import Find, mode_of, worth_telling
from factbook.language.words import words
from factbook.model.entities import ABOUT, SearchLog
from factbook.model.facts import Candidate, Fact, FactKind, Millis, StoredEpisode, Trust
from factbook.model.interest_ops import Announce, NewFind
from factbook.model.ops import MergeFacts, Op, RejectCandidate
from factbook.net import cancel
from factbook.net.settings import config_path
from factbook.pipelines.claims import asserted, refused, supported
from factbook.pipelines.notify_config import load_notify_config
from factbook.store.derived import ledger
from factbook.store.derived.entities import entity_named, names_by_id, world_facts
from factbook.store.derived.facts import holds
from factbook.store.derived.notices import told_at
from factbook.store.derived.searches import untold_finds
from factbook.store.kinds import PAIR
from factbook.store.port import Store, first
from factbook.store.rows import EvidenceRow, Life, LifeWhere

if TYPE_CHECKING:
    from factbook.context import Context

_WORLD = FactKind.WORLD


@dataclass(slots=True)
class Gathered:
    """What one piece comes to, before it is written."""

    ops: list[Op] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=dict)  # canonical -> surfaces, known or new
    new: set[str] = field(default_factory=set)
    finds: list[NewFind] = field(default_factory=list)  # facts that it brings


class TextVectors:
    """Vectors of texts, each made once, and those that the store has."""

    def __init__(self, context: Context) -> None:
        """Compose over what embeds and what is stored."""
        self._context = context
        self._made: dict[str, NDArray[np.float32]] = {}

    def clear(self) -> None:
        """Forget what was made."""
        self._made.clear()

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the unit vectors of texts, one in each row."""
        missing = [fromkey for fromkey in dict.fromkeys(texts) if fromkey not in self._made]
        if missing:
            self._made.update(zip(missing, self._context.embedder.embed(missing), strict=True))
        return np.stack([self._made[text] for text in texts])

    def of_facts(self, facts: Sequence[Fact]) -> dict[int, NDArray[np.float32]]:
        """Return the vectors of facts by their ids: those stored, and the others made here."""
        store = self._context.store
        vectors: dict[int, NDArray[np.float32]] = {}
        if self._are_stored():
            stored = unpacked(*store.vectors("fact", [fact.id for fact in facts]))
            vectors.update(zip(stored.ids, stored.rows, strict=True))
        waiting = [fact for fact in facts if fact.id not in vectors]
        if waiting:
            made = self.of([fact.statement for fact in waiting])
            vectors.update({fact.id: made[n] for n, fact in enumerate(waiting)})
        return vectors

    def name_cosines(self, name: str, owner: str) -> dict[str, float]:
        """Return the cosine of a name and each known one that has its vector."""
        if not self._are_stored():
            return {}
        store = self._context.store
        by_id = names_by_id(store, owner)
        names = unpacked(*store.vectors("entity", list(by_id)))
        if not names.ids:
            return {}
        near = names.rows @ self.of([name])[0]
        return {by_id[entity_id]: float(near[n]) for n, entity_id in enumerate(names.ids)}

    def _are_stored(self) -> bool:
        """Tell whether the store's vectors are those of the embedder."""
        embedder = self._context.embedder
        return self._context.store.embedder() == (embedder.id, embedder.dim)


class Facts:
    """Keeps what is said of known things, beside what is known of them."""

    def __init__(self, context: Context, vectors: TextVectors) -> None:
        """Compose."""
        self._store = context.store
        self._vectors = vectors
        self._known: dict[tuple[str, str], list[EntityClaim]] = {}  # of entities, for one piece

    def clear(self) -> None:
        """Forget what was known: a piece was written since, by us or by others."""
        self._known.clear()

    def keep(self, claims: Sequence[WorldClaim], episode: StoredEpisode, gained: Gathered) -> None:
        """Add the ops for what is said: new facts, or evidence for those that say the same."""
        for said in claims:
            cancel.check()
            text = statement_of(said.entity, said.content)
            claim = EntityClaim(says=said.content, text=text, vector=self._vectors.of([text])[0])
            known = self._known_of(episode.owner, said.entity)
            cosine, twin = nearest(said.entity, claim, known)
            stated = twin is not None and twin.fact is not None and twin.fact.kind is not _WORLD
            if twin is None or stated:
                # a statement takes no evidence from here: what says it too is joined with it later
                gained.ops.append(asserted(_candidate(said), episode))
                known.append(claim)
            if twin is None:
                find = NewFind(entity=said.entity, object=said.content, nearest=cosine)
                gained.finds.append(find)
            elif stated:
                continue
            elif twin.fact is None:
                # Of what this very call brings, a second assertion is the evidence.
                gained.ops.append(asserted(_candidate(said, twin.says), episode))
            else:
                gained.ops.append(supported(twin.fact.id, _candidate(said), episode))

    def _known_of(self, owner: str, name: str) -> list[EntityClaim]:
        key = (owner, name)
        if key not in self._known:
            facts = world_facts(self._store, owner, name)
            vectors = self._vectors.of_facts(facts)
            self._known[key] = [
                EntityClaim(
                    fact=fact, says=fact.object, text=fact.statement, vector=vectors[fact.id]
                )
                for fact in facts
            ]
        return self._known[key]


def joined_ops(store: Store, episodes: Collection[int] | None = None) -> list[Op]:
    """Return what joins that which owners said of entities with their statements of the same words.

    Of these episodes, or of all. The entity shows the statement from then on.
    """
    if episodes is None:
        told = store.lives(LifeWhere(kinds=[_WORLD], current=True))
        ids = [life.id for life in told if life.trust is Trust.DIRECT]
        episodes = {row.episode_id for row in store.evidence(fact_ids=ids)}
    lives: dict[int, Life] = {}
    about: list[EvidenceRow] = []
    stated: dict[int, list[EvidenceRow]] = {}
    for row, life in ledger.supporting(store, episodes):
        if not holds(life) or life.trust is not Trust.DIRECT:
            continue
        lives[life.id] = life
        if life.kind is _WORLD:
            about.append(row)
        elif life.kind is FactKind.STATEMENT:
            stated.setdefault(row.episode_id, []).append(row)
    says: dict[int, Counter[int]] = {}
    for row in about:
        found = _saying(row, lives[row.fact_id].subject, stated.get(row.episode_id, ()), lives)
        if found is not None:
            says.setdefault(row.fact_id, Counter())[found] += 1
    parts: dict[int, list[Life]] = {}
    for fact_id, by in says.items():
        winner, number = by.most_common(1)[0]
        low, high = sorted((fact_id, winner))
        pair = first(store, PAIR, {"low_id": low, "high_id": high})
        apart = pair is not None and pair.verdict == "KEEP_BOTH"
        if number == lives[fact_id].evidence_count and not apart:  # all that speaks for it
            parts.setdefault(winner, []).append(lives[fact_id])
    return [
        MergeFacts(
            winner_id=winner,
            loser_ids=[loser.id for loser in losers],
            evidence_counts=[life.evidence_count for life in (lives[winner], *losers)],
            rule="stated_already",
            detail="its owner states it in the same words",
        )
        for winner, losers in parts.items()
    ]


def _saying(
    row: EvidenceRow, subject: str, stated: Sequence[EvidenceRow], lives: Mapping[int, Life]
) -> int | None:
    """Return the statement that says what stands there of an entity.

    It has most of the words, or it is the only one that is made of them and names the entity.
    """
    shared = {
        other.fact_id: min(row.end, other.end) - max(row.start, other.start)
        for other in stated
        if other.start < row.end and row.start < other.end
    }
    if not shared:
        return None
    best = max(shared, key=lambda fact_id: (shared[fact_id], -fact_id))
    named = set(words(subject)).issubset(words(lives[best].statement.casefold()))
    mostly = 2 * shared[best] > row.end - row.start
    return best if mostly or (len(shared) == 1 and named) else None


def _candidate(claim: WorldClaim, says: str = "") -> Candidate:
    """Return a claim as a candidate; `says` is the fact in other words that it is evidence for."""
    content = says or claim.content
    return Candidate(
        subject=claim.entity,
        predicate=ABOUT,
        object=content,
        statement=statement_of(claim.entity, content),
        confidence=claim.confidence,
        rule=claim.rule,
        method="A sentence that says something of a known entity",
        start=claim.start,
        end=claim.end,
        kind=FactKind.WORLD,
        embed=True,
    )


def refusal(episode: StoredEpisode, what: str, reason: str, detail: str) -> RejectCandidate:
    """Return the op that keeps what was not let in, with the reason."""
    text = what or episode.text[:1]
    at = max(0, episode.text.find(text))
    candidate = Candidate(
        subject=episode.owner,
        predicate=ABOUT,
        object=text,
        statement=text,
        confidence=policy.EXTERNAL_FACT,
        rule=f"world_{reason}",
        method="What was not let in about the world",
        start=at,
        end=min(len(episode.text), at + len(text)),
        kind=FactKind.WORLD,
        trust=episode.trust,
    )
    return refused(candidate, episode, reason, detail)


def announcements(
    context: Context, log: SearchLog, interests: Callable[[str], Mapping[int, float]]
) -> list[Op]:
    """Let what a search brought be told, as far as the mode of each entity finds it worth it.

    What is new is what its pieces stored and what holds still. `interests` gives an owner's
    interest by entity id.
    """
    store = context.store
    notify_on = context.notify_on
    if notify_on is None:
        notify_on = load_notify_config(os.environ, config_path(os.environ)).on
    if log.trigger not in notify_on:
        return []
    brought: dict[str, list[tuple[Fact, float | None]]] = {}
    for fact, cosine in untold_finds(store, log.id):
        brought.setdefault(fact.subject, []).append((fact, cosine))
    scores = interests(log.owner) if brought else {}
    ops: list[Op] = []
    for name, new in brought.items():
        known = entity_named(store, log.owner, name)
        if known is None:
            continue
        heads = store.heads([fact.episode_id for fact, _ in new])
        details = [heads[fact.episode_id].attributes for fact, _ in new]
        finds = [
            Find(fact=fact, nearest=cosine, published_at=_published(detail))
            for (fact, cosine), detail in zip(new, details, strict=True)
        ]
        mode = mode_of(max(0, known.fact_count - len(new)), scores.get(known.id, 0.0))
        worth = worth_telling(mode, finds, briefed_at=told_at(store, known.id))
        if worth:
            ops.append(
                Announce(
                    owner=log.owner,
                    entity=name,
                    image=next((detail["image"] for detail in details if detail.get("image")), ""),
                    search_id=log.id,
                    fact_ids=[fact.id for fact in worth],
                )
            )
    return ops


def _published(details: Mapping[str, str]) -> Millis | None:
    """Return when a page was published, where that is known."""
    at = details.get("published_at", "")
    return int(at) if at.isascii() and at.isdigit() else None
