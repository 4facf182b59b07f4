"""Whatever a memory has been through, its export makes another one that is the same."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factbook import Memory
from factbook.errors import FactbookError
from factbook.model.facts import EVERYONE
from factbook.testing import FrozenClock
from test_import import Record, opened, plain, records_of

PLACES = ("Oslo", "Lier", "Bergen", "Tromsø")
THINGS = ("Coldplay", "Brimley Swift", "Velora")

Deed = Callable[[Memory], object]


def facts(memory: Memory) -> list[int]:
    return [one.id for one in memory.query_facts(owner=EVERYONE, include_deprecated=True)]


def on_a_fact(deed: Callable[[Memory, int], object]) -> st.SearchStrategy[Deed]:
    """Give what is done to some fact, where there is one."""

    def at(n: int) -> Deed:
        def done(memory: Memory) -> None:
            mine = [one.id for one in memory.query_facts(include_deprecated=True)]
            if mine:
                deed(memory, mine[n % len(mine)])

        return done

    return st.integers(0, 20).map(at)


def said(texts: Sequence[str], deed: Callable[[Memory, str], object]) -> st.SearchStrategy[Deed]:
    return st.sampled_from(texts).map(lambda text: lambda memory: deed(memory, text))


DEEDS = st.one_of(
    said([f"I live in {place}" for place in PLACES], lambda m, text: m.remember(text)),
    said([f"I live in {place}" for place in PLACES], lambda m, t: m.remember(t, owner="bo")),
    said([f"My favorite city is {p}." for p in PLACES], lambda m, t: m.tell(t, planner="rules")),
    said(["Forget my favorite city."], lambda m, t: m.tell(t, planner="rules")),
    said([f"I love {thing} and moved to Oslo" for thing in THINGS], lambda m, t: m.add_turn(t)),
    said(THINGS, lambda m, thing: m.interests.like(thing)),
    said(THINGS, lambda m, thing: m.interests.dislike(thing)),
    said(THINGS, lambda m, thing: m.interests.learn(thing)),
    said(THINGS, lambda m, thing: m.interests.delete_entity(thing)),
    said(THINGS, lambda m, thing: m.interests.restore_entity(thing)),
    on_a_fact(lambda m, id_: m.review.feedback(id_, right=True)),
    on_a_fact(lambda m, id_: m.review.feedback(id_, right=False)),
    on_a_fact(lambda m, id_: m.review.pin(id_)),
    on_a_fact(lambda m, id_: m.correct(id_, "I live in Lier")),
    st.just(lambda m: m.embed()),
    st.just(lambda m: m.consolidate()),
    st.just(lambda m: m.clock.advance(days=1.5)),
)
ERASES = on_a_fact(lambda m, id_: m.erasure.erase_fact(id_)) | said(
    THINGS, lambda m, thing: m.erasure.erase_entity(thing)
)


def lives(memory: Memory, deeds: Sequence[Deed]) -> None:
    for deed in deeds:
        with suppress(FactbookError):  # what cannot be done at that moment is not done
            deed(memory)


@settings(max_examples=8, deadline=None, suppress_health_check=[*HealthCheck], derandomize=True)
@given(deeds=st.lists(DEEDS | ERASES, min_size=6, max_size=30))
def test_an_export_makes_the_same_memory(deeds: Sequence[Deed]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with opened(folder) as there, opened(folder, "new.db", clock=there_clock()) as here:
            lives(there, deeds)
            assert there.check() == []
            records = records_of(there)
            report = here.import_(records)
            assert report.left == []
            again = records_of(here)
            if not report.kept_out:
                assert plain(again) == plain(records)
            assert report.kept_out.keys() <= {"event"}  # of what was erased: it has no row here
            assert history_aside(again) == history_aside(records)
            assert here.check() == []
            assert here.import_(records).added == {}


def history_aside(records: list[Record]) -> list[Record]:
    return plain([one for one in records if one["record"] != "event"])


def there_clock() -> FrozenClock:
    return FrozenClock(FrozenClock()() + 90 * 86_400_000)


@settings(max_examples=8, deadline=None, suppress_health_check=[*HealthCheck], derandomize=True)
@given(
    mine=st.lists(DEEDS | ERASES, min_size=4, max_size=20),
    hers=st.lists(DEEDS | ERASES, min_size=4, max_size=20),
    both=st.lists(DEEDS, max_size=10),
)
def test_two_memories_that_were_one_are_joined(
    mine: Sequence[Deed], hers: Sequence[Deed], both: Sequence[Deed]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with opened(folder) as here, opened(folder, "b.db") as there:
            lives(here, both)
            there.import_(records_of(here))
            lives(here, mine)
            lives(there, hers)
            records = records_of(there)
            here.import_(records)
            assert here.check() == []
            before = records_of(here)
            assert here.import_(records).added == {}
            assert records_of(here) == before
