"""Give a noun one form, whether one thing was meant or many: "movie" and "movies".

Only English endings are known: words of other languages stay as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from factbook.language.verbs import with_s


def _listed(text: str) -> list[str]:
    return text.split()


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("/") for pair in text.split())


# Things that people count, in the singular.
_COUNTED: Final = (Path(__file__).parent / "data" / "counted.txt").read_text("ascii").split()

_IRREGULAR: Final = _pairs("""
child/children echo/echoes foot/feet goose/geese half/halves hero/heroes knife/knives leaf/leaves
life/lives man/men mouse/mice person/people potato/potatoes quiz/quizzes shelf/shelves
superhero/superheroes tomato/tomatoes tooth/teeth volcano/volcanoes wife/wives wolf/wolves
woman/women
""")

# They end in s and are no plural, or have no singular that anybody says.
_AS_THEY_ARE: Final = frozenset(
    _listed("""
alias always asbestos atlas bahamas barbados bias biceps canvas chaos christmas clothes corps cosmos
dallas elvis
ethos gas glasses headquarters honduras hummous hummus jeans kansas kubernetes kudos lagos laos
lens mars mathematics maths means molasses news pajamas pancreas pants pathos pyjamas rhinoceros
scissors series shorts species sunglasses swiss tapas texas thanks theirs tights trousers vegas
yours
    """)
)


def _plural(noun: str) -> str:
    return _IRREGULAR.get(noun) or with_s(noun)


IRREGULAR_PLURALS: Final = {
    form: noun for noun, form in _IRREGULAR.items() if form not in ("leaves", "lives", "people")
}
"""Plurals that no ending tells, each with its noun; not those that mean something else as often."""

_PLURAL_OF: Final = {form: _plural(noun) for noun in _COUNTED for form in (noun, _plural(noun))}


@lru_cache(maxsize=4096)
def counted(word: str) -> str:
    """Return the one form of a lower-case noun: a known one's plural, another one's singular.

    The list of "colors" is called so, and "crypto" is no thing that is counted. What is returned
    comes back unchanged when it is given again.
    """
    known = _PLURAL_OF.get(word)
    if known is not None:
        return known
    if not (word.isascii() and word.isalpha()) or word in _AS_THEY_ARE:
        return word
    single = _singular(word)
    return _PLURAL_OF.get(single, single)


def is_plural(word: str) -> bool:
    """Say whether a lower-case noun stands in the plural, as far as its form tells."""
    known = _PLURAL_OF.get(word)
    if known is not None:
        return known == word
    return word not in _AS_THEY_ARE and _singular(word) != word


@lru_cache(maxsize=4096)
def singular(noun: str) -> str:
    """Return the singular of a lower-case noun, as far as its form tells.

    Of a word with hyphens that is the singular of its last part: "e-bikes" gives `e-bike`.
    """
    known = _SINGULAR_OF.get(noun)
    if known is not None:
        return known
    lead, hyphen, last = noun.rpartition("-")
    if hyphen:
        return lead + hyphen + singular(last)
    return noun if noun in _AS_THEY_ARE else _singular(noun)


_SINGULAR_OF: Final = {form: noun for noun in _COUNTED for form in (noun, _plural(noun))}

# Plurals that no ending tells, of nouns that nobody keeps lists of.
_FORMS: Final = _pairs("""
analyses/analysis axes/axe bikinis/bikini businessmen/businessman cacti/cactus cds/cd chilis/chili
cpus/cpu crises/crisis criteria/criterion diagnoses/diagnosis emus/emu evs/ev firemen/fireman
fishermen/fisherman fungi/fungus gentlemen/gentleman gpus/gpu grandchildren/grandchild haikus/haiku
hypotheses/hypothesis indices/index kiwis/kiwi leaves/leaf lice/louse lives/life matrices/matrix
menus/menu oases/oasis oxen/ox pcs/pc phenomena/phenomenon policemen/policeman safaris/safari
salesmen/salesman skis/ski snowmen/snowman taxis/taxi theses/thesis tvs/tv vertices/vertex
""")
# Nouns with an e of their own before the s, where their ending lets expect another singular.
_OWN_E: Final = frozenset(
    _listed("""
aloe auntie barbie beanie birdie bookie brie budgie caddie calorie canoe collie cutie doe foe
foodie freebie genie goalie groupie hippie hoe hoodie indie junkie laddie lassie lie
magpie menagerie necktie newbie nightie oboe oldie onesie pixie potpie prairie quickie roadie
roe roomie rookie sortie sweetie talkie techie toe townie veggie walkie wheelie woe yuppie zombie
ache backache brioche cliche creche moustache mustache pastiche psyche stomachache toothache tranche
abuse excuse fuse hypotenuse muse recluse refuse ruse use
    """)
)
_VES: Final = re.compile(
    r"(?P<f>.*(?:shel|sel|hal|cal|loa|thie|scar|hoo|whar|shea|wol)|el)ves"
    r"|(?P<fe>.*(?:kni|wi)|after ?li)ves"
)
_ADDS_ES: Final = re.compile(
    r".*(?:ss|sh|ch|x|zz|tz|o|(?<![aeo])us|(?:^g|li|atl|canv|bi)as|(?:ir|trell|marqu)is)es"
)


def _singular(word: str) -> str:
    if word in _FORMS:
        return _FORMS[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "ics")):
        return word
    if word[:-1] in _OWN_E or word.endswith("shoes"):
        return word[:-1]
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    ves = _VES.fullmatch(word)
    if ves is not None:
        return word[:-3] + ("fe" if ves["fe"] is not None else "f")
    if word.endswith("quizzes"):
        return word[:-3]
    return word[:-2] if _ADDS_ES.fullmatch(word) else word[:-1]
