"""Give every fact key, topic and value one spelling, whatever was typed.

All functions are total: any text goes in, a valid key comes out, and a key that comes out goes in
again unchanged. What had to be changed beyond case and blanks is said in a warning.

A key is segments joined by dots; a segment is letters, marks and digits of any script, its words
joined by one `_`. The schema lock: below `user.favorites` there is one topic and at most one rank,
`user.favorites.<topic>.<rank>`, so further dots become part of the topic (`node.js` is `node_js`).

One topic has one spelling:

| typed | topic | why |
|---|---|---|
| `Crypto`, `cryptos`, `cryptocurrencies` | `crypto` | one word and its long form |
| `color`, `Colours` | `colors` | names of things that are counted stand in the plural |
| `science fiction movie` | `science_fiction_movies` | the noun of the phrase, here the last word |
| `book of poetry` | `books_of_poetry` | the noun stands before the preposition |
| `music`, `anime`, `widgets` | `music`, `anime`, `widget` | a word that the list below lacks |
| `C++`, `C#`, `R&B` | `c_plus_plus`, `c_sharp`, `r_and_b` | signs that tell topics apart |
| `Café`, `ｃａｆｅ` | `cafes` | Latin and Greek accents, widths and case do not count |
| `сrypto` with a Cyrillic `с` | `crypto` | mixed scripts are read by their looks |
| a lone pizza emoji | `slice_of_pizza` | without any letter, symbols are called by their names |

Only the number of the noun is made equal: "film" and "movie" stay two topics.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from factbook import policy
from factbook.language.coordination import QUOTES
from factbook.language.nouns import counted

FAVORITES: Final = "user.favorites"
"""What every ranked list stands under."""
UNNAMED: Final = "unnamed"
"""What a text without a letter, a digit or a symbol becomes; `names_something` tells beforehand."""
TOPIC_CHARS: Final = 160
"""A topic's length at most: with the prefix and a rank it stays below policy.KEY_CHARS."""

_DIGEST_CHARS: Final = 12
_SYMBOLS: Final = 4  # symbols of a topic without letters that are called by name

_SPELLINGS: Final = {
    "colour": "color",
    "colours": "colors",
    "favourite": "favorite",
    "favourites": "favorites",
    "flavour": "flavor",
    "flavours": "flavors",
    "neighbour": "neighbor",
    "neighbours": "neighbors",
    "neighbourhood": "neighborhood",
    "neighbourhoods": "neighborhoods",
    "theatre": "theater",
    "theatres": "theaters",
    "jewellery": "jewelry",
    "centre": "center",
    "centres": "centers",
    "programme": "program",
    "programmes": "programs",
    "cryptos": "crypto",
    "cryptocurrency": "crypto",
    "cryptocurrencies": "crypto",
}

_FAVORITE_WORDS: Final = frozenset(
    ("favorites", "favorite", "favourites", "favourite", "favs", "fav", "faves", "fave")
)
_LEADING: Final = _FAVORITE_WORDS | {"my"}
_PREPOSITIONS: Final = frozenset(
    ("of", "in", "from", "for", "to", "about", "with", "by", "on", "at")
)


_APOSTROPHES: Final = frozenset("'’‘ʼʹ`´′＇")
_SPOKEN_SIGNS: Final = {"&": "and", "+": "plus", "%": "percent", "@": "at", "♯": "sharp"}
_LOOKALIKES: Final = dict(
    zip(
        "авекмнорстухіјѕԁһӏԛԝαβεηικμνορτυχζ",
        "abekmhopctyxijsdhlqwabehikmvoptuxz",
        strict=True,
    )
)  # by the looks of either case: a Cyrillic В is taken for a B


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]


