-- Items of a queue that its two files tell differently. Out: number, an example.
WITH p AS (SELECT CAST(COLUMNS(*) AS VARCHAR) FROM read_parquet(/*$parquet*/)),
j AS (SELECT /*$names*/ FROM read_json(/*$ndjson*/, format = 'newline_delimited', maximum_object_size = 134217728, columns = {/*$columns*/}))
SELECT count(*), min(item_id) FROM ((FROM p EXCEPT ALL FROM j) UNION ALL (FROM j EXCEPT ALL FROM p))
