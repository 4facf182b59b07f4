"""Make facts out of what people say, without a model: what recurs, and what is said clearly once.

Knows: sentences with their vectors, and what is known already. Does not know the store: everything
comes as arguments and leaves as values. docs/clusters.md tells why it works as it does.

The statement of a fact is a real sentence of an episode, word for word, so it is grounded by
construction. Both functions take the pieces of one owner; text that factbook itself injected must
not be among them (`pieces_of` leaves it out).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from factbook import policy
from factbook.extract import sentences
from factbook.extract.base import word_set
from factbook.extract.voice import DOUBTFUL, voice_of
from factbook.model.facts import EpisodeKind, Millis, Role, StoredEpisode, Trust

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from factbook.language.reader.reading import Reader

    Vectors: TypeAlias = NDArray[np.floating[Any]]

__all__ = [
    "JOIN_COSINE",
    "MIN_CLUSTER_SIZE",
    "ClusterResult",
    "KnownCluster",
    "Piece",
    "ProposedFact",
    "Same",
    "confidence",
    "find_clusters",
    "find_statements",
    "pieces_of",
]

MIN_CLUSTER_SIZE: Final = 2  # ours: said twice, in two episodes, recurs
JOIN_COSINE: Final = 0.75  # origins 001.6: an episode this near to a fact is evidence for it
LEAST_CONFIDENCE: Final = 0.5  # ours: of a cluster; the least that passive recall can ever show
MOST_CONFIDENCE: Final = 0.9  # ours: nobody has confirmed it
_SPOKEN: Final = frozenset(
    {EpisodeKind.PROMPT, EpisodeKind.REPLY, EpisodeKind.TURN, EpisodeKind.SUMMARY}
)
_CHUNK: Final = 1_024  # rows of a similarity matrix in memory at once

Same: TypeAlias = Callable[[str, str, float], bool]
"""Say whether a piece (second) says what a statement (first) says, at this cosine."""


Nearby: TypeAlias = tuple[int, float]
"""A row that is near another one, and their cosine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A sentence or a short turn of an episode, with the row of its vector."""

    episode_id: int
    uid: str  # of the episode: copies of a record share it and count once
    session: str
    source_id: int
    role: Role
    trust: Trust
    occurred_at: Millis | None
    text: str
    start: int  # in the episode's text
    end: int  # exclusive
    row: int = -1  # in the matrix of vectors; -1 where there is none
    clear: bool = True  # worth keeping though it is said once
    sure: float = policy.STATED  # how sure it is, said once


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCluster:
    """A statement that is a fact already."""

    fact_id: int
    statement: str
    row: int  # in the matrix of known vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedFact:
    """A proposed fact and what shows it. Indices are into the pieces that were given."""

    statement: str  # stands in the medoid's episode, white space apart
    medoid: int  # the piece that states it best
    members: tuple[int, ...]  # all pieces that show it, the medoid too, ascending
    confidence: float  # capped by the medoid's trust
    sessions: int  # in how many sessions it was said
    support: int  # how many independent times: an episode, and a text in a session, count once
    trust: Trust  # of the medoid
    start: int  # the statement's place in the text of the medoid's episode
    end: int  # exclusive


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterResult:
    """What became of each piece; every index stands in exactly one of the three."""

    proposed: list[ProposedFact]
    joined: list[tuple[int, int, float]]  # piece, fact_id, cosine
    left: list[int]  # statements that stand alone so far; offer them again with the next ones


def pieces_of(
    episode: StoredEpisode, answers: str = "", reader: Reader | None = None
) -> list[Piece]:
    """Return the statements of an episode as pieces, still without vectors.

    Only what people and assistants say: tool calls and their results have rules of their own, and
    text that factbook injected is never evidence. Questions, thanks and the like are left out here
    already, so that nobody embeds them: a piece's text is what a fact would say, and its vector is
    that fact's vector. `answers` is the line that the episode answers, `reader` reads both.
    """
    if episode.injected or episode.kind not in _SPOKEN or episode.role is Role.TOOL:
        return []
    text, name = voice_of(episode).text, f"{episode.speaker}: "
    if episode.speaker and text.startswith(name):
        text = "\n" * len(name) + text[len(name) :]
    said = sentences.statements(text, answers, recurring=True, reader=reader)
    if episode.role is not Role.USER:  # whose "I" is not the owner
        said = [part for part in said if not _in_person(part.text)]
    return [
        _piece(episode, part, part.text, (part.start, part.end), trust=episode.trust)
        for part in said
    ]


_PERSON: Final = word_set("i i'm i've i'd i'll im ive my me mine we we're we've we'll our us")
_LABEL: Final = re.compile(  # of a line of a chat: "Ben: I moved to Bergen."
    r"^[ \t]*[^\W\d_][\w.'’-]{0,39}(?: [\w.'’-]{1,40}){0,2}: (?=\S)", re.MULTILINE
)


def _in_person(text: str) -> bool:
    """Say whether whoever says it speaks of themselves."""
    return not _PERSON.isdisjoint(sentences.words(text))


def _piece(
    episode: StoredEpisode,
    said: sentences.Statement,
    text: str,
    place: tuple[int, int],
    *,
    trust: Trust,
) -> Piece:
    return Piece(
        episode_id=episode.id,
        uid=episode.uid,
        session=episode.session,
        source_id=episode.source_id,
        role=episode.role,
        trust=trust,
        occurred_at=episode.occurred_at,
        text=text,
        start=place[0],
        end=place[1],
        clear=said.clear and episode.role is Role.USER,
        sure=policy.HEDGED if "hedge" in said.flags else policy.STATED,
    )


_MARKS: Final = re.compile(
    r"^[ \t]*(?:(?:[>|][ \t]*)+|(?:```|~~~).*$)|[ \t]*\|?[ \t]*$|[\"“”«»„]", re.MULTILINE
)  # what people hand on is set off by, and what no sentence holds


class HandedOn(NamedTuple):
    """A statement in words that are not its owner's own, or may not be."""

    piece: Piece  # its text without the signs that set a paste off
    quote: str  # as it stands in the episode
    why: str  # of `Overheard`
    in_doubt: bool  # only the writing tells it from its owner's own clear statements


