"""What `factbook doctor --llm` finds out about a model, against a real HTTP server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from factbook.llm.base import ModelCall
from factbook.llm.config import EmbedConfig, ModelConfig
from factbook.llm.probe import Probe, probe, probe_embedder
from factbook.testing.model_server import ModelServer, Reply, Request, word_vectors

RAIN = {"sky": "rain", "degrees": 9, "words": ["wet", "grey"], "wind": None}
MODEL = "qwen2.5:7b-instruct"
PROVIDERS = ("openai", "ollama")


class Meter:
    def __init__(self) -> None:
        self.calls: list[ModelCall] = []

    def before(self, purpose: str, model: str) -> None:
        return

    def after(self, call: ModelCall) -> None:
        self.calls.append(call)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Reply.json(RAIN), models=[MODEL], embed=word_vectors(16)) as running:
        yield running


def found(server: ModelServer, provider: str = "ollama", **settings: Any) -> Probe:
    return probe(ModelConfig(provider=provider, url=server.url, **settings), environ={})


def line(found: Probe, name: str) -> tuple[bool | None, str]:
    (finding,) = [finding for finding in found.findings if finding.name == name]
    assert finding.text.isprintable()
    return finding.ok, finding.text


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_that_works_is_told_in_lines(server: ModelServer, provider: str) -> None:
    embed = EmbedConfig(provider=provider, model=MODEL, url=server.url)
    meter = Meter()
    config = ModelConfig(provider=provider, url=server.url, daily_calls=5, embed=embed)
    done = probe(config, meter=meter, environ={})
    assert done.ok, done
    names = [finding.name for finding in done.findings]
    assert names == [
        "configured", "reachable", "model", "context", "answer", "usage", "embedding"
    ]  # fmt: skip
    assert "no key" in line(done, "configured")[1]
    assert "budget: 5 calls a day" in line(done, "configured")[1]
    assert line(done, "model") == (True, f"{MODEL} is there")
    assert "valid JSON by schema" in line(done, "answer")[1]
    assert "16 numbers" in line(done, "embedding")[1]
    assert [call.purpose for call in meter.calls] == ["doctor", "embed", "embed"]


def test_nobody_there_is_the_only_failure_that_is_told(server: ModelServer) -> None:
    server.stop()
    done = found(server)
    assert not done.ok
    assert [finding.name for finding in done.findings] == ["configured", "reachable"]
    assert "ollama serve" in line(done, "reachable")[1]


def test_a_model_that_is_missing_is_told_with_those_that_are_there(server: ModelServer) -> None:
    ok, text = line(found(server, model="llama9"), "model")
    assert ok is False
    assert f"it has: {MODEL}" in text
    assert "ollama pull llama9" in text
    # a compatible server may serve its one model under any name
    assert line(found(server, "openai", model="llama9"), "model")[0] is None


def test_a_context_larger_than_the_models_is_told(server: ModelServer) -> None:
    ok, text = line(found(server, num_ctx=65_536), "context")
    assert ok is False
    assert "the model has 32,768 tokens" in text
    assert line(found(server), "context")[0] is True
    assert line(found(server, "openai"), "context")[0] is None
    listed = {"data": [{"id": MODEL, "max_model_len": 4_096}]}
    server.routes["/v1/models"] = Reply.status(200, listed)
    assert line(found(server, "openai"), "context")[0] is False


def test_an_answer_that_is_none_is_told_with_its_kind(server: ModelServer) -> None:
    server.script = Reply.text("It rains.")
    assert line(found(server), "answer")[1].startswith("invalid_json: ")
    server.script = Reply.json({**RAIN, "sky": "snow"})
    assert line(found(server), "answer")[1].startswith("schema: sky")
    server.script = Reply.hang()
    ok, text = line(found(server, timeout_s=0.4), "answer")
    assert ok is False
    assert "raise timeout_s" in text


def test_a_server_of_the_other_protocol_is_told(server: ModelServer) -> None:
    server.routes["/api/tags"] = Reply.status(404, "no such page")
    assert "the right protocol" in line(found(server), "reachable")[1]
    server.routes["/api/tags"] = Reply.status(200, {"hello": "world"})
    assert "no list of models" in line(found(server), "reachable")[1]
    server.routes["/api/tags"] = Reply.raw(b"<html>")
    assert line(found(server), "reachable")[0] is False


def test_a_key_that_is_wrong_is_told_by_its_name(server: ModelServer) -> None:
    with ModelServer(Reply.json(RAIN), api_key="right") as guarded:
        config = ModelConfig(provider="openai", url=guarded.url, key_env="MINE")
        done = probe(config, environ={"MINE": "wrong-key"})
        assert "the key in MINE is sent" in line(done, "reachable")[1]
        assert "wrong-key" not in str(done)
        done = probe(ModelConfig(provider="openai", url=guarded.url), environ={})
        assert "no key is sent" in line(done, "reachable")[1]
        assert probe(config, environ={"MINE": "right"}).ok


def test_usage_that_is_not_told_is_told(server: ModelServer) -> None:
    server.script = Reply.altered(
        Reply.json(RAIN), lambda body: {key: body[key] for key in body if key != "usage"}
    )
    ok, text = line(found(server, "openai"), "usage")
    assert ok is None
    assert "4 bytes are counted as one" in text
    server.script = Reply.json(RAIN, tokens=(1_000, 100))
    text = line(found(server, "openai", price_in=1.0, price_out=10.0), "usage")[1]
    assert "1,000 tokens of prompt and 100 of answer, 0.002000 USD" in text


def test_what_a_server_does_not_take_is_told(server: ModelServer) -> None:
    assert "request" not in {finding.name for finding in found(server, "openai").findings}

    def script(request: Request) -> Reply:
        if request.body.get("temperature") == 0:
            return Reply.status(400, "'temperature' does not support 0.0 with this model.")
        if "response_format" in request.body:
            return Reply.status(400, "response_format is not supported")
        return Reply.text(f"```json\n{json.dumps(RAIN)}\n```")

    server.script = script
    done = found(server, "openai")
    assert done.ok
    ok, text = line(done, "request")
    assert ok is None
    assert "the schema stands in the prompt, with no form of the answer" in text
    assert "the temperature is the server's own" in text


def test_plain_http_to_another_machine_is_told() -> None:
    config = ModelConfig(url="http://192.0.2.7:11434", timeout_s=0.3)  # an address for examples
    done = probe(config, environ={})
    ok, text = line(done, "privacy")
    assert ok is None
    assert "readable on the way" in text
    assert not done.ok


def test_embeddings_that_fail_are_told(server: ModelServer) -> None:
    config = EmbedConfig(provider="ollama", model="other", url=server.url)
    (finding,) = probe_embedder(config, environ={}).findings
    assert finding.ok is False
    assert "model 'other' not found" in finding.text
