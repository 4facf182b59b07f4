"""What is looked up and told by itself, in which words and when (seed 003)."""

from __future__ import annotations

import math
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import examples
from factbook import policy
from factbook.apply.apply import apply
from factbook.errors import UsageError
from factbook.gate.notices import EnrichmentMode, Find, mode_of, worth_telling
from factbook.interests.notify import LISTED, NOTICE_CHARS, enrich_query, notice_text
from factbook.model.backoff import delay_ms, may_send, next_at
from factbook.model.entities import NoticeKind, NoticeState, NotifyState
from factbook.model.facts import ME, Fact, FactKind, Millis, Status, Trigger, Trust
from factbook.model.interest_ops import ClaimNotice, MuteOwner, NoteAction
from factbook.model.ops import Op
from factbook.store.derived.notices import notices_of, notify_state
from factbook.store.sqlite import SQLiteStore
from notices import announce_all

MINUTE = 60_000
START: Millis = 1_763_700_000_000
DELAYS = [0, 1, 2, 4, 8, 16, 32, 60, 60, 60]  # minutes; the cap of an hour comes after 32


def state(
    unanswered: int = 0, *, last: Millis | None = None, engaged: Millis | None = None
) -> NotifyState:
    return NotifyState("me", unanswered, last, engaged, False)


# --- the back-off ---------------------------------------------------------------------------------


def test_delays_double_from_one_minute_to_an_hour() -> None:
    """Seed 003, notifications: back-off 0 -> 1 -> 2 -> 4 -> 8 min; learned: 60 s, cap 3,600 s."""
    assert [delay_ms(n) for n in range(10)] == [one * MINUTE for one in DELAYS]
    assert delay_ms(10**9) == policy.NOTICE_CAP_MS


def test_a_count_below_zero_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be -1; give 0 or more"):
        delay_ms(-1)


def test_each_unanswered_notice_puts_the_next_one_off() -> None:
    """Seed 003, notifications: the delay doubles per unanswered proactive message."""
    assert may_send(state(), START) == START
    assert may_send(state(1, last=START), START) == START + MINUTE
    assert may_send(state(3, last=START), START) == START + 4 * MINUTE
    assert may_send(state(3, last=START), START + 4 * MINUTE) == START + 4 * MINUTE
    assert may_send(state(3, last=START), START + 9 * MINUTE) == START + 9 * MINUTE


def test_an_engagement_resets_the_delay_to_zero() -> None:
    """Seed 003, notifications: any message, reaction or command resets to 0."""
    assert may_send(state(0, last=START, engaged=START), START) == START


def test_the_count_decides_where_times_are_equal_or_go_back() -> None:
    # a notice sent in the millisecond of the engagement is unanswered all the same
    assert next_at(state(1, last=START, engaged=START)) == START + MINUTE
    # a clock that was set back opens nothing; an engagement does
    assert may_send(state(2, last=START), START - 10**9) == START + 2 * MINUTE
    assert may_send(state(0, last=START), START - 10**9) == START - 10**9


def test_muted_means_never() -> None:
    """Seed 003, learned: /mute."""
    muted = NotifyState("me", 0, None, None, True)
    assert next_at(muted) is None
    assert may_send(muted, START) is None


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.integers(0, 90 * MINUTE)),
        st.tuples(st.just("send"), st.just(0)),
        st.tuples(st.just("act"), st.just(0)),
    ),
    max_size=120,
)


def allowed_by(sent: Sequence[Millis], acted: Sequence[tuple[Millis, int]]) -> None:
    """Check sends against the seed's words: `acted` holds (time, how many were sent before)."""
    resets = {count for _, count in acted}
    silent = 0  # notices since the last action
    for number, at in enumerate(sent):
        if number in resets:
            silent = 0
        if silent:
            gap = at - sent[number - 1]
            assert gap >= DELAYS[min(silent, len(DELAYS) - 1)] * MINUTE, (number, gap)
        silent += 1


