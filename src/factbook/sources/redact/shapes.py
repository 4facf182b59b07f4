"""Find secrets by the shape around them: addresses, key blocks, web tokens, password files."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from factbook.sources.redact.headers import scheme_span
from factbook.sources.redact.values import (
    is_measure,
    is_mixed,
    is_random,
    is_stand_in,
    is_stop_word,
    is_wordy,
)

Span = tuple[int, int, str]

KINDS: Final = frozenset({"password", "token", "private-key", "jwt", "signature", "secret", "authorization"})

# ------------------------------------------------------------------------------------- addresses

ADDRESS_HINT: Final = (
    r"://(?:[^\s/:@\"'<>\\]{0,64}:[^\s/\"'<>]{1,128}@|[A-Za-z0-9_-]{16,80}@)|@(?:tcp|tcp6|unix)\(|:thin:"
)
_USERINFO: Final = re.compile(r"""://([^\s/:@"'<>\\`]{0,64}):([^\s/"'<>`\\]{1,512})@(?=[\w.\[$%{(-])""")
_ALONE: Final = re.compile(r"""://([A-Za-z0-9_-]{16,128})@(?=[\w.\[$%{(-])""")
_BEFORE_TCP: Final = re.compile(r"""[\w.-]{1,64}:([^\s:/"'`@]{1,128})@$""")
_THIN: Final = re.compile(r""":thin:[\w$#]{1,64}/([^\s@"'`]{1,128})@""")


def address_spans(text: str, at: int) -> Iterator[Span]:
    """Give the password of an address with credentials; user and host stay readable."""
    if text.startswith("@", at):
        found = _BEFORE_TCP.search(text, max(0, at - 200), at + 1)
    elif text.startswith(":thin:", at):
        found = _THIN.match(text, at)
    else:
        found = _USERINFO.match(text, at, at + 700)
        if found is None:
            alone = _ALONE.match(text, at, at + 200)
            if alone is not None and is_random(alone[1], least=16):
                yield *alone.span(1), "token"
            return
        found_user = found[1]
        if is_stand_in(found_user) and is_stop_word(found[2]):
            return
    if found is None:
        return
    start, end = found.span(found.lastindex or 0)
    word = text[start:end][:256]
    stood = is_stand_in(word) or word.strip(".").lower() in _EXAMPLES
    if not stood:
        yield start, end, "password"


_EXAMPLES: Final = frozenset(
    {"password", "pass", "passwd", "pwd", "pw", "yourpassword", "mypassword", "<password>", "token", "user", "username"}
)

# ------------------------------------------------------------------------------------ key blocks

BLOCK_HINT: Final = r"-----(?:BEGIN|END) |---- BEGIN SSH2|Private-Lines:|LS0tLS1CRUdJTi|\"kty|kty\\"
_BEGIN: Final = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----")
_END: Final = re.compile(r"-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----|---- END SSH2 ENCRYPTED PRIVATE KEY ----")
_BLOCK: Final = 32_768
# Between the lines of a key stand real or escaped line breaks, and what a viewer, a diff or a
# string literal puts there.
_BREAK: Final = r"""(?:\\+[nrt]|[\s"'+,>|#*;:→│`-]|\\(?=[\s"'])|\d{1,5}(?=[→:\t|│]))*"""
_HEADER: Final = r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|Subject|x-[\w-]+)\s?:(?:[^\n\\]|\\(?!n)){0,120})"
_BODY: Final = re.compile(rf"{_BREAK}(?:{_HEADER}{_BREAK})*((?:(?:[A-Za-z0-9/+=]{{20,}}){_BREAK})+(?:[A-Za-z0-9/+=]{{2,}})?)")
_LETTERS: Final = re.compile(r"[A-Za-z0-9+/]{10,}")
_TAIL_LINE: Final = re.compile(r"(?:^|\n|\\n|[\"'\s])([A-Za-z0-9+/=]{16,})(?:\s|\\+[nr]|[\"',+>|#*;:→│`-])*$")


def block_spans(text: str, at: int) -> Iterator[Span]:
    """Give a private key block, also one that was cut at either end."""
    if text.startswith("LS0t", at):
        yield from _encoded_block(text, at)
    elif text.startswith("Private-Lines:", at):
        found = _PUTTY.match(text, at, at + _BLOCK)
        if found is not None:
            yield *found.span(1), "private-key"
    elif text[at : at + 5] in {'"kty"', 'kty\\"', '"kty\\', '"kty'}:
        yield from _json_key(text, at)
    elif text.startswith("-----END", at):
        if _END.match(text, at) is not None:
            yield from _block_tail(text, at)
    else:
        begun = _BEGIN.match(text, at)
        if begun is None:
            return
        closed = _END.search(text, begun.end(), begun.end() + _BLOCK)
        other = text.find("-----BEGIN", begun.end(), closed.start() if closed else begun.end() + _BLOCK)
        if closed is not None and other < 0:
            inside = text[begun.end() : closed.start()]
            if _is_key_body(inside):
                yield at, closed.end(), "private-key"
            return
        body = _BODY.match(text, begun.end(), begun.end() + _BLOCK)
        if body is not None:
            yield at, body.end(1), "private-key"


