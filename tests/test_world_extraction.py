"""Making searches and reading them: by pieces, one worker at a time, and nothing holds up another.

Real stores, real workers; what fails, blocks or is interrupted is an embedder or a provider of ours
that was told to, or our scripted model server.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

import forked
from conftest import Cli
from factbook import policy
from factbook.embed import Embedder, bundled
from factbook.errors import EmbedderError, SearchError, SearchFailure, StoreLocked
from factbook.memory import Memory
from factbook.memory.doctor import _unanswered
from factbook.model.entities import NoticeKind, NoticeState, SearchAnswer, SearchState
from factbook.model.facts import Trigger
from factbook.model.interest_ops import QueueSearch
from factbook.model.ops import Op
from factbook.net.cancel import Cancel, Cancelled, cancelling
from factbook.pipelines.world import READING, ExtractionReport
from factbook.store.derived.entities import world_facts
from factbook.store.derived.notices import notices_of
from factbook.store.derived.searches import search_logs, search_tasks
from factbook.store.derived.tasks import unheard
from factbook.store.leases import claim_search, take_lease
from factbook.testing.model_server import ModelServer, Reply, Request
from pages import DAY, Pages, World, open_world, page

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ROOT / "examples" / "documents"
NAME = "pelle mini"
SAYS = (
    "The Pelle Mini weighs 24 kg.",
    "The Pelle Mini costs 4,300 euros.",
    "The Pelle Mini was released in 2021.",
    "The Pelle Mini is made in Denmark.",
)
PAGES = tuple(page(f"Page {n}", text, host=f"h{n}.example") for n, text in enumerate(SAYS))


@dataclass
class Touchy:
    """The bundled embedder, which does something first when it is to embed certain words."""

    words: str = ""
    act: Callable[[], object] = lambda: None
    inner: Embedder = field(default_factory=bundled)

    @property
    def id(self) -> str:
        """As the bundled one."""
        return self.inner.id

    @property
    def dim(self) -> int:
        """As the bundled one."""
        return self.inner.dim

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts, or do what was told."""
        if self.words and any(self.words in one for one in texts):
            self.act()
        return self.inner.embed(texts)


def failing(error: Exception) -> Callable[[], object]:
    def fail() -> object:
        raise error

    return fail


@pytest.fixture
def touchy() -> Touchy:
    return Touchy()


@pytest.fixture
def world(tmp_path: Path, touchy: Touchy) -> Iterator[World]:
    found = open_world(tmp_path, PAGES, embedder=touchy)
    yield found
    assert found.memory.check() == []
    found.memory.close()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Reply.status(500)) as found:
        yield found


def searched(world: World, *queries: str) -> None:
    """Let an owner like a thing and search for it."""
    world.memory.interests.like(NAME)
    for one in queries or (NAME,):
        world.memory.interests.search_web(one)


def another(world: World, *, provider: object = None, **more: object) -> Memory:
    """Open the same file as another worker does."""
    return Memory(
        world.memory.path,
        clock=world.clock,
        key_file=world.memory.path.parent / "key",
        search=provider or world.pages,  # type: ignore[arg-type]
        model=None,
        **more,  # type: ignore[arg-type]
    )


def told(world: World) -> list[tuple[NoticeKind, list[str]]]:
    """Return what waits to be told: of each notice its kind and its facts."""
    store = world.memory.store
    return [
        (one.kind, sorted(fact.object for fact in store.facts_by_id(one.fact_ids).values()))
        for one in notices_of(store, states=[NoticeState.WAITING])
    ]


def interrupted(memory: Memory, touchy: Touchy, words: str) -> None:
    """Let reading be cancelled at certain words, as by an owner who acts."""
    token = Cancel()
    touchy.words, touchy.act = words, token.cancel
    with cancelling(token), pytest.raises(Cancelled):
        memory.background.run_extraction()
    touchy.words = ""


# --- by pieces ------------------------------------------------------------------------------------


