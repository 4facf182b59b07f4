"""Feed mutated model answers to everything that reads one, and look for what must not happen.

    python -m bench.answers [--n N] [--seed N] [--jobs N] [--folder DIR] [--json]

A good answer of each call of a model (operations on keyed facts, plans, typed memories, verdicts,
commands) is mutated endlessly: other values, types, shapes and bytes. Every mutated answer is read
as the client reads one, and goes the product's own way from there: the strict type, the gate, and
one transaction on a SQLite file. The server alone is left out; tests/test_hard_failure.py has it.
Most mutations fit no type, so every other answer is drawn anew until it does, a few times at most:
that the gate is reached often, too.

- crashes: an answer led to another exception than a ModelError
- writes_on_failure: memory was other after a failure than when the model was asked. A trigger on
  every table counts the writes that are committed; what waits, how often it was tried, and counters
  are no memory. An answer whose content was refused as a whole is a failure too, of which only the
  log of refusals may tell
- silent_drops: a failure left its input unqueued, or a part of an answer that fits its type was
  neither stored nor applied nor proposed nor refused with its reason
- audit_problems: what `check` says of the files at the end
- candidates_per_s: typed memories that the gate judges in a second of CPU time, without similarity,
  with the reading of their passages; the best of three passes over the answers of this run

DIR holds the scratch files; by default the system's folder in memory, where there is one, because
what is measured here is not a disk. The answers are the same for the same seed, whatever the
number of processes.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import shutil
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import apsw
from pydantic import BaseModel
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bench._common import BenchError, emit, print_table, run
from factbook.apply.apply import apply
from factbook.context import Resources
from factbook.errors import ModelError, ModelFailure
from factbook.extract.answers import Malformed, well_formed
from factbook.extract.keyed.contracts import (
    FactsOp,
    FactsOpsResponse,
    FactsQueryPlan,
    list_key_of,
    op_values,
)
from factbook.extract.model_reading import CommandAnswer
from factbook.extract.typed_replies import TypedAnswer, claims_of
from factbook.gate.grounding import read_passage
from factbook.llm.answers import read_answer
from factbook.llm.base import Answer, AnswerPart, Message, Tool
from factbook.maintenance.verdicts import VerdictAnswer, model_resolver
from factbook.memory import Memory
from factbook.model.facts import Episode, EpisodeKind, Role, Source, Trigger, Trust
from factbook.model.keys import fold_value, normalize_fact_key, normalize_fact_value
from factbook.model.ops import JudgePair, Op, RecordEpisode, RecordSource
from factbook.net.http import Failed
from factbook.pipelines.typed import extract_typed, judge_answer
from factbook.testing import FrozenClock
from factbook.testing.mutations import mutations

PART: Final = "answers"
SHOWN: Final = 10  # answers that did what must not happen, in the figures
GATE_ANSWERS: Final = 2_000  # of this run, that the gate's speed is measured on
GATE_RUNS: Final = 3
REFUSED: Final = "refused"  # instead of a ModelFailure: an answer that fits, and is of no use
SLICE: Final = 2_000  # answers to one call that one process takes at a time
DRAWS: Final = 12  # of an answer that is to fit its type
AT: Final = 1_763_000_000_000  # when everything was said

# Not memory: what waits, counters, leases, the account of a run and its marks.
_BESIDE: Final = frozenset({"model_task", "model_call", "count_row", "lease_row", "run_row"})


class Mutant:
    """A model whose next answers are given, and read as the client reads those of a server."""

    id = "bench:mutant"
    context_tokens = 8192

    def __init__(self) -> None:
        """Begin with nothing to say."""
        self.answers: list[bytes] = []
        self.read: list[BaseModel | None] = []  # what each became; None where it was refused
        self.on_ask: Callable[[], None] = lambda: None

    def say(self, *answers: bytes) -> None:
        """Give the next answers."""
        self.answers = list(answers)
        self.read = []

    def ask(self, messages: Sequence[Message], answer: type[Answer], *, purpose: str) -> Answer:
        """Return the next answer; raises ModelError as the client does."""
        self.on_ask()
        data = self.answers.pop(0)
        self.read.append(None)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModelError(
                kind=ModelFailure.HTTP, model=self.id, reason="the body is no UTF-8"
            ) from error
        try:
            found = read_answer(text, answer)
        except Failed as error:
            raise ModelError(kind=error.kind, model=self.id, reason=error.reason) from error
        self.read[-1] = found
        return found

    def stream(
        self, messages: Sequence[Message], tools: Sequence[Tool] = (), *, purpose: str = "chat"
    ) -> Iterator[AnswerPart]:
        """Refuse: nothing is streamed here."""
        raise ModelError(kind=ModelFailure.NOT_CONFIGURED, model=self.id, reason="no stream")


@dataclass(slots=True, kw_only=True)
class Result:
    """What became of one answer."""

    failure: str = ""  # the ModelFailure, or REFUSED
    kept: int = 0  # parts that were stored, applied or read
    refused: int = 0  # parts that were refused with a reason
    dropped: str = ""  # what is neither, in a sentence


@dataclass(slots=True)
class Desk:
    """A memory that the mutant's answers are read into, and a look at its file from outside."""

    memory: Memory
    model: Mutant
    outside: apsw.Connection
    touched_at_ask: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        """Note what was written whenever the model is asked."""
        self.model.on_ask = self._asked

    def _asked(self) -> None:
        self.touched_at_ask = self.touched()

    def touched(self) -> tuple[int, int]:
        """Return how many rows of memory, and of refusals, were ever written in this file."""
        ((memory, refusals),) = self.rows("SELECT memory, refusals FROM bench_touched")
        return int(memory), int(refusals)

    def wrote_on(self, failure: str) -> bool:
        """Tell whether what was written since the model was asked is what no failure may write."""
        memory, refusals = self.touched()
        before = self.touched_at_ask
        return memory != before[0] or (refusals != before[1] and failure != REFUSED)

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a query on what is committed."""
        return self.outside.execute(sql, tuple(bindings)).fetchall()

    def queued(self, kind: str, target: int) -> bool:
        """Tell whether an input waits, with its count and its reason."""
        found = self.rows(
            "SELECT state, attempts, error FROM model_task WHERE kind = ? AND target = ?",
            (kind, target),
        )
        return [(state, tried) for state, tried, error in found if error] == [("failed", 1)]


class Site(ABC):
    """One call of a model."""

    name: str
    share: int  # of all answers, in percent
    shape: type[BaseModel]  # of an answer
    inputs: int  # that one file is prepared with
    per_input: int = 1  # answers

    @abstractmethod
    def prepare(self, memory: Memory) -> None:
        """Write what the answers are about."""

    @abstractmethod
    def good(self, n: int) -> list[Mapping[str, Any]]:
        """Return the good answers about the n-th input of a file."""

    @abstractmethod
    def play(self, desk: Desk, n: int) -> list[Result]:
        """Let the model answer about the n-th input; returns what became of each answer."""


# --- operations on keyed facts --------------------------------------------------------------------

_CRYPTO: Final = "user.favorites.crypto"


class Tell(Site):
    """A message becomes operations."""

    name = "tell"
    share = 30
    shape = FactsOpsResponse
    inputs = 200

    _CASES: Final[Sequence[tuple[str, Sequence[Mapping[str, Any]]]]] = (
        (
            "BTC is my #1 favorite crypto, and my city is Oslo.",
            [
                {
                    "op": "ranked_list_set",
                    "list_key": _CRYPTO,
                    "rank": 1,
                    "value": "BTC",
                    "confidence": 0.9,
                },
                {"op": "set", "fact_key": "user.city", "value": "Oslo", "confidence": 0.8},
            ],
        ),
        (
            "My favorite countries are Spain, Greece and Thailand.",
            [
                {
                    "op": "ranked_list_append",
                    "list_key": "user.favorites.countries",
                    "values": ["Spain", "Greece", "Thailand"],
                }
            ],
        ),
        (
            "Insert ETH at #2 of my favorite crypto, move ADA to #1 and remove DOT.",
            [
                {"op": "ranked_list_insert", "list_key": _CRYPTO, "rank": 2, "value": "ETH"},
                {"op": "ranked_list_move", "list_key": _CRYPTO, "rank": 1, "value": "ADA"},
                {"op": "ranked_list_remove", "list_key": _CRYPTO, "value": "DOT"},
            ],
        ),
        (
            "Forget my time zone, and clear my list of favorite crypto.",
            [
                {"op": "clear", "fact_key": "user.timezone"},
                {"op": "ranked_list_clear", "list_key": _CRYPTO},
            ],
        ),
    )

    def prepare(self, memory: Memory) -> None:
        """Give every owner a list and a key."""
        for n in range(self.inputs):
            have = FactsOpsResponse(
                ops=[
                    FactsOp(
                        op="ranked_list_append", list_key=_CRYPTO, values=["SOL", "ADA", "DOT"]
                    ),
                    FactsOp(op="set", fact_key="user.timezone", value="Europe/Lisbon"),
                ]
            )
            memory.keyed.apply_facts(have, message_id=f"have-{n}", owner=f"owner-{n}")

    def good(self, n: int) -> list[Mapping[str, Any]]:
        """Return the operations of a message."""
        return [{"ops": self._CASES[n % len(self._CASES)][1], "needs_clarification": []}]

    def play(self, desk: Desk, n: int) -> list[Result]:
        """Say a message."""
        owner = f"owner-{n}"
        message = self._CASES[n % len(self._CASES)][0]
        uid = f"said-{n}"
        try:
            told = desk.memory.tell(message, owner=owner, message_id=uid, at=AT + n)
        except ModelError as error:
            return [Result(failure=str(error.kind), dropped=self._unqueued(desk, uid))]
        if told.errors:
            refused, dropped = len(told.errors), self._unqueued(desk, uid)
            return [Result(failure=REFUSED, refused=refused, dropped=dropped)]
        answer = desk.model.read[0]
        assert isinstance(answer, FactsOpsResponse)
        if told.needs_clarification:
            asked = desk.rows("SELECT 1 FROM proposal_row WHERE payload LIKE ?", (f"%{uid}%",))
            dropped = "" if asked else "a question is asked and does not wait"
            return [Result(refused=len(answer.ops), dropped=dropped)]
        held = {one.predicate: one.object for one in desk.memory.keyed.keyed_facts(owner=owner)}
        return [Result(kept=len(answer.ops), dropped=_without_effect(answer.ops, held))]

    def _unqueued(self, desk: Desk, uid: str) -> str:
        ((target,),) = desk.rows("SELECT id FROM episode_row WHERE uid = ?", (uid,))
        return "" if desk.queued("tell", target) else "the message does not wait"


def _without_effect(ops: Sequence[FactsOp], held: Mapping[str, str]) -> str:
    """Say which operation has no effect on what an owner holds; "" where every one has its own.

    Of several operations on one list, the later ones may undo what the former did: the last counts.
    """
    last = {list_key_of(op) or normalize_fact_key(op.fact_key or "")[0]: op for op in ops}
    for key, op in last.items():
        values = [fold_value(normalize_fact_value(value, True)[0]) for value in op_values(op)]
        under = {
            name: fold_value(value)
            for name, value in held.items()
            if name == key or name.startswith(f"{key}.")
        }
        if op.op == "ranked_list_clear":
            fine = not under
        elif op.op == "clear":  # one rank of a list: those behind it may have moved up to it
            fine = key not in held
        elif op.op == "ranked_list_remove":
            fine = not set(values) & set(under.values())
        else:
            fine = set(values) <= set(under.values())
        if not fine:
            return f"{op.op} of {key} had no effect"
    return ""


# --- plans ----------------------------------------------------------------------------------------


class Plan(Site):
    """A question becomes a plan, which is carried out."""

    name = "plan"
    share = 25
    shape = FactsQueryPlan
    inputs = 200

    _PLANS: Final[Sequence[Mapping[str, Any]]] = (
        {
            "intent": "facts_get_ranked_list",
            "list_key": _CRYPTO,
            "topic": "crypto",
            "limit": 25,
            "include_ranks": True,
        },
        {"intent": "facts_get_exact_key", "fact_key": "user.timezone", "limit": 1},
        {"intent": "facts_get_by_prefix", "key_prefix": "user.favorites", "limit": 50},
        {"intent": "facts_get_by_predicate", "predicate": "states", "limit": 5},
        {"intent": "facts_get_by_entity", "entity": "Wanda", "since": "2026-01-01T00:00:00Z"},
        {
            "intent": "facts_get_by_time",
            "since": "2025-11-01",
            "until": "2025-12-01T12:00:00+01:00",
        },
    )

    def prepare(self, memory: Memory) -> None:
        """Give the owner lists, a key and a statement."""
        have = FactsOpsResponse(
            ops=[
                FactsOp(op="ranked_list_append", list_key=_CRYPTO, values=["SOL", "ADA", "DOT"]),
                FactsOp(op="set", fact_key="user.timezone", value="Europe/Lisbon"),
            ]
        )
        memory.keyed.apply_facts(have, message_id="have")
        memory.remember("My boat is called Wanda.", at=AT)

    def good(self, n: int) -> list[Mapping[str, Any]]:
        """Return a plan."""
        return [self._PLANS[n % len(self._PLANS)]]

    def play(self, desk: Desk, n: int) -> list[Result]:
        """Ask a question."""
        try:
            asked = desk.memory.ask("What do you know of it?")
        except ModelError as error:
            return [Result(failure=str(error.kind))]
        whole = asked.answer.count == len(asked.answer.facts)
        return [Result(kept=1, dropped="" if whole else "the count is not that of the facts")]


# --- typed memories -------------------------------------------------------------------------------

_SHORT: Final = """\
User: "I absolutely love fettuccini, I make it at home every Sunday. I moved to Oslo in 2020."
Assistant: "You could try pesto next."
User: "I don't like pesto."
"""
_LONG: Final = """\
The user and the assistant planned the rebuild of a boat shed over three evenings.

