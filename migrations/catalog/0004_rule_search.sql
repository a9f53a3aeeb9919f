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
