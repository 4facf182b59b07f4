"""What a scripted model server is asked, and what it answers: values, no sockets.

A `Reply` says what the model answers, not how a protocol writes it down; `dialects` renders it
for the path that was asked, so one script serves OpenAI's protocol and Ollama's, whole and
streamed.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Generic, TypeVar

from factbook.model.facts import Millis

Change = Callable[[dict[str, Any]], object]
_Asked = TypeVar("_Asked")
_Given = TypeVar("_Given")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it came over the wire."""

    number: int  # from 1, in the order of arrival
    method: str
    path: str  # without the query
    headers: Mapping[str, str]  # names in lower case
    body: Any  # the JSON value; None where the body is empty or not JSON
    raw: bytes  # the body as it came
    at: Millis
    query: str = ""  # what stands behind the ? of the path

    @property
    def model(self) -> str:
        return str(self._value("model", ""))

    @property
    def messages(self) -> list[dict[str, Any]]:
        sent = self._value("messages", [])
        return [item for item in sent if isinstance(item, dict)] if isinstance(sent, list) else []

    @property
    def prompt(self) -> str:
        return "\n\n".join(_text_of(message.get("content")) for message in self.messages)

    @property
    def inputs(self) -> list[str]:
        """The texts that are to be embedded."""
        given = self._value("input", [])
        return [given] if isinstance(given, str) else [str(text) for text in given or []]

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema that the answer has to fit, where one was sent."""
        schema = self._value("format", None)
        if schema is None:
            outer = self._value("response_format", None)
            inner = outer.get("json_schema") if isinstance(outer, dict) else None
            schema = inner.get("schema") if isinstance(inner, dict) else None
        return schema if isinstance(schema, dict) else None

    def _value(self, name: str, default: object) -> Any:
        return self.body.get(name, default) if isinstance(self.body, dict) else default


def _text_of(content: object) -> str:
    """Join the text parts of a message's content."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


class Playing(Generic[_Asked, _Given]):
    """Plays a script: one answer for all, those of a list in turn, or those of a function."""

    def __init__(self, script: _Given | Sequence[_Given] | Callable[[_Asked], _Given]) -> None:
        self.script = script
        self._left = iter(script) if isinstance(script, Sequence) else iter(())
        self._lock = threading.Lock()

    def answer(self, asked: _Asked) -> _Given | None:
        """Return what is answered; None where a list has come to its end."""
        if callable(self.script):
            return self.script(asked)
        if not isinstance(self.script, Sequence):
            return self.script
        with self._lock:
            return next(self._left, None)


