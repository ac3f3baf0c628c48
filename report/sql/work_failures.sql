-- Reads   res_o, verdicts_o. Operations in the period that are not correct or
--         not_applicable and have an error stated, by type, step and cause; the groups with the fewest are one.
WITH failed AS (
  SELECT coalesce(/*$type*/, '') AS type, coalesce(/*$step*/, '') AS step, /*$cause*/ AS cause, count(*) AS n
  FROM res_o o JOIN verdicts_o v ON v.rid = o.rid
  WHERE v.in_period AND v.class NOT IN ('correct', 'not_applicable') AND /*$cause*/ IS NOT NULL
  GROUP BY ALL
), placed AS (
  SELECT *, row_number() OVER (ORDER BY n DESC, type, step, cause) > /*$top*/ AS rest FROM failed
)
SELECT CASE WHEN rest THEN 'other' ELSE type END AS t, CASE WHEN rest THEN 'other' ELSE step END AS s,
       CASE WHEN rest THEN 'other' ELSE cause END AS c, CAST(sum(n) AS BIGINT)
FROM placed
GROUP BY t, s, c ORDER BY 4 DESC, t, s, c
