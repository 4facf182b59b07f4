"""Know the forms of English verbs: the irregular ones by a list, the others by their endings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

# The verb, its past, its other forms. "lay" is rather the past of "lie" than a verb, and what is
# "wound" is as often hurt.
_VERBS: Final = """
be/was were/am is are been being|have/had/has having|do/did/does done doing|go/went/goes gone going
get/got/gotten getting|make/made/making|take/took/taken taking|come/came/coming|give/gave/given
see/saw/seen|know/knew/known|think/thought|say/said/says|tell/told|find/found|feel/felt|put//putting
bring/brought|begin/began/begun beginning|keep/kept|hold/held|write/wrote/written|stand/stood
hear/heard|mean/meant|set//setting|meet/met|run/ran/running|pay/paid|sit/sat/sitting
speak/spoke/spoken|lie//lay lain lying|lead/led|grow/grew/grown|lose/lost/losing|fall/fell/fallen
send/sent|build/built|understand/understood|draw/drew/drawn|break/broke/broken|spend/spent
cut//cutting|rise/rose/risen|drive/drove/driven|buy/bought|wear/wore/worn|choose/chose/chosen
eat/ate/eaten|sleep/slept|swim/swam/swum swimming|sing/sang/sung|drink/drank/drunk|fly/flew/flown
ride/rode/ridden|throw/threw/thrown|catch/caught|teach/taught|sell/sold|win/won/winning
forget/forgot/forgotten|feed/fed|fight/fought|hit//hitting|shut//shutting|quit//quitting
steal/stole/stolen|wake/woke/woken|shake/shook/shaken|hang/hung|bite/bit/bitten|blow/blew/blown
tear/tore/torn|sweep/swept|hide/hid/hidden|lay/laid|light/lit|shoot/shot|dig/dug|stick/stuck
bend/bent|lend/lent|bind/bound|beat//beaten|become/became|freeze/froze/frozen|seek/sought
bear/bore/borne|slide/slid|swing/swung|spin/spun|split//splitting|leave/left|let//letting
burn/burnt|cling/clung|creep/crept|deal/dealt|dream/dreamt|forgive/forgave/forgiven|ring/rang/rung
sink/sank/sunk|shine/shone|show//shown|shrink/shrank/shrunk|spring/sprang/sprung|strike/struck
sting/stung|swear/swore/sworn|weep/wept|weave/wove/woven|undergo/underwent/undergone|rebuild/rebuilt
"""
_ROWS: Final = [
    [part.split() for part in row.split("/")] for row in _VERBS.replace("\n", "|").split("|") if row
]

IRREGULAR: Final[Mapping[str, str]] = {
    form: row[0][0] for row in _ROWS for part in row[1:] for form in part
}
"""Every form of an irregular verb but its base, with the base."""

PAST: Final = frozenset(form for row in _ROWS for form in row[1])
"""The simple past of every irregular verb that has a form of its own for it."""

_UNCHANGED: Final = "set cut put hit let read shut quit split cost hurt spread cast bet burst"
UNCHANGED: Final = frozenset(_UNCHANGED.split())
"""Verbs whose past and participle are as their base."""


def is_past(verb: str) -> bool:
    """Tell whether a verb has the form of its past, which it may share with its participle."""
    return verb.endswith("ed") or verb in PAST


def with_s(word: str) -> str:
    """Return a lower-case noun in the plural, or a verb of the third person: "boxes", "tries"."""
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


_FIRST: Final = {"is": "am", "has": "have", "does": "do", "goes": "go", "was": "was"}


def first_person(verb: str) -> str:
    """Return a lower-case verb of the third person as "I" has it: "uses" gives "use"."""
    if verb in _FIRST or not verb.endswith("s") or verb.endswith("ss"):
        return _FIRST.get(verb, verb)
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb.removesuffix('ies')}y"
    return verb.removesuffix("es" if verb.endswith(("sses", "xes", "ches", "shes")) else "s")


POSSESSIVES: Final = {"she": "her", "he": "his", "they": "their"}
_POSSESSIVE: Final = re.compile(r"\b(?:her|his|their|the user's)\b(?= \w)")
_ADVERBS: Final = r"no longer|[a-z]+ly|never|always|often|sometimes|still|also|just|now"


def as_said(text: str, names: tuple[str, ...] = ()) -> str:
    """Return a sentence that a model writes of the user as they say it: "The user's job is ...".

    `names` are words that mean the user there, beside "the user": their name, "she".
    """
    match = _of_user(names).match(text)
    if match is None:
        return text
    rest = _POSSESSIVE.sub("my", text[match.end() :])
    if match["verb"] is None:
        return f"my{rest}"
    said = first_person(match["verb"]) + " not" * bool(match["denied"])
    return f"i {match['adverb'] or ''}{said}{rest}"


@lru_cache(maxsize=64)
def _of_user(names: tuple[str, ...]) -> re.Pattern[str]:
    who = "|".join(("user", *map(re.escape, names)))
    owns = "|".join(POSSESSIVES[name] for name in names if name in POSSESSIVES)
    doing = rf"(?P<adverb>(?:{_ADVERBS}) )?(?P<verb>[a-z]+?)(?P<denied>n't)?\b"
    return re.compile(
        rf"(?i:(?:the )?(?:{who}))(?:'s\b| {doing}){rf'|(?i:{owns})(?= [a-z])' if owns else ''}"
    )
