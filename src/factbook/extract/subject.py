"""Say whom or what an English sentence is about: its grammatical subject.

Knows: how the subject of a statement is put (a name, a part of it, a pronoun, "the speaker"), what
may stand before it, and which words are verbs. Does not know: whether the sentence is worth
keeping, who wrote it, or what was said before.

There is no grammar of all of English here. A sentence whose subject is not recognised is nobody's,
which costs a fact and never gives one to the wrong thing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.extract.known_names import KnownNames
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import is_everyday, is_nationality, is_place
from factbook.language.nouns import is_plural, singular
from factbook.language.verbs import IRREGULAR, PAST, UNCHANGED, forms_of, is_irregular_past

__all__ = [
    "Subject",
    "SubjectKind",
    "head_noun",
    "is_a",
    "is_part",
    "singular",
    "subject_of",
]

LEAD_WORDS: Final = 14  # ours: words before the comma that the subject follows
LEAD_COMMAS: Final = 3  # ours: commas among them
ASIDE_WORDS: Final = 24  # ours: words between the commas behind a name
PART_WORDS: Final = 5  # ours: words of what something has
TOPIC_WORDS: Final = 2  # ours: words that say which of a topic's things are meant
NAME_WORDS: Final = 8  # origins 003.3: a longer name is none
LIST_NAMES: Final = 16  # ours: names that a sentence may be about together


class SubjectKind(StrEnum):
    """Say how a sentence names what it is about."""

    NAME = "name"  # "The Halden Q40 weighs ..."
    PART = "part"  # "The Halden Q40's cabinet is ...", "The price of the Halden Q40 is ..."
    PRONOUN = "pronoun"  # "It weighs ...", "Its cabinet is ..."
    NOUN = "noun"  # "The speaker weighs ..."
    MADE = "made"  # "Halden Audio introduced the Halden Q40 in ..."
    TOPIC = "topic"  # "A sourdough starter is ...", "Electric cargo bikes cost ..."
    OTHER = "other"  # something else


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a sentence is about; for OTHER the words that stand there, as far as they are known."""

    kind: SubjectKind
    names: Sequence[str] = ()  # canonical, for NAME, PART, MADE and TOPIC
    noun: str = ""  # in the singular, for NOUN
    start: int = 0  # of the subject in the sentence
    verb: int = 0  # where its verb begins
    words: str = ""  # for OTHER: the name that stands there, where one does


# --- words ----------------------------------------------------------------------------------------

_DETERMINERS: Final = word_set("the a an this that these those our their its his her your my")
_PRONOUNS: Final = word_set("it they he she")
_POSSESSIVES: Final = word_set("its their his her")
_AUXILIARIES: Final = word_set("""
    is are was were isn't aren't wasn't weren't has have had hasn't haven't hadn't does do did
    doesn't don't didn't can cannot can't could couldn't will won't would may might must should
    shall
    """)
_ADVERBS: Final = word_set("""
    also still now then first originally even just only both all never always often once soon
    already today later again too twice almost nearly typically currently
    """)
_PREPOSITIONS: Final = word_set("""
    of for from with without by in on at to into onto over under between among through during
    before after since up down out off per via as about around near across along behind beyond
    within against toward towards inside outside than above below
    """)
_RELATIVES: Final = word_set("that which who whom whose where when why how while if because")
_CONJUNCTIONS: Final = word_set("and or but nor yet so")
_NO_NOUN: Final = (
    _DETERMINERS | _PRONOUNS | _AUXILIARIES | _PREPOSITIONS | _RELATIVES | _CONJUNCTIONS
)

