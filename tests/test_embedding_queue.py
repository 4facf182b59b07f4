"""The embedding queue: leases, fencing, back-off, rows put aside, and another model."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from factbook import policy
from factbook.apply.apply import apply
from factbook.errors import EmbedderMismatch, TakenOver
from factbook.interests.jobs import NAMES
from factbook.maintenance import embedding
from factbook.memory import Memory
from factbook.memory.doctor import examine
from factbook.model.facts import EpisodeKind, Role, Trigger, Trust
from factbook.model.interest_ops import Fence
from factbook.model.ops import StoreVectors
from factbook.store.derived.counts import row_counts
from factbook.store.leases import claim_waiting, release
from factbook.testing import FrozenClock, sample_episode, sample_source


class Hashing:
    """A small embedder of its own: words are hashed into 16 numbers. Some texts make it fail."""

    dim = 16

    def __init__(self, name: str = "hashing-1") -> None:
        self.id = name
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        rows = np.zeros((len(texts), self.dim), np.float32)
        for n, text in enumerate(texts):
            if "poison" in text:
                raise RuntimeError("this text breaks the tokenizer")
            for word in text.split():
                rows[n, sum(word.encode()) % self.dim] += 1
            if "nothing" in text:
                rows[n] = 0
            if "infinite" in text:
                rows[n] = np.nan
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class Wrong(Hashing):
    """An embedder that gives another shape than it says."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 5), np.float32)


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def memory(tmp_path: Path, clock: FrozenClock) -> Iterator[Memory]:
    with Memory(
        tmp_path / "f.db", clock=clock, embedder=Hashing(), key_file=tmp_path / "key"
    ) as opened:
        yield opened
        assert opened.check() == []


def say(memory: Memory, *texts: str) -> None:
    episodes = [
        sample_episode(
            n,
            uid=f"{n}:{text}",
            text=text,
            kind=EpisodeKind.TURN,
            role=Role.USER,
            trust=Trust.DIRECT,
        )
        for n, text in enumerate(texts)
    ]
    memory.sources.record(sample_source(), episodes)


def test_a_waiting_row_is_found_by_its_words_at_once(memory: Memory) -> None:
    say(memory, "the ferry leaves at noon")
    assert memory.maintenance.waiting() == 1
    assert memory.recall("ferry").hits[0].text == "the ferry leaves at noon"


def test_one_poisoned_row_blocks_nothing(memory: Memory, clock: FrozenClock) -> None:
    say(memory, *[f"good text {n}" for n in range(20)], "poison pill", "nothing here", "infinite")
    report = memory.embed()
    assert (report.receipt.embedded, report.failed, report.aside) == (20, 3, 0)
    assert memory.embed().claimed == 0  # not before the back-off is over
    for _ in range(policy.EMBED_ATTEMPTS):
        clock.advance(days=1)
        memory.embed()
    reasons = {reason for _, _, reason in memory.maintenance.set_aside()}
    assert reasons == {
        "RuntimeError: this text breaks the tokenizer",
        "its vector is zero",
        "its vector is not finite",
    }
    clock.advance(days=9)
    assert memory.embed().claimed == 0  # aside is aside, until somebody says otherwise
    assert memory.maintenance.retry_aside() == 3
    assert memory.embed().claimed == 3


def test_the_wait_doubles(memory: Memory, clock: FrozenClock) -> None:
    say(memory, "poison")
    waits = []
    for _ in range(policy.EMBED_ATTEMPTS - 1):
        memory.embed()
        waited = 0
        while not (
            claim := claim_waiting(memory.store, "episode", limit=1, holder="t", now=clock.now)
        ).rows:
            clock.now += 1000
            waited += 1
        ids = [one for one, _ in claim.rows]
        release(memory.store, claim, ids, error="", until=0, tried=False)
        waits.append(waited)
    assert waits == [2, 4, 8, 16]


