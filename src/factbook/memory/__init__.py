"""Memory: open a file, put logs in, ask. Composes the parts and holds no rules itself."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, cast, overload

from factbook import policy
from factbook.context import Context, Resources, default_db, part
from factbook.errors import UsageError
from factbook.memory.typed_store import TypedStore
from factbook.model.facts import (
    ME,
    MERGED_KINDS,
    Everyone,
    Fact,
    FactKind,
    Hit,
    LineCount,
    Millis,
    Receipt,
    Role,
    SQLValue,
    Trigger,
)
from factbook.recall.plan import DEFAULT_TOOL_LIMIT
from factbook.recall.search import Answer, Engine
from factbook.recall.time_expressions import now_ms
from factbook.store import open_store
from factbook.store.damage import name_damage
from factbook.store.derived.counts import predicate_counts, row_counts
from factbook.store.derived.readers import read_by_others
from factbook.store.kinds import TOLD
from factbook.store.port import Files, Store
from factbook.store.rows import Filters, Mode, Problem

if TYPE_CHECKING:
    from factbook.embed import Embedder
    from factbook.extract.rules import RuleSet
    from factbook.interests.interests import Interests
    from factbook.interests.jobs import Background
    from factbook.language.reader.reading import Reader
    from factbook.llm import LLM
    from factbook.llm.config import ModelConfig
    from factbook.maintenance.consolidate import Resolver, RunReport
    from factbook.maintenance.embedding import EmbedReport
    from factbook.maintenance.erasure import Erasure
    from factbook.maintenance.maintenance import Maintenance
    from factbook.memory.answering import Asked
    from factbook.memory.conversation import Conversation, Conversations
    from factbook.memory.keyed import Keyed, Planner
    from factbook.memory.review import Review
    from factbook.memory.typed_memories import Typed
    from factbook.pipelines.graph import Graph
    from factbook.pipelines.imported import ImportReport
    from factbook.pipelines.keyed import Told
    from factbook.pipelines.observed import IngestReport
    from factbook.pipelines.sources import Explanation, Sources
    from factbook.recall.budget import ContextLimits, PromptContext, ToolResult
    from factbook.recall.plan import SearchType, Turn
    from factbook.recall.prefetch import Streamed
    from factbook.recall.query_expansion import Associations
    from factbook.search_providers.base import SearchProvider
    from factbook.search_providers.config import SearchConfig
    from factbook.sources.discover import Paths
    from factbook.sources.session_log import Discovery

__all__ = ["Memory", "Stats"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """The numbers of a database."""

    tenant: str
    path: str  # as messages name it: a URL where it is no file
    size_bytes: int  # 0 where it is no file
    counts: dict[str, int]
    predicates: Sequence[tuple[str, float, int, int]]  # name, confidence, facts, objects
    lines: LineCount
    hosts: dict[str, int] = field(default_factory=dict)
    passive_failures: dict[str, int] = field(default_factory=dict)  # by the kind of error
    read_by_others: int = 0  # sources that another version of the language reader has read


_T = TypeVar("_T")

_MAKING: Final = threading.RLock()  # one part may name another


class _Made(Generic[_T]):
    """A part that is made when it is first named, and is the same for all threads.

    `functools.cached_property` takes no lock from Python 3.12 on: two would have two of it.
    """

    def __init__(self, make: Callable[[Any], _T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> _Made[_T]: ...
    @overload
    def __get__(self, instance: Memory, owner: type) -> _T: ...
    def __get__(self, instance: Memory | None, owner: type) -> _Made[_T] | _T:
        if instance is None:
            return self
        with _MAKING:
            made = vars(instance)  # what stands there hides this from then on
            if self._name not in made:
                made[self._name] = self._make(instance)
            made_part: _T = made[self._name]
            return made_part


@part
class Memory:
    """One tenant's memory in one file.

    Every part that acts on the world is an argument: the clock, the embedder, the redactor and the
    rules. Use it as a context manager, or call `close`. What an agent needs is here; the rest is in
    its parts: `interests`, `keyed`, `graph`, `typed`, `review`, `sources`, `maintenance`,
    `background` and `erasure`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        mode: Mode = "create",
        clock: Callable[[], Millis] = now_ms,
        embedder: Embedder | None = None,
        redact: bool = True,
        key_file: str | os.PathLike[str] | None = None,
        rules: RuleSet | None = None,
        reader: Reader | None = None,
        llm: LLM | None = None,
        model: ModelConfig | Literal["configured"] | None = "configured",
        search: SearchProvider | None = None,
        search_config: SearchConfig | Literal["configured"] | None = "configured",
        notify_on: Collection[Trigger] | None = None,
        typed_store: str | None = None,
        tenant: str = "",
        actor: str = "python",
    ) -> None:
        """Open the file, making it where the mode is "create".

        `path` may be a URL, as `open_store` takes it; without one it is what `default_db` says.

        `embedder` is the bundled model unless another is given or configured; it is loaded when
        first needed. `reader` reads what people say, in the place of the one that ships.
        `redact=False` keeps secrets as they are. `llm` is a language model; without one, `model`
        says how to reach one: as the environment and the configuration file have it, which is not
        at all unless they say so, or never for None. `search` is a search provider; without one,
        `search_config` says how to reach one in the same way. `notify_on` are the triggers whose
        new facts are told without being asked, as configured if not given. `typed_store` is a
        `mongodb://` URL where typed memories have their record, under the name of a `tenant`;
        without them it is what $FACTBOOK_TYPED_STORE and $FACTBOOK_TENANT say, or the file alone.
        """
        self.resources = Resources(
            redact=redact,
            key_file=key_file,
            reading=mode == "read",
            rules=rules,
            reader=reader,
            embedder=embedder,
            llm=llm,
            model=model,
            open_model=self._open_model,
            search=search,
            search_config=search_config,
        )
        self.clock = clock
        self._mode = mode
        self._record = TypedStore(typed_store, tenant, reading=mode == "read")
        self._record.before_reading(
            lambda: Memory(
                path,
                mode="write",
                clock=clock,
                redact=redact,
                key_file=key_file,
                llm=llm,
                model=None,
                search_config=None,
                typed_store=typed_store,
                tenant=tenant,
                actor=actor,
            )
        )
        self.store = open_store(
            path if path is not None else default_db(),
            mode=mode,
            screen=self.resources.screened,
            over=self._over,
        )
        self._context = Context(
            store=self.store,
            clock=clock,
            actor=actor,
            resources=self.resources,
            notify_on=notify_on,
        )
        self._engine: Engine | None = None
        self._associated: Associations | None = None

    def _over(self, store: Store) -> Store:
        """Return the store of a file that is opened, with the record of typed memories if any."""
        # Secrets are the file's own: for them the record in another store is not asked.
        self.resources.keep_secrets(lambda: store.find(TOLD), lambda: store.head().commit)
        return self._record.over(store, clock=self.clock, screen=self.resources.screened)

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            name_damage(self.store, error)
        finally:
            self.close()

    def close(self) -> None:
        """End the conversations, if there are any, and close the file."""
        self._let_go()
        self.store.close()

    def reopen(self) -> Path | None:
        """Open what stands at the path now, after saving what only this process holds.

        For after StoreReplaced: somebody deleted or replaced the file, or its write-ahead log,
        while it was open. What was acknowledged here and stands in no file that others can open is
        written into the file where that is safe; else it becomes a copy beside it, whose path is
        returned. No other call of this memory may be under way.
        """
        files = self._files("a store of another kind is opened by opening the memory")
        self._let_go()
        saved = files.reopen()
        self._record.reopened(self.store)
        return saved

    @property
    def path(self) -> Path:
        """Where the file is; raises UsageError for a memory that is in no file."""
        return self._files(f"it is in {self.store.name}").path

    def _files(self, instead: str) -> Files:
        files = self.store.files
        if files is None:
            raise UsageError(detail=f"this memory is in no file of this machine; {instead}")
        return files

    def _let_go(self) -> None:
        vars(self).pop("graph", None)  # it holds what it showed last
        if "conversations" in vars(self):  # a part that nobody has named holds nothing
            self.conversations.close()
        if self._engine is not None:
            self._engine.close()
        self._engine = None

    # parts: made when first named, for each brings much code and most commands need few

    @_Made
    def conversations(self) -> Conversations:
        """The conversations that are open here, and how many passive recalls have failed."""
        from factbook.memory.conversation import Conversations

        return Conversations(self._context, self, reading=self._mode == "read")

    @_Made
    def interests(self) -> Interests:
        """What its owners care about: learn, like, look up, schedule, mute."""
        from factbook.interests.interests import Interests

        return Interests(self._context)

    @_Made
    def background(self) -> Background:
        """What is done when nobody acts, step by step or by a worker."""
        from factbook.interests.jobs import Background

        return Background(self._context, self.interests)

    @_Made
    def keyed(self) -> Keyed:
        """Facts under keys: operations, plans, lists."""
        from factbook.memory.keyed import Keyed

        return Keyed(self._context)

    @_Made
    def graph(self) -> Graph:
        """The graph that an agent keeps: entities, observations, relations."""
        from factbook.pipelines.graph import Graph

        return Graph(self._context)

    @_Made
    def typed(self) -> Typed:
        """Typed memories out of summaries, and what a model reads in commands and turns."""
        from factbook.memory.typed_memories import Typed

        return Typed(
            self._context, like=self._facts_like, near=self._facts_near, record=self._record
        )

    @_Made
    def review(self) -> Review:
        """What waits for a person's word, and what that word does."""
        from factbook.memory.review import Review

        return Review(self._context, like=self._facts_like)

    @_Made
    def sources(self) -> Sources:
        """What was read: logs, chats, notes, their episodes, and what was refused."""
        from factbook.pipelines.sources import Sources

        return Sources(self._context)

    @_Made
    def maintenance(self) -> Maintenance:
        """What looks after what is there: the queue, the night, the counts."""
        from factbook.maintenance.maintenance import Maintenance

        return Maintenance(self._context, near=self._facts_near)

    @_Made
    def erasure(self) -> Erasure:
        """What erases for good, and shows that it is gone."""
        from factbook.maintenance.erasure import Erasure

        return Erasure(self._context, let_go=self._let_go, record=lambda: self._record.name)

    def _open_model(self, config: ModelConfig) -> LLM:
        from factbook.maintenance.meter import open_metered

        return open_metered(self._context, config)

    @property
    def engine(self) -> Engine:
        """The search that recall, the passive stream and `search_memory` share."""
        if self._engine is None:
            self._engine = Engine(
                store=self.store,
                embedder=lambda: self.resources.embedder,
                rules=self.resources.rules,
                clock=self._context.clock,
                redact=self._context.redact,
                associations=self._associations,
                is_interested=lambda owner, entity: self.interests.is_interested(owner, entity),
            )
        return self._engine

    def _associations(self) -> Associations:
        if self._associated is None:
            from factbook.recall.query_expansion import Associations

            self._associated = Associations.of(self.resources.embedder)
        return self._associated

    def _facts_like(self, text: str, owner: str) -> dict[int, float]:
        filters = Filters(owner=owner, kinds=MERGED_KINDS)
        return self.engine.facts_like(text, filters=filters)

    def _facts_near(self, text: str, owner: str) -> dict[int, float]:
        filters = Filters(owner=owner, kinds=[FactKind.STATEMENT, FactKind.DIRECTIVE])
        return self.engine.facts_like(text, filters=filters)

    def ingest(
        self,
        paths: Paths | None = None,
        *,
        discovery: Discovery | None = None,
        progress: Callable[[int], None] | None = None,
        workers: int | None = None,
        owner: str = ME,
        kind: str | None = None,
    ) -> IngestReport:
        """Read logs, chats and notes from where the last run stopped, and write what they say.

        `paths` are files and folders, one or several; an empty list is nothing to read. Only
        without them are the logs of the agents on this machine read, where agents put them.
        `workers` processes read beside this one; None lets the amount of work decide, 0 is none.
        `owner` is whom they are about, where a file does not say; one file may be read for two
        owners. `kind` ("session_log", "conversation", "note" or "summary") says what the files
        are where their content does not: a folder of notes is read only with it, and a summary is
        one only with it.

        Nothing is embedded here: new rows wait for `embed` and are found by text at once.
        """
        from factbook.pipelines.observed import ingest_files

        return ingest_files(
            self._context,
            self.sources.discover(paths, owner=owner, kind=kind)
            if discovery is None
            else discovery,
            progress=progress,
            workers=workers,
        )

    def read_directives(self, *, pages: int | None = None) -> None:
        """Read the rules and decisions of new prompts, of at most so many pages of episodes.

        Raises ReaderError where the reader cannot be loaded.
        """
        from factbook.pipelines.directives import read_directives

        read_directives(self._context, pages=pages)

    def conversation(
        self, *, owner: str | Everyone = ME, session: str = "", share: float = 1.0
    ) -> Conversation:
        """Bind an owner and a session, for an agent's loop: turns, recall, context.

        It is the same conversation whenever it is asked for. With `share` below 1, only that share
        of all sessions has a passive stream (an A/B test). Of EVERYONE can be read only.
        """
        return self.conversations.of(owner, session, share=share)

    def add_turn(
        self,
        text: str,
        *,
        role: Role | str = Role.USER,
        session: str = "",
        occurred_at: Millis | None = None,
        uid: str | None = None,
        owner: str = ME,
        name: str = "",
        pasted: Sequence[tuple[int, int]] = (),
    ) -> Receipt:
        """Keep one turn of a conversation; see `Conversation.add_turn`."""
        talk = self.conversation(owner=owner, session=session)
        return talk.add_turn(
            text, role=role, occurred_at=occurred_at, uid=uid, name=name, pasted=pasted
        )

    def sync_turn(
        self,
        user: str,
        assistant: str = "",
        *,
        session: str = "",
        owner: str = ME,
        at: Millis | None = None,
    ) -> Receipt:
        """Keep a turn that has ended and look ahead; see `Conversation.sync_turn`."""
        return self.conversation(owner=owner, session=session).sync_turn(user, assistant, at=at)

    def remember(self, text: str, *, owner: str = ME, at: Millis | None = None) -> Fact:
        """Keep a statement that a person gives as a fact; see `Review.remember`."""
        return self.review.remember(text, owner=owner, at=at)

    def correct(self, fact_id: int, text: str, *, owner: str = ME) -> Fact:
        """Put a statement in the place of a fact; see `Review.correct`."""
        return self.review.correct(fact_id, text, owner=owner)

    def forget(self, what: int | str, *, owner: str = ME) -> None:
        """Leave a fact (12 or "f12") or a thing (by its name) out of all that is recalled.

        It can be brought back: `review.feedback(id, right=True)`, `interests.restore_entity(name)`.
        What is to be gone for good, `erasure` takes. Raises NotFound.
        """
        text = str(what)
        number = text.removeprefix("f")
        if number.isascii() and number.isdigit():
            self.review.feedback(int(number[:19]), right=False, owner=owner)
        else:
            self.interests.delete_entity(text, owner=owner)

    def tell(
        self,
        message: str,
        *,
        owner: str = ME,
        planner: Planner = "model",
        atomic: bool = True,
        at: Millis | None = None,
        message_id: str | None = None,
    ) -> Told:
        """Turn a message into operations on keyed facts, and apply them; see `Keyed.tell`."""
        return self.keyed.tell(
            message, owner=owner, planner=planner, atomic=atomic, at=at, message_id=message_id
        )

    def embed(
        self, *, limit: int | None = None, progress: Callable[[int], None] | None = None
    ) -> EmbedReport:
        """Give waiting rows their vectors; see `Maintenance.embed`."""
        return self.maintenance.embed(limit=limit, progress=progress)

    def consolidate(
        self,
        *,
        dry_run: bool = False,
        resolver: Resolver | None = None,
        on_phase: Callable[[str], None] | None = None,
        on_done: Callable[[Store, RunReport], None] | None = None,
    ) -> RunReport:
        """Do the nightly work; see `Maintenance.consolidate`."""
        return self.maintenance.consolidate(
            dry_run=dry_run, resolver=resolver, on_phase=on_phase, on_done=on_done
        )

    def recall(
        self,
        question: str,
        *,
        limit: int = policy.DEFAULT_LIMIT,
        filters: Filters | None = None,
        turns: bool = True,
        owner: str | Everyone = ME,
    ) -> Answer:
        """Answer a question with the facts and episodes that bear on it, best first.

        What agents' logs hold is shown by turns, each once; by single records without `turns`. It
        is asked of the memory of `owner`, or where that is left out of whom `filters` name.
        """
        filters = filters or Filters()
        if owner != ME:
            filters = replace(filters, owner=self.conversation(owner=owner).owner)
        return self.engine.recall(question, limit=limit, filters=filters, turns=turns)

    def search_memory(
        self,
        query: str,
        search_type: SearchType = "both",
        limit: int = DEFAULT_TOOL_LIMIT,
        *,
        filters: Filters | None = None,
        as_of: Millis | None = None,
        session: str = "",
        owner: str | Everyone = ME,
    ) -> list[Hit]:
        """Search facts, episodes or both, best first; see `Conversation.search_memory`."""
        talk = self.conversation(owner=owner, session=session)
        return talk.search_memory(query, search_type, limit, filters=filters, as_of=as_of)

    def take_prefetched(self, session: str = "", *, owner: str | Everyone = ME) -> Streamed:
        """Return what is ready for the turn that begins; see `Conversation.take`."""
        return self.conversation(owner=owner, session=session).take_prefetched()

    def context(
        self,
        question: str = "",
        *,
        recent: Sequence[Turn] = (),
        tool_results: Sequence[ToolResult] = (),
        memories: Sequence[Hit] | None = None,
        system: str = "",
        limits: ContextLimits | None = None,
        count_tokens: Callable[[str], int] | None = None,
        session: str = "",
        owner: str | Everyone = ME,
    ) -> PromptContext:
        """Build the context of a turn within its budget; see `Conversation.context`."""
        return self.conversation(owner=owner, session=session).context(
            question,
            recent=recent,
            tool_results=tool_results,
            memories=memories,
            system=system,
            limits=limits,
            count_tokens=count_tokens,
        )

    def ask(
        self,
        question: str,
        *,
        owner: str = ME,
        planner: Planner = "model",
        exclude_message: str | None = None,
    ) -> Asked:
        """Answer a question from keyed facts; see `Keyed.ask`."""
        return self.keyed.ask(
            question, owner=owner, planner=planner, exclude_message=exclude_message
        )

    def query_facts(
        self,
        *,
        predicate: str | Sequence[str] | None = None,
        min_confidence: float = 0.0,
        subject: str = "",
        object: str = "",  # the seeds' own word for this part of a fact
        kind: FactKind | None = None,
        since: Millis | None = None,
        until: Millis | None = None,
        host: str = "",
        project: str = "",
        session: str = "",
        owner: str | Everyone = ME,
        limit: int | None = None,
        newest_first: bool = False,
        include_deprecated: bool = False,
    ) -> list[Fact]:
        """Return the current facts that pass every given condition.

        Confidence is what it is now. Facts that have faded below 0.3 are left out unless
        `include_deprecated` asks for them (origins 001.3).
        """
        from factbook.recall.facts import query_facts

        predicates = [predicate] if isinstance(predicate, str) else list(predicate or ())
        filters = Filters(
            predicates=predicates,
            min_confidence=min_confidence,
            subject=subject,
            object=object,
            kinds=[kind] if kind else (),
            since=since,
            until=until,
            host=host,
            project=project,
            session=session,
            owner=owner,
            deprecated=include_deprecated,
        )
        return query_facts(self._context, filters, limit=limit, newest_first=newest_first)

    def explain(self, fact_id: int, *, owner: str | Everyone = ME) -> Explanation:
        """Return the evidence, the lines of the log, the rule and the history of a fact.

        Raises NotFound for an id that is unknown, or of another owner.
        """
        from factbook.pipelines.sources import explain

        explanation = explain(self._context, fact_id, owner=owner)
        disputes = self.review.disputed(owner=explanation.fact.owner, among=[fact_id])
        return replace(explanation, disputes=disputes.get(fact_id, ()))

    def stats(self) -> Stats:
        """Return the numbers of the database, counted now."""
        lines, hosts = LineCount(), dict[str, int]()
        with self.store.snapshot():
            for state in self.store.sources():
                lines.add(state.lines)
                hosts[state.source.host] = hosts.get(state.source.host, 0) + 1
            files = self.store.files
            stats = Stats(
                tenant=self.store.tenant,
                path=self.store.name,
                size_bytes=files.path.stat().st_size if files and files.path.is_file() else 0,
                counts=row_counts(self.store),
                predicates=predicate_counts(self.store),
                lines=lines,
                hosts=hosts,
                read_by_others=len(read_by_others(self.store, self.resources.reader_version)),
            )
        # Outside: they are partly this process's own, and of no moment of the file.
        return replace(stats, passive_failures=self.conversations.failures())

    def sql(
        self,
        query: str,
        params: Sequence[SQLValue] | Mapping[str, SQLValue] = (),
        *,
        limit: int | None = policy.SQL_ROWS,
        seconds: float = policy.SQL_SECONDS,
    ) -> list[dict[str, SQLValue]]:
        """Return the rows of one SELECT as dicts by column; texts are redacted again.

        `params` are the values of `?`, or of `:name` where it is a mapping. It reads the views of
        the seeds (`facts`, `sessions`, ...) and every table, of every owner; it writes nothing.
        Unlike Python's own `sqlite3` in this process, it disturbs no lock of ours.
        A name that two columns share is numbered: `id`, `id_2`. Vectors and digests are bytes.

        Raises UsageError for a statement that is wrong or does anything but read, for more than
        `limit` rows (None allows any number), for one that takes longer than `seconds`, and for a
        memory that is in no file.
        """
        files = self._files("plain SQL needs one; `export` gives every row")
        redact = self.resources.redactor.redact_value
        with self.store.snapshot():
            pass  # what others put into a record elsewhere is in the file from here on
        rows = files.sql(query, params, limit=limit, seconds=seconds)
        return [cast("dict[str, SQLValue]", redact(row)) for row in rows]

    def check(self) -> list[Problem]:
        """Audit the database; an empty list is clean."""
        return self.store.check()

    def import_(
        self,
        exported: str | os.PathLike[str] | Iterable[Mapping[str, object]],
        *,
        dry_run: bool = False,
        progress: Callable[[int], None] | None = None,
        owner: str = ME,
    ) -> ImportReport:
        """Put an export back: a file of JSON lines, or the records of `export`.

        Into an empty memory it is a faithful restore. Into another one it joins: what both know is
        there once, and the same file again changes nothing. What was erased here stays erased. The
        rows then wait for `embed`. `progress` is told the bytes, or records, of each step. A file
        of @modelcontextprotocol/server-memory joins the graph of `owner`.

        Raises UsageError for what is no export, or one of a newer factbook, and for an owner of an
        export, which says itself whose all of it is.
        """
        from factbook.pipelines.imported import form_of, import_records

        given = Path(exported) if isinstance(exported, str | os.PathLike) else exported
        if isinstance(given, Path) and form_of(given) == "graph":
            from factbook.pipelines.graph_file import import_graph

            return import_graph(
                self._context, given, owner=owner, dry_run=dry_run, progress=progress
            )
        if owner != ME:
            raise UsageError(detail="an export says whose it is; an owner is for a memory.json")
        return import_records(self._context, given, dry_run=dry_run, progress=progress)

    def export(self, *, owner: str | Everyone = ME) -> Iterator[dict[str, object]]:
        """Iterate over all of an owner as plain records, a header first (see `docs/export.md`).

        Of EVERYONE it is all that the file says. Of one owner beside others, the history is that of
        what is theirs: their sources, episodes, facts, entities and preferences.
        """
        from factbook.store.transfer import exported

        redact = self.resources.redactor.redact_value
        for record in exported(self.store, owner):
            yield cast("dict[str, object]", redact(record))
