"""Say which characters of a message are its owner's own words, and why the others are not.

One function for everything that hears an owner: a statement, a like, an engagement, an entity, a
command, a keyed fact. Three things tell: what the terminal saw (a paste has brackets), the layout
of what people hand on (`pasted`: quoted lines, mails, logs, fences), and how each piece is
written. A piece is a sentence, or the part of a line up to a colon, a dash or a quote; its words,
its shape and its place, the shape of the whole message, and what stands between it and the piece
before it are summed with fitted weights (`scripts/make_voice.py`) and read along the message, for
others' words come in one run (a conditional random field of two states).

Knows: text, and nothing of what is known of an owner. In doubt a text is overheard.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.base import word_set
from factbook.extract.quoted_text import pasted as laid_out
from factbook.language.words import LETTERS
from factbook.model.facts import Episode, EpisodeKind, Overheard, Role, StoredEpisode, Trust
from factbook.policy import VOICE_CHARS, VOICE_DOUBT

__all__ = [
    "DOUBTFUL",
    "WEIGHTS",
    "Marks",
    "OwnWords",
    "Unit",
    "blanked",
    "in_layout",
    "marks_of",
    "odds_of",
    "overheard_at",
    "own_words",
    "voice_in",
    "voice_of",
]

WEIGHTS: Final = Path(__file__).parent / "data" / "voice.json"
_PASTED: Final = "was pasted into the terminal"
DOUBTFUL: Final = "reads as somebody else's"


class OwnWords(NamedTuple):
    """The parts of a message: its owner's own, and what they only hand on."""

    message: str
    overheard: tuple[Overheard, ...]  # in order, none overlapping
    in_question: bool = True  # False where all of it is its speaker's, whatever it looks like

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Return the owner's own parts as (start, end), in order."""
        parts, at = [], 0
        for overheard in self.overheard:
            if overheard.start > at:
                parts.append((at, overheard.start))
            at = overheard.end
        return [*parts, (at, len(self.message))] if at < len(self.message) else parts

    @property
    def text(self) -> str:
        """Return the message with line breaks for what is overheard: places stay the same."""
        return blanked(self.message, self.overheard)


def blanked(text: str, overheard: Sequence[Overheard]) -> str:
    """Return a text with line breaks in the place of what was overheard."""
    parts, at = [], 0
    for piece in overheard:
        parts += [text[at : piece.start], "\n" * (piece.end - piece.start)]
        at = piece.end
    return "".join([*parts, text[at:]])


def voice_of(episode: StoredEpisode) -> OwnWords:
    """Return which words of an episode are those of whoever said it, and which only handed on."""
    return voice_in(episode, host=episode.host)


def voice_in(episode: Episode | StoredEpisode, *, host: str) -> OwnWords:
    """Do the same for an episode of a source of this host, before it is kept.

    That is a question of what a person typed into a conversation. All that they tell factbook
    itself is theirs, and all that an assistant or a tool says is its own. Where several people
    speak, each by name, they address each other, and only layout tells what is handed on.
    """
    asked = episode.kind in (EpisodeKind.PROMPT, EpisodeKind.TURN) and episode.role is Role.USER
    if not asked or episode.trust is not Trust.DIRECT or host == policy.TOLD_HOST:
        return OwnWords(episode.text, (), in_question=False)
    name = f"{episode.speaker}: "
    if not episode.speaker or not episode.text.startswith(name):
        return own_words(episode.text, pasted=episode.pasted)
    shown = in_layout(episode.text[len(name) :])
    moved = [
        piece._replace(start=piece.start + len(name), end=piece.end + len(name)) for piece in shown
    ]
    known = [Overheard(start, end, _PASTED) for start, end in episode.pasted]
    return OwnWords(episode.text, _joined([*moved, *known]))


def overheard_at(voice: OwnWords, start: int, end: int) -> str:
    """Return why a part of a message is not all its owner's own words; empty where it is."""
    return next(
        (piece.why for piece in voice.overheard if piece.start < end and start < piece.end), ""
    )


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
    return _joined([*known, *(Overheard(*span) for span in laid_out(message))])


def _joined(pieces: Sequence[Overheard]) -> tuple[Overheard, ...]:
    joined: list[Overheard] = []
    for piece in sorted(piece for piece in pieces if piece.end > piece.start):
        if joined and piece.start <= joined[-1].end:
            joined[-1] = joined[-1]._replace(end=max(joined[-1].end, piece.end))
        else:
            joined.append(piece)
    return tuple(joined)


