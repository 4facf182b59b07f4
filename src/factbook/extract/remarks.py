"""Tell a statement about a thing from a remark in passing, in what a person writes of their own.

Knows: English sentences whose subject is a known thing, and what people say of their day, of each
other and of their plans in such sentences ("The Q40 came up at work today"). Does not know what
the thing is, nor whether it was spoken of before.

A person speaks of things far more often than about them. So a sentence counts only where it is put
as statements about things are: what something is, has, does or can, and what was made of it or
became of it. Whatever else happened to it is left in the conversation that it was said in.
"""

from __future__ import annotations

import re
from typing import Final

from factbook.extract.base import word_set
from factbook.extract.subject import Subject, SubjectKind
from factbook.language.verbs import base_forms, is_irregular_past
from factbook.language.words import COMPOUND

__all__ = ["in_passing", "unowned"]

_DAY: Final = "it tells of somebody's day"
_PLAN: Final = "it is a plan"
_OPINION: Final = "it is an opinion"
_GUESS: Final = "it is a guess"

_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_TIME: Final = re.compile(
    rf"\b(?:today|yesterday|tonight|tomorrow|(?:this|last|next) (?:morning|afternoon|evening|night"
    rf"|week|weekend|month|summer|winter|spring|autumn|{_WEEKDAY})"
    rf"|(?:on|since|until|by|for|before|after) {_WEEKDAY}"
    r"|all (?:day|night|week|weekend|morning|evening|afternoon)|the other day|overnight"
    r"|just now|right now|at the moment|a (?:minute|moment|while) ago"
    r"|(?:an?|\d+|two|three|a few|some|several) (?:hours?|days?|weeks?|months?) ago"
    r"|after (?:work|school|lunch|dinner)|before (?:work|bed|lunch|dinner)"
    r"|for (?:christmas|(?:\w+['’]s )?birthday))\b|\b(?:once )?again\W*$",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r"\bat (?:work|home|school|lunch|dinner|breakfast|uni|(?:the|a|an|his|her|their) (?:\w+ ){0,2}?"
    r"(?:office|party|meeting|gym|wedding|conference|barbecue|weekend|shop|store|market|repair shop"
    r"|airport|beach|pub|bar|club|desk|door|neighbou?rs?|garage))\b"
    r"|\bin (?:the|a|his|her|their) (?:box|bag|boot|trunk|shop|cupboard|cellar|shed|rain|lake|pool"
    r"|window(?: of)?)\W*$"
    r"|\bover (?:lunch|dinner|breakfast|coffee|tea|drinks|a (?:beer|coffee))\b"
    r"|\bduring (?:lunch|dinner|breakfast|the (?:meeting|call|break|flight))\b"
    r"|\bin (?:bed|class|the (?:kitchen|car|office|news|mail|post|meeting|bathroom|bedroom|garage"
    r"|basement|attic|wash|background|living room|newspaper|chat|hallway|drawer|fridge))\b"
    r"|\bon (?:tv|the (?:bus|train|plane|radio|news|table|kitchen table|desk|shelf|sofa|couch"
    r"|floor|phone|way|list|counter|balcony|agenda|menu))\b(?! (?:line|station|route))"
    r"|\ball over the (?:news|place|internet)\b|\b(?:to|from) work\W*$",
    re.IGNORECASE,
)
_SOMEBODY: Final = re.compile(
    r"\b(?:when|while|because|since|after|before|until|so|as|if) (?:he|she|they|you|someone"
    r"|somebody|everyone|everybody|people|the (?:phone|kids?|children|boss|baby|dog|cat))\b"
    r"|\b(?:his|her|their) (?:wife|husband|partner|girlfriend|boyfriend|brother|sister|mother|mum"
    r"|mom|father|dad|son|daughter|kids?|children|friends?|boss|colleagues?|neighbou?rs?|uncle|aunt"
    r"|cousin|parents)\b|\b(?:gift|present|surprise) (?:for|from)\b"
    r"|\b(?:everyone|everybody|anyone|anybody|nobody|no one|someone|somebody)\b"
    r"|\b(?:is|was) (?:what|why|how|all|everything|where (?!the\b|it\b|its\b))"
    r"|\b(?:sold|given|lent|sent) to\b",
    re.IGNORECASE,
)
_WILL: Final = re.compile(
    r"\b(?:will|won['’]t|shall|going to|gonna|about to"
    r"|(?:needs?|has|have|wants?) to (?:go|come|get|wait|leave))\b|['’]ll\b",
    re.IGNORECASE,
)
_ANNOUNCED: Final = re.compile(
    r"\bwill be (?:discontinued|released|replaced|succeeded|followed|renamed|closed|opened|built"
    r"|updated|launched|sold)\b",
    re.IGNORECASE,
)
_LIKED: Final = word_set("""
    great good bad better worse best worst amazing awesome fantastic terrible awful beautiful
    wonderful lovely nice perfect incredible excellent superb stunning gorgeous boring ugly
    overrated underrated brilliant disappointing joke scam bargain steal fun cool neat sweet
    crazy weird cute adorable annoying useless rubbish crap garbage trash ok okay fine worth
    interesting impressive decent solid mediocre meh magnificent horrible hideous pretty
    charming delightful addictive relaxing exciting tempting favourite favorite dream joy hit
    treat pleasure delight beast blast keeper winner mess nightmare pain hassle miracle gem talk
    plan idea late
    """)
