"""Lay answers out for people: what each command shows on a terminal.

Every function writes to a `Screen` and decides nothing but looks. Stored text enters lines only
through `text.safe`, `text.one_line`, `text.mark` or a table cell.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from factbook.surface import text
from factbook.surface.text import Column, count, home_path, moment, place

if TYPE_CHECKING:
    from factbook.maintenance.maintenance import RuleUse
    from factbook.memory import Stats
    from factbook.model.facts import (
        Evidence,
        Fact,
        Hit,
        LineCount,
        Millis,
        Rejection,
        SourceState,
        SQLValue,
        StoredEpisode,
    )
    from factbook.pipelines.observed import IngestReport
    from factbook.pipelines.sources import Explanation
    from factbook.recall.budget import PromptContext
    from factbook.recall.search import Answer
    from factbook.recall.time_expressions import Window
    from factbook.sources.original import Original
    from factbook.surface.output import Page
    from factbook.surface.records import Ingested

__all__ = [
    "answer",
    "explanation",
    "facts",
    "ingest",
    "rejections",
    "rows_of",
    "rules",
    "sessions",
    "sql_rows",
    "stats",
    "timeline",
]

_HEADLINE_LINES: Final = 3  # of a hit: enough to see whether it is the one
_QUOTE_LINES: Final = 2
_BEFORE_QUOTE: Final = 60  # characters of a long line that are shown before a hit's quote
_AROUND_QUOTE: Final = 180  # characters of a log's line on both sides of the quote
_LABEL: Final = "[REDACTED"  # how the redactor begins what it puts in a secret's place
_HIDDEN: Final = "[REDACTED]"
_KINDS_SHOWN: Final = 8  # kinds of records named in a summary; --json has all
_BLANK: Final = "blank"  # the kind of an empty line: a line, but no record
_UNREADABLE: Final = "cannot be read"  # how discovery begins the reason for such a file
_FAILED_SHOWN: Final = 5
WHOLE: Final = "the whole of it"  # what `Rule.matches` says of one that takes all it sees
_BLOB_SHOWN: Final = 8  # bytes of a blob in a table
_SURE: Final = 0.9  # confidence that is shown as sure
_UNSURE: Final = 0.7  # below it a fact is a guess from words

_FACT_EPISODES: Final = {
    "prompt": "you asked",
    "reply": "the agent said",
    "tool_call": "tool call",
    "tool_result": "tool output",
    "summary": "summary",
    "record": "record",
    "turn": "turn",
}  # how an episode that is a hit is called


def _confidence(value: float, page: Page) -> str:
    style = "green" if value >= _SURE else "" if value >= _UNSURE else "yellow"
    return page.paint(f"{value:.2f}", style)


def _project_name(project: str) -> str:
    """Return the last part of a working folder: the name by which people know a project."""
    return re.split(r"[/\\\\]", project.rstrip("/\\"))[-1] or project


_Detail = tuple[str, int]  # raw text, and how many lines it may take; 0 for one that stays whole


def _with_details(
    page: Page,
    columns: Sequence[Column],
    rows: Iterable[tuple[Sequence[str], Sequence[_Detail]]],
) -> None:
    """Write a table in which every row has texts of its own below it."""
    waiting: deque[Sequence[_Detail]] = deque()

    def cells() -> Iterator[Sequence[str]]:
        for row, details in rows:
            waiting.append(details)
            yield row

    laid_out = text.table(columns, cells(), width=page.width, color=page.color)
    for number, line in enumerate(laid_out):
        page.line(line)
        if number == 0:
            continue  # the titles of the columns
        for raw, most in waiting.popleft():
            cleaned = text.one_line(raw)
            parts = text.wrap(cleaned, page.prose - 6, lines=most) if most else [cleaned]
            for part in parts:
                page.line("      " + page.paint(part, "dim"))


# --- recall ---------------------------------------------------------------------------------------


def answer(
    page: Page, found: Answer, *, episodes: Mapping[int, StoredEpisode], redact: Redact
) -> None:
    """Show the hits of a question and how it was understood."""
    understood = [_window(found.window)] if found.window else []
    understood += [text.one_line(one) for one in found.predicates]
    if understood:
        page.line(page.paint("understood: " + ", ".join(understood), "dim"))
        if found.outside:
            page.say("Nothing was found in that time; this is from other times.", "yellow")
        page.line()
    if not found.hits:
        page.say("Nothing was found. Other words, or a wider time, may find it.")
    margin = len(str(len(found.hits))) + 2
    for number, one in enumerate(found.hits, 1):
        if number > 1:
            page.line()
        _hit(page, one, number=number, margin=margin, episodes=episodes, redact=redact)
    if found.waiting:
        page.line()
        page.say(
            f"{count(found.waiting, 'row')} still to embed, found by words alone until"
            " `factbook embed` has finished them.",
            "yellow",
        )


Redact = Callable[[str], str]


def _window(window: Window) -> str:
    def date(at: Millis | None, shift: int = 0) -> str:
        if at is None:
            return ""
        whole = moment(at + shift)
        return whole.removesuffix(" 00:00") if not shift else whole[:10]

    since = date(window.since)
    # The end is exclusive: a window up to midnight ends with the day before.
    at_midnight = moment(window.until).endswith("00:00")
    until = date(window.until, shift=-1) if at_midnight else date(window.until)
    if since and until:
        span = since if since == until else f"{since} to {until}"
    else:
        span = f"since {since}" if since else f"before {date(window.until)}"
    phrase = text.one_line(window.phrase)
    return f"{phrase} ({span})" if phrase else span


def _hit(
    page: Page,
    hit: Hit,
    *,
    number: int,
    margin: int,
    episodes: Mapping[int, StoredEpisode],
    redact: Redact,
) -> None:
    is_fact = hit.kind == "fact"
    first = hit.evidence[0] if hit.evidence else None
    headline = hit.text if is_fact or first is None else _passage(hit.text, first)
    lines = text.wrap(text.one_line(headline), page.prose - margin, lines=_HEADLINE_LINES)
    lead = f"{number}.".ljust(margin)
    indent = " " * margin
    page.line(page.paint(lead, "dim") + page.paint(lines[0], "bold"))
    for line in lines[1:]:
        page.line(indent + page.paint(line, "bold"))
    label = hit.predicate if is_fact else _FACT_EPISODES.get(hit.predicate, hit.predicate)
    parts = [
        page.paint(text.one_line(label), "cyan"),
        moment(hit.occurred_at) or "no date",
        text.fit(text.one_line(home_path(hit.project)), 28, keep="end"),
        "confidence " + _confidence(hit.confidence, page),
        hit.id,
        f"{count(hit.count)} times" if hit.count > 1 else "",
    ]
    _dotted(page, indent, parts)
    if is_fact and first is not None:
        quoted = _quote_in_line(first, episodes.get(first.episode_id), redact)
        for line in page.wrap(quoted, indent=margin + 2, lines=_QUOTE_LINES):
            page.line(indent + page.paint("| ", "dim") + page.paint(line, ""))
    where = text.safe(place(hit.source, hit.position))
    if where:
        page.line(indent + page.paint(where, "dim"))


def _passage(whole: str, one: Evidence) -> str:
    """Return the passage of an episode, with an ellipsis where it is cut out of a line."""
    before = whole[one.start - 1 : one.start].strip()
    after = whole[one.end : one.end + 1].strip()
    quote = one.quote
    if one.rule == "tool_call":  # its lines are the fields of the call
        quote = " · ".join(line.strip() for line in quote.splitlines() if line.strip())
    return ("…" if before else "") + quote + ("…" if after else "")


def _dotted(page: Page, indent: str, parts: Sequence[str]) -> None:
    page.line(indent + page.paint(" · ", "dim").join(part for part in parts if part))


def _quote_in_line(
    one: Evidence, episode: StoredEpisode | None, redact: Redact, *, whole: bool = False
) -> str:
    """Return the lines of the episode that hold the quote, safe, with the quote marked.

    Without `whole` they are joined into one line that begins a little before the quote.
    """
    quote = redact(one.quote)
    if episode is None:
        return text.mark(quote, 0, len(quote))
    held = redact(episode.text)
    start = one.start if held == episode.text else held.find(quote)
    if start < 0 or not held.startswith(quote, start):
        if held != episode.text and _LABEL not in quote:
            quote = _HIDDEN  # that it is secret can be told only from what stands around it
        return text.mark(quote, 0, len(quote))
    line, first, last = text.line_of(held, start, start + len(quote))
    if whole:
        return text.mark(line, first, last)
    cut = max(0, first - _BEFORE_QUOTE) if len(line) > 2 * _BEFORE_QUOTE else 0
    shown = text.mark(line[cut:], first - cut, last - cut)
    return ("…" if cut else "") + " ".join(shown.split())


# --- facts ----------------------------------------------------------------------------------------


def facts(
    page: Page,
    found: Iterable[Fact],
    *,
    one_predicate: bool,
    shown_by: Callable[[Fact], Sequence[Evidence]] | None,
    disputes: Mapping[int, Sequence[str]],
    more: Iterator[object],
) -> None:
    """Show facts as they come, one line each, and whether there are more.

    Below it stands what waits for an answer: `disputes`, by the number of the fact.
    """
    shown = 0

    def rows() -> Iterator[tuple[list[str], list[_Detail]]]:
        nonlocal shown
        for one in found:
            shown += 1
            row = [
                f"f{one.id}",
                f"{one.confidence:.2f}",
                moment(one.occurred_at),
                "" if one_predicate else one.predicate,
                _status(one) + one.object,
                _project_name(one.project),
            ]
            evidence = shown_by(one) if shown_by is not None else ()
            details: list[_Detail] = [(said, 3) for said in disputes.get(one.id, ())]
            for part in evidence:
                details += [(place(part.source, part.position), 0), (part.quote, 2)]
            yield row, details

    columns = [
        Column(title="id", style="dim"),
        Column(title="conf", right=True, optional=True),
        Column(title="when", optional=True),
        Column(title="predicate", style="cyan", flexible=True, least=12, most=28),
        Column(title="object", flexible=True, least=16),
        Column(title="project", style="dim", flexible=True, least=10, most=24, optional=True),
    ]
    _with_details(page, columns, rows())
    if next(more, None) is not None:
        page.say(f"The first {shown}; --limit 0 shows all that match.", "dim")


def _status(one: Fact) -> str:
    """Return where a fact stands, where that is not what one expects; a column would be empty."""
    return "" if one.status == "active" else f"[{one.status}] "


# --- explain --------------------------------------------------------------------------------------


def explanation(
    page: Page,
    found: Explanation,
    *,
    episodes: Mapping[int, StoredEpisode],
    redact: Redact,
    most: int | None,
    more: Sequence[tuple[str, str]] = (),
) -> None:
    """Show the claim with what else is known of it (`more`), the rule, and the evidence."""
    fact = found.fact
    head = f"f{fact.id}  {text.one_line(fact.predicate)}"
    page.line(page.paint(head, "bold cyan"))
    for line in text.wrap(text.safe(redact(fact.object)), page.prose - 2):
        page.line("  " + page.paint(line, "bold"))
    page.line()
    host = [fact.host, home_path(fact.project), f"session {fact.session}" if fact.session else ""]
    pairs = [
        ("in words", redact(fact.statement)),
        ("subject", fact.subject),
        ("confidence", f"{fact.confidence:.2f} ({fact.trust})"),
        ("happened", moment(fact.occurred_at) or "no date is known"),
        ("where", " · ".join(part for part in host if part)),
        ("status", f"{fact.status}, learned {moment(fact.learned_at)}"),
        *more,
    ]
    rows_of(page, pairs)
    page.line()
    _rule(page, found)
    total = len(found.evidence)
    shown = total if most is None else min(total, most)
    for number in range(shown):
        page.line()
        one = found.evidence[number]
        _evidence(
            page,
            one,
            found.originals[number],
            number=number + 1,
            total=total,
            quoted=_quote_in_line(one, episodes.get(one.episode_id), redact, whole=True),
        )
    if shown < total:
        page.line()
        page.say(
            f"{count(total - shown, 'more piece', 'more pieces')} of evidence; --all shows"
            " every one.",
            "dim",
        )


def rows_of(page: Page, pairs: Sequence[tuple[str, str]]) -> None:
    """Show names and what they stand for, without those that stand for nothing."""
    wide = max(len(name) for name, _ in pairs) + 2
    for name, value in pairs:
        if not value:
            continue
        lines = text.wrap(text.safe(value), page.prose - wide - 2)
        for number, line in enumerate(lines):
            lead = page.paint(name.ljust(wide), "dim") if number == 0 else " " * wide
            page.line("  " + lead + line)


def _rule(page: Page, found: Explanation) -> None:
    rule = found.rule
    if rule is None:
        page.line(page.paint("rule", "bold"))
        # What a person says, and what the nightly work finds, is found by no rule of the table.
        by_table = found.fact.kind == "observation"
        methods = dict.fromkeys((one.rule, one.method) for one in found.evidence)
        for name, method in methods:
            page.say(f"  {name}: {'not among the rules in force now' if by_table else method}")
        return
    page.line(page.paint("rule", "bold") + "  " + page.paint(text.one_line(rule.name), "cyan"))
    rows_of(
        page,
        [
            ("how", rule.method),
            ("looks in", rule.looks_in),
            ("matches", "" if rule.matches == WHOLE else rule.matches),
            ("confidence", f"{rule.confidence:.2f} before the cap by trust"),
        ],
    )


def _evidence(
    page: Page, one: Evidence, original: Original, *, number: int, total: int, quoted: str
) -> None:
    title = "evidence" if total == 1 else f"evidence {count(number)} of {count(total)}"
    stance = "" if one.stance == "supports" else f"  {one.stance}"
    page.line(
        page.paint(title, "bold")
        + f"  {moment(one.occurred_at)}".rstrip()
        + page.paint(stance, "yellow")
    )
    where = text.safe(f"{home_path(one.source)}, line {count(one.position)}")
    page.line("  " + page.paint(where, "dim"))
    for line in page.wrap(quoted, indent=4):
        page.line("  " + page.paint("| ", "dim") + page.paint(line, ""))
    if original.state == "found":
        page.line("  " + page.paint("the log still holds it:", "green"))
        for line in page.wrap(_quote_in_log(one.quote, original.text), indent=4):
            page.line("  " + page.paint("| ", "dim") + page.paint(line, "dim"))
    else:
        lines = text.wrap(
            text.one_line(f"{original.state}: {original.text} What was kept of it is above."),
            page.prose - 2,
        )
        for line in lines:
            page.line("  " + page.paint(line, "yellow"))


def _quote_in_log(quote: str, line: str) -> str:
    """Mark the quote in a line of JSON, where some of its characters may be escaped.

    What stands far from the quote is left out: a line of a log can be very long.
    """
    for form in (quote, json.dumps(quote, ensure_ascii=False)[1:-1], json.dumps(quote)[1:-1]):
        at = line.find(form) if form else -1
        if at >= 0:
            break
    else:
        return text.safe(line)
    end = at + len(form)
    first, last = max(0, at - _AROUND_QUOTE), min(len(line), end + _AROUND_QUOTE)
    shown = text.mark(line[first:last], at - first, end - first)
    return ("…" if first else "") + shown + ("…" if last < len(line) else "")


# --- lists ----------------------------------------------------------------------------------------


def sessions(page: Page, found: Sequence[SourceState], *, of: int) -> None:
    """Show sessions, one line each, and how many of all they are."""
    if not found:
        page.say("No session matches.")
        return
    rows = [
        [
            moment(one.last_at),
            one.source.host,
            home_path(one.source.project),
            count(one.episode_count),
            (f"sub-agent of {one.source.session[:8]}" if one.source.agent else one.source.session),
            one.source.title,
        ]
        for one in found
    ]
    page.table(
        [
            Column(title="last"),
            Column(title="host", style="cyan", optional=True),
            Column(title="project", flexible=True, least=12, most=40, keep="end"),
            Column(title="items", right=True, optional=True),
            Column(title="session", style="dim", most=36, optional=True),
            Column(title="title", flexible=True, least=10, optional=True),
        ],
        rows,
    )
    if len(found) < of:
        page.say(f"{count(len(found))} of {count(of)}; --limit 0 shows all.", "dim")


def timeline(page: Page, found: Sequence[Hit]) -> None:
    """Show what was asked and done, day by day."""
    if not found:
        page.say("Nothing happened then, as far as the logs say.")
        return
    entries = [list(group) for _, group in groupby(found, key=_same_entry)]
    rows = [
        [
            text.clock(group[0].occurred_at),
            _project_name(group[0].project),
            ">" if group[0].kind == "episode" else "",
            group[0].text + (f" ({count(len(group))} times)" if len(group) > 1 else ""),
            group[0].id,
        ]
        for group in entries
    ]
    columns = [
        Column(title="", style="dim"),
        Column(title="", style="dim", flexible=True, least=6, most=20, optional=True),
        Column(title="", style="bold"),
        Column(title="", flexible=True, least=16, most=160),
        Column(title="", style="dim", right=True, optional=True),
    ]
    room = None if page.width is None else page.width - 2
    lines = text.table(columns, rows, width=room, color=page.color, sample=len(rows) + 1)
    days = [text.day(group[0].occurred_at) or "no date" for group in entries]
    for number, (name, group) in enumerate(groupby(zip(days, lines, strict=True), lambda x: x[0])):
        if number:
            page.line()
        page.line(page.paint(name, "bold"))
        for _, line in group:
            page.line("  " + line)


def _same_entry(one: Hit) -> tuple[str, str, str, str]:
    """Return what makes neighbours one entry: the same thing said of one project on one day."""
    return one.kind, one.text, one.project, text.day(one.occurred_at)


def found(page: Page, hits: Sequence[Hit]) -> None:
    """Show what an agent's own search found."""
    if not hits:
        page.say("Nothing was found that is sure enough. Other words may find it.")
        return
    width = max(len(one.id) for one in hits)
    for one in hits:
        day = (one.timestamp or "no date")[:10]
        lead = f"{one.id.ljust(width)}  {day}  {one.confidence:.2f}  "
        page.say(text.one_line(one.text), lead=lead, lines=3)


