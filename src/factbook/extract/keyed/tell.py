"""Read what a person tells by rules alone: the planner that is chosen by `--planner rules`.

A clause is a place ("my #1 favorite crypto", "my timezone") with values before it or behind it, and
a verb where something is ordered. A message is taken whole or not at all: one sentence that is none
of that, and nothing is done, because that sentence may take back another one. Whether it is meant
is for `grounded` to say. Every value is a span of the message. Questions are read by `ask`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.keyed.clarify import clarification
from factbook.extract.keyed.contracts import FactsOp, FactsOpsResponse, OpName, batch_problems
from factbook.extract.keyed.grounded import Heard, op_objection
from factbook.extract.keyed.named import said_of_me
from factbook.extract.keyed.places import Place, place_in
from factbook.extract.keyed.told import DOUBTS, NEGATIONS, SPEAKERS
from factbook.extract.keyed.wording import (
    ASIDE,
    FAVORITE,
    LATER,
    POLITE,
    RANK,
    asks_something,
    shown,
    unquoted,
    words_of,
)
from factbook.language.calendar import MONTH
from factbook.language.coordination import QUOTES, spoken_items
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading
from factbook.language.sentences import Span, sentences
from factbook.model.keys import canonical_list_key, names_something

__all__ = ["MESSAGE_CHARS", "ReadMessage", "parse_tell"]

MESSAGE_CHARS: Final = 4_000
"""The longest message that the rules read: nobody states a favorite in more."""

_TRIALS: Final = 600  # readings of clauses that one message is worth
_JOINTS: Final = 60  # places where one sentence may be two; more is no sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMessage:
    """What the rules made of a message."""

    ops: Sequence[FactsOp] = ()
    needs_clarification: Sequence[str] = ()  # what to ask; there are no operations then
    reason: str = ""  # why the message was not understood; there are no operations then

    @property
    def response(self) -> FactsOpsResponse:
        """The same in the shape in which a model answers."""
        return FactsOpsResponse(
            ops=list(self.ops),
            needs_clarification=list(self.needs_clarification),
            notes=[self.reason] if self.reason else [],
        )


def parse_tell(message: str, *, lists: Mapping[str, Mapping[int, str]]) -> ReadMessage:
    """Return the operations that a message asks for, or why there are none.

    `lists` are the owner's lists, `{"user.favorites.crypto": {1: "BTC"}}`: a message that names no
    topic means the only one, and is asked back where there are more.
    """
    if not message.strip():
        return ReadMessage(reason="the message is empty")
    if len(message) > MESSAGE_CHARS:
        return ReadMessage(
            reason=f"the message has {len(message)} characters; the rules read up to"
            f" {MESSAGE_CHARS}, so say it in fewer words"
        )
    known = list(dict.fromkeys(map(canonical_list_key, lists)))
    try:
        told = _Clauses(message, frozenset(known)).read()
        if not told:
            raise _Refused("there is nothing to set in the message")
        named = list(dict.fromkeys(canonical_list_key(t.topic) for t in told if t.topic))
        meant = named if named or len(known) != 1 else known
        if len(meant) != 1 and any(not t.key and t.topic is None for t in told):
            asked = clarification(dict.fromkeys([*named, *known]))
            return ReadMessage(needs_clarification=(asked,))
        ops = [_operation(t, meant[0] if meant else "") for t in told]
    except _Refused as refused:
        return ReadMessage(reason=str(refused))
    if len(ops) > policy.MAX_OPS:
        reason = f"the message asks for more than {policy.MAX_OPS} changes at once"
        return ReadMessage(reason=reason)
    heard = Heard(message)
    problems = (*batch_problems(ops).values(), *(op_objection(op, heard) for op in ops))
    reason = next(filter(None, problems), "")
    return ReadMessage(reason=reason) if reason else ReadMessage(ops=ops)


class _Refused(Exception):  # never leaves this module
    """Carries why words that are known say nothing that could be done."""


class _Told(NamedTuple):
    """One operation before its list is known."""

    op: OpName
    values: tuple[str, ...] = ()
    topic: str | None = None  # as it was said; None: none was named
    key: str = ""  # of a fact that is in no list; empty for a list
    rank: int | None = None
    from_rank: int | None = None


def _operation(told: _Told, only: str) -> FactsOp:
    for value in told.values:
        if len(value) > policy.VALUE_CHARS:
            raise _Refused(f"a value has {len(value)} characters; it may have {policy.VALUE_CHARS}")
    for rank in (told.rank, told.from_rank):
        if rank is not None and not 1 <= rank <= policy.MAX_RANK:
            raise _Refused(f"there is no rank {rank}; ranks are 1 to {policy.MAX_RANK}")
    many = told.op == "ranked_list_append"
    list_key = canonical_list_key(told.topic) if told.topic else only
    return FactsOp(
        op=told.op,
        fact_key=told.key or None,
        list_key=None if told.key else list_key,
        rank=told.rank,
        from_rank=told.from_rank,
        value=None if many or not told.values else told.values[0],
        values=list(told.values) if many else None,
        confidence=policy.TOLD,
    )


# --- clauses --------------------------------------------------------------------------------------

_JOINT: Final = re.compile(
    r"\s*[;,]?\s+(?:and|but|then|while|plus)\s+(?:then\s+)?|\s*;\s*|\s*,\s+|[.!]\s+", re.IGNORECASE
)
_LEAD: Final = re.compile(rf"(?:(?:{ASIDE}|{POLITE})[\s,:]*)+", re.IGNORECASE)
_FILLER: Final = re.compile(rf"(?:{ASIDE}[\s,.!]*)+", re.IGNORECASE)
_ADVERBS: Final = (
    r"(?:(?:actually|really|now|currently|still|definitely|also|honestly|officially|absolutely|truly"
    r"|clearly|obviously|by\s+far|easily|hands\s+down|just|already|again)\s+)*"
)
_SETTING: Final = words_of(
    "make set put rank place keep mark name choose pick want call change update switch store save"
)
_INSERTING: Final = words_of("add insert slot squeeze slip")
_ADDING: Final = _INSERTING | words_of("append include store save")
_MOVING: Final = words_of("move shift bump promote demote push")
_REMOVING: Final = words_of(
    "remove delete drop take strike kick cross clear empty erase reset wipe forget unset"
)
_VERB: Final = re.compile(
    rf"({'|'.join(_SETTING | _ADDING | _MOVING | _REMOVING)})(?:\s+out)?\s+", re.IGNORECASE
)
_HINGE: Final = re.compile(
    rf"(?P<be>(?:\s+(?:is|(?P<are>are)|(?:also\s+)?(?P<some>includes?))|['’]s)(?:\s*:\s*|\s+{_ADVERBS}))"
    r"(?P<at>(?:at|in)\s+)?|(?P<sign>\s*[:=]\s*)"
    r"|\s+(?:up\s+|down\s+)?(?P<to>to\s+be|to|as|be|into|at|on|onto|in|under|among|from|off(?:\s+of)?"
    r"|out\s+of)\s+"
    rf"|\s+(?=(?:my|our|the)\s|{RANK}|{FAVORITE})",
    re.IGNORECASE,
)
_WITHIN: Final = re.compile(r"\s+(?:in|on|from|of|within)\s+(?=my\s)", re.IGNORECASE)
_BY_DATE: Final = re.compile(rf"(?i)(?:the\s+)?(?:\d|(?:{MONTH})\b)")


_MORE: Final = re.compile(r"#\s?\d|[?？]")  # of no plain value
_PRONOUNS: Final = words_of(
    "it that this these those he she him her they them one ones so something anything everything"
    " nothing someone somebody nobody none both all mine yours what whatever here there"
)
_NO_VALUE: Final = (
    NEGATIONS
    | DOUBTS
    | words_of("my our your or either whatever what who why how where unknown undecided")
)


class _Parts(NamedTuple):
    """A clause taken apart."""

    verb: str  # in lower case; empty for a statement
    whole: Span  # behind the verb
    hinge: re.Match[str]

    @property
    def left(self) -> Span:
        """The words before the hinge."""
        return Span(start=self.whole.start, end=self.hinge.start())

    @property
    def right(self) -> Span:
        """The words behind it."""
        return Span(start=self.hinge.end(), end=self.whole.end)

    @property
    def to(self) -> str:
        """The preposition that the hinge is, or nothing."""
        return (self.hinge["to"] or "").lower()


_Way = Callable[[], list[_Told] | None]


class _Clauses:
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

    def read(self) -> list[_Told]:
        """Return what the message asks for; raises _Refused for a sentence that sets nothing."""
        # Lines below "My favorite films are:" are its list and no sentences of their own.
        introduced = re.match(r"[^\n]*:[ \t]*\n", self.masked)
        whole = [Span(start=0, end=len(self.message))]
        found = whole if introduced else sentences(self.masked)
        return [told for sentence in found for told in self._sentence(sentence)]

    def _sentence(self, sentence: Span) -> Sequence[_Told]:
        text = sentence.of(self.message)
        if _FILLER.fullmatch(text.strip()):
            return ()
        if asks_something(text):
            raise _Refused(f"{shown(text)} is a question, which sets nothing")
        end = sentence.end
        while end > sentence.start and self.message[end - 1] in "!?.。 \n":
            if re.search(r"\b\w\.\w\.$", self.message[:end]):
                break  # "U.S."
            end -= 1
        self._refusal = ""
        told = self._joined(Span(start=sentence.start, end=end), {}, first=True)
        if self._trials > _TRIALS:
            raise _Refused(f"{shown(text)} has too many parts; say it in shorter sentences")
        if told is None:
            raise _Refused(
                self._refusal
                or f"{shown(text)} is none of the phrasings that the rules know; say it like"
                " 'BTC is my #1 favorite crypto' or 'my timezone is Europe/Athens'"
            )
        return told

    def _joined(
        self, span: Span, seen: dict[int, list[_Told] | None], *, first: bool
    ) -> list[_Told] | None:
        """Read a span as one clause, or as one and what follows a joint."""
        if span.start in seen:
            return seen[span.start]
        told = self._clause(span, first=first)
        for joint in list(_JOINT.finditer(self.masked, span.start, span.end))[:_JOINTS]:
            if told is not None or self._trials > _TRIALS:
                break
            left = self._clause(Span(start=span.start, end=joint.start()), first=first)
            if left is not None:
                right = self._joined(Span(start=joint.end(), end=span.end), seen, first=False)
                told = None if right is None else [*left, *right]
        seen[span.start] = told
        return told

    def _clause(self, span: Span, *, first: bool) -> list[_Told] | None:
        """Read one clause without what leads in ("please"), or with it."""
        lead = _LEAD.match(self.masked, span.start, span.end)
        for start in dict.fromkeys([lead.end() if lead else span.start, span.start]):
            for way in self._ways(Span(start=start, end=span.end), first=first):
                self._trials += 1
                if self._trials > _TRIALS:
                    return None
                try:
                    told = way()
                except _Refused as refused:
                    self._refusal = self._refusal or str(refused)
                    continue
                if told:
                    return told
        return None

    def _ways(self, span: Span, *, first: bool) -> Iterator[_Way]:
        """Yield every way to take a clause apart: at its verb, and at each hinge."""
        mine = said_of_me(span.of(self.masked))
        if mine is not None:
            value = Span(start=span.start + mine[1], end=span.end)
            yield partial(self._key, Place(key=mine[0]), value)
        ordered = _VERB.match(self.masked, span.start, span.end)
        wholes = {ordered[1].lower(): Span(start=ordered.end(), end=span.end)} if ordered else {}
        for verb, whole in {**wholes, "": span}.items():  # "Clear and Present Danger" is no order
            if verb in _REMOVING:
                yield partial(_gone, self._place(whole))
            parts = [_Parts(verb, whole, hinge) for hinge in self._hinges(whole)]
            yield from (partial(self._behind, part) for part in parts)
            yield from (partial(self._ahead, part, first=first) for part in parts)

    def _hinges(self, span: Span) -> Iterator[re.Match[str]]:
        """Yield every place of a hinge, overlapping ones too: "Make The Third Man my #1"."""
        at = span.start
        for _ in range(_JOINTS):
            hinge = _HINGE.search(self.masked, at, span.end)
            if hinge is None:
                return
            yield hinge
            at = hinge.start() + 1

    def _place(self, span: Span) -> Place | None:
        return place_in(span.of(self.message), self.known)

    # --- the place and its values -----------------------------------------------------------------

    def _behind(self, parts: _Parts) -> list[_Told] | None:
        """Read values behind their place: "my favorite color is blue", "set my #1 to BTC"."""
        place, hinge = self._place(parts.left), parts.hinge
        linked = parts.to in ("to", "as", "be", "into") if parts.verb else hinge["be"]
        if place is None or not (linked or hinge["sign"]) or parts.verb in _MOVING | _REMOVING:
            return None
        if place.key:
            written = "." in parts.left.of(self.message) and not place.key.startswith("user.")
            return None if written and not parts.verb else self._key(place, parts.right)
        if not place.defined:
            return None
        if not parts.verb:
            self._check_favorite(place, parts)
        return self._put(place, parts.right, parts, append=bool(place.some or hinge["some"]))

    def _ahead(self, parts: _Parts, *, first: bool) -> list[_Told] | None:
        """Read values before their place: "BTC is my #1", "move BTC to the top"."""
        place, verb, to = self._place(parts.right), parts.verb, parts.to
        if place is None or place.key:
            return None
        if not verb:
            stated = parts.hinge["be"] and place.mine and place.defined
            if parts.hinge["some"] or (parts.hinge["at"] and not place.rank):
                return None
            if not stated and (first or not place.rank or to not in ("", "as", "at", "in")):
                return None
            if stated:
                self._check_favorite(place, parts)
            return self._put(place, parts.left, parts, append=place.some, leads=True)
        left, within = parts.left, _WITHIN.search(self.masked, parts.left.start, parts.left.end)
        inner = self._place(Span(start=within.end(), end=left.end)) if within else None
        if within and inner is not None and inner.listed and not (inner.topic and place.topic):
            left = Span(start=left.start, end=within.start())
            place = place._replace(topic=place.topic or inner.topic)
        if verb in _REMOVING:
            away = to.split()[:1] in (["from"], ["off"], ["out"]) and place.listed
            return self._removed(place, left) if away else None
        held = self._place(left)
        moves = held is not None and held.rank and (held.mine or held.topic is None)
        if place.rank and held is not None and moves and verb in _MOVING | _SETTING:
            topic = place.topic or held.topic
            return [_Told("ranked_list_move", (), topic, "", place.rank, held.rank)]
        if verb in _MOVING and (not place.rank or to not in ("to", "into", "at")):
            return None
        if not place.rank and (verb in _ADDING or (verb == "put" and to)):
            return self._put(place, left, parts, append=True) if to and place.listed else None
        return self._put(place, left, parts) if place.defined else None

    def _put(
        self, place: Place, said: Span, parts: _Parts, *, append: bool = False, leads: bool = False
    ) -> list[_Told]:
        """Return what puts values at a place.

        Without a rank, one value is the first and several are put at the end.
        """
        if place.rank is not None or not (
            append or place.many or place.count or parts.hinge["are"]
        ):
            value = self._one(said, leads=leads)
            op: OpName = "ranked_list_set"
            if parts.verb in _MOVING:
                op = "ranked_list_move"
            elif parts.verb in _INSERTING:
                op = "ranked_list_insert"
            return [_Told(op, (value,), place.topic, "", 1 if place.rank is None else place.rank)]
        values = self._several(said, leads=leads)
        if place.count and len(values) != place.count:
            clause = shown(parts.whole.of(self.message))
            raise _Refused(f"{clause} speaks of {place.count} and names {len(values)}")
        if place.count:
            values = [(value, rank or n) for n, (value, rank) in enumerate(values, 1)]
        elif len(values) == 1 and not (append or place.many):
            values = [(values[0][0], 1)]
        if all(rank is not None for _, rank in values):
            return [_Told("ranked_list_set", (v,), place.topic, "", rank) for v, rank in values]
        return [_Told("ranked_list_append", tuple(value for value, _ in values), place.topic)]

    def _removed(self, place: Place, said: Span) -> list[_Told]:
        gone = self._place(said)
        if gone is not None and gone.rank and gone.topic is None:
            return [_Told("ranked_list_remove", (), place.topic, "", gone.rank)]
        values = self._several(said)
        return [_Told("ranked_list_remove", (value,), place.topic) for value, _ in values]

    def _key(self, place: Place, said: Span) -> list[_Told]:
        value, key = self._value(said).of(self.message), place.key
        if key == "user.birthplace" and _BY_DATE.match(value):
            key = "user.birthday"
        return [_Told("set", (value,), key=key)]

    def _check_favorite(self, place: Place, parts: _Parts) -> None:
        """Refuse "Rex is my second dog" where there is no list of dogs."""
        if place.rank is not None and not place.listed:
            clause = shown(parts.whole.of(self.message))
            raise _Refused(
                f"{clause} does not say that it is about favorites; say 'my #{place.rank}"
                " favorite ...'"
            )

    # --- values -----------------------------------------------------------------------------------

    def _value(self, span: Span, *, leads: bool = False) -> Span:
        """Return a value without what surrounds it; raises _Refused where it says more.

        `leads` says that it stands at the beginning of a clause, where a capital says nothing.
        """
        text = self.message
        start, end = span.start, span.end
        while start < end and (text[start].isspace() or text[start] in ",:"):
            start += 1
        while end > start and (text[end - 1].isspace() or text[end - 1] in ",:;"):
            end -= 1
        later = LATER.search(text[start:end])
        end = start + later.start() if later else end
        bare = text[start:end]
        if not names_something(bare):
            raise _Refused("there is no value")
        closing = QUOTES.get(bare[:1])
        if closing == bare[-1] and bare[1:-1].strip() and closing not in bare[1:-1]:
            return Span(start=start + 1, end=end - 1)
        if bare.lower() in _PRONOUNS:
            raise _Refused(f"{bare!r} does not say what is meant; name it")
        if self._says_more(start, end, leads=leads):
            raise _Refused(
                f"{shown(bare)} says more than a value; put it in quotes where it is one"
            )
        article = re.match(r"an?\s+(?=\S)", bare)
        return Span(start=start + (article.end() if article else 0), end=end)

    def _says_more(self, start: int, end: int, *, leads: bool) -> bool:
        """Say whether words say something of their own: "blue because it calms me"."""
        seen, tokens = self.masked[start:end], self.reading.tokens
        if _MORE.search(seen) or next(islice(sentences(seen), 1, None), None) is not None:
            return True
        inside = [i for i, t in enumerate(tokens) if start <= t.begin < end]
        for i in inside:
            token, word = tokens[i], tokens[i].text.lower()
            opens = leads and token.begin == start
            if not (token.text.islower() or token.text == "I" or opens) or "_" in word:
                continue  # a capital makes it a name: a book is called "Never Let Me Go"
            under = token.relation in ("mark", "cop", "expl") or token.pos in ("SCONJ", "AUX")
            told = token.relation == "nsubj" and token.head in inside
            speaks = word in SPEAKERS and i + 1 in inside
            if under or word in _NO_VALUE or speaks or (told and tokens[token.head].text.islower()):
                return True
        return False

    def _one(self, span: Span, *, leads: bool = False) -> str:
        """Return a single value; raises _Refused for what looks like a list."""
        self._check_or(span)
        value = self._value(span, leads=leads)
        text, seen = value.of(self.message), self.masked[value.start : value.end]
        if re.search(r",\s|;", seen) and len(spoken_items(text)) > 1:
            raise _Refused(
                f"{shown(text)} looks like several values for one place; put it in quotes where it"
                " is one"
            )
        return text

    def _several(self, span: Span, *, leads: bool = False) -> list[tuple[str, int | None]]:
        """Return the values of a spoken list, each with the number before it; at least one."""
        self._check_or(span)
        text = span.of(self.message)
        later = LATER.search(text)
        values: list[tuple[str, int | None]] = []
        for item in spoken_items(text[: later.start()] if later else text):
            place = Span(start=span.start + item.start, end=span.start + item.end)
            # A quote around an item is its margin already, and what is in it is not looked into.
            quoted = self.masked[place.start : place.end].strip("_") == ""
            value = place if quoted else self._value(place, leads=leads and not values)
            values.append((value.of(self.message), item.rank))
        if not values:
            raise _Refused("there is no value")
        return values

    def _check_or(self, span: Span) -> None:
        if re.search(r"(?i)\s+or\s+", self.masked[span.start : span.end]):
            raise _Refused(f"{shown(span.of(self.message))} leaves open which one")


def _gone(place: Place | None) -> list[_Told] | None:
    """Read "Remove my #3 movie", "Clear my favorite movies", "Forget my timezone"."""
    if place is None or place.count:
        return None
    if place.key:
        return [_Told("clear", key=place.key)]
    if place.rank:
        gone = _Told("ranked_list_remove", (), place.topic, "", place.rank)
        return [gone] if place.mine else None  # "the first paragraph"
    return [_Told("ranked_list_clear", (), place.topic)]
