"""Say what of a text holds no names (code, markup, links), and which words may be one."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import is_everyday, is_function_word, is_nationality
from factbook.language.sentences import LINE_END
from factbook.language.words import LETTERS

MAX_TEXT_CHARS: Final = 100_000  # ours: of one text; what follows is pasted material
NAME_CHARS: Final = 100  # ours: of one name; a longer span joins more than a name


class NameSign(StrEnum):
    """Say what made a span look like a name."""

    QUOTED = "quoted"
    READ = "read"  # by the language reader
    MODEL_NUMBER = "model_number"  # letters and digits in one word, and what stands around it
    HASHTAG = "hashtag"


class NameSpan(NamedTuple):
    """A name and its place: `surface` is exactly what stands there."""

    surface: str
    name: str  # canonical (`keys.entity_name`)
    start: int
    end: int
    how: NameSign
    type: str = ""  # person, place, org, product, work or other, where the reader says so


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


def masked(text: str) -> str:
    """Return a text of the same length in which code, addresses and markup are blotted out."""
    return _UNREAD.sub(lambda match: LINE_END * len(match[0]), text[:MAX_TEXT_CHARS])


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

    The words that carry grammar tell: the commonest of every language, and few are words of two.
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
    """Say whether a word may be a name by itself: "ls50", but no everyday word and no number."""
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


def is_shouted(text: str) -> bool:
    """Say whether a text is in capitals, everyday words among them: no name ("KEF LS50")."""
    return text.isupper() and sum(map(is_everyday, LETTERS.findall(text.casefold()))) > 1
