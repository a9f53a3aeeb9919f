-- One row: the id of this site, which names its backups (rule D44.5), and when the last backup was made.
CREATE TABLE site (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  id TEXT NOT NULL,
  backup_at TEXT
) STRICT;
INSERT INTO site VALUES (1, lower(hex(randomblob(4))), NULL);
