"""Write answers where they belong: lines or JSON to stdout, notes and errors to stderr.

Colour only where a terminal shows it and nobody switched it off (NO_COLOR, TERM=dumb, a pipe).
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Final, Protocol, TextIO

from factbook.errors import FactbookError
from factbook.model.facts import ME, Everyone
from factbook.surface import records, text

_CALLED: Final = {"search": "lookup"}  # `factbook search` looks through the memory itself
_PROGRAM: Final = "factbook"
_NAMED: Final = re.compile(rf"`{_PROGRAM} ([a-z][^`]*)`")  # as our texts name a command
_OWNED: Final = re.compile(r"--(?:owner|all-owners)\b")
_SLASHES: Final = {command: slash for slash, command in _CALLED.items()}
_NARROWEST: Final = 20  # cells of a line, however narrow a terminal says that it is
PROSE_WIDTH: Final = 100  # running text is hard to read in longer lines


def dump(value: object, *, indent: int | None = None) -> str:
    """Return a value as readable JSON in which all that a terminal obeys is escaped."""
    dumps = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    # JSON strings may hold some of these as they are; its own \u escapes say the same
    return text.UNSAFE.sub(lambda match: json.dumps(match[0])[1:-1], dumps)


class Parameter(Protocol):
    """One parameter of a command."""

    @property
    def name(self) -> str:
        """Return what it is called."""


class Command(Protocol):
    """What a page knows of a command that it names."""

    @property
    def slash(self) -> str:
        """Return its name in a conversation; "" where it has none there."""

    @property
    def parameters(self) -> Sequence[Parameter]:
        """Return what it takes."""


class ReaderGone(Exception):
    """Whoever read stdout has enough.

    Not a BrokenPipeError: typer takes that for a failure and exits with 1.
    """


class Page:
    """What a person is shown: lines of so many cells, kept as a text."""

    commands: ClassVar[Mapping[str, Command]] = {}  # by their names; the table puts itself here

    def __init__(
        self,
        *,
        width: int | None = None,
        color: bool = False,
        plain: bool = False,
        program: str = "",
    ) -> None:
        """Take how lines may look.

        `plain` allows ASCII signs alone; `program` is how commands are called where it is shown,
        "" where a slash does it. A page that is about one owner who was named, or about all, says
        so in its commands: `about` is set by who shows it.
        """
        self._cells = width
        self.color = color
        self.plain = plain
        self.program = program
        self.about: str | Everyone = ME
        self._held: list[str] = []

    @property
    def width(self) -> int | None:
        """How many cells a line has now; None where nobody sees where one ends."""
        return self._cells

    @property
    def prose(self) -> int:
        """How many cells a line of running text takes."""
        return min(self.width or PROSE_WIDTH, PROSE_WIDTH)

    @property
    def written(self) -> str:
        """What was written, without a line end behind the last line."""
        return "\n".join(self._held)

    def blank(self) -> Page:
        page = Page(width=self.width, color=self.color, plain=self.plain, program=self.program)
        page.about = self.about
        return page

    def typed(self, command: str) -> str:
        """Return how a command is typed there, in marks; the argument is made safe."""
        name, _, argument = text.one_line(command).partition(" ")
        slashes = {of.slash for of in self.commands.values()}
        if not self.program and (slash := _SLASHES.get(name, name)) in slashes:
            return f"`/{slash} {argument}`".replace(" `", "`")
        return f"`{self.command(command)}`"

    def command(self, command: str, *, owner: str | Everyone | None = None) -> str:
        """Return how a command of a shell is typed, with the database and the owner of the page.

        With an `owner` it is of that one; what takes no owner is called without.
        """
        name, _, argument = text.one_line(command).partition(" ")
        words = [self.program or _PROGRAM, _CALLED.get(name, name), argument]
        of = self.commands.get(words[1])
        options = {parameter.name for parameter in of.parameters} if of is not None else set()
        about = self.about if owner is None else owner
        if _OWNED.search(argument) or about == ME:
            pass
        elif isinstance(about, Everyone):
            words += ["--all-owners"] if "all_owners" in options else []
        elif "owner" in options:
            words.append(f"--owner {shlex.quote(text.one_line(about))}")
        if "--db " in argument:
            words[0] = _PROGRAM
        return " ".join(filter(None, words))

    def told(self, said: str) -> str:
        """Return a text of ours with the commands in it as they are typed there."""
        return _NAMED.sub(lambda match: self.typed(match[1]), said)

    def line(self, line: str = "") -> None:
        """Write a line that was made safe before; on a terminal a long one goes on below."""
        self._held.append(line)

    def lines(self, lines: Iterable[str]) -> None:
        """Write lines that were made safe before."""
        for line in lines:
            self.line(line)

    def say(self, raw: str, style: str = "", *, lead: str = "", lines: int | None = None) -> None:
        """Write one raw text, made safe and wrapped, behind a safe lead; the next lines below it.

        With `lines`, it is cut to so many.
        """
        indent = text.cells(text.COLOUR.sub("", lead))
        for number, line in enumerate(text.wrap(text.safe(raw), self.prose - indent, lines=lines)):
            self.line((" " * indent if number else lead) + self.paint(line, style))

    def head(self, title: str, said: str = "", style: str = "") -> None:
        """Begin a part: its safe title in bold, and what is said beside it."""
        self.line(self.paint(title, f"bold {style}".rstrip()) + (f"  {said}" if said else ""))

    def fitted(
        self, lead: str, said: str, style: str = "", *, of: int = 0, lead_style: str = "dim"
    ) -> None:
        """Write one safe line: a lead, and of a text as much as `of` cells hold behind it."""
        room = max(20, (of or self.prose) - text.cells(lead))
        shown = self.paint(text.fit(said, room), style)
        self.line(self.paint(lead, lead_style if lead.strip() else "") + shown)

    def warn(self, raw: str) -> None:
        self.say(raw, "yellow")

    def paint(self, safe_text: str, style: str) -> str:
        return text.paint(safe_text, style, color=self.color)

    def wrap(self, safe_text: str, *, indent: int, lines: int | None = None) -> list[str]:
        """Break a safe text that may hold highlight marks into lines of prose."""
        return text.wrap(safe_text, self.prose - indent, lines=lines, close_marks=self.color)

    def table(
        self, columns: Sequence[text.Column], values: Iterable[object], *, indent: int = 0
    ) -> None:
        room = None if self.width is None else self.width - indent
        for line in text.table(columns, values, width=room, color=self.color):
            self.line(" " * indent + line)


class Screen(Page):
    """Where one command writes, and how."""

    def __init__(self, *, as_json: bool) -> None:
        """Look at the streams once: colour, and that every character can be written."""
        self._out = _ready(sys.stdout)
        self._err = _ready(sys.stderr)
        super().__init__(
            color=not as_json and _wants_color(self._out),
            plain=not can_write("█·│✓", sys.stdout),
            program=_PROGRAM,
        )
        self.as_json = as_json
        self._err_color = _wants_color(self._err)
        self._started = False

    @property
    def width(self) -> int | None:
        return _width(self._out)

    def line(self, line: str = "") -> None:
        self.raw(_flowing(line, self._out) + "\n")

    def json(self, value: object) -> None:
        """Write one JSON document; of a mapping to one iterator, each value as it comes."""
        if isinstance(value, Mapping) and len(value) == 1:
            ((name, content),) = value.items()
            if isinstance(content, Iterator):
                self._stream(name, content)
                return
        self.raw(dump(records.plain(value), indent=2) + "\n")

    def _stream(self, name: str, values: Iterable[object]) -> None:
        """Write `{"name": [...]}` with one value per line, none kept in memory."""
        self.raw(f'{{"{name}": [')
        lead = "\n"
        for value in values:
            self.raw(lead + dump(records.plain(value)))
            lead = ",\n"
        self.raw("\n]}\n")

    def note(self, raw: str) -> None:
        self._remark("note:", "yellow", self.told(raw))

    def warn(self, raw: str) -> None:
        self._remark("warning:", "yellow", self.told(raw))

    def error(self, kind: str, message: str, **more: object) -> None:
        """Say what went wrong: a sentence on stderr, and with --json an object on stdout.

        `more` are fields of that object beside its kind and message.
        """
        if self.as_json and not self._started:
            self.json({"error": {"kind": kind, "message": message, **more}})
        self._remark("error:", "red", self.told(message))

    def _remark(self, label: str, style: str, raw: str) -> None:
        line = text.paint(label, style, color=self._err_color) + " " + text.one_line(raw)
        with suppress(OSError):  # nobody reads stderr: there is no one left to tell
            self._err.write(_flowing(line, self._err) + "\n")
            self._err.flush()

    def raw(self, data: str) -> None:
        """Write text that is safe: made so before, or by its form (JSON)."""
        self._started = True
        self._guard(lambda: self._out.write(data))

    def flush(self) -> None:
        self._guard(self._out.flush)

    @staticmethod
    def _guard(write: Callable[[], Any]) -> None:
        try:
            write()
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise ReaderGone from error
            raise FactbookError(
                detail=f"the output could not be written ({error.strerror}); what the command was"
                " to change is changed all the same: make room or name another place, and look"
                " before you run it again"
            ) from error


def _ready(stream: TextIO | None) -> TextIO:
    if stream is None:  # the caller closed it
        return io.StringIO()
    if isinstance(stream, io.TextIOWrapper):
        # A terminal of another encoding shows what it cannot write as an escape.
        stream.reconfigure(errors="backslashreplace")
    return stream


def _wants_color(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream)


def can_write(drawing: str, stream: TextIO | None) -> bool:
    """Tell whether a stream can show a drawing; where not, plain signs draw the same."""
    try:
        drawing.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def is_terminal(stream: TextIO) -> bool:
    """Tell whether a person sees what is written there, or types what is read."""
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def _flowing(line: str, stream: TextIO) -> str:
    """Break a line at blanks for a terminal; what a program or a file gets stays as it is."""
    width = _width(stream) if is_terminal(stream) else None
    return line if width is None else "\n".join(text.flow(line, width))


def _width(stream: TextIO) -> int | None:
    """Return the width of a terminal as it is now; $COLUMNS speaks where there is none."""
    if is_terminal(stream):
        with suppress(OSError):
            columns = os.get_terminal_size(stream.fileno()).columns
            if columns > 0:  # some terminals do not say
                return max(columns, _NARROWEST)
    named = os.environ.get("COLUMNS", "")
    if named.isdigit() and int(named) > 0:
        return max(int(named), _NARROWEST)
    return 80 if is_terminal(stream) else None
