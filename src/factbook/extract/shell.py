"""Read shell commands well enough to know which programs they run on which words.

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

MAX_DEPTH: Final = 16
"""Levels of `$(...)`, subshells and quoted commands that are followed."""

WITHIN: Final = ")"
"""What follows a command in `$(...)`: nothing; it is a part of another command."""

_BLANK: Final = re.compile(r"(?:[^\S\n]|\\\r?\n)+")
_SIMPLE: Final = re.compile(
    r"[ \t]*(?:([^\s'\"\\$`;&|<>()#]+)|'([^']*)'|\"([^\"\\$`]*)\")(?=[\s;&|)]|$)"
)  # a word without surprises, as nearly all are: read in one step
_PLAIN: Final = re.compile(r"[^\s'\"\\$`;&|<>()]+")
_IN_DOUBLE: Final = re.compile(r'[^"\\$`]+')
_SEPARATORS: Final = re.compile(r"[;&|]+")
_REDIRECT: Final = re.compile(r"<<<|<<-|<<|<>|<&|<|&>>|&>|>>|>\||>&|>")
_NAME: Final = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
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
    words: tuple[ShellWord, ...]  # of the command as written, with wrappers and assignments
    targets: tuple[ShellWord, ...]  # files that it is redirected from or to
    start: int  # of the program's word
    end: int  # of its last word
    heredocs: tuple[tuple[int, int], ...]  # places of the here-documents inside its words
    then: str = ""  # what parts it from the next one (`&&`, `|`, a line break), or WITHIN


@lru_cache(maxsize=8)
def parse(text: str) -> tuple[ShellCommand, ...]:
    """Return every simple command of a text, nested ones included, in order of their end.

    Several rules ask about the same command one after the other, hence the small cache.
    """
    return tuple(_commands(text, 0, len(text), depth=0))


def _commands(text: str, start: int, end: int, *, depth: int) -> list[ShellCommand]:
    reader = _Reader(text, start, end, depth=depth)
    reader.read_list("")
    return reader.commands


class _Reader:
    """One pass over a range of a text."""

    def __init__(self, text: str, start: int, end: int, *, depth: int) -> None:
        self.text = text
        self.pos = start
        self.end = end
        self.depth = depth
        self.commands: list[ShellCommand] = []
        self.waiting: list[tuple[str, bool]] = []  # here-documents that start on the next line
        self.heredocs: list[tuple[int, int]] = []

    def read_list(self, closer: str) -> None:
        """Read commands up to the closing bracket, or to the end."""
        words: list[ShellWord] = []
        targets: list[ShellWord] = []
        text, end = self.text, self.end
        first_heredoc = len(self.heredocs)
        while self.pos < end:
            simple = _SIMPLE.match(text, self.pos, end)
            if simple:
                group = simple.lastindex or 0
                start, stop = simple.span(group)
                self.pos = simple.end()
                before = start if group == 1 else start - 1  # its opening quote
                words.append(ShellWord(text[start:stop], before, self.pos, start))
                continue
            blank = _BLANK.match(text, self.pos, end)
            if blank:
                self.pos = blank.end()
                continue
            char = text[self.pos]
            if char == "\n":
                self._finish(words, targets, first_heredoc, then=char)
                self.pos += 1
                self._skip_heredocs()
            elif char == "#":
                stop = text.find("\n", self.pos, end)
                self.pos = end if stop < 0 else stop
            elif char in "<>" or text.startswith("&>", self.pos):
                self._redirect(targets)
            elif separators := _SEPARATORS.match(text, self.pos, end):
                self._finish(words, targets, first_heredoc, then=separators[0])
                self.pos = separators.end()
            elif char == "(":
                array = bool(words) and words[-1].end == self.pos and words[-1].value[-1:] == "="
                if not array:
                    self._finish(words, targets, first_heredoc)
                self.pos += 1
                self._nested(keep=not array)
                if not array:
                    self._end_as("")  # what follows the bracket follows it
            elif char == ")":
                self._finish(words, targets, first_heredoc)
                self.pos += 1
                if closer == ")":
                    return
            else:
                word = self._word()
                if word.value.isdecimal() and text[self.pos : self.pos + 1] in {"<", ">"}:
                    continue  # the number of a file descriptor, as in `2>file`
                words.append(word)
            if not words and not targets:
                first_heredoc = len(self.heredocs)
        self._finish(words, targets, first_heredoc)

    def _within(self) -> None:
        """Read the commands inside a bracket that is a part of a word or stands for a file."""
        count = len(self.commands)
        self._nested()
        self.commands[count:] = [each._replace(then=WITHIN) for each in self.commands[count:]]

    def _nested(self, *, keep: bool = True) -> None:
        """Read the commands inside a bracket that was just opened."""
        if self.depth >= MAX_DEPTH:
            return  # the rest is read as if the bracket were not there
        count = len(self.commands)
        self.depth += 1
        self.read_list(")")
        self.depth -= 1
        if not keep:
            del self.commands[count:]

    def _redirect(self, targets: list[ShellWord]) -> None:
        match = _REDIRECT.match(self.text, self.pos, self.end)
        if match is None:
            self.pos += 1
            return
        operator = match[0]
        self.pos = match.end()
        if operator in {"<", ">"} and self.text.startswith("(", self.pos, self.end):
            self.pos += 1
            self._within()
            return
        blank = _BLANK.match(self.text, self.pos, self.end)
        if blank:
            self.pos = blank.end()
        if self.pos >= self.end or self.text[self.pos] in "\n;&|<>()":
            return
        word = self._word()
        if operator in {"<<", "<<-"}:
            self.waiting.append((word.value, operator == "<<-"))
        elif operator != "<<<" and not word.value.isdecimal():
            targets.append(word)

    def _skip_heredocs(self) -> None:
        """Step over the bodies of the here-documents that begin on this line."""
        for delimiter, indented in self.waiting:
            start = self.pos
            while self.pos < self.end:
                stop = self.text.find("\n", self.pos, self.end)
                stop = self.end if stop < 0 else stop
                line = self.text[self.pos : stop].rstrip("\r")
                body_end = self.pos
                self.pos = min(stop + 1, self.end)
                if (line.lstrip("\t") if indented else line) == delimiter:
                    self.heredocs.append((start, body_end))
                    break
            else:
                self.heredocs.append((start, self.end))
        self.waiting.clear()

    def _word(self) -> ShellWord:
        """Read one word; always takes at least one character."""
        text, end = self.text, self.end
        start = self.pos
        pieces: list[tuple[int, int]] = []
        while self.pos < end:
            plain = _PLAIN.match(text, self.pos, end)
            if plain:
                pieces.append((self.pos, plain.end()))
                self.pos = plain.end()
                continue
            char = text[self.pos]
            if char == "'":
                stop = text.find("'", self.pos + 1, end)
                stop = end if stop < 0 else stop
                pieces.append((self.pos + 1, stop))
                self.pos = min(stop + 1, end)
            elif char == '"':
                self._double(pieces)
            elif char == "\\":
                self._escape(pieces)
            elif char == "$":
                self._dollar(pieces)
            elif char == "`":
                self._backticks(pieces)
            elif self.pos == start and char not in "\n;&|<>()":
                pieces.append((self.pos, self.pos + 1))
                self.pos += 1
            else:
                break
        if self.pos == start:
            self.pos += 1
        return _word_of(text, start, self.pos, pieces)

    def _escape(self, pieces: list[tuple[int, int]]) -> None:
        if self.text.startswith("\\\n", self.pos):
            self.pos += 2
            return
        pieces.append((self.pos + 1, min(self.pos + 2, self.end)))
        self.pos = min(self.pos + 2, self.end)

    def _double(self, pieces: list[tuple[int, int]]) -> None:
        text, end = self.text, self.end
        self.pos += 1
        pieces.append((self.pos, self.pos))  # so that "" is a word
        while self.pos < end:
            plain = _IN_DOUBLE.match(text, self.pos, end)
            if plain:
                pieces.append((self.pos, plain.end()))
                self.pos = plain.end()
                continue
            char = text[self.pos]
            if char == '"':
                self.pos += 1
                return
            if char == "\\":
                if text[self.pos + 1 : self.pos + 2] in {'"', "\\", "$", "`", "\n"}:
                    self._escape(pieces)
                else:
                    pieces.append((self.pos, self.pos + 1))
                    self.pos += 1
            elif char == "$":
                self._dollar(pieces, quoted=True)
            else:
                self._backticks(pieces)

    def _dollar(self, pieces: list[tuple[int, int]], *, quoted: bool = False) -> None:
        text, end, start = self.text, self.end, self.pos
        if text.startswith("$((", start, end):
            stop = text.find("))", start + 3, end)
            self.pos = end if stop < 0 else stop + 2
        elif text.startswith("$(", start, end) and self.depth < MAX_DEPTH:
            self.pos += 2
            waiting, self.waiting = self.waiting, []
            self._within()
            self.waiting = waiting
        elif text.startswith("${", start, end):
            self._braces()
        elif text.startswith("$'", start, end) and not quoted:
            self.pos += 2
            while self.pos < end and text[self.pos] != "'":
                self.pos += 2 if text[self.pos] == "\\" else 1
            stop = min(self.pos, end)
            self.pos = min(stop + 1, end)
            pieces.append((start + 2, stop))
            return
        else:
            name = _NAME.match(text, start + 1, end)
            self.pos = name.end() if name else start + 1
        pieces.append((start, self.pos))

    def _braces(self) -> None:
        """Step over `${...}`, where braces may be nested."""
        level = 0
        while self.pos < self.end:
            char = self.text[self.pos]
            self.pos += 1
            if char == "{":
                level += 1
            elif char == "}":
                level -= 1
                if level == 0:
                    return
            elif char == "\n":
                return  # never closed: what follows are other commands

    def _backticks(self, pieces: list[tuple[int, int]]) -> None:
        start = self.pos
        stop = start + 1
        while stop < self.end and self.text[stop] != "`":
            stop += 2 if self.text[stop] == "\\" else 1
        stop = min(stop, self.end)
        if self.depth < MAX_DEPTH:
            inner = _commands(self.text, start + 1, stop, depth=self.depth + 1)
            self.commands += [command._replace(then=WITHIN) for command in inner]
        self.pos = min(stop + 1, self.end)
        pieces.append((start, self.pos))

    def _finish(
        self,
        words: list[ShellWord],
        targets: list[ShellWord],
        first_heredoc: int,
        *,
        then: str = "",
    ) -> None:
        """Close the current command and take off what wraps the program."""
        before = len(self.commands)
        if not words:
            if targets:
                place = targets[0]
                empty = ShellCommand("", (), (), tuple(targets), place.start, targets[-1].end, ())
                self.commands.append(empty._replace(then=then))
                targets.clear()
            elif self.commands and not self.commands[-1].then:
                self._end_as(then)  # `(a && b) | head`
            return
        all_words = tuple(words)
        all_targets = tuple(targets)
        words.clear()
        targets.clear()
        heredocs = tuple(self.heredocs[first_heredoc:])
        self._add(all_words, all_words, all_targets, heredocs, levels=4)
        # What it runs elsewhere or in another shell stands behind it, and ends with it.
        self.commands[before] = self.commands[before]._replace(then=then)
        self._end_as(then)

    def _end_as(self, then: str) -> None:
        if self.commands:
            self.commands[-1] = self.commands[-1]._replace(then=then)

    def _add(
        self,
        program: Sequence[ShellWord],
        all_words: tuple[ShellWord, ...],
        targets: tuple[ShellWord, ...],
        heredocs: tuple[tuple[int, int], ...],
        *,
        levels: int,
    ) -> None:
        """Add the command, and those that it runs elsewhere or in another shell."""
        program = _unwrap(program)
        if not program:
            place = all_words[0]
            self.commands.append(
                ShellCommand("", (), all_words, targets, place.start, all_words[-1].end, heredocs)
            )
            return
        name = _base_name(program[0].value)
        args = tuple(program[1:])
        command = ShellCommand(
            name, args, all_words, targets, program[0].start, program[-1].end, heredocs
        )
        self.commands.append(command)
        if levels == 0:
            return
        if name in _SHELLS or name == "su":
            for text in _shell_strings(args, operands=name == "su"):
                self._add_text(text)
        elif name == "eval" and len(args) == 1:
            self._add_text(args[0])
        elif name in {"ssh", "autossh"}:
            _, remote = ssh_parts(args, name=name)
            if len(remote) == 1:
                self._add_text(remote[0])
            elif remote:
                # The words were listed with the outer command; only the program is another one.
                self._add(remote, remote, (), (), levels=levels - 1)

    def _add_text(self, word: ShellWord) -> None:
        """Read a word that is itself a command line, as `bash -c` and ssh take it."""
        if self.depth >= MAX_DEPTH or not word.value.strip():
            return
        depth, size = self.depth + 4, len(word.value)
        if word.inner >= 0:
            self.commands += _commands(self.text, word.inner, word.inner + size, depth=depth)
        else:
            inner = _commands(word.value, 0, size, depth=depth)
            self.commands += [_pinned(command, word) for command in inner]


def _pinned(command: ShellCommand, place: ShellWord) -> ShellCommand:
    """Give a command whose words have no places of their own the place of the word around it."""

    def pin(words: tuple[ShellWord, ...]) -> tuple[ShellWord, ...]:
        return tuple(ShellWord(word.value, place.start, place.end, -1) for word in words)

    return command._replace(
        args=pin(command.args),
        words=pin(command.words),
        targets=pin(command.targets),
        start=place.start,
        end=place.end,
        heredocs=(),
    )


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


_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash"})

_WRAPPERS: Final[dict[str, tuple[str, int]]] = {
    # name: (short options that take a value, operands of its own before the program)
    **dict.fromkeys(("nohup", "command", "builtin", "setsid", "unbuffer", "rtk"), ("", 0)),
    **dict.fromkeys(("timeout", "gtimeout"), ("sk", 1)),
    **dict.fromkeys(("proxychains", "proxychains4"), ("f", 0)),
    "sudo": ("ughpCTRDrt", 0),
    "doas": ("uC", 0),
    "env": ("uCS", 0),
    "exec": ("a", 0),
    "nice": ("n", 0),
    "ionice": ("cn", 0),
    "stdbuf": ("ioe", 0),
    "caffeinate": ("tw", 0),
    "time": ("fo", 0),
    "watch": ("nq", 0),
    "xargs": ("IELnPdsa", 0),
    "sshpass": ("pfdP", 0),
    "strace": ("eopsu", 0),
}

_MAX_WRAPPERS: Final = 8  # nobody stacks more, and each costs a copy of the words


def _unwrap(words: Sequence[ShellWord]) -> Sequence[ShellWord]:
    """Take off shell keywords, assignments and wrappers, up to the program that really runs."""
    for _ in range(_MAX_WRAPPERS):
        at = 0
        while at < len(words) and (
            words[at].value in _KEYWORDS or _ASSIGNMENT.match(words[at].value)
        ):
            at += 1
        words = words[at:]
        if not words:
            return words
        wrapper = _WRAPPERS.get(_base_name(words[0].value))
        if wrapper is None:
            return words
        rest = _after_options(words[1:], valued=wrapper[0])
        if rest is None:
            return words  # `command -v ssh` asks about a program and does not run it
        rest = rest[wrapper[1] :]
        if not rest:
            return words
        words = rest
    return words


def _after_options(words: Sequence[ShellWord], *, valued: str) -> Sequence[ShellWord] | None:
    """Return what follows the options of a wrapper; None where it will not run anything."""
    at = 0
    while at < len(words):
        value = words[at].value
        if value == "--":
            return words[at + 1 :]
        if not value.startswith("-") or value == "-":
            return words[at:]
        if value in {"-v", "-V"} and not valued:
            return None
        at += 2 if _takes_next(value, valued) else 1
    return ()


def _takes_next(option: str, valued: str) -> bool:
    """Tell whether a cluster of short options takes the next word as its value."""
    if option.startswith("--"):
        return False
    for position, letter in enumerate(option[1:], start=1):
        if letter in valued:
            return position == len(option) - 1
    return False


def options_and_operands(
    args: Sequence[ShellWord], *, valued: str = "", long_valued: frozenset[str] = frozenset()
) -> tuple[list[ShellWord], list[ShellWord]]:
    """Part the arguments of a command into options and operands.

    `valued` are the short options, `long_valued` the long ones, that take the next word as their
    value. Values count as neither.
    """
    options: list[ShellWord] = []
    operands: list[ShellWord] = []
    at = 0
    while at < len(args):
        value = args[at].value
        if value == "--":
            operands += args[at + 1 :]
            break
        if value.startswith("-") and value != "-":
            options.append(args[at])
            at += 1 if _takes_next(value, valued) or value in long_valued else 0
        else:
            operands.append(args[at])
        at += 1
    return options, operands


def _shell_strings(args: Sequence[ShellWord], *, operands: bool) -> list[ShellWord]:
    """Return the word after `-c` (or `-lc` ...) of a shell; su may name a user before it."""
    for at, word in enumerate(args[:-1]):
        if not word.value.startswith("-"):
            if operands:
                continue
            return []
        if not word.value.startswith("--") and word.value.endswith("c"):
            return [args[at + 1]]
    return []


SSH_VALUED: Final = "BbcDEeFIiJLlmOoPpQRSWw"
_ASKS_SSH: Final = frozenset({"-V", "-Q", "-G"})  # tells something and connects to nothing


def ssh_parts(
    args: Sequence[ShellWord], *, name: str = "ssh"
) -> tuple[ShellWord | None, tuple[ShellWord, ...]]:
    """Return the destination of an ssh command and the words of the command that it runs there."""
    valued = SSH_VALUED + ("M" if name == "autossh" else "")
    rest = _after_options(args, valued=valued)
    if not rest:
        return None, ()
    run = _after_options(rest[1:], valued=valued) or ()  # ssh reads options behind the host, too
    if not _ASKS_SSH.isdisjoint(word.value for word in args[: len(args) - len(run)]):
        return None, ()
    return rest[0], tuple(run)
