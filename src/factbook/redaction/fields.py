"""Find values that other fields or tags keep apart from their name.

`"db_password": {"sensitive": true, "value": "..."}`, `variable "db_password" { default = "..." }`,
`<string name="api_key">...</string>`: settings of programs that describe their settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from factbook.redaction.assignments import SecretName
from factbook.redaction.lazy import Lazy
from factbook.redaction.reading import read_quoted
from factbook.redaction.spans import Span
from factbook.redaction.values import is_plausible, is_random, is_stand_in

_STEP: Final = r"(?:\s++|\\+[nrt])*"
_OTHER: Final = r"\\*[\"']?\w{1,24}\\*[\"']?\s*[:=]\s*(?:\\*[\"'][^\"'\n]{0,60}\\*[\"']|\w{1,12})"
_LATER: Final = Lazy(  # other fields, then the value
    rf"\\*[\"']?(?:,|: ?{{|[ ]{{)(?:{_STEP}{_OTHER}{_STEP},?){{0,4}}?{_STEP}"
    r"\\*[\"']?(?:value|default)\\*[\"']?\s*[:=]\s*(?=\\*[\"'])"
)
_TAG: Final = r"</key>\s*<string>|<[Vv]alue>|<!\[CDATA\[|&lt;string&gt;"
_ELEMENT: Final = Lazy(  # the rest of its tag, perhaps another tag, then the value
    rf"(?:\\*[\"'][^<>\n]{{0,60}})?(?:>|&gt;){_STEP}(?:{_TAG})?\s*+"
    r"((?:(?!&lt;|\]\]>)[^<>\s]){4,200})\s*(?=</|&lt;/|\]\]>)"
)
_CLOSES: Final = frozenset("\\\"'>&")


def field_spans(text: str, name: SecretName) -> Iterator[Span]:
    """Give the value of a named field when other fields or tags stand between name and value."""
    if text[name.end : name.end + 1] not in _CLOSES:
        return
    later = _LATER.match(text, name.end, name.end + 300)
    if later is not None:
        value = read_quoted(text, later.end())
        word = text[value.start : value.end] if value is not None else ""
        if value is None or len(word) < 4 or is_stand_in(word):
            return
        if name.sense.plain or is_random(word) or is_plausible(word, quoted=False):
            yield value.start, value.end, name.sense.kind
        return
    element = _ELEMENT.match(text, name.end, name.end + 300)
    if element is not None and not is_stand_in(element[1]):
        word = element[1]
        if is_plausible(word, quoted=False) or is_random(word) or not word.isascii():
            yield *element.span(1), name.sense.kind
