"""Telling keyed facts: what is kept when something goes wrong before the answer comes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import forked
from conftest import Cli
from factbook import policy
from factbook.errors import ModelError, UsageError
from factbook.extract.keyed.contracts import FactsOp, FactsOpsResponse
from factbook.llm.config import ModelConfig
from factbook.memory import Memory
from factbook.store.derived.counts import row_counts
from factbook.testing import DAY, FrozenClock
from factbook.testing.model_server import ModelServer, Reply

LIST = "user.favorites.crypto"


def set_rank(rank: int, value: str) -> dict[str, Any]:
    op = {"op": "ranked_list_set", "list_key": LIST, "rank": rank, "value": value}
    return {"ops": [op]}


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([]) as found:
        yield found


@pytest.fixture
def memory(tmp_path: Path, clock: FrozenClock, server: ModelServer) -> Iterator[Memory]:
    with Memory(
        tmp_path / "told.db",
        clock=clock,
        key_file=tmp_path / "key",
        model=ModelConfig(url=server.url, timeout_s=5.0),
    ) as found:
        yield found
        assert found.check() == []


def values(memory: Memory) -> list[str]:
    return [one.object for one in memory.keyed.keyed_facts()]


def test_an_id_that_another_message_has_is_refused(memory: Memory, server: ModelServer) -> None:
    server.script = [Reply.json(set_rank(1, "BTC")), Reply.json(set_rank(2, "ETH"))]
    memory.tell("BTC is my #1 crypto", message_id="x1")
    with pytest.raises(UsageError, match="belongs to another message"):
        memory.tell("ETH is my #2 crypto", message_id="x1")
    with pytest.raises(UsageError, match="belongs to another message"):
        memory.tell("BTC is my #1 crypto", message_id="x1", owner="bob")
    assert values(memory) == ["BTC"]


def test_what_a_known_message_does_not_hold_is_not_quoted_from_it(
    memory: Memory, server: ModelServer
) -> None:
    server.script = [Reply.json(set_rank(1, "BTC"))]
    memory.tell("BTC is my #1 crypto", message_id="x1")
    response = FactsOpsResponse(ops=[FactsOp(op="set", fact_key="user.city", value="Paris")])
    memory.keyed.apply_facts(response, message_id="x1")
    (city,) = [one for one in memory.keyed.keyed_facts() if one.object == "Paris"]
    assert memory.keyed.quotes_of(city.id) == ["set user.city = Paris"]


def test_a_message_that_waited_does_not_bring_back_what_was_cleared(
    memory: Memory, server: ModelServer, clock: FrozenClock
) -> None:
    server.script = [Reply.json(set_rank(1, "SOL"))]
    memory.tell("SOL is my #1 crypto")
    clock.advance(days=0.01)
    server.script = [Reply.status(500, "down")]
    with pytest.raises(ModelError):
        memory.tell("BTC is my #1 crypto")
    clock.advance(days=0.01)
    assert memory.tell("clear my favorite cryptos", planner="rules").label == "Facts-C(1) by rules"
    clock.advance(days=1)
    server.script = [Reply.json(set_rank(1, "BTC"))]
    found = memory.keyed.retry_told()
    assert values(memory) == []
    assert found.failed == []
    (told,) = found.done
    assert "later message" in told.errors[0]
    assert (
        memory.maintenance.model_tasks() == []
    )  # it is answered: nothing will make it current again


def test_a_clock_that_was_set_back_harms_nothing(
    memory: Memory, server: ModelServer, clock: FrozenClock
) -> None:
    server.script = [Reply.json(set_rank(1, "BTC")), Reply.json(set_rank(1, "SOL"))]
    memory.tell("BTC is my #1 crypto")
    clock.advance(days=-1)
    assert memory.tell("SOL is my #1 crypto").label == "Facts-U(1)"
    assert values(memory) == ["SOL"]


def test_what_is_refused_is_kept_with_its_reason(memory: Memory, server: ModelServer) -> None:
    server.script = [Reply.json(set_rank(1, "LUNA"))]
    told = memory.tell("BTC is my #1 crypto")
    assert (told.label, told.failed) == ("Facts-F", True)
    (refused,) = memory.sources.rejections()
    assert (refused.reason, refused.excerpt) == ("operation_refused", "LUNA")
    assert "LUNA" in refused.detail


def test_without_atomic_the_rest_is_done_and_the_refusal_kept(
    memory: Memory, server: ModelServer
) -> None:
    server.script = [Reply.json({"ops": [*set_rank(1, "BTC")["ops"], *set_rank(2, "LUNA")["ops"]]})]
    told = memory.tell("BTC is my #1 crypto", atomic=False)
    assert told.label == "Facts-S(1)"
    assert [one.excerpt for one in memory.sources.rejections()] == ["LUNA"]


def test_without_a_model_nothing_is_kept_and_nothing_queued(tmp_path: Path) -> None:
    with Memory(tmp_path / "a.db", key_file=tmp_path / "key", model=None) as memory:
        with pytest.raises(ModelError, match="not_configured"):
            memory.tell("BTC is my #1 crypto")
        assert row_counts(memory.store)["episodes"] == 0
        assert memory.maintenance.model_tasks() == []


def test_an_unclear_answer_leaves_one_question_open(memory: Memory, server: ModelServer) -> None:
    ask = {"ops": [], "needs_clarification": ["Which favorites list? crypto/colors/..."]}
    server.script = [Reply.json(ask), Reply.json(ask), Reply.json(set_rank(1, "BTC"))]
    memory.tell("Make BTC my #1")
    (question,) = memory.review.proposals()
    with pytest.raises(UsageError, match="not clear either"):
        memory.review.decide(question.id, accept=True, text="Make BTC my number one")
    assert [one.id for one in memory.review.proposals()] == [question.id]
    receipt = memory.review.decide(question.id, accept=True, text="Make BTC my #1 crypto")
    assert receipt.keys == [(f"{LIST}.1", "store")]
    assert memory.review.proposals() == []


_TELL = """
import sys
from factbook.llm.config import ModelConfig
from factbook.memory import Memory
with Memory(sys.argv[1], key_file=sys.argv[2], model=ModelConfig(url=sys.argv[3])) as memory:
    memory.tell(sys.argv[4])
