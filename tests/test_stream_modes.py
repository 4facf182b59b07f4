"""Two modes over one engine, and preferences that a question does not name (seed 001)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from factbook.apply.apply import apply
from factbook.embed import bundled
from factbook.errors import UsageError
from factbook.extract.rules import RuleSet
from factbook.memory import Memory, conversation
from factbook.memory.conversation import ClaimJudge
from factbook.model.facts import (
    Candidate,
    Episode,
    EpisodeKind,
    FactKind,
    Hit,
    Role,
    Source,
    Trigger,
    Trust,
)
from factbook.model.ops import AssertFact, Op, RecordEpisode, RecordSource
from factbook.recall.modes import TwoModes, context_question
from factbook.recall.plan import Turn
from factbook.recall.prefetch import Streamed, StreamState
from factbook.recall.query_expansion import Associations, brought, situations
from factbook.recall.search import Engine
from factbook.store.derived.counts import count_waiting
from factbook.testing import FrozenClock

DAY = 24 * 3600 * 1000
NOW = 1_790_000_000_000

# What one owner said, with how sure it is and how many days ago.
SAID = (
    ("I cannot eat peanuts, they make me ill.", 0.95, 40),
    ("Peanuts are out of the question for me, they make me ill.", 0.9, 39),
    ("I will not go up high towers, my head spins.", 0.9, 38),
    ("My landlord wants the rent on the third of each month.", 0.9, 37),
    ("My sister Ines plays the cello in Porto.", 0.9, 36),
    ("I would rather read on paper than on a screen.", 0.9, 35),
    ("I may have left my umbrella at the office.", 0.45, 34),
    ("The office printer is called Gutenberg.", 0.9, 33),
    ("I get seasick on every boat.", 0.9, 5),
    ("Cinnamon reminds me of my grandmother's kitchen.", 0.9, 4),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("modes")
    with Memory(folder / "m.db", key_file=folder / "key", clock=FrozenClock(NOW)) as made:
        say(made, SAID)
        made.embed()
        yield made
        assert made.check() == []


def say(memory: Memory, said: Sequence[tuple[str, float, int]], first: int = 0) -> None:
    """Store texts as statements of the owner; a fact fades from the day on which it was said."""
    source = Source(key="chat", kind="conversation", host="test", session="s", uri="chat")
    for n, (text, confidence, days) in enumerate(said, start=first):
        at = NOW - days * DAY
        episode = Episode(
            uid=f"chat:{n}",
            source=source.key,
            kind=EpisodeKind.TURN,
            role=Role.USER,
            trust=Trust.DIRECT,
            text=text,
            position=n + 1,
            offset=0,
            occurred_at=at,
        )
        candidate = Candidate(
            subject="me",
            predicate="states",
            object=text,
            statement=text,
            confidence=confidence,
            rule="said",
            method="The owner said it",
            start=0,
            end=len(text),
            kind=FactKind.STATEMENT,
            embed=True,
        )
        fact = AssertFact(
            candidate=candidate,
            episode=episode.uid,
            owner="me",
            confidence=confidence,
            trust=Trust.DIRECT,
            quote=text,
        )
        ops: list[Op] = [RecordSource(source=source), RecordEpisode(episode=episode), fact]
        apply(memory.store, ops, trigger=Trigger.USER_MESSAGE, actor="test", now=NOW)


def engine_of(memory: Memory, *, associations: bool = True) -> Engine:
    known = Associations.of(memory.resources.embedder)
    return Engine(
        store=memory.store,
        embedder=lambda: memory.resources.embedder,
        rules=RuleSet.default(),
        clock=FrozenClock(NOW),
        redact=lambda text: text,
        associations=(lambda: known) if associations else None,
    )


@pytest.fixture(scope="module")
def modes(memory: Memory) -> TwoModes:
    return TwoModes(engine_of(memory), judging=ClaimJudge())


def user(text: str) -> Turn:
    return Turn(role=Role.USER, text=text)


def assistant(text: str) -> Turn:
    return Turn(role=Role.ASSISTANT, text=text)


# --- the tool -------------------------------------------------------------------------------------


def test_search_memory_has_the_seeds_signature(modes: TwoModes) -> None:
    found = modes.search_memory("where does Ines live?", "facts", 3)
    assert 1 <= len(found) <= 3
    assert found[0].text == SAID[4][0]
    assert found[0].kind == "fact"
    assert 0.5 < found[0].confidence < 0.9  # it has faded since it was said
    assert found[0].occurred_at == NOW - 36 * DAY
    assert {hit.kind for hit in modes.search_memory("Ines", "episodes")} == {"episode"}
    assert len(modes.search_memory("what do you know?", limit=2)) <= 2


def test_what_is_doubtful_is_for_the_tool_only(modes: TwoModes) -> None:
    text = SAID[6][0]
    assert text in [hit.text for hit in modes.search_memory("umbrella", "facts")]
    streamed = modes.stream([user("Where could my umbrella be?")])
    assert text not in [hit.text for hit in streamed if hit.kind == "fact"]


def test_one_of_those_that_say_the_same(modes: TwoModes) -> None:
    texts = [hit.text for hit in modes.search_memory("peanuts", limit=10)]
    assert len({SAID[0][0], SAID[1][0]} & set(texts)) == 1


def test_time_phrases_narrow_the_search(modes: TwoModes) -> None:
    found = modes.search_memory("what did I say in the last week?", limit=10)
    assert {hit.text for hit in found} >= {SAID[8][0], SAID[9][0]}
    assert all(hit.occurred_at and hit.occurred_at > NOW - 8 * DAY for hit in found)
    (rent, *_) = modes.search_memory("what did I say about the rent last month?")
    assert rent.text == SAID[3][0]
    # nothing was said then: what is known of other times, dated, instead of nothing
    assert modes.search_memory("what did I say about the rent in May 2019?")[0].text == SAID[3][0]


@pytest.mark.parametrize("text", ["", "the", "🙂", "\x00", 'NEAR(" OR *', "word " * 30_000])
def test_any_query_is_legal(modes: TwoModes, text: str) -> None:
    assert isinstance(modes.search_memory(text), list)
    assert isinstance(modes.stream([user(text)]), list)


def test_bad_arguments_are_refused(modes: TwoModes) -> None:
    with pytest.raises(UsageError, match="limit"):
        modes.search_memory("x", limit=0)


def test_a_fact_without_a_vector_is_found_by_text(memory: Memory, modes: TwoModes) -> None:
    text = "My bicycle has the frame number 7731."
    say(memory, [(text, 0.9, 0)], first=100)
    assert memory.maintenance.waiting() > 0
    assert text in [hit.text for hit in modes.search_memory("bicycle frame number", "facts")]
    assert text in [hit.text for hit in modes.stream([user("I must report my bicycle stolen")])]


# --- what comes by itself -------------------------------------------------------------------------


def test_the_stream_brings_what_a_question_does_not_name(memory: Memory, modes: TwoModes) -> None:
    asked = [user("I'm off to Bangkok next month. Where should I go for dinner?")]
    texts = [hit.text for hit in modes.stream(asked) if hit.kind == "fact"]
    assert texts[0] in (SAID[0][0], SAID[1][0])
    cruise = [user("Can you recommend a nice cruise for the summer?")]
    assert modes.stream(cruise)[0].text == SAID[8][0]
    without = TwoModes(engine_of(memory, associations=False), judging=ClaimJudge())
    plain = [hit.text for hit in without.stream(asked) if hit.kind == "fact"]
    assert plain[:1] != texts[:1]


def test_the_stream_has_at_most_five_of_each(modes: TwoModes) -> None:
    found = modes.stream(
        [user("Tell me all about my home, office, sister and what I eat and read")]
    )
    assert sum(hit.kind == "fact" for hit in found) <= 5
    assert sum(hit.kind == "episode" for hit in found) <= 5


@pytest.mark.parametrize("text", ["ok", "Thanks, great!", "yes please", "👍", "..."])
def test_small_talk_brings_nothing(modes: TwoModes, text: str) -> None:
    assert modes.stream([user(text)]) == []


def test_what_the_turns_say_is_not_brought_back(modes: TwoModes) -> None:
    found = modes.stream([user(SAID[4][0])])
    assert SAID[4][0] not in [hit.text for hit in found]


def test_nothing_comes_of_nothing(modes: TwoModes) -> None:
    assert modes.stream([]) == []


def test_the_question_of_a_context() -> None:
    asked = "Where should I eat in Bangkok?"
    turns = [user("My boiler leaks."), assistant("Call a plumber."), user(asked)]
    assert context_question(turns) == asked
    follow = [user("Tell me of Ines."), assistant("She plays."), user("And her brother?")]
    assert context_question(follow).endswith("And her brother?")
    assert "Ines" in context_question(follow)
    assert context_question([user("yes"), assistant("Shall I book Rome?")]) == "Shall I book Rome?"
    assert context_question([]) == ""


# --- associations ---------------------------------------------------------------------------------


def test_advice_about_this_year_does_not_narrow_the_search(modes: TwoModes) -> None:
    found = modes.stream([user("What are some cruises I should book this week?")])
    assert found[0].text == SAID[8][0]


def test_the_list_is_well_formed() -> None:
    names = [one.name for one in situations()]
    assert len(names) == len(set(names)) > 200
    for one in situations():
        assert len(one.brings) >= 3
        assert all(part and part == part.strip() for part in (one.name, *one.brings))
    assert len(brought()) == len(set(brought()))


class OtherEmbedder:
    """Another model: the bundled one's vectors with two coordinates changed places."""

    id = "other"
    dim = 384

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = bundled().embed(texts)
        vectors[:, [0, 1]] = vectors[:, [1, 0]]
        return vectors


