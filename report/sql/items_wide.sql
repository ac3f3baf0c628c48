-- Reads   items, report_files. Makes the view of the queue files: amounts and
--         times as text, declared personal fields redacted, evidence of both rows.
CREATE OR REPLACE VIEW report_items AS
SELECT i.item_id, i.case_id, /*$run_id*/ AS run_id, i.queue,
       /*$operation_id*/ AS operation_id, /*$idempotency_key*/ AS idempotency_key,
       /*$remote_id*/ AS remote_id, /*$keep_remote_id*/ AS keep_remote_id,
       /*$type*/ AS type, /*$entity*/ AS entity, /*$version*/ AS version,
       /*$amount*/ AS amount, /*$currency*/ AS currency, /*$destination*/ AS destination,
       CAST(i.class AS VARCHAR) AS class, CAST(i.reason AS VARCHAR) AS reason, i.fields,
       i.refused, i.rule, i.risk,
       /*$state*/ AS expected_state, i.next_state, i.attempts,
       /*$next_attempt*/ AS next_attempt_at, /*$expiry*/ AS expires_at,
       i.approvals, i.owner, /*$due*/ AS due_at, i.candidates, i.set_id,
       i.observe_only, i.deferred,
       fo.source AS o_source, fo.file AS o_file, (i.o_rid & 1099511627775) AS o_record, fo.sha256 AS o_sha256,
       fr.source AS r_source, fr.file AS r_file, (i.r_rid & 1099511627775) AS r_record, fr.sha256 AS r_sha256
FROM items i
LEFT JOIN report_files fo ON fo.side = 'operations' AND fo.file_no = (i.o_rid >> 40)
LEFT JOIN report_files fr ON fr.side = 'results' AND fr.file_no = (i.r_rid >> 40)
