"""Lay out for people what keeps a memory in order: reports, reviews, and the life of a fact.

As in `render`: every function writes to a `Screen`, and stored text enters lines only through
`text.safe`, `text.one_line` or a table cell.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from factbook.surface import text
from factbook.surface.render import rows_of
from factbook.surface.text import Column, count, home_path, moment

if TYPE_CHECKING:
    from factbook.maintenance.changes_report import Account, Moved
    from factbook.maintenance.confidence_history import Course, Step
    from factbook.maintenance.consolidate import Question
    from factbook.maintenance.metrics import Metrics, Share
    from factbook.memory.standing import Living, Successor
    from factbook.model.facts import Evidence, Fact, Millis, Proposal, Run
    from factbook.surface.output import Page, Screen

__all__ = [
    "account",
    "aside",
    "history",
    "life_rows",
    "living",
    "review",
    "runs",
]

Redact = Callable[[str], str]

_SHOWN: Final = 10  # changes of one kind, of a report that is not asked for whole
_BAR: Final = 20  # cells of a bar for a confidence of 1
_LINE: Final = 48  # cells of the line that a confidence draws
_DAY_MS: Final = 24 * 3600 * 1000
_PAYLOAD_LINES: Final = 14  # of a proposed rule
_EXAMPLES: Final = 3
_ASIDE_SHOWN: Final = 10
_ROWS: Final = {"fact": "f", "episode": "e"}  # how ids of rows begin; others are named

_STEPS: Final[Mapping[str, str]] = {
    "store": "first evidence",
    "update": "more evidence",
    "support": "said again",
    "doubt": "an episode speaks against it",
    "contradict": "contradicted by {others}",
    "supersede": "superseded by {others}",
    "absorb": "took in {others}, which says the same",
    "merge": "merged into {others}",
    "give_back": "gave {others} back",
    "unmerge": "taken out again, as a fact of its own",
    "pin": "pinned: it fades no more",
    "unpin": "pin taken away: it fades again",
    "revert": "taken back",
    "settle": "judged beside {others}",
}
_RATED: Final[Mapping[str, str]] = {
    "right": "its owner says that it is right",
    "wrong": "its owner says that it is wrong",
}
_RECEIPT: Final = (
    ("stored", "new"),
    ("supported", "supported"),
    ("contradicted", "contradicted"),
    ("superseded", "superseded"),
    ("merged", "merged"),
    ("queued", "queued"),
    ("settled", "settled"),
    ("proposed", "proposed"),
    ("embedded", "embedded"),
)


def _can_write(drawing: str) -> bool:
    """Tell whether stdout can show a character; where not, plain ones draw the same."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        drawing.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _bar(value: float) -> str:
    full, empty = ("█", "░") if _can_write("█░") else ("#", ".")
    cells = round(_BAR * min(1.0, max(0.0, value)))
    return full * cells + empty * (_BAR - cells)


def _spark(values: Sequence[float]) -> str:
    levels = "▁▂▃▄▅▆▇█" if _can_write("▁█") else "_.-:=+*#"
    last = len(levels) - 1
    return "".join(levels[min(last, int(max(0.0, one) * len(levels)))] for one in values)


# --- the life of a fact ---------------------------------------------------------------------------


def life_rows(
    fact: Fact, following: Sequence[Successor], *, redact: Redact
) -> list[tuple[str, str]]:
    """Return what `explain` says of a fact's life, beside its status."""
    valid = ""
    if fact.valid_from is not None or fact.valid_to is not None:
        since, until = moment(fact.valid_from), moment(fact.valid_to)
        valid = " ".join(
            part for part in (since and f"from {since}", until and f"to {until}") if part
        )
    rows = [("true", valid), ("pinned", "yes: it does not fade" if fact.pinned else "")]
    rows += [(one.how, f"f{one.fact.id}  {redact(one.fact.statement)}") for one in following]
    return rows


