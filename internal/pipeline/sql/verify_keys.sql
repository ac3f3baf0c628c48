-- Fingerprints that are not greater than the one before them of the same key. Out: how
-- many, and one of them.
SELECT count(*), any_value(key || ' ' || CAST(fingerprint AS VARCHAR)) FROM (
  SELECT key, fingerprint, lag(fingerprint) OVER (PARTITION BY key ORDER BY file_row_number) AS before
  FROM read_parquet(/*$file*/, file_row_number = true))
WHERE before >= fingerprint OR fingerprint IS NULL
