-- Instead of hints: why there are none, of every row that is left over.
CREATE OR REPLACE TABLE hints AS
SELECT whose, id, /*$text*/ AS text FROM (
  SELECT 'operations' AS whose, rid AS id FROM left_over_o
  UNION ALL SELECT 'results', rid FROM left_over_r
  UNION SELECT 'set', set_id FROM (SELECT set_id FROM left_over_o UNION ALL SELECT set_id FROM left_over_r) WHERE set_id IS NOT NULL)