def history(screen: Page, found: Course, *, evidence: Sequence[Evidence], redact: Redact) -> None:
    """Draw how sure a fact was over time, and say what moved it."""
    screen.line(screen.paint("history", "bold"))
    began = found.standings[0][0]
    if found.end - began >= _DAY_MS:
        line = _spark(found.points(_LINE))
        span = f"{moment(began)[:10]} to {moment(found.end)[:10]}"
        screen.line("  " + screen.paint(line, "cyan") + "  " + screen.paint(span, "dim"))
    quotes = {one.episode_id: one.quote for one in evidence}
    for step in found.steps:
        _step(screen, step, quotes=quotes, redact=redact)
    if found.retired:
        return
    last = found.steps[-1].after if found.steps else found.value
    faded = last - found.value >= 0.005
    days = (found.end - (found.steps[-1].as_of if found.steps else began)) // _DAY_MS
    said = f"now: faded in {count(days, 'day')} without evidence" if faded else "now"
    _moment_line(screen, found.end, found.value, f"{found.value:.2f}", said)


def _step(screen: Page, step: Step, *, quotes: Mapping[int, str], redact: Redact) -> None:
    value = f"{step.after:.2f}"
    if step.before is not None and abs(step.after - step.before) >= 0.00005:
        value = f"{_value(step.before, step.after)} -> {_value(step.after, step.before)}"
    _moment_line(screen, step.as_of, step.after, value, _words(step))
    details = []
    if step.says:
        details.append(redact(step.says))
    details += [f"“{redact(quotes[number])}”" for number in step.added if number in quotes]
    by = f"{step.op}, by {step.actor} ({step.trigger}"
    late = abs(step.at - step.as_of) >= _DAY_MS
    details.append(by + (f", written down {moment(step.at)})" if late else ")"))
    for one in details:
        line = text.fit(text.one_line(one), screen.prose - 20)
        screen.line(" " * 20 + screen.paint(line, "dim"))


def _value(value: float, beside: float) -> str:
    """Return a confidence with as many places as tell it from the one beside it."""
    for places in (2, 3):
        shown = f"{value:.{places}f}"
        if shown != f"{beside:.{places}f}":
            return shown
    return f"{value:.4f}"


def _moment_line(screen: Page, at: Millis, value: float, shown: str, said: str) -> None:
    style = "green" if value > 0.5 else "" if value >= 0.3 else "yellow"
    when = (moment(at) or "no date").ljust(16)
    bar = screen.paint(_bar(value), style)
    lead = f"  {when}  {bar}  {shown:<14}  "
    screen.line(lead + screen.paint(text.one_line(said), "bold"))


def _words(step: Step) -> str:
    others = ", ".join(f"f{one}" for one in step.others) or "another fact"
    if step.op == "rate":
        return _RATED.get(step.why, "rated by its owner")
    words = _STEPS.get(step.op, step.op).format(others=others)
    if step.op == "settle":
        return f"{words}: {step.why}"
    generic = step.why in ("", "command", "unmerge", "same")
    return words if generic else f"{words} ({step.why})"


# --- the report of a consolidation ----------------------------------------------------------------


def account(
    screen: Screen,
    found: Account,
    *,
    redact: Redact,
    head: str,
    embedded: int,
    waiting: int,
    all_: bool,
) -> None:
    """Show every change of a run, by kind; a bounded number of each unless `all_` is asked for."""
    screen.line(screen.paint(text.one_line(head), "bold"))
    page = _Page(screen, found, redact=redact, most=None if all_ else _SHOWN)
    page.group("new facts", [page.fact(one) for one in found.new])
    page.group("supported", [page.moved(one) for one in found.supported])
    page.group("doubted", [page.moved(one) for one in found.doubted], "yellow")
    page.group(
        "contradicted",
        [
            [
                *(
                    page.line(fact, f"{before:.2f} -> {after:.2f}")
                    for fact, before, after in zip(one.fact_ids, one.before, one.after, strict=True)
                ),
                *(page.line(fact, "") for fact in one.other_ids),
                ("", page.why(one.rule, one.why)),
            ]
            for one in found.contradicted
        ],
        "yellow",
    )
    page.group(
        "superseded",
        [
            [
                page.line(one.old_id, ""),
                page.line(one.new_id, "", lead="-> "),
                ("", page.why(one.rule, one.why)),
            ]
            for one in found.superseded
        ],
    )
    page.group(
        "merged",
        [
            [
                page.line(one.winner_id, ""),
                *(page.line(loser, "", lead="<- ") for loser in one.loser_ids),
            ]
            for one in found.merged
        ],
        number=sum(len(one.loser_ids) for one in found.merged),
    )
    page.group("faded below 0.30", [page.fact(one) for one in found.faded], "yellow")
    page.group(
        "queued for judgement",
        [
            [
                page.line(one.low_id, ""),
                page.line(one.high_id, ""),
                ("", page.why(one.rule, one.detail)),
            ]
            for one in found.queued
        ],
        "yellow",
    )
    page.group(
        "judged",
        [
            [page.line(low, ""), page.line(high, ""), ("", verdict)]
            for low, high, verdict in found.settled
        ],
    )
    page.group(
        "proposed",
        [[("", f"{number}  {text.one_line(redact(title))}")] for number, title in found.proposed],
    )
    page.group(
        "other changes", [[page.line(fact, what.replace("_", " "))] for what, fact in found.other]
    )
    if embedded:
        screen.line(screen.paint("embedded", "bold") + f"  {count(embedded, 'row')}")
    if not found.changes and not embedded:
        screen.say("Nothing had to change.")
    if waiting or found.proposed:
        screen.say(
            f"{count(waiting, 'pair waits', 'pairs wait')} for judgement; `factbook review` shows"
            " what there is to decide."
            if waiting
            else "`factbook review` shows what there is to decide.",
            "yellow",
        )
    if page.cut:
        screen.say("--all shows every change.", "dim")


