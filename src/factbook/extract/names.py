"""Find what may be a name in a text.

Knows: the signs of a name (quotes, capitals, digits in a word, a hashtag) and where capitals tell
nothing (the first word of a sentence, titles, shouting, code, other languages). Does not know which
names are known already, who speaks, or what is kept: `heard` reads what an owner says of a name,
and the gate judges it.

Names are read in English text. Of a text in another language only signs that need no grammar are
taken: quoted titles, words with digits, hashtags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.base import word_set
from factbook.language.calendar import WEEKDAY_NAMES, is_calendar_word
from factbook.language.common_words import (
    is_everyday,
    is_function_word,
    is_greeting,
    is_nationality,
    is_place,
    opens_sentences,
)
from factbook.language.coordination import split_spoken_list
from factbook.language.nouns import is_plural
from factbook.language.numbers import CARDINALS
from factbook.language.sentences import LINE_END, sentences
from factbook.model.keys import entity_name
from factbook.net import cancel

__all__ = [
    "ALSO_NAMES",
    "MAX_TEXT_CHARS",
    "VARIANTS",
    "NameSign",
    "NameSpan",
    "is_english",
    "is_headline",
    "is_shouted",
    "is_uncommon",
    "masked",
    "names_in",
]

MAX_TEXT_CHARS: Final = 100_000  # ours: of one text; what follows is pasted material
NAME_CHARS: Final = 100  # ours: of one name; a longer span joins more than a name
TITLE_WORDS: Final = 4  # ours: words that a line has before its capitals may be a title's
TITLE_SHARE: Final = 0.7  # ours: of them, capitalised, where capitals tell nothing


_TAKEN: Final = "\x1d"  # of a span that is read; unlike LINE_END, no sentence ends there


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


class _Token(NamedTuple):
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

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
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
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(text[:4_000])]
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
        and not _MEASURE.fullmatch(low)
        and not _COUNTED.fullmatch(low)
        and not is_nationality(low.partition("-")[0])
    )


# --- words ----------------------------------------------------------------------------------------

_TOKEN: Final = re.compile(
    r"(?:[^\W\d_]\.){2,}"  # J.R.R.
    r"|(?:St|Dr|Mr|Mrs|Ms|Jr|Sr)\.(?= [A-Z])|[^\W_]+(?:(?:['’&+-](?=[^\W_])|\.(?=[a-z0-9])"
    r"|(?<![a-z])\.(?=[A-Z]\b))[^\W_]+)*(?:\+\+|\+(?!\w)|#(?!\w))?"
)
_MEASURE: Final = re.compile(
    r"[\d.,]+(?:st|nd|rd|th|s|k|m|b|bn|g|gb|tb|mb|kb|am|pm|km|kms|cm|mm|mi|ft|in|kg|kgs|g|mg|lb"
    r"|lbs|oz|w|kw|kwh|v|mah|hz|khz|mhz|ghz|fps|p|d|h|hr|hrs|min|mins|sec|secs|x|yo|yrs?|mph|kmh"
    r"|l|ml|px|c|f|k|bit|bits|ms|am-\d+pm)?(?:-[\d.,]+\w{0,2})?|v?\d+(?:\.\d+)*|[1-9]\d?(?:am"
    r"|pm)-\d+(?:am|pm)|q[1-4]|h[1-6]|[a-z]|mp[34]|4k|5g|4g|3g|3d|2d|24/7|b2b|b2c|i18n|a11y|l10n"
    r"|utf-?8|base64|x86|x64|int\d+|float\d+|sha\d+|md5|h26[45]|e2e|p2p|o\(\w+\)|covid-?19|y2k|f1"
    r"|k-?12|401k|1-on-1|1:1|\d+-\w+"
)
_COUNTED: Final = re.compile(
    r"\d+(?:-?[^\W\d_]{3,}|[a-z]s|-.*-.*)|mid-.*|\d+\w*-\w+-\w+"
)  # "60years": a number, and no blank after it
_MODEL: Final = re.compile(r"(?=\w*-?\w*\d)(?=\w*-?\w*[^\W\d_])[^\W_]+(?:-[^\W_]+)*")


_SOFT_STOP: Final = re.compile(
    r"[:;—–•|/]|\s-+\s|[^\x00-\u2000\u2018-\u201f]|[\"“«(\[]\s*$"
)  # also an emoji


def _tokens(text: str) -> list[_Token]:
    """Return the words of a text, each with whether it opens a sentence."""
    found: list[_Token] = []
    last = 0
    starts = (one.start for one in sentences(text))
    start = next(starts, len(text))
    for match in _TOKEN.finditer(text):
        cancel.check()
        gap = text[last : match.start()]
        opens = 2 if _SOFT_STOP.search(gap) else 0
        if match.end() > start or not found:
            opens = 2 if found and _BULLET.search(gap) else 1
            while start < match.end():
                start = next(starts, len(text) + 1)
        found.append(_Token(match[0], match.start(), match.end(), opens))
        last = match.end()
    return found


_BULLET: Final = re.compile(r"\n\s*(?:[-*•·▪◦‣>]|\d+[.)])")


def _capital(word: str) -> bool:
    """Say whether a word is written as a name is: KEF, Radiohead, iPhone, LS50, 3M."""
    if _FILE.fullmatch(word):
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


_FILE: Final = re.compile(
    r"[\w+&-]{1,60}(?:\.[\w+-]{1,60}){0,3}\.(?:py|pyc|ipynb|tsx?|jsx|mjs|java|kt|cpp|cc|hpp|cs|rs"
    r"|rb|php|swift|sh|ps1|bat|exe|dll|sql|html?|css|scss|json|jsonl|ya?ml|toml|ini|cfg|conf|env"
    r"|lock|log|md|rst|txt|csv|tsv|xml|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|mp3|mp4|wav|zip"
    r"|tar|gz)|[a-z][\w-]{0,60}\.js"
)  # "main.py" of an error; "Node.js" is a name
_CODE_HEADS: Final = word_set("str obj arr num param args kwargs ctx req res err cfg init async")
_CODE_TAILS: Final = re.compile(
    r"(?:[A-Z][a-z]+)+(?:Error|Exception|Service|Controller|Factory|Handler|Manager|Impl|Test"
    r"|Tests|Util|Utils|Helper|Provider|Repository|Builder|Interface|Listener|Adapter|Props"
    r"|Config)"
)

# Written with a capital and yet no name: kin, titles, feasts, subjects, short forms.
_NEVER: Final = word_set("""
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
# Names of makers, tools and people that are everyday words.
ALSO_NAMES: Final = word_set("""
    apple slack notion discord signal steam target shell gap subway square stripe zoom teams word
    excel chrome safari edge swift rust go oracle meta amazon twitch medium reddit spark airflow
    snowflake linear figma sketch obsidian kindle switch tinder bumble hinge peloton ring nest alexa
    siri cortana windows office outlook access pages numbers photos maps drive docs sheets bing
    fiverr blender unity unreal inception parasite arrival gravity interstellar portal fortnite
    destiny oasis queen cream genesis journey rush yes kiss boston chicago blur pulp tool prince
    mark grace bill rob sue frank rose hope faith joy chase grant dean cliff ray art ruby amber
    pearl daisy lily ivy olive violet iris dawn gene guy jay miles wade carol ginger drew
    jack pat
    """)
