"""Rows inside one test are each held, and each is named that does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from rows import NotHeld, every


@every("number", [1, 2])
@every(("sign", "side"), [("+", "left"), ("-", "right")])
def test_what_else_a_test_asks_for_is_given(
    tmp_path: Path, number: int, sign: str, side: str
) -> None:
    marks = tmp_path / "marks"
    with marks.open("a", encoding="utf-8") as file:
        file.write(f"{number}{sign}{side} ")
    last = (number, sign) == (2, "-")
    assert not last or marks.read_text("utf-8") == "1+left 1-right 2+left 2-right "


def test_every_row_that_does_not_hold_is_named() -> None:
    @every("number", [1, 2, 3])
    @every("other", "ab")
    def check(number: int, other: str) -> None:
        if (number, other) == (3, "b"):
            raise KeyError("gone")
        assert number != 1, f"{number} is one"

    with pytest.raises(NotHeld) as caught:
        check()
    said = str(caught.value)
    assert said.startswith("3 rows do not hold\n")
    for row in ("{'number': 1, 'other': 'a'}", "{'number': 1, 'other': 'b'}"):
        assert f"{row}\nAssertionError: 1 is one" in said
    assert "{'number': 3, 'other': 'b'}\nKeyError: 'gone'" in said


def test_a_check_without_rows_is_no_check() -> None:
    with pytest.raises(AssertionError):
        every("number", [])(lambda number: None)()


def test_a_row_may_be_skipped_and_not_all_of_them() -> None:
    seen = []

    def check(number: int) -> None:
        if number > 1:
            pytest.skip(f"{number} is too many")
        seen.append(number)

    every("number", [2, 1, 3, 0])(check)()
    assert seen == [1, 0]
    with pytest.raises(pytest.skip.Exception, match="3 is too many"):
        every("number", [2, 3])(check)()
