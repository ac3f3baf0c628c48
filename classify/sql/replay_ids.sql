-- V30 sibling_effect: the name of each operation, and of the one that it replaces.
CREATE OR REPLACE TABLE replay_ids AS
SELECT s.rid, coalesce('i' || nullif(/*$id*/, ''), 'r' || s.rid) AS id, 'i' || nullif(s.f_replaces, '') AS old
FROM operations s LEFT JOIN verdicts_o d ON d.rid = s.rid
WHERE d.rid IS NULL OR d.reason NOT IN ('identical_copy', 'superseded_attempt')
