-- Values of an identity key that some result carries, save those that a scope rule
-- set aside (V28) and copies, whose original carries the same.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT DISTINCT r./*$k*/ AS k FROM contested_r r LEFT JOIN marks_r m ON m.rid = r.rid
WHERE r./*$k*/ IS NOT NULL AND (m.rid IS NULL OR (m.class <> 'not_applicable' AND m.reason <> 'identical_copy'))