_Line = tuple[str, str]  # (the id and what else leads, the safe text)


class _Page:
    """The groups of one report."""

    def __init__(self, screen: Screen, found: Account, *, redact: Redact, most: int | None) -> None:
        self._screen = screen
        self._facts = found.facts
        self._redact = redact
        self._most = most
        self.cut = False

    def line(self, fact_id: int, value: str, *, lead: str = "") -> _Line:
        """Return a line of a fact."""
        fact = self._facts.get(fact_id)
        said = "" if fact is None else text.one_line(self._redact(fact.statement))
        return f"{lead}f{fact_id}" + (f"  {value}" if value else ""), said

    def fact(self, fact_id: int) -> list[_Line]:
        """Return the line of a fact with its confidence."""
        fact = self._facts.get(fact_id)
        return [self.line(fact_id, "" if fact is None else f"{fact.confidence:.2f}")]

    def moved(self, one: Moved) -> list[_Line]:
        """Return the line of a fact that became surer, or less so."""
        values = f"{_value(one.before, one.after)} -> {_value(one.after, one.before)}"
        more = f" ({count(one.episodes, 'episode')})" if one.episodes > 1 else ""
        return [self.line(one.fact_id, values + more)]

    def why(self, rule: str, said: str) -> str:
        """Return why rules decided so, on one safe line."""
        return text.one_line(": ".join(part for part in (rule, self._redact(said)) if part))

    def group(
        self,
        title: str,
        entries: Sequence[Sequence[_Line]],
        style: str = "",
        *,
        number: int | None = None,
    ) -> None:
        """Write one kind of changes."""
        if not entries:
            return
        screen = self._screen
        total = len(entries) if number is None else number
        screen.line(screen.paint(title, f"bold {style}".strip()) + f"  {count(total)}")
        shown = entries if self._most is None else entries[: self._most]
        for lines in shown:
            for lead, said in lines:
                lead = f"  {lead}  " if lead else "      "
                room = max(20, (screen.width or 160) - text.cells(lead))
                dim = not lead.strip()
                screen.line(
                    screen.paint(lead, "dim") + screen.paint(text.fit(said, room), "dim" * dim)
                )
        if len(shown) < len(entries):
            self.cut = True
            screen.line("  " + screen.paint(f"and {count(len(entries) - len(shown))} more", "dim"))


def aside(screen: Screen, rows: Sequence[tuple[str, int, str]], *, redact: Redact) -> None:
    """Show rows that cannot be embedded, and why."""
    if not rows:
        return
    screen.line(screen.paint("put aside", "bold yellow") + f"  {count(len(rows))}")
    for target, number, reason in rows[:_ASIDE_SHOWN]:
        lead = f"  {_ROWS.get(target, f'{target} ')}{number}  "
        room = max(20, screen.prose - len(lead))
        screen.line(screen.paint(lead, "dim") + text.fit(text.one_line(redact(reason)), room))
    if len(rows) > _ASIDE_SHOWN:
        more = f"and {count(len(rows) - _ASIDE_SHOWN)} more; --json names every one"
        screen.line("  " + screen.paint(more, "dim"))
    screen.say("They are found by their words; `factbook worker --retry` tries them again.", "dim")


