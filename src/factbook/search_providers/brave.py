"""Ask Brave Search by its HTTP API: `GET /res/v1/web/search`, with the key in a header of its own.

Descriptions come as HTML. Further excerpts of a page are taken where they come, and not asked for:
a plan without them refuses the whole request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from factbook.model.entities import SearchResult
from factbook.search_providers.base import moment, unmarked
from factbook.search_providers.config import BRAVE
from factbook.search_providers.wire import REFUSED, HTTPProvider, Results, string

KEY_HEADER: Final = "x-subscription-token"


class Brave(HTTPProvider):
    """Brave Search."""

    id = BRAVE
    refused = REFUSED | {422}  # which is how it declines a key

    def _found(self, query: str, limit: int) -> tuple[Results, Sequence[str]]:
        asked = {
            "q": query,
            "count": str(limit),
            "result_filter": "web",
            "text_decorations": "false",
        }
        if self._config.language:
            asked["search_lang"] = self._config.language.lower()
        web = self._ask(f"/res/v1/web/search?{urlencode(asked)}").get("web")
        if web is not None and not isinstance(web, dict):  # absent where nothing was found
            raise self._failed("web in its answer is no object")
        return map(_result, self._listed(web or {}, "results")), ()


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
