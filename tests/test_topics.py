"""What a request is about, and what it asks (seed 003, without a model)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factbook import policy
from factbook.extract.topics import asks_of, learn_queries, named_topic, request_of, topic_of


@pytest.mark.parametrize(
    ("request_", "topic"),
    [
        ("find me stuff about speakers", "speakers"),  # seed 003's own
        ("kef ls50 meta reviews", "kef ls50 meta"),
        ("search for LS50 Meta reviews", "LS50 Meta"),
        ("ai conferences in europe", "ai conferences in europe"),
        ("What about the LS50's bass response?", "LS50's bass response"),
        ("can you please look up the best espresso machines for me?", "espresso machines"),
        ("what is a monad", "monad"),
        ("any news on Elden Ring?", "Elden Ring"),
        ("I want to learn about sourdough", "sourdough"),
        ("google wharfedale denton 85 thanks", "wharfedale denton 85"),
        ("what's new with KEF", "KEF"),
        ("is the LS50 Meta any good?", "LS50 Meta"),
        ("  espresso  ", "espresso"),
        ("look up", "look up"),
        ("", ""),
        ("???", ""),
    ],
)
def test_the_topic_of_a_request(request_: str, topic: str) -> None:
    span = topic_of(request_)
    assert span.topic == topic
    assert request_[span.start : span.end] == topic


@pytest.mark.parametrize(
    ("request_", "topic"),
    [
        ("what is the price of the LS50 Meta?", "LS50 Meta"),
        ("kef ls50 meta price", "kef ls50 meta"),
        ("LS50 Meta problems and fixes", "LS50 Meta problems and fixes"),
        ("best espresso machines under 500 euros", "espresso machines"),
        ("who designed the LS50 Meta?", "LS50 Meta"),
        ("how much does the LS50 Meta cost", "LS50 Meta"),
        ("the history of jazz", "jazz"),
        ("The Price of Salt", "Price of Salt"),
        ("gas prices", "gas prices"),
        ("best practices", "best practices"),
        ("LS50 Meta vs Denton 85", "LS50 Meta"),
        ("Wharfedale Denton Reviews", "Wharfedale Denton"),
        ("The Price Guide", "Price Guide"),
        ("is there any news about the Voyager probes?", "Voyager probes"),
        ("the pros and cons of heat pumps", "heat pumps"),
        ("how do I clean my Moka pot", "Moka pot"),
        ("when does the Rijksmuseum open?", "Rijksmuseum"),
        ("opening hours of the Rijksmuseum", "Rijksmuseum"),
        ("find me something like Stardew Valley", "Stardew Valley"),
        ("compare Obsidian and Logseq", "Obsidian"),
        ("differences between Obsidian and Logseq", "Obsidian"),
        ("cheap tents under 200 euros", "tents"),
        ("sourdough for beginners", "sourdough"),
        ("Top Gun", "Top Gun"),
        ("code review", "code review"),
        ('look up "problems with eden"', "problems with eden"),
    ],
)
def test_what_is_asked_of_a_thing_is_not_its_name(request_: str, topic: str) -> None:
    assert topic_of(request_).topic == topic


@pytest.mark.parametrize(
    ("request_", "asks", "topic"),
    [
        ("can you look up the LS50 Meta reviews?", "LS50 Meta reviews", "LS50 Meta"),
        ("find me the price of the LS50 Meta", "price of the LS50 Meta", "LS50 Meta"),
        ("please google Denton 85 problems", "Denton 85 problems", "Denton 85"),
        ("search for jazz", "jazz", "jazz"),
    ],
)
def test_a_search_asks_for_what_was_asked_of_the_thing(
    request_: str, asks: str, topic: str
) -> None:
    assert request_of(request_).topic == asks
    assert topic_of(request_).topic == topic


@pytest.mark.parametrize(
    ("request_", "topic"),
    [
        ("what is the LS50 Meta?", "LS50 Meta"),
        ("the LS50's bass", "LS50"),
        ("why do people snore", None),
        ("restaurants in Porto", None),
        ("why is my bread so flat", None),
        ("how do I descale a kettle", None),
        ("how do I descale my Gaggia Classic", "Gaggia Classic"),
        ("does the Denton 85 need a subwoofer?", "Denton 85"),
        ("What We Do in the Shadows", "What We Do in the Shadows"),
        ("", None),
    ],
)
def test_a_request_names_a_thing_or_only_says_something(request_: str, topic: str | None) -> None:
    span = named_topic(request_)
    assert (span.topic if span else None) == topic


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None)
def test_every_request_has_a_topic_that_stands_in_it(request_: str) -> None:
    span = topic_of(request_)
    assert request_[span.start : span.end] == span.topic


def test_learn_makes_its_queries_by_fixed_patterns() -> None:
    """Seed 003: 3-5 queries; without a model, topic, what is, latest, compared with, how to."""
    assert learn_queries("kef ls50 meta") == [
        "kef ls50 meta",
        "what is kef ls50 meta",
        "latest news about kef ls50 meta",
        "kef ls50 meta compared with alternatives",
        "how to get started with kef ls50 meta",
    ]
    assert learn_queries("speakers")[1] == "what are speakers"


@given(st.text(min_size=1, max_size=80).filter(lambda text: text.strip(" ?!.,;:\n\t\r\f\v")))
@settings(max_examples=100, deadline=None)
def test_learn_makes_three_to_five_different_queries(topic: str) -> None:
    try:
        queries = learn_queries(topic)
    except ValueError:
        assert not " ".join(topic.split()).strip(" ?!.,;:")
        return
    assert policy.LEARN_QUERIES[0] <= len(queries) <= policy.LEARN_QUERIES[1]
    assert len(set(queries)) == len(queries)


def test_an_empty_topic_is_said_to_be_one() -> None:
    with pytest.raises(ValueError, match="the topic to learn is empty; say what it is"):
        learn_queries(" ?! ")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("trailer", True),
        ("Soundtrack", True),
        ("release date", True),
        ("Book", True),
        ("Messiah", False),
        ("Watch", False),
        ("2049", False),
        ("", False),
    ],
)
def test_words_behind_a_name_ask_of_it_or_belong_to_it(words: str, expected: bool) -> None:
    assert asks_of(words) is expected


@pytest.mark.parametrize(
    "piece",
    [
        "so ", "the price of ", "best ", "what is ", "find me ", "reviews ", "stuff about ", "a, ",
        "how do i ", "like ", "vs ", '"a ', "of ", "and ", "?", " ", "\n", "can you ", "more ",
    ],
)  # fmt: skip
def test_no_request_takes_long(piece: str) -> None:
    request = piece * (60_000 // len(piece))
    begin = time.process_time()
    topic_of(request)
    request_of(request)
    named_topic(request)
    assert time.process_time() - begin < 8  # a text made to be slow would take minutes


@pytest.mark.parametrize(
    ("request_", "topic"),
    [
        ("find me three speakers", "speakers"),
        ("find me three good speakers", "speakers"),
        ("find me Nine Lanterns", "Nine Lanterns"),
        ("tell me about nine inch nails", "nine inch nails"),
        ("WHAT IS THE PRICE OF THE MIKO FOLD S???", "MIKO FOLD S"),
    ],
)
def test_counts_and_capitals_of_a_request(request_: str, topic: str) -> None:
    assert topic_of(request_).topic == topic
