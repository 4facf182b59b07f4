"""Show a conversation: on a terminal, as plain lines, or as one JSON object for each event.

A view is told what happens, in the order in which it happens, and shows it at once. Notices and
remarks may come from another thread while a line is typed: they are written above it. All text of
others passes `text.safe`, so no page, no model and no message can command a terminal.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO

from factbook.errors import UsageError
from factbook.surface import text
from factbook.surface.output import Page, dump, is_terminal
from factbook.surface.records import fields, plain
from factbook.surface.views.world import results

if TYPE_CHECKING:
    from factbook.interests.deliver import Delivery
    from factbook.memory.chat_turns import Basis
    from factbook.model.entities import SearchAnswer
    from factbook.surface.chat.slash import SlashReply
    from factbook.surface.output import Screen

_PASTE: Final = "\u2060"  # WORD JOINER: it takes no room, and no message needs it
PROMPT: Final = "> "
MORE: Final = "… "  # before the next line of a message of several
_MORE_PLAIN: Final = ". "
_SHORT: Final = 3  # lines of one memory that are shown
_MEMORIES: Final = 8  # ours: that are shown at once; the best come first
_RESULTS: Final = 5  # ours: of a search, as many as a model is given
_HELD: Final = 24  # cells of what is written without blanks of which the end is waited for


class Memo(NamedTuple):
    """A memory that was used, or would have been."""

    id: str  # "f12" or "e34"
    text: str
    day: str  # when it happened; "" where nobody knows
    confidence: float
    place: str  # the address of a page, or the source


class Source(NamedTuple):
    """Where something that an answer names by its id comes from."""

    id: str
    place: str


class View:
    """What shows a conversation: each event as one JSON object in a line of its own.

    Lines of plain text come in. A view for people overrides what writes an event.
    """

    def __init__(self, screen: Screen, *, source: TextIO, transcript: TextIO | None = None) -> None:
        self._screen = screen
        self._source = source
        self._transcript = transcript
        self._lock = threading.RLock()  # of everything that is written
        self.begins_pasted = False  # whether the line that was read last begins with a paste

    @property
    def look(self) -> Page:
        """How the answers of commands may look."""
        return Page()

    def read(self, *, more: bool = False) -> str | None:
        """Return the next line that a person typed; None at the end. Raises KeyboardInterrupt.

        With `more`, it is part of the message that the line before began.
        """
        line = self._source.readline()
        return line.rstrip("\r\n") if line else None

    def offer(self, line: str) -> None:
        """Let the next line begin with this one, to be sent or changed by whoever types."""

    def heard(self, line: str) -> None:
        """Begin a turn with what was typed, redacted."""
        self._event("said", text=line)

    def replied(self, command: str, reply: SlashReply) -> None:
        self._event("reply", command=command, **fields(reply, "text data notes"))

    def based(self, basis: Basis) -> None:
        """Show what the answer stands on."""
        self._event("basis", **fields(basis, "of why query facts"))

    def found(self, answer: SearchAnswer, query: str) -> None:
        rows = [fields(result, "title url text") for result in answer.results]
        self._event("results", query=query, provider=answer.provider, results=rows)

    def remembered(self, memories: Sequence[Memo]) -> None:
        self._event("memories", memories=memories)

    def asked(self, tool: str, query: str, said: str) -> None:
        self._event("tool", tool=tool, query=query, said=said)

    def piece(self, part: str) -> None:
        self._event("piece", text=part)

    def answered(self, answer_id: str, sources: Sequence[Source], *, stopped: bool) -> None:
        """End an answer; `answer_id` is "e12" where it was kept."""
        self._event("answered", id=answer_id or None, sources=sources, stopped=stopped)

    def note(self, said: str) -> None:
        """Show a remark; any thread may call it."""
        self._event("note", text=said)

    def problem(self, kind: str, said: str) -> None:
        self._event("error", kind=kind, message=said)

    def notice(self, delivery: Delivery) -> None:
        """Show a notice; any thread may call it."""
        self._event(
            "notice",
            id=f"n{delivery.notice.id}",
            entity=delivery.entity,
            text=delivery.text,
            facts=[{"id": f"f{number}", "text": said} for number, said in delivery.facts.items()],
            image=delivery.image or None,
        )

    def ended(self) -> None:
        self._event("end")

    def _event(self, event: str, **more: object) -> None:
        line = dump(plain({"event": event, **more})) + "\n"
        with self._lock:
            self._screen.raw(line)
            self._screen.flush()
            if self._transcript is not None:
                self._transcript.write(line)
                self._transcript.flush()


class TerminalView(View):
    """Shows a conversation as text; on a terminal with colours, a prompt, and line editing."""

    def __init__(
        self,
        screen: Screen,
        *,
        source: TextIO,
        plain: bool = False,
        transcript: TextIO | None = None,
        commands: Sequence[str] = (),
    ) -> None:
        """Page at the streams; `plain` leaves out colours and everything that moves.

        `commands` are what the tabulator key completes.
        """
        super().__init__(screen, source=source, transcript=transcript)
        typing = is_terminal(source)
        self._prompts = typing and screen.width is not None
        self._live = self._prompts and not plain and os.environ.get("TERM") != "dumb"
        self._echoes = not typing  # who reads the output of a script wants to see what was said
        if plain:
            screen.color = False
        self._editor = _line_editor(commands) if self._live else None
        self._reading = False
        self._offered = ""
        self._prompt = PROMPT
        self._rest = ""  # of a piece: half of what may be one sign
        self._flow = Flow(None if screen.width is None else screen.prose)
        self._in_answer = False
        self._listed = False  # whether memories were shown in this turn

    @property
    def look(self) -> Page:
        page = self._screen.blank()
        page.program = ""
        return page

    def read(self, *, more: bool = False) -> str | None:
        with self._lock:
            self._screen.flush()
            self._prompt = (_MORE_PLAIN if self.look.plain else MORE) if more else PROMPT
            self._reading = True
        try:
            if self._live:
                return self._edited()
            if self._prompts:
                self._screen.raw(self._prompt)
                self._screen.flush()
            line = self._source.readline()
            if line:
                return line.rstrip("\r\n")
        except EOFError:
            pass
        except KeyboardInterrupt:
            self._leave_prompt()
            raise
        finally:
            self._reading = False
        self._leave_prompt()
        return None

    def _edited(self) -> str:
        """Read a line that is edited, and see whether it begins with a paste."""
        editor, offered = self._editor, self._offered
        self._offered = ""
        if editor is None:
            return input(self._prompt).rstrip("\r\n")
        if offered:
            import termios

            # What was sent before it could be seen is no answer to it.
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
            editor.set_startup_hook(lambda: editor.insert_text(offered))
        try:
            line = input(self._prompt)
        finally:
            editor.set_startup_hook(None)
        self.begins_pasted = line.startswith(_PASTE)
        if _PASTE in line:
            line = line.replace(_PASTE, "")
            last = editor.get_current_history_length() - 1
            if last >= 0:
                editor.replace_history_item(last, line)
        return line.rstrip("\r\n")

    def offer(self, line: str) -> None:
        self._offered = line

    def _leave_prompt(self) -> None:
        """Begin a new line below what is typed, where no key has done so."""
        if self._prompts:
            self._screen.raw("\n")
            self._screen.flush()

    def heard(self, line: str) -> None:
        shown = PROMPT + text.safe(line)
        if self._echoes:
            self._write(shown.split("\n"), "bold")
        elif self._transcript is not None:
            self._record(shown)

    def replied(self, command: str, reply: SlashReply) -> None:
        for note in reply.notes:
            self.note(note)
        if reply.text:
            self._write(reply.text.split("\n"))

    def based(self, basis: Basis) -> None:
        why = f" ({text.one_line(basis.why)})" if basis.why else ""
        if basis.of == "memory":
            self._say(f"answered from memory{why}", "cyan")
        elif basis.of == "search":
            self._say(f"not enough in memory{why}; searched: {basis.query}", "cyan")
        elif why:
            self._say(basis.why, "dim")

    def found(self, answer: SearchAnswer, query: str) -> None:
        shown = replace(answer, results=answer.results[:_RESULTS])
        if self._listed:
            self._write([""])
        page = self.look
        results(page, shown, query)
        self._write(page.written.split("\n"))
        self._left_out(len(answer.results) - _RESULTS)

    def remembered(self, memories: Sequence[Memo]) -> None:
        width = max((len(memory.id) for memory in memories), default=0)
        for memo in memories[:_MEMORIES]:
            lead = f"{memo.id.ljust(width)}  "
            self._write(self._hanging(lead, text.one_line(memo.text), lines=_SHORT))
            where = [memo.day, f"confidence {memo.confidence:.2f}", text.one_line(memo.place)]
            self._write([" " * len(lead) + ", ".join(filter(None, where))], "dim")
        self._left_out(len(memories) - _MEMORIES)
        self._listed = bool(memories)

    def _left_out(self, number: int) -> None:
        if number > 0:
            self._write([f"(and {number} more)"], "dim")

    def asked(self, tool: str, query: str, said: str) -> None:
        self._end_line()
        about = f": {query}" if query else ""
        self._say(f"[{tool}{about}] {said}", "dim")

    def piece(self, part: str) -> None:
        whole = self._rest + part
        # a carriage return is only safe to judge together with what follows it
        self._rest = "\r" if whole.endswith("\r") else ""
        shown = text.safe(whole.removesuffix("\r"))
        if not shown:
            return
        with self._lock:
            self._in_answer = not shown.endswith("\n")
            self._flow.width = None if self._screen.width is None else self._screen.prose
            self._screen.raw(self._flow.add(shown))
            self._screen.flush()
            if self._transcript is not None:
                self._transcript.write(shown)

    def answered(self, answer_id: str, sources: Sequence[Source], *, stopped: bool) -> None:
        self._rest = ""
        self._end_line()
        if stopped:
            self._say("stopped", "yellow")
        width = max((len(source.id) for source in sources), default=0)
        self._write(
            [f"{source.id.ljust(width)}  {text.one_line(source.place)}" for source in sources],
            "dim",
        )

    def note(self, said: str) -> None:
        self._say(said, "dim")

    def problem(self, kind: str, said: str) -> None:
        self._rest = ""
        self._end_line()
        self._say(f"! {text.one_line(said)}", "yellow")

    def ended(self) -> None:
        self._listed = False
        self._end_line()
        self._write([""])

    def notice(self, delivery: Delivery) -> None:
        head, *facts = map(text.safe, delivery.text.split("\n"))
        lines = self._hanging(f"n{delivery.notice.id}  ", head)
        for fact in facts:
            lines += self._hanging("- ", fact[2:]) if fact.startswith("- ") else [fact]
        if delivery.image:
            lines.append(text.safe(delivery.image))
        with self._lock:
            self._over_prompt([*lines, ""], "green")

    def _hanging(self, lead: str, said: str, *, lines: int | None = None) -> list[str]:
        """Return a safe text in lines behind a lead, the next ones below the first."""
        first, *more = text.wrap(said, self._screen.prose - len(lead), lines=lines)
        return [lead + first, *(" " * len(lead) + line for line in more)]

    def _over_prompt(self, lines: Sequence[str], style: str) -> None:
        """Write safe lines above the prompt, where there is one, and show it again below them."""
        reading = self._reading and self._prompts
        typed = "" if self._editor is None else self._editor.get_line_buffer()
        shown = self._prompt + text.safe(typed)
        if reading:
            self._screen.raw(self._to_its_begin(shown) if self._live else "\n")
        self._write(lines, style)
        if reading:
            self._screen.raw(shown)
            self._screen.flush()

    def _to_its_begin(self, shown: str) -> str:
        """Return what removes the rows that a prompt and what is typed behind it take."""
        width = self._screen.width or 1
        rows = sum(max(text.cells(part) - 1, 0) // width + 1 for part in shown.split("\n")) - 1
        return "\r" + (f"\x1b[{rows}A\x1b[J" if rows else "\x1b[K")

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
            self._transcript.write(text.COLOUR.sub("", line) + "\n")
            self._transcript.flush()

    def _end_line(self) -> None:
        with self._lock:
            self._screen.raw(self._flow.end())
            if self._in_answer:
                self._in_answer = False
                self._write([""])


class Flow:
    """Breaks a text that comes in pieces into lines of a width, at its blanks.

    A word that has begun waits for its end, unless it is wider than a line. What is not written
    with blanks is left to the terminal, as such a word is.
    """

    def __init__(self, width: int | None) -> None:
        """Take a width in cells; without one, all is passed on as it comes."""
        self.width = width
        self._used = 0  # cells of the line that goes on
        self._gap = ""  # blanks before the next word
        self._word = ""  # that goes on

    def add(self, part: str) -> str:
        """Return what can be written now."""
        if self.width is None:
            return part
        out = []
        for piece in re.findall(r"\n| +|[^ \n]+", part):
            if piece[0] in " \n":
                out.append(self._take())
            if piece == "\n":
                self._used, self._gap = 0, ""
                out.append(piece)
            elif piece[0] == " ":
                self._gap += piece
            else:
                self._word += piece
                if text.cells(self._word) > (self.width if self._word.isascii() else _HELD):
                    out.append(self._take())
        return "".join(out)

    def end(self) -> str:
        """Return what was held back; the next text begins a line."""
        out = self._take()
        self._used, self._gap = 0, ""
        return out

    def _take(self) -> str:
        """Return the word that went on, behind blanks or on a line of its own."""
        word, gap, self._word = self._word, self._gap, ""
        if not word:
            return ""
        self._gap = ""
        width, cells = self.width or 1, text.cells(word)
        lead, used = gap, self._used + len(gap)
        if gap and self._used and used + cells > width:
            lead, used = "\n", 0
        used += cells
        self._used = used if used <= width else used % width
        return lead + word


def _line_editor(commands: Sequence[str]) -> ModuleType | None:
    """Return what edits lines on a terminal, where Python has it: on Windows it has not."""
    try:
        import readline
    except ImportError:
        return None

    def completed(typed: str, number: int) -> str | None:
        fits = [
            command for command in commands if typed.startswith("/") and command.startswith(typed)
        ]
        fits = fits if readline.get_begidx() == 0 else []
        return f"{fits[number]} " if number < len(fits) else None

    readline.set_completer(completed)
    readline.set_completer_delims(" ")
    # the library of macOS goes by another name for the same, and has no pasting as one
    other = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if other else "tab: complete")
    if not other:
        readline.parse_and_bind("set enable-bracketed-paste on")
        # Readline tells nobody what was pasted: a sign that nobody sees is put before it.
        readline.parse_and_bind(rf'"\e[200~": "{_PASTE}\C-x\C-b"')
        readline.parse_and_bind(r'"\C-x\C-b": bracketed-paste-begin')
    return readline


def open_transcript(path: Path) -> TextIO:
    path = path.expanduser()
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, stat.S_IRUSR | stat.S_IWUSR)
        return os.fdopen(number, "a", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(
            detail=f"--transcript {path} cannot be written ({error.strerror}); name a file in a"
            " folder that you can write to"
        ) from error


def view_of(screen: Screen, stack: ExitStack, *, plain: bool, transcript: Path | None) -> View:
    """Return the view for a screen; what it writes to is closed with `stack`."""
    from factbook.surface.chat.slash import COMMANDS

    written = None if transcript is None else stack.enter_context(open_transcript(transcript))
    if screen.as_json:
        return View(screen, source=_typed(), transcript=written)
    commands = [f"/{name}" for name in COMMANDS]
    return TerminalView(screen, source=_typed(), plain=plain, transcript=written, commands=commands)


def _typed() -> TextIO:
    """Return what is typed, with any byte that is no character as U+FFFD."""
    if sys.stdin is None:  # the caller closed it
        return io.StringIO()
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin
