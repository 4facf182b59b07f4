"""Say which new things a search is about, by what its results say to be of its kind."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.base import word_set
from factbook.extract.entity_types import Kind, asked_kind, is_of, plural_of, says_it_is
from factbook.extract.known_names import KnownNames
from factbook.extract.line_wrapping import unwrapped
from factbook.extract.named_lists import LINE
from factbook.extract.prompt_injection import is_tainted_document, taint, touching
from factbook.extract.quotes import whole_words
from factbook.extract.statements import MOST_CHARS, no_statement, plain_words, without_marks
from factbook.extract.subject import Trees
from factbook.extract.world import MAX_REFUSED, sentence_spans
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import is_everyday, is_nationality, is_place
from factbook.language.nouns import singular
from factbook.model.keys import entity_name
from factbook.net import cancel

CORROBORATED: Final = 2  # ours: hosts or files that must know of a thing that nobody named
MAX_JUDGED: Final = 24  # ours: things of one text that may be of a kind
MAX_DISCOVERED: Final = 8  # ours: new things of one search


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultText:
    """One result of a search."""

    text: str
    title: str
    host: str  # who answers for it: a host of the web, or a file


@dataclass(frozen=True, slots=True, kw_only=True)
class NewThing:
    """A new thing that a person's search is about."""

    name: str  # canonical
    surface: str  # as it is written
    spans: Sequence[tuple[int, int, int]]  # (index of the result, start, end)
    hosts: Sequence[str]  # different ones that speak of it
    why: str


class ThingLeftOut(NamedTuple):
    """A thing that results show and that is not brought in."""

    thing: NewThing
    reason: str  # of policy.CANDIDATE_REJECTIONS
    why: str


class Discovered(NamedTuple):
    """What results show of what a person's search is about."""

    things: Sequence[NewThing]  # most widely known first
    left_out: Sequence[ThingLeftOut]


_LISTS: Final = re.compile(
    r"\b(?:best|top|list|recommended|favou?rite|great|guide|\d{1,3})\b", re.I
)
_LIST_NAME: Final = re.compile(
    r"[ \t>]*(?:#{1,6}[ \t]+)?(?:[-*+•‣▪·][ \t]+)?(?:\(?\d{1,3}[.):][ \t]+)?[*\0]*"
    r"(?P<name>[^\W_][^\n:*()\[\]–—|,;]{1,80}?)[*\0]*[ \t]*(?=$|[:(–—|,;]|\s-\s)",
    re.MULTILINE,
)
_MARKED: Final = re.compile(r"[ \t>]*(?:#{1,6}[ \t]|[-*+•‣▪·][ \t]|\(?\d{1,3}[.):][ \t]|\*\*)")
_JOINTS: Final = word_set("of the de la le du van von der den di da and & y et for in")


def discover(results: Sequence[ResultText], *, query: str, topic: str) -> Discovered:
    """Return the new things that a person's search is about, and which of them are left out.

    A thing counts when a result says that it is of the kind that was asked about ("is a speaker",
    or an item of a list of speakers), when results of at least two hosts or files speak of it, and
    when no result that tries to steer its reader does. At most eight.
    """
    asked = asked_kind(query, topic)
    if asked is None:
        return Discovered([], [])
    new_things: dict[str, NewThing] = {}
    for index, result in enumerate(results):
        cancel.check()
        if is_tainted_document(f"{result.title}\n{result.text}"):
            continue
        for kind in _named_kinds(result, asked):
            bare = re.sub(r"^(?:the|a|an)\s+", "", kind.surface, flags=re.IGNORECASE)
            name = entity_name(bare)
            known = new_things.get(name)
            spans = [*(known.spans if known else ()), (index, kind.start, kind.end)]
            first = known or kind
            new_things[name] = NewThing(
                name=name, surface=first.surface, spans=spans, hosts=(), why=first.why
            )
    return corroborated(list(new_things.values()), results, topic=topic)


def corroborated(
    offered: Sequence[NewThing], results: Sequence[ResultText], *, query: str = "", topic: str = ""
) -> Discovered:
    """Return the offered new things that results of two hosts or files speak of, and the others.

    A thing that a result speaks of which tries to steer its reader is none, however many others
    do; one that the query names needs no second host. Also for what a model offers: that it sees a
    name in one page is no reason to believe the page, and what is no name is none to a model too.
    """
    kind = asked_kind(query, topic)
    nouns = {kind.noun} if kind else set()
    texts = [f"{result.title}\n{result.text}" for result in results]
    tainted = []
    for text in texts:
        cancel.check()
        tainted.append(is_tainted_document(text))
    new_things = []
    left: list[ThingLeftOut] = []
    for new_thing in offered:
        pattern = whole_words(new_thing.name)
        speaking = [index for index, text in enumerate(texts) if pattern.search(text)]
        hosts = sorted({results[index].host or f"result {index}" for index in speaking})
        asked = bool(query) and pattern.search(query) is not None
        sure = asked and _is_capital(new_thing.surface, results)
        if not _is_name(new_thing.surface, nouns, sure=sure):
            continue
        if any(tainted[index] for index in speaking):
            why = "a page that tries to steer its reader speaks of it"
            left.append(ThingLeftOut(new_thing, "external_instruction", why))
            continue
        if len(hosts) < CORROBORATED and not asked:
            why = f"nothing but {hosts[0] if hosts else 'one source'} speaks of it"
            left.append(ThingLeftOut(new_thing, "one_source", why))
            continue
        why = f"{new_thing.why}; {len(hosts)} sources speak of it"
        new_things.append(replace(new_thing, hosts=hosts, why=why))
    new_things.sort(key=lambda thing: (-len(thing.hosts), *thing.spans[:1]))
    more = f"a search brings in {MAX_DISCOVERED} things, and others are more widely known"
    left += [ThingLeftOut(new_thing, "too_many", more) for new_thing in new_things[MAX_DISCOVERED:]]
    return Discovered(new_things[:MAX_DISCOVERED], left[:MAX_REFUSED])


