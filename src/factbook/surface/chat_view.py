"""Show a conversation: on a terminal, as plain lines, or as one JSON object for each event.

A view is told what happens, in the order in which it happens, and shows it at once. Notices and
remarks may come from another thread while a line is typed: they are written above it. All text of
others passes `text.safe`, so no page, no model and no message can command a terminal.

Knows: streams, terminals, how an answer is laid out. Does not know: the memory, or what a line
means.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from factbook.errors import UsageError
from factbook.surface import text
from factbook.surface.render_world import Look, results

if TYPE_CHECKING:
    from factbook.interest.deliver import Delivery
    from factbook.surface.commands import Reply
    from factbook.surface.output import Screen
    from factbook.world import SearchAnswer

__all__ = ["Basis", "JsonView", "Memo", "Source", "TerminalView", "View", "open_transcript"]

PROMPT: Final = "> "
_SHORT: Final = 3  # lines of one memory that are shown
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What an answer stands on, decided before it is given."""

    of: str  # "memory", "search" or "conversation": neither was needed, or neither helps
    why: str  # in words
    query: str = ""  # what was searched for
    facts: Sequence[str] = ()  # ids of the facts that are enough


@dataclass(frozen=True, slots=True, kw_only=True)
class Memo:
    """A memory that was used, or would have been."""

    id: str  # "f12" or "e34"
    text: str
    day: str  # when it happened; "" where nobody knows
    confidence: float
    place: str  # the address of a page, or the source


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where something that an answer names by its id comes from."""

    id: str
    place: str


class View(Protocol):
    """What shows a conversation."""

    @property
    def look(self) -> Look:
        """How the answers of commands may look."""

    def read(self) -> str | None:
        """Return the next line that a person typed; None at the end. Raises KeyboardInterrupt."""

    def heard(self, line: str) -> None:
        """Begin a turn with what was typed, redacted."""

    def replied(self, command: str, reply: Reply) -> None:
        """Show what a command answers."""

    def based(self, basis: Basis) -> None:
        """Show what the answer stands on."""

    def found(self, answer: SearchAnswer, query: str) -> None:
        """Show what a search found, where no model reads it."""

    def remembered(self, memories: Sequence[Memo]) -> None:
        """Show the memories that an answer would have been made from."""

    def asked(self, tool: str, query: str, said: str) -> None:
        """Show that a model used a tool."""

    def piece(self, part: str) -> None:
        """Show a part of an answer as it comes."""

    def answered(self, answer_id: str, sources: Sequence[Source], *, stopped: bool) -> None:
        """End an answer; `answer_id` is "e12" where it was kept."""

    def note(self, said: str) -> None:
        """Show a remark; any thread may call it."""

    def problem(self, kind: str, said: str) -> None:
        """Show what went wrong."""

    def notice(self, delivery: Delivery) -> None:
        """Show a notice; any thread may call it."""

    def ended(self) -> None:
        """End a turn."""


# --- a terminal, or plain lines -------------------------------------------------------------------


class TerminalView:
    """Shows a conversation as text; on a terminal with colours, a prompt, and line editing."""

    def __init__(
        self,
        screen: Screen,
        *,
        source: TextIO,
        plain: bool = False,
        transcript: TextIO | None = None,
    ) -> None:
        """Look at the streams; `plain` leaves out colours and everything that moves."""
        self._screen = screen
        self._source = source
        self._transcript = transcript
        typing = _is_terminal(source)
        self._prompts = typing and screen.width is not None
        self._live = self._prompts and not plain and os.environ.get("TERM") != "dumb"
        self._echoes = not typing  # who reads the output of a script wants to see what was said
        if plain:
            screen.color = False
        self._editor = _line_editor() if self._live else None
        self._lock = threading.RLock()  # of everything that is written
        self._reading = False
        self._rest = ""  # of a piece: half of what may be one sign
        self._in_answer = False
        self.look = Look(
            width=screen.width, color=screen.color, plain=not _can_write("█·│✓", sys.stdout)
        )

    # --- in -------------------------------------------------------------------------------------

    def read(self) -> str | None:
        """Return the next line; None at the end."""
        with self._lock:
            self._screen.flush()
            self._reading = True
        try:
            if self._live:
                return input(PROMPT)
            if self._prompts:
                self._screen.raw(PROMPT)
                self._screen.flush()
            line = self._source.readline()
            return line.rstrip("\r\n") if line else None
        except EOFError:
            return None
        finally:
            self._reading = False

    def heard(self, line: str) -> None:
        """Begin a turn."""
        shown = PROMPT + text.safe(line)
        if self._echoes:
            self._write(shown.split("\n"), "bold")
        elif self._transcript is not None:
            self._record(shown)

    # --- out ------------------------------------------------------------------------------------

    def replied(self, command: str, reply: Reply) -> None:
        """Show what a command answers."""
        del command
        for one in reply.notes:
            self.note(one)
        if reply.text:
            self._write(reply.text.split("\n"))

    def based(self, basis: Basis) -> None:
        """Show what the answer stands on."""
        why = f" ({text.one_line(basis.why)})" if basis.why else ""
        if basis.of == "memory":
            self._say(f"answered from memory{why}", "cyan")
        elif basis.of == "search":
            self._say(f"not enough in memory{why}; searched: {basis.query}", "cyan")
        elif why:
            self._say(basis.why, "dim")

    def found(self, answer: SearchAnswer, query: str) -> None:
        """Show what a search found."""
        self._write(results(answer, query, look=self.look).split("\n"))

    def remembered(self, memories: Sequence[Memo]) -> None:
        """Show memories with where they come from."""
        width = max((len(one.id) for one in memories), default=0)
        for one in memories:
            lead = f"{one.id.ljust(width)}  "
            room = self._screen.prose - len(lead)
            lines = text.wrap(text.one_line(one.text), room, lines=_SHORT)
            self._write([lead + lines[0], *(" " * len(lead) + more for more in lines[1:])])
            where = ", ".join(
                part
                for part in (one.day, f"confidence {one.confidence:.2f}", text.one_line(one.place))
                if part
            )
            self._write([" " * len(lead) + where], "dim")

    def asked(self, tool: str, query: str, said: str) -> None:
        """Show that a model used a tool."""
        self._end_line()
        about = f": {query}" if query else ""
        self._say(f"[{tool}{about}] {said}", "dim")

    def piece(self, part: str) -> None:
        """Show a part of an answer as it comes."""
        whole = self._rest + part
        # a carriage return is only safe to judge together with what follows it
        self._rest = "\r" if whole.endswith("\r") else ""
        shown = text.safe(whole.removesuffix("\r"))
        if not shown:
            return
        with self._lock:
            self._in_answer = not shown.endswith("\n")
            self._screen.raw(shown)
            self._screen.flush()
            if self._transcript is not None:
                self._transcript.write(shown)

    def answered(self, answer_id: str, sources: Sequence[Source], *, stopped: bool) -> None:
        """End an answer with where it comes from."""
        del answer_id
        self._rest = ""
        self._end_line()
        if stopped:
            self._say("stopped", "yellow")
        width = max((len(one.id) for one in sources), default=0)
        self._write(
            [f"{one.id.ljust(width)}  {text.one_line(one.place)}" for one in sources], "dim"
        )

    def note(self, said: str) -> None:
        """Show a remark."""
        self._say(said, "dim")

    def problem(self, kind: str, said: str) -> None:
        """Show what went wrong."""
        del kind
        self._rest = ""
        self._end_line()
        self._say(f"! {text.one_line(said)}", "yellow")

    def ended(self) -> None:
        """End a turn; one that shows something is followed by an empty line."""
        self._end_line()
        self._write([""])

    def notice(self, delivery: Delivery) -> None:
        """Show a notice, above what is being typed."""
        lines = delivery.text.split("\n")
        lines[0] = f"n{delivery.notice.id}  {lines[0]}"
        if delivery.image:
            lines.append(delivery.image)
        with self._lock:
            self._over_prompt([*map(text.safe, lines), ""], "green")

    # --- parts ----------------------------------------------------------------------------------

    def _over_prompt(self, lines: Sequence[str], style: str) -> None:
        """Write safe lines above the prompt, where there is one, and show it again below them."""
        reading = self._reading and self._prompts
        if reading:
            self._screen.raw("\r\x1b[K" if self._live else "\n")
        self._write(lines, style)
        if reading:
            typed = "" if self._editor is None else self._editor.get_line_buffer()
            self._screen.raw(PROMPT + text.safe(typed))
            self._screen.flush()

    def _say(self, raw: str, style: str) -> None:
        with self._lock:
            self._end_line()
            self._over_prompt(text.wrap(text.safe(raw), self._screen.prose), style)

    def _write(self, lines: Sequence[str], style: str = "") -> None:
        """Write safe lines."""
        with self._lock:
            for line in lines:
                self._screen.line(self._screen.paint(line, style) if style else line)
                self._record(line)
            self._screen.flush()

    def _record(self, line: str) -> None:
        if self._transcript is not None:
            self._transcript.write(_COLOURS.sub("", line) + "\n")
            self._transcript.flush()

    def _end_line(self) -> None:
        if self._in_answer:
            self._in_answer = False
            self._write([""])


def _line_editor() -> ModuleType | None:
    """Return what edits lines on a terminal, where Python has it: on Windows it has not."""
    try:
        import readline
    except ImportError:
        return None
    return readline


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def _can_write(drawing: str, stream: TextIO) -> bool:
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        drawing.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def open_transcript(path: Path) -> TextIO:
    """Open a file that a conversation is written to, behind what it holds; its owner reads it."""
    path = path.expanduser()
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, stat.S_IRUSR | stat.S_IWUSR)
        return os.fdopen(number, "a", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(
            detail=f"--transcript {path} cannot be written ({error.strerror}); name a file in a"
            " folder that you can write to"
        ) from error


# --- for programs ---------------------------------------------------------------------------------


class JsonView:
    """Writes one JSON object per line for each event; lines of plain text come in."""

    def __init__(self, screen: Screen, *, source: TextIO, transcript: TextIO | None = None) -> None:
        """Take the streams."""
        self._screen = screen
        self._source = source
        self._transcript = transcript
        self._lock = threading.RLock()  # of everything that is written
        self.look = Look()

    def read(self) -> str | None:
        """Return the next line; None at the end."""
        line = self._source.readline()
        return line.rstrip("\r\n") if line else None

    def heard(self, line: str) -> None:
        """Begin a turn."""
        self._event("said", text=line)

    def replied(self, command: str, reply: Reply) -> None:
        """Write what a command answers."""
        self._event(
            "reply", command=command, text=reply.text, data=dict(reply.data), notes=[*reply.notes]
        )

    def based(self, basis: Basis) -> None:
        """Write what the answer stands on."""
        self._event("basis", of=basis.of, why=basis.why, query=basis.query, facts=list(basis.facts))

    def found(self, answer: SearchAnswer, query: str) -> None:
        """Write what a search found."""
        rows = [{"title": one.title, "url": one.url, "text": one.text} for one in answer.results]
        self._event("results", query=query, provider=answer.provider, results=rows)

    def remembered(self, memories: Sequence[Memo]) -> None:
        """Write memories with where they come from."""
        rows: list[Mapping[str, object]] = [
            {
                "id": one.id,
                "text": one.text,
                "day": one.day,
                "confidence": one.confidence,
                "place": one.place,
            }
            for one in memories
        ]
        self._event("memories", memories=rows)

    def asked(self, tool: str, query: str, said: str) -> None:
        """Write that a model used a tool."""
        self._event("tool", tool=tool, query=query, said=said)

    def piece(self, part: str) -> None:
        """Write a part of an answer as it comes."""
        self._event("piece", text=part)

    def answered(self, answer_id: str, sources: Sequence[Source], *, stopped: bool) -> None:
        """Write that an answer has ended."""
        rows = [{"id": one.id, "place": one.place} for one in sources]
        self._event("answered", id=answer_id or None, sources=rows, stopped=stopped)

    def note(self, said: str) -> None:
        """Write a remark."""
        self._event("note", text=said)

    def problem(self, kind: str, said: str) -> None:
        """Write what went wrong."""
        self._event("error", kind=kind, message=said)

    def ended(self) -> None:
        """End a turn."""
        self._event("end")

    def notice(self, delivery: Delivery) -> None:
        """Write a notice."""
        self._event(
            "notice",
            id=f"n{delivery.notice.id}",
            entity=delivery.entity,
            text=delivery.text,
            facts=[{"id": f"f{one}", "text": said} for one, said in delivery.facts.items()],
            image=delivery.image or None,
        )

    def _event(self, event: str, **more: object) -> None:
        from factbook.surface.output import dump

        line = dump({"event": event, **more}) + "\n"
        with self._lock:
            self._screen.raw(line)
            self._screen.flush()
            if self._transcript is not None:
                self._transcript.write(line)
                self._transcript.flush()
