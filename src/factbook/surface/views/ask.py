"""Show answers, facts and what stands behind them, sessions, and the rows of a query."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from factbook.language.values import clock, count, day, home_path, moment, place
from factbook.model.confidence import is_passive
from factbook.model.directives import PREDICATES
from factbook.model.frame import own_share
from factbook.surface import text
from factbook.surface.text import Column
from factbook.surface.views import counted
from factbook.surface.views.tables import Detail, rows_of, with_details

if TYPE_CHECKING:
    from factbook.model.facts import (
        Evidence,
        Fact,
        Hit,
        Millis,
        SourceState,
        SQLValue,
        StoredEpisode,
    )
    from factbook.model.turns import Turn
    from factbook.pipelines.sources import Explanation
    from factbook.recall.budget import PromptContext
    from factbook.recall.search import Answer
    from factbook.recall.time_expressions import Window
    from factbook.sources.original import Original
    from factbook.surface.output import Page

Redact = Callable[[str], str]
Episodes = Mapping[int, "StoredEpisode"]

_HEADLINE_LINES: Final = 3  # of a hit: enough to see whether it is the one
_QUOTE_LINES: Final = 2
_PASSAGE_LINES: Final = 20
_BEFORE_QUOTE: Final = 60  # characters of a long line that are shown before a hit's quote
_AROUND_QUOTE: Final = 180  # characters of a log's line on both sides of the quote
_LABEL: Final = "[REDACTED"  # how the redactor begins what it puts in a secret's place
_HIDDEN: Final = "[REDACTED]"
WHOLE: Final = "the whole of it"  # what `Rule.matches` says of one that takes all it sees
_BLOB_SHOWN: Final = 8  # bytes of a blob in a table
_SURE: Final = 0.9  # confidence that is shown as sure
_UNSURE: Final = 0.7  # below it a fact is a guess from words

_FACT_EPISODES: Final = {
    "prompt": "you asked",
    "reply": "the agent said",
    "tool_call": "tool call",
    "tool_result": "tool output",
}  # how an episode that is a hit is called, where its kind is no word for it
_HANDED_ON: Final = "others, in your message"


def answer(page: Page, recalled: Answer, *, episodes: Episodes, redact: Redact) -> None:
    understood = [_window(recalled.window)] if recalled.window else []
    understood += [text.one_line(predicate) for predicate in recalled.predicates]
    if understood:
        page.line(page.paint("understood: " + ", ".join(understood), "dim"))
    said = counted.remarks(recalled)
    for remark in said:
        page.say(remark, "yellow")
    if understood or said:
        page.line()
    if recalled.computed is not None:
        counted.computed(page, recalled.computed)
        page.line()
    if not recalled.hits and not said and recalled.computed is None:
        page.say("Nothing was found. Other words, or a wider time, may find it.")
    margin = len(str(len(recalled.hits))) + 2
    for number, hit in enumerate(recalled.hits, 1):
        if number > 1:
            page.line()
        _hit(page, hit, number=number, margin=margin, episodes=episodes, redact=redact)
    if recalled.waiting:
        page.line()
        page.say(
            f"{count(recalled.waiting, 'row')} still to embed, found by words alone until"
            f" {page.typed('embed')} has finished them.",
            "yellow",
        )


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
    page: Page, hit: Hit, *, number: int, margin: int, episodes: Episodes, redact: Redact
) -> None:
    if hit.turn is not None:
        _turn(page, hit, hit.turn, number=number, margin=margin)
        return
    is_fact = hit.kind == "fact"
    first = hit.evidence[0] if hit.evidence else None
    headline = hit.text if is_fact or first is None else _passage(hit.text, first)
    lead, indent = page.paint(f"{number}.".ljust(margin), "dim"), " " * margin
    page.say(text.one_line(headline), "bold", lead=lead, lines=_HEADLINE_LINES)
    sure = "green" if hit.confidence >= _SURE else "" if hit.confidence >= _UNSURE else "yellow"
    label = hit.predicate if is_fact else _FACT_EPISODES.get(hit.predicate, hit.predicate)
    if first is not None:
        share = own_share(hit.text, hit.overheard, first.start, first.end)
        label = {"all": label, "some": f"{label}, and others' words", "none": _HANDED_ON}[share]
    parts = [
        page.paint(text.one_line(label), "cyan"),
        moment(hit.occurred_at) or "no date",
        text.fit(text.one_line(home_path(hit.project)), 28, keep="end"),
        "confidence " + page.paint(f"{hit.confidence:.2f}", sure),
        hit.id,
        page.paint(_replaced(hit), "yellow"),
        f"{count(hit.count)} times" if hit.count > 1 else "",
    ]
    page.line(indent + page.paint(" · ", "dim").join(part for part in parts if part))
    if is_fact and first is not None:
        quoted = _quote_in_line(first, episodes.get(first.episode_id), redact)
        for line in page.wrap(quoted, indent=margin + 2, lines=_QUOTE_LINES):
            page.line(indent + page.paint("| ", "dim") + page.paint(line, ""))
    where = text.safe(place(hit.source, hit.position))
    if where:
        page.line(indent + page.paint(where, "dim"))


def _turn(page: Page, hit: Hit, turn: Turn, *, number: int, margin: int) -> None:
    lead, indent = page.paint(f"{number}.".ljust(margin), "dim"), " " * margin
    bar = indent + page.paint("| ", "dim")
    page.say(text.one_line(turn.asked), "bold", lead=lead, lines=_HEADLINE_LINES)
    for passage in turn.passages or filter(None, [turn.ended]):
        page.say(text.one_line(passage), lead=bar, lines=_PASSAGE_LINES)
    if turn.ended and turn.passages:
        ended = page.paint("at the end: ", "cyan")
        page.say(text.one_line(turn.ended), lead=bar + ended, lines=_PASSAGE_LINES)
    if turn.files:
        names = ", ".join(text.one_line(name.rsplit("/", 1)[-1]) for name in turn.files)
        page.line(indent + text.fit(f"changed {names}", page.prose - margin))
    parts = [
        page.paint(turn.outcome, "cyan") if turn.outcome else "",
        moment(turn.began) or moment(hit.occurred_at) or "no date",
        text.fit(text.one_line(home_path(hit.project)), 28, keep="end"),
        f"bears {hit.bearing:.2f}",
        f"{count(turn.records, 'record')}",
        turn.id,
    ]
    page.line(indent + page.paint(" · ", "dim").join(part for part in parts if part))
    where = text.safe(place(hit.source, hit.position))
    if where:
        page.line(indent + page.paint(where, "dim"))


def _passage(whole: str, piece: Evidence) -> str:
    """Return the passage of an episode, with an ellipsis where it is cut out of a line."""
    before = whole[piece.start - 1 : piece.start].strip()
    after = whole[piece.end : piece.end + 1].strip()
    quote = piece.quote
    if piece.rule == "tool_call":  # its lines are the fields of the call
        quote = " · ".join(line.strip() for line in quote.splitlines() if line.strip())
    return ("…" if before else "") + quote + ("…" if after else "")


def _quote_in_line(
    piece: Evidence, episode: StoredEpisode | None, redact: Redact, *, whole: bool = False
) -> str:
    """Return the lines of the episode that hold the quote, safe, with the quote marked.

    Without `whole` they are joined into one line that begins a little before the quote.
    """
    quote = redact(piece.quote)
    if episode is None:
        return text.mark(quote, 0, len(quote))
    held = redact(episode.text)
    start = piece.start if held == episode.text else held.find(quote)
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


def facts(
    page: Page,
    rows: Iterable[Fact],
    *,
    single: bool,
    shown_by: Callable[[Fact], Sequence[Evidence]] | None,
    disputes: Mapping[int, Sequence[str]],
    more: Iterator[object],
) -> None:
    """Show facts as they come, one line each, and whether there are more.

    Below it stands what waits for an answer: `disputes`, by the number of the fact.
    """
    shown = 0

    def details(fact: Fact) -> list[Detail]:
        nonlocal shown
        shown += 1
        below: list[Detail] = [(said, 3) for said in disputes.get(fact.id, ())]
        for part in shown_by(fact) if shown_by is not None else ():
            below += [(place(part.source, part.position), 0), (part.quote, 2)]
        return below

    columns = [
        Column("id", lambda row: f"f{row.id}", "dim"),
        Column("conf", lambda row: f"{row.confidence:.2f}", right=True, optional=True),
        Column("when", lambda row: moment(row.occurred_at), optional=True),
        Column("predicate", lambda row: "" if single else row.predicate, "cyan", least=12, most=28),
        # a column for the state would be empty: a fact is active, as a rule
        Column(
            "object",
            lambda row: f"[{row.status}] {row.object}" if row.status != "active" else row.object,
            least=16,
        ),
        Column(
            "project", lambda row: _project(row.project), "dim", least=10, most=24, optional=True
        ),
    ]
    with_details(page, columns, rows, details)
    if next(more, None) is not None:
        page.say(f"The first {shown}; --limit 0 shows all that match.", "dim")


def _project(project: str) -> str:
    """Return the last part of a working folder: the name by which people know a project."""
    return re.split(r"[/\\\\]", project.rstrip("/\\"))[-1] or project


def explanation(
    page: Page,
    why: Explanation,
    *,
    episodes: Episodes,
    redact: Redact,
    most: int | None,
    more: Sequence[tuple[str, str]] = (),
) -> None:
    """Show the claim with what else is known of it (`more`), the rule, and the evidence."""
    fact = why.fact
    page.line(page.paint(f"f{fact.id}  {text.one_line(fact.predicate)}", "bold cyan"))
    page.say(redact(fact.object), "bold", lead="  ")
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
    _rule(page, why)
    total = len(why.evidence)
    pieces = list(zip(why.evidence, why.originals, strict=True))[:most]
    for number, (piece, original) in enumerate(pieces, 1):
        page.line()
        title = "evidence" if total == 1 else f"evidence {count(number)} of {count(total)}"
        quoted = _quote_in_line(piece, episodes.get(piece.episode_id), redact, whole=True)
        _evidence(page, piece, original, title=title, quoted=quoted)
    if len(pieces) < total:
        page.line()
        left = count(total - len(pieces), "more piece", "more pieces")
        page.say(f"{left} of evidence; --all shows every one.", "dim")


def _rule(page: Page, why: Explanation) -> None:
    rule = why.rule
    if rule is None:
        page.head("rule")
        # What a person says, and what the nightly work finds, is found by no rule of the table.
        by_table = why.fact.kind == "observation"
        methods = dict.fromkeys((evidence.rule, evidence.method) for evidence in why.evidence)
        for name, method in methods:
            page.say(f"  {name}: {'not among the rules in force now' if by_table else method}")
        return
    page.head("rule", page.paint(text.one_line(rule.name), "cyan"))
    rows_of(
        page,
        [
            ("how", rule.method),
            ("looks in", rule.looks_in),
            ("matches", "" if rule.matches == WHOLE else rule.matches),
            ("confidence", f"{rule.confidence:.2f} before the cap by trust"),
        ],
    )


def _evidence(page: Page, piece: Evidence, original: Original, *, title: str, quoted: str) -> None:
    stance = "" if piece.stance == "supports" else page.paint(f"  {piece.stance}", "yellow")
    page.line(page.paint(title, "bold") + f"  {moment(piece.occurred_at)}".rstrip() + stance)
    where = text.safe(f"{home_path(piece.source)}, line {count(piece.position)}")
    page.line("  " + page.paint(where, "dim"))
    for line in page.wrap(quoted, indent=4):
        page.line("  " + page.paint("| ", "dim") + page.paint(line, ""))
    if original.state == "found":
        page.line("  " + page.paint("the log still holds it:", "green"))
        for line in page.wrap(_quote_in_log(piece.quote, original.text), indent=4):
            page.line("  " + page.paint("| ", "dim") + page.paint(line, "dim"))
    else:
        gone = f"{original.state}: {original.text} What was kept of it is above."
        page.say(text.one_line(gone), "yellow", lead="  ")


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


def sessions(page: Page, rows: Sequence[SourceState], *, of: int) -> None:
    if not rows:
        page.say("No session matches.")
        return
    columns = [
        Column("id", lambda row: f"s{row.id}", "dim"),
        Column("last", lambda row: moment(row.last_at)),
        Column("host", lambda row: row.source.host, "cyan", optional=True),
        Column("project", lambda row: home_path(row.source.project), least=12, most=40, keep="end"),
        Column("items", lambda row: count(row.episode_count), right=True, optional=True),
        Column("session", _session, "dim", most=36, optional=True),
        Column("title", lambda row: row.source.title, least=10, optional=True),
    ]
    page.table(columns, rows)
    if len(rows) < of:
        page.say(f"{count(len(rows))} of {count(of)}; --limit 0 shows all.", "dim")


def _session(state: SourceState) -> str:
    session = state.source.session
    return f"sub-agent of {session[:8]}" if state.source.agent else session


def timeline(page: Page, hits: Sequence[Hit]) -> None:
    if not hits:
        page.say("Nothing happened then, as far as the logs and chats say.")
        return
    entries: list[tuple[Hit, str]] = []
    # Neighbours that say the same of one project on one day are one entry.
    for _, same in groupby(
        hits, lambda hit: (hit.kind, hit.text, hit.project, day(hit.occurred_at))
    ):
        first, *more = same
        times = f" ({count(1 + len(more))} times)" if more else ""
        likely = first.predicate in PREDICATES and not is_passive(first.confidence)
        entries.append((first, "likely: " * likely + first.text + times))
    columns = [
        Column("", lambda row: clock(row[0].occurred_at), "dim"),
        Column("", lambda row: _project(row[0].project), "dim", least=6, most=20, optional=True),
        Column("", lambda row: ">" if row[0].kind == "episode" else "", "bold"),
        Column("", lambda row: row[1], least=16, most=160),
        Column("", lambda row: row[0].id, "dim", right=True, optional=True),
    ]
    room = None if page.width is None else page.width - 2
    lines = text.table(columns, entries, width=room, color=page.color, sample=len(entries) + 1)
    days = [day(hit.occurred_at) or "no date" for hit, _ in entries]
    for number, (name, group) in enumerate(groupby(zip(days, lines, strict=True), lambda x: x[0])):
        if number:
            page.line()
        page.line(page.paint(name, "bold"))
        for _, line in group:
            page.line("  " + line)


def episode(page: Page, hit: Hit, *, redact: Redact) -> None:
    _hit(page, hit, number=1, margin=3, episodes={}, redact=redact)
    page.line()
    page.lines(map(text.safe, hit.text.splitlines()))


def found(page: Page, hits: Sequence[Hit]) -> None:
    if not hits:
        page.say("Nothing was found that is sure enough. Other words may find it.")
        return
    width = max(len(hit.id) for hit in hits)
    for hit in hits:
        date = (hit.timestamp or "no date")[:10]
        lead = f"{hit.id.ljust(width)}  {date}  {hit.confidence:.2f}  "
        over = f" ({_replaced(hit)})" if hit.replaced_by is not None else ""
        page.say(text.one_line(hit.text) + over, lead=lead, lines=3)


def _replaced(hit: Hit) -> str:
    return "" if hit.replaced_by is None else f"replaced by f{hit.replaced_by}"


def context(page: Page, prompt: PromptContext) -> None:
    page.lines(text.safe(prompt.text).splitlines())
    page.line()
    tiers = ", ".join(f"{name} {number}" for name, number in prompt.tier_tokens.items() if number)
    page.say(f"{prompt.tokens} of {prompt.limit} tokens: {tiers or 'nothing'}", "dim")
    for piece_left_out in prompt.left_out:
        page.line(
            page.paint(f"left out {text.one_line(piece_left_out.id)}: {piece_left_out.why}", "dim")
        )


def sql_rows(page: Page, rows: Sequence[Mapping[str, SQLValue]]) -> None:
    """Show the rows of a query as a table; `--json` has what does not fit."""
    if not rows:
        page.say("No rows.")
        return
    page.table([_sql_column(name, rows) for name in rows[0]], rows)


def _sql_column(name: str, rows: Sequence[Mapping[str, SQLValue]]) -> Column:
    numbers = all(isinstance(row[name], int | float | None) for row in rows)
    return Column(text.one_line(name), lambda row: _sql_cell(row[name]), right=numbers, least=4)


def _sql_cell(value: SQLValue) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"{value[:_BLOB_SHOWN].hex()}… ({len(value)} bytes)"
    return str(value)
