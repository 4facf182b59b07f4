"""Ask several public search engines at once through the package ddgs, an extra.

It needs no key and no server, and nobody promises that it works: engines change, and limit who
asks too often. Its requests are its own, so what holds for the other providers holds here only
from outside: it works in a thread that is left at the deadline, or when the caller is told to
stop, and its answer is held to what a result may be.
"""

from __future__ import annotations

import queue
import threading
import time
from contextlib import nullcontext
from enum import Enum
from importlib.util import find_spec
from typing import Any, Final

from factbook import policy
from factbook.errors import SearchError, SearchFailure, UsageError
from factbook.model.entities import SearchAnswer, SearchResult
from factbook.net import cancel
from factbook.net.http import one_line
from factbook.search_providers.base import answer_of, bounded, plain_query
from factbook.search_providers.config import DDGS, SearchConfig
from factbook.search_providers.wire import string

AUTO: Final = "auto"
REGION: Final = "us-en"  # ddgs's own
_NOTHING: Final = "no results found"  # how ddgs says that there are none: by an error
_LIMITED: Final = ("ratelimit", "rate limit", "429", "too many requests")
_UNSURE: Final = "ddgs does not tell whether its engines found nothing or did not answer."


class _Mark(Enum):
    CANCELLED = "the caller was told to stop"
    GONE = "the thread is gone"


class Ddgs:
    """Several public engines; safe to share between threads."""

    id = DDGS

    def __init__(self, config: SearchConfig) -> None:
        """Name the engines; raises UsageError where the package is not installed, or knows none."""
        if find_spec("ddgs") is None:
            raise UsageError(
                detail="The provider ddgs needs the package ddgs; install it by"
                " `pip install 'factbook[search]'`, or name another provider."
            )
        self._config = config
        self._backend = _known(config.engines)

    def search(self, query: str, *, limit: int = policy.SEARCH_RESULTS) -> SearchAnswer:
        """Return what the engines find; see `SearchProvider.search`."""
        cancel.check()
        limit = bounded(limit)
        text = plain_query(query)
        began = time.monotonic()
        simple_queue: queue.SimpleQueue[list[Any] | SearchError | _Mark] = queue.SimpleQueue()

        def work() -> None:
            try:
                simple_queue.put(self._ask(text, limit))
            except SearchError as error:
                simple_queue.put(error)
            finally:  # behind what is waited for, if all went as it should
                simple_queue.put(_Mark.GONE)

        threading.Thread(target=work, name="factbook-ddgs", daemon=True).start()
        token = cancel.current()
        stopped = (
            nullcontext()
            if token is None
            else token.on_cancel(lambda: simple_queue.put(_Mark.CANCELLED))
        )
        with stopped:
            try:
                answer = simple_queue.get(timeout=self._config.timeout_s)
            except queue.Empty:
                reason = f"no complete answer came within {self._config.timeout_s:g} seconds"
                raise self._failed(SearchFailure.TIMEOUT, reason) from None
        cancel.check()
        if isinstance(answer, SearchError):
            raise answer
        if answer is _Mark.GONE or answer is _Mark.CANCELLED:
            raise RuntimeError("the thread of a search died; its traceback tells why")
        remarks = [] if answer else [_UNSURE]
        results = map(_result, answer)
        return answer_of(self.id, results, limit=limit, began=began, remarks=remarks)

    def _ask(self, text: str, limit: int) -> list[Any]:
        import ddgs
        from ddgs.exceptions import DDGSException, TimeoutException

        # one engine has so long, and they are asked in turns: half of the whole leaves time for two
        seconds = max(1, int(self._config.timeout_s / 2))
        try:
            return ddgs.DDGS(timeout=seconds).text(
                text, region=self._config.region or REGION, max_results=limit, backend=self._backend
            )
        except TimeoutException as error:
            raise self._failed(SearchFailure.TIMEOUT, _said(error)) from error
        except DDGSException as error:
            # what its engines raise arrives as text
            said = str(error).lower()
            if _NOTHING in said:
                return []
            limited = any(sign in said for sign in _LIMITED)
            kind = SearchFailure.REFUSED if limited else SearchFailure.CONNECT
            raise self._failed(kind, _said(error)) from error

    def _failed(self, kind: SearchFailure, reason: str) -> SearchError:
        return SearchError(kind=kind, provider=self.id, reason=reason)


def _known(engines: str) -> str:
    """Return which engines to ask; raises UsageError for one that ddgs does not have.

    ddgs itself only logs that, and asks all others instead.
    """
    if not engines:
        return AUTO
    from ddgs.engines import ENGINES

    known = sorted(ENGINES["text"])
    named = [part.strip().lower() for part in engines.split(",") if part.strip()]
    for engine in named:
        if engine not in known:
            raise UsageError(
                detail=f"{engine} is no engine of ddgs; name some of {', '.join(known)} in engines."
            )
    return ",".join(named)


def _said(error: Exception) -> str:
    return one_line(str(error) or type(error).__name__)


def _result(value: object) -> SearchResult | None:
    if not isinstance(value, dict):
        return None
    return SearchResult(
        title=string(value, "title"), url=string(value, "href"), text=string(value, "body")
    )
