"""Evidence and what it stands for, over the verbs of a store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields
from operator import itemgetter
from typing import Final, NamedTuple

from factbook import policy
from factbook.model.facts import (
    EVERYONE,
    EpisodeKind,
    Evidence,
    FactKind,
    Millis,
    Rejection,
    Stance,
    Status,
    StoredEpisode,
)
from factbook.store.derived.counts import row_owners
from factbook.store.derived.facts import holds, lives_by_id
from factbook.store.kinds import CITED, PAIR, REJECTION, Above, Below, Least, Other, Refusal, Where
from factbook.store.port import Reads
from factbook.store.rows import EvidenceRow, Filters, Life, LifeWhere, RejectionFilters, latest

# What of a refusal is shown as it is kept.
_SHOWN: Final = tuple(each.name for each in fields(Rejection) if each.name != "source")
# Evidence for what is a fact of its own.
_STATED: Final[Where] = {"stance": Stance.SUPPORTS, "kind": Other(FactKind.OBSERVATION)}


def stances(reads: Reads, fact_ids: Collection[int]) -> dict[int, dict[int, Stance]]:
    """Return the evidence of facts as fact id -> episode id -> stance."""
    stanceses: dict[int, dict[int, Stance]] = {id_: {} for id_ in fact_ids}
    for row in reads.evidence(fact_ids=fact_ids):
        stanceses[row.fact_id][row.episode_id] = row.stance
    return stanceses


def recounted(reads: Reads, fact_ids: Collection[int]) -> list[tuple[Life, Life]]:
    """Return facts as they are, each with what it is by the count and the date of its evidence."""
    supports = {
        fact: [episode for episode, stance in said.items() if stance is Stance.SUPPORTS]
        for fact, said in stances(reads, fact_ids).items()
    }
    heads = reads.heads({episode for episodes in supports.values() for episode in episodes})
    counted = []
    for life in lives_by_id(reads, fact_ids).values():
        times = [heads[episode].occurred_at for episode in supports[life.id]]
        after = life._replace(evidence_count=len(times), occurred_at=latest(times))
        counted.append((life, after))
    return counted


def evidence_of(
    reads: Reads, fact_ids: Collection[int], *, limit: int | None = None
) -> dict[int, list[Evidence]]:
    """Return the evidence of facts with where it stands, oldest first, at most `limit` of each."""
    rows = reads.evidence(fact_ids=fact_ids, each=limit)
    heads = reads.heads({row.episode_id for row in rows})
    evidence: dict[int, list[Evidence]] = {id_: [] for id_ in fact_ids}
    for row in rows:
        head, said = heads[row.episode_id], row._asdict()
        del said["learned_at"]
        evidence[row.fact_id].append(
            Evidence(
                **said,
                occurred_at=head.occurred_at,
                source=head.source,
                position=head.position,
                offset=head.offset,
            )
        )
    return evidence


def outdated(reads: Reads, episode_ids: Collection[int]) -> set[int]:
    """Return those whose every statement has been superseded or rated wrong."""
    where = {**_STATED, "episode_id": episode_ids, "status": Other(Status.MERGED_INTO)}
    groups = reads.tally(CITED, ("episode_id", "status"), where, most="confidence")
    standing, gone = set[int](), set[int]()
    for (episode_id, status), facts in groups.items():
        (gone if status == Status.SUPERSEDED or facts.most == 0 else standing).add(episode_id)
    return gone - standing


def called_wrong(reads: Reads, episode_ids: Collection[int]) -> set[int]:
    """Return those that were told to factbook on purpose, and of which nothing is right.

    That is what their owner called wrong, or put other words in the place of.
    """
    told = [id_ for id_, head in reads.heads(episode_ids).items() if head.told]
    wrong, right = set[int](), set[int]()
    for row, life in _stated(reads, told):
        is_wrong = life.confidence == 0 or _corrected(reads, life)
        (wrong if is_wrong else right).add(row.episode_id)
    return wrong - right


def replaced(reads: Reads, episode_ids: Collection[int]) -> dict[int, int]:
    """Return the fact that holds now in the place of what episodes last said, by episode."""
    ends: dict[int, int] = {}
    for row, life in _stated(reads, episode_ids):
        end, seen = life, {life.id}
        while (after := end.superseded_by or end.merged_into_id) is not None and after not in seen:
            seen.add(after)
            end = lives_by_id(reads, [after])[after]
        if end.id != life.id and end.current and end.confidence > 0:
            ends[row.episode_id] = end.id
    return ends


def _stated(reads: Reads, episode_ids: Collection[int]) -> Iterator[tuple[EvidenceRow, Life]]:
    """Return what episodes state that was not merged into something else, with the facts."""
    return (
        (row, life)
        for row, life in (supporting(reads, episode_ids) if episode_ids else ())
        if life.kind is not FactKind.OBSERVATION and life.status is not Status.MERGED_INTO
    )


def _corrected(reads: Reads, life: Life) -> bool:
    """Tell whether its owner put other words in the place of a fact."""
    if life.status is not Status.SUPERSEDED or life.superseded_by is None:
        return False
    low, high = sorted((life.id, life.superseded_by))
    pairs = reads.find(PAIR, {"low_id": low, "high_id": high})
    return any(pair.rule == policy.CORRECTION for pair in pairs)


def stating(reads: Reads, episode_ids: Collection[int]) -> set[int]:
    """Return those that are evidence for a statement: what they say is a fact of its own."""
    groups = reads.tally(CITED, ("episode_id",), {**_STATED, "episode_id": episode_ids})
    return {episode_id for (episode_id,) in groups}


def supporting(reads: Reads, episode_ids: Collection[int]) -> Iterator[tuple[EvidenceRow, Life]]:
    """Return what episodes speak for, each time with the fact."""
    rows = reads.evidence(episode_ids=episode_ids)
    rows = [row for row in rows if row.stance is Stance.SUPPORTS]
    lives = lives_by_id(reads, {row.fact_id for row in rows})
    return ((row, lives[row.fact_id]) for row in rows)


def spent_spans(reads: Reads, episode_ids: Collection[int]) -> dict[int, list[tuple[int, int]]]:
    """Return the parts of episodes that speak for facts which others took the place of."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for row, life in supporting(reads, episode_ids):
        if life.status is Status.SUPERSEDED:
            spans.setdefault(row.episode_id, []).append((row.start, row.end))
    return spans