def test_shipped_vectors_are_those_of_the_list_and_the_model() -> None:
    shipped = Associations.of(bundled())
    made = Associations.of(OtherEmbedder())
    turn = np.arange(384)
    turn[[0, 1]] = 1, 0
    rng = np.random.default_rng(1)
    facts = rng.standard_normal((20, 384)).astype(np.float32)
    facts /= np.linalg.norm(facts, axis=1, keepdims=True)
    question = bundled().embed(["Where should I eat in Rome?"])[0]
    assert np.allclose(
        shipped.leanings(question, facts),
        made.leanings(question[turn], facts[:, turn]),
        atol=2e-3,
    ), "run scripts/make_situations.py"
    assert np.allclose(shipped.towards(question)[turn], made.towards(question[turn]), atol=2e-3)
    assert np.linalg.norm(shipped.towards(question)) == pytest.approx(1.0, abs=1e-5)


def test_vectors_of_another_list_are_refused() -> None:
    with pytest.raises(ValueError, match="embed all of them"):
        Associations(questions=np.ones((1, 4), "f4"), things=np.ones((1, 4), "f4"))


# --- what stands for what -------------------------------------------------------------------------


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", clock=FrozenClock(NOW)) as made:
        yield made


def ready(memory: Memory, session: str) -> Streamed:
    """Return what the stream has for the next turn once its search has ended."""
    until = time.monotonic() + 60
    while (found := memory.take_prefetched(session)).state is StreamState.LATE:
        assert time.monotonic() < until
        time.sleep(0.005)
    return found


