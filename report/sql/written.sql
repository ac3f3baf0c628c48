-- The verdicts of one narrow file: how many rows have which. Out: one row each.
SELECT coalesce(CAST(class AS VARCHAR), ''), coalesce(CAST(reason AS VARCHAR), ''), coalesce(CAST(pass AS VARCHAR), ''),
       coalesce(CAST(once AS VARCHAR), ''), in_period, count(*)
FROM read_parquet(/*$file*/)
GROUP BY ALL
