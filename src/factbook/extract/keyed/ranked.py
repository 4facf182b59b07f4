"""Tell whether words make a value a favorite, give it a rank, or put it on a list.

A rank alone says nothing: "I sold some SOL at the #3 exchange" puts SOL nowhere. The ways of saying
it are the frames below. The words come as `speech` describes: value and topic are blotted out.
"""

from __future__ import annotations

import re
from typing import Final

from factbook.extract.keyed.speech import LEADS, LIST_WORD, MOVING, TOPIC, VALUE
from factbook.extract.keyed.wording import FAVORITE, NUMBER_WORD, RANK

__all__ = [
    "adds",
    "counted_place",
    "in_order",
    "mentions_rank",
    "places",
    "places_first",
    "relative",
    "sure",
]

_V: Final = f"{VALUE}+"
_R: Final = RANK
_RF: Final = rf"(?:{RANK}|{FAVORITE}|top\s+(?:\d{{1,4}}|{NUMBER_WORD})\b)"
_MY: Final = (
    r"(?:my|our)\s+(?:(?:new|newest|current|old|own|absolute|all[- ]time|personal|clear|undisputed"
    r"|definite|next|favou?rite|top|other)\s+){0,2}"
)
_COPULA: Final = r"(?:(?:\b(?:is|are|be|being|am|becomes?|became|remains?|stays?)|['’](?:s|re))\b)"
_GOES: Final = (
    r"(?:\b(?:is|are|comes?|goes|sits?|stands?|lands?|ranks?|takes?|gets?|belongs?|holds?|becomes?"
    r"|stays?|moves|deserves)|['’]s)\b"
)
_LITTLE: Final = (
    r"(?:(?:actually|really|now|currently|still|definitely|also|honestly|officially|absolutely|truly"
    r"|clearly|obviously|by\s+far|easily|hands\s+down|just|already|again|at|in|as|to|on|the|an?|one"
    r"|two|some|of|all|both|among|another|my|our|always|forever)\s+)*"
)
_WITHIN: Final = (
    rf"(?:in|on|of|for|among|from)\s+(?:(?:my|our)\b|(?:the\s+)?(?:[\w-]+\s+)?(?:{TOPIC}|{LIST_WORD})"
    r"|(?:me|us|all|mine)\b)"
)
# What may follow a rank that nobody called theirs: "at #3 in my list", and not "the #3 exchange".
_END: Final = (
    rf"(?=\s*(?:$|[.,;:!?)\]…]|[-–—]\s|{_WITHIN}|{TOPIC}|{_V}|\bby\s+far\b"
    r"|(?:now|again|too|still|and|but|then|is|are|please|right|favou?rites?|favs?|faves?|picks?"
    r"|choices?|spot|place|position|slot|ones?|instead|thanks|ever|today|to|with|at)\b|['’]s\b))"
)
_SURE: Final = re.compile(
    r"#\s?\d|\b(?:number|no\.?|nr\.?|rank|position|place|spot|slot)\s+#?\w+|\bnumero\s+uno\b"
    rf"|{_V}\s*\Z",
    re.IGNORECASE,
)
_LISTED: Final = re.compile(rf"(?:(?:^|[\n,;:])\s*\(?\d{{1,4}}[.):]|\s\(?\d{{1,3}}[.)])\s+{_V}")
_COUNTED: Final = re.compile(
    rf"\bthe\s+(?!#){RANK}\s+{TOPIC}\s+(?:i|we|that|which|to|by|from|about|at|ever)\b",
    re.IGNORECASE,
)  # "the second movie I saw today"
_PAST: Final = (
    r"(?:i|we)(?:['’](?:ve|m|re))?\s+(?:(?:just|have|am|now|already|also)\s+)*"
    r"(?:made|making|putting|setting|ranked|ranking|placed|placing|kept|keeping|moved|moving|shifted"
    r"|shifting|bumped|bumping|promoted|demoted|pushed|chose|chosen|choosing|picked|picking|added"
    r"|adding|inserted|inserting|changed|changing|updated|switched|switching|rated|listed|listing"
    r"|included|named|naming|called|calling|crowned|considered)"
)
_PLACING: Final = rf"(?:(?<!{VALUE}\s)\b{MOVING}|\b{_PAST})\b"


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


