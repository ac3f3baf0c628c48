-- Reads   report_exceptions. The first exceptions that need work, in the order of the
--         file, with their place.
SELECT *, row_number() OVER (ORDER BY o_rid NULLS LAST, r_rid NULLS LAST) AS place
FROM (SELECT * FROM report_exceptions WHERE needs_work ORDER BY o_rid NULLS LAST, r_rid NULLS LAST LIMIT /*$limit*/)
