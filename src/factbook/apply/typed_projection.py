"""Documents of the record of typed memories as rows, some at a time, in one write (origins 002.6).

They come while others write: what a document names may have been changed since the reading began,
and then comes later. Such a document waits until all are in; only then does it say what it can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from factbook.apply.delete_cascade import Doomed
from factbook.apply.erasure import carried_out
from factbook.apply.tombstones import Tombstones, any_tombstones, marks_of
from factbook.apply.typed_documents import claim_of, problem, source_of, summary_of
from factbook.apply.typed_names import (
    EVENT_ROW,
    FACT_ROW,
    MEMORY,
    PROPOSAL_ROW,
    ROWS,
    SAME,
    SUMMARY_ROW,
    TIMES,
    WAKING,
    Names,
    millis,
)
from factbook.model.facts import (
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
from factbook.store.derived.facts import current_by_claim, lives_by_id
from factbook.store.derived.ledger import recounted
from factbook.store.kinds import ERASED, EVENT, PROPOSAL, RECORDED, REJECTION, Kind, Refusal
from factbook.store.mongo.record import COLLECTIONS, Document
from factbook.store.mongo.split import Touched
from factbook.store.port import Writer, one_id
from factbook.store.rows import EvidenceRow, KeptEpisode, Life, Wiped
from factbook.store.screened import Screen


class TypedProjection:
    """Lets rows say what documents say."""

    def __init__(
        self,
        writer: Writer,
        *,
        id_of: Callable[..., str],
        tenant: str,
        now: Millis,
        screen: Screen,
        put_aside: Callable[[str], object],
    ) -> None:
        """Take the write; `put_aside` is told of documents that are not believed, and why."""
        self._writer = writer
        self._id_of = id_of
        self._tenant = tenant
        self._now = now
        self._screen = screen
        self._put_aside = put_aside
        self._stones = Tombstones(writer)
        self._holds_stones = any_tombstones(writer)
        self._names = Names(writer, tenant)
        self._more = Touched()
        self._is_last = False  # whether everything that will come is here
        self._waiting: dict[str, dict[str, Document]] = {kind: {} for kind in ROWS}
        self._erased: dict[str, set[str]] = {kind: set() for kind in ROWS}
        self._pointers: dict[str, tuple[Any, Any]] = {}  # of memories: merged into, superseded by

    def take(self, kind: str, documents: Sequence[Document]) -> None:
        """Take documents of a kind; what was taken under the same `_id` before is older."""
        # What has another `_id` than text is nobody's; what is not believed may have been, before.
        documents = [doc for doc in documents if self._believes_its_id(kind, doc)]
        for document in documents:
            self._waiting[kind].pop(document["_id"], None)
            self._erased[kind].discard(document["_id"])
            self._pointers.pop(document["_id"], None)
        self._project(kind, [document for document in documents if self._believes(kind, document)])

    def end(self) -> Touched:
        """Let rows say what had to wait, and erase; return rows that say more than the record."""
        self._is_last = True
        for kind, waiting in self._waiting.items():
            self._project(kind, sorted(waiting.values(), key=itemgetter("commit", "_id")))
        self._names = Names(self._writer, self._tenant)
        # Facts that both had count the evidence of both.
        self._writer.put_facts(recounted(self._writer, self._more.facts))
        self._point()
        self._erase()
        return self._more

    def _project(self, kind: str, documents: Sequence[Document]) -> None:
        if not documents:
            return
        self._names = Names(self._writer, self._tenant)  # else it would grow with the record
        living = [document for document in documents if not document.get("erased")]
        self._erased[kind] |= {document["_id"] for document in documents if document.get("erased")}
        takes: Mapping[str, Callable[[Sequence[Document]], None]] = {
            "summaries": self._summaries,
            "memories": self._memories,
            "rejections": self._rejections,
            "proposals": self._proposals,
            "events": self._events,
        }
        takes[kind](living)

    def _believes_its_id(self, kind: str, document: Document) -> bool:
        is_text = isinstance(document["_id"], str)
        if not is_text:
            self._disbelieve(kind, document, "its _id is no text")
        return is_text

    def _believes(self, kind: str, document: Document) -> bool:
        why = problem(kind, document, self._id_of)
        if why:
            self._disbelieve(kind, document, why)
        return not why

    def _disbelieve(self, kind: str, document: Document, why: str) -> None:
        self._put_aside(f"{COLLECTIONS[kind]} {document.get('_id')} is not believed: {why}")

    def _known(self, kind: str, documents: Sequence[Document]) -> dict[str, int]:
        """Return the rows of documents that have one."""
        return self._names.ids(ROWS[kind], [document["_id"] for document in documents])

    def _gone_already(self, target: str, ids: Iterable[int]) -> set[int]:
        where = {"target": target, "row_id": sorted(ids)}
        return {row.row_id for row in self._writer.find(ERASED, where)}

    def _has_to_wait(self, kind: str, document: Document, named: Iterable[Any]) -> bool:
        """Tell whether a document names a summary that is not here and may come yet."""
        if self._is_last:
            return False
        before = self._names.missed
        for summary in named:
            self._names.back(SUMMARY_ROW, summary)
        if self._names.missed > before:
            self._waiting[kind][document["_id"]] = document
        return self._names.missed > before

    def _summaries(self, documents: Sequence[Document]) -> None:
        known = self._known("summaries", documents)
        there: dict[int, Episode] = {}
        new: list[tuple[Document, KeptEpisode]] = []
        for document in documents:
            kept = summary_of(document)
            kept = kept._replace(episode=self._screen(kept.episode))
            if document["_id"] in known:
                there[known[document["_id"]]] = kept.episode
            else:
                new.append((document, kept))
        gone = self._gone_already(SUMMARY_ROW, there)
        texts = self._writer.texts("episode", [row_id for row_id in there if row_id not in gone])
        changed = {  # an erasure elsewhere took a part of them
            row_id: there[row_id] for row_id, text in texts.items() if text != there[row_id].text
        }
        if changed:
            self._writer.rewrite_episodes(changed)
        self._add_episodes(self._let_in(new))

    def _let_in(
        self, new: Sequence[tuple[Document, KeptEpisode]]
    ) -> list[tuple[Document, KeptEpisode]]:
        """Return summaries that were not erased here: another file saying one does not help it."""
        if not self._holds_stones:
            return list(new)
        marks = [[self._stones.mark(*mark) for mark in marks_of(kept.episode)] for _, kept in new]
        met = self._stones.met([mark for own in marks for mark in own])
        return [given for given, own in zip(new, marks, strict=True) if met.keys().isdisjoint(own)]

    def _add_episodes(self, new: Sequence[tuple[Document, KeptEpisode]]) -> None:
        """Add summaries that are not here; one that only is called like one of them is another."""
        ids = self._writer.episode_ids([kept.episode.uid for _, kept in new])
        heads = self._writer.heads(ids.values())
        texts = self._writer.texts("episode", [*ids.values()])
        sources = self._sources([document["source"] for document, _ in new])
        taken = {*ids}
        keys: dict[int, str] = {}
        added: dict[str, tuple[int, Episode]] = {}
        learned: list[tuple[int, Millis]] = []
        for document, kept in new:
            episode, row_id = kept.episode, ids.get(kept.episode.uid)
            if row_id is not None:
                head = heads[row_id]
                of_same = (head.owner, head.kind) == (episode.owner, episode.kind)
                if of_same and texts[row_id] == episode.text:
                    keys[row_id] = document["_id"]
                    continue
            if episode.uid in taken:
                episode = replace(episode, uid=f"{episode.uid}#{document['_id'][:12]}")
            taken.add(episode.uid)
            added[document["_id"]] = (sources[document["source"]["key"]], episode)
            learned.append((0, kept.learned_at))
        row_ids = self._writer.add_episodes([*added.values()], kept=learned)
        self._names.record(SUMMARY_ROW, keys | dict(zip(row_ids, added, strict=True)))

    def _sources(self, given: Sequence[Mapping[str, str]]) -> dict[str, int]:
        """Return the ids of sources by their keys; those that are not here are added."""
        states = {source["key"]: source_of(source) for source in given}
        states = {
            key: replace(state, source=self._screen(state.source)) for key, state in states.items()
        }
        there = self._writer.sources(keys=[state.source.key for state in states.values()])
        ids = {state.source.key: state.id for state in there}
        new = {state.source.key: state for state in states.values() if state.source.key not in ids}
        ids |= dict(zip(new, self._writer.put_sources([*new.values()]), strict=True))
        return {key: ids[state.source.key] for key, state in states.items()}

    def _memories(self, documents: Sequence[Document]) -> None:
        ids = self._known("memories", documents)
        gone = self._gone_already(FACT_ROW, ids.values())
        here = [document for document in documents if ids.get(document["_id"]) not in gone]
        self._names.ids(SUMMARY_ROW, [key for doc in here for key in _spoken(doc) if _is_key(key)])
        ready = self._admitted(
            [doc for doc in here if not self._has_to_wait("memories", doc, _spoken(doc))], ids
        )
        lives = lives_by_id(self._writer, ids.values())
        changes: list[tuple[Life, Life]] = []
        added: dict[str, Life] = {}
        for document in ready:
            before = lives.get(ids.get(document["_id"], 0))
            row = self._row(document, before)
            if row is None:
                continue
            if before is None:
                added[document["_id"]] = self._screen(row)
            else:
                changes.append((before, self._screen(row)))
            names = (document["merged_into"], document["superseded_by"])
            if any(names) or (before and (before.merged_into_id or before.superseded_by)):
                self._pointers[document["_id"]] = names
        retired = [after for _, after in changes if after.retired_at is not None]
        # Those that give their claims up first, so that no claim is ever current twice.
        self._writer.put_facts([change for change in changes if change[1].retired_at is not None])
        self._writer.put_facts([change for change in changes if change[1].retired_at is None])
        new = dict(zip(added, self._writer.add_facts([*added.values()]), strict=True))
        self._names.record(FACT_ROW, {row_id: key for key, row_id in new.items()})
        ids |= new
        self._evidence({ids[doc["_id"]]: doc for doc in ready if doc["_id"] in ids})
        self._writer.drop_vectors("fact", [life.id for life in retired])

    def _admitted(self, documents: Sequence[Document], ids: dict[str, int]) -> list[Document]:
        """Return memories that may be kept; `ids` gets those that are said here already.

        A claim that another memory holds waits until that gives it up.
        """
        given_up = {document["_id"] for document in documents if document["retired_at"]}
        claims = {doc["_id"]: claim_of(doc) for doc in documents if not doc["retired_at"]}
        held = current_by_claim(self._writer, {*claims.values()})
        keys = self._names.keys(FACT_ROW, [life.id for life in held.values()])
        joined: dict[int, str] = {}
        admitted, taken = list[Document](), set[bytes]()
        for document in documents:
            key = document["_id"]
            claim = claims.get(key)
            life = held.get(claim) if claim is not None else None
            is_unnamed = life is not None and life.kind is FactKind.TYPED and life.id not in keys
            if life is not None and is_unnamed and key not in ids and claim not in taken:
                ids[key] = life.id
                joined[life.id] = key
            is_free = life is None or ids.get(key) == life.id or keys.get(life.id) in given_up
            if claim is not None and (claim in taken or not is_free):
                if self._is_last:
                    self._disbelieve("memories", document, "another memory holds its claim")
                else:
                    self._waiting["memories"][key] = document
                continue
            if claim is not None:
                taken.add(claim)
            admitted.append(document)
        self._names.record(FACT_ROW, joined)
        self._more.facts.update(joined)
        return admitted

    def _row(self, document: Document, here: Life | None) -> Life | None:
        """Return the row that a document says; None where nothing that it stands on is here."""
        episodes = (self._names.back(SUMMARY_ROW, summary) for summary in _spoken(document))
        episode = next((row_id for row_id in episodes if row_id), None)
        if episode is None and here is None:
            return None
        status = Status(document["status"])
        if status is Status.ACTIVE and document["embeddable"]:
            is_awake = here is not None and here.status in WAKING
            status = here.status if here is not None and is_awake else Status.PENDING_EMBED
        fields = {name: document[name] for name in SAME}
        times = {name: millis(document[name]) for name in TIMES}
        return Life(
            id=here.id if here else 0,
            owner=document["subject_id"].removeprefix("USER:"),
            predicate=document["type"].lower(),
            object=document["text"],
            kind=FactKind.TYPED,
            status=status,
            merged_into_id=here.merged_into_id if here else None,
            superseded_by=here.superseded_by if here else None,
            episode_id=episode or (here.episode_id if here else 0),
            claim=claim_of(document),
            **{**fields, **times, "trust": Trust(document["trust"])},
        )

    def _evidence(self, documents: Mapping[int, Document]) -> None:
        """Let the evidence of facts be what their documents say."""
        spoken = [
            (fact_id, row_id, said)
            for fact_id, document in documents.items()
            for said in document["evidence"]
            if (row_id := self._names.back(SUMMARY_ROW, said["summary"])) is not None
        ]
        texts = self._writer.texts("episode", sorted({row_id for _, row_id, _ in spoken}))
        told = {
            (fact_id, row_id): _row_of(fact_id, row_id, said) for fact_id, row_id, said in spoken
        }
        wanted = {
            pair: row
            for pair, one in told.items()
            if (row := _placed(self._screen(one), texts.get(pair[1], ""))) is not None
        }
        there = {row[:2]: row for row in self._writer.evidence(fact_ids=documents.keys())}
        gone = {
            pair
            for pair, row in there.items()
            if wanted.get(pair) != row
            and pair[0] not in self._more.facts  # of one that was kept here, too, both have a say
        }
        self._writer.drop_evidence(gone)
        stays = there.keys() - gone
        self._writer.add_evidence([row for pair, row in wanted.items() if pair not in stays])

    def _point(self) -> None:
        """Let facts that gave way name what took their place, now that all of it is here."""
        ids = self._names.ids(FACT_ROW, self._pointers)
        self._names.ids(
            FACT_ROW, [key for names in self._pointers.values() for key in names if _is_key(key)]
        )
        lives = lives_by_id(self._writer, ids.values())
        changes = []
        for key, (merged_into, superseded_by) in self._pointers.items():
            life = lives.get(ids.get(key, 0))
            if life is not None:
                after = life._replace(
                    merged_into_id=self._names.back(FACT_ROW, merged_into),
                    superseded_by=self._names.back(FACT_ROW, superseded_by),
                )
                changes.append((life, after))
        self._writer.put_facts(changes)

    def _rejections(self, documents: Sequence[Document]) -> None:
        known = self._known("rejections", documents)
        new = [document for document in documents if document["_id"] not in known]
        spoken = self._names.ids(
            SUMMARY_ROW, [doc["summary"] for doc in new if _is_key(doc["summary"])]
        )
        heads = self._writer.heads(spoken.values())
        rows: dict[str, Refusal] = {}
        for document in new:
            if self._has_to_wait("rejections", document, [document["summary"]]):
                continue
            episode = self._names.back(SUMMARY_ROW, document["summary"])
            if episode not in heads:
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
            rows[document["_id"]] = self._screen(row)
        self._add_claimed(REJECTION, rows)

    def _add_claimed(self, kind: Kind[Any], rows: Mapping[str, Any]) -> dict[bytes, int]:
        """Add rows by the `_id` of their documents; return those whose claims are here already."""
        claims = [row.claim for row in rows.values()]
        there = {row.claim: row.id for row in self._writer.find(kind, {"claim": claims})}
        new = {row.claim: row for row in rows.values() if row.claim not in there}
        added = self._writer.add(kind, [*new.values()])
        row_ids: dict[bytes, Any] = there | dict(zip(new, added, strict=True))
        self._names.record(kind.name, {row_ids[row.claim]: key for key, row in rows.items()})
        return there

    def _proposals(self, documents: Sequence[Document]) -> None:
        known = self._known("proposals", documents)
        changed: list[Proposal] = []
        new: dict[str, Proposal] = {}
        for document in documents:
            before = self._names.missed
            row = self._screen(
                Proposal(
                    known.get(document["_id"], 0),
                    MEMORY,
                    document["title"],
                    self._names.said_here(document["payload"]),
                    millis(document["proposed_at"]) or 0,
                    document["state"],
                    millis(document["decided_at"]),
                    document["reason"],
                    bytes.fromhex(document["claim"]),
                    document["decided_by"],
                )
            )
            if self._names.missed > before and not self._is_last:
                self._waiting["proposals"][document["_id"]] = document
            elif row.id:
                changed.append(row)
            else:
                new[document["_id"]] = row
        there = self._add_claimed(PROPOSAL, new)
        said = (row._replace(id=there[row.claim]) for row in new.values() if row.claim in there)
        self._writer.put(PROPOSAL, [*changed, *said])

    def _events(self, documents: Sequence[Document]) -> None:
        said_by = {
            f"{document['_id']}:{n:04}": (document, said)
            for document in documents
            for n, said in enumerate(document["events"])
        }
        known = self._names.ids(EVENT_ROW, said_by)
        for kind in (FACT_ROW, PROPOSAL_ROW):
            targets = (said["target"] for _, said in said_by.values())
            self._names.ids(kind, [target["id"] for target in targets if target["kind"] == kind])
        events: dict[str, Event] = {}
        for key, (document, said) in said_by.items():
            if key in known:
                continue
            before = self._names.missed
            target = self._names.back(said["target"]["kind"], said["target"]["id"])
            detail = self._names.said_here(said["detail"])
            if self._names.missed > before and not self._is_last:
                self._waiting["events"][document["_id"]] = document
            elif target is not None:
                events[key] = self._screen(
                    Event(
                        0,
                        millis(said["at"]) or 0,
                        said["actor"],
                        Trigger(said["trigger"]),
                        said["op"],
                        said["target"]["kind"],
                        target,
                        detail,
                    )
                )
        row_ids = [one_id([row_id]) for row_id in self._writer.add(EVENT, [*events.values()])]
        self._names.record(EVENT_ROW, dict(zip(row_ids, events, strict=True)))

    def _erase(self) -> None:
        """Take out what was erased elsewhere, as thoroughly as if it had been erased here."""
        ids = {
            kind: {*self._names.ids(ROWS[kind], keys).values()}
            for kind, keys in self._erased.items()
        }
        doomed = Doomed(
            facts=ids["memories"] - self._gone_already(FACT_ROW, ids["memories"]),
            episodes=ids["summaries"] - self._gone_already(SUMMARY_ROW, ids["summaries"]),
            rejections=ids["rejections"],
            proposals=ids["proposals"],
        )
        if not doomed.size:
            return
        act = ErasureAct(0, self._now, "typed record", "record", {}, clean=False, allowed_at=None)
        act, wiping = carried_out(self._writer, doomed, act, self._lose)
        self._more.wiped = Wiped([act.id], wiping.texts, wiping.taken, wiping.beside)
        self._more.rejections |= doomed.rejections - ids["rejections"]
        others = lives_by_id(self._writer, doomed.facts - ids["memories"])
        self._more.facts |= {id_ for id_, life in others.items() if life.kind is FactKind.TYPED}
        for kind in ("rejections", "proposals", "summaries"):
            self._writer.drop(RECORDED, {"target": ROWS[kind], "row_id": sorted(ids[kind])})

    def _lose(self, before: Life, after: Life, episodes: set[int]) -> None:
        self._writer.put_facts([(before, after)])
        if after.kind is FactKind.TYPED:
            self._more.facts.add(after.id)


def _row_of(fact_id: int, row_id: int, said: Mapping[str, Any]) -> EvidenceRow:
    return EvidenceRow(
        fact_id,
        row_id,
        said["rule"],
        said["method"],
        Stance(said["stance"]),
        said["quote"],
        said["start"],
        said["end"],
        millis(said["learned_at"]) or 0,
    )


def _placed(row: EvidenceRow, text: str) -> EvidenceRow | None:
    """Return evidence where its quote stands in a text, which redaction may have moved."""
    start = row.start
    if row.quote and text[start : row.end] != row.quote and row.quote in text:
        start = text.index(row.quote)
        row = row._replace(start=start, end=start + len(row.quote))
    return row if row.end <= len(text) else None


def _is_key(named: Any) -> bool:
    return isinstance(named, str)


def _spoken(document: Document) -> list[Any]:
    """Return the summaries that a memory names, where it was first said first."""
    return [document["summary"], *(said["summary"] for said in document["evidence"])]
