"""The verbs that erase.

A row that is erased stays as an empty one: pointers hold, and no number is given out twice. What it
said is gone from the row, from its index entries and vectors, and from every other column that
repeats it. After the commit the file itself is looked through (`scouring`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import apsw
import orjson

from factbook.model.facts import Millis, Taken
from factbook.model.text import asks
from factbook.store.base import claim_digest
from factbook.store.base_erase import Doomed
from factbook.store.sqlite.delete_cascade import IN, DoomedVerbs
from factbook.store.sqlite.repeating import (
    PLAIN,
    Repeats,
    facts_named,
    loose_pattern,
    overlap,
    strings,
    without,
    wordless,
)
from factbook.store.sqlite.rows import json_list

MASK: Final = "█"  # in the place of every character that is erased from an episode that stays
WORD_CHARS: Final = (3, 40)  # ours: a value in these bounds is looked for as a word of its own
AROUND: Final = 2  # ours: episodes before and behind one that may speak of it
VALUES_SOUGHT: Final = 500  # ours: more values than that are not looked for one by one

FTS: Final = {"episode": "text", "fact": "statement"}
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
_JSON: Final = frozenset({"payload", "validation"})  # of these the strings inside are compared


class EraseVerbs(DoomedVerbs):
    """The part of the writer that erases."""

    _db: apsw.Connection
    _now: Millis
    drop_vectors: Callable[[str, Sequence[int]], None]
    wiped: list[str] | None = None
    """Everything that this transaction took out; it is looked for in the file after the commit."""
    taken: list[Taken] | None = None  # of it, what is looked for in rows that are kept
    near: frozenset[int] = frozenset()  # episodes that stood right beside those that went
    erasures: Sequence[int] = ()  # of this transaction

    # --- taking out -----------------------------------------------------------------------------

    def wipe(self, doomed: Doomed, erasure_id: int, *, owner: str = "") -> dict[str, int]:
        """Take the content out of rows and out of everything that repeats it; return the counts."""
        # While this row is there the history lets text be taken out of it.
        self._db.execute("INSERT INTO meta VALUES ('erasing', '1')")
        self.erasures = [*self.erasures, erasure_id]
        values = self._values(doomed)
        longer = self._longer_names(loose_pattern(values), doomed)
        self.near |= self._around(doomed)
        counts = {
            "proposals": self._wipe_proposals(doomed, owner),
            "facts": self._wipe_facts(doomed.facts, anonymous=bool(owner)),
            "masked": self._mask_episodes(doomed),
            "episodes": self._wipe_episodes(doomed.episodes, anonymous=bool(owner)),
            "entities": self._wipe_entities(doomed.entities, anonymous=bool(owner)),
            "preferences": self._wipe_preferences(doomed.preferences, anonymous=bool(owner)),
            "searches": self._wipe_searches(doomed, anonymous=bool(owner)),
            "rejections": self._wipe_rejections(doomed.rejections),
            "sources": self._wipe_sources(doomed.sources),
        }
        if owner:
            self._gone([owner])
            self._take("name", [owner])
            self._db.execute("DELETE FROM injection_row WHERE owner = ?", (owner,))
            self._db.execute("DELETE FROM notify_row WHERE owner = ?", (owner,))
            self._db.execute("DELETE FROM engagement_row WHERE owner = ?", (owner,))
            self._forget_owner(owner)
        for target, ids in (
            ("fact", doomed.facts),
            ("episode", doomed.episodes),
            ("source", doomed.sources),
            ("entity", doomed.entities),
            ("preference", doomed.preferences),
            ("learn_prompt", doomed.prompts),
            ("search_log", doomed.searches),
            ("schedule", doomed.schedules),
        ):
            self._db.executemany(
                "INSERT OR IGNORE INTO erased_row VALUES (?,?,?)",
                [(target, id_, erasure_id) for id_ in ids],
            )
        self._recount_sources()
        self._wipe_history(doomed)
        self._sweep(doomed, values, longer)
        self._db.execute("DELETE FROM meta WHERE name = 'erasing'")
        return {name: count for name, count in counts.items() if count}

    def _forget_owner(self, owner: str) -> None:
        """Take the name of an owner from rows that were erased before."""
        for table in (
            "episode_row",
            "entity_row",
            "preference_row",
            "learn_prompt_row",
            "schedule_row",
            "search_log_row",
            "rejection_row",
        ):
            self._db.execute(f"UPDATE {table} SET owner = '' WHERE owner = ?", (owner,))
        self._db.execute("DELETE FROM owner_row WHERE owner = ?", (owner,))
        self._db.execute(
            "UPDATE fact_row SET owner = '', claim = ? WHERE owner = ?",
            (claim_digest("", "", "", ""), owner),
        )

    def _gone(self, texts: Iterable[object]) -> None:
        self.wiped = self.wiped or []
        self.wiped += [text for text in texts if isinstance(text, str) and text]

    def _take(self, how: str, texts: Iterable[str]) -> None:
        self.taken = [*(self.taken or ()), *(Taken(text, how) for text in texts if text)]

    def _around(self, doomed: Doomed) -> set[int]:
        """Return the episodes right before and behind those that go, which stay."""
        found: set[int] = set()
        for episode in sorted(doomed.episodes | doomed.masks.keys())[:VALUES_SOUGHT]:
            for way, order in (("<", "DESC"), (">", "ASC")):
                found |= self._ids(
                    "SELECT n.id FROM episode_row e JOIN episode_row n ON n.source_id = e.source_id"
                    f" AND n.id {way} e.id WHERE e.id = ? ORDER BY n.id {order} LIMIT ?",
                    episode,
                    AROUND,
                )
        return found - doomed.episodes

    def _values(self, doomed: Doomed) -> list[str]:
        """Return short words of what goes, which other columns may repeat on their own."""
        found = [
            row[0]
            for row in self._all(
                f"SELECT DISTINCT object FROM fact_row WHERE id IN {IN}",
                json_list(sorted(doomed.facts)),
            )
        ]
        names = self._names(doomed.entities)
        low, high = WORD_CHARS
        short = [
            fromkey
            for fromkey in dict.fromkeys(names + found)
            if low <= len(fromkey.strip()) <= high
        ]
        return short if len(short) <= VALUES_SOUGHT else [one for one in short if one in names]

    def _take_out(self, target: str, rows: Sequence[tuple[int, str]]) -> None:
        """Take texts out of the full-text index; the rows are indexed again as they are then."""
        column = FTS[target]
        self._db.executemany(
            f"INSERT INTO {target}_fts({target}_fts, rowid, {column}) VALUES ('delete', ?, ?)", rows
        )

    def _put_in(self, target: str, ids: Iterable[int]) -> None:
        column = FTS[target]
        self._db.execute(
            f"INSERT INTO {target}_fts(rowid, {column}) SELECT id, {column} FROM {target}_row"
            f" WHERE id IN {IN}",
            (json_list(sorted(ids)),),
        )

    def _wipe_facts(self, ids: set[int], *, anonymous: bool) -> int:
        if not ids:
            return 0
        listed = json_list(sorted(ids))
        rows = self._all(
            "SELECT id, statement, subject, predicate, object, owner, kind FROM fact_row"
            f" WHERE id IN {IN}",
            listed,
        )
        quotes = self._all(f"SELECT quote FROM evidence_row WHERE fact_id IN {IN}", listed)
        for row in rows:
            self._gone(row[1:5])
            self._take("page" if row[6] == "world" else "fact", {row[1], row[4]})
        self._gone(quote[0] for quote in quotes)
        self._take_out("fact", [(row[0], row[1]) for row in rows])
        self.drop_vectors("fact", sorted(ids))
        self._db.execute(f"DELETE FROM evidence_row WHERE fact_id IN {IN}", (listed,))
        self._db.execute(f"DELETE FROM notice_fact WHERE fact_id IN {IN}", (listed,))
        self._db.execute(
            f"DELETE FROM pair_row WHERE low_id IN {IN} OR high_id IN {IN}", (listed, listed)
        )
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
        self._put_in("fact", ids)
        self._db.execute(
            "UPDATE notice_row SET state = 'dropped', reason = 'erased' WHERE state IN"
            " ('waiting', 'claimed') AND NOT EXISTS"
            " (SELECT 1 FROM notice_fact x WHERE x.notice_id = notice_row.id)"
        )
        return len(rows)

    def _mask_episodes(self, doomed: Doomed) -> int:
        """Put a sign in the place of every character of the spans: all other spans still hold.

        Attributes that repeat them, or have the name of a thing that goes, go whole: an address.
        """
        masks = doomed.masks
        has_name = self.finder_of_names(doomed)
        for one, text, attributes, state, trust in self._all(
            f"SELECT id, text, attributes, vector_state, trust FROM episode_row WHERE id IN {IN}",
            json_list(sorted(masks)),
        ):
            cut = [text[start:end] for start, end in masks[one]]
            self._gone(cut)
            self._take(_whose(trust), cut)
            left = list(text)
            for start, end in masks[one]:
                left[start:end] = MASK * (min(end, len(text)) - start)
            new = "".join(left)
            kept = {
                name: value
                for name, value in orjson.loads(attributes).items()
                if not any(overlap(str(value), piece) for piece in cut) and not has_name(str(value))
            }
            self._gone(v for k, v in orjson.loads(attributes).items() if k not in kept)
            self._take_out("episode", [(one, text)])
            self._db.execute(
                "UPDATE episode_row SET text = ?, asks = ?, attributes = ? WHERE id = ?",
                (new, asks(new), orjson.dumps(kept).decode(), one),
            )
            self._put_in("episode", [one])
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
            f" call_id, speaker, uid, trust FROM episode_row WHERE id IN {IN}",
            listed,
        )
        for row in rows:
            self._gone([row[1], *row[3:-1]])
            self._gone(strings(orjson.loads(row[2])))
            self._take(_whose(row[-1]), [row[1]])
        self._take_out("episode", [(row[0], row[1]) for row in rows])
        self.drop_vectors("episode", sorted(ids))
        for target in ("entity", "preference"):
            self._db.execute(
                f"UPDATE {target}_row AS n SET episode_id = coalesce("
                f"({self._other_cause(target)}), episode_id) WHERE episode_id IN {IN}",
                (listed, listed),
            )
        for table, column in (
            ("evidence_row", "episode_id"),
            ("loose_row", "episode_id"),
            ("search_result_row", "episode_id"),
            ("engagement_row", "episode_id"),
        ):
            self._db.execute(f"DELETE FROM {table} WHERE {column} IN {IN}", (listed,))
        self._db.execute(
            "DELETE FROM model_task WHERE kind NOT IN ('judge', 'search', 'clean')"
            f" AND target IN {IN}",
            (listed,),
        )
        # `injected` keeps the row out of everything that reads episodes.
        self._db.execute(
            "UPDATE episode_row SET uid = 'erased:' || id, text = '', chars = 0, asks = 0,"
            " attributes = '{}', subject = '', message = '', session = '', project = '',"
            " branch = '', agent = '', tool = '', call_id = '', speaker = '', occurred_at = NULL,"
            " position = 0, byte_offset = 0, cut = 0, is_error = 0, injected = 1,"
            f" vector_state = 0, owner = CASE WHEN ? THEN '' ELSE owner END WHERE id IN {IN}",
            (anonymous, listed),
        )
        self._put_in("episode", ids)
        return len(rows)

    def _wipe_entities(self, ids: set[int], *, anonymous: bool) -> int:
        if not ids:
            return 0
        listed = json_list(sorted(ids))
        names = self._names(ids)
        self._gone(names)
        self._take("name", names)
        self.drop_vectors("entity", sorted(ids))
        self._db.execute(f"DELETE FROM entity_alias WHERE entity_id IN {IN}", (listed,))
        self._db.execute(f"DELETE FROM engagement_row WHERE entity_id IN {IN}", (listed,))
        self._db.execute(
            "DELETE FROM notice_fact WHERE notice_id IN"
            f" (SELECT id FROM notice_row WHERE entity_id IN {IN})",
            (listed,),
        )
        self._db.execute(f"DELETE FROM notice_row WHERE entity_id IN {IN}", (listed,))
        self._db.execute(
            "UPDATE entity_row SET name = 'erased:' || id, retired_at = ?, merged_into_id = NULL,"
            f" vector_state = 0, owner = CASE WHEN ? THEN '' ELSE owner END WHERE id IN {IN}",
            (self._now, anonymous, listed),
        )
        return len(ids)

    def _wipe_preferences(self, ids: set[int], *, anonymous: bool) -> int:
        if not ids:
            return 0
        listed = json_list(sorted(ids))
        rows = self._all(f"SELECT topic FROM preference_row WHERE id IN {IN}", listed)
        topics = [row[0] for row in rows]
        self._gone(topics)
        self._take("name", topics)
        self.drop_vectors("preference", sorted(ids))
        self._db.execute(f"DELETE FROM engagement_row WHERE preference_id IN {IN}", (listed,))
        self._db.execute(
            "UPDATE preference_row SET topic = 'erased:' || id, retired_at = ?, vector_state = 0,"
            f" owner = CASE WHEN ? THEN '' ELSE owner END WHERE id IN {IN}",
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
            texts = [row[0] for row in self._all(f"{sql} WHERE id IN {IN}", listed)]
            self._gone(texts)
            self._take("said", texts)
        self._wipe_search_sources(doomed.searches)
        whose = "owner = CASE WHEN ? THEN '' ELSE owner END"
        self._db.execute(
            f"DELETE FROM search_task WHERE id IN {IN} OR learn_prompt_id IN {IN}",
            (json_list(sorted(doomed.tasks)), prompts),
        )
        self._db.execute(f"DELETE FROM search_find WHERE search_id IN {IN}", (logs,))
        self._db.execute(
            f"UPDATE search_log_row SET query = '', extracted = 1, {whose}"
            f" WHERE id IN {IN} OR learn_prompt_id IN {IN}",
            (anonymous, logs, prompts),
        )
        self._db.execute(
            f"UPDATE learn_prompt_row SET text = 'erased:' || id, status = 'completed', {whose}"
            f" WHERE id IN {IN}",
            (anonymous, prompts),
        )
        self._db.execute(
            "UPDATE learn_prompt_row AS p SET status = 'completed' WHERE status = 'active'"
            " AND NOT EXISTS (SELECT 1 FROM search_task t WHERE t.learn_prompt_id = p.id"
            "  AND t.state IN ('queued', 'failed')) AND NOT EXISTS (SELECT 1 FROM search_log_row l"
            "  WHERE l.learn_prompt_id = p.id AND l.extracted = 0)"
            f" AND id IN (SELECT learn_prompt_id FROM search_log_row WHERE id IN {IN})",
            (logs,),
        )
        self._db.execute(
            "UPDATE schedule_row SET topic = 'erased:' || id, retired_at = coalesce(retired_at, ?),"
            f" {whose} WHERE id IN {IN}",
            (self._now, anonymous, json_list(sorted(doomed.schedules))),
        )
        return len(doomed.prompts | doomed.searches) + len(doomed.tasks) + len(doomed.schedules)

    def _wipe_search_sources(self, searches: set[int]) -> None:
        """Take the words that were searched for from the sources that hold the results.

        The source of a search that found nothing has no owner; it goes by its words alone.
        """
        for query, owner in self._all(
            f"SELECT DISTINCT query, owner FROM search_log_row WHERE id IN {IN}",
            json_list(sorted(searches)),
        ):
            uri = f"search:{query}"
            self._gone([uri])
            self._db.execute(
                "UPDATE source_row SET uri = 'search', title = '' WHERE kind = 'search'"
                " AND uri = ? AND NOT EXISTS (SELECT 1 FROM episode_row e"
                "  WHERE e.source_id = source_row.id AND e.owner NOT IN (?, ''))",
                (uri, owner),
            )

    def _wipe_rejections(self, ids: set[int]) -> int:
        listed = json_list(sorted(ids))
        for row in self._all(
            f"SELECT detail, excerpt, predicate, owner, validation FROM rejection_row"
            f" WHERE id IN {IN}",
            listed,
        ):
            self._gone(row[:3])
            self._gone(strings(orjson.loads(row[4])))
            self._take("said", [row[1]])
        self._db.execute(f"DELETE FROM rejection_row WHERE id IN {IN}", (listed,))
        return self._db.changes()

    def _wipe_sources(self, ids: set[int]) -> int:
        if not ids:
            return 0
        listed = json_list(sorted(ids))
        for row in self._all(
            f"SELECT key, session, uri, project, title, agent, cursor FROM source_row"
            f" WHERE id IN {IN}",
            listed,
        ):
            self._gone(row[:6])
            self._gone(strings(orjson.loads(row[6])))
            self._take("said", [row[4]])
        self._db.execute(
            "UPDATE source_row SET key = 'erased:' || id, session = '', uri = '', project = '',"
            " title = '', agent = '', cursor = '{}', lines = '{}', updated_at = ?"
            f" WHERE id IN {IN}",
            (self._now, listed),
        )
        return len(ids)

    def _wipe_proposals(self, doomed: Doomed, owner: str) -> int:
        """Drop what waits for a person's word, or had it, on something that goes."""
        uids = {
            row[0]
            for row in self._all(
                f"SELECT uid FROM episode_row WHERE id IN {IN}",
                json_list(sorted(doomed.episodes | doomed.masks.keys())),
            )
        }
        said = {
            (row[0], row[1].casefold(), _same_words(row[2]))
            for row in self._all(
                f"SELECT owner, predicate, object FROM fact_row WHERE id IN {IN}",
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
                _same_words(str(given.get("text", ""))),
            )
            named = one in doomed.proposals
            if named or given.get("episode") in uids or claim in said or (owner and whose == owner):
                self._gone([title, reason, *strings(given)])
                self._take("said", [title, *strings(given)] if named else [])
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
                f" AND target_id IN {IN} AND detail <> '{{}}'",
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
            left = wordless(known)
            if left != known:
                self._gone(strings(known))
                changes.append((orjson.dumps(left).decode(), one))
        self._db.executemany("UPDATE event_row SET detail = ? WHERE id = ?", changes)

    def _sweep(self, doomed: Doomed, values: Sequence[str], longer: Sequence[str]) -> None:
        """Take it out of every column that repeats words of other rows."""
        repeats = Repeats(self.wiped or [], values, longer=longer)
        events: list[tuple[int, str]] = []
        said: list[str] = []
        for one, detail in self._all("SELECT id, detail FROM event_row WHERE detail <> '{}'"):
            known = orjson.loads(detail)
            if not doomed.facts.isdisjoint(facts_named(known)):
                self._set_details([(one, detail)])
                continue
            words = strings(known, besides=PLAIN)
            if words:
                events.append((one, detail))
                said.append("\n".join(words))
        self._set_details([events[n] for n in repeats.among(said)])
        for table, keys, columns, change in _REPEATING:
            rows = self._all(f"SELECT {', '.join((*keys, *columns))} FROM {table}")
            where = " AND ".join(f"{key} = ?" for key in keys)
            texts = [
                "\n".join(
                    "\n".join(strings(orjson.loads(value))) if name in _JSON else value
                    for name, value in zip(columns, row[len(keys) :], strict=True)
                )
                for row in rows
            ]
            for n in repeats.among(texts):
                self._gone(rows[n][len(keys) :])
                self._db.execute(f"{change} WHERE {where}", rows[n][: len(keys)])
        for table, column in (("run_row", "report"), ("source_row", "cursor")):
            rows = self._all(f"SELECT id, {column} FROM {table} WHERE {column} <> '{{}}'")
            texts = ["\n".join(strings(orjson.loads(row[1]))) for row in rows]
            for n in repeats.among(texts):
                left = without(orjson.loads(rows[n][1]), repeats)
                self._db.execute(
                    f"UPDATE {table} SET {column} = ? WHERE id = ?",
                    (orjson.dumps(left).decode(), rows[n][0]),
                )


def _whose(trust: str) -> str:
    """Return how what an episode said is looked for."""
    return "page" if trust == "external" else "said"


def _same_words(text: str) -> str:
    return " ".join(text.casefold().split())
