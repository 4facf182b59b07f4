"""Statements: the way of what an owner says in passing, read at night.

    new episodes -> sentences in the owner's own words -> known | clustered | clear by itself
    -> Ops: supported | asserted | asserted as proposed, and asked

Only what is new is looked at, and what older episodes said that supports nothing yet, for a thing
said once a week recurs too. What belongs to a known fact joins it; the rest is clustered, and a
clear statement counts by itself. Everything is quoted from where it stands.
"""

from __future__ import annotations

import logging
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.embed.halves import unpacked
from factbook.extract.clusters import (
    JOIN_COSINE,
    HandedOn,
    KnownCluster,
    Piece,
    ProposedFact,
    find_clusters,
    find_statements,
    overheard_pieces,
    pieces_of,
)
from factbook.extract.keyed.contracts import list_key_of
from factbook.extract.keyed.tell import parse_tell
from factbook.gate.judge import JudgedClaim, Relation, TextReading, judge, read
from factbook.gate.slots import place_of
from factbook.gate.turn_claims import covers
from factbook.language.reader.relate import RELATER
from factbook.language.verbs import as_said
from factbook.model.facts import (
    EVERYONE,
    At,
    Candidate,
    EpisodeKind,
    FactKind,
    Millis,
    Role,
    Status,
    StoredEpisode,
    Trust,
)
from factbook.model.fading import DAY_MS
from factbook.model.keys import fold_value, normalize_fact_key, split_rank_key
from factbook.model.ops import KeepLoose, MarkProgress, Op, WithdrawEvidence
from factbook.pipelines.claims import Witness, agreed, asked, asserted, supported
from factbook.pipelines.directives import noted
from factbook.store.derived import ledger
from factbook.store.derived.facts import current_by_claim, lives_by_id, vouched
from factbook.store.derived.readers import PARTS, STATEMENTS
from factbook.store.kinds import LOOSE
from factbook.store.port import Store, marked
from factbook.store.rows import Filters, Life, LifeWhere, claim_digest

if TYPE_CHECKING:
    from factbook.context import Context

_LOG = logging.getLogger(__name__)
Floats = NDArray[np.float32]
STATES = "states"  # the predicate of a statement
MARK: Final = PARTS[STATEMENTS][0]
CLEAR_RULE: Final = "clear_statement"
_CLUSTER_RULE = "recurring_statement"
_CLUSTER_METHOD = "The medoid of episodes that say the same (HDBSCAN)"
_SINGLE_METHOD = "A lasting statement in the owner's own words"
TURN_RULE = "turn_statement"  # of what a model read off a turn
_JOIN_RULE = "known_statement"
_JOIN_METHOD = "Said again, in other words or the same"
_TWIN: Final = "says_a_rule"  # why evidence goes
RULES: Final = frozenset({CLEAR_RULE, _CLUSTER_RULE, _JOIN_RULE})  # by which the reader reads


def extract_ops(
    context: Context, *, same: Callable[[str, str, float], bool], now: Millis
) -> list[Op]:
    """Return what the next block of new episodes gives, with the mark behind it.

    Empty when nothing is new. `same` tells whether two texts of that cosine say the same; members
    of a cluster must hold against its statement.
    """
    store = context.store
    mark = marked(store, MARK)
    room = policy.CLUSTER_POOL - policy.CLUSTER_LOOSE
    new, last = _told(store, mark, limit=room)
    done = MarkProgress(name=MARK, at=last)
    if not new:
        return [] if last == mark else [done]
    ops = said_ops(context, new, same=same, now=now)
    ops += _overheard_ops(context, new)
    return [*ops, *noted(context, STATEMENTS, {episode.source_id for episode in new}), done]