VARIANTS: Final = word_set("mini max pro ultra lite nano micro junior jr se xl evo deluxe elite")
"""Behind the name of a thing, in lower case too, these make it the name of another model."""
_NUMBER: Final = re.compile(r"\d{1,4}(?:\.\d{1,3}){0,2}|[IVX]{2,5}|[VX]")
_UNITS: Final = re.compile(
    r"(?:years?|yrs?|months?|weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|times?|people"
    r"|percent|%|dollars?|euros?|pounds?|bucks|km|miles?|meters?|metres?|feet|inch|inches|am|pm"
    r"|o'clock|of|million|billion|thousand|hundred|k|kg|lbs?|degrees?|pages?|points?|or|more"
    r"|other|different|kids?|children|x|st|nd|rd|th|(?!reviews|specs|prices|speakers|headphones"
    r"|has|was|does|plus|sounds|slaps|slays|bangs|hits|kicks|blows|rocks|rules|sucks|stinks|lags"
    r"|owns|looks|feels|plays|works|runs|seems|crashes|keeps|costs|deserves|arrives|launches"
    r"|comes|gets|makes|needs|wins|beats|holds|lives|drops|breaks|takes|goes)\w{3,}(?<!s)s)"
)
_JOINTS: Final = word_set("de la le les van von der den di da del du des dos das el al y bin ibn")
_INSTITUTION: Final = word_set("""
    center centre institute society foundation campaign organization organisation association
    council ministry department school fund office bureau centers academy college network
    """)
_ROLES: Final = word_set("""
    ceo cto cfo coo vp president director head chief king queen prince princess mayor governor
    minister professor author founder co-founder most some all one any many both none because
    """)
_DAY_LEADS: Final = word_set(
    "on in next last this by until till since every from for of late early"
)
_VERB_AFTER: Final = word_set("""
    is isn't was wasn't has had does doesn't did didn't will won't would can can't could makes made
    said says told tells thinks sounds looks feels plays played seems just really announced released
    launched came comes went goes got gets gave gives keeps started joined moved works worked used
    uses sells sold costs called asked wants loves likes hates needs knows lives rocks sucks rules
    recommended suggested and vs versus ran wrote found met took built read sent spent left kept put
    held led won lost spoke brought bought taught thought became began grew knew let set wanted
    """)


_NO_TITLES: Final = word_set("""
    some my your any this these those i'm it's i've me us you he she him her we they them
    """)
"""Small words that a title would write with a capital: "Play some Miles Davis" is none."""


def is_shouted(text: str) -> bool:
    """Say whether a sentence is written in capitals from its first word to its last.

    A name in capitals is none ("KEF LS50"): everyday words have to be among them.
    """
    return _is_shouting(_tokens(text))


def _is_shouting(tokens: list[_Token]) -> bool:
    lettered = [token for token in tokens if any(map(str.isalpha, token.text))]
    return all(token.text.isupper() for token in lettered) and _is_title(tokens)


def _is_title(tokens: list[_Token]) -> bool:
    """Say whether the capitals of a sentence tell nothing: it is a title, or somebody shouts."""
    words = [token for token in tokens if token.text[0].isalpha() and len(token.text) > 1]
    if len(words) < 3:
        return False
    shouted = [token for token in words if token.text.isupper()]
    everyday = sum(is_everyday(token.low) and token.low not in _NEVER for token in shouted)
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


def _sentences(tokens: list[_Token]) -> Iterator[list[_Token]]:
    begin = 0
    for index, token in enumerate(tokens):
        if index and token.opens == 1:
            yield tokens[begin:index]
            begin = index
    if tokens:
        yield tokens[begin:]


# --- quotes and hashtags --------------------------------------------------------------------------

