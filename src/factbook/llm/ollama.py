"""Ollama's own protocol: its compatible one takes no `num_ctx`, and cuts a long prompt silently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import orjson

from factbook.errors import ModelFailure
from factbook.llm.base import AnswerPart, Message, Tool, ToolCall
from factbook.llm.config import ModelConfig
from factbook.llm.wire import (
    TokenUsage,
    clean,
    is_object,
    lines,
    not_protocol,
    read_object,
    shape_of,
    stopped,
)
from factbook.net.http import Failed


@dataclass(frozen=True, slots=True)
class Ollama:
    """`/api/chat`."""

    config: ModelConfig
    chat_path: ClassVar[str] = "/api/chat"

    def request(
        self,
        messages: Sequence[Message],
        *,
        name: str = "",
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
        stream: bool = False,
    ) -> dict[str, object]:
        """Return the body of a request."""
        options: dict[str, object] = {"num_ctx": self.config.num_ctx}
        if self.config.temperature is not None:
            options["temperature"] = self.config.temperature
        body: dict[str, object] = {
            "model": self.config.model,
            "messages": [_message(message, text) for message, text in clean(messages)],
            "stream": stream,
            "keep_alive": self.config.keep_alive,
            "options": options,
            # a prompt longer than num_ctx is an error, not a prompt without its beginning
            "truncate": False,
            "shift": False,
            # a model that thinks first seldom answers in time, and some never close their JSON
            "think": False,
        }
        if schema is not None:
            body["format"] = schema
        if tools:
            body["tools"] = [_tool(tool) for tool in tools]
        return body

    def read(self, body: bytes, tally: TokenUsage) -> str:
        """Return the text of a whole answer; raises `Failed`."""
        answer = read_object(body)
        tally.count(answer.get("prompt_eval_count"), answer.get("eval_count"))
        text = _text(_message_of(answer))
        if answer.get("done") is not True:
            not_protocol("is not marked as done")
        stopped(answer.get("done_reason"))
        return text

    def pieces(self, chunks: Iterable[bytes], tally: TokenUsage) -> Iterator[AnswerPart]:
        """Yield the parts of a streamed answer; raises `Failed`."""
        number = 0
        for line in lines(chunks):
            if not line.strip():
                continue
            event = read_object(line)
            message = _message_of(event)
            if text := _text(message):
                yield AnswerPart(text=text)
            if calls := message.get("tool_calls"):
                asked = [_call(call, number + at) for at, call in enumerate(_list(calls))]
                number += len(asked)
                yield AnswerPart(calls=asked)
            if event.get("done") is True:
                tally.count(event.get("prompt_eval_count"), event.get("eval_count"))
                stopped(event.get("done_reason"))
                return
        raise Failed(ModelFailure.CONNECT, "the stream ended before the answer did")


def _message(message: Message, text: str) -> dict[str, object]:
    made: dict[str, object] = {"role": message.role, "content": text}
    if message.role == "tool" and message.name:
        made["tool_name"] = message.name
    if message.calls:
        made["tool_calls"] = [
            {"function": {"name": call.name, "arguments": _arguments(call.arguments)}}
            for call in message.calls
        ]
    return made


def _arguments(text: str) -> object:
    """Return the arguments of a call as the object that Ollama wants here."""
    try:
        arguments: object = orjson.loads(text)
    except orjson.JSONDecodeError:
        arguments = None
    return arguments if isinstance(arguments, dict) else {"arguments": text}


def _tool(tool: Tool) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _message_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = shape_of(answer.get("message"), is_object, "message")
    return message


def _text(message: Mapping[str, Any]) -> str:
    text = message.get("content")
    if text is None:  # beside calls of tools some versions leave it out
        text = ""
    if not isinstance(text, str):
        not_protocol("has a message without text")
    return text


def _list(value: object) -> list[Any]:
    calls: list[Any] = shape_of(value, lambda part: isinstance(part, list), "list of tool calls")
    return calls


def _call(call: object, number: int) -> ToolCall:
    function = call.get("function") if isinstance(call, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict) or not isinstance(name, str):
        not_protocol("has a tool call without a name")
    arguments = function.get("arguments", {})
    text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
    made = call.get("id")
    # older versions give none, and an answer to a call must name it
    return ToolCall(
        id=made if isinstance(made, str) and made else f"call_{number}", name=name, arguments=text
    )
