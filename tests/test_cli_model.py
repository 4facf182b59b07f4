"""The commands that a language model helps with, as processes, against a real server of HTTP.

What fails must say so: by its label, its exit code, its reason, and by what waits afterwards.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli, call
from factbook import policy
from factbook.llm.config import ModelConfig
from factbook.maintenance.verdict_queue import task_of
from factbook.memory import Memory
from factbook.model.facts import Trigger
from factbook.model.ops import FailTask, JudgePair
from factbook.recall.time_expressions import now_ms
from factbook.testing import FrozenClock
from factbook.testing.model_server import ModelServer, Reply

DAY = 24 * 3600 * 1000
CRYPTO = "user.favorites.crypto"
TOKEN = "ghp_" + "a1B2" * 9


@dataclass(frozen=True)
class Desk:
    """The command line on one database, and the model that it is given."""

    cli: Cli
    server: ModelServer
    db: Path

    def answers(self, *values: Any) -> None:
        """Let the model answer these, and fail after them."""
        self.server.script = [Reply.json(one) for one in values]

    def fails(self) -> None:
        """Let the model fail from now on."""
        self.server.script = Reply.status(400)

    def memory(self, **more: Any) -> Memory:
        """Open the database beside the command line."""
        key = self.cli.home / "redaction.key"
        return Memory(self.db, mode="write", key_file=key, **more)

    def reads(self, text: str, *more: str, name: str = "evening.txt") -> None:
        """Have a summary read."""
        path = self.db.parent / name
        path.write_text(text, encoding="utf-8")
        self.cli("ingest", "--no-embed", "--kind", "summary", *more, path)


@pytest.fixture
def desk(cli: Cli, tmp_path: Path) -> Iterator[Desk]:
    db = tmp_path / "m.db"
    with ModelServer([]) as server:
        env = {"FACTBOOK_DB": str(db), "FACTS_LLM_URL": server.url}
        yield Desk(Cli(home=cli.home, env=env), server, db)
    if db.exists():
        with Memory(db, mode="read", key_file=cli.home / "redaction.key") as memory:
            assert memory.check() == []


OFF = {"FACTS_LLM_PROVIDER": "off"}


def ranked(rank: int, value: str, key: str = CRYPTO) -> dict[str, Any]:
    op = {"op": "ranked_list_set", "list_key": key, "rank": rank, "value": value}
    return {"ops": [op]}


def claim(text: str) -> dict[str, Any]:
    one = {"text": text, "type": "USER_FACT", "confidence": 0.95, "reasoning": "it was said"}
    return {"extractions": [one]}


# --- tell and ask ---------------------------------------------------------------------------------


def test_what_is_told_is_stored_and_what_is_asked_is_read(desk: Desk) -> None:
    desk.answers(ranked(1, "BTC"))
    shown = desk.cli("tell", "BTC", "is", "my", "#1", "crypto").out
    assert shown.splitlines()[:2] == ["Facts-S(1)", f"  stored    {CRYPTO}.1 = BTC"]
    assert 'because you said: "BTC is my #1 crypto"' in shown
    desk.answers(ranked(1, "ETH"))
    found = desk.cli("tell", "ETH is my #1 crypto", "--json").json()
    assert (found["label"], found["failed"], found["keys"]) == (
        "Facts-U(1)",
        False,
        [{"key": f"{CRYPTO}.1", "action": "update"}],
    )
    desk.answers({"intent": "facts_get_ranked_list", "topic": "crypto"})
    shown = desk.cli("ask", "What are my favorite cryptos?").out
    assert shown.splitlines()[:2] == ["Facts-R(1)", "  1. ETH"]
    desk.answers({"intent": "facts_get_ranked_list", "topic": "crypto"})
    asked = desk.cli("ask", "What are my favorite cryptos?", "--json").json()
    assert asked["canonical_keys"] == [CRYPTO]
    assert [one["value"] for one in asked["facts"]] == ["ETH"]


def test_ranks_of_several_lists_stand_below_the_key_of_their_list(desk: Desk) -> None:
    for said in (
        "My favorite cryptos are BTC and ETH",
        "Teal is my #1 favorite color",
        "My timezone is Europe/Athens",
    ):
        desk.cli("tell", "--planner", "rules", said)

    def shown(prefix: str) -> list[str]:
        desk.answers({"intent": "facts_get_by_prefix", "key_prefix": prefix})
        lines = desk.cli("ask", "What do you know about me?").out.splitlines()
        return [line for line in lines[1:] if "because you said" not in line]

    assert shown("user.favorites") == [
        "user.favorites.colors:",
        "  1. Teal",
        f"{CRYPTO}:",
        "  1. BTC",
        "  2. ETH",
    ]
    assert shown(CRYPTO) == ["  1. BTC", "  2. ETH"]  # of one list the question says which
    assert shown("user")[-1] == "user.timezone: Europe/Athens"


def test_a_failed_model_is_told_by_label_kind_and_exit_code(desk: Desk) -> None:
    desk.cli("remember", "I live in Porto")
    desk.fails()
    for command, said in (("tell", "BTC is my #1 crypto"), ("ask", "What is my #1 crypto?")):
        failed = desk.cli(command, said, code=9)
        assert failed.out.startswith("Facts-F\nFacts system failed: The Facts LLM (ollama:")
        assert "(http: status 400" in failed.err
        error = desk.cli(command, said, "--json", code=9).json()["error"]
        assert {name: error[name] for name in ("kind", "failure", "model", "label")} == {
            "kind": "ModelError",
            "failure": "http",
            "model": f"ollama:{policy.LLM_MODEL}",
            "label": "Facts-F",
        }
        off = desk.cli(command, said, "--json", env=OFF, code=9).json()["error"]
        assert (off["failure"], off["label"]) == ("not_configured", "Facts-F")
        assert "--planner rules" in desk.cli(command, said, env=OFF, code=9).out
    error = desk.cli("explain", "f99", "--json", code=8).json()["error"]
    assert set(error) == {"kind", "message"}  # the other errors have no more to say


def test_operations_that_are_refused_are_a_failure_and_the_message_waits(desk: Desk) -> None:
    desk.answers(ranked(1, "Bitcoin"))
    failed = desk.cli("tell", "BTC is my #1 crypto", code=9)
    assert failed.out.splitlines()[0] == "Facts-F"
    assert "Facts system failed: operation 1: the message does not hold 'Bitcoin'" in failed.out
    assert "nothing was written" in failed.err
    desk.answers(ranked(1, "Bitcoin"))
    found = desk.cli("tell", "BTC is my #1 favorite crypto", "--json", code=9).json()
    assert (found["label"], found["failed"], found["keys"]) == ("Facts-F", True, [])
    assert found["errors"] == ["operation 1: the message does not hold 'Bitcoin'"]
    with desk.memory() as memory:
        assert [one.kind for one in memory.maintenance.model_tasks()] == ["tell", "tell"]
        assert memory.keyed.keyed_facts() == []


def test_a_question_back_has_an_exit_code_of_its_own(desk: Desk) -> None:
    for said in ("BTC is my #1 favorite crypto", "Teal is my #1 favorite color"):
        desk.cli("tell", "--planner", "rules", said)
    desk.answers(ranked(1, "SOL"))
    asked = desk.cli("tell", "Make SOL my #1", code=10)
    assert "Which favorites list? " in asked.out
    assert "factbook review" in asked.out
    found = desk.cli("tell", "--planner", "rules", "Make ADA my #1", "--json", code=10).json()
    assert found["needs_clarification"][0].startswith("Which favorites list? ")
    assert (found["failed"], found["keys"]) == (False, [])
    desk.answers({"intent": "facts_get_ranked_list", "topic": "crypto"})
    assert "Which favorites list? " in desk.cli("ask", "What is my #1?", code=10).out
    desk.answers({"intent": "facts_get_ranked_list", "topic": "crypto"})
    found = desk.cli("ask", "What is my #1?", "--json", code=10).json()
    assert (found["plan"], len(found["needs_clarification"])) == (None, 1)


def test_what_cannot_be_asked_like_that_is_said_before_a_model_is(desk: Desk) -> None:
    desk.cli("remember", "I live in Porto")
    for command in ("tell", "ask"):
        assert "--owner is empty" in desk.cli(command, "--owner", "", "hello", code=2).err
        assert "is no planner" in desk.cli(command, "--planner", "magic", "hello", code=2).err
        assert "the text is empty" in desk.cli(command, " ", code=2).err
        rules = desk.cli(command, "--planner", "rules", "blah", "--json", code=2).json()["error"]
        assert rules["kind"] == "UsageError"
        wrong = desk.cli(command, "hello", "--llm-timeout", "0", code=2).err
        assert "The option --llm-timeout is '0.0', but it must be a number" in wrong
        assert (
            "The option --llm-url is no address"
            in desk.cli(command, "hello", "--llm-url", "nowhere at all", code=2).err
        )
        assert (
            "The option --llm-provider is 'magic'"
            in desk.cli(command, "hello", "--llm-provider", "magic", code=2).err
        )
        assert (
            "The option --llm-model" in desk.cli(command, "hello", "--llm-model", " ", code=2).err
        )
    assert desk.server.requests == []


# --- extract --------------------------------------------------------------------------------------


def test_extract_shows_what_was_proposed(desk: Desk) -> None:
    desk.reads('User: "I play the clarinet in a band."')
    desk.answers(claim("Plays the clarinet in a band"))
    shown = desk.cli("extract").out
    assert 'stored    fact      0.95  "Plays the clarinet in a band"' in shown
    assert "asked in vain" not in shown
    assert "No summary waits" in desk.cli("extract").out
    found = desk.cli("extract", "--json").json()
    assert (found["summaries"], found["failed"], found["unanswered"]) == (0, [], [])


def test_what_failed_is_told_with_its_reason_and_its_time(desk: Desk) -> None:
    desk.reads(f'User: "I keep bees, and my token is {TOKEN}"', "--no-redact")
    desk.fails()
    desk.cli("tell", "BTC is my #1 crypto", code=9)
    failed = desk.cli("extract", code=9)
    assert TOKEN not in failed.out + failed.err
    assert "e1: The language model" in failed.err
    assert "asked in vain  2" in failed.out
    assert '  waits      typed     e1  User: "I keep bees' in failed.out
    assert "1 failure, again from " in failed.out
    found = desk.cli("extract", "--json").json()  # nothing may be asked yet: no failure
    assert (found["summaries"], found["failed"], found["told_failed"]) == (0, [], [])
    assert {(one["kind"], *one["ids"]) for one in found["unanswered"]} == {
        ("typed", "e1"),
        ("tell", "e2"),
    }
    for one in found["unanswered"]:
        assert (one["state"], one["attempts"], one["command"]) == ("waiting", 1, "factbook extract")
        assert "status 400" in one["reason"]
        assert one["until"].endswith("Z")
    assert "Nothing is to be asked about now." in desk.cli("extract").out


def make_due(desk: Desk) -> None:
    """Let the pause before the next try be over."""
    with sqlite3.connect(desk.db) as db:
        db.execute("UPDATE model_task SET until = 0")
    db.close()


def test_a_message_that_fails_again_is_told_and_one_that_works_is_stored(desk: Desk) -> None:
    desk.fails()
    desk.cli("tell", "BTC is my #1 crypto", code=9)
    desk.cli("tell", "Teal is my #1 color", code=9)
    make_due(desk)
    desk.answers(ranked(1, "BTC"), ranked(1, "Blue", "user.favorites.color"))
    again = desk.cli("extract", code=9)
    assert 'Facts-S(1)  "BTC is my #1 crypto"' in again.out
    assert "warning: e2: operation 1: the message does not hold 'Blue'" in again.err
    assert "  waits      tell      e2  Teal is my #1 color" in again.out
    make_due(desk)
    desk.fails()
    found = desk.cli("extract", "--json", code=9).json()
    assert [one["episode"] for one in found["told_failed"]] == [2]
    assert "status 400" in found["told_failed"][0]["why"]
    assert [one["attempts"] for one in found["unanswered"]] == [3]


@pytest.fixture
def aside(desk: Desk) -> Desk:
    """A database in which one input of every kind is set aside."""
    log = desk.db.parent / "5a3e1c00-0000-4000-8000-000000000001.jsonl"
    log.write_text(call("a1", "Bash", command="frobnicate --quietly\n") + "\n", encoding="utf-8")
    desk.cli("ingest", "--no-embed", log)
    desk.reads('User: "I keep bees on the roof."')
    desk.fails()
    clock = FrozenClock(now_ms() - DAY)
    config = ModelConfig(url=desk.server.url)
    with desk.memory(clock=clock, model=config) as memory:
        low = memory.remember("Tea wakes me up").id
        high = memory.remember("Coffee is for the evening").id
        pair = JudgePair(
            low_id=low,
            high_id=high,
            relation="ambiguous",
            rule="close",
            detail="one may be the other's opposite",
            similarity=0.8,
        )
        memory._context.write([pair], Trigger.COMMAND)
        with pytest.raises(Exception, match="gave no usable answer"):
            memory.tell("BTC is my #1 crypto")
        for _ in range(policy.MODEL_ATTEMPTS):
            failure = FailTask(
                kind="judge", target=task_of((low, high)), version="1", error="it gave no verdict"
            )
            memory._context.write([failure], Trigger.COMMAND)
            memory.typed.extract_typed()
            memory.typed.extract_commands()
            memory.keyed.retry_told()
            clock.advance(days=0.1)
        states = {one.kind: one.state for one in memory.maintenance.model_tasks()}
        assert states == dict.fromkeys(("typed", "tell", "commands", "judge"), "aside")
    return desk


def test_what_is_set_aside_is_seen_by_everyone_who_looks(aside: Desk) -> None:
    cli = aside.cli
    asked = aside.server.requests[:]
    shown = cli("extract").out
    assert aside.server.requests == asked  # what is set aside is not asked about
    assert "asked in vain  4" in shown
    assert '  set aside  typed     e3  User: "I keep bees on the roof."' in shown
    assert "5 failures; `factbook extract --retry` asks again" in shown
    assert "5 failures; `factbook extract --commands --retry` asks again" in shown
    assert "`factbook extract --retry` and then `factbook consolidate` asks again" in shown
    assert "Tea wakes me up | Coffee is for the evening" in shown
    stats = cli("stats").out
    assert "asked in vain" in stats
    assert "4 set aside   of a language model; `factbook doctor`" in stats
    unanswered = cli("stats", "--json").json()["unanswered"]
    assert {one["kind"]: one["state"] for one in unanswered} == dict.fromkeys(
        ("typed", "tell", "commands", "judge"), "aside"
    )
    assert all(one["until"] is None and one["reason"] and one["what"] for one in unanswered)
    examined = cli("doctor", "--json").json()
    told = [one for one in examined["findings"] if one["name"] == "unanswered"]
    assert (examined["ok"], {one["level"] for one in told}) == (True, {"warn"})
    assert len(told) == 4
    said = "\n".join(one["detail"] for one in told)
    assert 'typed e3 “User: "I keep bees on the roof."” is set aside, 5 failures;' in said
    assert "`factbook extract --retry` asks the model again; the last: The language model" in said
    assert "is set aside" in cli("doctor").out


def test_retry_frees_every_kind_that_was_set_aside(aside: Desk) -> None:
    assert "no model is configured" in aside.cli("extract", "--retry", env=OFF, code=9).err
    with aside.memory() as memory:  # without a model nothing changed
        assert {one.state for one in memory.maintenance.model_tasks()} == {"aside"}
    aside.answers(claim("Keeps bees on the roof"), ranked(1, "BTC"))
    found = aside.cli("extract", "--retry", "--json").json()
    assert (found["revived"], found["summaries"], len(found["told_again"])) == (4, 1, 1)
    assert {one["kind"]: (one["state"], one["attempts"]) for one in found["unanswered"]} == {
        "commands": ("waiting", 0),
        "judge": ("waiting", 0),
    }
    commands = {one["kind"]: one["command"] for one in found["unanswered"]}
    assert commands == {"commands": "factbook extract --commands", "judge": "factbook consolidate"}
    assert "no answer yet, again from" in aside.cli("extract").out


def test_retry_says_how_many_were_freed(aside: Desk) -> None:
    aside.fails()
    shown = aside.cli("extract", "--commands", "--retry", code=9)
    assert shown.out.startswith("4 inputs no more set aside\n")
    assert "1 command: The language model" in shown.err


def test_commands_that_an_answer_leaves_out_are_a_failure(desk: Desk) -> None:
    log = desk.db.parent / "5a3e1c00-0000-4000-8000-000000000001.jsonl"
    log.write_text(call("a1", "Bash", command="frobnicate --quietly\n") + "\n", encoding="utf-8")
    desk.cli("ingest", "--no-embed", log)
    desk.answers({"commands": []})
    left_out = desk.cli("extract", "--commands", code=9)
    assert "0 commands read by the model in 1 call" in left_out.out
    assert "warning: 1 command: the model's answer left" in left_out.err
    assert "  waits      commands  e2  Bash command: frobnicate --quietly" in left_out.out
    make_due(desk)
    desk.answers({"commands": []})
    found = desk.cli("extract", "--commands", "--json", code=9).json()
    assert (found["read"], found["calls"], found["failed"][0]["commands"]) == (0, 1, 1)
    assert [one["kind"] for one in found["unanswered"]] == ["commands"]
    make_due(desk)
    desk.answers({"commands": [{"id": 1, "hosts": [], "operations": [], "files": []}]})
    read = desk.cli("extract", "--commands", "--json").json()
    assert (read["read"], read["failed"], read["unanswered"]) == (1, [], [])


def test_extract_without_a_model_says_what_to_set(desk: Desk) -> None:
    desk.reads('User: "I keep bees on the roof."')
    for more in ((), ("--commands",)):
        error = desk.cli("extract", *more, "--json", env=OFF, code=9).json()["error"]
        assert (error["kind"], error["failure"]) == ("ModelError", "not_configured")
        assert "label" not in error
    assert "too small" in desk.cli("extract", "--limit", "0", code=2).err


def test_a_night_names_the_pairs_that_were_asked_about_in_vain(aside: Desk) -> None:
    aside.cli("extract", "--retry", code=9)
    aside.fails()
    report = aside.cli("consolidate", "--json").json()
    assert [one["kind"] for one in report["unanswered"]] == ["judge"]
    assert report["unanswered"][0]["what"] == "Tea wakes me up | Coffee is for the evening"
    assert "asked in vain  1" in aside.cli("consolidate", "--dry-run", env=OFF).out
    aside.cli("review", "pair", *report["unanswered"][0]["ids"], "keep")
    kinds = {one["kind"] for one in aside.cli("stats", "--json").json()["unanswered"]}
    assert kinds == {"typed", "tell", "commands"}  # what a person has decided waits no more


# --- what was refused, and what it cost -----------------------------------------------------------


def test_rejections_are_chosen_and_summed_up(desk: Desk) -> None:
    desk.reads('User: "I play the clarinet in a band."')
    desk.answers(claim("Owns a yacht"))
    desk.cli("extract")
    shown = desk.cli("rejections", "--typed").out
    assert "Owns a yacht" in shown
    (one,) = desk.cli("rejections", "--typed", "--json").json()["rejections"]
    assert one["record"]["extracted_text"] == "Owns a yacht"
    assert desk.cli("rejections", "--reason", one["reason"], "--json").json()["rejections"] == [one]
    assert desk.cli("rejections", "--type", "USER_PATTERN").out == "Nothing was refused.\n"
    assert desk.cli("rejections", "--rule", "typed:user_fact", "--json").json()["rejections"]
    assert desk.cli("rejections", "--owner", "nobody").out == "Nothing was refused.\n"
    summed = desk.cli("rejections", "--summary", "--json").json()
    assert summed["last"] == 1
    assert summed["text"] == desk.cli("rejections", "--summary").out.rstrip("\n")
    assert "is no reason" in desk.cli("rejections", "--reason", "mood", code=2).err
    assert "is no type" in desk.cli("rejections", "--type", "FACT", code=2).err


def test_the_cost_is_told_by_day_and_only_a_day_is_one(desk: Desk) -> None:
    desk.cli("remember", "I live in Porto")
    assert desk.cli("stats", "--cost").out == "No call of a model was made.\n"
    desk.answers(ranked(1, "BTC"))
    desk.cli("tell", "BTC is my #1 crypto")
    desk.fails()
    desk.cli("tell", "ETH is my #2 crypto", code=9)
    found = desk.cli("stats", "--cost", "--json").json()
    assert [(one["purpose"], one["outcome"]) for one in found["calls"]] == [
        ("tell", "http"),
        ("tell", "ok"),
    ]
    assert found["total"]["calls"] == 2
    assert "2 calls, " in desk.cli("stats", "--cost", "--since", "2020-01-31").out
    assert desk.cli("stats", "--cost", "--since", "2999-01-01", "--json").json()["calls"] == []
    for wrong in ("x", "7d", "20260101", "2026-W01-1", "2026-02-30"):
        error = desk.cli("stats", "--cost", "--since", wrong, code=2).err
        assert f"--since {wrong} is no day; give one like 2026-11-01" in error


def test_doctor_asks_the_model_what_it_is(desk: Desk) -> None:
    assert "off: nothing is configured" in desk.cli("doctor", "--llm", env=OFF).out
    desk.server.script = Reply.json({"sky": "rain", "degrees": 9, "words": ["wet"], "wind": None})
    found = desk.cli("doctor", "--llm", "--json").json()
    assert (found["ok"], {one["level"] for one in found["findings"]}) == (True, {"ok"})
    assert {"configured", "model", "answer"} <= {one["name"] for one in found["findings"]}
    other = desk.cli("doctor", "--llm", "--llm-model", "other", "--llm-timeout", "5", code=1).out
    assert "other is not there" in other
    assert "5 seconds a call" in other
    desk.server.stop()
    gone = desk.cli("doctor", "--llm", "--json", code=1).json()
    assert gone["ok"] is False


# --- a question that waits ------------------------------------------------------------------------


@pytest.fixture
def asked(desk: Desk) -> Desk:
    """Two lists, and a message that names neither: proposal 1."""
    for said in ("BTC is my #1 favorite crypto", "Teal is my #1 favorite color"):
        desk.cli("tell", "--planner", "rules", said)
    desk.cli("tell", "--planner", "rules", "Make crimson my #1", code=10)
    return desk


def test_a_question_is_answered_by_the_model_that_is_named(asked: Desk) -> None:
    shown = asked.cli("review").out
    assert "review accept 1 --text" in shown
    words = ("--text", "Crimson is my #1 favorite color")
    nobody = asked.cli("review", "accept", "1", *words, env=OFF, code=9)
    assert nobody.out.startswith("Facts-F\nFacts system failed: no Facts LLM is configured")
    error = asked.cli("review", "accept", "1", *words, "--json", env=OFF, code=9).json()["error"]
    assert (error["failure"], error["label"]) == ("not_configured", "Facts-F")
    assert "is no planner" in asked.cli("review", "accept", "1", "--planner", "x", code=2).err
    assert "--llm-url" in asked.cli("review", "accept", "1", "--llm-url", "x y", code=2).err
    asked.answers(ranked(1, "Crimson", "user.favorites.color"))
    done = asked.cli(
        "review", "accept", "1", *words, "--llm-url", asked.server.url, "--llm-model", "other",
        env={"FACTS_LLM_URL": ""},
    )  # fmt: skip
    assert asked.server.requests[-1].model == "other"
    assert done.out.splitlines()[0] == "Facts-U(1)"
    assert done.out.splitlines()[1] == "  updated   user.favorites.colors.1 = Crimson"
    assert "accepted" in done.out
    assert asked.cli("review", "--json").json()["proposals"] == []


def test_a_question_is_answered_by_rules_only_where_they_are_named(asked: Desk) -> None:
    answer = asked.cli(
        "review", "accept", "1", "--planner", "rules",
        "--text", "Crimson is my #1 favorite color", "--json", env=OFF,
    ).json()  # fmt: skip
    assert (answer["state"], answer["planner"]) == ("accepted", "rules")
    assert answer["label"] == "Facts-U(1) by rules"
    assert [action for _, action in answer["receipt"]["keys"]] == ["update"]
    assert asked.server.requests == []


def test_json_is_one_document_whatever_happens(desk: Desk) -> None:
    desk.cli("remember", "I live in Porto")
    desk.fails()
    for arguments in (
        ("tell", "BTC is my #1 crypto"),
        ("ask", "What is my #1 crypto?"),
        ("tell", "--planner", "rules", "blah blah"),
        ("tell", "--owner", "", "hello"),
        ("stats", "--cost", "--since", "x"),
    ):
        ended = desk.cli(*arguments, "--json", code=9 if len(arguments) == 2 else 2)
        assert json.loads(ended.out)["error"]["message"]


# --- turns ----------------------------------------------------------------------------------------


def test_turns_are_read_and_what_is_refused_is_told(desk: Desk) -> None:
    said = "I keep bees on the roof"
    with Memory(desk.db, key_file=desk.cli.home / "redaction.key", model=None) as memory:
        memory.add_turn(f"{said}.")
    good = {"statement": said, "quote": said, "confidence": 0.9}
    items = [
        good,
        {**good, "statement": "I keep goats", "quote": "I keep goats"},
        {**good, "confidence": 7},
    ]
    empty: dict[str, Any] = {"preferences": [], "directives": [], "entities": [], "changes": []}
    desk.answers({"turns": [{"id": 1, "statements": items, **empty}]})
    read = desk.cli("extract", "--turns", "--json").json()
    assert (read["read"], read["offered"], read["left"]) == (1, 3, 0)
    assert read["refused"] == {"no_span": 1, "malformed": 1}
    assert read["receipt"]["stored"] == 1
    assert said in desk.cli("facts").out
    assert "0 turns read by the model in 0 calls" in desk.cli("extract", "--turns").out
    with desk.memory(model=None) as memory:
        memory.add_turn("My sister paints boats in Bodø.")
    desk.fails()
    failed = desk.cli("extract", "--turns", code=9)
    assert "1 turn: " in failed.err
    assert "It waits." in failed.err
    assert "`factbook extract --turns` asks again" in failed.out
    assert "turns" in desk.cli("stats", "--cost").out
    desk.cli("extract", "--turns", "--commands", code=2)
    desk.cli("extract", "--turns", env=OFF, code=9)
