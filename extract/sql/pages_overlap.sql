-- How many keys of a source stand on more than one page of its snapshot (V26).
SELECT count(*) FROM (
  SELECT /*$key*/ FROM /*$rows*/ WHERE /*$key*/ IS NOT NULL
  GROUP BY /*$key*/ HAVING count(DISTINCT pg) > 1
)
