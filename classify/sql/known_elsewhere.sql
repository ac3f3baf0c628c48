-- V28: operations with nothing but failed attempts one of whose identity keys another
-- result carries, linked or undecided: no proof of absence, whatever failed.
INSERT INTO known_elsewhere
SELECT DISTINCT o.rid
FROM effects e JOIN res_o o ON o.rid = e.o_rid
JOIN res_r r ON r./*$k*/ = o./*$k*/
LEFT JOIN links l ON l.o_rid = o.rid AND l.r_rid = r.rid
LEFT JOIN marks_r m ON m.rid = r.rid
WHERE e.effects = 0 AND l.r_rid IS NULL
  AND (m.rid IS NULL OR (m.class <> 'not_applicable' AND m.reason NOT IN ('identical_copy', 'superseded_attempt')))
