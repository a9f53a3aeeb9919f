-- The texts by which releases sort, by the name that rule F2.1 has for them.
ALTER TABLE stig_releases RENAME COLUMN newness TO release_order;
ALTER TABLE role_releases RENAME COLUMN newness TO release_order;
