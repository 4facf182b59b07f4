"""How a memory stands: what waits, what was asked in vain, what changed, what took a fact's place.

Everything here is composed of reads of the store and of pure functions; nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.errors import NotFound
from factbook.language.values import count, moment
from factbook.model.confidence import as_of
from factbook.model.facts import EVERYONE, ME, EpisodeKind, Everyone
from factbook.pipelines.noting import forgotten_lately, session_key, stated_lately
from factbook.store.damage import NOT_SEEN as NOT_SEEN
from factbook.store.derived.counts import count_waiting, fact_states, row_counts
from factbook.store.derived.facts import fact_by_id
from factbook.store.derived.searches import search_logs
from factbook.store.derived.tasks import open_tasks
from factbook.store.kinds import EPISODE
from factbook.store.leases import set_aside
from factbook.store.rows import Filters

if TYPE_CHECKING:
    from factbook.extract.rules import RuleSet
    from factbook.maintenance.changes_report import Account
    from factbook.maintenance.maintenance import ReaderUse
    from factbook.maintenance.metrics import Metrics, Share
    from factbook.memory import Memory
    from factbook.model.facts import Fact, Millis, ModelTask, Run
    from factbook.pipelines.noting import Stated
    from factbook.store.port import Store

_WHAT_CHARS: Final = 80  # of the text of an input that a model did not answer for
_ASKS: Final[Mapping[str, str]] = {
    "commands": "factbook extract --commands",
    "judge": "factbook consolidate",
    "turns": "factbook extract --turns",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Living:
    states: Mapping[str, int]  # active, tool_only, deprecated, superseded, merged_into, ...
    waiting: int  # rows that wait for a vector
    outdated: int  # vectors that say what an older factbook embedded by
    aside: int  # rows that cannot be embedded
    pairs_waiting: int
    proposals_open: int
    noted_lately: int  # that models stated of their own accord, in 24 hours
    unanswered: Sequence[Unanswered]
    last_run: Run | None
    metrics: Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """An input that a language model gave no usable answer for."""

    kind: str  # typed, tell, commands, turns or judge
    ids: Sequence[str]  # the episode ("e3"), or the two facts of a pair ("f2", "f8")
    what: str  # the beginning of its text, redacted
    aside: bool  # not asked about again before `factbook extract --retry`
    attempts: int
    reason: str  # of the last one, redacted
    until: Millis  # asked about again from then on; of what is set aside it means nothing

    @property
    def command(self) -> str:
        """Return what to type to have it asked about again."""
        command = _ASKS.get(self.kind, "factbook extract")
        if not self.aside:
            return f"`{command}`"
        if self.kind == "judge":
            return f"`factbook extract --retry` and then `{command}`"
        return f"`{command} --retry`"

    @property
    def tried(self) -> str:
        """Say how often it was asked about, and from when on it is asked about again."""
        times = count(self.attempts, "failure") if self.attempts else "no answer yet"
        return times if self.aside else f"{times}, again from {moment(self.until)} on"


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """A fact that took the place of another one."""

    how: str  # "merged into" or "superseded by"
    fact: Fact


def living(memory: Memory, *, now: Millis) -> Living:
    from factbook.maintenance.embedding import outdated
    from factbook.maintenance.metrics import believed, compute, day_counts, injections
    from factbook.maintenance.verdict_queue import judged_pairs

    store = memory.store
    with store.snapshot():
        states = fact_states(store, now=now)
        aside = len(set_aside(store))
        pairs = judged_pairs(store)
        runs = memory.maintenance.runs(limit=1)
        return Living(
            states=states,
            waiting=max(0, count_waiting(store) - aside),  # what is set aside waits no more
            outdated=outdated(store),
            aside=aside,
            pairs_waiting=sum(
                1 for pair in pairs if pair.relation == "ambiguous" and not pair.verdict
            ),
            proposals_open=len(memory.review.proposals(owner=EVERYONE)),
            noted_lately=stated_lately(store, EVERYONE, now=now).in_day,
            unanswered=unanswered(memory),
            last_run=runs[0] if runs else None,
            metrics=compute(
                day_counts=day_counts(store),
                injections=injections(store),
                pairs=pairs,
                states=states,
                believed=believed(store, now=now),
            ),
        )


def held(memory: Memory, owner: str, *, session: str) -> dict[str, object]:
    """Count what is held of an owner, and what models stated and forgot in a client's session.

    Numbers alone, for a model may see them: facts by their state, what was done of its own accord,
    and the limits of that.
    """
    store, now, key = memory.store, memory.clock(), session_key(owner, session)
    with store.snapshot():
        made = stated_lately(store, owner, session=key, now=now)
        left_out = forgotten_lately(store, owner, session=key, now=now)
        return {
            "facts": fact_states(store, now=now, owner=owner),
            "episodes": len(store.ids("episode", Filters(owner=owner))),
            "proposals_open": len(memory.review.proposals(owner=owner)),
            "noted_in_session": made.in_session,
            "noted_in_session_most": policy.NOTED_IN_SESSION,
            "noted_in_day": made.in_day,
            "noted_in_day_most": policy.NOTED_IN_DAY,
            "forgotten_in_session": left_out.in_session,
            "forgotten_in_session_most": policy.FORGOTTEN_IN_SESSION,
            "forgotten_in_day": left_out.in_day,
            "forgotten_in_day_most": policy.FORGOTTEN_IN_DAY,
        }


def noted_lately(memory: Memory) -> dict[str, Stated]:
    """Return what models stated of their own accord in 24 hours, by owner."""
    store, now = memory.store, memory.clock()
    groups = store.tally(EPISODE, ("owner",), {"owner": EVERYONE, "kind": EpisodeKind.COMMAND})
    made = {owner: stated_lately(store, owner, now=now) for (owner,) in sorted(groups)}
    return {owner: stated for owner, stated in made.items() if stated.in_day}


def unanswered(
    memory: Memory, *, owner: str | Everyone = ME, store: Store | None = None
) -> list[Unanswered]:
    """Return what a model was asked about in vain: what is set aside first, then by its time.

    The words are shown of what is the owner's; the rest is counted alike. `store` is the copy that
    a rehearsal works on.
    """
    store, redact = store or memory.store, memory.resources.redactor.redact
    tasks = sorted(open_tasks(store), key=lambda task: task.state != "aside")
    if not tasks:
        return []
    from factbook.maintenance.verdict_queue import TASK, pair_of, waiting_pairs
    from factbook.pipelines.world import SEARCH_TASK

    pairs = {task.target: pair_of(task.target) for task in tasks if task.kind == TASK}
    facts = store.facts_by_id(sorted({number for pair in pairs.values() for number in pair}))
    undecided = {pair[:2] for pair in waiting_pairs(store)} if pairs else set()

    def waits(task: ModelTask) -> bool:
        # The next night forgets a pair that was decided since, or whose facts hold no more.
        pair = pairs.get(task.target) if task.kind == TASK else None
        return pair is None or (
            pair in undecided
            and all(number in facts and facts[number].retired_at is None for number in pair)
        )

    tasks = [task for task in tasks if waits(task)]
    episodes = store.episodes_by_id(sorted({task.target for task in tasks if task.kind != TASK}))
    texts = {e.id: e.text for e in episodes.values() if owner in (e.owner, EVERYONE)}
    made = [task.target for task in tasks if task.kind == SEARCH_TASK]
    queries = {log.id: log.query for log in search_logs(store, owner, ids=made)} if made else {}

    def shown(task: ModelTask) -> Unanswered:
        if task.kind == TASK:
            numbers = pairs[task.target]
            ids = tuple(f"f{number}" for number in numbers)
            said = [
                facts[number].statement
                for number in numbers
                if number in facts and owner in (facts[number].owner, EVERYONE)
            ]
        elif task.kind == SEARCH_TASK:
            ids = (f"search {task.target}",)
            said = [queries.get(task.target, "")]
        else:
            ids = (f"e{task.target}",)
            said = [texts.get(task.target, "")]
        # Redacted before it is cut: half of a secret is not known for one.
        words = " | ".join(" ".join(redact(text).split()) for text in said)
        short = words if len(words) <= _WHAT_CHARS else words[: _WHAT_CHARS - 1].rstrip() + "…"
        return Unanswered(
            kind=task.kind,
            ids=ids,
            what=short,
            aside=task.state == "aside",
            attempts=task.attempts,
            reason=redact(task.error),
            until=task.until,
        )

    return [shown(task) for task in tasks]


def passive_by_day(memory: Memory) -> Mapping[str, Share]:
    """Return, by day, which share of what was streamed into turns was used there."""
    from factbook.maintenance.metrics import injections
    from factbook.maintenance.metrics import passive_by_day as by_day

    return by_day(injections(memory.store))


def believed_now(memory: Memory, *, now: Millis) -> list[float]:
    from factbook.maintenance.metrics import believed

    return [value for value, _ in believed(memory.store, now=now)]


def successors(memory: Memory, fact: Fact) -> list[Successor]:
    """Follow what took the place of a fact, to the one that holds now."""
    store = memory.store
    chain: list[Successor] = []
    seen = {fact.id}
    while True:
        merged = fact.merged_into_id
        number = merged if merged is not None else fact.superseded_by
        if number is None or number in seen:
            return chain
        seen.add(number)
        following = fact_by_id(store, number)
        if following is None:
            return chain
        how = "merged into" if merged is not None else "superseded by"
        chain.append(Successor(how=how, fact=following))
        fact = following


def replaced_by(memory: Memory, fact_id: int, *, since: Millis) -> list[tuple[Fact, str]]:
    """Return what a fact took the place of since a moment, as it is now, and why; redacted."""
    from factbook.maintenance.verdict_queue import judged_pairs

    now, redact = memory.clock(), memory.resources.redactor.redact
    return [
        (fact_now(memory, pair.high_id if pair.low_id == fact_id else pair.low_id, now=now), why)
        for pair in judged_pairs(memory.store)
        if pair.relation == "supersedes" and pair.judged_at >= since
        if fact_id in (pair.low_id, pair.high_id)
        for why in [redact(pair.detail)]
    ]


def fact_now(memory: Memory, fact_id: int, *, now: Millis) -> Fact:
    """Return a fact with the confidence and the status that it has now, redacted once more."""
    redact = memory.resources.redactor.redact
    fact = as_of(memory.sources.fact(fact_id, owner=EVERYONE), now)
    return replace(fact, object=redact(fact.object), statement=redact(fact.statement))


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a consolidation left behind."""

    changes: Account
    aside: Sequence[tuple[str, int, str]]  # (target, id, reason) of rows that cannot be embedded
    unanswered: Sequence[Unanswered]  # pairs that a model was asked about in vain


