"""Files of chats and notes: how they are found, read in parts, read back and written."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from chats import (
    CHATS,
    SESSION,
    batches,
    chatgpt,
    claude_ai,
    node,
    read,
    said,
    texts,
    turn,
    uuid,
    write_json,
    write_lines,
    write_zip,
)
from conftest import Cli
from factbook import policy
from factbook.errors import InputError, NoLogsFound, PathMissing, UsageError
from factbook.memory import Memory
from factbook.model.facts import EVERYONE, EpisodeKind, Role, Trust
from factbook.redaction import Redactor
from factbook.sources import notes
from factbook.sources.conversation import document, message_at, reader
from factbook.sources.discover import discover
from factbook.sources.files import NOTE, SUMMARY
from factbook.sources.imports import CHAT, CHATGPT, CLAUDE_AI
from factbook.testing import FrozenClock
from session_logs import NOW, account, claude, rejected

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
REDACTOR = Redactor(key=bytes(range(32)))


def open_memory(folder: Path, name: str = "m.db") -> Memory:
    return Memory(folder / name, clock=FrozenClock(NOW), key_file=folder / "key")


def export(count: int, *, first: int = 0, text: str = "message") -> list[dict[str, object]]:
    """Return conversations of Claude.ai with one message each."""
    return [
        {**claude_ai(said(number, "human", f"{text} {number}")), "uuid": uuid(number, 3)}
        for number in range(first, first + count)
    ]


# --- finding --------------------------------------------------------------------------------------


def test_the_content_tells_what_a_file_is(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write_lines(folder / "a.jsonl", turn("user", "one two"))
    write_json(folder / "b.json", {"messages": [turn("user", "one two")]})
    write_json(folder / "c.json", [chatgpt(node(1, None, "user", "one two"), current=1)])
    write_json(folder / "d.json", export(2))
    write_lines(folder / "e.jsonl", claude("user", "hi"))
    write_zip(folder / "f.dms", {"conversations.json": json.dumps(export(1)).encode()})
    write_zip(folder / "g.zip", {"readme.txt": b"no chats"})
    write_json(folder / "h.json", {"name": "package", "messages": ["a", "b"]})
    write_json(folder / "i.json", [{"from": "ann@example.org", "text": "a mail"}])
    write_json(folder / "j.json", [{"author": "Ann", "text": "a book"}])
    (folder / "README.md").write_text("A text that nobody named.\n")
    found = discover([folder])
    assert [(file.path.name, file.host) for file in found.files] == [
        ("a.jsonl", CHAT),
        ("b.json", CHAT),
        ("c.json", CHATGPT),
        ("d.json", CLAUDE_AI),
        ("e.jsonl", "claude-code"),
        ("f.dms", CLAUDE_AI),
    ]
    why = "not a session log of a known agent, nor a chat in a known form"
    assert [(path.name, reason) for path, reason in found.skipped] == [
        ("h.json", why),
        ("i.json", why),
        ("j.json", why),
    ]


def test_a_long_first_record_is_known_too(tmp_path: Path) -> None:
    long = "word " * 20_000
    for name in ("a.jsonl", "a.json"):
        path = write_lines(tmp_path / name, turn("user", long), turn("assistant", "short"))
        assert [file.host for file in discover([path]).files] == [CHAT]


def test_a_text_is_a_note_only_where_somebody_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.md").write_text("One thing.\n")
    (folder / "sub" / "b.txt").write_text("Another thing.\n")
    write_lines(folder / "c.jsonl", turn("user", "one two"))
    write_lines(tmp_path / "chat.txt", turn("user", "one two"))
    assert [file.path.name for file in discover([folder]).files] == ["c.jsonl"]
    named = discover([folder, folder / "a.md", tmp_path / "chat.txt"])
    assert [(file.path.name, file.host) for file in named.files] == [
        ("c.jsonl", CHAT),
        ("a.md", "notes"),
        ("chat.txt", CHAT),
    ]
    told = discover([folder], kind=NOTE)
    assert [file.path.name for file in told.files] == ["a.md", "b.txt"]
    with pytest.raises(UsageError, match="session_log, conversation, note, summary"):
        discover([folder], kind="poem")
    with pytest.raises(UsageError, match="name the files or folders"):
        discover(kind=NOTE)
    with pytest.raises(PathMissing):
        discover([tmp_path / "gone.md"])
    with pytest.raises(NoLogsFound):
        discover([folder / "sub"])


def test_a_kind_that_is_told_is_believed(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "a.jsonl", {"type": "message", "role": "user", "content": "one two"}
    )
    assert discover([path]).files[0].host == "codex"
    (file,) = discover([path], kind="conversation").files
    assert file.host == CHAT
    assert texts(file.path) == ["one two"]
    assert [one.host for one in discover([path], kind="session_log").files] == ["codex"]


# --- documents of any size ------------------------------------------------------------------------


def test_a_document_is_read_in_parts_and_every_part_says_how_far_it_came(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.json", export(60, text="word " * 20_000))
    found = batches(path, host=CLAUDE_AI, batch_bytes=2 * 1024 * 1024)
    assert len(found) >= 3
    assert sum(len(batch.episodes) for batch in found) == 60
    offsets = [batch.cursor.offset for batch in found]
    assert offsets == sorted(offsets)
    assert offsets[-1] == path.stat().st_size == sum(batch.read_bytes for batch in found)
    assert all(batch.cursor.size < path.stat().st_size for batch in found[:-1])
    assert batches(path, host=CLAUDE_AI, cursor=found[-1].cursor) == []
    # A run that was killed begins anew, and counts anew.
    again = batches(path, host=CLAUDE_AI, cursor=found[0].cursor)
    assert again[0].restart
    assert sum(len(batch.episodes) for batch in again) == 60


def test_a_broken_conversation_does_not_stop_the_others(tmp_path: Path) -> None:
    data = json.dumps(export(5)).encode()
    begin = data.index(b'"message 2"')
    for broken in (b'"message 2', b"{[:", b'"mess\xffage 2"', b"nothing"):
        path = tmp_path / "a.json"
        path.write_bytes(data[:begin] + broken + data[begin + len(b'"message 2"') :])
        found, lines = read(path, host=CLAUDE_AI)
        said = [one.text for one in found]
        assert [text for text in said if "2" not in text] == [f"message {n}" for n in (0, 1, 3, 4)]
        if broken[:5] != b'"mess':
            assert lines.rejected == {"not_json": 1}
            assert len(found) == 4


def test_a_document_that_breaks_off_keeps_what_was_whole(tmp_path: Path) -> None:
    data = json.dumps(export(5)).encode()
    path = tmp_path / "a.json"
    for end in range(len(data) * 3 // 5, len(data), 37):
        path.write_bytes(data[:end])
        found, lines = read(path, host=CLAUDE_AI)
        whole = data[:end].count(b"}]}")
        assert len(found) == whole
        assert lines.rejected == {"not_json": 1}


def test_values_over_the_limit_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "MAX_LINE_BYTES", 3 * 1024 * 1024)
    one, two, three = export(3)
    two["summary"] = "x" * 8 * 1024 * 1024
    path = write_json(tmp_path / "a.json", [one, two, three])
    found, lines = read(path, host=CLAUDE_AI)
    assert [one.text for one in found] == ["message 0", "message 2"]
    assert lines.rejected == {"too_long": 1}


def test_values_that_are_nested_too_deep_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    one, two = (json.dumps(value).encode() for value in export(2))
    deep = b'{"uuid": "x", "name": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    path.write_bytes(b"[" + one + b"," + deep + b"," + two + b"]")
    found, lines = read(path, host=CLAUDE_AI)
    assert [one.text for one in found] == ["message 0", "message 1"]
    assert lines.rejected == {"too_deep": 1}


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b"[1, 2]", b"\xef\xbb\xbf[]", b"[", b"null", b"[["]
)
def test_documents_with_nothing_in_them(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data)
    assert account(batches(path)).kept == {}


# --- archives -------------------------------------------------------------------------------------


def test_an_archive_is_read_as_it_is_delivered(tmp_path: Path) -> None:
    files = {
        "conversations.json": json.dumps(export(2)).encode(),
        "users.json": b"[]",
        "projects.json": b"[]",
    }
    path = write_zip(tmp_path / "data.zip", files)
    before = sorted(tmp_path.iterdir())
    found, lines = read(path, host=CLAUDE_AI)
    assert [one.text for one in found] == ["message 0", "message 1"]
    assert lines.kept == {"conversation": 2, "user turn": 2}
    assert sorted(tmp_path.iterdir()) == before  # nothing was unpacked
    many = write_zip(
        tmp_path / "more.zip",
        {
            "export/conversations-001.json": json.dumps(export(1, first=7)).encode(),
            "export/conversations-000.json": json.dumps(export(1, first=6)).encode(),
        },
    )
    (batch,) = batches(many, host=CLAUDE_AI)
    assert [one.text for one in batch.episodes] == ["message 6", "message 7"]
    assert [one.position for one in batch.episodes] == [1, 2]
    assert json.loads(message_at(many, 2))["text"] == "message 7"
    assert message_at(many, 3) == b""


def test_an_archive_that_is_a_bomb_or_locked_or_broken_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "RATIO_FROM_BYTES", 1024 * 1024)
    bomb = write_zip(tmp_path / "bomb.zip", {"conversations.json": b"[" + b" " * 3_000_000})
    with pytest.raises(InputError, match="no chats pack so well"):
        discover([bomb])
    good = write_zip(tmp_path / "a.zip", {"conversations.json": json.dumps(export(9)).encode()})
    data = good.read_bytes()
    torn = tmp_path / "torn.zip"
    torn.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="download it again"):
        discover([torn])
    locked = tmp_path / "locked.zip"
    flags = data.index(b"PK\x01\x02") + 8  # of the entry in the directory
    locked.write_bytes(data[:flags] + b"\x01" + data[flags + 1 :])
    with pytest.raises(InputError, match="locked with a password"):
        discover([locked])
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("conversations.json", json.dumps(export(1)))
    with pytest.raises(InputError, match="packed in an unusual way"):
        discover([packed])
    # In a folder they are no reason to stop, and reading one says why nothing came of it.
    write_lines(tmp_path / "b.jsonl", turn("user", "one two"))
    assert [file.path.name for file in discover([tmp_path]).files] == ["a.zip", "b.jsonl"]
    for path in (bomb, torn, locked, packed):
        found = batches(path)
        assert account(found).rejected == {"not_json": 1}
        assert [one.detail for one in rejected(found)] != [""]


def test_an_archive_that_is_damaged_inside_keeps_what_was_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("conversations.json", json.dumps(export(3)))
    data = bytearray(path.read_bytes())
    data[data.index(b"message 2")] ^= 1
    path.write_bytes(data)
    found, lines = read(path, host=CLAUDE_AI)
    assert [one.text for one in found][:2] in ([], ["message 0", "message 1"])
    assert lines.rejected == {"not_json": 1}


# --- notes and summaries --------------------------------------------------------------------------

NOTES = """---
title: "House"
date: 2026-10-01
---
Before any heading.

