"""Find secrets that a name introduces: settings, fields, flags, headers, tags, tables and prose.

The prefilter stops at a word such as `password` or `api_key`. From there: read the whole name and
judge it (`names`), read how it is joined to its value, read the value (`reading`), judge that
(`values`). How sure the value must look depends on all three: after `password:` an ordinary word is
believed, after `token =` only what a machine drew; an .env file is believed more than a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

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
from factbook.sources.redact.values import (
    is_code,
    is_identifier,
    is_jumbled,
    is_measure,
    is_mixed,
    is_path,
    is_random,
    is_stand_in,
    is_stop_word,
    is_wordy,
    speaks_of_a_secret,
)

__all__ = ["HINT", "assignment_spans", "field_kind"]

# `token`, `pass` and `auth` also begin everyday words and stand in everyday sentences, so what
# follows them is part of their hint.
HINT: Final = (
    r"(?i:passw|passphrase|passcode|pass[-_]phrase|kennwort|senha|wachtwoord|contrase|secret|"
    r"credential|authorization|cookie|mnemonic)"
    r"|[tT]oken[^a-z ,.)]|TOKEN|[tT]oken[ ,][=:|-]|[tT]okens?[\"']? ?[=:] ?\[|[tT]oken[ ,][\"'`\\]|[tT]oken (?:is|was)"
    r"|-(?:token|auth|pass|pw|pwd) |(?:store|key)pass |\bPAT[=:]"
    r"|[aA]uth[^a-z ,.)]|AUTH|[aA]uth [=:]|[cC]reds?[^a-z ]|CRED"
    r"|[pP]ass(?:[A-Z0-9_\"'`\\\]:=<>-]|[ ,][:=|\"'`\\])|PASS[^A-Zi]"
    r"|[pP](?:wd|sw)[^a-zA-Z ]|[pP]w[\"'=:_-]|PWD|PW[^A-Z]|(?i:\bjwt|psk)[^a-z]|[_-](?:PAT|pat)[^A-Za-z]"
    r"|(?i:(?:api|access|secret|private|sign|signing|encrypt|encryption|account|auth|master|shared|"
    r"session|licen[sc]e|app|application|service|admin|storage|subscription|write|client|consumer|"
    r"deploy|jwt|hmac|webhook|integration|ingestion|instrumentation|bot|server|ssh|sas|function|"
    r"crypto)[-_ .]?key)|(?i:seed|recovery)[-_ ]?(?i:phrase|words)|\?\?[:=]"
)

# ------------------------------------------------------------------------------- names and joints

_BEFORE: Final = 160  # characters before a name that are looked at
_FIRM: Final = frozenset({"assign", "comma", "call", "pair", "compare"})
_KEY_LIMIT: Final = 96  # no name of a secret is longer; a longer run is data
_KEY: Final = re.compile(r"[\w.-]+")
_SPACED: Final = re.compile(r"(?i)([a-z]{3,14}) (?:access )?(key|phrase|words)\b")

_QUOTE: Final = r"[rbfuRBFU]{0,2}\\*[\"'`“„«‘]"
_JOINT: Final = re.compile(
    rf"""(?x)
    (?:\\*["'`”’»]|&quot;|&\#34;|\*\*|__|\*|\]|\)){{0,4}}          # closes the name
    (?:
        (?P<tag>     (?:\s[\w:.-]{{1,30}}=[^<>\n]{{0,60}})?>(?:</key>)?\s*(?:<string>)?(?=[^<>\s]) )
      | (?P<plist>   </key>\s*<string> )
      | (?P<pair>    (?:[\s,]|\\+[nrt]){{1,40}}?(?:\\*["'])?(?:[dD]efault_?)?(?i:value|content)
                     (?:\\*["'])?\s*[:=]\s* )
      | (?P<default> [ \t]*(?:\|\||\?\?|\bor\b)[ \t]*(?={_QUOTE}) )
      | (?P<cell>    (?:[ \t]+\|[ \t]*|\|[ \t]+) )
      | (?P<typed>   [ \t]*:[ \t]*&?(?:'\w+[ ])?[A-Za-z_][\w.<>\[\]|]{{0,40}}[ \t]*=[ \t]*(?={_QUOTE}) )
      | (?P<compare> [ \t]*[!=]==?[ \t]*(?={_QUOTE}) )
      | (?P<assign>  (?:[ ]\[[^\[\]\n]{{0,40}}\]|[ ]\([^()\n]{{0,40}}\))?(?:\s|\\+[nrt]){{0,8}}
                     (?:=>|:=|\?=|->|→|:|=|：|＝|%3[dD])(?:[ \t]*(?:\*\*|__))?[ \t]* )
      | (?P<comma>   [ \t]*,[ \t]*(?={_QUOTE}) )
      | (?P<call>    \.?[A-Za-z]{{0,12}}\([ \t]*(?={_QUOTE}) )
      | (?P<said>    [ \t]+(?:(?i:for|of)[ ][\w@.'"%-]{{1,40}}[ ])?
                     (?:(?:is[ ]|was[ ]|has[ ]been[ ]|been[ ])?(?:re)?(?:set|changed)[ ]to
                     |is[ ]now|=|is|was|are|to|of|as|will[ ]be|should[ ]be)[ \t]*:?[ \t]+ )
      | (?P<next>    [ \t]+(?={_QUOTE}) )
      | (?P<blank>   [ \t]+ )
    )"""
)
_FLAG_JOINT: Final = re.compile(
    r"(?:\\*[\"'],?\s*(?=\\*[\"'])|\\*[\"']\s*=?\s*|[ \t]*=[ \t]*|[ \t]+)"
)
_LITERAL: Final = re.compile(r"(?:[rRbBuUfF]{1,2}|@|\$|L)(?=\\*[\"'])")
_BLOCK: Final = re.compile(r"[|>][-+]?\d?[ \t]*(?:\n|\\n)(?:[ \t]|\\n)*")
_BETWEEN: Final = re.compile(r"[\[,](?:\s|\\+n){0,40}")
_LONGEST_LIST: Final = 64
_IS_NAME: Final = re.compile(r"\\*[\"']?\s*:(?!:)")
_NEXT_LINE: Final = re.compile(r"(?:\s|\\+[nrt]){1,40}")

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
    r"(?:^|[\s;&|\"'])(?:export|env|set|ENV|-e|--env|-F|--form|-d|--data\w*|--build-arg|--set|-D|declare -\w+)[ =]?$|-D$"
)
_CODE: Final = re.compile(
    r"""(?x)
      \b(?:const|let|var|val|def|function|return|if|elif|else|while|for|assert\w*|await|new|self|
         this|final|func|fn|import|from|lambda|print|console|raise|throw|case|expect|yield|public|
         private|protected|static|type|class)\b
    | ^\s*\w+,[ ]$ | [({=?!]\s*$ | [\w\])]\([^)]*$ | \[ | => | ->
    """
)
_LOGIN: Final = re.compile(
    r"(?i)\b(?:user|username|usr|login|account|host|server|email|admin|root|ssh|ftp|db|wifi|ssid)\b"
)
_QUERY: Final = re.compile(r"[?&]$|&amp;$|%26$|;$")
_DECLARES: Final = re.compile(
    r"(?i)(?:\b(?:with|use|using|encrypted|set)(?: the| this| my)?[ ]|#define\s|define\(\s*['\"]|\b(?:set|with|change)_?)"
    r"[\w.-]*$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a value stands, as far as that decides what is believed."""

    joint: str  # what sort of thing joins it to its name
    verb: str  # the words that do, in a sentence
    alone: bool  # the name begins its line, as in a settings file
    shell: bool  # an assignment of a shell or an .env file: no blanks around `=`
    query: bool  # a parameter of an address
    upper: bool  # the name is written in capitals
    tight: bool  # joined by `=` without blanks
    spaced: bool  # a blank stands before the value
    declared: bool  # what stands before says that a password is being set
    code: bool  # what stands before looks like source code
    before: str  # the line before the name
    after: str  # the text behind the value
    quoted: bool


_FIELD: Final = _Place(
    joint="assign",
    verb="",
    alone=False,
    shell=False,
    query=False,
    upper=False,
    tight=False,
    spaced=True,
    declared=False,
    code=False,
    before="",
    after="",
    quoted=True,
)


def field_kind(key: str, value: str) -> str | None:
    """Judge a field of a decoded object: the kind of secret that `value` is, or None."""
    name = classify(key)
    if name is None or name.kind == "cookie" or not value:
        return None
    if is_stand_in(value) or is_stop_word(value):
        return None
    return name.kind if _believe(value, name, _FIELD) else None


def assignment_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the secrets that the name around a hint introduces."""
    read = _read_name(text, at, end)
    if read is None:
        return
    start, stop, name = read
    flag = text[start] == "-"
    joint = (_FLAG_JOINT if flag else _JOINT).match(text, stop, stop + 120)
    if joint is None:
        return
    kind = "flag" if flag else joint.lastgroup or ""
    before, escaped = _line_before(text, start)
    value = _read_value(text, joint.end(), kind, before=None if escaped else before)
    if value is None or value.end <= value.start:
        return
    if name.kind == "credential" and kind in _FIRM:
        span = credential_span(text, value)
        if span is not None:
            yield span
            return
    if name.kind == "cookie":
        if kind in {"assign", "comma", "call"}:
            yield from cookie_spans(text, value)
        return
    if kind == "assign" and text.startswith("[", joint.end()):
        for part in _list_values(text, joint.end()):
            if is_random(text[part.start : part.end], least=12):
                yield part.start, part.end, name.kind
        return
    word = text[value.start : value.end]
    if is_stand_in(word) or is_stop_word(word) or word == text[start:stop]:
        return
    if value.quote and (word[:2] == "--" or _IS_NAME.match(text, value.after) is not None):
        return
    lead = _LEAD.match(before)
    tight = joint[0] == "=" or (joint[0] == ":" and before[-1:] == "/")
    place = _Place(
        joint=kind,
        verb=joint[0].strip(" \t:"),
        alone=lead is not None,
        shell=tight
        and (
            text[start:stop].isupper()
            or (lead is not None and lead["shell"] is not None)
            or _SHELL.search(before) is not None
        ),
        upper=text[start:stop].isupper(),
        tight=tight,
        query=tight and _QUERY.search(before) is not None,
        spaced=joint[0][-1:].isspace(),
        declared=_DECLARES.search(text[max(0, start - 24) : stop]) is not None,
        code=_CODE.search(before) is not None,
        before=before,
        after=text[value.after : value.after + 48],
        quoted=bool(value.quote),
    )
    if _believe(word, name, place):
        stop = value.end
        if stop - value.start >= MAX_VALUE:
            stop = run_on(text, stop)
        yield value.start, stop, name.kind


def _list_values(text: str, pos: int) -> Iterator[Value]:
    """Read the quoted values of a list whose bracket stands at `pos`."""
    for _ in range(_LONGEST_LIST):
        gap = _BETWEEN.match(text, pos)
        value = read_quoted(text, gap.end()) if gap is not None else None
        if value is None or value.after >= len(text):
            return
        yield value
        pos = value.after


def _line_before(text: str, start: int) -> tuple[str, bool]:
    """Give what stands before a name in its line, and whether the line begins by an escape."""
    low = max(0, start - _BEFORE)
    before = text[max(text.rfind("\n", low, start) + 1, low) : start]
    escape = before.rfind("\\n")
    return (before, False) if escape < 0 else (before[escape + 2 :], True)


def _read_name(text: str, at: int, end: int) -> tuple[int, int, Name] | None:
    """Read the whole name around a hint and judge it: its start, its end, its meaning."""
    start = at
    low = max(0, at - _KEY_LIMIT)
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
        spaced = _SPACED.match(text, start, end + 8)  # `API key: ...`, `seed phrase: ...`
        told = classify(f"{spaced[1]}_{spaced[2]}") if spaced is not None else None
        if spaced is not None and told is not None:
            return start, spaced.end(), told
    return None if name is None else (start, stop, name)


def _read_value(text: str, pos: int, joint: str, *, before: str | None) -> Value | None:
    """Read the value at `pos`; None for a template, and where no value stands.

    `before`: the line before the name; None when the line is escaped, so that its end is.
    """
    if joint == "assign":
        block = _BLOCK.match(text, pos, pos + 80)
        if block is not None:
            pos = block.end()
    literal = _LITERAL.match(text, pos, pos + 4)
    if literal is not None:
        pos = literal.end()
    quoted = read_quoted(text, pos)
    if quoted is None and joint == "assign":
        # The value may stand in the next line, but only a quoted one is sure to be it.
        gap = _NEXT_LINE.match(text, pos, pos + 40)
        if gap is not None:
            return read_quoted(text, gap.end())
    if quoted is not None:
        template = literal is not None and literal[0].lower() in {"f", "rf", "fr", "$"}
        if template and "{" in text[quoted.start : quoted.end]:
            return None
        return quoted
    if joint in {"tag", "plist"}:
        close = text.find("<", pos, pos + MAX_VALUE)
        if not text.startswith("</", max(close, 0)):
            return None
        return Value(start=pos, end=close, quote="<", after=close)
    if joint == "cell":
        close = text.find("|", pos, line_end(text, pos, pos + 200))
        if close < 0:
            return None
        stop = pos + len(text[pos:close].rstrip())
        return Value(start=pos, end=stop, quote="", after=close)
    whole = (
        joint == "assign"
        and before is not None
        and _LEAD.match(before) is not None
        and _CODE.search(before) is None
    )
    return read_bare(text, pos, whole=whole)


# ----------------------------------------------------------------------------------------- belief

_SENTENCE: Final = re.compile(r"[ \t]+(?:[a-z]{2,}|[a-z][A-Z]?\b)")
_NEXT_SETTING: Final = re.compile(r"[ \t]+[\w.-]{1,40}[ \t]?[=:]")
_LINE_END: Final = re.compile(r"[ \t]*(?:$|[\r\n#<(]|\\n|\\r|[\"']|//|[.,;!?](?:\s|$))")
_CAMEL: Final = re.compile(r"^[a-z]+(?:[A-Z][a-z]+)+$|^(?:[A-Z][a-z]+){2,}$")
_INFLECTED: Final = re.compile(r"(?:ed|ing|ly|able|ible|ent|ant|ful|ous|ive|ary|tion|ment)$")
_INTRODUCES: Final = re.compile(
    r"(?i)(?:\b(?:with|using|use|and|the|my|your|our|a|this|is|temporary|admin|root|default|new|same)"
    r"|[,:(])[ ]$"
)
_ASIDE: Final = re.compile(r"^[(\[*#@]|['/]")
_ALGORITHM: Final = re.compile(
    r"(?i)^(?:sha|md|base|utf|aes|rsa|scrypt|bcrypt|argon|pbkdf|hs|rs|es|oauth|ed)-?\d+\w*$"
    r"|^(?:v|p|t|arg|param|var|val|x)\d$"
)


def _believe(word: str, name: Name, place: _Place) -> bool:
    """Decide whether a value that stands for itself is the secret that its name announces."""
    if not name.plain:
        return _believe_drawn(word, name, place)
    if len(word) < 3 or speaks_of_a_secret(word) or is_path(word) or _ALGORITHM.match(word):
        return False
    if word.isdigit():
        firm = place.joint in {"assign", "flag", "pair", "tag", "plist", "cell"}
        return firm and len(word) >= 4 and (place.quoted or not name.bare)
    mixed = is_mixed(word)
    if place.upper and name.bare and place.joint == "assign" and not place.tight:
        return False  # the PASS of a test's report
    if name.bare and not _believe_short_name(word, place, mixed=mixed):
        return False
    if place.quoted:
        return _believe_quoted(word, place, mixed=mixed)
    if place.joint in {"said", "next", "blank"}:
        return _believe_said(word, place)
    return _believe_bare(word, place, mixed=mixed)


def _believe_short_name(word: str, place: _Place, *, mixed: bool) -> bool:
    """Decide whether `pass`, `pw` or `pwd` means a password where it stands."""
    if _LOGIN.search(place.before) is not None:
        return True
    if place.joint not in {"assign", "flag", "pair", "tag", "plist"}:
        return False
    drawn = any(c.isdigit() for c in word) and any(c.isalpha() for c in word)
    return place.tight or place.joint == "flag" or is_jumbled(word) or (mixed and drawn)


def _believe_quoted(word: str, place: _Place, *, mixed: bool) -> bool:
    """Decide about a password in quotes or between tags."""
    if " " in word.strip():
        words = word.split()
        if any(is_stop_word(part) for part in words) or len(words) > 12:
            return False
        phrase = len(words) >= 3 and all(part.isalpha() and part.islower() for part in words)
        return phrase or (mixed and len(words) <= 4 and not is_wordy(word))
    if word[0] in "#." or word[-1] in ":?":  # a selector, a label
        return False
    weak = {"comma", "call", "compare", "default", "cell", "next", "blank"}
    if is_code(word) and (place.joint in weak or not mixed):
        return False
    if place.joint == "comma" and not place.declared:  # it may be a list of names
        drawn = any(c.isdigit() for c in word) and any(c.isalpha() for c in word)
        return drawn and not (is_wordy(word) and set("-_. ") & set(word))
    if place.joint in weak:
        return mixed or place.declared or (place.upper and place.joint == "next")
    if place.joint == "said":
        return mixed or not _INFLECTED.search(word)
    return True


def _believe_said(word: str, place: _Place) -> bool:
    """Decide about a bare word in a sentence such as `the password is hunter2`.

    Letters with digits or marks are believed. A plain word is only where it ends the sentence and
    is none of those that describe a password (`the password is expired`).
    """
    core = word.rstrip(".,;:!?)")
    if core[:1] == "-" or core[-1:] == "=":
        return False
    if place.joint == "blank" and not (_INTRODUCES.search(place.before) or is_random(core)):
        return False
    if is_code(core) or is_measure(core) or not any(c.isalpha() for c in core):
        return False
    if any(c.isdigit() for c in core):
        return len(core) >= 5
    if core.isalpha():
        told = place.verb in {"is", "was", "is now"} and core.islower() and len(core) >= 5
        ends = _LINE_END.match(word[len(core) :] + place.after) is not None
        return is_jumbled(core) or (told and ends and _INFLECTED.search(core) is None)
    return is_mixed(core) and len(core) >= 6 and _ASIDE.search(core) is None


def _believe_bare(word: str, place: _Place, *, mixed: bool) -> bool:
    """Decide about a bare password in a setting, a flag, a parameter or a table."""
    if place.joint in {"comma", "call", "compare", "default", "typed"} or is_measure(word):
        return False
    if place.shell or place.query:
        return not is_code(word) or "(" not in word
    if place.joint == "flag":
        if word[0] in "-|(" or word.isupper():
            return False
        return mixed or not (_CAMEL.match(word) or is_code(word))
    if is_code(word):
        return False
    if place.joint == "cell":
        return (mixed or is_jumbled(word)) and not any(c.isspace() for c in word)
    if not is_identifier(word):
        return mixed or (place.alone and bool(_LINE_END.match(place.after)))
    # It could be a variable: believed where no source code is near, and nothing says more of it.
    if place.code or place.after[:1] in {"(", ")", "[", "{", "."}:
        return is_random(word) or (is_jumbled(word) and not word.isupper())
    if any(c.isdigit() for c in word) or is_jumbled(word):
        return True
    if _CAMEL.match(word) or _INFLECTED.search(word) or "$" in word:
        return False
    if "_" in word:
        return place.alone and bool(_LINE_END.match(place.after))
    if _NEXT_SETTING.match(place.after):
        return True
    if not place.alone and not place.spaced and not place.tight:
        return False  # `passwd:shell` names a part of something
    return bool(_LINE_END.match(place.after)) and not _SENTENCE.match(place.after)


def _believe_drawn(word: str, name: Name, place: _Place) -> bool:
    """Decide about a value that a machine draws: keys, tokens, secrets."""
    word = word.removeprefix("base64:")
    if any(c.isspace() for c in word):
        words = word.split()
        return (
            name.kind == "secret"
            and len(words) in {12, 15, 18, 21, 24}
            and all(part.isalpha() and part.islower() for part in words)
        )
    if not place.quoted and is_code(word) and not is_random(word, least=40):
        return False
    weak = {"said", "next", "blank", "cell", "comma", "call", "compare", "default"}
    if place.joint in weak or name.kind == "credential":
        return is_random(word, least=12)
    if name.bare and not (place.shell or place.query or place.joint == "flag"):
        return is_random(word, least=10) or (place.quoted and name.kind == "secret" and _chosen(word))
    if is_random(word):
        return True
    return (place.quoted or place.shell or place.alone) and not place.code and _chosen(word)


def _chosen(word: str) -> bool:
    """Tell whether a key was chosen by a person: no word, but letters with digits."""
    digits = sum(c.isdigit() for c in word)
    return (
        len(word) >= 8
        and not set("[](){}\\<>|") & set(word)
        and digits > 0
        and sum(c.isalpha() for c in word) >= 3
        and not is_path(word)
        and not is_measure(word)
        and not (is_wordy(word) and digits < 3)
    )
