"""Read what a text says of known things.

A fact is what one sentence says of the thing that is its subject, in the words of the source. From
a text of others nothing else is taken, so whatever else such a text wants has no way in.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from factbook import policy
from factbook.extract import sentences
from factbook.extract.known_names import KnownNames
from factbook.extract.line_wrapping import unwrapped
from factbook.extract.named_lists import (
    HEADING,
    PAIR,
    SAYS_MORE,
    Item,
    items_in,
    lines_of,
    title_entity,
)
from factbook.extract.prompt_injection import TaintKind, hostile, taint, touching
from factbook.extract.remarks import in_passing, unowned
from factbook.extract.statements import MOST_CHARS, no_statement, plain_words, without_marks
from factbook.extract.subject import Subject, SubjectKind, Trees
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import is_everyday
from factbook.language.words import words
from factbook.model.keys import entity_name
from factbook.net import cancel

STEERED: Final = "it stands in a page that tries to steer its reader"
MAX_REFUSED: Final = 24  # ours: refusals that one text gives; a page of advertising has hundreds
MAX_FACTS: Final = 60  # ours: facts that one text gives
REFERRED: Final = 0.55  # ours: a pronoun may stand for another thing; under policy.EXTERNAL_FACT


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldClaim:
    """What a text says of a known thing; `start` and `end` are its place in the text."""

    entity: str  # canonical name
    content: str  # the sentence, without marks of emphasis and targets of links; of a row of a
    # table "Weight: 7.8 kg"
    start: int
    end: int
    rule: str  # "world:" with a `SubjectKind`, or world:listed
    confidence: float


_STANDS_FOR_IT: Final = re.compile(
    r"(?:it|they)\b(?=\s)|its\b(?=\s)|(?:it|they)(?='s\b|’s\b)", re.IGNORECASE
)


def statement_of(entity: str, content: str) -> str:
    """Return what is said of an entity so that it can be read alone: its name for "it"."""
    if entity_name(entity) in entity_name(content):
        return content
    pronoun = _STANDS_FOR_IT.match(content)
    if pronoun is None:
        return f"{entity}: {content}"
    owned = pronoun[0].casefold() == "its"
    return f"{entity}{chr(39) + 's' if owned else ''}{content[pronoun.end() :]}"


_PASTED: Final = frozenset(
    {TaintKind.COMMAND, TaintKind.SPEECH, TaintKind.MEMORY, TaintKind.HIDDEN}
)
# When it is, seen from when the page was written: of the day, and not of the thing.
_PASSING: Final = re.compile(
    r"\b(?:(?:last|next|this|past) (?:night|week|weekend|month|year|season|summer|winter|spring"
    r"|autumn|\w+day)|yesterday|today|tonight|tomorrow)\b",
    re.IGNORECASE,
)
_QUOTES: Final = re.compile(r"[\"“”]")


def facts_about(
    text: str, *, names: Mapping[str, Sequence[str]], title: str = "", external: bool = True
) -> tuple[list[WorldClaim], list[tuple[str, str]]]:
    """Return what a text says of known things, and what it says of them that is no fact.

    `names` gives for every canonical name the names of the thing, the canonical one among them.
    `title` is the title of the text; where the text begins with it, that line is no sentence.
    `external` is for text of others; in a message of its owner advice to a reader and boilerplate
    are not looked for. A refusal is (the sentence, why), in words.
    """
    return _Reader(text, KnownNames(names), title, external=external).read()


class _Reader:
    """Reads one text from its beginning to its end, and remembers what it spoke of last."""

    def __init__(self, text: str, names: KnownNames, title: str, *, external: bool) -> None:
        titled = text.startswith(title) and text[len(title) : len(title) + 1] in ("", "\n")
        self._begin = begin = len(title) if titled else 0
        # of the same length: all places are those of the text itself
        self._text = unwrapped(text, begin=begin)
        self._plain = without_marks(self._text)
        page = f"{title}\n{self._plain}"
        known = names.within(page.replace("\0", ""))
        self._names = known.with_short(_short_names(known, page, ""))
        self._topics = _topics(known, self._plain[begin:])
        self._external = external
        self._entity = title_entity(title, self._names)
        if self._entity:
            self._names = known.with_short(_short_names(known, page, self._entity))
        self._taints = [piece for piece in taint(text) if external or piece.kind in _PASTED]
        self._steers = any(map(hostile, self._taints))
        self._focus = self._entity
        # "speaker" -> the thing that was said to be one, "" for others
        self._nouns: dict[str, str] = {}
        self._spoken: frozenset[str] = frozenset()  # nouns of the sentence before
        self._persons: frozenset[str] = frozenset()  # "he" or "she" since a thing was named last
        self._claims: list[WorldClaim] = []
        self._refused: dict[str, str] = {}
        self._rows_refused: dict[str, str] = {}  # last: a page of tables has hundreds
        self._seen: set[tuple[str, str]] = set()

    def read(self) -> tuple[list[WorldClaim], list[tuple[str, str]]]:
        """Return the facts and the refusals."""
        if not self._names:
            return [], []
        lines = list(lines_of(self._text, self._plain, self._names, self._entity, self._begin))
        items = items_in(self._text, self._plain, lines, self._names)
        rows = [(item.start, item.end) for item in items]
        heads = [(line.start, line.end) for line in lines if line.heading]
        spans = [
            (start, end)
            for start, end in sentence_spans(self._text)
            if start >= self._begin and not _within(start, heads)
        ]
        self._trees = Trees(self._plain, self._names, [*rows, *spans])
        listed = [
            (item.start, item.end)
            for item in items
            if (self._kept_back(item) if self._steers and item.loose else self._listed(item))
        ]
        begins = [line.start for line in lines]
        above = ""
        for start, end in spans:
            cancel.check()
            line = lines[max(0, bisect(begins, start) - 1)]
            if line.above != above:  # a new section
                above, self._focus = line.above, line.owner
            if not _within(start, listed):
                self._sentence(start, end, line.owner)
        claims = sorted(self._claims, key=lambda claim: claim.start)
        for row, why in self._rows_refused.items():
            self._refused.setdefault(row, why)
        return claims[:MAX_FACTS], list(self._refused.items())[:MAX_REFUSED]

    def _listed(self, item: Item) -> bool:
        """Take a line of a list; False where it is a sentence and is read as one."""
        words, problem = self._read_item(item)
        if not words:
            return False
        if problem and item.row:
            self._rows_refused.setdefault(words[:MOST_CHARS], problem)
        elif problem:
            self._refuse(words, problem)
        else:
            sure = policy.EXTERNAL_FACT
            self._take([item.entity], item.start, item.end, "listed", sure, content=item.row)
        return True

    def _kept_back(self, item: Item) -> bool:
        """Refuse a line that only an honest page is believed; False, as a sentence is read too."""
        words, problem = self._read_item(item)
        if words and not problem:
            self._refuse(words, STEERED)
        return False

    def _read_item(self, item: Item) -> tuple[str, str]:
        """Return the words of a line of a list and why they are no fact; ("", "") for sentences."""
        words = item.row or plain_words(self._plain[item.start : item.end])
        pair = PAIR.match(words)
        value = words.find(pair["value"]) if pair and not item.row else 0
        said = self._trees.subject(item.start + value, item.end)
        if not item.row and not pair and (said.kind is not SubjectKind.OTHER or said.words):
            return "", ""
        touched = touching(self._taints, item.start, item.end)
        problem = touched.why if touched else item.problem
        problem = problem or no_statement(words, external=self._external, item=True)
        if not problem and pair:
            keys = re.split(r"[^\w]+", pair["key"].lower())
            if SAYS_MORE.intersection(keys):
                problem = "it is no property"
        at = item.start + value
        if not problem and (said.words or (self._names.find(words) and not item.row)):
            problem = "it speaks of something else"
        if not problem and self._trees.is_order(at, item.end):
            problem = "it is an order"
        if not problem and not pair and len(words.split()) < 2:
            problem = "it has less than two words"
        return words, problem

    def _sentence(self, start: int, end: int, owner: str) -> None:
        # `\0` stands where marks were: blanks keep the places of words
        marked = self._plain[start:end]
        words = marked.replace("\0", " ") if "\0" in marked else marked
        touched = touching(self._taints, start, end)
        if touched is not None:
            if hostile(touched):
                self._focus = ""  # what "it" means behind an order, its writer decides
            if self._names.find(words):
                self._refuse(plain_words(marked), touched.why)
            return
        label = PAIR.match(words)
        if label and not SAYS_MORE.intersection(re.split(r"\W+", label["key"].lower())):
            # "Location: Osterlund lies ..." is what stands behind its label
            start += label.start("value")
            marked, words = marked[label.start("value") :], label["value"]
        said = self._trees.subject(start, end, topics=self._topics)
        entities = self._meant(said, owner, start, end)
        if said.is_a:
            single = entities[0] if len(entities) == 1 else ""
            if single or said.words:
                self._nouns[said.is_a] = single
        self._remember(said, entities, start, end)
        if not entities:
            if self._names.find(words):
                stated = self._trees.has_verb(start, end)
                why = "a known thing is not its subject" if stated else "it has no verb"
                if len(words) > MOST_CHARS or words.rstrip().endswith("?"):
                    why = no_statement(plain_words(marked), external=self._external) or why
                self._refuse(plain_words(marked), why)
            return
        cut = (said.end or end) if self._external else end
        marked = marked[: cut - start].rstrip(" ,;–—")
        end = start + len(marked)
        own = words if self._external else unowned(words, self._names.find(words))
        judged = marked if own == words else own
        problem = no_statement(plain_words(judged), external=self._external)
        if not problem and len(_QUOTES.findall(words[: said.verb - start])) % 2:
            problem = "somebody else says it"
        if not problem and not self._external:
            problem = in_passing(self._plain.replace("\0", " "), said.verb)
        if not problem and len(marked) == len(words):
            problem = self._unfinished(start, end)
        if problem:
            self._refuse(plain_words(marked), problem)
            return
        sure = policy.EXTERNAL_FACT if self._external else policy.STATED
        if said.kind in (SubjectKind.PRONOUN, SubjectKind.NOUN):
            sure = min(sure, REFERRED)
        self._take(entities, start, end, str(said.kind), sure)

    def _remember(self, said: Subject, entities: Sequence[str], start: int, end: int) -> None:
        """Keep of which thing, and of what, a sentence spoke."""
        if said.kind is SubjectKind.TOPIC or not entities:
            self._focus = ""  # "it" is then the starter, and not all sourdough
        elif said.kind is not SubjectKind.NOUN:
            self._focus = entities[0] if len(entities) == 1 else ""
        self._spoken = self._trees.nouns(start, end) - {said.noun}
        before = self._persons if said.kind is SubjectKind.PRONOUN else frozenset()
        self._persons = before | _persons(self._plain[start:end])

    def _meant(self, said: Subject, owner: str, start: int, end: int) -> Sequence[str]:
        """Return the known things that a subject means; `owner` has the section."""
        if said.kind is SubjectKind.PRONOUN:
            here = _persons(self._plain[said.start : said.verb])
            if here and self._persons and here.isdisjoint(self._persons):
                return []  # "his wife comes. Her name is ..."
            return [self._focus] if self._focus else []
        if said.kind is not SubjectKind.NOUN:
            return said.names
        known = self._nouns.get(said.noun)
        if known is not None:
            return [known] if known else []
        if self._steers or not owner or said.noun in self._spoken:
            return []
        if _PASSING.search(self._plain, start, end):
            return []
        if said.is_bare and not self._trees.has_number(start, end):
            return []
        return [owner]

    def _unfinished(self, start: int, end: int) -> str:
        """Say that a sentence has no end; one of others may be cut where its text was."""
        last, rest = self._text[end - 1], self._text[end:].lstrip(" \t")
        closed = last in ".!\"'”’)]*_…。"
        room = policy.RESULT_TEXT_CHARS if closed else policy.RESULT_TEXT_CHARS // 2
        if self._external and not rest.strip() and len(self._text) >= room:
            return "its text was cut there"
        # a line without a full stop may end so: "costs 40 %"
        ends_line = rest[:1] in ("", "\n") and (last.isalnum() or last in "%€$£°+″′")
        return "" if closed or ends_line else "it has no end"

    def _take(
        self,
        entities: Sequence[str],
        start: int,
        end: int,
        rule: str,
        confidence: float,
        *,
        content: str = "",
    ) -> None:
        content = content or plain_words(self._plain[start:end])
        for entity in entities:
            key = (entity, content.casefold())
            if key in self._seen:
                continue
            self._seen.add(key)
            self._claims.append(
                WorldClaim(
                    entity=entity,
                    content=content,
                    start=start,
                    end=end,
                    rule=f"world:{rule}",
                    confidence=confidence,
                )
            )

    def _refuse(self, content: str, why: str) -> None:
        if content:
            self._refused.setdefault(content[:MOST_CHARS], why)


_SAID_AS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("he", "him", "his", "himself"), "he"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "she"),
}


def _persons(text: str) -> frozenset[str]:
    """Return of whom a text speaks as "he" or "she"."""
    return frozenset(_SAID_AS[word] for word in words(text) if word in _SAID_AS)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the sentences of an unwrapped text: a line break ends one as well."""
    for sentence in sentences.split(text):
        at = sentence.start
        for line in sentence.text.split("\n"):
            bare = line.lstrip(" \t>\0")
            start = at + len(line) - len(bare)
            end = start + len(bare.rstrip(" \t\r\0"))
            at += len(line) + 1
            if start < end:
                yield start, end


