"""Read what the writer of a message likes and dislikes, and which topics those are.

Where it is said outright ("I love X", "I can't enjoy X", "my favorite X is Y"), the tree of the
sentence tells of what and in which sense. All else is what the reader marks: "X again, what a
gift"; where it stands in a clause that orders ("stop telling me about X") nothing more of it is to
be told. What others say (quoted, pasted), wishes, suppositions and what is over state nothing.

Does not know which names are known already (`mentions`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.extract.message_sentences import spaced
from factbook.extract.name_tokens import is_english, masked
from factbook.extract.quoted_text import is_mentioned
from factbook.extract.topics import asks_of
from factbook.extract.voice import OwnWords, own_words
from factbook.language.common_words import is_function_word
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading, Span, Token, children
from factbook.language.sentences import LINE_END
from factbook.model.entities import PreferenceType
from factbook.model.keys import entity_name
from factbook.net import cancel

__all__ = [
    "HEARD_CHARS",
    "NO_MORE_OF_IT",
    "OF_TASTE",
    "Opinion",
    "PreferenceSpan",
    "opinions_in",
    "preferences_in",
]

LEAST_CHANCE: Final = 0.5  # of what the reader takes for liked or disliked; below, it is not heard
SUREST: Final = 0.95  # of both, from here on it is so whatever else its clause seems to be
LEAST_SURE: Final = 0.7  # of which of the two
HEARD_CHARS: Final = 20_000  # ours: of one message; what follows is pasted material
NO_MORE_OF_IT: Final = "asks to hear no more of it"


class Opinion(NamedTuple):
    """What the writer of a message likes or dislikes, and where it is named."""

    start: int
    end: int
    liked: bool
    why: str
    pronoun: str = ""  # the word, in lower case, where the message itself does not say what it is
    implied: bool = False  # it lies between the lines, no words say so outright


class PreferenceSpan(NamedTuple):
    """A topic that its owner likes or dislikes, and where that is said."""

    topic: str  # canonical (`keys.entity_name`)
    type: PreferenceType
    start: int
    end: int


def opinions_in(text: str, *, voice: OwnWords | None = None) -> list[Opinion]:
    """Return what the writer of a message says to like or to dislike, in its order.

    `voice` says which words are their own, where that is known already. A text in another language
    states nothing.
    """
    cancel.check()
    voice = voice or own_words(text)
    return list(_opinions(voice.text[:HEARD_CHARS], bool(voice.overheard)))


@lru_cache(maxsize=64)
def _opinions(text: str, mixed: bool) -> tuple[Opinion, ...]:
    """Read own words; `mixed` says that the message hands on words of others.

    Beside those nothing counts but what words say: what lies between the lines of a page or a mail
    is its author's.
    """
    own = masked(text)
    if not is_english(own.replace(LINE_END, " ")):
        return ()
    reading = read(own)
    outright = [(_whole(reading, one), meant) for one, meant in _said_outright(reading)]
    said = [one for one, meant in outright if meant]
    outright_ones = [one for one, _ in outright]  # the reader is not asked again
    marked = [m for m in _marked(reading) if not (mixed and m.implied)]
    told = said + [m for m in marked if not any(_meet(m, other) for other in outright_ones)]
    return tuple(sorted({one.start: one for one in reversed(told)}.values()))


def _meet(one: Opinion, other: Opinion) -> bool:
    return one.start < other.end and other.start < one.end


# --- what is said outright ------------------------------------------------------------------------

_LIKES: Final = word_set("love loved loving like liked enjoy enjoyed enjoying adore adored prefer")
_HATES: Final = word_set("hate hated hating dislike disliked despise detest loathe loathed")
_BORNE: Final = word_set("stand bear abide")  # "can't stand it"
_FANS: Final = word_set("fan fans")  # "a Radiohead fan", "no fan of Coldplay"
OF_TASTE: Final = _LIKES | _HATES  # verbs by which somebody says or asks what they like
_SAYING: Final = OF_TASTE | _BORNE | _FANS | word_set("favorite favourite favorites fave into")
_DENIALS: Final = word_set("n't n’t no not never nt dont didnt cant cannot hardly")
_UNREAL: Final = word_set("would 'd ’d could might may should if unless whether when until used")
_PRONOUNS: Final = word_set("it them him her this that these those")
_SELF: Final = word_set("i we")
_BEFORE: Final = frozenset({"compound", "amod", "nummod", "flat", "nmod"})
_BEHIND: Final = frozenset({"compound", "flat", "nummod", "goeswith"})
_UNDER: Final = frozenset({"ccomp", "xcomp", "advcl", "acl", "csubj"})


class _Tree:
    """The words of a text and what hangs on each."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.lows = [token.text.casefold() for token in tokens]
        self.below = children(tokens)

    def of(self, word: int, *relations: str) -> list[int]:
        return [i for i in self.below[word] if self.tokens[i].relation in relations]

    def phrase(self, word: int) -> tuple[int, int]:
        """Return the words that name what a noun names: its own, and those behind "of"."""
        first = last = word
        for i in self.below[word]:
            part = self.tokens[i].relation
            if i < word and part in _BEFORE:
                first = min(first, self.phrase(i)[0])
            elif i > word and (part in _BEHIND or (part == "nmod" and self.is_of(i))):
                last = max(last, self.phrase(i)[1])
        return self.named(first, last)

    def is_of(self, word: int) -> bool:
        """Say whether "of" stands before a noun."""
        return any(self.lows[i] == "of" for i in self.of(word, "case"))

    def named(self, first: int, last: int) -> tuple[int, int]:
        """Return a phrase without the articles and owners before it and the prepositions behind."""
        head = first
        for i in range(first, last):
            later = self.tokens[i + 1]
            if later.pos == "ADP" and later.relation == "case" and self.lows[i + 1] != "of":
                last = i
                break
        while head < last and (
            self.tokens[head].pos in ("DET", "PRON", "PUNCT", "ADP") or self.lows[head] == "to"
        ):
            head += 1
        return head, last


