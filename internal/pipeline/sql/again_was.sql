-- Reads   run_files, and operations.parquet or results.parquet of a published run.
-- Writes  its verdicts by row id.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT (f.file_no << 40) + w.record AS rid, CAST(w.class AS VARCHAR) AS class, CAST(w.reason AS VARCHAR) AS reason, w.link, w.in_period
FROM read_parquet(/*$file*/) w
JOIN run_files f ON f.side = /*$side*/ AND f.source = CAST(w.source AS VARCHAR) AND f.file = CAST(w.file AS VARCHAR)
