-- V13: pairs of free rows that satisfy every part and window. V14: contradicted are
-- those whose identity keys differ; of a pass that has run already, those of which
-- both rows carry the key at all, since equal ones were linked.
CREATE OR REPLACE TABLE candidates AS
SELECT o.rid AS o_rid, r.rid AS r_rid, ((o.filled & r.filled) <> 0/*$later*/) AS contradicted
FROM key_groups g
JOIN free_o o ON o./*$k*/ = g.k
JOIN free_r r ON r./*$k*/ = g.k
WHERE NOT g.hot AND /*$within*/
