"""The commands that a language model may help with, and what it proposed in vain.

As in `cli`: each command turns options into arguments, asks `Memory`, and shows what comes back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from factbook import policy
from factbook.errors import ModelError, UsageError
from factbook.model.facts import ME
from factbook.surface.options import (
    ASK,
    EXIT_CLARIFY,
    KEEP,
    READ,
    AllOwners,
    Call,
    Command,
    Db,
    Json,
    LlmModel,
    LlmProvider,
    LlmTimeout,
    LlmUrl,
    NoRedact,
    Owner,
    PlannerOption,
    Since,
    Until,
    app,
    at_least,
    begin,
    facts_failed,
    filters_from,
    model_from,
    planner_of,
    reading,
    say_others,
    whose_of,
)

if TYPE_CHECKING:
    from factbook.memory import Memory
    from factbook.memory.answering import Asked
    from factbook.model.facts import Receipt, Rejection
    from factbook.pipelines.keyed import Told
    from factbook.surface.output import Screen

REJECTIONS_SHOWN: Final = 20
_SUMMED: Final = 100  # seed 002: "Last 100 extractions"

Words = Annotated[
    list[str], typer.Argument(metavar="TEXT", help="In your own words.", show_default=False)
]


# --- keyed facts ----------------------------------------------------------------------------------


@app.command(cls=Command, rich_help_panel=READ)
def tell(
    ctx: typer.Context,
    said: Words,
    owner: Owner = ME,
    planner: PlannerOption = "model",
    provider: LlmProvider = None,
    model: LlmModel = None,
    url: LlmUrl = None,
    timeout: LlmTimeout = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Set, move and clear keyed facts and ranked lists by saying so."""
    call = begin(ctx, db, as_json)
    how, owner = planner_of(planner), _owner(owner)
    config = model_from(provider, model, url, timeout) if how == "model" else None
    with call.memory("create", model=config) as memory:
        try:
            found = memory.tell(" ".join(said), owner=owner, planner=how)
        except ModelError as error:
            facts_failed(call, error)
            raise
        _show_told(call, memory, found)


