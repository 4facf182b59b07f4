"""Ask Tavily by its HTTP API: `POST /search`, with the key as a bearer's authorization."""

from __future__ import annotations

from collections.abc import Sequence

from factbook.model.entities import SearchResult
from factbook.search_providers.base import moment
from factbook.search_providers.config import TAVILY
from factbook.search_providers.wire import REFUSED, HTTPProvider, Results, string


class Tavily(HTTPProvider):
    """Tavily's search."""

    id = TAVILY
    refused = REFUSED | {432, 433}  # its own, for the limits of a plan

    def _found(self, query: str, limit: int) -> tuple[Results, Sequence[str]]:
        asked: dict[str, object] = {
            "query": query,
            "max_results": limit,
            "search_depth": "basic",
            # what a model of theirs makes of the results is nobody's text, and no source
            "include_answer": False,
        }
        return map(_result, self._listed(self._ask("/search", asked), "results")), ()


def _result(value: object) -> SearchResult | None:
    if not isinstance(value, dict):
        return None
    return SearchResult(
        title=string(value, "title"),
        url=string(value, "url"),
        text=string(value, "content"),
        published_at=moment(value.get("published_date")),
    )
