-- Columns over any two rows of both sides, linked or not. Out: one row.
SELECT /*$columns*/ FROM operations o, results r WHERE o.rid = /*$o*/ AND r.rid = /*$r*/
