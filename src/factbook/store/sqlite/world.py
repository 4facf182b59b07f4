"""The verbs and reads for what people care about: entities, engagements, searches, notices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import apsw
import orjson

from factbook import policy
from factbook.model.entities import (
    Engagement,
    EngagementType,
    Entity,
    LearnPrompt,
    Notice,
    NoticeKind,
    NoticeState,
    NotifyState,
    Preference,
    PreferenceType,
    Schedule,
    SearchLog,
    SearchState,
    SearchTask,
    Valence,
)
from factbook.model.facts import (
    EVERYONE,
    ME,
    EpisodeKind,
    Everyone,
    Fact,
    Millis,
    Role,
    StoredEpisode,
    Trigger,
    Trust,
)
from factbook.store.base_world import ResultState
from factbook.store.leases import due, stands
from factbook.store.sqlite.rows import (
    DUE,
    EPISODE,
    FACT,
    Rows,
    as_episode,
    as_fact,
    hold,
    json_list,
)

_IN = "(SELECT value FROM json_each(?))"
_OF_UID = "(SELECT id FROM episode_row WHERE uid = ?)"
_OPEN = "('queued', 'failed')"
_LEFT = "('queued', 'failed', 'aside')"  # what is set aside was not made, however long it waits
_WORLD = (
    "f.owner = n.owner AND f.subject = n.name AND f.kind = 'world' AND f.retired_at IS NULL"
    " AND f.confidence > 0"  # what its owner called wrong is kept, and counts no more
)

_ENTITY = f"""
SELECT n.id, n.owner, n.name, n.created_at, n.updated_at, n.episode_id, n.trigger, n.retired_at,
       n.merged_into_id, n.muted,
       (SELECT json_group_array(a.name) FROM entity_alias a WHERE a.entity_id = n.id),
       (SELECT count(*) FROM fact_row f WHERE {_WORLD} AND f.status <> 'proposed'),
       (SELECT max(t) FROM (
          SELECT max(g.at) AS t FROM engagement_row g WHERE g.entity_id = n.id
          UNION ALL SELECT max(f.learned_at) FROM fact_row f WHERE {_WORLD}))
FROM entity_row n"""
_ENGAGEMENT = (
    "SELECT id, owner, entity_id, preference_id, type, valence, strength, episode_id, at"
    " FROM engagement_row"
)
_PREFERENCE = "SELECT id, owner, topic, type, created_at, retired_at FROM preference_row"
_LOG = """
SELECT l.id, l.owner, l.at, l.query, l.trigger, l.provider, l.duration_ms, l.extracted,
       l.learn_prompt_id, l.entity_id, l.cause_id,
       (SELECT json_group_array(r.episode_id ORDER BY r.position) FROM search_result_row r
         WHERE r.search_id = l.id)
FROM search_log_row l"""
_TASK = (
    "SELECT id, owner, query, trigger, learn_prompt_id, entity_id, cause_id, state, attempts,"
    " error, until, created_at FROM search_task"
)
_PROMPT = f"""
SELECT p.id, p.owner, p.text, p.status,
       (SELECT count(*) FROM search_task t WHERE t.learn_prompt_id = p.id AND t.state IN {_LEFT}),
       p.created_at, p.updated_at
FROM learn_prompt_row p"""
# The page that a result is of, without the place in it; NULL for what is none.
_PAGE = (
    "(SELECT nullif(substr(u, 1, instr(u || '#', '#') - 1), '') FROM (SELECT"
    " json_extract(attributes, '$.url') AS u FROM episode_row WHERE id = {0}))"
)
_NOTICE = """
SELECT c.id, c.owner, c.entity_id, c.kind, c.trigger,
       (SELECT json_group_array(x.fact_id ORDER BY x.fact_id) FROM notice_fact x
         WHERE x.notice_id = c.id),
       c.image, c.state, c.created_at, c.sent_at, c.channels, c.reason
