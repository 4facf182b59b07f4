"""Read what a request to search, to learn or to tell is about, and make its searches. English.

The reader's tree tells where it begins and ends; which nouns ask something of a thing ("the price
of X", "X problems") and which name none ("stuff about X") are lists.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.base import word_set
from factbook.extract.name_tokens import is_shouted, is_uncommon
from factbook.extract.names import is_headline, names_in
from factbook.language.common_words import is_place
from factbook.language.nouns import is_plural, singular
from factbook.language.reader.read import read
from factbook.language.reader.reading import Token

REQUEST_CHARS: Final = 2_000  # ours: of a request; nobody asks for more at once


class TopicSpan(NamedTuple):
    """What a request is about, as it stands there, and its place."""

    topic: str
    start: int
    end: int


# What is asked of a thing, in the singular, or names nothing by itself; the thing is the topic.
_ASPECTS: Final = word_set("""
    stuff thing info information detail fact news article update resource more latest lot anything
    something everything history story origin quality weight size price pricing cost review rating
    opinion problem issue bug fault trouble complaint alternative comparison difference competitor
    manual instruction warranty guarantee date hour life spec specification datasheet feature
    dimension driver firmware discount deal availability pro con advantage disadvantage benefit
    drawback setup tutorial guide tip trick definition meaning explanation biography wiki website
    homepage lyric plot cast ending synopsis summary recipe soundtrack spoiler trailer screenshot
    picture photo video accessory benchmark opening release battery
    """)
_ANYTHING: Final = word_set("stuff thing info information more lot anything something everything")
QUALITIES: Final = word_set("""
    best better good great nice decent cheap cheaper cheapest affordable popular recommended
    reliable latest newest upcoming top inexpensive expensive worthwhile
    """)
# Verbs by which one asks to be told.
_TELLING: Final = word_set("""
    tell show explain describe compare recommend suggest search look find google research know learn
    read give get fetch teach hear see study explore investigate check follow track monitor watch
    want need like love wonder wondering try trying curious help let go looking do dig keep
    """)
_ASKING: Final = word_set("who what which when where how why whose")
_TAIL: Final = word_set("please pls plz thanks thank thx online today now again me us web internet")
_TO_ANOTHER: Final = word_set("vs versus than compared comparison like near nearby instead")
_SKIPPED: Final = frozenset({
    "PUNCT", "SYM", "INTJ", "CCONJ", "AUX", "PRON", "ADV", "SCONJ", "PART", "DET", "ADP",
})  # fmt: skip
_WITHIN: Final = frozenset({"amod", "compound", "flat", "nummod", "conj", "nmod"})
_LOOSE: Final = frozenset({"ADP", "DET", "CCONJ", "ADV", "PUNCT", "INTJ", "SCONJ"})
_QUOTED_WHOLE: Final = re.compile(r"[\"“«](?P<inner>[^\"”»\n]{1,100})[\"”»]\W*$")


def topic_of(request: str) -> TopicSpan:
    """Return what a request to search or to learn is about, as it stands in the request.

    "find me stuff about speakers" is about `speakers`, "search for LS50 Meta reviews" and "what
    does the LS50 Meta cost?" about `LS50 Meta`. What is put between quotes is taken as it stands.
    Where nothing else is left, it is about its own words; an empty text has an empty topic.
    """
    return _Request(request).topic()


def request_of(request: str) -> TopicSpan:
    """Return what a request asks, without words that only ask: "LS50 reviews", not "LS50" alone."""
    return _Request(request).asked()


class _Request:
    """The words of a request, and which of them only ask."""

    def __init__(self, request: str) -> None:
        self.text = request[:REQUEST_CHARS]
        self.tokens: Sequence[Token] = read(self.text).tokens
        self.lows = [token.text.casefold() for token in self.tokens]
        self.bases = [singular(low) for low in self.lows]
        words = [token.text for token in self.tokens if token.pos != "PUNCT"]
        self.is_title = len(words) > 1 and is_headline(words) and not is_shouted(self.text)
        self.is_title = self.is_title and not self.text.rstrip().endswith("?")
        self.begin = self._begin()
        self.asks = any(
            self.lows[at] in _ASKING or self.tokens[at].pos == "AUX" for at in range(self.begin)
        )
        self.is_of_two = "compare" in self.lows[: self.begin]

    def topic(self) -> TopicSpan:
        if quoted := _QUOTED_WHOLE.search(self.text):
            return self._span(*quoted.span("inner"))
        first = self._past_aspects(self.begin)
        last = self._end(first)
        if not self.is_title:
            alone = first == 0 and last == len(self.tokens)
            at = first
            while at < last - 1 and self.lows[at] in QUALITIES:
                at += 1
            first = at if last - at > 1 or not alone else first  # "best practices" is one thing
        return self._words(first, self._before_aspects(first, last))

    def asked(self) -> TopicSpan:
        """Return what is asked, with what is asked of a thing."""
        if quoted := _QUOTED_WHOLE.search(self.text):
            return self._span(*quoted.span("inner"))
        before = range(self.begin)
        does = any(
            (self.tokens[at].pos == "VERB" and self.lows[at] not in _TELLING)
            or self.lows[at] in ("how", "why", "when", "where", "which")
            for at in before
        )
        first = self.begin
        if does:
            first = next((at for at in before if self.lows[at] in _ASKING), 0)
        last = len(self.tokens)
        while last > first + 1 and self.tokens[last - 1].pos == "PUNCT":
            last -= 1
        return self._words(first, last)

    def only_says(self, end: int) -> bool:
        """Say whether it asks what something does, or why: "does bread need salt?"."""
        before = self.lows[: self.begin]
        if "why" in before:
            return True
        if "how" in before:
            return self.tokens[before.index("how") + 1].pos != "ADJ"
        does = any(token.pos == "VERB" for token in self.tokens if token.begin >= end)
        return does and self.asks and not set(before) & (_TELLING | _ASKING)

    def _span(self, start: int, end: int) -> TopicSpan:
        inner = self.text[start:end]
        start += len(inner) - len(inner.lstrip())
        return TopicSpan(inner.strip(), start, start + len(inner.strip()))

    def _words(self, first: int, last: int) -> TopicSpan:
        """Return the words from one to before another; all of them where these are none."""
        if first < last:
            return self._span(self.tokens[first].begin, self.tokens[last - 1].end)
        alnum = [at for at, sign in enumerate(self.text) if sign.isalnum()]
        return self._span(alnum[0], alnum[-1] + 1) if alnum else self._span(0, 0)

    def _begin(self) -> int:
        """Return the first word that does not only ask."""
        if self.is_title:
            return int(self.tokens[0].pos == "DET")
        return next(
            (at for at in range(len(self.tokens)) if not self._only_asks(at)), len(self.lows)
        )

    def _only_asks(self, at: int) -> bool:
        token, low = self.tokens[at], self.lows[at]
        behind = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        if token.pos == "VERB":
            parts = {other.relation for other in self.tokens if other.head == at}
            alone = at == 0 and low not in _TELLING and ("obl" in parts or not parts)
            return not alone and token.relation != "amod"
        if token.pos == "NUM":  # "find me three speakers"
            counts = at > 0 and token.head > at and token.text.islower()
            return counts and is_plural(self.lows[token.head])
        if token.pos == "ADJ":
            return token.relation not in _WITHIN
        general = self.bases[at] in _ANYTHING and behind is not None and behind.pos == "ADP"
        return general or low == "google" or token.pos in _SKIPPED

    def _past_aspects(self, first: int) -> int:
        """Return the first word of the thing of which something is asked: X in "the price of X"."""
        at = first
        while at < len(self.tokens) and self.bases[at] in _ASPECTS | {"and"}:
            at += 1
        if self.is_title or at == first or at >= len(self.tokens) or self.tokens[at].pos != "ADP":
            return first
        self.is_of_two = self.is_of_two or self.lows[at] == "between"
        at += 1
        while at < len(self.tokens) and self.tokens[at].pos in ("DET", "PRON"):
            at += 1
        return at if at < len(self.tokens) else first

    def _end(self, first: int) -> int:
        """Return the word behind the thing that begins with a word."""
        at = first + 1
        while at < len(self.tokens) and not self._ends(at):
            at += 1
        at = min(at, len(self.tokens))
        while at > first + 1 and (self.tokens[at - 1].pos in _LOOSE or self.lows[at - 1] in _TAIL):
            at -= 1
        return at

    def _ends(self, at: int) -> bool:
        token, low = self.tokens[at], self.lows[at]
        if low in _TO_ANOTHER:
            return True
        if token.pos == "PUNCT":
            around = self.text[token.begin - 1 : token.begin] + self.text[token.end : token.end + 1]
            return token.text[0] not in "'’&-" and (
                len(around) < 2 or any(map(str.isspace, around))
            )
        if self.is_title:
            return False
        if token.pos == "ADP":  # "under 500 euros"
            behind = self.tokens[at + 1] if at + 1 < len(self.tokens) else token
            return behind.pos in ("NUM", "SYM", "PRON", "ADV", "ADP")
        if token.pos == "CCONJ":
            return self.is_of_two
        if token.pos in ("VERB", "ADJ"):
            within = token.relation in _WITHIN or token.relation == "acl"
            return not within and (self.asks or token.pos == "ADJ")
        return token.pos in ("AUX", "PRON", "SCONJ", "INTJ")

    def _before_aspects(self, first: int, last: int) -> int:
        """Return the word behind the thing of which the last words ask something: "X reviews"."""
        at = last
        while at - 1 > first and self.bases[at - 1] in _ASPECTS:
            at -= 1
        words = [token.text for token in self.tokens[first:at]]
        if at == last or (at - first > 1 and self.tokens[at - 1].pos == "ADP"):
            return last
        if self.tokens[at - 1].pos == "PART":
            return at - 1
        # "gas prices" is itself what is asked about, and "The Price Guide" is a title.
        named = any(any(map(str.isdigit, word)) or is_uncommon(word) for word in words)
        plain = not self.is_title and (len(words) > 1 or is_plural(words[0].casefold()))
        return at if named or plain else last


def asks_of(words: str) -> bool:
    """Say whether words behind a name only say what of it is meant: "trailer", "soundtrack"."""
    every = words.casefold().split()
    return bool(every) and all(singular(word) in _ASPECTS for word in every)


def named_topic(request: str) -> TopicSpan | None:
    """Return what a request is about where it names that; None where it only says something.

    "does the LS50 need a subwoofer?" names the LS50; "why do people snore" names nothing that could
    be kept by its words.
    """
    whole = _Request(request)
    span = whole.topic()
    owned = _OF_A_NAME.fullmatch(span.topic)
    if owned and (any(map(str.isdigit, owned["name"])) or is_headline(owned["name"].split())):
        return TopicSpan(owned["name"], span.start, span.start + owned.end("name"))
    local = _AT_PLACE.fullmatch(span.topic)
    if local and is_place(local["place"].casefold()) and len(local["what"].split()) == 1:
        return None  # "restaurants in Porto": a look at the map
    words = span.topic.split()
    if whole.begin >= len(whole.tokens):
        return None
    if not words or not whole.only_says(span.end) or is_headline(words):
        return span if words else None
    names = [name for name in names_in(request) if span.start <= name.start < span.end]
    if len({name.name for name in names}) != 1:
        return None
    return TopicSpan(names[0].surface, names[0].start, names[0].end)


_OF_A_NAME: Final = re.compile(r"(?P<name>[^'’]+)['’]s\s+[a-z][a-z -]*")
_AT_PLACE: Final = re.compile(r"(?P<what>.+?)\s+(?:in|near|at|around|for|of)\s+(?P<place>.+)", re.I)

_ASKS_ITSELF: Final = re.compile(
    r"(?:what|who|how|why|when|where|which|is|are|do|does|can)\b", re.I
)


def learn_queries(topic: str) -> list[str]:
    """Return the searches by which a topic is learned without a model: 3 to 5, all different.

    A topic that is a question already is not asked about again. Raises ValueError for an empty one.
    """
    topic = " ".join(topic.split()).strip(" ?!.,;:")
    if not topic:
        raise ValueError("the topic to learn is empty; say what it is, as in `/learn espresso`")
    if _ASKS_ITSELF.match(topic):
        queries = [topic, f"{topic}: the latest", f"{topic}: the answers compared"]
    else:
        verb = "are" if is_plural(topic.split()[-1].casefold()) else "is"
        queries = [
            topic,
            f"what {verb} {topic}",
            f"latest news about {topic}",
            f"{topic} compared with alternatives",
            f"how to get started with {topic}",
        ]
    return queries[: policy.LEARN_QUERIES[1]]
