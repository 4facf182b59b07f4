"""Find the sentences of a reply that say a thing, and cut them out so that they read well.

Knows: sentences in Markdown (lists, headings, tables, code fences) and how to take noise out before
looking for a word. Does not know what the words mean: a rule brings them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.base import Found, Rule, shorten
from factbook.model.facts import Episode

__all__ = ["Sentence", "keywords_in_text", "sentences", "snippets"]

MAX_SENTENCE_CHARS: Final = 1_200
"""A longer stretch without a full stop is no sentence; it is cut at a word before it is judged."""

MIN_SNIPPET_WORDS: Final = 4
"""Shorter sentences ("Fixed.", "Found it:") say nothing on their own."""

_LINE: Final = re.compile(r"[^\n]*\n?")
_FENCE: Final = re.compile(r"[ \t>]*(```+|~~~+)")
_NOT_PROSE: Final = re.compile(
    r"[ \t]*(?:\#{1,6}[ \t]|\||[-*_=─━═—]{3,}[ \t]*$|</?\w[^>]*>[ \t]*$|`[^`\n]{0,80}─|★)"
)
_LIST_ITEM: Final = re.compile(
    r"[ \t>]*(?:[-*+•✓✔✗✘✅❌⚠️→]+|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])[ \t]+(?:\[[ xX]\][ \t]+)?"
)
_INDENT: Final = re.compile(r"[ \t>]*")
_STOP: Final = re.compile(r"(?:(?<![.!?])[.!?]++[\"'”’)\]*_`]*+(?=\s)|[。！？])")
_NEXT_STARTS_LOW: Final = re.compile(r"\s*[a-z]")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|esp|no|nos|fig|eq|sec|Dr|Mr|Mrs|Ms|St|[A-Z])"
    r"|^\W*\d{1,3})\.$"
)
_EMPHASIS: Final = re.compile(r"\*\*|__(?=\w)|(?<=\w)__")
_SENTENCE_END: Final = frozenset(".!?:。！？")


class Sentence(NamedTuple):
    """The place of one sentence."""

    start: int
    end: int


@lru_cache(maxsize=4)
def sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a Markdown text in order.

    Code blocks, headings, tables and rules hold none. A sentence that ends in a colon goes on
    into the next item or paragraph, which is what it announces.
    """
    found: list[Sentence] = []
    blocks = _blocks(text)
    for index, (start, end) in enumerate(blocks):
        parts = list(_split(text, start, end))
        if parts and text[parts[-1].end - 1] == ":" and index + 1 < len(blocks):
            following = next(_split(text, *blocks[index + 1]), None)
            # Only what comes directly after it, not what stands behind a code block.
            if following and following.start - parts[-1].end <= 12:
                parts[-1] = Sentence(parts[-1].start, following.end)
        found += parts
    return tuple(found)


def _blocks(text: str) -> list[tuple[int, int]]:
    """Cut a text into paragraphs and list items."""
    blocks: list[tuple[int, int]] = []
    fence = ""
    joins = False  # whether the next plain line goes on with the current block
    in_list = False
    for match in _LINE.finditer(text):
        start = match.start()
        line = match[0].rstrip()
        if not line:
            joins = False
            continue
        mark = _FENCE.match(line)
        if mark:
            kind = mark[1][:3]
            fence = "" if fence == kind else (fence or kind)
            joins = False
            continue
        if fence or _NOT_PROSE.match(line):
            joins = False
            if not fence:
                in_list = False
            continue
        stop = start + len(line)
        item = _LIST_ITEM.match(line)
        indent = _INDENT.match(line)
        first = start + (item.end() if item else indent.end() if indent else 0)
        if first >= stop:
            continue
        code = not in_list and not joins and line.startswith(("    ", "\t"))
        if item is None and code:
            continue
        if item is None and joins and _goes_on(text, blocks[-1], first):
            blocks[-1] = (blocks[-1][0], stop)
        else:
            blocks.append((first, stop))
        joins = True
        in_list = item is not None or (in_list and line[0] in " \t")
    return blocks


def _goes_on(text: str, block: tuple[int, int], first: int) -> bool:
    """Tell whether a line goes on with the paragraph above it, or is one of its own."""
    if text[first].islower():
        return True
    start, end = block
    line_start = max(start, text.rfind("\n", start, end) + 1)
    return end - line_start >= 60 and text[end - 1] not in _SENTENCE_END


def _split(text: str, start: int, end: int) -> Iterator[Sentence]:
    """Cut one block at its full stops."""
    begin = start
    for stop in _STOP.finditer(text, start, end):
        at = stop.end()
        if at >= end:
            break
        if _NEXT_STARTS_LOW.match(text, at, end) and stop[0][0] == ".":
            continue
        # A full stop inside `inline code` ends nothing; an unpaired backtick must not join all.
        if at - begin < MAX_SENTENCE_CHARS and text.count("`", begin, stop.start()) % 2:
            continue
        if _ABBREVIATION.search(text, max(begin, stop.start() - 8), stop.start() + 1):
            continue
        yield Sentence(begin, at)
        begin = at
        while begin < end and text[begin].isspace():
            begin += 1
    if begin < end:
        yield Sentence(begin, end)


