-- Rule 2 of design §3: unexpected results that the operations export need not show.
-- Out: one number.
SELECT count(*)
FROM verdicts_r v JOIN results r ON r.rid = v.rid
WHERE v.class = 'unexpected' AND NOT coalesce(/*$covered*/, false)