# Between "is" and what is thought of it.
_FILLERS: Final = word_set("""
    a an the such so very really quite just simply truly absolutely pretty totally still also not
    too one of actually kind sort bit rather far always never my our much by pure big huge real
    complete total little true absolute definitely
    """)
_SUPERLATIVE: Final = re.compile(
    r"\b(?:best|worst|nicest|coolest|finest|greatest|prettiest|most (?:beautiful|amazing|fun))\b"
    r"(?! (?:known|kept|served|before))",
    re.IGNORECASE,
)
# Where something is when neither a name nor a number says where: for now, or as people put it.
_AT: Final = word_set("on in at with under behind beside near by inside around")
_KNOWN_FOR: Final = re.compile(r"^best (?:known|kept|served)\b|^good for (?:up to )?\d", re.I)

_BE: Final = word_set("is are was were isn't aren't wasn't weren't been being be")
_HAVE: Final = word_set("has have had hasn't haven't hadn't")
_DO: Final = word_set("does do did doesn't don't didn't")
_GUESSING: Final = word_set("may might could should would must shall ought")
_ADVERB: Final = word_set("""
    also still now then first originally even just only both all never always often once soon
    already later too twice almost nearly not to about up
    """)

# What something is doing right now is a moment of a day, but for these.
_LASTING: Final = word_set(
    "missing lacking running using failing leaking breaking rusting rattling"
)
# What happens to a thing that somebody has, and says nothing of the thing.
_HANDLED: Final = word_set("""
    borrowed lent gone lost stolen delivered shipped ordered bought gifted mentioned discussed
    wrapped packed parked back here there away home ready next over out upstairs downstairs
    outside around finally everywhere
    """)
# What is made of a thing ("was designed by ..."), and what became of it ("has been discontinued").
_MADE: Final = word_set("""
    accept acquire add announce appoint assemble award base become begin build call cancel carve
    certify change close coat compose connect construct contain cover create debut dedicate
    demolish design destroy develop direct discontinue discover dissolve draw drop earn employ
    end equip establish expand extend film finish fit found fund graduate grow include inspire
    install intend introduce invent join know last launch lead limit line locate lose make
    manufacture mean measure merge move name need nominate offer open originate paint perform
    power premiere price print produce promote protect publish raise rank rate reach rebuild
    recall receive recommend record redesign release remain rename replace require restore
    retire rise run seal sell serve shoot sign split start study succeed support survive switch
    take teach translate treat turn unveil update use weigh win work write
    """)
_MADE_PAST: Final = word_set("""
    become begun built come cost done drawn fitted found grown had held known led lost made meant
    run risen sold shot split taken taught used been weighed won written born bred bound cut cast
    forged spun woven
    """)
