"""Seed 001, line by line: a semantic fact system with two modes of recall and a nightly upkeep.

Each test names the line of the requirement that it shows. What is a decision about a gap of the
seed says so.
"""

from __future__ import annotations

import inspect
import itertools
import json
import math
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import Cli
from factbook import policy
from factbook.apply.apply import apply
from factbook.embed import token_counter
from factbook.errors import EmbedderMismatch, FactbookError, UsageError
from factbook.interests.jobs import NAMES
from factbook.maintenance.consolidate import PHASES, PairQuestion, RunReport
from factbook.maintenance.verdict_queue import judged_pairs
from factbook.memory import Memory
from factbook.model.facts import (
    ME,
    Candidate,
    EpisodeKind,
    Fact,
    FactKind,
    Hit,
    Millis,
    Role,
    Status,
    Trigger,
    Trust,
)
from factbook.model.fading import recency, relevance_score
from factbook.model.ops import (
    AssertFact,
    JudgePair,
    MergeFacts,
    RecordEpisode,
    RecordSource,
    SupportFact,
)
from factbook.recall import plan
from factbook.recall.budget import ContextLimits, Tier, ToolResult, build_context
from factbook.recall.plan import Mode, SearchType, Turn, plan_search
from factbook.recall.prefetch import PassiveStream, Streamed, StreamState, in_stream
from factbook.testing import FrozenClock, sample_episode, sample_source

DAY: Millis = 24 * 3600 * 1000
PATIENCE = 30.0  # seconds after which a test gives up waiting
SCRIPT = Path(__file__).parents[2] / "scripts" / "run_consolidation.py"


class Placed:
    """An embedder that puts texts where a test wants them: at a cosine to one direction.

    Every other text has a direction of its own, so nothing is like anything else by chance.
    """

    id = "placed-1"
    dim = 128

    def __init__(self, **cosines: float) -> None:
        self.cosines: dict[str, float] = dict(cosines)
        self._own: dict[str, int] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            own = self._own.setdefault(text, 1 + len(self._own) % (self.dim - 1))
            cosine = self.cosines.get(text, 0.0)
            row[0], row[own] = cosine, math.sqrt(1 - cosine**2)
        return rows


class Broken:
    """An embedder that must not be asked, or is in trouble."""

    id = "placed-1"
    dim = 128

    def __init__(self, trouble: str = "raises") -> None:
        self.trouble = trouble

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.trouble == "raises":
            raise RuntimeError("the model is gone")
        fill = {"NaN": np.nan, "zeros": 0.0, "another dimension": 1.0}[self.trouble]
        dim = 5 if self.trouble == "another dimension" else self.dim
        return np.full((len(texts), dim), fill, np.float32)