def context(page: Page, found: PromptContext) -> None:
    """Show what a model would be given, and what was left out."""
    page.lines(text.safe(found.text).splitlines())
    page.line()
    tiers = ", ".join(f"{name} {number}" for name, number in found.tier_tokens.items() if number)
    page.say(f"{found.tokens} of {found.limit} tokens: {tiers or 'nothing'}", "dim")
    for one in found.left_out:
        page.line(page.paint(f"left out {text.one_line(one.id)}: {one.why}", "dim"))


def rejections(page: Page, found: Sequence[Rejection]) -> None:
    """Show what was refused, and why."""
    columns = [
        Column(title="reason", style="yellow"),
        Column(title="by", style="cyan", flexible=True, least=6, most=32),
        Column(title="where", flexible=True, least=16, keep="end"),
    ]
    rows = (
        (
            [one.reason, one.rule or "reader", place(one.source, one.position)],
            [(": ".join(part for part in (one.detail, one.excerpt) if part), 2)],
        )
        for one in found
    )
    _with_details(page, columns, rows)


def rules(page: Page, uses: Sequence[RuleUse], *, noise: bool, counted: bool) -> None:
    """Show rules, with how often each fired where a database was read, or how noisy each is."""
    if noise:
        _noise(page, uses)
        return
    columns = [
        Column(title="rule", style="cyan", flexible=True, least=20, most=40),
        Column(title="conf", right=True),
        Column(title="fired", right=True),
        Column(title="of", most=14, optional=True),
        Column(title="looks in", flexible=True, least=10, optional=True),
    ]
    rows = (
        (
            [
                use.rule.name if use.rule.enabled else f"{use.rule.name} (off)",
                f"{use.rule.confidence:.2f}",
                count(use.fired) if counted else "",
                use.rule.subject.replace("|", " or "),
                use.rule.looks_in.replace("|", ", "),
            ],
            [(one, 2) for one in (use.rule.method, use.rule.matches) if one != WHOLE],
        )
        for use in uses
    )
    _with_details(page, columns, rows)


