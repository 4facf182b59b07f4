"""Recall: what a person asks is found, dated, filtered, and shown with its evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from factbook.embed import bundled
from factbook.memory import Memory
from factbook.model.facts import Episode, EpisodeKind, Role, Source, Trust
from factbook.recall.hits import passage
from factbook.recall.time_expressions import DAY_MS, find_window, parse_moment
from factbook.store.rows import Filters
from factbook.testing import FrozenClock

NOW = int(datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp() * 1000)  # a Friday


def record(kind: str, uuid: str, day: int, content: object, **more: object) -> str:
    return json.dumps(
        {
            "type": kind,
            "uuid": uuid,
            "sessionId": "5e55104e-0000-4000-8000-000000000001",
            "timestamp": f"2026-11-{day:02d}T09:00:00.000Z",
            "cwd": "/home/ann/shop",
            "message": {"role": kind, "content": content},
            **more,
        }
    )


def call(uuid: str, day: int, name: str, **given: object) -> str:
    block = {"type": "tool_use", "id": f"toolu_{uuid}", "name": name, "input": given}
    return record("assistant", uuid, day, [block])


def edit(uuid: str, day: int, path: str) -> str:
    return call(uuid, day, "Edit", file_path=path, old_string="a", new_string="b")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("recall")
    log = folder / "5e55104e-0000-4000-8000-000000000001.jsonl"
    lines = [
        record("user", "u1", 2, "the backup of the photo library on tower is broken"),
        call("a1", 2, "Bash", command="ssh root@tower 'ls /mnt/user/photos'"),
        call("a2", 2, "Bash", command="tar -xzf photos-2025.tar.gz -C /tmp/photos"),
        record("assistant", "a3", 2, [{"type": "text", "text": "The archive was unpacked."}]),
        call("a4", 5, "Bash", command="ssh deploy@web-1.example.org uptime"),
        call("a5", 5, "Bash", command="ssh deploy@web-1.example.org 'systemctl status nginx'"),
        record("user", "u2", 12, "refactor the login code, tokens must expire after an hour"),
        edit("a6", 12, "/home/ann/shop/src/auth/token.py"),
        edit("a7", 13, "/home/ann/shop/src/auth/login.py"),
        edit("a8", 19, "/home/ann/shop/src/cart/cart.py"),
        call("a9", 19, "Bash", command="unzip icons.zip"),
    ]  # fmt: skip
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Memory(folder / "m.db", clock=FrozenClock(NOW), key_file=folder / "key") as opened:
        opened.ingest([log])
        opened.embed()
        yield opened
        assert opened.check() == []


class AsksOtherwise:
    """An embedder of one's own that puts every question where one text lies."""

    id = "asks-otherwise"
    dim = 384

    def __init__(self, answer: str) -> None:
        self._answer = answer

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return bundled().embed(texts)

    def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        return self.embed([self._answer for _ in questions])


def test_what_is_asked_is_embedded_as_a_question_and_what_was_said_as_it_stands(
    tmp_path: Path,
) -> None:
    said = ["The ferry to Kihnu leaves at nine.", "Marta plays the cello.", "Rain broke the roof."]
    embedder = AsksOtherwise(said[2])
    with Memory(tmp_path / "m.db", embedder=embedder, key_file=tmp_path / "key") as memory:
        for line in said:
            memory.remember(line)
        memory.embed()
        asked = memory.recall("Which instrument is hers?")  # shares no word with any of them
        assert [hit.text for hit in asked.hits][:1] == [said[2]]
        passive = memory.engine.recall(
            "Which instrument is hers?", limit=3, filters=Filters(), passive=True
        )
        assert [hit.text for hit in passive.hits][:1] != [said[2]]
        near = memory.engine.facts_like("Someone plays an instrument.", filters=Filters())
        texts = {fact.id: fact.statement for fact in memory.store.facts_by_id(list(near)).values()}
        assert texts[max(near, key=lambda id_: near[id_])] == said[1]
        assert memory.check() == []


def test_a_context_is_asked_for_with_a_question_and_a_stream_is_not(memory: Memory) -> None:
    asked: list[str] = []

    class Counting(AsksOtherwise):
        def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
            asked.extend(questions)
            return bundled().embed_questions(questions)

    embedder = Counting("")
    embedder.id = bundled().id
    with Memory(memory.path, embedder=embedder, clock=FrozenClock(NOW), mode="read") as opened:
        opened.conversation().prefetch("The photo library needs its backup.")
        assert asked == []
        assert opened.context("What is broken about the photo library?").text
        assert asked == ["What is broken about the photo library?"]  # and not twice
        opened.search_memory("Which archive was unpacked?")
        assert asked[1:] == ["Which archive was unpacked?"]


