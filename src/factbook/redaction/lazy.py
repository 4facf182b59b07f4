"""Compile patterns when they are first used: most programs that import this meet few of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator


class Lazy:
    """A pattern that costs nothing until it is used, and then no more than any other."""

    match: Callable[..., re.Match[str] | None]
    fullmatch: Callable[..., re.Match[str] | None]
    search: Callable[..., re.Match[str] | None]
    finditer: Callable[..., Iterator[re.Match[str]]]
    split: Callable[..., list[str]]
    sub: Callable[..., str]
    findall: Callable[..., list[str]]

    def __init__(self, pattern: str) -> None:
        """Keep the source of a pattern."""
        self.pattern = pattern

    def __getattr__(self, name: str) -> object:
        """Compile the pattern; asked only while its methods are missing."""
        compiled = re.compile(self.pattern)
        self.match = compiled.match
        self.fullmatch = compiled.fullmatch
        self.search = compiled.search
        self.finditer = compiled.finditer
        self.split = compiled.split
        self.sub = compiled.sub
        self.findall = compiled.findall
        return getattr(compiled, name)
