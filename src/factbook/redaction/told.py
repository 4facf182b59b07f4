"""Know a secret again that was told before, where nothing announces it.

A password is named in one message and used in the next: "it is on the note" says nothing to whoever
reads that alone. So what was replaced once is remembered by a keyed digest and its length, never by
its letters, and every later text is compared word by word. A secret that looks like a word, a path
or a number is not remembered, nor one that is so short that its digest could be guessed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from enum import Enum
from typing import Final, TypeAlias

from factbook.policy import TOLD_SECRETS
from factbook.redaction.repeats import LONGEST, SHORTEST, is_distinct
from factbook.redaction.values import is_called, is_numbered, is_path, is_stand_in

_BYTES: Final = 8  # of a digest: no word is taken for another's, however many are compared
_PERSON: Final = b"told"  # these digests are not those of the labels
_AROUND: Final = ".,;:!?()[]{}<>*_~-\"'`"
_MARKED: Final = 4  # marks in a row behind a word, of which any may be its own
# Where a secret may begin and end within a run of characters: at marks, at what is not ASCII, and
# at what hardly stands in one.
_PIECES: Final = tuple(
    re.compile(f"[{held}]{{{SHORTEST},}}")
    for held in (
        r"^\s\"'`<>|\\,;:=()\[\]{}",
        r"A-Za-z0-9_.!@$#%&*+=?/~^:-",
        r"A-Za-z0-9_.!@$-",
        r"A-Za-z0-9_.!$-",
    )
)
_NOISE: Final = re.compile(r"\x1b\[[0-9;]*m|%[0-9A-Fa-f]{2}|\\+[nrt]|&#?\w{2,6};")
"""What stands for a mark: colours of a terminal, signs as addresses, JSON and HTML write them."""
_FOUR: Final = r"[A-Za-z]{4}(?: [A-Za-z]{4}){3}(?!\w)"  # as Google and Apple write passwords
_FOURS: Final = re.compile(_FOUR)
_FOURS_IN: Final = re.compile(rf"(?=\b({_FOUR}))")
_FOURS_CHARS: Final = 19

ToldSecret: TypeAlias = tuple[bytes, int, str]
"""What is kept of a secret: its digest, how many characters it has, its kind."""


class Said(Enum):
    """How a sentence gives a secret."""

    NOT = 0  # it stands in a setting, an option, an address or a field
    TOLD = 1  # a word for a password leads to it, or who owns it says so
    GUESSED = 2  # something of its shape stands in a line that speaks of secrets


TAKEN_BACK: Final = ""
"""The kind of what was taken for a secret wrongly, and is not again."""


class Told:
    """The secrets that were told to a memory."""

    def __init__(self, key: bytes, known: Iterable[ToldSecret] = ()) -> None:
        """Begin with what is known; `key` is the one that labels are made with."""
        self._key = key
        self._kinds: dict[tuple[bytes, int], str] = {}
        self._lengths: set[int] = set()
        self._fresh: dict[tuple[bytes, int], str] = {}
        self.add(known)

    def __len__(self) -> int:
        return len(self._kinds)

    def branch(self) -> Told:
        """Return one that begins with what is known here, and has nothing fresh."""
        other = Told(self._key)
        other._kinds, other._lengths = dict(self._kinds), set(self._lengths)
        return other

    def add(self, known: Iterable[ToldSecret]) -> bool:
        """Know what was kept, or was told elsewhere; tell whether anything of it is new."""
        new = False
        for digest, chars, kind in known:
            self._fresh.pop((digest, chars), None)
            new = self._know(digest, chars, kind) or new
        return new

    def takes(self, word: str, kind: str, *, said: Said = Said.NOT) -> ToldSecret | None:
        """Return what is to be remembered of a secret; None where nothing is, or no more.

        A password that somebody told in a sentence may be a word with digits, which in settings of
        programs is as often the name of something, and in what a sentence lets guess, too.
        """
        if not SHORTEST <= len(word) <= LONGEST or len(self) >= TOLD_SECRETS:
            return None
        password = kind == "password"
        if password and said is Said.GUESSED and (is_called(word) or is_numbered(word)):
            return None
        fours = said is not Said.NOT and _FOURS.fullmatch(word) is not None
        told = said is Said.TOLD and _is_password(word)
        if not (is_distinct(word) or (password and (fours or told))):
            return None
        digest, chars = self.named(word)
        return None if (digest, chars) in self._kinds else (digest, chars, kind)

    def named(self, word: str) -> tuple[bytes, int]:
        """Return what a word is remembered by: its digest, and how many characters it has."""
        data = word.encode("utf-8", "surrogatepass")
        key = self._key
        digest = hashlib.blake2b(data, key=key, digest_size=_BYTES, person=_PERSON).digest()
        return digest, len(word)

    def hear(self, secrets: Iterable[ToldSecret]) -> bool:
        """Know secrets that are yet to be kept; tell whether one of them is new."""
        new = [secret for secret in secrets if secret[:2] not in self._kinds]
        for digest, chars, kind in new:
            self._know(digest, chars, kind)
            self._fresh[digest, chars] = kind
        return bool(new)

    def fresh(self) -> list[ToldSecret]:
        """Return what was learned and is kept nowhere yet: `add` says that it is."""
        return [(*named, kind) for named, kind in self._fresh.items()]

    def within(self, text: str) -> dict[str, str]:
        """Return the known secrets that stand in a text, with their kinds."""
        if not self._kinds:
            return {}
        return {
            word: kind
            for word in _words(text, self._lengths)
            if (kind := self._kinds.get(self.named(word), TAKEN_BACK)) != TAKEN_BACK
        }

    def _know(self, digest: bytes, chars: int, kind: str) -> bool:
        before = self._kinds.get((digest, chars))
        self._kinds[digest, chars] = kind
        self._lengths.add(chars)
        return before != kind


def _is_password(word: str) -> bool:
    """Tell whether a password is one wherever it stands, though its letters may be a word."""
    mixed = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return mixed and " " not in word and not is_path(word) and not is_stand_in(word)


def _words(text: str, lengths: Collection[int]) -> set[str]:
    """Return what of some lengths may be a secret: words with and without the marks around them."""
    runs = {run for run in text.split() if len(run) >= SHORTEST}
    marked = "\n".join([run for run in runs if not run.isalnum()])
    bare = _NOISE.sub(" ", marked)
    words = runs.union(_PIECES[0].findall(marked))
    for piece in _PIECES:
        found = set(piece.findall(bare))
        words |= found
        bare = "\n".join([word for word in found if not word.isalnum()])
    most = max(lengths) + _MARKED
    ends = [w for w in words if len(w) <= most and (w[0] in _AROUND or w[-1] in _AROUND)]
    words.update([less for word in ends for less in _stripped(word)])
    if _FOURS_CHARS in lengths:
        words.update(_FOURS_IN.findall(text))
    return {word for word in words if len(word) in lengths}


def _stripped(word: str) -> Iterator[str]:
    """Yield a word without the marks before it, and without some or all behind it."""
    word = word.lstrip(_AROUND)
    yield word
    yield word.rstrip(_AROUND)
    for _ in range(_MARKED):
        if word[-1:] not in _AROUND:
            return
        word = word[:-1]
        yield word
