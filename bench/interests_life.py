"""Made-up people for the simulated year: what each cares about when, and what each says and does.

An owner's hidden interest in a thing is a curve over the days: it begins, lasts, fades, sometimes
comes back, sometimes turns into dislike. What is said and done follows from it by chance: how often
by how strong it is, and how by what people do about things they care much or little about. Nothing
here knows the strengths or the half-life that the product counts with. Every act carries what it is
truly about, so that a simulation can be judged without reading. All sentences were written for this
generator.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from bench.interests_world import KINDS, Kind, Thing, World

START: Final = datetime(2025, 1, 1, tzinfo=UTC)
OWNERS: Final = (
    "ada", "bruno", "chandra", "dilek", "emil", "farah", "goran", "hana", "ivo", "juno",
)  # fmt: skip

_KINDS_EACH: Final = 4
_OF_A_KIND: Final = 6
_ACTS_A_DAY: Final = 0.3  # about a thing that somebody cares about as much as can be
_DISLIKED_ACTS: Final = 0.12
_PASSING_A_DAY: Final = 0.01  # of anything that one has heard of, liked or not
_TOPIC_ACTS: Final = 0.03
_CHATTER_A_DAY: Final = 1.0
_SOURED: Final = 0.12  # share of things that are disliked in the end
_AGAIN: Final = 0.25  # share of things whose interest comes back


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that an owner says or does."""

    at: int  # milliseconds
    owner: str
    does: str  # say, search, learn, like, dislike, reply (of the assistant), approve (a reply)
    text: str  # what is said, or the topic of a command
    things: tuple[str, ...] = ()  # that it names
    topic: str = ""  # a kind's plural, where it is about a whole kind
    truly: str = ""  # what it is, in the words of seed 003's table; empty for none of these
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Phase:
    """One stretch of interest."""

    begins: float  # day
    rises: float  # days until it is as strong as it gets
    lasts: float  # days at its height
    fades: float  # half-life in days after that; infinite for what stays
    height: float  # -1 to 1

    def at(self, day: float) -> float:
        """Return how strong it is on a day."""
        age = day - self.begins
        if age < 0:
            return 0.0
        if age < self.rises:
            return self.height * age / self.rises
        over = age - self.rises - self.lasts
        return self.height if over <= 0 else self.height * 0.5 ** (over / self.fades)


@dataclass(slots=True)
class Cared:
    """A thing of one owner's life."""

    thing: Thing
    phases: tuple[Phase, ...]
    named: bool = False  # it has been called by its whole name
    liked: bool = False
    disliked: bool = False

    def interest(self, day: float) -> float:
        """Return the hidden interest on a day: dislike, once it is there, is all that is left."""
        values = [one.at(day) for one in self.phases]
        worst = min(values)
        return worst if worst < 0 else max(values)


_LOVE = (
    "I really love {n}", "I'm really into {n} these days", "I am a big fan of {n}",
    "I like {n} a lot", "{N} is my favourite", "I'm loving {n} more every day",
)  # fmt: skip
_HATE = (
    "I hate {n}", "I can't stand {n}", "I don't like {n} any more", "I'm not into {n} at all",
    "I really dislike {n}",
)  # fmt: skip
_SEARCH = (
    "search for {b} reviews", "look up {b}", "find me something about {b}",
    "search for {b} problems", "can you look up the price of {b}?", "find reviews of {b}",
)  # fmt: skip
_FOLLOW = (
    "what about the {q} of {n}?", "and how good is the {q} of {n}?",
    "how does {n} compare with the others?", "what is the {q} of {n} like?",
    "is the {q} of {n} any good?",
)  # fmt: skip
_FOLLOW_SHORT = ("what about its {q}?", "and the {q}?", "what is its {q} like?")
_PASSING = (
    "I left {n} on the kitchen table again", "{p} borrowed {n} yesterday",
    "we talked about {n} over lunch", "{N} came up at work today",
    "I was looking at {n} when the phone rang", "there was an ad for {n} on the bus",
    "{p} gave {n} to her brother", "if I had {n} I would take it along on {d}",
    "my wife loves {n}", "do you know {n}?",
)  # fmt: skip
_TOPIC_LOVE = ("I'm really into {t}", "I love {t}", "I like {t} very much")
_TOPIC_SEARCH = ("find me stuff about {t}", "search for {t}", "find me good {t}")
_CHATTER = (
    "{p} and I are off to {c} on {d}", "The meeting moved to {m} 3rd at 10:30", "Good morning!",
    "Remind me to call {p} on {d}", "It has been raining since {d}", "Thanks, that helps a lot",
    "The budget for 2026 is due on {d}", "I slept badly and have 14 mails to answer",
    "Happy birthday to {p}!", "Can you write a short mail to {p}?", "ok", "Never mind",
    "We fly to {c} in {m}", "I paid 49.90 for the train to {c}", "What a week, it is only {d}",
    "How long do I boil an egg?", "lol", "Tell me a joke", "My landlord wants 1,250 for {m}",
    "I am reading the news from {c}", "Version 2.0 of the report is done", "See you on {d}, {p}",
)  # fmt: skip
_REPLIES = (
    "Here is what I found about {n}.", "I looked {n} up; the details are below.",
    "There are a few pages about {n}, I read them for you.",
)  # fmt: skip
_PEOPLE = ("Marta", "Jens", "Aunt Rosa", "Dr. Okafor", "Yusuf", "Mrs. Lind")
CHATTER_NAMES: Final = _PEOPLE
"""People of small talk: named by whoever talks, and nothing that anybody wants to know about."""
_CITIES = ("Lisbon", "Turin", "Ghent", "Malmö", "Chicago", "Nairobi")
_DAYS = ("Monday", "Tuesday", "Friday", "Sunday")
_MONTHS = ("March", "June", "October", "December")


