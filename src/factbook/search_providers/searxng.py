"""Ask a SearXNG (or searx) instance by its JSON API.

One request: `GET /search?q=...&format=json`. A SearXNG answers JSON only where its settings list
`json` among `search.formats`; a public instance seldom does, one of your own can. Its infoboxes
come first, as they are about the very thing that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from factbook.errors import SearchFailure
from factbook.model.entities import SearchResult
from factbook.net.http import one_line
from factbook.search_providers.base import moment
from factbook.search_providers.config import SEARXNG
from factbook.search_providers.wire import HTTPProvider, Results, string

_NAMED: Final = 5  # engines that a remark names


class SearXNG(HTTPProvider):
    """A SearXNG instance."""

    id = SEARXNG
    hints: ClassVar = {
        403: "its settings do not allow JSON; add json to formats of search in its settings.yml",
        429: "it limits how often it is asked; switch its limiter off for this machine",
    }

    def _found(self, query: str, limit: int) -> tuple[Results, Sequence[str]]:
        asked = {"q": query, "format": "json"}
        if self._config.language:
            asked["language"] = self._config.language
        if self._config.engines:
            asked["engines"] = self._config.engines
        answer = self._ask(f"/search?{urlencode(asked)}")
        if "results" not in answer:
            raise self._failed("its answer has no results; is the address that of a SearXNG?")
        results = [
            *map(_infobox, self._listed(answer, "infoboxes")),
            *map(_result, self._listed(answer, "results")),
        ]
        silent = _silent(self._listed(answer, "unresponsive_engines"))
        if silent and not results:
            # nothing was found because nobody looked: that must not count as "there is nothing"
            raise self._failed(f"no engine answered: {silent}", SearchFailure.CONNECT)
        return results, [f"Some engines did not answer: {silent}."] if silent else ()


def _result(value: object) -> SearchResult | None:
    if not isinstance(value, dict):
        return None
    return SearchResult(
        title=string(value, "title"),
        url=string(value, "url"),
        text=string(value, "content"),
        image=string(value, "img_src") or string(value, "thumbnail"),
        published_at=moment(value.get("pubdate")) or moment(value.get("publishedDate")),
    )


def _infobox(value: object) -> SearchResult | None:
    if not isinstance(value, dict):
        return None
    lines = [string(value, "content"), *_attributes(value.get("attributes"))]
    return SearchResult(
        title=string(value, "infobox"),
        url=_url_of(value),
        text="\n".join(line for line in lines if line),
        image=string(value, "img_src"),
    )


def _attributes(attributes: object) -> Iterator[str]:
    for attribute in attributes if isinstance(attributes, list) else ():
        label, value = string(attribute, "label").strip(" :"), string(attribute, "value")
        if label and value:
            yield f"{label}: {value}"


def _url_of(infobox: Mapping[str, Any]) -> str:
    named = string(infobox, "id")  # mostly the address of its article
    urls = infobox.get("urls")
    first = string(urls[0], "url") if isinstance(urls, list) and urls else ""
    return named if named.startswith(("http://", "https://")) else first


def _silent(engines: list[Any]) -> str:
    """Return which engines did not answer, and why: "arxiv (timeout), bing (HTTP error)"."""
    named = []
    for engine in engines:
        parts = [str(part) for part in engine] if isinstance(engine, list) else [str(engine)]
        named.append(one_line(f"{parts[0]} ({parts[1]})" if len(parts) > 1 else parts[0], limit=80))
    more = len(named) - _NAMED
    return ", ".join(named[:_NAMED]) + (f" and {more} more" if more > 0 else "")
