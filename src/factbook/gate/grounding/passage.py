"""Cut a passage into utterances and sentences, and say whose words each of them is."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from factbook.gate.grounding.words import MAX_CHARS, SentenceWords, read_lines
from factbook.language.words import word_set

Speaker = Literal["owner", "assistant", "other", ""]

_OWNER_ROLES: Final = frozenset({"user", "human", "me", "i", "you", "owner"})
_ASSISTANT_ROLES: Final = word_set(
    "assistant ai bot chatbot model agent system tool claude chatgpt gpt gemini copilot llm"
)
_SAY: Final = (
    r"said|says|asked|asks|replied|replies|answered|answers|wrote|writes|added|adds|mentioned"
    r"|mentions|stated|states|requested|requests|explained|explains|told|noted|notes|continued"
)
_HEAD: Final = re.compile(
    r"(?:(?<=\A)|(?<=\n)|(?<=[.!?\"”)\]] )|(?<= \. ))[ \t>*_#\"“-]*"
    r"(?:\[[^\]\n]{1,30}\]\s*|\(?\d{1,2}:\d{2}(?::\d{2})?\)?\s*)?"
    r"(?P<the>[Tt]he\s+)?(?P<name>[^\W\d_][\w.'’-]{0,30}(?: [A-Z0-9][\w.'’-]{0,30}){0,2})"
    rf"(?:\s+(?:then |later |also )?(?P<verb>{_SAY})(?: that)?)?[*_]*\s*:[*_]*(?=\s)\s*"
)
_FIRST_PERSON: Final = re.compile(r"\b(?:I|[Mm][ey]|[Ww]e|[Uu]s|[Oo]ur|[Mm]ine)\b(?![.)])")
_GOES_ON: Final = word_set("later then again also next earlier before after")
_ABOUT_ASSISTANT: Final = re.compile(
    r"\W*(?:(?:the|an?|our|my)\s+)?(?:(?:ai|language|virtual|chat)\s+)?"
    r"(?:assistant|ai|chatbot|bot|model|agent|chatgpt|claude|gemini|copilot)\b(?!')",
    re.IGNORECASE,
)
_MAX_HEAD_NAMES: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """A stretch of a passage that one speaker said, or that nobody is named for."""

    start: int  # of the words, behind the speaker's name
    end: int
    speaker: Speaker
    name: str  # as written: "User", "Ann"; "" where nobody is named


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """One sentence with the one who said it."""

    line: SentenceWords
    speaker: Speaker
    name: str
    turn: int  # number of its utterance


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text that claims are held against, read once for all of them."""

    text: str
    utterances: tuple[Utterance, ...]
    lines: tuple[SpokenSentence, ...] = field(repr=False)
    lower: str = field(repr=False)  # the text in lower case, same length where that is possible
    memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)  # what was found

    @property
    def named(self) -> bool:
        """Say whether anybody is named as a speaker."""
        return any(utterance.speaker for utterance in self.utterances)

    @property
    def told_by_oneself(self) -> bool:
        """Say whether somebody is named as a speaker, or speaks in the first person."""
        return self.named or any(_FIRST_PERSON.search(spoken.line.text) for spoken in self.lines)

    def speaker_at(self, offset: int) -> Utterance | None:
        """Return the utterance that holds a place of the text."""
        at = bisect_right([utterance.start for utterance in self.utterances], offset) - 1
        return self.utterances[at] if at >= 0 else None


def read_passage(text: str, *, owner_names: Iterable[str] = ()) -> Passage:
    """Read a text: who says what, and its sentences.

    `owner_names` are further names of the owner, such as the name before their turns. What follows
    the first 100,000 characters is not read.
    """
    owners = {name.casefold().strip() for name in owner_names} - {""}
    utterances = tuple(_utterances(text, owners))
    lines = []
    for number, utterance in enumerate(utterances):
        for line in read_lines(text, utterance.start, utterance.end):
            if not line.tokens:
                continue
            speaker = utterance.speaker
            if not speaker and _ABOUT_ASSISTANT.match(line.text):
                speaker = "assistant"
            lines.append(SpokenSentence(line, speaker, utterance.name, number))
    lower = text.lower()
    return Passage(text=text, utterances=utterances, lines=tuple(lines), lower=lower)


def _utterances(text: str, owners: set[str]) -> list[Utterance]:
    stop = min(len(text), MAX_CHARS)
    heads = [match for match in _HEAD.finditer(text, 0, stop) if _may_be_name(match["name"])]
    counts = Counter(match["name"].casefold() for match in heads)
    names = {
        name
        for name, count in counts.items()
        if name in owners or _role(name, owners) != "other" or count > 1 or name in _GOES_ON
    }
    at_lines = [m for m in heads if m.start() == 0 or text[m.start() - 1] == "\n"]
    if len(at_lines) > 1 and len(at_lines) == sum(1 for row in text.splitlines() if row.strip()):
        names |= set(counts)  # every line is somebody's
    heads = [
        match
        for match in heads
        if match["name"].casefold() in names or (match["verb"] and not match["the"])
    ]
    if len(counts) > _MAX_HEAD_NAMES:
        heads = []
    if not heads:
        return [Utterance(start=0, end=stop, speaker="", name="")] if text.strip() else []
    utterances: list[Utterance] = []
    if text[: heads[0].start()].strip(' \t\n"“'):
        utterances.append(Utterance(start=0, end=heads[0].start(), speaker="", name=""))
    speaker: Speaker = ""
    name = ""
    for index, match in enumerate(heads):
        said = match["name"]
        if said.casefold() not in _GOES_ON or index == 0:
            speaker, name = _role(said.casefold(), owners), said
        end = heads[index + 1].start() if index + 1 < len(heads) else stop
        # What follows the paragraph of a quoted turn is told by the writer of the summary.
        start, cut = match.end(), end
        told = match["verb"] or said.casefold() in _GOES_ON
        quotes = told and text[start : start + 1] in '"“'
        if quotes and (close := re.compile(r"[\"”]\s*\n").search(text, start + 1, end)):
            cut = close.end()
        utterances.append(Utterance(start=start, end=cut, speaker=speaker, name=name))
        if cut < end and text[cut:end].strip():
            utterances.append(Utterance(start=cut, end=end, speaker="", name=""))
    return utterances


_NO_NAMES: Final = word_set("""
    subject note notes summary title date from to cc bcc re phone email example warning todo price
    features feature benefits benefit tip tips step update details question answer context however
    result results conclusion methods background objective ps p.s http https
    """)  # what stands before a colon and is nobody


def _may_be_name(name: str) -> bool:
    lower = name.casefold()
    if lower in _NO_NAMES or lower.split()[-1] in _NO_NAMES:
        return False
    return name[0].isupper() or lower in _OWNER_ROLES | _ASSISTANT_ROLES


def _role(name: str, owners: set[str]) -> Speaker:
    if name in owners:
        return "owner"
    if name in _OWNER_ROLES and not owners & _OWNER_ROLES:
        return "owner"
    if name in _ASSISTANT_ROLES or name.split()[-1] in {"assistant", "bot"}:
        return "assistant"
    return "other"