class Owner:
    """One person's year."""

    def __init__(self, name: str, world: World, *, seed: int, days: int) -> None:
        self.name = name
        self._random = random.Random(f"{seed}-{name}")
        self._reacting = random.Random(f"{seed}-{name}-reacting")  # what is told depends on others
        chooser = self._random
        self.kinds: list[Kind] = chooser.sample(KINDS, _KINDS_EACH)
        self.cares: list[Cared] = []
        for kind in self.kinds:
            things = [one for one in world.things if one.kind is kind]
            for thing in chooser.sample(things, _OF_A_KIND):
                self.cares.append(Cared(thing, self._phases(days)))
        self.topics: dict[str, float] = {one.plural: chooser.random() for one in self.kinds[:3]}
        others = [one for one in KINDS if one not in self.kinds]
        self.avoided = chooser.choice(others).plural  # a topic that one wants to hear nothing of
        self._avoids_from = chooser.randrange(days)

    def _phases(self, days: int) -> tuple[Phase, ...]:
        chooser = self._random

        def phase(earliest: float, height: float) -> Phase:
            return Phase(
                begins=chooser.uniform(earliest, max(earliest + 1, 0.9 * days)),
                rises=chooser.uniform(3, 15),
                lasts=chooser.uniform(10, 120),
                fades=chooser.uniform(15, 60),
                height=height,
            )

        first = phase(-60, chooser.uniform(0.1, 1.0))
        found = [first]
        if chooser.random() < _AGAIN:
            found.append(phase(first.begins + 60, chooser.uniform(0.1, 1.0)))
        if chooser.random() < _SOURED:
            turn = phase(first.begins + 20, -chooser.uniform(0.4, 1.0))
            found.append(Phase(turn.begins, 1.0, math.inf, math.inf, turn.height))
        return tuple(found)

    def hidden(self, day: float) -> dict[str, float]:
        """Return the hidden interest in every thing of this life, by the thing's name."""
        return {one.thing.name: one.interest(day) for one in self.cares}

    def reaction(self, interest: float) -> str:
        """Return how a notice about something is answered: mostly not at all."""
        roll = self._reacting.random()
        if interest < 0:
            return "👎" if roll < 0.6 else ""
        return "👍" if roll < 0.3 * interest else ""

    def day(self, day: int) -> Iterator[Act]:
        """Yield what is said and done on a day, in order."""
        chooser = self._random
        scenes: list[list[Act]] = []
        for cared in self.cares:
            interest = cared.interest(day)
            if interest > 0:
                often = self._often(_ACTS_A_DAY * interest)
                scenes += [self._liking(cared, interest) for _ in range(often)]
            elif interest < 0:
                often = self._often(-_DISLIKED_ACTS * interest)
                scenes += [self._disliking(cared) for _ in range(often)]
            if cared.named:
                scenes += [[self._passing(cared)] for _ in range(self._often(_PASSING_A_DAY))]
        for topic, interest in self.topics.items():
            scenes += [self._topic(topic) for _ in range(self._often(_TOPIC_ACTS * interest))]
        if day == self._avoids_from:
            scenes.append([self._act("dislike", self.avoided, topic=self.avoided, negative=True)])
        scenes += [
            [self._act("say", _filled(chooser, chooser.choice(_CHATTER)))]
            for _ in range(self._often(_CHATTER_A_DAY))
        ]
        chooser.shuffle(scenes)
        at = START + timedelta(days=day, hours=8)
        for scene in scenes:
            at += timedelta(minutes=chooser.randint(3, 40))
            for act in scene:
                at += timedelta(seconds=chooser.randint(20, 90))
                yield _timed(act, int(at.timestamp() * 1000))

    def _often(self, rate: float) -> int:
        """Return how often something of a rate happens (Poisson)."""
        limit, count, product = math.exp(-rate), 0, self._random.random()
        while product > limit:
            count += 1
            product *= self._random.random()
        return count

    def _act(self, does: str, text: str, **more: object) -> Act:
        return Act(0, self.name, does, text, **more)  # type: ignore[arg-type]

    def _liking(self, cared: Cared, interest: float) -> list[Act]:
        """Return one scene about a thing that is liked: the more, the more is done about it."""
        chooser = self._random
        thing, mine = cared.thing, (cared.thing.name,)
        roll = chooser.random()
        if roll < 0.05 * interest:
            cared.named = True
            return [self._act("learn", thing.name, things=mine, truly="learn")]
        if roll < 0.12 * interest and not cared.liked:
            cared.liked = cared.named = True
            return [self._act("like", thing.name, things=mine, truly="like")]
        if roll < 0.35 * interest:
            said = _filled(chooser, chooser.choice(_LOVE), self._called(cared))
            return [self._act("say", said, things=mine, truly="statement")]
        if roll < 0.35 * interest + 0.3:
            return self._searching(cared)
        return [self._passing(cared)]

    def _searching(self, cared: Cared) -> list[Act]:
        chooser = self._random
        mine = (cared.thing.name,)
        cared.named = True
        bare = cared.thing.name if chooser.random() < 0.6 else cared.thing.name.lower()
        asked = chooser.choice(_SEARCH).replace("{b}", bare)
        reply = chooser.choice(_REPLIES).replace("{n}", cared.thing.the)
        scene = [
            self._act("search", asked, things=mine, truly="search"),
            self._act("reply", reply, things=mine),
        ]
        if chooser.random() < 0.15:
            scene.append(self._act("approve", "👍", things=mine, truly="approval"))
        if chooser.random() < 0.4:
            short = chooser.random() < 0.4
            asks = chooser.choice(_FOLLOW_SHORT if short else _FOLLOW)
            asks = asks.replace("{q}", chooser.choice(cared.thing.kind.asks))
            said = _filled(chooser, asks, self._called(cared))
            scene.append(self._act("say", said, things=mine, truly="follow-up"))
        return scene

    def _passing(self, cared: Cared) -> Act:
        said = _filled(self._random, self._random.choice(_PASSING), self._called(cared))
        return self._act("say", said, things=(cared.thing.name,), truly="passing")

    def _disliking(self, cared: Cared) -> list[Act]:
        chooser = self._random
        mine = (cared.thing.name,)
        if chooser.random() < 0.25 and not cared.disliked:
            cared.disliked = cared.named = True
            name = cared.thing.name
            return [self._act("dislike", name, things=mine, truly="dislike", negative=True)]
        said = _filled(chooser, chooser.choice(_HATE), self._called(cared))
        return [self._act("say", said, things=mine, truly="statement", negative=True)]

    def _topic(self, topic: str) -> list[Act]:
        chooser = self._random
        roll = chooser.random()
        if roll < 0.15:
            return [self._act("learn", topic, topic=topic, truly="learn")]
        if roll < 0.3:
            return [self._act("like", topic, topic=topic, truly="like")]
        if roll < 0.65:
            said = chooser.choice(_TOPIC_LOVE).replace("{t}", topic)
            return [self._act("say", said, topic=topic, truly="statement")]
        asked = chooser.choice(_TOPIC_SEARCH).replace("{t}", topic)
        return [self._act("search", asked, topic=topic, truly="search")]

    def _called(self, cared: Cared) -> str:
        """Return what a thing is called this time: its whole name at first, then less carefully."""
        thing, roll = cared.thing, self._random.random()
        if cared.named and roll < 0.15 and thing.maker:
            return f"the {thing.short}"
        cared.named = True
        return thing.the if roll < 0.85 else thing.the.lower()


