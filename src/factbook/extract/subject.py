"""Say what an English sentence is about; an order, a title or a piece has no subject."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Final

from factbook.extract.base import word_set
from factbook.extract.known_names import KnownNames
from factbook.language.nouns import singular
from factbook.language.reader.read import read
from factbook.language.reader.reading import Token, children


class SubjectKind(StrEnum):
    """Say how a sentence names what it is about."""

    NAME = "name"  # "The Halden Q40 weighs ..."
    PART = "part"  # "The Halden Q40's cabinet is ...", "The price of the Halden Q40 is ..."
    PRONOUN = "pronoun"  # "It weighs ...", "Its cabinet is ..."
    NOUN = "noun"  # "The speaker weighs ...", "There is no remote control"
    TOPIC = "topic"  # "A sourdough starter is ...", "Electric cargo bikes cost ..."
    OTHER = "other"  # something else


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a sentence is about; for OTHER the words that stand there, as far as they are known."""

    kind: SubjectKind
    names: Sequence[str] = ()  # canonical, for NAME, PART and TOPIC
    noun: str = ""  # in the singular: what the subject is built on, where that is a common noun
    is_bare: bool = False  # nothing says which: "apples grow"
    start: int = 0  # of the subject in the text
    verb: int = 0  # where its verb begins
    words: str = ""  # for OTHER: the name that stands there, where one does
    is_a: str = ""  # the noun that the subject is said to be, in the singular
    end: int = 0  # where what is said of it ends, and something of another thing begins


SENTENCE_CHARS: Final = 1_000  # ours: a longer one is none
MOST_READ: Final = 24_000  # ours: characters of a text that are read
GROUP: Final = 2  # sentences that are read at once
GROUP_CHARS: Final = 400
STAND_IN: Final = "Kodak"  # a name that networks know as one

# Who has to do with a thing and is another: what is said of it is not said of the thing.
_OTHERS: Final = word_set("""
    rival competitor competition successor predecessor alternative replacement clone copy imitator
    fan critic reviewer buyer customer user owner maker seller dealer follower lover enthusiast
    admirer neighbour neighbor sister brother cousin sibling twin opponent enemy counterpart
    equivalent substitute knockoff review comparison impostor imitation analogue heir challenger
    accessory article website site forum tab page post photo picture image comment
    """)
_ITS: Final = word_set("it they he she them its their his her")
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)+")  # "Python 3.12" is Python; "Q40 2" is another
_PARTS: Final = frozenset({"compound", "flat", "amod", "nummod", "det", "case", "punct", "nmod"})


def subject_of(sentence: str, names: KnownNames) -> Subject:
    """Return what a sentence is about; `names` are the known things."""
    return Trees(sentence, names).subject(0, len(sentence))


