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
