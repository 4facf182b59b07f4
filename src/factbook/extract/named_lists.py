"""Read the lists and the tables that stand under the name of a known thing.

Knows: headings, bullets, "Weight: 7.8 kg", tables of Markdown, and whose they are. Does not know:
what sentences say of it (`extract.world`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.extract.known_names import (
    KnownNames,
)
from factbook.extract.statements import MEMBER, ORDER, plain_words
from factbook.extract.subject import (
    subject_of,
)
from factbook.language.common_words import is_everyday
from factbook.net import cancel

__all__ = [
    "ABOUT_IT",
    "BULLET",
    "HEADING",
    "LINE",
    "NUMBERED",
    "PAIR",
    "SAYS_MORE",
    "Item",
    "item_problem",
    "items_under",
]

LINE: Final = re.compile(r"[^\n]*\n?")
HEADING: Final = re.compile(r"[ \t]*#{1,6}[ \t]+(?P<words>.*?)[ \t#]*$")
_BOLD_LINE: Final = re.compile(r"[ \t]*\*\*(?P<words>[^*\n]{2,80})\*\*:?[ \t]*$")
BULLET: Final = re.compile(r"[ \t>]*(?:[-*+•‣▪·–]|\d{1,2}[.)])[ \t]+")
NUMBERED: Final = re.compile(r"[ \t>]*(?:[02-9]|\d\d{1,2})[.)][ \t]")
PAIR: Final = re.compile(
    r"(?P<key>[A-Za-z][^\W_]*(?:[ /&'’\-]{1,3}[^\W_]+){0,4}(?: \([^\W_]{1,20}\))?)\s?:\s+"
    r"(?P<value>\S.*)$"
)
ABOUT_IT: Final = word_set("""
    specifications specification specs spec overview summary details detail facts fact key features
    feature data technical info information history description characteristics properties at a
    glance in brief quick the about profile main and general product more essentials basics sheet
    """)
_NO_KEY: Final = word_set("""
    related see also read more tags tag category categories share photo photos image images picture
    credit credits source sources by author posted updated published date sponsored ad ads
    advertisement link links contact tel phone fax email comments comment next previous note notes
    tip tips warning important attention hint human user users assistant system q a question answer
    entity entities memory preference preferences instruction instructions prompt owner valence
    continue video videos advertiser disclaimer disclosure click order buy reply response context
    known learned remembered interest interests similar alternative alternatives competitor rival
    compare vs versus recommended trending popular sign subscribe follow follows home menu search
    results result ps nb update edit hi hello dear to
    """)


# Words before a colon that make what follows no statement of the text's own.
SAYS_MORE: Final = _NO_KEY | word_set("says said claims claimed rumour rumor if unless not never")


class Item(NamedTuple):
    start: int
    end: int
    entity: str
    loose: bool = False  # it stands anywhere, and not directly under the name
    row: str = ""  # of a table: its two cells as a line of a list, "Weight: 7.8 kg"
    problem: str = ""


# --- tables ---------------------------------------------------------------------------------------

_ROW: Final = re.compile(r"[ \t>]*\|(?P<cells>[^\n]{1,600})\|[ \t]*$")
_RULER: Final = re.compile(r"[ \t>]*\|(?:[ \t]*:?-{1,40}:?[ \t]*\|){1,20}[ \t]*$")
_CELLS: Final = re.compile(r"(?<!\\)\|")
_PROPERTIES: Final = ABOUT_IT | word_set("""
    property attribute attributes parameter parameters spec item items field category type metric
    name aspect criterion criteria what
    """)
_VALUES: Final = ABOUT_IT | word_set(
    "value values description measurement measurements content setting settings amount data"
)


class _Row(NamedTuple):
    """A row of a table of Markdown; `words` are "" for its head and the line below it."""

    words: str
    problem: str


def _rows(text: str, plain: str, names: KnownNames, begin: int) -> dict[int, _Row]:
    """Return the rows of the tables of a text, by where their lines begin.

    A table has a property of one thing in each row only where it has two columns and its head
    names no other thing: "Model | Price" lists things.
    """
    rows: dict[int, _Row] = {}
    head: tuple[int, list[str]] | None = None
    table: str | None = None  # why its rows are none; "" where they are, None outside a table
    for match in LINE.finditer(text, begin):
        line = match[0].rstrip()
        if not _ROW.match(line):
            head, table = None, None
            continue
        start = match.start()
        cells = _cells(plain[start : start + len(line)])
        if _RULER.match(line) and head is not None and table is None:
            rows[head[0]] = rows[start] = _Row("", "")
            if _is_property(head[1]):
                table, rows[head[0]] = "", _Row(": ".join(head[1]), "")
            else:
                table = _table_problem(head[1], names)
            continue
        if table is None:
            head = (start, cells)
            continue
        pair = f"{cells[0].rstrip(' :')}: {cells[1]}" if len(cells) > 1 else ""
        if table or not all(cells) or PAIR.match(pair) is None:
            rows[start] = _Row(" | ".join(filter(None, cells)), table or "it is no property")
        else:
            rows[start] = _Row(pair, "")
    return rows


def _cells(row: str) -> list[str]:
    match = _ROW.match(row.rstrip())
    return [plain_words(cell) for cell in _CELLS.split(match["cells"])] if match else []


def _is_property(head: Sequence[str]) -> bool:
    """Tell whether the head of a table is a row of it: "Price | 49 euros"."""
    return (
        len(head) == 2
        and any(map(str.isdigit, head[1]))
        and PAIR.match(": ".join(head)) is not None
        and all(is_everyday(word) for word in MEMBER.findall(head[0].lower()))
    )


def _table_problem(head: Sequence[str], names: KnownNames) -> str:
    """Say why the rows of a table are not what its one thing has; "" where they are."""
    if len(head) != 2:
        return "its table has more than two columns" if len(head) > 2 else "it is no property"
    first, second = (MEMBER.findall(cell.lower()) for cell in head)
    if all(word in _PROPERTIES for word in first) and (
        all(word in _VALUES for word in second) or _is_name_line(head[1], names)
    ):
        return ""
    return "its table may be about other things"


# --- lists ----------------------------------------------------------------------------------------


def items_under(
    text: str, plain: str, names: KnownNames, title_entity: str, begin: int
) -> list[Item]:
    """Return the lines and the rows of tables that stand under the name of a known thing.

    They stand directly under it, as a heading or as the title. As `loose` a list of properties
    counts wherever it stands in a text whose title is the thing's name.
    """
    rows = _rows(text, plain, names, begin)
    items: list[Item] = []
    group: list[Item] = []  # lines under a title alone, or anywhere: one may be anything
    owner, lists, blank, headed = title_entity, bool(title_entity), True, False

    def close() -> None:
        if len(group) > 1:
            items.extend(group)
        group.clear()

    for match in LINE.finditer(text, begin):
        cancel.check()
        line = match[0].rstrip()
        if not line.strip():
            blank = True
            continue
        start, end = match.start(), match.start() + len(line)
        heading = HEADING.match(line) or _BOLD_LINE.match(line)
        words = plain_words(plain[start:end])
        if heading or _is_name_line(words, names):
            close()
            said = plain_words(heading["words"]) if heading else words
            owner = _heading_owner(said, names, title_entity)
            lists, blank, headed = bool(owner), False, True
            continue
        row = rows.get(start)
        if row is not None and not row.words:
            continue  # the head of a table
        bullet = BULLET.match(line)
        first = start + (bullet.end() if bullet else len(line) - len(line.lstrip()))
        pair = PAIR.match(plain_words(plain[first:end]))
        item = Item(first, end, owner)
        if row is not None:
            item = item._replace(row=row.words, problem=row.problem)
        # A list stands directly under its heading; a paragraph, or a gap within it, ends it.
        if not (bullet or pair or row) or (
            blank and (group or (items and items[-1].entity == owner))
        ):
            lists = False
            close()
        if lists and owner:
            (items if headed else group).append(item)
        elif owner and owner == title_entity and ((bullet and pair) or row):
            group.append(item._replace(loose=True))
        blank = False
    close()
    return items


def _is_name_line(words: str, names: KnownNames) -> bool:
    bare = words.strip(" :*_")
    places = names.find(bare)
    return len(places) == 1 and places[0][0] == 0 and places[0][1] == len(bare)


def _heading_owner(words: str, names: KnownNames, title_entity: str) -> str:
    """Return whose lists stand under a heading: its name alone, or "Specifications"."""
    places = names.find(words)
    if len({owner for _, _, owner in places}) > 1:
        return ""
    rest, owner = words, title_entity
    if places:
        start, end, owner = places[0]
        rest = words[:start] + " " + words[end:]
    rest = re.sub(r"['’]s\b|[^\w\s]", " ", rest)
    return owner if all(word in ABOUT_IT for word in rest.lower().split()) else ""


def item_problem(words: str, names: KnownNames) -> str:
    """Say why a line under a name is no fact about it; "" where it is one."""
    pair = PAIR.match(words)
    if pair:
        keys = re.split(r"[^\w]+", pair["key"].lower())
        if any(key in _NO_KEY for key in keys):
            return "it is no property"
        words = pair["value"]
        if all(key in _PROPERTIES for key in keys if key) and all(
            word in _VALUES for word in MEMBER.findall(words.lower())
        ):
            return "it is the head of a table"
        if ORDER.match(words) and " " in words:
            return "it is an order"
    elif ORDER.match(words):
        return "it is an order"
    elif len(words.split()) < 3:
        return "it has less than three words"
    said = subject_of(words, names)
    if said.words:
        return "it speaks of something else"
    return ""
