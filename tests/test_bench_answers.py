"""Hold the bench of mutated answers to what it promises: it sees what must not happen."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path

import apsw
import pytest
from bench import answers
from bench._common import BenchError
from bench.answers import Account, Desk, Mutant, Plan, Result, Site, Tally, Tell, Typed
from rich.console import Console

from factbook.errors import ModelError, ModelFailure
from factbook.extract.keyed.contracts import FactsOp, FactsOpsResponse
from factbook.extract.typed_replies import TypedAnswer
from factbook.llm import Message
from factbook.llm.answers import read_answer

CRYPTO = "user.favorites.crypto"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A memory as the bench prepares it for messages."""
    path = answers.template(Tell(), tmp_path)
    model = Mutant()
    outside = apsw.Connection(str(path))
    with answers._open(path, model) as memory:
        yield Desk(memory, model, outside)
    outside.close()


def played(site: Site, desk: Desk, data: bytes, *, n: int = 0) -> Account:
    """Give one answer to a call."""
    account = Account({site.name: Tally()})
    answers._one(site, desk, n, [data], account)
    return account


def good(site: Site, n: int = 0) -> bytes:
    """Return the good answer to a call."""
    return json.dumps(site.good(n)[0]).encode()


# --- what is to be seen ---------------------------------------------------------------------------


class Broken(Tell):
    """A call that goes wrong after its answer was read."""

    def __init__(self, fault: str) -> None:
        self.fault = fault

    def play(self, desk: Desk, n: int) -> list[Result]:
        results = super().play(desk, n)
        if self.fault == "crash":
            raise ZeroDivisionError("a bug")
        if self.fault == "write":
            desk.memory.remember("I was written all the same.", owner="owner-0")
        if self.fault == "unqueued":
            target = desk.memory.maintenance.model_tasks()[0].target
            desk.outside.execute("DELETE FROM model_task WHERE target = ?", (target,))
            results[0].dropped = self._unqueued(desk, f"said-{n}")
        return results


@pytest.mark.parametrize(
    ("fault", "counted"),
    [
        ("", "taken"),
        ("crash", "crashes"),
        ("write", "writes_on_failure"),
        ("unqueued", "silent_drops"),
    ],
)
def test_what_must_not_happen_is_counted(desk: Desk, fault: str, counted: str) -> None:
    site = Broken(fault)
    account = played(site, desk, b"sorry" if fault else good(site))
    names = ("taken", "crashes", "writes_on_failure", "silent_drops")
    assert {name: account.total(name) for name in names} == {
        name: int(name == counted) for name in names
    }
    assert [one["answer"] for one in account.examples] == (["sorry"] if fault else [])


def test_what_a_failure_may_write_is_no_memory(desk: Desk) -> None:
    site = Tell()
    account = played(site, desk, b"sorry")
    assert account.tallies["tell"].failures == {"invalid_json": 1}
    assert [one.state for one in desk.memory.maintenance.model_tasks()] == ["failed"]
    before = desk.touched()
    assert before == desk.touched_at_ask
    desk.memory.remember("I like tea.")
    assert desk.touched()[0] > before[0]


def test_good_answers_are_taken_whole(desk: Desk) -> None:
    site = Tell()
    for n in range(4):
        account = played(site, desk, good(site, n), n=n)
        assert account.examples == []
        assert account.tallies["tell"].taken + account.tallies["tell"].failures["refused"] == 1


def op(name: str, **given: object) -> FactsOp:
    return FactsOp.model_validate({"op": name, **given})


@pytest.mark.parametrize(
    ("ops", "held", "said"),
    [
        ([op("set", fact_key="user.city", value="Oslo")], {"user.city": "Oslo"}, ""),
        ([op("set", fact_key="user.city", value="Oslo")], {}, "set of user.city"),
        (
            [op("ranked_list_append", list_key=CRYPTO, values=["BTC", "ETH"])],
            {f"{CRYPTO}.1": "BTC"},
            "ranked_list_append",
        ),
        ([op("ranked_list_clear", list_key=CRYPTO)], {f"{CRYPTO}.1": "BTC"}, "ranked_list_clear"),
        ([op("ranked_list_clear", list_key=CRYPTO)], {"user.city": "Oslo"}, ""),
        (
            [op("ranked_list_remove", list_key=CRYPTO, value="BTC")],
            {f"{CRYPTO}.1": "btc"},
            "ranked_list_remove",
        ),
    ],
)
def test_an_operation_without_effect_is_seen(
    ops: Sequence[FactsOp], held: Mapping[str, str], said: str
) -> None:
    found = answers._without_effect(ops, held)
    assert said in found
    assert bool(found) == bool(said)


