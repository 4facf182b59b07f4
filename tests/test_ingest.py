"""The way from files to facts: in one process or several, once or again, whole or interrupted."""

from __future__ import annotations

import gc
import io
import json
import os
import pickle
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factbook import policy
from factbook.errors import FactbookError, NoLogsFound, PathMissing, UsageError
from factbook.extract.rules import RuleSet
from factbook.memory import Memory
from factbook.model.ops import OPS, AssertFact, Op, RecordEpisode
from factbook.pipelines import workers as processes
from factbook.pipelines.steps import propose
from factbook.pipelines.workers import Workers
from factbook.redaction import NO_REDACTION
from factbook.sources.session_log import discover
from factbook.store.derived.counts import row_counts
from factbook.testing import FrozenClock
from test_kill import write_logs


def open_memory(folder: Path, name: str = "m.db") -> Memory:
    return Memory(folder / name, clock=FrozenClock(), key_file=folder / "key")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    write_logs(folder, files=5, records=120)
    return folder


@pytest.mark.parametrize("busy_bytes", [-1, 1 << 60])
@pytest.mark.parametrize("platform", ["linux", "elsewhere"])
def test_worker_processes_write_the_same(
    tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch, platform: str, busy_bytes: int
) -> None:
    monkeypatch.setattr(policy, "HEAD_START_BYTES", 0)
    monkeypatch.setattr(processes, "_BUSY_BYTES", busy_bytes)  # workers ask the rules, or never
    monkeypatch.setattr(sys, "platform", platform)  # forked workers, and started ones
    with open_memory(tmp_path, "a.db") as here, open_memory(tmp_path, "b.db") as there:
        first = here.ingest([logs], workers=0)
        second = there.ingest([logs], workers=2)
        assert first.receipt == second.receipt
        assert first.lines == second.lines
        assert list(here.export())[1:] == list(there.export())[1:]  # less whose file it is
        assert there.check() == []
        assert there.ingest([logs], workers=2).receipt.episodes == 0


@pytest.mark.parametrize("extracted", [True, False])
def test_a_step_crosses_a_pipe_unchanged(logs: Path, extracted: bool) -> None:
    file, rules, now = discover([logs]).files[0], RuleSet.default(), FrozenClock()()
    (step,) = propose(file, cursor=None, rules=rules, redactor=NO_REDACTION, now=now)
    (sent,) = propose(
        file,
        cursor=None,
        rules=rules if extracted else None,
        redactor=NO_REDACTION,
        now=now,
    )
    assert any(isinstance(op, AssertFact) for op in sent.ops) is extracted
    pipe = io.BytesIO()
    processes._send(pipe, processes._flat(sent, extracted=extracted))
    pipe.seek(0)
    again = processes._unflat(processes._receive(pipe), rules)
    ops: list[Op] = [
        # The spans of the fields have served when the facts are sent.
        RecordEpisode(episode=replace(op.episode, fields=()))
        if isinstance(op, RecordEpisode) and extracted
        else op
        for op in step.ops
    ]
    for kind in OPS.values():
        of_kind = [op for op in ops if isinstance(op, kind)]
        assert [op for op in again.ops if isinstance(op, kind)] == of_kind
    assert replace(again, ops=[]) == replace(step, ops=[])


def test_the_collector_is_left_as_it_was(tmp_path: Path, logs: Path) -> None:
    before = gc.get_threshold()
    with open_memory(tmp_path) as memory:
        memory.ingest([logs])
    assert gc.get_threshold() == before


def test_a_file_that_vanishes_is_reported_and_the_others_go_on(
    tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "HEAD_START_BYTES", 0)
    for workers in (0, 2):
        with open_memory(tmp_path, f"{workers}.db") as memory:
            found = memory.sources.discover([logs])
            gone = found.files[2].path
            kept = gone.read_bytes()
            gone.unlink()
            report = memory.ingest(discovery=found, workers=workers)
            gone.write_bytes(kept)
            states = [file.state for file in report.files]
            assert states == ["new", "new", "failed", "new", "new"]
            assert str(gone) in report.files[2].error
            assert memory.check() == []