@given(STEPS)
def test_no_schedule_gives_more_than_the_back_off_allows(steps: list[tuple[str, int]]) -> None:
    """A storm is impossible; zero delay after an engagement (pure)."""
    now, held = START, state()
    sent: list[Millis] = []
    acted: list[tuple[Millis, int]] = []
    for what, much in steps:
        if what == "wait":
            now += much
        elif what == "act":
            held = held._replace(unanswered=0, engaged_at=now)
            acted.append((now, len(sent)))
            assert may_send(held, now) == now
        elif may_send(held, now) == now:
            sent.append(now)
            held = held._replace(unanswered=held.unanswered + 1, last_sent_at=now)
    allowed_by(sent, acted)


def test_a_silent_day_has_29_notices_at_most() -> None:
    now, held, sent = START, state(), 0
    while now < START + 24 * 3600 * 1000:
        if may_send(held, now) == now:
            held = held._replace(unanswered=held.unanswered + 1, last_sent_at=now)
            sent += 1
        now += 1000
    assert sent == 29  # seven in the first 63 minutes, then one an hour


# --- the back-off in the store --------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    made = SQLiteStore(tmp_path / "memory.db")
    yield made
    assert made.check() == []
    made.close()


def write(store: SQLiteStore, op: Op, *, now: Millis, trigger: Trigger = Trigger.UPKEEP) -> int:
    return apply(store, [op], trigger=trigger, actor="test", now=now).notices


def act(store: SQLiteStore, *, now: Millis) -> None:
    write(store, NoteAction(owner=ME), now=now, trigger=Trigger.USER_MESSAGE)


STORE_STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("wait"), st.sampled_from([0, 1, 30_000, MINUTE, 5 * MINUTE, 61 * MINUTE])
        ),
        st.tuples(st.just("send"), st.integers(0, 7)),
        st.tuples(st.just("act"), st.just(0)),
        st.tuples(st.just("mute"), st.integers(0, 1)),
    ),
    max_size=25,
)


@settings(max_examples=examples(10), deadline=None)
@given(STORE_STEPS)
def test_the_store_lets_no_schedule_through(steps: list[tuple[str, int]]) -> None:
    """A storm is impossible: property test over random schedules, with the real store."""
    with tempfile.TemporaryDirectory() as folder:
        store = SQLiteStore(Path(folder) / "memory.db")
        now, muted = START, False
        announce_all(store, now=now)
        act(store, now=now)
        ids = [one.id for one in notices_of(store, ME)]
        sent: list[Millis] = []
        acted: list[tuple[Millis, int]] = [(now, 0)]
        fresh = True  # nothing was sent since the last action
        for what, much in steps:
            if what == "wait":
                now += much
            elif what == "act":
                act(store, now=now)
                acted.append((now, len(sent)))
                fresh = True
            elif what == "mute":
                muted = bool(much)
                write(store, MuteOwner(owner=ME, muted=muted), now=now, trigger=Trigger.COMMAND)
            else:
                waits = notices_of(store, ids=[ids[much]])[0].state is NoticeState.WAITING
                took = write(store, ClaimNotice(notice_id=ids[much], holder="t"), now=now)
                assert took <= waits  # none goes twice
                assert not (took and muted)
                if fresh and waits and not muted:
                    assert took  # zero delay after an engagement
                if took:
                    sent.append(now)
                    fresh = False
        allowed_by(sent, acted)
        assert store.check() == []
        store.close()


def test_of_many_that_try_at_once_one_gets_through(store: SQLiteStore) -> None:
    """The back-off holds under the write lock, whoever read the free slot before."""
    waiting = announce_all(store, now=START)
    assert len(waiting) == 8
    took: list[int] = []
    gate = threading.Barrier(8)

    def run(notice_id: int) -> None:
        gate.wait()
        took.append(write(store, ClaimNotice(notice_id=notice_id, holder="t"), now=START))
        store.close_thread()

    threads = [threading.Thread(target=run, args=(one.id,)) for one in waiting]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(took) == [0] * 7 + [1]
    assert notify_state(store, ME).unanswered == 1


# --- modes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "mode"),
    [
        (0, EnrichmentMode.BROAD),
        (4, EnrichmentMode.BROAD),
        (5, EnrichmentMode.TARGETED),
        (14, EnrichmentMode.TARGETED),
        (15, EnrichmentMode.BRIEFING),
        (400, EnrichmentMode.BRIEFING),
    ],
)
def test_the_bounds_of_the_modes(facts: int, mode: EnrichmentMode) -> None:
    """Seed 003, enrichment: modes [0,5) broad, [5,15) targeted, [15,...) briefing."""
    assert mode_of(facts, 0.4) is mode
    assert mode_of(facts, 0.0) is mode


