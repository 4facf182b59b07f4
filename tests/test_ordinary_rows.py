"""The labelled rows of ordinary English are what their README says."""

import json
import lzma
from collections.abc import Iterator
from typing import Any, Final

from bench.ordinary import FOLDER, places_of
from tests.rows import every

from factbook.language.reader import labels

SETS: Final = (
    *("chats", "pairs", "opinions", "names", "prompts", "voices"),
    *("claims", "talk", "questions", "reports", "people", "types"),
)
PARTS: Final = ("train", "tune", "held")
FIELDS: Final = {"clauses": "q", "opinions": "t", "names": "n", "marks": "q", "about": "n"}
Row = dict[str, Any]


def rows(name: str, part: str) -> Iterator[Row]:
    with lzma.open(FOLDER / f"{name}.{part}.jsonl.xz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def quotes(row: Row) -> list[str]:
    return [one[key] for field, key in FIELDS.items() for one in row.get(field, ())] + row.get(
        "foreign", []
    )


@every("name", SETS)
def test_nobody_who_is_kept_aside_wrote_a_row_to_train_on(name: str) -> None:
    authors = [{row["a"] for row in rows(name, part)} for part in PARTS]
    assert all(authors)
    assert sum(map(len, authors)) == len(set.union(*authors))


@every(("name", "part"), [(name, part) for name in SETS for part in PARTS])
def test_what_is_quoted_stands_in_the_text(name: str, part: str) -> None:
    for row in rows(name, part):
        if "text" in row:
            said = quotes(row)
            places = places_of(row["text"], said)
            assert [row["text"][a:b] for a, b in places] == said, row


@every("part", PARTS)
def test_every_label_is_one_that_the_reader_knows(part: str) -> None:
    for row in rows("chats", part):
        for clause in row["clauses"]:
            assert clause["act"] in labels.ACTS, row
            assert clause["of"] in labels.OWNERS, row
            assert clause["keep"] in (0, 1, None), row
            assert (clause["kind"] in labels.KINDS) is (clause["keep"] == 1), row
            assert set(clause["flags"]) <= set(labels.FLAGS), row
    assert {row["label"] for row in rows("pairs", part)} == set(labels.PAIRS)
    assert {o["s"] for row in rows("opinions", part) for o in row["opinions"]} == set(labels.SIGNS)
    assert {n["k"] for row in rows("names", part) for n in row["names"]} == set(labels.NAME_TYPES)
    marks = [mark for row in rows("prompts", part) for mark in row["marks"]]
    assert {mark["kind"] for mark in marks} == set(labels.MARKS)
    assert {mark["scope"] for mark in marks} == set(labels.SCOPES)
    assert {row["type"] for row in rows("prompts", part)} == set(labels.PROMPT_TYPES)


@every("name", SETS)
def test_a_fifth_or_more_is_kept_aside(name: str) -> None:
    train, _, held = (sum(1 for _ in rows(name, part)) for part in PARTS)
    assert held / (train + held) >= 0.17


def test_what_a_page_says_stands_in_it() -> None:
    authors = []
    for part in ("tune", "held"):
        pages = list(rows("pages", part))
        authors.append({page["a"] for page in pages})
        for page in pages:
            said = page["facts"] + page["others"]
            assert all(quote in page["text"] for quote in said), page["title"]
            assert not set(page["facts"]) & set(page["others"]), page["title"]
    assert not set.intersection(*authors)


@every("part", PARTS)
def test_what_people_tell_changes_and_repeats_what_they_told_before(part: str) -> None:
    for row in rows("people", part):
        pairs = [tuple(pair) for label in ("change", "reword") for pair in row[label]]
        assert row["change"]
        assert len(set(pairs)) == len(pairs), row["a"]
        assert all(0 <= i < j < len(row["said"]) for i, j in pairs), row["a"]
