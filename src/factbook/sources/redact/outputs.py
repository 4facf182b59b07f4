"""Find secrets that programs print, and those of files with a form of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from factbook.sources.redact.names import classify
from factbook.sources.redact.prose import is_plausible
from factbook.sources.redact.reading import line_end, read_quoted
from factbook.sources.redact.spans import Span
from factbook.sources.redact.values import is_random, is_stand_in

__all__ = ["HINT", "KINDS", "field_spans", "output_spans"]

KINDS: Final = frozenset({"password", "secret", "token"})
_PRINTS: Final = (
    r"(?:(?:echo|printf) [\"'\\]*\$\{?|(?:printenv|config:get) )[A-Za-z_]*"
    r"(?:PASS|TOKEN|SECRET|_KEY|PWD|Pass|pass|token|secret)",
    r"\bop read ",
    r"\bbase64 (?:-d|-D|--decode)",
    r"kubectl [a-z -]*get secrets? ",
    r"\b(?:go)?pass show ",
    r"-field=(?:pass|token|secret|key|value)",
    r"find-(?:generic|internet)-password ",
    r"get-secret-value ",
    r"versions access ",
    r"rand -(?:base64|hex) ",
    r"\b(?:pwgen|apg|mkpasswd|diceware)\b",
    r"cat [\w./~-]*(?:pass|secret|token|Passw)",
    r"\bbw get ",
    r"output -raw ",
    r"following (?:temporary |initial |generated )?(?:password|token)",
    r"\bget-value |\bsecretstore |doppler secrets get|get-parameter ",
)
HINT: Final = "|".join(_PRINTS) + (
    r"|WIFI:[A-Z]|Unseal Key|0x[0-9a-fA-F]{8}|[a-z]{4}-[a-z]{4}-[a-z]{4}-[a-z]{4}"
    r"|--token [a-z0-9]{6}\.|<<-? ?['\"\\]?[A-Z]+"
    r"|(?i:kubeadm|fernet)"
)
_BREAK: Final = re.compile(r"(?:[ \t]*(?:\r?\n|\\+r?\\*n)){1,3}[ \t]*")
_LINE: Final = re.compile(r"(\S{6,200}?)[ \t]*(?=\r?\n|\\+[nr]|[\"']?$|[\"'][,}\]])")
_LINE_END: Final = re.compile(r"\r?\n|\\+n")
_WIFI: Final = re.compile(r"WIFI:[^\s\"'<>]{0,120}?(?<=[;:])P:((?:[^;\\\s]|\\.){4,80});")
_UNSEAL: Final = re.compile(r"Unseal Key(?: \(will be hidden\)| \d{1,2})?: ?([A-Za-z0-9+/=]{20,})")
_HEX: Final = re.compile(r"0x[0-9a-fA-F]{64}(?![0-9a-fA-F])")
_WALLET: Final = re.compile(r"(?i)priv|wallet|signer|secret|deployer|mnemonic|\bpk\b|key")
_APPLE: Final = re.compile(r"(?<![\w-])[a-z]{4}(?:-[a-z]{4}){3}(?![\w-])")
_APPLE_NEAR: Final = re.compile(
    r"(?i)passw|apple|altool|notary|icloud|app-specific|\bpass|@keychain"
)
_KUBEADM: Final = re.compile(r"(?<![\w.])[a-z0-9]{6}\.[a-z0-9]{16}(?!\w)")
_FERNET: Final = re.compile(r"(?<![\w/+=-])[A-Za-z0-9_-]{43}=")
_HEREDOC: Final = re.compile(
    r"<<-? ?['\"\\]?([A-Z]+)['\"]?[^\n\\]{0,80}(?:\n|\\n)([\w.@-]{1,64})(?:\n|\\n)(\S{5,128}?)"
    r"(?:\n|\\n)\1"
)
_LATER: Final = re.compile(
    r"\\*[\"']?(?:,|: ?\{)(?:\s|\\+n)*(?:\\*[\"']\w{1,24}\\*[\"']\s*:\s*(?:\\*[\"'][^\"'\n]{0,60}"
    r"\\*[\"']|\w{1,12})\s*,(?:\s|\\+n)*){0,4}\\*[\"'](?:value|default)\\*[\"']\s*:\s*(?=\\*[\"'])"
)
_ELEMENT: Final = re.compile(
    r"(?:[\"'][^<>\n]{0,60})?(?:>|&gt;)\s*(?:</key>\s*<string>|<value>|<!\[CDATA\[|&lt;string&gt;)?\s*"
    r"([^<>\s&\]]{4,200}(?:&(?:amp|quot|apos);[^<>\s&\]]{0,200}){0,8})\s*(?=</|&lt;/|\]\]>)"
)
_CLOSES: Final = frozenset("\\\"'>& ")
_WORD: Final = re.compile(r"[\w.-]+")


def output_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the secret that was printed behind a hint, or that its form tells."""
    hint = text[at:end]
    if hint.startswith("WIFI"):
        found = _WIFI.match(text, at)
        if found is not None and not is_stand_in(found[1]):
            yield *found.span(1), "password"
    elif hint.startswith("Unseal"):
        found = _UNSEAL.match(text, at)
        if found is not None:
            yield *found.span(1), "secret"
    elif hint.startswith("0x"):
        found = _HEX.match(text, at)
        if found is not None and _WALLET.search(text, max(0, at - 60), at) is not None:
            yield *found.span(), "secret"
    elif hint.startswith("<<"):
        found = _HEREDOC.match(text, at, at + 400)
        if found is not None and is_plausible(found[3], quoted=False) and "=" not in found[3]:
            yield *found.span(3), "password"
    elif hint.startswith("--token") or hint.lower() in {"kubeadm", "fernet"}:
        pattern = _FERNET if hint.lower() == "fernet" else _KUBEADM
        for found in pattern.finditer(text, at, line_end(text, at, at + 300)):
            yield *found.span(), "token" if pattern is _KUBEADM else "secret"
    elif _APPLE.match(text, at) is not None:
        near = text[max(0, at - 120) : at]
        if _APPLE_NEAR.search(near) is not None:
            yield at, at + 19, "password"
    else:
        yield from _next_line_spans(text, end)


