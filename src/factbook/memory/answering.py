"""Turn a question into a plan, and read what the plan asks for.

A model, or a parser of phrasings, makes the plan; carrying it out is reading rows by key,
predicate, entity or time. A plan that cannot be carried out is a failure, never "nothing found".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.errors import ModelError, ModelFailure, UsageError
from factbook.extract.keyed.ask import Window, parse_ask
from factbook.extract.keyed.clarify import plan_clarification
from factbook.extract.keyed.contracts import (
    FactsAnswer,
    FactsQueryPlan,
    KeyedFact,
    plan_problem,
    plan_window,
    redacted,
)
from factbook.extract.keyed.prompts import ask_messages
from factbook.model.confidence import as_of
from factbook.model.facts import Fact, FactKind, Millis
from factbook.model.keys import (
    canonical_keys,
    canonical_list_key,
    fold_value,
    normalize_fact_key,
    split_rank_key,
)
from factbook.pipelines.keyed import lists_of, not_configured
from factbook.pipelines.keyed_labels import read_label
from factbook.recall.time_expressions import find_window
from factbook.store.derived.keyed import keyed_facts
from factbook.store.derived.ledger import stances
from factbook.store.rows import Filters

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.store.port import Store

PURPOSE: Final = "plan"
_RULES: Final = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    label: str  # Facts-R(1)
    question: str
    plan: FactsQueryPlan | None  # None where something has to be asked back first
    answer: FactsAnswer
    planner: str
    needs_clarification: Sequence[str] = ()

    @property
    def plan_words(self) -> str:
        """Say what the plan looked for."""
        plan = self.plan
        if plan is None:
            return "nothing yet"
        named = (plan.list_key, plan.topic, plan.key_prefix, plan.fact_key, plan.predicate)
        looked_for = next((value for value in (*named, plan.entity) if value), None)
        return looked_for or f"{plan.since or 'the beginning'} to {plan.until or 'now'}"


def ask_keys(
    context: Context, question: str, *, owner: str, planner: str, exclude_message: str | None = None
) -> Asked:
    """Plan how a question is answered, and answer it.

    Raises UsageError for an empty question, ModelError where the model fails or its plan cannot be
    carried out.
    """
    redact, now = context.redact, context.clock()
    said = " ".join(redact(question).split())
    if not said:
        raise UsageError(detail="there is nothing to ask: the text is empty")
    if len(said) > policy.PROMPT_CHARS:
        raise UsageError(
            detail=f"the question has {len(said)} characters; ask with at most"
            f" {policy.PROMPT_CHARS}"
        )
    plan, asked = _planned(context, said, owner=owner, planner=planner, now=now)
    asked = [redact(text) for text in asked]
    if plan is not None:
        # What a model has a secret from does not matter: it is not shown, and finds nothing.
        plan = redacted(plan, redact)
    answer = FactsAnswer()
    if plan is not None:
        answer = execute(context, plan, owner=owner, exclude_message=exclude_message, now=now)
    return Asked(
        label=read_label(len(answer.canonical_keys), planner=planner),
        question=said,
        plan=plan,
        answer=answer,
        planner=planner,
        needs_clarification=[] if plan is not None else asked,
    )


def plan_question(context: Context, question: str, *, owner: str, planner: str) -> FactsQueryPlan:
    """Return the plan for a question.

    Raises ModelError where the model fails, UsageError where the rules do not understand or the
    question leaves open which list it means.
    """
    said = context.redact(question)
    plan, asked = _planned(context, said, owner=owner, planner=planner, now=context.clock())
    if plan is None:
        raise UsageError(detail=" ".join(asked))
    return plan


def _planned(
    context: Context, question: str, *, owner: str, planner: str, now: Millis
) -> tuple[FactsQueryPlan | None, Sequence[str]]:
    """Return the plan, or what has to be asked back first."""
    lists = lists_of(context.store, owner)
    if planner == _RULES:
        keys = [fact.predicate for fact in keyed_facts(context.store, owner)]

        def when(text: str) -> Window | None:
            found = find_window(text, now=now)
            return Window(found.phrase, found.since, found.until) if found else None

        ask = parse_ask(question, lists=lists, when=when, keys=keys)
        if ask.reason:
            raise UsageError(detail=f"the rules do not read that: {ask.reason}")
        return ask.plan, ask.needs_clarification
    llm = context.model
    if llm is None:
        raise not_configured()
    messages = ask_messages(question, lists, now=now, context_tokens=llm.context_tokens)
    plan = llm.ask(messages, FactsQueryPlan, purpose=PURPOSE)
    problem = plan_problem(plan) or plan_window(plan)[2]
    if problem is not None:
        raise ModelError(kind=ModelFailure.SCHEMA, model=llm.id, reason=problem)
    asked = plan_clarification(question, plan, list(lists))
    return (None, asked) if asked else (plan, ())


def execute(
    context: Context,
    plan: FactsQueryPlan,
    *,
    owner: str,
    exclude_message: str | None = None,
    now: Millis | None = None,
) -> FactsAnswer:
    """Read what a plan asks for; the same plan on the same rows gives the same answer.

    What only `exclude_message` (an Episode.uid) says is left out: a question must not be answered
    with itself. Raises UsageError for a plan that cannot be carried out.
    """
    store, now = context.store, context.clock() if now is None else now
    since, until, when = plan_window(plan)
    problem = plan_problem(plan) or when
    if problem is not None:
        raise UsageError(detail=f"the plan cannot be carried out: {problem}")
    facts = [as_of(row, now) for row in _rows(store, plan, owner, since, until, now)]
    if exclude_message is not None:
        facts = _without(store, facts, exclude_message)
    shown = facts[: plan.limit]
    return FactsAnswer(
        facts=[_keyed(fact, context.redact, ranks=plan.include_ranks) for fact in shown],
        count=len(shown),
        canonical_keys=canonical_keys(
            fact.predicate for fact in shown if fact.kind is FactKind.KEYED
        )
        or tuple(dict.fromkeys(fact.predicate for fact in shown)),
        left_out=max(0, len(facts) - plan.limit),
    )


def _rows(
    store: Store,
    plan: FactsQueryPlan,
    owner: str,
    since: Millis | None,
    until: Millis | None,
    now: Millis,
) -> list[Fact]:
    if plan.intent == "facts_get_ranked_list":
        key = normalize_fact_key(plan.list_key)[0] if plan.list_key else ""
        return search_facts_ranked_list(store, key or canonical_list_key(plan.topic or ""), owner)
    if plan.intent == "facts_get_by_prefix":
        return keyed_facts(store, owner, prefix=normalize_fact_key(plan.key_prefix or "")[0])
    if plan.intent == "facts_get_exact_key":
        key = normalize_fact_key(plan.fact_key or "")[0]
        return keyed_facts(store, owner, keys=[key])
    filters = Filters(owner=owner, since=since, until=until, now=now, deprecated=False)
    if plan.intent == "facts_get_by_time":
        return _newest(store, filters, plan.limit)
    if plan.intent == "facts_get_by_predicate":
        named = (plan.predicate or "").strip()
        return _newest(store, replace(filters, predicates=[named]), plan.limit)
    return _of_entity(store, (plan.entity or "").strip(), filters, plan.limit)


def _newest(store: Store, filters: Filters, limit: int) -> list[Fact]:
    return list(store.facts(filters, limit=limit + 1, newest_first=True))


def _of_entity(store: Store, entity: str, filters: Filters, limit: int) -> list[Fact]:
    """Return facts whose sentence holds the name as whole words, the newest first."""
    ids = [id_ for id_, _ in store.search("fact", [entity], filters, policy.PAGE_MAX)]
    wanted = f" {_bare(entity)} "
    held = [
        fact
        for fact in store.facts_by_id(ids).values()
        if wanted in f" {_bare(fact.statement)} " or fold_value(fact.object) == fold_value(entity)
    ]
    return sorted(held, key=lambda fact: (-(fact.occurred_at or 0), -fact.id))[: limit + 1]


def _bare(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


def search_facts_ranked_list(store: Store, list_key: str, owner: str) -> list[Fact]:
    return [
        fact
        for fact in keyed_facts(store, owner, prefix=list_key)
        if (ranked := split_rank_key(fact.predicate)) is not None and ranked[0] == list_key
    ]


def _without(store: Store, facts: Sequence[Fact], message: str) -> list[Fact]:
    excluded = set(store.episode_ids([message]).values())
    behind = stances(store, [fact.id for fact in facts])
    return [fact for fact in facts if not behind[fact.id].keys() <= excluded]


def _keyed(fact: Fact, redact: Callable[[str], str], *, ranks: bool) -> KeyedFact:
    ranked = split_rank_key(fact.predicate) if fact.kind is FactKind.KEYED else None
    return KeyedFact(
        fact_key=fact.predicate,
        value=redact(fact.object if fact.kind is FactKind.KEYED else fact.statement),
        rank=ranked[1] if ranked and ranks else None,
        fact_id=fact.id,
        confidence=fact.confidence,
        set_at=fact.occurred_at,
    )
