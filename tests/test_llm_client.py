"""The client of a language model against a real HTTP server: what it asks, and how it fails."""

from __future__ import annotations

import json
import logging
import pickle
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import orjson
import pytest
from pydantic import BaseModel, ConfigDict, Field

from factbook import policy
from factbook.errors import ModelError, ModelFailure, UsageError
from factbook.llm.base import Message, ModelCall
from factbook.llm.client import Client, base_url, open_llm
from factbook.llm.config import ModelConfig
from factbook.testing.bad_answers import BAD_ANSWERS, ODD_ANSWERS, BadAnswer
from factbook.testing.model_server import ModelServer, Reply, Request
from rows import every

PROVIDERS = ("openai", "ollama")
KEY = "sk-not-to-be-seen-anywhere"
PROMPT = [
    Message(role="system", content="Answer in JSON."),
    Message(role="user", content="Which of these does the user like? Zürich 🙂"),
]


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class Item(Strict):
    text: str
    op: Literal["set", "clear"]
    confidence: float = Field(ge=0, le=1)
    rank: int | None = Field(default=None, ge=1, le=100)
    id: str = "f-1"


class Answer(Strict):
    items: list[Item] = Field(max_length=100)
    note: str = ""


GOOD: dict[str, Any] = {
    "items": [
        {"text": "They like tea.", "op": "set", "confidence": 0.9, "rank": 1, "id": "f-1"},
        {"text": "They run.", "op": "clear", "confidence": 1, "rank": None, "id": "f-2"},
    ],
    "note": "two",
}


class Meter:
    """Counts calls in memory; refuses them when it is full."""

    def __init__(self, *, full: bool = False) -> None:
        self.calls: list[ModelCall] = []
        self.asked: list[tuple[str, str]] = []
        self.full = full

    def before(self, purpose: str, model: str) -> None:
        self.asked.append((purpose, model))
        if self.full:
            raise ModelError(kind=ModelFailure.OVER_BUDGET, model=model, reason="it is spent")

    def after(self, call: ModelCall) -> None:
        self.calls.append(call)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def client(
    server: ModelServer,
    provider: str,
    *,
    meter: Meter | None = None,
    environ: Mapping[str, str] | None = None,
    **settings: Any,
) -> Client:
    server.requests.clear()
    config = ModelConfig(provider=provider, url=server.url, **settings)
    return open_llm(config, meter=meter, clock=lambda: 1_700_000_000_000, environ=environ or {})


def fails(llm: Client, prompt: list[Message] = PROMPT) -> ModelError:
    with pytest.raises(ModelError) as caught:
        llm.ask(prompt, Answer, purpose="typed")
    reason = str(caught.value.details["reason"])
    assert reason.isprintable(), "one line that no terminal acts upon"
    assert len(reason) < 500
    return caught.value


def outcome(llm: Client) -> str:
    try:
        llm.ask(PROMPT, Answer, purpose="typed")
    except ModelError as error:
        return error.kind
    return "ok"


# --- good answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_is_a_validated_object_and_one_request(
    server: ModelServer, provider: str
) -> None:
    server.script = Reply.json(GOOD, tokens=(120, 34))
    meter = Meter()
    llm = client(server, provider, meter=meter)
    found = llm.ask(PROMPT, Answer, purpose="typed")
    assert found == Answer.model_validate_json(json.dumps(GOOD))
    assert len(server.requests) == 1
    assert llm.id == f"{provider}:qwen2.5:7b-instruct"
    assert llm.context_tokens == 8192
    (call,) = meter.calls
    assert meter.asked == [("typed", llm.id)]
    assert (call.purpose, call.model, call.outcome) == ("typed", llm.id, "ok")
    assert (call.prompt_tokens, call.answer_tokens, call.estimated) == (120, 34, False)
    assert (call.at, call.money) == (1_700_000_000_000, None)
    assert call.latency_ms > 0


