-- What the guard leaves of what is wanted for each unit (Judge): of what its policy
-- wants, and where a rule of the job fits, of what the first such rule proposes. failed
-- are the checks that refused it.
CREATE OR REPLACE TABLE ruled AS
WITH numbered AS (
  SELECT u.*, /*$case*/ AS case_id, /*$rule_no*/ AS rule_no,
    CASE WHEN u.wanted = u.allowed THEN u.allowed_failed WHEN u.kind = 2 THEN u.close_failed ELSE 0 END AS failed
  FROM units u LEFT JOIN res_o o ON o.rid = u.o_rid LEFT JOIN res_r r ON r.rid = u.r_rid),
by_policy AS (
  SELECT * EXCLUDE (failed, situation, wanted, otherwise), wanted AS by_policy, /*$judge*/ AS otherwise
  FROM (SELECT *, /*$situation*/ AS situation, '' AS otherwise FROM numbered)),
proposed AS (
  SELECT * REPLACE (CASE WHEN kind = 2 AND wanted <> 'close' THEN 0 ELSE kind END AS kind)
  FROM (SELECT *, /*$proposed*/ AS wanted FROM by_policy)),
checked AS (
  SELECT *, CASE
      WHEN wanted = 'review' THEN 0
      WHEN wanted = 'none' THEN CASE WHEN otherwise = 'review' THEN 0 ELSE /*$class_bit*/ END
      WHEN kind = 2 THEN close_failed
      WHEN wanted = allowed THEN allowed_failed & ~(/*$pardon*/)
      ELSE /*$class_bit*/ END AS failed
  FROM proposed)
SELECT * EXCLUDE (failed, situation),
  CASE WHEN queue <> 'review' THEN 0 WHEN kind = 2 THEN failed | /*$newer_bit*/ ELSE failed & ~(lifted & /*$allowances*/) END AS failed
FROM (SELECT *, /*$judge*/ AS queue FROM (SELECT *, /*$situation*/ AS situation FROM checked))
