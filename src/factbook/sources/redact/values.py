"""Judge a value: is it a secret, or does it stand for one, name one, compute one, describe one?

Everything here takes short strings, so the cost is bounded by the callers' limits.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from typing import Final

__all__ = [
    "decodes_to_pair",
    "is_code",
    "is_mixed",
    "is_random",
    "is_stand_in",
    "is_stop_word",
    "is_wordy",
]

# Words that describe a secret, or that mean nothing was given. Compared whole and folded.
_STOP: Final = frozenset(
    """
    str string strings text varchar char chars bytes byte buffer bool boolean int integer number
    float double any object array list dict map optional none null nil undefined void never unknown
    nan true false yes no on off y n ok okay
    required requires optional invalid incorrect wrong missing empty blank needed expired reset
    changed updated unset valid weak strong correct hidden visible shown disabled enabled default
    masked encrypted encoded hashed plain plaintext protected sensitive confirm confirmed new old
    current prompt input output email mail username user users name names field fields value values
    hash hashes salt type types kind length min max label example examples sample auto automatic
    random generated error errors failed failure success successful saved stored forgotten public
    private secure insecure short long redacted removed omitted filtered masked placeholder todo
    tbd fixme na n/a changeme change_me change-me replaceme replace_me replace-me dummy fake mock
    here this that these those it its is are was were be been being has have had do does did done
    not and or but if then else when while for from to of in at by with without as via per about
    the a an your my our their his her some same each every all both must should can could may
    might will would shall only also just now never always again first last next previous
    set get put post use used using uses see read write show enter entered provide provided given
    pass passed passing passes key keys password passwords passwd passphrase pwd secret secrets
    token tokens apikey api_key api-key api auth authentication authorization credential
    credentials login logins access accesskey bearer basic digest header headers cookie cookies
    session sessions env environment variable variables var vars config configuration option
    options param params parameter parameters argument arguments arg args flag flags file files
    path url uri host server client service database db account accounts admin's
    stdin stdout prompted interactive manager reset resets recovery change changes rotation policy
    strength requirements rules generator authentication-based based protection fields page pages
    screen dialog form box button link check checks checking validation validator verification
    support handling storage leak leaks leaked exposure
    self cls this super req res request response ctx context data body payload result item obj
    e ex err exc x s v i j k p t c
    expression statement identifier keyword literal operator const let function class return
    async await new typeof instanceof export import interface enum struct
    same-origin include omit anonymous
    """.split()
)

_REFERENCE: Final = re.compile(
    r"""(?x)
      ^\$[A-Za-z_][A-Za-z0-9_]*\??$       # $TOKEN
    | ^\$\{|^\$\(|^\$\[|\$\{[A-Za-z_!#]   # ${TOKEN}, $(cat file)
    | ^\$(?:env|script|global):           # PowerShell
    | ^\$[A-Za-z_]\w*(?:->|\[|\.|::)      # PHP, PowerShell members
    | ^`.*`$ | ^\$['"]?$
    | ^%[A-Za-z_][A-Za-z0-9_]*%$          # cmd.exe
    | ^%[sdrvqw]$ | %\([a-zA-Z_]\w*\)[sdr]
    | \{\{.*\}\} | ^\{\{ | ^\{%           # templates
    | \{[A-Za-z_][\w.\[\]()'"!:]*\} | ^\{\} | \{\}$ | ^\{\d\}$ | \#\{[a-z@]
    | ^<[^<>]*>?$ | ^\[[^\[\]]*\]$ | ^\([^()]*\)$ | ^@[\w.]+@$ | ^__\w+__$ | ^&lt;
    | ^:[a-z_]\w*$ | ^@[A-Za-z_]\w*$ | ^\?$     # bound parameters, symbols
    | ^!(?:Ref|Sub|GetAtt|vault|secret|env_var|reference|Join|ImportValue)\b
    | ^(?:op|vault|aws-sm|awssm|secretsmanager|ssm|keyvault|gcpsm|sm|doppler|env|file|ref\+\w+)://?\S
    | ^ENC\[ | ^vault: | ^env: | ^file: | ^secrets?\. | ^\*[a-z_]\w*$ | ^&[a-z_]\w*$
    """
)
_MASK: Final = re.compile(
    r"(?i)^[x*•·●.#_\-?0…]+$|\*{3}|•{2}|●{2}|x{4}|\.{3}|…|^x{3}$|^\[?redacted"
)
_PLACEHOLDER: Final = re.compile(
    r"""(?ix)
      ^(?:your|insert|enter|put|paste|replace|fill|provide|specify|type|choose|add)(?:$|[-_ .]|(?-i:[A-Z]))
    | your[-_ ]?(?:own|actual|real|secret|api|token|key|pass|strong|secure|super|access|client|app|db|very|new|random)
    | ^(?:the|a|an|my|some|any|dummy|fake|mock|sample|example|demo|placeholder|redacted|hidden|masked)
      [-_ ]?(?:api|secret|access|auth|client|super|new|db|user|app|bot)*[-_ ]?
      (?:key|token|pass|password|passwd|pwd|secret|value|credential|string|here)s?$
    | placeholder | change[-_]?(?:me|this|it)\b | replace[-_]?(?:me|this|with) | to[-_]be[-_]
    | [-_ ]here$ | ^example | [-_.]example$ | ^dummy | ^todo\b | ^xxx | ^insert
    | ^(?:no|not)[-_ ]?(?:set|needed|required|used|pass|password|token|auth|key)
    """
)
_CONSTANT: Final = re.compile(r"^[A-Z][A-Z]*(?:_[A-Z]+)+$|^_[A-Z_]+$")  # MY_API_KEY names a secret
_SECRET_WORD: Final = re.compile(r"(?i)pass(?:w|p|code)|pwd|secret|token|api[-_ ]?key|credential")

_CALL: Final = re.compile(
    r"""(?x)
      ^[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.|!\.)[A-Za-z_$][\w$]*)*(?:<\w+>)?\(   # f(, a.b(
    | ^[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.|!\.)[A-Za-z_$][\w$]*)*\[             # a[, a.b[
    | ^[A-Za-z_$][\w$]*[!?]?(?:(?:\.|::|->|\?\.|!\.)[A-Za-z_$][\w$]*)+[!?;,)]*$  # a.b, a::b, a->b
    | ^\(\w* | ^[\[{(]$ | ^[\[{]\w*[\]}]?$ | ^function\b | => | ^\|\w
    | ^new\s | ^await\s | ^not\s | ^async\b | ^lambda\b
    | ^/[\^\[(\\.] | ^r["'/] | ^\^ | \[\^?[a-z0-9]-[a-z0-9] | \(\?[:=!P<]        # patterns
    | ^&&?[a-z_] | ^\*+[a-z_] | ^!\w | ^===? | ^[-+|>]$ | ^\\$ | ^["'`]+$ | ^[,;:.)\]}>]
    | [?!]\s*$(?<![\w][?!])
    """
)
_PATH: Final = re.compile(
    r"""(?ix)
      ^(?:~|\.{1,2})?/[\w.@-]*(?:/|$) | ^~?/[\w.-]+ | ^[a-z]:\\ | ^\\\\\w
    | ^\.{0,2}(?:[\w@-]+/){2,}[\w.@-]*$
    | ^[\w./@-]+\.(?:json|ya?ml|toml|txt|pem|key|crt|cert|py|tsx?|jsx?|mjs|go|rs|rb|java|kt|php|sh|env|md|
        html?|css|png|svg|sql|db|lock|log|conf|cfg|ini|xml|properties|gpg|asc|kdbx|exe|dll|vue|c|h|cpp)(?::\d+)*$
    | ^[a-z][a-z0-9+.-]*:// | ^(?:data|mailto|tel|urn|arn|about|javascript):
    | ^(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?$
    """
)
_DIGEST: Final = re.compile(r"(?i)^(?:sha\d+|md5|blake\w+|h1|sha3-\d+|git|etag|w/)[-:=\"]")
_UUID: Final = re.compile(r"(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_HEX: Final = re.compile(r"^(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)$")
_TIME: Final = re.compile(
    r"(?i)^[+-]?\d+(?:[.,]\d+)*\s*(?:ms|s|sec|m|min|h|d|days?|hours?|kb|mb|gb|k|b|px|em|rem|%|x|chars?|tokens?|bytes?)?$"
    r"|^\d{4}-\d\d-\d\d|^v?\d+\.\d+(?:\.\d+)*(?:[-+.]\w+)*$|^\d{1,2}:\d\d"
)
_RANDOM_CHARS: Final = re.compile(r"^[A-Za-z0-9_\-.+/=~:|%!@#$^&*?]+$")
_RUNS: Final = re.compile(r"[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]+")
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_VOWELS: Final = frozenset("aeiouyAEIOUY")


def is_stop_word(value: str) -> bool:
    """Tell whether a value is a word that describes or denies rather than gives a secret."""
    return value.strip(".,;:!?'\"`*_()[]{} ").lower() in _STOP


def is_stand_in(value: str) -> bool:
    """Tell whether a value stands for a secret: a variable, template, mask, label or placeholder."""
    return bool(
        value.startswith("[REDACTED")
        or _REFERENCE.search(value)
        or _MASK.search(value)
        or _PLACEHOLDER.search(value)
        or _CONSTANT.match(value)
    )


def is_code(value: str) -> bool:
    """Tell whether a bare value is an expression, a path or an address rather than a literal."""
    return bool(_CALL.search(value) or _PATH.match(value))


def is_path(value: str) -> bool:
    """Tell whether a value is a path or an address."""
    return bool(_PATH.match(value))


def is_measure(value: str) -> bool:
    """Tell whether a value is a number with or without a unit, a version, a date or a time."""
    return bool(_TIME.match(value))


def names_a_secret(value: str) -> bool:
    """Tell whether a value speaks of a secret (`Enter password`, `user_token`) without digits."""
    return bool(_SECRET_WORD.search(value)) and not any(c.isdigit() for c in value)


def is_mixed(value: str) -> bool:
    """Tell whether a value has more than letters, as chosen passwords mostly do."""
    core = value.rstrip(".,;:!?)")
    letters = any(c.isalpha() for c in core)
    digits = any(c.isdigit() for c in core)
    marks = any(not c.isalnum() and c not in "_-.'/ " and not c.isspace() for c in core)
    return (letters and digits) or (marks and (letters or digits))


def is_wordy(value: str) -> bool:
    """Tell whether a value is made of words, as names and sentences are."""
    parts = _PARTS.findall(value)
    letters = [part for part in parts if part.isalpha()]
    if not letters:
        return False
    covered = sum(len(part) for part in letters if len(part) > 2 and _spoken(part))
    digits = sum(len(part) for part in parts if part.isdigit())
    return covered >= 0.75 * (len(value) - digits) and digits <= 4


def _spoken(part: str) -> bool:
    """Tell whether a run of letters could be a word: vowels at the rate of words."""
    share = sum(c in _VOWELS for c in part) / len(part)
    return 0.2 <= share <= 0.75 and len(part) >= 3


def is_random(value: str, *, least: int = 8) -> bool:
    """Tell whether a value looks drawn by a machine: a key, not a word, number, path or digest."""
    size = len(value)
    if size < least or not _RANDOM_CHARS.match(value) or _DIGEST.match(value):
        return False
    if _UUID.match(value):
        return True
    if is_measure(value) or is_path(value):
        return False
    letters = sum(c.isalpha() for c in value)
    digits = sum(c.isdigit() for c in value)
    if _HEX.match(value):
        return size >= 12 and letters >= 2 and digits >= 2
    if letters < 3:
        return size >= 16 and letters + digits >= 12 and _entropy(value) >= 3.0 and letters > 0
    if len(set(value)) < min(6, size - 1):
        return False
    runs = _RUNS.findall(value)
    mean = size / len(runs)
    if size >= 40 and " " not in value and _entropy(value) >= 4.2 and mean < 4:
        return True
    if is_wordy(value):
        return False
    if size < 16:
        return digits >= 1 and mean <= 2.7 and letters + digits >= 6
    both = any(c.islower() for c in value) and any(c.isupper() for c in value)
    return _entropy(value) >= 3.0 and (
        (digits >= 2 and mean <= 4.0) or (both and mean <= 2.6 and size >= 20)
    )


def _entropy(value: str) -> float:
    """Measure the bits per character of a value."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


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