def test_a_cancelled_pass_keeps_what_it_read(world: World, touchy: Touchy) -> None:
    searched(world)
    interrupted(world.memory, touchy, "released in 2021")
    assert world.facts(NAME) == list(SAYS[:2])
    assert [one.extracted for one in search_logs(world.memory.store)] == [False]
    assert told(world) == []  # one notice, at the end
    assert world.memory.check() == []
    done = world.memory.background.run_extraction()
    assert (done.searches, done.receipt.stored, done.failed) == (1, 2, [])
    assert world.facts(NAME) == list(SAYS)
    # One message for each entity, with all that its search brought (seed 003).
    assert told(world) == [(NoticeKind.DISCOVERED, sorted(SAYS))]
    assert world.memory.background.run_extraction() == ExtractionReport()
    assert world.memory.store._rows("SELECT count(*) FROM search_find") == [(0,)]


def test_an_owner_who_keeps_acting_holds_up_no_search_for_ever(world: World) -> None:
    """Each step ends with something written, however soon the next act comes."""
    searched(world)
    steps = 0
    while world.memory.background.run_extraction(limit=1).pieces:
        steps += 1
        assert steps <= len(PAGES) + 2
        assert world.memory.check() == []
    assert steps == len(PAGES) + 2  # what is new, each result, what is told
    assert search_logs(world.memory.store)[0].extracted
    assert told(world) == [(NoticeKind.DISCOVERED, sorted(SAYS))]


def test_what_was_known_before_is_not_told_again(world: World, touchy: Touchy) -> None:
    """A page that two searches find is news of the first one."""
    searched(world, NAME, "the pelle mini bike")
    interrupted(world.memory, touchy, "released in 2021")
    world.memory.background.run_extraction()
    assert told(world) == [(NoticeKind.DISCOVERED, sorted(SAYS))]
    counts = [one.evidence_count for one in world_facts(world.memory.store, "me", NAME)]
    assert counts == [1] * len(SAYS)


def test_a_model_is_asked_about_each_result_once(tmp_path: Path, server: ModelServer) -> None:
    """A call that is cancelled loses what its result had come to, and no more."""
    world = open_world(tmp_path, PAGES, server=server)
    token = Cancel()
    asked: Counter[str] = Counter()

    def answer(request: Request) -> Reply:
        # a prompt also holds what is known, which the results before this one say
        here = next((one for one in reversed(SAYS) if one in request.prompt), "")
        step = "facts" if "facts" in str(request.schema) else "names"
        asked[f"{step}: {here}"] += 1
        if step == "facts" and here == SAYS[2]:
            token.cancel()
        return Reply.json({"facts": []} if step == "facts" else {"entities": []})

    server.script = answer
    searched(world)
    with cancelling(token), pytest.raises(Cancelled):
        world.memory.background.run_extraction()
    assert world.facts(NAME) == list(SAYS[:2])
    token = Cancel()
    assert world.memory.background.run_extraction().searches == 1
    assert world.facts(NAME) == list(SAYS)
    again = f"facts: {SAYS[2]}"
    assert asked.pop(again) == 2
    assert set(asked.values()) == {1}
    assert len(asked) == 2 * len(SAYS) - 1
    assert world.memory.check() == []
    world.memory.close()


def test_names_that_a_model_saw_are_weighed_together_after_an_interruption(
    tmp_path: Path, server: ModelServer
) -> None:
    """Two sources must speak of a new thing, also where the first was read before a cancel."""
    texts = ("Riders like the Halden Cargo.", "A Halden Cargo was seen here, and a Vela Solo.")
    pages = [page(f"Bikes {n}", text, host=f"h{n}.example") for n, text in enumerate(texts)]
    world = open_world(tmp_path, pages, server=server)
    token = Cancel()

    def answer(request: Request) -> Reply:
        if "facts" in str(request.schema):
            return Reply.json({"facts": []})
        if texts[1] in request.prompt:
            token.cancel()
        names = [one for one in ("Halden Cargo", "Vela Solo") if one in request.prompt]
        return Reply.json({"entities": [{"name": one, "quote": one} for one in names]})

    server.script = answer
    world.memory.interests.search_web("bikes")
    with cancelling(token), pytest.raises(Cancelled):
        world.memory.background.run_extraction()
    before = world.names()
    assert "halden cargo" not in before
    token = Cancel()
    asked = len(server.requests)
    world.memory.background.run_extraction()
    looked = [one for one in server.requests[asked:] if "facts" not in str(one.schema)]
    assert len(looked) == 1
    assert "halden cargo" in world.names()
    assert "vela solo" not in world.names()
    assert world.memory.check() == []
    world.memory.close()