# --- pieces ---------------------------------------------------------------------------------------


class Unit(NamedTuple):
    """A sentence, or a part of a line that stands apart in it."""

    start: int
    end: int
    line: int  # its number among the lines that hold something
    gap: int  # before it: 0 a stop, 1 a colon, a dash or a quote, 2 a line break, 3 more of them


class Marks(NamedTuple):
    """What is seen of a unit, by name: each value is multiplied with a fitted weight."""

    theirs: Mapping[str, float]  # speaks for another's voice
    to_theirs: Mapping[str, float]  # for a change from one's own voice to another's before it
    to_mine: Mapping[str, float]  # for a change back


_CUT: Final = re.compile(
    r"(?P<stop>(?<![.!?…])(?<![ .][A-Z])[.!?…]++[\"'”’)\]]*+)(?=\s)\s*+"
    r"|[:：;][\"“„'‘]?(?=\s)\s*+|\s(?:[-–—]{1,2}|->)\s++"
    r"|(?<=[,\s])[\"“„«](?=\w)|(?<=\w[.!?,…])[\"”“»]"
)
LEAST_BEHIND: Final = 3  # ours: words behind a colon, a dash or a quote that stand apart
BEHIND: Final = 100  # ours: characters in which they must stand
LEAST: Final = 3  # ours: characters of a unit


def _units(message: str) -> list[Unit]:
    units: list[Unit] = []
    at, gap, number = 0, 3, 0
    for line in message[:VOICE_CHARS].split("\n"):
        rest, last = at, at + len(line)
        if not line.strip():
            gap = 3
        else:
            for cut in _CUT.finditer(line):
                end = at + cut.end()
                least = 1 if cut["stop"] else LEAST_BEHIND
                behind = message[end : min(last, end + BEHIND)].split(None, least)
                if len(behind) >= least and len(message[rest:end].strip()) >= LEAST:
                    units.append(Unit(rest, end, number, gap))
                    rest, gap = end, int(not cut["stop"])
            units.append(Unit(rest, last, number, gap))
            gap, number = 2, number + 1
        at = last + 1
    return units


# --- what is seen of them -------------------------------------------------------------------------

_I: Final = word_set("i i'm i've i'd i'll im ive id my me mine myself we our us")
_YOU: Final = word_set("you your yours you're you've you'll you'd u ur yourself")
_THIRD: Final = word_set("he she they him her his hers their them he's she's they're")
_STOP: Final = re.compile(r"[.!?…][\"'”’)\]]*\s*$")
_PICTURE: Final = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]")
_RATED: Final = re.compile(r"[★☆⭐]|\b\d ?/ ?(?:5|10)\b|\bstars?\b")
_FURNITURE: Final = re.compile(
    r"https?://|www\.|\S@\S|[™©|#•·]|\d{3}[- ]\d{3}|\b[A-Z]{2,}-\d+|[€$£]\s?\d"
)
_DATE: Final = re.compile(r"\b\d{1,2}[:.]\d\d\b|\b(?:19|20)\d\d\b")
_BULLET: Final = re.compile(r"\s*(?:[-*•+]|\d{1,2}[.)]) ")
_HAILS: Final = re.compile(r"\W*[^\W\d_]+(?: [^\W\d_.]+){0,2} ?[,!](?:\s|$)")
_NAMES: Final = re.compile(r"\W*[^\W\d_]+(?: [^\W\d_.]+){0,2} [A-Z][^\W\d_]+\.? ?[,!](?:\s|$)")
NAME_WORDS: Final = 3  # ours: of a line that may be a signature
TITLE_WORDS: Final = 12  # ours: fewer stand in a title
_TENS: Final = tuple(f"{n}" for n in range(8))


def _size(count: int) -> str:
    """Return a size as the number of its binary digits, 7 at most."""
    return _TENS[min(7, count.bit_length())]


def _share(words: Sequence[str], of: Collection[str]) -> float:
    return 3 * sum(word in of for word in words) / len(words) if words else 0.0