_VERBS: Final = word_set("""
    accept accommodate achieve acquire act add address adopt aim allow announce appear apply
    appoint arrive ask attract average award base beat become begin belong boast border break bring
    broadcast build burn buy calculate call capture carry cater cause celebrate change charge
    choose circulate claim clean climb close collaborate collapse collect combine come commission
    compete complete comprise compute concentrate conduct connect consist construct contain
    continue contribute control convert cook cool correspond cost count cover create cross
    date deal debut declare dedicate defeat defend define deliver demand depend derive describe
    design develop die differ direct discontinue discover display dissolve distribute divide
    dominate donate draw drink drive drop earn eat educate elect emerge employ enable encourage end
    endure engage enjoy enter establish evolve exceed exhibit exist expand experience export expose
    express extend face fall feature feed fight fill filter finance find finish fit flow fly focus
    follow force form found freeze fuel function fund gain generate get give go govern graduate
    grant grow handle happen harvest head heat help hold host house hunt import improve include
    incorporate increase influence inhabit inherit install integrate intend introduce invent invest
    invite involve issue join keep kill lack land last launch lay lead learn leave lend let lie
    lift light limit link list live load locate look lose maintain make manage manufacture mark
    market marry mean measure meet melt merge migrate mount move name need number occupy occur
    offer open operate oppose optimize orbit organise organize originate overlook own paint parse
    participate pass pay perform permit pioneer place plan plant play possess power practise praise
    prefer premiere prepare present preserve press prevent print process produce program prohibit
    promote protect prove provide publish pull purchase push put qualify range rank rate reach read
    rebuild receive recognise recognize record reduce refer reflect regulate reject release rely
    remain remove rename render renovate rent repair replace report represent require research
    resemble reside rest restore result retail retain retire return reveal reward rise roast rotate
    run rush sail score see seek seem sell send separate serve ship show sign simulate sing sit
    sleep smell solve sound span speak specialise specialize spend split sponsor spread stand start
    stay stem stop store stream stretch study substitute succeed suffer suggest suit supply support
    surpass surround survive switch take target taste teach tell tend test throw tour track trade
    train translate transmit travel treat turn undergo understand unite unlock update upgrade
    use utilise utilize value vary view visit vote wake walk want warn wash watch wear weigh
    welcome win withstand work wrap write yield accelerate advise align analyse analyze aspire
    assemble attach attend balance bear bind blend block boil bottle brew catch check combat
    communicate compile cultivate decrease delay descend detect dissipate dock double download
    emit emphasise emphasize enclose encode enhance ensure entertain erupt estimate evaluate
    execute explain explore flavour flower fold gather guide hang hide highlight hire identify
    ignite illustrate implement imply import index inform inspire interpret invoke isolate lease
    measure monitor motivate narrate negotiate nest observe organise outperform outsell oversee
    pair peak perch plug pour predict pump quote react reconstruct recycle redesign refuel register
    relocate reopen reproduce resist respond ripen rival sample scale schedule secure settle shape
    share shelter shift shoot skip slow smoke spin stack steer store strengthen strike supervise
    swim tie time tolerate top total touch tow transfer transform transport trigger trim vent
    warm weave withdraw drain detail credit rule reign fish mine mill hike burn stem bake brew
    leak rattle squeak crack rust overheat fade vibrate wobble hum buzz beep blink jam crash
    """)
_MAKING: Final = word_set("""
    make release introduce announce launch design develop discontinue replace acquire publish
    invent build manufacture produce open close found establish create rename update
    """)
# What a thing has: a sentence about it is one about the thing ("the price of", "Q40 prices").
_ATTRIBUTES: Final = word_set("""
    price cost weight height length width depth size area population capital name origin history
    release version battery sensor display screen driver cabinet warranty design performance range
    capacity range speed power series line family climate economy weather cuisine firmware software
    app model edition system service album novel film book game building interface format licence
    license source code community headquarters body case engine motor top base core centre center
    surface interior exterior aim purpose goal idea success popularity reputation value quality
    sound taste flavour flavor menu collection programme program season start end beginning opening
    result results rules frequency response sensitivity impedance resolution founder director mayor
    author summit peak river coast border language currency website project platform package api
    syntax latest speaker camera machine phone laptop car bike tool library framework
    """)
