"""Search providers for tests: real HTTP on loopback that plays a script, and one without HTTP.

The server speaks the JSON of SearXNG, Tavily and Brave, told apart by method and path, and fails in
every way that a real server fails:

    with SearchServer([Hits([hit("KEF LS50 Meta", "It costs $1,600.")]), Reply.hang()]) as server:
        config = SearchConfig(provider="searxng", url=server.url)
        ...
        assert server.searches[0].text == "kef ls50 meta"

A script is one answer for every search, a list of answers in order, or a function of the search.
An answer is `Hits`, or a `Reply` for what a server does instead of searching.
"""

from __future__ import annotations

import html
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs, quote

from factbook import policy
from factbook.model.entities import SearchAnswer, SearchResult
from factbook.testing.dialects import Wire, render
from factbook.testing.model_server import ModelServer
from factbook.testing.replies import Playing, Reply, Request

__all__ = ["Hits", "Reply", "ScriptedSearch", "Search", "SearchServer", "hit"]

_PROVIDERS: Final = {
    ("GET", "/search"): "searxng",
    ("POST", "/search"): "tavily",
    ("GET", "/res/v1/web/search"): "brave",
}
_MOST: Final = 20  # Tavily's and Brave's: results of one request
_QUERY_CHARS: Final = 400  # theirs too


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    provider: str  # searxng, tavily or brave
    text: str
    limit: int | None  # None: it was not said
    options: Mapping[str, object]  # whatever else was
    request: Request


@dataclass(frozen=True, slots=True)
class Hits:
    """What is found for a search, as it is told: anything may stand in a result."""

    results: Sequence[SearchResult] = ()
    silent: Mapping[str, str] = field(default_factory=dict)  # engine of SearXNG -> why
    infoboxes: Sequence[Mapping[str, Any]] = ()  # of SearXNG, as they are written


Answer: TypeAlias = Hits | Reply
Script: TypeAlias = Answer | Sequence[Answer] | Callable[[Search], Answer]


def hit(
    title: str, text: str, *, url: str = "", image: str = "", published_at: int | None = None
) -> SearchResult:
    """Return a result to find; without an address, one that is made of its title."""
    made = f"https://pages.example.org/{quote(title.lower().replace(' ', '-'), safe='-')}"
    return SearchResult(
        title=title, text=text, url=url or made, image=image, published_at=published_at
    )


class SearchServer(ModelServer):
    """Serve a script of searches over HTTP on 127.0.0.1; a context manager.

    With a `key`, searches without it are declined as each provider declines them. `json_allowed`
    is what a SearXNG says in its settings: without it, it answers 403.
    """

    def __init__(
        self, script: Script = Hits(), *, key: str = "", json_allowed: bool = True
    ) -> None:
        """Make a server; it listens from `start`, or the beginning of its context, on."""
        super().__init__(Reply.status(404), models=[])
        self.searches: list[Search] = []
        self._key = key
        self._json_allowed = json_allowed
        self._answers = Playing[Search, Answer](script)

    def _answer(self, request: Request) -> tuple[Wire, Reply]:
        provider = _PROVIDERS.get((request.method, request.path))
        if provider is None:
            reply = Reply.raw(b"<h1>Not Found</h1>", code=404, content_type="text/html")
            return render(request, reply), reply
        search = _search_of(provider, request)
        reply = self._declined(search) or self._found(search)
        return render(request, reply), reply

    def _declined(self, search: Search) -> Reply | None:
        """Return how a provider declines a search; None where it takes it."""
        headers = search.request.headers
        given = headers.get("authorization", "").removeprefix("Bearer ")
        if search.provider == "brave":
            given = headers.get("x-subscription-token", "")
            if self._key and given != self._key:
                return _error(search, 422, "The provided subscription token is invalid.")
        elif self._key and given != self._key:
            return _error(search, 401, "Unauthorized: missing or invalid API key.")
        if search.provider == "searxng":
            if search.options.get("format") != "json":
                page = b"<!doctype html><title>searx</title>"
                return Reply.raw(page, content_type="text/html; charset=utf-8")
            if not self._json_allowed:
                return _error(search, 403, "Forbidden")
        if not search.text.strip():
            return _error(search, 400, "No query")
        too_long = len(search.text) > _QUERY_CHARS or (search.limit or 0) > _MOST
        if search.provider != "searxng" and too_long:
            return _error(search, 422 if search.provider == "brave" else 400, "Unable to validate.")
        return None

    def _found(self, search: Search) -> Reply:
        with self._lock:
            self.searches.append(search)
        none = Reply.status(500, "the script has no more answers")
        answer = self._answers.answer(search) or none
        if isinstance(answer, Reply):
            bare = answer.code >= 300 and answer.body is None
            return _error(search, answer.code, str(answer.content or "")) if bare else answer
        return Reply.raw(json.dumps(_WRITTEN[search.provider](search, answer)).encode())


