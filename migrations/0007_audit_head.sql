-- One row: the last line of the audit stream that was written together with a change of this database (0: none yet). A
-- stream that ends before it, or that is gone together with its head, lost lines.
CREATE TABLE audit_head (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL
) STRICT;
INSERT INTO audit_head VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');
