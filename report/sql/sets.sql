-- Reads   verdicts_o, verdicts_r. One row for each unresolved set: its members by
--         side, its first row (operations before results), and that row's verdict.
WITH members AS (
  SELECT set_id, 0 AS side, rid, CAST(class AS VARCHAR) AS class, CAST(reason AS VARCHAR) AS reason FROM verdicts_o WHERE set_id IS NOT NULL
  UNION ALL
  SELECT set_id, 1, rid, CAST(class AS VARCHAR), CAST(reason AS VARCHAR) FROM verdicts_r WHERE set_id IS NOT NULL
)
SELECT set_id,
       min_by(class, (side, rid)) AS class, min_by(reason, (side, rid)) AS reason,
       count(*) FILTER (WHERE side = 0) AS operations, count(*) FILTER (WHERE side = 1) AS results,
       min(rid) FILTER (WHERE side = 0) AS first_o, min(rid) FILTER (WHERE side = 1) AS first_r
FROM members GROUP BY set_id
ORDER BY count(*) DESC, set_id LIMIT /*$limit*/