@dataclass(slots=True)
class Life:
    """A memory whose owner says things, with a clock that moves only when told."""

    memory: Memory
    clock: FrozenClock
    folder: Path
    said: int = 0

    def says(self, text: str, *, role: str = "user", session: str = "") -> int:
        """Say something in a conversation of its own; return the number of the episode."""
        self.said += 1
        self.clock.now += 60_000
        uid = f"turn-{self.said}"
        self.memory.add_turn(text, role=role, session=session or f"s{self.said}", uid=uid)
        return int(self.rows("SELECT max(id) FROM episodic_memory")[0][0])

    def night(self, *, days: float = 0.0, **options: Any) -> RunReport:
        """Let days go by, and consolidate."""
        self.clock.advance(days=days)
        return self.memory.consolidate(**options)

    def states(
        self,
        text: str,
        confidence: float = 0.7,
        *,
        predicate: str = "states",
        kind: FactKind = FactKind.STATEMENT,
    ) -> Fact:
        """Put a fact of that very confidence into the file, with a turn behind it."""
        self.said += 1
        episode = sample_episode(
            self.said,
            uid=f"stated-{self.said}",
            text=f"({self.said}) {text}",
            kind=EpisodeKind.COMMAND,  # so it does not come by itself, in the place of its fact
            role=Role.USER,
            trust=Trust.DIRECT,
            occurred_at=self.clock.now,
        )
        candidate = Candidate(
            subject=ME,
            predicate=predicate,
            object=text,
            statement=text,
            confidence=confidence,
            rule="by_hand",
            method="by hand",
            start=len(episode.text) - len(text),
            end=len(episode.text),
            kind=kind,
            embed=True,
        )
        said = AssertFact(
            candidate=candidate,
            episode=episode.uid,
            owner=ME,
            confidence=confidence,
            trust=Trust.DIRECT,
            quote=text,
        )
        self.write(RecordSource(source=sample_source()), RecordEpisode(episode=episode), said)
        return next(
            one
            for one in self.memory.query_facts(predicate=predicate, include_deprecated=True)
            if one.object == text
        )

    def write(self, *ops: Any) -> None:
        trigger = Trigger.COMMAND
        apply(self.memory.store, ops, trigger=trigger, actor="test", now=self.clock.now)

    def supports(self, fact: Fact, episode: int, quote: str) -> None:
        (text,) = self.rows("SELECT text FROM episodic_memory WHERE id = ?", episode)[0]
        start = str(text).index(quote)
        self.write(
            SupportFact(
                fact_id=fact.id,
                episode_id=episode,
                quote=quote,
                start=start,
                end=start + len(quote),
                rule="by_hand",
                method="by hand",
                trust=Trust.DIRECT,
            )
        )

    def wait_for_a_verdict(
        self, one: Fact, other: Fact, why: str = "no rule can tell", rule: str = "close"
    ) -> None:
        self.write(
            JudgePair(
                low_id=min(one.id, other.id),
                high_id=max(one.id, other.id),
                relation="ambiguous",
                rule=rule,
                detail=why,
                similarity=0.9,
            )
        )

    def fact(self, text: str, *, deprecated: bool = False) -> Fact:
        found = self.memory.query_facts(include_deprecated=deprecated)
        return next(one for one in found if one.statement == text)

    def statements(self) -> list[str]:
        return [one.statement for one in self.memory.query_facts()]

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask the file by plain SQL, as any other program would."""
        connection = apsw.Connection(str(self.memory.path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return list(connection.execute(sql, values))
        finally:
            connection.close()

    def semantic(self, fact: Fact | int) -> dict[str, Any]:
        """Return a row of `semantic_memory`."""
        number = fact if isinstance(fact, int) else fact.id
        names = (
            "status, confidence, derived_from, evidence_count, merged_into_id, archived_at,"
            " last_updated, category, embedding, text"
        )
        (row,) = self.rows(f"SELECT {names} FROM semantic_memory WHERE id = ?", number)
        found = dict(zip(names.replace(" ", "").split(","), row, strict=True))
        found["derived_from"] = json.loads(found["derived_from"])
        return found

    def ready(self, session: str) -> Streamed:
        """Return what streams for the next turn, once the search behind has ended."""
        deadline = time.monotonic() + PATIENCE
        while (found := self.memory.take_prefetched(session)).state is StreamState.LATE:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        return found


@pytest.fixture
def embedder() -> Placed:
    return Placed()


def opened(folder: Path, clock: FrozenClock, embedder: Any = None) -> Memory:
    return Memory(folder / "m.db", clock=clock, embedder=embedder, key_file=folder / "key")


@contextmanager
def embedding_worker(memory: Memory) -> Iterator[None]:
    """Embed behind, as `factbook worker` does, and do nothing else."""
    with memory.background.worker(off=set(NAMES) - {"embedding"}, idle_ms=0) as worker:
        worker.start()
        yield


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    """A memory with the embedder that ships."""
    clock = FrozenClock()
    with opened(tmp_path, clock) as memory:
        yield Life(memory, clock, tmp_path)
        assert memory.check() == []


@pytest.fixture
def placed(tmp_path: Path, embedder: Placed) -> Iterator[Life]:
    """A memory whose cosines the test decides."""
    clock = FrozenClock()
    with opened(tmp_path, clock, embedder) as memory:
        yield Life(memory, clock, tmp_path)
        assert memory.check() == []


def texts(hits: Sequence[Hit]) -> list[str]:
    return [one.text for one in hits]


def score(hits: Sequence[Hit], said: str) -> float:
    """Return the best score of what says that, or 0."""
    return max((one.score for one in hits if said in one.text), default=0.0)


# --- states and columns ---------------------------------------------------------------------------


def test_the_tables_of_the_seed_answer_plain_sql(life: Life) -> None:
    """Tables `semantic_memory`, `episodic_memory`; `status`, `derived_from[]`, `evidence_count`,
    `last_updated`, `confidence`, category, embedding."""
    episode = life.says("I live in Oslo.")
    assert life.rows("SELECT status, embedding FROM episodic_memory") == [("pending_embed", None)]
    life.night()
    (found,) = life.rows("SELECT id FROM semantic_memory WHERE status = 'active'")
    row = life.semantic(found[0])
    assert (row["text"], row["category"], row["confidence"]) == (
        "I live in Oslo.",
        "statement",
        policy.STATED,
    )
    assert (row["derived_from"], row["evidence_count"]) == ([episode], 1)
    when = datetime.fromtimestamp(life.clock.now / 1000, UTC).isoformat(timespec="milliseconds")
    assert row["last_updated"] == when.replace("+00:00", "Z")
    assert (row["merged_into_id"], row["archived_at"]) == (None, None)
    assert len(row["embedding"]) == 2 * life.memory.resources.embedder.dim  # half precision
    (turn,) = life.rows("SELECT text, role, status, timestamp, embedding FROM episodic_memory")
    assert turn[:3] == ("I live in Oslo.", "user", "active")
    assert len(turn[4]) == len(row["embedding"])


def test_never_delete(life: Life) -> None:
    """ "Never delete: Merged facts stay in DB with status change"."""
    one = life.states("My dog is called Rex.", 0.9)
    other = life.states("The name of my dog is Rex.", 0.8)
    before = life.rows("SELECT count(*) FROM semantic_memory")
    life.night()
    assert life.rows("SELECT count(*) FROM semantic_memory") == before
    assert life.semantic(other)["status"] == "merged_into"
    assert life.semantic(other)["text"] == "The name of my dog is Rex."
    assert life.statements() == [one.statement]


# --- 1 the embedding queue ------------------------------------------------------------------------


def test_pending_embed_then_active(life: Life) -> None:
    """New fact → `pending_embed` → background queue → embedder → `active`."""
    fact = life.states("My boat is called Wanda.")
    assert fact.status is Status.PENDING_EMBED
    assert life.semantic(fact)["status"] == "pending_embed"
    assert life.semantic(fact)["embedding"] is None
    life.memory.embed()
    assert life.semantic(fact)["status"] == "active"
    assert life.semantic(fact)["embedding"] is not None


def test_facts_are_queryable_at_once_by_their_words(tmp_path: Path) -> None:
    """Non-blocking; "facts queryable immediately via text fallback"."""
    with opened(tmp_path, FrozenClock(), Broken()) as memory:
        memory.add_turn("The ferry leaves at noon.", session="s")
        fact = memory.remember("My boat is called Wanda.")
        assert fact.status is Status.PENDING_EMBED
        assert "My boat is called Wanda." in texts(memory.search_memory("boat"))
        assert "The ferry leaves at noon." in texts(memory.search_memory("ferry"))
        assert memory.check() == []


def test_the_vector_leg_finds_active_facts_and_the_text_leg_waiting_ones_too(life: Life) -> None:
    """Decided: vector leg = active only, text leg = active + pending_embed."""
    fact = life.memory.remember("My boat is called Wanda.")
    for status, vectors in ((Status.PENDING_EMBED, 0), (Status.ACTIVE, 1)):
        assert life.memory.sources.fact(fact.id).status is status
        assert len(life.memory.engine.vectors_of([f"f{fact.id}"])) == vectors
        assert "My boat is called Wanda." in texts(life.memory.search_memory("boat"))
        life.memory.embed()


def test_the_worker_runs_continuously_and_survives_a_restart(tmp_path: Path) -> None:
    """Worker runs continuously, survives restart; [ ] mirrors the episodic pattern."""

    def drained(memory: Memory) -> None:
        deadline = time.monotonic() + PATIENCE
        while memory.maintenance.waiting():
            assert time.monotonic() < deadline
            clock.now += 1_000  # a loop is asked again after a second
            time.sleep(0.005)

    clock = FrozenClock()
    for round_ in range(2):  # each time another process, as far as the file can tell
        with opened(tmp_path, clock, Placed()) as memory:
            found = Life(memory, clock, tmp_path, said=round_ * 10)
            found.states(f"Waiting fact {round_}")
            with embedding_worker(memory):
                drained(memory)
                found.says(f"What came while it ran, {round_}")  # an episode waits like a fact
                drained(memory)
            assert memory.check() == []
    with opened(tmp_path, clock, Placed()) as memory:
        statuses = Life(memory, clock, tmp_path).rows(
            "SELECT status FROM semantic_memory UNION ALL SELECT status FROM episodic_memory"
        )
        assert set(statuses) == {("active",)}


def test_the_provider_is_pluggable(tmp_path: Path) -> None:
    """Provider pluggable: any object with an id, a dimension and `embed`."""

    class Elsewhere(Placed):
        id = "text-embedding-004"
        dim = 768

    with opened(tmp_path, FrozenClock(), Elsewhere()) as memory:
        memory.add_turn("The ferry leaves at noon.", session="s")
        assert memory.embed().receipt.embedded == 1
        assert memory.store.embedder() == ("text-embedding-004", 768)
        assert memory.check() == []


# --- 2 recall: mode A -----------------------------------------------------------------------------


def test_passive_recall_uses_the_turns_before_and_not_the_current_input(life: Life) -> None:
    """Mode A passive: async, uses previous turns, **not** the current input; result cached for the
    next turn. Decided: after turn N finishes embed turns (N-1, N), use in N+1."""
    dog, cello = "My dog is called Rex.", "I play the cello in an orchestra."
    for text in (dog, cello):
        life.states(text, 0.9)
    life.memory.embed()
    assert (
        life.memory.take_prefetched("chat").state is StreamState.NONE
    )  # turn 1: nothing was said before
    life.memory.sync_turn("Tell me something about my dog.", "Gladly.", session="chat")
    second = life.ready("chat")
    assert (second.turn, second.memories[0].text) == (2, dog)
    # What turn 2 asks changes nothing for turn 2; turn 3 has it, beside turn 1.
    assert life.memory.take_prefetched("chat") == second
    life.memory.sync_turn("Now let us talk about music.", "Gladly.", session="chat")
    third = life.ready("chat")
    assert third.turn == 3
    assert score(third.memories, dog) > 0
    assert score(third.memories, cello) > score(second.memories, cello)


def test_the_names_of_the_seed(life: Life) -> None:
    """`handle_turn`, `get_recent_turns(count=2)`, `retrieve_memories_async`,
    `cache_for_next_turn`."""
    life.states("My dog is called Rex.", 0.9)
    life.memory.embed()
    stream = life.memory.conversation(session="chat").stream()
    assert inspect.signature(PassiveStream.get_recent_turns).parameters["count"].default == 2
    for n in range(3):
        said = stream.handle_turn(
            f"Question {n} about my dog", lambda asked, _: f"I heard: {asked}"
        )
    assert said == "I heard: Question 2 about my dog"
    window = stream.get_recent_turns(count=2)
    assert texts_of(window) == [
        "Question 1 about my dog",
        "I heard: Question 1 about my dog",
        "Question 2 about my dog",
        "I heard: Question 2 about my dog",
    ]
    found = stream.retrieve_memories_async(window).result(PATIENCE)
    stream.cache_for_next_turn(found)
    assert score(life.ready("chat").memories, "My dog is called Rex.") > 0


def texts_of(turns: Sequence[Turn]) -> list[str]:
    return [one.text for one in turns]


def test_passive_recall_never_blocks_a_turn(tmp_path: Path) -> None:
    """Non-blocking: the turn goes on while the search stands still."""
    going = threading.Event()

    class Slow(Placed):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            assert going.wait(PATIENCE)
            return super().embed(texts)

    clock = FrozenClock()
    with opened(tmp_path, clock, Slow()) as memory:
        found = Life(memory, clock, tmp_path)
        found.states("The ferry leaves at noon.", 0.9)
        memory.sync_turn("When does the ferry leave?", "Let me see.", session="chat")
        assert memory.take_prefetched("chat").state is StreamState.LATE
        going.set()
        assert score(found.ready("chat").memories, "The ferry leaves at noon.") > 0
        assert memory.check() == []


def test_top_five_facts_and_five_episodes(placed: Life) -> None:
    """Top 3–5 facts (diversity-sampled) + top 3–5 episodes."""
    for n in range(8):
        placed.states(f"The ferry number {n} is painted in a colour of its own.", 0.9)
        placed.says(f"Yesterday the ferry {n} had a delay{'!' * n}", role="assistant")
    placed.memory.embed()
    hits = placed.memory.conversation().prefetch("Which ferry do you mean?")
    kinds = [one.kind for one in hits]
    assert 3 <= kinds.count("fact") <= plan.STREAMED_FACTS == 5
    assert 3 <= kinds.count("episode") <= plan.STREAMED_EPISODES == 5


def test_the_score_of_relevance(placed: Life) -> None:
    """Sort by `relevance_score = similarity*0.6 + confidence*0.3 + recency*0.1`."""
    assert relevance_score(0.5, 0.8, 0.25) == pytest.approx(0.5 * 0.6 + 0.8 * 0.3 + 0.25 * 0.1)
    for text, confidence in (("Ferry one is green.", 0.6), ("Ferry two is green.", 0.95)):
        placed.states(text, confidence)
    hits = placed.memory.search_memory("ferry green", "facts")
    assert texts(hits) == ["Ferry two is green.", "Ferry one is green."]  # equal but for confidence
    assert hits[0].score > hits[1].score


def test_recency_is_a_decay_over_days(placed: Life) -> None:
    """Recency undefined → `exp(-0.01*days)`; recency weighting (decay applied)."""
    now = placed.clock.now
    assert recency(now - 10 * DAY, now) == pytest.approx(math.exp(-0.1))
    assert recency(now + DAY, now) == 1.0
    placed.states("Ferry one is green.", kind=FactKind.OBSERVATION)
    placed.clock.advance(days=100)
    placed.states("Ferry two is green.", kind=FactKind.OBSERVATION)
    found = texts(placed.memory.search_memory("ferry green", "facts"))
    assert found == ["Ferry two is green.", "Ferry one is green."]


# --- 2 recall: mode B -----------------------------------------------------------------------------


def test_the_signature_of_the_tool(life: Life) -> None:
    """`search_memory(query: str, search_type: Literal["facts","episodes","both"]="both",
    limit: int=5) -> List[Memory]` (text, confidence, timestamp); blocking."""
    taken = list(inspect.signature(life.memory.search_memory).parameters.values())[:3]
    assert [(one.name, one.default) for one in taken] == [
        ("query", inspect.Parameter.empty),
        ("search_type", "both"),
        ("limit", 5),
    ]
    assert set(get_args(SearchType)) == {"facts", "episodes", "both"}
    life.states("I work on the billing project.", 0.8)
    life.says("The billing project is due in May.", role="assistant")
    life.memory.embed()
    (hit,) = life.memory.search_memory("user's work projects", "facts", 1)
    assert hit.text == "I work on the billing project."
    assert hit.confidence == pytest.approx(0.8, abs=1e-4)
    assert hit.timestamp == "2025-11-21T04:40:00Z"
    kinds = {
        one: {hit.kind for hit in life.memory.search_memory("billing project", one)}
        for one in ("facts", "episodes", "both")
    }
    assert kinds["facts"] == {"fact"}
    assert kinds["episodes"] == {"episode"}
    with pytest.raises(UsageError, match="give 'facts', 'episodes' or 'both'"):
        life.memory.search_memory("x", "everything")  # type: ignore[arg-type]


def test_what_did_i_say_last_month(life: Life) -> None:
    """Usable "last month" queries: "What did I say about X last month?"."""
    then = int(datetime(2025, 10, 14, 12, tzinfo=UTC).timestamp() * 1000)
    say = life.memory.add_turn
    say("I won the village chess cup.", session="a", occurred_at=then)
    say("I won the ferry race.", session="b", occurred_at=life.clock.now)
    life.memory.embed()
    found = life.memory.search_memory("What did I say about winning last month?")
    assert texts(found) == ["I won the village chess cup."]


def test_the_tool_has_a_budget_of_its_own(life: Life) -> None:
    """Separate budget: tool results do not compete with streamed context."""
    life.states("My dog is called Rex.", 0.9)
    life.memory.embed()
    streamed = hits("fact", "The tram is yellow.", "I play the cello in an orchestra.")[1:]
    tool = life.memory.search_memory("my dog", "facts", 1)
    for room in (ContextLimits(), ContextLimits(tools=0), ContextLimits(facts=0, episodes=0)):
        built = life.memory.context(
            "Well?", memories=streamed, tool_results=[ToolResult(memories=tool)], limits=room
        )
        assert ("Rex" in built.text) == (room.tools > 0)
        assert ("cello" in built.text) == (room.facts > 0)


# --- 2 recall: shared -----------------------------------------------------------------------------


def test_twenty_candidates_are_weighed() -> None:
    """Vector top **20** candidates."""
    assert plan.CANDIDATES == 20
    assert plan_search(Mode.PASSIVE).candidates >= 20
    assert plan_search(Mode.ACTIVE, limit=1).candidates == 20


def test_confidence_thresholds_of_both_modes(placed: Life) -> None:
    """Confidence **> 0.5 passive, > 0.3 tool**; `<0.3` excluded from all retrieval. Decided for the
    boundaries: exactly 0.3 = tool, exactly 0.5 = tool only because ">0.5"."""
    for confidence in (0.29, 0.3, 0.5, 0.51):
        placed.states(f"The ferry has a rating of {confidence}.", confidence)
    placed.memory.embed()
    asked = placed.memory.search_memory("ferry rating", "facts")
    assert sorted(one.confidence for one in asked) == [0.3, 0.5, 0.51]
    came = placed.memory.conversation().prefetch("Tell me about the rating of the ferry.")
    assert [one.confidence for one in came if one.kind == "fact"] == [0.51]
    # Visible only by id, and where it is asked for.
    assert len(placed.memory.query_facts(include_deprecated=True)) == 4
    gone = placed.fact("The ferry has a rating of 0.29.", deprecated=True)
    assert gone.status is Status.DEPRECATED
    assert placed.memory.explain(gone.id).fact.confidence == 0.29
    assert gone.statement not in placed.statements()


def test_diversity_takes_one_of_each_cluster(placed: Life, embedder: Placed) -> None:
    """Diversity: cluster at cosine **0.8**, until `limit`. Decided: the clusters in the order of
    their best relevance, and the most relevant stands for its cluster, so that the best answer to
    the question is never lost to a surer neighbour."""
    alike = ("The ferry to Bergen is slow.", "The Bergen ferry is really slow and late.")
    embedder.cosines = {alike[0]: 1.0, alike[1]: 0.81}
    placed.states(alike[0], 0.6)
    placed.states(alike[1], 0.65)
    placed.states("The ferry to Oslo is fast.", 0.9)
    placed.memory.embed()
    found = texts(placed.memory.search_memory("ferry to Bergen slow", "facts"))
    assert found == ["The ferry to Bergen is slow.", "The ferry to Oslo is fast."]
    embedder.cosines[alike[1]] = 0.79
    placed.memory.store.close()
    with opened(placed.folder / "apart", placed.clock, embedder) as memory:
        apart = Life(memory, placed.clock, placed.folder / "apart")
        for text in alike:
            apart.states(text)
        memory.embed()
        assert set(texts(memory.search_memory("ferry to Bergen slow", "facts"))) == set(alike)


# --- 3 confidence ---------------------------------------------------------------------------------


def test_evidence_grows_confidence(placed: Life, embedder: Placed) -> None:
    """Evidence: episodes with similarity **≥ 0.75** since `last_updated`:
    `confidence += 0.05*(1-confidence)`; append episode id to `derived_from`; counts once."""
    text, near, far = "I live in Oslo.", "Well: I live in Oslo.", "So: I live in Oslo."
    embedder.cosines = {text: 1.0, near: 0.76, far: 0.74}
    fact = placed.states(text, 0.6)
    episode = placed.says(near, role="system")  # somebody else: an assistant is no witness
    placed.says(far, role="system")
    moment = placed.clock.now
    placed.night()
    left = 0.6 * math.exp(-0.01 * (60_000 / DAY))  # what fades in the minute before it was said
    found = placed.semantic(fact)
    assert found["confidence"] == pytest.approx(left + 0.05 * (1 - left))
    assert found["derived_from"][1:] == [episode]
    assert found["evidence_count"] == 2
    assert found["last_updated"] <= datetime.fromtimestamp(moment / 1000, UTC).isoformat()
    placed.night()
    assert placed.semantic(fact) == found  # an episode counts once


def test_decay(placed: Life) -> None:
    """Decay `confidence *= exp(-days*0.01)` (≈10 % per 10 days); run nightly it does not
    compound."""
    text = "I like the old harbour."
    placed.states(text, 0.9)
    for _ in range(10):
        placed.night(days=1)
    assert placed.fact(text).confidence == pytest.approx(0.9 * math.exp(-0.1))


def test_what_does_not_fade(placed: Life) -> None:
    """Decided: observations (000), keyed facts (004) and pinned facts do not fade; typed memories
    (002) hold for their window of 30/14/7 days and fade by the same rate after it."""
    held = [
        placed.states("Bash", 1.0, predicate="used_tool", kind=FactKind.OBSERVATION),
        placed.states("BTC", 0.9, predicate="user.favorites.crypto.1", kind=FactKind.KEYED),
        placed.states("I like the old harbour.", 0.8),
    ]
    placed.memory.review.pin(held[-1].id)
    windows = {"user_fact": 30, "user_pattern": 14, "shared_narrative": 7}
    typed = [
        placed.states(f"Held as {name}.", 0.8, predicate=name, kind=FactKind.TYPED)
        for name in windows
    ]
    placed.clock.advance(days=40)
    now = {one.id: one.confidence for one in placed.memory.query_facts()}
    assert [now[one.id] for one in held] == [1.0, 0.9, 0.8]
    assert [now[one.id] for one in typed] == pytest.approx(
        [0.8 * math.exp(-0.01 * (40 - days)) for days in windows.values()]
    )


def test_days_count_from_when_the_evidence_happened(placed: Life) -> None:
    """Days count from when the evidence happened (`occurred_at`), never negative."""
    now = placed.clock.now
    old = placed.memory.remember("I like the old harbour.", at=now - 10 * DAY)
    new = placed.memory.remember("The tram is yellow.", at=now + 10 * DAY)
    found = {one.id: one.confidence for one in placed.memory.query_facts()}
    assert found[old.id] == pytest.approx(policy.TOLD * math.exp(-0.1))
    assert found[new.id] == policy.TOLD


def test_deprecation_is_computed_and_new_evidence_revives(placed: Life) -> None:
    """`<0.3` auto-deprecate (`status='deprecated'`); `deprecated` is computed from the value; new
    evidence revives."""
    text = "The old harbour is closed."
    fact = placed.states(text, 0.35)
    report = placed.night(days=30)
    assert report.faded == [fact.id]
    assert placed.fact(text, deprecated=True).status is Status.DEPRECATED
    assert text not in placed.statements()
    assert placed.memory.search_memory("old harbour", "facts") == []
    placed.memory.remember(text)
    assert placed.fact(text).confidence == policy.TOLD
    assert texts(placed.memory.search_memory("old harbour", "facts")) == [text]


def test_a_clear_contradiction_halves_both(life: Life) -> None:
    """Clear contradiction: cosine **> 0.85** and opposite valence → **both** ×0.5. Decided:
    deterministic polarity tells valence, not the cosine."""
    one, other = life.states("I like green tea.", 0.9), life.states("I hate green tea.", 0.9)
    report = life.night()
    assert report.receipt.contradicted == 2
    assert [life.semantic(fact)["confidence"] for fact in (one, other)] == pytest.approx([0.45] * 2)
    (pair,) = judged_pairs(life.memory.store)
    assert pair.relation == "contradiction"
    assert life.night().receipt.contradicted == 0  # each pair once


def test_an_ambiguous_pair_is_queued(life: Life) -> None:
    """Ambiguous → queue for one batched call."""
    one, other = (
        life.states("My dog is called Rex.", 0.9),
        life.states("The name of my dog is Rex.", 0.5),
    )
    report = life.night()
    assert (report.receipt.merged, report.waiting) == (0, 1)
    (question,) = life.memory.review.questions()
    assert {question.low_id, question.high_id} == {one.id, other.id}


def test_a_correction_supersedes_at_once(life: Life) -> None:
    """Decided: a user's explicit correction supersedes: the old fact keeps its row with `valid_to`
    and `superseded_by`."""
    old = life.memory.remember("My dog is called Rex.")
    new = life.memory.correct(old.id, "My dog is called Max.")
    kept = life.memory.store.facts_by_id([old.id])[old.id]
    assert (kept.status, kept.superseded_by) == (Status.SUPERSEDED, new.id)
    assert kept.valid_to == new.occurred_at
    assert life.statements() == ["My dog is called Max."]
    assert new.confidence == policy.TOLD  # not halved


def test_one_batched_call_resolves_all(life: Life) -> None:
    """ "LLM Batch Call: Resolve flagged contradictions in single API call per consolidation"."""
    said = (
        "I play chess.",
        "My boat is called Wanda.",
        "I paint fences.",
        "We use pnpm for builds.",
        "My dog sleeps a lot.",
        "I cook on Fridays.",
    )
    facts = [life.states(text) for text in said]
    for one, other in itertools.pairwise(facts):
        life.wait_for_a_verdict(one, other)
    calls: list[Sequence[PairQuestion]] = []

    def judge(questions: Sequence[PairQuestion]) -> Mapping[tuple[int, int], str]:
        calls.append(questions)
        return {(one.low_id, one.high_id): "KEEP_BOTH" for one in questions}

    assert life.night(resolver=judge).receipt.settled == 5
    assert life.night(resolver=judge).waiting == 0
    assert [len(one) for one in calls] == [5]


# --- 4 merging ------------------------------------------------------------------------------------


def test_an_automatic_merge(life: Life) -> None:
    """Stage 2: winner = max confidence; `derived_from` = union; `last_updated=now`; losers
    `status='merged_into'`, `merged_into_id`, `archived_at`. Decided: `evidence_count` is the union,
    for a sum counts shared episodes twice."""
    loser = life.states("The name of my dog is Rex.", 0.7)
    winner = life.states("My dog is called Rex.", 0.9)
    shared = life.says("My dog is called Rex. The name of my dog is Rex.", role="assistant")
    life.supports(winner, shared, "My dog is called Rex.")
    life.supports(loser, shared, "The name of my dog is Rex.")
    union = set(life.semantic(winner)["derived_from"]) | set(life.semantic(loser)["derived_from"])
    report = life.night()
    assert report.receipt.merged == 1
    kept, gone = life.semantic(winner), life.semantic(loser)
    assert set(kept["derived_from"]) == union
    assert kept["evidence_count"] == len(union) == 3
    assert (kept["status"], kept["archived_at"]) == ("active", None)
    assert (gone["status"], gone["merged_into_id"]) == ("merged_into", winner.id)
    assert gone["archived_at"] is not None
    assert gone["embedding"] is None


@pytest.mark.parametrize(
    ("one", "other", "sure"),
    [
        ("My dog is called Rex.", "My dog is not called Rex.", 0.9),  # opposite meaning
        ("My dog is called Rex.", "My dog is called Max.", 0.9),  # another name
        ("I have 2 dogs.", "I have 3 dogs.", 0.9),  # another number
        ("My dog is called Rex.", "The name of my dog is Rex.", 0.55),  # none above 0.6
    ],
)
def test_what_is_not_merged(life: Life, one: str, other: str, sure: float) -> None:
    """Auto-merge: no contradiction, no opposite meaning, at least one confidence **> 0.6**."""
    life.states(one, sure)
    life.states(other, sure)
    assert life.night().receipt.merged == 0


def test_only_the_same_category_and_similar_confidence_merge(life: Life) -> None:
    """Same category; "similar confidence" → within 0.3."""
    life.states("My dog is called Rex.", 0.95)
    life.states("The name of my dog is Rex.", 0.55)  # further apart than 0.3
    life.states("I live in Oslo.", 0.9)
    life.states("I live in Oslo.", 0.9, predicate="user_fact", kind=FactKind.TYPED)
    report = life.night()
    assert report.receipt.merged == 0
    assert report.waiting == 1  # the dogs wait for a verdict
    assert policy.MERGE_SIMILARITY == 0.85
    assert (policy.MERGE_WITHIN, policy.MERGE_MIN_CONFIDENCE) == (0.3, 0.6)


def test_a_chain_does_not_merge_its_ends(placed: Life, embedder: Placed) -> None:
    """Decided: connected components chain (A~B~C with A≁C) → every member must hold against the
    winner."""
    chain = ["I have a dog.", "I have a dog and a cat.", "I have a cat."]
    embedder.cosines = {chain[0]: 1.0, chain[1]: 0.95, chain[2]: 0.87}
    for text in chain:
        placed.states(text, 0.9)
    placed.night()
    assert {"I have a dog.", "I have a cat."} <= set(placed.statements())


def test_pointer_chains_lead_to_the_fact_that_holds(placed: Life, cli: Cli) -> None:
    """Decided: a winner can itself be merged later → pointer chains are resolved."""
    one, two, three = (placed.states(f"The {n} boat is called Wanda.") for n in ("a", "b", "c"))
    for winner, loser in ((two, one), (three, two)):
        now = placed.memory.store.facts_by_id([winner.id, loser.id])
        counts = [now[fact.id].evidence_count for fact in (winner, loser)]
        placed.write(
            MergeFacts(
                winner_id=winner.id, loser_ids=[loser.id], evidence_counts=counts, rule="same"
            )
        )
    assert placed.semantic(one)["merged_into_id"] == two.id
    assert placed.semantic(three)["evidence_count"] == 3
    told = cli("--db", placed.memory.path, "--json", "explain", f"f{one.id}").out
    assert f"f{three.id}" in told


# the seed's own example of a prompt: two clusters of two, with their confidences
PROMPT = (
    (("User is a backend developer", 0.9), ("User works in frontend", 0.7)),
    (("User likes coffee", 0.8), ("User drinks coffee daily", 0.6)),
)


def test_the_batched_judgement_has_the_data_of_the_prompt(life: Life) -> None:
    """Stage 3 ambiguous → one batched prompt answering `MERGE, KEEP_BOTH, or CONTRADICTION` per
    cluster (prompt example given)."""
    assert policy.VERDICTS == ("MERGE", "KEEP_BOTH", "CONTRADICTION")
    pairs = [tuple(life.states(*one) for one in cluster) for cluster in PROMPT]
    for (one, other), rule in zip(pairs, ("close", "merge"), strict=True):
        life.wait_for_a_verdict(one, other, rule=rule)
    seen: list[PairQuestion] = []

    def judge(questions: Sequence[PairQuestion]) -> Mapping[tuple[int, int], str]:
        seen.extend(questions)
        return dict(
            zip(((q.low_id, q.high_id) for q in questions), ("CONTRADICTION", "MERGE"), strict=True)
        )

    report = life.night(resolver=judge)
    assert [tuple(zip(q.texts, q.confidences, strict=True)) for q in seen] == list(PROMPT)
    assert (report.receipt.contradicted, report.receipt.merged, report.waiting) == (2, 1, 0)
    (backend, frontend), (likes, drinks) = pairs
    assert life.semantic(backend)["confidence"] == pytest.approx(0.45)
    assert life.semantic(frontend)["confidence"] == pytest.approx(0.35)
    assert life.semantic(drinks)["merged_into_id"] == likes.id


def test_keep_both_keeps_both_for_good(life: Life) -> None:
    """`KEEP_BOTH`: "System can keep both if LLM determines validity"."""
    one, other = (life.states(text, 0.5) for text in ("I rest on Sundays.", "Sundays I rest."))
    life.wait_for_a_verdict(one, other)
    life.memory.review.settle({(one.id, other.id): "KEEP_BOTH"})
    report = life.night()
    assert (report.waiting, report.receipt.merged) == (0, 0)
    assert len(life.statements()) == 2
    noon = life.states("I rest at noon.")
    life.wait_for_a_verdict(one, noon)
    with pytest.raises(UsageError, match="use one of MERGE, KEEP_BOTH, CONTRADICTION"):
        life.memory.review.settle({(one.id, noon.id): "PERHAPS"})


# --- 5 the flow -----------------------------------------------------------------------------------


def test_the_order_of_the_night(life: Life) -> None:
    """Order: extract from episodes (HDBSCAN clustering) → queue embed → update confidence → find
    merge candidates → batch LLM (contradictions, merges) → apply → deprecate < 0.3 → re-embed
    modified facts."""
    life.says("I live in Oslo.")
    began: list[str] = []
    report = life.night(on_phase=began.append)
    assert began == list(PHASES)
    order = [
        began.index(name)
        for name in ("extract", "support", "judge", "merge", "resolve", "fade", "embed again")
    ]
    assert order == sorted(order)
    assert began[0] == "embed"  # what is clustered needs its vectors first
    assert list(report.seconds) == began
    assert life.memory.maintenance.waiting() == 0


def test_extraction_finds_what_recurs(life: Life) -> None:
    """Extract from episodes (HDBSCAN clustering)."""
    for text in (
        "We take the ferry to Bergen every Friday.",
        "Every Friday we take the ferry to Bergen.",
        "On every Friday we take the ferry to Bergen.",
        "The ferry to Bergen is what we take every Friday.",
        "Can you sort this list?",
    ):
        life.says(text)
    life.night()
    (fact,) = life.memory.query_facts(kind=FactKind.STATEMENT)
    assert "Bergen" in fact.statement
    assert fact.evidence_count >= 3
    assert fact.statement in [one.quote for one in life.memory.explain(fact.id).evidence]


def test_without_a_model_the_queues_stay(life: Life) -> None:
    """Works with LLM absent: queues stay, nothing lost; error handling and fallbacks."""
    one, other = life.states("I take long walks."), life.states("The tram is yellow.")
    life.wait_for_a_verdict(one, other)

    def fails(questions: Sequence[PairQuestion]) -> Mapping[tuple[int, int], str]:
        raise FactbookError(detail="the model did not answer")

    assert life.night().waiting == 1
    report = life.night(resolver=fails)
    assert (report.state, report.error, report.waiting) == ("done", "the model did not answer", 1)
    assert life.night(resolver=lambda questions: {}).waiting == 1  # no answer to a question
    assert len(life.statements()) == 2


@pytest.mark.parametrize("days", [1, 7])
def test_any_interval_works(placed: Life, days: int) -> None:
    """The seed calls consolidation nightly and weekly → nightly by default, any interval works."""
    placed.states("I like the old harbour.", 0.9)
    for _ in range(28 // days):
        placed.night(days=days)
    found = placed.fact("I like the old harbour.")
    assert found.confidence == pytest.approx(0.9 * math.exp(-0.28))


def test_run_consolidation_is_there(cli: Cli, placed: Life, tmp_path: Path) -> None:
    """`run_consolidation.py` exists as a script that calls `factbook consolidate`."""
    import subprocess

    placed.memory.close()
    db = tmp_path / "real.db"
    cli("--db", db, "remember", "My dog is called Rex.")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--db", str(db), "--json"],
        env=cli.environment(),
        capture_output=True,
        timeout=120,
        check=True,
    )
    again = cli("--db", db, "--json", "consolidate").json()
    assert json.loads(done.stdout).keys() == again.keys()
    runs = cli("--db", db, "--json", "runs").json()
    assert len(runs["runs"] if isinstance(runs, dict) else runs) == 2


# --- 6 the budget ---------------------------------------------------------------------------------

COUNT = token_counter()
LONG = " ".join(f"word{n}" for n in range(2_000))


def hits(kind: str, *said: str) -> list[Hit]:
    letter = kind[0]
    return [
        Hit(
            id=f"{letter}{n}",
            kind=kind,
            text=text,
            score=1.0 - n / 100,
            confidence=0.9,
            occurred_at=FrozenClock().now,
            source="",
            position=0,
            host="",
            project="",
            session="",
            predicate="states" if kind == "fact" else "",
        )
        for n, text in enumerate(said, 1)
    ]


def user(*said: str) -> list[Turn]:
    return [Turn(role=Role.USER, text=text) for text in said]


def test_the_budgets_are_the_seeds() -> None:
    """Recent messages 300–500 tok (last 3–5 turns); tool results ≤ 400; streamed facts 100–200;
    streamed episodes 100–200; hard limit **1500** configurable."""
    limits = ContextLimits()
    assert (limits.recent_sure, limits.recent) == (300, 500)
    assert (limits.turns_sure, limits.turns) == (3, 5)
    assert limits.tools == 400
    assert (limits.facts_sure, limits.facts) == (100, 200)
    assert (limits.episodes_sure, limits.episodes) == (100, 200)
    assert limits.total == 1500


def test_the_signature_of_the_builder() -> None:
    """`build_context(recent_msgs, tool_results, streamed_memories, system)`."""
    names = list(inspect.signature(build_context).parameters)
    assert names[:4] == ["recent_msgs", "tool_results", "streamed_memories", "system"]


def test_the_rules_of_the_budget(life: Life) -> None:
    """Recent REQUIRED, tool results HIGH, streamed MEDIUM, system FILL; the hard limit holds."""
    facts = hits("fact", *(f"Fact number {n}: {LONG[:200]}" for n in range(10)))
    turns = user(*(f"Turn {n}: {LONG[:700]}" for n in range(7)))
    for total in (1500, 900, 600, 300):
        built = life.memory.context(
            "And now?",
            recent=turns,
            tool_results=[ToolResult(text=LONG)],
            memories=facts,
            system=LONG,
            limits=ContextLimits(total=total),
        )
        tokens = {one.kind: one.tokens for one in built.blocks}
        assert COUNT(built.text) == built.tokens <= total
        assert {Tier.RECENT, Tier.TOOLS, Tier.SYSTEM} <= tokens.keys()  # never nothing of these
        assert tokens[Tier.TOOLS] <= 400
        assert tokens.get(Tier.FACTS, 0) <= 200
        assert tokens[Tier.RECENT] <= 500
        assert "And now?" in built.text
    assert Tier.FACTS not in tokens  # at 300 tokens the opportunistic part goes first
    assert built.left_out


def test_tool_results_are_included_and_trimmed(life: Life) -> None:
    """ "Tool results … must be included"; decided: trimmed to fit, never dropped."""
    built = life.memory.context(
        "Well?", tool_results=[ToolResult(text=f"The answer is 42. {LONG}")], memories=[]
    )
    assert "The answer is 42." in built.text
    (block,) = (one for one in built.blocks if one.kind is Tier.TOOLS)
    assert block.trimmed == ("tool:1",)
    assert block.tokens <= 400


def test_a_memory_too_large_is_skipped_and_the_next_is_tried(life: Life) -> None:
    """Decided: the first memory too large is skipped; it is not the end."""
    built = life.memory.context("Well?", memories=hits("fact", LONG, "My dog is called Rex."))
    assert "My dog is called Rex." in built.text
    assert [one.id for one in built.left_out] == ["f1"]


def test_the_system_text_keeps_a_minimum(life: Life) -> None:
    """Decided: system goes last and can be truncated to nothing → reserve a minimum."""
    built = life.memory.context(
        LONG,
        tool_results=[ToolResult(text=LONG)],
        memories=hits("fact", LONG[:700]) + hits("episode", LONG[:700]),
        system=f"You are a kind assistant. {LONG}",
        limits=ContextLimits(total=800),
    )
    assert "You are a kind assistant." in built.text


def test_limits_are_configurable(life: Life) -> None:
    """Config-driven limits: "Expandable: Config-driven limits, not hardcoded"."""
    built = life.memory.context(LONG, memories=[], limits=ContextLimits(total=4000, recent=3000))
    assert 2500 < built.tokens <= 4000


# --- costs and metrics ----------------------------------------------------------------------------


def figures(cli: Cli, life: Life) -> dict[str, Any]:
    """Return the figures that `factbook stats` shows."""
    found = cli("--db", life.memory.path, "--json", "stats").json()
    return dict(found["metrics"])


def test_passive_relevance_and_latency_are_counted(life: Life, cli: Cli) -> None:
    """Counters: passive relevance (% cited), passive latency **< 100 ms**. Decided: "cited" → the
    answer names the memory's id or shares a content-word 4-gram or its value with it."""
    life.states("My dog is called Rex and sleeps on the blue couch.", 0.9)
    life.states("The ferry to Bergen leaves from the southern pier.", 0.9)
    life.memory.embed()
    life.memory.sync_turn("Where does my dog sleep, and the ferry to Bergen?", session="chat")
    assert len(life.ready("chat").memories) == 2
    life.memory.sync_turn("Say it.", "Oh, Rex sleeps on the blue couch at home.", session="chat")
    found = figures(cli, life)
    assert found["passive_relevance"]["part"] == 1
    assert found["passive_relevance"]["of"] == 2
    assert found["passive_latency_ms"] > 0  # the bench holds it to 100 ms


