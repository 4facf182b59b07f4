"""Judge what a memory made of the simulated year, by the generator's own account of it.

Knows: the made-up world, what every owner named, and what the memory holds as plain values. Does
not know: the product, so a baseline is judged by the same lines.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bench.interests_life import CHATTER_NAMES, Invited, Owner, spearman
from bench.interests_world import KINDS, Thing, World, plain, words

_EXAMPLES: Final = 8
_NEAR: Final = 0.75  # share of the words of two facts that are the same, without their subject
_SUBJECT: Final = frozenset(("it", "the", "a", "an"))
_CAPITALISED: Final = re.compile(r"\b[A-Z][\w'-]*(?:\s+(?:[A-Z][\w'-]*|\d+))*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One entity as a memory holds it."""

    owner: str
    name: str
    facts: Sequence[str] = ()  # the texts of its current facts
    interest: float = 0.0
    by_enrichment: bool = False  # what brought it in is a search that nobody asked for


class Names:
    """What every name of the made-up world stands for."""

    def __init__(self, world: World) -> None:
        """Collect the names, in the form that entities have."""
        self.things: dict[str, Thing] = {}
        self.topics: dict[str, str] = {}  # any form -> the plural
        for thing in world.things:
            for called in thing.called:
                self.things[_bare(called)] = thing
        for kind in KINDS:
            self.topics[kind.plural] = self.topics[kind.singular] = kind.plural
        self._people = {_bare(name) for name in CHATTER_NAMES}
        self._people |= {name.split()[-1] for name in self._people}  # "rosa", of an aunt
        self._bait = {_bare(name) for name in world.bystanders()}

    def kind_of(self, name: str, invited: Invited) -> str:
        """Return what an entity of that name is to an owner who named or asked about some things.

        `thing` and `topic` were named or asked about, and so was a `person` of small talk;
        `uninvited` is a thing or topic that was not; `bystander` is what merely stands in pages
        (sponsors, events, authors, towns, makers); all else is `junk`.
        """
        bare = _bare(name)
        thing = self.things.get(bare)
        if thing is not None:
            asked = thing.name in invited.things or thing.kind.plural in invited.topics
            return "thing" if asked else "uninvited"
        topic = self.topics.get(bare)
        if topic is not None:
            return "topic" if topic in invited.topics else "uninvited"
        if bare in self._people:
            return "person"
        return "bystander" if bare in self._bait else "junk"

    def topic(self, name: str) -> str:
        """Return the plural of the kind that a name stands for, or an empty text."""
        return self.topics.get(_bare(name), "")

    def thing(self, name: str) -> str:
        """Return the thing that a name stands for, or an empty text."""
        found = self.things.get(_bare(name))
        return found.name if found else ""


def judge(
    held: Sequence[Held],
    *,
    names: Names,
    world: World,
    owners: Sequence[Owner],
    invited: Mapping[str, Invited],
    said: Mapping[str, str],
    day: int,
) -> dict[str, Any]:
    """Return the figures of a memory; rates in percent.

    `said` is all that an owner said, for facts that come from messages. `day` is the day whose
    hidden interest the ranking is held against.
    """
    kinds: Counter[str] = Counter()
    examples: dict[str, list[str]] = defaultdict(list)
    for one in held:
        kind = names.kind_of(one.name, invited[one.owner])
        kinds[kind] += 1
        examples[kind].append(f"{one.owner}: {one.name}")
    good = kinds["thing"] + kinds["topic"] + kinds["person"]
    things = Counter((one.owner, thing) for one in held if (thing := names.thing(one.name)))
    topics = {(one.owner, topic) for one in held if (topic := names.topic(one.name))}
    return {
        "entities": len(held),
        "user_named_share": _percent(good, len(held)),
        "created_by_enrichment": sum(one.by_enrichment for one in held),
        "junk_names": kinds["junk"],
        "kinds": dict(sorted(kinds.items())),
        "split_things": sum(count > 1 for count in things.values()),
        "things_found": _percent(
            sum((owner, thing) in things for owner, one in invited.items() for thing in one.things),
            sum(len(one.things) for one in invited.values()),
        ),
        "topics_found": _percent(
            sum((owner, topic) in topics for owner, one in invited.items() for topic in one.asked),
            sum(len(one.asked) for one in invited.values()),
        ),
        **_ranking(held, names=names, owners=owners, invited=invited, day=day),
        **_facts(held, names=names, world=world, said=said),
        "examples": {
            kind: examples[kind][:_EXAMPLES] for kind in ("junk", "bystander", "uninvited")
        },
    }


