-- Reads   rows_operations or rows_results. One narrow row for each row of the side,
--         ordered by source and record (row ids are given in that order). Names are
--         spelled after the sort; ENUMs keep the sort and the file small.
SELECT /*$source*/ AS source, /*$file*/ AS file, (rid & 1099511627775) AS record, class, reason,
       pass, link, once, in_period
FROM (
  SELECT rid, class, reason, pass, link, once, in_period
  FROM /*$rows*/
  ORDER BY rid
)