_QUOTE: Final = re.compile(
    r"(?P<a>(?<![\w\"])\"(?P<at>[^\"\n]{1,120})\"(?![\w\"]))|“(?P<bt>[^”“\n]{1,120})”"
    r"|«(?P<ct>[^»«\n]{1,120})»|《(?P<dt>[^》《\n]{1,60})》|„(?P<et>[^“”„\n]{1,120})[“”]"
    r"|(?<![\w'’])['‘](?P<ft>[A-Z][^'’‘\n\"]{1,60}(?:['’](?=\w)[^'’‘\n\"]{1,40})?)['’](?![\w])"
)
_CALLED: Final = re.compile(
    r"\b(?:called|named|titled|entitled|book|novel|film|movie|song|album|track|show|series|game"
    r"|band|podcast|app|play|musical|anime|manga|comic|poem|documentary|magazine|restaurant|bar"
    r"|cafe|brand|tool|library|channel|product|project|paper|reading|watching|playing|read"
    r"|watched|finished)[,:]?\s*$",
    re.IGNORECASE,
)
_PRESSED: Final = re.compile(
    r"\b(?:click(?:ed|ing)?(?: on)?|press(?:ed|ing)?|hit|select(?:ed)?|choose|tap(?:ped)?"
    r"|type[ds]?|word|words|say|says|said|saying|spell(?:ed)?|means|called it|so-called|phrase"
    r"|error|message|column|field|key|value|string|variable|label)[,:]?\s*(?:the\s*)?$",
    re.IGNORECASE,
)
_PRESSED_AFTER: Final = re.compile(
    r"\s*(?:button|key|tab|menu|option|field|checkbox|link|column|flag|error|label|page|setting"
    r"|command|object|attribute|module|instance|type|exception|parameter"
    r"|argument|string|header|status|state|mode|folder|branch)\b",
    re.IGNORECASE,
)
_SPOKEN: Final = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|you|you're|we|we're|let's|don't|it's|that's|please)\b",
    re.IGNORECASE,
)
_HASHTAG: Final = re.compile(r"(?<![\w&/#])#(?P<tag>[^\W\d_][\w-]{1,50})")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[-_]")


def _quoted(text: str, *, english: bool) -> Iterator[NameSpan]:
    for match in _QUOTE.finditer(text):
        group = next(name for name in ("at", "bt", "ct", "dt", "et", "ft") if match[name])
        start, end = match.span(group)
        inner = match[group]
        words = inner.split()
        if LINE_END in inner or not 1 <= len(words) <= policy.NAME_WORDS:
            continue
        if group == "dt":
            yield from _span(text, start, end, NameSign.QUOTED)
            continue
        before, after = text[: match.start()][-60:], text[match.end() : match.end() + 30]
        called = _CALLED.search(before) is not None
        if not called and (_PRESSED.search(before) or _PRESSED_AFTER.match(after)):
            if len(words) < 3:
                yield NameSpan(inner, "", start, end, NameSign.QUOTED)  # no name, however written
            continue
        headline = is_headline(words)
        if inner[-1] in ".!?,;:…":
            end -= len(inner) - len(inner.rstrip(".,;:"))
            if inner[-1] in ".!?…" and not headline and not called:
                continue
        if _SPOKEN.search(inner) and not headline:
            continue
        lows = [word.casefold().strip(".,:;!?'’") for word in words]
        if not called and not headline and not (english and any(map(is_uncommon, lows))):
            continue
        if len(lows) == 1 and not called and (opens_sentences(lows[0]) or lows[0] in _NEVER):
            continue
        if lows[0] in ("the", "a", "an") and (len(lows) > 2 or is_uncommon(lows[-1])):
            start += len(words[0]) + 1
        yield from _span(text, start, end, NameSign.QUOTED)


def is_headline(words: list[str]) -> bool:
    """Say whether every word that carries meaning has a capital."""
    weighty = [word for word in words if len(word) > 3 or not is_function_word(word.casefold())]
    return words[0][:1].isupper() and all(not word[:1].islower() for word in weighty)


def _hashtags(text: str) -> Iterator[NameSpan]:
    """Yield every hashtag; one of everyday words ("#fun") has no name."""
    for match in _HASHTAG.finditer(text):
        tag, start, end = match["tag"], match.start("tag"), match.end("tag")
        colour = re.fullmatch(r"[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8}", tag)
        words = [word.casefold() for word in _HUMP.split(tag) if word]
        named = not colour and (len(words) > 1 or is_uncommon(tag))
        name = entity_name(" ".join(words)) if named else ""
        yield NameSpan(tag, "" if is_place(name) else name, start, end, NameSign.HASHTAG)


# --- capitals and digits --------------------------------------------------------------------------


def names_in(text: str) -> list[NameSpan]:
    """Return what may be names in a text, in its order, no two of them overlapping.

    Words of everyday use, months, days, languages and large places are none by themselves, and the
    first word of a sentence is one only where something else says so.
    """
    plain = _without_items(masked(text))
    signed = _SIGNATURE.search(plain)
    if signed and not _is_listed(plain, signed):
        plain = plain[: signed.start("by")] + LINE_END * (len(plain) - signed.start("by"))
    cancel.check()
    english = is_english(plain.replace(LINE_END, " "))
    cancel.check()
    found = [*_quoted(plain, english=english), *_hashtags(plain)]
    taken = list(plain)
    for span in found:
        taken[span.start : span.end] = _TAKEN * (span.end - span.start)
    tokens = _tokens("".join(taken))
    read = "".join(taken)
    cancel.check()
    inside = _named_inside(tokens) | _taken_up(read)
    for sentence in _sentences(tokens):
        cancel.check()
        found += _in_sentence(read, sentence, inside=inside, english=english)
    ordered = sorted((span for span in found if span.name), key=lambda span: span.start)
    return _subtitled(plain, ordered, tokens)


_MARGIN: Final = 12  # of blanks before the first word of a line, at most
_ITEM: Final = re.compile(r"(?<![^\s(])(?P<number>\d{1,2})[.)](?=\s)")
_SIGNATURE: Final = re.compile(
    r"\n\s{0,8}(?:(?P<dash>--?|[–—~])[ \t]?|(?i:(?:kind |best |warm )?(?:regards|wishes)|best"
    r"|cheers|sincerely(?: yours)?|yours(?: truly| sincerely| faithfully)?|love|thanks"
    r"|many thanks|thank you|xo{1,4}x?o?)[,.!]?[ \t\n]{1,4})"
    r"(?P<by>[^\W\d_][\w'’-]{0,30}\.?(?: [^\W\d_][\w'’-]{0,30}\.?){0,2})\s{0,8}\Z"
)


