"""Tell words that a message states from words that it gives as text, to be worked on.

What a request about text is about is a text and no statement: "translate: i hate my job",
"answer only with: yes, I like it", "set the subject to I quit". Three things show it. Words stand
in quotation marks: they are mentioned. A clause stands where only a thing can ("to I quit", "the
sentence I own three cats"). Or a request opens a place that nothing in it fills ("translate to
German", "count the words in", "make this shorter"), and what stands behind its colon, dash or line
break fills it; in "suggest a dinner: I am vegan" the place is filled, so what follows is why.

Knows: English, and one message. Does not know whose words a message holds (`voice`), nor what they
say. In doubt it is text: what is stated can be stated again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from factbook.extract.keyed.wording import unquoted
from factbook.extract.quoted_text import TEXTS
from factbook.extract.voice import blanked, voice_of
from factbook.model.facts import Overheard, StoredEpisode

__all__ = ["is_given_as_text", "stated"]

CLAUSE_CHARS: Final = 400  # ours: of the clause before a sign

_WORK: Final = (
    r"(?:translate|transcribe|transliterate|interpret|summari[sz]e|paraphrase|rephrase|reword"
    r"|rewrite|proofread|spell-?check|correct|edit|polish|shorten|condense|tighten|lengthen|expand"
    r"|simplify|(?:re)?format|convert|transform|classify|rate|analy[sz]e|parse|encode|decode"
    r"|repeat|echo|quote|recite|print|output|say|write|type|spell|reply|answer|respond|pronounce)"
)
"""What is done to a text or with one, as its verb says."""
_ABOUT_IT: Final = r"(?:grammar|spelling|wording|phrasing|punctuation|tone|style|typos?|sentiment)"
_NAMED: Final = rf"(?:{TEXTS}|sentences?|phrases?|lines?|titles?|drafts?|strings?)"
_PIECE: Final = (
    r"(?:texts?|messages?|sentences?|phrases?|paragraphs?|lines?|titles?|drafts?|strings?|words?"
    r"|subject|captions?|headlines?|slogans?|docstrings?)"
)
_BEFORE: Final = r"(?:to|into|in|as|for|after)"
_LITTLE: Final = r"(?:only|just|again|back|please|now|once|exactly|literally|verbatim|\w+ly)"
_ASKS: Final = re.compile(
    r"^\W*(?:(?:ok|okay|hey|hi|hello|now|then|so|and|please|pls)\W+)*"
    r"(?:(?:please )?(?:can|could|would|will) (?:you|i)|(?:i|we)(?:['’]d| would) like(?: you)? to"
    r"|(?:i|we) (?:want|need)(?: you)? to|i(?:['’]ll| will)? ask you to|help me(?: to)?)?\W*"
    r"(?:(?:please|pls|quickly|just)\W+)*",
    re.IGNORECASE,
)
_SPEAKS: Final = re.compile(r"\b(?:i|we|i['’]\w+|we['’]\w+|let me|let us)\b", re.IGNORECASE)
_TO_BE_KNOWN: Final = re.compile(  # of a statement: "remember this", "keep the following in mind"
    r"\b(?:remember|memori[sz]e|know|note|keep|mind|save|store|consider|respect|follow|obey|stop"
    r"|never|don['’]?t|not)\b",
    re.IGNORECASE,
)
_TO_COME: Final = re.compile(  # what stands for words that are only to come; "this repo" is there
    rf"\b(?:this|these) (?:(?:\w+ )?{_PIECE}$|(?:as|for|to|in|into|on|more|less|please|\w+er|\w+ed"
    r"|sounds?|reads?|looks?|mean|correct|right|ok(?:ay)?|well)\b)"
    r"|(?<!about )(?<!for )(?<!of )(?<!on )\b(?:this|these)$"
    rf"|\bthe following(?: (?:\w+ )?{_NAMED}| (?:in|into|to|for|as)\b.*)?$|\b{_NAMED} below$",
    re.IGNORECASE,
)
_OPEN: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "count the words in", but not "where to"
        rf"^(?!(?:where|what|who|when) [\w'’]+$)[\w'’]+ .*\b(?:{_BEFORE}|with|of|from|by|about"
        r"|using|like)$",
        rf"^{_WORK}(?: {_LITTLE})*+(?: {_BEFORE}(?: [\w'’-]+){{1,8}})?$",
        rf"^(?:\w+ )?{_WORK}\b.*\b(?:the|my|any|its) {_ABOUT_IT}$|^fix (?:the|my|any) {_ABOUT_IT}$",
        rf"\bthe (?:\w+ )?{_PIECE}$|^{_PIECE}$|\b{_WORK}\b.*\b(?:the|my) (?:\w+ )?{_NAMED}$",
        r"^(?:tweet|text|e?mail|message|post|comment)(?: (?:\w+|(?:to|for) \w+))?$",
        r"^(?:in )?\w+,? (?:please|pls)$",  # "Spanish please"
    )
)
_IT: Final = re.compile(  # that nothing stands before: "make it shorter", "here it is, correct it"
    rf"(?:^|, )(?:(?:and|then) )?(?:{_WORK}|make|turn|fix|improve|check) (?:it|them)\b",
    re.IGNORECASE,
)
_SAYS: Final = re.compile(
    r"(?:let me|let us|i|we)(?: \w+){0,2} (?:say|tell|add|mention|admit|repeat|stress)\b",
    re.IGNORECASE,
)
_ANNOUNCED: Final = re.compile(
    rf"\b(?:the following|this|next) (?:\w+ )?{_NAMED}$|\b{_NAMED} below$", re.IGNORECASE
)
_WORKS: Final = re.compile(rf"{_WORK}\b|(?:in )?\w+,? (?:please|pls)$", re.IGNORECASE)
_MARK: Final = re.compile(
    r"(?P<colon>[:：])(?=\s|$|[\"“„«'‘])|\s(?P<dash>-{1,2}|[–—])\s|(?P<stop>[.!])\s|(?P<line>\n)\s*"
)
_PARAGRAPH: Final = re.compile(r"(?:(?!\n[ \t]*\n).)*+", re.DOTALL)
_SENTENCE: Final = re.compile(r"(?:[^.!?\n]|[.!?](?!\s))*+")
_BEGINS: Final = re.compile(r"[.!?]\s+|\n\s*|[:：;]\s")
_SINGLE: Final = re.compile(r"(?<!\w)(?:'[^'\n]+'|‘[^’\n]+’)(?!\w)")
_IN_A_PLACE: Final = re.compile(
    rf"(?:\b(?:to|with|into|of|from|by|about) |\b{_WORK}(?:ing)? "
    rf"|\b(?:{_WORK}\b[^.!?\n]{{0,60}}|with|as) (?:the )?(?:\w+ )?{_NAMED} )"
    r"(?=(?:i|we|i['’]\w+|we['’]\w+) [\w'’]+)",
    re.IGNORECASE,
)


def is_given_as_text(message: str, start: int, end: int, *, named: bool = True) -> bool:
    """Tell whether a part of a message is text that the message gives, and states nothing.

    Without `named`, what it only names counts not: the value of a key is named.
    """
    if any(a < end and start < b for a, b in requested(message)):
        return True
    placed = (_behind(message, place, _SENTENCE) for place in _IN_A_PLACE.finditer(message))
    return named and (
        any(a < end and start < b for a, b in placed)
        or any(a <= start and end <= b for a, b in _mentioned(message))
    )


def _mentioned(message: str) -> Iterator[tuple[int, int]]:
    """Yield what stands in quotation marks."""
    blotted = unquoted(message)
    for piece in re.finditer("_+", blotted):
        if message[piece.start() : piece.end()] != piece[0]:
            yield piece.span()
    for single in _SINGLE.finditer(message):
        yield single.span()


def stated(episode: StoredEpisode) -> str:
    """Return an episode with line breaks for what whoever speaks does not state in their own words.

    Places stay the same.
    """
    text = voice_of(episode).text
    return blanked(text, [Overheard(start, end, "") for start, end in requested(episode.text)])


def requested(message: str) -> list[tuple[int, int]]:
    """Return the parts of a message behind a request to do something to them, as (start, end).

    Each reaches to the end of its paragraph; they are in order, and none overlaps.
    """
    spans: list[tuple[int, int]] = []
    for mark in _MARK.finditer(message):
        if (not spans or mark.start() >= spans[-1][1]) and _opens(message, mark):
            spans.append(_behind(message, mark, _PARAGRAPH))
    return spans


def _behind(message: str, mark: re.Match[str], piece: re.Pattern[str]) -> tuple[int, int]:
    behind = piece.match(message, mark.end())
    return mark.end(), behind.end() if behind else mark.end()


def _opens(message: str, mark: re.Match[str]) -> bool:
    """Tell whether the clause before a sign asks for something to be done to what comes behind."""
    line = message[max(0, mark.start() - CLAUSE_CHARS) : mark.start()]
    begins = [begin.end() for begin in _BEGINS.finditer(line)]
    clause = line[begins[-1] if begins else 0 :].strip()
    if mark["line"] and not clause:
        return False
    asked = _ASKS.sub("", " ".join(clause.split())).rstrip(" ,:;-–—?")
    if not asked or _TO_BE_KNOWN.search(asked):
        return False
    to_come = _TO_COME.search(asked) is not None
    if mark["stop"]:
        return _ANNOUNCED.search(asked) is not None
    if _SPEAKS.search(asked):  # "what I work with: ...", but not "how do I say this: ..."
        return to_come and _SAYS.match(asked) is None
    if not mark["dash"] and _IT.search(asked):
        return True
    if mark["line"] and not (to_come or _WORKS.match(asked)):
        return False  # a new line may begin something new
    return to_come or any(pattern.search(asked) for pattern in _OPEN)
