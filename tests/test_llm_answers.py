"""What counts as an answer: the schema that is sent, and the text that comes back."""

from __future__ import annotations

import json
import time
from enum import StrEnum
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, RootModel

from factbook.errors import ModelFailure
from factbook.extract.answers import Malformed
from factbook.extract.turn_reading import TurnsAnswer
from factbook.llm.answers import MAX_DEPTH, one_value, read_answer
from factbook.llm.config import EmbedConfig, ModelConfig, money_of
from factbook.llm.schema import plain_schema
from factbook.net.http import Failed, one_line
from rows import every


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class Kind(StrEnum):
    FACT = "fact"
    PATTERN = "pattern"


class Part(Strict):
    """A part."""

    kind: Kind
    rank: int = Field(default=1, ge=1, le=2**60, description="The place in the list")
    name: str = Field(min_length=1, max_length=500, pattern="^[a-z]+$")


class Whole(Strict):
    parts: Annotated[list[Part], Field(max_length=5_000)]
    first: Part | None = None
    only: Literal["this"] = "this"
    either: str | int | None = None
    sure: float = Field(default=0.5, ge=0, le=1)
    pairs: tuple[int, ...] = ()


def refused(text: str, kind: ModelFailure) -> str:
    with pytest.raises(Failed) as caught:
        read_answer(text, Whole)
    assert caught.value.kind is kind, caught.value.reason
    return f"{caught.value.reason}: {caught.value.said}"


# --- the schema -----------------------------------------------------------------------------------


