"""Part a page into sections, and find the lists and the tables in them that speak of one thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.extract.known_names import KnownNames
from factbook.extract.statements import MEMBER, plain_words
from factbook.language.common_words import is_everyday
from factbook.net import cancel

LINE: Final = re.compile(r"[^\n]*\n?")
_NAME_LEVEL: Final = 7  # of a line that is a name: below every heading
HEADING: Final = re.compile(r"[ \t]*(?P<level>#{1,6})[ \t]+(?P<words>.*?)[ \t#]*$")
BULLET: Final = re.compile(r"[ \t>]*(?:[-*+•‣▪·–]|\d{1,2}[.)])[ \t]+")
PAIR: Final = re.compile(
    r"(?P<key>[A-Za-z][^\W_]*(?:[ /&'’\-]{1,3}[^\W_]+){0,4}(?: \([^\W_]{1,20}\))?)\s?:\s+"
    r"(?P<value>\S.*)$"
)
# What surrounds the text of a page: before a colon, or in a heading, it says that what follows is
# of something else or of nothing.
SAYS_MORE: Final = word_set("""
    related see also read tags tag category categories share photo photos image images picture
    credit credits source sources author posted updated published sponsored ad ads review reviews
    advertisement link links contact tel phone fax email comments comment next previous note notes
    tip tips warning important attention hint human user users assistant system q question answer
    entity entities memory preference preferences instruction instructions prompt owner valence
    continue video videos advertiser disclaimer disclosure click order buy reply response context
    known learned remembered interest interests similar alternative alternatives competitor rival
    compare vs versus recommended trending popular sign subscribe follow follows home menu search
    results result ps nb edit hi hello dear bought like says said say claims claimed rumour rumor
    if unless not never
    """)
_AGAINST: Final = re.compile(
    r"\b(?:vs\.?|versus|or|and|compared|alternatives?|rivals?|instead|better than|beats|not)\b",
    re.I,
)
_SITE: Final = re.compile(r"\s+[|–—·-]\s+")  # "Halden Q40 | Nordsound": what a site puts behind


class Line(NamedTuple):
    """A line of a text that is not blank."""

    start: int
    end: int
    owner: str  # the thing whose section it stands in; "" for none
    heading: str = ""  # its words, where it is a heading
    above: str = ""  # the words of the heading that it stands under
    first: bool = False  # nothing but lines of the same block stand between


class Item(NamedTuple):
    """A line of a list, or a row of a table."""

    start: int
    end: int
    entity: str
    loose: bool = False  # it stands anywhere, and not directly under a heading
    row: str = ""  # of a table: its cells as a line of a list, "Weight: 7.8 kg"
    problem: str = ""


def names_others(words: str) -> bool:
    """Tell whether a heading without known names has one of something else."""
    return any(not is_everyday(word.lower()) for word in MEMBER.findall(words) if word[0].isupper())


def title_entity(title: str, names: KnownNames) -> str:
    """Return the one known thing that a text is about by its title; "" for none or several."""
    for part in _SITE.split(title):
        places = names.find(part)
        if not places:
            continue
        start, end, owner = places[0]
        rest = f"{part[:start]} {part[end:]}"
        several = len({other for _, _, other in places}) > 1 or _AGAINST.search(rest)
        behind = part[end:].partition(",")[2].strip()
        more = behind[:1].isupper() and names_others(behind)
        listed = more or part[:start].rstrip().endswith(",")
        # "Halden Q40 Pro review" is about another thing
        follows = re.match(r"\s+(?P<word>[^\W_][\w.]*)", part[end:])
        longer = follows and (follows["word"][0].isupper() or follows["word"][0].isdigit())
        all_capital = all(word[0].isupper() for word in MEMBER.findall(part[end:]))
        if several or listed or (longer and not (all_capital and _is_common(part[end:]))):
            return ""
        return owner
    return ""


def _is_common(words: str) -> bool:
    return all(is_everyday(word.lower()) and len(word) > 3 for word in MEMBER.findall(words))


def lines_of(text: str, plain: str, names: KnownNames, entity: str, begin: int) -> Iterator[Line]:
    """Yield the lines of a text, each with the thing whose section it stands in.

    A heading that names a thing opens its section; one that names something else opens one of
    nobody's, which smaller headings do not end; under any other the title's `entity` has it.
    """
    owner, above, first, blank, seen = entity, "", True, True, False
    closed = 0  # the level of the heading that names something else
    for match in LINE.finditer(text, begin):
        cancel.check()
        line = match[0].rstrip()
        if not line.strip():
            blank = True
            continue
        start, end = match.start(), match.start() + len(line)
        marked = HEADING.match(line)
        words = plain_words(plain[start:end])
        if marked or _is_name(words, names):
            said = plain_words(marked["words"]) if marked else words
            level = len(marked["level"]) if marked else _NAME_LEVEL
            places = names.find(said)
            if places or not closed or level <= closed:
                owner = _heading_owner(said, names, entity)
                closed = 0 if owner or not (places or names_others(said)) else level
            above, first, blank, seen = said, True, False, False
            yield Line(start, end, owner, heading=said)
            continue
        first = first and not (blank and seen)
        seen, blank = True, False
        yield Line(start, end, owner, above=above, first=first)


def _is_name(words: str, names: KnownNames) -> bool:
    bare = words.strip(" :*_")
    places = names.find(bare)
    return len(places) == 1 and places[0][:2] == (0, len(bare))


def _heading_owner(words: str, names: KnownNames, entity: str) -> str:
    """Return whose section a heading opens: "Halden Q40: the lightest", "Opening hours"."""
    places = names.find(words)
    if _AGAINST.search(words) and (places or names_others(words)):
        return ""
    if places:
        owners = {owner for _, _, owner in places}
        return title_entity(words, names) if len(owners) == 1 else ""
    around = SAYS_MORE.intersection(MEMBER.findall(words.lower()))
    return "" if around or names_others(words) else entity


_ROW: Final = re.compile(r"[ \t>]*\|?(?P<cells>[^\n]{1,600}?)\|?[ \t]*$")
_RULER: Final = re.compile(r"[ \t>]*\|?(?:[ \t]*:?-{1,40}:?[ \t]*\|){1,20}[ \t:-]*$")
# What the first column of a table is called that has a property in each row.
_PROPERTIES: Final = word_set("""
    property attribute parameter feature spec specification item field metric name detail
    characteristic category type
    """)
_CELLS: Final = re.compile(r"(?<!\\)\|")


def _cells(line: str) -> list[str]:
    match = _ROW.match(line.rstrip())
    cells = _CELLS.split(match["cells"]) if match else []
    return [plain_words(cell) for cell in cells] if len(cells) > 1 else []


def _tabled(table: Sequence[tuple[Line, Sequence[str]]], names: KnownNames) -> Iterator[Item]:
    """Yield what the rows of a table say of the thing that head, first cell or section names."""
    if not table:
        return
    head = table[0][1]
    columns = [_named(cell, names) for cell in head]
    of_rows = [_named(cells[0], names) for _, cells in table[1:]]
    for (line, cells), row_owner in zip(table, ["", *of_rows], strict=True):
        is_head = cells is head
        if not all(cells) or len(cells) != len(head):
            continue
        if row_owner:  # of things, one in each row
            pairs = zip(head[1:], cells[1:], strict=True)
            said = "; ".join(f"{key}: {cell}" for key, cell in pairs)
            yield Item(line.start, line.end, row_owner, loose=True, row=said)
        elif any(columns[1:]):  # of things, one in each column
            for owner, cell in zip(columns[1:], cells[1:], strict=True):
                if owner and not is_head:
                    row = f"{cells[0]}: {cell}"
                    yield Item(line.start, line.end, owner, loose=True, row=row)
        elif len(head) == 2 and not any(of_rows):
            its = _PROPERTIES.issuperset(MEMBER.findall(head[0].lower()))
            its = its and not names_others(head[1])
            why = "" if its or _has_digit(head[1]) else "its table may be about other things"
            pair = f"{cells[0].rstrip(' :')}: {cells[1]}"
            if is_head and not _has_digit(cells[1]):
                continue
            yield Item(line.start, line.end, line.owner, loose=True, row=pair, problem=why)
        elif not is_head:
            why = "its table has more than two columns"
            words = " | ".join(cells)
            yield Item(line.start, line.end, line.owner, loose=True, row=words, problem=why)


def _has_digit(cell: str) -> bool:
    return any(map(str.isdigit, cell))


def _named(cell: str, names: KnownNames) -> str:
    """Return the known thing that a cell names and nothing else beside it."""
    return names.find(cell)[0][2] if _is_name(cell, names) else ""


def items_in(text: str, plain: str, lines: Sequence[Line], names: KnownNames) -> list[Item]:
    """Return the lines of lists and the rows of tables that stand in a thing's section.

    A line of a list stands below a heading; a line "Weight: 7.8 kg" counts wherever there are two.
    """
    items: list[Item] = []
    group: list[Item] = []
    table: list[tuple[Line, list[str]]] = []
    last = 0

    def close() -> None:
        if len(group) > 1 or (group and not group[0].loose):
            items.extend(group)
        items.extend(item for item in _tabled(table, names) if item.entity)
        group.clear()
        table.clear()

    for line in lines:
        words = text[line.start : line.end]
        cells = [] if line.heading else _cells(plain[line.start : line.end])
        if text.count("\n", last, line.start) > 1 or bool(table) != bool(cells):
            close()
        last = line.end
        if cells:
            if not _RULER.match(words):
                table.append((line, cells))
            continue
        bullet = BULLET.match(words)
        start = line.start + (bullet.end() if bullet else len(words) - len(words.lstrip()))
        pair = PAIR.match(plain_words(plain[start : line.end]))
        if line.heading or not line.owner or not (pair or (bullet and line.first and line.above)):
            close()
            continue
        problem = ""
        head = pair and " " not in pair["value"] and not _has_digit(pair["value"])
        if head and pair and _PROPERTIES.issuperset(MEMBER.findall(pair["key"].lower())):
            problem = "it is the head of a table"
        under = line.first and bool(names.find(line.above))
        group.append(Item(start, line.end, line.owner, loose=not under, problem=problem))
    close()
    return items
