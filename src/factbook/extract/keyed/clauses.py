"""Read one sentence that sets something: the rules of `phrases`, one for each way to say it.

A rule is a head ("make"), a hinge ("my #1") and what is made of the words on its left and right. A
sentence that no rule reads whole is parted at "and", "but" and commas, and every part must be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Final

from factbook.extract.keyed.clause_words import (
    ADVERBS,
    DEFINED,
    FILLERS,
    LATER_WORDS,
    LEADING_WORDS,
    LINK,
    MORE,
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
from factbook.extract.keyed.contracts import OpName
from factbook.extract.keyed.told import NEGATIONS, SPEAKERS
from factbook.extract.keyed.wording import (
    FAVORITE,
    NUMBER_WORD,
    POLITE,
    RANK,
    asks_something,
    rank_value,
    unquoted,
)
from factbook.language.calendar import MONTH
from factbook.language.coordination import QUOTES, spoken_items
from factbook.language.nouns import is_plural
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading
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
    # None: these words are another rule's.
    build: Callable[[ClauseReader, _Parts], list[UnplacedOp] | None]


class ClauseReader:
    """Reads the sentences of one message."""

    def __init__(self, message: str, known: frozenset[str]) -> None:
        self.message = message
        self.known = known  # the owner's lists, by their keys
        self.masked = unquoted(message)
        self._refusal = ""
        self._trials = 0

    @cached_property
    def reading(self) -> Reading:
        """What the language reader makes of the message, without what stands in quotes."""
        return read(self.masked)

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
        if NO_VALUE.match(seen) or (leads and NO_BEGINNING.match(seen)):
            raise Refused(f"{_shown(bare)} is no plain value; put it in quotes where it is one")
        if MORE.search(seen) or self._says_more(start, end):
            raise Refused(
                f"{_shown(bare)} says more than a value; put it in quotes where it is one"
            )
        article = re.match(r"an?\s+(?=\S)", bare)
        return Span(start=start + (article.end() if article else 0), end=end)

    def _says_more(self, start: int, end: int) -> bool:
        """Say whether words say something of their own: "blue because it calms me"."""
        tokens = self.reading.tokens
        inside = {
            i
            for i, t in enumerate(tokens)
            if start <= t.begin < end and self.masked[t.begin] != "_"
        }
        for i in inside:
            token = tokens[i]
            plain = token.text.islower() or token.text == "I"
            under = token.relation in ("mark", "cop", "expl") or token.text == "because"
            if plain and (under or token.text in NEGATIONS):
                return True
            told = token.relation == "nsubj" and token.head in inside
            speaks = token.text.lower() in SPEAKERS and i + 1 in inside
            if speaks or (told and tokens[token.head].text.islower()):
                return True
        return next(islice(sentences(self.masked[start:end]), 1, None), None) is not None

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

_Build = Callable[[ClauseReader, _Parts], list[UnplacedOp] | None]


def _speaks_of_many(topic: str | None, words: str) -> bool:
    """Say whether "favorite ..." is about several things."""
    if re.search(r"(?i)(?:favou?rites|favs|faves)(?!\w)", words):
        return True
    return topic is not None and is_plural(topic.lower().split()[-1])


def _group(parts: _Parts, name: str) -> str:
    """Return what a rule names in its head or its hinge, or "" where it names no such thing."""
    for match in (parts.hinge, parts.head):
        if match is not None and match.groupdict().get(name):
            return str(match[name])
    return ""


_SURE_RANK: Final = re.compile(r"(?i)#|(?:number|no|nr|rank|position|place|spot|slot|numero)\b")


def _put(
    values: str,
    *,
    op: OpName = "ranked_list_set",
    listed: bool = False,
    stated: bool = False,
) -> _Build:
    """Return what reads a clause with a place on one side and values on the other.

    `values` says on which, "left" or "right" of the hinge; `listed` that the other side must name a
    list, `stated` that "my second dog" is no place unless there is a list of dogs. Without a rank,
    one value is the first and several are put at the end.
    """

    def build(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
        assert parts.hinge is not None
        said, where = parts.left, parts.right
        around = Span(start=parts.hinge.start(), end=parts.right.end)
        if values == "right":
            said, where = where, said
            around = Span(start=parts.head.start(), end=parts.left.end)
        fits, topic = reader.list_named(where) if listed else reader.topic(where)
        if not fits:
            return None
        leads = said.start == parts.clause.start
        rank, count = _group(parts, "rank"), _group(parts, "count")
        many = _speaks_of_many(topic, around.of(reader.message)) or op == "ranked_list_append"
        favorite = re.search(rf"(?i)(?<!\w)(?:{FAVORITE}|{PICK})(?!\w)", around.of(reader.message))
        if stated and rank and not (_SURE_RANK.match(rank) or favorite or reader.has(topic)):
            clause = _shown(parts.clause.of(reader.message))
            raise Refused(
                f"{clause} does not say that it is about favorites; say 'my {rank} favorite ...'"
            )
        if count:
            return _counted(reader, parts, reader.several(said), topic)
        if rank or not (many or _group(parts, "are")) or _group(parts, "to"):
            value = reader.one(said, leads=leads)
            at = rank_value(rank) if rank else 1
            return [UnplacedOp(op=op, clause=parts.clause, topic=topic, rank=at, values=(value,))]
        spans = reader.several(said, leads=leads)
        if len(spans) == 1 and not many:
            return _all(parts, [(spans[0][0], 1)], topic)
        return _all(parts, spans, topic)

    return build


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


def _counted(
    reader: ClauseReader,
    parts: _Parts,
    values: list[tuple[Span, int | None]],
    topic: str | None,
) -> list[UnplacedOp]:
    wanted = rank_value(_group(parts, "count"))
    if len(values) != wanted:
        raise Refused(
            f"{_shown(parts.clause.of(reader.message))} speaks of {wanted} and names {len(values)}"
        )
    return _all(parts, [(value, rank or n) for n, (value, rank) in enumerate(values, 1)], topic)


_BARE_RANK: Final = re.compile(rf"(?:(?:my|the)\s+)?({RANK})", re.IGNORECASE)
_WITHIN: Final = re.compile(r"\s+(?:in|on|from|of|within)\s+my\s+", re.IGNORECASE)


def _move(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Move BTC to #3 in my favorite cryptos" and "Move #5 to #2"."""
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
    move = UnplacedOp(
        op="ranked_list_move",
        clause=parts.clause,
        topic=topic,
        rank=rank_value(_group(parts, "rank")),
    )
    bare = _BARE_RANK.match(reader.masked, left.start, left.end)
    if bare:
        inside, named = reader.topic(Span(start=bare.end(), end=left.end))
        if inside and not (named and topic):
            return [replace(move, topic=topic or named, from_rank=rank_value(bare[1]))]
    return [replace(move, values=(reader.one(left),))]


