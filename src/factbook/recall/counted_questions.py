"""Tell which facts a question asks to be counted, ranked, or the last of which it asks for.

"how many times did I deploy" is answered by counting, not by what resembles it. What is measured
is read elsewhere (`measured`), and when, too (`time_expressions`). The rules' own cues say which
facts the verb and the noun point at, and what the question names they have to be of; a verb or a
noun that no rule knows may be what a command does ("deploy"), if memory has such a command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

from factbook.language.common_words import is_everyday
from factbook.language.nouns import singular
from factbook.language.reader.reading import Reading
from factbook.language.words import stem
from factbook.recall.commands import ACTS
from factbook.recall.measured import FAILS, Measure, may_count, measured, was_done
from factbook.recall.query_intent import Cued
from factbook.recall.question_tree import CONTENT, GENERIC_STEMS, OURS, QuestionTree, listed

COMMAND: Final = "executed_command"
FAILURE: Final = "failed_with"
_SURE: Final = 0.8  # below it rules find sentences about a thing, and not the thing


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
    names: tuple[str, ...] = ()  # what the facts have to be of, letter by letter
    whole: bool = False  # their object has to be just that
    words: tuple[str, ...] = ()  # what the facts have to hold
    sure: bool = False  # it is plain what is asked, so that there is none is an answer
    guessed: bool = False  # no rule knows the words: only what memory holds tells
    outcome: Outcome = Outcome.ANY
    by: str = ""  # what it is grouped by, where it says so
    things: bool = False  # it asks how many things there are, and not how often: "how many files"
    different: bool = False  # not the facts are counted, but the groups that they fall into


_BROKE: Final = frozenset({"broke", "broken"})
_PASSES: Final = frozenset(stem(word) for word in ("pass", "succeed"))
_BY: Final = {
    "day": "day",
    "week": "week",
    "month": "month",
    "project": "project",
    "file": "object",
}
_SPANS: Final = frozenset({"day", "week", "month", "project", "session"})
"""What facts fall into that are no cue of theirs: "which project has the most commits"."""
_WORKED_IN: Final = frozenset({"", *(stem(word) for word in ("work", "have", "start", "open"))})
_WORKED: Final = stem("work")
_IN_LOGS: Final = frozenset({"project", "session"})
"""What there is of logs alone, so that "how many sessions" needs no verb."""
_PROJECTS: Final = frozenset({"project", "repo", "repository"})
_WHERE: Final = listed("in on at within inside to")
_TOOL: Final = "used_tool"
_ASKING: Final = listed("how when which what who why where")
PROMPTED: Final = "requested_in_session"
_GROUPS: Final = frozenset({*_BY, "host", "session", "predicate", "object", "command"})


def counted_question(
    question: str,
    *,
    read: Callable[[str], Reading],
    rules: Iterable[Cued],
    is_command: Callable[[Sequence[str]], bool],
) -> list[Counted]:
    """Return what a question asks to be counted, its time phrase taken out; none for any other.

    Where words may mean several kinds of facts these come the likeliest first, and memory tells
    which are meant. `is_command` says whether a command of memory begins with some words.
    """
    if not may_count(question):
        return []
    return _Question(QuestionTree(question, read, is_command), rules).counted()


def what_of(
    said: str,
    *,
    read: Callable[[str], Reading],
    rules: Iterable[Cued],
    is_command: Callable[[Sequence[str]], bool],
) -> list[Counted]:
    """Return what some words name that are to be counted: "commits", "deploys", "edited cli.py".

    A question that asks for no number names nothing.
    """
    question = _Question(QuestionTree(said, read, is_command), rules)
    return question.counted() or question.named()


def kind_asked(question: str, *, read: Callable[[str], Reading], rules: Iterable[Cued]) -> str:
    """Return the predicate of which a question clearly asks for facts; empty where none.

    Clearly: "which hosts did I connect to" names them by its noun and by its verb, or by its noun
    alone where the verb says nothing ("which errors did I get").
    """
    return _Question(QuestionTree(question, read, lambda words: False), rules).kind()


class _Cues:
    def __init__(self, rules: Iterable[Cued]) -> None:
        sure = [rule for rule in rules if rule.confidence >= _SURE]
        self._rules = sorted(sure, key=lambda rule: -rule.confidence)

    def of(self, word: str) -> list[str]:
        """Return the predicates that a word is a cue of, the surest rules first."""
        stemmed = stem(word.lower())
        if stemmed in GENERIC_STEMS:
            return []
        found = (rule.predicate for rule in self._rules if stemmed in _stems(rule.cues))
        return list(dict.fromkeys(found))

    def chosen(self, verb: str, noun: str) -> list[str]:
        """Return the predicates that a verb and a noun together point at, the likeliest first.

        Where the noun is one thing, and the verb does another ("created a branch"), there is none.
        """
        by_verb, by_noun = self.of(verb), self.of(noun)
        both = [predicate for predicate in by_verb if predicate in by_noun]
        if both or not by_verb:
            return both or by_noun
        return [] if len(by_noun) == 1 else by_verb  # "prompts" are one thing, "files" are many


@lru_cache(maxsize=1_024)
def _stems(cues: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(stem, cues))


def _act(words: Sequence[str]) -> str:
    """Return what commands have to do; of one thing, as a command has "test" for "tests"."""
    return singular(words[0]) if len(words) == 1 else " ".join(words)


class _Question:
    def __init__(self, tree: QuestionTree, rules: Iterable[Cued]) -> None:
        self._tree = tree
        self._cues = _Cues(rules)

    def counted(self) -> list[Counted]:
        found = measured(self._tree)
        if found is None:
            return []
        measure, noun, verb = found
        if measure is Measure.LONG:
            words = (*(name.text for name in self._tree.names.values()), *self._words(set()))
            return [Counted(measure=measure, predicate=COMMAND, act=_act(words))] if words else []
        return self._of(measure, noun, verb)

    def named(self) -> list[Counted]:
        """Return what words name that are no question: the count of it."""
        if self._tree.said[:1] and self._tree.said[0] in _ASKING:
            return []
        if measured(self._tree) is not None:  # "did I ever create a branch": no fact tells of it
            return []
        verb = next((n for n, token in enumerate(self._tree.tokens) if token.pos == "VERB"), None)
        noun = next(
            (n for n, said in enumerate(self._tree.said) if n != verb and self._cues.of(said)), None
        )
        found = self._of(Measure.COUNT, noun, verb)
        if found and not found[0].guessed:
            return found
        made = self._made(Measure.COUNT)
        words = self._words(set())
        acts = dict.fromkeys((" ".join(words), stem(" ".join(words)))) if words else ()
        done = [replace(made, predicate=COMMAND, act=act) for act in acts]  # "deploys"
        return [*done, replace(made, predicate="", words=words)]

    def kind(self) -> str:
        """Return the predicate of what "which" or "what" asks for, where that is clear."""
        noun = self._tree.asked_noun()
        if noun is None:
            return ""
        verb = self._tree.verb_over(noun)
        if not was_done(self._tree, Measure.COUNT, noun, verb) or verb is None:
            return ""
        by_noun = self._cues.of(self._tree.said[noun])
        by_verb = self._cues.of(self._tree.said[verb])
        if stem(self._tree.said[verb]) in GENERIC_STEMS:
            return by_noun[0] if by_noun else ""
        return next((predicate for predicate in by_verb if predicate in by_noun), "")

    def _of(self, measure: Measure, noun: int | None, verb: int | None) -> list[Counted]:
        """Return the facts that may be meant, the likeliest first."""
        verb_said = "" if verb is None else self._tree.said[verb]
        subject = None if verb is None else self._tree.subject(verb)
        if noun is None and subject is not None and self._tree.said[subject] not in OURS:
            noun = subject
        outcome = self._outcome(verb_said)
        made = replace(self._made(measure), outcome=outcome)
        span = self._span(measure, noun)
        if span is not None:
            noun = None if noun == span else noun
            made = replace(
                made, by=singular(self._tree.said[span]), different=measure is Measure.COUNT
            )
        noun_said = "" if noun is None or noun in self._tree.names else self._tree.said[noun]
        used = {n for n in (noun, verb, span) if n is not None}
        by_verb = self._cues.of(verb_said)
        command = next((name.text for name in self._tree.names.values() if name.is_command), None)
        if command is not None and (outcome or not by_verb or COMMAND in by_verb):
            words = self._words(used, of=COMMAND)
            return [replace(made, predicate=COMMAND, act=command, words=words, sure=True)]
        if stem(noun_said) == "test":
            return [replace(made, predicate=COMMAND, act="test", words=self._words(used))]
        if outcome and noun in self._tree.names:
            return [replace(made, predicate=COMMAND, words=self._words(used), sure=self._sure())]
        if outcome and noun is None:
            words = self._words(used, of=FAILURE)
            return [replace(made, predicate=FAILURE, outcome=Outcome.ANY, words=words)]
        if stem(verb_said) == "use" and (tool := self._used(verb, noun)):
            whole = replace(made, predicate=_TOOL, names=(tool,), whole=True, sure=self._sure())
            run = replace(made, predicate=COMMAND, act=stem(tool), names=(), guessed=True)
            return [whole, replace(run, sure=self._is_program(self._tree.object_of(verb)))]
        if not by_verb and not noun_said and stem(verb_said) in (*GENERIC_STEMS, "work", ""):
            noun = self._clear_noun(used)
            noun_said = "" if noun is None else self._tree.said[noun]
        if self._is_unknown_act(verb, noun) and self._cues.of(noun_said):
            act = replace(made, predicate=COMMAND, act=stem(verb_said), guessed=True)
            return [replace(act, words=(noun_said, *self._words(used)))]
        predicates = self._cues.chosen("" if outcome else verb_said, noun_said)
        if predicates and (not outcome or predicates[0] == COMMAND):
            spoken = used if noun is None or self._cues.of(noun_said) else used - {noun}
            is_thing = singular(noun_said) in predicates[0].split("_") and predicates[0] != COMMAND
            made = replace(made, things=is_thing and measure is Measure.COUNT)
            meant = predicates if made.names else predicates[:1]
            return [self._held(made, predicate, spoken) for predicate in meant]
        if stem(verb_said) == _WORKED and (made.names or span is not None):
            return [replace(made, predicate=PROMPTED, words=self._words(used), sure=self._sure())]
        if made.different and stem(verb_said) in _WORKED_IN:
            of_logs = stem(verb_said) in ("have", "") and made.by not in _IN_LOGS
            made = replace(made, predicate=PROMPTED, words=self._words(used))
            return [] if of_logs or (made.by == "project" and stem(verb_said) == "have") else [made]
        if made.names and stem(verb_said) == "do" and measure in (Measure.LAST, Measure.FIRST):
            return [replace(made, guessed=True)]  # "what did I last do in tide-pool": anything
        if made.names and not self._words(used) and stem(verb_said) in (*GENERIC_STEMS, ""):
            made = replace(made, guessed=True)
            return [replace(made, predicate=_TOOL, whole=True), replace(made, predicate=FAILURE)]
        return self._guessed(made, noun, verb)

    def _is_unknown_act(self, verb: int | None, noun: int | None) -> bool:
        """Tell whether what was done to a thing is known to no rule: "commits that I reverted"."""
        if verb is None or noun is None or verb in self._tree.names:
            return False
        said, token = self._tree.said[verb], self._tree.tokens[verb]
        if token.relation == "amod" or stem(said) in GENERIC_STEMS or self._cues.of(said):
            return False
        if self._outcome(said) or stem(said) == _WORKED:
            return False
        passive = any(self._tree.tokens[b].relation == "aux:pass" for b in self._tree.below[verb])
        return passive or self._tree.subject(verb) != noun  # commits "landed" by themselves

    def _made(self, measure: Measure) -> Counted:
        """Return what is said of any facts: what is measured, their names, what they fall into."""
        names = tuple(name.text for name in self._tree.names.values() if not name.is_command)
        return Counted(measure=measure, predicate="", names=names, by=self._by())

    def _held(self, made: Counted, predicate: str, used: Set[int]) -> Counted:
        words = self._words(used, of=predicate)
        if predicate == COMMAND and words:
            places = self._places()
            done = [word for word in words if word not in places]
            words = tuple(word for word in words if word in places)
            made = replace(made, act=_act(done) if done else "")
            run = next((n for n in used if COMMAND in self._cues.of(self._tree.said[n])), None)
            if not words and self._is_program(self._tree.object_of(run)):
                made = replace(made, sure=True)
        return replace(made, predicate=predicate, words=words, sure=made.sure or self._sure())

    def _sure(self) -> bool:
        return any(name.sure for name in self._tree.names.values())

    def _is_program(self, at: int | None) -> bool:
        """Tell whether a word is used as programs are: by its bare name, "use docker"."""
        if at is None or self._tree.tokens[at].pos not in ("NOUN", "PROPN"):
            return False
        below = self._tree.below[at]
        named = [self._tree.said[n] for n in (*below, at)]
        if any(self._tree.is_command([word]) for word in named if not is_everyday(word)):
            return True  # "run git push", where git is known
        bare = all(self._tree.tokens[b].relation in ("compound", "punct") for b in below)
        return bare and not is_everyday(self._tree.said[at])

    def _used(self, verb: int | None, noun: int | None) -> str:
        """Return the tool or program of "did I use grep", "was grep used"."""
        at = self._tree.object_of(verb) if noun is None else noun
        if at is None or self._cues.of(self._tree.said[at]) == [_TOOL]:
            named = [name.text for name in self._tree.names.values()]
            below = () if at is None else self._tree.below[at]
            named += [
                self._tree.said[b] for b in below if self._tree.tokens[b].relation == "compound"
            ]
            return named[0] if named else ""
        return self._tree.names[at].text if at in self._tree.names else self._tree.said[at]

    def _clear_noun(self, used: Set[int]) -> int | None:
        """Return the noun that points at one kind of facts alone: "on the branch X"."""
        found = [
            n
            for n, token in enumerate(self._tree.tokens)
            if n not in used and token.pos == "NOUN" and len(self._cues.of(self._tree.said[n])) == 1
        ]
        return found[0] if len(found) == 1 else None

    def _guessed(self, made: Counted, noun: int | None, verb: int | None) -> list[Counted]:
        """Return the commands that do what no rule knows: "did I deploy", "did the build fail"."""
        if made.outcome and noun is not None:
            act = singular(self._tree.said[noun])
        elif noun is None and verb is not None and verb not in self._tree.names:
            act = stem(self._tree.said[verb])
        else:
            return []  # "how many sisters", "how many retries did it make"
        if act in GENERIC_STEMS:
            return []
        words = self._words({n for n in (noun, verb) if n is not None})
        sure = act in ACTS and not words and not made.names
        return [replace(made, predicate=COMMAND, act=act, words=words, guessed=True, sure=sure)]

    def _outcome(self, verb: str) -> Outcome:
        if stem(verb) in FAILS or verb in _BROKE:
            return Outcome.FAILED
        return Outcome.PASSED if stem(verb) in _PASSES else Outcome.ANY

    def _words(self, used: Set[int], *, of: str = "") -> tuple[str, ...]:
        """Return the words that say more of it, without those that point at the predicate `of`."""
        grouped = self._grouping()
        return tuple(
            self._tree.said[n]
            for n, token in enumerate(self._tree.tokens)
            if n not in used
            and n not in grouped
            and n not in self._tree.names
            and token.pos in CONTENT
            and not self._is_amount(n)
            and not self._is_kind_of_place(n)
            and stem(self._tree.said[n]) not in GENERIC_STEMS
            and self._tree.said[n] not in OURS
            and self._tree.said[n] not in ("took", "run", "ran")
            and not (of and of in self._cues.of(self._tree.said[n]))
        )

    def _is_amount(self, n: int) -> bool:
        """Tell whether a number says how many are asked for, "top 5 errors", and not which."""
        after = self._tree.tokens[n + 1 : n + 2]
        return self._tree.tokens[n].pos == "NUM" and bool(after) and after[0].pos in ("NOUN", "ADJ")

    def _is_kind_of_place(self, n: int) -> bool:
        """Tell whether a word only says what a name before it is of: "the tide-pool project"."""
        before = self._tree.tokens[n - 1 : n] if n else []
        named = bool(before) and (n - 1 in self._tree.names or before[0].pos in ("NOUN", "PROPN"))
        return named and self._tree.said[n] in _PROJECTS

    def _span(self, measure: Measure, noun: int | None) -> int | None:
        """Return the word for what facts fall into, where that is what is asked for."""
        if measure is Measure.COUNT:
            asked = noun
        else:
            asked = self._tree.asked_noun() if measure is Measure.MOST else None
        is_span = asked is not None and singular(self._tree.said[asked]) in _SPANS
        return asked if is_span else None

    def _places(self) -> set[str]:
        """Return the words that say where: "in the shop"."""
        return {
            self._tree.said[n]
            for n, below in enumerate(self._tree.below)
            if any(
                self._tree.said[b] in _WHERE and self._tree.tokens[b].pos == "ADP" for b in below
            )
        }

    def _grouping(self) -> set[int]:
        """Return the words of "per day", "by project"."""
        return {
            n
            for n, said in enumerate(self._tree.said)
            if n
            and self._tree.said[n - 1] in ("per", "by", "each", "every", "a")
            and said in _GROUPS
            and (self._tree.said[n - 1] != "a" or said in ("day", "week", "month"))
        }

    def _by(self) -> str:
        return next(
            (_BY.get(self._tree.said[n], self._tree.said[n]) for n in sorted(self._grouping())), ""
        )
