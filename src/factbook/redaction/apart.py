"""Find secrets that stand apart from the name that announces them.

In the line below it, in the column of a table that it heads, in a file that is called so. A name is
judged as everywhere; that the value stands alone in its line, its cell or its file says where it
begins and ends, so what is left to decide is whether it looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from factbook.redaction.belief import believe
from factbook.redaction.lazy import Lazy
from factbook.redaction.names import Name, classify
from factbook.redaction.place import FIELD, ValuePlace
from factbook.redaction.reading import line_end
from factbook.redaction.spans import Span
from factbook.redaction.values import (
    has_both,
    is_code,
    is_host,
    is_plausible,
    is_random,
    is_stand_in,
    is_stop_word,
    is_strong,
)

PASSWORD: Final = Name(kind="password", plain=True, bare=False)
"""What a word for a password says that was found by other means than its name."""

_LABEL_ROOM: Final = 100  # characters of a line behind its name
_GAP_ROOM: Final = 120  # and between the line and its value
_BREAK: Final = r"\r?\n|\\+r?\\*n"
_LABEL: Final = Lazy(  # the rest of a line that leads to the next one
    r"(?i)[*_`\"'”»)\]]{0,4}"
    r"(?P<words>(?: [^\W\d_](?:[^\s:=.,;!?(){}\[\]<>|\"'`\\]|\.(?=\w)){0,23}+){0,6}+)"
    r"[*_]{0,3}(?P<mark>\s?(?:[:=：＝]{1,2}|-{0,2}>|=>|→|-|–|—)[*_]{0,3})?"
    rf"(?=[ \t]*(?:{_BREAK}|</))"
)
_ASKS: Final = Lazy(  # what is the wifi password
    r"(?i)(?<![\w-])(?:what(?:['’]?s)?|was|wie|wat|quel(?:le)?|cu[aá]l|qual|com[eo])\b[^.:;!?\n]{0,60}$"
)
_ASKED_ROOM: Final = 70
_ASKED_FOR: Final = Lazy(  # for the NAS?
    r"(?i)(?: (?:for|of|to|on|at|in|von|vom|für|zu|zum|de|du|del|della|di|da|do|van)"
    r"(?: [^\s?!.:;]{1,24}){1,5})? ?\?(?=[ \t]*(?:\r?\n|\\+n))"
)
_LEADS: Final = Lazy(r"(?i) (?:is|are|was|ist|lautet|es|est|è|é|is now|below|follows|here)$")
_GAP: Final = Lazy(
    rf"(?:[ \t]+|{_BREAK}|`{{3,}}\w{{0,12}}|</?\w{{1,10}}(?: [^<>\n]{{0,60}})?>|[>+*#|-](?=[ \t]))+"
)
_BREAKS: Final = Lazy(_BREAK)
_MOST_BREAKS: Final = 4
_ALONE: Final = Lazy(
    rf"[*`\"'“«]{{0,3}}([^\s\"'`“”«»<>\\]{{4,200}}+)[`\"'”»]{{0,3}}[ \t]*(?={_BREAK}|$|</|[\"'])"
)
_PHRASE: Final = Lazy(
    rf"[`\"'“«]?([a-z]{{3,}}(?: [a-z]{{3,}}){{2,7}})"
    rf"[`\"'”»]?[ \t]*(?={_BREAK}|$|\")"
)
_BEGINS: Final = Lazy(  # a name that a few words at most stand before
    r"(?:^|\n|\\n|\")[ \t#>*_`+-]*(?:<\w{1,10}>)?(?:[A-Za-z]{1,16} ){0,3}[*_`\"]{0,3}$"
)
_NAMED_SO: Final = Lazy(r"[a-z0-9_.:/-]+$")  # a name of something in a program


def below_spans(text: str, start: int, end: int, sense: Name) -> Iterator[Span]:
    """Give the value that is alone in the line below its name, or below some blank ones."""
    label = _LABEL.match(text, end, end + _LABEL_ROOM)
    if label is None:
        if "?" in text[end : end + _LABEL_ROOM]:
            yield from _answer_spans(text, start, end, sense)
        return
    told = label["mark"] is not None or _LEADS.search(label["words"]) is not None
    if not told and (label["words"] or _is_quoted_in_code(text, start, end)):
        return
    gap = _GAP.match(text, label.end(), label.end() + _GAP_ROOM)
    if gap is None or sum(1 for _ in _BREAKS.finditer(gap[0])) > _MOST_BREAKS:
        return
    if not told and _BEGINS.search(text, max(0, start - 60), start) is None:
        return
    if told and "phrase" in text[start:end].lower():
        phrase = _PHRASE.match(text, gap.end(), gap.end() + 200)
        if phrase is not None and not any(map(is_stop_word, phrase[1].split())):
            yield *phrase.span(1), sense.kind
            return
    value = _ALONE.match(text, gap.end(), gap.end() + 240)
    word = value[1].rstrip("*") if value is not None else ""
    if value is not None and word and _is_alone_a_secret(word, sense, told=told):
        yield value.start(1), value.start(1) + len(word), sense.kind


def _answer_spans(text: str, start: int, end: int, sense: Name) -> Iterator[Span]:
    """Give the only word of the line below a question that asks for the secret of a name."""
    asked = _ASKED_FOR.match(text, end, end + _LABEL_ROOM)
    if asked is None or _ASKS.search(text, max(0, start - _ASKED_ROOM), start) is None:
        return
    gap = _GAP.match(text, asked.end(), asked.end() + _GAP_ROOM)
    value = _ALONE.match(text, gap.end(), gap.end() + 240) if gap is not None else None
    word = value[1].rstrip("*") if value is not None else ""
    if gap is None or value is None or sum(1 for _ in _BREAKS.finditer(gap[0])) > _MOST_BREAKS:
        return
    if word and _is_alone_a_secret(word, sense, told=True):
        yield value.start(1), value.start(1) + len(word), sense.kind


def _is_quoted_in_code(text: str, start: int, end: int) -> bool:
    """Tell whether a name stands in quotes behind something else: `kind = "password"`."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if before not in ('"', "'") or before != after:
        return False
    begin = max(text.rfind("\n", 0, start) + 1, start - _GAP_ROOM)
    return bool(text[begin : start - 1].strip())


