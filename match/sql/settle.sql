-- V12: settled is a pair in which every identity key that both rows carry is equal.
-- For an unsettled one: the passes whose keys differ, and whether one of the values
-- belongs to somebody else.
CREATE OR REPLACE TABLE judged AS
SELECT l.o_rid, l.r_rid, l.pass, /*$settled*/ AS settled, /*$differing*/ AS differing, false AS elsewhere
FROM links l JOIN contested_o o ON o.rid = l.o_rid JOIN contested_r r ON r.rid = l.r_rid
