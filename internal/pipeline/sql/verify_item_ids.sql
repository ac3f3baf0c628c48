-- Rule 5 of design §3: items that share their id with another one, of any queue, or
-- that say they belong to another run or queue. Out: number, an example.
SELECT CAST(coalesce(sum(n), 0) AS BIGINT), min(item_id) FROM (
  SELECT item_id, count(*) AS n FROM items GROUP BY item_id HAVING count(*) > 1
  UNION ALL
  SELECT item_id, 1 FROM items WHERE run_id IS DISTINCT FROM /*$run*/ OR coalesce(queue, queue_file) <> queue_file)