def runs(screen: Screen, found: Iterable[Run]) -> None:
    """Show consolidations, one line each."""
    rows = []
    for one in found:
        # Of a run that was stopped, how far it had come says more than how long that took.
        took = (
            _took(one) if one.state in ("done", "undone") else f"after {one.phase or 'its start'}"
        )
        rows.append([str(one.id), moment(one.started_at), one.state, took, _counts(one)])
    screen.table(
        [
            Column(title="run", right=True),
            Column(title="when"),
            Column(title="state", style="cyan"),
            Column(title="took", optional=True),
            Column(title="changes", flexible=True, least=16),
        ],
        rows,
    )


def _took(one: Run) -> str:
    seconds = one.report.get("seconds")
    if not isinstance(seconds, dict):
        return ""
    return text.amount(sum(part for part in seconds.values() if isinstance(part, (int, float))))


def _counts(one: Run) -> str:
    receipt = one.report.get("receipt")
    counted = receipt if isinstance(receipt, dict) else {}
    parts = [f"{count(counted[name])} {word}" for name, word in _RECEIPT if counted.get(name)]
    faded = one.report.get("faded")
    if isinstance(faded, list) and faded:
        parts.append(f"{count(len(faded))} faded")
    return " · ".join(parts) or "nothing had to change"


# --- what waits for a person ----------------------------------------------------------------------


def review(
    screen: Screen,
    proposals: Sequence[Proposal],
    questions: Sequence[Question],
    *,
    redact: Redact,
    program: str,
    all_: bool,
) -> None:
    """Show what waits for a person, and what to type."""
    if not proposals and not questions:
        screen.say("Nothing waits for a decision.")
        return
    most = None if all_ else _SHOWN
    if proposals:
        screen.line(screen.paint("proposals", "bold") + f"  {count(len(proposals))}")
    for number, one in enumerate(proposals[:most], 1):
        title = text.one_line(redact(one.title))
        screen.line(f"  {number}. " + screen.paint(title, "bold cyan"))
        for line in _payload(one, redact):
            screen.line("     " + screen.paint(text.fit(line, screen.prose - 5), "dim"))
        how = {"memory": " [--text '...']", "clarification": " --text '...'"}.get(one.kind, "")
        screen.line(f"     {program} review accept {one.id}{how}")
        screen.line(f"     {program} review refuse {one.id} --reason '...'")
    if questions:
        if proposals:
            screen.line()
        screen.line(
            screen.paint("pairs that rules could not decide", "bold") + f"  {count(len(questions))}"
        )
    for number, pair in enumerate(questions[:most], 1):
        ids = (pair.low_id, pair.high_id)
        lead = f"  {number}. "
        sides = zip(ids, pair.texts, pair.confidences, pair.sources, strict=True)
        for fact, said, sure, source in sides:
            line = f"{lead}f{fact}  {sure:.2f}  "
            room = max(20, (screen.width or 160) - len(line))
            screen.line(screen.paint(line, "dim") + text.fit(text.one_line(said), room))
            lead = " " * len(lead)
            if pair.heard:
                how = "overheard" if fact == pair.heard else "told"
                screen.line(screen.paint(f"{lead}{how}, {text.safe(home_path(source))}", "dim"))
        if pair.why:
            why = text.fit(text.one_line(redact(pair.why)), screen.prose - 5)
            screen.line("     " + screen.paint(why, "yellow"))
        if pair.attempts:
            state = "is set aside" if pair.aside else "waits for another try"
            asked = f"a model was asked {count(pair.attempts, 'time')} in vain; it {state}"
            screen.line("     " + screen.paint(asked, "dim"))
        verdicts = "accept|refuse|keep" if pair.heard else "merge|keep|contradiction"
        screen.line(f"     {program} review pair f{ids[0]} f{ids[1]} {verdicts}")
    if most is not None and (len(proposals) > most or len(questions) > most):
        screen.say("--all shows every one.", "dim")


def _side(how: str, side: Mapping[str, str], redact: Redact) -> str:
    """Return one side of a conflict as a line: which fact, what it says, and where from."""
    where = f"{side['episode']}, {home_path(side['source'])}"
    return text.one_line(f"{how} {side['fact']} {redact(side['text'])} ({where})")


