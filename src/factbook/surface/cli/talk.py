"""`factbook chat`: a conversation in the terminal, or through a pipe."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Final

from factbook.errors import UsageError
from factbook.model.facts import ME
from factbook.surface.operations.arguments import Llm
from factbook.surface.operations.base import ASK, Arg, Effect, Outcome, Run, operation

_SESSION: Final = re.compile(r"[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]{0,118}[^\s\x00-\x1f\x7f])?")


@operation(ASK, Effect.OWN, tool=False)
def chat(
    run: Run,
    llm: Llm,
    owner: Annotated[str, Arg("Who talks, and whose memory it is.", metavar="NAME")] = ME,
    session: Annotated[str, Arg(metavar="ID")] = "",
    no_search: Annotated[bool, Arg("Search for nothing, whatever is configured.")] = False,
    no_worker: bool = False,
    wait: bool = False,
    plain: Annotated[bool, Arg("No colours and no line editing, also on a terminal.")] = False,
    transcript: Annotated[Path | None, Arg(metavar="FILE")] = None,
) -> Outcome | None:
    """Talk: answers from memory, searches where that is not enough; /help lists the commands.

    Args:
        session: The name of the conversation; one that there was is gone on with.
        no_worker: Leave the work behind to `factbook worker`; what waits to be told is told.
        wait: Do the work behind after each turn before the next line is read: for scripts.
        transcript: Write what is said and shown to a file, too, behind what it holds.
    """
    from factbook.surface.chat import Chat
    from factbook.surface.chat.view import view_of

    if session and not _SESSION.fullmatch(session):
        raise UsageError(
            detail="--session is no name of a conversation; give up to 120 characters in one line"
        )
    if no_worker and wait:
        raise UsageError(
            detail="--no-worker leaves the work behind undone and --wait waits for it; give one of"
            " them"
        )
    memory = run.open(
        Effect.CREATES, model=llm.config() or "configured", search=not no_search, actor="chat"
    )
    with ExitStack() as stack:
        view = view_of(run.screen, stack, plain=plain, transcript=transcript)
        talk = Chat(memory, view, owner=owner, session=session, worker=not no_worker, wait=wait)
        code = talk.run()
    return Outcome(record={}, shown=False, code=code)
