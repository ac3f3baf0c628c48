-- Reads   items_wide. Makes the view of the confirm queue, ordered by id. It may hold a
--         good part of all operations: what a conditional update of the local state
--         needs, and the evidence. To sort all columns of millions of items would cost
--         more than the verdicts of all rows.
CREATE OR REPLACE VIEW report_items_confirm AS
SELECT /*$schema_version*/ AS schema_version, item_id, case_id, /*$run_id*/ AS run_id, 'confirm' AS queue,
       operation_id, idempotency_key, remote_id, type, entity, version, amount, currency, class, reason,
       /*$closes_when*/ AS closes_when, CAST(1 AS BIGINT) AS effects_seen,
       expected_state, next_state, /*$next_state_final*/ AS next_state_final, /*$proof_valid_until*/ AS proof_valid_until,
       observe_only, /*$hidden*/ AS hidden, local_ref,
       /*$o_source*/ AS o_source, /*$o_file*/ AS o_file, (o_rid & 1099511627775) AS o_record, /*$o_sha256*/ AS o_sha256,
       /*$r_source*/ AS r_source, /*$r_file*/ AS r_file, (r_rid & 1099511627775) AS r_record, /*$r_sha256*/ AS r_sha256
FROM (
  SELECT i.item_id, i.case_id, i.queue, i.o_rid, i.r_rid, i.type AS of_type,
         /*$operation_id*/ AS operation_id, /*$idempotency_key*/ AS idempotency_key, /*$remote_id*/ AS remote_id,
         /*$type*/ AS type, /*$entity*/ AS entity, /*$version*/ AS version, /*$amount*/ AS amount, /*$currency*/ AS currency,
         i.class, i.reason, /*$state*/ AS expected_state, /*$next_state*/ AS next_state, i.observe_only, /*$local_ref*/ AS local_ref
  FROM items_wide i/*$joins*/
  WHERE i.queue = 'confirm'
  ORDER BY i.item_id
)
