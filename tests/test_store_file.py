"""The file of a store: one connection for each thread."""

from __future__ import annotations

import threading
from pathlib import Path

from factbook.store.sqlite import SQLiteStore


def test_a_thread_closes_its_own_connection(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "f.db")

    def work() -> None:
        assert store.head().commit == 0
        store.close_thread()
        store.close_thread()
        assert store.head().commit == 0  # asked again, it opens another one
        store.close_thread()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(store._file._connections) == 1
    assert store.head().commit == 0
    store.close()
