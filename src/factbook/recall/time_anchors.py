"""Read a time that an event names ("since the last release") and find the event in memory.

Only what memory itself knows is taken: a commit that was made, or a command that releases, deploys,
pushes or merges. Which one it was is told with the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from factbook.model.facts import Fact
from factbook.recall.commands import ACTS, does
from factbook.recall.time_expressions import Window, local, to_ms
from factbook.recall.time_points import COUNTED_FROM, day, offset

if TYPE_CHECKING:
    from factbook.store.port import Reads
    from factbook.store.rows import Filters

_LOOKED_AT: Final = 2_000  # the newest commands among which the event is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """An event that a question counts time from."""

    relation: str  # "since" or "before"
    what: str  # of `ACTS`, or "commit", which is a fact of its own
    phrase: str  # as it stands in the question
    counted: re.Match[str] | None = None  # how far from it: "the day before the release"


_EVENTS: Final[Mapping[str, str]] = {
    "commit": "commit",
    "release": "release",
    "deploy": "deploy",
    "deployment": "deploy",
    "push": "push",
    "merge": "merge",
    "publish": "publish",
}
_NOT_DONE: Final = re.compile(
    r"\btag(?:\s+(?:-[ldn]\b|--(?:list|delete|contains|points-at)).*|\s*$|\s*[|;&>].*)|--abort\b|--dry-run\b"
)
"""What only looks at such things, or takes them back: "git tag -l", "git merge --abort"."""
_ANCHOR: Final = re.compile(
    rf"(?i)\b(?:{COUNTED_FROM})?(?P<relation>since|after|before|until) (?:the |my |our )?"
    r"(?:last |latest |previous |most recent )?"
    rf"(?P<what>{'|'.join(sorted(_EVENTS, key=len, reverse=True))})\b(?![-/.:]\w| (?:of|to|is)\b)"
)


def find_anchor(question: str) -> Anchor | None:
    """Return the event that a question counts time from, or None."""
    match = _ANCHOR.search(question)
    if match is None:
        return None
    relation = "before" if match["relation"].lower() in ("before", "until") else "since"
    counted = match if match["unit"] and match["relation"].lower() in ("before", "after") else None
    what = _EVENTS[match["what"].lower()]
    return Anchor(relation=relation, what=what, phrase=match[0], counted=counted)


def window_of(anchor: Anchor, reads: Reads, filters: Filters) -> Window | None:
    """Return the time since (or before) the newest such event; None where memory knows of none."""
    event = _newest(anchor.what, reads, filters)
    if event is None or event.occurred_at is None:
        return None
    is_since = anchor.relation == "since"
    since = event.occurred_at if is_since else None
    until = None if is_since else event.occurred_at
    if anchor.counted is not None:
        begin, end = offset(anchor.counted, day(local(event.occurred_at)))
        since = None if begin is None else to_ms(begin)
        until = None if end is None else to_ms(end)
    return Window(
        since=since,
        until=until,
        phrase=anchor.phrase,
        exact=True,
        taken=event.statement,
    )


def _newest(what: str, reads: Reads, filters: Filters) -> Fact | None:
    predicate = "committed" if what == "commit" else "executed_command"
    among = replace(filters, predicates=(predicate,), kinds=())
    for fact in reads.facts(among, limit=_LOOKED_AT, newest_first=True):
        if what == "commit" or _is_done(fact.object, what):
            return fact
    return None


def _is_done(command: str, what: str) -> bool:
    return any(does(command, act) for act in ACTS[what]) and not _NOT_DONE.search(command)
