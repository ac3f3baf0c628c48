-- Simple pairs of which neither row shares a key with a contested one.
CREATE OR REPLACE TABLE simple_links AS
SELECT o_rid, r_rid FROM not_plain
WHERE simple AND o_rid NOT IN (SELECT rid FROM rids_o) AND r_rid NOT IN (SELECT rid FROM rids_r)
