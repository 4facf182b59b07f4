"""Say where what was erased still stands, and what takes that too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from factbook.language.values import count
from factbook.model.facts import ME
from factbook.surface.text import one_line, safe

if TYPE_CHECKING:
    from factbook.maintenance.erasure import Erased, Standing
    from factbook.surface.output import Page

_NO_FILE: Final = (
    "The memory is in no file: its logs and backups say what they keep of erased rows."
)
_RECORD: Final = "It was taken out of {}, too; its oplog and backups may hold it until they expire."
EXIT_STANDS: Final = 3  # what was erased still stands in what was kept


def stands(done: Erased) -> bool:
    """Tell whether a row that was kept or another file still has something of it."""
    standing = done.standing
    rows = standing is not None and bool(standing.rows or standing.others)
    return rows or bool(done.file and done.file.copies)


def looked_through(done: Erased) -> str:
    """Return what a file that was found clean still holds of what was erased."""
    standing = done.standing
    but = "" if done.nothing_left else "but for what was kept, "
    left = f"The file was looked through: {but}nothing of it is left."
    if standing is None:
        return left
    sought = [
        count(number, what, plural)
        for number, what, plural in (
            (standing.names, "name", "names"),
            (standing.values, "value", "values"),
            (standing.words, "run of words", "runs of words"),
        )
        if number
    ]
    listed = " and ".join(filter(None, (", ".join(sought[:-1]), *sought[-1:])))
    return f"{left} Looked for in every row: {listed or 'nothing, for it was ordinary words'}."


def rows_left(standing: Standing) -> list[str]:
    """Return a line for each row that still tells of it, grouped by what it has of it."""
    lines = []
    for what, head in (
        ("name", "Its names still stand in rows that were kept:"),
        ("value", "Its values still stand in rows that were kept:"),
        ("words", "Its words still stand in rows that were kept:"),
        ("beside", "Right beside it, and of the same:"),
    ):
        rows = [row for row in standing.rows if row.what == what]
        lines += [head] if rows else []
        lines += [f"  {row.row}  {one_line(row.excerpt)}" for row in rows]
    if standing.more:
        lines.append(f"  and {count(standing.more, 'more row')}")
    if standing.others:
        lines.append(f"Of other owners {count(standing.others, 'row')} still tell of it.")
    return lines


def how_it_goes(standing: Standing) -> list[str]:
    """Return what takes the rest, in words, and what was not told."""
    said = []
    owners = {owner for row in standing.rows for owner in row.owners} - {ME}
    program = "factbook erase" if not owners else "factbook erase --all-owners"
    named = [row.row for row in standing.rows]
    # A whole source is no way to be rid of a word; rows without a name have no command.
    ids = [id_ for id_ in named if id_[0] != "s" and id_[1:].isdigit()]
    sources = [id_ for id_ in named if id_[0] == "s" and id_[1:].isdigit()]
    if ids:
        it = "it" if len(ids) == 1 else "them"
        said.append(f"`{program} {' '.join(ids)}` erases {it} too")
    if sources:
        it = "it" if len(sources) == 1 else "them"
        said.append(
            f"`{program} {' '.join(sources)}` erases all that was read from {it}, with the title"
        )
    if standing.common:
        said.append(
            f"{count(standing.common, 'name, value or run', 'names, values and runs')} of it"
            f" {'stands' if standing.common == 1 else 'stand'} in so many rows here that these are"
            f" not named; `factbook erase --check TEXT` looks for one"
        )
    return said


def file_holds(path: str) -> str:
    """Return what to do about another file that still holds it."""
    if path.endswith(".factbook-part"):
        how = "a killed process left it: `factbook doctor --clean` deletes it"
    else:
        how = "it is yours to delete"
    return f"{path} still holds it; {how}"


def where_it_stands(page: Page, done: Erased) -> None:
    """Show where it was looked for, what was found there, and what takes that too."""
    if done.standing is None:
        return
    if done.file is None:
        page.say(_NO_FILE, "dim")
    elif done.file.clean:
        page.say(looked_through(done), "dim")
    if done.record:
        page.say(_RECORD.format(one_line(done.record)), "dim")
    page.lines(map(safe, rows_left(done.standing)))
    for said in how_it_goes(done.standing):
        page.say(page.told(f"{said[0].upper()}{said[1:]}."))
    for copy in done.file.copies if done.file is not None else ():
        page.warn(file_holds(one_line(copy)))
