"""Hold many rows to one check inside one test, which names every row that does not hold.

`@every("line", LINES)` reads as `@pytest.mark.parametrize("line", LINES)` does, and several may
stand above each other; but a thousand rows are one test to collect, to schedule and to report.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import pytest

Check: TypeAlias = Callable[..., None]
_SHOWN = 20  # rows that do not hold, in full


class NotHeld(AssertionError):
    """What rows do not hold, and why."""

    def __init__(self, failures: Sequence[tuple[dict[str, Any], Exception]]) -> None:
        self.failures = failures
        shown = [f"{row!r}\n{type(why).__name__}: {why}" for row, why in failures[:_SHOWN]]
        super().__init__(f"{len(failures)} rows do not hold\n" + "\n\n".join(shown))


def every(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Check], Check]:
    """Call a test with each of the rows, and fail with all that do not hold.

    One name takes each row as it is, several names take the parts of a row. What else the test asks
    for is given by pytest, once for all rows.
    """
    keys = [names] if isinstance(names, str) else list(names)
    kept = list(rows)

    def around(check: Check) -> Check:
        @functools.wraps(check)
        def test(**given: Any) -> None:
            failures: list[tuple[dict[str, Any], Exception]] = []
            held = 0
            for row in kept:
                named = dict(zip(keys, [row] if isinstance(names, str) else row, strict=True))
                try:
                    check(**given, **named)
                    held += 1
                except pytest.skip.Exception as error:
                    skipped = error
                except NotHeld as error:
                    failures += [({**named, **inner}, why) for inner, why in error.failures]
                except Exception as error:  # noqa: BLE001 - whatever it is, its row is named
                    failures.append((named, error))
            assert kept
            if failures:
                raise NotHeld(failures) from failures[0][1]
            if not held:  # a row may be skipped, and not all of them unnoticed
                raise skipped

        signature = inspect.signature(check)
        asked = [one for one in signature.parameters.values() if one.name not in keys]
        test.__signature__ = signature.replace(parameters=asked)  # type: ignore[attr-defined]
        return test

    return around
