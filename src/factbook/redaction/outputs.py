"""Find secrets that programs print, and those of files with a form of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from factbook.redaction.apart import file_kind
from factbook.redaction.lazy import Lazy
from factbook.redaction.reading import line_end, read_quoted
from factbook.redaction.shell import echoed
from factbook.redaction.spans import Span
from factbook.redaction.values import is_plausible, is_stand_in

KINDS: Final = frozenset({"password", "secret", "token"})
_PRINTS: Final = (
    r"(?:echo|printf) |printenv |config:get ",
    r"\.write(?:_text)?\(\\?[\"']|-Value \\?[\"']",
    r"op read ",
    r"base64 (?:-d|-D|--decode)",
    r"get secrets? ",
    r"pass show ",
    r"-field=(?:pass|token|secret|key|value)",
    r"find-(?:generic|internet)-password ",
    r"get-secret-value ",
    r"versions access ",
    r"rand -(?:base64|hex) ",
    r"pwgen|mkpasswd|diceware",
    r"cat [\w./~]",
    r"bw get ",
    r"output -raw ",
    r"following (?:temporary |initial |generated )?(?:password|token)",
    r"get-value |secretstore |doppler secrets get|get-parameter ",
)
HINT: Final = "|".join(_PRINTS) + (
    r"|WIFI:[A-Z]|Unseal Key|0x[0-9a-fA-F]{8}"
    r"|--token [a-z0-9]{6}\.|<<-? ?['\"\\]?[A-Z]+"
    r"|[0-9]{6}-[0-9]{6}-[0-9]{6}-|kubeadm|[fF]ernet|(?:ecovery|ackup) codes?|ap-secrets"
    r"|: (?:PSK|EAP|XAUTH) "
)
# Hints are short, so that the automaton stays small. Of these commands some print a secret: those
# that name one.
_SECRETLY: Final = r"[A-Za-z_]*(?:PASS|TOKEN|SECRET|_KEY|PWD|Pass|pass|token|secret)"
_NARROW: Final = tuple(
    (first, Lazy(pattern))
    for first, pattern in (
        ("echo", rf"echo [\"'\\]*\$\{{?{_SECRETLY}"),
        ("printf", rf"printf [\"'\\]*\$\{{?{_SECRETLY}"),
        ("printenv", rf"printenv {_SECRETLY}"),
        ("config:get", rf"config:get {_SECRETLY}"),
        ("get secret", r"get secrets? [^\n]{0,160}(?:-o|--output|\|)"),
        ("cat", r"cat [\w./~-]{0,120}(?:pass|secret|token|Passw)"),
    )
)
_BREAK: Final = Lazy(r"(?:[ \t]*(?:\r?\n|\\+r?\\*n)){1,3}[ \t+]*")
_LINE: Final = Lazy(r"(\S{6,200}?)(?![^\s\\\"'])[ \t]*(?=\r?\n|\\+[nr]|[\"']?$|[\"'][,}\]])")
_LINE_END: Final = Lazy(r"\r?\n|\\+n")
_WIFI: Final = Lazy(r"WIFI:[^\s\"'<>]{0,120}?(?<=[;:])P:((?:[^;\\\s]|\\.){4,80});")
_UNSEAL: Final = Lazy(r"Unseal Key(?: \(will be hidden\)| \d{1,2})?: ?([A-Za-z0-9+/=]{20,})")
_HEX: Final = Lazy(r"0x[0-9a-fA-F]{64}(?![0-9a-fA-F])")
_WALLET: Final = Lazy(r"(?i)priv|wallet|signer|secret|deployer|mnemonic|\bpk\b|key")
_BITLOCKER: Final = Lazy(r"(?<![\d-])\d{6}(?:-\d{6}){7}(?![\d-])")
_KUBEADM: Final = Lazy(r"(?<![\w.])[a-z0-9]{6}\.[a-z0-9]{16}(?!\w)")
_FERNET: Final = Lazy(r"(?<![\w/+=-])[A-Za-z0-9_-]{43}=")
_CODES: Final = Lazy(
    r"(?: \w++(?!-)){0,3}[:=]?[\s`]*"
    r"((?:(?:[-*] |\d\. )?(?:[0-9A-Za-z]{4,8}(?:-[0-9A-Za-z]{4,8})+|\d{4} ?\d{4})(?![\w-])"
    r"(?:[\s,]|and |or )*){1,16})"
)
_PLAIN_PART: Final = Lazy(r"(?:^|-)(?:[A-Z]?[a-z]+(?:$|-)|(?:19|20)\d\d-\d)")  # of no code
_CODE: Final = Lazy(r"[0-9A-Za-z]{4,8}(?:-[0-9A-Za-z]{4,8})+|\d{4} ?\d{4}")
_PEER: Final = Lazy(r"(?m)^[\w.@*\"-]+[ \t]+[\w.*\"-]+[ \t]+(\"?)([^\s\"]{3,128})\1[ \t]+[\d.*]+")
_HEREDOC: Final = Lazy(
    r"<<-? ?['\"\\]?([A-Z]+)['\"]?[^\n\\]{0,80}(?:\n|\\+n)(?P<user>[\w.@-]{1,64})(?:\n|\\+n)"
    r"(?P<word>\S{4,128}?)(?:\n|\\+n)\1"
)
_ONE_LINE: Final = Lazy(
    r"<<-? ?['\"\\]?([A-Z]+)['\"]?(?P<rest>[^\n\\]{0,80}+)(?:\n|\\+n)[ \t]*+"
    r"(?P<word>[^\n\\]{4,128}+)(?:\n|\\+n)[ \t]*\1"
)
_INTO: Final = Lazy(r"(?:>>?|\|[ \t]*(?:sudo )?tee )[ \t]*([^|;&<>\n]{1,120})")
_AUTH_FILE: Final = Lazy(r"[>/ ][\w.-]*(?i:auth|cred|passw|login|secret|userpass)[\w.-]*")


def output_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the secret that was printed behind a hint, or that its form tells."""
    hint = text[at:end]
    if hint.startswith("WIFI"):
        match = _WIFI.match(text, at)
        if match is not None and not is_stand_in(match[1]):
            yield *match.span(1), "password"
    elif hint.startswith("Unseal"):
        match = _UNSEAL.match(text, at)
        if match is not None:
            yield *match.span(1), "secret"
    elif hint[0].isdigit():
        match = _BITLOCKER.match(text, at)
        if match is not None:
            yield *match.span(), "secret"
    elif hint.startswith("0x"):
        match = _HEX.match(text, at)
        if match is not None and _WALLET.search(text, max(0, at - 60), at) is not None:
            yield *match.span(), "secret"
    elif hint.endswith((" code", " codes")):
        match = _CODES.match(text, end, end + 400)
        if match is not None:
            codes = list(_CODE.finditer(text, *match.span(1)))
            for code in codes:
                if len(codes) > 1 or _PLAIN_PART.search(code[0]) is None:
                    yield *code.span(), "secret"
    elif hint.endswith("ap-secrets"):
        for match in _PEER.finditer(text, end, end + 400):
            yield *match.span(2), "password"
    elif hint.startswith(": "):
        value = read_quoted(text, end)
        word = text[value.start : value.end] if value is not None else ""
        if value is not None and word and not is_stand_in(word):
            yield value.start, value.end, "password"
    elif hint.startswith("<<"):
        yield from _heredoc_spans(text, at)
    elif hint[0] in ".-" and hint[-1] in "\"'":
        value = read_quoted(text, end - 2 if text[end - 2] == "\\" else end - 1)
        if value is not None:
            yield from _kept_spans(text[max(0, at - 120) : at], text, value.start, value.end)
    elif hint.startswith("--token") or hint.lower() in {"kubeadm", "fernet"}:
        pattern = _FERNET if hint.lower() == "fernet" else _KUBEADM
        for match in pattern.finditer(text, at, line_end(text, at, at + 300)):
            yield *match.span(), "token" if pattern is _KUBEADM else "secret"
    else:
        if hint.startswith(("echo", "printf")):
            yield from _written_spans(text, at)
        yield from _next_line_spans(text, at, end)