# What is part of a thing that was made, and what is done with it: in a text about one thing, "the
# battery" is its battery. Nobody is among them ("the author"), nor what has parts of its own.
_PARTS: Final = word_set("""
    battery bag band bar base basket bearing bell belt blade boiler bolt boom bottom box bracket
    brake button buckle cabinet cable cage camera canopy cap case casing cassette chain
    chainring chamber charger cockpit cone connector controller cord cover crank crossover
    cylinder deck derailleur dial diaphragm display door drawer drive driver drivetrain earcup
    element enclosure engine exterior fan filter finish firmware fork frame front gear gearbox
    grill grille grinder grip hand handle handlebar harness hatch headband headlight headset
    heel hinge hood hose housing hub hull interface interior jack joint keel key keyboard
    kickstand knob latch lens lever lid light lining lock mast mattress memory menu microphone
    mirror module motor mount mouthpiece nozzle outsole pad padding panel pedal pickup plate
    plug pocket port pouch power price processor propeller pump rack rail range rear receiver
    reservoir rim roof rotor rudder sail screen screw seal seat seatpost sensor shaft shell
    shutter shoulder side sleeve slot socket software sole spacer speaker spindle spoke spring
    stand steering stem strap string surface suspension switch system tail tank tap tensioner
    throttle thread tip tire toe tongue top touchscreen trigger tube tweeter tyre upper valve
    viewfinder volume warranty wheel wheelbase window wing wire woofer zip zipper weight width
    height length depth colour color material fabric sound
    """)
_PROCESSES: Final = word_set("""
    charging assembly setup installation cleaning maintenance production shipping delivery brewing
    printing recording calibration steering braking shifting folding
    """)
# Who has to do with a thing and is another: what is said of it is not said of the thing.
_OTHERS: Final = word_set("""
    rival competitor competition successor predecessor alternative replacement clone copy imitator
    fan critic reviewer buyer customer user owner maker seller dealer follower lover enthusiast
    admirer neighbour neighbor sister brother cousin sibling twin opponent enemy counterpart
    equivalent substitute knockoff review comparison impostor imitation analogue heir challenger
    accessory stand page article website site forum tab
    """)
# What is held, made or met for the sake of a matter: "the hiking season", "a jazz festival".
_OCCASIONS: Final = word_set("""
    season festival course class workshop lesson seminar club day night week weekend month year
    hour tour trip trail path route fair market shop store supermarket industry company
    business museum school academy exhibition event evening competition contest championship
    tournament match race league team group community society association federation organisation
    organization magazine newspaper book guide blog podcast film movie show programme program
    concert conference congress meeting session holiday summer winter spring autumn
    """)

_TOKEN: Final = re.compile(r"[^\W_]+(?:['’.\-+#&/][^\W_]+)*[+#%°]*|[^\s\w]|_")
_VERB_FORMS: Final = frozenset(form for verb in _VERBS for form in forms_of(verb))
_BASES: Final = _VERBS | PAST | UNCHANGED
# Forms in -s that are no plurals of a noun, whatever stands behind them ("takes place").
_ONLY_VERBS: Final = word_set("""
    takes gives becomes includes makes gets keeps lets begins comes goes contains receives provides
    allows consists belongs exists occurs remains requires depends employs enables gains grows holds
    loses pays seems sells sends serves spends teaches tends travels wins writes helps
    """)
_AFTER_VERB: Final = word_set(
    "a an the its their his her no any all up to as in on at by from with into over for more than"
    " about around up"
)


class _Token(NamedTuple):
    text: str
    low: str
    start: int
    end: int
    name: str = ""  # canonical, where it is a known name
    own: bool = False  # 's stands behind it

    @property
    def capital(self) -> bool:
        return bool(self.name) or self.text[:1].isupper() or self.text[:1].isdigit()


def is_part(noun: str) -> bool:
    """Tell whether a noun in the singular is a part of a thing, or what is done with it."""
    return noun in _PARTS or noun in _PROCESSES


def _tokens(sentence: str, names: KnownNames) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    for start, end, canonical in names.find(sentence):
        tokens += _plain_tokens(sentence, at, start)
        own = sentence[end : end + 2].lower() in ("'s", "’s")
        bare = not own and sentence[end : end + 1] in ("'", "’") and sentence[end - 1] in "sS"
        stop = end + (2 if own else 1 if bare else 0)
        text = sentence[start:end]
        tokens.append(_Token(text, text.lower(), start, stop, canonical, own or bare))
        at = stop
    return [*tokens, *_plain_tokens(sentence, at, len(sentence))]


