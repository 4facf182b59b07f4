"""Tell whether a question asks for a number, a rank, the last or the first of what was done.

"how many times did I deploy" is answered by counting, not by what resembles it. The tree of the
question says what is measured: the word that "many", "often", "most" or "last" hangs on, and the
verb that tells what was done with it. The rules' own cues say which facts those are; a verb or a
noun that no rule knows may be what a command does ("deploy"), if memory has such a command.

Knows: words in trees, cues of rules. Does not know: the store, what the numbers are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

from factbook.language.nouns import singular
from factbook.language.reader.reading import Reading, Token, children
from factbook.language.verbs import is_past
from factbook.language.words import stem
from factbook.recall.query_intent import Cued

__all__ = [
    "COMMAND",
    "FAILURE",
    "OURS",
    "Counted",
    "Measure",
    "Outcome",
    "counted_question",
    "kind_asked",
    "may_count",
    "what_of",
]

COMMAND: Final = "executed_command"
FAILURE: Final = "failed_with"
_SURE: Final = 0.8  # below it rules find sentences about a thing, and not the thing


class Measure(StrEnum):
    """What is asked of the facts."""

    COUNT = "count"  # how many there are
    MOST = "most"  # which there are most of
    LAST = "last"
    FIRST = "first"
    LONG = "long"  # how long each took


class Outcome(StrEnum):
    """How it has to have ended."""

    ANY = ""
    FAILED = "failed"
    PASSED = "passed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A question that is answered by counting."""

    measure: Measure
    predicate: str
    act: str = ""  # of commands: what they have to do
    words: tuple[str, ...] = ()  # what the facts have to hold
    outcome: Outcome = Outcome.ANY
    by: str = ""  # what it is grouped by, where it says so
    different: bool = False  # not the facts are counted, but the groups that they fall into


_MAY: Final = re.compile(
    r"(?i)\b(?:how (?:many|often|long|frequently)|number of|count|most|top|recur\w*|repeat\w*"
    r"|keeps? \w+ing|last|latest|newest|first|earliest)\b"
)


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_MODAL: Final = _listed("should would could can may might must will shall need does")
_PAST: Final = _listed("did have has had was were been 've")
_AUXILIARIES: Final = _listed("did was were do does has have had")
OURS: Final = _listed("i we you it they claude codex gemini agent assistant")
_SAYING_NOTHING: Final = _listed("""
    time times thing things number count total be do have make get use see happen occur appear show
    give find want different distinct separate all altogether so far ever most more often frequently
    frequent common recent recently top last latest newest first earliest long take many much keep
    come back recur repeat return list tell
""")
_GENERIC_STEMS: Final = frozenset(map(stem, _SAYING_NOTHING))
_FAILS: Final = frozenset(stem(word) for word in ("fail", "break", "crash"))
_BROKE: Final = frozenset({"broke", "broken"})
_PASSES: Final = frozenset(stem(word) for word in ("pass", "succeed"))
_LASTS: Final = frozenset({"last", "latest", "newest"})
_FIRSTS: Final = frozenset({"first", "earliest"})
_BY: Final = {
    "day": "day",
    "week": "week",
    "month": "month",
    "project": "project",
    "file": "object",
}
_SPANS: Final = frozenset({"day", "week", "month", "project", "session"})
"""What facts fall into that are no cue of theirs: "which project has the most commits"."""
_WORKED_IN: Final = frozenset(stem(word) for word in ("work", "have", "start", "open"))
_PROMPTED: Final = "requested_in_session"
_GROUPS: Final = frozenset({*_BY, "host", "session", "predicate", "object", "command"})
_BEFORE_NAMED: Final = _listed(
    "what which when is was are were 's the my our your show me tell list"
)
_CONTENT: Final = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "NUM", "X", "SYM"})


def may_count(question: str) -> bool:
    """Say whether a question has any word of those that ask for a number, a rank, or an end."""
    return _MAY.search(question) is not None


def counted_question(
    question: str, *, read: Callable[[str], Reading], rules: Iterable[Cued]
) -> Counted | None:
    """Return what a question asks to be counted, its time phrase taken out; None where nothing."""
    if not may_count(question):
        return None
    return _Question(read(question).tokens, _Cues(rules)).counted()


