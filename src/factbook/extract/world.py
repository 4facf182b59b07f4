"""Read what a text says of known things.

Knows: sentences whose subject is a known thing (`about`), pronouns and nouns that stand for it, and
the lists under its name (`under_names`); which sentences state nothing (`statements`). Does not
know: whether it is true, and what is known already.

A fact is what one sentence says of the thing that is its subject, in the words of the source. From
a text of others nothing else is taken, so whatever else such a text wants has no way in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from factbook import policy
from factbook.extract import sentences
from factbook.extract.base import word_set
from factbook.extract.known_names import (
    KnownNames,
)
from factbook.extract.line_wrapping import may_be_name, unwrapped
from factbook.extract.named_lists import (
    ABOUT_IT,
    BULLET,
    HEADING,
    NUMBERED,
    PAIR,
    SAYS_MORE,
    Item,
    item_problem,
    items_under,
)
from factbook.extract.prompt_injection import TaintKind, hostile, taint, touching
from factbook.extract.remarks import in_passing, unowned
from factbook.extract.statements import (
    MEMBER,
    MOST_CHARS,
    ORDER,
    incomplete,
    is_label,
    no_statement,
    plain_words,
    without_marks,
)
from factbook.extract.subject import (
    Subject,
    SubjectKind,
    is_a,
    is_part,
    subject_of,
)
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import is_everyday
from factbook.model.keys import entity_name
from factbook.net import cancel

__all__ = [
    "MAX_FACTS",
    "MAX_REFUSED",
    "STEERED",
    "WorldClaim",
    "facts_about",
    "is_kind",
    "sentence_spans",
    "statement_of",
]

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


# --- facts ----------------------------------------------------------------------------------------

# What may stand for a thing that was just spoken of, whatever it is.
_ANYTHING: Final = word_set("""
    company product device model brand project site place city town village area region building
    book film movie game album song band group team artist author writer app application tool
    software library framework program service platform website festival event museum park river
    mountain lake island machine camera speaker phone car bike instrument species animal plant dish
    drink restaurant school university organisation organization foundation manufacturer version
    """)
_AGAINST: Final = re.compile(
    r"\b(?:vs\.?|versus|or|and|compared|alternatives?|rivals?|instead|better than|beats|not)\b",
    re.I,
)
_PASTED: Final = frozenset(
    {TaintKind.COMMAND, TaintKind.SPEECH, TaintKind.MEMORY, TaintKind.HIDDEN}
)
_JOINT: Final = re.compile(r";\s+|\s[–—]\s+|,\s+(?P<word>and|but|so|while|whereas|then|yet)\s+")
_CORPORATE: Final = word_set("inc ltd llc gmbh corp corporation company co group ag sa plc limited")


def facts_about(
    text: str,
    *,
    names: Mapping[str, Sequence[str]],
    title: str = "",
    external: bool = True,
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
        begin = 0
        if title and text.startswith(title) and text[len(title) : len(title) + 1] in ("", "\n"):
            begin = len(title)
        self._begin = begin
        # of the same length: all places are those of the text itself
        self._text = unwrapped(text, begin=begin)
        self._plain = without_marks(self._text)
        title = title or _top_heading(self._text)
        known = names.within(f"{title}\n{self._plain}".replace("\0", ""))
        short = _short_names(known, f"{title}\n{self._plain}")
        self._full = known
        self._names = known.with_short(short)
        self._topics = _topics(known, self._plain[begin:])
        self._external = external
        self._title_entity = _title_entity(title, self._names)
        self._taints = [piece for piece in taint(text) if external or piece.kind in _PASTED]
        self._focus = self._title_entity
        self._nouns: dict[
            str, str
        ] = {}  # "speaker" -> the thing that was said to be one, "" for others
        self._claims: list[WorldClaim] = []
        self._refused: dict[str, str] = {}
        self._rows_refused: dict[str, str] = {}  # last: a page of tables has hundreds
        self._seen: set[tuple[str, str]] = set()

    def read(self) -> tuple[list[WorldClaim], list[tuple[str, str]]]:
        """Return the facts and the refusals."""
        if not self._names:
            return [], []
        steers = any(map(hostile, self._taints))
        items = items_under(self._text, self._plain, self._names, self._title_entity, self._begin)
        listed = [
            (item.start, item.end)
            for item in items
            if (self._kept_back(item) if steers and item.loose else self._listed(item))
        ]
        read = self._begin
        for start, end in sentence_spans(self._text):
            cancel.check()
            if start < self._begin:
                continue
            if self._focus and self._leaves_it(read, start):
                self._focus = ""
            read = end
            if not _within(start, listed):
                self._sentence(start, end)
        claims = sorted(self._claims, key=lambda claim: claim.start)
        refused = self._refused | {
            row: why for row, why in self._rows_refused.items() if row not in self._refused
        }
        return claims[:MAX_FACTS], list(refused.items())[:MAX_REFUSED]

    def _leaves_it(self, start: int, end: int) -> bool:
        """Tell whether a heading between two sentences says that something else comes now."""
        for line in self._plain[start:end].splitlines():
            heading = HEADING.match(line)
            if heading is None:
                continue
            words = plain_words(heading["words"])
            if _AGAINST.search(words):
                return True
            if self._names.find(words):
                if self._focus not in {owner for _, _, owner in self._names.find(words)}:
                    return True
            elif any(not is_everyday(word.lower()) for word in MEMBER.findall(words)):
                return True
        return False

    def _listed(self, item: Item) -> bool:
        """Take a line under a name; False where it is a sentence and is read as one."""
        words, problem = self._read_item(item)
        if not words:
            return False
        if problem and item.row:
            self._rows_refused.setdefault(words[:MOST_CHARS], problem)
        elif problem:
            self._refuse(words, problem)
        else:
            entities = [item.entity]
            self._take(
                entities, item.start, item.end, "listed", policy.EXTERNAL_FACT, content=item.row
            )
        return True

    def _kept_back(self, item: Item) -> bool:
        """Refuse a line that only an honest page is believed; False, as a sentence is read too."""
        words, problem = self._read_item(item)
        if words and not problem:
            self._refuse(words, STEERED)
        return False

    def _read_item(self, item: Item) -> tuple[str, str]:
        """Return the words of a line under a name and why they are no fact; ("", "") for others.

        Others are sentences.
        """
        words = item.row or plain_words(self._plain[item.start : item.end])
        pair = PAIR.match(words)
        said = subject_of(pair["value"] if pair else words, self._names)
        if said.kind is not SubjectKind.OTHER or said.words:
            return "", ""
        touched = touching(self._taints, item.start, item.end)
        problem = touched.why if touched else item.problem
        problem = problem or no_statement(words, external=self._external, item=True)
        return words, problem or item_problem(words, self._names)

    def _sentence(self, start: int, end: int) -> None:
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
        said = subject_of(words, self._names, topics=self._topics)
        entities = self._meant(said)
        noun = is_a(words, said.verb) if said.verb else ""
        if noun:
            single = entities[0] if len(entities) == 1 else ""
            if single or said.words:
                self._nouns[noun] = single
        self._focus = entities[0] if len(entities) == 1 else ""
        if said.kind is SubjectKind.TOPIC:
            self._focus = ""  # "it" is then the starter, and not all sourdough
        if not entities:
            if self._names.find(words):
                self._refuse(plain_words(marked), "a known thing is not its subject")
            return
        if self._external:
            cut = self._first_clauses(words)
            marked, end = marked[:cut], start + cut
        own = words if self._external else unowned(words, self._names.find(words))
        judged = marked if own == words else own
        problem = no_statement(plain_words(judged), external=self._external)
        problem = problem or incomplete(words[: len(marked)], said)
        if not problem and self._external and is_label(words[: len(marked)], said):
            problem = "it has no verb"
        if not problem and not self._external:
            places = self._names.find(words[said.verb :])
            others = any(owner not in entities for _, _, owner in places)
            problem = in_passing(words, said, names_another=others)
        if not problem and len(marked) == len(words):
            problem = self._unfinished(start, end)
        if problem:
            self._refuse(plain_words(marked), problem)
            return
        self._take(entities, start, end, str(said.kind), self._sure(said))

    def _first_clauses(self, words: str) -> int:
        """Return where a sentence goes over to an order or to what is said of another thing."""
        for joint in _JOINT.finditer(words):
            rest = words[joint.end() :]
            said = subject_of(rest, self._names)
            if said.words or ORDER.match(rest) or (said.names and joint["word"] is None):
                return joint.start()
        return len(words)

    def _meant(self, said: Subject) -> Sequence[str]:
        """Return the known things that a subject means."""
        if said.names:
            return said.names
        if said.kind is SubjectKind.PRONOUN and self._focus:
            return [self._focus]
        if said.kind is SubjectKind.NOUN:
            if said.noun in self._nouns:
                owner = self._nouns[said.noun]
                return [owner] if owner else []
            if said.noun in _ANYTHING and self._focus:
                return [self._focus]
            if is_part(said.noun) and self._focus and self._focus == self._title_entity:
                return [self._focus]
        return []

    def _sure(self, said: Subject) -> float:
        direct = policy.EXTERNAL_FACT if self._external else policy.STATED
        if said.kind in (SubjectKind.PRONOUN, SubjectKind.NOUN):
            return min(direct, REFERRED)
        return direct

    def _unfinished(self, start: int, end: int) -> str:
        """Say that a sentence has no end; one of others may be cut where its text was."""
        last, rest = self._text[end - 1], self._text[end:]
        closed = last in ".!\"'”’)]*_…。"
        if not rest.strip():
            room = policy.RESULT_TEXT_CHARS if closed else policy.RESULT_TEXT_CHARS // 2
            if self._external and len(self._text) >= room:
                return "its text was cut there"
            return "" if closed or _ends_line(last) else "it has no end"
        if closed:
            return ""
        if not rest.startswith("\n") or not _ends_line(last):
            return "it has no end"
        if rest.lstrip().startswith(("[...]", "[…]", "...", "…")):
            return "it has no end"
        line = rest[1:].partition("\n")[0]
        if BULLET.match(self._text, self._text.rfind("\n", 0, start) + 1):
            return ""  # an item; what goes on with it is joined to it
        below = line.strip(" \t>\0")
        named = self._names.find(below)
        if not below or (named and named[0][0] == 0):
            return ""
        # "the Lindqvist / Prize": a name that goes on
        named_so_far = self._text[start:end].rsplit(None, 1)[-1][0].isupper()
        if not _goes_on(line, below) and not (named_so_far and below[0].isupper()):
            return ""
        # of somebody who writes without capitals lower case says nothing
        if not self._external and self._text[start].islower() and below[0].islower():
            return ""
        return "it has no end"

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


def _goes_on(line: str, words: str) -> bool:
    """Tell whether a line may be the rest of a sentence that has no end in the one above."""
    if NUMBERED.match(line):
        return True  # "with version / 3. It": a list begins with 1
    if BULLET.match(line) or HEADING.match(line) or PAIR.match(words) or words[0] in "|`~<=_-*":
        return False
    first = MEMBER.search(words)
    if first is None or not first[0][0].isupper():
        return first is not None
    return may_be_name(first[0])


def _ends_line(last: str) -> bool:
    """Tell whether a line without a full stop may end so: "costs 40 %"."""
    return last.isalnum() or last in "%€$£°+″′"


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


_TITLE_LEAD: Final = re.compile(
    r"^(?:(?:review|all about|about|introducing|meet|what is|who is|guide to|a guide to|the"
    r"|getting to know|hands-on|test)\b[:\s-]*)+",
    re.IGNORECASE,
)


def _title_entity(title: str, names: KnownNames) -> str:
    """Return the one known thing that a text is about by its title; "" for none or several."""
    places = names.find(title)
    if len({owner for _, _, owner in places}) != 1:
        return ""
    start, end, owner = places[0]
    lead = _TITLE_LEAD.match(title)
    if start > (lead.end() if lead else 0) or _AGAINST.search(title[end:]):
        return ""
    # "Halden Q40 Pro review" is about another thing
    follows = re.match(r"\s+(?P<word>[^\W_][\w.]*)", title[end:])
    if follows and (follows["word"][0].isupper() or follows["word"][0].isdigit()):
        word = follows["word"].lower()
        return owner if word in ABOUT_IT or word in ("review", "test", "wikipedia") else ""
    return owner


def _top_heading(text: str) -> str:
    """Return the heading that a text begins with, which is its title; "" for none."""
    heading = HEADING.match(text.lstrip().partition("\n")[0])
    return plain_words(without_marks(heading["words"])) if heading else ""


def _short_names(names: KnownNames, text: str) -> dict[str, str]:
    """Return by which shorter names a text may call the things that it names in full.

    What stands before the last words may go ("the Q40", "Verhoeven"), what stands behind may not:
    the LS50 is another thing than the LS50 Meta. Only "Ltd" and its like may go there.
    """
    owners: dict[str, str] = {}
    shared: set[str] = set()
    named = {owner for _, _, owner in names.find(text)}
    for key, owner in names.surfaces.items():
        if owner not in named:
            continue
        words = key.split()
        shorter = [words[at:] for at in range(1, len(words))]
        if len(words) > 1 and words[-1].rstrip(".") in _CORPORATE:
            shorter = [words[:-1]]
        for parts in shorter:
            short = " ".join(parts)
            if _stands_alone(parts) and owners.setdefault(short, owner) != owner:
                shared.add(short)
    return {short: owner for short, owner in owners.items() if short not in shared}


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
    """Return the known things that a text speaks of as a kind or a matter, in lower case.

    That tells only where the text has capitals: "the halden q40 stand" is written in haste.
    """
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
