-- The fingerprints of all keys of a run, in their order (see keysName).
COPY (
  SELECT CASE no /*$names*/ END AS key, fingerprint
  FROM (SELECT DISTINCT no, fingerprint FROM (
    /*$keys*/
  ) WHERE fingerprint IS NOT NULL)
  ORDER BY no, fingerprint
) TO /*$file*/ (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)
