-- V30, V31: operations that are on hold and to be sent again, or whose effect is to be
-- undone. Out: one number.
SELECT count(*)
FROM items i JOIN operations o ON o.rid = i.o_rid
WHERE i.queue IN ('requeue', 'compensate') AND NOT coalesce(/*$unheld*/, false)
