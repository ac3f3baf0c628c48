-- How many fingerprints of each key a file holds.
SELECT key, count(*) FROM read_parquet(/*$file*/) GROUP BY key
