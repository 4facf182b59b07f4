"""Stems of words, in any thread."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from factbook.language.words import stem

WORDS = [f"{head}{tail}" for head in ("nation", "relat", "hop", "gener") for tail in (
    "al", "ally", "ing", "ed", "ization", "ional", "ionally", "fulness", "iveness", "ousness",
    "ements", "ably", "ities", "izers", "ators", "ingly", "edly", "liness", "abilities", "est",
)]  # fmt: skip


@pytest.fixture
def eager() -> Iterator[None]:
    """Let threads change places after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("eager")
def test_threads_do_not_spoil_one_anothers_words() -> None:
    bare = stem.__wrapped__  # without what is remembered
    alone = [bare(word) for word in WORDS]
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: [bare(word) for word in WORDS], range(40)):
            assert found == alone
