"""Show one session on a page: what was asked, what came of it, what was left open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.language.values import amount, count, home_path, moment
from factbook.surface import text
from factbook.surface.views.tables import rows_of

if TYPE_CHECKING:
    from factbook.recall.sessions import Act, Prompted, SessionSummary
    from factbook.surface.output import Page

_LINES: Final = 2  # of a failure, or how it was fixed


def session(page: Page, summary: SessionSummary) -> None:
    agents = f", with {count(summary.agents, 'sub-agent')}" if summary.agents else ""
    page.say(text.one_line(summary.title) or "A session without a title", "bold")
    rows_of(
        page,
        [
            ("session", f"{summary.session} ({', '.join(f's{id_}' for id_ in summary.sources)})"),
            ("when", _span(summary)),
            ("agent", summary.host),
            ("project", home_path(summary.project)),
            ("branch", ", ".join(summary.branches)),
            ("holds", count(summary.items, "item") + agents),
        ],
    )
    _turns(page, summary)
    _acts(page, summary, "files", "changed files")
    _acts(page, summary, "commits", "commits")
    _acts(page, summary, "installs", "installed")
    _acts(page, summary, "hosts", "connected to")
    _acts(page, summary, "checks", "checks")
    failures = [(row.text, row.outcome or "no fix is known") for row in summary.failures]
    _part(page, summary, "failures", "failures", failures)
    _part(page, summary, "open", "left open", [(said, "") for said in summary.open])


def _span(summary: SessionSummary) -> str:
    began, ended = summary.started_at, summary.ended_at
    if began is None or ended is None:
        return "no date"
    return f"{moment(began)} to {moment(ended)}, {amount((ended - began) / 1000)}"


def _turns(page: Page, summary: SessionSummary) -> None:
    left = summary.left_out.get("turns", 0)
    page.line()
    page.head("asked", page.paint(count(len(summary.turns) + left), "dim"))
    if not summary.turns:
        page.say("  No prompt of an agent's log.", "dim")
    for number, turn in enumerate(summary.turns):
        if left and number == policy.SESSION_FIRST:
            page.say(f"{count(left)} more lie between; --all shows them.", "dim", lead="  ")
        _turn(page, turn)


def _turn(page: Page, turn: Prompted) -> None:
    at = moment(turn.at)
    indent = " " * (len(at) + 4)
    page.fitted(f"  {at}  ", text.one_line(turn.asked))
    if turn.more:
        page.fitted(f"{indent}+ ", text.one_line(turn.more))
    page.fitted(f"{indent}-> ", text.one_line(turn.ended) or "no reply", "dim")


def _acts(page: Page, summary: SessionSummary, name: str, title: str) -> None:
    acts: Sequence[Act] = getattr(summary, name)
    rows = [
        (_within(act.text, summary.project) + f"  ({act.times} times)" * (act.times > 1), "")
        for act in acts
    ]
    _part(page, summary, name, title, rows)


def _part(
    page: Page, summary: SessionSummary, name: str, title: str, rows: Sequence[tuple[str, str]]
) -> None:
    if not rows:
        return
    left = summary.left_out.get(name, 0)
    page.line()
    page.head(title, page.paint(count(len(rows) + left), "dim"))
    if left:
        page.say(f"{count(left)} before these; --all shows them.", "dim", lead="  ")
    for said, beside in rows:
        page.say(text.one_line(said), lead="  ", lines=_LINES)
        if beside:
            page.say(text.one_line(beside), "dim", lead="    ", lines=_LINES)


def _within(path: str, project: str) -> str:
    """Return a path as it is called in its project."""
    return home_path(path.removeprefix(project.rstrip("/") + "/") if project else path)
