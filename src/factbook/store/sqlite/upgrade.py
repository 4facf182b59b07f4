"""Bring a file of an older schema to the one of `schema.sql`, in the place where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import apsw

OLDEST: Final = 12
"""The oldest schema that is upgraded."""

_SAME_ROWS: Final = 14
"""From here on a schema only adds tables: no row of an older one is another."""

_MADE: Final = re.compile(r"CREATE (?:UNIQUE )?(?:VIRTUAL )?(?:TABLE|INDEX|VIEW|TRIGGER) (\w+)")
_ALIKE: Final = (
    "id, uid, source_id, owner, kind, role, trust, position, byte_offset, occurred_at, subject,"
    " message, tool, call_id, attributes, is_error, cut, injected, vector_state, learned_at,"
    " speaker, chars, asks, text"
)
_PLACE: Final = "session, project, branch, agent"
_EPISODES: Final = f"""
INSERT INTO place_row ({_PLACE}) SELECT DISTINCT {_PLACE} FROM episode_old;
INSERT INTO episode_data ({_ALIKE}, place_id)
  SELECT {_ALIKE}, (SELECT p.id FROM place_row p WHERE (p.session, p.project, p.branch, p.agent)
                    = (e.session, e.project, e.branch, e.agent)) FROM episode_old e ORDER BY id;
DROP TABLE episode_old;
"""
# Until 12 a quote was kept as a text. What counts characters ends at a NUL: there it is its span.
_EVIDENCE: Final = """
INSERT INTO evidence_row
  SELECT fact_id, episode_id, rule_id, stance, start_char, end_char,
         CASE WHEN instr(quote, char(0)) THEN end_char - start_char ELSE length(quote) END,
         learned_at FROM evidence_old;
DROP TABLE evidence_old;
"""


def upgrade(connection: apsw.Connection, schema: str, version: int) -> None:
    """Make the tables of a schema of a file that has those of an older one.

    It is within a transaction that does not look after foreign keys.
    """
    if version >= _SAME_ROWS:
        _make_missing(connection, schema)
        return
    for kind, name in connection.execute(
        "SELECT type, name FROM sqlite_master"
        " WHERE type IN ('view', 'trigger') OR (type = 'index' AND sql IS NOT NULL)"
    ).fetchall():
        connection.execute(f'DROP {kind} "{name}"')
    connection.execute("ALTER TABLE episode_row RENAME TO episode_data")  # in what refers to it too
    connection.execute("PRAGMA legacy_alter_table=ON")  # from here on there only
    connection.execute("ALTER TABLE episode_data RENAME TO episode_old")
    if version <= 12:
        connection.execute("ALTER TABLE evidence_row RENAME TO evidence_old")
    connection.execute("PRAGMA legacy_alter_table=OFF")
    _make_missing(connection, schema)
    connection.execute(_EPISODES).fetchall()
    if version <= 12:
        connection.execute(_EVIDENCE).fetchall()


def _make_missing(connection: apsw.Connection, schema: str) -> None:
    """Make what a schema has and a file lacks."""
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    for statement in _statements(schema):
        made = _MADE.search(statement)
        if made is None or made[1] not in there:
            connection.execute(statement).fetchall()


def _statements(schema: str) -> Iterator[str]:
    statement = ""
    for line in schema.splitlines(keepends=True):
        statement += line
        if apsw.complete(statement):
            yield statement
            statement = ""
