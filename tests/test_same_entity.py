"""What is one thing: names by rules, descriptions by what their attributes tell."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook.gate.same_entity import (
    Description,
    SameEntityVerdict,
    TermRarity,
    best_match,
    compare,
    compare_all,
    known_as,
)
from factbook.gate.terms import MOST_TERMS, align, terms_of
from factbook.memory import Memory

# --- terms ----------------------------------------------------------------------------------------


def test_what_one_text_writes_as_one_word_is_found_in_the_other() -> None:
    both = align(terms_of("cush top for mx 5500"), terms_of("cushtop mx5500"))
    assert (list(both.only_a), list(both.only_b)) == ([], [])


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_can_be_compared(a: str, b: str) -> None:
    one, other = Description(name=a), Description(name=b, attributes={"kind": a})
    for found in (compare(one, other), compare(one, Description(name=b), cosine=0.9)):
        assert 0.0 <= found.score <= 1.0
        assert found.why
    same = compare(one, one, cosine=1.0)
    assert same.verdict in (
        SameEntityVerdict.MERGE,
        SameEntityVerdict.DIFFERENT,
    )  # different only without any name


def test_a_page_that_poses_as_a_name_is_read_in_bounded_time() -> None:
    page = " ".join(f"word{n} {n}" for n in range(20_000))
    assert len(terms_of(page)) == MOST_TERMS
    assert compare(Description(name=page), Description(name="word1"), cosine=0.9).score <= 1


# --- names ----------------------------------------------------------------------------------------


def test_without_a_cosine_only_what_is_written_alike_is_merged() -> None:
    for cosine in (math.nan, math.inf, 7.0):
        one, other = Description(name="moka pot"), Description(name="moka pots")
        assert compare(one, other, cosine=cosine).verdict is SameEntityVerdict.DIFFERENT
        assert compare(one, one, cosine=cosine).verdict is SameEntityVerdict.MERGE


def test_an_alias_is_a_name() -> None:
    known = Description(name="kef ls50 meta", aliases=("ls fifty",))
    assert compare(Description(name="LS Fifty"), known).verdict is SameEntityVerdict.MERGE


def test_the_best_of_the_known_is_matched() -> None:
    known = ["python 2", "python 3", "moka pot"]
    found = best_match("moka pots", known, [0.1, 0.1, 0.95])
    assert found is not None
    assert (found.index, found.verdict) == (2, "merge")
    assert best_match("python 4", known, [0.9, 0.9, 0.1]) is None
    assert best_match("tea", []) is None
    aliased = best_match("percolator", [Description(name="moka pot", aliases=("percolator",))])
    assert aliased is not None
    assert aliased.verdict is SameEntityVerdict.MERGE


def test_a_name_that_fits_two_known_ones_equally_is_asked_about() -> None:
    found = best_match("s24", ["samsung s24", "acme s24"], [0.9, 0.9])
    assert found is not None
    assert found.verdict is SameEntityVerdict.ASK
    exact = best_match("samsung s24", ["samsung s24", "s24"], [1.0, 0.9])
    assert exact is not None
    assert (exact.index, exact.verdict) == (0, SameEntityVerdict.MERGE)


# --- descriptions ---------------------------------------------------------------------------------


def song(title: str, artist: str, album: str, length: str) -> Description:
    return Description(name=title, attributes={"artist": artist, "album": album, "length": length})


ARTISTS = {"The Tall Pines": "Barn Light", "Ada Wren": "Low Tide", "Port Hollow": "Ninth Pier"}
TITLES = (
    *("Harbor Road", "Paper Lantern", "Second Winter", "Old Copper", "Glass Orchard"),
    *("Night Ferry", "Salt and Amber", "Quiet Engine", "Barley Moon", "Driftwood Choir"),
)


def songs() -> tuple[list[tuple[Description, Description]], list[bool]]:
    """Return pairs of two catalogues: each song with itself, a remix, and its album's others."""
    pairs, gold = [], []
    for artist, album in ARTISTS.items():
        mine = [
            song(f"{t} {artist[:3]}", artist, album, f"3:{10 + n}") for n, t in enumerate(TITLES)
        ]
        theirs = [
            song(
                one.name.upper(),
                artist,
                f"{album} ( Deluxe )" if n % 2 else album,
                one.attributes["length"],
            )
            for n, one in enumerate(mine)
        ]
        remix = [song(f"{one.name} ( Remix )", artist, album, "5:40") for one in theirs]
        for n, one in enumerate(mine):
            for other, same in (
                (theirs[n], True),
                (remix[n], False),
                (theirs[n - 1], False),
                (theirs[n - 2], False),
                (theirs[n - 3], False),
            ):
                pairs.append((one, other))
                gold.append(same)
    return pairs, gold


def background(pairs: list[tuple[Description, Description]]) -> TermRarity:
    distinct = {repr(one): one for pair in pairs for one in pair}
    return TermRarity.of(list(distinct.values()), pairs)


