"""Find the sentences of a reply that report a thing, and cut them out so that they read well."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.base import Rule, RuleHit, finds
from factbook.extract.reports import EMPHASIS, masked, reports
from factbook.language.common_words import is_everyday, is_function_word
from factbook.language.sentences import Span, around, markdown_sentences
from factbook.model.facts import Episode
from factbook.model.text import shorten

MAX_SENTENCE_CHARS: Final = 1_200
"""A longer stretch without a full stop is no sentence; it is cut at a word before it is judged."""

MIN_SNIPPET_WORDS: Final = 4
"""Shorter sentences ("Fixed.", "Found it:") say nothing on their own."""

REPORTS: Final = ("provides_solution", "identifies_issue", "discovery")
"""What a sentence reports is one of these, the first that it is."""

_ANNOUNCED: Final = "discovery"  # of the rules the one whose words announce what follows
_ANNOUNCING: Final = 8  # words at most that only announce ("Found the root cause!")
_ABOUT_CHARS: Final = 400  # ours: of a prompt, in which it says what it is about
_LISTED: Final = re.compile(r"\s*(?:[-*+•✅❌✔☐]|\d{1,3}[.)])\s")
_QUOTED_LINE: Final = re.compile(r"\s*(?:>|\[?\d{2}:\d{2}:\d{2}|\d{4}-\d{2}-\d{2}[T ]\d)")
_CODE_LINE: Final = re.compile(
    r"[ \t>+-]*(?:(?:throw|raise)[ \t]+(?:new[ \t]+)?[\w.]+\("
    r"|.*(?:[)\]}'\"][ \t]*;|\)[ \t]*\{)[ \t]*$)",
    re.MULTILINE,
)
_LEAD_LINES: Final = 40  # of a list, up to what leads to it
_LEAD_CHARS: Final = 100  # of what leads to a list
_OWN_STEP: Final = re.compile(
    r"(?:\w+\W+){0,2}?(?:I|We|Let)\b|[^\n]*[,:;] (?:I|we)(?:['’](?:m|re|ll)| am| are| will)\b",
    re.IGNORECASE,
)
"""What its writer does next is not what was announced ("I found the file. Next I read it.")."""
_ASIDE: Final = re.compile(r"\([^()\n]*\)")  # what a sentence adds is not what it reports
_NEXT_WORD: Final = re.compile(r"[ \t]+([a-z]+)")
_WORD_BEFORE: Final = re.compile(r"([A-Za-z][\w+.-]*)[ \t]+\Z")


@lru_cache(maxsize=4)
def _sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences of a Markdown text; one that ends in a colon goes on into the next."""
    spans = list(markdown_sentences(text))
    for index, following in enumerate(spans[1:]):
        before = spans[index]
        # Only what comes directly after it, not a list nor what stands behind a code block.
        if text[before.end - 1] == ":" and not text[before.end : following.start].strip():
            spans[index] = Span(before.start, following.end)
    return tuple(spans)


@lru_cache(maxsize=64)
def keyword_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Compile a list of words and phrases into one pattern with word boundaries, in lower case."""
    parts = sorted((r"\s+".join(map(re.escape, word.lower().split())) for word in words), key=len)
    return re.compile(r"(?<![\w-])(?:" + "|".join(reversed(parts)) + r")(?![\w/(-])")


@lru_cache(maxsize=64)
def _folded(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple({word.split()[0].lower(): None for word in words})


@lru_cache(maxsize=4)
def _lower(text: str) -> str:
    """Lower a text without moving its characters (`İ` would become two)."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower()[:1] for c in text)


class Candidate(NamedTuple):
    """A sentence that holds one of a rule's words, and may report something by it."""

    number: int  # of the text's sentences
    hit: int  # where the word stands
    place: Span  # of the sentence, or of its part around the word
    lead: str  # the line that leads to the list in which it stands; empty where there is none


def candidates(text: str, rule: Rule) -> Iterator[Candidate]:
    """Find the sentences that may report something by one of the rule's words."""
    lower = _lower(text)
    hits = [at for word in _folded(rule.keywords) if word in lower for at in finds(lower, word)]
    places = _sentences(text) if hits else ()
    done = -1
    for hit in sorted(hits):
        index = bisect_right(places, hit, key=lambda place: place.start) - 1
        if index <= done or index < 0 or hit >= places[index].end:
            continue
        done = index
        found = _candidate(text, lower, places, index, rule)
        if found:
            yield found


def _candidate(
    text: str, lower: str, places: Sequence[Span], index: int, rule: Rule
) -> Candidate | None:
    start, end = places[index]
    line = lower.rfind("\n", 0, start) + 1
    said = masked(lower[start : min(end, start + 4 * MAX_SENTENCE_CHARS)])
    said = _ASIDE.sub(lambda aside: " " * len(aside[0]), said)
    first = keyword_pattern(rule.keywords).search(said)
    if first is None or _is_open(text, start, end):
        return None
    if _QUOTED_LINE.match(text, line) or _CODE_LINE.match(text, line):
        return None
    lead = _lead(text, line) if _LISTED.match(text, line) else ""
    hit = start + first.start()
    return Candidate(index, hit, _cut(text, start, end, hit), lead)