_PUTTY: Final = re.compile(r"Private-Lines: ?\d+(?:\\+[nr]|\s)*((?:[A-Za-z0-9+/=]{4,}(?:\\+[nr]|\s)+)*[A-Za-z0-9+/=]{4,}(?:(?:\\+[nr]|\s)+Private-MAC: ?[0-9a-f]+)?)")
_CLEAN: Final = re.compile(rf"{_HEADER}|\\+[nrt]|[\s\"'+,>|#*;:→│`\\-]|\d{{1,5}}(?=[→:\t|│])")


def _is_key_body(inside: str) -> bool:
    """Tell whether what stands between the marks is a key and not code or an ellipsis."""
    bare = _CLEAN.sub("", inside)
    if len(bare) < 8 or is_stand_in(bare[:256]) or "..." in inside:
        return False
    letters = sum(c.isalnum() or c in "+/=" for c in bare)
    if letters < 0.97 * len(bare):
        return False
    longest = max((len(run) for run in _LETTERS.findall(inside)), default=0)
    return longest >= 10


def _block_tail(text: str, at: int) -> Iterator[Span]:
    """Give the lines of a key whose beginning was cut off."""
    start = at
    lowest = max(0, at - _BLOCK)
    while start > lowest:
        line = _TAIL_LINE.search(text, max(lowest, start - 120), start)
        if line is None or line.start(1) >= start:
            break
        start = line.start(1)
    if at - start >= 24:
        yield start, at, "private-key"


_ENCODED: Final = re.compile(r"[A-Za-z0-9+/=_-]{64,}")


def _encoded_block(text: str, at: int) -> Iterator[Span]:
    """Give a private key block that is base64 as a whole, as Kubernetes writes it."""
    found = _ENCODED.match(text, at, at + 4 * _BLOCK)
    if found is None:
        return
    try:
        head = base64.b64decode(found[0][:60], validate=True)
    except (binascii.Error, ValueError):
        return
    if b"PRIVATE KEY" in head:
        yield at, found.end(), "private-key"


_JWK_PART: Final = re.compile(r"""\\*"(?:d|p|q|dp|dq|qi|k)\\*"\s*:\s*\\*"([A-Za-z0-9_-]{16,})""")


def _json_key(text: str, at: int) -> Iterator[Span]:
    """Give the private numbers of a JSON Web Key."""
    low = max(text.rfind("{", max(0, at - 4096), at), 0)
    high = text.find("}", at, at + 8192)
    if high < 0:
        high = min(len(text), at + 8192)
    for found in _JWK_PART.finditer(text, low, high):
        yield *found.span(1), "private-key"


# ------------------------------------------------------------------------------------ web tokens

TOKEN_HINT: Final = r"eyJ[A-Za-z0-9_-]{4}"
_JWT: Final = re.compile(r"eyJ[A-Za-z0-9_-]{8,}={0,2}\.[A-Za-z0-9_-]{8,}={0,2}(?:\.[A-Za-z0-9_-]*={0,2}){0,3}")
_PARTS: Final = 16_384


def token_spans(text: str, at: int) -> Iterator[Span]:
    """Give a JSON Web Token (signed or encrypted), also one that was cut behind its payload."""
    found = _JWT.match(text, at, at + _PARTS)
    if found is None:
        return
    parts = found[0].split(".")
    if len(parts) < 3 and not parts[1].startswith("eyJ"):
        return
    yield at, found.end() - (1 if found[0].endswith(".") and len(parts) == 3 and not parts[2] else 0), "jwt"


# ---------------------------------------------------------------------------- schemes, SQL, files

SCHEME_HINT: Final = r"\b(?:[Bb]earer|BEARER|Basic) [A-Za-z0-9]"


def bearer_spans(text: str, at: int) -> Iterator[Span]:
    """Give the credentials behind a scheme that stands without its header's name."""
    end = text.find("\n", at, at + 8192)
    span = scheme_span(text, at, end if end >= 0 else min(len(text), at + 8192))
    if span is None:
        return
    word = text[span[0] : span[1]]
    if is_random(word, least=12) or text[at : at + 5] == "Basic" or is_mixed(word) and len(word) >= 16:
        yield span


