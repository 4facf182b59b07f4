"""Judge what the rules observed: no span, no fact."""

from __future__ import annotations

import re
from typing import Final

from factbook import policy
from factbook.model import fast_dataclass
from factbook.model.facts import Accepted, Candidate, Episode, Rejected, StoredEpisode, Verdict

_LABEL: Final = re.compile(r"\[REDACTED(?::[^\]\s]*)?\]")
_accepted: Final = fast_dataclass.by_name(Accepted)
_WORD: Final = re.compile(r"\w+")


def judge(candidate: Candidate, episode: Episode | StoredEpisode) -> Verdict:
    """Say whether a candidate may enter, and with which confidence.

    The confidence is capped by the trust of the candidate where it has one of its own, else by the
    episode's: a fact is never surer than the channel it came through.
    """
    if episode.injected:
        return _rejected(candidate, "injected", "the text was put there by factbook itself")
    if not _is_confidence(candidate.confidence):
        return _rejected(
            candidate, "bad_confidence", f"{candidate.confidence!r} is no number from 0 to 1"
        )
    if not candidate.object.strip():
        return _rejected(candidate, "empty", "the object is empty")
    if not _shows_something(candidate, episode):
        return _rejected(
            candidate,
            "no_span",
            f"characters {candidate.start} to {candidate.end} of {len(episode.text)} show nothing",
        )
    if not _says_something(candidate.object):
        words = _WORD.findall(_LABEL.sub(" ", candidate.object).casefold())
        if not words and _LABEL.search(candidate.object):
            return _rejected(candidate, "redacted", "the object is nothing but a redacted secret")
        if words and all(word in policy.GENERIC_WORDS for word in words):
            return _rejected(candidate, "generic", "the object is nothing but generic words")
    trust = candidate.trust or episode.trust
    return _accepted(
        candidate=candidate,
        confidence=min(float(candidate.confidence), policy.TRUST_CAP[trust]),
        trust=trust,
    )


def _rejected(candidate: Candidate, reason: str, detail: str) -> Rejected:
    return Rejected(candidate=candidate, reason=reason, detail=detail)


def _is_confidence(value: object) -> bool:
    """Tell a real number from 0 to 1 from NaN, infinities and what is no number at all."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0.0 <= value <= 1.0  # false for NaN and the infinities as well


def _shows_something(candidate: Candidate, episode: Episode | StoredEpisode) -> bool:
    """Tell whether the candidate points at anything but white space in the episode."""
    text, start, end = episode.text, candidate.start, candidate.end
    if not 0 <= start < end <= len(text):
        return False
    return not text[start].isspace() or not text[start:end].isspace()


def _says_something(value: str) -> bool:
    """Tell at a glance that an object opens with a word of its own, as nearly all do."""
    first = _WORD.match(value)
    # Beyond ASCII the folding of letters could part a word.
    return first is not None and value.isascii() and first[0].lower() not in policy.GENERIC_WORDS
