-- Memory that lives: what facts need to grow, fade, contradict, merge and be undone.

ALTER TABLE fact_row ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
CREATE INDEX fact_merged ON fact_row(claim) WHERE merged_into_id IS NOT NULL;
CREATE INDEX fact_by_kind ON fact_row(kind, owner) WHERE retired_at IS NULL;

-- The nightly run that an event belongs to, so that a run can be told and undone.
ALTER TABLE event_row ADD COLUMN run_id INTEGER;
CREATE INDEX event_by_run ON event_row(run_id) WHERE run_id IS NOT NULL;

-- Who works on a row that waits for its vector, and what became of earlier attempts. A token is
-- given out once: vectors that come with an older one are not taken. `aside`: it failed too often.
CREATE TABLE embed_task (
  target   TEXT NOT NULL,
  row_id   INTEGER NOT NULL,
  token    INTEGER NOT NULL,
  until    INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  error    TEXT NOT NULL DEFAULT '',
  aside    INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (target, row_id)
) STRICT, WITHOUT ROWID;

-- Work that one process at a time may do.
CREATE TABLE lease_row (
  name   TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  token  INTEGER NOT NULL,
  until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Vectors that are gone (their facts retired), so that readers can follow.
CREATE TABLE vector_gone (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  target TEXT NOT NULL,
  row_id INTEGER NOT NULL
) STRICT;

-- Vectors of the next embedding model, until there is one for every row.
CREATE TABLE next_vector (
  target TEXT NOT NULL,
  row_id INTEGER NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (target, row_id)
) STRICT, WITHOUT ROWID;

-- Every pair of facts that was judged, once. An ambiguous one waits for a verdict.
CREATE TABLE pair_row (
  low_id     INTEGER NOT NULL REFERENCES fact_row(id),
  high_id    INTEGER NOT NULL REFERENCES fact_row(id),
  relation   TEXT NOT NULL,
  rule       TEXT NOT NULL,
  detail     TEXT NOT NULL,
  similarity REAL NOT NULL,
  judged_at  INTEGER NOT NULL,
  verdict    TEXT NOT NULL DEFAULT '',
  settled_at INTEGER,
  settled_by TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (low_id, high_id),
  CHECK (low_id < high_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pair_open ON pair_row(judged_at) WHERE relation = 'ambiguous' AND verdict = '';
CREATE INDEX pair_by_high ON pair_row(high_id);

-- How far the nightly work has come, by its name.
CREATE TABLE mark_row (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Episodes with a statement that stands alone so far: offered again with the next ones.
CREATE TABLE loose_row (
  episode_id INTEGER PRIMARY KEY REFERENCES episode_row(id)
) STRICT;

-- Consolidations, the newest last; `report` is what each changed.
CREATE TABLE run_row (
  id          INTEGER PRIMARY KEY,
  started_at  INTEGER NOT NULL,
  finished_at INTEGER,
  state       TEXT NOT NULL,
  phase       TEXT NOT NULL,
  report      TEXT NOT NULL DEFAULT '{}'
) STRICT;

-- What waits for a person: learned predicates now, more kinds later.
CREATE TABLE proposal_row (
  id         INTEGER PRIMARY KEY,
  claim      BLOB NOT NULL UNIQUE,
  kind       TEXT NOT NULL,
  title      TEXT NOT NULL,
  payload    TEXT NOT NULL,
  proposed_at INTEGER NOT NULL,
  state      TEXT NOT NULL DEFAULT 'open',
  decided_at INTEGER,
  decided_by TEXT NOT NULL DEFAULT '',
  reason     TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX proposal_open ON proposal_row(kind) WHERE state = 'open';

-- What was put before a model or a person: never evidence, and the measure of usefulness.
CREATE TABLE injection_row (
  id      INTEGER PRIMARY KEY,
  at      INTEGER NOT NULL,
  owner   TEXT NOT NULL,
  session TEXT NOT NULL,
  mode    TEXT NOT NULL,
  items   TEXT NOT NULL,
  used    TEXT NOT NULL DEFAULT '[]',
  judged_at INTEGER,
  resolved  INTEGER
) STRICT;
CREATE INDEX injection_by_session ON injection_row(session, at);

-- Counters by day, for the figures of the seed.
CREATE TABLE count_row (
  day   TEXT NOT NULL,
  name  TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (day, name)
) STRICT, WITHOUT ROWID;
