"""Read again what another version of the language reader has read.

    sources that another version read -> their owners' words, read once more
    -> what it gave and this one does not: withdrawn | what only this one finds: as when it was new

Readings are compared by where they stand: the same words, kept then and now, stay as they are with
all that became of them since. A source is noted as read by this version once all of it is written,
so what is interrupted goes on there, and reading a source twice says the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.apply.delete_cascade import pages
from factbook.errors import NotFound
from factbook.extract.directives import RULE
from factbook.gate.judge import JudgedClaim, Relation, judge
from factbook.model.facts import EVERYONE, FactKind, Receipt, Role, Status, StoredEpisode, Trigger
from factbook.model.ops import AssertFact, NoteReaders, Op, SupportFact, WithdrawEvidence
from factbook.pipelines import directives, stated
from factbook.pipelines.claims import digest_of
from factbook.store.derived.facts import holds, lives_by_id
from factbook.store.derived.ledger import supporting
from factbook.store.derived.readers import DIRECTIVES, PARTS, came, read_by_others, spoken
from factbook.store.kinds import EPISODE
from factbook.store.port import Store, marked
from factbook.store.rows import EvidenceRow, Life, LifeWhere

if TYPE_CHECKING:
    from factbook.context import Context

_READ_AGAIN: Final = "read_again"  # why evidence goes
_OWN_KINDS: Final = (FactKind.STATEMENT, FactKind.DIRECTIVE)

Spans = dict[int, list[tuple[int, int]]]  # of episodes, by id


@dataclass(slots=True, kw_only=True)
class RereadReport:
    """What reading again has changed."""

    version: str  # of the reader that reads now
    sources: int = 0
    episodes: int = 0
    kept: int = 0  # evidence that stays: both readers give it, or its owner stands for the fact
    receipt: Receipt = field(default_factory=Receipt)


def sources_named(store: Store, name: str) -> set[int]:
    """Return the ids of the sources of a name, a path or an id (s12); raises NotFound."""
    paths = {name, str(Path(name).expanduser()), str(Path(name).expanduser().absolute())}
    ids = {
        state.id
        for state in store.sources()
        if name in (state.source.key, f"s{state.id}") or state.source.uri in paths
    }
    if not ids:
        raise NotFound(what="source", name=name, hint="`factbook sessions` lists the sources.")
    return ids


def reread(
    context: Context,
    *,
    only: Collection[int] | None = None,
    renew: Callable[[], object] = lambda: None,
    progress: Callable[[int], None] = lambda _: None,
) -> RereadReport:
    """Read again what another version has read: of these sources, or of all.

    `renew` is called after each page and `progress` after each source, with 1. Raises ReaderError
    where the reader cannot be loaded.
    """
    again = _Again(context, renew)
    for source_id, parts in read_by_others(context.store, again.report.version).items():
        if only is None or source_id in only:
            again.read(source_id, parts)
            progress(1)
    again.part_from_rules()
    return again.report


class _Again:
    """Reads sources again, one by one."""

    def __init__(self, context: Context, renew: Callable[[], object]) -> None:
        self._context = context
        self._store = context.store
        self._renew = renew
        self._unread = {
            part: came(context.store, log, marked(context.store, mark))
            for part, (mark, log) in PARTS.items()
        }
        self.report = RereadReport(version=context.resources.reader_version)

    def read(self, source_id: int, parts: Sequence[str]) -> None:
        """Read a source again; what nobody has read of it yet waits for its turn."""
        of_it = {"owner": EVERYONE, "role": Role.USER, "source_id": source_id}
        said = sorted(id_ for (id_,) in self._store.tally(EPISODE, ("id",), of_it))
        read: set[int] = set()
        for part in parts:
            hearing = directives.Hearing(self._context, self._write)
            ids = [id_ for id_ in said if id_ not in self._unread[part]]
            for page in pages(ids, policy.REREAD_PAGE):
                episodes = self._store.episodes_by_id(spoken(self._store, part, page))
                in_order = [episode for _, episode in sorted(episodes.items())]
                if part == DIRECTIVES:
                    for episode in in_order:
                        self._directives(hearing, episode)
                else:
                    self._statements(in_order)
                read.update(episodes)
                self._renew()
            version = {part: self.report.version}
            self._write([NoteReaders(readers=version, sources=[source_id], only=True)])
        self.report.sources += 1
        self.report.episodes += len(read)

    def part_from_rules(self) -> None:
        """Take from statements what is a rule by now."""
        if self.report.sources:
            self._write(stated.twin_ops(self._store))

    def _write(self, ops: Sequence[Op]) -> Receipt:
        receipt = self._context.write(ops, Trigger.UPKEEP)
        self.report.receipt.add(receipt)
        return receipt

    def _directives(self, hearing: directives.Hearing, episode: StoredEpisode) -> None:
        candidates, given = hearing.read(episode)
        spans = {(candidate.start, candidate.end): candidate for candidate in candidates}
        ended = [(each.begin, each.end) for each in given]

        def stands(row: EvidenceRow, life: Life) -> bool:
            candidate = spans.get((row.start, row.end))
            if candidate is None:  # what it ended is over since, so it ends nothing now
                return _touches(ended, row.start, row.end)
            says_again = life.episode_id != episode.id
            place = (candidate.subject, candidate.predicate)
            return says_again or (life.subject, life.predicate) == place

        taken = self._withdrawn([episode.id], FactKind.DIRECTIVE, {RULE}, stands)
        claims = [digest_of(episode.owner, candidate) for candidate in candidates]
        gone = self._gone(claims)
        new = [
            candidate
            for candidate, claim in zip(candidates, claims, strict=True)
            if claim not in gone
            and not _touches(taken.get(episode.id, ()), candidate.start, candidate.end)
        ]
        hearing.take(new, given, episode)

    def _statements(self, episodes: Sequence[StoredEpisode]) -> None:
        pieces = {
            (piece.episode_id, piece.start, piece.end): piece
            for episode in episodes
            for piece in stated.pieces_read(self._context, episode)
        }

        def stands(row: EvidenceRow, life: Life) -> bool:
            piece = pieces.get((row.episode_id, row.start, row.end))
            said_once = row.rule == stated.CLEAR_RULE and life.evidence_count == 1
            return piece is not None and (piece.clear or not said_once)

        ids = [episode.id for episode in episodes]
        taken = self._withdrawn(ids, FactKind.STATEMENT, stated.RULES, stands)
        now = self._context.clock()
        ops = stated.said_ops(self._context, episodes, same=_same, now=now, taken=taken)
        self._write(self._new(ops))

    def _withdrawn(
        self,
        ids: Sequence[int],
        kind: FactKind,
        rules: Collection[str],
        stands: Callable[[EvidenceRow, Life], bool],
    ) -> Spans:
        """Withdraw what does not stand; return the parts of episodes that speak for facts yet."""
        rows = list(supporting(self._store, ids))
        of_kind = [(row, life) for row, life in rows if life.kind is kind and holds(life)]
        mine = [(row, life) for row, life in of_kind if row.rule in rules]
        ops = [
            WithdrawEvidence(fact_id=life.id, episode_id=row.episode_id, rule=_READ_AGAIN)
            for row, life in mine
            if not stands(row, life)
        ]
        withdrawn = self._write(ops).withdrawn if ops else 0
        self.report.kept += len(mine) - withdrawn
        taken: Spans = {}
        for row, life in supporting(self._store, ids) if ops else rows:
            if _is_over(life) or (life.kind is kind and life.status is not Status.RETRACTED):
                taken.setdefault(row.episode_id, []).append((row.start, row.end))
        return taken

    def _new(self, ops: Sequence[Op]) -> list[Op]:
        """Leave out what would bring back what is wrong or over."""
        known = lives_by_id(self._store, {op.fact_id for op in ops if isinstance(op, SupportFact)})
        claims = {
            n: digest_of(op.owner, op.candidate)
            for n, op in enumerate(ops)
            if isinstance(op, AssertFact)
        }
        gone = self._gone(claims.values())
        return [
            op
            for n, op in enumerate(ops)
            if claims.get(n) not in gone
            and not (isinstance(op, SupportFact) and _is_over(known[op.fact_id]))
        ]

    def _gone(self, claims: Collection[bytes]) -> set[bytes]:
        """Return the claims that were called wrong, or that others took the place of."""
        lives = self._store.lives(LifeWhere(claims=set(claims)))
        over = {life.claim for life in lives if _is_over(life)}
        return over - {life.claim for life in lives if holds(life)}


def _is_over(life: Life) -> bool:
    """Tell whether a fact is wrong or was given up, and not only unsupported."""
    taken_back = life.status is Status.RETRACTED and life.kind not in _OWN_KINDS
    return life.confidence <= 0.0 or life.status is Status.SUPERSEDED or taken_back


def _same(older: str, newer: str, cosine: float) -> bool:
    judged = judge(JudgedClaim(text=older), JudgedClaim(text=newer), similarity=cosine)
    return judged.relation is Relation.SAME


def _touches(spans: Collection[tuple[int, int]], start: int, end: int) -> bool:
    return any(first < end and start < last for first, last in spans)
