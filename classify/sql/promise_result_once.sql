-- Rule 4 of design §3: results with more than one link. The members of a group are tied
-- together by several rows of one link (V16). Out: one number.
SELECT count(*) FROM (
  SELECT r_rid FROM links GROUP BY r_rid HAVING count(*) FILTER (WHERE NOT (/*$grouped*/)) > 1 OR count(DISTINCT link) > 1)
