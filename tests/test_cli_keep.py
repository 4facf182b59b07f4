"""The commands that keep a memory in order, run as people run them: as processes, on real files."""

from __future__ import annotations

import configparser
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from conftest import Cli
from factbook.memory import Memory
from factbook.model.facts import ME, EpisodeKind, Fact, Millis, Role, Source, Trigger, Trust
from factbook.model.ops import Count, JudgePair, MergeFacts, Propose, RecordInjection, RecordUse
from factbook.recall.time_expressions import now_ms
from factbook.store.leases import claim_waiting, drop_lease, release, take_lease
from factbook.testing import FrozenClock, sample_episode

DAY: Millis = 24 * 3600 * 1000
RULE = """[[rule]]
name = "operation_deploy"
confidence = 0.6
looks_in = "command"
pattern = '(?P<object>fly deploy)'
subject = "action"
"""
PLAYERS = {
    "Ann": "violin",
    "Bea": "piano",
    "Cleo": "chess",
    "Dora": "tennis",
    "Eve": "guitar",
    "Fay": "rugby",
    "Gina": "golf",
    "Hana": "flute",
    "Ida": "drums",
    "Jane": "harp",
    "Kate": "poker",
    "Lea": "judo",
    "Mia": "bridge",
}
SCRIPTS = Path(__file__).parents[1] / "scripts"


def say(memory: Memory, *texts: str, at: Millis, session: str) -> None:
    """Record turns of a conversation."""
    source = Source(
        key=f"chat:{session}",
        kind="conversation",
        host="chat",
        session=session,
        uri=f"/chats/{session}.jsonl",
    )
    memory.sources.record(
        source,
        [
            sample_episode(
                n,
                uid=f"{session}:{n}",
                source=source.key,
                text=text,
                kind=EpisodeKind.TURN,
                role=Role.USER,
                trust=Trust.DIRECT,
                occurred_at=at + n * 60_000,
                session=session,
            )
            for n, text in enumerate(texts, 1)
        ],
    )