# --- what fails -----------------------------------------------------------------------------------


def test_one_bad_result_holds_up_neither_the_others_nor_another_search(
    world: World, touchy: Touchy
) -> None:
    world.pages.pages.append(page("More", "The Pelle Mini has two brakes.", host="x.example"))
    searched(world, NAME, "two brakes")
    touchy.words, touchy.act = "4,300 euros", failing(ValueError("it cannot be read"))
    done = world.memory.background.run_extraction()
    assert done.failed == [("search 1", "it cannot be read")]
    assert done.searches == 1  # the other one
    assert sorted(world.facts(NAME)) == sorted(
        [SAYS[0], *SAYS[2:], "The Pelle Mini has two brakes."]
    )
    (task,) = world.memory.maintenance.model_tasks()
    assert (task.kind, task.target, task.state) == ("search", 1, "failed")
    assert (task.error, task.attempts) == ("it cannot be read", 1)
    assert world.memory.background.run_extraction() == ExtractionReport()  # not before its time
    for _ in range(policy.MODEL_ATTEMPTS - 1):
        world.clock.now += DAY
        assert world.memory.background.run_extraction().failed
    (task,) = world.memory.maintenance.model_tasks()
    assert (task.state, task.attempts) == ("aside", policy.MODEL_ATTEMPTS)
    world.clock.now += DAY
    assert world.memory.background.run_extraction() == ExtractionReport()
    # What the others brought is told all the same.
    told_of = {fact for _, facts in told(world) for fact in facts}
    assert told_of == set(world.facts(NAME))
    touchy.words = ""
    assert world.memory.background.retry_searches() == 1
    assert world.memory.background.run_extraction().searches == 1
    assert SAYS[1] in world.facts(NAME)
    assert world.memory.maintenance.model_tasks() == []
    assert {fact for _, facts in told(world) for fact in facts} == set(world.facts(NAME))


def test_one_bad_message_holds_up_no_other(world: World, touchy: Touchy) -> None:
    world.memory.interests.like(NAME)
    world.say("The Pelle Mini weighs 24 kg.")
    world.say("The Pelle Mini costs 4,300 euros.")
    touchy.words, touchy.act = "24 kg", failing(ValueError("it cannot be read"))
    done = world.memory.background.run_extraction()
    assert (done.messages, [why for _, why in done.failed]) == (1, ["it cannot be read"])
    assert world.facts(NAME) == ["The Pelle Mini costs 4,300 euros."]
    assert [(one.kind, one.state) for one in world.memory.maintenance.model_tasks()] == [
        ("hear", "failed")
    ]
    touchy.words = ""
    world.clock.now += DAY
    assert world.memory.background.run_extraction().messages == 1
    assert world.memory.maintenance.model_tasks() == []


def test_a_model_that_cannot_read_one_result_reads_the_others(
    tmp_path: Path, server: ModelServer
) -> None:
    world = open_world(tmp_path, PAGES, server=server)

    def answer(request: Request) -> Reply:
        if SAYS[1] in request.prompt:
            return Reply.json({"nonsense": True})
        return Reply.json({"facts": []} if "facts" in str(request.schema) else {"entities": []})

    server.script = answer
    searched(world)
    for _ in range(policy.MODEL_ATTEMPTS):
        assert [what for what, _ in world.memory.background.run_extraction().failed] == ["search 1"]
        world.clock.now += DAY
    assert [one.state for one in world.memory.maintenance.model_tasks()] == ["aside"]
    assert world.facts(NAME) == [SAYS[0], *SAYS[2:]]
    assert told(world) == [(NoticeKind.DISCOVERED, sorted([SAYS[0], *SAYS[2:]]))]
    assert world.memory.check() == []
    world.memory.close()
    # Without a model, what only the model failed at is read by rules.
    with another(world) as plain:
        assert plain.background.run_extraction().searches == 1
        assert plain.maintenance.model_tasks() == []
        assert SAYS[1] in [one.object for one in world_facts(plain.store, "me", NAME)]


