"""What a write through `apply` leaves in a store, and what its receipts say of that."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from factbook import policy
from factbook.apply.apply import apply
from factbook.errors import EmbedderMismatch, ModelError, NotAllowed, NotFound, UsageError
from factbook.model.facts import (
    EVERYONE,
    Cursor,
    Episode,
    EpisodeKind,
    FactKind,
    LineCount,
    Millis,
    Receipt,
    RejectedLine,
    Role,
    Status,
    Trigger,
    Trust,
)
from factbook.model.ops import (
    AdvanceCursor,
    BeginCall,
    ChangeKeys,
    EndCall,
    FailTask,
    FinishTask,
    KeyStep,
    NoteReaders,
    Op,
    RecordEpisode,
    RecordSource,
    RejectCandidate,
    RejectLine,
    RetryTasks,
    StoreVectors,
    WithdrawEvidence,
)
from factbook.store.derived.facts import lives_by_id
from factbook.store.derived.keyed import key_history, keyed_facts
from factbook.store.derived.ledger import evidence_of
from factbook.store.derived.readers import STATEMENTS, read_by_others
from factbook.store.derived.tasks import open_tasks
from factbook.store.kinds import CALL, REJECTION
from factbook.store.port import Reads, Store, events_of
from factbook.store.rows import Filters, LifeWhere
from factbook.testing import DAY, sample_episode, sample_fact, sample_source
from factbook.testing.contract.base import Contract, of

_SEEN = (FactKind.OBSERVATION,)


class Counts(NamedTuple):
    sources: int
    episodes: int
    facts: int
    evidence: int


def counts(reads: Reads) -> Counts:
    every = Filters(owner=EVERYONE)
    facts = reads.ids("fact", every)
    said = reads.evidence(fact_ids=facts)
    return Counts(len(reads.sources()), len(reads.ids("episode", every)), len(facts), len(said))


def _recorded(episode: Episode) -> list[Op]:
    return [RecordSource(source=sample_source()), RecordEpisode(episode=episode)]


class AppliedContract(Contract):
    def _write(self, store: Store, ops: Sequence[Op], *, now: Millis = 10) -> Receipt:
        return apply(store, ops, trigger=Trigger.SESSION_LOG, actor="test", now=now)

    def _two_calls(self) -> tuple[list[Op], Episode, Episode]:
        first, second = sample_episode(1), sample_episode(2, subject="action_1")
        ops: list[Op] = [
            RecordSource(source=sample_source()),
            RecordEpisode(episode=first),
            RecordEpisode(episode=second),
            sample_fact(first, "used_tool", "Bash"),
            sample_fact(second, "used_tool", "Bash"),
            sample_fact(first, "connects_to_host", "nas", confidence=0.9),
        ]
        return ops, first, second

    def _write_calls(self, store: Store) -> None:
        self._write(store, self._two_calls()[0])

    @of("check")
    def test_a_receipt_says_what_the_database_changed(self, ledger: Store) -> None:
        ops, _, _ = self._two_calls()
        receipt = self._write(ledger, ops)
        assert (receipt.sources, receipt.episodes, receipt.stored) == (1, 2, 2)
        assert receipt.evidence == 3  # two calls of one tool in one action: one fact, two pieces
        assert counts(ledger) == (1, 2, 2, 3)
        assert ledger.check() == []

    def test_writing_the_same_again_changes_nothing(self, ledger: Store) -> None:
        ops, _, _ = self._two_calls()
        self._write(ledger, ops)
        before = counts(ledger)
        receipt = self._write(ledger, ops, now=20)
        assert receipt == Receipt(episodes_unchanged=2, unchanged=2)
        assert counts(ledger) == before

    def test_new_evidence_joins_a_known_fact(self, ledger: Store) -> None:
        ops, _, second = self._two_calls()
        self._write(ledger, [op for op in ops if getattr(op, "episode", None) != second.uid])
        receipt = self._write(ledger, [sample_fact(second, "used_tool", "Bash")], now=20)
        assert (receipt.stored, receipt.updated, receipt.evidence) == (0, 1, 1)
        fact = next(iter(ledger.facts(Filters(predicates=["used_tool"]), limit=None)))
        assert fact.evidence_count == 2
        assert fact.occurred_at == second.occurred_at
        assert [event.op for event in events_of(ledger, "fact", fact.id)] == ["store", "update"]

    def test_a_fact_is_as_sure_as_its_best_evidence(self, ledger: Store) -> None:
        weak = sample_episode(1, trust=Trust.EXTERNAL)
        strong = sample_episode(2, trust=Trust.OBSERVED, subject="action_1")
        for episode, confidence in ((weak, 0.6), (strong, 0.9)):
            claim = sample_fact(episode, "connects_to_host", "nas", confidence=confidence)
            self._write(ledger, [*_recorded(episode), claim])
        (fact,) = ledger.facts(Filters(), limit=None)
        assert (fact.confidence, fact.trust) == (0.9, Trust.OBSERVED)

    @of("drop_evidence", "put_facts", "check")
    def test_evidence_is_withdrawn_and_a_fact_without_any_retires(self, ledger: Store) -> None:
        self._write_calls(ledger)
        named = {life.predicate: life for life in ledger.lives(LifeWhere(owner="me", kinds=_SEEN))}
        host, tool = named["connects_to_host"], named["used_tool"]
        first = host.episode_id
        ops = [
            WithdrawEvidence(fact_id=life.id, episode_id=first, rule="test")
            for life in (host, tool)
        ]
        receipt = apply(ledger, ops, trigger=Trigger.UPKEEP, actor="test", now=20)
        assert (receipt.withdrawn, receipt.retracted, receipt.unchanged) == (2, 1, 0)
        lives = lives_by_id(ledger, [host.id, tool.id])
        assert (lives[host.id].status, lives[host.id].retired_at) == (Status.RETRACTED, 20)
        assert (lives[tool.id].current, lives[tool.id].evidence_count) == (True, 1)
        assert lives[tool.id].episode_id != first
        assert ledger.check() == []
        again = apply(ledger, ops, trigger=Trigger.UPKEEP, actor="test", now=30)
        assert again == Receipt(unchanged=2)

    @of("find", "put", "drop")
    def test_what_another_reader_has_read_is_known_by_its_source(self, ledger: Store) -> None:
        self._write_calls(ledger)
        [source] = [state.id for state in ledger.sources()]

        def note(version: str, *, only: bool = False) -> dict[int, list[str]]:
            readers = {STATEMENTS: version}
            op = NoteReaders(readers=readers, sources=[source], only=only)
            apply(ledger, [op], trigger=Trigger.UPKEEP, actor="test", now=20)
            return read_by_others(ledger, "new")

        assert read_by_others(ledger, "new") == {}
        assert note("old") == {source: [STATEMENTS]}
        assert note("new") == {source: [STATEMENTS]}  # a part of it
        assert note("new", only=True) == {}
        assert read_by_others(ledger, "newer") == {source: [STATEMENTS]}

    @of("writing")
    def test_all_or_nothing(self, ledger: Store) -> None:
        ops, _, _ = self._two_calls()
        stranger = sample_episode(9)
        with pytest.raises(NotFound):
            self._write(ledger, [*ops, sample_fact(stranger, "used_tool", "Bash")])
        assert counts(ledger) == (0, 0, 0, 0)

    def test_the_trigger_table_is_law(self, ledger: Store) -> None:
        ops, _, _ = self._two_calls()
        with pytest.raises(NotAllowed):
            apply(ledger, ops, trigger=Trigger.UPKEEP, actor="test", now=1)
        assert counts(ledger).episodes == 0

    def test_a_confidence_outside_the_range_is_refused(self, ledger: Store) -> None:
        episode = sample_episode(1)
        for bad in (-0.1, 1.1, float("nan"), float("inf")):
            fact = sample_fact(episode, "used_tool", "Bash", confidence=bad)
            with pytest.raises(UsageError):
                self._write(ledger, [*_recorded(episode), fact])
        assert counts(ledger).facts == 0

    @of("facts", "ids")
    def test_facts_are_filtered(self, ledger: Store) -> None:
        ops, first, _ = self._two_calls()
        self._write(ledger, ops)

        def found(filters: Filters) -> list[str]:
            return [fact.object for fact in ledger.facts(filters, limit=None)]

        assert found(Filters(predicates=["connects_to_host"], min_confidence=0.8)) == ["nas"]
        assert found(Filters(predicates=["connects_to_host"], min_confidence=0.95)) == []
        assert found(Filters(object="Bash")) == ["Bash"]
        assert found(Filters(project="shop")) == ["Bash", "nas"]
        assert found(Filters(project="elsewhere")) == []
        assert found(Filters(host="codex")) == []
        assert first.occurred_at is not None
        assert found(Filters(until=first.occurred_at)) == []
        assert ledger.ids("fact", Filters(object="nas")) == [
            fact.id for fact in ledger.facts(Filters(object="nas"), limit=None)
        ]

    @of("search", "facts_by_id")
    def test_full_text_finds_facts_and_episodes(self, ledger: Store) -> None:
        self._write_calls(ledger)
        facts = ledger.search("fact", ["connecting", "nas"], Filters(), 5)  # stemmed
        assert [ledger.facts_by_id([id_])[id_].object for id_, _ in facts] == ["nas"]
        episodes = ledger.search("episode", ["ssh"], Filters(), 5)
        assert len(episodes) == 2
        assert all(score > 0 for _, score in episodes)
        assert ledger.search("episode", ["ssh"], Filters(host="codex"), 5) == []

    @of("search")
    def test_any_text_is_a_legal_term(self, ledger: Store) -> None:
        self._write_calls(ledger)
        terms = ['say "hi"', "NEAR(a b)", "x*", "-y", "{z}: (", "a\0b", "\ud800", "", " ", "😀"]
        for term in terms:
            assert ledger.search("episode", [term], Filters(), 5) == []
            assert len(ledger.search("episode", [term, "SSH"], Filters(), 5)) == 2
        assert ledger.search("episode", [], Filters(), 5) == []

    @of("search")
    def test_a_term_of_several_words_is_a_phrase(self, ledger: Store) -> None:
        self._write_calls(ledger)
        (hit,) = ledger.search("fact", ["nas"], Filters(), 5)
        said = ledger.facts_by_id([hit[0]])[hit[0]].statement.split()
        assert [row for row, _ in ledger.search("fact", [" ".join(said)], Filters(), 5)] == [hit[0]]
        assert ledger.search("fact", [" ".join(reversed(said))], Filters(), 5) == []

    @of("waiting", "set_vectors", "vectors", "embedder")
    def test_waiting_rows_get_their_vectors_once(self, ledger: Store) -> None:
        episode = sample_episode(1)
        described = sample_fact(episode, "described_as", "ssh root", embed=True)
        self._write(ledger, [*_recorded(episode), described])
        (fact,) = ledger.facts(Filters(), limit=None)
        assert fact.status is Status.PENDING_EMBED
        assert ledger.waiting("fact", limit=9) == [(fact.id, fact.statement)]
        row = struct.pack("<8e", 1, 0, 0, 0, 0, 0, 0, 0)

        def embed(target: str, row_id: int, model: str = "m1") -> Receipt:
            op = StoreVectors(target=target, model=model, ids=[row_id], vectors=row, dim=8)
            return apply(ledger, [op], trigger=Trigger.UPKEEP, actor="test", now=30)

        assert embed("fact", fact.id).embedded == 1
        assert embed("fact", fact.id).embedded == 0  # a second worker was slower
        (episode_id,) = ledger.ids("episode", Filters())
        assert embed("episode", episode_id).embedded == 1
        assert ledger.waiting("fact", limit=9) == []
        assert ledger.waiting("episode", limit=9) == []
        assert ledger.embedder() == ("m1", 8)
        assert ledger.vectors("fact", [fact.id, fact.id + 1]) == ([fact.id], row)
        assert ledger.vectors("fact", []) == ([], b"")
        assert ledger.facts_by_id([fact.id])[fact.id].status is Status.ACTIVE
        with pytest.raises(EmbedderMismatch):
            embed("episode", episode_id, model="m2")

    def test_what_was_refused_is_kept_once(self, ledger: Store) -> None:
        episode = sample_episode(1)
        line = RejectedLine(
            position=3, offset=77, reason="not_json", detail="unexpected end", excerpt='{"a'
        )
        ops = [
            *_recorded(episode),
            RejectCandidate(
                candidate=sample_fact(episode, "targets_system", "nas").candidate,
                episode=episode.uid,
                owner=episode.owner,
                reason="generic",
            ),
            RejectLine(source=sample_source().key, line=line),
        ]
        receipt = self._write(ledger, ops)
        assert receipt.rejected == 2
        assert receipt.rejections == {"generic": 1, "not_json": 1}
        assert self._write(ledger, ops).rejected == 0
        refused = {"owner": EVERYONE}
        assert {refusal.reason for refusal in ledger.find(REJECTION, refused)} == {
            "generic",
            "not_json",
        }

    @of("sources", "put_sources")
    def test_a_cursor_adds_up_its_lines(self, ledger: Store) -> None:
        key = sample_source().key

        def step(offset: int, *, waiting: int, restart: bool = False) -> None:
            lines = LineCount(lines=2, records=2, kept={"prompt": 2}, waiting=waiting)
            cursor = Cursor(offset=offset, line=2, state={"cwd": "/x"})
            self._write(
                ledger,
                [
                    RecordSource(source=sample_source()),
                    AdvanceCursor(source=key, cursor=cursor, lines=lines, restart=restart),
                ],
            )

        step(10, waiting=1)
        step(20, waiting=0)
        [state] = ledger.sources(keys=[key])
        assert state.cursor == Cursor(offset=20, line=2, state={"cwd": "/x"})
        assert (state.lines.kept, state.lines.waiting) == ({"prompt": 4}, 0)
        step(10, waiting=0, restart=True)
        assert ledger.sources()[0].lines.kept == {"prompt": 2}

    def test_any_unicode_comes_back_as_it_went_in(self, ledger: Store) -> None:
        text = "Bash\ncommand: echo '\u202e naïve ﬁ 🙂 \x00 \x1b[2J' nas"
        episode = sample_episode(1, text=text)
        said = sample_fact(episode, "executed_command", "echo '\u202e naïve ﬁ 🙂 \x00 \x1b[2J'")
        self._write(ledger, [*_recorded(episode), said])
        (stored,) = ledger.episodes(Filters(), limit=None)
        assert stored.text == text
        (fact,) = ledger.facts(Filters(), limit=None)
        (evidence,) = evidence_of(ledger, [fact.id])[fact.id]
        assert stored.text[evidence.start : evidence.end] == fact.object

    def test_the_commit_number_moves_with_every_write(self, ledger: Store) -> None:
        before = ledger.head().commit
        ops, _, _ = self._two_calls()
        self._write(ledger, ops)
        assert ledger.head().commit > before

    @of("snapshot")
    def test_a_snapshot_is_of_one_moment(self, ledger: Store) -> None:
        ops, _, _ = self._two_calls()

        def others(work: Callable[[], object]) -> None:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(work).result()

        with ledger.snapshot() as reads:
            generation = reads.head().commit
            assert generation == ledger.head().commit
            others(lambda: self._write(ledger, ops))
            with ledger.snapshot() as again:
                assert again.head().commit == generation
            assert counts(ledger).episodes == 0  # the inner block has not ended the outer one
            assert ledger.search("episode", ["ssh"], Filters(), 9) == []
            assert ledger.outlines([1, 2]).ids.tolist() == []
            assert ledger.head().commit == generation
        assert counts(ledger).episodes == 2
        assert ledger.head().commit > generation

    @of("facts", "episodes")
    def test_rows_that_are_half_read_keep_nothing_from_anybody(self, ledger: Store) -> None:
        first, _, _ = self._two_calls()
        self._write(ledger, first)
        before = ledger.head().commit
        for half_read in (
            ledger.facts(Filters(), limit=None),
            ledger.facts(Filters(), limit=1),
            ledger.episodes(Filters(), limit=None),
        ):
            next(half_read)
            with ThreadPoolExecutor(1) as pool:
                pool.submit(lambda: self._write(ledger, first)).result()
            assert ledger.head().commit == before + 1
            self._write(ledger, first)
            before = ledger.head().commit

    @of("snapshot")
    def test_a_snapshot_ends_with_its_block_also_by_an_error(self, ledger: Store) -> None:
        ops, _, _ = self._two_calls()
        for _ in range(2):
            with pytest.raises(UsageError), ledger.snapshot():
                self._write(ledger, ops)
        assert self._write(ledger, ops).episodes == 2

    @of("tenant", "close")
    def test_the_tenant_stays(self, tmp_path: Path) -> None:
        first = self.open(tmp_path)
        tenant = first.tenant
        first.close()
        assert self.open(tmp_path).tenant == tenant

    def _tell(self, store: Store, uid: str, text: str, *steps: KeyStep) -> Receipt:
        episode = sample_episode(
            1, uid=uid, text=text, role=Role.USER, kind=EpisodeKind.TURN, trust=Trust.DIRECT
        )
        change = ChangeKeys(
            owner=episode.owner,
            episode=uid,
            steps=steps,
            trust=Trust.DIRECT,
            rule="told",
            method="by hand",
            atomic=True,
        )
        ops = [*_recorded(episode), change]
        return apply(store, ops, trigger=Trigger.USER_MESSAGE, actor="test", now=10)

    def _rank(self, topic: str, rank: int, value: str) -> KeyStep:
        key = f"user.favorites.{topic}"
        return KeyStep(action="rank", key=key, rank=rank, value=value, start=0, end=3)

    def test_a_key_has_one_current_row_and_keeps_what_it_held(self, ledger: Store) -> None:
        assert self._tell(ledger, "m1", "SOL first", self._rank("crypto", 1, "SOL")).stored == 1
        receipt = self._tell(ledger, "m2", "BTC first", self._rank("crypto", 1, "BTC"))
        assert (receipt.stored, receipt.updated) == (0, 1)
        (fact,) = keyed_facts(ledger, "me", keys=["user.favorites.crypto.1"])
        assert fact.object == "BTC"
        history = key_history(ledger, "me", "user.favorites.crypto.1")
        assert [entry.object for entry in history] == ["SOL", "BTC"]
        assert history[0].superseded_by == fact.id

    def test_a_prefix_ends_at_a_segment(self, ledger: Store) -> None:
        self._tell(
            ledger,
            "m1",
            "coins and more",
            *(self._rank(topic, 1, f"first {topic}") for topic in ("crypto", "cryptox", "cr_pto")),
        )
        for prefix, expected in (
            ("user.favorites.crypto", ["first crypto"]),
            ("user.favorites.cr_pto", ["first cr_pto"]),
            ("user.favorites.crypt", []),
            ("user.favorites.%", []),
        ):
            assert [fact.object for fact in keyed_facts(ledger, "me", prefix=prefix)] == expected
        assert keyed_facts(ledger, "ann", prefix="user") == []

    def test_ranks_are_ordered_as_numbers_and_paged(self, ledger: Store) -> None:
        steps = [self._rank("crypto", number, f"coin {number}") for number in (10, 2, 1)]
        self._tell(ledger, "m1", "coins", *steps)
        first = keyed_facts(ledger, "me", prefix="user.favorites", limit=2)
        assert [fact.object for fact in first] == ["coin 1", "coin 2"]
        rest = keyed_facts(ledger, "me", prefix="user.favorites", after=first[-1].predicate)
        assert [fact.object for fact in rest] == ["coin 10"]

    def test_a_batch_with_a_bad_step_writes_nothing(self, ledger: Store) -> None:
        bad = KeyStep(action="unset", key="user.name", start=0, end=3)
        with pytest.raises(UsageError):
            self._tell(ledger, "m1", "BTC first", self._rank("crypto", 1, "BTC"), bad)
        assert counts(ledger).facts == 0
        assert ledger.episode_ids(["m1"]) == {}

    @of("untasked")
    def test_an_input_that_failed_waits_and_is_set_aside_in_the_end(self, ledger: Store) -> None:
        episode = sample_episode(1, kind=EpisodeKind.SUMMARY, text="A summary.")
        self._write(ledger, _recorded(episode))
        target = ledger.episode_ids([episode.uid])[episode.uid]

        summaries = Filters(episode_kinds=[EpisodeKind.SUMMARY])

        def waiting(now: Millis) -> list[int]:
            episodes = ledger.untasked("typed", summaries, now=now, limit=10)
            return [row.id for row in episodes]

        assert waiting(0) == [target]
        fail = FailTask(kind="typed", target=target, version="1", error="timeout")
        for attempt in range(1, policy.MODEL_ATTEMPTS + 1):
            apply(ledger, [fail], trigger=Trigger.UPKEEP, actor="test", now=attempt)
            (task,) = open_tasks(ledger)
            assert (task.attempts, task.error) == (attempt, "timeout")
        assert task.state == "aside"
        assert waiting(1 << 50) == []
        apply(ledger, [RetryTasks(kind="typed")], trigger=Trigger.COMMAND, actor="test", now=99)
        assert waiting(100) == [target]
        done = FinishTask(kind="typed", target=target, version="1")
        apply(ledger, [done], trigger=Trigger.UPKEEP, actor="test", now=101)
        assert waiting(1 << 50) == []
        assert open_tasks(ledger) == []

    def test_a_budget_is_spent_by_calls_that_have_begun(self, ledger: Store) -> None:
        begin = BeginCall(purpose="tell", model="m", max_calls=2)
        end = EndCall(
            purpose="tell",
            model="m",
            began_at=10,
            outcome="ok",
            prompt_tokens=5,
            answer_tokens=3,
            latency_ms=1.5,
            money=0.25,
        )
        for op in (begin, end, begin):
            apply(ledger, [op], trigger=Trigger.COMMAND, actor="test", now=10)
        with pytest.raises(ModelError):
            apply(ledger, [begin], trigger=Trigger.COMMAND, actor="test", now=10)
        apply(ledger, [begin], trigger=Trigger.COMMAND, actor="test", now=10 + DAY)
        counts = {calls.outcome: calls for calls in ledger.find(CALL)}
        assert counts["ok"].prompt_tokens == 5
        assert counts["ok"].money == 0.25
        assert counts["begun"].calls == 1
