-- Open items that are not those of the queue files, or the reverse. Out: number, an
-- example.
WITH q AS (
  SELECT case_id, CAST(queue_file AS VARCHAR) AS queue, CAST(class AS VARCHAR) AS class, CAST(reason AS VARCHAR) AS reason FROM items WHERE queue_file <> 'confirm'),
o AS (
  SELECT case_id, queue, class, reason FROM read_parquet(/*$open*/) WHERE queue IN (/*$written*/))
SELECT count(*), min(case_id) FROM ((FROM q EXCEPT ALL FROM o) UNION ALL (FROM o EXCEPT ALL FROM q))
