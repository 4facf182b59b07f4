"""Read a message around one value: its words in their tree, and what is meant of them.

What would mislead the reader is put in other words first: a value of several words becomes one
name, what stands in quotes one thing, and a key that is written out is spelled ("my #2 favorite
crypto"). Does not know operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
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
    "SPEAKERS",
    "VALUE",
    "Told",
    "Tree",
    "stems_of",
]


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of words: the forms of a verb have one."""
    return frozenset(map(stem, text.split()))


_NAME: Final = "Rio"  # stands for a value that is no single word
_THING: Final = "words"  # stands for what is quoted
_FOREIGN: Final = 0.5  # from this chance on words are more likely not their writer's own
_KEY: Final = re.compile(r"\buser\.\w[\w-]*(?:\.[\w#%&+-]+)*", re.IGNORECASE)
VALUE: Final = "▮"
_PARTS: Final = re.compile(r"\s*[,;]?\s+(?:and|but|while|then|so|because|since)\s+|[;,]\s+|\n")
LIST_WORD: Final = words_of("list lists ranking rankings favorites favourites favs faves")
OWN: Final = frozenset(("my", "our"))
_SELF: Final = frozenset(("i", "we"))
SPEAKERS: Final = words_of("i we you he she they")
_REFERRING: Final = words_of("it that this they them these those both which")
NEGATIONS: Final = words_of("not n't n’t never no nor neither hardly barely cannot")
_CONDITIONS: Final = words_of(
    "if unless when whenever until till whether once suppose supposing imagine assuming"
)
_UNREAL: Final = frozenset(("would", "could", "might", "should", "may", "'d", "’d"))
_WISHED: Final = frozenset(("would", "could", "'d", "’d"))
_MODAL: Final = frozenset(("can", "could", "would", "will"))
DOUBTS: Final = words_of(
    "maybe perhaps probably possibly apparently allegedly supposedly presumably"
)
_MINE_TO_SAY: Final = stems_of("want like need love remember note let say")
_UNDER: Final = ("ccomp", "xcomp", "acl", "csubj")
_BESIDE: Final = ("conj", "parataxis", "list")
_NOUNS: Final = ("NOUN", "PROPN", "PRON")
_OVER: Final = frozenset(("longer", "more", "anymore"))


def _spelled(key: str) -> str:
    """Return a written key in words: "my #2 favorite crypto" for `user.favorites.crypto.2`."""
    key = normalize_fact_key(key)[0]
    ranked = split_rank_key(key)
    if ranked is not None:
        return f"my #{ranked[1]} favorite {ranked[0].removeprefix(FAVORITES + '.')}"
    if key.startswith(FAVORITES + "."):
        return f"my favorite {key.removeprefix(FAVORITES + '.')}"
    return "my " + key.removeprefix("user.").replace(".", " ").replace("_", " ")


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
        if token.head < 0 or self._says_own(i):
            return False
        if token.relation == "parataxis" and token.pos in ("NOUN", "PROPN"):
            return self.tokens[token.head].pos in ("NOUN", "PROPN")
        return token.relation in ("conj", "list")

    def _says_own(self, i: int) -> bool:
        return any(self.tokens[k].relation in ("nsubj", "cop") for k in self.below[i])

    def subject(self, i: int) -> str | None:
        """Return whose doing a verb is; None where nobody is named, as of an order."""
        if self.stems[i] == "let":
            return None
        for j in self.below[i]:
            if self.tokens[j].relation == "nsubj":
                return self.words[j]
        return None

    def negated(self, i: int) -> bool:
        """Say whether a word is denied: "not my #1", "never remove", "no longer want"."""
        denied = any(
            self.words[j] in NEGATIONS and self.tokens[j].relation != "discourse"
            for j in self._inner(i)
        )
        above = self.tokens[i].head
        shared = self.tokens[i].relation == "conj" and self.subject(i) is None
        if shared and self.tokens[i].pos == "VERB" and self.tokens[above].pos in ("VERB", "ADJ"):
            broken = any(self.words[j] == "but" for j in self.below[i])
            return denied or (not broken and self.negated(above))
        return denied

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
        return self.subject(i) in ("you", *_SELF, None)

    def unmeant(self, i: int, *, order: bool = False) -> str:
        """Say why what a word tells is not stated, or "" where its writer means it.

        `order` leaves out what is denied and what was so before: an order may name both.
        """
        path = list(self.up(i))
        clause = [c for c in self.reading.clauses if c.first <= i < c.last]
        polite = any(self._is_request(j) for j in path)
        if any(c.act == "ask" for c in clause) and not polite:
            return "it is a question"
        if any("quoted" in c.flags for c in clause) or self._is_foreign(i):
            return "it tells what somebody said or thinks"
        for n, j in enumerate(path):
            problem = self._unmeant(j, order=order)
            if problem:
                return problem
            relation, above = self.tokens[j].relation, self.tokens[j].head
            nominal = relation == "xcomp" and self.tokens[j].pos != "VERB"
            if relation in _UNDER and not nominal and not self._says(above, j):
                return "it tells what somebody said or thinks"
            own = self._says_own(j)
            left = clause and not clause[0].first <= above < clause[0].last
            if (relation in _BESIDE and own) or (left and relation not in (*_UNDER, "advcl")):
                return ""
            if relation == "advcl" and n + 1 < len(path):
                return "it supposes something and does not say that it is so"
        return ""

    def _is_request(self, i: int) -> bool:
        modal = {self.words[j] for j in self.below[i]} & _MODAL
        return bool(modal) and self.subject(i) == "you"

    def _says(self, above: int, i: int) -> bool:
        """Say whether a verb has its writer say what hangs on it: "remember that", "I want to"."""
        if self.tokens[above].pos not in ("VERB", "AUX"):
            return self.tokens[i].relation != "acl"
        mine = self.subject(above) in (*_SELF, "you", None)
        return mine and self.stems[above] in _MINE_TO_SAY

    def _unmeant(self, i: int, *, order: bool) -> str:
        inner = [self.words[j] for j in self._inner(i)]
        marks = [self.words[j] for j in self.below[i] if self.tokens[j].relation == "mark"]
        under = [
            self.words[k]
            for j in self.below[i]
            if self.tokens[j].relation == "advcl"
            for k in self.below[j]
        ]
        if _CONDITIONS & {*marks, *under}:
            return "it supposes something and does not say that it is so"
        wished = self.subject(i) in ("you", *_SELF) and self.tokens[i].pos == "VERB"
        if _UNREAL & {*inner} and not (wished and _WISHED & {*inner}):
            return "it supposes something and does not say that it is so"
        if DOUBTS & {self.words[i], *inner}:
            return "it is not sure of it"
        past = {"was", "were"} & {*inner} or "used" in inner
        if not order:
            if past and self.stems[i] != "born":
                return "it says what was so before, not what is so now"
            if self.negated(i):
                return "it says what is not so"
        return ""

    def _is_foreign(self, i: int) -> bool:
        token = self.tokens[i]
        return any(
            s.begin <= token.begin < s.end and s.chance >= _FOREIGN for s in self.reading.foreign
        )


