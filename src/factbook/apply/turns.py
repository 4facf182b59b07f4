"""Vectors of a log's records hold what stands around them: what changes there is embedded anew.

A prompt is embedded by its whole turn, and every record of the turn with the prompt's beginning
(`maintenance/embedding.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from factbook.model.facts import Episode, EpisodeKind

if TYPE_CHECKING:
    from factbook.store.port import Writer


def embed_again(writer: Writer, ids: Collection[int]) -> None:
    """Let what is embedded with the text of these episodes wait for a vector again."""
    changed = set(ids)
    with_them: set[int] = set()
    for turn in writer.turns(sorted(changed)).values():
        prompt = turn[0][0]
        with_them.update([id_ for id_, _ in turn] if prompt in changed else [prompt])
    # Also those without one: a worker may hold them, with what stood around them before.
    kept = writer.whole_episodes(sorted(with_them - changed))
    if again := {row.id: row.episode for row in kept if row.episode.embed}:
        writer.rewrite_episodes(again)


def turns_that_went_on(new: Sequence[tuple[int, Episode]], ids: Sequence[int]) -> list[int]:
    """Return of new episodes, each with its source, the first reply to a prompt known before."""
    first: dict[int, int] = {}
    for episode_id, (source_id, episode) in zip(ids, new, strict=True):
        if episode.kind is EpisodeKind.PROMPT and not episode.injected:
            first.setdefault(source_id, 0)  # its own turn is embedded as it is now
        elif episode.kind is EpisodeKind.REPLY:
            first.setdefault(source_id, episode_id)
    return [id_ for id_ in first.values() if id_]
