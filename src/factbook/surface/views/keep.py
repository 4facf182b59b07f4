"""Show what keeps a memory in order: reports, reviews, and the life of a fact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.language import values
from factbook.language.values import count, home_path, moment
from factbook.model.facts import ME
from factbook.surface import text
from factbook.surface.records import ROWS, numbers, plain, receipt_of
from factbook.surface.text import Column
from factbook.surface.views.tables import rows_of

if TYPE_CHECKING:
    from factbook.maintenance.changes_report import Account, Merged, Moved, Opposed
    from factbook.maintenance.confidence_history import ConfidenceStep, Course
    from factbook.maintenance.metrics import Metrics, Share
    from factbook.maintenance.verdict_queue import PairQuestion
    from factbook.memory.standing import Living, Successor
    from factbook.model.facts import Evidence, Fact, Millis, Proposal, Run
    from factbook.surface.output import Page

_SHOWN: Final = 10  # changes of one kind, of a report that is not asked for whole
_BAR: Final = 20  # cells of a bar for a confidence of 1
_LINE: Final = 48  # cells of the line that a confidence draws
_DAY_MS: Final = 24 * 3600 * 1000
_PAYLOAD_LINES: Final = 14  # of a proposed rule
_EXAMPLES: Final = 3
_UNSEEN: Final = 160  # cells of a line where nobody sees where one ends

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
    "withdraw": "read again, and no longer found there",
    "unmerge": "taken out again, as a fact of its own",
    "pin": "pinned: it fades no more",
    "unpin": "pin taken away: it fades again",
    "hold": "of a life, or a name: it fades no more",
    "last": f"what somebody is, has or does: it falls no lower than {policy.LASTING_FLOOR}",
    "bound": "it says until when it is true: it fades fast from then on",
    "revert": "taken back",
    "settle": "judged beside {others}",
}
_RATED: Final[Mapping[str, str]] = {
    "right": "its owner says that it is right",
    "wrong": "its owner says that it is wrong",
}
_RECEIPT: Final = (
    ("stored", "new"),
    *((name, name) for name in ["supported", "contradicted", "superseded", "merged", "queued"]),
    *((name, name) for name in ["settled", "proposed", "embedded"]),
)


def fact_line(page: Page, fact: Fact, more: str = "") -> None:
    lead = page.paint(f"f{fact.id}  {fact.confidence:.2f}  ", "dim")
    page.say(text.one_line(fact.statement), "bold", lead=lead)
    if more:
        page.say("  " + more, "dim")


def life_rows(fact: Fact, following: Sequence[Successor]) -> list[tuple[str, str]]:
    since, until = moment(fact.valid_from), moment(fact.true_to)
    valid = " ".join(part for part in (since and f"from {since}", until and f"to {until}") if part)
    return [
        ("true", valid),
        ("pinned", "yes: it does not fade" if fact.pinned else ""),
        *((then.how, f"f{then.fact.id}  {then.fact.statement}") for then in following),
    ]


def history(page: Page, course: Course, *, evidence: Sequence[Evidence]) -> None:
    page.head("history")
    began = course.standings[0][0]
    if course.end - began >= _DAY_MS:
        line = _spark(page, course.points(_LINE))
        span = f"{moment(began)[:10]} to {moment(course.end)[:10]}"
        page.line("  " + page.paint(line, "cyan") + "  " + page.paint(span, "dim"))
    quotes = {piece.episode_id: piece.quote for piece in evidence}
    for step in course.steps:
        _step(page, step, quotes=quotes)
    if course.retired:
        return
    last = course.steps[-1].after if course.steps else course.value
    faded = last - course.value >= 0.005
    days = (course.end - (course.steps[-1].as_of if course.steps else began)) // _DAY_MS
    said = f"now: faded in {count(days, 'day')} without evidence" if faded else "now"
    _moment_line(page, course.end, course.value, f"{course.value:.2f}", said)


def _step(page: Page, step: ConfidenceStep, *, quotes: Mapping[int, str]) -> None:
    value = f"{step.after:.2f}"
    if step.before is not None and abs(step.after - step.before) >= 0.00005:
        value = _from_to(step.before, step.after)
    _moment_line(page, step.as_of, step.after, value, _words(step))
    by = f"{step.op}, by {step.actor} ({step.trigger}"
    late = abs(step.at - step.as_of) >= _DAY_MS
    quoted = [f"“{quotes[number]}”" for number in step.added if number in quotes]
    when = f", written down {moment(step.at)})" if late else ")"
    for line in (*([step.says] if step.says else []), *quoted, by + when):
        page.fitted(" " * 20, text.one_line(line), "dim")


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


_Line = tuple[str, str]  # (the id and what else leads, the safe text)
_Group = tuple[str, str, Sequence[Sequence[_Line]], int]  # title, style, entries, how many


def account(
    page: Page, effects: Account, *, head: str, embedded: int, waiting: int, all_: bool
) -> None:
    """Show every change of a run, by kind; a bounded number of each unless `all_` is asked for."""
    page.head(text.one_line(head))
    cut = False
    for title, style, entries, number in _groups(effects):
        page.head(title, count(number), style)
        shown = entries if all_ else entries[:_SHOWN]
        for lead, said in (line for lines in shown for line in lines):
            wide = page.width or _UNSEEN
            page.fitted(f"  {lead}  " if lead else "      ", said, "" if lead else "dim", of=wide)
        if len(shown) < len(entries):
            cut = True
            page.line("  " + page.paint(f"and {count(len(entries) - len(shown))} more", "dim"))
    if embedded:
        page.head("embedded", count(embedded, "row"))
    if not effects.changes and not embedded:
        page.say("Nothing had to change.")
    if waiting or effects.proposed:
        waits = f"{count(waiting, 'pair waits', 'pairs wait')} for judgement; " if waiting else ""
        page.say(f"{waits}{page.typed('review')} shows what there is to decide.", "yellow")
    if cut:
        page.say("--all shows every change.", "dim")


def _groups(effects: Account) -> Iterator[_Group]:
    """Return the kinds of changes of which there are some, with their lines."""

    def line(number: int, value: str = "", *, lead: str = "") -> _Line:
        fact = effects.facts.get(number)
        said = "" if fact is None else text.one_line(fact.statement)
        return f"{lead}f{number}" + (f"  {value}" if value else ""), said

    def sure(number: int) -> list[_Line]:
        fact = effects.facts.get(number)
        return [line(number, "" if fact is None else f"{fact.confidence:.2f}")]

    def moved(change: Moved) -> list[_Line]:
        more = f" ({count(change.episodes, 'episode')})" if change.episodes > 1 else ""
        return [line(change.fact_id, _from_to(change.before, change.after) + more)]

    def pair(low: int, high: int, why: str, *more: str, lead: str = "") -> list[_Line]:
        said = text.one_line(": ".join(filter(None, (why, *more))))
        return [line(low), line(high, lead=lead), ("", said)]

    def opposed(change: Opposed) -> list[_Line]:
        moved = zip(change.fact_ids, change.before, change.after, strict=True)
        lost = [line(fact, f"{before:.2f} -> {after:.2f}") for fact, before, after in moved]
        said = text.one_line(": ".join(filter(None, (change.rule, change.why))))
        return [*lost, *map(line, change.other_ids), ("", said)]

    def merged(change: Merged) -> list[_Line]:
        return [line(change.winner_id), *(line(loser, lead="<- ") for loser in change.loser_ids)]

    every: list[tuple[str, str, list[list[_Line]]]] = [
        ("new facts", "", [sure(number) for number in effects.new]),
        ("supported", "", [moved(change) for change in effects.supported]),
        ("doubted", "yellow", [moved(change) for change in effects.doubted]),
        ("contradicted", "yellow", [opposed(change) for change in effects.contradicted]),
        (
            "superseded",
            "",
            [
                pair(change.old_id, change.new_id, change.rule, change.why, lead="-> ")
                for change in effects.superseded
            ],
        ),
        ("merged", "", [merged(change) for change in effects.merged]),
        ("faded below 0.30", "yellow", [sure(number) for number in effects.faded]),
        (
            "queued for judgement",
            "yellow",
            [pair(row.low_id, row.high_id, row.rule, row.detail) for row in effects.queued],
        ),
        ("judged", "", [pair(*settled) for settled in effects.settled]),
        ("proposed", "", [[("", f"{n}  {text.one_line(said)}")] for n, said in effects.proposed]),
        ("other changes", "", [[line(n, what.replace("_", " "))] for what, n in effects.other]),
    ]
    for title, style, entries in every:
        if entries:
            losers = sum(len(change.loser_ids) for change in effects.merged)
            yield title, style, entries, losers if title == "merged" else len(entries)


def aside(page: Page, rows: Sequence[tuple[str, int, str]]) -> None:
    if not rows:
        return
    page.head("put aside", count(len(rows)), "yellow")
    for target, number, reason in rows[:_SHOWN]:
        page.fitted(f"  {ROWS.get(target, f'{target} ')}{number}  ", text.one_line(reason))
    if len(rows) > _SHOWN:
        more = f"and {count(len(rows) - _SHOWN)} more; --json names every one"
        page.line("  " + page.paint(more, "dim"))
    again = page.typed("worker --retry")
    page.say(f"They are found by their words; {again} tries them again.", "dim")


def runs(page: Page, rows: Iterable[Run]) -> None:
    columns = [
        Column("run", lambda run: str(run.id), right=True),
        Column("when", lambda run: moment(run.started_at)),
        Column("state", lambda run: run.state, "cyan"),
        Column("took", _took, optional=True),
        Column("changes", _counts, least=16),
    ]
    page.table(columns, rows)


def reached(run: Run) -> str:
    return f"after {run.phase or 'its start'}"


def _took(run: Run) -> str:
    if run.state not in ("done", "undone"):  # how far it had come says more than how long it took
        return reached(run)
    seconds = run.report.get("seconds")
    return values.amount(sum(seconds.values())) if isinstance(seconds, dict) else ""


def _counts(run: Run) -> str:
    counted = receipt_of(run)
    faded = len(numbers(run.report.get("faded")))
    parts = [(counted.get(name, 0), word) for name, word in _RECEIPT]
    return _joined(values.counted(*parts, (faded, "faded"))) or "nothing had to change"


def review(
    page: Page, proposals: Sequence[Proposal], questions: Sequence[PairQuestion], *, all_: bool
) -> None:
    if not proposals and not questions:
        page.say("Nothing waits for a decision.")
        return
    most = None if all_ else _SHOWN
    if proposals:
        page.head("proposals", count(len(proposals)))
    for proposal in proposals[:most]:
        if most is not None and isinstance(proposal.payload.get("toml"), str):
            page.fitted(f"  {proposal.id}. ", f"accept {proposal.id}: {_learned(proposal)}")
            continue
        page.line(f"  {proposal.id}. " + page.paint(text.one_line(proposal.title), "bold cyan"))
        for line in _payload(proposal):
            page.fitted("     ", line, "dim")
        how = {"memory": " [--text '...']", "clarification": " --text '...'"}.get(proposal.kind, "")
        whose = str(proposal.payload.get("owner", ME))
        for decision in (f"accept {proposal.id}{how}", f"refuse {proposal.id} --reason '...'"):
            page.line("     " + page.command(f"review {decision}", owner=whose))
    if most is not None and any(isinstance(p.payload.get("toml"), str) for p in proposals[:most]):
        decision = page.command("review accept ID", owner=ME)  # what is learned is of logs
        page.line(f"     {decision}, or refuse ID --reason '...'")
    if questions:
        if proposals:
            page.line()
        page.head("pairs that rules could not decide", count(len(questions)))
    for pair in questions[:most]:
        _pair(page, pair)
    if most is not None and (len(proposals) > most or len(questions) > most):
        page.say("--all shows every one.", "dim")


def _pair(page: Page, pair: PairQuestion) -> None:
    lead = "  - "  # no number: it would be taken for that of a proposal
    sides = zip(pair.ids, pair.texts, pair.confidences, pair.sources, strict=True)
    for fact, said, sure, source in sides:
        line = f"{lead}f{fact}  {sure:.2f}  "
        page.fitted(line, text.one_line(said), of=page.width or _UNSEEN)
        lead = " " * len(lead)
        if pair.heard:
            how = "overheard" if fact == pair.heard else "told"
            page.line(page.paint(f"{lead}{how}, {text.safe(home_path(source))}", "dim"))
    if pair.why:
        page.fitted("     ", text.one_line(pair.why), "yellow")
    if pair.attempts:
        state = "is set aside" if pair.aside else "waits for another try"
        asked = f"a model was asked {count(pair.attempts, 'time')} in vain; it {state}"
        page.line("     " + page.paint(asked, "dim"))
    verdicts = "accept|refuse|keep" if pair.heard else "merge|keep|newer|contradiction"
    decision = f"review pair f{pair.low_id} f{pair.high_id} {verdicts}"
    page.line("     " + page.command(decision, owner=pair.owner))


def _side(how: str, side: Mapping[str, str]) -> str:
    where = f"{side['episode']}, {home_path(side['source'])}"
    return text.one_line(f"{how} {side['fact']} {side['text']} ({where})")


def _learned(proposal: Proposal) -> str:
    examples = proposal.payload.get("examples")
    example = f", as in: {examples[0]}" if isinstance(examples, list) and examples else ""
    return text.one_line(proposal.title + example)


def _payload(proposal: Proposal) -> list[str]:
    told, heard = proposal.payload.get("against"), proposal.payload.get("heard")
    said = [_side("against", side) for side in (told if isinstance(told, list) else [])]
    said += [_side("overheard:", heard)] if isinstance(heard, dict) else []
    for name, value in proposal.payload.items():
        if name in ("toml", "against", "heard", "only_looks") or isinstance(value, dict):
            continue
        if isinstance(value, list):
            shown = ", ".join(text.one_line(str(part)) for part in value[:_EXAMPLES])
            value = shown + (", …" if len(value) > _EXAMPLES else "")
        said.append(f"{text.one_line(name)}: {text.one_line(str(value))}")
    toml = proposal.payload.get("toml")
    if isinstance(toml, str):
        lines = text.safe(toml).strip().split("\n")
        said += lines[:_PAYLOAD_LINES]
        said += ["…"] if len(lines) > _PAYLOAD_LINES else []
    return said


_STATES: Final = (
    ("active", "active"),
    ("tool_only", "found by a search only (0.30 to 0.50)"),
    ("deprecated", "deprecated (below 0.30)"),
    ("proposed", "proposed"),
    ("superseded", "superseded"),
    ("merged_into", "merged"),
    ("erased", "erased"),
)
_FIGURES: Final[Mapping[str, str]] = {
    "passive relevance": "{value:.1%}   {part:,.0f} of {of:,.0f} streamed memories were used",
    "tool effectiveness": "{value:.1%}   {part:,.0f} of {of:,.0f} searches were enough",
    "searches": "{value:,}",
    "diversity": "{value:.2f}   1 is without repetition",
    "passive latency": "{value:.1f} ms   on average; 100 ms is the aim",
    "deduplication": "{value:.1%}   {part:,.0f} of {of:,.0f} facts that say the same were merged",
    "deprecation": "{value:.1%}   {part:,.0f} of {of:,.0f} current facts have faded",
    "confidence accuracy": "{value:.2f}   correlation with the evidence",
    "resolved by rules": "{value:.1%}   {part:,.0f} of {of:,.0f} contradictions needed no judge",
    "rated right": "{value:.1%}   {part:,.0f} of {of:,.0f} facts that were rated",
}
_NAMED: Final = {"passive latency": "passive_latency_ms", "rated right": "right"}  # others as shown


def living(page: Page, life: Living) -> None:
    states = values.counted(*((life.states.get(name, 0), words) for name, words in _STATES))
    waits = [
        f"{count(life.waiting, 'row')} to embed" if life.waiting else "",
        f"{count(life.outdated, 'vector')} to make anew" if life.outdated else "",
        f"{count(life.aside, 'row')} put aside" if life.aside else "",
        f"{count(life.pairs_waiting, 'pair')} to judge" if life.pairs_waiting else "",
        count(life.proposals_open, "proposal") if life.proposals_open else "",
    ]
    last, aside = life.last_run, sum(question.aside for question in life.unanswered)
    again = len(life.unanswered) - aside
    asked = values.counted((again, "waiting"), (aside, "set aside"))
    vain = f"{_joined(asked)}   of a language model; {page.typed('doctor')}"
    ran = f"{last.id}, {moment(last.started_at)}, {last.state}: {_counts(last)}" if last else ""
    rows = [
        ("facts now", _joined(states)),
        ("waiting", _joined(waits)),
        ("asked in vain", vain if life.unanswered else ""),
        ("by models", f"{count(noted)} stated in 24 hours" if (noted := life.noted_lately) else ""),
        ("last run", ran),
    ]
    if any(value for _, value in rows):
        page.line()
        rows_of(page, rows)
    if figures := _figures(life.metrics):
        page.line()
        page.head("figures")
        rows_of(page, figures)


def _joined(parts: Iterable[str]) -> str:
    return " · ".join(filter(None, parts))


def _figures(metrics: Metrics) -> list[tuple[str, str]]:
    rows = []
    for called, words in _FIGURES.items():
        value: Share | float | None = getattr(metrics, _NAMED.get(called, called.replace(" ", "_")))
        if value is not None:
            figure = {"value": value} if isinstance(value, (int, float)) else plain(value)
            rows.append((called, words.format(**figure)))
    return rows
