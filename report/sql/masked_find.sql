-- Reads   report_exceptions, report_sample, report_board, the residual rows of one side.
-- The different texts of the exceptions that may hold what is masked, by number of the
-- column: of fields that rows are joined by, only those of rows that people see.
WITH shown AS (
  SELECT /*$rid*/ AS rid FROM report_sample UNION SELECT /*$rid*/ FROM report_board
  UNION SELECT /*$rid*/ FROM (SELECT o_rid, r_rid FROM report_exceptions WHERE needs_work ORDER BY o_rid NULLS LAST, r_rid NULLS LAST LIMIT /*$limit*/)
), x AS (
  SELECT *, rid IN (SELECT rid FROM shown WHERE rid IS NOT NULL) AS seen FROM /*$rows*/
  WHERE rid IN (SELECT /*$rid*/ FROM report_exceptions WHERE /*$rid*/ IS NOT NULL)
)
SELECT m.c, m.v, count(*)
FROM (
  SELECT unnest(list_filter([/*$values*/], lambda m: length(m.v) >= 8 AND regexp_matches(m.v, /*$pattern*/))) AS m FROM x)
GROUP BY ALL ORDER BY ALL
