"""An export is put back: into an empty memory as it was, into another one without doubling."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factbook import AsyncMemory, Filters, Memory, RejectionFilters
from factbook.errors import UsageError
from factbook.model.facts import EVERYONE
from factbook.pipelines import imported
from factbook.store.kinds import ERASURE, SECRET, Kind, Secret
from factbook.store.rows import LifeWhere
from factbook.store.transfer import exported
from factbook.store.transfer.records import SMALL
from factbook.testing import FrozenClock, sample_episode
from factbook.testing.contract.base import fill, writing
from factbook.testing.contract.examples import EXAMPLES, NEEDS
from factbook.testing.memory_store import open_memory
from killed import killed_after

Record = dict[str, Any]


def opened(folder: Path, name: str = "m.db", **given: Any) -> Memory:
    clock = given.pop("clock", None) or FrozenClock()
    return Memory(folder / name, clock=clock, key_file=folder / "key", model=None, **given)


def lived(memory: Memory) -> None:
    """Let a memory have something of most kinds."""
    memory.tell("My name is Ann. My favorite color is green.", planner="rules")
    memory.tell("My favorite color is blue.", planner="rules")
    oslo = memory.remember("I live in Oslo")
    memory.remember("I have two cats")
    memory.remember("I live in Lier", owner="bo")
    memory.correct(oslo.id, "I live in Bergen")
    memory.interests.like("Brimley Swift")
    memory.interests.dislike("liver")
    memory.interests.learn("Coldplay")
    memory.interests.delete_entity("brimley swift")
    with memory.conversation(session="s1") as talk:
        talk.add_turn("We use PostgreSQL for the shop and I like it.")
        talk.sync_turn("I moved to Tromsø last week", "Noted.")
    memory.add_turn("I work at a mill in Lier", owner="bo")


def plain(records: list[Record]) -> list[Record]:
    """Return records as they are compared: without whose file, and what an import adds."""
    found = []
    for one in records:
        if one["record"] == "export" or (one["record"], one.get("op")) == ("event", "import"):
            continue
        if one["record"] == "fact" and one["status"] in ("active", "pending_embed"):
            one = {**one, "status": "current"}
        found.append(one)
    return found


def records_of(memory: Memory) -> list[Record]:
    return list(memory.export(owner=EVERYONE))


def test_what_was_exported_is_restored_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path) as there, opened(tmp_path, "new.db") as here:
        lived(there)
        there.embed()
        records = records_of(there)
        report = here.import_(records)
        assert report.left == []
        assert (report.unread, report.incomplete, report.known) == (0, 0, {})
        assert plain(records_of(here)) == plain(records)
        assert here.check() == []
        here.embed()
        assert here.check() == []
        assert here.query_facts(owner=EVERYONE) == there.query_facts(owner=EVERYONE)
        for fact in there.query_facts(owner=EVERYONE, include_deprecated=True):
            one = here.explain(fact.id, owner=EVERYONE)
            other = there.explain(fact.id, owner=EVERYONE)
            past = one.history[: len(other.history)]  # its vector was made anew since
            assert dataclasses.replace(one, history=past) == other
        for question in ("Where do I live?", "favorite color", "PostgreSQL"):
            assert here.recall(question).hits == there.recall(question).hits


def test_the_same_file_twice_changes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as there, opened(tmp_path, "new.db") as here:
        lived(there)
        records = records_of(there)
        assert here.import_(records, dry_run=True).added["fact"] > 5
        assert records_of(here)[1:] == []
        here.import_(records)
        before = records_of(here)
        report = here.import_(records)
        assert report.added == {}
        assert records_of(here) == before
        assert here.check() == []


def test_a_part_of_a_file_is_completed_by_the_whole(tmp_path: Path) -> None:
    with opened(tmp_path) as there:
        lived(there)
        records = records_of(there)
    counts = (*range(1, len(records), 7), len(records))
    for n, end in enumerate(counts):
        with opened(tmp_path, f"cut{n}.db") as here:
            here.import_(records[:end])
            assert here.check() == [], end
            again = here.import_(records)
            assert again.left == []
            assert here.check() == [], end
            assert same_but_ids(records_of(here)) == same_but_ids(records), end


def test_an_import_that_was_cut_off_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imported, "_BATCH", 5)
    with opened(tmp_path) as there:
        lived(there)
        records = records_of(there)

    def cut(end: int) -> Iterator[Record]:
        yield from records[:end]
        raise KeyboardInterrupt

    for end in range(2, len(records), 11):
        with opened(tmp_path, f"cut{end}.db") as here:
            with pytest.raises(KeyboardInterrupt):
                here.import_(cut(end))
            assert here.import_(records).left == []
            assert here.check() == [], end
            assert same_but_ids(records_of(here)) == same_but_ids(records), end


def same_but_ids(records: list[Record]) -> list[str]:
    """Return what records say but for numbers, and what an import adds, in no order."""
    found = []
    for one in plain(records):
        if one["record"] in ("event", "pair") or one.get("detail") == {"why": "import"}:
            continue
        found.append(json.dumps({k: v for k, v in one.items() if "id" not in k}, sort_keys=True))
    return sorted(found)


def test_two_memories_are_joined_without_doubling(tmp_path: Path) -> None:
    later = FrozenClock(FrozenClock()() + 60_000)
    with opened(tmp_path, "a.db", clock=later) as here, opened(tmp_path, "b.db") as there:
        here.remember("I have two cats")
        here.tell("My favorite color is red.", planner="rules")
        here.interests.like("Brimley Swift")
        lived(there)
        records = records_of(there)
        report = here.import_(records)
        assert report.left == []
        assert here.check() == []
        [cats] = [one for one in here.query_facts() if "two cats" in one.statement]
        assert cats.evidence_count == 2
        assert color(here) == ["red"]  # what was said later holds the key
        before = records_of(here)
        assert here.import_(records).added == {}
        assert records_of(here) == before
        assert here.check() == []
        there.import_(before)
        assert color(there) == ["red"]
        [red] = there.query_facts(predicate="user.favorites.colors.1")
        past = there.store.lives(LifeWhere(owner="me", under="user.favorites.colors.1"))
        assert {one.object: one.superseded_by for one in past}["blue"] == red.id
        assert there.check() == []


def color(memory: Memory) -> list[str]:
    return [one.object for one in memory.query_facts(predicate="user.favorites.colors.1")]


def test_what_was_erased_stays_erased(tmp_path: Path) -> None:
    with opened(tmp_path, "a.db") as there, opened(tmp_path, "b.db") as here:
        lived(there)
        before = records_of(there)
        here.import_(before)
        [cats] = [one for one in here.query_facts() if "two cats" in one.statement]
        here.erasure.erase_fact(cats.id, whole_episodes=True)
        here.erasure.erase_entity("coldplay")
        assert here.check() == []
        # What the target has erased does not come back by an older export,
        report = here.import_(before)
        assert report.kept_out["fact"] >= 1
        assert "two cats" not in json.dumps(records_of(here))
        assert "oldplay" not in json.dumps(records_of(here))
        assert here.check() == []
        # nor by a log that is read anew after a restore of what had erased it,
        with opened(tmp_path, "c.db") as anew:
            assert anew.import_(records_of(here)).left == []
            assert anew.check() == []
            assert [one.what for one in anew.erasure.erasures()] == ["entity", "fact"]
            anew.import_(before)
            assert "two cats" not in json.dumps(records_of(anew))
        # nor where two have erased, each with its own key.
        with opened(tmp_path, "d.db") as other:
            gone = other.remember("My aunt keeps bees in Lier")
            other.erasure.erase_fact(gone.id, whole_episodes=True)
            other.import_(records_of(here))
            other.import_(before)
            assert "two cats" not in json.dumps(records_of(other))
            assert other.check() == []


def test_the_store_in_memory_is_restored_into_a_file(tmp_path: Path) -> None:
    store = open_memory(str(tmp_path))
    fill(store)
    with opened(tmp_path) as here:
        report = here.import_(exported(store, EVERYONE))
        assert (report.left, report.added["fact"]) == ([], 3)
        assert here.check() == []
        again = [one for one in exported(here.store, EVERYONE) if one["record"] != "event"]
        assert again[1:] == [*exported(store, EVERYONE)][1:]


DAMAGE: dict[str, tuple[str, str]] = {
    "{": ("not_json", ""),
    "[1]": ("not_an_object", ""),
    '{"record": "dream", "id": 1}': ("bad_record", "no records of the kind 'dream'"),
    '{"record": "fact", "id": 7}': ("bad_record", "owner is missing"),
    '{"record": "evidence", "fact_id": 1, "episode_id": "x"}': ("bad_record", "episode_id is no"),
    '{"record": "count", "day": "d", "name": "n", "value": 1e999}': ("not_json", ""),
}


def test_a_bad_line_stops_nothing_and_is_kept_aside(tmp_path: Path) -> None:
    with opened(tmp_path) as there:
        lived(there)
        lines = [json.dumps(one) for one in records_of(there)]
    lines[3:3] = DAMAGE
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(lines) + "\n\n")
    with opened(tmp_path, "new.db") as here:
        report = here.import_(file)
        assert report.unread == len(DAMAGE)
        assert [one.line for one in report.left] == [*range(4, 4 + len(DAMAGE))]
        for one, (reason, detail) in zip(report.left, DAMAGE.values(), strict=True):
            assert one.why.startswith(reason)
            assert detail in one.why
        kept = here.sources.rejections(limit=99, filters=RejectionFilters(owner=EVERYONE))
        assert sorted(one.position for one in kept) == [one.line for one in report.left]
        assert here.check() == []
        assert here.import_(file).added == {}


TOKEN = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


@pytest.mark.parametrize(
    ("line", "planted"),
    [
        (f'{{"record": "episode", "text": "{"x " * 79}{TOKEN}', TOKEN),  # cut within it
        (json.dumps({"record": "dream", "text": f"{'x ' * 75}{TOKEN}"}), TOKEN),
        (json.dumps({"record": TOKEN}), TOKEN),
        (json.dumps({"record": "x " * 30 + TOKEN}), TOKEN),
        ("MIIEpAIBAAKCAQEAw0xTmO7zqYB1pZ8o7f3bq9x4dQy0u6t2g5h8j1k3l5n7p9r0s2u4w6y8", "MIIEpAIBAA"),
    ],
)
@pytest.mark.parametrize("is_graph", [False, True])
def test_nothing_secret_is_kept_or_told_of_a_line_that_cannot_be_read(
    tmp_path: Path, line: str, planted: str, is_graph: bool
) -> None:
    file = tmp_path / "given.jsonl"
    head = {"type": "entity", "name": "Lier", "entityType": "town", "observations": []}
    with opened(tmp_path) as there:
        first = head if is_graph else next(iter(there.export()))
    line = line.replace('"record"', '"type"') if is_graph else line
    file.write_text(f"{json.dumps(first)}\n{line}\n")
    with opened(tmp_path, "new.db") as here:
        here.add_turn("I am Ann and I have two cats", owner="ann")
        report = here.import_(file)
        assert report.unread == 1
        assert here.sources.rejections(filters=RejectionFilters(owner="ann")) == []
        [kept] = here.sources.rejections(limit=9)
        for said in (report.left[0].why, kept.detail, kept.excerpt):
            assert planted[:10] not in said
        assert here.check() == []
    for name in ("new.db", "new.db-wal"):
        if (tmp_path / name).exists():
            assert planted[:10].encode() not in (tmp_path / name).read_bytes()


def test_what_a_damaged_export_lost_is_read_again_where_its_log_is(tmp_path: Path) -> None:
    said = ["My editor is Vim.", "I adopted two goats.", "I live in Lier."]
    log = tmp_path / "chat.jsonl"
    turns = [
        {"id": f"m{n}", "session_id": "0" * 20, "role": "user", "content": text}
        for n, text in enumerate(said)
    ]
    log.write_text("\n".join(["{broken", *map(json.dumps, turns), ""]))
    with opened(tmp_path) as there:
        there.ingest([log])
        records = records_of(there)
    lines = [json.dumps(one) for one in records]
    lines = [one[:40] if "goats" in one else one for one in lines]
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join([*lines, ""]))
    with opened(tmp_path, "damaged.db") as here:
        assert here.import_(file).unread == 1
        here.ingest([log])
        told = here.store.episodes(Filters(), limit=None)
        assert sorted(one.text for one in told) == sorted(said)
        assert here.check() == []
        [read] = [one for one in here.store.sources() if one.source.reader]
        assert (read.lines.lines, read.lines.rejected) == (4, {"not_json": 1})
        assert [one.state for one in here.ingest([log]).files] == ["unchanged"]
    with opened(tmp_path, "whole.db") as here:
        here.import_(records)
        assert [one.state for one in here.ingest([log]).files] == ["unchanged"]


def test_what_a_damaged_export_lost_is_read_again_also_when_the_import_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imported, "_BATCH", 2)
    logs = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for log, words in zip(logs, ("adopted two goats", "work at a mill"), strict=True):
        turn = {"id": words, "session_id": log.stem * 9, "role": "user", "content": f"I {words}."}
        log.write_text(json.dumps(turn) + "\n")
    with opened(tmp_path) as there:
        there.ingest(logs)
        lines = [json.dumps(one) for one in records_of(there)]
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(line[:40] if "two goats" in line else line for line in lines))

    def import_() -> None:
        with opened(tmp_path, f"killed{writes}.db") as here:
            here.import_(file)

    writes = 1
    while killed_after(writes, import_):
        with opened(tmp_path, f"killed{writes}.db") as here:
            here.import_(file)
            here.ingest(logs)
            told = {one.text for one in here.store.episodes(Filters(), limit=None)}
            assert told == {"I adopted two goats.", "I work at a mill."}, writes
            assert here.check() == []
        writes += 1
    assert writes > 4


def test_any_line_may_be_missing(tmp_path: Path) -> None:
    with opened(tmp_path) as there:
        lived(there)
        records = records_of(there)
    for n in range(1, len(records), 3):
        with opened(tmp_path, f"m{n}.db") as here:
            here.import_(records[:n] + records[n + 1 :])
            assert here.check() == [], records[n]


def test_what_is_no_export_is_refused(tmp_path: Path) -> None:
    newer = {"record": "export", "format": 2, "factbook": "9.1"}
    with opened(tmp_path) as here:
        for records, why in (
            ([], "no export"),
            ([{"record": "fact"}], "no export"),
            ([newer], "newer factbook"),
        ):
            with pytest.raises(UsageError, match=why):
                here.import_(records)
        with pytest.raises(UsageError, match="cannot be read"):
            here.import_(tmp_path / "none.jsonl")
        assert here.store.head().commit == 0


def test_an_import_is_redacted_and_trusts_no_more_than_the_file(tmp_path: Path) -> None:
    secret = "hunter2-Tr0ub4dor&3-horse"
    with opened(tmp_path, redact=False) as there:
        there.remember(f"My password is {secret} and I live in Lier")
        store = there.store
        with store.writing(now=1) as writer:
            writer.add_episodes([(1, sample_episode(9, text="our own", injected=True))])
        records = [*exported(store, EVERYONE)]
    assert secret in json.dumps(records)
    [fact] = [one for one in records if one["record"] == "fact"]
    forged = {**fact, "id": 99, "object": "I am king", "statement": "I am king"}
    [proof] = [one for one in records if one["record"] == "evidence"]
    [own] = [one for one in records if one.get("injected") is True]
    records += [forged, {**proof, "fact_id": 99, "episode_id": own["id"], "quote": "our own"}]
    with opened(tmp_path, "new.db") as here:
        report = here.import_(records)
        assert secret not in json.dumps(records_of(here))
        assert secret.encode() not in (tmp_path / "new.db").read_bytes()
        assert [one.kind for one in report.left] == ["fact", "evidence"]
        kept = here.store.whole_episodes([own["id"]])
        assert [(one.episode.injected, one.episode.trust) for one in kept] == [(True, "observed")]
        assert here.check() == []


def test_a_row_of_every_kind_is_restored(tmp_path: Path) -> None:
    with opened(tmp_path) as there, opened(tmp_path, "new.db") as here:
        store = there.store
        fill(store)
        with writing(store) as writer:
            added: set[Kind[Any]] = set()

            def add(kind: Kind[Any]) -> None:
                if kind not in added:
                    added.add(kind)
                    for needed in NEEDS.get(kind, ()):
                        add(needed)
                    writer.add(kind, whole.get(kind, EXAMPLES[kind][:2]))

            whole = {SECRET: [Secret("erase_key", "0" * 64), Secret("erase_key 2", "1" * 64)]}
            for kind in SMALL.values():
                add(kind)
            writer.put(ERASURE, [row._replace(clean=True) for row in EXAMPLES[ERASURE][:2]])
        records = records_of(there)
        assert {one["record"] for one in records} >= SMALL.keys()
        report = here.import_(records)
        assert report.left == []
        before = records_of(here)
        both = [[one for one in rows if one["record"] != "event"] for rows in (before, records)]
        assert both[0][1:] == both[1][1:]
        assert here.import_(records).added == {}
        assert records_of(here) == before


def test_what_the_other_erased_is_named_and_stays_here(tmp_path: Path) -> None:
    with opened(tmp_path, "a.db") as here, opened(tmp_path, "b.db") as there:
        cats = here.remember("I have two cats")
        there.import_(records_of(here))
        there.erasure.erase_fact(there.query_facts()[0].id)
        report = here.import_(records_of(there))
        assert f"f{cats.id}" in report.still_here
        assert here.query_facts() == [cats]
        assert here.check() == []


def test_a_row_that_can_stand_nowhere_is_left_out(tmp_path: Path) -> None:
    with opened(tmp_path) as there:
        lived(there)
        records = records_of(there)
    [pair] = [one for one in records if one["record"] == "pair"]
    fact = next(one for one in records if one["record"] == "fact")
    high = max(one["id"] for one in records if one["record"] == "fact")
    wrong = [
        {"record": "secret", "name": "erase_key 2", "value": "no key"},
        {"record": "secret", "name": "password", "value": "00" * 32},
        {**pair, "verdict": "PERHAPS"},
        {**fact, "id": high + 1, "confidence": 7.0},
        {**fact, "id": high + 2, "owner": " "},
        {**fact, "id": high + 3, "retired_at": 1, "status": "active"},
        {**fact, "id": 1 << 62, "subject": "nobody heard that"},
    ]
    with opened(tmp_path, "new.db") as here:
        report = here.import_([*records, *wrong])
        assert [one.line for one in report.left] == [*range(len(records) + 1, len(records) + 8)]
        assert here.check() == []
        told = here.remember("I have a dog")
        assert told.id <= high + 2
        assert here.erasure.erase_fact(told.id).receipt.erased["facts"] >= 1


def test_an_event_loop_imports_too(tmp_path: Path) -> None:
    with opened(tmp_path) as there:
        there.remember("I have two cats")
        records = records_of(there)

    async def imported() -> int:
        async with AsyncMemory(tmp_path / "n.db", key_file=tmp_path / "key", model=None) as here:
            return (await here.import_(records)).added["fact"]

    assert asyncio.run(imported()) == 1