User: "I bought the shed at Skagen harbour in 2019. My boat is called Wanda, she is a wooden sloop \
of 1962 and needs a new keel. I work as a nurse at the county hospital, so I can build on Tuesdays \
and at weekends only."
Assistant: "Then the roof should come first, before the autumn rain. I would use larch."
User: "Larch is too dear for me. I want spruce for the roof, and I keep the old oak doors. My \
brother Emil helps me, he is a carpenter in Aalborg. We never work on Fridays."
Assistant: "Shall I write the list of materials as steps?"
User: "Yes, as steps please. I always ask for steps, I lose the thread otherwise. Could you also \
put the prices beside each step? I keep my budget in a spreadsheet, 40,000 kroner in all."
Assistant: "The spruce comes to about 9,000 kroner."
User: "I might sell my car next spring to pay for the keel. I have been sailing with my father \
since I was six, and we cross to Gothenburg every July. He thinks I should paint her red, but I \
like her white."

They have been working on this shed together since March, and the photo of the old slipway made \
both of them laugh more than once. The user was tired on the last evening and stopped early. The \
user asked three times for the order of the steps, and twice for a list of tools still lacking. \
The user drives a Volvo, speaks Danish and German, and is allergic to epoxy fumes.
"""
_SHORT_MEMORIES: Final = (
    ("Loves fettuccini", "USER_FACT", 0.95, "I absolutely love fettuccini"),
    ("Moved to Oslo in 2020", "USER_FACT", 0.9, "I moved to Oslo in 2020"),
    ("Doesn't like pesto", "USER_FACT", 0.85, "I don't like pesto"),
)
_LONG_MEMORIES: Final = (
    ("Bought a shed at Skagen harbour in 2019", "USER_FACT", 0.95, "I bought the shed"),
    ("Has a boat called Wanda", "USER_FACT", 0.95, "My boat is called Wanda"),
    ("Works as a nurse at the county hospital", "USER_FACT", 0.9, "I work as a nurse"),
    ("Wants spruce for the roof", "USER_FACT", 0.85, "I want spruce for the roof"),
    ("Has a brother Emil, a carpenter in Aalborg", "USER_FACT", 0.9, "My brother Emil helps me"),
    ("Never works on Fridays", "USER_PATTERN", 0.8, "We never work on Fridays"),
    ("Asks for steps", "USER_PATTERN", 0.9, "I always ask for steps"),
    ("Keeps the budget in a spreadsheet", "USER_PATTERN", 0.8, "I keep my budget in a spreadsheet"),
    ("Crosses to Gothenburg every July", "USER_FACT", 0.85, "we cross to Gothenburg every July"),
    (
        "Has been working on the shed since March",
        "SHARED_NARRATIVE",
        0.7,
        "working on this shed together since March",
    ),
    ("Speaks Danish and German", "USER_FACT", 0.9, "speaks Danish and German"),
    ("Is allergic to epoxy fumes", "USER_FACT", 0.95, "is allergic to epoxy fumes"),
)


def _typed_answer(memories: Sequence[tuple[str, str, float, str]]) -> Mapping[str, Any]:
    return {
        "extractions": [
            {
                "text": text,
                "type": kind,
                "confidence": sure,
                "reasoning": "It says so.",
                "quote": quote,
                "explicit": True,
            }
            for text, kind, sure, quote in memories
        ]
    }


class Typed(Site):
    """A summary becomes typed memories."""

    name = "typed"
    share = 30
    shape = TypedAnswer
    inputs = 100

    _CASES: Final = (
        (_SHORT, _typed_answer(_SHORT_MEMORIES)),
        (_SHORT, _typed_answer(_SHORT_MEMORIES[:1])),
        (_LONG, _typed_answer(_LONG_MEMORIES[:4])),
        (_LONG, _typed_answer(_LONG_MEMORIES)),
    )

    def __init__(self) -> None:
        """Keep answers for measuring the gate."""
        self.answers: list[tuple[str, TypedAnswer]] = []  # (passage, what was read)

    def prepare(self, memory: Memory) -> None:
        """Record the summaries, each of another owner."""
        source = Source(key="s", kind="summary", host="factbook", session="s", uri="s", title="")
        ops: list[Op] = [RecordSource(source=source)]
        for n in range(self.inputs):
            summary = Episode(
                uid=f"summary-{n}",
                source="s",
                kind=EpisodeKind.SUMMARY,
                role=Role.USER,
                trust=Trust.DERIVED,
                text=self._CASES[n % len(self._CASES)][0],
                position=n,
                offset=n,
                occurred_at=AT,
                owner=f"owner-{n}",
            )
            ops.append(RecordEpisode(episode=summary))
        apply(memory.store, ops, trigger=Trigger.COMMAND, actor="bench", now=AT)

    def good(self, n: int) -> list[Mapping[str, Any]]:
        """Return the memories of a summary."""
        return [self._CASES[n % len(self._CASES)][1]]

    def play(self, desk: Desk, n: int) -> list[Result]:
        """Ask for the memories of the oldest summary that waits."""
        memory = desk.memory
        context = replace(memory._context, resources=Resources(redact=False, llm=desk.model))
        report = extract_typed(context, known=lambda *_: (), limit=1)
        episode = n + 1
        if report.failed:
            queued = desk.queued("typed", episode)
            why = desk.rows("SELECT error FROM model_task WHERE target = ?", (episode,))
            kind = why[0][0].partition("(")[2].partition(":")[0] if why else "unknown"
            return [Result(failure=kind, dropped="" if queued else "the summary does not wait")]
        answer = desk.model.read[0]
        assert isinstance(answer, TypedAnswer)
        if len(self.answers) < GATE_ANSWERS:
            self.answers.append((self._CASES[n % len(self._CASES)][0], answer))
        stored = {
            text
            for (text,) in desk.rows(
                "SELECT f.object FROM evidence_row v JOIN fact_row f ON f.id = v.fact_id"
                " WHERE v.episode_id = ?",
                (episode,),
            )
        }
        refused = {
            text
            for (text,) in desk.rows(
                "SELECT excerpt FROM rejection_row WHERE episode_id = ? AND reason <> ''",
                (episode,),
            )
        }
        texts = [memory.resources.redactor.redact(one.claim.text) for _, one in report.judged]
        kept = sum(text in stored for text in texts)
        lost = [text for text in texts if text not in stored and text not in refused]
        dropped = f"{lost[0]!r} is neither stored nor refused" if lost else ""
        offered = len(answer.extractions) + len(answer.unasked)
        if len(texts) != offered:
            dropped = f"{len(texts)} of {offered} items were judged"
        return [Result(kept=kept, refused=len(texts) - kept, dropped=dropped)]


# --- verdicts -------------------------------------------------------------------------------------


class Judge(Site):
    """Pairs of facts that rules cannot decide become verdicts, in two calls a night."""

    name = "judge"
    share = 5
    shape = VerdictAnswer
    inputs = 10
    per_input = 2

    _FACTS: Final = 8  # of a night: two pairs for each call

    def prepare(self, memory: Memory) -> None:
        """Let owners say things that have nothing to do with each other."""
        for n in range(self.inputs * self._FACTS):
            memory.remember(f"{_THINGS[n % len(_THINGS)]} {n}.", owner=f"owner-{n}", at=AT)
        memory.embed()
        memory.consolidate()

    def _pairs(self, n: int) -> list[tuple[int, int]]:
        first = n * self._FACTS + 1
        return [(at, at + 1) for at in range(first, first + self._FACTS, 2)]

    def good(self, n: int) -> list[Mapping[str, Any]]:
        """Return the verdicts of both calls."""
        said = ("CONTRADICTION", "KEEP_BOTH", "KEEP_BOTH", "CONTRADICTION")
        rows = [
            {"id": f"{low}-{high}", "verdict": verdict}
            for (low, high), verdict in zip(self._pairs(n), said, strict=True)
        ]
        return [{"verdicts": rows[:2]}, {"verdicts": rows[2:]}]

    def play(self, desk: Desk, n: int) -> list[Result]:
        """Queue four pairs, and consolidate."""
        pairs = self._pairs(n)
        ops: list[Op] = [
            JudgePair(
                low_id=low,
                high_id=high,
                relation="ambiguous",
                rule="close" if at < 2 else "merge",
                detail="no rule can tell",
                similarity=0.8,
            )
            for at, (low, high) in enumerate(pairs)
        ]
        memory = desk.memory
        apply(memory.store, ops, trigger=Trigger.UPKEEP, actor="bench", now=AT)
        before = [self._state(desk, pair) for pair in pairs]
        report = memory.consolidate(resolver=model_resolver(desk.model))
        results = []
        for call, answer, mine, was in zip(
            report.calls,
            desk.model.read,
            (pairs[:2], pairs[2:]),
            (before[:2], before[2:]),
            strict=True,
        ):
            result = Result(failure=call.failure)
            waiting = [pair for pair in mine if self._waits(desk, pair)]
            if call.failure:
                if [self._state(desk, pair) for pair in mine] != was or waiting != mine:
                    result.dropped = "a pair of a failed call is other than before"
            else:
                assert isinstance(answer, VerdictAnswer)
                result.kept = sum(call.verdicts.values())
                result.refused = sum(call.refused.values())
                if result.kept + result.refused != len(answer.verdicts):
                    result.dropped = f"{len(answer.verdicts)} verdicts and {call.told()}"
            if any(not desk.queued("judge", low << 31 | high) for low, high in waiting):
                result.dropped = "a pair has no verdict and does not wait with a reason"
            results.append(result)
        return results

    def _state(self, desk: Desk, pair: tuple[int, int]) -> list[Any]:
        return desk.rows(
            "SELECT status, confidence, retired_at, merged_into_id, evidence_count FROM fact_row"
            " WHERE id IN (?, ?)",
            pair,
        )

    def _waits(self, desk: Desk, pair: tuple[int, int]) -> bool:
        sql = "SELECT verdict FROM pair_row WHERE low_id = ? AND high_id = ?"
        return desk.rows(sql, pair) == [("",)]


_THINGS: Final = (
    "I take long walks to the lake number",
    "The tram is yellow and has the number",
    "My boat at the jetty is called Wanda",
    "We build with pnpm in version",
    "Chess bores me from move",
    "I paint the fence at house",
    "The printer needs cartridge",
    "Soup is best with dill of bed",
)


# --- commands -------------------------------------------------------------------------------------


class Commands(Site):
    """Commands that no rule understands become what they do."""

    name = "commands"
    share = 10
    shape = CommandAnswer
    inputs = 25

    _PER_CALL: Final = 2

    def prepare(self, memory: Memory) -> None:
        """Read a log with commands."""
        lines = []
        for n in range(self.inputs * self._PER_CALL):
            block = {
                "type": "tool_use",
                "id": f"toolu_{n}",
                "name": "Bash",
                "input": {"command": f"pg_dump -h db{n}.lan shop{n} > /srv/dumps/shop{n}.sql"},
            }
            record = {
                "type": "assistant",
                "uuid": f"a{n}",
                "parentUuid": None,
                "sessionId": "5a3e1c00-0000-4000-8000-000000000001",
                "timestamp": "2026-11-17T14:03:00.000Z",
                "cwd": "/home/nora/shop",
                "message": {"role": "assistant", "content": [block]},
            }
            lines.append(json.dumps(record))
        log = memory.path.parent / "session.jsonl"
        log.write_text("\n".join(lines), encoding="utf-8")
        memory.ingest([log], workers=0)

    def good(self, n: int) -> list[Mapping[str, Any]]:
        """Return what two commands do."""
        first = n * self._PER_CALL
        rows = [
            {
                "id": at + 1,
                "hosts": [{"host": f"db{m}.lan", "quote": f"-h db{m}.lan", "confidence": 0.5}],
                "operations": [{"operation": "backup", "quote": "pg_dump", "confidence": 0.5}],
                "files": [
                    {
                        "file": f"/srv/dumps/shop{m}.sql",
                        "quote": f"> /srv/dumps/shop{m}.sql",
                        "confidence": 0.4,
                    }
                ],
            }
            for at, m in enumerate(range(first, first + self._PER_CALL))
        ]
        return [{"commands": rows}]

    def play(self, desk: Desk, n: int) -> list[Result]:
        """Ask what the oldest commands do that wait."""
        waiting = desk.rows(
            "SELECT e.id FROM episode_row e WHERE e.kind = 'tool_call' AND NOT EXISTS ("
            "SELECT 1 FROM model_task t WHERE t.kind = 'commands' AND t.target = e.id)"
            " ORDER BY e.id LIMIT ?",
            (self._PER_CALL,),
        )
        episodes = [one for (one,) in waiting]
        report = desk.memory.typed.extract_commands(limit=self._PER_CALL)
        answer = desk.model.read[0]
        if answer is None:
            queued = all(desk.queued("commands", one) for one in episodes)
            kind = report.failed[0][1].partition("(")[2].partition(":")[0]
            return [Result(failure=kind, dropped="" if queued else "a command does not wait")]
        assert isinstance(answer, CommandAnswer)
        result = Result(kept=report.receipt.stored, refused=report.receipt.rejected)
        given: set[int] = set()
        for items in answer.commands:
            if isinstance(items, Malformed):
                found = self._told(desk, episodes[0])
                named = {("", items.malformed)}
            elif not 1 <= items.id <= len(episodes):
                found = self._told(desk, episodes[0])
                named = {("", f"there is no number {items.id} among {len(episodes)}")}
            elif items.id in given:
                found = self._told(desk, episodes[items.id - 1])
                named = {("", f"number {items.id} is answered again; the first answer counts")}
            else:
                given.add(items.id)
                found = self._told(desk, episodes[items.id - 1])
                hosts, files = well_formed(items.hosts), well_formed(items.files)
                operations = well_formed(items.operations)
                named = {("connects_to_host", one.host.strip()) for one in hosts}
                named |= {("operation_type", one.operation) for one in operations}
                named |= {("mentions_path", one.file.strip()) for one in files}
                every = [*items.hosts, *items.operations, *items.files]
                named |= {("", one.malformed) for one in every if isinstance(one, Malformed)}
            lost = {
                (predicate, value)
                for predicate, value in named
                if not any(
                    predicate == known and (value == text or (text and value.startswith(text)))
                    for known, text in found
                )
            }
            if lost:
                result.dropped = f"{sorted(lost)[0]} is neither stored nor refused"
        silent = [one for at, one in enumerate(episodes, 1) if at not in given]
        if not all(desk.queued("commands", one) for one in silent):
            result.dropped = "a command that the answer leaves out does not wait"
        return [result]

    def _told(self, desk: Desk, episode: int) -> set[tuple[str, str]]:
        """Return (predicate, value) of what an episode is evidence for, or was refused of it."""
        rows = desk.rows(
            "SELECT f.predicate, f.object FROM evidence_row v JOIN fact_row f ON f.id = v.fact_id"
            " WHERE v.episode_id = ?1 UNION SELECT predicate, excerpt FROM rejection_row"
            " WHERE episode_id = ?1 AND reason <> ''",
            (episode,),
        )
        return {(str(predicate), str(value)) for predicate, value in rows}


# --- the run --------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Tally:
    """What became of the answers to one call."""

    answers: int = 0
    taken: int = 0  # answers that fit their type, and were of some use
    kept: int = 0  # parts of answers
    refused: int = 0  # parts of answers
    failures: Counter[str] = field(default_factory=Counter)
    crashes: int = 0
    writes_on_failure: int = 0
    silent_drops: int = 0
    audit_problems: int = 0
    cpu_seconds: float = 0.0

    def count(self, result: Result, *, wrote: bool) -> None:
        """Count what became of one answer."""
        self.answers += 1
        self.kept += result.kept
        self.refused += result.refused
        self.silent_drops += bool(result.dropped)
        if result.failure:
            self.failures[result.failure] += 1
            self.writes_on_failure += wrote
        else:
            self.taken += 1

    def add(self, other: Tally) -> None:
        """Add the numbers of some more answers."""
        self.failures += other.failures
        for name in self.__slots__:
            if name != "failures":
                setattr(self, name, round(getattr(self, name) + getattr(other, name), 1))


@dataclass(slots=True)
class Account:
    """What became of everything."""

    tallies: dict[str, Tally]
    examples: list[dict[str, str]] = field(default_factory=list)

    def note(self, site: str, what: str, answers: Sequence[bytes]) -> None:
        """Keep an example of what must not happen."""
        if len(self.examples) < SHOWN:
            said = " | ".join(repr(one[:600])[2:-1] for one in answers)
            self.examples.append({"site": site, "what": what, "answer": said})

    def add(self, other: Account) -> None:
        """Add what became of some more answers."""
        for name, tally in other.tallies.items():
            self.tallies[name].add(tally)
        self.examples = [*self.examples, *other.examples][:SHOWN]

    def total(self, name: str) -> int:
        """Return a number over all calls."""
        return sum(int(getattr(one, name)) for one in self.tallies.values())


def sites() -> list[Site]:
    """Return every call of a model."""
    return [Tell(), Plan(), Typed(), Judge(), Commands()]


def template(site: Site, folder: Path) -> Path:
    """Prepare a file for a call, with a count of what is written to memory, and return it."""
    path = folder / f"{site.name}.db"
    with _open(path, None) as memory:
        site.prepare(memory)
    connection = apsw.Connection(str(path))
    try:
        connection.execute("CREATE TABLE bench_touched (memory INTEGER, refusals INTEGER)")
        connection.execute("INSERT INTO bench_touched VALUES (0, 0)")
        tables = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
            " AND name NOT LIKE 'sqlite%' AND name NOT LIKE '%\\_fts%' ESCAPE '\\'"
            " AND name NOT IN ('bench_touched', 'meta', 'mark_row', 'commit_row', 'owner_row')"
        ).fetchall()
        for (table,) in tables:
            if table in _BESIDE:
                continue
            count = "refusals" if table == "rejection_row" else "memory"
            for verb, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
                when = f" WHEN {row}.target_kind <> 'run'" if table == "event_row" else ""
                connection.execute(
                    f"CREATE TRIGGER bench_{verb}_{table} AFTER {verb} ON {table}{when}"
                    f" BEGIN UPDATE bench_touched SET {count} = {count} + 1; END"
                )
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
    return path


def _open(path: Path, model: Mutant | None) -> Memory:
    return Memory(path, clock=FrozenClock(AT), key_file=path.parent / "key", model=None, llm=model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Some of the answers to one call, for one process."""

    site: str
    number: int  # of the slices of this call
    count: int
    seed: int
    folder: Path  # with the prepared files


