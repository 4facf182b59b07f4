"""The one builder of what says that a fact holds, is said again, or is not let in.

candidate + episode -> the gate -> asserted | refused         (`judged`)
candidate + episode -> what decided elsewhere -> asserted | supported | refused | asked
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from factbook import policy
from factbook.apply.bookkeeping import memory_key
from factbook.gate.observed import judge
from factbook.model import fast_dataclass
from factbook.model.facts import Accepted, Candidate, Episode, StoredEpisode, Trust
from factbook.model.ops import AssertFact, Propose, RejectCandidate, SupportFact
from factbook.store.rows import claim_digest

ASKED: Final = "memory"  # the kind of what asks an owner about a memory

_assert_fact: Final = fast_dataclass.by_name(AssertFact)  # a large log makes tens of thousands


class Witness(NamedTuple):
    """What shows a claim where no whole episode is at hand: one yet to be written, or a piece."""

    uid: str  # of the episode
    owner: str
    trust: Trust
    text: str
    id: int = 0  # of the episode in the store; only `supported` needs it


Shown: TypeAlias = Episode | StoredEpisode | Witness
"""A text that shows a claim."""


def digest_of(owner: str, candidate: Candidate) -> bytes:
    """Return what the store knows a claim of an owner by."""
    return claim_digest(owner, candidate.subject, candidate.predicate, candidate.object)


def judged(candidate: Candidate, episode: Episode | StoredEpisode) -> AssertFact | RejectCandidate:
    """Ask the gate about what was observed, and return what it decides as an Op."""
    verdict = judge(candidate, episode)
    if isinstance(verdict, Accepted):
        return _assert_fact(
            candidate=candidate,
            episode=episode.uid,
            owner=episode.owner,
            confidence=verdict.confidence,
            trust=verdict.trust,
            quote=episode.text[candidate.start : candidate.end],
        )
    return refused(candidate, episode, verdict.reason, verdict.detail)


def asserted(
    candidate: Candidate,
    episode: Shown,
    *,
    quote: str | None = None,
    proposed: bool = False,
    factors: Mapping[str, object] | None = None,
) -> AssertFact:
    """Claim a fact with an episode as its evidence.

    It is as sure as its candidate, and no surer than its trust allows (`policy.TRUST_CAP`): that of
    the candidate where it has one of its own, else the episode's. `quote` is the span's text where
    `episode` holds only a piece. `proposed` and `factors` are those of `AssertFact`.
    """
    trust = candidate.trust or episode.trust
    return _assert_fact(
        candidate=candidate,
        episode=episode.uid,
        owner=episode.owner,
        confidence=min(candidate.confidence, policy.TRUST_CAP[trust]),
        trust=trust,
        quote=_quote(candidate, episode, quote),
        proposed=proposed,
        factors=factors,
    )


def supported(
    fact_id: int,
    candidate: Candidate,
    episode: StoredEpisode | Witness,
    *,
    quote: str | None = None,
) -> SupportFact:
    """Let an episode that says a known fact again speak for it, as sure as if it had said it first.

    Arguments as of `asserted`; the episode has its number.
    """
    trust = candidate.trust or episode.trust
    return SupportFact(
        fact_id=fact_id,
        episode_id=episode.id,
        quote=_quote(candidate, episode, quote),
        start=candidate.start,
        end=candidate.end,
        rule=candidate.rule,
        method=candidate.method,
        trust=trust,
        confidence=min(candidate.confidence, policy.TRUST_CAP[trust]),
    )


def agreed(
    fact_id: int,
    candidate: Candidate,
    episode: StoredEpisode | Witness,
    *,
    quote: str | None = None,
) -> SupportFact:
    """Let two readings of the same words make a fact surer: it is one evidence of one fact.

    Arguments as of `supported`.
    """
    support = supported(fact_id, candidate, episode, quote=quote)
    sure = min(policy.AGREED, policy.TRUST_CAP[support.trust])
    return replace(support, confidence=sure, agrees=True)


def refused(
    candidate: Candidate,
    episode: Shown,
    reason: str,
    detail: str = "",
    *,
    type: str = "",
    confidence: float | None = None,
    threshold: float | None = None,
    validation: Mapping[str, object] | None = None,
) -> RejectCandidate:
    """Keep what was not let in, with its reason; what is typed has more to say."""
    return RejectCandidate(
        candidate=candidate,
        episode=episode.uid,
        owner=episode.owner,
        reason=reason,
        detail=detail,
        type=type,
        confidence=confidence,
        threshold=threshold,
        validation=validation,
    )


def asked(
    candidate: Candidate,
    episode: Shown,
    *,
    confidence: float,
    quote: str | None = None,
    against: Sequence[int] = (),
    **more: object,
) -> Propose:
    """Ask an owner about a claim; `against` are facts that it cannot be true beside.

    `more` is what else is told of it. The same words of one owner and type are asked once.
    """
    payload: dict[str, object] = {
        "owner": episode.owner,
        "type": candidate.predicate.upper(),
        "text": candidate.statement,
        "confidence": confidence,
        "episode": episode.uid,
        "start": candidate.start,
        "end": candidate.end,
        "quote": _quote(candidate, episode, quote)[: policy.QUOTE_CHARS],
        **more,
        **({"against": list(against)} if against else {}),
    }
    key = memory_key(episode.owner, candidate.predicate, candidate.statement)
    return Propose(kind=ASKED, key=key, title=candidate.statement, payload=payload)


def _quote(candidate: Candidate, episode: Shown, quote: str | None) -> str:
    return episode.text[candidate.start : candidate.end] if quote is None else quote
