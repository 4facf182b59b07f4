"""Facts out of episodes without a model: sentences, clusters, and statements made once."""

from __future__ import annotations

import math
import random
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from factbook import policy
from factbook.extract import sentences
from factbook.extract.clusters import (
    ClusterResult,
    KnownCluster,
    Piece,
    ProposedFact,
    Same,
    confidence,
    find_clusters,
    find_statements,
    pieces_of,
)
from factbook.gate.judge import JudgedClaim, Relation, judge
from factbook.model.facts import EpisodeKind, Role, StoredEpisode, Trust
from growth import grows_with_length

# --- sentences ------------------------------------------------------------------------------------


@given(st.text(alphabet=st.sampled_from("aI.!?… \n`'\"-#|>:,é😀ß"), max_size=200))
def test_sentences_stand_in_their_text_in_order_without_overlap(text: str) -> None:
    end = 0
    for one in sentences.split(text):
        assert text[one.start : one.end] == one.text
        assert one.start >= end
        assert one.text.strip()
        end = one.end
    for part in sentences.statements(text, recurring=True):
        assert text[part.start : part.end] == part.text


def test_what_joins_a_statement_to_others_is_left_out_and_the_place_moves() -> None:
    text = "Ha! Well, yes, I live in Oslo, and my sister works in Bergen. Do you?"
    found = sentences.statements(text)
    assert [part.text for part in found] == ["I live in Oslo", "my sister works in Bergen."]
    assert all(text[part.start : part.end] == part.text for part in found)


def test_what_speaks_of_something_named_before_stands_with_it() -> None:
    (one,) = sentences.statements("My sister Ann moved to Oslo. She works at Acme.")
    assert one.text == "My sister Ann moved to Oslo. She works at Acme."


@pytest.mark.parametrize(
    "text",
    [
        "If I lived in Oslo, I would have a boat.",
        "Thanks a lot!",
        "How are you?",
        "Where do you live?",
        "Please summarise my notes about Oslo.",
    ],
)
def test_what_is_not_told_states_nothing(text: str) -> None:
    assert sentences.statements(text) == []


def test_huge_texts_are_read_in_bounded_time() -> None:
    for unit in ("word ", "a. ", "`a. b ", "\n", " ", "I ", "Well, ", "(" * 20):
        text = (unit * 30_000)[:30_000]
        assert grows_with_length(partial(sentences.statements, recurring=True), text), unit


# --- pieces for tests -----------------------------------------------------------------------------


def piece(
    text: str,
    *,
    uid: str = "",
    session: str = "s1",
    role: Role = Role.USER,
    trust: Trust = Trust.DIRECT,
    row: int = -1,
) -> Piece:
    return Piece(
        episode_id=zlib.crc32((uid or text).encode()),
        uid=uid or f"u:{session}:{text}",
        session=session,
        source_id=1,
        role=role,
        trust=trust,
        occurred_at=None,
        text=text,
        start=0,
        end=len(text),
        row=row,
    )


