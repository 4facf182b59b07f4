"""The functions of seed 004 by the seed's names: what they return where there is nothing to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from factbook import policy
from factbook.llm.config import ModelConfig
from factbook.memory import Memory
from factbook.memory.compat.seed004 import chat_with_facts, persist_facts_synchronously
from factbook.testing import FrozenClock
from factbook.testing.model_server import ModelServer, Reply

LONG = "BTC is my #1 crypto. " * (policy.PROMPT_CHARS // 10)
EMPTY = ("", " \n\t ", '<factbook-memory ids="f1">BTC is their #1 crypto</factbook-memory>')


@dataclass(frozen=True)
class System:
    memory: Memory
    server: ModelServer

    @property
    def project(self) -> str:
        return self.memory.store.tenant


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    with (
        ModelServer([]) as server,
        Memory(
            tmp_path / "facts.db",
            clock=FrozenClock(),
            key_file=tmp_path / "key",
            model=ModelConfig(url=server.url),
        ) as memory,
    ):
        yield System(memory, server)
        assert memory.check() == []


@pytest.mark.parametrize("text", EMPTY)
def test_a_message_without_words_changes_nothing_and_is_no_error(system: System, text: str) -> None:
    found = persist_facts_synchronously(
        system.project, text, memory=system.memory, message_uuid="one"
    )
    assert found == (0, 0, [], "one", None)
    turn = chat_with_facts(system.project, text, memory=system.memory)
    assert (turn.facts_actions, turn.label, turn.message) == ({"S": 0, "U": 0}, "Facts-S(0)", "")
    assert system.server.requests == []


def test_a_message_that_is_too_long_is_a_failure(system: System) -> None:
    found = persist_facts_synchronously(
        system.project, LONG, memory=system.memory, message_uuid="one"
    )
    assert found == (-1, -1, [], "one", None)
    for text in (LONG, f"{LONG.strip()}?"):
        turn = chat_with_facts(system.project, text, memory=system.memory)
        assert (turn.facts_actions, turn.label) == ({"F": True}, "Facts-F")
        assert turn.message.startswith("Facts system failed: the ")
    assert system.server.requests == []


def test_a_question_that_names_no_list_is_asked_back(system: System) -> None:
    for said in ("BTC is my #1 favorite crypto", "Teal is my #1 favorite color"):
        system.memory.tell(said, planner="rules")
    system.server.script = Reply.json({"intent": "facts_get_ranked_list", "topic": "crypto"})
    turn = chat_with_facts(system.project, "What is my #1?", memory=system.memory)
    assert (turn.facts_actions, turn.label) == ({"R": 0}, "Facts-R(0)")
    assert turn.message.startswith("Which favorites list? ")


def test_operations_of_no_use_are_a_failure(system: System) -> None:
    op = {"op": "ranked_list_set", "list_key": "user.favorites.crypto", "rank": 1, "value": "XRP"}
    system.server.script = Reply.json({"ops": [op]})
    said = "BTC is my #1 crypto"
    found = persist_facts_synchronously(
        system.project, said, memory=system.memory, message_uuid="one"
    )
    assert found == (-1, -1, [], "one", None)
    turn = chat_with_facts(system.project, said, memory=system.memory)
    assert (turn.facts_actions, turn.label) == ({"F": True}, "Facts-F")
    assert turn.message == "Facts system failed: operation 1: the message does not hold 'XRP'"
