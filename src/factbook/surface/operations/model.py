"""The operations that a language model may help with, and what it proposed in vain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Final

from factbook import policy
from factbook.errors import FactbookError, ModelError, OperationsUnusable, UsageError
from factbook.language.values import count
from factbook.model.facts import ME
from factbook.surface import records, views
from factbook.surface.operations.arguments import Llm, Narrow, Owner, Planner, Whose, Words
from factbook.surface.operations.base import ASK, KEEP, READ, Arg, Effect, Outcome, Run, operation

if TYPE_CHECKING:
    from factbook.memory import Memory
    from factbook.memory.standing import Unanswered
    from factbook.model.facts import Receipt
    from factbook.surface.output import Page

EXIT_CLARIFY: Final = 10  # nothing was done: a question came back, which is neither yes nor no
REJECTIONS_SHOWN: Final = 20
_SUMMED: Final = 100  # origins 002.6: "Last 100 extractions"


@operation(READ, Effect.OWN)
def tell(run: Run, said: Words, llm: Llm, owner: Owner = ME, planner: Planner = "model") -> Outcome:
    """Set, move and clear keyed facts and ranked lists by saying so."""
    run.open(Effect.CREATES, model=llm.config() if planner == "model" else None)
    try:
        told = run.memory.keyed.tell(said, owner=owner, planner=planner)
    except ModelError as error:
        return failed_by(error)
    trouble: FactbookError | None = None
    if told.failed and planner == "model":
        trouble = OperationsUnusable(kind="schema", model="", reason="; ".join(told.errors))
    elif told.failed:  # the rules would say the same again: nothing waits
        trouble = UsageError(detail="nothing was written; say it in other words")
    holds = () if told.failed else key_values(run, told.receipt, owner=owner)
    return Outcome(
        record=told,
        show=lambda page: views.model.told(page, told, holds),
        trouble=trouble,
        code=EXIT_CLARIFY if told.needs_clarification else 0,
    )


@operation(ASK, Effect.OWN)
def ask(
    run: Run, question: Words, llm: Llm, owner: Owner = ME, planner: Planner = "model"
) -> Outcome:
    """Read keyed facts and ranked lists by asking for them."""
    memory = run.open(Effect.WRITES, model=llm.config() if planner == "model" else None)
    try:
        asked = memory.keyed.ask(question, owner=owner, planner=planner)
    except ModelError as error:
        return failed_by(error)

    def quotes(fact_id: int | None) -> Sequence[str]:
        return memory.keyed.quotes_of(fact_id, owner=owner)

    return Outcome(
        record=asked,
        show=lambda page: views.model.asked(page, asked, quotes=quotes),
        code=EXIT_CLARIFY if asked.needs_clarification else 0,
    )


def failed_by(error: ModelError) -> Outcome:
    """Return what is shown where the model failed: the label of origins 004.7, then the error."""
    from factbook.pipelines.keyed_labels import FAILED, failure_message

    error.details["label"] = FAILED

    def show(page: Page) -> None:
        page.line(page.paint(FAILED, "red"))
        page.say(failure_message(error))

    return Outcome(record={}, show=show, trouble=error)


def key_values(run: Run, receipt: Receipt, *, owner: str) -> list[tuple[str, str, str]]:
    """Return what keys hold now that a message has changed them: (key, what was done, value)."""
    values = []
    for key, action in receipt.keys:
        now = run.memory.keyed.keyed_facts(owner=owner, prefix=key, limit=1)
        value = now[0].object if now and now[0].predicate == key else "(nothing)"
        values.append((key, action, value))
    return values


@operation(READ, Effect.WRITES)
def extract(
    run: Run,
    llm: Llm,
    limit: Annotated[int | None, Arg(short="-n", metavar="N", least=1)] = None,
    commands: bool = False,
    turns: bool = False,
    retry: bool = False,
) -> Outcome:
    """Let the model propose memories from summaries, facts from commands or turns; code decides.

    Args:
        limit: At most N summaries, commands or turns.
        commands: Instead of summaries, commands and requests that no rule understands: hosts,
            operations and files that stand in them.
        turns: Instead of summaries, what people say in conversations and to agents: statements,
            preferences, rules and decisions, names, and what is over or otherwise now.
        retry: Those that were set aside too, of every kind: summaries, messages, commands, turns
            and pairs of facts, which `consolidate` asks about.
    """
    del llm
    if commands and turns:
        raise UsageError(detail="--commands and --turns exclude each other")
    revived = _revive(run.memory) if retry and run.memory.resources.has_model else 0
    if turns:
        return _extract_turns(run, limit, revived)
    return (_extract_commands if commands else _extract_typed)(run, limit, revived)


def _revive(memory: Memory) -> int:
    """Let everything that was set aside be asked about again; return how much it was."""
    from factbook.maintenance import verdict_queue
    from factbook.pipelines import commands, keyed, turns, typed

    kinds = (typed.KIND, keyed.KIND, commands.KIND, turns.KIND, verdict_queue.TASK)
    return sum(memory.maintenance.retry_tasks(kind).updated for kind in kinds)


def _extracted(
    run: Run,
    report: object,
    show: Callable[[Page, Sequence[Unanswered]], None],
    *,
    revived: int,
    failed: bool,
    kind: str = "",
    **more: object,
) -> Outcome:
    """Return what became of a pass over what a model was asked about, of one kind if it is named.

    `show` is given what was asked about in vain, too.
    """
    from factbook.memory.standing import unanswered

    left = [row for row in unanswered(run.memory) if kind in ("", row.kind)]

    def whole(page: Page) -> None:
        if revived:
            page.say(f"{count(revived, 'input')} no more set aside", "dim")
        show(page, left)

    return Outcome(
        record={**records.plain(report), **more, "revived": revived, "unanswered": left},
        show=whole,
        code=ModelError.exit_code if failed else 0,
    )


def _extract_typed(run: Run, limit: int | None, revived: int) -> Outcome:
    typed_report = run.shown(run.memory.typed.extract_typed(limit=limit))
    again = run.memory.keyed.retry_told()
    told_failed = run.shown(again.failed)
    failed = [(f"e{episode}", why) for episode, why in (*typed_report.failed, *told_failed)]
    return _extracted(
        run,
        typed_report,
        lambda page, left: views.model.typed(page, typed_report, again, left, failed=failed),
        revived=revived,
        failed=bool(failed),
        told_again=again.done,
        told_failed=[{"episode": episode, "why": why} for episode, why in told_failed],
    )


def _extract_commands(run: Run, limit: int | None, revived: int) -> Outcome:
    commands_report = run.shown(run.memory.typed.extract_commands(limit=limit))
    return _extracted(
        run,
        commands_report,
        lambda page, left: views.model.commands(page, commands_report, left),
        revived=revived,
        failed=bool(commands_report.failed),
    )


def _extract_turns(run: Run, limit: int | None, revived: int) -> Outcome:
    from factbook.surface.progress import bar

    typed = run.memory.typed
    waiting = typed.turns_waiting() if run.memory.resources.has_model else 0
    total = waiting if limit is None else min(waiting, limit)
    with bar("reading turns", total=total, unit="turns", quiet=run.quiet) as advance:
        report = run.shown(typed.extract_turns(limit=limit, progress=advance))

    def show(page: Page, left: Sequence[Unanswered]) -> None:
        views.model.turns(page, report)
        views.model.unanswered(page, left)

    failed = bool(report.failed)
    return _extracted(run, report, show, revived=revived, failed=failed, kind="turns")


@operation(KEEP)
def rejections(
    run: Run,
    whose: Whose,
    narrow: Annotated[Narrow, "since until"],
    limit: Annotated[int, Arg("The newest N.", "-n", metavar="N", least=1)] = REJECTIONS_SHOWN,
    reason: Annotated[
        str, Arg(metavar="NAME", choices=(*policy.REJECTION_REASONS, *policy.LINE_REJECTIONS))
    ] = "",
    type_: Annotated[
        str, Arg(metavar="TYPE", flag="--type", choices=tuple(policy.TYPE_THRESHOLD))
    ] = "",
    rule: Annotated[str, Arg("Only by this rule, such as `typed:user_fact`.", metavar="NAME")] = "",
    typed: Annotated[bool, Arg("Only memories that a model proposed.")] = False,
    summary: Annotated[
        bool,
        Arg(
            f"Sum up the last {_SUMMED} memories that a model proposed: what was refused for what,"
            " and the most common refusal."
        ),
    ] = False,
) -> Outcome:
    """List lines, claims and memories that were refused, and why.

    Args:
        reason: Only these, such as `hallucination` or `not_json`.
        type_: Only of USER_FACT, USER_PATTERN or SHARED_NARRATIVE.
    """
    from factbook import RejectionFilters
    from factbook.memory.standing import tenant_of

    if summary:
        return _summary(run)
    times = narrow.filters()
    filters = RejectionFilters(
        reason=reason,
        type=type_,
        rule=rule,
        owner=whose.about,
        since=times.since,
        until=times.until,
        typed_only=typed,
    )
    refused = run.shown(run.memory.sources.rejections(limit=limit, filters=filters))
    tenant = tenant_of(run.memory)

    return Outcome(
        record={"rejections": [records.rejection(row, tenant=tenant) for row in refused]},
        show=lambda page: (
            views.report.rejections(page, refused) if refused else page.say("Nothing was refused.")
        ),
        nothing_of=None if refused else filters.owner,
    )


def _summary(run: Run) -> Outcome:
    rejection_summary = run.memory.typed.rejection_summary(limit=_SUMMED)

    def show(page: Page) -> None:
        for line in rejection_summary.lines():
            page.say(line) if line else page.line()

    return Outcome(record=rejection_summary, show=show)
