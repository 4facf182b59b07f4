"""A store that does one thing wrong fails a test of the verb that does it."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from factbook.model.facts import EVERYONE, FactKind
from factbook.store.kinds import KINDS, Kind
from factbook.store.port import Store, Writer
from factbook.store.rows import Filters, LifeWhere, Outlines
from factbook.testing.contract import StoreContract, public_names, verbs_of
from factbook.testing.contract.base import fill
from factbook.testing.memory_reads import MemoryReads
from factbook.testing.memory_store import MemorySnapshot, MemoryStore, MemoryWriter, open_memory

Verb = Callable[..., Any]
Mutation = Callable[[Verb], Verb]
CLASSES = (MemoryReads, MemorySnapshot, MemoryWriter, MemoryStore)
NAMES = itertools.count()
RECORDS = ("find", "tally", "add", "put", "drop")
# In memory these do nothing, so that nothing of them can be broken.
IDLE = {"check", "close", "close_thread", "files"}

# What a read may forget to look at, and what it then does.
IGNORED: Mapping[str, object] = {
    "limit": 1 << 40,
    "k": 1 << 40,
    "newest_first": False,
    "owner": EVERYONE,
    "reach": 0,
    "each": None,
    "keys": None,
    "pairs": None,
    "after": 0,
    "due": None,
    "besides": (),
    "next": False,
    "tried_only": False,
    "now": 1 << 50,
}


class InMemory(StoreContract):
    def open(self, path: Path, *, tenant: str = "one") -> Store:
        return open_memory(f"memory://{path}/{tenant}")


def is_whole(real: Verb) -> Verb:
    """Break nothing."""
    if not inspect.isfunction(real):
        return real
    return lambda self, *args, **named: real(self, *args, **named)


def finds_nothing(real: Verb) -> Verb:
    def mutant(self: Any, *args: Any, **named: Any) -> Any:
        found = real(self, *args, **named)
        if isinstance(found, Outlines):
            return Outlines(*(part[:0] for part in found))
        if isinstance(found, tuple) and isinstance(found[0], list):  # vectors
            return [], b""
        return None if isinstance(found, tuple) else type(found)() if found else found

    return mutant


def yields_nothing(_: Verb) -> Verb:
    return lambda *_, **__: iter(())


def ignores_filters(real: Verb) -> Verb:
    def wide(value: Any) -> Any:
        if isinstance(value, Filters):
            return Filters(owner=EVERYONE, proposed=True)
        if isinstance(value, LifeWhere):
            return LifeWhere(kinds=[*FactKind])
        return (
            {"owner": EVERYONE}
            if isinstance(value, Mapping) and "owner" in value
            else ({} if isinstance(value, Mapping) else value)
        )

    def mutant(self: Any, *args: Any, **named: Any) -> Any:
        return real(self, *map(wide, args), **{name: wide(one) for name, one in named.items()})

    return mutant


def ignores(name: str, value: object) -> Mutation:
    def mutation(real: Verb) -> Verb:
        def mutant(*args: Any, **named: Any) -> Any:
            given = inspect.signature(real).bind(*args, **named)
            if name in given.arguments:
                given.arguments[name] = value
            return real(*given.args, **given.kwargs)

        return mutant

    mutation.__name__ = f"ignores_{name}"
    return mutation


def writes_nothing(real: Verb) -> Verb:
    def mutant(self: MemoryWriter, *args: Any, **named: Any) -> Any:
        return real(MemoryWriter(self.root(), now=self._now), *args, **named)

    return mutant


def overwrites(_: Verb) -> Verb:
    def mutant(self: MemoryWriter, kind: Kind[Any], rows: Any) -> list[int | None]:
        MemoryWriter.put(self, kind, rows)
        return [row[0] if kind.has_ids else 0 for row in rows]

    return mutant


def keeps_what_failed(_: Verb) -> Verb:
    @contextmanager
    def mutant(self: MemoryStore, *, now: int, **_: Any) -> Iterator[MemoryWriter]:
        with self._ledger.lock:
            writer = MemoryWriter(self._ledger.root, now=now)
            self._thread.moment = writer
            try:
                yield writer
            finally:
                self._ledger.root = dict(writer.root())
                self._thread.moment = None

    return mutant


def takes_no_turns(_: Verb) -> Verb:
    @contextmanager
    def mutant(self: MemoryStore, *, now: int, **_: Any) -> Iterator[MemoryWriter]:
        writer = MemoryWriter(self._ledger.root, now=now)
        yield writer  # what it reads of the store meanwhile is as of before it
        self._ledger.root = dict(writer.root())

    return mutant


def is_a_commit(_: Verb) -> Verb:
    return lambda self: self._write(0, EVERYONE, quiet=False)


def changes_anything(_: Verb) -> Verb:
    @contextmanager
    def mutant(self: MemoryStore) -> Iterator[MemoryWriter]:
        with self._write(0, (), quiet=True) as writer:
            writer._quiet = False
            yield writer

    return mutant


def is_itself(_: Verb) -> Verb:
    @contextmanager
    def mutant(self: MemoryStore) -> Iterator[MemoryStore]:
        yield self

    return mutant


def is_as_of_before(_: Verb) -> Verb:
    @contextmanager
    def mutant(self: MemoryStore) -> Iterator[MemorySnapshot]:
        yield MemorySnapshot(self._ledger.root)

    return mutant


def mutations_of(verb: str) -> list[Mutation]:
    """Return what may be wrong with a verb."""
    special: Mapping[str, list[Mutation]] = {
        "writing": [keeps_what_failed, takes_no_turns],
        "locked": [is_a_commit, changes_anything],
        "snapshot": [is_as_of_before],
        "rehearsal": [is_itself],
        "apart": [is_itself],
        "tenant": [lambda _: property(lambda _: "one")],  # type: ignore[list-item,return-value]
        "name": [lambda _: property(lambda _: "one")],  # type: ignore[list-item,return-value]
    }
    if verb in special:
        return special[verb]
    owner = MemoryWriter if verb in vars(MemoryWriter) else MemoryReads
    given = inspect.signature(vars(owner)[verb]).parameters
    if owner is MemoryWriter:
        found: list[Mutation] = [writes_nothing]
        found += [overwrites] if verb == "add" else []
    else:
        found = [yields_nothing if verb in ("episodes", "facts", "each_text") else finds_nothing]
    if given.keys() & {"filters", "where"}:
        found.append(ignores_filters)
    return found + [ignores(name, value) for name, value in IGNORED.items() if name in given]


def runs(verb: str, kind: Kind[Any] | None) -> Iterator[Callable[[], None]]:
    """Give the tests of a verb, each with a store of its own; of records those of one kind."""
    tests = InMemory()
    for name in verbs_of(InMemory)[verb]:
        test = getattr(tests, name)
        kinds = [
            param.values[0]
            for mark in getattr(test, "pytestmark", ())
            for param in mark.args[1]
            if mark.name == "parametrize"
        ]
        for one in kinds or [None]:
            if kind is not None and one is not kind:
                continue
            path = Path(f"/{next(NAMES)}")
            store = tests.open(path)
            wanted = inspect.signature(test).parameters
            if "store" in wanted:
                fill(store)
            given = {"store": store, "ledger": store, "tmp_path": path, "kind": one}
            yield lambda test=test, given=given, wanted=wanted: test(
                **{name: given[name] for name in wanted}
            )


def survives(
    verb: str, mutation: Mutation, patch: pytest.MonkeyPatch, kind: Kind[Any] | None = None
) -> bool:
    """Tell whether every test of a verb passes though it is broken."""
    tests = [*runs(verb, kind)]
    assert tests
    with patch.context() as broken:
        for one in CLASSES:
            if verb in vars(one):
                broken.setattr(one, verb, mutation(vars(one)[verb]))
        for test in tests:
            try:
                test()
            except (Exception, pytest.fail.Exception):  # noqa: BLE001
                return False
    return True


VERBS = sorted(public_names(Store, Writer) - IDLE - {*RECORDS})


@pytest.mark.parametrize("verb", VERBS)
def test_a_broken_verb_fails_a_test(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert survives(verb, is_whole, monkeypatch)
    survivors = [
        mutation.__name__
        for mutation in mutations_of(verb)
        if survives(verb, mutation, monkeypatch)
    ]
    assert survivors == []


@pytest.mark.parametrize("verb", RECORDS)
def test_a_broken_verb_of_records_fails_a_test_of_each_kind(
    verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert survives(verb, is_whole, monkeypatch)
    survivors = [
        (mutation.__name__, kind.name)
        for mutation in mutations_of(verb)
        for kind in KINDS
        if not (kind.append_only and verb in ("put", "drop"))
        and survives(verb, mutation, monkeypatch, kind)
    ]
    assert survivors == []
