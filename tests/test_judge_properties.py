"""What holds of the judge for any texts: total, symmetric, and never careless with a merge."""

from __future__ import annotations

import string

from hypothesis import example, given, settings
from hypothesis import strategies as st

from conftest import examples
from factbook.gate import grammar
from factbook.gate.judge import JudgedClaim, Judgement, Relation, judge, read

CLASH = (Relation.CONTRADICTION, Relation.SUPERSEDES)

WORDS = """
the a I my user Anna Ben Oslo Lyon dog cat house car tea coffee Python 3 5 two 2024-05-03
8 pm km minutes Monday May 3rd red blue big old not no never without always only may must
likes hates lives works moved sold has is was are bought sent to from in on at by with of
before after and but now longer used runs running is called named quickly 's n't , . if
"""

sentences = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=10).map(" ".join)
anything = st.text(max_size=80) | sentences
cosines = st.floats(min_value=-1, max_value=1) | st.just(float("nan"))


def judged(one: str, other: str, similarity: float) -> Judgement:
    """Judge two plain statements."""
    return judge(JudgedClaim(text=one), JudgedClaim(text=other), similarity=similarity)


@given(anything, cosines)
def test_a_text_is_the_same_as_itself(text: str, similarity: float) -> None:
    assert judged(text, text, similarity).relation is Relation.SAME


@settings(max_examples=examples(100))
@given(anything, anything, cosines)
def test_any_two_texts_have_a_judgement(one: str, other: str, similarity: float) -> None:
    found = judged(one, other, similarity)
    assert found.rule
    assert found.detail.endswith(".")


@settings(max_examples=examples(250))
@example("3 km km", "3 called km", 0.5)
@given(sentences, sentences, st.sampled_from([0.5, 0.8, 0.9, 0.99]))
def test_same_and_contradiction_hold_both_ways(one: str, other: str, similarity: float) -> None:
    there, back = judged(one, other, similarity), judged(other, one, similarity)
    if Relation.SUPERSEDES not in (there.relation, back.relation):
        assert (there.relation is Relation.SAME) == (back.relation is Relation.SAME)
    if there.relation is Relation.CONTRADICTION:
        assert back.relation in CLASH


@given(anything)
def test_reading_is_pure(text: str) -> None:
    assert read(text) == read(text)


@given(anything, anything, cosines)
def test_a_given_reading_changes_nothing(one: str, other: str, similarity: float) -> None:
    given_readings = judge(
        JudgedClaim(text=one),
        JudgedClaim(text=other),
        similarity=similarity,
        older_reading=read(one),
        newer_reading=read(other),
    )
    assert given_readings == judged(one, other, similarity)


SMALL_WORDS = {*grammar.NEGATORS, *grammar.PERSONS, *grammar.QUANTIFIERS, "dont", "doesnt"}

statements = st.builds(
    "{} {} {} {} {}".format,
    st.sampled_from(["The user", "Anna", "My sister", "The server", "We"]),
    st.sampled_from(["has", "bought", "needs", "is waiting for", "found", "will send"]),
    st.just("{}"),
    st.sampled_from(["books", "km of cable", "minutes", "euros", "old servers", "GB", ""]),
    st.sampled_from(["for Ben", "in Oslo", "every day", "on port", ""]),
)


@settings(max_examples=examples(75))
@given(
    statements,
    st.integers(min_value=0, max_value=10_000),
    st.integers(min_value=0, max_value=10_000),
)
def test_another_number_is_never_the_same(statement: str, first: int, second: int) -> None:
    if first != second:
        one, other = statement.format(first), statement.format(second)
        assert judged(one, other, 1.0).relation is not Relation.SAME


@given(statements, st.integers(min_value=2, max_value=99))
def test_a_number_more_is_never_the_same(statement: str, number: int) -> None:
    plain = statement.format("some")
    assert judged(statement.format(number), plain, 1.0).relation is not Relation.SAME


NEGATED = [("is", "is not"), ("has", "has no"), ("will", "will never"), ("lives", "doesn't live")]


@given(
    st.sampled_from(["The user", "Anna", "My dog", "The old server"]),
    st.sampled_from(NEGATED),
    st.text(alphabet=string.ascii_letters + " ", max_size=30),
)
def test_a_denial_is_never_the_same(who: str, verb: tuple[str, str], rest: str) -> None:
    one, other = (f"{who} {form} {rest}" for form in verb)
    assert judged(one, other, 1.0).relation is not Relation.SAME
    assert judged(other, one, 1.0).relation is not Relation.SAME


name_parts = st.text(alphabet=string.ascii_lowercase, min_size=3, max_size=9).map(str.capitalize)


@settings(max_examples=examples(75))
@given(
    st.sampled_from(["{} lives in Oslo", "I met {} in Oslo", "The dog is called {}"]),
    name_parts,
    name_parts,
)
def test_another_name_is_never_the_same(frame: str, one: str, other: str) -> None:
    if one != other and not {one.lower(), other.lower()} & SMALL_WORDS:
        found = judged(frame.format(one), frame.format(other), 1.0)
        assert found.relation is not Relation.SAME