def _noise(page: Page, uses: Sequence[RuleUse]) -> None:
    """Show what of each rule looks like noise, the noisiest first."""
    if not uses:
        page.say("No rule has fired yet.")
        return
    rows = []
    for use in uses:
        signs = use.noise
        if signs is None:
            continue
        top = f"{text.one_line(signs.top_object)[:60]} ({signs.top_share:.0%})"
        rows.append(
            [
                use.rule.name,
                f"{signs.score:.2f}",
                count(signs.facts),
                count(signs.objects),
                count(signs.rejected),
                top if signs.facts else "",
                signs.why,
            ]
        )
    columns = [
        Column(title="rule", style="cyan", flexible=True, least=20, most=32),
        Column(title="noise", right=True),
        Column(title="facts", right=True),
        Column(title="objects", right=True, optional=True),
        Column(title="refused", right=True, optional=True),
        Column(title="most frequent", flexible=True, least=12, most=40, optional=True),
        Column(title="why", style="dim", flexible=True, least=12, optional=True),
    ]
    page.table(columns, rows)


# --- numbers --------------------------------------------------------------------------------------


def stats(page: Page, found: Stats) -> None:
    """Show the numbers of a database."""
    counts = found.counts
    page.line(
        page.paint(text.safe(home_path(found.path)), "bold") + f"  {text.size(found.size_bytes)}"
    )
    page.line()
    hosts = " · ".join(f"{host} {count(number)}" for host, number in sorted(found.hosts.items()))
    waiting = counts["episodes_waiting"] + counts["facts_waiting"]
    failed = sum(found.passive_failures.values())
    rows_of(
        page,
        [
            ("sessions", f"{count(counts['sources'])}   {hosts}".rstrip()),
            ("episodes", count(counts["episodes"])),
            ("facts", f"{count(counts['facts'])}   {count(counts['evidence'])} pieces of evidence"),
            (
                "vectors",
                f"{count(counts['episode_vectors'] + counts['fact_vectors'])}"
                f"   {count(waiting)} waiting" + ("; `factbook embed`" if waiting else ""),
            ),
            ("refused", f"{count(counts['rejections'])}   `factbook rejections`"),
            ("history", count(counts["events"], "event")),
            (
                "passive recall",
                f"{count(failed)} failed and brought nothing; `factbook doctor`" if failed else "",
            ),
        ],
    )
    if _any_lines(found.lines):
        page.line()
        _lines(page, found.lines)
    if found.predicates:
        page.line()
        _predicates(
            page,
            [
                [name, f"{confidence:.2f}", count(facts), count(objects)]
                for name, confidence, facts, objects in found.predicates
            ],
            ["facts", "objects"],
        )