def _plain_tokens(sentence: str, start: int, end: int) -> list[_Token]:
    tokens = []
    for match in _TOKEN.finditer(sentence, start, end):
        text = match[0].replace("’", "'")
        own = text.endswith(("'s", "'S")) and text.lower() not in ("it's", "that's", "there's")
        bare = text[:-2] if own else text
        if bare.lower() == "it's":
            place = match.start()
            tokens.append(_Token("It", "it", place, place + 2))
            tokens.append(_Token("is", "is", place + 2, match.end()))
            continue
        tokens.append(_Token(bare, bare.lower(), match.start(), match.end(), "", own))
    return tokens


# --- the verb -------------------------------------------------------------------------------------


def _verb_at(tokens: Sequence[_Token], at: int, *, plural: bool) -> int:
    """Return the place of the finite verb that stands here, past adverbs; -1 for none."""
    for step in range(4):
        index = at + step
        if index >= len(tokens):
            return -1
        token = tokens[index]
        if _is_verb(tokens, index, plural=plural):
            return index
        if token.low not in _ADVERBS and not (token.low.endswith("ly") and token.text.islower()):
            return -1
    return -1


def _is_verb(tokens: Sequence[_Token], index: int, *, plural: bool) -> bool:
    token = tokens[index]
    word = token.low
    if token.name or token.own or not token.text.islower():
        return False
    if word in _AUXILIARIES:
        return True
    after = tokens[index + 1].low if index + 1 < len(tokens) else ""
    if after in _AUXILIARIES and word.endswith("s"):
        return False  # "Q40 reviews are": a noun
    if word in _VERB_FORMS or is_irregular_past(word):
        if word in _VERBS and not is_irregular_past(word) and not word.endswith("s"):
            return plural
        # "Q40 prices start at": another verb follows, so this is a noun
        return not (word.endswith("s") and word not in _ONLY_VERBS and after in _BASES)
    starts_object = after in _AFTER_VERB or after[:1].isdigit()
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return starts_object and len(word) > 3
    return word.endswith("ed") and len(word) > 4 and starts_object


# --- the subject ----------------------------------------------------------------------------------

_LEADS: Final = word_set("""
    in on at since by during after before for with as according unlike like despite from under over
    today now currently originally initially however moreover also additionally meanwhile overall
    finally recently historically when while although though once until because throughout within
    among between besides instead furthermore still yet thus hence indeed nevertheless even due
    thanks given compared here there first second later then eventually nowadays apart along about
    to based just only each every all around near across without such
    """)
_OPENERS: Final = _CONJUNCTIONS | word_set("""
    however also indeed still thus hence moreover then both today now currently originally initially
    later recently historically
    """)


def subject_of(sentence: str, names: KnownNames, *, topics: Collection[str] = ()) -> Subject:
    """Return what a sentence is about; `names` are the known things.

    `topics` are those among them that are a kind or a matter and no single thing: what is said of
    some of it, or of what belongs to it, is said about it.
    """
    tokens = _tokens(sentence, names)
    at = _past_openers(tokens)
    if at >= len(tokens):
        return Subject(kind=SubjectKind.OTHER)
    subject = _subject_at(tokens, at, topics) or _topic(tokens, at, topics)
    if subject is not None:
        return subject
    if tokens[at].low in _LEADS or tokens[at].low.endswith(("ed", "ing", "ly")):
        commas = [
            index
            for index in range(at + 1, min(len(tokens) - 1, at + LEAD_WORDS))
            if tokens[index].text == ","
        ]
        for comma in commas[:LEAD_COMMAS]:
            subject = _subject_at(tokens, comma + 1, topics)
            if subject is not None:
                return _behind(tokens[at:comma], subject)
        for comma in commas[:LEAD_COMMAS]:
            other = _other(sentence, tokens, comma + 1)
            if other.words:
                return other
        if commas:
            return Subject(kind=SubjectKind.OTHER)
    return _other(sentence, tokens, at)