def directed_spans(reads: Reads, episode_ids: Collection[int]) -> dict[int, list[tuple[int, int]]]:
    """Return the parts of episodes that are rules, decisions or choices, whatever became of these.

    But for what another reading took none for.
    """
    spans: dict[int, list[tuple[int, int]]] = {}
    for row, life in supporting(reads, episode_ids):
        unread = life.status is Status.RETRACTED and life.confidence > 0.0
        if life.kind is FactKind.DIRECTIVE and not unread:
            spans.setdefault(row.episode_id, []).append((row.start, row.end))
    return spans


def is_mostly(spans: Iterable[tuple[int, int]], start: int, end: int) -> bool:
    """Tell whether one of the parts of a text covers more than half of another."""
    return any(2 * (min(end, stop) - max(start, begin)) > end - start for begin, stop in spans)


class HeldSpan(NamedTuple):
    """A part of an episode that speaks for a fact which holds."""

    start: int
    end: int
    fact_id: int
    rule: str  # that read it so

    def overlaps(self, start: int, end: int) -> bool:
        """Tell whether it shares a character with another part."""
        return self.start < end and start < self.end


def held_spans(
    reads: Reads, episode_ids: Collection[int], kind: FactKind
) -> dict[int, list[HeldSpan]]:
    """Return the parts of episodes that speak for facts of a kind which hold, by episode."""
    spans: dict[int, list[HeldSpan]] = {}
    for row, life in supporting(reads, episode_ids):
        if life.kind is kind and holds(life):
            held = HeldSpan(row.start, row.end, row.fact_id, row.rule)
            spans.setdefault(row.episode_id, []).append(held)
    return spans


def typed_log(
    reads: Reads, *, limit: int
) -> list[tuple[Millis, str, str, float | None, float | None]]:
    """Return (at, type, reason or "", confidence, threshold) of the newest typed proposals.

    What was let in comes from its evidence, what was refused from its log; newest first.
    """
    refused = reads.find(
        REJECTION, {"owner": EVERYONE, "type": Least(" ")}, newest_first=True, limit=limit
    )
    proposals: list[tuple[Millis, str, str, float | None, float | None]] = [
        (refusal.at, refusal.type, refusal.reason, refusal.confidence, refusal.threshold)
        for refusal in refused
    ]
    lives = {life.id: life for life in reads.lives(LifeWhere(kinds=[FactKind.TYPED]))}
    for row in reads.evidence(pairs=[(life.id, life.episode_id) for life in lives.values()]):
        life = lives[row.fact_id]
        proposals.append((row.learned_at, life.predicate.upper(), "", life.confidence, None))
    return sorted(proposals, key=itemgetter(0), reverse=True)[:limit]


def rejections(reads: Reads, filters: RejectionFilters, *, limit: int) -> list[Rejection]:
    """Return the newest rejections that pass the filters."""
    owner = filters.owner
    where: dict[str, object] = {"owner": EVERYONE if owner is EVERYONE else (owner, "")}
    for name in ("reason", "type", "rule"):
        if value := getattr(filters, name):
            where[name] = value
    if filters.typed_only:
        where.setdefault("type", Above(""))
    if filters.since is not None:
        where["at"] = Least(filters.since)
    theirs: dict[int, bool] = {}  # source -> whether all of it is the owner's

    def passes(row: Refusal) -> bool:
        if filters.until is not None and row.at >= filters.until:
            return False
        if owner is EVERYONE or row.owner:
            return True
        # A line that could not be read is of whom the rest of its file is about.
        if row.source_id not in theirs:
            theirs[row.source_id] = row_owners(reads, "source", row.source_id) <= {owner}
        return theirs[row.source_id]

    refusals: list[Refusal] = []
    while len(refusals) < limit:
        page = reads.find(REJECTION, where, limit=limit, newest_first=True)
        refusals += filter(passes, page)
        if len(page) < limit:
            break
        where["id"] = Below(page[-1].id)
    states = reads.sources(ids={refusal.source_id for refusal in refusals})
    places = {state.id: state.source.uri for state in states}
    return [
        Rejection(
            source=places.get(row.source_id, ""), **{name: getattr(row, name) for name in _SHOWN}
        )
        for row in refusals[:limit]
    ]


def said_before(reads: Reads, episode: StoredEpisode, *, limit: int) -> list[StoredEpisode]:
    """Return what was said before a message in its conversation, newest first."""
    filters = Filters(
        owner=episode.owner,
        session=episode.session,
        episode_kinds=(EpisodeKind.TURN, EpisodeKind.COMMAND),
        before=episode.id,
    )
    page = limit
    while True:
        read = list(reads.episodes(filters, limit=page, newest_first=True))
        said = [earlier for earlier in read if earlier.session == episode.session]
        if len(said) >= limit or len(read) < page:
            return said[:limit]
        page *= 4  # much is of no conversation, or of another in the same file
