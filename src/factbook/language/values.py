"""Say values in words: numbers with their nouns, moments, durations, sizes and paths."""

from __future__ import annotations

import os
from datetime import datetime
from functools import cache
from pathlib import Path


def moment(at: int | None) -> str:
    """Return a moment in local time as `2026-11-17 14:03`, or an empty text."""
    return _local(at, "%Y-%m-%d %H:%M")


def clock(at: int | None) -> str:
    """Return the local time of day as `14:03`, or an empty text."""
    return _local(at, "%H:%M")


def day(at: int | None) -> str:
    """Return the local day as `Tue 2026-11-17`, or an empty text."""
    return _local(at, "%a %Y-%m-%d")


def _local(at: int | None, form: str) -> str:
    if at is None:
        return ""
    try:
        return datetime.fromtimestamp(at / 1000).astimezone().strftime(form)
    except (ValueError, OverflowError, OSError):  # a year that no calendar holds
        return ""


def count(number: int, noun: str = "", plural: str = "") -> str:
    """Return a number with separators, and its noun in the right form: `1,204 facts`."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def counted(*parts: tuple[int, str]) -> list[str]:
    """Return numbers with what there are so many of, without those of which there are none."""
    return [f"{number:,} {what}" for number, what in parts if number]


def every(ms: int) -> str:
    """Return how often something comes: "daily", "every 6h"."""
    for unit, step, word in (("w", 7 * 24 * 60, "weekly"), ("d", 24 * 60, "daily"), ("h", 60, "")):
        number, rest = divmod(ms, step * 60_000)
        if number and not rest:
            return word if number == 1 and word else f"every {number}{unit}"
    return f"every {ms // 60_000}m"


def size(number: float) -> str:
    """Return a number of bytes as a person says it: `4.2 MB`."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if abs(number) < 1000 or unit == "TB":
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    raise AssertionError("the loop returns")


def amount(seconds: float) -> str:
    """Return a duration as a person says it: `0.42 s`, `3 min 5 s`."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 2 * 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    if seconds < 2 * 86400:
        return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"
    return f"{int(seconds // 86400)} days {int(seconds % 86400 // 3600)} h"


@cache
def _home() -> str:
    try:
        return str(Path.home())
    except RuntimeError:  # a user without a home
        return ""


def home_path(path: str | os.PathLike[str]) -> str:
    """Return a path with the home folder as `~`."""
    text, home = os.fspath(path), _home()
    if len(home) > 1 and (text == home or text.startswith(home + os.sep)):
        return "~" + text[len(home) :]
    return text


def place(source: str, position: int) -> str:
    """Return where something stands, as editors write it: `~/logs/a.jsonl:17`."""
    if not source:
        return ""
    return f"{home_path(source)}:{position}" if position else home_path(source)
