"""The commands of an agent's loop, for people: what it would be given, and what it would find."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

import typer

from factbook.errors import UsageError
from factbook.model.facts import ME
from factbook.surface import text
from factbook.surface.options import (
    ASK,
    AllOwners,
    Command,
    Db,
    Json,
    Owner,
    app,
    at_least,
    begin,
    say_others,
    whose_of,
)

if TYPE_CHECKING:
    from factbook.recall.budget import PromptContext
    from factbook.surface.output import Screen

_TYPES: Final = ("facts", "episodes", "both")
_TOKENS: Final = 1_500  # seed 001: the hard limit

WorkSession = Annotated[
    str,
    typer.Option(
        "--session",
        metavar="ID",
        help="The conversation that it is shown in, so that it is never taken for evidence.",
        show_default=False,
    ),
]


@app.command("search", cls=Command, rich_help_panel=ASK)
def search(
    ctx: typer.Context,
    query: Annotated[
        list[str], typer.Argument(metavar="QUERY", help="Any words.", show_default=False)
    ],
    search_type: Annotated[
        str, typer.Option("--type", metavar="TYPE", help="facts, episodes or both.")
    ] = "both",
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="At most N.")] = 5,
    owner: Owner = ME,
    all_owners: AllOwners = False,
    session: WorkSession = "",
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Search as an agent does with `search_memory`: one of each cluster, sure enough."""
    call = begin(ctx, db, as_json)
    at_least(1, limit, "--limit")
    if search_type not in _TYPES:
        raise UsageError(detail=f"{search_type!r} is no type; give one of {', '.join(_TYPES)}")
    about = whose_of(owner, all_owners)
    with call.memory("write") as memory:
        hits = memory.search_memory(
            " ".join(query),
            cast(Literal["facts", "episodes", "both"], search_type),
            limit,
            session=session,
            owner=about,
        )
        if not hits:
            say_others(call, memory, about)
    if call.screen.as_json:
        from factbook.surface import records

        call.screen.json({"hits": [records.hit(one) for one in hits]})
        return
    if not hits:
        call.screen.say("Nothing was found that is sure enough. Other words may find it.")
        return
    width = max(len(one.id) for one in hits)
    for one in hits:
        day = (one.timestamp or "no date")[:10]
        lead = f"{one.id.ljust(width)}  {day}  {one.confidence:.2f}  "
        lines = text.wrap(text.one_line(one.text), call.screen.prose - len(lead), lines=3)
        call.screen.line(lead + lines[0])
        call.screen.lines(" " * len(lead) + line for line in lines[1:])


@app.command("context", cls=Command, rich_help_panel=ASK)
def context(
    ctx: typer.Context,
    question: Annotated[
        list[str],
        typer.Argument(metavar="QUESTION", help="The turn that begins.", show_default=False),
    ],
    tokens: Annotated[
        int, typer.Option("--tokens", metavar="N", help="The hard limit of the whole text.")
    ] = _TOKENS,
    system: Annotated[
        Path | None,
        typer.Option(
            "--system", metavar="FILE", help="The system text, which fills up.", show_default=False
        ),
    ] = None,
    owner: Owner = ME,
    all_owners: AllOwners = False,
    session: WorkSession = "",
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Show the context that a model would be given for a turn, and what was left out."""
    from factbook.recall.budget import ContextLimits

    call = begin(ctx, db, as_json)
    limits = ContextLimits(total=tokens)
    about = whose_of(owner, all_owners)
    instructions = ""
    if system is not None:
        try:
            instructions = system.expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                detail=f"the system text {system} cannot be read ({error}); give a text file"
            ) from error
    # Looking is not showing: nothing is remembered as injected unless a conversation is named.
    with call.memory("write" if session else "read") as memory:
        found = memory.context(
            " ".join(question), system=instructions, limits=limits, session=session, owner=about
        )
        if not found.included:
            say_others(call, memory, about)
    if call.screen.as_json:
        call.screen.json(found.to_json())
        return
    _show(call.screen, found)


def _show(screen: Screen, found: PromptContext) -> None:
    screen.lines(text.safe(found.text).splitlines())
    screen.line()
    tiers = ", ".join(f"{name} {count}" for name, count in found.tier_tokens.items() if count)
    screen.say(f"{found.tokens} of {found.limit} tokens: {tiers or 'nothing'}", "dim")
    for one in found.left_out:
        screen.line(screen.paint(f"left out {text.one_line(one.id)}: {one.why}", "dim"))
