"""Read the scripts by which a model calls tools: which calls a script makes, and what with.

    const r = await tools.exec_command({cmd: "make"}); text(r.output);

Only what stands there literally is read, and only where it runs whatever else happens: with a call
below a loop, a condition or a function, or with an argument that is computed, the whole script is
unreadable. JSON5 readers know neither template literals nor names that stand for a text, so this is
one of our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(
    r"""
      (?P<blank>(?:\s|//[^\n]*+|/\*[\s\S]*?\*/)++)
    | (?P<string>"(?:[^"\\\n]|\\[\s\S])*+"|'(?:[^'\\\n]|\\[\s\S])*+'
        |`(?:[^`\\$]|\\[\s\S]|\$(?!\{))*+`)
    | (?P<computed>`(?:[^`\\$]|\\[\s\S]|\$(?!\{)|\$\{(?:[^`{}]|\{[^`{}]*+\})*+\})*+`)
    | (?P<call>tools\s*+\.\s*+[\w$]++\s*+\()
    | (?P<const>const\s++[\w$]++\s*+=(?!=))
    | (?P<name>[^\W\d][\w$]*+|\$[\w$]*+)
    | (?P<number>-?\d++(?:\.\d++)?+[eE][+-]?\d++|-?\d[\w.]*+)
    | (?P<regex>(?:(?<=[(,=:])|(?<=[(,=:][ ]))/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/\w*+)
    | (?P<sign>=>|&&|\|\||\?\?|\?\.|\.\.\.|[^\s"'`/])
    """,
    re.VERBOSE,
)
_ESCAPE: Final = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))"
)
_ESCAPED: Final = {
    "0": "\0", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\n": ""
}  # fmt: skip
_WORDS: Final[dict[str, object]] = {"true": True, "false": False, "null": None, "undefined": None}
_TOOL: Final = re.compile(r"\btools\W{1,5}(\w+)")
_TOKENS: Final = 20_000  # of a script; one with more is a program and no list of calls
_CALLS: Final = 50  # of a script
_DEPTH: Final = 40  # of objects in objects
_UNSURE: Final = frozenset(
    {"async", "case", "class", "do", "else", "exit", "for", "function", "if", "return", "switch"}
    | {"throw", "try", "while", "=>", "&&", "||", "??", "?", "?."}
)
"""What follows one of these may run never, or more than once."""
_STRAYS: Final = frozenset({"allSettled", "any", "catch", "race", "then", "tools"})
"""With one of these a call that failed may not end the script, or a call may have another form."""


class ToolCall(NamedTuple):
    """A call that a script makes."""

    tool: str
    given: object


class Script(NamedTuple):
    """What a script does, as far as it is known before it runs."""

    calls: Sequence[ToolCall]  # at least one
    code: str  # its words with one blank between them: `@0` for a call, `""` for a literal text


class _Unreadable(Exception):
    """A value is computed, or the script is malformed."""


def read_script(text: str) -> Script | None:
    """Return the calls of a script; None where one of them cannot be read, or there is none."""
    try:
        script = _Reader(_tokens(text)).script()
    except _Unreadable:
        return None
    return script if script.calls else None


def mentioned(text: str) -> tuple[list[str], list[str]]:
    """Return the tools that a script names, and its texts, also of one that cannot be read."""
    try:
        tokens = _tokens(text)
    except _Unreadable:
        return _TOOL.findall(text), [text]
    texts = [unescaped(word[1:-1]) for kind, word in tokens if kind in {"computed", "string"}]
    return _TOOL.findall(text), texts


def _tokens(text: str) -> list[tuple[str, str]]:
    """Return the words and signs of a script, each with its group of `_TOKEN`."""
    tokens: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or len(tokens) >= _TOKENS:
            raise _Unreadable
        if match.lastgroup != "blank":
            tokens.append((match.lastgroup or "", match[0]))
        at = match.end()
    return [*tokens, ("end", "")]


class _Reader:
    """Reads the tokens of a script, the next of which stands at `at`."""

    def __init__(self, tokens: Sequence[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0
        self._known = dict(_WORDS)  # and the texts that a `const` names

    def script(self) -> Script:
        calls: list[ToolCall] = []
        code = [""]
        unsure = False
        while self._tokens[self._at][0] != "end":
            kind, word = self._tokens[self._at]
            self._at += 1
            if (kind == "computed" and "tools" in word) or (kind == "name" and word in _STRAYS):
                raise _Unreadable
            if kind == "call":
                if unsure or code[-1] == "." or len(calls) >= _CALLS:
                    raise _Unreadable
                code.append(f"@{len(calls)}")
                given = [self._value(_DEPTH) for _ in self._until(")")]
                tool = word[:-1].rpartition(".")[2].strip()
                calls.append(ToolCall(tool, given[0] if given else {}))
                continue
            if kind == "const":
                word = f"const {self._bind(word[5:-1].strip())} ="
            unsure = unsure or word in _UNSURE or (code[-1] == ")" and word == "{")
            code.append('""' if kind == "string" else " ".join(word.split()))
        return Script(calls, " ".join(code[1:]))

    def _bind(self, name: str) -> str:
        """Note the name of the literal text that stands here, if one does; return the name."""
        start = self._at
        again = self._known.pop(name, None)  # of two of one name, nobody knows which is meant
        try:
            value = self._value(_DEPTH)
            ends = self._tokens[self._at][0] != "sign" or self._skip(";")
            if isinstance(value, str) and ends and again is None:
                self._known[name] = value
        except _Unreadable:
            pass
        self._at = start  # what stands here may hold calls
        return name

    def _skip(self, sign: str) -> bool:
        found = self._tokens[self._at] == ("sign", sign)
        self._at += found
        return found

    def _value(self, depth: int) -> object:
        """Return the literal that stands here; texts may be joined with `+`."""
        value = self._operand(depth)
        while isinstance(value, str) and self._skip("+"):
            part = self._operand(depth)
            if not isinstance(part, str):
                raise _Unreadable
            value += part
        return value

    def _operand(self, depth: int) -> object:
        kind, word = self._tokens[self._at]
        if kind == "end" or not depth:
            raise _Unreadable
        self._at += 1
        if kind == "string":
            return unescaped(word[1:-1])
        if kind == "number":
            return _number(word)
        if word == "[":
            return [self._value(depth - 1) for _ in self._until("]")]
        if word == "{":
            return dict(self._item(depth - 1) for _ in self._until("}"))
        if word not in self._known:
            raise _Unreadable
        return self._known[word]

    def _until(self, closes: str) -> Iterator[None]:
        """Iterate over what stands between commas."""
        while not self._skip(closes):
            yield
            if not self._skip(",") and self._tokens[self._at] != ("sign", closes):
                raise _Unreadable

    def _item(self, depth: int) -> tuple[str, object]:
        kind, word = self._tokens[self._at]
        if kind not in {"name", "number", "string"}:
            raise _Unreadable
        self._at += 1
        if not self._skip(":"):
            self._at -= 1  # `{cmd}` is `{cmd: cmd}`
        return unescaped(word[1:-1]) if kind == "string" else word, self._value(depth)


def _number(word: str) -> int | float:
    try:
        return int(word) if word.lstrip("-").isdigit() else float(word)
    except ValueError:
        raise _Unreadable from None


def unescaped(inner: str) -> str:
    """Return what the inside of a literal stands for; half a character becomes a replacement."""
    if "\\" in inner:
        inner = _ESCAPE.sub(_meaning, inner)
    # Two escapes may be the halves of one character.
    return inner.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _meaning(escape: re.Match[str]) -> str:
    number = escape[1] or escape[2] or escape[3]
    if number is None:
        return _ESCAPED.get(escape[4], escape[4])
    return chr(int(number, 16)) if int(number, 16) <= 0x10FFFF else "\ufffd"
