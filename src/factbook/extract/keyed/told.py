"""Read a message around one value: its words in their tree, and what is meant of them.

What would mislead the reader is put in other words first: a value of several words becomes one
name, what stands in quotes one thing, and a key that is written out is spelled ("my #2 favorite
crypto"). Does not know operations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Final

from factbook.extract.keyed.mentions import Heard, topic_places
from factbook.extract.keyed.wording import QUOTED, words_of
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading, Token, children
from factbook.language.sentences import Span, sentences
from factbook.language.words import stem
from factbook.model.keys import FAVORITES, normalize_fact_key, split_rank_key

__all__ = [
    "DOUBTS",
    "LIST_WORD",
    "NEGATIONS",
    "OWN",
    "SELF",
    "SPEAKERS",
    "Told",
    "Tree",
    "stems_of",
]


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of words: the forms of a verb have one."""
    return frozenset(map(stem, text.split()))


_NAME: Final = "Tesla"  # stands for a value that is no single word
_THING: Final = "words"  # stands for what is quoted
_KEY: Final = re.compile(r"\buser\.\w[\w-]*(?:\.[\w#%&+-]+)*", re.IGNORECASE)
LIST_WORD: Final = words_of("list lists ranking rankings favorites favourites favs faves")
OWN: Final = words_of("my our")
SELF: Final = words_of("i we")
SPEAKERS: Final = words_of("i we you he she they")
_REFERRING: Final = words_of("it that this they them these those both which")
NEGATIONS: Final = words_of("not n't n’t never no nor neither hardly barely cannot")
_CONDITIONS: Final = words_of(
    "if unless when whenever until till whether once suppose supposing imagine assuming"
)
_WISHED: Final = words_of("would could 'd")
_UNREAL: Final = _WISHED | words_of("might should may")
_MODAL: Final = words_of("can could would will")
DOUBTS: Final = words_of(
    "maybe perhaps probably possibly apparently allegedly supposedly presumably"
)
_MINE_TO_SAY: Final = stems_of("want like need love remember note let say")
_BESIDE: Final = ("conj", "parataxis", "list")
_UNDER: Final = ("ccomp", "xcomp", "acl", "csubj")
_NOUNS: Final = ("NOUN", "PROPN", "PRON")
_OVER: Final = words_of("longer more anymore")
_DENIED: Final = "it says what is not so"
_SUPPOSED: Final = "it supposes something and does not say that it is so"
_HANDED_ON: Final = "it tells what somebody said or thinks"