# --- the answers ----------------------------------------------------------------------------------


def test_the_mutant_fails_as_the_client_does() -> None:
    model = Mutant()
    messages = [Message(role="user", content="?")]
    for data, kind in (
        (b"\xff", ModelFailure.HTTP),
        (b"sorry", ModelFailure.INVALID_JSON),
        (b"[]", ModelFailure.SCHEMA),
    ):
        model.say(data)
        with pytest.raises(ModelError) as raised:
            model.ask(messages, FactsOpsResponse, purpose="tell")
        assert raised.value.kind is kind
        assert model.read == [None]
    model.say(b'{"ops": []}')
    assert model.ask(messages, FactsOpsResponse, purpose="tell") == FactsOpsResponse(ops=[])


@pytest.mark.parametrize("site", answers.sites(), ids=lambda site: site.name)
def test_every_good_answer_fits_its_type(site: Site) -> None:
    for n in range(8):
        for one in site.good(n):
            assert read_answer(json.dumps(one), site.shape)


def test_a_seed_gives_the_same_answers_and_half_of_them_are_made_to_fit() -> None:
    site = Typed()
    first, again = (
        [answers.drawn(site, n, rng) for n in range(200)]
        for rng in (random.Random(3), random.Random(3))
    )
    assert first == again

    def fits(data: bytes) -> bool:
        try:
            answer = TypedAnswer.model_validate_json(data)
        except ValueError:
            return False
        return answers.is_whole(answer)

    shares = [sum(fits(data) for (data,) in first[start::2]) for start in (0, 1)]
    assert shares[0] < 40 < 60 < shares[1]


def test_slices_share_out_every_answer(tmp_path: Path) -> None:
    for count in (1, 7, 100, 12_345):
        parts = answers.slices_of(count, seed=1, folder=tmp_path)
        assert sum(one.count for one in parts) == count
        assert all(0 < one.count <= answers.SLICE for one in parts)
    assert sum(site.share for site in answers.sites()) == 100


# --- the whole ------------------------------------------------------------------------------------


def test_a_small_run_finds_nothing_that_must_not_happen(tmp_path: Path) -> None:
    quiet = Console(file=StringIO())
    figures = answers.measure(400, seed=5, jobs=1, folder=tmp_path, console=quiet)
    assert figures["examples"] == []
    assert figures["n"] in (400, 401)  # a night has two answers
    names = ("crashes", "writes_on_failure", "silent_drops", "audit_problems")
    assert [figures[name] for name in names] == [0, 0, 0, 0]
    assert figures["candidates_per_s"]
    by_site = figures["sites"]
    assert isinstance(by_site, dict)
    assert all(of["taken"] and of["failures"] for of in by_site.values())
    assert list(tmp_path.iterdir()) == []
    answers.report(figures)


def test_the_gate_is_measured_on_claims() -> None:
    site = Typed()
    answer = TypedAnswer.model_validate_json(good(site))
    text = answers._SHORT
    twice = answer.model_copy(update={"extractions": [*answer.extractions, *answer.extractions]})
    found = answers.gate_speed([(text, twice)])
    assert found["candidates"] == 3
    assert found["candidates_per_s"] > 0
    assert answers.gate_speed([]) == {"candidates": 0, "candidates_per_s": 0}


@pytest.mark.parametrize("given", [["--n", "0"], ["--jobs", "0"], ["--folder", "/nowhere"]])
def test_bad_arguments_are_said(given: list[str]) -> None:
    with pytest.raises(BenchError):
        answers.main(given)


def test_examples_are_few_and_short() -> None:
    account = Account({Plan.name: Tally()})
    for _ in range(50):
        account.note("plan", "crash", [b"x" * 5_000])
    assert len(account.examples) == answers.SHOWN
    assert len(account.examples[0]["answer"]) <= 600
