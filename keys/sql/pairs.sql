-- Rows whose key stands once on each side, by row id alone.
SELECT o_rid, r_rid FROM (
  SELECT count(o_rid) AS o, count(r_rid) AS r, min(o_rid) AS o_rid, min(r_rid) AS r_rid
  FROM (/*$both_sides*/) GROUP BY /*$columns*/
) WHERE o = 1 AND r = 1