def _predicates(page: Page, rows: list[list[str]], titles: Sequence[str]) -> None:
    page.table(
        [
            Column(title="predicate", style="cyan", flexible=True, least=20, most=40),
            Column(title="confidence", right=True),
            *(Column(title=title, right=True, optional=True) for title in titles),
        ],
        rows,
        indent=2,
    )


def _any_lines(lines: LineCount) -> bool:
    return bool(lines.lines or lines.records or lines.waiting)


def _lines(page: Page, lines: LineCount) -> None:
    """Show every line accounted for: the totals, then the kinds of each."""
    ignored = {kind: number for kind, number in lines.ignored.items() if kind != _BLANK}
    blank = lines.ignored.get(_BLANK, 0)
    parts = []
    if lines.lines or lines.records:
        parts += [
            f"{count(sum(lines.kept.values()))} kept",
            f"{count(sum(ignored.values()))} left out on purpose",
        ]
    if lines.unknown:
        parts.append(f"{count(sum(lines.unknown.values()))} of unknown kinds")
    if lines.rejected:
        parts.append(f"{count(sum(lines.rejected.values()))} refused")
    if lines.repaired:
        parts.append(f"{count(sum(lines.repaired.values()))} mended")
    if blank:
        parts.append(f"{count(blank)} blank")
    if lines.waiting:
        parts.append(f"{count(lines.waiting)} half-written, left for the next run")
    head = count(lines.lines, "line")
    # A document is one record of many lines, and a damaged line may hold several records.
    if lines.records + blank != lines.lines:
        head += f", {count(lines.records, 'record')}"
    page.line(page.paint(head, "bold") + "  " + " · ".join(parts))
    groups = [
        ("kept", lines.kept, ""),
        ("left out", ignored, "dim"),
        ("unknown", lines.unknown, "yellow"),
        ("refused", lines.rejected, "yellow"),
        ("mended", lines.repaired, ""),
    ]
    for name, kinds, style in groups:
        if not kinds:
            continue
        ordered = sorted(kinds.items(), key=lambda one: (-one[1], one[0]))
        words = [f"{count(number)} {text.one_line(kind)}" for kind, number in ordered]
        if len(words) > _KINDS_SHOWN:
            rest = sum(number for _, number in ordered[_KINDS_SHOWN:])
            words = [
                *words[:_KINDS_SHOWN],
                f"{count(rest)} in {count(len(ordered) - _KINDS_SHOWN, 'more kind', 'more kinds')}",
            ]
        for number, line in enumerate(text.wrap(" · ".join(words), page.prose - 12)):
            lead = page.paint(name.ljust(10), "dim") if number == 0 else " " * 10
            page.line("  " + lead + page.paint(line, style))


