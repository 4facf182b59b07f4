"""What an erasure takes out of a store: everything that it holds of something."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from factbook.apply.apply import apply
from factbook.errors import NotFound
from factbook.model.entities import EngagementType, PreferenceType, Valence
from factbook.model.facts import (
    EVERYONE,
    Episode,
    EpisodeKind,
    FactKind,
    Receipt,
    Role,
    Source,
    Trigger,
    Trust,
)
from factbook.model.interest_ops import (
    AddAlias,
    CreateEntity,
    OpenLearnPrompt,
    QueueSearch,
    RecordEngagement,
    RecordSearch,
    SetPreference,
    SetSchedule,
)
from factbook.model.ops import (
    AllowAgain,
    AssertFact,
    EraseEntity,
    EraseEpisode,
    EraseFact,
    EraseNoted,
    EraseOwner,
    EraseRejection,
    EraseSource,
    FailTask,
    FinishRun,
    JudgePair,
    Op,
    Propose,
    RecordEpisode,
    RecordInjection,
    RecordSource,
    RejectCandidate,
    StartRun,
)
from factbook.store.kinds import (
    ERASURE,
    KINDS,
    LEARN_PROMPT,
    PREFERENCE,
    SCHEDULE,
    SEARCH_LOG,
    SEARCH_TASK,
    SECRET,
    TOMBSTONE,
    Kind,
)
from factbook.store.port import Store
from factbook.store.rows import Filters, LifeWhere
from factbook.testing import DAY, sample_episode, sample_fact
from factbook.testing.contract.base import NOW, Contract

THINGS: Final[Mapping[str, str]] = {"annabeth": "quadrophon ls50", "bertramina": "velocipede x9"}
IDS: Final = range(1, 40)  # of everything in the scene


def write(store: Store, *ops: Op, trigger: Trigger = Trigger.COMMAND, now: int = NOW) -> Receipt:
    return apply(store, ops, trigger=trigger, actor="test", now=now)


def episodes_of(owner: str) -> list[Episode]:
    """Return what an owner said, was answered, and had looked up."""
    thing = THINGS[owner]

    def one(n: int, name: str, text: str, role: Role = Role.USER, **given: Any) -> Episode:
        uid, source, trust = f"{owner}:{name}", f"chat:{owner}", Trust.DIRECT
        values = {
            "kind": EpisodeKind.TURN,
            "trust": trust,
            "owner": owner,
            "project": "/srv",
            **given,
        }
        return sample_episode(n, uid=uid, source=source, text=text, role=role, **values)

    return [
        one(1, "said", f"I love the {thing.title()}, and tea.", speaker=f"{owner} smithers"),
        one(2, "code", f"The {owner} rain. The code is {owner}-zebra-19, keep it."),
        one(3, "answer", f"Tea is fine. The {thing} is loud.", Role.ASSISTANT, trust=Trust.DERIVED),
        one(
            4,
            "page",
            f"News\nThe {thing} has a {owner} driver.",
            Role.TOOL,
            kind=EpisodeKind.SEARCH_RESULT,
            trust=Trust.EXTERNAL,
            attributes={"url": f"https://example.com/{thing.replace(' ', '-')}"},
        ),
    ]


def claims_of(owner: str) -> list[AssertFact]:
    """Return what is read from an owner's code and page."""
    _, code, _, page = episodes_of(owner)
    return [
        _claim(code, f"The code is {owner}-zebra-19", owner, "states", FactKind.STATEMENT),
        _claim(page, f"{owner} driver", THINGS[owner], "about", FactKind.WORLD),
    ]


def _claim(episode: Episode, text: str, subject: str, predicate: str, kind: FactKind) -> AssertFact:
    assert_fact = sample_fact(episode, predicate, text, confidence=0.5)
    candidate = replace(
        assert_fact.candidate, subject=subject, statement=text, rule="told", kind=kind
    )
    return replace(assert_fact, candidate=candidate)


def record_of(owner: str) -> list[Op]:
    """Return what the log of an owner brings in."""
    source = Source(
        key=f"chat:{owner}", kind="conversation", host="chat", session=owner, uri=f"/{owner}.json"
    )
    said = [RecordEpisode(episode=episode) for episode in episodes_of(owner)]
    return [RecordSource(source=source), *said, *claims_of(owner)]