def _said_outright(reading: Reading) -> Iterator[tuple[Opinion, bool]]:
    """Yield what verbs of liking are about, and whether the writer says so of themselves."""
    tree = _Tree(reading.tokens)
    for verb, token in enumerate(reading.tokens):
        low = tree.lows[verb]
        if low not in _FANS and (token.pos != "VERB" or low not in OF_TASTE | _BORNE):
            continue
        likes = low in _LIKES | _FANS
        denied = any(tree.lows[i] in _DENIALS for i in tree.of(verb, "advmod", "aux", "det"))
        says = likes or (low in _BORNE) == denied  # who does not hate a thing need not like it
        meant = says and _is_meant(tree, verb)
        ended = {"over"} if likes and denied else set()  # "I don't like it any more"
        meant = meant and _is_so(reading, token.begin, _UNREAL_CLAUSE - ended)
        meant = meant and not is_mentioned(reading.text, token.begin, token.end)
        for target in _objects(tree, verb):
            for one in _about(reading, tree, target, liked=likes and not denied):
                if meant or token.relation != "ccomp":
                    yield one, meant  # "I don't think I like it" is left to the reader


def _is_meant(tree: _Tree, verb: int) -> bool:
    """Say whether a verb is said of the writer, as it is and not as it might be."""
    word = verb
    for _ in tree.tokens:
        token = tree.tokens[word]
        below = {tree.lows[i] for i in tree.of(word, "aux", "mark", "advmod")}
        if below & _UNREAL or token.relation in _UNDER:
            return False
        subjects = [j for i in tree.of(word, "nsubj") for j in (i, *tree.of(i, "conj"))]
        if subjects or token.relation != "conj":
            own = any(tree.lows[i] in _SELF for i in subjects)
            return own or (not subjects and token.relation == "root")
        word = token.head
    return False


def _objects(tree: _Tree, verb: int) -> Iterator[int]:
    """Yield what a verb is about: its objects; of something done what it is done with."""
    if tree.lows[verb] in _FANS:
        yield from tree.of(verb, "compound", "nmod")
    for i in tree.of(verb, "obj"):
        if tree.lows[i] in _PRONOUNS and tree.of(verb, "advcl", "ccomp"):
            continue  # "I love it when it rains"
        yield from (i, *tree.of(i, "conj"))
    for i in tree.of(verb, "xcomp"):
        for doing in (i, *tree.of(i, "conj")):
            done = tree.of(doing, "obj") or tree.of(doing, "obl")[:1]
            if not done and tree.lows[doing].endswith("ing"):
                done = [doing]  # "I love hiking"; "I hate to wait" names nothing
            yield from (j for k in done for j in (k, *tree.of(k, "conj")))


def _about(reading: Reading, tree: _Tree, target: int, *, liked: bool) -> Iterator[Opinion]:
    why = "says to like it" if liked else "says to dislike it"
    token = tree.tokens[target]
    if tree.lows[target] in _PRONOUNS:
        thing = _meant(reading, token.begin, someone=tree.lows[target] in ("him", "her"))
        if thing is not None:
            yield Opinion(thing.begin, thing.end, liked, why)
        elif not any(word.pos in ("NOUN", "PROPN") for word in tree.tokens[:target]):
            yield Opinion(token.begin, token.end, liked, why, tree.lows[target])
    elif token.pos in ("NOUN", "PROPN", "X", "VERB"):
        first, last = tree.phrase(target)
        yield Opinion(tree.tokens[first].begin, tree.tokens[last].end, liked, why)


