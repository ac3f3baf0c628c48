-- Links that stand after V12 (a).
CREATE OR REPLACE TABLE links AS
SELECT o_rid, r_rid, pass, settled, differing FROM judged
WHERE settled OR (NOT elsewhere AND o_rid NOT IN (
  SELECT o_rid FROM judged GROUP BY o_rid HAVING bool_or(NOT settled AND elsewhere) AND NOT bool_or(settled)))
