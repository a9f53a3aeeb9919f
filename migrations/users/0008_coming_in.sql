-- Ways to come in beside tokens (rule D43).

-- The certificate that a session was begun with, DER in base64.
ALTER TABLE sessions ADD COLUMN certificate TEXT;

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