def test_an_embedder_that_is_down_costs_no_attempt(world: World, touchy: Touchy) -> None:
    searched(world)
    touchy.words, touchy.act = "24 kg", failing(EmbedderError(reason="it is down"))
    for _ in range(2 * policy.MODEL_ATTEMPTS):
        world.clock.now += DAY
        assert len(world.memory.background.run_extraction().failed) == 1
    (task,) = world.memory.maintenance.model_tasks()
    assert (task.state, task.attempts) == ("failed", 0)


def test_a_fault_in_the_code_is_shown_and_holds_up_no_other(
    world: World, touchy: Touchy, caplog: pytest.LogCaptureFixture
) -> None:
    """Visible in the log with its traceback, in the report, in the file and by `doctor`."""
    searched(world)
    world.say("The Pelle Mini has two brakes.")
    touchy.words, touchy.act = "24 kg", failing(TypeError("a fault"))
    done = world.memory.background.run_extraction()
    assert done.failed == [("search 1", "TypeError: a fault")]
    assert (done.searches, done.messages) == (0, 1)
    assert sorted(world.facts(NAME)) == sorted([*SAYS[1:], "The Pelle Mini has two brakes."])
    (logged,) = [one for one in caplog.records if "a fault" in one.getMessage()]
    assert logged.exc_info is not None
    assert logged.exc_info[0] is TypeError
    assert "in keep" in caplog.text  # where it was raised
    for _ in range(policy.MODEL_ATTEMPTS - 1):
        world.clock.now += DAY
        assert world.memory.background.run_extraction().failed
    (task,) = world.memory.maintenance.model_tasks()
    assert (task.state, task.error) == ("aside", "TypeError: a fault")
    (shown,) = _unanswered(world.memory)
    assert shown.level == "warn"
    assert "is set aside" in shown.detail
    assert "TypeError: a fault" in shown.detail
    world.clock.now += DAY
    assert world.memory.background.run_extraction() == ExtractionReport()


def test_an_error_of_the_store_is_no_fault_of_a_text(
    world: World, touchy: Touchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched(world)
    touchy.words = "24 kg"
    monkeypatch.setenv("FACTBOOK_BUSY_TIMEOUT_MS", "10")
    with another(world, embedder=touchy) as other:
        blocker = apsw.Connection(str(other.path))
        touchy.act = lambda: blocker.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked):
            other.background.run_extraction()
        blocker.execute("ROLLBACK")
        assert other.maintenance.model_tasks() == []
    touchy.words = ""
    world.clock.now += policy.LEASE_MS  # what was locked could not give its lease back
    assert world.memory.background.run_extraction().searches == 1


def test_a_list_without_an_end_is_read(tmp_path: Path) -> None:
    """One page must not stop the reading of all others for good."""
    pages = [page("Speakers", "Kef, " * 1100, host="bad.example"), *PAGES]
    world = open_world(tmp_path, pages)
    world.memory.interests.like("kef")
    searched(world)
    done = world.memory.background.run_extraction()
    assert (done.searches, done.failed) == (1, [])
    assert sorted(world.facts(NAME)) == sorted(SAYS)
    assert world.memory.check() == []
    world.memory.close()


def test_a_new_thing_that_the_store_refuses_takes_no_other_with_it(
    tmp_path: Path, server: ModelServer
) -> None:
    """The store wants every word of a name in its text; a sign that nobody sees breaks one."""
    odd = "Den\u00adton Eighty"
    texts = (
        f"The {odd} is a bookshelf speaker. The KEF LS50 Meta is a bookshelf speaker.",
        "The KEF LS50 Meta is a speaker that is white.",
    )
    pages = [page(f"Speaker {n}", text, host=f"h{n}.example") for n, text in enumerate(texts)]
    world = open_world(tmp_path, pages, server=server)

    def answer(request: Request) -> Reply:
        if "facts" in str(request.schema):
            return Reply.json({"facts": []})
        here = "ton Eighty" in request.prompt
        return Reply.json({"entities": [{"name": odd, "quote": odd}] if here else []})

    server.script = answer
    queued(world, "find me speakers like the denton eighty")
    world.memory.background.run_searches()
    done = world.memory.background.run_extraction()
    assert (done.searches, done.failed) == (1, [])
    assert world.names() == ["kef ls50 meta"]
    refused = [one for one in world.memory.sources.rejections() if one.reason == "not_a_name"]
    assert ["does not name" in one.detail for one in refused] == [True]
    assert world.memory.check() == []
    world.memory.close()


