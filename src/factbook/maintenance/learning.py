"""Propose predicates from the commands that recur; a person says yes or no."""

from __future__ import annotations

from factbook import policy
from factbook.embed.halves import unpacked
from factbook.extract.predicate_discovery import ExecutedCommand, as_toml, find_operations
from factbook.model.facts import EVERYONE
from factbook.model.ops import MarkProgress, Op, Propose
from factbook.store.port import Store, marked
from factbook.store.rows import Filters

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
    if sum(fact.id in fresh for fact in facts) < policy.LEARN_AFTER:
        return []
    vectors = unpacked(*store.vectors("episode", sorted({fact.episode_id for fact in facts})))
    if not vectors.ids:
        return []
    row_of = {episode_id: n for n, episode_id in enumerate(vectors.ids)}
    commands = [
        ExecutedCommand(
            uid=str(fact.episode_id),
            session=fact.session,
            text=fact.object,
            row=row_of[fact.episode_id],
        )
        for fact in facts
        if fact.episode_id in row_of
    ]
    operations = find_operations(commands, vectors.rows)
    ops: list[Op] = [
        Propose(
            kind=KIND,
            key=predicate.name,
            title=f"{predicate.name}: {predicate.count} commands in {predicate.sessions} sessions",
            payload={
                "name": predicate.name,
                "pattern": predicate.pattern,
                "examples": list(predicate.examples),
                "count": predicate.count,
                "sessions": predicate.sessions,
                "toml": as_toml(predicate),
            },
        )
        for predicate in operations
    ]
    return [*ops, MarkProgress(name="learn", at=changes.last)]
