-- What users keep: bundles, favorites, integration tokens, sessions. Written by the server and its commands only.

-- The catalog as users' data sees it. A STIG or control that is gone from the catalog keeps its row in `stigs` or
-- `control_keys`, so an entry that refers to it is shown with what is known of it instead of vanishing.
CREATE VIEW known_stigs AS
SELECT s.id, s.slug, s.current_release_id AS release_id, coalesce(r.title, s.title) AS title,
       coalesce(r.version, '') AS version, coalesce(r.status, '') AS status, r.status_date,
       coalesce(r.finding_count, 0) AS finding_count,
       coalesce(r.high, 0) AS high, coalesce(r.medium, 0) AS medium, coalesce(r.low, 0) AS low
  FROM stigs AS s LEFT JOIN stig_printings AS r ON r.id = s.current_release_id;

-- The version of a control that is shown is the one that GET /controls answers: the default one, and of 800-171, whose
-- revisions name different controls, also another. `in_catalog` is 0 where none of them holds it any more.
CREATE VIEW known_controls AS
SELECT k.id, k.framework, k.identifier, k.sort_key, c.control_id IS NOT NULL AS in_catalog,
       coalesce(c.title, k.title) AS title, coalesce(c.family, k.family) AS family,
       coalesce(c.statement, '') AS statement
  FROM control_keys AS k
  LEFT JOIN controls AS c ON c.control_id = k.id AND c.framework = k.framework AND c.version = (
       SELECT v.version
         FROM controls AS held
         JOIN framework_versions AS v ON v.framework = held.framework AND v.version = held.version
        WHERE held.control_id = k.id AND (v.is_default = 1 OR k.framework = 'nist-800-171')
        ORDER BY v.is_default DESC, v.is_newest DESC, v.version DESC LIMIT 1);

-- Lists and the three kinds of collections: one table, one rule of who may see what.
-- `organization_id` is that of the creator's token at creation and never changes.
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
) STRICT, WITHOUT ROWID;
CREATE INDEX bundles_by_creator ON bundles (created_by_id, kind);
CREATE INDEX bundles_by_organization ON bundles (organization_id, kind) WHERE visibility = 'SHARED';
CREATE INDEX bundles_deleted ON bundles (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE list_stigs (
  list_id TEXT NOT NULL REFERENCES bundles (id) ON DELETE CASCADE,
  stig_id INTEGER NOT NULL REFERENCES stigs (id),
  position INTEGER NOT NULL CHECK (position >= 1),
  notes TEXT NOT NULL,
  added_at TEXT NOT NULL,
  PRIMARY KEY (list_id, stig_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX list_stigs_by_position ON list_stigs (list_id, position);
CREATE INDEX list_stigs_by_stig ON list_stigs (stig_id);

CREATE TABLE collection_controls (
  collection_id TEXT NOT NULL REFERENCES bundles (id) ON DELETE CASCADE,
  control_id TEXT NOT NULL REFERENCES control_keys (id),
  position INTEGER NOT NULL CHECK (position >= 1),
  notes TEXT NOT NULL,
  added_at TEXT NOT NULL,
  PRIMARY KEY (collection_id, control_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX collection_controls_by_position ON collection_controls (collection_id, position);
CREATE INDEX collection_controls_by_control ON collection_controls (control_id);

CREATE TABLE favorite_stigs (
  subject TEXT NOT NULL,
  stig_id INTEGER NOT NULL REFERENCES stigs (id),
  added_at TEXT NOT NULL,
  PRIMARY KEY (subject, stig_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX favorite_stigs_by_stig ON favorite_stigs (stig_id);

CREATE TABLE favorite_controls (
  id TEXT PRIMARY KEY,
  subject TEXT NOT NULL,
  control_id TEXT NOT NULL REFERENCES control_keys (id),
  added_at TEXT NOT NULL,
  UNIQUE (subject, control_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX favorite_controls_by_control ON favorite_controls (control_id);

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
CREATE TABLE sessions (
  hash TEXT PRIMARY KEY,
  subject TEXT NOT NULL,
  email TEXT,
  organization TEXT,
  entitlements TEXT NOT NULL,
  created_at TEXT NOT NULL,
  used_at TEXT NOT NULL,
  ends_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_subject ON sessions (subject, created_at);

-- One row: the latest time that a deletion or a purge saw. A purge with a clock behind it does nothing.
CREATE TABLE clock (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  latest TEXT NOT NULL
) STRICT;
INSERT INTO clock VALUES (1, '1970-01-01T00:00:00.000Z');
