-- V30 sibling_effect: operations for the same thing (once_per) that have an effect,
-- or may have one.
CREATE OR REPLACE TABLE siblings AS
SELECT DISTINCT o.rid
FROM res_o o JOIN verdicts_o v ON v.rid = o.rid AND v.class = 'absent'
JOIN operations s ON /*$same*/ AND s.rid <> o.rid
LEFT JOIN verdicts_o w ON w.rid = s.rid
WHERE /*$of_type*/ AND (w.rid IS NULL OR w.class NOT IN ('absent', 'not_applicable', 'duplicate') OR w.reason = 'conflicting_copies')