def test_ollama_is_asked_in_its_own_protocol(server: ModelServer) -> None:
    """Format, keep_alive, num_ctx and temperature 0; a long prompt is an error and not cut."""
    server.script = Reply.json(GOOD)
    client(server, "ollama", num_ctx=4096, keep_alive="10m").ask(PROMPT, Answer, purpose="typed")
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/api/chat")
    body = request.body
    assert body["options"] == {"num_ctx": 4096, "temperature": 0.0}
    assert (body["keep_alive"], body["stream"], body["think"]) == ("10m", False, False)
    assert (body["truncate"], body["shift"]) == (False, False)
    assert body["format"]["required"] == ["items", "note"]
    assert body["messages"] == [
        {"role": message.role, "content": message.content} for message in PROMPT
    ]
    assert "authorization" not in request.headers


def test_the_compatible_protocol_is_asked_with_a_strict_schema(server: ModelServer) -> None:
    server.script = Reply.json(GOOD)
    llm = client(server, "openai", environ={"MINE": KEY}, key_env="MINE")
    llm.ask(PROMPT, Answer, purpose="typed")
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["accept-encoding"] == "identity"
    assert request.body["temperature"] == 0.0
    form = request.body["response_format"]
    assert form["type"] == "json_schema"
    assert (form["json_schema"]["name"], form["json_schema"]["strict"]) == ("Answer", True)
    assert request.schema is not None
    assert request.schema["additionalProperties"] is False
    assert KEY not in repr(llm)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_that_insists_on_its_own_temperature_is_sent_none(
    server: ModelServer, provider: str
) -> None:
    server.script = Reply.json(GOOD)
    client(server, provider, temperature=None).ask(PROMPT, Answer, purpose="typed")
    assert b"temperature" not in server.requests[0].raw


@pytest.mark.parametrize("provider", PROVIDERS)
def test_half_a_character_in_a_prompt_is_sent_as_a_replacement(
    server: ModelServer, provider: str
) -> None:
    server.script = Reply.json(GOOD)
    prompt = [Message(role="user", content="half \ud83d of \ud83d\ude42 it")]
    client(server, provider).ask(prompt, Answer, purpose="typed")
    assert server.requests[0].prompt == "half \ufffd of 🙂 it"


@every("provider", PROVIDERS)
@every("name", ODD_ANSWERS)
def test_a_good_answer_that_looks_odd_is_taken(
    server: ModelServer, provider: str, name: str
) -> None:
    server.script = ODD_ANSWERS[name](GOOD)
    found = client(server, provider).ask(PROMPT, Answer, purpose="typed")
    assert found.items[0].text == "They like tea."


