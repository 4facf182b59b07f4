"""A turn of an agent's log: what was asked, what was done, how it ended. Values only.

A turn is nothing that is stored: it is read from its records whenever it is needed, so it grows
with its log, and nothing of it is left when they are erased.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from factbook import policy

MEANING: Final = 2
"""What rows are embedded by, as a number that each change of it raises; 1 was their text alone."""

Millis: TypeAlias = int  # that of `model.facts`, which knows turns
_WORD: Final = re.compile(r"[^\W_]{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One request to an agent and what came of it, redacted, as far as an answer shows it."""

    id: str  # "e34": its first record, the prompt
    asked: str  # what was asked, in one line
    passages: Sequence[str]  # what bears on the question, in the order of the log
    ended: str  # what the agent said last, where the passages do not hold it
    outcome: str  # "interrupted", "2 of 9 calls failed"; empty where nothing failed
    files: Sequence[str]  # what was changed
    records: int
    began: Millis | None
    until: Millis | None
    trust: str = "derived"  # of the least trusted record that is shown
    asked_by: str = ""  # whose word what was asked is, as `Hit.by`; empty where that is not known
    asked_trust: str = ""  # and how far that is trusted


def as_text(turn: Turn) -> str:
    """Return a turn as one text, for whoever reads no fields: what was asked, done, and said."""
    parts = [*turn.passages]
    parts += [f"at the end: {turn.ended}"] if turn.ended else []
    parts += [f"asked: {turn.asked}"] if turn.asked else []
    if turn.files:
        parts.append(f"changed: {', '.join(turn.files[: policy.TURN_FILES])}")
    parts += [turn.outcome] if turn.outcome else []
    return "\n".join(parts)


def is_fragment(prompt: str) -> bool:
    """Tell whether a prompt says nothing by itself: "/exit", "8", "Of course."."""
    text = prompt.strip()
    if text.startswith("/") and " " not in text:
        return True
    return len(_WORD.findall(text)) < policy.PROMPT_WORDS and "?" not in text


def meaning_of_record(prompt: str, text: str) -> str:
    """Return what a record of a turn is embedded by: "Done, as you said" says nothing alone."""
    asked = prompt[: policy.ASKED_CHARS].strip()
    return f"{asked}\n{text}" if asked else text


def meaning_of_turn(prompt: str, replies: Sequence[str]) -> str:
    """Return what a turn is embedded by: what was asked and what was said last."""
    said = [reply[: policy.TURN_CHARS] for reply in replies[-policy.TURN_REPLIES :]]
    return "\n".join([prompt[: policy.TURN_CHARS], *said])
