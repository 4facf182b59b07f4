"""Find passwords that a sentence gives in other words than `the password is ...`.

The words between name and value (`the password for the NAS is ...`), the value first (`use ... as
the password`), pairs (`login is bob / ...`), and languages other than English. A word of a sentence
is believed only when no everyday word looks like it, save in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import re2

from factbook.redaction.apart import PASSWORD, below_spans
from factbook.redaction.belief import is_message, is_passed
from factbook.redaction.labels import label_near
from factbook.redaction.lazy import Lazy
from factbook.redaction.numbers import END, FAR, IS, OPEN, code_spans, pin_spans
from factbook.redaction.reading import line_end, match_end, read_quoted
from factbook.redaction.spans import Span
from factbook.redaction.values import (
    has_both,
    is_algorithm,
    is_called,
    is_code,
    is_host,
    is_identifier,
    is_jumbled,
    is_numbered,
    is_plausible,
    is_random,
    is_stop_word,
    is_strong,
    is_wordy,
)

HINT: Final = (
    r"\b(?:pass|pw|pwd|Pass|PW|[pP]/[wW])[ :']| as pw"
    r"|(?:pin|PIN|Pin|puk|PUK)s?(?:[ :='\"?]|-?[cC]ode|-?[nN]ummer)"
    r"|SSID|\b[wW]i-?[fF]i[ :]|(?i:wlan)[- :]"
    r"|(?:ssh|sign|get) in (?:with|as) "
    r"|(?i:clave|mot de passe|parola|wachtwoord|\bhas(?:l|\?)o\b|passwort|kennwort|senha|contrase)"
    r"|(?i:heslo|jelsz|passord|salasana|adgangskode|kata sandi)"
    r"|(?i:mdp[ :=]|zugang|losungswort|phrase secr|identifiant)"
    r"|(?i:cre?den[cz]i|acc(?:e|\?)ss?\b|acces?so|acesso|palavra.passe)"
    r"|(?i:2fa|totp|otp|mfa|authenticator)[ :-]"
)

_FORTH: Final = 140  # characters of a sentence that are read behind a name
_BACK: Final = 100  # and before it
_NAME_ROOM: Final = 40  # more than a name in a sentence needs, with what must follow it

_VALUE: Final = Lazy(r"[^\s\"'`<>“”„«»「」『』，。；、]{3,128}")
_ASIAN: Final = Lazy(r"[!-~]{4,128}")
_ASIAN_CLOSE: Final = Lazy(r"[」』）\n]")
_ESCAPED: Final = Lazy(r"\\+[nrt\"]")
# What a line must have for one of its words to be taken for a password: a digit beside a letter, a
# quote, a mark or a capital inside a word, words joined by dashes.
_CANDIDATE: Final = Lazy(
    r"[A-Za-z]-?\d|\d[A-Za-z]|[\"'`“«]\S|\w[!@#$%^&*+=~?]\S|[a-z][A-Z]|[a-z]-[a-z]+-[a-z]|[a-z]\.[a-z]+\.[a-z]"
)

_NAME: Final = Lazy(
    r"(?i)(?<![\w.$&?/%-])(?:(?:app|db|sudo|root|admin|user|login|wifi|wi-fi|ssh|my|master)[ _-]?)?"
    r"(?:password|passwd|passphrase|passcode|pass|pwd|pw|pin(?: code)?|"
    r"secret(?: access)?(?: key)?|(?:api|access|private|signing|encryption) key|token)"
    r"(?![\w\"\\=(/-]|'(?!s )|\.\S)"
)
_NAME_WORDS: Final = ("pass", "key", "token", "secret", "pw", "pin")  # one is in each of them
_KEY_NAME: Final = Lazy(r"(?i)key|secret|token")
_KINDS: Final = {"key": "api-key", "secret": "secret", "token": "token"}
_OVER: Final = Lazy(r"[\w\"\\=(/-]|'(?!s )|\.\S")  # a name that goes on is none of a sentence
_LETTERS: Final = Lazy(r"[^\W\d_]*")
# Words that lead from a name to its value, and what joins them at last.
_JOIN: Final = Lazy(
    r"""(?ix)
    (?P<far>(?:'s|’s|\ (?:for|of|on|to|at|in|from|that|which|you|we|they|has|changed|was|is|got)\b
        |\ \([^()\n"'`]{1,40}\))
      [^\n"'`“:=;\[]{0,90}? | ,?\ ?)
    (?(far)(?:(?=\W)|(?<=\W))|(?!\ ?[:=]))
    (?: \b(?:is|was|are|be|remains|it's|it’s|its|being|became|equals)
          (?:\ (?:now|still|currently|just|always|simply|literally|
              set\ to|changed\ to|going\ to\ be))?
      | \bto | :\ ?=? | = | -> | → | => | –|—|\ - | \.{2,}\ ?:? | 's | ’s )
    \ *:?\s?\ *(?=\S)
    """
)
_JOINS: Final = 3  # a sentence may say `is` before it says what
_APPOSITION: Final = Lazy(r", (?=\S{6,64},)")
# The value first: `use hunter2 as the password`, `hunter2 is the password for ...`.
_FIRST: Final = Lazy(
    r"(?i)(?:^|[\s(])(?P<q>[\"'`“]?)(?P<s>\S{4,64}?)[\"'`”]?"
    r"(?P<said> is| was| =|,? as|,? for|,)"
    r" (?:(?:the|my|your|our|a|an|its|their|his|her|that) )?(?:[\w'’@.#-]{1,24} ){0,3}[\"'`(]?$"
)
_PHRASE_DASHES: Final = 2  # in a password of several words
_NAME_ENDS: Final = Lazy(
    r"(?: (?:for|of|to|on|in|at|now|and|that|you|we|i|he|she|it|they)\b|[,.;!)]|\s*$)"
)
# A pair of user and password: `login is bob / hunter2`, `ssh in as bob with hunter2`.
_PAIR: Final = Lazy(
    r"""(?ix)
    (?:log-?ins?|creds?|credentials?|log(?:ged)?[ -]?in|ssh\ in|sign(?:ed)?\ in|get\ in|
       user(?:name)?(?:/pass(?:word)?)?|account|auth)
    (?:[ ](?:for|to|of|on|at|in)\b[^\n"'`:=/]{1,60}?)??
    [\s*`"\\|]*+(?:(?:(?:is|are|were|was|with|as|using|the|test)\b|:|=|->|=>|→|-|–|—)[\s*`"\\|]*+){1,3}
    [("'`*]{0,2}(?P<user>[\w.@+\\-]{1,48})[)"'`*]{0,2}
    (?:\ ?[/:|]\ ?|\ (?:and|with|using|,|&)(?:\ (?:the|a))?(?:\ (?:pass\w*|pw|pwd))?\ |
       ,?\ (?:and\ )?(?:pass\w*|pw|pwd)(?:\ is|:|\ =)?\ )
    """
)
_PAIR_BESIDE: Final = Lazy(r"(?i)log-?in (?:is )?(?P<user>[a-z][\w.-]{1,24}) ?/ ?(?=\S)")
_PAIR_ALONE: Final = Lazy(  # creds: bob hunter2
    r"(?i)cred(?:ential)?s?:? (?P<user>[a-z][\w.@-]{1,32}) (?=[^\s:]{6,64}[ \t]*(?:$|\n))"
)
_PAIR_BEFORE: Final = Lazy(  # use bob / hunter2 to log in
    r"(?:^|[\s\"'`(])(?P<user>[A-Za-z][\w.@-]{1,32}) ?[/:] ?(?P<s>\S{4,64}?)[\"'`)]?"
    r" (?:to|and|then) (?:ssh |sign )?$"
)
_SHORT: Final = Lazy(r"(?i)(?:pass|pw|pwd|p/w)(?:word|code)?(?: is|:| =|'s)? ")
# The key of a network beside what says so: `SSID Elch, key ...`.
_NETWORK: Final = Lazy(
    r"(?i)[^\n]{4,60}?(?:/|[\s,;-](?:key|code|clave|cl[ée]|schl(?:ü|ue)ssel)\b)"
    r"(?: (?:is|ist|est|es))?[ :]{0,3}"
    r"(?=([^\s,;/]{6,64}))"
)
# What stands before a value in the languages that people write in, behind a word for a secret.
_SHAPED: Final = r"[^\s\"'`/,;()«»“”]"  # a character of such a value
_LED_TO: Final = r"[:=([»]\s?|[-=]>\s?|→\s?|@[\w-]+\.[A-Za-z]{2,6}[ :,]{1,2}"
_SAID_TO: Final = (  # the words are tried only where a short one stands
    r"\b(?=[^\W\d_]{1,8}['\s])"
    r"(?i:is|was|be|to|from|now|it's|its|and|with|type|use|ist|war|lautet|auf|von|vom|zu|und|est"
    r"|c'est|de|à|es|era|a|é|è|da|para|por|y|e|et|pw|pass|passwor[td])\s+:?"
)
_WITH_USER: Final = r"(?<![\w/.~-])[\w.@+-]{1,32} ?/ ?"
_BEFORE_SHAPED: Final = Lazy(rf"(?:{_LED_TO}|{_SAID_TO})[\"'`«“]?(?=({_SHAPED}{{6,64}}))")
_BEFORE_SHAPED_OR_USER: Final = Lazy(
    rf"(?:{_LED_TO}|{_WITH_USER}|{_SAID_TO})[\"'`«“]?(?=({_SHAPED}{{6,64}}))"
)
_ADDRESS_BEHIND: Final = Lazy(
    r"(?: [^\s<>]+){0,3} ?<[^\s<>@]+@[^\s<>]+>"
)  # so it is the name of one
_MAY_BE_SHAPED: Final = Lazy(rf"[\s:=(\[»>→/,\"'`«“]{_SHAPED}{{6}}")  # what both end with
_TOLD_WORDS: Final = Lazy(
    rf"(?x){FAR}{IS}[\"'`]?(?P<words>[a-z]{{3,12}}(?:(?:,[ ]?|[ ])[a-z]{{3,12}}){{2,23}})[\"'`]?\.?"
    r"\s*(?:$|[\r\n]|\\+n)"
)
_PHRASE_NAME: Final = Lazy(r"(?i)(?P<wallet>seed|recover|words|mnemonic)|phrase")
_LETTERS_ONLY: Final = Lazy(r"[a-z]+")
_PHRASE_ROOM: Final = 320
_WALLET_WORDS: Final = 12
_LEAVES: Final = Lazy(
    r"[{}<\\&|]|(?<![-=])>|\"\s?[,:\]}]| --?[a-z]|\S\("
)  # where a line is no sentence any more
_PASSED: Final = Lazy(r"(?i)pass(?![a-z-])")
_PASSED_AS: Final = Lazy(r"(?i)pass \S+ as (?:an?|the)\b")
_SENT_BEGIN: Final = frozenset("2tTmMaAoO")  # how what a code is sent for does, see HINT
_TEST: Final = Lazy(r"(?i)test_")
_POLICY: Final = Lazy(
    r"(?i)[\w'’-]{2,16} (?:polic(?:y|ies)|rules?|standards?|go(?:es)?|went|belongs?) to\b"
)
_ONE_TIME: Final = Lazy(
    r"(?i)(?:2fa|t?otp|mfa|authenticator)\b[^\n]{0,40}?[ :=](?-i:([A-Z2-7]{16,64}))\b"
)
# A git trailer, which names the id behind it: `Change-Id: 5b2f09c41d7e`.
_TRAILER: Final = Lazy(r"(?<!\S)[A-Z][A-Za-z]*(?:-[A-Za-z]+)+: ?$")
_TRAILER_ID: Final = Lazy(r"[0-9a-f]{7,64}(?![\w-])")
_COMMIT: Final = Lazy(r"[0-9a-f]{7,10}$")
_TRAILER_CHARS: Final = 40  # more than the name of one has
_SPEAKS: Final = Lazy(r"(?i)log|user|account|cred|in (?:with|as)|auth|acc?[eè]s")


def read_word(text: str, pos: int, *, asian: bool = False) -> tuple[int, int, bool] | None:
    """Read the word or the quoted text at `pos`: its start, its end, whether it was quoted."""
    if text[pos : pos + 1] in {"「", "『", "（"}:
        close = _ASIAN_CLOSE.search(text, pos, pos + 130)
        return None if close is None else (pos + 1, close.start(), True)
    while text[pos : pos + 2] == "**":
        pos += 2
    quoted = read_quoted(text, pos, within=200)
    if quoted is not None:
        return (quoted.start, quoted.end, True) if quoted.end > quoted.start else None
    match = (_ASIAN if asian else _VALUE).match(text, pos)
    if match is None:
        return None
    word = match[0] if "\\" not in match[0] else _ESCAPED.split(match[0], maxsplit=1)[0]
    core = word.rstrip(".,;:\\")
    while (
        core
        and core[-1] in ")]*"
        and core.count("(") < core.count(")") + core.count("]") + (core[-2:] == "**")
    ):
        core = core[:-1].rstrip(".,;:")
    return (pos, pos + len(core), False) if core else None


def _judged(text: str, pos: int, *, kind: str = "password") -> Span | None:
    """Give the word at `pos` when it is plausible."""
    read = read_word(text, pos)
    if read is not None and is_plausible(text[read[0] : read[1]], quoted=read[2]):
        return read[0], read[1], kind
    return None


def _has_candidate(text: str, low: int, high: int) -> bool:
    """Tell whether something in a line, save its labels, could be a word of a password."""
    match = _CANDIDATE.search(text, low, high)
    while match is not None:
        label = label_near(text, match.start())
        if label is None:
            return True
        match = _CANDIDATE.search(text, label, high)
    return False


def shaped_spans(
    text: str, pos: int, *, numbered: bool = True, named: bool = True
) -> Iterator[Span]:
    """Give what in the rest of a line that speaks of a secret has the shape of no ordinary word.

    `numbered`: a word and a number is a password there, the commonest one; things are called so.
    `named`: the line names a password, and not only who has one: then a mark must lead to such one.

    No list of phrases: the line names a secret, in whatever language, something that leads to a
    value stands before the word, and its letters and digits are those of a password.
    """
    high = line_end(text, pos, pos + _FORTH)
    if not _has_candidate(text, pos, high):
        return
    left = _LEAVES.search(text, pos, high)
    high = high if left is None else left.start()
    if _MAY_BE_SHAPED.search(text, pos, high) is None:
        return
    before = _BEFORE_SHAPED if text.find("/", pos, high) < 0 else _BEFORE_SHAPED_OR_USER
    done = pos
    for match in before.finditer(text, pos, high):
        if match.start(1) < done:  # inside the word that was looked at last
            continue
        done = match.end(1)
        if _is_of_trailer(text, pos, match.start(1)):
            continue
        word = match[1].rstrip(".:!?)]}") if not match[1].endswith(("!", "?")) else match[1]
        if not is_shaped(word) or not (numbered or not is_numbered(word)):
            continue
        lead = match[0].rstrip(" \"'`«“")[-1:]
        one = has_both(word) and is_identifier(word) and (named or not lead.isalpha())
        commit = _COMMIT.match(word) is not None
        if commit or (lead != "/" and is_called(word) and not one):
            continue  # `login` leads to many things, and one in a thousand is a password
        if _ADDRESS_BEHIND.match(text, match.end(1), high) is None:
            yield match.start(1), match.start(1) + len(word), "password"


def _is_of_trailer(text: str, pos: int, start: int) -> bool:
    """Tell whether the value at `start` is the id of a trailer that stands whole behind `pos`."""
    low = max(pos + 1, start - _TRAILER_CHARS)
    named = _TRAILER_ID.match(text, start) is not None
    return named and _TRAILER.search(text, low, start) is not None


def is_shaped(word: str) -> bool:
    """Tell whether a word has letters and digits, and is neither a version, a host nor a date."""
    if (
        "://" in word
        or ("@" in word and not _is_marked(word))
        or "[" in word
        or not word.isascii()
        or _NAMED_NUMBER.match(word)
    ):
        return False
    marked = _is_marked(word)
    named = "_" in word or word.count("-") > 2 or word.count(".") > 1
    drawn = not named and (has_both(word) or is_jumbled(word))
    shaped = marked or (drawn and _drawn(word) and not is_algorithm(word))
    return shaped and is_plausible(word, quoted=False)


_MARK_INSIDE: Final = Lazy(r"[A-Za-z0-9][#$%&*!^~+?][A-Za-z0-9]")
_BOTH_CASES: Final = Lazy(r"[^A-Z]*[A-Z][^a-z]*[a-z]|[^a-z]*[a-z][^A-Z]*[A-Z]")


def _is_marked(word: str) -> bool:
    """Tell whether a word has a mark inside, and letters of both cases."""
    return _MARK_INSIDE.search(word) is not None and _BOTH_CASES.match(word) is not None


_NAMED_NUMBER: Final = Lazy(  # v18.17, feature-x1, utf-8, 12.50, Q3-2024, py311, 2h, gh#12
    r"(?i)(?:[a-z]{0,12}[-_.]|[a-z]{0,3}|(?-i:[a-z]+|[A-Z]+)#)v?\d+(?:[.:-]\w+)*[a-z%]{0,3}$"
    r"|\d+[a-z]{1,5}$"
)


def prose_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password of the sentence around a hint, or of the line below it."""
    spans = list(sentence_spans(text, at, end))
    yield from spans
    name = _SAID_SO.match(text, at) if not spans else None
    if name is not None:
        yield from below_spans(text, at, name.end(), PASSWORD)


def sentence_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password of the sentence around a hint."""
    if at and text[at].isalpha() and (text[at - 1].isalnum() or text[at - 1] in "_$/.-"):
        return  # part of a name, which was judged as one
    about = _about(text[at:end])
    if about == "key":
        yield from _key_spans(text, at, end)
        return
    if about == "name" and text[end - 1].isalpha() and _OVER.match(text, _word_end(text, end)):
        return  # `password_field`, `password)`
    low = max(text.rfind("\n", max(0, at - _BACK), at) + 1, at - _BACK, 0)
    high = line_end(text, end, end + _FORTH)
    pins = pin_spans(text, at, end) if about == "pin" else []
    if pins is None or pins:
        yield from pins or ()
        return
    if about == "name" and _FOUR_DIGITS.search(text, end, high) is not None:
        digits = _DIGITS.search(text, max(0, at - _LONGEST_WORD), high)
        if digits is not None and digits.start() <= end:
            yield *digits.span("told" if digits["told"] else "next"), "password"
            return
    sent = list(code_spans(text, at, end)) if text[at] in _SENT_BEGIN else []
    if sent or not _has_candidate(text, low, high):
        yield from sent
        return
    spans: list[Span] = list(pair_spans(text, at, end)) if about == "pair" else []
    short = _SHORT.match(text, at, high)
    if not spans and short is not None:
        span = _judged(text, short.end())
        word = text[span[0] : span[1]] if span is not None else ""
        called = is_numbered(word) or is_called(word) or is_code(word)
        thing = called and (_TEST.match(word) or _is_of_thing(text, low, at))
        spans = [span] if span is not None and _drawn(word) and not thing else []
    beside = max(low, at - 12), min(high, end + _NAME_ROOM)
    near = text[slice(*beside)]
    near = near.lower() if near.isascii() else ""  # beyond ASCII more letters are one of a word's
    named = not spans and (not near or any(word in near for word in _NAME_WORDS))
    name = _NAME.search(text, *beside) if named else None
    if name is not None and name.start() <= end:
        spans = _around(text, low, name, high)
    if not spans:
        worth = not near or any(word in near for word in _FOREIGN_WORDS)
        foreign = _FOREIGN_NAME.search(text, *beside) if worth else None
        if foreign is not None and foreign.start() <= end:
            spans = list(_foreign_at(text, foreign, high))
        once = _ONE_TIME.match(text, at, high)
        if once is not None:
            yield *once.span(1), "secret"
    yield from spans
    numbered = not _is_of_thing(text, low, at)
    yield from shaped_spans(text, end - 1, numbered=numbered, named=about != "pair")


def _is_of_thing(text: str, low: int, at: int) -> bool:
    """Tell whether what a word and a number call behind a name is a thing, and no password.

    One passes an exam or an argument, has the pass of a season, and has a policy for passwords.
    """
    if _PASSED.match(text, at) is None:
        return _POLICY.match(text, at) is not None
    return is_passed(text[low:at]) or _PASSED_AS.match(text, at) is not None


def is_announced(text: str, before: int, start: int, end: int) -> bool:
    """Tell whether what stands beside a password, from `before` on, says that it is one.

    A word for one leads right to it or follows, who speaks calls it their own, or it is written
    for a program that asks: then it may look like any word with digits, and is one all the same.
    """
    if _ANNOUNCED.search(text, before, start) is not None:
        return True
    return _ANNOUNCED_BEHIND.match(text, end, line_end(text, end, end + _BACK)) is not None


def phrase_spans(text: str, start: int, end: int, kind: str) -> Iterator[Span]:
    """Give the plain words that a line tells as a passphrase, up to its end.

    What is called a phrase is one of three words on, a password of four longer ones; either has
    none of those that hold a sentence together, save a wallet's, whose list has some.
    """
    told = _TOLD_WORDS.match(text, end, end + _PHRASE_ROOM)
    if told is None or text.startswith(" to ", end):  # which leads to what somebody does
        return
    words = _LETTERS_ONLY.findall(told["words"])
    common = sum(map(is_stop_word, words))
    named = _PHRASE_NAME.search(text, start, end)
    if len(words) >= _WALLET_WORDS and named is not None:
        fits = 2 * common <= len(words)
    elif named is not None:
        fits = not common and not named["wallet"]
    else:
        longer = len(words) >= 4 and min(map(len, words)) >= 4
        fits = longer and 4 * common <= len(words) and not is_message(told["words"])
    if fits:
        yield *told.span("words"), kind


def _key_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the key beside a network's name."""
    match = _NETWORK.match(text, at, line_end(text, end, end + _FORTH))
    if match is not None and (is_shaped(match[1]) or _KEY_DIGITS.match(match[1]) is not None):
        yield *match.span(1), "password"


@lru_cache(maxsize=4096)
def _about(hint: str) -> str:
    """Tell what a hint is about: a PIN, a network, a pair with a user, a password's name."""
    if hint.lower().startswith(("pin", "puk")):
        return "pin"
    if hint[0] in "SwW" and hint[1:2] in "SiIlL":
        return "key"
    return "name" if _SPEAKS.search(hint) is None else "pair"


def _word_end(text: str, pos: int) -> int:
    return match_end(_LETTERS, text, pos)


def pair_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password of a pair of user and password at a hint such as `login`."""
    low = max(text.rfind("\n", max(0, at - _BACK), at) + 1, at - _BACK, 0)
    high = line_end(text, end, end + _FORTH)
    for shape in (_PAIR, _PAIR_BESIDE, _PAIR_ALONE):
        pair = shape.search(text, max(low, at - 12), high)
        if pair is None or pair.start() > end or is_stop_word(pair["user"]):
            continue
        if _is_of_trailer(text, at, pair.end()):
            continue
        span = _judged(text, pair.end())
        if span is not None and _drawn(text[span[0] : span[1]]):
            yield span
            return
    before = _PAIR_BEFORE.search(text, low, at)
    if before is not None and not is_stop_word(before["user"]):
        word = before["s"]
        if is_plausible(word, quoted=False) and _drawn(word) and is_strong(word):
            yield *before.span("s"), "password"


def _drawn(word: str) -> bool:
    """Tell whether a value without a name for itself has the letters and digits of a password."""
    if "/" in word or is_host(word):
        return False
    shaped = has_both(word) or is_jumbled(word) or _is_marked(word)
    return shaped or (word.count("-") >= 2 and is_wordy(word))


def _around(text: str, low: int, name: re.Match[str], high: int) -> list[Span]:
    """Give the value that stands behind a name in a sentence, or before it."""
    key = _KEY_NAME.search(name[0])
    plain, kind = key is None, "password" if key is None else _KINDS[key[0].lower()]
    pos = name.end()
    for _ in range(_JOINS):
        join = _JOIN.match(text, pos, high)
        if join is None:
            break
        span = _judged(text, join.end(), kind=kind)
        if span is not None and _told(text[span[0] : span[1]], plain=plain):
            return [span]
        pos = join.end()
    aside = _APPOSITION.match(text, name.end(), high) if plain else None
    span = _judged(text, aside.end()) if aside is not None else None
    if span is not None and is_shaped(text[span[0] : span[1]]):
        return [span]
    return _before(text, low, name) if plain else []


def _told(word: str, *, plain: bool) -> bool:
    return is_random(word, least=10) or (plain and is_strong(word))


def _before(text: str, low: int, name: re.Match[str]) -> list[Span]:
    first = _FIRST.search(text, low, name.start())
    if first is None:
        return []
    start, stop = first.span("s")
    word = text[start:stop].strip("\"'`“”,")
    start += text[start:stop].find(word)
    quoted = bool(first["q"])
    if not word or not is_plausible(word, quoted=quoted) or not is_strong(word):
        return []
    if not (has_both(word) or is_jumbled(word) or word.count("-") >= _PHRASE_DASHES):
        return []  # use `default_test.limit` for the pass mark
    # `sha256 is the password hash`: what says what a value is ends there, and is no noun beside it.
    said = first["said"].strip() not in {"is", "was", "=", ","}
    if said or quoted or (has_both(word) and _NAME_ENDS.match(text, name.end()) is not None):
        return [(start, start + len(word), "password")]
    return []


FOREIGN: Final = (
    *("密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "암호"),
    *("пароль", "Пароль", "ПАРОЛЬ", "пароля", "hasło", "Hasło", "lösenord", "Lösenord"),
    *("şifre", "Şifre", "mật khẩu", "Mật khẩu", "contraseña", "Contraseña", "adgangskode"),
)
"""Words for a password in which a letter is not ASCII; hints are ASCII, so they are looked up."""

_ANY_FOREIGN: Final = re2.compile("|".join(FOREIGN).encode())
_ONE_FOREIGN: Final = Lazy("|".join(FOREIGN))
_FOREIGN_NAME: Final = Lazy(
    r"(?i)contrase(?:ñ|n|\\u00f1)a|clave|mot de passe|(?<![\w-])mdp(?![\w-])|senha|passwort|"
    r"kennwort|"
    r"(?<![\w-])password(?= (?:è|ora|del|della|dello|di|ist|lautet|für) )|"
    r"wachtwoord|"
    r"parola(?: d'ordine| chiave)?|has[łl]o|lösenord|şifre|mật khẩu|密[码碼]|口令|パスワード|"
    r"暗証番号|비밀번호|암호|парол[ьяе]|adgangskode|"
    r"heslo|jelsz[óo]|passord|salasana(?:ni|si)?|kata sandi"
)
_DIGITS: Final = Lazy(  # my passcode is 120465; without what leads to them, more of them
    r"(?ix)(?<![\w.$-])(?:(?P<short>passcode)|passwords?|passwd|pwd?|"
    + _FOREIGN_NAME.pattern[4:].replace(" ", "[ ]")
    + rf")(?![\w=-])(?:{FAR}{IS}{OPEN}(?P<told>(?(short)\d{{4,63}}|\d{{6,63}})){END}"
    + rf"|[ ]{OPEN}(?P<next>(?(short)\d{{4,63}}|\d{{8,63}})){END}"
    r"(?:(?<=\d{12})|(?![ ](?!is\b|was\b|its\b|this\b)[a-z]{2,}s\b)))"  # which counts something
)
_FOUR_DIGITS: Final = Lazy(r"\d{4}")  # quick to look for, and hardly any line has them
_LONGEST_WORD: Final = 16
_COPULA: Final = (
    r"(?:is|was|are|ist|war|lautet|es|est|é|è|er|är|je)(?:[ ](?:now|still|jetzt|ora))?"
    r"|(?:changed|set|reset|updated|switched)[ ]to"
)
_ANNOUNCED: Final = Lazy(
    r"(?ix)(?:(?:(?<![\w-])(?:pass(?:word|wd|phrase|code)?|pwd?|pin|puk|secret|key)|"
    + _FOREIGN_NAME.pattern[4:].replace(" ", "[ ]")
    + rf")(?:[ ](?:to[ ])?|(?:['’]s)?(?:[ ][^\s\d\"`:=;.]{{1,24}}){{0,6}}?[ ](?:{_COPULA}):?[ ])"
    r"|[ ]in[ ](?:as|with|using)[ ]\S{1,48}[ ](?:with|and|using)[ ]"  # log in as bob with hunter2
    r"|\bcred(?:ential)?s?:[ ][a-z][\w.@-]{1,32}[ ]|salasana[ ]on[ ]"
    r"|(?<![\w-])(?:echo|printf|send)[ ]"  # echo 'hunter2' | sudo -S ls
    r"|\b(?:my|our|mein\w*|unser\w*|mon|ma|notre|mi|mio|mia|meu|minha|mijn|moje?)[ ]"
    r"[^.:;!?\n]{1,60}[ ])[\"'“‘`]?\Z"
)
_ANNOUNCED_BEHIND: Final = Lazy(  # hunter2 as the password, see _FIRST
    r"(?i)[\"'”’`]?,? (?:is|was|as) (?:(?:the|my|your|our|a|an|its|their|his|her|that) )?"
    rf"(?:[\w'’@.#-]{{1,24}} ){{0,3}}?(?:pass(?:word|wd|phrase|code)?|pwd?|pin){_NAME_ENDS.pattern}"
)
_KEY_DIGITS: Final = Lazy(r"\d{8,63}$")
_SAID_SO: Final = Lazy(rf"(?i)(?:pass|pwd?)\b|{_FOREIGN_NAME.pattern[4:]}")
_FOREIGN_WORDS: Final = (  # one is in each of them that is ASCII
    *("contrase", "clave", "mot de passe", "mdp", "senha", "passwort", "kennwort", "wachtwoord"),
    *("parola", "haslo", "adgangskode", "heslo", "jelsz", "passord", "salasana", "kata sandi"),
    *("password ora ", "password d", "password ist ", "password lautet "),
)
_FOREIGN_JOIN: Final = Lazy(
    r"""(?ix)
    [^\n"'`:=：<>{}]{0,60}?
    (?: \s?[:：=＝]\s* | \s(?:es|est|é|è|ist|lautet|is|to|är|er|je|on|være|là|ora|è\ ora|
        este|de|set)\s:?\s*
      | (?:是|为|為|は|が|는|은|이|:)\s* | \s[-–—]\s
      | \s(?=[^\sа-яёА-ЯЁ]{5,}) | \s?[(（] | (?=["'`「『“«]) )
    """
)
_FOREIGN_JOINS: Final = 4


def _foreign_at(text: str, name: re.Match[str], high: int) -> Iterator[Span]:
    """Give the value behind the name of a password in another language."""
    asian = ord(name[0][-1]) > 0x2E7F
    pos = name.end()
    for _ in range(_FOREIGN_JOINS):
        join = _FOREIGN_JOIN.match(text, pos, high)
        if join is None:
            return
        inside = text[join.end() - 1].isalpha() and text.startswith("'", join.end())  # d'argento
        read = None if inside else read_word(text, join.end(), asian=asian)
        if read is not None:
            word = text[read[0] : read[1]]
            if word.startswith("[REDACTED:"):
                return
            if (
                word.isascii()
                and is_plausible(word, quoted=read[2])
                and (read[2] or is_strong(word) or has_both(word) or is_jumbled(word))
            ):
                yield read[0], read[1], "password"
                return
        pos = max(join.end(), pos + 1)


def foreign_names(text: str) -> Iterator[re.Match[str]]:
    """Give the names of passwords that have letters that are not ASCII, wherever they stand."""
    if _ANY_FOREIGN.search(text.encode("utf-8", "replace")) is not None:
        for match in _ONE_FOREIGN.finditer(text):
            name = _FOREIGN_NAME.match(text, match.start())
            if name is not None:
                yield name


def foreign_span(text: str, name: re.Match[str]) -> Iterator[Span]:
    """Give the password behind such a name."""
    spans = list(_foreign_at(text, name, line_end(text, name.start(), name.start() + _FORTH)))
    yield from spans or below_spans(text, *name.span(), PASSWORD)