def test_a_lease_that_ran_out_is_taken_over_and_late_vectors_are_not_taken(
    memory: Memory, clock: FrozenClock
) -> None:
    say(memory, "one", "two")
    store, now = memory.store, clock.now
    slow = claim_waiting(store, "episode", limit=9, holder="slow", now=now)
    assert claim_waiting(store, "episode", limit=9, holder="quick", now=now).rows == ()
    later = now + policy.LEASE_MS
    quick = claim_waiting(store, "episode", limit=1, holder="quick", now=later)
    assert quick.token > slow.token

    def give(token: int) -> int:
        op = StoreVectors(
            target="episode",
            model="hashing-1",
            ids=[one for one, _ in slow.rows],
            vectors=np.eye(2, 16, dtype=np.float16).tobytes(),
            dim=16,
            token=token,
        )
        receipt = apply(store, [op], trigger=Trigger.UPKEEP, actor="t", now=now + 2000)
        return receipt.embedded

    assert give(slow.token) == 1  # only the row that nobody took over
    assert row_counts(store)["episodes_waiting"] == 1
    assert give(quick.token) == 1


def test_another_model_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    path, key = tmp_path / "f.db", tmp_path / "key"
    with Memory(path, embedder=Hashing(), key_file=key) as memory:
        say(memory, "the ferry leaves at noon")
        memory.embed()
    with Memory(path, embedder=Hashing("hashing-2"), key_file=key) as memory:
        episodes = [sample_episode(7, uid="new", text="another text", kind=EpisodeKind.TURN)]
        memory.sources.record(sample_source(), episodes)
        with pytest.raises(EmbedderMismatch, match="factbook reembed"):
            memory.embed()
        assert memory.maintenance.waiting() == 1
        assert memory.maintenance.reembed() == 1
        assert memory.embed().receipt.embedded == 1
        assert memory.store.embedder() == ("hashing-2", 16)
        assert memory.maintenance.reembed() == 0
        assert memory.check() == []


def test_recall_follows_the_swap(memory: Memory, tmp_path: Path) -> None:
    say(memory, "alpha beta", "gamma delta")
    memory.embed()
    assert memory.recall("alpha").hits
    with Memory(memory.path, embedder=Hashing("hashing-2"), key_file=tmp_path / "key") as other:
        other.maintenance.reembed()
        assert other.recall("alpha").hits[0].text == "alpha beta"
    memory.resources._embedder = Hashing("hashing-2")
    assert memory.recall("gamma").hits[0].text == "gamma delta"


def test_an_embedder_of_another_shape_is_named(tmp_path: Path) -> None:
    with Memory(tmp_path / "f.db", embedder=Wrong(), key_file=tmp_path / "key") as memory:
        say(memory, "one")
        with pytest.raises(EmbedderMismatch, match=r"\(1, 5\)"):
            memory.embed()
        assert memory.maintenance.waiting() == 1
        assert memory.maintenance.set_aside() == []


