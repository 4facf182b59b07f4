"""Change single values of a JSON text and leave every other byte of it as it is.

Some clients allow comments and trailing commas in their settings, so both are read. What a change
made of the text is read again and compared with what was meant: a text in which a comment would be
lost, or anything else would change, is refused with Unfit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Path = Sequence[str | int]

_TOKEN: Final = re.compile(
    r"(?P<space>[ \t\r\n]+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)"
    r'|(?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")|(?P<mark>[\[\]{},:])|(?P<word>[-+.\w]+)',
    re.DOTALL,
)
_INDENT: Final = re.compile(r"^([ \t]+)\S", re.MULTILINE)


class Unfit(ValueError):
    """A text that cannot be read, or not be changed as meant."""


@dataclass(slots=True)
class _Node:
    """A value, and where it stands."""

    start: int
    end: int = 0
    value: Any = None
    members: list[_Member] = field(default_factory=list)


@dataclass(slots=True)
class _Member:
    """A part of an object or of an array."""

    key: str | int
    at: int  # where it begins: of an object, its key
    node: _Node
    comma: int | None = None  # where the comma behind it stands


class Document:
    """A JSON text. A text without any value is an empty object."""

    def __init__(self, text: str) -> None:
        """Read a text; raises Unfit, which says the line, for one that is no JSON."""
        self.text = text
        self._read()
        if not self._tokens:
            self.text += ("\n" if text and not text.endswith("\n") else "") + "{}\n"
            self._read()

    @property
    def value(self) -> Any:
        return self._root.value

    @property
    def said(self) -> list[str]:
        """The text without its white space: values, marks and comments."""
        every = sorted([*self._tokens, *self._comments], key=lambda token: token[1])
        return [self.text[start:end] for _, start, end in every]

    def has(self, path: Path) -> bool:
        return len(self._way(path)) == len(path)

    def get(self, path: Path) -> Any:
        """Return the value at a path, None where nothing stands there."""
        way = self._way(path)
        return way[-1].node.value if way and len(way) == len(path) else None

    def put(self, path: Path, value: Any) -> None:
        """Set the value at a path; objects on the way there are made where there are none."""
        meant = json.loads(_exact(self.value))
        inner: Any = meant
        for at, key in enumerate(path):
            if not isinstance(inner, list if isinstance(key, int) else dict):
                raise Unfit(f"{'.'.join(map(str, path[:at])) or 'it'} is no object")
            if at < len(path) - 1:
                if isinstance(inner, dict):
                    inner.setdefault(key, {})
                inner = _at(inner, [key])
        inner[path[-1]] = value
        way = self._way(path)
        if len(way) == len(path):
            node = way[-1].node
            text = self._dumped(value, margin=self._margin(node.start))
            self._write(self.text[: node.start] + text + self.text[node.end :], meant)
            return
        for key in reversed(path[len(way) + 1 :]):
            value = {key: value}
        self._write(self._with(way[-1].node if way else self._root, path[len(way)], value), meant)

    def append(self, path: Path, value: Any) -> None:
        """Put a value behind the last one of the array at a path, which is made if need be."""
        if not self.has(path):
            self.put(path, [value])
            return
        if not isinstance(self.get(path), list):
            raise Unfit(f"{'.'.join(map(str, path))} is no array")
        meant = json.loads(_exact(self.value))
        _at(meant, path).append(value)
        self._write(self._with(self._way(path)[-1].node, None, value), meant)

    def remove(self, path: Path) -> None:
        way = self._way(path)
        meant = json.loads(_exact(self.value))
        del _at(meant, path[:-1])[path[-1]]
        owner, member = (way[-2].node if len(way) > 1 else self._root), way[-1]
        self._write(self._without(owner, member), meant, gone=(member.at, member.node.end))

    def _with(self, owner: _Node, key: str | int | None, value: Any) -> str:
        """Return the text with one more member behind the last of an object or an array."""
        text = self.text
        named = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
        if not owner.members:
            flat = "\n" not in text.strip() and owner is not self._root
            outer = self._margin(owner.start)
            inner = "" if flat else self._newline + outer + self._unit
            closed = "" if flat else self._newline + outer
            kept = text[owner.start + 1 : owner.end - 1].rstrip(" \t\r\n")
            item = named + self._dumped(value, margin=None if flat else outer + self._unit)
            return text[: owner.start + 1] + kept + inner + item + closed + text[owner.end - 1 :]
        last = owner.members[-1]
        end = last.node.end if last.comma is None else last.comma + 1
        for _, start, stop in self._comments:  # a remark on the last member stays with it
            if end <= start < owner.end:
                end = stop
        before = self._space_before(owner.members[0].at)
        lines = "\n" in before
        margin = before.rpartition("\n")[2]
        if not lines and self._remark_before(end).startswith("//"):
            lines, margin = True, self._margin(owner.start) + self._unit
        item = named + self._dumped(value, margin=margin if lines else None)
        lead = self._newline + margin if lines else " "
        comma, behind = (",", "") if last.comma is None else ("", ",")
        kept = text[: last.node.end] + comma + text[last.node.end : end]
        return kept + lead + item + behind + text[end:]

    def _without(self, owner: _Node, member: _Member) -> str:
        """Return the text without a member, its comma, and the white space before it."""
        text, index = self.text, owner.members.index(member)
        start = member.at - len(self._space_before(member.at))
        end = member.node.end if member.comma is None else member.comma + 1
        ends_line = text[end:].lstrip(" \t").startswith(("\n", "\r\n"))
        if self._remark_before(start).startswith("//") and not ends_line:
            start = member.at  # what follows must not become part of a remark
        if len(owner.members) == 1 and not text[owner.start + 1 : start].strip():
            rest = text[end : owner.end - 1]
            return text[: owner.start + 1] + (rest if rest.strip() else "") + text[owner.end - 1 :]
        if member.comma is None and index:
            before = owner.members[index - 1].comma
            assert before is not None
            return text[:before] + text[before + 1 : start] + text[end:]
        return text[:start] + text[end:]

    def _dumped(self, value: Any, *, margin: str | None) -> str:
        """Return a value as the text would have it: in one line where margin is None."""
        if margin is None or ("\n" not in self.text.strip() and self._root.members):
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, indent=self._unit, ensure_ascii=False).split("\n")
        return (self._newline + margin).join(lines)

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def _unit(self) -> str:
        first = _INDENT.search(self.text)
        return first[1] if first else "  "

    def _margin(self, at: int) -> str:
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _space_before(self, at: int) -> str:
        return self.text[len(self.text[:at].rstrip(" \t\r\n")) : at]

    def _remark_before(self, at: int) -> str:
        """Return the comment that ends at a place, "" where none does."""
        return next((self.text[start:end] for _, start, end in self._comments if end == at), "")

    def _write(self, text: str, meant: Any, *, gone: tuple[int, int] = (0, 0)) -> None:
        """Take a changed text, if it says what is meant and has all comments but those gone."""
        kept = [
            self.text[start:end]
            for _, start, end in self._comments
            if not gone[0] <= start < gone[1]
        ]
        changed = Document(text)
        comments = [text[start:end] for _, start, end in changed._comments]
        if comments != kept or _exact(changed.value) != _exact(meant):
            raise Unfit("it cannot be changed without touching something else in it")
        self.__dict__ = changed.__dict__

    def _way(self, path: Path) -> list[_Member]:
        """Return the members on the way to a path, as far as it goes."""
        way: list[_Member] = []
        node = self._root
        for key in path:
            # of two members of one name the last counts, as clients read them
            member = next((part for part in reversed(node.members) if part.key == key), None)
            if member is None:
                break
            way.append(member)
            node = member.node
        return way

    def _read(self) -> None:
        self._tokens: list[tuple[str, int, int]] = []
        self._comments: list[tuple[str, int, int]] = []
        at = 1 if self.text.startswith("\ufeff") else 0
        while at < len(self.text):
            token = _TOKEN.match(self.text, at)
            if token is None:
                raise self._wrong(at)
            kind = token.lastgroup or ""
            if kind != "space":
                kept = self._comments if kind == "comment" else self._tokens
                kept.append((kind, at, token.end()))
            at = token.end()
        if not self._tokens:
            return
        try:
            self._root, index = self._node(0)
        except RecursionError:
            raise Unfit("it is nested too deeply") from None
        if index < len(self._tokens):
            raise self._wrong(self._tokens[index][1])

    def _wrong(self, at: int) -> Unfit:
        return Unfit(f"line {self.text.count(chr(10), 0, at) + 1} is no JSON")

    def _token(self, index: int) -> tuple[str, str, int, int]:
        """Return a token's kind, text and place; behind the last one, an empty one."""
        if index >= len(self._tokens):
            return "end", "", len(self.text), len(self.text)
        kind, start, end = self._tokens[index]
        return kind, self.text[start:end], start, end

    def _node(self, index: int) -> tuple[_Node, int]:
        kind, said, start, end = self._token(index)
        if said in ("{", "["):
            return self._parts(index)
        if kind not in ("text", "word"):
            raise self._wrong(start)
        return _Node(start, end, self._plain(said, start)), index + 1

    def _plain(self, said: str, at: int) -> Any:
        try:
            return json.loads(said, parse_constant=_no_number)
        except ValueError:
            raise self._wrong(at) from None

    def _parts(self, index: int) -> tuple[_Node, int]:
        _, opened, start, _ = self._token(index)
        node, index, closing = _Node(start), index + 1, "}" if opened == "{" else "]"
        while self._token(index)[1] != closing:
            kind, said, at, _ = self._token(index)
            key: str | int = len(node.members)
            if node.members and node.members[-1].comma is None:
                raise self._wrong(at)
            if opened == "{":
                if kind != "text" or self._token(index + 1)[1] != ":":
                    raise self._wrong(at)
                key, index = self._plain(said, at), index + 2
            inner, index = self._node(index)
            member = _Member(key, at, inner)
            _, said, comma, _ = self._token(index)
            if said == ",":
                member.comma, index = comma, index + 1
            node.members.append(member)
        node.end = self._token(index)[3]
        if opened == "{":
            node.value = {member.key: member.node.value for member in node.members}
        else:
            node.value = [member.node.value for member in node.members]
        return node, index + 1


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _no_number(name: str) -> float:
    """Refuse NaN and infinities, which Python reads and no client does."""
    raise ValueError(name)


def _exact(value: Any) -> str:
    """Return what tells two values apart: 1 is not 1.0, and not True; order counts."""
    return json.dumps(value)
