"""The commands of a conversation: `/learn`, `/like`, `/memory`, `/interests`, `/why` and the rest.

    reply = run(memory, "/learn kef ls50 meta", owner="me")
    print(reply.text)

One table says what there is; a chat, the command line and a program call the same functions. Only
what a person types is ever handed to `run`: nothing that a page or a model says becomes a command.

Knows: the memory's methods, and which command calls which. Does not know: a terminal, or how an
answer is shown (`render_world`, `records_world`). What is wrong with a command is a FactbookError
with one sentence, as everywhere.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from factbook.errors import NotFound, UsageError
from factbook.model.confidence import as_of
from factbook.model.facts import ME, Status
from factbook.model.keys import entity_name
from factbook.surface import reasons, records_world, render_world
from factbook.surface.operations import EVERY, Operation, Run
from factbook.surface.operations.base import show
from factbook.surface.output import Page
from factbook.surface.records.keep import standing as standing_record
from factbook.surface.text import count, one_line
from factbook.surface.views.erased import (
    EXIT_STANDS,
    file_holds,
    how_it_goes,
    looked_through,
    rows_left,
    stands,
)

if TYPE_CHECKING:
    from factbook.maintenance.erasure import Erased
    from factbook.memory import Memory
    from factbook.model.entities import Entity
    from factbook.model.facts import Fact

__all__ = [
    "COMMANDS",
    "Reply",
    "SlashCommand",
    "invoke",
    "is_command",
    "parse",
    "run",
    "shown_entities",
]

NOTICES_SHOWN: Final = 20
HOUR_MS: Final = 3_600_000
LEAST_EVERY_MS: Final = 10 * 60_000  # ours: a schedule that comes more often is a mistake
MOST_EVERY_MS: Final = 366 * 24 * HOUR_MS
_FINISH: Final = "`factbook erase --finish` cleans it later"
_NEAR: Final = 0.6  # how alike a mistyped command must be to the one that is suggested

NO_SEARCH: Final = (
    "no search provider is configured, so this waits; set FACTBOOK_SEARCH_FOLDER to a folder of"
    " your documents, or see docs/search.md"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a command answers."""

    text: str  # for people: no markup, and nothing in it that a terminal obeys
    data: Mapping[str, object] = field(default_factory=dict)  # the same for programs, JSON-able
    notes: Sequence[str] = ()  # remarks beside the answer, one sentence each
    quit: bool = False  # whether the conversation is to end
    code: int = 0  # what a program ends with that did this alone


Handler = Callable[["Memory", str, str, Page], Reply]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """One command."""

    name: str  # without the slash
    usage: str  # what may follow it; in brackets what need not
    help: str  # in one line
    examples: Sequence[str]  # as they are typed
    handler: Handler  # (memory, argument, owner, look); the argument has no blanks around it
    reads: Callable[[str], bool]  # whether with this argument nothing is written

    @property
    def form(self) -> str:
        """Return how it is typed."""
        return f"/{self.name} {self.usage}".rstrip()


# --- what is typed --------------------------------------------------------------------------------


def is_command(line: str) -> bool:
    """Tell whether a line is meant as a command: it begins with a slash, without a blank before."""
    return line.startswith("/")


def parse(line: str) -> tuple[SlashCommand, str]:
    """Return the command that a line names, and its argument.

    Raises UsageError for a line that is none, with the nearest one where there is one.
    """
    said = line.rstrip()
    word, *rest = said[1:].split(None, 1) if is_command(said) and said[1:] else [""]
    name, argument = word.casefold(), "".join(rest)
    found = COMMANDS.get(name)
    if found is not None:
        return found, " ".join(argument.split())
    shown = one_line(said.split(" ", 1)[0] if said else "")[:60]
    if not is_command(said):
        raise UsageError(detail=f"{shown!r} is no command; one begins with a slash, as /help")
    if not re.fullmatch(r"[a-z]+", name):  # a path, a fraction, a date
        raise UsageError(
            detail=f"{shown!r} is no command; put a blank before it to say it as it is, or type"
            " /help"
        )
    near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=_NEAR)
    hint = f"did you mean /{near[0]}?" if near else "/help lists them"
    raise UsageError(detail=f"{shown!r} is no command; {hint}")


