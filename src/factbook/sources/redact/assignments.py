"""Find secrets that a name introduces: settings, fields, flags, headers, tags, tables and prose.

The prefilter stops at a word such as `password` or `api_key` that something is assigned to. From
there: read the whole name and judge it (`names`), read how it is joined to its value (`JOINTS`),
read the value (`reading`), and judge that (`values`). How sure the value must look depends on all
three: after `password:` an ordinary word is believed, after `token =` only what a machine drew.
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
    OPEN_QUOTE,
    Value,
    read_bare,
    read_quoted,
    run_on,
)
from factbook.sources.redact.values import (
    is_code,
    is_measure,
    is_mixed,
    is_path,
    is_random,
    is_stand_in,
    is_stop_word,
    is_wordy,
    names_a_secret,
)

__all__ = ["HINT", "assignment_spans", "believe_field"]

Span = tuple[int, int, str]

# ---------------------------------------------------------------------------- the prefilter's part

# `token`, `pass` and `auth` are also the beginnings of everyday words: they must end there, or go
# on as a name does.
_GOES_ON: Final = r"(?:[A-Z0-9_.-][A-Za-z0-9_-]{0,20})?"
_WORDS: Final = (
    r"(?:"
    r"(?i:pass(?:words?|wds?|phrase|[-_ ]?code|wort))[A-Za-z0-9_-]{0,20}"
    r"|(?i:kennwort|senha|contrase.a|contrase..a|wachtwoord|mnemonic|presharedkey)"
    r"|(?:[Ss]ecret|SECRET)s?(?:[A-Z0-9_ -][A-Za-z0-9_-]{0,20})?"
    r"|(?:[Tt]oken|TOKEN|[Pp]ass|PASS|[Pp]wd|PWD|[Aa]uth|AUTH|[Pp]sw|\b[Pp]w|[_-]PW|[_-]pw|[a-z]Pw)"
    + _GOES_ON
    + r"|(?:[Aa]uthorization|AUTHORIZATION|[Cc]redentials?|CREDENTIALS?|[Cc]reds?|CREDS?|[Cc]ookie|COOKIE)"
    + _GOES_ON
    + r"|(?i:api|access|secret|private|sign(?:ing)?|encrypt(?:ion)?|account|auth|master|shared|session"
    r"|licen[cs]e|app|application|service|admin|storage|subscription|write|client|consumer|deploy|jwt|hmac"
    r"|cookie|webhook|integration|ingestion|instrumentation|bot|server|ssh|sas|bearer|function|crypto)"
    r"[-_ .]?(?:[kK]eys?|KEYS?)" + _GOES_ON + r"|\b(?i:jwt|psk|bearer)|[_-](?:PAT|pat|psk|PSK|jwt|JWT)"
    r"|(?i:seed|recovery)[-_ ]?(?i:phrase|words)|(?i:require|master|user|store|key)(?:pass|auth)"
    r")"
)
_JOINED: Final = (
    r"""[\\"'`\])*?&;]{0,8}(?:[ \t]{0,24}(?:[:=|]|->|=>|!=|\?|%3[dD])"""
    r"""|[\\"',\s]{1,30}(?i:value|content)"""
    r"""|[ \t]{0,4},[ \t]{0,4}[\\"'`]|[A-Za-z]{0,12}\([\\"'`]|(?:\s[^<>\n]{0,40})?>|[ \t]{1,4}["'`\\]"""
    r"""|[ \t](?:is|was|are|to|of|will be|should be|[Ii]s set to|=|as)[ \t:])"""
)
_FLAG: Final = r"(?:^|[\s\"'`(\[=,])--?[A-Za-z0-9-]{0,24}(?i:pass|secret|token|key|auth|pwd|credential|psk|pw)[A-Za-z0-9-]{0,12}[\"'\\,]{0,4}[ \t=]"
_SPOKEN: Final = r"(?i:with|using|and|use|the|has|as|my|your|our) (?i:pass(?:word|wd|phrase|code)|pwd) "
_FOREIGN: Final = r"\?{2,12}[\"'`*\\]{0,3}[ ]{0,2}(?:[:=]|\?)"
HINT: Final = rf"(?:{_WORDS}{_JOINED}|{_FLAG}|{_SPOKEN}|{_FOREIGN})"