def slices_of(count: int, *, seed: int, folder: Path) -> list[Slice]:
    """Share out the answers; the last call takes what rounding left over."""
    found: list[Slice] = []
    left = count
    every = sites()
    for site in every:
        wanted = left if site is every[-1] else round(count * site.share / 100)
        left -= wanted
        for number, first in enumerate(range(0, wanted, SLICE)):
            size = min(SLICE, wanted - first)
            found.append(Slice(site=site.name, number=number, count=size, seed=seed, folder=folder))
    return found


def drawn(site: Site, n: int, rng: random.Random) -> list[bytes]:
    """Return mutated answers about the n-th input; of every other input, ones that fit."""
    return [_fitting(site, good, rng, draws=DRAWS if n % 2 else 1) for good in site.good(n)]


def _fitting(site: Site, good: Mapping[str, Any], rng: random.Random, *, draws: int) -> bytes:
    mutants = mutations(good, rng)
    for _ in range(draws - 1):
        data = next(mutants)
        try:
            found = read_answer(data.decode("utf-8"), site.shape)
        except (UnicodeDecodeError, Failed):
            continue
        if is_whole(found) and found != site.shape.model_validate(good):
            return data
    return next(mutants)


def is_whole(part: object) -> bool:
    """Tell whether an answer, or a part of one, fits with all that it holds."""
    if isinstance(part, BaseModel):
        fields = [getattr(part, name) for name in type(part).model_fields]
        return not (isinstance(part, Malformed) or getattr(part, "unasked", None)) and all(
            map(is_whole, fields)
        )
    return not isinstance(part, list) or all(map(is_whole, part))