def marks_of(
    message: str, *, handed: bool = False
) -> tuple[list[Unit], dict[str, float], list[Marks]]:
    """Return the units of a message, what is seen of it as a whole, and what of each unit.

    `handed` says that a paste was taken out of it by its layout.
    """
    units = _units(message)
    if not units:
        return [], {}, []
    texts = [message[unit.start : unit.end].strip() for unit in units]
    spelled = [LETTERS.findall(text) for text in texts]
    words = [[word.lower().replace("’", "'") for word in unit_words] for unit_words in spelled]
    whole = _of_message(message, units, texts, words, handed=handed)
    lines = units[-1].line
    marks = []
    for n, unit in enumerate(units):
        head = unit.line == 0 if lines else n == 0
        tail = not head and unit.line == lines and bool(lines)
        place = "first" if n == 0 else "head" if head else "last" if n == len(units) - 1 else ""
        place = "only" if len(units) == 1 else place or ("tail" if tail else "in")
        theirs = _of_unit(unit, texts[n], spelled[n], words[n], place)
        theirs["greets"] = float(n > 0 and words[n][:1] != [] and words[n][0] in _GREETINGS)
        if not n:
            marks.append(Marks(theirs, {}, {}))
            continue
        before = texts[n - 1]
        stop = before[-1] if before[-1] in ".!?:,…" else ""
        case = "aA"[not before[0].islower()] + "aA"[not texts[n][0].islower()]
        shared = {
            f"gap {unit.gap}": 1.0,
            f"gap {unit.gap} {stop}": 1.0,
            f"gap {unit.gap} {case}": 1.0,
            f"case {case}": 1.0,
            f"stop {stop}": 1.0,
            f"words before {_size(len(words[n - 1]))}": 1.0,
            f"place {place}": 1.0,
            f"me before, gap {unit.gap}": _share(words[n - 1], _I),
            "handed": float(handed),
        }
        below = float(n > 0 and not head and (units[n - 1].line == 0 if lines else n == 1))
        above = float(tail and units[n - 1].line < lines)
        marks.append(
            Marks(
                theirs,
                {**shared, "below the head": below, "hails": theirs["hails"]},
                {**shared, "above the tail": above, "me": theirs["me"]},
            )
        )
    return units, whole, marks


def _of_message(
    message: str,
    units: Sequence[Unit],
    texts: Sequence[str],
    words: Sequence[Sequence[str]],
    *,
    handed: bool,
) -> dict[str, float]:
    said = [word for unit_words in words for word in unit_words]
    lines = units[-1].line + 1
    head = [n for n, unit in enumerate(units) if unit.line == 0] if lines > 1 else [0]
    tail = [n for n, unit in enumerate(units) if unit.line == lines - 1]
    opening = [word for n in head for word in words[n]]
    closing = [word for n in tail for word in words[n]]
    top, stopped = texts[0], _STOP.search(texts[head[-1]]) is not None
    several = lines > 2
    return {
        f"all words {_size(len(said))}": 1.0,
        f"all units {_size(len(units))}": 1.0,
        f"all lines {_size(lines)}": 1.0,
        "all small": sum(text[0].islower() for text in texts) / len(texts),
        "all stopped": sum(_STOP.search(text) is not None for text in texts) / len(texts),
        "all me": _share(said, _I),
        "all you": _share(said, _YOU),
        "all third": _share(said, _THIRD),
        "no question": float("?" not in message),
        "ends asking": float(texts[-1].endswith("?")),
        "named": float(_NAMES.match(top) is not None),
        "signed": float(
            several
            and len(closing) <= NAME_WORDS
            and texts[tail[0]][0].isupper()
            and not texts[-1].endswith("?")
        ),
        "titled": float(
            several
            and not _STOP.search(top)
            and top[0].isupper()
            and _I.isdisjoint(opening)
            and 1 < len(opening) < TITLE_WORDS
        ),
        "handed on": float(handed),
        "tall I": float("I" in LETTERS.findall(message[:VOICE_CHARS]) or "I'" in message),
        "small i": float(" i " in f" {message}"),
        "all rated": float(_RATED.search(message) is not None),
        "all furniture": min(2.0, len(_FURNITURE.findall(message)) / 2),
        "all dates": min(2.0, len(_DATE.findall(message)) / 2),
        "all pictures": float(_PICTURE.search(message) is not None),
        "head stopped": float(stopped),
        "head asks": float(any("?" in texts[n] for n in head)),
        "head opens": float(texts[head[-1]].endswith(":")),
        "head small": float(top[0].islower()),
    }


