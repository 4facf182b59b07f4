"""Find in what the owner said what is worth a fact, and make the Ops of it.

Only what is new is looked at, and what older episodes said that supports nothing yet, for a thing
said once a week recurs too. What belongs to a known fact joins it; the rest is clustered, and a
clear statement counts by itself. Everything is quoted from where it stands.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.changes import memory_key
from factbook.confidence import DAY_MS
from factbook.extract.clusters import (
    Found,
    KnownCluster,
    Piece,
    doubtful_pieces,
    find_clusters,
    find_statements,
    pieces_of,
)
from factbook.model import Candidate, FactKind, Millis, StoredEpisode
from factbook.ops import AssertFact, KeepLoose, MarkProgress, Op, Propose, SupportFact
from factbook.store.base import Store

if TYPE_CHECKING:
    from factbook.embed import Embedder

_LOG = logging.getLogger(__name__)
Floats = NDArray[np.float32]
STATES = "states"  # the predicate of a statement
_CLUSTER_RULE = "recurring_statement"
_CLUSTER_METHOD = "The medoid of episodes that say the same (HDBSCAN)"
_SINGLE_RULE = "clear_statement"
_SINGLE_METHOD = "A lasting statement in the owner's own words"
_JOIN_RULE = "known_statement"
_JOIN_METHOD = "Said again, in other words or the same"


def extract_ops(
    store: Store,
    *,
    embedder: Callable[[], Embedder],
    redact: Callable[[str], str],
    same: Callable[[str, str, float], bool],
    now: Millis,
) -> list[Op]:
    """Return what the next block of new episodes gives, with the mark behind it.

    Empty when nothing is new. `same` tells whether two texts of that cosine say the same; members
    of a cluster must hold against its statement.
    """
    mark = store.mark("extract")
    room = policy.CLUSTER_POOL - policy.CLUSTER_LOOSE
    new, last = store.told_episodes(after=mark, limit=room)
    if not new:
        return []
    since = now - policy.CLUSTER_DAYS * DAY_MS
    fresh = {one.id for one in new}
    old = store.loose_episodes(since=since, limit=policy.CLUSTER_LOOSE)
    episodes = [*(one for one in old if one.id not in fresh), *new]
    ops: list[Op] = []
    loose: list[int] = []
    for owner in sorted({one.owner for one in episodes}):
        mine = [one for one in episodes if one.owner == owner]
        made, alone = _owner_ops(store, owner, mine, embedder=embedder, redact=redact, same=same)
        ops += made
        loose += alone
    for episode in new:
        for piece, why in doubtful_pieces(episode):
            if redact(piece.text) == piece.text:
                ops += _proposed(episode.owner, piece, why)
    ops.append(KeepLoose(episode_ids=sorted(set(loose))))
    ops.append(MarkProgress(name="extract", value=last))
    return ops


def _owner_ops(
    store: Store,
    owner: str,
    episodes: Sequence[StoredEpisode],
    *,
    embedder: Callable[[], Embedder],
    redact: Callable[[str], str],
    same: Callable[[str, str, float], bool],
) -> tuple[list[Op], list[int]]:
    """Return (the Ops, the episodes with a statement that stands alone)."""
    pieces, vectors = _pieces(store, episodes, embedder=embedder, redact=redact)
    if not pieces:
        return [], []
    known, known_vectors = _known(store, owner)
    result = find_clusters(pieces, vectors, known, known_vectors if known else None, same=same)
    ops: list[Op] = [_support(pieces[n], fact_id) for n, fact_id, _ in result.joined]
    for found in result.found:
        ops += _assertions(owner, found, pieces, _CLUSTER_RULE, _CLUSTER_METHOD)
    left = [pieces[n] for n in result.left]
    said = find_statements(left)
    for found in said:
        ops += _assertions(owner, found, left, _SINGLE_RULE, _SINGLE_METHOD)
    stated = {n for found in said for n in found.members}
    return ops, [one.episode_id for n, one in enumerate(left) if n not in stated]


def _pieces(
    store: Store,
    episodes: Sequence[StoredEpisode],
    *,
    embedder: Callable[[], Embedder],
    redact: Callable[[str], str],
) -> tuple[list[Piece], Floats]:
    """Return the statements of the episodes and their vectors.

    An episode that is one sentence has its vector already; the sentences of others are embedded.
    """
    ids, data = store.vector_rows("episode", [one.id for one in episodes])
    rows = np.frombuffer(data, np.float16).reshape(len(ids), -1).astype(np.float32)
    of_episode = dict(zip(ids, rows, strict=True))
    # Words that spoke for a fact until its owner corrected it bring nothing back.
    spent = store.spent_spans([one.id for one in episodes])
    pieces: list[Piece] = []
    made: list[Floats | None] = []
    for episode in episodes:
        for piece in pieces_of(episode):
            if redact(piece.text) != piece.text:
                continue  # a rule learned since would redact it: no fact is made of it
            if any(a < piece.end and piece.start < b for a, b in spent.get(episode.id, ())):
                continue
            whole = piece.text.strip() == episode.text.strip()
            made.append(of_episode.get(episode.id) if whole else None)
            pieces.append(replace(piece, row=len(pieces)))
    missing = [n for n, row in enumerate(made) if row is None]
    if missing:
        new = embedder().embed([pieces[n].text for n in missing])
        for n, row in zip(missing, new, strict=True):
            made[n] = row
    if not pieces:
        return [], np.empty((0, 0), np.float32)
    vectors: Floats = np.stack([row for row in made if row is not None]).astype(np.float32)
    length = np.sqrt(np.einsum("ij,ij->i", vectors.astype(np.float64), vectors))
    usable = np.flatnonzero(np.isfinite(length) & (length > 0))
    if len(usable) < len(pieces):
        # One sentence without a direction must not end the night for all others.
        _LOG.warning("%d sentences have no usable vector", len(pieces) - len(usable))
    kept = [replace(pieces[n], row=at) for at, n in enumerate(usable.tolist())]
    return kept, (vectors[usable] / length[usable, None]).astype(np.float32)


def _known(store: Store, owner: str) -> tuple[list[KnownCluster], Floats]:
    lives = {
        one.id: one
        for one in store.lives_of([FactKind.STATEMENT])
        if one.owner == owner and one.predicate == STATES
    }
    ids, data = store.vector_rows("fact", list(lives))
    known = [
        KnownCluster(fact_id=one, statement=lives[one].statement, row=n)
        for n, one in enumerate(ids)
    ]
    if not ids:
        return known, np.empty((0, 0), np.float32)
    rows = np.frombuffer(data, np.float16).reshape(len(ids), -1).astype(np.float32)
    return known, rows


def _assertions(
    owner: str, found: Found, pieces: Sequence[Piece], rule: str, method: str
) -> list[Op]:
    """Return one assertion of the statement for each episode that says it, the medoid's first."""
    ops: list[Op] = []
    members = [found.medoid, *(n for n in found.members if n != found.medoid)]
    for n in members:
        piece = pieces[n]
        trusted = min(found.confidence, policy.TRUST_CAP[piece.trust])
        candidate = Candidate(
            subject=owner,
            predicate=STATES,
            object=found.statement,
            statement=found.statement,
            confidence=found.confidence,
            rule=rule,
            method=method,
            start=piece.start,
            end=piece.end,
            kind=FactKind.STATEMENT,
            embed=True,
        )
        ops.append(
            AssertFact(
                candidate=candidate,
                episode=piece.uid,
                owner=owner,
                confidence=trusted,
                trust=piece.trust,
                quote=piece.text,
            )
        )
    return ops


