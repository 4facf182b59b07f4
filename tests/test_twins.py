"""What is a rule, a decision or a choice is not a plain statement besides, and none is left."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.session_logs import NOW, claude
from tests.test_reread import Tagged

from factbook.extract.sentences import statements
from factbook.language.reader.reading import Reading
from factbook.memory import Memory
from factbook.model.facts import FactKind
from factbook.store.derived import ledger
from factbook.testing import FrozenClock

BUN = "always use bun in this repo"
GENERATED = "never touch the generated files in src/gen"
PNPM = "we use pnpm here"
OFFER = "1. Redis\n2. Postgres\n\nWhich one?"


class Desk:
    """A memory of one project, that hears prompts, sleeps, and is read by one reader or another."""

    def __init__(self, folder: Path) -> None:
        self.clock = FrozenClock(NOW)
        self._folder = folder
        self._lines = 0

    def opened(self, reader: Tagged | None = None) -> Memory:
        return Memory(
            self._folder / "m.db",
            clock=self.clock,
            key_file=self._folder / "key",
            model=None,
            reader=reader,
        )

    def said(self, memory: Memory, *texts: str, night: bool = True) -> None:
        """Let prompts be read, with what answers them, and a night go by."""
        session = f"3f0c4b1e-0000-4000-8000-{self._lines:012}"
        lines = []
        for text in texts:
            self._lines += 1
            role = "assistant" if text == OFFER else "user"
            name = f"u{self._lines}"
            lines.append(claude(role, text, name, cwd="/home/ann/otter", sessionId=session))
        path = self._folder / f"{session}.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
        memory.ingest([path], workers=0)
        if night:
            self.night(memory)

    def night(self, memory: Memory) -> None:
        memory.consolidate()
        self.clock.advance(days=1)
        assert memory.check() == []


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def memory(desk: Desk) -> Iterator[Memory]:
    with desk.opened() as memory:
        yield memory


def said(memory: Memory, kind: FactKind) -> dict[str, int]:
    """Return what holds of a kind, with its ids."""
    return {fact.statement: fact.id for fact in memory.query_facts() if fact.kind is kind}


def test_a_rule_and_a_choice_are_not_stated_besides(desk: Desk, memory: Memory) -> None:
    desk.said(memory, BUN, GENERATED, "which db?", OFFER, "the second one")
    assert len(said(memory, FactKind.DIRECTIVE)) == 3
    assert said(memory, FactKind.STATEMENT) == {}


@pytest.mark.parametrize("way", ["wrong", "forget", "ended"])
def test_nothing_is_left_of_a_rule_that_is_gone(desk: Desk, memory: Memory, way: str) -> None:
    desk.said(memory, PNPM, night=way == "ended")
    memory.read_directives()
    rule = said(memory, FactKind.DIRECTIVE)[PNPM]
    if way == "wrong":
        memory.review.feedback(rule, right=False)
    elif way == "forget":
        memory.forget(rule)
    else:
        desk.said(memory, "we use bun now, no longer pnpm")
    desk.night(memory)
    desk.night(memory)
    assert PNPM not in said(memory, FactKind.STATEMENT) | said(memory, FactKind.DIRECTIVE)


class Deaf(Tagged):
    """A reader that knows no rules."""

    def read(self, text: str, answers: str = "", /) -> Reading:
        """Read a text without what is marked in it."""
        return replace(super().read(text, answers), marks=[])


def test_a_statement_ends_where_its_words_turn_out_to_be_a_rule(desk: Desk) -> None:
    text = "I live in Oslo.\n" + BUN
    with desk.opened(Deaf("reader-deaf")) as memory:
        desk.said(memory, text)
        assert said(memory, FactKind.STATEMENT).keys() == {"I live in Oslo.", BUN}
    with desk.opened() as memory:
        memory.maintenance.reread()
        assert said(memory, FactKind.DIRECTIVE).keys() == {BUN}
        assert said(memory, FactKind.STATEMENT).keys() == {"I live in Oslo."}
        assert memory.check() == []


def test_a_twin_that_a_store_holds_ends_at_night(
    desk: Desk, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(ledger, "directed_spans", lambda *_: {})
        desk.said(memory, PNPM, "I live in Oslo.")
        desk.said(memory, "we use bun now, no longer pnpm")
    assert "we use bun now, no longer pnpm" in said(memory, FactKind.STATEMENT)
    memory.forget(said(memory, FactKind.DIRECTIVE)["we use bun now, no longer pnpm"])
    desk.night(memory)
    assert said(memory, FactKind.STATEMENT).keys() == {"I live in Oslo."}
    past = memory.consolidate()
    assert past.receipt.withdrawn == past.receipt.unchanged == 0


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("our config lives in src/app/config.py", "src/app/config.py"),
        ("I keep my letters in ~/post/2024/, all of them", "~/post/2024/"),
        ("I deploy my blog with `make ship`", "`make ship`"),
    ],
)
def test_a_statement_never_ends_inside_a_path_or_code(text: str, end: str) -> None:
    (part,) = statements(text, all_told=True)
    assert part.text.endswith(end)


# --- what is known of things ----------------------------------------------------------------------


def talk(folder: Path, memory: Memory, *texts: str) -> None:
    """Let messages of a chat be read, one a day."""
    lines = [
        {"role": "user", "content": text, "timestamp": f"2026-03-{day:02}T10:00:00Z"}
        for day, text in enumerate(texts, 1)
    ]
    path = folder / "talk.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    memory.ingest([path], workers=0)


NIECE = "My niece Marisol is a nurse in Bilbao."


@pytest.mark.parametrize("order", ["night first", "work first"])
def test_what_is_stated_of_a_thing_is_kept_once(tmp_path: Path, desk: Desk, order: str) -> None:
    with desk.opened() as memory:
        talk(tmp_path, memory, NIECE)
        if order == "night first":
            desk.night(memory)
            memory.background.work()
        else:
            memory.background.work()
            assert [fact.object for fact in memory.interests.entity("marisol").facts] == [NIECE]
            desk.night(memory)
        assert said(memory, FactKind.WORLD) == {}
        number = said(memory, FactKind.STATEMENT)[NIECE]
        known = memory.interests.entity("marisol")
        assert [fact.id for fact in known.facts] == [number]
        assert known.entity.fact_count == 1
        # dated by when it was said, and not by when it was read
        assert known.entity.since == known.facts[0].occurred_at == known.entity.last_activity
        memory.forget(number)
        assert memory.interests.entity("marisol").entity.fact_count == 0
        assert memory.check() == []


def test_what_its_owner_takes_apart_stays_apart(tmp_path: Path, desk: Desk) -> None:
    with desk.opened() as memory:
        talk(tmp_path, memory, NIECE)
        memory.background.work()
        (about,) = said(memory, FactKind.WORLD).values()
        desk.night(memory)
        memory.review.unmerge(about)
        desk.night(memory)
        assert list(said(memory, FactKind.WORLD).values()) == [about]
        assert memory.interests.entity("marisol").entity.fact_count == 1
        assert memory.check() == []
