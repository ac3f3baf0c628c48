-- The plain pairs whose operation may need an item (V32), with what the item shows, since
-- the staged rows are read here anyway: only what differs from row to row.
CREATE OR REPLACE TABLE plain_rows AS
SELECT md5(concat_ws('|', 'item', /*$job*/, 'correct', o.w1, o.w2)) AS item_id,
  md5(concat_ws('|', 'case', /*$job*/, 'operations', coalesce(/*$case_o*/, CAST(o.w1 AS VARCHAR)))) AS case_id,
  o.rid AS o_rid, CAST(/*$confirm_failed*/ AS INTEGER) AS allowed_failed, /*$rule_no*/ AS rule_no, /*$rule*/ AS rule, /*$due*/ AS due_us, /*$observe*/ AS observe_only,
  /*$currency_o*/ AS currency, /*$value_o*/ AS value, /*$since_o*/ AS since_us,
  /*$operation_id*/ AS operation_id, /*$idempotency_key*/ AS idempotency_key, /*$type*/ AS type, /*$entity_o*/ AS entity,
  /*$version*/ AS version, /*$amount_o*/ AS amount, /*$state*/ AS state, /*$attempts*/ AS attempts, /*$owner*/ AS owner
FROM (SELECT * FROM operations o WHERE NOT coalesce(/*$final*/, false)) o
ANTI JOIN res_o x ON x.rid = o.rid/*$results*/
