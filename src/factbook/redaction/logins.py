"""Find passwords that only their place tells: .netrc, .pgpass, SQL, pairs of user and password."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from factbook.redaction.lazy import Lazy
from factbook.redaction.prose import is_shaped, pair_spans, shaped_spans
from factbook.redaction.reading import read_quoted
from factbook.redaction.spans import Span
from factbook.redaction.values import is_mixed, is_numbered, is_stand_in, is_stop_word

KINDS: Final = frozenset({"password"})
HINT: Final = (
    r"(?i:login|username|accounts?|machine)[ \n\\:]|\b[uU](?:ser|sr)?[:=]"
    r"|(?i:credentials?|creds|log(?:ged)?[ -]?in|signed in|"
    r"user(?:name)?/pass)(?:[ :=(`*\"'\\/w.,]|$)"
    r"|:(?:54[0-9][0-9]|6432|\*):|(?i:identified )"
)

_GAP: Final = r"(?:\s|\\+[nrt]){1,12}"
_NETRC: Final = Lazy(
    rf"(?i)(?:(machine){_GAP}[^\s\\]{{1,128}}{_GAP})?(?:login|username|account){_GAP}"
    rf"([^\s\\]{{1,64}}){_GAP}(?:password|passwd)[ \t]+([^\s\"'\\]{{1,256}})"
)
_PGPASS: Final = Lazy(
    r"(?<=[\w*-]):(?:54\d\d|6432|\*):[\w.*@-]{1,64}:[\w.*@-]{1,64}:"
    r"((?:[^:\s\"'\\]|\\[:\\]){3,128})(?=[\s\"'\\]|$)"
)
_INITIALS: Final = Lazy(  # u: bob p: hunter2
    r"(?i)u(?:ser|sr)?[:=] ?[\w.@+-]{1,48}[\s,/]{1,3}p(?:w|ass)?[:=] ?([^\s,;/]{4,64})"
)
# The name of a user, which is no secret; nor is what an account or a login is called, or is with.
# Credentials are of something (`Entra2`), or are the secret itself, which looks otherwise.
_USER: Final = Lazy(
    r"(?i)(?:user(?:name)?|usr)s?(?: (?:is|was|name))*\s?[ :=]\s?"
    r"[\"'`]?([^\s\"'`,;/:&]++)(?!\s?[/:=])"
)
_ACCOUNT: Final = Lazy(
    r"(?i)(?:log(?:ged)?[ -]?in|account|credential(?=s?\W{1,3}(?-i:[A-Z])[a-z]+\d\b))s?"
    r"(?: (?:is|was|name|with))*\s?[ :=]\s?"
    r"([^\s\"'`,;/:&]++)(?!\s?[/:=])"
)
_IDENTIFIED: Final = Lazy(r"(?i)identified (?:with \w{1,40} )?(?:by|as) (?:password )?(?=\\*[\"'])")
_REPLACED: Final = Lazy(r"(?i)\s+(?:replace|retain current password and)\s+")
_STATEMENT: Final = Lazy(r"(?i)\b(?:(?:create|alter) (?:user|role|login)|grant) ")


def login_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password at a hint."""
    if text[at] == ":":
        match = _PGPASS.match(text, at, at + 400)
        word = match[1] if match is not None else ""
        if match is not None and any(c.isalnum() for c in word) and not is_stand_in(word):
            yield *match.span(1), "password"
        return
    if text[at] in "iI":
        yield from _identified_spans(text, at)
        return
    match = _NETRC.match(text, at, at + 500)
    if match is not None:
        word = match[3]
        told = is_stand_in(word) or is_stop_word(word) or is_stop_word(match[2]) or len(word) < 3
        if not told and (match[1] or (is_mixed(word) and "@" not in word)):
            yield *match.span(3), "password"
        return
    if text[at] in "mM":
        return  # a machine is one of netrc's, whose words stand in their order
    initials = _INITIALS.match(text, at, at + 120)
    if initials is not None and is_shaped(initials[1]):
        yield *initials.span(1), "password"
    yield from pair_spans(text, at, end)
    yield from shaped_spans(text, _behind_user(text, at), named=False)


def _behind_user(text: str, at: int) -> int:
    """Return where the name of a user at a hint ends: what stands behind it is none."""
    user = _USER.match(text, at)
    if user is not None:
        return user.end()
    account = _ACCOUNT.match(text, at)
    return account.end() if account is not None and is_numbered(account[1]) else at


def _identified_spans(text: str, at: int) -> Iterator[Span]:
    """Give the password of SQL's `IDENTIFIED BY '...'`."""
    match = _IDENTIFIED.match(text, at, at + 120)
    value = read_quoted(text, match.end(), within=400) if match is not None else None
    before = _STATEMENT.search(text, max(0, at - 200), at)
    statement = before is not None or text[at : at + 2].isupper()
    if value is None or not statement or is_stand_in(text[value.start : value.end]):
        return
    if value.start < value.end:
        yield value.start, value.end, "password"
    old = _REPLACED.match(text, value.after, value.after + 40)
    value = read_quoted(text, old.end(), within=400) if old is not None else None
    if value is not None and value.start < value.end:
        yield value.start, value.end, "password"
