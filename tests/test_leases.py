"""Leases: one rule for all work, whatever clock its holder had and however it ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook import policy
from factbook.apply.apply import apply
from factbook.memory import Memory
from factbook.model.facts import Trigger
from factbook.model.interest_ops import FailSearch, QueueSearch
from factbook.store.derived.searches import search_tasks
from factbook.store.leases import (
    claim_search,
    claim_waiting,
    due,
    holder_name,
    is_dead,
    stands,
    take_lease,
)
from factbook.store.port import Store
from factbook.testing import FrozenClock
from test_embedding_queue import Hashing, say

DECADE = 10 * 365 * 24 * 3600 * 1000
NOW = FrozenClock().now
NAMES = ("consolidation", "reading", "cleaner")


@pytest.fixture
def process() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that waits, and the name under which it holds what it takes."""
    script = "from factbook.store.leases import holder_name; print(holder_name()); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        yield child, child.stdout.readline().strip()
        child.kill()


def search(memory: Memory) -> None:
    """Ask for one search."""
    apply(
        memory.store,
        [QueueSearch(owner="me", query="kef")],
        trigger=Trigger.LEARN_COMMAND,
        actor="t",
        now=NOW,
    )


def all_claims(store: Store, holder: str, now: int) -> list[bool]:
    """Try to take everything that can be taken; tell what was."""
    embedding = claim_waiting(store, "episode", limit=9, holder=holder, now=now)
    search = claim_search(store, claimer=holder, now=now)
    named = [take_lease(store, name, holder=holder, now=now) is not None for name in NAMES]
    return [bool(embedding.rows), search is not None, *named]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    clock = FrozenClock()
    with Memory(
        tmp_path / "f.db", clock=clock, embedder=Hashing(), key_file=tmp_path / "key", model=None
    ) as opened:
        say(opened, *[f"row {n}" for n in range(5)])
        search(opened)
        yield opened
        assert opened.check() == []


@pytest.mark.parametrize("off", [DECADE, -DECADE, policy.LEASE_MS + policy.CLOCK_SLACK_MS])
def test_a_clock_that_was_off_keeps_nothing_from_others(memory: Memory, off: int) -> None:
    """Whoever took it lives, on another machine, and had another time."""
    store = memory.store
    assert all(all_claims(store, "elsewhere:1:1:a", NOW + off))
    assert not any(all_claims(store, "elsewhere:2:1:b", NOW + off))
    assert all(all_claims(store, "elsewhere:3:1:c", NOW))


def test_a_killed_process_keeps_nothing(
    memory: Memory, process: tuple[subprocess.Popen[str], str]
) -> None:
    store, (child, holder) = memory.store, process
    assert all(all_claims(store, holder, NOW))
    assert not any(all_claims(store, "elsewhere:1:1:a", NOW))
    child.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, and not yet buried
    assert all(all_claims(store, "elsewhere:1:1:a", NOW))


def test_another_process_under_the_same_number_is_another(
    process: tuple[subprocess.Popen[str], str],
) -> None:
    machine, pid, started, rest = process[1].split(":")
    assert not is_dead(process[1])
    if not started:
        pytest.skip("this system does not say when a process started")
    assert is_dead(f"{machine}:{pid}:{int(started) - 1}:{rest}")
    assert not is_dead(f"elsewhere:{pid}:{int(started) - 1}:{rest}")
    assert not is_dead(f"{socket.gethostname()}:{pid}:1:x")  # a name that says less


@given(
    until=st.integers(-(2**62), 2**62) | st.integers(NOW - 10**6, NOW + 10**7),
    now=st.just(NOW) | st.integers(0, 2**50),
    holder=st.text(max_size=30) | st.sampled_from(["elsewhere:1:1:a", "::::", "a:9" + "9" * 30]),
)
def test_a_lease_holds_for_a_bounded_time_whatever_it_says(
    until: int, now: int, holder: str
) -> None:
    longest = policy.LEASE_MS + policy.CLOCK_SLACK_MS
    if stands(holder, until, now=now):
        assert 0 < until - now <= longest
    assert not stands(holder, until, now=max(now, until) + longest + 1)
    if not due(until, now=now):
        assert 0 < until - now <= policy.LONGEST_WAIT_MS


def test_a_holder_is_this_process_and_lives() -> None:
    one, two = holder_name(), holder_name()
    assert one != two
    assert not is_dead(one)
    assert f":{os.getpid()}:" in one


def test_rows_that_failed_under_a_clock_ahead_are_tried_again(tmp_path: Path) -> None:
    clock = FrozenClock()
    with Memory(
        tmp_path / "f.db", clock=clock, embedder=Hashing(), key_file=tmp_path / "key", model=None
    ) as memory:
        say(memory, "poison", "good")
        clock.now += DECADE
        assert memory.embed().failed == 1
        clock.now -= DECADE
        assert memory.embed().failed == 1
        assert memory.check() == []


_EMBED: str = """
import sys
from test_embedding_queue import Hashing
from factbook.memory import Memory
from factbook.testing import FrozenClock
class Slow(Hashing):
    def embed(self, texts):
        print("working", flush=True)
        input()
with Memory(sys.argv[1], clock=FrozenClock(int(sys.argv[2])), embedder=Slow(),
            key_file=sys.argv[3], model=None) as memory:
    memory.embed()
"""


@pytest.mark.parametrize("off", [0, DECADE])
def test_every_row_of_a_killed_worker_is_embedded_at_once(tmp_path: Path, off: int) -> None:
    clock, path, key = FrozenClock(), tmp_path / "f.db", tmp_path / "key"
    with Memory(path, clock=clock, embedder=Hashing(), key_file=key, model=None) as memory:
        say(memory, *[f"row {n}" for n in range(600)])
        with subprocess.Popen(
            [sys.executable, "-c", _EMBED, str(path), str(clock.now + off), str(key)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"working\n"
            child.kill()
            child.wait()
        assert memory.embed().receipt.embedded == 600
        assert memory.maintenance.waiting() == 0
        assert memory.check() == []


def test_two_workers_whose_clocks_are_apart_do_not_take_over_for_ever(memory: Memory) -> None:
    """Each sees the claims of the other as void; whoever loses its rows leaves them."""
    store = memory.store
    claims = []

    class Rival(Hashing):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            claims.append(
                claim_waiting(store, "episode", limit=9, holder="rival", now=NOW + DECADE)
            )
            return super().embed(texts)

    memory.resources._embedder = Rival()
    assert memory.embed().receipt.embedded == 0
    assert len(claims) == 1
    memory.resources._embedder = Hashing()
    assert memory.embed().receipt.embedded == 5


def test_a_search_that_failed_under_a_clock_ahead_is_made(memory: Memory) -> None:
    fail = FailSearch(task_id=1, error="down")
    then = NOW + DECADE
    apply(memory.store, [fail], trigger=Trigger.LEARN_COMMAND, actor="t", now=then)
    assert search_tasks(memory.store, now=then) == []
    assert claim_search(memory.store, claimer="a", now=then) is None
    assert [one.id for one in search_tasks(memory.store, now=NOW)] == [1]
    assert claim_search(memory.store, claimer="a", now=NOW) is not None
