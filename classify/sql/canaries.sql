-- The planted operations of the job with their verdicts.
CREATE OR REPLACE TABLE canaries AS
SELECT n.no, n.operation_id, n.expect, v.rid, CAST(v.class AS VARCHAR) AS class, CAST(v.reason AS VARCHAR) AS reason, v.in_period
FROM (VALUES /*$list*/) n(no, operation_id, expect)
LEFT JOIN (SELECT o.rid, /*$id*/ AS id FROM operations o) o ON o.id = n.operation_id
LEFT JOIN rows_operations v ON v.rid = o.rid