def _without_items(text: str) -> str:
    """Blot out the numbers of a list within a line: "1. call Tom 2. email Lisa 3. book flights".

    A number is one of a list where the number before it was one as well.
    """
    items = list(_ITEM.finditer(text))
    numbers = {int(item["number"]) for item in items}
    seen: set[int] = set()
    signs = list(text)
    for item in items:
        number = int(item["number"])
        if number - 1 in seen or (number == 1 and 2 in numbers):
            seen.add(number)
            begin, end = item.span()
            lead = text[max(0, begin - _MARGIN) : begin]
            opens = ("\n" in lead or begin <= _MARGIN) and not lead.rpartition("\n")[2].strip()
            if not opens:
                signs[begin:end] = LINE_END * (end - begin)
    return "".join(signs)


def _is_listed(text: str, signed: re.Match[str]) -> bool:
    """Say whether the last line is an item of a list or tells whom a quote is of, no signature."""
    if not signed["dash"]:
        return not signed["by"][0].isupper()
    before = text[: signed.start()].rstrip()
    last = before[before.rfind("\n") + 1 :].lstrip()
    return (
        not before
        or before.endswith((":", '"', "”"))
        or last.startswith(signed["dash"])
        or (signed["dash"] == "-" and _GOODBYE.search(before[-40:]) is None)
    )


_GOODBYE: Final = re.compile(
    r"(?:[.!?,)…]|\b(?i:thanks|cheers|best|regards|love|bye|xo{0,4}|you|soon|later|luck))\s*\Z"
)  # a message ends here, no list begins


def _named_inside(tokens: list[_Token]) -> frozenset[str]:
    """Return the words that stand with a capital inside a sentence: names, wherever they stand."""
    found = set()
    for token in tokens:
        cancel.check()
        owns = token.low.endswith("'s")
        if not (token.opens or owns) and _capital(token.text) and is_uncommon(token.low):
            found.add(token.low)
    return frozenset(found)


_TAKEN_UP: Final = re.compile(
    r"(?:^|(?<=[.!?\n]))\s{0,4}(?P<name>[A-Z][\w'’&-]{1,30})\s?\?{1,3}\s{1,4}[^.?!\n]{0,60}?"
    r"(?i:\b(?:it|them|those|him|her|that)\b)"
)


def _taken_up(text: str) -> frozenset[str]:
    """Return the words that are asked and then spoken of: "Radiohead? Never liked them"."""
    return frozenset(
        found["name"].casefold() for found in _TAKEN_UP.finditer(text) if is_uncommon(found["name"])
    )


_SUBTITLE: Final = re.compile(r": (?:(?:the|a|an) )?", re.IGNORECASE)
_TITLE_PARTS: Final = word_set("part episode chapter volume season book act series")
_TITLE_ENDS: Final = re.compile(
    r"\s{0,4}(?:[.!?)…]|\Z|\n)|\s(?:today|tonight|tomorrow|yesterday|again|soon|next|this|last|on"
    r"|in|at|with|for|so|right|now|and then|when|to come|release|trailer|soundtrack)\b"
)


def _subtitled(text: str, spans: list[NameSpan], tokens: list[_Token]) -> list[NameSpan]:
    """Join a title and its second part: "can't wait for Hollow Knight: Silksong!".

    A name that opens its line and stands before a colon is whoever speaks, or heads a list.
    """
    opening = {token.start for token in tokens if token.opens}
    joined: list[NameSpan] = []
    for span in spans:
        cancel.check()
        last = joined[-1] if joined else None
        if last is not None and _is_subtitle(text, last, span, opening):
            surface = text[last.start : span.end]
            joined[-1] = NameSpan(surface, entity_name(surface), last.start, span.end, last.how)
        else:
            joined.append(span)
    return joined


def _is_subtitle(text: str, name: NameSpan, after: NameSpan, opening: set[int]) -> bool:
    """Say whether a name behind a colon belongs to the name before it."""
    words, more = name.surface.split(), after.surface.split()
    return (
        NameSign.QUOTED not in (name.how, after.how)
        and _SUBTITLE.fullmatch(text, name.end, after.start) is not None
        and name.start not in opening
        and len(words) + len(more) < policy.NAME_WORDS
        and (len(words) > 1 or more[0].casefold() in _TITLE_PARTS)
        and (after.start - name.end > 2 or not is_plural(words[-1].casefold()))
        and _TITLE_ENDS.match(text, after.end) is not None
    )


