"""Find passwords that only their place tells: .netrc, .pgpass, SQL, pairs in prose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from factbook.sources.redact.spans import Span
from factbook.sources.redact.values import (
    is_measure,
    is_mixed,
    is_random,
    is_stand_in,
    is_stop_word,
    is_wordy,
)

__all__ = ["HINT", "KINDS", "login_spans"]

KINDS: Final = frozenset({"password"})
HINT: Final = (
    r"(?i:login|username|account|machine) |(?i:credentials?|creds|log(?:ged)?[ -]?in|signed in|"
    r"user(?:name)?/pass)[ :=(`*\"'\\/w]|(?i:login|machine)(?:\n|\\n)"
    r"|:(?:54[0-9][0-9]|6432|\*):|(?i:identified )"
)

_GAP: Final = r"(?:\s|\\+[nrt]){1,12}"
_NETRC: Final = re.compile(
    rf"(?i)(?:(machine){_GAP}[^\s\\]{{1,128}}{_GAP})?(?:login|username|account){_GAP}"
    rf"([^\s\\]{{1,64}}){_GAP}(?:password|passwd)[ \t]+([^\s\"'\\]{{1,256}})"
)
_PGPASS: Final = re.compile(
    r"(?<=[\w*-]):(?:54\d\d|6432|\*):[\w.*@-]{1,64}:[\w.*@-]{1,64}:"
    r"((?:[^:\s\"'\\]|\\[:\\]){3,128})(?=[\s\"'\\]|$)"
)
_IDENTIFIED: Final = re.compile(
    r"(?i)identified (?:with \w{1,40} )?(?:by|as) (?:password )?(\\*[\"'])([^\"'\\\n]{1,256})"
)
_STATEMENT: Final = re.compile(r"(?i)\b(?:(?:create|alter) (?:user|role|login)|grant) ")
_PAIR: Final = re.compile(
    r"(?i)(?:credentials?|creds|user(?:name)?/pass(?:word)?|(?:log(?:ged)?[ -]?in|signed in)"
    r"(?= (?:as|with|using)|:))(?:[ \t:=(`*\"'\\|]|\b(?:is|are|with|as|using|the|test)\b){1,12}"
    r"([\w.@+-]{2,40}) ?[/:] ?([^\s\"'`\\,)]{5,64})"
)


def login_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password at a hint."""
    if text[at] == ":":
        found = _PGPASS.match(text, at, at + 400)
        word = found[1] if found is not None else ""
        if found is not None and any(c.isalnum() for c in word) and not is_stand_in(word):
            yield *found.span(1), "password"
        return
    if text[at] in "iI":
        found = _IDENTIFIED.match(text, at, at + 400)
        before = _STATEMENT.search(text, max(0, at - 200), at)
        statement = before is not None or text[at : at + 2].isupper()
        if found is not None and statement and not is_stand_in(found[2]):
            yield *found.span(2), "password"
        return
    found = _NETRC.match(text, at, at + 500)
    if found is not None:
        word = found[3]
        told = is_stand_in(word) or is_stop_word(word) or is_stop_word(found[2]) or len(word) < 3
        if not told and (found[1] or (is_mixed(word) and "@" not in word)):
            yield *found.span(3), "password"
        return
    found = _PAIR.match(text, at, at + 200)
    if found is not None:
        word = found[2].rstrip(".,;:)")
        if (
            any(c.isdigit() for c in word)
            and any(c.isalpha() for c in word)
            and "/" not in word
            and ":" not in word
            and not is_stand_in(word)
            and not is_random(found[1], least=12)
            and not is_measure(word)
            and not (is_wordy(word) and "." in word)
        ):
            yield found.start(2), found.start(2) + len(word), "password"
