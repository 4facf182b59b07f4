"""Each rule of the judge by name, with what it must catch and what it must leave alone."""

from __future__ import annotations

import pytest

from factbook.gate.judge import JudgedClaim, Judgement, Relation, judge
from factbook.model.facts import FactKind

CLOSE = 0.9  # the cosine of two texts that differ in a word


def judged(older: str, newer: str, *, similarity: float = CLOSE) -> Judgement:
    """Judge two plain statements."""
    return judge(JudgedClaim(text=older), JudgedClaim(text=newer), similarity=similarity)


# ------------------------------------------------------------------ never the same


def test_another_language_needs_every_word_in_its_place() -> None:
    assert judged("Анна любит кофе", "анна, любит кофе", similarity=0.96).rule == "same_words"
    assert judged("Анна любит кофе", "Анна, любит кофе", similarity=0.9).rule == "foreign"
    assert judged("Анна любит кофе", "Кофе любит Анна", similarity=0.99).rule == "foreign"
    assert judged("Анне 30 лет", "Анне 31 год", similarity=0.9).rule == "foreign_value"


# ------------------------------------------------------------------ supersession


def test_an_earlier_text_retires_nothing() -> None:
    older = JudgedClaim(text="I live in Berlin", occurred_at=2_000)
    newer = JudgedClaim(text="I moved from Berlin to Lyon", occurred_at=1_000)
    found = judge(older, newer, similarity=CLOSE)
    assert (found.relation, found.rule) == (Relation.CONTRADICTION, "given_up")
    undated = judge(JudgedClaim(text=older.text), newer, similarity=CLOSE)
    assert undated.relation is Relation.SUPERSEDES


def test_a_text_may_end_with_no_longer() -> None:
    found = judged("Music is played by two men", "Music is played by two men no longer")
    assert (found.relation, found.rule) == (Relation.SUPERSEDES, "given_up")


# ------------------------------------------------------------------ unclear


@pytest.mark.parametrize(
    "newer",
    ["turns out im not allergic to latex", "It turned out that I'm not allergic to latex"],
)
def test_what_turns_out_not_to_be_so_denies_it(newer: str) -> None:
    found = judged("I'm allergic to latex", newer)
    assert (found.relation, found.rule) == (Relation.CONTRADICTION, "negation")
    other = judged("I'm allergic to nickel", newer)
    assert other.relation is not Relation.CONTRADICTION


def test_habits_are_not_even_suspicious() -> None:
    assert judged("Anna runs", "Anna swims").relation is Relation.DIFFERENT


# ------------------------------------------------------------------ fields of the claims


@pytest.mark.parametrize(
    ("held", "done"),
    [
        ("We use jest for the tests", "I used jest for the tests yesterday"),
        ("We run the tests with jest", "I left jest running over night"),
        ("I have a cat", "I left my cat at home"),
        ("I like the gym in Graz", "I left the gym in Graz at nine"),
    ],
)
def test_what_somebody_did_once_ends_nothing(held: str, done: str) -> None:
    assert judged(held, done, similarity=CLOSE).relation is not Relation.SUPERSEDES
    assert judged("I have a car", "I sold my car").relation is Relation.SUPERSEDES


@pytest.mark.parametrize(
    "frame",
    [
        "{}",
        "The tenancy agreement says that {}",
        "The brochure says {}",
        "We were told by Ann that {}",
        "According to the brochure, {}",
        "Reminder: {}",
        'The sign says "{}"',
    ],
)
def test_whoever_says_so_two_of_a_series_stay_two_and_each_has_one_value(frame: str) -> None:
    first, second = frame.format("stall 7 makes 40 waffles a day"), "stall 9 makes 55 waffles a day"
    assert judged(first, frame.format(second)).rule == "series"
    dearer = judged(first, frame.format("stall 7 makes 55 waffles a day"))
    assert (dearer.relation, dearer.rule) == (Relation.CONTRADICTION, "number")
    held, now = frame.format("the default is version 3"), frame.format("the default is version 4")
    assert judged(held, now).relation is Relation.CONTRADICTION
    spot = frame.format("the market is held in hall 3 on Mondays")
    assert judged(spot, spot.replace("3", "4")).rule != "series"


@pytest.mark.parametrize("frame", ["{}", "Our doctor says that {}", "I was told that {}"])
def test_where_one_lives_says_nothing_of_another_whoever_says_so(frame: str) -> None:
    held = frame.format("cousin Ida lives in Graz")
    assert judged(held, frame.format("cousin Mia lives in Linz")).relation is Relation.DIFFERENT
    moved = judged(held, frame.format("cousin Ida lives in Linz"))
    assert (moved.relation, moved.rule) == (Relation.CONTRADICTION, "value")
    # a word that holds one value ("doctor") among those who say so makes nothing hold one
    needs = frame.format("the grey van needs oil"), frame.format("the white van needs tyres")
    assert judged(*needs).relation is Relation.DIFFERENT


