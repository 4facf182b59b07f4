"""Run a rule that was accepted over the commands that are stored: it told of new ones only.

facts `executed_command` -> their calls, each with its command -> the rule -> the gate -> Ops
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from factbook import policy
from factbook.extract.base import Rule
from factbook.extract.model_reading import recalled
from factbook.extract.rules import RuleSet
from factbook.model.facts import EVERYONE, Receipt, Trigger
from factbook.pipelines.claims import judged
from factbook.store.rows import Filters

if TYPE_CHECKING:
    from factbook.context import Context


def read_commands(
    context: Context, rules: Sequence[Rule], *, progress: Callable[[int], None] = lambda _: None
) -> Receipt:
    """Write what rules find in stored commands; what is known already stays as it is.

    `progress` is called with how many commands were read since its last call.
    """
    store, ruled, total = context.store, RuleSet(rules), Receipt()
    commands = Filters(owner=EVERYONE, predicates=("executed_command",))
    ids = store.ids("fact", commands)
    for at in range(0, len(ids), policy.REREAD_PAGE):
        page = ids[at : at + policy.REREAD_PAGE]
        rows = store.evidence(fact_ids=page)
        calls = store.episodes_by_id(sorted({row.episode_id for row in rows}))
        ops = []
        for row in rows:
            call = calls.get(row.episode_id)
            if call is not None and not call.injected:
                episode = recalled(call, command=(row.start, row.end))
                ops += [judged(candidate, episode) for candidate in ruled.extract(episode)]
        total.add(context.write(ops, Trigger.COMMAND))
        progress(len(page))
    return total
