"""What a question names is counted as such: a path, a command, a tool, and nothing beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from factbook.memory import Memory
from factbook.recall.commands import begins, does
from factbook.recall.named_objects import holds_name, is_named, names_taken_out
from factbook.surface.views.counted import remarks
from factbook.testing import FrozenClock
from test_counting import NOW, SESSION, answered, changed, committed, ran, record


def used(uuid: str, at: str, tool: str, **given: str) -> list[str]:
    use = {"type": "tool_use", "id": f"toolu_{uuid}", "name": tool, "input": given}
    return [record("assistant", uuid, at, [use]), answered(uuid, at, "found")]


LINES = [
    record("user", "u0", "05-03T09:00", "let us ship the shop"),
    *changed("e1", "05-04T09:00", "/home/ann/shop/README.md"),
    *changed("e2", "06-04T09:00", "/home/ann/shop/docs/README.md"),
    *changed("e3", "06-05T09:00", "/home/ann/shop/src/prompt-generator.ts"),
    *changed("e4", "06-06T09:00", "/home/ann/shop/src/prompt-generator.test.ts"),
    *changed("e5", "06-07T09:00", "/home/ann/shop/tests/test_cache.py"),
    *ran("p1", "06-08T09:00", "git push"),
    *ran("p2", "06-08T10:00", "git add -A && git push -u origin HEAD"),
    *ran("p3", "06-09T10:00", "git stash push"),
    *ran("p4", "06-09T11:00", "cat > notes <<'EOF'\ngit push it tomorrow\nEOF"),
    *ran("b1", "06-10T09:00", "bun test src", failed=True),
    *ran("b2", "06-11T09:00", "bun test src"),
    *ran("b3", "06-12T09:00", "bun run build", failed=True),
    *used("g1", "06-13T09:00", "Grep", pattern="price"),
    *used("g2", "06-13T09:10", "Glob", pattern="*.py"),
    *used("g3", "06-13T09:20", "Glob", pattern="*.ts"),
    *committed("c1", "06-14T08:00", "Count the stock"),
    *committed("c2", "06-15T08:00", "Show the price"),
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("names")
    log = folder / f"{SESSION}.jsonl"
    log.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    with Memory(folder / "m.db", clock=FrozenClock(NOW), key_file=folder / "key") as opened:
        opened.ingest([log])
        yield opened


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("when did I last change README.md", 'last modified_file "README.md": 2026-06-04 09:00'),
        ("how often did I edit README.md", 'modified_file "README.md": 2 times'),
        ("how often did I edit docs/README.md", 'modified_file "docs/README.md": once'),
        ("how often did I edit prompt-generator.ts", 'modified_file "prompt-generator.ts": once'),
        ("how many edits of test_cache.py", 'modified_file "test_cache.py": once'),
        ("last git push", 'last executed_command "git push": 2026-06-08 10:00'),
        ("how many git pushes in June", 'executed_command "git push": 2 times'),
        ("how often did bun test fail", 'executed_command "bun test", failed: 1 of 2 times'),
        ("how many times did I use grep", 'used_tool "grep": once'),
        ("how often was Glob used", 'used_tool "glob": 2 times'),
        ("when did I last commit", "last committed: 2026-06-15 08:00, Show the price"),
        ("did I ever run git push", 'executed_command "git push": 2 times'),
        ("have I ever edited README.md?", 'modified_file "README.md": 2 times'),
        ("did bun test ever fail", 'executed_command "bun test", failed: 1 of 2 times'),
        ("how many times did the build fail", 'executed_command "build", failed: 1 of 1 time'),
        ("which 3 files did I edit most", "most often modified_file: /home/ann/shop/README.md"),
        ("how many commits in the shop project", 'committed "shop": 2 times'),
        ("when did I last edit README.md in the shop repo", 'last modified_file "README.md shop"'),
        ("which project did I work on most", "most often requested_in_session: /home/ann/shop"),
        ("which projects did I work on", "projects of requested_in_session: 1"),
        ("how many sessions in May", "sessions of requested_in_session: 1"),
        ("how many commits landed", "committed: 2 times"),
    ],
)
def test_what_is_named_is_counted_and_nothing_else(
    memory: Memory, question: str, title: str
) -> None:
    computed = memory.recall(question).computed
    assert computed is not None
    assert computed.title.startswith(title)
    assert memory.sources.count(question).title == computed.title


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ("when did I last change cache.py", 'last modified_file "cache.py"'),
        ("how often did I edit generator.ts", 'modified_file "generator.ts"'),
        ("how many times did I use NotebookEdit", 'used_tool "NotebookEdit"'),
        # A program by its bare name, and what people do by a command.
        ("how often did I use podman", 'executed_command "podman"'),
        ("have I ever used kubectl here?", 'executed_command "kubectl"'),
        ("when did I last run terraform", 'last executed_command "terraform"'),
        ("did we ever deploy", 'executed_command "deploy"'),
        ("did I ever run git bisect", 'executed_command "git bisect"'),
    ],
)
def test_of_what_is_not_there_it_is_said_that_it_never_was(
    memory: Memory, question: str, what: str
) -> None:
    computed = memory.recall(question).computed
    assert computed is not None
    assert computed.title == f"{what}: never, as far as these logs tell"
    assert (computed.total, list(computed.rows)) == (0, [])


@pytest.mark.parametrize(
    "question",
    [
        "how many commits on main",  # no commit tells its branch
        "how often did I commit in otter",
        # What a rule knows was not what was done.
        "did I ever delete a branch",
        "how many commits did I revert",
        "how many files did I rename",
        "did I ever create a branch",
        # Neither a program nor the name of an act.
        "how often did I use my kayak",
        "did I ever swim",
        "did I ever use the old grill",
        "when did I last open a pull request",
        "when did I last push to github",
        "when did I last see Nora",
    ],
)
def test_where_it_is_open_what_is_asked_no_number_is_given(memory: Memory, question: str) -> None:
    assert memory.recall(question).computed is None
    counted = memory.sources.count(question)
    assert counted.title == f'not counted: nothing that is known is meant by "{question}"'
    assert (counted.total, list(counted.rows)) == (0, [])


def test_words_alone_name_a_command_too(memory: Memory) -> None:
    assert memory.sources.count("git push").title == (
        'executed_command "git push": 2 times, 2 different'
    )
    assert memory.sources.count("edited README.md").total == 2


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("when did I edit README.md?", ["README.md"]),
        ("how often did I search for 'the last one'", ["the last one"]),
        ("how often did I change src/a-b.ts, then", ["src/a-b.ts"]),
        ("how many git pushes", ["git push"]),
        ("commits in coderabbit-helper", ["coderabbit-helper"]),
        ("how often did I use python 3.12", []),
        ("don't count what isn't mine", []),
    ],
)
def test_names_of_a_question(question: str, names: list[str]) -> None:
    def is_command(words: object) -> bool:
        return words == ["git", "push"]

    text, found = names_taken_out(question, is_command)
    assert [name.text for name in found] == names
    assert not any(name in text for name in names)


@pytest.mark.parametrize(
    ("name", "text", "whole", "held"),
    [
        ("cli.py", "/src/cli.py", True, True),
        ("src/cli.py", "C:\\src\\cli.py", True, True),
        ("cache.py", "/tests/test_cache.py", False, False),
        ("engine.ts", "/src/engine.tsx", False, False),
        ("src", "/home/src/a.py", False, True),
        ("github.com", "docs.github.com", False, False),
        ("deep-manifest", "/src/deep-manifest", True, True),
    ],
)
def test_a_name_is_no_part_of_another(name: str, text: str, whole: bool, held: bool) -> None:
    assert is_named(name, text) is whole
    assert holds_name(name, text) is held


def test_a_command_begins_with_its_words() -> None:
    assert begins("cd web && git push origin", ["git", "push"])
    assert not begins("git stash push", ["git", "push"])
    assert not begins("cat > f <<'eof'\nthe tool\neof", ["the", "tool"])
    assert does("uv run ruff format", "ruff format")
    assert does("git -C web push", "git push")
    assert not does("git stash push", "git push")


# --- when it was said -----------------------------------------------------------------------------


def at(day: str) -> int:
    return int(datetime.fromisoformat(f"{day}T10:00").replace(tzinfo=UTC).timestamp() * 1000)


TOLD = [
    ("2026-03-02", "I live with my dog Pixel and work as a vet"),
    ("2026-05-04", "thinking about moving to Oslo next year"),
    ("2026-05-05", "I eat fish again, so no longer vegetarian"),
    ("2026-09-21", "Nora has her birthday on May 6, and I was born in March"),
    ("2026-09-22", "no wait, I meant that she has it on May 4"),
    ("2026-09-23", "in May I painted the whole house in a warm yellow"),
]


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Memory]:
    log = tmp_path / "chat.jsonl"
    lines = [
        json.dumps(
            {
                "id": f"c{n}",
                "session_id": f"s{day[:7]}",
                "role": "user",
                "content": said,
                "timestamp": f"{day}T10:00:00Z",
            }
        )
        for n, (day, said) in enumerate(TOLD)
    ]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Memory(tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "key") as opened:
        opened.ingest([log])
        opened.embed()
        yield opened


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("what did I say between May 4 and May 6?", "2026-05-04", "2026-05-07"),
        ("what did I say in March 2026?", "2026-03-01", "2026-04-01"),
        ("what did I tell you in May", "2026-05-01", "2026-06-01"),
    ],
)
def test_what_was_said_then_was_said_then(
    chat: Memory, question: str, since: str, until: str
) -> None:
    for hits in (chat.recall(question).hits, chat.search_memory(question)):
        assert hits
        assert all(at(since) - 36_000_000 <= (hit.occurred_at or 0) < at(until) for hit in hits)


def test_where_nothing_was_said_then_that_is_told(chat: Memory) -> None:
    answer = chat.recall("what did I say in July about Oslo")
    assert answer.hits
    assert answer.outside


def test_what_was_before_a_time_is_told_after_it_too(chat: Memory) -> None:
    answer = chat.recall("who had a birthday before August?")
    assert any((hit.occurred_at or 0) >= at("2026-08-01") for hit in answer.hits)
    assert answer.beyond == 0


def test_what_was_told_later_of_a_time_comes_behind_and_is_marked(chat: Memory) -> None:
    answer = chat.recall("what did I paint in May")
    within = [at("2026-05-01") <= (hit.occurred_at or 0) < at("2026-06-01") for hit in answer.hits]
    assert within == sorted(within, reverse=True)
    assert any("yellow" in hit.text for hit in answer.hits)
    assert answer.beyond == within.count(False) > 0
    assert not answer.outside
    assert any("from other times, and last" in remark for remark in remarks(answer))
    hits = chat.search_memory("what did I paint in May")
    said = chat.sources.understood("what did I paint in May", hits)
    within = [at("2026-05-01") <= (hit.occurred_at or 0) < at("2026-06-01") for hit in hits]
    assert within == sorted(within, reverse=True)
    assert said.beyond == within.count(False) > 0
    assert any("from other times, and last" in remark for remark in remarks(said))
    # the time is that of the trip, and not of what is said of it
    about = chat.recall("what did I say about the house that I painted in May").hits
    assert any("yellow" in hit.text for hit in about)
