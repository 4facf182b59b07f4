"""Keys, topics and values have one spelling each, whatever was typed (seed 004, normalisers)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factbook import policy
from factbook.language.coordination import split_spoken_list, spoken_items
from factbook.language.nouns import counted, is_plural
from factbook.model.keys import (
    FAVORITES,
    TOPIC_CHARS,
    UNNAMED,
    canonical_key,
    canonical_keys,
    canonical_list_key,
    canonical_rank_key,
    extract_topic_from_list_key,
    fold_value,
    names_something,
    normalize_fact_key,
    normalize_fact_value,
    normalize_topic,
    split_rank_key,
    topic_title,
)

# Every code point, halves of characters too; and texts in the form of keys.
ANY = st.one_of(
    st.text(),
    st.text(st.characters()),
    st.text(st.characters(categories=("Cs", "Mn", "Mc", "Me", "Cf", "Cc", "Sk", "Lm", "Nl", "So"))),
    st.text("абвгсеоrcyptoαριmν._ #+&%'", max_size=30),
    st.lists(
        st.sampled_from(
            (
                *("user", "favorites", "favourite", "my", "of", "movies", "movie", "crypto"),
                *("currency", "7", "007", "1001", "0", ".", "..", "_", " ", "cookies", "bus"),
                *("glasses", "é", "C#"),
            )
        )
    ).map("".join),
    st.lists(
        st.sampled_from(["user", "favorites", "science fiction", "movies", "3", "of", "x"])
    ).map(".".join),
)


def is_segment(text: str) -> bool:
    """Say whether a text is words of letters, marks and digits, joined by one `_` each."""
    return all(
        word
        and all(unicodedata.category(char)[0] in "LMN" for char in word)
        and unicodedata.category(word[0])[0] != "M"
        for word in text.split("_")
    )


@given(ANY)
@example("⒈")
@example("İ")
@example("\ud800")
@example("ß.ŉ.ﬁ")
@example("x" * 10_000)
@example("user.favorites." + "office of " * 100)
@example("user.favorites." + "а" * 500)
def test_any_text_becomes_a_valid_key_that_stays_as_it_is(text: str) -> None:
    """Seed 004, normalisers: any Unicode in, valid key out, idempotent, never throws."""
    key, warning = normalize_fact_key(text)
    assert key
    assert all(map(is_segment, key.split(".")))
    assert len(key) <= policy.KEY_CHARS
    assert normalize_fact_key(key) == (key, None)
    assert warning is None or warning
    assert key.encode()  # no half characters


@given(ANY)
def test_below_favorites_there_is_one_topic_and_one_rank(text: str) -> None:
    """Seed 004, schema lock: `user.favorites.<topic>.<rank>`, whatever was typed."""
    for key in (
        normalize_fact_key(f"user.favorites.{text}")[0],
        normalize_fact_key(f"User.Favourites.{text}.7")[0],
        canonical_list_key(text),
        canonical_rank_key(text, 3),
    ):
        segments = key.split(".")
        assert segments[:2] == ["user", "favorites"]
        assert len(segments) <= 4
        if len(segments) == 4:
            assert 1 <= int(segments[3]) <= policy.MAX_RANK
            assert str(int(segments[3])) == segments[3]
        assert len(key) <= policy.KEY_CHARS


@given(ANY, st.integers())
def test_the_topic_of_a_key_is_found_again(text: str, rank: int) -> None:
    """Seed 004, normalisers: extract_topic_from_list_key undoes canonical_list_key."""
    list_key = canonical_list_key(text)
    topic = extract_topic_from_list_key(list_key)
    assert topic is not None
    assert len(topic) <= TOPIC_CHARS
    assert canonical_list_key(topic) == list_key
    assert canonical_list_key(list_key) == list_key
    rank_key = canonical_rank_key(text, rank)
    assert extract_topic_from_list_key(rank_key) == topic
    found = split_rank_key(rank_key)
    assert found == (list_key, max(1, min(rank, policy.MAX_RANK)))
    assert canonical_key(rank_key) == list_key


@given(ANY)
def test_a_topic_stays_as_it_is(text: str) -> None:
    topic, _ = normalize_topic(text)
    assert normalize_topic(topic) == (topic, None)
    assert (topic == UNNAMED) or names_something(text)
    assert normalize_topic(topic_title(topic))[0] == topic


@given(ANY, st.booleans())
@example("1. 1. - BTC", True)
@example('"“BTC”"', False)
@example("\u200d", True)
@example("a" * 5_000, True)
@example(("ab " * 3_000), True)
@example("e\u200b\u0301", False)
def test_any_text_becomes_a_value_that_stays_as_it_is(text: str, ranked: bool) -> None:
    """Seed 004, normalisers: values too are total and idempotent."""
    value, warning = normalize_fact_value(text, ranked)
    assert len(value) <= policy.VALUE_CHARS
    assert value == " ".join(value.split())
    assert normalize_fact_value(value, ranked) == (value, None if value else "the value is empty")
    assert value or warning
    assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in value)


@given(ANY)
def test_items_are_parts_of_the_text_in_their_order(text: str) -> None:
    last = 0
    for item in spoken_items(text):
        assert last <= item.start < item.end <= len(text)
        assert text[item.start : item.end].strip() == text[item.start : item.end]
        last = item.end
    assert split_spoken_list(text) == [text[i.start : i.end] for i in spoken_items(text)]


@given(st.text("abcdefghijklmnopqrstuvwxyzs", max_size=12))
def test_a_noun_has_one_form(word: str) -> None:
    assert counted(counted(word)) == counted(word)


def test_topics_that_differ_by_a_sign_stay_apart() -> None:
    topics = ["C", "C++", "C#", "F#", "й", "и", "100% wool", "100 wool", "🍕", "🍔", "が", "か"]
    assert len({normalize_topic(topic)[0] for topic in topics}) == len(topics)


def test_a_long_topic_is_cut_and_stays_apart() -> None:
    one, other = (normalize_topic("long " * 2_000 + end) for end in ("a", "b"))
    assert one[0] != other[0]
    assert len(one[0]) == len(other[0]) == TOPIC_CHARS
    assert one[1] == "the topic was cut at 160 characters"


def test_a_word_of_mixed_scripts_is_read_by_its_looks() -> None:
    assert normalize_topic("сrурtо") == ("crypto", "a word of mixed scripts was read as 'crypto'")
    assert normalize_topic("ВTC") == ("btc", "a word of mixed scripts was read as 'btc'")
    assert normalize_topic("сор")[0] == "сор"  # all Cyrillic: a word of its own


@pytest.mark.parametrize("text", ["", " ", "...", "\u200b", "\ud800", "—", "\x00", "_", "‼️"])
def test_what_names_nothing_is_told(text: str) -> None:
    assert not names_something(text)
    topic, warning = normalize_topic(text)
    assert topic == UNNAMED
    assert warning
    assert canonical_list_key(text) == f"{FAVORITES}.{UNNAMED}"


def test_dots_below_favorites_become_part_of_the_topic() -> None:
    key, warning = normalize_fact_key("user.favorites.node.js.1")
    assert key == "user.favorites.node_js.1"
    assert warning == "what stands below user.favorites is one topic, so it became 'node_js'"


def test_the_topic_of_a_list_is_told_by_segments() -> None:
    assert extract_topic_from_list_key("user.favorites.crypto") == "crypto"
    assert extract_topic_from_list_key("user.favorites.crypto.1") == "crypto"
    assert extract_topic_from_list_key("user.favorites") is None
    assert extract_topic_from_list_key("user.favoritesx.crypto") is None
    assert extract_topic_from_list_key("user.timezone") is None


def test_the_ranks_of_a_list_count_as_one_key() -> None:
    """Seed 004, acceptance test 5: `Facts-R(1)` for a list of n ranks."""
    keys = [f"user.favorites.crypto.{rank}" for rank in range(1, 8)]
    assert canonical_keys([*keys, "user.timezone", "user.favorites.crypto"]) == (
        "user.favorites.crypto",
        "user.timezone",
    )


def test_a_value_says_what_was_taken_out_of_it() -> None:
    hidden = "characters that cannot be seen were taken out of the value"
    assert normalize_fact_value("B\u202eTC\x00", True) == ("BTC", hidden)
    assert normalize_fact_value("a" * 3_000, False)[1] == "the value was cut at 2000 characters"
    assert normalize_fact_value(" \n", True) == ("", "the value is empty")


def test_equal_values_differ_in_case_and_blanks_only() -> None:
    assert fold_value(" Navy   BLUE") == fold_value("navy blue")
    assert fold_value("Straße") == fold_value("STRASSE")
    assert fold_value("navy blue") != fold_value("navyblue")


def test_numbers_before_items_are_kept() -> None:
    assert [item.rank for item in spoken_items("2. Dune\n5. Alien")] == [2, 5]
    assert [item.rank for item in spoken_items("#1 BTC, #2 ETH")] == [1, 2]
    assert [item.rank for item in spoken_items("Dune, Alien")] == [None, None]


def test_the_number_of_a_noun_is_told() -> None:
    assert is_plural("movies")
    assert is_plural("cryptos")
    assert not is_plural("movie")
    assert not is_plural("series")