# Home network

The NAS stands in the cellar.
It has two disks.

```sh
ssh nas

reboot
```

---

Router
======
## 2026-10-18 ##
Changed the filter.
### Empty
# Ideas
"""


def test_a_note_becomes_paragraphs_under_their_headings(tmp_path: Path) -> None:
    path = tmp_path / "house.md"
    path.write_bytes(NOTES.replace("\n", "\r\n").encode())
    found, lines = read(path, kind=NOTE)
    assert [one.text for one in found] == [
        "Before any heading.",
        "Home network\nThe NAS stands in the cellar.\nIt has two disks.",
        "Home network\n```sh\nssh nas\n\nreboot\n```",
        "Router > 2026-10-18\nChanged the filter.",
        "Router > 2026-10-18 > Empty",
        "Ideas",
    ]
    for one in found:
        assert (one.kind, one.role, one.trust) == (EpisodeKind.NOTE, Role.USER, Trust.DIRECT)
    assert [one.position for one in found] == [5, 9, 12, 23, 24, 25]
    rows = path.read_bytes().split(b"\n")
    for one in found:
        assert path.read_bytes()[one.offset :].split(b"\n")[0] == rows[one.position - 1]
    assert {one.occurred_at for one in found[:3]} == {1790812800000}  # of the front matter
    assert (found[3].occurred_at, found[3].attributes["dated"]) == (1792281600000, "heading")
    assert lines.kept == {"paragraph": 4, "heading": 2}
    assert lines.ignored["front matter"] == lines.ignored["separator"] == 1
    assert batches(path, kind=NOTE)[0].source.title == "House"


def test_a_note_without_a_date_has_that_of_its_name_or_its_file(tmp_path: Path) -> None:
    daily = tmp_path / "2026-10-18.md"
    daily.write_text("Changed the filter.\n")
    (one,), _ = read(daily, kind=NOTE)
    assert (one.occurred_at, one.attributes["dated"]) == (1792281600000, "file name")
    plain = tmp_path / "plain.txt"
    plain.write_text("Changed the filter.\n")
    os.utime(plain, (1_790_000_000, 1_790_000_000))
    (one,), _ = read(plain, kind=NOTE)
    assert (one.occurred_at, one.attributes["dated"]) == (1_790_000_000_000, "file")


def test_a_changed_note_adds_what_is_new_and_a_copy_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# A\n\nOne thing.\n\nAnother thing.\n")
    before = {one.uid for one in read(path, kind=NOTE)[0]}
    (batch,) = batches(path, kind=NOTE)
    assert batches(path, kind=NOTE, cursor=batch.cursor) == []
    path.write_text("# A\n\nA new one first.\n\nOne thing.\n\nAnother thing.\n")
    (again,) = batches(path, kind=NOTE, cursor=batch.cursor)
    assert again.restart
    assert len({one.uid for one in again.episodes} - before) == 1
    copy = tmp_path / "copy.md"
    copy.write_bytes(path.read_bytes())
    assert [one.uid for one in read(copy, kind=NOTE)[0]] == [one.uid for one in again.episodes]
    assert not before & {one.uid for one in read(copy, kind=NOTE, owner="ann")[0]}


def test_a_summary_is_kept_whole_and_believed_as_what_a_model_wrote(tmp_path: Path) -> None:
    path = tmp_path / "week.txt"
    path.write_text("# Week\n\nAnn moved to Ghent.\n\nShe has two cats.\n")
    (one,), lines = read(path, kind=SUMMARY)
    assert one.text == "Week\nAnn moved to Ghent.\n\nShe has two cats."
    assert (one.kind, one.role, one.trust) == (
        EpisodeKind.SUMMARY,
        Role.ASSISTANT,
        Trust.DERIVED,
    )
    assert lines.kept == {"summary": 1}
    path.write_text("\n\n".join(f"Day {day}: " + "she worked. " * 50 for day in range(40)))
    pieces, _ = read(path, kind=SUMMARY)
    assert len(pieces) > 2
    assert all(len(one.text) <= notes.SUMMARY_CHARS for one in pieces)
    assert all(any(f"Day {day}: " in one.text for one in pieces) for day in range(40))


def test_a_long_paragraph_is_cut_between_sentences_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    sentences = [f"This is sentence number {number} of the note." for number in range(300)]
    path.write_text(" ".join(sentences))
    found = texts(path, kind=NOTE)
    assert " ".join(found).split() == " ".join(sentences).split()
    assert all(text.endswith(".") and len(text) <= notes.PARAGRAPH_CHARS for text in found)
    path.write_text("x" * 7_001)
    assert [len(text) for text in texts(path, kind=NOTE)] == [2_000, 2_000, 2_000, 1_001]


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"", []),
        (b"\n\n  \n", []),
        ("\ufeffOne thing.".encode(), ["One thing."]),
        ("One thing.\n\nTwo.".encode("utf-16"), ["One thing.", "Two."]),
        (b"caf\xe9 is open", ["café is open"]),
        (b"bin\x00ary", []),
        (b"---\nnever closed\n", ["never closed"]),
        (b"```\nnever closed\n\nmore\n", ["```\nnever closed\n\nmore"]),
        (b"<factbook-memory ids='f1'>x</factbook-memory>", []),
        (b"Mine.\n\n<factbook-memory ids='f1'>x</factbook-memory>\n\nToo.", ["Mine.", "Too."]),
        (b"#\n\nOne thing.", ["One thing."]),
        (b"#hashtag is no heading", ["#hashtag is no heading"]),
    ],
)
def test_odd_notes(tmp_path: Path, data: bytes, wanted: list[str]) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(data)
    found, _ = read(path, kind=NOTE)
    assert [one.text for one in found] == wanted


LONG = (
    f"I moved to Bergen {'and it rained for weeks ' * 9}and I adopted two goats named Tor and Liv."
)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (f"{LONG}\n---\n\nThen I bought a boat.\n", [LONG, "Then I bought a boat."]),
        (f"## {LONG}\n\nThen I bought a boat.\n", [f"## {LONG}", "Then I bought a boat."]),
        (
            "---\nI keep my passport in the blue box\n---\n\nThen I bought a boat.\n",
            ["I keep my passport in the blue box\nThen I bought a boat."],
        ),
        (
            "---\ntags:\n- sea\n  north\n# seen\n\nyear: 1\n---\nI bought a boat.",
            ["I bought a boat."],
        ),
    ],
)
def test_no_words_of_a_note_are_lost_to_its_marks(
    tmp_path: Path, said: str, wanted: list[str]
) -> None:
    path = tmp_path / "diary.md"
    path.write_text(said)
    found, _ = read(path, kind=NOTE)
    assert [one.text for one in found] == wanted


def test_no_secret_of_a_note_is_left_and_lines_stay_right(tmp_path: Path) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow" * 10 + "\n" * 1 + "AbCdEf" * 10
    key += "\n-----END RSA PRIVATE KEY-----"
    path = tmp_path / f"{TOKEN}.md"
    path.write_text(f"# Key {TOKEN}\n\nmine: {TOKEN}\n\n{key}\n\nBehind the key.\n")
    found = batches(path, kind=NOTE, redactor=REDACTOR)
    shown = [(one.text, one.session, dict(one.attributes)) for one in found[0].episodes]
    assert TOKEN not in repr((shown, found[0].source.title, found[0].source.session))
    assert "MIIEow" not in repr(found)
    assert found[0].episodes[-1].position == 10


# --- the whole way --------------------------------------------------------------------------------


def test_the_examples_are_read_twice_and_written_once(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        first = memory.ingest([CHATS, CHATS / "garden.md"])
        assert [file.error for file in first.files] == [""] * 7
        assert memory.ingest([CHATS / "week.txt"], kind=SUMMARY).receipt.episodes == 1
        assert first.lines.unknown == {}
        assert first.lines.rejected == {}
        kinds = {one.kind for one in memory.store.episodes_by_id(range(1, 40)).values()}
        assert kinds >= {
            EpisodeKind.TURN,
            EpisodeKind.TOOL_CALL,
            EpisodeKind.TOOL_RESULT,
            EpisodeKind.NOTE,
            EpisodeKind.SUMMARY,
        }
        again = memory.ingest([CHATS, CHATS / "garden.md"])
        assert {file.state for file in again.files} == {"unchanged"}
        assert again.receipt.episodes == 0
        titles = {state.source.title for state in memory.sources.sessions()}
        assert {"Greenhouse heating", "Allotment rules", "Garden diary"} <= titles
        assert memory.check() == []
        hits = memory.recall("who is allergic to hazelnuts?").hits
        assert any("hazelnuts" in hit.text for hit in hits)


def test_a_newer_export_adds_only_what_is_new(tmp_path: Path) -> None:
    old = write_json(tmp_path / "old.json", export(3))
    new = write_zip(tmp_path / "new.zip", {"conversations.json": json.dumps(export(5)).encode()})
    with open_memory(tmp_path) as memory:
        assert memory.ingest([old]).receipt.episodes == 3
        report = memory.ingest([new])
        assert (report.receipt.episodes, report.receipt.episodes_unchanged) == (2, 3)
        assert len(memory.sources.sessions()) == 5
        assert len(memory.sources.sessions(owner=EVERYONE)) == 5 + 2  # and two files
        write_json(old, export(6))
        report = memory.ingest([old])
        assert report.files[0].state == "replaced"
        assert (report.receipt.episodes, report.receipt.episodes_unchanged) == (1, 5)
        assert memory.check() == []


def test_two_owners_of_one_file_have_their_own_episodes(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "a.jsonl",
        turn("user", "I moved to Ghent", session_id=SESSION),
        turn("user", "I moved to Porto", session_id=SESSION, user="bea"),
    )
    with open_memory(tmp_path) as memory:
        assert memory.ingest([path], owner="ann").receipt.episodes == 2
        assert memory.ingest([path], owner="cid").receipt.episodes == 1
        assert memory.ingest([path], owner="ann").files[0].state == "unchanged"
        owners = [one.owner for one in memory.store.episodes_by_id([1, 2, 3]).values()]
        assert owners == ["ann", "bea", "cid"]
        assert memory.check() == []


def test_worker_processes_write_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "HEAD_START_BYTES", 0)
    with open_memory(tmp_path, "a.db") as here, open_memory(tmp_path, "b.db") as there:
        one = here.ingest([CHATS, CHATS / "garden.md"], workers=0)
        two = there.ingest([CHATS, CHATS / "garden.md"], workers=2)
        assert one.receipt == two.receipt
        assert one.lines == two.lines
        assert list(here.export())[1:] == list(there.export())[1:]  # less whose file it is


def test_what_an_episode_was_read_from_is_found_again(tmp_path: Path) -> None:
    from factbook.sources.original import read_original

    zipped = write_zip(
        tmp_path / "a.zip",
        {"conversations.json": (CHATS / "chatgpt" / "conversations.json").read_bytes()},
    )
    cases = [(path, "conversation") for path in sorted(CHATS.rglob("*.json*"))]
    cases += [(zipped, "conversation"), (CHATS / "garden.md", NOTE)]
    for path, kind in cases:
        for one in read(path, kind=kind)[0]:
            if one.kind is EpisodeKind.TOOL_CALL:
                continue
            quote = one.text.removeprefix(f"{one.speaker}: ").rsplit("\n", 1)[-1].strip()
            quote = quote.rsplit(" > ", 1)[-1]
            if quote.startswith("[file"):
                continue
            found = read_original(
                path, offset=one.offset, position=one.position, quote=quote, redactor=REDACTOR
            )
            assert found.state == "found", (path, one.text)
    told = read_original(
        Path("conversation:me/s"), offset=0, position=0, quote="x", redactor=REDACTOR
    )
    assert told.state == "gone"
    assert "told to factbook itself" in told.text


def test_the_command_line_reads_chats_and_notes(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "m.db"
    done = cli("ingest", CHATS, CHATS / "garden.md", "--no-embed", "--db", db, "--json").json()
    assert {file["host"] for file in done["files"]} == {"chat", "chatgpt", "claude-ai", "notes"}
    more = ("--no-embed", "--db", db)
    cli("ingest", CHATS / "week.txt", "--kind", "summary", "--owner", "mara", *more)
    refused = cli("ingest", CHATS, "--kind", "poem", *more, code=2)
    assert "poem" in refused.err
    assert "Ghent" in cli("recall", "Belgian shops", "--db", db).out
    assert cli("sessions", "--db", db).out


@pytest.mark.parametrize(
    "before",
    [
        json.dumps({"role": "user", "content": "word " * 5_000}),
        '{"role": "user", "content": "half \\ud83d"}',
        "# exported by hand",
        "\n".join(['{"from": "a", "level": "info"}'] * 60),
    ],
)
def test_a_chat_is_known_whatever_stands_first(
    tmp_path: Path, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_HEAD_BYTES", 10_000)
    said = {"role": "user", "content": "I live in Ghent", "timestamp": "2026-03-01T00:00:00Z"}
    (tmp_path / "a.jsonl").write_text(f"{before}\n{json.dumps(said)}\n", encoding="utf-8")
    with open_memory(tmp_path) as memory:
        memory.ingest([tmp_path / "a.jsonl"])
        texts = [episode.text for episode in memory.sources.episodes([1, 2, 3]).values()]
        assert "I live in Ghent" in texts
        memory.store.check()
