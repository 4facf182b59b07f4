"""Tell of what was done only what matters: in one line for each turn, or for each thing.

Of the files that a turn changed all are one line, of its checks the last one. Knows:
facts of logs, and in which turns their records lie. Does not know: a store, how lines are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from factbook import policy
from factbook.model.facts import EpisodeKind, Fact, StoredEpisode

__all__ = ["told_of", "worth_telling"]

_CHANGED: Final = "modified_file"
_CHECKED: Final = "verified"
Turns = Mapping[int, Sequence[tuple[int, EpisodeKind]]]


def told_of(facts: Sequence[Fact], turns: Turns) -> list[Fact]:
    """Return what is told of facts, given and returned the newest first."""
    told: list[Fact] = []
    changed: dict[object, list[str]] = {}
    checked: set[object] = set()
    said: set[tuple[object, str]] = set()
    for fact in facts:
        records = turns.get(fact.episode_id)
        turn = (fact.project, records[0][0]) if records else (fact.project, f"e{fact.episode_id}")
        if fact.predicate == _CHANGED:
            if turn not in changed:
                told.append(fact)
            changed.setdefault(turn, []).append(fact.object)
            continue
        # What is reported both as a fault and as its cause is one thing.
        if (turn, fact.statement) in said or (fact.predicate == _CHECKED and turn in checked):
            continue
        said.add((turn, fact.statement))
        if fact.predicate == _CHECKED:
            checked.add(turn)
        told.append(fact)
    files = iter(changed.values())
    return [_with_files(one, next(files)) if one.predicate == _CHANGED else one for one in told]


def _with_files(fact: Fact, paths: Sequence[str]) -> Fact:
    """Return a fact of the last file that was changed, with the names of all of them."""
    names = list(dict.fromkeys(path.rsplit("/", 1)[-1] for path in reversed(paths)))
    if len(set(paths)) == 1:
        return fact
    more = len(names) - policy.TURN_FILES
    listed = ", ".join(names[: policy.TURN_FILES]) + (f" and {more} more" if more > 0 else "")
    return replace(fact, statement=f"changed {len(set(paths))} files: {listed}")


def worth_telling(
    asked: Sequence[StoredEpisode], facts: Sequence[Fact], turns: Turns
) -> list[StoredEpisode]:
    """Return the prompts that say something, or that something came of ("8", "go on")."""
    came = {turns[fact.episode_id][0][0] for fact in facts if fact.episode_id in turns}
    return [one for one in asked if len(one.text.split()) >= policy.PROMPT_WORDS or one.id in came]