def test_tool_adoption_and_effectiveness_are_counted(life: Life, cli: Cli) -> None:
    """Tool effectiveness, tool adoption. Decided: "resolves" → no further `search_memory` on the
    same question in the turn."""
    life.states("My dog is called Rex.", 0.9)
    life.memory.search_memory("name of the dog", session="chat")
    life.memory.search_memory("what is the name of my dog", session="chat")
    life.memory.search_memory("weather in Bergen", session="chat")
    life.memory.sync_turn("What is my dog called?", "Rex.", session="chat")
    found = figures(cli, life)
    assert found["searches"] == 3
    assert found["tool_effectiveness"]["part"] == 2
    assert found["tool_effectiveness"]["of"] == 3


def test_diversity_is_counted(life: Life, cli: Cli) -> None:
    """Diversity score: "Measure redundancy in retrieved facts"."""
    life.states("My dog is called Rex and sleeps on the blue couch.", 0.9)
    life.states("The ferry to Bergen leaves from the southern pier.", 0.9)
    life.memory.embed()
    life.memory.sync_turn("Where does my dog sleep, and the ferry to Bergen?", session="chat")
    assert len(life.ready("chat").memories) == 2
    life.memory.sync_turn("Say it.", "I will.", session="chat")
    deadline = time.monotonic() + PATIENCE  # it is measured behind, when the next search has ended
    while (found := figures(cli, life).get("diversity")) is None:
        assert time.monotonic() < deadline
    assert found["of"] == 1
    assert 0 < found["part"] <= 1


