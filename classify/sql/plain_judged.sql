-- What the guard leaves for plain pairs where the job has rules: failed are the checks
-- of what the first rule that fits proposes, else of the confirmation.
SELECT * EXCLUDE (failed, wanted, class, kind, otherwise, situation), CASE WHEN queue = 'review' THEN failed ELSE 0 END AS failed
FROM (SELECT *, /*$judge*/ AS queue
  FROM (SELECT *, /*$situation*/ AS situation
    FROM (SELECT *, CASE
          WHEN wanted = 'review' THEN 0
          WHEN wanted = 'none' THEN CASE WHEN otherwise = 'review' THEN 0 ELSE /*$class_bit*/ END
          WHEN wanted = 'confirm' THEN allowed_failed
          ELSE /*$class_bit*/ END AS failed
      FROM (SELECT *, /*$proposed*/ AS wanted, 'correct' AS class, 0 AS kind, CASE WHEN allowed_failed = 0 THEN '/*$clean*/' ELSE '/*$refused_to*/' END AS otherwise FROM plain_rows))))
WHERE queue <> 'none'
