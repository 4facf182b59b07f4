"""Spoil a true sentence by one thing, so that what it says no longer follows from what it said.

What shares nearly all its words with a text is mostly borne out by it: a network that has seen no
other such claims goes by the words alone. Numbers, dates, names, degrees, persons, negations and
plans are exchanged by rule, as FactCC does (Kryscinski et al. 2020, "Evaluating the Factual
Consistency of Abstractive Text Summarization").
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_LIKE = """
    two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, twenty, thirty, forty
    Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday
    January, February, March, April, May, June, July, August, September, October, November, December
    first, second, third, fourth, fifth, last
    once, twice
    morning, afternoon, evening, night
    spring, summer, autumn, winter
    seconds, minutes, hours, days, weeks, months, years
    second, minute, hour, day, week, month, year
    daily, weekly, monthly, yearly
    always, usually, often, sometimes, rarely, never
    all, most, some, many, few, none
    every, each, some, no
    before, after
    mother, father, sister, brother, aunt, uncle, cousin, grandmother, grandfather
    mum, dad, sister, brother
    son, daughter, nephew, niece
    wife, sister, boss, neighbour, friend
    husband, brother, boss, neighbour, friend
    older, younger
    more, less
    loves, likes, hates, dislikes
    love, like, hate, dislike
    up, down
    left, right
    bought, sold
    buys, sells
    with, without
    from, to
    kilometres, miles, metres
    pounds, euros, dollars
    red, blue, green, black, white, yellow, brown
    big, small
    new, old
    cheap, expensive
    early, late
    north, south, east, west
    started, stopped
    works, lives, studies
    gained, lost
    better, worse
    increased, decreased
    rose, fell
    can, cannot
    still, no longer
