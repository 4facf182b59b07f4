"""Find the secret part of HTTP credentials and cookies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from factbook.redaction.lazy import Lazy
from factbook.redaction.reading import Value, line_end, match_end
from factbook.redaction.spans import Span
from factbook.redaction.values import decodes_to_pair, is_code, is_random, is_stand_in, is_stop_word

KINDS: Final = frozenset({"authorization", "cookie"})
HINT: Final = r"(?:[Bb]earer|BEARER|Basic) |(?:TRUE|FALSE)[\t ]+/"

_LONGEST: Final = 8192
_SCHEME: Final = Lazy(
    r"(?i)(bearer|basic|token|digest|apikey|api-key|bot|sso-key|ssws|geniekey|key|hawk|negotiate|"
    r"ntlm|aws4-hmac-sha256|sharedkey|sharedaccesssignature|signature|oauth|jwt|private-token|"
    r"klaviyo-api-key|splunk|zuora|discogs)[ \t]*[ \t=:][ \t]*(?:\\\r?\n[ \t]*)?(?:token=)?"
)
_CREDENTIAL: Final = Lazy(r"[A-Za-z0-9_.~+/=:|%!@#*^$-]+")
_SIGNED: Final = Lazy(
    r"(?i)\b(?:response|cnonce|signature|sig|mac|oauth_signature|oauth_token)=\\*[\"']?"
    r"([A-Za-z0-9+/=_%-]{8,})"
)


def credential_span(text: str, value: Value) -> Span | None:
    """Find the secret in the value of an `Authorization` header or an `auth` field."""
    end = value.end
    if not value.quote:  # a header's value goes on behind its scheme
        end = line_end(text, value.start, value.start + _LONGEST)
    return _scheme_span(text, value.start, end)


def bearer_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the credentials behind a scheme that stands without its header's name."""
    if text[at] in "TF":
        yield from _jar_spans(text, at)
        return
    stop = line_end(text, at, at + _LONGEST)
    if text.startswith("\\", stop - 1):  # a shell reads on in the next line
        stop = line_end(text, stop + 1, at + _LONGEST)
    span = _scheme_span(text, at, stop)
    if span is None:
        return
    word = text[span[0] : span[1]]
    if text[at] in "Bb" and text[at + 1] in "aA":  # Basic: only what is surely a pair
        if decodes_to_pair(word):
            yield span
    elif is_random(word, least=12) or (len(word) >= 16 and any(c.isdigit() for c in word)):
        yield span


def _scheme_span(text: str, start: int, end: int) -> Span | None:
    """Find the secret behind a scheme (`Bearer`, `Basic`, ...) that begins at `start`."""
    scheme = _SCHEME.match(text, start, end)
    if scheme is None:
        return None
    word = scheme[1].lower()
    if word in {"digest", "hawk", "aws4-hmac-sha256", "signature", "oauth"}:
        signed = _SIGNED.search(text, scheme.end(), min(end, scheme.end() + 2048))
        return None if signed is None else (*signed.span(1), "authorization")
    match = _CREDENTIAL.match(text, scheme.end(), end)
    if match is None:
        return None
    secret = match[0].rstrip(".,:")
    if is_stand_in(secret) or is_stop_word(secret):
        return None
    if word == "basic":
        believed = decodes_to_pair(secret) or is_random(secret, least=12)
    else:
        believed = is_random(secret) or (
            len(secret) >= 8 and any(c.isdigit() for c in secret) and not is_code(secret)
        )
    return (match.start(), match.start() + len(secret), "authorization") if believed else None


# A line of a cookie jar: its domain, then these fields.
_JAR: Final = Lazy(
    r"(?:TRUE|FALSE)[\t ]+/\S*[\t ]+(?:TRUE|FALSE)[\t ]+\d+[\t ]+([\w.$-]{1,64})[\t ]+(\S{6,4096})"
)


def _jar_spans(text: str, at: int) -> Iterator[Span]:
    """Give the value of a line of a cookie jar (Netscape's format)."""
    match = _JAR.match(text, at, at + _LONGEST)
    if match is not None and not is_stand_in(match[2]):
        known = _OPENS_SESSION.search(match[1]) is not None
        if is_random(match[2], least=8 if known else 16):
            yield *match.span(2), "cookie"


_COOKIE: Final = Lazy(r"([\w.$-]{1,64})=(?:\\*\")?([^;,\s\"'\\=]{1,4096}={0,2})(?![^;,\s\"'\\])")
_BETWEEN: Final = Lazy(r"(?i)(?:(?:\\*\")?[;,&]\s*|(?:httponly|secure|partitioned)\b)*")
_OPENS_SESSION: Final = Lazy(
    r"(?i)sess|sid\b|sid$|auth|token|jwt|login|remember|csrf|xsrf|cred|secret|^__secure|^__host|"
    r"_key$|identity|refresh|access"
)
_ATTRIBUTES: Final = frozenset(
    {"path", "domain", "expires", "max-age", "samesite", "priority", "version"}
)


def cookie_spans(text: str, value: Value) -> Iterator[Span]:
    """Give the cookies of a `Cookie` or `Set-Cookie` header that open a session."""
    pos, end = value.start, value.end
    if not value.quote:
        end = line_end(text, pos, pos + _LONGEST)
    while (match := _COOKIE.match(text, pos, end)) is not None:
        name, word = match[1], match[2]
        if name.lower() not in _ATTRIBUTES and not is_stand_in(word):
            known = bool(_OPENS_SESSION.search(name))
            if is_random(word, least=8 if known else 20) or (
                known
                and len(word) >= 6
                and any(c.isdigit() for c in word)
                and not (word.isdigit() or is_code(word))
            ):
                yield *match.span(2), "cookie"
        pos = match_end(_BETWEEN, text, match.end(), end)
