-- Reads   verdicts_o or verdicts_r, res_o or res_r. Residual rows, verdicts, row ids
--         among them, and rows without a verdict together with the reverse.
SELECT (SELECT count(*) FROM /*$residual*/), (SELECT count(*) FROM /*$verdicts*/), (SELECT count(DISTINCT rid) FROM /*$verdicts*/),
       count(*)
FROM /*$residual*/ r FULL JOIN /*$verdicts*/ v ON v.rid = r.rid
WHERE r.rid IS NULL OR v.rid IS NULL
