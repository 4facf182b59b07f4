"""Show what language models read and wrote, and what they were asked in vain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from factbook.language.values import count, moment
from factbook.surface.text import Column, fit, one_line

if TYPE_CHECKING:
    from factbook.maintenance.meter import CostLine
    from factbook.memory.answering import Asked
    from factbook.memory.standing import Unanswered
    from factbook.pipelines.commands import CommandsReport
    from factbook.pipelines.keyed import RetriedTold, Told
    from factbook.pipelines.turns import TurnsReport
    from factbook.pipelines.typed import Judged, TypedReport
    from factbook.surface.output import Page

_SHOWN: Final = 10  # inputs that a model did not answer for
_STYLES: Final = {"stored": "green", "proposed": "yellow", "rejected": "red"}
_ACTIONS: Final = {"store": "stored", "update": "updated", "noop": "as it was", "clear": "cleared"}


def told(page: Page, outcome: Told, holds: Sequence[tuple[str, str, str]]) -> None:
    """Show what became of a message: `holds` is what `keys` takes."""
    if outcome.failed:
        page.line(page.paint(outcome.label, "red"))
        page.say(f"Facts system failed: {'; '.join(outcome.errors)}")
        return
    page.line(page.paint(outcome.label, "green" if outcome.changed else "yellow"))
    for topic in outcome.needs_clarification:
        page.say(topic, "yellow")
    if outcome.needs_clarification:
        how = "Say it again with that; `factbook review` keeps the question."
        page.say(page.told(how), "dim")
    keys(page, holds)
    for warning in outcome.warnings:
        page.say(f"  {warning}", "dim")
    for problem in outcome.errors:
        page.say(f"  left out: {problem}", "yellow")
    if outcome.changed:
        page.say(f'  because you said: "{outcome.message}"', "dim")


def keys(page: Page, holds: Sequence[tuple[str, str, str]]) -> None:
    for key, action, value in holds:
        page.say(f"  {_ACTIONS[action]:<9} {key} = {value}")


def asked(page: Page, reply: Asked, *, quotes: Callable[[int | None], Sequence[str]]) -> None:
    from factbook.model.keys import split_rank_key

    page.line(page.paint(reply.label, "green" if reply.answer.count else "yellow"))
    for question in reply.needs_clarification:
        page.say(question, "yellow")
    if not reply.answer.facts and not reply.needs_clarification:
        page.say(f"Nothing is known under {reply.plan_words}.")
    several = len(reply.answer.canonical_keys) > 1  # a rank alone would not say of which list
    heading = ""
    for fact in reply.answer.facts:
        ranked = split_rank_key(fact.fact_key) if several and fact.rank is not None else None
        if ranked and ranked[0] != heading:
            page.say(f"{ranked[0]}:")
        heading = ranked[0] if ranked else ""
        page.say(
            f"{f'{fact.rank:>3}. ' if fact.rank is not None else f'{fact.fact_key}: '}{fact.value}"
        )
        said = "".join(f', because you said: "{quote}"' for quote in quotes(fact.fact_id))
        page.say(f"     f{fact.fact_id}  {moment(fact.set_at)}{said}", "dim")
    if reply.answer.left_out:
        page.say(f"and {reply.answer.left_out} more", "dim")


def typed(
    page: Page,
    report: TypedReport,
    again: RetriedTold,
    left: Sequence[Unanswered],
    *,
    failed: Sequence[tuple[str, str]],
) -> None:
    """Show what the model proposed, what the gate made of it, and what waits on.

    `failed` holds (id, why) of summaries and messages that were asked about in vain just now.
    """
    if not (report.summaries or failed or again.done or report.stopped):
        page.say(
            "Nothing is to be asked about now."
            if left
            else "No summary waits for a model: all were answered, or none was ever read."
        )
        unanswered(page, left)
        return
    words = [_judged(page, judgement) for _, judgement in report.judged]
    if report.judged:
        page.line()
    _stopped(page, report.stopped, failed)
    if report.summaries:
        summaries = count(report.summaries, "summary", "summaries")
        page.say(
            f"{summaries}, {count(report.offered, 'proposal')} of the model:"
            f" {words.count('stored')} stored, {words.count('proposed')} waiting for a yes,"
            f" {words.count('rejected')} rejected"
        )
    for done in again.done:
        page.say(f'{done.label}  "{one_line(done.message)}"')
        for topic in done.needs_clarification:
            page.say(f"  {one_line(topic)} {page.typed('review')} takes the answer.", "yellow")
        for warning in done.warnings:
            page.say(f"  {one_line(warning)}", "dim")
    aside = {name for row in left if row.aside for name in row.ids}
    for name, why in failed:
        page.warn(
            f"{name}: {_sentence(why)} It {'is set aside' if name in aside else 'stays queued'}."
        )
    unanswered(page, left, told=[name for name, _ in failed])


def _judged(page: Page, judged: Judged) -> str:
    """Show one proposal; return what became of it."""
    word, reason, detail = judged.outcome()
    lead = f"{word:<9} {judged.claim.type.label.lower():<9} {judged.claim.confidence:.2f}  "
    page.say(f'"{one_line(judged.claim.text)}"', lead=page.paint(lead, _STYLES[word]))
    why = f"{reason}: {detail}" if reason else detail
    if why:
        page.say(f"{' ' * len(lead)}{why}", "dim")
    return word


def commands(page: Page, report: CommandsReport, left: Sequence[Unanswered]) -> None:
    page.say(
        f"{count(report.read, 'command')} read by the model in {count(report.calls, 'call')},"
        f" {report.understood:,} understood by rules before:"
        f" {count(report.receipt.stored, 'fact')} stored, {report.receipt.rejected:,} refused"
    )
    _waiting(page, "command", report)
    unanswered(page, left)


def turns(page: Page, report: TurnsReport) -> None:
    read, calls = count(report.read, "turn"), count(report.calls, "call")
    page.say(
        f"{read} read by the model in {calls}: {count(report.offered, 'item')} offered,"
        f" {report.agreed:,} as the reader has it, {report.refused.total():,} refused;"
        f" {count(report.receipt.stored, 'fact')} stored"
    )
    if report.refused:
        reasons = (f"{reason} {number:,}" for reason, number in report.refused.most_common())
        page.say(f"  refused: {', '.join(reasons)}; {page.typed('rejections')} shows each", "dim")
    _waiting(page, "turn", report)
    if report.left:
        page.say(f"{count(report.left, 'turn')} not answered for; the next pass asks", "dim")


def _waiting(page: Page, what: str, report: CommandsReport | TurnsReport) -> None:
    """Say what was asked about in vain, and why the pass ended."""
    for number, why in report.failed:
        stay = "It waits" if number == 1 else "They wait"
        page.warn(f"{count(number, what)}: {_sentence(why)} {stay}.")
    _stopped(page, report.stopped, report.failed)


def _stopped(page: Page, why: str, failed: Sequence[tuple[object, str]]) -> None:
    """Say why a pass ended, where no failure says so."""
    if why and why not in {told for _, told in failed}:
        page.warn(_sentence(why))


def _sentence(why: str) -> str:
    """Return a reason with a full stop, so that another sentence can follow."""
    why = why.rstrip()
    return why if why.endswith((".", "!", "?")) else f"{why}."


def unanswered(page: Page, rows: Sequence[Unanswered], *, told: Sequence[str] = ()) -> None:
    """Show what a model was asked about in vain; a reason that was `told` is not repeated."""
    if not rows:
        return
    page.line()
    page.head("asked in vain", count(len(rows)), "yellow")
    for row in rows[:_SHOWN]:
        lead = f"  {'set aside' if row.aside else 'waits':<9}  {row.kind:<8}  {' '.join(row.ids)}  "
        page.fitted(lead, one_line(row.what), lead_style="yellow" if row.aside else "dim")
        page.say(f"    {row.tried}; {page.told(row.command)} asks again", "dim")
        if row.reason and not set(row.ids) & set(told):
            page.say(f"    {fit(one_line(row.reason), max(20, 2 * page.prose - 8))}", "dim")
    if len(rows) > _SHOWN:
        page.say(f"  and {count(len(rows) - _SHOWN)} more; --json names every one", "dim")


def cost(page: Page, lines: Sequence[CostLine]) -> None:
    if not lines:
        page.say("No call of a model was made.")
        return
    columns = [
        Column("day", lambda line: line.day),
        Column("for", lambda line: line.purpose, "cyan"),
        Column("model", lambda line: line.model, least=12, most=40),
        Column("outcome", lambda line: line.outcome),
        Column("calls", lambda line: str(line.count.calls), right=True),
        Column("prompt", lambda line: f"{line.count.prompt_tokens:,}", right=True),
        Column("answer", lambda line: f"{line.count.answer_tokens:,}", right=True),
        Column("s/call", _seconds, right=True),
        Column(
            "money", lambda line: f"{line.count.money:.4f}" if line.count.money else "", right=True
        ),
    ]
    page.table(columns, lines)
    counts = [line.count for line in lines]
    calls, money = sum(tally.calls for tally in counts), sum(tally.money for tally in counts)
    tokens = sum(tally.prompt_tokens + tally.answer_tokens for tally in counts)
    page.line()
    priced = f", {money:.4f} in the configured currency" if money else ""
    page.say(f"{count(calls, 'call')}, {count(tokens, 'token')}{priced}")


def _seconds(line: CostLine) -> str:
    return f"{line.count.latency_ms / line.count.calls / 1000:.2f}" if line.count.calls else ""
