"""Find secrets that source code passes by their place: `smtp.login(user, "...")`, SQL's INSERT."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from factbook.redaction.lazy import Lazy
from factbook.redaction.names import classify
from factbook.redaction.reading import match_end, read_quoted
from factbook.redaction.spans import Span
from factbook.redaction.values import is_mixed, is_stand_in, is_stop_word, speaks_of_a_secret

KINDS: Final = frozenset({"password", "secret", "cookie"})
# What is called, and which of its arguments is the secret, from 0.
_CALLS: Final[tuple[tuple[str, int], ...]] = (
    (r"mysqli?_p?(?:real_)?connect\(", 2),
    (r"new \\{0,4}(?:mysqli|PDO)\(", 2),
    (r"getConnection\(", 2),
    (r"\b[lL]ogin\(", 1),
    (r"hashSync\(|hashpw\(|bcrypt\.hash\(|password_hash\(", 0),
    (r"etworkCredential\(", 1),
    (r"Credentials?\(", 1),
    (r"AuthenticationToken\(", 1),
    (r"WiFi\.begin\(", 1),
    (r"softAP\(", 1),
    (r"(?:jwt|JWT)\.(?:sign|encode|verify|decode)\(", 1),
    (r"Wallet\(", 0),
    (r"Fernet\(", 0),
    (r"username_pw_set\(", 1),
    (r"createHmac\(", 1),
    (r"hmac\.new\(", 0),
    (r"AES\.(?:en|de)crypt\(", 1),
    (r"createConnection\(|create_(?:super)?user\(", 2),
    (r"sp_addlogin ", 1),
    (r"ssh\w{0,10}\.connect\(|paramiko\.connect\(|client\.connect\(", 3),
    (r"from_key\(|privateKeyToAccount\(", 0),
)
HINT: Final = (
    "|".join(hint for hint, _ in _CALLS)
    + r"|(?i:insert into |replace into )|(?:send_keys|sendKeys|\.fill|\.type|setValue)\("
    + r"|(?i:cookies?)[\"']?(?: ?= ?|: ?|\()\{|django-insecure-|(?i:wp_)?_(?:KEY|SALT)['\"],"
)
_PLACES: Final = tuple((Lazy(hint), place) for hint, place in _CALLS)
_BLANK: Final = Lazy(r"\s*")
_COMMA: Final = Lazy(r"\s*,\s*")
_ARGUMENT: Final = Lazy(
    r"\s*+(?:\\*\"(?:[^\"\\\n]|\\.){0,200}\"|'[^'\n]{0,200}'|\{[^{}\n]{0,200}\}|[^,(){}\"'\n]{1,120}+"
    r"(?:\([^()\n]{0,80}\))?+[^,(){}\"'\n]{0,40}+)\s*,\s*"
)
_STRING: Final = Lazy(r"\s*(?:\w{1,20}\s*=\s*)?(?:[bruBRU@L]{1,2}(?=\\*[\"']))?")
_INSERT: Final = Lazy(
    r"(?i)(?:insert|replace) into [\w.`\"\[\]\\]{1,80}\s*\(([^()]{1,400})\)\s*values\s*"
)
_CELL: Final = Lazy(r"\s*(?:[^,()'\"\\]{0,80}(?:\([^()]{0,80}\))?)\s*")
_ROWS: Final = 64
_FORM: Final = Lazy(r"(?i)passw|passcode|passphrase|\bpwd\b|secret|token|\botp\b")
_DICT_COOKIE: Final = Lazy(r"\s*\\*[\"']([\w.$-]{1,64})\\*[\"']\s*:\s*(?=\\*[\"'])")
_COOKIE_NAME: Final = Lazy(r"(?i)sess|sid\b|sid$|auth|token|jwt|csrf|xsrf|remember|login")
_DJANGO: Final = Lazy(r"django-insecure-([^\s\"'\\]{20,100})")
_SALT_NAME: Final = Lazy(r"(?:AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)['\"],")


def call_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the secret of the call at a hint."""
    hint = text[at:end]
    if hint.startswith("django"):
        match = _DJANGO.match(text, at)
        if match is not None:
            yield at, match.end(), "secret"
    elif hint[0] == "_" or hint.startswith(("wp_", "WP_")):
        if _SALT_NAME.search(text, max(0, at - 24), end) is not None:
            yield from _string(text, match_end(_STRING, text, end), "secret", least=20)
    elif hint.lower().endswith("into "):
        yield from _insert_spans(text, at)
    elif hint[-1] == "{":
        yield from _cookie_spans(text, end)
    elif re.match(r"send|\.fill|\.type|setV", hint):
        yield from _form_spans(text, at, end)
    else:
        for pattern, place in _PLACES:
            if pattern.match(text, at) is not None:
                yield from _argument_spans(text, end, place)
                return


