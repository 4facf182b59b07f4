"""What a store promises that is a file on this machine."""

from __future__ import annotations

import pytest

from factbook.errors import UsageError
from factbook.model.facts import ErasureAct
from factbook.store.kinds import ERASURE
from factbook.store.port import Files, Store
from factbook.store.rows import Wiped
from factbook.testing.contract.base import NOW, Contract, writing


def files_of(store: Store) -> Files:
    assert store.files is not None
    return store.files


class FileContract(Contract):
    def test_the_file_is_there_and_names_the_store(self, store: Store) -> None:
        files = files_of(store)
        assert files.path.is_file()
        assert str(files.path) in store.name
        assert files.live_bytes() > 0
        with store.rehearsal() as copy:
            assert copy.files is None

    def test_a_statement_that_reads_is_answered(self, store: Store) -> None:
        files = files_of(store)
        assert files.sql("SELECT ? AS n", [7], limit=None, seconds=9) == [{"n": 7}]
        with pytest.raises(UsageError):
            files.sql("CREATE TABLE t (n)", limit=None, seconds=9)

    def test_bytes_are_found_and_gone_after_they_were_scoured(self, store: Store) -> None:
        files = files_of(store)
        assert files.find_residues("tool 1").in_file
        assert not files.find_residues("quagmire-ledger").in_file
        assert files.scour() is None
        with writing(store) as writer:
            act = ErasureAct(0, NOW, "test", "episode", {}, clean=False, allowed_at=None)
            [erasure] = writer.add(ERASURE, [act])
        assert erasure is not None
        scoured = files.scour(Wiped(erasures=[erasure], texts=["quagmire-ledger"]))
        assert scoured is not None
        assert (scoured.clean, scoured.waiting, scoured.pieces) == (True, "", 0)
        assert store.find(ERASURE)[0].clean
        assert files.scour() is None

    def test_what_stands_at_the_path_is_opened_again(self, store: Store) -> None:
        assert files_of(store).reopen() is None
        assert len(store.episodes_by_id([1, 2, 3])) == 3