def what_of(said: str, *, read: Callable[[str], Reading], rules: Iterable[Cued]) -> Counted:
    """Return what some words name that are to be counted: "commits", "deploys", "edited cli.py"."""
    question = _Question(read(said).tokens, _Cues(rules))
    return question.counted() or question.named()


def kind_asked(question: str, *, read: Callable[[str], Reading], rules: Iterable[Cued]) -> str:
    """Return the predicate of which a question clearly asks for facts; empty where none.

    Clearly: "which hosts did I connect to" names them by its noun and by its verb, or by its noun
    alone where the verb says nothing ("which errors did I get").
    """
    return _Question(read(question).tokens, _Cues(rules)).kind()


class _Cues:
    """Which facts a word points at."""

    def __init__(self, rules: Iterable[Cued]) -> None:
        sure = [rule for rule in rules if rule.confidence >= _SURE]
        self._rules = sorted(sure, key=lambda rule: -rule.confidence)

    def of(self, word: str) -> list[str]:
        """Return the predicates that a word is a cue of, the surest rules first."""
        stemmed = stem(word.lower())
        if stemmed in _GENERIC_STEMS:
            return []
        found = (rule.predicate for rule in self._rules if stemmed in _stems(rule.cues))
        return list(dict.fromkeys(found))

    def chosen(self, verb: str, noun: str) -> str:
        """Return the predicate that a verb and a noun together point at; empty for none."""
        by_verb, by_noun = self.of(verb), self.of(noun)
        both = [predicate for predicate in by_verb if predicate in by_noun]
        if both:
            return both[0]
        if len(by_noun) == 1 or not by_verb:  # "prompts" are one thing, "files" are many
            return by_noun[0] if by_noun else ""
        return by_verb[0]


@lru_cache(maxsize=1_024)
def _stems(cues: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(stem, cues))


def _act(words: Sequence[str]) -> str:
    """Return what commands have to do; of one thing, as a command has "test" for "tests"."""
    return singular(words[0]) if len(words) == 1 else " ".join(words)


