"""Digests of what was erased, which keep it from coming back.

Their key is the ledger's own, so that the same text has another digest in another ledger.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.errors import UsageError
from factbook.model.facts import EVERYONE, Episode, EpisodeKind, FactKind, Millis, Receipt, Trust
from factbook.model.interest_ops import CreateEntity, RecordSearch
from factbook.model.ops import (
    AdvanceCursor,
    AssertFact,
    ChangeKeys,
    Op,
    Propose,
    RecordEpisode,
    RecordSource,
    RejectCandidate,
    RejectLine,
)
from factbook.store.derived.facts import lives_by_id
from factbook.store.kinds import (
    ALIAS,
    ENTITY,
    ERASED,
    ERASURE,
    REJECTION,
    SECRET,
    TOMBSTONE,
    Secret,
    Tombstone,
)
from factbook.store.port import Reads, Writer, first
from factbook.store.rows import ERASE_KEY, tombstone_mark

if TYPE_CHECKING:
    from factbook.apply.delete_cascade import Doomed

TEXT_CHARS: Final = 24
"""Ours: shorter texts are the same by chance; they are kept out by their id and by their date."""


def same_words(text: str) -> str:
    """Return what texts have in common that differ only in case and in spaces."""
    return " ".join(text.casefold().split())


def marks_of(episode: Episode) -> list[tuple[str, ...]]:
    """Return what an episode is kept out by, as (kind, parts): id, words, words with their time."""
    same = same_words(episode.text)
    said = ("said", episode.owner, same, str(episode.occurred_at))
    return [("uid", episode.uid), ("text", episode.owner, same), said]


def any_tombstones(reads: Reads) -> bool:
    """Tell whether anything was ever erased, and is kept out."""
    return first(reads, TOMBSTONE, {}) is not None


def is_erased(reads: Reads, target: str, row_id: int) -> bool:
    """Tell whether a row was erased."""
    return first(reads, ERASED, {"target": target, "row_id": row_id}) is not None


class Tombstones:
    """What must not come back, as one write reads and changes it."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._keys: list[str] = []  # the ledger's own first; then those that came by imports
        self._others: dict[bytes, list[bytes]] = {}  # a mark -> the same under the other keys

    def mark(self, kind: str, *parts: str) -> bytes:
        """Return the digest that stands for what must not come back."""
        if not self._keys:
            known = {secret.name: secret.value for secret in self._writer.find(SECRET)}
            if ERASE_KEY not in known:
                import secrets  # seldom needed

                known[ERASE_KEY] = secrets.token_hex(32)
                self._writer.add(SECRET, [Secret(ERASE_KEY, known[ERASE_KEY])])
            self._keys = [known.pop(ERASE_KEY), *known.values()]
        own, *others = (tombstone_mark(key, kind, *parts) for key in self._keys)
        if others:
            self._others[own] = others
        return own

    def met(self, marks: Collection[bytes]) -> dict[bytes, Millis]:
        """Return when those of the marks were erased that were, under whatever key."""
        under = {alias: mark for mark in marks for alias in (mark, *self._others.get(mark, ()))}
        stones = self._writer.find(TOMBSTONE, {"mark": list(under)})
        erasures = {stone.erasure_id for stone in stones}
        times = {act.id: act.at for act in self._writer.find(ERASURE, {"id": erasures})}
        return {under[stone.mark]: times[stone.erasure_id] for stone in stones}

    def keep_out(self, doomed: Doomed, erasure_id: int) -> None:
        """Keep what is to be erased from coming back."""
        sources = self._writer.sources(ids=sorted(doomed.sources))
        refusals = self._writer.find(REJECTION, {"id": doomed.rejections})
        marks = [
            *self._of_episodes(doomed),
            *self._of_facts(doomed.facts),
            *self._of_names(doomed.entities),
            *(("source", self.mark("source", row.source.key)) for row in sources),
            *(("refusal", self.mark("refusal", row.claim.hex())) for row in refusals),
        ]
        self._writer.put(TOMBSTONE, [Tombstone(mark, kind, erasure_id) for kind, mark in marks])

    def _of_episodes(self, doomed: Doomed) -> list[tuple[str, bytes]]:
        marks = []
        ids = sorted(doomed.episodes | doomed.masks.keys())
        texts = self._writer.texts("episode", ids)
        for head in self._writer.heads(ids).values():
            # What stays with holes in it keeps its id; its record must not be told anew.
            kind = "uid" if head.id in doomed.episodes else "masked"
            marks.append((kind, self.mark(kind, head.uid)))
            same = same_words(texts[head.id])
            if len(same) >= TEXT_CHARS:
                marks.append(("text", self.mark("text", head.owner, same)))
            if head.occurred_at is not None:
                at = str(head.occurred_at)
                marks.append(("said", self.mark("said", head.owner, same, at)))
        return marks

    def _of_facts(self, ids: Collection[int]) -> list[tuple[str, bytes]]:
        # A key changes by its owner's own words alone, which are kept out as episodes.
        return [
            ("claim", self.mark("claim", life.owner, life.subject, life.predicate, life.object))
            for life in lives_by_id(self._writer, ids).values()
            if life.kind is not FactKind.KEYED
        ]

    def _of_names(self, entity_ids: Collection[int]) -> list[tuple[str, bytes]]:
        entities = self._writer.find(ENTITY, {"id": entity_ids})
        aliases = self._writer.find(ALIAS, {"owner": EVERYONE, "entity_id": entity_ids})
        names = {(row.owner, row.name) for row in entities}
        names |= {(row.owner, row.name) for row in aliases}
        return [("name", self.mark("name", *name)) for name in sorted(names)]

    def let_in(self, marks: Sequence[bytes]) -> int:
        """Let these come back; return how many tombstones that takes."""
        under = [alias for mark in marks for alias in (mark, *self._others.get(mark, ()))]
        return self._writer.drop(TOMBSTONE, {"mark": under})


