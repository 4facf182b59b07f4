"""The chat completions protocol: OpenAI, Gemini's compatible endpoint, llama.cpp, vLLM, others.

Servers take different parts of it. What one refuses by name (a form of the answer, a temperature, a
limit of tokens) is left out of the next request, and of all later ones of the process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from factbook import policy
from factbook.errors import ModelFailure
from factbook.llm.base import AnswerPart, Message, Tool, ToolCall
from factbook.llm.config import ModelConfig
from factbook.llm.prompt import message_tokens
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
from factbook.net.http import Failed, HTTPReply, encodable, read_address, said_in

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_MAX_CALLS: Final = 128  # that one answer may ask for
_FORMS: Final = (
    "json_schema",
    "json_object",
    "",
)  # of an answer, each if the one before is refused
_NAMES_OF_FORM: Final = ("response_format", "response format", *_FORMS[:2], "structured output")
_IGNORES_FORM: Final = frozenset({"api.anthropic.com"})  # says so; others refuse what they lack
_BY_SCHEMA: Final = "Answer with one JSON object and nothing else; it fits this JSON schema: "


@dataclass(slots=True)
class Taken:
    """What a server takes of a request, as far as it is known."""

    form: str = _FORMS[0]  # "" for none: the prompt alone says what is wanted
    temperature: bool = True
    limit: str = "max_tokens"  # how it calls the limit of an answer; "" where it takes none

    def told(self) -> str:
        """Return in words what is left out, or sent otherwise than at first; "" for nothing."""
        said = []
        if self.form != _FORMS[0]:
            form = self.form or "no form of the answer"
            said.append(f"the schema stands in the prompt, with {form}")
        if not self.temperature:
            said.append("the temperature is the server's own")
        if self.limit != "max_tokens":
            limit = f"called {self.limit}" if self.limit else "the server's own"
            said.append(f"the limit of an answer is {limit}")
        return "; ".join(said)


_TAKEN: Final[dict[tuple[str, str], Taken]] = {}  # by address and model, for this process


@dataclass(frozen=True, slots=True)
class OpenAI:
    """`/chat/completions`, below an address that ends with the version."""

    config: ModelConfig
    chat_path: ClassVar[str] = "/chat/completions"

    @property
    def taken(self) -> Taken:
        """What is known of this server and model."""
        first = "" if read_address(self.config.url).host in _IGNORES_FORM else _FORMS[0]
        return _TAKEN.setdefault((self.config.url, self.config.model), Taken(form=first))

    def learn(self, reply: HTTPReply, body: Mapping[str, object]) -> bool:
        """Take note of what of a request is refused by name; True where the next one differs.

        A schema that is called invalid is our own mistake, and stays an error.
        """
        said = f"{said_in(reply.body)} {reply.body.decode('utf-8', 'replace')}".lower()
        if reply.status not in (400, 422) or "invalid schema" in said:
            return False
        taken = self.taken
        if "response_format" in body and any(name in said for name in _NAMES_OF_FORM):
            form = body["response_format"]
            sent = str(form["type"]) if isinstance(form, dict) else _FORMS[0]
            taken.form = _FORMS[_FORMS.index(sent) + 1]
        elif "temperature" in body and "temperature" in said:
            taken.temperature = False
        elif "max_tokens" in body and "max_completion_tokens" in said:
            taken.limit = "max_completion_tokens"
        elif any(name in body and name in said for name in ("max_tokens", "max_completion_tokens")):
            taken.limit = ""
        else:
            return False
        return True

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
        taken = self.taken
        if schema is not None and taken.form != _FORMS[0]:
            messages = _with_schema(messages, schema)
        body: dict[str, object] = {
            "model": self.config.model,
            "messages": [_message(message) for message in messages],
            "stream": stream,
        }
        if self.config.temperature is not None and taken.temperature:
            body["temperature"] = self.config.temperature
        if taken.limit:
            body[taken.limit] = self._limit(messages, taken.limit)
        if schema is not None and taken.form == "json_object":
            body["response_format"] = {"type": taken.form}
        elif schema is not None and taken.form:
            # the name may hold letters, digits, _ and -, at most 64 of them
            plain = _NOT_IN_A_NAME.sub("_", name)[:64] or "answer"
            form = {"name": plain, "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if tools:
            body["tools"] = [tool_form(tool) for tool in tools]
        if stream:
            body["stream_options"] = {"include_usage": True}
        return body

    def _limit(self, messages: Sequence[Message], name: str) -> int:
        """Return how many tokens an answer may have: what is left of the window, within bounds."""
        if name != "max_tokens":  # thoughts count in it, and models that think have large windows
            return policy.LLM_ANSWER_TOKENS
        left = self.config.num_ctx - message_tokens(messages)
        return max(policy.LLM_LEAST_TOKENS, min(policy.LLM_ANSWER_TOKENS, left))

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
        given: set[str] = set()  # what the choices hold
        for data in _events(chunks):
            if data == b"[DONE]":
                break
            event = read_object(data)
            _count(event, tally)
            choices = event.get("choices")
            if choices is None and isinstance(event.get("usage"), dict):
                continue
            if not isinstance(choices, list):
                not_protocol("has no choices")
            if not choices:  # the last event holds the usage alone
                continue
            choice = object_of(choices[0], "choice")
            # a server that does not stream sends the whole message in one
            given |= choice.keys()
            delta = object_of(choice.get("delta") or choice.get("message") or {}, "delta")
            if isinstance(delta.get("refusal"), str):
                refusal.append(delta["refusal"])
            if text := text_of(delta):
                yield AnswerPart(text=text)
            for call in delta.get("tool_calls") or ():
                _grow(calls, call)
            reason = choice.get("finish_reason") or reason
        if refused := "".join(refusal):
            declined(refused)
        if given and given.isdisjoint({"delta", "message"}):
            not_protocol("has choices without an answer")
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


def _with_schema(messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
    """Return a prompt that says the schema; in the one system message that some models take."""
    asked = _BY_SCHEMA + json.dumps(schema, ensure_ascii=False)
    if messages and messages[0].role == "system":
        first = replace(messages[0], content=f"{messages[0].content}\n\n{asked}")
        return [first, *messages[1:]]
    return [Message(role="system", content=asked), *messages]


def _events(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the data of server-sent events; comments and other fields are no data."""
    data: list[bytes] = []
    bare = False
    for line in lines(chunks):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif line.startswith(b"{") and not data:
            # an error in the middle of a stream, or all of an answer, which some send without a
            # field, and on several lines
            data.append(line)
            bare = True
        elif bare and line.strip():
            data.append(line)
        elif not line.strip() and data:
            yield b"\n".join(data)
            data, bare = [], False
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
