-- Reads   operations, results, res_o, res_r, verdicts_o, verdicts_r, links, plain_links. The
-- time from the creation of correct operations in the period to their result, in
-- microseconds, by type and account of the result: count, percentiles by nearest rank
-- (the p-th of n sorted values is the one at place ceil(p * n)), and the longest. Every
-- link counts: a plain pair is an operation outside of the residual ones with the result
-- under its first key, of which there is one. Of a large side one link in so many is
-- measured, chosen by the fingerprint of its key.
WITH timed AS (
  SELECT /*$type*/ AS type, /*$account*/ AS account, r.f_created_at - o.f_created_at AS us
  FROM operations o ANTI JOIN res_o x ON x.rid = o.rid
  JOIN results r ON /*$plain*/
  UNION ALL
  SELECT /*$type*/, /*$account*/, r.f_created_at - o.f_created_at
  FROM plain_links l JOIN operations o ON o.rid = l.o_rid JOIN results r ON r.rid = l.r_rid/*$link*/
  UNION ALL
  SELECT /*$type*/, /*$account*/, r.f_created_at - o.f_created_at
  FROM links l
  JOIN verdicts_o vo ON vo.rid = l.o_rid AND vo.class = 'correct' AND vo.in_period
  JOIN verdicts_r vr ON vr.rid = l.r_rid AND vr.class = 'correct'
  JOIN res_o o ON o.rid = l.o_rid JOIN res_r r ON r.rid = l.r_rid/*$link*/
)
SELECT of_type, account, count(*) AS n, quantile_disc(us, 0.5), quantile_disc(us, 0.95), quantile_disc(us, 0.99), max(us)
FROM (SELECT coalesce(type, '') AS of_type, account, us FROM timed WHERE us IS NOT NULL)
GROUP BY /*$sets*/ ORDER BY n DESC, of_type, account LIMIT /*$limit*/