class _Named(NamedTuple):
    """Something that a result may say to be of a kind."""

    surface: str
    start: int  # of the name
    end: int
    says: str  # the sentence, or the item with what stands behind it
    place: tuple[int, int]  # of all of it
    why: str


def _named_kinds(result: ResultText, kind: Kind) -> Iterator[_Named]:
    """Yield what a result says to be of a kind: in a sentence, or in a list."""
    begin = len(result.title) if result.text.startswith(result.title) else 0
    text = unwrapped(result.text, begin=begin)
    plain = without_marks(text)
    taints = taint(result.text)
    for way in (_said_kinds, _listed_kinds):
        judged = 0
        for named in way(text, plain, begin, result.title, kind):
            if touching(taints, *named.place) or not _is_name(named.surface, {kind.noun}):
                continue
            judged += 1
            if judged > MAX_JUDGED:
                break
            if says_it_is(named.surface, kind, named.says, result.title):
                yield named


def _said_kinds(text: str, plain: str, begin: int, title: str, kind: Kind) -> Iterator[_Named]:
    """Yield the subjects of sentences that say of which kind something is."""
    del title
    spans = [(first, last) for first, last in sentence_spans(text) if first >= begin]
    trees = Trees(plain, KnownNames({}), spans)
    for first, last in spans:
        said = trees.subject(first, last)
        words = plain_words(plain[first:last])
        if not (said.words and said.is_a and is_of(kind, said.is_a, words)):
            continue
        if no_statement(words, external=True):
            continue
        start = max(begin, plain.find(said.words, max(begin, said.start)))
        why = f"a result says that it is a {kind.noun}"
        yield _Named(said.words, start, start + len(said.words), words, (first, last), why)


def _listed_kinds(text: str, plain: str, begin: int, title: str, kind: Kind) -> Iterator[_Named]:
    """Yield the items of a list of things of a kind, which its title says: "10 best speakers"."""
    few = len(re.findall(r"[^\W\d_]+", title)) < 4
    listed = plural_of(title, kind) if few or _LISTS.search(title) else ""
    for match in LINE.finditer(text, begin) if listed else ():
        line = match[0].rstrip("\n")
        end = match.start() + len(line)
        named = _LIST_NAME.match(plain, match.start(), end)
        if named is None or not _MARKED.match(line):
            continue
        surface = plain_words(named["name"])
        about = plain_words(plain[named.end("name") : end]).lstrip(" :-–—|,;")[:MOST_CHARS]
        if _is_titled(surface):
            why, place = f"a list of {listed} has it", (match.start(), end)
            yield _Named(surface, *named.span("name"), f"{surface}: {about}", place, why)


def _is_titled(surface: str) -> bool:
    """Tell whether every word of an item has a capital or a digit, as names in lists do."""
    words = surface.split()
    return bool(words) and all(
        word[:1].isupper() or any(c.isdigit() for c in word) or word.lower() in _JOINTS
        for word in words
    )


def _is_capital(surface: str, results: Sequence[ResultText]) -> bool:
    return surface[:1].isupper() and not any(
        re.search(rf"(?<!\w){re.escape(surface.lower())}(?!\w)", result.text) for result in results
    )


def _is_name(surface: str, kinds: Collection[str], *, sure: bool = False) -> bool:
    """Tell whether words may name one thing; `sure`: asked for by name, so everyday words may."""
    words = [word.strip("'’\".,").lower() for word in surface.split()]
    if words and words[0] in ("the", "a", "an"):
        words = words[1:]
    if not words or len(words) > policy.NAME_WORDS:
        return False
    if not any(character.isalpha() for character in surface) or len(surface) < 3:
        return False
    telling = any(
        not (is_everyday(word) or is_calendar_word(word) or is_nationality(word))
        and word not in kinds
        and not word.isdigit()
        for word in words
    )
    if not sure and not telling and (len(words) < 2 or any(singular(w) in kinds for w in words)):
        return False  # "Bookshelf Speakers", "Best Speakers"
    return not is_place(" ".join(words))