def said_ops(
    context: Context,
    new: Sequence[StoredEpisode],
    *,
    same: Callable[[str, str, float], bool],
    now: Millis,
    taken: Mapping[int, Sequence[tuple[int, int]]] = MappingProxyType({}),
) -> list[Op]:
    """Return what episodes give, with those that supported nothing so far, in owners' own words.

    `taken` are the parts of episodes, by id, that are not looked at. Arguments as of `extract_ops`.
    """
    store = context.store
    since = now - policy.CLUSTER_DAYS * DAY_MS
    fresh = {episode.id for episode in new}
    loose = sorted(store.episodes_by_id([row.episode_id for row in store.find(LOOSE)]).items())
    old = [row for _, row in loose if row.occurred_at is None or row.occurred_at >= since]
    old = old[-policy.CLUSTER_LOOSE :]
    episodes = [*(episode for episode in old if episode.id not in fresh), *new]
    ops: list[Op] = []
    alone: list[int] = []
    for owner in sorted({episode.owner for episode in episodes}):
        mine = [episode for episode in episodes if episode.owner == owner]
        made, left = _owner_ops(context, owner, mine, same=same, taken=taken)
        ops += made
        alone += left
    return [*ops, KeepLoose(episode_ids=sorted(set(alone)))]


def _told(store: Store, after: At, *, limit: int) -> tuple[list[StoredEpisode], At]:
    """Return (what owners said in person, as it got its vectors, how far that was looked for)."""
    new: list[StoredEpisode] = []
    more = True
    while more and len(new) < limit:
        page = store.changed("vector:episode", after, limit=limit)
        told = Filters(owner=EVERYONE, ids=page.came, roles=[Role.USER], trusts=[Trust.DIRECT])
        passing = set(store.ids("episode", told))
        places = [n for n, id_ in enumerate(page.came) if id_ in passing][: limit - len(new)]
        wanted = [page.came[n] for n in places]
        if len(new) + len(wanted) == limit:  # what lies behind the last of them is for the next
            page = store.changed("vector:episode", after, limit=places[-1] + 1)
        episodes = store.episodes_by_id(wanted)
        new += [episodes[id_] for id_ in wanted]
        after, more = page.last, page.more
    return new, after


def _owner_ops(
    context: Context,
    owner: str,
    episodes: Sequence[StoredEpisode],
    *,
    same: Callable[[str, str, float], bool],
    taken: Mapping[int, Sequence[tuple[int, int]]],
) -> tuple[list[Op], list[int]]:
    """Return (the Ops, the episodes with a statement that stands alone)."""
    pieces, vectors = _pieces(context, episodes, taken)
    ops, pieces = _read_before(context.store, owner, pieces)
    past, pieces = _overtaken(context, owner, pieces, vectors, same=same)
    ops += past
    if not pieces:
        return ops, []
    known, known_vectors = _known(context.store, owner)
    result = find_clusters(pieces, vectors, known, known_vectors if known else None, same=same)
    ops += [
        # It states the fact by itself: a fact that is said again is as sure as if said first.
        supported(
            fact_id,
            _candidate(owner, pieces[n], _JOIN_RULE, _JOIN_METHOD),
            _evidence(owner, pieces[n]),
            quote=pieces[n].text,
        )
        for n, fact_id, _ in result.joined
    ]
    for cluster in result.proposed:
        ops += _assertions(owner, cluster, pieces, _CLUSTER_RULE, _CLUSTER_METHOD)
    left = [pieces[n] for n in result.left]
    said = find_statements(left)
    for single in said:
        ops += _assertions(owner, single, left, CLEAR_RULE, _SINGLE_METHOD)
    stated = {n for fact in said for n in fact.members}
    return ops, [piece.episode_id for n, piece in enumerate(left) if n not in stated]


