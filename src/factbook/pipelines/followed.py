"""Read on in the transcripts of sessions that go on, as the hooks of clients saw them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from factbook.errors import FactbookError
from factbook.pipelines.observed import ingest_files
from factbook.sources.discover import discover
from factbook.sources.spool import ACTIVE_S, Spool, folder_of

if TYPE_CHECKING:
    from factbook.context import Context


def read_active(context: Context, owner: str) -> bool:
    """Read on in these transcripts of an owner; return whether any grew since it was last read."""
    files = context.store.files
    if files is None:
        return False
    oldest = context.clock() - ACTIVE_S * 1000
    active = Spool(folder_of(files.path)).transcripts(owner, since=oldest)
    if not active:
        return False
    with suppress(FactbookError):  # one that cannot be read, or written now, is read at night
        report = ingest_files(context, discover(active, owner=owner), workers=0)
        return any(file.read_bytes for file in report.files)
    return False