def _in_sentence(
    text: str, tokens: list[_Token], *, inside: frozenset[str], english: bool
) -> Iterator[NameSpan]:
    listed = any("," in text[one.end : two.start] for one, two in pairwise(tokens))
    title = _is_title(tokens) and (not listed or all(token.text.isupper() for token in tokens))
    if english and _is_shouting(tokens):
        yield from _in_shouting(text, tokens)
        return
    sloppy = english and not title and _is_sloppy(tokens)
    if english and not title:
        tokens = _calmed(text, tokens)
    index = 0
    while index < len(tokens):
        cancel.check()
        token = tokens[index]
        if not english:
            run = [token]
            if (
                _is_marked(token.text)
                and _capital(token.text)
                and not _MEASURE.fullmatch(token.low)
            ):
                run = _with_capitals(text, tokens, index)
                yield from _judged(text, run, english=False)
            index += len(run)
            continue
        if _capital(token.text) and token.low not in _SELF:
            run = _run(text, tokens, index, title=title, inside=inside)
            ahead = tokens[index - 1] if index else None
            kept = _trimmed(run, tokens, index, title=title, sloppy=sloppy, inside=inside)
            if (
                kept
                and ahead
                and kept[0] is token
                and ahead.text in ("van", "von", "de", "di", "da")
                and _joins(text, tokens, index - 1)
            ):
                kept = [ahead, *kept]
            yield from _judged(text, kept)
            index += len(run)
        elif _is_had(text, tokens, index):
            end = index + 2
            while end < len(tokens) and _joins(text, tokens, end - 1):
                if tokens[end].low not in VARIANTS and not _adds(tokens[end]):
                    break
                end += 1
            yield from _judged(text, tokens[index:end], how=NameSign.MODEL_NUMBER)
            index = end
        elif _is_model(token) or _is_numbered(text, tokens, index):
            before, after = index, index + 1
            while before and _joins(text, tokens, before - 1) and _adds(tokens[before - 1]):
                before -= 1
            while after < len(tokens) and _joins(text, tokens, after - 1) and _adds(tokens[after]):
                after += 1
            yield from _judged(text, tokens[before:after], how=NameSign.MODEL_NUMBER)
            index = after
        else:
            index += 1


def _in_shouting(text: str, tokens: list[_Token]) -> Iterator[NameSpan]:
    """Yield the names of a sentence in capitals: those of uncommon words alone.

    Which everyday words beside them belong to a name ("ELDEN RING", "KELP FARMERS") nothing tells,
    and half of a name is none.
    """
    calm = [token._replace(text=token.text.lower()) for token in tokens]
    index = 0
    while index < len(calm):
        cancel.check()
        begin = index
        while index < len(calm) and _adds_shouted(calm[index]):
            index += 1
            if index == len(calm) or not _joins(text, calm, index - 1):
                break
        run = calm[begin:index]
        if not run:
            index += 1
            continue
        before = calm[begin - 1] if begin and _joins(text, calm, begin - 1) else None
        after = calm[index] if index < len(calm) and _joins(text, calm, index - 1) else None
        if (before is None or is_function_word(before.low) or before.low in _BEFORE_NAMES) and (
            after is None or is_function_word(after.low)
        ):
            yield from _judged(text, run)


def _adds_shouted(token: _Token) -> bool:
    return is_uncommon(token.low) and token.low not in _NEVER and len(token.low) > 2


def _calmed(text: str, tokens: list[_Token]) -> list[_Token]:
    """Return the words of a sentence with those in lower case that are shouted: "I LOVE Jira".

    Beside a name in capitals an everyday word may be part of it ("ELDEN RING"); a verb or a word of
    grammar before it is none.
    """
    calm = list(tokens)
    begin = 0
    while begin < len(tokens):
        end = begin + 1
        while end < len(tokens) and _joins(text, tokens, end - 1) and tokens[end].text.isupper():
            end += 1
        shouted = tokens[begin:end]
        if not tokens[begin].text.isupper():
            begin += 1
            continue
        named = next((at for at, one in enumerate(shouted) if _is_name_in_capitals(one)), None)
        for at, one in enumerate(shouted):
            if (named is None or at < named) and _is_shouted(one):
                calm[begin + at] = one._replace(text=one.text.lower())
        begin = end
    return calm


def _is_name_in_capitals(token: _Token) -> bool:
    return is_uncommon(token.low) or token.low in ALSO_NAMES


def _is_shouted(token: _Token) -> bool:
    """Say whether a word in capitals is one of every day, and no short form ("ARM", "API")."""
    low = token.low
    if not token.text.isupper() or low in _NEVER or low in ALSO_NAMES or len(low) < 2:
        return False
    return is_function_word(low) or opens_sentences(low) or (len(low) > 3 and is_everyday(low))


_DETERMINERS: Final = word_set("""
    a an my your his her our their this that these those some any no is are was were be
    """)  # "my Laptop", "it is Blue": a capital that means nothing
_NUMBERED: Final = word_set("""
    room line chapter section page figure table step part phase level version day week question item
    gate floor unit exit route highway lane grade year season episode volume number act building
    apartment bus train flight terminal platform article group class tier rank option plan file
    slide lesson task issue ticket bug pr row column team house street lot game round scene track
    """)  # with a number they say which, and are no name
_WISHES: Final = word_set("""
    good great morning afternoon evening night day happy new year birthday merry christmas weekend
    friday luck bless you all
    """)
_SELF: Final = frozenset(("i", "i'm", "i've", "i'd", "i'll", "im"))


def _is_marked(word: str) -> bool:
    return any(char.isdigit() for char in word) and any(char.isalpha() for char in word)


def _is_model(token: _Token) -> bool:
    """Say whether a lower-case word is the number of a model: "ls50", "wh-1000xm5"."""
    return (
        len(token.text) > 2
        and not _FILE.fullmatch(token.text)
        and _is_marked(token.text)
        and _MODEL.fullmatch(token.low) is not None
        and not _MEASURE.fullmatch(token.low)
        and not re.fullmatch(r"\d+[a-z]{1,3}", token.low)
        and not _COUNTED.fullmatch(token.low)
    )


_HAVING: Final = word_set("""
    want wants wanted need needed have has had having got get getting buy buying bought own owned
    owns ordered order ordering use used using love loved like liked tried try trying upgrade
    upgraded replaced sold selling my our
    """)
_BEFORE_NAMES: Final = _HAVING | word_set("""
    new hate hated enjoy adore despise watch watched watching play played playing read reading find
    search google hear heard visit visited
    """)
_ARTICLES: Final = word_set("a an the my our new used old this that to of")
_NO_THINGS: Final = word_set("covid")
_HAD_MODEL: Final = re.compile(r"[a-z]{1,3}\d{1,5}[a-z]{0,3}|\d{1,4}(?:\.\d{1,3})?[a-z]?")


