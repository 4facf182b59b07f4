"""Evidence and what it stands for, over the verbs of a store."""

from __future__ import annotations

from collections.abc import Collection

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
from factbook.store.derived.facts import lives_by_id
from factbook.store.kinds import REJECTION, Above, Below, Least, Refusal
from factbook.store.port import Reads
from factbook.store.rows import EvidenceRow, Filters, Life, LifeWhere, RejectionFilters


def stances(reads: Reads, fact_ids: Collection[int]) -> dict[int, dict[int, Stance]]:
    """Return the evidence of facts as fact id -> episode id -> stance."""
    stanceses: dict[int, dict[int, Stance]] = {id_: {} for id_ in fact_ids}
    for row in reads.evidence(fact_ids=fact_ids):
        stanceses[row.fact_id][row.episode_id] = row.stance
    return stanceses


def evidence_of(
    reads: Reads, fact_ids: Collection[int], *, limit: int | None = None
) -> dict[int, list[Evidence]]:
    """Return the evidence of facts with where it stands, oldest first, at most `limit` of each."""
    rows = reads.evidence(fact_ids=fact_ids, each=limit)
    heads = reads.heads({row.episode_id for row in rows})
    evidence: dict[int, list[Evidence]] = {id_: [] for id_ in fact_ids}
    for row in rows:
        head = heads[row.episode_id]
        evidence[row.fact_id].append(
            Evidence(
                fact_id=row.fact_id,
                episode_id=row.episode_id,
                rule=row.rule,
                method=row.method,
                stance=row.stance,
                quote=row.quote,
                start=row.start,
                end=row.end,
                occurred_at=head.occurred_at,
                source=head.source,
                position=head.position,
                offset=head.offset,
            )
        )
    return evidence


def outdated(reads: Reads, episode_ids: Collection[int]) -> set[int]:
    """Return those whose every statement has been superseded or rated wrong."""
    old: dict[int, bool] = {}
    for row, life in _statements(reads, episode_ids):
        if life.status is not Status.MERGED_INTO:
            gone = life.status is Status.SUPERSEDED or life.confidence == 0
            old[row.episode_id] = old.get(row.episode_id, True) and gone
    return {episode for episode, all_gone in old.items() if all_gone}


def stating(reads: Reads, episode_ids: Collection[int]) -> set[int]:
    """Return those that are evidence for a statement: what they say is a fact of its own."""
    return {row.episode_id for row, _ in _statements(reads, episode_ids)}


def spent_spans(reads: Reads, episode_ids: Collection[int]) -> dict[int, list[tuple[int, int]]]:
    """Return the parts of episodes that speak for facts which others took the place of."""
    found: dict[int, list[tuple[int, int]]] = {}
    for row, life in _supported(reads, episode_ids):
        if life.status is Status.SUPERSEDED:
            found.setdefault(row.episode_id, []).append((row.start, row.end))
    return found


def typed_log(
    reads: Reads, *, limit: int
) -> list[tuple[Millis, str, str, float | None, float | None]]:
    """Return (at, type, reason or "", confidence, threshold) of the newest typed proposals.

    What was let in comes from its evidence, what was refused from its log; newest first.
    """
    refused = reads.find(
        REJECTION, {"owner": EVERYONE, "type": Least(" ")}, newest_first=True, limit=limit
    )
    found: list[tuple[Millis, str, str, float | None, float | None]] = [
        (refusal.at, refusal.type, refusal.reason, refusal.confidence, refusal.threshold)
        for refusal in refused
    ]
    lives = {one.id: one for one in reads.lives(LifeWhere(kinds=[FactKind.TYPED]))}
    for row in reads.evidence(pairs=[(one.id, one.episode_id) for one in lives.values()]):
        life = lives[row.fact_id]
        found.append((row.learned_at, life.predicate.upper(), "", life.confidence, None))
    return sorted(found, key=lambda one: one[0], reverse=True)[:limit]


def _statements(reads: Reads, episode_ids: Collection[int]) -> list[tuple[EvidenceRow, Life]]:
    supported = _supported(reads, episode_ids)
    return [(row, life) for row, life in supported if life.kind is not FactKind.OBSERVATION]


def _supported(reads: Reads, episode_ids: Collection[int]) -> list[tuple[EvidenceRow, Life]]:
    """Return what episodes are evidence for, whatever its state."""
    rows = reads.evidence(episode_ids=episode_ids)
    rows = [row for row in rows if row.stance is Stance.SUPPORTS]
    lives = lives_by_id(reads, {row.fact_id for row in rows})
    return [(row, lives[row.fact_id]) for row in rows]


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

    found: list[Refusal] = []
    while len(found) < limit:
        page = reads.find(REJECTION, where, limit=limit, newest_first=True)
        found += filter(passes, page)
        if len(page) < limit:
            break
        where["id"] = Below(page[-1].id)
    places = {
        source.id: source.source.uri
        for source in reads.sources(ids={refusal.source_id for refusal in found})
    }
    return [
        Rejection(
            id=row.id,
            at=row.at,
            source=places.get(row.source_id, ""),
            position=row.position,
            reason=row.reason,
            detail=row.detail,
            excerpt=row.excerpt,
            rule=row.rule,
            predicate=row.predicate,
            owner=row.owner,
            type=row.type,
            confidence=row.confidence,
            threshold=row.threshold,
            validation=row.validation,
        )
        for row in found[:limit]
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
        said = [one for one in read if one.session == episode.session]
        if len(said) >= limit or len(read) < page:
            return said[:limit]
        page *= 4  # much is of no conversation, or of another in the same file