def _string(text: str, pos: int, kind: str, *, least: int = 4) -> Iterator[Span]:
    """Give the literal at `pos`, unless it stands for a secret."""
    value = read_quoted(text, pos)
    if value is None or value.end - value.start < least:
        return
    word = text[value.start : value.end]
    told = is_stand_in(word) if least < 20 else False
    if told or is_stop_word(word) or (speaks_of_a_secret(word) and not is_mixed(word)):
        return
    yield value.start, value.end, kind


def _argument_spans(text: str, pos: int, place: int) -> Iterator[Span]:
    for _ in range(place):
        value = read_quoted(text, match_end(_STRING, text, pos), within=300)
        match = (
            _ARGUMENT.match(text, pos, pos + 500)
            if value is None
            else _COMMA.match(text, value.after, value.after + 40)
        )
        if match is None:
            return
        pos = match.end()
    yield from _string(text, match_end(_STRING, text, pos), "password" if place else "secret")


def _form_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give what a script types into the field of a password."""
    low = max(text.rfind("\n", max(0, at - 160), at) + 1, at - 160, 0)
    match = _ARGUMENT.match(text, end, end + 240)
    if match is not None and _FORM.search(match[0]) is not None:
        yield from _string(text, match.end(), "password")
        return
    fields = re.split(r"[;]|\)\.(?:fill|type|send)", text[low:at])
    if _FORM.search(fields[-1]) is not None:
        yield from _string(text, match_end(_STRING, text, end), "password")


def _insert_spans(text: str, at: int) -> Iterator[Span]:
    """Give the passwords that a statement inserts."""
    match = _INSERT.match(text, at, at + 600)
    if match is None:
        return
    names = [classify(name.strip(" `\"'[]\\\n\t")) for name in match[1].split(",")]
    pos = match.end()
    for _ in range(_ROWS):
        if text[pos : pos + 1] != "(":
            return
        pos += 1
        for name in names:
            pos = match_end(_BLANK, text, pos)
            value = read_quoted(text, pos, within=400)
            if value is not None:
                word = text[value.start : value.end]
                if name is not None and len(word) >= 4 and not is_stand_in(word):
                    yield value.start, value.end, name.kind
                pos = value.after
            pos = match_end(_CELL, text, pos)
            if text[pos : pos + 1] not in {",", ")"}:
                return
            pos += 1
        more = _COMMA.match(text, pos)
        if more is None:
            return
        pos = more.end()


def _cookie_spans(text: str, pos: int) -> Iterator[Span]:
    """Give the cookies that open a session, in a dictionary of them."""
    for _ in range(32):
        match = _DICT_COOKIE.match(text, pos, pos + 120)
        value = read_quoted(text, match.end()) if match is not None else None
        if match is None or value is None:
            return
        word = text[value.start : value.end]
        known = _COOKIE_NAME.search(match[1]) is not None
        if known and len(word) >= 6 and is_mixed(word) and not is_stand_in(word):
            yield value.start, value.end, "cookie"
        if text[value.after : value.after + 1] != ",":
            return
        pos = value.after + 1
