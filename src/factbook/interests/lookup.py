"""Make searches: ask the provider, keep its results as text of others, log what caused it.

A search that fails waits and is tried again, and holds up no other; a failure is never "nothing was
found". Two workers never make the same one: whoever makes it has claimed it.

This is the one place that asks a provider. What leaves the machine is redacted and passes `cleared`
first: what may be a private matter is not sent, whoever thought of it. That its owner asked for a
search is read from the command or the message that caused it. A provider that sends nothing may be
asked anything.
"""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from factbook import policy
from factbook.errors import FactbookError, SearchError, SearchFailure, StoreError, TakenOver
from factbook.gate.outgoing import OutgoingVerdict, without_contacts
from factbook.interests.enrich import may_be_enriched
from factbook.interests.privacy import verdict_on
from factbook.model.entities import SearchAnswer, SearchResult, SearchTask
from factbook.model.facts import Episode, EpisodeKind, Millis, Role, Source, Trigger, Trust
from factbook.model.interest_ops import FailSearch, RecordSearch
from factbook.model.keys import without_hidden
from factbook.model.ops import RecordEpisode, RecordSource
from factbook.net import cancel
from factbook.net.http import one_line
from factbook.redaction.labels import without_labels
from factbook.search_providers.base import is_local
from factbook.sources.told import digest
from factbook.store.derived.entities import entities_of
from factbook.store.derived.ledger import said_before
from factbook.store.derived.searches import search_logs
from factbook.store.leases import claim_search, holder_name, release_search

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.model.entities import SearchLog

_LOG = logging.getLogger(__name__)

EARLIER = 80  # ours: texts said before a message whose words stay where they stayed
ADDRESS_CHARS = 2_000  # ours: a longer address is none that a browser opens


@dataclass(slots=True, kw_only=True)
class LookupReport:
    """What one pass over the searches that wait did."""

    made: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)  # (query, why), tried again later


