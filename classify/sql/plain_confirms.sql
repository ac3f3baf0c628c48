-- Plain pairs whose operation may move to confirmed (V32): narrow, since there may be
-- very many.
INSERT INTO items BY NAME
SELECT md5(concat_ws('|', 'item', /*$job*/, 'correct', o.w1, o.w2)) AS item_id,
  md5(concat_ws('|', 'case', /*$job*/, 'operations', coalesce(/*$case_o*/, CAST(o.w1 AS VARCHAR)))) AS case_id,
  'confirm' AS queue, o.rid AS o_rid, /*$operation_id*/ AS operation_id, /*$idempotency_key*/ AS idempotency_key,
  /*$type*/ AS type, /*$entity_o*/ AS entity, /*$version*/ AS version, /*$amount_o*/ AS amount, /*$currency_o*/ AS currency,
  /*$state*/ AS state, 'confirmed' AS next_state, 'correct' AS class, 'equal' AS reason, 0 AS refused_bits, /*$rule*/ AS rule, /*$risk*/ AS risk,
  /*$attempts*/ AS attempts, /*$owner*/ AS owner, /*$observe*/ AS observe_only, false AS deferred
FROM operations o
WHERE /*$legal*/ AND o.rid NOT IN (SELECT rid FROM res_o)
