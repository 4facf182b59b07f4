"""Read which topics the writer of a message likes or dislikes, in everyday words.

Knows: topics, favorites, what is done gladly. Does not know the names of things (`names`), or which
words tell that something is liked (`opinions`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.extract.message_sentences import MessageSentence, declared, sentences_of, spaced
from factbook.extract.name_tokens import (
    NameSpan,
    is_english,
    is_shouted,
    masked,
)
from factbook.extract.names import (
    names_in,
)
from factbook.extract.opinions import (
    DOT,
    FAN,
    FAVORITE_AFTER,
    HEARD_CHARS,
    PART,
    SOMEONE,
    UNREAL,
    NamePlace,
    Opinion,
    names_other_things,
    opinions,
    pronoun_at,
    referred,
)
from factbook.extract.voice import OwnWords, own_words
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import (
    is_everyday,
    is_function_word,
    is_greeting,
    opens_sentences,
)
from factbook.language.sentences import LINE_END
from factbook.model.entities import PreferenceType
from factbook.model.keys import entity_name
from factbook.net import cancel

__all__ = [
    "TOPIC_WORDS",
    "PreferenceSpan",
    "preferences_in",
]

# that no text is read in more than linear time
TOPIC_WORDS: Final = 6  # ours: of a topic that is liked or disliked; more is a clause


class PreferenceSpan(NamedTuple):
    """A topic that its owner likes or dislikes, and where that is said."""

    topic: str  # canonical (`keys.entity_name`)
    type: PreferenceType
    start: int
    end: int


# --- topics in the words of everybody -------------------------------------------------------------

_LEAVE: Final = spaced(
    r"^(?:\s|,|(?:huge|big|massive|avid|lifelong|real|such|the|a|an|some|all|any|both|every|most"
    r"|many|lots? of|a lot of|(?:all|different|many|most|some|various) (?:kinds|sorts|types) of"
    r"|kinds? of|an? (?:wide )?variety of|different|various|anything|everything|stuff|things"
    r"|music|songs?|books?|movies?|films?|shows?|(?:to )?(?:do(?:ing)?|have|having) (?:some )?"
    r"|about|really|very|also|just|so|much|certain)\b(?=\s))+",
)
_PHRASE_END: Final = spaced(
    rf"[,;!?:()\n\"“”\x1f\x1e]|{DOT}|\s-+\s|[–—]|\s(?:and|or|but|because|cuz|since|when|whenever|while"
    rf"|if|so|although|though|which|who|that|where|until|after|before|as|than|then|for|with"
    rf"|without|in|on|at|from|during|more|too|either|anymore|lately|recently|these days|right now"
    rf"|now|today|tonight|a lot|lots|very much|most|best|lol|haha+|the most|ever|especially"
    rf"|myself|with my|every|all the|all day|at all|and all|sometimes|again|is|are|was|were|i|he"
    rf"|she|they|it|you|to the|over|even|like|just|instead|better|by far|outside|together|alone"
    rf"|way|though|tho|tbh|imo|imho|ngl|lmao|rofl|smh|honestly|frankly|personally|any ?way"
    r"|any ?more|any ?longer|no longer|please|pls|plz|thanks"
    rf"|thank you|btw|fyi|idk|i guess|to be honest|whatsoever)\b|\s{FAN}s?\b"
    r"|[\U0001F300-\U0001FAFF\u2600-\u27BF]",
)
_PERSONAL: Final = spaced(
    r"^(?:my|your|his|her|their|our|its|this|that|these|those|it|you|him|them|me|us|what|how|who"
    r"|when|where|why|if|being|having|getting|everyone|people|someone|somebody|nothing|everything"
    r"|anything|something|things?|stuff|them|one|ones|each|the (?:idea|way|fact|thought|feeling"
    r"|sense|challenge|sound of that|same|one|ones|other|last|first)|of|(?:a )?(?:feeling|sense"
    r"|challenge|variety) of|not|no|to (?:be|have|get|think|say|know|see|hear|meet|do|make|keep"
    r"|stay|help|tell|take|give|feel|let|use|find|ask))\b",
)
_DOING: Final = spaced(
    r"^(?:to )?(?!go(?:ing)? out\b)(?P<verb>listen(?:ing)? to|watch(?:ing)?"
    r"|read(?:ing)?(?: about)?|eat(?:ing)?|drink(?:ing)?|play(?:ing)?|go(?:ing)?(?: to)?"
    r"|learn(?:ing)?(?: about)?|talk(?:ing)? about|visit(?:ing)?|us(?:e|ing)|wear(?:ing)?"
    r"|collect(?:ing)?|do(?:ing)?|study(?:ing)?) (?:(?:a|an|the|some|to|my) )?(?=\S)",
)
_EMPTY_TOPICS: Final = word_set("""
    it this that them one things thing stuff everything anything something nothing lot lots all both
    people person someone everyone way idea day life time fun place places kind kinds sort job work
    world part home others other other people new things new people thought sound look looks feeling
    go going working playing spend spending looking trying talking watching seeing preparing hang
    hanging read relax eat out experimenting interacting past fact play try watch make making
    honestly frankly personally tbh imo imho ngl lol lmao though tho anymore please pls thanks
    same question answer point news talk much well person you him her family friend friends weekend
    """) | {
    "other people",
    "new things",
    "new people",
    "lots of things",
    "good time",
    "many things",
    "long time",
}
_OF_EVERYBODY: Final = word_set(
    "outdoors beach ocean sea mountains rain snow sun theater theatre opera ballet color colour"
)  # "the beach" is any; "the story" is one that was spoken of
_WITH_NOUN: Final = word_set("climb bike watch dive ski skate board surf ride")
_GERUND_WORDS: Final = 3  # of a topic that is something done; more is a clause


def _ing(verb: str) -> str:
    """Return the form of a verb that names what is done: "bake" is "baking"."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", verb):
        return verb + verb[-1] + "ing"
    return verb + "ing"


