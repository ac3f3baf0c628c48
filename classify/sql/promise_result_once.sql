-- Rule 4 of design §3: results with more than one link. Out: one number.
SELECT count(*) FROM (SELECT r_rid FROM links GROUP BY r_rid HAVING count(*) > 1)
