"""Memory: open a file, put logs in, ask. Composes the parts and holds no rules itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, TypeVar, cast

import platformdirs

from factbook import policy
from factbook.caring import Caring
from factbook.confidence import as_of
from factbook.conversation import Conversation, Conversations, Parts
from factbook.errors import NotFound
from factbook.model import (
    EVERYONE,
    ME,
    Episode,
    EpisodeKind,
    Event,
    Everyone,
    Evidence,
    Fact,
    FactKind,
    Hit,
    LineCount,
    Millis,
    Receipt,
    Role,
    Source,
    StoredEpisode,
    Trigger,
    whose,
)
from factbook.recall.plan import DEFAULT_TOOL_LIMIT
from factbook.recall.search import Answer, Engine, episode_hit
from factbook.recall.when import now_ms
from factbook.store.base import (
    Filters,
    Problem,
    Rejection,
    RejectionFilters,
    SourceState,
    named_owners,
    screening,
)
from factbook.store.sqlite import Mode, SQLiteStore, SQLValue
from factbook.store.sqlite.damage import name_damage, naming_damage

if TYPE_CHECKING:
    from factbook.embed import Embedder
    from factbook.extract.rules import Rule, RuleSet
    from factbook.ingest import IngestReport, Redacting
    from factbook.llm import LLM
    from factbook.llm.config import ModelConfig
    from factbook.ops import Op
    from factbook.recall.associate import Associations
    from factbook.recall.budget import Context, ContextLimits, ToolResult
    from factbook.recall.plan import SearchType, Turn
    from factbook.recall.stream import Streamed
    from factbook.searching.base import SearchProvider
    from factbook.searching.config import SearchConfig
    from factbook.sources.original import Original
    from factbook.sources.redact.records import Screening
    from factbook.sources.session_log import Discovery

_T = TypeVar("_T")


def default_db() -> Path:
    """Return where the database is by default: $FACTBOOK_DB, else the user's data folder."""
    named = os.environ.get("FACTBOOK_DB")
    return Path(named) if named else platformdirs.user_data_path("factbook") / "factbook.db"


def default_key_file() -> Path:
    """Return where the redaction key is: $FACTBOOK_KEY_FILE, else the user's configuration folder.

    It never stands beside the database, so that a copied database gives no secret away.
    """
    named = os.environ.get("FACTBOOK_KEY_FILE")
    return Path(named) if named else platformdirs.user_config_path("factbook") / "redaction.key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything that stands behind one fact."""

    fact: Fact
    evidence: Sequence[Evidence]
    originals: Sequence[Original]  # for each evidence, the line of the log as it is now, redacted
    history: Sequence[Event]
    rule: Rule | None  # the rule of the first evidence, as it is defined now
    disputes: Sequence[Mapping[str, str]] = ()  # what waits for an answer, as in `disputed`


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleUse:
    """A rule, and how often it has fired."""

    rule: Rule
    fired: int  # evidence rows
    noise: RuleNoise | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleNoise:
    """What of a rule's facts looks like noise, by signs that need no reading."""

    facts: int
    objects: int  # distinct objects
    top_object: str  # the most frequent object
    top_share: float  # its share of the facts, 0 to 1
    rejected: int  # candidates of the rule that the gate refused
    score: float  # 0 to 1, the larger the noisier
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """The numbers of a database."""

    tenant: str
    path: Path
    size_bytes: int
    counts: dict[str, int]
    predicates: Sequence[tuple[str, float, int, int]]  # name, confidence, facts, objects
    lines: LineCount
    hosts: dict[str, int] = field(default_factory=dict)
    passive_failures: dict[str, int] = field(default_factory=dict)  # by the kind of error


