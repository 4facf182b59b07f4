"""4 apply: erase for good, and keep out what was erased. `apply` alone calls it.

Everything else in here keeps what it changes; this takes it out. What an act of erasing takes:

- a fact: its row, what was merged into it or superseded by it, what its key has held; and in the
  episodes that it was read from, the words that it stands on (or, on request, the whole episodes);
- an episode: its text; facts that stand on nothing else go with it, the others lose this evidence;
- a source: all of its episodes; an entity: all that is about it, and its name in what factbook
  itself wrote or fetched; an owner: everything of theirs.

What is gone leaves a tombstone without content, so that the next reading of the same log does not
bring it back. What somebody says anew, later than the erasure, is something new and is let in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from factbook import policy
from factbook.apply.changing import FactChanges
from factbook.apply.tombstones import Tombstones, same_words
from factbook.errors import NotFound, UsageError
from factbook.model.facts import (
    Episode,
    EpisodeKind,
    ErasureAct,
    Millis,
    Receipt,
    Stance,
    Trust,
)
from factbook.model.interest_ops import CreateEntity, RecordSearch
from factbook.model.ops import (
    AdvanceCursor,
    AllowAgain,
    AssertFact,
    ChangeKeys,
    EraseEntity,
    EraseEpisode,
    EraseFact,
    EraseNoted,
    EraseOwner,
    EraseRejection,
    EraseSource,
    Op,
    Propose,
    RecordEpisode,
    RecordSource,
    RejectCandidate,
    RejectLine,
)
from factbook.store.base import Writer
from factbook.store.base_erase import Doomed
from factbook.store.derived.facts import lives_by_id
from factbook.store.derived.ledger import stances
from factbook.store.kinds import (
    ENTITY,
    ERASED,
    ERASURE,
    LEARN_PROMPT,
    PREFERENCE,
    PROPOSAL,
    REJECTION,
    SCHEDULE,
    SEARCH_LOG,
    SEARCH_TASK,
    TOMBSTONE,
    Kind,
)
from factbook.store.port import first, one_id
from factbook.store.rows import EvidenceRow

__all__ = ["Erasing", "sifted"]

_NOTED: Mapping[str, tuple[str, Kind[Any]]] = {  # what was noted -> its part of Doomed, its kind
    "preference": ("preferences", PREFERENCE),
    "learn_prompt": ("prompts", LEARN_PROMPT),
    "schedule": ("schedules", SCHEDULE),
    "search_log": ("searches", SEARCH_LOG),
    "search_task": ("tasks", SEARCH_TASK),
    "proposal": ("proposals", PROPOSAL),
}
_TRUST_RANK = {trust: rank for rank, trust in enumerate(policy.TRUST_ORDER)}


class Erasing:
    """The erasures of one call of `apply`."""

    def __init__(
        self,
        writer: Writer,
        receipt: Receipt,
        facts: FactChanges,
        *,
        now: Millis,
        actor: str,
    ) -> None:
        self._writer = writer
        self._receipt = receipt
        self._facts = facts
        self._now = now
        self._actor = actor

    def run(self, op: Op) -> None:
        """Apply one op."""
        _HANDLERS[type(op)](self, op)

    # --- what is asked for ----------------------------------------------------------------------

    def fact(self, op: EraseFact) -> None:
        """Erase a fact with all that stands behind it."""
        self._there("fact", op.fact_id, "`factbook facts` lists the facts with their ids.")
        facts = self._writer.lineage([self._end(op.fact_id)])
        doomed = Doomed(facts=facts)
        spans = self._writer.evidence(fact_ids=facts)
        if op.whole_episodes:
            doomed.episodes = {span.episode_id for span in spans}
        else:
            doomed.masks = self._said_in(spans, facts)
        self._erase("fact", op.fact_id, doomed)

    def episode(self, op: EraseEpisode) -> None:
        """Erase an episode, and what stands on nothing else."""
        self._there("episode", op.episode_id, "`factbook recall` shows ids.")
        self._erase("episode", op.episode_id, Doomed(episodes={op.episode_id}))

    def source(self, op: EraseSource) -> None:
        """Erase all of a source; what it holds is not read again."""
        self._there("source", op.source_id, "`factbook sessions` lists the sources.")
        self._erase("source", op.source_id, self._writer.part_of_source(op.source_id))

    def rejection(self, op: EraseRejection) -> None:
        """Erase what was refused from the log of refusals."""
        self._there("rejection", op.rejection_id, "`factbook rejections --json` shows their ids.")
        self._erase("rejection", op.rejection_id, Doomed(rejections={op.rejection_id}))

    def entity(self, op: EraseEntity) -> None:
        """Erase an entity and everything about it."""
        self._there("entity", op.entity_id, "`factbook entities` lists them.")
        [entity] = self._writer.find(ENTITY, {"id": op.entity_id})
        while entity.merged_into_id is not None:  # it is known by another name now
            [entity] = self._writer.find(ENTITY, {"id": entity.merged_into_id})
        doomed = self._writer.about_entity(entity.id)
        spoken = self._writer.evidence(fact_ids=doomed.facts)
        for episode, spans in self._said_in(spoken, doomed.facts).items():
            doomed.masks.setdefault(episode, []).extend(spans)
        self._erase("entity", entity.id, doomed)

    def noted(self, op: EraseNoted) -> None:
        """Erase one row of what was noted: a preference, a search, a proposal."""
        if op.target not in _NOTED:
            raise UsageError(detail=f"{op.target!r} is none of {', '.join(_NOTED)}")
        self._there(op.target, op.row_id, "`factbook erase --check TEXT` names rows.")
        doomed = Doomed()
        part, _ = _NOTED[op.target]
        getattr(doomed, part).add(op.row_id)
        self._erase(op.target, op.row_id, doomed)

    def owner(self, op: EraseOwner) -> None:
        """Erase everything of an owner."""
        if not op.owner:
            raise UsageError(detail="an owner has a name; give it")
        doomed = self._writer.belonging_to(op.owner)
        if not doomed.size:
            raise NotFound(what="owner", name=op.owner, hint="nothing is kept about them.")
        self._erase("owner", 0, doomed, owner=op.owner)

    def allow(self, op: AllowAgain) -> None:
        """Let what was erased then be kept again, where it is met again."""
        act = first(self._writer, ERASURE, {"id": op.erasure_id})
        if act is None:
            raise NotFound(
                what="erasure", name=op.erasure_id, hint="`factbook erase --list` shows them."
            )
        self._writer.drop(TOMBSTONE, {"erasure_id": act.id})
        self._writer.put(ERASURE, [act._replace(allowed_at=self._now)])
        self._receipt.updated += 1
        self._facts.event("allow", "erasure", op.erasure_id)

    def _there(self, target: str, row_id: int, hint: str) -> None:
        if first(self._writer, ERASED, {"target": target, "row_id": row_id}):
            raise NotFound(what=target, name=row_id, hint="it was erased.")
        if not self._has(target, row_id):
            raise NotFound(what=target, name=row_id, hint=hint)

    def _has(self, target: str, row_id: int) -> bool:
        match target:
            case "episode":
                return bool(self._writer.heads([row_id]))
            case "fact":
                return bool(lives_by_id(self._writer, [row_id]))
            case "source":
                return bool(self._writer.sources(ids=[row_id]))
            case "entity":
                return first(self._writer, ENTITY, {"id": row_id}) is not None
            case "rejection":
                return first(self._writer, REJECTION, {"id": row_id}) is not None
            case _:
                return first(self._writer, _NOTED[target][1], {"id": row_id}) is not None

    def _end(self, fact_id: int) -> int:
        """Return the fact that a person means by an id: what it was merged into, or itself."""
        life = lives_by_id(self._writer, [fact_id])[fact_id]
        while life.merged_into_id is not None:
            life = lives_by_id(self._writer, [life.merged_into_id])[life.merged_into_id]
        return life.id

    def _said_in(
        self, spans: Sequence[EvidenceRow], facts: set[int]
    ) -> dict[int, list[tuple[int, int]]]:
        """Return what is to be masked in episodes: the words of facts wherever they stand."""
        objects = {
            life.id: life.object for life in lives_by_id(self._writer, sorted(facts)).values()
        }
        texts = self._writer.texts("episode", sorted({span.episode_id for span in spans}))
        masks: dict[int, list[tuple[int, int]]] = {}
        for span in spans:
            mine = masks.setdefault(span.episode_id, [])
            mine.append((span.start, span.end))
            mine += _occurrences(texts[span.episode_id], objects[span.fact_id])
        return {episode: _united(found) for episode, found in masks.items()}

    # --- doing it -------------------------------------------------------------------------------

    def _erase(self, what: str, target: int, doomed: Doomed, *, owner: str = "") -> None:
        size = -1
        while size != doomed.size:  # what goes may leave more behind that cannot stay
            size = doomed.size
            doomed.add(self._writer.beside(doomed))
            doomed.facts |= self._left_alone(doomed)
            doomed.episodes |= self._emptied(doomed)
        for episode in doomed.episodes:
            doomed.masks.pop(episode, None)
        doomed.masks = {one: _united(spans) for one, spans in doomed.masks.items()}
        act = ErasureAct(0, self._now, self._actor, what, {}, clean=False, allowed_at=None)
        erasure = one_id(self._writer.add(ERASURE, [act]))
        Tombstones(self._writer).keep_out(doomed, erasure)
        self._take_evidence(doomed)
        counts = self._writer.wipe(doomed, erasure, owner=owner)
        self._writer.put(ERASURE, [act._replace(id=erasure, counts=counts)])
        for name, count in counts.items():
            self._receipt.erased[name] = self._receipt.erased.get(name, 0) + count
        self._facts.event("erase", what, target, {"erasure": erasure})
        for fact in sorted(doomed.facts - ({target} if what == "fact" else set())):
            self._facts.event("erase", "fact", fact, {"erasure": erasure})

    def _lost(self, doomed: Doomed) -> dict[int, set[int]]:
        """Return the episodes that facts lose as evidence, by fact."""
        lost: dict[int, set[int]] = {}
        for evidence in self._writer.evidence(episode_ids=doomed.episodes):
            lost.setdefault(evidence.fact_id, set()).add(evidence.episode_id)
        for evidence in self._writer.evidence(episode_ids=doomed.masks):
            masked = doomed.masks[evidence.episode_id]
            if any(start < evidence.end and evidence.start < end for start, end in masked):
                lost.setdefault(evidence.fact_id, set()).add(evidence.episode_id)
        return {fact: episodes for fact, episodes in lost.items() if fact not in doomed.facts}

    def _left_alone(self, doomed: Doomed) -> set[int]:
        """Return facts that nothing speaks for once these rows are gone."""
        alone: set[int] = set()
        lost = self._lost(doomed)
        for fact, said in stances(self._writer, sorted(lost)).items():
            if not any(
                stance is Stance.SUPPORTS and episode not in lost[fact]
                for episode, stance in said.items()
            ):
                alone.add(fact)
        # What was merged into such a fact stands on the same episodes, and on no others.
        return alone

    def _emptied(self, doomed: Doomed) -> set[int]:
        """Return episodes of which the masks leave nothing that could be read."""
        empty: set[int] = set()
        for episode, text in self._writer.texts("episode", sorted(doomed.masks)).items():
            left = list(text)
            for start, end in doomed.masks[episode]:
                left[start:end] = " " * (min(end, len(text)) - start)
            if not any(char.isalnum() for char in left):
                empty.add(episode)
        return empty

    def _take_evidence(self, doomed: Doomed) -> None:
        """Let facts that stay lose the evidence that goes, and the trust that it gave them."""
        lost = self._lost(doomed)
        lives = lives_by_id(self._writer, sorted(lost))
        for fact, episodes in sorted(lost.items()):
            life = lives[fact]
            self._writer.drop_evidence([(fact, episode) for episode in episodes])
            supports = [
                one
                for one, stance in stances(self._writer, [fact])[fact].items()
                if stance is Stance.SUPPORTS
            ]
            heads = self._writer.heads(supports).values()
            best = min((head.trust for head in heads), key=_TRUST_RANK.__getitem__)
            trust: Trust = max(life.trust, best, key=_TRUST_RANK.__getitem__)
            times = [head.occurred_at for head in heads if head.occurred_at is not None]
            after = life._replace(
                evidence_count=len(supports),
                occurred_at=max(times, default=None),
                trust=trust,
                confidence=min(life.confidence, policy.TRUST_CAP[trust]),
                episode_id=life.episode_id if life.episode_id in supports else min(supports),
            )
            self._facts.change("lose", life, after, why="erased", removed=sorted(episodes))


# --- keeping out ----------------------------------------------------------------------------------


def sifted(writer: Writer, receipt: Receipt, ops: Sequence[Op]) -> tuple[list[Op], frozenset[str]]:
    """Return what of the ops may be written, and the ids of episodes that have holes.

    Left out is what was erased: a source, an episode, a claim, a name; what refers to it goes with
    it. The receipt counts it. What was said after the erasure is something else and stays.

    Raises UsageError where a person asks by word for what was erased.
    """
    return _Sieve(writer, receipt, ops).run()


class _Sieve:
    """One look at the ops of a call, with the tombstones that they meet."""

    def __init__(self, writer: Writer, receipt: Receipt, ops: Sequence[Op]) -> None:
        self._writer = writer
        self._receipt = receipt
        self._ops = ops
        self._episodes = {op.episode.uid: op.episode for op in ops if isinstance(op, RecordEpisode)}
        # What a person says to factbook itself is answered, and not passed over.
        own = {op.source.key for op in ops if isinstance(op, RecordSource) and _is_ours(op)}
        self._told = {
            uid
            for uid, one in self._episodes.items()
            if one.source in own and one.trust is Trust.DIRECT
        }
        self._tombstones = Tombstones(writer)
        self._met: dict[bytes, Millis] = {}
        self._gone: set[str] = set()  # ids of episodes that are not let in
        self._holed: set[str] = set()
        self._alive: set[str] = set()  # keys of sources that are there, or say something new

    def run(self) -> tuple[list[Op], frozenset[str]]:
        """Return what is left, and the ids of episodes with holes."""
        asked: set[bytes] = set()
        for op in self._ops:
            asked.update(self._marks(op))
        self._met = self._tombstones.met(asked)
        if not self._met:
            return list(self._ops), frozenset()
        for uid in {uid for op in self._ops for uid in _uids(op)}:
            if self._at("uid", uid) is not None:
                self._gone.add(uid)
            elif self._at("masked", uid) is not None:
                self._holed.add(uid)
        for uid, episode in self._episodes.items():
            if uid not in self._gone and uid not in self._holed and self._was_said(episode):
                self._gone.add(uid)
        self._alive = {one.source for uid, one in self._episodes.items() if uid not in self._gone}
        named = [_source(op) for op in self._ops if _source(op)]
        self._alive |= {source.source.key for source in self._writer.sources(keys=named)}
        kept = [left for op in self._ops if (left := self._left(op)) is not None]
        return kept, frozenset(self._holed)

    def _mark(self, kind: str, *parts: str) -> bytes:
        return self._tombstones.mark(kind, *parts)

    def _at(self, kind: str, *parts: str) -> Millis | None:
        """Return when something was erased; None where it was not."""
        return self._met.get(self._mark(kind, *parts))

    def _marks(self, op: Op) -> list[bytes]:
        """Return every mark that an op could meet."""
        found = [self._mark(kind, uid) for uid in _uids(op) for kind in ("uid", "masked")]
        if isinstance(op, RecordEpisode):
            one = op.episode
            found.append(self._mark("source", one.source))
            found.append(self._mark("text", one.owner, same_words(one.text)))
            found.append(self._mark("said", one.owner, same_words(one.text), str(one.occurred_at)))
        elif _source(op):
            found.append(self._mark("source", _source(op)))
        elif isinstance(op, AssertFact | RejectCandidate):
            one_ = op.candidate
            found.append(self._mark("claim", op.owner, one_.subject, one_.predicate, one_.object))
        elif isinstance(op, CreateEntity):
            found.append(self._mark("name", op.owner, op.name))
        elif isinstance(op, Propose):
            found.append(self._mark("claim", *_proposed(op)))
        return found

    def _was_said(self, episode: Episode) -> bool:
        """Tell whether it was erased under another id, or is of an erased source."""
        at = self._at("source", episode.source)
        if at is not None and not _is_later(episode.occurred_at, at):
            return True
        same = same_words(episode.text)
        if self._at("said", episode.owner, same, str(episode.occurred_at)) is not None:
            return True
        at = self._at("text", episode.owner, same)
        return at is not None and not _is_new(episode.kind, episode.occurred_at, at)

    def _left(self, op: Op) -> Op | None:
        """Return what of an op is let in, None for nothing."""
        if _source(op) and self._at("source", _source(op)) is not None:
            if _source(op) not in self._alive:
                return self._unless(op, 0)
            if isinstance(op, RecordSource):  # a title is made of what was said first
                return RecordSource(source=replace(op.source, title=""))
            return op
        if isinstance(op, RecordEpisode):
            uid = op.episode.uid
            if uid in self._gone and uid in self._told:
                raise _refusal()
            # One with holes is there already: its words must not be compared with the record's.
            return self._unless(op, 0 if uid in self._gone or uid in self._holed else None)
        if isinstance(op, RecordSearch):
            return replace(
                op, results=[result for result in op.results if result not in self._gone]
            )
        gone = [uid for uid in _uids(op) if uid in self._gone]
        if isinstance(op, ChangeKeys) and (gone or op.episode in self._holed):
            raise _refusal()
        if gone:
            return self._unless(op, 0)
        if isinstance(op, RejectCandidate) and op.episode in self._holed:
            return None  # it would keep the words in another place
        if isinstance(op, AssertFact | RejectCandidate):
            one = op.candidate
            return self._unless_new(
                op, ("claim", op.owner, one.subject, one.predicate, one.object), op.episode
            )
        if isinstance(op, CreateEntity):
            return self._unless_new(op, ("name", op.owner, op.name), op.episode)
        if isinstance(op, Propose):
            return self._unless(op, self._at("claim", *_proposed(op)))
        return op

    def _unless(self, op: Op, erased_at: Millis | None) -> Op | None:
        if erased_at is None:
            return op
        self._receipt.kept_out += 1
        return None

    def _unless_new(self, op: Op, mark: tuple[str, ...], uid: str) -> Op | None:
        """Let in what was said again since; then it is no longer kept out."""
        erased_at = self._at(*mark)
        if erased_at is None:
            return op
        episode = self._episodes.get(uid)
        if episode is not None:
            new = _is_new(episode.kind, episode.occurred_at, erased_at)
        else:
            heads = self._writer.heads(self._writer.episode_ids([uid]).values())
            new = any(_is_new(head.kind, head.occurred_at, erased_at) for head in heads.values())
        if not new and uid in self._told:
            raise _refusal()
        if new:
            self._tombstones.let_in([self._mark(*mark)])
            return op
        self._receipt.kept_out += 1
        return None


def _is_ours(op: RecordSource) -> bool:
    """Tell whether a source is what is said to factbook itself (`sources.told`)."""
    return op.source.host == policy.TOLD_HOST


def _refusal() -> UsageError:
    return UsageError(
        detail="these words were erased and are kept out; say it in others, or let them in again"
        " (`factbook erase --list` shows what was erased, --allow lifts it)"
    )


def _is_later(at: Millis | None, erased_at: Millis) -> bool:
    return at is not None and at > erased_at


def _is_new(kind: EpisodeKind, at: Millis | None, erased_at: Millis) -> bool:
    """Tell whether something was said or done anew; a page that is found again was not."""
    return _is_later(at, erased_at) and kind is not EpisodeKind.SEARCH_RESULT


def _uids(op: Op) -> list[str]:
    """Return the ids of episodes that an op names."""
    if isinstance(op, RecordEpisode):
        return [op.episode.uid]
    if isinstance(op, RecordSearch):
        return list(op.results)
    named = getattr(op, "episode", None)
    return [named] if isinstance(named, str) and named else []


def _source(op: Op) -> str:
    """Return the key of the source that an op is of; empty for one that is of none."""
    if isinstance(op, RecordSource):
        return op.source.key
    return op.source if isinstance(op, RejectLine | AdvanceCursor) else ""


def _proposed(op: Propose) -> tuple[str, str, str, str]:
    """Return the claim that a proposal would make; of one that would make none, what meets none."""
    given = op.payload
    owner, type_, text = (str(given.get(name, "")) for name in ("owner", "type", "text"))
    return owner, owner, type_.lower(), text


_LEAST_WORD = 3  # ours: a shorter value is masked where the fact was read, and nowhere else


def _occurrences(text: str, value: str) -> list[tuple[int, int]]:
    """Return where a value stands in a text as words of its own, in any case."""
    import re

    if len(value.strip()) < _LEAST_WORD:
        return []
    pattern = rf"(?<!\w){re.escape(value.strip())}(?!\w)"
    return [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]


def _united(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in their order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


_HANDLERS: Mapping[type[Op], Callable[[Erasing, Any], None]] = {
    EraseFact: Erasing.fact,
    EraseEpisode: Erasing.episode,
    EraseSource: Erasing.source,
    EraseRejection: Erasing.rejection,
    EraseEntity: Erasing.entity,
    EraseNoted: Erasing.noted,
    EraseOwner: Erasing.owner,
    AllowAgain: Erasing.allow,
}
