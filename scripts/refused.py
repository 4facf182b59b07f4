"""Run the commands of the pages about models and keyed facts, and put what they print below them.

    .venv/bin/python scripts/refused.py           writes the pages anew
    .venv/bin/python scripts/refused.py --check   says where they differ, and exits with 1

The pages are the script, as docs/life-of-a-fact.md is. A block that begins with `# file NAME`
is a file that is written, one of `console` that begins with `# 2026-05-04 20:00` is run at that
time. A block of `json answer` is what the model answers to the next call: its server is the real
HTTP server of factbook.testing, on this machine. `# ..., the server is stopped` stops it. What
stands between `<!-- made: NAME -->` and `<!-- end -->` is printed from the tables of the program.

All of it runs in this process, with a folder of its own for each page. Ports are shown as Ollama's
usual one; how long something took differs from run to run, so it counts as equal.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import json
import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import factbook.recall.time_expressions as when
from factbook import policy
from factbook.gate.type_rules import RULES
from factbook.memory import Memory
from factbook.model.keys import canonical_list_key
from factbook.model.memory_types import MemoryType, RejectionReason
from factbook.surface import cli
from factbook.testing import FrozenClock
from factbook.testing.model_server import ModelServer, Reply, Request

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = ("refused.md", "keyed-facts.md", "model.md")
URL = policy.LLM_URL  # where the pages say that the server is

_BLOCK = re.compile(
    r"(?<=^```)(?P<kind>console|toml|json answer)\n(?P<text>.*?)(?=^```$)"
    r"|(?<=<!-- made: )(?P<made>[a-z ]+) -->\n.*?(?=<!-- end -->)",
    re.MULTILINE | re.DOTALL,
)
_FILE = re.compile(r"# file (\S+)\n")
_AT = re.compile(r"# (\d{4}-\d\d-\d\d \d\d:\d\d)(?:, (.+))?\n")
_TENANT = re.compile(r"TENANT:[0-9a-f-]{36}")  # each database has an id of its own
_TOOK = re.compile(
    r"\b\d+(?:\.\d+)? m?s\b(?: \([^()]+/s\))?"  # how long, and how fast
    r"|(?<=in )\d+\.\d(?= seconds)"
    r"|\[Errno \d+\]"  # each system has its own
    r"|(?<=\s)\d+\.\d\d(?=\s+\d\.\d{4}$|$)"  # seconds of a call, in the table of costs
)


class World:
    """One page at work: its folder, its environment, and the model's server."""

    def __init__(self, place: Path, server: ModelServer) -> None:
        self.place = place
        self.server = server
        self.answers: list[Reply] = []
        self.files: list[Path] = []  # whose time is still that of this machine
        self.code = 0
        self.unscripted = 0  # calls that no answer stood ready for
        server.script = self._answer

    def _answer(self, _request: Request) -> Reply:
        if self.answers:
            return self.answers.pop(0)
        self.unscripted += 1
        return Reply.status(500, "nothing is scripted")

    def block(self, found: re.Match[str]) -> str:
        """Return a block with what it comes to now."""
        if found["made"]:
            return f"{found['made']} -->\n{MADE[found['made']]()}"
        text = found["text"]
        if found["kind"] == "json answer":
            self.answers.append(Reply.json(json.loads(text)))
            return found[0]
        named = _FILE.match(text)
        if named:
            path = self.place / named[1]
            path.write_text(text[named.end() :].replace(URL, self.server.url), encoding="utf-8")
            self.files.append(path)
            return found[0]
        dated = _AT.match(text)
        if not dated:
            return found[0]
        if dated[2]:
            self._stage(dated[2])
        moment = datetime.strptime(dated[1], "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
        while self.files:
            os.utime(self.files.pop(), (moment.timestamp(), moment.timestamp()))
        commands = [line for line in text.splitlines() if line.startswith("$ ")]
        ran = [f"{line}\n{self._output(line[2:], moment)}" for line in commands]
        return f"console\n{dated[0]}" + "\n".join(ran)

    def _stage(self, direction: str) -> None:
        if direction == "the server is stopped":
            self.server.stop()
        elif direction == "the server is started":
            self.server.start()
        elif direction == "the model declines":
            self.answers.append(Reply.refusal())
        elif direction == "the answer is cut off":
            self.answers.append(Reply.truncated('{"extractions": [{"text": "Keeps'))
        elif direction == "the answer is no JSON":
            self.answers.append(Reply.text("Sure! Here is what I found:"))
        else:
            sys.exit(f"{direction!r} is no direction")

    def _output(self, command: str, moment: datetime) -> str:
        """Return what a command of the page prints at a time."""
        if command == "echo $?":
            return f"{self.code}\n"
        words = shlex.split(command.replace(URL, self.server.url))
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            os.environ[name] = value
            return ""
        if words[0] == "unset":
            del os.environ[words[1]]
            return ""
        if words[0] != "factbook":
            sys.exit(f"{command!r} is no command of factbook")
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in "oe")
        with at(moment), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.code = cli.run(words[1:])
        out.seek(0)
        err.seek(0)
        shown = out.read() + (err.read() if self.code else "")  # else it is the progress of work
        shown = shown.replace(f"{self.place}/", "").replace(self.server.url, URL)
        shown = _TENANT.sub("TENANT:00000000-0000-4000-8000-000000000000", shown)
        return "".join(f"{line.rstrip()}\n" for line in shown.splitlines())