QUERY_HINT: Final = (
    r"[?&;](?:sig|signature|key|code|auth|hmac|sign|ticket|jwt|sas|k|st|pass|pw|[Xx]-[Aa]mz-[Ss]ignature|[Xx]-[Aa]mz-[Ss]ecurity-[Tt]oken"
    r"|[Xx]-[Gg]oog-[Ss]ignature|Signature|client_secret)="
)
_QUERY: Final = re.compile(r"""[?&;]([\w-]{1,32})=([^\s&"'<>#\\`)\]}|;,]{1,4096})""")


def query_spans(text: str, at: int) -> Iterator[Span]:
    """Give the signature or key in the parameters of an address."""
    found = _QUERY.match(text, at, at + 4200)
    if found is None:
        return
    name, word = found[1].lower(), found[2]
    least = 16 if name in {"sig", "signature", "key", "code", "k", "sign", "auth", "ticket", "st"} else 8
    if not is_stand_in(word[:256]) and is_random(word, least=least):
        yield *found.span(2), "signature" if "sig" in name or name == "hmac" else "token"


FILE_HINT: Final = (
    r"(?i:login|user|username|account)(?:[ \t\r\n]|\\n){1,8}[^\s\\]{1,64}(?:[ \t\r\n]|\\n){1,8}(?i:password|passwd)[ \t]"
    r"|:(?:54[0-9][0-9]|6432|\*):[^:\s/]{1,40}:[^:\s/]{1,40}:"
    r"|(?i:identified (?:with [a-z0-9_]{1,40} )?(?:by|as)) "
)
_NETRC: Final = re.compile(r"""(?i)\w+(?:\s|\\n)+([^\s\\]+)(?:\s|\\n)+(?:password|passwd)[ \t]+([^\s"'\\]+)""")
_PGPASS: Final = re.compile(r":(?:54\d\d|6432|\*):([^:\s/]{1,40}):([^:\s/]{1,40}):((?:[^:\s\"'\\]|\\[:\\])+)")
_IDENTIFIED: Final = re.compile(r"""(?i)identified (?:with \w+ )?(?:by|as) (?:password )?(\\*["'])([^"'\\\n]{1,256})""")


def file_spans(text: str, at: int) -> Iterator[Span]:
    """Give the passwords of .netrc, .pgpass and SQL's CREATE USER."""
    if text[at] == ":":
        found = _PGPASS.match(text, at, at + 400)
        # Compilers and grep also write `name:number:...`; a password file's line has no more parts.
        if found is not None and text[found.end() : found.end() + 1] in {"", "\n", "\r", "\\", '"', "'"}:
            word = found[3]
            if not is_stand_in(word) and not is_measure(word) and len(word) >= 3:
                yield *found.span(3), "password"
        return
    found = _IDENTIFIED.match(text, at, at + 400)
    if found is not None:
        if not is_stand_in(found[2]):
            yield *found.span(2), "password"
        return
    found = _NETRC.match(text, at, at + 400)
    if found is None:
        return
    user, word = found[1], found[2]
    if is_stop_word(user) or is_stand_in(word) or is_stop_word(word) or len(word) < 3:
        return
    if is_mixed(word) or re.search(r"(?i)machine\s+\S+\s+$|default\s+$", text[max(0, at - 120) : at]):
        yield *found.span(2), "password"


LOGIN_HINT: Final = (
    r"(?i:credentials?|creds|log(?:ged)?[ -]?in(?: with| as| using)?|sign(?:ed)? in (?:with|as)|username/password|user/pass(?:word)?|user:pass(?:word)?)"
    r"[\s:=(`*\"'\\|is]{1,8}[A-Za-z0-9_.@+-]{2,40} ?[/:] ?[^\s/]"
)
_LOGIN: Final = re.compile(
    r"""(?i)[a-z/: -]{4,24}?[\s:=(`*"'\\|]{1,6}(?:(?:is|are|with|as|using)[\s:`"']{1,4})?[\w.@+-]{2,40}?\s?[/:]\s?([^\s"'`\\,)]{4,64})"""
)


def login_spans(text: str, at: int) -> Iterator[Span]:
    """Give the password of a pair in prose, such as `credentials: admin/hunter2`."""
    found = _LOGIN.match(text, at, at + 200)
    if found is None:
        return
    start, end = found.span(1)
    word = text[start:end].rstrip(".,;:!?)")
    end = start + len(word)
    if (
        len(word) >= 5
        and any(c.isdigit() for c in word)
        and any(c.isalpha() for c in word)
        and "/" not in word
        and ":" not in word
        and not is_stand_in(word)
        and not is_measure(word)
        and not (is_wordy(word) and "." in word)
    ):
        yield start, end, "password"
