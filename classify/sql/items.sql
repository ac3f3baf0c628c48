-- The queue items of the residual rows, as the guard leaves them (Judge). Rows that
-- are equal in every column and carry no identity are different things all the same:
-- the second one and those after it have its number in their ids.
CREATE OR REPLACE TABLE items AS
SELECT CASE WHEN n = 1 THEN item_id ELSE md5(concat_ws('|', item_id, n)) END AS item_id,
  CASE WHEN n = 1 THEN case_id ELSE md5(concat_ws('|', case_id, n)) END AS case_id, * EXCLUDE (item_id, case_id, n)
FROM (SELECT *, row_number() OVER (PARTITION BY item_id ORDER BY o_rid, r_rid) AS n FROM (
SELECT
  -- A confirmation depends on its operation alone, so that it is the same item whether
  -- the pair was plain or not.
  CASE WHEN u.class = 'correct' THEN md5(concat_ws('|', 'item', /*$job*/, 'correct', o.w1, o.w2))
  ELSE md5(concat_ws('|', 'item', /*$job*/, u.class, u.reason, u.fields, o.w1, o.w2, r.w1, r.w2, u.candidates)) END AS item_id,
  md5(concat_ws('|', 'case', /*$job*/, CASE WHEN u.reason = 'surplus_effect' OR o.rid IS NULL THEN 'results' ELSE 'operations' END,
    CASE WHEN u.reason = 'surplus_effect' THEN coalesce(/*$case_r*/, CAST(r.w1 AS VARCHAR)) ELSE coalesce(/*$case_o*/, CAST(o.w1 AS VARCHAR), /*$case_r*/, CAST(r.w1 AS VARCHAR)) END)) AS case_id,
  u.queue, u.o_rid, u.r_rid, u.set_id,
  /*$operation_id*/ AS operation_id, /*$idempotency_key*/ AS idempotency_key, /*$remote_id*/ AS remote_id, u.keep_remote_id,
  /*$type*/ AS type, coalesce(/*$entity_o*/, /*$entity_r*/) AS entity, /*$version*/ AS version,
  coalesce(/*$amount_o*/, /*$amount_r*/) AS amount, coalesce(/*$currency_o*/, /*$currency_r*/) AS currency,
  /*$state*/ AS state,
  CASE u.queue WHEN 'confirm' THEN 'confirmed' WHEN 'requeue' THEN 'retry_scheduled' WHEN 'close' THEN 'not_applicable' WHEN 'compensate' THEN 'compensated' END AS next_state,
  /*$destination*/ AS destination,
  u.class, u.reason, u.fields, u.failed AS refused_bits, /*$refused*/ AS refused, /*$rule*/ AS rule, /*$risk*/ AS risk,
  /*$attempts*/ AS attempts,
  CASE WHEN u.queue = 'requeue' THEN q.next_us END AS next_attempt_us,
  CASE WHEN u.queue = 'requeue' THEN q.expiry_us END AS expiry_us,
  CASE WHEN u.queue IN ('requeue', 'compensate') THEN /*$approvals*/ END AS approvals,
  /*$owner*/ AS owner, /*$due*/ AS due_us, u.candidates, /*$observe*/ AS observe_only, false AS deferred
FROM (SELECT * REPLACE (CASE WHEN class = 'correct' THEN NULL ELSE r_rid END AS r_rid), CASE /*$judge*/ ELSE 'review' END AS queue FROM units) u
LEFT JOIN res_o o ON o.rid = u.o_rid
LEFT JOIN res_r r ON r.rid = u.r_rid
LEFT JOIN requeue_facts q ON q.rid = u.o_rid))
