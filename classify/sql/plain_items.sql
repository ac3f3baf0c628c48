-- Items of plain pairs (V32): their operation may move to confirmed, unless it is in
-- a final state already; where nothing leads there, a person has to look. Narrow,
-- since there may be very many.
INSERT INTO items BY NAME
SELECT md5(concat_ws('|', 'item', /*$job*/, 'correct', o.w1, o.w2)) AS item_id,
  md5(concat_ws('|', 'case', /*$job*/, 'operations', coalesce(/*$case_o*/, CAST(o.w1 AS VARCHAR)))) AS case_id,
  CASE WHEN legal THEN 'confirm' ELSE 'review' END AS queue, o.rid AS o_rid, /*$operation_id*/ AS operation_id, /*$idempotency_key*/ AS idempotency_key,
  /*$type*/ AS type, /*$entity_o*/ AS entity, /*$version*/ AS version, /*$amount_o*/ AS amount, /*$currency_o*/ AS currency,
  /*$state*/ AS state, CASE WHEN legal THEN 'confirmed' END AS next_state, 'correct' AS class, 'equal' AS reason,
  CASE WHEN legal THEN 0 ELSE /*$bit*/ END AS refused_bits, CASE WHEN NOT legal THEN 'state' END AS refused, /*$rule*/ AS rule,
  'None: only the local state moves.' AS risk, /*$attempts*/ AS attempts, /*$owner*/ AS owner,
  CASE WHEN NOT legal THEN /*$due*/ END AS due_us, /*$observe*/ AS observe_only, false AS deferred
FROM (SELECT o.*, coalesce(/*$legal*/, false) AS legal FROM operations o WHERE NOT coalesce(/*$final*/, false)) o
ANTI JOIN res_o x ON x.rid = o.rid
