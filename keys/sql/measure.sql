-- One row for a key: filled, unique, distinct and most of each side, then what both sides
-- have in common. union: see both_sides.sql.
SELECT CAST(coalesce(sum(o), 0) AS BIGINT), count(*) FILTER (WHERE o = 1), count(*) FILTER (WHERE o > 0), coalesce(max(o), 0),
       CAST(coalesce(sum(r), 0) AS BIGINT), count(*) FILTER (WHERE r = 1), count(*) FILTER (WHERE r > 0), coalesce(max(r), 0),
       count(*) FILTER (WHERE o > 0 AND r > 0), count(*) FILTER (WHERE o = 1 AND r = 1),
       count(*) FILTER (WHERE o = 1 AND r > 1), CAST(coalesce(sum(o) FILTER (WHERE o > 1 AND r > 0), 0) AS BIGINT)
FROM (
  SELECT count(o_rid) AS o, count(r_rid) AS r
  FROM (/*$both_sides*/) GROUP BY /*$columns*/
)