# --- ingest ---------------------------------------------------------------------------------------


def ingest(page: Page, done: Ingested) -> None:
    """Show what an ingest did: files, lines, new facts, and where to go next."""
    report, predicates = done.report, done.predicates
    _files(page, report, seconds=done.seconds)
    if _any_lines(report.lines):
        _lines(page, report.lines)
    receipt = report.receipt
    news = [
        f"{count(receipt.stored)} new",
        f"{count(receipt.evidence, 'new piece')} of evidence"
        if receipt.evidence == 1
        else f"{count(receipt.evidence, 'new pieces', 'new pieces')} of evidence",
        f"{count(receipt.updated)} updated" if receipt.updated else "",
        f"{count(receipt.rejected)} refused" if receipt.rejected else "",
    ]
    changed = receipt.stored or receipt.evidence or receipt.episodes
    if changed:
        page.line(page.paint("facts", "bold") + "  " + " · ".join(one for one in news if one))
        _predicates(
            page,
            [[name, f"{value:.2f}", count(number)] for name, value, number in predicates],
            ["new"],
        )
    else:
        page.say(
            "Nothing new: every file is as it was at the last run."
            if all(one.state == "unchanged" for one in report.files)
            else "No new facts."
        )
    if done.embedded or done.waiting:
        line = f"{count(done.embedded)} embedded"
        if done.waiting:
            line += (
                f" · {count(done.waiting)} still to embed, found by words alone; `factbook embed`"
            )
        page.line(page.paint("vectors", "bold") + "  " + line)
    if changed:
        page.line()
        page.line(page.paint("next", "bold"))
        for line in _next_steps(predicates, page.program):
            page.line("  " + line)