def _heredoc_spans(text: str, at: int) -> Iterator[Span]:
    """Give what goes into a file: the second of two lines, user and password, or the only one."""
    line = _ONE_LINE.match(text, at, at + 400)
    if line is not None:
        command = text[max(text.rfind("\n", 0, at) + 1, at - 120) : at] + line["rest"]
        yield from _kept_spans(command, text, *line.span("word"))
    match = _HEREDOC.match(text, at, at + 400)
    if match is None or "=" in match["word"] or is_stand_in(match["word"]):
        return
    # The name of the file may stand on either side: cat > auth.txt <<EOF, cat <<EOF > auth.txt
    told = _AUTH_FILE.search(text, max(0, at - 80), match.start("user")) is not None
    if told or is_plausible(match["word"], quoted=False):
        yield *match.span("word"), "password"


def _written_spans(text: str, at: int) -> Iterator[Span]:
    """Give what `echo` writes into a file whose name says that it is a secret."""
    stop = line_end(text, at, at + 400)
    into = _INTO.search(text, at, stop)
    if into is not None:
        for first, last in echoed(text, at, into.start()):
            yield from _kept_spans(text[into.start(1) : stop], text, first, last)


def _kept_spans(command: str, text: str, start: int, end: int) -> Iterator[Span]:
    """Give what a command keeps, when a name in it says that it is a secret."""
    kind = file_kind(command, text[start:end])
    if kind is not None and text.count(":", start, end) < 2:  # fields have their own finders
        yield start, end, kind


def _next_line_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the word that is alone in the line behind a command that prints a secret."""
    for first, whole in _NARROW:
        if text.startswith(first, at) and whole.match(text, at) is None:
            return
    stop = _LINE_END.search(text, end, end + 300)
    gap = _BREAK.match(text, stop.start()) if stop is not None else None
    match = _LINE.match(text, gap.end(), gap.end() + 240) if gap is not None else None
    if match is None:
        return
    word, line = match[1], text[text.rfind("\n", 0, at) + 1 : at]
    if line.lstrip().startswith(word):
        return  # the prompt of the shell again: nothing was printed
    if is_plausible(word, quoted=False) and word[-1] not in ":," and word[0] not in "$#>+{[/*`":
        yield *match.span(1), "secret"
