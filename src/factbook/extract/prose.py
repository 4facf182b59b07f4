"""Find the sentences of a reply that say a thing, and cut them out so that they read well.

Knows: sentences in Markdown (lists, headings, tables, code fences), how to take noise out before
looking for a word, and what only announces, labels, quotes or supposes. Does not know what the
words mean: a rule brings them.

The language reader tells such sentences no better, as it learned from talk and not from agents'
reports, and to read them would take a third of the time that reading the log takes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.base import Rule, RuleHit
from factbook.language.sentences import Span, markdown_sentences
from factbook.language.verbs import PAST
from factbook.model.facts import Episode
from factbook.model.text import shorten

__all__ = ["keywords_in_text", "snippets"]

MAX_SENTENCE_CHARS: Final = 1_200
"""A longer stretch without a full stop is no sentence; it is cut at a word before it is judged."""

MIN_SNIPPET_WORDS: Final = 4
"""Shorter sentences ("Fixed.", "Found it:") say nothing on their own."""

_FINITE: Final = re.compile(
    r"\b(?:am|is|are|was|were|has|have|had|do|does|did|will|can|cannot|could|would|may|might|must"
    r"|should|\w+ed"
    r"|\w*[a-rt-z]s (?:an?|the|its?|their|them|no|not|only|both|all|that|when|if|with))\b"
    r"|\w['’](?:t|s|re|ve|ll)\b"
)
_VERBS: Final = frozenset({"fails", "failed", "fixed", "fixes", "solves", "solved", "resolved"})
_PAST: Final = re.compile(r"\b(?:" + "|".join(sorted(PAST)) + r")\b")
_EXPLAINED: Final = re.compile(r"\s*(?::|—|–|-\s)")  # behind a keyword: what it is follows
_ANNOUNCES: Final = re.compile(
    r"\W{0,8}(?:\w[\w'’]{0,20}[,!.]? ){0,5}"
    r"(?:found|identified|discovered|spotted|see|know|have|is|got)"
    r"(?: \w{1,20}){0,4} (?:root cause|cause|issue|problem|bug|culprit)\W{0,8}"
)
_GOES_ON: Final = 40  # characters at most between an announcement and the fact
_LISTED: Final = re.compile(r"\s*(?:[-*+•✅❌✔☐]|\d{1,3}[.)])\s")
_SUPPOSED_LIST: Final = re.compile(
    r"\b(?:options?|approach(?:es)?|alternatives?|recommend\w*|suggest\w*|propos\w+|could|would"
    r"|should|might|plans?|planned|next steps?|to-?dos?|possib\w+|potential|consider\w*|either"
    r"|pros|cons|trade-?offs?|will|checklist|criteria)\b|\?\s*$"
)
_QUOTED_LINE: Final = re.compile(
    r"\s*(?:>|\[?\d{2}:\d{2}:\d{2}|\d{4}-\d{2}-\d{2}[t ]\d"
    r"|\[?(?:error|warn(?:ing)?|info|debug|fatal)\]?[: ][^a-z]*(?=[\[{<(]))"
)
_LEAD_LINES: Final = 40  # of a list, up to what leads to it

_EMPHASIS: Final = re.compile(r"\*\*|__(?=\w)|(?<=\w)__")
_ANNOUNCED: Final = 12  # characters at most between a colon and what it announces


@lru_cache(maxsize=4)
def _sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences of a Markdown text; one that ends in a colon goes on into the next."""
    spans = list(markdown_sentences(text))
    for index, following in enumerate(spans[1:]):
        before = spans[index]
        # Only what comes directly after it, not what stands behind a code block.
        if text[before.end - 1] == ":" and following.start - before.end <= _ANNOUNCED:
            spans[index] = Span(before.start, following.end)
    return tuple(spans)


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


def snippets(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the sentences that still hold one of the rule's words once its noise is taken out."""
    del episode
    lower = _lower(text)
    hits = [at for word in _folded(rule.keywords) if word in lower for at in _finds(lower, word)]
    if not hits:
        return
    words = _words_pattern(rule.keywords)
    noise = _noise_patterns(rule.noise)
    places = _sentences(text)
    done = -1
    for hit in sorted(hits):
        index = bisect_right(places, hit, key=_start) - 1
        if index <= done or index < 0 or hit >= places[index].end:
            continue
        done = index
        start, end = places[index]
        if _ANNOUNCES.fullmatch(lower, start, end):
            rule_hit = _announced(text, lower, places, index, noise)
        elif _is_no_report(lower, start, end, words):
            continue
        else:
            rule_hit = _snippet(text, lower, places[index], words, noise)
        if rule_hit:
            yield rule_hit


def _is_no_report(lower: str, start: int, end: int, words: re.Pattern[str]) -> bool:
    """Tell what only labels, announces, quotes or supposes a thing."""
    if lower[end - 1] == ":":
        return True
    line = lower.rfind("\n", 0, start) + 1
    if _QUOTED_LINE.match(lower, line):
        return True
    if _LISTED.match(lower, line) and _SUPPOSED_LIST.search(_lead(lower, line)):
        return True
    if _FINITE.search(lower, start, end) or _PAST.search(lower, start, end):
        return False
    hits = words.finditer(lower, start, end)
    return not any(hit[0] in _VERBS or _EXPLAINED.match(lower, hit.end(), end) for hit in hits)


def _lead(lower: str, line: int) -> str:
    """Return the line that leads to the list that a line is in; empty where there is none."""
    for _ in range(_LEAD_LINES):
        if line <= 0:
            return ""
        end = line - 1
        line = lower.rfind("\n", 0, end) + 1
        above = lower[line:end]
        if above.strip() and not _LISTED.match(above) and not above.startswith(("  ", "\t")):
            return above
    return ""


def _announced(
    text: str, lower: str, places: Sequence[Span], index: int, noise: _Noise
) -> RuleHit | None:
    """Return the sentence behind an announcement ("Found the bug!"), which is the fact."""
    if index + 1 >= len(places):
        return None
    before, (start, end) = places[index], places[index + 1]
    if start - before.end > _GOES_ON or end - start > MAX_SENTENCE_CHARS:
        return None
    if text[end - 1] in ":?" or not _FINITE.search(lower, start, end):
        return None
    if noise.start is not None and noise.start.match(lower, start, end):
        return None
    snippet = shorten(_EMPHASIS.sub("", text[start:end]), policy.SNIPPET_CHARS)
    return RuleHit(snippet, start, end) if snippet.count(" ") >= MIN_SNIPPET_WORDS else None


def _start(place: Span) -> int:
    return place.start


def _finds(text: str, word: str) -> Iterator[int]:
    """Find a word anywhere, also inside others: a plain search is far faster than a pattern."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _snippet(
    text: str, lower: str, place: Span, words: re.Pattern[str], noise: _Noise
) -> RuleHit | None:
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
    return RuleHit(snippet, start, end)


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])


def keywords_in_text(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the rule's words themselves, each once; the object is the word as the rule has it."""
    del episode
    lower = _lower(text)
    for word, first in _with_first_words(rule.keywords):
        if first not in lower:
            continue
        hit = _system_pattern(word).search(text)
        if hit:
            yield RuleHit(word.lower(), hit.start(), hit.end())


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
