"""Show what keeps a memory in order: reports, reviews, and the life of a fact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from factbook.surface import text
from factbook.surface.records.keep import ROWS, numbers
from factbook.surface.text import Column, count, home_path, moment
from factbook.surface.views.tables import rows_of

if TYPE_CHECKING:
    from factbook.maintenance.changes_report import Account, Moved
    from factbook.maintenance.confidence_history import ConfidenceStep, Course
    from factbook.maintenance.metrics import Metrics, Share
    from factbook.maintenance.verdict_queue import PairQuestion
    from factbook.memory.standing import Living, Successor
    from factbook.model.facts import Evidence, Fact, Millis, Proposal, Run
    from factbook.surface.output import Page

__all__ = [
    "account",
    "aside",
    "fact_line",
    "history",
    "life_rows",
    "living",
    "review",
    "runs",
]

_SHOWN: Final = 10  # changes of one kind, of a report that is not asked for whole
_BAR: Final = 20  # cells of a bar for a confidence of 1
_LINE: Final = 48  # cells of the line that a confidence draws
_DAY_MS: Final = 24 * 3600 * 1000
_PAYLOAD_LINES: Final = 14  # of a proposed rule
_EXAMPLES: Final = 3
_ASIDE_SHOWN: Final = 10

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
    *((one, one) for one in ["supported", "contradicted", "superseded", "merged", "queued"]),
    *((one, one) for one in ["settled", "proposed", "embedded"]),
)


# --- the life of a fact ---------------------------------------------------------------------------


def fact_line(page: Page, fact: Fact, more: str = "") -> None:
    """Show a fact with its id and how sure it is, and a remark below it."""
    lead = page.paint(f"f{fact.id}  {fact.confidence:.2f}  ", "dim")
    page.say(text.one_line(fact.statement), "bold", lead=lead)
    if more:
        page.say("  " + more, "dim")


def life_rows(fact: Fact, following: Sequence[Successor]) -> list[tuple[str, str]]:
    """Return what `explain` says of a fact's life, beside its status."""
    since, until = moment(fact.valid_from), moment(fact.valid_to)
    valid = " ".join(part for part in (since and f"from {since}", until and f"to {until}") if part)
    rows = [("true", valid), ("pinned", "yes: it does not fade" if fact.pinned else "")]
    rows += [
        (successor.how, f"f{successor.fact.id}  {successor.fact.statement}")
        for successor in following
    ]
    return rows


def history(page: Page, found: Course, *, evidence: Sequence[Evidence]) -> None:
    """Draw how sure a fact was over time, and say what moved it."""
    page.line(page.paint("history", "bold"))
    began = found.standings[0][0]
    if found.end - began >= _DAY_MS:
        line = _spark(page, found.points(_LINE))
        span = f"{moment(began)[:10]} to {moment(found.end)[:10]}"
        page.line("  " + page.paint(line, "cyan") + "  " + page.paint(span, "dim"))
    quotes = {one.episode_id: one.quote for one in evidence}
    for step in found.steps:
        _step(page, step, quotes=quotes)
    if found.retired:
        return
    last = found.steps[-1].after if found.steps else found.value
    faded = last - found.value >= 0.005
    days = (found.end - (found.steps[-1].as_of if found.steps else began)) // _DAY_MS
    said = f"now: faded in {count(days, 'day')} without evidence" if faded else "now"
    _moment_line(page, found.end, found.value, f"{found.value:.2f}", said)


def _step(page: Page, step: ConfidenceStep, *, quotes: Mapping[int, str]) -> None:
    value = f"{step.after:.2f}"
    if step.before is not None and abs(step.after - step.before) >= 0.00005:
        value = _from_to(step.before, step.after)
    _moment_line(page, step.as_of, step.after, value, _words(step))
    by = f"{step.op}, by {step.actor} ({step.trigger}"
    late = abs(step.at - step.as_of) >= _DAY_MS
    quoted = [f"“{quotes[number]}”" for number in step.added if number in quotes]
    when = f", written down {moment(step.at)})" if late else ")"
    for one in (*([step.says] if step.says else []), *quoted, by + when):
        line = text.fit(text.one_line(one), page.prose - 20)
        page.line(" " * 20 + page.paint(line, "dim"))


def _spark(page: Page, values: Sequence[float]) -> str:
    levels = "_.-:=+*#" if page.plain else "▁▂▃▄▅▆▇█"
    last = len(levels) - 1
    return "".join(levels[min(last, int(max(0.0, value) * len(levels)))] for value in values)


def _from_to(before: float, after: float) -> str:
    return f"{_value(before, after)} -> {_value(after, before)}"


def _value(value: float, beside: float) -> str:
    """Return a confidence with as many places as tell it from the one beside it."""
    for places in (2, 3):
        shown = f"{value:.{places}f}"
        if shown != f"{beside:.{places}f}":
            return shown
    return f"{value:.4f}"


