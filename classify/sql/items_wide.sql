-- All queue items with all that they show. A deferred requeue keeps the risk that it
-- has as one.
CREATE OR REPLACE VIEW items_wide AS
SELECT i.*, /*$operation_id*/ AS operation_id, /*$idempotency_key*/ AS idempotency_key, /*$type*/ AS type,
  coalesce(/*$entity_o*/, /*$entity_r*/) AS entity, /*$version*/ AS version, coalesce(/*$amount_o*/, /*$amount_r*/) AS amount,
  /*$state*/ AS state, /*$attempts*/ AS attempts, /*$owner*/ AS owner,
  CAST(CASE i.queue WHEN 'confirm' THEN 'confirmed' WHEN 'requeue' THEN 'retry_scheduled' WHEN 'close' THEN 'not_applicable' WHEN 'compensate' THEN 'compensated' END AS item_state) AS next_state,
  CAST(/*$risk*/ AS item_risk) AS risk, /*$remote_id*/ AS remote_id, /*$destination*/ AS destination
FROM residual_items i
LEFT JOIN res_o o ON o.rid = i.o_rid
LEFT JOIN res_r r ON r.rid = i.r_rid
/*$plain*/