def correlations(
    scores: Mapping[str, Mapping[str, float]],
    *,
    owners: Sequence[Owner],
    invited: Mapping[str, Invited],
    day: int,
) -> list[float]:
    """Return each owner's rank correlation between scores and hidden interest, in owners' order.

    Over all things that the owner ever named; one without a score has 0.
    """
    found = []
    for owner in owners:
        hidden = owner.hidden(day)
        things = sorted(invited[owner.name].things)
        mine = scores.get(owner.name, {})
        found.append(
            spearman(
                {one: hidden[one] for one in things}, {one: mine.get(one, 0.0) for one in things}
            )
        )
    return found


def _ranking(
    held: Sequence[Held],
    *,
    names: Names,
    owners: Sequence[Owner],
    invited: Mapping[str, Invited],
    day: int,
) -> dict[str, Any]:
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for one in held:
        thing = names.thing(one.name)
        # Where a thing is held twice, what is shown of it first is what its owner sees.
        if thing and abs(one.interest) >= abs(scores[one.owner].get(thing, 0.0)):
            scores[one.owner][thing] = one.interest
    found = correlations(scores, owners=owners, invited=invited, day=day)
    worst = min(range(len(found)), key=found.__getitem__)
    return {
        "spearman": round(statistics.mean(found), 3),
        "spearman_worst": round(found[worst], 3),
        "spearman_worst_owner": owners[worst].name,
    }


def _facts(
    held: Sequence[Held], *, names: Names, world: World, said: Mapping[str, str]
) -> dict[str, Any]:
    """Say of every fact whether it is true of its entity, of another, said by its owner, or none.

    What states only what other facts of the same entity state already is a near-duplicate where it
    says so in nearly the same words, and restates it where it says so in others.
    """
    count: Counter[str] = Counter()
    examples: dict[str, list[str]] = defaultdict(list)
    truths = 0
    for one in held:
        thing = names.thing(one.name)
        seen: set[str] = set()
        kept: list[set[str]] = []  # the words of the facts so far, without the name
        for fact in one.facts:
            states = world.states(fact)
            mine = {truth for of, truth in states if of == thing}
            if mine:
                said_so = set(words(fact)) - _SUBJECT - set(words(thing))
                near = any(_shared(said_so, other) >= _NEAR for other in kept)
                kind = "right" if not mine <= seen else "near_duplicate" if near else "restated"
                seen |= mine
                kept.append(said_so)
            elif plain(fact) in said[one.owner]:
                kind = "said"
            else:
                kind = "of_another" if states else "noise"
            count[kind] += 1
            if kind not in ("right", "said"):
                examples[kind].append(f"{one.name}: {fact}")
        truths += len(seen)
    total = sum(count.values())
    right = count["right"] + count["near_duplicate"] + count["restated"]
    with_facts = sum(bool(one.facts) for one in held)
    return {
        "facts": total,
        "facts_per_entity": round(total / with_facts, 2) if with_facts else 0.0,
        "near_duplicates": _percent(count["near_duplicate"], total),
        "restated": _percent(count["restated"], total),
        "facts_right": _percent(right + count["said"], total),
        "truths_held": truths,
        "fact_kinds": dict(sorted(count.items())),
        "fact_examples": {kind: rows[:_EXAMPLES] for kind, rows in sorted(examples.items())},
    }


def ungated(
    messages: Mapping[str, Iterable[str]], results: Mapping[str, Iterable[tuple[str, bool]]]
) -> list[Held]:
    """Return what a memory without any gate holds: every run of capitalised words is an entity.

    `results` gives each owner's result texts and whether a search that nobody asked for brought it.
    """
    found: list[Held] = []
    for owner, said in messages.items():
        asked = {name for text in said for name in _capitalised(text)}
        unasked: set[str] = set()
        for text, by_enrichment in results.get(owner, ()):
            (unasked if by_enrichment else asked).update(_capitalised(text))
        found += [Held(owner=owner, name=name) for name in sorted(asked)]
        found += [
            Held(owner=owner, name=name, by_enrichment=True) for name in sorted(unasked - asked)
        ]
    return found


def _capitalised(text: str) -> set[str]:
    return {_bare(match[0]) for match in _CAPITALISED.finditer(text)}


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _bare(name: str) -> str:
    return " ".join(name.lower().split()).removeprefix("the ")


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 0.0