def snippets(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the sentences that report something by one of the rule's words."""
    del episode
    for candidate in candidates(text, rule):
        if found := _report(text, candidate, rule):
            yield found


def announced(text: str, candidate: Candidate, rule: Rule) -> Span | None:
    """Return the sentence that one only announces ("Found the bug!"), if it does; with it."""
    places = _sentences(text)
    start, end = places[candidate.number]
    if rule.predicate != _ANNOUNCED or text.count(" ", start, end) >= _ANNOUNCING:
        return None
    if candidate.number + 1 == len(places):
        return None
    after, stop = places[candidate.number + 1]
    if text[end:after].strip() or "`" in text[start:end] or stop - after > MAX_SENTENCE_CHARS:
        return None  # not what follows in a list, or what a thing is called
    if _is_open(text, after, stop) or _OWN_STEP.match(text, after, stop):
        return None
    return Span(start, stop)


def _report(text: str, candidate: Candidate, rule: Rule) -> RuleHit | None:
    """Return what a sentence reports, or the one behind it that it announces, if either does."""
    words = keyword_pattern(rule.keywords)
    place = candidate.place
    if reports(place.of(text), rule.predicate, words, lead=candidate.lead):
        return _snippet(text, place, candidate.hit)
    both = announced(text, candidate, rule)
    if both is None or not reports(both.of(text), rule.predicate, words):
        return None
    fact = _sentences(text)[candidate.number + 1]
    return _snippet(text, fact, fact.start)


def _is_open(text: str, start: int, end: int) -> bool:
    """Tell whether a sentence asks, or leads to what follows it."""
    return text[start:end].rstrip("*_\"')")[-1:] in (":", "?")


def _lead(text: str, line: int) -> str:
    """Return the line that leads to the list that a line is in; empty where there is none."""
    for _ in range(_LEAD_LINES):
        if line <= 0:
            return ""
        end = line - 1
        line = text.rfind("\n", 0, end) + 1
        above = text[line:end]
        if above.strip() and not _LISTED.match(above) and not above.startswith(("  ", "\t")):
            return above[-_LEAD_CHARS:]
    return ""


def _cut(text: str, start: int, end: int, hit: int) -> Span:
    """Return of a sentence that is too long the part around a hit."""
    if hit - start > MAX_SENTENCE_CHARS // 2:
        start = text.find(" ", hit - MAX_SENTENCE_CHARS // 2, hit) + 1 or hit
    return Span(start, min(end, start + MAX_SENTENCE_CHARS))


def _snippet(text: str, place: Span, hit: int) -> RuleHit | None:
    """Return a sentence as it is shown, the part around a hit where it is long."""
    start, end = place
    lead = ""
    if hit - start > policy.SNIPPET_CHARS * 3 // 4 and end - start > policy.SNIPPET_CHARS:
        start = text.find(" ", hit - policy.SNIPPET_CHARS // 2, hit) + 1 or hit
        lead = "…"
    snippet = lead + shorten(EMPHASIS.sub("", text[start:end]), policy.SNIPPET_CHARS - len(lead))
    if snippet.count(" ") + 1 < MIN_SNIPPET_WORDS and snippet.isascii():
        return None
    return RuleHit(snippet, start, end)


def keywords_in_text(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the rule's words themselves, each once; the object is the word as the rule has it.

    What a task is about stands at its beginning, and not deep in what is handed on with it, nor in
    what is pasted. A common word before another noun only says which: "the server tests". One
    behind a name is of another thing, which has that name: "the MCP server".
    """
    text = text[:_ABOUT_CHARS]
    lower = _lower(text)
    named = [word for word in rule.keywords if word.split()[0].lower() in lower]
    text = _own_layout(text, episode) if named else ""
    for word in named:
        for hit in _system_pattern(word).finditer(text):
            if not is_everyday(word.lower()) or not (
                _tells_which(text, *hit.span()) or _is_named(text, *hit.span(), rule.keywords)
            ):
                yield RuleHit(word.lower(), hit.start(), hit.end())
                break


def _own_layout(text: str, episode: Episode) -> str:
    """Return a text without what shows by its layout that it is pasted, of the same length."""
    from factbook.extract.voice import blanked, in_layout

    return blanked(text, in_layout(text, [at for at in episode.pasted if at[0] < len(text)]))


def _tells_which(text: str, start: int, end: int) -> bool:
    """Tell whether a word is the first part of a compound; read where another word follows it."""
    following = _NEXT_WORD.match(text, end)
    if following is None or is_function_word(following[1]):
        return False
    return _is_compound(text, start, start, end)


def _is_named(text: str, start: int, end: int, known: tuple[str, ...]) -> bool:
    """Tell whether a name that is none of the rule's words stands before a word, as part of it."""
    before = _WORD_BEFORE.search(text, max(0, start - MAX_SENTENCE_CHARS), start)
    if before is None:
        return False
    name = before[1].lower()
    if is_function_word(name) or is_everyday(name) or name in {w for k in known for w in k.split()}:
        return False
    return _is_compound(text, before.start(1), start, end)


def _is_compound(text: str, at: int, start: int, end: int) -> bool:
    """Tell whether the word at a place is read as the first part of a compound."""
    from factbook.language.reader.read import read

    begin, stop = around(text, start, end)
    begin, stop = max(begin, start - MAX_SENTENCE_CHARS), min(stop, end + MAX_SENTENCE_CHARS)
    tokens = read(text[begin:stop]).tokens
    return any(one.begin == at - begin and one.relation == "compound" for one in tokens)


@lru_cache(maxsize=1024)
def _system_pattern(word: str) -> re.Pattern[str]:
    """Compile one keyword: whole words, no part of a path, a file, an identifier or a value."""
    phrase = r"[\s-]+".join(map(re.escape, word.split()))
    plural = "" if word.endswith("s") else "s?"
    return re.compile(
        rf"(?<![\w/\\.@:#$\"-]){phrase}{plural}(?![\w/\\@-]|[.:](?=\w)|\()", re.IGNORECASE
    )
