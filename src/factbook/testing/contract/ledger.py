"""What a store promises of its writes and moments, and of episodes, facts and evidence."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from factbook.errors import NotFound, UsageError
from factbook.model.facts import (
    EVERYONE,
    At,
    Cursor,
    EpisodeKind,
    Event,
    FactKind,
    LineCount,
    ModelTask,
    Role,
    SourceState,
    Stance,
    Status,
    Trigger,
    Trust,
)
from factbook.store.kinds import (
    ALIAS,
    CITED,
    COUNT,
    ENTITY,
    EPISODE,
    EVENT,
    EVIDENCE,
    FACT,
    MARK,
    MODEL_TASK,
    PROPOSAL,
    SOURCE,
    VECTOR,
    WAITING,
    Alias,
    DayCount,
    EntityRow,
    Mark,
    Other,
    Tally,
    Where,
)
from factbook.store.port import Store, first, marked
from factbook.store.rows import Filters, LifeWhere
from factbook.testing import sample_episode, sample_source
from factbook.testing.contract.base import NOW, SOURCES, Contract, evidence, life, of, writing
from factbook.testing.contract.examples import proposal


class LedgerContract(Contract):
    @of("writing")
    def test_a_write_that_fails_leaves_nothing(self, store: Store) -> None:
        def fail() -> None:
            with writing(store) as writer:
                writer.add_episodes([(1, sample_episode(9, text="tool 9"))])
                writer.add_facts([life(9, episode_id=4)])
                writer.put(MARK, [Mark("judge", 9, 0)])
                assert writer.find(MARK) == [Mark("judge", 9, 0)]
                raise NotFound(what="episode", key="4")

        with pytest.raises(NotFound):
            fail()
        assert store.episode_ids(["call:9"]) == {}
        assert store.lives(LifeWhere(ids=[4])) == []
        assert store.search("fact", ["9"], Filters(), 9) == []
        assert store.find(MARK) == []
        with writing(store) as writer:
            assert writer.add_facts([life(9, episode_id=3)]) == [4]  # nor is its number gone

    @of("writing")
    def test_writers_take_turns(self, store: Store) -> None:
        def count(_: int) -> None:
            with writing(store) as writer:
                row = first(writer, COUNT, {"day": "2025-11-21", "name": "turns"})
                writer.put(COUNT, [DayCount("2025-11-21", "turns", row.value + 1 if row else 1.0)])

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(count, range(20)))
        assert [row.value for row in store.find(COUNT)] == [20.0]

    @of("writing", "snapshot")
    def test_a_write_reads_what_it_has_written(self, store: Store) -> None:
        with writing(store) as writer:
            writer.put(MARK, [Mark("judge", 7, 0)])
            assert marked(writer, "judge").commit == marked(store, "judge").commit == 7
            with store.snapshot() as reads:
                assert marked(reads, "judge").commit == 7
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(marked, store, "judge").result().commit == 0

    @of("tenant", "find", "episodes", "lives", "search", "apart")
    def test_two_tenants_share_nothing(self, store: Store, tmp_path: Path) -> None:
        other = self.open(tmp_path, tenant="other")
        assert other.tenant != store.tenant
        with writing(store) as writer:
            writer.put(MARK, [Mark("judge", 7, 0)])
        assert list(other.episodes(Filters(owner=EVERYONE), limit=None)) == []
        assert other.lives(LifeWhere(ids=[1, 2, 3])) == []
        assert other.evidence(fact_ids=[1, 2, 3]) == []
        assert other.episode_ids(["call:1"]) == {}
        assert other.search("episode", ["tool"], Filters(owner=EVERYONE), 9) == []
        assert other.find(MARK) == []
        with other.apart() as reads:
            assert reads.whole_episodes([1, 2, 3]) == []
        other.close()

    @of("close")
    def test_what_was_written_is_there_again(self, store: Store, tmp_path: Path) -> None:
        store.close()
        again = self.open(tmp_path)
        assert again.texts("episode", [1]) == {1: "tool 1"}
        again.close()

    @of("close_thread")
    def test_a_thread_may_let_go_and_come_back(self, store: Store) -> None:
        def read() -> dict[int, str]:
            texts = store.texts("episode", [1])
            store.close_thread()
            return texts

        with ThreadPoolExecutor(1) as pool:
            assert [pool.submit(read).result() for _ in range(2)] == [{1: "tool 1"}] * 2
        assert read() == read() == {1: "tool 1"}

    @of("rehearsal")
    def test_a_rehearsal_is_seen_by_nobody(self, store: Store) -> None:
        with store.rehearsal() as copy:
            assert copy.texts("episode", [1]) == {1: "tool 1"}
            with writing(copy) as writer:
                writer.put(MARK, [Mark("judge", 7, 0)])
            assert marked(copy, "judge").commit == 7
            assert marked(store, "judge").commit == 0
            with writing(store) as writer:
                writer.put(MARK, [Mark("learn", 3, 0)])
            assert marked(copy, "learn").commit == 0
        assert [row.name for row in store.find(MARK)] == ["learn"]

    @of("apart")
    def test_what_is_read_apart_is_of_one_moment(self, store: Store) -> None:
        with store.apart() as reads:
            assert marked(reads, "judge").commit == 0
            with writing(store) as writer:  # who reads so may write meanwhile
                writer.put(MARK, [Mark("judge", 7, 0)])
            assert marked(reads, "judge").commit == 0
            assert marked(store, "judge").commit == 7

    @of("sources", "put_sources")
    def test_a_source_is_written_and_asked_for(self, store: Store) -> None:
        source_a, source_b, source_c = store.sources()
        assert [row.source.key for row in (source_a, source_b, source_c)] == [*SOURCES]
        assert (source_a.episode_count, source_b.episode_count) == (3, 0)
        assert (source_a.first_at, source_a.last_at) == (1_763_000_001_000, 1_763_000_003_000)
        lines = LineCount(lines=2, records=1, kept={"turn": 1}, waiting=4)
        cursor = Cursor(offset=7, line=2, state={"cwd": "/é"})
        after = dataclasses.replace(source_b, cursor=cursor, lines=lines)
        with writing(store) as writer:
            assert writer.put_sources([after, SourceState(source=sample_source("d"))]) == [2, 4]
            assert writer.put_sources([]) == []
        assert store.sources(keys=["b", "no such"]) == [after] == store.sources(ids=[2, 9])
        assert [row.id for row in store.sources()] == [1, 2, 3, 4]
        assert store.sources(keys=[]) == store.sources(ids=[]) == []
        assert [row.id for row in store.sources(owner="me")] == [1]
        assert store.sources(owner="ann") == []

    @of("untasked")
    def test_an_episode_waits_until_its_task_is_done(self, store: Store) -> None:
        def waiting(kind: str, *, now: int = NOW, tried_only: bool = False) -> list[int]:
            episodes = store.untasked(kind, Filters(), now=now, limit=9, tried_only=tried_only)
            return [episode.id for episode in episodes]

        assert waiting("typed") == [1, 2, 3]
        with writing(store) as writer:
            writer.put(
                MODEL_TASK,
                [
                    ModelTask("typed", 1, "done", 1, "", "1", 0, NOW),
                    ModelTask("typed", 2, "failed", 1, "timeout", "1", NOW + 5, NOW),
                    ModelTask("tell", 3, "aside", 5, "timeout", "1", 0, NOW),
                ],
            )
        assert waiting("typed") == [3]
        assert waiting("typed", now=NOW + 5) == [2, 3]
        assert waiting("typed", now=NOW + 5, tried_only=True) == [2]
        assert waiting("tell") == [1, 2]
        assert [
            episode.id for episode in store.untasked("typed", Filters(), now=NOW + 5, limit=1)
        ] == [2]
        assert store.untasked("typed", Filters(owner="ann"), now=NOW, limit=9) == []

    @of("add_episodes", "episodes_by_id", "episode_ids", "texts", "heads")
    def test_an_episode_comes_back_as_it_was_given(self, store: Store) -> None:
        given = sample_episode(
            4,
            kind=EpisodeKind.TURN,
            role=Role.USER,
            trust=Trust.DIRECT,
            text="bob: naïve 🙂",
            occurred_at=None,
            owner="ann",
            speaker="bob",
            session="s2",
            attributes={"url": "http://a/é"},
        )
        with writing(store) as writer:
            assert writer.add_episodes([(2, given)]) == [4]
            assert writer.episode_ids([given.uid]) == {given.uid: 4}
            assert writer.add_episodes([]) == []
        assert store.episode_ids(["call:1", given.uid, "no such"]) == {"call:1": 1, given.uid: 4}
        episodes = store.episodes_by_id([4, 1, 99])
        assert sorted(episodes) == [1, 4]
        got, head = episodes[4], store.heads([4, 99])[4]
        for name in ("uid", "kind", "role", "trust", "owner", "speaker", "session", "offset"):
            assert getattr(got, name) == getattr(head, name) == getattr(given, name)
        assert (got.text, got.position, got.occurred_at) == (given.text, 4, None)
        assert (got.source_id, got.host, got.project) == (2, "claude-code", "/home/ann/shop")
        assert (head.source_id, head.host, head.position) == (2, "claude-code", 4)
        assert head.attributes == given.attributes
        assert not head.injected
        assert head.other
        assert not head.told
        assert store.texts("episode", [4, 99]) == {4: given.text}
        assert store.texts("fact", [3, 1]) == {1: "used tool 1", 3: "used tool 3"}
        assert store.texts("fact", []) == {} == store.heads([])

    @of("episodes", "ids")
    def test_text_that_was_injected_is_left_out(self, store: Store) -> None:
        with writing(store) as writer:
            writer.add_episodes([(1, sample_episode(4, text="tool 4", injected=True))])
        for filters in (Filters(), Filters(owner=EVERYONE)):
            assert store.ids("episode", filters) == [1, 2, 3]
            assert [episode.id for episode in store.episodes(filters, limit=None)] == [1, 2, 3]

    @of("episodes", "ids", "search")
    def test_episodes_are_filtered(self, store: Store) -> None:
        turn = sample_episode(
            4,
            text="tool 4",
            kind=EpisodeKind.TURN,
            role=Role.USER,
            trust=Trust.DIRECT,
            owner="ann",
            session="s2",
            project="/srv/x",
        )
        with writing(store) as writer:
            writer.add_episodes([(2, turn)])
        at = 1_763_000_000_000
        for filters, ids in (
            (Filters(), [1, 2, 3]),
            (Filters(owner="ann"), [4]),
            (Filters(owner=EVERYONE), [1, 2, 3, 4]),
            (Filters(owner="bob"), []),
            (Filters(owner=EVERYONE, episode_kinds=[EpisodeKind.TURN]), [4]),
            (Filters(owner=EVERYONE, roles=[Role.USER]), [4]),
            (Filters(owner=EVERYONE, trusts=[Trust.DIRECT, Trust.EXTERNAL]), [4]),
            (Filters(owner=EVERYONE, session="s2"), [4]),
            (Filters(owner=EVERYONE, project="srv"), [4]),
            (Filters(owner=EVERYONE, host="codex"), []),
            (Filters(since=at + 2000), [2, 3]),
            (Filters(until=at + 2000), [1]),
            (Filters(ids=[2, 4]), [2]),
            (Filters(before=2), [1]),
            (Filters(ids=[]), []),
        ):
            assert store.ids("episode", filters) == ids
            assert [episode.id for episode in store.episodes(filters, limit=None)] == ids
            hits = store.search("episode", ["tool"], filters, 9)
            assert sorted(id_ for id_, _ in hits) == ids

    @of("episodes", "facts")
    def test_what_is_listed_has_an_order_and_a_limit(self, store: Store) -> None:
        for read in (store.episodes, store.facts):
            assert [row.id for row in read(Filters(), limit=2)] == [1, 2]
            assert [row.id for row in read(Filters(), limit=2, newest_first=True)] == [3, 2]
            assert [row.id for row in read(Filters(), limit=None, newest_first=True)] == [3, 2, 1]

    @of("add_facts", "lives", "facts_by_id")
    def test_a_fact_comes_back_as_it_was_given(self, store: Store) -> None:
        given = life(4, object="naïve", owner="ann", episode_id=1, pinned=True, valid_to=99)
        with writing(store) as writer:
            assert writer.add_facts([given]) == [4]
            assert writer.lives(LifeWhere(ids=[4])) == [given._replace(id=4, learned_at=NOW)]
            assert writer.add_facts([]) == []
            writer.add_evidence([evidence(4, 1)])
        assert store.lives(LifeWhere(ids=[4])) == [given._replace(id=4, learned_at=NOW)]
        facts = store.facts_by_id([4, 1, 99])
        assert sorted(facts) == [1, 4]
        for name in ("owner", "subject", "predicate", "object", "statement", "kind", "status"):
            assert getattr(facts[4], name) == getattr(given, name)
        assert (facts[4].pinned, facts[4].valid_to, facts[4].episode_id) == (True, 99, 1)
        assert (facts[4].host, facts[4].project) == ("claude-code", "/home/ann/shop")

    @of("add_facts", "add_episodes", "add_evidence", "whole_episodes", "evidence")
    def test_what_comes_from_another_store_keeps_its_ids_and_times(self, store: Store) -> None:
        given = sample_episode(
            9, text="tool 9", attributes={"url": "http://a"}, pasted=((0, 4),), embed=True
        )
        mine = sample_episode(11, text="tool 11", injected=True, embed=False)
        fact = life(9, id=7, learned_at=5, episode_id=9)
        proof = evidence(7, 9, learned_at=6)
        with writing(store) as writer:
            both = [(2, given), (2, mine)]
            assert writer.add_episodes(both, kept=[(9, 8), (11, 7)]) == [9, 11]
            assert writer.add_episodes([(1, sample_episode(12))], kept=[(3, 0)]) == [12]
            assert writer.add_facts([fact, life(12, id=2, episode_id=12)]) == [7, 8]
            assert writer.add_evidence([proof, evidence(8, 12)]) == 2
        kept = store.whole_episodes([11, 9, 12, 99])
        assert [
            (kept_episode.id, kept_episode.source_id, kept_episode.learned_at)
            for kept_episode in kept
        ] == [
            (9, 2, 8),
            (11, 2, 7),
            (12, 1, 0),
        ]
        assert [kept_episode.episode for kept_episode in kept[:2]] == [
            dataclasses.replace(episode, source="b") for episode in (given, mine)
        ]
        assert store.whole_episodes([]) == []
        assert [row.learned_at for row in store.lives(LifeWhere(ids=[7, 8]))] == [5, NOW]
        assert store.facts_by_id([7])[7].learned_at == 5
        assert [row.learned_at for row in store.evidence(fact_ids=[7, 8])] == [6, NOW]
        assert store.search("fact", ["tool"], Filters(ids=[7]), 9)[0][0] == 7
        assert store.changed("fact", At(), limit=None).came == [1, 2, 3, 7, 8]

    @of("lives")
    def test_rows_of_facts_are_asked_for_by_what_is_given(self, store: Store) -> None:
        [fact] = store.lives(LifeWhere(ids=[1]))
        with writing(store) as writer:
            writer.add_facts(
                [
                    life(1, predicate="user.name", owner="ann", episode_id=1),
                    life(1, predicate="user.name.first", owner="ann", episode_id=1),
                    life(1, predicate="user.namesake", owner="ann", episode_id=1, retired_at=5),
                ]
            )
            writer.put_facts([(fact, fact._replace(merged_into_id=2, retired_at=5))])
            [other] = writer.lives(LifeWhere(ids=[2]))
            writer.put_facts([(other, other._replace(superseded_by=3, retired_at=5))])
        for where, ids in (
            (LifeWhere(ids=[3, 1, 99]), [1, 3]),
            (LifeWhere(ids=[]), []),
            (LifeWhere(claims=[fact.claim, b"no such"]), [1]),
            (LifeWhere(owner="ann"), [4, 5, 6]),
            (LifeWhere(owner="ann", current=True), [4, 5]),
            (LifeWhere(owner="ann", current=False), [6]),
            (LifeWhere(owner="ann", under="user.name"), [4, 5]),
            (LifeWhere(owner="ann", predicates=["user.name"]), [4]),
            (LifeWhere(owner="me", subjects=["action_2", "x"]), [2]),
            (LifeWhere(ids=[1, 4], owner="me"), [1]),
            (LifeWhere(kinds=[fact.kind], current=True), [3, 4, 5]),
            (LifeWhere(merged_into=[2]), [1]),
            (LifeWhere(superseded_by=[3]), [2]),
        ):
            assert [row.id for row in store.lives(where)] == ids
            assert [row.id for row in store.lives(where, limit=1)] == ids[:1]

    @of("put_facts")
    def test_a_change_of_a_fact_writes_what_differs(self, store: Store) -> None:
        [before] = store.lives(LifeWhere(ids=[1]))
        with writing(store) as writer:
            writer.put_facts([(before, before._replace(confidence=0.5, confidence_at=9))])
        with writing(store) as writer:  # of what was read before
            writer.put_facts([(before, before._replace(pinned=True)), (before, before)])
        [after] = store.lives(LifeWhere(ids=[1]))
        assert after == before._replace(confidence=0.5, confidence_at=9, pinned=True)

    @of("facts", "ids", "search")
    def test_facts_that_are_no_longer_current_are_left_out(self, store: Store) -> None:
        fact_1, fact_2, fact_3 = store.lives(LifeWhere(ids=[1, 2, 3]))
        retired = fact_1._replace(status=Status.RETRACTED, retired_at=9)
        with writing(store) as writer:
            writer.put_facts([(fact_1, retired), (fact_2, fact_2._replace(status=Status.PROPOSED))])
            writer.put_facts([(fact_3, fact_3._replace(confidence=0.25))])
        for filters, ids in (
            (Filters(), [3]),
            (Filters(proposed=True), [2, 3]),
            (Filters(min_confidence=0.25), [3]),
            (Filters(min_confidence=0.3), []),
            (Filters(rules=["used_tool"]), [3]),
            (Filters(rules=["other"]), []),
            (Filters(subject="action_3", kinds=[fact_1.kind]), [3]),
            (Filters(subject="action_1"), []),
            (Filters(owner="ann"), []),
            (Filters(ids=[3, 1]), [3]),
            (Filters(before=3), []),
        ):
            assert [fact.id for fact in store.facts(filters, limit=None)] == ids
            assert store.ids("fact", filters) == ids
            assert sorted(id_ for id_, _ in store.search("fact", ["tool"], filters, 9)) == ids

    @of("tally")
    def test_facts_are_counted_by_their_fields(self, store: Store) -> None:
        [fact] = store.lives(LifeWhere(ids=[1]))
        with writing(store) as writer:
            writer.put_facts([(fact, fact._replace(retired_at=9))])
        newest = store.facts_by_id([2])[2].learned_at
        where: Where = {"owner": "me", "retired_at": None}
        assert store.tally(FACT, ["status"], where, most="learned_at", distinct="object") == {
            (Status.ACTIVE,): Tally(2, newest, 2)
        }
        with pytest.raises(UsageError):
            store.tally(FACT, ["status"])

    @of("tally")
    def test_what_has_verbs_of_its_own_is_counted_too(self, store: Store) -> None:
        with writing(store) as writer:
            writer.add_episodes([(2, sample_episode(4, text="tool 4", owner="ann"))])
            writer.add_evidence([evidence(1, 2, rule="other")])
            writer.set_vectors("episode", [2], b"\0\0", model="m", dim=1)
        assert store.tally(EPISODE, ["owner", "source_id"], {"owner": EVERYONE}) == {
            ("me", 1): Tally(3),
            ("ann", 2): Tally(1),
        }
        assert store.tally(EPISODE, [], {"owner": "ann", "source_id": 1}) == {}
        assert store.tally(SOURCE, []) == {(): Tally(3)}
        assert store.tally(EVIDENCE, ["rule"]) == {("used_tool",): Tally(3), ("other",): Tally(1)}
        assert store.tally(EVIDENCE, [], {"rule": "other"}) == {(): Tally(1)}
        assert store.tally(VECTOR, ["target"]) == {("episode",): Tally(1)}
        assert store.tally(WAITING, ["target"]) == {("episode",): Tally(3)}
        assert store.tally(WAITING, [], {"target": "episode"}) == {(): Tally(3)}
        assert store.tally(WAITING, [], {"target": "fact"}) == {}

    @of("tally")
    def test_evidence_is_counted_by_what_became_of_its_fact(self, store: Store) -> None:
        [fact] = store.lives(LifeWhere(ids=[1]))
        gone = fact._replace(kind=FactKind.STATEMENT, status=Status.SUPERSEDED, confidence=0.5)
        with writing(store) as writer:
            writer.put_facts([(fact, gone)])
            writer.add_evidence([evidence(1, 3), evidence(2, 1, stance=Stance.CONTRADICTS)])
        by = ["episode_id", "status"]
        assert store.tally(CITED, by, {"episode_id": [1, 3, 9]}, most="confidence") == {
            (1, "superseded"): Tally(1, 0.5),
            (1, "active"): Tally(1, 1.0),
            (3, "superseded"): Tally(1, 0.5),
            (3, "active"): Tally(1, 1.0),
        }
        where: Where = {"stance": "supports", "kind": "statement", "status": Other("merged_into")}
        assert store.tally(CITED, ["fact_id"], where) == {(1,): Tally(2)}

    @of("each_text")
    def test_every_text_is_told_with_the_row_that_it_stands_in(self, store: Store) -> None:
        told = sample_episode(4, text="Quokkas nap.", attributes={"page": "quokkas.html"})
        detail = {"why": ["quokka"]}
        rated = Event(0, NOW, "test", Trigger.COMMAND, "rate", "fact", 2, detail)
        with writing(store) as writer:
            writer.put_sources([SourceState(source=sample_source("file:/quokka.jsonl"))])
            writer.add_episodes([(2, told)])
            writer.add_facts([life(4, episode_id=4, object="quokka")])
            writer.add_evidence([evidence(3, 4, quote="Quokkas nap")])
            writer.add(ENTITY, [EntityRow(0, "me", "quokka", NOW, NOW, 4, Trigger.COMMAND)])
            writer.add(ALIAS, [Alias("me", "quokkas", 1)])
            writer.add(EVENT, [rated])
            writer.add(PROPOSAL, [proposal(1, b"a", payload={"says": {"object": "quokka"}})])
            inside = {row for row, text in writer.each_text() if "quokka" in text.lower()}
        texts = [*store.each_text()]
        assert {row for row, text in texts if "quokka" in text.lower()} == inside
        assert inside == {"e4", "f2", "f4", "n1", "o1", "s4"}  # no quote of it: that is in e4
        assert {row for row, text in texts if "tool 1" in text} == {"e1", "f1"}
        assert not any("call:4" in text for _, text in texts)  # ids that were drawn are no texts

    @of("name", "files")
    def test_a_store_is_named_in_messages(self, store: Store, tmp_path: Path) -> None:
        other = self.open(tmp_path, tenant="two")
        assert store.name != other.name
        assert store.files is None or store.files.path.exists()
        other.close()

    @of("evidence", "add_evidence", "drop_evidence")
    def test_evidence_is_of_a_fact_and_an_episode(self, store: Store) -> None:
        against = evidence(1, 3, rule="other", method="", stance=Stance.CONTRADICTS, quote="to")
        with writing(store) as writer:
            assert writer.add_evidence([against, evidence(1, 2)]) == 2
            assert writer.add_evidence([]) == 0
        stored = store.evidence(fact_ids=[1, 9])
        at = stored[0].learned_at
        expected = [evidence(1, 1), evidence(1, 2), against]
        assert stored == [row._replace(learned_at=at) for row in expected]

        def pairs(**asked: object) -> list[tuple[int, int]]:
            rows = store.evidence(**asked)  # type: ignore[arg-type]
            return [(row.fact_id, row.episode_id) for row in rows]

        assert pairs(fact_ids=[2, 1], each=2) == [(1, 1), (1, 2), (2, 2)]
        assert pairs(episode_ids=[2]) == [(1, 2), (2, 2)]
        assert pairs(pairs=[(1, 3), (3, 1), (2, 2)]) == [(1, 3), (2, 2)]
        assert pairs(pairs=[]) == pairs(fact_ids=[]) == pairs(episode_ids=[]) == []
        with writing(store) as writer:
            assert writer.drop_evidence([(1, 3), (1, 2), (3, 1)]) == 2
        assert store.evidence(fact_ids=[1]) == stored[:1]
