"""How much a model may state or forget of its own accord: so much in a session and in a day.

What it was told to keep by its owner's own words does not count: of that a recorded prompt shows
each, and who says much is to be heard. What is known already changes nothing, and does not count.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from factbook import policy
from factbook.model.facts import EVERYONE, EpisodeKind, Everyone, Millis, Proposal, Role, Trust
from factbook.model.fading import DAY_MS
from factbook.pipelines.claims import ASKED
from factbook.sources.told import digest
from factbook.store.derived.facts import lives_by_id
from factbook.store.kinds import EVENT, PROPOSAL
from factbook.store.port import Reads
from factbook.store.rows import Filters

NOTED: Final = "noted"  # what the uids of such episodes begin with, and the source of each owner


class Stated(NamedTuple):
    """What models stated in 24 hours."""

    in_day: int
    in_session: int
    asked: int  # of them, that the owner was asked about

    def reached(self, *, asks: bool) -> str:
        """Return which limit leaves no room for one more; "" where none does."""
        return _reached(
            (self.in_session, policy.NOTED_IN_SESSION, "statements in one session"),
            (self.in_day, policy.NOTED_IN_DAY, "statements in 24 hours"),
            (self.asked if asks else 0, policy.ASKED_IN_DAY, "questions to the user in 24 hours"),
        )


class Forgotten(NamedTuple):
    """What models left out of recall in 24 hours."""

    in_day: int
    in_session: int

    @property
    def reached(self) -> str:
        """Which limit leaves no room for one more; "" where none does."""
        return _reached(
            (self.in_session, policy.FORGOTTEN_IN_SESSION, "facts forgotten in one session"),
            (self.in_day, policy.FORGOTTEN_IN_DAY, "facts forgotten in 24 hours"),
        )


def _reached(*limits: tuple[int, int, str]) -> str:
    return next((f"{most} {what}" for made, most, what in limits if made >= most), "")


def is_noted(proposal: Proposal) -> bool:
    """Tell whether it asks about what a model stated."""
    return str(proposal.payload.get("episode")).startswith(f"{NOTED}:")


def session_key(owner: str, session: str) -> str:
    """Return what stands for a session of a client in what was stated in it."""
    return f"{NOTED}:{owner}" + (f":{digest(session)}" if session else "")


def stated_lately(reads: Reads, owner: str | Everyone, *, session: str = "", now: Millis) -> Stated:
    """Count what models stated of an owner; `session` is a key, or "" for none."""
    filters = Filters(
        owner=owner,
        host=policy.TOLD_HOST,
        roles=[Role.ASSISTANT],
        trusts=[Trust.DERIVED],
        episode_kinds=[EpisodeKind.COMMAND],
        since=now - DAY_MS,
    )
    heads = reads.heads(reads.ids("episode", filters)).values()
    noted = {head.uid: head.session for head in heads if head.uid.startswith(f"{NOTED}:")}
    return Stated(
        in_day=len(noted),
        in_session=sum(key == session for key in noted.values()) if session else 0,
        asked=sum(
            proposal.payload.get("episode") in noted
            for proposal in (reads.find(PROPOSAL, {"kind": ASKED}) if noted else ())
        ),
    )


def forgotten_lately(
    reads: Reads, owner: str | Everyone, *, session: str = "", now: Millis
) -> Forgotten:
    """Count what models left out of an owner's recall; `session` is a key, or "" for none."""
    rated = reads.find(EVENT, {"op": "rate"})
    theirs = [word for word in rated if word.detail.get("session") and word.at > now - DAY_MS]
    lives = lives_by_id(reads, {word.target_id for word in theirs})
    mine = [word for word in theirs if owner in (EVERYONE, lives[word.target_id].owner)]
    keys = [word.detail["session"] for word in mine]
    return Forgotten(in_day=len(keys), in_session=keys.count(session) if session else 0)
