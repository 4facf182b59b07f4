"""A made-up life for the simulated year: what is true when, how people say it, and what is noise.

Every turn that states something carries the ids of what it states, so a simulation can be judged
without reading. All sentences were written for this generator.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing about a person that has one value at a time."""

    name: str
    says: tuple[str, ...]  # ways to state it, with {v}
    changes: tuple[str, ...]  # ways to say that it has changed, with {v} and sometimes {old}
    values: tuple[str, ...]
    asks: str  # a turn that needs it and does not name it
    every_days: int  # how long a value lasts, about; 0 for ever


SLOTS: tuple[Slot, ...] = (
    Slot(
        "home",
        ("I live in {v}", "My home is in {v}", "I am living in {v} these days"),
        ("I moved to {v}", "I no longer live in {old}, I live in {v} now"),
        ("Lisbon", "Turin", "Ghent", "Malmo", "Graz"),
        "Which city do I live in?",
        150,
    ),
    Slot(
        "employer",
        ("I work for {v}", "My employer is {v}"),
        ("I started working for {v}", "I left {old} and work for {v} now"),
        ("Northwind Dairy", "Calder Optics", "Brightwater Labs", "Juniper Freight"),
        "Who is my employer?",
        170,
    ),
    Slot(
        "dog",
        ("My dog is called {v}", "The name of my dog is {v}"),
        (),
        ("Biscuit",),
        "What is my dog called?",
        0,
    ),
    Slot(
        "car",
        ("I drive a {v}", "My car is a {v}"),
        ("I sold the {old} and drive a {v} now", "I switched from the {old} to a {v}"),
        ("Skoda Fabia", "Renault Zoe", "Volvo V60", "Fiat Panda"),
        "What car do I drive?",
        190,
    ),
    Slot(
        "tea",
        ("My favourite drink is {v}", "{v} is my favourite drink"),
        ("My favourite drink is {v} now, no longer {old}",),
        ("jasmine tea", "black coffee", "mint lemonade", "oat cocoa"),
        "What is my favourite drink?",
        120,
    ),
    Slot(
        "editor",
        ("I use {v} as my editor", "My editor is {v}"),
        ("I switched from {old} to {v} as my editor",),
        ("Neovim", "Helix", "Emacs", "Kakoune"),
        "Which editor do I use?",
        140,
    ),
    Slot(
        "sister",
        ("My sister is called {v}", "My sister's name is {v}"),
        (),
        ("Annika",),
        "What is the name of my sister?",
        0,
    ),
    Slot(
        "gym",
        ("My climbing day is {v}", "{v} is my climbing day"),
        ("My climbing day is {v} now instead of {old}",),
        ("Monday", "Wednesday", "Thursday", "Saturday"),
        "On which day do I go climbing?",
        110,
    ),
    Slot(
        "diet",
        ("I am {v}", "I have been {v} for a while"),
        (),
        ("vegetarian",),
        "What should you know about my diet before you suggest a recipe?",
        0,
    ),
    Slot(
        "allergy",
        ("I am allergic to {v}", "I have an allergy to {v}"),
        (),
        ("hazelnuts",),
        "What am I allergic to?",
        0,
    ),
    Slot(
        "language",
        ("I am learning {v}", "I take {v} lessons"),
        ("I stopped learning {old} and am learning {v} now",),
        ("Portuguese", "Dutch", "Finnish", "Korean"),
        "Which language am I learning?",
        160,
    ),
    Slot(
        "instrument",
        ("I play the {v}", "My instrument is the {v}"),
        (),
        ("cello",),
        "Which instrument do I play?",
        0,
    ),
    Slot(
        "project",
        ("My current project is {v}", "I am working on a project called {v}"),
        ("My current project is {v} now, {old} is finished",),
        ("Tidepool", "Lanternfish", "Cobblestone", "Greenfinch", "Marzipan"),
        "What is my current project?",
        80,
    ),
    Slot(
        "bank",
        ("My bank is {v}", "I bank with {v}"),
        ("I closed my account at {old}, my bank is {v} now",),
        ("Harbour Savings", "Linden Bank"),
        "Which bank am I with?",
        200,
    ),
    Slot(
        "doctor",
        ("My doctor is Dr. {v}", "My doctor's name is Dr. {v}"),
        ("My new doctor is Dr. {v}, no longer Dr. {old}",),
        ("Okafor", "Lindqvist", "Moreau"),
        "Who is my doctor?",
        180,
    ),
    Slot(
        "birthday",
        ("My birthday is on {v}", "I was born on {v}"),
        (),
        ("14 March",),
        "When is my birthday?",
        0,
    ),
    Slot(
        "desk",
        ("I work at a standing desk", "My desk is a standing desk"),
        (),
        ("standing",),
        "What kind of desk do I have?",
        0,
    ),
    Slot(
        "commute",
        ("I commute by {v}", "I go to work by {v}"),
        ("I commute by {v} now instead of by {old}",),
        ("tram", "bicycle", "ferry"),
        "How do I get to work?",
        130,
    ),
    Slot(
        "book",
        ("I am reading {v}", "The book I am reading is {v}"),
        ("I finished {old} and am reading {v} now",),
        ("Middlemarch", "Piranesi", "Gilead", "Stoner", "Austerlitz", "Beloved"),
        "What book am I reading?",
        60,
    ),
    Slot(
        "phone",
        ("My phone is a {v}", "I have a {v} as my phone"),
        ("I replaced the {old}, my phone is a {v} now",),
        ("Fairphone 4", "Pixel 7", "Xperia 5"),
        "Which phone do I have?",
        210,
    ),
)