def run(memory: Memory, line: str, *, owner: str = ME, look: Page | None = None) -> Reply:
    """Do what a line that a person typed commands, and note that the person did something.

    Raises UsageError for what is no command, and what the command itself raises.
    """
    command, argument = parse(line)
    if command.reads(argument):
        memory.interests.note_action(owner=owner)  # the others note it with what they keep
    return command.handler(memory, argument, owner, look or Page())


def invoke(
    memory: Memory, name: str, argument: str = "", *, owner: str = ME, look: Page | None = None
) -> Reply:
    """Do what a command does without noting that somebody acted: for reading by a program.

    Raises UsageError for a name that is no command, and what the command itself raises.
    """
    command, said = parse(f"/{name} {argument}")
    return command.handler(memory, said, owner, look or Page())


# --- what the answers share -----------------------------------------------------------------------


class _Shown:
    """Redacts on the way out: a rule learned today protects what was stored yesterday."""

    def __init__(self, memory: Memory) -> None:
        self.redact = memory.resources.redactor.redact

    def entity(self, one: Entity) -> Entity:
        """Return an entity as it may be shown."""
        aliases = tuple(self.redact(alias) for alias in one.aliases)
        return one._replace(name=self.redact(one.name), aliases=aliases)

    def entities(self, found: Sequence[Entity]) -> list[Entity]:
        """Return entities as they may be shown."""
        return [self.entity(one) for one in found]


def shown_entities(memory: Memory, found: Sequence[Entity]) -> list[Entity]:
    """Return entities as they may be shown, redacted once more."""
    return _Shown(memory).entities(found)


_FACT: Final = re.compile(r"f(\d{1,18})")
_NOTICE: Final = re.compile(r"n(\d{1,18})")


def _named(memory: Memory, text: str, owner: str) -> Entity | None:
    """Return the entity that a text names, by its name alone."""
    name = entity_name(text)
    return memory.interests.named(name, owner=owner) if name else None


def _split(memory: Memory, argument: str, owner: str, *, verbs: Sequence[str]) -> tuple[str, str]:
    """Return what a command is about and the verb behind it, "" without one.

    A name that ends in such a word is a name: it is looked for whole first.
    """
    rest, _, last = argument.rpartition(" ")
    if last.casefold() not in verbs or not rest or _named(memory, argument, owner) is not None:
        return argument, ""
    return rest, last.casefold()


def _owned(memory: Memory, number: int, owner: str) -> Fact | None:
    found = memory.store.fact(number)
    if found is None or found.owner != owner or found.status is Status.ERASED:
        return None
    return found


def _fact_of(memory: Memory, number: int, owner: str) -> Fact:
    """Return a fact of the owner; that of somebody else is not there for them."""
    found = _owned(memory, number, owner)
    if found is None:
        raise NotFound(
            what="fact",
            name=f"f{number}",
            hint="`factbook memory NAME` shows the facts of a thing with their ids.",
        )
    return found


def _nothing(argument: str) -> bool:
    """Tell whether there is no argument: the forms without one show, those with one change."""
    return not argument


def _always(argument: str) -> bool:
    del argument
    return True


def _never(argument: str) -> bool:
    del argument
    return False


# --- learn ----------------------------------------------------------------------------------------


def _learn(memory: Memory, argument: str, owner: str, look: Page) -> Reply:
    shown = _Shown(memory)
    if argument:
        asked = memory.interests.learn(argument, owner=owner)
        found = [one for one in memory.interests.learned(owner=owner) if one.prompt.id <= asked.id]
        first, found = len(found), found[-1:]
    else:
        first, found = 1, memory.interests.learned(owner=owner)
    statuses = [
        replace(
            one,
            prompt=one.prompt._replace(text=shown.redact(one.prompt.text)),
            entities=[(shown.entity(entity), number) for entity, number in one.entities],
            failed=[(shown.redact(query), shown.redact(why)) for query, why in one.failed],
        )
        for one in found
    ]
    waits = any(not one.done for one in statuses) and not memory.resources.has_search
    notes = (NO_SEARCH,) if waits else ()
    text = render_world.learning(statuses, first=first, look=look)
    if not argument:
        return Reply(
            text=text or f"Nothing is to be learned yet; {look.typed('learn TOPIC')} begins.",
            data={"prompts": [records_world.learn_status(one) for one in statuses]},
            notes=notes,
        )
    return Reply(text=text, data={"prompt": records_world.learn_status(statuses[0])}, notes=notes)


