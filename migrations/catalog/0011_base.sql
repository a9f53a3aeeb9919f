-- The catalog: what importers store, and what they derive from it. Written by importers only.
--
-- The check of the schema compares these texts with those in a file (rule D34.3), so a comma that an ALTER TABLE of an
-- earlier version left stays where it is.

-- One row: how often the catalog changed, and when. `digest` is that of the catalog as it is (rule D32.5), made by whoever
-- changed it; NULL where nobody has made it since.
CREATE TABLE catalog (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  generation INTEGER NOT NULL,
  changed_at TEXT NOT NULL,
  -- SHA-256 over the package's data folder as it was last imported by `gapstone start`.
  shipped_data TEXT NOT NULL
, digest TEXT) STRICT;
INSERT INTO catalog VALUES (1, 0, '1970-01-01T00:00:00.000Z', '', NULL);

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

-- What printings are compared by first: sorted hashes of STIG ids, numbers of rules (importers/stigs/printings.ts).
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

-- Control catalogs and the crosswalk. Written by importers only.

-- What each source states. Several sources may speak of one version of a framework; what is served is derived
-- from all of them, so the order in which they were imported never matters.
CREATE TABLE control_facts (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  framework TEXT NOT NULL,
  version TEXT NOT NULL,
  edition TEXT NOT NULL,
  identifier TEXT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (source_id, framework, version, identifier)
) STRICT;

CREATE TABLE baseline_facts (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  framework TEXT NOT NULL,
  version TEXT NOT NULL,
  edition TEXT NOT NULL,
  baseline TEXT NOT NULL,
  title TEXT NOT NULL,
  identifier TEXT NOT NULL,
  PRIMARY KEY (source_id, baseline, identifier)
) STRICT, WITHOUT ROWID;