def feed(part: Slice) -> tuple[Account, list[tuple[str, TypedAnswer]]]:
    """Give one slice of mutated answers to its call, in files of `site.inputs` inputs each."""
    log = logging.getLogger("factbook")
    level = log.level
    log.setLevel(logging.ERROR)  # what is refused is not news here
    try:
        return _answered(part)
    finally:
        log.setLevel(level)


def _answered(part: Slice) -> tuple[Account, list[tuple[str, TypedAnswer]]]:
    site = next(one for one in sites() if one.name == part.site)
    rng = random.Random(f"{part.seed}:{part.site}:{part.number}")
    tally = Tally()
    account = Account({site.name: tally})
    path = part.folder / f"scratch-{os.getpid()}.db"
    began = time.process_time()
    while tally.answers < part.count:
        shutil.copy(part.folder / f"{site.name}.db", path)
        model = Mutant()
        outside = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        outside.execute("PRAGMA query_only = 1")
        try:
            with _open(path, model) as memory:
                desk = Desk(memory, model, outside)
                for n in range(site.inputs):
                    if tally.answers >= part.count:
                        break
                    if not _one(site, desk, n, drawn(site, n, rng), account):
                        break  # it crashed: what it left is not built upon
                problems = memory.check()
                tally.audit_problems += len(problems)
                for one in problems:
                    account.note(site.name, f"audit: {one.what}: {one.detail}", [])
        finally:
            outside.close()
            for left in part.folder.glob(f"{path.name}*"):
                left.unlink()
    tally.cpu_seconds = round(time.process_time() - began, 1)
    kept = site.answers if isinstance(site, Typed) and part.number == 0 else []
    return account, kept