def _with_verb(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tree of a question in which an auxiliary has no verb, with its last noun as one.

    The reader takes "run" and "fail" for nouns where they end a question ("how often was the linter
    run"); what stands before it is its subject.
    """
    nouns = [n for n, token in enumerate(tokens) if token.pos == "NOUN"]
    asks = any(token.text.lower() in _AUXILIARIES for token in tokens)
    if not asks or len(nouns) < 2 or any(token.pos == "VERB" for token in tokens):
        return tokens
    verb, subject = nouns[-1], nouns[-2]
    if any(token.pos in _CONTENT for token in tokens[verb + 1 :]):
        return tokens
    mended = list(tokens)
    mended[verb] = replace(tokens[verb], pos="VERB", relation="root", head=-1)
    mended[subject] = replace(tokens[subject], relation="nsubj", head=verb)
    for n, token in enumerate(tokens[:verb]):
        if n != subject and (token.head < 0 or tokens[token.head].head < 0) and token.pos == "ADV":
            mended[n] = replace(token, head=verb if token.head < 0 else token.head)
    return mended


class _Question:
    """The tree of one question."""

    def __init__(self, tokens: Sequence[Token], cues: _Cues) -> None:
        self._tokens = _with_verb(tokens)
        self._said = [token.text.lower() for token in tokens]
        self._below = children(self._tokens)
        self._cues = cues

    def counted(self) -> Counted | None:
        """Return what is asked to be counted."""
        found = self._many() or self._often() or self._number() or self._long()
        found = found or self._ranked() or self._end()
        if found is None:
            return None
        measure, noun, verb = found
        if not self._was_done(measure, noun, verb):
            return None
        if measure is Measure.LONG:
            words = self._words(set())
            if not words:
                return None
            return Counted(measure=measure, predicate=COMMAND, act=_act(words))
        return self._of(measure, noun, verb)

    def named(self) -> Counted:
        """Return what words name that are no question: the count of it."""
        verb = next((n for n, token in enumerate(self._tokens) if token.pos == "VERB"), None)
        noun = next(
            (n for n, said in enumerate(self._said) if n != verb and self._cues.of(said)), None
        )
        found = self._of(Measure.COUNT, noun, verb)
        if found is not None and not found.act:  # what commands do, memory has to say
            return found
        words = tuple(self._words(set()))
        return Counted(
            measure=Measure.COUNT, predicate="", act=" ".join(words), words=words, by=self._by()
        )

    def kind(self) -> str:
        """Return the predicate of what "which" or "what" asks for, where that is clear."""
        noun = self._asked_noun()
        if noun is None:
            return ""
        verb = self._verb_over(noun)
        if not self._was_done(Measure.COUNT, noun, verb) or verb is None:
            return ""
        by_noun, by_verb = self._cues.of(self._said[noun]), self._cues.of(self._said[verb])
        if stem(self._said[verb]) in _GENERIC_STEMS:
            return by_noun[0] if by_noun else ""
        return next((predicate for predicate in by_verb if predicate in by_noun), "")

    # --- what is measured: (measure, the noun, the verb) ------------------------------------------

    def _many(self) -> tuple[Measure, int | None, int | None] | None:
        at = self._pair("how", {"many"})
        if at is None:
            return None
        noun = self._tokens[at].head
        if noun < 0 or self._tokens[noun].pos not in ("NOUN", "PROPN"):
            return None
        verb = self._verb_over(noun)
        return Measure.COUNT, None if self._said[noun] == "times" else noun, verb

    def _often(self) -> tuple[Measure, int | None, int | None] | None:
        at = self._pair("how", {"often", "frequently"})
        verb = None if at is None else self._verb_over(at)
        return None if verb is None else (Measure.COUNT, None, verb)

    def _number(self) -> tuple[Measure, int | None, int | None] | None:
        """Read "number of commits", "count the commands I ran"."""
        for n, said in enumerate(self._said):
            below = self._below[n]
            if said == "number" and self._opens(n):
                nouns = [b for b in below if self._tokens[b].relation.startswith("nmod")]
            elif said == "count" and n == 0:
                nouns = [b for b in below if self._tokens[b].relation in ("obj", "nmod", "nsubj")]
            else:
                continue
            if nouns:
                return Measure.COUNT, nouns[0], self._verb_under(nouns[0])
        return None

    def _long(self) -> tuple[Measure, int | None, int | None] | None:
        if self._pair("how", {"long"}) is None:
            return None
        verb = next((n for n, said in enumerate(self._said) if said in ("take", "took")), None)
        return None if verb is None else (Measure.LONG, None, verb)

    def _ranked(self) -> tuple[Measure, int | None, int | None] | None:
        """Read "most often used command", "which host do I connect to most", "what recurs"."""
        for n, said in enumerate(self._said):
            again = stem(said) in ("recur", "repeat") or (
                said.startswith("keep")
                and any(word.endswith("ing") for word in self._said[n + 1 :][:1])
            )
            if again and self._tokens[n].pos == "VERB":
                noun = self._subject(n)
                return None if noun is None else (Measure.MOST, noun, None)
            if said == "top" and n == 0 and self._tokens[n].head > n:
                return Measure.MOST, self._tokens[n].head, None
            if said != "most" or self._said[n + 1 : n + 2] == ["recent"]:
                continue
            over = self._tokens[n].head
            if over >= 0 and self._said[over] in ("often", "frequently"):
                over = self._tokens[over].head
            elif over >= 0 and self._tokens[over].pos not in ("VERB", "ADJ") and self._ends(n):
                over = self._verb_before(n) or -1
            return None if over < 0 else self._over(over)
        return None

    def _over(self, over: int) -> tuple[Measure, int | None, int | None] | None:
        """Return the noun and the verb of what is ranked by a word under `over`."""
        token = self._tokens[over]
        if token.pos == "ADJ":
            ranking = token.head >= 0 and self._said[over] in ("frequent", "common")
            return (Measure.MOST, token.head, None) if ranking else None
        if token.pos in ("NOUN", "PROPN"):
            return Measure.MOST, over, None
        if token.pos != "VERB":
            return None
        if token.relation in ("amod", "acl", "acl:relcl") and token.head >= 0:
            return Measure.MOST, token.head, over
        return Measure.MOST, self._asked_noun() or self._subject(over), over

    def _end(self) -> tuple[Measure, int | None, int | None] | None:
        """Read "when did I last run X", "the last thing I committed", "my most recent error"."""
        for n, said in enumerate(self._said):
            recent = said == "recent" and self._said[n - 1 : n] == ["most"]
            if said in _LASTS or recent:
                measure = Measure.LAST
            elif said in _FIRSTS:
                measure = Measure.FIRST
            else:
                continue
            begins = n - 1 if recent else n
            over = self._tokens[n].head
            if over < 0:
                return None
            if self._tokens[over].pos == "NOUN" and over > n:
                if not all(before in _BEFORE_NAMED for before in self._said[:begins]):
                    return None
                verb = self._verb_under(over)
                if self._said[over] in ("time", "thing"):
                    return None if verb is None else (measure, None, verb)
                return measure, over, verb
            verb = over if self._tokens[over].pos == "VERB" else self._verb_before(n)
            if verb is None or self._said[0] not in ("when", "which", "what"):
                return None
            return measure, self._asked_noun(), verb
        return None

    # --- of what ----------------------------------------------------------------------------------

    def _of(self, measure: Measure, noun: int | None, verb: int | None) -> Counted | None:
        verb_said = "" if verb is None else self._said[verb]
        subject = None if verb is None else self._subject(verb)
        if noun is None and subject is not None and self._said[subject] not in OURS:
            noun = subject
        noun_said = "" if noun is None else self._said[noun]
        outcome = self._outcome(verb_said)
        made = Counted(measure=measure, predicate="", outcome=outcome, by=self._by())
        span = self._span(measure, noun)
        if span is not None:
            if noun == span:
                noun, noun_said = None, ""
            made = replace(made, by=singular(self._said[span]), different=measure is Measure.COUNT)
        used = {n for n in (noun, verb, span) if n is not None}
        if stem(noun_said) == "test":
            return replace(made, predicate=COMMAND, act="test", words=self._words(used))
        if outcome and not noun_said:
            return replace(made, predicate=FAILURE, outcome=Outcome.ANY)
        predicate = self._cues.chosen("" if outcome else verb_said, noun_said)
        if predicate and (not outcome or predicate == COMMAND):
            spoken = used if noun is None or self._cues.of(noun_said) else used - {noun}
            words = self._words(spoken, of=predicate)
            if predicate == COMMAND and words:
                return replace(made, predicate=COMMAND, act=_act(words))
            return replace(made, predicate=predicate, words=words)
        if made.different and stem(verb_said) in _WORKED_IN:
            is_had = stem(verb_said) == "have" and made.by != "session"
            return None if is_had else replace(made, predicate=_PROMPTED, words=self._words(used))
        return self._guessed(made, noun, verb)

    def _guessed(self, made: Counted, noun: int | None, verb: int | None) -> Counted | None:
        """Return the commands that do what no rule knows: "did I deploy", "did the build fail"."""
        if made.outcome and noun is not None:
            act = self._said[noun]
        elif noun is None and verb is not None:
            act = stem(self._said[verb])
        else:
            return None  # "how many sisters", "how many retries did it make"
        used = self._object(verb) if noun is None and act == "use" else None
        if used is not None:  # "how often did it use grep"
            act = stem(self._said[used])
        if act in _GENERIC_STEMS:
            return None
        words = self._words({n for n in (noun, verb, used) if n is not None})
        return replace(made, predicate=COMMAND, act=act, words=words)

    def _outcome(self, verb: str) -> Outcome:
        if stem(verb) in _FAILS or verb in _BROKE:
            return Outcome.FAILED
        return Outcome.PASSED if stem(verb) in _PASSES else Outcome.ANY

    def _words(self, used: set[int], *, of: str = "") -> tuple[str, ...]:
        """Return the words that say more of it, without those that point at the predicate `of`."""
        grouped = self._grouping()
        return tuple(
            self._said[n]
            for n, token in enumerate(self._tokens)
            if n not in used
            and n not in grouped
            and token.pos in _CONTENT
            and stem(self._said[n]) not in _GENERIC_STEMS
            and self._said[n] not in OURS
            and self._said[n] not in ("took", "run", "ran")
            and not (of and of in self._cues.of(self._said[n]))
        )

    def _span(self, measure: Measure, noun: int | None) -> int | None:
        """Return the word for what facts fall into, where that is what is asked for."""
        if measure is Measure.COUNT:
            asked = noun
        else:
            asked = self._asked_noun() if measure is Measure.MOST else None
        is_span = asked is not None and singular(self._said[asked]) in _SPANS
        return asked if is_span else None

    def _object(self, verb: int | None) -> int | None:
        below = () if verb is None else self._below[verb]
        return next((b for b in below if self._tokens[b].relation in ("obj", "nsubj:pass")), None)

    def _grouping(self) -> set[int]:
        """Return the words of "per day", "by project"."""
        return {
            n
            for n, said in enumerate(self._said)
            if n
            and self._said[n - 1] in ("per", "by", "each", "every", "a")
            and said in _GROUPS
            and (self._said[n - 1] != "a" or said in ("day", "week", "month"))
        }

    def _by(self) -> str:
        return next((_BY.get(self._said[n], self._said[n]) for n in sorted(self._grouping())), "")

    def _was_done(self, measure: Measure, noun: int | None, verb: int | None) -> bool:
        """Say whether it is asked what was done, by whom facts tell: not what may or should be."""
        spoken = [
            said
            for said, token in zip(self._said, self._tokens, strict=True)
            if token.pos != "NOUN"
        ]
        if _MODAL.intersection(spoken) or "there" in spoken:
            return False
        subject = None if verb is None else self._subject(verb)
        by_us = subject is None or self._said[subject] in OURS or subject == noun
        if subject is not None and not by_us:
            # "how often did the tests fail": what is counted is the subject itself.
            by_us = noun is None and self._tokens[subject].pos == "NOUN"
            if self._tokens[subject].pos == "PRON" and self._said[subject] in (
                "what",
                "which",
                "that",
            ):
                by_us = True
        if not by_us and measure is not Measure.LONG:
            return False
        if measure in (Measure.MOST, Measure.LAST, Measure.FIRST):
            return True
        if not any(token.pos in ("VERB", "AUX") for token in self._tokens):
            # "how many commits per project"; what "pull requests" are, their second word says not
            below = () if noun is None else self._below[noun]
            return not any(self._tokens[b].relation == "compound" for b in below)
        if verb is not None and subject == noun and is_past(self._said[verb]):
            return True  # "how many commands failed"
        ours = subject is not None and self._said[subject] in OURS
        opened = self._said[0] != "how"  # "number of commits"
        return opened or bool(_PAST.intersection(spoken)) or ours

    # --- the tree ---------------------------------------------------------------------------------

    def _pair(self, first: str, second: set[str]) -> int | None:
        """Return where the second of two neighbouring words stands."""
        for n in range(1, len(self._said)):
            if self._said[n] in second and self._said[n - 1] == first:
                return n
        return None

    def _opens(self, at: int) -> bool:
        """Say whether what is asked for begins with a word."""
        return all(said in _BEFORE_NAMED or said == "total" for said in self._said[:at])

    def _ends(self, at: int) -> bool:
        """Say whether nothing follows a word."""
        return all(token.pos == "PUNCT" for token in self._tokens[at + 1 :])

    def _verb_over(self, at: int) -> int | None:
        while at >= 0:
            if self._tokens[at].pos == "VERB":
                return at
            at = self._tokens[at].head
        return next((n for n, token in enumerate(self._tokens) if token.pos == "VERB"), None)

    def _verb_under(self, at: int) -> int | None:
        """Return the verb of a clause that says which: "the file that I changed"."""
        below = [b for b in self._below[at] if self._tokens[b].pos == "VERB"]
        over = self._tokens[at].head
        if not below and over > at and self._tokens[over].pos == "VERB":
            return over
        return below[-1] if below else None

    def _verb_before(self, at: int) -> int | None:
        return next((n for n in range(at - 1, -1, -1) if self._tokens[n].pos == "VERB"), None)

    def _asked_noun(self) -> int | None:
        """Return the noun of "which file", "what error"."""
        first = 1 if self._tokens and self._tokens[0].pos == "ADP" else 0  # "in which project"
        if self._said[first : first + 1] not in (["which"], ["what"], ["whose"]):
            return None
        for n in range(first + 1, min(first + 4, len(self._tokens))):
            if self._tokens[n].pos in ("NOUN", "PROPN"):
                return n
            if self._tokens[n].pos not in ("ADJ", "ADV", "PROPN"):
                return None
        return None

    def _subject(self, verb: int) -> int | None:
        relations = ("nsubj", "nsubj:pass", "csubj")
        found = [b for b in self._below[verb] if self._tokens[b].relation in relations]
        return found[0] if found else None
