"""What the two dialects have in common: how bodies and lines are read, how a tool is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, NoReturn

import orjson

from factbook import policy
from factbook.errors import ModelFailure
from factbook.llm.base import Tool
from factbook.net.http import Failed, HTTPReply, one_line, said_in

# How servers name a prompt that is larger than the context: OpenAI's code, llama.cpp's type, and
# the words of Ollama and vLLM, which give neither.
_TOO_LONG: Final = (
    "context_length_exceeded",
    "exceed_context_size_error",
    "exceeds the context length",
    "exceeds the available context",
    "maximum context length",
)
_MAX_COUNT: Final = 10**9  # tokens of one call; a larger number is no count


@dataclass(slots=True)
class TokenUsage:
    """What a server says that a call used; None where it says nothing."""

    prompt_tokens: int | None = None
    answer_tokens: int | None = None

    def count(self, prompt: object, answer: object) -> None:
        """Take over the counts that are counts."""
        self.prompt_tokens = _count(prompt, self.prompt_tokens)
        self.answer_tokens = _count(answer, self.answer_tokens)


def _count(value: object, before: int | None) -> int | None:
    return value if type(value) is int and 0 <= value <= _MAX_COUNT else before


def read_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object that a body is; raises `Failed` of the kind http."""
    try:
        loads = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        what = "is empty" if not body.strip() else f"is not JSON ({error.msg})"
        not_protocol(what)
    if not isinstance(loads, dict):
        not_protocol("is not an object")
    if loads.get("error"):
        raise Failed(ModelFailure.HTTP, f"the server says: {said_in(body)}")
    return loads


def not_protocol(what: str) -> NoReturn:
    """Raise `Failed` for a body that is not what the protocol says."""
    raise Failed(ModelFailure.HTTP, f"the body of the reply {what}")


def check_status(reply: HTTPReply) -> None:
    """Raise `Failed` where a reply has a status other than 2xx."""
    if reply.ok:
        return
    if 300 <= reply.status < 400:
        to = one_line(reply.location) or "nowhere"
        raise Failed(
            ModelFailure.HTTP,
            f"status {reply.status}: a redirect to {to}, and none is followed; name that address",
            unread=True,
        )
    said = said_in(reply.body)
    text = reply.body.decode("utf-8", "replace").lower()
    if reply.status in (400, 413, 422) and any(mark in text for mark in _TOO_LONG):
        reason = f"the prompt is larger than the context: {said}"
        raise Failed(ModelFailure.TOO_LARGE, reason, unread=True)
    raise Failed(
        ModelFailure.HTTP,
        f"status {reply.status}" + (f": {said}" if said else ""),
        unread=True,
        endpoint=reply.status in _ENDPOINT or reply.status > 500,
        status=reply.status,
        wait_s=_wait_s(reply.retry_after),
    )


def what_to_do(failed: Failed) -> str:
    """Return what a person can do about a failure that is the endpoint's; "" where it says so."""
    if not failed.endpoint:
        return ""
    if failed.kind is ModelFailure.TIMEOUT:
        return "nothing came at all; raise timeout_s if the model is only slow"
    if not failed.status:
        return ""
    advice = _ENDPOINT.get(failed.status, "the server is not ready, or has failed; ask again later")
    if failed.wait_s:
        advice += f", in {failed.wait_s:,.0f} seconds" if advice.endswith("later") else ""
    return advice


_NO_KEY: Final = "the key, or what it may use, is not accepted; see `factbook doctor --llm`"
# Statuses that say nothing of what was sent: the next request would get the same, as with any
# 5xx but 500, which may be of one input that a server cannot stand.
_ENDPOINT: Final[Mapping[int, str]] = {
    401: _NO_KEY,
    402: "the account has nothing left to spend; fill it up, or configure another model",
    403: _NO_KEY,
    404: "no such model or path is there; see `factbook doctor --llm`",
    408: "the server gave up waiting; ask again later",
    429: "too many requests, or the quota is spent; ask again later",
}


def _wait_s(text: str) -> float:
    """Return the seconds that a Retry-After header asks for, within bounds; 0 for none."""
    try:
        if text.isascii() and text.strip().isdigit():
            asked = float(text)
        else:
            date = parsedate_to_datetime(text)
            asked = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return 0.0
    return min(max(asked, 0.0), policy.RETRY_AFTER_S)


def lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut a stream into its lines, without their ends; an unfinished last one counts too."""
    rest = bytearray()
    for chunk in chunks:
        rest += chunk
        if b"\n" in chunk:
            *whole, last = bytes(rest).split(b"\n")
            yield from (line.rstrip(b"\r") for line in whole)
            rest = bytearray(last)
    if rest:
        yield bytes(rest)


def object_of(value: object, what: str) -> dict[str, Any]:
    """Return a part of a reply that is an object; raises `Failed` of the kind http."""
    if not isinstance(value, dict):
        not_protocol(f"has no {what}")
    return value


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message; "" for none, as some send it beside calls of tools.

    Some send a list of parts, of which those of the type text are it (others are thoughts).
    """
    text = message.get("content")
    if isinstance(text, list):
        parts = [object_of(part, "part of the text") for part in text]
        said = [part.get("text") for part in parts if part.get("type") == "text"]
        text = "".join(part if isinstance(part, str) else not_text() for part in said)
    if not isinstance(text, str | None):
        not_text()
    return text or ""


def not_text() -> NoReturn:
    """Raise `Failed` for a message whose content is none."""
    not_protocol("has a message without text")


def tool_form(tool: Tool) -> dict[str, object]:
    """Return a tool as both protocols describe it."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def stopped(reason: object) -> None:
    """Raise `Failed` where the reason for which an answer ended makes it unusable."""
    if reason == "length":
        raise Failed(ModelFailure.TRUNCATED, "the answer was cut at the token limit")
    if reason == "content_filter":
        raise Failed(ModelFailure.REFUSED, "the server's content filter withheld the answer")


def declined(text: str) -> NoReturn:
    """Raise `Failed` for an answer that is a refusal."""
    raise Failed(ModelFailure.REFUSED, "the model declined", said=text)
