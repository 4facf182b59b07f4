"""Days are those of the clocks that hung on the wall then, not of the offset of today."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from factbook.language.reader.read import read
from factbook.maintenance.passing import true_until
from factbook.memory import Memory
from factbook.recall.time_expressions import find_window, parse_moment
from factbook.store.rows import Filters
from factbook.testing import FrozenClock
from test_counting import SESSION, committed, record


def utc(text: str) -> int:
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)


@pytest.fixture
def live_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


IN_WINTER, IN_SUMMER = utc("2026-12-01T09:00"), utc("2026-07-15T12:30")


@pytest.mark.parametrize("named", [False, True], ids=["of the machine", "named"])
@pytest.mark.parametrize(
    ("zone", "question", "now", "since", "until"),
    [
        # In the other half of the year, east and west, north and south.
        ("Europe/Berlin", "on may 9", IN_WINTER, "2026-05-08T22:00", "2026-05-09T22:00"),
        ("Europe/Berlin", "on february 9", IN_SUMMER, "2026-02-08T23:00", "2026-02-09T23:00"),
        ("America/Denver", "in august", IN_WINTER, "2026-08-01T06:00", "2026-09-01T06:00"),
        ("Australia/Sydney", "on may 9", IN_WINTER, "2026-05-08T14:00", "2026-05-09T14:00"),
        # The day of the change has 23 or 25 hours.
        ("Europe/Berlin", "on march 29", IN_WINTER, "2026-03-28T23:00", "2026-03-29T22:00"),
        ("Europe/Berlin", "on october 25", IN_WINTER, "2026-10-24T22:00", "2026-10-25T23:00"),
        ("Europe/Berlin", "on may 9 at 3pm", IN_WINTER, "2026-05-09T12:30", "2026-05-09T13:30"),
        # What was right before.
        ("Europe/Berlin", "on november 9", IN_WINTER, "2026-11-08T23:00", "2026-11-09T23:00"),
        ("Europe/Berlin", "yesterday", IN_SUMMER, "2026-07-13T22:00", "2026-07-14T22:00"),
        ("Asia/Tokyo", "on may 9", IN_WINTER, "2026-05-08T15:00", "2026-05-09T15:00"),
        ("UTC", "on may 9", IN_WINTER, "2026-05-09T00:00", "2026-05-10T00:00"),
    ],
)
def test_a_day_is_that_of_its_own_clocks(
    live_in: Callable[[str], None],
    zone: str,
    question: str,
    now: int,
    since: str,
    until: str,
    named: bool,
) -> None:
    live_in("America/Lima" if named else zone)
    window = find_window(question, now=now, zone=ZoneInfo(zone) if named else None)
    assert window is not None
    assert (window.since, window.until) == (utc(since), utc(until))


@pytest.mark.parametrize("zone", [None, ZoneInfo("Europe/Berlin")])
def test_hours_are_counted_though_clocks_were_changed(
    live_in: Callable[[str], None], zone: tzinfo | None
) -> None:
    live_in("Europe/Berlin")
    now = utc("2026-03-29T02:00")  # at 4, an hour after it had been 2
    window = find_window("in the last 5 hours", now=now, zone=zone)
    assert window is not None
    assert window.since == utc("2026-03-28T21:00")


def test_a_pasted_log_of_many_days_takes_no_long_time() -> None:
    lines = (f"2026-06-{1 + n % 28:02d} 10:00 retry {n} of 6/17 failed" for n in range(1_200))
    began = time.process_time()
    window = find_window("\n".join(["why since june 3?", *lines]), now=IN_WINTER)
    assert time.process_time() - began < 10
    assert window is not None
    assert window.phrase == "since june 3"


def test_an_option_and_a_statement_of_a_day_mean_the_same_day(
    live_in: Callable[[str], None],
) -> None:
    live_in("Europe/Berlin")
    assert parse_moment("2026-05-09", now=IN_WINTER) == utc("2026-05-08T22:00")
    assert parse_moment("2026-05-09T10:30", now=IN_WINTER) == utc("2026-05-09T08:30")
    assert parse_moment("2026-05-09T10:30:00Z", now=IN_WINTER) == utc("2026-05-09T10:30")
    changing = utc("2026-10-24T20:00")  # the clocks are changed in the night after
    assert true_until(read("I'm tired today."), changing) == utc("2026-10-24T22:00")
    assert true_until(read("The exam is tomorrow."), changing) == utc("2026-10-25T23:00")


def test_what_was_done_after_midnight_is_of_the_new_day(
    live_in: Callable[[str], None], tmp_path: Path
) -> None:
    live_in("Europe/Berlin")
    lines = [
        record("user", "u1", "05-08T20:00", "make the shop ready"),
        *committed("c1", "05-08T22:10", "Count the stock"),  # at ten past midnight
        *committed("c2", "05-09T21:50", "Show the price"),
    ]
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    clock = FrozenClock(IN_WINTER)
    with Memory(tmp_path / "m.db", clock=clock, key_file=tmp_path / "k") as memory:
        memory.ingest([log])
        count = memory.sources.count
        assert count("how many commits on may 9").total == 2
        assert count("how many commits on may 8").total == 0
        assert [row.label for row in count("commits by day").rows] == ["2026-05-09"]
        day = Filters(
            since=parse_moment("2026-05-09", now=IN_WINTER),
            until=parse_moment("2026-05-10", now=IN_WINTER),
        )
        assert count("commits", filters=day).total == 2
        assert not memory.recall("what did I commit on may 9").outside
        assert memory.check() == []
