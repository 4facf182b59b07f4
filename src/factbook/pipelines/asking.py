"""What a failed call of a model means for the inputs that it was about, and for those after it.

A failure that is the endpoint's (it refuses the key, is busy, is not there, says nothing at all)
says nothing of an input: it is no try of it, and the next call would fail alike.
"""

from __future__ import annotations

from factbook.errors import ModelError, ModelFailure


def is_endpoints(error: ModelError, *, answered: bool) -> bool:
    """Tell whether a failure is the endpoint's and not that of what was asked.

    `answered`: another call of the same pass came back, so that an endpoint that says nothing is
    there, and this input is what it takes too long for.
    """
    return error.endpoint and not (answered and error.kind is ModelFailure.TIMEOUT)


def was_sent(error: ModelError) -> bool:
    """Tell whether a call was made at all."""
    return error.kind not in (ModelFailure.NOT_CONFIGURED, ModelFailure.OVER_BUDGET)


def wait_ms(error: ModelError) -> int:
    """Return how long the endpoint asks to be left alone, in milliseconds."""
    return int(error.wait_s * 1000)
