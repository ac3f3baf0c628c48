-- Reads   times. Nearest rank: the p-th percentile of n sorted values is the one at
--         place ceil(p * n), in whole numbers.
SELECT metric, type, account, weekday, n,
       max(us) FILTER (WHERE place = (n * 500 + 999) // 1000), max(us) FILTER (WHERE place = (n * 950 + 999) // 1000),
       max(us) FILTER (WHERE place = (n * 990 + 999) // 1000), max(us) FILTER (WHERE place = (n * 999 + 999) // 1000), max(us)
FROM (
  SELECT *, count(*) OVER same AS n, row_number() OVER (PARTITION BY metric, type, account, weekday ORDER BY us) AS place
  FROM times
  WINDOW same AS (PARTITION BY metric, type, account, weekday)
)
GROUP BY metric, type, account, weekday, n
ORDER BY type, account, weekday, metric
