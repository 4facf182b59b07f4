"""Judge a value: is it a secret, or does it stand for one, name one, compute one, describe one?

Everything here takes one short value and looks at its first characters only, so the cost is bounded
however long the value is.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from functools import lru_cache
from operator import add
from typing import Final

from factbook.redaction.vocabulary import vocabulary

_LOOK: Final = 64  # characters that decide what a value is; more would make long values expensive

# Words that describe a secret or say that none is given, compared whole and folded.
_STOP_WORDS: Final = vocabulary(
    """
    str string strings text varchar char chars byte bytes buffer bool boolean int integer number
    float double any object array list dict map none null nil undefined void never unknown nan
    true false yes no on off ok define undef required requires optional invalid incorrect wrong
    missing empty blank needed expired reset changed updated unset valid weak strong correct
    hidden visible shown disabled enabled default masked encrypted encoded hashed plain
    plaintext protected sensitive confirm confirmed new old current prompt input output email
    mail username user users name names field fields value values hash hashes salt type types
    kind length min max label example examples sample auto automatic safe fine good bad okay
    unique simple complex easy hard similar different identical common mandatory temporary
    present absent available below above there back lost gone sent broken written stolen taken
    known chosen important compromised random generated error errors failed failure success
    successful saved stored forgotten public private secure insecure short long redacted removed
    omitted filtered placeholder todo tbd fixme n/a changeme change_me change-me replaceme
    replace_me replace-me dummy fake mock here this that these those it its is are was were be
    been being has have had do does did done not and or but if then else when while for from to
    of in at by with without as via per about the a an your my our their his her some same each
    every all both must should can could may might will would shall only also just now always
    again first last next previous set get put post use used using uses see read write show
    enter entered provide provided given pass passed passing passes key keys password passwords
    passwd passphrase pwd secret secrets token tokens apikey api_key api-key api auth
    authentication authorization credential credentials login logins access accesskey bearer
    basic digest header headers cookie cookies session sessions env environment variable
    variables var vars config configuration option options param params parameter parameters
    argument arguments arg args flag flags file files path url uri host server client service
    database account accounts stdin stdout prompted interactive manager resets recovery changes
    rotation policy strength requirements rules generator validation validator verification self
    cls super req res request response ctx context data body payload result item obj statement
    keyword literal operator const let function class return async await typeof instanceof
    export import interface enum struct same-origin include omit anonymous than very quite really
    still too like because until since after before during what which who how why yet ever
    """
)

# A variable, a template or a tag that is filled in elsewhere: what it begins with, and what may
# stand anywhere in it, which needs a brace or a percent sign. What can stand at the beginning alone
# is kept apart here and below, because a pattern that may stand anywhere is tried at every place.
_REFERENCE: Final = re.compile(
    r"""(?x)
      ^\$[A-Za-z_]\w*[?-]?$ | ^\$\{ | ^\$\( | ^\$\[                       # shells, JavaScript
    | ^\$(?:env|script|global): | ^\$[A-Za-z_]\w*(?:->|\[|\.|::)          # PowerShell, PHP
    | ^`[^`]*`$ | ^%[A-Za-z_]\w*%$ | ^%[rvqw]$                            # a command, cmd.exe
    | ^(?:\\x[0-9a-f]{2}|\\[0-7nrt])+$
    | ^\{\{ | ^\{% | ^\{\d?\}                                            # templates
    | ^<[^<>]*>?$ | ^&lt; | ^\[[^\[\]]*\]$ | ^\([^()]*\)$ | ^__\w+__$     # <token>, [token]
    | ^:[a-z_]+$ | ^@(?:[a-z_]+(?:\.[a-z_]+)*|[A-Z_]+)@?$ | ^\?$  # bound parameters
    | ^!(?:Ref|Sub|GetAtt|vault|secret|env_var|reference|Join|ImportValue)\b
    | ^(?:op|vault|awssm|secretsmanager|ssm|keyvault|gcpsm|doppler|env|file|ref\+\w+):
    | ^ENC\[ | ^secrets?\. | ^[*&][a-z_]+$                                 # sops, YAML anchors
    """
)
_REFERENCE_IN: Final = re.compile(
    r"""(?x)
      \$\{[A-Za-z_!\#] | %[sd](?![\w%]) | %\([a-zA-Z_]\w*\)[sdr]
    | \{\{[^{}]*\}\} | \{[A-Za-z_][\w.]*(?:[\[(!:][^{}]*)?\} | \#\{[a-z@]
    """
)
_MASK: Final = re.compile(r"(?i)[x*•·●.#_?0-]+$")
_MASK_IN: Final = ("***", "...", "xxxx", "••", "●●", "…")
_PLACEHOLDER: Final = re.compile(
    r"""(?ix)
      ^(?:your|insert|enter|put|paste|replace|fill|provide|specify|choose)(?:$|[-_ .]|(?-i:[A-Z]))
    | ^(?:the|a|an|my|some|any|dummy|fake|mock|sample|example|demo)[-_ ]?
      (?:api|secret|access|auth|client|super|new|db|user|app|bot)?[-_ ]?
      (?:key|token|pass|password|passwd|pwd|secret|value|credential|string|here)s?$
    | ^(?:example|dummy)[a-z_-]*$ | ^todo\b
    | ^(?:no|not)[-_ ]?(?:set|needed|required|used|pass|password|token|auth|key)
    """
)
_PLACEHOLDER_IN: Final = re.compile(
    r"""(?ix)
      your[-_ ]?(?:own|actual|real|secret|api|token|key|pass|strong|secure|super|access|client|app|
        db|new|random)
    | placeholder | change[-_]?(?:me|this|it)\b | replace[-_]?(?:me|this|with) | to[-_]be[-_]
    | [-_ ]here$ | [-_.]example$
    """
)
_PLACEHOLDER_WORDS: Final = ("your", "holder", "change", "replace", "be", "here", "example")
_CONSTANT: Final = re.compile(r"^[A-Z]+(?:_[A-Z]+)+(?:$|=)|^_[A-Z_]+$")  # MY_API_KEY names a secret
_SECRET_WORD: Final = re.compile(
    r"(?i:passw(?:or)?[dt]|passphrase|passcode|secret|token|api[-_ ]?key|credential|kennwort|senha|"
    r"contrase|mot de passe|wachtwoord)"
    r"|(?<![A-Za-z])(?:pwd|PWD)(?![A-Za-z])|[a-z]Pwd"
)
_SECRET_WORDS: Final = (
    *("pass", "pwd", "secret", "token", "api", "credential"),
    *("kennwort", "senha", "contrase", "wachtwoord"),
)

_MEMBER: Final = r"[A-Za-z_$][\w$]*+[!?]?+(?:(?:\.|::|->)[A-Za-z_$][\w$]*+[!?]?+)"
_EXPRESSION: Final = re.compile(
    rf"""(?x)
      ^(?P<call>{_MEMBER}*(?:<\w+>)?[(\[])                        # f(, a.b(, a[
    | ^(?P<member>{_MEMBER}+)[;,)]*$                             # a.b, a::b, a->b
    | ^:\w | ^[\[{{(]\w* | ^[;,:.)\]}}>|+-]$ | ^[;,)\]}}>] | ^[!&*]+[A-Za-z_.]+$ | ^===?
    | ^["'`\\]+$ | ^/[\^\[(\\.] | ^\^
    """
)
_EXPRESSION_IN: Final = re.compile(  # patterns have the last two
    r"=> | [\[{(]$ | \[\^?[a-z0-9]-[a-z0-9] | \(\?[:=!P<]", re.VERBOSE
)
_EXPRESSION_MARKS: Final = ("=>", "[", "(", "{")
_PATH: Final = re.compile(
    r"""(?ix)
      ^(?:~|\.{1,2})?/[\w.@-]*(?:/|$) | ^~?/[\w.-]+ | ^[a-z]:\\ | ^\\\\\w
    | ^\.{0,2}(?:[\w@-]+/){2,}[\w.@-]*$
    | ^[\w./@-]+\.(?:json|ya?ml|toml|txt|pem|key|crt|cert|py|tsx?|jsx?|mjs|go|rs|rb|java|kt|php|sh|
        env|md|html?|css|png|jpe?g|pdf|docx?|xlsx?|csv|odt|zip|rar|7z|gz|svg|sql|db|lock|log|conf|cfg|ini|xml|properties|gpg|asc|kdbx|exe|dll|
        vue|c|h|cpp)(?::\d+)*$
    | ^[a-z][a-z0-9+.-]*:// | ^(?:data|mailto|tel|urn|arn|about|javascript):
    | ^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|[\w-]+(?:\.[\w-]+)+(?=:\d))(?::\d+)?$
    """
)
_PATH_MARKS: Final = ("/", ".", ":", "\\")  # one of them is in all but "localhost"
# A part of a path that no one names so: base64 has slashes too.
_DRAWN_PART: Final = re.compile(
    r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[A-Za-z0-9+=]{12,}$"
)
_NO_MEMBER: Final = re.compile(r"\d{3}|[A-Za-z]\d+[A-Za-z]+\d|\d[A-Z]+[a-z]|[a-z]{2}[A-Z]{2}[a-z]")
_HOST: Final = re.compile(
    r"^(?:[a-z][\w.+-]*@)?(?:(?:[a-z0-9_-]+\.)+[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?/?$"
)
_DIGEST: Final = re.compile(r"(?i)^(?:sha\d+|md5|blake\w+|h1|sha3-\d+|git|etag|w/)[-:=\"]")
_UUID: Final = re.compile(r"(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_HEX: Final = re.compile(r"^(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)$")
_MEASURE: Final = re.compile(
    r"""(?ix)
      ^[+-]?\d+(?:[.,]\d+)*\s*(?:ms|s|sec|m|min|h|d|days?|hours?|kb|mb|gb|k|b|px|em|rem|%|x|chars?|
        tokens?|bytes?|bits?)?$
    | ^\d{4}-\d\d-\d\d | ^v?\d+\.\d+(?:\.\d+)*(?:[-+.]\w+)*$ | ^\d{1,2}:\d\d
    """
)
_NEVER_DRAWN: Final = re.compile(r"(?:[a-z_./:-]{0,15}|[A-Z_./:-]{0,15})$")
_LETTER: Final = re.compile(r"[^\W\d_]")
_SHAPE: Final = re.compile(
    r"[A-Za-z]\d+[A-Za-z]|\d[A-Za-z]+\d|[!@#$%^&*+={}~?]|^[A-Z]?[a-z]{3,}\d{3}|\d[A-Z]|[a-z][A-Z]+\d"
)
_WORDS: Final = re.compile(r"^[A-Za-z]{3,}(?:[-._][A-Za-z0-9]{2,}){2,}$")
_ALGORITHM: Final = re.compile(
    r"(?i)^(?:sha|md|base|utf|aes|rsa|scrypt|bcrypt|argon|pbkdf|hs|rs|es|oauth|ed)-?\d{1,5}[a-z]{0,6}$"
    r"|^(?:v|p|t|arg|param|var|val|x)\d$"
)
_NUMBERED: Final = re.compile(r"\d?[A-Za-z][A-Za-z_.-]*\d{1,5}\??$")
_CALLED: Final = re.compile(  # better-sqlite3, shared-cpu-1x, TnyOffice, v2Handler, argon2id
    r"\d{0,4}[A-Za-z]*\d{0,5}[a-z]*$"
)
_JOINTS: Final = re.compile(r"[-_./:@*]+")
_NOT_SAID: Final = re.compile(
    r"[\w./-]+:\d+(?:[:-]\d+)?$|[\w.-]*[=:]$|(?:[a-z_.-]{2,}|[A-Z_.-]{2,})=|.*REDACTED"
)
_CALL: Final = re.compile(r"\w\(")
_DIGIT: Final = re.compile(r"\d")
_ODD_MARK: Final = re.compile(r"[^\w\s.'/:-]")  # none of those that also stand in names and words
_PHRASE: Final = re.compile(r"^[a-z]{3,}(?:-[a-z]{3,}){2,}$")
_DRAWN: Final = re.compile(r"^[A-Za-z0-9_\-.+/=~:|%!@#$^&*?]+$")
_RUNS: Final = re.compile(r"[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]+")
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_IDENTIFIER: Final = re.compile(r"^[A-Za-z_$][A-Za-z0-9_$]*$")
# The 220 commonest pairs of letters in the names and words of programs. They make up nine in ten
# pairs of a word and one in three of letters that were drawn.
_PAIRS: Final = frozenset(
    row[0] + second
    for row in vocabulary(
        """
        a:bcdgilmnprstuvxy b:aeilorsu c:acehiklorstu d:aeiostu e:acdefgilmnpqrstvwx f:aefilortu
        g:aehinrs h:aeiot i:abcdefglmnoprstvz k:e l:adeilostuy m:aeimopsu n:acdefginostuv
        o:bcdgilmnoprstuvw p:aehiloprstuy q:u r:acdegimnoprstuy s:acehiklopstu t:acehilorstuy
        u:abcelmnprst v:aei w:aei x:pt y:p z:e
        """
    )
    for second in row[2:]
)
_HUMP: Final = 3  # letters of a word in a name; of drawn ones capitals make shorter pieces
_HUMPS: Final = 3  # such words in one name: one of 100 keys of 16 letters looks so
_WORD_SHARE: Final = 0.6  # of common pairs: 97 % of words have more, 95 % of drawn letters less
_ENCODED_RATE: Final = 4.2  # bits per character; base64 of bytes has more from 40 characters on
_DIGEST_SIZES: Final = frozenset({32, 40, 64})  # hexadecimal digits of 16, 20 and 32 bytes
_DRAWN_RATE: Final = 3.0  # bits per character; hexadecimal digits have more from 16 characters on

# One value is asked of several times on its way; few are kept, for they may be secrets.
_remembered: Final = lru_cache(maxsize=16)


@_remembered
def is_stop_word(value: str) -> bool:
    """Tell whether a value is a word that describes or denies rather than gives a secret."""
    first = value[:_LOOK].partition("|")[0]  # required|string|min:8
    return first.strip(".,;:!?'\"`*_()[]{} ").lower() in _STOP_WORDS


@_remembered
def is_stand_in(value: str) -> bool:
    """Tell whether a value stands for a secret: a variable, template, mask or placeholder."""
    value = value[:_LOOK]
    if _PLACEHOLDER.match(value) or _MASK.match(value):
        return True
    lower = value.lower()
    if any(mask in lower for mask in _MASK_IN):
        return True
    # Beyond ASCII there are more letters that a pattern takes for one of these.
    worth = not value.isascii() or any(word in lower for word in _PLACEHOLDER_WORDS)
    if worth and _PLACEHOLDER_IN.search(value):
        return True
    if value.isalnum():  # the rest needs a mark
        return False
    if value.startswith("[REDACTED") or _REFERENCE.match(value) or _CONSTANT.match(value):
        return True
    return ("{" in value or "%" in value) and _REFERENCE_IN.search(value) is not None


@_remembered
def is_code(value: str, *, quoted: bool = False) -> bool:
    """Tell whether a value is an expression, a path or an address rather than a literal."""
    value = value[:_LOOK]
    match = _EXPRESSION.match(value)
    if match is None:
        worth = any(mark in value for mark in _EXPRESSION_MARKS)
        return (worth and _EXPRESSION_IN.search(value) is not None) or is_path(value)
    if match["member"] is not None and _NO_MEMBER.search(value) is not None:
        return is_path(value)
    if match["call"] is not None:
        if quoted:
            return all(value.count(a) == value.count(b) for a, b in ("()", "[]"))  # all closed
        inside = value[len(match["call"]) :]
        return _NO_MEMBER.search(match["call"]) is None and inside[:1] not in {"!", "#", "%"}
    return True


@_remembered
def is_path(value: str) -> bool:
    """Tell whether a value is a path or an address."""
    value = value[:_LOOK]
    if value[:1] not in {"l", "L"} and not any(mark in value for mark in _PATH_MARKS):
        return False
    return bool(_PATH.match(value)) and not any(
        _DRAWN_PART.match(part) and not is_wordy(part) for part in value.split("/")
    )


@_remembered
def is_host(value: str) -> bool:
    """Tell whether a value is the name or the address of a machine, also with a user or a port."""
    return bool(_HOST.match(value[:_LOOK]))


@_remembered
def is_measure(value: str) -> bool:
    """Tell whether a value is a number with or without a unit, a version, a date or a time."""
    return bool(_MEASURE.match(value[:_LOOK]))


def is_identifier(value: str) -> bool:
    """Tell whether a bare value could be a variable of a program."""
    return bool(_IDENTIFIER.match(value[:_LOOK]))


def is_never_drawn(value: str) -> bool:
    """Tell whether a value has so little that it cannot be a key: short, of one sort of letters."""
    return _NEVER_DRAWN.match(value) is not None


@_remembered
def speaks_of_a_secret(value: str) -> bool:
    """Tell whether a value talks about a secret (`Enter password`, `user_token`)."""
    value = value[:_LOOK]
    if _DIGIT.search(value) is not None:
        return False
    lower = value.lower()
    worth = not value.isascii() or any(word in lower for word in _SECRET_WORDS)
    return worth and _SECRET_WORD.search(value) is not None


@_remembered
def is_mixed(value: str) -> bool:
    """Tell whether a value has more than letters, or four words and more, as good passwords do."""
    core = value[:_LOOK].rstrip(".,;:!?)")
    letters = _LETTER.search(core) is not None
    digits = _DIGIT.search(core) is not None
    marks = _ODD_MARK.search(core) is not None
    return (
        (letters and digits) or (marks and (letters or digits)) or _PHRASE.match(core) is not None
    )


@_remembered
def has_both(value: str) -> bool:
    """Tell whether a value has letters and digits."""
    value = value[:_LOOK]
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None


def is_strong(value: str) -> bool:
    """Tell whether a value is no name of a thing, as `sha256` and `us-east-1` are."""
    value = value[:_LOOK]
    if _ALGORITHM.match(value) is not None:
        return False
    return (
        _SHAPE.search(value) is not None
        or is_random(value)
        or _WORDS.match(value) is not None
        or (_DIGIT.search(value) is not None and len(value) >= 8 and value[-1:] != "d")
    )


def is_numbered(value: str) -> bool:
    """Tell whether a value is a word and a number, as things are called (`CS50`, `Gold2024`)."""
    return _NUMBERED.match(value[:_LOOK]) is not None


@_remembered
def is_called(value: str) -> bool:
    """Tell whether a value is what a thing is called: words with or without capitals and numbers.

    Packages, products, sizes of machines and functions are called so; a password may be, too, so it
    tells only where nothing but the place speaks for a secret.
    """
    parts = _JOINTS.split(value[:_LOOK])
    if not all(map(_CALLED.match, parts)):
        return False
    humps = [len(hump) for hump in _PARTS.findall(value[:_LOOK]) if hump.isalpha()]
    short = sum(hump < _HUMP for hump in humps)
    capitals = sum(humps) >= _HUMP * len(humps) and short <= 1 and len(humps) <= _HUMPS
    return capitals or len(humps) <= len(parts)


def is_algorithm(value: str) -> bool:
    """Tell whether a value names a cipher, a hash or a numbered parameter."""
    return bool(_ALGORITHM.match(value[:_LOOK]))


def is_plausible(value: str, *, quoted: bool) -> bool:
    """Tell whether a word of a sentence can be a password rather than another word."""
    if is_stand_in(value) or is_stop_word(value) or is_measure(value) or is_path(value):
        return False
    if value.split(None, 1) != [value]:
        parts = value.split()
        return quoted and 3 <= len(parts) <= 8 and sum(map(is_stop_word, parts)) == 0
    if value[0] in "-/<[(|$" or value.endswith(("(", "()", "=")) or "://" in value:
        return False
    both = has_both(value)
    if len(value) < (4 if both and _SHAPE.search(value) is not None else 5):
        return False
    if not quoted and (_NOT_SAID.match(value) or _CALL.search(value) or is_host(value)):
        return False
    if value.count("-") == 1 and value.replace("-", "").isalpha() and not is_jumbled(value):
        return False
    if _WORDS.match(value) is not None and not is_random(value):
        return quoted or (value.count("-") + value.count("."), value.isalpha()) >= (2, False)
    if not quoted and value.endswith(("?", "!")) and not both:
        return False
    if _LETTER.search(value) is None:
        return False
    return is_jumbled(value) or quoted or is_mixed(value)


@_remembered
def is_wordy(value: str) -> bool:
    """Tell whether a value is made of words, as names and sentences are."""
    parts = _PARTS.findall(value[:_LOOK])
    words = [part.lower() for part in parts if part.isalpha()]
    letters = sum(map(len, words))
    digits = sum(map(len, parts)) - letters
    pairs = letters - len(words)
    stumps = sum(len(word) <= 2 for word in words)
    if pairs < 0.5 * letters or 2 * stumps > len(words) or digits > max(4, letters // 5):
        return False
    common = sum(pair in _PAIRS for word in words for pair in map(add, word, word[1:]))
    return bool(pairs) and common >= _WORD_SHARE * pairs


@_remembered
def is_random(value: str, *, least: int = 8) -> bool:
    """Tell whether a value looks drawn by a machine: a key, not a word, number, path or digest.

    Words tell themselves by their pairs of letters. What is left must change between letters,
    capitals and digits as often as a key does: at every second or third character.
    """
    size = len(value)
    value = value[:_LOOK]
    if size < least or not _DRAWN.match(value) or _DIGEST.match(value):
        return False
    if _UUID.match(value):
        return True
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    if _HEX.match(value):
        drawn = letters >= 2 and digits >= 2
        return size >= 12 and (drawn or (size in _DIGEST_SIZES and len(set(value)) >= 4))
    if len(set(value)) < 6 or letters < 3 or is_measure(value) or is_wordy(value):
        return False
    turn = len(value) / len(_RUNS.findall(value))  # mean length of a run of one sort
    shares = [n / len(value) for n in Counter(value).values()]
    rate = -sum(share * math.log2(share) for share in shares)  # bits per character
    if size >= 40 and rate >= _ENCODED_RATE and turn < 3.2:
        return True  # base64, which may begin like a path
    if is_path(value):
        return False
    if size < 16:
        return digits >= 1 and turn <= (3.0 if digits >= 3 else 2.7) and letters + digits >= 6
    both = value != value.upper() and value != value.lower()
    return rate >= _DRAWN_RATE and (
        (digits >= 2 and turn <= 4.0) or (both and turn <= 2.8) or letters == size
    )


@_remembered
def is_jumbled(value: str) -> bool:
    """Tell whether letters without digits look drawn, by capitals where no name has them."""
    runs = _RUNS.findall(value[:_LOOK])
    return len(value) >= 8 and len(value) / len(runs) <= 2.3 and not is_wordy(value)


def decodes_to_pair(value: str) -> bool:
    """Tell whether a value is base64 of `user:password`, as HTTP Basic and registries write it."""
    if len(value) < 6 or len(value) % 4 == 1:
        return False
    try:
        raw = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    head, colon, tail = raw.partition(b":")
    return bool(colon and tail) and all(32 <= c < 127 for c in head) and all(c >= 32 for c in tail)