def _files(page: Page, report: IngestReport, *, seconds: float) -> None:
    hosts: dict[str, int] = {}
    states: dict[str, int] = {}
    for one in report.files:
        hosts[one.host] = hosts.get(one.host, 0) + 1
        states[one.state] = states.get(one.state, 0) + 1
    by_host = [f"{text.one_line(host)} {count(number)}" for host, number in sorted(hosts.items())]
    speed = f" ({text.size(report.read_bytes / seconds)}/s)" if seconds > 0 else ""
    took = f"{text.size(report.read_bytes)} in {text.amount(seconds)}{speed}"
    order = ("new", "grown", "replaced", "unchanged", "failed")
    by_state = [f"{count(states[name])} {name}" for name in order if name in states]
    head = [" · ".join(by_host), " · ".join(by_state), took if report.read_bytes else ""]
    page.line(
        page.paint(count(len(report.files), "file"), "bold")
        + "  "
        + page.paint(" | ", "dim").join(part for part in head if part)
    )
    if report.unsupported:
        named: dict[str, int] = {}
        for _, host in report.unsupported:
            named[host] = named.get(host, 0) + 1
        words = ", ".join(f"{count(number)} {host}" for host, number in sorted(named.items()))
        page.line("  " + page.paint(f"not supported yet: {text.one_line(words)}", "yellow"))
    if report.skipped:
        reasons: dict[str, int] = {}
        for _, why in report.skipped:
            reasons[why] = reasons.get(why, 0) + 1
        words = ", ".join(f"{count(number)} {why}" for why, number in sorted(reasons.items()))
        shown = text.fit(f"passed over: {text.one_line(words)}", page.prose - 2)
        page.line("  " + page.paint(shown, "dim"))
    from factbook.sources.session_log.discover import LEADS_OUT  # known by now, not at the start

    out = [home_path(path) for path, why in report.skipped if why == LEADS_OUT]
    for name in out[:_FAILED_SHOWN]:
        shown = f"leads out of its folder: {text.one_line(name)}"
        page.line("  " + page.paint(shown, "yellow"))


