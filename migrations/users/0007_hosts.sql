-- The hosts of a list (rule D36.6): the whole table, as it was checked when it was written.
CREATE TABLE list_hosts (
  list_id TEXT PRIMARY KEY REFERENCES bundles (id) ON DELETE CASCADE,
  hosts_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a person has seen of a list (rule D36.7): when, and the newest release of each STIG then, by slug.
CREATE TABLE list_seen (
  list_id TEXT NOT NULL REFERENCES bundles (id) ON DELETE CASCADE,
  subject TEXT NOT NULL,
  seen_at TEXT NOT NULL,
  versions_json TEXT NOT NULL,
  PRIMARY KEY (list_id, subject)
) STRICT, WITHOUT ROWID;

-- What a person removed last, on a page: whole rows, to be put back at once.
CREATE TABLE removals (
  subject TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  label TEXT NOT NULL,
  kind TEXT NOT NULL,
  of_collection TEXT,
  revision INTEGER,
  rows_json TEXT NOT NULL,
  removed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