def _search(memory: Memory, argument: str, owner: str, look: Page) -> Reply:
    if not argument:
        raise UsageError(detail=f"say what to search for, as {look.typed('search speakers')}")
    answer, log = memory.interests.search_web(argument, owner=owner)
    redact = memory.resources.redactor.redact
    results = [
        replace(one, title=redact(one.title), url=redact(one.url), text=redact(one.text))
        for one in answer.results
    ]
    shown = replace(answer, results=results)
    return Reply(
        text=render_world.results(shown, redact(log.query), look=look),
        data=records_world.search(shown, log._replace(query=redact(log.query))),
        notes=tuple(redact(one) for one in answer.remarks),
    )


# --- memory ---------------------------------------------------------------------------------------


def _memory(memory: Memory, argument: str, owner: str, look: Page) -> Reply:
    shown = _Shown(memory)
    if not argument:
        known = shown.entities(memory.interests.entities(owner=owner))
        return Reply(
            text=render_world.entities(known, look=look)
            or f"Nothing is known yet; {look.typed('learn TOPIC')} begins.",
            data={"entities": [records_world.entity(one, n) for n, one in enumerate(known, 1)]},
        )
    target, verb = _split(memory, argument, owner, verbs=("delete", "restore"))
    if verb == "delete":
        return _deleted(memory, target, owner, look)
    if verb == "restore":
        back = shown.entity(memory.interests.restore_entity(target, owner=owner))
        return Reply(
            text=f"{one_line(back.name)} is back, with {count(back.fact_count, 'fact')}.",
            data={"restored": records_world.entity(back)},
        )
    view = memory.interests.entity(target, owner=owner)
    brought = reasons.brought_in(memory, view.entity)
    place = reasons.place_of(memory, view.entity)
    view = replace(
        view,
        entity=shown.entity(view.entity),
        facts=[reasons.shown_fact(memory, as_of(one, memory.clock())) for one in view.facts],
        preferences=[
            (one._replace(topic=shown.redact(one.topic)), cosine)
            for one, cosine in view.preferences
        ],
        places={fact: (shown.redact(url), search) for fact, (url, search) in view.places.items()},
    )
    return Reply(
        text=render_world.entity(view, brought, place=place, look=look),
        data=records_world.entity_view(view, brought, place=place),
    )


def _deleted(memory: Memory, target: str, owner: str, look: Page) -> Reply:
    gone = _Shown(memory).entity(memory.interests.delete_entity(target, owner=owner))
    name = one_line(gone.name)
    facts = f", with {count(gone.fact_count, 'fact')}" if gone.fact_count else ""
    return Reply(
        text=f"Forgotten: {name}{facts}; {look.typed(f'memory {name} restore')} brings it back.",
        data={"deleted": records_world.entity(gone)},
    )


def _forget(memory: Memory, argument: str, owner: str, look: Page) -> Reply:
    if not argument:
        raise UsageError(detail="say what to forget: the name of a thing, or a fact as f12")
    target, verb = _split(memory, argument, owner, verbs=("erase",))
    match = _FACT.fullmatch(target)
    entity = _named(memory, target, owner)
    if match and entity is not None and _owned(memory, int(match[1]), owner) is not None:
        raise UsageError(
            detail=f"{target} is both a fact and the name of a thing;"
            f" {look.typed(f'memory {reasons.place_of(memory, entity)} delete')} forgets the thing,"
            f" `factbook feedback {target} wrong` the fact"
        )
    if match and entity is None:
        fact = _fact_of(memory, int(match[1]), owner)
        return _erased_fact(memory, fact, owner) if verb else _forgotten_fact(memory, fact, owner)
    return _erased_entity(memory, target, owner) if verb else _deleted(memory, target, owner, look)


def _forgotten_fact(memory: Memory, fact: Fact, owner: str) -> Reply:
    memory.review.feedback(fact.id, right=False, owner=owner)
    memory.interests.note_action(owner=owner)
    statement = memory.resources.redactor.redact(fact.statement)
    return Reply(
        text=f"f{fact.id} is out of all retrieval: {one_line(statement)}",
        data={"forgotten": {"id": f"f{fact.id}", "statement": statement}},
    )


def _erased_fact(memory: Memory, fact: Fact, owner: str) -> Reply:
    done = memory.erasure.erase_fact(fact.id, owner=owner)
    memory.interests.note_action(owner=owner)
    return _erased(f"f{fact.id}", done)


