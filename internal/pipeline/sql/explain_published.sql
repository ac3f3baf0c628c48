-- The published verdict of one record. Out: class, reason.
SELECT CAST(class AS VARCHAR), CAST(reason AS VARCHAR) FROM read_parquet(/*$file*/)
WHERE source = /*$source*/ AND file = /*$name*/ AND record = /*$record*/
