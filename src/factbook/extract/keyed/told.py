"""Read a message around one value: its words in their tree, and what is meant of them.

What would mislead the reader is put in other words first: a value becomes one name, what stands in
quotes one thing, and a written key is spelled ("my #2 favorite crypto"). The clauses tell of an
act, a doubt or a condition; the tree, what is denied and whose doing it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from factbook.extract.base import word_set
from factbook.extract.keyed.mentions import Heard, topic_places
from factbook.extract.keyed.wording import LIST_WORD, QUOTED, stems_of
from factbook.language.reader.read import read
from factbook.language.reader.reading import Clause
from factbook.language.reader.tree import Tree
from factbook.language.sentences import Span
from factbook.language.words import stem
from factbook.model.keys import FAVORITES, normalize_fact_key, split_rank_key

_NAME: Final = "Tesla"  # stands for a value that is no single word
_THING: Final = "words"  # stands for what is quoted
_KEY: Final = re.compile(r"\buser\.\w[\w-]*(?:\.[\w#%&+-]+)*", re.IGNORECASE)
OWN: Final = word_set("my our")
SELF: Final = word_set("i we")
REFERRING: Final = word_set("it that this they them these those which")
NEGATIONS: Final = word_set("not n't n’t never no nor neither hardly barely cannot")
DOUBTS: Final = word_set(
    "maybe perhaps probably possibly apparently allegedly supposedly presumably"
)
_CONDITIONS: Final = word_set(
    "unless when whenever until till whether once suppose supposing imagine assuming"
)
_MAY: Final = word_set("may might")
_UNREAL: Final = word_set("would could should 'd")
_MODAL: Final = word_set("can could will would")
_PAST: Final = word_set("was were used")
_MINE_TO_SAY: Final = stems_of("want like need love remember note let say")
_HELD: Final = _MINE_TO_SAY | stems_of(
    "think believe know guess mean make tell feel decide see find ensure"
)
_BESIDE: Final = frozenset(("conj", "parataxis", "list"))
_INNER: Final = ("advmod", "aux", "cop", "det")
_OVER: Final = word_set("longer more anymore")
_SUPPOSED: Final = "it supposes something and does not say that it is so"
_HANDED_ON: Final = "it tells what somebody said or thinks"


class ToldTree(Tree):
    """A text as it was read, one word an index."""

    def __init__(self, text: str) -> None:
        super().__init__(read(text))
        self.words = [word.replace("’", "'") for word in self.lower]
        self.stems = [stem(word) for word in self.words]

    def at(self, span: tuple[int, int]) -> list[int]:
        """Return the words that stand in a span of the text."""
        return [i for i, t in enumerate(self.tokens) if t.end > span[0] and t.begin < span[1]]

    def head(self, words: list[int]) -> int:
        """Return the first word of some that hangs on none of them."""
        return next((i for i in words if self.tokens[i].head not in words), words[0])

    def phrase(self, i: int) -> list[int]:
        """Return a word with all that hangs on it, in order, without what is told beside it."""
        return sorted(self.under(i, _BESIDE))

    def text_of(self, words: list[int]) -> str:
        """Return the text from the first of some words to the last, or "" where there is none."""
        return self.text[self.tokens[words[0]].begin : self.tokens[words[-1]].end] if words else ""

    def sentence(self, i: int) -> int:
        """Return which sentence a word stands in."""
        return sum(begin <= self.tokens[i].begin for begin, _ in self.reading.sentences)

    def clause(self, i: int) -> Clause | None:
        """Return the clause that a word stands in."""
        return next((c for c in self.reading.clauses if c.first <= i < c.last), None)

    def beside(self, i: int) -> range:
        """Return the words of the same clause."""
        clause = self.clause(i)
        return range(clause.first, clause.last) if clause else range(len(self.tokens))

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
        tells = self.of(i, "nsubj", "cop")
        return token.head >= 0 and token.relation in ("conj", "list") and not tells

    def subject(self, i: int) -> str | None:
        """Return whose doing a verb is; None where nobody is named, as of an order."""
        return next((self.words[j] for j in self.of(i, "nsubj")), None)

    def requested(self, i: int) -> bool:
        """Say whether a verb is an order or its writer's own doing: "can you make", "I put"."""
        return self.subject(i) in ("you", *SELF, None)

    def _inner(self, i: int) -> Iterator[int]:
        for j in self.of(i, *_INNER):
            yield j
            yield from self._inner(j)

    def negated(self, i: int) -> bool:
        """Say whether a word is denied: "not my #1", "never remove", "no longer want"."""
        return any(self.words[j] in NEGATIONS | {"longer"} for j in self._inner(i))

    def ended(self, i: int) -> bool:
        """Say whether what a word tells is so no more: "no longer", "not ... any more"."""
        return any(self.words[j] in _OVER for j in self._inner(i))

    def unmeant(self, i: int, *, order: bool = False) -> str:
        """Say why what a word tells is not stated, or "" where its writer means it.

        `order` leaves out what is denied and what was so before: an order may name both.
        """
        path, clause, beside = self.way(i), self.clause(i), self.beside(i)
        flags = clause.flags if clause else frozenset[str]()
        if clause and clause.act == "ask" and not any(map(self._is_request, path)):
            return "it is a question"
        if "quoted" in flags or any(map(self._is_handed_on, path)):
            return _HANDED_ON
        here = self.sentence(i)
        sentence = [j for j in range(len(self.tokens)) if self.sentence(j) == here]
        supposed = any("if" in c.flags and c.first in sentence for c in self.reading.clauses)
        for j in sentence:
            word, relation = self.words[j], self.tokens[j].relation
            supposed = supposed or (word in _CONDITIONS and relation in ("mark", "advmod"))
            supposed = supposed or (word in _MAY and relation == "aux")
        if supposed or any(map(self._is_unreal, path)):
            return _SUPPOSED
        said = {self.words[j] for j in beside}
        if DOUBTS & said or "hedge" in flags:
            return "it is not sure of it"
        if not order and _PAST & said and "born" not in said:
            return "it says what was so before, not what is so now"
        denied = not order and any(self.negated(j) for j in path if j in beside)
        return "it says what is not so" if denied else ""

    def _is_request(self, i: int) -> bool:
        return self.subject(i) == "you" and bool({self.words[j] for j in self.below[i]} & _MODAL)

    def _is_unreal(self, i: int) -> bool:
        """Say whether a word tells what would or should be so, and asks for nothing."""
        asked = self.subject(i) == "you" or self.stems[i] in _MINE_TO_SAY
        return not asked and any(self.words[j] in _UNREAL for j in self.below[i])

    def _is_handed_on(self, i: int) -> bool:
        """Say whether somebody else says what a word tells, or its writer only thinks of it."""
        token, above = self.tokens[i], self.tokens[i].head
        said = token.relation in ("ccomp", "csubj", "xcomp") and token.pos != "PROPN"
        if not said or self.tokens[above].pos != "VERB":
            return False
        thought = token.relation == "xcomp" and token.pos == "VERB"
        held = _MINE_TO_SAY if thought else _HELD
        return not self.requested(above) or self.stems[above] not in held


