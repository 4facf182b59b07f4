"""Summarise a session from what is stored of it: what was asked, done and left open.

No model is asked, nothing is guessed and nothing is kept: a summary quotes the prompts, the first
sentence of each last reply, the facts of the session, and what the last reply itself lists as open.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from factbook import policy
from factbook.errors import NotFound, UsageError
from factbook.language.sentences import markdown_sentences
from factbook.model.facts import Fact, Millis, SourceState
from factbook.model.text import shorten
from factbook.model.turns import is_fragment

_ACTS: Final[Mapping[str, str]] = {
    "files": "modified_file",
    "commits": "committed",
    "installs": "installed_package",
    "hosts": "connects_to_host",
}
_CHECK: Final = "verified"
_FAILURE: Final = "failed_with"
_FIX: Final = "fixed_by"
PREDICATES: Final = (*_ACTS.values(), _CHECK, _FAILURE, _FIX)
"""The facts of a session that its summary shows."""

_NEAREST: Final = 3  # sessions that an error names
_FIRST_CHARS: Final = 4_000  # of a reply, in which its first sentence is looked for
_LABEL_CHARS: Final = 60  # a longer line is no heading of a list
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_BEFORE_LABEL: Final = re.compile(r"\W*(?:\d+[.)]\s+)?\W*")
_ITEM: Final = re.compile(r"(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(?:\[(?P<box>[ xX])\]\s+)?(?P<said>\S.*)")
_OPEN: Final = re.compile(
    r"(?:still |the |some |things |known )*"
    r"(?:remaining|next steps?|not (?:yet )?(?:done|finished)|(?:still|left|things) to do|to-?dos?"
    r"|left (?:open|undone)|what(?:[\u2019']s| is)(?: still)? (?:left|open|missing)|what remains"
    r"|open (?:items?|points?|questions?|issues?|tasks?|ends?)|outstanding|unfinished)\b",
    re.IGNORECASE,
)


class SessionTurn(NamedTuple):
    """A turn as it is stored: the prompt, and the last that was said to it."""

    id: int  # of the prompt
    at: Millis | None
    prompt: str
    reply: str
    records: Collection[int]  # all of the turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompted:
    """What was asked, and what came of it, each in one line."""

    id: int  # of the prompt, an episode
    at: Millis | None
    asked: str
    more: str  # fragments that followed, as "yes please; /cost"
    ended: str  # the first sentence of the last reply; empty where there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """What was done or seen in a session, as often as it was."""

    text: str
    outcome: str  # of a check: passed or failed; of a failure: how it was fixed, or went on
    times: int
    at: Millis | None  # the last time
    fact: int  # that says so, the last one


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """A session on one page."""

    session: str
    host: str
    project: str
    title: str
    branches: Sequence[str]
    sources: Sequence[int]  # its logs, those of sub-agents too
    agents: int  # sub-agents among them
    items: int
    started_at: Millis | None
    ended_at: Millis | None
    turns: Sequence[Prompted]
    files: Sequence[Act]
    commits: Sequence[Act]
    installs: Sequence[Act]
    hosts: Sequence[Act]
    checks: Sequence[Act]
    failures: Sequence[Act]
    open: Sequence[str]
    left_out: Mapping[str, int]  # by the name of the part, what a bounded page does not hold


def session_named(states: Sequence[SourceState], name: str) -> Sequence[SourceState]:
    """Return the sources of the session that a name means, the main one first.

    A name is the id of the session, its beginning, or the number of a source, as s12 or 12. Raises
    NotFound where there is none, and UsageError where several are meant.
    """
    sessions: dict[tuple[str, str], list[SourceState]] = {}
    for state in states:
        if state.source.session:
            sessions.setdefault((state.source.host, state.source.session), []).append(state)
    said = name.casefold()
    numbers = (said, f"s{said}")
    exact = [key for key in sessions if key[1].casefold() == said]
    meant = exact or [
        key
        for key, of_it in sessions.items()
        if key[1].casefold().startswith(said) or any(f"s{one.id}" in numbers for one in of_it)
    ]
    if not meant:
        raise NotFound(what="session", name=repr(name), hint=_nearest(sessions, said))
    if len(meant) > 1:
        some = [f"s{sessions[key][0].id} ({key[1]})" for key in meant[:_NEAREST]]
        left = f" and {len(meant) - _NEAREST} more" if len(meant) > _NEAREST else ""
        raise UsageError(
            detail=f"{name!r} may mean {', '.join(some)}{left}; give more of the id, or the whole"
            " number, as s12"
        )
    return sorted(sessions[meant[0]], key=lambda state: (bool(state.source.agent), state.id))


def _nearest(sessions: Mapping[tuple[str, str], Sequence[SourceState]], said: str) -> str:
    # The beginning of an id is compared with the beginnings of all; no number is near to another.
    known = {key[1][: len(said)].casefold(): key for key in sessions}
    near = dict.fromkeys(known[form] for form in difflib.get_close_matches(said, known, _NEAREST))
    meant = " or ".join(f"s{sessions[key][0].id} ({key[1]})" for key in near)
    listed = "`factbook sessions` lists them."
    return f"did you mean {meant}? {listed}" if meant else listed


def summarised(
    sources: Sequence[SourceState],
    turns: Sequence[SessionTurn],
    facts: Iterable[Fact],
    branches: Sequence[str],
    *,
    went_on: Mapping[int, str],
    whole: bool = False,
) -> SessionSummary:
    """Return the summary of a session of its sources, its turns in order, and its facts.

    `went_on` says of failures that are over, and for which no fix is known, how they went on.
    Unless it is to be `whole`, each part is cut to what a page holds.
    """
    main = sources[0].source
    by_predicate: dict[str, list[Fact]] = {predicate: [] for predicate in PREDICATES}
    for fact in sorted(facts, key=_when):
        by_predicate[fact.predicate].append(fact)
    asked, last = _asked(turns)
    fixes = by_predicate[_FIX]

    def how(failure: Fact) -> str:
        return _fix(failure, fixes) or went_on.get(failure.id, "")

    unfixed = {
        _told(fact): None
        for fact in by_predicate[_FAILURE]
        if last and fact.episode_id in last.records and not how(fact)
    }
    titles = (state.source.title for state in sources if state.source.title)
    real = (turn.asked for turn in asked if not is_fragment(turn.asked))
    summary = SessionSummary(
        session=main.session,
        host=main.host,
        project=main.project,
        title=next(titles, next(real, "")),
        branches=list(dict.fromkeys(branches)),
        sources=[state.id for state in sources],
        # One may be told of in the log of its caller and in a file of its own.
        agents=len({state.source.agent for state in sources} - {""}),
        items=sum(state.episode_count for state in sources),
        started_at=min((s.first_at for s in sources if s.first_at is not None), default=None),
        ended_at=max((s.last_at for s in sources if s.last_at is not None), default=None),
        turns=asked,
        files=_done(by_predicate[_ACTS["files"]], _what),
        commits=_done(by_predicate[_ACTS["commits"]], _what),
        installs=_done(by_predicate[_ACTS["installs"]], _what),
        hosts=_done(by_predicate[_ACTS["hosts"]], _what),
        checks=_done(by_predicate[_CHECK], _told, _what),
        failures=_done(by_predicate[_FAILURE], _told, how),
        open=[*unfixed, *(left_open(last.reply) if last else ())],
        left_out={},
    )
    return summary if whole else _bounded(summary)


def _bounded(summary: SessionSummary) -> SessionSummary:
    """Return a summary with the first and last turns, and the last of everything else."""
    turns = list(summary.turns)
    kept: dict[str, Sequence[Act] | Sequence[str]] = {
        name: getattr(summary, name)[-policy.SESSION_ROWS :]
        for name in (*_ACTS, "checks", "failures", "open")
    }
    left_out = {name: len(getattr(summary, name)) - len(rows) for name, rows in kept.items()}
    if len(turns) > policy.SESSION_FIRST + policy.SESSION_LAST:
        left_out["turns"] = len(turns) - policy.SESSION_FIRST - policy.SESSION_LAST
        turns = [*turns[: policy.SESSION_FIRST], *turns[-policy.SESSION_LAST :]]
    left_out = {name: number for name, number in left_out.items() if number}
    return replace(summary, turns=turns, left_out=left_out, **kept)  # type: ignore[arg-type]


def _asked(turns: Sequence[SessionTurn]) -> tuple[list[Prompted], SessionTurn | None]:
    """Return what was asked, with fragments at the turn before; and the last turn with its own."""
    together: list[list[SessionTurn]] = []
    for turn in turns:
        if together and is_fragment(turn.prompt):
            together[-1].append(turn)
        else:
            together.append([turn])
    asked: list[Prompted] = []
    last = None
    for group in together:
        answered = next((turn for turn in reversed(group) if turn.reply.strip()), group[-1])
        reply = answered.reply
        fragments = (" ".join(turn.prompt.split()) for turn in group[1:])
        last = group[0]._replace(
            reply=reply, records=[record for turn in group for record in turn.records]
        )
        asked.append(
            Prompted(
                id=last.id,
                at=last.at,
                asked=shorten(last.prompt, policy.PROMPT_SHOWN),
                more=shorten("; ".join(filter(None, fragments)), policy.PROMPT_SHOWN),
                ended=first_sentence(reply, answers="?" in answered.prompt),
            )
        )
    return asked, last


def first_sentence(reply: str, *, answers: bool = False) -> str:
    """Return the first sentence of a reply that says something by itself, in one line.

    Where none does ("Done."), it is the first; in a reply without prose, its first line. Of a reply
    that answers a question the fragments before it ("No.") are the answer, and stay. One that only
    leads to what follows ("What changed:") comes with that.
    """
    text = reply[:_FIRST_CHARS].strip()
    places = markdown_sentences(text)
    said = [place.of(text) for place in places] or text.splitlines()[:1]
    at = next((n for n, one in enumerate(said) if not is_fragment(one)), 0)
    last = at
    while last + 1 < len(places) and said[last].rstrip("*_ ").endswith(":"):
        between = text[places[last].end : places[last + 1].start]
        if "\n```" in between or "\n|" in between:
            break  # it leads to code or to a table, which is no sentence
        last += 1
    return shorten(" ".join(said[0 if answers else at : last + 1]), policy.PROMPT_SHOWN)


def left_open(reply: str) -> list[str]:
    """Return what a reply lists under a heading of its own that says that it is not done."""
    items: list[str] = []
    listing = fenced = False
    indent: int | None = None  # of the list; None before its first item
    for line in reply.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or not line.strip():
            continue
        item = _ITEM.match(line) if listing else None
        if item is not None:
            indent = len(item[1]) if indent is None else indent
            if len(item[1]) <= indent and item["box"] not in ("x", "X"):
                items.append(shorten(item["said"], policy.PROMPT_SHOWN))
        elif _is_label(line):
            words = _BEFORE_LABEL.sub("", line, count=1)
            listing, indent = bool(_OPEN.match(words)) and len(words) <= _LABEL_CHARS, None
        elif indent is not None and not line.startswith(" "):
            listing = False  # the list is over
    return list(dict.fromkeys(items))


def _is_label(line: str) -> bool:
    """Tell whether a line is a heading, or leads to a list."""
    bare = line.strip()
    is_bold = bare.startswith("**") and bare.endswith("**")
    return is_bold or bare.startswith("#") or bare.rstrip("*_ ").endswith(":")


def _done(
    facts: Sequence[Fact],
    said: Callable[[Fact], str],
    outcome: Callable[[Fact], str] = lambda _fact: "",
) -> list[Act]:
    """Return what facts say, each once, in the order in which it happened last."""
    by_text: dict[str, list[Fact]] = {}
    for fact in facts:
        by_text.setdefault(said(fact), []).append(fact)
    rows = sorted(by_text.items(), key=lambda row: _when(row[1][-1]))
    return [
        Act(
            text=text,
            outcome=outcome(same[-1]),
            times=len(same),
            at=same[-1].occurred_at,
            fact=same[-1].id,
        )
        for text, same in rows
    ]


def _what(fact: Fact) -> str:
    return shorten(fact.object, policy.PROMPT_SHOWN)


def _told(fact: Fact) -> str:
    return shorten(fact.statement, policy.PROMPT_SHOWN)


def _fix(failure: Fact, fixes: Sequence[Fact]) -> str:
    """Return how a failure was fixed later, in words; empty where it was not."""
    later = (fix for fix in fixes if fix.object == failure.object and _when(fix) > _when(failure))
    fix = next(later, None)
    if fix is None:
        return ""
    how = fix.statement.removeprefix(f"fixed: {fix.object} \u2014 ")
    return shorten(f"fixed {how}", policy.PROMPT_SHOWN)


def _when(fact: Fact) -> tuple[Millis, int]:
    return (fact.occurred_at or 0, fact.id)
