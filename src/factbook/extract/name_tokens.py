"""Cut a message into words as names need them: with capitals, and whether they open a sentence.

Knows: what holds no names (code, markup, links), which language a text is in, and which words with
a capital are none of a name. Does not know where a name begins and ends (`names`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import (
    is_everyday,
    is_function_word,
    is_nationality,
)
from factbook.language.sentences import LINE_END, sentences
from factbook.language.words import LETTERS
from factbook.net import cancel

__all__ = [
    "CODE_TAILS",
    "COUNTED",
    "FILE",
    "MEASURE",
    "MODEL",
    "NAME_CHARS",
    "NEVER",
    "TAKEN",
    "NameSign",
    "NameSpan",
    "Token",
    "is_capital",
    "is_english",
    "is_shouted",
    "is_shouting",
    "is_title",
    "is_uncommon",
    "masked",
    "sentences_of",
    "tokens_of",
]


MAX_TEXT_CHARS: Final = 100_000  # ours: of one text; what follows is pasted material
NAME_CHARS: Final = 100  # ours: of one name; a longer span joins more than a name
TITLE_WORDS: Final = 4  # ours: words that a line has before its capitals may be a title's
TITLE_SHARE: Final = 0.7  # ours: of them, capitalised, where capitals tell nothing


TAKEN: Final = "\x1d"  # of a span that is read; unlike LINE_END, no sentence ends there


class NameSign(StrEnum):
    """Say what made a span look like a name."""

    QUOTED = "quoted"
    CAPITALISED = "capitalised"
    MODEL_NUMBER = "model_number"  # letters and digits in one word, and what stands around it
    HASHTAG = "hashtag"


class NameSpan(NamedTuple):
    """A name and its place: `surface` is exactly what stands there."""

    surface: str
    name: str  # canonical (`keys.entity_name`)
    start: int
    end: int
    how: NameSign


class Token(NamedTuple):
    text: str
    start: int
    end: int
    opens: int  # 0: inside a sentence; 1: its first word; 2: after a colon, a dash or a bullet

    @property
    def low(self) -> str:
        return self.text.casefold().replace("’", "'")


# --- what holds no names --------------------------------------------------------------------------

_UNREAD: Final = re.compile(
    r"```.*?(?:```|\Z)"  # code between fences
    r"|~~~.*?(?:~~~|\Z)|`[^`\n]{1,400}`"
    r"|<!--(?:(?!<!--).)*?-->|</?[a-zA-Z][^<>\n]{0,200}>"  # markup
    r"|\[(?:REDACTED|[uU]ser|[yY]our|[nN]ame|[iI]nsert|[mM]y)[^\]\n]{0,100}\]"
    r"|(?<=\])\([^()\s]{1,2000}\)"  # where a link of Markdown leads
    r"|\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s<>\"]{1,2000}"
    r"|\b[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,5}\.(?:com|org|net|io|dev|co|gov|edu|de|fr|uk|eu"
    r"|info|ai|app)/[^\s<>\"]{0,2000}"
    r"|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}"  # mail
    r"|(?<!\w)@\w[\w.-]{0,60}"  # whom a message is for
    r"|(?<![\w.])(?:~|\.{1,2})?(?:/[\w.@+-]{1,100}){2,20}/?"  # paths
    r"|\b[A-Za-z]:\\\S{1,300}|\b[^\W_]{1,60}(?:_+[^\W_]{1,60}){1,10}|\b\w{1,60}(?:::|->)\w{1,60}"
    r"|\b[\w.]{1,80}\(\)?"  # code in prose
    r"|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"  # digests
    r"|(?<!\w)--?[A-Za-z][\w-]{0,40}(?:=\S{0,200})?",  # options of a command
    re.DOTALL,
)
_CODE_LINE: Final = re.compile(
    r"(?:(?:from[ ]\S+[ ]import|import[ ][\w.]+(?:[ ]as[ ]\w+)?$|def[ ]\w+"
    r"|class[ ]\w+[(:{]|return\b.*[;)\]]$|(?:const|let|var)[ ]\w+[ ]?[=;:]"
    r"|(?:public|private|protected)[ ](?:static|class|void|int|final|async|\w+\()"
    r"|(?:func|fn)[ ]\w+\(|#include|package[ ]\w+;|SELECT[ ].+[ ]FROM\b|INSERT[ ]INTO\b"
    r"|UPDATE[ ]\w+[ ]SET\b|CREATE[ ]TABLE)|(?:[$#%>]|>>>|\.\.\.|PS[ ]\S*>)[ ]+(?:sudo|git|cd|ls"
    r"|npm|pip|python|docker|kubectl|make|cargo|go|curl)\b|Traceback[ ]|File[ ]\""
    r"|at[ ][\w.$<>]+\(|\w+(?:\.\w+)*(?:Error|Exception)\b|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|(?:INFO|DEBUG|WARN|WARNING|ERROR|FATAL|TRACE)\b|[+-]{3}[ ]|@@[ ]|diff[ ]--git"
    r"|\|.*\|[ \t]*$|.*[=(].*[;{}][ \t]*$|[{}\])]+[;,]?[ \t]*$).*$",
)
_LINE: Final = re.compile(r"^[^\n]{1,300}$", re.MULTILINE)  # a longer line is prose


def masked(text: str) -> str:
    """Return a text of the same length in which code, addresses and markup are blotted out."""
    return _UNREAD.sub(_blanks, _LINE.sub(_without_code, text[:MAX_TEXT_CHARS]))


def _blanks(match: re.Match[str]) -> str:
    return LINE_END * len(match[0])


def _without_code(match: re.Match[str]) -> str:
    return _blanks(match) if _CODE_LINE.match(match[0].strip()) else match[0]


# --- which language -------------------------------------------------------------------------------

_OTHER_TONGUES: Final = word_set("""
    der das und ist nicht ich wir sie ein eine einen mit für auf dem den des auch habe hat mein
    meine     zu von im wie wenn aber oder sehr bei noch nur schon
    le les une et est dans pour avec sur je tu nous vous il elle que qui pas mon ma mes des du au ce
    cette sont très mais
    el los las una y es en por con para mi yo tú él ella que no muy pero como más está son
    il lo gli uno di che è per con mio mia sono molto ma anche della del nel
    o os um uma e é em não com para meu minha eu você muito mas são está
    het een en van ik niet wij mijn met voor maar ook
    og det er ikke jeg på som med til av och att är inte jag på för det har
    jest nie się na z do to mam mój
    bir ve bu için çok ben
    """) - word_set("den no me to do on an is i as a or so in as are was war man die her am")
_MANY: Final = 4  # words of prose without one that only English has: another language


def is_english(text: str) -> bool:
    """Say whether a text may be read as English; a few words without any grammar may.

    Told by the words that carry grammar: they are the commonest of every language, and few of them
    are words of two.
    """
    words = [word.casefold().replace("’", "'") for word in LETTERS.findall(text[:4_000])]
    if not words:
        return False
    english = sum(is_function_word(word) for word in words)
    other = sum(word in _OTHER_TONGUES for word in words)
    if other > english:
        return False
    if sum(word[0] < "\u0250" for word in words) * 2 < len(words):
        return False  # mostly in another script
    lower = [word for word in words if word.islower()]
    unknown = sum(not is_everyday(word) for word in lower)
    return not (len(lower) >= _MANY and unknown * 2 > len(lower) and english * 5 < len(lower))


def is_uncommon(word: str) -> bool:
    """Say whether a word may be a name by itself: it is neither of everyday use nor of a calendar.

    A word of digits alone is none; "ls50" is one.
    """
    low = word.casefold().replace("’", "'").removesuffix("'s")
    return (
        len(low) > 1
        and any(char.isalpha() for char in low)
        and not is_everyday(low)
        and not is_calendar_word(low)
        and not is_nationality(low)
        and not MEASURE.fullmatch(low)
        and not COUNTED.fullmatch(low)
        and not is_nationality(low.partition("-")[0])
    )


# --- words ----------------------------------------------------------------------------------------

_TOKEN: Final = re.compile(
    r"(?:[^\W\d_]\.){2,}"  # J.R.R.
    r"|(?:St|Dr|Mr|Mrs|Ms|Jr|Sr)\.(?= [A-Z])|[^\W_]+(?:(?:['’&+-](?=[^\W_])|\.(?=[a-z0-9])"
    r"|(?<![a-z])\.(?=[A-Z]\b))[^\W_]+)*(?:\+\+|\+(?!\w)|#(?!\w))?"
)
MEASURE: Final = re.compile(
    r"[\d.,]+(?:st|nd|rd|th|s|k|m|b|bn|g|gb|tb|mb|kb|am|pm|km|kms|cm|mm|mi|ft|in|kg|kgs|g|mg|lb"
    r"|lbs|oz|w|kw|kwh|v|mah|hz|khz|mhz|ghz|fps|p|d|h|hr|hrs|min|mins|sec|secs|x|yo|yrs?|mph|kmh"
    r"|l|ml|px|c|f|k|bit|bits|ms|am-\d+pm)?(?:-[\d.,]+\w{0,2})?|v?\d+(?:\.\d+)*|[1-9]\d?(?:am"
    r"|pm)-\d+(?:am|pm)|q[1-4]|h[1-6]|[a-z]|mp[34]|4k|5g|4g|3g|3d|2d|24/7|b2b|b2c|i18n|a11y|l10n"
    r"|utf-?8|base64|x86|x64|int\d+|float\d+|sha\d+|md5|h26[45]|e2e|p2p|o\(\w+\)|covid-?19|y2k|f1"
    r"|k-?12|401k|1-on-1|1:1|\d+-\w+"
)
COUNTED: Final = re.compile(
    r"\d+(?:-?[^\W\d_]{3,}|[a-z]s|-.*-.*)|mid-.*|\d+\w*-\w+-\w+"
)  # "60years": a number, and no blank after it
MODEL: Final = re.compile(r"(?=\w*-?\w*\d)(?=\w*-?\w*[^\W\d_])[^\W_]+(?:-[^\W_]+)*")


_SOFT_STOP: Final = re.compile(
    r"[:;—–•|/]|\s-+\s|[^\x00-\u2000\u2018-\u201f]|[\"“«(\[]\s*$"
)  # also an emoji


def tokens_of(text: str) -> list[Token]:
    """Return the words of a text, each with whether it opens a sentence."""
    tokens: list[Token] = []
    last = 0
    starts = (sentence.start for sentence in sentences(text))
    start = next(starts, len(text))
    for match in _TOKEN.finditer(text):
        cancel.check()
        gap = text[last : match.start()]
        opens = 2 if _SOFT_STOP.search(gap) else 0
        if match.end() > start or not tokens:
            opens = 2 if tokens and _BULLET.search(gap) else 1
            while start < match.end():
                start = next(starts, len(text) + 1)
        tokens.append(Token(match[0], match.start(), match.end(), opens))
        last = match.end()
    return tokens


_BULLET: Final = re.compile(r"\n\s*(?:[-*•·▪◦‣>]|\d+[.)])")


def is_capital(word: str) -> bool:
    """Say whether a word is written as a name is: KEF, Radiohead, iPhone, LS50, 3M."""
    if FILE.fullmatch(word):
        return False
    if word[0].isupper() or word[0].istitle():
        return True
    if not any(char.isupper() for char in word):
        return False
    head = re.match(r"[^\W\d_]+", word)
    small = re.match(r"[a-z]+", word)
    if small and len(small[0]) > 1 and (is_everyday(small[0]) or small[0] in _CODE_HEADS):
        return False  # getUser, useEffect: a name of code
    return bool(head) or any(char.isalpha() and char.isupper() for char in word[:3])


FILE: Final = re.compile(
    r"[\w+&-]{1,60}(?:\.[\w+-]{1,60}){0,3}\.(?:py|pyc|ipynb|tsx?|jsx|mjs|java|kt|cpp|cc|hpp|cs|rs"
    r"|rb|php|swift|sh|ps1|bat|exe|dll|sql|html?|css|scss|json|jsonl|ya?ml|toml|ini|cfg|conf|env"
    r"|lock|log|md|rst|txt|csv|tsv|xml|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|mp3|mp4|wav|zip"
    r"|tar|gz)|[a-z][\w-]{0,60}\.js"
)  # "main.py" of an error; "Node.js" is a name
_CODE_HEADS: Final = word_set("str obj arr num param args kwargs ctx req res err cfg init async")
CODE_TAILS: Final = re.compile(
    r"(?:[A-Z][a-z]+)+(?:Error|Exception|Service|Controller|Factory|Handler|Manager|Impl|Test"
    r"|Tests|Util|Utils|Helper|Provider|Repository|Builder|Interface|Listener|Adapter|Props"
    r"|Config)"
)

# Written with a capital and yet no name: kin, titles, feasts, subjects, short forms.
NEVER: Final = word_set("""
    i ok okay tv mom dad mum mommy daddy mama papa grandma grandpa granny nana aunt uncle god lord
    jesus christ bible internet web christmas xmas easter thanksgiving halloween hanukkah ramadan
    santa heaven hell earth sun moon president king queen pope doctor dr mr mrs ms sir madam prof
    professor captain coach ceo cto cfo coo vp hr pr qa phd mba ba bs ms ma gpa sat act diy faq asap
    lol omg wtf lmao rofl imo imho tbh fyi btw idk psa tldr aka rsvp eta pov dm pm am id ip pc cd
    dvd usb led hd gps atm ac dj mc vip bbq ux ui api url pdf csv json xml html css sql http
    https ssh cli sdk ide cpu gpu ram ssd rgb llm ai ml it os pin eu us uk usa nyc la kpi okr roi
    pto wfh poc
    mvp wifi wi-fi bluetooth e-mail email spring summer autumn fall winter university college school
    math maths history science biology chemistry physics psychology philosophy art music sociology
    user assistant human bot admin n/a na tba tbd todo fixme note nb ps re fw fwd cc bcc yes no ny
    institute center centre company lab group team board committee office street road avenue bank
    golden
    mother father brother sister wife husband grandmother grandfather i'm i've i'd i'll republican
    democrat amen x xd xoxo
    """)


_NO_TITLES: Final = word_set("""
    some my your any this these those i'm it's i've me us you he she him her we they them
    """)
"""Small words that a title would write with a capital: "Play some Miles Davis" is none."""


def is_shouted(text: str) -> bool:
    """Say whether a sentence is written in capitals from its first word to its last.

    A name in capitals is none ("KEF LS50"): everyday words have to be among them.
    """
    return is_shouting(tokens_of(text))


def is_shouting(tokens: list[Token]) -> bool:
    lettered = [token for token in tokens if any(map(str.isalpha, token.text))]
    return all(token.text.isupper() for token in lettered) and is_title(tokens)


def is_title(tokens: list[Token]) -> bool:
    """Say whether the capitals of a sentence tell nothing: it is a title, or somebody shouts."""
    words = [token for token in tokens if token.text[0].isalpha() and len(token.text) > 1]
    if len(words) < 3:
        return False
    shouted = [token for token in words if token.text.isupper()]
    everyday = sum(is_everyday(token.low) and token.low not in NEVER for token in shouted)
    if everyday >= 2 and len(shouted) * 5 >= len(words) * 3:
        return True
    long = [token for token in words if len(token.text) > 3]
    if len(words) < TITLE_WORDS or len(long) < 3:
        return False
    high = sum(token.text[0].isupper() for token in long)
    common = sum(token.text[0].isupper() and is_everyday(token.low) for token in long[1:])
    low = sum(
        token.text.islower() and (not is_function_word(token.low) or token.low in _NO_TITLES)
        for token in words
    )
    return common > 0 and low * 12 <= len(words) and high >= TITLE_SHARE * len(long)


def sentences_of(tokens: list[Token]) -> Iterator[list[Token]]:
    begin = 0
    for index, token in enumerate(tokens):
        if index and token.opens == 1:
            yield tokens[begin:index]
            begin = index
    if tokens:
        yield tokens[begin:]