class Ending(StrEnum):
    """Say how a body ends."""

    WHOLE = "whole"  # as the protocol wants it
    HANG = "hang"  # nothing more comes, and the connection stays open
    DROP = "drop"  # the connection is closed in the middle
    ENDLESS = "endless"  # more comes for as long as somebody listens


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer, made by the functions below: `Reply.json({"ops": []})`."""

    content: str | bytes | None = None  # what the model says; bytes may be no UTF-8
    refused: bool = False  # the content is a refusal (a field of its own in OpenAI's protocol)
    finish: str = "stop"  # stop, length, tool_calls or content_filter
    calls: Sequence[Mapping[str, Any]] = ()  # of tools: id, name, arguments
    embeddings: Sequence[Sequence[float]] | None = None
    echoes: str = ""  # the part of the request that is the content: "prompt" or "schema"
    code: int = 200  # the HTTP status
    body: bytes | None = None  # the whole body, instead of one of the protocol
    wired: bytes | None = None  # all that is sent, instead of HTTP
    content_type: str | None = None  # None is the protocol's own
    headers: Mapping[str, str] = field(default_factory=dict)  # beside those of the protocol
    changes: Sequence[Change] = ()  # to the body of the protocol, before it is written
    tokens: tuple[int, int] | None = None  # of the prompt and the answer; None is an estimate
    wait_s: float = 0.0  # before the first byte
    every_s: float = 0.0  # between two pieces
    piece_bytes: int = 0  # the size of a piece; 0 is the whole, or an event of a stream
    ending: Ending = Ending.WHOLE
    share: float = 1.0  # of the body that is sent before it hangs or drops
    length_error: int = 0  # added to the Content-Length
    chunked: bool = False  # without a Content-Length

    @staticmethod
    def json(value: object, *, tokens: tuple[int, int] | None = None) -> Reply:
        """Answer with a JSON value, as a model under a schema does."""
        return Reply(content=json.dumps(value, ensure_ascii=False), tokens=tokens)

    @staticmethod
    def text(text: str | bytes, *, tokens: tuple[int, int] | None = None) -> Reply:
        """Answer with any text; with bytes, the protocol's JSON carries them as they are."""
        return Reply(content=text, tokens=tokens)

    @staticmethod
    def refusal(text: str = "I'm sorry, but I can't help with that.") -> Reply:
        """Decline to answer; plain text in Ollama's protocol, which knows no refusals."""
        return Reply(content=text, refused=True)

    @staticmethod
    def truncated(text: str) -> Reply:
        """Answer with text that was cut at the token limit, and say so."""
        return Reply(content=text, finish="length")

    @staticmethod
    def tools(calls: Sequence[Mapping[str, Any]], *, text: str = "") -> Reply:
        """Ask for tools: each call has a name, arguments (a value, or JSON text), perhaps an id."""
        return Reply(content=text or None, calls=tuple(calls), finish="tool_calls")

    @staticmethod
    def vectors(
        vectors: Sequence[Sequence[float]], *, tokens: tuple[int, int] | None = None
    ) -> Reply:
        """Answer a request for embeddings."""
        return Reply(embeddings=[list(vector) for vector in vectors], tokens=tokens)

    @staticmethod
    def echo(what: str = "prompt") -> Reply:
        """Answer with the request's own prompt, or with its JSON schema (`what="schema"`)."""
        return Reply(echoes=what)

    @staticmethod
    def status(
        code: int, body: object = None, *, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Answer with an HTTP status.

        A `str` body is the message of the protocol's error object, `bytes` are sent as they are,
        anything else is sent as JSON; without one the error object names the status.
        """
        if isinstance(body, bytes):
            return Reply(code=code, body=body, content_type="text/plain", headers=headers or {})
        if body is None or isinstance(body, str):
            return Reply(code=code, content=body, headers=headers or {})
        return Reply(code=code, body=json.dumps(body).encode(), headers=headers or {})

    @staticmethod
    def raw(body: bytes, *, code: int = 200, content_type: str = "application/json") -> Reply:
        """Answer with exactly these bytes as the body."""
        return Reply(body=body, code=code, content_type=content_type)

    @staticmethod
    def wire(data: bytes) -> Reply:
        """Send these bytes, which need not be HTTP, and close the connection."""
        return Reply(wired=data)

    @staticmethod
    def huge(size: int, *, announced: bool = True) -> Reply:
        """Answer with one JSON string of about `size` bytes; perhaps without a Content-Length."""
        return Reply(content=json.dumps("x" * size), chunked=not announced)

    @staticmethod
    def delay(seconds: float, reply: Reply) -> Reply:
        """Send `reply` after a pause before its first byte."""
        return replace(reply, wait_s=seconds)

    @staticmethod
    def dribble(reply: Reply, every_s: float, *, piece_bytes: int = 1) -> Reply:
        """Send `reply` a byte at a time (a streamed one an event at a time), with pauses."""
        return replace(reply, every_s=every_s, piece_bytes=piece_bytes)

    @staticmethod
    def hang(reply: Reply | None = None, *, share: float = 0.5) -> Reply:
        """Never answer, or send only a share of `reply` and then nothing more."""
        if reply is None:
            return Reply(ending=Ending.HANG, share=0.0)
        return replace(reply, ending=Ending.HANG, share=share)

    @staticmethod
    def drop(reply: Reply | None = None, *, share: float = 0.5) -> Reply:
        """Close the connection after a share of `reply`; after the request with a share of 0."""
        return replace(reply or Reply.text("dropped " * 16), ending=Ending.DROP, share=share)

    @staticmethod
    def endless(start: bytes = b'{"padding": "', *, every_s: float = 0.0) -> Reply:
        """Send a chunked body that never ends."""
        return Reply(body=start, ending=Ending.ENDLESS, every_s=every_s, chunked=True)

    @staticmethod
    def miscounted(reply: Reply, by: int) -> Reply:
        """Announce a Content-Length that is wrong by so many bytes."""
        return replace(reply, length_error=by)

    @staticmethod
    def altered(reply: Reply, change: Change) -> Reply:
        """Send what `change` makes of the protocol's body, or of every event of a stream."""
        return replace(reply, changes=(*reply.changes, change))
