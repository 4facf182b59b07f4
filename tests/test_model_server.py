"""The scripted model server: faithful to both protocols, as their own client packages see them."""

from __future__ import annotations

import base64
import http.client
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import ollama
import openai
import pytest
from ollama import ResponseError
from openai.types.chat import ChatCompletionUserMessageParam
from pydantic import BaseModel, ConfigDict

from factbook.testing.model_server import ModelServer, Reply, Request, Script, word_vectors

HI: list[ChatCompletionUserMessageParam] = [{"role": "user", "content": "hi there"}]
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tell the weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
CALL = {"name": "weather", "arguments": {"city": "Bergen", "days": 2}}


class Drink(BaseModel):
    """An answer."""

    model_config = ConfigDict(extra="forbid")

    name: str
    kind: Literal["tea", "coffee"]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Reply.text("Good day to you.")) as running:
        yield running
    left = [one.name for one in threading.enumerate() if one.name.startswith("model-server")]
    assert left == []


@pytest.fixture
def gpt(server: ModelServer) -> Iterator[openai.OpenAI]:
    """Open the real client of OpenAI's protocol."""
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as client:
        yield client


@pytest.fixture
def llama(server: ModelServer) -> Iterator[ollama.Client]:
    """Open the real client of Ollama's protocol."""
    client = ollama.Client(server.url)
    yield client
    client._client.close()


