"""Directives: the way of the rules and decisions that owners give to agents.

    new episodes -> the owner's own words, read once -> marked by the reader | gives up what held
    -> judged against what holds in the same place
    -> Ops: asserted | supported | asserted, and the earlier one superseded or asked about

Read behind a turn, after logs are read, and at night what is left: the next session is to know what
the last one was told. What holds stays until a later one changes it or says that it is over.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.extract.directives import decision_at, directives_in, is_copied, own_reading
from factbook.gate.directives import ends, stand
from factbook.gate.given_up import GivenUp, How, given_up, set_free
from factbook.gate.judge import Judgement, Relation
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading
from factbook.language.reader.relate import RELATER
from factbook.model.directives import PROJECT, scope_of, subject_of
from factbook.model.facts import (
    DIRECTED_IN,
    EVERYONE,
    Candidate,
    EpisodeKind,
    FactKind,
    Role,
    StoredEpisode,
    Trigger,
    Trust,
)
from factbook.model.ops import JudgePair, MarkProgress, NoteReaders, Op, SupersedeFact
from factbook.pipelines.choices import Write, choose, replied_to
from factbook.pipelines.claims import agreed, digest_of, judged, supported
from factbook.store.derived import ledger
from factbook.store.derived.facts import current_by_claim, holds
from factbook.store.derived.readers import DIRECTIVES, PARTS
from factbook.store.port import marked
from factbook.store.rows import Filters, Life, LifeWhere

if TYPE_CHECKING:
    from factbook.context import Context

MARK: Final = PARTS[DIRECTIVES][0]
TURN_RULE: Final = "turn_directive"  # of what a model read off a turn


def read_directives(
    context: Context, *, pages: int | None = None, write: Write | None = None
) -> None:
    """Write the directives of new episodes: of at most so many pages of them, or of all.

    `write` is what writes, where that belongs to a run. Raises ReaderError where the reader cannot
    be loaded.
    """
    write = write or (lambda ops: context.write(ops, Trigger.UPKEEP, now=context.clock()))
    store, hearing = context.store, Hearing(context, write)
    while pages is None or pages > 0:
        page = store.changed("episode", marked(store, MARK), limit=policy.DIRECTIVE_PAGE)
        if not page.came:
            return
        spoken = Filters(
            owner=EVERYONE,
            ids=page.came,
            episode_kinds=(*DIRECTED_IN, EpisodeKind.TOOL_RESULT),  # what a host asked them itself
            roles=[Role.USER, Role.TOOL],
            trusts=[Trust.DIRECT],
        )
        episodes = store.episodes_by_id(store.ids("episode", spoken))
        for _, episode in sorted(episodes.items()):
            hearing.hear(episode)
        readers = noted(context, DIRECTIVES, {episode.source_id for episode in episodes.values()})
        # last: what is read again says the same
        write([*readers, MarkProgress(name=MARK, at=page.last)])
        pages = None if pages is None else pages - 1


def noted(context: Context, part: str, sources: Collection[int]) -> list[Op]:
    """Return what remembers by which reader sources were read; nothing where there are none."""
    readers = {part: context.resources.reader_version}
    return [NoteReaders(readers=readers, sources=sorted(sources))] if sources else []


class _Met(NamedTuple):
    """A directive that holds, and how another one stands to it."""

    life: Life
    judgement: Judgement
    is_earlier: bool  # else it was said after the one that it is judged against


class Hearing:
    """Hears episodes one by one, each against what holds where it was said."""

    def __init__(self, context: Context, write: Write) -> None:
        self._context = context
        self._write = write
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def hear(self, episode: StoredEpisode) -> None:
        """Write what an episode says that holds on, or that something holds no more."""
        reading = own_reading(episode, self._context.resources.reader)
        self.take(*self._read(episode, reading), episode)
        choose(self._context, episode, reading.text if reading else "", self._write)

    def read(self, episode: StoredEpisode) -> tuple[list[Candidate], Sequence[GivenUp]]:
        """Return what an episode says that holds on, and what it gives up."""
        return self._read(episode, own_reading(episode, self._context.resources.reader))

    def _read(
        self, episode: StoredEpisode, reading: Reading | None
    ) -> tuple[list[Candidate], Sequence[GivenUp]]:
        if reading is None:
            return [], []
        given = [*given_up(reading), *set_free(reading)]
        candidates = directives_in(episode, reading, self._context.resources.reader)
        reply = replied_to(self._context, episode) if candidates else None
        if reply is not None:  # what is copied out of it is the agent's
            copied = (is_copied(episode.text, (c.start, c.end), reply.text) for c in candidates)
            candidates = [c for c, is_its in zip(candidates, copied, strict=True) if not is_its]
        for each in given:
            if each.how is How.RETHOUGHT and candidates:
                continue  # these say what is so instead
            if not any(c.start < each.end and each.begin < c.end for c in candidates):
                candidates += self._ending(episode, reading, each)
        return candidates, given

    def take(
        self, candidates: Sequence[Candidate], given: Sequence[GivenUp], episode: StoredEpisode
    ) -> None:
        """Write what was read of an episode."""
        kind = FactKind.DIRECTIVE
        held = ledger.held_spans(self._context.store, [episode.id] * bool(candidates), kind)
        before = [span for span in held.get(episode.id, ()) if span.rule == TURN_RULE]
        for candidate in candidates:
            same = [span for span in before if span.overlaps(candidate.start, candidate.end)]
            if same:  # a model has read the same words: one evidence, and surer
                self._write([agreed(span.fact_id, candidate, episode) for span in same])
            else:
                self.keep(candidate, episode, given)

    def keep(self, candidate: Candidate, episode: StoredEpisode, given: Sequence[GivenUp]) -> None:
        """Write a directive and what it changes; `given` is what its episode gives up."""
        if self._context.redact(candidate.object) == candidate.object:  # else learned since
            inside = [
                g
                for g in given
                if g.how is How.RETHOUGHT or (g.begin < candidate.end and candidate.start < g.end)
            ]
            self._keep(candidate, episode, self._met(candidate, episode, inside))

    def _ending(
        self, episode: StoredEpisode, reading: Reading, given: GivenUp
    ) -> Sequence[Candidate]:
        """Return what says that a directive is over.

        It holds where that one does; where it only does otherwise, in its own project.
        """
        clause = reading.text[given.begin : given.end]
        for life in self._held(episode):
            judgement = ends(read(life.statement), given, clause)
            if judgement is None:
                continue
            sure = judgement.relation is Relation.SUPERSEDES
            if not sure and given.how is How.REPLACED:
                continue
            subject = life.subject if given.named else subject_of(PROJECT, episode.project, "")
            sure = sure or given.named
            place = (given.begin, given.end)
            decision = decision_at(episode, reading, place, subject, sure=sure)
            return [] if decision is None else [decision]
        return []

    def _held(self, episode: StoredEpisode) -> list[Life]:
        """Return the directives that may hold where an episode was said, but for its own."""
        here = subject_of(PROJECT, episode.project, "")
        directives = LifeWhere(owner=episode.owner, kinds=[FactKind.DIRECTIVE], current=True)
        return [
            life
            for life in self._context.store.lives(directives)
            if life.subject == here or scope_of(life.subject)[0] != PROJECT
            if life.episode_id != episode.id and holds(life)
        ]

    def _met(
        self, candidate: Candidate, episode: StoredEpisode, given: Sequence[GivenUp]
    ) -> list[_Met]:
        """Return what a directive says again, changes or may change."""
        claim = digest_of(episode.owner, candidate)
        met = []
        for life in self._held(episode):
            if life.claim == claim:
                continue  # it is that one, said again
            earlier = (life.occurred_at or 0) <= (episode.occurred_at or 0)
            older, newer = life.statement, candidate.statement
            older, newer = (older, newer) if earlier else (newer, older)
            later = read(newer)
            gone = given if earlier else [*given_up(later), *set_free(later)]
            cosine = float(self._vector(older) @ self._vector(newer))
            judgement = stand(read(older), later, given=gone, similarity=cosine, net=RELATER)
            if life.subject != candidate.subject:
                judgement = _across(judgement, gone)
            if candidate.confidence < policy.DIRECTIVE and not gone:
                judgement = _asking(judgement)  # what is only likely changes nothing by itself
            if judgement.relation is not Relation.DIFFERENT:
                met.append(_Met(life, judgement, earlier))
        return met

    def questions(self, life: Life, episode: StoredEpisode) -> list[Op]:
        """Return what asks about the rules of prompts that one of a file speaks against.

        When a line was written nobody knows, so which of the two holds is for their owner to say.
        """
        reading = read(life.statement)
        given = given_up(reading)
        asked = []
        for other in self._held(episode):
            if other.id != life.id and self._is_said(other):
                cosine = float(self._vector(other.statement) @ self._vector(life.statement))
                older = read(other.statement)
                judgement = stand(older, reading, given=given, similarity=cosine, net=RELATER)
                met = _Met(other, _asking(judgement), is_earlier=True)
                if met.judgement.relation is Relation.AMBIGUOUS:
                    asked.append(_follower(life, met))
        return asked

    def _is_said(self, life: Life) -> bool:
        episode = self._context.store.episodes_by_id([life.episode_id]).get(life.episode_id)
        return episode is not None and episode.role is Role.USER

    def _vector(self, text: str) -> NDArray[np.float32]:
        if text not in self._vectors:
            self._vectors[text] = self._context.embedder.embed([text])[0]
        return self._vectors[text]

    def _keep(self, candidate: Candidate, episode: StoredEpisode, met: Sequence[_Met]) -> None:
        """Write a directive, or let it speak for the one that it says again; what it changes."""
        same = [each.life for each in met if each.judgement.relation is Relation.SAME]
        if same:
            self._write([supported(same[0].id, candidate, episode)])
            return
        self._write([judged(candidate, episode)])
        claim = digest_of(episode.owner, candidate)
        kept = current_by_claim(self._context.store, [claim]).get(claim)
        if kept is not None and holds(kept) and met:
            self._write([_follower(kept, each) for each in met])


def _across(judgement: Judgement, given: Sequence[GivenUp]) -> Judgement:
    """Return what a judgement comes to between directives that hold in two places.

    Said in both, each holds in its own; a change in one place may be an exception, so its owner is
    asked, unless they say that the rule is over.
    """
    if judgement.relation is Relation.SUPERSEDES and any(each.named for each in given):
        return judgement
    if judgement.relation is Relation.SAME:
        return replace(judgement, relation=Relation.DIFFERENT)
    return _asking(judgement)


def _asking(judgement: Judgement) -> Judgement:
    """Return a judgement of which nothing follows by itself but a question."""
    if judgement.relation is Relation.SUPERSEDES:
        return replace(judgement, relation=Relation.AMBIGUOUS)
    return judgement


def _follower(kept: Life, met: _Met) -> Op:
    """Return what follows for a directive that another one meets."""
    rule, detail = met.judgement.rule, met.judgement.detail
    if met.judgement.relation is Relation.SUPERSEDES:
        old, new = (met.life, kept) if met.is_earlier else (kept, met.life)
        return SupersedeFact(old_id=old.id, new_id=new.id, rule=rule, detail=detail)
    return unsettled(kept, met.life, rule=rule, detail=detail, similarity=1.0)


def unsettled(one: Life, other: Life, *, rule: str, detail: str, similarity: float) -> JudgePair:
    """Return what lets two facts wait for a verdict."""
    low, high = sorted((one.id, other.id))
    return JudgePair(
        low_id=low,
        high_id=high,
        relation=Relation.AMBIGUOUS.value,
        rule=rule,
        detail=detail,
        similarity=similarity,
    )
