"""What a person sees fits the terminal as it is now: rows of text, tables, long paths."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import forked
from conftest import Cli
from factbook.model.facts import EVERYONE, Everyone
from factbook.surface import operations as operations  # which pages name
from factbook.surface import text
from factbook.surface.output import Page

WIDTHS = (40, 80, 140)
LONG = "/srv/media/archive/of-the-choir/recordings-of-2025/evening-service-in-november.flac"
SAID = (
    "I moved the recordings of the choir to the new disk, because the old one made a noise like a"
    " coffee grinder and nobody wanted to sing along with that any more."
)
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """The other side of a pseudo-terminal, and what runs on it."""

    def __init__(self, cli: Cli, args: list[str], columns: int) -> None:
        self.mine, its = pty.openpty()
        self.resize(columns)

        env = cli.environment({"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "33"})
        self.child = forked.start(args, env=env, files=[its, its, its])
        os.close(its)
        self.shown = ""

    def resize(self, columns: int) -> None:
        """Make it so wide from now on."""
        fcntl.ioctl(self.mine, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))

    def write(self, keys: str) -> None:
        """Press keys."""
        os.write(self.mine, keys.encode())

    def until(self, wanted: str, *, seconds: float = 60.0) -> str:
        """Return what was shown since the last call, once it holds a text; "" is the end."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if wanted and wanted in self.shown:
                found, self.shown = self.shown, ""
                return found
            if not select.select([self.mine], [], [], 0.2)[0]:
                continue
            try:
                more = os.read(self.mine, 65536)
            except OSError:  # the child has ended
                more = b""
            if not more:
                break
            self.shown += _COLOURS.sub("", more.decode(errors="replace")).replace("\r", "")
        assert not wanted, f"{wanted!r} was not shown: {self.shown!r}"
        found, self.shown = self.shown, ""
        return found


@contextmanager
def on_terminal(cli: Cli, *args: str, columns: int) -> Iterator[Terminal]:
    found = Terminal(cli, list(args), columns)
    try:
        yield found
    finally:
        found.child.kill()
        os.close(found.mine)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A memory in which a person said something long, and something with a long path in it."""
    folder = tmp_path_factory.mktemp("told")
    cli = Cli(home=folder, env={"FACTBOOK_DB": str(folder / "memory.db")})
    cli("remember", SAID)
    cli("remember", f"My favourite recording is {LONG}")
    return cli


def fits(shown: str, width: int) -> None:
    """Check that lines are no wider than the terminal, but for a word that is wider itself."""
    for line in shown.splitlines():
        assert text.cells(line.rstrip()) <= width or len(line.split()[-1]) > width - 20, line


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_of_text_break_between_words(told: Cli, width: int) -> None:
    with on_terminal(told, "explain", "1", columns=width) as tty:
        shown = tty.until("")
    fits(shown, width)
    assert " ".join(SAID.split()) in " ".join(shown.split())
    assert not any(one in shown for one in ("\x1b", "Traceback"))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_long_path_is_whole(told: Cli, width: int) -> None:
    with on_terminal(told, "explain", "2", columns=width) as tty:
        shown = tty.until("")
    assert LONG in shown


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_is_as_wide_as_the_terminal(told: Cli, width: int) -> None:
    with on_terminal(told, "facts", columns=width) as tty:
        shown = tty.until("")
    lines = [line for line in shown.splitlines() if line.startswith(("id", "f1", "f2"))]
    assert len(lines) == 3
    assert all(text.cells(line) <= width for line in lines)
    assert max(text.cells(line) for line in lines) > width - 12


def test_a_chat_is_as_wide_as_its_terminal_is_now(told: Cli) -> None:
    """Nothing of the width of the start stays, and no variable of a shell speaks for it."""
    with on_terminal(told, "chat", "--plain", "--no-search", "--no-worker", columns=140) as tty:
        tty.until("> ")
        tty.write("/help\n")
        wide = tty.until("\n\n> ")
        tty.resize(40)
        os.kill(tty.child.pid, signal.SIGWINCH)
        tty.write("/help\n")
        narrow = tty.until("\n\n> ")
        tty.write("/quit\n")
        assert tty.child.wait(30) == 0
    assert max(text.cells(line) for line in wide.splitlines()) > 80
    assert max(text.cells(line) for line in narrow.splitlines()) <= 40
    assert " ".join(wide.split()[1:]).count("Take a like back.") == 1


def test_a_page_breaks_raw_texts_between_words_behind_their_lead() -> None:
    page = Page(width=30)
    page.say(f"the recordings are in {LONG} now", lead="f12  ")
    lines = page.written.split("\n")
    assert lines[0].startswith("f12  the recordings")
    assert all(line.startswith("     ") for line in lines[1:])
    assert any(line.strip() == LONG for line in lines)


def test_an_excerpt_is_cut_however_long_its_words_are() -> None:
    found = text.wrap(LONG * 20, 40, lines=2)
    assert len(found) == 2
    assert all(text.cells(line) <= 40 for line in found)
    assert found[-1].endswith("…")


@pytest.mark.parametrize(
    ("about", "said", "typed"),
    [
        ("ann", "`factbook facts` lists them", "`factbook --db x facts --owner ann` lists them"),
        ("ann b", "`factbook pin f1`", "`factbook --db x pin f1 --owner 'ann b'`"),
        (EVERYONE, "`factbook explain f1`", "`factbook --db x explain f1 --all-owners`"),
        (EVERYONE, "`factbook pin f1`", "`factbook --db x pin f1`"),
        # what takes no owner, what names one, and what is about oneself
        ("ann", "`factbook embed`", "`factbook --db x embed`"),
        ("ann", "`factbook facts --owner bea`", "`factbook --db x facts --owner bea`"),
        ("me", "`factbook facts`", "`factbook --db x facts`"),
        ("ann", "`factbook embed --db y`", "`factbook embed --db y`"),
        ("ann", "the factbook lists facts", "the factbook lists facts"),
    ],
)
def test_a_command_is_named_as_it_is_typed(about: str | Everyone, said: str, typed: str) -> None:
    page = Page(program="factbook --db x")
    page.about = about
    assert page.told(said) == typed
    assert page.blank().told(said) == typed


def test_a_conversation_names_what_is_typed_in_it() -> None:
    said = Page().told("`factbook memory tea` or `factbook lookup tea`, and `factbook doctor`")
    assert said == "`/memory tea` or `/search tea`, and `factbook doctor`"