def test_a_worker_that_dies_is_heard_of(
    tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "HEAD_START_BYTES", 0)
    real = Workers.steps

    def die(self: Workers, number: int):  # type: ignore[no-untyped-def]
        for worker in self.workers:
            worker.kill()
        return real(self, number)

    monkeypatch.setattr(Workers, "steps", die)
    with open_memory(tmp_path) as memory:
        with pytest.raises(FactbookError, match="ended unexpectedly"):
            memory.ingest([logs], workers=2)
        assert memory.check() == []
        monkeypatch.undo()
        memory.ingest([logs], workers=0)
        assert row_counts(memory.store)["sources"] == 5


def test_a_file_that_grew_is_read_from_where_it_stopped(tmp_path: Path, logs: Path) -> None:
    path = sorted(logs.iterdir())[0]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:60]))
    with open_memory(tmp_path) as memory, open_memory(tmp_path, "whole.db") as whole:
        memory.ingest([path])
        with path.open("ab") as file:
            file.write(b"".join(lines[60:-1]) + lines[-1][:40])
        report = memory.ingest([path])
        assert report.files[0].state == "grown"
        assert report.files[0].read_bytes == sum(map(len, lines[60:-1]))
        assert report.lines.waiting == 1  # half of the last line is not written yet
        with path.open("ab") as file:
            file.write(lines[-1][40:])
        assert memory.ingest([path]).lines.records == 1
        whole.ingest([path])

        def facts(one: Memory) -> set[tuple[str, str, str, int]]:
            return {(f.subject, f.predicate, f.object, f.evidence_count) for f in one.query_facts()}

        assert facts(memory) == facts(whole)
        (state,) = memory.sources.sessions()
        assert (state.lines.records, state.lines.waiting) == (len(lines), 0)
        assert memory.check() == []


def test_a_replaced_file_is_read_anew(tmp_path: Path, logs: Path) -> None:
    first, second = sorted(logs.iterdir())[:2]
    with open_memory(tmp_path) as memory:
        memory.ingest([first])
        before = row_counts(memory.store)["facts"]
        shutil.copy(second, first)
        report = memory.ingest([first])
        assert report.files[0].state == "replaced"
        assert row_counts(memory.store)["facts"] > before  # and nothing of the old is lost
        assert memory.check() == []


def test_every_line_is_accounted_for(tmp_path: Path, logs: Path) -> None:
    path = sorted(logs.iterdir())[0]
    with path.open("ab") as file:
        file.write(b'\n{"type": "no-such-type", "uuid": "x"}\nnot json\n[1, 2]\n')
    with open_memory(tmp_path) as memory:
        report = memory.ingest([logs])
        assert report.lines.total() == report.lines.records + report.lines.ignored.get("blank", 0)
        assert report.lines.unknown == {"no-such-type": 1}
        assert sum(report.lines.rejected.values()) == 2
        assert memory.check() == []


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with open_memory(tmp_path) as memory:
        with pytest.raises(PathMissing):
            memory.ingest([tmp_path / "nowhere"])
        with pytest.raises(NoLogsFound):
            memory.ingest([tmp_path / "empty"])


@pytest.mark.parametrize("given", ["", [""], [5]])
def test_what_names_no_path_is_refused(tmp_path: Path, given: Any) -> None:
    with Memory(tmp_path / "m.db") as memory, pytest.raises(UsageError, match="names no file"):
        memory.ingest(given)


