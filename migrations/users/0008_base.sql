-- Users' data: what users keep, what an operator decided, what the audit stream was last told. Written by the server and
-- its commands only. It refers to the catalog by the publishers' names, and keeps what was seen: what is gone from the
-- catalog is shown as gone, and is back when the catalog has it again (rule D23.2).
--
-- The check of the schema compares these texts with those in a file (rule D34.3), so a comma that an ALTER TABLE of an
-- earlier version left stays where it is.

-- Lists and the three kinds of collections: one table, one rule of who may see what.
-- `organization_id` is that of the creator's token at creation and never changes. Each write to a list, a collection or its
-- entries raises its revision, which `If-Match` names (rule D36.4).
CREATE TABLE bundles (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('list', 'control-collection', 'regdoc-collection', 'role-collection')),
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  tags TEXT NOT NULL,
  color TEXT NOT NULL,
  icon TEXT NOT NULL,
  visibility TEXT NOT NULL CHECK (visibility IN ('PRIVATE', 'SHARED')),
  created_by_id TEXT NOT NULL,
  created_by_email TEXT,
  organization_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  deleted_at TEXT
, revision INTEGER NOT NULL DEFAULT 1 CHECK (revision >= 1)) STRICT, WITHOUT ROWID;
CREATE INDEX bundles_by_creator ON bundles (created_by_id, kind);
CREATE INDEX bundles_by_organization ON bundles (organization_id, kind) WHERE visibility = 'SHARED';
CREATE INDEX bundles_deleted ON bundles (deleted_at) WHERE deleted_at IS NOT NULL;

