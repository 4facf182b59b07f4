"""Replace secrets by labels that keep their kind and tell equal ones from different ones."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from factbook.errors import UsageError
from factbook.policy import MIN_DIGEST_CHARS
from factbook.redaction.assignments import field_kind
from factbook.redaction.base import last_question
from factbook.redaction.formats import KINDS as FORMAT_KINDS
from factbook.redaction.labels import DIGEST_BYTES, label_places
from factbook.redaction.prose import is_announced
from factbook.redaction.repeats import LONGEST, places, repeats
from factbook.redaction.scanner import KINDS, scan
from factbook.redaction.spans import Rewritten, Span, rewritten
from factbook.redaction.told import Said, Told, ToldSecret
from factbook.redaction.values import is_numbered

MIN_KEY_BYTES: Final = 16
_MAX_KEY_BYTES: Final = 64  # what blake2b takes
_PASSES: Final = 16  # see `_settled`
_BREAKS: Final = re.compile(r"(?:(?<!\\)\\++[nrt]|\s)+")
_NAME_FIELDS: Final = ("name", "key", "Name", "Key", "ParameterKey")
_VALUE_FIELDS: Final = ("value", "Value", "ParameterValue")
_BEFORE: Final = 80  # characters before a secret in which it shows that somebody says it
_SPOKEN: Final = re.compile(r"(?<![\w-])[A-Za-z]{2,}[ ][\"'“‘`]?\Z")
"""The word before a secret in a sentence, and in no setting, option or field."""
_UNSURE: Final = re.compile(r"(?i)(?<![\w-])(?:pass|pwd?)[ ][\"'“‘`]?\Z")
"""A word for a password right before one: what is called by a word and a number may be no secret,
and would be blanked everywhere."""
_NOT_LEARNED: Final = frozenset({"payment-card"})
"""Numbers, which may be that of something else where nothing announces them."""
_SHORT: Final = 200  # characters of a text that is remembered when nothing is found in it
_REMEMBERED: Final = 8192  # of those: names of fields, paths and options come again and again
_LARGEST_PIN: Final = 10**64  # a longer number is no password, and slow to write in decimal

_T = TypeVar("_T", str, bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """One secret in a text."""

    start: int  # first character of the secret itself, without quotes or name
    end: int  # behind its last character
    kind: str  # what it is, as the label says


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _remember(clean: set[_T], one: _T) -> None:
    if len(clean) >= _REMEMBERED:
        clean.clear()
    clean.add(one)


class Redactor:
    """Find secrets and replace them; the same key gives equal secrets equal labels.

    One that remembers knows a secret again in another text, where nothing announces it.
    """

    def __init__(self, *, key: bytes, remembers: bool = False) -> None:
        if len(key) < MIN_KEY_BYTES:
            raise UsageError(
                detail=f"The redaction key has {len(key)} bytes and needs {MIN_KEY_BYTES} or more; "
                "give a longer one, or let load_key make one."
            )
        self._key = key if len(key) <= _MAX_KEY_BYTES else hashlib.blake2b(key).digest()
        self.told = Told(self._key) if remembers else None
        self.learned = 0  # changes when it knows other secrets than before
        self.clean: set[str] = set()  # short texts without a secret; those with one are not kept
        self._clean_long: set[bytes] = set()  # the digests of long ones

    def branch(self) -> Redactor:
        """Return one that knows what this one knows, and learns for itself."""
        if self.told is None:
            return self
        other = Redactor(key=self._key)
        other.told = self.told.branch()
        other.clean, other._clean_long = self.clean, self._clean_long  # until one of them learns
        return other

    def plain(self) -> Redactor:
        """Return one that remembers nothing: a text has one form with it, whatever was told."""
        return self if self.told is None else Redactor(key=self._key)

    def told_lately(self) -> Sequence[ToldSecret]:
        """Return the secrets that were learned and are not `know`n to be kept."""
        return self.told.fresh() if self.told else ()

    def holds_told(self, text: str) -> bool:
        """Tell whether a text that was redacted holds a secret that is known only by now."""
        return bool(self._told_in(text))

    def named(self, word: str) -> tuple[bytes, int] | None:
        """Return what a word is remembered by; None where nothing is remembered."""
        return self.told.named(word) if self.told else None

    def hear(self, secrets: Iterable[ToldSecret]) -> None:
        """Know secrets that were told to another, and are yet to be kept."""
        if self.told is not None and self.told.hear(secrets):
            self._forget_clean()

    def know(self, secrets: Iterable[ToldSecret]) -> None:
        """Know secrets that were told elsewhere, or are kept by now."""
        if self.told is not None and self.told.add(secrets):
            self._forget_clean()

    def learn_answer(self, asked: str, answer: str) -> None:
        """Remember the secret that a text of one word gives to the question that another ends with.

        The answer announces nothing itself; it is known in every text from then on.
        """
        question, word = last_question(asked), answer.strip()
        if self.told is None or not question or len(word) > LONGEST or word.split() != [word]:
            return
        first = len(question) + 1
        for start, end, kind in scan(f"{question}\n{word}"):
            if start >= first:
                self._learn(word[start - first : end - first], kind, Said.TOLD)

    def _told_in(self, text: str) -> list[Span]:
        return list(places(text, self.told.within(text))) if self.told else []

    def _learn(self, value: str, kind: str, said: Said = Said.NOT) -> None:
        """Remember a secret, unless it tells itself wherever it stands."""
        if self.told is None or (taken := self.told.takes(value, kind, said=said)) is None:
            return
        alone = scan(value)
        if alone and alone[0][0] == 0 and alone[0][1] == len(value):
            return
        self.hear([taken])

    def _forget_clean(self) -> None:
        """What was clean may hold a secret that is known by now."""
        self.learned += 1
        self.clean, self._clean_long = set(), set()  # a branch may go on with those that were

    def find(self, text: str) -> list[Redaction]:
        """Find the secrets of a text, in order and without overlap."""
        return [Redaction(start=s, end=e, kind=kind) for s, e, kind in self._settled(text)[0]]

    def redact(self, text: str) -> str:
        """Replace every secret of a text by its label.

        A text that was redacted before comes back as it is.
        """
        # Other sets stand in their places once more is known: what was judged before is not clean.
        clean, clean_long = self.clean, self._clean_long
        if len(text) > _SHORT:  # what is stored passes here again at its border, and when shown
            if (digest := _digest(text)) in clean_long:
                return text
            redacted = self._settled(text)[1]
            _remember(clean_long, digest if redacted == text else _digest(redacted))
            return redacted
        if text in clean:
            return text
        spans, redacted = self._settled(text)
        if not spans:
            _remember(clean, text)
        return redacted

    def redact_value(self, value: object) -> object:
        """Redact every string of a decoded JSON value; keys tell what their values are.

        The value itself is not changed. Nesting may be of any depth.
        """
        return _rebuild(value, self)

    def redact_field(self, key: str, value: str) -> str:
        """Redact the value of a field, which may be a secret only because of the field's name."""
        kind = field_kind(key, value)
        if kind is None:
            return self.redact(value)
        self._learn(value, kind)
        return self.label(kind, value)

    def label(self, kind: str, value: str) -> str:
        """Write the label of a secret: its kind and, unless it could be guessed, a keyed digest.

        Line breaks do not count, so that one key is the same as a file and inside JSON.
        """
        if len(value) < MIN_DIGEST_CHARS:
            return f"[REDACTED:{kind}]"
        broken = "\\" in value or value.split(None, 1) != [value]
        same = (_BREAKS.sub("\n", value) if broken else value).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(same, key=self._key, digest_size=DIGEST_BYTES).hexdigest()
        return f"[REDACTED:{kind}:{digest}]"

    def _settled(self, text: str) -> tuple[list[Span], str]:
        """Find secrets until none is left: where they are, and the text with their labels.

        A secret can hide another one: what is read as the end of its value, or as the code around
        it, may look different once the first is gone. Looking again at what can see the labels
        until nothing is found makes redaction idempotent; labels are never touched, so it ends.
        """
        fresh = _settle(text, scan(text) + self._told_in(text))
        if not fresh:
            return [], text
        fresh = _settle(text, fresh + list(repeats(text, fresh)))
        spans = fresh
        redacted = self._redacted(text, spans)
        for _ in range(_PASSES):
            changed = redacted.placed(fresh)
            more = scan(redacted.text, changed=changed) + self._told_in(redacted.text)
            more = _settle(redacted.text, more)
            if not more:
                break
            more = _settle(redacted.text, more + list(repeats(redacted.text, more)))
            fresh = redacted.mapped_back(more)
            spans = sorted(spans + fresh)
            redacted = self._redacted(text, spans)
        return spans, redacted.text

    def _redacted(self, text: str, spans: Sequence[Span]) -> Rewritten:
        """Write the labels of spans that are in order and without overlap, and learn from them."""
        for start, end, kind in spans if self.told is not None else ():
            if kind in _NOT_LEARNED:
                continue
            before, word = max(0, start - _BEFORE), text[start:end]
            if is_numbered(word) and _UNSURE.search(text, before, start) is not None:
                continue
            self._learn(word, kind, _said(text, before, start, end))
        return rewritten(text, ((s, e, self.label(kind, text[s:e])) for s, e, kind in spans))


