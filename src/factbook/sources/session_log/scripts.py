"""Read the scripts by which a model calls tools: which calls a script makes, and what with.

    const r = await tools.exec_command({cmd: "make"}); text(r.output);

Only what stands there literally is read, and only where it runs whatever else happens: a call in a
loop, in a condition or with an argument that is computed makes the whole script unreadable. JSON5
readers know neither template literals nor names that stand for a text, so this is one of our own.
Knows: as much of JavaScript as that takes. Does not know logs, nor any tool.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

__all__ = ["Script", "ToolCall", "mentioned", "read_script"]

_TOKEN: Final = re.compile(
    r"""
      (?P<blank>(?:\s|//[^\n]*+|/\*[\s\S]*?\*/)++)
    | (?P<string>"(?:[^"\\\n]|\\[\s\S])*+"|'(?:[^'\\\n]|\\[\s\S])*+')
    | (?P<template>`(?:[^`\\$]|\\[\s\S]|\$(?!\{)|\$\{(?:[^`{}]|\{[^`{}]*+\})*+\})*+`)
    | (?P<name>[^\W\d][\w$]*+|\$[\w$]*+)
    | (?P<number>\d++(?:\.\d++)?+[eE][+-]?\d++|\d[\w.]*+)
    | (?P<sign>=>|&&|\|\||\?\?|\?\.|\.\.\.|/(?!\*)|[^\s"'`/])
    """,
    re.VERBOSE,
)
_REGEX: Final = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/\w*+")
_ESCAPE: Final = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))"
)
_PLACEHOLDER: Final = re.compile(r"\\[\s\S]|(\$\{)")
_ESCAPED: Final = {
    "0": "\0", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\n": "", "\r\n": "", "\r": "", "\u2028": "", "\u2029": "",
}  # fmt: skip
_WORDS: Final = {"true": True, "false": False, "null": None, "undefined": None}
_MENTIONED: Final = re.compile(r"\btools\s*(?:\.\s*(\w+)|\[\s*[\"'`](\w+))")
_TOKENS: Final = 20_000  # of a script; one with more is a program and no list of calls
_DEPTH: Final = 40  # of objects in objects
_UNSURE: Final = frozenset(
    {"async", "case", "catch", "class", "do", "else", "for", "function", "if", "switch", "try"}
    | {"while", "=>", "&&", "||", "??", "?", "?."}
)
"""What follows one of these may run never, or more than once."""
_LEAVES: Final = frozenset({"exit", "return", "throw"})  # what follows may never be reached
_OPENS: Final = frozenset("([")
_CLOSES: Final = frozenset(")]")
_DECLARES: Final = frozenset({"const", "let", "var"})


class Token(NamedTuple):
    """A word or a sign of a script."""

    kind: str  # a group of `_TOKEN`, or "regex"
    text: str


class ToolCall(NamedTuple):
    """A call that a script makes, and where it stands among the tokens."""

    tool: str
    given: object
    start: int
    end: int


class Script(NamedTuple):
    """What a script does, as far as it is known before it runs."""

    tokens: Sequence[Token]
    calls: Sequence[ToolCall]  # at least one
    unsure: frozenset[int]  # tokens that may be reached never, or more than once


class Unreadable(Exception):
    """A value is computed, or the script is malformed."""


def read_script(text: str) -> Script | None:
    """Return the calls of a script; None where one of them cannot be read, or there is none."""
    try:
        tokens = tokens_of(text)
        calls, unsure = _calls(tokens)
    except Unreadable:
        return None
    return Script(tokens, calls, frozenset(unsure)) if calls else None


def mentioned(text: str) -> tuple[set[str], list[str]]:
    """Return the tools that a script names, and its texts, also of one that cannot be read."""
    named = {match[1] or match[2] for match in _MENTIONED.finditer(text)}
    try:
        tokens = tokens_of(text)
    except Unreadable:
        return named, [text]
    return named, [unescaped(t.text[1:-1]) for t in tokens if t.kind in {"string", "template"}]


def tokens_of(text: str) -> list[Token]:
    """Return the words and signs of a script."""
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or len(tokens) >= _TOKENS:
            raise Unreadable
        kind = match.lastgroup or ""
        if match[0] == "/" and not _is_operand(tokens):
            match, kind = _REGEX.match(text, at), "regex"
            if match is None:
                raise Unreadable
        if kind != "blank":
            tokens.append(Token(kind, match[0]))
        at = match.end()
    return tokens


def _is_operand(tokens: Sequence[Token]) -> bool:
    """Tell whether what stands before a slash can be divided."""
    return bool(tokens) and (tokens[-1].kind != "sign" or tokens[-1].text in {")", "]", "}"})


def text_at(tokens: Sequence[Token], at: int) -> str:
    """Return the text of a token; empty beyond the ends."""
    return tokens[at].text if 0 <= at < len(tokens) else ""


# --- calls ----------------------------------------------------------------------------------------


def _calls(tokens: Sequence[Token]) -> tuple[list[ToolCall], set[int]]:
    """Return all calls, and the tokens that may be reached never, or more than once."""
    calls: list[ToolCall] = []
    names: dict[str, str] = {}
    unsures: set[int] = set()
    parens = braces = at = 0
    unsure = leaves = False
    while at < len(tokens):
        kind, word = tokens[at]
        is_member = text_at(tokens, at - 1) in {".", "?."}
        if kind == "name" and word == "tools" and not is_member:
            if unsure or leaves or braces:
                raise Unreadable
            call = _call(tokens, at, names)
            calls.append(call)
            at = call.end
            continue
        if unsure or braces:
            unsures.add(at)
        if kind == "sign":
            parens += (word in _OPENS) - (word in _CLOSES)
            braces += (word == "{") - (word == "}")
            ends = word == ";" or (word == "}" and not _goes_on(tokens, at + 1))
            unsure = word in _UNSURE or (unsure and not (ends and parens == braces == 0))
        elif kind == "name" and not is_member:
            leaves = leaves or word in _LEAVES
            unsure = unsure or word in _UNSURE
            if word in _DECLARES and parens == braces == 0:
                unsure = False
                if word == "const":
                    _bind(tokens, at + 1, names)
            elif word == "Promise" and text_at(tokens, at + 2) != "all":
                raise Unreadable  # a call that failed may not end the script
        at += 1
    return calls, unsures


def _goes_on(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a statement goes on after a brace that closes."""
    return at < len(tokens) and tokens[at].kind == "sign" and tokens[at].text != ";"