def _proposed(owner: str, piece: Piece, why: str) -> list[Op]:
    """Return what asks a person about a statement that may be somebody else's."""
    said = " ".join(piece.text.split())
    sure = min(policy.STATED, policy.TRUST_CAP[piece.trust])
    candidate = Candidate(
        subject=owner,
        predicate=STATES,
        object=said,
        statement=said,
        confidence=sure,
        rule=policy.OVERHEARD,
        method=f"A lasting statement in a part of a message that {why}",
        start=piece.start,
        end=piece.end,
        kind=FactKind.STATEMENT,
        embed=True,
    )
    payload = {
        "owner": owner,
        "type": STATES.upper(),
        "text": said,
        "confidence": sure,
        "detail": f"it stands in a part of a message that {why}",
        "episode": piece.episode_id,
        "quote": piece.text[: policy.QUOTE_CHARS],
    }
    return [
        AssertFact(
            candidate=candidate,
            episode=piece.uid,
            owner=owner,
            confidence=sure,
            trust=piece.trust,
            quote=piece.text[: policy.QUOTE_CHARS],
            proposed=True,
        ),
        Propose(kind="memory", key=memory_key(owner, STATES, said), title=said, payload=payload),
    ]


def _support(piece: Piece, fact_id: int) -> SupportFact:
    return SupportFact(
        fact_id=fact_id,
        episode_id=piece.episode_id,
        quote=piece.text,
        start=piece.start,
        end=piece.end,
        rule=_JOIN_RULE,
        method=_JOIN_METHOD,
        trust=piece.trust,
        # It states the fact by itself: a fact that is said again is as sure as if said first.
        confidence=min(policy.STATED, policy.TRUST_CAP[piece.trust]),
    )
