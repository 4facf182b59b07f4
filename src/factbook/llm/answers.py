"""Read the text of a model's answer: exactly one JSON value of exactly the type asked for.

What servers are known to put around an answer is taken off: a byte order mark, thoughts before a
`</think>`, one code fence around all of it. Nothing else is mended. Words around JSON are no
answer: a guess at what a model meant would be ours. The error says what it was, and the input stays
queued.

A value within that nobody can use (NaN, a NUL, half a character, an object with a key twice) spoils
what it stands in: an item, where the type takes its items one by one (`extract.answers.Each`),
which is told why, else the whole answer.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Final, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from factbook.errors import ModelFailure
from factbook.net.http import Failed, one_line

Answer = TypeVar("Answer", bound=BaseModel)

MAX_DEPTH: Final = 32  # of arrays and objects in each other; nothing that is asked for needs 8
SHOWN_PROBLEMS: Final = 3  # that the reason of a refused answer lists

# Control characters but for tab, line feed and carriage return: no text of a person holds them,
# SQLite's own functions end a text at the first NUL, and a terminal acts upon some.
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_FENCED: Final = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)```", re.DOTALL | re.IGNORECASE)
_THOUGHT: Final = "</think>"
MALFORMED: Final = "\0malformed"
"""The key of the object that stands for a value that nobody can use; it holds the reason.

No answer can hold it: a key with a NUL is such a value itself.
"""


@dataclass(frozen=True, slots=True)
class _Unusable:
    """A value that nobody can use."""

    reason: str
    kind: ModelFailure = ModelFailure.INVALID_JSON


def read_answer(text: str, answer: type[Answer]) -> Answer:
    """Return the validated object that a model's text is.

    Raises `Failed`: invalid_json where it is not one JSON value (empty, followed by something, too
    deep, or with NaN, a key twice or half a character where no item is spoiled by it alone), schema
    where that value does not fit the type or holds a control character likewise.
    """
    bare = _bare(text)
    spoiled: list[_Unusable] = []
    clean = _usable(one_value(bare), spoiled, 1)
    if spoiled:
        bare = json.dumps(clean)
    try:
        # of the text and not of the value: from JSON, strict takes "set" for an enum's member
        return answer.model_validate_json(bare, strict=True)
    except ValidationError as error:
        if spoiled:
            raise Failed(spoiled[0].kind, spoiled[0].reason) from error
        raise Failed(ModelFailure.SCHEMA, _problems(error)) from error


def _bare(text: str) -> str:
    """Return an answer without what servers put around it."""
    bare = text.strip().removeprefix("\ufeff").strip()
    if not bare.startswith(("{", "[")) and _THOUGHT in bare:
        bare = bare.partition(_THOUGHT)[2].strip()
    fenced = _FENCED.fullmatch(bare)
    return fenced[1].strip() if fenced else bare


def one_value(bare: str) -> object:
    """Return the JSON value that a text is, with `_Unusable` for what is none of JSON's.

    Raises `Failed` of the kind invalid_json.
    """
    if not bare.strip():
        _invalid("the answer is empty")
    try:
        value: object = json.loads(
            bare,
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_whole,
        )
    except json.JSONDecodeError as error:
        where = f"{error.msg} at character {error.pos} of {len(bare):,}"
        _invalid(f"{where}; it begins", said=bare)
    except RecursionError:
        _invalid("it is nested too deeply")
    return value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object] | _Unusable:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        said = one_line(twice, limit=40)
        return _Unusable(f"the key {said!r} stands twice in one object")
    return members


def _no_constant(name: str) -> _Unusable:
    return _Unusable(f"{name} is no JSON number")


def _finite(digits: str) -> float | _Unusable:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        return _Unusable(f"the number {one_line(digits, limit=20)} is too large")
    return number


def _whole(digits: str) -> int | _Unusable:
    try:
        return int(digits)
    except ValueError as error:  # of more digits than Python reads
        return _Unusable(one_line(str(error), limit=80))


def _usable(node: object, spoiled: list[_Unusable], depth: int) -> object:
    """Return a value in which objects tell of what nobody can use, which is added to `spoiled`."""
    if isinstance(node, str):
        node = _spoiled(node) or node
    elif isinstance(node, dict):
        node = next(filter(None, map(_spoiled, node)), node)
    if isinstance(node, _Unusable):
        spoiled.append(node)
        return {MALFORMED: node.reason}
    if not isinstance(node, list | dict):
        return node
    if depth > MAX_DEPTH:
        _invalid(f"it is nested deeper than {MAX_DEPTH}")
    if isinstance(node, dict):
        return {name: _usable(part, spoiled, depth + 1) for name, part in node.items()}
    return [_usable(part, spoiled, depth + 1) for part in node]


def _spoiled(text: str) -> _Unusable | None:
    """Return why nobody can use a string; None where one can."""
    if text.isascii() and text.isprintable():
        return None
    if _SURROGATE.search(text):
        return _Unusable("a string holds half a character (a lone surrogate)")
    match = _CONTROL.search(text)
    if match:
        code = f"U+{ord(match[0]):04X}"
        return _Unusable(f"a string holds the control character {code}", ModelFailure.SCHEMA)
    return None


def _invalid(reason: str, *, said: str = "") -> NoReturn:
    raise Failed(ModelFailure.INVALID_JSON, reason, said=said)


def _problems(error: ValidationError) -> str:
    # without the input: what a model made of a person's text is not for messages and logs
    errors = error.errors(include_url=False, include_input=False, include_context=False)
    shown = []
    for problem in errors[:SHOWN_PROBLEMS]:
        where = "".join(
            f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"]
        )
        shown.append(f"{where.lstrip('.')}: {problem['msg']}" if where else problem["msg"])
    more = f"; and {len(errors) - SHOWN_PROBLEMS:,} more" if len(errors) > SHOWN_PROBLEMS else ""
    return one_line("; ".join(shown), limit=300) + more