def _groups(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join sentences that stand together, a few at once: so the network has learned them."""
    first = last = count = 0
    for start, end in sorted(spans):
        if end - start > SENTENCE_CHARS or start > MOST_READ:
            continue
        if count and (count == GROUP or end - first > GROUP_CHARS):
            yield first, last
            count = 0
        first, last, count = (first if count else start), max(end, last), count + 1
    if count:
        yield first, last


def _one_word(name: str) -> str:
    """Return one word that stands in a sentence as a name of several does, as long as that."""
    if name.isalnum():
        return name
    last = re.split(r"[^\w]+", name)[-1]
    word = last if last.islower() else STAND_IN[: len(name)]
    return word.ljust(len(name))


class Trees:
    """The words of a text in their trees, and which of them are names of known things."""

    def __init__(self, text: str, names: KnownNames, spans: Sequence[tuple[int, int]] = ()) -> None:
        """Read a text, or the sentences at `spans` of it; a name is one word of its tree.

        Of a long text the beginning is read, and of what is no sentence for its length nothing.
        """
        self.text = text = text.replace("\0", " ")
        places = names.find(text)
        joined = list(text)
        for start, end, _ in places:
            joined[start:end] = _one_word(text[start:end])
        plain = "".join(joined)
        self.tokens: list[Token] = []
        self._named: list[tuple[int, int]] = []
        for start, end in _groups(spans or [(0, len(text))]):
            self._add(plain, start, min(end + 1, len(plain)))
        self._begins = [token.begin for token in self.tokens]
        self._owner = {
            at: owner
            for start, end, owner in places
            for at in range(bisect_left(self._begins, start), bisect_left(self._begins, end))
        }

    def _add(self, plain: str, start: int, end: int) -> None:
        reading = read(plain[start:end])
        base = len(self.tokens)
        self.tokens += [
            replace(
                token,
                begin=token.begin + start,
                end=token.end + start,
                head=token.head + base if token.head >= 0 else -1,
            )
            for token in reading.tokens
        ]
        self._named += [(name.begin + start, name.end + start) for name in reading.names]

    @cached_property
    def _children(self) -> Sequence[Sequence[int]]:
        return children(self.tokens)

    def nouns(self, start: int, end: int) -> frozenset[str]:
        """Return the nouns of a stretch, in the singular and in lower case."""
        first, last = bisect_left(self._begins, start), bisect_left(self._begins, end)
        return frozenset(
            singular(token.text.lower())
            for token in self.tokens[first:last]
            if token.pos in ("NOUN", "PROPN")
        )

    def has_number(self, start: int, end: int) -> bool:
        """Tell whether a stretch has a number."""
        first, last = bisect_left(self._begins, start), bisect_left(self._begins, end)
        return any(token.text[0].isdigit() for token in self.tokens[first:last])

    def has_verb(self, start: int, end: int) -> bool:
        """Tell whether a stretch has a verb."""
        first, last = bisect_left(self._begins, start), bisect_left(self._begins, end)
        return any(token.pos in ("VERB", "AUX") for token in self.tokens[first:last])

    def is_order(self, start: int, end: int) -> bool:
        """Tell whether a stretch begins with a verb that asks for something."""
        first, last = bisect_left(self._begins, start), bisect_left(self._begins, end)
        if first >= last or self.tokens[first].pos != "VERB":
            return False
        bare = re.search(r"(?:ed|ing|[^s]s)$", self.tokens[first].text) is None
        roots = [at for at in range(first, last) if not first <= self.tokens[at].head < last]
        return bare and first in roots and self._head(first, last) is None

    def subject(self, start: int, end: int, *, topics: Collection[str] = ()) -> Subject:
        """Return what the sentence of a stretch is about.

        `topics` are those among the known things that are a kind or a matter and no single thing:
        what is said of some of it, or of what belongs to it, is said about it.
        """
        first, last = bisect_left(self._begins, start), bisect_left(self._begins, end)
        clause = self._head(first, last)
        if clause is None:
            return Subject(kind=SubjectKind.OTHER)
        head, root = clause
        said = self._said(first, head, root, topics)
        return replace(
            said,
            names=tuple(dict.fromkeys(said.names)),
            start=self.tokens[self._left(head)].begin,
            verb=self.tokens[self._verb(root)].begin,
            is_a=self._is_a(root),
            end=self._until(root, last, end),
        )

    def _head(self, first: int, last: int) -> tuple[int, int] | None:
        """Return (subject, root) of a stretch's main clause."""
        best: tuple[int, int] | None = None
        for at in range(first, last):
            token = self.tokens[at]
            if token.relation not in ("nsubj", "csubj", "expl") or not first <= token.head < last:
                continue
            if token.relation == "expl" and token.text.lower() != "there":
                continue
            depth, above = 0, token.head
            while above >= 0 and first <= above < last and depth < len(self.tokens):
                relation = self.tokens[above].relation
                depth += 1 + (relation in ("acl", "advcl", "ccomp", "csubj")) * 4
                above = self.tokens[above].head
            if best is None or (depth, at) < best:
                best = (depth, at)
        if best and best[0] < 5:
            return best[1], self.tokens[best[1]].head
        return self._unmarked(first, last)

    def _unmarked(self, first: int, last: int) -> tuple[int, int] | None:
        """Return (subject, root) where the network saw both and not that they are one clause."""
        apart = [at for at in range(first, last) if not first <= self.tokens[at].head < last]
        for root in range(first, last):
            copula = [at for at in self._children[root] if self.tokens[at].relation == "cop"]
            if not copula and (root not in apart or self.tokens[root].pos != "VERB"):
                continue
            stop = min([*copula, root])
            before = [
                at
                for at in range(first, stop)
                if (at in apart or (copula and self.tokens[at].head == root))
                and self.tokens[at].pos in ("NOUN", "PROPN", "PRON")
            ]
            return (before[-1], root) if before else None
        return None

    def _said(self, first: int, head: int, root: int, topics: Collection[str]) -> Subject:
        """Return whose a subject is, by its words alone."""
        token, low = self.tokens[head], self.tokens[head].text.lower()
        below = self._children[head]
        if token.relation == "expl":
            return Subject(kind=SubjectKind.NOUN)
        if any(self.tokens[at].text.lower() in ("other", "another") for at in below):
            return Subject(kind=SubjectKind.OTHER)
        if head in self._owner:
            return self._by_name(head, head, topics)
        if low in _ITS or (low not in _OTHERS and self._is_its(below)):
            return self._by_pronoun(first, head)
        if singular(low) in _OTHERS:
            return Subject(kind=SubjectKind.OTHER)
        for at in below:
            if at not in self._owner:
                continue
            if self.tokens[at].relation in ("nmod", "compound", "flat", "amod"):
                return self._by_part(first, head, at, topics)
            if self.tokens[at].relation == "appos" and not self._is_name(head, first):
                return self._by_name(head, at, topics)
        if any(at in self._owner for at in (*self._below(head), *range(head + 2, root))):
            return Subject(kind=SubjectKind.OTHER)  # "people who like the Q40"
        if head + 1 in self._owner and self.tokens[head + 1].relation == "nsubj":
            return self._by_name(head, head + 1, topics)  # "my dog Pim"
        if self._is_name(head, first):
            return Subject(kind=SubjectKind.OTHER, words=self._name(head))
        named = [at for at in below if self._is_name(at, first)]
        if any(self.tokens[at].relation in ("appos", "flat", "compound") for at in named):
            return Subject(kind=SubjectKind.OTHER, words=self._name(named[0]))
        if token.pos not in ("NOUN", "PROPN", "NUM", "VERB", "ADJ"):
            return Subject(kind=SubjectKind.OTHER)
        says_which = {"det", "nummod", "nmod", "acl"}
        return Subject(
            kind=SubjectKind.NOUN,
            noun=singular(low),
            is_bare=not any(self.tokens[at].relation in says_which for at in below),
        )

    def _by_name(self, head: int, at: int, topics: Collection[str]) -> Subject:
        """Read a subject that is a name, with the others that do the same."""
        if self._goes_on(at):
            return Subject(kind=SubjectKind.OTHER, words=self._name(at))
        below_it = self._children[head]
        others = [below for below in below_it if self.tokens[below].relation == "conj"]
        names = [self._owner[at], *(self._owner[other] for other in others if other in self._owner)]
        some = any(self.tokens[below].relation in ("amod", "compound") for below in below_it)
        kind = SubjectKind.TOPIC if names[0] in topics and some else SubjectKind.NAME
        return Subject(kind=kind, names=names)

    def _by_pronoun(self, first: int, head: int) -> Subject:
        """Read "it", "its cabinet": behind a lead with a name it means what that names."""
        before = range(first, head)
        known = {self._owner[at] for at in before if at in self._owner}
        if len(known) > 1 or any(self._is_name(at, first) for at in before):
            return Subject(kind=SubjectKind.OTHER)
        if known:
            return Subject(kind=SubjectKind.NAME, names=tuple(known))
        noun = singular(self.tokens[head].text.lower())
        return Subject(kind=SubjectKind.PRONOUN, noun="" if noun in _ITS else noun)

    def _by_part(self, first: int, head: int, at: int, topics: Collection[str]) -> Subject:
        """Read "the price of the Q40", "the Q40's cabinet", "Q40 prices", "sourdough bread"."""
        token, name = self.tokens[head], self._owner[at]
        noun = singular(token.text.lower())
        if _VERSION.fullmatch(token.text):
            return Subject(kind=SubjectKind.NAME, names=[name])
        marks = {self.tokens[below].text.lower() for below in self._children[at]}
        owns = bool(marks & {"'s", "’s", "'", "’"})
        others = [below for below in self._children[head] if below != at]
        foreign = [below for below in (head, *others) if self._is_name(below, first)]
        if foreign and (owns or at > head or head in foreign or name in topics):
            return Subject(kind=SubjectKind.OTHER, words=self._name(foreign[0]))
        says_which = any(self.tokens[at].relation == "det" for at in self._children[head])
        if at > head and not (marks & {"of", "for"} and says_which):
            return Subject(kind=SubjectKind.OTHER)
        kind = SubjectKind.TOPIC if name in topics and not owns and at < head else SubjectKind.PART
        return Subject(kind=kind, names=[name], noun=noun)

    def _is_its(self, below: Sequence[int]) -> bool:
        return any(
            self.tokens[at].pos == "PRON"
            and self.tokens[at].relation == "nmod"
            and self.tokens[at].text.lower() in _ITS
            for at in below
        )

    def _goes_on(self, at: int) -> bool:
        """Tell whether more of a name stands behind a known one: "the Vela Nine Pro"."""
        if at + 1 >= len(self.tokens):
            return False
        token, after = self.tokens[at], self.tokens[at + 1]
        if after.begin - token.end > 1 or _VERSION.fullmatch(after.text):
            return False
        return after.text[0].isalnum() and (after.text[0].isdigit() or after.text[0].isupper())

    def _is_name(self, at: int, first: int) -> bool:
        """Tell whether a word is, or is of, a name of something else."""
        token = self.tokens[at]
        if at in self._owner or not token.text[0].isupper() or token.pos not in ("PROPN", "NOUN"):
            return False
        named = any(begin <= token.begin < end for begin, end in self._named)
        return named or token.pos == "PROPN" or at > first

    def _name(self, head: int) -> str:
        """Return the words with capitals around a word."""
        first = last = head
        while first > 0 and self._is_of_name(first - 1):
            first -= 1
        while last + 1 < len(self.tokens) and self._is_of_name(last + 1):
            last += 1
        start, end = self.tokens[first].begin, self.tokens[last].end
        for begin, stop in self._named:  # "Fall of Civilizations"
            if begin <= start and end <= stop:
                start, end = begin, stop
        return self.text[start:end]

    def _is_of_name(self, at: int) -> bool:
        token = self.tokens[at]
        after = self.tokens[at + 1].begin if at + 1 < len(self.tokens) else token.end
        named = token.text[0].isupper() or token.text[0].isdigit()
        return named and token.pos != "DET" and self.text[token.end : after] in ("", " ", "-")

    def _left(self, head: int) -> int:
        below = self._children[head]
        return min([head, *(at for at in below if self.tokens[at].relation in _PARTS)])

    def _verb(self, root: int) -> int:
        below = self._children[root]
        return min([root, *(at for at in below if self.tokens[at].relation in ("cop", "aux"))])

    def _is_a(self, root: int) -> str:
        token, below = self.tokens[root], self._children[root]
        copular = any(self.tokens[at].relation == "cop" for at in below)
        denied = any(self.tokens[at].text.lower() in ("not", "n't", "no", "never") for at in below)
        if token.text.lower() == "one":  # "one of the first cities"
            nouns = (self.tokens[at] for at in below if self.tokens[at].pos == "NOUN")
            token = next((noun for noun in nouns if noun.relation in ("nmod", "obl")), token)
        if not copular or denied or token.pos != "NOUN":
            return ""
        return singular(token.text.lower())

    def _until(self, root: int, last: int, end: int) -> int:
        """Return where a sentence goes over to an order or to what is said of another thing."""
        apart = (at for at in range(root + 1, last) if self.tokens[at].head < 0)
        for at in (*self._joined(root), *apart):
            if at >= last or at <= root:
                continue
            subjects = [
                below for below in self._children[at] if self.tokens[below].relation == "nsubj"
            ]
            other = any(
                self._is_name(below, 0) or self.tokens[below].text.lower() in ("i", "we", "you")
                for below in subjects
            )
            order = (
                not subjects
                and self.tokens[at].relation in ("parataxis", "root")
                and self.tokens[at].pos == "VERB"
                and not self._verb(at) < at
                and all(self.tokens[below].relation != "mark" for below in self._children[at])
            )
            if other or order:
                left = min((below for below in self._below(at) if below > root), default=at)
                while left > root and (self.tokens[left - 1].relation in ("cc", "punct")):
                    left -= 1
                return self.tokens[left].begin
        return end

    def _joined(self, root: int) -> Iterator[int]:
        for at in self._children[root]:
            if self.tokens[at].relation in ("conj", "parataxis"):
                yield at
                yield from self._joined(at)

    def _below(self, at: int) -> Iterator[int]:
        yield at
        for below in self._children[at]:
            yield from self._below(below)
