"""Ask Tavily by its HTTP API: `POST /search`, with the key as a bearer's authorization."""

from __future__ import annotations

from typing import Final

from factbook import policy
from factbook.model.entities import SearchAnswer, SearchResult
from factbook.net.http import Endpoint
from factbook.search_providers.base import answer_of, bounded, moment, plain_query, stopwatch
from factbook.search_providers.config import TAVILY, SearchConfig
from factbook.search_providers.wire import REFUSED, ask, listed, string

_REFUSED: Final = REFUSED | {432, 433}  # its own, for the limits of a plan


class Tavily:
    """Tavily's search; safe to share between threads."""

    id = TAVILY

    def __init__(self, config: SearchConfig, endpoint: Endpoint) -> None:
        """Name the endpoint; nothing is sent yet."""
        self._config = config
        self._endpoint = endpoint

    def search(self, query: str, *, limit: int = policy.SEARCH_RESULTS) -> SearchAnswer:
        """Return what Tavily finds; see `SearchProvider.search`."""
        limit = bounded(limit)
        asked: dict[str, object] = {
            "query": plain_query(query),
            "max_results": limit,
            "search_depth": "basic",
            # what a model of theirs makes of the results is nobody's text, and no source
            "include_answer": False,
        }
        began = stopwatch()
        answer = ask(
            self._endpoint,
            "/search",
            asked,
            provider=self.id,
            timeout_s=self._config.timeout_s,
            max_bytes=self._config.max_answer_bytes,
            refused=_REFUSED,
        )
        results = map(_result, listed(answer, "results", provider=self.id))
        return answer_of(self.id, results, limit=limit, began=began)


def _result(value: object) -> SearchResult | None:
    if not isinstance(value, dict):
        return None
    return SearchResult(
        title=string(value, "title"),
        url=string(value, "url"),
        text=string(value, "content"),
        published_at=moment(value.get("published_date")),
    )
