-- keep_effect by the earliest of a field, among the effects of each operation.
CREATE OR REPLACE TABLE earliest AS
SELECT p.r_rid, e.v = m.v AS best
FROM pairs p
JOIN (SELECT rid, /*$field*/ AS v FROM res_r r) e ON e.rid = p.r_rid
JOIN (SELECT p.o_rid, min(/*$field*/) AS v FROM pairs p JOIN res_r r ON r.rid = p.r_rid WHERE p.st <> 'failed' GROUP BY p.o_rid) m ON m.o_rid = p.o_rid