def proposed_claim(payload: Mapping[str, object]) -> tuple[str, str, str, str]:
    """Return the claim that a proposal would make; of one that would make none, what meets none."""
    owner, type_, text = (str(payload.get(name, "")) for name in ("owner", "type", "text"))
    return owner, owner, type_.lower(), text


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
            for uid, episode in self._episodes.items()
            if episode.source in own and episode.trust is Trust.DIRECT
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
        self._alive = {said.source for uid, said in self._episodes.items() if uid not in self._gone}
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
        marks = [self._mark(kind, uid) for uid in _uids(op) for kind in ("uid", "masked")]
        if isinstance(op, RecordEpisode):
            _, *said = marks_of(op.episode)
            marks += [self._mark(*mark) for mark in (("source", op.episode.source), *said)]
        elif _source(op):
            marks.append(self._mark("source", _source(op)))
        elif isinstance(op, AssertFact | RejectCandidate):
            fact = op.candidate
            marks.append(self._mark("claim", op.owner, fact.subject, fact.predicate, fact.object))
        elif isinstance(op, CreateEntity):
            marks.append(self._mark("name", op.owner, op.name))
        elif isinstance(op, Propose):
            marks.append(self._mark("claim", *proposed_claim(op.payload)))
        return marks

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
            return replace(op, results=[uid for uid in op.results if uid not in self._gone])
        gone = [uid for uid in _uids(op) if uid in self._gone]
        if isinstance(op, ChangeKeys) and (gone or op.episode in self._holed):
            raise _refusal()
        if gone:
            return self._unless(op, 0)
        if isinstance(op, RejectCandidate) and op.episode in self._holed:
            return None  # it would keep the words in another place
        if isinstance(op, AssertFact | RejectCandidate):
            fact = op.candidate
            claim = ("claim", op.owner, fact.subject, fact.predicate, fact.object)
            return self._unless_new(op, claim, op.episode)
        if isinstance(op, CreateEntity):
            return self._unless_new(op, ("name", op.owner, op.name), op.episode)
        if isinstance(op, Propose):
            return self._unless(op, self._at("claim", *proposed_claim(op.payload)))
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
        return self._unless(op, erased_at)


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
