"""Find the statements that fade otherwise than the rest: never, or soon.

Nobody says again every month that they are allergic, or how their sister is called: what is of a
person's life, or says a name, no silence makes less sure. What says itself until when it is true
("I'm tired today") fades fast from then on. Each statement is looked at once, in the night after it
came.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.extract.sentences import words
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading
from factbook.maintenance.passing import true_until
from factbook.model.confidence import fades
from factbook.model.facts import FactKind
from factbook.model.ops import HoldFact, MarkProgress, Op
from factbook.store.port import marked
from factbook.store.rows import LifeWhere

if TYPE_CHECKING:
    from factbook.context import Context

__all__ = ["hold_ops"]

MARK: Final = "hold"


def hold_ops(context: Context) -> Iterator[list[Op]]:
    """Yield what lets new statements hold, for good or until a time, page by page with its mark."""
    store, reader = context.store, context.resources.reader
    reads = read if reader is None else reader.read
    more = True
    while more:
        page = store.changed("fact", marked(store, MARK), limit=policy.HELD_PAGE)
        if not page.came:
            return
        new = LifeWhere(ids=page.came, kinds=[FactKind.STATEMENT], current=True)
        ops: list[Op] = []
        for life in store.lives(new):
            if fades(life):
                reading = reads(life.statement)
                until = true_until(reading, life.occurred_at) if life.occurred_at else None
                if until is not None or _is_of_a_life(reading):
                    ops.append(HoldFact(fact_id=life.id, until=until))
        more = page.more
        yield [*ops, MarkProgress(name=MARK, at=page.last)]


def _is_of_a_life(reading: Reading) -> bool:
    """Tell whether a statement is of a matter that does not fade, or says a name or a birthday."""
    if any(clause.kind in policy.HELD_MATTERS for clause in reading.clauses):
        return True
    return not policy.HELD_WORDS.isdisjoint(words(reading.text))