def test_the_figures_of_upkeep_are_counted(life: Life, cli: Cli) -> None:
    """Dedup rate, confidence accuracy, deprecation rate, % contradictions resolved automatically,
    user feedback on factual accuracy (`factbook feedback FACT right|wrong`)."""
    life.clock.now = int(time.time() * 1000)  # the commands below read the real clock
    life.states("My dog is called Rex.", 0.9)
    life.states("The name of my dog is Rex.", 0.9)
    life.states("I like green tea.", 0.9)
    life.states("I hate green tea.", 0.9)
    faded = life.states("I collect stamps.", 0.9)
    for text in ("I play the cello.", "I sail on the fjord."):
        life.memory.remember(text)
    life.night()
    kept = life.fact("I play the cello.")
    cli("--db", life.memory.path, "feedback", f"f{kept.id}", "right")
    cli("--db", life.memory.path, "feedback", f"f{faded.id}", "wrong")
    found = figures(cli, life)
    assert found["deduplication"]["part"] == 1
    assert found["deprecation"]["part"] >= 1
    assert found["resolved_by_rules"]["part"] == found["resolved_by_rules"]["of"] == 1
    assert (found["right"]["part"], found["right"]["of"]) == (1, 2)
    assert "confidence_accuracy" in found


def test_streaming_can_be_switched_off_for_some(life: Life) -> None:
    """A/B switch for streaming."""
    life.states("My dog is called Rex.", 0.9)
    talk = life.memory.conversation(session="chat", share=0.0)
    stream = talk.stream()
    life.memory.sync_turn("What is my dog called?", "Let me see.", session="chat")
    assert life.memory.take_prefetched("chat").state is StreamState.OFF
    assert not stream.enabled
    arms = [in_stream(f"session {n}", 0.5) for n in range(1000)]
    assert 400 < sum(arms) < 600


