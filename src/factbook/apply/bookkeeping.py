"""4 apply: proposals, runs, what was shown, and what a language model has to answer and costs."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from itertools import product
from operator import add

from factbook import policy
from factbook.apply.fact_rows import FactRows, day_of
from factbook.errors import ModelError, ModelFailure, NotFound, UsageError
from factbook.model import ops
from factbook.model.facts import Injection, ModelTask, Proposal, Run
from factbook.store.kinds import (
    ALL,
    CALL,
    COUNT,
    INJECTION,
    LOOSE,
    MARK,
    MODEL_TASK,
    PROPOSAL,
    READER,
    RUN,
    TOLD,
    CallCount,
    Calls,
    DayCount,
    Loose,
    Mark,
    Other,
    Reader,
    ToldRow,
)
from factbook.store.port import first


def proposal_claim(kind: str, key: str) -> bytes:
    """Return what stands for a proposal, so that it is made once."""
    data = f"{kind}\0{key}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).digest()


def memory_key(owner: str, predicate: str, text: str) -> str:
    """Return the key of a proposed memory: the same words of one owner and type are one."""
    return f"{owner}\0{predicate}\0{' '.join(text.casefold().split())}"


class Bookkeeping(FactRows):
    """What is noted beside facts."""

    def propose(self, op: ops.Propose) -> None:
        new = Proposal(
            id=0,
            kind=op.kind,
            title=op.title,
            payload=op.payload,
            proposed_at=self.now,
            state="open",
            decided_at=None,
            reason="",
            claim=proposal_claim(op.kind, op.key),
            decided_by="",
        )
        (made,) = self.writer.add(PROPOSAL, [new])
        if made is None:
            self.receipt.unchanged += 1
            return
        self.receipt.proposed += 1
        self.event("propose", "proposal", made, {"kind": op.kind, "title": op.title})

    def decide(self, op: ops.DecideProposal) -> None:
        state = "edited" if op.edited else "accepted" if op.accept else "refused"
        known = first(self.writer, PROPOSAL, {"id": op.proposal_id})
        if known is None or known.state != "open":
            raise UsageError(detail=f"proposal {op.proposal_id} is not open; see `factbook review`")
        self._decide(known, state, op.reason)

    def _decide(self, proposal: Proposal, state: str, reason: str) -> None:
        decided = proposal._replace(
            state=state, decided_at=self.now, decided_by=self.actor, reason=reason
        )
        self.writer.put(PROPOSAL, [decided])
        self.receipt.settled += 1
        self.event("decide", "proposal", proposal.id, {"state": state, "reason": reason})

    def mark(self, op: ops.MarkProgress) -> None:
        self.writer.put(MARK, [Mark(op.name, *op.at)])

    def note_readers(self, op: ops.NoteReaders, sources: Collection[int]) -> None:
        known = {reader[:3]: reader for reader in self.writer.find(READER, {"source_id": sources})}
        used = []
        for source, (part, version) in product(sources, op.readers.items()):
            before = known.get((source, part, version))
            if before is None:
                used.append(Reader(source, part, version, first_at=self.now, last_at=self.now))
            elif before.last_at < self.now - policy.READERS_EVERY_MS:
                used.append(before._replace(last_at=self.now))
        if used:
            self.writer.put(READER, used)
        for part, version in op.readers.items() if op.only else ():
            others = {"source_id": sources, "part": part, "version": Other(version)}
            self.writer.drop(READER, others)

    def keep_told(self, op: ops.KeepTold) -> None:
        self.writer.put(TOLD, [ToldRow(*secret) for secret in op.secrets])

    def keep_loose(self, op: ops.KeepLoose) -> None:
        self.writer.drop(LOOSE, ALL)
        self.writer.put(LOOSE, [Loose(id_) for id_ in op.episode_ids])

    def start_run(self, op: ops.StartRun) -> None:
        self.writer.put(RUN, [Run(op.run_id, self.now, None, "running", "", {})])
        self.event("start", "run", op.run_id)

    def finish_run(self, op: ops.FinishRun) -> None:
        known = first(self.writer, RUN, {"id": op.run_id})
        if known is None:
            raise NotFound(
                what="run", name=op.run_id, hint="`factbook consolidate --list` shows them."
            )
        finished = known.finished_at if op.state == "running" else self.now
        now = known._replace(finished_at=finished, state=op.state, phase=op.phase, report=op.report)
        self.writer.put(RUN, [now])
        if op.state != "running":
            self.event(op.state, "run", op.run_id)

    def next_vectors(self, op: ops.StoreNextVectors) -> None:
        written = self.writer.set_vectors(
            op.target, op.ids, op.vectors, model=op.model, dim=op.dim, next=True
        )
        self.receipt.embedded += len(written)

    def replace_vectors(self, op: ops.ReplaceVectors) -> None:
        count = self.writer.replace_vectors(model=op.model, dim=op.dim)
        self.event("reembed", "store", 0, {"model": op.model, "vectors": count})

    def injection(self, op: ops.RecordInjection) -> None:
        new = Injection(
            id=0,
            at=self.now,
            owner=op.owner,
            session=op.session,
            mode=op.mode,
            items=op.items,
            used=op.used or (),
            judged_at=None if op.used is None else self.now,
            resolved=None,
        )
        self.writer.add(INJECTION, [new])
        if op.used is not None:
            self._count(f"{op.mode}_judged_items", float(len(op.items)))
            self._count(f"{op.mode}_used_items", float(len(op.used)))
        if op.latency_ms is not None:
            self._count(f"{op.mode}_latency_ms", op.latency_ms)
            self._count(f"{op.mode}_latency_turns", 1.0)
        self._count(f"{op.mode}_turns", 1.0)
        self._count(f"{op.mode}_items", float(len(op.items)))

    def use(self, op: ops.RecordUse) -> None:
        known = first(self.writer, INJECTION, {"id": op.injection_id})
        if known is None:
            raise NotFound(what="injection", name=op.injection_id, hint="")
        used = known._replace(used=op.used, judged_at=self.now, resolved=op.resolved)
        self.writer.put(INJECTION, [used])

    def queue_task(self, op: ops.QueueTask) -> None:
        """Queue an input that was kept in the same call; whoever keeps it is given time to ask."""
        ids = self.writer.episode_ids([op.episode])
        if op.episode not in ids:
            raise NotFound(what="episode", name=op.episode, hint="record it in the same call.")
        target = ids[op.episode]
        until = self.now + policy.MODEL_PATIENCE_MS
        task = ModelTask(op.kind, target, "queued", 0, "", op.version, until, self.now)
        self.writer.add(MODEL_TASK, [task])  # one that is there stays as it is

    def finish_task(self, op: ops.FinishTask) -> None:
        known = self._task(op)
        attempts = known.attempts if known else 0
        task = ModelTask(op.kind, op.target, "done", attempts, "", op.version, 0, self.now)
        self.writer.put(MODEL_TASK, [task])

    def _task(self, op: ops.FinishTask | ops.FailTask) -> ModelTask | None:
        return first(self.writer, MODEL_TASK, {"kind": op.kind, "target": op.target})

    def fail_task(self, op: ops.FailTask) -> None:
        known = self._task(op)
        attempts = (known.attempts if known else 0) + op.tried
        state = "aside" if attempts >= policy.MODEL_ATTEMPTS else "failed"
        wait = policy.MODEL_BACKOFF_MS * 2 ** min(max(attempts - 1, 0), policy.MODEL_ATTEMPTS)
        until = self.now + max(wait, op.wait_ms)
        task = ModelTask(op.kind, op.target, state, attempts, op.error, op.version, until, self.now)
        self.writer.put(MODEL_TASK, [task])
        if op.tried:
            self._count(f"model_failed_{op.kind}", 1.0)

    def retry_tasks(self, op: ops.RetryTasks) -> None:
        aside = self.writer.find(MODEL_TASK, {"kind": op.kind, "state": "aside"})
        again = [model_task._replace(state="failed", attempts=0, until=0) for model_task in aside]
        self.writer.put(MODEL_TASK, again)
        self.receipt.updated += len(again)

    def begin_call(self, op: ops.BeginCall) -> None:
        """Reserve a call under the write lock, so that a budget holds between processes too."""
        day = day_of(self.now)
        spent = self.writer.find(CALL, {"day": day})
        tokens = sum(calls.prompt_tokens + calls.answer_tokens for calls in spent)
        for name, used, limit in (
            ("calls", sum(calls.calls for calls in spent), op.max_calls),
            ("tokens", tokens, op.max_tokens),
            ("money", sum(calls.money for calls in spent), op.max_money),
        ):
            if limit is not None and used >= limit:
                raise ModelError(
                    kind=ModelFailure.OVER_BUDGET,
                    model=op.model,
                    reason=f"the budget of the day ({limit:g} {name}) is spent, {used:g} were used",
                )
        self._add_call(op, day, "begun", CallCount(calls=1))

    def end_call(self, op: ops.EndCall) -> None:
        day = day_of(op.began_at)
        self._add_call(op, day, "begun", CallCount(calls=-1))
        came_to = CallCount(1, op.prompt_tokens, op.answer_tokens, op.latency_ms, op.money)
        self._add_call(op, day, op.outcome, came_to)

    def _add_call(
        self, op: ops.BeginCall | ops.EndCall, day: str, outcome: str, count: CallCount
    ) -> None:
        key = {"day": day, "purpose": op.purpose, "model": op.model, "outcome": outcome}
        known = first(self.writer, CALL, key)
        if known is not None:
            count = CallCount._make(map(add, known.came_to, count))
        self.writer.put(CALL, [Calls(day, op.purpose, op.model, outcome, *count)])

    def count(self, op: ops.Count) -> None:
        self._count(op.name, op.value)

    def _count(self, name: str, value: float) -> None:
        day = day_of(self.now)
        known = first(self.writer, COUNT, {"day": day, "name": name})
        self.writer.put(COUNT, [DayCount(day, name, value + (known.value if known else 0.0))])