def _filled(chooser: random.Random, template: str, name: str = "") -> str:
    said = template.replace("{n}", name).replace("{N}", name[:1].upper() + name[1:])
    for blank, values in (("p", _PEOPLE), ("c", _CITIES), ("d", _DAYS), ("m", _MONTHS)):
        said = said.replace("{" + blank + "}", chooser.choice(values))
    return said


def _timed(act: Act, at: int) -> Act:
    return Act(at, act.owner, act.does, act.text, act.things, act.topic, act.truly, act.negative)


@dataclass(slots=True)
class Invited:
    """What an owner has named or asked about so far: all that may become an entity."""

    things: set[str] = field(default_factory=set)
    topics: set[str] = field(default_factory=set)  # plurals of kinds
    asked: set[str] = field(default_factory=set)  # of these, what a search or a command asked for

    def add(self, act: Act) -> None:
        """Take in what an act names."""
        self.things.update(act.things)
        if act.topic:
            self.topics.add(act.topic)
            if act.does in ("learn", "like", "search"):  # no dislike brings anything in
                self.asked.add(act.topic)


def lives(world: World, *, seed: int, days: int, owners: int) -> Sequence[Owner]:
    """Return the people of a simulation."""
    return [Owner(name, world, seed=seed, days=days) for name in OWNERS[:owners]]


def spearman(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Return Spearman's rank correlation of two scores of the same things, ties at their mean rank.

    0 where either side tells no two things apart.
    """
    names = sorted(first)
    a, b = (_ranks([side.get(name, 0.0) for name in names]) for side in (first, second))
    if not names:
        return 0.0
    mean = (len(names) - 1) / 2
    spread = math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))
    both = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    return both / spread if spread else 0.0


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end + 1 < len(order) and values[order[end + 1]] == values[order[begin]]:
            end += 1
        for place in order[begin : end + 1]:
            found[place] = (begin + end) / 2
        begin = end + 1
    return found