def _behind(lead: Sequence[_Token], subject: Subject) -> Subject:
    """Return a subject behind a lead: "When the Q40 came out, it" speaks of what the lead names."""
    if subject.kind not in (SubjectKind.PRONOUN, SubjectKind.NOUN):
        return subject
    named = {token.name for token in lead if token.name}
    others = any(
        token.text[:1].isupper() and not (is_calendar_word(token.low) or is_place(token.low))
        for token in lead[1:]
    )
    if len(named) == 1 and not others and subject.kind is SubjectKind.PRONOUN:
        return Subject(
            kind=SubjectKind.NAME, names=tuple(named), start=subject.start, verb=subject.verb
        )
    return Subject(kind=SubjectKind.OTHER) if named or others else subject


def _past_openers(tokens: Sequence[_Token]) -> int:
    at = 0
    while at < len(tokens) and (
        tokens[at].low in _OPENERS or (not tokens[at].name and not tokens[at].text[0].isalnum())
    ):
        at += 1
    return at


def _subject_at(tokens: Sequence[_Token], at: int, topics: Collection[str]) -> Subject | None:
    """Return the subject that begins here, or None where none is recognised."""
    if at >= len(tokens):
        return None
    first = tokens[at]
    if first.low in _PROCESSES and not first.own:
        verb = _verb_at(tokens, at + 1, plural=False)
        if verb >= 0:
            return _made(SubjectKind.NOUN, tokens, at, verb, noun=first.low)
    if first.low in _PRONOUNS and not first.name:
        verb = _verb_at(tokens, at + 1, plural=first.low == "they")
        kind = SubjectKind.PRONOUN
        return None if verb < 0 else _made(kind, tokens, at, verb)
    if first.low in _POSSESSIVES and not first.name:
        verb = _after_part(tokens, at + 1)
        return None if verb < 0 else _made(SubjectKind.PRONOUN, tokens, at, verb)
    return (
        _named(tokens, at, topics)
        or _of_name(tokens, at)
        or _noun(tokens, at)
        or _object(tokens, at)
    )


def _topic(tokens: Sequence[_Token], at: int, topics: Collection[str]) -> Subject | None:
    """Read "A sourdough starter is", "Most electric cargo bikes cost"."""
    if not topics:
        return None
    index = at + (tokens[at].low in _DETERMINERS)
    limit = index + TOPIC_WORDS
    while index < min(limit, len(tokens)) and _describes(tokens[index], first=index == at):
        index += 1
    if index >= len(tokens) or tokens[index].own or tokens[index].name not in topics:
        return None
    for last in range(index, min(index + TOPIC_WORDS, len(tokens) - 1) + 1):
        token = tokens[last]
        if last > index and not (
            _describes(token, first=False)
            and singular(token.low) not in _OTHERS
            and not _is_beside(tokens[index].name, singular(token.low))
        ):
            return None
        verb = _verb_at(tokens, last + 1, plural=is_plural(token.low))
        if verb >= 0:
            return _made(SubjectKind.TOPIC, tokens, at, verb, [tokens[index].name])
    return None


_ACTIVITY: Final = re.compile(r"(?:.*[\s-])?\w*[aeiouy]\w*ing", re.IGNORECASE)


def _is_beside(topic: str, noun: str) -> bool:
    """Tell whether a noun behind a topic's name is another thing, and no kind or part of the topic.

    A sourdough starter is of sourdough; the hiking season, or a boot for it, is not hiking.
    """
    return noun in _OCCASIONS or _ACTIVITY.fullmatch(topic) is not None


def _describes(token: _Token, *, first: bool) -> bool:
    """Tell whether a word may stand before or behind a topic's name: no name, and no grammar.

    The first word of a sentence has its capital from there, if it is an everyday one.
    """
    if token.name or token.own or not token.text[:1].isalpha() or token.low in _NO_NOUN:
        return False
    return token.text.islower() or (first and is_everyday(token.low))


def _made(
    kind: SubjectKind,
    tokens: Sequence[_Token],
    at: int,
    verb: int,
    names: Sequence[str] = (),
    noun: str = "",
) -> Subject:
    return Subject(
        kind=kind,
        names=tuple(dict.fromkeys(names)),
        noun=noun,
        start=tokens[at].start,
        verb=tokens[verb].start,
    )


