"""Say what is known of what a message asks about, and whether that is enough to answer (seed 003).

A message is about the entities that it names, also by a part of their names or by "it" after they
were spoken of; where it names none, about those whose name or facts its vector is near to. Their
facts are weighed by seed 001's relevance (0.6 similarity + 0.3 confidence + 0.1 recency), and they
are enough where at least three reach 0.6, each thing that is named has one of them, and one of them
says what is asked. That last part is ours: a sentence about a thing is near to any question about
it, for both name it, so what is asked and what is said are compared once more without the name.
"Tell me about X" asks for no more than X, so there any three do.

Nothing is searched for here, and no model takes part. Figures and thresholds come from
`scripts/calibrate_knowledge.py`, which prints them; docs/chat.md shows them.

Knows: the store, vectors, how English asks. Does not know: a provider, a model, a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.commonplace import is_calendar_word, is_everyday, is_nationality, is_place
from factbook.confidence import as_of, is_deprecated
from factbook.extract.heard import Named, hear
from factbook.extract.names import is_uncommon
from factbook.extract.opinions import HEARD_CHARS, is_question
from factbook.extract.topics import request_of, topic_of
from factbook.extract.voice import own_words
from factbook.gate.names import structural_problem
from factbook.interest.extraction import spoken_of
from factbook.interest.relate import joined, unpacked
from factbook.keys import entity_name
from factbook.model import EpisodeKind, Fact, FactKind, Millis, Role
from factbook.recall.cues import stem
from factbook.recall.plan import recency, relevance_score
from factbook.recall.query import STOPWORDS, content_terms, fts_query, words
from factbook.store.base import Filters
from factbook.text import asks
from factbook.world import EngagementType

if TYPE_CHECKING:
    from factbook.embed import Embedder
    from factbook.store.base import Store
    from factbook.world import Entity

__all__ = [
    "ANSWERS",
    "NEAR",
    "Amount",
    "Asking",
    "InQuestion",
    "Knowledge",
    "KnownFact",
    "amount_asked",
    "asked_names",
    "asking",
    "holds",
    "is_of_owner",
    "knowledge",
    "own_names",
    "search_query",
    "without_names",
]

ANSWERS: Final = 0.44
"""Cosine from which a fact says what is asked, both without the name: calibrated for the bundled
embedder by `scripts/calibrate_knowledge.py`."""
NEAR: Final = 0.45
"""Cosine from which a message without names is about an entity, by its name or one of its facts."""
NEAR_ENTITIES: Final = 3  # ours: entities that a message without names may be about
WEIGHED: Final = 100  # ours: facts of one entity that are weighed, the newest
READ: Final = 12  # ours: the most relevant of them are compared with what is asked
SEARCHED: Final = 5_000  # ours: facts of an owner whose vectors a message without names is held to
QUERY_CHARS: Final = 200  # ours: of what is searched for

Floats = NDArray[np.float32]


class Asking(StrEnum):
    """Say what a message wants to know."""

    NOTHING = "nothing"  # it tells something, or is small talk
    OWNER = "owner"  # something about whoever asks: only their own memory can know
    WORLD = "world"  # something that can be looked up


@dataclass(frozen=True, slots=True, kw_only=True)
class InQuestion:
    """An entity that a message is about."""

    entity: Entity
    cosine: float | None = None  # to the message, where it is not named; None where it is


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFact:
    """A fact that bears on a message."""

    fact: Fact  # with the confidence it has now
    relevance: float  # seed 001's, 0 to 1
    answers: bool  # says what is asked, and not only something of the thing
    place: str = ""  # address of the page that said so, where one did


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What is known of what a message asks about."""

    asking: Asking
    entities: Sequence[InQuestion]  # in the order in which they are named, or nearest first
    unknown: Sequence[str]  # what it names and nobody brought in yet, canonical
    facts: Sequence[KnownFact]  # most relevant first
    enough: bool  # to answer from memory
    why: str  # in words, for people
    query: str  # what to search for where it is not enough

    @property
    def bearing(self) -> list[KnownFact]:
        """Return the facts that count: those over the seed's relevance."""
        return [one for one in self.facts if one.relevance >= policy.ENOUGH_RELEVANCE]


# --- what a message asks --------------------------------------------------------------------------


