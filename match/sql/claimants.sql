-- Values of an identity key that some result carries: one that stands (counts), one that
-- another record stands for (superseded), one that a scope rule set aside (excluded, V28).
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT r./*$k*/ AS k, bool_or(m.rid IS NULL OR (m.class <> 'not_applicable' AND m.reason NOT IN ('identical_copy', 'superseded_attempt'))) AS counts,
  coalesce(bool_or(m.reason = 'superseded_attempt'), false) AS superseded, coalesce(bool_or(m.class = 'not_applicable'), false) AS excluded
FROM contested_r r LEFT JOIN marks_r m ON m.rid = r.rid
WHERE r./*$k*/ IS NOT NULL
GROUP BY r./*$k*/
