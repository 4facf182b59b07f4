"""Read shell commands well enough to know which programs they run on which words.

Knows: words and quotes, lists and pipelines, substitutions, loops, here-documents, and wrappers
such as sudo, env, timeout, xargs, sshpass, `bash -c` and `ssh host COMMAND`. Does not know: what
variables hold, and what a here-document is for (its lines are never read as commands).

A regular expression cannot tell `ssh web1` from `echo "ssh web1"`, and a library for shell words
knows no spans. Reading is one pass over the text; nesting beyond MAX_DEPTH is read as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from factbook.extract.base import word_set

__all__ = ["MAX_DEPTH", "ShellCommand", "ShellWord", "after_options", "operands", "parse"]

MAX_DEPTH: Final = 16
"""Levels of `$(...)`, subshells and quoted commands that are followed."""

_BLANK: Final = re.compile(r"(?:[^\S\n]|\\\r?\n)+|#[^\n]*")
_PIECE: Final = re.compile(
    r"[^\s'\"\\$`;&|<>()]+"
    r"|'(?P<single>[^']*)'?"
    r"|\$'(?P<escapes>(?:[^'\\]|\\.)*)'?"
    r"|(?P<joined>\\\n)|\\(?P<escaped>.?)"
    r"|\$\{(?:[^{}\n]|\{[^{}\n]*\})*\}?|\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])?",
    re.DOTALL,
)
_IN_DOUBLE: Final = re.compile(
    r"[^\"\\$`]+|\\(?P<escaped>[\"\\$`\n])|\\"
    r"|\$\{(?:[^{}\n]|\{[^{}\n]*\})*\}?|\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])?"
)
_BACKTICKS: Final = re.compile(r"`((?:[^`\\]|\\.)*+)`?", re.DOTALL)
_REDIRECT: Final = re.compile(r"<<<|<<-|<<|<>|<&|<|&>>|&>|>>|>\||>&|>")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_KEYWORDS: Final = word_set("if then else elif do while until ! { } time fi done esac")


class ShellWord(NamedTuple):
    """One word of a command: its value without quotes, and its place."""

    value: str
    start: int  # with its quotes
    end: int
    inner: int  # where the value stands letter by letter, or -1 where quotes or escapes cut it

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place of a part of the value, or of the whole word where parts have none."""
        if self.inner < 0:
            return self.start, self.end
        return self.inner + start, self.inner + end


class ShellCommand(NamedTuple):
    """One simple command, wrappers such as sudo taken off."""

    name: str  # base name of the program
    args: tuple[ShellWord, ...]
    words: tuple[ShellWord, ...]  # of the whole command as written, with wrappers and assignments
    targets: tuple[ShellWord, ...]  # files that it is redirected from or to
    start: int  # of the program's word
    end: int  # of its last word


@lru_cache(maxsize=8)
def parse(text: str) -> tuple[ShellCommand, ...]:
    """Return every simple command of a text, nested ones included, in order of their end.

    Several rules ask about the same command one after the other, hence the small cache.
    """
    reader = _Reader(text, 0, len(text), depth=0)
    reader.read_list()
    return tuple(reader.commands)


