"""Text that is none: half a character, bytes that are no UTF-8, wherever a text can be given.

Everything public that takes a text is called with each, whatever it is called and whenever it was
added: the answer is a result or one of our errors, never a traceback, and it can be shown.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factbook.errors import FactbookError, NotText
from factbook.memory import Memory
from factbook.model.facts import Role
from factbook.store.rows import Filters
from factbook.surface.cli import group, run
from factbook.testing import FrozenClock
from memory_parts import PARTS

HALF = "\ud800"  # of a character beyond the first 65,536
BYTES = os.fsdecode(b"caf\xe9 \xff")  # as arguments of a program that are no UTF-8 arrive
BAD = (HALF, BYTES)
SQL = "tea' OR 1=1; DROP TABLE fact_row; --\x00*\"NEAR("

# What is given besides, where a text alone is not enough.
GIVEN: dict[str, Any] = {
    "accept": True,
    "emoji": "👍",
    **dict.fromkeys(("entities", "relations", "observations"), ()),
    "every_ms": 86_400_000,
    "fact_id": 1,
    "place": 1,
    "proposal_id": 1,
    "right": True,
    "which": "tea",
}
PLANS = {"ask", "plan", "tell"}  # a rule stands in for the model
# Their values are read by what makes them, and have tests of their own.
OTHERS = {"open_model", "record", "settle", "keep_verdict", "apply_facts", "execute_plan"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(
        tmp_path / "m.db", clock=FrozenClock(), key_file=tmp_path / "key", model=None
    ) as opened:
        opened.add_turn("I love the Pelle Mini and green tea.", session="s")
        opened.remember("I live in Oslo")
        opened.interests.like("green tea")
        yield opened
        assert opened.check() == []


def takes_text(parameter: inspect.Parameter) -> bool:
    kind = str(parameter.annotation)
    return "str" in kind and "Callable" not in kind and "Mapping[tuple" not in kind


def called(owner: object, name: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Iterate over (parameter, arguments, text) of each way to give a method a bad text."""
    signature = inspect.signature(getattr(type(owner), name))
    parameters = list(signature.parameters.values())[1:]
    for bad in (*BAD, SQL):
        for one in filter(takes_text, parameters):
            given: dict[str, Any] = {}
            for other in parameters:
                if other is one:
                    listed = str(other.annotation).startswith(("Sequence", "Collection"))
                    given[other.name] = [bad] if listed else bad
                elif other.name == "planner":
                    given["planner"] = "rules"
                elif other.default is other.empty:
                    given[other.name] = GIVEN.get(other.name, "tea")
            yield one.name, given, bad


def methods(owner: object) -> list[str]:
    found = inspect.getmembers(type(owner), inspect.isfunction)
    return [name for name, _ in found if not name.startswith("_") and name not in OTHERS]


def call(owner: object, name: str, given: dict[str, Any]) -> str:
    """Call a method; return how it ended, where that is a result or an error of ours."""
    try:
        result = getattr(owner, name)(**given)
        if inspect.isgenerator(result):
            list(result)
    except FactbookError as error:
        str(error).encode()  # it can be shown
        return type(error).__name__
    return "result"


def test_every_method_takes_any_text_or_says_that_it_is_none(memory: Memory) -> None:
    ends: dict[tuple[str, str], set[str]] = {}
    parts = [getattr(memory, name) for name in PARTS]
    for owner in (memory, memory.conversation(owner="me", session="s"), *parts):
        for name in methods(owner):
            if name == "close":
                continue
            for parameter, given, bad in called(owner, name):
                if name == "add_turns":
                    given["turns"] = []
                end = call(owner, name, given)
                if bad in BAD:
                    ends.setdefault((name, parameter), set()).add(end)
    assert len(ends) > 90  # it found them
    for name in ("subject", "object", "host", "project", "session", "predicate", "owner"):
        assert ends["query_facts", name] == {"NotText"}
    assert ends["recall", "question"] == ends["remember", "text"] == {"result"}
    assert ends["tell", "message"] <= {"result", "NotText", "UsageError", "NothingUnderstood"}


