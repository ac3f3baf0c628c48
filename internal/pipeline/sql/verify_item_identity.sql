-- Items that name another operation or result than the row that they show: compared with
-- the wide row of exceptions.parquet. Out: number, an example.
SELECT count(DISTINCT i.item_id), min(i.item_id)
FROM items i
JOIN exceptions e ON e./*$side*/_source = i./*$side*/_source AND e./*$side*/_file = i./*$side*/_file AND e./*$side*/_record = i./*$side*/_record
WHERE i.queue_file <> 'confirm' AND i./*$item*/ IS DISTINCT FROM e./*$column*/
