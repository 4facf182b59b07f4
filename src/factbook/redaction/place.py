"""Look at the place where a name and its value stand, as far as that decides what is believed.

Most of it is needed for few values, and reading it costs more than everything before, so each part
is read when it is first asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Generic, TypeVar

# What may stand before a name that begins its line: the name of a file from grep, a line number, a
# diff's or a list's mark, a prompt, the words of a shell.
_LEAD: Final = re.compile(
    r"""(?x)^
    (?:[\w./~-]{1,80}[:-]\d*[:-]?)?
    \s*(?:\d+\s*[→:|│\t]|[+>\#;$|│-](?=[\s\w]|$)|[*_]{1,2}|-)?\s*
    (?P<shell>(?:\$[ ]|sudo[ ])?
        (?:export|set|setx|declare[ ]-\w+|local|readonly|env|ENV|ARG|typeset(?:[ ]-\w+)?)\s+
        |Environment=)?
    (?:\$(?:env|global|script):|\$)?
    $"""
)
_SHELL: Final = re.compile(
    r"(?:^|[\s;&|\"'])(?:export|env|set|ENV|-e|--env|-F|--form|-d|--data\w*|--build-arg|--set|-D|-P|"
    r"-X|-var|-o|declare -\w+|--set-string|config:set|secrets set)[ =]?[\"']?$|-[DP]$"
)
_CODE: Final = re.compile(
    r"""(?x)
      \b(?:const|let|var|val|def|function|return|if|elif|else|while|for|assert\w*|await|new|self|
         this|final|func|fn|import|from|lambda|print|console|raise|throw|case|expect|yield|public|
         private|protected|static|type|class)\b
    | ^\s*\w+,[ ]$ | [\w\])]\(\s*$ | [{=?!]\s*$ | [\w\])]\([^)]*$ | \[ | => | ->
    """
)
# Lists of settings: name=value, then another one.
_SETTING: Final = re.compile(r"[\w)] ?= ?[^,;\"'\n]*[,;] ?$")
_NEXT_SETTING: Final = re.compile(r", ?[A-Za-z_][\w .-]{0,30}=")
_NEXT_FIELD: Final = re.compile(r"[^;\s\"'`\\]{0,40}; ?[A-Za-z_][\w .-]{0,30}=")
_QUERY: Final = re.compile(r"(?:[?&;]|%26)$")
_DECLARES: Final = re.compile(
    r"(?i)(?:\b(?:with|use|using|encrypted|set)(?: the| this| my)? |#define\s|define\(\s*['\"]|"
    r"\b(?:set|with|change)_?)[\w.-]*$"
)
_BREAKS: Final = ("\\n", '":"', '": "', '\\":\\"', '\\": \\"')
_VERB_MARKS: Final = " \t:"
_BEFORE: Final = 160  # characters before a name that are looked at
_AFTER: Final = 80  # and behind its value
_DECLARED: Final = 24  # and before a name, for what says that a secret is being set

_T = TypeVar("_T")


class _Once(Generic[_T]):
    """An attribute that is read when it is first asked for.

    As `functools.cached_property` without its lock, which cost more than most of what is read.
    """

    def __init__(self, read: Callable[[ValuePlace], _T]) -> None:
        self._read: Final = read
        self._name: Final = read.__name__

    def __get__(self, place: ValuePlace, kind: type[ValuePlace]) -> _T:
        value = place.__dict__[self._name] = self._read(place)
        return value


class ValuePlace:
    """Where a value stands: what joins it to its name, what is before and behind them."""

    def __init__(
        self, *, text: str, start: int, stop: int, joint: str, joined: str, end: int, quoted: bool
    ) -> None:
        """Take the name from `start` to `stop`, what joins it, and where its value ends."""
        self.joint: Final = joint  # what sort of thing joins them; assignments.py lists them
        self.verb: Final = joined.strip(_VERB_MARKS)  # the words that join them, in a sentence
        self.quoted: Final = quoted  # the value stands in quotes or between tags
        self.spaced: Final = joined[-1:].isspace()  # a blank stands before the value
        self._text: Final = text
        self._start: Final = start
        self._stop: Final = stop
        self._end: Final = end
        self._joined: Final = joined

    def ending(self, end: int, *, quoted: bool) -> ValuePlace:
        """Give the same place for a value that was read again and ends elsewhere."""
        return ValuePlace(
            text=self._text,
            start=self._start,
            stop=self._stop,
            joint=self.joint,
            joined=self._joined,
            end=end,
            quoted=quoted,
        )

    @_Once
    def _line(self) -> str:
        """The text before the name, as far as its line goes."""
        low = max(0, self._start - _BEFORE)
        begin = self._text.rfind("\n", low, self._start) + 1
        return self._text[max(begin, low) : self._start]

    @_Once
    def _break(self) -> int:
        """Where the line begins behind an escaped line break, or a string of JSON does."""
        return max(self._line.rfind(mark) + len(mark) for mark in _BREAKS if mark in self._line)

    @_Once
    def escaped(self) -> bool:
        """The line begins inside a string of JSON."""
        return any(mark in self._line for mark in _BREAKS)

    @_Once
    def before(self) -> str:
        """The line before the name."""
        return self._line[self._break :] if self.escaped else self._line

    @_Once
    def after(self) -> str:
        """The text behind the value."""
        return self._text[self._end : self._end + _AFTER]

    @_Once
    def _lead(self) -> re.Match[str] | None:
        return _LEAD.match(self.before)

    @_Once
    def alone(self) -> bool:
        """The name begins its line, as in a settings file."""
        return self._lead is not None

    @_Once
    def code(self) -> bool:
        """What stands before looks like source code."""
        return _CODE.search(self.before) is not None

    @_Once
    def upper(self) -> bool:
        """The name is written in capitals."""
        return self._text[self._start : self._stop].isupper()

    @_Once
    def report(self) -> bool:
        """The name is that of what a test's report says: `PASS: parser`."""
        return self._text[self._start : self._stop] == "PASS"

    @_Once
    def tight(self) -> bool:
        """The name is joined by `=` without blanks."""
        return self._joined == "=" or (self._joined == ":" and self.before[-1:] == "/")

    @_Once
    def shell(self) -> bool:
        """It is an assignment of a shell or an .env file."""
        if not self.tight:
            return False
        exported = self._lead is not None and self._lead["shell"] is not None
        return self.upper or exported or _SHELL.search(self.before) is not None

    @_Once
    def query(self) -> bool:
        """It is a parameter of an address."""
        return self.tight and _QUERY.search(self.before) is not None

    @_Once
    def field(self) -> bool:
        """It is a field of a connection string: `user=app;password=hunter2;`."""
        if not self.tight or self.quoted:
            return False
        if self.before.rstrip(" ")[-1:] == ";" and _SETTING.search(self.before) is not None:
            return True
        return _NEXT_FIELD.match(self.after) is not None

    @_Once
    def listed(self) -> bool:
        """It is one of several settings, with semicolons or commas between them."""
        if self.field or not self.tight or self.quoted:
            return self.field
        if self.before.rstrip(" ")[-1:] == "," and _SETTING.search(self.before) is not None:
            return True
        return _NEXT_SETTING.match(self.after) is not None

    @_Once
    def declared(self) -> bool:
        """What stands before says that a password is being set."""
        low = max(0, self._start - _DECLARED)
        return _DECLARES.search(self._text[low : self._stop]) is not None


class _Decoded(ValuePlace):
    """The place of a field of a decoded object, which is known without looking."""

    def __init__(self) -> None:
        super().__init__(text="", start=0, stop=0, joint="assign", joined=": ", end=0, quoted=True)
        vars(self).update(alone=False, shell=False)


FIELD: Final[ValuePlace] = _Decoded()
"""A field of a decoded object."""
