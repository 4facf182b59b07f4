"""Read one sentence that sets something: the rules of `phrases`, one for each way to say it.

A rule is a head ("make"), a hinge ("my #1") and what is made of the words on its left and right. A
sentence that no rule reads whole is parted at "and", "but" and commas, and every part must be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from factbook.extract.keyed.clause_words import (
    ADVERBS,
    CLAUSE,
    DEFINED,
    FILLERS,
    INTERROGATIVE,
    LATER_WORDS,
    LEADING_WORDS,
    LINK,
    MORE_THAN_A_VALUE,
    NO_BEGINNING,
    NO_VALUE,
    OR,
    PICK,
    PRONOUNS,
    TRIALS,
    Refused,
    UnplacedOp,
    attribute_key,
    topic_in,
)
from factbook.extract.keyed.wording import (
    FAVORITE,
    NUMBER_WORD,
    POLITE,
    RANK,
    asks_something,
    mood_problem,
    rank_value,
    unquoted,
)
from factbook.language.calendar import MONTH
from factbook.language.coordination import QUOTES, spoken_items
from factbook.language.nouns import is_plural
from factbook.language.sentences import Span, sentences
from factbook.model.keys import (
    canonical_list_key,
    names_something,
    normalize_fact_key,
    split_rank_key,
)

__all__ = [
    "ClauseReader",
]

_JOINTS: Final = 60  # places where one sentence may be two; more is no sentence


# --- reading --------------------------------------------------------------------------------------

_JOINT: Final = re.compile(
    r"\s*[;,]\s*(?:and|but|then|while|plus)\s+(?:then\s+)?"
    r"|\s+(?:and|but|then|while|plus)\s+(?:then\s+)?|\s*;\s*|\s*,\s+|[.!]\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """A clause taken apart by a rule."""

    clause: Span
    head: re.Match[str]
    hinge: re.Match[str] | None
    left: Span  # between head and hinge; what follows the head where there is no hinge
    right: Span  # after the hinge


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One way to say something."""

    head: re.Pattern[str]
    hinge: re.Pattern[str] | None
    build: Callable[
        [ClauseReader, _Parts], list[UnplacedOp] | None
    ]  # None: these words are another rule's