def overheard_pieces(episode: StoredEpisode) -> list[HandedOn]:
    """Return what a message says in words that are not its owner's own, or may not be."""
    if episode.injected:
        return []
    handed_ons = []
    for part in voice_of(episode).overheard:
        whole = episode.text[part.start : part.end]
        marks = [place for match in _MARKS.finditer(whole) for place in range(*match.span())]
        places = sorted(set(range(len(whole))).difference(marks))
        plain = "".join(whole[at] for at in places)
        plain = _LABEL.sub(lambda label: "\n" * len(label[0]), plain)
        for said in sentences.statements(plain, all_told=True):
            start, last = (part.start + places[at] for at in (said.start, said.end - 1))
            piece = _piece(
                episode, said, _one_line(said.text), (start, last + 1), trust=Trust.DERIVED
            )
            of_life = said.of in ("me", "person") and _in_person(said.text)
            in_doubt = part.why == DOUBTFUL and said.clear and of_life
            handed_ons.append(HandedOn(piece, episode.text[start : last + 1], part.why, in_doubt))
    return handed_ons


def confidence(*, support: int, sessions: int, trust: Trust) -> float:
    """Return how sure a recurring statement is; it never falls when one of the numbers grows.

    0.5 + 0.4 * (0.5 * (1 - 1/support) + 0.5 * (1 - 1/sessions)), at most what the trust allows
    (`policy.TRUST_CAP`). Raises ValueError for numbers outside their range.
    """
    if support < 1 or not 1 <= sessions <= support:
        raise ValueError(
            f"support is {support} and sessions is {sessions}; give 1 <= sessions <= support"
        )
    share = 1 - (1 / support + 1 / sessions) / 2
    sure = LEAST_CONFIDENCE + (MOST_CONFIDENCE - LEAST_CONFIDENCE) * share
    return min(sure, policy.TRUST_CAP[trust])


