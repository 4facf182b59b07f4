"""Read one message of an owner: which names it speaks of, and what the owner does about each.

Rules are English. Of a message in another language, known names are mentions and nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.asked import (
    asks_for_search,
    asks_listener,
    is_asking,
    is_request,
    pointing,
    to_be_told,
)
from factbook.extract.message_sentences import MessageSentence, sentences_of, spaced
from factbook.extract.name_tokens import NameSign, NameSpan, is_english, is_uncommon, masked
from factbook.extract.names import VARIANTS, names_in
from factbook.extract.opinions import HEARD_CHARS, Opinion, opinions_in
from factbook.extract.quoted_text import is_mentioned
from factbook.extract.topics import asks_of, named_topic, topic_of
from factbook.extract.voice import OwnWords, own_words
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import (
    is_function_word,
    is_greeting,
    is_nationality,
    opens_sentences,
)
from factbook.language.nouns import counted, is_plural
from factbook.language.sentences import LINE_END
from factbook.model.entities import EngagementType, Valence
from factbook.model.keys import entity_name
from factbook.net import cancel

PASSING_NAMES: Final = 6  # ours: new names that one message may mention in passing; a text with
# more of them was pasted, and its names are not what its owner cares about
PASTED_CHARS: Final = 2_000  # ours: own words that are longer hold pasted text
RECENT_MESSAGES: Final = 6  # ours: of the conversation, that "it" and a follow-up may refer to
QUOTED_CHARS: Final = 300  # ours: of a line of others that one hands on for what it says; more is
# a page, and what it names whoever pastes it did not mention


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A name in a message, and what its owner does about it."""

    name: str  # canonical; of a known entity its own name, whatever was written
    start: int  # where it is written
    end: int
    type: EngagementType
    valence: Valence
    is_known: bool
    why: str  # the rule, in words


_PRONOUN: Final = spaced(
    r"\b(?:it|its|it['’]s|they|them|their|theirs|those|these|that one|this one|him|his|she|her"
    r"|he)\b"
)
_IDLE: Final = spaced(r"\b(?:what \w+ is it|how(?:['’]?s| is| was) (?:it|that)|isn['’]?t it)\b")
_BAD: Final = re.compile(r"\b(?:hate|dislike|despise)[sd]?\b", re.IGNORECASE)
_NO_MORE: Final = spaced(
    r"^\W*(?:(?:please|ugh|ok|okay|no|nah|hey|just|thanks)\b\W*)*(?:stop(?: (?:it|that|this"
    r"|please|now|already|(?:telling|sending|messaging|showing|bothering|spamming) me.*))?"
    r"|not interested.*|i['’]?m not interested.*|don['’]?t (?:care|tell me|send me|message me"
    r"|want (?:this|that|these|to (?:know|hear))).*|i don['’]?t (?:care|want (?:this|that|these"
    r"|to (?:know|hear))).*|enough(?: (?:about|of|with) (?:this|that|it|these))?"
    r"|no more(?: (?:of )?(?:this|that|these))?|who cares|boring|unsubscribe|shut up.*"
    r"|less (?:of )?(?:this|that|like this).*|leave me alone.*)\W*$"
)
_MORE: Final = spaced(
    r"^\W*(?:(?:please|ok|okay|oh|wow|yes|yeah|thanks|thank you|ha|cool"
    r"|nice)\b\W*)*(?:more (?:like|of) (?:this|that|these)|(?:tell|send|show) me more"
    r"|more\s*(?:please)?|keep (?:it|them|these) coming|keep me (?:posted|updated)|(?:that|this"
    r"|it)(?:['’]?s| is) (?:so |really |very |super )?(?:interesting|cool|great|awesome|amazing"
    r"|good to know|useful|fascinating|wonderful)|(?:so |very |really |super )?(?:interesting"
    r"|fascinating|awesome|amazing|love (?:it|this|that)|good to know|i love (?:it|this|that)"
    r"|i like (?:it|this|that)))\W*$"
)