# ------------------------------------------------------------------------------- names and joints

_KEY_CHARS: Final = re.compile(r"[A-Za-z0-9_.\-\u00c0-\uffff]{1,96}")
_KEY_BACK: Final = re.compile(r"[A-Za-z0-9_.\-\u00c0-\uffff]*$")
_BACK: Final = 64
_SPACED_KEY: Final = re.compile(
    r"(?i)\b((?:api|access|secret|private|signing|encryption|account|auth|master|shared|license)[ ]"
    r"(?:access )?(?:key|token|password|secret))$"
)

_JOINT: Final = re.compile(
    r"""(?x)
    (?P<close>(?:(?:\\*["'`”’»]|&quot;|&\#34;|\*\*|__|\*|\]|\)){0,4}))
    (?:
        (?P<tag>  (?:\s[^<>\n]{0,60})?>\s* )(?=[^<>\s])
      | (?P<plist> </key>\s*<string> )
      | (?P<pair> (?:[\s,]|\\+[nrt]){1,40}? (?:\\*["'])? (?:default_?)?(?i:value|content) (?:\\*["'])? \s*[:=]\s* )
      | (?P<cell> [ \t]*\|[ \t]* )
      | (?P<typed> [ \t]*:[ \t]*&?(?:'\w+[ ])?[A-Za-z_][\w.<>\[\]| ]{0,40}?[ \t]*=[ \t]*(?=[rbu]?\\*["'`]) )
      | (?P<compare> [ \t]*[!=]==?[ \t]*(?=\\*["'`]) )
      | (?P<assign> (?:\s|\\+[nrt])*(?:=>|:=|->|→|:|=|：|＝|%3[dD])(?:[ \t]*\*\*|[ \t]*__)?[ \t]* )
      | (?P<comma> [ \t]*,[ \t]*(?=[rbfu]?\\*["'`]) )
      | (?P<call> [A-Za-z]{0,12}\([ \t]*(?=[rbfu]?\\*["'`]) )
      | (?P<said> [ \t]+(?:is[ ]set[ ]to|is[ ]now|is|was|are|to|of|as|will[ ]be|should[ ]be)[ \t]*:?[ \t]+ )
      | (?P<next> [ \t]+(?=[rbfu]?\\*["'`“„«]) )
      | (?P<blank> [ \t]+ )
    )"""
)
_FLAG_JOINT: Final = re.compile(r"""(?:\\*["'],?\s*(?=\\*["'])|\\*["']\s*=?\s*|[ \t]*=[ \t]*|[ \t]+)""")
_PREFIX: Final = re.compile(r"""(?:[rRbBuUfF]{1,2}|@|\$|L)(?=\\*["'])""")
_BLOCK: Final = re.compile(r"[|>][-+]?\d?[ \t]*(?:\n|\\n)(?:[ \t]|\\n)*")

