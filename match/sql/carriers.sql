-- Which rows of one side carry each value of an identity key: the least and the
-- greatest row id. Copies and superseded attempts are carried by what stands for them.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT /*$k*/ AS k, min(rid) AS lo, max(rid) AS hi
FROM /*$residual*/
WHERE /*$k*/ IS NOT NULL AND rid NOT IN (SELECT rid FROM /*$marks*/ WHERE reason IN ('identical_copy', 'superseded_attempt')/*$also*/)
GROUP BY /*$k*/
