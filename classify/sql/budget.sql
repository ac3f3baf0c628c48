-- The retry budget is a rate: the earliest to expire first, so many at a time. What
-- would expire before its turn is deferred to a person (V34).
CREATE OR REPLACE TABLE residual_items AS
SELECT i.* REPLACE (
  CASE WHEN b.late THEN CAST('review' AS item_queue) ELSE i.queue END AS queue,
  CASE WHEN b.late THEN NULL ELSE coalesce(b.turn_us, i.next_attempt_us) END AS next_attempt_us,
  CASE WHEN b.late THEN 'budget' ELSE i.refused END AS refused,
  coalesce(b.late, false) AS deferred)
FROM residual_items i LEFT JOIN (
  SELECT item_id, turn_us, coalesce(turn_us >= expiry_us, false) AS late FROM (
    SELECT item_id, expiry_us,
      next_attempt_us + ((row_number() OVER (ORDER BY expiry_us NULLS LAST, item_id) - 1) // /*$rows*/) * /*$per*/ AS turn_us
    FROM residual_items WHERE queue = 'requeue')) b ON b.item_id = i.item_id
