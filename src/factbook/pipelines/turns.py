"""Turns: the way of what a language model reads in what people say.

    turns that wait -> the model's answer -> items in place -> the gate -> Ops -> Receipt
                    statement, change   asserted | surer, where the reader has it | refused
                    directive           as the reader's (`pipelines.directives`)
                    preference, name    as a message's (`pipelines.world_names`)

The reader comes first and needs no model; what both find in the same words of a turn is one
evidence, of which the fact is surer. What a model finds besides goes through the same gate. An item
is refused by itself, with its reason. A call that fails says nothing of its turns: they stay
waiting, with the reason, and are asked about again, those that failed each in a call of its own.
Where the failure is the endpoint's, the pass ends, and they are asked about in batches as before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.apply.fact_rows import day_of
from factbook.errors import ModelError, ModelFailure
from factbook.extract.turn_reading import (
    KINDS,
    PROMPT_VERSION,
    PURPOSE,
    KnownFact,
    RefusedItem,
    ShownTurn,
    TurnsAnswer,
    read_turns,
    shown_turn,
    turn_batches,
    turn_messages,
)
from factbook.model.facts import EVERYONE, Candidate, Receipt, Role, StoredEpisode, Trigger, Trust
from factbook.model.ops import FailTask, FinishTask, Op
from factbook.pipelines.asking import is_endpoints, wait_ms, was_sent
from factbook.pipelines.claims import refused
from factbook.pipelines.turn_items import TurnKeeper, Write
from factbook.store.derived.facts import holds, lives_by_id
from factbook.store.derived.tasks import open_tasks
from factbook.store.kinds import CALL, MODEL_TASK
from factbook.store.rows import Filters

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.store.port import Store

KIND: Final = PURPOSE  # of the tasks in the store too
PAGE: Final = 200  # ours: turns that are looked at together
_SAID: Final = Filters(
    owner=EVERYONE, episode_kinds=KINDS, roles=[Role.USER], trusts=[Trust.DIRECT]
)
_METHOD: Final = "Proposed by {}"
_SPENT: Final = "the calls of {} for turns are spent ({}); the others wait"

Near = Callable[[str, str], Mapping[int, float]]


@dataclass(slots=True, kw_only=True)
class TurnsReport:
    """What one pass over turns did."""

    read: int = 0  # turns that the model answered for
    silent: int = 0  # turns with too few words of their owner's own: not asked about
    calls: int = 0
    offered: int = 0  # items of the answers
    agreed: int = 0  # of them, what the reader had found in the same words
    refused: Counter[str] = field(default_factory=Counter)  # of them, by reason
    failed: list[tuple[int, str]] = field(default_factory=list)  # (turns, why), still waiting
    stopped: str = ""  # why the pass ended before its end
    left: int = 0  # turns that wait still
    receipt: Receipt = field(default_factory=Receipt)

    def counts(self) -> dict[str, object]:
        """Return it without what was written, for the record of a run."""
        return {
            "read": self.read,
            "silent": self.silent,
            "calls": self.calls,
            "offered": self.offered,
            "agreed": self.agreed,
            "refused": dict(self.refused),
            "failed": [{"turns": number, "why": why} for number, why in self.failed],
            "stopped": self.stopped,
            "left": self.left,
        }


def turns_waiting(store: Store) -> int:
    """Count the turns that no model has answered for."""
    done = store.find(MODEL_TASK, {"kind": KIND, "state": "done"})
    return len(set(store.ids("episode", _SAID)) - {task.target for task in done})


def extract_turns(
    context: Context,
    *,
    near: Near,
    write: Write | None = None,
    limit: int | None = None,
    calls: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> TurnsReport:
    """Ask the model what the turns say that it has not answered for, oldest first.

    `near` finds the facts of an owner that a text may speak of, with their cosines. `write` is what
    writes facts, where that belongs to a run. `limit` is how many turns are asked about at most,
    `calls` how many calls may be made; a day has policy.TURN_CALLS_DAY. Where the endpoint does not
    answer, whatever it is asked, or a budget is spent, the pass ends, and the report says so.

    Raises ModelError where no model is configured, ReaderError where the reader cannot be loaded.
    """
    # As at night: who asks for a reading has answered no question that it raises.
    write = write or (lambda ops: context.write(ops, Trigger.UPKEEP))
    report = TurnsReport()
    _Pass(context, near, write, report, calls).run(limit, progress)
    report.left = turns_waiting(context.store)
    return report


class _Pass:
    """One pass over the turns that wait."""

    def __init__(
        self, context: Context, near: Near, write: Write, report: TurnsReport, calls: int | None
    ) -> None:
        self._context = context
        self._store = context.store
        self._llm = context.llm
        self._near = near
        self._write = write
        self._report = report
        self._calls = calls
        self._answered = False  # something came back in this pass

    def run(self, limit: int | None, progress: Callable[[int], None] | None) -> None:
        left = limit
        while left is None or left > 0:
            page = self._store.untasked(KIND, _SAID, now=self._context.clock(), limit=PAGE)
            if not page:
                return
            shown = {episode.id: shown_turn(episode) for episode in page}
            silent = [number for number, turn in shown.items() if turn is None]
            if silent:
                self._receive([FinishTask(kind=KIND, target=n, version="rules") for n in silent])
                self._report.silent += len(silent)
            turns = [turn for turn in shown.values() if turn is not None][:left]
            tasks = open_tasks(self._store, KIND)
            failed = [task.target for task in tasks if task.attempts]
            # last what was asked about in vain: it shall not keep the others waiting
            vain = {task.target for task in tasks}
            turns.sort(key=lambda turn: turn.episode.id in vain)
            tokens = self._llm.context_tokens
            for batch in turn_batches(turns, context_tokens=tokens, failed=failed):
                if not self._may_call() or not self._ask(batch):
                    return
                if progress:
                    progress(len(batch))
            left = None if left is None else left - len(turns)

    def _may_call(self) -> bool:
        """Tell whether one more call may be made; say why not."""
        day = day_of(self._context.clock())
        made = self._store.find(CALL, {"day": day, "purpose": KIND})
        if sum(row.calls for row in made) >= policy.TURN_CALLS_DAY:
            self._report.stopped = _SPENT.format("the day", policy.TURN_CALLS_DAY)
        elif self._calls is not None and self._report.calls >= self._calls:
            self._report.stopped = _SPENT.format("this pass", self._calls)
        return not self._report.stopped

    def _ask(self, batch: Sequence[ShownTurn]) -> bool:
        """Ask about turns and write what they say; False where the next would fail alike."""
        known = self._known(batch)
        try:
            answer = self._call(batch, known)
        except ModelError as error:
            return self._failed(error, batch)
        self._keep(answer, batch, known)
        return True

    def _call(self, batch: Sequence[ShownTurn], known: Sequence[KnownFact]) -> TurnsAnswer:
        self._report.calls += 1
        redact = self._context.redact
        shown = [(turn.episode.kind.value, redact(turn.text)) for turn in batch]
        answer = self._llm.ask(turn_messages(shown, known), TurnsAnswer, purpose=KIND)
        self._answered = True
        return answer

    def _failed(self, error: ModelError, batch: Sequence[ShownTurn]) -> bool:
        """Let turns wait after a failure; False where the next would fail alike."""
        if not self._answered and error.kind is ModelFailure.TIMEOUT and len(batch) > 1:
            # Nothing came: is the endpoint gone, or are so many turns too many for its time?
            if not self._may_call() or not self._ask(batch[:1]):
                self._put_off(error, batch[1:], tried=False)
                return False
            batch = batch[1:]
        self._answered = self._answered or (was_sent(error) and not error.endpoint)
        tried = not is_endpoints(error, answered=self._answered)
        why = self._put_off(error, batch, tried=tried)
        if not was_sent(error):
            self._report.calls -= 1
        if not tried or not was_sent(error) or error.kind is ModelFailure.CONNECT:
            self._report.stopped = why
        return not self._report.stopped

    def _put_off(self, error: ModelError, batch: Sequence[ShownTurn], *, tried: bool) -> str:
        """Keep why turns wait; return it."""
        why = self._context.redact(str(error))
        if was_sent(error):
            self._report.failed.append((len(batch), why))
            self._receive([_failure(turn, why, tried, wait_ms(error)) for turn in batch])
        return why

    def _known(self, batch: Sequence[ShownTurn]) -> list[KnownFact]:
        """Return the facts of the owner that are nearest to any of the turns."""
        owner = batch[0].episode.owner
        cosines: dict[int, float] = {}
        for turn in batch:
            for fact_id, cosine in self._near(turn.text.strip(), owner).items():
                cosines[fact_id] = max(cosine, cosines.get(fact_id, -1.0))
        best = sorted(cosines, key=lambda fact_id: -cosines[fact_id])[: policy.TURN_KNOWN]
        lives = lives_by_id(self._store, best)
        return [
            KnownFact(n, self._context.redact(lives[n].statement))
            for n in best
            if n in lives and holds(lives[n]) and lives[n].owner == owner
        ]

    def _keep(
        self, answer: TurnsAnswer, batch: Sequence[ShownTurn], known: Sequence[KnownFact]
    ) -> None:
        reading = read_turns(answer, batch, known)
        episodes = {turn.episode.uid: turn.episode for turn in batch}
        self._report.offered += len(reading.refused)
        self._refuse(reading.refused, episodes)
        for turn in batch:
            placed = reading.placed.get(turn.episode.uid)
            if placed is None:
                continue
            taken = TurnKeeper(self._context, turn, self._receive).keep(placed)
            self._report.offered += len(placed)
            self._report.agreed += taken.agreed
            self._report.receipt.add(taken.cared)
            self._refuse(taken.refused, episodes)
            # Last: a turn that is read again says the same.
            done = FinishTask(kind=KIND, target=turn.episode.id, version=PROMPT_VERSION)
            self._receive([done])
            self._report.read += 1
        left_out = [turn for turn in batch if turn.episode.uid in reading.unanswered]
        if left_out:
            whys = [self._context.redact(reading.unanswered[turn.episode.uid]) for turn in left_out]
            self._receive([_failure(*one) for one in zip(left_out, whys, strict=True)])
            self._report.failed += [(number, why) for why, number in Counter(whys).items()]

    def _refuse(self, items: Sequence[RefusedItem], episodes: Mapping[str, StoredEpisode]) -> None:
        """Keep what is refused, each with its reason; what is of no turn stands under the first."""
        ops: list[Op] = []
        for item in items:
            self._report.refused[item.reason] += 1
            episode = episodes[item.uid or next(iter(episodes))]
            text = self._context.redact(item.text) or item.detail
            at = max(0, episode.text.find(item.text))
            candidate = Candidate(
                subject=episode.owner,
                predicate=item.what,
                object=text,
                statement=text,
                confidence=0.0,
                rule=f"turn_{item.what}",
                method=_METHOD.format(self._llm.id),
                start=at,
                end=min(len(episode.text), at + max(1, len(item.text))),
            )
            ops.append(refused(candidate, episode, item.reason, self._context.redact(item.detail)))
        if ops:
            self._receive(ops)

    def _receive(self, ops: Sequence[Op]) -> Receipt:
        receipt = self._write(ops)
        self._report.receipt.add(receipt)
        return receipt


def _failure(turn: ShownTurn, why: str, tried: bool = True, wait: int = 0) -> FailTask:
    return FailTask(
        kind=KIND,
        target=turn.episode.id,
        version=PROMPT_VERSION,
        error=why,
        tried=tried,
        wait_ms=wait,
    )
