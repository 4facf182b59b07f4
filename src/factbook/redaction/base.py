"""What everything that reads texts needs of a redactor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from factbook.redaction.told import ToldSecret


class Redacting(Protocol):
    """Takes the secrets out of what is read."""

    learned: int  # changes when it knows other secrets than before

    def plain(self) -> Redacting:
        """Return one that remembers nothing: a text has one form with it, whatever was told."""

    def branch(self) -> Redacting:
        """Return one that knows what this one knows, and learns for itself."""

    def told_lately(self) -> Sequence[ToldSecret]:
        """Return the secrets that were learned and are not `know`n to be kept."""

    def holds_told(self, text: str) -> bool:
        """Tell whether a text that was redacted holds a secret that is known only by now."""

    def named(self, word: str) -> tuple[bytes, int] | None:
        """Return what a word is remembered by; None where nothing is remembered."""

    def hear(self, secrets: Iterable[ToldSecret]) -> None:
        """Know secrets that were told to another, and are yet to be kept."""

    def know(self, secrets: Iterable[ToldSecret]) -> None:
        """Know secrets that were told elsewhere, or are kept by now."""

    def learn_answer(self, asked: str, answer: str) -> None:
        """Remember the secret that a text of one word gives to the question that another ends with.

        The answer announces nothing itself; it is known in every text from then on.
        """

    def redact(self, text: str) -> str:
        """Return the text with every secret replaced by its label."""

    def redact_value(self, value: object) -> object:
        """Return JSON data with every secret in its strings replaced."""

    def redact_field(self, key: str, value: str) -> str:
        """Return the value of a named field with its secrets replaced."""


_QUESTION: Final = 200  # characters of a question that are looked at


def last_question(text: str) -> str:
    """Return the question that a text ends with; nothing where it ends with none."""
    text = text.rstrip().rstrip("*_`")
    return text[-_QUESTION:].rpartition("\n")[2] if text.endswith("?") else ""
