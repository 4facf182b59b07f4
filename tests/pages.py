"""Pages to search in, and a memory that searches them: for the tests of entities and interest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from factbook import policy
from factbook.errors import SearchError, SearchFailure
from factbook.llm.config import ModelConfig
from factbook.memory import Memory
from factbook.model.entities import SearchAnswer, SearchResult
from factbook.store.derived.entities import world_facts
from factbook.testing import FrozenClock
from factbook.testing.model_server import ModelServer

MINUTE = 60_000
DAY = 24 * 60 * MINUTE


def page(
    title: str, text: str, *, host: str = "a.example", image: str = "", path: str = ""
) -> SearchResult:
    """Return a page of a host."""
    where = path or title.lower().replace(" ", "-")
    return SearchResult(
        title=title, url=f"https://{host}/{where}", text=text, image=image, published_at=None
    )


@dataclass
class Pages:
    """A search provider over a few pages: those that hold the most words of the query come first.

    `down` makes it fail with that error, as often as it is asked.
    """

    pages: list[SearchResult] = field(default_factory=list)
    id: str = "pages"
    down: SearchFailure | None = None
    asked: list[str] = field(default_factory=list)

    def search(self, query: str, *, limit: int = policy.SEARCH_RESULTS) -> SearchAnswer:
        """Return the pages that hold words of the query."""
        self.asked.append(query)
        if self.down is not None:
            raise SearchError(kind=self.down, provider=self.id, reason="it was told to fail")
        words = {word.rstrip("s") for word in query.casefold().split() if len(word) > 2}
        scored = [
            (sum(word in f"{one.title} {one.text}".casefold() for word in words), -number, one)
            for number, one in enumerate(self.pages)
        ]
        best = [
            one for score, _, one in sorted(scored, key=lambda row: row[:2], reverse=True) if score
        ]
        return SearchAnswer(provider=self.id, results=best[:limit], duration_ms=3)


@dataclass
class World:
    """A memory, the pages it searches, its clock, and a model where there is one."""

    memory: Memory
    pages: Pages
    clock: FrozenClock

    def names(self, owner: str = "me") -> list[str]:
        """Return the names of an owner's entities."""
        return [one.name for one in self.memory.interests.entities(owner=owner)]

    def facts(self, name: str, owner: str = "me") -> list[str]:
        """Return what is known of an entity, oldest first."""
        return [one.object for one in world_facts(self.memory.store, owner, name)][::-1]

    def say(self, text: str, *, session: str = "s", owner: str = "me") -> None:
        """Let an owner say something."""
        self.clock.now += MINUTE
        self.memory.add_turn(text, session=session, owner=owner)


def open_world(
    folder: Path,
    pages: Sequence[SearchResult] = (),
    *,
    server: ModelServer | None = None,
    **more: object,
) -> World:
    """Open a memory over some pages; with a server, it asks that one as its model."""
    clock = FrozenClock()
    provider = Pages(list(pages))
    model = None
    if server is not None:
        model = ModelConfig(provider="ollama", model="m", url=server.url, timeout_s=5.0)
    memory = Memory(
        folder / "world.db",
        clock=clock,
        key_file=folder / "key",
        search=provider,
        model=model,
        **more,  # type: ignore[arg-type]
    )
    return World(memory, provider, clock)


SPEAKERS = (
    page(
        "Wharfedale Denton 85 review",
        "The Wharfedale Denton 85 is a bookshelf speaker with a walnut cabinet."
        " It costs 600 dollars. The Denton 85 was released in 2020.",
        host="audio.example",
        image="https://audio.example/denton.png",
    ),
    page(
        "The best speakers of the year",
        "The KEF LS50 Meta is a bookshelf speaker. The KEF LS50 Meta uses a MAT driver.\n"
        "The Wharfedale Denton 85 is a speaker that suits small rooms.\n"
        "Sponsored by MegaMart. Subscribe to our newsletter.",
        host="hifi.example",
    ),
    page(
        "KEF LS50 Meta in our listening room",
        "The KEF LS50 Meta is a speaker that costs 1,600 dollars."
        " Many visitors asked about the carpet from Persia.",
        host="ears.example",
    ),
)
