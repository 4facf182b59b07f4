"""The operations on what a person cares about; most are commands of a conversation too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from factbook.model.entities import PreferenceType
from factbook.model.facts import ME
from factbook.surface.operations.arguments import Owner
from factbook.surface.operations.base import KEEP, READ, Arg, Effect, Outcome, Run, operation
from factbook.surface.text import one_line

if TYPE_CHECKING:
    from factbook.model.entities import Entity

MaybeTopic = Annotated[str, Arg("In your own words.", metavar="[TOPIC]", given="words")]
Topic = Annotated[str, Arg("In your own words.", metavar="TOPIC", given="words")]
MaybeThing = Annotated[
    str, Arg("A thing, by its name or its number.", metavar="[NAME|N]", given="words")
]


def alone(said: str) -> bool:
    """Tell whether nothing was said: the forms without words show, those with some change."""
    return not said


def named(run: Run, name: str, owner: str) -> Entity | None:
    """Return the entity that a text names, by its name alone."""
    return run.memory.interests.named(name, owner=owner)


# --- preferences ----------------------------------------------------------------------------------


@operation(
    READ,
    Effect.CREATES,
    slash="like",
    examples=("/like espresso machines", "/like"),
    shows=alone,
    undone_by="unlike TOPIC",
)
def like(run: Run, topic: MaybeTopic = "", owner: Owner = ME) -> Outcome:
    """Say that you like something; alone, show what you like."""
    return _prefer(run, topic, owner, PreferenceType.LIKE)


@operation(READ, Effect.WRITES, slash="unlike", examples=("/unlike espresso machines",))
def unlike(run: Run, topic: Topic, owner: Owner = ME) -> Outcome:
    """Take a like back."""
    return _unprefer(run, topic, owner, PreferenceType.LIKE)


@operation(
    READ,
    Effect.CREATES,
    slash="dislike",
    examples=("/dislike sports", "/dislike"),
    shows=alone,
    undone_by="undislike TOPIC",
)
def dislike(run: Run, topic: MaybeTopic = "", owner: Owner = ME) -> Outcome:
    """Say that you want none of something; alone, show what you dislike."""
    return _prefer(run, topic, owner, PreferenceType.DISLIKE)


@operation(READ, Effect.WRITES, slash="undislike", examples=("/undislike sports",))
def undislike(run: Run, topic: Topic, owner: Owner = ME) -> Outcome:
    """Take a dislike back."""
    return _unprefer(run, topic, owner, PreferenceType.DISLIKE)


def _prefer(run: Run, said: str, owner: str, kind: PreferenceType) -> Outcome:
    from factbook.surface import records_world as records

    interests = run.memory.interests
    if not said:
        every = interests.preferences(owner=owner)
        found = run.shown([one for one in every if one.type is kind])
        listed = ", ".join(one_line(one.topic) for one in found)
        how = f"You {kind} nothing yet; {run.page.typed(f'{kind} TOPIC')} says so."
        return Outcome(
            record={"preferences": [records.preference(one) for one in found]},
            show=f"You {kind} {listed}." if listed else how,
        )
    topic = run.redact(interests.topic(run.redact(said), owner=owner))
    before = named(run, topic, owner)
    liked = kind is PreferenceType.LIKE
    receipt = (interests.like if liked else interests.dislike)(said, owner=owner)
    entity = named(run, topic, owner) or named(run, said, owner)
    found_new = liked and entity is not None and before is None
    again = "" if receipt.preferences else " still"
    return Outcome(
        record={
            "topic": topic,
            "type": kind,
            "new": bool(receipt.preferences),
            "entity": None if entity is None else records.entity(run.shown(entity)),
        },
        show=f"You{again} {kind} {one_line(topic)}."
        + " It is new here, and is looked up from now on." * found_new,
    )


def _unprefer(run: Run, said: str, owner: str, kind: PreferenceType) -> Outcome:
    interests = run.memory.interests
    topic = run.redact(interests.topic(run.redact(said), owner=owner))
    liked = kind is PreferenceType.LIKE
    (interests.unlike if liked else interests.undislike)(said, owner=owner)
    return Outcome(
        record={"topic": topic, "type": kind, "removed": True},
        show=f"Taken back: you no longer {kind} {one_line(topic)}.",
    )


# --- notices --------------------------------------------------------------------------------------


@operation(
    KEEP,
    Effect.WRITES,
    slash="mute",
    examples=("/mute", "/mute kef ls50 meta"),
    undone_by="unmute [NAME|N]",
)
def mute(run: Run, thing: MaybeThing = "", owner: Owner = ME) -> Outcome:
    """Have no more notices, at all or about one thing."""
    return _mute(run, thing, owner, muted=True)


@operation(KEEP, Effect.WRITES, slash="unmute", examples=("/unmute", "/unmute kef ls50 meta"))
def unmute(run: Run, thing: MaybeThing = "", owner: Owner = ME) -> Outcome:
    """Have notices again."""
    return _mute(run, thing, owner, muted=False)


def _mute(run: Run, thing: str, owner: str, *, muted: bool) -> Outcome:
    name = run.redact(run.memory.interests.mute(thing or None, muted=muted, owner=owner))
    about, which = (f" about {one_line(name)}", f" {one_line(name)}") if name else ("", "")
    back = run.page.typed(f"unmute{which}")
    return Outcome(
        record={"entity": name or None, "muted": muted},
        show=f"No more notices{about}; {back} turns them on again."
        if muted
        else f"Notices{about} are on again.",
    )
