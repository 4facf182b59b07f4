-- With a language model: keyed facts, what the gate refused of a model's proposals, inputs that
-- wait for another try, and what the calls cost.

-- A key of an owner has one current row.
CREATE UNIQUE INDEX fact_key ON fact_row(owner, predicate)
  WHERE kind = 'keyed' AND retired_at IS NULL;
CREATE INDEX fact_key_history ON fact_row(owner, predicate) WHERE kind = 'keyed';

-- Of a refused memory: whose it is, its type, how sure the model was, what was wanted, and what the
-- validation found. `answered_at` is empty where nothing was proposed by a model.
ALTER TABLE rejection_row ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE rejection_row ADD COLUMN type TEXT NOT NULL DEFAULT '';
ALTER TABLE rejection_row ADD COLUMN confidence REAL;
ALTER TABLE rejection_row ADD COLUMN threshold REAL;
ALTER TABLE rejection_row ADD COLUMN validation TEXT NOT NULL DEFAULT '{}';
CREATE INDEX rejection_by_type ON rejection_row(type, at) WHERE type <> '';

-- Inputs of a model: done, or failed so often and so; `until` is when the next try may be.
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
