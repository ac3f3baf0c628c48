-- Reads   items_wide, report_item_more; the staged rows where the job's own columns or
--         parameters are shown. Makes the view of the queue files, ordered by id: amounts
--         and times as text, declared personal fields redacted, evidence of all rows.
--         Times, sentences and what follows from the row ids are spelled after the sort.
CREATE OR REPLACE VIEW report_items AS
SELECT /*$schema_version*/ AS schema_version, item_id, case_id, /*$run_id*/ AS run_id, queue,
       operation_id, idempotency_key, remote_id, keep_remote_id,
       CASE WHEN queue = 'compensate' THEN list_filter([remote_id, keep_remote_id], lambda x: x IS NOT NULL) END AS undo_keep,
       type, entity, version, amount, currency, destination,
       class, reason, fields, refused, rule, because, risk, advice, release, closing_reason, /*$other_actions*/ AS other_actions,
       /*$effect*/ AS effect, /*$truth*/ AS truth, /*$closes_when*/ AS closes_when, /*$effects_seen*/ AS effects_seen, /*$effect_ids*/ AS effect_remote_ids,
       expected_state, next_state, /*$next_state_final*/ AS next_state_final, attempts,
       /*$next_attempt*/ AS next_attempt_at, /*$expiry*/ AS expires_at, /*$proof_valid_until*/ AS proof_valid_until,
       recheck, recheck_key, /*$recheck_since*/ AS recheck_since,
       business_operation, parameters,
       approvals, owner, /*$due*/ AS due_at, candidates, set_id, observe_only, deferred, /*$hidden*/ AS hidden, local_ref, evidence,
       /*$o_source*/ AS o_source, /*$o_file*/ AS o_file, (o_rid & 1099511627775) AS o_record, /*$o_sha256*/ AS o_sha256,
       /*$r_source*/ AS r_source, /*$r_file*/ AS r_file, (r_rid & 1099511627775) AS r_record, /*$r_sha256*/ AS r_sha256
FROM (
  SELECT i.item_id, i.case_id, i.queue, i.o_rid, i.r_rid, i.type AS of_type,
         /*$operation_id*/ AS operation_id, /*$idempotency_key*/ AS idempotency_key,
         /*$remote_id*/ AS remote_id, /*$keep_remote_id*/ AS keep_remote_id,
         /*$type*/ AS type, /*$entity*/ AS entity, /*$version*/ AS version,
         /*$amount*/ AS amount, /*$currency*/ AS currency, /*$destination*/ AS destination,
         i.class, i.reason, i.fields, i.refused, i.rule, i.because, i.risk, i.advice, i.release, i.closing_reason,
         /*$state*/ AS expected_state, /*$next_state*/ AS next_state, i.attempts, i.next_attempt_us, i.expiry_us,
         i.recheck, /*$recheck_key*/ AS recheck_key, i.recheck_since_us, i.business_operation,
         i.approvals, i.owner, i.due_us, i.candidates, i.set_id, i.observe_only, i.deferred,
         m.effects, m.ids AS effect_ids, m.evidence, /*$local_ref*/ AS local_ref, /*$parameters*/ AS parameters
  FROM items_wide i
  LEFT JOIN report_item_more m ON m.item_id = i.item_id/*$joins*/
  ORDER BY i.item_id
)
