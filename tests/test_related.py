"""What the reader's network proposes of two statements, and what code does not let through."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from factbook import policy
from factbook.embed import bundled
from factbook.errors import ReaderError
from factbook.gate.judge import JudgedClaim, Judgement, Relation, judge
from factbook.gate.related import tells_apart
from factbook.language.reader.boosted import LEAF, Boosted
from factbook.language.reader.network import DATA, Networks
from factbook.language.reader.read import read
from factbook.language.reader.reading import Clause, Reading, Span
from factbook.language.reader.relate import RELATER, Chances, Relater, Scores

OLDER, NEWER = "My sister's flat is the one with the bats", "Bats live at my sister's place"
SAME = Chances(change=0.0, reword=1.0)
ENDS = Chances(change=1.0, reword=0.0)
MAYBE = Chances(change=policy.RELATED["ask"], reword=0.0)
SCORES = Scores(np.zeros(8, np.float32), np.zeros(8, np.float32))


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
        lambda *_: SCORES,
        lambda text: _reading(text, names=names, flags=flags if text == newer else (), of=of),
        lambda *_: 0.0,
        lambda _: chances,
    )
    return judge(JudgedClaim(text=older), JudgedClaim(text=newer), similarity=similarity, net=net)


def test_without_a_network_they_are_two_matters() -> None:
    told = judge(JudgedClaim(text=OLDER), JudgedClaim(text=NEWER), similarity=0.8)
    assert told.relation is Relation.DIFFERENT


@pytest.mark.parametrize(
    ("chances", "relation"),
    [(SAME, Relation.SAME), (ENDS, Relation.SUPERSEDES), (MAYBE, Relation.AMBIGUOUS)],
)
def test_what_is_sure_is_done_and_what_is_likely_is_asked(
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
    net = Relater(lambda *_: SCORES, _reading, lambda *_: 0.0, lambda _: SAME)
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


def test_trees_answer_as_they_were_grown() -> None:
    trees = Boosted(
        {
            # two trees of one answer each: beyond 0.5 of the second sign, and a leaf alone
            "sign": np.array([1, LEAF, LEAF, LEAF]),
            "bound": np.array([0.5, 0.0, 0.0, 0.0]),
            "left": np.array([1, 0, 0, 0]),
            "right": np.array([2, 0, 0, 0]),
            "value": np.array([0.0, -2.0, 2.0, 1.0]),
            "roots": np.array([[0, 3]]),
            "bias": np.array([0.0, 0.0]),
        }
    )
    assert trees.chances(np.array([9.0, 0.5], np.float32)) == pytest.approx(_softmax(-2.0, 1.0))
    assert trees.chances(np.array([0.0, 0.6], np.float32)) == pytest.approx(_softmax(2.0, 1.0))


def _softmax(*odds: float) -> list[float]:
    likely = np.exp(odds)
    return [float(one) for one in likely / likely.sum()]


def test_trees_of_other_networks_are_not_asked(tmp_path: Path) -> None:
    folder = shutil.copytree(DATA, tmp_path / "data")
    record = json.loads((folder / "reader.json").read_text())
    record["files"]["relater.onnx"]["sha256"] = "0" * 64
    (folder / "reader.json").write_text(json.dumps(record))
    with pytest.raises(ReaderError, match="train_related"):
        _ = Networks(folder).related


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My boss is Dr Anand", "Dr Anand never wears a tie"),
        ("Our cat Miso is seven", "Miso sleeps on the boiler"),
        ("Sipho is my brother in law", "Sipho raises pigeons"),
        ("I take sugar in my coffee", "I had two coffees at the station"),
    ],
)
def test_two_things_told_of_one_matter_stand_beside_each_other(older: str, newer: str) -> None:
    first, second = bundled().embed([older, newer])
    told = judge(
        JudgedClaim(text=older),
        JudgedClaim(text=newer),
        similarity=float(first @ second),
        net=RELATER,
    )
    assert told.relation in (Relation.DIFFERENT, Relation.AMBIGUOUS)


@pytest.mark.parametrize(
    ("older", "newer", "tied"),
    [
        ("The ferry at 8 is full", "The ferry at 11 is empty", False),
        ("Aisle B has 12 shelves", "Aisle C has 9 shelves", False),
        ("The adult fare is 9 francs", "The child fare is 4 francs", False),
        ("The bakery opens at 6", "The bakery closes at 13", False),
        (
            "The Tofte is a wood stove with a glass door and needs little care",
            "The Tofte is a wood stove whose glass door lasts about ten years",
            False,
        ),
        ("The review is on Tuesday", "The review was moved to Thursday", True),
        ("Our van is white", "Our van is green since the respray", True),
    ],
)
def test_of_things_nothing_is_likelier_than_the_network_says(
    older: str, newer: str, tied: bool
) -> None:
    first, second = bundled().embed([older, newer])
    told = judge(
        JudgedClaim(text=older),
        JudgedClaim(text=newer),
        similarity=float(first @ second),
        net=RELATER,
    )
    assert (told.relation is not Relation.DIFFERENT) == tied
