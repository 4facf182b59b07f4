"""Nouns in the singular and the plural."""

from __future__ import annotations

import pytest

from factbook.extract.subject import singular as of_subjects
from factbook.language.nouns import counted, is_plural, singular

SINGULARS = {
    "movies cookies pies ties zombies selfies rookies brownies smoothies hoodies calories": (
        "movie cookie pie tie zombie selfie rookie brownie smoothie hoodie calorie"
    ),
    "companies cities batteries varieties": "company city battery variety",
    "tomatoes heroes potatoes volcanoes mosquitoes shoes canoes toes photos radios": (
        "tomato hero potato volcano mosquito shoe canoe toe photo radio"
    ),
    "knives shelves bookshelves wolves leaves lives thieves loaves midwives": (
        "knife shelf bookshelf wolf leaf life thief loaf midwife"
    ),
    "stoves valves olives gloves caves archives curves": (
        "stove valve olive glove cave archive curve"
    ),
    "buses minibuses viruses bonuses lenses gases aliases irises classes glasses": (
        "bus minibus virus bonus lens gas alias iris class glasses"
    ),
    "houses warehouses nurses cases databases exercises roses phrases": (
        "house warehouse nurse case database exercise rose phrase"
    ),
    "mice geese feet teeth children people women oxen": (
        "mouse goose foot tooth child person woman ox"
    ),
    "watches dishes boxes quizzes sizes headaches moustaches axes": (
        "watch dish box quiz size headache moustache axe"
    ),
    "e-bikes board-games tvs taxis menus cpus": "e-bike board-game tv taxi menu cpu",
    "series species news bus lens tennis glass": "series species news bus lens tennis glass",
}
PAIRS = [
    pair
    for plurals, singulars in SINGULARS.items()
    for pair in zip(plurals.split(), singulars.split(), strict=True)
]


@pytest.mark.parametrize(("plural", "single"), PAIRS)
def test_a_noun_in_the_singular(plural: str, single: str) -> None:
    assert singular(plural) == single == of_subjects(plural)
    assert singular(single) == single
    assert is_plural(plural) == (plural != single)
    assert not is_plural(single)


@pytest.mark.parametrize("noun", [one for pair in PAIRS for one in pair])
def test_the_form_that_lists_are_kept_under_stays_when_it_is_given_again(noun: str) -> None:
    assert counted(counted(noun)) == counted(noun)


@pytest.mark.parametrize(("plural", "single"), [pair for pair in PAIRS if "-" not in pair[0]])
def test_both_forms_of_a_noun_name_one_list(plural: str, single: str) -> None:
    assert counted(plural) == counted(single)
