"""Decide whether a value is the secret that its name announces, given where both stand.

`password: swordfish` in a settings file is a password, `password: userInput,` in a program is a
variable, and `the password is expired` is a sentence. No single sign tells them apart, so what the
value looks like (`values`), what the name says (`names`) and the place are weighed together.
"""

from __future__ import annotations

import re
from typing import Final

from factbook.redaction.names import Name
from factbook.redaction.place import ValuePlace
from factbook.redaction.values import (
    has_both,
    is_algorithm,
    is_called,
    is_code,
    is_identifier,
    is_jumbled,
    is_measure,
    is_mixed,
    is_numbered,
    is_path,
    is_random,
    is_stand_in,
    is_stop_word,
    is_wordy,
    speaks_of_a_secret,
)

_WEAK: Final = frozenset({"comma", "call", "compare", "default", "cell", "next", "blank"})
_FIRM: Final = frozenset({"assign", "flag", "pair", "tag"})
_SEED_WORDS: Final = frozenset({12, 15, 18, 21, 24})  # lengths of a wallet's recovery phrase

_CODE: Final = re.compile(r"\d{4,24}$")
_DIGIT: Final = re.compile(r"\d")
_MARKED: Final = re.compile(r"[#$%&!^*+?~@]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_ACCOUNT: Final = re.compile(
    r"(?i)\b(?:user|username|usr|login|account|host|server|email|admin|root|ssh|ftp|db|wifi|ssid)\b"
)
# What says that `pass` is the verb, or a ticket. A noun that is not here (`netflix pass`) has a
# password: rather too much is taken.
_PASSES: Final = re.compile(
    r"(?i)(?<![\w'’])(?:i|we|you|he|she|it|they|that|who|to|not|and|or|please|let \w+|"
    r"(?:must|can?|could|will|wo|would|shall|should|may|might|do|does|did)(?:n['’]?t)?|"
    r"bus|train|rail|season|day|ski|lift|park|museum|travel|boarding) $"
)
_SENTENCE: Final = re.compile(r"[ \t]+(?:[a-z]{2,}|[a-z][A-Z]?\b)")
_AFTER_SETTING: Final = re.compile(r"\w=[^\s,()]+ $")
_NEXT_SETTING: Final = re.compile(r"[ \t]+[\w.-]{1,40}[ \t]?[=:]")
_LINE_END: Final = re.compile(r"[ \t]*(?:$|[\r\n#<(]|\\+[nr\"']|[\"']|//|&\w|\)|[.,;!?](?:\s|$))")
_AND: Final = re.compile(r"[ \t]+and[ \t]+(?:my|the|your|it|user|login)\b")
_FALLBACK: Final = re.compile(r"(?i)(?:env(?:iron)?(?:\.get)?|getOrDefault)\([\"']$")
_INTRODUCES: Final = re.compile(
    r"(?i)(?:\b(?:with|using|use|and|the|my|your|our|a|this|is|temporary|admin|root|default|new|"
    r"same)|[,:(])[ ]$"
)
_CAMEL: Final = re.compile(r"^[a-z]+(?:[A-Z][a-z]+)+$|^(?:[A-Z][a-z]+){2,}$")
_INFLECTED: Final = re.compile(r"(?:ed|ing|ly|able|ible|ent|ant|ful|ous|ive|ary|tion|ment)$")
_ASIDE: Final = re.compile(r"^[(\[*#@]|['/]")
_MESSAGE: Final = re.compile(  # what a form says to who fills it in, a test to who runs it
    r"(?i)\b(?:must|should|please|enter|choose|requires?d?|invalid|incorrect|wrong|least|m[ai]x?n?imum"
    r"|char(?:acter)?s?|match(?:es)?|can't|cannot|blank|your|fields?|tests?|passed|failed|users?)\b"
)
_DOTTED: Final = re.compile(r"^[a-z]{3,}(?:\.[a-z]{3,}){2,}$")


