"""Find private keys that are written as a block: PEM, OpenSSH, PGP, PuTTY, JSON Web Keys.

A block is taken whole, with its marks. It may be cut at either end, it may have its line breaks
escaped, and a viewer, a diff or a string literal may have put something around its lines.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Final

from factbook.redaction.lazy import Lazy
from factbook.redaction.spans import Span
from factbook.redaction.values import is_stand_in

KINDS: Final = frozenset({"private-key"})
HINT = r"-----(?:BEGIN|END) |---- BEGIN SSH2|Private-Lines:|LS0tLS1CRUdJTi|\"kty"
# The beginnings of keys whose frame was left out: PKCS 1 and 8 (a sequence that begins with the
# number 0, which no public key and no certificate does) and OpenSSH.
HINT += r"|MII[A-Za-z0-9+/]{2}[AQgw]IBA|b3BlbnNzaC1rZXkt"

_LONGEST: Final = 32_768
_NAME: Final = r"(?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_SSH2: Final = r"SSH2 ENCRYPTED PRIVATE KEY ----"
_BEGIN: Final = Lazy(rf"-----BEGIN {_NAME}|---- BEGIN {_SSH2}")
_END: Final = Lazy(rf"----(?:-END {_NAME}| END {_SSH2})")
# What stands between the lines of a key: line breaks, real or escaped, and what was put around.
_AROUND: Final = r"[\s\"'+,>|#*;:→│`\\-]|(?<=\\)[nrt]|\d{1,5}(?=[ ]?[→:\t|│])"
_HEADER: Final = r"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|Subject|x-[\w-]{1,40})\s?:"
_OPEN_ENDED: Final = Lazy(
    rf"(?:{_AROUND}|{_HEADER}(?:[^\n\\]|\\(?!n)){{0,120}})*+"
    rf"((?:[A-Za-z0-9/+=]{{20,}}(?:{_AROUND})*+)+(?:[A-Za-z0-9/+=]+(?=$|[\"'`…]|\.\.))?)"
)
_NOT_KEY: Final = Lazy(rf"{_HEADER}(?:[^\n\\]|\\(?!n)){{0,120}}|{_AROUND}")
_KEY_LINE: Final = Lazy(r"(?=[A-Za-z+/]{0,40}[0-9])[A-Za-z0-9+/=]{24,}")
_SURE: Final = 48  # characters of lines of a key
_KEY_RUN: Final = Lazy(r"[A-Za-z0-9+/]{10}")
_PUTTY: Final = Lazy(
    r"Private-Lines: ?\d+(?:\\+[nr]|\s)+"
    r"((?:[A-Za-z0-9+/=]{4,}(?:\\+[nr]|\s)+)*[A-Za-z0-9+/=]{4,}"
    r"(?:(?:\\+[nr]|\s)+Private-MAC: ?[0-9a-f]+)?)"
)
_ENCODED: Final = Lazy(r"[A-Za-z0-9+/]{64,}={0,2}")
_JWK_PART: Final = Lazy(r"\"(?:d|p|q|dp|dq|qi|k)\\*\"\s*:\s*\\*\"([A-Za-z0-9_-]{16,})")


def block_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the private key at a hint."""
    if text.startswith("LS0t", at):
        yield from _encoded_block(text, at)
    elif text.startswith(("MII", "b3Bl"), at):
        body = _OPEN_ENDED.match(text, at, at + _LONGEST)
        if body is not None and body.end(1) - at >= 3 * _SURE:
            yield at, body.end(1), "private-key"
    elif text.startswith("Private-Lines", at):
        match = _PUTTY.match(text, at, at + _LONGEST)
        if match is not None:
            yield *match.span(1), "private-key"
    elif text.startswith('"kty', at):
        yield from _json_key(text, at)
    elif text.startswith("-----END", at):
        if _END.match(text, at) is not None:
            yield from _block_without_begin(text, at)
    else:
        begin = _BEGIN.match(text, at)
        if begin is not None:
            yield from _block(text, at, begin.end())


def _block(text: str, at: int, pos: int) -> Iterator[Span]:
    """Give the block that begins at `at`, up to its end mark or, without one, to its last line."""
    # The next block first: its mark is looked for much faster than what ends one.
    others = (text.find(mark, pos, pos + _LONGEST) for mark in ("-----BEGIN", "---- BEGIN SSH2"))
    other = min((place for place in others if place >= 0), default=-1)
    close = _END.search(text, pos, other if other >= 0 else pos + _LONGEST)
    limit = close.start() if close is not None else min(len(text), pos + _LONGEST)
    if close is not None:
        if _is_key(text[pos:limit]):
            yield at, close.end(), "private-key"
        return
    body = _OPEN_ENDED.match(text, pos, other if other >= 0 else limit)
    if body is not None:
        yield at, body.end(1), "private-key"


def _is_key(inside: str) -> bool:
    """Tell whether what stands between the marks is a key and not code or an ellipsis."""
    if sum(len(line) for line in _KEY_LINE.findall(inside) if line.lower() != line) >= _SURE:
        return True
    if "..." in inside or "…" in inside or _KEY_RUN.search(inside) is None:
        return False
    bare = _NOT_KEY.sub("", inside)
    letters = sum(c.isalnum() or c in "+/=" for c in bare)
    return letters >= 0.97 * len(bare) and not is_stand_in(bare)


def _block_without_begin(text: str, at: int) -> Iterator[Span]:
    """Give the lines of a key whose beginning was cut off."""
    start = at
    while True:
        low = max(0, start - 160)
        line = text[low:start].rstrip("\n\r\t \"',+>|#*;:`-")
        while line.endswith(("\\n", "\\r", "\\")):
            line = line.removesuffix("\\n").removesuffix("\\r").removesuffix("\\")
        size = 0
        while size < len(line) and (line[-1 - size].isalnum() or line[-1 - size] in "+/="):
            size += 1
        run = line[len(line) - size :]
        if line[: len(line) - size].endswith("\\") and run[:1] in {"n", "r", "t"}:
            run = run[1:]
        if len(run) < 16 or not run.isascii() or at - start > _LONGEST:
            break
        start = low + len(line) - len(run)
    if at - start >= 24:
        yield start, at, "private-key"


def _encoded_block(text: str, at: int) -> Iterator[Span]:
    """Give a private key block that is base64 as a whole, as Kubernetes writes it."""
    match = _ENCODED.match(text, at)
    if match is not None and b"PRIVATE KEY" in base64.b64decode(match[0][:60]):
        yield at, match.end(), "private-key"


def _json_key(text: str, at: int) -> Iterator[Span]:
    """Give the private numbers of a JSON Web Key."""
    low = max(text.rfind("{", max(0, at - 4096), at), max(0, at - 4096))
    if text.find('"kty', low, at) >= 0:
        return  # looked at from there
    high = text.find("}", at, at + 8192)
    for match in _JWK_PART.finditer(text, low, high if high >= 0 else at + 8192):
        yield *match.span(1), "private-key"
