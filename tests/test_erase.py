"""Erasing for good: what goes, what stays, what comes back, and what the bytes of the file hold."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from conftest import examples, record
from factbook.apply.apply import apply
from factbook.errors import NotAllowed, NotFound, UsageError
from factbook.maintenance.erasure import Erased
from factbook.memory import Memory
from factbook.model.entities import EngagementType, NoticeState, PreferenceType, Valence
from factbook.model.facts import (
    EVERYONE,
    Candidate,
    Episode,
    EpisodeKind,
    FactKind,
    Receipt,
    RejectedLine,
    Role,
    Status,
    Trigger,
    Trust,
)
from factbook.model.interest_ops import (
    CreateEntity,
    RecordEngagement,
    RecordSearch,
    RestoreEntity,
    SetPreference,
)
from factbook.model.ops import (
    AllowAgain,
    AssertFact,
    ChangeKeys,
    EraseEntity,
    EraseEpisode,
    EraseFact,
    EraseOwner,
    EraseRejection,
    FailTask,
    FinishRun,
    JudgePair,
    KeyStep,
    MergeFacts,
    Op,
    Propose,
    RecordEpisode,
    RecordInjection,
    RecordSource,
    RejectCandidate,
    RejectLine,
    StartRun,
    SupersedeFact,
    SupportFact,
)
from factbook.store.derived.counts import row_counts
from factbook.store.derived.entities import engagements_of, entities_of, preferences_of, world_facts
from factbook.store.derived.facts import fact_by_id
from factbook.store.derived.ledger import evidence_of
from factbook.store.derived.notices import notices_of
from factbook.store.derived.searches import search_logs
from factbook.store.kinds import INJECTION
from factbook.store.port import events_of
from factbook.store.rows import Filters
from factbook.store.sqlite import SQLiteStore
from factbook.store.sqlite.traces import blocks_of
from factbook.store.windows import Windows
from factbook.testing import DAY, FrozenClock, sample_episode, sample_fact, sample_source
from factbook.testing.contract.files import files_of
from notices import announce


class Words:
    """A small embedder of its own: words are hashed into 32 numbers."""

    id = "words-1"
    dim = 32

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.full((len(texts), self.dim), 0.01, np.float32)
        for n, text in enumerate(texts):
            for word in text.lower().split():
                rows[n, sum(word.encode()) % self.dim] += 1
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def memory(tmp_path: Path, clock: FrozenClock) -> Iterator[Memory]:
    with Memory(
        tmp_path / "m.db",
        clock=clock,
        key_file=tmp_path / "key",
        embedder=Words(),
        model=None,
        search_config=None,
    ) as memory:
        yield memory
        assert memory.check() == []


def held(path: Path) -> bytes:
    """Return every byte of a database and of what lies beside it."""
    return b"".join(
        one.read_bytes()
        for suffix in ("", "-wal", "-shm")
        if (one := path.with_name(path.name + suffix)).exists()
    )


def told(done: Erased) -> set[str]:
    """Return the rows that are said to tell of what was erased."""
    assert done.standing is not None
    assert done.standing.more == 0
    return {one.row for one in done.standing.rows}


def pieces_left(path: Path, *texts: str) -> list[bytes]:
    """Return the runs of eight bytes of some texts that stand in the file, found one by one."""
    data = np.frombuffer(held(path), np.uint8)
    there = np.lib.stride_tricks.sliding_window_view(data, 8).copy().view("<u8").ravel()
    wanted = {one.encode()[n : n + 8] for one in texts for n in range(len(one.encode()) - 7)}
    asked = np.array([int.from_bytes(one, "little") for one in wanted], np.uint64)
    found = set(asked[np.isin(asked, there)].tolist())
    return [one for one in wanted if int.from_bytes(one, "little") in found]


def statement(
    episode: Episode, text: str, *, predicate: str = "states", kind: FactKind = FactKind.STATEMENT
) -> AssertFact:
    """Return a claim that a part of an episode is a statement of its owner."""
    start = episode.text.index(text)
    return AssertFact(
        candidate=Candidate(
            subject=episode.owner,
            predicate=predicate,
            object=text,
            statement=text,
            confidence=0.9,
            rule="told",
            method="by hand",
            start=start,
            end=start + len(text),
            kind=kind,
            embed=True,
        ),
        episode=episode.uid,
        owner=episode.owner,
        confidence=0.9,
        trust=episode.trust,
        quote=text,
    )


def turn(n: int, text: str, **given: object) -> Episode:
    """Return the n-th thing that an owner said."""
    values: dict[str, object] = {
        "uid": f"turn:{n}",
        "kind": EpisodeKind.TURN,
        "role": Role.USER,
        "trust": Trust.DIRECT,
        "text": text,
        **given,
    }
    return sample_episode(n, **values)


def write(memory: Memory, *ops: Op, trigger: Trigger = Trigger.COMMAND) -> Receipt:
    return apply(memory.store, ops, trigger=trigger, actor="test", now=memory.clock())


def keep(memory: Memory, *episodes: Episode) -> None:
    write(
        memory,
        RecordSource(source=sample_source()),
        *(RecordEpisode(episode=one) for one in episodes),
    )


def ids_of(memory: Memory, *uids: str) -> list[int]:
    found = memory.store.episode_ids(uids)
    return [found[one] for one in uids]


def fact_ids(memory: Memory) -> dict[str, int]:
    return {one.statement: one.id for one in memory.store.facts(Filters(), limit=None)}


def texts(memory: Memory) -> list[str]:
    return [one.text for one in memory.store.episodes(Filters(), limit=None)]


# --- what goes, and what stays --------------------------------------------------------------------


def test_a_fact_goes_with_its_words_and_the_rest_of_the_episode_stays(memory: Memory) -> None:
    said = turn(1, "Hello there. My locker code is 77-zebra-19. See you on Monday.")
    keep(memory, said)
    write(memory, statement(said, "My locker code is 77-zebra-19."))
    memory.embed()
    done = memory.erasure.erase_fact(fact_ids(memory)["My locker code is 77-zebra-19."])
    assert done.receipt.erased == {"facts": 1, "masked": 1}
    assert done.file is not None
    assert done.file.clean
    assert texts(memory) == ["Hello there. " + "█" * 30 + " See you on Monday."]
    assert pieces_left(memory.path, "My locker code is 77-zebra-19.") == []
    fact = fact_by_id(memory.store, 1)
    assert fact is not None
    assert (fact.status, fact.statement, fact.object) == (Status.ERASED, "", "")
    assert memory.store.facts_by_id([1])[1].retired_at is not None
    # What is left of the episode is found, and has a vector again once it is embedded.
    assert memory.maintenance.waiting() == 1
    memory.embed()
    assert [hit.id for hit in memory.recall("see you on Monday").hits] == ["e1"]
    assert not any("zebra" in hit.text for hit in memory.recall("locker code zebra").hits)


def test_a_fact_can_go_with_the_whole_episodes_that_it_was_read_from(memory: Memory) -> None:
    said = turn(1, "Hello there. My locker code is 77-zebra-19. See you on Monday.")
    keep(memory, said)
    write(memory, statement(said, "My locker code is 77-zebra-19."))
    done = memory.erasure.erase_fact(1, whole_episodes=True)
    assert done.receipt.erased == {"facts": 1, "episodes": 1}
    assert texts(memory) == []
    assert pieces_left(memory.path, said.text) == []


def test_a_message_that_was_told_for_a_fact_alone_goes_with_it(memory: Memory) -> None:
    memory.tell("Honey is my #1 favorite tea sweetener", planner="rules")
    [honey] = memory.query_facts()
    memory.erasure.erase_fact(honey.id)
    assert memory.erasure.find_residues("favorite tea").rows == []
    assert memory.recall("my favorite tea sweetener").hits == []
    memory.tell("My favorite color is teal. My favorite fruit is quince.", planner="rules")
    facts = {fact.object: fact.id for fact in memory.query_facts()}
    memory.erasure.erase_fact(facts["teal"])
    [left] = memory.query_facts()
    [said] = memory.explain(left.id).evidence
    assert (left.object, said.quote) == ("quince", "quince")
    assert memory.sources.episode(said.episode_id).text.endswith(" My favorite fruit is quince.")
    assert memory.erasure.find_residues("favorite color").rows == []


def test_a_value_goes_wherever_the_episode_repeats_it(memory: Memory) -> None:
    said = turn(1, "Call Quillfeather. I repeat: quillfeather. Not Quillfeathers, though.")
    keep(memory, said)
    one = statement(said, "Quillfeather")
    write(memory, one)
    memory.erasure.erase_fact(1)
    assert texts(memory) == [
        "Call ████████████. I repeat: ████████████. Not Quillfeathers, though."
    ]


def test_a_fact_on_several_episodes_keeps_its_other_evidence(memory: Memory) -> None:
    first = turn(1, "I am fond of jazz")
    second = turn(2, "Well, I am fond of jazz", trust=Trust.DERIVED)
    keep(memory, first, second)
    write(memory, statement(first, "I am fond of jazz"))
    start = second.text.index("I am")
    write(
        memory,
        SupportFact(
            fact_id=1,
            episode_id=ids_of(memory, second.uid)[0],
            quote="I am fond of jazz",
            start=start,
            end=len(second.text),
            rule="told",
            method="by hand",
            trust=Trust.DERIVED,
            confidence=0.7,
        ),
    )
    before = memory.store.facts_by_id([1])[1]
    assert (before.evidence_count, before.episode_id, before.trust) == (2, 1, Trust.DIRECT)
    done = memory.erasure.erase_episode(1)
    assert done.receipt.erased == {"episodes": 1}
    after = memory.store.facts_by_id([1])[1]
    assert (after.evidence_count, after.episode_id) == (1, 2)
    assert after.occurred_at == second.occurred_at
    assert after.trust is Trust.DERIVED  # what spoke for more is gone
    assert after.confidence <= 0.8
    assert after.status is not Status.ERASED
    assert done.file is not None
    assert told(done) == {"e2", "f1"}  # the same words, kept: it is said where


def test_what_stands_on_nothing_else_goes_with_its_episode(memory: Memory) -> None:
    said = turn(1, "I keep ferrets. I keep bees.")
    other = turn(2, "The sun shines.")
    keep(memory, said, other)
    write(memory, statement(said, "I keep ferrets."), statement(said, "I keep bees."))
    write(memory, statement(other, "The sun shines."))
    done = memory.erasure.erase_episode(1)
    assert done.receipt.erased == {"facts": 2, "episodes": 1}
    assert list(fact_ids(memory)) == ["The sun shines."]
    assert row_counts(memory.store)["episodes"] == 1
    (state,) = memory.store.sources(keys=[sample_source().key])
    assert state.episode_count == 1


def test_what_overlaps_the_words_that_go_loses_that_evidence(memory: Memory) -> None:
    run = sample_episode(1, text="Bash\ncommand: ssh root@nas-of-ann ls")
    keep(memory, run)
    write(
        memory,
        sample_fact(run, "connects_to_host", "nas-of-ann"),
        sample_fact(run, "executed_command", "ssh root@nas-of-ann ls"),
        sample_fact(run, "used_tool", "Bash"),
    )
    done = memory.erasure.erase_fact(1)
    assert done.receipt.erased == {"facts": 2, "masked": 1}
    assert [one.predicate for one in memory.store.facts(Filters(), limit=None)] == ["used_tool"]
    assert pieces_left(memory.path, "nas-of-ann") == []


def test_what_was_merged_and_superseded_goes_with_the_fact(memory: Memory) -> None:
    told = [
        turn(1, "I live in Oldtownborough"),
        turn(2, "My home is Newvalleyham"),
        turn(3, "I live in Newvalleyham"),
        turn(4, "I have a dog"),
    ]
    keep(memory, *told)
    write(memory, *(statement(one, one.text) for one in told))
    number = fact_ids(memory)
    old, home, live, dog = (number[one.text] for one in told)
    write(memory, SupersedeFact(old_id=old, new_id=live, rule="slot", detail="Oldtownborough"))
    write(
        memory,
        MergeFacts(winner_id=live, loser_ids=[home], evidence_counts=[1, 1], rule="same"),
    )
    memory.embed()
    done = memory.erasure.erase_fact(home)  # a person means the fact that it became part of
    assert done.receipt.erased["facts"] == 3
    assert pieces_left(memory.path, "Oldtownborough", "Newvalleyham") == []
    assert list(fact_ids(memory).values()) == [dog]
    assert all(
        memory.store.facts_by_id([one])[one].status is Status.ERASED for one in (old, home, live)
    )


def test_a_key_goes_with_everything_that_it_has_held(memory: Memory) -> None:
    for n, value in enumerate(("quokkacoin", "wombatcoin"), 1):
        said = turn(n, f"{value} is my first")
        keep(memory, said)
        step = KeyStep(
            action="rank", key="user.favorites.crypto", rank=1, value=value, start=0, end=10
        )
        write(
            memory,
            ChangeKeys(
                owner="me",
                episode=said.uid,
                steps=[step],
                trust=Trust.DIRECT,
                rule="told",
                method="by hand",
            ),
        )
    (fact,) = memory.keyed.keyed_facts()
    assert fact.object == "wombatcoin"
    done = memory.erasure.erase_fact(fact.id)
    assert done.receipt.erased["facts"] == 2
    assert memory.keyed.keyed_facts() == []
    assert memory.keyed.key_history("user.favorites.crypto.1") == []
    assert pieces_left(memory.path, "quokkacoin", "wombatcoin") == []


def test_what_took_its_place_stays_when_an_old_fact_goes(memory: Memory) -> None:
    told = [turn(1, "I live in Oldtownborough"), turn(2, "I live in Newvalleyham")]
    keep(memory, *told)
    write(memory, *(statement(one, one.text) for one in told))
    old, new = (fact_ids(memory)[one.text] for one in told)
    write(
        memory,
        SupersedeFact(
            old_id=old, new_id=new, rule="slot", detail="Oldtownborough became Newvalleyham"
        ),
        JudgePair(
            low_id=old,
            high_id=new,
            relation="supersedes",
            rule="slot",
            detail="Oldtownborough",
            similarity=0.9,
        ),
    )
    memory.erasure.erase_fact(old)
    assert fact_ids(memory) == {"I live in Newvalleyham": new}
    assert pieces_left(memory.path, "Oldtownborough") == []
    assert memory.explain(new).fact.statement == "I live in Newvalleyham"


def test_nothing_is_found_that_is_not_there_or_was_erased(memory: Memory) -> None:
    keep(memory, turn(1, "I like tea"))
    with pytest.raises(NotFound):
        memory.erasure.erase_fact(9)
    with pytest.raises(NotFound):
        memory.erasure.erase_episode(9)
    with pytest.raises(NotFound):
        memory.erasure.erase_source("/nowhere")
    with pytest.raises(NotFound):
        memory.erasure.erase_rejection(9)
    with pytest.raises(NotFound):
        memory.erasure.erase_entity("ls50 meta")
    with pytest.raises(NotFound):
        memory.erasure.erase_owner("bea")
    with pytest.raises(NotFound):
        memory.erasure.allow_again(9)
    memory.erasure.erase_episode(1)
    with pytest.raises(NotFound, match="it was erased"):
        memory.erasure.erase_episode(1)
    assert memory.erasure.finish_erasing() is None


def test_only_a_person_erases(memory: Memory) -> None:
    keep(memory, turn(1, "I like tea"))
    for trigger in Trigger:
        if trigger is Trigger.COMMAND:
            continue
        for op in (
            EraseEpisode(episode_id=1),
            EraseFact(fact_id=1),
            EraseOwner(owner="me"),
            EraseEntity(entity_id=1),
            EraseRejection(rejection_id=1),
            AllowAgain(erasure_id=1),
        ):
            with pytest.raises(NotAllowed):
                write(memory, op, trigger=trigger)
    assert texts(memory) == ["I like tea"]


def test_a_rehearsal_says_what_would_go_and_changes_nothing(memory: Memory) -> None:
    said = turn(1, "I keep ferrets.")
    keep(memory, said)
    write(memory, statement(said, "I keep ferrets."))
    generation = memory.store.head().commit
    done = memory.erasure.erase_episode(1, dry_run=True)
    assert done.receipt.erased == {"facts": 1, "episodes": 1}
    assert done.file is None
    assert memory.store.head().commit == generation
    assert texts(memory) == ["I keep ferrets."]
    assert memory.erasure.erasures() == []


# --- what repeats it ------------------------------------------------------------------------------


def test_what_repeats_it_loses_it_too(memory: Memory) -> None:
    secret = "vaultword-qpzmxn-4412"
    said = turn(1, f"The code is {secret}.", attributes={"note": secret, "branch": "main"})
    other = turn(2, "The code is on paper.")
    keep(memory, said, other)
    write(memory, statement(said, f"The code is {secret}."), statement(other, other.text))
    write(
        memory,
        RejectCandidate(
            candidate=replace(statement(said, f"The code is {secret}.").candidate, object=secret),
            episode=other.uid,  # quoted by another episode's refusal
            owner="me",
            reason="generic",
            detail=f"{secret} is no word",
            validation={"near": secret},
        ),
        RejectLine(
            source=sample_source().key,
            line=RejectedLine(
                position=3, offset=7, reason="not_json", detail="", excerpt=f"{{{secret}"
            ),
        ),
        Propose(
            kind="memory",
            key=f"me\0user_fact\0{secret}",
            title=secret,
            payload={"owner": "me", "type": "USER_FACT", "text": secret, "episode": said.uid},
        ),
        Propose(
            kind="predicate",
            key="x",
            title="x: 3 commands",
            payload={"examples": [f"echo {secret}"], "name": "x"},
        ),
        JudgePair(
            low_id=1, high_id=2, relation="ambiguous", rule="r", detail=secret, similarity=0.8
        ),
        FailTask(kind="typed", target=2, version="1", error=f"bad answer: {secret}"),
        StartRun(run_id=1),
        FinishRun(
            run_id=1, state="failed", phase="", report={"error": f"trouble with {secret}", "n": 1}
        ),
        RecordInjection(session="s", owner="me", mode="tool", items=["e1", "f1"]),
    )
    memory.embed()
    done = memory.erasure.erase_fact(1)
    assert done.file is not None
    assert done.file.clean
    assert pieces_left(memory.path, secret) == []
    assert memory.sources.rejections() == []
    assert memory.review.proposals() == []
    assert memory.maintenance.runs()[0].report == {"error": "", "n": 1}
    assert [one.error for one in memory.maintenance.model_tasks()] == [""]
    assert [list(one.items) for one in memory.store.find(INJECTION, {"owner": EVERYONE})] == [
        ["e1", "f1"]
    ]
    assert texts(memory) == ["The code is on paper."]  # nothing of the other could be read
    assert memory.store.search("episode", ["qpzmxn"], Filters(), 5) == []
    assert memory.store.search("fact", ["qpzmxn"], Filters(), 5) == []


@pytest.mark.parametrize("claimed_again", [False, True])
def test_a_word_goes_from_titles_of_its_owner_where_no_fact_has_it_still(
    memory: Memory, claimed_again: bool
) -> None:
    """What another owner or another fact says with the same short word repeats nothing."""
    for n, owner in enumerate(["me", "ann"], 1):
        source = replace(sample_source(f"s{n}"), title="Three days in Paris")
        said = turn(n, "Paris", source=source.key, owner=owner)
        write(memory, RecordSource(source=source), RecordEpisode(episode=said))
        write(memory, statement(said, "Paris"))
        write(
            memory,
            Propose(
                kind="memory",
                key=f"{owner}\0",
                title="Is Paris far?",
                payload={"owner": owner, "type": "USER_FACT", "text": "Is Paris far?"},
            ),
        )
    if claimed_again:
        again = turn(3, "Paris", source="s2")
        write(memory, RecordEpisode(episode=again), statement(again, "Paris", predicate="visits"))
    memory.erasure.erase_fact(1)
    left = "Three days in Paris" if claimed_again else ""
    assert [one.source.title for one in memory.store.sources()] == [left, "Three days in Paris"]
    assert len(memory.review.proposals(owner="ann")) == 1
    assert len(memory.review.proposals()) == claimed_again


def test_what_another_owner_says_in_the_same_words_stays_whole(memory: Memory) -> None:
    words = "Please add tests for the login page"
    for n, owner in enumerate(["me", "ann"], 1):
        source = replace(sample_source(f"s{n}"), title="Add tests for the parser")
        said = turn(n, words, source=source.key, owner=owner)
        write(memory, RecordSource(source=source), RecordEpisode(episode=said))
    memory.erasure.erase_episode(1)
    assert [one.source.title for one in memory.store.sources()] == ["", "Add tests for the parser"]


def test_the_history_keeps_its_rows_and_loses_the_words(memory: Memory) -> None:
    said = turn(1, "I keep ferrets.")
    keep(memory, said)
    write(memory, statement(said, "I keep ferrets."))
    memory.review.pin(1)
    before = events_of(memory.store, "fact", 1)
    memory.erasure.erase_fact(1)
    after = events_of(memory.store, "fact", 1)
    assert [one.id for one in after[: len(before)]] == [one.id for one in before]
    assert [one.op for one in after] == ["store", "pin", "erase"]
    connection = apsw.Connection(str(memory.path))
    for sql in (
        "UPDATE event_row SET detail = '{}'",
        "UPDATE event_row SET actor = 'nobody'",
        "DELETE FROM event_row",
    ):
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            connection.execute(sql)
    connection.close()


def test_a_night_and_its_undo_survive_an_erasure(memory: Memory, clock: FrozenClock) -> None:
    for n, text in enumerate(("I am fond of jazz", "I like jazz", "I like tea"), 1):
        keep(memory, turn(n, text, occurred_at=clock() - 1000 * n))
    report = memory.consolidate()
    found = fact_ids(memory)
    memory.erasure.erase_fact(next(iter(found.values())))
    memory.maintenance.undo(report.run_id)
    from factbook.maintenance.changes_report import account

    run = next(one for one in memory.maintenance.runs() if one.id == report.run_id)
    assert account(memory.store, run).run.state == "undone"
    memory.consolidate()


# --- what must not come back ----------------------------------------------------------------------


def session(path: Path, *lines: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_same_log_does_not_bring_an_episode_back(memory: Memory, tmp_path: Path) -> None:
    lines = [
        record("user", "u1", "Please look at the quagmire-ledger in /srv/quagmire today"),
        record("user", "u2", "Now run the tests of the shop"),
    ]
    log = session(tmp_path / "logs" / "a.jsonl", *lines)
    memory.ingest([log])
    (target,) = [
        one.id for one in memory.store.episodes(Filters(), limit=None) if "quagmire" in one.text
    ]
    memory.erasure.erase_episode(target)
    counts = row_counts(memory.store)
    # The same file again, a copy of it, and a copy whose records have other ids.
    log.write_text(lines[0] + "\n" + lines[1] + "\n\n", encoding="utf-8")
    session(tmp_path / "logs" / "copy.jsonl", *lines)
    session(tmp_path / "logs" / "other.jsonl", lines[0].replace('"u1"', '"z1"'))
    report = memory.ingest([tmp_path / "logs"])
    assert report.receipt.kept_out > 0
    assert not any("quagmire" in one for one in texts(memory))
    assert row_counts(memory.store)["facts"] == counts["facts"]
    assert memory.sources.rejections() == []
    assert pieces_left(memory.path, "quagmire-ledger") == []


@pytest.mark.parametrize("by", ["fact", "episode"])
def test_what_goes_leaves_its_session_folder_and_branch_to_what_stays(
    memory: Memory, tmp_path: Path, by: str
) -> None:
    """A log that only its first line names is read on, and what was refused in it is known."""
    name, folder = "019f3a10-5c1e-7d42-9b30-6f2c81d4e7a5", "/home/mara/photos-tools"
    [example] = Path(__file__).parents[1].glob("examples/codex/**/*.jsonl")
    lines = example.read_text(encoding="utf-8").splitlines(keepends=True)
    log = tmp_path / example.name
    refused = f'{{"session":"{name}","cwd":"{folder}", broken\n'
    log.write_text("".join(lines[:36]) + refused, encoding="utf-8")
    memory.ingest([log])
    kept = {one.id for one in memory.store.episodes(Filters(), limit=None)}
    [asked] = [one for one in memory.store.facts(Filters(), limit=None) if one.object == name]
    assert asked.episode_id is not None
    erase = memory.erasure
    done = erase.erase_fact(asked.id) if by == "fact" else erase.erase_episode(asked.episode_id)
    assert not any(row.startswith("s") for row in told(done))
    [rejection] = memory.sources.rejections()
    assert "broken" in rejection.excerpt
    with log.open("a", encoding="utf-8") as file:
        file.writelines(lines[36:])
    memory.ingest([log])
    came = [
        one
        for one in memory.store.episodes(Filters(), limit=None)
        if one.id not in kept and one.trust is Trust.DIRECT
    ]
    assert came
    assert {(one.session, one.project) for one in came} == {(name, folder)}


def test_an_episode_with_holes_is_not_told_anew(memory: Memory, tmp_path: Path) -> None:
    text = "My badge number is 5551-kestrel-9. Please write that down for the guard."
    said = turn(1, text)
    keep(memory, said)
    write(memory, statement(said, "My badge number is 5551-kestrel-9."))
    memory.erasure.erase_fact(1)
    left = texts(memory)
    receipt = write(
        memory,
        RecordSource(source=sample_source()),
        RecordEpisode(episode=said),
        statement(said, "My badge number is 5551-kestrel-9."),
        statement(said, "5551-kestrel-9", predicate="has_badge"),
        statement(said, "Please write that down for the guard."),
        RejectCandidate(
            candidate=statement(said, "5551-kestrel-9").candidate,
            episode=said.uid,
            owner="me",
            reason="generic",
        ),
    )
    assert receipt.kept_out > 0
    assert receipt.stored == 1  # what the rest of it says is welcome
    assert texts(memory) == left
    assert memory.sources.rejections() == []
    assert pieces_left(memory.path, "5551-kestrel-9") == []


def test_a_claim_does_not_come_back_from_another_old_episode(memory: Memory) -> None:
    keep(memory, first := turn(1, "I collect stamps from Fiji"))
    write(memory, statement(first, first.text))
    memory.erasure.erase_fact(1)
    second = turn(2, "Well: I collect stamps from Fiji", uid="other:2")
    keep(memory, second)
    assert write(memory, statement(second, "I collect stamps from Fiji")).kept_out == 1
    assert fact_ids(memory) == {}


def test_what_is_said_anew_after_the_erasure_is_something_new(
    memory: Memory, clock: FrozenClock
) -> None:
    fact = memory.remember("I collect stamps from Fiji")
    memory.erasure.erase_fact(fact.id)
    clock.advance(days=1)
    again = memory.remember("I collect stamps from Fiji")
    assert again.statement == "I collect stamps from Fiji"
    assert again.id != fact.id


def test_a_statement_of_before_is_refused_in_words(memory: Memory, clock: FrozenClock) -> None:
    fact = memory.remember("I collect stamps from Fiji")
    memory.erasure.erase_fact(fact.id)
    with pytest.raises(UsageError, match="erased"):
        memory.remember("I collect stamps from Fiji", at=clock() - DAY)
    assert fact_ids(memory) == {}


def test_a_turn_that_is_sent_again_stays_out(memory: Memory, clock: FrozenClock) -> None:
    memory.add_turn("The door code is 4711", session="chat", occurred_at=clock())
    memory.erasure.erase_episode(1)
    receipt = memory.add_turn("The door code is 4711", session="chat", occurred_at=clock())
    assert (receipt.episodes, receipt.kept_out) == (0, 1)
    other = memory.add_turn("The  DOOR code is 4711", session="other", occurred_at=clock())
    assert (other.episodes, other.kept_out) == (0, 1)  # the same moment, the same words
    clock.advance(days=2)
    assert memory.add_turn("The door code is 4711", session="chat").episodes == 1


def test_an_erasure_can_be_lifted(memory: Memory, clock: FrozenClock) -> None:
    memory.add_turn("The door code is 4711", session="chat", occurred_at=clock())
    memory.erasure.erase_episode(1)
    (erasure,) = memory.erasure.erasures()
    assert (erasure.what, erasure.counts, erasure.clean) == ("episode", {"episodes": 1}, True)
    memory.erasure.allow_again(erasure.id)
    assert memory.add_turn("The door code is 4711", session="chat", occurred_at=clock()).episodes
    assert memory.erasure.erasures()[0].allowed_at == clock()


def test_a_source_goes_whole_and_what_is_new_in_it_comes_in(
    memory: Memory, tmp_path: Path, clock: FrozenClock
) -> None:
    lines = [
        record("user", "u1", "Please look at the quagmire-ledger in /srv/quagmire today"),
        record("user", "u2", "And the marshland-report of yesterday"),
    ]
    log = session(tmp_path / "logs" / "quag.jsonl", *lines)
    memory.ingest([log])
    kept = session(tmp_path / "logs" / "kept.jsonl", record("user", "k1", "Run the tests please"))
    memory.ingest([kept])
    done = memory.erasure.erase_source(str(log))
    assert done.receipt.erased["sources"] == 1
    assert [one.source.uri for one in memory.store.sources()] == [str(kept)]
    assert pieces_left(memory.path, "quagmire-ledger", "marshland-report", str(log)[-12:]) == []
    memory.ingest([tmp_path / "logs"])
    assert texts(memory) == ["Run the tests please"]
    later = record("user", "u3", "What is new is welcome here", at="2099-11-20T10:00:00.000Z")
    clock.now = 4_102_000_000_000
    session(log, *lines, later)
    memory.ingest([log])
    assert sorted(texts(memory)) == ["Run the tests please", "What is new is welcome here"]


def test_a_refusal_goes_and_is_not_logged_again(memory: Memory) -> None:
    said = turn(1, "Perhaps I like marzipan-of-lubeck, perhaps not")
    keep(memory, said)
    refuse = RejectCandidate(
        candidate=replace(
            statement(said, "Perhaps I like").candidate, object="loves marzipan-of-lubeck"
        ),
        episode=said.uid,
        owner="me",
        reason="generic",
        detail="hedged",
    )
    write(memory, refuse)
    (refusal,) = memory.sources.rejections()
    done = memory.erasure.erase_rejection(refusal.id)
    assert done.receipt.erased == {"rejections": 1}
    assert write(memory, refuse).kept_out == 1
    assert memory.sources.rejections() == []


def test_words_that_were_erased_are_told_in_words(memory: Memory, clock: FrozenClock) -> None:
    said = "My favorite crypto is quokkacoin"
    memory.tell(said, planner="rules", at=clock(), message_id="m1")
    (target,) = ids_of(memory, "m1")
    memory.erasure.erase_episode(target)
    assert memory.keyed.keyed_facts() == []
    with pytest.raises(UsageError, match="erased"):
        memory.tell(said, planner="rules", at=clock(), message_id="m1")
    clock.advance(days=1)
    memory.tell(said, planner="rules", at=clock(), message_id="m2")
    assert [one.object for one in memory.keyed.keyed_facts()] == ["quokkacoin"]


# --- entities and owners --------------------------------------------------------------------------


def world(memory: Memory, owner: str = "me") -> None:
    """Let an owner care about a thing, and know a fact about it from a search."""
    said = turn(
        1,
        "I love the Quadrophon LS50 speakers, and tea",
        uid=f"{owner}:1",
        owner=owner,
        kind=EpisodeKind.COMMAND,
    )
    page = sample_episode(
        2,
        uid=f"{owner}:page",
        owner=owner,
        kind=EpisodeKind.SEARCH_RESULT,
        role=Role.TOOL,
        trust=Trust.EXTERNAL,
        text="Quadrophon news\nThe quadrophon ls50 has a coaxial driver.",
        attributes={"url": "https://example.com/quadrophon"},
    )
    name = "quadrophon ls50"
    content = "The quadrophon ls50 has a coaxial driver."
    fact = replace(
        statement(page, content, predicate="about", kind=FactKind.WORLD), trust=Trust.EXTERNAL
    )
    fact = replace(fact, candidate=replace(fact.candidate, subject=name), confidence=0.5)
    write(
        memory,
        RecordSource(source=sample_source()),
        RecordEpisode(episode=said),
        RecordEpisode(episode=page),
        CreateEntity(owner=owner, name=name, episode=said.uid),
        SetPreference(owner=owner, topic="tea", type=PreferenceType.LIKE, episode=said.uid),
        RecordEngagement(
            owner=owner,
            type=EngagementType.LIKE_COMMAND,
            valence=Valence.POSITIVE,
            strength=0.8,
            entity=name,
            episode=said.uid,
        ),
        trigger=Trigger.USER_MESSAGE,
    )
    write(
        memory,
        RecordSearch(
            owner=owner,
            query="quadrophon ls50 reviews",
            provider="folder",
            duration_ms=3,
            results=[page.uid],
        ),
        trigger=Trigger.USER_MESSAGE,
    )
    write(memory, fact, trigger=Trigger.USER_MESSAGE)


def test_an_entity_goes_with_everything_about_it(memory: Memory) -> None:
    world(memory)
    memory.embed()
    assert len(world_facts(memory.store, "me", "quadrophon ls50")) == 1
    done = memory.erasure.erase_entity("Quadrophon LS50")
    assert done.receipt.erased["entities"] == 1
    assert done.receipt.erased["facts"] == 1
    assert entities_of(memory.store, "me") == []
    assert engagements_of(memory.store, "me", entity_id=1) == []
    assert [one.query for one in search_logs(memory.store, "me")] == [""]
    assert [one.topic for one in preferences_of(memory.store, "me")] == ["tea"]
    assert texts(memory) == ["I love the ███████████████ speakers, and tea"]
    assert pieces_left(memory.path, "quadrophon ls50", "Quadrophon LS50", "coaxial driver") == []
    assert memory.check() == []
    with pytest.raises(UsageError, match="erased"):
        write(memory, RestoreEntity(entity_id=1))


def test_an_entity_does_not_come_back_by_old_words(memory: Memory, clock: FrozenClock) -> None:
    world(memory)
    memory.erasure.erase_entity("quadrophon ls50")
    old = turn(9, "What about the Quadrophon LS50?", uid="old:9")
    create = CreateEntity(owner="me", name="quadrophon ls50", episode=old.uid)
    write(
        memory,
        RecordSource(source=sample_source()),
        RecordEpisode(episode=old),
        create,
        trigger=Trigger.USER_MESSAGE,
    )
    assert entities_of(memory.store, "me") == []
    clock.advance(days=1)
    new = turn(10, "Tell me of the Quadrophon LS50 again", uid="n:1", occurred_at=clock())
    write(
        memory,
        RecordEpisode(episode=new),
        replace(create, episode=new.uid),
        trigger=Trigger.USER_MESSAGE,
    )
    assert [one.name for one in entities_of(memory.store, "me")] == ["quadrophon ls50"]


def test_an_entity_goes_from_answers_searches_and_pages_of_other_searches(memory: Memory) -> None:
    """What factbook itself wrote or fetched; what others stand on stays, and is told."""
    world(memory)
    name = "quadrophon ls50"
    shared = sample_episode(
        3,
        uid="me:shared",
        kind=EpisodeKind.SEARCH_RESULT,
        role=Role.TOOL,
        trust=Trust.EXTERNAL,
        text="Quadrophon LS50 and others\nThe Brumm 7 is smaller than the Quadrophon LS50.\n"
        "The Quadrophon-LS50 is white. The Brumm 7 is red.",
        attributes={
            "url": "https://example.com/quadrophon-ls50-or-brumm",
            "title": "Quadrophon LS50 and others",
            "provider": "folder",
        },
    )
    other = statement(
        shared,
        "The Brumm 7 is smaller than the Quadrophon LS50.",
        predicate="about",
        kind=FactKind.WORLD,
    )
    other = replace(
        other, trust=Trust.EXTERNAL, candidate=replace(other.candidate, subject="brumm 7")
    )
    cause = turn(4, "And the Brumm 7?", uid="me:4")
    write(
        memory,
        RecordSource(source=sample_source()),
        RecordEpisode(episode=cause),
        RecordEpisode(episode=shared),
        CreateEntity(owner="me", name="brumm 7", episode=cause.uid),
        RecordSource(
            source=replace(
                sample_source(), key="search:1", kind="search", uri=f"search:what is {name}"
            )
        ),
        trigger=Trigger.USER_MESSAGE,
    )
    for query in (f"what is {name}", "small speakers"):
        found = RecordSearch(
            owner="me", query=query, provider="folder", duration_ms=1, results=[shared.uid]
        )
        write(memory, found, trigger=Trigger.USER_MESSAGE)
    write(memory, other, trigger=Trigger.USER_MESSAGE)
    said = "You like tea. Shown from memory: quadrophon ls50 (f1). It is late."
    memory.add_turn(said, role=Role.ASSISTANT, session="chat")
    memory.embed()
    dry = memory.erasure.erase_entity(name, dry_run=True).receipt
    done = memory.erasure.erase_entity(name)
    assert done.receipt.erased == dry.erased
    shown = "Shown from memory: quadrophon ls50 (f1)."
    answer = said.replace(shown, "█" * len(shown))
    page = (
        "███████████████ and others\nThe Brumm 7 is smaller than the Quadrophon LS50.\n"
        "The ███████████████ is white. The Brumm 7 is red."
    )
    assert {answer, page} <= set(texts(memory))
    assert done.file is not None
    assert done.file.clean
    (fact,) = world_facts(memory.store, "me", "brumm 7")
    (kept,) = ids_of(memory, shared.uid)
    assert told(done) >= {f"e{kept}", f"f{fact.id}"}
    assert list(memory.erasure.find_residues(name).rows) == [f"e{kept}", f"f{fact.id}"]
    for gone in (f"search:what is {name}".encode(), b"quadrophon-ls50", b"Shown from memory"):
        assert gone not in held(memory.path)
    assert memory.check() == []

    last = memory.erasure.erase_episode(kept)
    assert last.file is not None
    assert told(last) == set()
    assert memory.erasure.find_residues(name).rows == []
    assert b"quadrophon" not in held(memory.path).lower()


def test_a_part_of_a_longer_name_is_another_thing(memory: Memory) -> None:
    said = turn(1, "I love Zorvex, and the Zorvex Prime 2", uid="z:1", kind=EpisodeKind.COMMAND)
    page = sample_episode(
        2,
        uid="z:page",
        kind=EpisodeKind.SEARCH_RESULT,
        role=Role.TOOL,
        trust=Trust.EXTERNAL,
        text="The Zorvex Prime 2 is red. Zorvex is a company.",
        attributes={"url": "https://example.com/zorvex-prime-2"},
    )
    write(
        memory,
        RecordSource(source=sample_source()),
        RecordEpisode(episode=said),
        RecordEpisode(episode=page),
        *(
            CreateEntity(owner="me", name=one, episode=said.uid)
            for one in ("zorvex", "zorvex prime 2")
        ),
        trigger=Trigger.USER_MESSAGE,
    )
    memory.add_turn("The Zorvex Prime 2 is red.", role=Role.ASSISTANT, session="chat")
    titles = ("ZORVEX prime-2 or not", "Zorvex makes the Zorvex Prime 2")
    write(
        memory,
        *(RecordSource(source=replace(sample_source(), key=one, title=one)) for one in titles),
    )
    done = memory.erasure.erase_entity("zorvex")
    kept = {one.source.title for one in memory.store.sources()}
    assert kept & set(titles) == {titles[0]}
    assert "The Zorvex Prime 2 is red. ██████ is a company." in texts(memory)
    assert "The Zorvex Prime 2 is red." in texts(memory)
    assert done.file is not None
    assert told(done)  # the longer name is told, and stays
    assert [one.name for one in memory.interests.entities()] == ["zorvex prime 2"]


def test_where_a_name_still_stands_is_told_however_much_goes(memory: Memory) -> None:
    """Many texts go at once: the name is looked for all the same, and what is not is told."""
    world(memory)
    name = "quadrophon ls50"
    pages = [
        sample_episode(
            10 + n,
            uid=f"me:{n}",
            kind=EpisodeKind.SEARCH_RESULT,
            role=Role.TOOL,
            trust=Trust.EXTERNAL,
            text=f"The quadrophon ls50 was sold {n} times in the year of the {n}th fair.",
        )
        for n in range(100, 140)
    ]
    facts = []
    for one in pages:
        fact = statement(one, one.text, predicate="about", kind=FactKind.WORLD)
        fact = replace(fact, candidate=replace(fact.candidate, subject=name), trust=Trust.EXTERNAL)
        facts.append(fact)
    write(
        memory,
        RecordSource(source=sample_source()),
        *(RecordEpisode(episode=one) for one in pages),
        *facts,
        trigger=Trigger.USER_MESSAGE,
    )
    keep(memory, turn(5, "My aunt asked of the QUADROPHON  LS50 once", uid="aunt"))
    (aunt,) = ids_of(memory, "aunt")
    done = memory.erasure.erase_entity(name)
    assert done.file is not None
    assert told(done) == {f"e{aunt}"}


def test_what_came_in_by_an_episode_goes_with_it_unless_more_speaks_for_it(memory: Memory) -> None:
    world(memory)
    again = turn(5, "Yes, I like them", uid="me:again")
    write(
        memory,
        RecordSource(source=sample_source()),
        RecordEpisode(episode=again),
        RecordEngagement(
            owner="me",
            type=EngagementType.EXPLICIT_STATEMENT,
            valence=Valence.POSITIVE,
            strength=0.7,
            entity="quadrophon ls50",
            episode=again.uid,
        ),
        trigger=Trigger.USER_MESSAGE,
    )
    first, second = ids_of(memory, "me:1", "me:again")
    memory.erasure.erase_episode(first)
    assert [one.episode_id for one in entities_of(memory.store, "me")] == [second]
    assert preferences_of(memory.store, "me") == []  # only the first message spoke of tea
    memory.erasure.erase_episode(second)
    assert entities_of(memory.store, "me") == []
    assert world_facts(memory.store, "me", "quadrophon ls50") == []


def test_the_picture_of_a_notice_goes_with_the_page_that_showed_it(memory: Memory) -> None:
    picture = "https://pictures.example/umbrella-clinic/ward-seven.jpg"
    driver = "The kef ls50 meta has a MAT driver."
    announce(memory.store, "kef ls50 meta", driver, now=memory.clock(), image=picture)
    page = turn(
        3,
        "A page about the umbrella clinic.",
        kind=EpisodeKind.SEARCH_RESULT,
        trust=Trust.EXTERNAL,
        attributes={"image": picture},
    )
    keep(memory, page)
    [number] = ids_of(memory, page.uid)
    memory.erasure.erase_episode(number)
    [notice] = notices_of(memory.store)
    assert (notice.image, notice.state) == ("", NoticeState.WAITING)
    assert pieces_left(memory.path, "umbrella-clinic/ward-seven") == []


def test_an_owner_goes_whole_and_others_stay(memory: Memory) -> None:
    world(memory, "bertramina")
    mine = turn(7, "I am someone else and I like tea", uid="me:7")
    keep(memory, mine)
    write(memory, statement(mine, mine.text))
    fact = memory.remember("I was born in Umbrellastadt", owner="bertramina")
    memory.review.feedback(fact.id, right=True, owner="bertramina")
    write(memory, RecordInjection(session="s", owner="bertramina", mode="tool", items=["f1"]))
    memory.embed()
    done = memory.erasure.erase_owner("bertramina")
    assert done.file is not None
    assert done.file.clean
    assert (
        pieces_left(memory.path, "bertramina", "Umbrellastadt", "quadrophon ls50", "coaxial driver")
        == []
    )
    assert texts(memory) == [mine.text]
    assert list(fact_ids(memory)) == [mine.text]
    assert memory.store.find(INJECTION, {"owner": EVERYONE}) == []
    assert entities_of(memory.store, "bertramina", include_retired=True) == []
    with pytest.raises(NotFound):
        memory.erasure.erase_owner("bertramina")


def test_an_owner_goes_with_what_was_erased_of_them_before(memory: Memory) -> None:
    first = memory.remember("I was born in Umbrellastadt", owner="bertramina")
    memory.remember("I keep ferrets", owner="bertramina")
    memory.erasure.erase_fact(first.id, owner="bertramina")
    memory.erasure.erase_owner("bertramina")
    assert pieces_left(memory.path, "bertramina") == []


# --- the bytes of the file ------------------------------------------------------------------------


# Letters of which no word of the schema is made: what is found was left by the erasure.
_LETTERS = st.text("qxzjkvw0123456789", min_size=8, max_size=14)
_ODD = st.sampled_from(
    ["ß\u0301zqv\u202exkcd", 'q"z\\x\nkw:pv', "🙂🙃🙂qv", "日本語の秘密です", "a\x00bqzwxkv"]
)
_SECRETS = st.lists(
    st.lists(st.one_of(_LETTERS, _ODD), min_size=1, max_size=60), min_size=1, max_size=6
)


@settings(
    max_examples=examples(8),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(secrets=_SECRETS, seed=st.integers(0, 2**16), whole=st.booleans(), embedded=st.booleans())
def test_no_window_of_an_erased_text_is_left_in_the_file(
    tmp_path: Path, secrets: list[list[str]], seed: int, whole: bool, embedded: bool
) -> None:
    """After erasing, no eight bytes in a row of random texts stand anywhere in the file."""
    rng = random.Random(seed)
    path = tmp_path / f"p{seed}-{time.monotonic_ns()}.db"
    said = list(dict.fromkeys(" ".join(one) for one in secrets))
    plain = ["ABCDEFG"[n % 7 :] + f" AND NOTE {n} OF {rng.randrange(9999)}." for n in range(40)]
    with Memory(
        path, clock=FrozenClock(), key_file=tmp_path / "key", embedder=Words(), model=None
    ) as memory:
        order = [*((True, n) for n in range(len(said))), *((False, n) for n in range(len(plain)))]
        rng.shuffle(order)
        for is_secret, n in order:
            text = f"{plain[n % 40]} {said[n]}" if is_secret else plain[n]
            one = turn(len(plain) + n if is_secret else n, text, uid=f"{is_secret}:{n}")
            keep(memory, one)
            write(memory, statement(one, said[n] if is_secret else plain[n]))
            if is_secret:
                fact = statement(one, said[n])
                refused = replace(fact.candidate, object=said[n] + "!")
                write(
                    memory,
                    RejectCandidate(
                        candidate=refused, episode=one.uid, owner="me", reason="generic", detail=""
                    ),
                    Propose(kind="predicate", key=said[n], title="t", payload={"x": [said[n]]}),
                )
            if embedded and rng.random() < 0.3:
                memory.embed()
        every = memory.store.facts(Filters(owner=EVERYONE), limit=None)
        numbers = {one.statement: one.id for one in every}
        for text in said:
            if rng.random() < 0.5:
                done = memory.erasure.erase_fact(numbers.pop(text), whole_episodes=whole)
            else:
                evidence = evidence_of(memory.store, [numbers[text]])[numbers.pop(text)]
                done = memory.erasure.erase_episode(evidence[0].episode_id)
                for one in evidence[1:]:
                    memory.erasure.erase_episode(one.episode_id)
            assert done.file is not None
        assert pieces_left(path, *said) == []
        assert memory.check() == []
        assert len(texts(memory)) >= len(plain)


def test_windows_find_every_piece_wherever_it_stands(tmp_path: Path) -> None:
    rng = random.Random(3)
    noise = bytes(rng.randrange(256) for _ in range(70_000))
    windows = Windows.of(["a secret sentence", "another one"])
    assert len(windows) == 10 + 4
    for place in (0, 1, 7, 4095, 69_990):
        (tmp_path / "f").write_bytes(noise[:place] + b"ret sent" + noise[place:])
        assert len(windows.found_in(blocks_of(tmp_path / "f"))) == 1, place
    (tmp_path / "f").write_bytes(noise + b"ret sen")
    assert len(windows.found_in(blocks_of(tmp_path / "f"))) == 0
    assert windows.sharing(["no", "a secret se", "x a secret sent y", "another"], least=12) == [2]
    assert len(windows.without(Windows.of(["a secret"]))) == 13
    assert len(Windows.of(["short"]).found_in(blocks_of(tmp_path / "none"))) == 0


def test_pieces_that_were_left_behind_are_found_and_go(memory: Memory) -> None:
    """Cells that moved and terms of an index stay in free parts: the file is written anew then."""
    secret = "the quagmire-ledger of vexburgh"
    keep(memory, turn(1, f"We keep {secret} in the cellar"), turn(2, "The sun shines."))
    connection = apsw.Connection(str(memory.path))
    connection.execute("PRAGMA secure_delete=OFF").fetchall()
    connection.execute("CREATE TABLE scratch (text TEXT)")
    connection.execute("INSERT INTO scratch VALUES (?)", (f"a stale copy of {secret}",))
    connection.execute("DROP TABLE scratch")
    connection.close()
    done = memory.erasure.erase_episode(1)
    assert done.file is not None
    assert (done.file.clean, done.file.rewritten) == (True, True)
    assert pieces_left(memory.path, secret) == []
    assert texts(memory) == ["The sun shines."]
    quiet = memory.erasure.erase_episode(2)
    assert quiet.file is not None
    assert (quiet.file.clean, quiet.file.rewritten) == (True, False)


def test_a_reader_keeps_the_file_from_being_cleaned_and_it_is_said(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factbook.store.sqlite.files.PATIENCE_MS", 100)
    keep(memory, turn(1, "The quagmire-ledger is in the cellar"))
    reader = apsw.Connection(str(memory.path))
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM episode_row").get == 1
    done = memory.erasure.erase_episode(1)
    assert done.file is not None
    assert not done.file.clean
    assert done.file.waiting
    assert texts(memory) == []
    assert pieces_left(memory.path, "quagmire-ledger") != []  # no promise was made
    assert [one.what for one in memory.check()] == ["erasure"]
    found = memory.erasure.finish_erasing()
    assert found is not None
    assert not found.clean
    reader.execute("ROLLBACK")
    reader.close()
    found = memory.erasure.finish_erasing()
    assert found is not None
    assert (found.clean, found.waiting) == (True, "")
    assert pieces_left(memory.path, "quagmire-ledger") == []
    assert memory.erasure.finish_erasing() is None


def test_what_is_gone_is_said_where_the_disk_does_not_take_the_cleaning(memory: Memory) -> None:
    resource = pytest.importorskip("resource")
    keep(memory, *(turn(n, f"line {n} of the quagmire-ledger") for n in range(1, 9)))
    memory.erasure.erase_episode(1)  # which empties the log
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The log takes the erasure, and the file is longer than a file may be from here on.
    limit = memory.path.stat().st_size // 2
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        done = memory.erasure.erase_episode(3)
        assert done.file is not None
        assert not done.file.clean
        assert done.file.waiting
        assert "line 3 of the quagmire-ledger" not in texts(memory)
        again = memory.erasure.finish_erasing()
        assert again is not None
        assert not again.clean
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [one.what for one in memory.check()] == ["erasure"]
    found = memory.erasure.finish_erasing()
    assert found is not None
    assert found.clean
    assert memory.check() == []


def test_a_reader_of_our_own_that_stands_still_is_said_too(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factbook.store.sqlite.files.PATIENCE_MS", 100)
    keep(memory, *(turn(n, f"line {n} of many") for n in range(1, 9)))
    rows = memory.store.episodes(Filters(), limit=None)
    next(rows)
    done = memory.erasure.erase_episode(3)
    assert done.file is not None
    assert not done.file.clean
    rows.close()  # type: ignore[attr-defined]
    del rows
    found = memory.erasure.finish_erasing()
    assert found is not None
    assert found.clean


def test_it_can_be_asked_where_a_text_stands(memory: Memory) -> None:
    said = turn(1, "The quagmire-ledger is in the cellar")
    keep(memory, said)
    write(memory, statement(said, said.text))
    found = memory.erasure.find_residues("quagmire-ledger")
    assert (list(found.rows), found.pieces) == (["e1", "f1"], 0)
    memory.erasure.erase_fact(1, whole_episodes=True)
    found = memory.erasure.find_residues("quagmire-ledger")
    assert (list(found.rows), found.in_file, found.pieces) == ([], False, 0)
    with pytest.raises(UsageError):
        memory.erasure.find_residues("  ")


def test_what_this_process_holds_is_let_go(memory: Memory) -> None:
    for n in range(1, 5):
        memory.add_turn(f"The quagmire-ledger number {n} is in the cellar", session="s")
    memory.embed()
    assert memory.recall("quagmire-ledger").hits
    memory.search_memory("quagmire-ledger", session="s")
    memory.sync_turn("Where is the ledger?", "In the cellar.", session="s")
    for n in range(1, 5):
        memory.erasure.erase_episode(n)
    assert not any("quagmire" in hit.text for hit in memory.recall("quagmire-ledger").hits)
    assert not any("quagmire" in hit.text for hit in memory.take_prefetched("s").memories)


def test_another_process_sees_that_it_is_gone(memory: Memory, tmp_path: Path) -> None:
    said = ("the quagmire-ledger is blue", "my dog ate a quagmire-ledger", "quagmire-ledger, 4 pm")
    keep(memory, *(turn(n, text) for n, text in enumerate(said, 1)))
    memory.embed()
    with Memory(
        memory.path, mode="read", key_file=tmp_path / "key", embedder=Words(), model=None
    ) as other:
        before = {hit.id for hit in other.recall("quagmire-ledger").hits}
        assert "e2" in before
        memory.erasure.erase_episode(2)
        assert {hit.id for hit in other.recall("quagmire-ledger").hits} == before - {"e2"}


# --- the seeds' views, export, the schema ---------------------------------------------------------


def test_views_and_exports_leave_out_what_is_erased(memory: Memory) -> None:
    said = turn(1, "I keep ferrets.")
    keep(memory, said, turn(2, "The sun shines."))
    write(memory, statement(said, "I keep ferrets."))
    memory.erasure.erase_episode(1)
    connection = apsw.Connection(str(memory.path))
    for view, rows in (
        ("facts", 0),
        ("semantic_memory", 0),
        ("episodic_memory", 1),
        ("messagelog", 1),
        ("sessions", 1),
    ):
        assert connection.execute(f"SELECT count(*) FROM {view}").get == rows, view
    connection.close()
    records = [one["record"] for one in memory.export()]
    assert (records.count("episode"), records.count("fact")) == (1, 0)


def test_what_has_holes_is_restored_with_them(memory: Memory, tmp_path: Path) -> None:
    said = turn(1, "Hello there. My locker code is 77-zebra-19. See you on Monday.")
    keep(memory, said)
    write(memory, statement(said, "My locker code is 77-zebra-19."))
    write(memory, statement(said, "See you on Monday."))
    memory.erasure.erase_fact(1)
    with Memory(tmp_path / "new.db", key_file=tmp_path / "key", model=None) as other:
        assert other.import_(memory.export()).left == []
        assert texts(other) == texts(memory)
        assert list(fact_ids(other)) == ["See you on Monday."]
        assert write(other, RecordEpisode(episode=said)).kept_out == 1
        assert other.check() == []


def test_numbers_are_not_given_out_twice(memory: Memory) -> None:
    keep(memory, turn(1, "I keep ferrets."))
    memory.erasure.erase_episode(1)
    keep(memory, turn(2, "The sun shines."))
    assert ids_of(memory, "turn:2") == [2]


def test_an_audit_notices_what_an_erasure_left(memory: Memory) -> None:
    said = turn(1, "I keep ferrets.")
    keep(memory, said, turn(2, "The sun shines."))
    write(memory, statement(said, "I keep ferrets."))
    memory.erasure.erase_episode(1)
    connection = apsw.Connection(str(memory.path))
    for change, back, what in (
        ("UPDATE fact_row SET subject = 'x'", "UPDATE fact_row SET subject = ''", "erased"),
        (
            "UPDATE episode_data SET speaker = 'x' WHERE id = 1",
            "UPDATE episode_data SET speaker = '' WHERE id = 1",
            "erased",
        ),
        (
            "UPDATE episode_data SET uid = 'turn:1' WHERE id = 1",
            "UPDATE episode_data SET uid = 'erased:1' WHERE id = 1",
            "came_back",
        ),
        ("UPDATE erasure_row SET clean = 0", "UPDATE erasure_row SET clean = 1", "erasure"),
        (
            "INSERT INTO meta VALUES ('erasing', '1')",
            "DELETE FROM meta WHERE name = 'erasing'",
            "erasure",
        ),
    ):
        connection.execute(change)
        assert what in {one.what for one in memory.check()}, change
        connection.execute(back)
        assert memory.check() == [], change
    connection.close()


# --- kill -9 --------------------------------------------------------------------------------------

_KILLED = """
import sys
from factbook.memory import Memory
with Memory(sys.argv[1], key_file=sys.argv[2], model=None) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    memory.erasure.erase_owner("bertramina")
"""


def kill_many(tmp_path: Path, *, times: int) -> None:
    rng = random.Random(11)
    before, after = 0, 0
    delay = 0.02
    for n in range(times):
        path = tmp_path / f"k{n}.db"
        with Memory(path, key_file=tmp_path / "key", embedder=Words(), model=None) as memory:
            episodes = [
                turn(i, f"quagmire-ledger {i} {rng.random()}", uid=f"{i}", owner="bertramina")
                for i in range(120)
            ]
            keep(memory, *episodes, turn(500, "The sun shines."))
            write(memory, *(statement(one, one.text) for one in episodes[:40]))
        process = subprocess.Popen(
            [sys.executable, "-c", _KILLED, str(path), str(tmp_path / "key")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "HOME": str(tmp_path)},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.stdin.write(b"\n")
        process.stdin.flush()
        time.sleep(rng.uniform(0.0, delay))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()
        store = SQLiteStore(path, mode="write")
        left = [one.text for one in store.episodes(Filters(owner=EVERYONE), limit=None)]
        problems = {one.what for one in store.check()}
        assert len(left) in (1, 121)  # all or nothing
        if len(left) == 1:
            after += 1
            assert problems <= {"erasure"}
            files_of(store).scour()
            assert pieces_left(path, "quagmire-ledger") == []
        else:
            before += 1
            assert problems == set()
        assert store.check() == []
        store.close()
        delay = min(delay * 1.4, 1.0) if len(left) > 1 else max(delay * 0.8, 0.01)
    assert before or after


def test_kill_9_leaves_all_or_nothing(tmp_path: Path) -> None:
    kill_many(tmp_path, times=4)


@pytest.mark.slow
def test_kill_9_leaves_all_or_nothing_many_times(tmp_path: Path) -> None:
    kill_many(tmp_path, times=60)
