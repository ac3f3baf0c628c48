-- V32: absent operations without an item, though no rule of the job drops any.
-- Out: one number.
SELECT count(*) FROM verdicts_o v
WHERE v.class = 'absent' AND v.rid NOT IN (SELECT o_rid FROM items WHERE o_rid IS NOT NULL)/*$planted*/