def _payload(one: Proposal, redact: Redact) -> list[str]:
    """Return what a proposal says of itself, as safe lines."""
    sides = one.payload.get("against"), one.payload.get("heard")
    told = sides[0] if isinstance(sides[0], list) else []
    found = [_side("against", side, redact) for side in told]
    found += [_side("overheard:", sides[1], redact)] if isinstance(sides[1], dict) else []
    for name, value in one.payload.items():
        if name in ("toml", "against", "heard"):
            continue
        if isinstance(value, list):
            shown = ", ".join(text.one_line(redact(str(part))) for part in value[:_EXAMPLES])
            value = shown + (", …" if len(value) > _EXAMPLES else "")
        elif isinstance(value, dict):
            continue
        found.append(f"{text.one_line(name)}: {text.one_line(redact(str(value)))}")
    toml = one.payload.get("toml")
    if isinstance(toml, str):
        lines = text.safe(redact(toml)).strip().split("\n")
        found += lines[:_PAYLOAD_LINES]
        if len(lines) > _PAYLOAD_LINES:
            found.append("…")
    return found


# --- numbers --------------------------------------------------------------------------------------


_STATES: Final = (
    ("active", "active"),
    ("tool_only", "found by a search only (0.30 to 0.50)"),
    ("deprecated", "deprecated (below 0.30)"),
    ("proposed", "proposed"),
    ("superseded", "superseded"),
    ("merged_into", "merged"),
    ("erased", "erased"),
)


def living(screen: Page, found: Living) -> None:
    """Show how facts stand, what waits, and the figures of success."""
    states = [
        f"{count(found.states[name])} {words}" for name, words in _STATES if found.states.get(name)
    ]
    waits = [
        f"{count(found.waiting, 'row')} to embed" if found.waiting else "",
        f"{count(found.aside, 'row')} put aside" if found.aside else "",
        f"{count(found.pairs_waiting, 'pair')} to judge" if found.pairs_waiting else "",
        f"{count(found.proposals_open, 'proposal')}" if found.proposals_open else "",
    ]
    last = found.last_run
    run = ""
    if last is not None:
        run = f"{last.id}, {moment(last.started_at)}, {last.state}: {_counts(last)}"
    aside = sum(1 for one in found.unanswered if one.aside)
    asked = [
        f"{count(len(found.unanswered) - aside)} waiting" if len(found.unanswered) > aside else "",
        f"{count(aside)} set aside" if aside else "",
    ]
    rows = [
        ("facts now", " · ".join(states)),
        ("waiting", " · ".join(one for one in waits if one)),
        (
            "asked in vain",
            " · ".join(one for one in asked if one) + "   of a language model; `factbook doctor`"
            if found.unanswered
            else "",
        ),
        ("last run", run),
    ]
    if any(value for _, value in rows):
        screen.line()
        rows_of(screen, rows)
    figures = _figures(found.metrics)
    if figures:
        screen.line()
        screen.line(screen.paint("figures", "bold"))
        rows_of(screen, figures)


def _figures(found: Metrics) -> list[tuple[str, str]]:
    def share(one: Share | None, words: str) -> str:
        if one is None:
            return ""
        return f"{one.value:.1%}   {words.format(part=f'{one.part:,.0f}', of=f'{one.of:,.0f}')}"

    latency = found.passive_latency_ms
    diversity = found.diversity
    accuracy = found.confidence_accuracy
    rows = [
        (
            "passive relevance",
            share(found.passive_relevance, "{part} of {of} streamed memories were used"),
        ),
        (
            "tool effectiveness",
            share(found.tool_effectiveness, "{part} of {of} searches were enough"),
        ),
        ("searches", "" if found.searches is None else count(found.searches)),
        (
            "diversity",
            "" if diversity is None else f"{diversity.value:.2f}   1 is without repetition",
        ),
        (
            "passive latency",
            "" if latency is None else f"{latency:.1f} ms   on average; 100 ms is the aim",
        ),
        (
            "deduplication",
            share(found.deduplication, "{part} of {of} facts that say the same were merged"),
        ),
        ("deprecation", share(found.deprecation, "{part} of {of} current facts have faded")),
        (
            "confidence accuracy",
            "" if accuracy is None else f"{accuracy:.2f}   correlation with the evidence",
        ),
        (
            "resolved by rules",
            share(found.resolved_by_rules, "{part} of {of} contradictions needed no judge"),
        ),
        ("rated right", share(found.right, "{part} of {of} facts that were rated")),
    ]
    return [(name, value) for name, value in rows if value]
