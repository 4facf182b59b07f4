"""What is said to factbook itself, not read from a file: as an episode of a source of its own."""

from __future__ import annotations

import hashlib

from factbook import policy
from factbook.model.facts import Episode, EpisodeKind, Millis, Role, Source, Trust
from factbook.model.interest_ops import NoteAction
from factbook.model.ops import Op, RecordEpisode, RecordSource

_DIGEST_BYTES = 12


def said_ops(
    text: str,
    *,
    uid: str,
    owner: str,
    at: Millis | None,
    what: str = "told",
    title: str = "told",
    kind: EpisodeKind = EpisodeKind.TURN,
    role: Role = Role.USER,
    trust: Trust = Trust.DIRECT,
    embed: bool = True,
    session: str = "",
) -> list[Op]:
    """Return the ops that keep a text, already redacted, as the episode `uid` of its owner.

    `what` names the source, one for each owner, which is the session where none is given. Without
    more it is the owner who speaks, and who speaks may be told things again (origins 003.9: any
    action resets the back-off).
    """
    key = f"{what}:{owner}"
    source = Source(key=key, kind="note", host=policy.TOLD_HOST, session=key, uri=key, title=title)
    episode = Episode(
        uid=uid,
        source=key,
        kind=kind,
        role=role,
        trust=trust,
        text=text,
        position=0,
        offset=0,
        occurred_at=at,
        owner=owner,
        session=session or key,
        embed=embed,
    )
    ops: list[Op] = [RecordSource(source=source), RecordEpisode(episode=episode)]
    if role is Role.USER and trust is Trust.DIRECT:
        ops.append(NoteAction(owner=owner))
    return ops


def by_model_ops(
    text: str, *, uid: str, owner: str, at: Millis, what: str, title: str, session: str = ""
) -> list[Op]:
    """Return the ops that keep what a model told on purpose; what becomes of it is a fact.

    Arguments as of `said_ops`. The text itself is evidence, and is never recalled.
    """
    return said_ops(
        text,
        uid=uid,
        owner=owner,
        at=at,
        what=what,
        title=title,
        kind=EpisodeKind.COMMAND,
        role=Role.ASSISTANT,
        trust=Trust.DERIVED,
        embed=False,
        session=session,
    )


def digest(*parts: str) -> str:
    """Return what stands for these parts in the id of an episode."""
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()
