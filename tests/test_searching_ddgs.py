"""The package ddgs itself, with an engine that asks a server of this machine.

ddgs finds its engines in a table of classes; the tests put one of their own there, so that all of
ddgs runs (its threads, its requests, its ranking) and nothing leaves this machine.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

pytest.importorskip("ddgs", reason="ddgs is not installed; `pip install 'factbook[search]'`")

from ddgs.base import BaseSearchEngine
from ddgs.engines import ENGINES
from ddgs.exceptions import RatelimitException, TimeoutException
from ddgs.results import TextResult

from factbook.errors import SearchError, SearchFailure, UsageError
from factbook.net.cancel import Cancel, Cancelled, cancelling
from factbook.search_providers import SearchConfig, SearchProvider, open_search
from factbook.testing.model_server import ModelServer, Reply

PAGE = b"""<html><body>
<div class="hit"><a href="https://hifi.example.org/ls50"><h2>KEF LS50 Meta</h2></a>
  <p>It costs $1,600 &amp; has a MAT driver.</p></div>
<div class="hit"><a href="http://192.168.1.1/admin"><h2>KEF router</h2></a><p>A password.</p></div>
<div class="hit"><a href="https://hifi.example.org/r3"><h2>KEF R3</h2></a><p>Three ways.</p></div>
</body></html>"""


class Local(BaseSearchEngine[TextResult]):
    """An engine that asks a server of this machine."""

    name = "local"
    category = "text"
    provider = "local"
    search_url = ""
    search_method = "GET"
    items_xpath = "//div[@class='hit']"
    elements_xpath: ClassVar[dict[str, str]] = {
        "title": ".//h2//text()",
        "href": "./a/@href",
        "body": "./p//text()",
    }
    raised: ClassVar[Exception | None] = None

    def build_payload(
        self,
        query: str,
        region: str,
        safesearch: str,
        timelimit: str | None,
        page: int = 1,
        **kwargs: str,
    ) -> dict[str, Any]:
        """Say what is asked."""
        if self.raised is not None:
            raise self.raised
        return {"q": query, "region": region}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """Serve the engine, which is the only one."""
    monkeypatch.setitem(ENGINES, "text", {"local": Local})
    monkeypatch.setattr(Local, "raised", None)
    with ModelServer(routes={"/html": Reply.raw(PAGE, content_type="text/html")}) as made:
        monkeypatch.setattr(Local, "search_url", f"{made.url}/html")
        yield made


def opened(*, timeout_s: float = 10.0, **more: str) -> SearchProvider:
    """Open ddgs."""
    return open_search(SearchConfig(provider="ddgs", timeout_s=timeout_s, **more))  # type: ignore[arg-type]


def test_results_are_read(server: ModelServer) -> None:
    answer = opened(region="de-de", engines="Local").search("!g kef ls50", limit=5)
    assert [(one.title, one.url, one.text) for one in answer.results] == [
        (
            "KEF LS50 Meta",
            "https://hifi.example.org/ls50",
            "It costs $1,600 & has a MAT driver.",
        ),
        ("KEF R3", "https://hifi.example.org/r3", "Three ways."),
    ]
    assert (answer.provider, answer.dropped) == ("ddgs", 1)
    assert server.requests[0].query == "q=g+kef+ls50&region=de-de"


def test_no_result_is_an_empty_answer_that_is_not_sure(server: ModelServer) -> None:
    server.routes["/html"] = Reply.raw(b"<html><p>Nothing.</p></html>", content_type="text/html")
    answer = opened().search("quokka")
    assert list(answer.results) == []
    assert "does not tell whether" in answer.remarks[0]


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (ValueError("its page is another now"), SearchFailure.CONNECT),
        (TimeoutException("it timed out"), SearchFailure.TIMEOUT),
        (RatelimitException("202 Ratelimit"), SearchFailure.REFUSED),
    ],
)
def test_an_engine_that_fails_fails_the_search(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, raised: Exception, kind: SearchFailure
) -> None:
    monkeypatch.setattr(Local, "raised", raised)
    with pytest.raises(SearchError) as caught:
        opened().search("kef")
    assert caught.value.kind is kind
    assert str(raised) in str(caught.value)


def test_the_deadline_holds_whatever_ddgs_does(server: ModelServer) -> None:
    server.routes["/html"] = Reply.delay(3.0, Reply.raw(PAGE))
    began = time.monotonic()
    with pytest.raises(SearchError) as caught:
        opened(timeout_s=0.4).search("kef")
    assert caught.value.kind is SearchFailure.TIMEOUT
    assert time.monotonic() - began < 2


def test_a_search_that_is_cancelled_ends_at_once(server: ModelServer) -> None:
    server.routes["/html"] = Reply.delay(3.0, Reply.raw(PAGE))
    token = Cancel()

    def stop() -> None:
        assert server.wait_for(1)
        token.cancel()

    stopper = threading.Thread(target=stop)
    stopper.start()
    with cancelling(token), pytest.raises(Cancelled):
        opened().search("kef")
    stopper.join()


def test_an_engine_that_ddgs_does_not_have_is_said(server: ModelServer) -> None:
    with pytest.raises(UsageError, match="gogle is no engine of ddgs; name some of local"):
        opened(engines="local,gogle")


def test_without_the_package_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ddgs", None)  # which Python takes for "not installed"
    with pytest.raises(UsageError, match=r"factbook\[search\]"):
        opened()