def _spaced(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which a blank stands for any white space."""
    return re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE)


_REQUEST: Final = _spaced(
    r"^\W*(?:(?:hey|hi|hello|ok|okay|so|now|then|please|pls|also|and|well)\b\W*)*"
    r"(?:(?:can|could|would|will) (?:you|u) (?:please )?|i want (?:you )?to |help me (?:to )?"
    r"|i(?:['’]d| would) (?:like|love) (?:you )?to )?"
    r"(?:(?:tell|show|remind)(?= (?:me|us)\b)|explain|describe|summari[sz]e|compare|recommend"
    r"|suggest|list|search|look up|look into|find|google|research|know (?:more )?about"
    r"|learn (?:more )?about|read up on|give)\b(?: (?:me|us)\b)?"
)
_WONDER: Final = _spaced(
    r"\b(?:i wonder|i['’]?d like to know|i want to know|do you know|any idea)\b"
)
_SMALL_TALK: Final = _spaced(
    r"^\W*(?:(?:hey|hi|hello|ok|okay|so|well|and|oh)\b\W*)*"
    r"(?:how(?:['’]?s| is| are| was) (?:you|it going|things|life|your \w+)\b"
    r"|what(?:['’]?s| is) up\b|what are you (?:doing|up to)|who are you|what are you\b"
    r"|what(?:['’]?s| is) your \w+|are you (?:there|ok|okay|a |an |real|sure|serious)"
    r"|can you (?:help|hear)( me)?\W*$|what can you do|really|right|ok(?:ay)?|isn['’]?t it"
    r"|(?:will|can|could|would) you (?:stop|wait|repeat|shut)\b)"
)
# --- whose matter it is: the words
_PERSON_WORDS: Final = """
mother mum mom mummy mommy father dad daddy parent brother sister sibling son daughter kid child
children baby toddler twin uncle aunt auntie cousin niece nephew grandmother grandma granny nan
grandfather grandpa grandson granddaughter grandchild grandchildren grandparent stepson
stepdaughter stepmother stepfather godson goddaughter wife husband spouse partner fiance fiancé
fiancee fiancée girlfriend boyfriend ex in-law mother-in-law father-in-law brother-in-law
sister-in-law son-in-law daughter-in-law friend mate buddy flatmate roommate housemate neighbour
neighbor colleague coworker co-worker boss manager supervisor assistant intern landlord landlady
tenant teacher tutor trainer coach doctor dentist therapist physiotherapist psychologist
psychiatrist gp paediatrician pediatrician midwife nurse vet lawyer accountant nanny babysitter
hairdresser patient student crush
"""
_ANIMAL_WORDS: Final = """
dog puppy puppies pup cat kitten horse pony ponies mare hamster rabbit bunny bunnies guinea-pig
parrot budgie canary bird tortoise turtle goldfish fish ferret rat mouse mice gecko snake lizard
goat sheep donkey hen chicken cow pig pet
"""
_OWN_WORKS: Final = "project startup boat"  # ours: what people name themselves, and speak of by it


def _one_of(listed: str) -> str:
    return "(?:" + "|".join(map(re.escape, listed.split())) + ")s?"


_PERSON: Final = _one_of(_PERSON_WORDS) + (
    r"\b(?! (?:class|process|element|component|theme|director|folder|node|table|key))"
)
_SOMEBODY: Final = rf"(?:my|our) (?:[\w-]+ ){{0,2}}?(?:{_PERSON}|family)\b"
_MY_PERSON: Final = _spaced(rf"\b{_SOMEBODY}")
_FOR_PERSON: Final = _spaced(rf"\bfor {_SOMEBODY}")

# --- whose matter it is: the verbs behind "do I"
_FOR_ALL: Final = (  # what has to be done, whoever does it
    r"(?:need|have to|require|feed|bake|use|cook|add|put|mix|knead|boil|brew|water|charge|clean"
    r"|wash|install|set|turn|press|apply|register|file|get|buy|find|order|replace|change|fix"
    r"|repair|start|stop|store|fill|pour|cut|plant|grow|prune|open|close|connect|plug|click|enter"
    r"|type|tip|wait|let|make|build|treat|check|update|download|begin|cover|grease|soak|rinse|peel"
    r"|freeze|thaw|heat|roast|fry|grill|steam|ferment|proof|prove|stir|whisk|serve|tighten|loosen"
    r"|remove|attach|mount|adjust|oil|lubricate|pump|inflate|measure|calculate|convert|return"
    r"|cancel|renew|do (?:with|if|when|about|against|to))\b"
)
_HABIT: Final = (  # what only whoever does it knows
    r"(?:like|love|hate|dislike|prefer|enjoy|own|have(?! to\b)|want|know|remember|take|live|work"
    r"|drink|eat|play|wear|speak|weigh|earn|spend|pay|sleep|run|exercise|wake|feel|look|think"
    r"|believe|smoke|commute|drive|ride|read|watch|listen|visit|go|come|study|see|owe|mean|say"
    r"|call|keep|plan|usually)\b"
)
_STATE: Final = r"(?:like|love|hate|prefer|feel|look|know|think|say|want|live|commute|spell my)\b"
_DO_I: Final = r"\bdo (?:i|we) (?:(?:usually|normally|always|often|still|ever|also|really|even) )*"
_WHO_WHAT: Final = r"\b(?:what|which|where|when|who|whom)\b[^.?!]{0,40}"
_HOW_MUCH: Final = r"\bhow (?:many|much|often|long|far|fast)\b[^.?!]{0,40}"
_BEGINS: Final = r"^\W*(?:(?:so|and|but|ok|okay|hey|hi|well|oh|then|now|also)\b\W*)*"
_MINE_HERE: Final = r"[^.?!]{0,200}\b(?:my|mine|our|ours)\b"
# "Do I like jazz?", "how do I take my coffee?", "when is my appointment?"
_OWN_ASKED: Final = _spaced(
    rf"{_HOW_MUCH}{_DO_I}{_HABIT}"
    rf"|\b(?:how|why) (?:\w+ )?{_DO_I}{_STATE}"
    rf"|\b(?:how|why) {_DO_I}{_HABIT}{_MINE_HERE}"
    rf"|{_WHO_WHAT}{_DO_I}(?!{_FOR_ALL})"
    rf"|{_WHO_WHAT}{_DO_I}{_FOR_ALL}{_MINE_HERE}"
    rf"|{_BEGINS}(?<!\w){_DO_I}(?!{_FOR_ALL})"
    r"|\b(?:who|where|when|what(?: \w+)?|which \w+|how (?:old|long|far|big|tall))"
    r"(?:['’]?s| is| are| was| were) (?:my|our) (?-i:[a-z])"
    r"|^\W*(?:(?:so|and|but|ok)\b\W*)*(?:is|are|was|were) (?:my|our) (?-i:[a-z])"
)
# "How do I ...", "can I ...": advice, which whoever knows the thing can give.
_ADVICE: Final = _spaced(
    r"\b(?:how|what|which|where|when|why|who)\b[^.?!]{0,40}\b(?:can|could|should|would|must)"
    r" (?:i|we)\b"
    rf"|\b(?:how|why) {_DO_I}"
    r"|\bhow (?:\w+ )?does one (?:i|we)\b"
    rf"|{_HOW_MUCH}{_DO_I}|{_WHO_WHAT}{_DO_I}{_FOR_ALL}"
    rf"|{_BEGINS}(?:(?:can|could|should|may|must) (?:i|we)\b|{_DO_I}{_FOR_ALL})"
)
_MINE: Final = _spaced(
    r"\b(?:my|mine|our|ours|myself)\b"
    r"|(?<!\bshow\s)(?<!\btell\s)(?<!\bgive\s)(?<!\bfind\s)(?<!\bhelp\s)(?<!\blet\s)\b(?:me|us)\b"
    r"|\b(?:i|we)\b"
)
_REMIND: Final = _spaced(
    r"\b(?:remind me|do you remember|did i|have i|did we|have we|was i|am i)\b"
)
_SENTENCE: Final = re.compile(
    r"(?<=[!?。！？])\s+|(?<=\.)(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bSt\.)(?<!\bProf\.)"
    r"\s+|\n+"
)
# "I'm thinking of buying an X, what do you think?": it is asked behind the comma
_LEAD: Final = _spaced(
    rf"{_BEGINS}(?:i|we|i['’](?:m|d|ve|ll)|we['’](?:re|d|ve|ll))\b[^?!]*?[,;:–—]\W*(?:(?:so|but"
    r"|and)\b\W*)?(?=(?:what|which|who|how|is|are|was|were|do|does|would|can|could|will|any"
    r"|worth)\b)"
)
_OPINION: Final = _spaced(
    r"^\W*(?:what do you (?:think|say|reckon)|what['’]?s your (?:opinion|take|view)|any (?:thoughts"
    r"|opinions?|advice|experiences?))(?: (?:of|about|on|with) (?:it|that|this|them))?\W*$"
)


def asking(message: str, *, names: bool = False, own: bool = False) -> Asking:
    """Say what a message wants to know.

    `names` says that it names a thing of the world, and `own` that it is about somebody or a thing
    that only its owner knows. Where it may be a private matter, it is taken for one. Rules are
    English; in another language a question mark is what tells.
    """
    wanted = _wanted(message)
    if not wanted:
        return Asking.NOTHING
    text = " ".join(wanted)
    of_person = _MY_PERSON.search(_FOR_PERSON.sub(" ", text) if names else text)
    if own or of_person or _REMIND.search(text) or _OWN_ASKED.search(text):
        return Asking.OWNER
    if names or _ADVICE.search(text):
        return Asking.WORLD
    # "tell me", "I wonder": who asks is not what is asked about
    subject = _WONDER.sub(" ", " ".join(_REQUEST.sub(" ", one) for one in wanted))
    if _MINE.search(subject):
        return Asking.OWNER
    bare = all(word in STOPWORDS or word in _BROAD for word in words(text))
    return Asking.NOTHING if bare else Asking.WORLD  # "what else?"


def _wanted(message: str) -> list[str]:
    """Return the sentences of a message that ask."""
    return [one for one in _SENTENCE.split(message[:HEARD_CHARS]) if one and _asks(one)]


def _after_lead(sentence: str) -> str:
    """Return what a sentence asks, without what whoever asks tells of themselves before it."""
    lead = _LEAD.match(sentence)
    return sentence[lead.end() :] if lead else sentence


_LINK: Final = _spaced(
    r"^\W*(?:(?:and|but|so|ok|okay|well|then|now|also|or|hey|hi|hello)\b\W*)+"
    r"(?:(?:what|how) about\b\W*)?(?:(?:the|a|an)\b\W*)?"
    r"|^\W*(?:what|how) about\b\W*(?:(?:the|a|an)\b\W*)?"
)
# What refers to something that was said before: to a thing as "it", or to a part of one.
_POINTS: Final = _spaced(
    r"\b(?:it|its|it['’]s|they|them|their|theirs|this|that|these|those|such)\b"
)
_REFERS: Final = _spaced(rf"{_POINTS.pattern}|\b(?:the|he|him|his|she|her|hers|there|one)\b")


def _asks(sentence: str) -> bool:
    if _SMALL_TALK.match(sentence):
        return False
    return bool(
        asks(sentence)
        or is_question(sentence)
        or _REQUEST.match(sentence)
        or _WONDER.search(sentence)
    )


def search_query(message: str, names: Sequence[str] = ()) -> str:
    """Return what to search for to answer a message: what it asks, with the names of its things.

    `names` are what it is about, put in front where it does not name them ("how heavy is it?").
    """
    wanted = _wanted(message) or [message[:HEARD_CHARS]]
    asked = " ".join(_after_lead(one) if names else one for one in wanted)
    if names and _OPINION.match(asked):  # "what do you think?"
        asked = " ".join(names)
    asked = _LINK.sub("", asked, count=1) or asked  # "and the Pelle Mini?"
    topic = request_of(asked).topic if _REQUEST.match(asked) else asked
    topic = " ".join(topic.split()).strip(" ?!.,;:")
    written = {stem(one) for one in words(topic)}
    missing = [one for one in names if written.isdisjoint(map(stem, words(one)))]
    query = " ".join([*missing, topic]).strip()
    if len(query) <= QUERY_CHARS:
        return query
    return query[:QUERY_CHARS].rsplit(" ", 1)[0]


def asked_names(message: str, known: Mapping[str, str]) -> list[str]:
    """Return the names that a message asks about and nobody brought in yet, fit for entities."""
    _, unknown = _named(message, known, ())
    return [one for one in unknown if structural_problem(one) is None]


def is_of_owner(query: str, *, said: Sequence[str], known: Mapping[str, str]) -> bool:
    """Tell whether a query asks for nothing but what its owner said or cares about.

    A model that has read pages of others may ask for what they want it to ask for.
    """
    owned = {word.casefold() for text in (*said, *known) for word in words(text)}
    return all(
        word in STOPWORDS or word.casefold() in owned or word.casefold() in _BROAD
        for word in words(query)
    )


# --- whose matter it is: the names ----------------------------------------------------------------

_NAME_WORD: Final = r"(?-i:[^\W\d_a-z][\w'’-]*)"
_NAME_WORDS: Final = rf"{_NAME_WORD}(?: {_NAME_WORD}){{0,2}}"
_TITLE: Final = r"(?:Dr|Mr|Mrs|Ms|Miss|Prof|Professor|Doctor|Uncle|Aunt|Auntie|Grandma|Grandpa)"
_TITLED: Final = rf"(?P<name>(?-i:{_TITLE})\.? {_NAME_WORDS})"
_NAME: Final = rf"(?P<name>(?:(?-i:{_TITLE})\.? )?{_NAME_WORDS})"
_ANY_NAME: Final = rf"(?P<name>{_NAME_WORDS}|[^\W\d_][\w'’-]*)"
# "my cat minka is ill", but not "my cat purring"
_LOW_NAME: Final = (
    r"(?P<name>[^\W\d_][\w-]+)(?=['’]s\b| (?:is|was|has|had|will|can|and i|just|does|did|got|needs"
    r"|wants|likes|loves|hates)\b)"
)
_OF_OWN: Final = rf"(?:{_PERSON}|{_one_of(_ANIMAL_WORDS)}|{_one_of(_OWN_WORKS)})"
_BETWEEN: Final = r"(?:[\w-]+ ){0,2}?"
# What others made, and what is liked: "my favourite film is called Heat" names the film.
_WORKS: Final = (
    r"(?!(?:[\w-]+ ){0,2}?(?:favou?rites?|books?|novels?|films?|movies?|series|shows?|games?|apps?"
    r"|songs?|albums?|bands?|artists?|authors?|singers?|podcasts?|brands?|phones?|bikes?|cars?"
    r"|laptops?)\b)"
)
_INTRODUCED: Final = (
    # "my dog is called Pim", "our daughter's name is Lena", "my wife is Ann"
    _spaced(
        rf"\b(?:my|our) {_WORKS}(?:[\w-]+ ){{0,3}}?[\w-]+(?:['’]s name)?"
        rf"(?: (?:is|are|was|were)|['’]s)? (?:called|named) {_ANY_NAME}"
    ),
    _spaced(rf"\b(?:my|our) {_BETWEEN}{_OF_OWN}(?:['’]s? (?:first )?name)? (?:is|was) {_NAME}"),
    _spaced(rf"\b(?:my|our) {_BETWEEN}{_OF_OWN}['’]s? (?:first )?name (?:is|was) {_ANY_NAME}"),
    _spaced(rf"\bthe name of (?:my|our) {_BETWEEN}{_OF_OWN} (?:is|was) {_ANY_NAME}"),
    _spaced(
        rf"\b(?:my|our) {_BETWEEN}{_OF_OWN},[^.?!]{{0,60}}, (?:is|was) (?:called|named) {_ANY_NAME}"
    ),
    # "I have a cat named Tom"
    _spaced(
        rf"\b(?:i|we)\b[^.?!]{{0,40}} {_OF_OWN},? (?:which |who |that )?(?:is |we )?"
        rf"(?:called|named|call) {_ANY_NAME}"
    ),
    # "my daughter Lena", "our old cat, Tom"
    _spaced(rf"\b(?:my|our) {_BETWEEN}{_OF_OWN},? {_NAME}"),
    _spaced(rf"\b(?:my|our) {_BETWEEN}{_OF_OWN},? {_LOW_NAME}"),
    # "Lena is my daughter", "Lena, our youngest child"
    _spaced(rf"{_NAME}(?:,| is| was|['’]s) (?:my|our) {_BETWEEN}{_OF_OWN}\b"),
)
_TOGETHER: Final = (
    r"(?:appointments?|met|meet|meeting up|dinner|lunch|breakfast|coffee|dates?|drinks|holidays?"
    r"|trip|party|wedding|therapy|lessons?|argument|fight)"
)
_SPOKEN_OF_LIKE_ONE: Final = (
    # what people do with people: "dinner with Ann", "I met Ann", "Ann and I", "Ann's birthday"
    _spaced(rf"\b{_TOGETHER} (?:at|with) {_NAME}"),
    _spaced(
        r"\b(?:i|we|i['’](?:m|ve|ll)|we['’](?:re|ve|ll)) (?:\w+ ){0,2}?(?:met|meet|meeting|married"
        r"|dated|dating|phoned|texted|hugged|babysat|babysit|babysitting) "
        rf"{_NAME}"
    ),
    _spaced(
        r"\b(?:live|lived|living|went|go|going|travel\w*|stay\w*|slept|sat|talk\w*|spoke|speak)"
        rf" (?:[\w-]+ ){{0,3}}?with {_NAME}"
    ),
    _spaced(rf"{_NAME} and (?:i|me)\b"),
    _spaced(rf"\b(?:me|i) and {_NAME}"),
    _spaced(rf"\b(?:his|her|its) name(?: is|['’]s) {_ANY_NAME}"),
    _spaced(
        rf"{_NAME}['’]s? (?:\w+ )?(?:birthday|appointment|wedding|kindergarten|homework|funeral"
        r"|vaccination|surgery|operation|diagnosis|school|teacher|graduation|allerg(?:y|ies))\b"
    ),
    _spaced(
        r"\b(?:with|to|from|at|by|see|saw|seeing|asked|ask|told|called|call|my|our) "
        rf"{_TITLED}"
    ),
)
_AND_ANOTHER: Final = _spaced(rf",? and {_NAME}(?!['’])")
_PRONOUN: Final = _spaced(r"\b(?:he|him|his|she|her|hers|they|them|their|theirs)\b")
_IT: Final = _spaced(r"\b(?:it|its)\b")
OWN_TEXTS: Final = 50  # ours: texts of an owner that are looked through for who a name is
OWN_LATELY: Final = 4  # ours: texts said before, in which somebody may be meant by "she"
_SAID: Final = (EpisodeKind.TURN, EpisodeKind.PROMPT, EpisodeKind.NOTE, EpisodeKind.COMMAND)


def own_names(store: Store, text: str, *, owner: str, recent: Sequence[str] = ()) -> list[str]:
    """Return the names in a text that are known from its owner's own words alone, as written there.

    These are their people, their animals, and what they named themselves: "my dog is called Pim",
    "my daughter Lena". Whom they only met counts where no page says anything of that name. The
    names are in lower case; `recent` are texts of the conversation that may introduce them, too.
    """
    text = text[:HEARD_CHARS]
    terms = content_terms(text)
    if not terms:
        return []
    found = store.search_episodes(
        fts_query(terms),
        Filters(owner=owner, episode_kinds=_SAID),
        limit=OWN_TEXTS,
    )
    episodes = store.episodes_by_id([one for one, _ in found]).values()
    said = [one.text for one in episodes if one.role is Role.USER] + [*recent, text]
    names: dict[str, bool] = {}  # whether it was introduced, and not only spoken of as a person
    for one in said:
        for name, introduced in _people_in(own_words(one).text[:HEARD_CHARS]):
            names[name] = names.get(name, False) or introduced
    return [
        name
        for name, introduced in names.items()
        if _mentions(text, name) and (introduced or not _on_pages(store, owner, name))
    ]


def _people_in(text: str) -> Iterator[tuple[str, bool]]:
    """Yield (name in lower case, whether it is introduced as somebody of the writer's own)."""
    for patterns, introduced in ((_INTRODUCED, True), (_SPOKEN_OF_LIKE_ONE, False)):
        for pattern in patterns:
            for match in pattern.finditer(text):
                name = re.sub(r"['’]s?$", "", match["name"]).casefold()
                first = name.split()[0]
                if len(first) < 2 or first in STOPWORDS or is_calendar_word(first):
                    continue
                if is_nationality(first):  # "my wife is Canadian"
                    continue
                called = re.search("call|name", match[0][: match.start("name") - match.start()])
                loose = not introduced or match["name"].islower() or match["name"].isupper()
                if loose and not called and " " not in name and is_everyday(first):
                    continue  # "my dog really is a fool", "Bread and I are friends"
                if introduced or not is_place(name):
                    yield name, introduced
                also = _AND_ANOTHER.match(text, match.end("name"))
                if introduced and also and also["name"] != "I":  # "my sons Tim and Tom"
                    yield also["name"].casefold(), introduced


def _mentions(text: str, name: str) -> bool:
    """Tell whether a text names somebody, by the whole name or a part of it."""
    parts = [one for one in re.split(r"[\s.]+", name) if len(one) > 2]
    for number, part in enumerate(parts):
        if re.fullmatch(_TITLE, part.capitalize()) or part in STOPWORDS:
            continue
        for match in re.finditer(rf"(?<!\w){re.escape(part)}(?!\w)", text, re.IGNORECASE):
            if re.match(r"\s+\d", text[match.end() :]):
                continue  # "Apollo 11"
            if len(parts) > 1 and _of_another(text, match, parts, is_first=number == 0):
                continue
            return True
    return False


def _of_another(text: str, match: re.Match[str], parts: Sequence[str], *, is_first: bool) -> bool:
    """Tell whether a part of a name belongs to somebody else: "Max Weber", "Weber Genesis"."""
    before = re.search(r"([^\W\d_][\w'’-]*)\.?\s+$", text[: match.start()])
    behind = re.match(r"\s+([^\W\d_]\w*)", text[match.end() :])
    if behind and behind[1][0].isupper() and behind[1].casefold() not in parts:
        return True
    word = before[1] if before and not is_first else ""
    known = word.casefold() in parts or re.fullmatch(_TITLE, word) is not None
    return bool(word) and word[0].isupper() and not known and is_uncommon(word)


def _on_pages(store: Store, owner: str, name: str) -> bool:
    """Tell whether a page said anything of a name."""
    facts = store.world_facts(owner, entity_name(name), limit=WEIGHED)
    return any(place for place, _ in store.fact_places([one.id for one in facts]).values())


def _is_own(
    store: Store, message: str, names: Sequence[str], *, owner: str, recent: Sequence[str]
) -> bool:
    """Tell whether a message asks about somebody or something that only its owner knows.

    `names` are the things that it is about; "she" and "he" may be who was spoken of before.
    """
    asked = ". ".join([message[:HEARD_CHARS], *(one.title() for one in names)])
    if own_names(store, asked, owner=owner, recent=recent[:OWN_LATELY]):
        return True
    person = _PRONOUN.search(message)
    if names or not (person or _IT.search(message)):
        return False
    known = store.known_names(owner)
    for said in recent[: OWN_LATELY if person else 1]:
        if own_names(store, said, owner=owner) or (person and _MY_PERSON.search(said)):
            return True
        if spoken_of([said], known):
            return False
    return False


# --- what an answer has to hold -------------------------------------------------------------------


class Amount(StrEnum):
    """Say what a question asks for that can be told from its form."""

    MONEY = "money"
    DATE = "date"
    WEIGHT = "weight"
    NUMBER = "number"


_NUMBER_WORD: Final = (
    r"(?:one(?! (?:of|another|can)\b)|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty"
    r"|ninety|hundreds?|thousands?|millions?|billions?|dozens?|half|quarter|once|twice|none|both"
    r"|zero|no)"
)
_DIGITS: Final = r"\d[\d.,]*(?:\s?(?:k|m|bn|thousand|million|billion))?"
_AMOUNT: Final = rf"(?:{_DIGITS}|{_NUMBER_WORD})"
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|march|april|june|july|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|(?-i:Mar|Apr|May|Jun|Jul))"
)
_HELD: Final = {
    Amount.MONEY: _spaced(
        rf"[$€£¥₹]\s?\d|\d\s?[$€£¥₹]|\b{_AMOUNT}[ -](?:\w+ )?(?:euros?|dollars?|pounds?|francs?|yen"
        r"|yuan|rupees?|krone[rn]?|kron[ao]r?|crowns?|zlot(?:y|ych|ys)|pesos?|cents?|pence|quid"
        r"|bucks|eur|usd|gbp|chf|jpy|cny|inr|sek|nok|dkk|pln|aud|cad)\b"
        r"|\b(?:eur|usd|gbp|chf|jpy|cny|inr|sek|nok|dkk|pln|aud|cad|us\$)\s?\d"
        r"|\bfree of charge\b|\b(?:is|are|was|were) free\b(?! (?:of|from)\b)|\bfor free\b"
    ),
    Amount.DATE: _spaced(
        rf"\b(?:1\d|20|21)\d\ds?\b|\b{_MONTH}\b"
        r"|\b\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b|\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2}\s?[ap]\.?m\b"
        r"|\b\d{1,2}:\d\d\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
        r"|\b(?:today|tomorrow|yesterday|tonight|century|centuries|midnight|noon|dawn|dusk|spring"
        r"|summer|autumn|winter|daily|weekly|monthly|yearly|annually|morning|evening|ago)\b"
        r"|\b(?:next|last|this|every|each|per|after|before|until|within)"
        r" (?:\w+ ){0,2}?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b"
        r"|\b(?:when|once|as soon as|after|before|until)\b"
    ),
    Amount.WEIGHT: _spaced(
        rf"\b{_AMOUNT}(?:[ -](?:and a half|a half))?[ -]?(?:kg|kgs|g|mg|grams?|grammes?|kilos?"
        r"|kilogram(?:me)?s?|milligrams?|lbs?|pounds?|oz|ounces?|tons?|tonnes?|stones?|t)\b"
    ),
    Amount.NUMBER: _spaced(rf"\b(?:{_DIGITS}|{_NUMBER_WORD})(?![^\W\d])|\d"),
}
_COST: Final = r"(?:cost|price|prices|priced|pay|sell|sells|sold|go for|retail|fee|fees|worth)"
_CLAUSE: Final = r"[^.?!]{0,200}"
_ITS: Final = r"(?:what(?:['’]?s| is| are| was| were)|at what|for what|the|its|their)"
_WANTED: Final = (
    (
        Amount.WEIGHT,
        _spaced(
            rf"\bhow heavy\b|\b(?:how much|what) (?:do|does|did|will|would|can) {_CLAUSE}\bweigh\b"
            rf"|\b{_ITS} (?:\w+ ){{0,2}}?weights?\b(?! (?:limit|loss|lift|train|rack|plate))"
        ),
    ),
    (
        Amount.MONEY,
        _spaced(
            rf"\bhow much (?:money|cash)\b|\bhow much\b{_CLAUSE}\b{_COST}\b"
            r"|\bhow much(?: (?:is|are|was|were|would|will|for)|['’]s)\b"
            rf"(?!{_CLAUSE} (?:left|known|in it|of (?:it|them))\b)"
            r"|\bhow (?:expensive|pricey|cheap|costly)\b"
            rf"|\bwhat (?:do|does|did|would|will)\b{_CLAUSE}\bcost\b"
            rf"|\b{_ITS} (?:\w+ ){{0,2}}?(?:prices?|costs?|fees?)\b"
            r"|^\W*(?:\w+ ){0,8}?(?:price|prices|cost)\W*$"
        ),
    ),
    (
        Amount.DATE,
        _spaced(
            rf"{_BEGINS}(?:(?:since|until|from) )?when(?: (?:is|are|was|were|do|does|did|will|would"
            r"|can|could|has|have|had)|['’]s)\b"
            r"|\b(?:what|which) (?:year|date|day|month|decade|century)\b"
        ),
    ),
    (Amount.NUMBER, _spaced(r"\bhow many\b|\bhow much (?!more\b|less\b|better\b)\w")),
)


