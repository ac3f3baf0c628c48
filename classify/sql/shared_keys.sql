-- V30 key_shared: idempotency keys of absent operations that another operation
-- carries too; a copy, or an attempt that another record supersedes, is none.
CREATE OR REPLACE TABLE shared_keys AS
SELECT s.k FROM (
  SELECT rid, /*$key*/ AS k FROM /*$among*/
  WHERE /*$key*/ IN (SELECT o./*$key*/ FROM res_o o JOIN verdicts_o v ON v.rid = o.rid WHERE v.class = 'absent')) s
LEFT JOIN verdicts_o d ON d.rid = s.rid
WHERE d.rid IS NULL OR d.reason NOT IN ('identical_copy', 'superseded_attempt')
GROUP BY 1 HAVING count(*) > 1
