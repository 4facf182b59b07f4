"""Read which things a message asks about, by their names, a part of them, or by "it"."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.asked import (
    LINK,
    OPINION,
    POINTS,
    REFERS,
    Amount,
    after_lead,
    amount_asked,
    is_bare,
    is_broad_word,
    pointing,
    wanted,
)
from factbook.extract.base import word_set
from factbook.extract.mentions import Mention, hear
from factbook.extract.name_tokens import is_uncommon
from factbook.extract.private_matters import Asking, asking
from factbook.extract.topics import topic_of
from factbook.language.words import STOPWORDS, words
from factbook.model.entities import EngagementType
from factbook.model.keys import entity_name

Problem = Callable[[str], str | None]  # why nothing may be called so, which the gate decides


class Earlier(NamedTuple):
    """What was said before a message."""

    text: str
    names: Sequence[str]  # of known things in it, canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class Things:
    """What a message is about; names are canonical."""

    known: Sequence[str]
    unknown: Sequence[str]  # that nobody brought in yet
    meant: Sequence[str]  # what "it" is, where that is something else

    @property
    def every(self) -> list[str]:
        """Return all of them, the known ones first."""
        return [*self.known, *self.unknown, *self.meant]


def asked_names(message: str, known: Mapping[str, str], *, problem: Problem) -> list[str]:
    """Return the names that a message asks about and nobody brought in yet, fit for entities."""
    _, unknown = _named(message, known, (), problem)
    return [name for name in unknown if problem(name) is None]


def is_of_owner(query: str, *, said: Sequence[str], known: Mapping[str, str]) -> bool:
    """Tell whether a query asks for nothing but what its owner said or cares about.

    A model that has read pages of others may ask for what they want it to ask for.
    """
    owned = {word.casefold() for text in (*said, *known) for word in words(text)}
    return all(is_broad_word(word) or word.casefold() in owned for word in words(query))


def things_asked(
    message: str, known: Mapping[str, str], recent: Sequence[Earlier], *, problem: Problem
) -> Things:
    """Return the things that a message is about; `recent` was said before it, newest first."""
    lately, other = _since(recent, problem)
    spoken = list(dict.fromkeys(name for earlier in lately for name in earlier.names))
    named, unknown = _named(message, known, spoken, problem)
    unknown = unknown or ([] if named else _asked_besides(message, known, problem))
    points = other and not named and not unknown and POINTS.search(pointing(message))
    return Things(known=named, unknown=unknown, meant=[other] if points else [])


def _asked_besides(message: str, known: Mapping[str, str], problem: Problem) -> list[str]:
    """Return what is asked about by what stands there ("and the miko fold s?") or before it."""
    for sentence in wanted(message):
        rest = after_lead(sentence)
        if rest != sentence and (OPINION.match(rest) or POINTS.search(pointing(rest))):
            lead = [name.name for name in hear(sentence, known=known) if not name.is_known]
            return lead if len(lead) == 1 and problem(lead[0]) is None else []
        link = LINK.match(sentence)
        topic = entity_name(topic_of(sentence[link.end() :]).topic) if link else ""
        rest = sentence[link.end() :].strip(" ?!.,;:") if link else ""
        if rest and topic == entity_name(rest) and _is_thing(topic, problem):
            return [topic]
    return []


def _is_thing(topic: str, problem: Problem) -> bool:
    """Tell whether a topic stands for itself and is no part of another thing, as "the lid" is."""
    several = topic.split()
    return (
        1 < len(several) <= policy.NAME_WORDS
        and any(is_uncommon(word) or any(map(str.isdigit, word)) for word in several)
        and problem(topic) is None
        and not any(
            (is_broad_word(word) and word not in STOPWORDS) or word in _PART_OF for word in several
        )
    )


_PART_OF: Final = word_set("""
i you he she it we they me my your his her its our their
front rear upper lower left right inner outer top bottom main spare old other rest
""")


def _since(recent: Sequence[Earlier], problem: Problem) -> tuple[Sequence[Earlier], str]:
    """Return what was said since a question about something unknown, and its topic, or ""."""
    for number, (said, names) in enumerate(recent):
        if names:
            return recent, ""
        if asking(said) is not Asking.WORLD:
            continue
        asked = " ".join(wanted(said))
        topic = topic_of(LINK.sub("", asked, count=1) or asked).topic
        refers = pointing(said)
        if not REFERS.search(refers) or (not POINTS.search(refers) and _is_thing(topic, problem)):
            return recent[:number], topic  # what "it" is now
    return recent, ""


def _named(
    message: str, known: Mapping[str, str], recent: Sequence[str], problem: Problem
) -> tuple[list[str], list[str]]:
    """Return (entities that a message names, names that nobody brought in yet)."""
    heard = hear(message, known=known, recent=recent[:1])  # "it" is what was spoken of last
    names = [mention.name for mention in heard if mention.is_known]
    unknown = []
    everything = sorted(set(known.values()))
    for mention in heard:
        if mention.is_known:
            continue
        # by a part of its name ("the LS50"), however long ago it was spoken of
        part = hear(message[mention.start : mention.end], known=known, recent=everything)
        whole = [other.name for other in part if other.is_known]
        if whole:
            names += whole
        elif mention.type is EngagementType.SEARCH_INITIATED:
            unknown.append(_whole(message, mention, problem))
    return list(dict.fromkeys(names)), list(dict.fromkeys(unknown))


_NEXT_WORD: Final = re.compile(r" (\w(?:[\w'’.+-]*\w)?)")


def _whole(message: str, mention: Mention, problem: Problem) -> str:
    """Return a new name with the capitalised words and numbers behind it: "Halden Cargo 3"."""
    end = mention.end
    while (more := _NEXT_WORD.match(message, end)) is not None:
        word = more[1]
        if not (word[0].isupper() or word[0].isdigit()) or word.casefold() in STOPWORDS:
            break
        end = more.end()
    whole = entity_name(message[mention.start : end])
    if end == mention.end or len(whole.split()) > policy.NAME_WORDS or problem(whole):
        return mention.name
    return whole


def surfaces_of(known: Mapping[str, str], name: str) -> list[str]:
    """Return how an entity may be written, in either number, longest first: names, last words."""
    whole = [surface for surface, other in known.items() if other == name]
    tails = [
        tail
        for surface in whole
        for cut in range(1, len(surface.split()))
        if len(tail := " ".join(surface.split()[cut:])) > 1 and not tail.isdigit()
    ]
    every = {*whole, *tails}
    every |= {
        form[:-1] if form.endswith("s") else f"{form}s" for form in every if form[-1:].isalpha()
    }
    return sorted(every, key=lambda form: (-len(form), form))


def without_names(text: str, surfaces: Sequence[str], *, by: str = "it") -> str:
    """Return a text with "it" (or another word) in place of the names of a thing."""
    if not surfaces:
        return text
    some = "|".join(re.escape(surface).replace(r"\ ", r"[\s-]+") for surface in surfaces)
    return re.sub(rf"(?<!\w)(?:the\s+)?(?:{some})(?!\w)", lambda _: by, text, flags=re.IGNORECASE)


def is_broad(message: str, surfaces: Sequence[Sequence[str]], unknown: Sequence[str]) -> bool:
    """Tell whether a message asks for nothing but a thing itself: "tell me about the Swift"."""
    if not surfaces or amount_asked(message) is not None:
        return False
    rest = message
    for some in (*surfaces, list(unknown)):
        rest = without_names(rest, some)
    return is_bare(rest)


class ThingQuestion(NamedTuple):
    """What a message asks of one thing."""

    whole: str  # with the name of the thing
    asked: str  # without it
    amount: Amount | None  # what an answer has to hold


def question_about(
    message: str, name: str, surfaces: Sequence[str], *, is_named: bool
) -> ThingQuestion:
    """Return what a message asks of a thing that may be written as `surfaces`."""
    asked, whole = without_names(message, surfaces), message
    if is_named:  # in full, however it was called: "the Swift", "it"
        whole = without_names(message, surfaces, by=f"the {name}")
        whole = whole if asked != message else f"{name}: {message}"
    amount = amount_asked(message)
    if amount is Amount.MONEY and is_bare(asked):  # "how much is it?" says less of what is meant
        asked, whole = "how much does it cost?", f"how much does the {name} cost?"
    return ThingQuestion(whole, asked, amount)