_THINGS = (
    "the invoice", "a spreadsheet", "the login page", "a birthday card", "the unit tests",
    "the radiator", "a train ticket", "the garden fence", "the backup script", "a bread recipe",
    "the tax form", "a bike tyre", "the slides", "the parser", "a holiday plan", "the wifi",
)  # fmt: skip
_NOISE = (
    "Can you help me with {t}?", "How long does it take to fix {t}?", "Thanks, that helps a lot!",
    "Please write a short note about {t}.", "Show me another version of {t}", "Hmm, not quite.",
    "What do you think about {t}?", "ok", "Try again, but shorter", "lol", "Good morning!",
    "Could you explain {t} to me like I am five?", "Why does {t} keep breaking?", "Sounds good",
    "Never mind, it was {t} after all", "Let's talk about {t} tomorrow", "Wait, what?",
    "I wonder whether {t} is worth it", "Maybe I should throw {t} away", "Perfect, thank you",
    "It is raining again today", "I am so tired right now", "Ugh, {t} again",
)  # fmt: skip
_REPLIES = (
    "Sure, here is a plan for {t}.", "I would start with {t} and look at the errors.",
    "That is a good question about {t}; it depends.", "Here is a shorter version.",
    "You could also ask a friend about {t}.", "Done. Anything else?", "I see, let me try again.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """One turn; `states` are the ids (slot=value) of what it states as true at that time."""

    uid: str
    role: str
    text: str
    at: int  # milliseconds
    session: str
    states: tuple[str, ...]


class Life:
    """A person's year, from a seed."""

    def __init__(self, *, seed: int, start: datetime, days: int, turns: int) -> None:
        self._random = random.Random(seed)
        self._start = start
        self._days = days
        self._turns = turns
        self.values: dict[str, str] = {}
        self._left: dict[str, list[str]] = {}
        self._due: dict[str, int] = {}
        self._unsaid: list[tuple[Slot, str, str]] = []  # changes still to be told
        for slot in SLOTS:
            values = list(slot.values)
            self.values[slot.name] = values.pop(0)
            self._left[slot.name] = values
            self._due[slot.name] = self._next_change(slot, 0)

    def _next_change(self, slot: Slot, day: int) -> int:
        if not slot.every_days:
            return 1 << 30
        return day + int(slot.every_days * self._random.uniform(0.6, 1.4))

    def truths(self) -> set[str]:
        """Return what is true now, as ids."""
        return {f"{name}={value}" for name, value in self.values.items()}

    def day(self, day: int) -> Iterator[Said]:
        """Yield the turns of one day, in order; every change is told on the day it happens."""
        chooser = self._random
        told: list[tuple[str, tuple[str, ...]]] = []
        for slot in SLOTS:
            if day >= self._due[slot.name] and self._left[slot.name]:
                old, new = self.values[slot.name], self._left[slot.name].pop(0)
                self.values[slot.name] = new
                self._due[slot.name] = self._next_change(slot, day)
                text = chooser.choice(slot.changes).format(v=new, old=old)
                told.append((text, (f"{slot.name}={new}",)))
        first = day < 20  # in the beginning everything is told for the first time
        new = SLOTS[day % 20 : day % 20 + 1] if first else ()
        often = [chooser.choice(SLOTS[: 20 if day >= 20 else day + 1]) for _ in range(4)]
        told.extend(self._statement(slot) for slot in (*new, *often))
        places = set(chooser.sample(range(self._turns // 2), len(told)))
        morning = self._start + timedelta(days=day, hours=8)
        for n in range(self._turns // 2):
            at = morning + timedelta(minutes=7 * n)
            text, states = (
                told.pop(0)
                if n in places
                else (chooser.choice(_NOISE).format(t=chooser.choice(_THINGS)), ())
            )
            yield self._said(day, 2 * n, "user", text, at, states)
            reply = chooser.choice(_REPLIES).format(t=chooser.choice(_THINGS))
            yield self._said(day, 2 * n + 1, "assistant", reply, at + timedelta(minutes=1), ())

    def _statement(self, slot: Slot) -> tuple[str, tuple[str, ...]]:
        value = self.values[slot.name]
        return self._random.choice(slot.says).format(v=value), (f"{slot.name}={value}",)

    def _said(
        self, day: int, n: int, role: str, text: str, at: datetime, states: tuple[str, ...]
    ) -> Said:
        return Said(
            uid=f"day{day}-turn{n}",
            role=role,
            text=text[0].upper() + text[1:],
            at=int(at.timestamp() * 1000),
            session=f"day{day}-{n // 40}",
            states=states,
        )


START = datetime(2025, 1, 1, tzinfo=UTC)