def cared_by(owner: str) -> list[Op]:
    """Return what an owner cares about, and what repeats words of the log."""
    thing, said = THINGS[owner], f"{owner}:said"
    code, _ = claims_of(owner)
    like, secret = EngagementType.LIKE_COMMAND, f"{owner}-zebra-19"
    return [
        CreateEntity(owner=owner, name=thing, episode=said),
        AddAlias(owner=owner, entity=thing, alias=f"{thing.split()[0]} two"),
        SetPreference(owner=owner, topic=f"{owner} oolong", type=PreferenceType.LIKE, episode=said),
        RecordEngagement(
            owner=owner,
            type=like,
            valence=Valence.POSITIVE,
            strength=0.8,
            entity=thing,
            episode=said,
        ),
        SetSchedule(
            owner=owner, topic=f"{owner} tides", every_ms=9, next_at=NOW, episode=f"{owner}:code"
        ),
        QueueSearch(owner=owner, query=f"{owner} regatta"),
        RecordSearch(
            owner=owner,
            query=f"{thing} reviews",
            provider="folder",
            duration_ms=3,
            results=[f"{owner}:page"],
        ),
        RecordSearch(
            owner=owner, query=f"{owner} almanac", provider="folder", duration_ms=3, results=[]
        ),
        RejectCandidate(
            candidate=code.candidate,
            episode=f"{owner}:answer",
            owner=owner,
            reason="generic",
            detail=f"{owner}-detail-77 is vague",
            validation={"near": secret},
        ),
        Propose(
            kind="memory",
            key=owner,
            title=f"{owner} haberdashery",
            payload={"owner": owner, "type": "USER_FACT", "text": f"{owner} haberdashery"},
        ),
        Propose(kind="rule", key=f"{owner} x", title="x", payload={"examples": [f"run {secret}"]}),
        FailTask(kind="typed", target=3, version="1", error=f"bad answer: {secret} {thing}"),
        RecordInjection(session="s", owner=owner, mode="tool", items=["e1"]),
    ]


def scene(store: Store) -> None:
    """Write a ledger of two owners, each with something of every kind."""
    for n, owner in enumerate(THINGS, 1):
        write(store, *record_of(owner), *cared_by(owner))
        ask = OpenLearnPrompt(
            owner=owner,
            text=f"all about {owner} gardening",
            episode=f"{owner}:code",
            queries=[f"{owner} gardening {season}" for season in ("spring", "may", "autumn")],
        )
        write(store, ask, trigger=Trigger.LEARN_COMMAND)
        report = {"error": f"trouble with {owner}-zebra-19 of the {THINGS[owner]}", "n": n}
        low = 2 * n - 1
        pair = JudgePair(
            low_id=low,
            high_id=low + 1,
            relation="ambiguous",
            rule="r",
            detail=f"{owner}-zebra-19",
            similarity=0.8,
        )
        end = FinishRun(run_id=n, state="failed", phase="", report=report)
        write(store, StartRun(run_id=n), end, pair)


def every_row(store: Store) -> list[Any]:
    """Return everything that a store holds, but what is drawn by chance."""
    rows: list[Any] = []
    for kind in KINDS:
        kind_rows = store.find(kind, {"owner": EVERYONE} if "owner" in kind.fields else {})
        if kind is TOMBSTONE:
            rows += sorted((row.kind, row.erasure_id) for row in store.find(TOMBSTONE))
        elif kind is not SECRET:
            rows += kind_rows
    rows += store.lives(LifeWhere(kinds=[*FactKind]))
    rows += store.evidence(fact_ids=IDS)
    rows += [store.heads(IDS), store.texts("episode", IDS), store.texts("fact", IDS)]
    rows += store.whole_episodes(IDS)
    return rows + store.sources()


def _noted(kind: Kind[Any], nth: int = 0) -> Callable[[Store], Op]:
    def op(store: Store) -> Op:
        row = store.find(kind, {"owner": "annabeth"})[nth]
        return EraseNoted(target=kind.name, row_id=row.id)

    return op


