-- The STIG catalog and the ledger of imports. Written by importers only.

-- One row: how often the catalog changed, and when. Caches are keyed by it.
CREATE TABLE catalog (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  generation INTEGER NOT NULL,
  changed_at TEXT NOT NULL,
  -- SHA-256 over the package's data folder as it was last imported by `gapstone start`.
  shipped_data TEXT NOT NULL
) STRICT;
INSERT INTO catalog VALUES (1, 0, '1970-01-01T00:00:00.000Z', '');

-- The ledger: one run of `gapstone import`, and every source that it met.
CREATE TABLE import_runs (
  id INTEGER PRIMARY KEY,
  started_at TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  generation INTEGER NOT NULL,
  summary TEXT NOT NULL
) STRICT;

CREATE TABLE import_ledger (
  run_id INTEGER NOT NULL REFERENCES import_runs (id),
  ordinal INTEGER NOT NULL,
  source TEXT NOT NULL,
  kind TEXT NOT NULL,
  sha256 TEXT,
  outcome TEXT NOT NULL CHECK (outcome IN ('imported', 'unchanged', 'superseded', 'skipped', 'rejected')),
  reason TEXT,
  warnings TEXT NOT NULL,
  target TEXT,
  counts TEXT NOT NULL,
  ms REAL NOT NULL,
  PRIMARY KEY (run_id, ordinal)
) STRICT, WITHOUT ROWID;

-- The sources whose content is in the catalog now.
CREATE TABLE sources (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  importer_version INTEGER NOT NULL,
  source TEXT NOT NULL,
  target TEXT,
  imported_at TEXT NOT NULL
) STRICT;

-- A STIG or SRG across all its releases. The id is the first 52 bits of SHA-256 of the slug.
-- Without a current release it is gone from the catalog; the row stays for what refers to it.
CREATE TABLE stigs (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('stig', 'srg')),
  title TEXT NOT NULL,
  title_fold TEXT NOT NULL,
  current_release_id INTEGER REFERENCES stig_releases (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE INDEX stigs_by_title ON stigs (title_fold, title, slug);

-- Every benchmark id under which a STIG was published, folded (FORMATS 2.4 step 1).
CREATE TABLE stig_aliases (
  id_key TEXT PRIMARY KEY,
  stig_id INTEGER NOT NULL REFERENCES stigs (id),
  benchmark_id TEXT NOT NULL,
  decision TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX stig_aliases_by_stig ON stig_aliases (stig_id);

CREATE TABLE stig_releases (
  id INTEGER PRIMARY KEY,
  stig_id INTEGER NOT NULL REFERENCES stigs (id),
  source_id INTEGER NOT NULL UNIQUE REFERENCES sources (id) DEFERRABLE INITIALLY DEFERRED,
  id_key TEXT NOT NULL,
  benchmark_id TEXT NOT NULL,
  version TEXT NOT NULL,
  -- Sorts as FORMATS 2.1 orders releases: the greatest is the newest.
  release_order TEXT NOT NULL,
  release_info TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  status TEXT NOT NULL,
  status_date TEXT,
  benchmark_date TEXT,
  release_date TEXT,
  finding_count INTEGER NOT NULL,
  high INTEGER NOT NULL,
  medium INTEGER NOT NULL,
  low INTEGER NOT NULL,
  profile_count INTEGER NOT NULL,
  UNIQUE (stig_id, version)
) STRICT;
CREATE INDEX stig_releases_by_date ON stig_releases (release_date);
CREATE INDEX stig_releases_by_id_key ON stig_releases (id_key);

CREATE TABLE stig_profiles (
  release_id INTEGER NOT NULL REFERENCES stig_releases (id) DEFERRABLE INITIALLY DEFERRED,
  ordinal INTEGER NOT NULL,
  profile_id TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  -- JSON array of the ids of groups that the profile does not select: almost always empty.
  unselected TEXT NOT NULL,
  PRIMARY KEY (release_id, ordinal)
) STRICT, WITHOUT ROWID;

-- Short columns first: a reader of them never touches the pages that the long texts overflow to.
CREATE TABLE findings (
  id INTEGER PRIMARY KEY,
  release_id INTEGER NOT NULL REFERENCES stig_releases (id) DEFERRABLE INITIALLY DEFERRED,
  ordinal INTEGER NOT NULL,
  group_id TEXT NOT NULL,
  rule_id TEXT NOT NULL,
  rule_version TEXT NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('high', 'medium', 'low')),
  weight TEXT NOT NULL,
  ccis TEXT NOT NULL,
  legacy_ids TEXT NOT NULL,
  group_title TEXT NOT NULL,
  group_description TEXT NOT NULL,
  rule_title TEXT NOT NULL,
  fix_id TEXT NOT NULL,
  check_system TEXT NOT NULL,
  check_ref_href TEXT,
  check_ref_name TEXT,
  reference_identifier TEXT,
  documentable TEXT NOT NULL,
  responsibility TEXT NOT NULL,
  ia_controls TEXT NOT NULL,
  false_positives TEXT NOT NULL,
  false_negatives TEXT NOT NULL,
  mitigations TEXT NOT NULL,
  severity_override_guidance TEXT NOT NULL,
  potential_impacts TEXT NOT NULL,
  third_party_tools TEXT NOT NULL,
  mitigation_control TEXT NOT NULL,
  vuln_discussion TEXT NOT NULL,
  check_content TEXT NOT NULL,
  fix_text TEXT NOT NULL,
  UNIQUE (release_id, ordinal)
) STRICT;
CREATE INDEX findings_by_rule_version ON findings (rule_version, release_id);