def _one(site: Site, desk: Desk, n: int, answers: Sequence[bytes], account: Account) -> bool:
    """Play one input; False where it crashed."""
    tally = account.tallies[site.name]
    desk.model.say(*answers)
    try:
        results = site.play(desk, n)
    except Exception as error:  # noqa: BLE001 - a crash is what is counted here
        tally.answers += len(answers)
        tally.crashes += 1
        account.note(site.name, f"crash: {type(error).__name__}: {error}", answers)
        return False
    wrote = all(one.failure and desk.wrote_on(one.failure) for one in results)
    for result in results:
        tally.count(result, wrote=wrote)
        if result.dropped:
            account.note(site.name, f"dropped: {result.dropped}", answers)
    if wrote:
        account.note(site.name, "written on failure", answers)
    return True


def gate_speed(answers: Sequence[tuple[str, TypedAnswer]]) -> dict[str, int]:
    """Return candidates per second of CPU time that the gate judges, without similarity."""
    candidates = sum(len(claims_of(answer)[0]) for _, answer in answers)  # others are no claims
    best = 0.0
    for _ in range(GATE_RUNS if candidates else 0):
        began = time.process_time()
        for text, answer in answers:
            judge_answer(answer, read_passage(text), owner="me", embed=None, redact=str)
        best = max(best, candidates / max(time.process_time() - began, 1e-9))
    return {"candidates": candidates, "candidates_per_s": round(best)}


