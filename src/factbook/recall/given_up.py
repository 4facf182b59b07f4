"""Tell of turns of agents' logs whether what they made was given up later.

A turn whose files were deleted afterwards, or put back as they were, and not written again, shows
an approach that does not hold any more, however well it answers.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from factbook import policy
from factbook.model.facts import EVERYONE, Fact
from factbook.recall.turns import CHANGED, Records, done_in
from factbook.store.port import Reads
from factbook.store.rows import Filters

DISCARDED: Final = "discarded_path"
COMMITTED: Final = "committed"
_DELETED: Final = "deleted "  # how the sentence of a discard begins that takes nothing back


def given_up(moment: Reads, turns: Mapping[int, Records]) -> dict[int, tuple[str, ...]]:
    """Return what was discarded of the files of turns, where that was most of what they changed."""
    told = Filters(predicates=(DISCARDED,), owner=EVERYONE)
    discarded = list(moment.facts(told, limit=policy.CUED_CANDIDATES, newest_first=True))
    if not discarded or not turns:
        return {}
    told = replace(told, predicates=(COMMITTED,))
    commits = list(moment.facts(told, limit=policy.CUED_CANDIDATES, newest_first=True))
    lost: dict[int, dict[str, Fact]] = {}
    for turn, done in done_in(moment, list(turns.values())).items():
        records = {id_ for id_, _ in turns[turn]}
        own = [one for one in discarded if one.episode_id in records]
        last = {_path(one.fact): one.fact for one in done if one.fact.predicate in CHANGED}
        # What it took away itself was no part of what it made.
        changed = {path: one for path, one in last.items() if not _taken(path, one, own, commits)}
        taken = ((path, _taken(path, one, discarded, commits)) for path, one in changed.items())
        gone = {path: by for path, by in taken if by is not None}
        if gone and len(gone) >= policy.GIVEN_UP_SHARE * len(changed):
            lost[turn] = gone
    if not lost:
        return {}
    since = min(by.occurred_at or 0 for gone in lost.values() for by in gone.values())
    told = Filters(predicates=CHANGED, since=since, owner=EVERYONE)
    again: dict[str, tuple[int, int]] = {}
    for one in moment.facts(told, limit=None):
        path = _path(one)
        again[path] = max(_when(one), again.get(path, (0, 0)))
    return {
        turn: tuple(dict.fromkeys(_path(by) for by in gone.values()))
        for turn, gone in lost.items()
        if not any(again.get(path, (0, 0)) > _when(by) for path, by in gone.items())
    }


def _taken(
    path: str, changed: Fact, discarded: Sequence[Fact], commits: Sequence[Fact]
) -> Fact | None:
    """Return the last of the discards, given the newest first, that took a file after its change.

    What was committed before is not taken back with what was changed since.
    """
    for one in discarded:
        if _when(one) <= _when(changed):
            return None
        if f"{path}/".startswith(f"{_path(one)}/") and (
            one.statement.startswith(_DELETED)
            or not any(
                _when(changed) < _when(each) < _when(one)
                for each in commits
                if each.project == one.project
            )
        ):
            return one
    return None


def _path(fact: Fact) -> str:
    return posixpath.normpath(posixpath.join(fact.project, fact.object))


def _when(fact: Fact) -> tuple[int, int]:
    return fact.occurred_at or 0, fact.id