def told(memory: Memory, text: str) -> Fact:
    return memory.remember(text)


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of some months: a fact said again, merged ones, a question, and a proposal.

    f1 Porto, f2 jazz (merged into f3), f3 jazz, f4 tea and f5 coffee (undecided), f6 of long ago.
    """
    folder = tmp_path_factory.mktemp("past")
    now = now_ms()
    clock = FrozenClock(now - 100 * DAY)
    with Memory(folder / "m.db", clock=clock, key_file=folder / "key", actor="night") as memory:
        texts = (
            "I live in Porto",
            "I am fond of jazz",
            "Jazz is what I like",
            "Tea wakes me up",
            "Coffee is for the evening",
        )
        facts = []
        for text in texts:
            facts.append(told(memory, text))
            clock.now += 60_000
        clock.now = now - 400 * DAY
        told(memory, "I won the village chess cup")
        clock.now = now - 40 * DAY
        merged = [facts[2], facts[1]]
        memory._context.write(
            [
                MergeFacts(
                    winner_id=merged[0].id,
                    loser_ids=[merged[1].id],
                    evidence_counts=[one.evidence_count for one in merged],
                    rule="same",
                ),
                JudgePair(
                    low_id=facts[3].id,
                    high_id=facts[4].id,
                    relation="ambiguous",
                    rule="polarity",
                    detail="one may be the other's opposite",
                    similarity=0.83,
                ),
                Propose(
                    kind="predicate",
                    key="operation_deploy",
                    title="operation_deploy",
                    payload={"toml": RULE, "examples": ["fly deploy --app shop"], "count": 34},
                ),
                Propose(kind="predicate", key="x", title="operation_x", payload={"toml": RULE}),
            ],
            Trigger.COMMAND,
        )
        memory.remember("I live in Porto")
        memory.embed()
        assert memory.check() == []
    return folder


@pytest.fixture
def db(past: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(past / "m.db", tmp_path / "m.db"))


@pytest.fixture
def here(cli: Cli, db: Path) -> Cli:
    """The command line on that copy."""
    return Cli(home=cli.home, env={"FACTBOOK_DB": str(db)})


@pytest.fixture
def opened(db: Path, tmp_path: Path) -> Iterator[Memory]:
    """The copy, open beside the command line."""
    with Memory(db, mode="write", key_file=tmp_path / "key") as memory:
        yield memory
        assert memory.check() == []


# --- a person's word ------------------------------------------------------------------------------


def test_remember_makes_a_database_and_says_what_it_kept(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "new.db"
    assert cli("--db", db, "remember", "My", "sister", "is", "called", "Rita").out.startswith("f1 ")
    again = cli("--db", db, "remember", "My sister is called Rita", "--json").json()
    assert (again["new"], again["fact"]["id"], again["fact"]["evidence_count"]) == (False, "f1", 2)
    other = cli("--db", db, "remember", "I play chess", "--owner", "ann", "--json").json()
    assert (other["new"], other["fact"]["owner"]) == (True, "ann")
    assert [one["id"] for one in cli("--db", db, "facts", "--json").json()["facts"]] == ["f1"]
    every = cli("--db", db, "facts", "--all-owners", "--json").json()["facts"]
    assert [one["id"] for one in every] == ["f1", "f2"]
    shown = cli("--db", db, "facts", "--owner", "ann").out
    assert "I play chess" in shown
    assert "Rita" not in shown
    cli("--db", db, "remember", " ", code=2)


def test_remember_redacts_and_shows_no_control_character(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "new.db"
    done = cli("--db", db, "remember", "the \x1b[31mred\x1b[0m token is ghp_" + "a1B2" * 9)
    assert "\x1b" not in done.out
    assert "the red token is" in done.out  # nobody sees what a terminal is told: it is not kept
    assert "ghp_" not in done.out
    assert "[REDACTED:" in done.out


def test_correct_supersedes_also_what_is_pinned(here: Cli) -> None:
    assert "pinned" in here("pin", "f1").out
    assert "so already" in here("pin", "f1").out
    found = here("correct", "f1", "I live in Faro", "--json").json()
    assert [one["id"] for one in found["superseded"]] == ["f1"]
    old = here("explain", "f1", "--json").json()
    assert old["fact"]["status"] == "superseded"
    assert old["fact"]["valid_to"]
    assert [(one["how"], one["id"]) for one in old["successors"]] == [
        ("superseded by", found["fact"]["id"])
    ]
    shown = here("explain", "f1").out
    assert "superseded by" in shown
    assert "I live in Faro" in shown
    here("correct", "f1", "again", code=2)
    here("correct", "f999", "again", code=8)


def test_feedback_counts_and_wrong_takes_a_fact_out(here: Cli) -> None:
    sure = here("feedback", "f3", "right", "--json").json()["fact"]["confidence"]
    assert sure == pytest.approx(0.9)
    assert "out of all retrieval" in here("feedback", "f4", "wrong").out
    listed = {one["id"] for one in here("facts", "--json").json()["facts"]}
    assert "f4" not in listed
    everything = here("facts", "--include-deprecated", "--json").json()["facts"]
    assert {one["id"]: one["status"] for one in everything}["f4"] == "deprecated"
    figures = here("stats", "--json").json()["metrics"]
    assert figures["right"] == {"value": 0.5, "part": 1.0, "of": 2.0}
    here("feedback", "f4", "maybe", code=2)


def test_a_pin_stops_the_fading_and_says_when_that_is_too_late(here: Cli, opened: Memory) -> None:
    assert here("pin", "f3", "--json").json()["fact"]["pinned"] is True
    assert "out of all retrieval" in here("pin", "f6").out  # it had faded before
    later = FrozenClock(now_ms() + 300 * DAY)
    with Memory(opened.path, mode="read", clock=later) as memory:
        faded = {one.id for one in memory.query_facts(include_deprecated=True)} - {
            one.id for one in memory.query_facts()
        }
    assert 3 not in faded
    assert 1 in faded
    assert here("unpin", "f3", "--json").json()["fact"]["pinned"] is False


def test_unmerge_takes_a_fact_out_again(here: Cli) -> None:
    before = here("explain", "f2", "--json").json()
    assert before["fact"]["merged_into"] == "f3"
    assert [(one["how"], one["id"]) for one in before["successors"]] == [("merged into", "f3")]
    assert "a fact of its own" in here("unmerge", "f2").out
    after = here("explain", "f2", "--json").json()
    assert (after["fact"]["merged_into"], after["successors"]) == (None, [])
    assert here("explain", "f3", "--json").json()["fact"]["evidence_count"] == 1
    here("unmerge", "f2", code=2)


# --- explain and facts ----------------------------------------------------------------------------


def test_explain_draws_the_history_of_a_confidence(here: Cli) -> None:
    found = here("explain", "f1", "--json").json()["course"]
    first, again = found["steps"]
    assert (first["op"], first["before"], first["after"]) == ("store", None, 0.95)
    assert again["op"] == "support"
    assert again["before"] == pytest.approx(0.95 * np.exp(-0.01 * 60), abs=0.001)
    assert again["after"] == 0.95
    assert len(again["added"]) == 1
    assert found["value"] == pytest.approx(0.95 * np.exp(-0.01 * 40), abs=0.001)
    shown = here("explain", "f1").out
    history = shown[shown.index("history") :]
    assert "0.52 -> 0.95" in history
    assert "said again" in history
    assert "“I live in Porto”" in history
    assert "0.64" in history.splitlines()[-1]
    assert "faded in 40 days" in history.splitlines()[-1]
    assert "█" in history


def test_a_terminal_without_blocks_gets_plain_bars(here: Cli) -> None:
    shown = here("explain", "f1", env={"PYTHONIOENCODING": "ascii"}).out
    assert "###" in shown
    assert "\\u25" not in shown[shown.index("history") :]


def test_facts_show_the_status_where_it_is_not_active(here: Cli) -> None:
    assert "chess" not in here("facts").out
    assert "[deprecated] I won the village chess cup" in here("facts", "--include-deprecated").out
    assert "[active]" not in here("facts", "--include-deprecated").out


# --- what waits for a person ----------------------------------------------------------------------


def test_review_shows_what_waits_and_what_to_type(cli: Cli, here: Cli, db: Path) -> None:
    shown = cli("--db", db, "review").out
    assert "accept 1: operation_deploy, as in: fly deploy --app shop" in shown
    assert "one may be the other's opposite" in shown
    typed = f"factbook --db {shlex.quote(str(db))} review"
    assert f"{typed} accept ID" in shown
    assert "pattern =" not in shown
    whole = cli("--db", db, "review", "--all").out
    assert 'name = "operation_deploy"' in whole
    assert f"{typed} accept 1" in whole
    assert f"{typed} pair f4 f5 merge|keep|newer|contradiction" in shown
    found = here("review", "--json").json()
    assert [one["title"] for one in found["proposals"]] == ["operation_deploy", "operation_x"]
    (pair,) = found["pairs"]
    assert (pair["low"], pair["high"], len(pair["texts"])) == ("f4", "f5", 2)


def test_accepting_a_predicate_puts_its_rule_into_the_rules(here: Cli) -> None:
    path = here.home / "config" / "factbook" / "rules.toml"
    path.parent.mkdir(parents=True)
    path.write_text("# mine\n[disable]\nrules = ['read_file']\n", encoding="utf-8")
    path.chmod(0o600)
    done = here("review", "accept", "1", "--reason", "I deploy often")
    assert "rules.toml" in done.out
    kept = path.read_text(encoding="utf-8")
    assert kept.startswith("# mine\n")
    assert tomllib.loads(kept)["rule"][0]["name"] == "operation_deploy"
    assert path.stat().st_mode & 0o777 == 0o600
    names = [one["name"] for one in here("predicates", "--json").json()["predicates"]]
    assert "operation_deploy" in names
    assert [one["id"] for one in here("review", "--json").json()["proposals"]] == [2]
    here("review", "accept", "1", code=2)
    here("review", "accept", "99", code=8)
    # The other one has the same text, which stands there already: it is not put in twice.
    assert here("review", "accept", "2", "--json").json()["state"] == "accepted"
    assert path.read_text(encoding="utf-8") == kept


def test_an_accepted_rule_is_run_over_what_is_stored(cli: Cli, tmp_path: Path) -> None:
    logs, db = tmp_path / "logs", tmp_path / "logs.db"
    logs.mkdir()
    deploys = [f"fly deploy --app {name}" for name in ("shop", "blog", "mail", "wiki")]
    others = ["ls -la", "git commit -m done", "fly status"]
    for session in ("a", "b", "c", "d", "e"):
        lines = [
            json.dumps({
                "type": "assistant", "uuid": f"{session}{n}", "sessionId": session, "cwd": "/app",
                "timestamp": f"2026-03-02T10:0{n}:00Z",
                "message": {"role": "assistant", "content": [
                    {"type": "tool_use", "id": f"t{session}{n}", "name": "Bash",
                     "input": {"command": command}}
                ]},
            })
            for n, command in enumerate([*deploys, *others])
        ]  # fmt: skip
        (logs / f"{session}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    cli("--db", db, "ingest", logs)
    cli("--db", db, "consolidate")
    (deploy,) = cli("--db", db, "review", "--json").json()["proposals"]
    assert deploy["title"] == "operation_fly_deploy: 20 commands in 5 sessions"
    rules = tmp_path / "mine.toml"
    accept = ("review", "accept", deploy["id"], "--rules", rules)
    assert "20 facts came of the commands that are stored." in cli("--db", db, *accept).out
    found = cli("--db", db, "facts", "-p", "operation_fly_deploy", "--json").json()["facts"]
    assert len(found) == 20
    assert {one["statement"] for one in found} == {"ran fly deploy"}
    assert {one["confidence"] for one in found} == {0.8}
    told = cli("--db", db, "explain", found[0]["id"]).out
    assert "fly deploy" in told


def test_a_rule_that_does_not_fit_leaves_file_and_proposal_as_they_are(
    here: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    text = RULE.replace("0.6", "0.7")  # the same name with another content
    path.write_text(text, encoding="utf-8")
    said = here("review", "accept", "1", "--rules", path, code=5).err
    assert str(path) in said
    assert "used twice" in said
    assert path.read_text(encoding="utf-8") == text
    assert list(tmp_path.glob("*.new")) == list(tmp_path.glob(".*.new")) == []
    assert len(here("review", "--json").json()["proposals"]) == 2


def test_refusing_is_remembered(here: Cli) -> None:
    here("review", "refuse", "1", "--reason", "too broad")
    assert [one["id"] for one in here("review", "--json").json()["proposals"]] == [2]
    assert not (here.home / "config" / "factbook" / "rules.toml").exists()


@pytest.mark.parametrize(
    ("verdict", "says"),
    [
        ("merge", "one fact"),
        ("keep", "Both stay"),
        ("newer", "The newer one holds"),
        ("contradiction", "Both lost half"),
    ],
)
def test_a_pair_is_decided_in_either_order(here: Cli, verdict: str, says: str) -> None:
    assert says in here("review", "pair", "f5", "f4", verdict).out
    assert here("review", "--json").json()["pairs"] == []
    here("review", "pair", "f4", "f5", verdict, code=2)


def test_the_newer_of_a_pair_holds_also_against_a_pin(here: Cli) -> None:
    here("pin", "f4")
    here("review", "pair", "f4", "f5", "newer")
    found = {one["id"] for one in here("facts", "--json").json()["facts"]}
    assert "f5" in found
    assert "f4" not in found


@pytest.mark.parametrize(
    "args", [["accept"], ["accept", "x"], ["pair", "f4", "f5", "no"], ["pair", "f4"], ["other"]]
)
def test_a_decision_that_is_none_says_how(here: Cli, args: Sequence[str]) -> None:
    assert here("review", *args, code=2).err.count("\n") == 1


# --- the embedding queue --------------------------------------------------------------------------


def waiting(db: Path) -> int:
    with Memory(db, mode="read") as memory:
        return memory.maintenance.waiting()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_embeds_what_comes_until_it_is_told_to_stop(
    here: Cli, opened: Memory, number: signal.Signals
) -> None:
    running = subprocess.Popen(
        [
            *(sys.executable, "-m", "factbook", "worker", "--idle", "0.05"),
            *("--off", "extraction"),  # what that reads has rows to embed, too
        ],
        env=here.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for session in ("one", "two"):
            say(opened, "The ferry leaves at noon", at=now_ms(), session=session)
            deadline = time.monotonic() + 60
            while opened.maintenance.waiting() and time.monotonic() < deadline:
                time.sleep(0.05)
            assert opened.maintenance.waiting() == 0
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 0, err
    assert out.startswith("2 rows embedded; nothing waits.")


def test_a_worker_says_what_was_put_aside_and_tries_it_again(here: Cli, opened: Memory) -> None:
    say(opened, "The \x1b[31mferry leaves at noon", at=now_ms(), session="one")
    claim = claim_waiting(opened.store, "episode", limit=9, holder="t", now=0)
    ids = [one for one, _ in claim.rows]
    release(opened.store, claim, ids, error="too \x1b[31mlong", until=1, aside=True)
    shown = here("worker", "--once", "--off", "extraction").out
    assert "0 rows embedded; nothing waits." in shown
    assert f"e{ids[0]}  too \\x1b[31mlong" in shown
    assert here("stats", "--json").json()["aside"] == 1
    found = here("worker", "--once", "--retry", "--off", "extraction", "--json").json()
    assert (found["retried"], found["embedded"], found["aside"]) == (1, 1, [])


@pytest.mark.parametrize("idle", ["0", "nan", "-1", "1e9"])
def test_a_worker_needs_a_time_to_wait(here: Cli, idle: str) -> None:
    here("worker", "--idle", idle, code=2)


class Counting:
    """Another embedding model: how often each of a few letters occurs."""

    id = "counting"
    dim = 8

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = [[1.0 + text.count(letter) for letter in "abdeilno"] for text in texts]
        return np.asarray(rows, np.float32)


def test_reembed_changes_the_model_and_says_when_nothing_had_to(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "other.db"
    with Memory(db, embedder=Counting(), key_file=tmp_path / "key") as memory:
        say(memory, "The ferry leaves at noon", "The bridge is closed", at=now_ms(), session="one")
        memory.embed()
        say(memory, "The road is long", at=now_ms(), session="two")
    wrong = cli("--db", db, "worker", "--once", code=4)
    assert f"`factbook --db {shlex.quote(str(db))} reembed`" in wrong.err
    done = cli("--db", db, "reembed")
    assert done.out.startswith("2 vectors of ")
    assert "counting" in done.out
    again = cli("--db", db, "reembed", "--json").json()
    assert (again["changed"], again["from"]) == (0, again["to"])
    assert "Nothing had to change" in cli("--db", db, "reembed").out
    assert cli("--db", db, "worker", "--once", "--json").json()["embedded"] == 1
    assert "no vectors yet" in cli("--db", empty(tmp_path), "reembed").out


def empty(folder: Path) -> Path:
    path = folder / "empty.db"
    Memory(path, key_file=folder / "key").close()
    return path


# --- the night ------------------------------------------------------------------------------------


@pytest.fixture
def evening(opened: Memory, here: Cli) -> Cli:
    """The command line, after a day on which something was said."""
    at = now_ms() - DAY
    say(opened, "I work as a nurse.", "My brother lives in Berlin.", at=at, session="day")
    return here


def test_consolidate_reports_every_change_and_then_nothing(evening: Cli, db: Path) -> None:
    dry = evening("consolidate", "--dry-run", "--json").json()
    assert dry["dry_run"] is True
    assert waiting(db) == 2  # the copy was changed, and not the file
    assert evening("runs", "--json").json() == {"runs": []}
    done = evening("consolidate", "--json").json()
    assert (done["run"], done["state"], done["dry_run"]) == (1, "done", False)
    assert done["changes"] == dry["changes"]
    said = {done["changes"]["facts"][one]["statement"] for one in done["changes"]["new"]}
    assert "I work as a nurse." in said
    assert done["faded"] == done["changes"]["faded"]
    assert "f6" in done["faded"]
    pairs = done["pairs_waiting"]
    assert pairs
    shown = evening("consolidate").out
    assert shown.startswith("run 2 · ")
    assert "Nothing had to change." in shown
    assert f"{pairs} pair{'s wait' if pairs > 1 else ' waits'} for judgement" in shown
    listed = evening("runs").out.splitlines()
    assert [line.split()[0] for line in listed] == ["run", "2", "1"]
    assert f"{len(said)} new" in listed[2]
    past = evening("runs", "1", "--json").json()
    assert past["changes"] == done["changes"]
    assert "new facts" in evening("runs", "1").out
    evening("runs", "9", code=8)


def test_a_long_report_is_bounded_unless_it_is_asked_for_whole(here: Cli, opened: Memory) -> None:
    texts = [f"My friend {name} plays {thing}." for name, thing in PLAYERS.items()]
    say(opened, *texts, at=now_ms() - DAY, session="day")
    number = len(here("consolidate", "--json").json()["changes"]["new"])
    assert number > 10
    short, whole = here("runs", "1").out, here("runs", "1", "--all").out
    assert f"and {number - 10} more" in short
    assert "--all shows every change." in short
    assert "--all" not in whole
    assert sum(" plays " in line for line in whole.splitlines()) == number


def test_undo_takes_a_run_back(evening: Cli, db: Path) -> None:
    new = evening("consolidate", "--json").json()["changes"]["new"]
    undone = evening("consolidate", "--undo", "1", "--json").json()
    assert undone["receipt"]["reverted"] >= len(new) > 0
    listed = {one["id"] for one in evening("facts", "--json").json()["facts"]}
    assert not listed & set(new)
    assert evening("runs", "--json").json()["runs"][0]["state"] == "undone"
    evening("consolidate", "--undo", "1", code=2)
    evening("consolidate", "--undo", "9", code=8)
    evening("consolidate", "--undo", "0", code=2)
    evening("consolidate", "--undo", "1", "--dry-run", code=2)


def test_one_consolidation_at_a_time(here: Cli, opened: Memory) -> None:
    now = now_ms()
    token = take_lease(opened.store, "consolidation", holder="elsewhere:1:a", now=now)
    assert token is not None
    done = here("consolidate", "--json", code=4)
    assert done.json()["error"]["kind"] == "AlreadyRunning"
    assert "running already" in done.err
    drop_lease(opened.store, "consolidation", token=token)
    here("consolidate", "--json")


def test_the_script_of_the_seed_is_the_same_command(here: Cli) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPTS / "run_consolidation.py", "--json"],
        env=here.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["state"] == "done"


# --- numbers --------------------------------------------------------------------------------------


def test_stats_tell_how_facts_stand_and_the_figures(here: Cli, opened: Memory) -> None:
    plain = here("stats", "--json").json()
    assert plain["facts_by_state"]["merged_into"] == 1
    assert plain["facts_by_state"]["deprecated"] == 1
    assert plain["pairs_waiting"] == 1
    assert plain["proposals_open"] == 2
    assert plain["last_run"] is None
    assert "passive_relevance" not in plain["metrics"]
    opened._context.write(
        [
            RecordInjection(
                owner=ME, session="s", mode="passive", items=["f1", "f3"], latency_ms=21.0
            ),
            RecordInjection(owner=ME, session="s", mode="tool", items=["f4"]),
            RecordUse(injection_id=1, used=["f1"]),
            RecordUse(injection_id=2, used=["f4"], resolved=True),
            Count(name="diversity", value=1.5),
            Count(name="diversity_count", value=2.0),
        ],
        Trigger.COMMAND,
    )
    figures = here("stats", "--json").json()["metrics"]
    assert figures["passive_relevance"]["value"] == 0.5
    assert figures["tool_effectiveness"]["value"] == 1.0
    assert figures["passive_latency_ms"] == 21.0
    assert figures["diversity"]["value"] == 0.75
    assert figures["searches"] == 1
    shown = here("stats").out
    assert "merged" in shown
    assert "50.0%   1 of 2 streamed memories were used" in shown


def test_stats_draw_pictures(here: Cli, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    here("consolidate")
    folder = tmp_path / "pictures"
    found = here("stats", "--plot", folder, "--json", env={"PYTHONWARNINGS": ""}).json()["plots"]
    assert {Path(one).name for one in found} >= {"facts.png", "confidence.png", "runs.png"}
    assert all(Path(one).read_bytes().startswith(b"\x89PNG") for one in found)


def test_without_matplotlib_it_is_said_how_to_get_it(here: Cli, tmp_path: Path) -> None:
    broken = tmp_path / "lib" / "matplotlib"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(broken.parent), os.environ.get("PYTHONPATH", "")]))
    said = here("stats", "--plot", tmp_path, code=2, env={"PYTHONPATH": path}).err
    assert "pip install 'factbook[bench]'" in said


# --- every night ----------------------------------------------------------------------------------


def test_install_timer_writes_units_and_says_what_to_type(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / 'my "best" $memory 100%.db'
    folder = cli.home / "config" / "systemd" / "user"
    dry = cli("--db", db, "install-timer", "--dry-run")
    assert "ExecStart=" in dry.out
    assert not folder.exists()
    done = cli("--db", db, "install-timer", "--at", "4:05")
    assert "systemctl --user enable --now factbook-consolidate.timer" in done.out
    timer, service = (
        unit(folder / f"factbook-consolidate.{kind}") for kind in ("timer", "service")
    )
    assert timer["Timer"]["OnCalendar"] == "*-*-* 04:05:00"
    assert timer["Install"]["WantedBy"] == "timers.target"
    text = (folder / "factbook-consolidate.service").read_text(encoding="utf-8")
    started = [line for line in text.splitlines() if line.startswith("ExecStart=")]
    for line, name in zip(started, ("ingest", "consolidate"), strict=True):
        said = line.removeprefix("ExecStart=").removeprefix("-")
        command = shlex.split(said.replace("$$", "$").replace("%%", "%"))
        assert command[-3:] == ["--db", str(db), name]
        assert Path(command[0]).is_absolute()
    assert started[0].startswith("ExecStart=-")  # the night is kept whatever became of it
    assert service["Service"]["Environment"] == f'"FACTBOOK_KEY_FILE={cli.home}/redaction.key"'
    assert "replaced" in cli("--db", db, "install-timer").out
    link = folder / "timers.target.wants" / "factbook-consolidate.timer"
    link.parent.mkdir()
    link.symlink_to(folder / "factbook-consolidate.timer")
    gone = cli("install-timer", "--remove", "--json").json()
    assert len(gone["removed"]) == 3
    assert list(folder.glob("factbook*")) == list(link.parent.iterdir()) == []
    assert "no timer" in cli("install-timer", "--remove").out


def unit(path: Path) -> configparser.ConfigParser:
    found = configparser.ConfigParser(interpolation=None, strict=False)
    found.optionxform = str  # type: ignore[assignment,method-assign]
    found.read_string(path.read_text(encoding="utf-8"))
    return found


def test_the_command_of_the_timer_can_be_run(here: Cli, db: Path) -> None:
    files = here("install-timer", "--dry-run", "--json").json()["files"]
    lines = [line for line in files[0]["text"].splitlines() if line.startswith("ExecStart=")]
    for line, said in zip(lines, ("", "run 1 · "), strict=True):
        command = shlex.split(line.removeprefix("ExecStart=").removeprefix("-"))
        env = here.environment()
        done = subprocess.run(command, env=env, cwd="/", capture_output=True, text=True)
        assert done.stdout.startswith(said)
        assert command[-2] == str(db)
    assert done.returncode == 0


def test_a_unit_of_somebody_else_is_left_alone(cli: Cli) -> None:
    path = cli.home / "config" / "systemd" / "user" / "factbook-consolidate.timer"
    path.parent.mkdir(parents=True)
    path.write_text("[Timer]\n", encoding="utf-8")
    assert str(path) in cli("install-timer", code=2).err
    cli("install-timer", "--remove", code=2)
    assert path.read_text(encoding="utf-8") == "[Timer]\n"


@pytest.mark.parametrize("at", ["24:00", "3", "03:60", "noon", "03:30:00", "-1:00"])
def test_a_time_that_is_none_is_refused(cli: Cli, at: str) -> None:
    cli("install-timer", f"--at={at}", code=2)


@pytest.fixture
def crontab(tmp_path: Path) -> Path:
    """A crontab program in a folder of its own, which keeps the table in a file beside it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "crontab"
    program.write_text(
        f"""#!/bin/sh
table={shlex.quote(str(folder / "table"))}
if [ "$1" = -l ]; then
  [ -e "$table" ] && exec cat "$table"
  echo "no crontab for ann" >&2; exit 1
fi
exec cat > "$table"
""",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return folder


def test_a_line_of_the_crontab(cli: Cli, crontab: Path, tmp_path: Path) -> None:
    db = tmp_path / "it's 100%.db"
    path = {"PATH": f"{crontab}:{os.environ['PATH']}"}
    table = crontab / "table"
    (line,) = cli("--db", db, "install-timer", "--cron", "--dry-run", env=path).out.splitlines()
    assert not table.exists()
    assert line.startswith("30 3 * * * FACTBOOK_KEY_FILE=")
    words = shlex.split(line.split(" * * * ", 1)[1].replace(r"\%", "%"))
    assert words.count(str(db)) == 2
    assert [words[at - 1] for at, word in enumerate(words) if word.startswith(">")] == [
        "ingest",
        "consolidate",
    ]
    table.write_text("0 5 * * 1 backup\n", encoding="utf-8")
    cli("--db", db, "install-timer", "--cron", env=path)
    assert table.read_text(encoding="utf-8").splitlines()[0] == "0 5 * * 1 backup"
    changed = cli("--db", db, "install-timer", "--cron", "--at", "02:00", env=path).out
    assert changed.startswith("replaced")
    lines = table.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("0 2 * * * ")
    cli("install-timer", "--cron", "--remove", env=path)
    assert table.read_text(encoding="utf-8") == "0 5 * * 1 backup\n"
    assert "no timer" in cli("install-timer", "--cron", "--remove", env=path).out


def test_a_crontab_that_cannot_be_read_is_not_replaced(cli: Cli, crontab: Path) -> None:
    (crontab / "crontab").write_text("#!/bin/sh\necho 'broken pipe' >&2\nexit 1\n")
    said = cli("install-timer", "--cron", code=1, env={"PATH": str(crontab)}).err
    assert "cannot be read (broken pipe)" in said
    assert "no crontab here" in cli("install-timer", "--cron", code=2, env={"PATH": "/none"}).err


# --- on databases that are not there --------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        ["consolidate"],
        ["consolidate", "--dry-run"],
        ["runs"],
        ["review"],
        ["worker", "--once"],
        ["reembed"],
        ["correct", "f1", "x"],
        ["feedback", "f1", "right"],
        ["pin", "f1"],
        ["unpin", "f1"],
        ["unmerge", "f1"],
    ],
)
def test_only_remember_and_ingest_make_a_database(
    cli: Cli, tmp_path: Path, args: Sequence[str]
) -> None:
    db = tmp_path / "none.db"
    assert cli("--db", db, *args, "--json", code=4).json()["error"]["kind"] == "StoreMissing"
    assert not db.exists()