def _spelled(text: str) -> str:
    """Return letters, marks and digits of a text in one case, all else as blanks; one pass."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = unicodedata.normalize("NFKD", text).casefold()
    chars: list[str] = []
    base = ""  # the letter that marks belong to
    for char in text:
        if "a" <= char <= "z" or "0" <= char <= "9":
            chars.append(char)
            base = char
            continue
        category = unicodedata.category(char)
        if category in ("Cf", "Cs") or char in _APOSTROPHES:
            continue  # invisible, half a character, or a sign within a word
        if category[0] == "M":
            # "cafe" and "café" are one word; a voicing mark or a vowel sign makes another one.
            if base and _script(base) not in ("LATIN", "GREEK"):
                chars.append(char)
        elif category == "Nd":
            chars.append(str(unicodedata.decimal(char)))
            base = "0"
        elif category[0] in "LN":
            chars.append(char)
            base = char
        else:
            chars.append(_sign(char, after=base))
            base = ""
    return unicodedata.normalize("NFC", "".join(chars))


def _sign(char: str, *, after: str) -> str:
    if char == "#":
        return " sharp " if after else " "
    if char in _SPOKEN_SIGNS:
        return f" {_SPOKEN_SIGNS[char]} "
    if unicodedata.category(char) == "Sc":
        return " " + unicodedata.name(char, "").removesuffix(" SIGN").lower() + " "
    return " "


def _settled(text: str) -> str:
    """Spell a text until spelling changes it no more: a dropped mark may join two letters anew."""
    for _ in range(8):
        again = _spelled(text)
        if again == text:
            break
        text = again
    return text


def _symbol_words(text: str) -> list[str]:
    """Return the names of a text's symbols: all that a topic without any letter has."""
    names: list[str] = []
    flags = ""
    for char in text:
        if len(names) >= _SYMBOLS:
            break
        if unicodedata.category(char) not in ("So", "Sm"):
            continue
        name = unicodedata.name(char, "")
        if name.startswith("REGIONAL INDICATOR"):
            flags += name[-1].lower()
        elif name:
            names.append(name)
    named = _settled(" ".join(names).replace("-", " ")).split()
    return ["flag", flags, *named] if flags else named


def _looks(word: str) -> str:
    """Return a word of mixed scripts as it looks, where each foreign letter looks Latin."""
    if word.isascii() or not any("a" <= char <= "z" for char in word):
        return word
    seen = "".join(_LOOKALIKES.get(char, char) for char in word)
    return seen if seen.isascii() else word


def _words(text: str) -> tuple[list[str], str]:
    """Return the spelled words of a text, and a warning where more than case was changed."""
    words = _settled(text).split()
    warning = ""
    if not words:
        words = _symbol_words(text)
    for index, word in enumerate(words):
        seen = _looks(word)
        if seen != word:
            warning = f"a word of mixed scripts was read as {seen!r}"
        words[index] = _SPELLINGS.get(seen, seen)
    return words, warning


def names_something(text: str) -> bool:
    """Say whether a text holds any letter, digit or symbol that a key can be made of."""
    return bool(_words(text)[0])


def _fitted(text: str, size: int) -> str:
    """Return a text of at most `size` characters; what is cut is told apart by digits of its hash.

    Digits, so that the cut word is neither a noun with a number nor a word of mixed scripts.
    """
    if len(text) <= size:
        return text
    digest = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    kept = text[: size - _DIGEST_CHARS].rstrip("._")
    return f"{kept}{digest % 10**_DIGEST_CHARS:0{_DIGEST_CHARS}d}"


def normalize_topic(topic: str) -> tuple[str, str | None]:
    """Return the one spelling of a topic, and a warning where more than case was changed."""
    words, warning = _words(topic)
    while len(words) > 1 and words[0] in _LEADING:
        words = words[1:]
    if not words:
        return UNNAMED, f"the topic {_shown(topic)} has no letter, digit or symbol"
    words = _joined_crypto(words)
    head = next(
        (index - 1 for index, word in enumerate(words) if index and word in _PREPOSITIONS),
        len(words) - 1,
    )
    words[head] = counted(words[head])
    whole = "_".join(words)
    fitted = _fitted(whole, TOPIC_CHARS)
    if fitted != whole:
        warning = f"the topic was cut at {TOPIC_CHARS} characters"
    return fitted, warning or None


def _joined_crypto(words: list[str]) -> list[str]:
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] == "crypto" and word in ("currency", "currencies"):
            continue
        joined.append(word)
    return joined


def normalize_fact_key(key: str) -> tuple[str, str | None]:
    """Return a valid key for any text, and a warning where more than case was changed.

    `User.Favourites.Science Fiction.Movies.3` is `user.favorites.science_fiction_movies.3`.
    """
    text = unicodedata.normalize("NFKC", key)
    warning = ""
    segments: list[str] = []
    for piece in text.split("."):
        words, said = _words(piece)
        warning = warning or said
        if words:
            segments.append("_".join(words))
    if not segments:
        return UNNAMED, f"the key {_shown(key)} has no letter, digit or symbol"
    if segments[0] == "user" and len(segments) > 1 and segments[1] in _FAVORITE_WORDS:
        locked, said = _locked(segments[2:])
        return locked, warning or said or None
    whole = ".".join(segments)
    fitted = _fitted(whole, policy.KEY_CHARS)
    if fitted != whole:
        warning = f"the key was cut at {policy.KEY_CHARS} characters"
    return fitted, warning or None


def _locked(below: list[str]) -> tuple[str, str]:
    """Return the key of a list or of a rank for the segments below `user.favorites`."""
    if not below:
        return FAVORITES, ""
    rank = _rank(below[-1]) if len(below) > 1 else None
    parts = below if rank is None else below[:-1]
    topic, warning = normalize_topic("_".join(parts))
    if len(parts) > 1:
        warning = warning or f"what stands below {FAVORITES} is one topic, so it became {topic!r}"
    key = f"{FAVORITES}.{topic}"
    return key if rank is None else f"{key}.{rank}", warning or ""


