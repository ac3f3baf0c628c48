-- The rows of one side that nothing links and no other row explains, with what their near
-- misses are looked for by. Rows of one set have its number.
SELECT v.rid, v.set_id, x.w1, /*$columns*/
FROM /*$left_over*/ v JOIN /*$residual*/ x ON x.rid = v.rid
ORDER BY x.w1, v.rid