def _remove(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Remove BTC from my favorite cryptos" and "Remove #3 from my favorite movies"."""
    is_list, topic = reader.list_named(parts.right)
    if not is_list:
        return None
    gone = UnplacedOp(op="ranked_list_remove", clause=parts.clause, topic=topic)
    bare = _BARE_RANK.fullmatch(reader.masked, parts.left.start, parts.left.end)
    if bare:
        return [replace(gone, rank=rank_value(bare[1]))]
    return [replace(gone, values=(value,)) for value, _ in reader.several(parts.left)]


def _away(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
    """Read "Remove my #3 movie", "Clear my favorite movies", "Forget my timezone", "... user.x"."""
    gone = UnplacedOp(op="ranked_list_remove", clause=parts.clause)
    written = _group(parts, "key")
    if written:
        key, ranked = normalize_fact_key(written)[0], split_rank_key(written)
        if parts.left.of(reader.message).strip():
            return None
        if ranked is not None:
            return [replace(gone, topic=ranked[0], rank=ranked[1])]
        if key.startswith("user.favorites."):
            return [replace(gone, op="ranked_list_clear", topic=key)]
        return [replace(gone, op="clear", key=key)]
    rank = _group(parts, "rank")
    own = attribute_key(LATER_WORDS.sub("", parts.left.of(reader.message)))
    if own is not None and not rank:
        return [replace(gone, op="clear", key=own)]
    fits, topic = reader.topic(parts.left) if rank else reader.list_named(parts.left)
    if not fits:
        return None
    if rank:
        return [replace(gone, topic=topic, rank=rank_value(rank))]
    return [replace(gone, op="ranked_list_clear", topic=topic)]


_BY_DATE: Final = re.compile(rf"(?i)(?:the\s+)?(?:\d|(?:{MONTH})\b)")


def _set(key: str = "") -> _Build:
    """Return what reads "My timezone is ...", and with a key "I live in ..." and its like."""

    def build(reader: ClauseReader, parts: _Parts) -> list[UnplacedOp] | None:
        written = _group(parts, "key")
        own = written.lower().startswith("user.")
        if written and (parts.left.start != parts.left.end or not (own or _group(parts, "verb"))):
            return None  # "node.js is my favorite library" sets no key
        meant = key or (
            normalize_fact_key(written)[0]
            if written
            else attribute_key(parts.left.of(reader.message))
        )
        if meant is None or (key and parts.left.start != parts.left.end):
            return None
        value = reader.value(parts.right)
        if meant == "user.birthplace" and _BY_DATE.match(value.of(reader.message)):
            meant = "user.birthday"
        ranked = split_rank_key(meant)
        told = UnplacedOp(op="set", clause=parts.clause, key=meant, values=(value,))
        if ranked is None:
            return [told]
        return [replace(told, op="ranked_list_set", key="", topic=ranked[0], rank=ranked[1])]

    return build


def _rule(head: str, hinge: str | None, build: _Build) -> _Rule:
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
        rf"(?:(?P<verb>set|store|save|change|update|put)\s+)?{_KEY}",
        r"\s+to\s+|\s*=\s*|\s+(?:is|as)\s+|\s*:\s+",
        _set(),
    ),
    _rule(rf"{_AWAY}\s+{_KEY}", None, _away),
    _rule(
        r"(?:insert|add|slot|squeeze|slip)\s+",
        rf"\s+(?:at|as|in|into|to|on)\s+(?:(?:my|the)\s+)?(?P<rank>{RANK})",
        _put("left", op="ranked_list_insert"),
    ),
    _rule(
        r"(?:add|append|include|put|save)\s+",
        r"\s+(?:to|on|onto|in|into|under|among)\s+(?:my|the|our)\s+",
        _put("left", op="ranked_list_append", listed=True),
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
    _rule(rf"{_AWAY}\s+{_MY}(?P<rank>{RANK})", None, _away),
    _rule(
        rf"{_AWAY}(?:\s+out)?\s+(?:all\s+(?:of\s+)?|everything\s+(?:in|on|from)\s+)?(?:the\s+|{_MY})",
        None,
        _away,
    ),
    _rule(
        rf"(?:set|change|update|switch|make)\s+{_MY}{DEFINED}",
        r"(?P<to>\s+(?:to|as|be|into)\s+|\s*[=:]\s*)",
        _put("right"),
    ),
    _rule(rf"(?:set|change|update|switch)\s+{_MY}", r"\s+(?:to|as|into)\s+|\s*=\s*", _set()),
    _rule(
        r"(?:make|set|put|rank|place|keep|mark|name|choose|pick|want|call)\s+",
        rf"\s+(?:as\s+|at\s+|to\s+(?:be\s+)?|in\s+|on\s+|be\s+)?(?:(?:my|our|the)\s+)?{DEFINED}",
        _put("left"),
    ),
    _rule(
        "",
        rf"\s+(?:is|are)\s+{ADVERBS}(?:one|two|some|among\s+the\s+ones|both|all)?\s*(?:of|among)"
        rf"\s+{_MY}{FAVORITE}",
        _put("left", op="ranked_list_append"),
    ),
    _rule(
        rf"(?:another\s+)?(?:one|two|some)\s+of\s+{_MY}{FAVORITE}",
        LINK,
        _put("right", op="ranked_list_append"),
    ),
    _rule(
        rf"{_MY}{FAVORITE}",
        r"\s+(?:also\s+)?includes?\s+",
        _put("right", op="ranked_list_append"),
    ),
    _rule(rf"{_MY}top\s+(?P<count>\d{{1,4}}|{NUMBER_WORD})(?!\w)", LINK, _put("right")),
    _rule(
        "", rf"(?:\s+is|\s+(?P<are>are)|['’]s)\s+{ADVERBS}{_MY}{DEFINED}", _put("left", stated=True)
    ),
    _rule(
        "",
        rf"(?:\s+(?:is|are)|['’]s)\s+{ADVERBS}(?:(?:at|in)\s+)?(?:the\s+)?(?P<rank>{RANK})"
        r"\s+(?:in|on|of|among|for)\s+(?:my|our)\s+",
        _put("left", listed=True),
    ),
    _rule(rf"(?:{_MY})?(?:{DEFINED})", LINK, _put("right", stated=True)),
    _rule(_MY, LINK, _set()),
    _rule(r"i(?:['’]m|\s+am)\s+called(?=\s)", r"\s+", _set("user.name")),
    _rule(r"call\s+me(?=\s)", r"\s+", _set("user.nickname")),
    _rule(r"i\s+(?:(?:currently|now)\s+)?live\s+in(?=\s)", r"\s+", _set("user.location")),
    _rule(r"i\s+was\s+born\s+on(?=\s)", r"\s+", _set("user.birthday")),
    _rule(r"i\s+was\s+born\s+in(?=\s)", r"\s+", _set("user.birthplace")),
    _rule(r"i\s+work\s+(?:at|for)(?=\s)", r"\s+", _set("user.employer")),
    _rule(r"i\s+work\s+as(?=\s)", r"\s+", _set("user.occupation")),
)
"""Every way to say something, the more special before the more general."""

_CONTINUED: Final = (
    _rule(
        "",
        rf"\s+(?:(?:as|at|is|is\s+at|in)\s+)?{ADVERBS}(?:my\s+)?(?P<rank>{RANK})",
        _put("left"),
    ),
)
"""What may follow a clause: "... and ETH my #2"."""


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 80 else text[:79] + "…")
