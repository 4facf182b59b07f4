"""Find secrets that a name introduces: settings, fields, flags, headers, tags, tables and prose.

The prefilter stops at a word such as `password` or `api_key`. From there: read the whole name and
judge it (`names`), read what joins it to its value, read the value (`reading`), and decide whether
it is believed (`belief`).
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Final, NamedTuple

from factbook.redaction.belief import believe
from factbook.redaction.headers import cookie_spans, credential_span
from factbook.redaction.names import Name, classify
from factbook.redaction.place import FIELD, ValuePlace
from factbook.redaction.reading import (
    MAX_VALUE,
    Value,
    line_end,
    match_end,
    read_bare,
    read_field,
    read_quoted,
    read_shell_word,
    run_on,
)
from factbook.redaction.spans import Span
from factbook.redaction.values import (
    is_code,
    is_jumbled,
    is_mixed,
    is_never_drawn,
    is_path,
    is_random,
    is_stand_in,
    is_stop_word,
    speaks_of_a_secret,
)

# `token`, `pass` and `auth` also begin everyday words and stand in everyday sentences, so what
# follows them is part of their hint.
HINT: Final = "|".join(
    (
        r"(?i:pass?o?w|passphrase|passcode|pass[-_]phrase|kennwort|senha|wachtwoord|contrase|secret)",
        r"(?i:credential|authorization|cookie|mnemonic)",
        r"[tT]oken[^a-z ,.)]|TOKEN|[tT]oken [=:|\"'`\\-]|[tT]oken (?:is|was)",
        r"[tT]oken [a-z]{0,6}[A-Z0-9_-]",
        r"[tT]okens[\"']? ?[=:] ?\[|-(?:token|auth|pass|pw|pwd) ",
        r"PAT[=:]|[_-](?:PAT|pat)[^A-Za-z]",
        r"[aA]uth[^a-z ,.)]|AUTH|[aA]uth [=:]|[cC]reds?[^a-z ]|CRED",
        r"[pP]ass(?:[A-Z0-9_\"'`\\\]:=<>-]|[ ,][:=|\"'`\\])|PASS[^A-Zi]|(?:store|key)pass ",
        r"[pP](?:wd|sw)(?:[^a-zA-Z ]| [=:])|[pP]w(?:[\"'=:_-]| [=:])|PWD|PW[^A-Z]",
        r"(?:jwt|JWT)[^a-zA-Z]|(?:psk|PSK)[^a-z]",
        # `key` alone means a great many things: what stands before it is judged by `names`.
        r"[kK]ey(?:[^a-z ,.);/]| ?[=:]| (?:is|was|should))|_KEY[^A-Z]|-key |keyMaterial",
        r"(?:PIN|PUK|[pP]in)[=:]|[a-z_](?:[pP]in|PIN)[\\\"']|--pin ",
        r"(?i:(?:api|private|product|recovery|activation|licen[cs]e) ?key) ",
        r"[kK]ey [|-]|_(?:token|key),|[pP](?:ass|wd|w) \||[pP]w[\n,;|]",
        r"(?:seed|recovery|Seed|Recovery)[-_ ]?(?:phrase|words|Phrase)",
        r"\?\?[:=]",  # a name in another script, see scanner.py
    )
)

_KEY_LIMIT: Final = 96  # no name of a secret is longer; a longer run is data
_JOINT_LIMIT: Final = 120
_CELL: Final = 200  # characters of a cell of a table
_LONGEST_LIST: Final = 32

_NAME_CHARS: Final = string.ascii_letters + string.digits + "_.-"
_KEY: Final = re.compile(r"[\w.-]+")
_LONE_KEY: Final = frozenset({"key", "Key", "KEY"})
_SECOND_WORD: Final = frozenset("kKpPwWtTaA")  # how a second word may begin
_TWO_WORDS: Final = re.compile(r"(?i)([a-z]{3,14}) (?:access )?(key|phrase|words|token)\b")
_QUOTE: Final = r"[rbfunRBFUN]{0,2}\\*[\"'`“„«‘]"
_STEP: Final = r"(?:\s|\\+[nrt]){0,40}"
_JOINT: Final = re.compile(
    rf"""(?x)
    (?:\\*["'`”’»]|&quot;|&\#34;|\*\*|__|\*|\]|\)){{0,4}}                 # closes the name
    (?:
      (?P<tag>        # <password>hunter2</password>, <key>password</key><string>hunter2</string>
        (?:\s[\w:.-]{{1,30}}=[^<>\n]{{0,60}}(?<!/))?>(?:</key>{_STEP}<string>)?\s*(?=[^<>\s])
        | </key>{_STEP}<string> )
    | (?P<pair>       # "name": "DB_PASSWORD", "value": "hunter2"
        (?:[\s,]|\\+[nrt]){{1,40}}?(?:\\*["'])?(?:[dD]efault_?|Parameter)?(?i:value|content)
        (?:\\*["'])?\s*[:=]\s* )
    | (?P<default>    # process.env.API_KEY || "..."
        [ \t]*(?:\|\||\?\?|\bor\b)[ \t]*(?={_QUOTE}) )
    | (?P<cell>       # | password | hunter2 |
        [ \t]+\|[ \t]*|\|[ \t]+ )
    | (?P<typed>      # let password: &str = "hunter2"
        [ \t]*:[ \t]*&?(?:'\w+[ ])?(?:[A-Za-z_][\w.<>\[\]|]{{0,40}}[ ]|str)=[ \t]*(?={_QUOTE}) )
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
    | (?P<blank>      # with password hunter2, username bob password 0 hunter2
        [ \t]+(?:[05789][ ](?=\S{{4}}))? )
    )"""
)
_FLAG_JOINT: Final = re.compile(
    r"\\*[\"'],?\s*(?=\\*[\"'])|\\*[\"']\s*=?\s*|[ \t]*=[ \t]*|[ \t]+"  # also in a list of words
)
_STRING_PREFIX: Final = re.compile(r"(?:[rRbBuUfF]{1,2}|@|\$|[LN])(?=\\*[\"'])")
_PREFIXES: Final = frozenset("rRbBuUfF@$LN")
_BLOCK: Final = frozenset("|>")
_BLOCK_SCALAR: Final = re.compile(r"[|>][-+]?\d?[ \t]*(?:\n|\\n)(?:[ \t]|\\n)*")
_NEXT_LINE: Final = re.compile(r"(?:\s|\\+[nrt]){1,40}")
_GAPS: Final = frozenset(" \t\r\n\f\v\\")
_CONTINUED: Final = re.compile(r"\\(?:\r?\n|\\{2,}n)[ \t]*")  # the backslash at the end of a line
_LIST_ITEM: Final = re.compile(r"[\[,](?:\s|\\+n){0,40}")
_IS_NAME: Final = re.compile(r"\\*[\"']?\s*:(?!:)")  # what follows a name of a field

_ENDS: Final = re.compile(r"[,;]?(?:\s|$)|\)")
_DIGIT: Final = re.compile(r"\d")
_WORDS: Final = re.compile(  # of a line of settings: SESSION_SECRET=keyboard cat
    r"[A-Za-z]{2,24}(?: [A-Za-z][\w'!?]{0,23}){1,11}(?=[ \t]*(?:$|[\r\n]|\\+n|[ \t]#))"
)
_MORE_SETTINGS: Final = re.compile(r"[;,&\s][\w.-]{1,40} ?=|\s-{1,2}[a-zA-Z]|\\+[nrt]")
_OPENED: Final = re.compile(r"(?:'\\{1,15}''|(?<!\\)\\*[\"'])$")
_OPTION: Final = re.compile(r"(?:^|\s)-{1,2}[A-Za-z][\w-]*[ =]$|(?:Environment=|\bexport |\benv )$")


def field_kind(key: str, value: str, *, number: bool = False) -> str | None:
    """Judge a field of a decoded object: the kind of secret that `value` is, or None.

    `number`: it is one, and no text. Then `{"pin": 1234}` may be that of a board.
    """
    name = classify(key)
    if name is None or name.kind == "cookie" or not value:
        return None
    if number and name.digits and name.bare:
        return None
    return name.kind if believe(value, name, FIELD) else None


class SecretName(NamedTuple):
    """A name whose values tend to be secrets, in its text."""

    start: int  # first character
    end: int  # behind the last
    sense: Name  # what it says about its values


class Joint(NamedTuple):
    """What joins a name to its value."""

    kind: str  # what sort of thing it is: the groups of `_JOINT`, or `flag`
    text: str  # as written
    end: int  # where the value begins


LOOSE: Final = frozenset({"said", "next", "blank", "comma", "call", "cell"})
"""Joints behind which the value of a name may stand further off."""


def read_joint(text: str, named: SecretName) -> Joint | None:
    """Read what joins a name to its value."""
    flag = text[named.start] == "-" and text[named.end : named.end + 1] != ":"
    match = (_FLAG_JOINT if flag else _JOINT).match(text, named.end, named.end + _JOINT_LIMIT)
    if match is None:
        return None
    return Joint(kind="flag" if flag else match.lastgroup or "", text=match[0], end=match.end())


def assigned_spans(text: str, named: SecretName, joint: Joint) -> Iterator[Span]:
    """Give the secrets that stand right behind a name."""
    start, stop, name, kind = named.start, named.end, named.sense, joint.kind
    value = _read_value(text, joint.end, kind)
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
    if kind == "assign" and text.startswith("[", joint.end):
        yield from _list_spans(text, joint.end, name)
        return
    braced = text.startswith("{", value.start) and text[start - 1 : start] == ";"  # PWD={hunter2};
    if not braced and _is_told(text, value, name, joint):  # most mentions of a secret end here
        return
    place = ValuePlace(
        text=text,
        start=start,
        stop=stop,
        joint=kind,
        joined=joint.text,
        end=value.after,
        quoted=bool(value.quote),
    )
    if not value.quote and kind == "assign":
        words = _WORDS.match(text, value.start) if name.kind == "secret" and name.plain else None
        if words is not None and place.shell and place.alone:
            again = Value(value.start, words.end(), "", words.end())
        else:
            again = _read_again(text, start, value, place)
        if again != value:
            value, place = again, place.ending(again.after, quoted=bool(again.quote))
    word = text[value.start : min(value.end, value.start + MAX_VALUE)]
    if word == text[start:stop]:  # password=password
        return
    if value.quote and value.start > joint.end:
        opened = _OPENED.search(place.before) if joint.text[0] in ":= " else None
        if opened is not None and opened[0] == text[joint.end : value.start]:
            return  # the quote that opened before the name closes here: 'Password: '
        if word[:2] == "--" or _IS_NAME.match(text, value.after) is not None:
            return
    if believe(word, name, place):
        longer = value.end - value.start >= MAX_VALUE
        yield value.start, run_on(text, value.end) if longer else value.end, name.kind


def _is_told(text: str, value: Value, name: Name, joint: Joint) -> bool:
    """Tell whether a value is no secret wherever it stands: a stop word, a variable, code.

    Most values are, so the cheap signs are looked at before the place is.
    """
    word = text[value.start : min(value.end, value.start + MAX_VALUE)]
    if is_stop_word(word) or is_stand_in(word):
        return True
    if value.quote:
        if name.plain:
            return speaks_of_a_secret(word) and not (name.kind == "secret" and " " in word)
        return is_never_drawn(word)
    if word[-1] not in "([{" and _ENDS.match(text, value.end) is None:
        return False  # it may be read again, and be longer
    if name.plain:
        if speaks_of_a_secret(word) or is_path(word):
            return True
        if joint.kind == "blank":
            return not is_mixed(word) and not is_jumbled(word)
    elif is_never_drawn(word):
        return True
    return joint.text != "=" and word.isascii() and not _DIGIT.search(word) and is_code(word)


def _read_again(text: str, start: int, value: Value, place: ValuePlace) -> Value:
    """Read a bare value again by the rules of the place that its name stands in."""
    around = _quoted_around(text, start, value, place.before) if place.tight else None
    if around is not None:
        return around
    if text[value.end : value.end + 1].isspace() and text[value.start : value.end].isalnum():
        return value  # it ends there however it is read
    ways: list[Value | None] = [value]
    if place.field:
        ways = [read_field(text, value.start)]
    else:
        whole = place.alone and not place.code and not place.escaped
        ways += [read_bare(text, value.start, whole=True)] if whole else []
        ways += [read_shell_word(text, value.start)] if place.shell else []
    return max((way for way in ways if way is not None), key=lambda way: way.end, default=value)


def _quoted_around(text: str, start: int, value: Value, before: str) -> Value | None:
    """Read the value of a setting that is quoted with its name: `-e 'DB_PASSWORD=hunter 2'`."""
    opened = _OPENED.search(before)
    if opened is None:
        return None
    quoted = read_quoted(text, start - (len(before) - opened.start()))
    if quoted is None or quoted.start != start or not value.start <= value.end <= quoted.end:
        return None
    word = text[value.start : quoted.end]
    option = _OPTION.search(before[: opened.start()]) is not None
    if _MORE_SETTINGS.search(word) is not None:
        return None
    if not option and (" " in word or text.startswith(":", quoted.after)):
        return None
    return Value(start=value.start, end=quoted.end, quote=quoted.quote, after=quoted.after)


def read_name(text: str, at: int, end: int) -> SecretName | None:
    """Read the whole name around a hint and judge it; None when its values are no secrets."""
    low = max(0, at - _KEY_LIMIT)
    start = low + len(text[low:at].rstrip(_NAME_CHARS))
    if start > low and not text[start - 1].isascii():
        start -= match_end(_KEY, text[low:start][::-1], 0)
    match = _KEY.search(text, start, start + 2 * _KEY_LIMIT)
    if match is None:
        return None
    start, stop = match.span()
    if stop - start > _KEY_LIMIT:
        return None
    if start and text[start - 1] == "\\" and text[start] in "nrt":
        start += 1
    gradle = text[stop : stop + 1] == "="
    if text[start] == "-" and (text.startswith("-D", start) or (gradle and text[start + 1] == "P")):
        start += 2  # java -Dapi.key=..., gradle -PapiKey=...
    while stop > start and text[stop - 1] in ".-":
        stop -= 1
    if stop <= start:
        return None
    if text[start:stop] in _LONE_KEY and start and text[start - 1] == " ":  # `the API key is ...`
        start = low + len(text[low : start - 1].rstrip(_NAME_CHARS))
    name = classify(text[start:stop].lstrip("-"))
    if text[stop : stop + 1] == " " and text[stop + 1 : stop + 2] in _SECOND_WORD:
        words = _TWO_WORDS.match(text, start, stop + 16)  # `API key: ...`, `seed phrase: ...`
        told = classify(f"{words[1]}_{words[2]}") if words is not None else None
        if words is not None and told is not None:
            return SecretName(start=start, end=words.end(), sense=told)
    return None if name is None else SecretName(start=start, end=stop, sense=name)


def _read_value(text: str, pos: int, joint: str) -> Value | None:
    """Read the value at `pos`; None for a template, and where no value stands."""
    if joint == "assign" and text[pos : pos + 1] in _BLOCK:
        pos = match_end(_BLOCK_SCALAR, text, pos, pos + 80)
    if text[pos : pos + 1] == "\\" and joint in {"assign", "flag"}:
        pos = match_end(_CONTINUED, text, pos, pos + 80)
    prefix = None
    if text[pos : pos + 1] in _PREFIXES:
        prefix = _STRING_PREFIX.match(text, pos, pos + 4)
        pos = prefix.end() if prefix is not None else pos
    quoted = read_quoted(text, pos)
    if quoted is None and joint == "assign":
        # The value may stand in the next line, but only a quoted one is sure to be it.
        gap = _NEXT_LINE.match(text, pos, pos + 40) if text[pos : pos + 1] in _GAPS else None
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
