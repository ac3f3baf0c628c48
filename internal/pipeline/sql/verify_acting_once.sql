-- Rule 3 of design §3: rows with more than one proposal to act. Out: number, an example.
SELECT count(*), min(item) FROM (
  SELECT min(item_id) AS item FROM items WHERE queue_file <> 'review'
  GROUP BY CASE WHEN queue_file = 'compensate' THEN 'results' ELSE 'operations' END,
    CASE WHEN queue_file = 'compensate' THEN r_source ELSE o_source END,
    CASE WHEN queue_file = 'compensate' THEN r_file ELSE o_file END,
    CASE WHEN queue_file = 'compensate' THEN r_record ELSE o_record END
  HAVING count(*) > 1)
