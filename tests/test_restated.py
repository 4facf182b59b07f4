"""Whether two sentences about one thing say the same in other words."""

from __future__ import annotations

import time

import pytest

from factbook.gate.restated import contains, restates


@pytest.mark.parametrize(
    ("entity", "one", "other"),
    [
        ("dune", "Frank Herbert wrote Dune.", "Dune was written by Frank Herbert."),
        ("dune", "Dune's author is Frank Herbert.", "It was written by Frank Herbert."),
        ("ls50", "The LS50 is 30 cm high.", "The height of the LS50 is 30 cm."),
        ("ls50", "The LS50 is manufactured in China.", "It is made in China."),
        ("ls50", "The LS50's price is 900 euros.", "The LS50 is priced at 900 euros."),
        ("ls50", "The LS50 launched in 2012.", "The LS50 was released in 2012."),
        ("osk", "The Osk has a lens of 28 millimetres.", "The lens of the Osk is a 28 mm one."),
        ("osk", "The Osk holds 0.7 litres of oil.", "The Osk takes 0.7 litres of oil."),
        ("osk", "The Osk stands on legs of 30 cm.", "The legs of the Osk measure 30 cm."),
        ("osk", "It stands on legs of thirty cm.", "The legs of the Osk are 30 cm."),
        ("osk", "The hall of the Osk has 120 seats.", "The Osk has 120 seats."),
        ("osk", "The oil tank of the Osk takes 2.5 litres.", "The Osk holds 2.5 litres of oil."),
        ("osk", "The Osk runs on two batteries.", "It takes 2 batteries."),
    ],
)
def test_the_same_in_other_words_is_seen(entity: str, one: str, other: str) -> None:
    assert restates(entity, one, other)
    assert restates(entity, other, one)


@pytest.mark.parametrize(
    ("entity", "one", "other"),
    [
        ("kodak", "Kodak sued Polaroid in 1976.", "Polaroid sued Kodak in 1976."),
        ("kodak", "Kodak bought a plant in Rochester.", "Kodak sold a plant in Rochester."),
        ("ls50", "It has 3 woofers and 5 ports.", "It has 5 woofers and 3 ports."),
        ("ls50", "The LS50 does not need a subwoofer.", "The LS50 needs a subwoofer."),
        ("ls50", "The LS50 weighs under 8 kg.", "The LS50 weighs 8 kg."),
        ("ls50", "The LS50 may get a successor in 2026.", "The LS50 gets a successor in 2026."),
        ("ls50", "The LS50 is sold in Canada.", "The LS50 is made in Canada."),
        ("ls50", "The LS50 costs 900 euros.", "The LS50 costs 900 dollars."),
        ("ls50", "The LS50 needs 40 watts.", "The LS50 has 40 watts."),
        ("dune", "Dune was written by Frank Herbert.", "Dune was read by Frank Herbert."),
        ("osk", "The Osk needs 2 litres of water.", "The Osk holds 2 litres of water."),
        ("osk", "The battery of the Osk lasts 3 hours.", "The Osk's battery charges in 3 hours."),
        ("osk", "The Osk stands on legs of 30 cm.", "The legs of the Osk measure 40 cm."),
        ("osk", "The Osk stands on legs of 30 cm.", "The arms of the Osk measure 30 cm."),
        ("osk", "The Osk stands on legs of 30 cm.", "The legs of the Osk measure 30 inches."),
        ("osk", "The hall of the Osk has 2 doors.", "The Osk has 2 doors."),
        ("osk", "The hall of the Osk has 120 seats.", "The bar of the Osk has 120 seats."),
        ("osk", "The hall of the Osk has 120 seats.", "The Osk has 120 rooms."),
        ("osk", "The strap of the Osk costs 25 euros.", "The Osk costs 25 euros."),
        ("osk", "The lid of the Osk has a width of 25 cm.", "The Osk has a width of 25 cm."),
        ("osk", "The Osk runs on macOS 12.", "The Osk takes macOS 12."),
        ("osk", "The Osk takes no legs of 30 cm.", "The legs of the Osk measure 30 cm."),
    ],
)
def test_what_differs_differs(entity: str, one: str, other: str) -> None:
    assert not restates(entity, one, other)
    assert not restates(entity, other, one)


@pytest.mark.parametrize(
    ("known", "said", "same"),
    [
        ("The Osk is light, and it folds in ten seconds.", "The Osk is light.", True),
        ("The Osk weighs 4 kg and has two wheels.", "the Osk weighs 4 kg", True),
        ("The Osk is light.", "The Osk is light, and it folds in ten seconds.", False),
        ("The Osk weighs 4 kg.", "The Osk weighs 4 kg.", False),  # the judge's matter
        ("The Osk weighs 4.5 kg, with a battery.", "The Osk weighs 4.", False),
        ("The Osk is not loud, and it is light.", "The Osk is light.", False),
        ("The Osk is light on the stairs.", "The Osk is light.", False),
        ("The Osk is light, and it folds.", "", False),
    ],
)
def test_the_beginning_of_a_known_sentence_is_nothing_new(
    known: str, said: str, same: bool
) -> None:
    assert contains(known, said) is same


@pytest.mark.parametrize("piece", ["of 3 ", "a of ", "the osk's ", "one ", "is ", " ", "1.", "a-"])
def test_no_sentence_takes_long(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    begin = time.process_time()
    restates("osk", text, f"The Osk {text}")
    assert time.process_time() - begin < 8
