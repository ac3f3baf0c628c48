-- Which rows of one side carry each value of an identity key: the least and the
-- greatest row id of those that stand; NULL where only superseded records carry it.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT x./*$k*/ AS k, min(x.rid) FILTER (WHERE m.rid IS NULL) AS lo, max(x.rid) FILTER (WHERE m.rid IS NULL) AS hi
FROM /*$contested*/ x
LEFT JOIN (SELECT rid FROM /*$marks*/ WHERE reason IN ('identical_copy', 'superseded_attempt')) m ON m.rid = x.rid
WHERE x./*$k*/ IS NOT NULL
GROUP BY x./*$k*/
