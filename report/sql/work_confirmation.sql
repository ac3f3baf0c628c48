-- Reads   rows_operations, rows_results, operations, results. Time from the creation of
--         correct operations in the period to their result, by type: nearest rank, the
--         p-th percentile of n sorted values is the one at place ceil(p * n). Of many links
--         a part is measured, chosen by its fingerprint, so that it is always the same.
WITH wo AS (
  SELECT rid, link FROM rows_operations WHERE CAST(class AS VARCHAR) = 'correct' AND in_period AND link % /*$of*/ = 0
), wr AS (
  SELECT rid, link FROM rows_results WHERE CAST(class AS VARCHAR) = 'correct' AND link % /*$of*/ = 0
), timed AS (
  SELECT coalesce(/*$type*/, '') AS type, r.f_created_at - o.f_created_at AS us
  FROM wo JOIN wr ON wr.link = wo.link JOIN operations o ON o.rid = wo.rid JOIN results r ON r.rid = wr.rid
  WHERE r.f_created_at IS NOT NULL AND o.f_created_at IS NOT NULL
), placed AS (
  SELECT type, us, count(*) OVER (PARTITION BY type) AS n, row_number() OVER (PARTITION BY type ORDER BY us) AS place FROM timed
)
SELECT type, n, max(us) FILTER (WHERE place = (n * 500 + 999) // 1000), max(us) FILTER (WHERE place = (n * 950 + 999) // 1000),
       max(us) FILTER (WHERE place = (n * 990 + 999) // 1000)
FROM placed
GROUP BY type, n ORDER BY n DESC, type
