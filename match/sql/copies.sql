-- V4: identical copies. Equal in every column, and with an identity; the first by
-- source, file and record stands.
INSERT INTO /*$marks*/
SELECT x.rid, 'duplicate', 'identical_copy', NULL, NULL
FROM /*$contested*/ x
JOIN (SELECT w1, w2, min(rid) AS stands FROM /*$contested*/ WHERE /*$has_identity*/ GROUP BY w1, w2 HAVING count(*) > 1) d
  ON x.w1 = d.w1 AND x.w2 = d.w2
WHERE x.rid <> d.stands AND /*$has_identity_x*/
