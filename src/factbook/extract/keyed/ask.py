"""Read what a person asks by rules alone: the planner that is chosen by `--planner rules`.

A question is words that ask and a place ("what are", "my favorite cryptos"), or asks what was said
of something or set when. A question that is none of that gets a reason and no plan.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from factbook import policy
from factbook.extract.keyed.clarify import clarification
from factbook.extract.keyed.contracts import FactsQueryPlan
from factbook.extract.keyed.places import Place, place_in
from factbook.extract.keyed.wording import FAVORITE, shown
from factbook.language.coordination import split_spoken_list
from factbook.model.facts import Millis, iso
from factbook.model.keys import (
    FAVORITES,
    canonical_list_key,
    canonical_rank_key,
    extract_topic_from_list_key,
    names_something,
    normalize_fact_key,
)

QUESTION_CHARS: Final = 1_000
"""The longest question that the rules read."""


class Window(NamedTuple):
    """A span of time that words of a question name."""

    phrase: str  # the words, as they stand in the question
    since: Millis | None  # inclusive
    until: Millis | None  # exclusive


class ReadQuestion(NamedTuple):
    """What the rules made of a question: a plan, or a question back, or a reason for neither."""

    plan: FactsQueryPlan | None = None
    needs_clarification: Sequence[str] = ()
    reason: str = ""


class _Question(NamedTuple):
    text: str  # without what leads in, and without its mark
    known: Sequence[str]  # the owner's lists, by their keys
    keys: Collection[str]  # other keys that hold something
    window: Window | None


_LEAD: Final = re.compile(
    r"(?:(?:hey|hi|hello|ok|okay|well|so|and|please|now|actually|also)(?:\s*,\s*|\s+))*"
    r"(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?)?"
    r"(?:(?:do\s+you\s+(?:know|remember)|(?:please\s+)?(?:tell|remind)\s+me(?:\s+again)?"
    r"|i(?:['’]d\s+like|\s+want)\s+to\s+know)\s+(?=(?:what|who|which|where|when|my)\b))?",
    re.IGNORECASE,
)
_TRAIL: Final = re.compile(
    r"(?:[\s,]*(?:\b(?:please|again|now|right\s+now|currently|at\s+the\s+moment|thanks|so\s+far"
    r"|of\s+all\s+time)\b|[?？!.]))+$",
    re.IGNORECASE,
)


def parse_ask(
    question: str,
    *,
    lists: Mapping[str, Mapping[int, str]],
    when: Callable[[str], Window | None] | None = None,
    keys: Collection[str] = (),
) -> ReadQuestion:
    """Return the plan for a question, or why there is none.

    `lists` are the owner's lists, `{"user.favorites.crypto": {1: "BTC"}}`; `keys` further keys that
    hold something, which makes "what is my coffee order" a question about `user.coffee_order`.
    `when` finds the time that a question names; without it no question about a time is understood.
    """
    text = _LEAD.sub("", " ".join(question.split()), count=1)
    text = _TRAIL.sub("", text).strip()
    if not text:
        return ReadQuestion(reason="the question is empty")
    if len(text) > QUESTION_CHARS:
        return ReadQuestion(
            reason=f"the question has {len(text)} characters; the rules read up to"
            f" {QUESTION_CHARS}, so ask in fewer words"
        )
    known = list(dict.fromkeys(map(canonical_list_key, lists)))
    asked = _Question(text, known, keys, when(text) if when else None)
    for read in (_all_below, _fixed, _entity, _time, _at_place):
        found = read(asked)
        if found is not None:
            return found
    return ReadQuestion(
        reason=f"{shown(text)} is none of the questions that the rules know; ask like 'what are my"
        " favorite movies' or 'what is my timezone', or search instead"
    )


def _planned(intent: str, **fields: Any) -> ReadQuestion:
    plan = FactsQueryPlan.model_validate({"intent": f"facts_get_{intent}", **fields})
    return ReadQuestion(plan=plan)


_ASKING: Final = (
    r"(?:(?:what|who|which|where|when)(?:\s+(?:is|are)|['’]s|['’]re)?(?:\s+(?:all|at|in|on)\b)*"
    r"|(?:list|show|give|get|print|display|read|see|tell|name)(?:\s+(?:me|us)\b)?"
    r"(?:\s+(?:all|out)\b)?(?:\s+of\b)?|look\s+up|do\s+i\s+have(?:\s+(?:any|an?)\b)?)(?!\w)"
)
_PLACED: Final = re.compile(
    rf"(?:{_ASKING}\s*)?[\"“'`]?(?P<rest>.+?)(?:\s+(?:is|are))?[\"”'`]?", re.IGNORECASE
)
_OF_TOPIC: Final = re.compile(
    r"(?P<topic>.+?)\s+(?:(?:is|are)\s+(?P<place>(?:my|our|#|the)\b.*|#.*)"
    r"|do\s+i\s+(?:like|love|prefer)(?:\s+(?:the\s+)?(?:best|most))?)",
    re.IGNORECASE,
)
_PLACE_OF: Final = re.compile(
    r"(?:where|(?:at\s+)?(?:what|which)\s+rank)\s+(?:is|does)\s+.+?(?:\s+(?:stand|rank))?"
    r"\s+(?:in|on|among)\s+(?P<rest>my\s+.+)",
    re.IGNORECASE,
)


def _at_place(asked: _Question) -> ReadQuestion | None:
    """Read "What are my favorite cryptos", "what's my #2 movie", "what my timezone is"."""
    whole = _PLACE_OF.fullmatch(asked.text) or _PLACED.fullmatch(asked.text)
    words = whole["rest"] if whole else ""
    place = place_in(words, asked.known) or _of_topic(words, asked)
    if place is not None:
        return _plan(asked, place, words)
    first, *others = split_spoken_list(words) or [""]
    if others and all(
        place_in(part, asked.known)
        for part in (first, *(f"my favorite {other}" for other in others))
    ):
        return ReadQuestion(reason="the question asks for several lists; ask for one at a time")
    name = re.fullmatch(r"(?i)my\s+(.+)", words)
    key = normalize_fact_key(f"user.{name[1].replace('.', ' ')}")[0] if name else ""
    return _planned("exact_key", fact_key=key) if key in asked.keys else None


def _of_topic(words: str, asked: _Question) -> Place | None:
    """Return the place of "crypto is my #1" and of "movies do I like best"."""
    match = _OF_TOPIC.fullmatch(words)
    of = place_in(f"my favorite {match['topic']}", asked.known) if match else None
    if match is None or of is None or not match["place"]:
        return of
    place = place_in(match["place"], asked.known)
    return None if place is None or place.topic else place._replace(topic=of.topic)


def _plan(asked: _Question, place: Place, words: str) -> ReadQuestion | None:
    if place.key:
        everything = place.key == FAVORITES
        return _below(FAVORITES) if everything else _planned("exact_key", fact_key=place.key)
    if asked.window is not None and asked.window.phrase in words:
        reason = "the rules read a list as it is now, not as it was at another time"
        return ReadQuestion(reason=reason)
    if place.top is not None and not 1 <= place.top <= policy.PAGE_MAX:
        return ReadQuestion(reason=f"a list shows 1 to {policy.PAGE_MAX} values, not {place.top}")
    if place.rank is not None and not 1 <= place.rank <= policy.MAX_RANK:
        reason = f"there is no rank {place.rank}; ranks are 1 to {policy.MAX_RANK}"
        return ReadQuestion(reason=reason)
    key = canonical_list_key(place.topic) if place.topic else ""
    if not place.mine and key not in asked.known and (place.rank or not place.listed):
        return None
    if not key and place.defined and not place.rank and not place.top:
        return _below(FAVORITES)  # "what are my favorites": all the lists
    if not key and len(asked.known) != 1:
        return ReadQuestion(needs_clarification=(clarification(asked.known),))
    key = key or asked.known[0]
    if place.rank:
        return _planned("exact_key", fact_key=canonical_rank_key(key, place.rank))
    topic = extract_topic_from_list_key(key)
    limit = place.top or policy.PLAN_LIMIT
    return _planned("ranked_list", list_key=key, topic=topic, limit=limit)


_ALL_BELOW: Final = re.compile(
    rf"(?:{_ASKING}\s+)?(?P<all>(?:everything|anything|all(?:\s+(?:the\s+)?(?:facts|keys|values))?"
    r"|facts|keys)\s+(?:under|below|in|beneath|starting\s+with|with\s+(?:the\s+)?prefix)\s+)?"
    r"[\"“'`]?(?P<key>[^\W\d_][\w-]*(?:\.[\w#%&+-]+)*)(?P<star>\.\*)?\.?[\"”'`]?",
    re.IGNORECASE,
)
_PREDICATE: Final = re.compile(
    r"(?:.*\b)?(?:facts?|everything|all)\s+(?:with|by|of|under)\s+(?:the\s+)?predicate\s+"
    r"[\"“'`]?(?P<predicate>[\w.-]+)[\"”'`]?",
    re.IGNORECASE,
)


def _below(prefix: str) -> ReadQuestion:
    return _planned("by_prefix", key_prefix=prefix)


def _all_below(asked: _Question) -> ReadQuestion | None:
    """Read "Everything under user.favorites", "show user.editor.*" and "all facts with ..."."""
    named = _PREDICATE.fullmatch(asked.text)
    if named:
        return _planned("by_predicate", predicate=named["predicate"])
    match = _ALL_BELOW.fullmatch(asked.text)
    if not match or not (match["all"] or match["star"]) or not names_something(match["key"]):
        return None
    return _below(normalize_fact_key(match["key"])[0])


_FIXED: Final = (
    (
        rf"{_ASKING}\s+(?:all\s+)?(?:of\s+)?(?:(?:my|the)\s+)?(?:{FAVORITE}\s*)?(?:lists|rankings)"
        r"(?:\s+(?:do\s+i\s+have|are\s+there))?",
        FAVORITES,
    ),
    (r"what\s+do\s+i\s+(?:like|love|prefer)(?:\s+(?:best|most))?", FAVORITES),
    (r"what\s+do\s+you\s+(?:know|remember|have)\s+(?:about|of|on)\s+(?:me|myself)", "user"),
    (r"who\s+am\s+i", "user"),
    (r"what\s+am\s+i\s+called", "user.name"),
    (r"how\s+old\s+am\s+i", "user.age"),
    (r"when\s+was\s+i\s+born", "user.birthday"),
    (r"where\s+was\s+i\s+born", "user.birthplace"),
    (r"where\s+do\s+i\s+live", "user.location"),
    (r"(?:where|for\s+whom|who)\s+do\s+i\s+work(?:\s+(?:at|for))?", "user.employer"),
    (r"what\s+do\s+i\s+do(?:\s+for\s+(?:a\s+living|work))?", "user.occupation"),
)
"""Questions that ask for one key, or for all below it."""


def _fixed(asked: _Question) -> ReadQuestion | None:
    for pattern, key in _FIXED:
        if re.fullmatch(pattern, asked.text, re.IGNORECASE):
            below = key in ("user", FAVORITES)
            return _below(key) if below else _planned("exact_key", fact_key=key)
    return None


_SAID: Final = r"(?:set|change[d]?|add|store[d]?|save[d]?|say|tell|told|update[d]?|said|mention)"
_ABOUT: Final = re.compile(
    r"(?:what\s+(?:did|have)\s+i\s+(?:ever\s+)?(?:tell|told|said|say|mention|mentioned)(?:\s+to)?"
    r"(?:\s+you)?\s+(?:about|of|on)|(?:what|who)\s+do\s+(?:you|i)\s+(?:know|remember|have)"
    r"\s+(?:about|of|on)|(?:tell\s+me\s+)?(?:everything|anything|all)\s+about|tell\s+me\s+about)"
    r"\s+(?P<rest>.+)",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(
    rf"(?:(?:what|which\s+(?:facts|keys))\s+(?:(?:did|have|has)\s+i\s+{_SAID}"
    r"|(?:was|were|has\s+been|have\s+been|did)\s+"
    r"(?:set|changed?|added|stored|saved|updated|new))"
    r"|what(?:\s+has|['’]s|\s+is)?\s+(?:changed|new))(?P<rest>.+)",
    re.IGNORECASE,
)


def _entity(asked: _Question) -> ReadQuestion | None:
    """Read "What did I tell you about Rex", with a time too."""
    match = _ABOUT.fullmatch(asked.text)
    words = match["rest"] if match else ""
    times = _moments(asked.window) if asked.window and asked.window.phrase in words else {}
    if times and asked.window:
        words = words.replace(asked.window.phrase, " ", 1)
    words = re.sub(r"(?i)^(?:my\s+|the\s+)", "", " ".join(words.split())).strip(" ,\"“”'")
    if not names_something(words) or words.lower() in ("it", "that", "this", "them", "him", "her"):
        return None
    return _planned("by_entity", entity=words, **times)


def _time(asked: _Question) -> ReadQuestion | None:
    """Read "What did I set last week": nothing may be left of it but the time."""
    match = _WHEN.fullmatch(asked.text)
    if match is None or asked.window is None:
        return None
    rest = match["rest"].replace(asked.window.phrase, " ", 1)
    rest = re.sub(r"(?i)\b(?:to\s+you|in|on|during|within|from|about|of|the|you)\b", " ", rest)
    return None if rest.strip(" ,") else _planned("by_time", **_moments(asked.window))


def _moments(window: Window) -> dict[str, str | None]:
    return {"since": iso(window.since), "until": iso(window.until)}
