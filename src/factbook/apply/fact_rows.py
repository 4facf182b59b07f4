"""4 apply: facts as they are under the write lock, and the events of one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from factbook import policy
from factbook.errors import NotFound, UsageError
from factbook.model.facts import Event, Millis, Receipt, Stance, Status, Trigger, Trust
from factbook.store.derived.facts import lives_by_id
from factbook.store.derived.ledger import stances
from factbook.store.kinds import EVENT, PAIR, Pair
from factbook.store.port import Writer, events_of, first
from factbook.store.rows import EpisodeHead, Life

if TYPE_CHECKING:
    from factbook.extract.voice import OwnWords

# What a change of a fact may touch, and therefore what an event says and an undo restores.
_PARTS = (
    "status",
    "confidence",
    "confidence_at",
    "trust",
    "evidence_count",
    "occurred_at",
    "retired_at",
    "valid_to",
    "merged_into_id",
    "superseded_by",
    "pinned",
)

_UNWRITTEN = 1 << 62  # events of this call have no ids yet and are later than all that have


T = TypeVar("T")


class Past(NamedTuple):
    """One event in the history of a fact."""

    id: int
    at: Millis
    op: str
    detail: Mapping[str, Any]


class FactRows:
    """The rows of facts and episodes that one call of `apply` has read, and what it changes."""

    def __init__(
        self,
        writer: Writer,
        receipt: Receipt,
        *,
        now: Millis,
        trigger: Trigger,
        actor: str,
        run_id: int | None = None,
    ) -> None:
        self.writer = writer
        self.receipt = receipt
        self.now = now
        self.trigger = trigger
        self.actor = actor
        self._run_id = run_id  # of the consolidation that the changes belong to
        self._texts: dict[int, str] = {}
        self._heads: dict[int, EpisodeHead] = {}
        self._voices: dict[int, OwnWords] = {}
        self._listening: dict[int, Millis] = {}  # source id -> since when it is read
        self._unwritten: dict[int, list[Past]] = {}  # fact id -> its events of this call
        self.events: list[Event] = []

    def voice(self, episode_id: int) -> OwnWords:
        """Return which words of an episode are of whoever said it (`extract.voice`)."""
        if episode_id not in self._voices:
            from factbook.extract.voice import voice_of  # reading logs needs it for prompts alone

            self._voices[episode_id] = voice_of(
                self.writer.episodes_by_id([episode_id])[episode_id]
            )
        return self._voices[episode_id]

    def heard(self, episode_id: int, start: int, end: int) -> Trust:
        """Return how far a part of an episode is trusted: not as its owner's, where it is not."""
        trust = self._witness(episode_id).trust
        if trust is not Trust.DIRECT:
            return trust
        return self.writer.episodes_by_id([episode_id])[episode_id].heard(start, end)

    @property
    def _is_answer(self) -> bool:
        """Tell whether it is a person who decides."""
        return self.trigger is Trigger.COMMAND

    def _only_asks(self, life: Life, *, by: Life, halves: bool = False) -> bool:
        """Tell whether one fact may not retire or halve another unless a person says so.

        Nothing overheard takes the place of its owner's own words, and it does not even make less
        sure what the owner told on purpose. A person's answer may do either.
        """
        if self._is_answer:
            return False
        if by.trust is Trust.DIRECT:  # but of several who speak, each only speaks for himself
            return self._is_others(by) and self._is_vouched(life)
        return (life.trust is Trust.DIRECT and not halves) or self._is_vouched(life)

    def _is_others(self, life: Life) -> bool:
        """Tell whether a fact stands on what others said by their own names."""
        said = [self._witness(support) for support in self._supports(life.id)]
        direct = [episode_head for episode_head in said if episode_head.trust is Trust.DIRECT]
        return bool(direct) and all(episode_head.other for episode_head in direct)

    def _is_vouched(self, life: Life) -> bool:
        """Tell whether its owner stands for a fact: told it, pinned it, or called it right."""
        if life.pinned or any(self._witness(support).told for support in self._supports(life.id)):
            return True
        word = [event for event in self._history(life.id) if event.op in ("rate", "confirm")]
        return bool(word) and (word[-1].op == "confirm" or word[-1].detail.get("why") == "right")

    def _ask(self, life: Life, other: Life, *, detail: str, similarity: float) -> None:
        """Put a pair before a person, once; both facts stay as they are until it is answered."""
        low, high = sorted((life.id, other.id))
        known = self._pair(low, high)
        if known is not None and (known.verdict or known.rule == policy.OVERHEARD):
            self.receipt.unchanged += 1
            return
        says = f"only overheard, against what was told: {detail}".removesuffix(": ")
        asked = Pair(low, high, "ambiguous", policy.OVERHEARD, says, similarity, self.now, "")
        self.writer.put(PAIR, [asked])
        self.receipt.judged += known is None
        self.receipt.queued += 1

    def _pair(self, low_id: int, high_id: int) -> Pair | None:
        return first(self.writer, PAIR, {"low_id": low_id, "high_id": high_id})

    def _find(self, fact_id: int) -> Life:
        life = lives_by_id(self.writer, [fact_id]).get(fact_id)
        if life is None:
            raise NotFound(
                what="fact", name=fact_id, hint="`factbook facts` lists the facts with their ids."
            )
        return life

    def _winners(self, life: Life) -> list[Life]:
        """Return what a fact was merged into, what that one was merged into, and so on."""
        lives: list[Life] = []
        while life.merged_into_id is not None:
            life = self._find(life.merged_into_id)
            lives.append(life)
        return lives

    def end_of(self, fact_id: int) -> Life:
        """Return a fact, or the last of those that it was merged into."""
        life = self._find(fact_id)
        return (self._winners(life) or [life])[-1]

    def _current(self, fact_id: int) -> Life | None:
        """Return a fact that may still change, following what it was merged into."""
        life = self.end_of(fact_id)
        return life if life.current else None

    def _standing(self, fact_id: int) -> Life:
        """Return the fact that a person means by an id: what it was merged into, or itself.

        Raises UsageError for one that has been superseded, and names what took its place.
        """
        life = self.end_of(fact_id)
        if life.current:
            return life
        heir = life
        while heir.superseded_by is not None:
            heir = self.end_of(heir.superseded_by)
        if heir.id == life.id:
            raise UsageError(detail=f"fact {fact_id} is {life.status} and cannot be changed")
        raise UsageError(
            detail=f"fact {fact_id} was superseded: fact {heir.id} took its place, use that one"
        )

    def _history(self, fact_id: int) -> list[Past]:
        """Return the history of a fact with what this call has done to it, oldest first."""
        written = events_of(self.writer, "fact", fact_id)
        pasts = [Past(event.id, event.at, event.op, event.detail) for event in written]
        return pasts + self._unwritten.get(fact_id, [])

    def _supports(self, fact_id: int) -> list[int]:
        said = stances(self.writer, [fact_id])[fact_id]
        return [episode for episode, stance in said.items() if stance is Stance.SUPPORTS]

    def _evidence_of(self, fact_ids: Iterable[int]) -> set[int]:
        return {evidence.episode_id for evidence in self.writer.evidence(fact_ids=list(fact_ids))}

    def _witness(self, episode_id: int) -> EpisodeHead:
        return _kept(self._heads, episode_id, self.writer.heads)

    def _text(self, episode_id: int) -> str:
        return _kept(self._texts, episode_id, partial(self.writer.texts, "episode"))

    def silent_from(self, source_id: int, at: Millis) -> Millis:
        """Return the moment that silence about what a source says counts from.

        It is said again, or not, from when memory began to listen: of a file, from when it was
        first read, so that what an old log says is not faded at birth.
        """
        if source_id not in self._listening:
            self._listening[source_id] = self._listened_from(source_id)
        return min(self.now, max(at, self._listening[source_id]))

    def _listened_from(self, source_id: int) -> Millis:
        [state] = self.writer.sources(ids=[source_id])
        if state.source.uri == state.source.key:
            return 0  # it is in no file: it was told as it happened
        where = {"target_kind": "source", "target_id": source_id}
        began = first(self.writer, EVENT, where)
        return self.now if began is None else began.at

    def change(
        self,
        op: str,
        before: Life,
        after: Life,
        *,
        why: str,
        added: Sequence[int] = (),
        removed: Sequence[int] = (),
        detail: Mapping[str, object] | None = None,
    ) -> None:
        self.writer.put_facts([(before, after)])
        changed = [name for name in _PARTS if getattr(before, name) != getattr(after, name)]
        event: dict[str, object] = {
            "why": why,
            "before": {name: getattr(before, name) for name in changed},
            "after": {name: getattr(after, name) for name in changed},
            **(detail or {}),
        }
        if added:
            event["added"] = list(added)
        if removed:
            event["removed"] = list(removed)
        self.event(op, "fact", before.id, event)

    def event(
        self, op: str, kind: str, target: int, detail: Mapping[str, object] | None = None
    ) -> None:
        self.events.append(self.event_of(op, kind, target, detail))
        if kind == "fact":
            past = Past(_UNWRITTEN + len(self.events), self.now, op, detail or {})
            self._unwritten.setdefault(target, []).append(past)

    def event_of(
        self, op: str, kind: str, target: int, detail: Mapping[str, object] | None
    ) -> Event:
        """Return an event of this call."""
        return Event(
            0, self.now, self.actor, self.trigger, op, kind, target, detail or {}, self._run_id
        )


def _kept(
    known: dict[int, T], episode_id: int, read: Callable[[Sequence[int]], Mapping[int, T]]
) -> T:
    if episode_id not in known:
        known.update(read([episode_id]))
    if episode_id not in known:
        raise NotFound(what="episode", name=episode_id, hint="`factbook recall` shows ids.")
    return known[episode_id]


def awake(life: Life) -> Status:
    """Return how a fact stands that is current and no proposal, and has no vector yet."""
    return Status.PENDING_EMBED if life.embeddable else Status.ACTIVE


def day_of(at: Millis) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d")


def one_owner_only(verb: str, first: Life, *others: Life) -> None:
    for other in others:
        if other.owner != first.owner:
            raise UsageError(
                detail=f"fact {first.id} is of {first.owner} and fact {other.id} of {other.owner};"
                f" a {verb} stays with one owner"
            )