_FRAMES: Final = _compiled(
    # BTC is my #1; BTC is without doubt my favorite
    rf"{_COPULA}\s+(?:[^\W\d]\S*\s+){{0,4}}?{_MY}{_RF}",
    # BTC is #1 on my list; they are favorites of mine
    rf"{_COPULA}\s+{_LITTLE}(?:{_R}{_END}|{FAVORITE})",
    # my #1 is BTC; my favorite crypto: BTC; #2 is ETH
    rf"(?:{_MY}|^\W*{LEADS}(?:the\s+)?|[,;:]\s*){_RF}[^.;!?]{{0,60}}?"
    rf"(?:\b(?:is|are|includes?|would\s+be|becomes?|remains?|stays?|has\s+to\s+be)\b(?!\s+to\s)"
    r"|\bgoes\s+to\b|['’]s\b|[:=]|\s[–—-]\s)",
    # make BTC my #1 coin
    rf"{_PLACING}[^.;!?]{{0,160}}?(?<!\bin\s)(?<!\bon\s)(?<!\bat\s)(?<!into\s)\b{_MY}{_RF}",
    # put BTC at #1; rank it first; add it to my favorites
    rf"{_PLACING}[^.;!?]{{0,160}}?\s(?:(?:my|our|the|number)\s+)?(?:{_R}{_END}|{FAVORITE})",
    # BTC as my #1; I go with BTC for my #1
    rf"\b(?:as|for)\s+{_MY}{_RF}",
    # BTC, my #1; my favorite crypto, BTC
    rf"{_V}\s*[,;(–—-]\s*{_MY}{_RF}",
    rf"{_MY}{_RF}(?:\s+[\w{TOPIC}-]+){{0,3}}\s*[,(?–—-]\s*{_V}",
    # my favorite band Queen
    rf"{_MY}{_RF}\s+(?:(?!(?:for|with|on|in|at|to|from|and|than|after|before|near|by|of)\b)\S+\s+)"
    rf"{{0,2}}{_V}",
    # BTC #1; BTC at #1; BTC goes first
    rf"^\W*{LEADS}{_V}[\s:=,()–—-]*(?:{_GOES}\s+)?{_LITTLE}(?:{_R}{_END}|{FAVORITE}(?!\s+of\s+(?!mine)))",
    # #1 BTC; favorite movie - Alien
    rf"^\W*{LEADS}(?:my\s+)?{_RF}(?:\s+[^\W\d][\w-]*){{0,2}}[\s:=)–—-]+{_V}",
    # crypto #2: BTC
    rf"{TOPIC}\s+{_R}\s*(?:[=:]|\b(?:is|to|as)\b)\s*{_V}",
    # BTC comes first on my list
    rf"{_V}\s+{_GOES}\s+{_LITTLE}{_R}{_END}",
)
_MOST: Final = re.compile(
    rf"(?=.*(?:\b(?:i|my|me)\b|\bi['’]))(?=.*{TOPIC})(?=.*\b(?:best|(?:the\s+)?most|above\s+all"
    r"|more\s+than\s+any\w*)\b)",
    re.IGNORECASE | re.DOTALL,
)
_RELATIVE: Final = _compiled(
    rf"(?:^|[,;:]\s*){LEADS}(?:(?:i|we)(?:['’]d|\s+would)?\s+(?:want|like|need)\s+(?:you\s+)?to\s+)?"
    rf"{MOVING}\b[^.;!?]*{_V}[^.;!?]*\b(?:above|below|ahead\s+of|behind|before|after|between|up|down"
    r"|in\s+front\s+of|higher|lower|over|under|bottom|end|last)\b",
)
_INSTEAD: Final = re.compile(
    rf"\b(?:replace|swap|switch|change)\b[^.;!?]*\b(?:with|by|for|to)\s+(?:the\s+)?{_V}",
    re.IGNORECASE,
)
_ON_A_LIST: Final = re.compile(rf"{TOPIC}|\b{LIST_WORD}|(?<!\w){FAVORITE}", re.IGNORECASE)
_ADDS: Final = _compiled(
    rf"(?:\b(?:add|append|include|put|insert|save|store|throw|stick|note|keep|have|want|list|record"
    rf"|make)|\b{_PAST})\b[^.;!?]*(?:{TOPIC}|\b{LIST_WORD})",
    rf"\b(?:i|we)\b[^.;!?]*\b(?:like|love|enjoy|adore|into|(?:fan|fond)\s+of|dig|prefer)\b[^.;!?]*{TOPIC}",
    rf"\b(?:my|our)\s+(?:{TOPIC}|[\w-]+\s+{LIST_WORD})[^.;!?]{{0,30}}?(?:\b(?:is|are|includes?)\b|[:=])",
    rf"{_V}[^.;!?]*{_GOES}\s+{_LITTLE}(?:{TOPIC}|{LIST_WORD}|(?:[\w-]+\s+){LIST_WORD})",
    rf"\b(?:belongs?|goes|should\s+go)\b[^.;!?]*(?:{TOPIC}|\b{LIST_WORD})",
    rf"^\W*{LEADS}(?:{TOPIC}|(?:my\s+)?{LIST_WORD})\s*[:=]",
    rf"{TOPIC}\s+(?:that\s+)?(?:i|we)\s+(?:really\s+)?(?:like|love|enjoy|adore)\b",
)
_RANK: Final = re.compile(_RF, re.IGNORECASE)


