"""4 apply: the only writer. Ops go in, one transaction is written, a truthful Receipt comes out.

Ops of one call are applied in the order sources, episodes, facts, refusals, cursors, so that what
an Op refers to may stand anywhere in the same call. All of them are written, or none.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from factbook import policy
from factbook.apply.copies import said_once
from factbook.apply.facts import CHANGING, Changes
from factbook.apply.graph import is_of_graph, new_in_graph
from factbook.apply.tombstones import Tombstones, any_tombstones, sifted
from factbook.apply.turns import embed_again, turns_that_went_on
from factbook.apply.voices import Voices
from factbook.errors import NotAllowed, NotFound, UsageError
from factbook.model.confidence import better_trust, worse_trust
from factbook.model.facts import (
    EVERYONE,
    Episode,
    Event,
    Everyone,
    FactKind,
    LineCount,
    Millis,
    Receipt,
    Source,
    SourceState,
    Stance,
    Status,
    Trigger,
    Trust,
)
from factbook.model.interest_ops import (
    AddAlias,
    ClaimNotice,
    CreateEntity,
    FailResult,
    FailSearch,
    Fence,
    FinishNotice,
    KeepSeen,
    MarkDiscovered,
    MarkExtracted,
    MarkHeard,
    MarkResultRead,
    NoteAction,
    QueueSearch,
)
from factbook.model.ops import (
    EMBEDDED,
    AdvanceCursor,
    AssertFact,
    BeginCall,
    Count,
    EndCall,
    FailTask,
    FinishRun,
    FinishTask,
    KeepLoose,
    KeepTold,
    MarkProgress,
    NoteReaders,
    Op,
    QueueTask,
    RecordEpisode,
    RecordInjection,
    RecordSource,
    RecordUse,
    RejectCandidate,
    RejectLine,
    Restore,
    RetryTasks,
    StartRun,
    StoreVectors,
    SupportFact,
)
from factbook.model.text import stands_at
from factbook.store.derived.facts import current_by_claim, lives_by_id, merged_into
from factbook.store.kinds import EMBED_TASK, ERASURE, EVENT, REJECTION, Refusal
from factbook.store.leases import end_claims, held_rows
from factbook.store.port import Store, Writer
from factbook.store.rows import EpisodeHead, EvidenceRow, Life, Wiped, claim_digest, latest
from factbook.store.screened import Screen, unscreened

# By their own names: to look a member up in its Enum takes as long as to make a small row.
_ACTIVE, _PENDING_EMBED, _PROPOSED = Status.ACTIVE, Status.PENDING_EMBED, Status.PROPOSED
_DIRECT = Trust.DIRECT
_SUPPORTS, _WORLD, _GRAPH = Stance.SUPPORTS, FactKind.WORLD, FactKind.GRAPH

_BESIDE_MEMORY = frozenset(
    {StoreVectors, RecordInjection, RecordUse, Count, StartRun, FinishRun, MarkProgress, KeepLoose}
    | {QueueTask, FinishTask, FailTask, RetryTasks, BeginCall, EndCall}
    | {NoteAction, QueueSearch, FailSearch, MarkExtracted, MarkHeard, ClaimNotice, FinishNotice}
    | {Fence, KeepSeen, MarkDiscovered, MarkResultRead, FailResult, NoteReaders, KeepTold}
)  # ops after which all that was found still is what it was

# Ops that are of the owners of the episodes and facts that stand beside them.
_OF_SOMEBODY = frozenset(
    {RecordEpisode, AssertFact, RecordSource, AdvanceCursor, RejectCandidate, RejectLine}
)


def _owners(ops: Mapping[type[Op], Sequence[Any]]) -> Collection[str] | Everyone:
    """Return of whom Ops, by their types, may change what is remembered."""
    moving = ops.keys() - _BESIDE_MEMORY
    if not moving <= _OF_SOMEBODY:
        return EVERYONE
    owners = {op.episode.owner for op in ops[RecordEpisode]}
    owners.update([op.owner for op in ops[AssertFact]])
    return owners if owners or not moving else EVERYONE


def apply(
    store: Store,
    ops: Sequence[Op],
    *,
    trigger: Trigger,
    actor: str,
    now: Millis,
    run_id: int | None = None,
    screen: Screen = unscreened,
    readers: Callable[[], Mapping[str, str]] = dict,
    told: Callable[[], Sequence[tuple[bytes, int, str]]] = tuple,
    on_wiped: Callable[[Wiped], None] | None = None,
) -> Receipt:
    """Write all of the ops in one transaction and return what the database changed.

    Every text of every Op goes through `screen` first. `run_id` names the consolidation that the
    changes belong to, so that it can be undone. `readers` says with what texts are read, by part,
    as it is remembered; `told` gives the secrets that were told since they were kept last.
    `on_wiped` is called with what was erased, once a file is clean of it.

    Raises NotAllowed for an op that the trigger may not emit, NotFound for a reference to a source
    or an episode that does not exist; nothing is written then.
    """
    allowed = policy.MAY_EMIT[trigger]
    if screen is not unscreened:
        ops = [screen(op) for op in ops]
    if ops and (secrets := told()):
        ops = [*ops, KeepTold(secrets=secrets)]
    sorted_ops = _sorted(ops)
    if RecordEpisode in sorted_ops and (used := readers()):
        noted = NoteReaders(readers=used)
        ops = [*ops, noted]
        sorted_ops[NoteReaders].append(noted)
    for kind in sorted_ops:
        if kind.__name__ not in allowed:
            raise NotAllowed(trigger=trigger, op=kind.__name__)
    receipt = Receipt()
    if not ops:
        return receipt
    touches = _owners(sorted_ops)
    if touches and any_tombstones(store):
        touches = EVERYONE  # an owner who was erased is not named again by what is kept out
    voices = Voices(store, sorted_ops[RecordEpisode], sorted_ops[RecordSource])
    with store.writing(now=now, touches=touches) as writer:
        holed, offered = frozenset[str](), ops
        if any_tombstones(writer):
            ops, holed = sifted(writer, receipt, ops)
            sorted_ops = _sorted(ops)
        if any(map(is_of_graph, sorted_ops[AssertFact])):
            ops = new_in_graph(writer, ops, offered=offered)
        ops = said_once(writer, receipt, ops)
        if ops is not offered:
            sorted_ops = _sorted(ops)
        changes = Changes(writer, receipt, now=now, trigger=trigger, actor=actor, run_id=run_id)
        run = _Run(writer, receipt, changes, now=now, trigger=trigger, holed=holed, voices=voices)
        run.sources(sorted_ops[RecordSource])
        run.episodes([op.episode for op in sorted_ops[RecordEpisode]])
        for op in sorted_ops[CreateEntity]:
            changes.world.create(op)
        for op in sorted_ops[AddAlias]:
            changes.world.add_alias(op)
        run.facts(sorted_ops[AssertFact])
        run.rejections(sorted_ops[RejectCandidate], sorted_ops[RejectLine])
        run.cursors(sorted_ops[AdvanceCursor])
        run.readers(sorted_ops[NoteReaders], sorted_ops[RecordEpisode])
        for op in sorted_ops[KeepTold]:
            changes.keep_told(op)
        run.vectors(sorted_ops[StoreVectors])
        run.may_support(sorted_ops[SupportFact])
        if any(map(sorted_ops.get, CHANGING)):
            changes.run(op for op in ops if type(op) in CHANGING)
        for restoring in sorted_ops[Restore]:
            from factbook.apply.restoring import restore

            restore(changes, restoring)
        writer.add(EVENT, [*run.events, *changes.events])
        if changes.wiped is not None and store.files is None:  # there are no bytes to look through
            acts = writer.find(ERASURE, {"id": changes.wiped.erasures})
            writer.put(ERASURE, [act._replace(clean=True) for act in acts])
    if changes.wiped is not None:
        if store.files is not None:
            changes.wiped.file = store.files.scour(changes.wiped)
        if on_wiped is not None:
            on_wiped(changes.wiped)
    return receipt


def _sorted(ops: Sequence[Op]) -> dict[type[Op], list[Any]]:
    """Return Ops by their types, in their order; none of a type that is not there."""
    sorted_ops: dict[type[Op], list[Any]] = defaultdict(list)
    for op in ops:
        sorted_ops[type(op)].append(op)
    return sorted_ops


@dataclass(slots=True)
class _Claim:
    """Everything that one call asserts of one claim."""

    first: AssertFact
    confidence: float
    trust: Trust
    evidence: dict[int, AssertFact]  # episode id -> surest assertion

    def join(self, episode: int, op: AssertFact) -> None:
        """Add an assertion of the same claim."""
        if self.first.proposed and not op.proposed:
            self.first = op
        self.confidence = max(self.confidence, op.confidence)
        self.trust = better_trust(self.trust, op.trust)
        before = self.evidence.get(episode)
        if before is None or before.confidence < op.confidence:
            self.evidence[episode] = op


class _Run:
    """The state of one call of `apply`."""

    def __init__(
        self,
        writer: Writer,
        receipt: Receipt,
        changes: Changes,
        *,
        now: Millis,
        trigger: Trigger,
        holed: frozenset[str],
        voices: Voices,
    ) -> None:
        self._writer = writer
        self._voices = voices
        self._receipt = receipt
        self._changes = changes
        self._holed = holed  # uids of episodes that something was erased from
        self._now = now
        self._trigger = trigger
        self._source_ids: dict[str, int] = {}
        self._episode_ids: dict[str, int] = {}
        self._texts: dict[int, str] = {}  # of the episodes that facts point to
        # Where and when the same episodes stand: those that this call adds, and what is read.
        self._places: dict[int, Episode | EpisodeHead] = {}
        self._refused: list[RejectCandidate] = []  # claims that are not let in here
        self._retold: dict[str, list[int]] = {}  # uid -> other episodes whose records carry it too
        self.events: list[Event] = []

    def sources(self, ops: Sequence[RecordSource]) -> None:
        latest = {op.source.key: op.source for op in ops}
        for state in self._writer.sources(keys=list(latest)):
            self._source_ids[state.source.key] = state.id
            merged = _merge_source(state.source, latest[state.source.key])
            if merged != state.source:
                self._writer.put_sources([replace(state, source=merged)])
                self._event("update", "source", state.id)
        new = [source for key, source in latest.items() if key not in self._source_ids]
        ids = self._writer.put_sources([SourceState(source=source) for source in new])
        for source, source_id in zip(new, ids, strict=True):
            self._source_ids[source.key] = source_id
            self._receipt.sources += 1
            self._event("store", "source", source_id)

    def readers(self, ops: Sequence[NoteReaders], read: Sequence[RecordEpisode]) -> None:
        """Remember with what sources were read, those of these episodes where none are named."""
        for op in ops:
            sources = {self._source_id(source) for source in {op.episode.source for op in read}}
            self._changes.note_readers(op, sorted(op.sources or sources))

    def _source_id(self, key: str) -> int:
        id_ = self._source_ids.get(key)
        if id_ is None:
            id_ = self._source_ids[key] = self._source(key).id
        return id_

    def _source(self, key: str) -> SourceState:
        for source in self._writer.sources(keys=[key]):
            return source
        raise NotFound(what="source", name=key, hint="record it in the same call.")

    def episodes(self, episodes: Sequence[Episode]) -> None:
        if not episodes:
            return
        known = self._writer.episode_ids(list({episode.uid for episode in episodes}))
        self._episode_ids.update(known)
        self._texts.update(self._writer.texts("episode", list(known.values())))
        kept: dict[str, Episode] = {}
        retold: dict[str, tuple[str, Episode]] = {}
        for episode in episodes:
            uid = episode.uid
            if uid not in known and uid not in kept:
                kept[uid] = episode
                continue
            stored = kept[uid].text if uid in kept else self._texts[known[uid]]
            completed = episode.text.startswith(stored)
            if stored != episode.text and (completed or episode.kind in policy.RETOLD_KINDS):
                # Another record with the same id: a copy would say the same, and one that was
                # written again when it was whole says more.
                other = f"{uid}#{_digest(episode.text).hex()[:8]}"
                retold[other] = (uid, replace(episode, uid=other))
        known_retold = self._writer.episode_ids(list(retold))
        kept.update({uid: later for uid, (_, later) in retold.items() if uid not in known_retold})
        self._add_episodes(list(kept.values()))
        self._episode_ids.update(known_retold)
        self._texts.update(self._writer.texts("episode", list(known_retold.values())))
        for uid, (original, _) in retold.items():
            self._retold.setdefault(original, []).append(self._episode_ids[uid])
        self._receipt.episodes_unchanged += len(episodes) - len(kept)

    def _add_episodes(self, episodes: Sequence[Episode]) -> None:
        hosts = {key: self._source(key).source.host for key in {new.source for new in episodes}}
        new = [
            (self._source_id(episode.source), self._voices.of(episode, hosts[episode.source]))
            for episode in episodes
        ]
        ids = self._writer.add_episodes(new)
        for episode_id, (_, episode) in zip(ids, new, strict=True):
            self._episode_ids[episode.uid] = episode_id
            self._texts[episode_id] = episode.text
            self._places[episode_id] = episode
        self._receipt.episodes += len(ids)
        embed_again(self._writer, turns_that_went_on(new, ids))
        # Episodes are immutable and dated, so the history needs a line per step only.
        for source_id, count in Counter(source_id for source_id, _ in new).items():
            self._event("add_episodes", "source", source_id, {"episodes": count})

    def facts(self, ops: Sequence[AssertFact]) -> None:
        if not ops:
            return
        self._find_episodes({op.episode for op in ops})
        ops = [self._as_heard(op) if op.trust is _DIRECT else op for op in ops]
        if any(op.candidate.kind is _WORLD for op in ops) or (self._trigger in policy.MAY_ASSERT):
            ops = self._about_known(ops)
        claims = self._claims(ops)
        states = current_by_claim(self._writer, claims)
        claims = self._grow_known(claims, states)
        met = [(states[digest], claim) for digest, claim in claims.items() if digest in states]
        new = [(digest, claim) for digest, claim in claims.items() if digest not in states]
        evidence = [*self._grow(met), *self._add(new)]
        self._receipt.evidence += self._writer.add_evidence(evidence)

    def _grow(self, met: Sequence[tuple[Life, _Claim]]) -> list[EvidenceRow]:
        """Let known facts grow by what is asserted of them again; return the new evidence."""
        pairs = [(life.id, episode) for life, claim in met for episode in claim.evidence]
        asked = [pair for pair in pairs if not isinstance(self._places.get(pair[1]), Episode)]
        known = {row[:2] for row in self._writer.evidence(pairs=asked)}
        places = self._find_places({pair[1] for pair in asked if pair not in known})
        evidence: list[EvidenceRow] = []
        changed: list[tuple[Life, Life]] = []
        for life, claim in met:
            rows = [
                _evidence(life.id, episode, op)
                for episode, op in claim.evidence.items()
                if (life.id, episode) not in known
            ]
            if not rows:
                self._receipt.unchanged += 1
                continue
            times = [places[row.episode_id].occurred_at for row in rows]
            after = _grown(life, claim, times, self._now)
            changed.append((life, after))
            evidence += rows
            self._event("update", "fact", life.id, _difference(life, after))
        self._writer.put_facts(changed)
        self._receipt.updated += len(changed)
        return evidence

    def _add(self, new: Sequence[tuple[bytes, _Claim]]) -> list[EvidenceRow]:
        """Add facts that nobody has asserted so far; return their evidence."""
        places = self._find_places({episode for _, claim in new for episode in claim.evidence})
        facts = [
            _new_fact(digest, claim, places, self._now, self._sure_at(claim, places))
            for digest, claim in new
        ]
        ids = self._writer.add_facts(facts)
        evidence: list[EvidenceRow] = []
        for fact_id, fact, (_, claim) in zip(ids, facts, new, strict=True):
            evidence += [_evidence(fact_id, *asserted) for asserted in claim.evidence.items()]
            detail: dict[str, object] = {"confidence": fact.confidence}
            if claim.first.factors:
                detail["factors"] = claim.first.factors
            if fact.status is Status.PROPOSED:
                detail["status"] = fact.status
            self._event("store", "fact", fact_id, detail)
            if fact.kind is _WORLD:
                self._changes.world.stored(fact.owner, fact.subject, fact.object, fact_id)
            elif fact.kind is _GRAPH:
                self._receipt.graph.append(fact.claim.hex())
        self._receipt.stored += len(ids)
        self._receipt.proposed += sum(fact.status is _PROPOSED for fact in facts)
        return evidence

    def may_support(self, ops: Sequence[SupportFact]) -> None:
        """Raise NotAllowed for support of a fact of a kind that the trigger may not touch."""
        allowed = policy.MAY_SUPPORT.get(self._trigger)
        if not ops or allowed is None:
            return
        for life in lives_by_id(self._writer, [op.fact_id for op in ops]).values():
            if life.kind not in allowed:
                raise NotAllowed(trigger=self._trigger, op=f"SupportFact of a {life.kind} fact")

    def _as_heard(self, op: AssertFact) -> AssertFact:
        """Return what a log says is its owner's own, no surer than the words that it stands on.

        What was observed of a message (a path that it names) is true whoever wrote it.
        """
        fact = op.candidate
        if fact.kind is FactKind.OBSERVATION:
            return op
        trust = self._changes.heard(self._episode_ids[op.episode], fact.start, fact.end)
        if trust is Trust.DIRECT:
            return op
        return replace(op, trust=trust, confidence=min(op.confidence, policy.TRUST_CAP[trust]))

    def _about_known(self, ops: Sequence[AssertFact]) -> list[AssertFact]:
        """Return what may be asserted: of the world, only what is about a known entity.

        What an episode says of the world is as trusted as the episode, whoever says otherwise.
        Raises NotAllowed for a kind of fact that the trigger may not assert.
        """
        allowed = policy.MAY_ASSERT.get(self._trigger)
        ids = [self._episode_ids[op.episode] for op in ops]
        witnesses = self._writer.heads(set(ids))
        kept: list[AssertFact] = []
        for op, episode_id in zip(ops, ids, strict=True):
            fact = op.candidate
            if allowed is not None and fact.kind not in allowed:
                raise NotAllowed(trigger=self._trigger, op=f"AssertFact of a {fact.kind} fact")
            if fact.kind is not FactKind.WORLD:
                kept.append(op)
                continue
            witness = witnesses[episode_id]
            known = self._changes.world.knows(op.owner, fact.subject)
            if not known or witness.owner != op.owner or witness.injected:
                self._refused.append(
                    RejectCandidate(
                        candidate=fact,
                        episode=op.episode,
                        owner=op.owner,
                        reason="injected" if witness.injected else "unknown_entity",
                        detail="" if known else f"{fact.subject!r} is no entity of {op.owner}",
                    )
                )
                continue
            trust = worse_trust(op.trust, witness.trust)
            bound = min(op.confidence, policy.TRUST_CAP[trust])
            kept.append(replace(op, trust=trust, confidence=bound))
        return kept

    def _grow_known(
        self, claims: dict[bytes, _Claim], states: Mapping[bytes, Life]
    ) -> dict[bytes, _Claim]:
        """Let known facts of kinds that grow do so, and return the claims that are left.

        A claim that was merged into another fact is evidence for that one.
        """
        growing = {
            digest: claim
            for digest, claim in claims.items()
            if claim.first.candidate.kind in policy.GROWING_KINDS
        }
        if not growing:
            return claims
        targets = {digest: states[digest].id for digest in growing if digest in states}
        targets.update(merged_into(self._writer, [key for key in growing if key not in targets]))
        places = self._find_places(
            {episode for digest in targets for episode in growing[digest].evidence}
        )
        self._changes.run(
            SupportFact(
                fact_id=fact_id,
                episode_id=episode,
                quote=op.quote,
                start=op.candidate.start,
                end=op.candidate.end,
                rule=op.candidate.rule,
                method=op.candidate.method,
                trust=op.trust,
                confidence=op.confidence,
            )
            for digest, fact_id in targets.items()
            for episode, op in sorted(
                growing[digest].evidence.items(), key=lambda item: places[item[0]].occurred_at or 0
            )
        )
        return {digest: claim for digest, claim in claims.items() if digest not in targets}

    def _find_episodes(self, uids: set[str]) -> None:
        missing = [uid for uid in uids if uid not in self._episode_ids]
        self._episode_ids.update(self._writer.episode_ids(missing))
        for uid in missing:
            if uid not in self._episode_ids:
                raise NotFound(what="episode", name=uid, hint="record it in the same call.")

    def _find_places(self, ids: set[int]) -> Mapping[int, Episode | EpisodeHead]:
        self._places.update(self._writer.heads(ids - self._places.keys()))
        return self._places

    def _claims(self, ops: Sequence[AssertFact]) -> dict[bytes, _Claim]:
        """Group the assertions by claim; those whose quote does not stand are refused and counted.

        No span, no fact: a record that carries a known id and other words is not the episode that
        is stored.
        """
        episode_ids, texts = self._episode_ids, self._texts
        known = {episode_ids[op.episode] for op in ops} - texts.keys()
        texts.update(self._writer.texts("episode", sorted(known)))
        claims: dict[bytes, _Claim] = {}
        for op in ops:
            fact = op.candidate
            if not 0.0 <= op.confidence <= 1.0:  # also refuses NaN
                raise UsageError(
                    detail=f"the confidence {op.confidence} of {fact.predicate} is not"
                    " between 0 and 1"
                )
            episode = episode_ids[op.episode]
            if not stands_at(op.quote, texts[episode], fact.start, fact.end):
                retelling = self._retelling(op)
                if retelling is None and op.episode in self._holed:
                    self._receipt.kept_out += 1  # a refusal would keep the words after all
                    continue
                if retelling is None:
                    refused = RejectCandidate(
                        candidate=fact, episode=op.episode, owner=op.owner, reason="not_quoted"
                    )
                    self._refused.append(refused)
                    continue
                episode = retelling
            digest = claim_digest(op.owner, fact.subject, fact.predicate, fact.object)
            claim = claims.get(digest)
            if claim is None:
                claims[digest] = _Claim(op, op.confidence, op.trust, {episode: op})
            else:
                claim.join(episode, op)
        return claims

    def _retelling(self, op: AssertFact) -> int | None:
        """Return the record with the same id in which the quote does stand, if there is one."""
        fact = op.candidate
        for episode in self._retold.get(op.episode, ()):
            if stands_at(op.quote, self._texts[episode], fact.start, fact.end):
                return episode
        return None

    def rejections(
        self, candidates: Sequence[RejectCandidate], lines: Sequence[RejectLine]
    ) -> None:
        candidates = [*candidates, *self._refused]
        if not candidates and not lines:
            return
        self._find_episodes({op.episode for op in candidates})
        ids = [self._episode_ids[op.episode] for op in candidates]
        places = self._find_places(set(ids))
        rows = [
            Refusal(
                id=0,
                claim=_digest("candidate", op.episode, op.candidate.rule, op.candidate.object),
                at=self._now,
                source_id=self._source_of(places[episode_id]),
                episode_id=episode_id,
                position=places[episode_id].position,
                byte_offset=places[episode_id].offset,
                reason=op.reason,
                detail=op.detail,
                # A memory is kept whole, of other things a start.
                excerpt=op.candidate.object[
                    : policy.VALUE_CHARS if op.type else policy.EXCERPT_CHARS
                ],
                rule=op.candidate.rule,
                predicate=op.candidate.predicate,
                owner=op.owner,
                type=op.type,
                confidence=op.confidence,
                threshold=op.threshold,
                validation=op.validation or {},
            )
            for op, episode_id in zip(candidates, ids, strict=True)
        ]
        rows += [
            Refusal(
                id=0,
                at=self._now,
                claim=_digest("line", op.source, str(op.line.offset), op.line.excerpt),
                source_id=self._source_id(op.source),
                episode_id=None,
                position=op.line.position,
                byte_offset=op.line.offset,
                reason=op.line.reason,
                detail=op.line.detail,
                excerpt=op.line.excerpt,
                owner=op.owner,
            )
            for op in lines
        ]
        rows = self._not_erased(rows)
        counts = self._receipt.rejections
        for row, inserted in zip(rows, self._writer.add(REJECTION, rows), strict=True):
            if inserted is not None:
                self._receipt.rejected += 1
                counts[row.reason] = counts.get(row.reason, 0) + 1

    def _sure_at(self, claim: _Claim, places: Mapping[int, Episode | EpisodeHead]) -> Millis:
        """Return the moment that the confidence of a new fact is of: what fades does from then."""
        if claim.first.candidate.kind in policy.LASTING_KINDS:
            return self._now
        said = [places[episode] for episode in claim.evidence]
        times = [
            self._changes.silent_from(self._source_of(place), place.occurred_at)
            for place in said
            if place.occurred_at is not None
        ]
        return max(times, default=self._now)

    def _source_of(self, place: Episode | EpisodeHead) -> int:
        return self._source_id(place.source) if isinstance(place, Episode) else place.source_id

    def _not_erased(self, rows: list[Refusal]) -> list[Refusal]:
        """Return the refusals that were not erased from the log."""
        if not any_tombstones(self._writer):
            return rows
        tombstones = Tombstones(self._writer)
        marks = [tombstones.mark("refusal", row.claim.hex()) for row in rows]
        erased = tombstones.met(marks)
        kept = [row for row, mark in zip(rows, marks, strict=True) if mark not in erased]
        self._receipt.kept_out += len(rows) - len(kept)
        return kept

    def cursors(self, ops: Sequence[AdvanceCursor]) -> None:
        latest: dict[str, SourceState] = {}
        for op in ops:
            state = latest.get(op.source) or self._source(op.source)
            latest[op.source] = state
            if not op.restart and op.began is not None and op.began != state.cursor.offset:
                continue  # another run has read on from there meanwhile: its lines are counted
            total = LineCount()
            if not op.restart:  # what waited is in the new count, if still
                total.add(replace(state.lines, waiting=0))
            total.add(op.lines)
            latest[op.source] = replace(state, cursor=op.cursor, lines=total)
        self._writer.put_sources(list(latest.values()))

    def vectors(self, ops: Sequence[StoreVectors]) -> None:
        for op in ops:
            if op.target not in EMBEDDED or len(op.vectors) != 2 * op.dim * len(op.ids):
                raise UsageError(
                    detail=f"{len(op.ids)} vectors of {op.dim} half-precision numbers for"
                    f" {op.target} are {2 * op.dim * len(op.ids)} bytes, not {len(op.vectors)}"
                )
            ids, vectors = op.ids, op.vectors
            if op.token is not None:
                # Another worker may have taken over rows whose lease had ended.
                held = held_rows(self._writer, op.target, op.ids, op.token)
                ids = [id_ for id_ in op.ids if id_ in held]
                width = 2 * op.dim
                vectors = b"".join(
                    op.vectors[n * width : (n + 1) * width]
                    for n, id_ in enumerate(op.ids)
                    if id_ in held
                )
            written = self._writer.set_vectors(op.target, ids, vectors, model=op.model, dim=op.dim)
            done = self._writer.drop(EMBED_TASK, {"target": op.target, "row_id": written})
            if done:
                end_claims(self._writer)
            self._receipt.embedded += len(written)
            if op.target == "fact":
                for fact_id in written:
                    self._event("embed", "fact", fact_id)

    def _event(
        self, op: str, kind: str, target: int, detail: dict[str, object] | None = None
    ) -> None:
        self.events.append(self._changes.event_of(op, kind, target, detail))


def _merge_source(known: Source, new: Source) -> Source:
    """Take over what is newly known of a source, and keep what the new reading does not say."""
    names = ("session", "uri", "project", "title", "agent")
    return replace(known, **{name: getattr(new, name) or getattr(known, name) for name in names})


def _new_fact(
    digest: bytes,
    claim: _Claim,
    places: Mapping[int, Episode | EpisodeHead],
    now: Millis,
    sure_at: Millis,
) -> Life:
    fact = claim.first.candidate
    occurred_at = latest([places[episode].occurred_at for episode in claim.evidence])
    status = _PENDING_EMBED if fact.embed else _ACTIVE
    # A second observation confirms; what was overheard is the same words, pasted once more.
    once = len(claim.evidence) == 1 or fact.rule == policy.OVERHEARD
    if once and claim.first.proposed:
        status = _PROPOSED
    # By place: a log makes thousands, and names would double what each costs.
    return Life(
        0,
        claim.first.owner,
        fact.subject,
        fact.predicate,
        fact.object,
        fact.statement,
        fact.kind,
        status,
        claim.confidence,
        sure_at,
        claim.trust,
        len(claim.evidence),
        occurred_at,
        None,
        None,
        None,
        None,
        False,
        fact.embed,
        min(claim.evidence),
        digest,
    )


def _grown(state: Life, claim: _Claim, times: Sequence[Millis | None], now: Millis) -> Life:
    """Return the fact after new evidence: as sure and as trusted as its best evidence."""
    confidence = max(state.confidence, claim.confidence)
    # By place, as `_new_fact`.
    moved = (
        confidence,
        state.confidence_at if confidence == state.confidence else now,
        better_trust(state.trust, claim.trust),
        state.evidence_count + len(times),
        latest([state.occurred_at, *times]),
    )
    return Life._make(state[:8] + moved + state[13:])


def _difference(before: Life, after: Life) -> dict[str, object]:
    changes: dict[str, object] = {"evidence": after.evidence_count - before.evidence_count}
    if after.confidence != before.confidence:
        changes["confidence"] = [before.confidence, after.confidence]
    if after.trust != before.trust:
        changes["trust"] = [before.trust, after.trust]
    return changes


def _evidence(fact_id: int, episode_id: int, op: AssertFact) -> EvidenceRow:
    fact = op.candidate
    quote = op.quote[: policy.QUOTE_CHARS]
    return EvidenceRow(
        fact_id, episode_id, fact.rule, fact.method, _SUPPORTS, quote, fact.start, fact.end
    )


def _digest(*parts: str) -> bytes:
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).digest()