def post(server: ModelServer, path: str, body: object, **headers: str) -> tuple[int, bytes]:
    """Send one request as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]))
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        connection.request("POST", path, data, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class TestOpenAI:
    """With the package `openai`."""

    def test_a_chat(self, server: ModelServer, gpt: openai.OpenAI) -> None:
        server.script = Reply.text("Hello.", tokens=(11, 3))
        found = gpt.chat.completions.create(model="m", messages=HI, temperature=0)
        assert found.choices[0].message.content == "Hello."
        assert found.choices[0].finish_reason == "stop"
        assert found.model == "m"
        assert found.usage is not None
        assert found.usage.model_dump(exclude_none=True) == {
            "prompt_tokens": 11,
            "completion_tokens": 3,
            "total_tokens": 14,
        }
        (request,) = server.requests
        assert (request.method, request.path) == ("POST", "/v1/chat/completions")
        assert (request.model, request.prompt) == ("m", "hi there")
        assert request.headers["authorization"] == "Bearer k"
        assert request.body["temperature"] == 0

    def test_an_answer_under_a_schema(self, server: ModelServer, gpt: openai.OpenAI) -> None:
        server.script = Reply.json({"name": "Assam", "kind": "tea"})
        found = gpt.chat.completions.parse(model="m", messages=HI, response_format=Drink)
        assert found.choices[0].message.parsed == Drink(name="Assam", kind="tea")
        schema = server.requests[0].schema
        assert schema is not None
        assert schema["properties"]["kind"]["enum"] == ["tea", "coffee"]

    def test_a_refusal(self, server: ModelServer, gpt: openai.OpenAI) -> None:
        server.script = Reply.refusal("No.")
        found = gpt.chat.completions.create(model="m", messages=HI)
        assert found.choices[0].message.content is None
        assert found.choices[0].message.refusal == "No."
        with gpt.chat.completions.stream(model="m", messages=HI) as stream:
            final = stream.get_final_completion()
        assert final.choices[0].message.refusal == "No."

    def test_what_was_truncated(self, server: ModelServer, gpt: openai.OpenAI) -> None:
        server.script = Reply.truncated('{"name": "As')
        found = gpt.chat.completions.create(model="m", messages=HI)
        assert found.choices[0].finish_reason == "length"
        with pytest.raises(openai.LengthFinishReasonError):
            gpt.chat.completions.parse(model="m", messages=HI, response_format=Drink)

    def test_a_stream(self, server: ModelServer, gpt: openai.OpenAI) -> None:
        server.script = Reply.text(" Good day  to\nyou, Åse. ", tokens=(5, 6))
        chunks = list(
            gpt.chat.completions.create(
                model="m", messages=HI, stream=True, stream_options={"include_usage": True}
            )
        )
        *parts, last = chunks
        said = [part.choices[0].delta.content or "" for part in parts]
        assert "".join(said) == " Good day  to\nyou, Åse. "
        assert len([one for one in said if one]) > 3
        assert parts[0].choices[0].delta.role == "assistant"
        assert parts[-1].choices[0].finish_reason == "stop"
        assert last.choices == []
        assert last.usage is not None
        assert last.usage.total_tokens == 11

    def test_a_stream_on_the_wire(self, server: ModelServer) -> None:
        body = {"model": "m", "messages": HI, "stream": True}
        status, data = post(server, "/v1/chat/completions", body)
        assert status == 200
        events = data.decode().removesuffix("\n\n").split("\n\n")
        assert all(event.startswith("data: ") for event in events)
        assert events[-1] == "data: [DONE]"
        assert all(json.loads(event[6:])["choices"] for event in events[:-1])  # no usage unasked

    def test_tools(self, server: ModelServer, gpt: openai.OpenAI) -> None:
        server.script = Reply.tools([CALL, {"name": "weather", "arguments": "{broken", "id": "c2"}])
        found = gpt.chat.completions.create(model="m", messages=HI, tools=[WEATHER])
        assert found.choices[0].finish_reason == "tool_calls"
        assert found.choices[0].message.content is None
        first, second = found.choices[0].message.tool_calls or []
        assert first.type == second.type == "function"
        assert json.loads(first.function.arguments) == CALL["arguments"]
        assert (second.id, second.function.arguments) == ("c2", "{broken")

    def test_tools_in_a_stream(self, server: ModelServer, gpt: openai.OpenAI) -> None:
        server.script = Reply.tools([CALL, CALL])
        with gpt.chat.completions.stream(model="m", messages=HI, tools=[WEATHER]) as stream:
            final = stream.get_final_completion()
        calls = final.choices[0].message.tool_calls or []
        assert [json.loads(call.function.arguments) for call in calls] == [CALL["arguments"]] * 2
        assert len({call.id for call in calls}) == 2

    @pytest.mark.parametrize("form", ["float", "base64"])
    def test_embeddings(
        self, server: ModelServer, gpt: openai.OpenAI, form: Literal["float", "base64"]
    ) -> None:
        server.script = Reply.vectors([[0.5, -2.0], [1.0, 0.25]])
        found = gpt.embeddings.create(model="e", input=["a", "b"], encoding_format=form)
        assert server.requests[0].inputs == ["a", "b"]
        rows: list[Any] = [one.embedding for one in found.data]
        if form == "base64":
            rows = [list(struct.unpack("<2f", base64.b64decode(row))) for row in rows]
        assert rows == [[0.5, -2.0], [1.0, 0.25]]
        assert [one.index for one in found.data] == [0, 1]
        assert found.usage.total_tokens == 2
        # the package asks for base64 by itself, where no form is named
        plain = gpt.embeddings.create(model="e", input="a")
        assert server.requests[1].body["encoding_format"] == "base64"
        assert plain.data[0].embedding == [0.5, -2.0]

    def test_models(self, server: ModelServer, gpt: openai.OpenAI) -> None:
        assert [one.id for one in gpt.models.list()] == ["qwen2.5:7b-instruct"]
        assert gpt.models.retrieve("m").id == "m"

    @pytest.mark.parametrize(
        ("code", "kind"),
        [
            (400, openai.BadRequestError),
            (401, openai.AuthenticationError),
            (403, openai.PermissionDeniedError),
            (404, openai.NotFoundError),
            (422, openai.UnprocessableEntityError),
            (429, openai.RateLimitError),
            (500, openai.InternalServerError),
            (503, openai.InternalServerError),
        ],
    )
    def test_errors(
        self, server: ModelServer, gpt: openai.OpenAI, code: int, kind: type[openai.APIStatusError]
    ) -> None:
        server.script = Reply.status(code, "because", headers={"Retry-After": "9"})
        with pytest.raises(kind) as caught:
            gpt.chat.completions.create(model="m", messages=HI)
        assert caught.value.status_code == code
        assert caught.value.body == {
            "message": "because",
            "type": caught.value.type,
            "param": None,
            "code": None,
        }
        assert caught.value.response.headers["retry-after"] == "9"

    def test_broken_connections(self, server: ModelServer, gpt: openai.OpenAI) -> None:
        server.script = [Reply.drop(share=0), Reply.drop(), Reply.hang()]
        for kind in (openai.APIConnectionError, openai.APIConnectionError, openai.APITimeoutError):
            with pytest.raises(kind):
                gpt.chat.completions.create(model="m", messages=HI, timeout=0.3)

    @pytest.mark.parametrize(
        ("change", "word"),
        [
            ({"messages": []}, "messages"),
            ({"messages": [{"role": "robot", "content": "x"}]}, "role"),
            ({"messages": [{"role": "tool", "content": "x"}]}, "tool_call_id"),
            ({"response_format": {"type": "schema"}}, "response_format"),
            ({"response_format": {"type": "json_schema"}}, "json_schema"),
            ({"tools": [{"type": "function", "function": {"name": "no spaces"}}]}, "name"),
            ({"model": ""}, "model"),
        ],
    )
    def test_what_is_no_request(
        self, server: ModelServer, change: dict[str, object], word: str
    ) -> None:
        body = {"model": "m", "messages": HI, **change}
        status, data = post(server, "/v1/chat/completions", body)
        assert status == 400
        error = json.loads(data)["error"]
        assert word in error["message"]
        assert error["type"] == "invalid_request_error"

    @pytest.mark.parametrize(
        ("schema", "word"),
        [
            ({"type": "object", "properties": {}}, "additionalProperties"),
            (
                {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                    "required": ["a"],
                },
                "['b']",
            ),
            (
                {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"a": {"type": "string", "default": ""}},
                    "required": ["a"],
                },
                "default",
            ),
            ({"type": "array", "items": {"type": "string"}}, "object"),
        ],
    )
    def test_what_strict_mode_does_not_take(
        self, server: ModelServer, schema: dict[str, object], word: str
    ) -> None:
        def sent(*, strict: bool) -> tuple[int, bytes]:
            form = {"name": "drink", "schema": schema, "strict": strict}
            wanted = {"type": "json_schema", "json_schema": form}
            body = {"model": "m", "messages": HI, "response_format": wanted}
            return post(server, "/v1/chat/completions", body)

        status, data = sent(strict=True)
        assert status == 400
        assert word in json.loads(data)["error"]["message"]
        assert sent(strict=False)[0] == 200


class TestOllama:
    """With the package `ollama`."""

    def test_a_chat(self, server: ModelServer, llama: ollama.Client) -> None:
        server.script = Reply.text("Hello.", tokens=(11, 3))
        found = llama.chat("m", messages=HI, options={"num_ctx": 4096}, keep_alive="5m")
        assert found.message.content == "Hello."
        assert (found.done, found.done_reason) == (True, "stop")
        assert (found.prompt_eval_count, found.eval_count) == (11, 3)
        assert found.total_duration
        (request,) = server.requests
        assert request.path == "/api/chat"
        assert request.body["options"] == {"num_ctx": 4096}
        assert request.body["keep_alive"] == "5m"

    def test_an_answer_under_a_schema(self, server: ModelServer, llama: ollama.Client) -> None:
        server.script = Reply.json({"name": "Assam", "kind": "tea"})
        schema = Drink.model_json_schema()
        found = llama.chat("m", messages=HI, format=schema)
        assert Drink.model_validate_json(found.message.content or "").name == "Assam"
        assert server.requests[0].schema == schema

    def test_a_refusal_is_words_and_a_cut_is_said(
        self, server: ModelServer, llama: ollama.Client
    ) -> None:
        server.script = [Reply.refusal("No."), Reply.truncated("Yes, b")]
        refused = llama.chat("m", messages=HI)
        assert (refused.message.content, refused.done_reason) == ("No.", "stop")
        assert llama.chat("m", messages=HI).done_reason == "length"

    def test_a_stream(self, server: ModelServer, llama: ollama.Client) -> None:
        server.script = Reply.text(" Good day  to\nyou, Åse. ", tokens=(5, 6))
        *parts, last = llama.chat("m", messages=HI, stream=True)
        assert "".join(part.message.content or "" for part in parts) == " Good day  to\nyou, Åse. "
        assert len(parts) > 3
        assert not any(part.done for part in parts)
        assert (last.done, last.done_reason) == (True, "stop")
        assert (last.prompt_eval_count, last.eval_count) == (5, 6)

    def test_it_streams_unless_told_not_to(self, server: ModelServer) -> None:
        _, data = post(server, "/api/chat", {"model": "m", "messages": HI})
        lines = [json.loads(line) for line in data.splitlines()]
        assert len(lines) > 1
        assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]

    @pytest.mark.parametrize("stream", [False, True])
    def test_tools(self, server: ModelServer, llama: ollama.Client, *, stream: bool) -> None:
        server.script = Reply.tools([CALL, CALL], text="Wait.")
        parts: Sequence[ollama.ChatResponse]
        if stream:
            parts = list(llama.chat("m", messages=HI, tools=[WEATHER], stream=True))
        else:
            parts = [llama.chat("m", messages=HI, tools=[WEATHER])]
        calls = [call for part in parts for call in part.message.tool_calls or []]
        assert [call.function.arguments for call in calls] == [CALL["arguments"]] * 2
        assert "".join(part.message.content or "" for part in parts) == "Wait."
        assert parts[-1].done_reason == "stop"

    def test_embeddings(self, server: ModelServer, llama: ollama.Client) -> None:
        server.script = Reply.vectors([[0.5, -2.0], [1.0, 0.25]], tokens=(9, 0))
        found = llama.embed("e", ["a", "b"])
        assert found.embeddings == [[0.5, -2.0], [1.0, 0.25]]
        assert found.prompt_eval_count == 9

    def test_models(self, llama: ollama.Client) -> None:
        assert [one.model for one in llama.list().models] == ["qwen2.5:7b-instruct"]
        shown = llama.show("m")
        assert shown.modelinfo is not None
        assert shown.modelinfo["qwen2.context_length"] == 32_768
        assert shown.capabilities == ["completion", "tools"]

    @pytest.mark.parametrize("code", [400, 404, 429, 500, 503])
    def test_errors(self, server: ModelServer, llama: ollama.Client, code: int) -> None:
        server.script = Reply.status(code, "because")
        with pytest.raises(ResponseError) as caught:
            llama.chat("m", messages=HI)
        assert (caught.value.status_code, caught.value.error) == (code, "because")

    def test_a_server_that_was_stopped(self, server: ModelServer, llama: ollama.Client) -> None:
        assert llama.chat("m", messages=HI).message.content
        url = server.url
        server.stop()
        with pytest.raises(ConnectionError):
            llama.chat("m", messages=HI)
        server.start()
        assert server.url == url
        assert llama.chat("m", messages=HI).message.content

    @pytest.mark.parametrize("wrong", ["yaml", ["json"], 7])
    def test_what_is_no_format(self, server: ModelServer, wrong: object) -> None:
        body = {"model": "m", "messages": HI, "format": wrong}
        status, data = post(server, "/api/chat", body)
        assert status == 400
        assert "format" in json.loads(data)["error"]


class TestTheServer:
    def test_models_that_are_not_there(self) -> None:
        with ModelServer(Reply.text("x"), models=["a", "b"]) as server:
            for path, word in (("/api/chat", "not found"), ("/v1/chat/completions", "not exist")):
                status, data = post(server, path, {"model": "c", "messages": HI})
                assert status == 404
                assert word in data.decode()
                assert post(server, path, {"model": "a", "messages": HI})[0] == 200

    def test_a_key(self) -> None:
        with ModelServer(Reply.text("x"), api_key="secret") as server:
            body = {"model": "c", "messages": HI}
            assert post(server, "/v1/chat/completions", body)[0] == 401
            with_key = post(server, "/v1/chat/completions", body, Authorization="Bearer secret")
            assert with_key[0] == 200
            assert post(server, "/api/chat", body)[0] == 200  # Ollama knows no keys

    def test_a_prompt_beyond_the_context(self) -> None:
        long = {"model": "m", "messages": [{"role": "user", "content": "word " * 2_000}]}
        with ModelServer(Reply.text("x"), context_length=1_000) as server:
            status, data = post(server, "/v1/chat/completions", long)
            assert status == 400
            assert json.loads(data)["error"]["code"] == "context_length_exceeded"
            assert post(server, "/api/chat", long)[0] == 200  # it cuts the prompt, silently
            refused = post(server, "/api/chat", {**long, "truncate": False})
            assert refused[0] == 400

    def test_scripts(self) -> None:
        def answer(request: Request) -> Reply:
            return Reply.text(f"{request.number}: {request.prompt}")

        scripts: list[Script] = [answer, [Reply.text("1: hi there")], Reply.text("1: hi there")]
        for script in scripts:
            with ModelServer(script) as server:
                body = {"model": "m", "messages": HI, "stream": False}
                found = json.loads(post(server, "/api/chat", body)[1])
                assert found["message"]["content"] == "1: hi there"

    def test_a_script_that_is_at_its_end_says_so(self) -> None:
        with ModelServer([Reply.text("x")]) as server:
            body = {"model": "m", "messages": HI}
            assert post(server, "/api/chat", body)[0] == 200
            status, data = post(server, "/api/chat", body)
            assert status == 500
            assert "1 replies has none for request 2" in data.decode()
            server.script = [Reply.text("y")]
            assert post(server, "/api/chat", body)[0] == 200

    def test_routes_and_paths_that_are_not_there(self) -> None:
        routes = {
            "/api/show": Reply.status(501, "no"),
            "/v1/models": Reply.raw(b"[]"),
            "/api/tags": Reply.json({"models": []}),
        }
        with ModelServer(Reply.text("x"), routes=routes) as server:
            assert post(server, "/api/show", {"model": "m"}) == (501, b'{"error": "no"}')
            assert post(server, "/v1/models", {}) == (200, b"[]")
            assert post(server, "/api/tags", {}) == (200, b'{"models": []}')
            assert post(server, "/api/elsewhere", {})[0] == 404
            assert post(server, "/v1/elsewhere", {})[0] == 404

    def test_another_protocol_is_answered_by_a_function(self) -> None:
        with ModelServer(elsewhere=lambda request: Reply.raw(request.path.encode())) as server:
            assert post(server, "/v1/messages", {}) == (200, b"/v1/messages")
            assert post(server, "/api/chat", {})[0] == 400

    def test_embeddings_by_words(self) -> None:
        with ModelServer(Reply.text("x"), embed=word_vectors(32)) as server:
            body = {"model": "e", "input": ["green tea", "tea green", "a ferry"]}
            _, data = post(server, "/api/embed", body)
            first, second, third = json.loads(data)["embeddings"]
            assert first == second != third
            assert sum(one * one for one in first) == pytest.approx(1.0)

    def test_vectors_for_a_chat_are_a_mistake_of_the_script(self) -> None:
        with ModelServer(Reply.vectors([[1.0]])) as server:
            status, data = post(server, "/api/chat", {"model": "m", "messages": HI})
            assert status == 500
            assert "the script has vectors" in data.decode()

    def test_a_delay_and_a_dribble_take_their_time(self) -> None:
        plain = Reply.raw(b"0123456789")
        script = [Reply.delay(0.2, plain), Reply.dribble(plain, 0.02), Reply.dribble(plain, 0.02)]
        with ModelServer(script) as server:
            for _ in range(2):
                begun = time.monotonic()
                assert post(server, "/api/chat", {"model": "m", "messages": HI})[1] == b"0123456789"
                assert time.monotonic() - begun >= 0.17

    def test_a_hanging_server_stops_at_once(self) -> None:
        with ModelServer(Reply.hang()) as server:
            failed: list[Exception] = []

            def ask() -> None:
                try:
                    post(server, "/api/chat", {"model": "m", "messages": HI})
                except (OSError, http.client.HTTPException) as error:
                    failed.append(error)

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            assert server.wait_for(4)
            begun = time.monotonic()
            server.stop()
            for thread in threads:
                thread.join()
            assert time.monotonic() - begun < 2.0
            assert len(failed) == 4

    def test_a_script_may_stop_its_server(self) -> None:
        def stop(_: Request) -> Reply:
            mine.stop()
            return Reply.text("too late")

        mine = ModelServer(stop)
        with mine, pytest.raises((OSError, http.client.HTTPException)):
            post(mine, "/api/chat", {"model": "m", "messages": HI})

    def test_it_stops_though_a_client_sends_ahead(self) -> None:
        with ModelServer(Reply.hang()) as server:
            body = json.dumps({"model": "m", "messages": HI}).encode()
            head = b"POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
            port = int(server.url.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall((head % len(body) + body) * 2)
                assert server.wait_for(1)
                server.stop()
                assert client.recv(10) == b""
            assert len(server.requests) == 1

    def test_many_at_once_keep_their_order_and_count(self) -> None:
        with ModelServer([Reply.text(str(at)) for at in range(40)]) as server:
            found: list[str] = []

            def ask() -> None:
                for _ in range(10):
                    body = {"model": "m", "messages": HI, "stream": False}
                    data = json.loads(post(server, "/api/chat", body)[1])
                    found.append(data["message"]["content"])

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(map(int, found)) == list(range(40))
            assert [request.number for request in server.requests] == list(range(1, 41))

    def test_one_connection_serves_many_requests(self, server: ModelServer) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]))
        body = json.dumps({"model": "m", "messages": HI, "stream": False})
        sockets = set()
        for _ in range(5):
            connection.request("POST", "/api/chat", body)
            assert connection.getresponse().read()
            sockets.add(id(connection.sock))
        connection.request("POST", "/api/chat", iter([body.encode()]), encode_chunked=True)
        assert connection.getresponse().status == 200
        connection.close()
        assert len(sockets) == 1
        assert server.requests[-1].model == "m"

    def test_what_is_no_json_is_kept_and_refused(self, server: ModelServer) -> None:
        status, data = post(server, "/api/chat", b"{no")
        assert status == 400
        assert "not a JSON object" in data.decode()
        assert (server.requests[0].body, server.requests[0].raw) == (None, b"{no")
