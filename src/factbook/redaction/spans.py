"""What every finder gives: where a secret stands, and of what kind it is."""

from __future__ import annotations

from typing import TypeAlias

__all__ = ["Span"]

Span: TypeAlias = tuple[int, int, str]
"""First character, behind the last character, kind."""
