"""What everything that reads texts needs of a redactor."""

from __future__ import annotations

from typing import Protocol


class Redacting(Protocol):
    """Takes the secrets out of what is read."""

    def redact(self, text: str) -> str:
        """Return the text with every secret replaced by its label."""

    def redact_value(self, value: object) -> object:
        """Return JSON data with every secret in its strings replaced."""

    def redact_field(self, key: str, value: str) -> str:
        """Return the value of a named field with its secrets replaced."""