_WORD: Final = re.compile(r"[^\W_]+(?:['’&.+-](?=[^\W_])[^\W_]+)*(?:\+\+|\+(?!\w)|#(?!\w))?")
_ENDING: Final = re.compile(r"['’]s$|(?<=s)['’]$")
_NUMBER: Final = re.compile(r" \d{1,4}")


class _Place(NamedTuple):
    name: str
    start: int
    end: int
    is_known: bool
    why: str = ""  # where only the way it is asked for shows that it is a name


def _known_in(
    text: str, known: Mapping[str, str], sentence_starts: Collection[int]
) -> list[_Place]:
    """Return every known name or alias that is written in a text, the longest first, none twice."""
    if not known:
        return []
    longest = min(max(len(alias.split()) for alias in known) + 1, policy.NAME_WORDS + 2)
    tokens = [match.span() for match in _WORD.finditer(text)]
    places: list[_Place] = []
    index = 0
    while index < len(tokens):
        for last in range(min(index + longest, len(tokens)) - 1, index - 1, -1):
            start, end = tokens[index][0], tokens[last][1]
            if "\n" in text[start:end] or LINE_END in text[start:end]:
                continue
            entity = _entity_of(text[start:end], known)
            after = _WORD.match(text, end + 1) if text[end : end + 1] == " " else None
            if after and after[0].casefold() in VARIANTS:
                continue  # another model of it
            if entity is not None and _is_named(text, start, end, sentence_starts):
                cut = _ENDING.search(text[start:end])
                places.append(_Place(entity, start, end - (len(cut[0]) if cut else 0), True))
                index = last
                break
        index += 1
    return places


def _entity_of(surface: str, known: Mapping[str, str]) -> str | None:
    """Return the known entity that a text is the name of, in either number."""
    return next((known[form] for form in _forms(surface) if form in known), None)


@lru_cache(maxsize=8192)
def _forms(surface: str) -> tuple[str, ...]:
    name = entity_name(surface)
    if not name:
        return ()
    forms = [name]
    head, _, last = name.rpartition(" ")
    lead = head + " " if head else ""
    if last.endswith("'s"):
        forms += [name[:-2], name[:-2] + "s"]  # McDonald's, McDonalds
    elif last.endswith("s") and len(last) > 2:
        forms += [lead + last[:-1], f"{lead}{last[:-1]}'s"]
        if last.endswith("es") and len(last) > 4:
            forms.append(lead + last[:-2])
    elif any(char.isalpha() for char in last):
        forms.append(lead + last + "s")
    other = counted(last)
    if other != last:
        forms.append(lead + other)
    if not name.startswith("the "):
        forms.append("the " + name)
    return tuple(dict.fromkeys(forms))


def _is_named(text: str, start: int, end: int, sentence_starts: Collection[int]) -> bool:
    """Say whether a known name is meant where it is written: "go" and "it" are mostly words."""
    surface = text[start:end]
    words = surface.casefold().split()
    if len(words) > 1 or not _is_weak(words[0]):
        return True
    return not surface.islower() and start not in sentence_starts


@lru_cache(maxsize=8192)
def _is_weak(word: str) -> bool:
    """Say whether a word is said all the time without being a name."""
    word = _ENDING.sub("", word.replace("’", "'"))
    return is_function_word(word) or is_greeting(word) or opens_sentences(word) or len(word) < 2


def _part_of(name: str, recent: Collection[str]) -> str | None:
    """Return the one recent name that a part of a name stands for: "ls50", "denton 85"."""
    forms = set(_forms(name))
    wholes = []
    for whole in recent:
        words = whole.split()
        parts = {
            word for word in words if any(char.isdigit() for char in word) and not word.isdigit()
        }
        parts |= {" ".join(words[index:]) for index in range(1, len(words))}
        parts = {part for part in parts if any(map(is_uncommon, part.split()))}
        if whole != name and parts & forms:
            wholes.append(whole)
    return wholes[0] if len(wholes) == 1 else None


