-- Withdrawn items that stand in the same queue, to be acted on, or that are withdrawn
-- twice. Out: number, an example.
SELECT CAST(coalesce(sum(n), 0) AS BIGINT), min(item_id) FROM (
  SELECT 1 AS n, w.item_id FROM withdrawn w JOIN items i ON i.item_id = w.item_id AND i.queue_file = w.queue WHERE NOT coalesce(i.observe_only, true)
  UNION ALL
  SELECT count(*), item_id FROM withdrawn GROUP BY item_id, queue HAVING count(*) > 1)
