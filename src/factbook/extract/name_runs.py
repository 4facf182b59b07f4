"""Say which words with capitals are a name: how far a run of them reaches, and whether it is one.

Knows: one sentence, as words (`name_tokens`). Does not know quotes, hashtags or other sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from factbook import policy
from factbook.extract.base import word_set
from factbook.extract.name_tokens import (
    CODE_TAILS,
    COUNTED,
    FILE,
    MEASURE,
    MODEL,
    NAME_CHARS,
    NEVER,
    NameSign,
    NameSpan,
    Token,
    is_capital,
    is_uncommon,
)
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
from factbook.model.keys import entity_name

__all__ = [
    "ALSO_NAMES",
    "BEFORE_NAMES",
    "SELF",
    "VARIANTS",
    "adds",
    "is_had",
    "is_marked",
    "is_model",
    "is_name_in_capitals",
    "is_numbered",
    "is_shouted_word",
    "is_sloppy",
    "joins_on",
    "judged",
    "run_at",
    "span_of",
    "trimmed_run",
    "with_capitals",
]

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


def is_name_in_capitals(token: Token) -> bool:
    return is_uncommon(token.low) or token.low in ALSO_NAMES


def is_shouted_word(token: Token) -> bool:
    """Say whether a word in capitals is one of every day, and no short form ("ARM", "API")."""
    low = token.low
    if not token.text.isupper() or low in NEVER or low in ALSO_NAMES or len(low) < 2:
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
SELF: Final = frozenset(("i", "i'm", "i've", "i'd", "i'll", "im"))


def is_marked(word: str) -> bool:
    return any(char.isdigit() for char in word) and any(char.isalpha() for char in word)


def is_model(token: Token) -> bool:
    """Say whether a lower-case word is the number of a model: "ls50", "wh-1000xm5"."""
    return (
        len(token.text) > 2
        and not FILE.fullmatch(token.text)
        and is_marked(token.text)
        and MODEL.fullmatch(token.low) is not None
        and not MEASURE.fullmatch(token.low)
        and not re.fullmatch(r"\d+[a-z]{1,3}", token.low)
        and not COUNTED.fullmatch(token.low)
    )


_HAVING: Final = word_set("""
    want wants wanted need needed have has had having got get getting buy buying bought own owned
    owns ordered order ordering use used using love loved like liked tried try trying upgrade
    upgraded replaced sold selling my our
    """)
BEFORE_NAMES: Final = _HAVING | word_set("""
    new hate hated enjoy adore despise watch watched watching play played playing read reading find
    search google hear heard visit visited
    """)
_ARTICLES: Final = word_set("a an the my our new used old this that to of")
_NO_THINGS: Final = word_set("covid")
_HAD_MODEL: Final = re.compile(r"[a-z]{1,3}\d{1,5}[a-z]{0,3}|\d{1,4}(?:\.\d{1,3})?[a-z]?")


def is_had(text: str, tokens: list[Token], index: int) -> bool:
    """Say whether a word in lower case is a thing with its model that somebody has or wants.

    "i want an iphone 16 pro", "got a dyson v15".
    """
    token = tokens[index]
    if index + 1 >= len(tokens) or not adds(token) or token.low in _NO_THINGS or token.opens:
        return False
    number = tokens[index + 1]
    if (
        is_plural(token.low)
        or not joins_on(text, tokens, index)
        or not _HAD_MODEL.fullmatch(number.text)
        or (
            re.fullmatch(r"\d+[a-z]", number.text) is not None
            and MEASURE.fullmatch(number.low) is not None
        )
        or _counts(text, tokens, index + 1)
    ):
        return False
    before = index - 1
    while before > max(0, index - 4) and tokens[before].low in _ARTICLES - _HAVING:
        before -= 1
    return before >= 0 and tokens[before].low in _HAVING


def is_numbered(text: str, tokens: list[Token], index: int) -> bool:
    """Say whether a number ends a name in lower case: "wharfedale denton 85"."""
    if index < 2 or not _NUMBER.fullmatch(tokens[index].text) or tokens[index].text[0] in "IVX":
        return False
    if not all(joins_on(text, tokens, at) and adds(tokens[at]) for at in (index - 2, index - 1)):
        return False
    return not _counts(text, tokens, index)


def _counts(text: str, tokens: list[Token], index: int) -> bool:
    """Say whether a number counts what follows it, and so ends no name: "Anna 3 dogs", "2 more"."""
    if index + 1 >= len(tokens) or not joins_on(text, tokens, index):
        return False
    following = tokens[index + 1].low
    if following in ("more", "other", "different") and index + 2 < len(tokens):
        # "2 more times", "5 more." and "3 more than" count; "the Denton 85 more every day" does not
        after = tokens[index + 2].low
        joined = joins_on(text, tokens, index + 1)
        return not joined or after in ("of", "than") or _UNITS.fullmatch(after) is not None
    return _UNITS.fullmatch(following) is not None


def adds(token: Token) -> bool:
    """Say whether a lower-case word beside the number of a model is part of its name."""
    return not is_capital(token.text) and token.text[0].isalpha() and is_uncommon(token.low)


def joins_on(text: str, tokens: list[Token], index: int) -> bool:
    """Say whether only one blank stands between a word and the next."""
    return text[tokens[index].end : tokens[index + 1].start] == " "


def with_capitals(text: str, tokens: list[Token], index: int) -> list[Token]:
    end = index + 1
    while end < len(tokens) and joins_on(text, tokens, end - 1) and tokens[end].text[:1].isupper():
        if not is_marked(tokens[end].text) and len(tokens[end].text) > 8:
            break
        end += 1
    return tokens[index:end]


def run_at(
    text: str, tokens: list[Token], index: int, *, title: bool, inside: frozenset[str]
) -> list[Token]:
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
        if is_capital(token.text) and token.low not in SELF:
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


def _is_initial(tokens: list[Token], index: int) -> bool:
    """Say whether the dot before a word belongs to an initial or a title and not to a sentence."""
    token = tokens[index]
    return not token.opens and not is_function_word(token.low)


_ROLLING: Final = ("' ", "’ ", " '", " ’")


def _owned(token: Token) -> bool:
    """Say whether a word after a possessive makes one name with it: "Ender's Game"."""
    return token.text.istitle() and is_everyday(token.low) and not is_function_word(token.low)


def _ends_name(token: Token) -> bool:
    return token.low.endswith(("'s", "s'")) and not token.text.isupper()


def _joint(text: str, tokens: list[Token], index: int) -> int:
    """Return how many words belong to a name where a small word stands inside it, else 0."""
    word, before = tokens[index].low, tokens[index - 1].low
    steps = 0
    if word in ("of", "for"):
        named = (
            index > 1 and joins_on(text, tokens, index - 2) and is_capital(tokens[index - 2].text)
        )
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
    if not all(joins_on(text, tokens, place) for place in range(index - 1, last)):
        return 0
    target = tokens[last]
    if not is_capital(target.text) or target.low == "i" or is_calendar_word(target.low):
        return 0
    if word == "of" and is_place(target.low) and is_everyday(before) and tokens[index - 1].opens:
        return 0  # "Most of Europe"
    return steps + 1


def _title_joint(text: str, tokens: list[Token], index: int) -> int:
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
        longer = beyond < len(tokens) and joins_on(text, tokens, index + 1)
        if steps > 1 or before.opens or (longer and is_capital(tokens[beyond].text)):
            return 0
        if index > 1 and is_capital(tokens[index - 2].text) and joins_on(text, tokens, index - 2):
            return 0
    if not _is_plain(before) or not (word == "a" or _is_plain(after)):
        return 0
    coming = [token.low for token in tokens[index + steps : index + steps + 3]]
    if any(is_place(" ".join(coming[:count])) for count in (1, 2, 3)):
        return 0
    return steps


def _is_plain(token: Token) -> bool:
    """Say whether a word with a capital is an everyday one, as in the title "Girl on the Train"."""
    return (
        token.text.istitle()
        and is_everyday(token.low)
        and token.low not in NEVER
        and token.low not in ALSO_NAMES
        and not is_place(token.low)
        and not is_nationality(token.low)
    )


def is_sloppy(tokens: list[Token]) -> bool:
    """Say whether somebody gives capitals to words as they please."""
    high = {
        token.low
        for before, token in pairwise(tokens)
        if not token.opens
        and token.text.istitle()
        and not before.text.istitle()
        and is_everyday(token.low)
        and token.low not in NEVER
        and token.low not in ALSO_NAMES
    }
    return len(high) > 1


def trimmed_run(
    run: list[Token],
    tokens: list[Token],
    index: int,
    *,
    title: bool,
    sloppy: bool,
    inside: frozenset[str],
) -> list[Token]:
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
        if len(rest) > 1 or is_uncommon(rest[0]) or is_place(rest[0]) or rest[0] in NEVER:
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


def _is_count(run: list[Token], before: str) -> bool:
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


def _without_wishes(run: list[Token]) -> list[Token]:
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


def _leaves(run: list[Token], *, opened: bool) -> bool:
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


def _without_days(run: list[Token], before: str) -> list[Token]:
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


def _is_weighty(run: list[Token]) -> bool:
    """Say whether a run of words is more than grammar, numbers, days or short forms."""
    lows = [token.low for token in run]
    if all(low in _WISHES for low in lows) or (
        len(run) == 2 and lows[0] in _NUMBERED and _NUMBER.fullmatch(run[1].text)
    ):
        return False
    return any(
        not is_function_word(token.low)
        and not is_calendar_word(token.low)
        and token.low not in NEVER
        and any(char.isalpha() for char in token.text)
        for token in run
    ) and not all(is_nationality(token.low) or token.low in NEVER for token in run)


def _stands_alone(
    token: Token,
    following: Token | None,
    *,
    before: str,
    title: bool,
    sloppy: bool,
    inside: frozenset[str],
) -> bool:
    """Say whether one word with a capital is a name."""
    low = token.low.removesuffix("'s").removesuffix("'")
    if (
        low in NEVER
        or low.removesuffix("s") in NEVER
        or is_function_word(low)
        or is_calendar_word(low)
        or is_nationality(low)
    ):
        return False
    if MEASURE.fullmatch(low) or len(low) < 2 or CODE_TAILS.fullmatch(token.text):
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


def judged(
    text: str, run: list[Token], *, english: bool = True, how: NameSign | None = None
) -> Iterator[NameSpan]:
    """Yield the name of a run of words, if it is one."""
    if not run or len(run) > policy.NAME_WORDS:
        return
    lows = [token.low for token in run]
    if how is None:
        marked = any(is_marked(low) and not MEASURE.fullmatch(low) for low in lows)
        how = NameSign.MODEL_NUMBER if marked else NameSign.CAPITALISED
    if english and len(run) == 1 and lows[0] in NEVER:
        return
    end = run[-1].end
    surface = text[run[0].start : end]
    if surface.endswith(("'s", "’s")) and not surface.isupper():
        end -= 0 if entity_name(surface).endswith("'s") else 2  # McDonald's
    elif surface.endswith(("s'", "s’")):
        end -= 1
    yield from span_of(text, run[0].start, end, how)


def span_of(text: str, start: int, end: int, how: NameSign) -> Iterator[NameSpan]:
    surface = text[start:end]
    stripped = surface.strip()
    start += surface.index(stripped) if stripped else 0
    name = entity_name(stripped)
    if not name or len(stripped) > NAME_CHARS or is_place(name):
        return
    if how != NameSign.QUOTED and all(is_calendar_word(word) for word in name.split()):
        return
    yield NameSpan(stripped, name, start, start + len(stripped), how)