# --- said once ------------------------------------------------------------------------------------


def find_statements(pieces: Sequence[Piece]) -> list[ProposedFact]:
    """Find what the user states clearly himself, and is worth keeping though it never recurs.

    Only clear pieces of the user's own, direct text are read. The same words said again are the
    same fact with more members, as sure as the surest of them, whatever their number: growing with
    evidence is the ledger's business.
    """
    places: dict[str, list[int]] = {}
    for index in sorted(range(len(pieces)), key=lambda index: _order(pieces[index])):
        piece = pieces[index]
        if piece.clear and piece.role is Role.USER and piece.trust is Trust.DIRECT:
            places.setdefault(_key(piece.text), []).append(index)
    proposed_facts = []
    for said in places.values():
        piece = pieces[said[0]]
        proposed_facts.append(
            ProposedFact(
                statement=_one_line(piece.text),
                medoid=said[0],
                members=tuple(sorted(said)),
                confidence=min(max(pieces[n].sure for n in said), policy.TRUST_CAP[piece.trust]),
                sessions=len({pieces[member].session for member in said}),
                support=_support(pieces[member] for member in said),
                trust=piece.trust,
                start=piece.start,
                end=piece.end,
            )
        )
    return proposed_facts


def _order(piece: Piece) -> tuple[str, int, int, str, str, int]:
    """Return what pieces are sorted by, so that the order of the input does not matter."""
    return piece.uid, piece.start, piece.end, piece.text, piece.session, piece.episode_id


@lru_cache(maxsize=16_384)
def _key(text: str) -> str:
    """Return what makes two statements the same words."""
    return " ".join(sentences.words(text)) or _one_line(text)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _support(pieces: Iterable[Piece]) -> int:
    """Count independent occurrences: an episode once, and a text once in each session."""
    uids: set[str] = set()
    told: set[tuple[str, str]] = set()
    for piece in pieces:
        if piece.uid not in uids:
            uids.add(piece.uid)
            told.add((piece.session, _key(piece.text)))
    return len(told)


# --- said again -----------------------------------------------------------------------------------


def find_clusters(
    pieces: Sequence[Piece],
    vectors: Vectors,
    known: Sequence[KnownCluster] = (),
    known_vectors: Vectors | None = None,
    *,
    same: Same,
) -> ClusterResult:
    """Find the statements that recur, and which pieces belong to a known one.

    A piece joins the nearest known statement at `JOIN_COSINE` or above that `same` lets it stand
    behind. Of the rest the densest pieces, a user's own words before others', become statements
    one after the other, each with all that is left near it and holds against it, so there are no
    chains. A later run over the same pieces, with these statements as known, finds the same and
    nothing new. The order of the pieces makes no difference.

    `vectors` and `known_vectors` have one unit row for each `row` of a piece or known statement
    (shape (rows, dim)). Raises ValueError for rows that are missing or not finite.
    """
    original = sorted(range(len(pieces)), key=lambda index: _order(pieces[index]))
    if not original:
        return ClusterResult(proposed=[], joined=[], left=[])
    ordered = [pieces[index] for index in original]
    matrix = _unit(vectors, [piece.row for piece in ordered], what="pieces")
    joined: list[tuple[int, int, float]] = []
    if known:
        if known_vectors is None:
            raise ValueError("there are known clusters and no known_vectors; give both")
        known = sorted(known, key=lambda cluster: cluster.fact_id)
        homes = _unit(known_vectors, [cluster.row for cluster in known], what="known clusters")
        for n, near in enumerate(_near(matrix, homes)):
            for home, cosine in near:
                if same(known[home].statement, ordered[n].text, cosine):
                    joined.append((n, known[home].fact_id, cosine))
                    break
    free = sorted(set(range(len(ordered))).difference(n for n, _, _ in joined))
    proposed = []
    for medoid, members in _groups(ordered, matrix, free, same):
        proposed.append(_proposed(pieces, original[medoid], [original[n] for n in members]))
        free = [n for n in free if n not in members]
    return ClusterResult(
        proposed=sorted(proposed, key=lambda fact: _order(pieces[fact.medoid])),
        joined=[(original[n], fact_id, cosine) for n, fact_id, cosine in joined],
        left=sorted(original[n] for n in free),
    )


