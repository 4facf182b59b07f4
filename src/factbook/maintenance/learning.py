"""Propose predicates from the commands that recur; a person says yes or no."""

from __future__ import annotations

from factbook import policy
from factbook.embed.halves import unpacked
from factbook.extract.predicate_discovery import ExecutedCommand, as_toml, find_operations
from factbook.model.facts import EVERYONE
from factbook.model.ops import MarkProgress, Op, Propose
from factbook.store.base import Filters, Store
from factbook.store.port import marked

KIND = "predicate"  # of the proposals


def learning_ops(store: Store) -> list[Op]:
    """Return proposals for what recurs among the newest commands, and the mark behind them.

    Nothing is looked at again until enough new commands have come. The vector of a command is that
    of the tool call that ran it; commands whose calls have none yet wait for another night.
    """
    mark = marked(store, "learn")
    wanted = Filters(owner=EVERYONE, predicates=("executed_command",))
    facts = list(store.facts(wanted, limit=policy.LEARNED_COMMANDS, newest_first=True))
    changes = store.changed("fact", mark)
    fresh = set(changes.came)
    if sum(one.id in fresh for one in facts) < policy.LEARN_AFTER:
        return []
    vectors = unpacked(*store.vectors("episode", sorted({one.episode_id for one in facts})))
    if not vectors.ids:
        return []
    row_of = {one: n for n, one in enumerate(vectors.ids)}
    commands = [
        ExecutedCommand(
            uid=str(one.episode_id),
            session=one.session,
            text=one.object,
            row=row_of[one.episode_id],
        )
        for one in facts
        if one.episode_id in row_of
    ]
    found = find_operations(commands, vectors.rows)
    ops: list[Op] = [
        Propose(
            kind=KIND,
            key=one.name,
            title=f"{one.name}: {one.count} commands in {one.sessions} sessions",
            payload={
                "name": one.name,
                "pattern": one.pattern,
                "examples": list(one.examples),
                "count": one.count,
                "sessions": one.sessions,
                "toml": as_toml(one),
            },
        )
        for one in found
    ]
    return [*ops, MarkProgress(name="learn", at=changes.last)]