class Told(ToldTree):
    """A message as it was read, with one place of a value in it, or none."""

    def __init__(self, heard: Heard, place: Span | None, list_key: str | None) -> None:
        self.heard = heard
        self.list_key = list_key
        self.value_said = place.of(heard.message) if place else ""
        text, self.value = _plain(heard, place)
        super().__init__(text)
        self.taken = frozenset(self.at(self.value) if self.value else ())
        self.own = self.head(sorted(self.taken)) if self.taken else None  # the word it is

    @cached_property
    def named(self) -> frozenset[int]:
        """The words that name the topic of the list."""
        places = topic_places(self.text, self.list_key) if self.list_key else []
        return frozenset(i for place in places for i in self.at(place)) - self.taken

    @cached_property
    def about(self) -> frozenset[int]:
        """The words that name the topic, a list, or favorites."""
        return self.named | {i for i, word in enumerate(self.words) if word in LIST_WORD}

    @cached_property
    def meant(self) -> list[int]:
        """The word of the value, and the words that take it up: "I love BTC, it is my #1"."""
        if self.own is None:
            return []
        here = self.sentence(self.own)
        near = [i for i in range(self.own + 1, len(self.tokens)) if self.sentence(i) <= here + 1]
        taken = [i for i in near if self.words[i] in REFERRING and self.tokens[i].pos == "PRON"]
        return [self.own, *taken]


def _plain(heard: Heard, place: Span | None) -> tuple[str, Span | None]:
    """Return a message in words that are read well, and where the value stands in it."""
    message, quotes = heard.message, [Span(*m.span()) for m in QUOTED.finditer(heard.message)]
    values = [place] if place is not None else []
    values += [span for other in heard.values for span in heard.places(other)]
    spans: list[tuple[Span, str]] = []
    for span in values:
        quote = next((q for q in quotes if q == (span.start - 1, span.end + 1)), None)
        word = span.of(message) if re.fullmatch(r"\w+", span.of(message)) and not quote else _NAME
        spans.append((quote or span, word))
    spans += [(quote, _THING) for quote in quotes]
    spans += [(Span(*key.span()), _spelled(key[0])) for key in _KEY.finditer(message)]
    pieces: list[tuple[Span, str]] = []
    for span, words in spans:
        if all(span.end <= other.start or span.start >= other.end for other, _ in pieces):
            pieces.append((span, words))
    text, at, value = "", 0, None
    for span, words in sorted(pieces):
        text += message[at : span.start]
        if place is not None and span.start <= place.start < span.end:
            value = Span(start=len(text), end=len(text) + len(words))
        text += words
        at = span.end
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
