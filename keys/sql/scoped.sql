-- Rows that share their value with other rows of their side, and with none in their scope.
SELECT CAST(coalesce(sum(n) FILTER (WHERE most = 1), 0) AS BIGINT) FROM (
  SELECT sum(n) AS n, max(n) AS most
  FROM (SELECT /*$k*/ AS k, /*$scope*/ AS scope, count(*) AS n FROM /*$side*/ WHERE /*$k*/ IS NOT NULL GROUP BY ALL)
  GROUP BY k HAVING count(*) > 1
)