class Told(Tree):
    """A message as it was read, with one place of a value in it, or none."""

    def __init__(self, heard: Heard, place: Span | None, list_key: str | None) -> None:
        self.heard = heard
        self.list_key = list_key
        text, self.value = _plain(heard.message, place)
        super().__init__(text)

    @cached_property
    def named(self) -> frozenset[int]:
        """The words that name the topic of the list."""
        places = topic_places(self.text, self.list_key) if self.list_key else []
        spans = [Span(*place) for place in places]
        taken = set(self.at(self.value)) if self.value else set()
        return frozenset(i for span in spans for i in self.at(span) if i not in taken)

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
        return [self.own, *(i for i in taken if self.tokens[i].relation not in ("det", "mark"))]

    def scope(self, tells: Callable[[str], bool]) -> str:
        """Return the words that may tell something of the value, which is blotted by `VALUE`.

        These are its part of the sentence, and where that says nothing of anybody, or is taken up
        by another, those parts too.
        """
        if self.own is None or self.value is None:
            return ""
        start, end = self.sentences[max(0, self.sentence(self.own) - 1)]
        cuts = [start, *(m.end() for m in _PARTS.finditer(self.text, start, end)), end]
        parts = [Span(*pair) for pair in pairwise(cuts)]
        here = next((p for p in parts if p.start <= self.value.start < p.end), Span(start, end))
        if tells(self._blotted(here)):
            return self._blotted(here)
        bare = not self._tells(here) or here.start == self.value.start
        joined = [p for p in parts if p == here or bare or not self._tells(p)]
        for i in self.meant[1:]:
            if not self.unmeant(i):
                at = self.tokens[i]
                joined += [
                    s for s in self.sentences if s[0] <= at.begin < s[1] and s[0] > here.start
                ]
        return " ".join(self._blotted(p) for p in joined)

    def _tells(self, span: Span) -> bool:
        return any(self.tokens[i].pos in ("VERB", "AUX") for i in self.at(span))

    def _blotted(self, span: Span) -> str:
        assert self.value is not None
        before, after = span.start, span.end
        if not before <= self.value.start < after:
            return span.of(self.text)
        return f"{self.text[before : self.value.start]}{VALUE}{self.text[self.value.end : after]}"


def _mended(reading: Reading) -> tuple[Token, ...]:
    """Return the words of a reading, a sentence that fell into a verb and a noun in one tree."""
    tokens = list(reading.tokens)
    last = -1
    for i, token in enumerate(tokens):
        if token.relation != "root":
            continue
        if last >= 0 and not re.search(r"[.!?\n]", reading.text[tokens[last].end : token.begin]):
            noun = token.pos in _NOUNS and tokens[last].pos == "VERB"
            verb = token.pos == "VERB" and tokens[last].pos in _NOUNS
            if noun:
                tokens[i] = replace(token, head=last, relation="obj")
                continue
            if verb:
                tokens[last] = replace(tokens[last], head=i, relation="nsubj")
        last = i
    return tuple(tokens)


def _plain(message: str, place: Span | None) -> tuple[str, Span | None]:
    """Return a message in words that are read well, and where the value stands in it."""
    pieces: list[tuple[int, int, str]] = []
    if place is not None:
        said = place.of(message)
        start, end = place.start, place.end
        quoted = next((q for q in QUOTED.finditer(message) if q.start() < start < q.end()), None)
        if quoted is not None and quoted.end() == end + 1 and quoted.start() == start - 1:
            start, end = quoted.span()
            said = ""
        pieces.append((start, end, said if re.fullmatch(r"\w+", said) else _NAME))
    for pattern in (QUOTED, _KEY):
        for match in pattern.finditer(message):
            if all(match.end() <= start or match.start() >= end for start, end, _ in pieces):
                words = _THING if pattern is QUOTED else _spelled(match[0])
                pieces.append((match.start(), match.end(), words))
    text, at, value = "", 0, None
    for start, end, words in sorted(pieces):
        text += message[at:start]
        if place is not None and start <= place.start < end:
            value = Span(start=len(text), end=len(text) + len(words))
        text += words
        at = end
    return text + message[at:], value
