"""Read what the writer of a message likes and dislikes, and which topics those are.

Where it is said outright ("I love X", "I can't enjoy X", "my favorite X is Y"), the tree of the
sentence tells of what and in which sense. All else is what the reader marks: "X again, what a
gift". An order to hear no more of something is a command, read by its form. What others say
(quoted, pasted), wishes, suppositions and what is over state nothing.

Does not know which names are known already (`mentions`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.extract.message_sentences import sentences_of, spaced
from factbook.extract.name_tokens import is_english, masked
from factbook.extract.quoted_text import is_mentioned
from factbook.extract.voice import OwnWords, own_words
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import is_function_word
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading, Span, Token, children
from factbook.language.sentences import LINE_END
from factbook.model.entities import PreferenceType
from factbook.model.keys import entity_name

__all__ = [
    "HEARD_CHARS",
    "NO_MORE_OF_IT",
    "OF_TASTE",
    "TOPIC_WORDS",
    "Opinion",
    "PreferenceSpan",
    "opinions_in",
    "preferences_in",
]

LEAST_CHANCE: Final = 0.5  # of what the reader takes for liked or disliked; below, it is not heard
SUREST: Final = 0.95  # of both, from here on it is so whatever else its clause seems to be
LEAST_SURE: Final = 0.7  # of which of the two
HEARD_CHARS: Final = 20_000  # ours: of one message; what follows is pasted material
TOPIC_WORDS: Final = 6  # ours: of a topic that is liked or disliked; more is a clause
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
    voice = voice or own_words(text)
    return list(_opinions(voice.text[:HEARD_CHARS], bool(voice.overheard)))


@lru_cache(maxsize=64)
def _opinions(text: str, mixed: bool) -> tuple[Opinion, ...]:
    """Read own words; `mixed` says that the message hands on words of others.

    Beside those nothing counts but what words say: what lies between the lines of a page or a mail
    is its author's.
    """
    plain = masked(text)
    if not is_english(plain.replace(LINE_END, " ")):
        return ()
    signs = list(plain)
    for sentence in sentences_of(plain):
        end = sentence.start + len(sentence.text)
        words = _AS_COMMAND.sub(lambda order: LINE_END * len(order[0]), sentence.text)
        signs[sentence.start : end] = words
    own = "".join(signs)
    reading = read(own)
    outright = [(_whole(reading, one), meant) for one, meant in _said_outright(reading)]
    said = [one for one, meant in outright if meant]
    told = [*_ordered(own), *said]
    plain_ones = [*told, *(one for one, _ in outright)]  # the reader is not asked again
    marked = [m for m in _marked(reading) if not (mixed and m.implied)]
    told += [m for m in marked if not any(_meet(m, other) for other in plain_ones)]
    return tuple(sorted({one.start: one for one in reversed(told)}.values()))


# "/like rye bread" within a message is no command, and it states nothing either
_AS_COMMAND: Final = re.compile(r"(?<!\S)/[a-z]{2,20}(?=\s)[^\n]*")


def _meet(one: Opinion, other: Opinion) -> bool:
    return one.start < other.end and other.start < one.end


# --- what is ordered ------------------------------------------------------------------------------

_MATTER: Final = (
    r"(?:stuff|news|updates?|talk|messages?|facts|content|articles?|posts?|notifications?|alerts?"
    r"|recommendations?|reminders?|things|spam|ads?|crap|videos?|links|trivia|suggestions?)"
)
_NOT: Final = r"(?:do\s*n['’]?t|do not|never)"
_ORDER: Final = spaced(
    r"(?:^|(?<=[,;:.!?\n])|\b(?:please|and|but|so|then|just) )\W{0,4}(?:please )?(?:"
    rf"(?:stop|quit) (?:telling|sending|messaging|showing|bothering) (?:me|us)(?: {_MATTER}"
    r"|anything|more){0,2} (?:about|on|regarding)"
    rf"|(?:(?:i|we) )?{_NOT} (?:want to hear|(?:ever )?tell (?:me|us)|talk)"
    r"(?: anything| any ?more| more){0,2} (?:about|on|of)"
    rf"|(?:(?:stop|quit) (?:recommending|suggesting)|{_NOT} (?:recommend|suggest))(?: (?:me|us))?"
    r"(?! (?:it|this|that|them|these|those|to)\b)(?: (?:any|more|all|the))*"
    rf"|(?:enough|no more)(?: {_MATTER})? (?:about|on)"
    rf"|(?:(?:stop|quit) (?:showing|sending|feeding|giving|pushing)|{_NOT} (?:show|send|feed|give"
    rf"|push)) (?:me|us)(?: (?:any|more|all|the))*(?=(?: [\w'’.&+-]+){{1,4}}? {_MATTER}\b)"
    rf"|(?:enough|no more)(?: (?:of|the))*(?=(?: [\w'’.&+-]+){{1,4}}? {_MATTER}\b)"
    r") (?P<thing>[^\W_](?:[^\n,;:!?()]|,(?= ?\w)){1,80}?)"
    rf"(?= {_MATTER}\b| (?:please|pls|plz|any ?more|again|but|because|when|if|so|i)\b"
    r"|[,;:!?()\n]|\.(?!\w)|\s*$)"
)


def _ordered(text: str) -> Iterator[Opinion]:
    """Yield of what somebody asks to hear no more: "stop recommending me crypto stuff"."""
    for match in _ORDER.finditer(text):
        yield Opinion(match.start("thing"), match.end("thing"), False, NO_MORE_OF_IT)


# --- what is said outright ------------------------------------------------------------------------

_LIKES: Final = word_set("love loved loving like liked enjoy enjoyed enjoying adore adored prefer")
_HATES: Final = word_set("hate hated hating dislike disliked despise detest loathe loathed")
OF_TASTE: Final = _LIKES | _HATES  # verbs by which somebody says or asks what they like
_FAVORITE: Final = word_set("favorite favourite favorites favourites fave faves")
_UNREAL: Final = word_set("would 'd ’d could might may should if unless whether when until used")
_PRONOUNS: Final = word_set("it them him her this that these those")
_FANS: Final = word_set("fan fans lover lovers")
_FOND: Final = _FANS | {"into"}
_SELF: Final = word_set("i we")
_OWNED: Final = word_set("i we my our")
_BORNE: Final = word_set("stand bear abide")  # "can't stand it"
_BEFORE: Final = frozenset({"compound", "amod", "nummod", "flat", "nmod"})
_BEHIND: Final = frozenset({"compound", "flat", "nummod", "goeswith"})
_UNDER: Final = frozenset({"ccomp", "xcomp", "advcl", "acl", "csubj"})


_TITLE: Final = re.compile(r"\s{1,4}[\"“](?P<title>[^\"“”\n]{1,80})[\"”]")


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

    def parts(self, word: int) -> list[int]:
        """Return a noun, the words of its name and its preposition: a verb may hang on any."""
        return [word, *self.of(word, "compound", "flat", "amod", "case")]

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
    for i, token in enumerate(reading.tokens):
        low = tree.lows[i]
        if low in _FANS or low == "into":
            yield from _fond(tree, i)
        elif token.pos == "VERB" and (low in _LIKES or low in _HATES or low in _BORNE):
            liked = _sense(tree, i)
            ended = liked is False and low in _LIKES  # "I don't like it any more"
            void = _UNREAL_CLAUSE - {"over"} if ended else _UNREAL_CLAUSE
            meant = liked is not None and _is_meant(tree, i) and _is_so(reading, token.begin, void)
            meant = meant and not is_mentioned(reading.text, token.begin, token.end)
            title = _TITLE.match(reading.text, token.end)
            if title and meant:
                why = "says to like it" if liked else "says to dislike it"
                yield Opinion(title.start("title"), title.end("title"), bool(liked), why), True
                continue
            for target in _objects(tree, i):
                for one in _about(reading, tree, i, target, liked=bool(liked)):
                    if meant or token.relation != "ccomp":
                        yield one, meant  # "I don't think I like it" is left to the reader


def _sense(tree: _Tree, verb: int) -> bool | None:
    """Return whether a verb says that something is liked; None for any other verb.

    Who does not hate a thing need not like it.
    """
    low, denied = tree.lows[verb], _is_denied(tree, verb)
    if low in _LIKES:
        return not denied
    can = {tree.lows[i] for i in tree.of(verb, "aux")} & {"ca", "can", "cannot", "cant"}
    return False if (low in _HATES and not denied) or (low in _BORNE and denied and can) else None


def _is_meant(tree: _Tree, verb: int) -> bool:
    """Say whether a verb is said of the writer, as it is and not as it might be."""
    own: bool | None = None  # whether the subject is the writer
    word = verb
    for _ in range(len(tree.tokens)):
        token = tree.tokens[word]
        below = {tree.lows[i] for i in tree.of(word, "aux", "mark", "advmod")}
        if below & _UNREAL:
            return False
        subjects = [i for part in tree.parts(word) for i in tree.of(part, "nsubj", "csubj")]
        if own is None and subjects:
            own = bool({tree.lows[j] for i in subjects for j in (i, *tree.of(i, "conj"))} & _SELF)
        elif own is None and token.relation == "parataxis" and tree.lows[verb - 1] in _SELF:
            own = True  # "My wife and I love it"
        if token.relation in _UNDER and not below & _BECAUSE:
            return False
        if token.relation != "conj":
            return own or (own is None and token.relation == "root")
        word = token.head
    return False


_BECAUSE: Final = word_set("because since cause cuz as")


_DENIALS: Final = word_set("n't n’t not never nt dont didnt cant cannot hardly")


def _is_denied(tree: _Tree, verb: int) -> bool:
    words = {tree.lows[i] for i in tree.of(verb, "advmod", "aux")}
    return bool(words & _DENIALS)


def _objects(tree: _Tree, verb: int) -> Iterator[int]:
    """Yield what a verb is about: its objects; of something done what it is done with."""
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


def _fond(tree: _Tree, word: int) -> Iterator[tuple[Opinion, bool]]:
    """Yield of what somebody says to be a fan ("a fan of X", "an X fan") or to be into."""
    being = word if tree.lows[word] in _FANS else tree.tokens[word].head
    if being < 0:
        return
    if being == word:
        of = tree.lows[word + 1 : word + 2] == ["of"]
        targets = [tree.tokens[word + 1].head] if of else tree.of(word, "compound")[:1]
    else:
        is_being = any(tree.of(i, "cop") for i in tree.parts(being))
        targets = [being] if tree.tokens[word].relation == "case" and is_being else []
    liked = not any(_is_denied(tree, i) for i in tree.parts(being))
    why = "says to be fond of it" if liked else "says not to be fond of it"
    for target in targets:
        if target < 0:
            continue
        for i in (target, *(j for j in tree.of(target, "conj") if not tree.of(j, "nsubj"))):
            first, last = tree.phrase(i)
            begin, end = tree.tokens[first].begin, tree.tokens[last].end
            yield Opinion(begin, end, liked, why), _is_meant(tree, being)


def _about(
    reading: Reading, tree: _Tree, verb: int, target: int, *, liked: bool
) -> Iterator[Opinion]:
    why = "says to like it" if liked else "says to dislike it"
    token = tree.tokens[target]
    if tree.lows[target] in _PRONOUNS:
        thing = _meant(reading, token.begin, tree.lows[target])
        if thing is not None:
            yield Opinion(thing.begin, thing.end, liked, why)
        elif not any(word.pos in ("NOUN", "PROPN") for word in tree.tokens[:target]):
            yield Opinion(token.begin, token.end, liked, why, tree.lows[target])
    elif token.pos in ("NOUN", "PROPN", "X", "VERB") and target > verb:
        first, last = tree.phrase(target)
        yield Opinion(tree.tokens[first].begin, tree.tokens[last].end, liked, why)


def _meant(reading: Reading, at: int, pronoun: str) -> Span | None:
    """Return what a pronoun stands for: what the reader marks before it, else the one name."""
    marked = [span for span in reading.opinions if span.end <= at]
    someone = pronoun in ("him", "her")
    names = [
        span for span in reading.names if span.end <= at and (span.type == "person") is someone
    ]
    if marked:
        people = {(span.begin, span.end) for span in reading.names if span.type == "person"}
        last = marked[-1]
        return last if someone is ((last.begin, last.end) in people) else None
    return names[0] if len({reading.text[n.begin : n.end] for n in names}) == 1 else None


# --- what the reader marks ------------------------------------------------------------------------

_NUMBER: Final = re.compile(r" \d{1,4}(?:\.\d{1,3})?(?=\W|$)(?! \w+s\b)")


def _whole(reading: Reading, one: Opinion) -> Opinion:
    """Return an opinion with the whole of the name that it is about."""
    for span in reading.names:
        if span.begin <= one.start < span.end:
            one = one._replace(start=min(one.start, span.begin), end=max(one.end, span.end))
    line = reading.text.find("\n", one.start, one.end)
    one = one if line < 0 else one._replace(end=line)
    number = _NUMBER.match(reading.text, one.end)
    return one._replace(end=number.end()) if number and not one.pronoun else one


_UNREAL_CLAUSE: Final = frozenset({"if", "wish", "over"})


def _is_so(reading: Reading, at: int, void: Collection[str] = _UNREAL_CLAUSE) -> bool:
    """Say whether the clause at a place tells what is so; quotes in it may be titles."""
    clause = next((c for c in reading.clauses if c.begin <= at < c.end), None)
    return clause is None or not clause.flags & frozenset(void)


def _marked(reading: Reading) -> Iterator[Opinion]:
    """Yield what the reader takes for liked or disliked, but where it is not so or not theirs."""
    tree = _Tree(reading.tokens)
    for span in reading.opinions:
        if span.chance < LEAST_CHANCE or span.sure < LEAST_SURE:
            continue
        surest = min(span.chance, span.sure) > SUREST  # its clause is read by a head of its own
        unreal = {"quoted"} if surest else _UNREAL_CLAUSE | {"quoted"}
        if not _is_so(reading, span.begin, unreal):
            continue
        words = [i for i, t in enumerate(tree.tokens) if span.begin <= t.begin < span.end]
        first, last = tree.named(words[0], words[-1])
        low = tree.lows[first]
        if tree.tokens[first].pos == "SCONJ" or (
            first == last and (low in _PRONOUNS or is_function_word(low))
        ):
            continue
        begin, end = tree.tokens[first].begin, tree.tokens[last].end
        why = "speaks well of it" if span.type == "like" else "speaks ill of it"
        implied = not _is_said(tree, reading, span)
        if implied and any(
            _introduces(tree, i) for i in words if _in_name(reading, tree.tokens[i])
        ):
            continue
        yield Opinion(begin, end, span.type == "like", why, implied=implied)


def _in_name(reading: Reading, token: Token) -> bool:
    return any(name.begin <= token.begin < name.end for name in reading.names)


def _introduces(tree: _Tree, word: int) -> bool:
    """Say whether a name only says who the writer or theirs is: "my name is Ada"."""
    subjects = tree.of(word, "nsubj") if tree.of(word, "cop") else []
    return any(tree.lows[j] in _OWNED for i in subjects for j in (i, *tree.below[i]))


def _is_said(tree: _Tree, reading: Reading, span: Span) -> bool:
    """Say whether the clause of a stretch has a word of liking: "Elden Ring is my favorite"."""
    clause = next((c for c in reading.clauses if c.begin <= span.begin < c.end), None)
    lows = set(tree.lows[clause.first : clause.last]) if clause else set()
    return bool(lows & (_LIKES | _HATES | _FAVORITE | _FOND | _BORNE) and lows & _OWNED)


# --- topics ---------------------------------------------------------------------------------------


def preferences_in(text: str, *, voice: OwnWords | None = None) -> list[PreferenceSpan]:
    """Return the topics that the writer of a message likes or dislikes; what is said last holds.

    "I'm really into espresso" likes `espresso`; "I like to play video games" likes `video games`.
    """
    own = (voice or own_words(text)).text
    spans: dict[str, PreferenceSpan] = {}
    for one in opinions_in(text, voice=voice):
        topic = "" if one.pronoun else _topic(own[one.start : one.end])
        if topic:
            kind = PreferenceType.LIKE if one.liked else PreferenceType.DISLIKE
            spans[topic] = PreferenceSpan(topic, kind, one.start, one.end)
    return sorted(spans.values(), key=lambda span: span.start)


def _topic(words: str) -> str:
    """Return the canonical name of what some words name; empty where they name nothing lasting."""
    lows: Collection[str] = words.casefold().split()
    if (
        not 1 <= len(lows) <= TOPIC_WORDS
        or all(is_function_word(low) or is_calendar_word(low) or len(low) < 2 for low in lows)
        or not any(low[0].isalpha() for low in lows)
    ):
        return ""
    return entity_name(words)
