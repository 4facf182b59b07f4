"""From a file to Ops, without a store: read, redact, extract, judge.

Everything here is a function of the file and its cursor, so it can run in another process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from factbook.extract.joining import Joining, waits
from factbook.extract.rules import RuleSet
from factbook.model import fast_dataclass
from factbook.model.facts import Cursor, Episode, LineCount, Millis, Trigger
from factbook.model.ops import AdvanceCursor, Op, RecordEpisode, RecordSource, RejectLine
from factbook.pipelines.claims import judged
from factbook.redaction.base import Redacting
from factbook.redaction.records import Screening
from factbook.redaction.told import ToldSecret
from factbook.sources import session_log
from factbook.sources.base import Batch
from factbook.sources.files import CONVERSATION, SourceFile
from factbook.sources.session_log import LogFile

_JOINING: Final = "joining"  # in the state of a cursor
_record_episode: Final = fast_dataclass.by_name(RecordEpisode)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStep:
    """What one batch of a file asks the store to do."""

    ops: list[Op]
    lines: LineCount
    read_bytes: int
    restart: bool
    calls: list[Episode] = field(default_factory=list)  # answered; the rules are yet to be asked
    told: Sequence[ToldSecret] = ()  # secrets, yet to be kept
    trigger: Trigger = Trigger.SESSION_LOG  # what the file is, for the table of who may write what


def propose(
    file: LogFile, *, cursor: Cursor | None, rules: RuleSet | None, redactor: Redacting, now: Millis
) -> Iterator[BatchStep]:
    """Read a file from its cursor on, and yield what each batch asks for.

    Without `rules` the episodes are yet to be asked what they say, by `episode_ops`.

    Raises OSError or InputError where the file cannot be read.
    """
    began = cursor.offset if cursor else 0
    redactor = redactor.branch()  # what a file tells is known in the rest of it
    trigger = Trigger.SESSION_LOG
    if not isinstance(file, SourceFile):
        batches = session_log.read(file, cursor=cursor, redactor=redactor, now=now)
    elif file.kind == CONVERSATION:
        from factbook.sources import conversation  # a run over logs alone is spared its import

        trigger = Trigger.USER_MESSAGE
        batches = conversation.read(file, cursor=cursor, redactor=redactor, now=now)
    else:
        from factbook.sources import notes

        trigger = Trigger.COMMAND  # a person named the file: nothing else makes a text a note
        batches = notes.read(file, cursor=cursor, redactor=redactor, now=now)
    # The text of an episode is the one thing that its reader redacted, before it was cut.
    screen = Screening(redactor, without=("text",))
    joining = Joining(cursor.state.get(_JOINING) if cursor else None)
    step: BatchStep | None = None
    for batch in batches:
        if batch.restart:
            joining = Joining()
        if step is not None:
            yield step
        ops, calls = batch_ops(batch, joining, rules=rules, screen=screen, began=began)
        began = batch.cursor.offset
        step = BatchStep(
            ops=ops,
            lines=batch.lines,
            read_bytes=batch.read_bytes,
            restart=batch.restart,
            calls=calls,
            trigger=trigger,
            told=redactor.told_lately(),
        )
        redactor.know(step.told)
    if step is not None:
        calls = joining.unanswered(now)
        if rules is None:
            step = replace(step, calls=[*step.calls, *calls])
        else:
            step.ops.extend(op for call in calls for op in call_ops(call, rules=rules))
        yield step
    elif calls := joining.unanswered(now):
        # Nothing is new, and this says that no result comes any more.
        ops = [op for call in calls for op in call_ops(call, rules=rules)] if rules else []
        calls = [] if rules else calls
        yield BatchStep(ops=ops, lines=LineCount(), read_bytes=0, restart=False, calls=calls)


def batch_ops(
    batch: Batch,
    joining: Joining,
    *,
    rules: RuleSet | None,
    screen: Screening,
    began: int | None = None,
) -> tuple[list[Op], list[Episode]]:
    """Return everything that a batch asks the store to do; `began` is the byte it starts at.

    What it asks is screened here, beside the reading; a fact says what its episode says. The calls
    that come with it are those that were answered, which without rules are yet to be asked.
    """
    ops: list[Op] = [RecordSource(source=source) for source in (batch.source, *batch.others)]
    ops = [screen(op) for op in ops]
    answered: list[Episode] = []
    for episode in batch.episodes:
        episode, call = joining.take(screen(episode))
        if call is not None:
            answered.append(call)
        ops.append(_record_episode(episode=episode))
        if rules is not None:
            ops += episode_ops(episode, rules=rules)
    if rules is not None:
        ops += [op for call in answered for op in call_ops(call, rules=rules)]
        answered = []
    rest: list[Op] = [RejectLine(source=batch.source.key, line=line) for line in batch.rejected]
    state = {**batch.cursor.state, _JOINING: joining.save()}
    advance = AdvanceCursor(
        source=batch.source.key,
        cursor=replace(batch.cursor, state=state),
        lines=batch.lines,
        restart=batch.restart,
        began=began,
    )
    rest.append(advance)
    return ops + [screen(op) for op in rest], answered


def episode_ops(episode: Episode, *, rules: RuleSet) -> list[Op]:
    """Extract and judge what one episode says; what factbook put there says nothing new."""
    if episode.injected:
        return []
    extract = rules.extract_made if waits(episode) else rules.extract
    return [judged(candidate, episode) for candidate in extract(episode)]


def call_ops(call: Episode, *, rules: RuleSet) -> list[Op]:
    """Extract and judge what a call did by its answer, or may have done where none came."""
    extract = rules.extract_unanswered if call.answer is None else rules.extract
    return [judged(candidate, call) for candidate in extract(call)]
