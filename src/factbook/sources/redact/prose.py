"""Find passwords that a sentence gives in other words than `the password is ...`.

The words between name and value (`the password for the NAS is ...`), the value first (`use ... as
the password`), pairs (`login is bob / ...`), and languages other than English. A word of a sentence
is believed only when no everyday word looks like it, save in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import re2

from factbook.sources.redact.reading import line_end, read_quoted
from factbook.sources.redact.spans import Span
from factbook.sources.redact.values import (
    is_jumbled,
    is_measure,
    is_mixed,
    is_path,
    is_random,
    is_stand_in,
    is_stop_word,
    is_wordy,
)

__all__ = ["FOREIGN", "HINT", "foreign_spans", "is_plausible", "prose_spans", "read_word"]

HINT: Final = (
    r"(?i:[ ,(](?:pass|pw|pwd|pin)(?: is |: | for |'s | (?:remains|was) ))|(?i:, (?:pass|pw|pwd) )"
    r"|(?i:\bpin[ :=])|(?i:ssh|sign|get)(?i: in (?:with|as) )"
    r"|(?i:clave|mot de passe|parola|wachtwoord|has(?:l|\?)o|passwort|kennwort|senha|contrase)"
)

_FORTH: Final = 140  # characters of a sentence that are read behind a name
_BACK: Final = 100  # and before it
_SPEAKS: Final = re.compile(
    r"p[aw]|psk|pin|key|cred|log|user|account|in (?:with|as)|clave|mot|wacht|has|kenn|senh|contr|\?"
)
_ADDRESS: Final = re.compile(r"[a-z][\w.-]*@[a-z0-9.-]+(?::\S*)?$|[\w.-]+:\d+$|[\w.-]*[=:]$|\w+=")
_CALL: Final = re.compile(r"\w\(")
_VALUE: Final = re.compile(r"[^\s\"'`<>“”„«»「」『』，。；、]{3,128}")
_ASIAN: Final = re.compile(r"[!-~]{4,128}")
_PHRASE: Final = re.compile(r"^[A-Za-z]{3,}(?:[-._][A-Za-z0-9]{2,}){2,}$")
_SHAPE: Final = re.compile(r"[A-Za-z]\d+[A-Za-z]|\d[A-Za-z]+\d|[!@#$%^&*+={}~?]")

_NAME: Final = re.compile(
    r"(?i)(?<![\w.$&?/%-])(?:(?:app|db|sudo|root|admin|user|login|wifi|wi-fi|ssh|my)[ _-]?)?"
    r"(?:password|passwd|passphrase|passcode|pass|pwd|pw|pin(?: code)?|"
    r"secret(?: access)?(?: key)?|(?:api|access|private|signing|encryption) key)(?![\w\"'\\=.(/-])"
)
_JOIN: Final = re.compile(
    r"""(?ix)
    (?P<far>(?:'s|’s|\ (?:for|of|on|to|at|in|from|that|which|you|we|they|has|changed|was|is|got)\b)
      [^\n"'`“:=;\[]{0,90}? | ,?\ ?)
    (?(far)(?:(?=\W)|(?<=\W))|(?!\ ?[:=]))
    (?: \b(?:is|was|are|be|remains|it's|it’s|its|being|became|equals)
          (?:\ (?:now|still|currently|just|always|simply|literally|
              set\ to|changed\ to|going\ to\ be))?
      | \bto | :\ ?=? | = | -> | → | => | –|—|\ - | \.{2,}\ ?:? | 's | ’s )
    \ *:?\s?\ *(?=\S)
    """
)
_BESIDE: Final = re.compile(r"[ ]?[(\[][ ]?")
_FIRST: Final = re.compile(
    r"(?i)(?:^|[\s(])(?P<q>[\"'`“]?)(?P<s>\S{4,64}?)[\"'`”]?,? (?:as|for|is|was|=) "
    r"(?:(?:the|my|your|our|a|an|its|their|his|her|that) )?(?:[\w'’@.-]{1,24} ){0,3}[\"'`(]?$"
)
_PAIR: Final = re.compile(
    r"""(?ix)
    (?:log-?ins?|creds?|credentials?|log(?:ged)?[ -]?in|ssh\ in|sign\ in|get\ in|user(?:name)?|
       account|auth)
    (?:[ ](?:for|to|of|on|at|in)\b[^\n"'`:=/]{1,60}?)??
    (?:\s*(?:(?:is|are|were|was|with|as|using|the)\b|:|=|->|-|–|—)\s*){1,3}
    [("'`*]{0,2}(?P<user>[\w.@+\\-]{1,48})[)"'`*]{0,2}
    (?:\ ?[/:|]\ ?|\ (?:and|with|using|,|&)(?:\ (?:the|a))?(?:\ (?:pass\w*|pw|pwd))?\ |
       ,?\ (?:and\ )?(?:pass\w*|pw|pwd)(?:\ is|:|\ =)?\ )
    """
)
_SHORT: Final = re.compile(r"(?i)[ ,(](?:pass|pw|pwd)(?:word)?(?: is|:| =|'s)? ")
_PIN: Final = re.compile(
    r"(?i)\bpin(?: code)?\b[^\n\d]{0,40}?(?:is|was|:|=|to) ?[\"'`]?(\d{4,8})\b"
)

FOREIGN: Final = (
    *("密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "암호"),
    *("пароль", "Пароль", "ПАРОЛЬ", "пароля", "hasło", "Hasło", "lösenord", "Lösenord"),
    *("şifre", "Şifre", "mật khẩu", "Mật khẩu", "contraseña", "Contraseña", "adgangskode"),
)
"""Words for a password in which a letter is not ASCII; hints are ASCII, so they are looked up."""

_ANY_FOREIGN: Final = re2.compile("|".join(FOREIGN).encode())
_FOREIGN_NAME: Final = re.compile(
    r"(?i)contrase(?:ñ|n|\\u00f1)a|clave|mot de passe|senha|passwort|kennwort|"
    r"(?<![\w-])password(?= (?:è|ora|del|della|dello|di|ist|lautet|für) )|"
    r"wachtwoord|"
    r"parola(?: d'ordine| chiave)?|has[łl]o|lösenord|şifre|mật khẩu|密[码碼]|口令|パスワード|"
    r"暗証番号|비밀번호|암호|парол[ьяе]|adgangskode"
)
_FOREIGN_JOIN: Final = re.compile(
    r"""(?ix)
    [^\n"'`:=：<>{}]{0,60}?
    (?: \s?[:：=＝]\s* | \s(?:es|est|é|è|ist|lautet|is|to|är|er|være|là|ora|è\ ora|
        este|de|set)\s:?\s*
      | (?:是|为|為|は|が|는|은|이|:)\s* | \s[-–—]\s
      | \s(?=[^\sа-яёА-ЯЁ]{5,}) | \s?[(（] | (?=["'`「『“«]) )
    """
)


def read_word(text: str, pos: int, *, asian: bool = False) -> tuple[int, int, bool] | None:
    """Read the word or the quoted text at `pos`: its start, its end, whether it was quoted."""
    if text[pos : pos + 1] in {"「", "『", "（"}:
        close = re.compile("[」』）\n]").search(text, pos, pos + 130)
        return None if close is None else (pos + 1, close.start(), True)
    while text[pos : pos + 2] == "**":
        pos += 2
    quoted = read_quoted(text, pos, within=200)
    if quoted is not None:
        return (quoted.start, quoted.end, True) if quoted.end > quoted.start else None
    found = (_ASIAN if asian else _VALUE).match(text, pos)
    if found is None:
        return None
    word = re.split(r"\\+[nrt]", found[0], maxsplit=1)[0]
    core = word.rstrip(".,;:")
    while (
        core
        and core[-1] in ")]*"
        and core.count("(") < core.count(")") + core.count("]") + (core[-2:] == "**")
    ):
        core = core[:-1].rstrip(".,;:")
    return (pos, pos + len(core), False) if core else None


def is_plausible(word: str, *, quoted: bool) -> bool:
    """Tell whether a word of a sentence can be a password rather than another word."""
    if is_stand_in(word) or is_stop_word(word) or is_measure(word) or is_path(word):
        return False
    if any(c.isspace() for c in word):
        parts = word.split()
        return quoted and 3 <= len(parts) <= 8 and sum(map(is_stop_word, parts)) == 0
    if not quoted and (_ADDRESS.match(word) or "REDACTED" in word):
        return False
    if not quoted and _CALL.search(word) is not None:
        return False
    if word[0] in "-/<[(|$" or word.endswith(("(", "()", "=")) or "://" in word or len(word) < 5:
        return False
    if word.count("-") == 1 and word.replace("-", "").isalpha() and not is_jumbled(word):
        return False
    if _PHRASE.match(word) is not None and not is_random(word):
        return quoted or (word.count("-") + word.count("."), word.isalpha()) >= (2, False)
    letters = any(c.isalpha() for c in word)
    digits = any(c.isdigit() for c in word)
    if not quoted and word.endswith(("?", "!")) and not (letters and digits):
        return False
    return letters and (is_jumbled(word) or quoted or (is_mixed(word) and len(word) >= 6))


def _judged(text: str, pos: int) -> Iterator[Span]:
    """Give the word at `pos` when it is plausible."""
    read = read_word(text, pos)
    if read is not None and is_plausible(text[read[0] : read[1]], quoted=read[2]):
        yield read[0], read[1], "password"


def prose_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password of the sentence around a hint."""
    hint = text[at:end].lower()
    if _SPEAKS.search(hint) is None or text.endswith("[REDACTED:", max(0, at - 10), at):
        return
    if at and hint[0].isalpha() and (text[at - 1].isalnum() or text[at - 1] in "_$/.-"):
        return  # part of a name, which was judged as one
    low = max(text.rfind("\n", max(0, at - _BACK), at) + 1, at - _BACK, 0)
    high = line_end(text, end, end + _FORTH)
    pin = _PIN.search(text, max(low, at - 8), high)
    if pin is not None and "pin" in text[at:end].lower():
        yield *pin.span(1), "password"
        return
    short = _SHORT.match(text, at, high)
    pair = _PAIR.search(text, max(low, at - 12), high)
    spans: list[Span] = []
    if pair is not None and pair.start() <= end and not is_stop_word(pair["user"]):
        spans = [span for span in _judged(text, pair.end()) if _drawn(text, span)]
    if not spans and short is not None:
        spans = [span for span in _judged(text, short.end()) if _drawn(text, span)]
    name = _NAME.search(text, max(low, at - 12), high)
    if not spans and name is not None and name.start() <= end:
        spans = _around(text, low, name, high)
    if not spans:
        foreign = _FOREIGN_NAME.search(text, max(low, at - 12), high)
        if foreign is not None and foreign.start() <= end:
            spans = list(_foreign_at(text, foreign, high))
    yield from spans


def _drawn(text: str, span: Span) -> bool:
    """Tell whether a value without a name for itself has the letters and digits of a password."""
    word = text[span[0] : span[1]]
    both = any(c.isdigit() for c in word) and any(c.isalpha() for c in word)
    return "/" not in word and (
        (both and not (is_wordy(word) and "." in word))
        or _PHRASE.match(word) is not None
        or is_jumbled(word)
    )


def _around(text: str, low: int, name: re.Match[str], high: int) -> list[Span]:
    """Give the value that stands behind a name in a sentence, or before it."""
    plain = re.search(r"(?i)key|secret|token", name[0]) is None
    beside = _BESIDE.match(text, name.end(), high)
    pos = name.end()
    if beside is not None:
        close = {"(": ")", "[": "]"}[beside[0].strip()[0]]
        stop = text.find(close, beside.end(), high)
        read = text[beside.end() : stop] if stop >= 0 else ""
        if read and is_plausible(read, quoted=False) and plain and _strong(read):
            return [(beside.end(), stop, "password")]
    for _ in range(3):
        join = (
            _JOIN.match(text, name.end(), high)
            if pos == name.end()
            else _JOIN.match(text, pos, high)
        )
        if join is None:
            break
        for start, stop, kind in _judged(text, join.end()):
            word = text[start:stop]
            if (plain and _strong(word)) or is_random(word, least=10):
                return [(start, stop, kind)]
        pos = join.end()
    first = _FIRST.search(text, low, name.start()) if plain else None
    if first is not None:
        start, stop = first.span("s")
        word = text[start:stop].strip("\"'`“”,")
        start += text[start:stop].find(word)
        quoted = bool(first["q"])
        said = re.search(r"(?i) (?:is|was|=) ", text[stop : name.start()]) is None or quoted
        if said and word and is_plausible(word, quoted=quoted) and _strong(word):
            return [(start, start + len(word), "password")]
    return []


def _strong(word: str) -> bool:
    """Tell whether a word is no name of a thing: `sha256` and `us-east-1` are."""
    return (
        _SHAPE.search(word) is not None
        or is_random(word)
        or _PHRASE.match(word) is not None
        or (any(c.isdigit() for c in word) and len(word) >= 8 and word[-1:] != "d")
    ) and re.match(r"(?i)(?:sha|md|aes|oauth|base|utf|rsa|ed)-?\d", word) is None


def _foreign_at(text: str, name: re.Match[str], high: int) -> Iterator[Span]:
    """Give the value behind the name of a password in another language."""
    asian = ord(name[0][-1]) > 0x2E7F
    pos = name.end()
    for _ in range(4):
        join = _FOREIGN_JOIN.match(text, pos, high)
        if join is None:
            return
        read = read_word(text, join.end(), asian=asian)
        if read is not None:
            word = text[read[0] : read[1]]
            if word.isascii() and is_plausible(word, quoted=read[2]) and (read[2] or _any(word)):
                yield read[0], read[1], "password"
                return
        pos = max(join.end(), pos + 1)


def _any(word: str) -> bool:
    return _strong(word) or any(c.isdigit() for c in word) or is_jumbled(word)


def foreign_spans(text: str) -> Iterator[Span]:
    """Give the passwords whose name has letters that are not ASCII, wherever it stands."""
    if _ANY_FOREIGN.search(text.encode("utf-8", "replace")) is None:
        return
    for name in FOREIGN:
        at = text.find(name)
        while at >= 0:
            found = _FOREIGN_NAME.match(text, at)
            if found is not None:
                yield from _foreign_at(text, found, line_end(text, at, at + _FORTH))
            at = text.find(name, at + len(name))
