"""No planted secret leaves its log: not into the database, its journal, exports, or messages."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from bench.secret_lines import SecretLine, generate, planted_values

from factbook.memory import Memory
from factbook.sources.redact import Redactor
from factbook.testing import FrozenClock

KEY = b"k" * 32


FRAMES = ("{}", "one\n{}\ntwo", "I found that this failed: {}")  # where the log plants a text


def recognised() -> list[SecretLine]:
    """Return generated secrets that the redactor finds whole in each of the frames.

    What it does not recognise is measured by the bench; here it is shown that what it does
    recognise is gone from everywhere, however it got in.
    """
    redactor = Redactor(key=KEY)

    def found(line: SecretLine, frame: str) -> bool:
        shift = frame.index("{}")
        spans = redactor.find(frame.replace("{}", line.text))
        return all(
            any(one.start <= start + shift and end + shift <= one.end for one in spans)
            for start, end, _ in line.spans
        )

    lines = generate(seed=20_26, n=600)
    return [line for line in lines if line.spans and all(found(line, one) for one in FRAMES)]


def write_log(path: Path, lines: list[SecretLine]) -> None:
    """Plant the lines where texts come from: prompts, replies, commands, inputs and results."""
    records = []
    for n, line in enumerate(lines):
        call = f"toolu_{n:04d}"
        base = {"uuid": f"r{n}", "sessionId": "s", "timestamp": "2026-11-17T10:00:00.000Z"}
        result = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": FRAMES[1].replace("{}", line.text),
        }
        tool = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": line.text}}
        edit = {
            "type": "tool_use",
            "id": f"{call}e",
            "name": "Write",
            "input": {"file_path": "/srv/app/.env", "content": line.text},
        }
        reply = {"type": "text", "text": FRAMES[2].replace("{}", line.text)}
        records += [
            {**base, "type": "user", "message": {"content": line.text}},
            {**base, "uuid": f"a{n}", "type": "assistant", "message": {"content": [tool, edit]}},
            {**base, "uuid": f"t{n}", "type": "user", "message": {"content": [result]}},
            {**base, "uuid": f"b{n}", "type": "assistant", "message": {"content": [reply]}},
        ]
    body = "\n".join(json.dumps(one, ensure_ascii=n % 2 == 0) for n, one in enumerate(records))
    # And lines that cannot be read are kept only as a redacted excerpt.
    body += "\n" + "\n".join(f'{{"broken": "{line.text[:200]}' for line in lines[:50])
    path.write_text(body + "\n", encoding="utf-8", errors="replace")


def assert_gone(data: bytes, planted: set[bytes], where: object) -> None:
    for value in planted:
        assert value not in data, f"{value!r} stands in {where}"


def test_no_planted_byte_reaches_any_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    lines = recognised()
    assert len(lines) > 400
    log = tmp_path / "logs" / "a.jsonl"
    log.parent.mkdir()
    write_log(log, lines)
    planted = planted_values(lines, min_length=8)
    assert planted
    key = tmp_path / "outside" / "key"
    key.parent.mkdir()
    key.write_bytes(KEY)
    with Memory(tmp_path / "db" / "m.db", clock=FrozenClock(), key_file=key) as memory:
        memory.ingest([log])
        exported = "\n".join(json.dumps(one, ensure_ascii=False) for one in memory.export())
        answers = [memory.recall(question) for question in ("password", "token failed", "/srv/app")]
        told = [memory.explain(fact.id) for fact in memory.query_facts(limit=40)]
        for path in sorted((tmp_path / "db").iterdir()):  # with the write-ahead log still there
            assert_gone(path.read_bytes(), planted, path.name)
        assert memory.check() == []
    assert_gone((tmp_path / "db" / "m.db").read_bytes(), planted, "the closed database")
    for name, text in (
        ("the export", exported),
        ("an answer", repr(answers)),
        ("an explanation", repr(told)),
        ("messages", "".join(capsys.readouterr()) + caplog.text),
    ):
        assert_gone(text.encode("utf-8", "replace"), planted, name)
    with sqlite3.connect(tmp_path / "db" / "m.db") as connection:
        words = connection.execute("SELECT count(*) FROM episode_row").fetchone()[0]
    assert words > len(lines)


def test_equal_secrets_stay_joinable_and_cannot_be_read_back(tmp_path: Path) -> None:
    value = "correct-horse-" + "7" * 12
    log = tmp_path / "a.jsonl"
    commands = [
        f"export DB_PASSWORD={value}",
        f"mysql -u root -p{value} shop",
        "export DB_PASSWORD=short1",
    ]
    log.write_text(
        "\n".join(
            json.dumps(
                {
                    "type": "assistant",
                    "uuid": f"a{n}",
                    "message": {
                        "content": [
                            {
                                "type": "tool_use",
                                "id": f"t{n}",
                                "name": "Bash",
                                "input": {"command": one},
                            }
                        ]
                    },
                }
            )
            for n, one in enumerate(commands)
        )
        + "\n",
        encoding="utf-8",
    )

    def labels(key: bytes) -> list[str]:
        folder = tmp_path / key[:1].decode()
        folder.mkdir()
        (folder / "key").write_bytes(key)
        with Memory(folder / "m.db", key_file=folder / "key") as memory:
            memory.ingest([log])
            found = [one.object for one in memory.query_facts(predicate="executed_command")]
        return [one[one.index("[REDACTED") : one.index("]") + 1] for one in found]

    first, second = labels(b"a" * 32), labels(b"b" * 32)
    digests = [label.rsplit(":", 1)[1] for label in first]
    assert digests[0] == digests[1]
    assert first[2] == "[REDACTED:password]"  # too short for a digest: it could be guessed
    assert first[0] != second[0]  # the digest is keyed
