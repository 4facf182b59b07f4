"""Typed memories as documents of a record, and such documents as rows (origins 002.6).

Every row that a document stands for is RECORDED under its `_id`, which is made of whose it is and
what it says, never of its number here: rows that name others name them by that. A memory's document
holds its evidence; the summaries that it stands on are documents too, so that whoever reads the
record alone has the sources of all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Final

from factbook.apply.typed_names import (
    EVENT_ROW,
    FACT_ROW,
    MEMORY,
    PROPOSAL_ROW,
    REJECTION_ROW,
    ROWS,
    SAME,
    SUMMARY_ROW,
    TIMES,
    WAKING,
    Names,
    date,
)
from factbook.apply.typed_projection import TypedProjection
from factbook.model.facts import EVERYONE, Event, FactKind, Millis, Proposal, Status
from factbook.store.derived.facts import lives_by_id
from factbook.store.kinds import ERASED, EVENT, PROPOSAL, RECORDED, REJECTION, Refusal
from factbook.store.mongo.record import Document
from factbook.store.mongo.split import Touched
from factbook.store.port import Reads, Writer
from factbook.store.rows import EvidenceRow, Life, LifeWhere
from factbook.store.screened import Screen, unscreened
from factbook.store.transfer.records import record_of

_EVENTS: Final = 1_000  # in one document
_EVENTS_BYTES: Final = 4_000_000  # of what they say, but for a single one that says more
_ASIDE: Final = 100  # documents that were not believed, as far as they are remembered


class TypedMirror:
    """Turns the typed rows of a ledger into documents, and documents into its rows."""

    def __init__(
        self, id_of: Callable[..., str], *, tenant: str, screen: Screen = unscreened
    ) -> None:
        """Take what makes an `_id` of a subject and parts; `tenant` is the ledger's own.

        Rows that come from documents go through `screen`, as all that is kept.
        """
        self._id_of = id_of
        self._tenant = tenant
        self._screen = screen
        self.aside: list[str] = []  # documents that were not believed, and why

    def documents(
        self, writer: Writer, touched: Touched, number: int
    ) -> Mapping[str, Sequence[Document]]:
        """Return what the record is to say of rows after a commit of this number."""
        return _Describing(writer, self._id_of, self._tenant, number).run(touched)

    def projection(self, writer: Writer, *, now: Millis) -> TypedProjection:
        """Return what lets rows say what documents say."""
        return TypedProjection(
            writer,
            id_of=self._id_of,
            tenant=self._tenant,
            now=now,
            screen=self._screen,
            put_aside=self._put_aside,
        )

    def _put_aside(self, why: str) -> None:
        self.aside = [*self.aside[-_ASIDE:], why]

    def adopted(self, reads: Reads) -> Touched:
        """Return the typed rows that no document stands for yet."""
        touched = Touched()
        lives = reads.lives(LifeWhere(kinds=[FactKind.TYPED]))
        touched.facts = {life.id for life in lives if life.status is not Status.ERASED}
        touched.rejections = {
            row.id for row in reads.find(REJECTION, {"owner": EVERYONE}) if row.type
        }
        touched.proposals = {row.id for row in reads.find(PROPOSAL, {"kind": MEMORY})}
        for kind, ids in ((FACT_ROW, touched.facts), (PROPOSAL_ROW, touched.proposals)):
            events = reads.find(EVENT, {"target_kind": kind, "target_id": sorted(ids)})
            touched.events |= {event.id for event in events}
        for recorded in reads.find(RECORDED):
            if recorded.target in ROWS.values():
                _of(touched, recorded.target).discard(recorded.row_id)
        return touched


def _of(touched: Touched, target: str) -> set[int]:
    names = {row: kind for kind, row in ROWS.items()}
    name = {"summaries": "episodes", "memories": "facts"}.get(names[target], names[target])
    ids: set[int] = getattr(touched, name)
    return ids


class _Describing:
    """Rows as documents, in one write."""

    def __init__(self, writer: Writer, id_of: Callable[..., str], tenant: str, number: int) -> None:
        self._writer = writer
        self._id_of = id_of
        self._number = number
        self._names = Names(writer, tenant)
        self._found: dict[str, list[Document]] = {kind: [] for kind in ROWS}
        self._owners: dict[int, str] = {}  # of facts

    def run(self, touched: Touched) -> dict[str, list[Document]]:
        lives = list(lives_by_id(self._writer, touched.facts).values())
        self._owners = {life.id: life.owner for life in lives}
        evidence = self._writer.evidence(fact_ids=[life.id for life in lives])
        refusals = self._writer.find(
            REJECTION, {"id": sorted(touched.rejections), "owner": EVERYONE}
        )
        named = self._names.keys(REJECTION_ROW, touched.rejections)
        refusals = [row for row in refusals if row.type or row.id in named]
        proposals = self._writer.find(PROPOSAL, {"id": sorted(touched.proposals)})
        proposals = [row for row in proposals if row.kind == MEMORY]
        new = {row.episode_id for row in evidence}
        new |= {row.episode_id for row in refusals if row.episode_id is not None}
        changed = self._names.keys(SUMMARY_ROW, touched.episodes).keys()
        self._summaries(new - self._names.keys(SUMMARY_ROW, new).keys() | set(changed))
        self._name(lives)
        self._memories(lives, evidence)
        for refusal in refusals:
            self._rejection(refusal)
        for proposal in proposals:
            self._proposal(proposal)
        self._gone(REJECTION_ROW, touched.rejections - {row.id for row in refusals})
        self._gone(PROPOSAL_ROW, touched.proposals - {row.id for row in proposals})
        self._events(touched.events)
        return self._found

    def _put(self, kind: str, key: str, subject: str, document: Document) -> None:
        self._found[kind].append({"_id": key, "subject_id": f"USER:{subject}", **document})

    def _erased(self, kind: str, key: str, owner: str = "") -> None:
        """Leave nothing of a document but that it was there; not even whose it was."""
        gone = {"_id": key, "subject_id": "USER:", "erased": True}
        self._found[kind].append(gone | ({"was": f"USER:{owner}"} if owner else {}))

    def _gone(self, target: str, ids: Collection[int]) -> None:
        kind = next(kind for kind, row in ROWS.items() if row == target)
        for row_id, key in self._names.keys(target, ids).items():
            self._erased(kind, key)
            self._writer.drop(RECORDED, {"target": target, "row_id": row_id})

    def _summaries(self, ids: Collection[int]) -> None:
        known = self._names.keys(SUMMARY_ROW, ids)
        gone = self._writer.find(ERASED, {"target": SUMMARY_ROW, "row_id": sorted(ids)})
        erased = {row.row_id for row in gone}
        for row_id in sorted(erased & known.keys()):
            self._erased("summaries", known[row_id])
        whole = self._writer.whole_episodes(sorted(set(ids) - erased))
        states = self._writer.sources(ids={kept.source_id for kept in whole})
        sources = {state.id: state for state in states}
        new: dict[int, str] = {}
        for kept in whole:
            key, episode = known.get(kept.id), kept.episode
            if key is None:
                key = self._id_of(f"USER:{episode.owner}", "summary", episode.uid)
                new[kept.id] = key
            said = record_of("episode", kept)
            source = record_of("source", sources[kept.source_id])
            for name in ("record", "id", "source_id", "owner"):
                said.pop(name, None)
            kept_of_source = ("key", "kind", "host", "session", "uri", "project", "title", "agent")
            said |= {name: date(said[name]) for name in ("occurred_at", "learned_at")}  # type: ignore[arg-type]
            said["source"] = {name: source[name] for name in kept_of_source}
            self._put("summaries", key, episode.owner, said)
        self._names.record(SUMMARY_ROW, new)

    def _name(self, lives: Sequence[Life]) -> None:
        """Give the facts that are new their keys: the same claim may be made again later."""
        known = self._names.keys(FACT_ROW, [life.id for life in lives])
        unnamed = [
            life for life in lives if life.id not in known and life.status is not Status.ERASED
        ]
        for times in count():
            if not unnamed:
                return
            keys = {life.id: self._key(life, times) for life in unnamed}
            taken = self._names.ids(FACT_ROW, keys.values())
            first: dict[str, int] = {}  # of facts of one claim, the first takes the key
            for row_id, key in keys.items():
                if key not in taken:
                    first.setdefault(key, row_id)
            self._names.record(FACT_ROW, {row_id: key for key, row_id in first.items()})
            unnamed = [life for life in unnamed if life.id not in first.values()]

    def _key(self, life: Life, times: int) -> str:
        return self._id_of(f"USER:{life.owner}", "memory", life.claim.hex(), str(times))

    def _round(self, life: Life, key: str) -> int:
        """Return how often a fact's claim had been made before it."""
        times = 0
        while self._key(life, times) != key:
            times += 1
        return times

    def _memories(self, lives: Sequence[Life], evidence: Sequence[EvidenceRow]) -> None:
        of: dict[int, list[EvidenceRow]] = {}
        for row in evidence:
            of.setdefault(row.fact_id, []).append(row)
        keys = self._names.keys(FACT_ROW, [life.id for life in lives])
        for life in lives:
            if life.id not in keys:
                continue
            if life.status is Status.ERASED:
                self._erased("memories", keys[life.id], life.owner)
                continue
            status = Status.ACTIVE if life.status in WAKING else life.status
            self._put(
                "memories",
                keys[life.id],
                life.owner,
                {
                    "type": life.predicate.upper(),
                    "text": life.object,
                    "status": str(status),
                    **{name: getattr(life, name) for name in SAME},
                    "trust": str(life.trust),
                    **{name: date(getattr(life, name)) for name in TIMES},
                    "merged_into": self._names.out(FACT_ROW, life.merged_into_id),
                    "superseded_by": self._names.out(FACT_ROW, life.superseded_by),
                    "summary": self._names.out(SUMMARY_ROW, life.episode_id),
                    "evidence": [self._evidence(row) for row in of.get(life.id, ())],
                    "round": self._round(life, keys[life.id]),
                },
            )

    def _evidence(self, row: EvidenceRow) -> Document:
        return {
            "summary": self._names.out(SUMMARY_ROW, row.episode_id),
            "stance": str(row.stance),
            "rule": row.rule,
            "method": row.method,
            "quote": row.quote,
            "start": row.start,
            "end": row.end,
            "learned_at": date(row.learned_at),
        }

    def _rejection(self, row: Refusal) -> None:
        key = self._names.keys(REJECTION_ROW, [row.id]).get(row.id)
        if key is None:
            key = self._id_of(f"USER:{row.owner}", "rejection", row.claim.hex())
            self._names.record(REJECTION_ROW, {row.id: key})
        self._put(
            "rejections",
            key,
            row.owner,
            {
                "timestamp": date(row.at),
                "rejection_reason": row.reason,
                "extracted_text": row.excerpt,
                "confidence_score": row.confidence,
                "threshold": row.threshold,
                "type": row.type,
                "validation_details": dict(row.validation),
                "detail": row.detail,
                "rule": row.rule,
                "predicate": row.predicate,
                "position": row.position,
                "byte_offset": row.byte_offset,
                "claim": row.claim.hex(),
                "summary": self._names.out(SUMMARY_ROW, row.episode_id),
            },
        )

    def _proposal(self, row: Proposal) -> None:
        owner = str(row.payload.get("owner", ""))
        key = self._names.keys(PROPOSAL_ROW, [row.id]).get(row.id)
        if key is None:
            key = self._id_of(f"USER:{owner}", "proposal", row.claim.hex())
            self._names.record(PROPOSAL_ROW, {row.id: key})
        self._put(
            "proposals",
            key,
            owner,
            {
                "title": row.title,
                "payload": self._names.said_out(row.payload),
                "proposed_at": date(row.proposed_at),
                "state": row.state,
                "decided_at": date(row.decided_at),
                "decided_by": row.decided_by,
                "reason": row.reason,
                "claim": row.claim.hex(),
            },
        )

    def _events(self, ids: Collection[int]) -> None:
        """Describe the events of rows that are in the record, those of one subject together."""
        known = self._names.keys(EVENT_ROW, ids)
        wholes = {key.partition(":")[0] for key in known.values()}
        named = [f"{whole}:{n:04}" for whole in wholes for n in range(_EVENTS)]
        changed = {id_: key for key, id_ in self._names.ids(EVENT_ROW, named).items()}
        events = self._writer.find(EVENT, {"id": sorted({*ids, *changed})})
        targets = {
            kind: self._names.keys(
                kind, {event.target_id for event in events if event.target_kind == kind}
            )
            for kind in (FACT_ROW, PROPOSAL_ROW)
        }
        others = targets[FACT_ROW].keys() - self._owners.keys()
        lives = lives_by_id(self._writer, others).values()
        self._owners |= {life.id: life.owner for life in lives}
        said: dict[tuple[str, str], list[tuple[str, Event]]] = {}
        for event in events:
            target = targets.get(event.target_kind, {}).get(event.target_id)
            if target is None:
                continue
            if event.id in changed:
                said.setdefault((changed[event.id].partition(":")[0], ""), []).append(
                    (target, event)
                )
            else:
                said.setdefault(("", self._whose(event)), []).append((target, event))
        for (whole, subject), some in said.items():
            if whole:
                self._event_document(whole, self._whose(some[0][1]), some)
                continue
            for place, page in _pages(some):
                commit = self._id_of(subject, "events", str(self._number))
                whole_ = f"{commit}.{place:06}"  # documents of a commit are read by their `_id`s
                keys = {event.id: f"{whole_}:{n:04}" for n, (_, event) in enumerate(page)}
                self._names.record(EVENT_ROW, keys)
                self._event_document(whole_, subject, page)

    def _event_document(self, key: str, subject: str, some: Sequence[tuple[str, Event]]) -> None:
        self._found["events"].append(
            {
                "_id": key,
                "subject_id": subject,
                "events": [
                    {
                        "at": date(event.at),
                        "actor": event.actor,
                        "trigger": str(event.trigger),
                        "op": event.op,
                        "target": {"kind": event.target_kind, "id": target},
                        "detail": self._names.said_out(event.detail),
                    }
                    for target, event in some
                ],
            }
        )

    def _whose(self, event: Event) -> str:
        """Return the subject of an event: whose its row is, as far as that is left."""
        if event.target_kind == FACT_ROW:
            return f"USER:{self._owners[event.target_id]}"
        proposals = self._writer.find(PROPOSAL, {"id": event.target_id})
        return f"USER:{proposals[0].payload.get('owner', '')}" if proposals else "USER:"


def _pages(events: Sequence[tuple[str, Event]]) -> Iterator[tuple[int, list[tuple[str, Event]]]]:
    """Divide (key of its target, event) into what documents hold, each with the place it begins."""
    page, size = list[tuple[str, Event]](), 0
    for place, (target, event) in enumerate(events):
        length = len(str(event.detail).encode("utf-8", "surrogatepass"))
        if page and (len(page) == _EVENTS or size + length > _EVENTS_BYTES):
            yield place - len(page), page
            page, size = [], 0
        page.append((target, event))
        size += length
    if page:
        yield len(events) - len(page), page
