"""What the answers of models have in common: strict shapes, and the room that a call takes.

An answer is a list of parts that stand by themselves: one that is malformed is refused with its
reason, and refuses no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, TypeVar, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WrapValidator,
    model_validator,
)
from pydantic import ValidatorFunctionWrapHandler as Handler
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from factbook.llm.answers import MALFORMED
from factbook.llm.base import Message
from factbook.llm.prompt import estimate_tokens, message_tokens

SPARE_TOKENS: Final = 64  # ours: for what an endpoint puts around a prompt and an answer

Sure = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class Strict(BaseModel):  # without a docstring, which servers would be told
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Malformed(Strict):
    """What stands where a part should, and is none; no server is told of it."""

    malformed: Annotated[str, Field(alias=MALFORMED)]  # why, in words that quote nothing of it
    id: Annotated[int | None, Field(exclude=True)] = None  # that it gives itself, if it does


def _number(value: object) -> object:
    """Take a number that was written as a string for that number."""
    if not (isinstance(value, str) and value.isascii() and value.isdigit()):
        return value
    try:
        return int(value)
    except ValueError:  # of more digits than Python reads
        return value


Number = Annotated[int, BeforeValidator(_number)]
"""The number of what was asked about."""

_T = TypeVar("_T")


def _or_malformed(value: object, handler: Handler) -> object:
    """Take a value for what it should be, or for something malformed: one refuses no others."""
    try:
        return handler(value)
    except ValidationError as error:
        number = _number(value.get("id")) if isinstance(value, dict) else None
        own = number if type(number) is int else None
        return Malformed.model_validate({MALFORMED: _why(error), "id": own})


def _why(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False)
    # a value that nobody can use tells why itself
    first = next((one for one in problems if _spoiled(one["input"])), problems[0])
    where = ".".join(str(part) for part in first["loc"][1:])
    return f"{where}: {_spoiled(first['input']) or first['msg']}".removeprefix(": ")


def _spoiled(value: object) -> str:
    return str(value[MALFORMED]) if isinstance(value, dict) and value.keys() == {MALFORMED} else ""


Each = Annotated[_T | SkipJsonSchema[Malformed], WrapValidator(_or_malformed)]
"""A part of a list, or why it is none."""


def well_formed(parts: Sequence[_T | Malformed]) -> list[_T]:
    """Return the parts of a list that are parts."""
    return [part for part in parts if not isinstance(part, Malformed)]


class Around(Strict):
    """What holds lists of parts: the parts count, whatever is forgotten or added around them.

    A list that is missing or null is empty where it may be (`default_factory`). What nobody asked
    for is in `unasked`; where it holds something, and a list is missing, it may be that list under
    another name, and the whole is malformed.
    """

    unasked: SkipJsonSchema[list[str]] = Field(default_factory=list, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _only_asked(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        lists = {name for name, field in cls.model_fields.items() if _is_list(field.annotation)}
        kept = {
            name: part
            for name, part in value.items()
            if name in cls.model_fields and not (part is None and name in lists)
        }
        unasked = [name for name in value if name not in cls.model_fields or name == "unasked"]
        missing = sorted(lists - kept.keys() - {"unasked"})
        other = next((name for name in unasked if value[name] and not _is_plain(value[name])), None)
        if missing and other is not None:
            why = f"it has no {missing[0]}, and something else that was not asked for"
            raise PydanticCustomError("renamed", "{why}", {"why": why})
        return {**kept, "unasked": unasked}


UNASKED: Final = "a key that was not asked for"


def not_read(number: int, malformed: Sequence[Malformed]) -> str:
    """Return why nothing was read of what has a number, by the malformed parts of the answer."""
    own = next((one for one in malformed if one.id == number), None)
    if own is not None:
        return f"the model's answer for it is malformed ({own.malformed})"
    nameless = next((one for one in malformed if one.id is None), None)
    if nameless is not None:
        return f"the model's answer left it out, or is malformed there ({nameless.malformed})"
    return "the model's answer left it out"


def _is_list(annotation: object) -> bool:
    return get_origin(annotation) is list


def _is_plain(value: object) -> bool:
    return not isinstance(value, list | dict) or bool(_spoiled(value))


def tokens_of(messages: Sequence[Message], answer: type[BaseModel]) -> int:
    """Return how many tokens a prompt and the schema of its answer have."""
    return message_tokens(messages) + estimate_tokens(str(answer.model_json_schema()))
