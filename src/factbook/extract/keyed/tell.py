"""Read what a person tells by rules alone: the planner that is chosen by `--planner rules`.

A clause is a place ("my timezone") with values before it or behind it, and a verb where something
is ordered. A message is taken whole or not at all: a sentence that is none of that may take back
another one. `grounded` says whether it is meant. Every value is a span of the message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple, cast

from factbook import policy
from factbook.extract.base import word_set
from factbook.extract.keyed.clarify import clarification
from factbook.extract.keyed.contracts import FactsOp, OpName, batch_problems, op_values
from factbook.extract.keyed.grounded import op_objection
from factbook.extract.keyed.mentions import Heard
from factbook.extract.keyed.named import said_of_me
from factbook.extract.keyed.places import Place, place_in
from factbook.extract.keyed.ranked import PLACING
from factbook.extract.keyed.removal import NO_ORDER, REMOVING
from factbook.extract.keyed.told import DOUBTS, NEGATIONS
from factbook.extract.keyed.wording import (
    ASIDE,
    FAVORITE,
    LATER,
    POLITE,
    RANK,
    shown,
    stems_of,
    unquoted,
)
from factbook.language.calendar import MONTH
from factbook.language.coordination import QUOTES, spoken_items
from factbook.language.questions import ends_asking
from factbook.language.reader.read import read
from factbook.language.sentences import Span, sentences
from factbook.language.words import stem
from factbook.model.keys import canonical_list_key, names_something

MESSAGE_CHARS: Final = 4_000
"""The longest message that the rules read: nobody states a favorite in more."""

_TRIALS: Final = 600  # readings of clauses that one message is worth
_JOINTS: Final = 60  # places where one sentence may be two; more is no sentence


class ReadMessage(NamedTuple):
    """What the rules made of a message."""

    ops: Sequence[FactsOp] = ()
    needs_clarification: Sequence[str] = ()  # what to ask; there are no operations then
    reason: str = ""  # why the message was not understood; there are no operations then


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
        ops = _Clauses(message, known).read()
    except _Refused as refused:
        return ReadMessage(reason=str(refused))
    if not ops:
        return ReadMessage(reason="there is nothing to set in the message")
    named = list(dict.fromkeys(op.list_key for op in ops if op.list_key))
    open_ = [op for op in ops if not op.list_key and not op.fact_key]
    meant = named if named or len(known) != 1 else known
    if open_ and len(meant) != 1:
        return ReadMessage(needs_clarification=(clarification(dict.fromkeys([*named, *known])),))
    ops = [op.model_copy(update={"list_key": meant[0]}) if op in open_ else op for op in ops]
    if len(ops) > policy.MAX_OPS:
        reason = f"the message asks for more than {policy.MAX_OPS} changes at once"
        return ReadMessage(reason=reason)
    heard = Heard(message, [value for op in ops for value in op_values(op)])
    problems = (*batch_problems(ops).values(), *(op_objection(op, heard) for op in ops))
    reason = next(filter(None, problems), "")
    return ReadMessage(reason=reason) if reason else ReadMessage(ops=ops)


class _Refused(Exception):  # never leaves this module
    """Carries why words that are known say nothing that could be done."""


def _op(name: OpName, topic: str | None = None, **fields: Any) -> FactsOp:
    """Return an operation, on the list of a topic or on one that is not known yet."""
    for value in (fields.get("value"), *(fields.get("values") or ())):
        if value is not None and len(value) > policy.VALUE_CHARS:
            raise _Refused(f"a value has {len(value)} characters; it may have {policy.VALUE_CHARS}")
    for rank in (fields.get("rank"), fields.get("from_rank")):
        if rank is not None and not 1 <= rank <= policy.MAX_RANK:
            raise _Refused(f"there is no rank {rank}; ranks are 1 to {policy.MAX_RANK}")
    list_key = canonical_list_key(topic) if topic else None
    return FactsOp(op=name, list_key=list_key, confidence=policy.TOLD, **fields)


_JOINT: Final = re.compile(
    r"\s*[;,]?\s+(?:and|but|then|while|plus)\s+(?:then\s+)?|\s*;\s*|\s*,\s+|[.!]\s+", re.IGNORECASE
)
_LEAD: Final = re.compile(rf"(?:(?:{ASIDE}|{POLITE})[\s,:]*)+", re.IGNORECASE)
_REQUEST: Final = re.compile(rf"(?:{ASIDE}[\s,:]*)*{POLITE}", re.IGNORECASE)
_FILLER: Final = re.compile(rf"\s*(?:{ASIDE}[\s,.!]*)+", re.IGNORECASE)
_END: Final = re.compile(r"(?:(?<!\b\w\.\w)[!?.。\s])+$")  # but for the dot of "U.S."
_ADVERBS: Final = (
    r"(?:(?:actually|really|now|currently|still|definitely|also|honestly|officially|absolutely|truly"
    r"|clearly|obviously|by\s+far|easily|hands\s+down|just|already|again)\s+)*"
)
_INSERTING: Final = stems_of("add insert slot squeeze slip")
_ADDING: Final = _INSERTING | stems_of("append include store save")
_MOVING: Final = stems_of("move shift bump promote demote push")
_VERB: Final = re.compile(r"([^\W_]+)(?:\s+out)?\s+")
_HINGE: Final = re.compile(
    r"(?P<be>(?:\s+(?:is|(?P<are>are)|(?:also\s+)?(?P<some>includes?))|['’]s)"
    rf"(?:\s*:\s*|\s+{_ADVERBS}))(?P<at>(?:at|in)\s+)?|(?P<sign>\s*[:=]\s*)"
    r"|\s+(?:up\s+|down\s+)?(?P<to>to\s+be|to|as|be|into|at|on|onto|in|under|among|from"
    r"|off(?:\s+of)?|out\s+of)\s+"
    rf"|\s+(?=(?:my|our|the)\s|{RANK}|{FAVORITE})",
    re.IGNORECASE,
)
_WITHIN: Final = re.compile(r"\s+(?:in|on|from|of|within)\s+(?=my\s)", re.IGNORECASE)
_BY_DATE: Final = re.compile(rf"(?i)(?:the\s+)?(?:\d|(?:{MONTH})\b)")
_NO_PLAIN: Final = re.compile(r"#\s?\d|[?？]")
_SPEAKERS: Final = word_set("i we you he she they")
_PRONOUNS: Final = word_set(
    "it that this these those he she him her they them one ones so something anything everything"
    " nothing someone somebody nobody none both all mine yours what whatever here there"
)
_NO_VALUE: Final = (
    NEGATIONS
    | DOUBTS
    | word_set("my our your or either whatever what who why how where unknown undecided")
)


class _Parts(NamedTuple):
    """A clause taken apart at a hinge."""

    verb: str  # its stem; empty for a statement
    hinge: re.Match[str]
    to: str  # the preposition that the hinge is, or nothing
    left: Span
    right: Span


_Way = Callable[[], list[FactsOp] | None]


class _Clauses:
    def __init__(self, message: str, known: Sequence[str]) -> None:
        self.message = message
        self.known = known  # the owner's lists, by their keys
        self.masked = unquoted(message)
        self._refusal = ""
        self._trials = 0

    def read(self) -> list[FactsOp]:
        """Return what the message asks for; raises _Refused for a sentence that sets nothing."""
        # Lines below "My favorite films are:" are its list and no sentences of their own.
        introduced = re.match(r"[^\n]*:[ \t]*\n", self.masked)
        found = [Span(0, len(self.message))] if introduced else sentences(self.masked)
        return [op for sentence in found for op in self._sentence(sentence)]

    def _sentence(self, sentence: Span) -> list[FactsOp]:
        text, end = sentence.of(self.message), _END.search(sentence.of(self.masked))
        if _FILLER.fullmatch(text):
            return []
        if ends_asking(text.strip()) and not _REQUEST.match(text):
            raise _Refused(f"{shown(text)} is a question, which sets nothing")
        self._refusal = ""
        stop = sentence.start + end.start() if end else sentence.end
        ops = self._joined(Span(sentence.start, stop), {}, first=True)
        if self._trials > _TRIALS:
            raise _Refused(f"{shown(text)} has too many parts; say it in shorter sentences")
        if ops is None:
            raise _Refused(
                self._refusal
                or f"{shown(text)} is none of the phrasings that the rules know; say it like"
                " 'BTC is my #1 favorite crypto' or 'my timezone is Europe/Athens'"
            )
        return ops

    def _joined(
        self, span: Span, seen: dict[int, list[FactsOp] | None], *, first: bool
    ) -> list[FactsOp] | None:
        """Read a span as one clause, or as one and what follows a joint."""
        if span.start not in seen:
            ops = self._clause(span, first=first)
            for joint in list(_JOINT.finditer(self.masked, *span))[:_JOINTS]:
                if ops is not None or self._trials > _TRIALS:
                    break
                left = self._clause(Span(span.start, joint.start()), first=first)
                if left is not None:
                    right = self._joined(Span(joint.end(), span.end), seen, first=False)
                    ops = None if right is None else [*left, *right]
            seen[span.start] = ops
        return seen[span.start]

    def _clause(self, span: Span, *, first: bool) -> list[FactsOp] | None:
        """Read one clause without what leads in ("please"), or with it."""
        lead = _LEAD.match(self.masked, *span)
        for start in dict.fromkeys([lead.end() if lead else span.start, span.start]):
            for way in self._ways(Span(start, span.end), first=first):
                self._trials += 1
                if self._trials > _TRIALS:
                    return None
                try:
                    ops = way()
                except _Refused as refused:
                    self._refusal = self._refusal or str(refused)
                    continue
                if ops:
                    return ops
        return None

    def _ways(self, span: Span, *, first: bool) -> Iterator[_Way]:
        """Yield every way to take a clause apart: at its verb, and at each hinge."""
        mine = said_of_me(span.of(self.masked))
        if mine is not None:
            yield partial(self._key, mine[0], Span(span.start + mine[1], span.end))
        wholes: dict[str, Span] = {}
        ordered = _VERB.match(self.masked, *span)
        form = ordered[1].lower() if ordered else ""
        if ordered and stem(form) in PLACING | REMOVING and not NO_ORDER.search(form):
            wholes[stem(form)] = Span(ordered.end(), span.end)
        for verb, whole in {**wholes, "": span}.items():  # "Clear and Present Danger" is no order
            if verb in REMOVING:
                yield partial(_gone, self._place(whole))
            parts = [
                _Parts(
                    verb,
                    hinge,
                    (hinge["to"] or "").lower(),
                    Span(whole.start, hinge.start()),
                    Span(hinge.end(), whole.end),
                )
                for hinge in self._hinges(whole)
            ]
            yield from (partial(self._behind, part) for part in parts)
            yield from (partial(self._ahead, part, first=first) for part in parts)

    def _hinges(self, span: Span) -> Iterator[re.Match[str]]:
        """Yield every place of a hinge, overlapping ones too: "Make The Third Man my #1"."""
        at, found = span.start, 0
        while (hinge := _HINGE.search(self.masked, at, span.end)) and found < _JOINTS:
            yield hinge
            at, found = hinge.start() + 1, found + 1

    def _place(self, span: Span) -> Place | None:
        return place_in(span.of(self.message), self.known)

    def _behind(self, parts: _Parts) -> list[FactsOp] | None:
        """Read values behind their place: "my favorite color is blue", "set my #1 to BTC"."""
        place, hinge = self._place(parts.left), parts.hinge
        linked = parts.to in ("to", "as", "be", "into") if parts.verb else hinge["be"]
        if place is None or not (linked or hinge["sign"]) or parts.verb in _MOVING | REMOVING:
            return None
        if place.key:
            own = place.mine or place.key.startswith("user.") or parts.verb
            return self._key(place.key, parts.right) if own else None
        if not place.defined:
            return None
        self._check_favorite(place, parts)
        return self._put(place, parts.right, parts, append=bool(place.some or hinge["some"]))

    def _ahead(self, parts: _Parts, *, first: bool) -> list[FactsOp] | None:
        """Read values before their place: "BTC is my #1", "move BTC to the top"."""
        place, verb, to = self._place(parts.right), parts.verb, parts.to
        if place is None or place.key:
            return None
        if not verb:
            stated = parts.hinge["be"] and place.mine and place.defined
            goes_on = not first and place.rank and to in ("", "as", "at", "in")
            if not (stated or goes_on) or (parts.hinge["at"] and not place.rank):
                return None
            if stated:
                self._check_favorite(place, parts)
            return self._put(place, parts.left, parts, append=place.some, leads=True)
        left, within = parts.left, _WITHIN.search(self.masked, *parts.left)
        inner = self._place(Span(within.end(), left.end)) if within else None
        if within and inner is not None and inner.listed and not (inner.topic and place.topic):
            left = Span(left.start, within.start())
            place = place._replace(topic=place.topic or inner.topic)
        held = self._place(left)
        ranked = held.rank if held is not None and (held.mine or held.topic is None) else None
        if verb in REMOVING:
            if to.split()[:1] not in (["from"], ["off"], ["out"]) or not place.listed:
                return None
            if ranked:
                return [_op("ranked_list_remove", place.topic, rank=ranked)]
            gone = self._values(left)
            return [_op("ranked_list_remove", place.topic, value=value) for value, _ in gone]
        if place.rank and held is not None and ranked:
            topic = place.topic or held.topic
            return [_op("ranked_list_move", topic, rank=place.rank, from_rank=ranked)]
        if verb in _MOVING and not place.rank:
            return None
        if not place.rank and (verb in _ADDING or (verb == "put" and to)):
            return self._put(place, left, parts, append=True) if to and place.listed else None
        return self._put(place, left, parts) if place.defined else None

    def _put(
        self, place: Place, said: Span, parts: _Parts, *, append: bool = False, leads: bool = False
    ) -> list[FactsOp]:
        """Return what puts values at a place: without a rank, one first and several at the end."""
        several = append or place.many or place.top or parts.hinge["are"]
        one = place.rank is not None or not several
        values = self._values(said, one=one, leads=leads)
        if one:
            moves, inserts = parts.verb in _MOVING, parts.verb in _INSERTING
            step = "move" if moves else "insert" if inserts else "set"
            rank = 1 if place.rank is None else place.rank
            name = cast("OpName", f"ranked_list_{step}")
            return [_op(name, place.topic, rank=rank, value=values[0][0])]
        if place.top and len(values) != place.top:
            clause = shown(self.message[parts.left.start : parts.right.end])
            raise _Refused(f"{clause} speaks of {place.top} and names {len(values)}")
        if place.top:
            values = [(value, rank or n) for n, (value, rank) in enumerate(values, 1)]
        elif len(values) == 1 and not (append or place.many):
            values = [(values[0][0], 1)]
        if all(rank is not None for _, rank in values):
            return [_op("ranked_list_set", place.topic, rank=rank, value=v) for v, rank in values]
        return [_op("ranked_list_append", place.topic, values=[value for value, _ in values])]

    def _key(self, key: str, said: Span) -> list[FactsOp]:
        value = self._value(said)
        dated = key == "user.birthplace" and _BY_DATE.match(value)
        return [_op("set", fact_key="user.birthday" if dated else key, value=value)]

    def _check_favorite(self, place: Place, parts: _Parts) -> None:
        """Refuse "Rex is my second dog" where there is no list of dogs."""
        if place.rank is not None and not place.listed and not parts.verb:
            clause = shown(self.message[parts.left.start : parts.right.end])
            raise _Refused(
                f"{clause} does not say that it is about favorites; say 'my #{place.rank}"
                " favorite ...'"
            )

    def _values(
        self, said: Span, *, one: bool = False, leads: bool = False
    ) -> list[tuple[str, int | None]]:
        """Return one value, or those of a spoken list, each with the number before it."""
        text, seen = said.of(self.message), said.of(self.masked)
        if re.search(r"(?i)\s+or\s+", seen):
            raise _Refused(f"{shown(text)} leaves open which one")
        items = spoken_items(LATER.sub("", text))
        if one:
            value = self._value(said, leads=leads)
            if len(items) > 1 and re.search(r",\s|;", seen):
                raise _Refused(
                    f"{shown(text)} looks like several values for one place; put it in quotes where"
                    " it is one"
                )
            return [(value, None)]
        values: list[tuple[str, int | None]] = []
        for item in items:
            span = Span(said.start + item.start, said.start + item.end)
            # A quote around an item is its margin already, and what is in it is not looked into.
            quoted = span.of(self.masked).strip("_") == ""
            plain = (
                span.of(self.message) if quoted else self._value(span, leads=leads and not values)
            )
            values.append((plain, item.rank))
        if not values:
            raise _Refused("there is no value")
        return values

    def _value(self, span: Span, *, leads: bool = False) -> str:
        """Return a value without its margins, or refuse it; where it `leads` a capital is none."""
        text = span.of(self.message)
        start = span.start + len(text) - len(text.lstrip(" \t\n,:"))
        bare = LATER.sub("", text.strip(" \t\n,:;"))
        if not names_something(bare):
            raise _Refused("there is no value")
        closing, inner = QUOTES.get(bare[:1]), bare[1:-1]
        if closing == bare[-1] and inner.strip() and closing not in inner:
            return inner
        if bare.lower() in _PRONOUNS:
            raise _Refused(f"{bare!r} does not say what is meant; name it")
        if self._says_more(start, start + len(bare), leads=leads):
            raise _Refused(
                f"{shown(bare)} says more than a value; put it in quotes where it is one"
            )
        return re.sub(r"^an?\s+(?=\S)", "", bare)

    def _says_more(self, start: int, end: int, *, leads: bool) -> bool:
        """Say whether words say something of their own: "blue because it calms me"."""
        seen, tokens = self.masked[start:end], read(self.masked).tokens
        if _NO_PLAIN.search(seen) or next(islice(sentences(seen), 1, None), None) is not None:
            return True
        inside = [i for i, t in enumerate(tokens) if start <= t.begin < end]
        for i in inside:
            token, word = tokens[i], tokens[i].text.lower()
            opens = leads and token.begin == start
            if not (token.text.islower() or token.text == "I" or opens) or "_" in word:
                continue  # a capital makes it a name: a book is called "Never Let Me Go"
            under = token.relation in ("mark", "cop", "expl") or token.pos in ("SCONJ", "AUX")
            told = token.relation == "nsubj" and token.head in inside
            speaks = word in _SPEAKERS and i + 1 in inside
            if under or word in _NO_VALUE or speaks or (told and tokens[token.head].text.islower()):
                return True
        return False


def _gone(place: Place | None) -> list[FactsOp] | None:
    """Read "Remove my #3 movie", "Clear my favorite movies", "Forget my timezone"."""
    if place is None or place.top or (place.rank and not place.mine):  # "the first paragraph"
        return None
    if place.key:
        return [_op("clear", fact_key=place.key)]
    if place.rank:
        return [_op("ranked_list_remove", place.topic, rank=place.rank)]
    return [_op("ranked_list_clear", place.topic)]