@app.command(cls=Command, rich_help_panel=ASK)
def ask(
    ctx: typer.Context,
    question: Words,
    owner: Owner = ME,
    planner: PlannerOption = "model",
    provider: LlmProvider = None,
    model: LlmModel = None,
    url: LlmUrl = None,
    timeout: LlmTimeout = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Read keyed facts and ranked lists by asking for them."""
    call = begin(ctx, db, as_json)
    how, owner = planner_of(planner), _owner(owner)
    config = model_from(provider, model, url, timeout) if how == "model" else None
    with call.memory("write", model=config) as memory:
        try:
            found = memory.ask(" ".join(question), owner=owner, planner=how)
        except ModelError as error:
            facts_failed(call, error)
            raise
        _show_asked(call, memory, found, owner=owner)


def _owner(said: str) -> str:
    """Return whom a command is about: keys of nobody would be found by nobody."""
    if not said.strip():
        raise UsageError(detail="--owner is empty; name somebody, or leave it out for yourself")
    return said


def _show_told(call: Call, memory: Memory, found: Told) -> None:
    screen = call.screen
    if screen.as_json:
        screen.json(found.to_json())
    else:
        _print_told(screen, memory, found)
    if found.failed and found.planner == "model":
        screen.error(
            ModelError.__name__,
            "the model's operations cannot be carried out as they are; nothing was written, and"
            " what you told waits: `factbook extract` asks again",
        )
        raise typer.Exit(ModelError.exit_code)
    if found.failed:  # the rules would say the same again: nothing waits
        screen.error(UsageError.__name__, "nothing was written; say it in other words")
        raise typer.Exit(UsageError.exit_code)
    if found.needs_clarification:
        raise typer.Exit(EXIT_CLARIFY)


def _print_told(screen: Screen, memory: Memory, found: Told) -> None:
    if found.failed:
        screen.line(screen.paint(found.label, "red"))
        screen.say(f"Facts system failed: {'; '.join(found.errors)}")
        return
    screen.line(screen.paint(found.label, "green" if found.changed else "yellow"))
    for topic in found.needs_clarification:
        screen.say(topic, "yellow")
    if found.needs_clarification:
        screen.say("Say it again with that; `factbook review` keeps the question.", "dim")
    show_keys(screen, memory, found.receipt, owner=found.owner)
    for warning in found.warnings:
        screen.say(f"  {warning}", "dim")
    for problem in found.errors:
        screen.say(f"  left out: {problem}", "yellow")
    if found.changed:
        screen.say(f'  because you said: "{found.message}"', "dim")


def show_keys(screen: Screen, memory: Memory, receipt: Receipt, *, owner: str) -> None:
    """Show what keys hold now that a message has changed them."""
    for key, action in receipt.keys:
        now = memory.keyed.keyed_facts(owner=owner, prefix=key, limit=1)
        value = now[0].object if now and now[0].predicate == key else "(nothing)"
        screen.say(f"  {_ACTIONS[action]:<9} {key} = {value}")


_ACTIONS: Final = {"store": "stored", "update": "updated", "noop": "as it was", "clear": "cleared"}


def _show_asked(call: Call, memory: Memory, found: Asked, *, owner: str) -> None:
    screen = call.screen
    if screen.as_json:
        screen.json(found.to_json())
    else:
        _print_asked(screen, memory, found, owner=owner)
    if found.needs_clarification:
        raise typer.Exit(EXIT_CLARIFY)


def _print_asked(screen: Screen, memory: Memory, found: Asked, *, owner: str) -> None:
    screen.line(screen.paint(found.label, "green" if found.answer.count else "yellow"))
    for question in found.needs_clarification:
        screen.say(question, "yellow")
    if not found.answer.facts and not found.needs_clarification:
        screen.say(f"Nothing is known under {found.plan_words}.")
    from factbook.model.keys import split_rank_key
    from factbook.surface import text

    several = len(found.answer.canonical_keys) > 1  # a rank alone would not say of which list
    heading = ""
    for fact in found.answer.facts:
        ranked = split_rank_key(fact.fact_key) if several and fact.rank is not None else None
        if ranked and ranked[0] != heading:
            screen.say(f"{ranked[0]}:")
        heading = ranked[0] if ranked else ""
        lead = f"{fact.rank:>3}. " if fact.rank is not None else f"{fact.fact_key}: "
        screen.say(f"{lead}{fact.value}")
        said = text.moment(fact.set_at)
        for quote in memory.keyed.quotes_of(fact.fact_id, owner=owner):
            said += f', because you said: "{quote}"'
        screen.say(f"     f{fact.fact_id}  {said}", "dim")
    if found.answer.left_out:
        screen.say(f"and {found.answer.left_out} more", "dim")


# --- typed memories -------------------------------------------------------------------------------


@app.command("extract", cls=Command, rich_help_panel=READ)
def extract(
    ctx: typer.Context,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", metavar="N", help="At most N summaries.", show_default=False),
    ] = None,
    commands: Annotated[
        bool,
        typer.Option(
            "--commands",
            help="Hosts, operations and files of commands that no rule understands, instead.",
            show_default=False,
        ),
    ] = False,
    retry: Annotated[
        bool,
        typer.Option(
            "--retry",
            help="Those that were set aside too, of every kind: summaries, messages, commands and"
            " pairs.",
            show_default=False,
        ),
    ] = False,
    provider: LlmProvider = None,
    model: LlmModel = None,
    url: LlmUrl = None,
    timeout: LlmTimeout = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Let the model propose memories from summaries, or facts from commands; code decides."""
    call = begin(ctx, db, as_json)
    if limit is not None:
        at_least(1, limit, "--limit")
    config = model_from(provider, model, url, timeout)
    with call.memory("write", model=config) as memory:
        revived = _revive(memory) if retry and memory.resources.has_model else 0
        if revived and not call.screen.as_json:
            from factbook.surface.text import count

            call.screen.say(f"{count(revived, 'input')} no more set aside", "dim")
        if commands:
            _extract_commands(call, memory, limit, revived=revived)
        else:
            _extract_typed(call, memory, limit, revived=revived)


def _revive(memory: Memory) -> int:
    """Let everything that was set aside be asked about again; return how much it was."""
    from factbook.maintenance import verdict_queue
    from factbook.pipelines import commands, keyed, typed

    kinds = (typed.KIND, keyed.KIND, commands.KIND, verdict_queue.TASK)
    return sum(memory.maintenance.retry_tasks(kind).updated for kind in kinds)


def _extract_typed(call: Call, memory: Memory, limit: int | None, *, revived: int) -> None:
    from factbook.memory.standing import unanswered

    found = memory.typed.extract_typed(limit=limit)
    told = memory.keyed.retry_told()
    redact = memory.resources.redactor.redact
    left = unanswered(memory)
    ids = memory.store.episode_ids([uid for uid, _ in told.failed])
    told_failed = [(ids[uid], why) for uid, why in told.failed]
    if call.screen.as_json:
        from factbook.surface import records_model

        call.screen.json(
            records_model.typed(
                found, told, left, told_failed=told_failed, revived=revived, redact=redact
            )
        )
    else:
        from factbook.surface import render_model

        failed = [(f"e{one}", why) for one, why in (*found.failed, *told_failed)]
        render_model.typed(call.screen, found, told, left, failed=failed, redact=redact)
    if found.failed or told.failed:
        raise typer.Exit(ModelError.exit_code)


def _extract_commands(call: Call, memory: Memory, limit: int | None, *, revived: int) -> None:
    from factbook.memory.standing import unanswered

    found = memory.typed.extract_commands(limit=limit)
    redact = memory.resources.redactor.redact
    left = unanswered(memory)
    if call.screen.as_json:
        from factbook.surface import records_model

        call.screen.json(records_model.commands(found, left, revived=revived, redact=redact))
    else:
        from factbook.surface import render_model

        render_model.commands(call.screen, found, left, redact=redact)
    if found.failed:
        raise typer.Exit(ModelError.exit_code)


# --- what was refused -----------------------------------------------------------------------------


@app.command(cls=Command, rich_help_panel=KEEP)
def rejections(
    ctx: typer.Context,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", help="The newest N.")
    ] = REJECTIONS_SHOWN,
    reason: Annotated[
        str, typer.Option("--reason", metavar="NAME", help="Only these.", show_default=False)
    ] = "",
    type_: Annotated[
        str,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Only of USER_FACT, USER_PATTERN or SHARED_NARRATIVE.",
            show_default=False,
        ),
    ] = "",
    rule: Annotated[
        str, typer.Option("--rule", metavar="NAME", help="Only by this rule.", show_default=False)
    ] = "",
    owner: Owner = ME,
    all_owners: AllOwners = False,
    since: Since = "",
    until: Until = "",
    typed: Annotated[
        bool,
        typer.Option("--typed", help="Only memories that a model proposed.", show_default=False),
    ] = False,
    summary: Annotated[
        bool,
        typer.Option(
            "--summary",
            help=f"Sum up the last {_SUMMED} memories that a model proposed, and their trend.",
            show_default=False,
        ),
    ] = False,
    no_redact: NoRedact = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """List lines, claims and memories that were refused, and why."""
    from factbook import RejectionFilters

    call = begin(ctx, db, as_json)
    at_least(1, limit, "--limit")
    if reason and reason not in (*policy.REJECTION_REASONS, *policy.LINE_REJECTIONS):
        known = ", ".join((*policy.REJECTION_REASONS, *policy.LINE_REJECTIONS))
        raise UsageError(detail=f"{reason!r} is no reason; give one of {known}")
    if type_ and type_ not in policy.TYPE_THRESHOLD:
        raise UsageError(
            detail=f"{type_!r} is no type; give one of {', '.join(policy.TYPE_THRESHOLD)}"
        )
    times = filters_from(since=since, until=until)
    filters = RejectionFilters(
        reason=reason,
        type=type_,
        rule=rule,
        owner=whose_of(owner, all_owners),
        since=times.since,
        until=times.until,
        typed_only=typed,
    )
    with reading(call, no_redact=no_redact) as memory:
        if summary:
            _show_summary(call, memory)
            return
        redact = memory.resources.redactor.redact
        found = [
            replace(
                one,
                detail=redact(one.detail),
                excerpt=redact(one.excerpt),
                validation=_mapping(memory.resources.redactor.redact_value(dict(one.validation))),
            )
            for one in memory.sources.rejections(limit=limit, filters=filters)
        ]
        _show_rejections(call, memory, found)
        if not found:
            say_others(call, memory, filters.owner)


def _mapping(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    return value


def _show_rejections(call: Call, memory: Memory, found: list[Rejection]) -> None:
    if call.screen.as_json:
        from factbook.surface import records

        tenant = memory.store.tenant
        call.screen.json({"rejections": [records.rejection(one, tenant=tenant) for one in found]})
        return
    from factbook.surface import render

    if not found:
        call.screen.say("Nothing was refused.")
        return
    render.rejections(call.screen, found, redact=lambda text: text)


def _show_summary(call: Call, memory: Memory) -> None:
    found = memory.typed.rejection_summary(limit=_SUMMED)
    if call.screen.as_json:
        from factbook.surface import records_model

        call.screen.json(records_model.summary(found))
        return
    for line in found.lines():
        call.screen.say(line) if line else call.screen.line()
