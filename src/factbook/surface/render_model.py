"""What the commands of a language model print for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from factbook.surface.text import Column, count, fit, moment, one_line, wrap

if TYPE_CHECKING:
    from factbook.maintenance.meter import CostLine
    from factbook.memory.standing import Unanswered
    from factbook.pipelines.commands import CommandsReport
    from factbook.pipelines.keyed import RetriedTold
    from factbook.pipelines.typed import Judged, TypedReport
    from factbook.surface.output import Page, Screen

Redact = Callable[[str], str]

_SHOWN: Final = 10  # inputs that a model did not answer for
_STYLES = {"stored": "green", "proposed": "yellow", "rejected": "red"}


def typed(
    screen: Screen,
    found: TypedReport,
    told: RetriedTold,
    left: Sequence[Unanswered],
    *,
    failed: Sequence[tuple[str, str]],
    redact: Redact,
) -> None:
    """Show what the model proposed, what the gate made of it, and what waits on.

    `failed` holds (id, why) of summaries and messages that were asked about in vain just now.
    """
    if not (found.summaries or failed or told.done):
        screen.say(
            "Nothing is to be asked about now."
            if left
            else "No summary waits for a model: all were answered, or none was ever read."
        )
        unanswered(screen, left)
        return
    for _, one in found.judged:
        word, why = _outcome(one)
        lead = f"{word:<9} {one.claim.type.label.lower():<9} {one.claim.confidence:.2f}  "
        lines = wrap(f'"{one_line(redact(one.claim.text))}"', screen.prose - len(lead))
        screen.line(screen.paint(lead, _STYLES[word]) + lines[0])
        screen.lines(" " * len(lead) + line for line in lines[1:])
        if why:
            screen.say(f"{' ' * len(lead)}{redact(why)}", "dim")
    if found.judged:
        screen.line()
    words = [_outcome(one)[0] for _, one in found.judged]
    if found.summaries:
        summaries = count(found.summaries, "summary", "summaries")
        screen.say(
            f"{summaries}, {count(found.offered, 'proposal')} of the model:"
            f" {words.count('stored')} stored, {words.count('proposed')} waiting for a yes,"
            f" {words.count('rejected')} rejected"
        )
    for again in told.done:
        screen.say(f'{again.label}  "{one_line(again.message)}"')
        for topic in again.needs_clarification:
            screen.say(f"  {one_line(topic)} `factbook review` takes the answer.", "yellow")
        for warning in again.warnings:
            screen.say(f"  {one_line(warning)}", "dim")
    aside = {name for one in left if one.aside for name in one.ids}
    for name, why in failed:
        stays = "is set aside" if name in aside else "stays queued"
        screen.warn(f"{name}: {sentence(redact(why))} It {stays}.")
    unanswered(screen, left, told=[name for name, _ in failed])


def commands(
    screen: Screen, found: CommandsReport, left: Sequence[Unanswered], *, redact: Redact
) -> None:
    """Show what the model read in commands, and what waits on."""
    screen.say(
        f"{count(found.read, 'command')} read by the model in {count(found.calls, 'call')},"
        f" {found.understood:,} understood by rules before:"
        f" {count(found.receipt.stored, 'fact')} stored, {found.receipt.rejected:,} refused"
    )
    for one, why in found.failed:
        stay = "It waits" if one == 1 else "They wait"
        screen.warn(f"{count(one, 'command')}: {sentence(redact(why))} {stay}.")
    unanswered(screen, left)


def sentence(why: str) -> str:
    """Return a reason with a full stop, so that another sentence can follow."""
    why = why.rstrip()
    return why if why.endswith((".", "!", "?")) else f"{why}."


def unanswered(screen: Screen, found: Sequence[Unanswered], *, told: Sequence[str] = ()) -> None:
    """Show what a model was asked about in vain; a reason that was `told` is not repeated."""
    if not found:
        return
    screen.line()
    screen.line(screen.paint("asked in vain", "bold yellow") + f"  {count(len(found))}")
    for one in found[:_SHOWN]:
        lead = f"  {'set aside' if one.aside else 'waits':<9}  {one.kind:<8}  {' '.join(one.ids)}  "
        room = max(20, screen.prose - len(lead))
        screen.line(
            screen.paint(lead, "yellow" if one.aside else "dim") + fit(one_line(one.what), room)
        )
        screen.say(f"    {tried(one)}; {one.command} asks again", "dim")
        if one.reason and not set(one.ids) & set(told):
            screen.say(f"    {fit(one_line(one.reason), max(20, 2 * screen.prose - 8))}", "dim")
    if len(found) > _SHOWN:
        screen.say(f"  and {count(len(found) - _SHOWN)} more; --json names every one", "dim")


def tried(one: Unanswered) -> str:
    """Say how often an input was asked about, and from when on it is asked about again."""
    times = f"{count(one.attempts, 'failure')}" if one.attempts else "no answer yet"
    return times if one.aside else f"{times}, again from {moment(one.until)} on"


def _outcome(one: Judged) -> tuple[str, str]:
    word, reason, detail = one.outcome()
    return word, f"{reason}: {detail}" if reason else detail


def cost(screen: Page, found: Sequence[CostLine]) -> None:
    """Show what calls of models came to."""
    if not found:
        screen.say("No call of a model was made.")
        return
    columns = [
        Column(title="day"),
        Column(title="for", style="cyan"),
        Column(title="model", flexible=True, least=12, most=40),
        Column(title="outcome"),
        Column(title="calls", right=True),
        Column(title="prompt", right=True),
        Column(title="answer", right=True),
        Column(title="s/call", right=True),
        Column(title="money", right=True),
    ]
    screen.table(
        columns,
        (
            [
                one.day,
                one.purpose,
                one.model,
                one.outcome,
                str(one.count.calls),
                f"{one.count.prompt_tokens:,}",
                f"{one.count.answer_tokens:,}",
                f"{one.count.latency_ms / one.count.calls / 1000:.2f}" if one.count.calls else "",
                f"{one.count.money:.4f}" if one.count.money else "",
            ]
            for one in found
        ),
    )
    calls = sum(one.count.calls for one in found)
    tokens = sum(one.count.prompt_tokens + one.count.answer_tokens for one in found)
    money = sum(one.count.money for one in found)
    screen.line()
    priced = f", {money:.4f} in the configured currency" if money else ""
    screen.say(f"{count(calls, 'call')}, {count(tokens, 'token')}{priced}")
