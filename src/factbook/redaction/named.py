"""Ask what may stand behind a name, in the order of how often it does.

The name is read once: first its value is looked for right behind it (`assignments`), then behind
other fields or tags (`fields`), then in the words of the sentence (`prose`), then apart from it
(`apart`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from factbook.redaction.apart import below_spans, column_spans
from factbook.redaction.assignments import LOOSE, SecretName, assigned_spans, read_joint, read_name
from factbook.redaction.fields import field_spans
from factbook.redaction.lazy import Lazy
from factbook.redaction.prose import phrase_spans, sentence_spans, shaped_spans
from factbook.redaction.reading import line_end
from factbook.redaction.spans import Span
from factbook.redaction.values import has_both, is_wordy

# A password for an app as Google and Apple draw them: sixteen letters in fours.
_IN_FOURS: Final = Lazy(
    r"(?<![\w-])(?:[a-z]{4}([ \xa0-])[a-z]{4}(?:\1[a-z]{4}){2}"
    r"|[A-Z]{4}([ \xa0-])[A-Z]{4}(?:\2[A-Z]{4}){2})(?![\w-])"
)
_KEY_IN_FOURS: Final = Lazy(r"(?<![\w-])(?:[A-Za-z0-9]{4} ){3,15}[A-Za-z0-9]{1,4}(?![\w-])")
_FAR: Final = 80  # characters between such a password and what names it, in its line or the next
_SPOKEN: Final = frozenset(" ,.:;!?'’)\n\r") | {""}  # what may follow a name in a sentence


def named_spans(text: str, at: int, end: int) -> Iterable[Span]:
    """Give the secrets that the name around a hint introduces."""
    name = read_name(text, at, end)
    if name is None or text.rfind("arn:", max(0, name.start - 80), name.start) >= 0:
        return ()  # arn:aws:secretsmanager:eu-west-1:123456789012:secret:app/db
    spans = list(_beside_spans(text, at, end, name))
    if name.sense.kind == "password":
        spans = [*_in_fours(text, name), *spans]
    elif name.sense.kind == "api-key" and not spans:
        spans = list(_key_in_fours(text, name))
    if not spans:
        where = name.start, name.end, name.sense
        spans = list(phrase_spans(text, name.start, name.end, name.sense.kind))
        spans = spans or list(below_spans(text, *where)) or list(column_spans(text, *where))
    return spans


def _in_fours(text: str, name: SecretName) -> Iterable[Span]:
    """Give the passwords in fours of the line of a name, and those of the line below."""
    low = max(text.rfind("\n", max(0, name.start - _FAR), name.start) + 1, name.start - _FAR, 0)
    high = line_end(text, name.end, name.end + _FAR)
    for match in _IN_FOURS.finditer(text, low, line_end(text, high + 1, high + _FAR)):
        if not is_wordy(match[0]):
            yield match.start(), match.end(), "password"


def _key_in_fours(text: str, name: SecretName) -> Iterable[Span]:
    """Give the key in groups of four behind its name, as recovery keys are shown."""
    for match in _KEY_IN_FOURS.finditer(text, name.end, line_end(text, name.end, name.end + _FAR)):
        groups = match[0].split()
        if sum(map(has_both, groups)) >= 2 and match[0] not in {match[0].upper(), match[0].lower()}:
            yield *match.span(), name.sense.kind


def _beside_spans(text: str, at: int, end: int, name: SecretName) -> Iterable[Span]:
    """Give the secrets that stand in the same line or field as their name."""
    joint = read_joint(text, name)
    if joint is not None and joint.kind == "blank" and text[name.start - 1 : name.start] == "/":
        return []  # the end of a path: modernc.org/token v1.1.0
    if joint is not None:
        spans = list(assigned_spans(text, name, joint))
        if spans and name.sense.kind == "password" and text[name.end : name.end + 1] in _SPOKEN:
            spans += shaped_spans(text, name.end)
        further = joint.kind in LOOSE or text.startswith("{", joint.end)
        if spans or not further:
            return spans
    if text[name.end : name.end + 1] in _SPOKEN:
        return list(sentence_spans(text, at, end))
    return list(field_spans(text, name))
