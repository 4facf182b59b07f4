"""Show what was counted, and what is said beside the hits of a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from factbook.language.values import amount, count, day, moment
from factbook.surface import text
from factbook.surface.text import Column

if TYPE_CHECKING:
    from factbook.recall.counting import Computed, CountedRow
    from factbook.recall.understood import Understood
    from factbook.surface.output import Page

_BAR: Final = 24  # cells of the longest bar
_IN_SENTENCE: Final = 3  # rows that are told in a sentence
_LABEL_CHARS: Final = 60  # of a row in a sentence


def computed(page: Page, counted: Computed) -> None:
    page.say(text.one_line(counted.title), "bold")
    rows = list(counted.rows)
    if not rows:
        return
    timed = [row.took_ms for row in rows if row.took_ms is not None]
    most = max(timed) if timed else max(row.count for row in rows)
    ended = not counted.by  # each row is one time

    def bar(row: CountedRow) -> str:
        number = row.count if row.took_ms is None else row.took_ms
        return "" if ended and not timed else "#" * max(1, round(_BAR * number / max(most, 1)))

    paths = all("/" in row.label and " " not in row.label for row in rows)
    columns = [
        Column(
            counted.by or "what",
            lambda row: row.label,
            least=16,
            most=60,
            keep="end" if paths else "start",  # which file it is, its end tells
        ),
        Column("times", lambda row: "" if ended else count(row.count), right=True),
        Column("took", lambda row: "" if row.took_ms is None else amount(row.took_ms / 1000)),
        Column("", bar, "cyan"),
        Column(
            "when" if ended else "last", lambda row: moment(row.newest_at), "dim", optional=True
        ),
        *(
            [Column("failed with", lambda row: text.one_line(row.why), most=40, optional=True)]
            if any(row.why for row in rows)
            else []
        ),
        Column("fact", lambda row: f"f{row.facts[0]}" if row.facts else "", "dim", optional=True),
    ]
    page.table(columns, rows)
    more = counted.different - len(rows) if counted.by else counted.total - len(rows)
    if more > 0:
        page.say(f"and {count(more)} more; --limit 0 shows all", "dim")


def remarks(said: Understood) -> list[str]:
    """Return what is said beside hits, in sentences: the time, what there is none of."""
    found = []
    window = said.window
    if window is not None and window.taken:
        at = moment(window.since if window.since is not None else window.until)
        found.append(f'{_capital(window.phrase)}: counted from {at}, "{_short(window.taken)}".')
    if said.unread:
        found.append(
            f'No time is known that is called "{_short(said.unread)}": it narrows nothing.'
        )
    if said.unanchored:
        found.append(f"{_capital(said.unanchored)}: none is known, so all times are searched.")
    if said.lacking:
        none = f"No {', '.join(said.lacking)} facts"
        if said.nearest is None:
            found.append(f"{none} are in this memory.")
        else:
            found.append(f"{none} in that time; {_nearest(said, 'fact')}.")
    elif said.outside:
        where = f" {window.phrase}" if window is not None else " in that time"
        what = "hit" if said.nearest is None else said.nearest.what
        found.append(f"Nothing was found{where}; {_nearest(said, what)}.")
    elif said.beyond:
        others = "is" if said.beyond == 1 else "are"
        found.append(f"{count(said.beyond, 'hit')} {others} from other times, and last.")
    if said.prompts > 1 and window is not None:
        lie = f"{count(said.prompts, 'prompt')} lie in that time"
        found.append(
            f"{lie}; `factbook timeline{_option('since', window.since)}"
            f"{_option('until', window.until)}` shows what was done."
        )
    return found


def _option(name: str, at: int | None) -> str:
    return "" if at is None else f" --{name} {moment(at).removesuffix(' 00:00').replace(' ', 'T')}"


def in_words(counted: Computed) -> str:
    rows = [
        f"{_short(row.label)} {count(row.count)}"
        for row in counted.rows[:_IN_SENTENCE]
        if counted.by and counted.different > 1
    ]
    return text.one_line(counted.title) + (f" ({'; '.join(rows)})" if rows else "")


def _nearest(said: Understood, what: str) -> str:
    others = "this is from other times"
    if said.nearest is None:
        return others
    return f"{others}, nearest: {count(said.nearest.hits, what)} on {day(said.nearest.at)}"


def _short(said: str) -> str:
    return text.fit(text.one_line(said), _LABEL_CHARS)


def _capital(phrase: str) -> str:
    return phrase[:1].upper() + phrase[1:]