def _read_before(store: Store, owner: str, pieces: Sequence[Piece]) -> tuple[list[Op], list[Piece]]:
    """Return (what makes facts surer that a model read off the same words, the other pieces)."""
    held = ledger.held_spans(store, {piece.episode_id for piece in pieces}, FactKind.STATEMENT)
    ops: list[Op] = []
    left: list[Piece] = []
    for piece in pieces:
        spans = [span for span in held.get(piece.episode_id, ()) if span.rule == TURN_RULE]
        near = [span.fact_id for span in spans if span.overlaps(piece.start, piece.end)]
        lives = lives_by_id(store, near)
        same = [n for n in near if covers(piece.text, lives[n].statement)]
        same = same or [n for n in near if covers(lives[n].statement, piece.text)]
        candidate = _candidate(owner, piece, _JOIN_RULE, _JOIN_METHOD)
        shown = _evidence(owner, piece)
        ops += [agreed(fact_id, candidate, shown, quote=piece.text) for fact_id in same]
        if not same:
            left.append(piece)
    return ops, left


def _overtaken(
    context: Context,
    owner: str,
    pieces: Sequence[Piece],
    vectors: Floats,
    *,
    same: Callable[[str, str, float], bool],
) -> tuple[list[Op], list[Piece]]:
    """Return (what speaks for facts that others took the place of since, the other pieces).

    What was said before a correction, and is read after it, must not undo it.
    """
    first = min((piece.occurred_at for piece in pieces if piece.occurred_at is not None), default=0)
    where = LifeWhere(owner=owner, kinds=[FactKind.STATEMENT], predicates=[STATES], current=False)
    signs = {sign for piece in pieces for sign in _signs(read(piece.text))}
    gone = [
        (life, life.valid_to)
        for life in (context.store.lives(where) if pieces else ())
        if life.status is Status.SUPERSEDED and life.valid_to is not None and life.valid_to > first
        if not signs.isdisjoint(_signs(read(life.statement)))
    ]
    if not gone:
        return [], list(pieces)
    rows = context.embedder.embed([life.statement for life, _ in gone])
    ops: list[Op] = []
    left: list[Piece] = []
    for piece in pieces:
        cosines = (rows @ vectors[piece.row]).tolist()
        home = max(
            (
                (cosine, life.id)
                for cosine, (life, until) in zip(cosines, gone, strict=True)
                if piece.occurred_at is not None and piece.occurred_at < until
                if cosine >= JOIN_COSINE and same(life.statement, piece.text, min(1.0, cosine))
            ),
            default=None,
        )
        if home is None:
            left.append(piece)
            continue
        candidate = _candidate(owner, piece, _JOIN_RULE, _JOIN_METHOD)
        ops.append(supported(home[1], candidate, _evidence(owner, piece), quote=piece.text))
    return ops, left


def twin_ops(store: Store) -> list[Op]:
    """Return what takes from statements the words that are rules, however these came to be known.

    A rule may be read off words that were stated before. What took a place last goes first, for
    what it took the place of comes back.
    """
    rules = store.lives(LifeWhere(kinds=[FactKind.DIRECTIVE]))
    ids = {row.episode_id for row in store.evidence(fact_ids=[life.id for life in rules])}
    directed = ledger.directed_spans(store, ids)
    twins = [
        (row, life)
        for row, life in ledger.supporting(store, directed)
        if life.kind is FactKind.STATEMENT and row.rule in (*RULES, TURN_RULE)
        if ledger.is_mostly(directed[row.episode_id], row.start, row.end)
    ]
    known = {life.id for _, life in twins}
    twins = [(row, life) for row, life in twins if life.current or life.superseded_by in known]
    twins.sort(key=lambda twin: (twin[1].occurred_at or 0, twin[1].id), reverse=True)
    pairs = [(life.id, row.episode_id) for row, life in twins]
    return [WithdrawEvidence(fact_id=n, episode_id=shown, rule=_TWIN) for n, shown in pairs]


def pieces_read(context: Context, episode: StoredEpisode) -> list[Piece]:
    """Return the statements of an episode as the reader finds them, without vectors."""
    return pieces_of(episode, _answered(context.store, episode), context.resources.reader)