def test_no_night_costs_more_than_one_call(life: Life) -> None:
    """**< $0.10/week** consolidation, ~2 LLM calls/week: one call a night at most, and none without
    a question."""
    calls: list[int] = []

    def judge(questions: Sequence[PairQuestion]) -> Mapping[tuple[int, int], str]:
        calls.append(len(questions))
        return {(one.low_id, one.high_id): "KEEP_BOTH" for one in questions}

    one, other = life.states("I take long walks."), life.states("The tram is yellow.")
    for night in range(7):
        if night == 3:
            life.wait_for_a_verdict(one, other)
        life.night(days=1, resolver=judge)
    assert calls == [1]


# --- bad input ------------------------------------------------------------------------------------

FLOOD = "storm " * 100_000


@pytest.mark.parametrize(
    ("text", "episodes", "vectors", "word"),
    [
        ("", 0, 0, ""),
        (" \n\t ", 0, 0, ""),
        ("Anaconda", 1, 0, "Anaconda"),
        (FLOOD, 1, 1, "storm"),
        ("明天我们坐渡轮去卑尔根", 1, 1, "渡轮"),
        ("Завтра мы плывём на пароме", 1, 1, "пароме"),
        ("🎉🎉🎉", 1, 0, ""),
    ],
    ids=["empty", "blank", "one word", "100,000 tokens", "Han", "Cyrillic", "emoji only"],
)
def test_odd_turns(life: Life, text: str, episodes: int, vectors: int, word: str) -> None:
    """Empty, one-word, 100,000-token, non-Latin, emoji-only turns: kept but for empty ones, cut,
    and found; one word and emoji alone have no vector, which would be near everything."""
    assert life.memory.add_turn(text, session="chat").episodes == episodes
    life.memory.sync_turn(text, text, session="other")
    life.ready("other")
    assert life.night().state == "done"
    counts = life.rows(
        "SELECT count(*), count(embedding), max(length(text)) FROM episodic_memory"
        " WHERE session_id = 'chat'"
    )
    assert counts[0][:2] == (episodes, vectors)
    assert (counts[0][2] or 0) <= policy.PROMPT_CHARS + 200
    assert life.memory.search_memory(text) is not None
    if word:
        found = life.memory.search_memory(word, "episodes")
        assert [one for one in found if one.text.startswith(text[:10])]
    assert life.memory.context(text).tokens <= 1500


