"""Read what a person asks by rules alone: the planner that is chosen by `--planner rules`.

Knows the common English questions about favorites, lists, ranks, keys, oneself, what was said of
something, and what was set when. A question that it does not understand gets a reason and no plan.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from factbook import policy
from factbook.extract.keyed.clarify import clarification
from factbook.extract.keyed.clause_words import (
    attribute_key,
    topic_in,
)
from factbook.extract.keyed.contracts import FactsQueryPlan
from factbook.extract.keyed.wording import FAVORITE, NUMBER_WORD, RANK, rank_value
from factbook.language.coordination import split_spoken_list
from factbook.model.facts import Millis, iso
from factbook.model.keys import (
    FAVORITES,
    canonical_list_key,
    canonical_rank_key,
    extract_topic_from_list_key,
    names_something,
    normalize_fact_key,
    split_rank_key,
)

__all__ = ["QUESTION_CHARS", "ReadQuestion", "TimeWindow", "parse_ask"]

QUESTION_CHARS: Final = 1_000
"""The longest question that the rules read."""


class TimeWindow(Protocol):
    """A span of time that words of a question name (`recall.when.Window`)."""

    @property
    def since(self) -> Millis | None:
        """When it begins, inclusive."""

    @property
    def until(self) -> Millis | None:
        """When it ends, exclusive."""

    @property
    def phrase(self) -> str:
        """The words that name it, as they stand in the question."""


class FindWindow(Protocol):
    """Finds the time that a question names (`recall.when.find_window`)."""

    def __call__(self, question: str, *, now: Millis) -> TimeWindow | None:
        """Return it, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadQuestion:
    """What the rules made of a question: a plan, or a question back, or a reason for neither."""

    plan: FactsQueryPlan | None = None
    needs_clarification: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A question with what it is read by."""

    text: str  # without what leads in, and without its mark
    lists: tuple[str, ...]  # the owner's, by their keys
    keys: frozenset[str]  # other keys that hold something
    window: TimeWindow | None

    @property
    def known(self) -> frozenset[str]:
        """The lists as a set."""
        return frozenset(self.lists)


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
    now: Millis,
    when: FindWindow | None = None,
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
    asked = _Question(
        text=text,
        lists=tuple(dict.fromkeys(map(canonical_list_key, lists))),
        keys=frozenset(keys),
        window=None if when is None else when(text, now=now),
    )
    for pattern, build in _RULES:
        match = pattern.fullmatch(text)
        read_question = build(asked, match) if match else None
        if read_question is not None:
            return read_question
    return ReadQuestion(
        reason=f"{_shown(text)} is none of the questions that the rules know; ask like 'what are my"
        " favorite movies' or 'what is my timezone', or search instead"
    )


# --- lists ----------------------------------------------------------------------------------------


def _list_plan(asked: _Question, topic: str | None, *, limit: int | None = None) -> ReadQuestion:
    """Return the plan for a list: the one that is named, or the only one."""
    if topic is None:
        if len(asked.lists) != 1:
            return ReadQuestion(needs_clarification=(clarification(asked.lists),))
        key = asked.lists[0]
    else:
        key = canonical_list_key(topic)
    return ReadQuestion(
        plan=FactsQueryPlan(
            intent="facts_get_ranked_list",
            list_key=key,
            topic=extract_topic_from_list_key(key),
            limit=min(limit or policy.PLAN_LIMIT, policy.PAGE_MAX),
        )
    )


def _favorites(asked: _Question, match: re.Match[str]) -> ReadQuestion | None:
    """Read "What are my favorite cryptos", "who is my favorite author", "list my top 3 movies"."""
    words = match["rest"]
    said = match.groupdict().get("count")
    count = rank_value(said) if said else None
    if count is not None and not 1 <= count <= policy.PAGE_MAX:
        return ReadQuestion(reason=f"a list shows 1 to {policy.PAGE_MAX} values, not {count}")
    if asked.window is not None and asked.window.phrase in words:
        return ReadQuestion(
            reason="the rules read a list as it is now, not as it was at another time"
        )
    fits, topic = topic_in(words, asked.known)
    if not fits:
        parts = split_spoken_list(words)
        if len(parts) > 1 and all(topic_in(part, asked.known)[0] for part in parts):
            return ReadQuestion(reason="the question asks for several lists; ask for one at a time")
        return None
    if topic is None and count is None:
        return _everything()  # "what are my favorites": all the lists
    return _list_plan(asked, topic, limit=count)


def _everything() -> ReadQuestion:
    return ReadQuestion(plan=FactsQueryPlan(intent="facts_get_by_prefix", key_prefix=FAVORITES))


def _ranked(asked: _Question, match: re.Match[str]) -> ReadQuestion | None:
    """Read "What's my #2 movie" and "which crypto is my number one"."""
    before = match.groupdict().get("before") or ""
    fits, topic = topic_in(match["rest"], asked.known)
    if not fits:
        return None
    if topic is None and before:
        fits, topic = topic_in(before, asked.known)
        if not fits:
            return None
    rank = rank_value(match["rank"])
    if not 1 <= rank <= policy.MAX_RANK:
        return ReadQuestion(reason=f"there is no rank {rank}; ranks are 1 to {policy.MAX_RANK}")
    listed = _list_plan(asked, topic)
    if listed.plan is None or listed.plan.list_key is None:
        return listed
    key = canonical_rank_key(listed.plan.list_key, rank)
    return ReadQuestion(plan=FactsQueryPlan(intent="facts_get_exact_key", fact_key=key))


def _place_of(asked: _Question, match: re.Match[str]) -> ReadQuestion | None:
    """Read "Where is BTC in my favorite cryptos": the list shows it."""
    fits, topic = topic_in(match["rest"], asked.known)
    return _list_plan(asked, topic) if fits else None


def _my_list(asked: _Question, match: re.Match[str]) -> ReadQuestion | None:
    """Read "Show my movies" and "what is on my movie list" of a list that is there."""
    fits, topic = topic_in(match["rest"], asked.known)
    if not fits or topic is None or canonical_list_key(topic) not in asked.known:
        return None
    return _list_plan(asked, topic)


# --- keys -----------------------------------------------------------------------------------------


def _attribute(asked: _Question, match: re.Match[str]) -> ReadQuestion | None:
    """Read "What is my timezone", and "what is my X" where a key of that name holds something."""
    words = match["rest"]
    key = attribute_key(words)
    if key is None:
        named = normalize_fact_key(f"user.{words.replace('.', ' ')}")[0]
        key = named if named in asked.keys else None
    if key is None:
        return None
    return ReadQuestion(plan=FactsQueryPlan(intent="facts_get_exact_key", fact_key=key))


def _fixed(key: str) -> Callable[[_Question, re.Match[str]], ReadQuestion]:
    plan = FactsQueryPlan(intent="facts_get_exact_key", fact_key=key)
    return lambda _asked, _match: ReadQuestion(plan=plan)


def _key(_asked: _Question, match: re.Match[str]) -> ReadQuestion | None:
    """Read "What is user.editor.theme": a list, a rank of it, or one key."""
    key = normalize_fact_key(match["key"])[0]
    if key == FAVORITES:
        return _everything()
    if key.startswith(FAVORITES + ".") and split_rank_key(key) is None:
        topic = extract_topic_from_list_key(key)
        return ReadQuestion(
            plan=FactsQueryPlan(intent="facts_get_ranked_list", list_key=key, topic=topic)
        )
    return ReadQuestion(plan=FactsQueryPlan(intent="facts_get_exact_key", fact_key=key))


def _prefix(_asked: _Question, match: re.Match[str]) -> ReadQuestion | None:
    """Read "Everything under user.favorites" and "show user.editor.*"."""
    if not names_something(match["key"]):
        return None
    key = normalize_fact_key(match["key"])[0]
    return ReadQuestion(plan=FactsQueryPlan(intent="facts_get_by_prefix", key_prefix=key))


def _about_me(_asked: _Question, _match: re.Match[str]) -> ReadQuestion:
    return ReadQuestion(plan=FactsQueryPlan(intent="facts_get_by_prefix", key_prefix="user"))


# --- what was said --------------------------------------------------------------------------------


def _predicate(_asked: _Question, match: re.Match[str]) -> ReadQuestion | None:
    """Read "All facts with the predicate used_tool"."""
    return ReadQuestion(
        plan=FactsQueryPlan(intent="facts_get_by_predicate", predicate=match["predicate"])
    )


def _entity(asked: _Question, match: re.Match[str]) -> ReadQuestion | None:
    """Read "What did I tell you about Rex", with a time too."""
    since = until = None
    words = match["rest"]
    if asked.window is not None and asked.window.phrase in words:
        since, until = _moments(asked.window)
        words = words.replace(asked.window.phrase, " ", 1)
    words = re.sub(r"(?i)^(?:my\s+|the\s+)", "", " ".join(words.split())).strip(" ,\"“”'")
    if not names_something(words) or words.lower() in ("it", "that", "this", "them", "him", "her"):
        return None
    return ReadQuestion(
        plan=FactsQueryPlan(intent="facts_get_by_entity", entity=words, since=since, until=until)
    )


def _time(asked: _Question, match: re.Match[str]) -> ReadQuestion | None:
    """Read "What did I set last week": nothing may be left of it but the time."""
    if asked.window is None:
        return None
    rest = match["rest"].replace(asked.window.phrase, " ", 1)
    rest = re.sub(r"(?i)\b(?:to\s+you|in|on|during|within|from|about|of|the|you)\b", " ", rest)
    if rest.strip(" ,"):
        return None
    since, until = _moments(asked.window)
    return ReadQuestion(plan=FactsQueryPlan(intent="facts_get_by_time", since=since, until=until))


def _moments(window: TimeWindow) -> tuple[str | None, str | None]:
    return iso(window.since), iso(window.until)


# --- the questions --------------------------------------------------------------------------------

_WH: Final = r"(?:what|who|which|where)(?:\s+(?:is|are)|['’]s|['’]re)?(?:\s+(?:all|in))?(?!\w)"
_SHOW: Final = (
    r"(?:list|show|give|get|print|display|read|see|tell|name)(?:\s+(?:me|us)\b)?"
    r"(?:\s+(?:all|out)\b)?(?:\s+of\b)?(?!\w)"
)
_ASK: Final = rf"(?:{_WH}|{_SHOW})?\s*"
_KEY: Final = r"(?P<key>[^\W\d_][\w-]*(?:\.[\w#%&+-]+)+)"
_ANY_KEY: Final = r"(?P<key>[^\W\d_][\w-]*(?:\.[\w#%&+-]+)*)"
_EVERYTHING: Final = (
    r"(?:everything|all(?:\s+(?:the\s+)?(?:facts|keys|values))?|anything|facts|keys)"
)
_COUNT: Final = rf"(?:top\s+(?P<count>\d{{1,4}}|(?:{NUMBER_WORD}))\s*)"
_SAID: Final = r"(?:set|change[d]?|add|store[d]?|save[d]?|say|tell|told|update[d]?|said|mention)"

_Rule = tuple[re.Pattern[str], Callable[[_Question, re.Match[str]], ReadQuestion | None]]


def _rule(pattern: str, build: Callable[[_Question, re.Match[str]], ReadQuestion | None]) -> _Rule:
    return re.compile(pattern, re.IGNORECASE), build


_RULES: Final[tuple[_Rule, ...]] = (
    _rule(
        rf"(?:{_WH}|{_SHOW})?\s*{_EVERYTHING}\s+(?:under|below|in|beneath|starting\s+with|with\s+the"
        rf"\s+prefix|with\s+prefix)\s+[\"“'`]?{_ANY_KEY}(?:\.\*|\.)?[\"”'`]?",
        _prefix,
    ),
    _rule(rf"(?:{_WH}|{_SHOW})?\s*[\"“'`]?{_ANY_KEY}\.\*[\"”'`]?", _prefix),
    _rule(rf"(?:(?:{_WH}|{_SHOW}|look\s+up)\s+)?[\"“'`]?{_KEY}[\"”'`]?", _key),
    _rule(
        r"(?:.*\b)?(?:facts?|everything|all)\s+(?:with|by|of|under)\s+(?:the\s+)?predicate\s+"
        r"[\"“'`]?(?P<predicate>[\w.-]+)[\"”'`]?",
        _predicate,
    ),
    _rule(
        r"(?:what\s+do\s+you\s+(?:know|remember|have)\s+(?:about|of|on)|who\s+am)\s+(?:me|i|myself)",
        _about_me,
    ),
    _rule(
        r"(?:what\s+(?:did|have)\s+i\s+(?:ever\s+)?(?:tell|told|said|say|mention|mentioned)(?:\s+to)?"
        r"(?:\s+you)?\s+(?:about|of|on)"
        r"|(?:what|who)\s+do\s+(?:you|i)\s+(?:know|remember|have)\s+(?:about|of|on)"
        r"|(?:tell\s+me\s+)?(?:everything|anything|all)\s+about|tell\s+me\s+about)\s+(?P<rest>.+)",
        _entity,
    ),
    _rule(
        rf"(?:(?:what|which\s+(?:facts|keys))\s+(?:(?:did|have|has)\s+i\s+{_SAID}"
        r"|(?:was|were|has\s+been|have\s+been|did)\s+"
        r"(?:set|changed?|added|stored|saved|updated|new))"
        r"|what(?:\s+has|['’]s|\s+is)?\s+(?:changed|new))(?P<rest>.+)",
        _time,
    ),
    _rule(
        rf"(?:{_WH}|{_SHOW})\s+(?:all\s+)?(?:of\s+)?(?:my|the)\s+(?:{FAVORITE})?\s*(?:lists?|rankings?)"
        r"(?:\s+do\s+i\s+have)?"
        r"|(?:what|which)\s+(?:favou?rites?\s+)?lists\s+(?:do\s+i\s+have|are\s+there)"
        r"|what\s+do\s+i\s+(?:like|love|prefer)(?:\s+(?:best|most))?",
        lambda _asked, _match: _everything(),
    ),
    _rule(
        rf"(?:{_WH}|{_SHOW})\s+(?:my|our)\s+(?P<rank>{RANK})(?P<rest>.*)",
        _ranked,
    ),
    _rule(
        rf"(?:what|which|who)\s+(?P<before>.+?)\s+is\s+(?:my\s+)?(?P<rank>{RANK})(?P<rest>.*)",
        _ranked,
    ),
    _rule(
        rf"(?:what|who)\s+is\s+(?:at\s+)?(?P<rank>{RANK})(?P<rest>\s+(?:in|on|of)\s+my\s+.+)",
        _ranked,
    ),
    _rule(rf"(?:what|which|who)\s+my\s+(?:{FAVORITE})(?P<rest>.*?)\s+(?:is|are)", _favorites),
    _rule(r"(?:what|who|when|where)\s+my\s+(?P<rest>.+?)\s+(?:is|are)", _attribute),
    _rule(
        rf"{_ASK}(?:my|our)\s+(?:{_COUNT}(?:{FAVORITE})?|{FAVORITE})(?P<rest>.*)",
        _favorites,
    ),
    _rule(
        rf"(?:what|which|who)\s+(?P<rest>.+?)\s+(?:is|are)\s+my\s+(?:{FAVORITE})",
        _favorites,
    ),
    _rule(
        r"(?:what|which)\s+(?P<rest>.+?)\s+do\s+i\s+(?:like|love|prefer)"
        r"(?:\s+(?:the\s+)?(?:best|most))?",
        _favorites,
    ),
    _rule(rf"do\s+i\s+have\s+(?:any\s+|a\s+)?(?:{FAVORITE})(?P<rest>.*)", _favorites),
    _rule(
        r"(?:where|at\s+(?:what|which)\s+rank|(?:what|which)\s+rank)\s+(?:is|does)\s+.+?"
        rf"(?:\s+(?:stand|rank))?\s+(?:in|on|among)\s+my\s+(?:{FAVORITE})(?P<rest>.*)",
        _place_of,
    ),
    _rule(r"(?:what|which|who)(?:\s+(?:is|are)|['’]s)\s+(?:on|in)\s+my\s+(?P<rest>.+)", _my_list),
    _rule(rf"(?:{_WH}|{_SHOW})\s+my\s+(?P<rest>.+)", _my_list),
    _rule(rf"(?:(?:{_WH}|{_SHOW}|when(?:\s+is|['’]s))\s+)?my\s+(?P<rest>.+)", _attribute),
    _rule(r"(?:who\s+am\s+i|what\s+am\s+i\s+called)", _fixed("user.name")),
    _rule(r"how\s+old\s+am\s+i", _fixed("user.age")),
    _rule(r"when\s+was\s+i\s+born", _fixed("user.birthday")),
    _rule(r"where\s+was\s+i\s+born", _fixed("user.birthplace")),
    _rule(r"where\s+do\s+i\s+live", _fixed("user.location")),
    _rule(r"(?:where|for\s+whom|who)\s+do\s+i\s+work(?:\s+(?:at|for))?", _fixed("user.employer")),
    _rule(r"what\s+do\s+i\s+do(?:\s+for\s+(?:a\s+living|work))?", _fixed("user.occupation")),
)
"""Every way to ask, the more special before the more general."""


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")
