"""What the reader's network proposes of two statements, and what code does not let through."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.related import STRANGER, choose

from factbook import policy
from factbook.gate.judge import JudgedClaim, Judgement, Relation, judge
from factbook.gate.related import RelatedTexts, tells_apart
from factbook.language.reader.read import read
from factbook.language.reader.reading import Clause, Reading, Span
from factbook.language.reader.relate import Chances, Relater

OLDER, NEWER = "My sister's flat is the one with the bats", "Bats live at my sister's place"
SAME = Chances(change=0.0, changed_back=0.0, reword=1.0)
ENDS = Chances(change=1.0, changed_back=1.0, reword=0.0)
MAYBE = Chances(change=1.0, changed_back=0.0, reword=0.0)


def _reading(
    text: str, *, names: tuple[str, ...] = (), flags: tuple[str, ...] = (), of: str = "me"
) -> Reading:
    clauses = [
        Clause(0, len(text), "tell", of, 1.0, "home", frozenset(flags), 0, len(text.split()))
    ]
    spans = [Span(text.find(n), text.find(n) + len(n), "person", 1.0) for n in names if n in text]
    return replace(read(text), clauses=clauses, names=spans)


def _judged(
    chances: Chances,
    older: str = OLDER,
    newer: str = NEWER,
    *,
    similarity: float = 0.8,
    names: tuple[str, ...] = (),
    flags: tuple[str, ...] = (),
    of: str = "me",
) -> Judgement:
    net = Relater(
        lambda *_: chances,
        lambda text: _reading(text, names=names, flags=flags if text == newer else (), of=of),
        lambda *_: 0.0,
    )
    return judge(JudgedClaim(text=older), JudgedClaim(text=newer), similarity=similarity, net=net)


def test_without_a_network_they_are_two_matters() -> None:
    told = judge(JudgedClaim(text=OLDER), JudgedClaim(text=NEWER), similarity=0.8)
    assert told.relation is Relation.DIFFERENT


@pytest.mark.parametrize(
    ("chances", "relation"),
    [(SAME, Relation.SAME), (ENDS, Relation.SUPERSEDES), (MAYBE, Relation.AMBIGUOUS)],
)
def test_what_is_sure_both_ways_is_done_and_the_rest_is_asked(
    chances: Chances, relation: Relation
) -> None:
    assert _judged(chances).relation is relation
    assert _judged(chances, similarity=0.1).relation is Relation.DIFFERENT


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My rent is due on Friday the week after pay", "Payment for my flat has to go out Monday"),
        ("My knee got its operation back in 2019", "The surgeon did my knee during 2021"),
        ("My run along the river was 5 km", "The route I jog by the water has 8 km"),
        ("Our first child sings in a choir", "The choir has our boy who came second, number 2"),
    ],
)
def test_other_values_are_never_merged(older: str, newer: str) -> None:
    assert _judged(SAME, older, newer).relation is not Relation.SAME


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My aunt takes aspirin every morning", "My aunt makes aspirin every morning"),
        ("My sister lived in Turku", "My sister lives in Turku"),
        ("I will sell the red boat", "I sold the red boat"),
        ("My boat is 9 metres long and needs a berth", "A berth is what my long boat needs"),
    ],
)
def test_one_word_or_when_or_a_number_that_is_lost_is_left_to_the_rules(
    older: str, newer: str
) -> None:
    assert _judged(SAME, older, newer, similarity=0.95).relation is not Relation.SAME
    net = Relater(lambda *_: SAME, _reading, lambda *_: 0.0)
    assert tells_apart(older, newer, net) == ""  # who is asked may know better


def test_another_named_person_is_another_matter() -> None:
    older, newer = "My cousin Lena swims before work", "Before the office it is the pool for Marta"
    for chances in (SAME, ENDS, MAYBE):
        assert (
            _judged(chances, older, newer, names=("Lena", "Marta")).relation is Relation.DIFFERENT
        )


def test_what_is_only_wished_retires_nothing() -> None:
    assert _judged(ENDS, flags=("wish",)).relation is Relation.AMBIGUOUS


def test_two_dogs_are_not_one() -> None:
    older, newer = "A dog runs over a field", "Two dogs race across grass"
    for chances in (SAME, ENDS):
        told = _judged(chances, older, newer, of="world")
        assert told.relation not in (Relation.SAME, Relation.SUPERSEDES)


def test_numbers_are_chosen_within_their_bounds() -> None:
    def row(label: str, change: float, reword: float, cosine: float) -> tuple[str, RelatedTexts]:
        return label, RelatedTexts(Chances(change, change, reword), cosine, "", "")

    scores = [
        row("change", 0.96, 0.0, 0.6),
        row("reword", 0.0, 0.96, 0.6),
        row("lookalike", 0.55, 0.55, 0.6),
        row(STRANGER, 0.9, 0.9, 0.3),
    ]
    numbers, taken = choose(scores, dict.fromkeys(("merge", "end", "ask"), (0.0, 0.0)))
    assert numbers.keys() == policy.RELATED.keys()
    assert taken["merge"]["reword"] == taken["end"]["change"] == 100
    assert taken["merge"]["lookalike"] == taken["ask"][STRANGER] == 0