def _moment_line(page: Page, at: Millis, value: float, shown: str, said: str) -> None:
    style = "green" if value > 0.5 else "" if value >= 0.3 else "yellow"
    when = (moment(at) or "no date").ljust(16)
    full, empty = "#." if page.plain else "█░"
    cells = round(_BAR * min(1.0, max(0.0, value)))
    bar = page.paint(full * cells + empty * (_BAR - cells), style)
    page.line(f"  {when}  {bar}  {shown:<14}  " + page.paint(text.one_line(said), "bold"))


def _words(step: ConfidenceStep) -> str:
    others = ", ".join(f"f{other}" for other in step.others) or "another fact"
    if step.op == "rate":
        return _RATED.get(step.why, "rated by its owner")
    words = _STEPS.get(step.op, step.op).format(others=others)
    if step.op == "settle":
        return f"{words}: {step.why}"
    generic = step.why in ("", "command", "unmerge", "same")
    return words if generic else f"{words} ({step.why})"


# --- the report of a consolidation ----------------------------------------------------------------

_Line = tuple[str, str]  # (the id and what else leads, the safe text)
_Group = tuple[str, str, Sequence[Sequence[_Line]], int]  # title, style, entries, how many


def account(
    page: Page, found: Account, *, head: str, embedded: int, waiting: int, all_: bool
) -> None:
    """Show every change of a run, by kind; a bounded number of each unless `all_` is asked for."""
    page.line(page.paint(text.one_line(head), "bold"))
    cut = False
    for title, style, entries, number in _groups(found):
        page.line(page.paint(title, f"bold {style}".strip()) + f"  {count(number)}")
        shown = entries if all_ else entries[:_SHOWN]
        for lead, said in (line for lines in shown for line in lines):
            lead = f"  {lead}  " if lead else "      "
            room = max(20, (page.width or 160) - text.cells(lead))
            dim = "dim" if not lead.strip() else ""
            page.line(page.paint(lead, "dim") + page.paint(text.fit(said, room), dim))
        if len(shown) < len(entries):
            cut = True
            page.line("  " + page.paint(f"and {count(len(entries) - len(shown))} more", "dim"))
    if embedded:
        page.line(page.paint("embedded", "bold") + f"  {count(embedded, 'row')}")
    if not found.changes and not embedded:
        page.say("Nothing had to change.")
    if waiting or found.proposed:
        waits = f"{count(waiting, 'pair waits', 'pairs wait')} for judgement; " if waiting else ""
        page.say(f"{waits}`factbook review` shows what there is to decide.", "yellow")
    if cut:
        page.say("--all shows every change.", "dim")


def _groups(found: Account) -> Iterator[_Group]:
    """Return the kinds of changes of which there are some, with their lines."""

    def line(number: int, value: str = "", *, lead: str = "") -> _Line:
        fact = found.facts.get(number)
        said = "" if fact is None else text.one_line(fact.statement)
        return f"{lead}f{number}" + (f"  {value}" if value else ""), said

    def sure(number: int) -> list[_Line]:
        fact = found.facts.get(number)
        return [line(number, "" if fact is None else f"{fact.confidence:.2f}")]

    def moved(one: Moved) -> list[_Line]:
        more = f" ({count(one.episodes, 'episode')})" if one.episodes > 1 else ""
        return [line(one.fact_id, _from_to(one.before, one.after) + more)]

    def why(rule: str, said: str) -> _Line:
        return "", text.one_line(": ".join(part for part in (rule, said) if part))

    every: list[tuple[str, str, list[list[_Line]]]] = [
        ("new facts", "", [sure(one) for one in found.new]),
        ("supported", "", [moved(one) for one in found.supported]),
        ("doubted", "yellow", [moved(one) for one in found.doubted]),
        (
            "contradicted",
            "yellow",
            [
                [
                    *(
                        line(fact, f"{before:.2f} -> {after:.2f}")
                        for fact, before, after in zip(
                            one.fact_ids, one.before, one.after, strict=True
                        )
                    ),
                    *(line(fact) for fact in one.other_ids),
                    why(one.rule, one.why),
                ]
                for one in found.contradicted
            ],
        ),
        (
            "superseded",
            "",
            [
                [line(one.old_id), line(one.new_id, lead="-> "), why(one.rule, one.why)]
                for one in found.superseded
            ],
        ),
        (
            "merged",
            "",
            [
                [line(one.winner_id), *(line(loser, lead="<- ") for loser in one.loser_ids)]
                for one in found.merged
            ],
        ),
        ("faded below 0.30", "yellow", [sure(one) for one in found.faded]),
        (
            "queued for judgement",
            "yellow",
            [
                [line(pair.low_id), line(pair.high_id), why(pair.rule, pair.detail)]
                for pair in found.queued
            ],
        ),
        ("judged", "", [[line(low), line(high), ("", said)] for low, high, said in found.settled]),
        ("proposed", "", [[("", f"{n}  {text.one_line(said)}")] for n, said in found.proposed]),
        ("other changes", "", [[line(n, what.replace("_", " "))] for what, n in found.other]),
    ]
    for title, style, entries in every:
        if entries:
            losers = sum(len(one.loser_ids) for one in found.merged)
            yield title, style, entries, losers if title == "merged" else len(entries)