@pytest.mark.parametrize(("year", "kept"), [(1970, True), (2200, False)])
def test_turns_of_1970_and_2200(life: Life, year: int, kept: bool) -> None:
    """A turn dated 1970 is old; one dated 2200 has no time, and neither is surer for it."""
    at = int(datetime(year, 1, 2, tzinfo=UTC).timestamp() * 1000)
    life.memory.add_turn("I won the village chess cup.", session="chat", occurred_at=at)
    life.night()
    (row,) = life.rows("SELECT timestamp FROM episodic_memory")
    assert row == ("1970-01-02T00:00:00.000Z" if kept else None,)
    found = life.memory.query_facts(include_deprecated=True)
    assert all(0.0 <= one.confidence <= policy.STATED for one in found)
    assert (life.statements() == []) is kept  # what was said in 1970 has faded since


def test_the_same_turn_twice(life: Life) -> None:
    """The same turn twice is one episode, one fact and one piece of evidence."""
    now = life.clock.now
    for _ in range(2):
        life.memory.add_turn("I live in Oslo.", session="chat", occurred_at=now)
        life.memory.add_turn("I sail.", session="chat", uid="own-id")
    assert life.rows("SELECT count(*) FROM episodic_memory") == [(2,)]
    life.night()
    assert life.fact("I live in Oslo.").evidence_count == 1