def own_ops(context: Context, episode: StoredEpisode, start: int, end: int) -> list[Op]:
    """Return what the night will assert of a part of an episode, which no fact holds yet."""
    held = ledger.held_spans(context.store, [episode.id], FactKind.STATEMENT)
    taken = {n: [(span.start, span.end) for span in spans] for n, spans in held.items()}
    pieces, _ = _pieces(context, [episode], taken)
    near = [piece for piece in pieces if piece.start < end and start < piece.end]
    ops: list[Op] = []
    for fact in find_statements(near):
        ops += _assertions(episode.owner, fact, near, CLEAR_RULE, _SINGLE_METHOD)
    return ops


def _pieces(
    context: Context,
    episodes: Sequence[StoredEpisode],
    taken: Mapping[int, Sequence[tuple[int, int]]],
) -> tuple[list[Piece], Floats]:
    """Return the statements of the episodes and their vectors.

    An episode that is one sentence has its vector already; the sentences of others are embedded.
    """
    store = context.store
    stored = unpacked(*store.vectors("episode", [episode.id for episode in episodes]))
    of_episode = dict(zip(stored.ids, stored.rows, strict=True))
    # Words that spoke for a fact until its owner corrected it bring nothing back, and a rule is not
    # stated besides: what ends it, or calls it wrong, would leave that.
    spent = ledger.spent_spans(store, [episode.id for episode in episodes])
    directed = ledger.directed_spans(store, [episode.id for episode in episodes])
    kept = _kept_on_purpose(store, episodes)
    pieces: list[Piece] = []
    made: list[Floats | None] = []
    for episode in episodes:
        for piece in pieces_read(context, episode):
            if context.redact(piece.text) != piece.text:
                continue  # a rule learned since would redact it: no fact is made of it
            past = (*spent.get(episode.id, ()), *taken.get(episode.id, ()), *kept[episode.id])
            if any(a < piece.end and piece.start < b for a, b in past):
                continue
            if ledger.is_mostly(directed.get(episode.id, ()), piece.start, piece.end):
                continue
            whole = piece.text.strip() == episode.text.strip()
            made.append(of_episode.get(episode.id) if whole else None)
            pieces.append(replace(piece, row=len(pieces)))
    missing = [n for n, row in enumerate(made) if row is None]
    if missing:
        new = context.embedder.embed([pieces[n].text for n in missing])
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
    usable_pieces = [replace(pieces[n], row=at) for at, n in enumerate(usable.tolist())]
    return usable_pieces, (vectors[usable] / length[usable, None]).astype(np.float32)


def _kept_on_purpose(
    store: Store, episodes: Sequence[StoredEpisode]
) -> dict[int, list[tuple[int, int]]]:
    """Return the parts of episodes that were told to factbook and are facts since, as told."""
    spans: dict[int, list[tuple[int, int]]] = {episode.id: [] for episode in episodes}
    told = [episode.id for episode in episodes if episode.host == policy.TOLD_HOST]
    for row, _ in ledger.supporting(store, told):
        if row.rule not in RULES:
            spans[row.episode_id].append((row.start, row.end))
    return spans


def _answered(store: Store, episode: StoredEpisode) -> str:
    """Return what an assistant said right before a message."""
    if episode.kind is not EpisodeKind.TURN or not episode.session:
        return ""
    before = ledger.said_before(store, episode, limit=1)
    return before[0].text if before and before[0].role is Role.ASSISTANT else ""


def _known(store: Store, owner: str) -> tuple[list[KnownCluster], Floats]:
    lives = {
        life.id: life
        for life in store.lives(LifeWhere(kinds=[FactKind.STATEMENT], current=True))
        if life.owner == owner and life.predicate == STATES
    }
    vectors = unpacked(*store.vectors("fact", list(lives)))
    known = [
        KnownCluster(fact_id=fact_id, statement=lives[fact_id].statement, row=n)
        for n, fact_id in enumerate(vectors.ids)
    ]
    return known, vectors.rows