def aside(page: Page, rows: Sequence[tuple[str, int, str]]) -> None:
    """Show rows that cannot be embedded, and why."""
    if not rows:
        return
    page.line(page.paint("put aside", "bold yellow") + f"  {count(len(rows))}")
    for target, number, reason in rows[:_ASIDE_SHOWN]:
        lead = f"  {ROWS.get(target, f'{target} ')}{number}  "
        room = max(20, page.prose - len(lead))
        page.line(page.paint(lead, "dim") + text.fit(text.one_line(reason), room))
    if len(rows) > _ASIDE_SHOWN:
        more = f"and {count(len(rows) - _ASIDE_SHOWN)} more; --json names every one"
        page.line("  " + page.paint(more, "dim"))
    page.say("They are found by their words; `factbook worker --retry` tries them again.", "dim")


def runs(page: Page, found: Iterable[Run]) -> None:
    """Show consolidations, one line each."""
    page.table(
        [
            Column(title="run", right=True),
            Column(title="when"),
            Column(title="state", style="cyan"),
            Column(title="took", optional=True),
            Column(title="changes", flexible=True, least=16),
        ],
        (
            # Of a run that was stopped, how far it had come says more than how long that took.
            [
                str(run.id),
                moment(run.started_at),
                run.state,
                _took(run) if run.state in ("done", "undone") else reached(run),
                _counts(run),
            ]
            for run in found
        ),
    )


def reached(run: Run) -> str:
    """Return how far a consolidation had come."""
    return f"after {run.phase or 'its start'}"


def _took(run: Run) -> str:
    seconds = run.report.get("seconds")
    if not isinstance(seconds, dict):
        return ""
    return text.amount(sum(part for part in seconds.values() if isinstance(part, (int, float))))


def _counts(run: Run) -> str:
    receipt = run.report.get("receipt")
    counted = receipt if isinstance(receipt, dict) else {}
    parts = [f"{count(counted[name])} {word}" for name, word in _RECEIPT if counted.get(name)]
    faded = numbers(run.report.get("faded"))
    parts += [f"{count(len(faded))} faded"] if faded else []
    return " · ".join(parts) or "nothing had to change"


# --- what waits for a person ----------------------------------------------------------------------


def review(
    page: Page, proposals: Sequence[Proposal], questions: Sequence[PairQuestion], *, all_: bool
) -> None:
    """Show what waits for a person, and what to type."""
    if not proposals and not questions:
        page.say("Nothing waits for a decision.")
        return
    most = None if all_ else _SHOWN
    if proposals:
        page.line(page.paint("proposals", "bold") + f"  {count(len(proposals))}")
    for number, one in enumerate(proposals[:most], 1):
        page.line(f"  {number}. " + page.paint(text.one_line(one.title), "bold cyan"))
        for line in _payload(one):
            page.line("     " + page.paint(text.fit(line, page.prose - 5), "dim"))
        how = {"memory": " [--text '...']", "clarification": " --text '...'"}.get(one.kind, "")
        page.line(f"     {page.program} review accept {one.id}{how}")
        page.line(f"     {page.program} review refuse {one.id} --reason '...'")
    if questions:
        if proposals:
            page.line()
        head = page.paint("pairs that rules could not decide", "bold")
        page.line(head + f"  {count(len(questions))}")
    for number, pair in enumerate(questions[:most], 1):
        _pair(page, number, pair)
    if most is not None and (len(proposals) > most or len(questions) > most):
        page.say("--all shows every one.", "dim")


def _pair(page: Page, number: int, pair: PairQuestion) -> None:
    lead = f"  {number}. "
    sides = zip(pair.ids, pair.texts, pair.confidences, pair.sources, strict=True)
    for fact, said, sure, source in sides:
        line = f"{lead}f{fact}  {sure:.2f}  "
        room = max(20, (page.width or 160) - len(line))
        page.line(page.paint(line, "dim") + text.fit(text.one_line(said), room))
        lead = " " * len(lead)
        if pair.heard:
            how = "overheard" if fact == pair.heard else "told"
            page.line(page.paint(f"{lead}{how}, {text.safe(home_path(source))}", "dim"))
    if pair.why:
        why = text.fit(text.one_line(pair.why), page.prose - 5)
        page.line("     " + page.paint(why, "yellow"))
    if pair.attempts:
        state = "is set aside" if pair.aside else "waits for another try"
        asked = f"a model was asked {count(pair.attempts, 'time')} in vain; it {state}"
        page.line("     " + page.paint(asked, "dim"))
    verdicts = "accept|refuse|keep" if pair.heard else "merge|keep|contradiction"
    page.line(f"     {page.program} review pair f{pair.low_id} f{pair.high_id} {verdicts}")


