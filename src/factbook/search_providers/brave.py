"""Ask Brave Search by its HTTP API: `GET /res/v1/web/search`, with the key in a header of its own.

Descriptions come as HTML. Further excerpts of a page are taken where they come, and not asked for:
a plan without them refuses the whole request.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from factbook import policy
from factbook.model.entities import SearchAnswer, SearchResult
from factbook.net.http import Endpoint
from factbook.search_providers.base import (
    answer_of,
    bounded,
    moment,
    plain_query,
    stopwatch,
    unmarked,
)
from factbook.search_providers.config import BRAVE, SearchConfig
from factbook.search_providers.wire import REFUSED, ask, listed, string, unreadable

KEY_HEADER: Final = "x-subscription-token"
_REFUSED: Final = REFUSED | {422}  # which is how it declines a key


class Brave:
    """Brave Search; safe to share between threads."""

    id = BRAVE

    def __init__(self, config: SearchConfig, endpoint: Endpoint) -> None:
        """Name the endpoint; nothing is sent yet."""
        self._config = config
        self._endpoint = endpoint

    def search(self, query: str, *, limit: int = policy.SEARCH_RESULTS) -> SearchAnswer:
        """Return what Brave finds; see `SearchProvider.search`."""
        limit = bounded(limit)
        asked = {
            "q": plain_query(query),
            "count": str(limit),
            "result_filter": "web",
            "text_decorations": "false",
        }
        if self._config.language:
            asked["search_lang"] = self._config.language.lower()
        began = stopwatch()
        answer = ask(
            self._endpoint,
            f"/res/v1/web/search?{urlencode(asked)}",
            provider=self.id,
            timeout_s=self._config.timeout_s,
            max_bytes=self._config.max_answer_bytes,
            refused=_REFUSED,
        )
        web = answer.get("web")  # absent where nothing was found
        if web is not None and not isinstance(web, dict):
            raise unreadable(self.id, "web in its answer is no object")
        results = map(_result, listed(web or {}, "results", provider=self.id))
        return answer_of(self.id, results, limit=limit, began=began)


def _result(value: object) -> SearchResult | None:
    if not isinstance(value, dict):
        return None
    more = value.get("extra_snippets")
    pieces = [string(value, "description")]
    pieces += [text for text in more if isinstance(text, str)] if isinstance(more, list) else []
    return SearchResult(
        title=unmarked(string(value, "title")),
        url=string(value, "url"),
        text="\n".join(dict.fromkeys(unmarked(piece) for piece in pieces if piece)),
        image=string(value.get("thumbnail"), "src"),
        published_at=moment(value.get("page_age")),
    )