"""  # in each row, words of which each may stand where another does, and says something else
_ROWS = [row.split(", ") for row in _LIKE.replace("\n    ", "\n").strip().splitlines()]
_CALENDAR = frozenset([*_ROWS[1], *_ROWS[2]])
_OTHERS = {word.lower(): [o for o in row if o != word] for row in reversed(_ROWS) for word in row}
_WORD = re.compile(r"[A-Za-z]+")
_NAME = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z][a-z]{2,}(?: [A-Z][a-z]+)*")
_SUBJECT = re.compile(r"^(?:The user|User)\b(?!['’]s)")
_OF_SUBJECT = re.compile(r"^(The user|User)['’]s (?:\w+ly )?\w+ (?=is|was|has|had|\w+s |\w+ed )")
_SAID = re.compile(r"\b(is|are|was|were|has been|can|could|will|should)\b(?! not|n['’]t|n't)")
_TAIL = re.compile(
    r"\s((?:in|at|on|with|for|from|because of|since|near|by|to) [^,;:.()]{3,40})\.?$"
)
_OVER = re.compile(r"\b(\w+) (over|to|rather than|instead of|than) (\w+)\b")
_RELATIVES = (
    "sister",
    "brother",
    "mother",
    "father",
    "friend",
    "wife",
    "husband",
    "boss",
    "cousin",
)
_FRAMES = (  # of what is no longer, not yet, not surely or not at all so; "{}" is "work in Oslo"
    ("I hope to {}.", "Hopes to {}"),
    ("I used to {}.", "Used to {}"),
    ("I might {} next year.", "Might {} next year"),
    ("I don't {}.", "Does not {}"),
    ("I no longer {}.", "No longer {}"),
    ("I never {}.", "Never {}"),
    ("I would {} if I had the time.", "Would {} given the time"),
    ("I almost decided to {}.", "Almost decided to {}"),
    ("My sister says I {}, which is not true.", "Is said to {}"),
    ("My neighbours {}.", "User's neighbours {}"),
    ("Do people who {} sleep well?", "Asked about people who {}"),
    ("Should I {}?", "Wonders whether to {}"),
    ("I want to {}.", "Wants to {}"),
    ("I wish I could {}.", "Wishes to {}"),
    ("I pretend to {}.", "Pretends to {}"),
)
_HOLDING = (
    "I still {}.",
    "I really {}.",
    "Yes, I {}.",
    "I {}, as you know.",
    "So I {} these days.",
)


def spoilt(text: str, others: Sequence[str], rng: random.Random) -> str:
    """Return a sentence with one thing changed; empty where nothing in it can be.

    `others` are sentences of the same writer or of another, from which names and ends are taken.
    """
    ways: list[Callable[[str, Sequence[str], random.Random], str]] = [
        _number, _number, _word, _word, _word, _name, _name, _negated, _subject, _tail, _order
    ]  # fmt: skip
    rng.shuffle(ways)
    for way in ways:
        made = way(text, others, rng)
        if made and made != text:
            return made
    return ""


def not_so(verb_phrase: str, rng: random.Random) -> tuple[str, str]:
    """Return what a person says who does not do a thing (now, or surely), and the same told."""
    said, told = rng.choice(_FRAMES)
    return said.format(verb_phrase), told.format(verb_phrase)


def so(verb_phrase: str, rng: random.Random) -> str:
    """Return what a person says who does a thing."""
    return rng.choice(_HOLDING).format(verb_phrase)


def _put(text: str, match: re.Match[str], new: str) -> str:
    if match[0][0].isupper():
        new = new[0].upper() + new[1:]
    return text[: match.start()] + new + text[match.end() :]


def _number(text: str, others: Sequence[str], rng: random.Random) -> str:
    found = list(re.finditer(r"\d+", text))
    if not found:
        return ""
    match = rng.choice(found)
    value = int(match[0][:9])
    near = value + rng.choice((-3, -2, -1, 1, 2, 3))
    made = str(near if near > 0 else value + 1)
    if len(match[0]) > 1 and rng.random() < 0.4:
        digits = list(match[0])
        at = rng.randrange(len(digits))
        digits[at] = rng.choice([d for d in "123456789" if d != digits[at]])
        made = "".join(digits)
    return _put(text, match, made)


def _word(text: str, others: Sequence[str], rng: random.Random) -> str:
    found = [m for m in _WORD.finditer(text) if m[0].lower() in _OTHERS]
    found = [m for m in found if not (m[0] == "May" and m.start() == 0) and m[0] != "may"]
    # small words that stand everywhere say little of the sentence: the telling ones are first
    telling = [m for m in found if m[0].lower() not in {"to", "from", "with", "like", "second"}]
    if not (telling or found):
        return ""
    match = rng.choice(telling or found)
    return _put(text, match, rng.choice(_OTHERS[match[0].lower()]))


def _name(text: str, others: Sequence[str], rng: random.Random) -> str:
    here = list(_NAME.finditer(text))
    here = [m for m in here if m[0] not in _CALENDAR]
    if not here:
        return ""
    if len({m[0] for m in here}) > 1 and rng.random() < 0.5:
        first, second = rng.sample(here, 2)
        if first.start() > second.start():
            first, second = second, first
        return (
            text[: first.start()] + second[0] + text[first.end() : second.start()] + first[0]
            + text[second.end() :]
        )  # fmt: skip
    known = {m[0] for other in others for m in _NAME.finditer(other)} - {m[0] for m in here}
    known -= _CALENDAR
    return _put(text, rng.choice(here), rng.choice(sorted(known))) if known else ""


def _negated(text: str, others: Sequence[str], rng: random.Random) -> str:
    for gone in (" not ", "n't ", "n’t ", " no longer ", " never "):
        if gone in text:
            return text.replace(gone, " ", 1)
    match = _SAID.search(text)
    if match is not None:
        return f"{text[: match.end()]} not{text[match.end() :]}"
    match = re.search(r"^((?:The user|User|He|She|[A-Z][a-z]*[a-rt-z]) )(\w+)s (?=\w)", text)
    if match is not None and len(match[2]) > 2 and match[2][-1] not in "si'’":
        verb = match[2]
        return f"{match[1]}does not {verb} {text[match.end() :]}"
    return ""


def _subject(text: str, others: Sequence[str], rng: random.Random) -> str:
    match = _SUBJECT.search(text)
    if match is not None:
        return f"{match[0]}'s {rng.choice(_RELATIVES)}{text[match.end() :]}"
    match = _OF_SUBJECT.search(text)
    return f"{match[1]} {text[match.end() :]}" if match is not None else ""


def _tail(text: str, others: Sequence[str], rng: random.Random) -> str:
    ends = [m[1] for other in others if (m := _TAIL.search(other)) and m[1] not in text]
    if not ends:
        return ""
    match = _TAIL.search(text)
    kept = text[: match.start()] if match and rng.random() < 0.6 else text.rstrip(".")
    return f"{kept} {rng.choice(ends)}."


def _order(text: str, others: Sequence[str], rng: random.Random) -> str:
    match = _OVER.search(text)
    if match is None or {match[1].lower(), match[3].lower()} & {"more", "less", "rather", "the"}:
        return ""
    return f"{text[: match.start()]}{match[3]} {match[2]} {match[1]}{text[match.end() :]}"
