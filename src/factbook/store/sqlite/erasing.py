"""The verbs that erase, and what cleans the file after them.

A row that is erased stays as an empty one: pointers hold, and no number is given out twice. What it
said is gone from the row, from its index entries and vectors, and from every other column that
repeats it. After the commit the file itself is looked through (`scour`).
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import apsw
import orjson

from factbook.errors import StoreReadOnly
from factbook.model import Millis
from factbook.store.base_erase import Doomed, Erasure, Scoured, Sighting, Span, same_words
from factbook.store.sqlite.rows import json_list
from factbook.store.sqlite.traces import WIDTH, Windows, blocks_of, joined
from factbook.text import asks

MASK: Final = "█"  # in the place of every character that is erased from an episode that stays
TEXT_CHARS: Final = 24  # ours: shorter texts are the same by chance; only their own id stops them
SHARED_BYTES: Final = (
    12  # ours: so much in a row that a note shares with what is erased is no chance
)
WORD_CHARS: Final = (3, 40)  # ours: a value in these bounds is looked for as a word of its own
VALUES_SOUGHT: Final = 500  # ours: more values than that are not looked for one by one
SHOWN_ELSEWHERE: Final = 20
PATIENCE_MS: Final = 5_000  # how long readers may keep the file from being cleaned

_IN = "(SELECT value FROM json_each(?))"
# What an event may keep of an erased row: names that the program gives, never words of anyone.
_PLAIN: Final = frozenset(
    {"action", "status", "trust", "state", "verdict", "kind", "type", "planner", "model"}
)
_FTS: Final = {"episode": "text", "fact": "statement"}
# Columns that repeat what other rows say: (table, key, columns, what becomes of a row that does).
_REPEATING: Final = (
    ("pair_row", ("low_id", "high_id"), ("detail",), "UPDATE pair_row SET detail = ''"),
    ("model_task", ("kind", "target"), ("error",), "UPDATE model_task SET error = ''"),
    ("embed_task", ("target", "row_id"), ("error",), "UPDATE embed_task SET error = ''"),
    ("search_task", ("id",), ("error",), "UPDATE search_task SET error = ''"),
    ("notice_row", ("id",), ("reason",), "UPDATE notice_row SET reason = 'erased'"),
    ("source_row", ("id",), ("title",), "UPDATE source_row SET title = ''"),
    ("rejection_row", ("id",), ("detail", "excerpt", "validation"), "DELETE FROM rejection_row"),
    ("proposal_row", ("id",), ("title", "payload", "reason"), "DELETE FROM proposal_row"),
)
# Rows that a person wrote or asked for: they are not touched, but where they stand is said.
_KEPT: Final = (
    ("e", "episode_row", "text"),
    ("f", "fact_row", "statement"),
    ("f", "fact_row", "object"),
    ("n", "entity_row", "name"),
    ("p", "preference_row", "topic"),
    ("l", "learn_prompt_row", "text"),
    ("q", "search_log_row", "query"),
)


def mark_of(key: str, kind: str, *parts: str) -> bytes:
    """Return the digest of what must not come back, under a key in hexadecimal."""
    data = "".join(f"{len(one)}:{one}" for one in (kind, *parts))
    return blake2b(
        data.encode("utf-8", "surrogatepass"), key=bytes.fromhex(key), digest_size=16
    ).digest()


class EraseVerbs:
    """The part of the writer that erases."""

    _db: apsw.Connection
    _actor: str
    _now: Millis
    drop_vectors: Callable[[str, Sequence[int]], None]
    wiped: list[str] | None = None
    """Everything that this transaction took out; it is looked for in the file after the commit."""
    sought: list[str] | None = None
    """Of it, what is worth telling where it stands in rows that are kept."""
    erasures: Sequence[int] = ()  # of this transaction

    def _all(self, sql: str, *bindings: Any) -> list[Any]:
        return self._db.execute(sql, bindings).fetchall()

    def _ids(self, sql: str, *bindings: Any) -> set[int]:
        return {int(row[0]) for row in self._db.execute(sql, bindings)}

    # --- tombstones -----------------------------------------------------------------------------

    def any_tombstones(self) -> bool:
        """Tell whether anything was ever erased."""
        return bool(self._all("SELECT EXISTS (SELECT 1 FROM tombstone)")[0][0])

    def mark(self, kind: str, *parts: str) -> bytes:
        """Return the digest that stands for what must not come back.

        Its key is this file's own, so that the same text has another digest in another file.
        """
        rows = self._all("SELECT value FROM meta WHERE name = 'erase_key'")
        if not rows:
            key = secrets.token_hex(32)
            self._db.execute("INSERT INTO meta VALUES ('erase_key', ?)", (key,))
        else:
            key = rows[0][0]
        return mark_of(str(key), kind, *parts)

    def tombstones(self, marks: Sequence[bytes]) -> dict[bytes, Millis]:
        """Return when those of the marks were erased that were."""
        rows = self._all(
            "SELECT t.mark, x.at FROM json_each(?) j CROSS JOIN tombstone t"
            " ON t.mark = unhex(j.value) JOIN erasure_row x ON x.id = t.erasure_id",
            json_list(one.hex() for one in marks),
        )
        return {row[0]: row[1] for row in rows}

    def add_tombstones(self, erasure_id: int, marks: Sequence[tuple[str, bytes]]) -> None:
        """Keep (kind, mark) from coming back."""
        self._db.executemany(
            "INSERT INTO tombstone VALUES (?,?,?)"
            " ON CONFLICT (mark) DO UPDATE SET erasure_id = excluded.erasure_id",
            [(mark, kind, erasure_id) for kind, mark in marks],
        )

    def lift_tombstones(self, marks: Sequence[bytes]) -> None:
        """Let these come back."""
        self._db.executemany("DELETE FROM tombstone WHERE mark = ?", [(one,) for one in marks])

    def allow_again(self, erasure_id: int) -> bool:
        """Let everything that was erased then come back; False for an unknown number."""
        self._db.execute("DELETE FROM tombstone WHERE erasure_id = ?", (erasure_id,))
        self._db.execute(
            "UPDATE erasure_row SET allowed_at = ? WHERE id = ?", (self._now, erasure_id)
        )
        return self._db.changes() == 1

    def begin_erasure(self, what: str) -> int:
        """Begin an act of erasing, and return its number."""
        self.wiped, self.sought = self.wiped or [], self.sought or []
        # While this row is there the history lets text be taken out of it.
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('erasing', '1')")
        self._db.execute(
            "INSERT INTO erasure_row (at, actor, what) VALUES (?,?,?)",
            (self._now, self._actor, what),
        )
        self.erasures = [*self.erasures, self._db.last_insert_rowid()]
        return self.erasures[-1]

    def end_erasure(self, erasure_id: int, counts: Mapping[str, int]) -> None:
        """End it; what is gone is looked for in the file once this is committed."""
        self._db.execute("DELETE FROM meta WHERE name = 'erasing'")
        self._db.execute(
            "UPDATE erasure_row SET counts = ? WHERE id = ?",
            (orjson.dumps(dict(counts)).decode(), erasure_id),
        )

    def is_erased(self, target: str, row_id: int) -> bool:
        """Tell whether a row was erased."""
        sql = "SELECT 1 FROM erased_row WHERE target = ? AND row_id = ?"
        return bool(self._all(sql, target, row_id))

    def missing(self, target: str, ids: Sequence[int]) -> list[int]:
        """Return which of these rows are not there, or erased already."""
        there = self._ids(
            f"SELECT id FROM {target}_row r WHERE id IN {_IN} AND NOT EXISTS"
            " (SELECT 1 FROM erased_row x WHERE x.target = ? AND x.row_id = r.id)",
            json_list(ids),
            target,
        )
        return [one for one in ids if one not in there]

    # --- what goes together ---------------------------------------------------------------------

    def lineage(self, fact_ids: Iterable[int]) -> set[int]:
        """Return facts with all that stands behind them."""
        found = set(fact_ids)
        new = set(found)
        while new:
            ids = json_list(sorted(new))
            behind = self._ids(
                f"SELECT id FROM fact_row WHERE merged_into_id IN {_IN}"
                f" UNION SELECT id FROM fact_row WHERE superseded_by IN {_IN}"
                f" UNION SELECT o.id FROM fact_row f JOIN fact_row o ON o.kind = 'keyed'"
                "  AND o.owner = f.owner AND o.predicate = f.predicate"
                f"  WHERE f.kind = 'keyed' AND f.id IN {_IN}",
                ids,
                ids,
                ids,
            )
            # No index has the claims of rows that have retired: one pass over the facts.
            claims = [
                row[0] for row in self._all(f"SELECT claim FROM fact_row WHERE id IN {_IN}", ids)
            ]
            behind |= self._ids(
                "SELECT id FROM fact_row WHERE retired_at IS NOT NULL AND claim IN"
                " (SELECT unhex(value) FROM json_each(?))",
                json_list(one.hex() for one in claims),
            )
            new = behind - found
            found |= new
        return found

    def spans_of(self, fact_ids: Iterable[int]) -> list[Span]:
        """Return where facts stand in episodes."""
        return self._spans("fact_id", fact_ids)

    def spans_in(self, episode_ids: Iterable[int]) -> list[Span]:
        """Return which facts stand in episodes, and where."""
        return self._spans("episode_id", episode_ids)

    def _spans(self, column: str, ids: Iterable[int]) -> list[Span]:
        rows = self._all(
            "SELECT fact_id, episode_id, start_char, end_char FROM evidence_row"
            f" WHERE {column} IN {_IN} ORDER BY fact_id, episode_id",
            json_list(sorted(ids)),
        )
        return [Span._make(row) for row in rows]

    def beside(self, doomed: Doomed) -> Doomed:
        """Return what cannot stay when these rows go."""
        more = Doomed()
        gone = json_list(sorted(doomed.episodes))
        more.entities = self._without_cause("entity", gone) - doomed.entities
        more.preferences = self._without_cause("preference", gone) - doomed.preferences
        more.prompts = self._ids(f"SELECT id FROM learn_prompt_row WHERE episode_id IN {_IN}", gone)
        more.schedules = self._ids(f"SELECT id FROM schedule_row WHERE episode_id IN {_IN}", gone)
        prompts = json_list(sorted(doomed.prompts | more.prompts))
        more.tasks = self._ids(
            f"SELECT id FROM search_task WHERE learn_prompt_id IN {_IN} OR cause_id IN {_IN}",
            prompts,
            gone,
        )
        more.searches = self._ids(
            f"SELECT id FROM search_log_row WHERE learn_prompt_id IN {_IN} OR cause_id IN {_IN}",
            prompts,
            gone,
        )
        more.rejections = self._ids(
            f"SELECT id FROM rejection_row WHERE episode_id IN {_IN}"
            f" UNION SELECT id FROM rejection_row WHERE source_id IN {_IN}",
            gone,
            json_list(sorted(doomed.sources)),
        )
        for entity in sorted(more.entities):
            more.add(self.about_entity(entity))
        return more

    def _without_cause(self, target: str, gone: str) -> set[int]:
        """Return what came in by an episode that goes, and that nothing else speaks for."""
        return self._ids(
            f"SELECT id FROM {target}_row n WHERE episode_id IN {_IN}"
            f" AND ({self._other_cause(target)}) IS NULL",
            gone,
            gone,
        )

    def _other_cause(self, target: str) -> str:
        """Return the SQL of the first other thing that an owner did about an entity or topic."""
        return (
            "SELECT min(g.episode_id) FROM engagement_row g JOIN episode_row e"
            f" ON e.id = g.episode_id WHERE g.{target}_id = n.id AND e.trust = 'direct'"
            f" AND e.injected = 0 AND e.id NOT IN {_IN}"
        )

    def about_entity(self, entity_id: int) -> Doomed:
        """Return everything that is about an entity."""
        found = Doomed()
        ids = self._ids(
            """WITH RECURSIVE same(id) AS (SELECT ? UNION
                 SELECT n.id FROM same JOIN entity_row n ON n.merged_into_id = same.id)
               SELECT id FROM same""",
            entity_id,
        )
        found.entities = ids
        listed = json_list(sorted(ids))
        owner = self._all("SELECT owner FROM entity_row WHERE id = ?", entity_id)[0][0]
        names = self._names(ids)
        found.facts = self.lineage(
            self._ids(
                f"SELECT id FROM fact_row WHERE kind = 'world' AND owner = ? AND subject IN {_IN}",
                owner,
                json_list(names),
            )
        )
        found.preferences = self._ids(
            f"SELECT id FROM preference_row WHERE owner = ? AND topic IN {_IN}",
            owner,
            json_list(names),
        )
        said = _word_pattern(names)
        for table, column, kind in (
            ("learn_prompt_row", "text", found.prompts),
            ("schedule_row", "topic", found.schedules),
            ("search_log_row", "query", found.searches),
            ("search_task", "query", found.tasks),
        ):
            rows = self._all(f"SELECT id, {column} FROM {table} WHERE owner = ?", owner)
            kind.update(one for one, text in rows if said.search(_folded(text)))
        found.searches |= self._ids(
            f"SELECT id FROM search_log_row WHERE entity_id IN {_IN}", listed
        )
        found.tasks |= self._ids(f"SELECT id FROM search_task WHERE entity_id IN {_IN}", listed)
        found.episodes = self._only_found_by(found.searches)
        causes = self._ids(
            f"SELECT episode_id FROM entity_row WHERE id IN {_IN}"
            f" UNION SELECT episode_id FROM engagement_row WHERE entity_id IN {_IN}"
            "  AND episode_id IS NOT NULL"
            f" UNION SELECT episode_id FROM preference_row WHERE id IN {_IN}"
            f" UNION SELECT episode_id FROM learn_prompt_row WHERE id IN {_IN}"
            f" UNION SELECT episode_id FROM schedule_row WHERE id IN {_IN}"
            f" UNION SELECT episode_id FROM engagement_row WHERE preference_id IN {_IN}"
            "  AND episode_id IS NOT NULL",
            listed,
            listed,
            json_list(found.preferences),
            json_list(found.prompts),
            json_list(found.schedules),
            json_list(found.preferences),
        )
        for one, text in self._texts(causes - found.episodes):
            # Every occurrence in what its owner said: the rest of the message stays.
            spans = [match.span() for match in _loose_pattern(names).finditer(text)]
            if spans:
                found.masks[one] = spans
        self._seek(names)
        return found

    def _names(self, entity_ids: Iterable[int]) -> list[str]:
        listed = json_list(sorted(entity_ids))
        rows = self._all(
            f"SELECT name FROM entity_row WHERE id IN {_IN}"
            f" UNION SELECT name FROM entity_alias WHERE entity_id IN {_IN}",
            listed,
            listed,
        )
        return [row[0] for row in rows]

    def _only_found_by(self, search_ids: Iterable[int]) -> set[int]:
        """Return the results of searches that no other search found."""
        listed = json_list(sorted(search_ids))
        return self._ids(
            f"SELECT episode_id FROM search_result_row r WHERE search_id IN {_IN} AND NOT EXISTS"
            " (SELECT 1 FROM search_result_row o WHERE o.episode_id = r.episode_id"
            f" AND o.search_id NOT IN {_IN})",
            listed,
            listed,
        )

    def belonging_to(self, owner: str) -> Doomed:
        """Return everything of an owner."""
        tables = {
            "facts": "fact_row",
            "episodes": "episode_row",
            "rejections": "rejection_row",
            "entities": "entity_row",
            "preferences": "preference_row",
            "prompts": "learn_prompt_row",
            "searches": "search_log_row",
            "tasks": "search_task",
            "schedules": "schedule_row",
        }
        found = Doomed()
        for name, table in tables.items():
            setattr(found, name, self._ids(f"SELECT id FROM {table} WHERE owner = ?", owner))
        found.sources = self._ids(
            "SELECT s.id FROM source_row s WHERE EXISTS"
            " (SELECT 1 FROM episode_row e WHERE e.source_id = s.id AND e.owner = ?1)"
            " AND NOT EXISTS (SELECT 1 FROM episode_row e WHERE e.source_id = s.id"
            "  AND e.owner <> ?1 AND e.owner <> '')",
            owner,
        )
        return found

    def part_of_source(self, source_id: int) -> Doomed:
        """Return everything of a source."""
        return Doomed(
            sources={source_id},
            episodes=self._ids("SELECT id FROM episode_row WHERE source_id = ?", source_id)
            - self._erased("episode"),
        )

    def _erased(self, target: str) -> set[int]:
        return self._ids("SELECT row_id FROM erased_row WHERE target = ?", target)

    # --- what must not come back ----------------------------------------------------------------

    def marks_of(self, doomed: Doomed) -> list[tuple[str, bytes]]:
        """Return (kind, mark) of what must not come back."""
        marks: list[tuple[str, bytes]] = []
        episodes = json_list(sorted(doomed.episodes | doomed.masks.keys()))
        for one, uid, owner, at, text in self._all(
            f"SELECT id, uid, owner, occurred_at, text FROM episode_row WHERE id IN {_IN}", episodes
        ):
            # What stays with holes in it keeps its id; its record must not be told anew.
            kind = "uid" if one in doomed.episodes else "masked"
            marks.append((kind, self.mark(kind, uid)))
            same = same_words(text)
            if len(same) >= TEXT_CHARS:
                marks.append(("text", self.mark("text", owner, same)))
            if at is not None:
                marks.append(("said", self.mark("said", owner, same, str(at))))
        for (key,) in self._all(
            f"SELECT key FROM source_row WHERE id IN {_IN}", json_list(sorted(doomed.sources))
        ):
            marks.append(("source", self.mark("source", key)))
        for row in self._all(
            f"SELECT owner, subject, predicate, object FROM fact_row WHERE id IN {_IN}",
            json_list(sorted(doomed.facts)),
        ):
            marks += [("claim", self.mark("claim", *row))]
        for (claim,) in self._all(
            f"SELECT claim FROM rejection_row WHERE id IN {_IN}",
            json_list(sorted(doomed.rejections)),
        ):
            marks.append(("refusal", self.mark("refusal", claim.hex())))
        for owner, name in self._all(
            f"SELECT owner, name FROM entity_row WHERE id IN {_IN}"
            " UNION SELECT a.owner, a.name FROM entity_alias a WHERE a.entity_id IN"
            " (SELECT value FROM json_each(?))",
            json_list(sorted(doomed.entities)),
            json_list(sorted(doomed.entities)),
        ):
            marks.append(("name", self.mark("name", owner, name)))
        return marks

    # --- taking out -----------------------------------------------------------------------------

    def wipe(self, doomed: Doomed, erasure_id: int, *, owner: str = "") -> dict[str, int]:
        """Take the content out of rows and out of everything that repeats it; return the counts."""
        values = self._values(doomed)
        counts = {
            "proposals": self._wipe_proposals(doomed, owner),
            "facts": self._wipe_facts(doomed.facts, anonymous=bool(owner)),
            "masked": self._mask_episodes(doomed.masks),
            "episodes": self._wipe_episodes(doomed.episodes, anonymous=bool(owner)),
            "entities": self._wipe_entities(doomed.entities, anonymous=bool(owner)),
            "preferences": self._wipe_preferences(doomed.preferences, anonymous=bool(owner)),
            "searches": self._wipe_searches(doomed, anonymous=bool(owner)),
            "rejections": self._wipe_rejections(doomed.rejections),
            "sources": self._wipe_sources(doomed.sources),
        }
        if owner:
            self._gone([owner])
            self._db.execute("DELETE FROM injection_row WHERE owner = ?", (owner,))
            self._db.execute("DELETE FROM notify_row WHERE owner = ?", (owner,))
            self._db.execute("DELETE FROM engagement_row WHERE owner = ?", (owner,))
        for target, ids in (
            ("fact", doomed.facts),
            ("episode", doomed.episodes),
            ("source", doomed.sources),
            ("entity", doomed.entities),
            ("preference", doomed.preferences),
            ("learn_prompt", doomed.prompts),
            ("search", doomed.searches),
            ("schedule", doomed.schedules),
        ):
            self._db.executemany(
                "INSERT OR IGNORE INTO erased_row VALUES (?,?,?)",
                [(target, one, erasure_id) for one in ids],
            )
        self._recount_sources()
        self._wipe_history(doomed)
        self._sweep(doomed, values)
        return {name: count for name, count in counts.items() if count}

    def _gone(self, texts: Iterable[object]) -> None:
        assert self.wiped is not None
        self.wiped += [one for one in texts if isinstance(one, str) and one]

    def _seek(self, texts: Iterable[str]) -> None:
        assert self.sought is not None
        self.sought += [one for one in texts if one]

    def _texts(self, episode_ids: Iterable[int]) -> list[tuple[int, str]]:
        return self._all(
            f"SELECT id, text FROM episode_row WHERE id IN {_IN}", json_list(sorted(episode_ids))
        )

    def _values(self, doomed: Doomed) -> list[str]:
        """Return short words of what goes, which other columns may repeat on their own."""
        found = [
            row[0]
            for row in self._all(
                f"SELECT DISTINCT object FROM fact_row WHERE id IN {_IN}",
                json_list(sorted(doomed.facts)),
            )
        ]
        found += self._names(doomed.entities)
        low, high = WORD_CHARS
        short = [one for one in dict.fromkeys(found) if low <= len(one.strip()) <= high]
        return short if len(short) <= VALUES_SOUGHT else []

    def _unindex(self, target: str, rows: Sequence[tuple[int, str]]) -> None:
        """Take texts out of the full-text index; the rows are indexed again as they are then."""
        column = _FTS[target]
        self._db.executemany(
            f"INSERT INTO {target}_fts({target}_fts, rowid, {column}) VALUES ('delete', ?, ?)", rows
        )

    def _reindex(self, target: str, ids: Iterable[int]) -> None:
        column = _FTS[target]
        self._db.execute(
            f"INSERT INTO {target}_fts(rowid, {column}) SELECT id, {column} FROM {target}_row"
            f" WHERE id IN {_IN}",
            (json_list(sorted(ids)),),
        )

    def _wipe_facts(self, ids: set[int], *, anonymous: bool) -> int:
        if not ids:
            return 0
        listed = json_list(sorted(ids))
        rows = self._all(
            "SELECT id, statement, subject, predicate, object, owner FROM fact_row"
            f" WHERE id IN {_IN}",
            listed,
        )
        quotes = self._all(f"SELECT quote FROM evidence_row WHERE fact_id IN {_IN}", listed)
        for row in rows:
            self._gone(row[1:5])
            self._seek({row[1], row[4]})
        self._gone(one[0] for one in quotes)
        self._unindex("fact", [(row[0], row[1]) for row in rows])
        self.drop_vectors("fact", sorted(ids))
        self._db.execute(f"DELETE FROM evidence_row WHERE fact_id IN {_IN}", (listed,))
        self._db.execute(f"DELETE FROM notice_fact WHERE fact_id IN {_IN}", (listed,))
        self._db.execute(
            f"DELETE FROM pair_row WHERE low_id IN {_IN} OR high_id IN {_IN}", (listed, listed)
        )
        from factbook.store.base import claim_digest

        self._db.executemany(
            "UPDATE fact_row SET claim = ?, owner = ?, subject = '', predicate = '', object = '',"
            " statement = '', status = 'erased', confidence = 0, confidence_at = ?,"
            " evidence_count = 0, occurred_at = NULL, retired_at = ?, valid_from = NULL,"
            " valid_to = NULL, merged_into_id = NULL, superseded_by = NULL, pinned = 0,"
            " embeddable = 0 WHERE id = ?",
            [
                (claim_digest(owner, "", "", ""), owner, self._now, self._now, row[0])
                for row in rows
                for owner in ("" if anonymous else row[5],)
            ],
        )
        self._reindex("fact", ids)
        self._db.execute(
            "UPDATE notice_row SET state = 'dropped', reason = 'erased' WHERE state IN"
            " ('waiting', 'claimed') AND NOT EXISTS"
            " (SELECT 1 FROM notice_fact x WHERE x.notice_id = notice_row.id)"
        )
        return len(rows)

    def _mask_episodes(self, masks: Mapping[int, Sequence[tuple[int, int]]]) -> int:
        """Put a sign in the place of every character of the spans: all other spans still hold."""
        for one, text, attributes, state in self._all(
            f"SELECT id, text, attributes, vector_state FROM episode_row WHERE id IN {_IN}",
            json_list(sorted(masks)),
        ):
            cut = [text[start:end] for start, end in masks[one]]
            self._gone(cut)
            left = list(text)
            for start, end in masks[one]:
                left[start:end] = MASK * (min(end, len(text)) - start)
            new = "".join(left)
            kept = {
                name: value
                for name, value in orjson.loads(attributes).items()
                if not any(_overlap(str(value), piece) for piece in cut)
            }
            self._gone(v for k, v in orjson.loads(attributes).items() if k not in kept)
            self._unindex("episode", [(one, text)])
            self._db.execute(
                "UPDATE episode_row SET text = ?, asks = ?, attributes = ? WHERE id = ?",
                (new, asks(new), orjson.dumps(kept).decode(), one),
            )
            self._reindex("episode", [one])
            if state:
                self.drop_vectors("episode", [one])
                self._db.execute("UPDATE episode_row SET vector_state = 1 WHERE id = ?", (one,))
        return len(masks)

    def _wipe_episodes(self, ids: set[int], *, anonymous: bool) -> int:
        if not ids:
            return 0
        listed = json_list(sorted(ids))
        rows = self._all(
            "SELECT id, text, attributes, subject, message, session, project, branch, agent, tool,"
            f" call_id, speaker, uid FROM episode_row WHERE id IN {_IN}",
            listed,
        )
        for row in rows:
            self._gone([row[1], *row[3:]])
            self._gone(_strings(orjson.loads(row[2])))
            self._seek([row[1]])
        self._unindex("episode", [(row[0], row[1]) for row in rows])
        self.drop_vectors("episode", sorted(ids))
        for target in ("entity", "preference"):
            self._db.execute(
                f"UPDATE {target}_row AS n SET episode_id = coalesce("
                f"({self._other_cause(target)}), episode_id) WHERE episode_id IN {_IN}",
                (listed, listed),
            )
        for table, column in (
            ("evidence_row", "episode_id"),
            ("loose_row", "episode_id"),
            ("heard_row", "episode_id"),
            ("search_result_row", "episode_id"),
            ("engagement_row", "episode_id"),
        ):
            self._db.execute(f"DELETE FROM {table} WHERE {column} IN {_IN}", (listed,))
        self._db.execute(
            "DELETE FROM model_task WHERE kind NOT IN ('judge', 'search', 'clean')"
            f" AND target IN {_IN}",
            (listed,),
        )
        # `injected` keeps the row out of everything that reads episodes.
        self._db.execute(
            "UPDATE episode_row SET uid = 'erased:' || id, text = '', chars = 0, asks = 0,"
            " attributes = '{}', subject = '', message = '', session = '', project = '',"
            " branch = '', agent = '', tool = '', call_id = '', speaker = '', occurred_at = NULL,"
            " position = 0, byte_offset = 0, cut = 0, is_error = 0, injected = 1,"
            f" vector_state = 0, owner = CASE WHEN ? THEN '' ELSE owner END WHERE id IN {_IN}",
            (anonymous, listed),
        )
        self._reindex("episode", ids)
        return len(rows)

    def _wipe_entities(self, ids: set[int], *, anonymous: bool) -> int:
        if not ids:
            return 0
        listed = json_list(sorted(ids))
        self._gone(self._names(ids))
        self.drop_vectors("entity", sorted(ids))
        self._db.execute(f"DELETE FROM entity_alias WHERE entity_id IN {_IN}", (listed,))
        self._db.execute(f"DELETE FROM engagement_row WHERE entity_id IN {_IN}", (listed,))
        self._db.execute(
            "DELETE FROM notice_fact WHERE notice_id IN"
            f" (SELECT id FROM notice_row WHERE entity_id IN {_IN})",
            (listed,),
        )
        self._db.execute(f"DELETE FROM notice_row WHERE entity_id IN {_IN}", (listed,))
        self._db.execute(
            "UPDATE entity_row SET name = 'erased:' || id, retired_at = ?, merged_into_id = NULL,"
            f" vector_state = 0, owner = CASE WHEN ? THEN '' ELSE owner END WHERE id IN {_IN}",
            (self._now, anonymous, listed),
        )
        return len(ids)

    def _wipe_preferences(self, ids: set[int], *, anonymous: bool) -> int:
        if not ids:
            return 0
        listed = json_list(sorted(ids))
        rows = self._all(f"SELECT topic FROM preference_row WHERE id IN {_IN}", listed)
        self._gone(row[0] for row in rows)
        self.drop_vectors("preference", sorted(ids))
        self._db.execute(f"DELETE FROM engagement_row WHERE preference_id IN {_IN}", (listed,))
        self._db.execute(
            "UPDATE preference_row SET topic = 'erased:' || id, retired_at = ?, vector_state = 0,"
            f" owner = CASE WHEN ? THEN '' ELSE owner END WHERE id IN {_IN}",
            (self._now, anonymous, listed),
        )
        return len(ids)

    def _wipe_searches(self, doomed: Doomed, *, anonymous: bool) -> int:
        """Empty what was searched for: prompts, schedules, tasks and the log."""
        prompts = json_list(sorted(doomed.prompts))
        logs = json_list(sorted(doomed.searches))
        for sql, listed in (
            ("SELECT text FROM learn_prompt_row", prompts),
            ("SELECT topic FROM schedule_row", json_list(sorted(doomed.schedules))),
            ("SELECT query FROM search_log_row", logs),
            ("SELECT query FROM search_task", json_list(sorted(doomed.tasks))),
        ):
            self._gone(row[0] for row in self._all(f"{sql} WHERE id IN {_IN}", listed))
        whose = "owner = CASE WHEN ? THEN '' ELSE owner END"
        self._db.execute(
            f"DELETE FROM search_task WHERE id IN {_IN} OR learn_prompt_id IN {_IN}",
            (json_list(sorted(doomed.tasks)), prompts),
        )
        self._db.execute(
            f"UPDATE search_log_row SET query = '', extracted = 1, {whose}"
            f" WHERE id IN {_IN} OR learn_prompt_id IN {_IN}",
            (anonymous, logs, prompts),
        )
        self._db.execute(
            f"UPDATE learn_prompt_row SET text = 'erased:' || id, status = 'completed', {whose}"
            f" WHERE id IN {_IN}",
            (anonymous, prompts),
        )
        self._db.execute(
            "UPDATE learn_prompt_row AS p SET status = 'completed' WHERE status = 'active'"
            " AND NOT EXISTS (SELECT 1 FROM search_task t WHERE t.learn_prompt_id = p.id"
            "  AND t.state IN ('queued', 'failed')) AND NOT EXISTS (SELECT 1 FROM search_log_row l"
            "  WHERE l.learn_prompt_id = p.id AND l.extracted = 0)"
            f" AND id IN (SELECT learn_prompt_id FROM search_log_row WHERE id IN {_IN})",
            (logs,),
        )
        self._db.execute(
            "UPDATE schedule_row SET topic = 'erased:' || id, retired_at = coalesce(retired_at, ?),"
            f" {whose} WHERE id IN {_IN}",
            (self._now, anonymous, json_list(sorted(doomed.schedules))),
        )
        return len(doomed.prompts | doomed.searches) + len(doomed.tasks) + len(doomed.schedules)

    def _wipe_rejections(self, ids: set[int]) -> int:
        listed = json_list(sorted(ids))
        for row in self._all(
            f"SELECT detail, excerpt, predicate, owner, validation FROM rejection_row"
            f" WHERE id IN {_IN}",
            listed,
        ):
            self._gone(row[:3])
            self._gone(_strings(orjson.loads(row[4])))
            self._seek([row[1]])
        self._db.execute(f"DELETE FROM rejection_row WHERE id IN {_IN}", (listed,))
        return self._db.changes()

    def _wipe_sources(self, ids: set[int]) -> int:
        if not ids:
            return 0
        listed = json_list(sorted(ids))
        for row in self._all(
            f"SELECT key, session, uri, project, title, agent, cursor FROM source_row"
            f" WHERE id IN {_IN}",
            listed,
        ):
            self._gone(row[:6])
            self._gone(_strings(orjson.loads(row[6])))
        self._db.execute(
            "UPDATE source_row SET key = 'erased:' || id, session = '', uri = '', project = '',"
            " title = '', agent = '', cursor = '{}', lines = '{}', updated_at = ?"
            f" WHERE id IN {_IN}",
            (self._now, listed),
        )
        return len(ids)

    def _wipe_proposals(self, doomed: Doomed, owner: str) -> int:
        """Drop what waits for a person's word, or had it, on something that goes."""
        uids = {
            row[0]
            for row in self._all(
                f"SELECT uid FROM episode_row WHERE id IN {_IN}",
                json_list(sorted(doomed.episodes | doomed.masks.keys())),
            )
        }
        said = {
            (row[0], row[1].casefold(), same_words(row[2]))
            for row in self._all(
                f"SELECT owner, predicate, object FROM fact_row WHERE id IN {_IN}",
                json_list(sorted(doomed.facts)),
            )
        }
        dropped = 0
        for one, title, payload, reason in self._all(
            "SELECT id, title, payload, reason FROM proposal_row"
        ):
            given = orjson.loads(payload)
            whose = str(given.get("owner", ""))
            claim = (
                whose,
                str(given.get("type", "")).casefold(),
                same_words(str(given.get("text", ""))),
            )
            if given.get("episode") in uids or claim in said or (owner and whose == owner):
                self._gone([title, reason, *_strings(given)])
                self._db.execute("DELETE FROM proposal_row WHERE id = ?", (one,))
                dropped += 1
        return dropped

    def _recount_sources(self) -> None:
        self._db.execute(
            """UPDATE source_row SET (episode_count, first_at, last_at) = (
                 SELECT count(*), min(e.occurred_at), max(e.occurred_at) FROM episode_row e
                 WHERE e.source_id = source_row.id AND NOT EXISTS (SELECT 1 FROM erased_row x
                   WHERE x.target = 'episode' AND x.row_id = e.id))
               WHERE id IN (SELECT e.source_id FROM erased_row x JOIN episode_row e
                 ON e.id = x.row_id WHERE x.target = 'episode')
                 OR id IN (SELECT row_id FROM erased_row WHERE target = 'source')"""
        )

    # --- what repeats it ------------------------------------------------------------------------

    def _wipe_history(self, doomed: Doomed) -> None:
        """Take the words out of the history of what is gone."""
        for kind, ids in (
            ("fact", doomed.facts),
            ("episode", doomed.episodes),
            ("source", doomed.sources),
            ("entity", doomed.entities),
            ("preference", doomed.preferences),
            ("learn_prompt", doomed.prompts),
            ("schedule", doomed.schedules),
        ):
            rows = self._all(
                "SELECT id, detail FROM event_row WHERE target_kind = ?"
                f" AND target_id IN {_IN} AND detail <> '{{}}'",
                kind,
                json_list(sorted(ids)),
            )
            self._set_details(rows)
        self._set_details(
            self._all(
                "SELECT h.id, h.detail FROM event_row h WHERE h.target_kind = 'proposal'"
                " AND h.detail <> '{}' AND NOT EXISTS"
                " (SELECT 1 FROM proposal_row p WHERE p.id = h.target_id)"
            )
        )

    def _set_details(self, rows: Iterable[tuple[int, str]]) -> None:
        changes = []
        for one, detail in rows:
            known = orjson.loads(detail)
            left = _wordless(known)
            if left != known:
                self._gone(_strings(known))
                changes.append((orjson.dumps(left).decode(), one))
        self._db.executemany("UPDATE event_row SET detail = ? WHERE id = ?", changes)

    def _sweep(self, doomed: Doomed, values: Sequence[str]) -> None:
        """Take it out of every column that repeats words of other rows."""
        assert self.wiped is not None
        repeats = _Repeats(self.wiped, values)
        events: list[tuple[int, str]] = []
        said: list[str] = []
        for one, detail in self._all("SELECT id, detail FROM event_row WHERE detail <> '{}'"):
            known = orjson.loads(detail)
            if not doomed.facts.isdisjoint(_facts_named(known)):
                self._set_details([(one, detail)])
                continue
            words = _strings(known, besides=_PLAIN)
            if words:
                events.append((one, detail))
                said.append("\n".join(words))
        self._set_details([events[n] for n in repeats.among(said)])
        for table, keys, columns, change in _REPEATING:
            rows = self._all(f"SELECT {', '.join((*keys, *columns))} FROM {table}")
            where = " AND ".join(f"{key} = ?" for key in keys)
            texts = ["\n".join(row[len(keys) :]) for row in rows]
            for n in repeats.among(texts):
                self._gone(rows[n][len(keys) :])
                self._db.execute(f"{change} WHERE {where}", rows[n][: len(keys)])
        for table, column in (("run_row", "report"), ("source_row", "cursor")):
            rows = self._all(f"SELECT id, {column} FROM {table} WHERE {column} <> '{{}}'")
            texts = ["\n".join(_strings(orjson.loads(row[1]))) for row in rows]
            for n in repeats.among(texts):
                left = _without(orjson.loads(rows[n][1]), repeats)
                self._db.execute(
                    f"UPDATE {table} SET {column} = ? WHERE id = ?",
                    (orjson.dumps(left).decode(), rows[n][0]),
                )