def test_two_workers_on_one_file(tmp_path: Path) -> None:
    """Two workers on one file share the work, and nothing is embedded twice."""
    clock = FrozenClock()
    asked: list[str] = []

    class Counting(Placed):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            asked.extend(texts)
            time.sleep(0.005)
            return super().embed(texts)

    with opened(tmp_path, clock, Counting()) as one, opened(tmp_path, clock, Counting()) as other:
        turns = [Turn(role=Role.USER, text=f"Turn {n} of the day", id=str(n)) for n in range(600)]
        one.conversation(session="chat").add_turns(turns)
        with embedding_worker(one), embedding_worker(other):
            deadline = time.monotonic() + PATIENCE
            while one.maintenance.waiting():
                assert time.monotonic() < deadline
                clock.now += 10
                time.sleep(0.01)
        assert sorted(asked) == sorted(turn.text for turn in turns)
        assert one.check() == []


@pytest.mark.parametrize("trouble", ["raises", "NaN", "zeros"])
def test_an_embedder_in_trouble(tmp_path: Path, trouble: str) -> None:
    """An embedder that raises, returns NaN or zeros: nothing is lost, text search goes on, the row
    is tried again and then put aside with its reason; a better embedder goes on from there."""
    clock = FrozenClock()
    with opened(tmp_path, clock, Broken(trouble)) as memory:
        memory.add_turn("The ferry leaves at noon.", session="chat")
        assert (memory.embed().failed, memory.maintenance.waiting()) == (1, 1)
        assert memory.consolidate().state == "done"
        assert texts(memory.search_memory("ferry")) == ["The ferry leaves at noon."]
        memory.sync_turn("When is the ferry?", session="chat")
        assert Life(memory, clock, tmp_path).ready("chat").state is not StreamState.FAILED
    # Opened again: the stream embeds behind the turn, and its tries would count among these.
    with opened(tmp_path, clock, Broken(trouble)) as memory:
        for _ in range(policy.EMBED_ATTEMPTS):
            clock.advance(days=1)
            memory.embed()
        aside = memory.maintenance.set_aside()
        assert aside
        said = {"raises": "the model is gone", "NaN": "not finite", "zeros": "zero"}[trouble]
        assert all(said in reason for _, _, reason in aside)
        assert memory.check() == []
    with opened(tmp_path, clock, Placed()) as memory:
        assert memory.maintenance.retry_aside() == len(aside)
        assert memory.embed().receipt.embedded == len(aside)
        assert memory.check() == []