def left_by(memory: Memory, run_id: int, *, store: Store, owner: str | Everyone = ME) -> Left:
    """Return what a run left behind in a store: the memory's, or the copy of a rehearsal."""
    from factbook.maintenance.changes_report import account, run_of
    from factbook.maintenance.verdict_queue import TASK

    run = run_of(store, run_id)
    assert run is not None
    asked = unanswered(memory, owner=owner, store=store)
    return Left(
        changes=account(store, run, owner=owner),
        aside=set_aside(store),
        unanswered=[question for question in asked if question.kind == TASK],
    )


def changes_of(memory: Memory, run_id: int, *, owner: str | Everyone = ME) -> Account:
    """Return what a consolidation changed of an owner's; raises NotFound."""
    from factbook.maintenance.changes_report import account, run_of

    run = run_of(memory.store, run_id)
    if run is None:
        raise NotFound(what="run", name=run_id, hint="`factbook runs` lists them.")
    return account(memory.store, run, owner=owner)


def embedder_of(memory: Memory) -> tuple[str, int] | None:
    """Return (id, dimensions) of the model whose vectors the database holds; None for none."""
    return memory.store.embedder()


def vectors_of(memory: Memory) -> int:
    counts = row_counts(memory.store)
    return counts["episode_vectors"] + counts["fact_vectors"]


def tenant_of(memory: Memory) -> str:
    return memory.store.tenant


def readers_used(memory: Memory) -> list[ReaderUse]:
    from factbook.maintenance.maintenance import readers_used as used

    return used(memory.store)


def reader_versions(memory: Memory, rules: RuleSet | None) -> dict[str, str]:
    """Return the versions of the redactor and of the rules that are in force now, by their part."""
    from factbook.extract.rules import RuleSet
    from factbook.extract.versions import redactor_version, rules_version

    return {
        "redactor": redactor_version(memory.resources.redactor),
        "rules": rules_version(rules or RuleSet.default()),
    }