def kill_embedding(tmp_path: Path, *, times: int, texts: int) -> None:
    """Kill the queue at random moments; it loses nothing and embeds nothing twice."""
    path, key = tmp_path / "f.db", tmp_path / "key"
    with Memory(path, embedder=Hashing(), key_file=key) as memory:
        say(memory, *[f"text number {n} of many" for n in range(texts)])
    script = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_embedding_queue import Hashing
        from factbook import policy
        policy.EMBED_BATCH = 10
        from factbook.memory import Memory
        with Memory({str(path)!r}, embedder=Hashing(), key_file={str(key)!r}) as memory:
            print("ready", flush=True)
            memory.embed()
        """
    )
    for n in range(times):
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.02 + 0.21 * (n * 0.618 % 1))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        with Memory(path, embedder=Hashing(), key_file=key) as memory:
            assert memory.check() == []
    with Memory(path, embedder=Hashing(), key_file=key) as memory:  # the dead hold nothing
        memory.embed()
        assert memory.maintenance.waiting() == 0
        assert row_counts(memory.store)["episode_vectors"] == texts
        assert memory.check() == []


def test_embedding_survives_kills(tmp_path: Path) -> None:
    kill_embedding(tmp_path, times=8, texts=1500)


@pytest.mark.slow
def test_embedding_survives_two_hundred_kills(tmp_path: Path) -> None:
    kill_embedding(tmp_path, times=200, texts=20_000)


# --- what rows are embedded by --------------------------------------------------------------------


def old_file(path: Path, *texts: str) -> dict[int, NDArray[np.float32]]:
    """Make a file as an older factbook left it, by the texts alone; return what it is to become."""
    with Memory(path, embedder=Hashing(), key_file=path.with_suffix(".key")) as memory:
        kinds = (EpisodeKind.PROMPT, EpisodeKind.REPLY)
        episodes = [
            sample_episode(n, uid=f"u{n}", text=text, kind=kinds[n % 2])
            for n, text in enumerate(texts)
        ]
        memory.sources.record(sample_source(), episodes)
        memory.embed()
        assert memory.maintenance.outdated() == 0
        new = vectors_in(memory)
    with closing(apsw.Connection(str(path))) as old:
        for n, vector in enumerate(Hashing().embed(texts), 1):
            old.execute(
                "UPDATE episode_vector SET vector = ? WHERE episode_id = ?",
                (vector.astype(np.float16).tobytes(), n),
            )
        old.execute("DELETE FROM mark_row WHERE name LIKE 'embedded %'")
    return new


def vectors_in(memory: Memory) -> dict[int, NDArray[np.float32]]:
    """Return the vectors of episodes that are in use."""
    ids, halves = memory.store.vectors("episode", range(1, 99))
    rows = np.frombuffer(halves, np.float16).astype(np.float32).reshape(-1, 16)
    return dict(zip(ids, rows, strict=True))


def same(one: dict[int, NDArray[np.float32]], other: dict[int, NDArray[np.float32]]) -> list[int]:
    """Return the rows that have the same vector in both."""
    return [id_ for id_ in one if np.array_equal(one[id_], other[id_])]


TURNS = ("why does the ferry stop", "a chain broke", "who mends it", "the yard in Bergen")


def test_old_vectors_are_made_anew_a_few_at_a_time_and_used_until_the_last_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "f.db"
    new = old_file(path, *TURNS)
    with Memory(path, embedder=Hashing(), key_file=path.with_suffix(".key")) as memory:
        old = vectors_in(memory)
        assert same(old, new) == []
        assert memory.maintenance.outdated() == 4
        assert "4 vectors to make anew" in " ".join(one.detail for one in examine(path))
        assert memory.embed(limit=3).receipt.embedded == 3
        assert (memory.maintenance.outdated(), same(vectors_in(memory), old)) == (1, [1, 2, 3, 4])
        assert memory.recall("chain").hits
    with Memory(path, embedder=Hashing(), key_file=path.with_suffix(".key")) as memory:
        assert memory.embed().receipt.embedded == 1
        assert (memory.maintenance.outdated(), same(vectors_in(memory), new)) == (0, [1, 2, 3, 4])
        assert memory.recall("chain").hits
        assert memory.embed().claimed == 0
        assert memory.check() == []


def test_what_was_begun_by_another_factbook_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.db"
    new = old_file(path, *TURNS)
    with Memory(path, embedder=Hashing(), key_file=path.with_suffix(".key")) as memory:
        with monkeypatch.context() as other:
            other.setattr(embedding, "MEANING", 3)
            other.setattr(embedding, "meaning_of_turn", lambda _text, _replies: "something else")
            assert memory.embed(limit=3).claimed == 3
        assert memory.maintenance.outdated() == 4
        memory.embed()
        assert same(vectors_in(memory), new) == [1, 2, 3, 4]


def test_a_row_that_cannot_be_embedded_any_more_keeps_its_vector(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    new = old_file(path, *TURNS)

    class Worse(Hashing):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return super().embed([f"{text} poison" if "chain" in text else text for text in texts])

    with Memory(path, embedder=Worse(), key_file=path.with_suffix(".key")) as memory:
        old = vectors_in(memory)
        memory.embed()
        assert memory.maintenance.outdated() == 0
        now = vectors_in(memory)
        assert (same(now, old), same(now, new)) == ([1, 2], [3, 4])


def test_the_worker_makes_old_vectors_anew(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    new = old_file(path, *TURNS)
    with Memory(path, embedder=Hashing(), key_file=path.with_suffix(".key")) as memory:
        with memory.background.worker(off=set(NAMES) - {"embedding"}) as worker:
            worker.drain()
        assert same(vectors_in(memory), new) == [1, 2, 3, 4]


def test_one_process_at_a_time_makes_old_vectors_anew(tmp_path: Path) -> None:
    path, clock = tmp_path / "f.db", FrozenClock(1_700_000_000_000)
    new = old_file(path, *TURNS)
    key = path.with_suffix(".key")

    class Meanwhile(Hashing):
        """An embedder that lets something happen while it embeds."""

        def __init__(self, what: Callable[[], object]) -> None:
            super().__init__()
            self.what = what

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            self.what()
            self.what = lambda: None
            return super().embed(texts)

    with Memory(path, embedder=Hashing(), key_file=key, clock=clock) as other:
        left = []

        def leaves() -> None:
            left.append(other.embed().claimed)

        with Memory(path, embedder=Meanwhile(leaves), key_file=key, clock=clock) as memory:
            assert memory.embed(limit=2).claimed == 2
            assert left == [0]
            assert (other.resources.embedder.calls, other.maintenance.outdated()) == (0, 2)

        def takes_over() -> None:
            clock.advance(days=1)
            left.append(other.embed().claimed)

        with Memory(path, embedder=Meanwhile(takes_over), key_file=key, clock=clock) as memory:
            assert memory.embed().claimed == 0  # too slow: the other has made them and swapped
            assert left == [0, 2]
            assert memory.maintenance.outdated() == 0
            assert same(vectors_in(memory), new) == [1, 2, 3, 4]
            assert memory.embed().claimed == 0
            assert memory.check() == []
    with closing(apsw.Connection(str(path))) as file:
        assert list(file.execute("SELECT count(*) FROM next_vector")) == [(0,)]
        assert list(file.execute("SELECT * FROM meta WHERE name = 'next_embedder'")) == []


def test_rows_embedded_by_another_before_the_swap_are_made_anew_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.db"
    old_file(path, *TURNS)
    key = path.with_suffix(".key")
    with (
        Memory(path, embedder=Hashing(), key_file=key) as other,
        Memory(path, embedder=Hashing(), key_file=key) as memory,
    ):
        swap = embedding.EmbeddingQueue._swap

        def late(queue: embedding.EmbeddingQueue, embedder: Hashing, fence: Fence) -> None:
            if len(vectors_in(other)) == 4:
                say(other, "a fifth")
                other.embed(limit=1)
            swap(queue, embedder, fence)

        monkeypatch.setattr(embedding.EmbeddingQueue, "_swap", late)
        assert memory.embed().claimed >= 4
        assert memory.maintenance.outdated() == 0
        assert len(vectors_in(memory)) == 5
        assert memory.check() == []


def test_another_model_is_left_to_the_process_that_embeds_with_it(tmp_path: Path) -> None:
    path, key = tmp_path / "f.db", tmp_path / "key"
    with Memory(path, embedder=Hashing(), key_file=key) as memory:
        say(memory, "alpha beta", "gamma delta")
        memory.embed()
    with (
        Memory(path, embedder=Hashing("hashing-2"), key_file=key) as one,
        Memory(path, embedder=Hashing("hashing-2"), key_file=key) as other,
    ):

        def while_made(_: int) -> None:
            with pytest.raises(TakenOver):
                other.maintenance.reembed()

        assert one.maintenance.reembed(progress=while_made) == 2
        assert other.maintenance.reembed() == 0
        assert other.recall("alpha").hits[0].text == "alpha beta"
