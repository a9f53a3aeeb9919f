-- What a site knows of its content beside the catalog, and what no restore takes back (rules D42.8 and D44.1).

-- The greatest sequence that each channel had here, with the bundle that had it.
CREATE TABLE content_sequences (
  channel TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL CHECK (sequence >= 1),
  -- SHA-256 over its manifest.json.
  bundle TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- SQLite takes the bundle from the row that has the maximum.
INSERT INTO content_sequences (channel, sequence, bundle)
SELECT channel, max(sequence), bundle FROM content_bundles WHERE state <> 'begun' GROUP BY channel;

-- SHA-256 of every source and archive that the inbox held.
CREATE TABLE inbox_contents (
  sha256 TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- SHA-256 of every source that came with the package: a bundle replaces them.
CREATE TABLE shipped_sources (
  sha256 TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