@pytest.mark.parametrize("provider", PROVIDERS)
def test_tokens_are_estimated_where_the_reply_does_not_say(
    server: ModelServer, provider: str
) -> None:
    server.script = ODD_ANSWERS["no usage"](GOOD)
    meter = Meter()
    client(server, provider, meter=meter).ask(PROMPT, Answer, purpose="typed")
    (call,) = meter.calls
    assert call.estimated
    assert call.prompt_tokens == -(-sum(len(one.content.encode()) for one in PROMPT) // 4)
    assert call.answer_tokens == -(-len(json.dumps(GOOD, ensure_ascii=False).encode()) // 4)


def test_a_call_costs_what_is_configured(server: ModelServer) -> None:
    server.script = Reply.json(GOOD, tokens=(1_000_000, 500_000))
    meter = Meter()
    llm = client(server, "openai", meter=meter, price_in=0.15, price_out=0.6)
    llm.ask(PROMPT, Answer, purpose="judge")
    assert meter.calls[0].money == pytest.approx(0.15 + 0.3)


# --- bad answers ----------------------------------------------------------------------------------


SAID_BADLY = [
    pytest.param(provider, bad, id=f"{bad.name}-{provider}")
    for bad in BAD_ANSWERS
    for provider in PROVIDERS
    if bad.applies(GOOD, provider)
]


@pytest.mark.parametrize(("provider", "bad"), SAID_BADLY)
def test_each_bad_answer_is_one_error_of_its_kind(
    server: ModelServer, provider: str, bad: BadAnswer
) -> None:
    """Hard failure: one request, one typed error with its kind, one count."""
    kind = bad.expected(provider)
    slow = kind is ModelFailure.TIMEOUT
    server.script = bad.reply(GOOD)
    meter = Meter()
    llm = client(server, provider, meter=meter, timeout_s=0.4 if slow else 20.0)
    begun = time.monotonic()
    if kind is None:  # well-formed: the type of the answer refuses it, or the gate has to
        assert outcome(llm) in ("ok", ModelFailure.SCHEMA)
    else:
        assert fails(llm).kind is kind
        assert meter.calls[0].outcome == kind.value
    if slow:
        assert time.monotonic() - begun < 2.0, "nothing outlives the total deadline"
    assert len(server.requests) == 1, "nothing is retried"
    assert len(meter.calls) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_server_that_is_stopped_is_a_failure_to_connect(provider: str) -> None:
    """Seed 004, acceptance test 4: the model's server is stopped, and started again."""
    with ModelServer(Reply.json(GOOD)) as server:
        meter = Meter()
        llm = client(server, provider, meter=meter)
        server.stop()
        error = fails(llm)
        assert error.kind is ModelFailure.CONNECT
        assert f"nobody answers at {server.url}" in str(error)
        assert "nothing was written" in str(error)
        assert (meter.calls[0].prompt_tokens, meter.calls[0].answer_tokens) == (0, 0)
        server.start()
        assert llm.ask(PROMPT, Answer, purpose="typed").note == "two"


def test_a_dribbling_answer_does_not_outlive_the_deadline_though_every_byte_is_in_time(
    server: ModelServer,
) -> None:
    server.script = Reply.dribble(Reply.json(GOOD), 0.05)
    begun = time.monotonic()
    error = fails(client(server, "openai", timeout_s=0.5))
    assert error.kind is ModelFailure.TIMEOUT
    assert "no complete answer came within 0.5 seconds" in str(error)
    assert 0.45 < time.monotonic() - begun < 1.5


def test_the_threads_of_calls_that_were_given_up_end(server: ModelServer) -> None:
    server.script = Reply.hang()
    for _ in range(3):
        fails(client(server, "openai", timeout_s=0.2))
    for _ in range(50):
        if not any(thread.name == "factbook-http" for thread in threading.enumerate()):
            break
        time.sleep(0.05)
    assert not any(thread.name == "factbook-http" for thread in threading.enumerate())


def test_a_redirect_is_not_followed_and_says_where_it_led(server: ModelServer) -> None:
    server.script = Reply.status(307, headers={"Location": "http://elsewhere.example/v1"})
    error = fails(client(server, "openai"))
    assert error.kind is ModelFailure.HTTP
    assert "a redirect to http://elsewhere.example/v1" in str(error)


def test_an_error_body_is_shown_short_in_one_line_and_without_the_key(server: ModelServer) -> None:
    said = f"bad key {KEY}:\r\n\x1b[2J\u202egnp.exe\x00 " + "blah " * 5_000
    for reply in (
        Reply.status(401, said),
        Reply.status(401, said.encode()),
        Reply.status(401, {"error": said}),
        Reply.status(422, {"detail": [{"msg": said}]}),
    ):
        server.script = reply
        llm = client(server, "openai", environ={"MINE": KEY}, key_env="MINE")
        error = fails(llm)
        assert error.kind is ModelFailure.HTTP
        assert KEY not in str(error)
        assert "status 4" in str(error)
        assert "\u202e" not in str(error)


def test_the_key_is_in_no_log_record(server: ModelServer, caplog: pytest.LogCaptureFixture) -> None:
    server.script = [Reply.json(GOOD), Reply.status(401, f"Incorrect API key: {KEY}")]
    llm = client(server, "openai", environ={"MINE": KEY}, key_env="MINE")
    with caplog.at_level(logging.DEBUG):
        llm.ask(PROMPT, Answer, purpose="typed")
        fails(llm)
    assert caplog.records, "the HTTP library logs what it does"
    assert KEY not in caplog.text


def test_what_a_model_made_of_a_text_is_not_in_the_error(server: ModelServer) -> None:
    server.script = Reply.json({"items": [{**GOOD["items"][0], "rank": "my secret"}], "note": ""})
    error = fails(client(server, "openai"))
    assert error.kind is ModelFailure.SCHEMA
    assert "items[0].rank" in str(error)
    assert "my secret" not in str(error)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_cap_counts_the_bytes_of_the_whole_reply(server: ModelServer, provider: str) -> None:
    server.script = Reply.json({**GOOD, "note": "x" * 5_000})
    error = fails(client(server, provider, max_answer_bytes=4_096))
    assert error.kind is ModelFailure.TOO_LARGE
    assert "4,096 bytes allowed" in str(error)


def test_a_prompt_that_cannot_fit_is_not_sent(server: ModelServer) -> None:
    server.script = Reply.json(GOOD)
    meter = Meter()
    llm = client(server, "ollama", meter=meter, num_ctx=256)
    error = fails(llm, [Message(role="user", content="word " * 400)])
    assert error.kind is ModelFailure.TOO_LARGE
    assert "nothing was sent" in str(error)
    assert (server.requests, meter.asked, meter.calls) == ([], [], [])


def test_a_spent_budget_lets_no_call_begin(server: ModelServer) -> None:
    server.script = Reply.json(GOOD)
    meter = Meter(full=True)
    assert fails(client(server, "openai", meter=meter)).kind is ModelFailure.OVER_BUDGET
    assert (server.requests, meter.calls) == ([], [])


def test_proxies_of_the_environment_are_not_used_on_this_machine(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # where nobody listens
    monkeypatch.delenv("NO_PROXY", raising=False)
    server.script = Reply.json(GOOD)
    assert client(server, "openai").ask(PROMPT, Answer, purpose="typed").note == "two"


def test_one_client_serves_many_threads(server: ModelServer) -> None:
    server.script = lambda request: Reply.json({"items": [], "note": request.prompt})
    llm = client(server, "openai")

    def ask(number: int) -> str:
        prompt = [Message(role="user", content=f"number {number}")]
        return llm.ask(prompt, Answer, purpose="typed").note

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(24))) == [f"number {number}" for number in range(24)]


def test_the_failure_crosses_a_pipe_with_its_kind(server: ModelServer) -> None:
    server.script = Reply.status(503)
    error = fails(client(server, "openai"))
    kind, arguments = error.__reduce__()  # what pickle calls
    assert callable(kind)
    again = kind(*arguments)  # type: ignore[misc]
    assert isinstance(again, ModelError)
    assert (again.kind, str(again)) == (error.kind, str(error))


# --- opening --------------------------------------------------------------------------------------


def test_without_httpx2_opening_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(UsageError, match=r"pip install factbook\[llm\]"):
        open_llm(ModelConfig(), environ={})


def test_opening_sends_nothing_and_wants_the_key_that_is_named(server: ModelServer) -> None:
    client(server, "openai")
    assert server.requests == []
    with pytest.raises(UsageError, match="MINE"):
        open_llm(ModelConfig(key_env="MINE"), environ={})


@pytest.mark.parametrize(
    ("provider", "url", "base"),
    [
        ("ollama", "http://h:11434", "http://h:11434"),
        ("ollama", "http://h:11434/api", "http://h:11434"),
        ("ollama", "https://h/behind/proxy", "https://h/behind/proxy"),
        ("openai", "http://h:8080", "http://h:8080/v1"),
        ("openai", "http://h:8080/v1", "http://h:8080/v1"),
        ("openai", "https://h/v1beta/openai", "https://h/v1beta/openai"),
        ("openai", "https://h/v1/chat/completions", "https://h/v1"),
    ],
)
def test_paths_are_appended_to_what_people_write(provider: str, url: str, base: str) -> None:
    assert base_url(provider, url) == base


def test_an_answer_that_takes_unknown_keys_cannot_be_asked_for(server: ModelServer) -> None:
    class Loose(BaseModel):
        a: int

    with pytest.raises(TypeError, match="extra"):
        client(server, "openai").ask(PROMPT, Loose, purpose="typed")
    assert server.requests == []


def test_a_schema_of_the_request_is_json(server: ModelServer) -> None:
    server.script = Reply.json(GOOD)
    client(server, "openai").ask(PROMPT, Answer, purpose="typed")
    assert orjson.loads(server.requests[0].raw)["messages"][1]["content"].endswith("🙂")


def test_tls_that_never_answers_ends_with_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/v1"
        llm = open_llm(ModelConfig(provider="openai", url=url, timeout_s=0.4), environ={})
        begun = time.monotonic()
        assert fails(llm).kind is ModelFailure.TIMEOUT
        assert time.monotonic() - begun < 2.0


def test_tls_to_a_server_without_it_is_a_failure_to_connect(server: ModelServer) -> None:
    url = server.url.replace("http://", "https://")
    llm = open_llm(ModelConfig(provider="openai", url=url), environ={})
    assert fails(llm).kind is ModelFailure.CONNECT


# --- what a server does not take ------------------------------------------------------------------


class Picky:
    """A script that refuses parts of a request with status 400, as servers word it."""

    def __init__(self, *refusals: tuple[str, str, str]) -> None:
        self.refusals = refusals  # (key of the body, part of its value, what is said)

    def __call__(self, request: Request) -> Reply:
        for key, part, said in self.refusals:
            if key in request.body and part in json.dumps(request.body[key]):
                return Reply.status(400, said)
        return Reply.json(GOOD)


SCHEMA_ONLY = ("response_format", "json_object", "'response_format.type' must be 'json_schema'")
NO_SCHEMA = ("response_format", "json_schema", "This response_format type is unavailable now")
NO_ZERO = ("temperature", "0.0", "Unsupported value: 'temperature' does not support 0.0")
OTHER_LIMIT = ("max_tokens", "", "'max_tokens' is not supported. Use 'max_completion_tokens'.")
NO_LIMIT = ("max_tokens", "", "max_tokens is too large: at most 100 completion tokens")


@every(
    ("refusals", "form", "left_out"),
    [
        ([], "json_schema", ["max_completion_tokens"]),
        ([NO_SCHEMA], "json_object", ["max_completion_tokens"]),
        ([NO_SCHEMA, SCHEMA_ONLY], None, ["max_completion_tokens"]),
        ([NO_ZERO], "json_schema", ["temperature", "max_completion_tokens"]),
        ([OTHER_LIMIT], "json_schema", ["max_tokens"]),
        ([NO_LIMIT], "json_schema", ["max_tokens", "max_completion_tokens"]),
        ([OTHER_LIMIT, NO_ZERO, NO_SCHEMA], "json_object", ["max_tokens", "temperature"]),
    ],
)
def test_what_is_refused_by_name_is_left_out_from_then_on(
    refusals: list[tuple[str, str, str]], form: str | None, left_out: list[str]
) -> None:
    with ModelServer(Picky(*refusals)) as picky:
        config = ModelConfig(provider="openai", model=f"picky{len(refusals)}", url=picky.url)
        meter = Meter()
        found = open_llm(config, environ={}, meter=meter).ask(PROMPT, Answer, purpose="typed")
        assert found.items[0].text == "They like tea."
        assert len(picky.requests) == len(refusals) + 1
        assert len(meter.calls) == 1
        again = open_llm(config, environ={})  # of the same process
        again.ask(PROMPT, Answer, purpose="typed")
        assert len(picky.requests) == len(refusals) + 2
        body = picky.requests[-1].body
        assert body.get("response_format", {}).get("type") == form
        assert not set(left_out) & set(body)
        first = body["messages"][0]
        assert [message["role"] for message in body["messages"]] == [one.role for one in PROMPT]
        assert ("JSON schema" in first["content"]) is (form != "json_schema")
        list(again.stream(PROMPT))
        assert not set(left_out) & set(picky.requests[-1].body)


@every(
    ("code", "said"),
    [
        (400, "the messages are not as they should be"),
        (400, "Invalid schema for response_format 'Answer': In context=(), ..."),
        (500, "response_format broke the server"),
        (401, "no temperature for you"),
    ],
)
def test_what_is_refused_for_another_reason_is_not_asked_again(code: int, said: str) -> None:
    with ModelServer(Reply.status(code, said)) as server:
        error = fails(client(server, "openai"))
        assert (error.kind, len(server.requests)) == (ModelFailure.HTTP, 1)


def test_a_stream_leaves_out_what_is_refused() -> None:
    with ModelServer(Picky(NO_ZERO)) as picky:
        pieces = list(client(picky, "openai", model="stream").stream(PROMPT))
        assert "They like tea." in "".join(piece.text for piece in pieces)
        assert len(picky.requests) == 2


def test_an_answer_has_a_limit_that_leaves_the_prompt_its_room(server: ModelServer) -> None:
    server.script = Reply.json(GOOD)

    def limit(letters: int, **settings: Any) -> int:
        prompt = [Message(role="user", content="a" * letters)]
        client(server, "openai", **settings).ask(prompt, Answer, purpose="typed")
        return int(server.requests[-1].body["max_tokens"])

    assert limit(1_000, num_ctx=100_000) == policy.LLM_ANSWER_TOKENS
    assert 2_000 < limit(1_000, num_ctx=3_000) < 2_500
    assert limit(10_000, num_ctx=3_000) == policy.LLM_LEAST_TOKENS


# --- whose failure it is --------------------------------------------------------------------------


@every("provider", ["openai", "ollama"])
@every(
    ("reply", "endpoint", "advice"),
    [
        (Reply.status(401), True, "the key"),
        (Reply.status(402), True, "nothing left to spend"),
        (Reply.status(403), True, "the key"),
        (Reply.status(404), True, "no such model"),
        (Reply.status(408), True, "ask again later"),
        (Reply.status(429, headers={"Retry-After": "20"}), True, "later, in 20 seconds"),
        (Reply.status(503, "Loading model"), True, "Loading model; the server is not ready"),
        (Reply.status(502), True, "ask again later"),
        (Reply.status(500, "boom"), False, "boom"),
        (Reply.hang(), True, "raise timeout_s"),
        (Reply.status(400, "bad request"), False, "bad request"),
        (Reply.status(400, "the input exceeds the context length"), False, "larger than"),
        (Reply.hang(Reply.json(GOOD)), False, "no complete answer"),
        (Reply.drop(Reply.json(GOOD)), False, "broke"),
        (Reply.text("Nothing found."), False, "begins"),
        (Reply.truncated("{"), False, "token limit"),
        (Reply.refusal(), False, ""),
    ],
)
def test_a_failure_tells_whether_it_is_the_endpoints(
    server: ModelServer, provider: str, reply: Reply, endpoint: bool, advice: str
) -> None:
    server.script = reply
    error = fails(client(server, provider, timeout_s=0.4))
    assert error.endpoint is endpoint
    assert advice in str(error)
    assert pickle.loads(pickle.dumps(error)).endpoint is endpoint


@every(
    ("header", "wait_s"),
    [
        ("20", 20),
        (" 7 ", 7),
        ("0", 0),
        ("999999", policy.RETRY_AFTER_S),
        ("-5", 0),
        ("soon", 0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Fri, 21 Oct 2195 07:28:00 GMT", policy.RETRY_AFTER_S),
    ],
)
def test_a_server_that_asks_for_a_pause_has_it(header: str, wait_s: float) -> None:
    with ModelServer(Reply.status(429, headers={"Retry-After": header})) as busy:
        now = [1_700_000_000_000]
        config = ModelConfig(provider="openai", url=busy.url)
        meter = Meter()
        llm = open_llm(config, environ={}, clock=lambda: now[0], meter=meter)
        assert fails(llm).wait_s == wait_s
        busy.script = Reply.json(GOOD)
        if wait_s:
            error = fails(llm)
            assert error.endpoint
            assert "nothing was sent" in str(error)
            assert (len(busy.requests), len(meter.calls)) == (1, 1)
        now[0] += int(wait_s * 1000)
        assert outcome(llm) == "ok"
