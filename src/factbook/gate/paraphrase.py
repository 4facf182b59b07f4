"""Tell the words of a claim that state something from those that only link what is stated.

Knows: a claim, the words of it that have no support, and the sentences it rests on. Does not know:
speakers, types, confidence. Pure.

Who sums up a text writes "causing", "due to", "with an April 14 deadline", "X rather than Y", where
the text says "so", "because", "until April 14", "X, not Y". Such a claim is written anew without
what its source says in another way, and held against the source again: names, numbers, things and
what is denied still have to stand there. Nothing is let pass here by likeness.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from factbook.gate.grammar import words
from factbook.gate.type_sanity import (
    reading_of,
)
from factbook.language.words import stem

__all__ = ["preference_in_would", "rewritten", "swapped"]

LEAST_WORDS: Final = 4  # ours: content words that must remain of a claim that is written anew
MOST_TAKEN: Final = 0.25  # ours: of its content words, how many may be taken away
LEAST_ROOT: Final = 4  # ours: letters of a root; shorter ones agree by chance
LEAST_BEFORE: Final = 3  # ours: words before a further clause begins
LONGEST_SUBJECT: Final = 4  # ours: words of its subject
MOST_MISSING: Final = 4  # ours: with more words that nothing supports no claim is a paraphrase

# Words that link two statements and state nothing of their own, wherever they stand.
_LINKS: Final = frozenset(
    map(
        stem,
        words("""
        due regarding concerning based according thing things way ways reason reasons case cases
        aspect aspects fact facts matter situation purpose sake spite instead rather alongside
        despite following throughout amid per besides meanwhile so that while whereas even such
        overall respectively additionally therefore thus hence finally
        """),
    )
)
# Verbs that link a clause to what stands before it: ", making ...", "because it leaves ...". As
# the first verb they are what is claimed: "Left the company".
_LINK_VERBS: Final = frozenset(
    map(
        stem,
        words("""
        cause causes causing caused result resulting results lead leads leading led make makes
        making mean means meaning leave leaves leaving give gives giving provide provides
        providing allow allows allowing enable enables enabling let lets letting ensure ensures
        ensuring keep keeps keeping remain remains remaining become becomes becoming turn turns
        accept accepts accepting involve involves involving include includes including relate
        relates related consider considers considering describe describes described
        """),
    )
)
# Verbs that only frame what follows "that": "User mentioned that ...".
_SPEECH: Final = re.compile(
    r"(?:not|stat|report|mention|confirm|sa[iy]|describ|show|display)\w*\s+that\b", re.IGNORECASE
)
# What a purpose is told with: "to avoid surprises", never the verb that a claim begins with.
_PURPOSES: Final = frozenset(
    map(stem, words("avoid prevent reduce limit minimize minimise improve support ensure help"))
)
# Words for having decided, where the source has another of them.
_CHOICES: Final = frozenset(
    map(stem, words("decide decided deciding choose chose chosen choosing selected selecting"))
)
_DECIDED: Final = re.compile(
    r"\b(?:decid|decision|chose|choos|agreed|settled on|going with|went with|switch|adopt|opted|"
    r"picked|selected)",
    re.IGNORECASE,
)
# Words for what a decision for a thing comes to, where the source decided for a thing.
_TAKING: Final = frozenset(
    map(
        stem,
        words("""
        adopt adopted adopting use using pick picking picked opt opting opted settle settled
        settling select
        """),
    )
)
_DECIDED_FOR: Final = re.compile(
    r"\b(?:(?:decid|settl|agre|opt)\w*|decision) (?:on|for|in favou?r of)\b|\bwent with\b|"
    r"\bgoing with\b|\b(?:chose|choos|pick|select|adopt|switch)",
    re.IGNORECASE,
)
# Words for going from one thing to another, where both name the two sides.
_TURNING: Final = frozenset(
    map(
        stem,
        words(
            "switch switching switched change changing changed move moving moved going migrating"
        ),
    )
)
_FROM_TO: Final = re.compile(r"\bfrom\b.+\bto\b", re.IGNORECASE)
# Words that a source says by other means: a unit, "until", "so that".
_SAID_BY: Final[Mapping[str, re.Pattern[str]]] = {
    stem(word): re.compile(pattern, re.IGNORECASE)
    for listed, pattern in (
        ("temperature temperatures degrees", r"°|\bdegrees\b|\bcelsius\b|\bfahrenheit\b"),
        ("deadline due", r"\b(?:until|by|before|due|no later than)\b"),
        ("price prices cost costs priced", r"[$€£]|\b(?:dollars|euros|pounds)\b"),
        ("percentage percent share rate", r"%|\bpercent\b"),
        ("distance", r"\b(?:km|kilomet|miles?|met(?:er|re)s?)\b"),
        ("weight weighs", r"\b(?:kg|kilo|pounds?|lbs?|grams?)\b"),
        ("duration lasts lasting takes", r"\b(?:for|about|in|within)\b[^.]{0,60}\b(?:hours?|days?|"
         r"weeks?|months?|years?|minutes?)\b"),
        ("loss sacrifice sacrificing", r"\b(?:at the (?:cost|expense) of|cost|lose|sacrific)"),
        ("closed close over passed", r"\b(?:missed|too late|passed|over|gone)\b"),
        ("prefers prefer preferred preferring", r"\b(?:likes?|wants?|rather|insists?|favou?rs?|"
         r"asks?|asked|always|better)\b"),
        ("wants want wanted wanting", r"\b(?:asks?|asked|prefers?|likes?|rather|insists?|needs?|"
         r"should|always|never)\b"),
        ("receive receiving receives get gets getting", r"\b(?:sent?|sends?|gets?|getting|"
         r"receiv\w+|given?|gives?|deliver\w*)\b"),
        ("outdated obsolete", r"\bout[- ]of[- ]date\b"),
        ("current latest", r"\bup[- ]to[- ]date\b"),
        ("born", r"\bbirthday\b"), ("aged age", r"\byears? old\b"),
        ("named called", r"\bname\b"),
    )
    for word in words(listed)
}  # fmt: skip

_OTHER_SENSE: Final = frozenset(map(stem, words("actual eventual casual usual mutual punctual")))

_CHOOSING: Final = (
    r"\b(?:prefer|favou?r|want|like|love|chose|choos|pick|select|decid|opt|settl|go)\w*\b"
)
_CONTRAST: Final = re.compile(
    rf"(?P<before>{_CHOOSING}[^.;]{{0,160}}?"
    r"(?<!\bdo)(?<!\bdoes)(?<!\bdid)(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bwere)(?<!\bam)"
    r"(?<!\bhas)(?<!\bhave)(?<!\bwill)(?<!\bcan)(?<!\bwould)(?<!\bshould)(?<!\bmust))"
    r"(?:,?\s+(?:rather than|instead of|as opposed to|over)\s+"
    r"|(?:,\s*|\s+(?:but|and)\s+)not\s+(?!to\b))",
    re.IGNORECASE,
)  # a thing that is chosen, and one that it is chosen over; never a verb that is denied
_DENIES: Final = re.compile(r"\b(?:not|never|no)\b|n['’]t\b", re.IGNORECASE)
_AT_FIRST: Final = re.compile(r"\s+first(?=[.,;]|$)", re.IGNORECASE)
_IN_ORDER: Final = re.compile(r"\b(?:before|until|first|after|then|once)\b", re.IGNORECASE)
_INTENDS: Final = re.compile(r"\b(?:decid|plan|want|agree|intend|aim|choos|chose)", re.I)
_PURPOSE: Final = re.compile(
    r"(?P<before>\b(?!decid|plan|want|agree|intend|aim|choos|chose|hop|able|like|lov)\w+)"
    r"\s+(?:in order )?to (?=[a-z]+\b)",
    re.IGNORECASE,
)
_ONE: Final = re.compile(r"\bone (?=[a-z])", re.IGNORECASE)
_IN_LINE: Final = re.compile(r"\b(?:in line|in accordance|in keeping) with\b", re.IGNORECASE)
_RATHER: Final = re.compile(r"(?:\bwould|'d|’d) (?:\w+ )?(?:rather|prefer)\b", re.I)
_PREFERS: Final = re.compile(r"\b(?:prefer|rather|favou?r)", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]+")


def rewritten(
    text: str, *, missing: Sequence[str], conflict: str, source: str, pattern: bool = False
) -> str:
    """Return a claim without what its source says in another way; "" where that is nothing.

    A `pattern` of behaviour may tell of questions, where its source asks them.
    `missing` are its words without support, `conflict` what speaks against it, as a grounding names
    both, and `source` the sentences that it was held against.
    """
    if len(missing) > MOST_MISSING:
        return ""
    if pattern and missing and _QUESTIONS.issuperset(missing) and "?" in source:
        return " ".join(_QUESTION.sub(" ", text).split())
    new = _related(_IN_LINE.sub("with", text), missing, source)
    if not _WORKING.isdisjoint(missing):
        new = _WORKS_AS.sub(lambda match: "am a " if match["i"] else "Is a ", new)
    for word in _ENJOYING.intersection(missing):
        liked = _LIKED.search(source)
        new = re.sub(rf"\b{word}\b", liked[0] if liked else word, new, flags=re.IGNORECASE)
    if conflict == "number" and _IN_ORDER.search(source):
        new = _AT_FIRST.sub("", new)
    elif conflict == "hypothetical" and _INTENDS.search(text):
        new = _PURPOSE.sub(r"\g<before> and wants to ", new)
    elif conflict == "negated" or not _CONTRASTING.isdisjoint(missing):
        new = _contrasted(new, source)
    if "one" in missing:
        new = _ONE.sub("a ", new)
    taken = _linking(new, missing, source)
    if taken:
        count = len(reading_of(text).order)
        if count - len(taken) < LEAST_WORDS or len(taken) > MOST_TAKEN * count:
            return ""
        for word in taken:
            new = re.sub(rf"(?<![\w'-]){re.escape(word)}(?![\w'-])", "", new, flags=re.IGNORECASE)
        new = " ".join(new.split())
    return new if new != text else ""


# "Works as a tailor" is said of who says "I'm a tailor", "enjoys chess" of who loves chess.
_WORKING: Final = frozenset(words("work works working"))
_WORKS_AS: Final = re.compile(r"(?:(?<=\b(?P<i>[iI]) )work|\bworks) as (?:an? )?", re.IGNORECASE)
_ENJOYING: Final = frozenset(words("enjoy enjoys enjoying enjoyed"))
_LIKED: Final = re.compile(r"\b(?:love|like)[sd]?\b(?= (?:to )?\w)", re.IGNORECASE)
_QUESTIONS: Final = frozenset({"question", "questions"})
_QUESTION: Final = re.compile(r"\bquestions?\b", re.IGNORECASE)
_CONTRASTING: Final = frozenset({"rather", "instead", "opposed"})


def _contrasted(text: str, source: str) -> str:
    """Say "X rather than Y", "X over Y" and "X, not Y" in the way in which the source says it.

    Only of a choice, and only where the source too chooses against all of Y: "Speaks Danish, not
    Welsh" denies something, and so does "Decided not to go".
    """
    against, _ = _sides(text)
    there, _ = _sides(source)
    if not against or not against <= there:
        return text
    side = ", not " if _DENIES.search(source) else " over "
    return _CONTRAST.sub(rf"\g<before>{side}", text)


def _related(text: str, missing: Sequence[str], source: str) -> str:
    """Put the source's own word for one of the same root: "concept" for "conceptual"."""
    there = {stem(word): word for word in _WORD.findall(source.lower())}
    for word in missing:
        key = stem(word)
        root = key[:-1] if key.endswith("u") and word.endswith("ual") else ""
        if len(root) >= LEAST_ROOT and key not in _OTHER_SENSE and root in there:
            text = re.sub(rf"(?<![\w'-]){re.escape(word)}(?![\w'-])", there[root], text, flags=re.I)
    return text


