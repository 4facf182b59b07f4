"""Tell what a question measures: a number, a rank, the last or the first, how long it took.

The tree says it: the word that "many", "often", "most" or "last" hangs on, and the verb that tells
what was done with it.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, TypeAlias

from factbook import policy
from factbook.language.verbs import is_past
from factbook.language.words import stem
from factbook.recall.question_tree import BEFORE_NAMED, GENERIC_STEMS, OURS, QuestionTree, listed


class Measure(StrEnum):
    """What is asked of the facts."""

    COUNT = "count"  # how many there are
    MOST = "most"  # which there are most of
    LAST = "last"
    FIRST = "first"
    LONG = "long"  # how long each took


Measured: TypeAlias = tuple[Measure, int | None, int | None]
"""What is measured, and where its noun and its verb stand."""

_MAY: Final = re.compile(
    r"(?i)\b(?:how (?:many|often|long|frequently)|number of|count|most|top|recur\w*|repeat\w*"
    r"|keeps? \w+ing|last|latest|newest|first|earliest|ever|(?:which|what) (?:project|session)s)\b"
)
_MODAL: Final = listed("should would could can may might must will shall need")
_DENIED: Final = listed("not n't never without")
_HELPING: Final = listed("did have has had was were")
_PAST: Final = listed("did have has had was were been 've")
_ASKED: Final = frozenset({"what", "which", "that"})
FAILS: Final = frozenset(stem(word) for word in ("fail", "break", "crash"))
_LASTS: Final = frozenset({"last", "latest", "newest"})
_FIRSTS: Final = frozenset({"first", "earliest"})


def may_count(question: str) -> bool:
    """Say whether a question has any word of those that ask for a number, a rank, or an end."""
    return len(question) <= policy.COUNTED_CHARS and _MAY.search(question) is not None


def measured(tree: QuestionTree) -> Measured | None:
    """Return what a question measures; None where it asks for nothing so."""
    found = (way(tree) for way in (_many, _often, _number, _long, _ranked, _end, _ever, _where))
    return next((one for one in found if one is not None and was_done(tree, *one)), None)


def was_done(tree: QuestionTree, measure: Measure, noun: int | None, verb: int | None) -> bool:
    """Say whether it is asked what was done, by whom facts tell: not what may or should be."""
    spoken = [
        said for said, token in zip(tree.said, tree.tokens, strict=True) if token.pos != "NOUN"
    ]
    if _MODAL.intersection(spoken) or "there" in spoken:
        return False
    if not _DENIED.isdisjoint(spoken):  # logs tell what was done, and not how often it was not
        return False
    subject = None if verb is None else tree.subject(verb)
    by_us = subject is None or tree.said[subject] in OURS or subject == noun
    if subject is not None and not by_us:
        # "how often did the tests fail": what is counted is the subject itself.
        is_thing = tree.tokens[subject].pos == "NOUN" or subject in tree.names
        if tree.tokens[subject].pos == "PROPN":  # "how often did pytest fail"
            is_thing |= verb is not None and stem(tree.said[verb]) in FAILS
        asked = tree.tokens[subject].pos == "PRON" and tree.said[subject] in _ASKED
        by_us = asked or (noun is None and is_thing)
    if not by_us and measure is not Measure.LONG:
        return False
    if measure in (Measure.MOST, Measure.LAST, Measure.FIRST, Measure.LONG):
        return True
    if not any(token.pos in ("VERB", "AUX") for token in tree.tokens):
        # "how many commits per project"; what "pull requests" are, their second word says not
        below = () if noun is None else tree.below[noun]
        return not any(tree.tokens[b].relation == "compound" for b in below)
    if verb is not None and subject == noun and is_past(tree.said[verb]):
        return True  # "how many commands failed"
    ours = subject is not None and tree.said[subject] in OURS
    if "does" in spoken:  # of a thing it may be how often it is meant to
        an_agent = ours and subject is not None and tree.said[subject] != "it"
        return verb is not None and (an_agent or stem(tree.said[verb]) in FAILS)
    opened = tree.said[0] != "how"  # "number of commits"
    return opened or bool(_PAST.intersection(spoken)) or ours


def _many(tree: QuestionTree) -> Measured | None:
    at = tree.pair("how", {"many"})
    if at is None:
        return None
    noun = tree.tokens[at].head
    if noun < 0 or tree.tokens[noun].pos not in ("NOUN", "PROPN"):
        return None
    verb = tree.verb_over(noun)
    return Measure.COUNT, None if tree.said[noun] == "times" else noun, verb


def _often(tree: QuestionTree) -> Measured | None:
    at = tree.pair("how", {"often", "frequently"})
    verb = None if at is None else tree.verb_over(at)
    return None if verb is None else (Measure.COUNT, None, verb)


def _number(tree: QuestionTree) -> Measured | None:
    """Read "number of commits", "count the commands I ran"."""
    for n, said in enumerate(tree.said):
        below = tree.below[n]
        if said == "number" and tree.opens(n):
            nouns = [b for b in below if tree.tokens[b].relation.startswith("nmod")]
        elif said == "count" and n == 0:
            nouns = [b for b in below if tree.tokens[b].relation in ("obj", "nmod", "nsubj")]
        else:
            continue
        if nouns:
            return Measure.COUNT, nouns[0], tree.verb_under(nouns[0])
    return None


def _long(tree: QuestionTree) -> Measured | None:
    if tree.pair("how", {"long"}) is None:
        return None
    verb = next((n for n, said in enumerate(tree.said) if said in ("take", "took")), None)
    return None if verb is None else (Measure.LONG, None, verb)


def _ranked(tree: QuestionTree) -> Measured | None:
    """Read "most often used command", "which host do I connect to most", "what recurs"."""
    for n, said in enumerate(tree.said):
        keeps = said.startswith("keep") and tree.said[n + 1 :][:1]
        again = stem(said) in ("recur", "repeat") or (keeps and keeps[0].endswith("ing"))
        if again and tree.tokens[n].pos in ("VERB", "AUX"):
            noun = tree.subject(n)
            if noun is None and keeps:  # the reader takes "keep" for a helping verb
                noun = tree.subject(n + 1)
            return None if noun is None else (Measure.MOST, noun, None)
        if said == "top" and n == 0 and tree.tokens[n].head > n:
            return Measure.MOST, tree.tokens[n].head, None
        if said != "most" or tree.said[n + 1 : n + 2] == ["recent"]:
            continue
        over = tree.tokens[n].head
        if over >= 0 and tree.said[over] in ("often", "frequently"):
            over = tree.tokens[over].head
        elif over >= 0 and tree.tokens[over].pos not in ("VERB", "ADJ") and tree.ends(n):
            over = tree.verb_before(n) or -1
        return None if over < 0 else _over(tree, over)
    return None


def _over(tree: QuestionTree, over: int) -> Measured | None:
    """Return the noun and the verb of what is ranked by a word under `over`."""
    token = tree.tokens[over]
    if token.pos == "ADJ":
        ranking = token.head >= 0 and tree.said[over] in ("frequent", "common")
        return (Measure.MOST, token.head, None) if ranking else None
    if token.pos in ("NOUN", "PROPN"):
        return Measure.MOST, over, None
    if token.pos != "VERB":
        return None
    if token.relation in ("amod", "acl", "acl:relcl") and token.head >= 0:
        says_nothing = stem(tree.said[over]) in GENERIC_STEMS  # "the most often used command"
        return Measure.MOST, token.head, None if says_nothing else over
    return Measure.MOST, tree.asked_noun() or tree.subject(over), over


def _end(tree: QuestionTree) -> Measured | None:
    """Read "when did I last run X", "the last thing I committed", "my most recent error"."""
    for n, said in enumerate(tree.said):
        recent = said == "recent" and tree.said[n - 1 : n] == ["most"]
        if said in _LASTS or recent:
            measure = Measure.LAST
        elif said in _FIRSTS:
            measure = Measure.FIRST
        else:
            continue
        begins = n - 1 if recent else n
        over = tree.tokens[n].head
        if over < 0:
            return None
        if tree.tokens[over].pos in ("NOUN", "PROPN") and over > n:
            if not all(before in BEFORE_NAMED for before in tree.said[:begins]):
                return None
            verb = tree.verb_under(over)
            if tree.said[over] in ("time", "thing"):
                return None if verb is None else (measure, None, verb)
            return measure, over, verb
        verb = over if tree.tokens[over].pos == "VERB" else tree.verb_before(n)
        if verb is None or tree.said[0] not in ("when", "which", "what"):
            return None
        return measure, tree.asked_noun(), verb
    return None


def _ever(tree: QuestionTree) -> Measured | None:
    """Read "did I ever push", "has the build ever failed"."""
    if "ever" not in tree.said or tree.said[0] not in _HELPING:
        return None
    verb = tree.verb_over(tree.said.index("ever"))
    return None if verb is None else (Measure.COUNT, tree.object_of(verb), verb)


def _where(tree: QuestionTree) -> Measured | None:
    """Read "which projects did I work on": what is asked for is what the work falls into."""
    noun = tree.asked_noun()
    verb = None if noun is None else tree.verb_over(noun)
    if verb is None or stem(tree.said[verb]) != "work":
        return None
    return Measure.COUNT, noun, verb
