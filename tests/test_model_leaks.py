"""No secret of a message or of a model's answer is stored, logged or shown, at any call site."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from factbook.errors import FactbookError
from factbook.extract.keyed.contracts import FactsOp, FactsOpsResponse
from factbook.llm.config import ModelConfig
from factbook.memory import Memory
from factbook.surface.records import plain
from factbook.testing.model_server import ModelServer, Reply

SECRET = "sk-proj-" + "Zk3f9Qw7Lx2Vb8Nm4Tc6Yh1Pd5Rj0Sg" + "Aa9Bb8Cc7Dd6Ee5Ff4"
OPS = {"needs_clarification": [], "notes": []}
SUMMARY = f"User: I love fettuccini, and my key is {SECRET}.\n"


def tells(
    answer: Any, message: str = "BTC is my #1 crypto"
) -> Callable[[Memory, ModelServer], Any]:
    def run(memory: Memory, server: ModelServer) -> Any:
        server.script = [answer if isinstance(answer, Reply) else Reply.json(answer)]
        return plain(memory.tell(message))

    return run


def set_op(**more: Any) -> dict[str, Any]:
    op = {"op": "ranked_list_set", "list_key": "user.favorites.crypto", "rank": 1, "value": "BTC"}
    return {"ops": [{**op, **more}], **OPS}


def extracts(**more: Any) -> Callable[[Memory, ModelServer], Any]:
    def run(memory: Memory, server: ModelServer) -> Any:
        path = memory.path.with_name("summary.md")
        path.write_text(SUMMARY, encoding="utf-8")
        memory.ingest([path], kind="summary")
        item = {
            "text": "Loves fettuccini",
            "type": "USER_FACT",
            "confidence": 0.9,
            "reasoning": "",
            "quote": "",
            **more,
        }
        server.script = [Reply.json({"extractions": [item]})]
        report = memory.typed.extract_typed()
        return [one.excerpt + one.detail for one in memory.sources.rejections()] + [
            str(report.failed)
        ]

    return run


def asks(memory: Memory, server: ModelServer) -> Any:
    server.script = [Reply.json({"intent": "facts_get_by_entity", "entity": SECRET})]
    return plain(memory.ask(f"what did I say about {SECRET}?"))


def applies(memory: Memory, server: ModelServer) -> Any:
    del server
    response = FactsOpsResponse(
        ops=[
            FactsOp(op="set", fact_key="user.api_key", value=SECRET),
            FactsOp(op="set", fact_key=f"user.{SECRET}", value="x"),
        ]
    )
    return str(memory.keyed.apply_facts(response, message_id="m1"))


SITES: dict[str, Callable[[Memory, ModelServer], Any]] = {
    "message": tells({"ops": [], **OPS}, f"My key is {SECRET} and BTC is my #1 crypto"),
    "value": tells(set_op(value=SECRET)),
    "key": tells({"ops": [{"op": "set", "fact_key": f"user.{SECRET}", "value": "BTC"}], **OPS}),
    "list key": tells(set_op(list_key=f"user.favorites.{SECRET}")),
    "note": tells({"ops": [], "needs_clarification": [], "notes": [f"saw {SECRET}"]}),
    "question": tells({"ops": [], "needs_clarification": [f"Is it {SECRET}?"], "notes": []}),
    "no json": tells(Reply.text(f"I saw {SECRET}")),
    "http error": tells(Reply.status(500, f"upstream failed with {SECRET}")),
    "ask": asks,
    "ops": applies,
    "claim": extracts(text=f"Uses the key {SECRET}"),
    "upper claim": extracts(text=f"USES THE KEY {SECRET}"),
    "reasoning": extracts(reasoning=f"because of {SECRET}"),
    "quote": extracts(quote=SECRET),
    "pattern": extracts(text=f"Asks for {SECRET}", type="USER_PATTERN", confidence=0.77),
}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger("factbook")
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.mark.parametrize("site", SITES)
def test_no_secret_is_stored_logged_or_shown(site: str, tmp_path: Path, log: io.StringIO) -> None:
    shown: list[Any] = []
    with (
        ModelServer([]) as server,
        Memory(
            tmp_path / "leaks.db",
            key_file=tmp_path / "key",
            model=ModelConfig(url=server.url, timeout_s=5.0),
        ) as memory,
    ):
        try:
            shown.append(SITES[site](memory, server))
        except FactbookError as error:
            shown.append(
                memory.resources.redactor.redact(str(error))
            )  # what the command line prints
        shown += [
            memory.maintenance.model_tasks(),
            memory.review.proposals(),
            memory.sources.rejections(),
            memory.maintenance.cost(),
        ]
        shown += list(memory.export())
        with suppress(FactbookError):
            shown.append(memory.keyed.retry_told())
        assert memory.check() == []
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("leaks.db*"))
    for text in (json.dumps(shown, default=str), log.getvalue(), stored.decode("latin-1")):
        assert SECRET.casefold() not in text.casefold()


def test_no_part_of_a_secret_is_left_where_an_unusable_answer_is_cut(tmp_path: Path) -> None:
    phrase = "legal winner thank year wave sausage worth useful legal winner thank yellow"
    with ModelServer() as server:
        memory = Memory(
            tmp_path / "cut.db",
            key_file=tmp_path / "key",
            model=ModelConfig(provider="ollama", model="m", url=server.url, timeout_s=5.0),
        )
        told = []
        for before in range(18):
            start = "so " * before
            for said in (
                f"{start}your password is Dohle5519x, as told",
                f"{start}it is {phrase} ok",
            ):
                server.script = [Reply.text(said)]
                with pytest.raises(FactbookError) as caught:
                    memory.tell("BTC is my #1 crypto")
                told.append(str(caught.value))
            server.script = [
                Reply.status(500, f"{'o' * (170 + before)} your password is Dohle5519x, as told")
            ]
            with pytest.raises(FactbookError) as caught:
                memory.tell("BTC is my #1 crypto")
            told.append(str(caught.value))
        shown = [memory.resources.redactor.redact(one) for one in told]
        memory.close()
    kept = b"".join(file.read_bytes() for file in tmp_path.glob("cut.db*")).decode("latin-1")
    assert any("your password is [REDACTED:password" in one for one in shown)
    for part in ("Dohl", "winner thank", "sausage"):
        assert part not in kept
        assert not [one for one in shown if part in one]
