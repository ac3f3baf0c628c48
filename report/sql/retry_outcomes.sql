-- Reads   operations, verdicts_o. Operations in the period that were attempted more
--         than once or state an error, by class and code of it: how many, their attempts,
--         and how many of them are correct. Only those are looked up among the verdicts;
--         one that is not there is plainly correct. The groups with the fewest
--         attempts are one.
WITH tried AS (
  SELECT o.rid, /*$class*/ AS error_class, /*$code*/ AS error_code, /*$attempts*/ AS attempts
  FROM operations o
  WHERE coalesce(/*$attempts*/ > 1, false) OR /*$class*/ IS NOT NULL OR /*$code*/ IS NOT NULL
), grouped AS (
  SELECT coalesce(t.error_class, '') AS error_class, coalesce(t.error_code, '') AS error_code, count(*) AS n,
         CAST(coalesce(sum(t.attempts), 0) AS BIGINT) AS attempts, count(*) FILTER (WHERE v.rid IS NULL OR v.class = 'correct') AS confirmed
  FROM tried t LEFT JOIN verdicts_o v ON v.rid = t.rid
  WHERE coalesce(v.in_period, true)
  GROUP BY 1, 2
), placed AS (
  SELECT *, row_number() OVER (ORDER BY attempts DESC, n DESC, error_class, error_code) > /*$top*/ AS rest FROM grouped
)
SELECT CASE WHEN rest THEN 'other' ELSE error_class END AS c, CASE WHEN rest THEN 'other' ELSE error_code END AS e,
       CAST(sum(n) AS BIGINT), CAST(sum(attempts) AS BIGINT), CAST(sum(confirmed) AS BIGINT)
FROM placed GROUP BY ALL ORDER BY 4 DESC, 3 DESC, c, e
