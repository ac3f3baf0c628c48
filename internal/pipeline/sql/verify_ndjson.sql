-- Items of a queue that its two files tell differently; objects and lists are compared
-- as the JSON that they are. Out: number, an example.
WITH p AS (SELECT nullif(CAST(to_json(COLUMNS('(.*)')) AS VARCHAR), 'null') AS "\1" FROM read_parquet(/*$parquet*/)),
j AS (
  SELECT nullif(CAST(COLUMNS('(.*)') AS VARCHAR), 'null') AS "\1"
  FROM read_json(/*$ndjson*/, format = 'newline_delimited', maximum_object_size = 134217728, columns = {/*$columns*/}))
SELECT count(*), min(item_id) FROM ((FROM p EXCEPT ALL FROM j) UNION ALL (FROM j EXCEPT ALL FROM p))