@lru_cache(maxsize=64)
def _words_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Compile a list of words and phrases into one pattern with word boundaries."""
    parts = sorted((r"\s+".join(map(re.escape, word.lower().split())) for word in words), key=len)
    return re.compile(r"(?<![\w-])(?:" + "|".join(reversed(parts)) + r")(?![\w/(-])")


class _Noise(NamedTuple):
    """The noise of a rule, parted so that what can only stand at the start is tried once."""

    start: re.Pattern[str] | None
    anywhere: re.Pattern[str] | None


@lru_cache(maxsize=64)
def _noise_patterns(noise: tuple[str, ...]) -> _Noise:
    start = [f"(?:{part})" for part in noise if part.startswith("^")]
    anywhere = [f"(?:{part})" for part in noise if not part.startswith("^")]
    return _Noise(
        re.compile("|".join(start)) if start else None,
        re.compile("|".join(anywhere)) if anywhere else None,
    )


@lru_cache(maxsize=64)
def _folded(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple({word.split()[0].lower(): None for word in words})


@lru_cache(maxsize=4)
def _lower(text: str) -> str:
    """Lower a text without moving its characters (`İ` would become two)."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower()[:1] for c in text)


def snippets(text: str, rule: Rule, episode: Episode) -> Iterator[Found]:
    """Find the sentences that still hold one of the rule's words once its noise is taken out."""
    del episode
    lower = _lower(text)
    hits = [at for word in _folded(rule.keywords) if word in lower for at in _finds(lower, word)]
    if not hits:
        return
    words = _words_pattern(rule.keywords)
    noise = _noise_patterns(rule.noise)
    places = sentences(text)
    done = -1
    for hit in sorted(hits):
        index = bisect_right(places, hit, key=_start) - 1
        if index <= done or index < 0 or hit >= places[index].end:
            continue
        done = index
        found = _snippet(text, lower, places[index], words, noise)
        if found:
            yield found


def _start(place: Sentence) -> int:
    return place.start


def _finds(text: str, word: str) -> Iterator[int]:
    """Find a word anywhere, also inside others: a plain search is far faster than a pattern."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _snippet(
    text: str, lower: str, place: Sentence, words: re.Pattern[str], noise: _Noise
) -> Found | None:
    """Judge one sentence; patterns see it in lower case, the snippet keeps its letters."""
    start, end = place
    first = words.search(lower, start, end)
    if first is None:
        return None
    if first.start() - start > MAX_SENTENCE_CHARS // 2:
        start = text.find(" ", first.start() - MAX_SENTENCE_CHARS // 2, first.start()) + 1
        start = start or first.start()
    end = min(end, start + MAX_SENTENCE_CHARS)
    sentence = lower[start:end].replace("\n", " ")
    # Noise is taken out letter by letter, so that places stay what they are.
    if noise.start is not None:
        opening = noise.start.match(sentence)
        if opening:
            sentence = " " * opening.end() + sentence[opening.end() :]
    if noise.anywhere is not None:
        sentence = noise.anywhere.sub(_blanks, sentence)
    kept = words.search(sentence)
    if kept is None:
        return None
    hit = start + kept.start()
    lead = ""
    if hit - start > policy.SNIPPET_CHARS * 3 // 4 and end - start > policy.SNIPPET_CHARS:
        start = text.find(" ", hit - policy.SNIPPET_CHARS // 2, hit) + 1 or hit
        lead = "…"
    snippet = lead + shorten(_EMPHASIS.sub("", text[start:end]), policy.SNIPPET_CHARS - len(lead))
    if snippet.count(" ") + 1 < MIN_SNIPPET_WORDS and snippet.isascii():
        return None
    return Found(snippet, start, end)


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])


def keywords_in_text(text: str, rule: Rule, episode: Episode) -> Iterator[Found]:
    """Find the rule's words themselves, each once; the object is the word as the rule has it."""
    del episode
    lower = _lower(text)
    for word, first in _with_first_words(rule.keywords):
        if first not in lower:
            continue
        hit = _system_pattern(word).search(text)
        if hit:
            yield Found(word.lower(), hit.start(), hit.end())


@lru_cache(maxsize=64)
def _with_first_words(words: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((word, word.split()[0].lower()) for word in words)


@lru_cache(maxsize=1024)
def _system_pattern(word: str) -> re.Pattern[str]:
    """Compile one keyword: whole words, no part of a path, of a file's name or of an identifier."""
    phrase = r"[\s-]+".join(map(re.escape, word.split()))
    plural = "" if word.endswith("s") else "s?"
    return re.compile(
        rf"(?<![\w/\\.@:#$-]){phrase}{plural}(?![\w/\\@-]|[.:](?=\w)|\()", re.IGNORECASE
    )