class Tree:
    """A text as it was read, one word an index."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.reading = read(text)
        self.tokens = _mended(self.reading)
        self.words = [token.text.lower().replace("’", "'") for token in self.tokens]
        self.stems = [stem(word) for word in self.words]

    @cached_property
    def below(self) -> list[list[int]]:
        """For each word those that hang on it."""
        return children(self.tokens)

    @cached_property
    def sentences(self) -> list[Span]:
        """The sentences of the text."""
        return list(sentences(self.text)) or [Span(0, len(self.text))]

    def at(self, span: tuple[int, int]) -> list[int]:
        """Return the words that stand in a span of the text."""
        return [i for i, t in enumerate(self.tokens) if t.end > span[0] and t.begin < span[1]]

    def head(self, words: list[int]) -> int:
        """Return the first word of some that hangs on none of them."""
        return next((i for i in words if self.tokens[i].head not in words), words[0])

    def under(self, i: int) -> list[int]:
        """Return a word with all that hangs on it, in order, without what is told beside it."""
        found = [i]
        for j in found:
            found += [k for k in self.below[j] if self.tokens[k].relation not in _BESIDE]
        return sorted(found)

    def text_of(self, words: list[int]) -> str:
        """Return the text from the first of some words to the last, or "" where there is none."""
        return self.text[self.tokens[words[0]].begin : self.tokens[words[-1]].end] if words else ""

    def sentence(self, i: int) -> int:
        """Return which sentence a word stands in."""
        begin = self.tokens[i].begin
        return sum(span.start <= begin for span in self.sentences)

    def up(self, i: int) -> Iterator[int]:
        """Yield a word and those above it, up to the root of its sentence."""
        while i >= 0:
            yield i
            i = self.tokens[i].head

    def siblings(self, i: int) -> list[int]:
        """Return the words that are told one after the other with a word, itself among them."""
        while self._is_next(i):
            i = self.tokens[i].head
        group = [i]
        for j in group:
            group += [k for k in self.below[j] if self._is_next(k)]
        return sorted(group)

    def _is_next(self, i: int) -> bool:
        token = self.tokens[i]
        if token.relation == "parataxis":
            return token.pos in _NOUNS and self.tokens[token.head].pos in _NOUNS
        if token.relation == "compound":  # "DOT and SOL", read as a name of two words
            joins = (k for k in self.below[token.head] if self.tokens[k].relation == "cc")
            return any(i < k < token.head for k in joins)
        return token.head >= 0 and token.relation in ("conj", "list") and not self._says_own(i)

    def _says_own(self, i: int) -> bool:
        return any(self.tokens[k].relation in ("nsubj", "cop") for k in self.below[i])

    def subject(self, i: int) -> str | None:
        """Return whose doing a verb is; None where nobody is named, as of an order."""
        return next(
            (self.words[j] for j in self.below[i] if self.tokens[j].relation == "nsubj"), None
        )

    def does(self, word: int | None, i: int) -> bool:
        """Say whether a verb is a word's doing."""
        return word in self.below[i] and self.tokens[word or 0].relation == "nsubj"

    def negated(self, i: int) -> bool:
        """Say whether a word is denied: "not my #1", "never remove", "no longer want"."""
        denied = any(
            self.words[j] in NEGATIONS and self.tokens[j].relation != "discourse"
            for j in self._inner(i)
        )
        shared = self.tokens[i].relation == "conj" and self.tokens[i].pos == "VERB"
        if denied or not shared or self.subject(i) is not None:
            return denied
        broken = any(self.words[j] == "but" for j in self.below[i])
        return not broken and self.negated(self.tokens[i].head)

    def _inner(self, i: int) -> Iterator[int]:
        for j in self.below[i]:
            if self.tokens[j].relation in ("advmod", "det", "aux", "cop", "cc", "discourse"):
                yield j
                yield from self._inner(j)

    def ended(self, i: int) -> bool:
        """Say whether what a word tells is so no more: "no longer", "not ... any more"."""
        return any(self.words[j] in _OVER for j in self._inner(i))

    def requested(self, i: int) -> bool:
        """Say whether a verb is an order or its writer's own doing: "can you make", "I put"."""
        return self.subject(i) in ("you", *SELF, None)

    def unmeant(self, i: int, *, order: bool = False) -> str:
        """Say why what a word tells is not stated, or "" where its writer means it.

        `order` leaves out what is denied and what was so before: an order may name both.
        """
        path = list(self.up(i))
        clauses = [c for c in self.reading.clauses if c.first <= i < c.last]
        if any(c.act == "ask" for c in clauses) and not any(map(self._is_request, path)):
            return "it is a question"
        if any("quoted" in c.flags for c in clauses):
            return _HANDED_ON
        for j in path:
            problem = self._unmeant(j, order=order)
            if problem:
                return problem
            relation, above = self.tokens[j].relation, self.tokens[j].head
            nominal = relation == "xcomp" and self.tokens[j].pos != "VERB"
            if relation in _UNDER and not nominal and not self._says(above):
                return _HANDED_ON
            left = clauses and not clauses[0].first <= above < clauses[0].last
            own = relation in _BESIDE and self._says_own(j)
            if own or (left and relation not in (*_UNDER, "advcl")):
                return ""
            if relation == "advcl":
                return _SUPPOSED
        return ""

    def _is_request(self, i: int) -> bool:
        return self.subject(i) == "you" and bool({self.words[j] for j in self.below[i]} & _MODAL)

    def _says(self, above: int) -> bool:
        """Say whether a verb has its writer say what hangs on it: "remember that", "I want to"."""
        mine = self.requested(above) and self.stems[above] in _MINE_TO_SAY
        return mine or self.tokens[above].pos not in ("VERB", "AUX")

    def _unmeant(self, i: int, *, order: bool) -> str:
        inner = {self.words[j] for j in self._inner(i)}
        under = [j for j in self.below[i] if self.tokens[j].relation == "advcl"]
        marks = {self.words[j] for j in self.below[i] if self.tokens[j].relation == "mark"}
        marks |= {self.words[k] for j in under for k in self.below[j]}
        wished = self.tokens[i].pos == "VERB" and self.subject(i) in ("you", *SELF)
        unreal = _UNREAL & inner and not (wished and _WISHED & inner)
        if _CONDITIONS & marks or unreal:
            return _SUPPOSED
        if DOUBTS & {self.words[i], *inner}:
            return "it is not sure of it"
        past = {"was", "were", "used"} & {self.words[i], *inner} and self.stems[i] != "born"
        if past and not order:
            return "it says what was so before, not what is so now"
        return "" if order or not self.negated(i) else _DENIED