def measure(
    count: int, *, seed: int, jobs: int, folder: Path, console: Console
) -> dict[str, object]:
    """Feed so many answers to all calls and return the figures."""
    account = Account({site.name: Tally() for site in sites()})
    typed: list[tuple[str, TypedAnswer]] = []
    began = time.perf_counter()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar, tempfile.TemporaryDirectory(prefix="bench-answers-", dir=folder) as made:
        task = bar.add_task("mutated answers", total=count)
        for site in sites():
            template(site, Path(made))
        for found, answers in _fed(slices_of(count, seed=seed, folder=Path(made)), jobs=jobs):
            account.add(found)
            typed += answers
            bar.update(task, completed=account.total("answers"))
    return {
        "n": account.total("answers"),
        "seed": seed,
        "crashes": account.total("crashes"),
        "writes_on_failure": account.total("writes_on_failure"),
        "silent_drops": account.total("silent_drops"),
        "audit_problems": account.total("audit_problems"),
        **gate_speed(typed),
        "seconds": round(time.perf_counter() - began, 1),
        "sites": {
            name: {**asdict(one), "failures": dict(one.failures.most_common())}
            for name, one in account.tallies.items()
        },
        "examples": account.examples,
    }


def _fed(
    parts: Sequence[Slice], *, jobs: int
) -> Iterator[tuple[Account, list[tuple[str, TypedAnswer]]]]:
    """Yield what became of each slice, in their order."""
    if jobs == 1 or len(parts) == 1:
        yield from map(feed, parts)
        return
    # Not forked: a process that has loaded the embedding model has threads.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(feed, parts)


