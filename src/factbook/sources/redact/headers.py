"""Find the secret part of HTTP credentials and cookies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from factbook.sources.redact.reading import Value
from factbook.sources.redact.values import (
    decodes_to_pair,
    is_code,
    is_random,
    is_stand_in,
    is_stop_word,
    is_wordy,
)

__all__ = ["cookie_spans", "credential_span", "scheme_span"]

Span = tuple[int, int, str]

_SCHEME: Final = re.compile(
    r"(?i)(bearer|basic|token|digest|apikey|api-key|bot|sso-key|ssws|geniekey|key|hawk|negotiate|ntlm|"
    r"aws4-hmac-sha256|sharedkey|sharedaccesssignature|signature|oauth|jwt|private-token|klaviyo-api-key|splunk|zuora)"
    r"[ \t]*[ \t=:][ \t]*(?:token=)?"
)
_TOKEN: Final = re.compile(r"[A-Za-z0-9_.~+/=:|%!@#*^-]+")
_DIGEST: Final = re.compile(
    r"""(?i)\b(?:response|cnonce|signature|sig|mac|oauth_signature|oauth_token)=\\*["']?([A-Za-z0-9+/=_%-]{8,})"""
)
_LONGEST: Final = 8192


def credential_span(text: str, value: Value) -> Span | None:
    """Find the secret in the value of an `Authorization` header or an `auth` field."""
    end = value.end
    if not value.quote:  # a header's value goes on behind its scheme
        line = text.find("\n", value.start, value.start + _LONGEST)
        end = line if line >= 0 else min(len(text), value.start + _LONGEST)
    return scheme_span(text, value.start, end)


def scheme_span(text: str, start: int, end: int) -> Span | None:
    """Find the secret behind a scheme (`Bearer`, `Basic`, ...) that begins at `start`."""
    scheme = _SCHEME.match(text, start, end)
    if scheme is None:
        return None
    word = scheme[1].lower()
    if word in {"digest", "hawk", "aws4-hmac-sha256", "signature", "oauth"}:
        inner = _DIGEST.search(text, scheme.end(), min(end, scheme.end() + 2048))
        return None if inner is None else (*inner.span(1), "authorization")
    found = _TOKEN.match(text, scheme.end(), end)
    if found is None:
        return None
    secret = found[0].rstrip(".,:")
    begin = found.start()
    if is_stand_in(secret[:256]) or is_stop_word(secret[:256]) or is_code(secret[:256]):
        return None
    if word == "basic":
        believed = decodes_to_pair(secret) or is_random(secret, least=12)
    else:
        believed = is_random(secret, least=8) or (
            len(secret) >= 8
            and any(c.isdigit() for c in secret)
            and not (is_wordy(secret) and len(secret) < 20)
        )
    return (begin, begin + len(secret), "authorization") if believed else None


_COOKIE: Final = re.compile(r"""([A-Za-z0-9_.\-$]{1,64})=(?:\\*")?([^;,\s"'\\]{1,4096})""")
_SESSION: Final = re.compile(
    r"(?i)sess|sid\b|sid$|auth|token|jwt|login|remember|csrf|xsrf|cred|secret|^__secure|^__host|_key$|identity|refresh|access"
)
_ATTRIBUTES: Final = frozenset({"path", "domain", "expires", "max-age", "samesite", "priority", "version"})


def cookie_spans(text: str, value: Value) -> Iterator[Span]:
    """Give the cookies of a `Cookie` or `Set-Cookie` header that open a session."""
    end = value.end
    if not value.quote:
        line = text.find("\n", value.start, value.start + _LONGEST)
        end = line if line >= 0 else min(len(text), value.start + _LONGEST)
    pos = value.start
    while True:
        found = _COOKIE.match(text, pos, end)
        if found is None:
            return
        name, word = found[1], found[2]
        if name.lower() not in _ATTRIBUTES and not is_stand_in(word[:256]) and not is_code(word[:256]):
            known = bool(_SESSION.search(name))
            if is_random(word, least=8 if known else 20) or (
                known and len(word) >= 6 and any(c.isdigit() for c in word) and not word.isdigit()
            ):
                yield *found.span(2), "cookie"
        after = re.compile(r'(?:\\*")?[;,&]?\s*').match(text, found.end(), end)
        pos = after.end() if after is not None else end
        while pos < end:  # flags such as HttpOnly have no value
            flag = re.compile(r"(?i)(?:httponly|secure|partitioned)\s*;?\s*").match(text, pos, end)
            if flag is None:
                break
            pos = flag.end()
