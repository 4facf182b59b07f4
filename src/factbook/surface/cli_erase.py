"""The command that erases for good, and shows that it is gone."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from factbook.errors import NotFound, UsageError
from factbook.model.facts import ME
from factbook.surface import text as words
from factbook.surface.erasure_report import (
    EXIT_STANDS,
    file_holds,
    how_it_goes,
    looked_through,
    standing_record,
    stands,
    where_it_stands,
)
from factbook.surface.options import KEEP, Call, Command, Db, Json, app, begin, whose_of

if TYPE_CHECKING:
    from factbook.maintenance.erasure import Erased
    from factbook.memory import Memory
    from factbook.model.facts import Erasure, Everyone, Receipt, Scoured, Sighting

EXIT_LEFT: Final = 1  # something of it is still there
_ROW_NAME: Final = re.compile(r"[fesrnplcqto]\d{1,19}")

_Erase = Callable[["Memory", bool], "Erased"]  # (memory, dry_run)


@app.command("erase", cls=Command, rich_help_panel=KEEP)
def erase(
    ctx: typer.Context,
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            help="f12 a fact, e34 an episode, s5 a source, r7 a refusal; or any row that an erasure"
            " named.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        str,
        typer.Option(
            "--source", metavar="PATH", help="Everything read from a file.", show_default=False
        ),
    ] = "",
    entity: Annotated[
        str,
        typer.Option(
            "--entity", metavar="NAME", help="A thing, and all about it.", show_default=False
        ),
    ] = "",
    owner: Annotated[
        str,
        typer.Option(
            "--owner",
            metavar="NAME",
            help="Everything of an owner; with anything else, whose it is (`me`).",
            show_default=False,
        ),
    ] = "",
    all_owners: Annotated[
        bool,
        typer.Option("--all-owners", help="With ids and --source: whosever they are."),
    ] = False,
    whole_episodes: Annotated[
        bool,
        typer.Option(
            "--whole-episodes",
            help="With facts: erase the episodes they were read from, not only their words.",
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before.")] = False,
    check: Annotated[
        str,
        typer.Option(
            "--check",
            metavar="TEXT",
            help="Only say where a text stands: in rows, in the file's bytes, in its copies.",
            show_default=False,
        ),
    ] = "",
    list_all: Annotated[
        bool, typer.Option("--list", help="Only list what was erased, and when.")
    ] = False,
    allow: Annotated[
        int | None,
        typer.Option(
            "--allow",
            metavar="N",
            help="Let what erasure N took be kept again, where it is met again.",
            show_default=False,
        ),
    ] = None,
    finish: Annotated[
        bool,
        typer.Option("--finish", help="Clean the file where an erasure was kept from it."),
    ] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Erase for good: from every row, from the history, and from the bytes of the file."""
    call = begin(ctx, db, as_json)
    other = [bool(check), list_all, allow is not None, finish]
    wanted = _wanted(ids or [], source, entity, owner, whole_episodes, all_owners=all_owners)
    if sum(other) + bool(wanted) != 1:
        raise UsageError(detail=f"one thing at a time; {_how()}")
    if check or list_all:
        with call.memory("read") as memory:
            if list_all:
                _list(call, memory.erasure.erasures())
                return
            found = memory.erasure.sight(check)
        _show_sighting(call, found)
        if found.rows or found.in_file or found.pieces or found.copies:
            raise typer.Exit(EXIT_LEFT)
        return
    with call.memory("write") as memory:
        if allow is not None:
            memory.erasure.allow_again(allow)
            _tell(call, {"allowed": allow}, f"What erasure {allow} took may be kept again.")
        elif finish:
            _finish(call, memory.erasure.finish_erasing())
        else:
            _erase(call, memory, wanted, dry_run=dry_run, yes=yes)