def _of_unit(
    unit: Unit, text: str, spelled: Sequence[str], words: Sequence[str], place: str
) -> dict[str, float]:
    small, stopped = float(text[0].islower()), _STOP.search(text) is not None
    alone = unit.gap > 1  # begins a line
    kinds = set(words)
    weight = 1 / math.sqrt(len(kinds)) if kinds else 0.0
    marks = {f"w {word}": weight for word in kinds}
    if words:
        marks["f " + words[0]] = marks["l " + words[-1]] = 1.0
    marks |= {
        f"place {place}": 1.0,
        f"small {place}": small,
        f"words {_size(len(words))}": 1.0,
        "me": _share(words, _I),
        "you": _share(words, _YOU),
        "third": _share(words, _THIRD),
        "no me": float(_I.isdisjoint(words)),
        "small": small,
        "stopped": float(stopped),
        "asks": float(text[-1] == "?"),
        "calls": float(text[-1] == "!"),
        "picture": float(_PICTURE.search(text) is not None),
        "rated": float(_RATED.search(text) is not None),
        "furniture": min(2.0, float(len(_FURNITURE.findall(text)))),
        "date": float(_DATE.search(text) is not None),
        "bullet": float(_BULLET.match(text) is not None),
        "tall": min(3.0, sum(not word.islower() for word in spelled[1:]) / 2),
        "quotes": float(not _QUOTES.isdisjoint(text)),
        "commas": min(3.0, text.count(",")) / 3,
        "bare": float(not stopped and "," not in text),
        "told": float(_is_told(words)),
        "hails": float(alone and _HAILS.match(text) is not None),
        "a name": float(
            alone
            and not stopped
            and len(spelled) <= NAME_WORDS
            and all(word[0].isupper() for word in spelled)
        ),
    }
    return marks


_SUBJECTS: Final = word_set("i i'm im i've ive i'd i'll ich je yo")
_GREETINGS: Final = word_set("""
hi hey hello hallo hola dear dearest liebe lieber salut bonjour ciao morning good guten cher chère
""")
_SAYING: Final = word_set("""
said says say wrote writes text texts texted tells told replied replies answered answers posted
messaged goes like asked asks sent schreibt schrieb sagt sagte dijo dice dit écrit
""")


def _is_told(words: Sequence[str]) -> bool:
    """Say whether a word of saying stands before the first "I": others say what follows."""
    first = next((n for n, word in enumerate(words) if word in _SUBJECTS), 0)
    return any(word in _SAYING for word in words[1:first])


_QUOTES: Final = frozenset('"“”«»')


# --- the decision ---------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _weights() -> tuple[Mapping[str, float], ...]:
    kept = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return kept["theirs"], kept["to theirs"], kept["to mine"]


def _foreign(left: str, *, handed: bool) -> Iterator[Overheard]:
    """Yield the units that others wrote, as their writing tells.

    `left` is a message without what its layout shows: what frames a paste is judged by itself.
    """
    units, whole, marks = marks_of(left, handed=handed)
    overheard: Overheard | None = None
    for unit, odds in zip(units, odds_of(_weights(), whole, marks), strict=True):
        if odds <= VOICE_DOUBT:
            continue
        if overheard and not left[overheard.end : unit.start].strip():
            overheard = overheard._replace(end=unit.end)
            continue
        if overheard:
            yield overheard
        overheard = Overheard(unit.start, unit.end, DOUBTFUL)
    if overheard:
        yield overheard


def odds_of(
    weights: Sequence[Mapping[str, float]], whole: Mapping[str, float], marks: Sequence[Marks]
) -> list[float]:
    """Return for each unit the logarithm of the odds that it is another's.

    `weights` are of the three kinds of marks in their order, `whole` and `marks` as `marks_of`
    returns them. All ways through a message count: forward from its beginning, back from its end.
    """
    if not marks:
        return []
    always = _sum(weights[0], whole)
    here = [always + _sum(weights[0], mark.theirs) for mark in marks]
    out = [_sum(weights[1], mark.to_theirs) for mark in marks]
    home = [_sum(weights[2], mark.to_mine) for mark in marks]
    mine, other = 0.0, here[0]
    forward = [(mine, other)]
    for n in range(1, len(marks)):
        mine, other = (
            _either(mine, other + home[n]),
            _either(other, mine + out[n]) + here[n],
        )
        forward.append((mine, other))
    odds = [other - mine]
    mine = other = 0.0
    for n in range(len(marks) - 1, 0, -1):
        back = other + here[n]
        mine, other = _either(mine, back + out[n]), _either(back, mine + home[n])
        odds.append(forward[n - 1][1] + other - forward[n - 1][0] - mine)
    return odds[::-1]


def _sum(weights: Mapping[str, float], seen: Mapping[str, float]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in seen.items())


def _either(first: float, second: float) -> float:
    """Return the logarithm of the sum of two numbers that are given as logarithms."""
    return max(first, second) + math.log1p(math.exp(-abs(first - second)))
