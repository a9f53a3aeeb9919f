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

-- The digest covers one table more.
UPDATE catalog SET digest = NULL;