def _is_had(text: str, tokens: list[_Token], index: int) -> bool:
    """Say whether a word in lower case is a thing with its model that somebody has or wants.

    "i want an iphone 16 pro", "got a dyson v15".
    """
    token = tokens[index]
    if index + 1 >= len(tokens) or not _adds(token) or token.low in _NO_THINGS or token.opens:
        return False
    number = tokens[index + 1]
    if (
        is_plural(token.low)
        or not _joins(text, tokens, index)
        or not _HAD_MODEL.fullmatch(number.text)
        or (
            re.fullmatch(r"\d+[a-z]", number.text) is not None
            and _MEASURE.fullmatch(number.low) is not None
        )
        or _counts(text, tokens, index + 1)
    ):
        return False
    before = index - 1
    while before > max(0, index - 4) and tokens[before].low in _ARTICLES - _HAVING:
        before -= 1
    return before >= 0 and tokens[before].low in _HAVING


def _is_numbered(text: str, tokens: list[_Token], index: int) -> bool:
    """Say whether a number ends a name in lower case: "wharfedale denton 85"."""
    if index < 2 or not _NUMBER.fullmatch(tokens[index].text) or tokens[index].text[0] in "IVX":
        return False
    if not all(_joins(text, tokens, at) and _adds(tokens[at]) for at in (index - 2, index - 1)):
        return False
    return not _counts(text, tokens, index)


def _counts(text: str, tokens: list[_Token], index: int) -> bool:
    """Say whether a number counts what follows it, and so ends no name: "Anna 3 dogs", "2 more"."""
    if index + 1 >= len(tokens) or not _joins(text, tokens, index):
        return False
    following = tokens[index + 1].low
    if following in ("more", "other", "different") and index + 2 < len(tokens):
        # "2 more times", "5 more." and "3 more than" count; "the Denton 85 more every day" does not
        after = tokens[index + 2].low
        joined = _joins(text, tokens, index + 1)
        return not joined or after in ("of", "than") or _UNITS.fullmatch(after) is not None
    return _UNITS.fullmatch(following) is not None


def _adds(token: _Token) -> bool:
    """Say whether a lower-case word beside the number of a model is part of its name."""
    return not _capital(token.text) and token.text[0].isalpha() and is_uncommon(token.low)


def _joins(text: str, tokens: list[_Token], index: int) -> bool:
    """Say whether only one blank stands between a word and the next."""
    return text[tokens[index].end : tokens[index + 1].start] == " "


def _with_capitals(text: str, tokens: list[_Token], index: int) -> list[_Token]:
    end = index + 1
    while end < len(tokens) and _joins(text, tokens, end - 1) and tokens[end].text[:1].isupper():
        if not _is_marked(tokens[end].text) and len(tokens[end].text) > 8:
            break
        end += 1
    return tokens[index:end]


def _run(
    text: str, tokens: list[_Token], index: int, *, title: bool, inside: frozenset[str]
) -> list[_Token]:
    """Return the words that are written together as one name, from its first on."""
    end = index + 1
    alone = {word + "'s" for word in inside}  # "Anna's Office", where Anna is named as well
    if title and not is_uncommon(tokens[index].low):
        return tokens[index:end]
    while end < len(tokens):
        gap = text[tokens[end - 1].end : tokens[end].start]
        token = tokens[end]
        if _ends_name(tokens[end - 1]) and not (_owned(token) and tokens[end - 1].low not in alone):
            break
        if gap in _ROLLING and "n" in (token.low, tokens[end - 1].low):
            gap = " "  # Guns N' Roses
        if gap not in (" ", " & ", ". ") or (gap == ". " and not _is_initial(tokens, end)):
            break
        if title and not (is_uncommon(token.low) or _NUMBER.fullmatch(token.text)):
            break
        if _capital(token.text) and token.low not in _SELF:
            end += 1
        elif gap == " " and _NUMBER.fullmatch(token.text):
            if _counts(text, tokens, end):
                break
            end += 1
        else:
            more = _joint(text, tokens, end)
            if not more:
                break
            end += more
    return tokens[index:end]


def _is_initial(tokens: list[_Token], index: int) -> bool:
    """Say whether the dot before a word belongs to an initial or a title and not to a sentence."""
    token = tokens[index]
    return not token.opens and not is_function_word(token.low)


_ROLLING: Final = ("' ", "’ ", " '", " ’")


def _owned(token: _Token) -> bool:
    """Say whether a word after a possessive makes one name with it: "Ender's Game"."""
    return token.text.istitle() and is_everyday(token.low) and not is_function_word(token.low)


def _ends_name(token: _Token) -> bool:
    return token.low.endswith(("'s", "s'")) and not token.text.isupper()


def _joint(text: str, tokens: list[_Token], index: int) -> int:
    """Return how many words belong to a name where a small word stands inside it, else 0."""
    word, before = tokens[index].low, tokens[index - 1].low
    steps = 0
    if word in ("of", "for"):
        named = index > 1 and _joins(text, tokens, index - 2) and _capital(tokens[index - 2].text)
        if word == "of" and (before in _ROLES or (named and is_uncommon(before))):
            return 0  # "the CEO of Google", "Anna Berg of Google": two names
        if word == "for" and before not in _INSTITUTION:
            return 0
        steps = 1
        after = index + 1
        if after < len(tokens) and tokens[after].text in ("the", "a"):
            steps = 2
    elif word in ("and", "in", "on", "to", "at", "from", "with", "a", "the"):
        steps = _title_joint(text, tokens, index)
        if not steps:
            return 0
    elif word in _JOINTS and tokens[index].text.islower():
        steps = 1
        after = index + 1
        if after < len(tokens) and tokens[after].text in _JOINTS:
            steps = 2
    last = index + steps
    if not steps or last >= len(tokens):
        return 0
    if not all(_joins(text, tokens, place) for place in range(index - 1, last)):
        return 0
    target = tokens[last]
    if not _capital(target.text) or target.low == "i" or is_calendar_word(target.low):
        return 0
    if word == "of" and is_place(target.low) and is_everyday(before) and tokens[index - 1].opens:
        return 0  # "Most of Europe"
    return steps + 1


