"""The catalogue of bad answers, played to our own client over HTTP in both protocols."""

from __future__ import annotations

import json
import random
from itertools import islice
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from factbook.errors import ModelError, ModelFailure
from factbook.llm import Message
from factbook.llm.answers import read_answer
from factbook.llm.client import open_llm
from factbook.llm.config import ModelConfig
from factbook.testing.bad_answers import (
    BAD_ANSWERS,
    ODD_ANSWERS,
    BadAnswer,
    bad_answers,
    mutations,
    with_conflicts,
    with_duplicates,
    with_ids,
    with_many,
    with_number,
)
from factbook.testing.model_server import ModelServer, Reply
from rows import every


class Step(BaseModel):
    """One step of the answer that is asked for here."""

    model_config = ConfigDict(strict=True, extra="forbid")

    op: Literal["keep", "merge"]
    id: int
    other_ids: list[int]
    text: str
    confidence: float = Field(ge=0, le=1)


class Steps(BaseModel):
    """The answer that is asked for here."""

    model_config = ConfigDict(strict=True, extra="forbid")

    steps: list[Step]
    note: str | None = None


GOOD: dict[str, Any] = {
    "steps": [
        {"op": "keep", "id": 1, "other_ids": [], "text": "Ann likes tea", "confidence": 0.9},
        {"op": "merge", "id": 2, "other_ids": [3, 4], "text": "Ben rows", "confidence": 0.8},
    ],
    "note": "två",
}
PROVIDERS = ("openai", "ollama")
SLOW = ModelFailure.TIMEOUT


def asked(server: ModelServer, provider: str, *, timeout_s: float = 20.0) -> Steps:
    """Ask our client once."""
    config = ModelConfig(provider=provider, model="m", url=server.url, timeout_s=timeout_s)
    messages = [Message(role="user", content="What is to be done with each memory?")]
    return open_llm(config, environ={}).ask(messages, Steps, purpose="judge")


def outcome(server: ModelServer, provider: str, *, timeout_s: float = 20.0) -> object:
    """Return what our client makes of it: the answer, or the kind of failure."""
    try:
        return asked(server, provider, timeout_s=timeout_s)
    except ModelError as error:
        return error.kind


def names(bad: BadAnswer) -> str:
    """Name a case."""
    return bad.name


@every("provider", PROVIDERS)
@every("bad", BAD_ANSWERS)
def test_every_bad_answer_has_its_one_outcome(bad: BadAnswer, provider: str) -> None:
    if not bad.applies(GOOD, provider):
        pytest.skip("the other protocol alone can say it")
    expected = bad.expected(provider)
    with ModelServer(bad.reply(GOOD)) as server:
        found = outcome(server, provider, timeout_s=0.4 if expected is SLOW else 20.0)
        if expected is not None:
            assert found is expected, bad.about
        elif found is not ModelFailure.SCHEMA:  # what the type refuses does not come to the gate
            assert isinstance(found, Steps)
            assert found != Steps.model_validate(GOOD)
        assert len(server.requests) == 1  # nothing is retried, no redirect is followed


@every("provider", PROVIDERS)
@every("odd", ODD_ANSWERS)
def test_an_odd_answer_is_taken(odd: str, provider: str) -> None:
    with ModelServer(ODD_ANSWERS[odd](GOOD)) as server:
        assert asked(server, provider) == Steps.model_validate(GOOD)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_stopped_server_is_a_failure_to_connect(provider: str) -> None:
    """Seed 004, acceptance test 4: the model is stopped, and there again later."""
    with ModelServer(Reply.json(GOOD)) as server:
        server.stop()
        assert outcome(server, provider) is ModelFailure.CONNECT
        server.start()
        assert asked(server, provider) == Steps.model_validate(GOOD)


class TestTheCatalogue:
    def test_names_are_unique_and_every_kind_of_failure_is_there(self) -> None:
        assert len(BAD_ANSWERS) >= 40
        assert len({bad.name for bad in BAD_ANSWERS}) == len(BAD_ANSWERS)
        kinds = {bad.kind for bad in BAD_ANSWERS}
        before_a_call = {ModelFailure.NOT_CONFIGURED, ModelFailure.OVER_BUDGET}
        assert kinds == {None, *ModelFailure} - before_a_call

    def test_what_cannot_be_made_of_an_answer_is_left_out(self) -> None:
        found = {bad.name for bad in bad_answers({"intent": "look"}, "ollama")}
        assert "word_of_no_enum" in found
        assert not found & {"empty_lists", "confidence_7", "unknown_ids", "many", "no_choice"}

    def test_edits_leave_the_good_answer_alone(self) -> None:
        before = json.dumps(GOOD)
        for bad in BAD_ANSWERS:
            bad.reply(GOOD)
        assert json.dumps(GOOD) == before

    def test_ids_are_replaced_in_their_type(self) -> None:
        unknown = with_ids(GOOD)
        assert Steps.model_validate(unknown)
        ids = [unknown["steps"][0]["id"], unknown["steps"][1]["id"]]
        ids += unknown["steps"][1]["other_ids"]
        assert len(set(ids)) == 4
        assert not set(ids) & {1, 2, 3, 4}
        theirs = with_ids(GOOD, [70, 71])
        assert [step["id"] for step in theirs["steps"]] == [70, 71]
        assert theirs["steps"][1]["other_ids"] == [70, 71]
        assert with_ids({"merge_id": "f-1"}) == {"merge_id": "unknown-1"}

    def test_the_other_edits(self) -> None:
        assert [step["confidence"] for step in with_number(GOOD, 7)["steps"]] == [7, 7]
        assert with_duplicates(GOOD)["steps"] == GOOD["steps"] * 2
        conflict = with_conflicts(GOOD)["steps"]
        assert [step["text"] for step in conflict[:2]] == ["Ann likes tea", "not Ann likes tea"]
        many = with_many(GOOD)["steps"]
        assert len(many) == 5_000
        assert len({step["text"] for step in many}) == 5_000
        assert Steps.model_validate({"steps": many})


class TestMutations:
    def test_a_seed_gives_the_same_answers_again(self) -> None:
        first, again = (list(islice(mutations(GOOD, random.Random(7)), 500)) for _ in "ab")
        assert first == again
        assert first != list(islice(mutations(GOOD, random.Random(8)), 500))

    def test_they_are_bad_in_all_ways(self) -> None:
        seen = {"no json": 0, "other type": 0, "right type": 0, "as it was": 0}
        for data in islice(mutations(GOOD, random.Random(1)), 4_000):
            try:
                value = json.loads(data)
            except (ValueError, RecursionError):
                seen["no json"] += 1
                continue
            if value == GOOD:
                seen["as it was"] += 1
                continue
            try:
                Steps.model_validate(value)
            except ValueError:
                seen["other type"] += 1
            else:
                seen["right type"] += 1
        assert min(seen["no json"], seen["other type"], seen["right type"]) > 200
        assert seen["as it was"] < 400

    def test_a_mutated_answer_comes_over_the_wire_as_it_is(self) -> None:
        """What is no UTF-8 too: the protocol's JSON carries the very bytes."""
        answers = list(islice(mutations(GOOD, random.Random(3)), 60))
        kinds = (ModelFailure.INVALID_JSON, ModelFailure.SCHEMA, ModelFailure.HTTP)
        with ModelServer([Reply.text(data) for data in answers]) as server:
            for data in answers:
                found = outcome(server, "ollama")
                if isinstance(found, Steps):
                    assert found == read_answer(data.decode(), Steps)
                else:
                    assert found in kinds
            assert len(server.requests) == len(answers)