class Lookup:
    """Makes searches with one provider and keeps them in one store."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.store
        self._clock = context.clock
        self._redact = context.redact

    def search(
        self, query: str, *, owner: str, trigger: Trigger, episode: str = ""
    ) -> tuple[SearchAnswer, SearchLog]:
        """Search now, keep the results and return them with the log; raises SearchError.

        `episode` is the uid of the message or command that asks for it. What may be a private
        matter is not sent (`SearchFailure.WITHHELD`), unless it is asked for in so many words.
        """
        held = self._store.episode_ids([episode]).get(episode) if episode else None
        asked = self.cleared(query, owner=owner, cause=held)
        answer = self._ask(asked)
        uid = f"search:{uuid.uuid4().hex}"
        self._keep(answer, asked, owner, trigger, episode=episode, uid=uid)
        return answer, search_logs(self._store, owner, uid=uid)[0]

    def run_due(self, *, limit: int | None = None) -> LookupReport:
        """Make the searches that wait, oldest first, `limit` at most; those that fail wait longer.

        It ends early where no other would be answered: nobody is there to ask.
        """
        report = LookupReport()
        claimer, last = holder_name(), 0
        while limit is None or report.made < limit:
            cancel.check()
            task = claim_search(self._store, claimer=claimer, now=self._clock(), after=last)
            if task is None:
                break
            last = task.id
            try:
                if not self._run(task, claimer, report):
                    break
            finally:
                release_search(self._store, task.id, claimer=claimer)
        return report

    def _run(self, task: SearchTask, claimer: str, report: LookupReport) -> bool:
        """Make one search; False where the next ones would fail alike."""
        asked = self._redact(without_hidden(task.query))
        try:
            asked = self.cleared(task.query, owner=task.owner, cause=task.cause_id, task=task)
            answer = self._ask(asked)
            by = {"task_id": task.id, "claimer": claimer}
            self._keep(answer, asked, task.owner, task.trigger, **by)
        except TakenOver as error:  # its results are not ours to keep
            _LOG.info("%s", error)
            return True
        except StoreError:
            raise  # no fault of the search
        except Exception as error:  # noqa: BLE001
            # The border of untrusted text. Whatever an answer makes a provider or our own code
            # raise, it must not stop all other searches for ever, nor do so unseen: it is logged
            # with its traceback, counted in the report and in the file, shown by doctor, tried
            # again later and in the end set aside. (Also a query without a word to search for.)
            return self._failed(task, claimer, asked, error, report)
        report.made += 1
        return True

    def _failed(
        self, task: SearchTask, claimer: str, asked: str, error: Exception, report: LookupReport
    ) -> bool:
        why = str(error)
        if why and not isinstance(error, FactbookError | ValueError):
            why = f"{type(error).__name__}: {why}"  # a fault of ours, or of the provider
        said = one_line(self._redact(why or type(error).__name__))
        report.failed.append((asked, said))
        kind = error.kind if isinstance(error, SearchError) else None
        if kind is SearchFailure.NOT_CONFIGURED:
            return False  # it was not tried: its count stays
        if not isinstance(error, FactbookError):  # none of our own words: its traceback says where
            _LOG.warning("the search of task %d failed: %s", task.id, said, exc_info=error)
        # Where nobody answers, or our credentials are refused, the search itself was not tried.
        tried = kind not in (SearchFailure.CONNECT, SearchFailure.REFUSED)
        withheld = kind is SearchFailure.WITHHELD  # it would be every time
        op = FailSearch(task_id=task.id, error=said, tried=tried, aside=withheld, claimer=claimer)
        try:
            self._context.write([op], task.trigger)
        except TakenOver as taken:
            _LOG.info("%s", taken)
        return kind is not SearchFailure.CONNECT

    def cleared(
        self, query: str, *, owner: str, cause: int | None, task: SearchTask | None = None
    ) -> str:
        """Return a query as it may be asked; raises SearchError where it may not."""
        sent = without_hidden(query)
        if not self._stays_here():
            verdict = self.verdict(query, owner=owner, cause=cause, task=task)
            if not verdict.leaves:
                raise self._withheld(verdict.said)
            sent = without_contacts(sent)
        redacted = self._redact(sent)
        if asked := without_labels(redacted):
            return asked
        raise self._withheld("nothing is left to search for without the secret in it")

    def _withheld(self, why: str) -> SearchError:
        reason = self._redact(why)
        return SearchError(kind=SearchFailure.WITHHELD, provider="none", reason=reason)

    def verdict(
        self, query: str, *, owner: str, cause: int | None, task: SearchTask | None = None
    ) -> OutgoingVerdict:
        """Return whether a query may be sent to somebody, and why."""
        episode = None if cause is None else self._store.episodes_by_id([cause]).get(cause)
        if episode is not None and (episode.owner != owner or episode.role is not Role.USER):
            episode = None
        if (task is not None and task.learn_prompt_id is not None) or (
            episode is not None and episode.kind is EpisodeKind.COMMAND
        ):  # "/learn", "/search", "/schedule": that is what the command is for
            return OutgoingVerdict(leaves=True, why="you asked for it")
        if task is not None and task.entity_id is not None:
            entity = next(iter(entities_of(self._store, owner, ids=[task.entity_id])), None)
            if entity is not None and may_be_enriched(self._store, entity):
                return OutgoingVerdict(leaves=True, why=f"{entity.name} is public")
            name = "what it was about" if entity is None else entity.name
            return OutgoingVerdict(leaves=False, why=f"nothing says that {name} is public")
        message = query if episode is None else episode.text
        before = [] if episode is None else said_before(self._store, episode, limit=EARLIER)
        return verdict_on(
            self._store,
            message,
            query,
            owner=owner,
            recent=[earlier.text for earlier in before],
            pasted=() if episode is None else episode.pasted,
        )

    def _stays_here(self) -> bool:
        try:
            return is_local(self._context.resources.search_provider)
        except SearchError:  # there is none to ask, which `_ask` says
            return False

    def _ask(self, query: str) -> SearchAnswer:
        return self._context.resources.search_provider.search(query, limit=policy.SEARCH_RESULTS)

    def _keep(
        self, answer: SearchAnswer, query: str, owner: str, trigger: Trigger, **made: Any
    ) -> None:
        """Keep a search with its results, each an episode of external text.

        A page that says the same at another time is the same episode, so that it counts once.
        `made` are further fields of `RecordSearch`.
        """
        now = self._clock()
        task = str(made.get("task_id"))
        key = f"search:{digest(owner, answer.provider, query, str(now), task)}"
        source = Source(
            key=key,
            kind="search",
            host=answer.provider,
            session=key,
            uri=f"search:{query}",
            title=query,
        )
        episodes: dict[str, Episode] = {}
        for position, result in enumerate(answer.results, 1):
            episode = self._episode(result, source, owner, position=position, now=now)
            if episode is not None:
                episodes.setdefault(episode.uid, episode)
        search = RecordSearch(
            owner=owner,
            query=query,
            provider=answer.provider,
            duration_ms=answer.duration_ms,
            results=list(episodes),
            **made,
        )
        kept = [RecordEpisode(episode=episode) for episode in episodes.values()]
        self._context.write([RecordSource(source=source), *kept, search], trigger)

    def _episode(
        self, result: SearchResult, source: Source, owner: str, *, position: int, now: Millis
    ) -> Episode | None:
        redact = self._redact
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
            "provider": source.host,
            # An address that holds a secret is no picture to show.
            "image": result.image[:ADDRESS_CHARS] if redact(result.image) == result.image else "",
            "published_at": "" if result.published_at is None else str(result.published_at),
        }
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
