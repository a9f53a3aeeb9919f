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