@pytest.mark.parametrize(
    "said",
    ["stop telling me about the Pelle Mini", "I don't want to hear about pelle mini any more"],
)
def test_who_wants_to_hear_no_more_of_it_hears_no_more(world: World, said: str) -> None:
    searched(world, NAME)
    world.memory.background.run_extraction()
    assert not world.memory.interests.entity(NAME).entity.muted
    world.say(said)
    assert world.memory.background.run_extraction().failed == []
    assert world.memory.interests.entity(NAME).entity.muted
    world.pages.pages.append(page("More", "The Pelle Mini has two brakes.", host="x.example"))
    searched(world, "two brakes")
    world.memory.background.run_extraction()
    assert "The Pelle Mini has two brakes." in world.facts(NAME)
    waiting = world.memory.interests.notices(states=(NoticeState.WAITING, NoticeState.SENT))
    assert waiting == []
    world.memory.interests.mute(NAME, muted=False)
    world.say("What do I know about the Pelle Mini?")
    world.memory.background.run_extraction()
    assert not world.memory.interests.entity(NAME).entity.muted


def test_names_of_ones_own_people_never_leave_by_themselves(world: World) -> None:
    for said in (
        "I love my dog Pim!",
        "My daughter Lena is great, I love Lena",
        "I love Elden Ring",
    ):
        world.say(said)
    assert world.memory.background.run_extraction().failed == []
    assert {"pim", "elden ring"} <= set(world.names())
    # what was only spoken of has no reason to be taken for public, however well
    assert world.memory.background.run_enrichment().entity == ""
    world.memory.interests.like("elden ring")
    made = []
    for _ in range(6):
        done = world.memory.background.run_enrichment()
        made.append(done.entity)
        world.memory.background.run_searches()
        world.memory.background.run_extraction()
        world.clock.advance(days=1)
    assert set(made) == {"elden ring", ""}
    assert all("pim" not in one and "lena" not in one for one in world.pages.asked)


def test_what_one_page_alone_names_is_kept_aside(tmp_path: Path) -> None:
    texts = (
        "The Denton Eighty is a bookshelf speaker. The KEF LS50 Meta is a bookshelf speaker.",
        "The KEF LS50 Meta is a speaker that is white. The Wharf is a bookshelf speaker.",
    )
    pages = [page(f"Speaker {n}", text, host=f"h{n}.example") for n, text in enumerate(texts)]
    world = open_world(tmp_path, pages)
    queued(world, "find me stuff about speakers")
    world.memory.background.run_searches()
    assert world.memory.background.run_extraction().failed == []
    assert world.names() == ["kef ls50 meta"]
    aside = [one for one in world.memory.sources.rejections() if one.reason == "one_source"]
    assert sorted((one.excerpt, one.detail) for one in aside) == [
        ("Denton Eighty", "nothing but h0.example speaks of it"),
        ("Wharf", "nothing but h1.example speaks of it"),
    ]
    world.say("I love the Denton Eighty")
    world.memory.background.run_extraction()
    assert "denton eighty" in world.names()
    assert world.memory.check() == []
    world.memory.close()


def test_a_model_is_never_shown_what_somebody_pasted(tmp_path: Path, server: ModelServer) -> None:
    """Words of others in a message bring nothing in, whatever a model would make of them."""
    world = open_world(tmp_path, server=server)

    def answer(request: Request) -> Reply:
        if "facts" in str(request.schema):
            return Reply.json({"facts": []})
        eager = [{"name": one, "quote": one} for one in ("Orvik Lastrad", "Sonos Era 300")]
        return Reply.json({"entities": eager})

    server.script = answer
    world.memory.interests.like("Orvik Lastrad")
    world.memory.add_turn(
        "I ride the Orvik Lastrad to work. My boss wrote:\n\n> I love the Sonos Era 300, get it!\n",
        role="user",
    )
    assert world.memory.background.run_extraction().messages == 1
    assert server.requests
    assert not any("Sonos" in one.prompt for one in server.requests)
    assert world.names() == ["orvik lastrad"]
    assert world.memory.check() == []
    world.memory.close()


