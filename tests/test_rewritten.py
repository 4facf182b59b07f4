"""Records that were written twice under one id: what both say is kept, each with its own words."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factbook import policy
from factbook.apply.apply import apply
from factbook.errors import UsageError
from factbook.memory import Memory
from factbook.model.facts import EpisodeKind, Trigger
from factbook.model.ops import Op, RecordEpisode, RecordSource, SupportFact
from factbook.store.sqlite import SQLiteStore
from factbook.testing import FrozenClock, sample_episode, sample_fact, sample_source
from session_logs import claude, tool_use, write

LONG = "ssh root@nas " + "-o Option=value " * 40  # of more characters than a quote keeps


@pytest.mark.parametrize("longer_first", [False, True])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_call_that_was_written_again_when_it_was_whole(
    tmp_path: Path, longer_first: bool, at_once: bool
) -> None:
    """Both logs are read; no quote ends behind its text, and the whole command is found."""
    logs = tmp_path / "logs"
    logs.mkdir()
    part, whole = f"{LONG}cat first.txt", f"{LONG}cat first.txt && sha256sum second.txt"
    for name, command in zip("ab", (whole, part) if longer_first else (part, whole), strict=True):
        write(logs / f"{name}.jsonl", claude("assistant", [tool_use("Bash", {"command": command})]))
    with Memory(
        tmp_path / "m.db", clock=FrozenClock(), key_file=tmp_path / "key", model=None
    ) as memory:
        for files in [[logs]] if at_once else [[logs / "a.jsonl"], [logs / "b.jsonl"]]:
            memory.ingest(files)
        assert memory.check() == []
        assert memory.recall("sha256sum").hits
        objects = [one.object for one in memory.query_facts(predicate="executed_command")]
        assert sorted(objects) == [part, whole]
        assert memory.ingest([logs]).receipt.episodes == 0


@pytest.fixture
def store(tmp_path: Path) -> SQLiteStore:
    return SQLiteStore(tmp_path / "f.db")


TEXTS = st.lists(
    st.tuples(
        st.sampled_from(["run ", "run ssh ", "x" * 390, "x" * policy.QUOTE_CHARS]),
        st.sampled_from(["", "a", "ab", "abc", "b", "y" * 30]),
        st.sampled_from([EpisodeKind.TOOL_CALL, EpisodeKind.PROMPT, EpisodeKind.TOOL_RESULT]),
    ),
    min_size=2,
    max_size=5,
)


def test_every_span_holds_the_words_of_its_claim(store: SQLiteStore) -> None:
    seen = count()

    @given(texts=TEXTS, calls=st.integers(1, 3), data=st.data())
    @settings(max_examples=60)
    def holds(texts: list[tuple[str, str, EpisodeKind]], calls: int, data: st.DataObject) -> None:
        uid = f"call:{next(seen)}x"
        episodes = [
            sample_episode(1, uid=uid, text=start + end, kind=kind, position=n)
            for n, (start, end, kind) in enumerate(texts)
        ]
        asserted: dict[str, str] = {}
        refused = 0
        for n in range(calls):
            ops: list[Op] = [RecordSource(source=sample_source())]
            for place, episode in enumerate(episodes[n::calls]):
                start = data.draw(st.integers(0, len(episode.text) - 1))
                end = data.draw(st.integers(start + 1, len(episode.text)))
                predicate = f"{uid}:{n}_{place}"
                asserted[predicate] = episode.text[start:end]
                claim = sample_fact(episode, predicate, asserted[predicate])
                moved = replace(claim.candidate, start=start, end=end)
                ops += [RecordEpisode(episode=episode), replace(claim, candidate=moved)]
            refused += apply(store, ops, trigger=Trigger.SESSION_LOG, actor="t", now=2).rejected
        rows = store._rows(
            "SELECT f.predicate, v.start_char, v.end_char, e.text FROM evidence_row v"
            " JOIN fact_row f ON f.id = v.fact_id JOIN episode_row e ON e.id = v.episode_id"
            " WHERE e.uid GLOB ?",
            (f"{uid}*",),
        )
        for predicate, start, end, text in rows:
            assert text[start:end] == asserted[predicate]
        assert len(rows) + refused == len(asserted)  # stored, or said to be left out
        kept = {
            row[0]
            for row in store._rows("SELECT text FROM episode_row WHERE uid GLOB ?", (f"{uid}*",))
        }
        first = next(one for n in range(calls) for one in episodes[n::calls])
        for episode in episodes:
            if episode.kind in policy.RETOLD_KINDS or episode.text.startswith(first.text):
                assert episode.text in kept

    holds()
    assert store.check() == []
    store.close()


def test_support_whose_span_ends_behind_the_text_is_refused(store: SQLiteStore) -> None:
    text = "y" * policy.QUOTE_CHARS  # as much of it as a quote keeps stands in the other as well
    episode = sample_episode(1, text=text)
    ops = [RecordSource(source=sample_source()), RecordEpisode(episode=episode)]
    fact = sample_fact(episode, "p", text)
    other = RecordEpisode(episode=sample_episode(2, text=f"{text}z"))
    apply(store, [*ops, fact, other], trigger=Trigger.SESSION_LOG, actor="t", now=2)
    support = SupportFact(
        fact_id=1,
        episode_id=2,
        quote=text,
        start=0,
        end=len(text) + 5,
        rule="r",
        method="m",
        trust=episode.trust,
    )
    with pytest.raises(UsageError, match="does not stand"):
        apply(store, [support], trigger=Trigger.UPKEEP, actor="t", now=3)
    assert store.check() == []
    store.close()
