"""Commands and requests that no rule understands: the way of what a model reads in them.

    stored episodes that wait -> the model's answer -> candidates -> the gate -> Ops -> Receipt

The rules come first (origins 000.1's future part); what they tell of is never asked about. What the
model adds goes through the same gate as a rule's claims, with the seed's confidence for inference
and the span that code found. A failed call leaves its commands queued with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from factbook.errors import ModelError, ModelFailure
from factbook.extract.model_reading import (
    PROMPT_VERSION,
    CommandAnswer,
    RefusedPart,
    command_batches,
    command_candidates,
    command_messages,
    is_understood,
    recalled,
)
from factbook.model.facts import (
    EVERYONE,
    Candidate,
    Episode,
    EpisodeKind,
    FactKind,
    Receipt,
    StoredEpisode,
    Trigger,
)
from factbook.model.ops import FailTask, FinishTask, Op, RejectCandidate
from factbook.pipelines.asking import is_endpoints, wait_ms, was_sent
from factbook.pipelines.claims import judged, refused
from factbook.store.derived.facts import lives_by_id
from factbook.store.derived.tasks import open_tasks
from factbook.store.port import Store
from factbook.store.rows import Filters

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.llm import LLM

KIND: Final = "commands"  # of the tasks in the store, and the purpose of the calls
ASKED: Final = (EpisodeKind.TOOL_CALL, EpisodeKind.PROMPT)
PAGE: Final = 500  # ours: episodes that are looked at together


@dataclass(slots=True, kw_only=True)
class CommandsReport:
    """What one pass over commands did."""

    read: int = 0  # episodes that the model answered for
    understood: int = 0  # episodes that the rules had understood: not asked about
    calls: int = 0
    failed: list[tuple[int, str]] = field(default_factory=list)  # (episodes, why), still queued
    stopped: str = ""  # why the pass ended before its end
    receipt: Receipt = field(default_factory=Receipt)


def extract_commands(
    context: Context, *, limit: int | None = None, progress: Callable[[int], None] | None = None
) -> CommandsReport:
    """Ask the model about commands that rules do not understand, oldest first.

    `limit` is how many episodes are asked about at most. Where a failure is the endpoint's, or the
    budget is spent, the pass ends.
    """
    store, llm = context.store, context.llm
    report = CommandsReport()
    calls = Filters(owner=EVERYONE, episode_kinds=ASKED)
    left = limit
    while left is None or left > 0:
        page = store.untasked(KIND, calls, now=context.clock(), limit=PAGE)
        if not page:
            break
        # last what was asked about in vain: it shall not keep the others waiting
        vain = {task.target for task in open_tasks(store, KIND)}
        page.sort(key=lambda stored: stored.id in vain)
        said = _said_by(store, page)
        asked: list[Episode] = []
        ids: dict[str, int] = {}
        known: dict[str, list[Candidate]] = {}
        done: list[Op] = []
        for stored in page:
            candidates = said[stored.id]
            spans = ((c.start, c.end) for c in candidates if c.predicate == "executed_command")
            episode = recalled(stored, command=next(spans, None))
            if is_understood(episode, candidates):
                done.append(FinishTask(kind=KIND, target=stored.id, version="rules"))
            else:
                asked.append(episode)
                ids[episode.uid] = stored.id
                known[episode.uid] = candidates
        report.understood += len(done)
        if done:
            context.write(done, Trigger.COMMAND)
        for batch in command_batches(asked, context_tokens=llm.context_tokens, most=left):
            if left is not None and left <= 0:
                return report
            report.calls += 1
            try:
                _batch(context, llm, batch, ids, known, report)
            except ModelError as error:
                why = context.redact(str(error))
                if not was_sent(error):
                    report.calls, report.stopped = report.calls - 1, why
                    return report  # nothing was tried: the counts stay
                report.failed.append((len(batch), why))
                tried = not is_endpoints(error, answered=report.read > 0)
                fails = [_failure(ids[one.uid], why, tried, wait_ms(error)) for one in batch]
                context.write(fails, Trigger.COMMAND)
                if not tried or error.kind is ModelFailure.CONNECT:
                    report.stopped = why
                    return report
            left = None if left is None else left - len(batch)
            if progress:
                progress(len(batch))
    return report


def _batch(
    context: Context,
    llm: LLM,
    batch: Sequence[Episode],
    ids: dict[str, int],
    known: dict[str, list[Candidate]],
    report: CommandsReport,
) -> None:
    answer = llm.ask(command_messages(batch), CommandAnswer, purpose=KIND)
    reading = command_candidates(answer, batch, model=llm.id, known=known)
    episodes = {episode.uid: episode for episode in batch}
    ops: list[Op] = []
    for uid, candidates in reading.candidates.items():
        ops += [judged(candidate, episodes[uid]) for candidate in candidates]
    # What a rule says already is no refusal: the fact is there.
    new = (part for part in reading.refused if part.reason != "known")
    ops += [_refusal(part, episodes, context.redact) for part in new]
    ops += [
        FinishTask(kind=KIND, target=ids[uid], version=PROMPT_VERSION)
        for uid in episodes
        if uid not in reading.unanswered
    ]
    whys = {uid: context.redact(why) for uid, why in reading.unanswered.items()}
    ops += [_failure(ids[uid], why) for uid, why in whys.items()]
    report.receipt.add(context.write(ops, Trigger.COMMAND))
    report.read += len(batch) - len(reading.unanswered)
    report.failed += [(number, why) for why, number in Counter(whys.values()).items()]


def _refusal(
    refused_part: RefusedPart, episodes: dict[str, Episode], redact: Callable[[str], str]
) -> RejectCandidate:
    """Return the row of a refused item; what is of no episode stands under the first one."""
    episode = episodes[refused_part.uid or next(iter(episodes))]
    candidate = refused_part.candidate or Candidate(
        subject=episode.subject,
        predicate="",
        object=refused_part.detail,
        statement=refused_part.detail,
        confidence=0.0,
        rule="commands.modelled",
        method="Proposed by a model",
        start=0,
        end=1,
    )
    return refused(candidate, episode, refused_part.reason, redact(refused_part.detail))


def _failure(target: int, why: str, tried: bool = True, wait: int = 0) -> FailTask:
    return FailTask(
        kind=KIND, target=target, version=PROMPT_VERSION, error=why, tried=tried, wait_ms=wait
    )


def _said_by(store: Store, page: Sequence[StoredEpisode]) -> dict[int, list[Candidate]]:
    """Return what episodes are evidence for, by their ids."""
    rows = store.evidence(episode_ids=[stored.id for stored in page])
    lives = lives_by_id(store, {row.fact_id for row in rows})
    subjects = {stored.id: stored.subject for stored in page}
    said: dict[int, list[Candidate]] = {id_: [] for id_ in subjects}
    for row in rows:
        life = lives[row.fact_id]
        known = Candidate(
            subject=subjects[row.episode_id],
            predicate=life.predicate,
            object=life.object,
            statement=life.object,
            confidence=1.0,
            rule=row.rule,
            method="",
            start=row.start,
            end=row.end,
            kind=FactKind.OBSERVATION,
        )
        said[row.episode_id].append(known)
    return said
