"""Put small rows back: what people care about, searches, notices, proposals, and so on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from factbook import policy
from factbook.apply.restoring.history import renumbered
from factbook.apply.restoring.part import Part
from factbook.apply.tombstones import proposed_claim
from factbook.model.keys import entity_name
from factbook.model.restored import FileRow, Pointer
from factbook.store.kinds import (
    ALIAS,
    ALL,
    ENGAGEMENT,
    ENTITY,
    ERASURE,
    INJECTION,
    LEARN_PROMPT,
    MODEL_TASK,
    NOTICE,
    NOTICE_FACT,
    NOTIFY,
    PAIR,
    PREFERENCE,
    PROPOSAL,
    READER,
    REJECTION,
    RUN,
    SCHEDULE,
    SEARCH_FIND,
    SEARCH_LOG,
    SEARCH_RESULT,
    SEARCH_TASK,
    SECRET,
    TOMBSTONE,
    Kind,
    Secret,
)
from factbook.store.port import first
from factbook.store.rows import ERASE_KEY
from factbook.store.transfer.records import OF_PAIRS, SMALL, target_of

OF: Final[Mapping[Kind[Any], Mapping[str, str]]] = {  # field -> the kind of row that it names
    READER: {"source_id": "source"},
    ENTITY: {"episode_id": "episode"},
    ALIAS: {"entity_id": "entity"},
    PREFERENCE: {"episode_id": "episode"},
    PAIR: {"low_id": "fact", "high_id": "fact"},
    ENGAGEMENT: {"entity_id": "entity", "preference_id": "preference", "episode_id": "episode"},
    LEARN_PROMPT: {"episode_id": "episode"},
    SCHEDULE: {"episode_id": "episode"},
    SEARCH_TASK: {"learn_prompt_id": "learn_prompt", "entity_id": "entity", "cause_id": "episode"},
    SEARCH_LOG: {"learn_prompt_id": "learn_prompt", "entity_id": "entity", "cause_id": "episode"},
    SEARCH_RESULT: {"search_id": "search_log", "episode_id": "episode"},
    SEARCH_FIND: {"search_id": "search_log", "fact_id": "fact"},
    NOTICE: {"entity_id": "entity"},
    NOTICE_FACT: {"notice_id": "notice", "fact_id": "fact"},
    REJECTION: {"source_id": "source", "episode_id": "episode"},
    TOMBSTONE: {"erasure_id": "erasure"},
}
_MAY_LACK: Final = {  # what may be empty where the row that it names is not there
    SEARCH_TASK: ("learn_prompt_id", "entity_id", "cause_id"),
    SEARCH_LOG: ("learn_prompt_id", "entity_id", "cause_id"),
    REJECTION: ("episode_id",),
    ENGAGEMENT: ("episode_id",),
}


class _Same(NamedTuple):
    """How rows of a kind are known again in another memory."""

    by: tuple[str, ...]  # fields that they are asked for by
    alike: tuple[str, ...]  # further fields that must be equal


_SAME: Final[Mapping[Kind[Any], _Same]] = {
    ERASURE: _Same((), ("at", "actor", "what")),
    RUN: _Same((), ("started_at",)),
    ENTITY: _Same(("owner", "name"), ("created_at",)),
    PREFERENCE: _Same(("owner", "topic"), ("type", "created_at")),
    ENGAGEMENT: _Same(("owner", "at"), ("type", "entity_id", "preference_id", "episode_id")),
    LEARN_PROMPT: _Same(("owner", "episode_id"), ("text", "created_at")),
    SCHEDULE: _Same(("owner", "episode_id"), ("topic", "created_at")),
    SEARCH_TASK: _Same(("owner", "created_at"), ("query", "trigger", "entity_id", "cause_id")),
    SEARCH_LOG: _Same(("owner", "trigger"), ("at", "query", "entity_id", "cause_id")),
    NOTICE: _Same(("owner", "entity_id"), ("kind", "created_at", "trigger")),
    INJECTION: _Same(("owner", "at"), ("session", "mode")),
    PROPOSAL: _Same(("claim",), ()),
    REJECTION: _Same(("claim",), ()),
}
_HOLDS: Final[Mapping[Kind[Any], Callable[[Any], bool]]] = {  # what a row of a kind must meet
    ENGAGEMENT: lambda row: (
        0 <= row.strength <= 1 and (row.entity_id, row.preference_id) != (None, None)
    ),
    ENTITY: lambda row: row.name and (row.merged_into_id is None or row.retired_at is not None),
    PREFERENCE: lambda row: row.topic != "",
    LEARN_PROMPT: lambda row: row.status in ("active", "completed"),
    NOTIFY: lambda row: row.unanswered >= 0,
    MODEL_TASK: lambda row: row.state in ("queued", "done", "failed", "aside"),
    PAIR: lambda row: row.low_id < row.high_id and row.verdict in ("", *policy.VERDICTS),
    RUN: lambda row: (
        row.state in ("running", "done", "failed", "undone")
        and (row.state == "running") is (row.finished_at is None)
    ),
    SECRET: lambda row: (
        row.name.startswith(ERASE_KEY) and bool(re.fullmatch("[0-9a-f]{64}", row.value))
    ),
    SCHEDULE: lambda row: row.every_ms > 0,
}


_WORDS: Final = frozenset(
    {LEARN_PROMPT, PREFERENCE, REJECTION, SCHEDULE, SEARCH_LOG, SEARCH_TASK}
)  # they repeat words of the episode that they name
_MARKS: Final[Mapping[Kind[Any], Callable[[Any], Sequence[tuple[str, ...]]]]] = {
    ENTITY: lambda row: [("name", row.owner, row.name)],
    ALIAS: lambda row: [("name", row.owner, row.name)],
    LEARN_PROMPT: lambda row: [("name", row.owner, entity_name(row.text))],
    PREFERENCE: lambda row: [("name", row.owner, row.topic)],
    SCHEDULE: lambda row: [("name", row.owner, entity_name(row.topic))],
    REJECTION: lambda row: [("refusal", row.claim.hex())],
    PROPOSAL: lambda row: [("claim", *proposed_claim(row.payload))],
}


class RestoredRows(Part):
    """Puts rows of one kind back, as they are for every kind."""

    def put_back(self, rows: Sequence[FileRow]) -> None:
        """Put rows of one kind back; one that stands for the same is there already."""
        kind = SMALL[rows[0].kind]
        named = [(row, ours) for row in rows if (ours := self._named(kind, row)) is not None]
        named = self._let_in(kind, named)
        known = self._known(kind, [new_row for _, new_row in named])
        for row, ours in named:
            old = row.row
            here = self._here(kind, ours, known)
            if here is not None:
                self._is_here(kind, old, here, new=False)
                continue
            if kind.has_ids:
                ours = ours._replace(id=self._state.kept_id(ours.id))
            [added] = self._writer.add(kind, [ours])
            if added is None and kind.has_ids:  # its number is taken, or it is the same otherwise
                [added] = self._writer.add(kind, [ours._replace(id=0)])
            if added is None:
                self._there(kind, row, ours)
                continue
            self._is_here(kind, old, added, new=True)
            if kind is ENTITY:
                self._await(old, added)
            if kind.embedded and ours.retired_at is not None:
                self._writer.put(kind, [ours._replace(id=added)])  # it needs no vector
        if kind is ENTITY:
            self._point()

    def _named(self, kind: Kind[Any], row: FileRow) -> Any:
        """Return a row with the ids that hold here; None for one that cannot stand."""
        ours: Any = row.row
        if not _HOLDS.get(kind, lambda _: True)(ours):
            self._leave(row, f"no {kind.name} is like that")
            return None
        for field, target in OF.get(kind, {}).items():
            old = getattr(ours, field)
            here = self._state.here(target, old)
            gone = old in self._state.gone.get(target, ())
            if gone or (old is not None and here is None and field not in _MAY_LACK.get(kind, ())):
                self._lacks(row, target, old)
                return None
            if kind in _WORDS and target == "episode" and old in self._state.holed:
                self._state.keep_out(kind.name, ours)  # it may repeat what was erased there
                return None
            ours = ours._replace(**{field: here})
        if kind is MODEL_TASK:
            target = target_of(ours.kind)
            here = None if ours.kind in OF_PAIRS else self._state.here(target, ours.target)
            if here is None:
                self._lacks(row, target, ours.target)
                return None
            ours = ours._replace(target=here)
        elif kind is PAIR:
            low, high = sorted((ours.low_id, ours.high_id))
            ours = ours._replace(low_id=low, high_id=high)
        elif kind is INJECTION:
            ours = ours._replace(items=self._shown(ours.items), used=self._shown(ours.used))
        elif kind is PROPOSAL:
            ours = ours._replace(payload=renumbered(self._state, ours.payload))
        elif kind is ERASURE:
            ours = ours._replace(clean=True)  # what it took never stood in this file
        elif kind is SECRET:
            ours = self._secret(ours)
        elif kind is ENTITY:
            ours = ours._replace(merged_into_id=None)  # until that has come
        return ours

    def _shown(self, items: Sequence[str]) -> list[str]:
        """Return what was shown (f12, e34) as it is called here."""
        kinds = {"f": "fact", "e": "episode"}
        return [
            f"{item[0]}{here}"
            for item in items
            if item[1:].isdecimal()
            and (here := self._state.here(kinds.get(item[:1], ""), int(item[1:]))) is not None
        ]

    def _secret(self, secret: Secret) -> Secret:
        """Return the key of the file's tombstones beside the one that there is here."""
        known = first(self._writer, SECRET, {"name": secret.name})
        if known is None or known.value == secret.value:
            return secret
        digest = hashlib.sha256(secret.value.encode()).hexdigest()
        return secret._replace(name=f"{ERASE_KEY} {digest[:8]}")

    def _let_in(
        self, kind: Kind[Any], named: list[tuple[FileRow, Any]]
    ) -> list[tuple[FileRow, Any]]:
        """Return what was not erased here."""
        marks = _MARKS.get(kind)
        if marks is None:
            return named
        out = self._erased([marks(ours) for _, ours in named])
        for (row, _), gone in zip(named, out, strict=True):
            if gone:
                self._state.keep_out(kind.name, row.row)
        return [pair for pair, gone in zip(named, out, strict=True) if not gone]

    def _known(self, kind: Kind[Any], rows: Sequence[Any]) -> dict[tuple[Any, ...], list[Any]]:
        """Return the rows here that could stand for these, by what makes them alike."""
        same = _SAME.get(kind)
        if same is None or not rows or self._state.fresh:
            return {}
        where = {name: sorted({getattr(row, name) for row in rows}) for name in same.by} or ALL
        taken = self._state.taken.get(kind.name, ())
        alike: dict[tuple[Any, ...], list[Any]] = {}
        for row in self._writer.find(kind, where):
            if row.id not in taken:
                alike.setdefault(_values(row, (*same.by, *same.alike)), []).append(row)
                if kind in (ENTITY, PREFERENCE):
                    alike.setdefault(_values(row, same.by), []).append(row)
        return alike

    def _here(
        self, kind: Kind[Any], row: Any, known: Mapping[tuple[Any, ...], list[Any]]
    ) -> int | None:
        """Return the id of the row here that is the same."""
        same = _SAME.get(kind)
        if same is None:
            return None
        for known_row in known.get(_values(row, (*same.by, *same.alike)), ()):
            if known_row.id not in self._state.taken.get(kind.name, ()):
                return int(known_row.id)
        if kind not in (ENTITY, PREFERENCE) or row.retired_at is not None:
            return None
        named = known.get(_values(row, same.by), [])
        current = [one for one in named if one.retired_at is None]
        # What its owner removed here stays removed.
        gone = [one for one in named if kind is ENTITY and one.merged_into_id is None]
        for known_row in current or gone:
            return int(known_row.id)
        return None

    def _there(self, kind: Kind[Any], row: FileRow, ours: Any) -> None:
        """Say that a row is there already by its key or its unique fields."""
        if kind.has_ids and kind.unique:
            known = first(self._writer, kind, {name: getattr(ours, name) for name in kind.unique})
            if known is not None:
                self._is_here(kind, row.row, known.id, new=False)
                return
        self._state.known[kind.name] += 1

    def _is_here(self, kind: Kind[Any], old: Any, here: int, *, new: bool) -> None:
        if kind.has_ids:
            self._state.is_here(kind.name, old.id, here, new=new)
        else:
            (self._state.added if new else self._state.known)[kind.name] += 1

    def _await(self, old: Any, here: int) -> None:
        if old.merged_into_id is not None:
            pointer = Pointer(ENTITY.name, here, "merged_into_id")
            self._state.pointers.setdefault((ENTITY.name, old.merged_into_id), []).append(pointer)

    def _point(self) -> None:
        for target in [key for key in self._state.pointers if key[0] == ENTITY.name]:
            here = self._state.here(*target)
            if here is None:
                continue
            for pointer in self._state.pointers.pop(target):
                row = first(self._writer, ENTITY, {"id": pointer.id})
                if row is not None and here != row.id:
                    self._writer.put(ENTITY, [row._replace(merged_into_id=here)])


def _values(row: Any, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in names)
