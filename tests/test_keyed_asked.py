"""What a message asks for, whatever it is: seed 004, "no span, no fact"; see `data/language`."""

from __future__ import annotations

from bench.language_rules import keyed_operation
from hypothesis import given
from hypothesis import strategies as st

from factbook.extract.keyed.grounded import op_objection
from factbook.extract.keyed.named import ATTRIBUTES
from factbook.extract.keyed.tell import parse_tell


def test_what_the_rules_read_of_a_person_passes() -> None:
    """The rules' words for what a person has one of say its key to this gate too."""
    for words in ATTRIBUTES:
        for message in (f"my {words} is Xyz", f"Change my {words} to Xyz", f"forget my {words}"):
            told = parse_tell(message, lists={})
            assert [op_objection(op, message) for op in told.ops] == [None], message


_WORDS = (
    *("my", "favorite", "favorites", "#1", "second", "is", "are", "make", "BTC", "and", ",", "."),
    *("?", "not", "if", "crypto", "to", "from", "in", "add", '"', "move", "remove", "clear", "it"),
    *("user.x", "=", ":", "\n", "1.", "top", "3", "I", "no longer", "don't", "name", "list", "▮"),
)


@given(
    st.lists(st.sampled_from(_WORDS), max_size=16).map(" ".join),
    st.sampled_from(
        ["rank crypto 1 BTC", "append crypto BTC", "remove crypto BTC", "clear crypto", "set x BTC"]
    ),
)
def test_any_message_is_judged(message: str, short: str) -> None:
    said = op_objection(keyed_operation(short), message)
    assert said is None or said
