-- Rejected records by input file.
-- In: rejects.parquet. Out: side, source, file, rows; ordered.
SELECT CAST(side AS VARCHAR), CAST(source AS VARCHAR), CAST(file AS VARCHAR), count(*)
FROM read_parquet(/*$file*/) GROUP BY ALL ORDER BY ALL