# What may stand before a name that is alone in its line: a prompt, a diff mark, a line number, a
# list mark, a file name of grep, the words of a shell.
_LEAD: Final = re.compile(
    r"""(?x)^
    (?:[\w./~-]{1,80}[:-]\d*[:-]?)?
    \s*(?:\d+\s*[→:|│\t]|[+>*#;$|│-](?=[\s\w])|-)?\s*
    (?P<shell>(?:\$[ ]|sudo[ ])?(?:export|set|setx|declare[ ]-\w+|local|readonly|env|ENV|ARG|typeset(?:[ ]-\w+)?|Environment=)\s+)?
    (?P<ps>\$(?:env|global|script):|\$)?
    $"""
)
_CODE_LEAD: Final = re.compile(
    r"""(?x)
      \b(?:const|let|var|val|def|function|return|if|elif|else|while|for|assert|await|new|self|this|
         final|func|fn|import|from|lambda|print|console|raise|throw|case|expect|assert\w*|yield|with|public|private|protected|static|type|class)\b
    | [({=?!]\s*$ | [\w\])]\([^)]*$ | \[ | => | ->
    """
)
_LOGIN: Final = re.compile(r"(?i)\b(?:user|username|usr|login|account|host|server|email|admin|root|ssh|ftp|db|wifi|ssid)\b")
_QUERY: Final = re.compile(r"[?&]$|&amp;$|%26$|;$")
_SHELL_VERB: Final = re.compile(r"(?:^|[\s;&|\"'])(?:export|env|set|ENV|-e|--env|--build-arg|-D|declare -\w+)[ =]?$|-D$|--set[ =]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a value stands, as far as it decides what is believed."""

    joint: str  # the name of the joint that led to it
    alone: bool  # the name begins its line, as in a settings file
    shell: bool  # an assignment of a shell or an .env file: no blanks around `=`
    query: bool  # a parameter of a URL
    flag: bool  # an option of a command line
    code: bool  # what stands before looks like source code
    before: str  # the line before the name


def assignment_spans(text: str, at: int, hint_end: int) -> Iterator[Span]:
    """Give the secret that the name at a hint introduces, if there is one.

    `at` and `hint_end` bound the prefilter's find; every word in it is tried, for a hint that began
    with an innocent word may end with a telling one.
    """
    key = _read_key(text, at, hint_end)
    if key is None:
        return
    start, end, name = key
    line = max(text.rfind("\n", max(0, start - 160), start) + 1, start - 160, 0)
    before = text[line:start]
    broken = before.rfind("\\n")
    escaped = broken >= 0
    if escaped:
        before = before[broken + 2 :]
    flag = text[start] == "-" and (start == 0 or text[start - 1] in " \t\n\"'`([=,\\")
    if flag:
        joint = _FLAG_JOINT.match(text, end, end + 24)
        kind = "flag"
    else:
        joint = _JOINT.match(text, end, end + 120)
        kind = joint.lastgroup or "" if joint is not None else ""
    if joint is None:
        return
    lead = _LEAD.match(before)
    tight = joint[0] == "="
    upper = text[start:end].isupper()
    place = _Place(
        joint=kind,
        alone=lead is not None,
        shell=tight and (upper or (lead is not None and lead["shell"] is not None))
        or bool(_SHELL_VERB.search(before)) and tight,
        query=bool(_QUERY.search(before)) and tight,
        flag=flag,
        code=bool(_CODE_LEAD.search(before)),
        before=before,
    )
    yield from _value_spans(text, joint.end(), name, place, escaped=escaped)


def _read_key(text: str, at: int, hint_end: int) -> tuple[int, int, Name] | None:
    """Read the whole name around a hint and judge it: its start, its end, its meaning."""
    back = _KEY_BACK.search(text, max(0, at - _BACK), at)
    pos = back.start() if back is not None else at
    while pos < hint_end:
        found = _KEY_CHARS.match(text, pos, pos + 96)
        if found is None:
            pos += 1
            continue
        start, end = found.span()
        if start and text[start - 1] == "\\" and text[start] in "nrt":
            start += 1
        while end > start and text[end - 1] in ".-":
            end -= 1
        if end > start:
            key = text[start:end]
            name = classify(key.lstrip("-"))
            spaced = _SPACED_KEY.search(text, max(0, start - 32), end)
            if spaced is not None and (name is None or name.kind != "password"):
                name = classify(spaced[1].replace(" ", "_"))
                start = spaced.start(1)
            if name is not None and end > at:
                return start, end, name
        pos = max(found.end(), pos + 1)
    return None


def _value_spans(text: str, pos: int, name: Name, place: _Place, *, escaped: bool) -> Iterator[Span]:
    """Read the value at `pos` and give the part of it that is secret."""
    block = _BLOCK.match(text, pos, pos + 80) if place.joint == "assign" else None
    if block is not None:
        pos = block.end()
    literal = _PREFIX.match(text, pos, pos + 4)
    template = literal is not None and literal[0].lower() in {"f", "rf", "fr", "$"}
    if literal is not None:
        pos = literal.end()
    quoted = read_quoted(text, pos)
    if quoted is None and place.joint == "assign":
        # A pretty-printed value may stand in the next line, but only a quoted one is sure to be it.
        gap = re.compile(r"\s+").match(text, pos, pos + 40)
        if gap is not None:
            quoted = read_quoted(text, gap.end())
            if quoted is None:
                return
    if quoted is not None:
        value = quoted
    else:
        if place.joint == "tag":
            close = text.find("<", pos, pos + MAX_VALUE)
            if close < 0 or text[close : close + 2] != "</":
                return
            value = Value(start=pos, end=close, quote="<", after=close)
        elif place.joint == "plist":
            close = text.find("</string>", pos, pos + MAX_VALUE)
            if close < 0:
                return
            value = Value(start=pos, end=close, quote="<", after=close)
        else:
            bare = read_bare(text, pos, whole=place.alone and not escaped and not place.code and place.joint == "assign")
            if bare is None:
                return
            value = bare
    if value.end <= value.start:
        return
    word = text[value.start : value.end]
    if name.kind == "credential" and place.joint in {"assign", "comma", "call", "pair", "compare"}:
        span = credential_span(text, value)
        if span is not None:
            yield span
            return
    if name.kind == "cookie":
        if place.joint in {"assign", "comma", "call"}:
            yield from cookie_spans(text, value)
        return
    if template and "{" in word:
        return
    after = text[value.after : value.after + 48]
    if _believe(word, name, place, quoted=bool(value.quote), after=after):
        end = value.end
        if end - value.start >= MAX_VALUE:
            end = run_on(text, end)
        yield value.start, end, name.kind


# ----------------------------------------------------------------------------------------- belief

_SENTENCE: Final = re.compile(r"^[ \t]+(?:[a-z]{2,}|[a-z][A-Z]?\b)")
_NEXT_SETTING: Final = re.compile(r"^[ \t]+[\w.-]{1,40}[ \t]?[=:]")
_LINE_END: Final = re.compile(r"^[ \t]*(?:$|[\r\n#]|\\n|\\r|\"|'|//|<|\(|[.,;!?](?:\s|$))")
_IDENTIFIER: Final = re.compile(r"^[A-Za-z_$][A-Za-z0-9_$]*$")
_CAMEL: Final = re.compile(r"^[a-z]+(?:[A-Z][a-z]+)+$|^(?:[A-Z][a-z]+){2,}$")
_SUFFIXED: Final = re.compile(r"(?:ed|ing|ly|able|ible|ent|ant|ful|ous|ive|ary|tion|ment)$")
_DECLARES: Final = re.compile(r"(?i)\b(?:with|identified by|encrypted|define|set)\s*(?:encrypted\s+)?$|#define\s+$|define\(\s*['\"]$")
_ALGORITHM: Final = re.compile(r"(?i)^(?:sha|md|base|utf|aes|rsa|scrypt|bcrypt|argon|pbkdf|hs|rs|es|oauth|ed)-?\d+\w*$|^(?:v|p|t|arg|param|var|val|x)\d$")


def believe_field(key: str, value: str) -> str | None:
    """Judge a field of a decoded object: the kind of secret that `value` is, or None."""
    name = classify(key)
    if name is None or name.kind == "cookie" or not value:
        return None
    place = _Place(
        joint="assign", alone=False, shell=False, query=False, flag=False, code=False, before=""
    )
    return name.kind if _believe(value, name, place, quoted=True, after="") else None


def _believe(word: str, name: Name, place: _Place, *, quoted: bool, after: str) -> bool:
    """Decide whether a value is the secret that its name announces."""
    head = word[:256]
    if is_stand_in(head) or is_stop_word(head):
        return False
    if name.plain:
        believed = _believe_password(head, name, place, quoted=quoted, after=after)
    else:
        believed = _believe_key(word, name, place, quoted=quoted)
    return believed


def _believe_password(word: str, name: Name, place: _Place, *, quoted: bool, after: str) -> bool:
    """Decide about a value that people choose, so that it may be an ordinary word."""
    size = len(word)
    mixed = is_mixed(word)
    if size < 3 or names_a_secret(word) or is_path(word):
        return False
    if word.isdigit():
        if size < 4 or (name.bare and not quoted):
            return False
        return place.joint in {"assign", "flag", "pair", "tag", "plist", "cell"}
    if is_measure(word) and not quoted:
        return False
    if name.bare and not (mixed or (_LOGIN.search(place.before) and place.joint == "assign")):
        return False
    if _ALGORITHM.match(word):
        return False
    if quoted:
        return _believe_quoted_password(word, place, mixed=mixed, after=after)
    if is_code(word) and not (place.shell and "(" not in word):
        return False
    if place.joint in {"comma", "call", "compare", "typed"}:
        return False
    if place.shell or place.query:
        return True
    if place.flag:
        return mixed or not (word[0] == "-" or _CAMEL.match(word) or word.isupper())
    if place.joint in {"tag", "plist", "pair"}:
        return mixed or (not _SENTENCE.match(after) and not _SUFFIXED.search(word))
    if place.joint == "cell":
        return mixed and not is_wordy(word)
    if place.joint in {"said", "next", "blank"}:
        return _believe_spoken(word, place, mixed=mixed, after=after)
    if _IDENTIFIER.match(word):
        if place.code or after[:1] in {"(", ")", "[", "{"}:
            return False
        if not any(c.isdigit() for c in word):
            if "_" in word or "$" in word or _CAMEL.match(word) or _SUFFIXED.search(word):
                return place.alone and not place.code and "_" in word and _LINE_END.match(after) is not None
            if _SENTENCE.match(after) and not _NEXT_SETTING.match(after):
                return False
            return bool(_LINE_END.match(after) or _NEXT_SETTING.match(after))
        return True
    return mixed or (place.alone and bool(_LINE_END.match(after)))


def _believe_quoted_password(word: str, place: _Place, *, mixed: bool, after: str) -> bool:
    """Decide about a quoted password."""
    if " " in word.strip():
        words = word.split()
        if any(is_stop_word(part) for part in words):
            return False
        return all(part.islower() for part in words) and 3 <= len(words) <= 12 or mixed and len(words) <= 4 and not is_wordy(word)
    if is_code(word) and ("(" in word or "." in word) and not any(c.isdigit() for c in word):
        return False
    if place.joint in {"comma", "call", "compare", "cell"}:
        return mixed or bool(_DECLARES.search(place.before))
    if place.joint in {"next", "blank"}:
        return mixed or bool(_DECLARES.search(place.before))
    if place.joint == "said":
        return not (_SUFFIXED.search(word) and not mixed)
    return not word.startswith(("#", ".")) and not (word.endswith(":") or word.endswith("?"))


def _believe_spoken(word: str, place: _Place, *, mixed: bool, after: str) -> bool:
    """Decide about a bare word in a sentence such as `the password is hunter2`."""
    core = word.rstrip(".,;:!?)")
    if is_code(core) or is_measure(core):
        return False
    letters = any(c.isalpha() for c in core)
    if letters and any(c.isdigit() for c in core) and len(core) >= 5:
        return True
    if mixed and len(core) >= 6 and letters:
        return "'" not in core and "/" not in core and not core.startswith(("(", "[", "*", "#", "@"))
    if place.joint != "said" or not core.isalpha() or len(core) < 4:
        return False
    if not re.search(r"(?:is|was|be|now|to)\s*:?\s*$", place.before) and place.joint != "said":
        return False
    return not _SUFFIXED.search(core) and core.islower() and bool(_LINE_END.match(after)) and False


def _believe_key(word: str, name: Name, place: _Place, *, quoted: bool) -> bool:
    """Decide about a value that a machine draws."""
    if word[:7].lower() == "base64:":
        word = word[7:]
    if any(c.isspace() for c in word):
        words = word.split()
        return name.kind == "secret" and len(words) in {12, 15, 18, 21, 24} and all(w.isalpha() and w.islower() for w in words)
    if not quoted and is_code(word[:256]):
        return False
    if place.joint in {"said", "next", "blank", "cell", "comma", "call", "compare"} or name.kind == "credential":
        return is_random(word, least=12)
    if name.bare and not (place.shell or place.query or place.flag):
        return is_random(word, least=10) or (quoted and name.kind == "secret" and _chosen(word))
    if is_random(word):
        return True
    return (quoted or place.shell or place.alone) and not place.code and _chosen(word)


def _chosen(word: str) -> bool:
    """Tell whether a key was chosen by a person: no word, but letters with digits or marks."""
    return (
        len(word) >= 8
        and any(c.isdigit() for c in word)
        and any(c.isalpha() for c in word)
        and not is_path(word)
        and not is_measure(word)
        and not (is_wordy(word) and sum(c.isdigit() for c in word) < 3)
    )