class _Repeats:
    """Tells which texts repeat something that is erased."""

    def __init__(self, texts: Sequence[str], values: Sequence[str]) -> None:
        self._windows = Windows.of(texts)
        self._words = _word_pattern(values) if values else None

    def among(self, texts: Sequence[str]) -> list[int]:
        """Return the numbers of the texts that do."""
        found = set(self._windows.sharing(texts, least=SHARED_BYTES))
        if self._words is not None:
            found.update(n for n, one in enumerate(texts) if self._words.search(_folded(one)))
        return sorted(found)


# --- the file -------------------------------------------------------------------------------------


class EraseReads:
    """The part of the store that reads what was erased, and cleans the file."""

    path: Path
    _scours: threading.local

    def _rows(self, sql: str, bindings: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        raise NotImplementedError

    @property
    def _connection(self) -> apsw.Connection:
        raise NotImplementedError

    @property
    def _may_write(self) -> bool:
        raise NotImplementedError

    def erasures(self, *, limit: int = 100) -> list[Erasure]:
        """Return acts of erasing, newest first."""
        rows = self._rows(
            "SELECT id, at, actor, what, counts, clean, allowed_at FROM erasure_row"
            " ORDER BY id DESC LIMIT ?",
            (limit,),
        )
        return [
            Erasure._make((*row[:4], orjson.loads(row[4]), bool(row[5]), row[6])) for row in rows
        ]

    def last_scour(self) -> Scoured | None:
        """Return what became of the file after this thread's last erasure, once."""
        found: Scoured | None = getattr(self._scours, "last", None)
        self._scours.last = None
        return found

    def scour(self) -> Scoured | None:
        """Clean the file after erasures that could not be finished; None where there are none.

        What was erased is known no more, so the file is written anew: what it then holds is what
        its rows say.
        """
        if not self._may_write:
            raise StoreReadOnly(path=self.path, reason="it was opened for reading only")
        if not self._rows("SELECT 1 FROM erasure_row WHERE clean = 0"):
            return None
        trouble = self._write_anew() or self._flush()
        if not trouble:
            self._note_clean()
        return Scoured(clean=not trouble, rewritten=True, waiting=trouble)

    def _after_erasing(
        self, erasures: Sequence[int], wiped: Sequence[str], sought: Sequence[str]
    ) -> None:
        """Clean the file of what a transaction has just erased, and remember what was found.

        The rows are gone already, whatever happens here: what cannot be cleaned now, because
        somebody reads the file as it was before, is left for the next time and said.
        """
        windows = Windows.of([*wiped, *_escaped(wiped)])
        kept = windows.found_in(self._kept())
        left = windows.without(kept)
        trouble = self._flush()
        seen = left.found_in(self._bytes())
        # Of what an earlier erasure could not clean nobody knows the words any more.
        unknown = {row[0] for row in self._rows("SELECT id FROM erasure_row WHERE clean = 0")}
        rewritten = not trouble and bool(len(seen) or unknown.difference(erasures))
        if rewritten:
            trouble = self._write_anew() or self._flush()
            seen = left.found_in(self._bytes())
        if not trouble:
            self._note_clean()
        self._scours.last = Scoured(
            clean=not trouble and not len(seen),
            rewritten=rewritten,
            waiting=trouble,
            pieces=len(seen),
            elsewhere=self._holding(sought),
            copies=[str(one) for one in self._copies() if len(left.found_in(blocks_of(one)))],
        )

    def sight(self, text: str) -> Sighting:
        """Say where a text stands: in rows, in the bytes of the file, in its copies."""
        rows = self._holding([text])
        windows = Windows.of([text])
        whole = text.encode("utf-8", "surrogatepass")
        left = windows.without(windows.found_in(self._kept()))
        return Sighting(
            rows=rows,
            in_file=any(whole in block for block in self._bytes()),
            pieces=len(left.found_in(self._bytes())),
            copies=[
                str(one)
                for one in self._copies()
                if any(whole in block for block in blocks_of(one))
                or len(left.found_in(blocks_of(one)))
            ],
        )

    # --- steps ----------------------------------------------------------------------------------

    def _flush(self) -> str:
        """Move the write-ahead log into the file and empty it; say what keeps it from that."""
        connection = self._connection
        connection.set_busy_timeout(PATIENCE_MS)
        try:
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]
        except (apsw.BusyError, apsw.LockedError):
            busy = 1
        finally:
            self._reset_timeout(connection)
        return _BUSY if busy else ""

    def _write_anew(self) -> str:
        """Write the indexes and the file anew: what is left in free parts of them goes."""
        connection = self._connection
        try:
            for target in _FTS:
                connection.execute(f"INSERT INTO {target}_fts({target}_fts) VALUES ('optimize')")
            # In memory it might not fit; the file in between holds what is kept, and nothing else.
            connection.execute("PRAGMA temp_store=FILE")
            try:
                connection.execute("VACUUM")
            finally:
                connection.execute("PRAGMA temp_store=MEMORY")
        except (apsw.BusyError, apsw.LockedError):
            return _BUSY
        except apsw.FullError:
            return "the disk is too full to write the file anew"
        except apsw.SQLError as error:  # a statement of this thread is still being read
            return f"{_BUSY} ({error})"
        return ""

    def _note_clean(self) -> None:
        self._connection.execute("UPDATE erasure_row SET clean = 1 WHERE clean = 0")
        self._flush()

    def _reset_timeout(self, connection: apsw.Connection) -> None:
        from factbook.store.sqlite.file import busy_timeout_ms

        connection.set_busy_timeout(busy_timeout_ms())

    def _bytes(self) -> Iterator[bytes]:
        """Yield the bytes of the file and of what lies beside it."""
        for suffix in ("", "-wal", "-shm", "-journal"):
            yield from blocks_of(self.path.with_name(f"{self.path.name}{suffix}"))

    def _copies(self) -> list[Path]:
        """Return the copies that were made before the file was upgraded."""
        return sorted(
            one
            for one in self.path.parent.glob(f"{_globbed(self.path.name)}.schema-*")
            if one.is_file()
        )

    def _kept(self) -> Iterator[bytes]:
        """Yield everything that the rows hold now, and the terms of the full-text indexes."""
        return joined(self._pieces())

    def _pieces(self) -> Iterator[bytes]:
        connection = self._connection
        names = [
            (row[0], row[1] or "")
            for row in connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
                " AND name NOT LIKE '%\\_fts%' ESCAPE '\\'"
            )
        ]
        for _, sql in names:
            yield sql.encode()
        for name, _ in names:
            for row in connection.execute(f"SELECT * FROM {name}"):
                for value in row:
                    if isinstance(value, str) and len(value) * 4 >= WIDTH:
                        yield value.encode("utf-8", "surrogatepass")
        for target in _FTS:
            connection.execute(
                "CREATE VIRTUAL TABLE temp.kept_terms USING"
                f" fts5vocab('main', '{target}_fts', 'row')"
            )
            try:
                for (term,) in connection.execute("SELECT term FROM temp.kept_terms"):
                    if len(term) * 4 >= WIDTH:
                        yield term.encode("utf-8", "surrogatepass")
            finally:
                connection.execute("DROP TABLE temp.kept_terms")

    def _holding(self, texts: Sequence[str]) -> list[str]:
        """Return rows that are kept and hold one of the texts."""
        low, _ = WORD_CHARS
        wanted = [one for one in dict.fromkeys(texts) if len(one.strip()) >= low][:VALUES_SOUGHT]
        found: list[str] = []
        for letter, table, column in _KEPT:
            for text in wanted:
                rows = self._rows(
                    f"SELECT id FROM {table} WHERE instr(lower({column}), lower(?)) > 0"
                    " ORDER BY id LIMIT ?",
                    (text, SHOWN_ELSEWHERE),
                )
                found += [f"{letter}{row[0]}" for row in rows]
        return list(dict.fromkeys(found))[:SHOWN_ELSEWHERE]