def _past_qualifiers(tokens: Sequence[_Token], at: int, *, maker: bool) -> int:
    """Return where the noun begins behind "The compact", "KEF's" or "The new red"."""
    index = at
    if index < len(tokens) and tokens[index].low in _DETERMINERS:
        index += 1
        limit = index + 3
        while (
            index < min(limit, len(tokens))
            and not tokens[index].name
            and tokens[index].text[:1].isalpha()
            and tokens[index].text.islower()
            and tokens[index].low not in _NO_NOUN
            and not tokens[index].own
        ):
            index += 1
    elif maker and index + 1 < len(tokens) and tokens[index].own and not tokens[index].name:
        # whose it is: one word or two with capitals ("Halden Audio's Q40")
        index += 1
    elif (
        maker
        and index + 2 < len(tokens)
        and tokens[index].capital
        and tokens[index + 1].own
        and not tokens[index + 1].name
        and not tokens[index].name
    ):
        index += 2
    return index


def _named(tokens: Sequence[_Token], at: int, topics: Collection[str]) -> Subject | None:
    index = _past_qualifiers(tokens, at, maker=True)
    if index >= len(tokens) or not tokens[index].name:
        return None
    name = tokens[index]
    if name.own:
        verb = _after_part(tokens, index + 1)
        return None if verb < 0 else _made(SubjectKind.PART, tokens, at, verb, [name.name])
    names = [name.name]
    plural = name.low.endswith("s")
    end = index + 1
    if end < len(tokens) and _VERSION.fullmatch(tokens[end].text):
        end += 1
    bare = end
    if end + 1 < len(tokens) and tokens[end].low in ("by", "from"):
        stop, maker = _past_name(tokens, end + 1)
        if stop > end + 1 and not maker:
            end = bare = stop  # "The Q40 by Halden Audio weighs"
    # others that do the same: "the Q40, the Q30 and Vela are"
    while end < len(tokens):
        begin = end
        if tokens[begin].text == "," and _joins_on(tokens, begin + 1):
            begin += 1
            if tokens[begin].low in ("and", "or"):
                begin += 1
        elif tokens[begin].low in ("and", "or", "&"):
            begin += 1
        else:
            break
        stop, named = _past_name(tokens, begin)
        if stop == begin:
            break
        plural = True
        names += [named] if named else []
        end = stop
    verb = _verb_at(tokens, end, plural=plural)
    if verb >= 0:
        return _made(SubjectKind.NAME, tokens, at, verb, names)
    aside = _past_aside(tokens, end)
    if aside > end:
        verb = _verb_at(tokens, aside, plural=plural)
        return None if verb < 0 else _made(SubjectKind.NAME, tokens, at, verb, names)
    if end != bare:
        return None
    # what it has, or what it is called by: "the Q40 price is", "the Q40 speakers are"
    for length in (1, 2):
        stop = end + length
        between = tokens[end:stop]
        if len(between) < length or not all(token.text.islower() for token in between):
            return None
        head = singular(between[-1].low)
        if head not in _ATTRIBUTES or head in _OTHERS:
            continue
        if name.name in topics and _is_beside(name.name, head):
            return None
        verb = _verb_at(tokens, stop, plural=head != between[-1].low)
        if verb >= 0:
            return _made(SubjectKind.PART, tokens, at, verb, names)
    return None


def _joins_on(tokens: Sequence[_Token], at: int) -> bool:
    """Tell whether a list of names goes on behind a comma, up to its "and"; a long one is none."""
    for _ in range(LIST_NAMES):
        if at < len(tokens) and tokens[at].low in ("and", "or"):
            return True
        stop, _named = _past_name(tokens, at)
        if stop == at or stop >= len(tokens):
            return False
        if tokens[stop].text != ",":
            return tokens[stop].low in ("and", "or")
        at = stop + 1
    return False


