"""The operations through which agents come in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal

from factbook.errors import UsageError
from factbook.language.values import home_path
from factbook.model.facts import ME
from factbook.surface.operations.arguments import Owner
from factbook.surface.operations.base import KEEP, Arg, Effect, Outcome, Run, operation
from factbook.surface.text import safe

if TYPE_CHECKING:
    from pathlib import Path

    from factbook.surface.install.carry_out import Written
    from factbook.surface.install.clients import Install
    from factbook.surface.install.files import Change
    from factbook.surface.output import Page

NO_HOOKS: Final = "hooks read a file of SQLite, and this database is on a server"
LINE: Final = 300  # characters of a line of a diff that are shown: some files are one line


@operation(KEEP, Effect.OWN, tool=False)
def mcp(
    run: Run,
    read_only: Annotated[bool, Arg("Offer what reads alone, and write nothing.")] = False,
    profile: Annotated[
        Literal["memory", "chatgpt", "graph"],
        Arg(
            "Which tools: memory, chatgpt for search and fetch, graph for entities and relations.",
            metavar="NAME",
        ),
    ] = "memory",
    debug: Annotated[
        bool, Arg("Write tracebacks to stderr; they may hold what is remembered.")
    ] = False,
    owner: Owner = ME,
) -> None:
    """Serve the memory to agents over MCP, on stdin and stdout."""
    from factbook.surface.mcp import serve

    serve(run.db, profile=profile, read_only=read_only, owner=owner, debug=debug)


@operation(KEEP, Effect.OWN, tool=False)
def install(
    run: Run,
    client: Annotated[
        Literal["claude", "codex", "gemini"],
        Arg(
            "claude (Claude Code), codex, or gemini (Gemini CLI).",
            given="argument",
            metavar="CLIENT",
        ),
    ],
    project: Annotated[bool, Arg("For the project in this folder, not for all of yours.")] = False,
    dry_run: Annotated[bool, Arg("Show what would change, and write nothing.")] = False,
    undo: Annotated[bool, Arg("Take out what it put in, and nothing else.")] = False,
    no_hooks: Annotated[bool, Arg("Only the server: search and remember when asked.")] = False,
    no_mcp: Annotated[bool, Arg("Only the hooks: what matters comes by itself.")] = False,
    owner: Annotated[
        str | None,
        Arg("Whose memory it is; at first `me`, then as it was installed.", metavar="NAME"),
    ] = None,
) -> Outcome:
    """Put the memory into an agent's client: its MCP server and its hooks."""
    from factbook.surface.install.carry_out import carry_out
    from factbook.surface.install.clients import (
        CLIENTS,
        TWICE,
        Install,
        environment,
        has_plugin,
        owner_at,
        passing,
    )
    from factbook.surface.install.files import without_passwords

    if no_hooks and no_mcp:
        raise UsageError(detail="--no-hooks and --no-mcp together leave nothing to do")
    of = CLIENTS[client]
    on_server = isinstance(run.db, str) and not undo
    seat = of.seat(project=project)
    planned = Install(
        client=of,
        seat=seat,
        variables=environment(run.db),
        owner=owner_at(seat) if owner is None else owner,
        mcp=not no_mcp,
        hooks=not (no_hooks or on_server),
    )
    if on_server and no_mcp:
        raise UsageError(detail=NO_HOOKS)
    if project and on_server and without_passwords(str(run.db)) != run.db:
        raise UsageError(
            detail="the URL of the database holds a password, and all who work on a project read"
            " its files; leave --project out"
        )
    try:
        changes = planned.changes(undo=undo)
    except UsageError as error:
        return _by_hand([] if undo else planned.texts, error)
    written = [] if dry_run else [*carry_out(planned, changes, user=not project)]
    notes = [] if undo or not passing() else [passing()]
    notes += [TWICE] if has_plugin(of) and not undo else []
    notes += [NO_HOOKS] if on_server and not no_hooks else []
    return _installed(planned, changes, written, dry_run=dry_run, undo=undo, notes=notes)


def _by_hand(texts: Sequence[tuple[Path, str]], error: UsageError) -> Outcome:
    def show(page: Page) -> None:
        for path, said in texts:
            page.line(page.paint(safe(f"# {path}"), "dim"))
            page.lines(safe(said).splitlines())

    record = {"error": str(error), "by_hand": [{"path": p, "text": t} for p, t in texts]}
    return Outcome(record=record, show=show, trouble=error)


def _installed(
    planned: Install,
    changes: Sequence[Change],
    written: Sequence[Written],
    *,
    dry_run: bool,
    undo: bool,
    notes: Sequence[str],
) -> Outcome:
    done = {change.path: change for change in written}
    changed = [change for change in changes if change.diff]
    then = planned.client.then if planned.hooks and changed and not undo else ""

    def show(page: Page) -> None:
        for change in changed:
            page.lines(safe(line[:LINE]) for line in change.diff.splitlines())
            if file := done.get(change.path):
                what = "removed" if change.after is None else "written"
                by = f" by `{file.by}`" if file.by else ""
                copy = f"; what was there: {home_path(file.backup)}" if file.backup else ""
                page.say(f"{what}{by}: {home_path(change.path)}{copy}")
        for change in changes:
            if not change.diff:
                page.say(f"nothing to change: {home_path(change.path)}")
        if changed and not dry_run:
            page.say(f"{planned.client.title} reads it when a session starts.")
        if then:
            page.say(then + ".")

    files = [
        {
            "path": change.path,
            "changed": bool(change.diff),
            "diff": change.diff,
            "backup": done[change.path].backup if change.path in done else None,
            "by": done[change.path].by if change.path in done else "",
        }
        for change in changes
    ]
    record = {"client": planned.client.name, "dry_run": dry_run, "undo": undo, "files": files}
    return Outcome(record=record | {"then": then}, show=show, notes=notes)