def test_what_attributes_tell_is_learned_from_pairs_without_labels() -> None:
    """The songs of one album share all but name and length; a remix shares all but length."""
    pairs, gold = songs()
    known = background(pairs)
    assert known.weights("length")[2] > known.weights("artist")[2]
    said = compare_all(pairs, background=known)
    assert [one.likely for one in said] == gold
    merged = [
        same for one, same in zip(said, gold, strict=True) if one.verdict is SameEntityVerdict.MERGE
    ]
    assert merged
    assert all(merged)


def test_values_under_the_wrong_name_still_agree() -> None:
    pairs, gold = songs()
    moved = [
        (
            Description(
                name=f"{one.name} {one.attributes['artist']} {one.attributes['length']}",
                attributes={"album": one.attributes["album"], "artist": "", "length": ""},
            ),
            other,
        )
        for one, other in pairs
    ]
    said = compare_all(moved, background=background(moved))
    wrong = sum(one.likely is not same for one, same in zip(said, gold, strict=True))
    assert wrong <= len(gold) // 20


def test_agreeing_never_tells_against_nor_disagreeing_for() -> None:
    pairs, _ = songs()
    known = background(pairs)
    for attribute in ("artist", "album", "length", "never seen"):
        low, middle, high = known.weights(attribute)
        assert low <= 0 <= high
        assert low <= middle <= high


def product(name: str, price: str = "", phone: str = "") -> Description:
    return Description(name=name, attributes={"price": price, "phone": phone})


def test_model_numbers_decide_over_words() -> None:
    kept = product("acme dx-150 digital camera silver", "99.00")
    other = product("acme dx170 digital camera silver", "99.00")
    same = product("acme camera dx150", "94.50")
    assert not compare(kept, other).likely
    assert compare(kept, other).verdict is not SameEntityVerdict.MERGE
    assert compare(kept, same).likely
    assert "dx150 and dx170" in compare(kept, other).why


def test_numbers_that_differ_are_never_merged_unasked() -> None:
    first = Description(name="photo studio 5.0", attributes={"maker": "acme", "price": "49.99"})
    second = Description(name="photo studio 6.0", attributes={"maker": "acme", "price": "49.99"})
    assert compare(first, second).verdict is not SameEntityVerdict.MERGE


def test_a_telephone_is_a_name_of_its_own() -> None:
    here = product("grotta", phone="404/555-0136")
    there = product("la grotta ristorante", phone="404-555-0136")
    elsewhere = product("la grotta ristorante", phone="212-555-0199")
    assert compare(here, there).score > compare(here, elsewhere).score
    assert compare(here, there).likely
    assert compare(here, elsewhere).verdict is not SameEntityVerdict.MERGE


def test_years_are_equal_or_not() -> None:
    one = Description(name="a survey of joins", attributes={"year": "1999"})
    for year, most in (("2001", 0.99), ("1999", 1.0)):
        other = Description(name="a survey of joins", attributes={"year": year})
        assert compare(one, other).score <= most
    apart = compare(one, Description(name="a survey of joins", attributes={"year": "2003"}))
    assert apart.score < compare(one, one).score
    assert apart.verdict is not SameEntityVerdict.MERGE


def test_comparing_is_symmetric_and_repeats() -> None:
    pairs, _ = songs()
    known = background(pairs)
    for one, other in pairs[:30]:
        assert compare(one, other, background=known) == compare(one, other, background=known)
        back = compare(other, one, background=known)
        assert back.score == pytest.approx(compare(one, other, background=known).score, abs=1e-3)


def test_no_pairs_and_no_descriptions_are_legal() -> None:
    empty = TermRarity.of([])
    assert compare_all([], background=empty) == []
    one = product("moka pot", "20")
    assert compare(one, one, background=empty).likely
    assert compare(one, one, background=TermRarity.of([one])).score <= 1


def test_a_name_written_with_a_capital_keeps_its_number() -> None:
    known = {"car": "car", "espresso machine": "espresso machine"}
    assert known_as("cars", known, written="find me stuff about Cars") is None
    assert known_as("cars", known, written="find me stuff about cars") == "car"
    assert known_as("espresso machines", known, written="Espresso machines") == "espresso machine"


def test_what_is_known_under_its_own_name_is_that() -> None:
    assert known_as("speakers", {"speaker": "speaker", "speakers": "speakers"}) == "speakers"


@pytest.mark.parametrize(
    ("first", "then"), [("speaker", "speakers"), ("espresso machines", "espresso machine")]
)
def test_what_is_liked_in_both_numbers_is_one_entity(tmp_path: Path, first: str, then: str) -> None:
    with Memory(tmp_path / "mine.db", key_file=tmp_path / "key", search_config=None) as memory:
        memory.interests.like(first)
        memory.interests.like(then)
        assert [one.name for one in memory.interests.entities()] == [first]