def _linking(text: str, missing: Sequence[str], source: str) -> list[str]:
    """Return those of the missing words that link, or that the source says by other means."""
    linking = []
    lowered = text.lower()
    written = _WORD.findall(lowered)
    for word in missing:
        key = stem(word)
        said_by = _SAID_BY.get(key)
        if (
            key in _LINKS
            or (key in _LINK_VERBS and _links_on(word, lowered))
            or re.search(rf"\b(?={re.escape(word)}\b){_SPEECH.pattern}", lowered)
            or (key in _PURPOSES and re.search(rf"\bto {re.escape(word)}\b", lowered))
            or (key in _CHOICES and _DECIDED.search(source))
            or (key in _TAKING and _DECIDED_FOR.search(source))
            or (key in _TURNING and _FROM_TO.search(text) and _sides(source)[0])
            or (said_by is not None and said_by.search(source))
            or _carries_a_clause(word, written)
        ) and word in written:
            linking.append(word)
    return linking


_LINKING: Final = (
    r"(?:[,;—–:]\s*(?:\w+ly )?(?=\w+ing\b)"
    r"|\b(?:because|since|which|that|as|so|while|where)\s+(?:[\w'’-]+\s+){0,6}?)"
)


def _links_on(word: str, lowered: str) -> bool:
    """Say whether a verb goes on from a statement: ", making ...", "because it leaves ..."."""
    return re.search(rf"\w.*{_LINKING}{re.escape(word)}\b", lowered) is not None


