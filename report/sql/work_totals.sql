-- Reads   operations, res_o, verdicts_o. What the register says of attempts, in the period,
--         and of times. As in the relation totals, only residual rows are looked at one by
--         one: a row that is not among them is plainly correct and in the period.
WITH whole AS (
  SELECT count(*) AS attempted, sum(/*$attempts*/) AS attempts, count(*) FILTER (WHERE /*$attempts*/ > 1) AS retried
  FROM operations o WHERE /*$attempts*/ > 0),
residual AS (
  SELECT count(*) FILTER (WHERE NOT v.in_period AND /*$attempts*/ > 0) AS attempted,
         sum(/*$attempts*/) FILTER (WHERE NOT v.in_period AND /*$attempts*/ > 0) AS attempts,
         count(*) FILTER (WHERE NOT v.in_period AND /*$attempts*/ > 1) AS retried,
         count(*) FILTER (WHERE (NOT v.in_period OR v.class <> 'correct') AND /*$attempts*/ > 1) AS not_correct,
         min(/*$created*/) FILTER (WHERE v.class NOT IN ('correct', 'not_applicable', 'duplicate')) AS oldest,
         count(*) FILTER (WHERE v.in_period AND v.class <> 'correct' AND /*$replayed*/ IS NOT NULL
           AND (/*$last_failed*/ >= /*$replayed*/ OR /*$last_failed*/ IS NULL AND /*$resolved*/ IS NULL)) AS replays
  FROM verdicts_o v JOIN res_o o ON o.rid = v.rid)
SELECT w.attempted - r.attempted, CAST(coalesce(w.attempts, 0) - coalesce(r.attempts, 0) AS BIGINT), w.retried - r.retried, w.retried - r.not_correct,
       r.oldest, r.replays
FROM whole w, residual r
