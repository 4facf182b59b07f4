"""Notices that wait in a real store, for the tests of what becomes of them."""

from __future__ import annotations

from factbook.apply.apply import apply
from factbook.model.entities import Notice, NoticeState
from factbook.model.facts import ME, Candidate, EpisodeKind, FactKind, Millis, Role, Trigger, Trust
from factbook.model.interest_ops import Announce, CreateEntity
from factbook.model.ops import AssertFact, Op, RecordEpisode, RecordSource
from factbook.store.derived.notices import notices_of
from factbook.store.port import Store
from factbook.testing import sample_episode, sample_source

CHAT = "chat:evening"
SPEAKERS = ["harbeth", "tannoy", "klipsch", "denton", "spendor", "rogers", "dynaudio", "linton"]


def announce(
    store: Store,
    name: str,
    *facts: str,
    now: Millis,
    owner: str = ME,
    image: str = "",
    number: int = 1,
) -> list[Notice]:
    """Let an owner say something about a thing that is to be told; return what waits then."""
    text = " ".join([f"Tell me about {name}.", *facts])
    episode = sample_episode(
        number,
        text=text,
        source=CHAT,
        uid=f"turn:{owner}:{name}:{number}",
        kind=EpisodeKind.TURN,
        role=Role.USER,
        trust=Trust.DIRECT,
        owner=owner,
        occurred_at=now,
    )
    ops: list[Op] = [
        RecordSource(source=sample_source(CHAT)),
        RecordEpisode(episode=episode),
        CreateEntity(owner=owner, name=name, episode=episode.uid),
        Announce(owner=owner, entity=name, image=image),
    ]
    for fact in facts:
        start = text.index(fact)
        candidate = Candidate(
            subject=name,
            predicate="about",
            object=fact,
            statement=f"{name}: {fact}",
            confidence=0.9,
            rule="by_hand",
            method="by hand",
            start=start,
            end=start + len(fact),
            kind=FactKind.WORLD,
        )
        ops.append(
            AssertFact(
                candidate=candidate,
                episode=episode.uid,
                owner=owner,
                confidence=0.9,
                trust=Trust.DIRECT,
                quote=fact,
            )
        )
    apply(store, ops, trigger=Trigger.USER_MESSAGE, actor="test", now=now)
    return notices_of(store, owner, states=(NoticeState.WAITING,))


def announce_all(store: Store, *, now: Millis, count: int = len(SPEAKERS)) -> list[Notice]:
    """Announce a fact of each of the speakers; return what waits then."""
    for name in SPEAKERS[:count]:
        announce(store, name, f"The {name} has a case of wood.", now=now)
    return notices_of(store, ME, states=(NoticeState.WAITING,))