def _carries_a_clause(word: str, written: Sequence[str]) -> bool:
    """Say whether a word is the verb of a further clause: "because the overhead outweighs it".

    The first verb is what a claim claims, and is never excused; nor is what may be an adjective or
    a noun. A verb is told by its form and by the words around it.
    """
    if word not in written or not _VERB_FORM.search(word) or word in _ATTITUDES:
        return False
    at = written.index(word)
    before, after = written[:at], written[at + 1 : at + 2]
    clause = max((index for index, said in enumerate(before) if said in _OPENS_CLAUSE), default=-1)
    if clause < LEAST_BEFORE:
        return False
    subject = len(before) - clause - 1  # words between the conjunction and the verb
    return (0 < subject <= LONGEST_SUBJECT and before[-1] not in _DETERMINERS) and (
        not after or after[0] in _AFTER_VERB
    )


_VERB_FORM: Final = re.compile(r"(?:ed|[^s]s)$")
_OPENS_CLAUSE: Final = frozenset(words("because since which that as so while when where"))
_DETERMINERS: Final = frozenset(
    words("""
        the a an his her its their our my your this that these those of in on at by for
        with from some any no every each very too more most less and or
        """)
)
_AFTER_VERB: Final = frozenset(
    words("""
        the a an his her its their our my your this that these those too very so much more
        less it them him me us to in on at by for with from into onto over under against
        up down out off around about than as when where because and or but all any some no
        not
        """)
)
_ATTITUDES: Final = frozenset(
    words("""
        loves loved hates hated likes liked dislikes disliked prefers preferred wants
        wanted enjoys enjoyed fears feared needs needed owns owned works worked lives
        lived promised refused agreed allowed banned cancelled canceled rejected approved
        increased decreased failed
        """)
)  # what is claimed of somebody is never a mere link


