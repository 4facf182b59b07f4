"""What the commands of a language model print for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from factbook.surface.text import Column, count, one_line, wrap

if TYPE_CHECKING:
    from factbook.assist.meter import CostLine
    from factbook.assist.telling import Told
    from factbook.assist.typed import Judged, TypedReport
    from factbook.surface.output import Screen

Redact = Callable[[str], str]

_STYLES = {"stored": "green", "proposed": "yellow", "rejected": "red"}


def typed(screen: Screen, found: TypedReport, told: Sequence[Told], *, redact: Redact) -> None:
    """Show what the model proposed, and what the gate made of it."""
    if not (found.summaries or found.failed or told):
        screen.say("No summary waits for a model: all were answered, or none was ever read.")
        return
    for _, one in found.judged:
        word, why = _outcome(one)
        lead = f"{word:<9} {one.claim.type.label.lower():<9} {one.claim.confidence:.2f}  "
        lines = wrap(f'"{one_line(redact(one.claim.text))}"', screen.prose - len(lead))
        screen.line(screen.paint(lead, _STYLES[word]) + lines[0])
        screen.lines(" " * len(lead) + line for line in lines[1:])
        if why:
            screen.say(f"{' ' * len(lead)}{redact(why)}", "dim")
    screen.line()
    words = [_outcome(one)[0] for _, one in found.judged]
    screen.say(
        f"{count(found.summaries, 'summary', 'summaries')}, {count(found.offered, 'proposal')} of"
        f" the model: {words.count('stored')} stored, {words.count('proposed')} waiting for a yes,"
        f" {words.count('rejected')} rejected"
    )
    for again in told:
        screen.say(f'{again.label}  "{again.message}"')
    for episode, why in found.failed:
        screen.warn(f"e{episode}: {redact(why)} It stays queued.")


def _outcome(one: Judged) -> tuple[str, str]:
    if one.verdict is None:
        assert one.refused is not None
        return "rejected", f"{one.refused.reason}: {one.refused.detail}"
    if one.verdict.reason is not None:
        return "rejected", f"{one.verdict.reason}: {one.verdict.detail}"
    waits = str(one.verdict.action) == "stored_proposed"
    return ("proposed" if waits else "stored"), one.verdict.detail


def cost(screen: Screen, found: Sequence[CostLine]) -> None:
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
