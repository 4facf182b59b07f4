"""The store in memory keeps the contract of every store."""

from __future__ import annotations

from pathlib import Path

from factbook.store.port import Store
from factbook.testing.contract import StoreContract
from factbook.testing.memory_store import open_memory


class TestInMemory(StoreContract):
    def open(self, path: Path, *, tenant: str = "one") -> Store:
        return open_memory(f"memory://{path}/{tenant}")