def _assertions(
    owner: str, fact: ProposedFact, pieces: Sequence[Piece], rule: str, method: str
) -> list[Op]:
    """Return one assertion of the statement for each episode that says it, the medoid's first."""
    members = [fact.medoid, *(n for n in fact.members if n != fact.medoid)]
    return [
        asserted(
            _candidate(owner, piece, rule, method, says=fact.statement, sure=fact.confidence),
            _evidence(owner, piece),
            quote=piece.text,
        )
        for piece in (pieces[n] for n in members)
    ]


def statement(
    owner: str, said: str, shown: tuple[int, int], *, rule: str, method: str, sure: float
) -> Candidate:
    """Return the claim that an owner states something; `shown` is where its episode shows it."""
    start, end = shown
    return Candidate(
        subject=owner,
        predicate=STATES,
        object=said,
        statement=said,
        confidence=sure,
        rule=rule,
        method=method,
        start=start,
        end=end,
        kind=FactKind.STATEMENT,
        embed=True,
    )


def _candidate(
    owner: str, piece: Piece, rule: str, method: str, *, says: str = "", sure: float = 0.0
) -> Candidate:
    shown = (piece.start, piece.end)
    return statement(
        owner, says or piece.text, shown, rule=rule, method=method, sure=sure or piece.sure
    )


def _evidence(owner: str, piece: Piece) -> Witness:
    return Witness(piece.uid, owner, piece.trust, piece.text, piece.episode_id)


def claim_of(life: Life) -> JudgedClaim:
    """Return a fact as it is judged."""
    return JudgedClaim(
        text=life.statement,
        subject=life.subject,
        predicate=life.predicate,
        object=life.object,
        kind=life.kind,
        occurred_at=life.occurred_at,
    )


def _overheard_ops(context: Context, episodes: Sequence[StoredEpisode]) -> list[Op]:
    """Return what asks owners about statements that are not, or may not be, their own words.

    What speaks against something that they told is asked about, however it was overheard; else only
    what may be their own words, and nobody need be asked of what shows that it is not.
    """
    store = context.store
    heard: dict[str, list[tuple[StoredEpisode, HandedOn]]] = {}
    for episode in episodes:
        for handed in overheard_pieces(episode):
            if context.redact(handed.piece.text) == handed.piece.text:
                heard.setdefault(episode.owner, []).append((episode, handed))
    ops: list[Op] = []
    for owner, said in heard.items():
        texts = list(dict.fromkeys(handed.piece.text for _, handed in said))
        against = told_against(context, owner, vouched(store, owner), texts)
        claims = {text: claim_digest(owner, owner, STATES, text) for text in texts}
        known = current_by_claim(store, list(claims.values()))
        times: Counter[tuple[int, bool]] = Counter()
        for episode, handed in said:
            same = known.get(claims[handed.piece.text])
            if same is not None and same.status is not Status.PROPOSED:
                continue  # its owner said so
            opposed = against.get(handed.piece.text, [])
            times[episode.id, bool(opposed)] += 1
            few = times[episode.id, bool(opposed)] <= policy.OVERHEARD_STATEMENTS
            if few and (opposed or handed.in_doubt):
                ops += _proposed(owner, handed, opposed)
    return ops


