-- What people care about (seed 003): entities, what was done about them, searches, notices.

-- A thing that its owner cares about, and what its owner did that brought it in. vector_state: 0
-- needs none, 1 waits, 2 has one.
CREATE TABLE entity_row (
  id             INTEGER PRIMARY KEY,
  owner          TEXT NOT NULL,
  name           TEXT NOT NULL,
  trigger        TEXT NOT NULL,
  episode_id     INTEGER NOT NULL REFERENCES episode_row(id),
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  retired_at     INTEGER,
  merged_into_id INTEGER REFERENCES entity_row(id),
  muted          INTEGER NOT NULL DEFAULT 0,
  vector_state   INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE UNIQUE INDEX entity_current ON entity_row(owner, name) WHERE retired_at IS NULL;
CREATE INDEX entity_waiting ON entity_row(id) WHERE vector_state = 1;
CREATE TABLE entity_alias (
  owner     TEXT NOT NULL,
  name      TEXT NOT NULL,
  entity_id INTEGER NOT NULL REFERENCES entity_row(id),
  PRIMARY KEY (owner, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_by_entity ON entity_alias(entity_id);
CREATE TABLE entity_vector (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  entity_id INTEGER NOT NULL UNIQUE REFERENCES entity_row(id),
  vector    BLOB NOT NULL
) STRICT;
CREATE INDEX fact_of_entity ON fact_row(owner, subject) WHERE kind = 'world';

-- What an owner likes or dislikes; one current row for each topic.
CREATE TABLE preference_row (
  id           INTEGER PRIMARY KEY,
  owner        TEXT NOT NULL,
  topic        TEXT NOT NULL,
  type         TEXT NOT NULL CHECK (type IN ('like', 'dislike')),
  episode_id   INTEGER NOT NULL REFERENCES episode_row(id),
  created_at   INTEGER NOT NULL,
  retired_at   INTEGER,
  vector_state INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE UNIQUE INDEX preference_current ON preference_row(owner, topic) WHERE retired_at IS NULL;
CREATE INDEX preference_waiting ON preference_row(id) WHERE vector_state = 1;
CREATE TABLE preference_vector (
  seq           INTEGER PRIMARY KEY AUTOINCREMENT,
  preference_id INTEGER NOT NULL UNIQUE REFERENCES preference_row(id),
  vector        BLOB NOT NULL
) STRICT;

-- One thing that somebody did. A message counts once for each type and thing.
CREATE TABLE engagement_row (
  id            INTEGER PRIMARY KEY,
  owner         TEXT NOT NULL,
  entity_id     INTEGER REFERENCES entity_row(id),
  preference_id INTEGER REFERENCES preference_row(id),
  type          TEXT NOT NULL,
  valence       TEXT NOT NULL CHECK (valence IN ('positive', 'negative', 'neutral')),
  strength      REAL NOT NULL CHECK (strength BETWEEN 0 AND 1),
  episode_id    INTEGER REFERENCES episode_row(id),
  at            INTEGER NOT NULL,
  CHECK (entity_id IS NOT NULL OR preference_id IS NOT NULL)
) STRICT;
CREATE INDEX engagement_by_owner ON engagement_row(owner, at);
CREATE INDEX engagement_by_entity ON engagement_row(entity_id);
CREATE INDEX engagement_by_preference ON engagement_row(preference_id);
CREATE INDEX engagement_by_type ON engagement_row(type);
CREATE INDEX engagement_by_time ON engagement_row(at);
CREATE INDEX engagement_by_episode ON engagement_row(episode_id);
CREATE UNIQUE INDEX engagement_once
  ON engagement_row(episode_id, type, coalesce(entity_id, 0), coalesce(preference_id, 0))
  WHERE episode_id IS NOT NULL;

-- What an owner asked to be learned, and the searches that it takes.
CREATE TABLE learn_prompt_row (
  id         INTEGER PRIMARY KEY,
  owner      TEXT NOT NULL,
  text       TEXT NOT NULL,
  status     TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'completed')),
  episode_id INTEGER NOT NULL REFERENCES episode_row(id),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX learn_prompt_by_owner ON learn_prompt_row(owner);
CREATE INDEX learn_prompt_by_status ON learn_prompt_row(status);
CREATE TABLE schedule_row (
  id         INTEGER PRIMARY KEY,
  owner      TEXT NOT NULL,
  topic      TEXT NOT NULL,
  every_ms   INTEGER NOT NULL CHECK (every_ms > 0),
  next_at    INTEGER NOT NULL,
  episode_id INTEGER NOT NULL REFERENCES episode_row(id),
  created_at INTEGER NOT NULL,
  retired_at INTEGER
) STRICT;
-- `claimer` is who is making a search at this moment, until `claimed_until` at most.
CREATE TABLE search_task (
  id              INTEGER PRIMARY KEY,
  owner           TEXT NOT NULL,
  query           TEXT NOT NULL,
  trigger         TEXT NOT NULL,
  learn_prompt_id INTEGER REFERENCES learn_prompt_row(id),
  entity_id       INTEGER REFERENCES entity_row(id),
  cause_id        INTEGER REFERENCES episode_row(id),
  state           TEXT NOT NULL DEFAULT 'queued',
  attempts        INTEGER NOT NULL DEFAULT 0,
  error           TEXT NOT NULL DEFAULT '',
  until           INTEGER NOT NULL DEFAULT 0,
  claimer         TEXT NOT NULL DEFAULT '',
  claimed_until   INTEGER NOT NULL DEFAULT 0,
  created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX search_task_open ON search_task(id) WHERE state IN ('queued', 'failed');
CREATE INDEX search_task_by_entity ON search_task(entity_id) WHERE entity_id IS NOT NULL;
CREATE INDEX search_task_by_cause ON search_task(cause_id);
CREATE INDEX search_task_by_prompt ON search_task(learn_prompt_id);

-- A search that was made, and what its owner did that caused it; its results are episodes. A page
-- that is found again is the same episode. `uid` is given by who made it, and says nothing of it.
-- discovered: 1 once the new things that it may bring in were looked for.
CREATE TABLE search_log_row (
  id              INTEGER PRIMARY KEY,
  uid             TEXT NOT NULL DEFAULT '',
  owner           TEXT NOT NULL,
  at              INTEGER NOT NULL,
  query           TEXT NOT NULL,
  trigger         TEXT NOT NULL DEFAULT 'user_message',
  provider        TEXT NOT NULL,
  duration_ms     INTEGER,
  discovered      INTEGER NOT NULL DEFAULT 0,
  extracted       INTEGER NOT NULL DEFAULT 0,
  learn_prompt_id INTEGER REFERENCES learn_prompt_row(id),
  entity_id       INTEGER REFERENCES entity_row(id),
  cause_id        INTEGER REFERENCES episode_row(id)
) STRICT;
CREATE INDEX search_log_by_time ON search_log_row(at);
CREATE INDEX search_log_by_query ON search_log_row(query);
CREATE INDEX search_log_by_trigger ON search_log_row(trigger);
CREATE INDEX search_log_by_prompt ON search_log_row(learn_prompt_id);
CREATE INDEX search_log_by_entity ON search_log_row(entity_id) WHERE entity_id IS NOT NULL;
CREATE INDEX search_log_waiting ON search_log_row(id) WHERE extracted = 0;
CREATE UNIQUE INDEX search_log_uid ON search_log_row(uid) WHERE uid <> '';
-- How far each result was read: `seen` are the places of the new names that a model saw in it (JSON,
-- NULL before it was asked), `failed` how often reading it failed.
CREATE TABLE search_result_row (
  search_id  INTEGER NOT NULL REFERENCES search_log_row(id),
  position   INTEGER NOT NULL,
  episode_id INTEGER NOT NULL REFERENCES episode_row(id),
  seen       TEXT,
  is_read    INTEGER NOT NULL DEFAULT 0,
  failed     INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (search_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_result_by_episode ON search_result_row(episode_id);
-- The new facts of a search that is still being read, to be told together at its end; `nearest` is
-- the greatest cosine to what was known before.
CREATE TABLE search_find (
  search_id INTEGER NOT NULL REFERENCES search_log_row(id),
  fact_id   INTEGER NOT NULL REFERENCES fact_row(id),
  nearest   REAL,
  PRIMARY KEY (search_id, fact_id)
) STRICT, WITHOUT ROWID;

-- Messages that were read for entities and engagements (seed 003's processed flag).
CREATE TABLE heard_row (
  episode_id INTEGER PRIMARY KEY REFERENCES episode_row(id)
) STRICT;

-- What is told without being asked, and how much of it went unanswered.
CREATE TABLE notice_row (
  id         INTEGER PRIMARY KEY,
  owner      TEXT NOT NULL,
  entity_id  INTEGER NOT NULL REFERENCES entity_row(id),
  kind       TEXT NOT NULL CHECK (kind IN ('discovered', 'learned')),
  trigger    TEXT NOT NULL,
  image      TEXT NOT NULL DEFAULT '',
  state      TEXT NOT NULL DEFAULT 'waiting',
  created_at INTEGER NOT NULL,
  sent_at    INTEGER,
  channels   TEXT NOT NULL DEFAULT '[]',
  reason     TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX notice_by_entity ON notice_row(entity_id);
CREATE INDEX notice_open ON notice_row(id) WHERE state IN ('waiting', 'claimed');
CREATE TABLE notice_fact (
  notice_id INTEGER NOT NULL REFERENCES notice_row(id),
  fact_id   INTEGER NOT NULL REFERENCES fact_row(id),
  PRIMARY KEY (notice_id, fact_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE notify_row (
  owner        TEXT PRIMARY KEY,
  unanswered   INTEGER NOT NULL DEFAULT 0 CHECK (unanswered >= 0),
  last_sent_at INTEGER,
  engaged_at   INTEGER,
  muted        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- The names of the seed, for plain SQL. Current rows only, as its tables hold them.
CREATE VIEW entity AS
  SELECT n.id, n.owner AS user, n.name,
         strftime('%Y-%m-%dT%H:%M:%fZ', n.created_at / 1000.0, 'unixepoch') AS created_at,
         strftime('%Y-%m-%dT%H:%M:%fZ', n.updated_at / 1000.0, 'unixepoch') AS updated_at,
         (SELECT x.vector FROM entity_vector x WHERE x.entity_id = n.id) AS embedding
  FROM entity_row n WHERE n.retired_at IS NULL;
CREATE VIEW fact AS
  SELECT f.id, n.id AS entity_id, f.object AS content,
         json_extract(e.attributes, '$.url') AS source_url,
         (SELECT min(r.search_id) FROM search_result_row r WHERE r.episode_id = e.id)
           AS source_search_log_id,
         CASE WHEN e.kind <> 'search_result' THEN e.id END AS source_message_id,
         strftime('%Y-%m-%dT%H:%M:%fZ', f.learned_at / 1000.0, 'unixepoch') AS learned_at,
         (SELECT x.vector FROM fact_vector x WHERE x.fact_id = f.id) AS embedding
  FROM fact_row f
  JOIN entity_row n ON n.owner = f.owner AND n.name = f.subject AND n.retired_at IS NULL
  JOIN episode_row e ON e.id = f.episode_id
  WHERE f.kind = 'world' AND f.retired_at IS NULL;
CREATE VIEW searchlog AS
  SELECT l.id, strftime('%Y-%m-%dT%H:%M:%fZ', l.at / 1000.0, 'unixepoch') AS timestamp, l.query,
         (SELECT group_concat(t, char(10) || char(10)) FROM (
            SELECT e.text AS t FROM search_result_row r JOIN episode_row e ON e.id = r.episode_id
            WHERE r.search_id = l.id ORDER BY r.position)) AS response,
         l.duration_ms, l.extracted, l.trigger, l.learn_prompt_id
  FROM search_log_row l;
CREATE VIEW learnprompt AS
  SELECT p.id, p.owner AS user, p.text AS prompt_text, p.status,
         (SELECT count(*) FROM search_task t
           WHERE t.learn_prompt_id = p.id AND t.state <> 'done')
           AS searches_remaining,
         strftime('%Y-%m-%dT%H:%M:%fZ', p.created_at / 1000.0, 'unixepoch') AS created_at,
         strftime('%Y-%m-%dT%H:%M:%fZ', p.updated_at / 1000.0, 'unixepoch') AS updated_at
  FROM learn_prompt_row p;
CREATE VIEW engagement AS
  SELECT g.id, g.owner AS user, g.entity_id, g.preference_id, g.type AS engagement_type, g.valence,
         g.strength, g.episode_id AS source_message_id,
         strftime('%Y-%m-%dT%H:%M:%fZ', g.at / 1000.0, 'unixepoch') AS created_at
  FROM engagement_row g;
CREATE VIEW preference AS
  SELECT p.id, p.owner AS user, p.topic, p.type,
         strftime('%Y-%m-%dT%H:%M:%fZ', p.created_at / 1000.0, 'unixepoch') AS created_at,
         (SELECT x.vector FROM preference_vector x WHERE x.preference_id = p.id) AS embedding
  FROM preference_row p WHERE p.retired_at IS NULL;
CREATE VIEW messagelog AS
  SELECT e.id, e.owner AS user, e.role, e.text AS content, e.session AS session_id,
         strftime('%Y-%m-%dT%H:%M:%fZ', e.occurred_at / 1000.0, 'unixepoch') AS timestamp,
         h.episode_id IS NOT NULL AS processed
  FROM episode_row e LEFT JOIN heard_row h ON h.episode_id = e.id
  WHERE e.kind IN ('turn', 'command');
