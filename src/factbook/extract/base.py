"""What a rule is: where it looks, what it matches, and what it then claims."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from factbook import policy
from factbook.model.facts import Episode, EpisodeKind, FactKind, Trust
from factbook.model.text import shorten

STATEMENT_CHARS: Final = 300  # ours: a readable sentence; the object and the quote hold the whole

SUBJECTS: Final = ("action", "task", "session", "action|task")
"""Whom a rule may speak of. `action|task` is a command: the assistant's (action) or one that the
user typed (task)."""

WAITS: Final = ("", "answer", "success")
"""What a rule about a call waits for: nothing, as the call itself shows what it claims; the result,
whatever it is; or a result that shows no failure."""

TEXT_KINDS: Final[Mapping[str, EpisodeKind]] = {
    "prompt": EpisodeKind.PROMPT,
    "reply": EpisodeKind.REPLY,
    "call": EpisodeKind.TOOL_CALL,
    "result": EpisodeKind.TOOL_RESULT,
    "summary": EpisodeKind.SUMMARY,
    "record": EpisodeKind.RECORD,
    "turn": EpisodeKind.TURN,
}
"""How `looks_in` names the kinds of episodes."""

_PLACE: Final = re.compile(
    r"(?P<what>tool name|field (?P<field>\w+)|attribute (?P<attribute>\w+)|text)"
    r"(?: of (?P<of>\S+))?"
)


class RuleHit(NamedTuple):
    """One hit: the object of the claim, where it stands in the searched text, and more to say."""

    object: str
    start: int  # in the text that was searched
    end: int  # exclusive
    details: Mapping[str, str] | None = None  # further values for the sentence


class SearchedPart(NamedTuple):
    """Where a rule looks, taken apart."""

    what: str  # tool, field, attribute or text
    name: str  # of the field or attribute; empty for the others
    of: tuple[str, ...]  # names of tools (`*` allowed), for texts and attributes kinds of episodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row of the table of rules: how a kind of fact is recognised and how sure that is."""

    name: str  # the predicate, with a suffix after a dot where several rules state the same one
    predicate: str = ""  # what the name says before its dot, unless it is given
    confidence: float = policy.DIRECT_OBSERVATION  # 0 to 1, before the cap by trust
    method: str  # how it is found, in words; stored with every piece of evidence
    subject: str = "action|task"  # one of SUBJECTS; a command, unless another one is given
    looks_in: str = "field command"  # see `parse_place`
    statement: str  # readable sentence; {object}, {tool}, named groups and details are filled in
    waits_for: str = ""  # one of WAITS; what says that something happened waits for the result
    unanswered: str = ""  # the sentence where a call got no result, and it is unknown what happened
    pattern: str | None = None  # regular expression; its group `object` (or 1, or all) counts
    find: Finder | None = None  # code, for what no regular expression can tell
    keywords: tuple[str, ...] = ()  # words that `find` looks for; a user may replace them
    ignored: tuple[str, ...] = ()  # objects that are never claimed
    hints: tuple[str, ...] = ()  # a text with none of these substrings is not searched at all
    cues: tuple[str, ...] = ()  # words of a question that point at this predicate
    kind: FactKind = FactKind.OBSERVATION
    trust: Trust | None = None  # where the record is surer than its channel
    embed: bool = False  # statement-like: worth a vector
    enabled: bool = True
    ranks: bool = True  # may answer a question; else it is there for SQL and for who asks for it
    linear: bool = False  # run the pattern through RE2, which no input can slow down

    def __post_init__(self) -> None:
        if not self.predicate:
            object.__setattr__(self, "predicate", self.name.partition(".")[0])

    @property
    def matches(self) -> str:
        """What it matches, in words: its pattern, its keywords, or the code that looks."""
        if self.pattern is not None:
            return f"`{self.pattern}`"
        if self.keywords:
            return "words: " + ", ".join(self.keywords)
        if self.find is not None:
            return f"code: {self.find.__module__.rpartition('.')[2]}.{self.find.__name__}"
        return "the whole of it"


Finder: TypeAlias = Callable[[str, Rule, Episode], Iterable[RuleHit]]
"""Find hits of a rule in a text; a pure function of its arguments."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set; long lists read better as text than as code."""
    return frozenset(text.split())


def finds(text: str, word: str) -> Iterator[int]:
    """Yield where a word stands, inside others too: far faster than a pattern."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def parse_place(looks_in: str) -> SearchedPart | None:
    """Take a `looks_in` apart, or return None where it is none of the known forms.

    The forms: `tool name`, `field NAME`, `attribute NAME`, `text of KIND`; all may end in
    `of A|B`, which for a tool or a field names tools (`*` stands for any letters) and for an
    attribute or a text kinds of episodes (prompt, reply, call, result, summary, record, turn).
    """
    match = _PLACE.fullmatch(looks_in)
    if match is None:
        return None
    of = tuple(match["of"].split("|")) if match["of"] else ()
    what = match["what"].split()[0]
    if what in {"text", "attribute"} and not all(kind in TEXT_KINDS for kind in of):
        return None
    if what == "text" and not of:
        return None
    return SearchedPart(what, match["field"] or match["attribute"] or "", of)


@lru_cache(maxsize=512)
def parse_template(template: str) -> tuple[tuple[str, str], ...]:
    """Cut a sentence template into (literal, name) pairs.

    Raises ValueError for anything but plain `{name}` places: `{a.b}` or `{a[0]}` would reach into
    Python objects.
    """
    parts: list[tuple[str, str]] = []
    for literal, name, form, conversion in string.Formatter().parse(template):
        if name is not None and (not name.isidentifier() or form or conversion):
            raise ValueError(f"{{{name}}} is not a plain name in braces")
        parts.append((literal, name or ""))
    return tuple(parts)


def render(template: str, values: Mapping[str, str]) -> str:
    """Fill a sentence template; a value that is missing is left out, long ones are shortened."""
    text = "".join(
        literal + (shorten(values.get(name, ""), STATEMENT_CHARS) if name else "")
        for literal, name in parse_template(template)
    )
    return text.strip()
