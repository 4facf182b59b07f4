"""Find what a text of a person states that is worth keeping, by what the reader makes of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.extract.voice import is_others
from factbook.language.calendar import MONTHS, RELATIVE_DAYS, WEEKDAYS
from factbook.language.common_words import is_function_word
from factbook.language.reader.read import read
from factbook.language.reader.reading import (
    JOINING,
    KEEP,
    NOT_MEANT,
    Clause,
    Reader,
    Reading,
    Token,
)
from factbook.language.sentences import markdown_sentences

MAX_TEXT_CHARS: Final = 100_000  # ours: of one episode; what follows is pasted material
MAX_READ_CHARS: Final = 20_000  # ours: of own words; the reader takes a second for as many
MAX_STATEMENT_CHARS: Final = 240  # origins 000.3: a snippet is a sentence of at most 240 characters


class Sentence(NamedTuple):
    """One sentence and its place; `text` is exactly what stands there."""

    text: str
    start: int
    end: int


class Statement(NamedTuple):
    """What a text states, and its place; `text` is exactly what stands there."""

    text: str
    start: int
    end: int
    of: str  # whose matter it is, of `labels.OWNERS`
    clear: bool  # worth keeping though it is said once
    flags: frozenset[str]  # of `labels.FLAGS`


def split(text: str) -> list[Sentence]:
    """Return the sentences of a text in order, each with its place (`markdown_sentences`).

    Code blocks, headings and tables hold none. Texts over 100,000 characters are read up to there.
    """
    spans = markdown_sentences(text[:MAX_TEXT_CHARS])
    return [Sentence(text[start:end], start, end) for start, end in spans]


_WORD: Final = re.compile(r"[^\W_]+(?:['’.\-+#&/][^\W_]+)*[+#]*")


def words(text: str) -> list[str]:
    """Return the words of a text in order, lower case."""
    return _WORD.findall(text.replace("’", "'").replace("‘", "'").lower())


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that carry its subject matter."""
    return frozenset(word for word in words(text) if not is_function_word(word))


_STATING: Final = frozenset({"tell", "want"})  # a standing wish asks, and is worth knowing
_HANGING: Final = frozenset({"CCONJ", "PUNCT"})
_POINTING: Final = word_set(
    "he she it they him her them this that these those his its their hes shes theyre thats"
)
_OWN: Final = word_set("i im ive me my mine we our us")
# nobody knows in a month what this was
_THINGS: Final = word_set("it its it's this that thats that's")
_NOUNS: Final = ("NOUN", "PROPN")
_OF_ANOTHER: Final = re.compile(r"[a-z]+[^\Ws]s")  # "plays": nobody says this form of themselves
_STANDING_IN: Final = word_set("mine yours hers ours theirs one ones")  # for what was named
_SUBJECTS: Final = frozenset({"nsubj", "csubj"})
_ARGUMENTS: Final = _SUBJECTS | {"obj", "nmod", "det"}
FAR: Final = 3  # ours: clauses between "she" and her name
_BLANK: Final = re.compile(r"[\[<{][a-z][a-z _-]*[\]>}]|_{3}")  # of a form that nobody filled in
_TIMES: Final = frozenset({*MONTHS, *WEEKDAYS, *RELATIVE_DAYS}) | word_set(
    "day days week weeks month months year years spring summer autumn fall winter last next"
    " st nd rd th"
)
_SOON: Final = RELATIVE_DAYS - {"yesterday"}
_MATTERS: Final = frozenset({"identity", "family", "health"})  # of a life, on whatever day
_CLOSE: Final = re.compile(r"[.!…]{1,3}")
_OPENING: Final = frozenset("([\"“‘'#@$€£`")  # marks that belong to what stands behind them
_CLOSING: Final = frozenset(".!…)]\"”’'%`")  # and before them
_IN_PATHS: Final = frozenset("/\\")


