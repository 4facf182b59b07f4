"""4 apply: put rows of an export back as they were. `apply` alone calls it.

Nothing is judged anew: what was decided about a fact, its confidence, its times and its history are
what they were. What is here already stays as it is: a row that stands for the same is the same row,
and a fact that both know gains the evidence of the other. What was erased here is left out. Ids are
those of the file where nothing was here before, else it is looked up what they became.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Final

from factbook.apply.restoring.facts import RestoredFacts
from factbook.apply.restoring.history import RestoredHistory
from factbook.apply.restoring.living import StillHere
from factbook.apply.restoring.part import Part
from factbook.apply.restoring.rows import RestoredRows
from factbook.apply.tombstones import any_tombstones, sifted
from factbook.apply.wiping import MASK
from factbook.model.facts import Receipt, SourceState
from factbook.model.ops import RecordEpisode, Restore
from factbook.model.restored import FileRow
from factbook.store.rows import KeptEpisode

if TYPE_CHECKING:
    from factbook.apply.facts import Changes

_GROUPS: Final[Mapping[str, str]] = {  # what is put back together; all else is rows of a Kind
    "source": "source",
    "episode": "episode",
    "fact": "fact",
    "evidence": "fact",
    "event": "event",
}


def restore(facts: Changes, op: Restore) -> None:
    """Put the rows of an op back, in their order."""
    ledger = _RestoredLedger(facts, op.so_far)
    claims = RestoredFacts(facts, op.so_far)
    history = RestoredHistory(facts, op.so_far)
    small = RestoredRows(facts, op.so_far)
    ways: Mapping[str, Callable[[Sequence[FileRow]], None]] = {
        "source": ledger.sources,
        "episode": ledger.episodes,
        "fact": claims.put_back,
        "event": history.put_back,
    }
    for group, rows in groupby(op.rows, key=lambda row: _GROUPS.get(row.kind, row.kind)):
        ways.get(group, small.put_back)(list(rows))
    claims.point()
    if op.last:
        claims.end()
        StillHere(facts, op.so_far).end()
        history.end()


class _RestoredLedger(Part):
    """Puts sources and episodes back."""

    def sources(self, rows: Sequence[FileRow]) -> None:
        """Put sources back, with how far they were read."""
        states = [row.row for row in rows if isinstance(row.row, SourceState)]
        keys = [state.source.key for state in states]
        known = {source.source.key: source.id for source in self._writer.sources(keys=keys)}
        ids = {source.id for source in self._writer.sources(ids=[state.id for state in states])}
        out = self._erased([[("source", key)] for key in keys])
        for source_state, erased in zip(states, out, strict=True):
            if erased:
                self._state.keep_out("source", source_state)
                continue
            here = known.get(source_state.source.key)
            if here is None:
                id_ = self._state.kept_id(source_state.id) if source_state.id not in ids else 0
                [here] = self._writer.put_sources([replace(source_state, id=id_)])
                known[source_state.source.key] = here
                self._state.is_here("source", source_state.id, here, new=True)
                self._receipt.sources += 1
            else:
                self._state.is_here("source", source_state.id, here, new=False)

    def episodes(self, rows: Sequence[FileRow]) -> None:
        """Put episodes back; one with the same uid is the same."""
        state = self._state
        whole = []
        for row in rows:
            assert isinstance(row.row, KeptEpisode)
            source = state.here("source", row.row.source_id)
            if source is None:
                self._lacks(row, "source", row.row.source_id)
                continue
            whole.append(row.row._replace(source_id=source))
        whole = self._let_in(whole)
        known = self._writer.episode_ids([kept.episode.uid for kept in whole])
        new: dict[str, KeptEpisode] = {}
        for kept in whole:
            uid = kept.episode.uid
            if uid in known:
                state.is_here("episode", kept.id, known[uid], new=False)
            else:
                new.setdefault(uid, kept)
        ids = self._writer.add_episodes(
            [(kept.source_id, kept.episode) for kept in new.values()],
            kept=[(state.kept_id(kept.id), kept.learned_at or self._now) for kept in new.values()],
        )
        for kept, here in zip(new.values(), ids, strict=True):
            state.is_here("episode", kept.id, here, new=True)
        self._receipt.episodes += len(ids)

    def _let_in(self, whole: list[KeptEpisode]) -> list[KeptEpisode]:
        """Return what was not erased here, whatever it was called."""
        if self._state.fresh or not any_tombstones(self._writer):
            return whole
        keys = {source.id: source.source.key for source in self._writer.sources()}
        named = [replace(row.episode, source=keys[row.source_id]) for row in whole]
        ops = [RecordEpisode(episode=episode) for episode in named]
        left, holed = sifted(self._writer, Receipt(), ops)
        kept = {op.episode.uid for op in left if isinstance(op, RecordEpisode)}
        # One with holes in its own text is what an erasure has left of it.
        kept |= {row.episode.uid for row in whole if MASK in row.episode.text} & holed
        self._state.holed |= {row.id for row in whole if row.episode.uid in holed - kept}
        kept |= self._writer.episode_ids([row.episode.uid for row in whole]).keys()
        for row in whole:
            if row.episode.uid not in kept:
                self._state.keep_out("episode", row)
        return [row for row in whole if row.episode.uid in kept]
