-- keep_effect by the earliest of a field, among the effects of each operation that has
-- several links.
CREATE OR REPLACE TABLE earliest AS
WITH effect AS (
  SELECT p.o_rid, p.r_rid, p.st, /*$field*/ AS v FROM pairs p JOIN res_r r ON r.rid = p.r_rid
  WHERE p.o_rid IN (SELECT o_rid FROM links GROUP BY o_rid HAVING count(*) > 1))
SELECT e.r_rid, e.v = m.v AS best
FROM effect e
JOIN (SELECT o_rid, min(v) AS v FROM effect WHERE st <> 'failed' GROUP BY o_rid) m ON m.o_rid = e.o_rid
