"""Find the statements that fade otherwise than the rest: never, not all the way, or soon.

Nobody says again every month that they are allergic, or how their sister is called: what is of a
person's life, or says a name, no silence makes less sure. Where they work and live, what they have
and do, they seldom say again either: who asks finds it for good, but it stops coming by itself.
What else says itself until when it is true ("I'm in Rome this week") fades fast from then on, and
of health what is said to be today's.
Each statement is looked at once, in the night after it came.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.extract.sentences import words
from factbook.language.reader.read import read
from factbook.language.reader.reading import Clause, Reading
from factbook.maintenance.passing import true_until
from factbook.model.confidence import fades
from factbook.model.facts import FactKind
from factbook.model.ops import HoldFact, MarkProgress, Op
from factbook.store.port import marked
from factbook.store.rows import Life, LifeWhere

if TYPE_CHECKING:
    from factbook.context import Context

MARK: Final = "lasting"
_NOT_SO: Final = frozenset({"future", "hedge", "if", "wish"})  # flags of what may never be


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
                hold = _hold(life, reads(life.statement))
                if hold is not None:
                    ops.append(hold)
        more = page.more
        yield [*ops, MarkProgress(name=MARK, at=page.last)]


def _hold(life: Life, reading: Reading) -> HoldFact | None:
    """Return what lets a statement hold; None where it fades as the rest."""
    matters = policy.HELD_MATTERS.intersection(clause.kind for clause in reading.clauses)
    named = not policy.HELD_WORDS.isdisjoint(words(reading.text))
    until = None
    if life.occurred_at and not named and matters <= policy.HELD_BUT_TODAY:
        until = true_until(reading, life.occurred_at, today=bool(matters))
    if until is None and not named and not matters:
        until = policy.LASTING_TO
        if not any(map(_lasts, reading.clauses)):
            return None
    return HoldFact(fact_id=life.id, until=until)


def _lasts(clause: Clause) -> bool:
    """Tell whether a clause is about what somebody is, has or does, or has done with."""
    theirs = clause.act == "tell" and clause.of in ("me", "person")
    return theirs and clause.kind in policy.LASTING_MATTERS and clause.flags.isdisjoint(_NOT_SO)