def _side(how: str, side: Mapping[str, str]) -> str:
    """Return one side of a conflict as a line: which fact, what it says, and where from."""
    where = f"{side['episode']}, {home_path(side['source'])}"
    return text.one_line(f"{how} {side['fact']} {side['text']} ({where})")


def _payload(proposal: Proposal) -> list[str]:
    """Return what a proposal says of itself, as safe lines."""
    told, heard = proposal.payload.get("against"), proposal.payload.get("heard")
    found = [_side("against", side) for side in (told if isinstance(told, list) else [])]
    found += [_side("overheard:", heard)] if isinstance(heard, dict) else []
    for name, value in proposal.payload.items():
        if name in ("toml", "against", "heard") or isinstance(value, dict):
            continue
        if isinstance(value, list):
            shown = ", ".join(text.one_line(str(part)) for part in value[:_EXAMPLES])
            value = shown + (", …" if len(value) > _EXAMPLES else "")
        found.append(f"{text.one_line(name)}: {text.one_line(str(value))}")
    toml = proposal.payload.get("toml")
    if isinstance(toml, str):
        lines = text.safe(toml).strip().split("\n")
        found += lines[:_PAYLOAD_LINES]
        found += ["…"] if len(lines) > _PAYLOAD_LINES else []
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
_SHARES: Final[Mapping[str, str]] = {
    "passive_relevance": "{part} of {of} streamed memories were used",
    "tool_effectiveness": "{part} of {of} searches were enough",
    "deduplication": "{part} of {of} facts that say the same were merged",
    "deprecation": "{part} of {of} current facts have faded",
    "resolved_by_rules": "{part} of {of} contradictions needed no judge",
    "right": "{part} of {of} facts that were rated",
}


def living(page: Page, found: Living) -> None:
    """Show how facts stand, what waits, and the figures of success."""

    def listed(*parts: tuple[int, str]) -> str:
        return " · ".join(words for number, words in parts if number)

    states = [
        f"{count(found.states[name])} {words}" for name, words in _STATES if found.states.get(name)
    ]
    last, aside = found.last_run, sum(one.aside for one in found.unanswered)
    waits = len(found.unanswered) - aside
    asked = listed((waits, f"{count(waits)} waiting"), (aside, f"{count(aside)} set aside"))
    rows = [
        ("facts now", " · ".join(states)),
        (
            "waiting",
            listed(
                (found.waiting, f"{count(found.waiting, 'row')} to embed"),
                (found.aside, f"{count(found.aside, 'row')} put aside"),
                (found.pairs_waiting, f"{count(found.pairs_waiting, 'pair')} to judge"),
                (found.proposals_open, count(found.proposals_open, "proposal")),
            ),
        ),
        ("asked in vain", asked and f"{asked}   of a language model; `factbook doctor`"),
        (
            "last run",
            f"{last.id}, {moment(last.started_at)}, {last.state}: {_counts(last)}" if last else "",
        ),
    ]
    if any(value for _, value in rows):
        page.line()
        rows_of(page, rows)
    figures = _figures(found.metrics)
    if figures:
        page.line()
        page.line(page.paint("figures", "bold"))
        rows_of(page, figures)


def _figures(found: Metrics) -> list[tuple[str, str]]:
    def share(name: str) -> tuple[str, str]:
        one: Share | None = getattr(found, name)
        words = (
            ""
            if one is None
            else _SHARES[name].format(part=f"{one.part:,.0f}", of=f"{one.of:,.0f}")
        )
        called = "rated right" if name == "right" else name.replace("_", " ")
        return called, "" if one is None else f"{one.value:.1%}   {words}"

    latency, diversity = found.passive_latency_ms, found.diversity
    accuracy = found.confidence_accuracy
    rows = [
        share("passive_relevance"),
        share("tool_effectiveness"),
        ("searches", "" if found.searches is None else count(found.searches)),
        (
            "diversity",
            "" if diversity is None else f"{diversity.value:.2f}   1 is without repetition",
        ),
        (
            "passive latency",
            "" if latency is None else f"{latency:.1f} ms   on average; 100 ms is the aim",
        ),
        share("deduplication"),
        share("deprecation"),
        (
            "confidence accuracy",
            "" if accuracy is None else f"{accuracy:.2f}   correlation with the evidence",
        ),
        share("resolved_by_rules"),
        share("right"),
    ]
    return [(name, value) for name, value in rows if value]