@contextlib.contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Set the clock of factbook to a time."""

    class Set(datetime):
        """A clock that stands at the given time."""

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Set:
            return cls.fromtimestamp(moment.timestamp(), tz)

    usual = vars(when)["datetime"]
    vars(when)["datetime"] = Set
    try:
        yield
    finally:
        vars(when)["datetime"] = usual


# --- what is printed from the program's tables ----------------------------------------------------


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def rules() -> str:
    """Return what a memory of each type must not be."""
    rows = [
        [f"`{kind}`", f"`{rule.name}`", rule.refuses, rule.example, rule.allows]
        for kind in MemoryType
        for rule in RULES[kind]
    ]
    return table(["type", "rule", "❌ refuses", "for example", "and lets pass"], rows)


def thresholds() -> str:
    """Return from where on a memory of each type is stored."""
    rows = [
        [f"`{kind}`", f"{policy.TYPE_THRESHOLD[kind]:.2f}", _below(kind)] for kind in MemoryType
    ]
    return table(["type", "stored from", "below it"], rows)


def _below(kind: MemoryType) -> str:
    if kind is not MemoryType.USER_PATTERN:
        return "refused"
    return (
        f"refused, and from {policy.PROPOSED_FROM:.2f} on kept as a proposal; stored from"
        f" {policy.TYPE_THRESHOLD[kind]:.2f} on, it is active from {policy.PATTERN_APPLIES:.2f} on"
        " if it was seen twice or is told of as a habit, and waits for a yes else"
    )


_TOPICS = (
    "crypto", "cryptos", "Cryptocurrencies", "colour", "favorite colors", "science fiction movie",
    "books of poetry", "C++", "node.js", "Café", "user.favorites.crypto",
)  # fmt: skip


def topics() -> str:
    """Return the list that some ways to name a topic mean."""
    rows = [[f"`{topic}`", f"`{canonical_list_key(topic)}`"] for topic in _TOPICS]
    return table(["typed", "key of the list"], rows)


_TOLD = (
    "DOT is my #2 favorite crypto",
    "SOL is my #1 favorite crypto",
    "Insert DOT at #2 in my favorite cryptos",
    "Move SOL to #1 in my favorite cryptos",
    "Add DOT, ADA and BTC to my favorite cryptos",
    "Remove BTC from my favorite cryptos",
    "DOT is my #7 favorite crypto",
    "My favorite cryptos are ADA and DOT",
    "Clear my favorite cryptos",
)


def lists() -> str:
    """Return what a list of three looks like after some messages, each told to a new memory."""
    rows = []
    for number, message in enumerate(_TOLD):
        with Memory(f"list{number}.db", key_file="key", clock=FrozenClock(), model=None) as memory:
            memory.tell("My favorite cryptos are BTC, ETH and SOL", planner="rules")
            told = memory.tell(message, planner="rules")
            found = memory.ask("What are my favorite cryptos?", planner="rules")
        after = " ".join(f"{one.rank}. {one.value}" for one in found.answer.facts)
        rows.append([message, after or "(empty)", told.label.removesuffix(" by rules")])
    return table(["you say", "1. BTC 2. ETH 3. SOL becomes", "label"], rows)


MADE: Mapping[str, Callable[[], str]] = {
    "rules": rules,
    "thresholds": thresholds,
    "topics": topics,
    "lists": lists,
}


# --- the pages ------------------------------------------------------------------------------------


@contextlib.contextmanager
def alone(place: Path) -> Iterator[None]:
    """Work in a folder, with an environment that holds nothing of this machine's settings."""
    before, folder = dict(os.environ), Path.cwd()
    for name in before:
        if name.startswith(("FACTS_", "FACTBOOK_")):
            del os.environ[name]
    os.environ.update(
        FACTBOOK_DB="mine.db",
        FACTBOOK_KEY_FILE="key",
        FACTBOOK_CONFIG="config.toml",
        XDG_CONFIG_HOME=str(place),
        NO_COLOR="1",
        COLUMNS="100",
        TZ="UTC",
    )
    time.tzset()
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(before)
        time.tzset()


def rendered(page: str) -> str:
    """Return a page with the output that its commands have now."""
    with tempfile.TemporaryDirectory() as folder, ModelServer() as server:
        place = Path(folder).resolve()
        with alone(place):
            world = World(place, server)
            text = _BLOCK.sub(world.block, page)
        if world.answers:
            sys.exit(f"{len(world.answers)} answers of the model were never asked for")
        if world.unscripted:  # such a failure is the script's, and would pass for the program's
            sys.exit(f"{world.unscripted} calls of the model have no answer on the page")
        return text


def differences(name: str, before: str, after: str) -> list[str]:
    """Return the lines that differ in more than how long something took."""
    first, second = (
        [_TOOK.sub("0", line) for line in text.splitlines()] for text in (before, after)
    )
    return list(difflib.unified_diff(first, second, name, "the program", lineterm="", n=1))


def unnamed(page: str) -> list[str]:
    """Return the reasons of a refusal that the page about them does not name."""
    known: list[Any] = [*RejectionReason, *policy.REJECTION_REASONS, *policy.LINE_REJECTIONS]
    return [f"docs/refused.md does not name {one}" for one in known if f"`{one}`" not in page]


def main() -> None:
    """Write the pages, or hold them to what the program prints."""
    wrong = False
    for name in PAGES:
        path = DOCS / name
        page = path.read_text(encoding="utf-8")
        now = rendered(page)
        changed = differences(f"docs/{name}", page, now)
        if name == "refused.md":
            changed += unnamed(now)
        wrong = wrong or bool(changed)
        if "--check" in sys.argv[1:]:
            print("\n".join(changed) or f"docs/{name} shows what the program prints")
            continue
        if changed:
            path.write_text(now, encoding="utf-8")
        print(f"docs/{name}: {len(changed)} lines differed")
    if "--check" in sys.argv[1:]:
        sys.exit(wrong)


if __name__ == "__main__":
    main()
