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
    lines,
    not_protocol,
    object_of,
    read_object,
    stopped,
    text_of,
    tool_form,
)
from factbook.net.http import Failed, HTTPReply, encodable


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
        """Return the body of a request; `schema` is that of the answer, `name` its type's."""
        options: dict[str, object] = {"num_ctx": self.config.num_ctx}
        if self.config.temperature is not None:
            options["temperature"] = self.config.temperature
        body: dict[str, object] = {
            "model": self.config.model,
            "messages": [_message(message) for message in messages],
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
            body["tools"] = [tool_form(tool) for tool in tools]
        return body

    def learn(self, reply: HTTPReply, body: Mapping[str, object]) -> bool:
        """Return False: this protocol has one server, which takes all of a request."""
        return False

    def read(self, body: bytes, tally: TokenUsage) -> str:
        """Return the text of a whole answer; raises `Failed`."""
        answer = read_object(body)
        tally.count(answer.get("prompt_eval_count"), answer.get("eval_count"))
        text = text_of(object_of(answer.get("message"), "message"))
        if answer.get("done") is not True:
            not_protocol("is not marked as done")
        stopped(answer.get("done_reason"))
        return text

    def pieces(self, chunks: Iterable[bytes], tally: TokenUsage) -> Iterator[AnswerPart]:
        """Yield the parts of a streamed answer; raises `Failed`, also for one that just stops."""
        number = 0
        for line in lines(chunks):
            if not line.strip():
                continue
            event = read_object(line)
            message = object_of(event.get("message"), "message")
            if text := text_of(message):
                yield AnswerPart(text=text)
            if calls := message.get("tool_calls"):
                if not isinstance(calls, list):
                    not_protocol("has no list of tool calls")
                asked = [_call(call, at) for at, call in enumerate(calls, number)]
                number += len(asked)
                yield AnswerPart(calls=asked)
            if event.get("done") is True:
                tally.count(event.get("prompt_eval_count"), event.get("eval_count"))
                stopped(event.get("done_reason"))
                return
        raise Failed(ModelFailure.CONNECT, "the stream ended before the answer did")


def _message(message: Message) -> dict[str, object]:
    made: dict[str, object] = {"role": message.role, "content": encodable(message.content)}
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
