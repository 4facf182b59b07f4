"""SearXNG, Tavily and Brave over real HTTP: what they are asked, what is kept, how they fail."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook import policy
from factbook.errors import SearchError, SearchFailure, UsageError
from factbook.net.cancel import Cancel, Cancelled, cancelling
from factbook.net.http import read_address
from factbook.search_providers import SearchConfig, SearchProvider, open_search
from factbook.search_providers.base import moment, plain_query, tidy, unmarked
from factbook.testing.search_server import Hits, Reply, ScriptedSearch, Search, SearchServer, hit
from rows import every

KEY = "a-key-that-nobody-has"
WEB = ("searxng", "tavily", "brave")
AT = 1_780_000_000_000  # whole seconds, which is what providers give

HITS = Hits(
    [
        hit(
            "KEF LS50 Meta",
            "It costs $1,600 & has a <MAT> driver.",
            image="https://img.example.org/ls50.png",
            published_at=AT,
        ),
        hit("KEF R3", "The R3 has three ways."),
    ]
)


def opened(
    server: SearchServer, provider: str, *, timeout_s: float = 5.0, **more: Any
) -> SearchProvider:
    """Open a provider whose endpoint is a server of this machine."""
    config = SearchConfig(
        provider=provider, url=server.url, key_env="KEY", timeout_s=timeout_s, **more
    )
    return open_search(config, environ={"KEY": KEY})


# --- what is found --------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", WEB)
def test_results_are_read(provider: str) -> None:
    with SearchServer(HITS, key=KEY) as server:
        answer = opened(server, provider).search("kef ls50 meta")
    first, second = answer.results
    assert (first.title, first.url) == (
        "KEF LS50 Meta",
        "https://pages.example.org/kef-ls50-meta",
    )
    assert first.text == "It costs $1,600 & has a <MAT> driver."
    assert first.published_at == AT
    assert first.image == ("" if provider == "tavily" else "https://img.example.org/ls50.png")
    assert (second.text, second.published_at) == ("The R3 has three ways.", None)
    assert (answer.provider, answer.dropped, list(answer.remarks)) == (provider, 0, [])
    assert answer.duration_ms >= 0


@pytest.mark.parametrize("provider", WEB)
def test_nothing_found_is_an_empty_answer(provider: str) -> None:
    with SearchServer(Hits(), key=KEY) as server:
        answer = opened(server, provider).search("quokka")
    assert list(answer.results) == []


def test_what_each_provider_is_asked() -> None:
    with SearchServer(HITS, key=KEY) as server:
        opened(server, "searxng", language="de", engines="wikipedia,arxiv").search("kef & co")
        opened(server, "tavily").search("kef & co", limit=5)
        opened(server, "brave", language="de").search("kef & co", limit=100)
    searxng, tavily, brave = server.searches
    assert searxng.text == tavily.text == brave.text == "kef & co"
    assert dict(searxng.options) == {
        "format": "json",
        "language": "de",
        "engines": "wikipedia,arxiv",
    }
    assert (tavily.limit, tavily.options["include_answer"]) == (5, False)
    assert (brave.limit, brave.options["search_lang"]) == (20, "de")
    assert searxng.request.method == brave.request.method == "GET"
    assert tavily.request.method == "POST"
    headers = [one.request.headers for one in server.searches]
    assert headers[0]["authorization"] == headers[1]["authorization"] == f"Bearer {KEY}"
    assert headers[2]["x-subscription-token"] == KEY
    assert "authorization" not in headers[2]


def test_an_own_searxng_needs_no_key_and_may_be_named_with_its_path() -> None:
    with SearchServer(HITS) as server:
        config = SearchConfig(provider="searxng", url=f"{server.url}/search")
        assert len(open_search(config, environ={}).search("kef").results) == 2
    assert "authorization" not in server.searches[0].request.headers


@pytest.mark.parametrize("provider", WEB)
def test_no_more_than_the_limit_is_kept(provider: str) -> None:
    many = Hits([hit(f"Page {number}", "A text.") for number in range(30)])
    with SearchServer(many, key=KEY) as server:
        search = opened(server, provider).search
        assert len(search("kef").results) == policy.SEARCH_RESULTS
        assert len(search("kef", limit=3).results) == 3
        assert len(search("kef", limit=1_000).results) == 20


@pytest.mark.parametrize("provider", WEB)
def test_private_and_odd_addresses_are_left_out_and_counted(provider: str) -> None:
    found = [
        hit("Router", "Set a new password.", url="http://192.168.1.1/admin"),
        hit("Metadata", "Keys.", url="http://169.254.169.254/latest/meta-data/"),
        hit("Own", "Files.", url="file:///etc/passwd"),
        hit("Script", "Runs.", url="javascript:alert(1)"),
        hit("Silent", "   "),
        hit("KEF", "A speaker.", image="http://127.0.0.1/pixel.png"),
    ]
    with SearchServer(Hits(found), key=KEY) as server:
        answer = opened(server, provider).search("kef")
    assert [(one.title, one.image) for one in answer.results] == [("KEF", "")]
    assert answer.dropped == 5
    assert any("5 results were left out" in remark for remark in answer.remarks)


def test_each_page_is_one_result() -> None:
    url = "https://www.example.org/kef"
    same = [url, "https://example.org/kef/", "http://example.org/kef#reviews"]
    with SearchServer(Hits([hit("KEF", "A speaker.", url=one) for one in same])) as server:
        config = SearchConfig(provider="searxng", url=server.url)
        answer = open_search(config, environ={}).search("kef")
    assert [one.url for one in answer.results] == [url]
    assert answer.dropped == 0


def test_long_and_odd_texts_are_made_fit() -> None:
    sentence = "The speaker is good. "
    found = [
        hit("A\x1b[31m title\n" + "x" * 1_000, sentence * 1_000),
        hit("", "Bell \x07 and \u202eturned\u202c and \ud800 and zero\u200bwidth."),
    ]
    with SearchServer(Hits(found)) as server:
        config = SearchConfig(provider="searxng", url=server.url)
        first, second = open_search(config, environ={}).search("kef").results
    assert "\x1b" not in first.title
    assert "\n" not in first.title
    assert len(first.title) <= 300
    assert len(f"{first.title}\n{first.text}") <= policy.RESULT_TEXT_CHARS
    assert first.text.endswith("is good.")  # no half sentence
    assert second.title == "pages.example.org"
    assert second.text == "Bell and turned and \ufffd and zerowidth."


def test_infoboxes_come_first() -> None:
    infobox = {
        "infobox": "KEF",
        "id": "https://en.example.org/wiki/KEF",
        "content": "KEF is a maker of loudspeakers.",
        "img_src": "https://img.example.org/kef.png",
        "urls": [{"title": "Site", "url": "https://kef.example.org"}],
        "attributes": [{"label": "Founded:", "value": "1961"}, {"label": "Odd"}, 7],
    }
    other = {"infobox": "KEF Ltd", "id": "Q7", "urls": [{"url": "https://kef.example.org"}]}
    found = Hits(HITS.results, infoboxes=[infobox, {**other, "content": "A firm."}, {}])
    with SearchServer(found) as server:
        config = SearchConfig(provider="searxng", url=server.url)
        answer = open_search(config, environ={}).search("kef")
    first, second = answer.results[:2]
    assert first.text == "KEF is a maker of loudspeakers.\nFounded: 1961"
    assert (first.url, first.image) == (infobox["id"], infobox["img_src"])
    assert (second.url, second.text) == ("https://kef.example.org", "A firm.")
    assert (len(answer.results), answer.dropped) == (4, 1)


def test_brave_s_marks_and_further_excerpts_are_text() -> None:
    found = {
        "url": "https://example.org/ls50",
        "title": "The <strong>LS50</strong> Meta &amp; more",
        "description": "It has a <strong>MAT</strong> driver; 5 &lt; 6.",
        "extra_snippets": ["It costs &#36;1,600.", "It costs &#36;1,600.", 7],
        "page_age": "2026-02-03T04:05:06",
    }
    reply = Reply.raw(json.dumps({"web": {"results": [found, 7]}}).encode())
    with SearchServer(reply, key=KEY) as server:
        answer = opened(server, "brave").search("ls50")
    (one,) = answer.results
    assert one.title == "The LS50 Meta & more"
    assert one.text == "It has a MAT driver; 5 < 6.\nIt costs $1,600."
    assert answer.dropped == 1


# --- how it fails ---------------------------------------------------------------------------------


def failing(provider: str, script: Reply, *, timeout_s: float = 5.0) -> SearchError:
    """Return the error of a search."""
    with SearchServer(script, key=KEY) as server:
        began = time.monotonic()
        with pytest.raises(SearchError) as caught:
            opened(server, provider, timeout_s=timeout_s, max_answer_bytes=50_000).search("kef")
        assert time.monotonic() - began < timeout_s + 2
    assert KEY not in str(caught.value)
    assert f"The search with {provider} failed" in str(caught.value)
    return caught.value


@every("provider", WEB)
@every(
    ("script", "kind"),
    [
        (Reply.status(500), SearchFailure.HTTP),
        (Reply.status(404, "no such path"), SearchFailure.HTTP),
        (Reply.status(429, f"slow down, {KEY}"), SearchFailure.REFUSED),
        (Reply.status(401), SearchFailure.REFUSED),
        (Reply.raw(b"<html>Hello</html>"), SearchFailure.HTTP),
        (Reply.raw(b""), SearchFailure.HTTP),
        (Reply.raw(b"[]"), SearchFailure.HTTP),
        (Reply.raw(b'{"results": {}, "web": []}'), SearchFailure.HTTP),
        (Reply.raw(b'{"results": 7, "web": {"results": 7}}'), SearchFailure.HTTP),
        (Reply.raw(b'{"results": ["a"'), SearchFailure.HTTP),
        (Reply.raw(b"[" * 40_000), SearchFailure.HTTP),
        (Reply.wire(b"this is no HTTP\r\n\r\n"), SearchFailure.CONNECT),
        (Reply.drop(Reply.raw(b"{}" * 100)), SearchFailure.CONNECT),
        (Reply.drop(share=0.0), SearchFailure.CONNECT),
        (Reply.huge(60_000), SearchFailure.TOO_LARGE),
        (Reply.huge(60_000, announced=False), SearchFailure.TOO_LARGE),
        (Reply.endless(), SearchFailure.TOO_LARGE),
    ],  # type: ignore[arg-type]
)
def test_every_failure_has_its_kind(provider: str, script: Reply, kind: SearchFailure) -> None:
    assert failing(provider, script).kind is kind


@pytest.mark.parametrize("provider", WEB)
@pytest.mark.parametrize(
    "script",
    [Reply.hang(), Reply.dribble(Reply.raw(b'{"results": []}'), 0.2)],
    ids=["hang", "slow"],
)
def test_the_deadline_is_for_everything_together(provider: str, script: Reply) -> None:
    assert failing(provider, script, timeout_s=0.4).kind is SearchFailure.TIMEOUT


@pytest.mark.parametrize("provider", WEB)
def test_no_redirect_is_followed(provider: str) -> None:
    with SearchServer(HITS, key=KEY) as other:
        headers = {"Location": f"{other.url}/search?q=x&secret=1"}
        moved = Reply.status(302, b"", headers=headers)
        error = failing(provider, moved)
        assert other.requests == []
    assert error.kind is SearchFailure.HTTP
    assert "redirects are not followed" in str(error)
    assert "secret" not in str(error)


@pytest.mark.parametrize("provider", WEB)
def test_a_wrong_key_is_refused(provider: str) -> None:
    with SearchServer(HITS, key="another-key") as server, pytest.raises(SearchError) as caught:
        opened(server, provider).search("kef")
    assert caught.value.kind is SearchFailure.REFUSED


@pytest.mark.parametrize("provider", WEB)
def test_nobody_there_is_said_without_the_query(provider: str) -> None:
    with SearchServer(HITS) as server:
        search = opened(server, provider).search
        server.stop()
        with pytest.raises(SearchError) as caught:
            search("my private illness")
    assert caught.value.kind is SearchFailure.CONNECT
    assert "illness" not in str(caught.value)


def test_tavily_s_own_limits_are_refusals() -> None:
    for code in (432, 433):
        said = {"detail": {"error": "This request exceeds your plan's set usage limit."}}
        error = failing("tavily", Reply.status(code, said))
        assert error.kind is SearchFailure.REFUSED
        assert "usage limit" in str(error)


def test_a_searxng_that_gives_no_json_says_what_to_do() -> None:
    with SearchServer(HITS, json_allowed=False) as server:
        config = SearchConfig(provider="searxng", url=server.url)
        with pytest.raises(SearchError) as caught:
            open_search(config, environ={}).search("kef")
    assert caught.value.kind is SearchFailure.REFUSED
    assert "add json to formats of search in its settings.yml" in str(caught.value)


def test_another_server_is_no_searxng() -> None:
    error = failing("searxng", Reply.raw(b'{"hello": "world"}'))
    assert "is the address that of a SearXNG?" in str(error)


def test_nothing_found_because_nobody_looked_is_a_failure() -> None:
    silent = {f"engine {number}": "timeout\x1b[2J" for number in range(7)}
    with SearchServer([Hits(silent=silent), Hits(HITS.results, silent=silent)]) as server:
        provider = open_search(SearchConfig(provider="searxng", url=server.url), environ={})
        with pytest.raises(SearchError) as caught:
            provider.search("kef")
        answer = provider.search("kef")
    assert caught.value.kind is SearchFailure.CONNECT
    assert "engine 0 (timeout" in str(caught.value)
    assert "and 2 more" in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(answer.results) == 2
    assert answer.remarks[0].startswith("Some engines did not answer: engine 0")


@pytest.mark.parametrize("provider", WEB)
def test_a_search_that_is_cancelled_ends_at_once_and_is_no_failure(provider: str) -> None:
    with SearchServer(Reply.hang(), key=KEY) as server:
        search = opened(server, provider, timeout_s=30).search
        token = Cancel()

        def stop() -> None:
            assert server.wait_for(1)
            token.cancel()

        stopper = threading.Thread(target=stop)
        stopper.start()
        with cancelling(token), pytest.raises(Cancelled):
            search("kef")
        stopper.join()


# --- queries --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("kef ls50 meta", "kef ls50 meta"),
        ("  kef\n\tls50 ", "kef ls50"),
        ("!!g kef", "g kef"),
        ("!wp :de <3 ?kef", "wp de 3 kef"),
        ("c++ OR (site:example.org)", "c++ OR (site:example.org)"),
        ("caf\u00e9 \u202eevil", "caf\u00e9 evil"),
    ],
)
def test_a_query_orders_nothing(query: str, asked: str) -> None:
    assert plain_query(query) == asked


@given(st.text(max_size=800))
def test_any_text_is_a_query_or_says_that_it_is_none(query: str) -> None:
    try:
        asked = plain_query(query)
    except UsageError:
        return
    assert 0 < len(asked) <= 400
    assert len(asked.split()) <= 50
    assert asked.isprintable()
    assert not any(word.startswith(("!", ":", "<", "?")) for word in asked.split())


@every("provider", WEB)
@every("query", ["", "   ", "!!", "\x00", "-"])
def test_a_query_without_a_word_is_refused(provider: str, query: str) -> None:
    with SearchServer(HITS, key=KEY) as server:
        with pytest.raises(UsageError, match="needs a word"):
            opened(server, provider).search(query)
        assert server.requests == []


@pytest.mark.parametrize("provider", WEB)
def test_a_limit_below_one_is_refused(provider: str) -> None:
    with SearchServer(HITS, key=KEY) as server, pytest.raises(UsageError, match="1 result"):
        opened(server, provider).search("kef", limit=0)


# --- small parts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("2026-02-03", 2026),
        ("2026-02-03T04:05:06Z", 2026),
        ("2026-02-03 04:05:06+0100", 2026),
        ("Tue, 03 Feb 2026 04:05:06 GMT", 2026),
        ("yesterday", None),
        ("3 hour(s), 5 minute(s) ago", None),
        ("0001-01-01T00:00:00", None),
        ("9" * 40, None),
        ("", None),
        (None, None),
        (1_700_000_000, None),
    ],
)
def test_dates(text: object, year: int | None) -> None:
    found = moment(text)
    assert (found is None) == (year is None)
    if found is not None:
        assert time.gmtime(found / 1000).tm_year == year


@given(st.text(max_size=80))
def test_any_text_is_a_date_or_none(text: str) -> None:
    assert moment(text) is None or moment(text) > 0  # type: ignore[operator]


@given(st.text(max_size=300), st.integers(1, 100))
def test_tidy_texts_are_short_clean_and_stay_as_they_are(text: str, limit: int) -> None:
    found = tidy(text, limit=limit)
    assert len(found) <= limit
    assert found == found.strip()
    assert tidy(found, limit=limit) == found
    found.encode()


def test_only_the_marks_of_hits_are_taken_away() -> None:
    assert unmarked("a <strong>b</strong> &lt;script&gt; x < y") == "a b <script> x < y"
    assert unmarked("<MAT> stays") == "<MAT> stays"


# --- what ships for tests -------------------------------------------------------------------------


def test_a_script_may_be_a_function_of_the_search() -> None:
    def found(search: Search) -> Hits:
        return Hits([hit(search.text, f"By {search.provider}.")])

    with SearchServer(found, key=KEY) as server:
        texts = [opened(server, provider).search("kef").results[0].text for provider in WEB]
    assert texts == ["By searxng.", "By tavily.", "By brave."]


def test_a_script_that_has_run_out_is_an_error() -> None:
    with SearchServer([HITS]) as server:
        provider = open_search(SearchConfig(provider="searxng", url=server.url), environ={})
        provider.search("kef")
        with pytest.raises(SearchError, match="500"):
            provider.search("kef")


def test_the_server_declines_what_the_real_ones_decline() -> None:
    from factbook.net.http import Endpoint

    with SearchServer(HITS) as server:
        endpoint = Endpoint(read_address(server.url))

        def status(path: str, body: dict[str, object] | None = None) -> int:
            return endpoint.send(path, body, timeout_s=5, max_bytes=100_000).status

        assert status("/elsewhere") == 404
        assert status("/search?format=json") == 400
        assert status("/search", {"query": "kef", "max_results": 21}) == 400
        assert status("/search", {"query": "k" * 401}) == 400
        assert status("/res/v1/web/search?q=kef&count=50") == 422
        assert status("/search?q=kef") == 200  # HTML, as of a SearXNG that is asked by a browser
    assert server.searches == []


@pytest.mark.parametrize(
    ("script", "titles"),
    [
        ((), [[], []]),
        ([hit("A", "a"), hit("B", "b")], [["A", "B"], ["A", "B"]]),
        ([[hit("A", "a")], []], [["A"], []]),
        (lambda query: [hit(query, "x")], [["one"], ["two"]]),
    ],
)
def test_the_scripted_provider(script: Any, titles: Sequence[Sequence[str]]) -> None:
    provider: SearchProvider = ScriptedSearch(script)
    found = [[one.title for one in provider.search(query).results] for query in ("one", "two")]
    assert found == titles
    assert isinstance(provider, ScriptedSearch)
    assert provider.queries == ["one", "two"]


def test_the_scripted_provider_fails_on_purpose_and_at_its_end() -> None:
    error = SearchError(kind=SearchFailure.TIMEOUT, provider="scripted", reason="slow")
    provider = ScriptedSearch([error])
    with pytest.raises(SearchError, match="slow"):
        provider.search("one")
    with pytest.raises(AssertionError, match="nothing for search 2: two"):
        provider.search("two")
