-- The amounts of the rows of one side that are not plainly correct, in the period: each
-- row once, though it may stand in several links. In: exceptions.parquet. Out: currency,
-- class, reason, rows, sum; ordered.
SELECT coalesce(currency, ''), class, reason, count(*), CAST(coalesce(sum(value), 0) AS VARCHAR) FROM (
  SELECT any_value(/*$currency*/) AS currency, any_value(/*$s*/_class) AS class, any_value(/*$s*/_reason) AS reason, any_value(/*$s*/_value) AS value
  FROM exceptions WHERE /*$s*/_record IS NOT NULL AND in_period
  GROUP BY /*$s*/_source, /*$s*/_file, /*$s*/_record)
WHERE NOT (class = 'correct' AND reason = 'equal')
GROUP BY ALL ORDER BY ALL
