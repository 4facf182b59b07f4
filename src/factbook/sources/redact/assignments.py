"""Find secrets that a name introduces: settings, fields, flags, headers, tags, tables and prose.

The prefilter stops at a word such as `password` or `api_key`. From there: read the whole name and
judge it (`names`), read what joins it to its value, read the value (`reading`), and decide whether
it is believed (`belief`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from factbook.sources.redact.belief import FIELD, Place, believe
from factbook.sources.redact.headers import cookie_spans, credential_span
from factbook.sources.redact.names import Name, classify
from factbook.sources.redact.reading import (
    MAX_VALUE,
    Value,
    line_end,
    read_bare,
    read_quoted,
    run_on,
)
from factbook.sources.redact.spans import Span
from factbook.sources.redact.values import is_random, is_stop_word

__all__ = ["HINT", "assignment_spans", "field_kind"]

# `token`, `pass` and `auth` also begin everyday words and stand in everyday sentences, so what
# follows them is part of their hint.
HINT: Final = "|".join(
    (
        r"(?i:passw|passphrase|passcode|pass[-_]phrase|kennwort|senha|wachtwoord|contrase|secret)",
        r"(?i:credential|authorization|cookie|mnemonic)",
        r"[tT]oken[^a-z ,.)]|TOKEN|[tT]oken[ ,][=:|\"'`\\-]|[tT]oken (?:is|was)",
        r"[tT]okens[\"']? ?[=:] ?\[|-(?:token|auth|pass|pw|pwd) ",
        r"\bPAT[=:]|[_-](?:PAT|pat)[^A-Za-z]",
        r"[aA]uth[^a-z ,.)]|AUTH|[aA]uth [=:]|[cC]reds?[^a-z ]|CRED",
        r"[pP]ass(?:[A-Z0-9_\"'`\\\]:=<>-]|[ ,][:=|\"'`\\])|PASS[^A-Zi]|(?:store|key)pass ",
        r"[pP](?:wd|sw)[^a-zA-Z ]|[pP]w[\"'=:_-]|PWD|PW[^A-Z]|(?i:\bjwt|psk)[^a-z]",
        r"(?i:(?:api|access|secret|private|sign|signing|encrypt|encryption|account|auth|master|"
        r"shared|session|licen[sc]e|app|application|service|admin|storage|subscription|write|"
        r"client|consumer|deploy|jwt|hmac|webhook|integration|ingestion|instrumentation|bot|server|"
        r"ssh|sas|function|crypto)[-_ .]?key)|(?i:seed|recovery)[-_ ]?(?i:phrase|words)",
        r"\?\?[:=]",  # a name in another script, see scanner.py
    )
)

_KEY_LIMIT: Final = 96  # no name of a secret is longer; a longer run is data
_BEFORE: Final = 160  # characters before a name that are looked at
_JOINT_LIMIT: Final = 120
_CELL: Final = 200  # characters of a cell of a table
_LONGEST_LIST: Final = 32

_KEY: Final = re.compile(r"[\w.-]+")
_TWO_WORDS: Final = re.compile(r"(?i)([a-z]{3,14}) (?:access )?(key|phrase|words)\b")
_QUOTE: Final = r"[rbfuRBFU]{0,2}\\*[\"'`“„«‘]"
_JOINT: Final = re.compile(
    rf"""(?x)
    (?:\\*["'`”’»]|&quot;|&\#34;|\*\*|__|\*|\]|\)){{0,4}}                 # closes the name
    (?:
      (?P<tag>        # <password>hunter2</password>, <key>password</key><string>hunter2</string>
        (?:\s[\w:.-]{{1,30}}=[^<>\n]{{0,60}})?>(?:</key>\s*<string>)?\s*(?=[^<>\s])
        | </key>\s*<string> )
    | (?P<pair>       # "name": "DB_PASSWORD", "value": "hunter2"
        (?:[\s,]|\\+[nrt]){{1,40}}?(?:\\*["'])?(?:[dD]efault_?)?(?i:value|content)
        (?:\\*["'])?\s*[:=]\s* )
    | (?P<default>    # process.env.API_KEY || "..."
        [ \t]*(?:\|\||\?\?|\bor\b)[ \t]*(?={_QUOTE}) )
    | (?P<cell>       # | password | hunter2 |
        [ \t]+\|[ \t]*|\|[ \t]+ )
    | (?P<typed>      # let password: &str = "hunter2"
        [ \t]*:[ \t]*&?(?:'\w+[ ])?[A-Za-z_][\w.<>\[\]|]{{0,40}}[ \t]*=[ \t]*(?={_QUOTE}) )
    | (?P<compare>    # password == "hunter2"
        [ \t]*[!=]==?[ \t]*(?={_QUOTE}) )
    | (?P<assign>     # password: hunter2, "password": "hunter2", Password [none]: hunter2
        (?:[ ]\[[^\[\]\n]{{0,40}}\]|[ ]\([^()\n]{{0,40}}\))?(?:\s|\\+[nrt]){{0,8}}
        (?:=>|:=|\?=|->|→|:|=|：|＝|%3[dD])(?:[ \t]*(?:\*\*|__))?[ \t]* )
    | (?P<comma>      # ("password", "hunter2")
        [ \t]*,[ \t]*(?={_QUOTE}) )
    | (?P<call>       # setPassword("hunter2")
        \.?[A-Za-z]{{0,12}}\([ \t]*(?={_QUOTE}) )
    | (?P<said>       # the password is hunter2
        [ \t]+(?:(?i:for|of|on|to|at)[ ](?:[\w@.'"%/-]{{1,40}}[ ]){{1,4}}?)?
        (?:(?:is[ ]|was[ ]|has[ ]been[ ]|been[ ])?(?:re)?(?:set|changed)[ ]to
          |(?:is|was)[ ]generated[ ]for[ ]\S{{1,60}}:
          |is[ ]now|=|-|–|—|is|was|are|to|of|as|will[ ]be|should[ ]be)[ \t]*:?[ \t]+ )
    | (?P<next>       # IDENTIFIED BY PASSWORD 'hunter2'
        [ \t]+(?={_QUOTE}) )
    | (?P<blank>      # with password hunter2
        [ \t]+ )
    )"""
)
_FLAG_JOINT: Final = re.compile(
    r"\\*[\"'],?\s*(?=\\*[\"'])|\\*[\"']\s*=?\s*|[ \t]*=[ \t]*|[ \t]+"  # also in a list of words
)
_STRING_PREFIX: Final = re.compile(r"(?:[rRbBuUfF]{1,2}|@|\$|L)(?=\\*[\"'])")
_BLOCK_SCALAR: Final = re.compile(r"[|>][-+]?\d?[ \t]*(?:\n|\\n)(?:[ \t]|\\n)*")
_NEXT_LINE: Final = re.compile(r"(?:\s|\\+[nrt]){1,40}")
_LIST_ITEM: Final = re.compile(r"[\[,](?:\s|\\+n){0,40}")
_IS_NAME: Final = re.compile(r"\\*[\"']?\s*:(?!:)")  # what follows a name of a field

# What may stand before a name that begins its line: the name of a file from grep, a line number, a
# diff's or a list's mark, a prompt, the words of a shell.
_LEAD: Final = re.compile(
    r"""(?x)^
    (?:[\w./~-]{1,80}[:-]\d*[:-]?)?
    \s*(?:\d+\s*[→:|│\t]|[+>\#;$|│-](?=[\s\w])|[*_]{1,2}|-)?\s*
    (?P<shell>(?:\$[ ]|sudo[ ])?
        (?:export|set|setx|declare[ ]-\w+|local|readonly|env|ENV|ARG|typeset(?:[ ]-\w+)?)\s+
        |Environment=)?
    (?:\$(?:env|global|script):|\$)?
    $"""
)
_SHELL: Final = re.compile(
    r"(?:^|[\s;&|\"'])(?:export|env|set|ENV|-e|--env|-F|--form|-d|--data\w*|--build-arg|--set|-D|"
    r"declare -\w+)[ =]?$|-D$"
)
_CODE: Final = re.compile(
    r"""(?x)
      \b(?:const|let|var|val|def|function|return|if|elif|else|while|for|assert\w*|await|new|self|
         this|final|func|fn|import|from|lambda|print|console|raise|throw|case|expect|yield|public|
         private|protected|static|type|class)\b
    | ^\s*\w+,[ ]$ | [\w\])]\(\s*$ | [{=?!]\s*$ | [\w\])]\([^)]*$ | \[ | => | ->
    """
)
_QUERY: Final = re.compile(r"(?:[?&;]|%26)$")
_DECLARES: Final = re.compile(
    r"(?i)(?:\b(?:with|use|using|encrypted|set)(?: the| this| my)? |#define\s|define\(\s*['\"]|"
    r"\b(?:set|with|change)_?)[\w.-]*$"
)


def field_kind(key: str, value: str) -> str | None:
    """Judge a field of a decoded object: the kind of secret that `value` is, or None."""
    name = classify(key)
    if name is None or name.kind == "cookie" or not value:
        return None
    return name.kind if believe(value, name, FIELD) else None


def assignment_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the secrets that the name around a hint introduces."""
    read = _read_name(text, at, end)
    if read is None:
        return
    start, stop, name = read
    flag = text[start] == "-" and text[stop : stop + 1] != ":"
    joint = (_FLAG_JOINT if flag else _JOINT).match(text, stop, stop + _JOINT_LIMIT)
    if joint is None:
        return
    kind = "flag" if flag else joint.lastgroup or ""
    value = _read_value(text, joint.end(), kind)
    if value is None or value.end <= value.start:
        return
    if name.kind == "credential" and kind in {"assign", "comma", "call", "pair", "compare"}:
        span = credential_span(text, value)
        if span is not None:
            yield span
            return
    if name.kind == "cookie":
        if kind in {"assign", "comma", "call"}:
            yield from cookie_spans(text, value)
        return
    if kind == "assign" and text.startswith("[", joint.end()):
        yield from _list_spans(text, joint.end(), name)
        return
    if is_stop_word(text[value.start : value.end]):  # most mentions of a secret end here
        return
    before, escaped = _line_before(text, start)
    lead, code = _LEAD.match(before), _CODE.search(before) is not None
    if not value.quote and kind == "assign" and lead is not None and not code and not escaped:
        value = read_bare(text, value.start, whole=True) or value
    word = text[value.start : value.end]
    if word == text[start:stop]:  # password=password
        return
    if value.quote and (word[:2] == "--" or _IS_NAME.match(text, value.after) is not None):
        return
    upper = text[start:stop].isupper()
    tight = joint[0] == "=" or (joint[0] == ":" and before[-1:] == "/")
    exported = (lead is not None and lead["shell"] is not None) or _SHELL.search(before) is not None
    place = Place(
        joint=kind,
        quoted=bool(value.quote),
        verb=joint[0].strip(" \t:"),
        alone=lead is not None,
        shell=tight and (upper or exported),
        query=tight and _QUERY.search(before) is not None,
        upper=upper,
        tight=tight,
        spaced=joint[0][-1:].isspace(),
        declared=_DECLARES.search(text[max(0, start - 24) : stop]) is not None,
        code=code,
        before=before,
        after=text[value.after : value.after + 48],
    )
    if believe(word, name, place):
        longer = value.end - value.start >= MAX_VALUE
        yield value.start, run_on(text, value.end) if longer else value.end, name.kind


def _read_name(text: str, at: int, end: int) -> tuple[int, int, Name] | None:
    """Read the whole name around a hint and judge it: its start, its end, its meaning."""
    start, low = at, max(0, at - _KEY_LIMIT)
    while start > low and (text[start - 1].isalnum() or text[start - 1] in "_.-"):
        start -= 1
    found = _KEY.search(text, start, start + 2 * _KEY_LIMIT)
    if found is None:
        return None
    start, stop = found.span()
    if stop - start > _KEY_LIMIT:
        return None
    if start and text[start - 1] == "\\" and text[start] in "nrt":
        start += 1
    if text.startswith("-D", start):  # java -Dapi.key=...
        start += 2
    while stop > start and text[stop - 1] in ".-":
        stop -= 1
    if stop <= start:
        return None
    name = classify(text[start:stop].lstrip("-"))
    if name is None or name.kind == "credential":
        words = _TWO_WORDS.match(text, start, end + 8)  # `API key: ...`, `seed phrase: ...`
        told = classify(f"{words[1]}_{words[2]}") if words is not None else None
        if words is not None and told is not None:
            return start, words.end(), told
    return None if name is None else (start, stop, name)


def _line_before(text: str, start: int) -> tuple[str, bool]:
    """Give what stands before a name in its line, and whether the line begins by an escape."""
    low = max(0, start - _BEFORE)
    before = text[max(text.rfind("\n", low, start) + 1, low) : start]
    escape = before.rfind("\\n")
    return (before, False) if escape < 0 else (before[escape + 2 :], True)


def _read_value(text: str, pos: int, joint: str) -> Value | None:
    """Read the value at `pos`; None for a template, and where no value stands."""
    if joint == "assign":
        block = _BLOCK_SCALAR.match(text, pos, pos + 80)
        pos = block.end() if block is not None else pos
    prefix = _STRING_PREFIX.match(text, pos, pos + 4)
    pos = prefix.end() if prefix is not None else pos
    quoted = read_quoted(text, pos)
    if quoted is None and joint == "assign":
        # The value may stand in the next line, but only a quoted one is sure to be it.
        gap = _NEXT_LINE.match(text, pos, pos + 40)
        if gap is not None:
            return read_quoted(text, gap.end())
    if quoted is not None:
        template = prefix is not None and ("f" in prefix[0].lower() or prefix[0] == "$")
        return None if template and "{" in text[quoted.start : quoted.end] else quoted
    if joint == "tag":
        close = text.find("<", pos, pos + MAX_VALUE)
        if not text.startswith("</", max(close, 0)):
            return None
        return Value(start=pos, end=close, quote="<", after=close)
    if joint == "cell":
        close = text.find("|", pos, line_end(text, pos, pos + _CELL))
        if close < 0:
            return None
        stop = pos + len(text[pos:close].rstrip())
        return Value(start=pos, end=stop, quote="", after=close)
    return read_bare(text, pos, whole=False)


def _list_spans(text: str, pos: int, name: Name) -> Iterator[Span]:
    """Give the secrets in a list of quoted values whose bracket stands at `pos`."""
    for _ in range(_LONGEST_LIST):
        gap = _LIST_ITEM.match(text, pos)
        value = read_quoted(text, gap.end()) if gap is not None else None
        if value is None:
            return
        if is_random(text[value.start : value.end], least=12):
            yield value.start, value.end, name.kind
        pos = value.after
