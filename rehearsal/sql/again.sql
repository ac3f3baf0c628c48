-- Reads   former, operations, was_operations.
-- Writes  again: the operations of this night that are former absences, by any key:
--         night, f_rid, attempts, last_us, link.
CREATE OR REPLACE TABLE again AS
SELECT s.night, s.f_rid, /*$attempts*/ AS attempts, /*$last*/ AS last_us, w.link
FROM (
/*$same*/
) s
JOIN operations o ON o.rid = s.rid
LEFT JOIN was_operations w ON w.rid = s.rid