def _erased_entity(memory: Memory, target: str, owner: str) -> Reply:
    known = memory.interests.entities(owner=owner)
    numbered = target.isascii() and target.isdigit() and 1 <= int(target) <= len(known)
    name = known[int(target) - 1].name if numbered else entity_name(target)
    done = memory.erasure.erase_entity(name, owner=owner)
    memory.interests.note_action(owner=owner)
    return _erased(memory.resources.redactor.redact(name), done)


def _erased(name: str, done: Erased) -> Reply:
    """Say what is gone, and whether the file was found clean of it."""
    rows = {what: number for what, number in done.receipt.erased.items() if number}
    file = done.file
    notes = []
    if file is not None and file.waiting:
        notes.append(f"its bytes may still be in the file: {file.waiting}; {_FINISH}")
    elif file is not None and not file.clean:
        notes.append(f"short pieces like it still stand in the file; {_FINISH}")
    clean = file is not None and file.clean
    standing = done.standing
    return Reply(
        text="\n".join(
            [
                f"Erased {one_line(name)}: {count(sum(rows.values()), 'row')} for good."
                + (f" {looked_through(done)}" if clean else ""),
                *(rows_left(standing) if standing is not None else ()),
            ]
        ),
        data={"erased": {"what": name, "rows": rows, "clean": clean, **standing_record(done)}},
        notes=[
            *notes,
            *(how_it_goes(standing) if standing is not None else ()),
            *(file_holds(one) for one in (file.copies if file is not None else ())),
        ],
        code=EXIT_STANDS * stands(done),
    )


# --- interests ------------------------------------------------------------------------------------


def _interests(memory: Memory, argument: str, owner: str, look: Page) -> Reply:
    if argument:
        raise UsageError(
            detail=f"nothing follows here; {look.typed('why NAME')} explains one thing"
        )
    shown = _Shown(memory)
    rows = [
        replace(one, entity=shown.entity(one.entity))
        for one in memory.interests.ranked(owner=owner)
    ]
    preferences = [
        one._replace(topic=shown.redact(one.topic))
        for one in memory.interests.preferences(owner=owner)
    ]
    return Reply(
        text=render_world.interests(rows, preferences, look=look)
        or f"There is no interest yet; {look.typed('like TOPIC')} begins.",
        data={
            "interests": [records_world.interest(one) for one in rows],
            "preferences": [records_world.preference(one) for one in preferences],
        },
    )


def _why(memory: Memory, argument: str, owner: str, look: Page) -> Reply:
    if not argument:
        raise UsageError(
            detail="say of what: the name or the number of a thing, a fact as f12, a notice as n3"
        )
    fact, notice = _FACT.fullmatch(argument), _NOTICE.fullmatch(argument)
    if (fact or notice) and _named(memory, argument, owner) is not None:
        fact = notice = None  # a thing may be called so, too: a plane, a road
    if fact:
        why = reasons.of_fact(memory, _fact_of(memory, int(fact[1]), owner))
        return Reply(text=render_world.why_fact(why, look=look), data=records_world.why_fact(why))
    if notice:
        told = reasons.of_notice(memory, int(notice[1]), owner)
        return Reply(
            text=render_world.why_notice(told, look=look), data=records_world.why_notice(told)
        )
    cared = reasons.of_entity(memory, memory.interests.find_entity(argument, owner=owner))
    return Reply(
        text=render_world.why_entity(cared, look=look), data=records_world.why_entity(cared)
    )


# --- schedules ------------------------------------------------------------------------------------

_UNITS: Final[Mapping[str, int]] = MappingProxyType(
    {"m": 60_000, "h": HOUR_MS, "d": 24 * HOUR_MS, "w": 7 * 24 * HOUR_MS}
)
_EVERY: Final = re.compile(
    r"(?:(?P<word>daily|weekly)"
    r"|every\s+(?:(?P<number>\d{1,6})\s*)?"
    r"(?P<unit>m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?))\s+(?P<topic>\S.*)",
    re.IGNORECASE,
)
_DROP: Final = re.compile(r"#?(\d{1,9})\s+delete", re.IGNORECASE)