def _near(rows: NDArray[np.float32], others: NDArray[np.float32]) -> Iterator[list[Nearby]]:
    """Yield for each row those of the others at `JOIN_COSINE` or above, the nearest first."""
    import numpy as np

    for begin in range(0, len(rows), _CHUNK):
        for cosines in rows[begin : begin + _CHUNK] @ others.T:
            columns = np.flatnonzero(cosines >= JOIN_COSINE)
            ranked = columns[np.argsort(-cosines[columns], kind="stable")]
            yield [(n, min(1.0, float(cosines[n]))) for n in ranked.tolist()]


def _groups(
    pieces: Sequence[Piece], matrix: NDArray[np.float32], free: Sequence[int], same: Same
) -> Iterator[tuple[int, set[int]]]:
    """Yield groups of the free pieces as (medoid, members), the medoid among them."""
    by_words: dict[str, list[int]] = {}
    for n in free:
        by_words.setdefault(_key(pieces[n].text), []).append(n)
    groups = list(by_words.values())  # the same words are one point, however often they are said
    points = matrix[[group[0] for group in groups]]
    near = list(_near(points, points))

    def rank(at: int) -> tuple[bool, float, int]:
        dense = sum(len(groups[other]) * cosine for other, cosine in near[at])
        return not any(_own_words(pieces[n]) for n in groups[at]), -round(dense, 6), at

    waiting = dict.fromkeys(sorted(range(len(groups)), key=rank))
    for at in list(waiting):
        if at not in waiting:
            continue
        medoid = min(groups[at], key=lambda n: (not _own_words(pieces[n]), n))
        said = pieces[medoid].text
        held = [at] + [
            other
            for other, cosine in near[at]
            if other != at
            and other in waiting
            and same(said, pieces[groups[other][0]].text, cosine)
        ]
        members = {n for other in held for n in groups[other]}
        if _support(pieces[n] for n in members) >= MIN_CLUSTER_SIZE:
            for other in held:
                del waiting[other]
            yield medoid, members


def _own_words(piece: Piece) -> bool:
    return piece.role is Role.USER and piece.trust is Trust.DIRECT


def _proposed(pieces: Sequence[Piece], medoid: int, members: Sequence[int]) -> ProposedFact:
    piece, support = pieces[medoid], _support(pieces[n] for n in members)
    sessions = min(support, len({pieces[n].session for n in members}))
    sure = confidence(support=support, sessions=sessions, trust=piece.trust)
    if _own_words(piece) and piece.clear:
        sure = max(sure, piece.sure)  # said twice is no less sure than said once
    return ProposedFact(
        statement=_one_line(piece.text),
        medoid=medoid,
        members=tuple(sorted(members)),
        confidence=sure,
        sessions=sessions,
        support=support,
        trust=piece.trust,
        start=piece.start,
        end=piece.end,
    )


def _unit(vectors: Vectors, rows: Sequence[int], *, what: str) -> NDArray[np.float32]:
    """Return the rows as unit vectors of single precision; refuses what is none."""
    import numpy as np

    if vectors.ndim != 2 or min(rows) < 0 or max(rows) >= len(vectors):
        raise ValueError(
            f"the vectors of the {what} have shape {vectors.shape}, and rows {min(rows)} to "
            f"{max(rows)} are wanted; give one row for each"
        )
    chosen = vectors[list(rows)].astype(np.float32)
    lengths = np.linalg.norm(chosen, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths <= 0).any():
        raise ValueError(f"a vector of the {what} is zero or not finite; embed that text again")
    return np.asarray(chosen / lengths, dtype=np.float32)