_REJECTS: Final = re.compile(
    r"\b(?:rather than|instead of|as opposed to|not|never)\s+(?P<than>[^.,;:!?\n]{1,80})"
    r"|\b(?:prefer|favou?r|chose|choos|pick|select|decid|opt|settl)\w*\b[^.,;:!?\n]{0,80}?\s+over\s+"
    r"(?P<over>[^.,;:!?\n]{1,80})"
    r"|\b(?:switch|mov|migrat|chang|convert|go|went|transition|shift)\w*\b[^.,;:!?\n]{0,60}?\s+"
    r"from\s+(?P<from>[^.,;:!?\n]{1,60}?)\s+to\b"
    r"|(?:\bwould|'d|’d)\s+(?:\w+\s+)?rather\s+[^.,;:!?\n]{1,80}?\s+than\s+"
    r"(?P<rather>[^.,;:!?\n]{1,80})"
    r"|\bprefer\w*\s+(?!to\b)[^.,;:!?\n]{1,60}?\s+to\s+(?P<to>[^.,;:!?\n]{1,80})",
    re.IGNORECASE,
)
_CHOOSES: Final = re.compile(
    r"\b(?:prefer|favou?r|chose|choos|pick|select|decid|opt|settl|switch|mov|migrat|chang|convert|"
    r"us(?:e|es|ed|ing)\b|adopt|want|like|go(?:es|ing)?\b|went\b|rather|instead)",
    re.IGNORECASE,
)
_ENDS_SIDE: Final = re.compile(
    r"\s+(?:for|to|because|when|while|since|even|but|so|if|as|and|until|during|after|before)\b.*",
    re.IGNORECASE,
)


def swapped(text: str, source: str) -> bool:
    """Say whether a claim chooses what its source chooses against: "tea over coffee", backwards.

    What stands after "rather than", "over" and between "from" and "to" is what was chosen against.
    A claim that tells such a word, and not on that side, is refused unless the source also tells it
    somewhere else.
    """
    if not _CHOOSES.search(text):
        return False
    against, rest = _sides(source)
    if not against:
        return False
    own_against, own_rest = _sides(text)
    return bool((against - rest) & (own_rest - own_against))


def _sides(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the content words that a text chooses against, and all its others."""
    against: frozenset[str] = frozenset()
    rest = text
    for match in _REJECTS.finditer(text):
        side = _ENDS_SIDE.sub("", next(filter(None, match.groups())))
        against |= reading_of(side).keys
        rest = rest.replace(side, " ")
    return against, reading_of(rest).keys if against else reading_of(text).keys


def preference_in_would(text: str, *, missing: Sequence[str], quote: str) -> bool:
    """Say whether "would" in a quote only tells of a preference: "she'd rather have bullets"."""
    return (
        all(_PREFERS.match(word) for word in missing)
        and _PREFERS.search(text) is not None
        and _RATHER.search(quote) is not None
    )
