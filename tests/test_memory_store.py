"""The store in memory keeps the contract of the verbs that stay."""

from __future__ import annotations

from pathlib import Path

from factbook.store.base import Store, Writer
from factbook.testing.contract import LEFTOVER, StoreContract, public_names
from factbook.testing.memory_store import MemoryWriter, open_memory


class TestInMemory(StoreContract):
    def open(self, path: Path, *, tenant: str = "one") -> Store:
        return open_memory(f"memory://{path}/{tenant}")


def test_it_has_every_verb_that_stays() -> None:
    has = {*dir(open_memory("memory://")), *dir(MemoryWriter)}
    assert public_names(Store, Writer) - has <= LEFTOVER.keys()
