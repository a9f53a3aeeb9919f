-- The digest of the catalog as it is (rule D32.5), made by whoever changed it. NULL where nobody has made it since.
ALTER TABLE catalog ADD COLUMN digest TEXT;