def embedded(memory: Memory) -> None:
    """Wait until everything has its vector."""
    until = time.monotonic() + 60
    while count_waiting(memory.store):
        assert time.monotonic() < until
        time.sleep(0.005)


def test_turns_get_their_vectors_when_the_answer_is_ready(fresh: Memory) -> None:
    fresh.remember("I play the cello in an orchestra.")
    fresh.embed()
    asked: list[int] = []
    stream = fresh.conversation(session="a").stream()
    search = stream._search

    def counted(turns: Sequence[Turn]) -> Sequence[Hit]:
        asked.append(count_waiting(fresh.store))
        return search(turns)

    stream._search = counted
    for n in range(2):
        fresh.sync_turn(f"Do I play the cello on day {n}?", f"You do, on day {n}.", session="a")
        assert ready(fresh, "a").state is StreamState.READY
        embedded(fresh)
        assert fresh.take_prefetched("a").state is StreamState.READY
    assert asked == [2, 2]  # both turns were searched for while they waited
    fresh.conversation(session="b").add_turns([user(f"On day {n} it rained.") for n in range(9)])
    fresh.sync_turn("Did it rain?", "Yes.", session="a")
    assert ready(fresh, "a").memories
    assert asked == [2, 2, 0]  # too much was waiting to be left for later


