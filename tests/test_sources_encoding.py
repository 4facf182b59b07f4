"""Files that are not in UTF-8: read, or said to be what they are; never a reason to stop."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chats import turn
from factbook.memory import Memory
from factbook.sources.encoding import GUESSED, INVALID, UNMARKED, decoded, open_utf8, utf8
from factbook.store.derived.counts import row_counts
from factbook.testing import FrozenClock
from session_logs import claude, tool_use

SAID = "Das Café in Göteborg führt “Müsli” für 5 €."  # all of it stands in Windows-1252
COMMAND = "echo naïve façade Übung"

ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "utf-8": lambda text: text.encode(),
    "utf-8 with its mark": lambda text: text.encode("utf-8-sig"),
    "utf-16 le": lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
    "utf-16 be": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "utf-32": lambda text: text.encode("utf-32"),
    "utf-16 le without its mark": lambda text: text.encode("utf-16-le"),
    "utf-16 be without its mark": lambda text: text.encode("utf-16-be"),
    "windows-1252": lambda text: text.encode("cp1252"),
}


def log() -> str:
    """A log of an agent, one record a line."""
    records = (
        claude("user", SAID, "u1"),
        claude("assistant", [tool_use("Bash", {"command": COMMAND})], "u2"),
    )
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def chat() -> str:
    """A log of messages, one a line."""
    turns = (turn("user", SAID, id="1"), turn("assistant", f"Ja: {SAID}", id="2"))
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in turns)


def document() -> str:
    """A chat that is one document over several lines."""
    messages = [turn("user", SAID), turn("assistant", "Schön.")]
    return json.dumps({"messages": messages}, ensure_ascii=False, indent=1)


def note() -> str:
    """A note with two paragraphs."""
    return f"# Über uns\n\n{SAID}\n\nDas Brot für die Gäste ist aus Småland.\n"


FILES = {"log.jsonl": log, "chat.jsonl": chat, "chat.json": document, "note.md": note}


def read(folder: Path, data: bytes, name: str) -> tuple[list[object], dict[str, int], list[str]]:
    """Return (texts, what was mended, the lines that facts came from) of a file."""
    folder.mkdir()
    path = folder / name
    path.write_bytes(data)
    with Memory(
        folder / "m.db", clock=FrozenClock(), key_file=folder / "key", model=None
    ) as memory:
        report = memory.ingest([path])
        assert [one.state for one in report.files] == ["new"]
        texts = [one["text"] for one in memory.export() if one["record"] == "episode"]
        shown = [
            original.text
            for fact in memory.query_facts()
            for original in memory.explain(fact.id).originals
        ]
        assert memory.check() == []
        assert [one.state for one in memory.ingest([path]).files] == ["unchanged"]
        return texts, dict(report.lines.repaired), shown


@pytest.mark.parametrize("name", FILES)
def test_a_file_says_the_same_in_every_encoding(tmp_path: Path, name: str) -> None:
    text = FILES[name]()
    expected, mended, shown = read(tmp_path / "plain", text.encode(), name)
    assert mended == {}
    assert any(SAID in str(one) for one in expected)
    for encoding, encode in ENCODINGS.items():
        found, mended, originals = read(tmp_path / encoding, encode(text), name)
        assert found == expected, encoding
        assert originals == shown, encoding
        guess = {GUESSED} if encoding == "windows-1252" else set()
        assert set(mended) == ({UNMARKED} if "without" in encoding else guess)


@pytest.mark.parametrize("mark", [b"\xff\xfe", b""])
def test_a_log_in_utf16_grows(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "log.jsonl"
    whole = mark + log().encode("utf-16-le")
    first = len(mark) + 2 * log().index("\n") + 2
    with Memory(
        tmp_path / "m.db", clock=FrozenClock(), key_file=tmp_path / "key", model=None
    ) as memory:
        for end in (first, first + 31, len(whole)):  # also in the middle of a character
            path.write_bytes(whole[:end])
            memory.ingest([path])
        assert memory.query_facts(predicate="executed_command")[0].object == COMMAND
        assert row_counts(memory.store)["episodes"] == 2
        assert memory.check() == []


@pytest.mark.parametrize("bad", [b"\xff\xfe\xfd\xfc", "Привет".encode("cp1251"), b"\xe2\x82"])
def test_one_line_that_cannot_be_read_stops_no_file(tmp_path: Path, bad: bytes) -> None:
    lines = log().encode().splitlines(keepends=True)
    broken = lines[0].replace(SAID.encode(), b"vor " + bad + b" nach").replace(b"u1", b"u3")
    texts, mended, _ = read(tmp_path / "x", b"".join([lines[0], broken, lines[1]]), "log.jsonl")
    assert mended == {INVALID: 1}
    assert SAID in texts
    assert any("vor \ufffd" in str(one) for one in texts)
    assert any(COMMAND in str(one) for one in texts)


@given(st.binary(max_size=60) | st.text(max_size=30).map(lambda text: text.encode("utf-16")))
def test_any_bytes_are_text(data: bytes) -> None:
    text, how = decoded(data)
    text.encode()
    utf8(data).decode()
    assert how in ("", GUESSED, INVALID)
    assert how or text.encode() == data


@given(st.text(max_size=40))
def test_what_says_what_it_is_loses_nothing(text: str) -> None:
    # A mark and a NUL are the mark of UTF-32, and no text begins so.
    plain = text.encode("utf-8", "replace").decode().lstrip("\x00")
    for encode in list(ENCODINGS.values())[2:5]:
        assert utf8(encode(plain)).decode() == plain
    if not plain.startswith("\ufeff"):
        assert decoded(plain.encode()) == (plain, "")


LETTERS = st.characters(categories=("L", "N", "P", "S"), exclude_characters="\ufeff")
SCRIPTS = st.sampled_from([(0x41, 0x17F), (0x391, 0x3C9), (0x410, 0x44F), (0x5D0, 0x5EA)]) | (
    st.sampled_from([(0x627, 0x64A), (0x915, 0x939), (0x4E00, 0x9FA5), (0x1F600, 0x1F64F)])
)
OF_ONE_SCRIPT = SCRIPTS.flatmap(
    lambda ends: st.characters(
        min_codepoint=ends[0], max_codepoint=ends[1], categories=("L", "N", "S")
    )
)


@given(
    st.lists(st.text(LETTERS | OF_ONE_SCRIPT, min_size=1, max_size=10), min_size=2, max_size=80),
    st.sampled_from([" ", "\n", ", ", ".\r\n"]),
)
def test_utf16_needs_no_mark(words: list[str], between: str) -> None:
    text = between.join(words) + "\n"
    for order in ("utf-16-le", "utf-16-be"):
        assert utf8(text.encode(order)).decode() == text


@given(st.text(LETTERS | OF_ONE_SCRIPT | st.just("\x00"), max_size=80), st.integers(2, 40))
def test_zeros_that_a_crash_left_make_no_utf16(text: str, zeros: int) -> None:
    data = text.replace("\x00", "").encode() + b"\x00" * zeros
    assert utf8(data) == data


def test_what_is_too_large_to_be_held_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from factbook.errors import PathUnreadable
    from factbook.sources import encoding

    monkeypatch.setattr(encoding, "_WIDE_BYTES", 10)
    path = tmp_path / "log.jsonl"
    path.write_bytes(log().encode("utf-16"))
    with pytest.raises(PathUnreadable, match="UTF-16 text; save it as UTF-8"):
        open_utf8(path)
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", model=None) as memory:
        (file,) = memory.ingest([path]).files
        assert (file.state, "save it as UTF-8" in file.error) == ("failed", True)
