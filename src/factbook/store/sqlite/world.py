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

    def entities(
        self,
        owner: str | Everyone = ME,
        *,
        include_retired: bool = False,
        ids: Sequence[int] | None = None,
    ) -> list[Entity]:
        """Return entities by id, oldest first."""
        where, bindings = _where({"n.owner": owner})
        if not include_retired:
            where.append("n.retired_at IS NULL")
        if ids is not None:
            where.append(f"n.id IN {_IN}")
            bindings.append(json_list(ids))
        rows = self._rows(f"{_ENTITY} {_all(where)} ORDER BY n.id", bindings)
        return [_entity(row) for row in rows]

    def entity_named(self, owner: str, name: str) -> Entity | None:
        """Return the current entity that goes by a canonical name or an alias."""
        rows = self._rows(
            f"{_ENTITY} WHERE n.owner = ?1 AND n.retired_at IS NULL AND (n.name = ?2 OR n.id ="
            " (SELECT entity_id FROM entity_alias WHERE owner = ?1 AND name = ?2))"
            " ORDER BY n.name = ?2 DESC LIMIT 1",
            (owner, name),
        )
        return _entity(rows[0]) if rows else None

    def entity_ids(self, owner: str) -> dict[int, str]:
        """Return the ids of an owner's current entities with their names."""
        return dict(
            self._rows(
                "SELECT id, name FROM entity_row WHERE owner = ? AND retired_at IS NULL", (owner,)
            )
        )

    def about_vectors(self, owner: str) -> tuple[list[int], bytes]:
        """Return the vectors of an owner's world facts, each under the id of its entity."""
        rows = self._rows(
            "SELECT n.id, x.vector FROM fact_row f JOIN fact_vector x ON x.fact_id = f.id"
            " JOIN entity_row n ON n.owner = f.owner AND n.name = f.subject"
            "   AND n.retired_at IS NULL"
            " WHERE f.owner = ? AND f.kind = 'world' AND f.retired_at IS NULL",
            (owner,),
        )
        return [row[0] for row in rows], b"".join(row[1] for row in rows)

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

    def asked_for(self, owner: str) -> set[int]:
        """Return the entities that an owner asked about or spoke well of, and did not just name."""
        rows = self._rows(
            "SELECT DISTINCT entity_id FROM engagement_row WHERE owner = ? AND valence = 'positive'"
            f" AND entity_id IS NOT NULL AND type NOT IN {_IN}",
            (
                owner,
                json_list([EngagementType.MENTIONED_IN_PASSING, EngagementType.NORMAL_REACTION]),
            ),
        )
        return {row[0] for row in rows}

    def deleted_names(self, owner: str) -> set[str]:
        """Return the names of entities that their owner removed and did not bring back.

        What upkeep retired for want of facts comes back as soon as it is spoken of.
        """
        rows = self._rows(
            "SELECT n.name FROM entity_row n WHERE n.owner = ?1 AND n.retired_at IS NOT NULL"
            " AND n.merged_into_id IS NULL AND NOT EXISTS (SELECT 1 FROM entity_row m"
            " WHERE m.owner = ?1 AND m.name = n.name AND m.retired_at IS NULL)"
            " AND 'upkeep' IS NOT (SELECT e.trigger FROM event_row e"
            " WHERE e.target_kind = 'entity' AND e.target_id = n.id AND e.op = 'retire'"
            " ORDER BY e.id DESC LIMIT 1)",
            (owner,),
        )
        return {row[0] for row in rows}

    def known_names(self, owner: str) -> dict[str, str]:
        """Return every name and alias of an owner's current entities -> the canonical name."""
        rows = self._rows(
            "SELECT a.name, n.name FROM entity_alias a JOIN entity_row n ON n.id = a.entity_id"
            " WHERE n.owner = ?1 AND n.retired_at IS NULL"
            " UNION ALL SELECT name, name FROM entity_row"
            " WHERE owner = ?1 AND retired_at IS NULL",
            (owner,),
        )
        return dict(rows)

    def world_facts(self, owner: str, name: str, *, limit: int | None = None) -> list[Fact]:
        """Return the current facts about an entity, newest first."""
        rows = self._rows(
            f"{FACT} WHERE f.owner = ? AND f.subject = ? AND f.kind = 'world'"
            " AND f.retired_at IS NULL AND f.status <> 'proposed' AND f.confidence > 0"
            " ORDER BY f.learned_at DESC, f.id DESC LIMIT ?",
            (owner, name, -1 if limit is None else limit),
        )
        return [as_fact(row) for row in rows]

    def fact_places(self, fact_ids: Sequence[int]) -> dict[int, tuple[str, int | None]]:
        """Return (address of the page or "", search that found it first) of world facts."""
        rows = self._rows(
            "SELECT f.id, coalesce(json_extract(e.attributes, '$.url'), ''),"
            " (SELECT min(r.search_id) FROM search_result_row r WHERE r.episode_id = e.id)"
            f" FROM fact_row f JOIN episode_row e ON e.id = f.episode_id WHERE f.id IN {_IN}",
            (json_list(fact_ids),),
        )
        return {row[0]: (row[1], row[2]) for row in rows}

    def engagements(
        self,
        owner: str | Everyone = ME,
        *,
        entity_id: int | None = None,
        preference_id: int | None = None,
        since: Millis | None = None,
        limit: int | None = None,
    ) -> list[Engagement]:
        """Return engagements, newest first."""
        where, bindings = _where(
            {"owner": owner, "entity_id": entity_id, "preference_id": preference_id}
        )
        if since is not None:
            where.append("at >= ?")
            bindings.append(since)
        rows = self._rows(
            f"{_ENGAGEMENT} {_all(where)} ORDER BY at DESC, id DESC LIMIT ?",
            (*bindings, -1 if limit is None else limit),
        )
        return [_engagement(row) for row in rows]

    def preferences(
        self, owner: str | Everyone = ME, *, include_retired: bool = False
    ) -> list[Preference]:
        """Return preferences, oldest first."""
        where, bindings = _where({"owner": owner})
        if not include_retired:
            where.append("retired_at IS NULL")
        rows = self._rows(f"{_PREFERENCE} {_all(where)} ORDER BY id", bindings)
        return [_preference(row) for row in rows]

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

    def learned_of(self, prompt_id: int) -> list[tuple[Entity, int]]:
        """Return (entity, facts) that the searches of a prompt gave, most facts first.

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
        known = {one.id: one for one in self.entities(EVERYONE, ids=[row[0] for row in rows])}
        return [(known[row[0]], row[1]) for row in rows]

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

    def attributes_of(self, episode_ids: Sequence[int]) -> dict[int, dict[str, str]]:
        """Return the exact values of episodes by id."""
        rows = self._rows(
            f"SELECT id, attributes FROM episode_row WHERE id IN {_IN}", (json_list(episode_ids),)
        )
        return {row[0]: orjson.loads(row[1]) for row in rows}

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

    def entities_named(self, owner: str, names: Sequence[str]) -> dict[str, Entity]:
        """Return the current entities that go by these names, aliases too, by the name asked."""
        found: dict[str, Entity] = {}
        rows: list[Any] = self._db.execute(
            f"{_ENTITY} WHERE n.owner = ? AND n.retired_at IS NULL AND n.name IN {_IN}",
            (owner, json_list(names)),
        ).fetchall()
        found.update({row[2]: _entity(row) for row in rows})
        aliased: list[Any] = self._db.execute(
            f"SELECT a.name, a.entity_id FROM entity_alias a WHERE a.owner = ? AND a.name IN {_IN}",
            (owner, json_list(one for one in names if one not in found)),
        ).fetchall()
        lives = {
            one.id: one
            for one in self.entities(
                EVERYONE, include_retired=True, ids=[row[1] for row in aliased]
            )
        }
        found.update({str(name): lives[one] for name, one in aliased if lives[one].current})
        return found

    def deleted_entity(self, owner: str, name: str) -> Entity | None:
        """Return the entity of that name that was forgotten last, merged ones aside."""
        row = self._one(
            f"{_ENTITY} WHERE n.owner = ?1 AND (n.name = ?2 OR n.id ="
            " (SELECT entity_id FROM entity_alias WHERE owner = ?1 AND name = ?2))"
            " AND n.retired_at IS NOT NULL AND n.merged_into_id IS NULL"
            " ORDER BY n.name = ?2 DESC, n.retired_at DESC, n.id DESC LIMIT 1",
            (owner, name),
        )
        return _entity(row) if row else None

    def add_entity(self, owner: str, name: str, trigger: Trigger, episode_id: int) -> int:
        """Insert an entity that is not known, and return its id."""
        self._db.execute(
            "INSERT INTO entity_row (owner, name, trigger, episode_id, created_at, updated_at)"
            " VALUES (?,?,?,?,?,?)",
            (owner, name, trigger, episode_id, self._now, self._now),
        )
        return self._db.last_insert_rowid()

    def write_entity(self, entity: Entity) -> None:
        """Overwrite the state of an entity; one that retires loses its vector."""
        if entity.retired_at is not None:
            self.drop_vectors("entity", [entity.id])
        self._db.execute(
            "UPDATE entity_row SET retired_at = ?1, merged_into_id = ?2, muted = ?3,"
            " updated_at = ?4, vector_state = CASE WHEN ?1 IS NOT NULL THEN 0"
            " WHEN vector_state = 0 THEN 1 ELSE vector_state END WHERE id = ?5",
            (entity.retired_at, entity.merged_into_id, entity.muted, self._now, entity.id),
        )

    def touch_entities(self, ids: Iterable[int]) -> None:
        """Note that something about these entities has changed."""
        self._db.execute(
            f"UPDATE entity_row SET updated_at = ? WHERE id IN {_IN}",
            (self._now, json_list(sorted(set(ids)))),
        )

    def put_alias(self, owner: str, name: str, entity_id: int) -> bool:
        """Let a name stand for an entity; False where it stands for one already."""
        self._db.execute(
            "INSERT INTO entity_alias VALUES (?,?,?) ON CONFLICT (owner, name) DO NOTHING",
            (owner, name, entity_id),
        )
        return self._db.changes() == 1

    def move_aliases(self, owner: str, names: Sequence[str], entity_id: int) -> None:
        """Let names stand for another entity."""
        self._db.execute(
            f"UPDATE entity_alias SET entity_id = ? WHERE owner = ? AND name IN {_IN}",
            (entity_id, owner, json_list(names)),
        )

    def drop_alias(self, owner: str, name: str) -> None:
        """Let a name stand for nothing."""
        self._db.execute("DELETE FROM entity_alias WHERE owner = ? AND name = ?", (owner, name))

    def world_ids(self, owner: str, name: str) -> list[int]:
        """Return the current facts about an entity, by id."""
        rows = self._db.execute(
            "SELECT id FROM fact_row WHERE owner = ? AND subject = ? AND kind = 'world'"
            " AND retired_at IS NULL ORDER BY id",
            (owner, name),
        )
        return [row[0] for row in rows]

    def move_fact(self, fact_id: int, subject: str, claim: bytes) -> None:
        """Let a fact be about another entity."""
        self._db.execute(
            "UPDATE fact_row SET subject = ?, claim = ? WHERE id = ?", (subject, claim, fact_id)
        )

    # --- engagements and preferences ------------------------------------------------------------

    def add_engagement(self, one: Engagement) -> int | None:
        """Insert an engagement; None where the same message counts already. Its id is given."""
        self._db.execute(
            "INSERT OR IGNORE INTO engagement_row (owner, entity_id, preference_id, type, valence,"
            " strength, episode_id, at) VALUES (?,?,?,?,?,?,?,?)",
            one[1:],
        )
        return self._db.last_insert_rowid() if self._db.changes() else None

    def move_engagements(self, ids: Sequence[int] | None, source: int, target: int) -> list[int]:
        """Give engagements of one entity to another, all without `ids`; return which moved."""
        chosen = "" if ids is None else f" AND id IN {_IN}"
        rows: list[Any] = self._db.execute(
            f"UPDATE OR IGNORE engagement_row SET entity_id = ? WHERE entity_id = ?{chosen}"
            " RETURNING id",
            (target, source, *([] if ids is None else [json_list(ids)])),
        ).fetchall()
        return sorted(row[0] for row in rows)

    def preference(self, owner: str, topic: str) -> Preference | None:
        """Return what an owner thinks of a topic now."""
        row = self._one(
            f"{_PREFERENCE} WHERE owner = ? AND topic = ? AND retired_at IS NULL", (owner, topic)
        )
        return _preference(row) if row else None

    def add_preference(self, owner: str, topic: str, kind: PreferenceType, episode_id: int) -> int:
        """Insert a preference of a topic without one, and return its id."""
        self._db.execute(
            "INSERT INTO preference_row (owner, topic, type, episode_id, created_at)"
            " VALUES (?,?,?,?,?)",
            (owner, topic, kind, episode_id, self._now),
        )
        return self._db.last_insert_rowid()

    def retire_preference(self, preference_id: int) -> None:
        """Let a preference hold no more."""
        self.drop_vectors("preference", [preference_id])
        self._db.execute(
            "UPDATE preference_row SET retired_at = ?, vector_state = 0 WHERE id = ?",
            (self._now, preference_id),
        )

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

    def episode_kinds(self, ids: Sequence[int]) -> dict[int, EpisodeKind]:
        """Return what episodes are, by id."""
        rows = self._db.execute(
            f"SELECT id, kind FROM episode_row WHERE id IN {_IN}", (json_list(ids),)
        )
        return {row[0]: EpisodeKind(row[1]) for row in rows}

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
