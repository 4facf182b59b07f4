-- Erasing: what is gone for good, and what keeps it from coming back.

-- One act of erasing: what it took, never what that said. `clean`: the bytes of the file have been
-- looked through since, and nothing was left.
CREATE TABLE erasure_row (
  id         INTEGER PRIMARY KEY,
  at         INTEGER NOT NULL,
  actor      TEXT NOT NULL,
  what       TEXT NOT NULL,
  counts     TEXT NOT NULL DEFAULT '{}',
  clean      INTEGER NOT NULL DEFAULT 0,
  allowed_at INTEGER
) STRICT;

-- Rows that say nothing any more. They stay, so that every pointer holds and no number is given out
-- twice.
CREATE TABLE erased_row (
  target     TEXT NOT NULL,
  row_id     INTEGER NOT NULL,
  erasure_id INTEGER NOT NULL REFERENCES erasure_row(id),
  PRIMARY KEY (target, row_id)
) STRICT, WITHOUT ROWID;

-- What must not come back, as digests with a key that is this file's own.
CREATE TABLE tombstone (
  mark       BLOB PRIMARY KEY,
  kind       TEXT NOT NULL,
  erasure_id INTEGER NOT NULL REFERENCES erasure_row(id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstone_by_erasure ON tombstone(erasure_id);

-- The history stays append-only, but for the text that an erasure takes out of it.
DROP TRIGGER event_is_never_changed;
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event_row
  WHEN (NEW.id, NEW.at, NEW.actor, NEW.trigger, NEW.op, NEW.target_kind, NEW.target_id, NEW.run_id)
    IS NOT (OLD.id, OLD.at, OLD.actor, OLD.trigger, OLD.op, OLD.target_kind, OLD.target_id,
            OLD.run_id)
    OR length(NEW.detail) > length(OLD.detail)
    OR NOT EXISTS (SELECT 1 FROM meta WHERE name = 'erasing')
  BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;

-- The views of the seeds leave out what is erased.
DROP VIEW sessions;
CREATE VIEW sessions AS
  SELECT id, session AS session_id, host, project, title, agent, uri AS source, episode_count,
         strftime('%Y-%m-%dT%H:%M:%fZ', first_at / 1000.0, 'unixepoch') AS started_at,
         strftime('%Y-%m-%dT%H:%M:%fZ', last_at / 1000.0, 'unixepoch') AS ended_at
  FROM source_row s
  WHERE NOT EXISTS (SELECT 1 FROM erased_row x WHERE x.target = 'source' AND x.row_id = s.id);
DROP VIEW semantic_memory;
CREATE VIEW semantic_memory AS
  SELECT f.id, f.statement AS text, f.kind AS category, f.status, f.confidence, f.evidence_count,
         (SELECT json_group_array(v.episode_id) FROM evidence_row v
           WHERE v.fact_id = f.id AND v.stance = 'supports') AS derived_from,
         f.merged_into_id,
         strftime('%Y-%m-%dT%H:%M:%fZ', f.retired_at / 1000.0, 'unixepoch') AS archived_at,
         strftime('%Y-%m-%dT%H:%M:%fZ', f.confidence_at / 1000.0, 'unixepoch') AS last_updated,
         (SELECT x.vector FROM fact_vector x WHERE x.fact_id = f.id) AS embedding
  FROM fact_row f WHERE f.status <> 'erased';
DROP VIEW episodic_memory;
CREATE VIEW episodic_memory AS
  SELECT e.id, e.text, e.role, e.kind, e.subject, e.session AS session_id,
         strftime('%Y-%m-%dT%H:%M:%fZ', e.occurred_at / 1000.0, 'unixepoch') AS timestamp,
         CASE e.vector_state WHEN 1 THEN 'pending_embed' ELSE 'active' END AS status,
         (SELECT x.vector FROM episode_vector x WHERE x.episode_id = e.id) AS embedding
  FROM episode_row e
  WHERE NOT EXISTS (SELECT 1 FROM erased_row x WHERE x.target = 'episode' AND x.row_id = e.id);
DROP VIEW messagelog;
CREATE VIEW messagelog AS
  SELECT e.id, e.owner AS user, e.role, e.text AS content, e.session AS session_id,
         strftime('%Y-%m-%dT%H:%M:%fZ', e.occurred_at / 1000.0, 'unixepoch') AS timestamp,
         h.episode_id IS NOT NULL AS processed
  FROM episode_row e LEFT JOIN heard_row h ON h.episode_id = e.id
  WHERE e.kind IN ('turn', 'command')
    AND NOT EXISTS (SELECT 1 FROM erased_row x WHERE x.target = 'episode' AND x.row_id = e.id);

-- What stands behind a fact must be found from it.
CREATE INDEX fact_by_winner ON fact_row(merged_into_id) WHERE merged_into_id IS NOT NULL;
CREATE INDEX fact_by_heir ON fact_row(superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX rejection_by_episode ON rejection_row(episode_id) WHERE episode_id IS NOT NULL;
