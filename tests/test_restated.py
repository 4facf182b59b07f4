"""Whether two sentences about one thing say the same in other words."""

from __future__ import annotations

import time

import pytest

from factbook.gate.restated import restates


@pytest.mark.parametrize("piece", ["of 3 ", "a of ", "the osk's ", "one ", "is ", " ", "1.", "a-"])
def test_no_sentence_takes_long(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    begin = time.process_time()
    restates("osk", text, f"The Osk {text}")
    assert time.process_time() - begin < 8
