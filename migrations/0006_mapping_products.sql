-- What the mapping of STIGs to roles looks up, derived from the O*NET release: so that a new STIG is mapped without reading
-- the whole release again.

-- A product by its folded name: JSON with its name as O*NET spells it, its commodity and who uses it how.
CREATE TABLE mapping_products (
  name TEXT PRIMARY KEY,
  product TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The occupations that can have to act on a STIG, with the first technology skill of each commodity: JSON, code to title.
CREATE TABLE mapping_candidates (
  occupation_code TEXT PRIMARY KEY,
  job_zone INTEGER,
  commodities TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Whether all rows were made by one version of the rule is asked in each import.
CREATE INDEX role_mappings_by_rule ON role_mappings (rule);

-- The ids no longer depend on the other rows: what is there is made anew by the next import.
UPDATE role_mappings SET rule = rule || ' (ids by place)';
