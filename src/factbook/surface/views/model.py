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
    from factbook.pipelines.typed import Judged, TypedReport
    from factbook.surface.output import Page

_SHOWN: Final = 10  # inputs that a model did not answer for
_STYLES: Final = {"stored": "green", "proposed": "yellow", "rejected": "red"}
_ACTIONS: Final = {"store": "stored", "update": "updated", "noop": "as it was", "clear": "cleared"}


# --- keyed facts ----------------------------------------------------------------------------------


def told(page: Page, found: Told, holds: Sequence[tuple[str, str, str]]) -> None:
    """Show what became of a message: `holds` is what `keys` takes."""
    if found.failed:
        page.line(page.paint(found.label, "red"))
        page.say(f"Facts system failed: {'; '.join(found.errors)}")
        return
    page.line(page.paint(found.label, "green" if found.changed else "yellow"))
    for topic in found.needs_clarification:
        page.say(topic, "yellow")
    if found.needs_clarification:
        page.say("Say it again with that; `factbook review` keeps the question.", "dim")
    keys(page, holds)
    for warning in found.warnings:
        page.say(f"  {warning}", "dim")
    for problem in found.errors:
        page.say(f"  left out: {problem}", "yellow")
    if found.changed:
        page.say(f'  because you said: "{found.message}"', "dim")


def keys(page: Page, holds: Sequence[tuple[str, str, str]]) -> None:
    """Show what keys hold now that a message has changed them: (key, what was done, value)."""
    for key, action, value in holds:
        page.say(f"  {_ACTIONS[action]:<9} {key} = {value}")


def asked(page: Page, found: Asked, *, quotes: Callable[[int | None], Sequence[str]]) -> None:
    """Show what keys hold that were asked for, with the words that they stand on."""
    from factbook.model.keys import split_rank_key

    page.line(page.paint(found.label, "green" if found.answer.count else "yellow"))
    for question in found.needs_clarification:
        page.say(question, "yellow")
    if not found.answer.facts and not found.needs_clarification:
        page.say(f"Nothing is known under {found.plan_words}.")
    several = len(found.answer.canonical_keys) > 1  # a rank alone would not say of which list
    heading = ""
    for fact in found.answer.facts:
        ranked = split_rank_key(fact.fact_key) if several and fact.rank is not None else None
        if ranked and ranked[0] != heading:
            page.say(f"{ranked[0]}:")
        heading = ranked[0] if ranked else ""
        page.say(
            f"{f'{fact.rank:>3}. ' if fact.rank is not None else f'{fact.fact_key}: '}{fact.value}"
        )
        said = "".join(f', because you said: "{quote}"' for quote in quotes(fact.fact_id))
        page.say(f"     f{fact.fact_id}  {moment(fact.set_at)}{said}", "dim")
    if found.answer.left_out:
        page.say(f"and {found.answer.left_out} more", "dim")


# --- typed memories -------------------------------------------------------------------------------


def typed(
    page: Page,
    found: TypedReport,
    again: RetriedTold,
    left: Sequence[Unanswered],
    *,
    failed: Sequence[tuple[str, str]],
) -> None:
    """Show what the model proposed, what the gate made of it, and what waits on.

    `failed` holds (id, why) of summaries and messages that were asked about in vain just now.
    """
    if not (found.summaries or failed or again.done):
        page.say(
            "Nothing is to be asked about now."
            if left
            else "No summary waits for a model: all were answered, or none was ever read."
        )
        unanswered(page, left)
        return
    words = [_judged(page, one) for _, one in found.judged]
    if found.judged:
        page.line()
    if found.summaries:
        summaries = count(found.summaries, "summary", "summaries")
        page.say(
            f"{summaries}, {count(found.offered, 'proposal')} of the model:"
            f" {words.count('stored')} stored, {words.count('proposed')} waiting for a yes,"
            f" {words.count('rejected')} rejected"
        )
    for done in again.done:
        page.say(f'{done.label}  "{one_line(done.message)}"')
        for topic in done.needs_clarification:
            page.say(f"  {one_line(topic)} `factbook review` takes the answer.", "yellow")
        for warning in done.warnings:
            page.say(f"  {one_line(warning)}", "dim")
    aside = {name for one in left if one.aside for name in one.ids}
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


def commands(page: Page, found: CommandsReport, left: Sequence[Unanswered]) -> None:
    """Show what the model read in commands, and what waits on."""
    page.say(
        f"{count(found.read, 'command')} read by the model in {count(found.calls, 'call')},"
        f" {found.understood:,} understood by rules before:"
        f" {count(found.receipt.stored, 'fact')} stored, {found.receipt.rejected:,} refused"
    )
    for one, why in found.failed:
        stay = "It waits" if one == 1 else "They wait"
        page.warn(f"{count(one, 'command')}: {_sentence(why)} {stay}.")
    unanswered(page, left)


def _sentence(why: str) -> str:
    """Return a reason with a full stop, so that another sentence can follow."""
    why = why.rstrip()
    return why if why.endswith((".", "!", "?")) else f"{why}."


def unanswered(page: Page, found: Sequence[Unanswered], *, told: Sequence[str] = ()) -> None:
    """Show what a model was asked about in vain; a reason that was `told` is not repeated."""
    if not found:
        return
    page.line()
    page.head("asked in vain", count(len(found)), "yellow")
    for one in found[:_SHOWN]:
        lead = f"  {'set aside' if one.aside else 'waits':<9}  {one.kind:<8}  {' '.join(one.ids)}  "
        page.fitted(lead, one_line(one.what), lead_style="yellow" if one.aside else "dim")
        page.say(f"    {one.tried}; {one.command} asks again", "dim")
        if one.reason and not set(one.ids) & set(told):
            page.say(f"    {fit(one_line(one.reason), max(20, 2 * page.prose - 8))}", "dim")
    if len(found) > _SHOWN:
        page.say(f"  and {count(len(found) - _SHOWN)} more; --json names every one", "dim")


# --- what it costs --------------------------------------------------------------------------------


def cost(page: Page, found: Sequence[CostLine]) -> None:
    """Show what calls of models came to."""
    if not found:
        page.say("No call of a model was made.")
        return
    columns = [
        Column("day", lambda one: one.day),
        Column("for", lambda one: one.purpose, "cyan"),
        Column("model", lambda one: one.model, least=12, most=40),
        Column("outcome", lambda one: one.outcome),
        Column("calls", lambda one: str(one.count.calls), right=True),
        Column("prompt", lambda one: f"{one.count.prompt_tokens:,}", right=True),
        Column("answer", lambda one: f"{one.count.answer_tokens:,}", right=True),
        Column("s/call", _seconds, right=True),
        Column(
            "money", lambda one: f"{one.count.money:.4f}" if one.count.money else "", right=True
        ),
    ]
    page.table(columns, found)
    counts = [one.count for one in found]
    calls, money = sum(one.calls for one in counts), sum(one.money for one in counts)
    tokens = sum(one.prompt_tokens + one.answer_tokens for one in counts)
    page.line()
    priced = f", {money:.4f} in the configured currency" if money else ""
    page.say(f"{count(calls, 'call')}, {count(tokens, 'token')}{priced}")


def _seconds(one: CostLine) -> str:
    return f"{one.count.latency_ms / one.count.calls / 1000:.2f}" if one.count.calls else ""