def test_the_last_turn_has_its_vectors_when_memory_is_closed(tmp_path: Path) -> None:
    files = {"key_file": tmp_path / "key", "clock": FrozenClock(NOW)}
    with Memory(tmp_path / "m.db", **files) as memory:  # type: ignore[arg-type]
        memory.sync_turn("Do I play the cello?", "You do.")
    with Memory(tmp_path / "m.db", **files) as memory:  # type: ignore[arg-type]
        assert count_waiting(memory.store) == 0
        assert memory.check() == []


def test_an_owner_finds_only_their_own(fresh: Memory) -> None:
    for n in range(300):
        fresh.add_turn(f"The cello lesson number {n} was long.", owner="ben", session="b")
    fresh.add_turn("My cello has a new bow.", owner="ana", session="a")
    fresh.remember("I play the cello in an orchestra.", owner="ana")
    fresh.remember("I sold the cello of my aunt.", owner="ben")
    fresh.embed()
    found = fresh.search_memory("cello", limit=20, owner="ana")
    assert {hit.text for hit in found} == {
        "My cello has a new bow.",
        "I play the cello in an orchestra.",
    }
    theirs = fresh.search_memory("cello lesson", limit=20, owner="ben")
    assert theirs
    assert not any("bow" in hit.text or "orchestra" in hit.text for hit in theirs)


def test_a_question_does_not_take_its_answers_place(fresh: Memory) -> None:
    for text in ("My dog is called Rex.", "I play the cello in an orchestra."):
        fresh.remember(text)
    fresh.embed()
    fresh.sync_turn("And do I play the cello?", "You do.", session="a")
    found = ready(fresh, "a")
    assert "I play the cello in an orchestra." in [hit.text for hit in found.memories]


def test_a_fact_stands_for_the_turn_that_says_only_it(fresh: Memory) -> None:
    say(fresh, [("My dog is called Rex.", 0.8, 20)])
    fresh.add_turn("My dog is called Rex!", session="s", occurred_at=NOW - DAY)
    fresh.add_turn("My dog is called Rex.", session="t", occurred_at=NOW - DAY)
    fresh.embed()
    for hits in (fresh.conversation().prefetch("my dog Rex"), fresh.search_memory("my dog Rex")):
        assert [hit.kind for hit in hits] == ["fact"]
        assert hits[0].evidence


def test_what_others_write_loses_nothing_that_still_holds(fresh: Memory) -> None:
    kept = fresh.remember("I play the cello in an orchestra.")
    gone = fresh.remember("My cello is called Bruno.")
    fresh.embed()
    fresh.sync_turn("Do I play the cello?", "You do.", session="a")
    first = ready(fresh, "a")
    assert {f"f{kept.id}", f"f{gone.id}"} <= {hit.id for hit in first.memories}
    embedded(fresh)
    before = fresh.store.head().memory
    assert fresh.search_memory("cello", session="b")
    assert fresh.store.head().memory == before
    assert fresh.take_prefetched("a") is first  # nothing has to be looked up
    fresh.add_turn("And where do I play it?", session="a")  # the running turn itself
    fresh.add_turn("I sold my cello.", session="b")  # another one
    assert fresh.take_prefetched("a").memories == first.memories
    fresh.review.feedback(kept.id, right=True)
    fresh.review.feedback(gone.id, right=False)
    found = {hit.id: hit for hit in fresh.take_prefetched("a").memories}
    assert set(found) == {hit.id for hit in first.memories} - {f"f{gone.id}"}
    assert found[f"f{kept.id}"].confidence == fresh.query_facts()[0].confidence


def test_a_closed_stream_leaves_no_connection(
    fresh: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "SESSIONS_KEPT", 2)
    fresh.remember("I play the cello in an orchestra.")
    for session in ("a", "b"):
        fresh.sync_turn("Do I play the cello?", session=session)
        ready(fresh, session)
    first = fresh.conversation(session="a").stream()
    for n in range(5):  # "a" is used on, so the others go
        fresh.sync_turn("Do I play the cello?", session=f"c{n}")
        ready(fresh, f"c{n}")
        assert fresh.conversation(session="a").stream() is first
    # Streams are closed behind the call: this thread's and those of two streams stay.
    wait = time.monotonic() + 10
    while len(fresh.store._file._connections) > 3 and time.monotonic() < wait:
        time.sleep(0.01)
    assert len(fresh.store._file._connections) == 3
