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
import os
import re
import shlex
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, tzinfo
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "life-of-a-fact.md"
_BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# file (\S+)\n")
_AT = re.compile(r"# (\d{4}-\d\d-\d\d \d\d:\d\d)\n")
_TOOK = re.compile(r"\b\d+(?:\.\d+)? m?s\b(?: \([^()]+/s\))?")
_CHILD = "--at"


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


def output(command: str, moment: datetime, place: Path) -> str:
    """Return what a command of the page prints at a time."""
    words = shlex.split(command)
    if words[0] == "factbook":
        words = [sys.executable, str(Path(__file__).resolve()), _CHILD, str(moment), *words[1:]]
    elif words[0] not in ("tail", "cat"):
        sys.exit(f"{PAGE.name}: {command!r} is no command of factbook")
    done = subprocess.run(
        words,
        cwd=place,
        env={
            **os.environ,
            "FACTBOOK_DB": "mine.db",
            "FACTBOOK_KEY_FILE": "key",
            "COLUMNS": "100",
            "TZ": "UTC",
        },
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # the progress of the work
        text=True,
    )
    shown = done.stdout.replace(f"{place.resolve()}/", "").replace(f"{place}/", "")
    return "".join(f"{line.rstrip()}\n" for line in shown.splitlines())


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
    if sys.argv[1:2] == [_CHILD]:
        run_at(datetime.fromisoformat(sys.argv[2]), sys.argv[3:])
        return
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
