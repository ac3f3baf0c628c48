-- The queue items of the residual rows, as the guard leaves them (ruled). Narrow: what
-- the rows behind an item say is joined where it is shown (items_wide).
CREATE OR REPLACE TABLE residual_items AS
SELECT
  -- A confirmation depends on its operation alone, so that it is the same item whether
  -- the pair was plain or not.
  CASE WHEN u.class = 'correct' THEN md5(concat_ws('|', 'item', /*$job*/, 'correct', o.w1, o.w2))
  ELSE md5(concat_ws('|', 'item', /*$job*/, u.class, u.reason, u.fields, o.w1, o.w2, r.w1, r.w2, u.candidates/*$group_print*/)) END AS item_id,
  u.case_id, CAST(u.queue AS item_queue) AS queue, u.o_rid, u.r_rid, u.set_id, u.keep_remote_id, u.class, u.reason, u.fields,
  CAST(u.failed AS BIGINT) AS refused_bits, CASE WHEN u.failed <> 0 THEN /*$refused*/ END AS refused, /*$rule*/ AS rule, u.rule_no,
  CASE WHEN u.queue = 'requeue' THEN q.next_us END AS next_attempt_us,
  CASE WHEN u.queue = 'requeue' THEN q.expiry_us END AS expiry_us,
  CASE WHEN u.queue = 'requeue' THEN q.release END AS release,
  CASE WHEN u.queue = 'close' THEN CASE WHEN u.kind = 2 THEN 'newer_version' ELSE CAST(u.reason AS VARCHAR) END END AS closing_reason,
  CAST(CASE WHEN u.queue IN ('requeue', 'compensate', 'review') THEN /*$approvals*/ END AS BIGINT) AS approvals,
  /*$due*/ AS due_us, u.candidates, /*$observe*/ AS observe_only, false AS deferred,
  coalesce(/*$currency_o*/, /*$currency_r*/) AS currency, coalesce(/*$value_o*/, /*$value_r*/) AS value, coalesce(/*$since_o*/, /*$since_r*/) AS since_us
FROM (SELECT * REPLACE (CASE WHEN class = 'correct' THEN NULL ELSE r_rid END AS r_rid) FROM ruled WHERE queue <> 'none') u
LEFT JOIN res_o o ON o.rid = u.o_rid
LEFT JOIN res_r r ON r.rid = u.r_rid
LEFT JOIN requeue_facts q ON q.rid = u.o_rid/*$groups*/