def _within(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


def _short_names(names: KnownNames, text: str, entity: str) -> dict[str, str]:
    """Return by which shorter names a text may call the things that it names in full.

    The first words may go ("the Q40"), the last may not: the LS50 Meta is not the LS50. A page may
    call its own thing, `entity`, by its first words ("Lindenhof") if they never go on otherwise.
    """
    owners: dict[str, str] = {}
    shared: set[str] = set()
    named = {owner for _, _, owner in names.find(text)} | {entity}
    for key, owner in names.surfaces.items():
        words = key.split()
        for at in range(1, len(words)) if owner in named else ():
            parts = [words[at:]]
            if owner == entity and _only_goes_on(words[:at], words[at], text):
                parts.append(words[:at])
            for part in filter(_stands_alone, parts):
                short = " ".join(part)
                if owners.setdefault(short, owner) != owner:
                    shared.add(short)
    return {short: owner for short, owner in owners.items() if short not in shared}


def _only_goes_on(words: Sequence[str], last: str, text: str) -> bool:
    """Tell whether the first words of a name go on in no other way in a text."""
    begin = " ".join(words)
    goes_on = re.finditer(rf"(?i:(?<!\w){re.escape(begin)})[ \-]+(?P<word>[A-Z\d][\w-]*)", text)
    return begin.replace(" ", "").isalpha() and all(
        match["word"].casefold() == last for match in goes_on
    )


_BEGINS: Final = re.compile(r"(?:^|[.!?:]\s)[\"'“‘(\s>*_\-\0]*$", re.MULTILINE)
LEAD_CHARS: Final = 40  # ours: marks and blanks between the beginning of a sentence and a name
_SPACE: Final = re.compile(r"[\s\-]+")


def is_kind(name: str, texts: Sequence[str]) -> bool | None:
    """Say whether texts speak of a known thing as a kind or a matter: "green tea", not "Notion".

    None where none of them names it, or only texts that have no capitals.
    """
    names = KnownNames({name: [name]})
    text = "\n".join(texts)
    if not any(map(str.isupper, text)) or not names.find(text):
        return None
    return name in _topics(names, text)


def _topics(names: KnownNames, text: str) -> frozenset[str]:
    """Return the known things that a text with capitals writes small: they are kinds or matters."""
    if not any(map(str.isupper, text)):
        return frozenset()
    is_common: dict[str, bool] = {}
    for start, end, owner in names.find(text):
        cancel.check()
        line = text.rfind("\n", 0, start) + 1
        if HEADING.match(text[line:end]):
            continue  # headings have capitals of their own
        words = text[start:end]
        before = max(line, start - LEAD_CHARS)
        common = words.islower() or (words[1:].islower() and _BEGINS.search(text, before, start))
        plain = all(part.isalpha() for part in _SPACE.split(words))
        is_common[owner] = is_common.get(owner, True) and plain and bool(common)
    return frozenset(owner for owner, common in is_common.items() if common)


def _stands_alone(words: Sequence[str]) -> bool:
    """Tell whether the last words of a name may stand for it: none of everyday words does."""
    if all(is_everyday(word) or word.isdigit() or is_calendar_word(word) for word in words):
        return False
    first = words[0]
    if len(words) == 1 and not first.isalpha():
        return any(c.isalpha() for c in first) and any(c.isdigit() for c in first)
    return len(first) > 2 or len(words) > 1
