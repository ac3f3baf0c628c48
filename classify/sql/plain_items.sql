-- Items of plain pairs (V32): their operation may move to confirmed, unless it is in
-- a final state already; where nothing leads there, a person has to look.
CREATE OR REPLACE VIEW plain_items AS
SELECT item_id, case_id, CAST(CASE WHEN legal THEN 'confirm' ELSE 'review' END AS item_queue) AS queue, o_rid, CAST(NULL AS BIGINT) AS r_rid,
  CAST(NULL AS BIGINT) AS set_id, CAST(NULL AS VARCHAR) AS keep_remote_id, CAST('correct' AS verdict_class) AS class,
  CAST('equal' AS verdict_reason) AS reason, CAST(NULL AS VARCHAR) AS fields,
  CAST(CASE WHEN legal THEN 0 ELSE /*$bit*/ END AS BIGINT) AS refused_bits, CASE WHEN NOT legal THEN 'state' END AS refused, rule,
  CAST(NULL AS BIGINT) AS next_attempt_us, CAST(NULL AS BIGINT) AS expiry_us, CAST(NULL AS BIGINT) AS approvals,
  CASE WHEN NOT legal THEN due_us END AS due_us, CAST(NULL AS BIGINT) AS candidates, observe_only, false AS deferred,
  currency, value, since_us, operation_id, idempotency_key, type, entity, version, amount, state, attempts, owner,
  CAST(CASE WHEN legal THEN 'confirmed' END AS item_state) AS next_state,
  CAST('None: only the local state moves.' AS item_risk) AS risk
FROM plain_rows