"""


def _start(
    memory: Memory, server: ModelServer, home: Path, said: str, *, script: str = _TELL
) -> forked.Child:
    args = [str(memory.path), str(home / "key"), server.url, said]
    return forked.start(args, env=Cli(home=home).environment(), script=script)


def test_a_tell_that_is_killed_before_its_answer_waits_to_be_told(
    memory: Memory, server: ModelServer, tmp_path: Path
) -> None:
    server.script = [Reply.hang()]
    process = _start(memory, server, tmp_path, "BTC is my #1 crypto")
    assert server.wait_for(1, timeout_s=60)
    process.kill()
    assert memory.check() == []
    (task,) = memory.maintenance.model_tasks()
    assert (task.kind, task.state, task.attempts) == ("tell", "queued", 0)
    assert memory.keyed.retry_told().done == []  # whoever keeps it may be asking still
    memory.clock.now = task.until + 1  # type: ignore[attr-defined]
    server.script = [Reply.json(set_rank(1, "BTC"))]
    assert [one.label for one in memory.keyed.retry_told().done] == ["Facts-S(1)"]
    assert values(memory) == ["BTC"]


def test_processes_that_tell_at_once_lose_no_message(
    memory: Memory, server: ModelServer, tmp_path: Path
) -> None:
    def answer(request: Any) -> Reply:
        coin = next(f"COIN{n}" for n in range(6) if f"COIN{n} " in request.prompt)
        op = {"op": "ranked_list_insert", "list_key": LIST, "rank": 1, "value": coin}
        return Reply.json({"ops": [op]})

    server.script = answer
    processes = [
        _start(memory, server, tmp_path, f"insert COIN{n} at #1 in my favorite cryptos")
        for n in range(6)
    ]
    assert [process.wait(60) for process in processes] == [0] * 6
    assert sorted(values(memory)) == [f"COIN{n}" for n in range(6)]
    ranks = [one.predicate for one in memory.keyed.keyed_facts()]
    assert ranks == [f"{LIST}.{n}" for n in range(1, 7)]


def test_a_budget_holds_between_processes(
    memory: Memory, server: ModelServer, tmp_path: Path
) -> None:
    script = _TELL.replace(
        "ModelConfig(url=sys.argv[3])", "ModelConfig(url=sys.argv[3], daily_calls=2)"
    )
    server.script = Reply.json({"ops": []})
    processes = [
        _start(memory, server, tmp_path, f"BTC is my #{n} crypto", script=script)
        for n in range(1, 6)
    ]
    codes = sorted(process.wait(60) for process in processes)
    assert codes == [0, 0, 1, 1, 1]
    assert len(server.requests) == 2


def test_set_aside_after_as_many_failures_as_the_policy_says(
    memory: Memory, server: ModelServer, clock: FrozenClock
) -> None:
    server.script = Reply.status(400, "not like this")
    with pytest.raises(ModelError):
        memory.tell("BTC is my #1 crypto")
    for attempt in range(2, policy.MODEL_ATTEMPTS + 1):
        clock.now += DAY
        found = memory.keyed.retry_told()
        assert len(found.failed) == 1
        (task,) = memory.maintenance.model_tasks()
        assert task.attempts == attempt
    assert task.state == "aside"
    clock.now += DAY
    assert memory.keyed.retry_told().failed == []
    memory.maintenance.retry_tasks("tell")
    server.script = Reply.json(set_rank(1, "BTC"))
    assert len(memory.keyed.retry_told().done) == 1
