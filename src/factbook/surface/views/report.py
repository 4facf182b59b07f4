"""Show how a memory is, what was read into it and what was refused, and the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from factbook.language import values
from factbook.language.values import count, home_path, place
from factbook.surface import text
from factbook.surface.text import Column
from factbook.surface.views.ask import WHOLE
from factbook.surface.views.tables import Detail, rows_of, with_details

if TYPE_CHECKING:
    from factbook.maintenance.maintenance import RuleNoise, RuleUse
    from factbook.memory import Stats
    from factbook.model.facts import LineCount, Rejection
    from factbook.pipelines.imported import ImportReport
    from factbook.pipelines.observed import IngestReport
    from factbook.surface.output import Page
    from factbook.surface.records import Ingested

_KINDS_SHOWN: Final = 8  # kinds of records named in a summary; --json has all
_BLANK: Final = "blank"  # the kind of an empty line: a line, but no record
_UNREADABLE: Final = "cannot be read"  # how discovery begins the reason for such a file
_FAILED_SHOWN: Final = 5
_LEFT_SHOWN: Final = 10  # lines of an export that did not come; --json has a hundred


def imported(page: Page, done: ImportReport) -> None:
    come, whose = sum(done.added.values()), f" of {done.owner}" if done.owner else ""
    rest = "would come" if done.dry_run else "came"
    page.say(f"{count(done.records, 'record')}{whose}: {count(come)} {rest}", "bold")
    for counts, why in (
        (done.added, "new"),
        (done.known, "were here already"),
        (done.kept_out, "were erased, or name what was, and stay out"),
    ):
        if counts:
            kinds = ", ".join(f"{number:,} {kind}" for kind, number in counts.items())
            page.say(f"{count(sum(counts.values()))} {why}: {kinds}")
    if done.still_here:
        rows = ", ".join(done.still_here[:_LEFT_SHOWN])
        command = page.typed(f"erase {done.still_here[0]}")
        page.say(f"was erased there and is kept here: {rows}; {command} takes it", "yellow")
    if done.unread:
        said = f"{count(done.unread, 'line')} could not be read; `factbook rejections` has them"
        page.say(page.told(said), "yellow")
    if done.incomplete:
        page.say(
            f"{count(done.incomplete, 'record')} left out that cannot stand alone; export again,"
            " and import that file too",
            "yellow",
        )
    for record in done.left[:_LEFT_SHOWN]:
        page.say(f"  line {record.line}: {record.kind} {record.why}".replace(":  ", ": "), "dim")


def rejections(page: Page, rows: Sequence[Rejection]) -> None:
    columns = [
        Column("reason", lambda row: row.reason, "yellow"),
        Column("by", lambda row: row.rule or "reader", "cyan", least=6, most=32),
        Column("where", lambda row: place(row.source, row.position), least=16, keep="end"),
    ]

    def details(row: Rejection) -> list[Detail]:
        return [(": ".join(part for part in (row.detail, row.excerpt) if part), 2)]

    with_details(page, columns, rows, details)


def secrets(page: Page, known: Mapping[str, int], taken_back: int) -> None:
    """Show how many secrets are known again since they were told, by kind; none of them itself."""
    page.say(f"{count(sum(known.values()), 'secret')} known again since they were told once")
    for kind, number in known.items():
        page.say(f"  {number:>6,}  {kind}")
    if taken_back:
        page.say(f"{count(taken_back, 'word')} taken back", "dim")


def predicates(page: Page, uses: Sequence[RuleUse], *, noise: bool, counted: bool) -> None:
    """Show rules, with how often each fired where a database was read, or how noisy each is."""
    if noise:
        _noise(page, uses)
        return
    columns = [
        Column("rule", _rule_name, "cyan", least=20, most=40),
        Column("conf", lambda use: f"{use.rule.confidence:.2f}", right=True),
        Column("fired", lambda use: count(use.fired) if counted else "", right=True),
        Column("of", lambda use: use.rule.subject.replace("|", " or "), most=14, optional=True),
        Column(
            "looks in", lambda use: use.rule.looks_in.replace("|", ", "), least=10, optional=True
        ),
    ]

    def details(use: RuleUse) -> list[Detail]:
        return [(said, 2) for said in (use.rule.method, use.rule.matches) if said != WHOLE]

    with_details(page, columns, uses, details)


def _rule_name(use: RuleUse) -> str:
    return use.rule.name if use.rule.enabled else f"{use.rule.name} (off)"


def _noise(page: Page, uses: Sequence[RuleUse]) -> None:
    """Show what of each rule looks like noise, the noisiest first."""
    if not uses:
        page.say("No rule has fired yet.")
        return
    columns = [
        Column("rule", lambda use: use.rule.name, "cyan", least=20, most=32),
        Column("noise", lambda use: f"{use.noise.score:.2f}", right=True),
        Column("facts", lambda use: count(use.noise.facts), right=True),
        Column("objects", lambda use: count(use.noise.objects), right=True, optional=True),
        Column("refused", lambda use: count(use.noise.rejected), right=True, optional=True),
        Column("most frequent", lambda use: _top(use.noise), least=12, most=40, optional=True),
        Column("why", lambda use: use.noise.why, "dim", least=12, optional=True),
    ]
    page.table(columns, (use for use in uses if use.noise is not None))


def _top(signs: RuleNoise) -> str:
    if not signs.facts:
        return ""
    return f"{text.one_line(signs.top_object)[:60]} ({signs.top_share:.0%})"


def stats(page: Page, state: Stats) -> None:
    counts = state.counts
    page.line(
        page.paint(text.safe(home_path(state.path)), "bold") + f"  {values.size(state.size_bytes)}"
    )
    page.line()
    hosts = " · ".join(f"{host} {count(number)}" for host, number in sorted(state.hosts.items()))
    waiting = counts["episodes_waiting"] + counts["facts_waiting"]
    failed = sum(state.passive_failures.values())
    reread, doctor, embed, refused = map(page.typed, ["reread", "doctor", "embed", "rejections"])
    others = f"{count(state.read_by_others, 'source')} read by another version; {reread}"
    passive = f"{count(failed)} failed and brought nothing; {doctor}"
    rows_of(
        page,
        [
            ("sessions", f"{count(counts['sources'])}   {hosts}".rstrip()),
            ("episodes", count(counts["episodes"])),
            ("facts", f"{count(counts['facts'])}   {count(counts['evidence'])} pieces of evidence"),
            (
                "vectors",
                f"{count(counts['episode_vectors'] + counts['fact_vectors'])}"
                f"   {count(waiting)} waiting" + (f"; {embed}" if waiting else ""),
            ),
            ("refused", f"{count(counts['rejections'])}   {refused}"),
            ("history", count(counts["events"], "event")),
            ("reader", others if state.read_by_others else ""),
            ("passive recall", passive if failed else ""),
        ],
    )
    _lines(page, state.lines, apart=True)
    if state.predicates:
        page.line()
        _predicates(page, state.predicates, ["facts", "objects"])


def _predicates(page: Page, rows: Sequence[Sequence[Any]], titles: Sequence[str]) -> None:
    """Show predicates: (name, confidence, and a number for each of the titles)."""
    columns = [
        Column("predicate", lambda row: row[0], "cyan", least=20, most=40),
        Column("confidence", lambda row: f"{row[1]:.2f}", right=True),
        *(_number(title, at) for at, title in enumerate(titles, 2)),
    ]
    page.table(columns, rows, indent=2)


def _number(title: str, at: int) -> Column:
    return Column(title, lambda row: count(row[at]), right=True, optional=True)


def _lines(page: Page, lines: LineCount, *, apart: bool = False, kept_as: str = "kept") -> None:
    """Show every line accounted for, where there was one: the totals, then the kinds of each."""
    if not (lines.lines or lines.records or lines.waiting):
        return
    if apart:
        page.line()
    ignored = {kind: number for kind, number in lines.ignored.items() if kind != _BLANK}
    blank = lines.ignored.get(_BLANK, 0)
    parts = values.counted(
        (sum(lines.unknown.values()), "of unknown kinds"),
        (sum(lines.rejected.values()), "refused"),
        (sum(lines.repaired.values()), "mended"),
        (blank, "blank"),
        (lines.waiting, "half-written, left for the next run"),
    )
    if lines.lines or lines.records:
        kept, left = sum(lines.kept.values()), sum(ignored.values())
        parts = [f"{count(kept)} {kept_as}", f"{count(left)} left out on purpose", *parts]
    head = count(lines.lines, "line")
    # A document is one record of many lines, and a damaged line may hold several records.
    if lines.records + blank != lines.lines:
        head += f", {count(lines.records, 'record')}"
    page.head(head, " · ".join(parts))
    groups = [
        (kept_as, lines.kept, ""),
        ("left out", ignored, "dim"),
        ("unknown", lines.unknown, "yellow"),
        ("refused", lines.rejected, "yellow"),
        ("mended", lines.repaired, ""),
    ]
    for name, kinds, style in groups:
        ordered = sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))
        words = [f"{count(number)} {text.one_line(kind)}" for kind, number in ordered]
        if more := ordered[_KINDS_SHOWN:]:
            rest = count(sum(number for _, number in more))
            words[_KINDS_SHOWN:] = [f"{rest} in {count(len(more), 'more kind')}"]
        if words:
            page.say(" · ".join(words), style, lead="  " + page.paint(name.ljust(10), "dim"))


def ingest(page: Page, done: Ingested) -> None:
    report, predicates = done.report, done.predicates
    _files(page, report, seconds=done.seconds)
    receipt = report.receipt
    # Lines are counted as they are read; what an erasure keeps out of them is known behind.
    _lines(page, report.lines, kept_as="read" if receipt.kept_out else "kept")
    if receipt.kept_out:
        why = f"what was erased before; {page.typed('erase --list')} shows when"
        page.say(why, "yellow", lead="  " + page.paint("kept out  ", "dim"))
    news = [
        f"{count(receipt.stored)} new",
        f"{count(receipt.evidence, 'new piece', 'new pieces')} of evidence",
        *values.counted((receipt.updated, "updated"), (receipt.rejected, "refused")),
    ]
    changed = receipt.stored or receipt.evidence or receipt.episodes
    if changed:
        page.head("facts", " · ".join(news))
        _predicates(page, predicates, ["new"])
    else:
        page.say(
            "Nothing new: every file is as it was at the last run."
            if all(file.state == "unchanged" for file in report.files)
            else "No new facts."
        )
    if done.embedded or done.waiting:
        rest = f"still to embed, found by words alone; {page.typed('embed')}"
        waiting = values.counted((done.waiting, rest))
        page.head("vectors", " · ".join([f"{count(done.embedded)} embedded", *waiting]))
    if changed:
        page.line()
        page.head("next")
        page.lines(f"  {page.command(step)}" for step in _next_steps(predicates))


def _files(page: Page, report: IngestReport, *, seconds: float) -> None:
    hosts = Counter(file.host for file in report.files)
    states = Counter(file.state for file in report.files)
    by_host = [f"{text.one_line(host)} {count(number)}" for host, number in sorted(hosts.items())]
    speed = f" ({values.size(report.read_bytes / seconds)}/s)" if seconds > 0 else ""
    took = f"{values.size(report.read_bytes)} in {values.amount(seconds)}{speed}"
    order = ("new", "grown", "replaced", "unchanged", "failed")
    by_state = [f"{count(states[name])} {name}" for name in order if name in states]
    head = [" · ".join(by_host), " · ".join(by_state), took if report.read_bytes else ""]
    page.head(count(len(report.files), "file"), page.paint(" | ", "dim").join(filter(None, head)))
    if report.unsupported:
        words = _counted(host for _, host in report.unsupported)
        page.line("  " + page.paint(f"not supported yet: {text.one_line(words)}", "yellow"))
    if report.skipped:
        words = _counted(why for _, why in report.skipped)
        page.fitted("  ", f"passed over: {text.one_line(words)}", "dim")
    from factbook.sources.session_log.discover import LEADS_OUT  # known by now, not at the start

    out = [home_path(path) for path, why in report.skipped if why == LEADS_OUT]
    for name in out[:_FAILED_SHOWN]:
        page.line("  " + page.paint(f"leads out of its folder: {text.one_line(name)}", "yellow"))


def _counted(words: Iterable[str]) -> str:
    counted = sorted(Counter(words).items())
    return ", ".join(f"{count(number)} {word}" for word, number in counted)


def _next_steps(predicates: Sequence[tuple[str, float, int]]) -> list[str]:
    named = {name for name, _, _ in predicates}
    if not named:  # a chat, of which the night makes facts
        return ["consolidate", 'recall "what did I say last week?"', "timeline --since 7d"]
    hosts = "connects_to_host" in named
    question = "which hosts did I connect to?" if hosts else "what did I change last week?"
    known = ("connects_to_host", "modified_file", "executed_command")
    predicate = next((act for act in known if act in named), "used_tool")
    return [f'recall "{question}"', f"facts --predicate {predicate}", "timeline --since 7d"]


def failed_files(report: IngestReport) -> list[str]:
    """Return one sentence for each file that could not be read, the first few of them."""
    failed = [
        file.error if str(file.path) in file.error else f"{home_path(file.path)}: {file.error}"
        for file in report.files
        if file.state == "failed"
    ]
    failed += [
        f"{home_path(path)} {why}; make it readable and run again"
        for path, why in report.skipped
        if why.startswith(_UNREADABLE)
    ]
    said = failed[:_FAILED_SHOWN]
    if len(failed) > _FAILED_SHOWN:
        more = count(len(failed) - _FAILED_SHOWN, "more file")
        said.append(f"{more} could not be read; --json names every one")
    return said