# What a thing, a place or somebody known for something did: active, and past.
_BECAME: Final = word_set("""
    add announce begin become change close compose contain create debut design develop direct
    discontinue drop earn end establish expand found gain graduate grow include introduce invent
    last launch lose measure merge move need offer open originate premiere produce publish reach
    receive record release remain replace retire rise sell serve start study survive switch
    teach use weigh win write
    """)
_BECAME_PAST: Final = word_set("""
    became began grew had held lost rose sold taught won wrote
    """)
# What one has of a day, not of oneself.
_HAD: Final = re.compile(
    r"^(?:[\w'-]+ ){0,3}(?:lunch|dinner|breakfast|fun|coffee|tea"
    r"|drinks?|time|day|night|look|chat|talk|go|laugh|idea|problems?|trouble|luck)\b"
)
# What may happen to a thing at any hour and is about the thing all the same.
_BREAKS: Final = word_set("""
    break fail crack die leak burst rust stop overheat jam tear melt shrink fade warp wear squeak
    rattle crash freeze flicker swell bend snap chip peel
    """)
_BROKEN: Final = word_set("""
    broke broken tore torn wore worn froze frozen swelled swollen bent burst shrank
    shrunk stopped
    """)
_MAKERS: Final = word_set("""
    release introduce announce launch design develop discontinue invent manufacture produce found
    create publish establish make build made built
    """)
# What people do and things do not.
_PERSONAL: Final = word_set("""
    want think love like hate say ask hope wish plan know believe talk tell visit arrive show pop
    remind phone send borrow lend buy meet laugh cry enjoy prefer adore miss wonder worry guess
    promise swear complain recommend mention discuss
    """)
_JUDGED: Final = word_set("look sound feel seem smell rock suck rule slap appear")
_COMES: Final = word_set("with in from as without at to equipped standard fitted complete")
_GOES: Final = word_set("up down from to by as")

_OWN: Final = re.compile(r"\b(?:my|our)\s+(?:[a-z-]+\s+){0,2}$", re.IGNORECASE)


def unowned(words: str, places: list[tuple[int, int, str]]) -> str:
    """Return a sentence without "my" before the name of a thing: "My Q40 has ..." is about it.

    `places` are where known things are named in it.
    """
    for start, _, _ in reversed(places):
        own = _OWN.search(words, 0, start)
        if own:
            words = words[: own.start()] + words[start:]
    return words


def in_passing(words: str, said: Subject, *, names_another: bool = False) -> str:
    """Say why a sentence of a message is no statement about its subject; "" where it is one.

    `said` is what `about.subject_of` returns for the words; `names_another` tells that they name
    another known thing behind the verb.
    """
    rest = [token.lower().replace("’", "'") for token in COMPOUND.findall(words[said.verb :])]
    if not rest:
        return ""
    if _SOMEBODY.search(words):
        return _DAY
    if _SUPERLATIVE.search(words):
        return _OPINION
    if _WILL.search(words) and not _ANNOUNCED.search(words):
        return _PLAN
    problem, breaks = _told(rest, said.kind, names_another=names_another)
    if problem:
        return problem
    if rest[0] in _BE and said.kind is not SubjectKind.PART:
        behind = _behind(rest[1:])
        somewhere = re.search(r"[A-Z\d]", words[said.verb :])
        if behind and behind[0] in _AT and (rest[0] not in ("is", "are") or not somewhere):
            return _DAY
    return _DAY if not breaks and (_TIME.search(words) or _PLACE.search(words)) else ""


