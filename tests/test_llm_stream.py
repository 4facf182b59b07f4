"""Answers that come in parts, with calls of tools, in both protocols over real HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from factbook.errors import ModelError, ModelFailure
from factbook.llm.base import AnswerPart, Message, ModelCall, Tool, ToolCall
from factbook.llm.client import Client, open_llm
from factbook.llm.config import ModelConfig
from factbook.llm.wire import lines
from factbook.testing.model_server import ModelServer, Reply

PROVIDERS = ("openai", "ollama")
TEXT = "Tea, as you said in March: Zürich 🙂 and more words to make some pieces."
PROMPT = [Message(role="user", content="What do I like?")]
SEARCH = Tool(
    name="search_memory",
    description="Search the memory.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}},
)


class Meter:
    def __init__(self) -> None:
        self.calls: list[ModelCall] = []

    def before(self, purpose: str, model: str) -> None:
        return

    def after(self, call: ModelCall) -> None:
        self.calls.append(call)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def client(
    server: ModelServer, provider: str, meter: Meter | None = None, **settings: Any
) -> Client:
    server.requests.clear()
    return open_llm(
        ModelConfig(provider=provider, url=server.url, **settings), meter=meter, environ={}
    )


def failing(pieces: Iterator[AnswerPart]) -> tuple[ModelFailure, str]:
    """Return how a stream fails, and the text that came before."""
    text = ""
    try:
        for piece in pieces:
            text += piece.text
    except ModelError as error:
        return error.kind, text
    pytest.fail(f"the stream ended well: {text}")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_text_comes_in_parts_and_is_counted(server: ModelServer, provider: str) -> None:
    server.script = Reply.text(TEXT, tokens=(40, 20))
    meter = Meter()
    pieces = list(client(server, provider, meter).stream(PROMPT, purpose="chat"))
    assert len(pieces) > 3
    assert "".join(piece.text for piece in pieces) == TEXT
    assert server.requests[0].body["stream"] is True
    (call,) = meter.calls
    assert (call.outcome, call.prompt_tokens, call.answer_tokens) == ("ok", 40, 20)
    assert not call.estimated


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_asks_for_tools_and_is_told_what_they_gave(
    server: ModelServer, provider: str
) -> None:
    asked = {"query": "what I like", "limit": 3}
    server.script = [
        Reply.tools([{"name": "search_memory", "arguments": asked, "id": "c-1"}], text="Wait. "),
        Reply.text(TEXT),
    ]
    llm = client(server, provider)
    pieces = list(llm.stream(PROMPT, [SEARCH]))
    calls = [call for piece in pieces for call in piece.calls]
    assert [(call.id, call.name, json.loads(call.arguments)) for call in calls] == [
        ("c-1", "search_memory", asked)
    ]
    assert "".join(piece.text for piece in pieces) == "Wait. "
    tools = server.requests[0].body["tools"]
    assert tools[0]["function"]["name"] == "search_memory"

    conversation = [
        *PROMPT,
        Message(role="assistant", content="Wait. ", calls=calls),
        Message(role="tool", content='["tea"]', name="search_memory", call_id=calls[0].id),
    ]
    assert "".join(piece.text for piece in llm.stream(conversation, [SEARCH])) == TEXT
    sent = server.requests[1].messages
    function = sent[1]["tool_calls"][0]["function"]
    if provider == "openai":
        assert json.loads(function["arguments"]) == asked
        assert (sent[1]["tool_calls"][0]["id"], sent[2]["tool_call_id"]) == ("c-1", "c-1")
    else:
        assert function["arguments"] == asked
        assert sent[2]["tool_name"] == "search_memory"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_two_calls_of_tools_are_two(server: ModelServer, provider: str) -> None:
    names = ["search_memory", "now"]
    server.script = Reply.tools([{"name": name, "arguments": {}} for name in names])
    pieces = list(client(server, provider).stream(PROMPT, [SEARCH]))
    calls = [call for piece in pieces for call in piece.calls]
    assert [call.name for call in calls] == names
    assert len({call.id for call in calls}) == 2


def test_arguments_that_are_no_object_are_told_to_ollama_as_text(server: ModelServer) -> None:
    server.script = Reply.text("ok")
    call = ToolCall(id="c", name="search_memory", arguments="{broken")
    said = Message(role="assistant", content="", calls=[call])
    list(client(server, "ollama").stream([*PROMPT, said]))
    function = server.requests[0].messages[1]["tool_calls"][0]["function"]
    assert function["arguments"] == {"arguments": "{broken"}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("reply", "kind", "some"),
    [
        (Reply.truncated(TEXT), ModelFailure.TRUNCATED, True),
        (Reply.status(503, "busy"), ModelFailure.HTTP, False),
        (Reply.drop(Reply.text(TEXT)), ModelFailure.CONNECT, True),
        (Reply.drop(share=0), ModelFailure.CONNECT, False),
        (Reply.hang(Reply.text(TEXT)), ModelFailure.TIMEOUT, True),
        (Reply.hang(), ModelFailure.TIMEOUT, False),
        (Reply.raw(b"data: {nonsense\n\n"), ModelFailure.HTTP, False),
        (Reply.raw(b'{"error": "the model crashed"}\n'), ModelFailure.HTTP, False),
        (Reply.raw(b""), ModelFailure.CONNECT, False),
        (Reply.endless(b'{"padding": "'), ModelFailure.TOO_LARGE, False),
    ],
)
def test_each_failure_of_a_stream_has_its_kind(
    server: ModelServer, provider: str, reply: Reply, kind: ModelFailure, some: bool
) -> None:
    server.script = reply
    meter = Meter()
    timeout_s = 0.4 if kind is ModelFailure.TIMEOUT else 20.0
    llm = client(server, provider, meter, timeout_s=timeout_s)
    found, text = failing(llm.stream(PROMPT))
    assert found is kind
    assert TEXT.startswith(text)
    assert bool(text) is some
    assert [call.outcome for call in meter.calls] == [kind.value]
    assert len(server.requests) == 1


def test_a_refusal_in_a_stream_is_one(server: ModelServer) -> None:
    server.script = Reply.refusal("No, thank you.")
    assert failing(client(server, "openai").stream(PROMPT)) == (ModelFailure.REFUSED, "")
    server.script = Reply(content="", finish="content_filter")
    assert failing(client(server, "openai").stream(PROMPT)) == (ModelFailure.REFUSED, "")


def test_a_stream_may_take_longer_than_a_call_but_not_for_ever(server: ModelServer) -> None:
    server.script = Reply.dribble(Reply.text(TEXT), 0.15)
    pieces = list(client(server, "ollama", timeout_s=1.0, chat_timeout_s=30).stream(PROMPT))
    assert "".join(piece.text for piece in pieces) == TEXT
    server.script = Reply.dribble(Reply.text(TEXT), 0.15)
    begun = time.monotonic()
    llm = client(server, "ollama", timeout_s=0.6, chat_timeout_s=0.6)
    kind, text = failing(llm.stream(PROMPT))
    assert kind is ModelFailure.TIMEOUT
    assert text
    assert time.monotonic() - begun < 1.5


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_reader_that_stops_closes_the_connection_and_is_counted(
    server: ModelServer, provider: str
) -> None:
    server.script = Reply.dribble(Reply.text(TEXT), 0.05)
    meter = Meter()
    pieces = client(server, provider, meter).stream(PROMPT)
    assert next(pieces).text
    pieces.close()  # type: ignore[attr-defined]
    (call,) = meter.calls
    assert (call.outcome, call.estimated) == ("interrupted", True)
    assert call.prompt_tokens > 0


WHOLE = {
    "id": "chatcmpl-1",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 40, "completion_tokens": 20},
}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_whole_answer_in_the_place_of_a_stream_is_read(
    server: ModelServer, indent: int | None
) -> None:
    server.script = Reply.raw(json.dumps(WHOLE, indent=indent).encode())
    meter = Meter()
    pieces = list(client(server, "openai", meter).stream(PROMPT))
    assert "".join(piece.text for piece in pieces) == TEXT
    assert (meter.calls[0].prompt_tokens, meter.calls[0].answer_tokens) == (40, 20)


def test_a_whole_answer_may_ask_for_tools_or_fail(server: ModelServer) -> None:
    function = {"name": "search_memory", "arguments": "{}"}
    message = {"content": None, "tool_calls": [{"id": "c-1", "function": function}]}
    choice = {"message": message, "finish_reason": "tool_calls"}
    server.script = Reply.raw(json.dumps({"choices": [choice]}).encode())
    (piece,) = client(server, "openai").stream(PROMPT, [SEARCH])
    assert [(call.id, call.name) for call in piece.calls] == [("c-1", "search_memory")]
    cut = {"choices": [{**choice, "message": {"content": TEXT}, "finish_reason": "length"}]}
    server.script = Reply.raw(json.dumps(cut).encode())
    assert failing(client(server, "openai").stream(PROMPT)) == (ModelFailure.TRUNCATED, TEXT)
    server.script = Reply.raw(b'{"choices": [{"text": "of an older protocol"}]}')
    assert failing(client(server, "openai").stream(PROMPT)) == (ModelFailure.HTTP, "")


@pytest.mark.parametrize(
    "nothing", [{"delta": {}}, {"delta": None}, {"content_filter_results": {}}]
)
def test_a_part_may_say_nothing(server: ModelServer, nothing: dict[str, object]) -> None:
    """As servers send to keep a connection open, or beside what their filter found."""
    silent = {"choices": [{"index": 0, "finish_reason": None, **nothing}]}
    said = [{"choices": [{"delta": {"content": part}}]} for part in (TEXT[:3], TEXT[3:])]
    last = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    events = [silent, said[0], silent, said[1], last]
    server.script = Reply.raw(b"".join(b"data: %s\n\n" % json.dumps(e).encode() for e in events))
    pieces = list(client(server, "openai").stream(PROMPT))
    assert "".join(piece.text for piece in pieces) == TEXT


def test_usage_may_come_without_choices(server: ModelServer) -> None:
    said = {"choices": [{"delta": {"content": TEXT}, "finish_reason": "stop"}]}
    events = [said, {"usage": WHOLE["usage"]}]
    server.script = Reply.raw(b"".join(b"data: %s\n\n" % json.dumps(e).encode() for e in events))
    meter = Meter()
    pieces = list(client(server, "openai", meter).stream(PROMPT))
    assert "".join(piece.text for piece in pieces) == TEXT
    assert meter.calls[0].answer_tokens == 20
    server.script = Reply.raw(b'data: {"id": "c"}\n\n')  # neither choices nor usage
    assert failing(client(server, "openai").stream(PROMPT)) == (ModelFailure.HTTP, "")


def test_events_are_read_as_the_standard_says() -> None:
    from factbook.llm.openai import _events

    chunks = [
        b": hello\r\n\r\nda",
        b'ta: {"a"',
        b":1}\r\n\r",
        b"\ndata:[DO",
        b"NE]\n\nevent: x\n\n",
    ]
    assert list(_events(chunks)) == [b'{"a":1}', b"[DONE]"]
    assert list(_events([b"data: a\ndata: b\n\ndata: c"])) == [b"a\nb", b"c"]


def test_lines_are_whole_wherever_the_chunks_are_cut() -> None:
    data = "one\r\ntwo Zürich\n\nthree 🙂".encode()
    wanted = [b"one", "two Zürich".encode(), b"", "three 🙂".encode()]
    for size in range(1, len(data) + 1):
        cut = [data[at : at + size] for at in range(0, len(data), size)]
        assert list(lines(cut)) == wanted