-- A STIG is referred to by its slug and the benchmark id that its current release had; `version` is that release.
-- `release` is the one to which the entry is pinned; NULL for the newest (rule D36.1).
CREATE TABLE list_stigs (
  list_id TEXT NOT NULL REFERENCES bundles (id) ON DELETE CASCADE,
  slug TEXT NOT NULL,
  benchmark_id TEXT NOT NULL,
  title TEXT NOT NULL,
  version TEXT NOT NULL,
  position INTEGER NOT NULL CHECK (position >= 1),
  notes TEXT NOT NULL,
  added_at TEXT NOT NULL, release TEXT,
  PRIMARY KEY (list_id, slug, benchmark_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX list_stigs_by_position ON list_stigs (list_id, position);

CREATE TABLE collection_controls (
  collection_id TEXT NOT NULL REFERENCES bundles (id) ON DELETE CASCADE,
  framework TEXT NOT NULL,
  identifier TEXT NOT NULL,
  title TEXT NOT NULL,
  family TEXT NOT NULL,
  position INTEGER NOT NULL CHECK (position >= 1),
  notes TEXT NOT NULL,
  added_at TEXT NOT NULL,
  PRIMARY KEY (collection_id, framework, identifier)
) STRICT, WITHOUT ROWID;
CREATE INDEX collection_controls_by_position ON collection_controls (collection_id, position);

-- Of documents and occupations the summary is kept that lists of them answer: JSON.
CREATE TABLE collection_documents (
  collection_id TEXT NOT NULL REFERENCES bundles (id) ON DELETE CASCADE,
  document_id TEXT NOT NULL,
  summary_json TEXT NOT NULL,
  position INTEGER NOT NULL CHECK (position >= 1),
  added_at TEXT NOT NULL,
  PRIMARY KEY (collection_id, document_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE collection_roles (
  collection_id TEXT NOT NULL REFERENCES bundles (id) ON DELETE CASCADE,
  occupation_code TEXT NOT NULL,
  summary_json TEXT NOT NULL,
  position INTEGER NOT NULL CHECK (position >= 1),
  added_at TEXT NOT NULL,
  PRIMARY KEY (collection_id, occupation_code)
) STRICT, WITHOUT ROWID;

CREATE TABLE favorite_stigs (
  subject TEXT NOT NULL,
  slug TEXT NOT NULL,
  benchmark_id TEXT NOT NULL,
  title TEXT NOT NULL,
  added_at TEXT NOT NULL,
  PRIMARY KEY (subject, slug, benchmark_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE favorite_controls (
  id TEXT PRIMARY KEY,
  subject TEXT NOT NULL,
  framework TEXT NOT NULL,
  identifier TEXT NOT NULL,
  title TEXT NOT NULL,
  family TEXT NOT NULL,
  added_at TEXT NOT NULL,
  UNIQUE (subject, framework, identifier)
) STRICT, WITHOUT ROWID;

-- Only SHA-256 of a token is kept; it has 256 random bits, so the hash needs no salt.
CREATE TABLE integration_tokens (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope = 'lists:read'),
  created_at TEXT NOT NULL,
  expires_at TEXT,
  revoked_at TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE integration_token_lists (
  token_id TEXT NOT NULL REFERENCES integration_tokens (id) ON DELETE CASCADE,
  list_id TEXT NOT NULL REFERENCES bundles (id) ON DELETE CASCADE,
  PRIMARY KEY (token_id, list_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX integration_token_lists_by_list ON integration_token_lists (list_id);

-- Who a session speaks for, as the token said that it was made with. Only SHA-256 of the cookie's value is kept.
-- `certificate` is the one that it was begun with, DER in base64 (rule D43).
CREATE TABLE sessions (
  hash TEXT PRIMARY KEY,
  subject TEXT NOT NULL,
  email TEXT,
  organization TEXT,
  entitlements TEXT NOT NULL,
  created_at TEXT NOT NULL,
  used_at TEXT NOT NULL,
  ends_at TEXT NOT NULL
, certificate TEXT) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_subject ON sessions (subject, created_at);
-- Sessions that were not used for long are found without looking at the others.
CREATE INDEX sessions_by_use ON sessions (used_at);

-- One row: the latest time that a deletion or a purge saw. A purge with a clock behind it does nothing.
CREATE TABLE clock (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  latest TEXT NOT NULL
) STRICT;
INSERT INTO clock VALUES (1, '1970-01-01T00:00:00.000Z');

-- An operator's word about a pair, above every import and every bundle; the two ends in the order of the crosswalk's nodes.
CREATE TABLE mapping_decisions (
  a_framework TEXT NOT NULL,
  a_identifier TEXT NOT NULL,
  b_framework TEXT NOT NULL,
  b_identifier TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('auto', 'verified', 'rejected')),
  reason TEXT NOT NULL,
  decided_at TEXT NOT NULL,
  PRIMARY KEY (a_framework, a_identifier, b_framework, b_identifier)
) STRICT, WITHOUT ROWID;

-- One row: how often a decision was made or taken back. What the crosswalk is made of is kept in memory by it.
CREATE TABLE mapping_changes (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  changes INTEGER NOT NULL
) STRICT;
INSERT INTO mapping_changes VALUES (1, 0);

-- One row: the last line of the audit stream that was written together with a change of this database (0: none yet). A
-- stream that ends before it, or that is gone together with its head, lost lines.
CREATE TABLE audit_head (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL
) STRICT;
INSERT INTO audit_head VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');

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

-- What a site knows of its content beside the catalog, and what no restore takes back (rules D42.8 and D44.1).

-- The greatest sequence that each channel had here, with the bundle that had it.
CREATE TABLE content_sequences (
  channel TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL CHECK (sequence >= 1),
  -- SHA-256 over its manifest.json.
  bundle TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- SHA-256 of every source and archive that the inbox held.
CREATE TABLE inbox_contents (
  sha256 TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- SHA-256 of every source that came with the package: a bundle replaces them.
CREATE TABLE shipped_sources (
  sha256 TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- One row: the id of this site, which names its backups (rule D44.5), and when the last backup was made.
CREATE TABLE site (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  id TEXT NOT NULL,
  backup_at TEXT
) STRICT;
INSERT INTO site VALUES (1, lower(hex(randomblob(4))), NULL);

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

-- Ways to come in beside tokens (rule D43).

-- SHA-256 of the nonces of sign-ins at the organization's provider that were used, until nobody can use them again.
CREATE TABLE used_nonces (
  hash TEXT PRIMARY KEY,
  ends_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Tokens that users made for their scripts, with what they might do then. Only SHA-256 of a token is kept.
CREATE TABLE user_tokens (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  subject TEXT NOT NULL,
  email TEXT,
  organization TEXT,
  entitlements TEXT NOT NULL,
  certificate TEXT,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX user_tokens_by_subject ON user_tokens (subject, created_at);