def _title_joint(text: str, tokens: list[_Token], index: int) -> int:
    """Return how many small words join everyday words to a title: "Girl on the Train"."""
    word, before = tokens[index].low, tokens[index - 1]
    steps = 1
    if (
        index + 1 < len(tokens)
        and tokens[index + 1].text in ("the", "a")
        and word not in ("a", "the")
    ):
        steps = 2
    if index + steps >= len(tokens):
        return 0
    after = tokens[index + steps]
    if word == "and":
        if len(split_spoken_list(f"{before.text} and {after.text}")) == 1 and steps == 1:
            return 1  # Simon and Garfunkel
        beyond = index + 2
        longer = beyond < len(tokens) and _joins(text, tokens, index + 1)
        if steps > 1 or before.opens or (longer and _capital(tokens[beyond].text)):
            return 0
        if index > 1 and _capital(tokens[index - 2].text) and _joins(text, tokens, index - 2):
            return 0
    if not _is_plain(before) or not (word == "a" or _is_plain(after)):
        return 0
    coming = [token.low for token in tokens[index + steps : index + steps + 3]]
    if any(is_place(" ".join(coming[:count])) for count in (1, 2, 3)):
        return 0
    return steps


def _is_plain(token: _Token) -> bool:
    """Say whether a word with a capital is an everyday one, as in the title "Girl on the Train"."""
    return (
        token.text.istitle()
        and is_everyday(token.low)
        and token.low not in _NEVER
        and token.low not in ALSO_NAMES
        and not is_place(token.low)
        and not is_nationality(token.low)
    )


def _is_sloppy(tokens: list[_Token]) -> bool:
    """Say whether somebody gives capitals to words as they please."""
    high = {
        token.low
        for before, token in pairwise(tokens)
        if not token.opens
        and token.text.istitle()
        and not before.text.istitle()
        and is_everyday(token.low)
        and token.low not in _NEVER
        and token.low not in ALSO_NAMES
    }
    return len(high) > 1


def _trimmed(
    run: list[_Token],
    tokens: list[_Token],
    index: int,
    *,
    title: bool,
    sloppy: bool,
    inside: frozenset[str],
) -> list[_Token]:
    """Return the words of a run that are a name; none where nothing says that they are."""
    before = tokens[index - 1].low if index and not run[0].opens else ""
    following = tokens[index + len(run)] if index + len(run) < len(tokens) else None
    opened = run[0].opens > 0
    run = _without_wishes(run)
    if not run:
        return []
    while len(run) > 1 and _leaves(run, opened=opened):
        before = run[0].low
        run = run[1:]
        if opened and len(run) == 1 and not is_uncommon(run[0].low):
            return []  # "My Office": only the sentence's start, and a word of every day
        opened = False
    if _is_count(run, before):
        return []
    run = _without_days(run, before)
    if len(run) > 1 and run[0].low in ("the", "a", "an"):
        rest = [token.low for token in run[1:]]
        if len(rest) > 1 or is_uncommon(rest[0]) or is_place(rest[0]) or rest[0] in _NEVER:
            run = run[1:]
        elif run[0].opens or run[0].low != "the":
            return []
    while run and (run[-1].low in ("the", "of", "and", "&") or run[-1].low in _JOINTS):
        run = run[:-1]
    if len(run) != 1:
        return run if not run or _is_weighty(run) else []
    alone = _stands_alone(
        run[0], following, before=before, title=title, sloppy=sloppy, inside=inside
    )
    return run if alone else []


_BEFORE_COUNTS: Final = word_set("""
    eat ate eating eaten have has had having buy bought buying get got getting need needs needed
    want wants wanted order ordered take took taken make made bring brought sell sold own owns owned
    find found pick picked lose lost give gave book booked pay paid spend spent drank drink cook
    cooked bake baked send sent use used there are were these those only about another
    """)
_SPELLS: Final = word_set("""
    years months weeks days hours minutes seconds times people percent dollars euros pounds bucks
    miles kilometers kilometres meters metres feet inches degrees kids children friends
    """)


def _is_count(run: list[_Token], before: str) -> bool:
    """Say whether a number only counts what follows it: "ate Nine Apples", not "Nine Lanterns"."""
    return (
        len(run) == 2
        and CARDINALS.get(run[0].low, 0) > 1
        and is_everyday(run[1].low)
        and (run[1].low in _SPELLS or (is_plural(run[1].low) and before in _BEFORE_COUNTS))
    )


_WISHED: Final = frozenset(WEEKDAY_NAMES) | word_set("""
    birthday bday anniversary christmas xmas easter thanksgiving halloween holidays hanukkah diwali
    eid ramadan new year year's years mother's father's valentine's mothers fathers valentines
    graduation retirement wedding weekend day morning afternoon evening night belated
    """)


def _without_wishes(run: list[_Token]) -> list[_Token]:
    """Leave out a salutation or what is wished: "Dear Sir", "Happy Birthday Mom"."""
    first = run[0].low
    if first == "dear" and run[0].opens:
        rest = run[1:]
        named = any(is_uncommon(token.low) or token.low in ALSO_NAMES for token in rest)
        return rest if named else []
    if first not in ("happy", "merry", "belated", "blessed") and not (
        first == "good" and run[0].opens
    ):
        return run
    count = 1
    while count < len(run) and run[count].low in _WISHED:
        count += 1
    return run if count == 1 else run[count:]