_SPOKEN_TO: Final = spaced(
    r"(?:\b(?:my name(?:['’]?s| is)|call me|meet you|thanks?(?: you)?|regards|cheers|love,|hi|hey"
    r"|hello|bye|dear|(?:merry|happy) \w+(?: to)?|(?:good )?(?:morning|evening|night))\b,?"
    r"(?: there,?)?|(?:^|[.!?,\n]\s*)(?:i['’]?m|i am|this is|it['’]?s)"
    r"(?= \S+(?: \S+)?\s*(?:[.,!?\n]|and\s|$)))\s*$"
)
"""Before the name of who speaks or is spoken to: neither is what a message is about."""


def _is_new_name(span: NameSpan, text: str, *, stated: bool) -> bool:
    """Say whether this may be a name (the gate judges it again); `stated` is a matter of taste."""
    words = span.name.split()
    if _SPOKEN_TO.search(text, max(0, span.start - 60), span.start):
        return False
    if not 1 <= len(words) <= policy.NAME_WORDS or (span.type == "place" and not stated):
        return False
    if all(is_calendar_word(word) or is_nationality(word) for word in words):
        return False
    return not all(map(_is_weak, words))


def hear(
    text: str,
    *,
    known: Mapping[str, str],
    recent: Collection[str] = (),
    proactive: str = "",
    voice: OwnWords | None = None,
) -> list[Mention]:
    """Return what a message of its owner does about which names, one for each, the strongest.

    `known` are canonical names and aliases, each with its entity's own name; `recent` the names
    that the last turns spoke of; `proactive` the entity of the notice that this answers; `voice`
    says which words are their own, where that is known. In the order in which they stand. New names
    are quoted, written as names, or asked for, in the writer's own words; the gate judges them
    before an entity is made. Of what others said in a few words, known names are mentions that
    count for nothing.
    """
    whole = text[:HEARD_CHARS]
    voice = voice or own_words(text)
    text = voice.text[:HEARD_CHARS]
    cancel.check()
    plain = masked(text)
    english = is_english(plain.replace(LINE_END, " "))
    cancel.check()
    sentences = sentences_of(plain)
    starts = {s.start + len(s.text) - len(s.text.lstrip()) for s in sentences}
    opinions = opinions_in(text, voice=voice)
    places = _places(text, plain, opinions, known=known, recent=recent, starts=starts)
    heard = list(_handed_on(whole, voice, known))
    if proactive:
        heard += _answered(text, proactive, bool(known.get(proactive, proactive)))
    named: list[str] = []  # entities in the order in which the message names them
    told = to_be_told(text) if english else None
    spoken = partial(_is_spoken, plain)
    for sentence in sentences:
        cancel.check()
        stop = sentence.start + len(sentence.text)
        here = [
            place
            for place in places
            if sentence.start <= place.start < stop
            and (place.is_known or not (spoken(place) or _is_cut(sentence, place)))
        ]
        if english:
            words = sentence.text
            asks = asks_for_search(words) or is_asking(sentence.start, stop, words, told)
            asks = asks and not asks_listener(words)
            here += _asked_for(sentence, here, known=known) if asks else ()
            lately = named[-1:] if named else list(recent) if len(recent) == 1 else []
            heard += _in_sentence(
                sentence, here, opinions, asks=asks, recent=recent, lately=lately, spoken=spoken
            )
        else:
            heard += [_passing(place, Valence.NEUTRAL) for place in here]
        named += [place.name for place in sorted(here, key=lambda place: place.start)]
    return _strongest(heard, pasted=len(text.replace("\n", "")) > PASTED_CHARS)


def _handed_on(text: str, voice: OwnWords, known: Mapping[str, str]) -> Iterator[Mention]:
    """Yield the known names in the few words of others that a message hands on."""
    for part in voice.overheard:
        said = text[part.start : part.end]
        if part.end - part.start <= QUOTED_CHARS and "\n" not in said.strip():
            for place in _known_in(masked(said), known, ()):
                start, end = place.start + part.start, place.end + part.start
                yield _passing(place._replace(start=start, end=end), Valence.NEUTRAL)


_GOES_ON: Final = spaced(
    r"^\W*(?:(?:and|but|so|ok|okay|well|then|or) (?:(?:what|how) about )?|(?:what|how) about )"
    r"(?:the |an? )?(?P<topic>\S[^?]*?)\s*\?\W*$"
)