def test_another_subject_is_another_matter() -> None:
    one, other = (
        JudgedClaim(text="Likes tea", subject="ann"),
        JudgedClaim(text="Likes tea", subject="bob"),
    )
    found = judge(one, other, similarity=1.0)
    assert (found.relation, found.rule) == (Relation.DIFFERENT, "subject")
    assert judge(one, JudgedClaim(text="Likes tea"), similarity=1.0).relation is Relation.SAME


def _keyed(predicate: str, value: str, *, subject: str = "me") -> JudgedClaim:
    return JudgedClaim(
        text=f"{predicate} = {value}",
        subject=subject,
        predicate=predicate,
        object=value,
        kind=FactKind.KEYED,
    )


def test_a_key_holds_one_value() -> None:
    btc = _keyed("user.favorites.crypto.1", "BTC")
    sol = _keyed("user.favorites.crypto.1", "SOL")
    second = _keyed("user.favorites.crypto.2", "SOL")
    found = judge(btc, sol, similarity=0.1)
    assert (found.relation, found.rule) == (Relation.CONTRADICTION, "keyed_value")
    assert "user.favorites.crypto.1" in found.detail
    assert judge(btc, btc, similarity=0.1).rule == "equal_fact"
    assert judge(btc, second, similarity=1.0).rule == "other_slot"
    assert judge(sol, second, similarity=1.0).relation is Relation.DIFFERENT


def test_a_keyed_value_is_never_merged_with_a_statement() -> None:
    value = _keyed("user.city", "Oslo")
    found = judge(value, JudgedClaim(text=value.text), similarity=1.0)
    assert (found.relation, found.rule) == (Relation.DIFFERENT, "other_kind")


def test_observations_never_contradict_each_other() -> None:
    def path(value: str, subject: str = "action_1") -> JudgedClaim:
        return JudgedClaim(
            text=f"mentions {value}",
            subject=subject,
            predicate="mentions_path",
            object=value,
            kind=FactKind.OBSERVATION,
        )

    assert judge(path("/a"), path("/b"), similarity=0.99).rule == "other_event"
    assert judge(path("/a"), path("/a"), similarity=0.99).relation is Relation.SAME
    assert judge(path("/a"), path("/a", "action_2"), similarity=1.0).rule == "subject"


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize("similarity", [float("nan"), float("inf"), -5.0, 7.0])
def test_a_similarity_that_is_none_counts_as_nothing(similarity: float) -> None:
    found = judged("I like tea", "I like green tea", similarity=similarity)
    assert found.relation is Relation.DIFFERENT
    assert judged("I like tea", "I like tea", similarity=similarity).relation is Relation.SAME


def test_far_texts_are_different_whatever_their_words() -> None:
    assert judged("I like tea", "I do not like tea", similarity=0.2).rule == "far"


def test_long_texts_are_only_the_same_when_equal() -> None:
    page = "The user likes tea. " * 2_000
    assert judged(page, page).relation is Relation.SAME
    assert judged(page, page + "The user likes coffee.").rule == "too_long"


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "...", "🍕", "no", "not", "a", "'s", "n't", "\ud800"]
)
def test_odd_texts_equal_themselves(text: str) -> None:
    assert judged(text, text).relation is Relation.SAME
    assert judged(text, "The user likes tea").relation is not Relation.SAME


def test_long_claims_take_no_long_time() -> None:
    words = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(150)]
    there, back = " ".join(words), " ".join(reversed(words))
    other = " ".join(f"other{word}" for word in words)
    assert judged(f"I like {there}", f"I like {back}").rule == "roles"
    assert judged(f"I like {there}", f"I like {other}").rule == "other_words"


@pytest.mark.parametrize(
    ("held", "now"),
    [
        ("The printer is online.", "The printer is offline."),
        ("I'm relaxed before talks.", "I'm anxious before talks."),
        ("The badge is permanent.", "The badge is temporary."),
        ("I'm interested in opera.", "I'm bored by opera."),
    ],
)
def test_the_opposite_of_a_state_or_mood_replaces_it(held: str, now: str) -> None:
    assert judged(held, now).relation in (Relation.SUPERSEDES, Relation.CONTRADICTION)
    assert judged(held, held).relation is Relation.SAME