def _past_name(tokens: Sequence[_Token], at: int) -> tuple[int, str]:
    """Return where a name that begins here ends, and which known one it is."""
    index = at
    if index < len(tokens) and tokens[index].low in ("the", "a", "an"):
        index += 1
    if index < len(tokens) and tokens[index].name and not tokens[index].own:
        return index + 1, tokens[index].name
    begin = index
    while (
        index < len(tokens)
        and index - begin < NAME_WORDS
        and tokens[index].text[0].isalnum()
        and tokens[index].capital
        and not tokens[index].name
        and not tokens[index].own
    ):
        index += 1
    return (index, "") if index > begin else (at, "")


_VERSION: Final = re.compile(
    r"v?\d+(?:\.\d+)+"
)  # "Python 3.12" is Python still; "Q40 2" is another
_CLOSES: Final = {"(": ")", "–": "–", "—": "—", "-": "-", ",": ","}


def _past_aside(tokens: Sequence[_Token], at: int) -> int:
    """Return where the aside that begins here ends: "(2021)", ", a small speaker, "."""
    if at >= len(tokens) or tokens[at].text not in _CLOSES:
        return at
    closing = _CLOSES[tokens[at].text]
    opening = tokens[at + 1].low if at + 1 < len(tokens) else ""
    if closing == "," and (opening in ("not", "and", "but", "or") or opening in _PRONOUNS):
        return at
    for index in range(at + 1, min(len(tokens), at + 2 + ASIDE_WORDS)):
        if tokens[index].text == closing:
            return index + 1
        if tokens[index].text in ("?!" if closing == ")" else ";:?!"):
            return at
    return at


def _after_part(tokens: Sequence[_Token], at: int) -> int:
    """Return the verb behind what something has ("'s second quartet lasts"); -1 for none.

    What is another thing ("rival") and what is called by another name behind its noun ("'s sister
    Vela") is no part.
    """
    lower = False
    for length in range(PART_WORDS):
        index = at + length
        if index >= len(tokens):
            return -1
        token = tokens[index]
        if length and token.text == "," and index + 1 < len(tokens):
            opens = tokens[index + 1].low in ("which", "who", "whose")
            aside = _past_aside(tokens, index) if opens else index
            if aside > index:
                return _verb_at(tokens, aside, plural=is_plural(tokens[index - 1].low))
        if length and not token.capital:
            last = tokens[index - 1].low
            verb = _verb_at(tokens, index, plural=is_plural(last))
            if verb >= 0:
                return verb
        if token.low in _NO_NOUN - {"of", "and", "in", "for"} or not token.text[0].isalnum():
            return -1
        if token.name or singular(token.low) in _OTHERS:
            return -1
        if token.capital and lower:
            return -1
        lower = lower or (not token.capital and token.low not in _PREPOSITIONS)
    index = at + PART_WORDS
    if index >= len(tokens):
        return -1
    return _verb_at(tokens, index, plural=is_plural(tokens[index - 1].low))


def _of_name(tokens: Sequence[_Token], at: int) -> Subject | None:
    """Read "The price of the Halden Q40 is"."""
    index = _past_qualifiers(tokens, at, maker=False)
    of = index
    while of < len(tokens) and of < index + 2 and tokens[of].low not in ("of", "for"):
        of += 1
    if of >= len(tokens) or tokens[of].low != "of" or of == at:
        return None
    head = singular(tokens[of - 1].low)
    if head not in _ATTRIBUTES | _PARTS or head in _OTHERS:
        return None
    target = _past_qualifiers(tokens, of + 1, maker=True)
    if target >= len(tokens) or not tokens[target].name or tokens[target].own:
        return None
    verb = _verb_at(tokens, target + 1, plural=is_plural(tokens[of - 1].low))
    return None if verb < 0 else _made(SubjectKind.PART, tokens, at, verb, [tokens[target].name])


def _noun(tokens: Sequence[_Token], at: int) -> Subject | None:
    """Read "The speaker weighs", "This small library runs", "The town's church dates"."""
    if tokens[at].low not in ("the", "this", "these"):
        return None
    for length in range(1, 4):
        index = at + length
        if index >= len(tokens):
            return None
        token = tokens[index]
        if token.name or not token.text.islower() or token.low in _NO_NOUN:
            return None
        noun = singular(token.low)
        if token.own:
            verb = _after_part(tokens, index + 1)
            return None if verb < 0 else _made(SubjectKind.NOUN, tokens, at, verb, noun=noun)
        verb = _verb_at(tokens, index + 1, plural=is_plural(token.low))
        if verb >= 0:
            return _made(SubjectKind.NOUN, tokens, at, verb, noun=noun)
    return None


