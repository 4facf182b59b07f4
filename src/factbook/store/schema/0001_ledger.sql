-- The ledger: sources, episodes, facts, evidence, events, and what was refused.
-- Times are milliseconds since 1970-01-01 UTC; offsets are characters, end exclusive.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One input (seed 000's `sessions`), with how far it has been read and what its lines were.
CREATE TABLE source_row (
  id            INTEGER PRIMARY KEY,
  key           TEXT NOT NULL UNIQUE,
  kind          TEXT NOT NULL,
  host          TEXT NOT NULL,
  session       TEXT NOT NULL,
  uri           TEXT NOT NULL,
  project       TEXT NOT NULL DEFAULT '',
  title         TEXT NOT NULL DEFAULT '',
  agent         TEXT NOT NULL DEFAULT '',
  episode_count INTEGER NOT NULL DEFAULT 0,
  first_at      INTEGER,
  last_at       INTEGER,
  cursor        TEXT NOT NULL DEFAULT '{}',
  lines         TEXT NOT NULL DEFAULT '{}',
  learned_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;

-- One immutable piece of a source. vector_state: 0 needs none, 1 waits, 2 has one. `asks`: it holds
-- a question. The text comes last, so that reading the other columns never touches long rows.
CREATE TABLE episode_row (
  id           INTEGER PRIMARY KEY,
  uid          TEXT NOT NULL UNIQUE,
  source_id    INTEGER NOT NULL REFERENCES source_row(id),
  owner        TEXT NOT NULL,
  kind         TEXT NOT NULL,
  role         TEXT NOT NULL,
  trust        TEXT NOT NULL,
  position     INTEGER NOT NULL,
  byte_offset  INTEGER NOT NULL,
  occurred_at  INTEGER,
  subject      TEXT NOT NULL,
  message      TEXT NOT NULL,
  session      TEXT NOT NULL,
  project      TEXT NOT NULL,
  branch       TEXT NOT NULL,
  agent        TEXT NOT NULL,
  tool         TEXT NOT NULL,
  call_id      TEXT NOT NULL,
  attributes   TEXT NOT NULL,
  is_error     INTEGER NOT NULL,
  cut          INTEGER NOT NULL,
  injected     INTEGER NOT NULL,
  vector_state INTEGER NOT NULL,
  learned_at   INTEGER NOT NULL,
  speaker      TEXT NOT NULL,
  chars        INTEGER NOT NULL,
  asks         INTEGER NOT NULL,
  text         TEXT NOT NULL
) STRICT;
CREATE INDEX episode_by_source ON episode_row(source_id);
CREATE INDEX episode_by_time ON episode_row(occurred_at);
CREATE INDEX episode_waiting ON episode_row(id) WHERE vector_state = 1;

CREATE TABLE rule_row (
  id     INTEGER PRIMARY KEY,
  name   TEXT NOT NULL,
  method TEXT NOT NULL,
  UNIQUE (name, method)
) STRICT;

-- One claim. `claim` is a digest of (owner, subject, predicate, object): current rows are unique by it.
CREATE TABLE fact_row (
  id             INTEGER PRIMARY KEY,
  claim          BLOB NOT NULL,
  owner          TEXT NOT NULL,
  subject        TEXT NOT NULL,
  predicate      TEXT NOT NULL,
  object         TEXT NOT NULL,
  statement      TEXT NOT NULL,
  kind           TEXT NOT NULL,
  status         TEXT NOT NULL,
  confidence     REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  confidence_at  INTEGER NOT NULL,
  trust          TEXT NOT NULL,
  evidence_count INTEGER NOT NULL,
  episode_id     INTEGER NOT NULL REFERENCES episode_row(id),
  occurred_at    INTEGER,
  learned_at     INTEGER NOT NULL,
  retired_at     INTEGER,
  valid_from     INTEGER,
  valid_to       INTEGER,
  merged_into_id INTEGER REFERENCES fact_row(id),
  superseded_by  INTEGER REFERENCES fact_row(id),
  embeddable     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX fact_current ON fact_row(claim) WHERE retired_at IS NULL;
CREATE INDEX fact_by_predicate ON fact_row(predicate, occurred_at);
CREATE INDEX fact_by_subject ON fact_row(subject);
CREATE INDEX fact_by_episode ON fact_row(episode_id);
CREATE INDEX fact_waiting ON fact_row(id) WHERE status = 'pending_embed';

-- An episode counts once for a fact. `derived_from` of a fact is its episode ids here.
CREATE TABLE evidence_row (
  fact_id    INTEGER NOT NULL REFERENCES fact_row(id),
  episode_id INTEGER NOT NULL REFERENCES episode_row(id),
  rule_id    INTEGER NOT NULL REFERENCES rule_row(id),
  stance     TEXT NOT NULL,
  quote      TEXT NOT NULL,
  start_char INTEGER NOT NULL,
  end_char   INTEGER NOT NULL,
  learned_at INTEGER NOT NULL,
  PRIMARY KEY (fact_id, episode_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_by_episode ON evidence_row(episode_id);

-- What could not be read or was not let in, once each (`claim` is a digest of what and where).
CREATE TABLE rejection_row (
  id          INTEGER PRIMARY KEY,
  claim       BLOB NOT NULL UNIQUE,
  at          INTEGER NOT NULL,
  source_id   INTEGER NOT NULL REFERENCES source_row(id),
  episode_id  INTEGER REFERENCES episode_row(id),
  position    INTEGER NOT NULL,
  byte_offset INTEGER NOT NULL,
  reason      TEXT NOT NULL,
  detail      TEXT NOT NULL,
  excerpt     TEXT NOT NULL,
  rule        TEXT NOT NULL,
  predicate   TEXT NOT NULL
) STRICT;
CREATE INDEX rejection_by_reason ON rejection_row(reason);

-- The append-only history.
CREATE TABLE event_row (
  id          INTEGER PRIMARY KEY,
  at          INTEGER NOT NULL,
  actor       TEXT NOT NULL,
  trigger     TEXT NOT NULL,
  op          TEXT NOT NULL,
  target_kind TEXT NOT NULL,
  target_id   INTEGER NOT NULL,
  detail      TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX event_by_target ON event_row(target_kind, target_id);
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event_row
  BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;
CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON event_row
  BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;

-- Vectors: normalised, half precision; seq grows with every write, so that readers can follow.
CREATE TABLE episode_vector (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  episode_id INTEGER NOT NULL UNIQUE REFERENCES episode_row(id),
  vector     BLOB NOT NULL
) STRICT;
CREATE TABLE fact_vector (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  fact_id INTEGER NOT NULL UNIQUE REFERENCES fact_row(id),
  vector  BLOB NOT NULL
) STRICT;

-- Full text, over the text of the rows themselves.
CREATE VIRTUAL TABLE episode_fts USING fts5(
  text, content = 'episode_row', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO episode_fts(episode_fts, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE fact_fts USING fts5(
  statement, content = 'fact_row', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO fact_fts(fact_fts, rank) VALUES ('secure-delete', 1);

-- The names of the seeds, for plain SQL.
CREATE VIEW facts AS
  SELECT f.id, f.subject, f.predicate, f.object, f.confidence, r.method, r.name AS rule,
         f.statement, f.kind, f.status, f.trust, f.evidence_count,
         strftime('%Y-%m-%dT%H:%M:%fZ', f.occurred_at / 1000.0, 'unixepoch') AS occurred_at,
         e.session, e.project, s.host, s.uri AS source, e.position
  FROM fact_row f
  JOIN episode_row e ON e.id = f.episode_id
  JOIN source_row s ON s.id = e.source_id
  JOIN evidence_row v ON v.fact_id = f.id AND v.episode_id = f.episode_id
  JOIN rule_row r ON r.id = v.rule_id
  WHERE f.retired_at IS NULL;
CREATE VIEW sessions AS
  SELECT id, session AS session_id, host, project, title, agent, uri AS source, episode_count,
         strftime('%Y-%m-%dT%H:%M:%fZ', first_at / 1000.0, 'unixepoch') AS started_at,
         strftime('%Y-%m-%dT%H:%M:%fZ', last_at / 1000.0, 'unixepoch') AS ended_at
  FROM source_row;
CREATE VIEW semantic_memory AS
  SELECT f.id, f.statement AS text, f.kind AS category, f.status, f.confidence, f.evidence_count,
         (SELECT json_group_array(v.episode_id) FROM evidence_row v
           WHERE v.fact_id = f.id AND v.stance = 'supports') AS derived_from,
         f.merged_into_id,
         strftime('%Y-%m-%dT%H:%M:%fZ', f.retired_at / 1000.0, 'unixepoch') AS archived_at,
         strftime('%Y-%m-%dT%H:%M:%fZ', f.confidence_at / 1000.0, 'unixepoch') AS last_updated,
         (SELECT x.vector FROM fact_vector x WHERE x.fact_id = f.id) AS embedding
  FROM fact_row f;
CREATE VIEW episodic_memory AS
  SELECT e.id, e.text, e.role, e.kind, e.subject, e.session AS session_id,
         strftime('%Y-%m-%dT%H:%M:%fZ', e.occurred_at / 1000.0, 'unixepoch') AS timestamp,
         CASE e.vector_state WHEN 1 THEN 'pending_embed' ELSE 'active' END AS status,
         (SELECT x.vector FROM episode_vector x WHERE x.episode_id = e.id) AS embedding
  FROM episode_row e;
CREATE VIEW memory_events AS
  SELECT id, strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS at, actor, trigger, op,
         target_kind || ':' || target_id AS target, detail
  FROM event_row;
