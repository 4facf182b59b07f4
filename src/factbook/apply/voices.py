"""Whose words new episodes hold: read once, before anything is locked, and kept with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from factbook.model.facts import Episode, Role, Trust
from factbook.model.ops import RecordEpisode, RecordSource

if TYPE_CHECKING:
    from factbook.store.port import Store

Spans = tuple[tuple[int, int], ...]


class Voices:
    """What was read of the episodes that one call is to keep.

    Reading takes tens of milliseconds for each, in which nobody else could write.
    """

    def __init__(
        self, store: Store, episodes: Sequence[RecordEpisode], sources: Sequence[RecordSource]
    ) -> None:
        """Read the episodes that are new."""
        self._read: dict[tuple[object, ...], Spans] = {}
        asked = [op.episode for op in episodes if _may_hand_on(op.episode)]
        if not asked:
            return
        hosts = {op.source.key: op.source.host for op in sources}
        unnamed = list({episode.source for episode in asked} - hosts.keys())
        hosts |= {state.source.key: state.source.host for state in store.sources(keys=unnamed)}
        ids = store.episode_ids(list({episode.uid for episode in asked}))
        texts = store.texts("episode", list(ids.values()))
        for episode in asked:
            known = episode.uid in ids and texts[ids[episode.uid]] == episode.text
            if not known and episode.source in hosts:
                self._spans(episode, hosts[episode.source])

    def of(self, episode: Episode, host: str) -> Episode:
        """Return an episode with the parts of its text that are not words of whoever speaks."""
        if not _may_hand_on(episode):
            return episode
        return replace(episode, overheard=self._spans(episode, host))

    def _spans(self, episode: Episode, host: str) -> Spans:
        key = (host, episode.kind, episode.speaker, episode.pasted, episode.text)
        if key not in self._read:
            from factbook.extract.voice import voice_in  # tool results, most of a log, need it not

            heard = voice_in(episode, host=host).overheard
            self._read[key] = tuple((piece.start, piece.end) for piece in heard)
        return self._read[key]


def _may_hand_on(episode: Episode) -> bool:
    return episode.role is Role.USER and episode.trust is Trust.DIRECT
