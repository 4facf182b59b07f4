-- The ledger, as SCHEMA in file.py numbers it: sources, episodes, facts, evidence, events, and what
-- was refused; what facts need to grow, fade, merge and be undone; calls of a language model; what
-- people care about; what was erased.
-- Times are milliseconds since 1970-01-01 UTC; offsets are characters, end exclusive.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The last episode and fact after each write: their ids ascend, so these are what it brought.
CREATE TABLE commit_row (
  no         INTEGER PRIMARY KEY,
  episode_to INTEGER NOT NULL,
  fact_to    INTEGER NOT NULL
) STRICT;

-- The last write that may have changed what is remembered of an owner.
CREATE TABLE owner_row (
  owner  TEXT PRIMARY KEY,
  memory INTEGER NOT NULL
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

-- Where an episode was said: many share it, and it takes more room than what they do not share.
CREATE TABLE place_row (
  id      INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  project TEXT NOT NULL,
  branch  TEXT NOT NULL,
  agent   TEXT NOT NULL,
  UNIQUE (session, project, branch, agent)
) STRICT;

-- One immutable piece of a source. vector_state: 0 needs none, 1 waits, 2 has one. `asks`: it holds
-- a question. The text comes last, so that reading the other columns never touches long rows.
CREATE TABLE episode_data (
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
  place_id     INTEGER NOT NULL REFERENCES place_row(id),
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
CREATE INDEX episode_by_source ON episode_data(source_id);
CREATE INDEX episode_by_time ON episode_data(occurred_at);
CREATE INDEX episode_by_place ON episode_data(place_id);
CREATE INDEX episode_waiting ON episode_data(id) WHERE vector_state = 1;
-- All of it. LEFT: SQLite leaves the join out where no column of the place is asked for.
CREATE VIEW episode_row AS
  SELECT e.id, e.uid, e.source_id, e.owner, e.kind, e.role, e.trust, e.position, e.byte_offset,
         e.occurred_at, e.subject, e.message, p.session, p.project, p.branch, p.agent, e.tool,
         e.call_id, e.attributes, e.is_error, e.cut, e.injected, e.vector_state, e.learned_at,
         e.speaker, e.chars, e.asks, e.text
  FROM episode_data e LEFT JOIN place_row p ON p.id = e.place_id;

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
  episode_id     INTEGER NOT NULL REFERENCES episode_data(id),
  occurred_at    INTEGER,
  learned_at     INTEGER NOT NULL,
  retired_at     INTEGER,
  valid_from     INTEGER,
  valid_to       INTEGER,
  merged_into_id INTEGER REFERENCES fact_row(id),
  superseded_by  INTEGER REFERENCES fact_row(id),
  embeddable     INTEGER NOT NULL,
  pinned         INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX fact_current ON fact_row(claim) WHERE retired_at IS NULL;
CREATE INDEX fact_by_predicate ON fact_row(predicate, occurred_at);
-- By its end: most are numbers of 36 characters behind a word that they share.
CREATE INDEX fact_by_subject ON fact_row(substr(subject, -12));
CREATE INDEX fact_waiting ON fact_row(id) WHERE status = 'pending_embed';
CREATE INDEX fact_retired ON fact_row(claim) WHERE retired_at IS NOT NULL;
-- Of logs nearly all are observations: of these no index by their kind finds few.
CREATE INDEX fact_by_kind ON fact_row(kind, owner)
  WHERE retired_at IS NULL AND kind <> 'observation';
-- A key of an owner has one current row.
CREATE UNIQUE INDEX fact_key ON fact_row(owner, predicate)
  WHERE kind = 'keyed' AND retired_at IS NULL;
CREATE INDEX fact_key_history ON fact_row(owner, predicate) WHERE kind = 'keyed';
CREATE INDEX fact_of_entity ON fact_row(owner, subject) WHERE kind = 'world';
-- What stands behind a fact must be found from it.
CREATE INDEX fact_by_winner ON fact_row(merged_into_id) WHERE merged_into_id IS NOT NULL;
CREATE INDEX fact_by_heir ON fact_row(superseded_by) WHERE superseded_by IS NOT NULL;

-- An episode counts once for a fact. `derived_from` of a fact is its episode ids here. Its quote is the
-- first `quote_chars` characters of its span of the episode: said twice, it would take as much again.
CREATE TABLE evidence_row (
  fact_id    INTEGER NOT NULL REFERENCES fact_row(id),
  episode_id INTEGER NOT NULL REFERENCES episode_data(id),
  rule_id    INTEGER NOT NULL REFERENCES rule_row(id),
  stance     TEXT NOT NULL,
  start_char INTEGER NOT NULL,
  end_char   INTEGER NOT NULL,
  quote_chars INTEGER NOT NULL,
  learned_at INTEGER NOT NULL,
  PRIMARY KEY (fact_id, episode_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_by_episode ON evidence_row(episode_id);

-- What could not be read or was not let in, once each (`claim` is a digest of what and where). Of a
-- refused memory: whose it is, its type, how sure the model was, what was wanted, and what the
-- validation found.
CREATE TABLE rejection_row (
  id          INTEGER PRIMARY KEY,
  claim       BLOB NOT NULL UNIQUE,
  at          INTEGER NOT NULL,
  source_id   INTEGER NOT NULL REFERENCES source_row(id),
  episode_id  INTEGER REFERENCES episode_data(id),
  position    INTEGER NOT NULL,
  byte_offset INTEGER NOT NULL,
  reason      TEXT NOT NULL,
  detail      TEXT NOT NULL,
  excerpt     TEXT NOT NULL,
  rule        TEXT NOT NULL,
  predicate   TEXT NOT NULL,
  owner       TEXT NOT NULL DEFAULT '',
  type        TEXT NOT NULL DEFAULT '',
  confidence  REAL,
  threshold   REAL,
  validation  TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX rejection_by_reason ON rejection_row(reason);
CREATE INDEX rejection_by_type ON rejection_row(type, at) WHERE type <> '';
CREATE INDEX rejection_by_episode ON rejection_row(episode_id) WHERE episode_id IS NOT NULL;

-- The append-only history. `run_id` is the nightly run that an event belongs to, so that a run can
-- be told and undone.
CREATE TABLE event_row (
  id          INTEGER PRIMARY KEY,
  at          INTEGER NOT NULL,
  actor       TEXT NOT NULL,
  trigger     TEXT NOT NULL,
  op          TEXT NOT NULL,
  target_kind TEXT NOT NULL,
  target_id   INTEGER NOT NULL,
  detail      TEXT NOT NULL DEFAULT '{}',
  run_id      INTEGER
) STRICT;
CREATE INDEX event_by_target ON event_row(target_kind, target_id);
CREATE INDEX event_by_run ON event_row(run_id) WHERE run_id IS NOT NULL;
-- Only an erasure takes text out of it.
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event_row
  WHEN (NEW.id, NEW.at, NEW.actor, NEW.trigger, NEW.op, NEW.target_kind, NEW.target_id, NEW.run_id)
    IS NOT (OLD.id, OLD.at, OLD.actor, OLD.trigger, OLD.op, OLD.target_kind, OLD.target_id,
            OLD.run_id)
    OR length(NEW.detail) > length(OLD.detail)
    OR NOT EXISTS (SELECT 1 FROM meta WHERE name = 'erasing')
  BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;
CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON event_row
  BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;

-- Vectors: normalised, half precision, each with the commit that it came with.
CREATE TABLE episode_vector (
  episode_id INTEGER PRIMARY KEY REFERENCES episode_data(id),
  commit_no  INTEGER NOT NULL,
  vector     BLOB NOT NULL
) STRICT;
CREATE INDEX episode_vector_by_commit ON episode_vector(commit_no);
CREATE TABLE fact_vector (
  fact_id INTEGER PRIMARY KEY REFERENCES fact_row(id),
  commit_no INTEGER NOT NULL,
  vector  BLOB NOT NULL
) STRICT;
CREATE INDEX fact_vector_by_commit ON fact_vector(commit_no);

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

-- What became of earlier attempts at a row that waits for its vector; `until` is when it may be tried
-- again. A token is given out once: vectors that come with an older one are not taken. `aside`: it
-- failed too often.
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

-- Who works on what: work that one process at a time may do, rows to embed ("embedding <token>"),
-- searches ("search <id>") and notices ("notice <id>"); "embedding" itself has the last token given.
CREATE TABLE lease_row (
  name   TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  token  INTEGER NOT NULL,
  until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Vectors that are gone (their facts retired), so that readers can follow.
CREATE TABLE vector_gone (
  target    TEXT NOT NULL,
  commit_no INTEGER NOT NULL,
  row_id    INTEGER NOT NULL,
  PRIMARY KEY (target, commit_no, row_id)
) STRICT, WITHOUT ROWID;

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

-- How far the nightly work has followed the commits, by its name.
CREATE TABLE mark_row (
  name      TEXT PRIMARY KEY,
  commit_no INTEGER NOT NULL,
  row_id    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Episodes with a statement that stands alone so far: offered again with the next ones.
CREATE TABLE loose_row (
  episode_id INTEGER PRIMARY KEY REFERENCES episode_data(id)
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

-- Inputs of a language model: done, or failed so often and so; `until` is when the next try may be.
-- Of the kind 'heard': messages that were read for entities and engagements (seed 003's processed
-- flag).
CREATE TABLE model_task (
  kind     TEXT NOT NULL,
  target   INTEGER NOT NULL,
  state    TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  error    TEXT NOT NULL,
  version  TEXT NOT NULL,
  until    INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  PRIMARY KEY (kind, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX model_task_by_state ON model_task(state);

-- What the calls of a day came to. A call that has begun counts at once, so that a budget holds
-- between processes too.
CREATE TABLE model_call (
  day           TEXT NOT NULL,
  purpose       TEXT NOT NULL,
  model         TEXT NOT NULL,
  outcome       TEXT NOT NULL,
  calls         INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  answer_tokens INTEGER NOT NULL,
  latency_ms    REAL NOT NULL,
  money         REAL NOT NULL,
  PRIMARY KEY (day, purpose, model, outcome)
) STRICT, WITHOUT ROWID;

-- A thing that its owner cares about, and what its owner did that brought it in. vector_state: 0
-- needs none, 1 waits, 2 has one.
CREATE TABLE entity_row (
  id             INTEGER PRIMARY KEY,
  owner          TEXT NOT NULL,
  name           TEXT NOT NULL,
  trigger        TEXT NOT NULL,
  episode_id     INTEGER NOT NULL REFERENCES episode_data(id),
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
  entity_id INTEGER PRIMARY KEY REFERENCES entity_row(id),
  commit_no INTEGER NOT NULL,
  vector    BLOB NOT NULL
) STRICT;
CREATE INDEX entity_vector_by_commit ON entity_vector(commit_no);

-- What an owner likes or dislikes; one current row for each topic.
CREATE TABLE preference_row (
  id           INTEGER PRIMARY KEY,
  owner        TEXT NOT NULL,
  topic        TEXT NOT NULL,
  type         TEXT NOT NULL CHECK (type IN ('like', 'dislike')),
  episode_id   INTEGER NOT NULL REFERENCES episode_data(id),
  created_at   INTEGER NOT NULL,
  retired_at   INTEGER,
  vector_state INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE UNIQUE INDEX preference_current ON preference_row(owner, topic) WHERE retired_at IS NULL;
CREATE INDEX preference_waiting ON preference_row(id) WHERE vector_state = 1;
CREATE TABLE preference_vector (
  preference_id INTEGER PRIMARY KEY REFERENCES preference_row(id),
  commit_no     INTEGER NOT NULL,
  vector        BLOB NOT NULL
) STRICT;
CREATE INDEX preference_vector_by_commit ON preference_vector(commit_no);

-- One thing that somebody did. A message counts once for each type and thing.
CREATE TABLE engagement_row (
  id            INTEGER PRIMARY KEY,
  owner         TEXT NOT NULL,
  entity_id     INTEGER REFERENCES entity_row(id),
  preference_id INTEGER REFERENCES preference_row(id),
  type          TEXT NOT NULL,
  valence       TEXT NOT NULL CHECK (valence IN ('positive', 'negative', 'neutral')),
  strength      REAL NOT NULL CHECK (strength BETWEEN 0 AND 1),
  episode_id    INTEGER REFERENCES episode_data(id),
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
  episode_id INTEGER NOT NULL REFERENCES episode_data(id),
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
  episode_id INTEGER NOT NULL REFERENCES episode_data(id),
  created_at INTEGER NOT NULL,
  retired_at INTEGER
) STRICT;
CREATE TABLE search_task (
  id              INTEGER PRIMARY KEY,
  owner           TEXT NOT NULL,
  query           TEXT NOT NULL,
  trigger         TEXT NOT NULL,
  learn_prompt_id INTEGER REFERENCES learn_prompt_row(id),
  entity_id       INTEGER REFERENCES entity_row(id),
  cause_id        INTEGER REFERENCES episode_data(id),
  state           TEXT NOT NULL DEFAULT 'queued',
  attempts        INTEGER NOT NULL DEFAULT 0,
  error           TEXT NOT NULL DEFAULT '',
  until           INTEGER NOT NULL DEFAULT 0,
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
  cause_id        INTEGER REFERENCES episode_data(id)
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
  episode_id INTEGER NOT NULL REFERENCES episode_data(id),
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

-- What is drawn once for a file and never leaves it.
CREATE TABLE secret_row (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What must not come back, as digests with a key that is this file's own: the secret 'erase_key'.
CREATE TABLE tombstone (
  mark       BLOB PRIMARY KEY,
  kind       TEXT NOT NULL,
  erasure_id INTEGER NOT NULL REFERENCES erasure_row(id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstone_by_erasure ON tombstone(erasure_id);

-- Secrets that were told, by digests with the key of the labels, which stands outside the file: they
-- are known again where nothing announces them.
CREATE TABLE told_row (
  digest BLOB PRIMARY KEY,
  chars  INTEGER NOT NULL,
  kind   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What the record of typed memories calls rows, where that record is in another store.
CREATE TABLE recorded_row (
  target TEXT NOT NULL,
  row_id INTEGER NOT NULL,
  key    TEXT NOT NULL,
  PRIMARY KEY (target, row_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX recorded_by_key ON recorded_row(key, target);

-- With what the texts of a source were read, and when: which redactor, which rules. A version is a
-- digest of code, never of content.
CREATE TABLE reader_row (
  source_id INTEGER NOT NULL REFERENCES source_row(id),
  part      TEXT NOT NULL,
  version   TEXT NOT NULL,
  first_at  INTEGER NOT NULL,
  last_at   INTEGER NOT NULL,
  PRIMARY KEY (source_id, part, version)
) STRICT, WITHOUT ROWID;

-- The names of the seeds, for plain SQL. They leave out what is erased; those of entities hold
-- current rows only.
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
  FROM source_row s
  WHERE NOT EXISTS (SELECT 1 FROM erased_row x WHERE x.target = 'source' AND x.row_id = s.id);
CREATE VIEW semantic_memory AS
  SELECT f.id, f.statement AS text, f.kind AS category, f.status, f.confidence, f.evidence_count,
         (SELECT json_group_array(v.episode_id) FROM evidence_row v
           WHERE v.fact_id = f.id AND v.stance = 'supports') AS derived_from,
         f.merged_into_id,
         strftime('%Y-%m-%dT%H:%M:%fZ', f.retired_at / 1000.0, 'unixepoch') AS archived_at,
         strftime('%Y-%m-%dT%H:%M:%fZ', f.confidence_at / 1000.0, 'unixepoch') AS last_updated,
         (SELECT x.vector FROM fact_vector x WHERE x.fact_id = f.id) AS embedding
  FROM fact_row f WHERE f.status <> 'erased';
CREATE VIEW episodic_memory AS
  SELECT e.id, e.text, e.role, e.kind, e.subject, e.session AS session_id,
         strftime('%Y-%m-%dT%H:%M:%fZ', e.occurred_at / 1000.0, 'unixepoch') AS timestamp,
         CASE e.vector_state WHEN 1 THEN 'pending_embed' ELSE 'active' END AS status,
         (SELECT x.vector FROM episode_vector x WHERE x.episode_id = e.id) AS embedding
  FROM episode_row e
  WHERE NOT EXISTS (SELECT 1 FROM erased_row x WHERE x.target = 'episode' AND x.row_id = e.id);
CREATE VIEW memory_events AS
  SELECT id, strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS at, actor, trigger, op,
         target_kind || ':' || target_id AS target, detail
  FROM event_row;
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
         h.target IS NOT NULL AS processed
  FROM episode_row e LEFT JOIN model_task h ON h.kind = 'heard' AND h.target = e.id
  WHERE e.kind IN ('turn', 'command')
    AND NOT EXISTS (SELECT 1 FROM erased_row x WHERE x.target = 'episode' AND x.row_id = e.id);