def statements(
    text: str,
    answers: str = "",
    *,
    recurring: bool = False,
    all_told: bool = False,
    reader: Reader | None = None,
) -> list[Statement]:
    """Return what a text states that is worth keeping, in its order; it stands there word for word.

    A statement is a clause, without the words that join it to others; one without subject and
    verb, or one that speaks of "it", stands with the clause that it needs. `answers` is the line
    that the text answers. `recurring` is for what may be said several times: what says something of
    a thing that it names is then returned too, as not clear; `all_told` adds whatever else is told,
    also where it reads like another's words.
    Own words are read up to 20,000 characters, by the reader that ships unless another is given.
    """
    if not text or text.isspace():
        return []
    reading = (read if reader is None else reader.read)(text[:MAX_READ_CHARS], answers)
    parts: list[Statement] = []
    for at, clause in enumerate(reading.clauses):
        if clause.act not in _STATING or clause.flags & NOT_MEANT:
            continue
        if not all_told and is_others(reading, clause.begin, clause.end):
            continue
        clear = clause.keep >= KEEP and not _passes(reading, clause)
        more = all_told or (recurring and _names(reading, clause))
        if not clear and not (more and clause.act == "tell"):
            continue
        needed = _needed(reading, at)
        if needed is None and _dangles(reading, clause):
            continue
        start, end = _place(reading, clause, needed)
        of, flags = clause.of, clause.flags
        if needed is not None and needed.of == "person":
            of = needed.of
        while parts and start < parts[-1].end:
            if end - parts[-1].start > MAX_STATEMENT_CHARS:
                start = max(parts[-1].end, clause.begin)
                break
            before = parts.pop()
            start, clear = min(start, before.start), clear or before.clear
            of, flags = before.of, flags | before.flags
        said = text[start:end]
        fits = len(said) <= MAX_STATEMENT_CHARS and not _BLANK.search(said)
        if fits and content_words(said):
            parts.append(Statement(said, start, end, of, clear, flags))
    return parts


def tells(text: str) -> bool:
    """Say whether a sentence states anything that its writer means."""
    return any(_meant(clause) for clause in read(text).clauses)


def _passes(reading: Reading, clause: Clause) -> bool:
    """Say whether a clause tells of a plan for the day that it is said on, or the next."""
    if clause.kind in _MATTERS or not (clause.kind == "plan" or "future" in clause.flags):
        return False
    return any(token.text.lower() in _SOON for token in reading.tokens[clause.first : clause.last])


def _names(reading: Reading, clause: Clause) -> bool:
    return any(clause.begin <= name.begin < clause.end for name in reading.names)


def _place(reading: Reading, clause: Clause, needed: Clause | None) -> tuple[int, int]:
    """Return the place of a clause, with the one that it needs where there is room for both."""
    start, end = _bare(reading, clause)
    if needed is not None:
        begin, stop = _bare(reading, needed)
        if max(end, stop) - min(start, begin) <= MAX_STATEMENT_CHARS:
            start, end = min(start, begin), max(end, stop)
    opened = reading.text.count("(", start, end) - reading.text.count(")", start, end)
    if opened == 1 and reading.text.startswith(")", end):
        end += 1
    close = _CLOSE.match(reading.text, end)
    return start, close.end() if close else end


def _bare(reading: Reading, clause: Clause) -> tuple[int, int]:
    """Return the place of a clause without the words that join it to others."""
    first = _to_listener(reading, clause)
    tokens = list(reading.tokens[first : clause.last] or reading.tokens[clause.first : clause.last])
    while len(tokens) > 1 and _joins(tokens[0]):
        del tokens[0]
    while len(tokens) > 1 and _hangs(tokens[-1], tokens[-2]):
        del tokens[-1]
    return tokens[0].begin, tokens[-1].end


def _to_listener(reading: Reading, clause: Clause) -> int:
    """Return where a clause goes on behind a lead of what the listener does: "As you know, ..."."""
    lead = reading.tokens[clause.first : clause.last]
    comma = next((at for at, token in enumerate(lead) if token.text == ","), 0) + clause.first
    for token in reading.tokens[clause.first : comma]:
        if token.relation in _SUBJECTS and token.text.lower() == "you":
            verb = reading.tokens[token.head]
            if verb.relation == "advcl" and verb.head > comma:
                return comma + 1
    return clause.first


def _hangs(token: Token, before: Token) -> bool:
    """Tell whether a word at the end only joins, or is a sign, and no part of a path: "src/gen"."""
    goes_on = token.begin == before.end and (_is_word(token) or token.text in _IN_PATHS)
    return token.pos in _HANGING and token.text not in _CLOSING and not goes_on


def _is_word(token: Token) -> bool:
    return any(map(str.isalnum, token.text))


