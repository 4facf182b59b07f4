"""Digests of what was erased, which keep it from coming back.

Their key is the ledger's own, so that the same text has another digest in another ledger.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from typing import Final

from factbook.model.facts import EVERYONE, FactKind, Millis
from factbook.store.base import ERASE_KEY, Reads, Writer, tombstone_mark
from factbook.store.base_erase import Doomed
from factbook.store.derived.facts import lives_by_id
from factbook.store.kinds import (
    ALIAS,
    ENTITY,
    ERASURE,
    REJECTION,
    SECRET,
    TOMBSTONE,
    Secret,
    Tombstone,
)
from factbook.store.port import first

TEXT_CHARS: Final = 24
"""Ours: shorter texts are the same by chance; they are kept out by their id and by their date."""


def same_words(text: str) -> str:
    """Return what texts have in common that differ only in case and in spaces."""
    return " ".join(text.casefold().split())


def any_tombstones(reads: Reads) -> bool:
    """Tell whether anything was ever erased, and is kept out."""
    return first(reads, TOMBSTONE, {}) is not None


class Tombstones:
    """What must not come back, as one write reads and changes it."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._key = ""

    def mark(self, kind: str, *parts: str) -> bytes:
        """Return the digest that stands for what must not come back."""
        if not self._key:
            secret = first(self._writer, SECRET, {"name": ERASE_KEY})
            if secret is None:
                secret = Secret(ERASE_KEY, secrets.token_hex(32))
                self._writer.add(SECRET, [secret])
            self._key = secret.value
        return tombstone_mark(self._key, kind, *parts)

    def met(self, marks: Collection[bytes]) -> dict[bytes, Millis]:
        """Return when those of the marks were erased that were."""
        stones = self._writer.find(TOMBSTONE, {"mark": marks})
        erasures = {stone.erasure_id for stone in stones}
        times = {act.id: act.at for act in self._writer.find(ERASURE, {"id": erasures})}
        return {stone.mark: times[stone.erasure_id] for stone in stones}

    def keep_out(self, doomed: Doomed, erasure_id: int) -> None:
        """Keep what is to be erased from coming back."""
        sources = self._writer.sources(ids=sorted(doomed.sources))
        refusals = self._writer.find(REJECTION, {"id": doomed.rejections})
        marks = [
            *self._of_episodes(doomed),
            *self._of_facts(doomed.facts),
            *self._of_names(doomed.entities),
            *(("source", self.mark("source", row.source.key)) for row in sources),
            *(("refusal", self.mark("refusal", row.claim.hex())) for row in refusals),
        ]
        self._writer.put(TOMBSTONE, [Tombstone(mark, kind, erasure_id) for kind, mark in marks])

    def _of_episodes(self, doomed: Doomed) -> list[tuple[str, bytes]]:
        marks = []
        ids = sorted(doomed.episodes | doomed.masks.keys())
        texts = self._writer.texts("episode", ids)
        for head in self._writer.heads(ids).values():
            # What stays with holes in it keeps its id; its record must not be told anew.
            kind = "uid" if head.id in doomed.episodes else "masked"
            marks.append((kind, self.mark(kind, head.uid)))
            same = same_words(texts[head.id])
            if len(same) >= TEXT_CHARS:
                marks.append(("text", self.mark("text", head.owner, same)))
            if head.occurred_at is not None:
                at = str(head.occurred_at)
                marks.append(("said", self.mark("said", head.owner, same, at)))
        return marks

    def _of_facts(self, ids: Collection[int]) -> list[tuple[str, bytes]]:
        # A key changes by its owner's own words alone, which are kept out as episodes.
        return [
            ("claim", self.mark("claim", life.owner, life.subject, life.predicate, life.object))
            for life in lives_by_id(self._writer, ids).values()
            if life.kind is not FactKind.KEYED
        ]

    def _of_names(self, entity_ids: Collection[int]) -> list[tuple[str, bytes]]:
        entities = self._writer.find(ENTITY, {"id": entity_ids})
        aliases = self._writer.find(ALIAS, {"owner": EVERYONE, "entity_id": entity_ids})
        names = {(row.owner, row.name) for row in entities}
        names |= {(row.owner, row.name) for row in aliases}
        return [("name", self.mark("name", *name)) for name in sorted(names)]

    def let_in(self, marks: Sequence[bytes]) -> None:
        """Let these come back."""
        self._writer.drop(TOMBSTONE, {"mark": marks})
