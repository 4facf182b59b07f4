"""Values that are made quickly are the values that the class itself makes."""

from __future__ import annotations

import dataclasses
import pickle
from dataclasses import dataclass, field

import pytest

from factbook.model import fast_dataclass
from factbook.model.facts import Candidate, Episode, EpisodeKind, Role, Trust

_GIVEN = {
    "uid": "u1",
    "source": "file:/logs/a.jsonl",
    "kind": EpisodeKind.PROMPT,
    "role": Role.USER,
    "trust": Trust.DIRECT,
    "text": "deploy it",
    "position": 3,
    "offset": 120,
}


def test_a_value_made_quickly_is_one_of_its_class() -> None:
    quick, slow = fast_dataclass.by_name(Episode)(**_GIVEN), Episode(**_GIVEN)  # type: ignore[arg-type]
    assert type(quick) is Episode
    assert quick == slow
    assert repr(quick) == repr(slow)
    assert dataclasses.replace(quick, text="no") == dataclasses.replace(slow, text="no")
    assert pickle.loads(pickle.dumps(quick)) == slow


def test_it_is_as_frozen_as_the_others() -> None:
    quick = fast_dataclass.by_name(Episode)(**_GIVEN)  # type: ignore[arg-type]
    with pytest.raises(dataclasses.FrozenInstanceError):
        quick.text = "another"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        object.__setattr__(quick, "mood", "good")


def test_defaults_are_made_anew_for_each() -> None:
    make = fast_dataclass.by_name(Episode)
    one, other = make(**_GIVEN), make(**_GIVEN)  # type: ignore[arg-type]
    assert one.attributes == {}
    assert one.attributes is not other.attributes


def test_what_the_class_refuses_is_refused() -> None:
    with pytest.raises(TypeError, match="mood"):
        fast_dataclass.by_name(Episode)(**_GIVEN, mood="good")  # type: ignore[call-arg, arg-type]
    with pytest.raises(TypeError, match="uid"):
        fast_dataclass.by_name(Episode)(text="x")  # type: ignore[call-arg]


def test_by_place_takes_the_fields_in_order_and_the_named_ones_last() -> None:
    slow = Episode(**_GIVEN)  # type: ignore[arg-type]
    names = [one.name for one in dataclasses.fields(Episode) if one.name != "kind"]
    row = [getattr(slow, name) for name in names]
    assert fast_dataclass.by_place(Episode, without=("kind",))(*row, EpisodeKind.PROMPT) == slow
    whole = [getattr(slow, one.name) for one in dataclasses.fields(Episode)]
    assert fast_dataclass.by_place(Episode)(*whole) == slow


def test_a_class_that_checks_its_fields_is_refused() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Checked:
        size: int = field(default=0)

        def __post_init__(self) -> None:
            raise ValueError("never made")

    with pytest.raises(TypeError, match="Checked"):
        fast_dataclass.by_name(Checked)


@pytest.mark.parametrize("kind", [Episode, Candidate])
def test_the_values_of_the_log_readers_check_nothing(kind: type) -> None:
    """They are made through drafts, which would pass over a check."""
    assert not hasattr(kind, "__post_init__")
