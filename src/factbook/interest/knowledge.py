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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.confidence import as_of, is_deprecated
from factbook.extract.heard import Named, hear
from factbook.extract.opinions import HEARD_CHARS, is_question
from factbook.extract.topics import request_of, topic_of
from factbook.gate.names import structural_problem
from factbook.interest.extraction import spoken_of
from factbook.interest.relate import joined, unpacked
from factbook.keys import entity_name
from factbook.model import Fact, FactKind, Millis
from factbook.recall.cues import stem
from factbook.recall.plan import recency, relevance_score
from factbook.recall.query import STOPWORDS, words
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
    "Asking",
    "InQuestion",
    "Knowledge",
    "KnownFact",
    "asked_names",
    "asking",
    "is_of_owner",
    "knowledge",
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
# "How do I ...", "can I ...": advice, which whoever knows the thing can give.
_ADVICE: Final = _spaced(
    r"\b(?:how|what|which|where|when|why|who)\b[^.?!]{0,40}\b(?:can|could|should|would|must)"
    r" (?:i|we)\b"
    r"|\b(?:how|why) (?:\w+ )?(?:do|does one) (?:i|we) (?!(?:like|feel|look|know|say|spell my)\b)"
    r"|\b(?:what|which)\b[^.?!]{0,30}\bdo (?:i|we) need\b"
    r"|^\W*(?:(?:so|and|ok)\b\W*)*(?:can|could|should|may|must|do) (?:i|we)\b"
    r"(?! (?:like|own|have)\b)"
)
_MINE: Final = _spaced(
    r"\b(?:my|mine|our|ours|myself)\b"
    r"|(?<!\bshow\s)(?<!\btell\s)(?<!\bgive\s)(?<!\bfind\s)(?<!\bhelp\s)(?<!\blet\s)\b(?:me|us)\b"
    r"|\b(?:i|we)\b"
)
_REMIND: Final = _spaced(
    r"\b(?:remind me|do you remember|did i|have i|did we|have we|was i|am i)\b"
)
_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])\s+|\n+")


def asking(message: str, *, names: bool = False) -> Asking:
    """Say what a message wants to know; `names` says that it names a thing of the world.

    Rules are English; in another language a question mark is what tells.
    """
    wanted = [one for one in _SENTENCE.split(message[:HEARD_CHARS]) if _asks(one)]
    if not wanted:
        return Asking.NOTHING
    text = " ".join(wanted)
    if _REMIND.search(text):
        return Asking.OWNER
    if names or _ADVICE.search(text):
        return Asking.WORLD
    # "tell me", "I wonder": who asks is not what is asked about
    subject = _WONDER.sub(" ", " ".join(_REQUEST.sub(" ", one) for one in wanted))
    if _MINE.search(subject):
        return Asking.OWNER
    bare = all(word in STOPWORDS or word in _BROAD for word in words(text))
    return Asking.NOTHING if bare else Asking.WORLD  # "what else?"


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
    message = message[:HEARD_CHARS]
    wanted = [one for one in _SENTENCE.split(message) if _asks(one)] or [message]
    asked = " ".join(wanted)
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
    if named:
        found = [store.entity_named(owner, name) for name in named]
        entities = [InQuestion(entity=one) for one in found if one is not None]
    elif unknown:
        entities = []  # it is about something else than what is known
    else:
        entities = _near(store, message, owner=owner, embedder=embedder)
    wants = asking(message, names=bool(named or unknown))
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
        query=redact(search_query(message, names if named else _meant(message, unknown, other))),
    )


def _since(recent: Sequence[str], known: Mapping[str, str]) -> tuple[Sequence[str], str]:
    """Return what was said since a question about something that is not known, and its topic.

    After "what is a sourdough starter?", "it" is the starter, and not what was spoken of before.
    """
    for number, said in enumerate(recent):
        if spoken_of([said], known):
            return recent, ""
        if asking(said) is Asking.WORLD and not _REFERS.search(said):
            return recent[:number], topic_of(said[:HEARD_CHARS]).topic
    return recent, ""


def _meant(message: str, unknown: Sequence[str], other: str) -> list[str]:
    """Return what a message that names nothing known refers to, as far as it was asked about."""
    return [other] if other and not unknown and _POINTS.search(message) else []


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
        said = embedder().embed([without_names(row.fact.object, surfaces) for row in read])
        found += [
            replace(row, answers=bool(cosine >= ANSWERS))
            for row, cosine in zip(read, (said @ vectors[1]).tolist(), strict=True)
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
        if not (tail := " ".join(surface.split()[cut:])).isdigit()
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
    rest = message
    for some in (*surfaces, list(unknown)):
        rest = without_names(rest, some)
    return all(word in STOPWORDS or word in _BROAD for word in words(rest))


def _verdict(
    names: Sequence[str], unknown: Sequence[str], facts: Sequence[KnownFact], *, broad: bool
) -> tuple[bool, str]:
    """Return whether facts are enough to answer, and why."""
    if unknown:
        return False, f"nothing is known of {_listed(unknown)}"
    if not names:
        return False, "nothing that is known bears on it"
    bearing = [one for one in facts if one.relevance >= policy.ENOUGH_RELEVANCE]
    spoken = {one.fact.subject for one in bearing}
    silent = [name for name in names if name not in spoken]
    if not bearing:
        held = "what is known" if facts else "nothing is known"
        return False, f"{held} of {_listed(names)}{' does not bear on it' if facts else ''}"
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


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
