"""Generate lines that hold planted secrets, and lookalikes that hold none.

`generate` fills the templates of `secret_templates` with values of `secret_values` and keeps the
position of every secret; part of the lines is then wrapped as session logs wrap them (a prompt, a
tool call in JSON, escaped JSON in JSON, numbered lines, a diff), with the positions carried along.
The same seed gives the same lines. Knows nothing of any redactor: a line stays as it is whether or
not something finds its secret.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle

from bench import secret_values as values
from bench.secret_templates import BENIGN, COMMANDS, TEXTS

DEFAULT_LINES = 1_200
DEFAULT_BENIGN = 800
WRAPPED_SHARE = 0.3  # how many lines stand inside a prompt, a tool call, a file listing or a diff
LONGEST_SPLIT = 8  # lines of a key block that a line prefix may cut apart

Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretLine:
    """A line or a small block of lines with what is planted in it."""

    text: str  # the line as a log would hold it
    spans: tuple[Span, ...]  # (start, end, kind) of every planted secret, in order, as quoted there
    values: tuple[str, ...]  # the same secrets before quoting and escaping
    family: str  # the form in which the secret stands


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of a line: filler, or one secret."""

    text: str  # as it stands in the line
    kind: str = ""  # the kind of the secret; empty for filler
    value: str = ""  # the secret before quoting


_TOKEN = re.compile(r"«(?P<secret>[^»]+)»|‹(?P<filler>[^›]+)›")
_SHAPE = re.compile(r"([AUBHCLlDTX])(\d+)")
_NOUN_LIST = """
billing orders catalog search gateway payments reports notifier worker scheduler inventory frontend
backend portal analytics shipping crawler metrics archive mailer tickets uploads ledger profile
pricing invoices dispatch warehouse sensors telemetry planner forum wiki
"""
_NOUNS = tuple(_NOUN_LIST.split())
_PEOPLE = ("deploy", "admin", "root", "ubuntu", "jonas", "mila", "svc_app", "backup", "ci-bot")
_DOMAINS = (
    "northwind.io",
    "lab.local",
    "corp.internal",
    "acme-shop.com",
    "hexbyte.dev",
    "fieldnote.org",
)
_TITLES = (
    "how to migrate a monorepo without tears",
    "building a faster search index in rust",
    "why our nightly backup took nine hours",
    "a guide to zero downtime deployments",
    "notes on event sourcing and snapshots",
)


def _pem(rng: random.Random, label: str, n: int) -> str:
    body = values.chars(rng, values.ALPHABETS["B"], n)
    lines = [body[i : i + 64] for i in range(0, n, 64)]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])


def _ip(rng: random.Random) -> str:
    head = rng.choice(["10.{}", "192.168", "172.{}"]).format(rng.randrange(16, 31))
    return f"{head}.{rng.randrange(256)}.{rng.randrange(1, 255)}"


def _host(rng: random.Random) -> str:
    if rng.random() < 0.2:
        return _ip(rng)
    return (
        f"{rng.choice(_NOUNS)}{rng.choice(['', '-01', '2', '.eu', '-prod'])}.{rng.choice(_DOMAINS)}"
    )


def _date(rng: random.Random) -> str:
    return f"2026-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"


def _hex(rng: random.Random, n: int) -> str:
    return values.chars(rng, values.ALPHABETS["H"], n)


def _uuid(rng: random.Random) -> str:
    h = _hex(rng, 32)
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-9{h[17:20]}-{h[20:]}"


_FILLERS: dict[str, Callable[[random.Random], str]] = {
    "word": lambda rng: rng.choice(_NOUNS),
    "Word": lambda rng: rng.choice(_NOUNS).capitalize(),
    "user": lambda rng: rng.choice(_PEOPLE),
    "host": _host,
    "domain": lambda rng: rng.choice(_DOMAINS),
    "ip": _ip,
    "email": lambda rng: f"{rng.choice(_PEOPLE)}@{rng.choice(_DOMAINS)}",
    "path": lambda rng: "/" + "/".join(["srv", *rng.sample(_NOUNS, 2), f"v{rng.randrange(1, 20)}"]),
    "num": lambda rng: str(rng.randrange(100, 100_000)),
    "date": _date,
    "ts": lambda rng: f"{_date(rng)}T{rng.randrange(24):02}:{rng.randrange(60):02}:07.413Z",
    "sha": lambda rng: _hex(rng, 40),
    "sha7": lambda rng: _hex(rng, 7),
    "sha256": lambda rng: _hex(rng, 64),
    "uuid": _uuid,
    "UUID": lambda rng: _uuid(rng).upper(),
    "mac": lambda rng: ":".join(_hex(rng, 2) for _ in range(6)),
    "slug": lambda rng: rng.choice(_TITLES).replace(" ", "-"),
    "certificate": lambda rng: _pem(rng, "CERTIFICATE", 640),
    "public_key": lambda rng: _pem(rng, "PUBLIC KEY", 392),
}