def test_an_embedder_of_another_dimension(tmp_path: Path) -> None:
    """An embedder that returns another dimension, or another model: an error that names both."""
    clock = FrozenClock()
    with opened(tmp_path, clock, Broken("another dimension")) as memory:
        memory.add_turn("The ferry leaves at noon.", session="chat")
        with pytest.raises(EmbedderMismatch, match=r"array of shape \(1, 5\)"):
            memory.embed()
        assert memory.maintenance.waiting() == 1
    with opened(tmp_path, clock, Placed()) as memory:
        memory.embed()

    class Other(Placed):
        id = "other-1"
        dim = 64

    with opened(tmp_path, clock, Other()) as memory:
        memory.add_turn("The tram is yellow.", session="chat")
        with pytest.raises(EmbedderMismatch, match="factbook reembed"):
            memory.embed()
        assert memory.maintenance.reembed() == 1
        assert memory.embed().receipt.embedded == 1
        assert texts(memory.search_memory("tram"))[0] == "The tram is yellow."
        assert memory.check() == []


def test_budgets_that_are_too_small(life: Life) -> None:
    """A budget of 0: an empty text, with everything in the account. One smaller than the recent
    messages: the newest first, trimmed with a mark. A negative one is refused."""
    turns = user("First, a long story: " + LONG[:3000], "Second, a question.")
    empty = life.memory.context("And?", recent=turns, memories=[], limits=ContextLimits(total=0))
    assert (empty.text, empty.tokens) == ("", 0)
    assert len(empty.left_out) == 3
    small = life.memory.context("And?", recent=turns, memories=[], limits=ContextLimits(total=60))
    assert 0 < small.tokens <= 60
    assert "And?" in small.text
    assert "Second, a question." in small.text
    with pytest.raises(UsageError, match="`total` is -1; give a whole number"):
        ContextLimits(total=-1)