def test_which_hosts_did_i_connect_to(memory: Memory) -> None:
    answer = memory.recall("which hosts did I connect to?")
    first_two = {hit.object: hit for hit in answer.hits[:2]}
    assert set(first_two) == {"tower", "web-1.example.org"}
    assert first_two["web-1.example.org"].count == 2
    assert "connects_to_host" in answer.predicates
    hit = first_two["tower"]
    assert (hit.confidence, hit.project, hit.position) == (0.9, "/home/ann/shop", 2)
    assert hit.evidence[0].quote == "tower"


def test_what_did_i_change_in_the_auth_module_last_week(memory: Memory) -> None:
    answer = memory.recall("what did I change in the auth module last week?")
    assert answer.window is not None
    assert answer.window.phrase == "last week"
    changed = [hit.object for hit in answer.hits if hit.predicate == "modified_file"]
    assert set(changed[:2]) == {
        "/home/ann/shop/src/auth/token.py",
        "/home/ann/shop/src/auth/login.py",
    }
    assert all(
        hit.occurred_at is not None and hit.occurred_at >= (answer.window.since or 0)
        for hit in answer.hits
    )


def test_show_me_every_archive_i_unpacked(memory: Memory) -> None:
    found = [
        hit.text
        for hit in memory.recall("show me every archive I unpacked").hits
        if hit.predicate == "operation_type"
    ]
    assert len(found) == 2
    assert any("photos-2025.tar.gz" in text for text in found)
    assert any("icons.zip" in text for text in found)


def test_meaning_finds_what_shares_no_word(memory: Memory) -> None:
    texts = [hit.text for hit in memory.recall("pictures saved on the server").hits[:5]]
    assert any("photo" in text for text in texts)


def test_a_time_with_nothing_in_it_is_said(memory: Memory) -> None:
    answer = memory.recall("which hosts did I connect to yesterday?")
    assert answer.window is not None
    answer = memory.recall("which hosts did I connect to 3 years ago?")
    assert answer.outside
    assert answer.hits


def test_where_nothing_was_then_what_was_done_at_other_times_is_shown(tmp_path: Path) -> None:
    """What was talked of at other times stays in for what it tells, and hides no log."""
    log = tmp_path / "5e55104e-0000-4000-8000-000000000001.jsonl"
    lines = [
        record("user", "u1", 9, "release the shop"),
        call("a1", 9, "Bash", command="make build"),
        record("assistant", "a2", 9, [{"type": "text", "text": "The build broke on a lock."}]),
    ]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    said = [
        "My rye bread does not rise.",
        "Feed the starter twice.",
        "The build of the shed broke.",
    ]
    chat = tmp_path / "chat.jsonl"
    chat.write_text(
        "".join(
            json.dumps({"session_id": "s", "role": "user", "content": text}) + "\n" for text in said
        ),
        encoding="utf-8",
    )
    with Memory(tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "key") as memory:
        memory.ingest([chat])
        only = memory.recall("what broke the build yesterday?", turns=True)
        assert only.hits[0].text == said[2]
        memory.erasure.erase_episode(int(only.hits[0].id[1:]))
        memory.ingest([log])
        memory.embed()
        answer = memory.recall("what broke the build yesterday?", turns=True)
        assert answer.outside
        assert "The build broke on a lock." in answer.hits[0].text
        dated = [hit.occurred_at is not None for hit in answer.hits]
        assert dated == sorted(dated, reverse=True)


def test_filters_hold(memory: Memory) -> None:
    since = NOW - 10 * DAY_MS
    for hit in memory.recall("auth", filters=Filters(since=since)).hits:
        assert hit.occurred_at is not None
        assert hit.occurred_at >= since
    assert memory.recall("auth", filters=Filters(host="codex")).hits == []
    assert memory.recall("auth", filters=Filters(project="/elsewhere")).hits == []
    only = memory.recall("tower", filters=Filters(predicates=["connects_to_host"])).hits
    assert {hit.predicate for hit in only} == {"connects_to_host"}
    prompts = memory.recall("tower", filters=Filters(episode_kinds=[EpisodeKind.PROMPT])).hits
    assert {hit.kind for hit in prompts} == {"episode"}
    assert all("backup" in hit.text or "login" in hit.text for hit in prompts)


def test_every_hit_can_be_explained(memory: Memory) -> None:
    for hit in memory.recall("what happened on tower").hits:
        assert hit.evidence
        assert hit.source.endswith(".jsonl")
        assert 0 <= hit.score <= 1
        if hit.kind == "fact":
            assert memory.explain(int(hit.id[1:])).originals[0].state == "found"


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=60) | st.sampled_from(['"', "NEAR(a b)", "a AND", "col:x", "^*", "-", "\x00"])
)
def test_any_text_is_a_legal_question(memory: Memory, question: str) -> None:
    answer = memory.recall(question, limit=3)
    assert len(answer.hits) <= 3