def test_a_schema_is_plain_enough_for_every_server() -> None:
    part = {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["fact", "pattern"]},
            "rank": {"type": "integer", "description": "The place in the list", "minimum": 1},
            "name": {"type": "string"},
        },
        "required": ["kind", "rank", "name"],
        "additionalProperties": False,
    }
    assert plain_schema(Whole) == {
        "type": "object",
        "properties": {
            "parts": {"type": "array", "items": part},
            "first": {"anyOf": [part, {"type": "null"}]},
            "only": {"type": "string", "enum": ["this"]},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
            "sure": {"type": "number"},
            "pairs": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["parts", "first", "only", "either", "sure", "pairs"],
        "additionalProperties": False,
    }


def test_a_type_that_no_server_could_be_held_to_is_refused() -> None:
    class Loose(BaseModel):
        a: int

    class Around(Strict):
        inner: Loose

    class Tree(Strict):
        below: list[Tree]

    class Open(Strict):
        any: dict[str, int]

    class Rows(RootModel[list[int]]):
        pass

    for answer, said in (
        (Loose, "Loose takes unknown keys"),
        (Around, r"Around\.inner takes unknown keys"),
        (Tree, "refers to itself"),
        (Open, r"Open\.any takes unknown keys"),
        (Rows, "Rows is not an object"),
    ):
        with pytest.raises(TypeError, match=said):
            plain_schema(answer)


# --- the text -------------------------------------------------------------------------------------


def test_a_text_is_read_strictly_and_enums_are_read_from_their_words() -> None:
    part = {"kind": "fact", "rank": 2, "name": "tea"}
    found = read_answer(json.dumps({"parts": [part], "pairs": [1, 2]}), Whole)
    assert found.parts[0].kind is Kind.FACT
    assert found.pairs == (1, 2)


@every(
    ("text", "said"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ('```json\n{"parts": []}', "it begins: ```json"),
        ('So:\n```json\n{"parts": []}\n```', "it begins: So:"),
        ("<think>tea</think>", "is empty"),
        ('{"parts": []} {"parts": []}', "Extra data"),
        ('Sure: {"parts": []}', "it begins: Sure:"),
        ('{"parts": [], "sure": NaN}', "NaN is no JSON number"),
        ('{"parts": [], "sure": -Infinity}', "-Infinity is no JSON number"),
        ('{"parts": [], "sure": 1e999}', "is too large"),
        ('{"parts": [], "parts": []}', "the key 'parts' stands twice"),
        ('{"parts": [], "first": {"a": 1, "a": 1}}', "the key 'a' stands twice"),
        ('{"parts": ["\\ud83d"]}', "half a character"),
        ('{"\\ud83d": 1}', "half a character"),
        ('{"parts": ["\x00"]}', "Invalid control character"),
        ("[" * 100_000, "too deeply"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested deeper than 32"),
        ('{"parts": [], "sure": ' + "9" * 5_000 + "}", "digits"),
        ("{'parts': []}", "double quotes"),
    ],
)
def test_what_is_not_one_json_value_is_invalid_json(text: str, said: str) -> None:
    assert said in refused(text, ModelFailure.INVALID_JSON)


@every(
    ("text", "said"),
    [
        ("[]", "should be an object"),
        ("null", "should be an object"),
        ("{}", "parts: Field required"),
        ('{"parts": [], "more": 1}', "more: Extra inputs are not permitted"),
        ('{"parts": [], "sure": "0.5"}', "sure: Input should be a valid number"),
        ('{"parts": [], "sure": true}', "sure: Input should be a valid number"),
        ('{"parts": [], "sure": 7}', "sure: Input should be less than or equal to 1"),
        ('{"parts": [{"kind": "FACT", "name": "a"}]}', "parts[0].kind: Input should be 'fact'"),
        ('{"parts": [], "either": "\\u0000"}', "control character U+0000"),
        ('{"parts": [], "either": "\\u001b[2J"}', "control character U+001B"),
        ('{"parts": [], "either": "\\u0085"}', "control character U+0085"),
        ('{"parts": [1, 2, 3, 4, 5]}', "and 2 more"),
    ],
)
def test_what_does_not_fit_the_type_is_refused_by_the_schema(text: str, said: str) -> None:
    assert said in refused(text, ModelFailure.SCHEMA)


def test_tabs_line_breaks_and_every_language_are_no_control_characters() -> None:
    text = "a\tb\r\nc Zürich 東京 🙂 👩‍👩‍👧 \u200f"
    assert read_answer(json.dumps({"parts": [], "either": text}), Whole).either == text


def outcome(text: str) -> Whole | Failed:
    try:
        return read_answer(text, Whole)
    except Failed as failed:
        return failed


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_an_answer_or_one_typed_failure(text: str) -> None:
    for answer in (text, json.dumps({"parts": [], "either": text})):
        found = outcome(answer)
        if isinstance(found, Failed):
            assert found.kind in (ModelFailure.INVALID_JSON, ModelFailure.SCHEMA)
            assert one_line(found.reason, limit=1_000) == found.reason


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_a_json_value_is_read_as_json_reads_it(value: object) -> None:
    text = json.dumps(value)
    if "Infinity" in text:
        return
    assert one_value(text) == json.loads(text)


# --- what it costs --------------------------------------------------------------------------------


def test_money_is_counted_where_a_price_is_known() -> None:
    priced = ModelConfig(price_in=3.0, price_out=15.0)
    assert money_of(priced, 1_000, 200) == pytest.approx(0.006)
    assert money_of(ModelConfig(price_in=0.0, price_out=0.0), 1_000, 200) == 0.0
    assert money_of(ModelConfig(), 1_000, 200) is None
    embed = EmbedConfig(provider="openai", model="m", url="https://a.example", price_in=0.02)
    assert money_of(embed, 500_000) == pytest.approx(0.01)


def test_a_key_that_stands_twice_among_very_many_is_found_at_once() -> None:
    members = ",".join(f'"k{n}": 1' for n in range(20_000))
    began = time.process_time()
    assert "'k19999' stands twice" in refused(
        f'{{{members}, "k19999": 2}}', ModelFailure.INVALID_JSON
    )
    assert time.process_time() - began < 10


def test_a_number_of_very_many_digits_spoils_its_part_alone() -> None:
    answer = json.dumps({"turns": [{"id": "9" * 5_000}, {"id": "1"}]})
    wrong, right = read_answer(answer, TurnsAnswer).turns
    assert isinstance(wrong, Malformed)
    assert not isinstance(right, Malformed)
    assert right.id == 1
