"""A model that says what a script says, in the protocols of the three agents.

Anthropic's Messages (Claude Code), OpenAI's Responses (Codex) and Gemini's generateContent (Gemini
CLI), streamed. A request that offers tools takes the next turn of the script; all others (titles,
classifiers) are answered with a word.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from factbook.testing.model_server import ModelServer, Reply, Request

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Say:
    """A turn that ends with a text."""

    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """A turn that calls a tool, named as the agent names it or by the end of that name."""

    tool: str
    given: Mapping[str, object] = field(default_factory=dict)


Turn = Say | Use


class Script:
    """Answers the requests of one agent."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = iter(turns)
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        """Answer a request in the protocol of its path."""
        body = request.body if isinstance(request.body, dict) else {}
        path = request.path
        if path.endswith("/messages"):
            write, streamed = _anthropic, bool(body.get("stream"))
        elif path.endswith("/responses"):
            write, streamed = _openai, bool(body.get("stream"))
        elif path.endswith("enerateContent"):
            write, streamed = _gemini, "stream" in path
        else:
            counted = {"input_tokens": 100, "totalTokens": 100}
            return Reply.raw(json.dumps(counted).encode())
        tools = list(_tools(body.get("tools") or []))
        schema = (body.get("generationConfig") or {}).get("responseJsonSchema")
        aside = Say(_fitting(schema) if schema else "ok")
        with self._lock:
            turn = next(self._turns, aside) if tools else aside
        if isinstance(turn, Use):
            turn, space = _named(turn, tools)
        else:
            space = ""
        whole, events = write(turn, space, request.number, request.model)
        if not streamed:
            return Reply.raw(json.dumps(whole).encode())
        lines = (f"event: {one['type']}\n" if "type" in one else "" for one in events)
        said = "".join(
            f"{line}data: {json.dumps(one)}\n\n" for line, one in zip(lines, events, strict=True)
        )
        return Reply.raw(said.encode(), content_type="text/event-stream")


def server_of(turns: Sequence[Turn]) -> ModelServer:
    """Return a model's server, not yet started, that plays the turns."""
    return ModelServer(elsewhere=Script(turns))


def _fitting(schema: Json) -> str:
    """Return JSON that a flat schema accepts: Gemini CLI asks again for a minute without it."""
    kinds = {name: str(one.get("type")).lower() for name, one in schema["properties"].items()}
    return json.dumps({name: 1 if kind == "integer" else "ok" for name, kind in kinds.items()})


def _tools(offered: Iterable[Json]) -> Iterable[tuple[str, str]]:
    """Iterate over (namespace, name) of the tools that a request offers."""
    for tool in offered:
        if tool.get("type") == "namespace":
            yield from ((tool["name"], one["name"]) for one in tool["tools"] if "name" in one)
        elif "functionDeclarations" in tool:
            yield from (("", one["name"]) for one in tool["functionDeclarations"])
        else:
            yield "", str(tool.get("name") or tool.get("type"))


def _named(turn: Use, tools: Sequence[tuple[str, str]]) -> tuple[Use, str]:
    """Return a call by the name that the agent offers the tool under, and its namespace."""
    for space, name in tools:
        if name == turn.tool or name.endswith(f"_{turn.tool}"):
            return Use(name, turn.given), space
    return turn, ""


def _anthropic(turn: Turn, space: str, number: int, model: str) -> tuple[Json, list[Json]]:
    del space
    usage = {"input_tokens": 100, "output_tokens": 20}
    if isinstance(turn, Say):
        part: Json = {"type": "text", "text": turn.text}
        empty: Json = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": turn.text}
    else:
        empty = {"type": "tool_use", "id": f"toolu_{number}", "name": turn.tool, "input": {}}
        part = {**empty, "input": turn.given}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn.given)}
    whole = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [part],
        "stop_reason": "end_turn" if isinstance(turn, Say) else "tool_use",
        "stop_sequence": None,
        "usage": usage,
    }
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    return whole, [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ending, "usage": usage},
        {"type": "message_stop"},
    ]


def _openai(turn: Turn, space: str, number: int, model: str) -> tuple[Json, list[Json]]:
    if isinstance(turn, Say):
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        item: Json = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
        item |= {"status": "completed", "content": content}
    else:
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
        item |= {"name": turn.tool, "arguments": json.dumps(turn.given), "status": "completed"}
        item |= {"namespace": space} if space else {}
    whole = {
        "id": f"resp_{number}",
        "object": "response",
        "status": "completed",
        "model": model,
        "output": [item],
        "usage": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120},
    }
    return whole, [
        {"type": "response.created", "response": {**whole, "output": [], "usage": None}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]


def _gemini(turn: Turn, space: str, number: int, model: str) -> tuple[Json, list[Json]]:
    del space
    if isinstance(turn, Say):
        part: Json = {"text": turn.text}
    else:
        part = {"functionCall": {"id": f"call_{number}", "name": turn.tool, "args": turn.given}}
    whole = {
        "candidates": [
            {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        ],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20},
        "modelVersion": model or "scripted",
    }
    return whole, [whole]