def _is_cut(sentence: MessageSentence, place: _Place) -> bool:
    """Say whether a new name is a part of the whole that "and the miko fold s?" goes on to."""
    more = _GOES_ON.match(sentence.text)
    if more is None or not more["topic"].islower() or len(more["topic"].split()) > 4:
        return False
    start, end = place.start - sentence.start, place.end - sentence.start
    behind = sentence.text[end : more.end("topic")].split()
    weak = any(len(word) > 1 and is_function_word(word) for word in behind)
    return more.start("topic") == start and bool(behind) and not weak


def _is_spoken(text: str, place: _Place) -> bool:
    """Say whether a name stands inside quotes that hold more than the name."""
    return is_mentioned(text, place.start - 2, place.end) or is_mentioned(
        text, place.start, place.end + 2
    )


def _answered(text: str, name: str, is_known: bool) -> Iterator[Mention]:
    """Yield what an answer to a notice says of it."""
    bare = text.strip().replace("\ufe0f", "").strip(" !.")
    bad, good = (
        [sign.replace("\ufe0f", "") for sign in signs]
        for signs in (policy.NEGATIVE_REACTIONS, policy.POSITIVE_REACTIONS)
    )
    if bare and set("".join(bad + good)).issuperset(bare.replace(" ", "")):
        negative, positive = (any(sign in bare for sign in signs) for signs in (bad, good))
        if negative == positive:
            return
    else:
        negative, positive = bool(_NO_MORE.match(text)), bool(_MORE.match(text))
    place = _Place(name, 0, len(text), is_known)
    if negative:
        kind, why = EngagementType.PROACTIVE_NEGATIVE_REACTION, "wants to hear no more of it"
        yield _engaged(place, kind, why)
    elif positive:
        kind, why = EngagementType.PROACTIVE_POSITIVE_REACTION, "wants to hear more of it"
        yield _engaged(place, kind, why)


def _places(
    text: str,
    plain: str,
    opinions: Sequence[Opinion],
    *,
    known: Mapping[str, str],
    recent: Collection[str],
    starts: Collection[int],
) -> list[_Place]:
    """Return where a message names something, known or new, no two places overlapping."""
    places = _known_in(plain, known, starts)
    cancel.check()
    for span in names_in(text):
        cancel.check()
        span = _undated(span)
        stated = [o for o in opinions if o.start <= span.start < o.end and not o.implied]
        longer = max((o.end for o in stated), default=span.end)
        if _NUMBER.fullmatch(plain, span.end, max(longer, span.end)):  # "Q40 Meta 3"
            surface = plain[span.start : longer]
            span = span._replace(surface=surface, name=entity_name(surface), end=longer)
        over = [place for place in places if place.start < span.end and span.start < place.end]
        if over and not _is_longer(span, over):
            continue
        entity = _entity_of(span.surface, known)
        if entity is None and not over:
            is_the = _DEFINITE.search(plain, max(0, span.start - 5), span.start)
            # without the article it may as well be somebody's first or family name
            entity = _part_of(span.name, recent) or (
                _part_of(span.name, known.values()) if is_the else None
            )
        if entity is None and not _is_new_name(span, plain, stated=bool(stated)):
            continue
        places = [place for place in places if place not in over]
        places.append(_Place(entity or span.name, span.start, span.end, entity is not None))
    return sorted(places, key=lambda place: place.start)


def _undated(span: NameSpan) -> NameSpan:
    """Return a name without the day or month behind it: "Oduya Thursdays", not "Happy Mondays"."""
    surface, words = span.surface, span.surface.split()
    if span.how is NameSign.QUOTED or span.type == "work" or not is_uncommon(words[0]):
        return span
    while len(words) > 1 and is_calendar_word(words[-1].casefold()):
        surface = surface[: surface.rindex(words.pop())].rstrip()
    name = entity_name(surface)
    return span._replace(surface=surface, name=name, end=span.start + len(surface))


