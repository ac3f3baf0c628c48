-- Rows of one narrow file by everything that is counted anywhere.
-- In: the view of operations.parquet or results.parquet. Out: in_period, class, reason,
-- pass, once, rows; ordered.
SELECT coalesce(in_period, true), coalesce(CAST(class AS VARCHAR), ''), coalesce(CAST(reason AS VARCHAR), ''),
  coalesce(CAST(pass AS VARCHAR), ''), coalesce(CAST(once AS VARCHAR), ''), count(*)
FROM /*$rows*/
GROUP BY ALL ORDER BY ALL