@dataclass(slots=True)
class _Filler:
    """Fill one template after another from one stream of chance."""

    rng: random.Random
    _any: Iterator[values.Provider] = field(init=False)
    _distinct: Iterator[values.Provider] = field(init=False)

    def __post_init__(self) -> None:
        """Shuffle the providers, so that every one of them is planted in turn."""
        every = list(values.PROVIDERS)
        self.rng.shuffle(every)
        self._any = cycle(every)
        self._distinct = cycle([p for p in every if p.distinct])

    def fill(self, template: str) -> list[_Piece]:
        """Replace the tokens of a template; secrets become pieces of their own."""
        provider = next(self._any) if "«provider»" in template else None
        name_of = provider or self.rng.choice(values.PROVIDERS)
        name = self.rng.choice(name_of.names)
        known: dict[str, str] = {}
        pieces: list[_Piece] = []
        secrets: list[_Piece] = []
        at = 0
        for token in _TOKEN.finditer(template):
            pieces.append(_Piece(template[at : token.start()]))
            at = token.end()
            if filler := token["filler"]:
                pieces.append(_Piece(self._filler(filler, name, known)))
            elif token["secret"] == "=1":
                pieces.append(secrets[0])
            else:
                made = self._secret(token["secret"], provider)
                secrets.extend(p for p in made if p.kind)
                pieces.extend(made)
        pieces.append(_Piece(template[at:]))
        return [p for p in pieces if p.text]

    def _filler(self, token: str, name: str, known: dict[str, str]) -> str:
        if token not in known:
            base = token.partition("#")[0]
            if base == "env":
                text = name
            elif base == "env_lower":
                text = name.lower()
            elif base == "env_camel":
                head, *tail = name.lower().split("_")
                text = head + "".join(part.capitalize() for part in tail)
            elif shape := _SHAPE.fullmatch(base):
                text = values.chars(self.rng, values.ALPHABETS[shape[1]], int(shape[2]))
            else:
                text = _FILLERS[base](self.rng)
            if "#" not in token and not base.startswith("env"):
                return text
            known[token] = text
        return known[token]

    def _secret(self, token: str, provider: values.Provider | None) -> list[_Piece]:
        kind, _, place = token.partition("/")
        if kind in values.BLOCKS:
            return self._block(kind, place)
        if kind.endswith(("_password", "_passphrase")) and place:
            make = values.passphrase if kind.endswith("_passphrase") else values.password
            value = make(self.rng, place)
            return [_Piece(values.PLACES[place].escape(value), kind, value)]
        if kind == "provider":
            assert provider is not None
            chosen: values.Provider | None = provider
        elif kind == "anykey":
            chosen = next(self._distinct)
        else:
            chosen = next((p for p in values.PROVIDERS if p.kind == kind), None)
        if chosen is not None:
            value = chosen.make(self.rng)
            return [_Piece(value, chosen.kind, value)]
        value = values.KINDS[kind](self.rng)
        return [_Piece(value, kind, value)]

    def _block(self, kind: str, form: str) -> list[_Piece]:
        first, body, last = values.block(self.rng, kind)
        if form == "head":  # as `head` or a cut output shows it, without its last line
            body = "\n".join(body.split("\n")[:5])
            return [_Piece(first + "\n"), _Piece(body, kind, body)]
        join = {"block": "\n", "blocknl": "\\n", "indent": "\n    "}[form]
        text = body.replace("\n", join)
        return [_Piece(first + join), _Piece(text, kind, body), _Piece(join + last)]


# ------------------------------------------------------------------ how logs wrap a line

_Escape = Callable[[str], str]