def _schedule(memory: Memory, argument: str, owner: str, look: Page) -> Reply:
    redact = memory.resources.redactor.redact
    if not argument:
        known = [
            one._replace(topic=redact(one.topic)) for one in memory.interests.schedules(owner=owner)
        ]
        return Reply(
            text=render_world.schedules(known, look=look)
            or f"No schedules yet; {look.typed('schedule daily TOPIC')} begins.",
            data={"schedules": [records_world.schedule(one, n) for n, one in enumerate(known, 1)]},
        )
    drop = _DROP.fullmatch(argument)
    if drop is not None:
        gone = memory.interests.unschedule(int(drop[1]), owner=owner)
        gone = gone._replace(topic=redact(gone.topic))
        return Reply(
            text=f"Ended: {render_world.every(gone.every_ms)}, '{one_line(gone.topic)}'.",
            data={"ended": records_world.schedule(gone, int(drop[1]))},
        )
    topic, every_ms = _when(argument, look)
    made = memory.interests.schedule(topic, every_ms, owner=owner)
    made = made._replace(topic=redact(made.topic))
    return Reply(
        text=f"Scheduled {render_world.every(made.every_ms)}: '{one_line(made.topic)}',"
        " for the first time now.",
        data={
            "schedule": records_world.schedule(made, len(memory.interests.schedules(owner=owner))),
        },
        notes=() if memory.resources.has_search else (NO_SEARCH,),
    )


def _when(argument: str, look: Page) -> tuple[str, int]:
    """Read how often, and what about."""
    match = _EVERY.fullmatch(argument)
    if match is None:
        raise UsageError(
            detail=f"{one_line(argument)[:60]!r} does not say how often;"
            f" {look.typed('schedule daily TOPIC')}, {look.typed('schedule every 6h TOPIC')} or"
            f" {look.typed('schedule 2 delete')}"
        )
    unit = (match["word"] or match["unit"])[0].lower()
    every_ms = int(match["number"] or 1) * _UNITS[unit]
    if not LEAST_EVERY_MS <= every_ms <= MOST_EVERY_MS:
        raise UsageError(
            detail=f"{render_world.every(every_ms)} is too {_extreme(every_ms)}; give between"
            f" {render_world.every(LEAST_EVERY_MS)} and {render_world.every(MOST_EVERY_MS)}"
        )
    return match["topic"], every_ms


def _extreme(every_ms: int) -> str:
    return "often" if every_ms < LEAST_EVERY_MS else "seldom"


# --- notices --------------------------------------------------------------------------------------


def _notices(memory: Memory, argument: str, owner: str, look: Page) -> Reply:
    if argument:
        raise UsageError(detail=f"nothing follows here; {look.typed('why n3')} explains one notice")
    shown = _Shown(memory)
    found = memory.interests.notices(owner=owner)[-NOTICES_SHOWN:]
    every = memory.interests.entities(
        owner=owner, include_retired=True, ids=[one.entity_id for one in found]
    )
    names = {one.id: shown.redact(one.name) for one in every}
    found = [one._replace(reason=shown.redact(one.reason)) for one in found]
    state = memory.interests.notify_state(owner=owner)
    return Reply(
        text=render_world.notices(found, names, state, look=look) or "Nothing was told yet.",
        data={
            "notices": [records_world.notice(one, names.get(one.entity_id, "")) for one in found],
            "state": records_world.notify_state(state),
        },
    )


def _react(memory: Memory, argument: str, owner: str, look: Page) -> Reply:
    target, _, emoji = argument.partition(" ")
    if not emoji:
        raise UsageError(
            detail=f"say to what and how, as {look.typed('react n3 👍')};"
            f" {look.typed('notices')} shows the ids"
        )
    receipt = memory.interests.react(target, emoji.strip(), owner=owner)
    number = receipt.engagements
    return Reply(
        text=f"Noted for {count(number, 'thing')}." if number else "Nothing to note was in that.",
        data={"target": target, "emoji": emoji.strip(), "engagements": number},
    )


# --- the rest -------------------------------------------------------------------------------------


def _help(memory: Memory, argument: str, owner: str, look: Page) -> Reply:
    del memory, owner
    wanted = argument.removeprefix("/")
    shown = [parse(f"/{wanted}")[0]] if wanted else list(COMMANDS.values())
    rows = [(one.form, one.help) for one in shown]
    examples = shown[0].examples if wanted else ()
    return Reply(
        text=render_world.help_of(rows, examples, look=look),
        data={
            "commands": [
                {
                    "name": one.name,
                    "form": one.form,
                    "help": one.help,
                    "examples": list(one.examples),
                }
                for one in shown
            ]
        },
    )


