"""What every reader gives: batches of episodes with an account of every line and a new cursor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from factbook.model.facts import Cursor, Episode, LineCount, RejectedLine, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one step of reading gave; all of it is written in one transaction."""

    source: Source
    episodes: Sequence[Episode]
    rejected: Sequence[RejectedLine]
    lines: LineCount  # of this batch alone
    cursor: Cursor  # where the next run goes on when this batch is written
    read_bytes: int  # bytes that this batch consumed
    restart: bool = False  # the file is not the one that the cursor was made for
    others: Sequence[Source] = ()  # further sources that its episodes belong to
