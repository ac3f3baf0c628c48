-- V31: operations of which no effect would be left, or the effect to keep would be
-- undone. Effects are counted from the links. Out: one number.
WITH undone AS (
  SELECT i.o_rid, i.r_rid FROM items i WHERE i.queue = 'compensate' AND i.o_rid IS NOT NULL)
SELECT count(*) FROM (
  SELECT u.o_rid FROM (SELECT o_rid, count(*) AS n FROM undone GROUP BY o_rid) u
  LEFT JOIN (SELECT l.o_rid, count(*) AS n FROM links l JOIN res_r r ON r.rid = l.r_rid WHERE /*$status*/ = 'succeeded' GROUP BY l.o_rid) e ON e.o_rid = u.o_rid
  WHERE coalesce(e.n, 0) <= u.n
  UNION ALL
  SELECT u.o_rid FROM undone u JOIN effects e ON e.o_rid = u.o_rid AND e.kept = u.r_rid)
