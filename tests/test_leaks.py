"""No planted secret leaves its log: not into the database, its journal, exports, or messages."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sqlite3
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pytest
from bench.secret_lines import SecretLine, generate, planted_values

from factbook.errors import FactbookError
from factbook.memory import Memory
from factbook.model.facts import EVERYONE, Role
from factbook.model.ops import OPS
from factbook.model.restored import ImportState
from factbook.recall.plan import Turn
from factbook.redaction import Redactor
from factbook.store.kinds import INJECTION
from factbook.store.rows import Filters
from factbook.store.screened import Screen
from factbook.testing import FrozenClock
from memory_parts import bound, methods
from rows import every

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


# --- every text of every Op, and every text that a public method takes, by introspection ----------

CANARY = "ghp_" + "Zq7Xw2Lp9Kd4Rt6Vb8Nm3Hs5Jc1Fg0Ya"
QUOTED = {"quote"}  # compared with the text of its episode, which is screened


def planted(hint: Any, word: str) -> Any:
    """Return a value of a type with `word` in every text of it."""
    if hint is str or hint is object or hint is Any:
        return word
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next(iter(hint))
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        hints = typing.get_type_hints(hint)
        return hint(**{one.name: planted(hints[one.name], word) for one in fields(hint)})
    if isinstance(hint, type) and hasattr(hint, "_fields"):
        return hint(*(planted(part, word) for part in typing.get_type_hints(hint).values()))
    if hint is ImportState:
        return ImportState(fresh=True, last_event=0)
    inner = typing.get_args(hint)
    if type(None) in inner:
        return planted(next(one for one in inner if one is not type(None)), word)
    origin = typing.get_origin(hint)
    if origin is Literal:
        return inner[0]
    if origin in (typing.Union, types.UnionType):
        return planted(inner[0], word)
    if origin in (Mapping, dict):
        return {word: planted(inner[1], word)}
    if origin is tuple:
        return (planted(inner[0], word),)
    if origin is not None:  # a sequence
        return [planted(inner[0], word)]
    return {int: 1, float: 0.5, bool: False, bytes: b"", type(None): None}[hint]


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    """What `apply` puts every Op through."""
    folder = tmp_path_factory.mktemp("screen")
    with Memory(folder / "m.db", key_file=folder / "key") as memory:
        yield memory.resources.screened


def written(op: Any) -> dict[str, Any]:
    """Return what may be written of an Op: not what its call gives back, which is made by it."""
    return {name: value for name, value in dataclasses.asdict(op).items() if name != "so_far"}


@every("name", sorted(OPS))
def test_every_text_of_an_op_goes_through_the_border(name: str, screen: Screen) -> None:
    op = planted(OPS[name], f"session_{CANARY}")
    kept = written(screen(op))
    assert kept == written(screen(screen(op)))
    for part in QUOTED:
        kept.pop(part, None)
    assert CANARY not in repr(kept)


def arguments(method: Any, word: str, folder: Path) -> dict[str, Any] | None:
    """Return arguments with `word` wherever a text goes; None where there is none of these."""
    given: dict[str, Any] = {}
    any_text = False
    for name, part in inspect.signature(method).parameters.items():
        hint = str(part.annotation)
        if name == "self" or part.kind in (part.VAR_POSITIONAL, part.VAR_KEYWORD):
            continue
        if name in ("role", "search_type", "target", "kind", "state", "mode"):
            continue  # one of a few words: another is refused
        if "Sequence[str | os.PathLike" in hint or "PathLike" in hint:
            given[name] = [folder] if "Sequence" in hint else folder / f"{word}.out"
        elif re.match(r"str\b", hint):
            given[name], any_text = word, True
        elif re.match(r"Sequence\[str\]", hint):
            given[name], any_text = [word], True
        elif "Filters" in hint:
            given[name], any_text = Filters(session=word, owner=word, project=word), True
        elif re.match(r"(?:Sequence|Iterable)\[Turn\]", hint):
            given[name], any_text = [Turn(role=Role.USER, text=f"I use {word} here")], True
        elif part.default is part.empty:
            given[name] = 1 if "int" in hint or "Millis" in hint else None
    return given if any_text else None


def test_no_text_argument_of_a_public_method_reaches_any_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    key = tmp_path / "outside" / "key"
    key.parent.mkdir()
    key.write_bytes(KEY)
    notes = tmp_path / CANARY
    notes.mkdir()
    (notes / f"{CANARY}.md").write_text(f"# {CANARY}\n\nThe cat of {CANARY} is grey.\n")
    called, wrote = set(), set()
    with Memory(tmp_path / "db" / "m.db", clock=FrozenClock(), key_file=key, llm=None) as memory:
        memory.add_turn("I live in Oslo.", session="s", owner="me", name="Ann")
        memory.ingest([notes], kind="note")
        for name in methods():
            for word in (CANARY, f"I like {CANARY} a lot"):
                given = arguments(methods()[name], word, notes)
                if given is None:
                    continue
                called.add(name)
                before = memory.store.head().commit
                try:
                    answer = bound(memory, name)(**given)
                    list(answer) if inspect.isgenerator(answer) else None
                except (FactbookError, TypeError, ValueError, AttributeError):
                    pass  # what it refuses, it must not have kept
                if memory.store.head().commit != before:
                    wrote.add(name)
        exported = "\n".join(json.dumps(one, ensure_ascii=False) for one in memory.export())
        for path in sorted((tmp_path / "db").rglob("*")):
            if path.is_file():
                assert_gone(path.read_bytes(), {CANARY.encode()}, path.name)
        assert memory.check() == []
    assert len(called) > 25, sorted(called)
    assert wrote > {"add_turn", "search_memory", "sync_turn", "remember", "interests.learn"}, wrote
    assert CANARY not in exported
    shown = "".join(capsys.readouterr()) + caplog.text
    assert CANARY not in shown


def test_what_is_named_by_a_secret_is_found_by_that_name(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", clock=FrozenClock(), key_file=tmp_path / "key") as memory:
        memory.sync_turn("I live in Oslo.", session=CANARY)
        memory.search_memory("Where do I live?", session=CANARY, owner=CANARY)
        assert [
            one.session
            for one in memory.store.find(INJECTION, {"owner": EVERYONE, "session": CANARY})
        ] != []
        (episode,) = memory.store.episodes(Filters(session=CANARY), limit=9)
        assert episode.session.startswith("[REDACTED:github-token:")
        assert list(memory.store.episodes(Filters(session=CANARY[:-1]), limit=9)) == []
        assert memory.check() == []


def test_a_folder_named_by_a_secret_is_read_once(tmp_path: Path) -> None:
    folder = tmp_path / CANARY
    folder.mkdir()
    (folder / "a.md").write_text("# One\n\nThe cat is grey.\n")
    with Memory(tmp_path / "m.db", clock=FrozenClock(), key_file=tmp_path / "key") as memory:
        first = memory.ingest([folder], kind="note")
        again = memory.ingest([folder], kind="note")
        assert first.receipt.episodes == 1
        assert again.files[0].state == "unchanged"
        assert again.read_bytes == 0
        assert memory.check() == []


def test_without_redaction_a_name_stays_as_it_is(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", redact=False, clock=FrozenClock()) as memory:
        memory.search_memory("Where do I live?", session=CANARY)
        assert [one.session for one in memory.store.find(INJECTION, {"owner": EVERYONE})] == [
            CANARY
        ]
