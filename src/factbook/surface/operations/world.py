"""The operations on what a person cares about; most are commands of a conversation too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from factbook.errors import UsageError
from factbook.language.values import count
from factbook.model.entities import PreferenceType
from factbook.model.facts import ME
from factbook.surface import records, views
from factbook.surface.operations.arguments import Owner
from factbook.surface.operations.base import ASK, KEEP, READ, Arg, Effect, Outcome, Run, operation
from factbook.surface.text import one_line

if TYPE_CHECKING:
    from factbook.model.entities import Entity

MaybeTopic = Annotated[str, Arg("In your own words.", metavar="[TOPIC]", given="words")]
Topic = Annotated[str, Arg("In your own words.", metavar="TOPIC", given="words")]
MaybeThing = Annotated[
    str, Arg("A thing, by its name or its number.", metavar="[NAME|N]", given="words")
]

NOTICES_SHOWN: Final = 20
NO_SEARCH: Final = (
    "no search provider is configured, so this waits; set FACTBOOK_SEARCH_FOLDER to a folder of"
    " your documents, or see docs/search.md"
)


def alone(said: str) -> bool:
    """Tell whether nothing was said: the forms without words show, those with some change."""
    return not said


def named(run: Run, name: str, owner: str) -> Entity | None:
    return run.memory.interests.named(name, owner=owner)


@operation(
    READ,
    Effect.CREATES,
    examples=("/learn kef ls50 meta", "/learn find me stuff about speakers", "/learn"),
    shows=alone,
)
def learn(run: Run, topic: MaybeTopic = "", owner: Owner = ME) -> Outcome:
    """Learn about a topic in the background; alone, show how far that has come."""
    interests = run.memory.interests
    if topic:
        asked = interests.learn(topic, owner=owner)
        every = [row for row in interests.learned(owner=owner) if row.prompt.id <= asked.id]
        first, shown = len(every), run.shown(every[-1:])
    else:
        first, shown = 1, run.shown(interests.learned(owner=owner))
    waits = any(not row.done for row in shown) and not run.memory.resources.has_search
    nothing = f"Nothing is to be learned yet; {run.page.typed('learn TOPIC')} begins."
    return Outcome(
        record={"prompt": shown[0]} if topic else {"prompts": shown},
        show=(lambda page: views.world.learning(page, shown, first=first)) if shown else nothing,
        notes=(NO_SEARCH,) if waits else (),
    )


@operation(
    READ, Effect.CREATES, name="lookup", slash="search", examples=("/search kef ls50 meta reviews",)
)
def lookup(
    run: Run,
    query: Annotated[str, Arg("Any words.", metavar="QUERY", given="words")],
    owner: Owner = ME,
) -> Outcome:
    """Search with the configured provider now, and keep what is found."""
    if not query:
        raise UsageError(detail=f"say what to search for, as {run.page.typed('search speakers')}")
    answer, log = run.shown(run.memory.interests.search_web(query, owner=owner))
    return Outcome(
        record={"search": log, "results": answer.results, "dropped": answer.dropped},
        show=lambda page: views.world.results(page, answer, log.query),
        notes=tuple(answer.remarks),
    )


@operation(
    READ,
    Effect.CREATES,
    examples=("/like espresso machines", "/like"),
    shows=alone,
    undone_by="unlike TOPIC",
)
def like(run: Run, topic: MaybeTopic = "", owner: Owner = ME) -> Outcome:
    """Say that you like something; alone, show what you like."""
    return _prefer(run, topic, owner, PreferenceType.LIKE)


@operation(READ, Effect.WRITES, examples=("/unlike espresso machines",))
def unlike(run: Run, topic: Topic, owner: Owner = ME) -> Outcome:
    """Take a like back."""
    return _unprefer(run, topic, owner, PreferenceType.LIKE)


@operation(
    READ,
    Effect.CREATES,
    examples=("/dislike sports", "/dislike"),
    shows=alone,
    undone_by="undislike TOPIC",
)
def dislike(run: Run, topic: MaybeTopic = "", owner: Owner = ME) -> Outcome:
    """Say that you want none of something; alone, show what you dislike."""
    return _prefer(run, topic, owner, PreferenceType.DISLIKE)


@operation(READ, Effect.WRITES, examples=("/undislike sports",))
def undislike(run: Run, topic: Topic, owner: Owner = ME) -> Outcome:
    """Take a dislike back."""
    return _unprefer(run, topic, owner, PreferenceType.DISLIKE)


def _prefer(run: Run, said: str, owner: str, kind: PreferenceType) -> Outcome:
    interests = run.memory.interests
    if not said:
        every = interests.preferences(owner=owner)
        preferences = run.shown([preference for preference in every if preference.type is kind])
        topics = ", ".join(one_line(preference.topic) for preference in preferences)
        how = f"You {kind} nothing yet; {run.page.typed(f'{kind} TOPIC')} says so."
        return Outcome(
            record={"preferences": preferences}, show=f"You {kind} {topics}." if topics else how
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
            "entity": run.shown(entity),
        },
        show=f"You{again} {kind} {one_line(topic)}."
        + " It is new here, and is looked up from now on." * found_new,
    )


def _unprefer(run: Run, said: str, owner: str, kind: PreferenceType) -> Outcome:
    interests = run.memory.interests
    topic = run.redact(interests.topic(run.redact(said), owner=owner))
    (interests.unlike if kind is PreferenceType.LIKE else interests.undislike)(said, owner=owner)
    return Outcome(
        record={"topic": topic, "type": kind, "removed": True},
        show=f"Taken back: you no longer {kind} {one_line(topic)}.",
    )


@operation(ASK, examples=("/notices",))
def notices(run: Run, owner: Owner = ME) -> Outcome:
    """List what was told by itself, and what waits to be."""
    interests = run.memory.interests
    shown = run.shown(interests.notices(owner=owner)[-NOTICES_SHOWN:])
    told_of = interests.entities(
        owner=owner, include_retired=True, ids=[notice.entity_id for notice in shown]
    )
    names = {entity.id: entity.name for entity in run.shown(told_of)}
    state = interests.notify_state(owner=owner)
    return Outcome(
        record={
            "notices": [
                records.notice(notice, names.get(notice.entity_id, "")) for notice in shown
            ],
            "state": state,
        },
        show=(lambda page: views.world.notices(page, shown, names, state))
        if shown or state.muted
        else "Nothing was told yet.",
    )


@operation(READ, Effect.WRITES, examples=("/react n3 👍", "/react n3 👎"))
def react(
    run: Run,
    target: Annotated[str, Arg(metavar="n3|e12", given="argument")],
    emoji: Annotated[str, Arg("👍 or 👎, among others.", metavar="EMOJI", given="argument")],
    owner: Owner = ME,
) -> Outcome:
    """Say of a notice or an answer whether you want more like it.

    Args:
        target: A notice, or a turn of the assistant.
    """
    if not emoji:
        raise UsageError(
            detail=f"say to what and how, as {run.page.typed('react n3 👍')};"
            f" {run.page.typed('notices')} shows the ids"
        )
    number = run.memory.interests.react(target, emoji.strip(), owner=owner).engagements
    return Outcome(
        record={"target": target, "emoji": emoji.strip(), "engagements": number},
        show=f"Noted for {count(number, 'thing')}." if number else "Nothing to note was in that.",
    )


@operation(
    KEEP, Effect.WRITES, examples=("/mute", "/mute kef ls50 meta"), undone_by="unmute [NAME|N]"
)
def mute(run: Run, thing: MaybeThing = "", owner: Owner = ME) -> Outcome:
    """Have no more notices, at all or about one thing."""
    return _mute(run, thing, owner, muted=True)


@operation(KEEP, Effect.WRITES, examples=("/unmute", "/unmute kef ls50 meta"))
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
