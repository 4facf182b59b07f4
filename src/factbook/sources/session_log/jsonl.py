"""Lines of a log, and the JSON records on them, however damaged.

A line is read whole or not at all: one over `policy.MAX_LINE_BYTES` is passed over without being
held. The fast way (orjson) takes all healthy lines; what it refuses goes the slow way, which reads
records that were glued together, mends what can be mended, and says of the rest why it cannot be
read and where.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

from factbook import policy
from factbook.sources.encoding import decoded

_SKIP_BYTES: Final = 1024 * 1024  # how much of an overlong line is held while it is passed over
_EXCERPT_BYTES: Final = 4 * policy.EXCERPT_CHARS
_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = " \t\r\n\x00\ufeff"
_NOT_BLANK: Final = re.compile(f"[^{_BLANK}]")
_RECORD_START: Final = re.compile(
    r'\{\s{0,8}"(?:type|parentUuid|timestamp|uuid|isSidechain|sessionId|logicalParentUuid)"'
)
_TRIES: Final = 64  # places where a whole record may begin after a torn one
_LONG: Final = 1_000_000  # in a longer line only a few places are tried, each costs its length
_TRIES_LONG: Final = 4
_INT_DIGITS: Final = 18  # more do not fit 64 bits


class LogLine(NamedTuple):
    """One physical line."""

    number: int  # from 1
    offset: int  # byte where it starts
    data: bytes  # with its newline; the first bytes alone where `too_long`
    end: int  # byte after it
    complete: bool  # whether it ends with a newline
    too_long: bool


class RefusedPart(NamedTuple):
    """What stands on a line that the fast way refused: a value, or a part that cannot be read."""

    value: object
    reason: str  # one of policy.LINE_REJECTIONS, empty for a value
    detail: str
    start: int  # characters into the decoded line
    text: str  # the unreadable part, or its beginning
    repaired: tuple[str, ...]  # what was mended in the value


def split_lines(file: BinaryIO, *, offset: int, number: int) -> Iterator[LogLine]:
    """Iterate over the lines of a file from where it stands; `number` lines came before."""
    readline = file.readline
    limit = policy.MAX_LINE_BYTES + 1
    while data := readline(limit):
        number += 1
        start = offset
        offset += len(data)
        complete = data.endswith(b"\n")
        if len(data) < limit or complete:
            yield LogLine(number, start, data, offset, complete, False)
            continue
        data = data[:_EXCERPT_BYTES]
        while not complete and (rest := readline(_SKIP_BYTES)):
            offset += len(rest)
            complete = rest.endswith(b"\n")
        yield LogLine(number, start, data, offset, complete, True)


def decode_slowly(data: bytes) -> Iterator[RefusedPart]:
    """Iterate over the JSON values of a line, and over the parts of it that cannot be read.

    Takes what strict JSON does not: several values in a row, bytes that are no UTF-8, control
    characters in strings, lone surrogates, NaN and infinities, integers of any size, a byte order
    mark, NUL bytes around a record. Of equal keys the last one counts.
    """
    mended: list[str] = []
    text, guessed = decoded(data)
    if guessed:
        mended.append(guessed)
    del data
    surrogates = "\\ud" in text or "\\uD" in text
    at = _next(text, 0)
    count = 0
    while at < len(text):
        try:
            value, end = DECODER.raw_decode(text, at)
            if surrogates:
                value, changed = _without_surrogates(value)
                if changed:
                    mended.append("lone surrogate")
        except RecursionError:
            yield RefusedPart(None, "too_deep", "nested too deep to be read", at, text[at:], ())
            return
        except ValueError as error:
            # JSONDecodeError says where; its message holds nothing of the text.
            detail = getattr(error, "msg", "not a JSON value")
            resumed = _resume(text, at)
            torn = text[at : resumed if resumed >= 0 else len(text)]
            yield RefusedPart(None, "not_json", detail, at, torn, ())
            if resumed < 0:
                return
            at = resumed
            count += 1
            continue
        following = _next(text, end)
        glued = count > 0 or following < len(text)
        notes = (*mended, "glued records") if glued else tuple(mended)
        yield RefusedPart(value, "", "", at, "", notes)
        mended = [note for note in mended if note != "lone surrogate"]
        at = following
        count += 1
    if count == 0 and "\x00" in text:
        yield RefusedPart(None, "not_json", "nothing but NUL bytes", 0, "", ())


def is_blank(data: bytes, *, finished: bool, continues: bool) -> bool:
    """Tell whether a line, or the rest of one that `continues`, holds nothing.

    Of a line that is not finished only white space counts: more may belong to the first bytes.
    """
    bare = data.strip()
    if finished:
        bare = bare.replace(_BOM, b"").strip(b" \t\r\n\x00" if continues else None)
    return not bare


def _next(text: str, at: int) -> int:
    match = _NOT_BLANK.search(text, at)
    return match.start() if match else len(text)


def _resume(text: str, at: int) -> int:
    """Return where a whole record begins after a torn one, or -1.

    A host that was killed in the middle of a line writes its next record right behind it.
    """
    tries = _TRIES if len(text) - at < _LONG else _TRIES_LONG
    for count, match in enumerate(_RECORD_START.finditer(text, at + 1)):
        if count == tries:
            break
        try:
            _, end = DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        following = _next(text, end)
        if following == len(text) or text[following] == "{":
            return match.start()
    return -1


def _integer(digits: str) -> int | float:
    # Python refuses to read integers of thousands of digits, orjson to write those over 64 bits.
    return int(digits) if len(digits) <= _INT_DIGITS else float(digits)


DECODER: Final = json.JSONDecoder(strict=False, parse_int=_integer)


def _without_surrogates(value: object) -> tuple[object, bool]:
    """Return a value whose strings have no lone surrogates, and whether there were any."""
    if isinstance(value, str):
        if value.isascii():
            return value, False
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), True
        return value, False
    if isinstance(value, list):
        items = [_without_surrogates(item) for item in value]
        if any(changed for _, changed in items):
            return [item for item, _ in items], True
    elif isinstance(value, dict):
        pairs = [
            (_without_surrogates(key), _without_surrogates(item)) for key, item in value.items()
        ]
        if any(key[1] or item[1] for key, item in pairs):
            return {key[0]: item[0] for key, item in pairs}, True
    return value, False