def mentions_rank(words: str) -> bool:
    """Say whether words name a rank or speak of a favorite at all."""
    return _RANK.search(words) is not None or _LISTED.search(words) is not None


def places(words: str) -> bool:
    """Say whether words make the value a favorite or give it a rank."""
    if _LISTED.search(words):
        return True
    words = _COUNTED.sub(" ", words)
    return any(frame.search(words) for frame in _FRAMES) and sure(words)


def sure(words: str) -> bool:
    """Say whether words speak of favorites: "my second dog" and "first" do not, "#2" does."""
    return bool(_SURE.search(words) or _ON_A_LIST.search(words) or _OWN.search(words))


_OWN: Final = re.compile(
    r"\b(?:my|our)\s+(?:top|first|second|third)\s+(?:picks?|choices?|spot|place)\b|\btop\b"
    r"|\b(?:first|second|third|last)\s+(?:picks?|choices?|place)\b"
    rf"|\b(?:my|our)\s+{RANK}\s*(?:$|[.,;!])"
    rf"|(?:^|[,;:]\s*){LEADS}(?:make|put|rank|place|set|move|insert|add)\s+{_V}[^.;!?]{{0,12}}"
    rf"\s{RANK}(?:\s+place)?\s*(?:$|[.,;!])",
    re.IGNORECASE,
)


def places_first(words: str) -> bool:
    """Say whether words put the value above all others without a rank: "I like BTC most"."""
    return _MOST.search(words) is not None


def relative(words: str) -> bool:
    """Say whether words ask for a place that only the list tells: "put ETH above BTC"."""
    if any(frame.search(words) for frame in _RELATIVE):
        return True
    return bool(_INSTEAD.search(words) and _ON_A_LIST.search(words))


def adds(words: str) -> bool:
    """Say whether words put the value on a list, at whatever place."""
    return places(words) or any(frame.search(words) for frame in _ADDS)


_BEGIN: Final = re.compile(
    r":|\b(?:are|is|includes?|as|add|append|make|order)\b|\bfirst\b(?=\s*▮|\s+\w)", re.IGNORECASE
)
_ORDER: Final = re.compile(r"\border\b|\branked\b|\branking\b|\bbest\s+to\s+worst\b", re.IGNORECASE)
_STEP: Final = re.compile(
    r"\s*[,;]\s*(?:and\s+)?(?:then\s+|finally\s+|lastly\s+)?|\s+(?:and|then|followed\s+by|plus|&)\s+"
    r"(?:then\s+)?|\s*\n\s*|\s+>\s+|\s*(?:->|→)\s*",
    re.IGNORECASE,
)
_MANY: Final = re.compile(
    r"\bare\b|:|\bfavou?rites\b|\bfavs\b|\border\b|\bthen\b|\btop\b|\blists?\b|\branking\b",
    re.IGNORECASE,
)


def in_order(words: str) -> bool:
    """Say whether words tell a list in its order: "my cryptos in order: BTC, ETH"."""
    return bool(_ORDER.search(words) and _ON_A_LIST.search(words))


def counted_place(words: str) -> int | None:
    """Return which one the value is of several that are told one after another, from 1 on."""
    if not _MANY.search(words):
        return None
    before = words[: words.index(VALUE)]
    begin = max((match.end() for match in _BEGIN.finditer(before)), default=0)
    return 1 + len(_STEP.findall(before[begin:].lstrip()))
