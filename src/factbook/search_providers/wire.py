"""Ask a provider's endpoint for JSON, and make one error of whatever goes wrong.

Knows: HTTP statuses, JSON. Does not know: what is asked, or what the JSON means.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from factbook.errors import ModelFailure, SearchError, SearchFailure
from factbook.net.http import Endpoint, Failed, one_line, said_in

REFUSED: Final = frozenset({401, 402, 403, 429})
"""The key is wrong, the quota is spent, or too much was asked: asking again does not help now."""

_KINDS: Final[Mapping[ModelFailure, SearchFailure]] = {
    ModelFailure.TIMEOUT: SearchFailure.TIMEOUT,
    ModelFailure.CONNECT: SearchFailure.CONNECT,
    ModelFailure.TOO_LARGE: SearchFailure.TOO_LARGE,
}


def ask(
    endpoint: Endpoint,
    path: str,
    body: Mapping[str, object] | None = None,
    *,
    provider: str,
    timeout_s: float,
    max_bytes: int,
    refused: frozenset[int] = REFUSED,
    hints: Mapping[int, str] | None = None,
) -> dict[str, Any]:
    """Send one request and return the JSON object of its answer.

    `refused` are the statuses by which it declines; `hints` say what to do about one, where the
    provider's own words do not. Raises SearchError; nothing is retried, no redirect is followed.
    """
    try:
        reply = endpoint.send(path, body, timeout_s=timeout_s, max_bytes=max_bytes)
    except Failed as failed:
        kind = _KINDS.get(failed.kind, SearchFailure.HTTP)
        raise SearchError(kind=kind, provider=provider, reason=failed.reason) from failed
    if 300 <= reply.status < 400:
        target = urlsplit(reply.location).netloc.rpartition("@")[2]
        where = one_line(target) if target else "elsewhere"
        reason = (
            f"it answered {reply.status}, a redirect to {where}, and redirects are not followed"
        )
        raise SearchError(kind=SearchFailure.HTTP, provider=provider, reason=reason)
    if not reply.ok:
        page = reply.body.lstrip().startswith(b"<")  # of HTML, which says little in one line
        said = (hints or {}).get(reply.status) or ("" if page else said_in(reply.body))
        said = endpoint.hide(said)
        kind = SearchFailure.REFUSED if reply.status in refused else SearchFailure.HTTP
        reason = f"it answered {reply.status}{f': {said}' if said else ''}"
        raise SearchError(kind=kind, provider=provider, reason=reason)
    answer = _value(reply.body, provider)
    if not isinstance(answer, dict):
        raise unreadable(provider, "its answer is no JSON object")
    return answer


def _value(body: bytes, provider: str) -> object:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:
        # which takes half a character, too: a page may hold one, and it spoils only its own text
        return json.loads(body)
    except (ValueError, RecursionError):
        raise unreadable(provider, "its answer is not JSON") from None


def unreadable(provider: str, what: str) -> SearchError:
    """Return the error of an answer that is not of the protocol."""
    return SearchError(kind=SearchFailure.HTTP, provider=provider, reason=what)


def listed(answer: Mapping[str, Any], name: str, *, provider: str) -> list[Any]:
    """Return a list of the answer; [] where it is not there, SearchError where it is no list."""
    value = answer.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise unreadable(provider, f"{name} in its answer is no list")
    return value


def string(value: object, name: str) -> str:
    """Return a text of an object of the answer; "" where there is none."""
    text = value.get(name) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""
