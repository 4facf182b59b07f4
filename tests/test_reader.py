"""What is read of a text by the network: its words, and how scores become stretches and trees."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.rows import every

from factbook import policy
from factbook.errors import ReaderError
from factbook.extract.sentences import statements
from factbook.language.reader import labels
from factbook.language.reader.decode import best_path, stretches, tree
from factbook.language.reader.layer import PLACES, Layer, Seen
from factbook.language.reader.network import DATA, Networks, shared
from factbook.language.reader.read import clauses_of, read, things_of
from factbook.language.reader.reading import Reading
from factbook.language.reader.words import shape_of, words_of


@every(
    ("text", "words"),
    [
        ("mum's hip op, don't ask", ["mum", "'s", "hip", "op", ",", "do", "n't", "ask"]),
        ("it’s O’Brien’s", ["it", "’s", "O’Brien", "’s"]),
        ("cant, wont", ["cant", ",", "wont"]),
        ("WH-1000XM5 at 18:30", ["WH", "-", "1000", "XM5", "at", "18:30"]),
        ("3.5% of 1,000", ["3.5%", "of", "1,000"]),
        ("see /usr/bin/x.py.", ["see", "/usr/bin/x.py", "."]),
        ("https://a.b/c?d=e, or a@b.co", ["https://a.b/c?d=e", ",", "or", "a@b.co"]),
        ("AT&T's C++ snake_case", ["AT&T", "'s", "C++", "snake_case"]),
        ("wait... what?!", ["wait", "...", "what", "?!"]),
    ],
)
def test_a_text_is_cut_into_words(text: str, words: list[str]) -> None:
    assert [word.text for word in words_of(text)] == words


@given(st.text(max_size=200))
def test_no_character_that_is_seen_is_lost(text: str) -> None:
    words = words_of(text)
    assert all(text[w.begin : w.end] == w.text for w in words)
    assert all(a.end <= b.begin for a, b in itertools.pairwise(words))
    kept = {i for w in words for i in range(w.begin, w.end)}
    assert all(text[i].isspace() for i in set(range(len(text))) - kept)


@every(
    ("word", "shape"),
    [
        ("12", 1),
        ("?!", 2),
        ("XM5", 3),
        ("oslo", 4),
        ("OSLO", 5),
        ("Oslo", 6),
        ("I", 6),
        ("iPad", 7),
    ],
)
def test_a_word_has_a_shape(word: str, shape: int) -> None:
    assert shape_of(word) == shape


# --- stretches ------------------------------------------------------------------------------------

scores = arrays(
    np.float32,
    st.tuples(st.integers(1, 6), st.just(3)),
    elements=st.floats(-5, 5, width=32),
)


@given(scores)
def test_the_best_path_is_the_best_of_all(table: np.ndarray) -> None:
    def worth(path: tuple[int, ...]) -> float:
        legal = all(
            not (now == 2 and (at == 0 or path[at - 1] == 0)) for at, now in enumerate(path)
        )
        return float(sum(table[i, p] for i, p in enumerate(path))) if legal else -np.inf

    best = max(worth(path) for path in itertools.product(range(3), repeat=len(table)))
    assert abs(worth(tuple(best_path(table))) - best) < 1e-4


def test_where_a_stretch_is_does_not_hang_on_which_type_it_has() -> None:
    # three types share what speaks for a name: each alone is weaker than "outside"
    table = np.full((3, len(labels.NAME_TAGS)), -8.0, np.float32)
    table[:, 0] = 1.0
    for kind in ("person", "org", "work"):
        table[1, labels.NAME_TAGS.index(f"B-{kind}")] = 0.8
    table[1, labels.NAME_TAGS.index("B-org")] = 0.9
    (found,) = stretches(table, labels.NAME_TAGS)
    assert (found.first, found.last, found.type) == (1, 2, "org")
    assert 0.5 < found.chance < 1


def test_no_words_have_no_stretches() -> None:
    assert stretches(np.zeros((0, 5), np.float32), labels.OPINION_TAGS) == []


# --- trees ----------------------------------------------------------------------------------------


@given(
    st.integers(1, 7).flatmap(
        lambda n: arrays(np.float32, (n, n + 1), elements=st.floats(-5, 5, width=32))
    )
)
def test_every_word_leads_to_a_root(arcs: np.ndarray) -> None:
    heads = tree(arcs)
    assert len(heads) == len(arcs)
    for word in range(len(heads)):
        at, steps = word, 0
        while heads[at] != 0:
            at = heads[at] - 1
            steps += 1
            assert steps <= len(heads)


def test_a_word_keeps_its_best_head_where_that_makes_a_tree() -> None:
    arcs = np.array([[0, -9, 5, 1], [6, 0, -9, 1], [0, 3, 1, -9]], np.float32)
    assert tree(arcs) == [2, 0, 1]


def test_a_circle_opens_where_it_loses_least() -> None:
    """The likeliest root of a circle may be the word that its head holds the most surely."""
    arcs = np.array([[2.0, -9, 9, 0], [1.0, 1.5, -9, 0], [5.0, 0, 0, -9]], dtype=np.float32)
    assert tree(arcs) == [2, 0, 0]


class _CutAtComma:
    """The reader that ships, but for its clauses: the first ends with the first comma."""

    version = "cut"

    def read(self, text: str, answers: str = "") -> Reading:
        whole = read(text, answers)
        comma = [token.text for token in whole.tokens].index(",") + 1
        told = replace(whole.clauses[0], act="tell", keep=0.9, flags=frozenset())
        at = whole.tokens[comma - 1].end
        lead = replace(told, begin=0, end=at, first=0, last=comma)
        rest = replace(told, begin=at + 1, end=len(text), first=comma, last=len(whole.tokens))
        return replace(whole, clauses=(lead, rest))


def test_a_clause_that_is_all_lead_takes_nothing_with_it() -> None:
    said = statements("If you ever come to Riga, I have a spare bed.", reader=_CutAtComma())
    assert [one.text for one in said][-1] == "I have a spare bed."


@every(
    ("text", "liked", "disliked"),
    [
        ("The tacos were amazing but the waiter was so rude.", {"tacos"}, {"waiter"}),
        ("terrible hotel, great breakfast though", {"breakfast"}, {"hotel"}),
        ("I moved the meeting to Tuesday, the room is on the third floor.", set(), set()),
        ("my brother bought a Volvo last year", set(), set()),
        ("Best bakery in town!! I go there every sunday", {"bakery"}, set()),
        ("", set(), set()),
    ],
)
def test_what_is_liked_is_told_thing_by_thing(
    text: str, liked: set[str], disliked: set[str]
) -> None:
    heard = [one for one in read(text).opinions if one.chance >= policy.TASTE_SURE]
    assert {text[o.begin : o.end] for o in heard if o.type == "like"} == liked
    assert {text[o.begin : o.end] for o in heard if o.type == "dislike"} == disliked


@given(st.text(max_size=120))
def test_chances_of_a_taste_are_chances(text: str) -> None:
    taste = shared().taste
    for begin, end, thing in things_of(text):
        assert text[begin:end].strip()
        are_chances(taste, thing.seen, answers=2)


@given(st.text(max_size=120), st.text(max_size=40))
def test_chances_of_what_is_worth_knowing_are_chances(text: str, answers: str) -> None:
    worth = shared().worth
    told = read(text, answers).clauses
    for (begin, end, seen), clause in zip(clauses_of(text, answers), told, strict=True):
        assert (begin, end) == (clause.begin, clause.end)
        are_chances(worth, seen, answers=1)
        assert worth.chances(seen) == [clause.keep]


def are_chances(layer: Layer, seen: Seen, *, answers: int) -> None:
    chances = layer.chances(seen)
    assert len(chances) == answers
    assert min(chances) >= 0
    assert sum(chances) <= 1 + 1e-6
    for places in seen.signs:
        assert places == sorted(set(places))
        assert all(0 <= place < PLACES for place in places)


@pytest.mark.parametrize("layer", ["standing", "taste", "worth", "breaches"])
def test_what_was_learned_of_another_network_is_refused(tmp_path: Path, layer: str) -> None:
    for path in DATA.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / f"{layer}.npz").unlink()
    held = dict(np.load(DATA / f"{layer}.npz"))
    np.savez_compressed(tmp_path / f"{layer}.npz", **{**held, "reader": np.array("another")})
    with pytest.raises(ReaderError, match=r"train_(standing|layers|breaches)\.py"):
        getattr(Networks(tmp_path), layer)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "my aunt joan rang, shes in hull and retired",
            "my aunt joan rang, shes in hull and retired",
        ),
        ("dads 71 in june. hes into canal boats", "dads 71 in june. hes into canal boats"),
        ("so my neighbour is dead nice. plays the oboe, 43", "plays the oboe, 43"),
        ("my brother got a new job. moved to leith in june", "moved to leith in june"),
    ],
)
def test_what_is_told_of_another_stands_with_the_clause_that_names_them(
    text: str, said: str
) -> None:
    (statement,) = (one for one in statements(text) if said in one.text)
    assert statement.text == text
    assert statement.of == "person"


def test_what_the_writer_leaves_out_of_their_own_life_stands_by_itself() -> None:
    said = statements("I started a new job. moved to leith in june")
    assert [(one.text, one.of) for one in said][-1] == ("moved to leith in june", "me")


def test_of_what_nothing_names_nothing_is_kept() -> None:
    assert statements("Never mind, it was the gutters after all") == []
    (named,) = statements("My dog Rex died. It was cancer.")
    assert named.text == "My dog Rex died. It was cancer."
    (own,) = statements("It's my birthday on 4 May")
    assert own.text == "It's my birthday on 4 May"
