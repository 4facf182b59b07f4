"""Say which words name nothing in particular: everyday English words, days and months, places.

A name stands out because it is none of these. Words are looked up in lower case and in any form:
"watched", "cities", "nicest". Of a word of another language nothing is known.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Final

from factbook.language.verbs import UNCHANGED
from factbook.language.words import base_of, word_set


def _listed(name: str) -> frozenset[str]:
    text = (Path(__file__).parent / "data" / f"{name}.txt").read_text(encoding="ascii")
    return frozenset(text.splitlines())


# Words that carry grammar: they are never a name by themselves, nor the first word of one.
_FUNCTION: Final = word_set("""
a about across after again against ain't all along already also although am among an and another any
anybody anyone anything are aren't around as at be because been before behind being beside besides
between beyond both but by can can't cannot cant could couldn't despite did didn't didnt do does
doesn't doesnt doing don't done dont down during each either enough etc even ever every everybody
everyone everything except few for from gonna gotta had hadn't has hasn't have haven't having he
he's her here here's hers herself him himself his how how's i i'd i'll i'm i've id if ill im in into
is isn't isnt it it's its itself ive just least less let let's lets like many may me might mine more
most much must my myself n near neither never no nobody none nor not nothing of off on one ones only
onto or other our ours ourselves out over own per r same several shall she she's should shouldn't
since so some somebody someone something still such than that that's thats the their theirs them
themselves then there there's these they they'll they're they've this those though through to too
toward towards u under unless unlike until up upon ur us versus very via vs wanna was wasn't we we'd
we'll we're we've were weren't what what's whatever whats when whenever where where's wherever
whether which while who who's whoever whom whose why will with within without won't wont would
wouldn't yes yet you you'd you'll you're you've your youre yours yourself
""")

# What people say to each other, and of no thing.
_GREETING: Final = word_set("""
afaik ah asap aw aww btw bye cheers congrats congratulations damn er fyi gee goodbye gosh greetings
haha hahaha hello hey heya hi hiya hm hmm howdy huh idk imho imo k lmao lol nah ngl no nope nvm oh
ok okay okey omg ooh oops please pls plz psa rofl smh sorry tbh thank thanks thx tldr ty ugh uh um
welcome well whoa wow wtf yay yeah yep yes yikes yo yup
""")

# Words that open a sentence or a message without belonging to what follows.
_OPENING: Final = _GREETING | word_set("""
absolutely according actually agreed alright also always amazing anyone anyway anyways apparently
awesome based basically brand bro buddy certainly clearly concerning considering cool correct
currently damn dear definitely depending dude edit especially even eventually everyone exactly false
finally first firstly folks fortunately frankly funny gee glad good gosh great guys happy honestly
hooray hopefully however imagine indeed instead interesting last lastly lately later listen
literally look luckily mainly man maybe meanwhile moreover mostly new next nice note now obviously
often once oops otherwise ouch overall perhaps personally plus probably question quick random really
recently regarding remember reminder right sadly second secondly seriously somebody sometimes soon
speaking sure thanks then therefore third today tomorrow tonight totally true twice ugh
unfortunately update usually wait wrong yes-no yesterday yikes
""")

# Verbs in their first form; other forms are derived.
_VERBS: Final = _listed("verbs")

# Things, people and qualities that everybody speaks of.
_WORDS: Final = _listed("everyday")

# Countries, regions that people travel to, large cities and famous ones, spelled as in English and
# as their own people spell them, without diacritics. Left out is what mostly means something else
# ("Split", "Reading").
_PLACES: Final = _listed("places")


_NATIONALITIES: Final = word_set("""
afghan african albanian american arab arabian arabic argentinian armenian asian australian austrian
aztec baptist bavarian belgian benedictine brazilian british buddhism buddhist bulgarian californian
cambodian canadian cantonese caribbean catalan catholic celtic chilean chinese christian
christianity colombian croatian cuban czech danish democrat dutch egyptian english ethiopian
european filipino finnish french georgian german greek hawaiian hebrew hindi hindu hinduism
hungarian icelandic indian indonesian iranian iraqi irish islam islamic israeli italian jamaican
japanese jewish judaism kenyan korean latin latina latino lebanese lithuanian lutheran malaysian
mandarin maori mayan mediterranean methodist mexican mongolian mormon moroccan muslim nepalese
nigerian nordic norwegian pakistani persian peruvian polish portuguese protestant punjabi republican
roman romanian russian scandinavian scottish serbian sicilian singaporean slovak somali spanish
swahili swedish swiss syrian taiwanese tamil thai tibetan tunisian turkish ukrainian urdu venezuelan
vietnamese welsh western yiddish zulu
""")

_PLACE_MODIFIERS: Final = word_set("""
central downtown east eastern greater in inner lower mainland mid near north northern old outer
rural south southern the upper uptown west western
""")
_WORDISH: Final = _VERBS | _WORDS | _OPENING
_PLACE_PART: Final = re.compile(r"\s*(?:,|/|\band\b|&)\s*")
_ENDINGS: Final = (
    ("ies", ("y", "ie")),
    ("ves", ("f", "fe", "ve")),
    ("es", ("", "e")),
    ("s", ("",)),
    ("ied", ("y",)),
    ("ed", ("", "e")),
    ("ing", ("", "e")),
    ("in", ("ing",)),
    ("iest", ("y",)),
    ("ier", ("y",)),
    ("est", ("", "e")),
    ("er", ("", "e")),
    ("or", ("", "e")),
    ("ily", ("y",)),
    ("ly", ("", "le")),
    ("ful", ("",)),
    ("less", ("",)),
    ("ness", ("",)),
    ("able", ("", "e")),
    ("ment", ("",)),
    ("ion", ("", "e")),
    ("y", ("", "e")),
)
_LEAST: Final = {"y": 4, "in": 4, "or": 4, "er": 3, "ion": 4, "ment": 4}  # letters before
_COMMON_ENDINGS: Final = re.compile(
    r".{3,}(?:ness|ment|ments|tion|tions|sion|sions|ology|ologist|ologists|graphy|ically|fully|lessly"
    r"|ously|ingly|edly|ability|ibility|ically|istic|ational|aholic)"
    r"|.{4,}(?:ity|ities|ive|ous|ances?|ences?|[ai]ble|ships?|hood|wards?|isms?|ical|ional|mental"
    r"|i[sz]ed?|i[sz]ing)"
)


@lru_cache(maxsize=16_384)
def is_function_word(word: str) -> bool:
    """Say whether a lower-case word carries grammar only."""
    return word.replace("’", "'") in _FUNCTION


@lru_cache(maxsize=16_384)
def is_everyday(word: str) -> bool:
    """Say whether a lower-case word is one that everybody uses, in any of its forms.

    A word of two parts ("long-term") is one where both are. What has a digit is none.
    """
    word = word.replace("’", "'").removesuffix("'s").removesuffix("'")
    if word in _FUNCTION or word in _WORDISH or base_of(word) != word or word in UNCHANGED:
        return True
    if "-" in word or "/" in word:
        parts = [part for part in re.split(r"[-/]", word) if part]
        return bool(parts) and all(len(part) < 2 or is_everyday(part) for part in parts)
    if not word.isalpha():
        return False
    return _COMMON_ENDINGS.fullmatch(word) is not None or any(
        base in _WORDISH for base in _bases(word)
    )


def _bases(word: str) -> list[str]:
    bases = []
    for ending, replacements in _ENDINGS:
        if not word.endswith(ending) or len(word) - len(ending) < _LEAST.get(ending, 2):
            continue
        stem = word.removesuffix(ending)
        bases += [stem + replacement for replacement in replacements]
        if ending in ("ed", "ing", "er", "est") and len(stem) > 2 and stem[-1] == stem[-2]:
            bases.append(stem[:-1])  # running, biggest
    if word.startswith(("un", "re", "non", "pre", "mis", "over", "out")) and len(word) > 6:
        bases.append(re.sub(r"^(?:un|re|non|pre|mis|over|out)", "", word))
    return bases


@lru_cache(maxsize=16_384)
def opens_sentences(word: str) -> bool:
    """Say whether a lower-case word may open a sentence before a name that it is no part of.

    "Watching", "Yesterday" and "Hi" are; "Dark" and "Stranger" may begin a name.
    """
    word = word.replace("’", "'")
    if word in _FUNCTION or word in _OPENING or word in _VERBS:
        return True
    return any(base in _VERBS for base in _bases(word)) and word not in _WORDS


def is_greeting(word: str) -> bool:
    """Say whether a lower-case word greets, thanks, agrees or exclaims."""
    return word in _GREETING


def is_nationality(word: str) -> bool:
    """Say whether a lower-case word is a nation's adjective, a language or a faith."""
    return word in _NATIONALITIES or (word.endswith("s") and word[:-1] in _NATIONALITIES)


def is_place(name: str) -> bool:
    """Say whether a lower-case name is nothing but a country, a region or a large city.

    "northern italy", "malmö" and "paris, france" are; "paris hilton" and "bank of england" are not.
    """
    plain = _without_marks(name.replace("’", "'"))
    parts = [part for part in _PLACE_PART.split(plain) if part]
    return plain in _PLACES or (bool(parts) and all(map(_one_place, parts)))


def _one_place(name: str) -> bool:
    words = name.removesuffix("'s").split()
    while words and " ".join(words) not in _PLACES:
        if words[0] not in _PLACE_MODIFIERS:
            return False
        words = words[1:]
    return bool(words)


_LETTERS: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
)  # what has no mark that could be taken off


def _without_marks(name: str) -> str:
    """Return a name in the letters in which places are listed: "Malmö" and "Malmo" are one."""
    if name.isascii():
        return name
    parted = unicodedata.normalize("NFD", name.translate(_LETTERS))
    return "".join(char for char in parted if not unicodedata.combining(char))