def _is_alone_a_secret(word: str, sense: Name, *, told: bool) -> bool:
    """Tell whether the only word of a line is what the line above announces."""
    if is_stand_in(word) or is_stop_word(word) or is_code(word) or is_host(word):
        return False
    if sense.digits:
        return told and believe(word, sense, FIELD)
    if not sense.plain:
        return is_random(word, least=12)
    chosen = is_strong(word) and _NAMED_SO.match(word) is None
    if not is_plausible(word, quoted=chosen and has_both(word)):
        return False
    return told or chosen or is_random(word)


_HEADER: Final = 400  # characters of a header on either side of a name
_TABLE: Final = 262_144  # characters of a table that are read
_CELL_ENDS: Final = Lazy(
    rf"[*_`\"]{{0,3}}(?:[ \t]*([|,;\t]|{_BREAK})|[ ]{{2}}| (?=\S+(?: \S+){{0,6}}(?:{_BREAK})))"
)
_MARKS: Final = frozenset("|,;\t")
_MOST_CELLS: Final = 32
_SHORTEST: Final = 4
_DRAWN: Final = 16  # letters of one case that a machine may have drawn
_RULE: Final = frozenset("|-:+= \t\r")  # a line between the header and the rows
_OWNER: Final = Lazy(r"(?i)\s*(?:user|login|account|host|name|e?mail|service|site|server|ssid)")
_AROUND: Final = " \t\r*_`\"'"
_HEAD: Final = Lazy(r"[\w.-]+(?: [\w.-]+){0,3}")


class _Header(NamedTuple):
    """The header of a table, in which a name heads a column."""

    mark: str  # what parts its cells; empty for blanks
    width: int  # its cells
    column: int  # the one of the name, from 0
    gap: str  # what parts its lines
    end: int  # where its line ends


