"""Exports: every row becomes a record and comes back from it, over any store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factbook.model.facts import EVERYONE, ME
from factbook.store.kinds import SECRET, Kind
from factbook.store.sqlite import SQLiteStore
from factbook.store.transfer import FORMAT, HEADER, exported, row_of
from factbook.store.transfer.records import SMALL, BadRecord, record_of
from factbook.testing.contract.base import fill, life, writing
from factbook.testing.contract.examples import EXAMPLES
from factbook.testing.memory_store import open_memory
from rows import every


def through_json(record: dict[str, object]) -> dict[str, Any]:
    """Return a record as a file gives it back."""
    found: dict[str, Any] = json.loads(json.dumps(record, ensure_ascii=False))
    return found


@every("kind", [kind for kind in EXAMPLES if kind.name in SMALL])
def test_a_row_comes_back_from_its_record(kind: Kind[Any]) -> None:
    for row in EXAMPLES[kind]:
        record = through_json(record_of(kind.name, row))
        assert record["record"] == kind.name
        assert row_of(record)._asdict() == row._asdict()
        for name in kind.fields:
            with pytest.raises(BadRecord, match=name):
                row_of({**record, name: object()})


def test_an_export_holds_every_row_and_a_header_first(tmp_path: Path) -> None:
    store = open_memory(str(tmp_path))
    fill(store)
    with writing(store) as writer:
        writer.add_facts([life(2, owner="ann", object="hers")])
    header, *records = exported(store, EVERYONE)
    assert (header["record"], header["format"]) == (HEADER, FORMAT)
    assert (header["tenant"], header["owner"], header["embedder"]) == (store.tenant, None, None)
    kinds = [record["record"] for record in records]
    assert kinds == ["source"] * 3 + ["episode"] * 3 + ["fact", "evidence"] * 3 + ["fact"]
    for record in records:
        row_of(through_json(record))


def test_an_export_of_one_owner_has_nothing_of_another(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "m.db")
    fill(store)
    with writing(store) as writer:
        writer.add_facts([life(2, owner="ann", object="hers")])
    mine = [record["object"] for record in exported(store, ME) if record["record"] == "fact"]
    hers = [record for record in exported(store, "ann") if record["record"] != HEADER]
    assert mine == ["tool 1", "tool 2", "tool 3"]
    assert [record["object"] for record in hers] == ["hers"]
    store.close()


def test_more_rows_than_a_page_are_all_there(tmp_path: Path) -> None:
    store = open_memory(str(tmp_path))
    with writing(store) as writer:
        for kind, rows in EXAMPLES.items():
            if kind is not SECRET and kind.has_ids and not kind.unique:
                writer.add(kind, [row._replace(id=0) for row in rows for _ in range(400)])
    counts = dict[str, int]()
    for record in exported(store, EVERYONE):
        name = str(record["record"])
        counts[name] = counts.get(name, 0) + 1
    for kind, rows in EXAMPLES.items():
        if kind.name in SMALL and kind.has_ids and not kind.unique:
            assert counts[kind.name] == 400 * len(rows), kind.name
