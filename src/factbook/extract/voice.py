"""Say which characters of a message are its owner's own words, and why the others are not.

Their own is what neither an exact mark gives to others (brackets that the terminal saw, layout:
`quoted_text`) nor the reader, which knows words of others, drafts and texts that are to be worked
on by how they are written. In doubt a text is overheard.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.name_tokens import is_english
from factbook.extract.quoted_text import joined
from factbook.extract.quoted_text import pasted as laid_out
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading
from factbook.model.facts import Episode, EpisodeKind, Overheard, Role, StoredEpisode, Trust
from factbook.policy import VOICE_CHARS

_PASTED: Final = "was pasted into the terminal"
_SET_APART: Final = "is set apart as somebody else's"
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
    """Return which words of an episode are its speaker's own, as was read when it was kept."""
    if not _is_in_question(episode, episode.host):
        return OwnWords(episode.text, (), in_question=False)
    shown = _shown(episode)
    kept = [
        Overheard(max(start, begin), min(end, stop), _why(episode.text, start))
        for start, end in episode.overheard
        for begin, stop in OwnWords(episode.text, shown).spans
    ]
    return OwnWords(episode.text, joined([*shown, *kept]))


def voice_in(episode: Episode, *, host: str) -> OwnWords:
    """Read the same of an episode of a source of this host, before it is kept.

    That is a question of what a person typed into a conversation. All that they tell factbook
    itself is theirs, and all that an assistant or a tool says is its own. Where several people
    speak, each by name, they address each other, and only layout tells what is handed on.
    """
    if not _is_in_question(episode, host):
        return OwnWords(episode.text, (), in_question=False)
    shown = _shown(episode)
    return OwnWords(episode.text, shown if _is_named(episode) else _with_read(episode.text, shown))


def _is_in_question(episode: Episode | StoredEpisode, host: str) -> bool:
    asked = episode.kind in (EpisodeKind.PROMPT, EpisodeKind.TURN) and episode.role is Role.USER
    return asked and episode.trust is Trust.DIRECT and host != policy.TOLD_HOST


def _is_named(episode: Episode | StoredEpisode) -> bool:
    return bool(episode.speaker) and episode.text.startswith(f"{episode.speaker}: ")


def _shown(episode: Episode | StoredEpisode) -> tuple[Overheard, ...]:
    if not _is_named(episode):
        return in_layout(episode.text, episode.pasted)
    name = len(episode.speaker) + 2
    shown = in_layout(episode.text[name:])
    moved = [piece._replace(start=piece.start + name, end=piece.end + name) for piece in shown]
    known = [Overheard(start, end, _PASTED) for start, end in episode.pasted]
    return joined([*moved, *known])


def is_others(reading: Reading, start: int, end: int, *, chance: float = 0.0) -> bool:
    """Tell whether most of a part of what was read is, with a chance, somebody else's.

    The chance of a stretch is that of its least word, so of a long one it tells little.
    """
    theirs = (
        part
        for part in reading.foreign
        if part.chance >= chance or part.end - part.begin >= policy.FOREIGN_CHARS
    )
    shared = sum(max(0, min(end, part.end) - max(start, part.begin)) for part in theirs)
    return 2 * shared > end - start


def overheard_at(voice: OwnWords, start: int, end: int) -> str:
    """Return why a part of a message is not all its owner's own words; empty where it is."""
    return next((at.why for at in voice.overheard if at.start < end and start < at.end), "")


def own_words(message: str, *, pasted: Sequence[tuple[int, int]] = ()) -> OwnWords:
    """Return which characters of a message its owner says; `pasted` are (start, end) of pastes."""
    return _own_words(message, tuple(pasted))


@lru_cache(maxsize=64)
def _own_words(message: str, pasted: tuple[tuple[int, int], ...]) -> OwnWords:
    return OwnWords(message, _with_read(message, in_layout(message, pasted)))


def _with_read(message: str, shown: Sequence[Overheard]) -> tuple[Overheard, ...]:
    """Add to what shows that it is another's what the reader finds in the rest."""
    left = blanked(message, shown)[:VOICE_CHARS]
    foreign = read(left).foreign if is_english(left) else ()  # it knows English alone
    theirs = [(at.begin, at.end) for at in foreign]
    if theirs and theirs[0][0] == 0:
        theirs[0] = (_handed_on(left, theirs[0][1]), theirs[0][1])
    return joined([*shown, *(Overheard(*at, _why(message, at[0])) for at in theirs)])


def _handed_on(text: str, end: int) -> int:
    """Return where others' words really begin: they can hide the line that hands them on."""
    line = text[:end].partition("\n")[0]
    if len(line) >= end / 2:
        return 0
    alone = read(line)
    acts = [clause.act for clause in alone.clauses]
    apart = len(acts) > 1 and acts[-1] != "tell" and not alone.foreign
    return end - len(text[len(line) : end].lstrip()) if apart else 0


def _why(message: str, start: int) -> str:
    """Say what shows that the words from a place on are another's: a colon, a quote, or no sign."""
    apart = message[:start].rstrip()[-1:] == ":" or message[start] in "\"'“”„«»‘"
    return _SET_APART if apart else DOUBTFUL


def in_layout(message: str, pasted: Sequence[tuple[int, int]] = ()) -> tuple[Overheard, ...]:
    """Return what shows by brackets or by its layout that it is a paste."""
    known = [Overheard(start, min(end, len(message)), _PASTED) for start, end in pasted]
    return joined([*known, *laid_out(message)])
