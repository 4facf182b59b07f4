"""Read what a statement says about a person as slots with values: home = turin, not home = lisbon.

"My home is in Turin", "I moved to Turin" and "I no longer live in Lisbon, I live in Turin now" say
the same of one slot in words that share little; "I live in Lisbon" says another value of it. A
table of patterns knows the slots that people talk about themselves with, and the general forms
"my X is Y", "my X is called Y", "Y is my favourite X".

Knows: the words of one text. Does not know: other texts, similarity, time. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from factbook.language.calendar import MONTH_NAMES, WEEKDAYS
from factbook.language.verbs import first_person

__all__ = ["Frame", "FrameRule", "Framed", "as_said", "frames_of", "verdict_of"]


class Frame(NamedTuple):
    """One slot and its value; `holds` is False where the text says that it has ended."""

    slot: str  # "home", "my:editor", "my:favourite drink"; "" where only the value is told
    value: str  # lower case, without article
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRule:
    """One form in which people fill a slot."""

    slot: str
    pattern: str  # with the group `v`; tried on a clause
    single: bool = True  # one value at a time


class Framed(NamedTuple):
    """How two statements stand by their slots."""

    relation: str  # same, supersedes, contradiction
    rule: str
    detail: str


_V: Final = r"(?P<v>[^,;]+?)"
_I: Final = r"(?:i|we)"


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


RULES: Final[tuple[FrameRule, ...]] = (
    FrameRule(slot="home", pattern=rf"{_I} (?:live|reside|dwell) in {_V}"),
    FrameRule(slot="home", pattern=rf"{_I} (?:am|'m|are) (?:living|residing|based) in {_V}"),
    FrameRule(slot="home", pattern=rf"(?:my|our) (?:home|place|flat|apartment) is in {_V}"),
    FrameRule(slot="home", pattern=rf"{_I} (?:have )?(?:moved|relocated) (?:from .+? )?to {_V}"),
    FrameRule(slot="employer", pattern=rf"{_I} (?:work|am working|'m working) (?:for|at) {_V}"),
    FrameRule(slot="employer", pattern=rf"{_I} (?:have )?joined {_V}"),
    FrameRule(
        slot="employer",
        pattern=rf"{_I} (?:have )?started (?:working |a new job |a job )?(?:for|at) {_V}",
    ),
    FrameRule(slot="employer", pattern=rf"my (?:new |current )?(?:employer|company) is {_V}"),
    FrameRule(slot="my:car", pattern=rf"{_I} (?:now )?drive {_V}"),
    FrameRule(slot="my:bank", pattern=rf"{_I} bank with {_V}"),
    FrameRule(slot="commute", pattern=rf"{_I} commute (?:to work )?(?:by|on|via) {_V}"),
    FrameRule(slot="commute", pattern=rf"{_I} (?:go|get|travel) to work (?:by|on|via) {_V}"),
    FrameRule(slot="my:birthday", pattern=rf"my birthday is (?:on )?{_V}"),
    FrameRule(slot="my:birthday", pattern=rf"i was born on {_V}"),
    FrameRule(slot="reading", pattern=rf"{_I} (?:am|'m|are) (?:currently )?reading {_V}"),
    FrameRule(slot="reading", pattern=rf"the book (?:that )?i(?: am|'m) reading is {_V}"),
    FrameRule(slot="learning", single=False, pattern=rf"{_I} (?:am|'m|are) learning {_V}"),
    FrameRule(
        slot="learning",
        single=False,
        pattern=rf"{_I} (?:take|am taking|'m taking) (?!a |an |the |my ){_V} (?:lessons|classes)",
    ),
    FrameRule(
        slot="diet",
        pattern=rf"{_I} (?:am|'m|have been|became) (?:a )?(?P<v>vegetarian|vegan|pescatarian|halal"
        r"|kosher|lactose intolerant|gluten[- ]free)",
        single=False,
    ),
    FrameRule(slot="allergy", single=False, pattern=rf"{_I} (?:am|'m) allergic to {_V}"),
    FrameRule(slot="allergy", single=False, pattern=rf"{_I} have (?:an|a) {_V} allergy"),
    FrameRule(slot="allergy", single=False, pattern=rf"{_I} have an allergy to {_V}"),
    FrameRule(slot="instrument", single=False, pattern=rf"{_I} play the {_V}"),
    FrameRule(slot="instrument", single=False, pattern=rf"my instrument is {_V}"),
    FrameRule(
        slot="my:project",
        pattern=rf"{_I} (?:am|'m|are) (?:currently )?working on (?:a |the )?project"
        rf" (?:called|named) {_V}",
    ),
)
"""The slots that people talk about themselves with, each in the forms that were met."""

# "my X is Y": only for heads that have one value of the kind that Y is.
_SINGLE_HEADS: Final = _set("""
    address bank birthday boss browser car city coach company country database dentist diet doctor
    editor employer framework hometown husband keyboard landlord language laptop major manager name
    nickname partner phone profession project school shell surname team therapist timezone title
    town trainer university village wife
    """)
_KIN: Final = _set("""
    boss boyfriend dad dentist doctor father fiance fiancee girlfriend husband landlord manager mom
    mother mum partner supervisor therapist wife
    """)
"""Of these a person has one, so another name is another value; of a sister or a dog there may be
more than one."""
_CALLED: Final = (
    rf"(?:my|our) (?P<k>[a-z]+(?: [a-z]+)?)(?:'s name)? (?:is|was) (?:called|named) {_V}",
    rf"(?:my|our) (?P<k>[a-z]+(?: [a-z]+)?)'s name is {_V}",
    rf"the name of (?:my|our) (?P<k>[a-z]+(?: [a-z]+)?) is {_V}",
)
_MY_IS: Final = rf"(?:my|our) (?P<k>[a-z]+(?: [a-z]+){{0,2}}?) is {_V}"
_IS_MY: Final = (
    rf"{_V} is (?:my|our)"
    r" (?P<k>(?:favou?rite|current|preferred) [a-z]+(?: [a-z]+)?|[a-z]+ day|[a-z]+)"
)
_AS_MY: Final = rf"{_I} (?:use|have|chose|run) {_V} (?:as|for) (?:my|our) (?P<k>[a-z]+)"
_SWITCHED: Final = (
    rf"{_I} (?:have )?(?:switched|changed|migrated|went) from (?P<old>[^,;]+?) to {_V}"
    r"(?: (?:as|for) (?:my|our) (?P<k>[a-z]+))?"
)
_REPLACED: Final = (
    rf"{_I} (?:have )?replaced (?P<old>[^,;]+?) (?:with|by) {_V}(?: (?:as|for) (?:my|our)"
    r" (?P<k>[a-z]+))?"
)
# What says that a value is over; the slot is not told, or that of the verb.
_ENDED: Final[tuple[tuple[str, str], ...]] = (
    (
        "home",
        rf"{_I} (?:no longer|do not|don't) (?:live|reside) in {_V}(?: any ?more| any longer)?",
    ),
    ("home", rf"{_I} (?:have )?moved (?:away|out) (?:from|of) {_V}"),
    (
        "employer",
        rf"{_I} (?:no longer|do not|don't) work (?:for|at) {_V}(?: any ?more| any longer)?",
    ),
    ("my:car", rf"{_I} no longer drive {_V}"),
    ("learning", rf"{_I} (?:have )?(?:stopped|quit|gave up) learning {_V}"),
    ("reading", rf"{_I} (?:have )?(?:finished|stopped|gave up)(?: reading)? {_V}"),
    ("", rf"{_I} (?:have )?(?:sold|left|quit|replaced|cancelled|dropped|got rid of) {_V}"),
    ("my:bank", rf"{_I} (?:have )?closed my account (?:at|with) {_V}"),
    ("", rf"{_V} is (?:finished|over|done|gone|history)"),
    ("", rf"(?:and )?no longer {_V}"),
    ("", rf"(?:and )?not {_V} any ?more"),
)

_TIME: Final = re.compile(
    r"\b(?:now|nowadays|currently|these days|at the moment|at present|for a while|today|again|"
    r"as of (?:now|today)|from now on|since (?:last )?[a-z]+|already)\b"
)
_LEAD: Final = re.compile(
    r"^(?:and|but|so|well|yes|oh|actually|by the way|btw|as you know|as i said|also|then)[, ]+"
)
_INSTEAD: Final = re.compile(r"\s(?:instead of|rather than|and not|not) (?:(?:by|on|in|at|for) )?")
_CLAUSES: Final = re.compile(
    r"[,;.]\s+|\s+(?:and|but)\s+(?=(?:i|we|my|am|are|work|drive|use|live)\b)"
)
_TITLE: Final = re.compile(r"\b(Dr|Mr|Mrs|Ms|St)\.(?= )")
_MONTHS: Final = "|".join(MONTH_NAMES)
_DATE: Final = re.compile(
    rf"(?:(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m>{_MONTHS})"
    rf"|(?P<n>{_MONTHS}) (?:the )?(?P<e>\d{{1,2}})(?:st|nd|rd|th)?)$"
)
_SINCE: Final = re.compile(
    rf" (?:in|since|at the (?:beginning|end|start) of) (?:early |late |mid[- ])?(?:{_MONTHS}|spring"
    r"|summer|autumn|fall|winter|(?:19|20)\d\d)(?: (?:19|20)\d\d)?$"
    r"| last (?:week|month|year|spring|summer|autumn|fall|winter)$"
    r"| (?:a|one|two|three|some|\d+) (?:day|week|month|year)s? ago$"
)
_ARTICLE: Final = re.compile(r"^(?:the|a|an|my|our|some)\s+")
POSSESSIVES: Final = {"she": "her", "he": "his", "they": "their"}
_POSSESSIVE: Final = re.compile(r"\b(?:her|his|their|the user's)\b(?= \w)")
_ADVERBS: Final = r"no longer|[a-z]+ly|never|always|often|sometimes|still|also|just|now"
_VERB_ONLY: Final = re.compile(r"^(?:am|are|work|drive|use|live)\b")
_NAME_LIKE: Final = re.compile(r"(?:(?:a|an|the|Dr\.?|Mr\.?|Ms\.?|Mrs\.?) )?[A-Z0-9][\w'.&-]*")
_ADJECTIVES: Final = frozenset({"new", "current", "present", "own", "favorite"})
_COMPILED: Final = tuple((rule, re.compile(rule.pattern + "$")) for rule in RULES)
_CALLED_RE: Final = tuple(re.compile(pattern + "$") for pattern in _CALLED)
_MY_IS_RE: Final = re.compile(_MY_IS + "$")
_IS_MY_RE: Final = re.compile(_IS_MY + "$")
_AS_MY_RE: Final = re.compile(_AS_MY + "$")
_SWITCHED_RE: Final = re.compile(_SWITCHED + "$")
_REPLACED_RE: Final = re.compile(_REPLACED + "$")
_ENDED_RE: Final = tuple((slot, re.compile(pattern + "$")) for slot, pattern in _ENDED)
_SINGLE_SLOTS: Final = frozenset(rule.slot for rule in RULES if rule.single)
_LONGEST: Final = 160  # characters of a text that is read as slots
_LONGEST_VALUE: Final = 6  # words


@lru_cache(maxsize=65_536)
def frames_of(text: str) -> tuple[Frame, ...]:
    """Return the slots that a statement fills or ends; empty where it is not read whole.

    Every clause has to be understood: of a text that also says something else nothing is claimed.
    """
    if len(text) > _LONGEST or "?" in text:
        return ()
    plain = _TITLE.sub(r"\1", " ".join(text.replace("’", "'").split())).rstrip(".!")
    frames: list[Frame] = []
    subject = ""
    for clause in _CLAUSES.split(plain):
        clause = _LEAD.sub("", clause.strip().lower())
        clause = " ".join(_TIME.sub(" ", clause).split())
        if not clause:
            continue
        if _VERB_ONLY.match(clause) and subject:
            clause = f"{subject} {clause}"
        subject = "we" if clause.startswith("we ") else "i" if clause.startswith("i ") else subject
        read = list(_clause(clause, plain))
        if not read:
            return ()
        frames += read
    return tuple(dict.fromkeys(_named(frames)))


def as_said(text: str, names: tuple[str, ...] = ()) -> str:
    """Return a sentence that a model writes of the user as they say it: "The user's job is ...".

    `names` are words that mean the user there, beside "the user": their name, "she".
    """
    match = _of_user(names).match(text)
    if match is None:
        return text
    rest = _POSSESSIVE.sub("my", text[match.end() :])
    if match["verb"] is None:
        return f"my{rest}"
    said = first_person(match["verb"]) + " not" * bool(match["denied"])
    return f"i {match['adverb'] or ''}{said}{rest}"


@lru_cache(maxsize=64)
def _of_user(names: tuple[str, ...]) -> re.Pattern[str]:
    who = "|".join(("user", *map(re.escape, names)))
    owns = "|".join(POSSESSIVES[name] for name in names if name in POSSESSIVES)
    doing = rf"(?P<adverb>(?:{_ADVERBS}) )?(?P<verb>[a-z]+?)(?P<denied>n't)?\b"
    return re.compile(
        rf"(?i:(?:the )?(?:{who}))(?:'s\b| {doing}){rf'|(?i:{owns})(?= [a-z])' if owns else ''}"
    )


def _clause(clause: str, whole: str) -> Iterator[Frame]:
    """Yield what one clause fills or ends."""
    for pattern in (_SWITCHED_RE, _REPLACED_RE):
        if switched := pattern.match(clause):
            slot = _slot(switched["k"]) if switched["k"] else ""
            yield Frame(slot, _value(switched["old"]), holds=False)
            yield Frame(slot, _value(switched["v"]), holds=True)
            return
    for slot, ended in _ENDED_RE:
        if match := ended.match(clause):
            yield Frame(slot, _value(match["v"]), holds=False)
            return
    parts = _INSTEAD.split(clause, maxsplit=1)
    frame = _positive(parts[0], whole)
    if frame is None:
        return
    yield frame
    if len(parts) == 2:
        yield Frame(frame.slot, _value(parts[1]), holds=False)


def _positive(clause: str, whole: str) -> Frame | None:
    for rule, pattern in _COMPILED:
        match = pattern.match(clause)
        if match and _fits(match["v"]):
            return Frame(rule.slot, _value(match["v"]), holds=True)
    for called in _CALLED_RE:
        match = called.match(clause)
        if match and _fits(match["v"]):
            return Frame(f"name:{match['k']}", _value(match["v"]), holds=True)
    for pattern in (_AS_MY_RE, _IS_MY_RE, _MY_IS_RE):
        match = pattern.match(clause)
        if match is None or not _fits(match["v"]):
            continue
        slot = _slot(match["k"])
        if slot and _is_value(slot, match["v"], whole):
            return Frame(slot, _value(match["v"]), holds=True)
    return None


def _slot(head: str) -> str:
    """Return the slot of "my X", or "" where X can have many values or values of any kind."""
    words = [
        part for part in head.replace("favorite", "favourite").split() if part not in _ADJECTIVES
    ]
    if not words:
        return ""
    last = words[-1]
    if "favourite" in words or last in _SINGLE_HEADS or last == "day":
        return f"my:{' '.join(words)}"
    return ""


def _is_value(slot: str, value: str, whole: str) -> bool:
    """Tell whether what stands in "my X is Y" is a value of X, and not a remark about it."""
    if slot.startswith("my:favourite"):
        return True
    bare = _value(value)
    if slot.endswith(" day"):
        return len(bare) > 5 and bare in WEEKDAYS
    at = whole.lower().find(value.lower())
    written = whole[at : at + len(value)] if at >= 0 else value
    return _NAME_LIKE.match(written) is not None and any(char.isupper() for char in written)


def _fits(value: str) -> bool:
    return 0 < len(value.split()) <= _LONGEST_VALUE


def _value(text: str) -> str:
    text = _ARTICLE.sub("", text.strip().strip("\"'“”"))
    text = re.sub(r"^(?:dr|mr|mrs|ms)\.? ", "", text)
    if date := _DATE.match(text):
        # "3 March", "March 3rd" and "the 3rd of March" are one day.
        return f"{date['d'] or date['e']} {(date['m'] or date['n'])[:3]}"
    return _SINCE.sub("", text)


def _named(frames: list[Frame]) -> Iterator[Frame]:
    """Give an ended value the slot of the one that took its place, where it names none.

    A doctor's name and the doctor are one slot.
    """
    slots = [frame.slot for frame in frames if frame.holds and frame.slot]
    for frame in frames:
        slot = frame.slot
        if not slot and not frame.holds and len(slots) == 1:
            slot = slots[0]
        if slot.startswith("name:") and slot[5:] in _SINGLE_HEADS:
            slot = f"my:{slot[5:]}"
        yield frame._replace(slot=slot)


def is_single(slot: str) -> bool:
    """Tell whether a slot has one value at a time."""
    if slot.startswith("name:"):
        return slot[5:] in _KIN
    return slot in _SINGLE_SLOTS or slot.startswith("my:")


def verdict_of(
    older: tuple[Frame, ...], newer: tuple[Frame, ...], *, changed: bool = False
) -> Framed | None:
    """Say how a newer statement stands to an older one by their slots; None where they tell not.

    `changed` tells that the newer one has a word for a change ("moved", "now").
    """
    if not older or not newer:
        return None
    was = {frame for frame in older if frame.holds}
    now = {frame for frame in newer if frame.holds}
    ended = {frame for frame in newer if not frame.holds}
    if was and {(frame.slot, frame.value) for frame in was} == {
        (frame.slot, frame.value) for frame in now
    }:
        slot, value = next((frame.slot, frame.value) for frame in sorted(was))
        return Framed("same", "same_slot", f"Both say {_words(slot)} {value!r}.")
    for frame in sorted(was):
        for over in sorted(ended):
            if over.value == frame.value and over.slot in ("", frame.slot):
                return Framed(
                    "supersedes", "slot_ended", f"The newer one says that {frame.value!r} is over."
                )
    for frame in sorted(was):
        for other in sorted(now):
            if frame.slot == other.slot and frame.value != other.value and is_single(frame.slot):
                # A new value with a word of its own for the change takes the place at once.
                relation = "supersedes" if ended or changed else "contradiction"
                detail = f"{_words(frame.slot)} {frame.value!r} against {other.value!r}."
                return Framed(relation, "slot_value", detail)
    return None


def _words(slot: str) -> str:
    return f"my {slot[3:]} is" if slot.startswith("my:") else f"{slot.replace(':', ' of my ')} is"