def _next_line_spans(text: str, end: int) -> Iterator[Span]:
    """Give the word that is alone in the line behind a command that prints a secret."""
    stop = _LINE_END.search(text, end, end + 300)
    gap = _BREAK.match(text, stop.start()) if stop is not None else None
    found = _LINE.match(text, gap.end(), gap.end() + 240) if gap is not None else None
    if found is None:
        return
    word = found[1]
    if is_plausible(word, quoted=False) and word[-1] not in ":," and word[0] not in "$#>+{[/*":
        yield *found.span(1), "secret"


def field_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the value of a named field when other fields or tags stand between name and value."""
    start = at
    while start > max(0, at - 64) and (text[start - 1].isalnum() or text[start - 1] in "_.-"):
        start -= 1
    found = _WORD.search(text, start, start + 96)
    if found is None or text[found.end() : found.end() + 1] not in _CLOSES:
        return
    name = classify(found[0])
    if name is None:
        return
    later = _LATER.match(text, found.end(), found.end() + 300)
    if later is not None:
        value = read_quoted(text, later.end())
        word = text[value.start : value.end] if value is not None else ""
        told = name.plain or is_random(word) or (bool(word) and is_plausible(word, quoted=False))
        if value is not None and len(word) >= 4 and told and not is_stand_in(word):
            yield value.start, value.end, name.kind
        return
    element = _ELEMENT.match(text, found.end(), found.end() + 300)
    if element is not None and not is_stand_in(element[1]):
        word = element[1]
        if is_plausible(word, quoted=False) or is_random(word) or not word.isascii():
            yield *element.span(1), name.kind
