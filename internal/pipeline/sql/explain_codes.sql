-- The codes of every comparison of one pair. In: the table pairs of classify. Out:
-- one row, none for a pair that is equal in everything.
SELECT /*$columns*/ FROM pairs WHERE o_rid = /*$o*/ AND r_rid = /*$r*/