def scratch(given: Path | None) -> Path:
    """Return where the scratch files are to be; raises `BenchError` where that is no folder."""
    if given is None:
        shared = Path("/dev/shm")
        return shared if os.access(shared, os.W_OK) else Path(tempfile.gettempdir())
    if not given.is_dir():
        raise BenchError(f"{given} is no folder; name one that has room for scratch files")
    return given


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.answers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--n", type=int, default=200_000, help="answers (default 200000)")
    parser.add_argument("--seed", type=int, default=1, help="of the mutations (default 1)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where scratch files go")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(argv)
    if args.n < 1:
        raise BenchError(f"--n {args.n} is no number of answers; give 1 or more")
    if args.jobs < 1:
        raise BenchError(f"--jobs {args.jobs} is no number of processes; give 1 or more")
    figures = measure(
        args.n,
        seed=args.seed,
        jobs=args.jobs,
        folder=scratch(args.folder),
        console=Console(stderr=True),
    )
    if not args.json:
        report(figures)
    emit(figures, part=PART, as_json=args.json)
    return 0


def report(figures: Mapping[str, object]) -> None:
    """Print the figures as tables."""
    by_site = figures["sites"]
    assert isinstance(by_site, dict)
    names = ("answers", "taken", "kept", "refused", "crashes", "writes_on_failure", "silent_drops")
    print_table(
        f"{figures['n']} mutated answers of a model",
        [{"call": name, **{what: of[what] for what in names}} for name, of in by_site.items()],
    )
    kinds = sorted({kind for of in by_site.values() for kind in of["failures"]})
    print_table(
        "Failures by kind",
        [
            {"call": name, **{kind: of["failures"].get(kind, 0) for kind in kinds}}
            for name, of in by_site.items()
        ],
    )
    shown = ("crashes", "writes_on_failure", "silent_drops", "audit_problems", "candidates_per_s")
    print_table("All together", [{name: figures[name] for name in shown}])
    examples = figures["examples"]
    if isinstance(examples, list) and examples:
        print_table("What must not happen", examples)


if __name__ == "__main__":
    sys.exit(run(main))
