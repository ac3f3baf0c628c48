-- Reads   items_wide. Makes the view of the queue files, ordered by id: amounts and times
--         as text, declared personal fields redacted, evidence of both rows. Times
--         and what follows from the row ids are spelled after the sort.
CREATE OR REPLACE VIEW report_items AS
SELECT item_id, case_id, /*$run_id*/ AS run_id, queue,
       operation_id, idempotency_key, remote_id, keep_remote_id, type, entity, version, amount, currency, destination,
       class, reason, fields, refused, rule, risk,
       expected_state, next_state, attempts,
       /*$next_attempt*/ AS next_attempt_at, /*$expiry*/ AS expires_at,
       approvals, owner, /*$due*/ AS due_at, candidates, set_id, observe_only, deferred,
       /*$o_source*/ AS o_source, /*$o_file*/ AS o_file, (o_rid & 1099511627775) AS o_record, /*$o_sha256*/ AS o_sha256,
       /*$r_source*/ AS r_source, /*$r_file*/ AS r_file, (r_rid & 1099511627775) AS r_record, /*$r_sha256*/ AS r_sha256
FROM (
  SELECT i.item_id, i.case_id, i.queue, i.o_rid, i.r_rid,
         /*$operation_id*/ AS operation_id, /*$idempotency_key*/ AS idempotency_key,
         /*$remote_id*/ AS remote_id, /*$keep_remote_id*/ AS keep_remote_id,
         /*$type*/ AS type, /*$entity*/ AS entity, /*$version*/ AS version,
         /*$amount*/ AS amount, /*$currency*/ AS currency, /*$destination*/ AS destination,
         i.class, i.reason, i.fields, i.refused, i.rule, i.risk,
         /*$state*/ AS expected_state, i.next_state, i.attempts, i.next_attempt_us, i.expiry_us,
         i.approvals, i.owner, i.due_us, i.candidates, i.set_id, i.observe_only, i.deferred
  FROM items_wide i
  ORDER BY i.item_id
)
