-- Reads   report_exceptions. Writes report_sample: the row ids of the exceptions
--         that people see first, in order. Amounts of different currencies do not
--         compare, so the largest of each currency take turns.
CREATE OR REPLACE TABLE report_sample AS
WITH ranked AS (
  SELECT o_rid, r_rid, currency,
         row_number() OVER (PARTITION BY currency ORDER BY
           greatest(coalesce(abs(o_value), 0), coalesce(abs(r_value), 0)) DESC,
           o_rid NULLS LAST, r_rid NULLS LAST) AS rank
  FROM report_exceptions WHERE needs_work
)
SELECT o_rid, r_rid, row_number() OVER (ORDER BY rank, currency NULLS LAST, o_rid NULLS LAST, r_rid NULLS LAST) AS place
FROM ranked
ORDER BY rank, currency NULLS LAST, o_rid NULLS LAST, r_rid NULLS LAST
LIMIT /*$limit*/