def _next_steps(predicates: Sequence[tuple[str, float, int]], program: str) -> list[str]:
    named = {name for name, _, _ in predicates}
    question = (
        "which hosts did I connect to?"
        if "connects_to_host" in named
        else "what did I change last week?"
    )
    predicate = next(
        (one for one in ("connects_to_host", "modified_file", "executed_command") if one in named),
        "used_tool",
    )
    return [
        f'{program} recall "{question}"',
        f"{program} facts --predicate {predicate}",
        f"{program} timeline --since 7d",
    ]


def failed_files(report: IngestReport) -> list[str]:
    """Return one sentence for each file that could not be read, the first few of them."""
    failed = [
        one.error if str(one.path) in one.error else f"{home_path(one.path)}: {one.error}"
        for one in report.files
        if one.state == "failed"
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


def sql_rows(page: Page, rows: Sequence[Mapping[str, SQLValue]]) -> None:
    """Show the rows of a query as a table; `--json` has what does not fit."""
    if not rows:
        page.say("No rows.")
        return
    columns = [
        Column(
            title=text.one_line(name),
            right=all(isinstance(row[name], int | float | None) for row in rows),
            flexible=True,
        )
        for name in rows[0]
    ]
    page.table(columns, ([_sql_cell(value) for value in row.values()] for row in rows))


def _sql_cell(value: SQLValue) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"{value[:_BLOB_SHOWN].hex()}… ({len(value)} bytes)"
    return str(value)
