"""Writers of one record while any command may fail: nothing half, nothing lost, nothing twice."""

from __future__ import annotations

import contextlib
import random
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pymongo")

from factbook.errors import RecordChanged, RecordError
from factbook.memory import Memory
from factbook.model.memory_types import MemoryType
from factbook.store.mongo.record import TypedRecord
from mongo_house import LIVES, LOVES, MAYBE, STEPS, SUMMARY, WRONG, House, keep, told
from mongo_servers import NO_MAJORITY, NO_TRANSACTION, NOT_PRIMARY, Command, changed, proxy

AT = 1_763_700_000_000
FAILURES = ("lose", "lose answer", NOT_PRIMARY, NO_MAJORITY, NO_TRANSACTION)


def storm(seed: int, share: float, struck: list[Command]) -> Callable[[Command], Any]:
    """Let a share of the commands fail, each in one of the ways that there are for it."""
    chance, lock = random.Random(seed), threading.Lock()

    def answer(command: Command) -> Any:
        with lock:
            fails, said = chance.random() < share, chance.choice(FAILURES)
        in_transaction = command.body.get("autocommit") is False
        if not fails or command.name in ("abortTransaction", "endSessions"):
            return None
        struck.append(command)
        if said is NO_MAJORITY and not (
            command.name in ("insert", "update") and not in_transaction
        ):
            return "lose"
        if said is NO_TRANSACTION and not in_transaction:
            return "lose answer"
        return said

    return answer


def write(record: TypedRecord, name: str, groups: int, acknowledged: list[str]) -> None:
    """Commit groups of documents, each until it is acknowledged or was given up twice."""
    for n in range(groups):
        texts = [f"{name}{n}.{part}" for part in range(3)]
        memories = [
            {"_id": record.id_of("USER:ann", text), "subject_id": "USER:ann", "text": text}
            for text in texts
        ]
        event = {"_id": record.id_of("USER:ann", texts[0], "e"), "subject_id": "USER:ann"}
        errors = 0
        while errors < 2:
            try:
                upto, found = changed(record)
                there = {document["text"] for document in found["memories"]}
                if texts[0] not in there:  # decided anew, as the file decides
                    record.commit({"memories": memories, "events": [event]}, after=upto, at=AT)
                acknowledged.append(f"{name}{n}")
                break
            except RecordChanged:
                continue
            except RecordError:
                errors += 1


# The server here lets everybody see what a transaction has not committed yet, as a real one does
# not: what would be a set has one writer.
@pytest.mark.parametrize(("set_name", "writers"), [("", "ab"), ("rs", "a")], ids=["single", "set"])
@pytest.mark.parametrize(
    ("seed", "groups"),
    [(1, 8), *(pytest.param(seed, 30, marks=pytest.mark.slow) for seed in range(2, 6))],
)
def test_whole_commits_once_each_whatever_fails(
    mongo_address: str, set_name: str, writers: str, seed: int, groups: int
) -> None:
    url = f"/test_{uuid.uuid4().hex[:12]}?directConnection=true&socketTimeoutMS=1500"
    acknowledged: dict[str, list[str]] = {name: [] for name in writers}
    struck: list[Command] = []
    with contextlib.ExitStack() as open_:
        between = open_.enter_context(
            proxy(mongo_address, storm(seed, 0.08, struck), set_name=set_name)
        )
        threads = []
        for name, acks in acknowledged.items():
            mine = TypedRecord(f"mongodb://{between.address}{url}", tenant="one")
            open_.callback(mine.close)
            threads.append(threading.Thread(target=write, args=(mine, name, groups, acks)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(240)
        assert not any(thread.is_alive() for thread in threads)
        calm = TypedRecord(f"mongodb://{mongo_address}{url}", tenant="one")
        open_.callback(calm.close)
        upto, found = changed(calm)
        assert calm.check() == []
        assert len(struck) > groups / 2
        assert calm.generation() == upto
    commits: dict[int, set[str]] = {}
    for document in found["memories"]:
        commits.setdefault(document["commit"], set()).add(document["text"])
    groups_there = {min(texts).split(".")[0] for texts in commits.values()}
    assert set().union(*acknowledged.values()) <= groups_there  # nothing lost
    assert len(groups_there) == len(commits) == upto  # nothing twice
    for texts in commits.values():  # nothing half
        assert texts == {f"{min(texts)[:-1]}{part}" for part in range(3)}
    assert [document["commit"] for document in found["events"]] == sorted(commits)


def keep_at_last(memory: Memory, said: tuple[str, MemoryType, float], owner: str) -> None:
    """Keep what is said, again where it was not acknowledged."""
    for left in reversed(range(20)):
        try:
            keep(memory, said, owner=owner, text=SUMMARY)
            return
        except RecordError:
            if not left:
                raise


@pytest.mark.parametrize("set_name", ["", "rs"], ids=["single", "set"])
def test_a_file_says_the_same_after_a_storm_as_without_one(
    mongo_address: str, tmp_path: Path, set_name: str
) -> None:
    """Whoever does again what was not acknowledged has it once: also its evidence and history."""
    struck: list[Command] = []
    path, key = tmp_path / "own.db", tmp_path / "key"
    with (
        contextlib.closing(House(mongo_address, tmp_path)) as house,
        proxy(house.address, set_name=set_name) as between,
        Memory(path, clock=house.clock, key_file=key, model=None, typed_store="") as own,
    ):
        mine = house.file("mine", address=between.address)
        between.answer = storm(7, 0.1, struck)
        for said in (LOVES, LIVES, STEPS, MAYBE, WRONG):
            for owner in ("me", "ann"):
                keep(own, said, owner=owner, text=SUMMARY)
                keep_at_last(mine, said, owner)
        between.answer = lambda command: None
        assert len(struck) > 10
        assert told(mine) == told(own)
        assert told(house.file("other")) == told(own)
        assert mine.check() == []
