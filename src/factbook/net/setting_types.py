"""What a setting may be: the types of the fields of a table (`factbook.net.settings`).

A module of settings imports these names for its annotations alone; they are resolved, and pydantic
imported, where something is set.
"""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from factbook.net.http import read_address

__all__ = [
    "AnyCase",
    "BeforeValidator",
    "Count",
    "Field",
    "KeepAlive",
    "KeyVariable",
    "Money",
    "Name",
    "PlainValidator",
    "Url",
]


def _address(value: str) -> str:
    try:
        return read_address(value).url
    except ValueError as error:
        raise ValueError(f"is no address ({error}); {_ADDRESS}") from None


def _keep_alive(value: object) -> str | int:
    text = str(value)
    match = _DURATION.fullmatch(text)
    if isinstance(value, bool) or match is None:
        raise ValueError("must be a time such as 30m, 12h or 90 (seconds); -1 keeps it for ever")
    return text if match["unit"] else int(text)  # without a unit Ollama takes a number alone


_ADDRESS: Final = "give one like http://127.0.0.1:11434 or https://example.org/v1"
_DURATION: Final = re.compile(r"-?[0-9]{1,9}(?P<unit>ms|s|m|h)?")

AnyCase = BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)

Name = Annotated[
    str, Field(pattern=r"^[!-~][ -~]*$", description="a name of printable ASCII characters")
]
Url = Annotated[str, AfterValidator(_address), Field(description=f"an address; {_ADDRESS}")]
KeyVariable = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="the name of an environment variable such as MY_API_KEY, never a key",
    ),
]
KeepAlive = Annotated[str | int, PlainValidator(_keep_alive)]
Count = Annotated[int, Field(ge=0, le=10**15)]
Money = Annotated[float, Field(ge=0, le=10**9)]