# --- making searches ------------------------------------------------------------------------------


@dataclass
class Picky(Pages):
    """Pages that answer some queries with an error."""

    bad: dict[str, Exception] = field(default_factory=dict)
    act: Callable[[str], object] = lambda _: None

    def search(self, query: str, *, limit: int = policy.SEARCH_RESULTS) -> SearchAnswer:
        """Answer, or raise what was told."""
        self.asked.append(query)
        self.act(query)
        for word, error in self.bad.items():
            if word in query:
                raise error
        return SearchAnswer(provider=self.id, results=self.pages[:limit], duration_ms=1)


def failure(kind: SearchFailure) -> SearchError:
    return SearchError(kind=kind, provider="pages", reason="it was told to fail")


def queued(world: World, *queries: str) -> None:
    """Queue searches that their owner asks for with a command."""
    from factbook.apply.apply import apply

    ops: list[Op] = []
    for one in queries:
        uid, said = world.memory.interests._said(f"/search {one}", "me")
        ops += [*said, QueueSearch(owner="me", query=one, episode=uid)]
    apply(
        world.memory.store,
        ops,
        trigger=Trigger.USER_MESSAGE,
        actor="test",
        now=world.clock.now,
    )


@pytest.fixture
def picky(world: World) -> Picky:
    found = Picky(list(PAGES))
    world.memory.resources._provider = found
    return found


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (failure(SearchFailure.TIMEOUT), 1),
        (failure(SearchFailure.HTTP), 1),
        (ValueError("an odd answer"), 1),
        (KeyError("a fault of a provider"), 1),
        (failure(SearchFailure.REFUSED), 0),
    ],
    ids=["timeout", "http", "odd", "fault", "refused"],
)
def test_a_search_that_fails_holds_up_no_other(
    world: World, picky: Picky, error: Exception, attempts: int
) -> None:
    picky.bad = {"one": error}
    queued(world, "one", "two", "three")
    done = world.memory.background.run_searches()
    assert picky.asked == ["one", "two", "three"]
    assert (done.made, [query for query, _ in done.failed]) == (2, ["one"])
    (task,) = search_tasks(world.memory.store)
    assert (task.state, task.attempts) == (SearchState.FAILED, attempts)
    assert task.until > world.clock.now
    assert world.memory.background.run_searches().failed == []  # not before its time


def test_where_nobody_answers_the_others_are_not_tried(world: World, picky: Picky) -> None:
    picky.bad = {"": failure(SearchFailure.CONNECT)}
    queued(world, "one", "two")
    for _ in range(2 * policy.SEARCH_ATTEMPTS):
        picky.asked.clear()
        assert len(world.memory.background.run_searches().failed) == 1
        assert len(picky.asked) == 1
        world.clock.now += DAY
    assert [one.attempts for one in search_tasks(world.memory.store)] == [0, 0]


def test_a_worker_goes_on_after_a_search_and_a_text_that_fail(
    world: World, picky: Picky, touchy: Touchy
) -> None:
    """`factbook worker --once`: what fails first ends nothing."""
    world.memory.interests.like(NAME)
    picky.bad = {"one": failure(SearchFailure.TIMEOUT)}
    queued(world, "one", "two", "three")
    world.say("The Pelle Mini weighs 24 kg.")
    world.say("I love the Halden Cargo.")
    touchy.words, touchy.act = "24 kg", failing(ValueError("it cannot be read"))
    with world.memory.background.worker(off=["embedding", "enrichment"]) as worker:
        worker.drain()
    assert [one.query for one in search_logs(world.memory.store)] == ["two", "three"]
    assert "halden cargo" in world.names()
    assert set(world.facts(NAME)) == set(SAYS[1:])


