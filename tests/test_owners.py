"""What one owner said reaches no other owner, by whatever way a memory is read."""

from __future__ import annotations

import inspect
import json
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from factbook import EVERYONE, Memory
from factbook.errors import FactbookError, NotFound, UsageError
from factbook.memory.aio import AsyncConversation
from factbook.memory.conversation import Conversation
from factbook.model.entities import SearchState
from factbook.store.rows import Filters, RejectionFilters
from factbook.surface.cli import group, run
from factbook.testing import FrozenClock
from memory_parts import bound, methods, public
from rows import every

NOW = 1_790_000_000_000
HERS = "My salary is 48211770 euros a year."
MINE = "My salary is 39007 euros a year."
ASKED = "What is my salary?"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("owners")
    with Memory(folder / "m.db", key_file=folder / "key", clock=FrozenClock(NOW)) as made:
        for owner, said in (("ann", HERS), ("me", MINE)):
            made.remember(said, owner=owner)
            for turn in (said, "And the rent is due on Monday."):
                made.add_turn(turn, session="desk", owner=owner)  # one conversation, two people
        made.embed()
        yield made
        assert made.check() == []


@pytest.fixture(scope="module")
def copied(memory: Memory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Another one that says the same, for what may change it."""
    folder = tmp_path_factory.mktemp("copied")
    memory.store._file.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(memory.path, folder / "m.db")
    key = memory.path.parent / "key"
    with Memory(folder / "m.db", key_file=key, clock=FrozenClock(NOW), model=None) as made:
        yield made
        assert made.check() == []


def test_a_read_that_names_nobody_is_about_me(memory: Memory) -> None:
    hits = memory.search_memory(ASKED)
    assert any("39007" in one.text for one in hits)
    read = [
        hits,
        memory.recall(ASKED),
        memory.conversation().prefetch(ASKED),
        memory.context(ASKED),
        memory.query_facts(),
        memory.sources.timeline(),
        memory.sources.sessions(),
        memory.sources.rejections(),
        memory.conversation(session="desk").queue_prefetch(ASKED)
        and memory.take_prefetched("desk"),
    ]
    assert [one for one in read if "48211770" in repr(one)] == []


def test_an_owner_that_is_named_is_the_only_one(memory: Memory) -> None:
    about = Filters(owner="ann")
    read = [
        memory.search_memory(ASKED, owner="ann"),
        memory.recall(ASKED, owner="ann").hits,
        memory.recall(ASKED, filters=about).hits,
        memory.conversation(owner="ann").prefetch(ASKED),
        memory.query_facts(owner="ann"),
    ]
    assert all("48211770" in repr(one) and "39007" not in repr(one) for one in read)


def test_everybody_is_asked_for_by_one_value_that_is_no_text(memory: Memory) -> None:
    found = repr(memory.query_facts(owner=EVERYONE))
    assert "48211770" in found
    assert "39007" in found
    found = repr(memory.recall(ASKED, filters=Filters(owner=EVERYONE)).hits)
    assert repr(memory.recall(ASKED, owner=EVERYONE).hits) == found
    assert "48211770" in found
    assert "39007" in found
    for text in ("everyone", "EVERYONE", "Everyone.EVERYONE", "*", "all"):
        assert text != EVERYONE
        assert memory.query_facts(owner=text) == []


@pytest.mark.parametrize("owner", ["", " ", "\n", None, 3])
def test_an_owner_without_a_name_is_refused_and_not_everybody(memory: Memory, owner: str) -> None:
    for read in (
        lambda: memory.query_facts(owner=owner),
        lambda: memory.search_memory(ASKED, owner=owner),
        lambda: memory.recall(ASKED, owner=owner),
        lambda: memory.context(ASKED, owner=owner),
        lambda: memory.take_prefetched("desk", owner=owner),
        lambda: memory.sources.sessions(owner=owner),
        lambda: memory.background.notifier(owner=owner),
        lambda: memory.add_turn("Hello.", owner=owner),
        lambda: Filters(owner=owner),
        lambda: RejectionFilters(owner=owner),
    ):
        with pytest.raises(UsageError, match="owner"):
            read()


def test_a_new_owner_in_a_file_of_one_is_not_shown_to_the_other(tmp_path: Path) -> None:
    """While all is one owner's, no row is asked whose it is; that ends with the first other row."""
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", clock=FrozenClock(NOW)) as memory:
        memory.remember(MINE)
        assert "39007" in repr(memory.recall(ASKED).hits)
        assert memory.recall(ASKED, filters=Filters(owner="ann")).hits == []
        memory.remember(HERS, owner="ann")
        assert "48211770" not in repr(memory.recall(ASKED).hits)
        assert "39007" not in repr(memory.recall(ASKED, filters=Filters(owner="ann")).hits)
        assert memory.check() == []


# --- every public way -----------------------------------------------------------------------------

# What looks after the whole file, or works for all owners: it names no owner, and what it returns
# says nothing of what anybody said. `sql` and `find_residues` show what whoever calls them already
# names.
WHOLE = frozenset(
    [
        "erasure.allow_again",
        "background.worker",
        "check",
        "maintenance.outdated",
        "maintenance.consolidate",
        "maintenance.embed",
        "background.clean",
        "close",
        "consolidate",
        "conversation",
        "maintenance.cost",
        "embed",
        "erasure.erasures",
        "typed.extract_commands",
        "typed.extract_turns",
        "typed.turns_waiting",
        "typed.extract_typed",
        "erasure.finish_erasing",
        "background.loops",
        "maintenance.model_tasks",
        "background.plan_learning",
        "read_directives",
        "sources.record",
        "maintenance.read_by_others",
        "maintenance.reembed",
        "maintenance.reread",
        "typed.rebuild_record",
        "typed.record_state",
        "typed.rejection_summary",
        "reopen",
        "maintenance.retry_aside",
        "background.retry_searches",
        "maintenance.retry_tasks",
        "keyed.retry_told",
        "maintenance.rule_uses",
        "background.run_enrichment",
        "background.run_extraction",
        "background.run_schedules",
        "background.run_searches",
        "maintenance.runs",
        "maintenance.set_aside",
        "erasure.find_residues",
        "sql",
        "erasure.standing",
        "stats",
        "maintenance.take_back_secret",
        "maintenance.told_secrets",
        "maintenance.waiting",
        "background.work",
    ]
)
READ_WHOLE = [
    "check",
    "maintenance.cost",
    "erasure.erasures",
    "maintenance.model_tasks",
    "maintenance.read_by_others",
    "typed.rejection_summary",
    "maintenance.rule_uses",
    "maintenance.runs",
    "maintenance.set_aside",
    "stats",
    "maintenance.told_secrets",
    "maintenance.waiting",
]
WHOLE_COMMANDS = {
    "doctor", "embed", "extract", "install-timer", "reembed", "reread", "predicates", "secrets",
    "sql", "stats", "version", "worker",
}  # fmt: skip
GIVEN = {
    **dict.fromkeys(("question", "query", "text", "request", "topic", "message", "user"), ASKED),
    **dict.fromkeys(("which", "name", "entity"), "salary"),
    "session": "desk",
    "turns": (),
    "emoji": "👍",
    **dict.fromkeys(("entities", "relations", "observations", "exported", "hits"), ()),
    "names": ("salary",),
    "episode": "none",
    "target": "e1",
    "every_ms": 3_600_000,
    "place": 1,
    "right": True,
    "accept": False,
    "key": "user.salary",
    "summary": HERS,
    "ids": (1, 2),
    "what": 1,
    "source": "none",
    "rejection_id": 1,
    "entity_id": 1,
    "preference_id": 1,
    "fact_ids": (1, 2, 3),
    "states": tuple(SearchState),
    "run_id": 1,
    "verdicts": {},
    "path": Path("none.toml"),
}
ELSEWHERE = frozenset(  # they take values that only their own tests make, and an owner with them
    ["keyed.apply_facts", "keyed.apply_quoted", "keyed.execute_plan", "typed.keep_verdict"]
)


def read(value: object) -> str:
    """Return all that a caller can see of a value."""
    if inspect.isgenerator(value):
        value = list(value)
    return repr(value)


def tried(memory: Memory, name: str, **more: object) -> str:
    """Call a method with something for all that it requires; return what can be seen of it."""
    method = bound(memory, name)
    hers = memory.query_facts(owner="ann")[0]
    known = {**GIVEN, "owner": "me", "fact_id": hers.id, "episode_id": 2, "proposal_id": 1}
    needed = {
        one.name: known[one.name]
        for one in inspect.signature(method).parameters.values()
        if one.default is inspect.Parameter.empty and one.name not in more
    }
    try:
        return read(method(**needed, **more))
    except FactbookError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("awaited", [False, True])
def test_every_public_method_is_of_an_owner_or_of_the_whole_file(awaited: bool) -> None:
    """A new one without an owner fails here: say whose it is, or why it is nobody's."""
    for name, method in methods(awaited=awaited).items():
        taken = inspect.signature(method).parameters
        owned = "owner" in taken or "filters" in taken
        assert owned is (name not in WHOLE or name == "conversation"), name
    bound = set(public(Conversation))
    assert not any(
        "owner" in inspect.signature(one).parameters for one in public(Conversation).values()
    )
    assert bound == set(public(AsyncConversation))


@every("name", sorted(set(methods()) - WHOLE - ELSEWHERE - {"background.notifier"}))
def test_no_method_shows_one_owner_what_another_said(copied: Memory, name: str) -> None:
    named = {"owner": "bob"} if name == "erasure.erase_owner" else {}
    assert "48211770" not in tried(copied, name, **named)


@pytest.mark.parametrize("name", READ_WHOLE)
def test_what_is_read_of_the_whole_file_is_nobodys_words(memory: Memory, name: str) -> None:
    said = tried(memory, name)
    assert "48211770" not in said
    assert "39007" not in said


@every("name", sorted(set(methods()) - WHOLE - ELSEWHERE))
@every("owner", ["", EVERYONE])
def test_an_owner_is_checked_before_anything_is_done(memory: Memory, name: str, owner: str) -> None:
    method = bound(memory, name)
    hint = method.__annotations__.get("owner")
    if hint is None or (owner is EVERYONE and hint != "str"):
        return  # it takes filters, which check theirs, or it may read about everybody
    before = memory.store.head().commit
    assert tried(memory, name, owner=owner).startswith("UsageError: ")
    assert memory.store.head().commit == before


Said = Callable[..., str]


@pytest.fixture
def said(
    copied: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Said:
    """Run a command on a file of two owners; return all that it shows."""
    hers = copied.query_facts(owner="ann")[0]

    def shown(*words: str) -> str:
        asked = [one.format(asked=ASKED, fact=f"f{hers.id}") for one in words]
        run(["--db", str(copied.path), *asked])
        done = capsys.readouterr()
        assert done.out + done.err  # it says something
        return done.out + done.err

    monkeypatch.setenv("FACTBOOK_KEY_FILE", str(copied.resources._key_file))
    return shown


def test_every_command_is_of_an_owner_or_of_the_whole_file() -> None:
    commands = group().commands
    whole = {
        name
        for name, one in commands.items()
        if not any("--owner" in option.opts for option in one.params)
    }
    assert whole == WHOLE_COMMANDS


@every(
    "line",
    [
        "recall {asked}",
        "facts",
        "facts --json",
        "facts --evidence",
        "search {asked}",
        "context {asked}",
        "timeline",
        "sessions",
        "rejections",
        "explain {fact}",
        "explain {fact} --json",
        "pin {fact}",
        "feedback {fact} right",
        "correct {fact} nonsense",
        "unmerge {fact}",
        "review",
        "export",
        "export --format csv-facts",
        "memory",
        "interests",
        "notices",
        "stats",
        "consolidate --dry-run",
        "runs",
        "doctor",
        "ask {asked} --planner rules",
    ],
)
def test_no_command_shows_one_owner_what_another_said(said: Said, line: str) -> None:
    assert "48211770" not in said(*line.split(" "))


def test_a_command_that_finds_nothing_says_how_to_ask_about_others(said: Said) -> None:
    assert "--all-owners" in said("facts", "--owner", "bob")
    assert "48211770" not in said("facts", "--owner", "bob")
    assert "ann" not in said("facts", "--owner", "bob")
    assert "48211770" in said("facts", "--owner", "ann")
    assert "48211770" in said("facts", "--all-owners")
    assert "48211770" in said("export", "--all-owners")
    assert "39007" not in said("export", "--owner", "ann")
    assert "against each other" in said("facts", "--owner", "ann", "--all-owners")


@pytest.mark.parametrize(
    "line", ["facts", "like tea", "remember tea", "interests", "erase f1 --dry-run", "tell tea"]
)
@pytest.mark.parametrize("name", ["", " "])
def test_every_command_says_what_to_do_where_the_owner_has_no_name(
    said: Said, line: str, name: str
) -> None:
    told = said(*line.split(" "), "--owner", name)
    assert "--owner is empty; name somebody, or leave it out for yourself" in told
    assert "EVERYONE" not in told


# --- by number ------------------------------------------------------------------------------------


def _rows_of_ann(memory: Memory) -> list[str]:
    """Give ann a row of every kind that has a number; return what they are called."""
    memory.interests.like("rye bread", owner="ann")
    memory.interests.learn("brimley swift", owner="ann")
    memory.interests.schedule("brimley swift", 3_600_000, owner="ann")
    rows = memory.sql(
        "SELECT 'f' || id AS name FROM fact_row WHERE owner = 'ann'"
        " UNION ALL SELECT 'e' || id FROM episode_row WHERE owner = 'ann'"
        " UNION ALL SELECT DISTINCT 's' || source_id FROM episode_row WHERE owner = 'ann'"
        " UNION ALL SELECT 'n' || id FROM entity_row WHERE owner = 'ann'"
        " UNION ALL SELECT 'p' || id FROM preference_row WHERE owner = 'ann'"
        " UNION ALL SELECT 'l' || id FROM learn_prompt_row WHERE owner = 'ann'"
        " UNION ALL SELECT 'c' || id FROM schedule_row WHERE owner = 'ann'"
    )
    return [str(one["name"]) for one in rows]


def test_a_number_of_another_owner_erases_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", clock=FrozenClock(NOW)) as memory:
        memory.remember(HERS, owner="ann")
        names = _rows_of_ann(memory)
        assert {one[0] for one in names} == set("fesplcn")
        before = memory.store.head().commit
        for name in names:
            for dry in (True, False):
                with pytest.raises(NotFound):
                    memory.erasure.erase_row(name, dry_run=dry)
        with pytest.raises(NotFound):
            memory.erasure.erase_fact(int(names[0][1:]), owner="bob")
        assert memory.store.head().commit == before
        for name in names:  # where it is said whose it is, or that it does not matter
            assert memory.erasure.erase_row(name, owner="ann", dry_run=True).receipt.erased
            assert memory.erasure.erase_row(name, owner=EVERYONE, dry_run=True).receipt.erased
        assert memory.check() == []


def _chat_of_ann(folder: Path) -> Path:
    """Write a chat whose turns are of its conversation, with a line that cannot be read."""
    chat = folder / "divorce.jsonl"
    turn = {"id": "m1", "session_id": str(uuid.UUID(int=7)), "role": "user", "content": HERS}
    chat.write_text(f'{json.dumps(turn)}\n{{"role": "user", "content": "I leave Gerda \n')
    return chat


@pytest.mark.parametrize("folder", ["plain", "odd?owner=me"])
def test_a_line_that_cannot_be_read_is_of_whom_its_file_was_read_for(
    tmp_path: Path, folder: str
) -> None:
    (tmp_path / folder).mkdir()
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", clock=FrozenClock(NOW)) as memory:
        memory.ingest([_chat_of_ann(tmp_path / folder)], owner="ann")
        memory.remember("I have two cats")
        assert memory.sources.rejections() == []
        [line] = memory.sources.rejections(filters=RejectionFilters(owner="ann"))
        assert "Gerda" in line.excerpt
        file = next(one for one in memory.store.sources() if one.source.uri == line.source)
        for row in (f"r{line.id}", f"s{file.id}"):
            with pytest.raises(NotFound):
                memory.erasure.erase_row(row)
        assert memory.erasure.erase_owner("ann").nothing_left
        for said in ("Gerda", "divorce"):
            left = memory.erasure.find_residues(said)
            assert (left.rows, left.in_file) == ([], False)
        assert memory.check() == []


def test_a_number_of_another_owner_decides_and_parts_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", clock=FrozenClock(NOW)) as memory:
        ids = tuple(memory.remember(one, owner="ann").id for one in (HERS, "I live in Ulm."))
        with pytest.raises(NotFound):
            memory.review.settle({(ids[0], ids[1]): "KEEP_BOTH"})
        with pytest.raises(UsageError, match="do not wait"):
            memory.review.settle({(ids[0], ids[1]): "KEEP_BOTH"}, owner="ann")
        memory.interests.like("rye bread", owner="ann")
        (entity,) = memory.interests.entities(owner="ann")
        with pytest.raises(NotFound):
            memory.interests.unmerge_entity(entity.id)
        assert memory.check() == []


def test_a_night_is_undone_for_one_owner_alone(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", clock=FrozenClock(NOW)) as memory:
        for owner in ("me", "ann"):
            memory.add_turn("I live in Ulm.", owner=owner)
        run_id = memory.consolidate().run_id
        assert memory.maintenance.undo(run_id, owner="bob").receipt.reverted == 0
        assert memory.maintenance.undo(run_id).receipt.reverted
        assert [one.object for one in memory.query_facts(owner="ann")] == ["I live in Ulm."]
        assert memory.query_facts() == []
        assert memory.maintenance.runs()[0].state == "done"
        assert memory.maintenance.undo(run_id, owner=EVERYONE).state == "undone"
        assert memory.query_facts(owner="ann") == []
        assert memory.check() == []


def test_erasing_by_number_on_the_command_line_asks_whose_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--owner` beside a number says whose it is; alone it is all of theirs."""
    path, key = tmp_path / "m.db", tmp_path / "key"
    with Memory(path, key_file=key, clock=FrozenClock(NOW)) as memory:
        memory.remember("I like rye bread.")
        hers = f"f{memory.remember(HERS, owner='ann').id}"
        memory.remember("I live in Ulm.", owner="ann")

    def erase(*words: str) -> int:
        return run(["--db", str(path), "erase", "--yes", hers, *words])

    assert erase() != 0
    assert "all owners" in capsys.readouterr().err
    assert erase("--dry-run", "--all-owners") == 0
    assert erase("--owner", "ann") == 0
    with Memory(path, key_file=key, clock=FrozenClock(NOW)) as memory:
        assert [one.object for one in memory.query_facts(owner="ann")] == ["I live in Ulm."]
        assert len(memory.query_facts()) == 1
        assert memory.check() == []