def vectors_of(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return bags of hashed words as unit vectors: shared words, near vectors."""
    rows = np.zeros((len(texts), 256), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in sentences.words(text):
            rows[row, zlib.crc32(word.encode()) % 256] += 1.0
        rows[row, 255] += 0.01
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def numbered(pieces: Sequence[Piece]) -> tuple[list[Piece], NDArray[np.float32]]:
    return (
        [replace(one, row=row) for row, one in enumerate(pieces)],
        vectors_of([one.text for one in pieces]),
    )


def same(statement: str, said: str, cosine: float) -> bool:
    """Judge as the night does."""
    judged = judge(JudgedClaim(text=statement), JudgedClaim(text=said), similarity=cosine)
    return judged.relation is Relation.SAME


def clusters(pieces: Sequence[Piece], same: Same = same) -> ClusterResult:
    some, vectors = numbered(pieces)
    return find_clusters(some, vectors, same=same)


def named(pieces: Sequence[Piece], found: Sequence[ProposedFact]) -> list[tuple[object, ...]]:
    """Return what was found, without the order of the input in it."""
    return [
        (
            one.statement,
            pieces[one.medoid].uid,
            sorted(pieces[at].uid for at in one.members),
            one.confidence,
            one.sessions,
        )
        for one in found
    ]


OSLO = [
    piece("I live in a red house in Oslo.", session="s1"),
    piece("I still live in a red house in Oslo.", session="s2"),
    piece("I live in the red house in Oslo.", session="s3"),
]
BUILDS = [
    piece("We use pnpm for all builds.", session="s1"),
    piece("We use pnpm for all our builds.", session="s2"),
]
ALONE = [
    piece("My sister works as a diver.", session="s1"),
    piece("I collect old maps of islands.", session="s2"),
]


# --- clusters -------------------------------------------------------------------------------------


def test_what_recurs_becomes_a_fact_whose_statement_is_a_real_sentence() -> None:
    pieces = OSLO + BUILDS + ALONE
    result = clusters(pieces)
    assert sorted(one.statement for one in result.proposed) == [
        "I live in a red house in Oslo.",
        "We use pnpm for all builds.",
    ]
    for one in result.proposed:
        medoid = pieces[one.medoid]
        assert medoid.text[one.start : one.end] == one.statement
        assert one.medoid in one.members
    assert result.left == [5, 6]


def test_every_piece_has_exactly_one_outcome() -> None:
    pieces = OSLO + BUILDS + ALONE
    result = clusters(pieces)
    outcomes = [at for one in result.proposed for at in one.members]
    outcomes += [at for at, _, _ in result.joined] + result.left
    assert sorted(outcomes) == list(range(len(pieces)))


def test_the_order_of_the_input_makes_no_difference() -> None:
    pieces = OSLO + BUILDS + ALONE
    expected = named(pieces, clusters(pieces).proposed)
    for seed in range(5):
        shuffled = pieces[:]
        random.Random(seed).shuffle(shuffled)
        assert named(shuffled, clusters(shuffled).proposed) == expected


def test_a_second_run_finds_the_same_facts_and_nothing_new() -> None:
    pieces = OSLO + BUILDS + ALONE
    first = clusters(pieces)
    known = [
        KnownCluster(fact_id=10 + row, statement=one.statement, row=row)
        for row, one in enumerate(first.proposed)
    ]
    some, vectors = numbered(pieces)
    again = find_clusters(
        some, vectors, known, vectors_of([one.statement for one in known]), same=same
    )
    assert again.proposed == []
    assert again.left == first.left
    joined = {
        fact_id: {at for at, one, _ in again.joined if one == fact_id} for fact_id in (10, 11)
    }
    assert [joined[10], joined[11]] == [set(one.members) for one in first.proposed]
    assert all(cosine >= 0.75 for _, _, cosine in again.joined)


def test_a_piece_joins_the_known_statement_before_anything_is_clustered() -> None:
    some, vectors = numbered(OSLO)
    known = [KnownCluster(fact_id=7, statement=OSLO[0].text, row=0)]
    result = find_clusters(some, vectors, known, vectors[:1], same=same)
    assert [(at, fact_id) for at, fact_id, _ in result.joined] == [(0, 7), (1, 7), (2, 7)]
    assert result.proposed == []


def test_a_text_said_twice_in_one_episode_or_session_is_said_once() -> None:
    text = "I live in a red house in Oslo."
    assert clusters([piece(text, uid="e1"), piece(text, uid="e1")]).proposed == []
    assert clusters([piece(text, uid="e1"), piece(text, uid="e2")]).proposed == []
    recurs = clusters([piece(text, uid="e1"), piece(text, uid="e2", session="s2")]).proposed
    assert [(one.support, one.sessions) for one in recurs] == [(2, 2)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I have two grey cats at home.", "I have three grey cats at home."),
        ("I live in a house in Oslo.", "I live in a house in Bergen."),
        ("I live in a house in oslo.", "I live in a house in bergen."),
        ("I eat meat with my family.", "I don't eat meat with my family."),
        ("I work at the old harbour.", "I used to work at the old harbour."),
        ("My brother lives near the sea.", "My sister lives near the sea."),
        ("I have a wooden sailing boat.", "I want to have a wooden sailing boat."),
        ("I love small dogs.", "I have small dogs."),
        ("My dog is called Rex.", "My dog is called Bella."),
    ],
)
def test_different_claims_do_not_become_one_fact(first: str, second: str) -> None:
    assert clusters([piece(first), piece(second, session="s2")]).proposed == []


def test_the_given_judge_decides() -> None:
    asked: list[tuple[str, str]] = []

    def never(statement: str, said: str, cosine: float) -> bool:
        assert 0.75 <= cosine <= 1.0
        asked.append((statement, said))
        return False

    assert clusters(OSLO, same=never).proposed == []
    assert asked


def test_members_hold_against_the_medoid_so_there_are_no_chains() -> None:
    angles = [0.0, 0.5, 1.0, 1.5, 2.0]  # neighbours at cosine 0.88, the ends at -0.42
    vectors = np.array([[math.cos(a), math.sin(a)] for a in angles])
    pieces = [
        piece(f"I keep my {word} boat here.", session=word, row=row)
        for row, word in enumerate(("red", "blue", "green", "grey", "white"))
    ]
    result = find_clusters(pieces, vectors, same=lambda *_: True)
    for one in result.proposed:
        medoid = vectors[pieces[one.medoid].row]
        assert all(medoid @ vectors[pieces[at].row] >= 0.75 for at in one.members)


def test_what_the_user_said_is_the_statement_before_what_the_assistant_said() -> None:
    told = piece(
        "The Fjord server runs Debian.",
        session="s2",
        role=Role.ASSISTANT,
        trust=Trust.DERIVED,
    )
    again = replace(told, uid="other", session="s3")
    mine = piece("Our Fjord server runs Debian.")
    result = clusters([told, again, mine])
    assert [(one.statement, one.trust) for one in result.proposed] == [
        ("Our Fjord server runs Debian.", Trust.DIRECT)
    ]
    alone = clusters([told, again]).proposed
    assert alone[0].confidence <= policy.TRUST_CAP[Trust.DERIVED]


def test_said_again_in_one_session_is_no_less_sure_than_said_once() -> None:
    (recurs,) = clusters([replace(one, session="s1") for one in OSLO]).proposed
    (once, *_) = find_statements(OSLO[:1])
    assert recurs.confidence >= once.confidence


def test_i_of_an_assistant_is_not_the_owner() -> None:
    said = episode("I live in Oslo.", role=Role.ASSISTANT, trust=Trust.DERIVED)
    assert pieces_of(said) == []


def test_clusters_across_blocks_are_put_together_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("factbook.extract.clusters.BLOCK_ROWS", 8)
    pieces = [
        piece(f"I live in a red house in Oslo, number {'x' * n}.", session=f"s{n}")
        for n in range(30)
    ] + [piece(f"We use pnpm for all builds of {'y' * n}.", session=f"s{n}") for n in range(30)]
    result = clusters(pieces, same=lambda *_: True)
    assert [one.support for one in result.proposed] == [30, 30]


def test_nothing_in_nothing_out() -> None:
    assert clusters([]) == ClusterResult(proposed=[], joined=[], left=[])
    assert clusters(OSLO[:1]).left == [0]


@pytest.mark.parametrize("text", ["", " ", "🎉", "word", "猫がいます。", "I " * 50_000])
def test_strange_texts_state_nothing_and_harm_nothing(text: str) -> None:
    assert [one for one in pieces_of(episode(text)) if one.clear] == []


def test_bad_input_is_refused_in_one_sentence() -> None:
    some, vectors = numbered(OSLO)
    with pytest.raises(ValueError, match="rows 0 to 2 are wanted"):
        find_clusters(some, vectors[:1], same=same)
    with pytest.raises(ValueError, match="zero or not finite"):
        find_clusters(some, vectors * 0, same=same)
    with pytest.raises(ValueError, match="zero or not finite"):
        find_clusters(some, vectors * np.nan, same=same)
    with pytest.raises(ValueError, match="no known_vectors"):
        find_clusters(some, vectors, [KnownCluster(fact_id=1, statement="x", row=0)], same=same)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["live", "work", "ski"]),
            st.sampled_from(["Oslo", "Bergen", "Rome"]),
            st.sampled_from(["", "still ", "often "]),
            st.integers(0, 3),
        ),
        max_size=14,
    ),
    st.randoms(use_true_random=False),
)
def test_any_pieces_settle_and_settle_alike(
    drawn: list[tuple[str, str, str, int]], shuffle: random.Random
) -> None:
    pieces = [
        piece(f"I {often}{verb} near the harbour of {town}.", uid=f"u{n}", session=f"s{session}")
        for n, (verb, town, often, session) in enumerate(drawn)
    ]
    result = clusters(pieces)
    mixed = pieces[:]
    shuffle.shuffle(mixed)
    assert named(mixed, clusters(mixed).proposed) == named(pieces, result.proposed)
    for one in result.proposed:
        towns = {pieces[at].text.split()[-1] for at in one.members}
        assert len(towns) == 1
        assert 0.5 <= one.confidence <= 0.9
    if result.proposed:
        some, vectors = numbered(pieces)
        known = [
            KnownCluster(fact_id=row, statement=one.statement, row=row)
            for row, one in enumerate(result.proposed)
        ]
        again = find_clusters(
            some, vectors, known, vectors_of([one.statement for one in known]), same=same
        )
        assert (again.proposed, again.left) == ([], result.left)


# --- confidence -----------------------------------------------------------------------------------

counts = st.integers(1, 1_000)


@given(counts, counts, counts, counts, st.sampled_from(Trust))
def test_confidence_never_falls_when_support_or_sessions_grow(
    support: int, sessions: int, more_support: int, more_sessions: int, trust: Trust
) -> None:
    sessions = min(sessions, support)
    low = confidence(support=support, sessions=sessions, trust=trust)
    high = confidence(
        support=support + more_support,
        sessions=min(sessions + more_sessions, support + more_support),
        trust=trust,
    )
    assert 0.5 <= low <= high <= min(0.9, policy.TRUST_CAP[trust])


def test_confidence_of_known_cases() -> None:
    def of(support: int, sessions: int) -> float:
        return round(confidence(support=support, sessions=sessions, trust=Trust.DIRECT), 3)

    assert of(1, 1) == 0.5
    assert of(2, 1) == 0.6
    assert of(2, 2) == 0.7
    assert of(10, 10) == 0.86


@pytest.mark.parametrize(("support", "sessions"), [(0, 1), (1, 2), (1, 0)])
def test_confidence_refuses_numbers_out_of_range(support: int, sessions: int) -> None:
    with pytest.raises(ValueError, match="give 1"):
        confidence(support=support, sessions=sessions, trust=Trust.DIRECT)


# --- statements made once -------------------------------------------------------------------------


def test_a_clear_statement_of_the_user_is_found_though_it_never_recurs() -> None:
    text = "Hi! Well, I live in Oslo. My dog is called Rex. We use pnpm for builds. You?"
    found = find_statements(pieces_of(episode(text, host=policy.TOLD_HOST)))
    assert [one.statement for one in found] == [
        "I live in Oslo.",
        "My dog is called Rex.",
        "We use pnpm for builds.",
    ]
    assert all(text[one.start : one.end] == one.statement for one in found)
    assert {one.confidence for one in found} == {policy.STATED}


@pytest.mark.parametrize(
    ("role", "trust"),
    [
        (Role.ASSISTANT, Trust.DERIVED),
        (Role.TOOL, Trust.EXTERNAL),
        (Role.SYSTEM, Trust.DERIVED),
        (Role.USER, Trust.EXTERNAL),
        (Role.USER, Trust.DERIVED),
    ],
)
def test_only_the_users_own_direct_words_state_something(role: Role, trust: Trust) -> None:
    assert find_statements([piece("I live in Oslo.", role=role, trust=trust)]) == []


def test_the_same_words_again_are_the_same_fact() -> None:
    pieces = [piece("I live in Oslo."), piece("I live in Oslo!", session="s2")]
    (one,) = find_statements(pieces)
    assert (one.members, one.sessions, one.support) == ((0, 1), 2, 2)
    (other,) = find_statements(pieces[::-1])
    assert (other.members, other.statement) == ((0, 1), one.statement)


# --- pieces of episodes ---------------------------------------------------------------------------


def episode(text: str, **changed: object) -> StoredEpisode:
    values: dict[str, object] = {
        "id": 3, "uid": "e3", "source_id": 2, "source": "chat", "kind": EpisodeKind.TURN,
        "role": Role.USER, "trust": Trust.DIRECT, "text": text, "position": 1, "offset": 0,
        "occurred_at": 5, "owner": "me", "subject": "", "group": "", "session": "s1",
        "project": "", "branch": "", "agent": "", "tool": "", "call_id": "", "host": "",
        "is_error": False, "cut": 0, "injected": False,
    }  # fmt: skip
    return StoredEpisode(**{**values, **changed})  # type: ignore[arg-type]


def test_pieces_are_the_statements_of_an_episode_with_their_places() -> None:
    text = "Ann: Thanks! I live in Oslo. Where do you live?"
    (one,) = pieces_of(episode(text, speaker="Ann"))
    assert (one.text, one.episode_id, one.uid, one.session) == ("I live in Oslo.", 3, "e3", "s1")
    assert text[one.start : one.end] == one.text


def test_injected_text_and_tool_calls_have_no_pieces() -> None:
    assert pieces_of(episode("I live in Oslo.", injected=True)) == []
    assert pieces_of(episode("I live in Oslo.", kind=EpisodeKind.TOOL_CALL)) == []
    assert pieces_of(episode("I live in Oslo.", kind=EpisodeKind.TOOL_RESULT)) == []
    assert pieces_of(episode("I live in Oslo.", role=Role.TOOL)) == []
