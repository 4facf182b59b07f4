"""Audit a SQLite ledger: do counters match rows, spans their texts, and indexes their tables?

Every check is a query that finds offending rows, so an audit of a large file stays in SQLite.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Final

import apsw

from factbook.model.facts import EpisodeKind, FactKind, Role, Stance, Status, Trigger, Trust
from factbook.store.rows import ERASE_KEY, Problem, claim_digest, tombstone_mark
from factbook.store.sqlite.rows import VECTOR_TABLES

IN_MEMORY_BYTES: Final = 512_000_000
"""Up to here a file that is open for reading is copied into memory for the check of full text."""

_SHOWN = 5  # offending rows named per check; the number of all of them is said too
LENGTH_OFF = 5e-4
"""Of a vector of length 1. Rounding to half precision moves a number by at most 2 ** -11 of itself
(4.9e-4), so a length by no more, whatever its numbers are: what is farther off was changed."""

_WORDS: Final = {
    (table, column): frozenset(word.value.encode() for word in words)
    for table, column, words in (
        ("episode_row", "kind", EpisodeKind),
        ("episode_row", "role", Role),
        ("episode_row", "trust", Trust),
        ("event_row", "trigger", Trigger),
        ("evidence_row", "stance", Stance),
        ("fact_row", "kind", FactKind),
        ("fact_row", "status", Status),
        ("fact_row", "trust", Trust),
    )
}
"""Columns that hold one of a few words."""

_QUERIES: Final = {
    "evidence_count": """
           SELECT f.id, f.evidence_count || ' counted, ' || count(v.fact_id) || ' rows'
           FROM fact_row f LEFT JOIN evidence_row v ON v.fact_id = f.id AND v.stance = 'supports'
           GROUP BY f.id HAVING f.evidence_count <> count(v.fact_id)""",
    "episode_count": """
           SELECT s.id, s.episode_count || ' counted, ' || count(e.id) || ' rows'
           FROM source_row s LEFT JOIN episode_data e ON e.source_id = s.id AND NOT EXISTS (
             SELECT 1 FROM erased_row x WHERE x.target = 'episode' AND x.row_id = e.id)
           GROUP BY s.id HAVING s.episode_count <> count(e.id)""",
    "fact_without_evidence": """
           SELECT f.id, f.predicate FROM fact_row f WHERE f.status <> 'erased' AND NOT EXISTS (
             SELECT 1 FROM evidence_row v
             WHERE v.fact_id = f.id AND v.episode_id = f.episode_id)""",
    "evidence_from_injected_text": """
           SELECT v.fact_id, 'episode ' || e.id FROM evidence_row v
           JOIN episode_row e ON e.id = v.episode_id WHERE e.injected = 1""",
    "fact_time": """
           SELECT f.id, 'occurred_at ' || coalesce(f.occurred_at, 'null') FROM fact_row f
           WHERE f.occurred_at IS NOT (
             SELECT max(e.occurred_at) FROM evidence_row v JOIN episode_row e ON e.id = v.episode_id
             WHERE v.fact_id = f.id AND v.stance = 'supports')""",
    "fact_status": """
           SELECT id, status FROM fact_row
           WHERE status NOT IN ('pending_embed', 'active', 'proposed', 'superseded',
                                'merged_into', 'retracted', 'erased')
              OR (status IN ('pending_embed', 'active', 'proposed')) <> (retired_at IS NULL)
              OR (status = 'merged_into') <> (merged_into_id IS NOT NULL)
              OR (status = 'superseded') <> (superseded_by IS NOT NULL)
              OR (status = 'pending_embed' AND embeddable = 0)""",
    "fact_vector": """
           SELECT f.id, f.status FROM fact_row f LEFT JOIN fact_vector x ON x.fact_id = f.id
           WHERE (f.status = 'pending_embed' AND x.fact_id IS NOT NULL)
              OR (f.status = 'active' AND f.embeddable = 1 AND x.fact_id IS NULL)
              OR (f.retired_at IS NOT NULL AND x.fact_id IS NOT NULL)""",
    "episode_vector": """
           SELECT e.id, 'state ' || e.vector_state FROM episode_row e
           LEFT JOIN episode_vector x ON x.episode_id = e.id
           WHERE (e.vector_state = 2) <> (x.episode_id IS NOT NULL)
              OR e.vector_state NOT IN (0, 1, 2)""",
    "vector_size": """
           SELECT id, size || ' bytes' FROM (
             SELECT episode_id AS id, length(vector) AS size FROM episode_vector
             UNION ALL SELECT fact_id, length(vector) FROM fact_vector
             UNION ALL SELECT entity_id, length(vector) FROM entity_vector
             UNION ALL SELECT preference_id, length(vector) FROM preference_vector)
           WHERE size IS NOT (SELECT 2 * value FROM meta WHERE name = 'embedder_dim')""",
    "pointer": """
           WITH RECURSIVE way(start, id, steps) AS (
             SELECT id, coalesce(merged_into_id, superseded_by), 1 FROM fact_row
              WHERE merged_into_id IS NOT NULL OR superseded_by IS NOT NULL
             UNION ALL
             SELECT way.start, coalesce(f.merged_into_id, f.superseded_by), way.steps + 1
              FROM way JOIN fact_row f ON f.id = way.id
              WHERE coalesce(f.merged_into_id, f.superseded_by) IS NOT NULL AND way.steps < 1000)
           SELECT start, 'its pointers go in a circle' FROM way
           WHERE id = start OR steps >= 1000""",
    "history": """
           SELECT f.id, 'no event stored it' FROM fact_row f WHERE NOT EXISTS (
             SELECT 1 FROM event_row h WHERE h.target_kind = 'fact' AND h.target_id = f.id
              AND h.op = 'store')""",
    "episode_length": """
           SELECT id, chars || ' counted, ' || length(text) || ' characters' FROM episode_row
           WHERE chars <> length(text) AND instr(text, char(0)) = 0""",
    "place": """
           SELECT id, 'nothing was said there' FROM place_row p
           WHERE NOT EXISTS (SELECT 1 FROM episode_data e WHERE e.place_id = p.id)""",
    "commit": """
           SELECT no, 'is behind the last commit' FROM (
             SELECT max(no) AS no FROM commit_row
             UNION ALL SELECT max(commit_no) FROM episode_vector
             UNION ALL SELECT max(commit_no) FROM fact_vector
             UNION ALL SELECT max(commit_no) FROM vector_gone
             UNION ALL SELECT max(memory) FROM owner_row)
           WHERE no > (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'commit')""",
    "pair": """
           SELECT p.low_id, 'and ' || p.high_id || ' were judged ' || p.relation FROM pair_row p
           WHERE p.relation NOT IN ('same', 'supersedes', 'contradiction', 'ambiguous', 'different')
              OR p.verdict NOT IN ('', 'MERGE', 'KEEP_BOTH', 'CONTRADICTION')""",
    "embed_task": """
           SELECT t.row_id, t.target || ' waits no longer' FROM embed_task t
           LEFT JOIN episode_data e ON t.target = 'episode' AND e.id = t.row_id
           LEFT JOIN fact_row f ON t.target = 'fact' AND f.id = t.row_id
           LEFT JOIN entity_row n ON t.target = 'entity' AND n.id = t.row_id
           LEFT JOIN preference_row p ON t.target = 'preference' AND p.id = t.row_id
           WHERE coalesce(e.vector_state = 1, f.status = 'pending_embed', n.vector_state = 1,
                          p.vector_state = 1, 0) = 0""",
    "next_vector": """
           SELECT n.row_id, n.target || ' has no vector' FROM next_vector n
           LEFT JOIN episode_vector e ON n.target = 'episode' AND e.episode_id = n.row_id
           LEFT JOIN fact_vector f ON n.target = 'fact' AND f.fact_id = n.row_id
           LEFT JOIN entity_vector y ON n.target = 'entity' AND y.entity_id = n.row_id
           LEFT JOIN preference_vector p ON n.target = 'preference' AND p.preference_id = n.row_id
           WHERE e.episode_id IS NULL AND f.fact_id IS NULL AND y.entity_id IS NULL
             AND p.preference_id IS NULL""",
    "model_task": """
           SELECT t.target, t.kind || ' ' || t.state FROM model_task t
           LEFT JOIN episode_data e ON e.id = t.target
           WHERE t.state NOT IN ('queued', 'done', 'failed', 'aside')
              OR (t.kind NOT IN ('judge', 'search', 'clean') AND e.id IS NULL)""",
    "world_fact": """
           SELECT f.id, 'about ' || f.subject || ', which is no entity of ' || f.owner
           FROM fact_row f WHERE f.kind = 'world' AND f.retired_at IS NULL AND NOT EXISTS (
             SELECT 1 FROM entity_row n
             WHERE n.owner = f.owner AND n.name = f.subject AND n.retired_at IS NULL)""",
    "entity_cause": """
           SELECT n.id, n.name || ' came in by ' || n.trigger FROM entity_row n
           JOIN episode_row e ON e.id = n.episode_id
           WHERE n.name <> 'erased:' || n.id
             AND (n.trigger NOT IN ('user_message', 'learn_command', 'command')
              OR e.owner <> n.owner OR e.injected = 1
              OR NOT (e.trust = 'direct' OR EXISTS (
                SELECT 1 FROM search_result_row r JOIN search_log_row l ON l.id = r.search_id
                WHERE r.episode_id = e.id AND l.owner = n.owner
                  AND l.trigger IN ('user_message', 'learn_command'))))""",
    "entity_state": """
           SELECT n.id, n.name FROM entity_row n
           LEFT JOIN entity_vector x ON x.entity_id = n.id
           WHERE n.name = '' OR (n.merged_into_id IS NOT NULL AND n.retired_at IS NULL)
              OR n.merged_into_id = n.id OR n.vector_state NOT IN (0, 1, 2)
              OR (n.vector_state = 2) <> (x.entity_id IS NOT NULL)
              OR (n.vector_state = 0) <> (n.retired_at IS NOT NULL)
           UNION ALL
           SELECT p.id, 'preference ' || p.topic FROM preference_row p
           LEFT JOIN preference_vector x ON x.preference_id = p.id
           WHERE p.topic = '' OR (p.vector_state = 2) <> (x.preference_id IS NOT NULL)
              OR (p.vector_state = 0) <> (p.retired_at IS NOT NULL)""",
    "entity_alias": """
           SELECT a.entity_id, a.name FROM entity_alias a
           LEFT JOIN entity_row n ON n.id = a.entity_id
           WHERE n.id IS NULL OR n.owner <> a.owner OR a.name = ''
              OR (n.name = a.name AND n.retired_at IS NULL)""",
    "engagement": """
           SELECT g.id, g.type || ' of ' || g.owner FROM engagement_row g
           LEFT JOIN entity_row n ON n.id = g.entity_id
           LEFT JOIN preference_row p ON p.id = g.preference_id
           WHERE coalesce(n.owner, g.owner) <> g.owner OR coalesce(p.owner, g.owner) <> g.owner""",
    "learn_prompt": """
           SELECT p.id, p.status FROM learn_prompt_row p
           WHERE EXISTS (SELECT 1 FROM search_task t WHERE t.learn_prompt_id = p.id)
             AND (p.status = 'completed') <> (
             NOT EXISTS (SELECT 1 FROM search_task t
               WHERE t.learn_prompt_id = p.id AND t.state <> 'done')
             AND NOT EXISTS (SELECT 1 FROM search_log_row l
               WHERE l.learn_prompt_id = p.id AND l.extracted = 0))""",
    "search": """
           SELECT id, 'task ' || state FROM search_task
           WHERE state NOT IN ('queued', 'done', 'failed', 'aside')
              OR trigger NOT IN ('user_message', 'learn_command', 'enrichment')
           UNION ALL SELECT id, 'trigger ' || trigger FROM search_log_row
           WHERE trigger NOT IN ('user_message', 'learn_command', 'enrichment')
           UNION ALL SELECT r.search_id, 'result ' || e.id || ' is ' || e.trust
           FROM search_result_row r JOIN episode_row e ON e.id = r.episode_id
           WHERE e.trust <> 'external' OR e.kind <> 'search_result'
           UNION ALL SELECT t.id, 'task ' || t.state || ' is claimed' FROM search_task t
           JOIN lease_row l ON l.name = 'search ' || t.id
           WHERE t.state NOT IN ('queued', 'failed')
           UNION ALL SELECT search_id, 'result ' || episode_id || ' is half read'
           FROM search_result_row WHERE is_read NOT IN (0, 1) OR failed < 0
              OR (seen IS NOT NULL AND NOT json_valid(seen))
           UNION ALL SELECT id, 'flags' FROM search_log_row
           WHERE discovered NOT IN (0, 1) OR extracted NOT IN (0, 1)
           UNION ALL SELECT x.search_id, 'fact ' || x.fact_id || ' is no find of it'
           FROM search_find x JOIN search_log_row l ON l.id = x.search_id
           JOIN fact_row f ON f.id = x.fact_id
           WHERE l.extracted = 1 OR f.kind <> 'world'""",
    "notice": """
           SELECT c.id, c.state FROM notice_row c JOIN entity_row n ON n.id = c.entity_id
           WHERE n.owner <> c.owner OR NOT json_valid(c.channels)
              OR c.state NOT IN ('waiting', 'claimed', 'sent', 'failed', 'dropped')
              OR (c.state IN ('sent', 'failed')) <> (c.sent_at IS NOT NULL AND c.state <> 'claimed')
           UNION ALL SELECT x.notice_id, 'tells fact ' || f.id || ' of ' || f.owner
           FROM notice_fact x JOIN notice_row c ON c.id = x.notice_id
           JOIN fact_row f ON f.id = x.fact_id WHERE f.owner <> c.owner OR f.kind <> 'world'""",
    "keyed_fact": """
           SELECT id, predicate || ' of ' || subject FROM fact_row
           WHERE kind = 'keyed' AND status <> 'erased'
             AND (subject <> owner OR predicate = '' OR object = '')""",
    "merged_evidence": """
           SELECT f.id, 'episode ' || v.episode_id || ' is missing at ' || f.merged_into_id
           FROM fact_row f JOIN evidence_row v ON v.fact_id = f.id
           WHERE f.status = 'merged_into' AND NOT EXISTS (
             SELECT 1 FROM evidence_row w
             WHERE w.fact_id = f.merged_into_id AND w.episode_id = v.episode_id)""",
    "run": """
           SELECT id, state FROM run_row
           WHERE state NOT IN ('running', 'done', 'failed', 'undone')
              OR (state = 'running') <> (finished_at IS NULL)""",
    "json": """
           SELECT id, 'episode attributes' FROM episode_row WHERE NOT json_valid(attributes)
           UNION ALL SELECT id, 'event detail' FROM event_row WHERE NOT json_valid(detail)
           UNION ALL SELECT id, 'source cursor' FROM source_row WHERE NOT json_valid(cursor)
           UNION ALL SELECT id, 'source lines' FROM source_row WHERE NOT json_valid(lines)
           UNION ALL SELECT id, 'validation' FROM rejection_row WHERE NOT json_valid(validation)
           UNION ALL SELECT id, 'run report' FROM run_row WHERE NOT json_valid(report)
           UNION ALL SELECT id, 'proposal' FROM proposal_row WHERE NOT json_valid(payload)
           UNION ALL SELECT id, 'injection' FROM injection_row
             WHERE NOT json_valid(items) OR NOT json_valid(used)""",
    "erased": """
           SELECT x.row_id, 'fact still says something' FROM erased_row x
           LEFT JOIN fact_row f ON f.id = x.row_id
           WHERE x.target = 'fact' AND (f.id IS NULL OR f.status <> 'erased'
             OR f.subject || f.predicate || f.object || f.statement <> '')
           UNION ALL SELECT f.id, 'fact is erased, and no erasure says so' FROM fact_row f
           WHERE f.status = 'erased' AND NOT EXISTS (
             SELECT 1 FROM erased_row x WHERE x.target = 'fact' AND x.row_id = f.id)
           UNION ALL SELECT x.row_id, 'episode still says something' FROM erased_row x
           LEFT JOIN episode_data e ON e.id = x.row_id
           LEFT JOIN place_row p ON p.id = e.place_id
           WHERE x.target = 'episode' AND (e.id IS NULL OR e.text <> '' OR e.injected = 0
             OR e.attributes <> '{}' OR e.uid <> 'erased:' || e.id OR e.occurred_at IS NOT NULL
             OR e.subject || e.message || p.session || p.project || p.branch || p.agent || e.tool
                || e.call_id || e.speaker <> '')
           UNION ALL SELECT x.row_id, 'source still says something' FROM erased_row x
           LEFT JOIN source_row s ON s.id = x.row_id
           WHERE x.target = 'source' AND (s.id IS NULL OR s.key <> 'erased:' || s.id
             OR s.session || s.uri || s.project || s.title || s.agent <> '')
           UNION ALL SELECT x.row_id, 'entity still has its name' FROM erased_row x
           LEFT JOIN entity_row n ON n.id = x.row_id
           WHERE x.target = 'entity' AND (n.id IS NULL OR n.name <> 'erased:' || n.id
             OR n.retired_at IS NULL)
           UNION ALL SELECT x.row_id, 'preference still has its topic' FROM erased_row x
           LEFT JOIN preference_row p ON p.id = x.row_id
           WHERE x.target = 'preference' AND (p.id IS NULL OR p.topic <> 'erased:' || p.id
             OR p.retired_at IS NULL)""",
    "erasure": """
           SELECT id, 'the file was not looked through since; run factbook erase --finish'
           FROM erasure_row WHERE clean = 0
           UNION ALL SELECT value, 'the history is not closed' FROM meta WHERE name = 'erasing'
           UNION ALL SELECT id, 'counts' FROM erasure_row WHERE NOT json_valid(counts)""",
    "full_text": """
           SELECT id, 'facts without an index entry' FROM fact_row
             WHERE id NOT IN (SELECT id FROM fact_fts_docsize)
           UNION ALL SELECT id, 'episode without an index entry' FROM episode_row
             WHERE id NOT IN (SELECT id FROM episode_fts_docsize)
           UNION ALL SELECT id, 'index entry without a fact' FROM fact_fts_docsize
             WHERE id NOT IN (SELECT id FROM fact_row)
           UNION ALL SELECT id, 'index entry without an episode' FROM episode_fts_docsize
             WHERE id NOT IN (SELECT id FROM episode_row)""",
}


def audit(connection: apsw.Connection, *, writable: bool) -> list[Problem]:
    """Return everything that is wrong with the ledger; an empty list is clean.

    What it cannot see is said by `damage.NOT_SEEN`.
    """
    problems = _tried("integrity", _integrity, connection)
    if problems:
        return problems  # the other checks would trip over the same damage
    problems = _tried("unreadable", _unreadable, connection)
    checks: list[tuple[str, Callable[[apsw.Connection], list[Problem]]]] = [
        *((what, partial(_asked, what, sql)) for what, sql in _QUERIES.items()),
        ("evidence_span", _spans),
        ("claim", _claims),
        ("came_back", _came_back),
        ("vector", _vectors),
    ]
    if writable:
        checks.append(("full_text", _full_text))
    elif _size(connection) <= IN_MEMORY_BYTES:
        checks.append(("full_text", _full_text_of_a_copy))
    for what, check in checks:
        problems += _tried(what, check, connection)
    return problems


def _tried(
    what: str, check: Callable[[apsw.Connection], list[Problem]], connection: apsw.Connection
) -> list[Problem]:
    """Make a check; what keeps it from being made is what it finds."""
    try:
        return check(connection)
    except (apsw.BusyError, apsw.LockedError):
        raise
    except (apsw.Error, TypeError, ValueError) as error:
        return [Problem(what=what, detail=str(error))]


def _integrity(connection: apsw.Connection) -> list[Problem]:
    # FTS5 keeps what a connection knew of an index until it is next searched, and would call
    # corrupt what others have merged away since.
    for target in ("episode", "fact"):
        connection.execute(f"SELECT 1 FROM {target}_fts WHERE {target}_fts MATCH 'a' LIMIT 1")
    return [
        Problem(what="integrity", detail=str(row[0]))
        for row in connection.execute("PRAGMA integrity_check(20)")
        if row[0] != "ok"
    ] + [
        Problem(what="foreign_key", detail=f"{row[0]} row {row[1]} points to no {row[2]}")
        for row in connection.execute("PRAGMA foreign_key_check")
    ]


def _asked(what: str, sql: str, connection: apsw.Connection) -> list[Problem]:
    rows = connection.execute(sql).fetchall()
    problems = [Problem(what=what, detail=f"{row[0]}: {row[1]}") for row in rows[:_SHOWN]]
    if len(rows) > _SHOWN:
        problems.append(Problem(what=what, detail=f"and {len(rows) - _SHOWN} more"))
    return problems


def _unreadable(connection: apsw.Connection) -> list[Problem]:
    """Read every row of every table, and every word that is one of a few."""
    problems = []
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND instr(name, '_fts') = 0"
    ).fetchall()
    for (table,) in tables:
        try:
            for _ in connection.execute(f'SELECT * FROM "{table}"'):
                pass
        except UnicodeDecodeError as error:
            problems.append(Problem(what="unreadable", detail=f"{table}: {error}"))
    for (table, column), words in _WORDS.items():
        cursor = connection.execute(f"SELECT DISTINCT CAST({column} AS BLOB) FROM {table}")
        wrong = [word for (word,) in cursor if bytes(word or b"") not in words]
        problems += [
            Problem(what="unreadable", detail=f"{table}: {word!r} is no {column}")
            for word in wrong[:_SHOWN]
        ]
    return problems


def vector_length(vector: bytes) -> float:
    """Return the length of a vector of half precision."""
    import numpy as np

    numbers = np.frombuffer(vector, np.float16).astype(np.float32)
    with np.errstate(invalid="ignore"):  # of a damaged one, which has no length
        return float(np.sqrt(numbers @ numbers))


def _vectors(connection: apsw.Connection) -> list[Problem]:
    """See that every vector has a direction and the length that all of them are made to have."""
    problems = []
    for target, (table, column) in VECTOR_TABLES.items():
        for row, vector in connection.execute(f"SELECT {column}, vector FROM {table}"):
            length = vector_length(vector)
            if not abs(length - 1) < LENGTH_OFF:
                problems.append(
                    Problem(what="vector", detail=f"{target} {row}: its length is {length:.4f}")
                )
    return problems[:_SHOWN]


_SPAN_IS_WRONG = """
    v.start_char < 0 OR v.end_char <= v.start_char OR v.end_char > length(e.text)
    OR v.quote_chars > v.end_char - v.start_char OR v.quote_chars < 1"""


def _spans(connection: apsw.Connection) -> list[Problem]:
    """Look whether every quote lies in its span, and that in its episode."""
    # SQLite's length() and substr() end at a NUL, so the few texts that hold one are read here.
    rows = connection.execute(
        "SELECT v.fact_id, e.id, v.start_char, v.end_char, v.quote_chars, e.text"
        " FROM evidence_row v JOIN episode_row e ON e.id = v.episode_id"
        f" WHERE {_SPAN_IS_WRONG} OR instr(e.text, char(0)) > 0"
    )
    wrong = [
        f"{fact}: span {start}-{end} of episode {episode}"
        for fact, episode, start, end, quote_chars, text in rows
        if not 0 <= start < end <= len(text) or not 0 < quote_chars <= end - start
    ]
    return [Problem(what="evidence_span", detail=detail) for detail in wrong[:_SHOWN]]


def _claims(connection: apsw.Connection) -> list[Problem]:
    rows = connection.execute("SELECT id, claim, owner, subject, predicate, object FROM fact_row")
    wrong = [row[0] for row in rows if claim_digest(*row[2:]) != row[1]]
    return [Problem(what="claim", detail=f"{id_}: its digest is another") for id_ in wrong[:_SHOWN]]


def _came_back(connection: apsw.Connection) -> list[Problem]:
    """Compare current rows with what was erased."""
    marks = {row[0] for row in connection.execute("SELECT mark FROM tombstone")}
    secret = connection.execute("SELECT value FROM secret_row WHERE name = ?", (ERASE_KEY,)).get
    if not marks or secret is None:
        return []
    key = str(secret)
    facts = connection.execute(
        "SELECT id, owner, subject, predicate, object FROM fact_row WHERE retired_at IS NULL"
    )
    wrong = [f"fact {row[0]}" for row in facts if tombstone_mark(key, "claim", *row[1:]) in marks]
    episodes = connection.execute("SELECT id, uid FROM episode_row")
    wrong += [
        f"episode {row[0]}" for row in episodes if tombstone_mark(key, "uid", row[1]) in marks
    ]
    return [Problem(what="came_back", detail=f"{name} was erased") for name in wrong[:_SHOWN]]


def _size(connection: apsw.Connection) -> int:
    sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    return int(str(connection.execute(sql).get))


def _full_text_of_a_copy(connection: apsw.Connection) -> list[Problem]:
    """Do the same for a file that is open for reading: FTS5 asks for its check as for a write."""
    with closing(apsw.Connection(":memory:")) as copy:
        with copy.backup("main", connection, "main") as backup:
            backup.step(-1)
        return _full_text(copy)


def _full_text(connection: apsw.Connection) -> list[Problem]:
    """Compare the full-text indexes with their tables, token by token (FTS5's own check)."""
    problems = []
    for table in ("episode_fts", "fact_fts"):
        try:
            connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)")
        except apsw.CorruptError as error:
            problems.append(Problem(what="full_text", detail=f"{table}: {error}"))
    return problems