def test_rows_without_a_vector_are_found_by_text(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(record("user", "u1", 2, "where is the heron painting") + "\n", encoding="utf-8")
    with Memory(tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "k") as memory:
        memory.ingest([log])
        answer = memory.recall("herons")
        assert answer.waiting == 1
        assert "heron" in answer.hits[0].text
        memory.embed()
        assert memory.recall("herons").waiting == 0
        with log.open("a", encoding="utf-8") as file:
            file.write(record("user", "u2", 3, "the egret drawing is lost") + "\n")
        memory.ingest([log])
        assert "egret" in memory.recall("egret").hits[0].text  # the open engine follows the store


def test_our_own_words_are_neither_evidence_nor_answer(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    result = {
        "type": "tool_result",
        "tool_use_id": "toolu_a1",
        "content": "error: the zebra failed",
        "is_error": True,
    }
    log.write_text(
        "\n".join(
            [
                call("a1", 2, "mcp__factbook__search_memory", query="zebra"),
                record("user", "u1", 2, [result]),
                record(
                    "user",
                    "u2",
                    2,
                    'hi <factbook-memory ids="f1">the okapi error is solved</factbook-memory>!',
                ),
            ]
        )
        + "\n",
        encoding="utf-8",
    )
    with Memory(tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "k") as memory:
        memory.ingest([log])
        assert memory.query_facts(predicate="failed_with") == []
        assert memory.query_facts(predicate="used_tool") == []
        assert all("zebra" not in hit.text for hit in memory.recall("zebra").hits)
        assert all("okapi" not in hit.text for hit in memory.recall("okapi").hits)
        assert all("zebra failed" not in hit.text for hit in memory.recall("zebra").hits)
        assert memory.check() == []


def test_turns_of_a_conversation_are_found_with_their_neighbours(tmp_path: Path) -> None:
    source = Source(key="chat:1", kind="conversation", host="chat", session="1", uri="chat:1")
    turns = [
        "Ana: I finally bought the instrument I wanted.",
        "Ben: Which one is it?",
        "Ana: The cello from the shop on the corner.",
        "Ben: My sister has two cats.",
        "Ana: It rained all day in Porto.",
    ]
    episodes = [
        Episode(
            uid=f"chat:1:{n}",
            source=source.key,
            kind=EpisodeKind.TURN,
            role=Role.USER,
            trust=Trust.DIRECT,
            text=text,
            position=n + 1,
            offset=0,
            speaker=text.split(":")[0],
            occurred_at=NOW - DAY_MS,
        )
        for n, text in enumerate(turns)
    ]
    with Memory(tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "k") as memory:
        memory.sources.record(source, episodes)
        memory.embed()
        best = [hit.text for hit in memory.recall("What instrument did Ana buy?").hits[:2]]
        assert turns[2] in best
        assert memory.check() == []


# --- time phrases ---------------------------------------------------------------------------------


def day(year: int, month: int, number: int) -> int:
    return int(datetime(year, month, number, tzinfo=UTC).timestamp() * 1000)


def test_of_two_clocks_that_touch_a_day_the_first_has_it() -> None:
    found = find_window("what broke 5pm yesterday at 10am", now=NOW, zone=UTC)
    assert found == find_window("what broke 5pm yesterday", now=NOW, zone=UTC)


_TIME_WORDS = (
    *("yesterday", "today", "5pm", "at 10am", "noon", "last", "this", "week", "month", "June", "3"),
    *("2026", "from", "to", "between", "and", "since", "until", "on", "in", "ago", "days", "the"),
    *("Monday", "morning", "spring", "2026-05-04", "May 4", "12:30", ",", "before"),
)


@given(
    st.text(max_size=80) | st.lists(st.sampled_from(_TIME_WORDS), max_size=9).map(" ".join),
    st.integers(0, 4_000_000_000_000),
)
def test_no_text_breaks_the_time_phrases(question: str, now: int) -> None:
    window = find_window(question, now=now, zone=UTC)
    if window is not None and window.since is not None and window.until is not None:
        assert window.since < window.until


def test_moments_of_options() -> None:
    assert parse_moment("7d", now=NOW) == NOW - 7 * DAY_MS
    assert parse_moment("36h", now=NOW) == NOW - 36 * 3600 * 1000
    assert parse_moment("2026-11-02", now=NOW, zone=UTC) == day(2026, 11, 2)
    assert parse_moment("2026-11-02T00:00:00Z", now=NOW) == day(2026, 11, 2)
    assert parse_moment("yesterday", now=NOW, zone=UTC) == day(2026, 11, 19)


def test_a_passage_holds_the_words_that_were_asked_for() -> None:
    text = "\n".join(f"line {n} about nothing" for n in range(200)) + "\nthe herons nest here\n"
    start, end = passage(text, ["heron"])
    assert text[start:end] == "the herons nest here"
