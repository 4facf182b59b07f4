"""Find what may be a name in a text.

Names are what the reader takes for them, and what is written so that nothing has to be understood:
titles in quotes, hashtags, numbers of models ("LS50"). Where two overlap the longer one holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from factbook import policy
from factbook.extract.base import word_set
from factbook.extract.name_tokens import (
    COUNTED,
    MEASURE,
    NAME_CHARS,
    NameSign,
    NameSpan,
    is_english,
    is_uncommon,
    masked,
)
from factbook.language.common_words import is_everyday, is_function_word
from factbook.language.reader.read import read
from factbook.language.sentences import LINE_END
from factbook.model.keys import entity_name
from factbook.net import cancel

LEAST_CHANCE: Final = 0.55
"""From this chance on a stretch that the reader marks is a name."""
DOUBTED_CHANCE: Final = 0.95
"""The same, where all its words are everyday ones, or it has neither a proper noun nor capitals."""
READ_CHARS: Final = 20_000  # ours: of a text, by the reader; what follows is pasted material

_QUOTE: Final = re.compile(
    r"《(?P<title>[^》《\n]{1,60})》|(?:«|“|„|(?<![\w\"])\")(?P<words>[^»«”“„\"\n]{1,120})[»”“\"](?!\w)"
)
_HASHTAG: Final = re.compile(r"(?<![\w&/#])#(?P<tag>[^\W\d_][\w-]{1,50})")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[-_]")


def _quoted(text: str, least: int) -> Iterator[NameSpan]:
    """Yield titles in quotes of so many words at least, which another language has as well."""
    for match in _QUOTE.finditer(text):
        words = (match["words"] or "").split()
        if match["title"] or (len(words) >= least and is_headline(words)):
            yield from _span(text, match.start() + 1, match.end() - 1, NameSign.QUOTED)


def is_headline(words: list[str]) -> bool:
    """Say whether every word that carries meaning has a capital."""
    weighty = [word for word in words if len(word) > 3 or not is_function_word(word.casefold())]
    return words[0][:1].isupper() and all(not word[:1].islower() for word in weighty)


def _hashtags(text: str) -> Iterator[NameSpan]:
    """Yield every hashtag; one of everyday words ("#fun") has no name."""
    for match in _HASHTAG.finditer(text):
        tag, start, end = match["tag"], match.start("tag"), match.end("tag")
        words = [word.casefold() for word in _HUMP.split(tag) if word]
        colour = re.fullmatch(r"[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8}", tag)
        named = not colour and (len(words) > 1 or is_uncommon(tag))
        name = entity_name(" ".join(words)) if named else ""
        yield NameSpan(tag, name, start, end, NameSign.HASHTAG)


VARIANTS: Final = word_set("mini max pro ultra lite nano micro junior jr se xl evo deluxe elite")
"""Behind the name of a thing, in lower case too, these make it the name of another model."""
_MODEL: Final = re.compile(
    r"(?<![\w@/.-])(?=[\w-]{0,20}\d)(?=[\w-]{0,20}[^\W\d_])[^\W_]{1,20}(?:-[^\W_]{1,20}){0,3}"
    r"(?![\w@/-]|\.\w)"
)
_BEFORE: Final = re.compile(r"(?P<word>[^\W\d_][\w&'’-]{0,30})(?<!['’]s) \Z")
_BEHIND: Final = re.compile(r" (?P<word>[^\W_][\w&'’-]{0,30})")
_BESIDE: Final = 3  # words on each side of a model's number that may be part of its name


def _models(text: str) -> Iterator[NameSpan]:
    """Yield words of letters and digits with the uncommon words beside them: "denton ls85"."""
    for match in _MODEL.finditer(text):
        cancel.check()
        word = match[0]
        low = word.casefold()
        if len(word) < 3 or MEASURE.fullmatch(low) or COUNTED.fullmatch(low):
            continue
        start, end = match.span()
        for _ in range(_BESIDE):
            before = _BEFORE.search(text, max(0, start - 40), start)
            if before is None or not is_uncommon(before["word"]):
                break
            start = before.start("word")
        for _ in range(_BESIDE):
            behind = _BEHIND.match(text, end)
            if behind is None or not _goes_on(behind["word"]):
                break
            end = behind.end("word")
        yield from _span(text, start, end, NameSign.MODEL_NUMBER)


def _goes_on(word: str) -> bool:
    return word.casefold() in VARIANTS or (word[0].isupper() and is_uncommon(word))


def names_in(text: str) -> list[NameSpan]:
    """Return what may be names in a text, in its order, none overlapping; raises ReaderError."""
    plain = masked(text)
    cancel.check()
    english = is_english(plain.replace(LINE_END, " "))
    spans = [*_quoted(plain, 2 if english else 1), *_hashtags(plain), *_models(plain)]
    if english:
        spans += _joined(plain, list(_read(plain)))
    return _longest(spans, len(plain))


def _read(text: str) -> Iterator[NameSpan]:
    """Yield what the reader marks, each whole."""
    reading = read(text[:READ_CHARS])
    proper = {token.begin for token in reading.tokens if token.pos == "PROPN"}
    for span in reading.names:
        words = text[span.begin : span.end].split()
        plain = proper.isdisjoint(range(span.begin, span.end)) and not is_headline(words)
        doubted = plain or all(is_everyday(word.casefold()) for word in words)
        if span.chance < (DOUBTED_CHANCE if doubted else LEAST_CHANCE):
            continue
        article = _ARTICLE.match(text, span.begin, span.end)
        more = (_OF_PERSON if span.type == "person" else _OF_THING).match(text, span.end)
        end = more.end() if more else span.end
        model = _OF_MODEL.match(text, end)
        yield from _span(
            text,
            article.end() if article else span.begin,
            model.end() if model else end,
            NameSign.READ,
            span.type,
        )


_ARTICLE: Final = re.compile(r"(?:the|an?) (?=\S)")
_CAPITAL: Final = r"(?!I\b)[A-Z][a-z'’]{1,30}"
_LAST_PARTS: Final = (
    rf"(?:['’]s(?: {_CAPITAL}){{1,3}})?"
    r"(?: \d{1,4}(?:\.\d{1,3})?(?=\s*[,;:!?]|\s*\.?\s*(?:\Z|\n)))?"
)
_OF_PERSON: Final = re.compile(rf"\w*(?:(?: of the)? {_CAPITAL}){{0,3}}{_LAST_PARTS}")
_OF_THING: Final = re.compile(rf"\w*(?:(?: of(?: the)?)? {_CAPITAL}){{0,3}}{_LAST_PARTS}")
"""What belongs to a name behind what the reader marks: "Ender's Game", "Game of Thrones"."""
_OF_MODEL: Final = re.compile(
    rf" (?:{'|'.join(sorted(VARIANTS))})\b(?: \d{{1,3}}\b(?! \w+s\b))?", re.IGNORECASE
)


def _joined(text: str, spans: Sequence[NameSpan]) -> list[NameSpan]:
    """Return names, those beside each other as one: "Boss" "Katana 50"."""
    joined: list[NameSpan] = []
    for span in spans:
        last = joined[-1] if joined else None
        if last and (span.start < last.end or text[last.end : span.start] == " "):
            end = max(last.end, span.end)
            joined[-1:] = _span(text, last.start, end, NameSign.READ, span.type)
        else:
            joined.append(span)
    return joined


def _span(text: str, start: int, end: int, how: NameSign, kind: str = "") -> Iterator[NameSpan]:
    surface = text[start:end]
    name = entity_name(surface)
    fits = len(surface) <= NAME_CHARS and len(name.split()) <= policy.NAME_WORDS
    if name and fits and LINE_END not in surface and "\n" not in surface:
        start += len(surface) - len(surface.lstrip())
        yield NameSpan(surface.strip(), name, start, start + len(surface.strip()), how, kind)


def _rank(span: NameSpan) -> tuple[bool, int, int]:
    """Order spans as they are taken: hashtags first, then the longer before the shorter."""
    return (span.how is not NameSign.HASHTAG, span.start - span.end, span.start)


def _longest(spans: Iterable[NameSpan], size: int) -> list[NameSpan]:
    """Leave out what overlaps something longer, and what is written as a name and names nothing."""
    kept: list[NameSpan] = []
    owner = [-1] * size  # which of them has a character
    for span in sorted(spans, key=_rank):
        over = set(owner[span.start : span.end]) - {-1}
        if not over:
            owner[span.start : span.end] = [len(kept)] * (span.end - span.start)
            kept.append(span)
        for n in over:
            kept[n] = kept[n]._replace(type=kept[n].type or span.type)
    return sorted((span for span in kept if span.name), key=lambda span: span.start)
