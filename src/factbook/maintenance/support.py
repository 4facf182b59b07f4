"""Find the episodes that speak for a fact, or against it.

An episode that is close to a fact (cosine of 0.75 or more) supports it, once, unless it says the
opposite, another value, or was not independent: what we injected ourselves, and what an assistant
says, who has it from the owner or from us. A tool that was shown the fact is no witness either.
Copies of a text that counts already are left out by `apply`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial

from factbook import policy
from factbook.embed.halves import unpacked
from factbook.extract.sentences import Sentence, split, tells, words
from factbook.gate.judge import JudgedClaim, Relation, TextReading, judge
from factbook.maintenance.circles import each
from factbook.maintenance.join import cross_pairs
from factbook.model.facts import EVERYONE, MERGED_KINDS, Role, StoredEpisode, Trust
from factbook.model.ops import DoubtFact, MarkProgress, Op, SupportFact
from factbook.store.derived import ledger
from factbook.store.derived.ledger import stances
from factbook.store.kinds import INJECTION
from factbook.store.port import Store, marked
from factbook.store.rows import Life, LifeWhere


def support_ops(store: Store, *, reading: Callable[[str], TextReading]) -> list[Op]:
    """Return the evidence that episodes since the last time give to facts, the oldest first."""
    mark = marked(store, "support")
    fresh = store.changed("vector:episode", mark)
    if not fresh.came:
        return []
    done = MarkProgress(name="support", at=fresh.last)
    lives = {life.id: life for life in store.lives(LifeWhere(kinds=MERGED_KINDS, current=True))}
    facts = unpacked(*store.vectors("fact", list(lives)))
    if not facts.ids:
        return [done]
    episodes = unpacked(*store.vectors("episode", fresh.came))
    pairs = cross_pairs(facts.rows, episodes.rows, threshold=policy.EVIDENCE_SIMILARITY)
    near: dict[int, list[tuple[int, float]]] = {}
    for left, right, cosine in each(pairs):
        near.setdefault(episodes.ids[right], []).append((facts.ids[left], cosine))
    texts = store.episodes_by_id(sorted(near))
    asked = {fact_id for ids in near.values() for fact_id, _ in ids}
    known = {fact: set(said) for fact, said in stances(store, asked).items()}
    shown_in = cache(partial(_shown_in, store))
    # What is a fact itself is judged against the other facts; doubting too would count it twice.
    stating = ledger.stating(store, sorted(near))
    ops: list[Op] = []
    for episode in sorted(texts.values(), key=lambda text: (text.occurred_at or 0, text.id)):
        if episode.injected or episode.role is Role.ASSISTANT:
            continue  # what an assistant says of its owner, it has from the owner or from us
        for fact_id, cosine in sorted(near[episode.id]):
            life = lives[fact_id]
            if life.owner != episode.owner or episode.id in known[fact_id]:
                continue
            if _was_shown(shown_in, episode, fact_id, known[fact_id]):
                continue
            op = _op(life, episode, cosine, reading)
            if isinstance(op, DoubtFact) and episode.id in stating:
                continue
            if op is not None:
                known[fact_id].add(episode.id)
                ops.append(op)
    return [*ops, done]


def _op(
    life: Life, episode: StoredEpisode, cosine: float, reading: Callable[[str], TextReading]
) -> SupportFact | DoubtFact | None:
    sentence = best_sentence(episode.text, life.statement)
    if sentence is None or (episode.role is Role.USER and not tells(sentence.text)):
        return None
    judgement = judge(
        JudgedClaim(text=life.statement, kind=life.kind, occurred_at=life.occurred_at),
        JudgedClaim(text=sentence.text, occurred_at=episode.occurred_at),
        similarity=cosine,
        older_reading=reading(life.statement),
        newer_reading=reading(sentence.text),
    )
    if judgement.relation is Relation.SAME:
        return SupportFact(
            fact_id=life.id,
            episode_id=episode.id,
            quote=sentence.text,
            start=sentence.start,
            end=sentence.end,
            rule="supporting_episode",
            method="An episode that says the same (cosine of 0.75 or more)",
            trust=episode.trust,
        )
    against = judgement.relation in (Relation.CONTRADICTION, Relation.SUPERSEDES)
    later = (episode.occurred_at or 0) >= (life.occurred_at or 0)
    if against and later and episode.trust is Trust.DIRECT and not life.pinned:
        return DoubtFact(
            fact_id=life.id,
            episode_id=episode.id,
            quote=sentence.text,
            start=sentence.start,
            end=sentence.end,
            rule=f"opposing_episode:{judgement.rule}",
            method="An episode of the owner that says otherwise",
        )
    return None


def best_sentence(text: str, statement: str) -> Sentence | None:
    """Return the sentence of a text that shares most words with a statement."""
    wanted = set(words(statement))

    def shared(sentence: Sentence) -> float:
        held = set(words(sentence.text))
        return len(wanted & held) / len(wanted | held) if wanted | held else 0.0

    return max(split(text), key=shared, default=None)


def _shown_in(store: Store, session: str) -> list[Sequence[str]]:
    """Return what was put before the assistant in a session."""
    shown = store.find(INJECTION, {"owner": EVERYONE, "session": session})
    return [injection.items for injection in shown]


def _was_shown(
    shown_in: Callable[[str], list[Sequence[str]]],
    episode: StoredEpisode,
    fact_id: int,
    behind: Iterable[int],
) -> bool:
    """Tell whether it was said where the fact had been shown, or what is behind it."""
    if episode.role is Role.USER or not episode.session:
        return False
    told = {f"f{fact_id}", *(f"e{episode_id}" for episode_id in behind)}
    return any(not told.isdisjoint(items) for items in shown_in(episode.session))
