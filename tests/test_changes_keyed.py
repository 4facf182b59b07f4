"""Keyed facts in the store: what counts, what stays, and who may change them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factbook import policy
from factbook.apply.apply import apply
from factbook.apply.keyed import statement_of
from factbook.errors import NotAllowed, Overtaken, UsageError
from factbook.model.facts import (
    Episode,
    EpisodeKind,
    Fact,
    Millis,
    Receipt,
    Role,
    Source,
    Status,
    Trigger,
    Trust,
)
from factbook.model.ops import ChangeKeys, KeyStep, Op, RecordEpisode, RecordSource
from factbook.store.derived.counts import row_counts
from factbook.store.derived.keyed import key_history, keyed_facts
from factbook.store.sqlite import SQLiteStore

LIST = "user.favorites.crypto"
NOW: Millis = 1_763_700_000_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    found = SQLiteStore(tmp_path / "keys.db")
    yield found
    assert found.check() == []
    found.close()


def say(
    store: SQLiteStore,
    *steps: KeyStep,
    text: str = "BTC ETH SOL ADA DOGE Berlin Athens",
    uid: str = "",
    at: Millis = NOW,
    owner: str = "me",
    atomic: bool = True,
    late: bool = False,
    trust: Trust = Trust.DIRECT,
    trigger: Trigger = Trigger.USER_MESSAGE,
) -> Receipt:
    """Let one message ask for steps."""
    uid = uid or f"m{store.head().commit}"
    source = Source(key="told:me", kind="note", host="factbook", session="s", uri="told:me")
    episode = Episode(
        uid=uid,
        source=source.key,
        kind=EpisodeKind.TURN,
        role=Role.USER,
        trust=trust,
        text=text,
        position=0,
        offset=0,
        occurred_at=at,
        owner="me",
    )
    ops: list[Op] = [
        RecordSource(source=source),
        RecordEpisode(episode=episode),
        ChangeKeys(
            owner=owner,
            episode=uid,
            steps=steps,
            trust=trust,
            rule="told:rules",
            method="by hand",
            atomic=atomic,
            late=late,
        ),
    ]
    return apply(store, ops, trigger=trigger, actor="test", now=NOW)


def rank(number: int, value: str, *, insert: bool = False) -> KeyStep:
    return KeyStep(action="rank", key=LIST, value=value, rank=number, insert=insert, start=0, end=3)


def step(action: str, key: str = LIST, **more: object) -> KeyStep:
    return KeyStep(action=action, key=key, start=0, end=3, **more)  # type: ignore[arg-type]


def held(store: SQLiteStore) -> dict[int, str]:
    found = keyed_facts(store, "me", prefix=LIST)
    return {int(one.predicate.rpartition(".")[2]): one.object for one in found}


def past(store: SQLiteStore, number: int) -> list[Fact]:
    return key_history(store, "me", f"{LIST}.{number}")


# --- what counts ----------------------------------------------------------------------------------


def test_a_new_rank_is_stored_and_another_value_updates_it(store: SQLiteStore) -> None:
    first = say(store, rank(1, "SOL"))
    assert (first.stored, first.updated, first.keys) == (1, 0, [(f"{LIST}.1", "store")])
    second = say(store, rank(1, "BTC"))
    assert (second.stored, second.updated, second.keys) == (0, 1, [(f"{LIST}.1", "update")])
    assert held(store) == {1: "BTC"}


def test_what_a_rank_held_before_stays_in_history(store: SQLiteStore) -> None:
    say(store, rank(1, "SOL"))
    say(store, rank(1, "BTC"))
    old, new = past(store, 1)
    assert (old.object, old.status, old.superseded_by) == ("SOL", Status.SUPERSEDED, new.id)
    assert old.valid_to == NOW
    assert (new.object, new.status) == ("BTC", Status.PENDING_EMBED)


def test_the_same_value_again_is_no_change_and_one_more_piece_of_evidence(
    store: SQLiteStore,
) -> None:
    say(store, rank(1, "BTC"))
    again = say(store, rank(1, "btc "))
    assert (again.stored, again.updated, again.unchanged) == (0, 0, 1)
    assert again.keys == [(f"{LIST}.1", "noop")]
    (fact,) = past(store, 1)
    assert fact.evidence_count == 2
    assert fact.object == "BTC"


def test_a_value_that_the_list_holds_moves_instead_of_standing_twice(store: SQLiteStore) -> None:
    say(store, rank(1, "SOL"), rank(2, "ETH"), rank(3, "BTC"))
    receipt = say(store, rank(1, "BTC"))
    assert held(store) == {1: "BTC", 2: "ETH"}
    assert (receipt.updated, receipt.retracted) == (1, 1)
    (moved,) = past(store, 3)
    assert moved.superseded_by == past(store, 1)[-1].id  # it lives on at its new rank


def test_two_values_that_change_places_count_as_two_updates(store: SQLiteStore) -> None:
    say(store, rank(1, "SOL"), rank(7, "BTC"))
    receipt = say(store, rank(1, "BTC"), rank(7, "SOL"))
    assert (receipt.stored, receipt.updated, receipt.retracted) == (0, 2, 0)
    assert held(store) == {1: "BTC", 7: "SOL"}


def test_insert_moves_the_others_down(store: SQLiteStore) -> None:
    say(store, rank(1, "SOL"), rank(2, "ETH"))
    receipt = say(store, rank(1, "BTC", insert=True))
    assert held(store) == {1: "BTC", 2: "SOL", 3: "ETH"}
    assert (receipt.stored, receipt.updated) == (1, 2)


def test_remove_append_move_and_clear(store: SQLiteStore) -> None:
    say(store, *[step("append", value=one) for one in ("BTC", "ETH", "SOL")])
    assert held(store) == {1: "BTC", 2: "ETH", 3: "SOL"}
    say(store, step("remove", value="eth"))
    assert held(store) == {1: "BTC", 2: "SOL"}
    say(store, step("move", value="SOL", rank=1))
    assert held(store) == {1: "SOL", 2: "BTC"}
    receipt = say(store, step("clear"))
    assert held(store) == {}
    assert receipt.retracted == 2
    assert [one.status for one in past(store, 1)] == [Status.SUPERSEDED, Status.RETRACTED]


def test_a_plain_key_is_set_changed_and_unset(store: SQLiteStore) -> None:
    key = "user.timezone"
    assert say(store, step("set", key, value="Athens")).stored == 1
    assert say(store, step("set", key, value="Berlin")).updated == 1
    assert say(store, step("unset", key)).retracted == 1
    assert keyed_facts(store, "me", keys=[key]) == []
    assert [one.object for one in key_history(store, "me", key)] == ["Athens", "Berlin"]


def test_a_cleared_value_can_come_back(store: SQLiteStore) -> None:
    say(store, rank(1, "BTC"))
    say(store, step("clear"))
    assert say(store, rank(1, "BTC")).stored == 1
    assert held(store) == {1: "BTC"}


# --- all or nothing -------------------------------------------------------------------------------


def test_one_bad_step_takes_all_back(store: SQLiteStore) -> None:
    say(store, rank(1, "SOL"))
    before = store.head().commit
    with pytest.raises(UsageError, match=r"operation 2: .*not in the list; nothing was changed"):
        say(
            store,
            rank(1, "BTC"),
            KeyStep(action="remove", key=LIST, value="DOGE", start=0, end=3, number=2),
        )
    assert held(store) == {1: "SOL"}
    assert store.head().commit == before


def test_without_atomic_a_bad_step_is_left_out_and_said(store: SQLiteStore) -> None:
    receipt = say(store, rank(1, "BTC"), step("remove", value="DOGE"), atomic=False)
    assert held(store) == {1: "BTC"}
    assert receipt.problems == ["operation 1: 'DOGE' is not in the list"]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (step("unset", "user.name"), "nothing stands under"),
        (step("rank", value="BTC", rank=0), "there is no rank 0"),
        (step("rank", value="BTC", rank=policy.MAX_RANK + 1), "there is no rank"),
        (step("set", "user.name", value=" "), "the value is empty"),
        (KeyStep(action="set", key="user.name", value="x", start=3, end=3), "does not stand"),
        (KeyStep(action="set", key="user.name", value="x", start=0, end=999), "does not stand"),
        (step("set", "user.name", value="x", confidence=float("nan")), "not between 0 and 1"),
        (step("set", "user.name", value="x", confidence=7.0), "not between 0 and 1"),
        (step("explode", "user.name", value="x"), "is no step"),
    ],
)
def test_what_cannot_be_done_is_refused(store: SQLiteStore, bad: KeyStep, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        say(store, bad)
    assert row_counts(store)["facts"] == 0


def test_a_message_that_waited_does_not_undo_a_later_one(store: SQLiteStore) -> None:
    say(store, rank(1, "BTC"), at=NOW)
    with pytest.raises(Overtaken, match="by a later message"):
        say(store, rank(1, "SOL"), at=NOW - 1000, late=True)
    say(store, rank(2, "ETH"), at=NOW - 1000, late=True)  # what it does not touch is free
    assert held(store) == {1: "BTC", 2: "ETH"}


def test_a_message_that_waited_does_not_bring_back_what_was_cleared(store: SQLiteStore) -> None:
    say(store, rank(1, "SOL"), at=NOW - 5000)
    say(store, step("clear"), at=NOW)
    with pytest.raises(Overtaken):
        say(store, rank(1, "BTC"), at=NOW - 1000, late=True)
    assert held(store) == {}


def test_a_clock_that_was_set_back_harms_nothing(store: SQLiteStore) -> None:
    """What is said now counts now, whatever the clock says of it."""
    say(store, rank(1, "BTC"), at=NOW)
    say(store, rank(1, "SOL"), at=NOW - 86_400_000)
    assert held(store) == {1: "SOL"}


# --- who may --------------------------------------------------------------------------------------


@pytest.mark.parametrize("trust", [Trust.DERIVED, Trust.EXTERNAL])
def test_only_the_owners_own_words_change_keys(store: SQLiteStore, trust: Trust) -> None:
    with pytest.raises(UsageError, match="only its owner's own words"):
        say(store, rank(1, "BTC"), trust=trust)


def test_a_message_of_another_owner_changes_nothing(store: SQLiteStore) -> None:
    with pytest.raises(UsageError, match="a message of me"):
        say(store, rank(1, "BTC"), owner="ann")


@pytest.mark.parametrize("trigger", [Trigger.SESSION_LOG, Trigger.UPKEEP])
def test_logs_and_the_nightly_work_change_no_keys(store: SQLiteStore, trigger: Trigger) -> None:
    with pytest.raises(NotAllowed):
        say(store, rank(1, "BTC"), trigger=trigger)


# --- reading --------------------------------------------------------------------------------------


def test_a_prefix_ends_at_a_segment_and_has_no_wildcards(store: SQLiteStore) -> None:
    say(
        store,
        step("set", "user.favorites.crypto.1", value="BTC"),
        step("set", "user.favorites.cryptox.1", value="ETH"),
        step("set", "user.a_b", value="SOL"),
        step("set", "user.axb", value="ADA"),
    )
    assert [one.object for one in keyed_facts(store, "me", prefix=LIST)] == ["BTC"]
    assert [one.object for one in keyed_facts(store, "me", prefix="user.a_b")] == ["SOL"]
    assert keyed_facts(store, "me", prefix="user.%") == []
    assert keyed_facts(store, "me", prefix="user.favorites.crypt") == []


def test_ranks_come_in_the_order_of_numbers_and_in_pages(store: SQLiteStore) -> None:
    say(store, *[rank(number, f"coin {number}") for number in (10, 2, 1)])
    ranks = [one.predicate.rpartition(".")[2] for one in keyed_facts(store, "me", prefix=LIST)]
    assert ranks == ["1", "2", "10"]
    page = keyed_facts(store, "me", prefix=LIST, limit=2)
    rest = keyed_facts(store, "me", prefix=LIST, after=page[-1].predicate)
    assert [one.object for one in rest] == ["coin 10"]


def test_a_statement_says_what_the_key_means() -> None:
    assert statement_of("user.favorites.crypto.1", "BTC") == "Favorite crypto #1: BTC"
    assert statement_of("user.home.city", "Athens") == "Home city: Athens"


# --- many at once ---------------------------------------------------------------------------------


def test_ranks_stay_unique_when_many_write_at_once(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "many.db")
    say(store, rank(1, "SOL"))

    def write(number: int) -> None:
        mine = SQLiteStore(tmp_path / "many.db", mode="write")
        try:
            for turn in range(5):
                coin = f"coin {number} {turn}"
                say(mine, rank(1, coin, insert=turn % 2 == 0), uid=f"w{number}-{turn}", text=coin)
        finally:
            mine.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))  # raises what a writer raised
    found = keyed_facts(store, "me", prefix=LIST)
    assert len({one.predicate for one in found}) == len(found)
    assert len({one.object for one in found}) == len(found)
    assert store.check() == []
    store.close()


COINS = st.sampled_from(["BTC", "ETH", "SOL", "ADA", "DOGE"])
STEPS = st.one_of(
    st.builds(rank, st.integers(1, 4), COINS, insert=st.booleans()),
    st.builds(lambda value: step("append", value=value), COINS),
    st.builds(lambda value: step("remove", value=value), COINS),
    st.builds(lambda value, to: step("move", value=value, rank=to), COINS, st.integers(1, 4)),
    st.just(step("clear")),
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(STEPS, min_size=1, max_size=4), min_size=1, max_size=5))
def test_whatever_is_asked_the_counts_are_what_the_database_changed(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[KeyStep]]
) -> None:
    store = SQLiteStore(tmp_path_factory.mktemp("keys") / "any.db")
    for batch in batches:
        before = held(store)
        receipt = say(store, *batch, atomic=False)
        after = held(store)
        assert receipt.stored == len(after.keys() - before.keys())
        assert receipt.retracted == len(before.keys() - after.keys())
        assert receipt.updated == sum(
            1 for one in before.keys() & after.keys() if before[one] != after[one]
        )
        assert len(set(after.values())) == len(after)
    assert store.check() == []
    store.close()