def amount_asked(message: str) -> Amount | None:
    """Return what an answer to a message has to hold: money, a date, a weight, or a number.

    None where that cannot be told from how it is asked.
    """
    text = " ".join(_wanted(message))
    return next((amount for amount, pattern in _WANTED if pattern.search(text)), None)


def holds(said: str, amount: Amount) -> bool:
    """Tell whether a text, without the names of its things, holds such an amount."""
    return _HELD[amount].search(said) is not None


# --- what is known --------------------------------------------------------------------------------


def knowledge(
    store: Store,
    message: str,
    *,
    owner: str,
    embedder: Callable[[], Embedder],
    now: Millis,
    redact: Callable[[str], str],
    recent: Sequence[str] = (),
) -> Knowledge:
    """Return what an owner's memory knows of what a message asks about.

    `recent` are the texts said before in the conversation, newest first: "it" may refer to what
    they are about. Raises EmbedderError.
    """
    message = message[:HEARD_CHARS]  # longer ones hold pasted text
    known = store.known_names(owner)
    lately, other = _since(recent, known)
    named, unknown = _named(message, known, spoken_of(lately, known))
    unknown = unknown or ([] if named else _asked_besides(message, known))
    meant = [other] if other and not named and not unknown and _POINTS.search(message) else []
    if named:
        found = [store.entity_named(owner, name) for name in named]
        entities = [InQuestion(entity=one) for one in found if one is not None]
    elif unknown or meant:
        entities = []  # it is about something else than what is known
    else:
        entities = _near(store, message, owner=owner, embedder=embedder)
    things = [*named, *unknown]
    wants = asking(
        _with_capitals(message, things, known),
        names=bool(things or meant),
        own=_is_own(store, message, [*things, *meant], owner=owner, recent=recent),
    )
    facts = _weighed(store, message, entities, known, embedder=embedder, now=now)
    places = store.fact_places([one.fact.id for one in facts])
    shown = [
        replace(
            one,
            fact=replace(
                one.fact, object=redact(one.fact.object), statement=redact(one.fact.statement)
            ),
            place=redact(places.get(one.fact.id, ("", None))[0]),
        )
        for one in facts
    ]
    names = [redact(one.entity.name) for one in entities]
    broad = _is_broad(message, [_surfaces(known, one.entity.name) for one in entities], unknown)
    enough, why = _verdict(names, [redact(one) for one in unknown], shown, broad=broad)
    return Knowledge(
        asking=wants,
        entities=[
            replace(one, entity=one.entity._replace(name=name))
            for one, name in zip(entities, names, strict=True)
        ],
        unknown=[redact(one) for one in unknown],
        facts=shown,
        enough=enough,
        why=why,
        query=redact(search_query(message, names if named else unknown or meant)),
    )


