-- Reads   operations, judged_operations. What the register says of attempts and times, in
--         the period; the oldest creation among all operations that are not settled. A row
--         that is not among the judged ones is plainly correct and in the period.
SELECT count(*) FILTER (WHERE inside AND attempts > 0),
       CAST(coalesce(sum(attempts) FILTER (WHERE inside AND attempts > 0), 0) AS BIGINT),
       count(*) FILTER (WHERE inside AND attempts > 1),
       count(*) FILTER (WHERE inside AND attempts > 1 AND class = 'correct'),
       min(created) FILTER (WHERE class NOT IN ('correct', 'not_applicable', 'duplicate')),
       count(taken) FILTER (WHERE inside),
       quantile_disc(taken, 0.5) FILTER (WHERE inside),
       max(taken) FILTER (WHERE inside),
       count(*) FILTER (WHERE inside AND class <> 'correct' AND replayed IS NOT NULL AND (failed_last >= replayed OR failed_last IS NULL AND resolved IS NULL))
FROM (
  SELECT coalesce(v.in_period, true) AS inside, coalesce(CAST(v.class AS VARCHAR), 'correct') AS class,
         /*$attempts*/ AS attempts, /*$created*/ AS created, /*$resolved*/ - /*$failed*/ AS taken,
         /*$replayed*/ AS replayed, /*$last_failed*/ AS failed_last, /*$resolved*/ AS resolved
  FROM operations o LEFT JOIN judged_operations v ON v.rid = o.rid
)
