-- All queue items with all that they show. A deferred requeue keeps the risk that it
-- has as one.
CREATE OR REPLACE VIEW items_wide AS
SELECT i.*, /*$operation_id*/ AS operation_id, /*$idempotency_key*/ AS idempotency_key, coalesce(/*$type*/, CASE WHEN i.o_rid IS NULL THEN /*$type_r*/ END) AS type,
  coalesce(/*$entity_o*/, /*$entity_r*/) AS entity, /*$version*/ AS version, coalesce(/*$amount_o*/, /*$amount_r*/) AS amount,
  /*$state*/ AS state, /*$attempts*/ AS attempts, /*$owner*/ AS owner, /*$because*/ AS because,
  /*$next_state*/ AS next_state,
  CAST(/*$risk*/ AS item_risk) AS risk, /*$remote_id*/ AS remote_id, /*$destination*/ AS destination,
  CASE WHEN i.queue = 'requeue' THEN /*$idempotency_key*/ END AS recheck_key,
  CASE WHEN i.queue = 'requeue' THEN /*$recheck_since*/ END AS recheck_since_us,
  CAST(/*$recheck*/ AS item_recheck) AS recheck,
  CASE WHEN i.queue = 'compensate' THEN /*$business_operation*/ END AS business_operation,
  CASE WHEN i.queue = 'compensate' THEN /*$parameters*/ END AS parameters,
  /*$advice*/ AS advice
FROM residual_items i
LEFT JOIN res_o o ON o.rid = i.o_rid
LEFT JOIN res_r r ON r.rid = i.r_rid/*$groups*/
/*$plain*/
