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
