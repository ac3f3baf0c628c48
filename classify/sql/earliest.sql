-- keep_effect by the earliest of a field, among the effects of each operation that has
-- several links: the one before all others, whichever way a local time that exists
-- twice is read.
CREATE OR REPLACE TABLE earliest AS
WITH effect AS (
  SELECT p.o_rid, p.r_rid, p.st, /*$field*/ AS v, /*$late*/ AS late FROM pairs p JOIN res_r r ON r.rid = p.r_rid
  WHERE p.o_rid IN (SELECT o_rid FROM links GROUP BY o_rid HAVING count(*) > 1))
SELECT e.r_rid, e.r_rid = m.r_rid AND coalesce(m.two[2] > m.late, true) AS best
FROM effect e
JOIN (SELECT o_rid, arg_min(r_rid, v) AS r_rid, arg_min(late, v) AS late, min(v, 2) AS two FROM effect WHERE st <> 'failed' GROUP BY o_rid) m ON m.o_rid = e.o_rid