def test_an_empty_list_is_nothing_to_read_and_one_path_is_a_path(
    tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    shutil.copytree(logs, tmp_path / "home" / ".claude" / "projects" / "-x")
    with open_memory(tmp_path) as memory:
        assert memory.ingest([], owner="anna").files == []
        assert memory.ingest((tmp_path / "exports-typo").glob("*.jsonl"), owner="anna").files == []
        assert memory.ingest([], owner="anna", kind="note").files == []
        assert memory.sources.read_rule_files([], owner="anna").files == []
        assert memory.stats().counts["episodes"] == 0
        one = min(logs.iterdir())
        assert memory.ingest(one, owner="anna").receipt.episodes
        assert memory.ingest(str(one), owner="anna").receipt.episodes == 0
        assert len(memory.ingest().files) == len(list(logs.iterdir()))  # where agents put them
        assert memory.check() == []


def test_progress_adds_up_to_the_size_of_the_files(tmp_path: Path, logs: Path) -> None:
    done: list[int] = []
    total = sum(path.stat().st_size for path in logs.iterdir())
    with open_memory(tmp_path) as memory:
        memory.ingest([logs], progress=done.append)
        assert sum(done) == total
        done.clear()
        memory.ingest([logs], progress=done.append)
        assert sum(done) == total


def test_progress_counts_what_is_kept(tmp_path: Path, logs: Path) -> None:
    with open_memory(tmp_path) as memory:

        def kept(count: int) -> None:
            assert not count or memory.stats().counts["episodes"] > 0

        memory.ingest([logs], progress=kept)


def test_a_record_that_reuses_an_id_with_other_words_is_kept_too(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    base = {"type": "user", "uuid": "same", "sessionId": "s"}
    path.write_text(
        "".join(
            json.dumps({**base, "message": {"role": "user", "content": text}}) + "\n"
            for text in ("look at /srv/one", "look at /srv/two", "look at /srv/one")
        ),
        encoding="utf-8",
    )
    with open_memory(tmp_path) as memory:
        memory.ingest([path])
        assert {one.object for one in memory.query_facts(predicate="mentions_path")} == {
            "/srv/one",
            "/srv/two",
        }
        assert row_counts(memory.store)["episodes"] == 2
        assert memory.check() == []


def test_a_file_that_turns_unreadable_under_a_worker_is_reported(
    tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "HEAD_START_BYTES", 0)
    files = sorted(logs.iterdir())
    real = Workers.__init__

    def start(self: Workers, *given: object, **more: object) -> None:
        files[3].unlink()  # after the tasks were made
        real(self, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Workers, "__init__", start)
    with open_memory(tmp_path) as memory:
        report = memory.ingest([logs], workers=2)
        assert [one.state for one in report.files] == ["new", "new", "new", "failed", "new"]
        assert str(files[3]) in report.files[3].error
        assert memory.check() == []


def test_errors_cross_a_pipe_with_their_message() -> None:
    error = PathMissing(path="/x")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.exit_code) == (PathMissing, str(error), 3)


def test_a_file_name_that_is_no_utf8_is_read_like_any_other(tmp_path: Path, logs: Path) -> None:
    first = sorted(logs.iterdir())[0]
    odd = Path(os.fsdecode(os.fsencode(logs) + b"/odd\x80name.jsonl"))
    odd.write_bytes(first.read_bytes())
    first.unlink()
    with open_memory(tmp_path) as memory:
        report = memory.ingest([logs])
        assert {one.state for one in report.files} == {"new"}
        assert any("odd\\x80name.jsonl" in one.source.uri for one in memory.sources.sessions())
        assert memory.ingest([logs]).lines.records == 0
        assert memory.check() == []


def test_lines_count_once_when_runs_overlap(tmp_path: Path, logs: Path) -> None:
    with open_memory(tmp_path) as first, open_memory(tmp_path) as second:
        found = first.sources.discover([logs])
        before = second.store.sources()
        report = first.ingest(discovery=found)
        with pytest.MonkeyPatch.context() as patch:  # the second run began before the first wrote
            patch.setattr(second.store, "sources", lambda **_: before)
            second.ingest(discovery=found)
        assert second.stats().lines.records == report.lines.records
        assert second.check() == []


def test_ids_that_hold_a_secret_are_redacted(tmp_path: Path) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    path = tmp_path / "a.jsonl"
    block = {"type": "tool_use", "id": token, "name": f"tool {token}", "input": {"command": "ls"}}
    records = [
        {"type": "assistant", "uuid": token, "sessionId": token, "message": {"content": [block]}},
        {"type": f"odd {token}", "uuid": "u2"},
        {"type": "user", "uuid": "u3", "sessionId": token, "message": {"content": "hello there"}},
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    with open_memory(tmp_path) as memory:
        memory.ingest([path])
        assert len(memory.query_facts(predicate="used_tool")) == 1
        for file in tmp_path.glob("m.db*"):
            assert token.encode() not in file.read_bytes()
        assert memory.check() == []


def test_ctrl_c_in_a_worker_leaves_the_word_to_its_parent(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(processes, "serve", interrupted)
    monkeypatch.setattr(processes, "forks", lambda: True)
    child = processes._Worker(RuleSet([]), NO_REDACTION)
    os.waitid(os.P_PID, child._pid, os.WEXITED | os.WNOWAIT)
    child.close()
    assert "Traceback" not in capfd.readouterr().err
