-- V4: a record of a lookup that says of an effect what another record says, in all that
-- decides, is a copy of that; what stands beside those columns differs by form alone.
INSERT INTO /*$marks*/
SELECT DISTINCT x.rid, 'duplicate', 'identical_copy', NULL, NULL
FROM /*$contested*/ x JOIN /*$contested*/ y ON y./*$key*/ = x./*$key*/ AND y.rid <> x.rid
WHERE x.file_no IN (/*$files*/) AND (y.file_no NOT IN (/*$files*/) OR y.rid < x.rid)
  AND x.rid NOT IN (SELECT rid FROM /*$marks*/) AND y.rid NOT IN (SELECT rid FROM /*$marks*/)
  AND /*$same*/
