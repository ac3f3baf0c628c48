-- The most frequent value of a key on one side.
SELECT /*$k*/ AS k FROM /*$side*/ WHERE /*$k*/ IS NOT NULL GROUP BY k ORDER BY count(*) DESC, k LIMIT 1
