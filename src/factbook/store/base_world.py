"""The part of the port that keeps what people care about; see `store.base`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from factbook.model.entities import (
    LearnPrompt,
    Notice,
    NoticeState,
    NotifyState,
    Schedule,
    SearchLog,
    SearchState,
    SearchTask,
)
from factbook.model.facts import ME, Everyone, Fact, Millis, StoredEpisode, Trigger


class ResultState(NamedTuple):
    """How far one result of a search was read."""

    episode_id: int
    seen: Sequence[tuple[int, int]] | None  # where a model saw new names; None: not asked yet
    is_read: bool
    failed: int  # how often reading it failed


class WorldWriter(Protocol):
    """The verbs for entities, engagements, searches and notices."""

    def add_learn_prompt(self, owner: str, text: str, episode_id: int) -> int:
        """Insert what an owner wants learned, and return its id."""

    def settle_learn_prompt(self, prompt_id: int) -> bool:
        """Complete a prompt whose searches are all made and read; True where it was just then."""

    def add_search_task(
        self,
        owner: str,
        query: str,
        trigger: Trigger,
        *,
        learn_prompt_id: int | None = None,
        entity_id: int | None = None,
        cause_id: int | None = None,
    ) -> int:
        """Insert a search that waits, and return its id."""

    def search_task(self, task_id: int) -> SearchTask | None:
        """Return a search that was asked for."""

    def write_search_task(self, task: SearchTask) -> None:
        """Overwrite the state of a search that was asked for; whoever was making it has ended."""

    def lease(self, name: str) -> tuple[str, int, Millis]:
        """Return (holder, token, until) of who took a lease last; ("", 0, 0) where nobody has."""

    def set_lease(self, name: str, holder: str) -> None:
        """Let somebody hold a lease from now on; nobody does where `holder` is empty."""

    def retry_searches(self) -> int:
        """Let searches that were set aside be tried again; return how many."""

    def add_search_log(self, log: SearchLog, *, uid: str = "") -> int:
        """Insert a search with its results; its id is given."""

    def set_seen(self, search_id: int, episode_id: int, places: Sequence[tuple[int, int]]) -> None:
        """Remember where a model saw new names in a result."""

    def set_discovered(self, search_id: int) -> bool:
        """Remember that a search was looked through for new things; False where it was already."""

    def set_read(self, search_id: int, episode_id: int) -> bool:
        """Remember that a result was read; False where it was already."""

    def count_failure(self, search_id: int, episode_id: int) -> None:
        """Remember that a result could not be read."""

    def add_finds(self, search_id: int, finds: Sequence[tuple[int, float | None]]) -> None:
        """Remember new facts of a search, with what is nearest to each, until they are told."""

    def finds(self, search_id: int) -> list[int]:
        """Return the new facts of a search that nobody was told."""

    def drop_finds(self, search_id: int, fact_ids: Sequence[int]) -> None:
        """Forget that facts of a search are new: they are told."""

    def search_log(self, search_id: int) -> SearchLog | None:
        """Return a search."""

    def set_extracted(self, search_id: int) -> bool:
        """Remember that a search was read, and forget how far; False where it was already."""

    def search_triggers(self, owner: str, episode_id: int) -> set[Trigger]:
        """Return what caused the searches of an owner that found an episode."""

    def set_heard(self, episode_id: int) -> bool:
        """Remember that a message was read; False where it was already."""

    def add_notice(self, notice: Notice) -> int:
        """Insert a notice with its facts; its id is given."""

    def add_notice_facts(self, notice_id: int, fact_ids: Sequence[int]) -> None:
        """Let a notice tell of more facts."""

    def notice(self, notice_id: int) -> Notice | None:
        """Return a notice."""

    def waiting_notice(self, owner: str, entity_id: int) -> Notice | None:
        """Return the notice about an entity that waits."""

    def write_notice(self, notice: Notice) -> None:
        """Overwrite the state of a notice."""

    def write_notify_state(self, state: NotifyState) -> None:
        """Overwrite how much an owner has been told."""

    def add_schedule(self, one: Schedule, episode_id: int) -> int:
        """Insert a schedule; its id is given."""

    def schedule_cause(self, schedule_id: int) -> int:
        """Return the command that made a schedule."""

    def is_asked(self, cause_id: int) -> bool:
        """Tell whether a search that something caused waits still."""

    def has_tasks(self, prompt_id: int) -> bool:
        """Tell whether the searches of a prompt were planned."""

    def prompt_cause(self, prompt_id: int) -> tuple[str, int] | None:
        """Return (owner, the command) of what was asked to be learned."""

    def schedule(self, schedule_id: int) -> Schedule | None:
        """Return a schedule that goes on."""

    def write_schedule(self, schedule_id: int, *, next_at: Millis, ends: bool = False) -> None:
        """Put the next time of a schedule off, or end it."""


class WorldReads(Protocol):
    """The reads of what people care about."""

    def told_at(self, entity_id: int) -> Millis | None:
        """Return when a notice about an entity was made last."""

    def looked_up(self) -> dict[int, list[tuple[Millis, str]]]:
        """Return (when, query) of the searches about each entity, made or in vain, oldest first."""

    def search_logs(
        self,
        owner: str | Everyone = ME,
        *,
        extracted: bool | None = None,
        learn_prompt_id: int | None = None,
        ids: Sequence[int] | None = None,
        uid: str = "",
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[SearchLog]:
        """Return searches, oldest first unless `newest_first`."""

    def is_discovered(self, search_id: int) -> bool:
        """Tell whether a search was looked through for new things."""

    def result_states(self, search_id: int) -> list[ResultState]:
        """Return how far each result of a search was read, best first."""

    def untold_finds(self, search_id: int) -> list[tuple[Fact, float | None]]:
        """Return the new facts of a search that hold still, with what is nearest, oldest first."""

    def searches_since(self, trigger: Trigger, at: Millis) -> dict[str, int]:
        """Return how many searches each owner was given with this trigger from a moment on.

        Those that failed count as well: they were asked for, and left the machine perhaps.
        """

    def search_tasks(
        self,
        *,
        states: Sequence[SearchState] = (SearchState.QUEUED, SearchState.FAILED),
        now: Millis | None = None,
        learn_prompt_id: int | None = None,
        limit: int | None = None,
    ) -> list[SearchTask]:
        """Return searches that were asked for, oldest first; with `now`, those that may be made."""

    def learn_prompts(self, owner: str | Everyone = ME, *, cause: str = "") -> list[LearnPrompt]:
        """Return what was asked to be learned, oldest first; `cause` is the uid of a command."""

    def unplanned(self) -> list[LearnPrompt]:
        """Return what is to be learned and has no searches yet, oldest first."""

    def learned_of(self, prompt_id: int) -> list[tuple[int, int]]:
        """Return (entity id, facts) that the searches of a prompt gave, most facts first.

        The seed's chain: prompt -> search -> fact -> entity.
        """

    def unheard(self, *, limit: int, owner: str | Everyone = ME) -> list[StoredEpisode]:
        """Return messages of owners that were not read yet, oldest first."""

    def said_before(self, episode_id: int, *, limit: int) -> list[StoredEpisode]:
        """Return what was said before a message in its conversation, newest first."""

    def notices(
        self,
        owner: str | Everyone = ME,
        *,
        states: Sequence[NoticeState] = (),
        ids: Sequence[int] | None = None,
        limit: int | None = None,
    ) -> list[Notice]:
        """Return notices, oldest first."""

    def notify_state(self, owner: str) -> NotifyState:
        """Return how much an owner has been told without answering."""

    def last_action(self) -> Millis | None:
        """Return when any owner did something last."""

    def schedules(
        self, owner: str | Everyone = ME, *, due: Millis | None = None, cause: str = ""
    ) -> list[Schedule]:
        """Return schedules that go on, oldest first; with `due`, those whose time has come.

        `cause` is the uid of the command that made them.
        """


class SearchLeases(Protocol):
    """Leases on searches that are to be made."""

    def claim_search(
        self,
        *,
        claimer: str,
        now: Millis,
        after: int = 0,
    ) -> SearchTask | None:
        """Take the oldest search that may be made and that nobody makes; None without any.

        It is taken under the write lock; `after` is the id of the one before.
        """

    def release_search(self, task_id: int, *, claimer: str) -> None:
        """Give a search back that was taken and not made; nothing where another has it."""
