"""What the five verbs of records promise, for rows of every kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from factbook.errors import UsageError
from factbook.model.facts import EVERYONE
from factbook.store.kinds import KINDS, LEASE, Above, Below, Kind, Least, Other, Tally, Where
from factbook.store.port import Store, Writer, first
from factbook.testing.contract.base import Contract, of, writing
from factbook.testing.contract.examples import EXAMPLES, NEEDS


def every(kind: Kind[Any]) -> Where:
    return {"owner": EVERYONE} if "owner" in kind.fields else {}


def key(kind: Kind[Any], row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in kind.key}


def give_needs(writer: Writer, kind: Kind[Any]) -> None:
    for needed in NEEDS.get(kind, ()):
        writer.add(needed, EXAMPLES[needed][:2])


def added(store: Store, kind: Kind[Any]) -> tuple[Any, Any]:
    example, other, _ = EXAMPLES[kind]
    with writing(store) as writer:
        give_needs(writer, kind)
        ids = writer.add(kind, [example, other])
    assert ids == ([example.id, other.id] if kind.has_ids else [0, 0])
    return example, other


def these(kinds: Iterable[Kind[Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kind", [pytest.param(kind, id=kind.name) for kind in kinds])


kinds = these(KINDS)
changing = these(kind for kind in KINDS if not kind.append_only)


class RecordContract(Contract):
    def test_every_kind_has_examples(self) -> None:
        assert {*EXAMPLES} == {*KINDS}  # a kind without examples has no test

    @of("find", "add")
    @kinds
    def test_what_is_added_is_found(self, store: Store, kind: Kind[Any]) -> None:
        row, other = added(store, kind)
        assert store.find(kind, every(kind)) == [row, other]
        assert store.find(kind, every(kind), newest_first=True) == [other, row]
        assert store.find(kind, every(kind), limit=1) == [row]
        assert [type(part) for part in store.find(kind, every(kind))[0]] == [type(x) for x in row]
        assert first(store, kind, key(kind, other)) == other
        assert store.find(kind, {**every(kind), kind.key[0]: []}) == []
        with writing(store) as writer:
            assert writer.find(kind, every(kind)) == [row, other]

    @of("find")
    @kinds
    def test_every_field_may_be_asked_that_is_declared(self, store: Store, kind: Kind[Any]) -> None:
        rows = added(store, kind)
        for name in (*kind.key, *kind.unique, *kind.asked):
            values = [getattr(row, name) for row in rows]
            for value in values:
                same = [row for row in rows if getattr(row, name) == value]
                assert store.find(kind, {**every(kind), name: value}) == same
            if None not in values:
                assert store.find(kind, {**every(kind), name: values}) == [*rows]
                best = [row for row in rows if getattr(row, name) == max(values)]
                assert store.find(kind, {**every(kind), name: Least(max(values))}) == best
                assert store.find(kind, {**every(kind), name: Below(min(values))}) == []
                others = [row for row in rows if getattr(row, name) != values[0]]
                assert store.find(kind, {**every(kind), name: Other(values[0])}) == others
                more = [row for row in rows if getattr(row, name) > min(values)]
                assert store.find(kind, {**every(kind), name: Above(min(values))}) == more
            assert store.find(kind, {**every(kind), name: EVERYONE}) == [*rows]

    @of("add")
    @kinds
    def test_a_row_is_added_once(self, store: Store, kind: Kind[Any]) -> None:
        row, other = added(store, kind)
        again = EXAMPLES[kind][2]
        with writing(store) as writer:
            assert writer.add(kind, [again]) == [None]
            if kind.has_ids and kind.unique:
                assert writer.add(kind, [again._replace(id=0)]) == [None]
        assert store.find(kind, every(kind)) == [row, other]

    @of("add")
    @these(kind for kind in KINDS if kind.has_ids)
    def test_the_store_gives_ids(self, store: Store, kind: Kind[Any]) -> None:
        example, other, _ = EXAMPLES[kind]
        with writing(store) as writer:
            give_needs(writer, kind)
            assert writer.add(kind, [example._replace(id=0), other._replace(id=0)]) == [1, 2]
        assert [row.id for row in store.find(kind, every(kind))] == [1, 2]

    @of("put")
    @changing
    def test_what_is_put_stands_for_what_was_there(self, store: Store, kind: Kind[Any]) -> None:
        example, other, changed = EXAMPLES[kind]
        with writing(store) as writer:
            give_needs(writer, kind)
        for _ in range(2):
            with writing(store) as writer:
                writer.put(kind, [example, other])
            assert store.find(kind, every(kind)) == [example, other]
        for _ in range(2):
            with writing(store) as writer:
                writer.put(kind, [changed])
            assert store.find(kind, every(kind)) == [example, changed]

    @of("drop")
    @changing
    def test_what_is_dropped_is_gone(self, store: Store, kind: Kind[Any]) -> None:
        row, other = added(store, kind)
        with writing(store) as writer:
            assert [writer.drop(kind, key(kind, row)) for _ in range(2)] == [1, 0]
            assert writer.find(kind, every(kind)) == [other]
            assert writer.drop(kind, every(kind)) == 1
        assert store.find(kind, every(kind)) == []

    @of("put", "drop")
    @these(kind for kind in KINDS if kind.append_only)
    def test_what_is_appended_is_never_changed(self, store: Store, kind: Kind[Any]) -> None:
        rows = [*added(store, kind)]
        with writing(store) as writer, pytest.raises(UsageError):
            writer.put(kind, [EXAMPLES[kind][2]])
        with writing(store) as writer, pytest.raises(UsageError):
            writer.drop(kind, key(kind, rows[0]))
        assert store.find(kind, every(kind)) == rows

    @of("tally")
    @kinds
    def test_rows_are_counted_by_their_fields(self, store: Store, kind: Kind[Any]) -> None:
        rows = added(store, kind)
        assert store.tally(kind, kind.key, every(kind)) == {
            tuple(key(kind, row).values()): Tally(1) for row in rows
        }
        assert store.tally(kind, kind.key, {**every(kind), kind.key[0]: ()}) == {}
        for name in kind.asked:
            values = [getattr(row, name) for row in rows]
            counts = {(value,): Tally(values.count(value)) for value in values}
            assert store.tally(kind, [name], every(kind)) == counts
            known = [value for value in values if value is not None]
            told = Tally(len(rows), max(known, default=None), len({*known}))
            assert store.tally(kind, [], every(kind), most=name, distinct=name) == {(): told}
        assert store.tally(kind, [], {**every(kind), kind.key[0]: ()}) == {}
        with pytest.raises(UsageError):
            store.tally(kind, [], every(kind), most="no such")

    @of("find", "tally", "drop")
    @kinds
    def test_no_field_is_asked_that_is_not_declared(self, store: Store, kind: Kind[Any]) -> None:
        unknown = {*kind.fields, "no such"} - {*kind.key, *kind.unique, *kind.asked}
        for name in sorted(unknown):
            where = {**every(kind), name: 1}
            with pytest.raises(UsageError):
                store.find(kind, where)
            with pytest.raises(UsageError):
                store.tally(kind, [name], every(kind))
            with writing(store) as writer, pytest.raises(UsageError):
                writer.drop(kind, where)

    @of("find", "tally", "drop")
    @these(kind for kind in KINDS if "owner" in kind.fields)
    def test_rows_with_owners_are_asked_for_with_one(self, store: Store, kind: Kind[Any]) -> None:
        without: Sequence[Where] = [{}, {"owner": ""}, {"owner": " "}]
        for where in without:
            with pytest.raises(UsageError):
                store.find(kind, where)
            with pytest.raises(UsageError):
                store.tally(kind, kind.key, where)
            with writing(store) as writer, pytest.raises(UsageError):
                writer.drop(kind, where)

    @of("locked")
    def test_a_quiet_write_moves_no_number_and_changes_no_memory(self, store: Store) -> None:
        before = store.head()
        with store.locked() as writer:
            for kind in KINDS:
                if kind.quiet:
                    writer.add(kind, EXAMPLES[kind][:1])
                    writer.put(kind, EXAMPLES[kind][1:2])
                    continue
                with pytest.raises(UsageError):
                    writer.add(kind, EXAMPLES[kind][:1])
                with pytest.raises(UsageError):
                    writer.put(kind, EXAMPLES[kind][:1])
                with pytest.raises(UsageError):
                    writer.drop(kind, every(kind))
        assert store.head() == before
        assert store.find(LEASE) == [*EXAMPLES[LEASE][:2]]
