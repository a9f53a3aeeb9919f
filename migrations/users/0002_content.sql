-- Content that travels (rule D32): whose signatures a site takes, and what it took.

-- A key and the channel that it may sign. The same key may sign another channel under another name.
CREATE TABLE content_keys (
  name TEXT PRIMARY KEY,
  channel TEXT NOT NULL,
  -- SHA-256 over the key in SubjectPublicKeyInfo DER.
  fingerprint TEXT NOT NULL,
  -- PEM.
  public_key TEXT NOT NULL,
  added_at TEXT NOT NULL,
  UNIQUE (fingerprint, channel)
) STRICT, WITHOUT ROWID;

-- Every exchange of the catalog for that of a bundle, in order. `begun` is written before the exchange; the digest of the
-- catalog tells whether it came to be.
CREATE TABLE content_bundles (
  id INTEGER PRIMARY KEY,
  -- SHA-256 over manifest.json: the very bundle.
  bundle TEXT NOT NULL,
  channel TEXT NOT NULL,
  sequence INTEGER NOT NULL CHECK (sequence >= 1),
  -- Of the catalog afterwards.
  digest TEXT NOT NULL,
  -- The name and the fingerprint of the key, as it was trusted then.
  signed_by TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  built_at TEXT NOT NULL,
  applied_at TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('begun', 'applied', 'rolled-back'))
) STRICT;
