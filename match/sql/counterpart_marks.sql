-- Marks of counterparts found for any identity key.
INSERT INTO /*$marks*/
SELECT DISTINCT rid, 'ambiguous', 'counterpart_not_unique', NULL, NULL
FROM /*$found*/ WHERE rid NOT IN (SELECT rid FROM /*$marks*/)
