"""Tell which facts a question asks for: "which hosts did I connect to" is `connects_to_host`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from factbook.language.reader.reading import Reading
from factbook.language.words import stem, words
from factbook.model.directives import PREDICATES


class Cued(Protocol):
    """What is needed of a rule: its name, predicate and confidence, the words that point at it."""

    @property
    def name(self) -> str: ...

    @property
    def predicate(self) -> str: ...

    @property
    def cues(self) -> tuple[str, ...]: ...

    @property
    def confidence(self) -> float: ...


class _Directives(NamedTuple):
    """The words that point at what owners told agents, which no rule of a log finds."""

    predicate: str
    cues: tuple[str, ...]
    name: str = ""
    confidence: float = 1.0


_OURS: Final = frozenset({"i", "my", "our", "we"})
_RULE, _DECISION = PREDICATES
DIRECTIVES: Final[tuple[Cued, ...]] = (
    _Directives(_RULE, ("rule", "rules", "convention", "conventions", "guideline", "guidelines")),
    _Directives(
        _DECISION,
        ("decide", "decided", "decision", "decisions", "agree", "agreed", "chose", "chosen"),
    ),
)


def is_ours(question: str) -> bool:
    """Tell whether a question is of what its owner has, said or did: "my", "did we"."""
    return not _OURS.isdisjoint(words(question))


def own_directives(question: Reading) -> str:
    """Return of which predicate an owner asks for their own: "my rules"; empty for any other."""
    for token in question.tokens:
        if token.head >= 0 and token.text.lower() in ("my", "our"):
            of = stem(question.tokens[token.head].text.lower())
            for told in DIRECTIVES:
                if of in _forms(told.cues, stem):
                    return told.predicate
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """The rules that a question asks about, and the words that are left to look for."""

    rules: tuple[str, ...] = ()  # names of rules
    predicates: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()  # terms of the question that pointed there
    rest: tuple[str, ...] = ()  # terms that did not


def read_intent(terms: Sequence[str], rules: Iterable[Cued], *, ours: bool = False) -> Intent:
    """Return the rules with the most cues among the terms; none when nothing points anywhere.

    One cue is enough only where it is at least half of what is asked: "server" alone in a long
    question says little. A question of what is `ours` may ask for what an owner told agents;
    what else it names is what that is about: "my rules for tests".
    """
    known = list(rules)
    told = _matches(DIRECTIVES, {term: term.lower() for term in terms}, str) if ours else []
    if told and (len(terms) <= 2 or len(told) > 1):
        chosen = [(rule, matched) for _, rule, matched in told]
    else:
        matches = _matches(known, {term: term.lower() for term in terms}, str)
        if not matches:  # stems cost more than the rest of this, and the cues hold the usual forms
            matches = _matches(known, {term: stem(term) for term in terms}, stem)
        best = max((count for count, _, _ in matches), default=0)
        if best == 0 or (best == 1 and len(terms) > 2):
            return Intent(rest=tuple(terms))
        chosen = [(rule, matched) for count, rule, matched in matches if count == best]
    matched = set().union(*(hits for _, hits in chosen))
    return Intent(
        rules=tuple(rule.name for rule, _ in chosen if rule.name),
        predicates=tuple(dict.fromkeys(rule.predicate for rule, _ in chosen)),
        matched=tuple(term for term in terms if term in matched),
        rest=tuple(term for term in terms if term not in matched),
    )


@lru_cache(maxsize=1_024)  # far more rules than anybody has
def _forms(cues: tuple[str, ...], form: Callable[[str], str]) -> frozenset[str]:
    return frozenset(map(form, cues))


def _matches(
    rules: Iterable[Cued], terms: Mapping[str, str], form: Callable[[str], str]
) -> list[tuple[int, Cued, set[str]]]:
    """Return (how many terms, rule, which terms) of the rules that have cues among the terms."""
    matches = []
    for rule in rules:
        cues = _forms(rule.cues, form)
        matched = {term for term, word in terms.items() if word in cues}
        if matched:
            matches.append((len(matched), rule, matched))
    return matches
