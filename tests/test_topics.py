"""What a request is about, and what it asks (seed 003, without a model)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factbook import policy
from factbook.extract.topics import learn_queries, named_topic, request_of, topic_of
from rows import every


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


@every(
    "piece",
    [
        "so ", "the price of ", "best ", "what is ", "find me ", "reviews ", "stuff about ", "a, ",
        "how do i ", "like ", "vs ", '"a ', "of ", "and ", "?", " ", "\n", "can you ", "more ",
    ],
)  # fmt: skip
def test_no_request_takes_long(piece: str) -> None:
    request = piece * (16_000 // len(piece))
    begin = time.process_time()
    topic_of(request)
    request_of(request)
    named_topic(request)
    assert time.process_time() - begin < 3  # a text made to be slow would take minutes