def _wanted(
    ids: list[str], source: str, entity: str, owner: str, whole: bool, *, all_owners: bool
) -> list[tuple[str, _Erase]]:
    """Return (what it is called, how it is erased) of everything that was named."""
    if all_owners and (entity or not (ids or source)):
        raise UsageError(detail="--all-owners goes with ids and --source; --owner names one")
    of = whose_of(owner or ME, all_owners)
    found: list[tuple[str, _Erase]] = [(one, _by_id(one, whole, of)) for one in ids]
    if source:
        found.append(
            (source, lambda memory, dry: memory.erasure.erase_source(source, owner=of, dry_run=dry))
        )
    if entity:
        found.append(
            (
                entity,
                lambda memory, dry: memory.erasure.erase_entity(
                    entity, owner=owner or ME, dry_run=dry
                ),
            )
        )
    if owner and not found:
        found.append((owner, lambda memory, dry: memory.erasure.erase_owner(owner, dry_run=dry)))
    if whole and not any(one.startswith("f") for one in ids):
        raise UsageError(detail="--whole-episodes goes with facts; give one, as f12")
    return found


def _how() -> str:
    from factbook.maintenance.erasure import ROW_NAMES

    return (
        f"{ROW_NAMES}; or one of --source, --entity, --owner, --check, --list, --allow and --finish"
    )


def _by_id(given: str, whole: bool, of: str | Everyone) -> _Erase:
    given = given.strip()
    if not _ROW_NAME.fullmatch(given) or int(given[1:]) >= 1 << 63:
        raise UsageError(detail=f"{given!r} is no id; {_how()}")
    whole = whole and given.startswith("f")
    return lambda memory, dry: memory.erasure.erase_row(
        given, owner=of, whole_episodes=whole, dry_run=dry
    )


def _erase(
    call: Call,
    memory: Memory,
    wanted: list[tuple[str, _Erase]],
    *,
    dry_run: bool,
    yes: bool,
) -> None:
    rehearsed = [(name, how(memory, True).receipt) for name, how in wanted]
    if dry_run:
        if call.screen.as_json:
            call.screen.json({"would_erase": [_counts(name, one) for name, one in rehearsed]})
            return
        for name, receipt in rehearsed:
            call.screen.say(f"{words.one_line(name)}: {_counted(receipt)} would go.")
        return
    if not yes and not _agrees(call, rehearsed):
        call.screen.note("nothing was erased")
        return
    done: list[tuple[str, Erased]] = []
    for name, how in wanted:
        try:
            done.append((name, how(memory, False)))
        except NotFound:  # it was there a moment ago
            call.screen.note(f"{words.one_line(name)} went with the others")
            continue
        if not call.screen.as_json:
            _show_erased(call, name, done[-1][1])
    whole = _together(memory, [one for _, one in done])
    if call.screen.as_json:
        records = [_counts(name, one.receipt) | _file(one.file) for name, one in done]
        call.screen.json({"erased": records, **(standing_record(whole) if whole else {})})
    elif whole:
        _show_standing(call, whole)
    if any(one.file is not None and not one.file.clean for _, one in done):
        raise typer.Exit(EXIT_LEFT)
    if whole and stands(whole):
        raise typer.Exit(EXIT_STANDS)


def _together(memory: Memory, done: list[Erased]) -> Erased | None:
    """Return several acts as one: what one of them left, another may have taken."""
    files = [one.file for one in done if one.file is not None]
    if len(done) < 2 or not files:
        return done[0] if done else None
    file = replace(
        files[-1],
        clean=all(one.clean for one in files),
        copies=sorted({copy for one in files for copy in one.copies}),
    )
    return replace(done[-1], file=file, standing=memory.erasure.standing(done))


def _agrees(call: Call, rehearsed: list[tuple[str, Receipt]]) -> bool:
    """Ask a person; a program that did not say --yes did not mean it."""
    if call.screen.as_json or not sys.stdin.isatty():
        raise UsageError(
            detail="erasing cannot be taken back; give --yes, or --dry-run to see what would go"
        )
    for name, receipt in rehearsed:
        call.screen.say(f"{words.one_line(name)}: {_counted(receipt)} will go for good.")
    call.screen.flush()
    return typer.confirm("Erase?", default=False, err=True)


def _counts(name: str, receipt: Receipt) -> dict[str, Any]:
    return {"what": name, "rows": dict(receipt.erased)}


_NAMES: Final = {
    "facts": ("fact", "facts"),
    "episodes": ("episode", "episodes"),
    "masked": ("passage of an episode", "passages of episodes"),
    "sources": ("source", "sources"),
    "rejections": ("refusal", "refusals"),
    "entities": ("thing cared about", "things cared about"),
    "preferences": ("preference", "preferences"),
    "searches": ("search", "searches"),
    "proposals": ("proposal", "proposals"),
}


