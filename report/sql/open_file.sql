-- Reads   report_moves. The open items of this run, for the next one.
SELECT case_id, no, n_queue AS queue, n_class AS class, n_reason AS reason, n_currency AS currency, n_amount AS amount, since, since_before
FROM report_moves WHERE n_queue IS NOT NULL
ORDER BY case_id, no