class Told(Tree):
    """A message as it was read, with one place of a value in it, or none."""

    def __init__(self, heard: Heard, place: Span | None, list_key: str | None) -> None:
        self.heard = heard
        self.list_key = list_key
        text, self.value = _plain(heard, place)
        self.value_said = place.of(heard.message) if place else ""
        super().__init__(text)

    @cached_property
    def named(self) -> frozenset[int]:
        """The words that name the topic of the list."""
        places = topic_places(self.text, self.list_key) if self.list_key else []
        taken = self.at(self.value) if self.value else []
        return frozenset(i for place in places for i in self.at(place) if i not in taken)

    @cached_property
    def about(self) -> frozenset[int]:
        """The words that name the topic, a list, or favorites."""
        return self.named | {i for i, word in enumerate(self.words) if word in LIST_WORD}

    @cached_property
    def own(self) -> int | None:
        """The word that the value is."""
        words = self.at(self.value) if self.value else []
        return self.head(words) if words else None

    @cached_property
    def meant(self) -> list[int]:
        """The word of the value, and the words that take it up: "I love BTC, it is my #1"."""
        if self.own is None:
            return []
        here = self.sentence(self.own)
        near = [i for i in range(self.own + 1, len(self.tokens)) if self.sentence(i) <= here + 1]
        taken = [i for i in near if self.words[i] in _REFERRING and self.tokens[i].pos == "PRON"]
        return [self.own, *taken]

    @cached_property
    def said(self) -> list[int]:
        """The words that may tell something of the value: those of its clause.

        Those of a clause that takes it up too: "Europe/Athens. That's my timezone."
        """
        found: set[int] = set()
        for i in self.meant:
            if i == self.own or not self.unmeant(i):
                clause = next((c for c in self.reading.clauses if c.first <= i < c.last), None)
                same = [j for j in range(len(self.tokens)) if self.sentence(j) == self.sentence(i)]
                found |= {*(range(clause.first, clause.last) if clause else same)}
        return sorted(found)


def _mended(reading: Reading) -> list[Token]:
    """Return the words of a reading, a sentence that fell into two trees in one."""
    tokens, last = list(reading.tokens), -1
    for i, token in enumerate(tokens):
        if token.relation != "root":
            continue
        apart = last < 0 or re.search(r"[.!?\n]", reading.text[tokens[last].end : token.begin])
        if not apart and tokens[last].pos == "VERB" and token.pos in _NOUNS:
            tokens[i] = replace(token, head=last, relation="obj")
            continue
        tells = token.pos == "VERB" or any(t.head == i and t.relation == "cop" for t in tokens)
        if not apart and tokens[last].pos in _NOUNS and tells:
            tokens[last] = replace(tokens[last], head=i, relation="nsubj")
        last = i
    return tokens


def _plain(heard: Heard, place: Span | None) -> tuple[str, Span | None]:
    """Return a message in words that are read well, and where the value stands in it."""
    message = heard.message
    values = [place] if place is not None else []
    values += [span for other in heard.values for span in heard.places(other)]
    spans = [(span, span.of(message), _NAME) for span in values]
    for pattern in (QUOTED, _KEY):
        for match in pattern.finditer(message):
            words = _THING if pattern is QUOTED else _spelled(match[0])
            spans.append((Span(*match.span()), "", words))
    pieces: list[tuple[int, int, str]] = []
    for (start, end), said, words in spans:
        if said and any(quote.span() == (start - 1, end + 1) for quote in QUOTED.finditer(message)):
            start, end, said = start - 1, end + 1, ""
        if all(end <= first or start >= last for first, last, _ in pieces):
            pieces.append((start, end, said if re.fullmatch(r"\w+", said) else words))
    text, at, value = "", 0, None
    for start, end, words in sorted(pieces):
        text += message[at:start]
        if place is not None and start <= place.start < end:
            value = Span(start=len(text), end=len(text) + len(words))
        text += words
        at = end
    return text + message[at:], value


def _spelled(key: str) -> str:
    """Return a written key in words: "my #2 favorite crypto" for `user.favorites.crypto.2`."""
    key = normalize_fact_key(key)[0]
    ranked = split_rank_key(key)
    if ranked is not None:
        return f"my #{ranked[1]} favorite {ranked[0].removeprefix(FAVORITES + '.')}"
    if key.startswith(FAVORITES + "."):
        return f"my favorite {key.removeprefix(FAVORITES + '.')}"
    return "my " + key.removeprefix("user.").replace(".", " ").replace("_", " ")