def _said(text: str, before: int, start: int, end: int) -> Said:
    """Tell how the sentence around a secret, from `before` on, gives it."""
    if _SPOKEN.search(text, before, start) is None:
        return Said.NOT
    return Said.TOLD if is_announced(text, before, start, end) else Said.GUESSED


def _settle(text: str, spans: list[Span]) -> list[Span]:
    """Order spans, join those that overlap, and leave labels alone."""
    if not spans:
        return []
    labels = label_places(text, KINDS)
    settled: list[Span] = []
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        near = bisect_right(labels, (start, len(text)))
        if any(low < end and start < high for low, high in labels[max(0, near - 1) : near + 1]):
            continue
        if settled and start < settled[-1][1]:
            low, high, first = settled[-1]
            # A format says more than the name that stands before it.
            told = kind in FORMAT_KINDS and 2 * (end - start) >= max(high, end) - low
            settled[-1] = (low, max(high, end), kind if told else first)
        else:
            settled.append((start, end, kind))
    return settled


def _rebuild(value: object, redactor: Redactor) -> object:
    """Copy a decoded JSON value with its strings redacted, without recursion."""
    root: list[Any] = [value]
    # What is still to be copied: its holder, its place there, the name of its field.
    work: list[tuple[list[Any] | dict[Any, Any], Any, str]] = [(root, 0, "")]
    while work:
        holder, place, field = work.pop()
        item = holder[place]
        if isinstance(item, str):
            holder[place] = redactor.redact_field(field, item)
        elif isinstance(item, dict):
            copy: dict[Any, Any] = {}
            named = _named(item)
            for key, inner in item.items():
                told = named if named and key in _VALUE_FIELDS else key
                if type(inner) is str and key in redactor.clean and key not in copy:
                    copy[key] = redactor.redact_field(told, inner)  # as nearly all are
                    continue
                safe = redactor.redact(key) if isinstance(key, str) else key
                while safe in copy:  # two secrets without a digest
                    safe = f"{safe}+"
                copy[safe] = inner
                work.append((copy, safe, told if isinstance(told, str) else ""))
            holder[place] = copy
        elif isinstance(item, list | tuple):
            parts = list(item)
            work.extend((parts, i, _option_before(item, i) or field) for i in range(len(parts)))
            holder[place] = parts
        elif isinstance(item, int) and not isinstance(item, bool):
            digits = str(item) if abs(item) < _LARGEST_PIN else ""
            if field_kind(field, digits, number=True) == "password":
                holder[place] = redactor.label("password", digits)
    return root[0]


def _named(item: dict[Any, Any]) -> str:
    """Give the name in `{"name": "DB_PASSWORD", "value": "..."}`."""
    return next((name for n in _NAME_FIELDS if isinstance(name := item.get(n), str)), "")


def _option_before(words: Sequence[Any], i: int) -> str:
    """Give the option before an argument, in a command that is written as a list."""
    before = words[i - 1] if i else None
    return before.lstrip("-") if isinstance(before, str) and before.startswith("--") else ""


class NoRedaction(Redactor):
    """Change nothing: what `--no-redact` uses."""

    def __init__(self) -> None:
        super().__init__(key=bytes(MIN_KEY_BYTES))

    def find(self, text: str) -> list[Redaction]:
        """Find nothing."""
        return []

    def redact(self, text: str) -> str:
        """Return the text as it is."""
        return text

    def redact_value(self, value: object) -> object:
        """Return the value as it is."""
        return value

    def redact_field(self, key: str, value: str) -> str:
        """Return the value as it is."""
        return value

    def label(self, kind: str, value: str) -> str:
        """Return the value as it is."""
        return value


NO_REDACTION: Final = NoRedaction()