CREATE TABLE mapping_facts (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  edition TEXT NOT NULL,
  from_framework TEXT NOT NULL,
  from_version TEXT NOT NULL,
  from_identifier TEXT NOT NULL,
  to_framework TEXT NOT NULL,
  to_version TEXT NOT NULL,
  to_identifier TEXT NOT NULL,
  reference TEXT NOT NULL,
  -- The row of a CSV, for messages.
  row INTEGER,
  PRIMARY KEY (source_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX mapping_facts_by_from ON mapping_facts (from_framework, from_identifier);
CREATE INDEX mapping_facts_by_to ON mapping_facts (to_framework, to_identifier);

-- Derived: every version of every framework; one of each framework is served when none is asked for. The edition is the
-- date of its newest source, "" where that states none.
CREATE TABLE framework_versions (
  framework TEXT NOT NULL,
  version TEXT NOT NULL,
  edition TEXT NOT NULL,
  is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
  is_newest INTEGER NOT NULL CHECK (is_newest IN (0, 1)),
  PRIMARY KEY (framework, version)
) STRICT, WITHOUT ROWID;

-- Derived: the baselines of each version, NIST's first, with how many active controls each has and whose word it is.
CREATE TABLE baselines (
  framework TEXT NOT NULL,
  version TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  controls INTEGER NOT NULL,
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  PRIMARY KEY (framework, version, ordinal),
  UNIQUE (framework, version, name)
) STRICT, WITHOUT ROWID;

-- Derived: every control once for all its revisions. The id is UUIDv5 of (framework, identifier).
CREATE TABLE control_keys (
  id TEXT PRIMARY KEY,
  framework TEXT NOT NULL,
  identifier TEXT NOT NULL,
  sort_key TEXT NOT NULL,
  UNIQUE (framework, identifier)
) STRICT, WITHOUT ROWID;

-- Derived: the controls as they are served.
CREATE TABLE controls (
  framework TEXT NOT NULL,
  version TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  identifier TEXT NOT NULL,
  control_id TEXT NOT NULL REFERENCES control_keys (id),
  status TEXT NOT NULL CHECK (status IN ('active', 'withdrawn')),
  title TEXT NOT NULL,
  family TEXT NOT NULL,
  -- Folded names by which the family filter finds it: JSON array.
  family_names TEXT NOT NULL,
  -- Folded words of the other filters (baselines, type, MAC levels, impact): JSON array.
  filter_words TEXT NOT NULL,
  -- Folded identifier, title and statement.
  search_text TEXT NOT NULL,
  statement TEXT NOT NULL,
  -- The control as the list answers it, and as the single record does: JSON text, sent as it is.
  list_json TEXT NOT NULL,
  record_json TEXT NOT NULL,
  -- Identifiers that a withdrawn control went into: JSON array.
  withdrawn_into TEXT NOT NULL,
  PRIMARY KEY (framework, version, ordinal),
  UNIQUE (framework, version, identifier)
) STRICT;
CREATE INDEX controls_by_control_id ON controls (control_id);

-- Every control as GET /controls answers it: of the default version, and of 800-171, whose revisions name different
-- controls, also of another.
CREATE VIEW known_controls AS
SELECT k.id, k.framework, k.identifier, k.sort_key, c.title, c.family, c.statement
  FROM control_keys AS k
  JOIN controls AS c ON c.control_id = k.id AND c.framework = k.framework AND c.version = (
       SELECT v.version
         FROM controls AS held
         JOIN framework_versions AS v ON v.framework = held.framework AND v.version = held.version
        WHERE held.control_id = k.id AND (v.is_default = 1 OR k.framework = 'nist-800-171')
        ORDER BY v.is_default DESC, v.is_newest DESC, v.version DESC LIMIT 1);

-- Derived: the graph. Node ids follow the order of DECISIONS D7.2, so that comparing ids compares nodes.
CREATE TABLE crosswalk_nodes (
  id INTEGER PRIMARY KEY,
  framework TEXT NOT NULL,
  identifier TEXT NOT NULL,
  UNIQUE (framework, identifier)
) STRICT;

CREATE TABLE crosswalk_edges (
  a INTEGER NOT NULL REFERENCES crosswalk_nodes (id),
  b INTEGER NOT NULL REFERENCES crosswalk_nodes (id),
  status TEXT NOT NULL CHECK (status IN ('auto', 'verified', 'rejected')),
  PRIMARY KEY (a, b),
  CHECK (a < b)
) STRICT, WITHOUT ROWID;

-- Derived: which facts an edge rests on.
CREATE TABLE crosswalk_evidence (
  a INTEGER NOT NULL,
  b INTEGER NOT NULL,
  source_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  PRIMARY KEY (a, b, source_id, ordinal)
) STRICT, WITHOUT ROWID;

-- Derived: the closure table (D7.3). Every simple path of up to 4 hops from a node to the first node of a framework
-- that it meets. `statuses` holds two bits an edge (0 auto, 1 verified, 2 rejected), `mask` the set of them.
CREATE TABLE crosswalk_paths (
  source INTEGER NOT NULL,
  target INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  hops INTEGER NOT NULL,
  mask INTEGER NOT NULL,
  statuses INTEGER NOT NULL,
  n1 INTEGER NOT NULL,
  n2 INTEGER,
  n3 INTEGER,
  n4 INTEGER,
  PRIMARY KEY (source, target, ordinal)
) STRICT, WITHOUT ROWID;

-- Regulatory documents, occupational roles and the mapping of STIGs to roles. Written by importers only.

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

-- Derived: the occupations of the newest release.
CREATE TABLE occupations (
  occupation_code TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  title_fold TEXT NOT NULL,
  family_fold TEXT NOT NULL,
  job_zone INTEGER,
  -- As lists answer it, but for the number of STIG mappings: JSON.
  summary_json TEXT NOT NULL,
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
  document_id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  title_fold TEXT NOT NULL,
  publisher_fold TEXT NOT NULL,
  publisher_id_fold TEXT NOT NULL,
  doctype_fold TEXT NOT NULL,
  -- The document as lists answer it, and the full record: JSON text, sent as it is.
  summary_json TEXT NOT NULL,
  record_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX documents_by_title ON documents (title_fold, title, document_id);

-- No importer fills these two tables: they are part of this schema, and of the digest.
CREATE TABLE mapping_products (
  name TEXT PRIMARY KEY,
  product TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE mapping_candidates (
  occupation_code TEXT PRIMARY KEY,
  job_zone INTEGER,
  commodities TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Whether all rows were made from the tables of this version is asked in each import.
CREATE INDEX role_mappings_by_rule ON role_mappings (rule);

-- Full-text search over the rules of current releases, and which of them cite a CCI. Derived; written by importers.

-- What is searched of a rule, and the one place that says so. `ids` are V-id, SV-id, STIG id, the SRG id of the group,
-- legacy ids and CCIs.
CREATE VIEW searchable_rules AS
SELECT id, release_id, rule_title AS title, vuln_discussion AS discussion, check_content, fix_text,
       group_id || ' ' || rule_id || ' ' || rule_version || ' ' || group_title
         || coalesce((SELECT group_concat(' ' || value, '') FROM json_each(legacy_ids)), '')
         || coalesce((SELECT group_concat(' ' || value, '') FROM json_each(ccis)), '') AS ids
  FROM findings;

-- The texts are not stored a second time. Rows are taken out by the 'delete' command with their texts, which keeps the
-- totals that relevance rests on: contentless_delete does not (SQLite 3.53), so that the rank of a rule would depend on
-- what was in the catalog before. A word is what `grep -w` takes for one, letters, digits and `_`, but that no
-- other sign of Unicode is part of it and that diacritics are ignored: so nothing that grep finds is missed.
CREATE VIRTUAL TABLE rule_search USING fts5(
  title, discussion, check_content, fix_text, ids,
  content='',
  tokenize="unicode61 remove_diacritics 2 categories 'L* Nd Nl' tokenchars '_'"
);
INSERT INTO rule_search (rule_search, rank) VALUES ('hashsize', 8388608);
-- Parts are merged when eight of one size are there, not four: half the merging during a large import, and questions take
-- no longer (measured).
INSERT INTO rule_search (rule_search, rank) VALUES ('automerge', 8);

-- The rules of the releases in the index that cite a CCI.
CREATE TABLE rule_ccis (
  cci TEXT NOT NULL,
  finding_id INTEGER NOT NULL,
  PRIMARY KEY (cci, finding_id)
) STRICT, WITHOUT ROWID;

-- Which releases are in the index: after every import those that STIGs point to as current.
CREATE TABLE searched_releases (release_id INTEGER PRIMARY KEY) STRICT;

-- Synonyms for the search (rule D35.1), and the words of its index. Written by importers only.

-- The groups of words that each source states: what stands for a word is what shares a group with it, in any source.
-- `words` is a JSON array, each word as `indexedWords` joined by blanks.
CREATE TABLE synonym_groups (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  row INTEGER NOT NULL,
  words TEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (source_id, row)
) STRICT, WITHOUT ROWID;

-- The words of the search index, and how many rules have each.
CREATE VIRTUAL TABLE rule_words USING fts5vocab(rule_search, row);

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

-- The parameters that profiles set or constrain (rule D37.1), as each source states them. Written by importers only.
-- Those of a baseline that counts are found by its source in `baselines`.
CREATE TABLE parameter_value_facts (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  baseline TEXT NOT NULL,
  parameter TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (source_id, baseline, parameter)
) STRICT, WITHOUT ROWID;
CREATE INDEX parameter_value_facts_by_parameter ON parameter_value_facts (parameter);

-- What OSCAL mapping-collections state of a pair beyond mapping_facts (rule D40.2). Written by importers only.
CREATE TABLE mapping_details (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  -- As stated, from the left end to the right one; "" where the source states none.
  relationship TEXT NOT NULL,
  -- 1 where an operator of the site that exported the pair confirmed it.
  is_verified INTEGER NOT NULL CHECK (is_verified IN (0, 1)),
  -- JSON: framework, version and id of both ends as the document names them. The ends in mapping_facts follow from them
  -- and the catalogs. NULL where the source states those ends themselves.
  stated TEXT,
  PRIMARY KEY (source_id, ordinal)
) STRICT, WITHOUT ROWID;

-- A rule is found by any of its ids, and read by its group, without the pages of the other rules of its release, which
-- hold their texts.
CREATE INDEX findings_by_ids
  ON findings (release_id, group_id, ordinal, rule_id, rule_version, severity, legacy_ids);

-- A profile that only the catalogs and profiles that it imports can resolve: what it selects and sets, as JSON
-- (ProfileRecord). Written by importers only.
CREATE TABLE profile_facts (
  source_id INTEGER NOT NULL PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
  record TEXT NOT NULL
) STRICT;

-- Derived: what these profiles and those that they import set or constrain parameters to, in the order of the profile.
CREATE TABLE profile_values (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  parameter TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (source_id, ordinal)
) STRICT, WITHOUT ROWID;

-- The title of a framework of a site's own, as its catalog states it (rule D54.1). Written by importers only.
CREATE TABLE framework_titles (
  source_id INTEGER NOT NULL PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
  framework TEXT NOT NULL,
  version TEXT NOT NULL,
  edition TEXT NOT NULL,
  title TEXT NOT NULL
) STRICT;
