-- Rows of one narrow file by verdict.
-- In: operations.parquet or results.parquet. Out: class, reason, rows; ordered.
SELECT CAST(class AS VARCHAR), CAST(reason AS VARCHAR), count(*)
FROM read_parquet(/*$file*/)
GROUP BY ALL ORDER BY ALL
