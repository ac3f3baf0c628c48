-- The rules of the policy over the rows of one item, as the run asked them. Out: the
-- operation and the result that they saw, then for each rule whether it fits.
SELECT i.o_rid, r.rid/*$fits*/
FROM (SELECT item_id, o_rid, r_rid, case_id, CAST(class AS VARCHAR) AS class, CAST(reason AS VARCHAR) AS reason FROM items WHERE item_id = /*$item*/) i
LEFT JOIN operations o ON o.rid = i.o_rid
LEFT JOIN results r ON r.rid = coalesce(i.r_rid,
  (SELECT arg_min(l.r_rid, s.w1) FROM links l JOIN res_r s ON s.rid = l.r_rid WHERE l.o_rid = i.o_rid AND l.partner),
  (SELECT min(p.r_rid) FROM plain_links p WHERE p.o_rid = i.o_rid))
