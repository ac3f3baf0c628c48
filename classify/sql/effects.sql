-- The results of each linked operation: how many are effects (V10: not finally
-- failed), and which one keep_effect names.
CREATE OR REPLACE TABLE effects AS
SELECT o_rid, effects, failed,
  CASE WHEN effects >= 2 AND at_best = 1 THEN best_rid END AS kept
FROM (
  SELECT p.o_rid,
    CAST(count(*) FILTER (WHERE p.st <> 'failed') AS BIGINT) AS effects,
    CAST(count(*) FILTER (WHERE p.st = 'failed') AS BIGINT) AS failed,
    CAST(count(*) FILTER (WHERE p.st <> 'failed' AND /*$is_best*/) AS BIGINT) AS at_best,
    min(p.r_rid) FILTER (WHERE p.st <> 'failed' AND /*$is_best*/) AS best_rid
  FROM pairs p/*$best_join*/
  GROUP BY p.o_rid)
