-- The pages no longer put back what was removed last.
DROP TABLE removals;