@pytest.mark.parametrize("bad", BAD)
def test_every_filter_says_that_a_text_is_none(memory: Memory, bad: str) -> None:
    for name in ("predicate", "host", "project", "session", "owner", "subject", "object"):
        if name not in Filters.__dataclass_fields__:
            continue
        for read in (
            lambda filters: memory.recall("tea", filters=filters),
            lambda filters: memory.sources.timeline(filters=filters),
        ):
            with contextlib.suppress(NotText):
                read(Filters(**{name: bad}))


def test_what_is_said_with_half_a_character_is_kept(memory: Memory) -> None:
    memory.add_turn(f"My bike is {HALF} blue and fast.", session="s", role=Role.USER)
    memory.remember(f"I keep bees {HALF} at home")
    assert "bees" in memory.recall(f"bees {HALF}").hits[0].text


@pytest.mark.parametrize("bad", [f"a{HALF}b", f"a{BYTES}b", " a\x00b "])
def test_a_session_is_one_by_whatever_name_it_is_kept(memory: Memory, bad: str) -> None:
    memory.add_turn("We keep bees behind the house.", session=bad)
    assert memory.search_memory("bees", session=bad)
    assert memory.take_prefetched(session=bad).memories is not None
    memory.context("bees", session=bad)
    talk = memory.conversation(session=bad)
    (kept,) = memory.sql("SELECT session FROM source_row WHERE session LIKE 'a%'")
    assert talk is memory.conversation(session=str(kept["session"]))
    (shown,) = memory.sql("SELECT DISTINCT session FROM injection_row WHERE mode = 'tool'")
    assert shown == kept


def test_an_error_names_the_text_so_that_it_can_be_shown(memory: Memory) -> None:
    with pytest.raises(NotText, match=r"'\\ud800' is no whole text"):
        memory.query_facts(subject=HALF)
    assert NotText.exit_code == 2


def every_use() -> Iterator[list[str]]:
    """Iterate over the arguments of each way to give a command a bad text."""
    more = {"worker": ["--once"], "chat": ["--no-worker"]}
    commands: Any = group()
    for name, command in commands.commands.items():
        arguments = [one for one in command.params if type(one).__name__ == "TyperArgument"]
        needed = [
            GIVEN.get({"fact": "fact_id"}.get(one.name, one.name), "tea")
            for one in arguments
            if one.required
        ]
        for place in range(len(arguments)):
            values = [*map(str, needed)]
            values[place : place + 1] = [BYTES]
            yield [name, *more.get(name, []), *values]
        for option in command.params:
            if option in arguments or option.is_flag or option.name == "db":
                continue
            yield [name, *more.get(name, []), *map(str, needed), option.opts[0], BYTES]


def test_every_command_takes_any_text_or_says_that_it_is_none(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each argument of each command, and each option of one of the commands that have it."""
    uses = {use[-2] if use[-2].startswith("-") else tuple(use): use for use in every_use()}
    assert len(uses) > 70
    use_all(list(uses.values()), memory, monkeypatch, tmp_path)


@pytest.mark.slow
def test_every_option_of_every_command_takes_any_text(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    uses = list(every_use())
    assert len(uses) > 150
    use_all(uses, memory, monkeypatch, tmp_path)


def use_all(
    uses: list[list[str]], memory: Memory, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home / "home"))
    monkeypatch.chdir(home)
    for name, *rest in uses:
        use = [name, "--db", str(memory.path), *rest]
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
        err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"/quit\n")))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(use)
            err.flush()
        said = err.buffer.getvalue().decode()  # type: ignore[attr-defined]
        assert code in range(12), use
        assert code == 0 or "error: " in said, (use, code, said)
