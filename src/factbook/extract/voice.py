"""Say which characters of a message are its owner's own words, and why the others are not.

One function for everything that hears an owner: a statement, a like, an engagement, an entity, a
command, a keyed fact. Three things tell: what the terminal saw (a paste has brackets), the layout
of what people hand on (`pasted`: quoted lines, mails, logs, fences, pages), and how each paragraph
is written: whom it addresses, how it begins and ends, of whom it speaks, how long it is. The last
is a small sum of weights that were fitted on messages with their spans (`python -m bench.voices`),
read along the message, for others' words come in one piece.

Knows: text, and nothing of what is known of an owner. Does not know languages: words in it are
pronouns and the like, and the shape of lines does the rest. In doubt a text is overheard.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.base import word_set
from factbook.extract.pasted import pasted as laid_out
from factbook.model import EpisodeKind, Overheard, Role, StoredEpisode, Trust
from factbook.policy import VOICE_CHARS, VOICE_STAYS, VOICE_WEIGHTS

__all__ = [
    "DOUBTFUL",
    "OwnWords",
    "blanked",
    "features_of",
    "in_layout",
    "overheard_at",
    "own_words",
    "units_of",
    "voice_of",
]

_PASTED: Final = "was pasted into the terminal"
DOUBTFUL: Final = "reads as somebody else's"
ADDRESS_WORDS: Final = 25  # ours: a shorter text may address whoever reads it
FRAME_WORDS: Final = 25  # ours: of a line in front of what it hands on
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


class OwnWords(NamedTuple):
    """The parts of a message: its owner's own, and what they only hand on."""

    message: str
    overheard: tuple[Overheard, ...]  # in order, none overlapping

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Return the owner's own parts as (start, end), in order."""
        found, at = [], 0
        for one in self.overheard:
            if one.start > at:
                found.append((at, one.start))
            at = one.end
        return [*found, (at, len(self.message))] if at < len(self.message) else found

    @property
    def text(self) -> str:
        """Return the message with line breaks for what is overheard: places stay the same."""
        return blanked(self.message, self.overheard)


def blanked(text: str, overheard: Sequence[Overheard]) -> str:
    """Return a text with line breaks in the place of what was overheard."""
    parts, at = [], 0
    for one in overheard:
        parts += [text[at : one.start], "\n" * (one.end - one.start)]
        at = one.end
    return "".join([*parts, text[at:]])


def voice_of(episode: StoredEpisode) -> OwnWords | None:
    """Return which words of an episode are its owner's own; None where that is no question.

    That is one for what a person typed into a conversation. What they tell factbook itself is
    theirs, and what others say is not. Where several people speak, each by name, they address each
    other, and only layout tells what is handed on.
    """
    asked = episode.kind in (EpisodeKind.PROMPT, EpisodeKind.TURN) and episode.role is Role.USER
    if not asked or episode.trust is not Trust.DIRECT or episode.host == policy.TOLD_HOST:
        return None
    name = f"{episode.speaker}: "
    if not episode.speaker or not episode.text.startswith(name):
        return own_words(episode.text, pasted=episode.pasted)
    shown = in_layout(episode.text[len(name) :])
    moved = [one._replace(start=one.start + len(name), end=one.end + len(name)) for one in shown]
    known = [Overheard(start, end, _PASTED) for start, end in episode.pasted]
    return OwnWords(episode.text, _joined([*moved, *known]))


def overheard_at(voice: OwnWords, start: int, end: int) -> str:
    """Return why a part of a message is not all its owner's own words; empty where it is."""
    return next((one.why for one in voice.overheard if one.start < end and start < one.end), "")


def own_words(message: str, *, pasted: Sequence[tuple[int, int]] = ()) -> OwnWords:
    """Return which characters of a message its owner says in their own voice.

    `pasted` are the parts that are known to be a paste, in characters.
    """
    return _own_words(message, tuple(pasted))


@lru_cache(maxsize=64)
def _own_words(message: str, pasted: tuple[tuple[int, int], ...]) -> OwnWords:
    shown = in_layout(message, pasted)
    left = _foreign(blanked(message, shown), handed=bool(shown))
    return OwnWords(message, _joined([*shown, *left]))


