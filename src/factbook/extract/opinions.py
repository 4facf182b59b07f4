"""Read what the writer of a message likes and dislikes, and which topics those are.

The reader tells which things, by whatever words; the tree, what a pronoun alone stands for ("Love
it"). An order to hear no more is a command, read by its form. What others say states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.base import word_set
from factbook.extract.message_sentences import sentences_of, spaced
from factbook.extract.name_tokens import is_english, masked
from factbook.extract.quoted_text import is_mentioned
from factbook.extract.voice import OwnWords, own_words
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import is_function_word
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading, Span
from factbook.language.reader.tree import Tree
from factbook.language.sentences import LINE_END
from factbook.model.entities import PreferenceType
from factbook.model.keys import entity_name

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
    """Read own words; beside those of others (`mixed`), only what words say is the writer's."""
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
    tree = Tree(reading)
    told = [Opinion(*order.span("thing"), False, NO_MORE_OF_IT) for order in _ORDER.finditer(own)]
    told += _of_pronouns(reading, tree)
    told += [
        one
        for one in _of_things(reading, tree)
        if not (mixed and one.implied)
        and not any(one.start < other.end and other.start < one.end for other in told)
    ]
    return tuple(sorted({one.start: one for one in reversed(told)}.values()))


# "/like rye bread" within a message is no command, and it states nothing either
_AS_COMMAND: Final = re.compile(r"(?<!\S)/[a-z]{2,20}(?=\s)[^\n]*")

_MATTER: Final = (
    r"(?:stuff|news|updates?|talk|messages?|facts|content|articles?|posts?|notifications?|alerts?"
    r"|recommendations?|reminders?|things|spam|ads?|crap|videos?|links|trivia|suggestions?)"
)
_NOT: Final = r"(?:do\s*n['’]?t|do not|never)"
# what somebody asks to hear no more of: "stop recommending me crypto stuff"
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

_LIKES: Final = word_set("love loved loving like liked enjoy enjoyed enjoying adore adored prefer")
_HATES: Final = word_set("hate hated hating dislike disliked despise detest loathe loathed")
OF_TASTE: Final = _LIKES | _HATES  # verbs by which somebody says or asks what they like
_FAVORITE: Final = word_set("favorite favourite favorites favourites fave faves")
_FOND: Final = word_set("fan fans lover lovers into")
_UNREAL: Final = word_set("would 'd ’d could might may should if unless whether when until used")
_PRONOUNS: Final = word_set("it them him her this that these those")
_SELF: Final = word_set("i we")
_OWNED: Final = word_set("i we my our")
_BORNE: Final = word_set("stand bear abide")  # "can't stand it"
_UNDER: Final = frozenset({"ccomp", "xcomp", "advcl", "acl", "csubj"})
_BECAUSE: Final = word_set("because since cause cuz as")
_DENIALS: Final = word_set("n't n’t not never nt dont didnt cant cannot hardly")
_VOID: Final = frozenset({"if", "wish", "quoted"})  # flags of a clause in which nothing is so
_WHY: Final = (("says to like it", "says to dislike it"), ("speaks well of it", "speaks ill of it"))
_TITLE: Final = re.compile(r"\s{1,4}[\"“](?P<title>[^\"“”\n]{1,80})[\"”]")
_NUMBER: Final = re.compile(r" \d{1,4}(?:\.\d{1,3})?(?=\W|$)(?! \w+s\b)")


def _of_things(reading: Reading, tree: Tree) -> Iterator[Opinion]:
    """Yield the things of which the reader tells that they are liked or disliked."""
    for span in reading.opinions:
        if span.chance < policy.TASTE_SURE or span.sure < policy.TASTE_SIGN_SURE:
            continue
        words = [n for n, t in enumerate(tree.tokens) if span.begin <= t.begin < span.end]
        if _is_void(reading, span.begin) or any(_is_denied_twice(tree, n) for n in words):
            continue
        implied = not _is_said(tree, reading, span)
        named = any(name.begin < span.end and span.begin < name.end for name in reading.names)
        if implied and named and any(_introduces(tree, n) for n in words):
            continue
        liked = span.type == "like"
        why = _WHY[implied][not liked]
        yield _whole(reading, Opinion(span.begin, span.end, liked, why, implied=implied))


def _is_void(reading: Reading, at: int) -> bool:
    clause = reading.clause_at(at)
    return clause is not None and bool(clause.flags & _VOID)


def _is_denied_twice(tree: Tree, word: int) -> bool:
    """Say whether a word hangs on a verb by which nothing is said to be liked: "I don't hate X"."""
    head = tree.tokens[word].head
    named = head >= 0 and tree.tokens[word].relation == "obj" and tree.lower[head] in OF_TASTE
    return named and _sense(tree, head) is None