class ClauseReader:
    """Reads the sentences of one message."""

    def __init__(self, message: str, known: frozenset[str]) -> None:
        self.message = message
        self.known = known  # the owner's lists, by their keys
        self.masked = unquoted(message)
        self._refusal = ""
        self._trials = 0

    def read(self) -> list[UnplacedOp]:
        """Return what the message asks for; raises Refused for a sentence that sets nothing."""
        # Lines below "My favorite films are:" are its list and no sentences of their own.
        introduced = re.match(r"[^\n]*:[ \t]*\n", self.masked)
        whole = [Span(start=0, end=len(self.message))]
        unplaced_ops: list[UnplacedOp] = []
        for sentence in whole if introduced else sentences(self.masked):
            unplaced_ops += self._sentence(sentence)
        return unplaced_ops

    def _sentence(self, sentence: Span) -> list[UnplacedOp]:
        text = sentence.of(self.message)
        if FILLERS.fullmatch(text.strip()):
            return []
        if asks_something(text):
            raise Refused(f"{_shown(text)} is a question, which sets nothing")
        end = sentence.end
        while end > sentence.start and self.message[end - 1] in "!?.。 \n":
            if re.search(r"\b\w\.\w\.$", self.message[:end]):
                break  # "U.S."
            end -= 1
        self._refusal = ""
        clauses = self._clauses(Span(start=sentence.start, end=end), {}, first=True)
        if self._trials > TRIALS:
            raise Refused(f"{_shown(text)} has too many parts; say it in shorter sentences")
        if clauses is None:
            if INTERROGATIVE.match(text):
                raise Refused(f"{_shown(text)} is a question, which sets nothing")
            raise Refused(self._refusal or self._why_not(text))
        return clauses

    def _clauses(
        self, span: Span, seen: dict[int, list[UnplacedOp] | None], *, first: bool
    ) -> list[UnplacedOp] | None:
        """Read a span as one clause, or as one and what follows a joint."""
        if span.start in seen:
            return seen[span.start]
        unplaced_ops = self._clause(span, first=first)
        if unplaced_ops is None:
            for joint in list(_JOINT.finditer(self.masked, span.start, span.end))[:_JOINTS]:
                if self._trials > TRIALS:
                    break
                left = self._clause(Span(start=span.start, end=joint.start()), first=first)
                if left is None:
                    continue
                right = self._clauses(Span(start=joint.end(), end=span.end), seen, first=False)
                if right is not None:
                    unplaced_ops = [*left, *right]
                    break
        seen[span.start] = unplaced_ops
        return unplaced_ops

    def _clause(self, span: Span, *, first: bool) -> list[UnplacedOp] | None:
        """Read one clause by the first rule that fits, without what leads in ("please") or with."""
        starts = [self._past(POLITE, span.start, span.end)]
        led = self._past(LEADING_WORDS, starts[0], span.end)
        if starts[0] < led < span.end:
            starts.insert(0, self._past(POLITE, led, span.end))
        for start in starts:
            for rule in _RULES if first else (*_RULES, *_CONTINUED):
                unplaced_ops = self._by(rule, Span(start=start, end=span.end))
                if unplaced_ops is not None:
                    return unplaced_ops
        return None

    def _past(self, pattern: re.Pattern[str], start: int, end: int) -> int:
        match = pattern.match(self.message, start, end)
        return match.end() if match else start

    def _by(self, rule: _Rule, clause: Span) -> list[UnplacedOp] | None:
        head = rule.head.match(self.masked, clause.start, clause.end)
        if head is None:
            return None
        rest = Span(start=head.end(), end=clause.end)
        if rule.hinge is None:
            return self._built(
                rule, _Parts(clause=clause, head=head, hinge=None, left=rest, right=rest)
            )
        for hinge in self._hinges(rule.hinge, rest):
            left = Span(start=rest.start, end=hinge.start())
            right = Span(start=hinge.end(), end=rest.end)
            parts = _Parts(clause=clause, head=head, hinge=hinge, left=left, right=right)
            unplaced_ops = self._built(rule, parts)
            if unplaced_ops is not None:
                return unplaced_ops
        return None

    def _built(self, rule: _Rule, parts: _Parts) -> list[UnplacedOp] | None:
        self._trials += 1
        if self._trials > TRIALS:
            return None
        try:
            return rule.build(self, parts)
        except Refused as refused:
            self._refusal = self._refusal or str(refused)
            return None

    def _hinges(self, pattern: re.Pattern[str], span: Span) -> Iterator[re.Match[str]]:
        """Yield every place of a hinge, overlapping ones too: "Make The Third Man my #1"."""
        at = span.start
        for _ in range(_JOINTS):
            hinge = pattern.search(self.masked, at, span.end)
            if hinge is None:
                return
            yield hinge
            at = hinge.start() + 1

    def _why_not(self, text: str) -> str:
        mood = mood_problem(unquoted(text))
        if mood:
            return f"{_shown(text)} sets nothing: {mood}"
        return (
            f"{_shown(text)} is none of the phrasings that the rules know; say it like 'BTC is my"
            " #1 favorite crypto' or 'my timezone is Europe/Athens'"
        )

    # --- parts of a clause ----------------------------------------------------------------------

    def value(self, span: Span, *, leads: bool = False) -> Span:
        """Return a value without what surrounds it; raises Refused where it says more.

        `leads` says that it stands at the beginning of a clause, where a capital says nothing.
        """
        text = self.message
        start, end = span.start, span.end
        while start < end and (text[start].isspace() or text[start] in ",:"):
            start += 1
        while end > start and (text[end - 1].isspace() or text[end - 1] in ",:;"):
            end -= 1
        later = LATER_WORDS.search(text[start:end])
        if later:
            end = start + later.start()
        bare = text[start:end]
        if not names_something(bare):
            raise Refused("there is no value")
        closing = QUOTES.get(bare[:1])
        inner = bare[1:-1]
        if closing == bare[-1] and inner.strip() and closing not in inner:
            return Span(start=start + 1, end=end - 1)
        if " ".join(bare.lower().split()) in PRONOUNS:
            raise Refused(f"{bare!r} does not say what is meant; name it")
        seen = self.masked[start:end]
        mood = mood_problem(seen) if NO_VALUE.match(seen) else ""
        if mood:
            raise Refused(f"{_shown(bare)} is no value: {mood}; put it in quotes where it is one")
        if NO_VALUE.match(seen) or (leads and NO_BEGINNING.match(seen)):
            raise Refused(f"{_shown(bare)} is no plain value; put it in quotes where it is one")
        several = next(islice(sentences(seen), 1, None), None) is not None
        if several or CLAUSE.search(seen) or MORE_THAN_A_VALUE.search(f" {seen} "):
            raise Refused(
                f"{_shown(bare)} says more than a value; put it in quotes where it is one"
            )
        article = re.match(r"an?\s+(?=\S)", bare)
        return Span(start=start + (article.end() if article else 0), end=end)

    def one(self, span: Span, *, leads: bool = False) -> Span:
        """Return a single value; raises Refused for what looks like a list."""
        value = self.value(span, leads=leads)
        seen = self.masked[value.start : value.end]
        if re.search(r",\s|;", seen) and len(spoken_items(value.of(self.message))) > 1:
            raise Refused(
                f"{_shown(value.of(self.message))} looks like several values for one place; put it"
                " in quotes where it is one"
            )
        if OR.search(seen):
            raise Refused(f"{_shown(value.of(self.message))} leaves open which one")
        return value

    def several(self, span: Span, *, leads: bool = False) -> list[tuple[Span, int | None]]:
        """Return the values of a spoken list, each with the number before it; at least one."""
        text = span.of(self.message)
        if OR.search(self.masked, span.start, span.end):
            raise Refused(f"{_shown(text)} leaves open which one")
        later = LATER_WORDS.search(text)
        values: list[tuple[Span, int | None]] = []
        for item in spoken_items(text[: later.start()] if later else text):
            place = Span(start=span.start + item.start, end=span.start + item.end)
            # A quote around an item is its margin already, and what is in it is not looked into.
            quoted = self.masked[place.start : place.end].strip("_") == ""
            value = place if quoted else self.value(place, leads=leads and not values)
            values.append((value, item.rank))
        if not values:
            raise Refused("there is no value")
        return values

    def topic(self, span: Span) -> tuple[bool, str | None]:
        """Return (fits, topic) of the words after a rank or "favorite"."""
        return topic_in(span.of(self.message), self.known)

    def list_named(self, span: Span) -> tuple[bool, str | None]:
        """Return (is a list, topic) of the words after "to my": they must say that it is one."""
        fits, topic = self.topic(span)
        said = re.search(rf"(?i)(?<!\w){FAVORITE}|\b(?:list|ranking)\b", span.of(self.message))
        return fits and (bool(said) or self.has(topic)), topic

    def has(self, topic: str | None) -> bool:
        """Say whether the owner has a list of that topic."""
        return topic is not None and canonical_list_key(topic) in self.known


