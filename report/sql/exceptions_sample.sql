-- Reads   report_exceptions. Writes report_sample: the exceptions that people see
--         first, with their place. Amounts of different currencies do not compare, so
--         the largest of each currency take turns. Ranked are only those that reach the
--         last place of their currency.
CREATE OR REPLACE TABLE report_sample AS
WITH sized AS (
  SELECT *, greatest(coalesce(abs(o_value), 0), coalesce(abs(r_value), 0)) AS size FROM report_exceptions WHERE needs_work
), least_size AS (
  SELECT currency, list_last(max(size, /*$limit*/)) AS size FROM sized GROUP BY currency
), ranked AS (
  SELECT s.* EXCLUDE (size),
         row_number() OVER (PARTITION BY s.currency ORDER BY s.size DESC, s.o_rid NULLS LAST, s.r_rid NULLS LAST) AS rank
  FROM sized s JOIN least_size l ON l.currency IS NOT DISTINCT FROM s.currency AND s.size >= l.size
)
SELECT * EXCLUDE (rank), row_number() OVER (ORDER BY rank, currency NULLS LAST, o_rid NULLS LAST, r_rid NULLS LAST) AS place
FROM ranked
ORDER BY rank, currency NULLS LAST, o_rid NULLS LAST, r_rid NULLS LAST
LIMIT /*$limit*/
