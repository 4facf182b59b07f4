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

-- With what the sources of before were read nobody knows: that is said, and not that it is today's.
INSERT INTO reader_row
  SELECT id, 'redactor', '', learned_at, updated_at FROM source_row WHERE episode_count > 0;