class ScriptedSearch:
    """A search provider that plays a script, without HTTP; safe to share between threads.

    A script is what is found for every query, a list of that in order (an error in it is raised),
    or a function of the query.
    """

    id = "scripted"

    def __init__(
        self,
        script: Sequence[SearchResult]
        | Sequence[Sequence[SearchResult] | Exception]
        | Callable[[str], Sequence[SearchResult]] = (),
    ) -> None:
        """Take a script; nothing is found where it is empty."""
        self.queries: list[str] = []
        self._script = script
        self._steps = iter(()) if callable(script) else iter(script)
        self._lock = threading.Lock()

    def search(self, query: str, *, limit: int = policy.SEARCH_RESULTS) -> SearchAnswer:
        """Return what the script has for a query."""
        with self._lock:
            self.queries.append(query)
            answer = self._found(query)
        if isinstance(answer, Exception):
            raise answer
        return SearchAnswer(provider=self.id, results=list(answer)[:limit], duration_ms=0)

    def _found(self, query: str) -> Sequence[SearchResult] | Exception:
        if callable(self._script):
            return self._script(query)
        always = [
            search_result
            for search_result in self._script
            if isinstance(search_result, SearchResult)
        ]
        if always or not self._script:
            return always
        step = next(self._steps, None)
        if step is None or isinstance(step, SearchResult):
            raise AssertionError(f"the script has nothing for search {len(self.queries)}: {query}")
        return step


def _search_of(provider: str, request: Request) -> Search:
    given: dict[str, object]
    if provider == "tavily":
        given = dict(request.body) if isinstance(request.body, dict) else {}
        name, count = "query", "max_results"
    else:
        given = {key: values[-1] for key, values in parse_qs(request.query).items()}
        name, count = "q", "count"
    text, limit = given.pop(name, ""), given.pop(count, None)
    return Search(
        provider=provider,
        text=str(text),
        limit=int(str(limit)) if str(limit).isdecimal() else None,
        options=given,
        request=request,
    )


def _iso(at: int | None) -> str | None:
    if at is None:
        return None
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _searxng(search: Search, hits: Hits) -> dict[str, Any]:
    return {
        "query": search.text,
        "number_of_results": len(hits.results),
        "results": [
            {
                "url": result.url,
                "title": result.title,
                "content": result.text,
                "img_src": result.image,
                "publishedDate": _iso(result.published_at),
                "engine": "local",
                "engines": ["local"],
                "positions": [at],
                "score": 1 / at,
                "category": "general",
            }
            for at, result in enumerate(hits.results, 1)
        ],
        "answers": [],
        "corrections": [],
        "infoboxes": list(hits.infoboxes),
        "suggestions": [],
        "unresponsive_engines": [list(pair) for pair in hits.silent.items()],
    }


def _tavily(search: Search, hits: Hits) -> dict[str, Any]:
    def written(at: int, search_result: SearchResult) -> dict[str, Any]:
        made = {
            "title": search_result.title,
            "url": search_result.url,
            "content": search_result.text,
            "score": 1 / at,
            "raw_content": None,
        }
        if search_result.published_at is not None:
            date = datetime.fromtimestamp(search_result.published_at / 1000, UTC)
            made["published_date"] = format_datetime(date, usegmt=True)
        return made

    kept = hits.results[: search.limit]
    return {
        "query": search.text,
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "results": [written(at, result) for at, result in enumerate(kept, 1)],
        "response_time": 0.5,
        "request_id": f"request-{search.request.number}",
    }


def _brave(search: Search, hits: Hits) -> dict[str, Any]:
    def written(search_result: SearchResult) -> dict[str, Any]:
        made: dict[str, Any] = {
            "type": "search_result",
            "title": html.escape(search_result.title),
            "url": search_result.url,
            "description": html.escape(search_result.text),  # it comes as HTML
            "language": "en",
            "family_friendly": True,
        }
        if search_result.image:
            made["thumbnail"] = {
                "src": search_result.image,
                "original": search_result.image,
                "logo": False,
            }
        if search_result.published_at is not None:
            made["page_age"] = _iso(search_result.published_at)
        return made

    made: dict[str, Any] = {"type": "search", "query": {"original": search.text}}
    if hits.results:
        results = [written(result) for result in hits.results[: search.limit]]
        made["web"] = {"type": "search", "results": results, "family_friendly": True}
    return made


_WRITTEN: Final[Mapping[str, Callable[[Search, Hits], dict[str, Any]]]] = {
    "searxng": _searxng,
    "tavily": _tavily,
    "brave": _brave,
}


def _error(search: Search, code: int, message: str) -> Reply:
    """Return an error as a provider writes it."""
    said = message or f"status {code}"
    if search.provider == "searxng":
        page = f"<!doctype html><title>{code} {html.escape(said)}</title><h1>{code}</h1>"
        return Reply.raw(page.encode(), code=code, content_type="text/html")
    if search.provider == "tavily":
        return Reply.status(code, {"detail": {"error": said}})
    error = {"id": "error", "status": code, "detail": said, "code": "ERROR"}
    return Reply.status(code, {"type": "ErrorResponse", "error": error, "time": 0})
