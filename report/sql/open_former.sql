-- Reads   a file of open items, or the queue files of a run that wrote none.
-- Writes  report_former: the open items of the former run, and since when.
CREATE OR REPLACE TABLE report_former AS
SELECT CAST(case_id AS VARCHAR) AS case_id, CAST(no AS BIGINT) AS no, CAST(queue AS VARCHAR) AS queue, CAST(class AS VARCHAR) AS class,
  CAST(reason AS VARCHAR) AS reason, coalesce(CAST(currency AS VARCHAR), '') AS currency,
  CASE WHEN regexp_full_match(CAST(amount AS VARCHAR), '-?[0-9]+(\.[0-9]+)?') THEN CAST(amount AS VARCHAR) END AS amount,
  CAST(since AS VARCHAR) AS since, CAST(since_before AS BOOLEAN) AS since_before
FROM (/*$former*/)