def _with_capitals(message: str, names: Sequence[str], known: Mapping[str, str]) -> str:
    """Return a message in which the things that it names are written as names: "my Halden"."""
    for name in names:
        surfaces = _surfaces(known, name) or [name]
        message = without_names(message, surfaces, by=name.title())
    return message


def _asked_besides(message: str, known: Mapping[str, str]) -> list[str]:
    """Return what a message asks about without the words that bring a name in, canonical.

    "And the miko fold s?" names it by what stands there, and "I think of buying a Miko Fold S, what
    do you think?" before what it asks.
    """
    for one in _wanted(message):
        rest = _after_lead(one)
        if rest != one and (_OPINION.match(rest) or _POINTS.search(rest)):
            lead = [name.name for name in hear(one, known=known) if not name.is_known]
            return lead if len(lead) == 1 and structural_problem(lead[0]) is None else []
        link = _LINK.match(one)
        topic = entity_name(topic_of(one[link.end() :]).topic) if link else ""
        if link and _is_thing(topic) and topic == entity_name(one[link.end() :].strip(" ?!.,;:")):
            return [topic]
    return []


def _is_thing(topic: str) -> bool:
    """Tell whether a topic stands for itself and is no part of another thing, as "the lid" is."""
    several = topic.split()
    return (
        1 < len(several) <= policy.NAME_WORDS
        and any(is_uncommon(one) or any(map(str.isdigit, one)) for one in several)
        and structural_problem(topic) is None
        and not any(one in _BROAD or one in _PART_OF for one in several)
    )