def _rank(segment: str) -> int | None:
    digits = segment.lstrip("0")
    if not (segment.isascii() and segment.isdigit()) or not digits or len(digits) > 9:
        return None
    rank = int(digits)
    return rank if rank <= policy.MAX_RANK else None


def canonical_list_key(topic: str) -> str:
    """Return `user.favorites.<topic>`; a topic that is a list key already stays one."""
    return f"{FAVORITES}.{normalize_topic(extract_topic_from_list_key(topic) or topic)[0]}"


def canonical_rank_key(topic: str, rank: int) -> str:
    """Return `user.favorites.<topic>.<rank>`.

    A rank outside 1 to policy.MAX_RANK becomes the nearest one: this function has no way to refuse
    it, so whoever takes ranks from outside looks at them first (`keyed.contracts.op_problem`).
    """
    return f"{canonical_list_key(topic)}.{max(1, min(int(rank), policy.MAX_RANK))}"


def extract_topic_from_list_key(list_key: str) -> str | None:
    """Return the topic of a key below `user.favorites`, of a list or of a rank; else None."""
    segments = normalize_fact_key(list_key)[0].split(".")
    if len(segments) < 3 or f"{segments[0]}.{segments[1]}" != FAVORITES:
        return None
    return segments[2]


def split_rank_key(key: str) -> tuple[str, int] | None:
    """Return (list key, rank) of the key of a rank, or None for any other key."""
    whole = normalize_fact_key(key)[0]
    segments = whole.split(".")
    if len(segments) != 4 or not whole.startswith(FAVORITES + "."):
        return None
    return ".".join(segments[:3]), int(segments[3])


def canonical_key(key: str) -> str:
    """Return what a key counts as: a rank counts as its list, so that a list counts once."""
    ranked = split_rank_key(key)
    return ranked[0] if ranked else normalize_fact_key(key)[0]


