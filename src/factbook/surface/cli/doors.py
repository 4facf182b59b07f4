"""The operations through which agents come in."""

from __future__ import annotations

from typing import Annotated, Literal

from factbook.model.facts import ME
from factbook.surface.operations.arguments import Owner, named_owner
from factbook.surface.operations.base import KEEP, Arg, Effect, Run, operation


@operation(KEEP, Effect.OWN, tool=False)
def mcp(
    run: Run,
    read_only: Annotated[bool, Arg("Offer what reads alone, and write nothing.")] = False,
    profile: Annotated[
        Literal["memory", "chatgpt"],
        Arg("Which tools: memory, or chatgpt for search and fetch.", metavar="NAME"),
    ] = "memory",
    owner: Owner = ME,
) -> None:
    """Serve the memory to agents over MCP, on stdin and stdout."""
    from factbook.surface.mcp import serve

    serve(run.db, profile=profile, read_only=read_only, owner=named_owner(owner))