def _is_longer(span: NameSpan, known: Sequence[_Place]) -> bool:
    """Say whether a name around a known one is another: "Blade Runner 2049", not "Dune Trailer"."""
    if any(place.start < span.start or place.end > span.end for place in known):
        return False
    rest = list(span.surface)
    for place in known:
        rest[place.start - span.start : place.end - span.start] = " " * (place.end - place.start)
    last = max(place.end for place in known) - span.start
    before, behind = "".join(rest[:last]).split(), "".join(rest[last:]).split()
    if any(word.isdigit() or is_uncommon(word) for word in before):
        return True
    return _is_another(behind)


def _is_another(behind: Sequence[str]) -> bool:
    """Say whether words behind a name make it another: "denton mini", but not "Dune Trailer"."""
    if not behind or asks_of(" ".join(behind)):
        return False
    if behind[0].casefold() in VARIANTS:
        return True
    if any(word.isdigit() or is_uncommon(word) for word in behind):
        return True
    return all(word[0].isupper() for word in behind) and not is_plural(behind[-1].casefold())


_DEFINITE: Final = re.compile(r"\bthe\s$", re.IGNORECASE)

_POINTED: Final = spaced(r"\b(?:my|its|your|our|his|her|their|this|that|these|those|some|any) $")


def _asked_for(
    sentence: MessageSentence, here: Sequence[_Place], *, known: Mapping[str, str]
) -> Iterator[_Place]:
    """Yield what a request that names nothing otherwise is about: "who is ada lovelace?"."""
    if here:
        return
    text = sentence.text
    topic = named_topic(text)
    if topic is None:
        return
    words = topic.topic.split()
    name = entity_name(topic.topic)
    if not 1 <= len(words) <= 5 or not name:
        return
    if not is_request(text) and not all(is_uncommon(word) or word.isdigit() for word in words):
        return  # "what is love?" names nothing; "what is kubernetes?" does
    if all(_is_weak(word.casefold()) or is_calendar_word(word.casefold()) for word in words):
        return
    if len(words) == 1 and not is_uncommon(words[0]) and not is_plural(name):
        return  # "search for love"
    start = sentence.start + topic.start
    one_of_it = len(words) == 1 and words[0].islower() and _DEFINITE.search(text, 0, topic.start)
    if one_of_it or _POINTED.search(text, 0, topic.start):
        return  # "and the grip?", "search for my keys"
    entity = _entity_of(topic.topic, known)
    yield _Place(
        entity or name, start, start + len(topic.topic), entity is not None, "is asked for"
    )


def asked_about(request: str, *, known: Mapping[str, str]) -> str:
    """Return the canonical name of what a typed request asks about; empty where it names nothing.

    A known name stands for its entity, also where everyday words follow it: "blade runner
    soundtrack" is about the film, "blade runner 2049" about another one.
    """
    whole = _entity_of(request, known)
    if whole is not None:
        return whole
    span = named_topic(request)
    topic = span.topic if span else topic_of(request).topic
    words = [match.span() for match in _WORD.finditer(topic)]
    for count in range(len(words), 1, -1):
        entity = _entity_of(topic[words[0][0] : words[count - 1][1]], known)
        if entity is not None and not _is_another([topic[a:b] for a, b in words[count:]]):
            return entity
    return entity_name(span.topic) if span else ""


def _in_sentence(
    sentence: MessageSentence,
    here: Sequence[_Place],
    opinions: Sequence[Opinion],
    *,
    asks: bool,
    recent: Collection[str],
    lately: Sequence[str],
    spoken: Callable[[_Place], bool],
) -> Iterator[Mention]:
    """Yield what a sentence does about the names in it, and about the one that it goes on about."""
    text = sentence.text
    said = _stated(sentence, here, opinions, recent)
    yield from said
    stated = {mention.start for mention in said}
    asks = asks and not stated
    for place in here:
        if place.start in stated:
            continue
        if spoken(place):
            yield _passing(place, Valence.NEUTRAL)
        elif asks:
            more = place.name in recent and not asks_for_search(text)
            yield _asked(place, "is asked about further" if more else "is asked about", more=more)
        else:
            ill = _BAD.search(text) or _is_blamed(place, opinions)
            yield _passing(place, Valence.NEUTRAL if ill else None)
    if asks and not here and lately and not asks_for_search(text):
        pronoun = _PRONOUN.search(pointing(text))
        if pronoun and not _IDLE.search(text):
            start, end = (sentence.start + at for at in pronoun.span())
            place = _Place(lately[0], start, end, True)
            yield _asked(place, "is asked about further", more=lately[0] in recent)