def _call(tokens: Sequence[Token], at: int, names: Mapping[str, str]) -> ToolCall:
    """Return the call whose `tools` stands there: `tools.name(given)` or `tools["name"](given)`."""
    start, sign = at, text_at(tokens, at + 1)
    if sign == "." and at + 2 < len(tokens) and tokens[at + 2].kind == "name":
        tool, at = tokens[at + 2].text, at + 3
    elif sign == "[" and text_at(tokens, at + 3) == "]" and tokens[at + 2].kind == "string":
        tool, at = unescaped(tokens[at + 2].text[1:-1]), at + 4
    else:
        raise Unreadable
    if text_at(tokens, at) != "(":
        raise Unreadable
    given: object = {}
    at += 1
    if text_at(tokens, at) != ")":
        given, at = _value(tokens, at, names, _DEPTH)
        at += text_at(tokens, at) == ","
    if text_at(tokens, at) != ")" or text_at(tokens, at + 1) in {".", "?."}:
        raise Unreadable  # what is chained to a call may swallow its failure
    return ToolCall(tool, given, start, at + 1)


def _bind(tokens: Sequence[Token], at: int, names: dict[str, str]) -> None:
    """Note the name of a literal text: `const name = "..."`."""
    if at >= len(tokens) or tokens[at].kind != "name" or text_at(tokens, at + 1) != "=":
        return
    try:
        value, end = _value(tokens, at + 2, names, _DEPTH)
    except Unreadable:
        return
    if isinstance(value, str) and not _goes_on(tokens, end):
        names[tokens[at].text] = value


# --- values ---------------------------------------------------------------------------------------


def _value(
    tokens: Sequence[Token], at: int, names: Mapping[str, str], depth: int
) -> tuple[object, int]:
    """Return a literal and where it ends; texts may be joined with `+`."""
    value, at = _operand(tokens, at, names, depth)
    if not isinstance(value, str):
        return value, at
    parts = [value]
    while text_at(tokens, at) == "+":
        part, at = _operand(tokens, at + 1, names, depth)
        if not isinstance(part, str):
            raise Unreadable
        parts.append(part)
    return "".join(parts), at


def _operand(
    tokens: Sequence[Token], at: int, names: Mapping[str, str], depth: int
) -> tuple[object, int]:
    if at >= len(tokens) or not depth:
        raise Unreadable
    kind, word = tokens[at]
    if kind == "string" or (kind == "template" and not has_placeholder(word)):
        return unescaped(word[1:-1]), at + 1
    if kind == "number":
        return _number(word), at + 1
    if word == "-" and at + 1 < len(tokens) and tokens[at + 1].kind == "number":
        return -_number(tokens[at + 1].text), at + 2
    if kind == "name" and word in _WORDS:
        return _WORDS[word], at + 1
    if kind == "name" and word in names:
        return names[word], at + 1
    if word == "[":
        return _array(tokens, at + 1, names, depth - 1)
    if word == "{":
        return _object(tokens, at + 1, names, depth - 1)
    raise Unreadable


def _array(
    tokens: Sequence[Token], at: int, names: Mapping[str, str], depth: int
) -> tuple[list[object], int]:
    items: list[object] = []
    while text_at(tokens, at) != "]":
        item, at = _value(tokens, at, names, depth)
        items.append(item)
        if text_at(tokens, at) == ",":
            at += 1
        elif text_at(tokens, at) != "]":
            raise Unreadable
    return items, at + 1


def _object(
    tokens: Sequence[Token], at: int, names: Mapping[str, str], depth: int
) -> tuple[dict[str, object], int]:
    items: dict[str, object] = {}
    while text_at(tokens, at) != "}":
        if at >= len(tokens) or tokens[at].kind not in {"name", "string", "number"}:
            raise Unreadable
        kind, word = tokens[at]
        key = unescaped(word[1:-1]) if kind == "string" else word
        if text_at(tokens, at + 1) == ":":
            items[key], at = _value(tokens, at + 2, names, depth)
        elif kind == "name" and word in names:  # `{cmd}`
            items[key], at = names[word], at + 1
        else:
            raise Unreadable
        if text_at(tokens, at) == ",":
            at += 1
        elif text_at(tokens, at) != "}":
            raise Unreadable
    return items, at + 1


def _number(word: str) -> int | float:
    try:
        return int(word, 0) if word.isalnum() else float(word)
    except ValueError:
        pass
    try:
        return float(word)
    except ValueError:
        raise Unreadable from None


def has_placeholder(template: str) -> bool:
    """Tell whether a template literal puts something in that is computed."""
    return any(match[1] for match in _PLACEHOLDER.finditer(template))


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