def test_what_its_owner_does_not_want_is_skipped() -> None:
    """Seed 003, enrichment: negative interest skip."""
    assert mode_of(2, -0.01) is EnrichmentMode.SKIP
    assert mode_of(20, -3.0) is EnrichmentMode.SKIP
    assert enrich_query("golf", EnrichmentMode.SKIP) == []
    assert worth_telling(EnrichmentMode.SKIP, [find("Golf is played on grass.")]) == []


@pytest.mark.parametrize(("facts", "interest"), [(-1, 0.0), (3, math.nan), (3, math.inf)])
def test_what_is_no_count_or_no_number_is_refused(facts: int, interest: float) -> None:
    with pytest.raises(UsageError, match="give a count of 0 or more and a finite number"):
        mode_of(facts, interest)


# --- what is worth telling ------------------------------------------------------------------------


def find(
    text: str,
    *,
    nearest: float | None = None,
    published: Millis | None = None,
    learned: Millis = START,
) -> Find:
    fact = Fact(
        id=1,
        owner=ME,
        subject="kef ls50 meta",
        predicate="about",
        object=text,
        statement=text,
        kind=FactKind.WORLD,
        status=Status.ACTIVE,
        confidence=0.6,
        confidence_at=START,
        trust=Trust.EXTERNAL,
        evidence_count=1,
        occurred_at=None,
        learned_at=learned,
        episode_id=1,
    )
    return Find(fact=fact, nearest=nearest, published_at=published)


SAME = find("It costs 1,600 dollars.", nearest=0.93)
NEW = find("It has a MAT driver.", nearest=0.4)


def test_few_facts_known_any_new_one_is_told() -> None:
    """Seed 003, messaging rule: any new fact (0-5)."""
    assert worth_telling(EnrichmentMode.BROAD, [SAME, NEW]) == [SAME.fact, NEW.fact]


def test_from_five_on_only_what_is_apart_from_the_known() -> None:
    """Seed 003, messaging rule: cosine to every known one below the merge threshold (5-15)."""
    assert worth_telling(EnrichmentMode.TARGETED, [SAME, NEW]) == [NEW.fact]
    at = find("x", nearest=policy.MERGE_SIMILARITY)
    under = find("y", nearest=policy.MERGE_SIMILARITY - 0.001)
    alone = find("z")
    assert worth_telling(EnrichmentMode.TARGETED, [at, under, alone]) == [under.fact, alone.fact]


def test_from_fifteen_on_only_what_is_newer_than_the_last_briefing() -> None:
    """Seed 003, messaging rule: additionally newer than the last briefing (15+)."""
    old = find("a", published=START - 1)
    new = find("b", published=START + 1)
    undated = find("c", learned=START + 2)
    same = find("d", nearest=0.99, published=START + 1)
    given = [old, new, undated, same]
    assert worth_telling(EnrichmentMode.BRIEFING, given, briefed_at=START) == [
        new.fact,
        undated.fact,
    ]
    assert worth_telling(EnrichmentMode.BRIEFING, given) == [old.fact, new.fact, undated.fact]


@pytest.mark.parametrize("cosine", [math.nan, 1.5, -2.0])
def test_what_is_no_cosine_is_refused(cosine: float) -> None:
    with pytest.raises(UsageError, match="is no cosine"):
        worth_telling(EnrichmentMode.TARGETED, [find("x", nearest=cosine)])


# --- texts ----------------------------------------------------------------------------------------

FACTS = ["It has a MAT driver.", "It costs 1,600 dollars."]


def test_the_two_texts_of_the_seed() -> None:
    """Seed 003, notifications: two texts, and the new facts of one entity below them."""
    learned = notice_text("kef ls50 meta", NoticeKind.LEARNED, FACTS)
    assert learned == (
        "I just learned some new stuff about kef ls50 meta...\n"
        "- It has a MAT driver.\n"
        "- It costs 1,600 dollars."
    )
    discovered = notice_text("kef ls50 meta", NoticeKind.DISCOVERED, FACTS)
    assert discovered.startswith("I just discovered kef ls50 meta and learned 2 facts about it\n- ")
    one = notice_text("kef ls50 meta", NoticeKind.DISCOVERED, FACTS[:1])
    assert one.startswith("I just discovered kef ls50 meta and learned 1 fact about it\n")


