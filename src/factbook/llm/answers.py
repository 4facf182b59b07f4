"""Read the text of a model's answer: exactly one JSON value of exactly the type asked for.

Nothing is mended. A fenced answer (```json) is not JSON, and neither is one with words around it:
a server that was sent a schema and answers with a fence did not follow it, and a guess at what it
meant would be ours and not the model's. The error says what it was, and the input stays queued.
"""

from __future__ import annotations

import json
import re
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


def read_answer(text: str, answer: type[Answer]) -> Answer:
    """Return the validated object that a model's text is.

    Raises `Failed`: invalid_json where it is not one JSON value (empty, fenced, followed by
    something, with NaN, a key twice, half a character or too deep), schema where that value does
    not fit the type or holds a control character.
    """
    value = one_value(text)
    _check_strings(value)
    try:
        # of the text and not of the value: from JSON, strict takes "set" for an enum's member
        return answer.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise Failed(ModelFailure.SCHEMA, _problems(error)) from error


def one_value(text: str) -> object:
    """Return the JSON value that a text is; raises `Failed` of the kind invalid_json."""
    bare = text.strip()
    if not bare:
        _invalid("the answer is empty")
    if bare.startswith("```"):
        _invalid("the answer is wrapped in a code fence")
    try:
        value: object = json.loads(
            text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        where = f"{error.msg} at character {error.pos} of {len(text):,}"
        _invalid(f"{where}; it begins", said=bare)
    except RecursionError:
        _invalid("it is nested too deeply")
    except ValueError as error:  # a whole number of more digits than Python reads
        _invalid(one_line(str(error), limit=80))
    return value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        _invalid(f"the key {one_line(twice, limit=40)!r} stands twice in one object")
    return members


def _no_constant(name: str) -> NoReturn:
    _invalid(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        _invalid(f"the number {one_line(digits, limit=20)} is too large")
    return number


def _check_strings(value: object) -> None:
    # a stack of our own, so that depth is counted and not suffered
    stack: list[tuple[object, int]] = [(value, 1)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, str):
            _check_string(node)
        elif isinstance(node, list | dict):
            if depth > MAX_DEPTH:
                _invalid(f"it is nested deeper than {MAX_DEPTH}")
            if isinstance(node, dict):
                for name in node:
                    _check_string(name)
            stack.extend(
                (part, depth + 1) for part in (node.values() if isinstance(node, dict) else node)
            )


def _check_string(text: str) -> None:
    if text.isascii() and text.isprintable():
        return
    if _SURROGATE.search(text):
        _invalid("a string holds half a character (a lone surrogate)")
    match = _CONTROL.search(text)
    if match:
        code = f"U+{ord(match[0]):04X}"
        raise Failed(ModelFailure.SCHEMA, f"a string holds the control character {code}")


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
