"""Read the words of a place: a rank, a list of favorites, or what a person has one of.

"my #2 favorite crypto", "the top of my wine list", "one of my books", "my dog's name" and
`user.editor.theme` are places. Messages, questions and orders to remove are all read by them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.extract.keyed.named import attribute_key
from factbook.extract.keyed.wording import COUNT, FAVORITE, LATER, RANK, rank_value
from factbook.language.coordination import spoken_items
from factbook.language.nouns import is_plural
from factbook.model.keys import (
    FAVORITES,
    canonical_list_key,
    names_something,
    normalize_fact_key,
    split_rank_key,
)

KEY: Final = r"(?P<key>[^\W\d_][\w-]*(?:\.[\w#%&+-]+)+)"


class Place(NamedTuple):
    """Where something stands or belongs."""

    key: str = ""  # of what is in no list
    topic: str | None = None  # of the list; None where none is named
    rank: int | None = None
    top: int | None = None  # how many: "my top 3"
    defined: bool = False  # the words say that it is a favorite, or its rank
    listed: bool = False  # they say that it is about favorites
    many: bool = False  # about several things
    some: bool = False  # about some of them: "one of my favorite books"
    mine: bool = False  # the words say whose it is


_SOME: Final = re.compile(
    r"(?:another\s+)?(?:(?:one|two|some|both|all)\s+)?(?:of|among(?:\s+the\s+ones\s+of)?)\s+(?=(?:my|our)\b)",
    re.IGNORECASE,
)
_WHOSE: Final = re.compile(r"(?P<mine>my|our)\s+|(?:the|an?)\s+", re.IGNORECASE)
_WHERE: Final = re.compile(rf"{COUNT}(?:\s+{FAVORITE})?|(?P<rank>{RANK})|{FAVORITE}", re.IGNORECASE)
_SURE_RANK: Final = re.compile(r"#|(?:number|no|nr|rank|position|place|spot|slot|numero)\b", re.I)
PICK: Final = (
    r"(?:(?:picks?|choices?|spot|position|place|slot|entry|entries|items?|ones?|things?)(?!\w))"
)
_ABOUT_LISTS: Final = re.compile(
    rf"(?<!\w)(?:{FAVORITE}|{PICK}|(?:lists?|ranking)\b)", re.IGNORECASE
)
# What stands before a topic and after it: "pick for", "in my list of", "... list".
_BEFORE: Final = re.compile(
    rf"(?:{FAVORITE}|{PICK}|(?:in|on|for|from|among|of|off|under|within|out|rid|all|whole|entire|my"
    r"|our|the|everything|(?:lists?|ranking)\s+of)(?!\w))\s*",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(r"(?:^|\s+)(?:favou?rites|favs|faves|lists?|rankings?)$", re.IGNORECASE)
_WORD: Final = re.compile(r"[\w'’&+#./%-]*[^\W_][\w'’&+#./%!-]*|&|\+")
_NO_TOPIC: Final = word_set("""
    is are was were be been being am isn't aren't my your his her their our its i you he she it they
    we me us him them this these those not no never if because since when while but so which who
    whom whose what will would could should might may has have had does did does said says think
    thinks than
    """)
_MOST_WORDS: Final = 6  # of a topic


def place_in(words: str, known: Collection[str]) -> Place | None:
    """Return the place that words name and nothing but it; None where they say something else.

    `known` are the owner's lists: "my books" is a place only where there is a list of them.
    """
    text = LATER.sub("", " " + " ".join(words.split())).strip(" ,:")
    written = re.fullmatch(rf"(?i){KEY}", text)
    if written:
        return _written(written["key"])
    some = _SOME.match(text)
    text = text[some.end() :] if some else text
    whose = _WHOSE.match(text)
    mine = bool(whose and whose["mine"])
    text = text[whose.end() :] if whose else text
    own = attribute_key(text) if mine else None
    if own is not None:
        return Place(key=own, mine=True)
    where = _WHERE.match(text)
    rank = where["rank"] if where else None
    fits, topic = _topic(text[where.end() :] if where else text, known)
    listed = _ABOUT_LISTS.search(text) is not None
    listed = listed or (topic is not None and canonical_list_key(topic) in known)
    if not fits or not (where or listed):
        return None
    return Place(
        topic=topic,
        rank=rank_value(rank) if rank else None,
        top=rank_value(where["count"]) if where and where["count"] else None,
        defined=where is not None,
        listed=listed or bool(rank and _SURE_RANK.match(rank)),
        many=bool(some) or _of_many(topic, text),
        some=bool(some),
        mine=mine or re.search(r"(?i)\b(?:my|our)\b", text) is not None,
    )


def _written(written: str) -> Place:
    key, ranked = normalize_fact_key(written)[0], split_rank_key(written)
    if ranked is not None:
        return Place(topic=ranked[0], rank=ranked[1], defined=True, listed=True, mine=True)
    if key.startswith(FAVORITES + "."):
        return Place(topic=key, listed=True, many=True)
    return Place(key=key)


def _of_many(topic: str | None, words: str) -> bool:
    """Say whether "favorite ..." is about several things."""
    if re.search(r"(?i)(?:favou?rites|favs|faves)(?!\w)", words):
        return True
    return topic is not None and is_plural(topic.lower().split()[-1])


def _topic(text: str, known: Collection[str]) -> tuple[bool, str | None]:
    """Return (may it be a topic, the topic); no words are a place without a topic."""
    text = text.strip()
    while before := _BEFORE.match(text):
        text = text[before.end() :]
    while after := _AFTER.search(text):
        text = text[: after.start()]
    if not text:
        return True, None
    parts = text.split()
    plain = len(parts) <= _MOST_WORDS and all(map(_WORD.fullmatch, parts))
    if not plain or any(part.lower().strip(".") in _NO_TOPIC for part in parts):
        return False, None
    if parts[-1].lower() in ("the", "of", "from", "off", "on"):
        return False, None
    if re.search(r"(?i)^(?:and|or|but|then|plus|&|with|as|at|to)(?!\w)|#\d", text):
        return False, None  # "at #1 and ETH at #2": another clause
    if not names_something(text):
        return False, None
    if len(spoken_items(text)) > 1 and canonical_list_key(text) not in known:
        return False, None  # "books and films": two lists, or one? That is for the person to say.
    return True, text
