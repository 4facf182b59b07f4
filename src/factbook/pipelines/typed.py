"""Typed memories: the way of what a model reads in a summary.

    summary -> the model's JSON -> claims -> grounding and rules of a type -> Ops -> Receipt
                                             stored | proposed | rejected

One summary is one model call (more where it is longer than the model's context) and one
transaction: its memories, its refusals with every field of the seed's record, its proposals, and
that it was answered. A failed call writes none of it but the reason, and leaves the summary queued.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.apply.bookkeeping import memory_key, proposal_claim
from factbook.errors import ModelError, ModelFailure, UsageError
from factbook.extract.typed_replies import PROMPT_VERSION, TypedAnswer, claims_of, typed_messages
from factbook.gate.grounding import Passage, read_passage
from factbook.gate.typed_claims import (
    Action,
    TypedVerdict,
    judge_all,
    log_stored,
    rejection_details,
)
from factbook.language.reader.relate import RELATER
from factbook.llm.prompt import estimate_tokens, message_tokens
from factbook.model.facts import (
    EVERYONE,
    Candidate,
    EpisodeKind,
    FactKind,
    Receipt,
    Role,
    StoredEpisode,
    Trigger,
    Trust,
)
from factbook.model.memory_types import MemoryType, RefusedItem, RejectionReason, TypedClaim
from factbook.model.ops import FailTask, FinishTask, Op, Propose
from factbook.pipelines.asking import is_endpoints, wait_ms, was_sent
from factbook.pipelines.claims import ASKED, asked, asserted, refused
from factbook.redaction.labels import without_labels
from factbook.sources.told import digest, said_ops
from factbook.store.derived.tasks import open_tasks
from factbook.store.kinds import PROPOSAL
from factbook.store.rows import Filters

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.gate.scoring import Embed
    from factbook.llm import LLM
    from factbook.store.port import Store

KIND: Final = "typed"  # of the tasks in the store, and the purpose of the calls
PREDICATES: Final[Mapping[MemoryType, str]] = {kind: kind.value.lower() for kind in MemoryType}
REFUSED_BEFORE: Final = "refused_before"
_SAID_NO: Final = "its owner said no to it"
SUMMARIES: Final = (EpisodeKind.SUMMARY,)
_ANSWER_TOKENS: Final = 2_000  # of the context, kept free for the answer
_LEAST_TOKENS: Final = 200  # of a window, however small the context is said to be


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One proposal of the model with what the gate says of it."""

    claim: TypedClaim
    verdict: TypedVerdict | None  # None for an item that was no claim at all
    refused: RefusedItem | None = None
    unwanted: bool = False  # its owner said no to it before: whatever the gate says, it is refused

    def outcome(self) -> tuple[str, str, str]:
        """Return (stored, proposed or rejected; the reason; one clause for a person)."""
        if self.verdict is None:
            assert self.refused is not None
            return "rejected", str(self.refused.reason), self.refused.detail
        if self.verdict.reason is not None:
            return "rejected", str(self.verdict.reason), self.verdict.detail
        if self.unwanted:
            return "rejected", REFUSED_BEFORE, _SAID_NO
        waits = self.verdict.action is Action.STORED_PROPOSED
        return ("proposed" if waits else "stored"), "", self.verdict.detail


@dataclass(slots=True, kw_only=True)
class TypedReport:
    """What one pass over the summaries did."""

    summaries: int = 0  # answered
    failed: list[tuple[int, str]] = field(default_factory=list)  # (episode id, why), still queued
    stopped: str = ""  # why the pass ended before its end
    offered: int = 0  # candidates of the model
    receipt: Receipt = field(default_factory=Receipt)
    judged: list[tuple[int, Judged]] = field(default_factory=list)  # (episode id, proposal)


