-- Reads   operations, verdicts_o. Attempts after the first of operations in the period, by
--         cause; the causes with the fewest are one.
WITH caused AS (
  SELECT coalesce(/*$cause*/, 'not_stated') AS cause, count(*) AS n, CAST(sum(/*$attempts*/ - 1) AS BIGINT) AS retries
  FROM operations o ANTI JOIN (SELECT rid FROM verdicts_o WHERE NOT in_period) v ON v.rid = o.rid
  WHERE /*$attempts*/ > 1
  GROUP BY 1
), placed AS (
  SELECT *, row_number() OVER (ORDER BY retries DESC, cause) AS place FROM caused
)
SELECT CASE WHEN place > /*$top*/ THEN 'other' ELSE cause END AS name, CAST(sum(n) AS BIGINT), CAST(sum(retries) AS BIGINT)
FROM placed
GROUP BY name ORDER BY 3 DESC, name
