-- Each write to a list, a collection or its entries raises its revision, which `If-Match` names (rule D36.4).
ALTER TABLE bundles ADD COLUMN revision INTEGER NOT NULL DEFAULT 1 CHECK (revision >= 1);
