-- Rule 3 of design §3: rows with more than one proposal to act. Out: one number.
SELECT count(*) FROM (
  SELECT CASE WHEN queue = 'compensate' THEN 2 * r_rid + 1 ELSE 2 * o_rid END AS node FROM items WHERE queue <> 'review'
  GROUP BY node HAVING count(*) > 1)