SECRET_WORDS = ("annabeth-zebra-19",)
THING_WORDS = ("quadrophon",)
# What is erased, what is said of the counts, and words that are then nowhere.
ERASURES: Final[Mapping[str, tuple[Callable[[Store], Op], Mapping[str, int], Sequence[str]]]] = {
    "fact": (
        lambda _: EraseFact(fact_id=1),
        {"facts": 1, "masked": 1},
        SECRET_WORDS,
    ),
    "episode": (
        lambda store: EraseEpisode(
            episode_id=store.episode_ids(["annabeth:code"])["annabeth:code"]
        ),
        {"facts": 1, "episodes": 1, "searches": 5},
        (*SECRET_WORDS, "annabeth rain", "annabeth tides", "annabeth gardening"),
    ),
    "source": (
        lambda _: EraseSource(source_id=1),
        {},
        (
            *SECRET_WORDS,
            *THING_WORDS,
            "annabeth driver",
            "chat:annabeth",
            "annabeth.json",
            "annabeth oolong",
            "annabeth smithers",
        ),
    ),
    "entity": (lambda _: EraseEntity(entity_id=1), {}, THING_WORDS),
    "owner": (lambda _: EraseOwner(owner="annabeth"), {}, ("annabeth", *THING_WORDS)),
    "rejection": (
        lambda _: EraseRejection(rejection_id=1),
        {"rejections": 1},
        ("annabeth-detail-77",),
    ),
    "preference": (_noted(PREFERENCE), {"preferences": 1}, ("annabeth oolong",)),
    "learn_prompt": (_noted(LEARN_PROMPT), {"searches": 4}, ("annabeth gardening",)),
    "schedule": (_noted(SCHEDULE), {"searches": 1}, ("annabeth tides",)),
    "search_log": (_noted(SEARCH_LOG, nth=1), {"searches": 1}, ("annabeth almanac",)),
    "search_task": (_noted(SEARCH_TASK), {"searches": 1}, ("annabeth regatta",)),
    "proposal": (
        lambda _: EraseNoted(target="proposal", row_id=1),
        {"proposals": 1},
        ("annabeth haberdashery",),
    ),
}
erasures = pytest.mark.parametrize("what", ERASURES)


class ErasedContract(Contract):
    @erasures
    def test_what_is_erased_stands_nowhere(self, ledger: Store, what: str) -> None:
        scene(ledger)
        op, counts, words = ERASURES[what]
        before = repr(every_row(ledger)).lower()
        assert [word for word in words if word.lower() not in before] == []
        receipt = write(ledger, op(ledger), now=NOW + 1)
        assert {name: receipt.erased[name] for name in counts} == counts
        after = repr(every_row(ledger)).lower()
        assert [word for word in words if word.lower() in after] == []
        for target in ("episode", "fact"):
            for word in words:
                assert ledger.search(target, [word], Filters(owner=EVERYONE), 9) == []
        assert "velocipede" in after
        assert "bertramina-zebra-19" in after
        [act] = ledger.find(ERASURE)
        assert (act.what, act.counts, act.at, act.clean) == (what, receipt.erased, NOW + 1, True)

    @erasures
    def test_what_is_erased_does_not_come_back_with_its_log(self, ledger: Store, what: str) -> None:
        scene(ledger)
        op, _, words = ERASURES[what]
        write(ledger, op(ledger), now=NOW + 1)
        receipt = write(ledger, *record_of("annabeth"), now=NOW + 2)
        kept = repr(every_row(ledger)).lower()
        assert [word for word in words if word.lower() in kept] == []
        if what in ("fact", "episode", "source", "entity", "owner"):
            assert receipt.kept_out > 0

    def test_what_is_erased_may_come_back_when_it_is_let_in(self, ledger: Store) -> None:
        scene(ledger)
        write(ledger, EraseOwner(owner="annabeth"), now=NOW + 1)
        [act] = ledger.find(ERASURE)
        write(ledger, AllowAgain(erasure_id=act.id), now=NOW + DAY)
        assert ledger.find(ERASURE) == [act._replace(allowed_at=NOW + DAY)]
        receipt = write(ledger, *record_of("annabeth"), now=NOW + DAY)
        assert (receipt.episodes, receipt.kept_out) == (4, 0)

    def test_what_changes_no_memory_does_not_after_an_erasure(self, ledger: Store) -> None:
        scene(ledger)
        write(ledger, EraseFact(fact_id=1))
        before = ledger.head("bertramina").memory
        write(ledger, RecordInjection(session="s", owner="bertramina", mode="tool", items=["e1"]))
        assert ledger.head("bertramina").memory == before
        write(ledger, *record_of("annabeth"))
        assert ledger.head("bertramina").memory > before  # nobody is named by what is kept out

    def test_what_is_not_there_or_was_erased_is_not_found(self, ledger: Store) -> None:
        scene(ledger)
        write(ledger, EraseFact(fact_id=1))
        for op in (
            EraseFact(fact_id=1),
            EraseFact(fact_id=99),
            EraseEpisode(episode_id=99),
            EraseSource(source_id=99),
            EraseEntity(entity_id=99),
            EraseRejection(rejection_id=99),
            EraseNoted(target="schedule", row_id=99),
            EraseOwner(owner="nobody"),
            AllowAgain(erasure_id=99),
        ):
            with pytest.raises(NotFound):
                write(ledger, op)
        assert len(ledger.find(ERASURE)) == 1
