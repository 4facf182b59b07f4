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

from factbook.model.facts import EpisodeKind, Receipt
from factbook.model.ops import AssertFact, Op, RecordEpisode, RejectCandidate
from factbook.store.port import Writer

_SAID: Final = frozenset({EpisodeKind.PROMPT, EpisodeKind.REPLY, EpisodeKind.SUMMARY})


def said_once(writer: Writer, receipt: Receipt, ops: Sequence[Op]) -> Sequence[Op]:
    """Return Ops without what copies assert and refuse; such assertions count as unchanged.

    Where none of the records is known from another session, they are the Ops that were given, and
    no text is read.
    """
    said: dict[str, set[str]] = {}  # sessions, by uid
    for op in ops:
        # A command that somebody typed is a call.
        if type(op) is RecordEpisode and op.episode.kind in _SAID and not op.episode.fields:
            said.setdefault(op.episode.uid, set()).add(op.episode.session)
    known = writer.episode_ids(list(said)) if said else {}
    heads = writer.heads(known.values()) if known else {}
    elsewhere = {
        uid: heads[id_]
        for uid, id_ in known.items()
        if id_ in heads and said[uid] != {heads[id_].session}
    }
    if not elsewhere:
        return ops
    texts = writer.texts("episode", [head.id for head in elsewhere.values()])
    first = {uid: (head.session, texts[head.id]) for uid, head in elsewhere.items()}
    kept: list[Op] = []
    copies: set[str] = set()  # uids of records that another session has
    for op in ops:
        if type(op) is RecordEpisode and op.episode.uid in said:
            episode = op.episode
            session, text = first.get(episode.uid, (episode.session, ""))
            if session != episode.session and text == episode.text:
                copies.add(episode.uid)
        elif isinstance(op, (AssertFact, RejectCandidate)) and op.episode in copies:
            receipt.unchanged += type(op) is AssertFact
            continue
        kept.append(op)
    return kept
