"""The chat completions protocol: OpenAI, Gemini's compatible endpoint, llama.cpp, vLLM, others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from factbook.errors import ModelFailure
from factbook.llm.base import AnswerPart, Message, Tool, ToolCall
from factbook.llm.config import ModelConfig
from factbook.llm.wire import (
    TokenUsage,
    declined,
    lines,
    not_protocol,
    object_of,
    read_object,
    stopped,
    text_of,
    tool_form,
)
from factbook.net.http import Failed, encodable

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_MAX_CALLS: Final = 128  # that one answer may ask for


@dataclass(frozen=True, slots=True)
class OpenAI:
    """`/chat/completions`, below an address that ends with the version."""

    config: ModelConfig
    chat_path: ClassVar[str] = "/chat/completions"

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
        body: dict[str, object] = {
            "model": self.config.model,
            "messages": [_message(message) for message in messages],
            "stream": stream,
        }
        if self.config.temperature is not None:
            body["temperature"] = self.config.temperature
        if schema is not None:
            # the name may hold letters, digits, _ and -, at most 64 of them
            plain = _NOT_IN_A_NAME.sub("_", name)[:64] or "answer"
            form = {"name": plain, "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if tools:
            body["tools"] = [tool_form(tool) for tool in tools]
        if stream:
            body["stream_options"] = {"include_usage": True}
        return body

    def read(self, body: bytes, tally: TokenUsage) -> str:
        """Return the text of a whole answer; raises `Failed`."""
        answer = read_object(body)
        _count(answer, tally)
        choices = answer.get("choices")
        if not isinstance(choices, list) or len(choices) != 1:
            not_protocol("does not have exactly one choice")
        choice = object_of(choices[0], "choice")
        message = object_of(choice.get("message"), "message")
        refusal = message.get("refusal")
        if isinstance(refusal, str) and refusal:
            declined(refusal)
        stopped(choice.get("finish_reason"))
        if message.get("content") is None and message.get("tool_calls"):
            raise Failed(
                ModelFailure.INVALID_JSON, "the answer asks for tools that it was not given"
            )
        return text_of(message)

    def pieces(self, chunks: Iterable[bytes], tally: TokenUsage) -> Iterator[AnswerPart]:
        """Yield the parts of a streamed answer; raises `Failed`, also for one that just stops."""
        calls: dict[int, _Growing] = {}
        refusal: list[str] = []
        reason: object = None
        for data in _events(chunks):
            if data == b"[DONE]":
                break
            event = read_object(data)
            _count(event, tally)
            choices = event.get("choices")
            if not isinstance(choices, list):
                not_protocol("has no choices")
            if not choices:  # the last event holds the usage alone
                continue
            choice = object_of(choices[0], "choice")
            delta = object_of(choice.get("delta") or {}, "delta")
            if isinstance(delta.get("refusal"), str):
                refusal.append(delta["refusal"])
            text = delta.get("content")
            if isinstance(text, str) and text:
                yield AnswerPart(text=text)
            for call in delta.get("tool_calls") or ():
                _grow(calls, call)
            reason = choice.get("finish_reason") or reason
        if refused := "".join(refusal):
            declined(refused)
        if reason is None:
            raise Failed(ModelFailure.CONNECT, "the stream ended before the answer did")
        stopped(reason)
        if calls:
            yield AnswerPart(calls=[calls[at].done(at) for at in sorted(calls)])


@dataclass(slots=True)
class _Growing:
    """A call of a tool that comes in parts."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def done(self, number: int) -> ToolCall:
        if not self.name:
            not_protocol("has a tool call without a name")
        made = self.id or f"call_{number}"
        return ToolCall(id=made, name=self.name, arguments="".join(self.arguments) or "{}")


def _grow(calls: dict[int, _Growing], part: object) -> None:
    if not isinstance(part, dict):
        not_protocol("has a tool call that is no object")
    # Gemini's endpoint gives each call whole, and no number
    index = part.get("index", len(calls))
    if not isinstance(index, int) or not 0 <= index < _MAX_CALLS:
        not_protocol(f"has a tool call whose index is not a number below {_MAX_CALLS}")
    call = calls.setdefault(index, _Growing())
    if isinstance(part.get("id"), str) and part["id"]:
        call.id = part["id"]
    function = part.get("function")
    if isinstance(function, dict):
        if isinstance(function.get("name"), str) and function["name"]:
            call.name = function["name"]
        if isinstance(function.get("arguments"), str):
            call.arguments.append(function["arguments"])


def _events(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the data of server-sent events; comments and other fields are no data."""
    data: list[bytes] = []
    for line in lines(chunks):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif line.startswith(b"{") and not data:
            data.append(line)  # an error in the middle of a stream, which some send without a field
        elif not line.strip() and data:
            yield b"\n".join(data)
            data = []
    if data:
        yield b"\n".join(data)


def _count(answer: Mapping[str, Any], tally: TokenUsage) -> None:
    usage = answer.get("usage")
    if isinstance(usage, dict):
        tally.count(usage.get("prompt_tokens"), usage.get("completion_tokens"))


def _message(message: Message) -> dict[str, object]:
    made: dict[str, object] = {"role": message.role, "content": encodable(message.content)}
    if message.role == "tool":
        made["tool_call_id"] = message.call_id
    if message.calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    return made