def _meant(reading: Reading, at: int, *, someone: bool) -> Span | None:
    """Return what a pronoun stands for: what the reader marks before it, else the one name."""
    people = {(span.begin, span.end) for span in reading.names if span.type == "person"}
    marked, names = (
        [one for one in spans if one.end <= at and ((one.begin, one.end) in people) is someone]
        for spans in (reading.opinions, reading.names)
    )
    one = len({reading.text[name.begin : name.end] for name in names}) == 1
    return marked[-1] if marked else names[0] if one else None


# --- what the reader marks ------------------------------------------------------------------------


def _whole(reading: Reading, one: Opinion) -> Opinion:
    """Return an opinion with the whole of the name that it is about."""
    for span in reading.names:
        if span.begin <= one.start < span.end:
            one = one._replace(start=min(one.start, span.begin), end=max(one.end, span.end))
    line = reading.text.find("\n", one.start, one.end)
    return one if line < 0 else one._replace(end=line)


_UNREAL_CLAUSE: Final = frozenset({"if", "wish", "over"})


def _is_so(reading: Reading, at: int, void: Collection[str]) -> bool:
    """Say whether the clause at a place tells what is so."""
    clause = next((c for c in reading.clauses if c.begin <= at < c.end), None)
    return clause is None or clause.flags.isdisjoint(void)


def _marked(reading: Reading) -> Iterator[Opinion]:
    """Yield what the reader takes for liked or disliked, but where it is not so or not theirs."""
    tree = _Tree(reading.tokens)
    for span in reading.opinions:
        if span.chance < LEAST_CHANCE or span.sure < LEAST_SURE:
            continue
        surest = min(span.chance, span.sure) > SUREST  # its clause is read by a head of its own
        void = {"quoted"} if surest else _UNREAL_CLAUSE | {"quoted"}
        if not _is_so(reading, span.begin, void):
            continue
        words = [i for i, t in enumerate(tree.tokens) if span.begin <= t.begin < span.end]
        first, last = tree.named(words[0], words[-1])
        low = tree.lows[first]
        if tree.tokens[first].pos == "SCONJ" or (
            first == last and (low in _PRONOUNS or is_function_word(low))
        ):
            continue
        begin, end = tree.tokens[first].begin, tree.tokens[last].end
        if span.type == "dislike" and _is_ordered(reading, begin):
            while last > first and asks_of(tree.lows[last]):
                last -= 1  # of "crypto stuff" it is crypto
            yield Opinion(begin, tree.tokens[last].end, False, NO_MORE_OF_IT)
            continue
        why = "speaks well of it" if span.type == "like" else "speaks ill of it"
        implied = not _is_said(tree, reading, span)
        yield Opinion(begin, end, span.type == "like", why, implied=implied)


_ORDER: Final = spaced(
    r"\W*(?:(?:please|and|but|so|then|just|i|we) )*(?:stop|quit|enough|no more"
    r"|(?:do\s*n['’]?t|do not|never) (?:want to |ever )?(?:hear|tell|talk|send|show|give|feed"
    r"|push|recommend|suggest))\b"
)


def _is_ordered(reading: Reading, at: int) -> bool:
    """Say whether the clause of a place asks to hear no more: "stop recommending me X"."""
    clause = next((c for c in reading.clauses if c.begin <= at < c.end), None)
    return clause is not None and _ORDER.match(reading.text, clause.begin, at) is not None


def _is_said(tree: _Tree, reading: Reading, span: Span) -> bool:
    """Say whether the clause of a stretch has a word of liking: "Elden Ring is my favorite"."""
    clause = next((c for c in reading.clauses if c.begin <= span.begin < c.end), None)
    lows = set(tree.lows[clause.first : clause.last]) if clause else set()
    return not lows.isdisjoint(_SAYING)


# --- topics ---------------------------------------------------------------------------------------


def preferences_in(text: str, *, voice: OwnWords | None = None) -> list[PreferenceSpan]:
    """Return the topics that the writer of a message likes or dislikes; what is said last holds.

    "I'm really into espresso" likes `espresso`; "I like to play video games" likes `video games`.
    """
    own = (voice or own_words(text)).text
    spans: dict[str, PreferenceSpan] = {}
    for one in opinions_in(text, voice=voice):
        topic = "" if one.pronoun else entity_name(own[one.start : one.end])
        if topic:
            kind = PreferenceType.LIKE if one.liked else PreferenceType.DISLIKE
            spans[topic] = PreferenceSpan(topic, kind, one.start, one.end)
    return sorted(spans.values(), key=lambda span: span.start)
