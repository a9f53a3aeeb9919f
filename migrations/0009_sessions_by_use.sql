-- Sessions that were not used for long are found without looking at the others.
CREATE INDEX sessions_by_use ON sessions (used_at);