class _Reader:
    """One pass over a range of a text."""

    def __init__(self, text: str, start: int, end: int, *, depth: int) -> None:
        self.text = text
        self.pos = start
        self.end = end
        self.depth = depth
        self.commands: list[ShellCommand] = []
        self.waiting: list[str] = []  # ends of here-documents that start on the next line

    def read_list(self, *, nested: bool = False) -> None:
        """Read commands up to the closing bracket, or to the end."""
        words: list[ShellWord] = []
        targets: list[ShellWord] = []
        text, end = self.text, self.end
        while self.pos < end:
            blank = _BLANK.match(text, self.pos, end)
            if blank:
                self.pos = blank.end()
                continue
            char = text[self.pos]
            if char in "<>" or text.startswith("&>", self.pos):
                self._redirect(targets)
            elif char in "\n;&|()":
                array = char == "(" and bool(words) and words[-1].value.endswith("=")
                if not array:
                    self._finish(words, targets)
                self.pos += 1
                if char == "\n":
                    self._skip_heredocs()
                elif char == "(":
                    self._nested(keep=not array)
                elif char == ")" and nested:
                    return
            else:
                word = self._word()
                if not (word.value.isdecimal() and text[self.pos : self.pos + 1] in {"<", ">"}):
                    words.append(word)  # else a file descriptor, as in `2>file`
        self._finish(words, targets)

    def _nested(self, *, keep: bool = True) -> None:
        """Read the commands inside a bracket that was just opened."""
        if self.depth >= MAX_DEPTH:
            return  # the rest is read as if the bracket were not there
        count = len(self.commands)
        waiting, self.waiting = self.waiting, []
        self.depth += 1
        self.read_list(nested=True)
        self.depth -= 1
        self.waiting = waiting
        if not keep:
            del self.commands[count:]

    def _inside(self, start: int, end: int, levels: int) -> None:
        """Read a part of the text that is a command line of its own."""
        if self.depth < MAX_DEPTH:
            inner = _Reader(self.text, start, end, depth=self.depth + levels)
            inner.read_list()
            self.commands += inner.commands

    def _redirect(self, targets: list[ShellWord]) -> None:
        match = _REDIRECT.match(self.text, self.pos, self.end)
        operator = match[0] if match else "&"
        self.pos += len(operator)
        if operator in {"<", ">"} and self.text.startswith("(", self.pos, self.end):
            self.pos += 1
            self._nested()
            return
        blank = _BLANK.match(self.text, self.pos, self.end)
        if blank:
            self.pos = blank.end()
        if self.pos >= self.end or self.text[self.pos] in "\n;&|<>()":
            return
        word = self._word()
        if operator in {"<<", "<<-"}:
            self.waiting.append(word.value)
        elif operator != "<<<" and not word.value.isdecimal():
            targets.append(word)

    def _skip_heredocs(self) -> None:
        """Step over the bodies of the here-documents that begin on this line."""
        for delimiter in self.waiting:
            line = None
            while self.pos < self.end and line != delimiter:
                stop = self.text.find("\n", self.pos, self.end)
                stop = self.end if stop < 0 else stop
                line = self.text[self.pos : stop].rstrip("\r").lstrip("\t")
                self.pos = min(stop + 1, self.end)
        self.waiting.clear()

    def _word(self) -> ShellWord:
        """Read one word; always takes at least one character."""
        start = self.pos
        pieces: list[tuple[int, int]] = []
        while self.pos < self.end:
            if self.text[self.pos] == '"':
                self.pos += 1
                while self.pos < self.end and self.text[self.pos] != '"':
                    self._piece(_IN_DOUBLE, pieces)
                self.pos = min(self.pos + 1, self.end)
            elif not self._piece(_PIECE, pieces):
                break
        self.pos = max(self.pos, start + 1)
        return _word_of(self.text, start, self.pos, pieces)

    def _piece(self, kind: re.Pattern[str], pieces: list[tuple[int, int]]) -> bool:
        """Read a piece of a word; False where the word ends."""
        text, start, end = self.text, self.pos, self.end
        if text.startswith("$((", start, end):
            stop = text.find("))", start, end)
            self.pos = end if stop < 0 else stop + 2
        elif text.startswith("$(", start, end) and self.depth < MAX_DEPTH:
            self.pos += 2
            self._nested()
        elif text[start] == "`":
            quoted = _BACKTICKS.match(text, start, end)
            if quoted:
                self._inside(*quoted.span(1), levels=1)
                self.pos = quoted.end()
        else:
            match = kind.match(text, start, end)
            if match is None:
                return False
            self.pos = match.end()
            if match.lastgroup != "joined":
                pieces.append(match.span(match.lastgroup or 0))
            return True
        pieces.append((start, self.pos))
        return True

    def _finish(self, words: list[ShellWord], targets: list[ShellWord]) -> None:
        """Close the current command, take off what wraps the program, and add what it runs."""
        if not words and not targets:
            return
        written, files = tuple(words), tuple(targets)
        words.clear()
        targets.clear()
        program: Sequence[ShellWord] = written
        for _ in range(_MAX_WRAPPERS):
            program = _unwrap(program)
            name = _base_name(program[0].value) if program else ""
            place = program or written or files
            args = tuple(program[1:])
            self.commands.append(
                ShellCommand(name, args, written, files, place[0].start, place[-1].end)
            )
            program = _run_by(name, args)
            if len(program) < 2:
                break
            # These words were listed with the outer command; only the program is another one.
            written, files = tuple(program), ()
        for word in program:
            if word.inner >= 0:
                self._inside(word.inner, word.inner + len(word.value), levels=4)
            else:  # its escapes are read as they are written
                self._inside(word.start + 1, word.end - 1, levels=4)