def _leaves(run: list[_Token], *, opened: bool) -> bool:
    """Say whether the first word of a run belongs to the sentence and not to the name."""
    first, second = run[0].low, run[1].low
    if second in ("of", "for") or run[1].text in _JOINTS:
        return False
    if first in ("the", "a", "an"):
        return False
    if is_greeting(first):
        return True
    if not opened:
        return first in _BEFORE_PEOPLE and is_uncommon(second)
    if is_function_word(first):
        return True
    return opens_sentences(first) and (
        (len(run) == 2 and is_function_word(second))
        or is_uncommon(second)
        or is_nationality(second)
        or second in ("the", "a", "an")
    )


_BEFORE_PEOPLE: Final = word_set("ceo cto cfo coo vp president mom dad mum user")


def _without_days(run: list[_Token], before: str) -> list[_Token]:
    """Leave out a day or a month beside a name: "on Monday Anna", "Anna Monday"."""
    while run and is_calendar_word(run[0].low):
        rest = run[1:]
        titled = len(rest) > 0 and all(is_everyday(token.low) for token in rest)
        if titled and before not in _DAY_LEADS:
            break
        if rest and not run[0].opens and before not in _DAY_LEADS and run[0].low in _PEOPLE:
            break
        run = rest
    while len(run) > 1 and is_calendar_word(run[-1].low) and run[-1].low not in _PEOPLE:
        if len(run[-1].text) < 4 or run[-2].low in ("black", "cyber", "good", "blue", "bloody"):
            break
        run = run[:-1]
    return run


_PEOPLE: Final = frozenset(("april", "june", "may", "august", "jan"))  # also given to people


def _is_weighty(run: list[_Token]) -> bool:
    """Say whether a run of words is more than grammar, numbers, days or short forms."""
    lows = [token.low for token in run]
    if all(low in _WISHES for low in lows) or (
        len(run) == 2 and lows[0] in _NUMBERED and _NUMBER.fullmatch(run[1].text)
    ):
        return False
    return any(
        not is_function_word(token.low)
        and not is_calendar_word(token.low)
        and token.low not in _NEVER
        and any(char.isalpha() for char in token.text)
        for token in run
    ) and not all(is_nationality(token.low) or token.low in _NEVER for token in run)


def _stands_alone(
    token: _Token,
    following: _Token | None,
    *,
    before: str,
    title: bool,
    sloppy: bool,
    inside: frozenset[str],
) -> bool:
    """Say whether one word with a capital is a name."""
    low = token.low.removesuffix("'s").removesuffix("'")
    if (
        low in _NEVER
        or low.removesuffix("s") in _NEVER
        or is_function_word(low)
        or is_calendar_word(low)
        or is_nationality(low)
    ):
        return False
    if _MEASURE.fullmatch(low) or len(low) < 2 or _CODE_TAILS.fullmatch(token.text):
        return False
    if len(low) == 2 and low.isalpha() and token.text.isupper() and low not in _TWO_LETTERS:
        return False  # PO, CI, AP: short forms of everyday work
    if _ADJECTIVE.search(low):
        return False
    if not is_uncommon(low):
        if before in _DETERMINERS:
            return False
        # Everyday words are names too (Apple, Slack), where their writer gives no others a capital.
        if low in ALSO_NAMES and not token.opens and not title:
            return True
        if token.opens or title or sloppy or opens_sentences(low) or token.text.isupper():
            return False
        return not (is_plural(low) or "-" in low or _COMMON_NOUN_END.search(low))
    if any(char.isupper() for char in token.text[1:]) or any(char.isdigit() for char in low):
        return True
    if token.opens != 1:
        return True
    if low in inside:
        return True
    if low.endswith(("ing", "ly", "ed", "ings")):
        return False
    after = following.low if following and not following.opens else ""
    past = after.endswith("ed") and len(after) > 4
    if is_plural(low) and not token.low.endswith("'s"):
        return past  # "Solas pushed it"; "Cheeseburgers are good" names nobody
    return token.low.endswith("'s") or past or after in _VERB_AFTER


_TWO_LETTERS: Final = word_set("hp lg ea ge vw bp gm u2 k2 r2 x1 m1 a7")
_ADJECTIVE: Final = re.compile(
    r"-(?:style|based|like|driven|esque|inspired|themed|free|ish|related|made|level)$"
)
_COMMON_NOUN_END: Final = re.compile(r"(?:tion|ment|ness|ology|ics|ism|ing|ings|ist|ity)$")


def _judged(
    text: str, run: list[_Token], *, english: bool = True, how: NameSign | None = None
) -> Iterator[NameSpan]:
    """Yield the name of a run of words, if it is one."""
    if not run or len(run) > policy.NAME_WORDS:
        return
    lows = [token.low for token in run]
    if how is None:
        marked = any(_is_marked(low) and not _MEASURE.fullmatch(low) for low in lows)
        how = NameSign.MODEL_NUMBER if marked else NameSign.CAPITALISED
    if english and len(run) == 1 and lows[0] in _NEVER:
        return
    end = run[-1].end
    surface = text[run[0].start : end]
    if surface.endswith(("'s", "’s")) and not surface.isupper():
        end -= 0 if entity_name(surface).endswith("'s") else 2  # McDonald's
    elif surface.endswith(("s'", "s’")):
        end -= 1
    yield from _span(text, run[0].start, end, how)


def _span(text: str, start: int, end: int, how: NameSign) -> Iterator[NameSpan]:
    surface = text[start:end]
    stripped = surface.strip()
    start += surface.index(stripped) if stripped else 0
    name = entity_name(stripped)
    if not name or len(stripped) > NAME_CHARS or is_place(name):
        return
    if how != NameSign.QUOTED and all(is_calendar_word(word) for word in name.split()):
        return
    yield NameSpan(stripped, name, start, start + len(stripped), how)
