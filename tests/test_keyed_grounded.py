"""What a message does not say is refused: values, moods, ranks, lists (seed 004)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from factbook.extract.keyed.clarify import forced_clarification, plan_clarification
from factbook.extract.keyed.contracts import FactsOp, FactsOpsResponse, FactsQueryPlan
from factbook.extract.keyed.grounded import op_objection
from factbook.extract.keyed.mentions import Heard, locate
from factbook.extract.keyed.wording import named_ranks, rank_value
from factbook.language.sentences import sentences
from rows import every

CRYPTO, COLORS = "user.favorites.crypto", "user.favorites.colors"


@given(st.text(), st.text(), st.text())
def test_what_is_located_is_a_span(before: str, value: str, after: str) -> None:
    message = f"{before} {value} {after}"
    place = locate(value, message)
    if place is not None:
        assert 0 <= place[0] < place[1] <= len(message)
        again = locate(message[place[0] : place[1]], message)
        assert again is not None
    assert len(Heard(message).without([value])) >= 0


def rank(value: str, at: int = 1, key: str = CRYPTO) -> FactsOp:
    return FactsOp(op="ranked_list_set", list_key=key, rank=at, value=value)


def test_what_takes_a_value_away_may_be_said_with_a_negation() -> None:
    gone = FactsOp(op="ranked_list_remove", list_key=CRYPTO, value="BTC")
    assert op_objection(gone, "I do not like BTC any more, remove it from my cryptos") is None
    many = FactsOp(op="ranked_list_append", list_key=CRYPTO, values=["BTC", "ETH"])
    assert op_objection(many, Heard("BTC is one of my favorites")) is not None
    assert op_objection(FactsOp(op="set", fact_key=f"{CRYPTO}.2", value="BTC"), "BTC #1")


@every(
    "message",
    [
        "My #1 crypto would be BTC",
        "BTC should be my #1 crypto",
        "I doubt BTC is my #1 crypto",
        "Let's pretend BTC is my #1 crypto",
    ],
)
def test_what_would_be_so_is_not_told(message: str) -> None:
    assert op_objection(rank("BTC"), message) is not None


@every("message", ["Get my crypto list", "Take my crypto list and add BTC", "Start my crypto list"])
def test_a_list_is_cleared_only_on_demand(message: str) -> None:
    assert op_objection(FactsOp(op="ranked_list_clear", list_key=CRYPTO), message) is not None


def test_ranks_as_people_say_them() -> None:
    assert named_ranks("my #1, number two, 3rd, fourth, spot 5 and my top pick") == {1, 2, 3, 4, 5}
    assert named_ranks("my top 3 films") == {1, 2, 3}
    assert named_ranks("1. Dune\n2. Alien") == {1, 2}
    assert rank_value("number twelve") == 12
    assert [
        span.of("A. Dr. No is it. Two!\nThree")
        for span in sentences("A. Dr. No is it. Two!\nThree")
    ]


# --- clarification --------------------------------------------------------------------------------


def response(*ops: FactsOp, asked: tuple[str, ...] = ()) -> FactsOpsResponse:
    return FactsOpsResponse(ops=list(ops), needs_clarification=list(asked))


WHICH = ["Which favorites list? crypto/colors/..."]


@every(
    ("message", "op", "lists", "asked"),
    [
        ("Make BTC my #1", rank("BTC"), [CRYPTO, COLORS], WHICH),
        ("Make BTC my #1 favorite, please", rank("BTC"), [CRYPTO, COLORS], WHICH),
        ("Make Crypto my #1", rank("Crypto"), [CRYPTO, COLORS], WHICH),
        ("Make BTC my #1", rank("BTC", key="user.favorites.btc"), [CRYPTO, COLORS], WHICH),
        ("Put BTC at the top of my list", rank("BTC"), [CRYPTO, COLORS], WHICH),
        ("BTC is my #1 crypto, red #1", rank("red", key=COLORS), [CRYPTO, COLORS], WHICH),
        ("Make BTC my #1 crypto", rank("BTC"), [CRYPTO, COLORS], []),
        ("Make BTC my #1 of the cryptos", rank("BTC"), [CRYPTO, COLORS], []),
        ("Make BTC my #1 coin", rank("BTC"), [CRYPTO, COLORS], []),
        ("BTC is first on my coin list", rank("BTC"), [CRYPTO, COLORS], []),
        ("Make BTC my #1", rank("BTC"), [CRYPTO], []),
        ("Make BTC my #1", rank("BTC"), [], []),
        ("Make BTC my #1", rank("BTC"), [COLORS], ["Which favorites list? colors/crypto/..."]),
        (
            "my timezone is Europe/Athens",
            FactsOp(op="set", fact_key="user.timezone", value="Europe/Athens"),
            [CRYPTO, COLORS],
            [],
        ),
        (
            "Make BTC my #1",
            FactsOp(op="set", fact_key=f"{CRYPTO}.1", value="BTC"),
            [CRYPTO, COLORS],
            WHICH,
        ),
    ],
)
def test_code_asks_back_whatever_the_model_guesses(
    message: str, op: FactsOp, lists: list[str], asked: list[str]
) -> None:
    """Seed 004, acceptance test 3, and ⚠: code forces a clarification."""
    assert forced_clarification(message, response(op), lists) == asked


def test_what_the_model_asks_comes_first() -> None:
    asked = response(asked=("Which one?",))
    assert forced_clarification("Make BTC my #1", asked, [CRYPTO]) == ["Which one?"]


def test_a_question_that_names_no_list_is_asked_back() -> None:
    plan = FactsQueryPlan(intent="facts_get_ranked_list", topic="crypto")
    lists = [CRYPTO, COLORS]
    assert plan_clarification("What's my #1?", plan, lists) == WHICH
    assert plan_clarification("What are my favorite cryptos?", plan, lists) == []
    assert plan_clarification("What coins do I like?", plan, lists) == []
    assert plan_clarification("What's my #1?", plan, [CRYPTO]) == []