def test_what_a_search_reports_and_keeps_is_redacted(world: World, picky: Picky) -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"
    queued(world, "speakers one", "speakers two")
    picky.bad = {"one": failure(SearchFailure.TIMEOUT)}
    world.memory.store._file.connection.execute(
        f"UPDATE search_task SET query = query || ' {secret}'"
    )
    done = world.memory.background.run_searches()
    assert done.made == 1
    assert secret not in str(done.failed)
    assert secret not in str(search_logs(world.memory.store))
    world.memory.store._file.connection.execute("UPDATE search_task SET query = ''")


@pytest.mark.parametrize("what", ["search", "learn", "schedule"])
def test_what_an_owner_asked_for_is_returned_and_not_what_came_after_it(
    world: World, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process writes between the write and the answer."""
    writes = 0
    real = world.memory.store.writing

    with another(world) as other:

        def ask(memory: Memory, topic: str) -> str:
            if what == "search":
                return memory.interests.search_web(topic)[1].query
            if what == "learn":
                return memory.interests.learn(topic).text
            return memory.interests.schedule(topic, DAY).topic

        @contextmanager
        def writing(**given: Any) -> Iterator[Any]:
            nonlocal writes
            with real(**given) as writer:
                yield writer
            writes += 1
            if writes == (2 if what == "search" else 1):
                world.clock.now += 1
                ask(other, "tea")

        monkeypatch.setattr(world.memory.store, "writing", writing)
        assert ask(world.memory, "coffee") == "coffee"
        assert writes >= (2 if what == "search" else 1)


# --- two workers ----------------------------------------------------------------------------------


class Beside:
    """Runs something in a thread that is held at one point of it until it is let go."""

    def __init__(self) -> None:
        self.there = threading.Event()
        self.go = threading.Event()
        self.found: object = None
        self._thread: threading.Thread | None = None

    def hold(self) -> None:
        """Say that the point is reached, and wait there."""
        self.there.set()
        assert self.go.wait(60)

    def run(self, work: Callable[[], object]) -> None:
        """Begin, and return when the point is reached."""

        def do() -> None:
            self.found = work()

        self._thread = threading.Thread(target=do)
        self._thread.start()
        assert self.there.wait(60)

    def end(self) -> object:
        """Let it go and return what it found."""
        self.go.set()
        assert self._thread is not None
        self._thread.join(60)
        return self.found


def test_two_workers_never_make_the_same_search(world: World) -> None:
    queued(world, "one", "two", "three")
    beside, first = Beside(), Picky(list(PAGES))
    first.act = lambda query: beside.hold() if query == "one" else None
    with another(world, provider=first) as other:
        beside.run(lambda: other.background.run_searches())
        mine = world.memory.background.run_searches()
        beside.end()
    assert world.pages.asked == ["two", "three"]
    assert first.asked == ["one"]
    assert mine.made == 2
    assert sorted(one.query for one in search_logs(world.memory.store)) == ["one", "three", "two"]
    assert search_tasks(world.memory.store) == []


def test_a_search_that_was_taken_over_is_kept_once(world: World) -> None:
    """Its first worker was silent for longer than its claim lasts."""
    queued(world, "one")
    beside, slow = Beside(), Picky(list(PAGES), act=lambda _: None)
    slow.act = lambda _: beside.hold()
    with another(world, provider=slow) as other:
        beside.run(lambda: other.background.run_searches())
        assert world.memory.background.run_searches().made == 0
        world.clock.now += policy.LEASE_MS
        assert world.memory.background.run_searches().made == 1
        late = beside.end()
    assert (late.made, late.failed) == (0, [])  # type: ignore[attr-defined]
    assert len(search_logs(world.memory.store)) == 1
    sources = world.memory.store._rows("SELECT count(*) FROM source_row WHERE kind = 'search'")
    assert sources == [(1,)]


@pytest.mark.parametrize("here", [True, False], ids=["of this machine", "of another one"])
def test_what_a_dead_worker_had_claimed_is_free_again(world: World, here: bool) -> None:
    from factbook.store.leases import holder_name

    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait(60)
    machine = holder_name().partition(":")[0] if here else "elsewhere"
    holder = f"{machine}:{gone.pid}:1:x"
    searched(world)
    queued(world, "one")
    now, until = world.clock.now, world.clock.now + policy.LEASE_MS
    assert claim_search(world.memory.store, claimer=holder, now=now) is not None
    take_lease(world.memory.store, READING, holder=holder, now=now)
    if not here:
        assert world.memory.background.run_searches().made == 0
        assert world.memory.background.run_extraction().note == "another worker is reading"
        world.clock.now = until
    assert world.memory.background.run_searches().made == 1
    assert world.memory.background.run_extraction().searches == 1


def test_a_cancelled_search_gives_its_claim_back(world: World, picky: Picky) -> None:
    token = Cancel()

    def stop(_: str) -> None:
        token.cancel()
        token.check()

    picky.act = stop
    queued(world, "one")
    with cancelling(token), pytest.raises(Cancelled):
        world.memory.background.run_searches()
    with another(world) as other:
        assert other.background.run_searches().made == 1


def test_two_workers_never_read_the_same(world: World, touchy: Touchy) -> None:
    searched(world)
    world.say("I love the Halden Cargo.")
    beside = Beside()
    touchy.words, touchy.act = "4,300 euros", lambda: None if beside.go.is_set() else beside.hold()
    with another(world) as other:
        beside.run(lambda: world.memory.background.run_extraction())
        found = other.background.run_extraction()
        assert (found.pieces, found.note) == (0, "another worker is reading")
        done = beside.end()
        assert (done.searches, done.messages) == (1, 1)  # type: ignore[attr-defined]
        assert other.background.run_extraction() == ExtractionReport()
    assert world.facts(NAME) == list(SAYS)
    counts = world.memory.store._rows("SELECT evidence_count FROM fact_row WHERE kind = 'world'")
    assert counts == [(1,)] * len(SAYS)


def test_what_was_read_after_another_took_over_is_not_written(world: World, touchy: Touchy) -> None:
    searched(world)
    beside = Beside()
    touchy.words, touchy.act = "4,300 euros", lambda: None if beside.go.is_set() else beside.hold()
    with another(world) as other:
        beside.run(lambda: world.memory.background.run_extraction())
        world.clock.now += policy.LEASE_MS
        assert other.background.run_extraction().searches == 1
        late = beside.end()
    assert late.searches == 0  # type: ignore[attr-defined]
    assert "taken over" in late.note  # type: ignore[attr-defined]
    assert world.facts(NAME) == list(SAYS)
    counts = world.memory.store._rows("SELECT evidence_count FROM fact_row WHERE kind = 'world'")
    assert counts == [(1,)] * len(SAYS)
    assert told(world) == [(NoticeKind.DISCOVERED, sorted(SAYS))]


def test_two_processes_do_everything_once(tmp_path: Path) -> None:
    db = tmp_path / "two.db"
    with Memory(db, key_file=tmp_path / "redaction.key", model=None) as memory:
        memory.interests.learn("find me stuff about cargo bikes")
        memory.interests.learn("sourdough")
        for text in ("I love the Pelle Mini.", "What about the Pelle Mini's brakes?"):
            memory.add_turn(text, session="s")
        tasks = len(search_tasks(memory.store))
    given = {"FACTBOOK_SEARCH_PROVIDER": "folder", "FACTBOOK_SEARCH_FOLDER": str(DOCUMENTS)}
    off = [word for name in ("enrichment", "cleaner", "embedding") for word in ("--off", name)]
    workers = [
        forked.start(
            ["--db", str(db), "worker", "--once", *off],
            env=Cli(home=tmp_path, env=given).environment(),
        )
        for _ in range(2)
    ]
    for one in workers:
        assert one.wait(300) == 0
    with Memory(db, key_file=tmp_path / "redaction.key", model=None, search_config=None) as memory:
        memory.background.run_extraction()  # one may have left what the other was reading
        logs = search_logs(memory.store)
        assert len(logs) == tasks
        assert all(one.extracted for one in logs)
        assert unheard(memory.store, now=0, limit=9) == []
        assert search_tasks(memory.store) == []
        rows = memory.store._rows(
            "SELECT max(n) FROM (SELECT count(*) AS n FROM event_row WHERE target_kind = 'search'"
            " GROUP BY target_id)"
        )
        assert rows == [(1,)]
        notices = Counter(one.entity_id for one in notices_of(memory.store))
        assert notices
        assert set(notices.values()) == {1}
        assert memory.check() == []
