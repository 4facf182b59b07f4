"""What one owner said reaches no other owner, by whatever way a memory is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from factbook import EVERYONE, Memory
from factbook.errors import UsageError
from factbook.store.base import Filters, RejectionFilters
from factbook.testing import FrozenClock

NOW = 1_790_000_000_000
HERS = "My salary is 48211 euros a year."
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


def test_a_read_that_names_nobody_is_about_me(memory: Memory) -> None:
    hits = memory.search_memory(ASKED)
    assert any("39007" in one.text for one in hits)
    read = [
        hits,
        memory.recall(ASKED),
        memory.prefetch(ASKED),
        memory.context(ASKED),
        memory.query_facts(),
        memory.timeline(),
        memory.sessions(),
        memory.rejections(),
        memory.queue_prefetch(ASKED, session="desk") and memory.take("desk"),
    ]
    assert [one for one in read if "48211" in repr(one)] == []


def test_an_owner_that_is_named_is_the_only_one(memory: Memory) -> None:
    about = Filters(owner="ann")
    read = [
        memory.search_memory(ASKED, owner="ann"),
        memory.recall(ASKED, filters=about).hits,
        memory.prefetch(ASKED, owner="ann"),
        memory.query_facts(owner="ann"),
    ]
    assert all("48211" in repr(one) and "39007" not in repr(one) for one in read)


def test_everybody_is_asked_for_by_one_value_that_is_no_text(memory: Memory) -> None:
    found = repr(memory.query_facts(owner=EVERYONE))
    assert "48211" in found
    assert "39007" in found
    found = repr(memory.recall(ASKED, filters=Filters(owner=EVERYONE)).hits)
    assert "48211" in found
    assert "39007" in found
    for text in ("everyone", "EVERYONE", "Everyone.EVERYONE", "*", "all"):
        assert text != EVERYONE
        assert memory.query_facts(owner=text) == []


@pytest.mark.parametrize("owner", ["", " ", "\n", None, 3])
def test_an_owner_without_a_name_is_refused_and_not_everybody(memory: Memory, owner: str) -> None:
    for read in (
        lambda: memory.query_facts(owner=owner),
        lambda: memory.search_memory(ASKED, owner=owner),
        lambda: memory.context(ASKED, owner=owner),
        lambda: memory.take("desk", owner=owner),
        lambda: memory.sessions(owner=owner),
        lambda: memory.notifier([], owner=owner),
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
        assert "48211" not in repr(memory.recall(ASKED).hits)
        assert "39007" not in repr(memory.recall(ASKED, filters=Filters(owner="ann")).hits)
        assert memory.check() == []