def _topics(
    text: str, opinion: Opinion, names: Sequence[NameSpan]
) -> Iterator[tuple[str, int, int]]:
    """Yield the topics that an opinion is about, each with its place in the sentence."""
    start, verbal = opinion.start, False
    while start < opinion.end:
        begun = start
        lead = _LEAVE.match(text[start : opinion.end])
        start += lead.end() if lead else 0
        while start < opinion.end and text[start].isspace():
            start += 1
        name = next((place for place in names if begun <= place.start <= start < place.end), None)
        if name is not None:
            topic: tuple[str, int] | None = (name.name, 0)
            start, end = name.start, name.end
            piece = text[start:end]
        else:
            stop = _PHRASE_END.search(text, start + 1, opinion.end)
            end = stop.start() if stop else opinion.end
            within = [place for place in names if start < place.start < end]
            if within and within[0].end > end:
                end = within[0].end
            piece = text[start:end].rstrip(" ,.!?;:'\"")
            pointed = re.search(r"\bthe\s*$", text[begun:start], re.IGNORECASE) is not None
            topic = _topic(piece, verbal=verbal, pointed=pointed)
        if topic is None:
            return
        yield topic[0], start + topic[1], start + len(piece)
        verbal = verbal or piece[:3] == "to "
        joint = _JOINT.match(text, end)
        if joint is None:
            return
        start = joint.end()


_JOINT: Final = re.compile(r",?\s+(?:and|or|&)\s+(?:also\s+)?|,\s+")


