"""Questions for numbers and times: counted over all facts of a store, never guessed from hits."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from conftest import Cli
from factbook.memory import Memory
from factbook.recall.commands import does
from factbook.recall.time_anchors import find_anchor
from factbook.recall.time_expressions import find_window
from factbook.store.rows import Filters
from factbook.testing import FrozenClock
from mcp_client import Server

NOW = int(datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp() * 1000)  # a Friday
SESSION = "5e55104e-0000-4000-8000-000000000007"


def record(kind: str, uuid: str, at: str, content: object) -> str:
    return json.dumps(
        {
            "type": kind,
            "uuid": uuid,
            "sessionId": SESSION,
            "timestamp": f"2026-{at}:00.000Z",
            "cwd": "/home/ann/shop",
            "message": {"role": kind, "content": content},
        }
    )


def answered(uuid: str, at: str, said: str, *, failed: bool = False) -> str:
    result = {
        "type": "tool_result",
        "tool_use_id": f"toolu_{uuid}",
        "content": said,
        "is_error": failed,
    }
    return record("user", f"{uuid}-r", at, [result])


def ran(
    uuid: str, at: str, command: str, *, said: str = "ok", ended: str = "", failed: bool = False
) -> list[str]:
    """Return a call of a shell and its result, at once where it is not said when it ended."""
    use = {"type": "tool_use", "id": f"toolu_{uuid}", "name": "Bash", "input": {"command": command}}
    said = "Error: Exit code 1\nE   AssertionError: no" if failed else said
    return [
        record("assistant", uuid, at, [use]),
        answered(uuid, ended or at, said, failed=failed),
    ]


def committed(uuid: str, at: str, subject: str) -> list[str]:
    return ran(uuid, at, f"git commit -m '{subject}'", said=f"[main 1a2b3c4] {subject}")


def changed(uuid: str, at: str, path: str) -> list[str]:
    given = {"file_path": path, "old_string": "a", "new_string": "b"}
    use = {"type": "tool_use", "id": f"toolu_{uuid}", "name": "Edit", "input": given}
    said = f"The file {path} has been updated."
    return [record("assistant", uuid, at, [use]), answered(uuid, at, said)]


LINES = [
    record("user", "u0", "05-03T09:00", "let us ship the shop"),
    *ran("t1", "05-04T09:00", "pytest -q", ended="05-04T09:02", failed=True),
    *ran("t2", "05-05T09:00", "pytest -q", ended="05-05T09:01", failed=True),
    *ran("t3", "06-01T09:00", "pytest -q", ended="06-01T09:04"),
    *ran("d1", "05-06T10:00", "./deploy.sh staging"),
    *ran("d2", "06-02T10:00", "npm run deploy"),
    *ran("d3", "11-16T10:00", "cd web && fly deploy"),
    *ran("g1", "11-16T10:30", "grep -rn deploy ."),
    *committed("c1", "06-03T08:00", "Count the stock"),
    *committed("c2", "11-18T08:00", "Show the price"),
    *ran("h1", "08-02T08:00", "ssh root@tower uptime"),
    *ran("h2", "08-02T09:00", "ssh root@tower df"),
    *ran("h3", "08-02T10:00", "ssh root@attic df"),
    *changed("e1", "06-03T09:00", "/home/ann/shop/cart.py"),
    *changed("e2", "11-17T09:00", "/home/ann/shop/cart.py"),
    *changed("e3", "11-19T09:00", "/home/ann/shop/price.py"),
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("counting")
    log = folder / f"{SESSION}.jsonl"
    log.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    with Memory(folder / "m.db", clock=FrozenClock(NOW), key_file=folder / "key") as opened:
        opened.ingest([log])
        opened.embed()
        yield opened
        assert opened.check() == []


# --- counting -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "total", "first"),
    [
        ("how many times did I deploy?", 3, "./deploy.sh staging"),
        ("how often did the tests fail in May", 2, "pytest -q"),
        ("how often did the tests fail in June", 0, None),
        ("how many commits did I make", 2, "Count the stock"),
        ("number of commits per month", 2, "2026-06"),
        ("how many hosts did I connect to", 3, "tower"),
        ("which file did I edit most", 3, "/home/ann/shop/cart.py"),
        ("most often used command", 12, "pytest -q"),
        ("how many times did I edit cart.py this week", 1, "/home/ann/shop/cart.py"),
    ],
)
def test_a_question_for_a_number_is_counted(
    memory: Memory, question: str, total: int, first: str | None
) -> None:
    computed = memory.recall(question).computed
    assert computed is not None
    assert computed.total == total, computed
    assert [row.label for row in computed.rows[:1]] == ([first] if first else [])
    every = memory.sources.facts(filters=Filters())
    assert {id_ for row in computed.rows for id_ in row.facts} <= {fact.id for fact in every}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("when did I last change cart.py", 'last modified_file "cart.py": 2026-11-17 09:00'),
        (
            "what was the last thing I committed?",
            "last committed: 2026-11-18 08:00, Show the price",
        ),
        ("when did I first deploy", 'first executed_command "deploy": 2026-05-06 10:00'),
        ("when did the tests last pass", 'last executed_command "test", passed: 2026-06-01 09:00'),
        ("how long did pytest take", "4 min 0 s at 2026-06-01 09:00; median 2 min 0 s of 3 runs"),
    ],
)
def test_the_last_the_first_and_how_long(memory: Memory, question: str, said: str) -> None:
    computed = memory.recall(question).computed
    assert computed is not None
    assert said in computed.title


@pytest.mark.parametrize(
    "question",
    [
        "how many times did I swim",  # no command swims
        "how many sisters does Ana have",
        "what was the last book that I read",
        "how often should I commit",
        "what was the last decision on prices",
        "which file holds the last migration number",
        "what did I change last week",
        "how many pull requests",
        "how many children do I have",
        "how often does the nightly build run",
        "how many times did I not deploy",
        "how often didn't the tests fail",
    ],
)
def test_any_other_question_is_not_counted(memory: Memory, question: str) -> None:
    assert memory.recall(question).computed is None


def test_a_file_is_one_however_its_path_is_given_and_a_shells_test_is_none(tmp_path: Path) -> None:
    lines = [
        *changed("e1", "11-01T09:00", "/home/ann/shop/src/cart.py"),
        *changed("e2", "11-02T09:00", "src/cart.py"),
        *changed("e3", "11-02T10:00", "price.py"),
        *ran("t1", "11-02T11:00", "test -f .env && cat .env"),
        *ran("t2", "11-02T12:00", "make test"),
    ]
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Memory(tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "k") as memory:
        memory.ingest([log])
        most = memory.recall("which file did I edit most").computed
        tests = memory.recall("how often did I run the tests").computed
    assert most is not None
    assert tests is not None
    assert [(row.label, row.count) for row in most.rows] == [
        ("/home/ann/shop/src/cart.py", 2),
        ("/home/ann/shop/price.py", 1),
    ]
    assert tests.total == 1


@pytest.mark.parametrize(
    ("command", "said", "failed", "passed"),
    [
        ("pytest -q", "5 passed in 0.1s", 0, 1),
        ("pytest -q | tail -3", "1 failed, 4 passed in 0.1s", 1, 0),  # of it no exit code tells
        ("pytest -q", "Command running in background with ID: b1", 0, 0),
        ("pytest -q", None, 0, 0),  # no result is known
    ],
)
def test_what_passed_or_failed_is_known_by_its_end(
    tmp_path: Path, command: str, said: str | None, failed: int, passed: int
) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    call, result = ran("t1", "11-01T09:00", command, said=said or "")
    log.write_text("\n".join([call] if said is None else [call, result]) + "\n", encoding="utf-8")
    with Memory(tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "k") as memory:
        memory.ingest([log])
        count = memory.sources.count
        assert count("how often did the tests fail").total == failed
        assert count("how often did the tests pass").total == passed
        assert count("tests").total == 1


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("how often did I run the tests", 'executed_command "test": 4 times, 3 different'),
        ("how often did the tests run", 'executed_command "test": 4 times, 3 different'),
        ("how often did the tests fail", 'executed_command "test", failed: 1 of 4 times'),
        ("when did I last run the tests", 'last executed_command "test": 2026-11-12 09:00, pytest'),
        ("how often was the linter run", 'executed_command "linter": 2 times'),
        ("how often did the build fail", 'executed_command "build", failed: 1 of 1 time'),
        ("how often does the build fail", 'executed_command "build", failed: 1 of 1 time'),
        ("how many builds failed", 'executed_command "build", failed: 1 of 1 time'),
        ("how often does the agent run the linter", 'executed_command "linter": 2 times'),
        ("how often did claude use docker", 'executed_command "docker": once'),
        ("how many commits per project", "committed: 3 times"),
        ("how many commands failed per project", "executed_command, failed: 2 of 11 times"),
        (
            "which project has the most commits",
            "most often committed: /home/ann/shop (2 of 3 times)",
        ),
        ("which day had the most commits", "most often committed: 2026-11-10 (2 of 3 times)"),
        ("how many files did I change", "modified_file: 1 different, 2 times"),
        ("how often did I change a file", "modified_file: 2 times"),
        ("how many tests failed in tide-pool", 'executed_command "test tide-pool", failed: never'),
        ("how many commits in the tide-pool project", 'committed "tide-pool": never, as far'),
        ("when did I last work in tide-pool", 'last requested_in_session "tide-pool": 2026-11-12'),
        ("what did I last do in tide-pool", 'last facts "tide-pool": 2026-11-12 09:30, /home/ann'),
        ("how many commits in blog", 'committed "blog": once'),
        ("how many projects did I work on", "projects of requested_in_session: 3"),
        ("how many sessions did I have", "sessions of requested_in_session: 1"),
        (
            "which command was run most often last week",
            "most often executed_command: bun run lint (2 of 11 times)",
        ),
    ],
)
def test_ordinary_questions_on_what_agents_ran(tmp_path: Path, question: str, title: str) -> None:
    lines = [
        record("user", "u1", "11-09T08:00", "make the shop ready"),
        *ran("t1", "11-10T09:00", "rtk bun run test 2>&1", said="3 pass"),
        *ran("t2", "11-10T09:10", "rtk bun run test 2>&1", failed=True),
        *ran("t3", "11-11T09:00", "uv run pytest -q tests", said="5 passed in 0.1s"),
        *ran("t4", "11-12T09:00", "pytest", said="5 passed in 0.1s"),
        *ran("l1", "11-10T09:20", "bun run lint"),
        *ran("l2", "11-10T09:30", "bun run lint"),
        *ran("b1", "11-11T09:20", "bun run build", failed=True),
        *ran("k1", "11-11T09:40", "docker ps"),
        *committed("c1", "11-10T10:00", "Count the stock"),
        *committed("c2", "11-10T11:00", "Show the price"),
    ]
    elsewhere = [
        record("user", "u2", "11-11T08:00", "now the blog"),
        *committed("c3", "11-11T10:00", "Write the news"),
    ]
    lines += [line.replace("/home/ann/shop", "/home/ann/blog") for line in elsewhere]
    third = [
        record("user", "u3", "11-12T08:00", "now the pool"),
        *changed("e1", "11-12T09:20", "/home/ann/shop/app.py"),
        *changed("e2", "11-12T09:30", "/home/ann/shop/app.py"),
    ]
    lines += [line.replace("/home/ann/shop", "/home/ann/tide-pool") for line in third]
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Memory(tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "k") as memory:
        memory.ingest([log])
        computed = memory.recall(question).computed
    assert computed is not None
    assert computed.title.startswith(title)


def test_words_and_exact_conditions_count_the_same(memory: Memory) -> None:
    sources = memory.sources
    assert sources.count("deploys").total == sources.count("how often did I deploy").total == 3
    assert sources.count("commits").total == 2
    exact = sources.count(filters=Filters(predicates=("committed",)), by="month")
    assert [(row.label, row.count) for row in exact.rows] == [("2026-06", 1), ("2026-11", 1)]
    assert sources.count("cart.py in June", by="predicate").total == 1
    since = Filters(since=NOW - 7 * 24 * 3600 * 1000)
    assert sources.count("edited cart.py", filters=since).total == 1
    assert [row.label for row in sources.count("commits", last=True, limit=1).rows] == [
        "Show the price"
    ]
    everything = sources.count()
    assert everything.by == "predicate"
    assert everything.total == sum(sources.predicates().values())


def test_what_is_of_another_owner_is_not_counted(memory: Memory) -> None:
    bob = replace(Filters(), owner="bob")
    assert memory.sources.count("commits", filters=bob).total == 0
    assert memory.recall("how many times did I deploy", filters=bob).computed is None


@pytest.mark.parametrize(
    ("command", "act", "so"),
    [
        ("cd web && npm run deploy", "deploy", True),
        ("grep -rn deploy .", "deploy", False),
        ("git commit -m 'deploy it'", "deploy", False),
        ("ssh deploy@web uptime", "deploy", False),
        ('rg "a|build" src', "build", False),
        ("(source .venv/bin/activate && pytest)", "test", True),
        ("git log --grep push", "git push", False),
        ("sudo docker compose up -d", "docker compose", True),
        ("npm run lint:fix", "linter", True),
        ("docker ps", "dock", True),
        ("docker ps", "docketer", False),
        ("nl -ba app.test.ts", "test", False),
        ("git add conftest.py tests/", "test", False),
        ("git checkout test-tills", "test", False),
        ("browse open http://web/test", "test", False),
        ("browse shot --full /tmp/test-1.png", "test", False),
        ("git push origin main", "push", True),
        ("uv run scripts/deploy.py", "deploy", True),
        ("bash ci/deploy.sh", "deploy", True),
        ("node --env-file .env ci/deploy.js", "deploy", True),
        ("ssh web ./deploy.sh", "deploy", True),
        ("kubectl apply -f k8s/deploy.yaml", "deploy", True),
        ("git -C /srv/tills push origin main", "push", True),
        ("git -c user.name=ann commit -m x", "git commit", True),
        ("git -C test add a.py", "test", False),
        ("git stash pop", "pop", True),
        ("rm .git/hooks/pre-push.sample", "push", False),
        ("mv deploy.sh ci/", "deploy", False),
        ("chmod +x deploy.sh && ./deploy.sh", "deploy", True),
        ("rm -r build && npm run build", "build", True),
    ],
)
def test_what_a_command_does(command: str, act: str, so: bool) -> None:
    assert does(command, act) is so


# --- the time of a question -----------------------------------------------------------------------


def test_a_named_month_is_obeyed(memory: Memory) -> None:
    answer = memory.recall("what did I change in June")
    june = find_window("in June", now=NOW)
    assert june is not None
    assert not answer.outside
    assert all(june.since <= hit.occurred_at < june.until for hit in answer.hits)  # type: ignore[operator]


def test_an_empty_time_says_so_and_what_is_nearest(memory: Memory) -> None:
    answer = memory.recall("which hosts did I connect to in July?")
    assert answer.outside
    assert answer.lacking == ("connects_to_host",)
    assert answer.nearest is not None
    assert answer.nearest.hits == 3
    assert datetime.fromtimestamp(answer.nearest.at / 1000, UTC).date().isoformat() == "2026-08-02"
    assert answer.hits[0].predicate == "connects_to_host"

    answer = memory.recall("the price of the shop in February")
    assert answer.outside
    assert answer.nearest is not None


def test_what_failed_says_with_what(memory: Memory) -> None:
    (row,) = memory.sources.count("how often did the tests fail in May").rows
    assert (row.label, row.count, row.why) == ("pytest -q", 2, "E AssertionError: no")
    last = memory.sources.count("when did the tests last fail").rows[0]
    assert last.why == "E AssertionError: no"
    assert "(E AssertionError: no)" in memory.context("how often did the tests fail").text
    for said in ("how often did I run the tests", "when did the tests last pass", "commits"):
        assert {row.why for row in memory.sources.count(said).rows} == {""}


@pytest.mark.parametrize(
    ("question", "day", "records"),
    [
        # The nearest day that has anything, before or after, though the best hits are of others.
        ("what was deployed on november 14", "2026-11-16", 4),
        ("what did I deploy on may 9", "2026-05-06", 2),
        ("what happened on november 20", "2026-11-19", 2),
        ("what happened in 2024", "2026-05-03", 1),
    ],
)
@pytest.mark.parametrize("limit", [1, 10])
def test_the_nearest_day_is_that_of_all_records(
    memory: Memory, question: str, day: str, records: int, limit: int
) -> None:
    nearest = memory.recall(question, limit=limit).nearest
    assert nearest is not None
    at = datetime.fromtimestamp(nearest.at / 1000, UTC).date().isoformat()
    assert (at, nearest.hits, nearest.what) == (day, records, "record")


@pytest.mark.parametrize(
    ("question", "prompts"),
    [
        ("what did I do in May", 1),
        ("what was done between may 1 and may 4", 1),
        ("what did I work on in 2026", 1),
        ("which hosts did I connect to in May", 0),
        ("why did pytest fail in May", 0),
        ("what did I do the other day", 0),
        ("what did I do", 0),
    ],
)
def test_of_a_time_it_is_told_how_many_prompts_lie_in_it(
    memory: Memory, question: str, prompts: int
) -> None:
    assert memory.recall(question).prompts == prompts


@pytest.mark.parametrize(
    ("question", "unread"),
    [
        ("what did I deploy on april 31", "april 31"),
        ("how many times did I deploy since septembr", "septembr"),
        ("how many commits on 2026-06-31", "2026-06-31"),
        ("how many commits last month in the evening", "in the evening"),
        ("how many commits since june 1", ""),
        ("how many times did I deploy on monday june 1", ""),
        ("what does `2026-06-31` print", ""),
        ("what may I deploy in the mall", ""),
        ("how many times did I deploy since maya joined", ""),
    ],
)
def test_a_time_that_no_calendar_reads_is_said_and_nothing_is_counted(
    memory: Memory, question: str, unread: str
) -> None:
    answer = memory.recall(question)
    assert answer.unread == unread
    if unread:
        assert answer.computed is None
        counted = memory.sources.count(question)
        assert counted.title == f'not counted: no day is known that is meant by "{unread}"'
        assert (counted.total, list(counted.rows)) == (0, [])
    inside = memory.recall(question, filters=Filters(since=0))  # the time of the filters is meant
    assert inside.unread == ""


def test_a_time_is_counted_from_an_event(memory: Memory) -> None:
    window = memory.recall("what did I do the day before the last commit").window
    assert window is not None
    assert window.taken == "committed 1a2b3c4: Show the price"
    assert window.since is not None
    assert window.until is not None
    event = max(
        fact.occurred_at or 0
        for fact in memory.sources.facts(filters=Filters(predicates=("committed",)))
    )
    assert (
        window.until
        <= event
        < window.until + 24 * 3600 * 1000
        == window.since + 2 * 24 * 3600 * 1000
    )


def test_an_event_that_memory_knows_begins_a_time(memory: Memory) -> None:
    answer = memory.recall("which files did I change since the last commit?")
    assert answer.window is not None
    assert answer.window.taken == "committed 1a2b3c4: Show the price"
    assert {hit.object for hit in answer.hits if hit.predicate == "modified_file"} == {
        "/home/ann/shop/price.py"
    }
    deployed = memory.recall("what broke after the deploy").window
    assert deployed is not None
    assert "fly deploy" in deployed.taken
    unknown = memory.recall("what changed since the release")  # there was none
    assert (unknown.window, unknown.unanchored) == (None, "since the release")
    assert find_anchor("how long after the release of the book") is None


@pytest.mark.parametrize(
    ("command", "is_release"),
    [
        ("git tag v1.2.0", True),
        ("git tag -a v1.2.0 -m 'second'", True),
        ("gh release create v1.2.0", True),
        ("npm publish", True),
        ("git tag -l 'v1*'", False),
        ("git tag | tail -3", False),
        ("npm publish --dry-run", False),
        ("cat release.md", False),
    ],
)
def test_what_is_a_release(tmp_path: Path, command: str, is_release: bool) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_text("\n".join([*ran("r1", "10-01T09:00", command), *LINES]) + "\n", encoding="utf-8")
    with Memory(tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "k") as memory:
        memory.ingest([log])
        window = memory.recall("what did I change since the last release?").window
    assert (window is not None) is is_release
    assert window is None or datetime.fromtimestamp((window.since or 0) / 1000, UTC).month == 10


@pytest.mark.parametrize(
    ("question", "is_usual"),
    [
        ("Why did the importer stop at midnight?", True),
        ("why does the importer stop at midnight", True),
        ("how do I keep the importer from stopping at 00:15", True),
        ("what did I do at midnight", False),
        ("what happened at midnight?", False),
        ("why did I stop the importer at midnight", False),
    ],
)
def test_a_time_of_day_at_which_things_happen_hides_no_answer(
    tmp_path: Path, question: str, is_usual: bool
) -> None:
    said = [{"type": "text", "text": "The importer stops at midnight because its token expires."}]
    lines = [
        record("user", "q1", "06-01T09:00", "why did the importer stop again?"),
        record("assistant", "q2", "06-01T09:05", said),
        record("user", "q3", "11-19T23:55", "rename the cart"),
        *changed("q4", "11-20T00:05", "/home/ann/shop/cart.py"),
    ]
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Memory(tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "k") as memory:
        memory.ingest([log])
        memory.embed()
        answer = memory.recall(question)
    assert (answer.window is None) is is_usual
    june = NOW - 100 * 24 * 3600 * 1000
    shown = [(hit.occurred_at or 0) < june for hit in answer.hits]
    assert shown[:1] == [True] if is_usual else not any(shown)


@pytest.mark.parametrize(
    "question",
    [
        "which job starts at 02:00",
        "what happens at 4am on the heron server",
        "why is it up at 3am?",
    ],
)
def test_of_a_usual_time_nothing_is_claimed(memory: Memory, question: str) -> None:
    answer = memory.recall(question)
    assert answer.hits
    assert answer.window is None
    assert not answer.outside
    # nor is anything counted, of which it is not known at what hour it usually was
    assert memory.recall("how often did pytest fail at 3am").computed is None


def test_some_day_or_other_excludes_nothing(memory: Memory) -> None:
    answer = memory.recall("which host did I connect to the other day")
    assert answer.window is not None
    assert answer.window.vague
    assert not answer.outside
    assert "ssh root@" in answer.hits[0].text


def test_turns_of_a_conversation_tell_of_other_times(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "k") as memory:
        memory.add_turn("We went to Norway in July, and it rained.", session="s")
        answer = memory.recall("where did we go in July?")
        assert "Norway" in answer.hits[0].text
        assert not answer.outside


def test_a_kind_of_facts_of_which_there_is_none_is_said(memory: Memory) -> None:
    answer = memory.recall("which packages did I install?")
    assert answer.lacking == ("installed_package",)
    assert answer.nearest is None
    assert answer.hits == []
    assert memory.recall("what did you install into the cart of the shop").lacking == ()


# --- where it is shown ----------------------------------------------------------------------------


@pytest.fixture
def filled(cli: Cli, tmp_path: Path) -> Cli:
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    filled = Cli(home=cli.home, env={"FACTBOOK_DB": str(tmp_path / "memory.db")})
    filled("ingest", log)
    return filled


def test_the_command_line_counts(filled: Cli) -> None:
    shown = filled("count", "commits", "by", "month").out.splitlines()
    assert shown[0] == "committed: 2 times"
    assert shown[2].split()[:4] == ["2026-06", "1", "#" * 24, "2026-06-03"]
    data = json.loads(filled("--json", "count", "deploy").out)
    assert (data["measure"], data["total"], data["by"]) == ("count", 3, "object")
    assert all(fact.startswith("f") for row in data["rows"] for fact in row["facts"])
    grouped = json.loads(
        filled("--json", "facts", "-p", "modified_file", "--group-by", "object").out
    )
    assert [(row["label"], row["count"]) for row in grouped["rows"]] == [
        ("/home/ann/shop/cart.py", 2),
        ("/home/ann/shop/price.py", 1),
    ]
    assert "first" in filled("recall", "when did I first deploy").out.splitlines()[0]
    assert "colour" in filled("count", "--by", "colour", code=2).err


def test_a_misspelt_predicate_is_answered_with_what_is_near(filled: Cli) -> None:
    for command in ("facts", "recall x", "timeline", "sessions"):
        done = filled(*command.split(), "--host", "nowhere")
        assert "Nothing was read of 'nowhere'; there are claude-code." in done.out + done.err
    done = filled("facts", "--session", "none")
    assert "No session is 'none'" in done.out + done.err
    assert "'' is not a moment" in filled("recall", "x", "--since", "", code=2).err
    said = "No fact has the predicate 'comitted'; did you mean committed?"
    for command in ("facts", "count"):
        assert said in filled(command, "-p", "comitted").out
    assert said in filled("recall", "-p", "comitted", "what did I do").err


def test_recall_shows_what_was_computed_and_what_is_nearest(filled: Cli) -> None:
    data = json.loads(filled("--json", "recall", "how many times did I deploy").out)
    assert data["computed"]["total"] == 3
    assert data["hits"]
    data = json.loads(filled("--json", "recall", "which hosts did I connect to in July 2026").out)
    assert data["nearest"] == {"at": "2026-08-02T08:00:00.000Z", "hits": 3}
    shown = filled("recall", "which hosts did I connect to in July 2026").out
    shown = " ".join(shown.split())
    assert "No connects_to_host facts in that time" in shown
    assert "nearest: 3 facts on Sun 2026-08-02" in shown
    assert "No installed_package facts are in this memory." in (
        filled("recall", "which packages did I install").out
    )


def test_a_context_holds_what_was_computed(memory: Memory) -> None:
    text = memory.context("how many times did I deploy?").text
    assert 'executed_command "deploy": 3 times' in text
    assert "- npm run deploy: 1 time, last 2026-06-02 10:00" in text
    assert text.index("deploy?") > text.index("3 times")  # the question comes last
    assert "last committed: 2026-" in memory.context("when did I last commit").text
    for question in (
        "how many times did I swim",
        "what did I change",
        "how many deploys on may 32",
    ):
        assert "<tool-result" not in memory.context(question).text
    given = memory.context("how many times did I deploy on june 31")
    assert "3 times" not in given.text


def test_an_agent_is_given_what_was_computed(filled: Cli) -> None:
    with Server(Path(filled.env["FACTBOOK_DB"]), env=filled.environment()) as server:
        answer = server.call("search_memory", query="how many times did I deploy?")
        assert answer["computed"]["answer"].startswith('executed_command "deploy": 3 times')
        assert answer["computed"]["rows"][0]["facts"][0].startswith("f")
        answer = server.call("get_context", question="how many times did I deploy?")
        assert 'executed_command "deploy": 3 times' in answer["text"]
        answer = server.call("search_memory", query="which hosts did I connect to in July 2026")
        assert "nearest: 3 facts on Sun 2026-08-02" in answer["note"]


def test_the_chat_says_what_was_counted(filled: Cli) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "factbook", "chat", "--no-search", "--no-worker", "--plain"],
        env=filled.environment(),
        input="how many times did I deploy?\n/count commits\n/quit\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert 'executed_command "deploy": 3 times' in done.stdout
    assert "committed: 2 times" in done.stdout
