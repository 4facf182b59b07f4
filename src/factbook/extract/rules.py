"""Walk an episode with the rules and propose what they find.

Reading logs is the hot path, so the rules are sorted once by kind of episode, tool and field.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import re2

from factbook.errors import NotFound
from factbook.extract.base import (
    STATEMENT_CHARS,
    TEXT_KINDS,
    Finder,
    Rule,
    RuleHit,
    SearchedPart,
    parse_place,
    parse_template,
    render,
)
from factbook.extract.prose import REPORTS
from factbook.extract.session_parser import RULES, SEED_STRICT
from factbook.model import fast_dataclass
from factbook.model.facts import Candidate, Episode, EpisodeKind, Outcome
from factbook.model.text import shorten

MAX_HITS: Final = 64
"""Objects that one rule may claim from one place: a list of ten thousand paths is data."""

_MAX_TOOLS: Final = 1_024
"""Names of tools whose rules are remembered; broken logs can hold any number of names."""

_MADE: Final = ("",)  # what the rules wait for that are asked about a call itself,
_ANSWERED: Final = ("answer",)  # about one with its answer,
_DONE: Final = ("answer", "success")  # and about one that did what it was called for
_WILDCARDS: Final = frozenset("*?[")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_candidate: Final = fast_dataclass.by_name(Candidate)
_Find = Callable[[str, Episode], Iterable[RuleHit]]


class _Ready(NamedTuple):
    """A rule made ready to run."""

    rule: Rule
    place: SearchedPart
    find: _Find
    hints: tuple[str, ...]
    subjects: frozenset[str]
    ignored: frozenset[str]
    around: tuple[str, str] | None  # what stands around the object in the sentence, if that is all
    unanswered: _Ready | None = None  # what it claims of a call without a result


class _Plan(NamedTuple):
    """The rules that concern one kind of episode and one tool, sorted by where they look."""

    tool: tuple[_Ready, ...]
    fields: Mapping[str, tuple[_Ready, ...]]
    attributes: tuple[_Ready, ...]
    text: tuple[_Ready, ...]


class RuleSet:
    """A fixed set of rules, ready to run."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        """Make the rules ready; disabled ones are kept for `lookup` and never run."""
        self.rules: Final = tuple(rules)
        self._by_name: Final = {rule.name: rule for rule in self.rules}
        self._ready: Final = tuple(_make_ready(rule) for rule in self.rules if rule.enabled)
        self._plans: dict[tuple[EpisodeKind, str, tuple[str, ...]], _Plan] = {}

    @classmethod
    def default(cls, *, strict: bool = False, user: Sequence[Rule] = ()) -> RuleSet:
        """Return the rules of the table, with those of a user.

        A user's rule that has the name of one of the table's takes its place (that is how a rule
        file switches rules off and changes their keywords). `strict` puts the literal host pattern
        of origins 000.2 in the place of the one that reads the command.
        """
        changed = {rule.name: rule for rule in user}
        table = [changed.pop(rule.name, rule) for rule in (*RULES, SEED_STRICT)]
        if strict:
            table = [
                replace(rule, enabled=rule.name == SEED_STRICT.name)
                if rule.predicate == SEED_STRICT.predicate
                else rule
                for rule in table
            ]
        return cls([*table, *changed.values()])

    def lookup(self, name: str) -> Rule:
        """Return the rule of that name; raises NotFound."""
        rule = self._by_name.get(name)
        if rule is None:
            raise NotFound(what="rule", name=name, hint="`factbook predicates` lists them all.")
        return rule

    def explain(self, name: str) -> str:
        """Say in one paragraph what a rule does; raises NotFound."""
        rule = self.lookup(name)
        state = "" if rule.enabled else " It is off."
        subject = rule.subject.replace("|", " or ")
        return (
            f"{rule.name} claims {rule.predicate} of the {subject} with confidence "
            f"{rule.confidence:g}. It looks in: {rule.looks_in}. Method: {rule.method}. "
            f"Pattern: {rule.matches}.{state}"
        )

    def cues(self) -> Mapping[str, tuple[str, ...]]:
        """Return which predicates each word of a question points at."""
        by_cue: dict[str, dict[str, None]] = {}
        for rule in self.rules:
            if rule.enabled:
                for cue in rule.cues:
                    by_cue.setdefault(cue.lower(), {})[rule.predicate] = None
        return {cue: tuple(predicates) for cue, predicates in by_cue.items()}

    def extract(self, episode: Episode) -> list[Candidate]:
        """Return what the rules claim from one episode, each claim once, in the rules' order.

        Of a call with its answer that is what waits for one; the rest is claimed of the call. Of
        one without an answer it is all that may be said of a call that has none.
        """
        if episode.answer is not None:
            done = episode.answer.outcome is Outcome.DONE
            return self._claims(episode, _DONE if done else _ANSWERED).candidates
        run = self._claims(episode, _MADE)
        self._unanswered(episode, run)
        return run.candidates

    def extract_made(self, call: Episode) -> list[Candidate]:
        """Return what the rules claim from a call that waits for its answer."""
        return self._claims(call, _MADE).candidates

    def extract_unanswered(self, call: Episode) -> list[Candidate]:
        """Return what may have happened by a call that got no answer."""
        run = _Run(call)
        self._unanswered(call, run)
        return run.candidates

    def _unanswered(self, call: Episode, run: _Run) -> None:
        fields = self._plan(call, _DONE).fields if call.fields else {}
        for part in call.fields:
            for ready in fields.get(part.name, ()):
                if ready.unanswered is not None:
                    value = call.text[part.start : part.end]
                    run.add(ready.unanswered, value, part.start, part.end)

    def _claims(self, episode: Episode, waits: tuple[str, ...]) -> _Run:
        plan = self._plan(episode, waits)
        run = _Run(episode)
        if plan.tool and episode.tool:
            start, end = _first_line(episode)
            for ready in plan.tool:
                run.add(ready, episode.tool, start, end, exact=episode.text[start:end])
        if plan.fields:
            for part in episode.fields:
                rules = plan.fields.get(part.name)
                if rules:
                    value = episode.text[part.start : part.end]
                    for ready in rules:
                        run.add(ready, value, part.start, part.end)
        for ready in plan.attributes:
            name = ready.place.name
            value = episode.session if name == "session" else episode.attributes.get(name, "")
            if value:
                run.add_attribute(ready, value)
        for ready in plan.text:
            run.add(ready, episode.text, 0, len(episode.text))
        return run

    def _plan(self, episode: Episode, waits: tuple[str, ...]) -> _Plan:
        key = (episode.kind, episode.tool, waits)
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _MAX_TOOLS:
                self._plans.clear()
            ready = [one for one in self._ready if one.rule.waits_for in waits]
            plan = self._plans[key] = _make_plan(ready, episode.kind, episode.tool)
        return plan


class _Run:
    """The candidates of one episode while they are collected."""

    def __init__(self, episode: Episode) -> None:
        self.candidates: list[Candidate] = []
        self._episode = episode
        self._kind = episode.subject.partition("_")[0]
        self._seen: set[tuple[str, str, str]] = set()

    def add(
        self, ready: _Ready, value: str, start: int, end: int, *, exact: str | None = None
    ) -> None:
        """Run a rule on what begins at `start`; `exact` stands there where the value does not."""
        if ready.hints:
            for hint in ready.hints:
                if hint in value:
                    break
            else:
                return
        subject = self._subject(ready)
        if not subject:
            return
        if exact is not None and exact != value:
            for hit in ready.find(value, self._episode):
                self._claim(ready, subject, hit.object, start, end, hit.details)
            return
        if ready.find is _whole:
            # Most facts are a whole field: no generator and no RuleHit for them.
            stripped = value.strip()
            if stripped:
                start += value.index(stripped)
                self._claim(ready, subject, stripped, start, start + len(stripped), None)
            return
        hits = 0
        for hit in ready.find(value, self._episode):
            hits += self._claim(
                ready, subject, hit.object, start + hit.start, start + hit.end, hit.details
            )
            if hits >= MAX_HITS:
                return

    def add_attribute(self, ready: _Ready, value: str) -> None:
        """Run a rule on an exact value of the record; the text shows it somewhere."""
        subject = self._subject(ready)
        if not subject:
            return
        text = self._episode.text
        for hit in ready.find(value, self._episode):
            start, end = hit.start, hit.end
            if ready.rule.find is None:
                start = -1 if ready.place.name == "session" else text.find(hit.object)
                end = start + len(hit.object)
            if start < 0:
                # The record states it beside the text (a prompt's session): the whole text is what
                # shows that there is such a record.
                start, end = len(text) - len(text.lstrip()), len(text.rstrip())
            self._claim(ready, subject, hit.object, start, end, hit.details)

    def _subject(self, ready: _Ready) -> str:
        """Return whom the rule speaks of here, or an empty text where it cannot."""
        if self._kind in ready.subjects:
            return self._episode.subject
        if "session" in ready.subjects and self._episode.session:
            return f"session_{self._episode.session}"
        return ""

    def _claim(
        self,
        ready: _Ready,
        subject: str,
        value: str,
        start: int,
        end: int,
        details: Mapping[str, str] | None,
    ) -> bool:
        """Propose a claim; False where it was proposed before or says nothing."""
        rule = ready.rule
        value = value.strip()
        key = (subject, rule.predicate, value)
        text = self._episode.text
        if not value or start >= end or key in self._seen or value in ready.ignored:
            return False
        # What is mended is no fault beside it.
        reported = REPORTS if rule.predicate in REPORTS else ()
        if any((subject, other, value) in self._seen for other in reported):
            return False
        if text[start].isspace() and text[start:end].isspace():
            return False
        self._seen.add(key)
        if ready.around is not None:
            statement = ready.around[0] + shorten(value, STATEMENT_CHARS) + ready.around[1]
        else:
            values = {**self._episode.attributes, "tool": self._episode.tool, "said": text}
            if details:
                values.update(details)
            values["object"] = value
            statement = render(rule.statement, values) or value
        self.candidates.append(
            _candidate(
                subject=subject,
                predicate=rule.predicate,
                object=value,
                statement=statement,
                confidence=rule.confidence,
                rule=rule.name,
                method=rule.method,
                start=start,
                end=end,
                kind=rule.kind,
                trust=rule.trust,
                embed=rule.embed,
            )
        )
        return True


def _first_line(episode: Episode) -> tuple[int, int]:
    """Return where the name of the called tool stands."""
    text, tool = episode.text, episode.tool
    if text.startswith(tool):
        return 0, len(tool)
    end = text.find("\n")
    return 0, len(text) if end < 0 else end


def _make_ready(rule: Rule) -> _Ready:
    place = parse_place(rule.looks_in)
    if place is None:
        raise ValueError(f"rule {rule.name} looks in an unknown place: {rule.looks_in}")
    if rule.find is not None:
        find = _bind(rule.find, rule)
    elif rule.pattern is not None:
        compiled = compile_linear(rule.pattern) if rule.linear else re.compile(rule.pattern)
        find = _pattern_finder(compiled, linear=rule.linear)
    else:
        find = _whole
    unanswered = None
    if rule.unanswered:
        unanswered = _make_ready(
            replace(rule, statement=rule.unanswered, unanswered="", waits_for="")
        )
    return _Ready(
        rule,
        place,
        find,
        rule.hints,
        frozenset(rule.subject.split("|")),
        frozenset(rule.ignored),
        _around(rule.statement),
        unanswered,
    )


def _around(template: str) -> tuple[str, str] | None:
    """Return what stands before and after the object, where the sentence fills in nothing else."""
    parts = parse_template(template)
    names = [name for _, name in parts if name]
    if names != ["object"]:
        return None
    return parts[0][0], "".join(literal for literal, _ in parts[1:])


def _bind(find: Finder, rule: Rule) -> _Find:
    return lambda text, episode: find(text, rule, episode)


def _whole(text: str, episode: Episode) -> Iterable[RuleHit]:
    """Claim the whole part without the blanks around it."""
    del episode
    value = text.strip()
    if value:
        start = len(text) - len(text.lstrip())
        yield RuleHit(value, start, start + len(value))


def _pattern_finder(compiled: Any, *, linear: bool) -> _Find:
    """Return what claims the group `object` of each match of a pattern of `re`, or of RE2."""
    groups: dict[str, int] = dict(compiled.groupindex)
    group = groups.get("object", 1 if compiled.groups else 0)

    def find(text: str, episode: Episode) -> Iterable[RuleHit]:
        del episode
        text = for_re2(text) if linear else text
        for match in compiled.finditer(text):
            start, end = match.span(group)
            if 0 <= start < end:
                details = {name: match[number] or "" for name, number in groups.items()}
                yield RuleHit(text[start:end], start, end, details)

    return find


def compile_linear(pattern: str) -> Any:
    """Compile a pattern for RE2, linear in the text; raises ValueError with RE2's reason."""
    options = re2.Options()
    options.log_errors = False  # the reason is raised; RE2 would print it as well
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(words) from error


def for_re2(text: str) -> str:
    """Return a text as RE2 reads it: as UTF-8, which has no lone surrogates."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _make_plan(rules: Sequence[_Ready], kind: EpisodeKind, tool: str) -> _Plan:
    fields: dict[str, list[_Ready]] = {}
    tools: list[_Ready] = []
    attributes: list[_Ready] = []
    texts: list[_Ready] = []
    for ready in rules:
        what, name, of = ready.place
        if what in {"tool", "field"}:
            if of and tool not in of and not any(_fits(tool, pattern) for pattern in of):
                continue
            if what == "field":
                fields.setdefault(name, []).append(ready)
            elif kind is EpisodeKind.TOOL_CALL:
                tools.append(ready)
        elif not of or any(TEXT_KINDS[part] is kind for part in of):
            (attributes if what == "attribute" else texts).append(ready)
    return _Plan(
        tuple(tools),
        {name: tuple(chosen) for name, chosen in fields.items()},
        tuple(attributes),
        tuple(texts),
    )


def _fits(tool: str, pattern: str) -> bool:
    # Most names have no wildcard, and to compile each would take longer than all else here.
    return not _WILDCARDS.isdisjoint(pattern) and fnmatch.fnmatchcase(tool, pattern)
