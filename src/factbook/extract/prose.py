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
from factbook.model import Episode

__all__ = ["Sentence", "keywords_in_text", "sentences", "snippets"]

MAX_SENTENCE_CHARS: Final = 1_200
"""A longer stretch without a full stop is no sentence; it is cut at a word before it is judged."""

MIN_SNIPPET_WORDS: Final = 4
"""Shorter sentences ("Fixed.", "Found it:") say nothing on their own."""

_LINE: Final = re.compile(r"[^\n]*\n?")
_FENCE: Final = re.compile(r"[ \t>]*(```+|~~~+)")
_NOT_PROSE: Final = re.compile(
    r"[ \t]*(?:\#{1,6}[ \t]|\||[-*_=─━═—]{3,}[ \t]*$|</?\w[^>]*>[ \t]*$|`[^`\n]*─[^`\n]*`[ \t]*$|★)"
)
_LIST_ITEM: Final = re.compile(
    r"[ \t>]*(?:[-*+•✓✔✗✘✅❌⚠️→]+|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])[ \t]+(?:\[[ xX]\][ \t]+)?"
)
_INDENT: Final = re.compile(r"[ \t>]*")
_STOP: Final = re.compile(r"(?:[.!?]+[\"'”’)\]*_`]*(?=\s)|[。！？])")
_NEXT_STARTS_LOW: Final = re.compile(r"\s*[a-z]")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|esp|no|nos|fig|eq|sec|Dr|Mr|Mrs|Ms|St|[A-Z])"
    r"|^\W*\d{1,3})\.$"
)
_EMPHASIS: Final = re.compile(r"\*\*|__(?=\w)|(?<=\w)__")
_SENTENCE_END: Final = (".", "!", "?", ":", "。", "！", "？")


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
        start, end = match.span()
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
    above = text[block[0] : block[1]]
    if text[first].islower():
        return True
    last_line = above.rsplit("\n", 1)[-1]
    return len(last_line) >= 60 and not above.endswith(_SENTENCE_END)


def _split(text: str, start: int, end: int) -> Iterator[Sentence]:
    """Cut one block at its full stops."""
    begin = start
    for stop in _STOP.finditer(text, start, end):
        at = stop.end()
        if at >= end:
            break
        if _NEXT_STARTS_LOW.match(text, at, end) and stop[0][0] == ".":
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
    parts = sorted((r"\s+".join(map(re.escape, word.split())) for word in words), key=len)
    return re.compile(r"(?<![\w-])(?:" + "|".join(reversed(parts)) + r")(?![\w-])", re.IGNORECASE)


@lru_cache(maxsize=64)
def _noise_pattern(noise: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{part})" for part in noise), re.IGNORECASE)


@lru_cache(maxsize=64)
def _folded(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.split()[0].lower() for word in words)


@lru_cache(maxsize=4)
def _lower(text: str) -> str:
    """Lower a text without moving its characters (`İ` would become two)."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower()[:1] for c in text)


def snippets(text: str, rule: Rule, episode: Episode) -> Iterator[Found]:
    """Find the sentences that still hold one of the rule's words once its noise is taken out."""
    del episode
    lower = _lower(text)
    first_words = _folded(rule.keywords)
    if not any(word in lower for word in first_words):
        return
    words = _words_pattern(rule.keywords)
    noise = _noise_pattern(rule.noise) if rule.noise else None
    places = sentences(text)
    starts = [place.start for place in places]
    done = -1
    for hit in words.finditer(text):
        index = bisect_right(starts, hit.start()) - 1
        if index <= done or index < 0 or hit.start() >= places[index].end:
            continue
        done = index
        found = _snippet(text, places[index], hit.start(), words, noise)
        if found:
            yield found


def _snippet(
    text: str,
    place: Sentence,
    hit: int,
    words: re.Pattern[str],
    noise: re.Pattern[str] | None,
) -> Found | None:
    start, end = place
    if hit - start > MAX_SENTENCE_CHARS // 2:
        start = text.find(" ", hit - MAX_SENTENCE_CHARS // 2, hit) + 1 or hit
    end = min(end, start + MAX_SENTENCE_CHARS)
    sentence = text[start:end]
    if noise is not None:
        # Taken out letter by letter, so that places stay what they are.
        left = noise.sub(lambda match: " " * len(match[0]), sentence)
        kept = words.search(left)
        if kept is None:
            return None
        hit = start + kept.start()
    if hit - start > policy.SNIPPET_CHARS * 3 // 4:
        start = text.find(" ", hit - policy.SNIPPET_CHARS // 2, hit) + 1 or hit
    snippet = shorten(_EMPHASIS.sub("", text[start:end]), policy.SNIPPET_CHARS)
    if snippet.count(" ") + 1 < MIN_SNIPPET_WORDS and snippet.isascii():
        return None
    return Found(snippet, start, end)


def keywords_in_text(text: str, rule: Rule, episode: Episode) -> Iterator[Found]:
    """Find the rule's words themselves, each once; the object is the word as the rule has it."""
    del episode
    lower = _lower(text)
    for word in rule.keywords:
        if word.split()[0].lower() not in lower:
            continue
        hit = _system_pattern(word).search(text)
        if hit:
            yield Found(word.lower(), hit.start(), hit.end())


@lru_cache(maxsize=1024)
def _system_pattern(word: str) -> re.Pattern[str]:
    """Compile one keyword: whole words, no part of a path, of a file's name or of an identifier."""
    phrase = r"[\s-]+".join(map(re.escape, word.split()))
    plural = "" if word.endswith("s") else "s?"
    return re.compile(
        rf"(?<![\w/\\.@:#$-]){phrase}{plural}(?![\w/\\@-]|[.:](?=\w)|\()", re.IGNORECASE
    )
