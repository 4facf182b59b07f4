"""Run the conversations of docs/learning.md and docs/chat.md, and put what they print there.

    .venv/bin/python scripts/learning_session.py           writes the pages and the README anew
    .venv/bin/python scripts/learning_session.py --check   says where they differ, exits with 1

A page is the script, as docs/life-of-a-fact.md is: a block that begins with `# file NAME` is a
file that is written, one that begins with `# 2026-03-02 21:00` is run at that time. Its first line
with `$ ` is a command; where that is `factbook chat`, the lines that begin with `> ` are what is
typed. The documents that are searched are those of examples/documents. The README shows the first
conversation of docs/learning.md.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from life_of_a_fact import printed

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "learning.md"
CHAT = ROOT / "docs" / "chat.md"
README = ROOT / "README.md"
DOCUMENTS = ROOT / "examples" / "documents"
_BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# file (\S+)\n")
_AT = re.compile(r"# (\d{4}-\d\d-\d\d \d\d:\d\d)\n")
_SHOWN = re.compile(r"(?<=<!-- learning -->\n```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
SET_UP = "$ export FACTBOOK_SEARCH_PROVIDER=folder FACTBOOK_SEARCH_FOLDER=$PWD/examples/documents"


def output(command: str, typed: list[str], moment: datetime, place: Path) -> str:
    """Return what a command prints at a time, with lines typed into it."""
    words = shlex.split(command)
    if words[0] != "factbook":
        sys.exit(f"{command!r} is no command of factbook")
    os.environ["FACTBOOK_SEARCH_FOLDER"] = str(place / "documents")
    os.environ["XDG_CONFIG_HOME"] = str(place / "config")
    lines = "".join(f"{line}\n" for line in typed)
    return printed(moment, words[1:], place=place, typed=lines)


def rendered(page: str) -> str:
    """Return the page with what its commands print now."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        shutil.copytree(DOCUMENTS, place / "documents")

        def block(found: re.Match[str]) -> str:
            text = found.group(1)
            named = _FILE.match(text)
            if named:
                (place / named[1]).write_text(text[named.end() :], encoding="utf-8")
                return text
            dated = _AT.match(text)
            if not dated:
                return text
            moment = datetime.strptime(dated[1], "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
            lines = text.splitlines()
            commands = [line[2:] for line in lines if line.startswith("$ ")]
            typed = [line[2:] for line in lines if line.startswith("> ")]
            ran = [
                f"$ {command}\n"
                + output(command, typed if " chat" in command else [], moment, place)
                for command in commands
            ]
            return dated[0] + "\n".join(ran)

        return _BLOCK.sub(block, page)


def shown_first(page: str) -> str:
    """Return the first conversation of the page with what has to be set, without its date."""
    first = next(one for one in _BLOCK.findall(page) if _AT.match(one))
    return f"{SET_UP}\n{_AT.sub('', first, count=1)}"


def differences(name: str, before: str, after: str) -> list[str]:
    """Return the lines that differ."""
    lines = before.splitlines(), after.splitlines()
    return list(difflib.unified_diff(*lines, name, "the program", lineterm="", n=1))


def main() -> None:
    """Write the page and the README, or hold them to what the program prints."""
    os.environ.update(FACTBOOK_DB="mine.db", FACTBOOK_KEY_FILE="key", COLUMNS="100", TZ="UTC")
    os.environ["FACTBOOK_SEARCH_PROVIDER"] = "folder"
    now = {one: rendered(one.read_text(encoding="utf-8")) for one in (PAGE, CHAT)}
    first = shown_first(now[PAGE])
    now[README] = _SHOWN.sub(lambda _: first, README.read_text(encoding="utf-8"))
    changed = [
        line
        for one, after in now.items()
        for line in differences(one.name, one.read_text(encoding="utf-8"), after)
    ]
    if "--check" in sys.argv[1:]:
        print("\n".join(changed) or "the pages and the README show what the program prints")
        sys.exit(bool(changed))
    for one, after in now.items():
        one.write_text(after, encoding="utf-8")
    print(f"{len(changed)} lines differed")


if __name__ == "__main__":
    main()