@naming_damage()
@screening(at="store.screen", only=("owner", "session"))
@named_owners
class Memory(Caring):
    """One tenant's memory in one file.

    Every part that acts on the world is an argument: the clock, the embedder, the redactor and the
    rules. Use it as a context manager, or call `close`.
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
        llm: LLM | None = None,
        model: ModelConfig | Literal["configured"] | None = "configured",
        search: SearchProvider | None = None,
        search_config: SearchConfig | Literal["configured"] | None = "configured",
        notify_on: Collection[Trigger] = policy.NOTIFY_ON,
        actor: str = "python",
    ) -> None:
        """Open the file, making it where the mode is "create".

        `embedder` is the bundled model unless another is given or configured; it is loaded when
        first needed. `redact=False` keeps secrets as they are. `llm` is a language model; without
        one, `model` says how to reach one: as the environment and the configuration file have it,
        which is not at all unless they say so, or never for None. `search` is a search provider;
        without one, `search_config` says how to reach one in the same way. `notify_on` are the
        triggers whose new facts are told without being asked.
        """
        self.path = Path(path) if path is not None else default_db()
        self.store = SQLiteStore(self.path, mode=mode, screen=self._screened, readers=self._readers)
        self._clock = clock
        self._embedder = embedder
        self._redact = redact
        self._reading = mode == "read"
        self._key_file = Path(key_file) if key_file is not None else default_key_file()
        self._redactor: Redacting | None = None
        self._screening: Screening | None = None
        self._rules = rules
        self._llm = llm
        self._model = model
        self._provider = search
        self._search = search_config
        self._notify_on = frozenset(notify_on)
        self._actor = actor
        self._engine: Engine | None = None
        self._associated: Associations | None = None
        self._cared = {}
        self._conversations = Conversations(
            self,
            Parts(
                store=self.store,
                clock=clock,
                redactor=lambda: self.redactor,
                engine=lambda: self.engine,
                queue=self._queue,
                write=partial(self._apply, trigger=Trigger.USER_MESSAGE),
                reading=self._reading,
            ),
        )

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
        """End the conversations and the worker, if there are any, and close the file."""
        self._conversations.close()
        if self._worker is not None:
            self._worker.close()
            self._worker = None
        if self._engine is not None:
            self._engine.close()
        self.store.close()

    def reopen(self) -> Path | None:
        """Open what stands at the path now, after saving what only this process holds.

        For after StoreReplaced: somebody deleted or replaced the file, or its write-ahead log,
        while it was open. What was acknowledged here and stands in no file that others can open is
        written into the file where that is safe; else it becomes a copy beside it, whose path is
        returned. No other call of this memory may be under way.
        """
        self._let_go()
        return self.store.reopen()

    def _let_go(self) -> None:
        self._conversations.close()
        if self._engine is not None:
            self._engine.close()
        self._engine = None

    # --- parts, made when first needed: most commands need few of them ---------------------------

    @property
    def redactor(self) -> Redacting:
        """The redactor, with the key that stands outside the database."""
        if self._redactor is None:
            from factbook.sources.redact import NO_REDACTION, Redactor, load_key

            if not self._redact:
                self._redactor = NO_REDACTION
            elif self._reading and not self._key_file.exists():
                # Nothing is stored, so nothing need be joinable: a key for this process will do.
                self._redactor = Redactor(key=os.urandom(32))
            else:
                self._redactor = Redactor(key=load_key(self._key_file))
        return self._redactor

    def _screened(self, record: _T, /) -> _T:
        """Return a record as it may be kept: with no secret in any of its texts."""
        if not self._redact:
            return record
        if self._screening is None:
            from factbook.sources.redact.records import Screening

            # A quote is compared with its episode, which went through here: it holds no more.
            self._screening = Screening(self.redactor, without=("quote",))
        return self._screening(record)

    def _readers(self) -> dict[str, str]:
        """Return with what texts are read here: the versions of the redactor and of the rules.

        Rules that nothing was read with yet are not made ready for it.
        """
        from factbook.upkeep.readers import redactor_version, rules_version

        found = {"redactor": redactor_version(self.redactor) if self._redact else "none"}
        if self._rules is not None:
            found["rules"] = rules_version(self._rules)
        return found

    @property
    def rules(self) -> RuleSet:
        """The rules in force."""
        if self._rules is None:
            from factbook.extract.rules import RuleSet

            self._rules = RuleSet.default()
        return self._rules

    @property
    def embedder(self) -> Embedder:
        """The embedding model."""
        if self._embedder is None:
            self._embedder = self._endpoint_embedder()
        if self._embedder is None:
            from factbook.embed import bundled

            self._embedder = bundled()
        return self._embedder

    def _endpoint_embedder(self) -> Embedder | None:
        """Return the embedding endpoint where one is configured; the bundled model needs none."""
        from factbook.llm.config import ModelConfig, config_path, load_embed_config

        if self._model is None:
            return None
        if isinstance(self._model, ModelConfig):
            config = self._model.embed
        else:
            config = load_embed_config(os.environ, config_path(os.environ))
        if config is None:
            return None
        from factbook.llm.client import open_embedder

        return open_embedder(config)

    @property
    def engine(self) -> Engine:
        """The search that recall, the passive stream and `search_memory` share."""
        if self._engine is None:
            self._engine = Engine(
                store=self.store,
                embedder=lambda: self.embedder,
                rules=self.rules,
                clock=self._clock,
                redact=self.redactor.redact,
                associations=self._associations,
                cares=self.cares,
            )
        return self._engine

    def _associations(self) -> Associations:
        if self._associated is None:
            from factbook.recall.associate import Associations

            self._associated = Associations.of(self.embedder)
        return self._associated

    # --- putting in -----------------------------------------------------------------------------

    def discover(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        owner: str = ME,
        kind: str | None = None,
    ) -> Discovery:
        """Find what can be read in files and folders; without any, where the agents put their logs.

        `owner` and `kind` are those of `ingest`.
        """
        from factbook.sources.discover import discover

        return discover(paths, owner=owner, kind=kind)

    def ingest(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        found: Discovery | None = None,
        progress: Callable[[int], None] | None = None,
        workers: int | None = None,
        owner: str = ME,
        kind: str | None = None,
    ) -> IngestReport:
        """Read logs, chats and notes from where the last run stopped, and write what they say.

        `workers` processes read beside this one; None lets the amount of work decide, 0 is none.
        `owner` is whom chats and notes are about, where a file does not say; logs of agents are
        about `me`. `kind` ("session_log", "conversation", "note" or "summary") says what the files
        are where their content does not: a folder of notes is read only with it, and a summary is
        one only with it.

        Nothing is embedded here: new rows wait for `embed` and are found by text at once.
        """
        from factbook.ingest import ingest_files

        return ingest_files(
            self.store,
            found if found is not None else self.discover(paths, owner=owner, kind=kind),
            rules=self.rules,
            redactor=self.redactor,
            clock=self._clock,
            actor=self._actor,
            progress=progress,
            workers=workers,
        )

    def conversation(
        self, *, owner: str | Everyone = ME, session: str = "", share: float = 1.0
    ) -> Conversation:
        """Bind an owner and a session, for an agent's loop: turns, recall, context.

        It is the same conversation whenever it is asked for. With `share` below 1, only that share
        of all sessions has a passive stream (an A/B test). Of EVERYONE can be read only.
        """
        return self._conversations.of(owner, session, share=share)

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

    def add_turns(
        self, turns: Sequence[Turn], *, session: str = "", owner: str = ME, name: str = ""
    ) -> Receipt:
        """Keep turns in one transaction; see `Conversation.add_turns`."""
        return self.conversation(owner=owner, session=session).add_turns(turns, name=name)

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

    def record(self, source: Source, episodes: Sequence[Episode]) -> Receipt:
        """Keep the turns of a conversation as episodes of a source; their text is redacted here."""
        from factbook.apply import apply
        from factbook.ops import RecordEpisode, RecordSource

        ops: list[Op] = [RecordSource(source=source)]
        ops += [RecordEpisode(episode=one) for one in episodes]
        return apply(
            self.store, ops, trigger=Trigger.USER_MESSAGE, actor=self._actor, now=self._clock()
        )

    def waiting(self) -> int:
        """Return how many rows wait for a vector."""
        return self.store.counts_waiting()

    # --- asking ---------------------------------------------------------------------------------

    def recall(
        self, question: str, *, limit: int = policy.DEFAULT_LIMIT, filters: Filters | None = None
    ) -> Answer:
        """Answer a question with the facts and episodes that bear on it, best first."""
        return self.engine.recall(question, limit=limit, filters=filters or Filters())

    def search_memory(
        self,
        query: str,
        search_type: SearchType = "both",
        limit: int = DEFAULT_TOOL_LIMIT,
        *,
        session: str = "",
        owner: str | Everyone = ME,
    ) -> list[Hit]:
        """Search facts, episodes or both, best first; see `Conversation.search_memory`."""
        talk = self.conversation(owner=owner, session=session)
        return talk.search_memory(query, search_type, limit)

    def take(self, session: str = "", *, owner: str | Everyone = ME) -> Streamed:
        """Return what is ready for the turn that begins; see `Conversation.take`."""
        return self.conversation(owner=owner, session=session).take()

    def prefetch(self, query: str, *, owner: str | Everyone = ME) -> list[Hit]:
        """Return what a text calls to mind; see `Conversation.prefetch`."""
        return self.conversation(owner=owner).prefetch(query)

    def queue_prefetch(self, query: str, *, session: str = "", owner: str | Everyone = ME) -> bool:
        """Search in the background for the next turn; see `Conversation.queue_prefetch`."""
        return self.conversation(owner=owner, session=session).queue_prefetch(query)

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
    ) -> Context:
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

    def _facts_like(self, text: str, owner: str) -> dict[int, float]:
        filters = Filters(owner=owner, kinds=sorted(policy.MERGED_KINDS))
        return self.engine.facts_like(text, filters=filters)

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
        """Return the current facts that pass every given condition (seed 000's `query_facts`).

        Confidence is what it is now. Facts that have faded below 0.3 are left out unless
        `include_deprecated` asks for them (seed 001).
        """
        now = self._clock()
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
            now=now,
            deprecated=include_deprecated,
        )
        found = self.store.facts(filters, limit=limit, newest_first=newest_first)
        return [self._shown(as_of(one, now)) for one in found]

    def _shown(self, fact: Fact) -> Fact:
        """Redact a fact again: a rule learned today protects what was stored yesterday."""
        redact = self.redactor.redact
        object_, statement = redact(fact.object), redact(fact.statement)
        if object_ == fact.object and statement == fact.statement:
            return fact
        return replace(fact, object=object_, statement=statement)

    def explain(self, fact_id: int, *, owner: str | Everyone = ME) -> Explanation:
        """Return the evidence, the lines of the log, the rule and the history of a fact.

        Raises NotFound for an id that is unknown, or of another owner.
        """
        from factbook.sources.original import read_original

        with self.store.snapshot():
            fact = self._fact_of(fact_id, owner)
            evidence = self.store.evidence_of([fact_id])[fact_id]
            history = self.store.events_of("fact", fact_id)
        redact = self.redactor.redact
        return Explanation(
            fact=self._shown(as_of(fact, self._clock())),
            evidence=[replace(one, quote=redact(one.quote)) for one in evidence],
            originals=[
                read_original(
                    Path(one.source),
                    offset=one.offset,
                    position=one.position,
                    quote=one.quote,
                    redactor=self.redactor,
                )
                for one in evidence
            ],
            history=history,
            rule=self._rule(evidence[0].rule) if evidence else None,
            disputes=self.disputed(owner=fact.owner, among=[fact_id]).get(fact_id, ()),
        )

    def _rule(self, name: str) -> Rule | None:
        # A rule of a user may be gone since: the evidence keeps its name and method.
        return next((rule for rule in self.rules.rules if rule.name == name), None)

    def episode(self, episode_id: int, *, owner: str | Everyone = ME) -> StoredEpisode:
        """Return an episode; raises NotFound for an id that is unknown, or of another owner."""
        found = self.store.episodes_by_id([episode_id]).get(episode_id)
        if found is None or owner not in (found.owner, EVERYONE):
            raise NotFound(what="episode", name=episode_id, hint="`factbook recall` shows ids.")
        return found

    def sessions(self, *, owner: str | Everyone = ME) -> list[SourceState]:
        """Return the sources that say something of an owner, the newest first."""
        states = self.store.source_states(owner=whose(owner)).values()
        return sorted(states, key=lambda one: (one.last_at or 0, one.id), reverse=True)

    def timeline(self, *, filters: Filters | None = None, limit: int | None = 100) -> list[Hit]:
        """Return what was asked and done, in the order in which it happened, the newest part."""
        redact = self.redactor.redact
        wanted = filters or Filters()
        prompts = Filters(
            episode_kinds=(EpisodeKind.PROMPT,),
            since=wanted.since,
            until=wanted.until,
            host=wanted.host,
            project=wanted.project,
            session=wanted.session,
            owner=wanted.owner,
        )
        done = Filters(
            predicates=wanted.predicates or policy.TIMELINE_PREDICATES,
            since=wanted.since,
            until=wanted.until,
            host=wanted.host,
            project=wanted.project,
            session=wanted.session,
            owner=wanted.owner,
        )
        with self.store.snapshot():
            asked = list(self.store.episodes(prompts, limit=limit, newest_first=True))
            facts = list(self.store.facts(done, limit=limit, newest_first=True))
        rows = [episode_hit(one, text=redact(one.text)) for one in asked]
        rows += [
            Hit(
                id=f"f{one.id}",
                kind="fact",
                text=redact(one.statement),
                score=0.0,
                confidence=one.confidence,
                occurred_at=one.occurred_at,
                source="",
                position=0,
                host=one.host,
                project=one.project,
                session=one.session,
                predicate=one.predicate,
                object=redact(one.object),
                trust=one.trust,
            )
            for one in facts
        ]
        rows.sort(key=lambda hit: (hit.occurred_at or 0, int(hit.id[1:])))
        return rows if limit is None else rows[-limit:]

    # --- looking after --------------------------------------------------------------------------

    def rule_uses(self, *, noise: bool = False) -> list[RuleUse]:
        """Return every rule with how often it fired; with `noise`, what of it looks like noise."""
        fired = self.store.rule_counts()
        return [
            RuleUse(
                rule=rule,
                fired=fired.get(rule.name, 0),
                noise=self._noise(rule) if noise and fired.get(rule.name) else None,
            )
            for rule in self.rules.rules
        ]

    def _noise(self, rule: Rule) -> RuleNoise:
        from factbook.extract.rule_noise import measure_noise

        facts, rejected = self.store.rule_objects(rule.name)
        total = sum(count for _, count in facts)
        score, why = measure_noise(rule, facts, rejected)
        top, top_count = max(facts, key=lambda one: one[1], default=("", 0))
        return RuleNoise(
            facts=total,
            objects=len(facts),
            top_object=top,
            top_share=top_count / total if total else 0.0,
            rejected=rejected,
            score=score,
            why=why,
        )

    def stats(self) -> Stats:
        """Return the numbers of the database, counted now."""
        lines, hosts = LineCount(), dict[str, int]()
        with self.store.snapshot():
            for state in self.store.source_states().values():
                lines.add(state.lines)
                hosts[state.source.host] = hosts.get(state.source.host, 0) + 1
            found = Stats(
                tenant=self.store.tenant,
                path=self.path,
                size_bytes=self.path.stat().st_size,
                counts=self.store.counts(),
                predicates=self.store.predicate_counts(),
                lines=lines,
                hosts=hosts,
            )
        # Outside: they are partly this process's own, and of no moment of the file.
        return replace(found, passive_failures=self.passive_failures())

    def passive_failures(self, *, since: str = "") -> dict[str, int]:
        """Return how many passive recalls have failed and brought nothing, by the kind of error.

        Those in the file from a day ("2026-11-21", UTC) on, and those of this process that could
        not be written there.
        """
        return self._conversations.failures(since=since)

    def rejections(
        self, *, limit: int = 100, filters: RejectionFilters | None = None
    ) -> list[Rejection]:
        """Return the newest lines, candidates and memories that were refused, with the reasons."""
        redact = self.redactor.redact
        return [
            replace(one, excerpt=redact(one.excerpt), detail=redact(one.detail))
            for one in self.store.rejections(limit=limit, filters=filters)
        ]

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
        `limit` rows (None allows any number) and for one that takes longer than `seconds`.
        """
        redact = self.redactor.redact_value
        rows = self.store.sql(query, params, limit=limit, seconds=seconds)
        return [cast("dict[str, SQLValue]", redact(row)) for row in rows]

    def check(self) -> list[Problem]:
        """Audit the database; an empty list is clean."""
        return self.store.check()

    def export(self, *, owner: str | Everyone = ME) -> Iterator[dict[str, object]]:
        """Iterate over all of an owner as plain records: sources, episodes, facts, and so on.

        Of EVERYONE it is all that the file says. Of one owner beside others, the history is that of
        what is theirs: their sources, episodes, facts, entities and preferences.
        """
        if isinstance(owner, Everyone) or not self.store.has_others(owner):
            records = self.store.export()
        else:
            records = self._exported_of(owner)
        for record in records:
            safe = self.redactor.redact_value(record)
            assert isinstance(safe, dict)
            yield safe

    def _exported_of(self, owner: str) -> Iterator[dict[str, object]]:
        mine: dict[str, set[object]] = {
            "source": {one.id for one in self.store.source_states(owner=owner).values()},
            "episode": set(),
            "fact": set(),
            "entity": {one.id for one in self.store.entities(owner, include_retired=True)},
            "preference": {one.id for one in self.store.preferences(owner, include_retired=True)},
        }
        for record in self.store.export():
            kind = str(record["record"])
            if kind in ("episode", "fact") and record["owner"] == owner:
                mine[kind].add(record["id"])
            is_mine = {
                "evidence": record.get("fact_id") in mine["fact"],
                "rejection": record.get("owner") == owner,
                "event": record.get("target_id") in mine.get(str(record.get("target_kind")), ()),
            }
            if is_mine.get(kind, record.get("id") in mine.get(kind, ())):
                yield record
