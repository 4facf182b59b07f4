"""Stopping work from another thread: the token, and the HTTP exchanges that obey it.

Seed 003, learned: a foreground message cancels background work.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import BaseModel, ConfigDict

from factbook.embed import bundled
from factbook.errors import ModelError, ModelFailure
from factbook.llm.base import Message, ModelCall
from factbook.llm.client import open_embedder, open_llm
from factbook.llm.config import EmbedConfig, ModelConfig
from factbook.net import cancel
from factbook.net.cancel import Cancel, Cancelled, cancelling
from factbook.net.http import Endpoint, Failed, read_address
from factbook.testing.model_server import ModelServer, Reply

PROMPT = [Message(role="user", content="Which boats are there?")]
SOON_S = 2.0  # far less than any timeout here, far more than a busy machine needs


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    note: str


class Meter:
    def __init__(self) -> None:
        self.calls: list[ModelCall] = []

    def before(self, purpose: str, model: str) -> None:
        return

    def after(self, call: ModelCall) -> None:
        self.calls.append(call)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def stopped(server: ModelServer, work: Callable[[], object]) -> float:
    """Cancel work as soon as the server has its request; return how long it took to end."""
    token = Cancel()

    def obeying() -> object:
        with cancelling(token):
            return work()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(obeying)
        assert server.wait_for(1)
        time.sleep(0.05)  # into the answer, where there is one
        begun = time.monotonic()
        token.cancel()
        assert isinstance(running.exception(timeout=10), Cancelled)
        return time.monotonic() - begun


# --- the token ------------------------------------------------------------------------------------


def test_without_a_token_nothing_is_stopped() -> None:
    assert cancel.current() is None
    cancel.check()


def test_a_token_stops_what_obeys_it_once_and_for_ever() -> None:
    token = Cancel()
    with cancelling(token) as given:
        assert given is token
        assert cancel.current() is token
        cancel.check()
        token.wait(0.0)
        assert not token.cancelled
        token.cancel()
        token.cancel()
        assert token.cancelled
        with pytest.raises(Cancelled):
            cancel.check()
        with pytest.raises(Cancelled):
            token.wait(60)
    assert cancel.current() is None


def test_a_cancellation_is_no_error_of_what_was_stopped() -> None:
    """Code that guards itself against any error of a plugged-in part lets it through."""
    assert not issubclass(Cancelled, Exception)


def test_a_wait_ends_when_it_is_cancelled_in_another_thread() -> None:
    token = Cancel()
    timer = threading.Timer(0.05, token.cancel)
    begun = time.monotonic()
    timer.start()
    with pytest.raises(Cancelled):
        token.wait(60)
    assert time.monotonic() - begun < SOON_S
    timer.join()


def test_callbacks_run_once_in_order_and_only_within_their_context() -> None:
    token = Cancel()
    heard: list[str] = []
    with token.on_cancel(lambda: heard.append("over")):
        pass
    with token.on_cancel(lambda: heard.append("one")), token.on_cancel(lambda: heard.append("two")):
        token.cancel()
        assert heard == ["one", "two"]
    with token.on_cancel(lambda: heard.append("late")):
        assert heard == ["one", "two", "late"]
    token.cancel()
    assert heard == ["one", "two", "late"]


def test_a_callback_that_raises_keeps_no_other_from_running() -> None:
    token = Cancel()
    heard: list[str] = []

    def broken() -> None:
        raise OSError("the socket is gone")

    with (
        token.on_cancel(broken),
        token.on_cancel(lambda: heard.append("two")),
        pytest.raises(OSError, match="the socket is gone"),
    ):
        token.cancel()
    assert heard == ["two"]
    assert token.cancelled


def test_no_callback_runs_after_its_context_has_ended() -> None:
    """What is interrupted must still be what was meant: the end waits for a running callback."""
    token = Cancel()
    began, go_on, left = threading.Event(), threading.Event(), threading.Event()

    def slow() -> None:
        began.set()
        go_on.wait(5)

    def within() -> None:
        with token.on_cancel(slow):
            began.wait(5)
        left.set()

    threads = [threading.Thread(target=within), threading.Thread(target=token.cancel)]
    threads[0].start()
    while not token._callbacks:
        time.sleep(0.001)
    threads[1].start()
    assert began.wait(5)
    assert not left.wait(0.05)
    go_on.set()
    for thread in threads:
        thread.join(5)
    assert left.is_set()


def test_a_token_within_another_is_cancelled_by_it_and_not_the_other_way_round() -> None:
    outer, first, second = Cancel(), Cancel(), Cancel()
    with cancelling(outer):
        with cancelling(first):
            first.cancel()
        assert not outer.cancelled
        with cancelling(second), cancelling(second):
            assert cancel.current() is second
            outer.cancel()
            with pytest.raises(Cancelled):
                cancel.check()
        assert second.cancelled
        assert cancel.current() is outer


def test_a_new_thread_obeys_none_and_a_task_obeys_its_maker() -> None:
    token = Cancel()
    seen: list[Cancel | None] = []

    async def main() -> None:
        await asyncio.to_thread(lambda: seen.append(cancel.current()))

    with cancelling(token):
        thread = threading.Thread(target=lambda: seen.append(cancel.current()))
        thread.start()
        thread.join()
        asyncio.run(main())
    assert seen == [None, token]


def test_many_threads_may_come_and_go_while_it_is_cancelled() -> None:
    token = Cancel()
    counts: list[int] = []

    def work() -> None:
        heard: list[int] = []
        for _ in range(2_000):
            with token.on_cancel(lambda: heard.append(1)):
                pass
            if token.cancelled:
                break
        counts.append(len(heard))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    token.cancel()
    for thread in threads:
        thread.join(10)
    assert len(counts) == 4
    assert all(count <= 1 for count in counts)
    assert not token._callbacks


# --- HTTP -----------------------------------------------------------------------------------------

HANGING = {
    "before the head": Reply.hang(),
    "in the body": Reply.hang(Reply.json({"note": "x" * 5_000})),
    "dribbling": Reply.dribble(Reply.json({"note": "x" * 5_000}), 0.01),
    "endless": Reply.endless(every_s=0.005),
}


@pytest.mark.parametrize("how", HANGING)
def test_a_model_call_ends_at_once_and_is_counted_as_interrupted(
    server: ModelServer, how: str
) -> None:
    server.script = HANGING[how]
    meter = Meter()
    config = ModelConfig(provider="openai", url=server.url, timeout_s=30)
    llm = open_llm(config, meter=meter, environ={})
    assert stopped(server, lambda: llm.ask(PROMPT, Answer, purpose="entities")) < SOON_S
    assert [one.outcome for one in meter.calls] == ["interrupted"]
    for _ in range(100):  # nobody holds the connection on
        if not any(thread.name == "factbook-http" for thread in threading.enumerate()):
            break
        time.sleep(0.02)
    assert not any(thread.name == "factbook-http" for thread in threading.enumerate())


def test_a_streamed_answer_ends_at_once(server: ModelServer) -> None:
    server.script = Reply.dribble(Reply.text("word " * 500), 0.01)
    meter = Meter()
    llm = open_llm(ModelConfig(provider="ollama", url=server.url), meter=meter, environ={})
    assert stopped(server, lambda: list(llm.stream(PROMPT))) < SOON_S
    assert [one.outcome for one in meter.calls] == ["interrupted"]


def test_an_embedding_request_ends_at_once_and_is_no_failure_of_the_endpoint(
    server: ModelServer,
) -> None:
    server.script = Reply.hang()
    meter = Meter()
    config = EmbedConfig(provider="openai", model="small", url=server.url, dim=8, timeout_s=30)
    embedder = open_embedder(config, meter=meter, environ={})
    assert stopped(server, lambda: embedder.embed(["a boat", "a rope"])) < SOON_S
    assert [one.outcome for one in meter.calls] == ["interrupted"]


def test_what_was_cancelled_before_sends_nothing(server: ModelServer) -> None:
    endpoint = Endpoint(read_address(server.url))
    token = Cancel()
    token.cancel()
    with cancelling(token), pytest.raises(Cancelled):
        endpoint.send("/v1/models", None, timeout_s=5, max_bytes=1_000)
    assert server.requests == []


def test_the_same_endpoint_goes_on_for_others_and_afterwards(server: ModelServer) -> None:
    """One token ends its own exchanges only."""
    server.script = [
        Reply.hang(),
        Reply.delay(0.3, Reply.json({"note": "a"})),
        Reply.json({"note": "b"}),
    ]
    llm = open_llm(ModelConfig(provider="openai", url=server.url), environ={})

    def ask() -> str:
        return llm.ask(PROMPT, Answer, purpose="entities").note

    token = Cancel()

    def obeying() -> str:
        with cancelling(token):
            return ask()

    with ThreadPoolExecutor(2) as pool:
        doomed = pool.submit(obeying)
        assert server.wait_for(1)
        other = pool.submit(ask)
        assert server.wait_for(2)
        token.cancel()
        assert isinstance(doomed.exception(timeout=10), Cancelled)
        assert other.result(timeout=10) == "a"
    assert ask() == "b"


def test_an_exchange_that_has_ended_is_not_touched_by_a_later_cancellation(
    server: ModelServer,
) -> None:
    server.script = Reply.json({"note": "whole"})
    llm = open_llm(ModelConfig(provider="openai", url=server.url), environ={})
    token = Cancel()
    with cancelling(token):
        assert llm.ask(PROMPT, Answer, purpose="entities").note == "whole"
        token.cancel()


def test_a_deadline_is_still_a_failure_under_a_token(server: ModelServer) -> None:
    server.script = Reply.hang()
    llm = open_llm(ModelConfig(provider="openai", url=server.url, timeout_s=0.3), environ={})
    with cancelling(Cancel()), pytest.raises(ModelError) as caught:
        llm.ask(PROMPT, Answer, purpose="entities")
    assert caught.value.kind is ModelFailure.TIMEOUT


@pytest.mark.parametrize(
    ("name", "value"), [("https_proxy", "nonsense://there"), ("SSL_CERT_FILE", "/no/such/file")]
)
def test_an_environment_that_cannot_be_used_is_a_failure_in_words(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """The connection is prepared in the thread of the exchange, where nobody waits for it."""
    monkeypatch.setenv(name, value)
    endpoint = Endpoint(read_address("https://search.invalid"))
    with pytest.raises(Failed, match="the certificates or the proxy") as caught:
        endpoint.send("/", None, timeout_s=5, max_bytes=10)
    assert caught.value.kind is ModelFailure.CONNECT
    assert caught.value.unread


# --- the bundled embedder -------------------------------------------------------------------------


def test_a_batch_of_the_bundled_embedder_ends_within_a_run_and_the_next_is_whole() -> None:
    embedder = bundled()
    embedder.load()
    texts = ["Every boat in the harbour needs a new rope before winter comes. " * 16] * 256
    token = Cancel()

    def obeying() -> object:
        with cancelling(token):
            return embedder.embed(texts)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(obeying)
        time.sleep(0.2)
        begun = time.monotonic()
        token.cancel()
        assert isinstance(running.exception(timeout=30), Cancelled)
        assert time.monotonic() - begun < SOON_S
    with cancelling(Cancel()):
        assert (embedder.embed(["a boat"]) == embedder.embed(["a boat"])).all()