FROM notice_row c"""
_NOTIFY = "SELECT owner, unanswered, last_sent_at, engaged_at, muted FROM notify_row"
_SCHEDULE = "SELECT id, owner, topic, every_ms, next_at, created_at FROM schedule_row"


def _entity(row: Sequence[Any]) -> Entity:
    parts = list(row)
    parts[6] = Trigger(row[6])
    parts[9] = bool(row[9])
    parts[10] = tuple(sorted(orjson.loads(row[10])))
    return Entity._make(parts)


def _engagement(row: Sequence[Any]) -> Engagement:
    parts = list(row)
    parts[4], parts[5] = EngagementType(row[4]), Valence(row[5])
    return Engagement._make(parts)


def _preference(row: Sequence[Any]) -> Preference:
    parts = list(row)
    parts[3] = PreferenceType(row[3])
    return Preference._make(parts)


def _log(row: Sequence[Any]) -> SearchLog:
    parts = list(row)
    parts[4], parts[7] = Trigger(row[4]), bool(row[7])
    parts[11] = tuple(orjson.loads(row[11]))
    return SearchLog._make(parts)


def _task(row: Sequence[Any]) -> SearchTask:
    parts = list(row)
    parts[3], parts[7] = Trigger(row[3]), SearchState(row[7])
    return SearchTask._make(parts)


def _notice(row: Sequence[Any]) -> Notice:
    parts = list(row)
    parts[3], parts[4], parts[7] = NoticeKind(row[3]), Trigger(row[4]), NoticeState(row[7])
    parts[5] = tuple(orjson.loads(row[5]))
    parts[10] = tuple(orjson.loads(row[10]))
    return Notice._make(parts)


def _notify(row: Sequence[Any]) -> NotifyState:
    return NotifyState._make([*row[:4], bool(row[4])])


class WorldReads(Rows):
    """The reads of what people care about."""

    def told_at(self, entity_id: int) -> Millis | None:
        """Return when a notice about an entity was made last."""
        rows = self._rows(
            "SELECT max(created_at) FROM notice_row WHERE entity_id = ? AND state <> 'dropped'",
            (entity_id,),
        )
        return None if rows[0][0] is None else int(rows[0][0])

    def looked_up(self) -> dict[int, list[tuple[Millis, str]]]:
        """Return (when, query) of the searches about each entity, made or in vain, oldest first."""
        found: dict[int, list[tuple[Millis, str]]] = {}
        for entity, at, query in self._rows(
            "SELECT entity_id, created_at, query FROM search_task WHERE entity_id IS NOT NULL"
            " ORDER BY id"
        ):
            found.setdefault(entity, []).append((at, query))
        return found

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
        where, bindings = _where(
            {"l.owner": owner, "l.learn_prompt_id": learn_prompt_id, "l.uid": uid}
        )
        if extracted is not None:
            where.append("l.extracted = ?")
            bindings.append(int(extracted))
        if ids is not None:
            where.append(f"l.id IN {_IN}")
            bindings.append(json_list(ids))
        rows = self._rows(
            f"{_LOG} {_all(where)} ORDER BY l.id {'DESC' if newest_first else 'ASC'} LIMIT ?",
            (*bindings, -1 if limit is None else limit),
        )
        return [_log(row) for row in rows]

    def is_discovered(self, search_id: int) -> bool:
        """Tell whether a search was looked through for new things."""
        rows = self._rows("SELECT discovered FROM search_log_row WHERE id = ?", (search_id,))
        return bool(rows and rows[0][0])

    def result_states(self, search_id: int) -> list[ResultState]:
        """Return how far each result of a search was read, best first."""
        rows = self._rows(
            "SELECT episode_id, seen, is_read, failed FROM search_result_row"
            " WHERE search_id = ? ORDER BY position",
            (search_id,),
        )
        return [
            ResultState(
                row[0],
                None if row[1] is None else [(one[0], one[1]) for one in orjson.loads(row[1])],
                bool(row[2]),
                row[3],
            )
            for row in rows
        ]

    def untold_finds(self, search_id: int) -> list[tuple[Fact, float | None]]:
        """Return the new facts of a search that hold still, with what is nearest, oldest first."""
        near = dict(
            self._rows("SELECT fact_id, nearest FROM search_find WHERE search_id = ?", (search_id,))
        )
        rows = self._rows(
            f"{FACT} WHERE f.id IN {_IN} AND f.kind = 'world' AND f.retired_at IS NULL"
            " AND f.status <> 'proposed' AND f.confidence > 0 ORDER BY f.id",
            (json_list(near),),
        )
        return [(one, near[one.id]) for one in map(as_fact, rows)]

    def searches_since(self, trigger: Trigger, at: Millis) -> dict[str, int]:
        """Return how many searches each owner was given with this trigger from a moment on.

        Those that failed count as well: they were asked for, and left the machine perhaps.
        """
        return dict(
            self._rows(
                "SELECT owner, count(*) FROM search_task WHERE trigger = ? AND created_at >= ?"
                " GROUP BY owner",
                (trigger, at),
            )
        )

    def search_tasks(
        self,
        *,
        states: Sequence[SearchState] = (SearchState.QUEUED, SearchState.FAILED),
        now: Millis | None = None,
        learn_prompt_id: int | None = None,
        limit: int | None = None,
    ) -> list[SearchTask]:
        """Return searches that were asked for, oldest first; with `now`, those that may be made."""
        where, bindings = _where({"learn_prompt_id": learn_prompt_id})
        where.append(f"state IN {_IN}")
        bindings.append(json_list(states))
        if now is not None:
            where.append(DUE)
            bindings += [now, now + policy.LONGEST_WAIT_MS]
        rows = self._rows(
            f"{_TASK} {_all(where)} ORDER BY id LIMIT ?",
            (*bindings, -1 if limit is None else limit),
        )
        return [_task(row) for row in rows]

    def learn_prompts(self, owner: str | Everyone = ME, *, cause: str = "") -> list[LearnPrompt]:
        """Return what was asked to be learned, oldest first; `cause` is the uid of a command."""
        where, bindings = _where({"p.owner": owner})
        if cause:
            where.append(f"p.episode_id = {_OF_UID}")
            bindings.append(cause)
        rows = self._rows(f"{_PROMPT} {_all(where)} ORDER BY p.id", bindings)
        return [LearnPrompt._make(row) for row in rows]

    def unplanned(self) -> list[LearnPrompt]:
        """Return what is to be learned and has no searches yet, oldest first."""
        rows = self._rows(
            f"{_PROMPT} WHERE p.status = 'active' AND NOT EXISTS (SELECT 1 FROM search_task t"
            " WHERE t.learn_prompt_id = p.id) ORDER BY p.id"
        )
        return [LearnPrompt._make(row) for row in rows]

    def learned_of(self, prompt_id: int) -> list[tuple[int, int]]:
        """Return (entity id, facts) that the searches of a prompt gave, most facts first.

        The seed's chain: prompt -> search -> fact -> entity. What it asked about comes first, with
        all that the pages of its searches say of it: they may have been read before.
        """
        rows = self._rows(
            "WITH result AS (SELECT DISTINCT r.episode_id AS id FROM search_log_row l"
            " JOIN search_result_row r ON r.search_id = l.id WHERE l.learn_prompt_id = ?1),"
            " mine AS (SELECT g.entity_id AS id FROM learn_prompt_row p JOIN engagement_row g"
            " ON g.episode_id = p.episode_id AND g.type = ?2 WHERE p.id = ?1),"
            " found AS (SELECT v.fact_id AS id FROM result r"
            " JOIN evidence_row v ON v.episode_id = r.id UNION SELECT f.id FROM mine m"
            " JOIN entity_row n ON n.id = m.id"
            " JOIN fact_row f ON f.owner = n.owner AND f.subject = n.name AND f.kind = 'world'"
            f" JOIN evidence_row v ON v.fact_id = f.id WHERE {_PAGE.format('v.episode_id')} IN"
            f" (SELECT {_PAGE.format('result.id')} FROM result))"
            " SELECT n.id, count(*), n.id IN (SELECT id FROM mine) FROM found"
            " JOIN fact_row f ON f.id = found.id AND f.kind = 'world' AND f.retired_at IS NULL"
            "   AND f.status <> 'proposed' AND f.confidence > 0"
            " JOIN entity_row n ON n.owner = f.owner AND n.name = f.subject"
            "   AND n.retired_at IS NULL GROUP BY n.id ORDER BY 3 DESC, 2 DESC, n.id",
            (prompt_id, EngagementType.LEARN_COMMAND),
        )
        return [(row[0], row[1]) for row in rows]

    def unheard(self, *, limit: int, owner: str | Everyone = ME) -> list[StoredEpisode]:
        """Return messages of owners that were not read yet, oldest first."""
        where, bindings = _where({"e.owner": owner})
        rows = self._rows(
            f"{EPISODE} LEFT JOIN heard_row h ON h.episode_id = e.id"
            " WHERE h.episode_id IS NULL AND e.kind = ? AND e.role = ? AND e.trust = ?"
            f" AND e.injected = 0{''.join(f' AND {one}' for one in where)} ORDER BY e.id LIMIT ?",
            (EpisodeKind.TURN, Role.USER, Trust.DIRECT, *bindings, limit),
        )
        return [as_episode(row) for row in rows]

    def said_before(self, episode_id: int, *, limit: int) -> list[StoredEpisode]:
        """Return what was said before a message in its conversation, newest first."""
        rows = self._rows(
            f"{EPISODE} JOIN episode_row m ON m.id = ?1 AND m.owner = e.owner"
            " AND m.session = e.session WHERE e.id < ?1 AND e.kind IN ('turn', 'command')"
            " ORDER BY e.id DESC LIMIT ?2",
            (episode_id, limit),
        )
        return [as_episode(row) for row in rows]

    def notices(
        self,
        owner: str | Everyone = ME,
        *,
        states: Sequence[NoticeState] = (),
        ids: Sequence[int] | None = None,
        limit: int | None = None,
    ) -> list[Notice]:
        """Return notices, oldest first."""
        where, bindings = _where({"c.owner": owner})
        if states:
            where.append(f"c.state IN {_IN}")
            bindings.append(json_list(states))
        if ids is not None:
            where.append(f"c.id IN {_IN}")
            bindings.append(json_list(ids))
        rows = self._rows(
            f"{_NOTICE} {_all(where)} ORDER BY c.id LIMIT ?",
            (*bindings, -1 if limit is None else limit),
        )
        return [_notice(row) for row in rows]

    def notify_state(self, owner: str) -> NotifyState:
        """Return how much an owner has been told without answering."""
        rows = self._rows(f"{_NOTIFY} WHERE owner = ?", (owner,))
        return _notify(rows[0]) if rows else NotifyState(owner, 0, None, None, False)

    def last_action(self) -> Millis | None:
        """Return when any owner did something last."""
        rows = self._rows("SELECT max(engaged_at) FROM notify_row")
        return None if rows[0][0] is None else int(rows[0][0])

    def schedules(
        self, owner: str | Everyone = ME, *, due: Millis | None = None, cause: str = ""
    ) -> list[Schedule]:
        """Return schedules that go on, oldest first; with `due`, those whose time has come.

        `cause` is the uid of the command that made them.
        """
        where, bindings = _where({"owner": owner})
        where.append("retired_at IS NULL")
        if cause:
            where.append(f"episode_id = {_OF_UID}")
            bindings.append(cause)
        if due is not None:
            where.append("next_at <= ?")
            bindings.append(due)
        rows = self._rows(f"{_SCHEDULE} {_all(where)} ORDER BY id", bindings)
        return [Schedule._make(row) for row in rows]


class WorldVerbs(WorldReads):
    """The part of the writer that entities, engagements, searches and notices go through."""

    _db: apsw.Connection
    _now: Millis
    drop_vectors: Callable[[str, Sequence[int]], None]

    def _one(self, sql: str, bindings: Sequence[Any]) -> Any:
        rows: list[Any] = self._db.execute(sql, tuple(bindings)).fetchall()
        return rows[0] if rows else None

    # --- entities -------------------------------------------------------------------------------

    # --- engagements and preferences ------------------------------------------------------------

    # --- searches -------------------------------------------------------------------------------

    def add_learn_prompt(self, owner: str, text: str, episode_id: int) -> int:
        """Insert what an owner wants learned, and return its id."""
        self._db.execute(
            "INSERT INTO learn_prompt_row (owner, text, episode_id, created_at, updated_at)"
            " VALUES (?,?,?,?,?)",
            (owner, text, episode_id, self._now, self._now),
        )
        return self._db.last_insert_rowid()

    def settle_learn_prompt(self, prompt_id: int) -> bool:
        """Complete a prompt whose searches are all made and read; True where it was just then."""
        self._db.execute(
            "UPDATE learn_prompt_row SET status = 'completed', updated_at = ?1"
            " WHERE id = ?2 AND status = 'active'"
            f" AND NOT EXISTS (SELECT 1 FROM search_task WHERE learn_prompt_id = ?2"
            f" AND state IN {_LEFT})"
            " AND NOT EXISTS (SELECT 1 FROM search_log_row WHERE learn_prompt_id = ?2"
            " AND extracted = 0)",
            (self._now, prompt_id),
        )
        return self._db.changes() == 1

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
        self._db.execute(
            "INSERT INTO search_task (owner, query, trigger, learn_prompt_id, entity_id, cause_id,"
            " created_at) VALUES (?,?,?,?,?,?,?)",
            (owner, query, trigger, learn_prompt_id, entity_id, cause_id, self._now),
        )
        return self._db.last_insert_rowid()

    def search_task(self, task_id: int) -> SearchTask | None:
        """Return a search that was asked for."""
        row = self._one(f"{_TASK} WHERE id = ?", (task_id,))
        return _task(row) if row else None

    def write_search_task(self, task: SearchTask) -> None:
        """Overwrite the state of a search that was asked for; whoever was making it has ended."""
        self._db.execute(
            "UPDATE search_task SET state = ?, attempts = ?, error = ?, until = ? WHERE id = ?",
            (task.state, task.attempts, task.error, task.until, task.id),
        )
        self.set_lease(f"search {task.id}", "")

    def lease(self, name: str) -> tuple[str, int, Millis]:
        """Return (holder, token, until) of who took a lease last; ("", 0, 0) where nobody has."""
        row = self._one("SELECT holder, token, until FROM lease_row WHERE name = ?", (name,))
        return (row[0], row[1], row[2]) if row else ("", 0, 0)

    def set_lease(self, name: str, holder: str) -> None:
        """Let somebody hold a lease from now on; nobody does where `holder` is empty."""
        if holder:
            hold(self._db, name, holder, token=0, now=self._now)
        else:
            self._db.execute("DELETE FROM lease_row WHERE name = ?", (name,))

    def retry_searches(self) -> int:
        """Let searches that were set aside be tried again; return how many."""
        self._db.execute(
            "UPDATE search_task SET state = 'failed', attempts = 0, until = 0 WHERE state = 'aside'"
        )
        return self._db.changes()

    def add_search_log(self, log: SearchLog, *, uid: str = "") -> int:
        """Insert a search with its results; its id is given."""
        self._db.execute(
            "INSERT INTO search_log_row (uid, owner, at, query, trigger, provider, duration_ms,"
            " learn_prompt_id, entity_id, cause_id) VALUES (?,?,?,?,?,?,?,?,?,?)",
            (uid, *log[1:7], log.learn_prompt_id, log.entity_id, log.cause_id),
        )
        search_id = self._db.last_insert_rowid()
        self._db.executemany(
            "INSERT INTO search_result_row (search_id, position, episode_id) VALUES (?,?,?)",
            [(search_id, n, one) for n, one in enumerate(log.episode_ids)],
        )
        return search_id

    def set_seen(self, search_id: int, episode_id: int, places: Sequence[tuple[int, int]]) -> None:
        """Remember where a model saw new names in a result."""
        self._db.execute(
            "UPDATE search_result_row SET seen = ? WHERE search_id = ? AND episode_id = ?",
            (json_list(places), search_id, episode_id),
        )

    def set_discovered(self, search_id: int) -> bool:
        """Remember that a search was looked through for new things; False where it was already."""
        self._db.execute(
            "UPDATE search_log_row SET discovered = 1 WHERE id = ? AND discovered = 0",
            (search_id,),
        )
        return self._db.changes() == 1

    def set_read(self, search_id: int, episode_id: int) -> bool:
        """Remember that a result was read; False where it was already."""
        self._db.execute(
            "UPDATE search_result_row SET is_read = 1"
            " WHERE search_id = ? AND episode_id = ? AND is_read = 0",
            (search_id, episode_id),
        )
        return self._db.changes() == 1

    def count_failure(self, search_id: int, episode_id: int) -> None:
        """Remember that a result could not be read."""
        self._db.execute(
            "UPDATE search_result_row SET failed = failed + 1"
            " WHERE search_id = ? AND episode_id = ?",
            (search_id, episode_id),
        )

    def add_finds(self, search_id: int, finds: Sequence[tuple[int, float | None]]) -> None:
        """Remember new facts of a search, with what is nearest to each, until they are told."""
        self._db.executemany(
            "INSERT OR IGNORE INTO search_find VALUES (?,?,?)",
            [(search_id, *one) for one in finds],
        )

    def finds(self, search_id: int) -> list[int]:
        """Return the new facts of a search that nobody was told."""
        rows = self._db.execute(
            "SELECT fact_id FROM search_find WHERE search_id = ? ORDER BY fact_id", (search_id,)
        )
        return [row[0] for row in rows]

    def drop_finds(self, search_id: int, fact_ids: Sequence[int]) -> None:
        """Forget that facts of a search are new: they are told."""
        self._db.execute(
            f"DELETE FROM search_find WHERE search_id = ? AND fact_id IN {_IN}",
            (search_id, json_list(fact_ids)),
        )

    def search_log(self, search_id: int) -> SearchLog | None:
        """Return a search."""
        row = self._one(f"{_LOG} WHERE l.id = ?", (search_id,))
        return _log(row) if row else None

    def set_extracted(self, search_id: int) -> bool:
        """Remember that a search was read, and forget how far; False where it was already."""
        self._db.execute("DELETE FROM search_find WHERE search_id = ?", (search_id,))
        self._db.execute(
            "UPDATE search_result_row SET is_read = 1, seen = NULL WHERE search_id = ?",
            (search_id,),
        )
        self._db.execute(
            "UPDATE search_log_row SET extracted = 1 WHERE id = ? AND extracted = 0", (search_id,)
        )
        return self._db.changes() == 1

    def search_triggers(self, owner: str, episode_id: int) -> set[Trigger]:
        """Return what caused the searches of an owner that found an episode."""
        rows = self._db.execute(
            "SELECT DISTINCT l.trigger FROM search_result_row r"
            " JOIN search_log_row l ON l.id = r.search_id WHERE r.episode_id = ? AND l.owner = ?",
            (episode_id, owner),
        )
        return {Trigger(row[0]) for row in rows}

    def set_heard(self, episode_id: int) -> bool:
        """Remember that a message was read; False where it was already."""
        self._db.execute("INSERT OR IGNORE INTO heard_row VALUES (?)", (episode_id,))
        return self._db.changes() == 1

    # --- notices and schedules ------------------------------------------------------------------

    def add_notice(self, notice: Notice) -> int:
        """Insert a notice with its facts; its id is given."""
        self._db.execute(
            "INSERT INTO notice_row (owner, entity_id, kind, trigger, image, state, created_at,"
            " reason) VALUES (?,?,?,?,?,?,?,?)",
            (
                notice.owner,
                notice.entity_id,
                notice.kind,
                notice.trigger,
                notice.image,
                notice.state,
                self._now,
                notice.reason,
            ),
        )
        notice_id = self._db.last_insert_rowid()
        self.add_notice_facts(notice_id, notice.fact_ids)
        return notice_id

    def add_notice_facts(self, notice_id: int, fact_ids: Sequence[int]) -> None:
        """Let a notice tell of more facts."""
        self._db.executemany(
            "INSERT OR IGNORE INTO notice_fact VALUES (?,?)",
            [(notice_id, one) for one in fact_ids],
        )

    def notice(self, notice_id: int) -> Notice | None:
        """Return a notice."""
        row = self._one(f"{_NOTICE} WHERE c.id = ?", (notice_id,))
        return _notice(row) if row else None

    def waiting_notice(self, owner: str, entity_id: int) -> Notice | None:
        """Return the notice about an entity that waits."""
        row = self._one(
            f"{_NOTICE} WHERE c.owner = ? AND c.entity_id = ? AND c.state = 'waiting'"
            " ORDER BY c.id LIMIT 1",
            (owner, entity_id),
        )
        return _notice(row) if row else None

    def write_notice(self, notice: Notice) -> None:
        """Overwrite the state of a notice."""
        self._db.execute(
            "UPDATE notice_row SET state = ?, sent_at = ?, channels = ?, reason = ?, image = ?"
            " WHERE id = ?",
            (
                notice.state,
                notice.sent_at,
                json_list(notice.channels),
                notice.reason,
                notice.image,
                notice.id,
            ),
        )

    def write_notify_state(self, state: NotifyState) -> None:
        """Overwrite how much an owner has been told."""
        self._db.execute("INSERT OR REPLACE INTO notify_row VALUES (?,?,?,?,?)", tuple(state))

    def add_schedule(self, one: Schedule, episode_id: int) -> int:
        """Insert a schedule; its id is given."""
        self._db.execute(
            "INSERT INTO schedule_row (owner, topic, every_ms, next_at, episode_id, created_at)"
            " VALUES (?,?,?,?,?,?)",
            (one.owner, one.topic, one.every_ms, one.next_at, episode_id, self._now),
        )
        return self._db.last_insert_rowid()

    def schedule_cause(self, schedule_id: int) -> int:
        """Return the command that made a schedule."""
        row = self._one("SELECT episode_id FROM schedule_row WHERE id = ?", (schedule_id,))
        return int(row[0])

    def is_asked(self, cause_id: int) -> bool:
        """Tell whether a search that something caused waits still."""
        row = self._one(
            f"SELECT 1 FROM search_task WHERE cause_id = ? AND state IN {_LEFT}", (cause_id,)
        )
        return row is not None

    def has_tasks(self, prompt_id: int) -> bool:
        """Tell whether the searches of a prompt were planned."""
        row = self._one("SELECT 1 FROM search_task WHERE learn_prompt_id = ?", (prompt_id,))
        return row is not None

    def prompt_cause(self, prompt_id: int) -> tuple[str, int] | None:
        """Return (owner, the command) of what was asked to be learned."""
        row = self._one("SELECT owner, episode_id FROM learn_prompt_row WHERE id = ?", (prompt_id,))
        return (row[0], row[1]) if row else None

    def schedule(self, schedule_id: int) -> Schedule | None:
        """Return a schedule that goes on."""
        row = self._one(f"{_SCHEDULE} WHERE id = ? AND retired_at IS NULL", (schedule_id,))
        return Schedule._make(row) if row else None

    def write_schedule(self, schedule_id: int, *, next_at: Millis, ends: bool = False) -> None:
        """Put the next time of a schedule off, or end it."""
        self._db.execute(
            "UPDATE schedule_row SET next_at = ?, retired_at = ? WHERE id = ?",
            (next_at, self._now if ends else None, schedule_id),
        )


class SearchLeases(Rows):
    """Leases on searches that are to be made."""

    def _locked(self) -> AbstractContextManager[apsw.Connection]:
        raise NotImplementedError

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
        sql = (
            "SELECT t.id, t.until, l.holder, l.until FROM search_task t"
            " LEFT JOIN lease_row l ON l.name = 'search ' || t.id"
            f" WHERE t.state IN {_OPEN} AND t.id > ? ORDER BY t.id"
        )

        def free(rows: Iterable[Any]) -> int | None:
            for task_id, until, held_by, held_until in rows:
                held = held_by is not None and stands(held_by, held_until, now=now)
                if due(until, now=now) and not held:
                    return int(task_id)
            return None

        if free(self._rows(sql, (after,))) is None:
            return None  # nobody waits for the write lock where nothing is to be done
        with self._locked() as db:
            task_id = free(db.execute(sql, (after,)).fetchall())
            if task_id is None:
                return None
            hold(db, f"search {task_id}", claimer, token=0, now=now)
            row: Any = db.execute(f"{_TASK} WHERE id = ?", (task_id,)).fetchall()[0]
        return _task(row)

    def release_search(self, task_id: int, *, claimer: str) -> None:
        """Give a search back that was taken and not made; nothing where another has it."""
        with self._locked() as db:
            db.execute(
                "DELETE FROM lease_row WHERE name = 'search ' || ? AND holder = ?",
                (task_id, claimer),
            )


def _where(equal: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """Return conditions and bindings for the columns that are given."""
    given = {column: value for column, value in equal.items() if value not in ("", None, EVERYONE)}
    return [f"{column} = ?" for column in given], list(given.values())


def _all(where: Sequence[str]) -> str:
    return f"WHERE {' AND '.join(where)}" if where else ""