def _object(tokens: Sequence[_Token], at: int) -> Subject | None:
    """Read "Halden Audio introduced the Q40": who made it is unknown, what was made is not."""
    stop, named = _past_name(tokens, at)
    if stop == at and tokens[at].low == "the" and at + 1 < len(tokens):
        stop = at + 2 if tokens[at + 1].low in ("company", "manufacturer", "firm", "maker") else at
    if stop == at or named or stop >= len(tokens):
        return None
    verb = _verb_at(tokens, stop, plural=False)
    if verb < 0 or not _makes(tokens[verb].low):
        return None
    index = _past_qualifiers(tokens, verb + 1, maker=False)
    if index >= len(tokens) or not tokens[index].name or tokens[index].own:
        return None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if after is not None and after.text not in ",.;" and after.low not in _PREPOSITIONS:
        return None  # "introduced the Q40 clone"
    return _made(SubjectKind.MADE, tokens, at, verb, [tokens[index].name])


def _makes(verb: str) -> bool:
    if verb in ("made", "built", "founded"):
        return True
    return any(verb in (base + "s", base + "es", base + "ed", base + "d") for base in _MAKING)


def _other(sentence: str, tokens: Sequence[_Token], at: int) -> Subject:
    stop, named = _past_name(tokens, at)
    if stop > at and not named:
        begin = at + (tokens[at].low in ("the", "a", "an"))
        aside = _past_aside(tokens, stop)
        verb = _verb_at(tokens, aside, plural=False)
        if verb >= 0:
            words = sentence[tokens[begin].start : tokens[stop - 1].end]
            return Subject(
                kind=SubjectKind.OTHER,
                start=tokens[begin].start,
                verb=tokens[verb].start,
                words=words,
            )
    return Subject(kind=SubjectKind.OTHER)


# --- what something is ----------------------------------------------------------------------------

_IS: Final = word_set("is are was were")
_ENDS_IN_ED: Final = word_set("bed seed breed shed red speed feed weed")  # they are no participles
_ENDS_NOUN: Final = _PREPOSITIONS | _RELATIVES | _CONJUNCTIONS | _AUXILIARIES


def is_a(sentence: str, verb: int) -> str:
    """Return the noun that a sentence says its subject is, in the singular; "" where it says none.

    `verb` is where its verb begins. "is a bookshelf speaker from Denmark" gives `speaker`.
    """
    tokens = _plain_tokens(sentence, verb, len(sentence))
    if len(tokens) < 3 or tokens[0].low not in _IS:
        return ""
    at = 1
    while at < len(tokens) and (tokens[at].low in _ADVERBS or tokens[at].low.endswith("ly")):
        at += 1
    if [token.low for token in tokens[at : at + 3]] == ["one", "of", "the"]:
        at += 2
    if at >= len(tokens):
        return ""
    if tokens[at].low in ("a", "an", "the"):
        at += 1
    elif tokens[0].low not in ("are", "were"):
        return ""
    return head_noun([token.text for token in tokens[at:]])


def head_noun(words: Sequence[str]) -> str:
    """Return the noun that a group of words is built on, in the singular; "" where none is."""
    head = ""
    for word in words:
        low = word.lower()
        if not word[:1].isalnum() or low in _ENDS_NOUN:
            break
        if head and low in _ADVERBS:
            break  # "a speaker too"
        if head and low.endswith("ed") and low not in _ENDS_IN_ED:
            break  # "a speaker built ...", "a library written ..."
        if head and (low in IRREGULAR or low in UNCHANGED):
            break
        if word[0].isdigit():
            continue
        head = low
    if not head.isalpha() and not re.fullmatch(r"[a-z]+(?:-[a-z]+)+", head):
        return ""
    if is_nationality(head) or (head.endswith("ly") and is_everyday(head)):
        return ""
    return singular(head)
