"""Run the commands of docs/life-of-a-fact.md, each on its day, and put what they print below them.

    .venv/bin/python scripts/life_of_a_fact.py           writes the page anew
    .venv/bin/python scripts/life_of_a_fact.py --check   says where it differs, and exits with 1

The page itself is the script: a block that begins with `# file NAME` is a file that is written (or
lengthened), one that begins with `# 2026-03-02 21:00` is run at that time, and every line of it
that begins with `$ ` is a command. The program is the real one; only its clock is set. How long
something took differs from run to run, so it counts as equal.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import os
import pkgutil
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "life-of-a-fact.md"
_BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# file (\S+)\n")
_AT = re.compile(r"# (\d{4}-\d\d-\d\d \d\d:\d\d)\n")
_TOOK = re.compile(r"\b\d+(?:\.\d+)? m?s\b(?: \([^()]+/s\))?")


def run_at(moment: datetime, arguments: list[str]) -> None:
    """Run a factbook command in this process, as if it were that time."""
    import factbook.recall.time_expressions as when

    class Set(datetime):
        """A clock that stands at the given time."""

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Set:
            return cls.fromtimestamp(moment.timestamp(), tz)

    vars(when)["datetime"] = Set
    from factbook.surface.cli import main

    sys.argv = ["factbook", *arguments]
    main()


@functools.cache
def _load() -> None:
    """Import all of factbook, and read the model that embeds."""
    import factbook
    from factbook.embed import bundled

    for found in pkgutil.walk_packages(factbook.__path__, "factbook."):
        if not found.name.startswith("factbook.testing") and not found.name.endswith("__main__"):
            with suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(found.name)
    importlib.import_module("sklearn.cluster")
    bundled().load()


def printed(moment: datetime, arguments: list[str], *, place: Path, typed: str = "") -> str:
    """Run a factbook command in a fork of this process, at a time and in a folder.

    Returns what it prints. So the modules and the model are read once for all commands of a page.
    Raises `subprocess.CalledProcessError` where the command fails.
    """
    _load()
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out:
        given.write(typed.encode())
        given.seek(0)
        sys.stdout.flush()
        child = os.fork()
        if not child:
            os.chdir(place)
            nowhere = os.open(os.devnull, os.O_WRONLY)  # for the progress of the work
            for number, file in enumerate((given.fileno(), out.fileno(), nowhere)):
                os.dup2(file, number)
            sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115
            code = 1
            try:
                run_at(moment, arguments)
                code = 0
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
            finally:
                sys.stdout.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            raise subprocess.CalledProcessError(code, arguments)
        out.seek(0)
        shown = out.read().decode().replace(f"{place.resolve()}/", "").replace(f"{place}/", "")
    return "".join(f"{line.rstrip()}\n" for line in shown.splitlines())


def output(command: str, moment: datetime, place: Path) -> str:
    """Return what a command of the page prints at a time."""
    words = shlex.split(command)
    if words[0] == "factbook":
        return printed(moment, words[1:], place=place)
    if words[0] not in ("tail", "cat"):
        sys.exit(f"{PAGE.name}: {command!r} is no command of factbook")
    return subprocess.run(words, cwd=place, check=True, stdout=subprocess.PIPE, text=True).stdout


def rendered(page: str) -> str:
    """Return the page with the output that its commands have now."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)

        def block(found: re.Match[str]) -> str:
            text = found.group(1)
            named = _FILE.match(text)
            if named:
                with (place / named[1]).open("a", encoding="utf-8") as file:
                    file.write(text[named.end() :])
                return text
            dated = _AT.match(text)
            if not dated:
                return text
            moment = datetime.strptime(dated[1], "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
            commands = [line for line in text.splitlines() if line.startswith("$ ")]
            ran = [f"{line}\n{output(line[2:], moment, place)}" for line in commands]
            return dated[0] + "\n".join(ran)

        return _BLOCK.sub(block, page)


def differences(before: str, after: str) -> list[str]:
    """Return the lines that differ in more than how long something took."""
    first, second = (_TOOK.sub("0 s", text).splitlines() for text in (before, after))
    return list(difflib.unified_diff(first, second, "the page", "the program", lineterm="", n=1))


def main() -> None:
    """Write the page, or hold it to what the program prints."""
    os.environ.update(FACTBOOK_DB="mine.db", FACTBOOK_KEY_FILE="key", COLUMNS="100", TZ="UTC")
    page = PAGE.read_text(encoding="utf-8")
    now = rendered(page)
    changed = differences(page, now)
    if "--check" in sys.argv[1:]:
        print("\n".join(changed) or f"docs/{PAGE.name} shows what the program prints")
        sys.exit(bool(changed))
    if changed:
        PAGE.write_text(now, encoding="utf-8")
    print(f"docs/{PAGE.name}: {len(changed)} lines differed")


if __name__ == "__main__":
    main()