def _told(rest: list[str], kind: SubjectKind, *, names_another: bool) -> tuple[str, bool]:
    """Judge what begins with the verb: (the problem, whether something of the thing broke)."""
    verb, behind = rest[0], _behind(rest[1:])
    word = behind[0] if behind else ""
    if verb in _GUESSING or verb.removesuffix("n't") in _GUESSING:
        return _GUESS, False
    if kind is SubjectKind.MADE:
        return ("" if _one_of(verb, _MAKERS) else _DAY), False
    if verb in _HAVE:
        if word in ("been", "got"):
            return _is(_behind(behind[1:]), past=True)
        if not _participle(word):
            day = names_another or _HAD.match(" ".join(behind))
            return (_DAY if day else ""), False
        return _became(word)
    if verb in _BE:
        return _is(behind, past=verb in ("was", "were", "wasn't", "weren't"))
    if verb in _DO or verb in ("can", "cannot", "can't", "will", "won't"):
        if verb in ("do", "does", "did") and rest[1:2] != ["not"]:
            return _DAY, False  # "did its job"
        return _does(word, behind[1:]), False
    if verb in _BROKEN or word == "apart" or _one_of(verb, _BREAKS):
        other = word in ("the", "his", "her", "their")  # "broke the build": it is not what broke
        return (_DAY if other else ""), not other
    if verb == "cost":  # "cost Jens a fortune" is his story
        return ("" if any(token[0].isdigit() for token in behind) else _DAY), False
    if (verb.endswith("ed") and len(verb) > 4) or is_irregular_past(verb):
        if _one_of(verb, _JUDGED):
            return _OPINION, False
        if verb == "came" and word in _COMES:
            return "", False
        became = verb in _BECAME_PAST or (verb.endswith("ed") and _one_of(verb, _BECAME))
        own = verb != "won" or not {"heart", "hearts"} & set(behind)
        alone = not names_another or _one_of(verb, _MAKERS)
        return ("" if became and own and alone else _DAY), False
    return _does(verb, behind), False


def _became(participle: str) -> tuple[str, bool]:
    """Judge what has been done to a thing, or what it has done: "discontinued", "won"."""
    breaks = participle in _BROKEN or _one_of(participle, _BREAKS)
    made = participle in _MADE_PAST or _one_of(participle, _MADE)
    return ("" if breaks or made else _DAY), breaks


# The past of verbs that are not put with "-ed"; what is made of a thing is above.
_PAST: Final = word_set("""
    ate bit blew bought brought came caught chose drank drove dug fed felt flew forgot fought gave
    got went heard hid hit hung kept laid left lent let lit met paid put quit rang read rode sang
    said sat saw sent set shook showed shut slept slid spent spoke stole stuck swam swore told
    thought threw understood woke
    """)


def _is(behind: list[str], *, past: bool) -> tuple[str, bool]:
    """Judge what stands behind "is" or "was"."""
    word = behind[0] if behind else ""
    if word in _HANDLED:
        return _DAY, False
    if word.endswith("ing") and len(word) > 4 and word not in _LIKED:
        return ("" if word in _LASTING else _DAY), False
    if _thought(behind):
        return _OPINION, False
    if past and _participle(word):
        return _became(word)
    return "", False


def _does(verb: str, behind: list[str]) -> str:
    """Judge what something does, always: "takes two hours", "can carry 180 kg"."""
    word = behind[0] if behind else ""
    if _one_of(verb, _JUDGED):
        return _OPINION
    if _one_of(verb, _PERSONAL):
        return _DAY
    if verb in ("come", "comes", "came"):
        return "" if word in _COMES else _DAY
    if verb in ("go", "goes"):
        return "" if word in _GOES else _DAY
    if verb in ("keep", "keeps") and word.endswith("ing"):
        return _DAY
    return ""


def _thought(behind: list[str]) -> bool:
    """Tell whether what stands behind "is" is what somebody thinks of it."""
    at = 0
    while at < len(behind) and behind[at] in _FILLERS:
        at += 1
    rest = behind[at:]
    return bool(rest) and rest[0] in _LIKED and not _KNOWN_FOR.match(" ".join(rest))


def _behind(tokens: list[str]) -> list[str]:
    """Leave out the adverbs that words begin with."""
    at = 0
    while at < len(tokens) and (tokens[at] in _ADVERB or tokens[at].endswith("ly")):
        at += 1
    return tokens[at:]


def _participle(word: str) -> bool:
    return (word.endswith("ed") and len(word) > 3) or word in _PAST | _MADE_PAST | _BROKEN | {
        "gone", "given", "seen", "shown", "stolen", "forgotten", "eaten", "chosen", "driven",
        "thrown", "spoken", "hidden",
    }  # fmt: skip


def _one_of(word: str, verbs: frozenset[str]) -> bool:
    """Tell whether a word is a form of one of these verbs."""
    return any(base in verbs for base in base_forms(word))
