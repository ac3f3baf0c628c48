-- V12 (a): unsettled pairs in which the value of one row is that of a row of the other
-- side that stands.
UPDATE judged SET elsewhere = true
WHERE NOT settled AND (o_rid, r_rid) IN (
  SELECT (l.o_rid, l.r_rid)
  FROM judged l JOIN contested_o o ON o.rid = l.o_rid JOIN contested_r r ON r.rid = l.r_rid/*$joins*/
  WHERE NOT l.settled AND (/*$elsewhere*/))
