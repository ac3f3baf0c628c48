-- The items of the superseded run that are not in the same queue of the new one, to be
-- acted on. Why: withheld (the queue is not written), observed (nobody is to act on it
-- now), replaced (the case has another item: the one in the least queue and id is named),
-- gone (it has none). Only the queues that the new run writes can replace anything.
CREATE OR REPLACE TABLE withdrawn AS
WITH former AS (
  /*$former*/
),
now AS (
  /*$now*/
),
standing AS (
  SELECT * FROM now WHERE queue NOT IN (/*$withheld*/)
),
instead AS (
  SELECT case_id, min(struct_pack(queue := queue, item_id := item_id)) AS first FROM standing GROUP BY case_id
)
SELECT f.item_id, f.case_id, f.queue, f.operation_id, f.run_id,
  CASE WHEN n.item_id IS NOT NULL AND n.queue IN (/*$withheld*/) THEN 'withheld'
       WHEN n.item_id IS NOT NULL THEN 'observed'
       WHEN i.case_id IS NOT NULL THEN 'replaced'
       ELSE 'gone' END AS why,
  CASE WHEN n.item_id IS NULL THEN i.first.queue END AS now_queue,
  CASE WHEN n.item_id IS NULL THEN i.first.item_id END AS now_item_id
FROM former f
LEFT JOIN now n ON n.item_id = f.item_id AND n.queue = f.queue
LEFT JOIN instead i ON i.case_id = f.case_id
WHERE n.item_id IS NULL OR (n.observe_only AND NOT f.observe_only) OR n.queue IN (/*$withheld*/)
