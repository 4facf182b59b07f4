"""Read the numbers that English writes as words: "twelve", "third", "2nd"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SMALL: Final = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty
"""
_PLACES: Final = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
"""
_TENS: Final = "thirty forty fifty sixty seventy eighty ninety"

CARDINALS: Final[Mapping[str, int]] = {
    **{word: number for number, word in enumerate(_SMALL.split())},
    **{word: 10 * number for number, word in enumerate(_TENS.split(), start=3)},
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
}
"""Every word that says how many, with its number."""

ORDINALS: Final[Mapping[str, int]] = {
    word: number for number, word in enumerate(_PLACES.split(), start=1)
}
"""Every word that says the how-manieth, with its number."""

SEVERAL: Final = "|".join(
    sorted((word for word, number in CARDINALS.items() if number > 1), key=len, reverse=True)
)
"""The words from "two" on in a regular expression, without a group around them."""


def ordinal(number: int) -> str:
    """Return the how-manieth in digits: "1st", "12th", "23rd"."""
    teen = number // 10 % 10 == 1
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
