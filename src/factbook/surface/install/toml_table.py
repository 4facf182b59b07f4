"""Put one table of its own into a TOML text, and take it out again.

Only lines of that table are touched. A text in which it stands in another form (inline, dotted) is
refused with ValueError, as is one in which anything else would change.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

Value = str | Sequence[str] | Mapping[str, str]

_HEADER: Final = re.compile(r"[ \t]*\[")
_NAMES: Final = r'[ \t]*\[[ \t]*{}[ \t]*\.[ \t]*(?:{}|"{}")[ \t]*{}'


def read(text: str) -> dict[str, Any]:
    """Return what a text says; raises ValueError, which says the line."""
    return tomllib.loads(text)


def table(path: tuple[str, str], values: Mapping[str, Value]) -> str:
    lines = [f"[{'.'.join(path)}]", *(_line(name, value) for name, value in values.items())]
    return "\n".join(lines) + "\n"


def put(text: str, path: tuple[str, str], values: Mapping[str, Value]) -> str:
    """Return the text with these values in the table; what else stands in it stays."""
    first, last = path
    meant = read(text)
    there = meant.setdefault(first, {}).get(last)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = _lines(text)
    if there is None:
        meant[first][last] = dict(values)
        ended = text if not text or text.endswith("\n") else text + newline
        block = table(path, values).replace("\n", newline)
        return _checked(ended + (newline if ended else "") + block, meant, first)
    meant[first][last] = {**there, **values}
    spans = _spans(lines, path)
    if not spans:
        raise ValueError(f"{'.'.join(path)} stands there in another form")
    start, end = spans[0]
    old = [line for line in lines[start + 1 : end] if not _is_of(line, values)]
    new = [_line(name, value) + newline for name, value in values.items()]
    if not lines[start].endswith("\n"):
        new.insert(0, newline)
    return _checked("".join([*lines[: start + 1], *new, *old, *lines[end:]]), meant, first)


def remove(text: str, path: tuple[str, str]) -> str:
    first, last = path
    meant = read(text)
    del meant[first][last]
    lines = _lines(text)
    for start, end in reversed(_spans(lines, path)):
        blank = start > 0 and not lines[start - 1].strip()
        del lines[start - blank : end]
    return _checked("".join(lines), meant, first)


def _spans(lines: Sequence[str], path: tuple[str, str]) -> list[tuple[int, int]]:
    """Return from which to which line the table and those within it go, the table first."""
    first, last = map(re.escape, path)
    own = re.compile(_NAMES.format(first, last, last, r"[\].]"))
    spans = []
    for start, line in enumerate(lines):
        if own.match(line):
            behind = (at for at in range(start + 1, len(lines)) if _HEADER.match(lines[at]))
            end = next(behind, len(lines))
            # what stands right before the next header belongs to that
            while end - 1 > start and lines[end - 1].lstrip()[:1] in ("", "#"):
                end -= 1
            spans.append((start, end))
    return spans


def _is_of(line: str, values: Mapping[str, Value]) -> bool:
    return line.partition("=")[0].strip().strip('"') in values


def _line(name: str, value: Value) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key} = {_text(item)}" for key, item in value.items())
        return f"{name} = {{ {inner} }}"
    if isinstance(value, str):
        return f"{name} = {_text(value)}"
    return f"{name} = [{', '.join(map(_text, value))}]"


def _text(said: str) -> str:
    return json.dumps(said, ensure_ascii=False).replace("\x7f", "\\u007f")


def _lines(text: str) -> list[str]:
    """Split at the line ends of TOML, and at no others."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _checked(text: str, meant: dict[str, Any], name: str) -> str:
    """Return a text if it says what is meant; where nothing is under `name`, it need not stand."""
    try:
        said = read(text)
    except tomllib.TOMLDecodeError:
        said = {}
    for value in (said, meant):
        if value.get(name) == {}:
            del value[name]
    if said != meant:
        raise ValueError("it cannot be changed without touching something else in it")
    return text
