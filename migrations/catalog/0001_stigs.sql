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

-- A STIG or SRG across all its releases. Which these are, and its slug, follow from all printings and the overrides
-- (rule D24). The id is the first 52 bits of SHA-256 of the slug.
CREATE TABLE stigs (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('stig', 'srg')),
  title TEXT NOT NULL,
  title_fold TEXT NOT NULL,
  current_release_id INTEGER NOT NULL REFERENCES stig_printings (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE INDEX stigs_by_title ON stigs (title_fold, title, slug);

-- What else answers for a STIG: its other title slugs and its benchmark ids, in lower case. Never a slug of the catalog.
CREATE TABLE stig_aliases (
  alias TEXT PRIMARY KEY,
  stig_id INTEGER NOT NULL REFERENCES stigs (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX stig_aliases_by_stig ON stig_aliases (stig_id);

-- The operator's word: the slug that a benchmark gets (`import --slugs`).
CREATE TABLE stig_overrides (
  benchmark_id TEXT PRIMARY KEY,
  slug TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Every release as it was printed. Of two printings of one version and release whose rules are all in one of them the
-- other is kept and not served.
CREATE TABLE stig_printings (
  id INTEGER PRIMARY KEY,
  -- Null until the end of the run that brings it.
  stig_id INTEGER REFERENCES stigs (id),
  source_id INTEGER NOT NULL UNIQUE REFERENCES sources (id) DEFERRABLE INITIALLY DEFERRED,
  id_key TEXT NOT NULL,
  benchmark_id TEXT NOT NULL,
  version TEXT NOT NULL,
  -- Sorts as rule F2.1 orders releases: the greatest is the newest.
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
  -- The printing that is served instead.
  superseded_by INTEGER REFERENCES stig_printings (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE UNIQUE INDEX stig_printings_served ON stig_printings (stig_id, version) WHERE superseded_by IS NULL;
CREATE INDEX stig_printings_by_date ON stig_printings (release_date);

-- The releases that are served.
CREATE VIEW stig_releases AS
SELECT id, stig_id, source_id, id_key, benchmark_id, version, release_order, release_info, title, description, status,
       status_date, benchmark_date, release_date, finding_count, high, medium, low, profile_count
  FROM stig_printings WHERE superseded_by IS NULL;

-- What printings are compared by: sorted numbers, those that all comparisons need first (importers/stigs/evidence.ts).
CREATE TABLE stig_evidence (
  release_id INTEGER PRIMARY KEY REFERENCES stig_printings (id) DEFERRABLE INITIALLY DEFERRED,
  stig_ids BLOB NOT NULL,
  rules BLOB NOT NULL,
  numbers BLOB NOT NULL
) STRICT;

-- What releases are compared by rule by rule: identifiers, severity and hashes of texts, as JSON, so that a thousand
-- releases are compared without reading their texts (src/catalog/stigs/marks.ts).
CREATE TABLE rule_marks (
  release_id INTEGER PRIMARY KEY REFERENCES stig_printings (id) DEFERRABLE INITIALLY DEFERRED,
  marks TEXT NOT NULL
) STRICT;

-- In which printings an identifier names a rule: V-ids, SV-ids without the revision, STIG ids and legacy ones, in upper case.
CREATE TABLE rule_ids (
  id TEXT NOT NULL,
  release_id INTEGER NOT NULL REFERENCES stig_printings (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (id, release_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_ids_by_release ON rule_ids (release_id);

CREATE TABLE stig_profiles (
  release_id INTEGER NOT NULL REFERENCES stig_printings (id) DEFERRABLE INITIALLY DEFERRED,
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
  release_id INTEGER NOT NULL REFERENCES stig_printings (id) DEFERRABLE INITIALLY DEFERRED,
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
-- The rules that are made from a requirement of an SRG, which the group names.
CREATE INDEX findings_by_group_title ON findings (group_title, release_id, ordinal);
