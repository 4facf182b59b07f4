"""Hold summaries against documents: each rule by what it catches and what it leaves alone."""

from __future__ import annotations

import pytest

from factbook.gate.grounding import Support, ground_summary, read_passage
from factbook.gate.grounding.summary import RULES

FERRY = (
    "The ferry company Norlund raised its fares by 12% on Monday, the second increase in two "
    "years. Chief executive Petra Holm said the company had lost 3 million euros since January "
    "because oil became expensive. Passengers on the island of Vell protested at the harbour. "
    "The council has not decided whether it will support the company. Norlund runs a ship every "
    "three days and employs 80 sailors."
)

FALSE = [
    ("Holm, and also Anders Lind, told of losses.", "name"),
    ("Norlund raised its fares by 15% on Monday.", "number"),
    ("Norlund raised its fares by 12% on Tuesday.", "number"),
    ("A ship runs every three weeks.", "number"),
    ("Norlund did not raise its fares by 12%.", "negated"),
    ("Passengers on the island of Vell did not protest at the harbour.", "negated"),
    ("Only passengers on the island of Vell protested at the harbour.", "limit"),
    ("The ferry company Norlund lowered its fares by 12% on Monday.", "replaced"),
    ("The company had lost 80 euros since January because oil became expensive.", "replaced"),
    ("The company lost euros since January because oil became cheap.", "replaced"),
    ("Norlund employs 80 sailors, bakers, tailors and goldsmiths.", "invented"),
    ("The orchestra played a symphony while a choir sang in the church.", "invented"),
]


def test_one_bad_sentence_refuses_the_whole() -> None:
    summary = "Norlund raised fares by 12%. Its captain is Anders Lind."
    found = ground_summary(summary, read_passage(FERRY))
    assert found.why == "It has a name that is not there: anders."


def test_a_quote_is_exact_and_words_of_ones_own_are_listed() -> None:
    exact = ground_summary("Norlund runs a ship every three days", read_passage(FERRY))
    assert (exact.support, exact.missing) == (Support.EXACT, ())
    told = ground_summary("The outfit Norlund raised its fares.", read_passage(FERRY))
    assert (told.support, told.missing) == (Support.SIMILAR, ("outfit",))


def test_a_name_has_no_synonym() -> None:
    document = "We sell Smart Water Control to shops."
    found = ground_summary("They sell Clever Water Control to shops.", read_passage(document))
    assert found.conflict == "name"


@pytest.mark.parametrize(
    ("summary", "document"),
    [
        ("The girl sang for her sister Ida.", "Ida: The girl sang for my little brother Ida."),
        ("Sales had a steep increase in spring.", "Sales had a very steep decrease in spring."),
    ],
)
def test_what_stands_between_equal_words(summary: str, document: str) -> None:
    found = ground_summary(summary, read_passage(document))
    assert found.conflict in ("replaced", "antonym", "other_kind")


def test_an_empty_side_supports_nothing() -> None:
    assert not ground_summary("", read_passage(FERRY)).grounded
    assert not ground_summary("Norlund raised fares.", read_passage("")).grounded


def test_every_rule_says_what_it_finds() -> None:
    assert len({rule.says for rule in RULES}) == len(RULES)
    shown = {conflict for _, conflict in FALSE} | {"antonym", "other_kind", "unrelated"}
    assert shown == {rule.conflict for rule in RULES}