_BUSY: Final = "somebody is reading the file as it was before"


# --- values ---------------------------------------------------------------------------------------


def _folded(text: str) -> str:
    return text.casefold()


def _word_pattern(values: Sequence[str]) -> re.Pattern[str]:
    """Return what finds any of the values as words of their own in a folded text."""
    parts = "|".join(re.escape(_folded(one.strip())) for one in values if one.strip())
    return re.compile(rf"(?<!\w)(?:{parts})(?!\w)" if parts else r"(?!)")


def _loose_pattern(names: Sequence[str]) -> re.Pattern[str]:
    """Return what finds names in a text, in any case and however they are spaced."""
    parts = "|".join(
        r"[\s_-]+".join(re.escape(word) for word in name.split())
        for name in sorted(names, key=len, reverse=True)
        if name.strip()
    )
    return re.compile(rf"(?<!\w)(?:{parts})(?!\w)" if parts else r"(?!)", re.IGNORECASE)


def _overlap(value: str, piece: str) -> bool:
    """Tell whether a value holds a piece, or a piece that value."""
    value, piece = value.casefold(), piece.casefold()
    return bool(value) and bool(piece) and (value in piece or piece in value)


def _strings(value: object, *, besides: frozenset[str] = frozenset()) -> list[str]:
    """Return the strings inside JSON data, but for those under these names."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [
            text
            for name, one in value.items()
            if name not in besides or not isinstance(one, str)
            for text in _strings(one, besides=besides)
        ]
    if isinstance(value, list):
        return [text for one in value for text in _strings(one, besides=besides)]
    return []


def _wordless(value: Any) -> Any:
    """Return JSON data without its strings, but for what the program itself named."""
    if isinstance(value, dict):
        return {
            name: _wordless(one)
            for name, one in value.items()
            if not isinstance(one, str) or name in _PLAIN
        }
    if isinstance(value, list):
        return [_wordless(one) for one in value if not isinstance(one, str)]
    return value


def _without(value: Any, repeats: _Repeats) -> Any:
    """Return JSON data with every string emptied that repeats what is erased."""
    if isinstance(value, str):
        return "" if repeats.among([value]) else value
    if isinstance(value, dict):
        return {name: _without(one, repeats) for name, one in value.items()}
    if isinstance(value, list):
        return [_without(one, repeats) for one in value]
    return value


def _facts_named(detail: Mapping[str, Any]) -> list[int]:
    """Return the other facts that an event of a fact names."""
    found = [detail.get(name) for name in ("other", "loser", "replaces")]
    after = detail.get("after")
    if isinstance(after, dict):
        found += [after.get("merged_into_id"), after.get("superseded_by")]
    return [one for one in found if isinstance(one, int)]


def _escaped(texts: Sequence[str]) -> list[str]:
    """Return how texts look inside JSON, where that differs."""
    found = []
    for text in texts:
        with suppress(UnicodeEncodeError, orjson.JSONEncodeError):
            inside = orjson.dumps(text)[1:-1].decode()
            if inside != text:
                found.append(inside)
    return found


def _globbed(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)


__all__ = ["EraseReads", "EraseVerbs"]
