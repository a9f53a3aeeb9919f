-- The full-text index merges its parts when eight of one size are there, not four: half the merging during a large
-- import, and questions take no longer (measured).
INSERT INTO rule_search (rule_search, rank) VALUES ('automerge', 8);