def _word_of(text: str, start: int, end: int, pieces: list[tuple[int, int]]) -> ShellWord:
    filled = [piece for piece in pieces if piece[0] < piece[1]]
    if not filled:
        return ShellWord("", start, end, -1)
    if all(before[1] == after[0] for before, after in pairwise(filled)):
        inner = filled[0][0]
        return ShellWord(text[inner : filled[-1][1]], start, end, inner)
    return ShellWord("".join(text[a:b] for a, b in filled), start, end, -1)


def _base_name(word: str) -> str:
    return word.rsplit("/", 1)[-1].removesuffix(".exe")


# --- wrappers -------------------------------------------------------------------------------------

_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "su"})
_WRAPPERS: Final = {
    # the short options that take a value
    **dict.fromkeys(("nohup", "command", "builtin", "setsid", "rtk"), ""),
    **dict.fromkeys(("timeout", "gtimeout"), "sk"),
    "sudo": "ughpCTRDrt",
    "doas": "uC",
    "env": "uCS",
    "exec": "a",
    "nice": "n",
    "stdbuf": "ioe",
    "time": "fo",
    "watch": "nq",
    "xargs": "IELnPdsa",
    "sshpass": "pfdP",
}
_OWN_OPERAND: Final = frozenset({"timeout", "gtimeout"})  # before the program
SSH_VALUED: Final = "BbcDEeFIiJLlmOoPpQRSWw"
_MAX_WRAPPERS: Final = 8  # nobody stacks more, and each costs a copy of the words


def _unwrap(words: Sequence[ShellWord]) -> Sequence[ShellWord]:
    """Take off shell keywords, assignments and wrappers, up to the program that really runs."""
    for _ in range(_MAX_WRAPPERS):
        at = 0
        while at < len(words) and _before_program(words[at].value):
            at += 1
        words = words[at:]
        name = _base_name(words[0].value) if words else ""
        valued = _WRAPPERS.get(name)
        if valued is None or (name == "command" and words[1:] and words[1].value in {"-v", "-V"}):
            return words  # `command -v ssh` asks about a program and does not run it
        rest = after_options(words[1:], valued=valued)[name in _OWN_OPERAND :]
        if not rest:
            return words
        words = rest
    return words


def _before_program(word: str) -> bool:
    return word in _KEYWORDS or _ASSIGNMENT.match(word) is not None


def _run_by(name: str, args: Sequence[ShellWord]) -> Sequence[ShellWord]:
    """Return the command that a command runs: one word that is a whole line, or its words."""
    if name == "eval":
        return args[:1] if len(args) == 1 else ()
    if name == "ssh":
        return after_options(after_options(args, valued=SSH_VALUED)[1:], valued=SSH_VALUED)
    if name in _SHELLS:
        for flag, line in pairwise(args):
            if flag.value.startswith("-"):
                if flag.value.endswith("c") and not flag.value.startswith("--"):
                    return (line,)
            elif name != "su":  # `su NAME -c LINE`
                break
    return ()


# --- options --------------------------------------------------------------------------------------


def after_options(
    words: Sequence[ShellWord], *, valued: str = "", long_valued: frozenset[str] = frozenset()
) -> Sequence[ShellWord]:
    """Return the words from the first on that is no option and no option's value.

    `valued` are the letters of options, `long_valued` whole ones, that take the next word.
    """
    at = 0
    while at < len(words) and (taken := _option_words(words[at].value, valued, long_valued)):
        at += taken
        if taken == 1 and words[at - 1].value == "--":
            break
    return words[at:]


def operands(
    args: Sequence[ShellWord], *, valued: str = "", long_valued: frozenset[str] = frozenset()
) -> list[ShellWord]:
    """Return the arguments of a command that are neither options nor their values."""
    found: list[ShellWord] = []
    at = 0
    while at < len(args) and args[at].value != "--":
        taken = _option_words(args[at].value, valued, long_valued)
        if not taken:
            found.append(args[at])
        at += taken or 1
    return [*found, *args[at + 1 :]]


def _option_words(word: str, valued: str, long_valued: frozenset[str]) -> int:
    """Return how many words an option takes, with its value; 0 for what is none."""
    if not word.startswith("-") or word == "-":
        return 0
    if word.startswith("--") or word in long_valued:
        return 1 + (word in long_valued)
    first = next((at for at, letter in enumerate(word[1:], 1) if letter in valued), 0)
    return 2 if first and first == len(word) - 1 else 1
