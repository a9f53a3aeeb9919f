-- Regulatory documents, occupational roles and the mapping of STIGs to roles. Written by importers; the memberships of
-- collections by `gapstone collection create`.

-- What each source states. Of O*NET and of the NICE Framework the newest release alone is kept; a document or a curated
-- row counts as the last import states it. A source of which nothing counts any more is removed.
CREATE TABLE role_releases (
  source_id INTEGER PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
  family TEXT NOT NULL CHECK (family IN ('onet', 'nice')),
  -- Sorts as releases do: the greatest is the newest.
  release_order TEXT NOT NULL,
  label TEXT NOT NULL
) STRICT;

CREATE TABLE occupation_facts (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  occupation_code TEXT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (source_id, occupation_code)
) STRICT, WITHOUT ROWID;

CREATE TABLE work_role_facts (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  work_role_id TEXT NOT NULL,
  name TEXT NOT NULL,
  category_code TEXT NOT NULL,
  category_name TEXT NOT NULL,
  PRIMARY KEY (source_id, work_role_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE curated_mapping_facts (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  stig_slug TEXT NOT NULL,
  occupation_code TEXT NOT NULL,
  confidence_score REAL NOT NULL,
  responsibility_level TEXT NOT NULL,
  work_role_id TEXT,
  reason TEXT NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (source_id, stig_slug, occupation_code)
) STRICT, WITHOUT ROWID;

CREATE TABLE document_facts (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  document_id TEXT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (source_id, document_id)
) STRICT, WITHOUT ROWID;

-- Every occupation and every document that ever was in the catalog, as it was last known: what collections refer to.
-- The summary is the JSON text that lists answer, but for the number of STIG mappings.
CREATE TABLE occupation_keys (
  occupation_code TEXT PRIMARY KEY,
  summary_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE document_keys (
  document_id TEXT PRIMARY KEY,
  summary_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Derived: the occupations of the newest release.
CREATE TABLE occupations (
  occupation_code TEXT PRIMARY KEY REFERENCES occupation_keys (occupation_code),
  title TEXT NOT NULL,
  title_fold TEXT NOT NULL,
  family_fold TEXT NOT NULL,
  job_zone INTEGER,
  -- What the full record has beyond the summary and the STIG mappings: JSON.
  details_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX occupations_by_family ON occupations (family_fold, occupation_code);

-- Derived: the NICE work roles of the newest release.
CREATE TABLE work_roles (
  work_role_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  category_code TEXT NOT NULL,
  category_name TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Derived: who has to act on a STIG. Ids are dense, by slug, then rank.
CREATE TABLE role_mappings (
  id INTEGER PRIMARY KEY,
  stig_id INTEGER NOT NULL REFERENCES stigs (id),
  relevance_rank INTEGER NOT NULL,
  occupation_code TEXT NOT NULL REFERENCES occupations (occupation_code),
  confidence_score REAL NOT NULL,
  responsibility_level TEXT NOT NULL,
  mapping_source TEXT NOT NULL CHECK (mapping_source IN ('automated', 'curated')),
  mapping_reason TEXT NOT NULL,
  work_role_id TEXT REFERENCES work_roles (work_role_id),
  -- The version of the rule that made the set.
  rule TEXT NOT NULL,
  UNIQUE (stig_id, relevance_rank)
) STRICT;
CREATE INDEX role_mappings_by_occupation ON role_mappings (occupation_code, relevance_rank);

-- Derived: the documents.
CREATE TABLE documents (
  document_id TEXT PRIMARY KEY REFERENCES document_keys (document_id),
  title TEXT NOT NULL,
  title_fold TEXT NOT NULL,
  publisher_fold TEXT NOT NULL,
  publisher_id_fold TEXT NOT NULL,
  doctype_fold TEXT NOT NULL,
  -- The full record as it is answered: JSON text.
  record_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX documents_by_title ON documents (title_fold, title, document_id);

-- What collections hold.
CREATE TABLE collection_documents (
  collection_id TEXT NOT NULL REFERENCES bundles (id) ON DELETE CASCADE,
  document_id TEXT NOT NULL REFERENCES document_keys (document_id),
  position INTEGER NOT NULL CHECK (position >= 1),
  added_at TEXT NOT NULL,
  PRIMARY KEY (collection_id, document_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX collection_documents_by_document ON collection_documents (document_id);

CREATE TABLE collection_roles (
  collection_id TEXT NOT NULL REFERENCES bundles (id) ON DELETE CASCADE,
  occupation_code TEXT NOT NULL REFERENCES occupation_keys (occupation_code),
  position INTEGER NOT NULL CHECK (position >= 1),
  added_at TEXT NOT NULL,
  PRIMARY KEY (collection_id, occupation_code)
) STRICT, WITHOUT ROWID;
CREATE INDEX collection_roles_by_occupation ON collection_roles (occupation_code);
