-- Reads   operations, results, was_operations, was_results of one night.
-- Writes  a Parquet file with one row for each link that counts: night, type and account
--         (text), key of the operation (text), and created_us, last_us, lease_us,
--         result_us, due_us (microseconds since 1970, NULL where unknown), weekday
--         (0 Monday) of the creation in the zone of the job.
COPY (
  SELECT CAST(/*$night*/ AS VARCHAR) AS night, /*$type*/ AS type, /*$account*/ AS account, CAST(/*$key*/ AS VARCHAR) AS key,
         CAST(/*$created*/ AS BIGINT) AS created_us, CAST(/*$last*/ AS BIGINT) AS last_us, CAST(/*$lease*/ AS BIGINT) AS lease_us,
         CAST(/*$result*/ AS BIGINT) AS result_us, /*$due*/ AS due_us,
         -- 1970-01-01 was a Thursday.
         CAST((floor((/*$created*/ + /*$offset*/) / 86400000000.0) + 3) % 7 + 7 AS BIGINT) % 7 AS weekday
  FROM was_operations wo
  JOIN was_results wr ON wr.link = wo.link
  JOIN operations o ON o.rid = wo.rid
  JOIN results r ON r.rid = wr.rid
  WHERE /*$created*/ IS NOT NULL AND /*$result*/ IS NOT NULL
    AND (wo.class = 'correct' AND wr.class = 'correct'
      OR wo.class = 'not_applicable' AND wo.reason = /*$period*/ AND wr.class = 'not_applicable' AND wr.reason = /*$period*/ AND /*$status*/)
) TO /*$file*/ (FORMAT parquet)
