"""Make searches: ask the provider, keep its results as text of others, log what caused it.

A search that fails waits and is tried again; a failure is never "nothing was found". What leaves
the machine is redacted first, and so is what comes in.

Knows: providers and the store. Does not know: what the results say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from factbook import policy
from factbook.apply import apply
from factbook.errors import SearchError, SearchFailure, UsageError
from factbook.model import Episode, EpisodeKind, Millis, Receipt, Role, Source, Trigger, Trust
from factbook.ops import FailSearch, Op, RecordEpisode, RecordSearch, RecordSource
from factbook.sources.told import digest
from factbook.world import SearchAnswer, SearchResult, SearchTask

if TYPE_CHECKING:
    from factbook.searching.base import SearchProvider
    from factbook.store.base import Store
    from factbook.world import SearchLog

__all__ = ["Lookup", "LookupReport", "result_ops"]

ADDRESS_CHARS = 2_000  # ours: a longer address is none that a browser opens


@dataclass(slots=True, kw_only=True)
class LookupReport:
    """What one pass over the searches that wait did."""

    made: int = 0
    results: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)  # (query, why), tried again later
    receipt: Receipt = field(default_factory=Receipt)


class Lookup:
    """Makes searches with one provider and keeps them in one store."""

    def __init__(
        self,
        store: Store,
        *,
        provider: Callable[[], SearchProvider],
        clock: Callable[[], Millis],
        actor: str,
        redact: Callable[[str], str],
    ) -> None:
        """Compose; the provider is made when there is something to search.

        `provider` raises SearchError of the kind not_configured where there is none.
        """
        self._store = store
        self._provider = provider
        self._clock = clock
        self._actor = actor
        self._redact = redact

    def search(
        self, query: str, *, owner: str, trigger: Trigger, episode: str = ""
    ) -> tuple[SearchAnswer, SearchLog]:
        """Search now, keep the results and return them with the log; raises SearchError.

        `episode` is the uid of the message or command that asks for it.
        """
        asked = self._redact(query)
        answer = self._ask(asked)
        ops = result_ops(
            answer,
            asked,
            owner=owner,
            redact=self._redact,
            now=self._clock(),
            episode=episode,
        )
        self._apply(ops, trigger)
        log = self._store.search_logs(owner, limit=1, newest_first=True)[0]
        return answer, log

    def run_due(self, *, limit: int | None = None) -> LookupReport:
        """Make the searches that wait, oldest first; one that fails waits for a later pass."""
        report = LookupReport()
        for task in self._store.search_tasks(now=self._clock(), limit=limit):
            if not self._run(task, report):
                break
        return report

    def _run(self, task: SearchTask, report: LookupReport) -> bool:
        """Make one search; False where the next ones would fail alike."""
        try:
            answer = self._ask(self._redact(task.query))
        except UsageError as error:  # a query without a word to search for
            said = self._redact(str(error))
            report.failed.append((task.query, said))
            report.receipt.add(self._apply([FailSearch(task_id=task.id, error=said)], task.trigger))
            return True
        except SearchError as error:
            if error.kind is SearchFailure.NOT_CONFIGURED:
                report.failed.append((task.query, str(error)))
                return False  # it was not tried: its count stays
            said = self._redact(str(error))
            report.failed.append((task.query, said))
            report.receipt.add(self._apply([FailSearch(task_id=task.id, error=said)], task.trigger))
            return error.kind is not SearchFailure.CONNECT
        ops = result_ops(
            answer,
            task.query,
            owner=task.owner,
            redact=self._redact,
            now=self._clock(),
            task_id=task.id,
        )
        report.receipt.add(self._apply(ops, task.trigger))
        report.made += 1
        report.results += len(answer.results)
        return True

    def _ask(self, query: str) -> SearchAnswer:
        return self._provider().search(query, limit=policy.SEARCH_RESULTS)

    def _apply(self, ops: list[Op], trigger: Trigger) -> Receipt:
        return apply(self._store, ops, trigger=trigger, actor=self._actor, now=self._clock())


def result_ops(
    answer: SearchAnswer,
    query: str,
    *,
    owner: str,
    redact: Callable[[str], str],
    now: Millis,
    task_id: int | None = None,
    episode: str = "",
) -> list[Op]:
    """Return the ops that keep a search with its results, each an episode of external text.

    A page that says the same at another time is the same episode, so that it counts once.
    """
    key = f"search:{digest(owner, answer.provider, query, str(now), str(task_id))}"
    source = Source(
        key=key,
        kind="search",
        host=answer.provider,
        session=key,
        uri=f"search:{query}",
        title=query,
    )
    ops: list[Op] = [RecordSource(source=source)]
    uids: list[str] = []
    for position, result in enumerate(answer.results, 1):
        one = _episode(result, source, position, answer.provider, owner, redact, now)
        if one is not None and one.uid not in uids:
            uids.append(one.uid)
            ops.append(RecordEpisode(episode=one))
    ops.append(
        RecordSearch(
            owner=owner,
            query=query,
            provider=answer.provider,
            duration_ms=answer.duration_ms,
            results=uids,
            task_id=task_id,
            episode=episode,
        )
    )
    return ops


def _episode(
    result: SearchResult,
    source: Source,
    position: int,
    provider: str,
    owner: str,
    redact: Callable[[str], str],
    now: Millis,
) -> Episode | None:
    title = " ".join(redact(result.title).split())
    body = redact(result.text).strip()
    text = "\n".join(part for part in (title, body) if part)
    if not text:
        return None
    kept = text[: policy.RESULT_TEXT_CHARS]
    url = redact(result.url)[:ADDRESS_CHARS]
    attributes = {
        "url": url,
        "title": title,
        "host": host_of(url),
        "provider": provider,
        # An address that holds a secret is no picture to show.
        "image": result.image[:ADDRESS_CHARS] if redact(result.image) == result.image else "",
    }
    if result.published_at is not None:
        attributes["published_at"] = str(result.published_at)
    return Episode(
        uid=f"result:{digest(owner, url, kept)}",
        source=source.key,
        kind=EpisodeKind.SEARCH_RESULT,
        role=Role.TOOL,
        trust=Trust.EXTERNAL,
        text=kept,
        position=position,
        offset=0,
        occurred_at=now,
        owner=owner,
        session=source.key,
        attributes={name: value for name, value in attributes.items() if value},
        cut=len(text) - len(kept),
    )


def host_of(url: str) -> str:
    """Return who answers for a page: its host, or the file of one's own document."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme == "file":
        return parts.path
    return (parts.hostname or "").removeprefix("www.")
