"""The runnable contract of a store: a test for every verb of its port.

A store's test is a subclass with a constructor; every method is a test:

    class TestMine(StoreContract):
        def open(self, path, *, tenant="one"):
            return MyStore(f"mine://{path.name}/{tenant}")

A store whose `files` is not None takes `FileContract` too. It needs pytest;
`pytest.register_assert_rewrite("factbook.testing.contract")`, said before the import, lets a test
that fails say what it compared.
"""

from __future__ import annotations

from typing import Protocol

from factbook.store.port import Store, Writer
from factbook.testing.contract.applied import AppliedContract
from factbook.testing.contract.base import of, verbs_of
from factbook.testing.contract.erased import ErasedContract
from factbook.testing.contract.erasing import ErasingContract
from factbook.testing.contract.files import FileContract
from factbook.testing.contract.ledger import LedgerContract
from factbook.testing.contract.records import RecordContract
from factbook.testing.contract.search import SearchContract

__all__ = ["FileContract", "StoreContract", "of", "verbs_of"]


def public_names(*protocols: type) -> set[str]:
    """Return the public methods and attributes of protocols."""
    names: set[str] = set()
    for part in (
        part for protocol in protocols for part in protocol.__mro__ if part is not Protocol
    ):
        names |= {*vars(part), *vars(part).get("__annotations__", ())}
    return {name for name in names if not name.startswith("_")}


class StoreContract(
    RecordContract,
    LedgerContract,
    SearchContract,
    ErasingContract,
    AppliedContract,
    ErasedContract,
):
    """Every test of a store."""

    def test_every_verb_has_a_test(self) -> None:
        verbs = public_names(Store, Writer)
        tested = verbs_of(type(self)).keys()
        assert (verbs - tested, tested - verbs) == (set(), set())