def in_layout(message: str, pasted: Sequence[tuple[int, int]] = ()) -> tuple[Overheard, ...]:
    """Return what shows by brackets or by its layout that it is a paste."""
    known = [Overheard(start, min(end, len(message)), _PASTED) for start, end in pasted]
    return _joined([*known, *(Overheard(*one) for one in laid_out(message))])


def _joined(found: Sequence[Overheard]) -> tuple[Overheard, ...]:
    joined: list[Overheard] = []
    for one in sorted(one for one in found if one.end > one.start):
        if joined and one.start <= joined[-1].end:
            joined[-1] = joined[-1]._replace(end=max(joined[-1].end, one.end))
        else:
            joined.append(one)
    return tuple(joined)


# --- paragraphs -----------------------------------------------------------------------------------


class Unit(NamedTuple):
    """A paragraph; the first and the last line stand alone, for people frame what they paste."""

    start: int
    end: int


def units_of(message: str) -> list[Unit]:
    """Return the paragraphs of a message in their order."""
    lines: list[Unit] = []
    at = 0
    for line in message[:VOICE_CHARS].split("\n"):
        if line.strip():
            lines.append(Unit(at, at + len(line)))
        at += len(line) + 1
    units: list[Unit] = []
    for n, one in enumerate(lines):
        apart = not units or n == 1 or n == len(lines) - 1
        if apart or message.count("\n", units[-1].end, one.start) > 1:
            units.append(one)
        else:
            units[-1] = Unit(units[-1].start, one.end)
    return units


_I: Final = word_set("i i'm i've i'd i'll im ive my me mine myself")
_YOU: Final = word_set("you your yours you're you've you'll you'd u ur yourself")
_THIRD: Final = word_set("he she they him her his hers their them he's she's they're")
_POINTS: Final = word_set("this these that those it one following below above here")
_ADDRESS: Final = re.compile(r"\W*[^\W\d_]+(?: [^\W\d_.]+){0,3} ?[,!](?:\s|$)")
_NAMED: Final = re.compile(r"\W*[^\W\d_]+(?: [^\W\d_.]+){0,2} [A-Z][^\W\d_]+\.? ?[,!](?:\s|$)")
_SIGNED_INLINE: Final = re.compile(r"[.!?)] (?:[A-Z][\w'’-]+(?: (?:and |& )?)?){1,3}\.?\s*$")
_FURNITURE: Final = re.compile(r"https?://|www\.|\S@\S|[★☆™©|#•·]|\d{3}[- ]\d{3}|\b[A-Z]{2,}-\d+")
_DATE: Final = re.compile(r"\b\d{1,2}[:.]\d\d\b|\b(?:19|20)\d\d\b|\b\d{4}-\d\d-\d\d\b")
_BULLET: Final = re.compile(r"[ \t]*(?:[-*•+]|\d{1,2}[.)]) ")
_REQUEST: Final = re.compile(
    r"\b(?:can|could|would|will|do|did) (?:you|u)\b|\bplease\b"
    r"|\b(?:help|show|tell|give|find|remind) me\b|\bfor (?:me|my)\b|\bshould i\b"
    r"|\b(?:what|how) (?:do|can|should) i\b",
    re.IGNORECASE,
)
_STOP: Final = re.compile(r"[.!?…:;][\"'”’)\]]*\s*$")