def _favorites(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield what is called a favorite before the word: "Cheeseburgers are my favorite food"."""
    for favorite in FAVORITE_AFTER.finditer(text):
        if favorite["not"] or favorite["least"]:
            continue
        before = text[: favorite.start()]
        parts = list(PART.finditer(before))
        start = parts[-1].end() if parts else 0
        lead = _LEAVE.match(before[start:])
        start += lead.end() if lead else 0
        piece = before[start:]
        topic = _topic(piece)
        if topic and len(piece.split()) <= _SUBJECT_WORDS and not UNREAL.search(piece):
            yield topic[0], start + topic[1], start + len(piece)


_SUBJECT_WORDS: Final = 3  # of a subject that is called a favorite; more is a clause


def _topic(piece: str, *, verbal: bool = False, pointed: bool = False) -> tuple[str, int] | None:
    """Return a topic in its own words and where it begins in a piece of text; None for no topic.

    `verbal` says that things to do are listed ("to cook and read"), `pointed` that "the" precedes.
    """
    if not piece or _PERSONAL.match(piece):
        return None
    doing = _DOING.match(piece)
    begin = 0
    words = piece.split()
    done = False
    if doing and doing.end() < len(piece):
        begin = doing.end()
        if _PERSONAL.match(piece[begin:]):
            return None
        words = piece[begin:].split()
        name = entity_name(piece[begin:])
    elif words[0] == "to" and len(words) > 1:
        begin = len(words[0]) + 1
        words = words[1:]
        name, done = _done(words), True
    elif verbal and words[0].islower() and opens_sentences(words[0]):
        name, done = _done(words), True
    else:
        name = entity_name(piece)
        done = words[0].casefold().endswith("ing") and len(words) > 1
    lows = [word.casefold() for word in words]
    if (
        not name
        or len(words) > (_GERUND_WORDS if done else TOPIC_WORDS)
        or name in _EMPTY_TOPICS
        or (lows[0] in _EMPTY_TOPICS and done)
        or all(map(is_function_word, lows))
        or all(map(is_calendar_word, lows))
        or any(word in _SOMEBODY for word in lows)
        or not any(len(word) > 1 and word[0].isalpha() for word in lows)
        or (pointed and all(map(is_everyday, lows)) and lows[0] not in _OF_EVERYBODY)
    ):
        return None
    return name, begin


_SOMEBODY: Final = word_set("i me my you your his her their it them him us our")


def _done(words: Sequence[str]) -> str:
    """Return what is done as a noun: "bake cookies" is "baking cookies", "rock climb" its own."""
    lows = [word.casefold() for word in words]
    if not lows[0].isalpha() or is_function_word(lows[0]):
        return ""
    if lows == ["workout"]:
        return "working out"
    if len(lows) == 2 and lows[1].endswith("ing"):
        return entity_name(" ".join(lows))
    if len(lows) == 2 and lows[1] in _WITH_NOUN:
        return entity_name(f"{lows[0]} {_ing(lows[1])}")
    return entity_name(" ".join([_ing(lows[0]), *words[1:]]))


def preferences_in(text: str, *, voice: OwnWords | None = None) -> list[PreferenceSpan]:
    """Return the topics that the speaker of a message says to like or to dislike.

    "I'm really into espresso" likes `espresso`; "I like to play video games" likes `video games`.
    Wishes, suppositions, questions, others' words (quoted, reported, pasted) and others' likes are
    none; `voice` says which words are their own, where that is known already.
    """
    text = (voice or own_words(text)).text[:HEARD_CHARS]
    plain = masked(text)
    if not is_english(plain.replace(LINE_END, " ")):
        return []
    preference_spans: dict[str, PreferenceSpan] = {}
    spans = names_in(text)
    before: NamePlace | None = None  # the one thing of the sentence before, in the whole text
    for sentence in sentences_of(plain):
        cancel.check()
        words = declared(sentence)
        within = [
            NamePlace(span.name, span.start - sentence.start, span.end - sentence.start)
            for span in spans
            if 0 <= span.start - sentence.start < len(sentence.text)
        ]
        last, before = before, _thing_of(sentence, within)
        if words is None:
            continue
        if is_shouted(words) and len(words.lower()) == len(words):
            words = words.lower()  # as it is written, "TO COOK" would be a name
        names = [
            span._replace(start=span.start - sentence.start, end=span.end - sentence.start)
            for span in spans
            if 0 <= span.start - sentence.start < len(words)
        ]
        for topic, begin, end in _favorites(words):
            preference_spans[topic] = PreferenceSpan(
                topic, PreferenceType.LIKE, sentence.start + begin, sentence.start + end
            )
        for opinion in opinions(words):
            kind = PreferenceType.LIKE if opinion.liked else PreferenceType.DISLIKE
            meant = _meant_in(words, opinion, within, last)
            if meant is not None:
                start, end = meant.start, meant.end
                if meant is not last:
                    start, end = start + sentence.start, end + sentence.start
                preference_spans.pop(meant.name, None)
                preference_spans[meant.name] = PreferenceSpan(meant.name, kind, start, end)
                continue
            for topic, start, end in _topics(words, opinion, names):
                preference_spans.pop(topic, None)  # what is said last holds
                preference_spans[topic] = PreferenceSpan(
                    topic, kind, sentence.start + start, sentence.start + end
                )
    return sorted(preference_spans.values(), key=lambda preference_span: preference_span.start)


_STATES: Final = word_set("""
    ready hungry thirsty busy angry sad sleepy awake married single pregnant serious sick jealous
    nervous afraid alone lost done drunk sober late early free rich poor cold hot
    """)  # what somebody is asked to be, alone before a question mark


def _meant_in(
    words: str, opinion: Opinion, places: Sequence[NamePlace], last: NamePlace | None
) -> NamePlace | None:
    """Return what an opinion about "it" or "them" is about: of its sentence, or of the last one."""
    pronoun = pronoun_at(words, opinion.start)
    if pronoun is None or pronoun["pronoun"].casefold() in ("him", "her"):
        return None
    lead = words[: opinion.start]
    named = [place for place in places if place.start < opinion.start]
    if named:
        return referred(lead, named, pronoun["pronoun"])
    return None if last is None or names_other_things(lead) else last


def _thing_of(sentence: MessageSentence, places: Sequence[NamePlace]) -> NamePlace | None:
    """Return the one thing that "it" in the next sentence means, with its place in the text."""
    if sentence.theirs:
        return None
    text, base = sentence.text, sentence.start
    if places:
        thing = referred(text, places, "it")
        return thing and NamePlace(thing.name, thing.start + base, thing.end + base)
    piece = text.strip().rstrip("?")
    alone = sentence.asks and not piece[-1:].isspace() and len(piece.split()) <= _SUBJECT_WORDS
    if not alone or SOMEONE.fullmatch(f" {piece}"):
        return None
    lows = [word.casefold() for word in piece.split()]
    if lows[-1].endswith(("ed", "ly")) or lows[-1] in _STATES:
        return None  # "Surprised? I love it."
    if any(is_function_word(low) or is_greeting(low) or opens_sentences(low) for low in lows):
        return None  # "Really? I love it."
    topic = _topic(piece)
    if topic is None:
        return None
    begin = base + len(text) - len(text.lstrip()) + topic[1]
    return NamePlace(topic[0], begin, begin + len(piece) - topic[1])
