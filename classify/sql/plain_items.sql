-- Items of plain pairs (V32): their operation may move to confirmed, unless it is in
-- a final state already; where nothing leads there, a person has to look. With what
-- they show, since the staged rows are read here anyway.
CREATE OR REPLACE TABLE plain_items AS
SELECT md5(concat_ws('|', 'item', /*$job*/, 'correct', o.w1, o.w2)) AS item_id,
  md5(concat_ws('|', 'case', /*$job*/, 'operations', coalesce(/*$case_o*/, CAST(o.w1 AS VARCHAR)))) AS case_id,
  CAST(CASE WHEN legal THEN 'confirm' ELSE 'review' END AS item_queue) AS queue, o.rid AS o_rid, CAST(NULL AS BIGINT) AS r_rid,
  CAST(NULL AS BIGINT) AS set_id, CAST(NULL AS VARCHAR) AS keep_remote_id, CAST('correct' AS verdict_class) AS class,
  CAST('equal' AS verdict_reason) AS reason, CAST(NULL AS VARCHAR) AS fields,
  CAST(CASE WHEN legal THEN 0 ELSE /*$bit*/ END AS BIGINT) AS refused_bits, CASE WHEN NOT legal THEN 'state' END AS refused, /*$rule*/ AS rule,
  CAST(NULL AS BIGINT) AS next_attempt_us, CAST(NULL AS BIGINT) AS expiry_us, CAST(NULL AS BIGINT) AS approvals,
  CASE WHEN NOT legal THEN /*$due*/ END AS due_us, CAST(NULL AS BIGINT) AS candidates, /*$observe*/ AS observe_only, false AS deferred,
  /*$currency_o*/ AS currency, /*$value_o*/ AS value, /*$since_o*/ AS since_us,
  /*$operation_id*/ AS operation_id, /*$idempotency_key*/ AS idempotency_key, /*$type*/ AS type, /*$entity_o*/ AS entity,
  /*$version*/ AS version, /*$amount_o*/ AS amount, /*$state*/ AS state, /*$attempts*/ AS attempts, /*$owner*/ AS owner,
  CAST(CASE WHEN legal THEN 'confirmed' END AS item_state) AS next_state,
  CAST('None: only the local state moves.' AS item_risk) AS risk
FROM (SELECT o.*, coalesce(/*$legal*/, false) AS legal FROM operations o WHERE NOT coalesce(/*$final*/, false)) o
ANTI JOIN res_o x ON x.rid = o.rid
