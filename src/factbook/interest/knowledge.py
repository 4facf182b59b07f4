"""Say what is known of what a message asks about, and whether that is enough to answer (seed 003).

A message is about the entities that it names, also by a part of their names or by "it" after they
were spoken of; where it names none, about those whose name or facts its vector is near to. Their
facts are weighed by seed 001's relevance (0.6 similarity + 0.3 confidence + 0.1 recency), and they
are enough where at least three reach 0.6, each thing that is named has one of them, and one of them
says what is asked. That last part is ours: a sentence about a thing is near to any question about
it, for both name it, so what is asked and what is said are compared once more without the name.
"Tell me about X" asks for no more than X, so there any three do.

Whether it may be searched for says `matter`. Nothing is searched for here, and no language model
takes part. Figures and thresholds come from `scripts/calibrate_knowledge.py`, which prints them;
docs/chat.md shows them.

Knows: the store, vectors, how English asks. Does not know: a provider, a model, a terminal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.confidence import as_of, is_deprecated
from factbook.extract.heard import Named, hear, spoken_of
from factbook.extract.names import is_uncommon
from factbook.extract.opinions import HEARD_CHARS
from factbook.extract.topics import topic_of
from factbook.extract.voice import own_words
from factbook.gate.leaving import Matter, Verdict, may_leave
from factbook.gate.names import structural_problem
from factbook.interest.asked import (
    LINK,
    OPINION,
    POINTS,
    REFERS,
    Amount,
    after_lead,
    amount_asked,
    asks_for_search,
    holds,
    is_bare,
    is_broad_word,
    search_query,
    wanted,
)
from factbook.interest.matter import Asking, asking, read_matter
from factbook.interest.relate import joined, unpacked
from factbook.keys import entity_name
from factbook.model import Fact, FactKind
from factbook.recall.plan import recency, relevance_score
from factbook.store.base import Filters
from factbook.text import STOPWORDS, words
from factbook.world import EngagementType

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.store.base import Store
    from factbook.world import Entity

__all__ = [
    "ANSWERS",
    "NEAR",
    "InQuestion",
    "Knowledge",
    "KnownFact",
    "asked_names",
    "is_of_owner",
    "knowledge",
    "verdict_on",
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
    verdict: Verdict  # whether it may be searched for
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


def asked_names(message: str, known: Mapping[str, str]) -> list[str]:
    """Return the names that a message asks about and nobody brought in yet, fit for entities."""
    _, unknown = _named(message, known, ())
    return [one for one in unknown if structural_problem(one) is None]


def is_of_owner(query: str, *, said: Sequence[str], known: Mapping[str, str]) -> bool:
    """Tell whether a query asks for nothing but what its owner said or cares about.

    A model that has read pages of others may ask for what they want it to ask for.
    """
    owned = {word.casefold() for text in (*said, *known) for word in words(text)}
    return all(is_broad_word(word) or word.casefold() in owned for word in words(query))


# --- what is known --------------------------------------------------------------------------------


def knowledge(
    context: Context,
    message: str,
    *,
    owner: str,
    recent: Sequence[str] = (),
    pasted: Sequence[tuple[int, int]] = (),
) -> Knowledge:
    """Return what an owner's memory knows of what a message asks about.

    `recent` are the texts said before in the conversation, newest first: "it" may refer to what
    they are about. `pasted` are parts of it that ask for nothing in its owner's name. Raises
    EmbedderError.
    """
    store, redact = context.store, context.redact
    message = message[:HEARD_CHARS]  # longer ones hold pasted text
    known = store.known_names(owner)
    named, unknown, meant = _things(message, known, recent)
    if named:
        found = [store.entity_named(owner, name) for name in named]
        entities = [InQuestion(entity=one) for one in found if one is not None]
    elif unknown or meant:
        entities = []  # it is about something else than what is known
    else:
        entities = _near(context, message, owner=owner)
    things = [*named, *unknown, *meant]
    matter = _matter(store, message, things, owner=owner, recent=recent, pasted=pasted)
    verdict = may_leave(matter)
    facts = _weighed(context, message, entities, known)
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
        asking=asking(message, verdict, names=bool(things)),
        verdict=replace(verdict, why=redact(verdict.why)),
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


def verdict_on(
    store: Store,
    message: str,
    query: str,
    *,
    owner: str,
    recent: Sequence[str] = (),
    pasted: Sequence[tuple[int, int]] = (),
) -> Verdict:
    """Return whether a query may leave that is made for a message of its owner.

    The message has to be one that may, and so has what the query adds to it: a model that writes a
    query has read more than the message. `recent` are the texts said before it, newest first, and
    `pasted` are parts of it that ask for nothing in its owner's name.
    """
    message = message[:HEARD_CHARS]
    named, unknown, meant = _things(message, store.known_names(owner), recent)
    things = [*named, *unknown, *meant]
    matter = _matter(store, message, things, owner=owner, recent=recent, pasted=pasted)
    if not wanted(message):  # it asks nothing: what is sure stays, and the query stands for itself
        matter = replace(matter, private=-math.inf)
    verdict = may_leave(matter)
    said = {word for text in (message, *things) for word in words(text)}
    adds = any(word not in said and not is_broad_word(word) for word in words(query))
    if not verdict.leaves or (wanted(message) and not adds):
        return verdict
    return may_leave(read_matter(store, query, owner=owner))


def _matter(
    store: Store,
    message: str,
    things: Sequence[str],
    *,
    owner: str,
    recent: Sequence[str],
    pasted: Sequence[tuple[int, int]] = (),
) -> Matter:
    asked_for = asks_for_search(own_words(message, pasted=pasted).text)
    return read_matter(
        store, message, owner=owner, recent=recent, names=things, asked_for=asked_for
    )


def _things(
    message: str, known: Mapping[str, str], recent: Sequence[str]
) -> tuple[list[str], list[str], list[str]]:
    """Return the things that a message is about: (known, not known yet, what "it" is)."""
    lately, other = _since(recent, known)
    named, unknown = _named(message, known, spoken_of(lately, known))
    unknown = unknown or ([] if named else _asked_besides(message, known))
    points = other and not named and not unknown and POINTS.search(message)
    return named, unknown, [other] if points else []


def _asked_besides(message: str, known: Mapping[str, str]) -> list[str]:
    """Return what a message asks about without the words that bring a name in, canonical.

    "And the miko fold s?" names it by what stands there, and "I think of buying a Miko Fold S, what
    do you think?" before what it asks.
    """
    for one in wanted(message):
        rest = after_lead(one)
        if rest != one and (OPINION.match(rest) or POINTS.search(rest)):
            lead = [name.name for name in hear(one, known=known) if not name.is_known]
            return lead if len(lead) == 1 and structural_problem(lead[0]) is None else []
        link = LINK.match(one)
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
        and not any(
            (is_broad_word(one) and one not in STOPWORDS) or one in _PART_OF for one in several
        )
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
        asked = " ".join(wanted(said))
        topic = topic_of(LINK.sub("", asked, count=1) or asked).topic
        if not REFERS.search(said) or (not POINTS.search(said) and _is_thing(topic)):
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


def _near(context: Context, message: str, *, owner: str) -> list[InQuestion]:
    """Return the entities that a message without names is about, nearest first."""
    store = context.store
    held = store.embedder()
    entities = {one.id: one for one in store.entities(owner)}
    if held is None or not entities or not message.strip():
        return []
    model = context.embedder
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
    context: Context,
    message: str,
    entities: Sequence[InQuestion],
    known: Mapping[str, str],
) -> list[KnownFact]:
    """Return the facts of entities by how much they bear on a message, most first."""
    store, now = context.store, context.clock()
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
        if amount is Amount.MONEY and is_bare(asked):
            # "how much is it?" says less of what is meant
            asked, whole = "how much does it cost?", f"how much does the {name} cost?"
        vectors = context.embedder.embed([whole, asked, *(fact.statement for fact in facts)])
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
        said = context.embedder.embed(texts)
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


def _is_broad(message: str, surfaces: Sequence[Sequence[str]], unknown: Sequence[str]) -> bool:
    """Tell whether a message asks for nothing but a thing itself."""
    if not surfaces:
        return False
    if amount_asked(message) is not None:
        return False
    rest = message
    for some in (*surfaces, list(unknown)):
        rest = without_names(rest, some)
    return is_bare(rest)


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
