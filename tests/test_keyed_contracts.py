"""The JSON contracts of keyed facts are strict, and what is useless is told apart (seed 004)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from factbook import policy
from factbook.extract.keyed.contracts import (
    ApplyResult,
    FactsAnswer,
    FactsOp,
    FactsOpsResponse,
    FactsQueryPlan,
    batch_problems,
    list_key_of,
    op_problem,
    plan_problem,
    plan_window,
)
from factbook.llm.schema import plain_schema
from rows import every

CRYPTO = "user.favorites.crypto"


def op(**fields: Any) -> FactsOp:
    return FactsOp.model_validate(fields)


def test_the_seeds_fields_and_defaults() -> None:
    """Seed 004, contracts: FactsOp, FactsOpsResponse, FactsQueryPlan, ApplyResult, FactsAnswer."""
    response = FactsOpsResponse.model_validate_json(
        '{"ops": [{"op": "ranked_list_set", "list_key": "user.favorites.crypto", "rank": 1,'
        ' "value": "BTC", "confidence": 1}]}'
    )
    assert response.ops[0].rank == 1
    assert response.needs_clarification == []
    assert response.notes == []
    plan = FactsQueryPlan(intent="facts_get_ranked_list", topic="crypto")
    assert plan.limit == 25
    assert plan.include_ranks
    assert ApplyResult().store_count == ApplyResult().update_count == 0
    assert FactsAnswer().canonical_keys == ()


@every(
    "answer",
    [
        "[]",
        "{}",
        "null",
        '{"ops": {}}',
        '{"ops": [], "extra": 1}',
        '{"ops": [{"op": "drop_table"}]}',
        '{"ops": [{"op": "set", "fact_key": 7}]}',
        '{"ops": [{"op": "set", "fact_key": "user.x", "value": 7}]}',
        '{"ops": [{"op": "set", "owner": "bob", "fact_key": "user.x", "value": "y"}]}',
        '{"ops": [{"op": "ranked_list_set", "rank": "1"}]}',
        '{"ops": [{"op": "ranked_list_set", "rank": 1.5}]}',
        '{"ops": [{"op": "ranked_list_set", "rank": true}]}',
        '{"ops": [{"op": "ranked_list_set", "rank": 0}]}',
        '{"ops": [{"op": "ranked_list_set", "rank": 1001}]}',
        '{"ops": [{"op": "set", "confidence": 7}]}',
        '{"ops": [{"op": "set", "confidence": NaN}]}',
        '{"ops": [{"op": "set", "confidence": Infinity}]}',
        '{"ops": [{"op": "set", "confidence": "high"}]}',
        '{"ops": [{"op": "ranked_list_append", "values": "Spain"}]}',
        '{"ops": [], "needs_clarification": "which"}',
        json.dumps({"ops": [{"op": "set"}] * (policy.MAX_OPS + 1)}),
        json.dumps({"ops": [{"op": "set", "value": "x" * (policy.VALUE_CHARS + 1)}]}),
        json.dumps({"ops": [], "notes": ["x"] * 21}),
    ],
)
def test_a_bad_answer_is_refused_whole(answer: str) -> None:
    """Seed 004, hard failure: strict parse."""
    with pytest.raises(ValidationError):
        FactsOpsResponse.model_validate_json(answer)


@pytest.mark.parametrize(
    "answer",
    [
        '{"intent": "facts_delete"}',
        '{"intent": "facts_get_exact_key", "limit": 0}',
        '{"intent": "facts_get_exact_key", "limit": 5000}',
        '{"intent": "facts_get_exact_key", "tenant": "other"}',
        '{"topic": "crypto"}',
    ],
)
def test_a_bad_plan_is_refused_whole(answer: str) -> None:
    with pytest.raises(ValidationError):
        FactsQueryPlan.model_validate_json(answer)


@pytest.mark.parametrize("answer", [FactsOpsResponse, FactsQueryPlan])
def test_endpoints_can_be_held_to_the_shapes(answer: type[FactsOpsResponse]) -> None:
    schema = plain_schema(answer)
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == set(schema["properties"])


@every(
    ("fields", "problem"),
    [
        ({"op": "set", "value": "x"}, "set names no fact_key"),
        ({"op": "set", "fact_key": "user.x"}, "set has no value"),
        ({"op": "set", "fact_key": "user.x", "value": " \u200b"}, "set has an empty value"),
        ({"op": "set", "fact_key": "...", "value": "x"}, "has no letter or digit"),
        ({"op": "set", "fact_key": "states", "value": "x"}, "has one part"),
        ({"op": "set", "fact_key": CRYPTO, "value": "x"}, "is no single fact"),
        ({"op": "set", "fact_key": f"{CRYPTO}.0", "value": "x"}, "outside 1 to 1000"),
        ({"op": "set", "fact_key": f"{CRYPTO}.5000", "value": "x"}, "outside 1 to 1000"),
        ({"op": "set", "fact_key": f"{CRYPTO}.1", "rank": 2, "value": "x"}, "differ"),
        ({"op": "set", "fact_key": "user.x", "rank": 2, "value": "x"}, "has no ranks"),
        ({"op": "set", "fact_key": "user.x", "list_key": CRYPTO, "value": "x"}, "of its own"),
        ({"op": "clear"}, "clear names no fact_key"),
        ({"op": "clear", "fact_key": CRYPTO}, "ranked_list_clear"),
        ({"op": "clear", "fact_key": "user.x", "value": "y"}, "clear takes no value"),
        ({"op": "ranked_list_set", "rank": 1, "value": "x"}, "names no list_key"),
        ({"op": "ranked_list_set", "list_key": CRYPTO, "value": "x"}, "has no rank"),
        ({"op": "ranked_list_set", "list_key": CRYPTO, "rank": 1}, "has no value"),
        (
            {"op": "ranked_list_set", "list_key": "user.colors", "rank": 1, "value": "x"},
            "not below user.favorites",
        ),
        (
            {"op": "ranked_list_set", "list_key": "user.favoritesx.a", "rank": 1, "value": "x"},
            "not below user.favorites",
        ),
        (
            {"op": "ranked_list_set", "list_key": f"{CRYPTO}.1", "rank": 1, "value": "x"},
            "names a rank",
        ),
        ({"op": "ranked_list_append", "list_key": CRYPTO}, "has no values"),
        ({"op": "ranked_list_append", "list_key": CRYPTO, "values": ["a", ""]}, "empty value"),
        ({"op": "ranked_list_append", "list_key": CRYPTO, "values": ["a"], "rank": 1}, "no rank"),
        ({"op": "ranked_list_move", "list_key": CRYPTO, "value": "x"}, "no rank to move to"),
        ({"op": "ranked_list_move", "list_key": CRYPTO, "rank": 1}, "a value or a from_rank"),
        ({"op": "ranked_list_remove", "list_key": CRYPTO}, "a value or a rank"),
        ({"op": "ranked_list_clear", "list_key": CRYPTO, "value": "x"}, "takes no value"),
        (
            {"op": "set", "fact_key": "user.x", "value": "y", "confidence": 0.29},
            "its confidence is 0.29, and 0.3 is the least",
        ),
        ({"op": "ranked_list_clear", "list_key": CRYPTO, "confidence": 0.0}, "not sure enough"),
        (
            {"op": "set", "fact_key": "user.key", "value": "[REDACTED:api-key:0123456789ab]"},
            "the label of a redacted secret",
        ),
        (
            {
                "op": "set",
                "fact_key": "user.key",
                "value": " “[redacted:api-key]”, REDACTED:jwt:01 ",
            },
            "the label of a redacted secret",
        ),
        (
            {"op": "set", "fact_key": "user.[REDACTED:api-key:0123456789ab]", "value": "x"},
            "names nothing",
        ),
        (
            {"op": "ranked_list_clear", "list_key": "user.favorites.[REDACTED:api-key]"},
            "names nothing",
        ),
        (
            {
                "op": "ranked_list_insert",
                "list_key": CRYPTO,
                "rank": 1,
                "value": "x",
                "mode": "replace",
            },
            "cannot replace",
        ),
    ],
)
def test_a_useless_operation_parses_and_says_why(fields: dict[str, Any], problem: str) -> None:
    """Seed 004, ⚠ missing required fields: an error of that operation alone."""
    said = op_problem(op(**fields))
    assert said is not None
    assert problem in said


@every(
    "fields",
    [
        {"op": "set", "fact_key": "user.timezone", "value": "Europe/Athens"},
        {"op": "set", "fact_key": f"{CRYPTO}.1", "value": "BTC"},
        {"op": "clear", "fact_key": "user.timezone"},
        {"op": "set", "fact_key": "user.x", "value": "y", "confidence": 0.3},
        {"op": "set", "fact_key": "user.note", "value": "the key [REDACTED:api-key] is old"},
        {"op": "ranked_list_set", "list_key": CRYPTO, "rank": 1, "value": "BTC"},
        {"op": "ranked_list_set", "list_key": "User.Favourites.Cryptos", "rank": 1, "value": "x"},
        {"op": "ranked_list_insert", "list_key": CRYPTO, "rank": 1, "value": "BTC"},
        {"op": "ranked_list_append", "list_key": CRYPTO, "values": ["BTC", "ETH"]},
        {"op": "ranked_list_move", "list_key": CRYPTO, "rank": 1, "value": "BTC"},
        {"op": "ranked_list_move", "list_key": CRYPTO, "rank": 1, "from_rank": 2},
        {"op": "ranked_list_remove", "list_key": CRYPTO, "rank": 1},
        {"op": "ranked_list_clear", "list_key": CRYPTO},
    ],
)
def test_a_useful_operation_has_no_problem(fields: dict[str, Any]) -> None:
    assert op_problem(op(**fields)) is None
    assert not batch_problems([op(**fields), op(**fields)])  # said twice is no conflict


def test_a_set_of_a_rank_is_about_its_list() -> None:
    assert list_key_of(op(op="set", fact_key=f"{CRYPTO}.1", value="BTC")) == CRYPTO
    assert list_key_of(op(op="ranked_list_clear", list_key="user.favorites.Cryptos")) == CRYPTO
    assert list_key_of(op(op="set", fact_key="user.timezone", value="x")) is None


def test_operations_that_disagree_are_told() -> None:
    one = op(op="ranked_list_set", list_key=CRYPTO, rank=1, value="BTC")
    other = op(op="set", fact_key=f"{CRYPTO}.1", value="ETH")
    again = op(op="ranked_list_set", list_key=CRYPTO, rank=2, value="btc")
    clear = op(op="ranked_list_clear", list_key=CRYPTO)
    assert batch_problems([one, other]) == {
        1: "operation 1 sets user.favorites.crypto.1 to another value"
    }
    assert batch_problems([one, again]) == {
        1: "operation 1 sets the same value at user.favorites.crypto.1"
    }
    assert batch_problems([one, clear]) == {
        1: "operation 1 fills user.favorites.crypto, this one clears it"
    }
    assert not batch_problems([clear, one])  # a list that is made anew
    assert list(batch_problems([op(op="set"), one])) == [0]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"intent": "facts_get_ranked_list"}, "neither a list_key nor a topic"),
        ({"intent": "facts_get_ranked_list", "list_key": "user.x"}, "not below user.favorites"),
        ({"intent": "facts_get_ranked_list", "topic": "…"}, "no letter or digit"),
        ({"intent": "facts_get_exact_key"}, "has no fact_key"),
        ({"intent": "facts_get_by_prefix", "key_prefix": "%"}, None),
        ({"intent": "facts_get_by_prefix", "key_prefix": "."}, "no letter or digit"),
        ({"intent": "facts_get_by_predicate"}, "has no predicate"),
        ({"intent": "facts_get_by_entity", "entity": " "}, "has no entity"),
        ({"intent": "facts_get_by_time"}, "neither since nor until"),
        ({"intent": "facts_get_ranked_list", "topic": "crypto"}, None),
    ],
)
def test_plans(fields: dict[str, Any], problem: str | None) -> None:
    said = plan_problem(FactsQueryPlan.model_validate(fields))
    assert (said is None) == (problem is None)
    assert problem is None or problem in (said or "")


def test_the_window_of_a_plan() -> None:
    plan = FactsQueryPlan(intent="facts_get_by_time", since="1970-01-01T00:00:01Z", until="nope")
    assert plan_window(plan)[2] == "until is 'nope'; give a moment like 2026-11-02T10:30:00Z"
    assert plan_window(plan.model_copy(update={"until": None})) == (1_000, None, None)
    assert plan_window(plan.model_copy(update={"until": "1970-01-01"}))[2] is not None


@given(
    st.builds(
        FactsOp,
        op=st.sampled_from(["set", "ranked_list_set", "ranked_list_move"]),
        fact_key=st.none() | st.text(max_size=40),
        list_key=st.none() | st.text(max_size=40),
        value=st.none() | st.text(max_size=40),
        rank=st.none() | st.integers(1, 9),
    )
)
def test_no_operation_breaks_the_checks(proposed: FactsOp) -> None:
    said = op_problem(proposed)
    assert said is None or said
    assert (0 in batch_problems([proposed])) == (said is not None)
