"""Typed memories as documents of a record, and such documents as rows (origins 002.6).

Every row that a document stands for is RECORDED under its `_id`, which is made of whose it is and
what it says, never of its number here: rows that name others name them by that. A memory's document
holds its evidence; the summaries that it stands on are documents too, so that whoever reads the
record alone has the sources of all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Final

from factbook.apply.delete_cascade import Doomed
from factbook.apply.tombstones import Tombstones, any_tombstones, same_words
from factbook.apply.typed_documents import problem
from factbook.apply.typed_names import (
    EVENT_ROW,
    FACT_ROW,
    PROPOSAL_ROW,
    REJECTION_ROW,
    SUMMARY_ROW,
    Names,
    date,
    millis,
)
from factbook.apply.wiping import Wiping
from factbook.model.facts import (
    EVERYONE,
    Episode,
    ErasureAct,
    Event,
    FactKind,
    Millis,
    Proposal,
    Stance,
    Status,
    Trigger,
    Trust,
)
from factbook.store.derived.facts import lives_by_id
from factbook.store.kinds import (
    ERASED,
    ERASURE,
    EVENT,
    PROPOSAL,
    RECORDED,
    REJECTION,
    Refusal,
)
from factbook.store.mongo.record import COLLECTIONS, Document
from factbook.store.mongo.split import Touched
from factbook.store.port import Reads, Writer, one_id
from factbook.store.rows import EvidenceRow, Life, LifeWhere, Wiped, claim_digest
from factbook.store.screened import Screen, unscreened
from factbook.store.transfer.records import record_of, row_of

_KINDS: Final = {  # of documents -> of rows
    "summaries": SUMMARY_ROW,
    "memories": FACT_ROW,
    "rejections": REJECTION_ROW,
    "proposals": PROPOSAL_ROW,
    "events": EVENT_ROW,
}
_EVENTS: Final = 1_000  # in one document
_EVENTS_BYTES: Final = 4_000_000  # of what they say, but for a single one that says more
_ASIDE: Final = 100  # documents that were not believed, as far as they are remembered
_MEMORY: Final = "memory"  # the kind of the proposals that are typed memories
_WAKING: Final = (Status.ACTIVE, Status.PENDING_EMBED)
# Fields of a fact's row that its document has by their own names.
_SAME: Final = (
    "statement", "subject", "confidence", "trust", "evidence_count", "pinned", "embeddable"
)  # fmt: skip
_TIMES: Final = ("confidence_at", "occurred_at", "retired_at", "valid_to", "learned_at")


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

    def project(
        self, writer: Writer, documents: Mapping[str, Sequence[Document]], *, now: Millis
    ) -> Touched:
        """Let the rows say what documents say; return rows that say more than those."""
        believed: dict[str, list[Document]] = {}
        for kind, found in documents.items():
            for document in found:
                why = problem(kind, document, self._id_of, _claim)
                if why:
                    name = f"{COLLECTIONS[kind]} {document.get('_id')}"
                    self.aside = [*self.aside[-_ASIDE:], f"{name} is not believed: {why}"]
                else:
                    believed.setdefault(kind, []).append(document)
        return _Projecting(writer, self._tenant, now, self._screen).run(believed)

    def adopted(self, reads: Reads, *, limit: int) -> Touched:
        """Return some of the typed rows that no document stands for yet."""
        found = Touched()
        lives = reads.lives(LifeWhere(kinds=[FactKind.TYPED]))
        found.facts = {life.id for life in lives if life.status is not Status.ERASED}
        found.rejections = {
            row.id for row in reads.find(REJECTION, {"owner": EVERYONE}) if row.type
        }
        found.proposals = {row.id for row in reads.find(PROPOSAL, {"kind": _MEMORY})}
        for kind, ids in ((FACT_ROW, found.facts), (PROPOSAL_ROW, found.proposals)):
            events = reads.find(EVENT, {"target_kind": kind, "target_id": sorted(ids)})
            found.events |= {event.id for event in events}
        for one in reads.find(RECORDED):
            if one.target in _KINDS.values():
                _of(found, one.target).discard(one.row_id)
        for name in ("facts", "rejections", "proposals", "events"):
            setattr(found, name, set(sorted(getattr(found, name))[:limit]))
        return found


def _of(touched: Touched, target: str) -> set[int]:
    names = {row: kind for kind, row in _KINDS.items()}
    name = {"summaries": "episodes", "memories": "facts"}.get(names[target], names[target])
    found: set[int] = getattr(touched, name)
    return found


class _Describing:
    """Rows as documents, in one write."""

    def __init__(self, writer: Writer, id_of: Callable[..., str], tenant: str, number: int) -> None:
        self._writer = writer
        self._id_of = id_of
        self._number = number
        self._names = Names(writer, tenant)
        self._found: dict[str, list[Document]] = {kind: [] for kind in _KINDS}
        self._owners: dict[int, str] = {}  # of facts

    def run(self, touched: Touched) -> dict[str, list[Document]]:
        lives = list(lives_by_id(self._writer, touched.facts).values())
        self._owners = {life.id: life.owner for life in lives}
        evidence = self._writer.evidence(fact_ids=[life.id for life in lives])
        refusals, proposals = self._rows(touched)
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

    def _rows(self, touched: Touched) -> tuple[list[Refusal], list[Proposal]]:
        refusals = self._writer.find(
            REJECTION, {"id": sorted(touched.rejections), "owner": EVERYONE}
        )
        proposals = self._writer.find(PROPOSAL, {"id": sorted(touched.proposals)})
        known = self._names.keys(REJECTION_ROW, touched.rejections)
        return (
            [row for row in refusals if row.type or row.id in known],
            [row for row in proposals if row.kind == _MEMORY],
        )

    def _put(self, kind: str, key: str, subject: str, document: Document) -> None:
        whose = {"subject_id": f"USER:{subject}"}
        self._found[kind].append({"_id": key, **whose, **document})

    def _erased(self, kind: str, key: str, owner: str = "") -> None:
        """Leave nothing of a document but that it was there; not even whose it was."""
        gone = {"_id": key, "subject_id": "USER:", "erased": True}
        self._found[kind].append(gone | ({"was": f"USER:{owner}"} if owner else {}))

    def _gone(self, target: str, ids: Collection[int]) -> None:
        kind = next(kind for kind, row in _KINDS.items() if row == target)
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
        sources = {
            state.id: state
            for state in self._writer.sources(ids={kept.source_id for kept in whole})
        }
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
            status = Status.ACTIVE if life.status in _WAKING else life.status
            self._put(
                "memories",
                keys[life.id],
                life.owner,
                {
                    "type": life.predicate.upper(),
                    "text": life.object,
                    "status": str(status),
                    **{name: getattr(life, name) for name in _SAME},
                    "trust": str(life.trust),
                    **{name: date(getattr(life, name)) for name in _TIMES},
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
            if event.target_id not in self._owners:
                ids = [event.target_id]
                self._owners |= {
                    id_: life.owner for id_, life in lives_by_id(self._writer, ids).items()
                }
            return f"USER:{self._owners[event.target_id]}"
        proposals = self._writer.find(PROPOSAL, {"id": event.target_id})
        return f"USER:{proposals[0].payload.get('owner', '')}" if proposals else "USER:"


class _Projecting:
    """Documents as rows, in one write."""

    def __init__(self, writer: Writer, tenant: str, now: Millis, screen: Screen) -> None:
        self._writer = writer
        self._now = now
        self._screen = screen
        self._stones = Tombstones(writer)
        self._holds_stones = any_tombstones(writer)
        self._names = Names(writer, tenant)
        self._more = Touched()

    def run(self, documents: Mapping[str, Sequence[Document]]) -> Touched:
        for kind, target in _KINDS.items():
            keys = {document["_id"] for document in documents.get(kind, ())}
            self._names.ids(target, keys)
        erased = {
            kind: [document["_id"] for document in found if document.get("erased")]
            for kind, found in documents.items()
        }
        living = {
            kind: [document for document in found if not document.get("erased")]
            for kind, found in documents.items()
        }
        self._summaries(living.get("summaries", ()))
        self._memories(living.get("memories", ()))
        self._rejections(living.get("rejections", ()))
        self._proposals(living.get("proposals", ()))
        self._events(living.get("events", ()))
        self._erase(erased)
        return self._more

    def _erase(self, keys: Mapping[str, Sequence[str]]) -> None:
        """Take out what was erased elsewhere, as thoroughly as if it had been erased here."""
        ids = {
            kind: set(self._names.ids(target, keys.get(kind, ())).values())
            for kind, target in _KINDS.items()
        }
        gone = self._gone_already(FACT_ROW, ids["memories"])
        doomed = Doomed(
            facts=ids["memories"] - gone,
            episodes=ids["summaries"] - self._gone_already(SUMMARY_ROW, ids["summaries"]),
            rejections=ids["rejections"],
            proposals=ids["proposals"],
        )
        if not doomed.size:
            return
        act = ErasureAct(0, self._now, "typed record", "record", {}, clean=False, allowed_at=None)
        number = one_id(self._writer.add(ERASURE, [act]))
        self._stones.keep_out(doomed, number)
        wiping = Wiping(self._writer, doomed, number, now=self._now)
        counts = wiping.run()
        self._writer.put(ERASURE, [act._replace(id=number, counts=counts)])
        self._more.wiped = Wiped([number], wiping.texts, wiping.taken, wiping.beside)
        for kind in ("rejections", "proposals", "summaries"):
            self._writer.drop(RECORDED, {"target": _KINDS[kind], "row_id": sorted(ids[kind])})

    def _gone_already(self, target: str, ids: Collection[int]) -> set[int]:
        where = {"target": target, "row_id": sorted(ids)}
        return {row.row_id for row in self._writer.find(ERASED, where)}

    def _summaries(self, documents: Sequence[Document]) -> None:
        known = self._names.ids(SUMMARY_ROW, [document["_id"] for document in documents])
        gone = self._gone_already(SUMMARY_ROW, known.values())
        changed = {}
        for document in documents:
            key, kept = document["_id"], _episode(document)
            episode = self._screen(kept.episode)
            if key in known:
                row_id = known[key]
                text = self._writer.texts("episode", [row_id])[row_id]
                if row_id not in gone and text != episode.text:
                    changed[row_id] = episode  # an erasure elsewhere took a part of it
                continue
            if self._is_kept_out(episode):
                continue
            here = self._same_episode(episode)
            if here is None:
                if self._writer.episode_ids([episode.uid]):  # something else is called so here
                    episode = replace(episode, uid=f"{episode.uid}#{key[:12]}")
                source = self._source(document["source"])
                [here] = self._writer.add_episodes([(source, episode)], kept=[(0, kept.learned_at)])
            self._names.record(SUMMARY_ROW, {here: key})
        if changed:
            self._writer.rewrite_episodes(changed)

    def _same_episode(self, episode: Episode) -> int | None:
        """Return the episode here that is the same; one that only is called so is another."""
        for row_id in self._writer.episode_ids([episode.uid]).values():
            head = self._writer.heads([row_id])[row_id]
            same = head.owner == episode.owner and head.kind is episode.kind
            if same and self._writer.texts("episode", [row_id])[row_id] == episode.text:
                return row_id
        return None

    def _is_kept_out(self, episode: Episode) -> bool:
        """Tell whether a text was erased here: another file saying it again does not let it in."""
        if not self._holds_stones:
            return False
        same = same_words(episode.text)
        marks = [
            self._stones.mark("uid", episode.uid),
            self._stones.mark("text", episode.owner, same),
            self._stones.mark("said", episode.owner, same, str(episode.occurred_at)),
        ]
        return bool(self._stones.met(marks))

    def _source(self, given: Mapping[str, str]) -> int:
        state = row_of({"record": "source", "id": 0, **given})
        known = self._writer.sources(keys=[state.source.key])
        return known[0].id if known else self._writer.put_sources([state])[0]

    def _memories(self, documents: Sequence[Document]) -> None:
        ids = self._names.ids(FACT_ROW, [document["_id"] for document in documents])
        gone = self._gone_already(FACT_ROW, ids.values())
        documents = [one for one in documents if ids.get(one["_id"]) not in gone]
        claims = {document["_id"]: _claim(document) for document in documents}
        unknown = {claims[key] for key in claims.keys() - ids.keys()}
        alike = {
            life.claim: life
            for life in self._writer.lives(LifeWhere(claims=unknown, current=True))
            if life.kind is FactKind.TYPED
            if not self._names.keys(FACT_ROW, [life.id])
        }
        for document in documents:  # what is said here and there already is one
            life = alike.pop(claims[document["_id"]], None)
            if life is not None and document["_id"] not in ids and not document["retired_at"]:
                ids[document["_id"]] = life.id
                self._names.record(FACT_ROW, {life.id: document["_id"]})
                self._more.facts.add(life.id)
        lives = lives_by_id(self._writer, ids.values())
        retired: list[int] = []
        # Those that give their claims up first, so that no claim is ever current twice.
        for document in sorted(documents, key=lambda one: one["retired_at"] is None):
            row = self._row(document, lives.get(ids.get(document["_id"], 0)))
            if row is None:
                continue
            row = self._screen(row)
            if row.id:
                self._writer.put_facts([(lives[row.id], row)])
                if row.retired_at is not None:
                    retired.append(row.id)
            else:
                [ids[document["_id"]]] = self._writer.add_facts([row])
                self._names.record(FACT_ROW, {ids[document["_id"]]: document["_id"]})
            self._evidence(ids[document["_id"]], document)
        self._count(self._more.facts)
        self._point(documents, ids)
        self._writer.drop_vectors("fact", retired)

    def _count(self, ids: Collection[int]) -> None:
        """Let facts that both had count the evidence of both."""
        changes = []
        for life in lives_by_id(self._writer, ids).values():
            rows = self._writer.evidence(fact_ids=[life.id])
            episodes = [row.episode_id for row in rows if row.stance is Stance.SUPPORTS]
            times = [head.occurred_at for head in self._writer.heads(episodes).values()]
            after = life._replace(
                evidence_count=len(episodes),
                occurred_at=max((time for time in times if time is not None), default=None),
            )
            changes.append((life, after))
        self._writer.put_facts(changes)

    def _row(self, document: Document, here: Life | None) -> Life | None:
        """Return the row that a document says; None where nothing that it stands on is here."""
        spoken = [self._names.back(SUMMARY_ROW, one["summary"]) for one in document["evidence"]]
        first = self._names.back(SUMMARY_ROW, document["summary"])
        episode = first or next((one for one in spoken if one), None)
        if episode is None and here is None:
            return None
        owner = document["subject_id"].removeprefix("USER:")
        status = Status(document["status"])
        if status is Status.ACTIVE and document["embeddable"]:
            is_awake = here is not None and here.status in _WAKING
            status = here.status if here is not None and is_awake else Status.PENDING_EMBED
        named = {name: document[name] for name in _SAME}
        times = {name: millis(document[name]) for name in _TIMES}
        return Life(
            id=here.id if here else 0,
            owner=owner,
            predicate=document["type"].lower(),
            object=document["text"],
            kind=FactKind.TYPED,
            status=status,
            merged_into_id=here.merged_into_id if here else None,
            superseded_by=here.superseded_by if here else None,
            episode_id=episode or (here.episode_id if here else 0),
            claim=_claim(document),
            **{**named, **times, "trust": Trust(document["trust"])},
        )

    def _evidence(self, fact_id: int, document: Document) -> None:
        wanted = {}
        for one in document["evidence"]:
            episode = self._names.back(SUMMARY_ROW, one["summary"])
            if episode is not None and one["end"] <= self._chars(episode):
                wanted[episode] = EvidenceRow(
                    fact_id,
                    episode,
                    one["rule"],
                    one["method"],
                    Stance(one["stance"]),
                    one["quote"],
                    one["start"],
                    one["end"],
                    millis(one["learned_at"]) or 0,
                )
        there = {row.episode_id: row for row in self._writer.evidence(fact_ids=[fact_id])}
        if fact_id not in self._more.facts:  # of one that was kept here, too, both have a say
            gone = [
                (fact_id, episode)
                for episode, row in there.items()
                if episode not in wanted or wanted[episode] != row
            ]
            self._writer.drop_evidence(gone)
            there = {
                episode: row for episode, row in there.items() if (fact_id, episode) not in gone
            }
        self._writer.add_evidence([row for episode, row in wanted.items() if episode not in there])

    def _chars(self, episode: int) -> int:
        return len(self._writer.texts("episode", [episode]).get(episode, ""))

    def _point(self, documents: Sequence[Document], ids: Mapping[str, int]) -> None:
        """Let facts that gave way name what took their place, now that all of it is here."""
        lives = lives_by_id(self._writer, ids.values())
        changes = []
        for document in documents:
            life = lives.get(ids.get(document["_id"], 0))
            if life is not None:
                after = life._replace(
                    merged_into_id=self._names.back(FACT_ROW, document["merged_into"]),
                    superseded_by=self._names.back(FACT_ROW, document["superseded_by"]),
                )
                if after != life:
                    changes.append((life, after))
        self._writer.put_facts(changes)

    def _rejections(self, documents: Sequence[Document]) -> None:
        known = self._names.ids(REJECTION_ROW, [document["_id"] for document in documents])
        for document in documents:
            if document["_id"] in known:
                continue
            episode = self._names.back(SUMMARY_ROW, document["summary"])
            heads = self._writer.heads([episode]) if episode else {}
            if episode is None or episode not in heads:
                continue
            row = Refusal(
                0,
                bytes.fromhex(document["claim"]),
                millis(document["timestamp"]) or 0,
                heads[episode].source_id,
                episode,
                document["position"],
                document["byte_offset"],
                document["rejection_reason"],
                document["detail"],
                document["extracted_text"],
                document["rule"],
                document["predicate"],
                document["subject_id"].removeprefix("USER:"),
                document["type"],
                document["confidence_score"],
                document["threshold"],
                document["validation_details"],
            )
            [row_id] = self._writer.add(REJECTION, [row])
            if row_id is None:
                [there] = self._writer.find(REJECTION, {"claim": row.claim})
                row_id = there.id
            self._names.record(REJECTION_ROW, {row_id: document["_id"]})

    def _proposals(self, documents: Sequence[Document]) -> None:
        known = self._names.ids(PROPOSAL_ROW, [document["_id"] for document in documents])
        for document in documents:
            row = Proposal(
                known.get(document["_id"], 0),
                _MEMORY,
                document["title"],
                self._names.said_here(document["payload"]),
                millis(document["proposed_at"]) or 0,
                document["state"],
                millis(document["decided_at"]),
                document["reason"],
                bytes.fromhex(document["claim"]),
                document["decided_by"],
            )
            if not row.id:
                there = self._writer.find(PROPOSAL, {"claim": row.claim})
                row_id = there[0].id if there else one_id(self._writer.add(PROPOSAL, [row]))
                row = row._replace(id=row_id)
                self._names.record(PROPOSAL_ROW, {row_id: document["_id"]})
            self._writer.put(PROPOSAL, [row])

    def _events(self, documents: Sequence[Document]) -> None:
        found = [
            (f"{document['_id']}:{n:04}", said)
            for document in documents
            for n, said in enumerate(document["events"])
        ]
        known = self._names.ids(EVENT_ROW, [key for key, _ in found])
        for key, said in found:
            target = self._names.back(said["target"]["kind"], said["target"]["id"])
            if key in known or target is None:
                continue
            event = Event(
                0,
                millis(said["at"]) or 0,
                said["actor"],
                Trigger(said["trigger"]),
                said["op"],
                said["target"]["kind"],
                target,
                self._names.said_here(said["detail"]),
            )
            row_id = one_id(self._writer.add(EVENT, [event]))
            self._names.record(EVENT_ROW, {row_id: key})


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


def _claim(document: Document) -> bytes:
    owner = document["subject_id"].removeprefix("USER:")
    kind, text = document["type"].lower(), document["text"]
    return claim_digest(owner, document["subject"], kind, text)


def _episode(document: Document) -> Any:
    record = {
        **document,
        "record": "episode",
        "id": 0,
        "source_id": 0,
        "owner": document["subject_id"].removeprefix("USER:"),
        "occurred_at": millis(document["occurred_at"]),
        "learned_at": millis(document["learned_at"]) or 0,
    }
    kept = row_of(record)
    return kept._replace(episode=replace(kept.episode, source=document["source"]["key"]))
