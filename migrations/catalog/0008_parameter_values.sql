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
