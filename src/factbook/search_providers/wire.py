"""Ask a provider's endpoint for JSON, and make one error of whatever goes wrong."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Final, TypeAlias
from urllib.parse import urlsplit

import orjson

from factbook import policy
from factbook.errors import ModelFailure, SearchError, SearchFailure
from factbook.model.entities import SearchAnswer, SearchResult
from factbook.net.http import Endpoint, Failed, one_line, said_in
from factbook.search_providers.base import answer_of, bounded, plain_query
from factbook.search_providers.config import SearchConfig

Results: TypeAlias = Iterable[SearchResult | None]

REFUSED: Final = frozenset({401, 402, 403, 429})
"""The key is wrong, the quota is spent, or too much was asked: asking again does not help now."""

_KINDS: Final[Mapping[ModelFailure, SearchFailure]] = {
    ModelFailure.TIMEOUT: SearchFailure.TIMEOUT,
    ModelFailure.CONNECT: SearchFailure.CONNECT,
    ModelFailure.TOO_LARGE: SearchFailure.TOO_LARGE,
}


class HTTPProvider(ABC):
    """A provider that is asked over HTTP; safe to share between threads."""

    id: ClassVar[str]
    refused: ClassVar[frozenset[int]] = REFUSED  # statuses by which it declines
    hints: ClassVar[Mapping[int, str]] = {}
    """What to do about a status, where the provider's own words do not say so."""

    def __init__(self, config: SearchConfig, endpoint: Endpoint) -> None:
        """Name the endpoint; nothing is sent yet."""
        self._config = config
        self._endpoint = endpoint

    def search(self, query: str, *, limit: int = policy.SEARCH_RESULTS) -> SearchAnswer:
        """Return what the provider finds; see `SearchProvider.search`."""
        limit = bounded(limit)
        query = plain_query(query)
        began = time.monotonic()
        results, remarks = self._found(query, limit)
        return answer_of(self.id, results, limit=limit, began=began, remarks=remarks)

    @abstractmethod
    def _found(self, query: str, limit: int) -> tuple[Results, Sequence[str]]:
        """Ask for at most `limit` results; return them raw, with remarks. Raises SearchError."""

    def _ask(self, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Send one request and return the JSON object of its answer.

        Raises SearchError; nothing is retried, no redirect is followed.
        """
        config = self._config
        try:
            reply = self._endpoint.send(
                path, body, timeout_s=config.timeout_s, max_bytes=config.max_answer_bytes
            )
        except Failed as failed:
            kind = _KINDS.get(failed.kind, SearchFailure.HTTP)
            raise self._failed(failed.reason, kind) from failed
        if 300 <= reply.status < 400:
            target = urlsplit(reply.location).netloc.rpartition("@")[2]
            where = one_line(target) if target else "elsewhere"
            raise self._failed(
                f"it answered {reply.status}, a redirect to {where}, and redirects are not followed"
            )
        if not reply.ok:
            page = reply.body.lstrip().startswith(b"<")  # of HTML, which says little in one line
            said = self.hints.get(reply.status) or ("" if page else said_in(reply.body))
            said = self._endpoint.hide(said)
            kind = SearchFailure.REFUSED if reply.status in self.refused else SearchFailure.HTTP
            raise self._failed(f"it answered {reply.status}{f': {said}' if said else ''}", kind)
        answer = self._value(reply.body)
        if not isinstance(answer, dict):
            raise self._failed("its answer is no JSON object")
        return answer

    def _value(self, body: bytes) -> object:
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(body)
        try:
            # which takes half a character, too: a page may hold one, and it spoils only its text
            return json.loads(body)
        except (ValueError, RecursionError):
            raise self._failed("its answer is not JSON") from None

    def _listed(self, answer: Mapping[str, Any], name: str) -> list[Any]:
        """Return a list of the answer; [] where it is not there, SearchError if it is no list."""
        value = answer.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self._failed(f"{name} in its answer is no list")
        return value

    def _failed(self, reason: str, kind: SearchFailure = SearchFailure.HTTP) -> SearchError:
        return SearchError(kind=kind, provider=self.id, reason=reason)


def string(value: object, name: str) -> str:
    """Return a text of an object of the answer; "" where there is none."""
    text = value.get(name) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""
