-- V30 key_shared: idempotency keys of absent operations that another operation
-- carries too; a copy of the same operation does not count.
CREATE OR REPLACE TABLE shared_keys AS
SELECT f_idempotency_key AS k FROM operations
WHERE f_idempotency_key IN (SELECT o.f_idempotency_key FROM res_o o JOIN verdicts_o v ON v.rid = o.rid WHERE v.class = 'absent')
GROUP BY 1 HAVING count(DISTINCT (w1, w2)) > 1