def _is_blamed(place: _Place, opinions: Sequence[Opinion]) -> bool:
    return any(
        not one.liked and place.start < one.end and one.start < place.end for one in opinions
    )


def _asked(place: _Place, why: str, *, more: bool) -> Mention:
    further, first = EngagementType.FOLLOW_UP_QUESTION, EngagementType.SEARCH_INITIATED
    return _engaged(place, further if more else first, why)


def _stated(
    sentence: MessageSentence,
    here: Sequence[_Place],
    opinions: Sequence[Opinion],
    recent: Collection[str],
) -> list[Mention]:
    """Return what its owner says to like or not in a sentence; "it" is the one of `recent`."""
    mentions = []
    for opinion in opinions:
        if opinion.implied or not 0 <= opinion.start - sentence.start < len(sentence.text):
            continue
        about = [p for p in here if p.start < opinion.end and opinion.start < p.end]
        if opinion.pronoun and len(recent) == 1:
            about = [_Place(next(iter(recent)), opinion.start, opinion.end, True)]
        mentions += [_said(place, liked=opinion.liked, why=opinion.why) for place in about]
    return mentions


def _said(place: _Place, *, liked: bool, why: str) -> Mention:
    valence = Valence.POSITIVE if liked else Valence.NEGATIVE
    return _engaged(place, EngagementType.EXPLICIT_STATEMENT, why, valence)


def _passing(place: _Place, valence: Valence | None) -> Mention:
    return _engaged(place, EngagementType.MENTIONED_IN_PASSING, "is mentioned", valence)


def _engaged(
    place: _Place, kind: EngagementType, why: str, valence: Valence | None = None
) -> Mention:
    return Mention(
        name=place.name,
        start=place.start,
        end=place.end,
        type=kind,
        valence=Valence(policy.ENGAGEMENTS[kind][1]) if valence is None else valence,
        is_known=place.is_known,
        why=why,
    )


def _strongest(heard: Sequence[Mention], *, pasted: bool) -> list[Mention]:
    """Keep one for each name: the strongest, of equals the last; few new ones in passing."""
    best: dict[str, Mention] = {}
    for mention in heard:
        other = best.get(mention.name)
        if other is None:
            best[mention.name] = mention
        elif policy.ENGAGEMENTS[mention.type][0] >= policy.ENGAGEMENTS[other.type][0]:
            # A name that "it" stands for later in the message keeps the place of its own words.
            named = other if mention.is_known and not other.is_known else mention
            best[mention.name] = replace(
                mention,
                start=named.start,
                end=named.end,
                is_known=mention.is_known and other.is_known,
            )
    passing = [
        mention.name
        for mention in best.values()
        if not mention.is_known and mention.type is EngagementType.MENTIONED_IN_PASSING
    ]
    if pasted or len(passing) > PASSING_NAMES:
        for name in passing:
            del best[name]
    return sorted(best.values(), key=lambda mention: mention.start)


def named_in(text: str, names: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the entities that a text names; `names` gives for each what it is called."""
    folded = f" {' '.join(entity_name(part) for part in text.split())} "
    return [
        name
        for name, surfaces in names.items()
        if any(f" {entity_name(surface)} " in folded for surface in surfaces if surface)
    ]


def spoken_of(texts: Sequence[str], known: Mapping[str, str]) -> list[str]:
    """Return the entities that the last messages name, those of the newest first."""
    names = called(known)
    return list(dict.fromkeys(name for text in texts for name in named_in(text, names)))


def called(known: Mapping[str, str]) -> dict[str, list[str]]:
    """Return what each entity is called; `known` leads from every such name to its entity."""
    surfaces: dict[str, list[str]] = {}
    for surface, name in known.items():
        surfaces.setdefault(name, []).append(surface)
    return surfaces