def features_of(message: str, *, handed: bool = False) -> list[dict[str, float]]:
    """Return what is looked at in each paragraph, by name.

    `handed` says that a paste was taken out of the message: what points, points at that.
    """
    units = units_of(message)
    texts = [message[one.start : one.end] for one in units]
    words = [[word.casefold().replace("’", "'") for word in _WORD.findall(one)] for one in texts]
    everything = [word for one in words for word in one]
    several = len(units) > 1
    head = texts[0] if several else ""
    title = (
        len(texts) > 2 and not _STOP.search(head) and head[:1].isupper() and _I.isdisjoint(words[0])
    )
    # What points at a text below it leaves a line free, or is no full sentence.
    free = several and (
        not head.rstrip().endswith((".", "!"))
        or message.count("\n", units[0].end, units[1].start) > 1
    )
    points = free and not handed and not _POINTS.isdisjoint(words[0])
    # A question in front of a text that ends without one is about that text.
    about = not _THIRD.isdisjoint(words[0]) if several else False
    posed = free and not handed and "?" not in texts[-1] and ("?" in head or points or about)
    requests = sum(len(_REQUEST.findall(one)) for one in texts)
    shared = {
        "many": math.log1p(len(units)),
        "length": math.log1p(len(everything)) - 3.5,
        "signed inline": float(_SIGNED_INLINE.search(texts[-1]) is not None) if texts else 0.0,
        "title": float(title),
        "requests": min(2.0, float(requests)),
        "ends asking": float(bool(texts) and texts[-1].rstrip().endswith("?")),
        "all of me": 5 * _share(everything, _I),
        "no question": float("?" not in message),
        "dates": min(2.0, len(_DATE.findall(message)) / 2),
    }
    return [
        {
            **shared,
            **_of_unit(n, texts, words),
            "framed": float(n > 0 and points and len(words[0]) <= FRAME_WORDS),
            "posed": float(n > 0 and posed),
            "announced": float(n > 0 and head.rstrip().endswith(":")),
            "other case": float(n > 0 and head[:1].islower() and texts[n][:1].isupper()),
            "contracted": 5 * sum("'" in word for word in words[n]) / max(1, len(words[n])),
        }
        for n in range(len(units))
    ]


def _of_unit(n: int, texts: Sequence[str], words: Sequence[Sequence[str]]) -> dict[str, float]:
    text, said = texts[n], words[n]
    first, last = n == 0 and len(texts) > 1, n == len(texts) - 1 and len(texts) > 1
    lines = text.split("\n")
    # Who says no more than a few words to somebody by name may well speak to an assistant.
    long = sum(map(len, words)) > ADDRESS_WORDS
    addressed = long and _NAMED.match(text) is not None
    return {
        "last": float(last),
        "only": float(len(texts) == 1),
        "words": math.log1p(len(said)) - 3,
        "me": 5 * _share(said, _I),
        "you": 5 * _share(said, _YOU),
        "third": 5 * _share(said, _THIRD),
        "points": float(first and not _POINTS.isdisjoint(said)),
        "addressed": float(addressed and (n == 0 or (n == 1 and not _NAMED.match(texts[0])))),
        "below address": float(any(_ADDRESS.fullmatch(one.strip()) for one in texts[:n][:2])),
        "small": float(text[:1].islower()),
        "furniture": min(2.0, float(len(_FURNITURE.findall(text)))),
        "open lines": sum(not _STOP.search(one) for one in lines) / len(lines),
        "bullets": sum(_BULLET.match(one) is not None for one in lines) / len(lines),
    }


def _share(words: Sequence[str], of: frozenset[str]) -> float:
    return sum(word in of for word in words) / len(words) if words else 0.0


# --- the decision ---------------------------------------------------------------------------------


def _foreign(left: str, *, handed: bool) -> Iterator[Overheard]:
    """Yield the paragraphs that others wrote, as their writing tells.

    `left` is a message without what its layout shows: what frames a paste is judged by itself.
    """
    units = units_of(left)
    sums = [_sum(one) for one in features_of(left, handed=handed)]
    for unit, theirs in zip(units, _path(sums) if sums else (), strict=True):
        if theirs:
            yield Overheard(unit.start, unit.end, DOUBTFUL)


def _sum(features: Mapping[str, float]) -> float:
    weights = VOICE_WEIGHTS
    return weights[""] + sum(weights.get(name, 0.0) * value for name, value in features.items())


def _path(sums: Sequence[float]) -> list[bool]:
    """Return for each paragraph whether it is another's, as the likeliest way through them all.

    To change between voices costs `policy.VOICE_STAYS`, once there and once back.
    """
    mine, theirs = 0.0, sums[0]
    changed: list[tuple[bool, bool]] = []  # whether the best way to (mine, theirs) changes voice
    for score in sums[1:]:
        changed.append((theirs - VOICE_STAYS > mine, mine - VOICE_STAYS > theirs))
        mine, theirs = (
            max(mine, theirs - VOICE_STAYS),
            max(theirs, mine - VOICE_STAYS) + score,
        )
    way = [theirs > mine]
    for to_mine, to_theirs in reversed(changed):
        way.append(way[-1] is not (to_theirs if way[-1] else to_mine))
    return way[::-1]
