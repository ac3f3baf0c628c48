-- Pairs of operations that one key finds, and no other that is not made of the same fields.
SELECT p.o_rid, p.r_rid
FROM pairs p JOIN by_operation b ON b.o_rid = p.o_rid
WHERE p.keys & /*$key*/ <> 0 AND b.keys | /*$same*/ = /*$same*/
ORDER BY p.o_rid LIMIT /*$most*/