def _quit(memory: Memory, argument: str, owner: str, look: Page) -> Reply:
    del memory, argument, owner, look
    return Reply(text="", quit=True)


# --- the table ------------------------------------------------------------------------------------


def _shows_memory(argument: str) -> bool:
    return argument.rpartition(" ")[2].casefold() not in ("delete", "restore")


def _table() -> dict[str, SlashCommand]:
    found = (
        SlashCommand(
            name="learn",
            usage="[TOPIC]",
            help="Learn about something in the background; alone, how far that has come.",
            examples=("/learn kef ls50 meta", "/learn find me stuff about speakers", "/learn"),
            handler=_learn,
            reads=_nothing,
        ),
        SlashCommand(
            name="memory",
            usage="[N|NAME] [delete|restore]",
            help="What is known; one thing with its facts; forget a thing, or bring it back.",
            examples=("/memory", "/memory 2", "/memory 2 delete", "/memory kef ls50 restore"),
            handler=_memory,
            reads=_shows_memory,
        ),
        SlashCommand(
            name="interests",
            usage="",
            help="What you care about, as far as what you did tells.",
            examples=("/interests",),
            handler=_interests,
            reads=_always,
        ),
        SlashCommand(
            name="schedule",
            usage="[daily|weekly|every 6h TOPIC | N delete]",
            help="Search for something again and again; alone, what is scheduled.",
            examples=("/schedule daily ai conferences in europe", "/schedule 1 delete"),
            handler=_schedule,
            reads=_nothing,
        ),
        SlashCommand(
            name="search",
            usage="QUERY",
            help="Search now, with the configured provider, and keep what is found.",
            examples=("/search kef ls50 meta reviews",),
            handler=_search,
            reads=_never,
        ),
        SlashCommand(
            name="why",
            usage="N|NAME|f12|n3",
            help="Why a thing is cared about, where a fact comes from, why a notice was told.",
            examples=("/why kef ls50 meta", "/why f12", "/why n3"),
            handler=_why,
            reads=_always,
        ),
        SlashCommand(
            name="forget",
            usage="NAME|f12 [erase]",
            help="Leave a thing or a fact out; with erase, take it out for good.",
            examples=("/forget kef ls50 meta", "/forget f12", "/forget f12 erase"),
            handler=_forget,
            reads=_never,
        ),
        SlashCommand(
            name="notices",
            usage="",
            help="What was told by itself, and what waits to be.",
            examples=("/notices",),
            handler=_notices,
            reads=_always,
        ),
        SlashCommand(
            name="react",
            usage="n3|e12 EMOJI",
            help="Say of a notice or an answer whether you want more like it.",
            examples=("/react n3 👍", "/react n3 👎"),
            handler=_react,
            reads=_never,
        ),
        SlashCommand(
            name="help",
            usage="[COMMAND]",
            help="What can be typed.",
            examples=("/help", "/help learn"),
            handler=_help,
            reads=_always,
        ),
        SlashCommand(
            name="quit",
            usage="",
            help="End the conversation.",
            examples=("/quit",),
            handler=_quit,
            reads=_always,
        ),
    )
    return {one.name: one for one in (*found, *map(_of, filter(_has_slash, EVERY.values())))}


def _has_slash(one: Operation) -> bool:
    return bool(one.slash)


def _of(one: Operation) -> SlashCommand:
    """Return an operation as a command of a conversation."""

    def handler(memory: Memory, argument: str, owner: str, look: Page) -> Reply:
        given = one.words(argument)
        if any(part.name == "owner" for part in one.parameters):
            given["owner"] = owner
        outcome = one.call(Run(look, memory=memory), **one.bind(given))
        assert outcome is not None
        shown = look.blank()
        show(outcome, shown)
        return Reply(
            text=shown.written,
            data=outcome.record,
            notes=outcome.notes,
            quit=outcome.quit,
            code=outcome.code,
        )

    return SlashCommand(
        name=one.slash,
        usage=one.usage,
        help=one.help,
        examples=one.examples,
        handler=handler,
        reads=one.reads,
    )


COMMANDS: Final[Mapping[str, SlashCommand]] = MappingProxyType(_table())
"""Every command by its name, in the order of the help."""
