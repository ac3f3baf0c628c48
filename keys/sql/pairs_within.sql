-- Those of the pairs whose times are within the bounds of the pass.
SELECT p.o_rid, p.r_rid
FROM (/*$pairs*/) p JOIN operations o ON o.rid = p.o_rid JOIN results r ON r.rid = p.r_rid
WHERE /*$within*/
