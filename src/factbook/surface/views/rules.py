"""Show rules and decisions: as a table for a person, and as a file that an agent loads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from factbook import policy
from factbook.language.values import count, home_path, moment
from factbook.model.confidence import is_passive
from factbook.model.directives import EVERYWHERE, LANGUAGE, OFFERED, scope_of
from factbook.model.facts import iso
from factbook.model.frame import as_data
from factbook.model.ours import MEMORY_TAG
from factbook.model.text import shorten
from factbook.surface.text import Column
from factbook.surface.views.tables import with_details

if TYPE_CHECKING:
    from factbook.model.facts import Evidence, Fact
    from factbook.surface.output import Page

_HEAD: Final = (
    "Rules and decisions that the owner gave to agents, with where each holds. Written by"
    " `factbook rules --format agents-md`; what is changed by hand here is overwritten."
)
_SCOPES: Final = (EVERYWHERE, LANGUAGE)  # in this order; projects follow
_IMPORT: Final = re.compile(r"(?<!\w)@[^\s,;']*")  # draws in the file of that path, but not as code
_CODE: Final = re.compile(r"(`[^`]*`)")


class Held(NamedTuple):
    """A rule or a decision that holds, with the places that show it, oldest first."""

    fact: Fact
    evidence: Sequence[Evidence]

    @property
    def since(self) -> int | None:
        times = [one.occurred_at for one in self.evidence if one.occurred_at is not None]
        return min(times, default=self.fact.occurred_at)

    @property
    def said(self) -> Sequence[Evidence]:
        """The places in which its owner says it: not where an assistant offered it."""
        return [one for one in self.evidence if one.rule != OFFERED]

    @property
    def shown_by(self) -> str:
        """The episode that it was first read in."""
        first = next(iter(self.said), None)
        return f"e{self.fact.episode_id if first is None else first.episode_id}"

    @property
    def place(self) -> str:
        """Where it holds, in words; empty for a project that nobody knows."""
        scope, of = scope_of(self.fact.subject)
        return of or ("" if scope != EVERYWHERE else EVERYWHERE)


def table(page: Page, rows: Sequence[Held]) -> None:
    if not rows:
        page.say(
            "No rules and no decisions yet. They are read from prompts to coding agents; where"
            f" reading logs left that for the night, {page.typed('consolidate')} does it now."
        )
        return
    columns = [
        Column("id", lambda row: f"f{row.fact.id}", "dim"),
        Column("since", lambda row: moment(row.since), optional=True),
        Column("kind", lambda row: row.fact.predicate, "cyan"),
        Column("said", lambda row: row.fact.statement, least=24),
        Column("times", lambda row: count(len(row.said)), right=True, optional=True),
        Column("conf", lambda row: f"{row.fact.confidence:.2f}", right=True, optional=True),
        Column("by", lambda row: row.shown_by, "dim", right=True, optional=True),
        Column("holds in", lambda row: home_path(row.place) or "?", "dim", least=10, most=24),
    ]
    given = [row for row in rows if is_passive(row.fact.confidence)]
    likely = [row for row in rows if not is_passive(row.fact.confidence)]
    if given:
        with_details(page, columns, given, lambda row: [])
    if likely:
        page.say("Likely, and given to no agent before it is said again:", "dim")
        with_details(page, columns, likely, lambda row: [])


def agents_md(rows: Sequence[Held]) -> Iterator[str]:
    """Yield the lines of a file for agents: the same rules in the same order whenever it is made.

    It stands in a block of ours, so that what is read from it again is known to be no news. What
    is left out is counted below.
    """
    sure = [row for row in rows if is_passive(row.fact.confidence)]
    newest = sorted(sure, key=lambda row: (-(row.since or 0), -row.fact.id))[: policy.RULES_SHOWN]
    yield "# Rules and decisions"
    yield f"<{MEMORY_TAG}>"
    yield _HEAD
    for (_, place), held in groupby(sorted(newest, key=_order), key=lambda row: _order(row)[:2]):
        yield f"## {_heading(place)}"
        for row in held:
            yield f"- {_said(row)}"
    left_out = [
        f"{count(number)} {why}"
        for number, why in (
            (len(rows) - len(sure), "that were said once and may be none"),
            (len(sure) - len(newest), "that are older"),
        )
        if number
    ]
    if left_out:
        yield f"Left out: {', '.join(left_out)}; `factbook rules` lists them."
    yield f"</{MEMORY_TAG}>"


def _order(row: Held) -> tuple[int, str, int, int]:
    scope = scope_of(row.fact.subject)[0]
    rank = _SCOPES.index(scope) if scope in _SCOPES else len(_SCOPES)
    return rank, row.place, row.since or 0, row.fact.id


def _heading(place: str) -> str:
    if place == EVERYWHERE:
        return "Everywhere"
    return f"In {_plain(place)}" if place else "In a project that is not known"


def _said(row: Held) -> str:
    fact = row.fact
    since = f", since {(iso(row.since) or '')[:10]}" if row.since is not None else ""
    times = f", said {count(len(row.said))} times" if len(row.said) > 1 else ""
    said = _plain(shorten(fact.statement, policy.RULE_CHARS))
    return f"{said} ({fact.predicate}{since}{times}, f{fact.id})"


def _plain(text: str) -> str:
    """Return a text as one line that opens no tag and draws in no file: a path is code."""
    line = as_data(text)
    if "``" in line or line.count("`") % 2:
        line = line.replace("`", "'")  # else what is code would begin elsewhere
    return "".join(
        part if _CODE.fullmatch(part) else _IMPORT.sub(r"`\g<0>`", part)
        for part in _CODE.split(line)
    )
