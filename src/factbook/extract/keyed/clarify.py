"""Ask back where a message names no list: code decides this, whatever a model guesses.

An operation on a list is taken where the message names a topic, in other words too (the model may
know that coins are crypto), or where the owner has no list, or only the one that it means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from factbook.extract.keyed.contracts import (
    FactsOp,
    FactsOpsResponse,
    FactsQueryPlan,
    list_key_of,
    op_values,
)
from factbook.extract.keyed.mentions import Heard, topic_places
from factbook.extract.keyed.places import place_in
from factbook.extract.keyed.wording import FAVORITE, RANK
from factbook.model.keys import canonical_list_key, extract_topic_from_list_key, topic_title

WHICH_LIST: Final = "Which favorites list?"
SHOWN_LISTS: Final = 8  # names that a question offers; the dots stand for the rest and a new one


def clarification(list_keys: Iterable[str]) -> str:
    """Return the question for a list, which names those there are: `crypto/colors/...`."""
    titles = list(dict.fromkeys(topic_title(key) for key in list_keys))[:SHOWN_LISTS]
    if not titles:
        return f"{WHICH_LIST} There is none yet; name one, as in 'my #1 favorite movie'"
    return f"{WHICH_LIST} {'/'.join(titles)}/..."


def forced_clarification(
    message: str, response: FactsOpsResponse, list_keys: Sequence[str]
) -> list[str]:
    """Return what has to be asked before operations may be applied; empty where nothing has to.

    `list_keys` are the lists the owner has, as `user.favorites.<topic>`, in the order in which the
    question is to name them. What the answer itself wants to ask comes first.
    """
    asked = [question for question in response.needs_clarification if question.strip()]
    if asked:
        return asked
    known = list(dict.fromkeys(canonical_list_key(key) for key in list_keys))
    unnamed = _unnamed(message, response.ops, known)
    if len(known) >= 2 and unnamed:
        return [clarification(known)]
    if len(known) == 1 and any(key not in known for key in unnamed):
        return [clarification([*known, *unnamed])]
    return []


def plan_clarification(question: str, plan: FactsQueryPlan, list_keys: Sequence[str]) -> list[str]:
    """Return what has to be asked before a plan for one list is carried out.

    "What is my #1?" names no list. Only a question that speaks of a rank or of favorites can leave
    one out: "what coins do I like" names one in its own words.
    """
    known = list(dict.fromkeys(canonical_list_key(key) for key in list_keys))
    meant = plan.list_key or plan.topic or plan.fact_key or ""
    topic = extract_topic_from_list_key(meant) or (plan.topic and meant)
    if len(known) < 2 or not topic or plan.intent == "facts_get_by_prefix":
        return []
    named = topic_places(question, topic) or _topics(question)
    return [clarification(known)] if not named and _BARE.search(question) else []


_BARE: Final = re.compile(rf"(?:{RANK}|(?<!\w)(?:{FAVORITE})|\blist\b)", re.IGNORECASE)


def _unnamed(message: str, ops: Sequence[FactsOp], known: Sequence[str]) -> list[str]:
    """Return the lists of operations that the message names in no words, not even other ones."""
    values = [value for op in ops for value in op_values(op)]
    meant = list(dict.fromkeys(key for op in ops if (key := list_key_of(op))))
    rest = Heard(message).without(values)
    literal = {key for key in {*meant, *known} if topic_places(rest, key)}
    others = {canonical_list_key(topic) for topic in _topics(rest)} - literal
    return [] if others else [key for key in meant if key not in literal]


_BEGINS: Final = re.compile(rf"(?<!\w)(?:(?:my|our)\s|{RANK}|{FAVORITE})", re.IGNORECASE)
_ENDS: Final = re.compile(
    r"[,.;:!?\n]|\s(?:is|are|and|but|to|as|at|so|because|than|then|when|while|please|today)\b",
    re.IGNORECASE,
)


def _topics(rest: str) -> list[str]:
    """Return any topic where one stands: "my #1 coin", "my coin list"."""
    topics: list[str] = []
    for begins in _BEGINS.finditer(rest):
        ends = _ENDS.search(rest, begins.end())
        words = rest[begins.start() : ends.start() if ends else len(rest)].split()
        found = (place_in(" ".join(words[:n]), ()) for n in range(len(words), 0, -1))
        place = next((place for place in found if place is not None), None)
        topics += [place.topic] if place is not None and place.topic else []
    return topics
