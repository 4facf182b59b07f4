"""A model that answers badly changes nothing, loses nothing and is counted once, at every call.

Each way of the catalogue of bad answers is played over HTTP, in both protocols, to every call of a
model: operations on keyed facts (tell), plans (ask), typed memories, verdicts on contradictions and
on merges, and commands. What the file held when the model was asked is compared with what it holds
afterwards, table by table.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from factbook import policy
from factbook.assist.meter import CostLine
from factbook.apply import apply
from factbook.errors import ModelError, ModelFailure
from factbook.extract.modelled import (
    PURPOSE as COMMANDS,
    CommandAnswer,
    CommandReading,
    command_candidates,
    command_messages,
)
from factbook.llm.config import ModelConfig
from factbook.memory import Memory
from factbook.model import Episode, EpisodeKind, Role, Source, Trigger, Trust
from factbook.model import Field as Span
from factbook.ops import JudgePair, Op
from factbook.store.base import ModelTask
from factbook.testing import FrozenClock
from factbook.testing.bad_answers import bad_answers
from factbook.testing.model_server import ModelServer, Reply, Request

MODEL = "m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One place that asks a model."""

    name: str
    task: str
    purpose: str
    calls: int
    good: Mapping[str, Any]
    prepare: Callable[[Memory], None]
    run: Callable[[Memory], str]
    answer: Callable[[Mapping[str, Any], Request], Mapping[str, Any]] = lambda good, _: good


@dataclass
class Tried:
    failure: Any
    said: str
    changed: Any
    tasks: Any
    requests: int
    calls: Any
    problems: Any


def tables(path: Path) -> dict[str, list[Any]]:
    c = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        names = [n for (n,) in c.execute("select name from sqlite_master where type='table' and name not like 'sqlite_%'")]
        return {n: c.execute(f"select * from {n}").fetchall() for n in names}
    finally:
        c.close()


def open_memory(folder: Path, clock: FrozenClock, model: ModelConfig | None) -> Memory:
    return Memory(folder / "f.db", clock=clock, key_file=folder.parent / "key", model=model)


def template(site: Site, folder: Path) -> Path:
    folder.mkdir()
    with open_memory(folder, FrozenClock(), None) as m:
        site.prepare(m)
    return folder


def play(site, tpl, folder, server, provider, build, timeout_s=0.3):
    shutil.copytree(tpl, folder)
    config = ModelConfig(provider=provider, model=MODEL, url=server.url, timeout_s=timeout_s)
    seen = []

    def script(request):
        seen.append(tables(folder / "f.db"))
        return build(site.answer(site.good, request))

    server.script = script
    before = len(server.requests)
    failure = None
    said = ""
    with open_memory(folder, FrozenClock(), config) as m:
        try:
            said = site.run(m)
        except ModelError as error:
            failure = error.kind
        after = tables(folder / "f.db")
        changed = {}
        for n, rows in after.items():
            if seen and rows != seen[-1][n]:
                changed[n] = len(rows) - len(seen[-1][n])
        return Tried(failure, said, changed, m.model_tasks(), len(server.requests) - before, m.cost(), m.check())


MESSAGE = "BTC is my #1 favorite crypto, and my city is Oslo."
TELL = {
    "ops": [
        {"op": "ranked_list_set", "list_key": "user.favorites.crypto", "rank": 1, "value": "BTC", "confidence": 0.9},
        {"op": "set", "fact_key": "user.city", "value": "Oslo", "confidence": 0.9},
    ]
}


def no_prep(m): 
    m.tell("SOL is my #1 favorite crypto", planner="rules")


def run_tell(m):
    t = m.tell(MESSAGE)
    return f"{t.label} {t.receipt.keys} errors={t.errors} asked={t.needs_clarification} warn={t.warnings}"


PLAN = {"intent": "facts_get_ranked_list", "list_key": "user.favorites.crypto", "topic": "crypto", "limit": 25, "include_ranks": True}


def run_plan(m):
    a = m.ask("what are my favorite cryptos?")
    return f"{a.label} {[f.value for f in a.answer.facts]}"


