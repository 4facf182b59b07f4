"""What a layer was trained to tell is what the reader tells with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from factbook.language.reader.layer import PLACES, Layer, Seen

pytest.importorskip("sklearn")

SCRIPTS = Path(__file__).parent.parent / "scripts"


@pytest.fixture(scope="module", autouse=True)
def scripts() -> Iterator[None]:
    """Let the folder of scripts be imported from."""
    sys.path.insert(0, str(SCRIPTS))
    yield
    sys.path.remove(str(SCRIPTS))


def seen(number: int, rng: np.random.Generator) -> Seen:
    """Return something whose answer, `number % 3`, stands in its first number and its signs."""
    answer = number % 3
    row = rng.normal(size=4).astype(np.float32)
    row[0] += 2 * answer
    words = sorted({answer * 7, 100 + int(rng.integers(5)), 200 + int(rng.integers(50))})
    letters = [] if number % 4 == 0 else [PLACES - 1 - answer]  # of this kind some have none
    return Seen(row, (words, letters))


@pytest.mark.parametrize("answers", [2, 3])
def test_a_layer_tells_what_it_was_trained_to(answers: int) -> None:
    from reader.layers import Learned, learned

    rng = np.random.default_rng(3)
    some = [seen(n, rng) for n in range(600)]
    right = [min(n % 3, answers - 1) for n in range(600)]
    parts = [
        (1.0, Learned(some[:300], right[:300])),
        (0.5, Learned(some[300:], right[300:])),
    ]
    layer = Layer(learned(parts, ridge=1.0, steps=200))
    told = np.array([layer.chances(one) for one in some])
    assert told.shape == (600, answers - 1)
    whole = np.column_stack([1 - told.sum(1), told])
    assert (whole.argmax(1) == right).mean() > 0.95
    # Logistic regression without a penalty on its bias is calibrated on what it learned from.
    weights = np.repeat([1.0, 0.5], 300)
    shares = np.array([weights[np.array(right) == n].sum() for n in range(answers)])
    assert np.allclose((whole * weights[:, None]).sum(0), shares, rtol=0.02)


def test_what_weighs_nothing_teaches_nothing() -> None:
    from reader.layers import Learned, learned

    rng = np.random.default_rng(4)
    some = [seen(n, rng) for n in range(300)]
    right = [n % 3 > 0 for n in range(300)]
    once = learned([(1.0, Learned(some, right))], ridge=1.0, steps=200)
    wrong = Learned(some, [not one for one in right])
    both = learned([(1.0, Learned(some, right)), (0.0, wrong)], ridge=1.0, steps=200)
    assert np.allclose(once["rows"], both["rows"], atol=1e-2)