def _whole(reading: Reading, one: Opinion) -> Opinion:
    """Return an opinion with the whole of the name that it is about."""
    for span in reading.names:
        if span.begin <= one.start < span.end:
            one = one._replace(start=min(one.start, span.begin), end=max(one.end, span.end))
    line = reading.text.find("\n", one.start, one.end)
    one = one if line < 0 else one._replace(end=line)
    number = _NUMBER.match(reading.text, one.end)
    return one._replace(end=number.end()) if number else one


def _introduces(tree: Tree, word: int) -> bool:
    """Say whether a name only says who the writer or theirs is: "my name is Ada"."""
    subjects = tree.of(word, "nsubj") if tree.of(word, "cop") else []
    return any(tree.lower[j] in _OWNED for i in subjects for j in (i, *tree.below[i]))


def _is_said(tree: Tree, reading: Reading, span: Span) -> bool:
    """Say whether the clause of a stretch has a word of liking: "Elden Ring is my favorite"."""
    clause = reading.clause_at(span.begin)
    lows = set(tree.lower[clause.first : clause.last]) if clause else set()
    return bool(lows & (OF_TASTE | _FAVORITE | _FOND | _BORNE) and lows & _OWNED)


def _of_pronouns(reading: Reading, tree: Tree) -> Iterator[Opinion]:
    """Yield what a pronoun behind a verb of taste stands for ("Love it"), and titles there."""
    for i, token in enumerate(reading.tokens):
        if token.pos != "VERB" or tree.lower[i] not in OF_TASTE | _BORNE:
            continue
        liked = _sense(tree, i)
        if liked is None or not _is_meant(tree, i) or _is_void(reading, token.begin):
            continue
        if is_mentioned(reading.text, token.begin, token.end):
            continue
        why = _WHY[False][not liked]
        if title := _TITLE.match(reading.text, token.end):
            yield Opinion(title.start("title"), title.end("title"), liked, why)
        for at in tree.of(i, "obj"):
            low = tree.lower[at]
            if low not in _PRONOUNS or tree.of(i, "advcl", "ccomp"):
                continue  # "I love it when it rains"
            begin, end = tree.tokens[at].begin, tree.tokens[at].end
            thing = _meant(reading, begin, low)
            if thing is not None:
                yield _whole(reading, Opinion(thing.begin, thing.end, liked, why))
            elif not any(word.pos in ("NOUN", "PROPN") for word in tree.tokens[:at]):
                yield Opinion(begin, end, liked, why, low)


def _sense(tree: Tree, verb: int) -> bool | None:
    """Return whether a verb likes, None for others: who does not hate a thing need not like it."""
    low = tree.lower[verb]
    denied = bool({tree.lower[i] for i in tree.of(verb, "advmod", "aux")} & _DENIALS)
    if low in _LIKES:
        return not denied
    can = {tree.lower[i] for i in tree.of(verb, "aux")} & {"ca", "can", "cannot", "cant"}
    return False if (low in _HATES and not denied) or (low in _BORNE and denied and can) else None


def _is_meant(tree: Tree, verb: int) -> bool:
    """Say whether a verb is said of the writer, as it is and not as it might be."""
    own: bool | None = None  # whether the subject is the writer
    word = verb
    for _ in range(len(tree.tokens)):
        token = tree.tokens[word]
        below = {tree.lower[i] for i in tree.of(word, "aux", "mark", "advmod")}
        if below & _UNREAL:
            return False
        subjects = tree.of(word, "nsubj", "csubj")
        if own is None and subjects:
            own = bool({tree.lower[j] for i in subjects for j in (i, *tree.of(i, "conj"))} & _SELF)
        if token.relation in _UNDER and not below & _BECAUSE:
            return False
        if token.relation != "conj":
            return own or (own is None and token.relation == "root")
        word = token.head
    return False


def _meant(reading: Reading, at: int, pronoun: str) -> Span | None:
    """Return what a pronoun stands for: the one thing before it that is marked, or is named."""
    marked = [span for span in reading.opinions if span.end <= at]
    surest = max((span.chance for span in marked), default=0.0)
    marked = [span for span in marked if 2 * span.chance > surest]
    someone = pronoun in ("him", "her")
    names = [
        span for span in reading.names if span.end <= at and (span.type == "person") is someone
    ]
    if marked:
        people = {(span.begin, span.end) for span in reading.names if span.type == "person"}
        is_right = someone is ((marked[0].begin, marked[0].end) in people)
        return marked[0] if len(marked) == 1 and is_right else None
    return names[0] if len({reading.text[n.begin : n.end] for n in names}) == 1 else None


def preferences_in(text: str, *, voice: OwnWords | None = None) -> list[PreferenceSpan]:
    """Return the topics that the writer of a message likes or dislikes; what is said last holds."""
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
