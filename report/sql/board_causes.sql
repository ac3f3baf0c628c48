-- Reads   report_exceptions, report_board. The causes of all exceptions that need work, by
--         currency: how many, how many are on the board, the larger amounts of both sides
--         and the differences, added up exactly. Out in the order of the causes with most
--         rows: class, reason, fields, rows of the cause, currency, rows, of them on the
--         board, with an amount, its sum, with a difference, its sum.
WITH named AS (
  SELECT CAST(CASE WHEN /*$by_operation*/ THEN e.o_class ELSE e.r_class END AS VARCHAR) AS class,
         CAST(CASE WHEN /*$by_operation*/ THEN e.o_reason ELSE e.r_reason END AS VARCHAR) AS reason,
         coalesce(e.fields, '') AS fields, e.currency,
         greatest(coalesce(abs(e.o_value), abs(e.r_value)), coalesce(abs(e.r_value), abs(e.o_value))) AS value, e.difference, b.place
  FROM report_exceptions e
  LEFT JOIN report_board b ON b.o_rid IS NOT DISTINCT FROM e.o_rid AND b.r_rid IS NOT DISTINCT FROM e.r_rid
  WHERE e.needs_work
), by_currency AS (
  SELECT class, reason, fields, coalesce(/*$currency*/, '') AS currency, count(*) AS n, count(place) AS shown,
         count(value) AS valued, sum(value) AS amount, count(difference) AS differing, sum(difference) AS difference
  FROM named GROUP BY 1, 2, 3, 4
)
SELECT class, reason, fields, sum(n) OVER (PARTITION BY class, reason, fields) AS rows, currency, n, shown,
       valued, CAST(amount AS VARCHAR), differing, CAST(difference AS VARCHAR)
FROM by_currency
ORDER BY 4 DESC, class, reason, fields, currency