def test_too_short_a_notice_is_not_sent() -> None:
    """Seed 003, learned: minimum length."""
    name = "a name that is much longer than what is known of it"
    assert notice_text(name, NoticeKind.LEARNED, []) == ""
    assert notice_text(name, NoticeKind.LEARNED, ["It is."]) == ""
    assert notice_text(name, NoticeKind.LEARNED, ["x" * (NOTICE_CHARS - 1), " \n "]) == ""
    assert notice_text(name, NoticeKind.LEARNED, ["x" * NOTICE_CHARS])


def test_a_long_list_is_cut_and_counted() -> None:
    text = notice_text("golf", NoticeKind.DISCOVERED, [f"Golf fact {n}." for n in range(20)])
    lines = text.split("\n")
    assert "learned 20 facts" in lines[0]
    assert len(lines) == 1 + LISTED + 1
    assert lines[-1] == "(and 12 more)"


@given(st.text(max_size=60), st.lists(st.text(max_size=120), max_size=12))
def test_no_terminal_acts_upon_a_notice(name: str, facts: list[str]) -> None:
    text = notice_text(name, NoticeKind.LEARNED, [*facts, "It was made in a workshop by the sea."])
    lines = text.split("\n")
    assert len(lines) <= LISTED + 2
    assert all(line.startswith(("- ", "(and ")) for line in lines[1:])
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for line in lines for char in line)
    text.encode()  # no lone surrogate


def test_a_fact_cannot_pose_as_another_line() -> None:
    text = notice_text(
        "kef ls50 meta", NoticeKind.LEARNED, ["Sold out.\n\x1b[2JI just discovered free money"]
    )
    assert text.count("\n") == 1
    assert "\x1b" not in text


# --- queries --------------------------------------------------------------------------------------


def test_broad_queries_fill_gaps() -> None:
    """Seed 003, enrichment: broad queries to fill gaps (0-5)."""
    assert enrich_query("kef  ls50 meta", EnrichmentMode.BROAD) == [
        "kef ls50 meta",
        "what is kef ls50 meta",
        "kef ls50 meta overview",
        "kef ls50 meta facts",
    ]


def test_targeted_queries_ask_for_what_is_not_known() -> None:
    """Seed 003, enrichment: targeted queries for what is NOT known (5-15)."""
    known = [
        "The KEF LS50 Meta costs $1,600.",
        "It was released in 2020.",
        "It has a 130mm driver.",
        "It is made by KEF in Maidstone.",
        "Reviewers praised its midrange.",
    ]
    queries = enrich_query("kef ls50 meta", EnrichmentMode.TARGETED, known)
    assert queries == [
        "kef ls50 meta how it works",
        "kef ls50 meta problems",
        "kef ls50 meta alternatives",
        "kef ls50 meta where to find it",
        "kef ls50 meta history",
    ]


def test_targeted_queries_go_on_where_everything_was_spoken_of() -> None:
    everything = "price released makers specs uses reviews problems rivals shops history"
    assert len(enrich_query("golf", EnrichmentMode.TARGETED, [everything])) == 10


def test_a_briefing_asks_for_what_is_new_since() -> None:
    """Seed 003, enrichment: 15+ briefing "What's new since [date]"."""
    day = 1_772_366_400_000  # 2026-03-01T12:00Z
    assert (
        enrich_query("golf", EnrichmentMode.BRIEFING, since=day)[0]
        == "what's new about golf since 2026-03-01"
    )
    assert enrich_query("golf", EnrichmentMode.BRIEFING)[0] == "what's new about golf"


def test_who_takes_the_first_query_goes_round_all_of_them() -> None:
    asked: list[str] = []
    for _ in range(8):
        asked.append(enrich_query("golf", EnrichmentMode.BROAD, asked=asked)[0])
    assert asked[:4] == asked[4:] == enrich_query("golf", EnrichmentMode.BROAD)
    assert enrich_query(" ", EnrichmentMode.BROAD) == []
