-- The release to which an entry is pinned; NULL for the newest (rule D36.1).
ALTER TABLE list_stigs ADD COLUMN release TEXT;
