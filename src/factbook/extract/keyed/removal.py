"""Tell whether a message asks to take something away: a value, a rank, a list, a fact.

What is taken away is not written anew by anybody, so the order must be there: at the beginning of a
clause, or wished for, or told as done, and with what it is about. A model's word is not enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from factbook.extract.keyed.contracts import FactsOp
from factbook.extract.keyed.mentions import LONGEST, Sentences
from factbook.extract.keyed.named import key_words, says_key
from factbook.extract.keyed.ranked import sure
from factbook.extract.keyed.speech import (
    CLEARING,
    LEADS,
    LIST_WORD,
    MOVING,
    REMOVING,
    TOPIC,
    VALUE,
    Order,
    command_problem,
    commands,
)
from factbook.extract.keyed.wording import FAVORITE, RANK, named_ranks

__all__ = ["removal_problem"]

_PRONOUN: Final = re.compile(
    r"\s*(?:it|that|this|them|these|those|both|one)\b(?!\s+(?:one|list))", re.IGNORECASE
)
_KEPT: Final = re.compile(
    r"\b(?:not|never|except|but|keep|keeping|besides|other\s+than|apart\s+from|rather\s+than"
    r"|instead\s+of|without|leave|nothing|none|everyone\s+but|unlike)\b",
    re.IGNORECASE,
)
_OTHER_ORDER: Final = re.compile(
    rf"\b(?:and|then|but|,)\s*(?:{MOVING})\b|\b(?:add|put|make|set|insert|append|keep|move)\b",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"\s*(?:$|[,.;:!?)]|(?:and|or|from|off|out|in|on|at|please|now|too|again|entirely|completely"
    rf"|altogether|as|for|because|since|it|with|which|who|that|is|then|by|{LIST_WORD})\b|{TOPIC}"
    rf"|{VALUE})",
    re.IGNORECASE,
)
_WHERE: Final = re.compile(
    r"\b(?:from|off(?:\s+of)?|out\s+of)\s+(?!now\b|here\b)(?P<where>[^,;.!?]*)", re.IGNORECASE
)
_LISTED: Final = re.compile(
    rf"{TOPIC}|\b{LIST_WORD}|(?<!\w){FAVORITE}|{RANK}|\b(?:it|there|them|mine)\b", re.IGNORECASE
)
_NAMED: Final = re.compile(rf"{TOPIC}|\b{LIST_WORD}|(?<!\w){FAVORITE}", re.IGNORECASE)
_WISH: Final = r"(?:i|we)(?:['’]d|\s+would)?\s+(?:want|need|like)"
_GONE: Final = (
    r"(?:to\s+be\s+)?(?:removed|deleted|dropped|cleared|erased|wiped|gone|forgotten|emptied|reset|off"
    r"|out)\b"
)
_DONE: Final = (
    r"(?:i|we)(?:['’](?:ve|m|re))?\s+(?:(?:have|am|are|just|already|now|also)\s+)*"
    r"(?:remov(?:ed|ing)|delet(?:ed|ing)|dropp(?:ed|ing)|clear(?:ed|ing)|eras(?:ed|ing)|wip(?:ed|ing)"
    r"|took|taken|taking|cross(?:ed|ing)|struck|striking|kick(?:ed|ing)|empt(?:ied|ying)"
    r"|scratch(?:ed|ing)|scrapp(?:ed|ing))\b"
)
_VALUE_GONE: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_WISH}\s+[^,;]*?{VALUE}[^,;]*?\s{_GONE}",
        rf"{VALUE}\s+(?:can|has\s+to|have\s+to|must|needs?\s+to)\s+(?:go|be\s+(?:removed|deleted))"
        r"(?=\s*(?:$|[,.;!]|from\b|off\b|now\b|please\b))",
        rf"{VALUE}(?:\s+(?:is|are)|['’]s)\s+(?:now\s+)?(?:off|out\s+of|gone\s+from|removed\s+from)\s"
        rf"[^,;]*(?:{TOPIC}|\b{LIST_WORD})",
        rf"\b{_DONE}[^;]*?{VALUE}[^;]*?\b(?:from|off|out\s+of)\b[^,;]*(?:{TOPIC}|\b{LIST_WORD})",
    )
)
_NO_LONGER: Final = re.compile(
    r"\b(?:no\s+longer|any\s?more|any\s+longer)\b|\b(?:don['’]?t|do\s+not|doesn['’]?t|does\s+not)\s+"
    r"belong\b|\b(?:isn['’]?t|is\s+not)\s+(?:on|in|part\s+of|among)\b",
    re.IGNORECASE,
)
_MINE: Final = re.compile(
    rf"\b(?:i|we)\b(?:\s+\S+){{0,4}}?\s+(?:like|love|enjoy|want|care|need)\b|\b(?:my|our)\b|{TOPIC}"
    rf"|\b{LIST_WORD}",
    re.IGNORECASE,
)
_ANY_ORDER: Final = re.compile(
    rf"\b(?:{REMOVING}|{CLEARING}|removed|deleted|cleared)\b", re.IGNORECASE
)


def removal_problem(
    op: FactsOp, list_key: str | None, rank: int | None, text: Sentences
) -> str | None:
    """Say why a message does not ask for what takes something away, or None where it does.

    `text` holds the place of the operation's value, where it has one.
    """
    if list_key is None:
        return _asked(text, _fact_orders(op.fact_key or "", text), "to forget that")
    if op.op == "ranked_list_clear":
        return _asked(text, _clear_orders(text), "to clear that list")
    if op.op == "ranked_list_move":
        ranks = {number for number in (rank, op.from_rank) if number is not None}
        return _asked(text, _rank_orders(text, ranks, MOVING), "to move that")
    if op.value is not None:
        return _asked(text, _value_orders(text), "to remove that")
    return _asked(text, _rank_orders(text, {rank or 0}, REMOVING), f"to remove #{rank}")


def _asked(text: Sentences, orders: Iterator[str], what: str) -> str | None:
    """Return None where one sentence gives the order, else why none does."""
    if text.is_cut:
        return f"the message does not ask {what} in a sentence of at most {LONGEST} characters"
    why = ""
    for sentence in orders:
        problem = command_problem(sentence)
        if not problem:
            return None
        why = why or f": {problem}"
    if not why and len(text.own) == 1:
        problem = command_problem(text.own[0])
        why = f": {problem}" if problem else ""
    return f"the message does not ask {what}{why}"


# --- a value --------------------------------------------------------------------------------------


def _value_orders(text: Sentences) -> Iterator[str]:
    here = text.here
    for order in commands(here, REMOVING):
        if VALUE in order.after:
            before = order.after[: order.after.index(VALUE)]
            rest = order.after[order.after.rindex(VALUE) + 1 :]
            swapped = order.verb == "replace" and re.search(r"\b(?:with|by)\b", before)
            spared = _KEPT.search(before) or _OTHER_ORDER.search(before) or swapped
            if not spared and _AFTER.match(rest) and _is_from_list(rest):
                yield here
        elif VALUE in order.before and _takes_it(order):
            yield here
    for pattern in _VALUE_GONE:
        if pattern.search(here):
            yield here
    over = _NO_LONGER.search(here) and _MINE.search(here)
    if over and not named_ranks(here) and not _ANY_ORDER.search(here):
        yield here
    for later in text.own[text.at + 1 : text.at + 2]:
        if any(map(_takes_it, commands(later, REMOVING))):
            yield later


def _takes_it(order: Order) -> bool:
    """Say whether an order is about what was named before: "remove it", but not "forget it"."""
    if not _PRONOUN.match(order.after) or order.verb.startswith("forget"):
        return False
    return _is_from_list(order.after)


def _is_from_list(rest: str) -> bool:
    """Say whether it is to leave a list, where words say what it is to leave."""
    match = _WHERE.search(rest)
    return match is None or _LISTED.search(match["where"]) is not None


# --- a rank ---------------------------------------------------------------------------------------


def _rank_orders(text: Sentences, ranks: set[int], verbs: str) -> Iterator[str]:
    for sentence in text.own:
        for order in commands(sentence, verbs):
            after = order.after
            match = re.search(RANK, after, re.IGNORECASE)
            if not match or not ranks <= named_ranks(after):
                continue
            noun = after[match.end() :]
            mine = re.search(r"\b(?:my|our|the)\s+(?:\w+\s+)?$", after[: match.start()])
            if _KEPT.search(after[: match.start()]) or not sure(after) or not _is_from_list(after):
                continue
            if (mine and (mine[0].lower().startswith(("my", "our")) or _NAMED.search(after))) or (
                _ENDS_RANK.match(noun)
            ):
                yield sentence


_ENDS_RANK: Final = re.compile(
    rf"\s*(?:$|[,.;:!?)]|(?:and|or|to|up|down|from|off|out|in|on|of|with|please|now|one|spot|place"
    rf"|entry|item|position|slot|pick|choice|favou?rite|it|behind|above|below)\b|{TOPIC}|\b{LIST_WORD})",
    re.IGNORECASE,
)


# --- a list ---------------------------------------------------------------------------------------

_FILLING: Final = frozenset(
    """
    out up of the my our whole entire complete full current old existing this that all both own
    about with favorite favourite fav fave ranked ranking list lists rankings favorites favourites
    favs faves
    """.split()  # noqa: SIM905
)
_ALL_IN: Final = frozenset(
    """
    everything all each every item items entry entries value values thing things contents content
    stuff anything rank ranks
    """.split()  # noqa: SIM905
)
_INSIDE: Final = frozenset(("from", "in", "on", "off", "of", "out", "within", "inside"))
_TAIL: Final = frozenset(
    """
    please now list lists ranking rankings favorites favourites favs faves for me again completely
    entirely altogether too as well and or thanks right away today anymore any more then so it
    because since i to with by over from off scratch anew fresh but
    """.split()  # noqa: SIM905
)
_EXCEPT: Final = re.compile(
    r"\b(?:except|but|besides|apart\s+from|other\s+than|save\s+for|nothing|none)\b", re.IGNORECASE
)
_TOKEN: Final = re.compile(rf"[\w#]+(?:['’.+-]\w+)*|{TOPIC}|,")
_LIST_WORDS: Final = re.compile(LIST_WORD, re.IGNORECASE)


def _clear_orders(text: Sentences) -> Iterator[str]:
    earlier = ""
    for sentence in text.own:
        for order in commands(sentence, CLEARING):
            named = _NAMED.search(earlier + order.before) or _is_alone(text, sentence)
            if _EXCEPT.search(order.rest):
                continue
            if _is_the_list(order.after) or (named and _takes_it(order)):
                yield sentence
        earlier += f"{sentence}\n"
        wished = re.search(rf"\b{_WISH}\s+(?P<what>[^,;]*?)\s{_GONE}", sentence, re.IGNORECASE)
        done = re.search(rf"\b{_DONE}(?P<what>[^;]*)", sentence, re.IGNORECASE)
        anew = re.search(
            rf"(?:^|,\s*){LEADS}start\s+(?P<what>.*?)\s+(?:over|anew|afresh|from\s+scratch)\b",
            sentence,
            re.IGNORECASE,
        )
        gone = re.search(
            r"\b(?:i|we)\s+(?:no\s+longer|do\s+not|don['’]?t)\s+(?:want|need|have|keep)\s+"
            r"(?:an?\s+|any\s+)?(?P<what>.*)",
            sentence,
            re.IGNORECASE,
        )
        for match in (wished, done, anew, gone):
            if match is None or (match is gone and not _NO_LONGER.search(sentence)):
                continue
            if not _EXCEPT.search(match["what"]) and _is_the_list(match["what"]):
                yield sentence


def _is_the_list(words: str) -> bool:
    """Say whether words are about the whole of a list and not about something in it.

    "my crypto list", "everything on my list of favorite cryptos", "my colors and cryptos"; not "BTC
    from my crypto list", not "my crypto wallet" and not "my #2 crypto".
    """
    all_in = listed = False
    tokens = [match[0].lower() for match in _TOKEN.finditer(words)]
    for index, word in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else ""
        written = word.startswith("user.favorites.")
        if word.endswith(TOPIC) or (written and following == TOPIC):
            return not following or following in _TAIL or following == ","
        if word in _ALL_IN:
            all_in = True
        elif word in _INSIDE:
            if not (all_in or listed or word in ("out", "of")):
                return False
        elif _LIST_WORDS.fullmatch(word):
            listed = True
        elif word not in _FILLING and (listed or word not in ("and", ",")):
            if listed and (word in _TAIL or word == ","):
                return TOPIC not in "".join(tokens)
            # "my colors and cryptos": both are lists.
            rest = tokens[index + 1 : index + 4]
            if index > 3 or not ({"and", ",", "&"} & {*rest[:2]}) or TOPIC not in rest:
                return False
            if "my" not in tokens[:index] and "our" not in tokens[:index]:
                return False
    return listed


def _is_alone(text: Sentences, sentence: str) -> bool:
    """Say whether a message is nothing but "please clear it", where one list is there."""
    rest = re.sub(rf"\b(?:{CLEARING})\b|{_PRONOUN.pattern}", " ", sentence, flags=re.IGNORECASE)
    polite = ("all", "can", "could", "would", "will", "you", "kindly", "just", *_TAIL)
    return len(text.own) == 1 and all(word in polite for word in re.findall(r"\w+", rest.lower()))


# --- a fact ---------------------------------------------------------------------------------------

_OF_ME: Final = re.compile(
    r"\s*(?:(?:all|everything|anything|what)\s+)?(?:(?:you\s+know|you\s+have|i\s+(?:said|told\s+you))\s+)?"
    r"(?:about\s+|of\s+)?(?:that\s+)?(?:(?P<my>my|our)\s+|(?P<the>the\s+|user\.))?(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_SETTING: Final = frozenset(
    """
    setting settings info information value entry fact data details record field key user and or my
    please now again completely entirely altogether too as well your it is was that i you told
    gave for me from here memory because since so thanks any more anymore current old , have has
    """.split()  # noqa: SIM905
)


def _fact_orders(key: str, text: Sentences) -> Iterator[str]:
    earlier = ""
    for sentence in text.own:
        for order in commands(sentence, CLEARING):
            if _EXCEPT.search(order.after):
                continue
            named = says_key(key, earlier + order.before, owned=True)
            if _is_the_fact(key, order.verb, order.after) or (
                named and _PRONOUN.match(order.after)
            ):
                yield sentence
        earlier += f"{sentence}\n"
        gone = _NO_LONGER.search(sentence) or _HAS_NONE.search(sentence)
        mine = gone and not _ANY_ORDER.search(sentence) and _SELF.search(sentence)
        if mine and says_key(key, _NO_LONGER.sub(" ", sentence)):
            yield sentence
        wished = re.search(rf"\b{_WISH}\s+(?P<what>[^,;]*?)\s{_GONE}", sentence, re.IGNORECASE)
        if wished and _is_the_fact(key, "forget", wished["what"]):
            yield sentence


_HAS_NONE: Final = re.compile(
    r"\b(?:i|we)\s+(?:(?:do\s+not|don['’]?t)\s+have|have\s+no)\b", re.IGNORECASE
)
_SELF: Final = re.compile(r"\b(?:i|my|we|our)\b|\bi['’]", re.IGNORECASE)


def _is_the_fact(key: str, verb: str, after: str) -> bool:
    """Say whether an order is about what a key names: "forget my timezone", not "delete my email
    from Ann" and not "delete the email".
    """
    match = _OF_ME.match(after)
    if match is None:
        return False
    theirs = match["the"] or ""
    if not match["my"] and not theirs.startswith("user.") and verb.split()[0] not in _OF_MEMORY:
        return False
    words = {word for segment in key_words(key) for word in segment}
    tokens = re.findall(r"[^\W_]+(?:['’]\w+)*|,", re.split(r"[.;!?]\s|$", match["rest"])[0])
    for size in range(1, min(len(tokens), 4) + 1):
        named = ["my", *tokens[:size]]
        if says_key(key, " ".join(named)) and says_key(key, " ".join(["my", *named[-2:]])):
            rest = [token.lower() for token in tokens[size:]]
            if all(token in _SETTING or token in words for token in rest[:2]):
                return True
    return False


_OF_MEMORY: Final = frozenset(("forget", "unset"))