def canonical_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct canonical keys of some keys, in their order (`Facts-R` counts these)."""
    return tuple(dict.fromkeys(map(canonical_key, keys)))


def topic_title(key: str) -> str:
    """Return the topic of a key, or of a topic, as people read it: "science fiction movies"."""
    return (extract_topic_from_list_key(key) or normalize_topic(key)[0]).replace("_", " ")


_AROUND: Final = "\"'`“”‘’«»„‚‹›<>*_~,.;:!?…-–—·•|/\\& "  # C++ and C# keep their signs
_BRACKETS: Final = {"(": ")", "[": "]", "{": "}"}
_CLOSING: Final = frozenset(_BRACKETS.values())
_PAIRS: Final = _BRACKETS | {"「": "」", "『": "』", "【": "】", "《": "》", "〈": "〉"}
_TERMINAL: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]?"  # colours, and where to write
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,2000}(?:\x07|\x1b\\|\x9c)?"  # titles
    r"|\x1b[ -/]{0,16}[0-~]?"
    r"|\[\d{1,3}(?:;\d{1,3}){0,9}m"  # what is left of a colour whose first sign was taken out
)
_HIDDEN_SECRET: Final = re.compile(
    r"\[\s{0,4}redacted\b(?:[^\[\]\n]{0,100}\]|[:\w.-]{0,100})", re.IGNORECASE
)


_NAMED_FOR_ITS_OWNER: Final = frozenset(
    (
        "applebee",
        "arby",
        "ben & jerry",
        "bloomingdale",
        "hardee",
        "jack daniel",
        "jimmy john",
        "mcdonald",
        "nando",
        "papa john",
        "sainsbury",
        "sotheby",
        "trader joe",
        "zaxby",
    )
)
"""Before "'s", which belongs to these names; that of a name which people bear is left out."""


def entity_name(name: str) -> str:
    """Return the canonical name of an entity: lower case, single blanks, nothing around it.

    "  The KEF LS50 Meta's " is `the kef ls50 meta`: of an article whoever reads the name decides.
    What a terminal obeys, signs that cannot be seen, labels of hidden secrets and brackets without
    their other half are no part of a name. Idempotent; empty where nothing is left.
    """
    text = name
    while True:
        # Each step may bring out what an earlier one looks for; none makes a text longer for good.
        bare = _HIDDEN_SECRET.sub(" ", _TERMINAL.sub("", text))
        if not (bare.isascii() and bare.isprintable()):
            bare = _visible(unicodedata.normalize("NFKC", bare))
        bare = " ".join(bare.casefold().split())
        if not bare.isascii():
            bare = unicodedata.normalize("NFC", bare)
        bare = _unwrapped(_balanced(bare).strip(_AROUND))
        while bare.endswith(("'s", "’s")):
            if bare[:-2] in _NAMED_FOR_ITS_OWNER:
                bare = bare[:-2] + "'s"
                break
            bare = bare[:-2]
        if bare == text:
            return bare
        text = bare


def _balanced(text: str) -> str:
    """Return a text without brackets that have no other half, and without empty pairs."""
    if not any(sign in text for pair in _PAIRS.items() for sign in pair):
        return text
    dropped: set[int] = set()
    waiting: list[tuple[int, str]] = []  # (place, what closes it) of open brackets
    closing = frozenset(_PAIRS.values())
    filled = [False]  # whether anything stands in each open bracket, the innermost last
    for place, char in enumerate(text):
        if char in _PAIRS:
            waiting.append((place, _PAIRS[char]))
            filled.append(False)
        elif char not in closing:
            filled[-1] = filled[-1] or char != " "
        elif any(wanted == char for _, wanted in waiting):
            while waiting[-1][1] != char:  # opened inside, and never closed there
                dropped.add(waiting.pop()[0])
                inner = filled.pop()
                filled[-1] = filled[-1] or inner
            opened, _ = waiting.pop()
            inner = filled.pop()
            filled[-1] = filled[-1] or inner
            if not inner:
                dropped |= {opened, place}
        else:
            dropped.add(place)
    dropped.update(place for place, _ in waiting)
    return "".join(char for place, char in enumerate(text) if place not in dropped)


def _unwrapped(text: str) -> str:
    """Return a text of balanced brackets without those that stand around the whole of it."""
    if text[:1] not in _BRACKETS:
        return text
    partner: dict[int, int] = {}
    waiting: list[int] = []
    for place, char in enumerate(text):
        if char in _BRACKETS:
            waiting.append(place)
        elif char in _CLOSING and waiting:
            partner[waiting.pop()] = place
    first, last = 0, len(text) - 1
    while first < last and partner.get(first) == last:
        first, last = first + 1, last - 1
        while first <= last and text[first] in _AROUND:
            first += 1
        while first <= last and text[last] in _AROUND:
            last -= 1
    return text[first : last + 1]


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


_KEPT_INVISIBLE: Final = frozenset("\u200c\u200d")  # they join letters and emoji
_ITEM_SIGN: Final = re.compile(r"^(?:[-*•–—·▪◦‣]|\(?\d{1,4}[.)]|#\d{1,4}[:.)]?)\s+(?=\S)")


def normalize_fact_value(value: str, is_ranked_list: bool) -> tuple[str, str | None]:
    """Return a value as it is kept, and a warning where more than blanks was changed.

    Letters stay as they were typed: only blanks, invisible signs and quotes around the whole go. In
    a ranked list the sign of an item ("1.", "-") goes too. An empty result says that there is none.
    """
    text = _visible(unicodedata.normalize("NFC", value))
    hidden = text != " ".join(unicodedata.normalize("NFC", value).split())
    warning = "characters that cannot be seen were taken out of the value" if hidden else ""
    # Each step makes the text shorter, so this ends.
    while True:
        bare = _bare(text, is_ranked_list)
        if bare == text:
            break
        text = bare
    if len(text) > policy.VALUE_CHARS:
        text = _bare(_visible(text[: policy.VALUE_CHARS]), is_ranked_list)
        warning = f"the value was cut at {policy.VALUE_CHARS} characters"
    if not text:
        warning = "the value is empty"
    return text, warning or None


def without_hidden(text: str) -> str:
    """Return a text on one line without what a terminal obeys and signs that cannot be seen."""
    return _visible(_TERMINAL.sub("", text))


def _visible(text: str) -> str:
    seen: list[str] = []
    for char in text:
        category = unicodedata.category(char)
        if category == "Cc":
            seen.append(" ")
        elif category not in ("Cf", "Cs") or char in _KEPT_INVISIBLE:
            seen.append(char)
    kept = unicodedata.normalize("NFC", "".join(seen))  # what stood apart may now be one character
    return " ".join(kept.split()).strip("\u200c\u200d")


def _bare(text: str, is_ranked_list: bool) -> str:
    text = text.strip(" \u200c\u200d")
    if is_ranked_list:
        text = _ITEM_SIGN.sub("", text, count=1).strip(",; \u200c\u200d")
    closing = QUOTES.get(text[:1])
    inner = text[1:-1].strip()
    if closing and len(text) > 2 and text[-1] == closing and inner:
        if text[0] in inner or closing in inner:
            return text  # "Yes" and "No": two quotes, not one around the whole
        return inner
    return text


def fold_value(value: str) -> str:
    """Return what two values have in common that are the same: case and blanks do not count."""
    return " ".join(unicodedata.normalize("NFC", value).casefold().split())