def _joins(token: Token) -> bool:
    sign = token.relation == "punct" and _is_word(token)  # a path that reads as a mark
    return token.relation in JOINING and token.text not in _OPENING and not sign


def _needed(reading: Reading, at: int) -> Clause | None:
    """Return the clause beside this one without which it says nothing; None where it does."""
    clause = reading.clauses[at]
    tokens = reading.tokens[clause.first : clause.last]
    if any(token.pos in ("VERB", "AUX") or token.relation in _SUBJECTS for token in tokens):
        if _points(tokens) or _leaves_out(clause, tokens):
            return _named(reading, at)
        if _says(tokens):
            return None
        if any(token.relation in _SUBJECTS for token in tokens):
            after = reading.clauses[at + 1 : at + 2]  # "We moved! I live in Ghent now."
            told = (other for other in after if _meant(other) and other.keep >= KEEP)
            return next(told, None) if "past" in clause.flags else None
    heads = {
        token.head
        for token in tokens
        if token.head >= 0 and not clause.first <= token.head < clause.last
    }
    for other in (*reading.clauses[max(0, at - 1) : at], *reading.clauses[at + 1 : at + 2]):
        if _meant(other) and any(other.first <= head < other.last for head in heads):
            return other
    return None


def _leaves_out(clause: Clause, tokens: Sequence[Token]) -> bool:
    """Tell whether a clause leaves out whom it tells of, and it is not its writer: "plays oboe"."""
    if any(token.relation in _SUBJECTS or token.relation == "expl" for token in tokens):
        return False
    if any(token.text.lower() in _OWN for token in tokens):
        return False
    first = tokens[0]
    if clause.of in ("person", "thing"):
        return True
    return first.pos == "VERB" and _OF_ANOTHER.fullmatch(first.text.lower()) is not None


def _says(tokens: Sequence[Token]) -> bool:
    """Tell whether a clause says more than that something was done, and when: "stopped in 2024"."""
    return any(
        token.pos in ("NOUN", "PROPN", "ADJ") and token.text.lower() not in _TIMES
        for token in tokens
    )


def _named(reading: Reading, at: int) -> Clause | None:
    """Return the clause before this one that names what it is about, as far as one does."""
    near = [
        (other, reading.tokens[other.first : other.last])
        for other in reversed(reading.clauses[max(0, at - FAR) : at])
        if other.act != "chat" and "quoted" not in other.flags
    ]
    naming = [(other, tokens) for other, tokens in near if not _points(tokens)]
    for other, tokens in naming:
        if any(token.relation in _SUBJECTS for token in tokens):
            return other
    for other, tokens in naming:  # a tree of sloppy words need not know its subject
        if other.act == "tell" and any(token.pos in ("NOUN", "PROPN") for token in tokens):
            return other
    return None


def _meant(clause: Clause) -> bool:
    return clause.act == "tell" and not clause.flags & NOT_MEANT


def _points(tokens: Sequence[Token]) -> bool:
    """Say whether a clause is about something that was named before it."""
    for token, after in zip_longest(tokens, tokens[1:]):
        word = token.text.lower()
        if token.relation in _ARGUMENTS and word in _POINTING:
            return True
        stands_in = token.relation in _SUBJECTS and word in _STANDING_IN
        if stands_in and (after is None or after.text.lower() != "of"):
            return True
        if token.pos in ("NOUN", "PROPN") and token.relation != "vocative":
            return False
    return False


def _named_before(reading: Reading, token: Token) -> bool:
    return any(other.begin < token.begin and other.pos in _NOUNS for other in reading.tokens)


def _dangles(reading: Reading, clause: Clause) -> bool:
    """Say whether a clause tells of what nothing names: "the second one", "it was late"."""
    tokens = reading.tokens[clause.first : clause.last]
    subject = next((token for token in tokens if token.relation in _SUBJECTS), None)
    if subject is not None and subject.text.lower() in _THINGS:
        of_somebody = any(token.text.lower() in _OWN for token in tokens)
        if not of_somebody and not _named_before(reading, subject):
            return True
    standing = [
        token
        for token in tokens
        if token.text.lower() in _STANDING_IN and token.pos != "NUM"
        if token.relation in ("nsubj", "root", "nmod")
    ]
    named = (token for token in tokens if token.pos in ("NOUN", "PROPN") and token not in standing)
    return bool(standing) and all(token.text.lower() in _TIMES for token in named)
