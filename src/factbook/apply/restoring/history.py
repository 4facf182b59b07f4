"""Put the history back, under the numbers that its rows have here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from factbook.apply.restoring.part import Part
from factbook.apply.tombstones import any_tombstones
from factbook.model.facts import Event
from factbook.model.restored import FileRow, ImportState
from factbook.store.kinds import EVENT
from factbook.store.transfer.records import COUNTED, EVENT_KINDS, NAMED_IN_DETAILS


class RestoredHistory(Part):
    """Puts events back."""

    def put_back(self, rows: Sequence[FileRow]) -> None:
        """Append events, in their order; one that is here already from before is the same."""
        events = [event for row in rows if (event := self._event(row)) is not None]
        # What details said here may have been erased since: then they tell nothing apart.
        detailed = not any_tombstones(self._writer)
        old = self._before(events, detailed=detailed)
        new = []
        for event in events:
            same = _same(event, detailed=detailed)
            if old[same]:
                old[same] -= 1
                self._state.known["event"] += 1
            else:
                new.append(event)
        # A number that is taken goes to the next one.
        for event, added in zip(new, self._writer.add(EVENT, new), strict=True):
            if added is None:
                self._writer.add(EVENT, [event._replace(id=0)])
        self._state.added["event"] += len(new)
        for event in new:
            if event.target_kind == "fact" and event.op == "store":
                self._state.untold.discard(event.target_id)

    def _event(self, row: FileRow) -> Event | None:
        event = row.row
        assert isinstance(event, Event)
        kind = EVENT_KINDS.get(event.target_kind, event.target_kind)
        if kind == "fact" and event.target_id in self._state.merged:
            self._state.known["event"] += 1  # what is here has a history of its own
            return None
        target = self._state.here(kind, event.target_id) if event.target_id else 0
        if target is None:
            # Of what was erased, or left out: here its number may come to be another row's.
            self._state.kept_out["event"] += 1
            return None
        return event._replace(
            id=self._state.kept_id(event.id),
            target_id=target,
            detail=renumbered(self._state, event.detail),
            run_id=self._state.here("run", event.run_id),
        )

    def _before(self, events: Iterable[Event], *, detailed: bool) -> Counter[tuple[object, ...]]:
        """Count the events of the same rows from before this import."""
        if self._state.fresh:
            return Counter()
        targets: dict[str, set[int]] = {}
        for event in events:
            targets.setdefault(event.target_kind, set()).add(event.target_id)
        return Counter(
            _same(event, detailed=detailed)
            for kind, ids in targets.items()
            for event in self._writer.find(EVENT, {"target_kind": kind, "target_id": sorted(ids)})
            if event.id <= self._state.last_event
        )

    def end(self) -> None:
        """Say once that there was an import, and of facts that nothing stored that it did."""
        for fact in sorted(self._state.untold):
            self._facts.event("store", "fact", fact, {"why": "import"})
        self._state.untold.clear()
        added = {kind: number for kind, number in sorted(self._state.added.items()) if number}
        if added:
            self._facts.event("import", "store", 0, added)


def renumbered(state: ImportState, detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an event or a proposal says, with the rows that it names as they are here."""
    return {key: _renumbered(state, key, value) for key, value in detail.items()}


def _renumbered(state: ImportState, key: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return renumbered(state, value)
    kind = NAMED_IN_DETAILS.get(key)
    if key == "cause" and isinstance(value, str):
        target, _, number = value.partition(":")
        here = state.here(target, int(number)) if number.isdecimal() else None
        return value if here is None else f"{target}:{here}"
    if kind is None:
        return value
    if isinstance(value, list):
        return [_here(state, kind, item) for item in value]
    return value if key in COUNTED else _here(state, kind, value)


def _here(state: ImportState, kind: str, value: Any) -> Any:
    is_id = isinstance(value, int) and not isinstance(value, bool)
    here = state.here(kind, value) if is_id else None
    return value if here is None else here


def _same(event: Event, *, detailed: bool) -> tuple[object, ...]:
    says = orjson.dumps(event.detail, option=orjson.OPT_SORT_KEYS) if detailed else b""
    return event.at, event.actor, event.trigger, event.op, event.target_kind, event.target_id, says
