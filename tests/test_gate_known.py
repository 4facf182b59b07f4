"""What is known already: the thing that a name names, and the fact that a claim says again."""

from __future__ import annotations

import numpy as np
import pytest

from factbook.gate.known import (
    Admission,
    EntityClaim,
    NearestKnown,
    admit,
    contains,
    is_known,
    nearest,
)

SAYS = "The weight of the Denton is 7.5 kg."


def said(text: str, cosine: float = 1.0) -> EntityClaim:
    """Return a claim whose vector has this cosine to that of `SAYS`."""
    vector = np.array([cosine, (1.0 - cosine**2) ** 0.5], np.float32)
    return EntityClaim(says=text, text=text, vector=vector)


@pytest.mark.parametrize(
    ("text", "cosine", "is_same"),
    [
        (SAYS.upper(), 0.1, True),  # word for word, whatever their vectors
        ("The Denton's weight is 7.5 kg.", 0.8, True),  # in the same words
        ("The Denton's weight is 7.5 kg.", 0.3, False),  # too far apart to be compared
        ("The Denton weighs 7.6 kg.", 0.8, False),
        ("The Denton is made in Oslo.", 0.8, False),
    ],
)
def test_a_claim_repeats_what_says_the_same(text: str, cosine: float, *, is_same: bool) -> None:
    known = [said("The Denton is sold in Bergen.", 0.0), said(SAYS)]
    found = nearest("denton", said(text, cosine), known)
    assert found.cosine == pytest.approx(max(cosine, (1 - cosine**2) ** 0.5 if not is_same else 0))
    assert found.twin is (known[1] if is_same else None)


@pytest.mark.parametrize(
    ("known", "beginning", "is_known"),
    [
        ("The Osk is light, and it folds in ten seconds.", "The Osk is light.", True),
        ("The Osk weighs 4 kg and has two wheels.", "the Osk weighs 4 kg", True),
        ("The Osk is light.", "The Osk is light, and it folds in ten seconds.", False),
        ("The Osk weighs 4.5 kg, with a battery.", "The Osk weighs 4.", False),
        ("The Osk is not loud, and it is light.", "The Osk is light.", False),
        ("The Osk is light on the stairs.", "The Osk is light.", False),
        ("The Osk is light, and it folds.", "", False),
    ],
)
def test_the_beginning_of_a_known_sentence_is_nothing_new(
    known: str, beginning: str, *, is_known: bool
) -> None:
    assert contains(known, beginning) is is_known


def test_where_nothing_is_known_nothing_is_near() -> None:
    assert nearest("denton", said(SAYS), []) == NearestKnown(None, None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("denton", Admission(known="denton cargo")),
        ("the denton", Admission(known="denton cargo")),
        ("vela nine", Admission(removed="vela nine")),
        ("tarn", Admission()),
    ],
)
def test_a_name_brings_in_what_is_neither_known_nor_removed(name: str, expected: Admission) -> None:
    known = {"denton cargo": "denton cargo", "denton": "denton cargo"}
    assert admit(name, name, known=known, removed=["vela nine"], cosines={}) == expected


def test_what_is_known_again_is_not_held_to_be_removed() -> None:
    found = admit("denton", "Denton", known={"denton": "denton"}, removed=["denton"], cosines={})
    assert found == Admission(known="denton")


def test_a_part_of_a_known_name_is_known() -> None:
    assert is_known("halden q40", {"halden q40"})
    assert is_known("q40", {"halden q40"})
    assert not is_known("halden", {"halden q40"})  # without its number it may be another thing
