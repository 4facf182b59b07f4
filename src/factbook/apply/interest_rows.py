"""4 apply: the rows around what people care about, as they are under the write lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factbook.errors import NotAllowed, NotFound
from factbook.model.facts import Event, Trigger, Trust
from factbook.store.derived.entities import row_named
from factbook.store.kinds import ENTITY, EVENT, EntityRow
from factbook.store.port import first

if TYPE_CHECKING:
    from factbook.apply.merging import MergeChanges

# The searches that may bring entities in (origins 003.2's trigger table).
ASKED = frozenset({Trigger.USER_MESSAGE, Trigger.LEARN_COMMAND})
_SEARCHING = ASKED | {Trigger.ENRICHMENT}


class InterestRows:
    """What the changes of entities, searches and notices of one call of `apply` share."""

    def __init__(self, facts: MergeChanges) -> None:
        self.facts = facts
        self.writer, self.receipt = facts.writer, facts.receipt
        self.now, self.trigger = facts.now, facts.trigger
        self.made: dict[tuple[str, str], dict[str, int]] = {}  # (owner, name) -> object -> id
        self.named: dict[tuple[str, str], int | None] = {}  # (owner, name or alias) -> entity
        self._rows: dict[int, EntityRow] = {}  # of those

    def entity(self, owner: str, name: str) -> EntityRow | None:
        """Return the current entity of a name or alias."""
        key = (owner, name)
        if key not in self.named:
            row = row_named(self.writer, owner, name)
            self.named[key] = None if row is None else row.id
            if row is not None:
                self._rows[row.id] = row
        entity_id = self.named[key]
        return None if entity_id is None else self._rows[entity_id]

    def plain(self, owner: str, name: str) -> EntityRow | None:
        """Return the current entity whose own name this is."""
        return first(self.writer, ENTITY, {"owner": owner, "name": name, "retired_at": None})

    def write(self, row: EntityRow) -> None:
        """Overwrite the state of an entity, which changes now.

        Who is known by what name is asked anew once `named` is cleared.
        """
        row = row._replace(updated_at=self.now)
        if row != self._rows.get(row.id):
            self.writer.put(ENTITY, [row])
            self._rows[row.id] = row

    def life(self, entity_id: int) -> EntityRow:
        entity = first(self.writer, ENTITY, {"id": entity_id})
        if entity is None:
            raise NotFound(what="entity", name=entity_id, hint="`factbook memory` lists them.")
        return entity

    def last(self, entity_id: int, op: str) -> Event:
        where = {"target_kind": "entity", "target_id": entity_id, "op": op}
        return self.writer.find(EVENT, where)[-1]

    def episode(self, uid: str) -> int:
        id_ = self.writer.episode_ids([uid]).get(uid)
        if id_ is None:
            raise NotFound(what="episode", name=uid, hint="record it in the same call.")
        return id_

    def own_words(self, owner: str, uid: str, *, heard: bool = False) -> int:
        """Return an episode that its owner said; raises NotAllowed for anything else.

        With `heard`, what its owner only handed on is enough.
        """
        episode_id = self.episode(uid)
        witness = self.writer.heads([episode_id])[episode_id]
        if witness.owner != owner or witness.injected or witness.trust is not Trust.DIRECT:
            raise NotAllowed(trigger=self.trigger, op=f"this by {uid}, which {owner} did not say")
        if not heard and not self.own_text(episode_id).strip():
            raise NotAllowed(trigger=self.trigger, op=f"this by {uid}, all of which is another's")
        return episode_id

    def own_text(self, episode_id: int) -> str:
        """Return an episode with line breaks for what is not its owner's own words."""
        return self.facts.voice(episode_id).text

    def search_trigger(self) -> Trigger:
        if self.trigger is Trigger.COMMAND:
            return Trigger.USER_MESSAGE  # origins 003.2: a command of a person is a person's search
        if self.trigger not in _SEARCHING:
            raise NotAllowed(trigger=self.trigger, op="RecordSearch")
        return self.trigger


class InterestPart:
    """Some of the changes of one call of `apply`, over the rows that they share.

    What an Op asks for, its class says.
    """

    def __init__(self, rows: InterestRows) -> None:
        self._rows = rows
        self._writer = rows.writer
        self._receipt = rows.receipt
        self._facts = rows.facts
        self._now = rows.now
        self._trigger = rows.trigger