def _header(text: str, start: int, end: int) -> _Header | None:
    """Read the header that a name may stand in."""
    close = _CELL_ENDS.match(text, end, end + 200)
    if close is None:
        return None
    high = line_end(text, end, end + _HEADER)
    escaped = text.find("\\n", end, high)
    gap, high = ("\\n", escaped) if escaped >= 0 else ("\n", high)  # a table in a string of JSON
    if not text.startswith(gap, high):
        return None
    low = max(0, start - _HEADER)
    low = max(low, text.rfind(gap, low, start) + len(gap))
    if escaped >= 0:
        low = max(low, text.rfind('"', low, start) + 1)
    head = text[low:high]
    mark = close[1] if close[1] in _MARKS else _mark_before(head[: start - low])
    if not mark and "  " not in head.strip() and _OWNER.match(head) is None:
        return None
    cells = _cells(head, mark)
    if not 2 <= len(cells) <= _MOST_CELLS or (mark != "|" and any(a == b for a, b in cells)):
        return None
    column = next(i for i, (_, stop) in enumerate(cells) if low + stop >= end)
    name = head[slice(*cells[column])].strip(_AROUND)
    if not name.endswith(text[start:end]) or _HEAD.fullmatch(name) is None:
        return None
    above = text[max(0, low - _HEADER) : max(0, low - len(gap))].rpartition(gap)[2]
    below = text[high + len(gap) : high + _HEADER].partition(gap)[0]
    ruled = _RULE.issuperset(below)
    if len(_cells(above, mark)) == len(cells) or (mark == "|" and not ruled):
        return None  # a row itself, or a sentence with bars in it
    return _Header(mark=mark, width=len(cells), column=column, gap=gap, end=high)


def column_spans(text: str, start: int, end: int, sense: Name) -> Iterator[Span]:
    """Give the values of the column that a name heads."""
    header = _header(text, start, end)
    if header is None:
        return
    mark, gap, high = header.mark, header.gap, header.end
    place = ValuePlace(
        text=text, start=start, stop=end, joint="cell", joined="|", end=high, quoted=False
    )
    limit = min(len(text), high + _TABLE)
    if gap != "\n":
        limit = line_end(text, high, limit)
    while high < limit:
        pos = high + len(gap)
        stop = text.find(gap, pos, limit)
        high = stop if stop >= 0 else limit
        row = text[pos:high] if gap == "\n" else text[pos:high].partition('"')[0]
        if row and _RULE.issuperset(row):
            continue
        cells = _cells(row, mark)
        if len(cells) != header.width:
            return
        first, last = cells[header.column]
        word = row[first:last].strip(_AROUND)
        if len(word) < _SHORTEST or (word.isalpha() and word.islower() and len(word) < _DRAWN):
            continue  # as most cells are: no secret, and quick to see
        if believe(word, sense, place) and (mark or is_strong(word)):
            at = pos + row.find(word, first)
            yield at, at + len(word), sense.kind


def _mark_before(head: str) -> str:
    """Give what parts the last cell of a header from the one before; empty for blanks."""
    last = head.rstrip(_AROUND.replace("\t", ""))[-1:]
    return last if last in _MARKS else ""


def _cells(line: str, mark: str) -> list[tuple[int, int]]:
    """Cut a line of a table where its mark stands outside quotes, or at blanks."""
    if not mark:
        return [match.span() for match in re.finditer(r"\S+", line)]
    cells, at = [], 0
    while at <= len(line):
        close = line.find(f'"{mark}', at + 1) + 1 if line.startswith('"', at) else 0
        stop = close or line.find(mark, at)
        stop = stop if stop >= 0 else len(line)
        cells.append((at, stop))
        at = stop + 1
    return cells


_FILE: Final = Lazy(r"(?:[\w.~$-]*/)*([\w.-]+)")


def file_kind(command: str, value: str) -> str | None:
    """Judge what a command writes into a file: the kind of secret that the file's name tells."""
    for word in _FILE.findall(command):
        sense = classify(word.removesuffix(".txt"))
        if sense is not None and believe(value, sense, FIELD):
            return sense.kind
    return None
