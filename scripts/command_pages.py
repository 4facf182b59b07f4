"""Write what docs/cli.md and docs/commands.md say of commands from the table of operations.

    python scripts/command_pages.py          # writes both pages
    python scripts/command_pages.py --check  # fails where one is not what would be written

A page keeps its own words: of each command only the heading and the table of options are written,
and of what can be typed in a conversation the one table.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from factbook.surface import cli as cli  # with these two the table is whole
from factbook.surface.chat import slash as slash
from factbook.surface.operations import EVERY, Operation
from factbook.surface.operations.base import Parameter

DOCS = Path(__file__).resolve().parent.parent / "docs"
OPTIONS = "| option | what it does |\n|---|---|\n"
TYPED = "| in a chat | on the command line | what it does |\n|---|---|---|\n"
_TABLE = re.compile(re.escape(OPTIONS) + r"(?:\|.*\n)*")


def main() -> int:
    """Write the pages, or say which one is not as it would be written."""
    check = "--check" in sys.argv[1:]
    stale = [path.name for path, text in pages().items() if path.read_text("utf-8") != text]
    if not check:
        for path, text in pages().items():
            path.write_text(text, encoding="utf-8")
        return 0
    for name in stale:
        print(f"docs/{name} is not what scripts/command_pages.py writes", file=sys.stderr)
    return 1 if stale else 0


def pages() -> dict[Path, str]:
    """Return the text of each page as it should be."""
    cli, commands = DOCS / "cli.md", DOCS / "commands.md"
    text = cli.read_text(encoding="utf-8")
    for one in EVERY.values():
        if one.panel:
            text = with_command(text, one)
    return {cli: text, commands: with_typed(commands.read_text(encoding="utf-8"))}


def with_command(page: str, one: Operation) -> str:
    """Return the page with the heading and the options of a command as the table has them."""
    begins = re.search(rf"^## `factbook {re.escape(one.name)}(?: [^`]*)?`$", page, re.MULTILINE)
    if begins is None:
        raise SystemExit(f"docs/cli.md has no section for `factbook {one.name}`")
    ends = page.find("\n## ", begins.end())
    ends = len(page) if ends < 0 else ends + 1
    body = page[begins.end() : ends]
    rows = "".join(map(row, options(one)))
    table = OPTIONS + rows if rows else ""
    if _TABLE.search(body):
        body = _TABLE.sub(lambda _: table, body, count=1)
    elif table:
        body = (
            f"{body.rstrip()}\n\n{table}\n" if ends < len(page) else f"{body.rstrip()}\n\n{table}"
        )
    return page[: begins.start()] + f"## `{called(one)}`" + body + page[ends:]


def called(one: Operation) -> str:
    """Return how a command is called, with its arguments."""
    places = (part for part in one.parameters if part.arg.given != "option")
    return " ".join(["factbook", one.name, *map(argument, places)])


def argument(one: Parameter) -> str:
    """Return an argument as a usage shows it: in brackets what need not be given."""
    named = one.arg.metavar or one.name.upper()
    several = "..." if one.many or one.arg.given == "words" else ""
    if one.required or named.startswith("["):
        return named if " " in named else named + several
    return f"[{named}]{several}"


def options(one: Operation) -> list[Parameter]:
    """Return the options of a command, without those of every command."""
    return [part for part in one.parameters if part.arg.given == "option"]


def row(one: Parameter) -> str:
    """Return the row of an option."""
    value = f" {one.arg.metavar}" if one.arg.metavar else ""
    flags = ", ".join(f"`{flag}{value}`" for flag in (one.flag, one.arg.short) if flag)
    shown = one.kind is not bool and one.default not in (None, "", (), 0.0)
    named = f"{one.default:g}" if isinstance(one.default, (int, float)) else f"`{one.default}`"
    default = f" ({named})" if shown else ""
    said = one.arg.help[0].lower() + one.arg.help[1:].rstrip(".") + default
    return f"| {flags} | {said.replace('|', chr(92) + '|')} |\n"


def with_typed(page: str) -> str:
    """Return the page with the table of what can be typed in a conversation."""
    found = re.compile(re.escape(TYPED) + r"(?:\|.*\n)*")
    rows = []
    for one in EVERY.values():
        if one.slash:
            shell = f"`{called(one)}`" if one.panel else ""
            said = one.help[0].lower() + one.help[1:].rstrip(".")
            cells = [f"`{one.form}`", shell, said]
            rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n")
    return found.sub(lambda _: TYPED + "".join(rows), page, count=1)


if __name__ == "__main__":
    sys.exit(main())