def told_against(
    context: Context, owner: str, told: Sequence[Life], texts: Sequence[str]
) -> dict[str, list[int]]:
    """Return for texts that cannot be true beside what an owner told the numbers of those facts."""
    store = context.store
    against: dict[str, list[int]] = {}
    keyed = {life.predicate: life for life in told if life.kind is FactKind.KEYED}
    if keyed:
        for text in texts:
            if opposed := _other_values(text, keyed):
                against[text] = opposed
    said = {
        life.id: as_said(life.statement)
        for life in told
        if life.kind is not FactKind.KEYED and life.subject == owner
    }
    known = {fact_id: read(words) for fact_id, words in said.items()}
    near = _sharing(texts, known)
    if not near:
        return against
    met = {fact_id for ids in near.values() for fact_id in ids}
    stored = unpacked(*store.vectors("fact", sorted(met)))
    as_stored = {life.id for life in told if said.get(life.id) == life.statement}
    vectors = {n: row for n, row in zip(stored.ids, stored.rows, strict=True) if n in as_stored}
    missing = sorted(met - vectors.keys())
    rows = context.embedder.embed([*near, *(said[fact_id] for fact_id in missing)])
    vectors |= dict(zip(missing, rows[len(near) :], strict=True))
    for (text, ids), row in zip(near.items(), rows, strict=False):
        # A clause by itself may fill a slot, whatever else is said beside it.
        parts = [(part, read(part)) for part in _parts(text)]
        cosines = {fact_id: float(vectors[fact_id] @ row) for fact_id in ids}
        nearest = sorted(ids, key=lambda n: -cosines[n])[: policy.RELATED_NEIGHBOURS]
        for fact_id in ids:
            for part, reading in parts:
                judged = judge(
                    JudgedClaim(text=said[fact_id]),
                    JudgedClaim(text=part),
                    similarity=cosines[fact_id] if part == text else 0.0,
                    older_reading=known[fact_id],
                    newer_reading=reading,
                    net=RELATER if part == text and fact_id in nearest else None,
                    closest=partial(operator.eq, fact_id, nearest[0]),
                )
                if judged.relation in (Relation.CONTRADICTION, Relation.SUPERSEDES):
                    against.setdefault(text, []).append(fact_id)
                    break
    return against


def _sharing(texts: Sequence[str], known: Mapping[int, TextReading]) -> dict[str, list[int]]:
    """Return for texts the statements that share a word or a value; those that none does lack."""
    by_sign: dict[str, list[int]] = {}
    for fact_id, reading in known.items():
        for sign in _signs(reading):
            by_sign.setdefault(sign, []).append(fact_id)
    near: dict[str, list[int]] = {}
    for text in texts:
        signs = {sign for part in _parts(text) for sign in _signs(read(part))}
        if ids := {n for sign in signs for n in by_sign.get(sign, ())}:
            near[text] = sorted(ids)
    return near


def _signs(reading: TextReading) -> set[str]:
    """Return what two statements about one thing share: a content word, a value, a place."""
    place = place_of(reading)
    return {*reading.keys, *reading.values, *([f"at {place}"] if place else [])}


def _parts(text: str) -> list[str]:
    """Return a text and its clauses, each once."""
    clauses = (text[clause.begin : clause.end] for clause in RELATER.read(text).clauses)
    return list(dict.fromkeys((text, *clauses)))


def _other_values(text: str, held: Mapping[str, Life]) -> list[int]:
    """Return the keyed facts in whose place a text would put other values."""
    lists: dict[str, dict[int, str]] = {}
    for key, life in held.items():
        if ranked := split_rank_key(key):
            lists.setdefault(ranked[0], {})[ranked[1]] = life.object
    opposed = []
    for op in parse_tell(text, lists=lists).ops:
        list_key = list_key_of(op)
        key = f"{list_key}.{op.rank}" if list_key else normalize_fact_key(op.fact_key or "")[0]
        known = held.get(key)
        sets = op.op in ("set", "ranked_list_set") and op.value is not None
        if sets and known is not None and fold_value(known.object) != fold_value(op.value or ""):
            opposed.append(known.id)
    return opposed


def _proposed(owner: str, handed_on: HandedOn, against: Sequence[int]) -> list[Op]:
    """Return what asks a person about a statement that may be somebody else's."""
    piece, quote = handed_on.piece, handed_on.quote[: policy.QUOTE_CHARS]
    where = f"in a part of a message that {handed_on.why}"
    candidate = _candidate(owner, piece, policy.OVERHEARD, f"A lasting statement {where}")
    evidence = _evidence(owner, piece)
    asserts = asserted(candidate, evidence, quote=quote, proposed=True)
    asks = asked(
        candidate,
        evidence,
        confidence=asserts.confidence,
        quote=quote,
        against=against,
        detail=f"it stands {where}",
    )
    return [asserts, asks]
