-- What became of the rows of a file in its revision: rows without their like on the other
-- side are changed where both sides have one of the key, else added or gone. Rows without a
-- key are never changed.
WITH both_files AS (
  SELECT /*$key*/ AS k, w1, w2, 1 AS f, 0 AS n FROM /*$former*/
  UNION ALL
  SELECT /*$key*/ AS k, w1, w2, 0 AS f, 1 AS n FROM /*$now*/
), alike AS (
  SELECT k, sum(f) AS f, sum(n) AS n FROM both_files GROUP BY k, w1, w2
), by_key AS (
  SELECT k, sum(f - least(f, n)) AS f, sum(n - least(f, n)) AS n FROM alike GROUP BY k
), counted AS (
  SELECT f, n, CASE WHEN k IS NULL THEN 0 ELSE least(f, n) END AS changed FROM by_key
)
SELECT CAST(coalesce(sum(n - changed), 0) AS BIGINT), CAST(coalesce(sum(f - changed), 0) AS BIGINT), CAST(coalesce(sum(changed), 0) AS BIGINT)
FROM counted
