-- Reads   report_exceptions. Writes report_board: the exceptions that the board of the
--         page shows, with the verdict that names each, and their place: amounts of
--         different currencies do not compare, so the largest of each currency take turns.
--         no is their number in the order of the files, in which they are written.
-- Of more than fit, half of the places are for the largest, then come the largest of each
-- cause, then more of the largest.
CREATE OR REPLACE TABLE report_board AS
WITH named AS (
  SELECT e.*, CASE WHEN /*$by_operation*/ THEN e.o_class ELSE e.r_class END AS class,
         CASE WHEN /*$by_operation*/ THEN e.o_reason ELSE e.r_reason END AS reason,
         greatest(coalesce(abs(e.o_value), 0), coalesce(abs(e.r_value), 0)) AS size
  FROM report_exceptions e WHERE e.needs_work AND /*$limit*/ > 0 -- without a page nothing is ranked
), ranked AS (
  SELECT *, row_number() OVER (PARTITION BY currency ORDER BY size DESC, o_rid NULLS LAST, r_rid NULLS LAST) AS rank,
         row_number() OVER (PARTITION BY class, reason, fields ORDER BY size DESC, o_rid NULLS LAST, r_rid NULLS LAST) AS nth
  FROM named
), worst AS (
  SELECT * EXCLUDE (size), row_number() OVER (ORDER BY rank, currency NULLS LAST, o_rid NULLS LAST, r_rid NULLS LAST) AS worst FROM ranked
), kept AS (
  SELECT *, row_number() OVER (ORDER BY CASE WHEN 2 * worst <= /*$limit*/ THEN 0 WHEN nth <= /*$examples*/ THEN nth ELSE /*$examples*/ + 1 END, worst) AS keep FROM worst
)
SELECT * EXCLUDE (rank, nth, worst, keep), row_number() OVER (ORDER BY worst) AS place,
       row_number() OVER (ORDER BY o_rid NULLS LAST, r_rid NULLS LAST) AS no
FROM kept WHERE keep <= /*$limit*/