_PART_WORDS: Final = """
i you he she it we they me my your his her its our their
front rear upper lower left right inner outer top bottom main spare old other rest
"""
_PART_OF: Final = frozenset(_PART_WORDS.split())


def _since(recent: Sequence[str], known: Mapping[str, str]) -> tuple[Sequence[str], str]:
    """Return what was said since a question about something that is not known, and its topic.

    After "what is a sourdough starter?", "it" is the starter, and not what was spoken of before.
    """
    for number, said in enumerate(recent):
        if spoken_of([said], known):
            return recent, ""
        if asking(said) is not Asking.WORLD:
            continue
        asked = " ".join(_wanted(said))
        topic = topic_of(_LINK.sub("", asked, count=1) or asked).topic
        if not _REFERS.search(said) or (not _POINTS.search(said) and _is_thing(topic)):
            return recent[:number], topic
    return recent, ""


def _named(
    message: str, known: Mapping[str, str], recent: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return (entities that a message names, names that nobody brought in yet)."""
    heard = hear(message, known=known, recent=recent[:1])  # "it" is what was spoken of last
    names = [one.name for one in heard if one.is_known]
    unknown = []
    everything = sorted(set(known.values()))
    for one in heard:
        if one.is_known:
            continue
        # by a part of its name ("the LS50"), however long ago it was spoken of
        part = hear(message[one.start : one.end], known=known, recent=everything)
        whole = [other.name for other in part if other.is_known]
        if whole:
            names += whole
        elif one.type is EngagementType.SEARCH_INITIATED:
            unknown.append(_whole(message, one))
    return list(dict.fromkeys(names)), list(dict.fromkeys(unknown))


_NEXT_WORD: Final = re.compile(r" (\w(?:[\w'’.+-]*\w)?)")


def _whole(message: str, one: Named) -> str:
    """Return a new name with the capitalised words and numbers that follow it: "Halden Cargo 3".

    What is asked about is looked up as it was written; a part of it is another thing.
    """
    end = one.end
    while (more := _NEXT_WORD.match(message, end)) is not None:
        word = more[1]
        if not (word[0].isupper() or word[0].isdigit()) or word.casefold() in STOPWORDS:
            break
        end = more.end()
    whole = entity_name(message[one.start : end])
    if end == one.end or len(whole.split()) > policy.NAME_WORDS or structural_problem(whole):
        return one.name
    return whole


def _near(
    store: Store, message: str, *, owner: str, embedder: Callable[[], Embedder]
) -> list[InQuestion]:
    """Return the entities that a message without names is about, nearest first."""
    held = store.embedder()
    entities = {one.id: one for one in store.entities(owner)}
    if held is None or not entities or not message.strip():
        return []
    model = embedder()
    if model.id != held[0]:
        return []  # vectors of two models do not compare; `reembed` is what the doctor names
    by_name = {one.name: one.id for one in entities.values()}
    facts = {
        one.id: by_name[one.subject]
        for one in store.facts(
            Filters(owner=owner, kinds=(FactKind.WORLD,)), limit=SEARCHED, newest_first=True
        )
        if one.subject in by_name
    }
    dim = held[1]
    of_names = unpacked(*store.target_vectors("entity", list(entities)), dim=dim)
    of_facts = unpacked(*store.vector_rows("fact", sorted(facts)), dim=dim)
    rows = joined(of_names, replace(of_facts, ids=[facts[one] for one in of_facts.ids]))
    if not len(rows.ids):
        return []
    cosines = rows.rows @ model.embed([message])[0]
    best: dict[int, float] = {}
    for entity_id, cosine in zip(rows.ids, cosines.tolist(), strict=True):
        best[entity_id] = max(best.get(entity_id, -1.0), cosine)
    near = sorted((one for one in best if best[one] >= NEAR), key=lambda one: (-best[one], one))
    return [InQuestion(entity=entities[one], cosine=best[one]) for one in near[:NEAR_ENTITIES]]


def _weighed(
    store: Store,
    message: str,
    entities: Sequence[InQuestion],
    known: Mapping[str, str],
    *,
    embedder: Callable[[], Embedder],
    now: Millis,
) -> list[KnownFact]:
    """Return the facts of entities by how much they bear on a message, most first."""
    found: list[KnownFact] = []
    for one in entities:
        name = one.entity.name
        facts = [
            as_of(fact, now) for fact in store.world_facts(one.entity.owner, name, limit=WEIGHED)
        ]
        facts = [fact for fact in facts if not is_deprecated(fact.confidence)]
        if not facts:
            continue
        surfaces = _surfaces(known, name)
        asked = without_names(message, surfaces)
        whole = message
        if one.cosine is None:  # in full, however it was called: "the Swift", "it"
            whole = without_names(message, surfaces, by=f"the {name}")
            whole = whole if asked != message else f"{name}: {message}"
        amount = amount_asked(message)
        if amount is Amount.MONEY and _is_bare(asked):
            # "how much is it?" says less of what is meant
            asked, whole = "how much does it cost?", f"how much does the {name} cost?"
        vectors = embedder().embed([whole, asked, *(fact.statement for fact in facts)])
        cosines = vectors[2:] @ vectors[0]
        weighed = sorted(
            (
                KnownFact(
                    fact=fact,
                    relevance=relevance_score(
                        max(0.0, min(1.0, float(cosine))),
                        fact.confidence,
                        recency(fact.occurred_at, now),
                    ),
                    answers=False,
                )
                for fact, cosine in zip(facts, cosines, strict=True)
            ),
            key=lambda row: (-row.relevance, -row.fact.id),
        )
        read = weighed[:READ]
        texts = [without_names(row.fact.object, surfaces) for row in read]
        said = embedder().embed(texts)
        found += [
            replace(
                row,
                answers=bool(cosine >= ANSWERS) and (amount is None or holds(text, amount)),
            )
            for row, text, cosine in zip(read, texts, (said @ vectors[1]).tolist(), strict=True)
        ]
        found += weighed[READ:]
    return sorted(found, key=lambda row: (-row.relevance, -row.fact.id))


def _surfaces(known: Mapping[str, str], name: str) -> list[str]:
    """Return how an entity may be written, the longest first: its names, and their last words.

    In either number: "cargo bikes" are spoken of as "a cargo bike".
    """
    whole = [surface for surface, other in known.items() if other == name]
    tails = [
        tail
        for surface in whole
        for cut in range(1, len(surface.split()))
        if len(tail := " ".join(surface.split()[cut:])) > 1 and not tail.isdigit()
    ]
    every = {*whole, *tails}
    every |= {one[:-1] if one.endswith("s") else f"{one}s" for one in every if one[-1:].isalpha()}
    return sorted(every, key=lambda one: (-len(one), one))


def without_names(text: str, surfaces: Sequence[str], *, by: str = "it") -> str:
    """Return a text with "it" (or another word) in place of the names of a thing."""
    if not surfaces:
        return text
    some = "|".join(re.escape(one).replace(r"\ ", r"[\s-]+") for one in surfaces)
    return re.sub(rf"(?<!\w)(?:the\s+)?(?:{some})(?!\w)", lambda _: by, text, flags=re.IGNORECASE)


_BROAD_WORDS: Final = """
about know known thing things stuff info information facts fact anything everything something
overview summary summarize summarise describe explain give more new news remember learn learned
heard hear tell say find search look up like kind sort little bit quick quickly briefly detail
details hey hi hello ok okay so well now then penny thanks else
"""
_BROAD: Final = frozenset(_BROAD_WORDS.split())


def _is_broad(message: str, surfaces: Sequence[Sequence[str]], unknown: Sequence[str]) -> bool:
    """Tell whether a message asks for nothing but a thing itself."""
    if not surfaces:
        return False
    if amount_asked(message) is not None:
        return False
    rest = message
    for some in (*surfaces, list(unknown)):
        rest = without_names(rest, some)
    return _is_bare(rest)


def _is_bare(text: str) -> bool:
    return all(word in STOPWORDS or word in _BROAD for word in words(text))


def _verdict(
    names: Sequence[str], unknown: Sequence[str], facts: Sequence[KnownFact], *, broad: bool
) -> tuple[bool, str]:
    """Return whether facts are enough to answer, and why."""
    if unknown:
        return False, _unread(unknown)
    if not names:
        return False, "nothing that is known bears on it"
    bearing = [one for one in facts if one.relevance >= policy.ENOUGH_RELEVANCE]
    spoken = {one.fact.subject for one in bearing}
    silent = [name for name in names if name not in spoken]
    if not bearing:
        if not facts:
            return False, _unread(names)
        return False, f"what is known of {_listed(names)} does not bear on it"
    number = f"{len(bearing)} fact{'' if len(bearing) == 1 else 's'} about {_listed(names)}"
    if len(bearing) < policy.ENOUGH_FACTS:
        return False, (
            f"{number} bear{'s' if len(bearing) == 1 else ''} on it, and {policy.ENOUGH_FACTS} are"
            " enough"
        )
    if silent:
        return False, f"nothing that bears on it is known of {_listed(silent)}"
    if not broad and not any(one.answers for one in bearing):
        return False, f"{number} are there, and none says what is asked"
    best = ", ".join(f"{one.relevance:.2f}" for one in bearing[: policy.ENOUGH_FACTS])
    return True, f"{number} bear on it (relevance {best})"


def _unread(names: Sequence[str]) -> str:
    """Say that there are no facts about things, of which their owner may have spoken."""
    return f"no page read so far says anything of {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
