-- What machines can check (rule D38). Written by importers only.

-- The benchmarks of SCAP data streams, as each source states them. `rules` is a JSON array of
-- [rule id, group id, 1 where a check of it refers to OVAL else 0].
CREATE TABLE scap_facts (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  benchmark_id TEXT NOT NULL,
  name TEXT NOT NULL,
  publisher TEXT NOT NULL,
  version TEXT NOT NULL,
  date TEXT,
  scap_version TEXT NOT NULL,
  rules TEXT NOT NULL,
  PRIMARY KEY (source_id, ordinal)
) STRICT, WITHOUT ROWID;

-- Those that count, of each benchmark and publisher the newest, with the STIG that they belong to: NULL for none.
CREATE TABLE scap_contents (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  stig_id INTEGER REFERENCES stigs (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (source_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX scap_contents_by_stig ON scap_contents (stig_id);