def extract_typed(
    context: Context,
    *,
    known: Callable[[str, str], Sequence[str]],
    trigger: Trigger = Trigger.UPKEEP,
    limit: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> TypedReport:
    """Ask the model about every summary that it has not answered for yet, oldest first.

    `known(text, owner)` returns what is known of an owner and near to a text. A summary that fails
    waits for a later pass; after policy.MODEL_ATTEMPTS failures it is set aside. Where the failure
    is the endpoint's, or the budget is spent, the pass ends: the next ones would fail alike.
    """
    store, llm = context.store, context.llm
    report = TypedReport()
    asked = 0
    summaries = Filters(owner=EVERYONE, episode_kinds=SUMMARIES)
    while limit is None or asked < limit:
        # last what was asked about in vain: it shall not keep the others waiting
        vain = {task.target for task in open_tasks(store, KIND)}
        waiting = store.untasked(KIND, summaries, now=context.clock(), limit=len(vain) + 1)
        if not waiting:
            break
        episode = next((each for each in waiting if each.id not in vain), waiting[0])
        asked += 1
        try:
            _one(context, llm, episode, known, trigger, report)
        except ModelError as error:
            why = context.redact(str(error))
            if not was_sent(error):
                report.stopped = why
                break  # it was not tried: its count stays
            report.failed.append((episode.id, why))
            tried = not is_endpoints(error, answered=report.summaries > 0)
            op = FailTask(
                kind=KIND,
                target=episode.id,
                version=PROMPT_VERSION,
                error=why,
                tried=tried,
                wait_ms=wait_ms(error),
            )
            context.write([op], trigger)
            if not tried or error.kind is ModelFailure.CONNECT:
                report.stopped = why
                break
        if progress:
            progress(1)
    return report


def _one(
    context: Context,
    llm: LLM,
    episode: StoredEpisode,
    known: Callable[[str, str], Sequence[str]],
    trigger: Trigger,
    report: TypedReport,
) -> None:
    passage = read_passage(episode.text)
    judged: list[Judged] = []
    for window in windows(episode.text, context_tokens=llm.context_tokens):
        answer = llm.ask(typed_messages(window), TypedAnswer, purpose=KIND)
        judged += judge_answer(
            answer,
            passage,
            owner=episode.owner,
            embed=context.embedder.embed,
            known=lambda text: known(text, episode.owner),
            redact=context.redact,
        )
    judged = _with_answers(context.store, judged, episode.owner)
    ops = [
        *ops_of(judged, episode, model=llm.id, redact=context.redact),
        FinishTask(kind=KIND, target=episode.id, version=PROMPT_VERSION),
    ]
    receipt = context.write(ops, trigger)
    written = receipt.stored + receipt.supported + receipt.unchanged
    log_stored(written, len(judged), store=PurePath(context.store.name).name)
    report.summaries += 1
    report.offered += len(judged)
    report.receipt.add(receipt)
    report.judged += [(episode.id, item) for item in judged]


def keep_verdict(context: Context, verdict: TypedVerdict, *, summary: str, owner: str) -> Receipt:
    """Keep what the gate decided of a claim about a summary that was given beside it.

    The summary is recorded as text that a model wrote, unless it is known; nothing is kept of a
    claim without one, for it has no evidence.
    """
    store, now, text = context.store, context.clock(), context.redact(summary)
    if not text.strip():
        raise UsageError(detail="a memory without a summary has no evidence; give the summary")
    uid = f"summary:{digest(owner, text)}"
    summary_ops = said_ops(
        text,
        uid=uid,
        owner=owner,
        at=now,
        what="summary",
        title="summaries",
        kind=EpisodeKind.SUMMARY,
        role=Role.ASSISTANT,
        trust=Trust.DERIVED,
    )
    context.write(summary_ops, Trigger.COMMAND, now=now)
    number = store.episode_ids([uid]).get(uid)
    if number is None:
        raise UsageError(
            detail="this summary was erased, and is kept out; `factbook erase --list` shows when"
        )
    stored = store.episodes_by_id([number])[number]
    item = Judged(claim=_safe(verdict.claim, context.redact), verdict=verdict)
    judged = _with_answers(store, [item], owner)
    ops = [
        *ops_of(judged, stored, model="", redact=context.redact),
        FinishTask(kind=KIND, target=number, version="given"),
    ]
    return context.write(ops, Trigger.COMMAND, now=now)


def judge_answer(
    answer: TypedAnswer,
    passage: Passage,
    *,
    owner: str,
    embed: Embed | None,
    redact: Callable[[str], str],
    known: Callable[[str], Sequence[str]] = lambda _: (),
) -> list[Judged]:
    """Judge every item of a model's answer against the text that it is about; none is dropped.

    Secrets go first: what is judged is logged, and said in the reasons.
    """
    read, refused = claims_of(answer)
    claims: list[TypedClaim] = []
    for at, claim in enumerate(_safe(claim, redact) for claim in read):
        if without_labels(claim.text) == claim.text:
            claims.append(claim)
        else:
            reason, why = RejectionReason.SEMANTICALLY_INVALID, "it holds what is kept secret"
            refused.append(RefusedItem(position=at, claim=claim, reason=reason, detail=why))
    refused = [replace(item, claim=_safe(item.claim, redact)) for item in refused]
    near = dict.fromkeys(statement for claim in claims for statement in known(claim.text))
    verdicts = judge_all(
        claims,
        passage,
        subject=f"user:{owner}",
        refused=refused,
        embed=embed,
        known=list(near),
        net=RELATER,
    )
    # What says the same as another item comes last: a claim is refused once, for its own reason.
    return [
        *(Judged(claim=verdict.claim, verdict=verdict) for verdict in verdicts),
        *(Judged(claim=item.claim, verdict=None, refused=item) for item in refused),
    ]


def _safe(claim: TypedClaim, redact: Callable[[str], str]) -> TypedClaim:
    return replace(
        claim, text=redact(claim.text), reasoning=redact(claim.reasoning), quote=redact(claim.quote)
    )


def _with_answers(store: Store, judged: Sequence[Judged], owner: str) -> list[Judged]:
    """Mark what its owner refused, or accepted in other words only: no model brings it back."""
    keys = (memory_key(owner, PREDICATES[item.claim.type], item.claim.text) for item in judged)
    claims = [proposal_claim(ASKED, key) for key in keys]
    states = {row.claim: row.state for row in store.find(PROPOSAL, {"claim": claims})}
    return [
        replace(item, unwanted=states.get(claim) in ("refused", "edited"))
        for item, claim in zip(judged, claims, strict=True)
    ]


def ops_of(
    judged: Iterable[Judged], episode: StoredEpisode, *, model: str, redact: Callable[[str], str]
) -> list[Op]:
    """Return what the verdicts on one episode's proposals ask the store to do."""
    return [op for item in judged for op in _ops(item, episode, model, redact)]


def _ops(
    item: Judged, episode: StoredEpisode, model: str, redact: Callable[[str], str]
) -> list[Op]:
    claim, verdict = item.claim, item.verdict
    grounding = verdict.grounding if verdict else None
    located = grounding is not None and 0 <= grounding.start < grounding.end <= len(episode.text)
    start, end = (grounding.start, grounding.end) if grounding and located else (0, 1)
    text = redact(claim.text)
    method = f"Proposed by {model or 'a program'}, found in the text by code"
    candidate = Candidate(
        subject=episode.owner,
        predicate=PREDICATES[claim.type],
        object=text,
        statement=text,
        confidence=verdict.final if verdict else claim.confidence,
        rule=f"typed:{PREDICATES[claim.type]}",
        method=f"{method} ({grounding.support})" if grounding else method,
        start=start,
        end=end,
        kind=FactKind.TYPED,
        embed=True,
    )
    if verdict is None or verdict.action is Action.REJECTED or not located:
        return _refusal(item, candidate, episode, redact)
    if item.unwanted:
        return [
            refused(
                candidate,
                episode,
                REFUSED_BEFORE,
                _SAID_NO,
                type=str(claim.type),
                confidence=verdict.final,
                threshold=verdict.threshold,
                validation=rejection_details(verdict),
            )
        ]
    ops: list[Op] = [
        asserted(
            candidate,
            episode,
            proposed=verdict.action is Action.STORED_PROPOSED,
            factors={**asdict(verdict.score), "detail": verdict.detail},
        )
    ]
    if verdict.action is Action.STORED_PROPOSED:
        ops.append(_proposal(item, candidate, episode, redact, stored=True))
    return ops


def _refusal(
    item: Judged, candidate: Candidate, episode: StoredEpisode, redact: Callable[[str], str]
) -> list[Op]:
    verdict = item.verdict
    if verdict is None:
        assert item.refused is not None
        reason, detail = str(item.refused.reason), item.refused.detail
        sure, threshold = item.claim.confidence, policy.TYPE_THRESHOLD[item.claim.type]
        validation: Mapping[str, object] = {"reason": detail}
    else:
        reason = str(verdict.reason or "not_grounded_in_summary")
        detail, sure, threshold = verdict.detail, verdict.final, verdict.threshold
        validation = rejection_details(verdict)
    ops: list[Op] = [
        refused(
            candidate,
            episode,
            reason,
            redact(detail),
            type=str(item.claim.type),
            confidence=sure,
            threshold=threshold,
            validation={**validation, "model_confidence": item.claim.confidence},
        )
    ]
    if verdict is not None and verdict.proposal:
        ops.append(_proposal(item, candidate, episode, redact, stored=False))
    return ops


def _proposal(
    item: Judged,
    candidate: Candidate,
    episode: StoredEpisode,
    redact: Callable[[str], str],
    *,
    stored: bool,
) -> Propose:
    """Return what the seed calls log_pattern_proposal(name, confidence, reasoning)."""
    assert item.verdict is not None
    return asked(
        candidate,
        episode,
        confidence=item.verdict.final,
        threshold=item.verdict.threshold,
        reasoning=redact(item.claim.reasoning),
        stored=stored,
    )


def windows(text: str, *, context_tokens: int) -> list[str]:
    """Cut a text that is longer than a model's context at its paragraphs, lines or blanks."""
    room = max(_LEAST_TOKENS, context_tokens - _ANSWER_TOKENS - message_tokens(typed_messages("")))
    parts: list[str] = []
    while estimate_tokens(text) > room:
        # How much of it fits: tokens are unevenly long, so the estimate itself decides.
        sizes = range(2, len(text) + 1)
        fits = 1 + bisect_right(sizes, room, key=lambda size: estimate_tokens(text[:size]))
        ends = (text.rfind(mark, fits // 2, fits) for mark in ("\n\n", "\n", ". ", " "))
        cut = next((end + 1 for end in ends if end > 0), fits)
        parts.append(text[:cut])
        text = text[cut:]
    return [*parts, text]
