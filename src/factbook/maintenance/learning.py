"""Propose predicates from the commands that recur; a person says yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from factbook import policy
from factbook.embed.halves import unpacked
from factbook.extract.predicate_discovery import ExecutedCommand, as_toml, find_operations
from factbook.model.facts import EVERYONE, Fact
from factbook.model.ops import MarkProgress, Op, Propose
from factbook.store.derived.facts import holds, lives_by_id
from factbook.store.port import Store, marked
from factbook.store.rows import Filters

KIND: Final = "predicate"  # of the proposals
_ANY: Final = """
executed_command ran used_tool described_as requested_in_session mentions_path exited_with
failed_with fixed_by
"""
_OF_ANY_COMMAND: Final = frozenset(_ANY.split())
"""Predicates that tell that there was a command, on what and how it ended, and not what it does."""


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
    said = _said(store, facts)
    commands = [
        ExecutedCommand(
            uid=str(fact.episode_id),
            session=fact.session,
            text=fact.object,
            row=row_of[fact.episode_id],
            said=said.get(fact.id, ()),
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
                "only_looks": predicate.only_looks,
                "toml": as_toml(predicate),
            },
        )
        for predicate in operations
    ]
    return [*ops, MarkProgress(name="learn", at=changes.last)]


def _said(store: Store, facts: Sequence[Fact]) -> dict[int, tuple[tuple[int, int], ...]]:
    """Return the parts of commands, by their facts, of which predicates tell what they do."""
    rows = store.evidence(episode_ids=sorted({fact.episode_id for fact in facts}))
    lives = lives_by_id(store, {row.fact_id for row in rows})
    spans: dict[int, list[tuple[int, int]]] = {}
    for row in rows:
        life = lives[row.fact_id]
        if life.predicate not in _OF_ANY_COMMAND and holds(life):
            spans.setdefault(row.episode_id, []).append((row.start, row.end))
    begins = {row.fact_id: row.start for row in rows}
    return {
        fact.id: tuple(
            (begin - begins[fact.id], end - begins[fact.id])
            for begin, end in spans.get(fact.episode_id, ())
        )
        for fact in facts
        if fact.id in begins
    }
