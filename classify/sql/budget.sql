-- V34: every requeue goes at its place in the retry budget; what would expire before it
-- is deferred to a person, who has the time for it that the policy gives.
CREATE OR REPLACE TABLE residual_items AS
SELECT i.* REPLACE (
  CASE WHEN b.late THEN CAST('review' AS item_queue) ELSE i.queue END AS queue,
  CASE WHEN b.late THEN NULL ELSE coalesce(b.turn_us, i.next_attempt_us) END AS next_attempt_us,
  CASE WHEN b.late THEN 'budget' ELSE i.refused END AS refused,
  CASE WHEN b.late THEN /*$due*/ ELSE i.due_us END AS due_us,
  coalesce(b.late, false) AS deferred)
FROM residual_items i LEFT JOIN budget_turns b ON b.item_id = i.item_id LEFT JOIN res_o o ON o.rid = i.o_rid
