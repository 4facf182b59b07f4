"""What is said twice: a log that was forked or resumed carries the records of an earlier one.

    Ops, in their order -> the same without what copied records assert again

Such a record has the id of the one it was copied from, and stands at another place of another
session, so that what is said of this place and this session would be said a second time. A log that
was moved is no copy: its session is the same, and it may be read better now. Calls and their
answers are left as they are: they are known by ids of their own wherever they stand, and the answer
may stand in the copy alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from factbook.model.facts import Episode, EpisodeKind
from factbook.model.ops import AssertFact, Op, RecordEpisode, RejectCandidate
from factbook.store.port import Writer

_SAID: Final = frozenset({EpisodeKind.PROMPT, EpisodeKind.REPLY, EpisodeKind.SUMMARY})


def said_once(writer: Writer, ops: Sequence[Op]) -> tuple[Sequence[Op], int]:
    """Return Ops without what copies assert and refuse, and how many assertions these were."""
    said = {op.episode.uid for op in ops if type(op) is RecordEpisode and _is_said(op.episode)}
    known = writer.episode_ids(list(said))
    texts, heads = writer.texts("episode", list(known.values())), writer.heads(known.values())
    first = {uid: (heads[id_].session, texts[id_]) for uid, id_ in known.items() if id_ in heads}
    kept: list[Op] = []
    copies: set[str] = set()  # uids of records that another session has
    for op in ops:
        if type(op) is RecordEpisode and op.episode.uid in said:
            episode = op.episode
            session, text = first.get(episode.uid, (episode.session, ""))
            if session != episode.session and text == episode.text:
                copies.add(episode.uid)
        elif isinstance(op, (AssertFact, RejectCandidate)) and op.episode in copies:
            continue
        kept.append(op)
    asserted = sum(type(op) is AssertFact for op in ops)
    return kept, asserted - sum(type(op) is AssertFact for op in kept)


def _is_said(episode: Episode) -> bool:
    # A command that somebody typed is a call.
    return episode.kind in _SAID and not episode.fields
