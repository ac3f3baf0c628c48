-- V27: operations without a linked effect; copies and superseded ones are served by
-- what stands for them, members of a group by its results.
CREATE OR REPLACE TABLE unserved AS
SELECT o.rid, /*$type*/ AS t0, /*$entity*/ AS t1, /*$currency*/ AS t2, /*$created*/ AS created, /*$created_late*/ AS created_late/*$extra*/
FROM res_o o
WHERE o.rid NOT IN (SELECT o_rid FROM effects WHERE effects > 0)
  AND o.rid NOT IN (SELECT rid FROM marks_o WHERE reason IN ('identical_copy', 'superseded_attempt', 'grouped'))
