-- Plain pairs whose local state leads nowhere: correct, but a person has to look.
INSERT INTO items BY NAME
SELECT md5(concat_ws('|', 'item', /*$job*/, 'correct', o.w1, o.w2)) AS item_id,
  md5(concat_ws('|', 'case', /*$job*/, 'operations', coalesce(/*$case_o*/, CAST(o.w1 AS VARCHAR)))) AS case_id,
  'review' AS queue, o.rid AS o_rid, /*$operation_id*/ AS operation_id, /*$idempotency_key*/ AS idempotency_key,
  /*$type*/ AS type, /*$entity_o*/ AS entity, /*$version*/ AS version, /*$amount_o*/ AS amount, /*$currency_o*/ AS currency,
  /*$state*/ AS state, 'correct' AS class, 'equal' AS reason, /*$bit*/ AS refused_bits, 'state' AS refused, /*$rule*/ AS rule,
  /*$attempts*/ AS attempts, /*$owner*/ AS owner, /*$due*/ AS due_us, /*$observe*/ AS observe_only, false AS deferred
FROM operations o
WHERE NOT coalesce(/*$legal*/, false) AND NOT coalesce(/*$final*/, false) AND o.rid NOT IN (SELECT rid FROM res_o)
