"""A store whose typed memories have their record in MongoDB keeps the contract of all stores."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, cast

import pytest

pytest.importorskip("pymongo")

from factbook.apply.typed_record import TypedMirror
from factbook.store.mongo.record import TypedRecord
from factbook.store.mongo.split import SplitStore
from factbook.store.port import Store
from factbook.store.sqlite import SQLiteStore
from factbook.testing import FrozenClock
from factbook.testing.contract import StoreContract
from factbook.testing.memory_store import open_memory
from factbook.testing.mongo_server import mongo_server


@pytest.fixture(scope="module", autouse=True)
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with mongo_server(tmp_path_factory.mktemp("mongo")) as address:
        Split.address = address
        yield


class Split(StoreContract):
    __test__ = False
    address = ""
    opened: ClassVar[list[TypedRecord]] = []

    @pytest.fixture(autouse=True)
    def closing(self) -> Iterator[None]:
        yield
        while self.opened:
            self.opened.pop().close()

    def base(self, path: Path, tenant: str) -> Store:
        raise NotImplementedError

    def open(self, path: Path, *, tenant: str = "one") -> Store:
        base = self.base(path, tenant)
        name = hashlib.blake2b(str(path).encode(), digest_size=8).hexdigest()
        url = f"mongodb://{self.address}/c{name}?directConnection=true"
        record = TypedRecord(url, tenant=tenant)
        self.opened.append(record)
        mirror = TypedMirror(record.id_of, tenant=base.tenant)
        store = SplitStore(base, record, mirror, clock=FrozenClock())
        return cast("Store", store)


@pytest.mark.slow  # the same laws as beside: only what is below is another
class TestOverSQLite(Split):
    __test__ = True

    def base(self, path: Path, tenant: str) -> Store:
        return SQLiteStore(path / f"{tenant}.db")


class TestInMemory(Split):
    __test__ = True

    def base(self, path: Path, tenant: str) -> Store:
        return open_memory(f"memory://{path}/{tenant}")
