"""Delivery of notices: passes over a real store, to whoever chats."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from factbook import policy
from factbook.apply.apply import apply
from factbook.errors import UsageError
from factbook.interests.deliver import Delivery, Notifier
from factbook.model.entities import Notice, NoticeState
from factbook.model.facts import EVERYONE, ME, Millis, Trigger
from factbook.model.interest_ops import ClaimNotice, MuteEntity, MuteOwner, NoteAction, RetireEntity
from factbook.model.ops import Op, RateFact
from factbook.net.cancel import Cancelled
from factbook.pipelines.notify_config import NotifyConfig, load_notify_config
from factbook.redaction import Redactor
from factbook.store.derived.notices import notices_of, notify_state
from factbook.store.sqlite import SQLiteStore
from factbook.testing import FrozenClock, context_of
from notices import SPEAKERS, announce, announce_all

START: Millis = 1_763_700_000_000
DRIVER = "The kef ls50 meta has a MAT driver."
PRICE = "The kef ls50 meta costs 1,600 dollars."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    made = SQLiteStore(tmp_path / "memory.db")
    yield made
    assert made.check() == []
    made.close()


class Shown:
    """A chat that keeps what it shows."""

    def __init__(self) -> None:
        self.seen: list[Delivery] = []

    def show(self, delivery: Delivery) -> None:
        self.seen.append(delivery)


def notifier(
    store: SQLiteStore,
    clock: FrozenClock,
    show: Callable[[Delivery], object] | None = None,
    **more: Any,
) -> Notifier:
    owner = more.pop("owner", ME)
    return Notifier(context_of(store, clock=clock, **more), show=show, owner=owner)


def write(store: SQLiteStore, op: Op, clock: FrozenClock, trigger: Trigger) -> None:
    apply(store, [op], trigger=trigger, actor="test", now=clock())


def the_notice(store: SQLiteStore, state: NoticeState) -> Notice:
    [found] = notices_of(store, EVERYONE, states=(state,))
    return found


def test_one_notice_of_an_entity_with_its_new_facts(store: SQLiteStore) -> None:
    """Seed 003, notifications: one message per (entity, new facts), with the image."""
    clock, chat = FrozenClock(START), Shown()
    announce(store, "kef ls50 meta", DRIVER, PRICE, now=START, image="https://example.org/a.png")
    report = notifier(store, clock, chat.show).pass_once()
    [seen] = chat.seen
    assert seen.text == (
        f"I just discovered kef ls50 meta and learned 2 facts about it\n- {DRIVER}\n- {PRICE}"
    )
    assert seen.image == "https://example.org/a.png"
    assert list(seen.facts.values()) == [DRIVER, PRICE]
    assert [one.entity for one in report.sent] == ["kef ls50 meta"]
    notice = the_notice(store, NoticeState.SENT)
    assert (list(notice.channels), notice.sent_at) == (["chat"], START)
    state = notify_state(store, ME)
    assert (state.unanswered, state.last_sent_at) == (1, START)


@pytest.mark.parametrize("image", ["http://192.168.1.1/reboot.png", "file:///etc/passwd", "a.png"])
def test_a_picture_in_a_private_network_is_left_out(store: SQLiteStore, image: str) -> None:
    chat = Shown()
    announce(store, "kef ls50 meta", DRIVER, now=START, image=image)
    notifier(store, FrozenClock(START), chat.show).pass_once()
    assert chat.seen[0].image == ""


def test_the_next_one_waits_for_the_back_off_or_an_engagement(store: SQLiteStore) -> None:
    """Seed 003, notifications: doubling per unanswered message, zero after any action."""
    clock, chat = FrozenClock(START), Shown()
    announce_all(store, now=START, count=4)
    run = notifier(store, clock, chat.show)
    assert len(run.pass_once().sent) == 1
    report = run.pass_once()
    assert (report.sent, report.held, report.next_at) == ([], 3, START + 60_000)
    clock.now += 59_999
    assert run.pass_once().sent == []
    clock.now += 1
    assert len(run.pass_once().sent) == 1
    assert run.pass_once().next_at == START + 60_000 + 120_000
    write(store, NoteAction(owner=ME), clock, Trigger.USER_MESSAGE)
    assert len(run.pass_once().sent) == 1
    assert [one.entity for one in chat.seen] == SPEAKERS[:3]


def test_owners_do_not_wait_for_each_other(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    announce(store, "kef ls50 meta", DRIVER, now=START, owner="ann")
    announce(store, "kef ls50 meta", PRICE, now=START, owner="ben")
    assert len(notifier(store, clock, chat.show, owner=EVERYONE).pass_once().sent) == 2
    assert {one.notice.owner for one in chat.seen} == {"ann", "ben"}


def test_a_chat_tells_its_own_owner_alone(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    announce(store, "kef ls50 meta", DRIVER, now=START, owner="ann")
    announce(store, "kef ls50 meta", PRICE, now=START, owner="ben")
    notifier(store, clock, chat.show, owner="ben").pass_once()
    assert [one.notice.owner for one in chat.seen] == ["ben"]
    assert the_notice(store, NoticeState.WAITING).owner == "ann"


def test_muted_owners_are_left_alone_and_nothing_is_lost(store: SQLiteStore) -> None:
    """Seed 003, learned: /mute."""
    clock, chat = FrozenClock(START), Shown()
    announce(store, "kef ls50 meta", DRIVER, now=START)
    write(store, MuteOwner(owner=ME, muted=True), clock, Trigger.COMMAND)
    report = notifier(store, clock, chat.show).pass_once()
    assert (report.sent, report.held, report.next_at) == ([], 1, None)
    write(store, MuteOwner(owner=ME, muted=False), clock, Trigger.COMMAND)
    assert len(notifier(store, clock, chat.show).pass_once().sent) == 1


def test_nothing_is_told_of_what_is_muted_or_gone(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    first = announce(store, "kef ls50 meta", DRIVER, now=START)[0]
    write(store, MuteEntity(entity_id=first.entity_id, muted=True), clock, Trigger.COMMAND)
    second = announce(store, "wharfedale denton", "The wharfedale denton is heavy.", now=START)[0]
    gone = RetireEntity(entity_id=second.entity_id, why="its owner removed it")
    write(store, gone, clock, Trigger.COMMAND)
    notifier(store, clock, chat.show).pass_once()
    assert chat.seen == []
    assert {one.state for one in notices_of(store)} == {NoticeState.DROPPED}
    assert notify_state(store, ME).unanswered == 0  # what is dropped takes nobody's turn


def test_what_its_owner_called_wrong_is_not_told(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    [notice] = announce(store, "kef ls50 meta", DRIVER, PRICE, now=START)
    wrong = next(n for n, one in store.facts_by_id(notice.fact_ids).items() if one.object == PRICE)
    write(store, RateFact(fact_id=wrong, right=False), clock, Trigger.COMMAND)
    notifier(store, clock, chat.show).pass_once()
    [told] = chat.seen
    assert DRIVER in told.text
    assert "1,600" not in told.text
    assert wrong not in told.facts


def test_too_short_a_notice_is_dropped_and_the_next_one_goes(store: SQLiteStore) -> None:
    """Seed 003, learned: minimum length."""
    clock, chat = FrozenClock(START), Shown()
    announce(store, "golf", "It is.", now=START)
    announce(store, "kef ls50 meta", DRIVER, now=START)
    report = notifier(store, clock, chat.show).pass_once()
    assert (report.dropped, len(report.sent)) == (1, 1)
    assert the_notice(store, NoticeState.DROPPED).reason == "too little is left of its facts"


class Hiding(Redactor):
    """Takes "MAT" for a secret."""

    def redact(self, text: str) -> str:
        return text.replace("MAT", "[hidden]")


def test_a_text_is_redacted_when_it_is_told(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    announce(store, "kef ls50 meta", DRIVER, now=START)
    notifier(
        store,
        clock,
        chat.show,
        redactor=Hiding(key=bytes(32)),
    ).pass_once()
    assert chat.seen[0].text.endswith("The kef ls50 meta has a [hidden] driver.")
    assert "MAT" not in str(chat.seen[0].facts)


def test_where_nobody_is_there_notices_wait(store: SQLiteStore) -> None:
    clock = FrozenClock(START)
    announce(store, "kef ls50 meta", DRIVER, now=START)
    report = notifier(store, clock).pass_once()
    assert (report.sent, report.failed) == ([], 0)
    assert notify_state(store, ME).unanswered == 0
    the_notice(store, NoticeState.WAITING)


def test_what_waited_for_a_month_is_no_news(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    announce(store, "kef ls50 meta", DRIVER, now=START)
    announce(store, "wharfedale denton", "The wharfedale denton is heavy.", now=START)
    clock.now += policy.NOTICE_STALE_MS + 1
    announce(store, "kef ls50 meta", PRICE, now=clock.now)
    notifier(store, clock, chat.show).pass_once()
    assert [list(one.facts.values()) for one in chat.seen] == [[PRICE]]
    clock.now += policy.NOTICE_CAP_MS
    notifier(store, clock, chat.show).pass_once()
    assert "no news" in the_notice(store, NoticeState.DROPPED).reason
    assert len(chat.seen) == 1


def test_a_stop_in_the_middle_never_sends_twice(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    announce(store, "kef ls50 meta", DRIVER, now=START)

    def stopped(delivery: Delivery) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        notifier(store, clock, stopped).pass_once()
    notice = the_notice(store, NoticeState.FAILED)
    assert notice.reason == "it was interrupted"
    clock.now += 10**9
    assert notifier(store, clock, chat.show).pass_once().sent == []


def test_what_a_killed_process_had_claimed_is_let_go(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    [waiting] = announce(store, "kef ls50 meta", DRIVER, now=START)
    claim = ClaimNotice(notice_id=waiting.id, holder="elsewhere:1:1:x")
    write(store, claim, clock, Trigger.UPKEEP)
    clock.now += policy.LEASE_MS - 1
    assert notifier(store, clock, chat.show).pass_once().failed == 0  # it may still be at it
    clock.now += 1
    assert notifier(store, clock, chat.show).pass_once().failed == 1
    assert chat.seen == []
    assert "ended before it was done" in the_notice(store, NoticeState.FAILED).reason


def test_many_workers_send_what_one_would(store: SQLiteStore) -> None:
    """A storm is impossible: eight workers on one file."""
    clock, chat = FrozenClock(START), Shown()
    announce_all(store, now=START)
    gate = threading.Barrier(8)

    def run() -> None:
        gate.wait()
        notifier(store, clock, chat.show).pass_once()
        store.close_thread()

    threads = [threading.Thread(target=run) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(chat.seen) == 1


# --- the configuration ----------------------------------------------------------------------------


def test_a_setting_comes_from_the_environment_before_the_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[notify]\non = ["learn_command"]\n', encoding="utf-8")
    assert load_notify_config({}, path).on == {Trigger.LEARN_COMMAND}
    both = load_notify_config({"FACTBOOK_NOTIFY_ON": "enrichment, user_message"}, path)
    assert both.on == {Trigger.ENRICHMENT, Trigger.USER_MESSAGE}


def test_the_table_of_the_seed_is_the_default_and_may_be_narrowed_alone(tmp_path: Path) -> None:
    """Seed 003: notifications for all three triggers, unless the configuration narrows it."""
    assert load_notify_config({}, tmp_path / "none.toml") == NotifyConfig()
    config = load_notify_config({"FACTBOOK_NOTIFY_ON": " "})
    assert config.on == {Trigger.USER_MESSAGE, Trigger.LEARN_COMMAND, Trigger.ENRICHMENT}
    with pytest.raises(UsageError, match=r"must name some of .*'session_log' is none"):
        load_notify_config({"FACTBOOK_NOTIFY_ON": "session_log"})


@pytest.mark.parametrize("name", ["WEBHOOK", "DESKTOP", "ALLOW_PRIVATE", "KEY", "KEY_ENV", "OM"])
def test_a_wrong_variable_says_what_to_do(name: str) -> None:
    why = f"The variable FACTBOOK_NOTIFY_{name} is no setting; .* FACTBOOK_NOTIFY_ON or unset it"
    with pytest.raises(UsageError, match=why) as caught:
        load_notify_config({f"FACTBOOK_NOTIFY_{name}": "T0PSECRET"})
    assert "T0PSECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("notify = 3", "write .notify. above its settings"),
        ('[notify]\nsecret = "T0PSECRET"', "secret of .notify. in .* is no setting"),
        ('[notify]\nwebhook = "https://T0PSECRET"', "is no setting; use one of on or take it"),
        ("[notify]\ndesktop = true", "is no setting; use one of on or take it away"),
        ("[notify]\nonn = []", "is no setting; write on or take it away"),
        ("[notify]\non = [1]", "must be a list of"),
        ("[notify", "is not TOML"),
    ],
)
def test_a_wrong_file_says_what_to_do(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=why) as caught:
        load_notify_config({}, path)
    assert "T0PSECRET" not in str(caught.value)