def _counted(receipt: Receipt) -> str:
    parts = [
        f"{count} {_NAMES[name][count != 1]}" for name, count in receipt.erased.items() if count
    ]
    return ", ".join(parts) or "nothing"


def _file(scoured: Scoured | None) -> dict[str, Any]:
    if scoured is None:
        return {}
    return {
        "clean": scoured.clean,
        "rewritten": scoured.rewritten,
        "waiting": scoured.waiting,
        "copies": list(scoured.copies),
    }


def _show_erased(call: Call, name: str, done: Erased) -> None:
    call.screen.say(f"Erased {words.one_line(name)}: {_counted(done.receipt)}.")
    if done.file is not None:
        _show_scoured(call, done.file)


def _show_standing(call: Call, done: Erased) -> None:
    """Say where it was looked for, what was found there, and what takes that too."""
    if done.file is None or done.standing is None:
        return
    if done.file.clean:
        call.screen.say(looked_through(done), "dim")
    for line in where_it_stands(done.standing):
        call.screen.line(words.safe(line))
    for said in how_it_goes(done.standing, program="factbook"):
        call.screen.say(f"{said[0].upper()}{said[1:]}.")
    for one in done.file.copies:
        call.screen.warn(file_holds(words.one_line(one)))


def _show_scoured(call: Call, scoured: Scoured) -> None:
    if scoured.waiting:
        again = f"factbook erase --finish --db {shlex.quote(str(call.db))}"
        call.screen.warn(
            f"the rows are gone, but their bytes may still be in the file: {scoured.waiting};"
            f" run `{again}` later"
        )
    elif scoured.pieces:
        call.screen.warn(
            f"{scoured.pieces} short pieces like it still stand in the file, which was written anew"
        )
    elif scoured.rewritten:
        call.screen.say("The file was written anew for that.", "dim")


def _finish(call: Call, scoured: Scoured | None) -> None:
    if scoured is None:
        _tell(call, {"clean": True, "rewritten": False}, "Nothing waits to be cleaned.")
        return
    if call.screen.as_json:
        call.screen.json(_file(scoured))
    elif scoured.clean:
        call.screen.say("The file was written anew: it holds what its rows say, and no more.")
    else:
        _show_scoured(call, scoured)
    if not scoured.clean:
        raise typer.Exit(EXIT_LEFT)


def _show_sighting(call: Call, found: Sighting) -> None:
    if call.screen.as_json:
        call.screen.json(
            {
                "rows": list(found.rows),
                "in_file": found.in_file,
                "pieces": found.pieces,
                "copies": list(found.copies),
            }
        )
        return
    if found.rows:
        call.screen.say(f"It stands in {', '.join(found.rows)}.")
    elif found.in_file or found.pieces:
        call.screen.say("No row that is shown holds it, but its bytes are in the file.")
    else:
        call.screen.say("Nothing of it is in the file.")
    for one in found.copies:
        call.screen.say(f"The copy {words.one_line(one)} holds it.")


def _list(call: Call, erasures: list[Erasure]) -> None:
    if call.screen.as_json:
        from factbook.model.facts import iso

        call.screen.json(
            {
                "erasures": [
                    {
                        "id": one.id,
                        "at": iso(one.at),
                        "actor": one.actor,
                        "what": one.what,
                        "rows": dict(one.counts),
                        "clean": one.clean,
                        "allowed_at": iso(one.allowed_at),
                    }
                    for one in erasures
                ]
            }
        )
        return
    if not erasures:
        call.screen.say("Nothing was ever erased.")
    for one in erasures:
        counts = ", ".join(
            f"{count} {_NAMES[name][count != 1]}" for name, count in one.counts.items()
        )
        state = "" if one.clean else "; the file waits to be cleaned (--finish)"
        if one.allowed_at is not None:
            state += "; may be kept again"
        call.screen.line(
            words.safe(
                f"{one.id}  {words.moment(one.at)}  {one.what}: {counts or 'nothing'}{state}"
            )
        )


def _tell(call: Call, value: dict[str, Any], *lines: str) -> None:
    if call.screen.as_json:
        call.screen.json(value)
        return
    for line in lines:
        call.screen.say(line)
