-- Reads   requeue.parquet of the night, run_files, operations.
-- Writes  a Parquet file with one row for each item of the type: night, rid, id (operation
--         id, NULL), key0, key1, … (text, NULL): record id and identity keys, file, record,
--         verdict, attempts (NULL), observe_only, idle.
-- An item stands on its operation's row, so that nothing depends on what was redacted.
COPY (
  SELECT CAST(/*$night*/ AS INTEGER) AS night, o.rid, /*$id*/ AS id, /*$keys*/,
         f.file, q.o_record AS record, CAST(q.class AS VARCHAR) || '/' || CAST(q.reason AS VARCHAR) AS verdict,
         /*$attempts*/ AS attempts, q.observe_only, q.observe_only OR coalesce(q.deferred, false) AS idle
  FROM read_parquet(/*$queue*/) q
  JOIN run_files f ON f.side = 'operations' AND f.source = CAST(q.o_source AS VARCHAR) AND f.file = CAST(q.o_file AS VARCHAR)
  JOIN operations o ON o.rid = (f.file_no << 40) + q.o_record
  WHERE /*$of*/
) TO /*$file*/ (FORMAT parquet)
