"""Turn the type of an answer into a JSON schema plain enough for every server.

Servers read different parts of JSON Schema. OpenAI's strict mode wants every property required and
`additionalProperties: false`; llama.cpp and Ollama make a grammar of it, refuse some patterns and
slow down by large repetitions; none of them enforces everything. So what is sent says the shape
alone: types, names, enums, what may be null, and the range of whole numbers. The rest of a type
(lengths, ranges, patterns, rules across fields) is checked by pydantic when the answer is here.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

_KEPT: Final = ("type", "description", "enum")
_OF_INTEGERS: Final = ("minimum", "maximum")
_MAX_SAFE: Final = 2**53  # a range beyond it is none for many servers


@functools.cache
def plain_schema(answer: type[BaseModel]) -> Mapping[str, Any]:
    """Return the schema of an answer: no references, every property required, no others allowed.

    Raises TypeError for a type that no server could be held to: one that takes unknown keys
    (without `extra="forbid"`), refers to itself, or is not an object.
    """
    schema = answer.model_json_schema()
    plain = _plain(schema, schema.get("$defs", {}), (), answer.__name__)
    plain.pop("description", None)
    if plain.get("type") != "object":
        raise TypeError(f"{answer.__name__} is not an object; wrap it in a model with one field")
    return plain


def _plain(
    node: Mapping[str, Any], defs: Mapping[str, Any], above: tuple[str, ...], where: str
) -> dict[str, Any]:
    reference = node.get("$ref")
    if reference is not None:
        name = str(reference).removeprefix("#/$defs/")
        if name in above:
            raise TypeError(f"{where} refers to itself; no server makes a grammar of that")
        # the description of a type is its docstring, which is for whoever reads the code
        plain = _plain(defs[name], defs, (*above, name), where)
        plain.pop("description", None)
        described = {"description": node["description"]} if "description" in node else {}
        return {**plain, **described}
    plain = {key: node[key] for key in _KEPT if key in node}
    if "const" in node:
        plain["enum"] = [node["const"]]
    if node.get("type") == "integer":
        plain |= {
            key: node[key] for key in _OF_INTEGERS if key in node and abs(node[key]) <= _MAX_SAFE
        }
    for key in ("anyOf", "oneOf"):
        if key in node:
            plain["anyOf"] = [_plain(option, defs, above, where) for option in node[key]]
    if "items" in node:
        plain["items"] = _plain(node["items"], defs, above, where)
    if node.get("type") == "object":
        if node.get("additionalProperties") is not False:
            raise TypeError(f'{where} takes unknown keys; give each model extra="forbid"')
        properties = node.get("properties", {})
        plain["properties"] = {
            name: _plain(part, defs, above, f"{where}.{name}") for name, part in properties.items()
        }
        plain["required"] = list(properties)
        plain["additionalProperties"] = False
    return plain
