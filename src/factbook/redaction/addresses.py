"""Find passwords and signatures in addresses; scheme, user and host stay readable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from factbook.redaction.formats import format_spans
from factbook.redaction.lazy import Lazy
from factbook.redaction.prose import is_shaped
from factbook.redaction.spans import Span
from factbook.redaction.values import is_random, is_stand_in, is_stop_word
from factbook.redaction.vocabulary import vocabulary

KINDS: Final = frozenset({"password", "secret", "token", "signature"})
HINT: Final = (
    r"://[^\s/:@\"'<>\\]*[:@]|[!-?A-~]@|:thin:|otpauth:"
    r"|[?&;](?:sig|signature|key|appid|code|hmac|sign|ticket|k|[Xx]-(?:[Aa]mz|[Gg]oog)-[Ss]|Signature)"
)

_KEY_CHARS: Final = 16  # a user of fewer is a name
_USERINFO: Final = Lazy(
    r"://([^\s/:@\"'<>\\`]{0,64}):((?:(?!;\w+=)[^\s/\"'<>`\\]){1,512})@(?=[\w.\[$%{(-])"
)
_USER_ALONE: Final = Lazy(r"://([A-Za-z0-9_+=.~%-]{16,256})@(?=[\w.\[$%{(-])")
_BEFORE_TCP: Final = Lazy(r"(?<![\w.-])[\w.-]{1,64}:([^\s:/\"'`]{1,128})@(?:tcp6?|unix)\(")
_BEFORE_HOST: Final = Lazy(  # bob:hunter2@10.0.0.3; node:18alpine is a name and a version
    r"(?<![\w./:@-])[\w.-]{1,64}:(?=[^@]{0,63}\d)(?!v?\d[\d.]*[a-z-]*@)([^\s:/@\"'`]{5,64})@(?=\d{1,3}\.\d{1,3}\.)"
)
# What stands beside a mail address, as its owner's password does: `ana@example.org / hunter2`.
_BESIDE_MAIL: Final = Lazy(
    r"@[\w-]{1,63}(?:\.[\w-]{1,63}){0,3}\.[A-Za-z]{2,12}(?: ?[:/|,] ?| (?:-|–|->|→) | )"
    r"([^\s\"'`/,;()<>]{6,64})"
)
_THIN: Final = Lazy(r":thin:[\w$#]{1,64}/([^\s/\"'`]{1,128})@")
_ONE_TIME: Final = Lazy(r"otpauth:[^\s\"'<>]{0,300}?[?&]secret=([A-Za-z2-7]{8,128})")
_PARAMETER: Final = Lazy(
    r"(?i)[?&;](sig|signature|key|appid|code|hmac|sign|ticket|k|x-(?:amz|goog)-(?:signature|security-token))="
    r"([^\s&\"'<>#\\`)\]}|;,]{1,4096})"
)
# What documentation writes where a password goes; `secret` and `hunter2` are passwords.
_EXAMPLES: Final = vocabulary(
    """
    password pass passwd pwd pw mypassword token user username x-oauth-basic
    """
)


def address_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password, token or signature of the address at a hint."""
    first = text[at]
    if first in "?&;":
        yield from _parameter_spans(text, at)
        return
    if text.startswith("@", at + 1):
        socket = text.startswith(("tcp", "unix"), at + 2)
        match = _BEFORE_TCP.search(text, max(0, at - 200), at + 8) if socket else None
        if match is None:
            before = _BEFORE_HOST.search(text, max(0, at - 140), at + 12)
            match = before if before is not None and before.end() > at + 1 else None
        beside = _BESIDE_MAIL.match(text, at + 1, at + 400)
        if beside is not None and is_shaped(beside[1]):
            yield *beside.span(1), "password"
    elif text.startswith("otpauth:", at):
        match = _ONE_TIME.match(text, at, at + 400)
    elif text.startswith(":thin:", at):
        match = _THIN.match(text, at)
    else:
        match = _USERINFO.match(text, at, at + 700)
        if match is None:
            match = _USER_ALONE.match(text, at, at + 200)
            named = text[max(0, at - 3) : at].lower() in {"ssh", "git", "sh", "scp", "ftp"}
            if match is not None and not named and is_random(match[1], least=_KEY_CHARS):
                yield *match.span(1), "token"
            return
        if len(match[1]) >= _KEY_CHARS:  # https://<token>:x-oauth-basic@host
            yield from format_spans(text, match.start(1), match.end(1))
    if match is None:
        return
    kind = "secret" if text.startswith("otpauth:", at) else "password"
    start, stop = match.span(match.lastindex or 0)
    word = text[start:stop]
    if not is_stand_in(word) and word.strip(".").lower() not in _EXAMPLES:
        yield start, stop, kind


def _parameter_spans(text: str, at: int) -> Iterator[Span]:
    """Give the signature or key among the parameters; those named `token` are found by name."""
    match = _PARAMETER.match(text, at, at + 4200)
    if match is None or is_stop_word(match[2]) or is_stand_in(match[2]):
        return
    if is_random(match[2], least=16):
        signed = "sig" in match[1].lower() or match[1].lower() == "hmac"
        yield *match.span(2), "signature" if signed else "token"
