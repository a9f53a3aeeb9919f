-- A rule is found by any of its ids, and read by its group, without the pages of the other rules of its release, which
-- hold their texts.
CREATE INDEX findings_by_ids
  ON findings (release_id, group_id, ordinal, rule_id, rule_version, severity, legacy_ids);