# --- what is made of the parts --------------------------------------------------------------------

_SURE_RANK: Final = re.compile(r"(?i)#|(?:number|no|nr|rank|position|place|spot|slot|numero)\b")


def _place(
    reader: ClauseReader, parts: _Parts, words: str, value: Span, topic: str | None, around: Span
) -> list[UnplacedOp]:
    """Return the setting of a rank, where the words say that it is one of a list of favorites.

    "Rex is my second dog" is none: a bare ordinal needs "favorite", "pick" or a list that is there.
    """
    said = re.search(rf"(?i)(?<!\w)(?:{FAVORITE}|{PICK})(?!\w)", around.of(reader.message))
    if not (_SURE_RANK.match(words) or said or reader.has(topic)):
        raise Refused(
            f"{_shown(parts.clause.of(reader.message))} does not say that it is about favorites;"
            f" say 'my {words} favorite ...'"
        )
    return [
        UnplacedOp(
            op="ranked_list_set",
            clause=parts.clause,
            topic=topic,
            rank=rank_value(words),
            values=(value,),
        )
    ]


def _top(parts: _Parts, value: Span, topic: str | None) -> list[UnplacedOp]:
    return [
        UnplacedOp(op="ranked_list_set", clause=parts.clause, topic=topic, rank=1, values=(value,))
    ]