SUMMARY = "User: \"I absolutely love fettuccini. I moved to Oslo in 2020.\"\nAssistant: \"Nice, you could try pesto.\""
TYPED = {"extractions": [
    {"text": "Loves fettuccini", "type": "USER_FACT", "confidence": 0.95, "reasoning": "said so", "quote": "I absolutely love fettuccini", "explicit": True},
    {"text": "Moved to Oslo in 2020", "type": "USER_FACT", "confidence": 0.9, "reasoning": "said so", "quote": "I moved to Oslo in 2020", "explicit": True},
]}


def prep_typed(m):
    s = Source(key="s", kind="summary", host="factbook", session="s", uri="s", title="")
    m.record(s, [Episode(uid="s1", source="s", kind=EpisodeKind.SUMMARY, role=Role.USER, trust=Trust.DERIVED, text=SUMMARY, position=0, offset=0, occurred_at=1_763_000_000_000)])


def run_typed(m):
    r = m.extract_typed()
    if r.failed:
        return f"failed {r.failed}"
    return f"offered={r.offered} stored={r.receipt.stored} rej={r.receipt.rejections} rows={len(m.rejections())}"


def prep_judge(m):
    c = m._clock
    f = []
    for t in ("I take long walks.", "The tram is yellow.", "My boat is called Wanda.", "We use pnpm for builds."):
        c.now += 60_000
        f.append(m.remember(t))
    m.embed()
    m.consolidate()
    apply(m.store, [JudgePair(low_id=f[0].id, high_id=f[1].id, relation="ambiguous", rule="close", detail="x", similarity=.8),
        JudgePair(low_id=f[2].id, high_id=f[3].id, relation="ambiguous", rule="merge", detail="x", similarity=.8)], trigger=Trigger.UPKEEP, actor="t", now=c.now)


JUDGE = {"verdicts": [{"id": "1-2", "verdict": "CONTRADICTION"}]}


def judge_answer(good, request):
    return {"verdicts": [{"id": "3-4", "verdict": "MERGE"}]} if "Cluster 3-4" in request.prompt else good


def run_judge(m):
    m._clock.advance(days=1)
    r = m.consolidate()
    return " ; ".join(f"{c.about} fail={c.failure} v={c.verdicts} left={c.left_out} ref={c.refused} skip={c.skipped}" for c in r.calls) + f" waiting={r.waiting}"


COMMAND = "pg_dump -h db1.lan shop > shop.sql"
CMD = {"commands": [{"id": 1, "hosts": [{"host": "db1.lan", "quote": "-h db1.lan", "confidence": 0.5}], "operations": [{"operation": "backup", "quote": "pg_dump", "confidence": 0.5}], "files": [{"file": "shop.sql", "quote": "> shop.sql", "confidence": 0.5}]}]}


def run_cmd(m):
    text = f"Bash\ncommand: {COMMAND}"
    e = Episode(uid="c1", source="s", kind=EpisodeKind.TOOL_CALL, role=Role.ASSISTANT, trust=Trust.OBSERVED, text=text, position=0, offset=0, occurred_at=1, subject="action_c1", fields=(Span(name="command", start=14, end=len(text)),))
    a = m.llm.ask(command_messages([e]), CommandAnswer, purpose=COMMANDS)
    r = command_candidates(a, [e], model=m.llm.id)
    return f"{[(c.predicate, c.object) for v in r.candidates.values() for c in v]} refused={[x.reason for x in r.refused][:6]} {len(r.refused)} unanswered={r.unanswered}"


SITES = (
    Site(name="tell", task="tell", purpose="tell", calls=1, good=TELL, prepare=no_prep, run=run_tell),
    Site(name="plan", task="", purpose="plan", calls=1, good=PLAN, prepare=no_prep, run=run_plan),
    Site(name="typed", task="typed", purpose="typed", calls=1, good=TYPED, prepare=prep_typed, run=run_typed),
    Site(name="judge", task="judge", purpose="judge", calls=2, good=JUDGE, prepare=prep_judge, run=run_judge, answer=judge_answer),
    Site(name="commands", task="", purpose="commands", calls=1, good=CMD, prepare=lambda m: None, run=run_cmd),
)