def believe(word: str, name: Name, place: ValuePlace) -> bool:
    """Decide whether a value, of which the beginning is enough, is what its name announces."""
    if is_stand_in(word) or is_stop_word(word):
        return False
    if not name.plain:
        return _believe_drawn(word, name, place)
    if name.digits:
        return _CODE.match(word) is not None and place.joint in _FIRM
    spoken = speaks_of_a_secret(word) and not (place.shell and " " in word)
    if len(word) < 3 or spoken or is_path(word) or is_algorithm(word):
        return False
    if word.isdigit():
        firm = place.joint in _FIRM or place.joint == "cell"
        return firm and len(word) >= 4 and (place.quoted or not name.bare)
    if name.bare and not _believe_short_name(word, place):
        return False
    if place.quoted:
        return _believe_quoted(word, place)
    dashed = "-" in word and is_wordy(word) and not _DIGIT.search(word)
    if name.kind == "secret" and dashed and not place.shell:
        return False  # `client_secret: my-client` says where it is kept
    if place.joint in {"said", "next", "blank"}:
        return _believe_said(word, place)
    if place.joint in _WEAK - {"cell"} or place.joint == "typed" or is_measure(word):
        return False
    return _believe_bare(word, place)


def _believe_short_name(word: str, place: ValuePlace) -> bool:
    """Decide whether `pass`, `pw` or `pwd` means a password where it stands."""
    if place.upper and place.joint == "assign" and not place.tight:
        letters = word.isalnum() and has_both(word) and not is_numbered(word)
        return letters and place.alone and not place.report  # which names a test
    if _ACCOUNT.search(place.before) is not None:
        return True
    if place.joint not in _FIRM:
        return has_both(word) and _FALLBACK.search(place.before) is not None
    if place.tight or place.joint == "flag" or is_jumbled(word):
        return True
    called = is_numbered(word) or is_called(word)
    return has_both(word) and not (called and is_passed(place.before))


def is_passed(before: str) -> bool:
    """Tell whether a line that goes on with `pass` speaks of passing, or of a ticket.

    Beside an account it is a password all the same.
    """
    return _PASSES.search(before) is not None and _ACCOUNT.search(before) is None


def _believe_quoted(word: str, place: ValuePlace) -> bool:
    """Decide about a password in quotes or between tags."""
    if " " in word.strip():
        return _believe_phrase(word, place)
    mixed = is_mixed(word)
    if not has_both(word) and (word[0] in "#." or word[-1] in ":?"):  # a selector, a label
        return False
    if place.joint in _FIRM and _DOTTED.match(word) is not None:  # a phrase of several words
        return not any(map(is_stop_word, word.split(".")))
    code = is_code(word, quoted=True)
    if code and (place.joint in _WEAK or place.joint == "said" or not mixed):
        return False
    if place.joint == "comma" and not place.declared:  # it may be a list of names
        phrase = is_mixed(word) and word.count("-") >= 3
        return phrase or (has_both(word) and not (is_wordy(word) and set("-_. ") & set(word)))
    if place.joint in _WEAK:
        return mixed or place.declared or (place.upper and place.joint == "next")
    if place.joint == "said":
        return mixed or not _INFLECTED.search(word)
    return True


def _believe_phrase(word: str, place: ValuePlace) -> bool:
    """Decide about several words in quotes: a passphrase, or what a program says of one.

    The quotes of a setting say where its value ends, so that it may be any words; where it could as
    well be a message, it must have fewer words that every sentence has.
    """
    words = word.split()
    if len(words) > max(_SEED_WORDS) or all(part[0] == "$" for part in words):
        return False
    mixed, common = is_mixed(word), sum(map(is_stop_word, words))
    lower = all(part.isalpha() and part.islower() for part in words)
    if place.joint not in _FIRM:
        few = common <= len(words) // 4
        return few and (lower or (mixed and not is_wordy(word))) and len(words) > 2
    if _MESSAGE.search(word) is not None:
        return False
    if place.shell or (mixed and place.alone and not place.code):
        return True
    if len(words) == 2:
        return not common and (mixed or lower) and (place.alone or not is_wordy(word))
    return 2 * common <= len(words) and (mixed or lower or place.tight)


def is_message(words: str) -> bool:
    """Tell whether several words say what a secret is like: they begin so, or speak as a form."""
    return _MESSAGE.search(words) is not None or _INFLECTED.search(words.split()[0]) is not None


def _believe_said(word: str, place: ValuePlace) -> bool:
    """Decide about a bare word in a sentence such as `the password is hunter2`.

    Letters with digits or marks are believed. A plain word is only where it ends the sentence and
    is none of those that describe a password (`the password is expired`).
    """
    core = word.rstrip(".,;:!?)")
    if core[:1] == "-" or core[-1:] == "=":
        return False
    if place.joint == "blank" and not (_INTRODUCES.search(place.before) or is_random(core)):
        return (
            place.alone
            and is_mixed(core)
            and not is_code(core)
            and _LINE_END.match(place.after) is not None
        )
    if is_code(core) or is_measure(core) or not _LETTER.search(core):
        return False
    if _DIGIT.search(core):
        return len(core) >= (4 if has_both(core) else 5)
    if core.isalpha():
        told = place.verb in {"is", "was", "is now"} and core.islower() and len(core) >= 5
        ends = any(end.match(word[len(core) :] + place.after) for end in (_LINE_END, _AND))
        return is_jumbled(core) or (told and ends and _INFLECTED.search(core) is None)
    return is_mixed(core) and len(core) >= 6 and _ASIDE.search(core) is None


