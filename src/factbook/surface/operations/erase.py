"""The operation that erases for good, and shows that it is gone."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

from factbook.errors import FactbookError, NotFound, UsageError
from factbook.language.values import moment
from factbook.model.facts import ME
from factbook.surface import records, views
from factbook.surface.operations.arguments import Whose
from factbook.surface.operations.base import KEEP, Arg, Effect, Outcome, Run, operation
from factbook.surface.text import one_line, safe

if TYPE_CHECKING:
    from factbook.maintenance.erasure import Erased, Erasure
    from factbook.memory import Memory
    from factbook.model.facts import Everyone, Scoured
    from factbook.surface.output import Page

EXIT_LEFT: Final = 1  # something of it is still there
_ROW_NAME: Final = re.compile(r"[fesrnplcqto]\d{1,19}")
_NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "facts": ("fact", "facts"),
    "episodes": ("episode", "episodes"),
    "masked": ("passage of an episode", "passages of episodes"),
    "sources": ("source", "sources"),
    "rejections": ("refusal", "refusals"),
    "entities": ("thing cared about", "things cared about"),
    "preferences": ("preference", "preferences"),
    "searches": ("search", "searches"),
    "proposals": ("proposal", "proposals"),
    "hooks": ("session of a hook", "sessions of hooks"),
}

_Way = Callable[["Erasure", bool], "Erased"]  # (where, whether it is a dry run)
_Wanted = list[tuple[str, _Way]]  # with the name of what is erased


@operation(KEEP, Effect.OWN, tool=False)
def erase(
    run: Run,
    ids: Annotated[Sequence[str], Arg(metavar="ID", given="argument")] = (),
    source: Annotated[str, Arg("Everything that was read from a file.", metavar="PATH")] = "",
    entity: Annotated[str, Arg(metavar="NAME")] = "",
    owner: Annotated[str | None, Arg(metavar="NAME")] = None,
    all_owners: Annotated[bool, Arg("With ids and --source: whosever they are.")] = False,
    whole_episodes: bool = False,
    dry_run: Annotated[bool, Arg("Only say what would go.")] = False,
    yes: Annotated[bool, Arg("Do not ask before.", "-y")] = False,
    check: Annotated[str, Arg(metavar="TEXT")] = "",
    list_: Annotated[bool, Arg(flag="--list")] = False,
    allow: Annotated[int | None, Arg(metavar="N")] = None,
    finish: bool = False,
) -> Outcome:
    """Erase for good: from every row, from the history, and from the bytes of the file.

    Args:
        ids: f12 a fact, e34 an episode, s5 a source, r7 a refusal; or any row that an erasure
            named.
        entity: A thing that you care about, and all about it.
        owner: Everything of an owner; with anything else, whose it is (`me`).
        whole_episodes: With facts: the episodes they were read from go entirely, not only their
            words.
        check: Only say where a text stands: in rows, in the file's bytes, in its copies.
        list_: Only list what was erased: when and how much, never what it said.
        allow: Let what erasure N took be kept again, where it is met again.
        finish: Clean the file where an erasure could not, for somebody was reading it.
    """
    other = [bool(check), list_, allow is not None, finish]
    wanted = _wanted(ids, source, entity, owner or "", whole_episodes, all_owners=all_owners)
    if sum(other) + bool(wanted) != 1:
        raise UsageError(detail=f"one thing at a time; {_how()}")
    part = run.open(Effect.READS if check or list_ else Effect.ERASES).erasure
    if list_:
        return _listed(run)
    if check:
        return _sighted(run, check)
    if finish:
        return _finished(run, part.finish_erasing())
    if allow is not None:
        part.allow_again(allow)
        said = f"What erasure {allow} took may be kept again."
        return Outcome(record={"allowed": allow}, show=lambda page: page.say(said))
    return _erase(run, wanted, dry_run=dry_run, yes=yes)


def _wanted(
    ids: Sequence[str], source: str, entity: str, owner: str, whole: bool, *, all_owners: bool
) -> _Wanted:
    """Return (what it is called, how it is erased) of everything that was named."""
    if all_owners and (entity or not (ids or source)):
        raise UsageError(detail="--all-owners goes with ids and --source; --owner names one")
    mine = owner or ME
    of = Whose(owner=mine, all_owners=all_owners).about
    named: _Wanted = [(id_, _row(id_, whole, of)) for id_ in ids]
    if source:
        named.append((source, lambda part, dry: part.erase_source(source, owner=of, dry_run=dry)))
    if entity:
        named.append((entity, lambda part, dry: part.erase_entity(entity, owner=mine, dry_run=dry)))
    if owner and not named:
        named.append((owner, lambda part, dry: part.erase_owner(owner, dry_run=dry)))
    if whole and not any(id_.startswith("f") for id_ in ids):
        raise UsageError(detail="--whole-episodes goes with facts; give one, as f12")
    return named


def _how() -> str:
    from factbook.maintenance.erasure import ROW_NAMES

    return (
        f"{ROW_NAMES}; or one of --source, --entity, --owner, --check, --list, --allow and --finish"
    )


def _row(given: str, whole: bool, of: str | Everyone) -> _Way:
    row = given.strip()
    if not _ROW_NAME.fullmatch(row) or int(row[1:]) >= 1 << 63:
        raise UsageError(detail=f"{row!r} is no id; {_how()}")
    whole = whole and row.startswith("f")
    return lambda part, dry: part.erase_row(row, owner=of, whole_episodes=whole, dry_run=dry)


def _erase(run: Run, wanted: _Wanted, *, dry_run: bool, yes: bool) -> Outcome:
    part = run.memory.erasure
    try:
        rehearsed = [(name, how(part, True).receipt.erased) for name, how in wanted]
    except NotFound as error:
        if all(act.clean for act in part.erasures()):
            raise
        # Most likely it is what was erased when something kept the file from being cleaned.
        hint = f"what was erased may still be in the file: run `{_again(run)}`."
        raise NotFound(**{**error.details, "hint": hint}) from error
    if dry_run:
        would = [f"{one_line(name)}: {_counted(rows)} would go." for name, rows in rehearsed]
        return Outcome(
            record={
                "would_erase": [{"what": name, "rows": dict(rows)} for name, rows in rehearsed]
            },
            show=lambda page: _said(page, would),
        )
    if not yes:
        will = [f"{one_line(name)}: {_counted(rows)} will go for good." for name, rows in rehearsed]
        if not _agrees(run, will):
            return Outcome(record={}, shown=False, notes=["nothing was erased"])
    done: list[tuple[str, Erased]] = []
    notes, trouble = [], None
    for name, how in wanted:
        try:
            done.append((name, how(run.memory.erasure, False)))
        except NotFound:  # it was there a moment ago
            notes.append(f"{one_line(name)} went with the others")
        except FactbookError as error:  # what is gone is told all the same
            trouble = error
            break
    return replace(_gone(run, done), notes=notes, trouble=trouble)


def _gone(run: Run, done: Sequence[tuple[str, Erased]]) -> Outcome:
    whole = _together(run.memory, [act for _, act in done])
    unclean = any(act.file is not None and not act.file.clean for _, act in done)

    def show(page: Page) -> None:
        for name, act in done:
            page.say(f"Erased {one_line(name)}: {_counted(act.receipt.erased)}.")
            if act.file is not None:
                _scoured(run, page, act.file)
        if whole:
            views.erased.where_it_stands(page, whole)

    return Outcome(
        record={
            "erased": [
                {"what": name, "rows": dict(act.receipt.erased)}
                | (records.plain(act.file) if act.file else {})
                for name, act in done
            ],
            **(records.standing(whole) if whole else {}),
        },
        show=show,
        code=EXIT_LEFT
        if unclean
        else views.erased.EXIT_STANDS * bool(whole and views.erased.stands(whole)),
    )


def _together(memory: Memory, done: list[Erased]) -> Erased | None:
    """Return several acts as one: what one of them left, another may have taken."""
    files = [act.file for act in done if act.file is not None]
    if len(done) < 2:
        return done[0] if done else None
    file = None
    if files:
        file = replace(
            files[-1],
            clean=all(scoured.clean for scoured in files),
            copies=sorted({copy for scoured in files for copy in scoured.copies}),
        )
    return replace(done[-1], file=file, standing=memory.erasure.standing(done))


def _agrees(run: Run, will: Sequence[str]) -> bool:
    """Ask a person; a program that did not say --yes did not mean it."""
    if run.screen.as_json or not sys.stdin.isatty():
        raise UsageError(
            detail="erasing cannot be taken back; give --yes, or --dry-run to see what would go"
        )
    import typer

    _said(run.screen, will)
    run.screen.flush()
    return typer.confirm("Erase?", default=False, err=True)


def _said(page: Page, lines: Sequence[str]) -> None:
    for line in lines:
        page.say(line)


def _counted(rows: Mapping[str, int]) -> str:
    parts = [f"{number} {_NAMES[name][number != 1]}" for name, number in rows.items() if number]
    return ", ".join(parts) or "nothing"


def _again(run: Run) -> str:
    """Return the command that cleans the file where an erasure could not."""
    return f"factbook erase --finish --db {shlex.quote(str(run.db))}"


def _scoured(run: Run, page: Page, scoured: Scoured) -> None:
    if scoured.waiting:
        page.warn(
            f"the rows are gone, but their bytes may still be in the file: {scoured.waiting};"
            f" run `{_again(run)}` later"
        )
    elif scoured.pieces:
        page.warn(
            f"{scoured.pieces} short pieces like it still stand in the file, which was written anew"
        )
    elif scoured.rewritten:
        page.say("The file was written anew for that.", "dim")


def _finished(run: Run, scoured: Scoured | None) -> Outcome:
    if scoured is None:
        return Outcome(
            record={"clean": True, "rewritten": False}, show="Nothing waits to be cleaned."
        )

    def show(page: Page) -> None:
        if scoured.clean:
            page.say("The file was written anew: it holds what its rows say, and no more.")
        else:
            _scoured(run, page, scoured)

    return Outcome(record=scoured, show=show, code=0 if scoured.clean else EXIT_LEFT)


def _sighted(run: Run, text: str) -> Outcome:
    residues = run.memory.erasure.find_residues(text)
    stands = residues.in_file or residues.pieces

    def show(page: Page) -> None:
        if residues.rows:
            page.say(f"It stands in {', '.join(residues.rows)}.")
        elif stands:
            page.say("No row that is shown holds it, but its bytes are in the file.")
        elif residues.in_file is None:
            page.say("No row holds it. The memory is in no file, so no bytes were looked through.")
        else:
            page.say("Nothing of it is in the file.")
        _said(page, [f"The copy {one_line(copy)} holds it." for copy in residues.copies])

    return Outcome(
        record=residues,
        show=show,
        code=EXIT_LEFT if residues.rows or stands or residues.copies else 0,
    )


def _listed(run: Run) -> Outcome:
    erasures = run.memory.erasure.erasures()

    def show(page: Page) -> None:
        if not erasures:
            page.say("Nothing was ever erased.")
        for act in erasures:
            rows = ", ".join(f"{n} {_NAMES[name][n != 1]}" for name, n in act.counts.items())
            state = "" if act.clean else "; the file waits to be cleaned (--finish)"
            state += "" if act.allowed_at is None else "; may be kept again"
            said = f"{act.id}  {moment(act.at)}  {act.what}: {rows or 'nothing'}{state}"
            page.line(safe(said))

    return Outcome(record={"erasures": erasures}, show=show)
