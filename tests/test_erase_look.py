"""After an erasure: where its names, values and runs of words still stand, through every door."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conftest import Cli
from erased_scenes import BACKGROUND, SCENES, Scene
from factbook.errors import NotFound, UsageError
from factbook.extract.identifying import BETWEEN, Gone, How, Telltales
from factbook.maintenance.erasure import Erased
from factbook.memory import Memory
from factbook.memory.aio import AsyncMemory
from factbook.model.facts import Role, Trigger
from factbook.model.ops import Propose, RecordInjection
from factbook.store.derived.counts import row_counts
from factbook.surface.chat.slash import invoke
from factbook.surface.output import Page

# --- what gives a text away -----------------------------------------------------------------------


def told(scene: Scene) -> tuple[list[bool], list[bool], int]:
    """Return for each kept row and each row beside whether it is told, and how many others are."""
    rows = [
        *((f"k{n}", text) for n, (text, _) in enumerate(scene.kept)),
        *((f"b{n}", text) for n, (text, _) in enumerate(scene.beside)),
        *((f"g{n}", text) for n, text in enumerate(BACKGROUND)),
    ]
    beside = frozenset(f"b{n}" for n in range(len(scene.beside)))
    found = {one.key for one in Telltales([Gone(scene.gone, How.SAID)]).look(rows, beside=beside)}
    return (
        [f"k{n}" in found for n in range(len(scene.kept))],
        [f"b{n}" in found for n in range(len(scene.beside))],
        sum(one.startswith("g") for one in found),
    )


@pytest.mark.parametrize(
    ("half", "missed", "false"), [(0, 1, 1), (1, 0, 4)], ids=["fitted to", "kept aside"]
)
def test_what_still_tells_of_it_is_told_and_ordinary_words_are_not(
    half: int, missed: int, false: int
) -> None:
    """Of 25 rows that tell in each half, and 55 and 59 that do not, and the talk of every day."""
    misses, alarms = [], []
    for scene in SCENES[half::2]:
        rows, beside, others = told(scene)
        for (text, tells), is_told in zip(scene.kept, rows, strict=True):
            misses += [text] * (tells and not is_told)
            alarms += [text] * (is_told and not tells)
        alarms += [
            text
            for (text, tells), one in zip(scene.beside, beside, strict=True)
            if one and not tells
        ]
        alarms += ["the talk of every day"] * others
    assert len(misses) <= missed, misses
    assert len(alarms) <= false, alarms


def test_an_answer_right_beside_that_names_nothing_is_told() -> None:
    pairs = [
        (tells, is_told)
        for scene in SCENES
        for (_, tells), is_told in zip(scene.beside, told(scene)[1], strict=True)
    ]
    assert sum(tells and is_told for tells, is_told in pairs) >= 9
    assert sum(tells for tells, _ in pairs) == 11
    assert not any(is_told for tells, is_told in pairs if not tells)


def test_what_nearly_every_row_has_is_counted_and_not_named() -> None:
    tells = Telltales([Gone("Tamsin paid Bernadette 84,500", How.SAID)])
    rows = [(f"e{n}", f"Bernadette wrote line {n}") for n in range(400)]
    found = tells.look([*rows, ("e900", "tamsin called")], beside=frozenset())
    assert [one.key for one in found] == ["e900"]
    assert [one.words for one in tells.common] == [("bernadette",)]
    assert [
        one.key
        for one in Telltales([Gone("Bernadette", How.NAME)]).look(rows[:30], beside=frozenset())
    ] == [f"e{n}" for n in range(30)]  # but what was asked for by name is always named


@pytest.mark.parametrize(
    ("gone", "kept", "is_told"),
    [
        ("Shown from memory: be71 (f3)", "Shown from memory: lena (f4)", False),
        ("Rose called", "we met Rose", True),
        ("we met Rose", "Rose called", True),
    ],
)
def test_a_word_with_which_both_sentences_begin_is_no_name(
    gone: str, kept: str, is_told: bool
) -> None:
    found = Telltales([Gone(gone, How.SAID)]).look([("e1", kept)], beside=frozenset())
    assert bool(found) is is_told


def test_of_a_row_right_beside_its_text_is_shown_and_not_its_number() -> None:
    tells = Telltales([Gone("My landlord Karel is called Karel", How.SAID)])
    row = BETWEEN.join(["My landlord is called Ludo.", "demo-2026-11-21", "task_7404ba34"])
    (found,) = tells.look([("e2", row)], beside=frozenset({"e2"}))
    assert tells.again(found, row).shown() == "My landlord is called Ludo."
    long = "My landlord " + "is called Ludo " * 9
    assert tells.again(found, long).shown().endswith("…")


def test_a_short_run_at_the_end_of_a_text_is_in_its_place() -> None:
    """Beside a longer one that begins with the same word."""
    tells = Telltales([Gone("Vexburgh fair", How.FACT), Gone("Vexburgh fair is red", How.FACT)])
    (found,) = tells.look([("e1", "to the Vexburgh fair")], beside=frozenset())
    assert tells.again(found, found.text).shown() == "to the V████████████"


def test_much_that_goes_at_once_is_looked_for_in_much_that_stays() -> None:
    """More than one automaton holds: each text is read once, however many tells there are."""
    gone = [
        Gone(f"Vex{n}burgh owes {n + 10_000} to the old house of Zor{n}ak", How.SAID)
        for n in range(1, 800)
    ]
    tells = Telltales(gone)
    assert len(tells) > 2_000
    rows = [("e1", "the old house is closed"), ("e2", "10,799 it was"), ("e3", "zor7ak called")]
    assert {one.key for one in tells.look(rows, beside=frozenset())} == {"e2", "e3"}


def test_the_words_around_are_shown_and_the_name_is_not() -> None:
    tells = Telltales([Gone("my sister Tamsin is ill", How.SAID)])
    (found,) = tells.look(
        [("e1", "x" * 90 + " we met tamsin and Tamsin's dog " + "y" * 90)], beside=frozenset()
    )
    found = tells.again(found, found.text)
    assert "amsin" not in found.shown()
    assert "t█████" in found.shown()
    assert "T███████ dog" in found.shown()
    assert len(found.shown()) < 70


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60),
    st.text(max_size=30),
)
@example("00\x1f", "")
@example("Anna Berg\x1fRiga", "")
def test_a_text_that_stands_whole_is_never_passed_over(gone: str, around: str) -> None:
    """Whatever it is made of; but for one everyday word, or none that means anything."""
    tells = Telltales([Gone(gone, How.FACT)])
    whole = [one for one in tells.tells if one.most is None]
    found = tells.look([("e1", f"{around}\n{gone}\n{around}")], beside=frozenset())
    assert bool(found) >= bool(whole)
    for one in found:
        assert tells.again(one, one.text).shown()


# --- in a memory ----------------------------------------------------------------------------------


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", model=None) as memory:
        yield memory
        assert memory.check() == []


def rows_of(done: Erased) -> dict[str, str]:
    assert done.standing is not None
    return {one.row: one.what for one in done.standing.rows}


def test_every_kind_of_row_is_looked_at_and_can_be_erased_by_its_name(memory: Memory) -> None:
    memory.add_turn("My sister Tamsin Vexburgh owes me money", session="one")
    memory.add_turn("she will pay you back", role=Role.ASSISTANT, session="one")
    memory.remember("Vexburgh is where I was born")
    memory.interests.like("Vexburgh beer")
    memory.interests.learn("history of vexburgh")
    memory.interests.schedule("vexburgh weather", 86_400_000)
    memory.add_turn("nothing to see", session="vexburgh-trip")
    memory._context.write(
        [Propose(kind="predicate", key="k", title="lives in Vexburgh", payload={})], Trigger.COMMAND
    )
    done = memory.erasure.erase_episode(1)
    found = rows_of(done)
    assert {one[0] for one in found} == {"e", "f", "n", "p", "l", "c", "t", "s", "o"}
    assert not done.nothing_left
    for _ in range(4):  # what one leaves is named by the next
        for row in sorted(found, key=lambda one: "otqclpnfes".index(one[0])):
            try:
                last = memory.erasure.erase_row(row)
            except NotFound:
                continue  # it went with another
        found = {row: what for row, what in rows_of(last).items() if what != "beside"}
        if not found:
            break
    assert memory.erasure.find_residues("vexburgh").rows == []
    assert b"exburgh" not in memory.path.read_bytes()


def test_nothing_is_left_is_said_only_where_nothing_was_found(memory: Memory) -> None:
    memory.add_turn("My locker code is 77-zebra-19", session="a")
    memory.add_turn("Noted, I will remember your locker code.", role=Role.ASSISTANT, session="a")
    memory.add_turn("the train was late again", session="b")
    memory.add_turn("wrote 77 zebra 19 on my hand", session="c")
    done = memory.erasure.erase_episode(1)
    assert rows_of(done) == {"e4": "value", "e2": "beside"}
    assert not done.nothing_left
    memory.erasure.erase_episode(4)
    last = memory.erasure.erase_episode(2)
    assert rows_of(last) == {}
    assert last.nothing_left


def test_the_numbers_of_rows_that_were_shown_are_no_words(memory: Memory) -> None:
    items = ["f11", "f12", "f13", "f14", "f15"]
    memory._context.write(
        [RecordInjection(session="s", owner="me", mode="tool", items=items)], Trigger.COMMAND
    )
    memory.add_turn(f"Shown from memory: {', '.join(items)}", role=Role.ASSISTANT, session="s")
    assert rows_of(memory.erasure.erase_episode(1)) == {}


def test_copies_and_what_a_kill_left_beside_the_file_are_looked_through(memory: Memory) -> None:
    memory.add_turn("the quagmire-ledger of vexburgh", session="a")
    mine = memory.path.with_name("m.db.backup")
    part = memory.path.with_name(".m.db.saved-1.0a1b2c3d.factbook-part")
    for copy in (mine, part):
        apsw.Connection(str(memory.path)).execute("VACUUM INTO ?", (str(copy),))
    memory.path.with_name("m.db.notes").write_text("quagmire-ledger")  # no database
    done = memory.erasure.erase_episode(1)
    assert done.file is not None
    assert set(done.file.copies) == {str(mine), str(part)}
    assert not done.nothing_left
    assert set(memory.erasure.find_residues("quagmire-ledger").copies) == {str(mine), str(part)}


def test_it_is_said_through_every_door(memory: Memory, cli: Cli) -> None:
    memory.interests.like("Quadrophon LS50")
    memory.add_turn("My aunt was given a quadrophon ls50", session="s")
    reply = invoke(
        memory, "forget", "quadrophon ls50 erase", owner="me", look=Page(width=80, program="x")
    )
    assert "but for what was kept, nothing of it is left" in reply.text
    assert "\n  e2  My aunt was given a q██████████████" in reply.text
    assert "`factbook erase e2` erases it too" in reply.notes[-1]
    assert reply.code == 3
    erased = reply.data["erased"]
    assert isinstance(erased, dict)
    assert [one["row"] for one in erased["elsewhere"]] == ["e2"]

    async def through_the_other() -> Erased:
        async with AsyncMemory(
            memory.path, key_file=memory.path.with_name("key"), model=None
        ) as other:
            return await other.erasure.erase_row("e2")

    assert asyncio.run(through_the_other()).nothing_left

    path = cli.home / "m.db"
    with Memory(path, key_file=cli.home / "redaction.key", model=None) as other:
        for text in ("tamsin lives in oslo", "tamsin owes me 84,500", "Tamsin called"):
            other.add_turn(text, session="s")
    done = cli("erase", "e1", "e2", "--yes", "--json", "--db", path, code=3).json()
    assert [one["row"] for one in done["elsewhere"]] == ["e3"]  # e2 went with the same command
    assert done["elsewhere"][0]["what"] == "name"
    assert "amsin" not in done["elsewhere"][0]["excerpt"]
    assert done["looked_for"]["values"] == 1
    assert cli("erase", "e3", "--yes", "--json", "--db", path).json()["elsewhere"] == []


def test_what_is_left_of_an_erased_row_is_not_named(memory: Memory, tmp_path: Path) -> None:
    summary = tmp_path / "note.txt"
    summary.write_text(
        "Summary: The user Zephyrine has a sister who lives in Kaunas. Phone 370-612-34567."
    )
    memory.ingest([summary], kind="summary")
    memory.ingest([summary], kind="summary", owner="zephyrine")
    assert rows_of(memory.erasure.erase_episode(1)).keys().isdisjoint({"e1", "s1"})
    assert "e2" not in rows_of(memory.erasure.erase_episode(2, owner="zephyrine"))
    memory.store.check()


def test_a_file_of_several_conversations_is_erased_by_the_names_that_are_said(
    memory: Memory,
) -> None:
    file = Path("examples/chats/chatgpt/conversations.json")
    memory.ingest([file])
    with pytest.raises(UsageError, match=r"is the path of 2 sources.*`factbook erase s1 s2`"):
        memory.erasure.erase_source(str(file))
    for name in ("s1", "s2"):
        last = memory.erasure.erase_row(name)
    assert last.nothing_left
    assert row_counts(memory.store)["episodes"] == 0


@pytest.mark.parametrize("name", ["", "x1", "f", "e-1", "p1.5", "o99999999999999999999", "ff1"])
def test_what_is_the_name_of_no_row_is_refused(memory: Memory, name: str) -> None:
    with pytest.raises(UsageError):
        memory.erasure.erase_row(name)


@pytest.mark.parametrize("letter", "fesrnplcqto")
def test_a_row_that_is_not_there_is_not_found(memory: Memory, letter: str) -> None:
    with pytest.raises(NotFound):
        memory.erasure.erase_row(f"{letter}77")
