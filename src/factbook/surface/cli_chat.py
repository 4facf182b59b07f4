"""`factbook chat`: a conversation in the terminal, or through a pipe."""

from __future__ import annotations

import io
import re
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from factbook.errors import UsageError
from factbook.model.facts import ME
from factbook.surface.options import (
    ASK,
    Call,
    Command,
    Db,
    Json,
    LlmModel,
    LlmProvider,
    LlmTimeout,
    LlmUrl,
    app,
    begin,
    model_from,
)

if TYPE_CHECKING:
    from typing import TextIO

    from factbook.surface.chat_view import View

_SESSION: Final = re.compile(r"[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]{0,118}[^\s\x00-\x1f\x7f])?")


@app.command(cls=Command, rich_help_panel=ASK)
def chat(
    ctx: typer.Context,
    owner: Annotated[
        str, typer.Option("--owner", metavar="NAME", help="Who talks, and whose memory it is.")
    ] = ME,
    session: Annotated[
        str,
        typer.Option(
            "--session",
            metavar="ID",
            help="The name of the conversation; one that there was is gone on with.",
            show_default=False,
        ),
    ] = "",
    no_search: Annotated[
        bool,
        typer.Option(
            "--no-search", help="Search for nothing, whatever is configured.", show_default=False
        ),
    ] = False,
    no_worker: Annotated[
        bool,
        typer.Option(
            "--no-worker",
            help="Leave the work behind to `factbook worker`; what waits to be told is told.",
            show_default=False,
        ),
    ] = False,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait",
            help="Do the work behind after each turn before the next line is read: for scripts.",
            show_default=False,
        ),
    ] = False,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            help="No colours and no line editing, also on a terminal.",
            show_default=False,
        ),
    ] = False,
    transcript: Annotated[
        Path | None,
        typer.Option(
            "--transcript",
            metavar="FILE",
            help="Write what is said and shown to a file, too, behind what it holds.",
            show_default=False,
        ),
    ] = None,
    provider: LlmProvider = None,
    model: LlmModel = None,
    url: LlmUrl = None,
    timeout: LlmTimeout = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Talk: answers from memory, searches where that is not enough; /help lists the commands."""
    from factbook.memory import Memory
    from factbook.surface.chat import Chat

    call = begin(ctx, db, as_json)
    if not owner.strip():
        raise UsageError(detail="--owner is empty; name somebody, or leave it out for yourself")
    if session and not _SESSION.fullmatch(session):
        raise UsageError(
            detail="--session is no name of a conversation; give up to 120 characters in one line"
        )
    if no_worker and wait:
        raise UsageError(
            detail="--no-worker leaves the work behind undone and --wait waits for it; give one of"
            " them"
        )
    config = model_from(provider, model, url, timeout)
    with ExitStack() as stack:
        memory = stack.enter_context(
            Memory(
                call.db,
                mode="create",
                actor="chat",
                model=config or "configured",
                search_config=None if no_search else "configured",
            )
        )
        view = _view(call, stack, plain=plain, transcript=transcript)
        code = Chat(
            memory, view, owner=owner, session=session, worker=not no_worker, wait=wait
        ).run()
    if code:
        raise typer.Exit(code)


def _view(call: Call, stack: ExitStack, *, plain: bool, transcript: Path | None) -> View:
    from factbook.surface.chat_view import JsonView, TerminalView, open_transcript
    from factbook.surface.slash_commands import COMMANDS

    written = None if transcript is None else stack.enter_context(open_transcript(transcript))
    source = _typed()
    if call.screen.as_json:
        return JsonView(call.screen, source=source, transcript=written)
    return TerminalView(
        call.screen,
        source=source,
        plain=plain,
        transcript=written,
        commands=[f"/{name}" for name in COMMANDS],
    )


def _typed() -> TextIO:
    """Return what is typed, with any byte that is no character as U+FFFD."""
    if sys.stdin is None:  # the caller closed it
        return io.StringIO()
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin
