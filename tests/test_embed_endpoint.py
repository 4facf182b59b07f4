"""Vectors from an endpoint: what is asked, what is believed, and how it fails."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from factbook.embed.endpoint import EMPTY, MAX_BYTES, EmbedEndpointError
from factbook.errors import EmbedderError, ModelError, ModelFailure, UsageError
from factbook.llm.base import ModelCall
from factbook.llm.client import open_embedder
from factbook.llm.config import EmbedConfig
from factbook.testing.model_server import ModelServer, Reply, Request, word_vectors

PROVIDERS = ("ollama", "openai", "gemini")
KEY = "sk-not-to-be-seen-anywhere"
DIM = 8


class Meter:
    def __init__(self, *, full: bool = False) -> None:
        self.calls: list[ModelCall] = []
        self.full = full

    def before(self, purpose: str, model: str) -> None:
        if self.full:
            raise ModelError(kind=ModelFailure.OVER_BUDGET, model=model, reason="it is spent")

    def after(self, call: ModelCall) -> None:
        self.calls.append(call)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def config(server: ModelServer, provider: str = "openai", **settings: Any) -> EmbedConfig:
    settings.setdefault("dim", DIM)
    return EmbedConfig(provider=provider, model="small", url=server.url, **settings)


def by_words(request: Request) -> Reply:
    embed = word_vectors(DIM)
    return Reply.vectors([[3 * one for one in embed(text)] for text in request.inputs])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_text_has_a_row_of_length_one_in_its_place(server: ModelServer, provider: str) -> None:
    server.script = by_words
    embedder = open_embedder(config(server, provider, batch=3), environ={})
    texts = [f"word{number} and tea" for number in range(8)]
    vectors = embedder.embed(texts)
    assert (vectors.shape, vectors.dtype) == ((8, DIM), np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    for text, row in zip(texts, vectors, strict=True):
        assert np.allclose(embedder.embed([text])[0], row, atol=1e-6)
    sizes = [len(request.inputs) for request in server.requests]
    assert sizes == [3, 3, 2] + [1] * 8
    assert (embedder.id, embedder.dim) == (f"{provider}:small@{DIM}", DIM)


def test_each_protocol_is_asked_in_its_own_words(server: ModelServer) -> None:
    server.script = by_words
    open_embedder(config(server, "ollama", keep_alive=90), environ={}).embed(["tea"])
    open_embedder(
        config(server, "openai", ask_dim=True, key_env="MINE"), environ={"MINE": KEY}
    ).embed(["tea"])
    ollama, openai = server.requests
    assert ollama.path == "/api/embed"
    assert ollama.body == {"model": "small", "input": ["tea"], "truncate": True, "keep_alive": 90}
    assert openai.path == "/v1/embeddings"
    assert openai.body == {
        "model": "small",
        "input": ["tea"],
        "encoding_format": "float",
        "dimensions": DIM,
    }
    assert openai.headers["authorization"] == f"Bearer {KEY}"


def test_no_text_is_no_request_and_one_text_is_no_list(server: ModelServer) -> None:
    embedder = open_embedder(config(server), environ={})
    assert embedder.embed([]).shape == (0, DIM)
    assert server.requests == []
    with pytest.raises(TypeError, match="put it in a list"):
        embedder.embed("tea")


def test_every_text_is_legal_and_a_long_one_is_read_up_to_a_limit(server: ModelServer) -> None:
    server.script = by_words
    embedder = open_embedder(config(server), environ={})
    texts = ["", " \n", "half \ud83d of it", "\x00", "ä" * 10_000, "x" * 100_000]
    assert np.isfinite(embedder.embed(texts)).all()
    sent = server.requests[0].inputs
    assert sent[:3] == [EMPTY, EMPTY, "half \ufffd of it"]
    assert [len(one.encode()) for one in sent[4:]] == [MAX_BYTES, MAX_BYTES]


def test_a_request_holds_no_more_bytes_than_servers_take(server: ModelServer) -> None:
    server.script = by_words
    open_embedder(config(server, batch=64), environ={}).embed(["x" * MAX_BYTES] * 60)
    assert [len(request.inputs) for request in server.requests] == [25, 25, 10]


def test_an_unknown_dimension_is_asked_for_once(server: ModelServer) -> None:
    server.script = by_words
    embedder = open_embedder(config(server, dim=None), environ={})
    assert embedder.dim == DIM
    assert len(server.requests) == 1
    embedder.embed(["tea"])
    assert len(server.requests) == 2


def test_vectors_are_put_in_the_order_of_their_numbers(server: ModelServer) -> None:
    def turned(body: dict[str, Any]) -> object:
        return {**body, "data": body["data"][::-1]}

    straight = [[1.0] + [0.0] * 7, [0.0, 1.0] + [0.0] * 6]
    server.script = Reply.altered(Reply.vectors(straight), turned)
    found = open_embedder(config(server), environ={}).embed(["a", "b"])
    assert np.allclose(found, straight)


def test_very_large_and_very_small_numbers_are_still_a_direction(server: ModelServer) -> None:
    server.script = Reply.vectors([[1e300] * DIM, [-1e-300] * DIM])
    found = open_embedder(config(server), environ={}).embed(["a", "b"])
    assert np.allclose(found[0], DIM**-0.5)
    assert np.allclose(found[1], -(DIM**-0.5))


def _changed(**parts: object) -> Reply:
    return Reply.altered(Reply.vectors([[1.0] * DIM]), lambda body: {**body, **parts})


_ROW = b'{"object": "list", "data": [{"index": 0, "embedding": %b}]}'


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (Reply.vectors([]), "schema", "0 vectors for 1 texts"),
        (Reply.vectors([[1.0] * DIM] * 2), "schema", "2 vectors for 1 texts"),
        (Reply.vectors([[1.0] * 7]), "schema", "has 7 numbers, and 8 are expected"),
        (Reply.vectors([[]]), "schema", "has 0 numbers"),
        (Reply.vectors([[0.0] * DIM]), "schema", "is zero"),
        (Reply.vectors([[math.nan] * DIM]), "http", "is not JSON"),
        (Reply.vectors([[math.inf] + [1.0] * 7]), "http", "is not JSON"),
        (Reply.raw(_ROW % b"[1e999, 1, 1, 1, 1, 1, 1, 1]"), "http", "is not JSON"),
        (Reply.raw(_ROW % b"[true, 1, 1, 1, 1, 1, 1, 1]"), "schema", "a list of numbers"),
        (Reply.raw(_ROW % b'["1", 1, 1, 1, 1, 1, 1, 1]'), "schema", "a list of numbers"),
        (Reply.raw(_ROW % b"null"), "schema", "a list of numbers"),
        (Reply.raw(_ROW % b'"AACAPw=="'), "schema", "a list of numbers"),
        (_changed(data=None), "schema", "no vectors"),
        (_changed(data=[[1.0] * DIM]), "schema", "no vectors"),
        (_changed(data=[{"index": 1, "embedding": [1.0] * DIM}]), "schema", "numbered from 0"),
        (_changed(data=[{"index": "0", "embedding": []}]), "schema", "index is not a number"),
        (Reply.raw(b"[]"), "http", "is not an object"),
        (Reply.raw(b"<html>"), "http", "is not JSON"),
        (Reply.status(401, f"wrong key {KEY}"), "http", "status 401: wrong key [key]"),
        (Reply.status(500, "\x1b[2J boom\n"), "http", "status 500"),
        (Reply.drop(Reply.vectors([[1.0] * DIM])), "connect", "broke"),
        (Reply.raw(b" " * 1_000_000), "too_large", "bytes allowed"),
        (Reply.hang(), "timeout", "within 0.5 seconds"),
        (Reply.dribble(Reply.vectors([[1.0] * DIM]), 0.05), "timeout", "within 0.5 seconds"),
    ],
)
def test_what_is_no_vector_is_refused(
    server: ModelServer, reply: Reply, kind: str, said: str
) -> None:
    server.script = reply
    meter = Meter()
    timeout_s = 0.5 if kind == "timeout" else 10.0
    embedder = open_embedder(
        config(server, timeout_s=timeout_s, key_env="MINE"), meter=meter, environ={"MINE": KEY}
    )
    begun = time.monotonic()
    with pytest.raises(EmbedderError) as caught:
        embedder.embed(["tea"])
    assert isinstance(caught.value, EmbedEndpointError)
    assert caught.value.details["kind"] == kind
    assert said in str(caught.value)
    assert KEY not in str(caught.value)
    assert str(caught.value).isprintable()
    assert [call.outcome for call in meter.calls] == [kind]
    assert len(server.requests) == 1
    if kind == "timeout":
        assert time.monotonic() - begun < 2.0


def test_a_server_that_is_stopped_is_an_error_of_the_embedder(server: ModelServer) -> None:
    embedder = open_embedder(config(server), environ={})
    server.stop()
    with pytest.raises(EmbedderError, match="nobody answers at"):
        embedder.embed(["tea"])
    with pytest.raises(EmbedderError, match="nobody answers at"):
        open_embedder(config(server, dim=None), environ={})


def test_requests_are_counted_and_stop_with_the_budget(server: ModelServer) -> None:
    server.script = Reply.altered(
        Reply.vectors([[1.0] * DIM]), lambda body: {**body, "usage": {"prompt_tokens": 500}}
    )
    meter = Meter()
    embedder = open_embedder(
        config(server, price_in=0.02), meter=meter, clock=lambda: 7, environ={}
    )
    embedder.embed(["tea"])
    (call,) = meter.calls
    assert (call.purpose, call.model, call.outcome, call.at) == ("embed", "openai:small", "ok", 7)
    assert (call.prompt_tokens, call.estimated) == (500, False)
    assert call.money == pytest.approx(0.00001)
    meter.full = True
    with pytest.raises(EmbedderError, match="it is spent"):
        embedder.embed(["tea"])
    assert len(server.requests) == len(meter.calls) == 1


def test_nonsense_for_a_dimension_or_a_key_is_told_at_once(server: ModelServer) -> None:
    for wrong in ({"dim": 70_000}, {"dim": -1}, {"batch": 0}):
        with pytest.raises(ValueError, match="give 1"):
            open_embedder(config(server, **wrong), environ={})
    with pytest.raises(UsageError, match="MINE"):
        open_embedder(config(server, key_env="MINE"), environ={})
