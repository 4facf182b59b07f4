"""What a search provider is, and what every result of one is held to.

Results are text of others: they are never obeyed, and what they may do is decided where they are
read. Here they are made fit to be kept: plain text without control characters, cut to a length,
each address once, none that is private or odd. What was left out is counted.
"""

from __future__ import annotations

import html
import re
import time
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Protocol
from urllib.parse import urldefrag, urlsplit

from factbook import policy
from factbook.errors import UsageError
from factbook.language.sentences import last_end
from factbook.model.entities import SearchAnswer, SearchResult
from factbook.model.facts import Millis
from factbook.net.address import is_public
from factbook.net.http import encodable

TITLE_CHARS: Final = 300  # ours: of the title of a result
QUERY_CHARS: Final = 400  # Brave's and Tavily's limit; more is no query
QUERY_WORDS: Final = 50  # Brave's
LIMIT_MOST: Final = 20  # Brave's and Tavily's: results of one request

_SPACE: Final = re.compile(r"[^\S\n]+")
_BLANK: Final = re.compile(r"\n{3,}")
# The tags that providers mark hits with; anything else in angle brackets is text.
_MARK: Final = re.compile(
    r"</?(?:strong|b|em|i|u|mark|span|code|br|p|q|sub|sup)\b[^<>]{0,200}>", re.I
)
_BANG: Final = "!:<?"  # what turns a word into an order to a metasearch engine, at its beginning


class SearchProvider(Protocol):
    """Somebody to ask; safe to share between threads.

    One that reads this machine alone says so with `local = True`: to ask it sends nothing, so it
    may be asked what is private. What passes a query on is not local, wherever it runs itself.
    """

    @property
    def id(self) -> str:
        """What it is, for the records: "searxng"."""
        ...

    def search(self, query: str, *, limit: int = policy.SEARCH_RESULTS) -> SearchAnswer:
        """Return what is found, best first; an empty answer says that nothing was.

        Any text is a legal query. Raises SearchError, whose kind says how it failed, UsageError
        for a query without a word, and `Cancelled` where the caller is told to stop.
        """
        ...


def is_local(provider: SearchProvider) -> bool:
    """Tell whether a provider sends nothing anywhere; one that does not say so is taken to."""
    return getattr(provider, "local", False) is True


def plain_query(query: str) -> str:
    """Return a query that is searched for and orders nothing.

    Metasearch engines read `!w kef` as "ask Wikipedia", `!!g` as "send the user elsewhere" and
    `:de` as a language; those signs are taken away. Raises UsageError where no word is left.
    """
    shown = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in query)
    kept = [bare for word in shown.split() if (bare := word.lstrip(_BANG))][:QUERY_WORDS]
    text = " ".join(kept)
    if len(text) > QUERY_CHARS:
        cut = text[:QUERY_CHARS]
        text = cut.rpartition(" ")[0] or cut
    if not any(char.isalnum() for char in text):
        raise UsageError(detail="A search needs a word to look for; none was given.")
    return text


def bounded(limit: int, *, most: int = LIMIT_MOST) -> int:
    """Return how many results to ask for; raises UsageError for less than one."""
    if limit < 1:
        raise UsageError(detail=f"A search gives 1 result or more; {limit} was asked for.")
    return min(limit, most)


def room_below(title: str) -> int:
    """Return how many characters a result may have beside its title: both are kept as one text."""
    return policy.RESULT_TEXT_CHARS - len(title) - 1


def unmarked(text: str) -> str:
    """Return what a provider sends as HTML as text: without the tags that mark its hits."""
    return html.unescape(_MARK.sub("", text))


def tidy(text: str, *, limit: int) -> str:
    """Return a text without control characters and spare spaces.

    A long one is cut where a sentence or a line ends, so that no half sentence is taken for one.
    """
    # the cut comes first: an answer may be megabytes long
    plain = encodable(text[: 4 * limit]).replace("\r\n", "\n").replace("\r", "\n")
    plain = "".join(_kept(char) for char in plain)
    lines = [line.strip() for line in _SPACE.sub(" ", plain).split("\n")]
    plain = _BLANK.sub("\n\n", "\n".join(lines)).strip()
    if len(plain) <= limit:
        return plain
    cut = plain[:limit]
    at = last_end(cut, limit // 2) or cut.rfind(" ", limit // 2)
    return cut[: at if at > 0 else limit].rstrip()


def _kept(char: str) -> str:
    # format characters stay but for those that turn the direction of reading or hide text: in
    # many languages they stand inside words
    if char == "\n" or char.isprintable():
        return char
    if char in "\u200c\u200d":
        return char
    return " " if unicodedata.category(char) in ("Cc", "Zl", "Zp", "Zs") else ""


def moment(text: object) -> Millis | None:
    """Read a date as providers write it (ISO 8601, or as in mail); None where it is none."""
    if not isinstance(text, str) or not 8 <= len(text.strip()) <= 64:
        return None
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        try:
            at = parsedate_to_datetime(text.strip())
        except ValueError:
            return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    try:
        millis = int(at.timestamp() * 1000)
    except (OverflowError, ValueError):
        return None
    return millis if millis > 0 else None


def answer_of(
    provider: str,
    raw: Iterable[SearchResult | None],
    *,
    limit: int,
    began: float,
    remarks: Sequence[str] = (),
) -> SearchAnswer:
    """Return the answer that a provider's raw results make: tidy, bounded, each address once.

    None stands for something that was no result. Only `limit` results are kept; those behind them
    are not counted as dropped, nor is the second of two with the same address. `began` is on the
    monotonic clock.
    """
    results: list[SearchResult] = []
    seen: set[str] = set()
    dropped = 0
    for search_result in raw:
        if len(results) >= limit:
            break
        kept = None if search_result is None else _clean(search_result)
        if kept is None:
            dropped += 1
            continue
        same = _identity(kept.url)
        if same not in seen:
            seen.add(same)
            results.append(kept)
    if dropped:
        what = "result was" if dropped == 1 else "results were"
        why = "without text, or of an address that is private or odd"
        remarks = (*remarks, f"{dropped} {what} left out: {why}.")
    return SearchAnswer(
        provider=provider,
        results=results,
        duration_ms=int((time.monotonic() - began) * 1000),
        dropped=dropped,
        remarks=tuple(remarks),
    )


def _clean(search_result: SearchResult) -> SearchResult | None:
    url = search_result.url.strip()
    if not is_public(url):
        return None
    title = " ".join(tidy(search_result.title, limit=TITLE_CHARS).split())
    title = title or (urlsplit(url).hostname or url)
    text = tidy(search_result.text, limit=room_below(title))
    if not text:
        return None
    image = search_result.image.strip()
    return SearchResult(
        title=title,
        url=url,
        text=text,
        image=image if is_public(image) else "",
        published_at=search_result.published_at,
    )


def _identity(url: str) -> str:
    """Return what two addresses of one page have in common."""
    parts = urlsplit(urldefrag(url).url)
    host = (parts.hostname or "").removeprefix("www.")
    return f"{host}:{parts.port or ''}{parts.path.rstrip('/')}?{parts.query}"
