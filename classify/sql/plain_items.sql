-- Items of plain pairs (V32): their operation may move to confirmed, unless it is in
-- a final state already; where the guard refuses it, a person has to look.
CREATE OR REPLACE VIEW plain_items AS
SELECT item_id, case_id, CAST(queue AS item_queue) AS queue, o_rid, CAST(NULL AS BIGINT) AS r_rid,
  CAST(NULL AS BIGINT) AS set_id, CAST(NULL AS VARCHAR) AS keep_remote_id, CAST('correct' AS verdict_class) AS class,
  CAST('equal' AS verdict_reason) AS reason, CAST(NULL AS VARCHAR) AS fields,
  CAST(failed AS BIGINT) AS refused_bits, CASE WHEN failed <> 0 THEN /*$refused*/ END AS refused, rule, rule_no,
  CAST(NULL AS BIGINT) AS next_attempt_us, CAST(NULL AS BIGINT) AS expiry_us, CAST(NULL AS VARCHAR) AS release, CAST(NULL AS VARCHAR) AS closing_reason,
  CAST(NULL AS BIGINT) AS approvals,
  CASE WHEN queue = 'review' THEN due_us END AS due_us, CAST(NULL AS BIGINT) AS candidates, observe_only, false AS deferred,
  currency, value, since_us, operation_id, idempotency_key, type, entity, version, amount, state, attempts, owner,
  /*$because*/ AS because,
  /*$next_state*/ AS next_state,
  CAST('None: only the local state moves.' AS item_risk) AS risk
FROM (/*$judged*/)