def _all(
    parts: _Parts, values: list[tuple[Span, int | None]], topic: str | None
) -> list[UnplacedOp]:
    """Return an appending of values, or their setting where numbers stand before them."""
    if all(rank is not None for _, rank in values):
        return [
            UnplacedOp(
                op="ranked_list_set", clause=parts.clause, topic=topic, rank=rank, values=(value,)
            )
            for value, rank in values
        ]
    spans = tuple(value for value, _ in values)
    return [UnplacedOp(op="ranked_list_append", clause=parts.clause, topic=topic, values=spans)]


def _speaks_of_many(topic: str | None, *, words: str) -> bool:
    """Say whether "favorite ..." is about several things."""
    if re.search(r"(?i)(?:favou?rites|favs|faves)(?!\w)", words):
        return True
    return topic is not None and is_plural(topic.lower().split()[-1])


def _value_is_mine(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "BTC is my #1 favorite crypto" and "Dune and Alien are my favorite movies"."""
    assert parts.hinge is not None
    fits, topic = reader.topic(parts.right)
    if not fits:
        return None
    rank = parts.hinge["rank"]
    if rank:
        value = reader.one(parts.left, leads=True)
        return _place(reader, parts, rank, value, topic, _tail(parts))
    if parts.hinge["are"]:
        values = reader.several(parts.left, leads=True)
        if len(values) > 1 or _speaks_of_many(topic, words=_tail(parts).of(reader.message)):
            return _all(parts, values, topic)
    return _top(parts, reader.one(parts.left, leads=True), topic)


def _value_in_mine(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "BTC is #1 on my crypto list"."""
    assert parts.hinge is not None
    is_list, topic = reader.list_named(parts.right)
    if not is_list:
        return None
    value = reader.one(parts.left, leads=True)
    rank = rank_value(parts.hinge["rank"])
    return [
        UnplacedOp(
            op="ranked_list_set", clause=parts.clause, topic=topic, rank=rank, values=(value,)
        )
    ]


def _mine_is_value(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "My #1 favorite crypto is BTC" and "My favorite countries are Spain and Greece"."""
    assert parts.hinge is not None
    fits, topic = reader.topic(parts.left)
    if not fits:
        return None
    rank = parts.head["rank"]
    around = Span(start=parts.head.start(), end=parts.left.end)
    if rank:
        return _place(reader, parts, rank, reader.one(parts.right), topic, around)
    words = around.of(reader.message)
    if parts.hinge["are"] or _speaks_of_many(topic, words=words):
        values = reader.several(parts.right)
        if len(values) == 1 and not _speaks_of_many(topic, words=words):
            return _top(parts, values[0][0], topic)
        return _all(parts, values, topic)
    return _top(parts, reader.one(parts.right), topic)


def _top_n(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "My top 3 movies are Dune, Alien and Heat"."""
    fits, topic = reader.topic(parts.left)
    if not fits:
        return None
    values = reader.several(parts.right)
    wanted = rank_value(parts.head["count"])
    if len(values) != wanted:
        raise Refused(
            f"{_shown(parts.clause.of(reader.message))} speaks of {wanted} and names {len(values)}"
        )
    numbered = [(value, rank or place) for place, (value, rank) in enumerate(values, 1)]
    return _all(parts, list(numbered), topic)


def _make(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Make BTC my #1", "Put BTC at #1 in my favorite cryptos", "Make BTC my favorite"."""
    assert parts.hinge is not None
    fits, topic = reader.topic(parts.right)
    if not fits:
        return None
    if parts.hinge["rank"]:
        value = reader.one(parts.left)
        rank = rank_value(parts.hinge["rank"])
        unplaced_op = UnplacedOp(
            op="ranked_list_set", clause=parts.clause, topic=topic, rank=rank, values=(value,)
        )
        return [unplaced_op]
    if _speaks_of_many(topic, words=_tail(parts).of(reader.message)):
        return _all(parts, reader.several(parts.left), topic)
    return _top(parts, reader.one(parts.left), topic)


def _change(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Change my favorite color to green" and "Set my #2 movie to Alien"."""
    fits, topic = reader.topic(parts.left)
    if not fits:
        return None
    value = reader.one(parts.right)
    rank = rank_value(parts.head["rank"]) if parts.head["rank"] else 1
    return [
        UnplacedOp(
            op="ranked_list_set", clause=parts.clause, topic=topic, rank=rank, values=(value,)
        )
    ]


def _add(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Add Dune and Emma to my favorite books"."""
    is_list, topic = reader.list_named(parts.right)
    left = parts.left.of(reader.message)
    if not is_list or re.search(rf"(?i)\s(?:at|as|to|in)\s+(?:(?:my|the)\s+)?{RANK}\s*$", left):
        return None
    values = [(value, None) for value, _ in reader.several(parts.left)]
    return _all(parts, list(values), topic)


def _one_of_mine(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Dune is one of my favorite books"."""
    fits, topic = reader.topic(parts.right)
    return _all(parts, reader.several(parts.left, leads=True), topic) if fits else None


def _mine_include(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "One of my favorite books is Dune" and "My favorite books include Dune"."""
    fits, topic = reader.topic(parts.left)
    return _all(parts, reader.several(parts.right), topic) if fits else None


def _insert(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Insert Emma at #2 in my favorite books"."""
    assert parts.hinge is not None
    fits, topic = reader.topic(parts.right)
    if not fits:
        return None
    return [
        UnplacedOp(
            op="ranked_list_insert",
            clause=parts.clause,
            topic=topic,
            rank=rank_value(parts.hinge["rank"]),
            values=(reader.one(parts.left),),
        )
    ]


_BARE_RANK: Final = re.compile(rf"(?:(?:my|the)\s+)?({RANK})", re.IGNORECASE)
_WITHIN: Final = re.compile(r"\s+(?:in|on|from|of|within)\s+my\s+", re.IGNORECASE)


def _move(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Move BTC to #3 in my favorite cryptos" and "Move #5 to #2"."""
    assert parts.hinge is not None
    fits, topic = reader.topic(parts.right)
    if not fits:
        return None
    left = parts.left
    within = _WITHIN.search(reader.masked, left.start, left.end)
    if within:
        is_list, inner = reader.list_named(Span(start=within.end(), end=left.end))
        if not is_list or (topic and inner):
            return None
        topic, left = inner or topic, Span(start=left.start, end=within.start())
    bare = _BARE_RANK.match(reader.masked, left.start, left.end)
    to = rank_value(parts.hinge["rank"])
    if bare:
        inside, named = reader.topic(Span(start=bare.end(), end=left.end))
        if inside and not (named and topic):
            return [
                UnplacedOp(
                    op="ranked_list_move",
                    clause=parts.clause,
                    topic=topic or named,
                    rank=to,
                    from_rank=rank_value(bare[1]),
                )
            ]
    value = reader.one(left)
    return [
        UnplacedOp(
            op="ranked_list_move", clause=parts.clause, topic=topic, rank=to, values=(value,)
        )
    ]


def _remove(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Remove BTC from my favorite cryptos" and "Remove #3 from my favorite movies"."""
    is_list, topic = reader.list_named(parts.right)
    if not is_list:
        return None
    bare = _BARE_RANK.fullmatch(reader.masked, parts.left.start, parts.left.end)
    if bare:
        rank = rank_value(bare[1])
        return [UnplacedOp(op="ranked_list_remove", clause=parts.clause, topic=topic, rank=rank)]
    return [
        UnplacedOp(op="ranked_list_remove", clause=parts.clause, topic=topic, values=(value,))
        for value, _ in reader.several(parts.left)
    ]


def _remove_rank(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Remove my #3 favorite movie"."""
    fits, topic = reader.topic(parts.left)
    if not fits:
        return None
    rank = rank_value(parts.head["rank"])
    return [UnplacedOp(op="ranked_list_remove", clause=parts.clause, topic=topic, rank=rank)]


def _clear(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Clear my favorite movies" and "Forget my timezone"."""
    words = parts.left.of(reader.message)
    key = attribute_key(LATER_WORDS.sub("", words))
    if key is not None:
        return [UnplacedOp(op="clear", clause=parts.clause, key=key)]
    is_list, topic = reader.list_named(parts.left)
    return (
        [UnplacedOp(op="ranked_list_clear", clause=parts.clause, topic=topic)] if is_list else None
    )


def _attribute(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "My timezone is Europe/Athens"."""
    key = attribute_key(parts.left.of(reader.message))
    if key is None:
        return None
    return [UnplacedOp(op="set", clause=parts.clause, key=key, values=(reader.value(parts.right),))]


def _about_me(key: str) -> Callable[[ClauseReader, _Parts], list[UnplacedOp] | None]:
    """Return what reads "I live in ..." and its like."""

    def build(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
        value = reader.value(parts.right)
        return [UnplacedOp(op="set", clause=parts.clause, key=key, values=(value,))]

    return build


_BY_DATE: Final = re.compile(rf"(?i)(?:the\s+)?(?:\d|(?:{MONTH})\b)")


def _born_in(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "I was born in Athens" and "I was born in May 1990"."""
    value = reader.value(parts.right)
    dated = _BY_DATE.match(value.of(reader.message))
    key = "user.birthday" if dated else "user.birthplace"
    return [UnplacedOp(op="set", clause=parts.clause, key=key, values=(value,))]


def _key_to(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Set user.editor.theme to dark" and "user.timezone = Europe/Athens"."""
    if parts.hinge is None or parts.left.start != parts.left.end:
        return None
    written = parts.head["key"]
    own = written.lower().startswith("user.")
    if not own and not (parts.head["verb"] and parts.hinge["to"]):
        return None  # "node.js is my favorite library" sets no key
    key = normalize_fact_key(written)[0]
    ranked = split_rank_key(key)
    value = reader.value(parts.right)
    if ranked is None:
        return [UnplacedOp(op="set", clause=parts.clause, key=key, values=(value,))]
    return [
        UnplacedOp(
            op="ranked_list_set",
            clause=parts.clause,
            topic=ranked[0],
            rank=ranked[1],
            values=(value,),
        )
    ]


def _key_away(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Forget user.timezone" and "Clear user.favorites.crypto"."""
    if parts.left.of(reader.message).strip():
        return None
    key = normalize_fact_key(parts.head["key"])[0]
    ranked = split_rank_key(key)
    if ranked is not None:
        return [
            UnplacedOp(
                op="ranked_list_remove", clause=parts.clause, topic=ranked[0], rank=ranked[1]
            )
        ]
    if key.startswith("user.favorites."):
        return [UnplacedOp(op="ranked_list_clear", clause=parts.clause, topic=key)]
    return [UnplacedOp(op="clear", clause=parts.clause, key=key)]


def _tail(parts: _Parts) -> Span:
    """Return the words from the rank or "favorite" on, for what stands on the right of a hinge."""
    assert parts.hinge is not None
    return Span(start=parts.hinge.start(), end=parts.right.end)


def _rule(
    head: str, hinge: str | None, build: Callable[[ClauseReader, _Parts], list[UnplacedOp] | None]
) -> _Rule:
    return _Rule(
        head=re.compile(head, re.IGNORECASE),
        hinge=None if hinge is None else re.compile(hinge, re.IGNORECASE),
        build=build,
    )


_KEY: Final = r"(?P<key>[^\W\d_][\w-]*(?:\.[\w#%&+-]+)+)"
_MY: Final = r"(?:my|our)\s+"
_AWAY: Final = r"(?:clear|empty|erase|reset|delete|wipe|forget|remove|drop|unset)"

_RULES: Final = (
    _rule(
        rf"(?P<verb>(?:set|store|save|change|update|put)\s+)?{_KEY}",
        r"(?P<to>\s+to\s+|\s*=\s*)|\s+(?:is|as)\s+|\s*:\s+",
        _key_to,
    ),
    _rule(rf"{_AWAY}\s+{_KEY}", None, _key_away),
    _rule(
        r"(?:insert|add|slot|squeeze|slip)\s+",
        rf"\s+(?:at|as|in|into|to|on)\s+(?:(?:my|the)\s+)?(?P<rank>{RANK})",
        _insert,
    ),
    _rule(
        r"(?:add|append|include|put|save)\s+",
        r"\s+(?:to|on|onto|in|into|under|among)\s+(?:my|the|our)\s+",
        _add,
    ),
    _rule(
        r"(?:move|shift|bump|promote|demote|push)\s+",
        rf"\s+(?:up\s+|down\s+)?(?:to|into|at)\s+(?:(?:my|the)\s+)?(?P<rank>{RANK})",
        _move,
    ),
    _rule(
        r"(?:remove|delete|drop|take|strike|erase|kick|cross)\s+",
        r"\s+(?:from|off(?:\s+of)?|out\s+of)\s+(?:my|the|our)\s+",
        _remove,
    ),
    _rule(rf"{_AWAY}\s+{_MY}(?P<rank>{RANK})", None, _remove_rank),
    _rule(
        rf"{_AWAY}(?:\s+out)?\s+(?:all\s+(?:of\s+)?|everything\s+(?:in|on|from)\s+)?(?:the\s+|{_MY})",
        None,
        _clear,
    ),
    _rule(
        rf"(?:set|change|update|switch|make)\s+{_MY}{DEFINED}",
        r"\s+(?:to|as|be|into)\s+|\s*[=:]\s*",
        _change,
    ),
    _rule(rf"(?:set|change|update|switch)\s+{_MY}", r"\s+(?:to|as|into)\s+|\s*=\s*", _attribute),
    _rule(
        r"(?:make|set|put|rank|place|keep|mark|name|choose|pick|want|call)\s+",
        rf"\s+(?:as\s+|at\s+|to\s+(?:be\s+)?|in\s+|on\s+|be\s+)?(?:(?:my|our|the)\s+)?{DEFINED}",
        _make,
    ),
    _rule(
        "",
        rf"\s+(?:is|are)\s+{ADVERBS}(?:one|two|some|among\s+the\s+ones|both|all)?\s*(?:of|among)"
        rf"\s+{_MY}{FAVORITE}",
        _one_of_mine,
    ),
    _rule(rf"(?:another\s+)?(?:one|two|some)\s+of\s+{_MY}{FAVORITE}", LINK, _mine_include),
    _rule(rf"{_MY}{FAVORITE}", r"\s+(?:also\s+)?includes?\s+", _mine_include),
    _rule(
        rf"{_MY}top\s+(?P<count>\d{{1,4}}|{NUMBER_WORD})(?!\w)",
        LINK,
        _top_n,
    ),
    _rule(
        "",
        rf"(?:\s+is|\s+(?P<are>are)|['’]s)\s+{ADVERBS}{_MY}{DEFINED}",
        _value_is_mine,
    ),
    _rule(
        "",
        rf"(?:\s+(?:is|are)|['’]s)\s+{ADVERBS}(?:(?:at|in)\s+)?(?:the\s+)?(?P<rank>{RANK})"
        r"\s+(?:in|on|of|among|for)\s+(?:my|our)\s+",
        _value_in_mine,
    ),
    _rule(rf"(?:{_MY})?(?:{DEFINED})", LINK, _mine_is_value),
    _rule(_MY, LINK, _attribute),
    _rule(r"i(?:['’]m|\s+am)\s+called(?=\s)", r"\s+", _about_me("user.name")),
    _rule(r"call\s+me(?=\s)", r"\s+", _about_me("user.nickname")),
    _rule(r"i\s+(?:(?:currently|now)\s+)?live\s+in(?=\s)", r"\s+", _about_me("user.location")),
    _rule(r"i\s+was\s+born\s+on(?=\s)", r"\s+", _about_me("user.birthday")),
    _rule(r"i\s+was\s+born\s+in(?=\s)", r"\s+", _born_in),
    _rule(r"i\s+work\s+(?:at|for)(?=\s)", r"\s+", _about_me("user.employer")),
    _rule(r"i\s+work\s+as(?=\s)", r"\s+", _about_me("user.occupation")),
)
"""Every way to say something, the more special before the more general."""

_CONTINUED: Final = (
    _rule(
        "",
        rf"\s+(?:(?:as|at|is|is\s+at|in)\s+)?{ADVERBS}(?:my\s+)?(?P<rank>{RANK})",
        _make,
    ),
)
"""What may follow a clause: "... and ETH my #2"."""


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 80 else text[:79] + "…")