def _believe_bare(word: str, place: ValuePlace) -> bool:
    """Decide about a bare password in a setting, a flag, a parameter or a table."""
    if place.shell or place.query or place.listed:
        return not (is_code(word) and ("(" in word or place.listed))
    mixed = is_mixed(word)
    if place.joint == "flag":
        if word[0] in "-|(" or (word.isupper() and not has_both(word)):
            return False
        return mixed or not (_CAMEL.match(word) or is_code(word))
    if is_code(word):
        return False
    if place.joint == "cell":
        return (mixed or is_jumbled(word)) and word.split(None, 1) == [word]
    if not is_identifier(word):
        sentence = _SENTENCE.match(place.after) and not _NEXT_SETTING.match(place.after)
        if sentence and "-" in word and is_wordy(word):
            return False  # `password: base64-encoded string`
        return mixed or (place.alone and _LINE_END.match(place.after) is not None)
    return _believe_identifier(word, place)


def _believe_identifier(word: str, place: ValuePlace) -> bool:
    """Decide about a bare word that could as well be a variable of a program."""
    in_settings = place.tight and _AFTER_SETTING.search(place.before) is not None
    if (place.code and not in_settings) or place.after[:1] in {"(", "[", "{", "."}:
        return is_random(word) or (is_jumbled(word) and not word.isupper())
    if _DIGIT.search(word) or is_jumbled(word):
        return True
    settled = place.alone and place.tight
    if _CAMEL.match(word) or "$" in word or (not settled and _INFLECTED.search(word)):
        return False
    ends = _LINE_END.match(place.after) is not None
    if "_" in word:
        return place.alone and ends
    if _NEXT_SETTING.match(place.after):
        return True
    if not (place.alone or place.spaced or place.tight):
        return False  # `passwd:shell` names a part of something
    return ends and not _SENTENCE.match(place.after)


def _believe_drawn(word: str, name: Name, place: ValuePlace) -> bool:
    """Decide about a value that a machine draws: keys, tokens, secrets."""
    word = word.removeprefix("base64:")
    if word.split(None, 1) != [word]:
        parts = word.split()
        words = all(part.isalpha() and part.islower() for part in parts)
        return name.kind == "secret" and len(parts) in _SEED_WORDS and words
    if not place.quoted and is_code(word) and not is_random(word, least=40):
        return place.shell and is_random(word, least=20)
    if name.vague:
        sure = place.joint in _FIRM and (place.shell or place.alone or place.quoted)
        return sure and is_random(word, least=20) and not word.islower()
    if place.joint == "default" and _is_chosen(word):  # process.env.SECRET || "dev-9a1"
        return True
    if place.joint in _WEAK or place.joint == "said" or name.kind == "credential":
        return is_random(word, least=12)
    if name.bare and not (place.shell or place.query or place.joint == "flag"):
        chosen = place.quoted and name.kind == "secret" and _is_chosen(word)
        return chosen or is_random(word, least=8 if place.tight else 10)
    if is_random(word):
        return True
    literal = place.quoted or place.shell or place.alone or place.query or place.joint == "flag"
    least = 6 if name.kind == "secret" else 8
    if place.shell and place.alone and name.kind == "secret" and has_both(word):
        return len(word) >= least and not is_path(word) and not is_measure(word)
    drawn = len(word) >= 10 and is_jumbled(word) and not is_path(word)
    return literal and (place.quoted or not place.code) and (drawn or _is_chosen(word, least=least))


def _is_chosen(word: str, *, least: int = 8) -> bool:
    """Tell whether a key was chosen by a person: no word, but letters with digits."""
    digits, letters = len(_DIGIT.findall(word)), len(_LETTER.findall(word))
    return (
        len(word) >= least
        and digits >= 1
        and letters >= 3
        and not set("[](){}\\<>|") & set(word)
        and not is_path(word)
        and not is_measure(word)
        and not (is_wordy(word) and digits < 3 and _MARKED.search(word) is None)
    )
