"""Two processes that keep one graph: what one was faster with, the other one did not keep."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from factbook import Memory
from factbook.pipelines.graph import GraphEntity, KnowledgeGraph

ROUNDS = 40
WORKER = """
import json, sys
from factbook import Memory
from factbook.errors import UsageError
from factbook.pipelines.graph import GraphEntity, GraphObserved, GraphRelation

made = {
    "create_entities": GraphEntity,
    "create_relations": GraphRelation,
    "add_observations": GraphObserved,
    "delete_entities": str,
}
with Memory(sys.argv[1], model=None, search_config=None) as memory:
    print("ready", flush=True)
    for line in sys.stdin:
        name, parts = json.loads(line)
        given = [part if name == "delete_entities" else made[name](*part) for part in parts]
        try:
            said = getattr(memory.graph, name)(given)
        except UsageError as error:
            said = str(error)
        print(json.dumps(said), flush=True)
"""


class Pair:
    """Two processes at one memory."""

    def __init__(self, db: Path, stack: ExitStack) -> None:
        command = [sys.executable, "-c", WORKER, str(db)]
        self._workers = [
            stack.enter_context(
                subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
                )
            )
            for _ in range(2)
        ]
        for worker in self._workers:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"

    def at_once(self, *calls: tuple[str, list[Any]]) -> list[Any]:
        """Return what each says to its call."""
        for worker, call in zip(self._workers, calls, strict=True):
            assert worker.stdin is not None
            worker.stdin.write(json.dumps(call) + "\n")
        answers = []
        for worker in self._workers:
            assert worker.stdout is not None
            answers.append(json.loads(worker.stdout.readline()))
        return answers


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    with Memory(path, model=None, search_config=None) as memory:
        memory.graph.create_entities([GraphEntity("Quay", "place")])
    return path


@pytest.fixture
def pair(db: Path) -> Iterator[Pair]:
    with ExitStack() as stack:
        yield Pair(db, stack)


def whole(db: Path) -> KnowledgeGraph:
    with Memory(db, model=None, search_config=None) as memory:
        assert memory.check() == []
        return memory.graph.read()


def rows(db: Path) -> list[tuple[str, str]]:
    """Return (subject, predicate) of every current fact."""
    with Memory(db, mode="read") as memory:
        return [(fact.subject, fact.predicate) for fact in memory.query_facts()]


def test_a_name_has_one_entity_and_one_of_two_has_made_it(db: Path, pair: Pair) -> None:
    made: dict[str, Any] = {}
    for number in range(ROUNDS):
        name = f"Box {number}"
        alike = number % 4 == 0  # both of one type, with observations of their own
        said = pair.at_once(
            ("create_entities", [[name, "crate", ["from the left"]]]),
            ("create_entities", [[name, "crate" if alike else "case", ["from the right"]]]),
        )
        [made[name]] = [answer[0] for answer in said if answer]
    kept = {entity.name: [*entity[:2], list(entity[2])] for entity in whole(db).entities}
    assert made == {name: kept[name] for name in made}
    entities = [row for row in rows(db) if row[1] == "entity"]
    observed = [row for row in rows(db) if row[1] == "observation"]
    assert (len(entities), len(observed)) == (ROUNDS + 1, ROUNDS)


def test_a_relation_or_an_observation_is_new_for_one_of_two(db: Path, pair: Pair) -> None:
    for number in range(ROUNDS):
        left, right = pair.at_once(
            ("create_relations", [["Quay", f"Ship {number}", "berths"]]),
            ("create_relations", [["Quay", f"Ship {number}", "berths"]]),
        )
        assert len(left) + len(right) == 1
        left, right = pair.at_once(
            ("add_observations", [["Quay", [f"has bollard {number}"]]]),
            ("add_observations", [["Quay", [f"has bollard {number}"]]]),
        )
        assert len(left[0][1]) + len(right[0][1]) == 1
    graph = whole(db)
    assert len(graph.relations) == ROUNDS
    assert [len(entity.observations) for entity in graph.entities] == [ROUNDS]


def test_nothing_is_observed_of_what_is_deleted_meanwhile(db: Path, pair: Pair) -> None:
    with Memory(db, model=None, search_config=None) as memory:
        memory.graph.create_entities([GraphEntity(f"Box {n}", "crate") for n in range(ROUNDS)])
    for number in range(ROUNDS):
        name = f"Box {number}"
        said, left = pair.at_once(
            ("add_observations", [[name, ["is wet"]]]), ("delete_entities", [name])
        )
        assert left == []
        assert said in ([[name, ["is wet"]]], f"Entity with name {name} not found")
    assert [entity.name for entity in whole(db).entities] == ["Quay"]
    assert rows(db) == [("Quay", "entity")]
