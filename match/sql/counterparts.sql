-- V5: rows of the other side that carry an identity key of a conflicting record. Those
-- that conflict themselves keep their verdict, and are of the same set.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT DISTINCT y.rid, -1 - CAST(hash('record', /*$bit*/, c.record) >> 2 AS BIGINT) AS node
FROM /*$other*/ y
JOIN (SELECT DISTINCT x./*$k*/ AS k, x./*$record*/ AS record FROM /*$contested*/ x JOIN /*$marks*/ m ON m.rid = x.rid
      WHERE m.reason = 'conflicting_copies' AND x./*$k*/ IS NOT NULL AND x./*$record*/ IS NOT NULL) c
  ON y./*$k*/ = c.k
WHERE y.rid NOT IN (SELECT rid FROM /*$marks_other*/ WHERE class = 'duplicate' AND reason <> 'conflicting_copies')