def _json_escape(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _json_ascii(text: str) -> str:
    return json.dumps(text)[1:-1]


def _json_twice(text: str) -> str:
    return _json_escape(_json_escape(text))


def _single(text: str) -> str:
    return text.replace("'", "'\\''")


def _double(text: str) -> str:
    return "".join("\\" + c if c in '\\"$`' else c for c in text)


def _same(text: str) -> str:
    return text


# before, how each character is escaped, after; escapes work character by character, so a secret
# keeps its borders
_Wrap = tuple[str, _Escape, str]
_TOOL_USE = '{"type":"tool_use","id":"toolu_01‹A22›","name":"Bash","input":{"command":"'
_CALL = '{"type":"function_call","name":"exec_command","arguments":"{\\"cmd\\":\\"'
_CALL_END = '\\",\\"workdir\\":\\"/srv/‹word›\\"}","call_id":"call_‹A24›"}'
_TOOL_RESULT = '{"type":"tool_result","tool_use_id":"toolu_01‹A22›","content":"'
_CALL_OUTPUT = '{"type":"function_call_output","output":"{\\"output\\":\\"'
_CALL_OUTPUT_END = '\\",\\"metadata\\":{\\"exit_code\\":0}}"}'

_COMMAND_WRAPS: tuple[_Wrap, ...] = (
    ("$ ", _same, ""),
    ("‹user›@‹word›:~$ ", _same, ""),
    ("Run this:\n```bash\n", _same, "\n```"),
    (_TOOL_USE, _json_escape, '","description":"Run the step"}}'),
    ('{"cmd": "', _json_ascii, '", "cwd": "/srv/‹word›", "exit_code": 0}'),
    (_CALL, _json_twice, _CALL_END),
)
_ONE_LINE_WRAPS: tuple[_Wrap, ...] = (
    ("bash -lc '", _single, "'"),
    ('ssh ‹user›@‹host› "', _double, '"'),
    ("then I ran `", _same, "` and it worked"),
    ("    - run: ", _same, ""),
    ("+ ", _same, ""),
)
_TEXT_WRAPS: tuple[_Wrap, ...] = (
    ("$ cat ‹path›\n", _same, "\n$ "),
    ("```\n", _same, "\n```"),
    ('{"stdout":"', _json_escape, '","stderr":"","interrupted":false}'),
    (_TOOL_RESULT, _json_escape, '"}'),
    ('{"output": "', _json_ascii, '", "exit_code": 0}'),
    (_CALL_OUTPUT, _json_twice, _CALL_OUTPUT_END),
)


def _wrap(filler: _Filler, pieces: list[_Piece], *, command: bool) -> list[_Piece]:
    rng = filler.rng
    one_line = not any("\n" in p.text for p in pieces)
    if not command and rng.random() < 0.35:
        return _prefix_lines(rng, pieces)
    choices = _COMMAND_WRAPS if command else _TEXT_WRAPS
    if command and one_line:
        choices += _ONE_LINE_WRAPS
    before, escape, after = rng.choice(choices)
    inner = [_Piece(escape(p.text), p.kind, p.value) for p in pieces]
    return [*filler.fill(before), *inner, *filler.fill(after)]


def _prefix_lines(rng: random.Random, pieces: list[_Piece]) -> list[_Piece]:
    """Number the lines, or mark them as added, as file listings and diffs do."""
    if any(p.kind and p.text.count("\n") > LONGEST_SPLIT for p in pieces):
        return pieces
    numbered = rng.random() < 0.6
    line = rng.randrange(1, 200)
    prefix = f"{line:>6}→" if numbered else "+"
    out = [_Piece(prefix)]
    for piece in pieces:
        for i, part in enumerate(piece.text.split("\n")):
            if i:
                line += 1
                out.append(_Piece("\n" + (f"{line:>6}→" if numbered else "+")))
            if part:
                whole = part == piece.text
                out.append(_Piece(part, piece.kind, piece.value if whole else part.strip()))
    return out


def _line(pieces: Sequence[_Piece], family: str) -> SecretLine:
    text = ""
    spans: list[Span] = []
    for piece in pieces:
        if piece.kind:
            spans.append((len(text), len(text) + len(piece.text), piece.kind))
        text += piece.text
    plain = tuple(p.value for p in pieces if p.kind)
    return SecretLine(text=text, spans=tuple(spans), values=plain, family=family)


def generate(*, seed: int, n: int = DEFAULT_LINES) -> list[SecretLine]:
    """Generate `n` lines that hold at least one planted secret each.

    Every template is used about equally often, and every provider in turn.
    """
    rng = random.Random(f"planted {seed}")
    filler = _Filler(rng)
    templates = [
        (family, template, families is COMMANDS)
        for families in (COMMANDS, TEXTS)
        for family, members in families.items()
        for template in members
    ]
    lines: list[SecretLine] = []
    while len(lines) < n:
        rng.shuffle(templates)
        for family, template, command in templates[: n - len(lines)]:
            pieces = filler.fill(template)
            if rng.random() < WRAPPED_SHARE:
                pieces = _wrap(filler, pieces, command=command)
            lines.append(_line(pieces, family))
    return lines


def benign(*, seed: int, n: int = DEFAULT_BENIGN) -> list[SecretLine]:
    """Generate `n` different lines without any secret: digests, ids, placeholders, talk, code."""
    rng = random.Random(f"benign {seed}")  # another stream, lest it repeat planted values
    filler = _Filler(rng)
    templates = list(BENIGN)
    lines: dict[str, SecretLine] = {}
    while len(lines) < n:
        rng.shuffle(templates)
        for template in templates:
            pieces = filler.fill(template)
            line = _line(pieces, "lookalike")
            # a template without filler can only differ by what stands around it
            if line.text in lines or rng.random() < WRAPPED_SHARE / 2:
                line = _line(_wrap(filler, pieces, command=False), "lookalike")
            lines.setdefault(line.text, line)
            if len(lines) == n:
                break
    return list(lines.values())


def planted_values(lines: Iterable[SecretLine], *, min_length: int = 8) -> set[bytes]:
    """Collect the plaintext bytes that no file of ours may hold after these lines were read.

    Every secret counts as it stands in its line and as it was before quoting; the body of a key
    block counts line by line, so that a part of it is noticed too. Values under `min_length` bytes
    are left out, since chance alone puts short texts into a file.
    """
    found: set[bytes] = set()
    for line in lines:
        texts = [line.text[start:end] for start, end, _ in line.spans]
        for text in (*texts, *line.values):
            parts = re.split(r"\\*\\n|\n", text) if len(text) > 100 else [text]
            found.update(part.strip().encode() for part in parts)
    return {value for value in found if len(value) >= min_length}
